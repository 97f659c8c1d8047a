"""Every statement of the conformance checks: a coin that breaks just this one is caught, in the words for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from deniable.collect.reports import Field, Reports
from deniable.collect.tally import Tally
from deniable.core.channel import Channel, Proof, Witness
from deniable.core.grid import Grid
from deniable.core.guess import Guess
from deniable.core.support import Support
from deniable.core.types import Bytes, Columns, IntArray
from deniable.errors import FormatError, MergeError
from deniable.estimate.result import Estimate
from deniable.mechanisms.base import Mechanism
from deniable.mechanisms.bulk import Cells
from deniable.mechanisms.registry import mechanism
from deniable.randomness import Stream, simulation
from deniable.testing import CHECKS, check_sampler, conformance, law_pvalue, sampling, wire
from deniable.testing.profiles import Profiles
from deniable.testing.sampling import check_power, check_unbiased, reports_needed, two_sided
from deniable_client.exact import exp_bounds
from deniable_client.words import Words
from strangers import ALPHA, WORD, Coin, CoinBulk, CoinKernel, coin, with_bulk

Set = frozenset[int]
SETS: tuple[Set, ...] = (frozenset({0}), frozenset({1}))


def bulk(**members: Any) -> type[Coin]:
    """The coin with some members of its bulk replaced."""
    return with_bulk(type("Own", (CoinBulk,), members))


def own(**members: Any) -> type[Coin]:
    """The coin with some members replaced."""
    return type("Own", (Coin,), members)


def kernel(**members: Any) -> type[Coin]:
    """The coin with some members of its kernel replaced."""
    return own(kernel_class=type("OwnKernel", (CoinKernel,), members))


def like(m: Mechanism, **members: Any) -> Any:
    """A mechanism with some members replaced."""
    broken = type("Own", (type(m),), members)
    return broken(**{f.name: getattr(m, f.name) for f in fields(m)})


def test_the_chance_of_a_mean_direction_is_that_of_two_normal_numbers() -> None:
    """exp(-d/2) for the squared distance d in standard errors: 2 along one axis and 3 along the other are 13."""
    from types import SimpleNamespace

    vector = SimpleNamespace(cos=0.5, sin=-0.25, reporters=np.diag([0.01, 0.0025]))
    part: Any = SimpleNamespace(parts={"mean": SimpleNamespace(vector=vector)})
    assert sampling._vector_pvalue(part, np.array([0.3, -0.1])) == pytest.approx([np.exp(-13 / 2)], rel=1e-12)


def test_a_tally_of_one_report_is_looked_at_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rule that refuses what a single report gives is wrong, and does not show in a tally of many."""
    usual = CoinBulk.check

    def few(self: Any, cells: Cells) -> None:
        usual(self, cells)
        if int(cells["n"].sum()) == 1:
            raise FormatError("no one report gives these counts.")

    monkeypatch.setattr(CoinBulk, "check", few)
    with pytest.raises(FormatError, match="no one report"):
        wire.check_merge(coin())


def says(broken: type[Coin] | Mechanism, check: str) -> str:
    """What a check has against a coin."""
    m = broken if isinstance(broken, Mechanism) else coin(broken)
    with pytest.raises(AssertionError) as caught:
        conformance(m, alpha=ALPHA, checks=[check])
    return str(caught.value)


def channel_of(
    names: tuple[str, ...] = ("no", "yes"), sets: tuple[Set, ...] | None = SETS, values: int = 2
) -> Callable[[CoinBulk], Channel]:
    def channel(self: CoinBulk) -> Channel:
        keep, lie = self.kernel.keep, WORD - self.kernel.keep
        rows = ((keep, lie, lie)[:values], (lie, keep, keep)[:values])
        return Channel(names, rows, WORD, sets)

    return channel


def proof_of(ratio: Fraction | None) -> property:
    return property(lambda self: Proof(ratio, "a claim", "none", Witness("no", 0, 1)))


# ---- what needs no luck


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        (bulk(channel=channel_of(values=3)), "the channel has 3 values, the mechanism 2"),
        (bulk(channel=channel_of(names=("yes", "yes"))), "two outputs have the same name"),
        (bulk(channel=channel_of(sets=(SETS[0], frozenset({7})))), "supports [7], outside 0..1"),
        (bulk(channel=channel_of(sets=SETS[:1])), "zip()"),
    ],
)
def test_rows(broken: type[Coin], words: str) -> None:
    assert words in says(broken, "rows")


