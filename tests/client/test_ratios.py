"""What a device proves about its kernel against all that its randomiser can do, for designs of any shape and size.

The stated ratio must be the largest one over all reports and pairs of inputs, exactly: less would be a broken promise.
Thresholds are drawn over their whole range, so that each side of every maximum is the larger one somewhere.
"""

from __future__ import annotations

import math
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import pytest

from deniable_client.errors import DeniableError, ParameterError, PrivacyError
from deniable_client.exact import exp_bounds, log_upper
from deniable_client.kernels import (
    Affine,
    Arc,
    Balanced,
    Bit,
    Box,
    Constant,
    Dealt,
    Grouped,
    Hadamard,
    Hashing,
    Interaction,
    Interval,
    KeysOnly,
    Laplace,
    Lattice,
    Leaning,
    Mixture,
    Neighbours,
    OneKey,
    Pairs,
    Personal,
    Projective,
    Recode,
    Response,
    Several,
    SignedHashing,
    SignedInterval,
    SignedSubset,
    SignedUnary,
    Subset,
    Table,
    ToldKey,
    Unary,
    Utility,
    UtilityBudgets,
    Wheel,
    Whole,
    Window,
    WindowOrBit,
    check_promise,
)
from deniable_client.kernels.contract import other_than
from deniable_client.kernels.geometry import point
from deniable_client.kernels.keyvalue import GRID, amplified, padded_ratio
from deniable_client.kernels.personal import disclosure, other_value, same_value
from deniable_client.kernels.utility import check_budgets, mapped_peak, most_disclosure
from draws import channel, worst

WORD = 1 << 64
SEEDS = (5, 77)
"""Some of them send the values to places of their own."""


def threshold(rng: random.Random, low: float = 0.0, high: float = 1.0) -> int:
    """A threshold strictly between two shares of 2**64; often near an end."""
    u = rng.choice([rng.random(), rng.random() ** 6, 1 - rng.random() ** 6])
    return min(max(int((low + (high - low) * u) * WORD), int(low * WORD) + 1), int(high * WORD) - 1)


def stated(kernel: Any) -> Fraction:
    """What a kernel says of reports that disclose nothing."""
    ratio: Fraction = kernel.hidden_ratio if hasattr(type(kernel), "hidden_ratio") else kernel.ratio
    return ratio


def found(kernel: Any, inputs: list[Any] | None = None) -> Fraction:
    """The largest ratio over all inputs, reports and some public seeds."""
    values = list(range(kernel.k)) if inputs is None else inputs
    return max(worst([channel(lambda w, x=x: kernel.randomise(x, w), seed) for x in values]) for seed in SEEDS)


Maker = Callable[[random.Random], Any]


def unary(rng: random.Random, k: int = 3) -> Unary:
    keep = threshold(rng)
    return Unary(k, keep, rng.randrange(1, keep))


def signed_unary(rng: random.Random, keys: int = 2) -> SignedUnary:
    """Often with signs that are turned rarely: then both signs of one key are the farthest apart."""
    own = threshold(rng, 0, 0.9)
    flip = rng.choice([threshold(rng, 0, 0.05), min(WORD - own - 1, threshold(rng, 0, 0.09))])
    return SignedUnary(keys, own, flip, rng.choice([threshold(rng), min(WORD - 1, own + flip)]))


def signed_hashing(rng: random.Random) -> SignedHashing:
    own = threshold(rng, 0, 0.8)
    return SignedHashing(2, 2, own, threshold(rng, 0, 0.19))


def window(rng: random.Random, k: int = 3) -> Window:
    while True:
        outputs, tie = rng.randint(2, 6), rng.randint(0, 1)
        try:
            return Window(k, outputs, rng.randint(1, outputs - 1), rng.randint(tie, k - 1), tie, threshold(rng))
        except ParameterError:
            continue


