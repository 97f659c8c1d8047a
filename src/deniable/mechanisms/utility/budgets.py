"""Sensitive items with budgets of their own, harmless ones mostly disclosed (docs/maths/utility.md, section 9)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import groupby, product
from typing import Any, ClassVar, Self

import numpy as np

from deniable.collect.tally import Tally
from deniable.core.channel import Channel, Proof, Witness
from deniable.core.domain import Domain
from deniable.core.guess import Guess, check_prior
from deniable.core.promise import Promise
from deniable.core.promise.ranges import others, ranges_of
from deniable.core.protection import Protection
from deniable.core.support import Support, check_n
from deniable.core.types import Columns, FloatArray, IntArray, Target
from deniable.errors import FormatError, InWords, ParameterError, is_number, require
from deniable.estimate.linear import check_reports
from deniable.estimate.result import Part
from deniable.kernels import loops
from deniable.kernels.bits import clear_padding
from deniable.kernels.sampling import bernoulli_bits
from deniable.mechanisms.base import report_size
from deniable.mechanisms.bulk import Cells, check_outputs
from deniable.mechanisms.common import kept
from deniable.mechanisms.optimal.bounds import least_error
from deniable.mechanisms.reader import Reader
from deniable.mechanisms.utility.bulk import DisclosingBulk, disclosing_channel, ranked, spread
from deniable.mechanisms.utility.estimate import BudgetsPart
from deniable.mechanisms.utility.laws import UtilityLaw, golden
from deniable.mechanisms.utility.minimax import MINIMAX, at_worst, least_favourable
from deniable.mechanisms.utility.sensitive import SensitiveMechanism, sensitive_in_words, split_sensitive
from deniable.randomness import Stream, bernoulli
from deniable_client.exact import EPSILON_MAX, WORD, check_epsilon, log_upper
from deniable_client.kernels import UtilityBudgets as BudgetsKernel
from deniable_client.packing import bits_width

__all__ = ["UtilityBudgets", "best_flip", "check_item_epsilon", "make_budgets"]

_GRID, _STEPS = 64, 60
"""Places of the search for `flip`: first a grid, then golden sections around its best place."""


class _BudgetsReader(Reader["BudgetsBulk"]):
    def likelihood(self, columns: Columns) -> FloatArray:
        """See `Reader.likelihood`: relative to a report made of other items' bits only."""
        (own, rest), law, s = self.bulk.items, self.bulk.law, self.bulk.kernel.s
        told = columns["disclosed"].astype(np.int64)
        ones = np.unpackbits(columns["bits"], axis=1, count=s, bitorder="little") == 1
        found = np.empty((told.size, self.bulk.k))
        found[:, own] = np.where(ones, law.base.p / law.base.q, law.base.p_not / law.base.q_not)
        found[:, rest] = 1 - law.z
        found[told > 0] = 0.0
        found[np.flatnonzero(told), rest[told[told > 0] - 1]] = 1.0
        return found