TOO_MUCH = exp_bounds(1.0)[0] + Fraction(1, 1 << 300)


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        (own(proof=proof_of(None)), "some report rules a value out"),
        (own(proof=proof_of(TOO_MUCH)), "epsilon 1.0 is promised"),
        (own(proof=proof_of(Fraction(2))), "the kernel's ratio"),
        (own(epsilon_exact=1.0000001), "epsilon_exact 1.0000001 is above epsilon 1.0"),
        (bulk(channel=lambda self: Channel(("a", "b"), ((2, 1), (1, 2)), 3)), "enumeration finds the ratio 2"),
    ],
)
def test_privacy(broken: type[Coin], words: str) -> None:
    assert words in says(broken, "privacy")


def moved(name: str, by: float) -> property:
    """The ideal support with one number moved."""

    def support(self: Coin) -> Support[float]:
        real = Coin.support.fget(self)  # type: ignore[attr-defined]
        return replace(real, **{name: getattr(real, name) + by})

    return property(support)


def guessing(success: float | None = None, blind: float | None = None, prior: float = 0.0) -> Callable[..., Guess]:
    def guess(self: Coin, given: object = None) -> Guess:
        real = Coin.guess(self, given)
        found = real.success if success is None else success
        return Guess(found + (prior if given is not None else 0.0), real.blind if blind is None else blind)

    return guess


def telling(half: str, name: str) -> Callable[..., dict[str, Any]]:
    def told(self: Coin, n: float = 1) -> dict[str, Any]:
        found = getattr(Coin, half)(self, n)
        return {**found, name: found[name] * 1.001}

    return told


def sampled_support(**off: Fraction) -> property:
    def support(self: CoinBulk) -> Support[Fraction]:
        real = CoinBulk.support.fget(self)  # type: ignore[attr-defined]
        return replace(real, **{name: getattr(real, name) + by for name, by in off.items()})

    return property(support)


UNIT = Fraction(1, WORD)
NUMBERS = ("p", "q", "gap", "p_not", "q_not", "both_one", "both_none")


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        *((own(support=moved(name, 1e-9)), f"{name} is ") for name in NUMBERS),
        (own(guess=guessing(0.99)), "the best guess succeeds with 0.99, outside"),
        (own(guess=guessing(0.3)), "the best guess succeeds with 0.3, outside"),
        (own(guess=guessing(blind=0.7)), "the best guess without a report is 0.7"),
        (own(guess=guessing(prior=0.01)), "the best guess under the prior"),
        (own(guess=guessing(0.6)), "asr is "),
        (own(properties=telling("properties", "mse")), "mse is "),
        (own(properties=telling("properties", "mse_approx")), "mse_approx is "),
        (own(properties=telling("properties", "asr")), "asr is "),
        (own(effective=telling("effective", "asr")), "the best guess from what is sampled is "),
        (bulk(support=sampled_support(gap=UNIT)), "gap, p_not and q_not do not fit p and q"),
        (bulk(support=sampled_support(p_not=UNIT)), "gap, p_not and q_not do not fit p and q"),
        (bulk(support=sampled_support(q_not=UNIT)), "gap, p_not and q_not do not fit p and q"),
        (bulk(support=sampled_support(q=UNIT, gap=-UNIT, q_not=-UNIT)), "q is stated as"),
        (bulk(support=sampled_support(both_one=UNIT)), "both_one is stated as"),
        (bulk(extra_pairs=lambda self, f, s: np.full((2, 2), 1e-6)), "covariance of items 0 and 1 is stated as"),
        (bulk(channel=channel_of(sets=None)), "the channel does not say which items its outputs support"),
    ],
)
def test_closed_forms(broken: type[Coin], words: str) -> None:
    assert words in says(broken, "closed_forms")


