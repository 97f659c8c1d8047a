"""What the PLDP paper claims, computed again."""

from __future__ import annotations

import math

import numpy as np

from deniable.core.domain import Domain
from deniable.core.types import FloatArray
from deniable.datasets.tables import load
from deniable.mechanisms.personal.plain import Personal
from deniable.papers.paper import Claims, Context
from deniable.papers.pldp.printed import theorem_53
from deniable.papers.pldp.study import LEVELS
from deniable.papers.rules import ALPHA, EXACT, Evidence, Rule, above, at_least, at_most, below, spread_of

__all__ = ["CLAIMS", "design"]

CLAIMS = Claims()
claim = CLAIMS.add


def design(k: int, base: str = "sue", level_epsilon: float = 0.3) -> Personal:
    """The paper's levels with a base mechanism."""
    return Personal(epsilon=1.0, domain=Domain.of(k), levels=LEVELS, base=base, level_epsilon=level_epsilon)


# ---- privacy


@claim(
    "level-private",
    "The level is protected by its own budget alone",
    "Sec. 5.1 (5)",
    "epsilon_p-LDP",
    Rule(
        (at_most("whole report, *", "level epsilon"),),
        (at_most("level part alone: largest excess over its budget", EXACT), above("whole report, *", "level epsilon")),
        "true of the part that tells the level; the data part depends on the level too, and with the value known the "
        "whole report leaks more. Local hashing with one range for all levels leaks least",
    ),
)
def level_private(_: Context) -> Evidence:
    """Exact log-ratios of the level part alone and of the whole report, from the integers that are sampled."""
    found: dict[str, float] = {"level epsilon": 0.3}
    excess = -math.inf
    for base, k in (("sue", 16), ("sue", 42), ("oue", 42), ("grr", 16), ("lh", 16)):
        m = design(k, base)
        channel = m.law_effective.channel
        found[f"whole report, {base}, {k} values"] = float(m.guarantee["level"])
        excess = max(excess, float(np.log(channel.max() / channel.min())) - 0.3)
    return found | {"level part alone: largest excess over its budget": excess}


@claim(
    "level-guess",
    "Nobody guesses a level more often than the level's own budget allows",
    "of our own, after Sec. 5.1 (5)",
    "epsilon_p-LDP, so at most e^epsilon_p/(e^epsilon_p + t - 1) for t levels that are equally common",
    Rule(
        (at_most("best guess, *", "most that the level's budget allows"),),
        (
            above("best guess, *", "most that the level's budget allows"),
            at_most("best guess, *", "most that the whole report allows, *"),
        ),
        "the data part tells the level, too: with the value known the best guess is right more often with every base; "
        "it stays within the bound of the whole report, which for unary encodings allows nearly everything and is far "
        "from what a guess achieves",
    ),
)
def level_guess(_: Context) -> Evidence:
    """Bayes success of guessing the level from a whole report and the value, ten levels that are equally common."""
    t, odds = len(LEVELS), math.exp(0.3)
    found: dict[str, float] = {"blind guess": 1 / t, "most that the level's budget allows": odds / (odds + t - 1)}
    for base, k in (("sue", 16), ("sue", 42), ("oue", 42), ("grr", 16), ("lh", 16)):
        guess, at = design(k, base).guess_level(), f"{base}, {k} values"
        found |= {f"best guess, {at}": guess.success, f"most that the whole report allows, {at}": guess.bound}
    return found


# ---- bias and variance


def _simulated(context: Context, level_epsilon: float, runs: int) -> FloatArray:
    """Estimates of the most frequent value of Education by AUEM, over the runs."""
    people = load("adult-education")
    m = design(people.k, level_epsilon=level_epsilon)
    items = np.repeat(np.arange(people.k), people.counts)
    top = int(np.argmax(people.counts))
    values = []
    for stream in context.stream(f"auem {level_epsilon}").spawn(runs):
        reports = m.privatize_items(items, stream)
        values.append(float(m.estimate(m.tally(reports), "auem").value[top]))
    return np.array(values)


def _auem_of_education(context: Context) -> FloatArray:
    return context.once(_simulated, 0.5, 400 if context.quick else 1000)


def _top() -> tuple[float, int]:
    people = load("adult-education")
    return float(people.frequencies.max()), people.n


@claim(
    "thm52",
    "AUEM is approximately unbiased",
    "Theorem 5.2",
    "E = f, approximately",
    Rule(
        (
            at_most("bias by formula over standard deviation, epsilon_p *", 0.1),
            at_least("mean error at epsilon_p 0.5", -0.01, noisy=True),
            at_most("mean error at epsilon_p 0.5", 0.01, noisy=True),
        ),
        (
            at_most("mean error minus bias by formula, in standard errors", 4),
            at_most("bias by formula over standard deviation, epsilon_p 0.5", 0.1),
        ),
        "to first order only: the bias is (f - 1/2) times the level noise for SUE, which is not small for small "
        "epsilon_p; neither mean nor variance exist where the estimated p - q can reach 0",
        alpha=ALPHA,
    ),
)
def unbiased(context: Context) -> Evidence:
    """The mean of estimates well above the guard, and the second-order bias, also in standard deviations."""
    f, n = _top()
    values = _auem_of_education(context)
    found: dict[str, float] = {}
    for budget in (0.5, 0.1):
        moments = design(16, level_epsilon=budget).moments(f, n)
        found[f"bias by formula, epsilon_p {budget:g}"] = moments.bias
        found[f"bias by formula over standard deviation, epsilon_p {budget:g}"] = abs(moments.bias) / math.sqrt(
            moments.random_levels
        )
    error, spread = float(values.mean() - f), float(values.std(ddof=1) / np.sqrt(values.size))
    found |= {"mean error at epsilon_p 0.5": error, spread_of("mean error at epsilon_p 0.5"): spread}
    rest = abs(error - found["bias by formula, epsilon_p 0.5"]) / spread
    found["mean error minus bias by formula, in standard errors"] = rest
    return found | {"runs": int(values.size)}


@claim(
    "thm53",
    "Variance of AUEM",
    "Theorem 5.3",
    "V1 + V2 + V3 + V4",
    Rule(
        (above("printed over simulated", 0.5, noisy=True), below("printed over simulated", 2.0, noisy=True)),
        (above("first order over simulated", 0.5, noisy=True), below("first order over simulated", 2.0, noisy=True)),
        "V1 and V2 lack 1/n^2, the shares of the levels are taken as independent of each other and of the blended p, "
        "and a covariance is dropped; the first-order variance is in docs/maths/personal.md, section 4",
        note="the same within a factor of 2 beyond chance; simulated by the interquartile range",
        alpha=ALPHA,
    ),
)
def variance(context: Context) -> Evidence:
    """The printed sum, the first-order variance, and what is seen (by the interquartile range)."""
    f, n = _top()
    m = design(16, level_epsilon=0.5)
    parts = theorem_53(m.law, f, n)
    values = _auem_of_education(context)
    low, high = np.quantile(values, [0.25, 0.75])
    seen = float(((high - low) / 1.349) ** 2)
    found = {
        "printed": float(sum(parts)),
        "printed, V1 and V2 over n^2": float((parts[0] + parts[1]) / n**2 + parts[2] + parts[3]),
        "first order": m.moments(f, n).random_levels,
        "simulated (robust)": seen,
    }
    # the relative standard error of a squared interquartile range of normal estimates
    spread = 2 * 1.167 / math.sqrt(values.size)
    for name in ("printed", "first order"):
        ratio = found[name] / seen
        found |= {f"{name} over simulated": ratio, spread_of(f"{name} over simulated"): ratio * spread}
    return found