class BudgetsBulk(DisclosingBulk[BudgetsKernel]):
    """Independent bits with noise of their own for many people, or a harmless item alone."""

    reads = _BudgetsReader

    @property
    def ranges(self) -> tuple[int, ...]:
        return self.kernel.sensitive

    @property
    def outputs(self) -> float:
        s = self.kernel.s
        return s + math.log2(1 + (self.k - s) * 2.0**-s)

    @cached_property
    def law(self) -> UtilityLaw[Any]:
        """The law of the integers that are sampled, as floats, one entry per sensitive item."""
        return _law(np.array([flip / WORD for flip in self.kernel.flips]), self.kernel.plain / WORD)

    def perturb(self, items: IntArray, rng: Stream) -> Columns:
        marked, rank = ranked(*self.items)
        sensitive, n, width = marked[items], items.size, bits_width(self.kernel.s)
        rows = np.zeros((n, width), np.uint8)
        for flip in sorted(set(self.kernel.flips)):
            mask = np.packbits(np.array(self.kernel.flips, dtype=object) == flip, bitorder="little")
            rows |= bernoulli_bits(rng, flip, n * width).reshape(n, width) & mask
        clear_padding(rows, self.kernel.s)
        mine = rows[sensitive]
        loops().put_bits(mine, rank[items[sensitive]], bernoulli(rng, self.kernel.keep, len(mine)))
        rows[sensitive] = mine
        plain = ~sensitive & bernoulli(rng, self.kernel.plain, n)
        rows[plain] = 0
        told = np.where(plain, 1 + rank[items], 0)
        return {"disclosed": told.astype(self.fields[0].dtype), "bits": rows}

    def count(self, columns: Columns) -> Cells:
        s, heads = self.kernel.s, self.count_heads(self.heads(columns))
        support = loops().count_bits(columns["bits"], 8 * bits_width(s))
        if support[s:].any():
            raise FormatError(f"a report has ones after its {s} bits.")
        return {"n": heads["n"], "support": np.stack([support[:s], np.zeros(s, np.int64)])} | heads

    def channel(self) -> Channel:
        own, rest = (part.tolist() for part in self.items)
        kernel, s = self.kernel, self.kernel.s
        check_outputs(math.log2((1 << s) + len(rest)), "these bits", self.k)
        mine, other = (WORD - kernel.keep, kernel.keep), [(WORD - flip, flip) for flip in kernel.flips]
        protected = []
        for y in product((0, 1), repeat=s):
            bits = [other[i][b] for i, b in enumerate(y)]
            every = math.prod(bits)
            weights = [every // bits[i] * mine[b] * WORD for i, b in enumerate(y)]
            row = spread(weights, every * (WORD - kernel.plain), own, self.k)
            held = frozenset(own[i] for i, b in enumerate(y) if b)
            protected.append(("report " + "".join(map(str, y)), row, held))
        plain = Fraction(kernel.plain, WORD)
        told = [(f"discloses {x}", x, plain, frozenset({x})) for x in rest]
        return disclosing_channel(protected, told, rest, WORD ** (s + 1))


def _promise(m: UtilityBudgets) -> Promise:
    """See `Mechanism.promise`: the smaller budget of two items; nothing to harmless ones."""
    own, budgets = m.items[0], np.array(m.item_epsilon)
    kinds = np.unique(budgets).tolist()
    classes = [*(ranges_of(own[budgets == b]) for b in kinds), others(m.sensitive, m.k)]
    return Promise.by_class(m.k, classes, (*kinds, math.inf), m.domain.labels, least=True, strict=m.epsilon)


def _in_words(m: UtilityBudgets) -> Protection:
    return replace(sensitive_in_words(m), itemised=True)


@dataclass(frozen=True, kw_only=True)
class UtilityBudgets(SensitiveMechanism):
    """Unary encoding in which every sensitive item has a budget of its own.

    Reports that disclose nothing are within e^min(a, b) for two sensitive items with budgets a and b, and within e^a
    for one of them against a harmless item. `epsilon` is the promise to all: at least the largest budget. The own bit
    is 1 with probability 1/2, the bit of another item with budget a with probability q_a. `flip` is q of the smallest
    budget; the others are the least ones allowed. `theta`: see `Utility`.
    """

    item_epsilon: tuple[float, ...]
    flip: float
    family: ClassVar[str] = "uue-levels"
    vetted: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "item_epsilon", check_item_epsilon(self.item_epsilon, self.s))
        most = max(self.item_epsilon)
        require(self.epsilon >= most, "epsilon", self.epsilon, f"at least the largest of item_epsilon, {most!r}")
        ok = is_number(self.flip) and 0 < self.flip < 0.5
        require(ok, "flip", self.flip, "between 0 and 0.5")
        object.__setattr__(self, "flip", float(self.flip))

    def at(self, epsilon: float) -> Self:
        """See `Mechanism.at`: all budgets grow or shrink alike."""
        budgets = tuple(own * epsilon / self.epsilon for own in self.item_epsilon)
        return replace(self, epsilon=epsilon, item_epsilon=budgets)

    @property
    def params(self) -> dict[str, Any]:
        lists = {"item_epsilon": list(self.item_epsilon), "sensitive": list(self.sensitive)}
        return lists | {"flip": self.flip, "theta": self.theta}

    @cached_property
    def bulk(self) -> BudgetsBulk:
        check_epsilon(self.epsilon, sampling=True)
        flip = round(Fraction(self.flip) * WORD)
        return BudgetsBulk(BudgetsKernel.calibrate(self.item_epsilon, self.k, self.sensitive, flip))

    promise = cached_property(_promise)
    protection = cached_property(_in_words)

    @property
    def disclosed_chance(self) -> Fraction:
        return Fraction(self.bulk.kernel.plain if self.s < self.k else 0, WORD)

    # ---- laws and estimator

    @cached_property
    def law(self) -> UtilityLaw[Any]:
        """The ideal law of a report, one entry per sensitive item."""
        q, z = _ideal(np.array(self.item_epsilon), self.flip)
        return _law(q, z)

    @property
    def law_effective(self) -> UtilityLaw[Any]:
        """The law of the integers that are sampled, as floats: what the estimator uses."""
        return self.bulk.law

    def parts(self, tally: Tally) -> dict[str, Part]:
        check_reports(tally)
        told = tally.cells["disclosed"][1] / tally.n if self.s < self.k else np.zeros(0)
        supported = tally.cells["support"][0] / tally.n
        return {"frequency": BudgetsPart(*self.items, self.law_effective, supported, told, tally.n)}

    def covariance(self, f: FloatArray, n: float = 1, target: Target = "reporters") -> FloatArray:
        """Covariance matrix of the estimates from n reports at frequencies `f`, for the integers that are sampled."""
        own, rest = self.items
        law, told = self.law_effective, f[rest] * self.law_effective.z
        supported = law.base.q + law.base.gap * f[own] - law.credit * float(told.sum())
        return BudgetsPart(own, rest, law, supported, told, n).covariance(target)

    def theta_of(self, tally: Tally) -> float:
        """Unbiased estimate of the share of people with a harmless item; it may lie outside [0, 1]."""
        check_reports(tally)
        return float(tally.cells["n"][1] / tally.n / self.law_effective.z)

    # ---- closed forms

    def mse_sum(self, n: float = 1, *, theta: float | None = None) -> float:
        """Variances summed over all items, sensitive ones being equally frequent; for `theta` unless given."""
        return _error(self.law, self.theta if theta is None else theta, self.s) / check_n(n)

    def properties(self, n: float = 1) -> dict[str, Any]:
        """See `Mechanism.properties`; errors for `theta` harmless answers, sensitive ones being equally frequent."""
        more = {} if self.refusal else {"guarantee": self.guarantee}
        return self._numbers(self.law, self.mse_sum(n)) | report_size(self) | self._distance(n) | more

    def _distance(self, n: float) -> dict[str, Any]:
        """`bound` and `gap` of all designs with this promise, harmless answers being equally frequent too."""
        (own, rest), f = self.items, np.zeros(self.k)
        f[own], f[rest] = (1 - self.theta) / max(1, own.size), self.theta / max(1, rest.size)
        found = least_error(self.promise, f) if self.epsilon <= EPSILON_MAX else None
        return {} if found is None else found.distance(self.mse_sum(n) / self.k, self.k, n)

    def effective(self, n: float = 1) -> dict[str, Any]:
        law = self.law_effective
        return {"epsilon": self.epsilon_exact} | self._numbers(law, _error(law, self.theta, self.s) / check_n(n))

    def _numbers(self, law: UtilityLaw[Any], total: float) -> dict[str, float]:
        asr = _success(law, np.full(self.k, 1 / self.k), *self.items)
        return {"z": float(law.z), "mse": total / self.k, "mse_sum": total, "asr": asr}

    def guess(self, prior: object = None) -> Guess:
        pi = np.full(self.k, 1 / self.k) if prior is None else check_prior(prior, self.k)
        return Guess(_success(self.law, pi, *self.items), float(pi.max()))

    # ---- channel and promise

    @cached_property
    def proof(self) -> Proof:
        """See `Mechanism.proof`: over all pairs, whatever their budgets; `item_ratios` has the budgets."""
        text = (
            "bits are independent, so for two sensitive values all factors cancel but those of their own two bits, and "
            "for a sensitive against a harmless one all but the own bit and the chance of disclosure; a report that "
            "discloses has one possible sender's value, a harmless one"
        )
        ratio, output, likely, unlikely = max(self._worst(), key=lambda found: found[0])
        return Proof(ratio, "factorisation", text, Witness(output, likely, unlikely), self._by_budget())

    def _by_budget(self) -> tuple[tuple[Fraction, Witness], ...]:
        """The largest ratio of the items of each budget against harmless ones and items with no smaller a budget."""
        own, rest = (part.tolist() for part in self.items)
        order = sorted(range(self.s), key=lambda i: -self.item_epsilon[i])
        found, partners = [], rest[:1]
        for b, group in groupby(order, key=lambda i: self.item_epsilon[i]):
            alike = list(group)
            i = max(alike, key=lambda i: self.item_ratios[i])
            partners = (partners + [own[j] for j in alike if j != i])[:1]
            if partners:
                output = f"a report that favours an item of budget {b:g}, or the opposite"
                found.append((self.item_ratios[i], Witness(output, own[i], partners[0])))
            partners = partners or [own[i]]
        return tuple(found)

    def _worst(self) -> list[tuple[Fraction, str, int, int]]:
        """The ratios that can be the largest: those of the items whose bits have the least noise."""
        own, rest = (part.tolist() for part in self.items)
        kernel = self.bulk.kernel
        p, flips = Fraction(kernel.keep, WORD), kernel.flips
        order = sorted(range(self.s), key=lambda i: flips[i])
        high = p * WORD / flips[order[0]]
        low = [(1 - p) / (1 - Fraction(flips[i], WORD)) for i in order[:2]]
        first, found = own[order[0]], []
        if self.s > 1:
            second = own[order[1]]
            found.append((high / low[1], f"a report with bit 1 for value {first}, 0 for {second}", first, second))
        if rest:
            kept = 1 - Fraction(kernel.plain, WORD)
            found.append((high / kept, f"a report with bit 1 for value {first}", first, rest[0]))
            found.append((kept / low[0], f"a report with bit 0 for value {first}", rest[0], first))
        return found

    @cached_property
    def item_ratios(self) -> tuple[Fraction, ...]:
        """For each sensitive item the exact largest ratio against harmless items and those with no smaller a budget."""
        return self.bulk.kernel.item_ratios(self.item_epsilon)

    @cached_property
    def guarantee(self) -> dict[str, Any]:
        """Exact epsilon of every sensitive item, in order and rounded up; and the largest one of each budget."""
        exact = [log_upper(ratio) for ratio in self.item_ratios]
        levels = sorted(set(self.item_epsilon))
        pairs = list(zip(self.item_epsilon, exact, strict=True))
        by_level = [[level, max(e for budget, e in pairs if budget == level)] for level in levels]
        return {"items": exact, "by_level": by_level, "kept": kept(self), "warning": ""}