class WrongMse(Support[Any]):
    """States half of its errors."""

    part = "mse"

    def mse(self, k: Any, n: Any = 1) -> Any:
        return super().mse(k, n) * (Fraction(1, 2) if self.part == "mse" else 1)

    def mse_approx(self, n: Any = 1) -> Any:
        return super().mse_approx(n) * (Fraction(1, 2) if self.part == "mse_approx" else 1)

    def variance(self, f: Any, n: float, target: Any = "reporters") -> Any:
        return super().variance(f, n, target) * (Fraction(1, 2) if self.part == "variance" else 1)


@pytest.mark.parametrize(
    ("part", "words"),
    [("mse", "mse is stated as"), ("mse_approx", "mse"), ("variance", "variance of item 0: ")],
)
def test_errors_of_the_sampled_support(part: str, words: str) -> None:
    """The law of the integers itself: exact, so no rounding is forgiven."""
    law = type("Own", (WrongMse,), {"part": part})

    def support(self: CoinBulk) -> Support[Fraction]:
        real = CoinBulk.support.fget(self)  # type: ignore[attr-defined]
        return law(*(getattr(real, name) for name in NUMBERS))  # type: ignore[no-any-return]

    assert words in says(bulk(support=property(support)), "closed_forms")


def test_closed_forms_of_numbers() -> None:
    m = mechanism("duchi", epsilon=1.0, points=4, interval=(0.0, 1.0))
    law = m.law_exact  # type: ignore[attr-defined]

    class Wrong:
        """A law with one member replaced."""

        def __init__(self, **members: Any) -> None:
            self.members = members

        def __getattr__(self, name: str) -> Any:
            return self.members[name] if name in self.members else getattr(law, name)

    def told(**members: Any) -> str:
        return says(like(m, law_exact=Wrong(**members)), "closed_forms")

    assert "are taken for" in told(unbiased=lambda y: law.unbiased(y) + Fraction(1, 10**9))
    assert "the variance of value 0" in told(noise=lambda x: law.noise(x) / 2)
    assert "the largest variance" in told(worst=law.worst / 2)
    assert "the mean variance" in told(average=law.average / 2)
    guess = type(m).guess
    assert "the best guess is 0.5" in says(like(m, guess=lambda self, prior=None: Guess(0.5, 0.25)), "closed_forms")
    uniform = like(m, guess=lambda self, prior=None: guess(self, prior) if prior is not None else Guess(0.5, 0.25))
    assert "the best guess is 0.5" in says(uniform, "closed_forms")


ROWS: dict[str, tuple[str, dict[str, Any]]] = {
    "disclosing": ("uss", {"epsilon": 1.0, "k": 5, "sensitive": 3}),
    "levels": ("pldp", {"k": 4, "levels": "0.5,1,2", "base": "sue", "level_epsilon": 0.5}),
    "pairs": ("kv-ss2", {"epsilon": 1.0, "k": 3}),
    "released": ("exponential", {"epsilon": 1.0, "points": 4}),
    "numbers": ("pm", {"epsilon": 1.0, "points": 4, "interval": (0.0, 1.0)}),
}
"""One of each kind of rows without support probabilities of their own."""


class Off:
    """A part with one thing wrong: a value, the variances for both targets, or the covariances for one of them."""

    def __init__(self, part: Any, what: str, by: float) -> None:
        self.part, self.what, self.by = part, what, by

    @property
    def value(self) -> Any:
        return self.part.value * (self.by if self.what == "value" else 1.0)

    def variance(self, target: Any) -> Any:
        return self.part.variance(target) * (self.by if self.what in ("variance", f"{target} variance") else 1.0)

    def covariance(self, target: Any) -> Any:
        found = self.part.covariance(target)
        off = (self.by - 1) * np.abs(found).max() * (self.what == f"{target} covariance")
        return np.where(np.eye(len(found)), np.diag(self.variance(target)), found + off)


WRONG = [
    *((kind, "value", 1.0001, "is estimated as") for kind in ROWS),
    *((kind, "variance", 1.02, "variance of") for kind in ROWS),
    *((kind, "variance", 0.999, "variance of") for kind in ROWS),
    *((kind, "reporters variance", 0.999, "reporters' variance of") for kind in ROWS),
    *((kind, "population variance", 1.02, "population' variance of") for kind in ROWS),
    *((kind, "reporters covariance", 1.001, "reporters' covariance of frequency") for kind in list(ROWS)[:-1]),
    *((kind, "population covariance", 1.001, "population' covariance of frequency") for kind in list(ROWS)[:-1]),
]


