"""What the PLDP paper claims, computed again."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product

import numpy as np

from deniable.core.domain import Domain
from deniable.core.types import FloatArray
from deniable.datasets.tables import load
from deniable.mechanisms.personal.estimate import blend
from deniable.mechanisms.personal.plain import Personal
from deniable.mechanisms.personal.published import pbp
from deniable.papers.evidence import Evidence, Sampled
from deniable.papers.paper import Context, Measures
from deniable.papers.pldp.experiments import BUDGETS, DATA, by_budget, by_budget_often
from deniable.papers.pldp.printed import theorem_53
from deniable.papers.pldp.study import LEVELS

__all__ = ["measures"]

measures = Measures()


def _design(k: int, base: str = "sue", level_epsilon: float = 0.3) -> Personal:
    """The paper's levels with a base mechanism."""
    return Personal(epsilon=1.0, domain=Domain.of(k), levels=LEVELS, base=base, level_epsilon=level_epsilon)


# ---- privacy


@measures("level-private")
def level_private(_: Context) -> Evidence:
    """Exact log-ratios of the level part alone and of the whole report, from the integers that are sampled."""
    found: dict[str, float] = {"level epsilon": 0.3}
    excess = -math.inf
    for base, k in (("sue", 16), ("sue", 42), ("oue", 42), ("grr", 16), ("lh", 16)):
        m = _design(k, base)
        channel = m.law_effective.channel
        found[f"whole report, {base}, {k} values"] = float(m.guarantee["level"])
        excess = max(excess, float(np.log(channel.max() / channel.min())) - 0.3)
    return found | {"level part alone: largest excess over its budget": excess}


@measures("level-guess")
def level_guess(_: Context) -> Evidence:
    """Bayes success of guessing the level from a whole report and the value, ten levels that are equally common."""
    t, odds = len(LEVELS), math.exp(0.3)
    found: dict[str, float] = {"blind guess": 1 / t, "most that the level's budget allows": odds / (odds + t - 1)}
    for base, k in (("sue", 16), ("sue", 42), ("oue", 42), ("grr", 16), ("lh", 16)):
        guess, at = _design(k, base).guess_level(), f"{base}, {k} values"
        found |= {f"best guess, {at}": guess.success, f"most that the whole report allows, {at}": guess.bound}
    return found


@measures("ppda-bits")
def added_bits(_: Context) -> Evidence:
    """Bits of a report, and the largest log-ratio of two levels given the value, by the chances of its bits."""
    k, law = 16, _design(16).law_effective
    p, q = law.of("p"), law.of("q")

    own, zero = (np.maximum(np.log(x / x[:, None]), np.log((1 - x) / (1 - x)[:, None])) for x in (p, q))

    def whole(others: int) -> float:
        """Of two levels, the own bit and so many that no value sets: each says the most that it can say."""
        return float((own + others * zero).max())

    return {
        "bits without": k,
        "bits with them": 2 * k,
        "whole report without": whole(k - 1),
        "whole report with them, exact level": whole(2 * k - 1),
    }


# ---- bias and variance


def _simulated(context: Context, level_epsilon: float, runs: int) -> FloatArray:
    """Estimates of the most frequent value of Education over the runs: by AUEM, and with the true shares of levels."""
    people = load("adult-education")
    m = _design(people.k, level_epsilon=level_epsilon)
    items = np.repeat(np.arange(people.k), people.counts)
    top = int(np.argmax(people.counts))
    values = []
    for stream in context.stream(f"auem {level_epsilon}").spawn(runs):
        counts = m.level_counts(m.tally(m.privatize_items(items, stream)))
        p, q = blend(counts)  # as published: without the guard
        known = pbp(m.law_effective, counts.share, np.array(m.shares))
        values.append([float((counts.share[top] - q) / (p - q)), float(known[top])])
    return np.array(values).T


def _of_education(context: Context, level_epsilon: float) -> FloatArray:
    return context.once(_simulated, level_epsilon, 400 if context.quick else 1000 if level_epsilon > 0.1 else 4000)


def _top() -> tuple[float, int]:
    people = load("adult-education")
    return float(people.frequencies.max()), people.n


@measures("thm51")
def known_shares(context: Context) -> Evidence:
    """The mean error of the estimate that knows the shares."""
    _, values = _of_education(context, 0.5)
    spread = float(values.std(ddof=1))
    error = Sampled.over_runs((values - _top()[0]) / spread)
    return {"mean error in standard deviations": error, "standard deviation": spread, "runs": int(values.size)}


@measures("pbp-levels")
def ten_levels_known(context: Context) -> Evidence:
    """How far the estimate with public shares of ten levels is off on average, either way."""
    _, values = _of_education(context, 0.5)
    error = Sampled.over_runs((values - _top()[0]) / float(values.std(ddof=1)))
    off = Sampled(abs(error.value), error.error)
    return {"levels": len(LEVELS), "mean error with ten levels, in standard deviations": off, "runs": int(values.size)}


