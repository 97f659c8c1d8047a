"""One of several mechanisms for each person, drawn by shares in public, without looking at any answer.

Everybody has an answer to each part and reports on one of them, with the whole epsilon (docs/maths/dealt.md).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, NoReturn, Self, overload

import numpy as np

from deniable.collect.reports import Design, Reports, new_id, split_rows
from deniable.collect.tally import Tally, part_name
from deniable.core.channel import Proof, Witness
from deniable.core.guess import Guess, check_prior
from deniable.core.promise import Promise
from deniable.core.protection import ANSWERS, Protection
from deniable.core.support import check_n
from deniable.core.types import FloatArray, IntArray
from deniable.errors import FormatError, InWords, ParameterError, is_whole, require
from deniable.estimate.result import Part
from deniable.mechanisms.base import Mechanism, report_size
from deniable.mechanisms.common import in_words, refuse_broken
from deniable.mechanisms.dealt.bulk import NUMBER, DealtBulk
from deniable.mechanisms.dealt.estimates import Estimates
from deniable.mechanisms.dealt.records import Answers, Drawn, columns_by_part, items_of, reader_of
from deniable.mechanisms.fitting import check_tally
from deniable.mechanisms.framing import framed
from deniable.randomness import Stream, stream_of
from deniable_client.errors import within
from deniable_client.grammar import SHARE_MAX, split_design
from deniable_client.kernels import Dealt as DealtKernel
from deniable_client.kernels.dealt import PARTS_MAX

__all__ = ["Dealt", "dealt", "from_parts"]


@dataclass(frozen=True, kw_only=True, repr=False)
class PartsProtection(Protection):
    """What is claimed where parts make claims of different kinds: those of each, for whoever gets it."""

    each: tuple[tuple[str, Protection], ...]

    @property
    def kind(self) -> str:
        return " or ".join(dict.fromkeys(told.kind for _, told in self.each))

    @property
    def text(self) -> str:
        told = " ".join(f"{name}: {protection.text}" for name, protection in self.each)
        return (
            f"Everybody answers one part only, drawn without looking at any answer; nothing is told of the rest. {told}"
        )

    def document(self) -> dict[str, Any]:
        head = {"kind": self.kind, "subject": self.subject, "epsilon": self.epsilon, "text": self.text}
        return head | {"parts": {name: told.document() for name, told in self.each}}


def _promise_of_parts(m: Any) -> Promise:
    """See `Mechanism.promise`: between sets of answers; where a part may disclose, of reports that do not.

    Each part has a budget of its own: what is promised of it alone.
    """
    free = any(part.promise.strict is not None for part in m.mechanisms)
    own = Promise.by_class(m.k, [(0, m.k)], [math.inf], strict=m.epsilon) if free else Promise.plain(m.epsilon, m.k)
    return replace(own, parts={name: part.epsilon for name, part in zip(m.names, m.mechanisms, strict=True)})


def _parts_in_words(m: Any) -> Protection:
    """See `Mechanism.protection`: one sentence for all where every part protects all answers alike."""
    told, each = in_words(m), {name: part.protection for name, part in zip(m.names, m.mechanisms, strict=True)}
    if {own.kind for own in each.values()} == {"LDP"}:
        return told
    return PartsProtection(promise=told.promise, epsilon=told.epsilon, subject=told.subject, each=tuple(each.items()))


@dataclass(frozen=True, kw_only=True)
class Dealt(Mechanism):
    """A mechanism of mechanisms. Everybody gets one of them, the i-th with chance shares[i] of their sum.

    `names` are for people: columns of frames and estimates. They are no part of the design, and left out q1, q2, ..
    """

    mechanisms: tuple[Mechanism, ...]
    shares: tuple[int, ...]
    names: tuple[str, ...] = field(default=(), compare=False)
    domain: Answers = field(init=False, compare=False)

    family: ClassVar[str] = "dealt"
    takes: ClassVar[str] = "answers to several parts"
    subject: ClassVar[str] = ANSWERS

    def __post_init__(self) -> None:
        count = len(self.mechanisms)
        odd = [m for m in self.mechanisms if not isinstance(m, Mechanism) or isinstance(m, Dealt)]
        hint = "Of a design of parts give the parts themselves, with shares that fit."
        require(not odd, "parts", odd and odd[0], "mechanisms that are not made of parts themselves", hint)
        require(2 <= count <= PARTS_MAX, "parts", InWords(f"{count} of them"), f"from 2 to {PARTS_MAX} mechanisms")
        names = tuple(self.names) or tuple(f"q{i + 1}" for i in range(count))
        texts = all(isinstance(name, str) and name for name in names) and len(set(names)) == len(names) == count
        require(texts, "names", names, f"{count} different names, one for each part")
        whole = len(self.shares) == count and all(is_whole(share, 1, SHARE_MAX) for share in self.shares)
        require(whole, "shares", self.shares, f"{count} whole numbers from 1 to {SHARE_MAX:,}, one for each part")
        each = tuple(m.domain for m in self.mechanisms)
        object.__setattr__(self, "domain", Answers(k=math.prod(d.k for d in each), each=each, names=names))
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "shares", tuple(map(int, self.shares)))
        super().__post_init__()
        most = max(m.epsilon for m in self.mechanisms)
        require(self.epsilon >= most, "epsilon", self.epsilon, f"at least the largest of the parts, {most}")
        object.__setattr__(self, "vetted", all(m.vetted for m in self.mechanisms))

    def at(self, epsilon: float) -> Self:
        """See `Mechanism.at`: the budgets of parts keep their proportion."""
        scale = epsilon / self.epsilon
        parts = tuple(m.at(min(epsilon, m.epsilon * scale)) for m in self.mechanisms)
        return replace(self, epsilon=epsilon, mechanisms=parts)

    @cached_property
    def bulk(self) -> DealtBulk:
        parts = tuple(m.bulk for m in self.mechanisms)
        return DealtBulk(DealtKernel(tuple(part.kernel for part in parts), self.shares), parts)

    @cached_property
    def design(self) -> Design:
        parts = [m.design for m in self.mechanisms]
        head = {"mechanism": self.name, "version": self.version, "epsilon": self.epsilon}
        return {**head, "shares": list(self.shares), "parts": parts}

    @property
    def params(self) -> dict[str, Any]:
        return {"shares": list(self.shares)}

    @property
    def _named(self) -> dict[str, Mechanism]:
        return dict(zip(self.names, self.mechanisms, strict=True))

    @property
    def chances(self) -> dict[str, float]:
        """The chance of each part."""
        return {name: share / sum(self.shares) for name, share in zip(self.names, self.shares, strict=True)}

    # ---- client

    def privatize(
        self,
        values: object,
        *,
        column: Any = None,
        levels: object = None,
        coins: object = None,
        rng: Stream | None = None,
    ) -> Reports:
        """Perturb one answer of each person: a frame or mapping with a column for each part, or rows in their order.

        Columns have the names of the parts; `column` lists them, in the order of the parts, where they have others. A
        part for pairs has a list of (key, value) in each cell, one with levels a (value, level).
        `coins`: the number of each person's part, from 0, where the collector dealt them out beforehand, without
        looking at the answers. All answers are checked, also those that nobody is asked for.
        """
        if levels is not None:
            raise ParameterError("levels must be left out: a part with levels has them in its column.")
        columns = columns_by_part(values, self.names, column)
        return self._drawn(
            [reader_of(*part) for part in zip(self.mechanisms, self.names, columns, strict=True)], coins, rng
        )

    def privatize_items(self, items: IntArray, rng: Stream | None = None, *, coins: object = None) -> Reports:
        """`privatize` for rows of items, one for each part, or their numbers (the last part counts fastest)."""
        items = np.asarray(items)
        sizes = [m.kernel.k for m in self.mechanisms]
        rows = items if items.ndim == 2 else np.stack(np.unravel_index(items, sizes), axis=1)
        return self._drawn([(len(rows), items_of(m, rows[:, i])) for i, m in enumerate(self.mechanisms)], coins, rng)

    def _drawn(self, read: Sequence[tuple[int, Drawn]], coins: object, rng: Stream | None) -> Reports:
        """Reports of people who are dealt out, each made by the mechanism of its part with a stream of its own."""
        people = sorted({count for count, _ in read})
        require(len(people) == 1, "values", InWords(f"columns of {people} people"), "columns of the same people")
        refuse_broken(self)
        stream = stream_of(rng)
        first, *others = stream.spawn(1 + len(read))
        numbers = self.bulk.deal(people[0], first) if coins is None else self._dealt(coins, people[0])
        made = framed(self.fields, self.bulk.parts, numbers, lambda i, at: read[i][1](at, others[i]).columns)
        return Reports(self.design, self.fields, made, stream.simulated, batches=(new_id(),))

    def _dealt(self, coins: object, people: int) -> IntArray:
        numbers = np.asarray(coins)
        whole = numbers.shape == (people,) and np.issubdtype(numbers.dtype, np.integer)
        need = f"{people} numbers of parts, from 0 to {len(self.mechanisms) - 1}"
        require(whole and bool(((numbers >= 0) & (numbers < len(self.mechanisms))).all()), "coins", coins, need)
        return numbers.astype(np.int64)

    # ---- privacy

    @cached_property
    def proof(self) -> Proof:
        """See `Mechanism.proof`: the part is public and drawn without looking, so the worst part counts."""
        proofs = [m.proof for m in self.mechanisms]
        i = max(range(len(proofs)), key=lambda i: (proofs[i].ratio is None, proofs[i].ratio or 0))
        worst, step = proofs[i], math.prod(part.inputs for part in self.bulk.parts[i + 1 :])
        argument = (
            f"a report shows its part, which is drawn without looking at any answer, and tells of no other: the "
            f"largest ratio of all parts counts, that of {self.names[i]}; there {worst.argument}"
        )
        witness = Witness(
            f"part {i}, {worst.witness.output}", worst.witness.likely * step, worst.witness.unlikely * step
        )
        known = zip(self.names, (proof.ratio for proof in proofs), strict=True)
        each = tuple((name, ratio) for name, ratio in known if ratio is not None)
        return Proof(worst.ratio, f"the worst part, by {worst.method}", argument, witness, parts=each)

    promise = cached_property(_promise_of_parts)
    protection = cached_property(_parts_in_words)

    def entry_names(self, cell: str) -> Sequence[str]:
        """The names of what the entries of a cell are about, as the part has them whose cell it is."""
        i = next(i for i in range(len(self.mechanisms)) if cell.startswith(part_name(i)))
        return self.mechanisms[i].entry_names(cell.removeprefix(part_name(i)))

    # ---- estimator

    @overload
    def apart(self, what: Tally) -> dict[str, Tally]: ...
    @overload
    def apart(self, what: Reports) -> dict[str, Reports]: ...
    def apart(self, what: Tally | Reports) -> Mapping[str, Tally | Reports]:
        """The tally of each part, or its reports, by name: what its own mechanism estimates and fits."""
        if isinstance(what, Tally):
            check_tally(self, what)
            return dict(zip(self.names, what.parts, strict=True))
        self.tally(what)  # refuses what is not of this design
        numbers, rows = what.columns[NUMBER], what.columns["report"]
        return {
            name: Reports(m.design, m.fields, split_rows(m.fields, rows[numbers == i]), what.simulated)
            for i, (name, m) in enumerate(self._named.items())
        }

    def estimate(self, tally: Tally) -> Estimates:  # type: ignore[override]  # there is no list of labels for all parts
        """Unbiased estimates of every part, by name, each from the reports of those who got it.

        Where one of them has no reports, `apart` has the tallies of the others.
        """
        each = self.apart(self.tally(tally) if isinstance(tally, Reports) else tally)
        found = {}
        for name, m in self._named.items():
            with within(name):
                found[name] = m.estimate(each[name])
        return Estimates(found, self.design)

    def _fit(self, data: object, method: str, options: object) -> NoReturn:
        hint = f"Take them apart first: m.mechanisms[0].fit(m.apart(reports)[{self.names[0]!r}])."
        raise ParameterError("parts are fitted one by one, each by the methods that it has.", hint)

    def parts(self, tally: Tally) -> dict[str, Part]:
        """See `Mechanism.parts`: those of all parts, each with the name of its part before its own."""
        return {
            f"{name}/{quantity}": part
            for name, estimate in self.estimate(tally).items()
            for quantity, part in estimate.parts.items()
        }

    # ---- closed forms

    def properties(self, n: float = 1) -> dict[str, Any]:
        """See `Mechanism.properties`: those of each part, of as many of the n reports as it gets on average."""
        return self._of_each(lambda m, n: m.properties(n), n) | report_size(self)

    def effective(self, n: float = 1) -> dict[str, Any]:
        return {"epsilon": self.epsilon_exact} | self._of_each(lambda m, n: m.effective(n), n)

    def _of_each(self, told: Callable[[Mechanism, float], dict[str, Any]], n: float) -> dict[str, Any]:
        n, chances = check_n(n), self.chances
        return {"shares": chances, "parts": {name: told(m, n * chances[name]) for name, m in self._named.items()}}

    def guess(self, prior: object = None) -> Guess:
        """See `Mechanism.guess`: of all answers of a person together.

        `prior`: a mapping with one for each part, whose answers are then independent; or one for all sets of answers.
        """
        named = self._named
        known = dict.fromkeys(named) if prior is None else prior
        if not isinstance(known, Mapping):
            return self._guess_together(check_prior(known, self.k))
        require(set(known) == set(named), "prior", prior, f"a mapping with a prior for each of {', '.join(named)}")
        each = {name: m.guess(known[name]) for name, m in named.items()}
        blind = math.prod(guess.blind for guess in each.values())
        told = (chance * each[name].success / each[name].blind for name, chance in self.chances.items())
        return Guess(blind * math.fsum(told), blind)

    def _guess_together(self, prior: FloatArray) -> Guess:
        """With a prior for sets of answers: for each answer of the part that is told, the likeliest rest."""
        table, success = prior.reshape([m.k for m in self.mechanisms]), []
        for i, (m, chance) in enumerate(zip(self.mechanisms, self.chances.values(), strict=True)):
            best = table.max(axis=tuple(axis for axis in range(table.ndim) if axis != i))
            success.append(chance * float(best.sum()) * m.guess(best / best.sum()).success)
        return Guess(math.fsum(success), float(prior.max()))


def dealt(
    parts: Sequence[Mechanism] | Mapping[str, Mechanism],
    shares: Sequence[int] | None = None,
    names: Sequence[str] | None = None,
) -> Dealt:
    """A mechanism of parts, given in order or by name; equal shares unless told otherwise.

    >>> import deniable as dn
    >>> age, smokes = dn.mechanism("ss", epsilon=1.0, k=8), dn.mechanism("grr", epsilon=1.0, k=2)
    >>> m = dealt({"age": age, "smokes": smokes}, shares=[3, 1])
    >>> m
    <dealt (epsilon = 1, k = 16)>
    >>> reports = m.privatize({"age": [0, 7, 3, 2], "smokes": [1, 0, 0, 1]})
    >>> m.tally(reports).n
    4
    """
    if isinstance(parts, Mapping):
        require(names is None, "names", names, "left out where parts are given by name")
        names, parts = tuple(parts), tuple(parts.values())
    made = tuple(parts)
    odd = [m for m in made if not isinstance(m, Mechanism)]
    require(bool(made) and not odd, "parts", odd[0] if odd else InWords("none"), "mechanisms")
    usual = (1,) * len(made) if shares is None else tuple(shares)
    return Dealt(epsilon=max(m.epsilon for m in made), mechanisms=made, shares=usual, names=tuple(names or ()))


def from_parts(design: Design, read: Callable[[Design], Mechanism]) -> Dealt:
    """The mechanism of a design of parts, each of which is a design that `read` makes a mechanism of.

    Its shape is checked as devices do it; `from_design` of the registry calls this.
    """
    parts, shares = split_design(design)
    each = []
    for number, part in enumerate(parts, start=1):
        with within(f"part {number}"):
            each.append(read(part))
    try:
        return Dealt(epsilon=design["epsilon"], mechanisms=tuple(each), shares=shares)
    except ParameterError as error:
        raise FormatError(f"the design of parts does not agree with itself: {error.message}", error.hint) from error