@pytest.mark.parametrize(("kind", "what", "by", "words"), WRONG)
def test_moments_of_parts_of_all_kinds(kind: str, what: str, by: float, words: str) -> None:
    name, case = ROWS[kind]
    m = mechanism(name, **case)
    parts = type(m).parts

    def wrong(self: Any, tally: Tally) -> Any:
        return {part: Off(found, what, by) for part, found in parts(self, tally).items()}

    assert words in says(like(m, parts=wrong), "closed_forms")


def test_shares_of_those_who_reported_vary_less_than_those_of_the_population() -> None:
    m = mechanism("exponential", epsilon=1.0, points=4)
    parts = type(m).parts

    class Population(Off):
        """Tells no difference between the two targets."""

        def variance(self, target: Any) -> Any:
            return self.part.variance("population")

    broken = like(m, parts=lambda self, tally: {n: Population(p, "", 1.0) for n, p in parts(self, tally).items()})
    assert "reporters' variance of frequency" in says(broken, "closed_forms")


@pytest.mark.parametrize("kind", ROWS)
def test_best_guesses_of_all_kinds(kind: str) -> None:
    name, case = ROWS[kind]
    m = mechanism(name, **case)
    guess = type(m).guess

    def wrong(self: Any, prior: object = None) -> Guess:
        found = guess(self, prior)
        return Guess(found.success + 1e-9 * (prior is not None), found.blind)

    assert "the best guess under the prior" in says(like(m, guess=wrong), "closed_forms")
    wrong_always = like(m, guess=lambda self, prior=None: replace(guess(self, prior), success=0.999))
    assert "is 0.999 in one place" in says(wrong_always, "closed_forms")


def test_the_best_guess_of_continuous_noise_is_not_that_of_coarse_steps() -> None:
    m = mechanism("she", epsilon=2.0, k=2, grid=0, reach=4)
    ideal = like(m, guess=lambda self, prior=None: Guess(self.properties()["asr"], 0.5))
    assert "the best guess is 0.72409" in says(like(ideal, effective=lambda self, n=1: {}), "closed_forms")


def test_what_is_counted_is_what_the_outputs_say() -> None:
    """Twice the support, which single reports show at once; a stranger's cells, of which the channel says nothing."""
    twice = bulk(count=counting(lambda cells: {**cells, "support": 2 * cells["support"]}))
    assert "which no output of the channel adds" in says(twice, "closed_forms")
    other = bulk(cells=property(lambda self: {"answers": CoinBulk.cells.fget(self)["support"]}))  # type: ignore[attr-defined]
    found = dict(conformance(coin(other), checks=["closed_forms"]))["closed_forms"]
    assert found.endswith("moments do not apply: what outputs add to answers is not known")


# ---- what is sent, stored and added up


def counting(change: Callable[[Cells], Cells]) -> Callable[[CoinBulk, Columns], Cells]:
    return lambda self, columns: change(CoinBulk.count(self, columns))


def never_mind(self: Coin, reports: Reports) -> Tally:
    """Counts reports of any design."""
    return Tally(self.design, self.bulk.strata, self.bulk.count(reports.columns), reports.simulated)


def any_estimate(self: Coin, tally: Tally) -> Estimate:
    """Estimates from a tally of any design."""
    return Coin.estimate(self, Tally(self.design, tally.strata, tally.cells, tally.simulated))


def quiet_refusal(self: Coin, reports: Reports) -> Tally:
    """Refuses without saying why."""
    if reports.design != self.design:
        raise MergeError("no.")
    return Coin.tally(self, reports)


def one_more(self: CoinBulk, columns: Columns) -> Cells:
    """Counts one support too many in every batch."""
    cells = CoinBulk.count(self, columns)
    return {**cells, "support": cells["support"] + (len(columns["answer"]) > 1)}


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        (bulk(count=one_more), "is not the tally of all reports"),
        (bulk(count=counting(lambda cells: {**cells, "n": 2 * cells["n"]})), "a tally of 200 reports says n = 400"),
        (own(tally=never_mind), "tallying reports of another design is not refused"),
        (own(estimate=any_estimate), "estimating a tally of another design is not refused"),
        (own(tally=quiet_refusal), "is refused without naming what differs: no."),
    ],
)
def test_merge(broken: type[Coin], words: str) -> None:
    assert words in says(broken, "merge")