@measures("thm52")
def unbiased(context: Context) -> Evidence:
    """Mean errors in standard deviations, and how far they are from the second-order bias.

    They are taken from the estimate with known shares, which reads the same reports and is unbiased (`thm51`).
    """
    f, n = _top()
    found: dict[str, float | Sampled] = {}
    for budget in (0.5, 0.1):
        values, known = _of_education(context, budget)
        bias, spread = Sampled.over_runs(values - known), float(values.std(ddof=1))
        formula = _design(16, level_epsilon=budget).moments(f, n).bias
        found |= {f"bias, epsilon_p {budget:g}": bias.value, f"bias by formula, epsilon_p {budget:g}": formula}
        found[f"bias in standard deviations, epsilon_p {budget:g}"] = bias / spread
        if budget == 0.5:
            found["bias minus that by formula at epsilon_p 0.5, in standard errors"] = bias.away(formula)
    return found | {"runs": int(min(_of_education(context, budget)[0].size for budget in (0.5, 0.1)))}


@measures("thm53")
def variance(context: Context) -> Evidence:
    """The printed sum, the first-order variance, and what is seen (by the interquartile range)."""
    f, n = _top()
    m = _design(16, level_epsilon=0.5)
    parts = theorem_53(m.law, f, n)
    values, _ = _of_education(context, 0.5)
    low, high = np.quantile(values, [0.25, 0.75])
    seen = float(((high - low) / 1.349) ** 2)
    found: dict[str, float | Sampled] = {}
    told = {
        "printed": float(sum(parts)),
        "printed, V1 and V2 over n^2": float((parts[0] + parts[1]) / n**2 + parts[2] + parts[3]),
        "first order": m.moments(f, n).random_levels,
        "simulated (robust)": seen,
    }
    # the relative standard error of a squared interquartile range of normal estimates
    spread = 2 * 1.167 / math.sqrt(values.size)
    for name, over in (("printed", ""), ("first order", ""), ("printed, V1 and V2 over n^2", ",")):
        ratio = told[name] / seen
        found[f"{name}{over} over simulated"] = Sampled(ratio, ratio * spread)
    return told | found


# ---- the budget of the level


@measures("fig2")
def falls(context: Context) -> Evidence:
    """How fast the simulated error falls from 0.1 to 0.4 and from 0.4 to 1, per unit of the budget."""
    found: dict[str, float | Sampled] = {}
    for data, error in product(DATA, ("mse", "mae")):
        errors = {budget: getattr(by_budget(context, data, budget), error)["auem"] for budget in (0.1, 0.4, 1.0)}
        first, middle, last = (Sampled.over_runs(np.log(values)) for values in errors.values())
        steep, flat = (first - middle) / 0.3, (middle - last) / 0.6
        # both slopes have the error in the middle
        bent = math.hypot(first.error / 0.3, middle.error * (1 / 0.3 + 1 / 0.6), last.error / 0.6)
        at = f"{data}, {error.upper()}: slope"
        found |= {f"{at} below 0.4": steep, f"{at} above 0.4": flat}
        found[f"{at} below 0.4 minus slope above"] = Sampled(steep.value - flat.value, bent)
    return found | {"runs": by_budget(context, "Job", 0.1).runs}


@measures("source")
def source(context: Context) -> Evidence:
    """At the budgets below 0.4."""
    return _with_over_without(context, [budget for budget in BUDGETS if budget < 0.4])


_SHARE = "share of the variance"


@measures("source-minor")
def minor(context: Context) -> Evidence:
    """At the budgets above 0.4: by formula, which errors of AUEM over those with true shares must bear out.

    Means of logarithms would not do: the noise of the levels is common to all values, so that few runs have most of it.
    """
    found, apart = dict[str, float](), 0.0
    for data, budget in product(DATA, [budget for budget in BUDGETS if budget > 0.4]):
        people = load(DATA[data])
        m, f = _design(people.k, level_epsilon=budget), people.frequencies
        moments = [m.moments(float(x), people.n) for x in f]
        own, level = sum(one.data for one in moments), sum(one.level for one in moments)
        found[f"{_SHARE}, {data}, epsilon_p {budget:g}"] = level / (own + level)
        p, q, gap = m.law.p, m.law.q, m.law.gap
        known = float(np.sum(f * p * (1 - p) + (1 - f) * q * (1 - q))) / (people.n * gap**2)
        ratio = sum(one.random_levels + one.bias**2 for one in moments) / known
        errors = by_budget(context, data, budget)
        a, b = errors.mse["auem"], errors.mse["pbp"]
        noise = float((a / a.mean() - b / b.mean()).std(ddof=1)) / math.sqrt(a.size)
        apart = max(apart, abs(math.log(float(a.mean() / b.mean()) / ratio)) / noise)
    shares = dict(found)
    for told, late in (("from epsilon_p 0.6 on", True), ("at epsilon_p 0.5", False)):
        most = max(share for name, share in shares.items() if (float(name.split()[-1]) >= 0.6) is late)
        found[f"{_SHARE} {told}, most"] = most
    return found | {"simulated from formula, most standard errors": apart}


def _with_over_without(context: Context, budgets: Sequence[float]) -> Evidence:
    """By how much the error is larger because shares of levels are estimated from protected levels."""
    found: dict[str, float | Sampled] = {}
    for data, budget in product(DATA, budgets):
        ratio = by_budget_often(context, data, budget).log_ratio("auem", "pbp")
        found[f"with over without it, {data}, epsilon_p {budget:g}"] = ratio
    return found | {"runs": min(by_budget_often(context, "Job", budget).runs for budget in budgets)}