def lattice(rng: random.Random) -> Lattice:
    """Two estimates of either sign; the inner ones, or one of them, may have a weight of its own in the middle.

    Or one of either sign and 0 between them, which all rows favour, or give a weight of its own: its least is nowhere,
    or it has two of them, which are the furthest apart of all.
    """
    slight = threshold(rng) // 4 + 1
    if rng.random() < 0.2:
        few = slight // 16 + 1
        most = WORD // 2 - few
        many = WORD - most - most // 2
        rows = ((0, 1, 1, many), (0, 3, 1, 2 * few), (2, 3, 1, many))
        return Lattice(7, (0, 3, 6), (0, 2, 4), (most // 2, 1, most // 2), (most, many, most), rows)
    if rng.random() < 0.3:
        mid = WORD // 2 - slight
        rows = rng.choice([((0, 2), (1, 3)), ((0, 1, 1, mid), (2, 3, 1, mid))])
        return Lattice(7, (0, 6), (0, 2, 4), (slight, 1, slight), (WORD // 2, mid, WORD // 2), rows)
    least, most = (slight, slight, slight, slight), (WORD // 2 - slight,) * 4
    rows = ((0, 2), rng.choice([(1, 3), (1, 3, 1, most[1]), (0, 0, 1, most[1], 2, most[2])]), (2, 4))
    return Lattice(7, (0, 3, 6), (0, 1, 3, 4), least, most, rows)


def leaning(rng: random.Random, k: int = 3) -> Leaning:
    base = threshold(rng)
    return Leaning(k, base, rng.randint(1, max(1, (WORD - 1 - base) // (k - 1))))


def table(rng: random.Random) -> Table:
    rows = []
    for _ in range(3):
        cuts = sorted(threshold(rng) for _ in range(2))
        rows.append((cuts[0], cuts[1] - cuts[0], WORD - cuts[1]))
    return Table(tuple(rows)) if all(min(row) > 0 for row in rows) else table(rng)


def neighbours(rng: random.Random) -> Neighbours:
    return Neighbours(4, tuple(tuple(sorted(rng.sample(range(4), 2))) for _ in range(3)), threshold(rng))


def told_key(rng: random.Random) -> ToldKey:
    """Guesses that are all even, all high, all low, or mixed: the least and the largest count."""
    low, high = rng.choice([(0, GRID), (0, GRID // 2), (GRID // 2, GRID), (GRID // 2, GRID // 2)])
    return ToldKey(2, threshold(rng), threshold(rng), (rng.randint(low, high), rng.choice([low, high])))


def grouped(rng: random.Random) -> Grouped:
    parts = [SignedSubset(2, rng.randint(1, 2), threshold(rng)), OneKey(2, threshold(rng), threshold(rng))]
    rng.shuffle(parts)
    return Grouped(parts[0], parts[1], threshold(rng))


def affine(rng: random.Random) -> Affine:
    """All divisors m of q-1, also blocks of one point and of all but one; some points are no items."""
    q, g = rng.choice([(3, 2), (5, 3), (7, 3), (11, 8), (13, 6)])
    m = rng.choice([m for m in range(1, q) if (q - 1) % m == 0])
    zero = rng.randint(0, 1) if m > 1 else 1
    return Affine(rng.randint(2, q), q, m, rng.randint(1 - zero, m - 1), zero, g, threshold(rng))


EXACT: dict[str, Maker] = {
    "response": lambda rng: Response(rng.randint(2, 4), threshold(rng)),
    "subset": lambda rng: Subset(4, rng.randint(1, 3), threshold(rng)),
    "box": lambda rng: Box(*rng.choice([((2, 2), (1, 1)), ((3, 2), (2, 1)), ((2, 2, 2), (1, 1, 1))]), threshold(rng)),
    "several": lambda rng: Several(*rng.choice([(3, 1, 1, 2), (3, 2, 2, 1), (2, 2, 2, 1)]), threshold(rng)),
    "unary": unary,
    "hadamard": lambda rng: Hadamard(rng.randint(2, 4), threshold(rng)),
    "hashing": lambda rng: Hashing(3, rng.randint(2, 3), threshold(rng)),
    "interaction": lambda rng: Interaction(*rng.choice([((2, 2), 2, 1), ((3, 2), 3, 2)]), threshold(rng)),
    "balanced": lambda rng: Balanced(4, rng.randint(2, 3), threshold(rng)),
    "wheel": lambda rng: Wheel(2, rng.randint(1, 3), threshold(rng), 3),
    "interval": lambda rng: Interval(4, rng.randint(1, 3), threshold(rng)),
    "affine": affine,
    "signed-unary": signed_unary,
    "signed-subset": lambda rng: SignedSubset(2, rng.randint(1, 2), threshold(rng)),
    "signed-interval": lambda rng: SignedInterval(3, rng.randint(1, 2), threshold(rng)),
    "signed-hashing": signed_hashing,
    "keys-only": lambda rng: KeysOnly(Subset(3, rng.randint(1, 2), threshold(rng))),
    "one-key": lambda rng: OneKey(2, threshold(rng), threshold(rng)),
    "told-key": told_key,
    "grouped": grouped,
    "window": window,
    "leaning": leaning,
    "lattice": lattice,
    "arc": lambda rng: Arc(5, rng.randint(1, 4), threshold(rng)),
    "window-or-bit": lambda rng: WindowOrBit(window(rng), leaning(rng), threshold(rng)),
    "neighbours": neighbours,
    "recode": lambda rng: Recode(4, (0, 1, 3), tuple(rng.choices(range(3), k=3)), Response(3, threshold(rng))),
    "table": table,
    "dealt": lambda rng: Dealt((Response(2, threshold(rng)), table(rng)), (rng.randint(1, 4), rng.randint(1, 4))),
    "bit": lambda rng: Bit(tuple(threshold(rng) for _ in range(3))),
    "whole": lambda rng: Whole(3),
    "constant": lambda rng: Constant(3),
}  # fmt: skip


@pytest.mark.parametrize("kind", EXACT)
def test_the_stated_ratio_is_the_largest_there_is(kind: str) -> None:
    rng = random.Random(f"exact {kind}")
    for _ in range(20):
        kernel = EXACT[kind](rng)
        assert found(kernel) == stated(kernel), kernel


@pytest.mark.parametrize("kind", EXACT)
def test_reports_have_the_stated_width(kind: str) -> None:
    kernel = EXACT[kind](random.Random(f"width {kind}"))
    reports = channel(lambda w: kernel.randomise(0, w))
    assert {len(report) for report in reports} == {kernel.width}


def test_mixtures_are_at_most_as_telling_as_their_parts() -> None:
    """A coin that hardly ever, or nearly always, chooses the second kernel: then one part is all there is."""
    rng = random.Random("mixture")
    for coin in (0, 1, WORD // 2, WORD - 1):
        for _ in range(10):
            first, second = Response(3, threshold(rng)), Response(3, threshold(rng))
            mixed = Mixture(first, second, coin)
            assert found(mixed) <= mixed.ratio <= max(first.ratio, second.ratio)
            if coin == 0:
                assert mixed.ratio == first.ratio
            if coin == WORD - 1:
                assert abs(float(found(mixed) / second.ratio) - 1) < 0.01 or first.ratio > 1 << 40
                assert mixed.ratio >= second.ratio


# ---- what transforms ask of a base

BASES = (
    "response",
    "subset",
    "box",
    "several",
    "unary",
    "hadamard",
    "hashing",
    "balanced",
    "wheel",
    "interval",
    "affine",
)


@pytest.mark.parametrize("kind", BASES)
def test_blind_reports_and_how_they_compare(kind: str) -> None:
    """The largest quotient of a value's and a blind report's likelihood, on both sides of the favoured reports."""
    rng = random.Random(f"blind {kind}")
    for _ in range(12):
        kernel = EXACT[kind](rng)
        peak = Fraction(0)
        for seed in SEEDS:
            blind = channel(kernel.blind, seed)
            for x in range(kernel.k):
                own = channel(lambda w, x=x, kernel=kernel: kernel.randomise(x, w), seed)
                assert own.keys() == blind.keys()
                peak = max(peak, *(own[report] / blind[report] for report in own))
        assert peak == kernel.blind_peak, kernel


@pytest.mark.parametrize("kind", [kind for kind in BASES if kind != "unary"])
def test_blind_reports_are_counted_exactly(kind: str) -> None:
    """Given the seed, all are equally likely; so are those of a value that support it, and those that do not."""
    rng = random.Random(f"reports {kind}")
    for _ in range(12):
        kernel = EXACT[kind](rng)
        own, rest = kernel.reports
        keep = Fraction(kernel.keep, WORD)
        for seed in SEEDS:
            assert Counter(channel(kernel.blind, seed).values()) == {Fraction(1, own + rest): own + rest}
            for x in range(kernel.k):
                law = channel(lambda w, x=x, kernel=kernel: kernel.randomise(x, w), seed)
                assert Counter(law.values()) == Counter({keep / own: own}) + Counter({(1 - keep) / rest: rest})
        assert Fraction(*kernel.levels) == Fraction(own, rest)


@pytest.mark.parametrize(("k", "prime"), [(2, 2), (3, 2), (7, 2), (4, 3), (13, 3), (6, 5)])
def test_points_are_counted_exactly(k: int, prime: int) -> None:
    kernel = Projective(k, prime, WORD // 2)
    points = [point(i, prime, kernel.rank) for i in range(kernel.order)]
    assert len(channel(kernel.blind)) == kernel.order == sum(kernel.reports)
    for item in points[:k]:
        orthogonal = sum(sum(map(int.__mul__, item, other)) % prime == 0 for other in points)
        assert orthogonal == kernel.reports[0] == kernel.levels[0]


def test_kernels_without_sets_of_alike_reports_count_none() -> None:
    for kernel in (Unary(3, WORD // 2, WORD // 4), Whole(3), Constant(3), Laplace.calibrate(1.0, 2)):
        for count in ("reports", "levels"):
            with pytest.raises(ParameterError, match=f"reports of {type(kernel).__name__} do not support values"):
                getattr(kernel, count)


def test_what_two_reports_of_one_draw_tell_needs_the_exact_number_of_reports() -> None:
    """A draw at epsilon 2 is kept, and each report is that draw or a blind report, epsilon 1 the first of them.

    Two reports that are the same and support one value tell most; `levels`, which are up to a factor, would say less.
    """
    kernel = Subset.calibrate(2.0, 4, 2)
    first, keep = Fraction(math.e), Fraction(kernel.keep, WORD)
    beta = 1 - keep + keep / kernel.lift
    again = (first - 1) / (first - 1 + beta * (kernel.lift - first))  # chance of the draw itself

    def tells(own: int, rest: int) -> Fraction:
        more = (1 + again / (1 - again) * (own + rest)) ** 2 - 1
        return (1 + keep / own * more) / (1 + keep / own / kernel.lift * more)

    draws = [channel(lambda w, x=x: kernel.randomise(x, w)) for x in range(4)]
    blind = Fraction(1, len(draws[0]))

    def law(draw: Mapping[bytes, Fraction]) -> dict[bytes, Fraction]:
        found: dict[bytes, Fraction] = defaultdict(Fraction)
        for kept, one, two in product(draw, repeat=3):
            chances = (again * (report == kept) + (1 - again) * blind for report in (one, two))
            found[one + two] += draw[kept] * math.prod(chances)
        return found

    true = worst([law(draw) for draw in draws])
    assert true == tells(*kernel.reports)
    assert round(math.log(true), 4) == 1.8159
    assert round(math.log(tells(*kernel.levels)), 4) == 1.7569


@pytest.mark.parametrize("kind", ["response", "subset", "box", "balanced", "interval", "affine", "hashing", "unary"])
def test_so_many_values_share_the_largest_likelihood(kind: str) -> None:
    rng = random.Random(f"least {kind}")
    for _ in range(12):
        kernel = EXACT[kind](rng)
        least = kernel.k
        for seed in SEEDS:
            laws = [channel(lambda w, x=x, kernel=kernel: kernel.randomise(x, w), seed) for x in range(kernel.k)]
            for report in laws[0]:
                chances = [law[report] for law in laws]
                least = min(least, chances.count(max(chances)))
        assert 1 <= kernel.least <= least, kernel
        if kind in ("response", "subset", "box", "interval"):
            assert kernel.least == least


def small_base(rng: random.Random, s: int) -> Any:
    kind = rng.choice(["response", "subset", "unary", "hashing"])
    if kind == "response":
        return Response(s, threshold(rng))
    if kind == "subset":
        return Subset(s, rng.randint(1, s - 1), threshold(rng))
    return unary(rng, s) if kind == "unary" else Hashing(s, 2, threshold(rng))


def hides(kernel: Any) -> Callable[[bytes], bool]:
    return lambda report: not any(report[: kernel.head])


def hidden(kernel: Any) -> Fraction:
    """The largest ratio of reports that disclose nothing; those that do have one sender, who is harmless."""
    worst_found = Fraction(1)
    for seed in SEEDS:
        laws = [channel(lambda w, x=x: kernel.randomise(x, w), seed) for x in range(kernel.k)]
        worst_found = max(worst_found, worst(laws, hides(kernel)))
        for report in {report for law in laws for report in law if not hides(kernel)(report)}:
            senders = [x for x, law in enumerate(laws) if report in law]
            assert len(senders) == 1
            assert not any(
                a <= senders[0] < b for a, b in zip(kernel.sensitive[::2], kernel.sensitive[1::2], strict=True)
            )
    return worst_found


SHAPES = [(3, (0, 2)), (4, (1, 3)), (4, (0, 1, 2, 4)), (3, (0, 3)), (3, (1, 2)), (3, ())]


@pytest.mark.parametrize(("k", "sensitive"), SHAPES, ids=str)
@pytest.mark.parametrize("blind", [0, 1])
def test_disclosure_keeps_the_ratio_of_all_other_reports(k: int, sensitive: tuple[int, ...], blind: int) -> None:
    """Bounds that hold always, and are attained where a harmless value hides behind blind reports."""
    rng = random.Random(f"utility {k} {sensitive} {blind}")
    s = sum(sensitive[1::2]) - sum(sensitive[::2])
    for _ in range(12):
        base = (small_base(rng, s),) if s >= 2 else ()
        plain = WORD if s == 0 else rng.choice([0, threshold(rng)])
        kernel = Utility(k, sensitive, base, plain, 0 if s == 0 else rng.choice([0, threshold(rng)]), blind)
        true = hidden(kernel)
        assert true <= stated(kernel), kernel
        if blind:
            assert true == stated(kernel), kernel
        chances = channel(lambda w, kernel=kernel: kernel.randomise(k - 1, w))
        if s and sensitive[-1] < k:
            assert kernel.kept == sum(p for report, p in chances.items() if hides(kernel)(report))


MAPPED: dict[str, Maker] = {
    "response": lambda rng: Response(3, threshold(rng)),
    "subset": lambda rng: Subset(4, rng.randint(1, 3), threshold(rng)),
    "unary": unary,
    "hashing": lambda rng: Hashing(3, 2, threshold(rng)),
    "table": table,
}


@pytest.mark.parametrize("kind", MAPPED)
def test_values_hidden_among_mapped_ones(kind: str) -> None:
    """A harmless value that is turned into a sensitive one: its reports are those of all sensitive values, mixed."""
    rng = random.Random(f"mapped {kind}")
    for _ in range(10):
        base = MAPPED[kind](rng)
        peak = Fraction(0)
        for seed in range(8):
            laws = [channel(lambda w, x=x, base=base: base.randomise(x, w), seed) for x in range(base.k)]
            for report in laws[0]:
                chances = [law[report] for law in laws]
                peak = max(peak, max(chances) * base.k / sum(chances))
        assert peak == mapped_peak(base), base
        kernel = Utility(base.k + 1, (0, base.k), (base,), rng.choice([0, threshold(rng)]), 0, 0)
        assert stated(kernel) == max(base.ratio, peak / kernel.kept)


@pytest.mark.parametrize("form", ["null", "separate", "mapped"])
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_calibrated_disclosure_is_the_most_within_epsilon(form: str, epsilon: float) -> None:
    low = exp_bounds(epsilon)[0]
    for base in (Response.calibrate(epsilon, 2), Subset.calibrate(epsilon, 3, 1), Hashing.calibrate(epsilon, 3, 2)):
        k, sensitive = base.k + 1, (0, base.k)
        more = (Fraction(1, 4),) if form == "mapped" else ()
        kernel = getattr(Utility, form)(epsilon, k, sensitive, (base,), *more)
        assert hidden(kernel) <= stated(kernel) <= low
        assert float(stated(kernel)) == pytest.approx(math.exp(epsilon), rel=1e-9)


def test_the_most_disclosure_is_the_last_threshold_within_epsilon() -> None:
    for epsilon, peak in ((1.0, Fraction(3, 2)), (0.1, Fraction(1)), (3.0, Fraction(7))):
        low, most = exp_bounds(epsilon)[0], most_disclosure(epsilon, peak)
        assert peak / Fraction(WORD - most, WORD) <= low < peak / Fraction(WORD - most - 1, WORD)
    assert most_disclosure(0.5, Fraction(2)) == 0


# ---- budgets of single values


def budgets(rng: random.Random, k: int, s: int) -> UtilityBudgets:
    keep = threshold(rng)
    flips = [rng.randrange(1, keep) for _ in range(s)]
    flips = rng.choice([flips, [flips[0]] * s])
    return UtilityBudgets(k, (0, s), keep, tuple(flips), rng.choice([0, threshold(rng)]))


@pytest.mark.parametrize(("k", "s"), [(3, 2), (3, 3), (4, 3), (2, 1)])
def test_every_sensitive_value_against_all_with_no_smaller_a_budget(k: int, s: int) -> None:
    rng = random.Random(f"budgets {k} {s}")
    for _ in range(20):
        kernel = budgets(rng, k, s)
        epsilons = [rng.choice([0.5, 1.0, 2.0]) for _ in range(s)]
        laws = [channel(lambda w, x=x, kernel=kernel: kernel.randomise(x, w)) for x in range(k)]
        quiet = hides(kernel)
        for x, ratio in enumerate(kernel.item_ratios(epsilons)):
            rivals = [z for z in range(k) if z != x and (z >= s or epsilons[z] >= epsilons[x])]
            true = max((worst([laws[x], laws[z]], quiet) for z in rivals), default=Fraction(1))
            assert ratio == true, (kernel, epsilons, x)
        assert stated(kernel) == hidden(kernel)


def test_one_budget_that_is_broken_is_seen() -> None:
    """Both values are told apart by the ratio 6: whichever has the smaller budget, that one must be within it."""
    kernel = UtilityBudgets(3, (0, 2), WORD // 2, (WORD * 2 // 5, WORD // 10), 0)
    check_budgets(kernel, (1.7918, 1.7918))
    for number, less in enumerate(((1.7917, 1.7918), (1.7918, 1.7917))):
        with pytest.raises(PrivacyError, match=f"sensitive value number {number}"):
            check_budgets(kernel, less)


# ---- levels


def personal_data(rng: random.Random, form: str) -> Any:
    """A kernel of one form, with thresholds of its own."""
    if form == "response":
        return Response(3, threshold(rng))
    if form == "two":
        return Response(2, threshold(rng))
    if form == "unary":
        return unary(rng, 3)
    if form == "hashing":
        return Hashing(2, 3, threshold(rng))
    base = unary(rng, 2) if form == "utility-unary" else Response(2, threshold(rng))
    return Utility(4, (0, 2), (base,), threshold(rng), 0, 1)


def whole_laws(kernel: Personal) -> dict[tuple[int, int, int], Any]:
    """The law of the whole report, by seed, value and level."""
    return {
        (seed, x, level): channel(lambda w, x=x, level=level: kernel.randomise(x, w, level), seed)
        for seed in SEEDS
        for x in range(kernel.k)
        for level in range(len(kernel.data))
    }


def log_worst(
    laws: dict[tuple[int, int, int], Any], near: Callable[[Any, Any], bool], quiet: Callable[[bytes], bool]
) -> float:
    """Largest log-ratio over all reports of pairs of inputs that are to be compared."""
    most = Fraction(1)
    for (seed, x, level), (other, z, second) in product(laws, repeat=2):
        if seed != other or not near((x, level), (z, second)):
            continue
        one, two = laws[seed, x, level], laws[seed, z, second]
        for report in one:
            if x == z or quiet(report):
                most = max(most, one[report] / two[report])
    return log_upper(most)


@pytest.mark.parametrize("form", ["response", "two", "unary", "hashing", "utility"])
@pytest.mark.parametrize("channel_kind", ["none", "response", "bit"])
def test_what_a_report_tells_about_the_level(form: str, channel_kind: str) -> None:
    rng = random.Random(f"personal {form} {channel_kind}")
    level: dict[str, Callable[[], tuple[Any, ...]]] = {
        "none": lambda: (),
        "response": lambda: (Response(2, threshold(rng)),),
        "bit": lambda: (Bit((threshold(rng), threshold(rng))),),
    }
    for _ in range(6):
        kernel = Personal((personal_data(rng, form), personal_data(rng, form)), level[channel_kind]())
        laws = whole_laws(kernel)
        head = kernel.data[0].head if form == "utility" else 0
        quiet = lambda report, head=head: not any(report[:head])  # noqa: E731
        true = {
            "ratio": log_worst(laws, lambda a, b: a[1] == b[1], quiet),
            "level": log_worst(laws, lambda a, b: a[0] == b[0], quiet),
            "pair": log_worst(laws, lambda a, b: True, quiet),
        }
        assert log_upper(stated(kernel)) == true["ratio"], kernel
        for told, name in ((kernel.level_guarantee, "level"), (kernel.pair_guarantee, "pair")):
            assert true[name] <= told <= true[name] + 1e-9 + 1e-12 * told, (name, kernel)
        if channel_kind == "none":
            assert kernel.leakage == pytest.approx(kernel.level_guarantee, rel=1e-12)
            assert kernel.report == 0
        else:
            assert kernel.report == log_upper(kernel.level[0].ratio)
            bare = Personal(kernel.data, ())
            assert kernel.leakage == bare.leakage


@pytest.mark.parametrize("form", ["response", "two", "unary", "hashing", "utility", "utility-unary"])
def test_two_levels_compared_for_one_value_and_for_two(form: str) -> None:
    """The parts of the guarantees by themselves: a part that is too small may hide behind a larger one."""
    rng = random.Random(f"two levels {form}")
    for _ in range(20):
        one, two = personal_data(rng, form), personal_data(rng, form)
        head = one.head if form.startswith("utility") else 0
        same, other, open_ = Fraction(0), Fraction(0), Fraction(0)
        for seed in SEEDS:
            if form == "hashing" and one.place(0, seed) == one.place(1, seed):
                continue  # then two values are one
            laws = [[channel(lambda w, x=x, m=m: m.randomise(x, w), seed) for x in range(m.k)] for m in (one, two)]
            for x, z in product(range(one.k), repeat=2):
                for report, chance in laws[0][x].items():
                    if x == z:
                        same = max(same, chance / laws[1][z][report])
                        open_ = max(open_, chance / laws[1][z][report] if any(report[:head]) else Fraction(0))
                    elif not any(report[:head]):
                        other = max(other, chance / laws[1][z][report])
        assert is_log(same_value(one, two), same), (one, two)
        assert is_log(other_value(one, two), other), (one, two)
        if head:
            assert is_log(disclosure(one, two), open_), (one, two)


def is_log(told: float, true: Fraction) -> bool:
    """Whether a float is the logarithm of a fraction, and not below it."""
    exact = log_upper(true) if true >= 1 else -log_upper(1 / true)
    return exact <= told <= exact + 1e-9


# ---- pairs of a person


def people(keys: int) -> Iterator[list[tuple[int, int]]]:
    """All sets of pairs with different keys, values at the ends of their range."""
    for count in range(keys + 1):
        for chosen in combinations(range(keys), count):
            for values in product((0, GRID), repeat=count):
                yield list(zip(chosen, values, strict=True))


PADDED: dict[str, Callable[[random.Random, int, int], Any]] = {
    "response": lambda rng, keys, length: Response(2 * (keys + length), threshold(rng)),
    "subset": lambda rng, keys, length: Subset(2 * (keys + length), 2, threshold(rng)),
    "signed-subset": lambda rng, keys, length: SignedSubset(keys + length, 2, threshold(rng)),
    "keys-only": lambda rng, keys, length: KeysOnly(Subset(keys + length, 2, threshold(rng))),
    "keys-only-one": lambda rng, keys, length: KeysOnly(Response(keys + length, threshold(rng))),
    "signed-unary": lambda rng, keys, length: signed_unary(rng, keys + length),
    "grouped": lambda rng, keys, length: Grouped(
        *rng.sample(
            [
                SignedSubset(keys + length, 1, threshold(rng)),
                Response(2 * (keys + length), threshold(rng)),
            ],
            2,
        ),
        threshold(rng),
    ),
}  # fmt: skip
UPPER = ("signed-unary",)
"""Where the ratio of single keys is taken for that of sets: at most as telling."""


@pytest.mark.parametrize("kind", PADDED)
@pytest.mark.parametrize(("keys", "length"), [(2, 1), (2, 2)])
def test_the_padded_ratio_is_the_largest_over_all_sets_of_pairs(kind: str, keys: int, length: int) -> None:
    rng = random.Random(f"padded {kind} {keys} {length}")
    for _ in range(2 if kind == "signed-unary" else 4):
        kernel = Pairs(PADDED[kind](rng, keys, length), keys, length)
        laws = [channel(lambda w, pairs=pairs, kernel=kernel: kernel.randomise(pairs, w)) for pairs in people(keys)]
        true = worst(laws)
        assert true <= kernel.ratio == padded_ratio(kernel.base, keys, length), kernel
        if kind not in UPPER:
            assert true == kernel.ratio, kernel


@pytest.mark.parametrize(("keys", "length", "size"), [(2, 1, 2), (3, 2, 2), (3, 2, 3), (2, 2, 3)])
def test_padded_keys_where_dummies_cannot_be_avoided(keys: int, length: int, size: int) -> None:
    rng = random.Random(f"dummies {keys} {length} {size}")
    for _ in range(4):
        kernel = Pairs(KeysOnly(Subset(keys + length, size, threshold(rng))), keys, length)
        sets = [
            [(key, 0) for key in chosen] for count in range(keys + 1) for chosen in combinations(range(keys), count)
        ]
        assert worst(channel(lambda w, p=p, kernel=kernel: kernel.randomise(p, w)) for p in sets) == kernel.ratio


def test_without_padding_the_ratio_is_that_of_the_kernel() -> None:
    rng = random.Random("single")
    for _ in range(10):
        kernel = Pairs(SignedSubset(2, 1, threshold(rng)), 2, 0)
        assert found(kernel) == kernel.ratio == kernel.base.ratio


def test_kernels_that_padding_is_not_worked_out_for_are_refused() -> None:
    with pytest.raises(DeniableError):
        _ = Pairs(Balanced(8, 2, WORD // 2), 2, 2).ratio


@pytest.mark.parametrize(("size", "length"), [(1, 1), (1, 3), (2, 3), (4, 3)])
def test_the_amplified_ratio_is_what_padding_brings_down(size: int, length: int) -> None:
    for epsilon in (0.5, 2.0):
        low = exp_bounds(epsilon)[0]
        most = amplified(epsilon, size, length)
        assert 1 + (most - 1) * Fraction(min(size, length), length) == low
    assert amplified(1.0, size, 0) == exp_bounds(1.0)[0]


# ---- noise


@pytest.mark.parametrize("level", [(1, 1), (8, 1), (1, 2)])
@pytest.mark.parametrize("grid", [0, 1, 2, 3])
def test_the_shift_of_laplace_noise_is_the_worst_of_all_steps(level: tuple[int, int], grid: int) -> None:
    """One coordinate with and without its unit, for all steps around both; the digits decide where they are coarse."""
    rng = random.Random(f"laplace {level} {grid}")
    steps = 1 << grid
    for again in (threshold(rng), threshold(rng, 0.5, 0.7), Laplace.calibrate(level[0] / level[1], 2).again):
        kernel = Laplace(2, again, grid, 8 * steps, *level)
        size = [Fraction(0)] * (5 * steps)
        for n in range(5 * steps):
            quotient, rest = divmod(n, steps)
            size[n] = Fraction(again, WORD) ** quotient * (1 - Fraction(again, WORD))
            for i, t in enumerate(kernel.digits):
                size[n] *= Fraction(t, WORD) if rest >> i & 1 else 1 - Fraction(t, WORD)
        noise = {n: size[abs(n)] for n in range(-5 * steps + 1, 5 * steps)}
        pairs = [(noise[n], noise[n - steps]) for n in range(-3 * steps, 4 * steps)]
        assert kernel.shift == kernel.blind_peak == max(max(a / b, b / a) for a, b in pairs)
        assert kernel.ratio == kernel.shift**2


def test_digits_of_laplace_noise_are_those_of_its_level() -> None:
    """Digit i is 1 with chance 1/(1 + e^(level 2^i/(2 S))), to the nearest threshold."""
    kernel = Laplace(2, WORD // 2, 3, 64, 5, 2)
    for i, t in enumerate(kernel.digits):
        low, high = exp_bounds(2.5 * 2.0 ** (i - 4))
        assert WORD / (1 + high) - Fraction(1, 2) <= t <= WORD / (1 + low) + Fraction(1, 2)


# ---- the decision


def test_a_promise_is_kept_up_to_the_certified_bound_and_not_beyond() -> None:
    low = exp_bounds(1.0)[0]

    class Claim:
        kind = "claim"

        def __init__(self, ratio: Fraction) -> None:
            self.ratio = ratio

    check_promise(Claim(low), low, 1.0)  # type: ignore[arg-type]
    with pytest.raises(PrivacyError, match="no report was made"):
        check_promise(Claim(low + Fraction(1, 1 << 300)), low, 1.0)  # type: ignore[arg-type]


@pytest.mark.parametrize("x", [0, 1, 3])
def test_another_value_is_any_other(x: int) -> None:
    law = channel(lambda w: bytes([other_than(x, 4, w)]))
    assert law == {bytes([y]): Fraction(1, 3) for y in range(4) if y != x}


def test_what_rules_a_value_out_is_refused() -> None:
    """Answers that never come, too few dummy keys, a base that discloses: no ratio would be right for them."""
    with pytest.raises(ParameterError, match="own"):
        SignedUnary(2, WORD // 2, WORD // 2, WORD // 2)
    for wrong in (4, 5, 7):
        with pytest.raises(ParameterError, match="signed keys of the kernel must be 2"):
            Pairs(Response(2 * wrong, WORD // 2), 3, 3)
    inner = Utility(2, (0, 1), (), WORD // 2, 0, 1)
    with pytest.raises(PrivacyError, match="a base must not disclose"):
        Utility(3, (0, 2), (inner,), WORD // 2, 0, 0)