def test_merge_of_tallies_that_mix_designs(monkeypatch: pytest.MonkeyPatch) -> None:
    add = Tally.__add__

    def mix(self: Tally, other: Tally) -> Tally:
        return add(self, Tally(self.design, other.strata, other.cells, other.simulated))

    monkeypatch.setattr(Tally, "__add__", mix)
    assert "adding a tally of another design is not refused" in says(Coin, "merge")


def test_merge_of_reports_that_are_lost_when_put_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Reports, "__add__", lambda self, other: self)
    assert "concatenated reports is not the tally of all reports" in says(Coin, "merge")


def reading(change: Callable[[Any], Any]) -> Callable[[bytes], Any]:
    from deniable.collect.codec import load

    return lambda data: change(load(data))


def changed_columns(found: Any) -> Any:
    if isinstance(found, Tally):
        return found
    return replace(found, columns={name: column ^ 1 for name, column in found.columns.items()})


def changed_cells(found: Any) -> Any:
    if isinstance(found, Reports):
        return found
    return replace(found, cells={name: cell + 1 for name, cell in found.cells.items()})


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda found: replace(found, simulated=False), "a tally is not the same after a round trip"),
        (
            lambda found: replace(found, simulated=False) if isinstance(found, Reports) else found,
            "the mark of simulated data is lost",
        ),
        (
            lambda found: replace(found, design={}) if isinstance(found, Reports) else found,
            "the design is not the same after a round trip",
        ),
        (changed_columns, "report field 'answer' is not the same after a round trip"),
        (changed_cells, "a tally is not the same after a round trip"),
        (lambda found: "nonsense", "the bytes of reports are not read as reports"),
    ],
)
def test_bytes(change: Callable[[Any], Any], words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "load", reading(change))
    assert words in says(Coin, "bytes")


def test_bytes_that_are_other_ones_the_second_time(monkeypatch: pytest.MonkeyPatch) -> None:
    from deniable.collect.codec import dump

    count = iter(range(10**6))
    monkeypatch.setattr(wire, "dump", lambda what: dump(what) + bytes([next(count) % 256]))
    monkeypatch.setattr(wire, "load", lambda data: reading(lambda found: found)(data[:-1]))
    assert "a second round trip gives other bytes" in says(Coin, "bytes")


def test_bytes_of_reports_that_tally_differently_once_stored() -> None:
    seen: list[int] = []

    def tally(self: Coin, reports: Reports) -> Tally:
        seen.append(1)
        found = Coin.tally(self, reports)
        return found if len(seen) == 1 else replace(found, cells={name: 2 * c for name, c in found.cells.items()})

    assert "reports that were stored tally differently" in says(own(tally=tally), "bytes")


def longer(self: CoinKernel, x: int, words: Words) -> bytes:
    return CoinKernel.randomise(self, x, words) * (1 + x)


def careless(*allowed: object) -> Callable[[CoinKernel, Any, Words], bytes]:
    def randomise(self: CoinKernel, x: Any, words: Words) -> bytes:
        odd = any(x is value or (type(x) is type(value) and x == value) for value in allowed)
        return CoinKernel.randomise(self, 0 if odd else x, words)

    return randomise


@pytest.mark.parametrize("bad", [-1, 2, 3, 0.5, None])
def test_reports_of_what_is_no_value(bad: object) -> None:
    assert f"a device takes the value {bad!r}" in says(kernel(randomise=careless(bad)), "reports")


@pytest.mark.parametrize("bad", [-1, 2, 3, 0.5, None])
def test_reports_of_what_is_not_in_the_domain(bad: object) -> None:
    def privatize(self: Coin, values: object, **options: Any) -> Reports:
        return Coin.privatize(self, [0] if values is bad or values == bad else values, **options)

    assert f"privatize takes the value {bad!r}" in says(own(privatize=privatize), "reports")


