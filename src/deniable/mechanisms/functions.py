"""Ideas that are code: a mechanism of two functions, for simulations only.

What perturbs is a program, and nothing is known of it but what it does. Where it draws by comparing and choosing, it is
followed along all of its branches (`tracing`): then its channel is known exactly. Else its support probabilities are
measured, with their standard errors. Devices and collections take neither: no integers are proved.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from types import CodeType
from typing import Any, ClassVar, NamedTuple

import numpy as np

from deniable.collect.reports import Design, Field, Reports, new_id
from deniable.collect.tally import Tally
from deniable.core.channel import Channel, Proof
from deniable.core.domain import Domain
from deniable.core.guess import Guess, check_prior
from deniable.core.support import Support, check_n
from deniable.core.types import Columns, FloatArray, IntArray
from deniable.errors import EnumerationError, InWords, ParameterError, PrivacyError, is_whole, require, show
from deniable.estimate.linear import SupportPart, check_reports
from deniable.estimate.result import Part
from deniable.mechanisms.base import Mechanism
from deniable.mechanisms.bulk import Bulk, check_outputs, refuse_values
from deniable.mechanisms.possible import Cell, Cells
from deniable.mechanisms.reader import Reader
from deniable.mechanisms.tracing import UntraceableError, chances_of
from deniable.randomness import Simulation, Stream, simulation
from deniable_client.packing import uint_width

__all__ = ["Functions", "from_functions"]

_TRIALS = 40_000
"""Reports from which support probabilities are measured."""
_FAR = 6.0
"""Standard errors by which the chances of two items differ if they are not the same: a chance of 2e-9 for each."""


class Code(NamedTuple):
    """Stands where other mechanisms have the integers of a kernel: there are none."""

    k: int
    kind: str = "code"


class Seen(NamedTuple):
    """Support probabilities, and how well they are known."""

    support: Support[float]
    stderr: Mapping[str, float]
    """Of p, q and the pair probabilities; all 0 where they are exact."""
    guess: float
    """How often one of the supported items, any of them, is the value: all values being equally likely."""


@dataclass(frozen=True, eq=False)
class CodeBulk(Bulk[Any]):
    """Reports of a program: the number of an output where all of them are known, else the items that it supports."""

    m: Functions = field(kw_only=True)

    @property
    def fields(self) -> tuple[Field, ...]:
        channel = self.m.traced
        if channel is None:
            return (Field("support", "bytes", -(-self.k // 8)),)
        return (Field("value", "uint", uint_width(len(channel.outputs))),)

    @property
    def outputs(self) -> float:
        channel = self.m.traced
        return float(self.k) if channel is None else math.log2(len(channel.outputs))

    @property
    def cells(self) -> Mapping[str, Cell]:
        return {"support": Cell(self.k)}

    def perturb(self, items: IntArray, rng: Stream) -> Columns:
        require(rng.simulated, "rng", rng, "a seeded stream", "Give dn.simulation(seed).")
        generator = rng.generator()  # type: ignore[attr-defined]
        if self.m.traced is None:
            rows = [self.m.bits(self.m.perturb(int(x), generator)) for x in items.tolist()]
            return {"support": np.array(rows, np.uint8).reshape(len(rows), -1)}
        ends = self.m.ends
        found = np.empty(items.size, self.fields[0].dtype)
        draws = generator.random(items.size)
        for x in np.unique(items).tolist():
            at = np.flatnonzero(items == x)
            found[at] = np.minimum(np.searchsorted(ends[x], draws[at], side="right"), ends.shape[1] - 1)
        return {"value": found}

    def count(self, columns: Columns) -> Cells:
        if "value" in columns:
            values = columns["value"]
            refuse_values(values, len(self.m.rows), "value")
            seen = np.bincount(values, minlength=len(self.m.rows)) @ self.m.rows
        else:
            values = columns["support"]
            seen = np.unpackbits(values, axis=1, count=self.k, bitorder="little").sum(axis=0, dtype=np.int64)
        return {"n": np.array([len(values)], np.int64), "support": np.asarray(seen, np.int64)[None, :]}

    def channel(self) -> Channel:
        return self.m.channel()

    @property
    def reader(self) -> Reader[Any]:
        return Reader(self) if self.m.traced is None else _TracedReader(self)


class _TracedReader(Reader[CodeBulk]):
    """Likelihoods of a channel that is known."""

    def likelihood(self, columns: Columns) -> FloatArray:
        return np.asarray(self.bulk.m.chances.T[columns["value"]])


@dataclass(frozen=True, kw_only=True)
class Functions(Mechanism):
    """A program that perturbs and one that says what a report supports; simulated only, and never vetted."""

    perturb: Callable[[int, Any], Hashable] = field(repr=False)
    supports: Callable[[Any], Iterable[int]] = field(repr=False)
    traced: Channel | None = field(default=None, repr=False, compare=False)
    """The exact channel, where the program could be followed."""
    rows: Any = field(default=None, repr=False, compare=False)
    """A row for each output of it: which items it supports."""
    untraced: str = field(default="", repr=False, compare=False)
    """Why it could not be followed."""
    trials: int = field(default=_TRIALS, repr=False, compare=False)
    seed: int = field(default=0, repr=False, compare=False)
    family: ClassVar[str] = "code"

    @cached_property
    def bulk(self) -> CodeBulk:
        return CodeBulk(Code(self.k), m=self)

    @property
    def params(self) -> dict[str, Any]:
        return {}

    @cached_property
    def design(self) -> Design:
        """What reports and tallies of simulations carry: no device and no collection takes it."""
        return {
            "mechanism": f"{self.name} (code: simulated only)",
            "version": self.version,
            "epsilon": self.epsilon,
            "domain": self.domain.document(),
            "params": {"code": _fingerprint(self.perturb, self.supports)},
            "kernel": {"kind": "code"},
        }

    # ---- what the program does

    def bits(self, output: Any) -> Any:
        """What an output supports, as packed bits."""
        return np.packbits(self.supported(output), bitorder="little")

    def supported(self, output: Any) -> Any:
        """The same as truth values, one for each item."""
        found = np.zeros(self.k, np.bool_)
        given = self.supports(output)
        items = np.asarray(list(given) if isinstance(given, Iterable) else given)
        if items.ndim != 1 or (items.size and not _within(items, self.k)):
            need = f"a list of whole numbers from 0 to {self.k - 1}, the items that a report supports"
            raise ParameterError(f"supports must give {need}, got {show(items.tolist())}.")
        if items.size:
            found[items] = True
        return found

    def channel(self) -> Channel:
        """The exact channel; `EnumerationError` where the program could not be followed."""
        if self.traced is None:
            raise EnumerationError(f"the channel of {self.name} is not known: {self.untraced}.", "Measure it instead.")
        return self.traced

    @cached_property
    def chances(self) -> FloatArray:
        """The channel as floats, a row for each value."""
        return self.channel().matrix()

    @cached_property
    def ends(self) -> FloatArray:
        """Cumulative chances."""
        return np.asarray(np.cumsum(self.chances, axis=1))

    @property
    def proof(self) -> Proof | None:  # type: ignore[override]
        """What all outputs say; None where nothing is proved."""
        return None if self.traced is None else self.traced.proof()

    @property
    def epsilon_exact(self) -> float:
        """The exact epsilon where it is known; else infinite: nothing is proved."""
        return math.inf if self.proof is None else self.proof.epsilon

    def privatize_items(self, items: IntArray, rng: Stream | None = None, *, coins: object = None) -> Reports:
        """See `Mechanism.privatize_items`: seeded streams alone are taken."""
        if not isinstance(rng, Simulation):
            raise PrivacyError(
                f"{self.name} is code, of which nothing is proved: it is for simulations only, no report was made.",
                "Give rng=dn.simulation(seed); for real reports write its chances down: dn.Mechanism.from_matrix(...).",
            )
        require(coins is None, "coins", coins, "left out: code has no public seed that could be dealt")
        columns = self.bulk.draw(items, rng)
        return Reports(self.design, self.fields, columns, simulated=True, batches=(new_id(),))

    # ---- support

    @cached_property
    def seen(self) -> Seen:
        """The support probabilities: exact, or measured."""
        return self._exact() if self.traced is not None else self._measured()

    @property
    def support(self) -> Support[float]:
        """The support probabilities that estimates use."""
        return self.seen.support

    def _exact(self) -> Seen:
        channel = self.channel()
        try:
            found = channel.support().map(float)
        except ParameterError as error:
            raise _impure(self.name, error.message) from error
        _tells(found.p, found.q)
        sizes = np.maximum(self.rows.sum(axis=1), 1)
        hits = float((self.chances * (self.rows / sizes[:, None]).T).sum() / self.k)
        return Seen(found, dict.fromkeys(("p", "q", "both_one", "both_none"), 0.0), hits)

    def _measured(self) -> Seen:
        """From reports of all values alike; items must not differ by more than chance explains."""
        generator = simulation(self.seed).generator()
        each = max(2, self.trials // self.k)
        own, other = np.zeros(self.k), np.zeros((self.k, self.k))
        one = none = pairs = thirds = hits = 0.0
        for x in range(self.k):
            rows = np.array([self.supported(self.perturb(x, generator)) for _ in range(each)])
            counts, size = rows.sum(axis=0), rows.sum(axis=1)
            own[x], other[x] = counts[x], counts
            rest = size - rows[:, x]
            one += float((rows[:, x] * rest).sum())
            pairs += each * (self.k - 1)
            none += float((rest * (rest - 1) / 2).sum())
            thirds += each * (self.k - 1) * (self.k - 2) / 2
            hits += float((rows[:, x] / np.maximum(size, 1)).sum())
        np.fill_diagonal(other, np.nan)
        p, q = float(own.sum() / (each * self.k)), float(np.nansum(other) / (each * self.k * (self.k - 1)))
        _same(self.name, "its own value", own / each, p, each)
        _same(self.name, "another value", np.nanmean(other, axis=0) / each, q, each * (self.k - 1))
        _tells(p, q)
        both = one / pairs, none / thirds if thirds else 0.0
        errors = {"p": _stderr(p, each * self.k), "q": _stderr(q, each * self.k * (self.k - 1))}
        errors |= {"both_one": _stderr(both[0], pairs), "both_none": _stderr(both[1], thirds or 1)}
        return Seen(Support(p, q, p - q, 1 - p, 1 - q, *both), errors, hits / (each * self.k))

    # ---- estimates and closed forms

    def parts(self, tally: Tally) -> dict[str, Part]:
        check_reports(tally)
        return {"frequency": SupportPart(tally.cells["support"][0] / tally.n, self.support, tally.n)}

    def properties(self, n: float = 1) -> dict[str, Any]:
        return self.effective(n)

    def effective(self, n: float = 1) -> dict[str, Any]:
        n, s = check_n(n), self.support
        numbers = {"p": s.p, "q": s.q, "mse": s.mse(self.k, n), "mse_approx": s.mse_approx(n)}
        found: dict[str, Any] = {name: float(x) for name, x in numbers.items()}
        found |= {"mse_sum": self.k * found["mse"], "asr": self.guess().success}
        if self.traced is None:
            found["measured"] = {"reports": max(2, self.trials // self.k) * self.k, "stderr": dict(self.seen.stderr)}
        return found

    def guess(self, prior: object = None) -> Guess:
        """See `Mechanism.guess`: of a program that could not be followed, the guess of any supported item."""
        pi = np.full(self.k, 1 / self.k) if prior is None else check_prior(prior, self.k)
        blind = float(pi.max())
        if self.traced is None:
            return Guess(max(blind, self.seen.guess), blind) if prior is None else Guess(blind, blind)
        return Guess(float((self.chances * pi[:, None]).max(axis=0).sum()), blind)


def _within(items: Any, k: int) -> bool:
    return bool(items.dtype.kind in "iu" and items.min() >= 0 and items.max() < k)


def _same(name: str, whose: str, chances: FloatArray, mean: float, n: float) -> None:
    spread = _stderr(mean, n) or math.inf
    far = int(np.abs(chances - mean).argmax())
    if abs(float(chances[far]) - mean) > _FAR * spread:
        told = f"item {far} is supported by {whose} with a chance near {float(chances[far]):.4g}, others {mean:.4g}"
        raise _impure(name, told)


def _tells(p: float, q: float) -> None:
    """Refuse support from which nothing can be estimated."""
    told, need = InWords(f"chances {p:g} and {q:g}"), "items that their own value supports more than others do"
    hint = "An estimate divides by the difference. Leave out of `supports` what every report could support."
    require(p > q, "supports", told, need, hint)


def _impure(name: str, told: str) -> ParameterError:
    hint = "Write the chances down instead: dn.Mechanism.from_matrix takes any table."
    return ParameterError(f"supports of {name} does not treat all items alike: {told.rstrip('.')}.", hint)


def _stderr(share: float, n: float) -> float:
    return math.sqrt(max(share * (1 - share), 0.0) / n)


def from_functions(
    perturb: Callable[[int, Any], Hashable],
    supports: Callable[[Any], Iterable[int]],
    *,
    epsilon: float | None = None,
    k: int | None = None,
    labels: Sequence[str] | None = None,
    name: str = "own",
    trials: int = _TRIALS,
    seed: int = 0,
) -> Functions:
    """The mechanism of two functions: followed where that can be done, else to be measured when it is asked about."""
    for what, given in (("perturb", perturb), ("supports", supports)):
        require(callable(given), what, given, "a function")
    domain = Domain.given(k, labels)
    require(
        is_whole(trials, 100), "trials", trials, "an integer >= 100", "So many reports are made to measure chances."
    )
    plain = isinstance(name, str) and 0 < len(name) <= 60
    require(plain, "name", name, "a short text")
    own: dict[str, Any] = {"perturb": perturb, "supports": supports, "trials": int(trials), "seed": seed, "name": name}
    try:
        traced, outputs = _trace(perturb, domain.k)
    except UntraceableError as error:
        _try(perturb, seed)
        hint = f"It cannot be found, as the program could not be followed: {error}. Say what you claim, e.g. epsilon=1."
        require(epsilon is not None, "epsilon", epsilon, "given", hint)
        return Functions(epsilon=epsilon, domain=domain, untraced=str(error), **own)  # type: ignore[arg-type]
    bare = Functions(epsilon=epsilon or 1.0, domain=domain, **own)
    rows = np.array([bare.supported(output) for output in outputs])
    sets = tuple(frozenset(np.flatnonzero(row).tolist()) for row in rows)
    channel = Channel(traced.outputs, traced.weights, traced.total, sets)
    if epsilon is None:
        epsilon = channel.proof().epsilon
        hint = "Some report rules a value out; say what you claim, e.g. epsilon=1, to simulate it all the same."
        require(math.isfinite(epsilon), "epsilon", epsilon, "finite", hint)
    return Functions(epsilon=epsilon, domain=domain, traced=channel, rows=rows.astype(np.int64), **own)


def _try(perturb: Callable[[int, Any], Hashable], seed: int) -> None:
    """`ParameterError` if a program that cannot be followed does not run at all."""
    try:
        perturb(0, simulation(seed).generator())
    except Exception as error:
        need = "a function of a number from 0 to k-1 and a generator that gives a report back"
        got = f"{type(error).__name__} for the value 0: {error}"
        raise ParameterError(f"perturb must be {need}, got {got}.", "See the error before this one.") from error


def _trace(perturb: Callable[[int, Any], Hashable], k: int) -> tuple[Channel, list[Hashable]]:
    """The channel of a program, and its outputs as they are."""
    laws = []
    outputs: dict[Hashable, None] = {}
    for x in range(k):
        laws.append(chances_of(perturb, x))
        outputs |= dict.fromkeys(laws[-1])
        try:
            check_outputs(math.log2(len(outputs)), "the program", k)
        except EnumerationError as error:
            raise UntraceableError(error.message.rstrip(".")) from error
    total = math.lcm(*(chance.denominator for law in laws for chance in law.values()))
    weights = tuple(tuple(int(law.get(o, Fraction(0)) * total) for law in laws) for o in outputs)
    names = tuple(show(output) for output in outputs)
    return Channel(names, weights, total), list(outputs)


def _fingerprint(*functions: Callable[..., Any]) -> str:
    """What tells the code of functions from other code, as far as it can be seen."""
    return hashlib.sha256(repr([_seen(f) for f in functions]).encode()).hexdigest()[:16]


def _seen(f: Any) -> Any:
    code = getattr(f, "__code__", None)
    if not isinstance(code, CodeType):
        return type(f).__qualname__
    held = [repr(cell.cell_contents) for cell in f.__closure__ or ()]
    return (_code(code), held, repr(f.__defaults__), repr(f.__kwdefaults__))


def _code(code: CodeType) -> Any:
    consts = [_code(c) if isinstance(c, CodeType) else repr(c) for c in code.co_consts]
    return (code.co_code, consts, code.co_names)