# ---- options, parameters, closed forms


def check_item_epsilon(given: object, s: int | None = None) -> tuple[float, ...]:
    """Budgets of the sensitive items, from numbers or from text with commas; as many as there are items."""
    listed = given.split(",") if isinstance(given, str) else given
    try:
        floats = [float(epsilon) for epsilon in listed]  # type: ignore[attr-defined]
    except (TypeError, ValueError) as error:
        raise ParameterError(f"item_epsilon must be numbers, got {given!r}.", "For example 0.5,0.5,2.") from error
    numbers = tuple(check_epsilon(epsilon) for epsilon in floats)
    require(len(numbers) > 0, "item_epsilon", given, "at least one number", "If nothing is sensitive, use uss.")
    fits = s is None or len(numbers) == s
    hint = "Give one for each sensitive answer, in the order of the answers."
    require(fits, "item_epsilon", InWords(f"{len(numbers)} numbers"), f"{s} numbers", hint)
    return numbers


def make_budgets(
    *,
    epsilon: float,
    domain: Domain,
    item_epsilon: object,
    sensitive: object,
    theta: float | str | None = None,
    flip: float | None = None,
) -> UtilityBudgets:
    """With the `flip` of least error for `theta` unless it is given."""
    domain = Domain.of(domain)
    ranges, s, expected = split_sensitive(sensitive, domain, None if theta == MINIMAX else theta)
    if theta == MINIMAX and 0 < s < domain.k:
        given: dict[str, Any] = {"domain": domain, "item_epsilon": item_epsilon, "sensitive": sensitive, "flip": flip}
        return at_worst(least_favourable(lambda at: make_budgets(epsilon=epsilon, theta=at, **given)))
    budgets = check_item_epsilon(item_epsilon, s)
    own = best_flip(budgets, expected) if flip is None else flip
    return UtilityBudgets(
        epsilon=epsilon, domain=domain, item_epsilon=budgets, sensitive=ranges, flip=own, theta=expected
    )


