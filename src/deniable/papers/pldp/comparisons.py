"""What the PLDP paper reads from its figures: methods against each other, on the same reports."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise, product

import numpy as np

from deniable.datasets.tables import load
from deniable.papers.paper import Claims, Context
from deniable.papers.pldp.claims import design
from deniable.papers.pldp.experiments import DATA, SHARES, by_budget, by_size, few_values, sizes, ten_levels, two_levels
from deniable.papers.pldp.study import Errors
from deniable.papers.rules import ALPHA, EXACT, Evidence, Rule, above, at_least, at_most, below, equal, spread_of

__all__ = ["CLAIMS"]

CLAIMS = Claims()
claim = CLAIMS.add


# ---- figures

_CLOSE = math.log(1.5)
Compare = Callable[[Context, str, str], Errors]


def _ratios(
    context: Context, compute: Compare, what: str, one: str, two: str, errors: tuple[str, ...] = ("mse", "mae")
) -> dict[str, float]:
    """Paired log-ratios of the errors of two methods by data and distribution; below 0 the first is better."""
    found: dict[str, float] = {}
    for error, data, kind in product(errors, DATA, SHARES):
        name = f"{what}, {error.upper()}, {data}, {kind}"
        found[name], found[spread_of(name)] = compute(context, data, kind).log_ratio(one, two, error)
    return found


def _runs(errors: Errors) -> dict[str, float]:
    return {"runs": next(iter(errors.mse.values())).size}


@claim(
    "emoa",
    "EMOA is an EM algorithm that improves AUEM",
    "Eq. 15, Algorithm 1, Fig. 3 and 7",
    "improves",
    Rule(
        (below("printed over AUEM, *", 0, noisy=True),),
        (below("corrected EM over AUEM, *", 0, noisy=True),),
        "Eq. 15 has no posterior of the value: its output sums to about half the number of values, and normalised it "
        "is nearly uniform whatever was reported; EM on the true likelihood does improve AUEM",
        note="paired logarithms of ratios of errors",
        alpha=ALPHA,
    ),
    "fig7",
)
def printed_em(context: Context) -> Evidence:
    """The printed algorithm, normalised, and EM on the true likelihood, both against AUEM."""
    found = _ratios(context, ten_levels, "printed over AUEM", "emoa normalised", "auem", ("mse",))
    found |= _ratios(context, ten_levels, "as coded over AUEM", "emoa as coded", "auem", ("mse",))
    found |= _ratios(context, ten_levels, "corrected EM over AUEM", "em", "auem", ("mse",))
    return found | _runs(ten_levels(context, "Job", "uniform"))


@claim(
    "fig2",
    "The error of AUEM falls with epsilon_p, steeply below 0.4",
    "Sec. 7.3.1, Fig. 2",
    "steep below 0.4",
    Rule(
        (
            above("*: slope below 0.4", 0, noisy=True),
            above("*: slope above 0.4", 0, noisy=True),
            above("*: slope below 0.4 minus slope above", 0, noisy=True),
        ),
        note="slopes of the logarithm of the MSE of raw AUEM as simulated; self-calibrated estimates do not depend on "
        "epsilon_p at all",
        alpha=ALPHA,
    ),
    "fig2",
)
def falls(context: Context) -> Evidence:
    """How fast the simulated error falls from 0.1 to 0.4 and from 0.4 to 1, per unit of the budget."""
    found: dict[str, float] = {}
    for data in DATA:
        logs = {budget: np.log(by_budget(context, data, budget).mse["auem"]) for budget in (0.1, 0.4, 1.0)}
        mean = {budget: float(values.mean()) for budget, values in logs.items()}
        noise = {budget: float(values.std(ddof=1)) / math.sqrt(values.size) for budget, values in logs.items()}
        steep, flat = (mean[0.1] - mean[0.4]) / 0.3, (mean[0.4] - mean[1.0]) / 0.6
        named = {
            "slope below 0.4": (steep, math.hypot(noise[0.1], noise[0.4]) / 0.3),
            "slope above 0.4": (flat, math.hypot(noise[0.4], noise[1.0]) / 0.6),
            "slope below 0.4 minus slope above": (
                steep - flat,
                math.hypot(noise[0.1] / 0.3, noise[0.4] * (1 / 0.3 + 1 / 0.6), noise[1.0] / 0.6),
            ),
        }
        for name, (value, spread) in named.items():
            found |= {f"{data}: {name}": value, spread_of(f"{data}: {name}"): spread}
    return found | _runs(by_budget(context, "Job", 0.1))


_FIVE = ("auem", "emoa as coded", "rcf", "ppda", "apldp")


def _rises(error: str) -> Callable[[Context], Evidence]:
    """A measurement of whether a larger domain has the larger error, step by step."""

    def measure(context: Context) -> Evidence:
        found: dict[str, float] = {}
        for data, method in product(DATA, _FIVE):
            for few, many in pairwise(sizes(context, data)):
                logs = [np.log(getattr(by_size(context, data, k), error)[method]) for k in (few, many)]
                name = f"rise, {data}, {method}: from {few} to {many} values"
                found[name] = float(logs[1].mean() - logs[0].mean())
                found[spread_of(name)] = math.hypot(*(float(x.std(ddof=1)) / math.sqrt(x.size) for x in logs))
        return found | _runs(by_size(context, "Job", 12))

    return measure


for _figure, _error in ((3, "mse"), (4, "mae")):
    claim(
        f"fig{_figure}",
        f"The {_error.upper()} of all schemes rises with the number of values",
        f"Sec. 7.3.2, Fig. {_figure}",
        "increase",
        Rule(
            (above("rise, *", 0, noisy=True),),
            why="in some steps the mean error per value falls; fewer values also mean fewer people here",
            note="logarithms of ratios of errors from one number of values to the next; EMOA as the authors coded it",
            alpha=ALPHA,
        ),
        f"fig{_figure}",
    )(_rises(_error))


@claim(
    "ppda",
    "AUEM and EMOA consistently beat PPDA, in MSE and MAE",
    "Sec. 7.3.3, Fig. 7 and 8",
    "consistently",
    Rule(
        (below("AUEM over PPDA, *", 0, noisy=True), below("EMOA over PPDA, *", 0, noisy=True)),
        why="PPDA (a reconstruction) has no level noise at all, and is better than raw AUEM and than EMOA as coded",
        note="paired logarithms of ratios of errors",
        alpha=ALPHA,
    ),
    "fig7",
)
def ppda(context: Context) -> Evidence:
    """Raw AUEM and EMOA as the authors coded it over PPDA."""
    found = _ratios(context, ten_levels, "AUEM over PPDA", "auem", "ppda")
    found |= _ratios(context, ten_levels, "EMOA over PPDA", "emoa as coded", "ppda")
    return found | _runs(ten_levels(context, "Job", "uniform"))


@claim(
    "rcf-better",
    "RCF and APLDP, which see the levels, beat AUEM and EMOA",
    "Sec. 7.3.2, Fig. 3 and 4",
    "outperform",
    Rule(
        tuple(above(f"{one} over {two}, *", 0, noisy=True) for one, two in product(("AUEM", "EMOA"), ("RCF", "APLDP"))),
        note="raw estimates, EMOA as the authors coded it; ten levels",
        alpha=ALPHA,
    ),
    "fig7",
)
def rcf_better(context: Context) -> Evidence:
    """AUEM and EMOA as coded against both that see the levels."""
    found: dict[str, float] = {}
    for (one, a), (two, b) in product(
        (("AUEM", "auem"), ("EMOA", "emoa as coded")), (("RCF", "rcf"), ("APLDP", "apldp"))
    ):
        found |= _ratios(context, ten_levels, f"{one} over {two}", a, b)
    return found | _runs(ten_levels(context, "Job", "uniform"))


@claim(
    "rcf",
    "EMOA comes close to RCF and APLDP",
    "Sec. 7.3.2, Fig. 7",
    "comparable in most cases",
    Rule(
        (below("EMOA over RCF, *", _CLOSE, noisy=True),),
        (below("corrected EM over projected RCF, *", _CLOSE, noisy=True),),
        "EMOA, printed or coded, is far from it; EM on the true likelihood is within a factor of 1.5 of projected RCF",
        note="close: within a factor of 1.5; paired logarithms of ratios of errors",
        alpha=ALPHA,
    ),
    "fig7",
)
def near_rcf(context: Context) -> Evidence:
    """EMOA as coded over RCF, and corrected EM over RCF, both within the simplex."""
    found = _ratios(context, ten_levels, "EMOA over RCF", "emoa as coded", "rcf", ("mse",))
    found |= _ratios(context, ten_levels, "corrected EM over projected RCF", "em", "rcf projected", ("mse",))
    return found | _runs(ten_levels(context, "Job", "uniform"))


@claim(
    "pbp",
    "AUEM and EMOA generally beat PBP, in MSE and MAE",
    "Sec. 7.3.3, Fig. 5 and 6",
    "generally outperform",
    Rule(
        (below("AUEM over PBP with the true shares, *", 0, noisy=True),),
        (
            below("AUEM over PBP with random shares, *", 0, noisy=True),
            at_least("AUEM over PBP with the true shares, *", 0, noisy=True),
        ),
        "the paper gives PBP random shares of the levels, and then it is beaten; with the true ones it is not",
        note="paired logarithms of ratios of errors",
        alpha=ALPHA,
    ),
    "fig5",
)
def pbp(context: Context) -> Evidence:
    """AUEM against PBP with the right shares and with random ones."""
    found = _ratios(context, two_levels, "AUEM over PBP with the true shares", "auem", "pbp")
    found |= _ratios(context, two_levels, "AUEM over PBP with random shares", "auem", "pbp random")
    return found | _runs(two_levels(context, "Job", "uniform"))


@claim(
    "improvement",
    "EMOA improves the MSE by 87 % over PBP, on Job with uniform levels",
    "abstract, Sec. 7.3.3, Fig. 5(b)",
    0.87,
    Rule(
        (
            above("EMOA as coded, PBP with random shares: share of the MSE left", 0.05, noisy=True),
            below("EMOA as coded, PBP with random shares: share of the MSE left", 0.21, noisy=True),
            below("EMOA as coded, PBP with the true shares: share of the MSE left", 0.21, noisy=True),
        ),
        (
            above("EMOA as coded, PBP with random shares: share of the MSE left", 0.05, noisy=True),
            below("EMOA as coded, PBP with random shares: share of the MSE left", 0.29, noisy=True),
            above("EMOA as coded, PBP with the true shares: share of the MSE left", 0.29, noisy=True),
        ),
        "with the code that was run, and random shares given to PBP, most of the MSE goes indeed; with the true "
        "shares, which PBP is made for, most of it stays",
        note="13 % are left if 87 % are saved",
        alpha=ALPHA,
    ),
    "fig5",
)
def improvement(context: Context) -> Evidence:
    """The share of PBP's mean squared error that is left, as the paper measures it and with the true shares."""
    errors = two_levels(context, "Job", "uniform")
    found: dict[str, float] = {}
    for label, method in (("EMOA as coded", "emoa as coded"), ("corrected EM", "em")):
        for shares, other in (("random shares", "pbp random"), ("the true shares", "pbp")):
            a, b = errors.mse[method], errors.mse[other]
            name, ratio = f"{label}, PBP with {shares}: share of the MSE left", float(a.mean() / b.mean())
            # by the delta method, paired
            noise = float((a / a.mean() - b / b.mean()).std(ddof=1)) / math.sqrt(a.size)
            found |= {name: ratio, spread_of(name): ratio * noise}
    return found | _runs(errors)


