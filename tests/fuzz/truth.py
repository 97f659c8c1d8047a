"""What a design really sends: the exact channel of its scalar randomiser, by going through every way it can run.

Nothing here knows what a kernel claims. `Paths` stands in for the random words: whatever is asked of a word (is
it below a threshold? which of n equal parts is it in?) is answered in every possible way, each with the exact share of
the 2**64 words that answer so. A word that is used as a number itself is a public seed, which is a given one.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, product
from math import lcm
from typing import Any

from deniable_client.kernels.basic import Laplace

WORD = 1 << 64
GRID = 1 << 32
DEPTH = 32
"""Decisions of one way; randomisers that draw again until something fits are cut off there, the rest is `lost`."""
WAYS = 4000
"""Ways of one value; designs with more of them are too large to be gone through."""
CONCRETE = 40
"""Numbers below this are told apart one by one, others only by comparison."""

Law = dict[Hashable, Fraction]


class TooLargeError(Exception):
    """There are more ways than can be gone through."""


class _CutOffError(Exception):
    """A way is too long."""


def _no(*_: object) -> Any:
    raise TooLargeError


class _Compared:
    """A uniform whole number from `low` to `high` - 1 of which only comparisons are known."""

    def __init__(self, paths: Paths, low: int, high: int) -> None:
        self.paths, self.low, self.high = paths, low, high

    def __lt__(self, other: int) -> bool:
        middle = min(max(other, self.low), self.high)
        below = not self.paths.choose((middle - self.low, self.high - middle))
        self.low, self.high = (self.low, middle) if below else (middle, self.high)
        return below

    def __ge__(self, other: int) -> bool:
        return not self < other

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __mod__ = __rmod__ = __floordiv__ = _no
    __eq__ = __gt__ = __le__ = __index__ = __int__ = __bool__ = to_bytes = _no
    __hash__ = None  # type: ignore[assignment]


class _Word(int):
    """A random word: all of them at once where it is compared or multiplied, one given seed wherever it is used up."""

    compared: _Compared

    def __new__(cls, paths: Paths) -> _Word:
        made = super().__new__(cls, paths.seed)
        made.compared = _Compared(paths, 0, WORD)
        return made

    def __lt__(self, other: int) -> bool:
        return self.compared < other

    def __ge__(self, other: int) -> bool:
        return self.compared >= other

    def __mul__(self, n: int) -> Any:
        return _Product(self.compared.paths, n)

    __hash__ = int.__hash__
    __gt__ = __le__ = __rmul__ = __rshift__ = __mod__ = _no


class _Product:
    """A word times n: first it is asked whether its residue is large enough, then what is left without the residue."""

    def __init__(self, paths: Paths, n: int) -> None:
        self.paths, self.n, self.least = paths, n, 0

    def __mod__(self, size: int) -> _Product:
        assert size == WORD
        return self

    def __ge__(self, least: int) -> bool:
        """Always: if not, another word is drawn in the same way, so that the law is that of the words that fit."""
        self.least = least
        return True

    def __rshift__(self, bits: int) -> Any:
        assert 1 << bits == WORD
        if self.n > CONCRETE:
            counts = {self._count(j) for j in (0, 1, self.n // 2, self.n - 1)}
            assert len(counts) == 1
            return _Compared(self.paths, 0, self.n)
        return self.paths.choose([self._count(j) for j in range(self.n)])

    def _count(self, j: int) -> int:
        """How many words have the product's upper part j and a residue that is large enough."""
        return -(-(j + 1) * WORD // self.n) - -(-(j * WORD + self.least) // self.n)


class Paths:
    """Random words that go every way, one after the other."""

    bits = 64

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.taken: list[tuple[int, Sequence[int], int]] = []
        self.at = 0

    def word(self) -> _Word:
        """All words at once."""
        return _Word(self)

    def choose(self, weights: Sequence[int]) -> int:
        """One of several ways with these weights: the one that is due."""
        if self.at == len(self.taken):
            if self.at == DEPTH:
                raise _CutOffError
            self.taken.append((next(i for i, weight in enumerate(weights) if weight), weights, sum(weights)))
        self.at += 1
        return self.taken[self.at - 1][0]

    def next(self) -> bool:
        """Go on to the next way, if there is one."""
        self.at = 0
        while self.taken:
            chosen, weights, total = self.taken.pop()
            for i in range(chosen + 1, len(weights)):
                if weights[i]:
                    self.taken.append((i, weights, total))
                    return True
        return False

    @property
    def weight(self) -> tuple[int, int]:
        """Chance of the present way, as numerator and denominator."""
        top = bottom = 1
        for chosen, weights, total in self.taken:
            top, bottom = top * weights[chosen], bottom * total
        return top, bottom


LOST = "lost"


def law(draw: Callable[[Paths], Hashable], paths: Paths) -> Law:
    """The exact law of what is drawn; what was cut off is at `LOST`."""
    sums: dict[Hashable, dict[int, int]] = {}
    for _ in range(WAYS):
        try:
            drawn = draw(paths)
        except _CutOffError:
            drawn = LOST
        top, bottom = paths.weight
        parts = sums.setdefault(drawn, {})
        parts[bottom] = parts.get(bottom, 0) + top
        if not paths.next():
            break
    else:
        raise TooLargeError
    made = {drawn: sum(Fraction(top, bottom) for bottom, top in parts.items()) for drawn, parts in sums.items()}
    assert sum(made.values()) == 1
    return made


# ---- noise without end


_NOISE = Laplace._noise


class _Noise(Paths):
    """Ways of one coordinate's noise: sign, digits, then heads until the first tail.

    Heads beyond the reach change no report: there the next toss is a tail. A negative zero is drawn again from the
    start, so that the law is that of all others; it is cut off.
    """

    def __init__(self, kernel: Laplace, seed: int) -> None:
        super().__init__(seed)
        self.again = (kernel.again, WORD - kernel.again)
        self.first = kernel.grid + 2
        self.most = self.first + (kernel.reach >> kernel.grid) + 2

    def choose(self, weights: Sequence[int]) -> int:
        begun = [chosen for chosen, *_ in self.taken[: self.at]]
        if begun == [0] + [1] * (self.first - 1):
            raise _CutOffError
        if self.at >= self.most and tuple(weights) == self.again:
            weights = (0, 1)
        return super().choose(weights)


@lru_cache(maxsize=1024)
def _noise_law(kernel: Laplace, seed: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The law of one coordinate's noise, all that is beyond the reach being alike: numbers and whole weights."""
    far = kernel.reach + (1 << kernel.grid)
    found: dict[int, Fraction] = {}
    for noise, chance in law(lambda words: _NOISE(kernel, words), _Noise(kernel, seed)).items():
        if noise != LOST:
            met = max(-far, min(far, noise))  # type: ignore[type-var]
            found[met] = found.get(met, Fraction(0)) + chance
    bottom = lcm(*(chance.denominator for chance in found.values()))
    return tuple(found), tuple(int(chance * bottom) for chance in found.values())


def _drawn_noise(kernel: Laplace, words: Any) -> int:
    numbers, weights = _noise_law(kernel, words.seed)
    return numbers[words.choose(weights)]


@contextmanager
def finite_noise() -> Iterator[None]:
    """Noise is drawn from its law, which is found by going through its own draws once."""
    Laplace._noise = _drawn_noise  # type: ignore[method-assign]
    try:
        yield
    finally:
        Laplace._noise = _NOISE  # type: ignore[method-assign]


# ---- promises


def exp_above(x: float) -> Fraction:
    """A number hardly above e^x, from the decimal library."""
    return Fraction(Context(prec=60).exp(Decimal(x))) * (1 + Fraction(1, 10**55))


Channel = Mapping[Hashable, Law]
"""Laws of reports by who sends them."""


def worst(channel: Channel, least: Fraction, named: Callable[[Hashable], bool] = lambda _: False) -> Fraction:
    """The largest quotient of a report's chances between any two senders, or `least` if that is not below it.

    Reports that only one sender can have made are left out if it may be `named`. What was cut off counts against us.
    """
    found = least
    reports = {report for each in channel.values() for report in each if report != LOST}
    for report in reports:
        chances = {sender: each.get(report, Fraction(0)) for sender, each in channel.items()}
        senders = [sender for sender, chance in chances.items() if chance]
        if len(senders) == 1 and len(channel) > 1 and named(senders[0]):
            continue
        least_chance = min(chances[sender] + channel[sender].get(LOST, 0) for sender in channel)
        most = max(chances.values())
        if most > found * least_chance:
            found = most / least_chance if least_chance else Fraction(WORD**8)
    return found


def breaks(channel: Channel, epsilon: float, named: Callable[[Hashable], bool] = lambda _: False) -> bool:
    """Whether some report says more than e^epsilon."""
    bound = exp_above(epsilon)
    return worst(channel, bound, named) > bound


def people(keys: int, length: int) -> list[tuple[tuple[int, int], ...]]:
    """Sets of pairs that a person may have: some keys, each with the lowest, a middle or the highest value."""
    sizes = range(min(keys, length + 1) + 1) if length else (1,)
    values = (0, GRID // 3, GRID) if keys <= 2 and length <= 1 else (0, GRID)
    return [
        tuple(zip(chosen, told, strict=True))
        for size in sizes
        for chosen in combinations(range(keys), size)
        for told in product(values, repeat=size)
    ]


def pairs_channel(kernel: Any, seed: int) -> Channel:
    """Laws of reports by sets of pairs: which signed key is drawn, then what is sent of it."""
    sent = {x: law(lambda words, x=x: kernel.base.randomise(x, words), Paths(seed)) for x in range(kernel.base.k)}
    found: dict[Hashable, Law] = {}
    for person in people(kernel.keys, kernel.length):
        mixed: Law = {}
        for x, chance in law(lambda words, person=person: kernel._choose(person, words), Paths(seed)).items():
            for report, share in sent[x].items():  # type: ignore[index]
                mixed[report] = mixed.get(report, Fraction(0)) + chance * share
        found[person] = mixed
    return found


def plain_channel(kernel: Any, seed: int, *level: int) -> Channel:
    """Laws of reports by value."""
    return {x: law(lambda words, x=x: kernel.randomise(x, words, *level), Paths(seed)) for x in range(kernel.k)}


# ---- all promises of a design


def broken(design: Mapping[str, Any], kernel: Any, harmless: Iterable[int], seeds: Sequence[int]) -> str:
    """Which promise the design breaks, given its sampler and the numbers of answers that may be named; empty: none."""
    if kernel.k > CONCRETE:
        raise TooLargeError
    named = set(harmless)
    check = _CHECKS.get(kernel.kind, _plain)
    if not _SEEDED & set(_kinds(design["kernel"])):
        seeds = seeds[:1]
    with finite_noise():
        return next((found for seed in seeds if (found := check(design, kernel, named, seed))), "")


_SEEDED = {"hashing", "balanced", "interaction", "wheel", "interval", "signed-interval", "signed-hashing"}


def _kinds(document: Any) -> Iterator[str]:
    """The kinds of all kernels in a document."""
    if isinstance(document, Mapping):
        yield str(document.get("kind"))
    for part in document.values() if isinstance(document, Mapping) else document:
        if isinstance(part, Mapping | list | tuple):
            yield from _kinds(part)


def _plain(design: Mapping[str, Any], kernel: Any, named: set[int], seed: int) -> str:
    return "epsilon" if breaks(plain_channel(kernel, seed), design["epsilon"], named.__contains__) else ""


def _of_pairs(design: Mapping[str, Any], kernel: Any, named: set[int], seed: int) -> str:
    return "epsilon of pairs" if breaks(pairs_channel(kernel, seed), design["epsilon"]) else ""


def _of_budgets(design: Mapping[str, Any], kernel: Any, named: set[int], seed: int) -> str:
    """Two protected answers keep the smaller one of their budgets, and each its own against all others."""
    told, ends = plain_channel(kernel, seed), design["params"]["sensitive"]
    protected = [x for start, end in zip(ends[::2], ends[1::2], strict=True) for x in range(start, end)]
    budgets = dict(zip(protected, design["params"]["item_epsilon"], strict=True))
    free = [x for x in told if x not in budgets]
    if any(set(told[x]) & set(told[y]) != set(told[x]) for x in protected for y in told):
        return "a report that names a protected answer"
    hidden = {x: {report: chance for report, chance in told[x].items() if report in told[protected[0]]} for x in told}
    for x, y in [*combinations(protected, 2), *product(protected, free)]:
        if breaks({x: hidden[x], y: hidden[y]}, min(budgets[x], budgets.get(y, 100.0))):
            return f"the budgets of {x} and {y}"
    return _plain(design, kernel, named, seed)


def _of_limits(design: Mapping[str, Any], kernel: Any, named: set[int], seed: int) -> str:
    """Every two answers keep their budget, and nobody who need not agree to it is told apart by more than epsilon."""
    told = plain_channel(kernel, seed)
    for x, row in enumerate(design["kernel"]["budgets"]):
        for z, budget in enumerate(row):
            own = design["epsilon"] if budget == "inf" else min(budget, design["epsilon"])
            limit = None if budget == "inf" and x in named else exp_above(own)
            if limit is not None and any(told[x][report] > limit * told[z].get(report, 0) for report in told[x]):
                return f"the limit of {x} against {z}"
    return ""


def _of_levels(design: Mapping[str, Any], kernel: Any, named: set[int], seed: int) -> str:
    """Every level keeps its own epsilon, the report of the level its own, and what is said about both together."""
    params = design["params"]
    at = [plain_channel(kernel, seed, level) for level in range(len(params["levels"]))]
    for level, channel in zip(params["levels"], at, strict=True):
        if breaks(channel, level, named.__contains__):
            return f"level {level!r}"
    if params["level_report"] != "none":
        ends = [{i: _last_bytes(channel[x]) for i, channel in enumerate(at)} for x in (0, kernel.k - 1)]
        if any(breaks(told, params["level_epsilon"]) for told in ends):
            return "level_epsilon"
    if len(at) > 1:
        for x in range(kernel.k):
            if breaks({i: channel[x] for i, channel in enumerate(at)}, kernel.level_guarantee):
                return "what is said of the level"
        everybody = {(x, i): channel[x] for i, channel in enumerate(at) for x in channel}
        senders: dict[Hashable, set[int]] = {}
        for (x, _), told in everybody.items():
            for report in told:
                senders.setdefault(report, set()).add(x)
        hidden = {
            who: {r: c for r, c in told.items() if len(senders[r]) > 1 or not senders[r] <= named}
            for who, told in everybody.items()
        }
        if breaks(hidden, kernel.pair_guarantee):
            return "what is said of answer and level"
    return ""


def _last_bytes(told: Law) -> Law:
    found: Law = {}
    for report, chance in told.items():
        assert isinstance(report, bytes)
        found[report[-1]] = found.get(report[-1], Fraction(0)) + chance
    return found


_CHECKS: Mapping[str, Callable[[Mapping[str, Any], Any, set[int], int], str]] = {
    "pairs": _of_pairs,
    "utility-levels": _of_budgets,
    "channel": _of_limits,
    "personal": _of_levels,
}
