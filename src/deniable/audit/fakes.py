"""Random sampling with fake data (RS+FD, RS+RFD) [Arcolezi21, Arcolezi23]: what it promises, and what it keeps.

One of d answers is drawn and sent with the larger ratio e' = d(e - 1) + 1, by randomised response or as bits (OUE); the
others are fakes, drawn from distributions that do not depend on any answer. The hidden draw is said to give e^epsilon
back. It does not: whoever compares two people all of whose answers differ sees e' (docs/maths/tables.md, section 5).
Shown by an audit and not offered as a mechanism; `survey` asks one question openly and has less error at the same exact
epsilon.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Any, NamedTuple

from deniable.core.channel import Channel, Proof, Witness
from deniable.core.frontier import least_mse
from deniable.core.promise import Promise
from deniable.core.promise.judge import within
from deniable.core.protection import ANSWERS, Protection
from deniable.errors import ParameterError, is_whole, require
from deniable.mechanisms.bulk import check_outputs
from deniable_client.exact import check_epsilon, exp_bounds, fraction_of, log_upper

__all__ = ["RECIPES", "FakeData", "rsfd", "rsrfd"]

_BITS = 62
"""e^epsilon is taken as a fraction of so many bits below it: what leaks here would leak more with e^epsilon."""
_QUESTIONS = 64
Fakes = tuple[tuple[Fraction, ...], ...]
RESPONSE, ZEROS, ONES = "response", "zeros", "ones"


class _Sent(NamedTuple):
    """What may be sent for one question: names, chances by the own answer over `unit`, and those of fakes."""

    names: list[str]
    chances: list[list[int]]
    unit: int
    fake: list[int]
    fake_unit: int


@dataclass(frozen=True)
class FakeData:
    """One drawn answer by randomised response or as bits, and fakes for all others; `deniable.audit` takes it.

    `epsilon` is what is promised for all answers of a person; the exact ones are `record` and `one_answer`.
    """

    name: str
    epsilon: float
    fakes: Fakes
    """The chances of every fake answer to each question."""
    form: str = RESPONSE
    """How an answer is sent: by itself, or as bits, the fakes then being bits of no answer or of a random one."""

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many answers each question has."""
        return tuple(len(own) for own in self.fakes)

    @property
    def instead(self) -> str:
        """What to do instead."""
        return "ask one drawn question openly (`deniable survey`): the same epsilon, exactly, and less error"

    @cached_property
    def ratio(self) -> Fraction:
        """e' = d(e - 1) + 1 of the answer that is drawn."""
        low = exp_bounds(check_epsilon(self.epsilon, sampling=True))[0]
        return len(self.fakes) * (Fraction(int(low * (1 << _BITS)), 1 << _BITS) - 1) + 1

    @cached_property
    def _terms(self) -> list[tuple[Fraction, Fraction]]:
        """Of each question, the chance of what is sent for another answer over its chance as a fake: most and least."""
        e = self.ratio
        if self.form == ZEROS:
            return [((e + 1) / (2 * e),) * 2 for _ in self.sizes]
        if self.form == ONES:
            return [(k / (e + k - 1), k / ((k - 1) * e + 1)) for k in self.sizes]
        low = [1 / (e + k - 1) for k in self.sizes]
        return [(own / min(fake), own / max(fake)) for own, fake in zip(low, self.fakes, strict=True)]

    @property
    def promise(self) -> Promise:
        """Between any two sets of answers."""
        return Promise.plain(self.epsilon, math.prod(self.sizes))

    @property
    def protection(self) -> Protection:
        """The same in words."""
        return Protection(promise=self.promise, epsilon=self.epsilon, subject=ANSWERS)

    @cached_property
    def proof(self) -> Proof:
        """Two people share no answer, and the report shows those of one of them: every term is e' times as large."""
        text = (
            "a report has the chance prod F_l(y_l) (1/d) sum_j R_j(y_j|x_j)/F_j(y_j); each term is low_j/F_j(y_j) or "
            "e' times that, so no ratio exceeds e' = d(e - 1) + 1, and the report that shows all answers of one person "
            "has it against somebody who shares none of them"
        )
        other = sum(math.prod(self.sizes[j + 1 :]) for j in range(len(self.sizes)))
        alone = ["0" if self.form == RESPONSE else "{0}" for _ in self.sizes]
        return Proof(self.ratio, "terms of the sum", text, Witness(f"report ({', '.join(alone)})", 0, other))

    @property
    def record(self) -> float:
        """The exact epsilon of all answers together, rounded up."""
        return log_upper(self.ratio)

    @cached_property
    def one_answer(self) -> float:
        """The exact epsilon between people who differ in one answer alone, rounded up."""
        return log_upper(self.one_answer_ratio)

    @cached_property
    def one_answer_ratio(self) -> Fraction:
        """The largest ratio of two people who differ in one answer: max_j (e' A_j + B_j)/(A_j + B_j).

        The own term is largest for a rare fake, the others are least for frequent ones.
        """
        all_least = sum((least for _, least in self._terms), Fraction(0))
        rest = [all_least - least for _, least in self._terms]
        return max((self.ratio * most + b) / (most + b) for (most, _), b in zip(self._terms, rest, strict=True))

    def channel(self) -> Channel:
        """See `Mechanism.channel`: all sets of answers as inputs, and all that may be sent; small cases only."""
        cells = math.prod(self.sizes)
        bits = math.log2(cells) if self.form == RESPONSE else float(sum(self.sizes))
        check_outputs(bits, f"{self.name} of these sizes", cells)
        parts = [self._sent(j) for j in range(len(self.sizes))]
        whole = math.prod(part.unit * part.fake_unit for part in parts)
        records = list(product(*(range(k) for k in self.sizes)))
        names, weights = [], []
        for sent in product(*(range(len(part.fake)) for part in parts)):
            fakes = [part.fake[y] * part.unit for part, y in zip(parts, sent, strict=True)]
            both = math.prod(fakes)
            terms = [  # by the own answer: this question is the drawn one, and all others are fakes
                [own * part.fake_unit * both // fake for own in part.chances[y]]
                for part, y, fake in zip(parts, sent, fakes, strict=True)
            ]
            weights.append(tuple(sum(own[x] for own, x in zip(terms, record, strict=True)) for record in records))
            names.append(f"report ({', '.join(part.names[y] for part, y in zip(parts, sent, strict=True))})")
        return Channel(tuple(names), tuple(weights), len(parts) * whole)

    def _sent(self, j: int) -> _Sent:
        """What is sent for a question, in whole numbers."""
        (top, bottom), k = self.ratio.as_integer_ratio(), self.sizes[j]
        if self.form == RESPONSE:
            chances = [[top if x == y else bottom for x in range(k)] for y in range(k)]
            unit = math.lcm(*(chance.denominator for chance in self.fakes[j]))
            fake = [int(chance * unit) for chance in self.fakes[j]]
            return _Sent([str(y) for y in range(k)], chances, top + (k - 1) * bottom, fake, unit)
        sets = [[x for x in range(k) if y >> x & 1] for y in range(1 << k)]
        ones = [[len(own) - (x in own) for x in range(k)] for own in sets]
        chances = [[bottom**c * top ** (k - 1 - c) for c in row] for row in ones]
        unit = 2 * (top + bottom) ** (k - 1)
        names = ["{" + ", ".join(map(str, own)) + "}" for own in sets]
        if self.form == ONES:
            return _Sent(names, chances, unit, [sum(row) for row in chances], k * unit)
        return _Sent(names, chances, unit, [bottom ** len(o) * top ** (k - len(o)) for o in sets], (top + bottom) ** k)

    def compared(self) -> dict[str, float]:
        """Variance of an item from one report, averaged over items and questions, all answers being equally common.

        Of the recipe; of subset selection on one openly drawn question at the recipe's exact epsilon, with equal
        shares; and of subset selection on all questions, each with the promised epsilon, which keeps what the recipe
        is left with: a promise about one answer.
        """
        d, e = len(self.fakes), float(self.ratio)
        own = []
        for chances in self.fakes:
            k = len(chances)
            gap = ((e - 1) / (e + k - 1) if self.form == RESPONSE else 0.5 - 1 / (e + 1)) / d
            other = {ZEROS: 1 / (e + 1), ONES: 1 / (e + 1) + d * gap / k}.get(self.form)
            mean = 1 / k if self.form == RESPONSE else 1 / (e + 1) + d * gap / k
            seen = [(mean + (d - 1) * (float(fake) if other is None else other)) / d for fake in chances]
            own.append(sum(mu * (1 - mu) for mu in seen) / (k * gap * gap))
        drawn = [d * (least_mse(k, math.log(e)) + (k - 1) / k**2) for k in self.sizes]
        every = [least_mse(k, self.epsilon) + (k - 1) / k**2 for k in self.sizes]
        found = {"recipe": own, "one_question": drawn, "all_questions": every}
        return {name: sum(values) / d for name, values in found.items()}

    def document(self) -> dict[str, Any]:
        """What an audit tells beside the exact epsilon of all answers."""
        own = {"sizes": list(self.sizes), "one_answer": self.one_answer, "one_answer_holds": self._one_answer_holds}
        return own | {"variance": self.compared(), "instead": self.instead}

    @property
    def _one_answer_holds(self) -> bool:
        return within(self.one_answer_ratio, self.epsilon)


def _sizes(sizes: object) -> tuple[int, ...]:
    given: Any = sizes.split(",") if isinstance(sizes, str) else sizes
    listed = [int(part) if isinstance(part, str) and part.strip().isdecimal() else part for part in given]
    need = f"whole numbers, those of 2 to {_QUESTIONS} questions, with 2 answers or more each"
    fits = 2 <= len(listed) <= _QUESTIONS and all(is_whole(size, 2, 10_000) for size in listed)
    require(fits, "sizes", sizes, need, "For example --sizes 4,4,4.")
    return tuple(map(int, listed))


def rsfd(epsilon: float = 1.0, sizes: object = (2, 2), fakes: object = None) -> FakeData:
    """RS+FD: all fake answers to a question are equally likely [Arcolezi21].

    >>> import math
    >>> leak = rsfd(math.log(2))
    >>> round(math.exp(leak.record), 9), round(math.exp(leak.one_answer), 9)
    (3.0, 2.0)
    """
    require(fakes is None, "fakes", fakes, "left out for rsfd", "All fakes are equally likely; rsrfd takes others.")
    return FakeData("rsfd", epsilon, tuple((Fraction(1, k),) * k for k in _sizes(sizes)))


def rsrfd(epsilon: float = 1.0, sizes: object = None, fakes: object = "0.9,0.1;0.9,0.1") -> FakeData:
    """RS+RFD: fakes from distributions that are known beforehand, such as an earlier survey [Arcolezi23].

    `fakes` has the chances of each answer, with commas between them and semicolons between questions, or lists.
    """
    hint = "For example --fakes '0.9,0.1;0.5,0.3,0.2'."
    rows: Any = [row.split(",") for row in fakes.split(";")] if isinstance(fakes, str) else fakes
    try:
        made = tuple(tuple(fraction_of(str(chance)) for chance in row) for row in rows)
    except (TypeError, ValueError, ZeroDivisionError):
        raise ParameterError(f"fakes must be chances of answers to each question, got {fakes!r}.", hint) from None
    found = _sizes([len(row) for row in made])
    require(sizes is None or _sizes(sizes) == found, "sizes", sizes, f"those of the fakes, {found}, or left out")
    sums = all(sum(row) == 1 and min(row) > 0 for row in made)
    require(sums, "fakes", fakes, "chances > 0 that sum to 1 for each question", hint)
    return FakeData("rsrfd", epsilon, made)


def _bits(name: str, form: str) -> Callable[..., FakeData]:
    """RS+FD with answers as bits, each of which is sent as OUE sends it."""

    def recipe(epsilon: float = 1.0, sizes: object = (2, 2), fakes: object = None) -> FakeData:
        require(fakes is None, "fakes", fakes, f"left out for {name}", "Its fakes are bits; rsrfd takes others.")
        return FakeData(name, epsilon, rsfd(epsilon, sizes).fakes, form)

    return recipe


RECIPES: Mapping[str, Callable[..., FakeData]] = {
    "rsfd": rsfd,
    "rsfd-oue-z": _bits("rsfd-oue-z", ZEROS),
    "rsfd-oue-r": _bits("rsfd-oue-r", ONES),
    "rsrfd": rsrfd,
}
"""What `deniable audit` knows beside the registry: shown, and not offered."""