@claim(
    "uniform-better",
    "All methods have a lower error if levels are uniform than by a power law",
    "Sec. 7.3.3, Fig. 5 to 8",
    "better under uniform conditions",
    Rule(
        (above("power law over uniform, *", 0, noisy=True),),
        note="logarithms of ratios of the mean errors; EMOA as the authors coded it",
        alpha=ALPHA,
    ),
    "fig7",
)
def uniform_better(context: Context) -> Evidence:
    """Errors with the power law over those with uniform levels, ten levels."""
    found: dict[str, float] = {}
    for data, method in product(DATA, _FIVE):
        logs = [np.log(ten_levels(context, data, kind).mse[method]) for kind in SHARES]
        name = f"power law over uniform, {data}, {method}"
        found[name] = float(logs[1].mean() - logs[0].mean())
        found[spread_of(name)] = math.hypot(*(float(x.std(ddof=1)) / math.sqrt(x.size) for x in logs))
    return found | _runs(ten_levels(context, "Job", "uniform"))


TABLE1 = {
    "Education, values": 16,
    "Education, people": 32_561,
    "Job, values": 9,
    "Job, people": 45_211,
    "Country, values": 42,
    "Country, people": 48_842,
}
"""As printed."""


@claim(
    "table1",
    "Values and people of the three tables",
    "Table 1",
    TABLE1,
    Rule(
        tuple(equal(name, value) for name, value in TABLE1.items()),
        (
            *(equal(name, value) for name, value in TABLE1.items() if name != "Job, values"),
            above("Job, values", TABLE1["Job, values"]),
        ),
        "Job has more values; 9 are its most frequent ones, and the people are those of all of them",
    ),
)
def table_sizes(_: Context) -> Evidence:
    """Counted."""
    people = {name: load(table) for name, table in DATA.items()}
    return {f"{name}, {what}": n for name, p in people.items() for what, n in (("values", p.k), ("people", p.n))}