@pytest.mark.parametrize("bad", [-1.0, 2.0, float("inf"), "none", None])
def test_reports_of_numbers_that_are_not_in_the_interval(bad: object) -> None:
    m = mechanism("duchi", epsilon=1.0, points=4, interval=(0.0, 1.0))
    assert isinstance(m.domain, Grid)

    def privatize(self: Any, values: object, **options: Any) -> Reports:
        return type(m).privatize(self, 0.0 if values == bad else values, **options)

    assert f"privatize takes the value {bad!r}" in says(like(m, privatize=privatize), "reports")


class WideBulk(CoinBulk):
    """Two bytes in bulk, one from a device."""

    @property
    def fields(self) -> tuple[Field, ...]:
        return (Field("answer", "uint", 2),)

    def perturb(self, items: IntArray, rng: Stream) -> Columns:
        return {"answer": super().perturb(items, rng)["answer"].astype(np.uint16)}


class TwoSpellings(CoinBulk):
    """The answer yes is spelt in two ways, by the value it was made from."""

    def perturb(self, items: IntArray, rng: Stream) -> Columns:
        answer = super().perturb(items, rng)["answer"]
        return {"answer": np.where((answer == 1) & (items == 0), 3, answer).astype(np.uint8)}

    def count(self, columns: Columns) -> Cells:
        return super().count({"answer": np.minimum(columns["answer"], 1)})

    def supported(self, columns: Columns) -> Bytes:
        return super().supported({"answer": np.minimum(columns["answer"], 1)})


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        (kernel(randomise=longer), "a device's reports have [1, 2] bytes"),
        (kernel(width=2), "the kernel 2"),
        (with_bulk(WideBulk), "fields say 2"),
        (with_bulk(TwoSpellings), "2 sets of items are spelt in 3 ways"),
        (
            bulk(count=counting(lambda cells: {**cells, "n": cells["n"] // 2})),
            "reports of a device are not all counted",
        ),
    ],
)
def test_reports(broken: type[Coin], words: str) -> None:
    assert words in says(broken, "reports")


def test_reports_that_change_on_their_way(monkeypatch: pytest.MonkeyPatch) -> None:
    row = Reports.row
    monkeypatch.setattr(Reports, "row", lambda self, i: bytes(b ^ 1 for b in row(self, i)))
    assert "a device's report changes on its way into columns" in says(Coin, "reports")


def test_bulk_reports_of_another_length(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of what the bulk made come twice; those of devices, which `from_rows` takes, do not."""
    row, bulk_made = Reports.row, Coin.privatize_items
    made: list[Reports] = []

    def remembered(self: Coin, *given: Any) -> Reports:
        made.append(bulk_made(self, *given))
        return made[-1]

    monkeypatch.setattr(Coin, "privatize_items", remembered)
    monkeypatch.setattr(Reports, "row", lambda self, i: row(self, i) * (1 + any(self is bulk for bulk in made)))
    assert "bulk reports have another length" in says(Coin, "reports")


# ---- what is drawn


def test_p_values_are_twice_the_smaller_tail() -> None:
    """10 tosses of a fair coin: 1 or fewer heads have chance 11/1024, on either side."""
    found = two_sided(np.array([1, 9, 5]), 10, np.array([0.5, 0.5, 0.5]))
    assert found == pytest.approx([22 / 1024, 22 / 1024, 1.0], rel=1e-12)


def tossed(yes: Mapping[int, int], n: int) -> dict[int, Columns]:
    """n reports of each value, so many of them yes."""
    return {x: {"answer": np.repeat([1, 0], [yes[x], n - yes[x]]).astype(np.uint8)} for x in (0, 1)}


def test_the_p_value_of_counts_that_are_known() -> None:
    """Two pooled counts and four cells, half of the false alarm rate each: Bonferroni, written out."""
    m, n = coin(), 1000
    p = float(m.bulk.support.p)
    own_count, batches = 1500, tossed({0: 260, 1: 760}, n)
    pooled = float(two_sided(np.array([own_count]), 2 * n, np.array([p]))[0])
    cells = two_sided(np.array([740, 760]), n, np.array([p, p]))
    assert law_pvalue(m, batches) == pytest.approx(min(1, 2 * min(2 * pooled, 4 * cells.min())), rel=1e-9)
    off = tossed({0: 330, 1: 670 + 2 * 124}, n)  # the sum is as expected, neither part is
    assert law_pvalue(m, off) < 1e-9


def test_a_report_that_cannot_be_made_has_p_value_zero() -> None:
    """A set that no output supports, and a likelihood that no output has."""
    batches = {x: coin().privatize_items(np.full(50, x), simulation(x)).columns for x in (0, 1)}
    assert law_pvalue(coin(), batches) > 1e-3
    both = coin(bulk(supported=lambda self, columns: np.full((len(columns["answer"]), 1), 0b11, np.uint8)))
    assert law_pvalue(both, batches) == 0
    numbers = mechanism("duchi", epsilon=1.0, points=4, interval=(0.0, 1.0))
    drawn = {x: numbers.privatize_items(np.full(200, x), simulation(x)).columns for x in range(4)}
    assert law_pvalue(numbers, drawn) > 1e-3
    assert Profiles.of(numbers.channel()).count(numbers.at(1.001), drawn[0]) is None
    mixed = like(numbers, channel=lambda self: numbers.at(1.001).channel())
    assert law_pvalue(mixed, drawn) == 0


def test_the_law_of_numbers_is_tested_by_cells_and_by_what_points_to_the_value() -> None:
    """Three reports of each value, all of one kind: the chances are known, and so is the p-value."""
    m = mechanism("duchi", epsilon=1.0, points=4, interval=(0.0, 1.0))
    for epsilon, good in ((1.0, True), (1.6, False)):
        drawn = {x: m.at(epsilon).privatize_items(np.full(4000, x), simulation(x)).columns for x in range(4)}
        assert (law_pvalue(m, drawn) > 1e-3) == good


class Fixed(CoinBulk):
    """Always says yes."""

    def perturb(self, items: IntArray, rng: Stream) -> Columns:
        return {"answer": np.ones(items.size, np.uint8)}


class Backwards(CoinBulk):
    """p and q swapped where it draws."""

    def perturb(self, items: IntArray, rng: Stream) -> Columns:
        return super().perturb(1 - items, rng)


@pytest.mark.parametrize("broken", [Fixed, Backwards])
def test_sampler(broken: type[CoinBulk]) -> None:
    assert "reports per value do not follow the law" in says(with_bulk(broken), "sampler")
    assert "follow the law (p = " in check_sampler(coin(), alpha=ALPHA, n=2000, seed=1)


def test_power_is_shown_and_missed_where_there_is_none() -> None:
    need = int(reports_needed(coin(), alpha=1e-4, miss=1e-4))
    assert "are rejected" in check_power(coin(), alpha=1e-4, n=need, seed=2)
    with pytest.raises(AssertionError, match="the test has no power: 50 reports per value"):
        check_power(coin(), alpha=1e-4, n=50, seed=2)


def test_the_number_of_reports_is_the_one_with_that_power() -> None:
    """Of 200 runs with 10 % more epsilon, at most a tenth may be missed: 20 expected, 45 has chance below 1e-6."""
    need = int(reports_needed(coin(), alpha=0.01, miss=0.1))
    wrong = coin().at(1.1)
    missed = 0
    for seed in range(200):
        streams = simulation(seed).spawn(2)
        drawn = {x: wrong.privatize_items(np.full(need, x), streams[x]).columns for x in (0, 1)}
        missed += law_pvalue(coin(), drawn) > 0.01
    assert missed < 45
    assert reports_needed(coin(), alpha=0.01, miss=0.1, excess=1.2) < need / 3


@pytest.mark.parametrize(("p", "other"), [(0.5, 0.55), (0.01, 0.02), (0.002, 0.006), (0.9, 0.95), (0.998, 0.999)])
def test_sizes_have_the_exact_power(p: float, other: float) -> None:
    """Also where the normal approximation is poor: the counts that are rejected are gone through one by one."""
    n = int(sampling._binomial_size(p, other, 1e-3, 0.05))
    counts = np.arange(n + 1)
    rejected = two_sided(counts, n, np.full(n + 1, p)) <= 1e-3
    assert binom.pmf(counts, n, other)[rejected].sum() >= 0.95


def test_one_wrong_estimate_of_several_is_enough() -> None:
    m = mechanism("grr", epsilon=1.0, k=3)
    parts = type(m).parts

    def one_off(self: Any, tally: Tally) -> Any:
        found = parts(self, tally)["frequency"]
        share = found.share + np.array([0.0, 0.05, 0.0]) * (tally.n > 100)  # type: ignore[attr-defined]
        return {"frequency": replace(found, share=share)}  # type: ignore[type-var]

    assert "an estimate is too far from the truth" in says(like(m, parts=one_off), "unbiased")


def shifted(by: float) -> Callable[[Coin, Tally], Any]:
    def parts(self: Coin, tally: Tally) -> Any:
        from deniable.estimate.linear import SupportPart

        share = self.bulk.support_counts(tally.cells) / tally.n + by * (tally.n > 100)
        return {"frequency": SupportPart(share, self.support_effective, tally.n, None)}

    return parts


def wrong_weights(self: Coin, tally: Tally) -> Any:
    """Reads p and q the other way round for single reports."""
    found = Coin.parts(self, tally)
    return found if tally.n > 100 else shifted_single(self, tally)


def shifted_single(self: Coin, tally: Tally) -> Any:
    from deniable.estimate.linear import SupportPart

    share = self.bulk.support_counts(tally.cells) / tally.n * 0.999
    return {"frequency": SupportPart(share, self.support_effective, tally.n, None)}


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        (own(parts=shifted(0.05)), "an estimate is too far from the truth"),
        (own(parts=shifted(-0.05)), "an estimate is too far from the truth"),
        (own(parts=wrong_weights), "a report that supports"),
        (bulk(support=sampled_support(q=Fraction(1, 100))), "the expected estimate of item 0 given value 0 is"),
        (with_bulk(Backwards), "an estimate is too far from the truth"),
    ],
)
def test_unbiased(broken: type[Coin], words: str) -> None:
    assert words in says(broken, "unbiased")


def test_unbiased_numbers() -> None:
    """The mean of numbers, by its own standard error; a tenth of the interval off is seen."""
    m = mechanism("duchi", epsilon=1.0, points=4, interval=(0.0, 1.0))
    assert "in a run of 20000 reports" in check_unbiased(m, alpha=ALPHA, n=20_000, seed=3)
    drawn = m.privatize_items

    def privatize_items(self: Any, items: IntArray, rng: Stream | None = None, **options: Any) -> Reports:
        return drawn(np.minimum(items + (items == 0), 3), rng, **options)

    with pytest.raises(AssertionError, match="an estimate is too far from the truth"):
        check_unbiased(like(m, privatize_items=privatize_items), alpha=ALPHA, n=20_000, seed=3)


# ---- all together


def test_statistical_checks_share_the_false_alarm_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    rates: dict[str, float] = {}

    def check(name: str) -> Callable[[Mechanism, float, int], str]:
        return lambda m, alpha, seed: rates.setdefault(name, alpha) and name

    import deniable.testing as suite

    monkeypatch.setattr(suite, "CHECKS", {name: check(name) for name in CHECKS})
    conformance(coin(), alpha=0.03)
    assert sum(rates[name] for name in ("sampler", "power", "unbiased")) == pytest.approx(0.03)


def test_every_kind_of_failure_is_reported_and_none_hides_another() -> None:
    def explode(self: CoinBulk) -> Channel:
        raise ZeroDivisionError("at home")

    told = says(bulk(channel=explode), "rows")
    assert "rows: ZeroDivisionError: at home" in told
    with pytest.raises(AssertionError) as caught:
        conformance(coin(bulk(channel=channel_of(names=("yes", "yes")), count=one_more)), checks=["rows", "merge"])
    assert "fails 2 of 2 checks" in str(caught.value)


def test_watched_values_have_both_ends() -> None:
    assert sampling.watched_values(3) == [0, 1, 2]
    assert sampling.watched_values(100)[0] == 0
    assert sampling.watched_values(100)[-1] == 99
    assert len(sampling.watched_values(100)) == 8


def test_words_of_a_stream_are_used_once() -> None:
    words = wire.StreamWords(simulation(1))
    assert len({words.word() for _ in range(600)}) == 600