def best_flip(budgets: Sequence[float], theta: float) -> float:
    """q of the smallest budget for which the summed error is least, found to about nine digits."""
    epsilons = np.array(budgets)
    w = math.exp(-min(budgets))
    low, high = w / (1 + w), 0.5

    def cost(place: float) -> float:
        return _error(_law(*_ideal(epsilons, low + place * (high - low))), theta, epsilons.size)

    best = min(range(_GRID), key=lambda i: cost(i / _GRID))
    found = golden(cost, max(0, best - 1) / _GRID, min(_GRID - 0.5, best + 1) / _GRID, _STEPS)
    place = min((best / _GRID, found), key=cost)
    return low + place * (high - low)


def _ideal(epsilons: FloatArray, flip: float) -> tuple[FloatArray, float]:
    """(q of each item, z): docs/maths/utility.md, section 9."""
    levels, where = np.unique(epsilons, return_inverse=True)
    w = np.exp(-levels)
    q = w / (1 + w)
    q[0] = max(q[0], flip)
    floor = 0.0
    for j in range(1, q.size):
        floor = max(floor, float((1 - q[j - 1]) * w[j - 1]))
        q[j] = max(q[j], floor)
    return q[where], float(1 - (w / (2 * q)).max())


def _law(q: FloatArray, z: float) -> UtilityLaw[Any]:
    half = np.full(q.size, 0.5)
    base: Support[Any] = Support(half, q, half - q, half, 1 - q, half * q, q * q)
    return UtilityLaw(base, z, (1 - z) * q, 0.0, (1 - z) * q * q, q)


def _error(law: UtilityLaw[Any], theta: float, s: int) -> float:
    """n times the summed variances, the sensitive items being equally frequent."""
    own = law.variance_sensitive(np.full(s, (1 - theta) / s), theta)
    return float(np.sum(own) + law.variance_harmless(theta))


def _success(law: UtilityLaw[Any], prior: FloatArray, own: IntArray, rest: IntArray) -> float:
    """Chance of the best guess: sum over reports of the largest prior times likelihood.

    Relative to a report of other items' bits only, item x has prior p/q if its bit is 1 (chance q) and less if not.
    The largest of the lower values is always reached, so only ones above it count, the largest first.
    """
    b, hidden = law.base, (1 - law.z) * float(prior[rest].max()) if rest.size else 0.0
    floor = max(hidden, float((prior[own] * b.p_not / b.q_not).max()))
    high = prior[own] * b.p / b.q
    order = np.argsort(-high, kind="stable")
    order = order[high[order] > floor]
    none = np.concatenate([[1.0], np.cumprod(b.q_not[order])])
    told = float(np.sum(high[order] * b.q[order] * none[:-1])) + floor * float(none[-1])
    return told + float(law.z * prior[rest].sum())