@claim(
    "country",
    "Country's errors are lower than Education's and Job's because there are more people",
    "Sec. 7.3.3",
    "lower",
    Rule(
        (
            below("AUEM, Country over Education", 1),
            below("AUEM, Country over Job", 1),
            below("the same frequencies, people of Country over Job", 0.8),
        ),
        (below("the same frequencies, people of Country over Job", 1), above("AUEM, Country over Job", 1)),
        "8 % more people lower the variance by 8 %, no more; the exact variance of raw AUEM is higher on Country than "
        "on Job, whose values are more even",
    ),
)
def country(_: Context) -> Evidence:
    """First-order variances of raw AUEM, averaged over the values; and what the number of people alone explains."""
    found = {name: _mean_variance(name, 0.3) for name in ("adult-education", "bank-job", "adult-country")}
    few, many = load("bank-job"), load("adult-country")
    found["AUEM, Country over Education"] = found["adult-country"] / found["adult-education"]
    found["AUEM, Country over Job"] = found["adult-country"] / found["bank-job"]
    return found | {"the same frequencies, people of Country over Job": few.n / many.n}


def _mean_variance(table: str, level_epsilon: float) -> float:
    people = load(table)
    m = design(people.k, level_epsilon=level_epsilon)
    return float(np.mean([m.moments(float(f), people.n).random_levels for f in people.frequencies]))


# ---- of our own


@claim(
    "apldp-few",
    "APLDP, which takes the better of two protocols at each level, has less error than RCF for 3 and 4 values, and is "
    "the same for 12",
    "of our own, after Sec. 7.2, Fig. 3",
    "two baselines, whose difference is not told",
    Rule(
        (
            below("APLDP over RCF, *", 0, noisy=True),
            at_most("largest relative difference for 12 values", EXACT),
        ),
        note="paired logarithms of ratios of mean squared errors",
        alpha=ALPHA,
    ),
)
def apldp_few(context: Context) -> Evidence:
    """Both baselines on the same people, whose levels they see."""
    found: dict[str, float] = {}
    runs = 300 if context.quick else 600
    for data, k in (("Job", 3), ("Education", 4)):
        name = f"APLDP over RCF, {data}, {k} values"
        found[name], found[spread_of(name)] = few_values(context, data, k, runs).log_ratio("apldp", "rcf")
    many = few_values(context, "Job", 12, 3).mse
    found["largest relative difference for 12 values"] = float(np.abs(many["apldp"] / many["rcf"] - 1).max())
    return found | {"runs": runs}
