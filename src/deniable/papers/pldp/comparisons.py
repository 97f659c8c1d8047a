"""What the PLDP paper reads from its figures: methods against each other, on the same reports."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise, product

import numpy as np

from deniable.core.types import FloatArray
from deniable.datasets.tables import load
from deniable.papers.paper import Claims, Context
from deniable.papers.pldp.experiments import (
    DATA,
    SHARES,
    by_size,
    by_size_fitted,
    few_values,
    more_people,
    sizes,
    ten_levels,
    ten_levels_often,
    two_levels_often,
)
from deniable.papers.pldp.study import Errors
from deniable.papers.rules import ALPHA, EXACT, Evidence, Rule, above, at_least, at_most, below, equal, spread_of

__all__ = ["CLAIMS"]

CLAIMS = Claims()
claim = CLAIMS.add


# ---- figures

_CLOSE = math.log(1.5)
_FEW, _OFTEN = 4, 600
"""Up to so many values they are few, and collected so often."""
Compare = Callable[[Context, str, str], Errors]


_BOTH = ("mse", "mae")


def _ratios(
    context: Context,
    compute: Compare,
    what: str,
    one: str,
    two: str,
    errors: tuple[str, ...] = _BOTH,
    tables: tuple[str, ...] = tuple(DATA),
) -> dict[str, float]:
    """Paired log-ratios of the errors of two methods by data and distribution; below 0 the first is better."""
    found: dict[str, float] = {}
    for error, data, kind in product(errors, tables, SHARES):
        name = f"{what}, {error.upper()}, {data}, {kind}"
        found[name], found[spread_of(name)] = compute(context, data, kind).log_ratio(one, two, error)
    return found


def _ratios_by_size(
    context: Context,
    what: str,
    one: str,
    two: str,
    compute: Callable[[Context, str, int], Errors] | None = None,
) -> dict[str, float]:
    """The same by data and number of values."""
    found: dict[str, float] = {}
    compute = compute or by_size
    for error, data in product(_BOTH, DATA):
        for k in sizes(context, data):
            name = f"{what}, {error.upper()}, {data}, {k} values"
            found[name], found[spread_of(name)] = compute(context, data, k).log_ratio(one, two, error)
    return found


def _apart(one: FloatArray, two: FloatArray) -> tuple[float, float]:
    """The difference of the mean logarithms of errors from different runs, and its standard error."""
    logs = [np.log(one), np.log(two)]
    noise = math.hypot(*(float(x.std(ddof=1)) / math.sqrt(x.size) for x in logs))
    return float(logs[0].mean() - logs[1].mean()), noise


def _runs(*several: Errors) -> dict[str, float]:
    return {"runs": min(errors.runs for errors in several)}


@claim(
    "emoa",
    "EMOA is an EM algorithm that improves AUEM",
    "Eq. 15, Algorithm 1, Fig. 7 and 8",
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
    found = _ratios(context, ten_levels, "printed over AUEM", "emoa normalised", "auem")
    found |= _ratios(context, ten_levels, "as coded over AUEM", "emoa as coded", "auem")
    found |= _ratios(context, ten_levels, "corrected EM over AUEM", "em", "auem")
    return found | _runs(ten_levels(context, "Job", "uniform"))


@claim(
    "emoa-sizes",
    "EMOA significantly optimises AUEM, in MSE and MAE, whatever the number of values",
    "Sec. 7.3.2, Fig. 3 and 4",
    "significantly",
    Rule(
        (below("printed over AUEM, *", 0, noisy=True), below("as coded over AUEM, *", 0, noisy=True)),
        (below("corrected EM over AUEM, mean, *", 0, noisy=True),),
        "neither what is printed nor what was run does so everywhere; EM on the true likelihood does, on average over "
        "the numbers of values",
        note="paired logarithms of ratios of errors, ten levels",
        alpha=ALPHA,
    ),
    "fig3",
)
def em_by_size(context: Context) -> Evidence:
    """The printed algorithm, what was run, and EM on the true likelihood, all against AUEM."""
    found = _ratios_by_size(context, "printed over AUEM", "emoa normalised", "auem", by_size_fitted)
    found |= _ratios_by_size(context, "as coded over AUEM", "emoa as coded", "auem")
    for error, data in product(_BOTH, DATA):
        seen = [by_size_fitted(context, data, k).log_ratio("em", "auem", error) for k in sizes(context, data)]
        name = f"corrected EM over AUEM, mean, {error.upper()}, {data}"
        found[name] = sum(value for value, _ in seen) / len(seen)
        found[spread_of(name)] = math.hypot(*(noise for _, noise in seen)) / len(seen)
    return found | _runs(by_size_fitted(context, "Job", 12))


_FIVE = ("auem", "emoa as coded", "rcf", "ppda", "apldp")
_THREE = ("pbp", "auem", "emoa as coded")


def _rises(error: str) -> Callable[[Context], Evidence]:
    """A measurement of whether a larger domain has the larger error, step by step."""

    def measure(context: Context) -> Evidence:
        found: dict[str, float] = {}
        for data, method in product(DATA, _FIVE):
            for few, many in pairwise(sizes(context, data)):
                less, more = (getattr(by_size(context, data, k), error)[method] for k in (few, many))
                name = f"rise, {data}, {method}: from {few} to {many} values"
                found[name], found[spread_of(name)] = _apart(more, less)
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
    "Sec. 7.3.2 and 7.3.3, Fig. 3, 4, 7 and 8",
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
    found: dict[str, float] = {}
    for label, method in (("AUEM", "auem"), ("EMOA", "emoa as coded")):
        found |= _ratios(context, ten_levels_often, f"{label} over PPDA", method, "ppda")
        found |= _ratios_by_size(context, f"{label} over PPDA", method, "ppda")
    return found | _runs(by_size(context, "Job", 12), ten_levels_often(context, "Job", "uniform"))


@claim(
    "rcf-better",
    "RCF and APLDP, which see the levels, beat AUEM and EMOA",
    "Sec. 7.3.2, Fig. 3 and 4",
    "outperform",
    Rule(
        tuple(above(f"{one} over {two}, *", 0, noisy=True) for one, two in product(("AUEM", "EMOA"), ("RCF", "APLDP"))),
        why="not everywhere: as coded EMOA, which never looks at a level, has less error than RCF for the three most "
        "frequent values of Job",
        note="raw estimates, EMOA as the authors coded it; ten levels, all numbers of values",
        alpha=ALPHA,
    ),
    "fig3",
)
def rcf_better(context: Context) -> Evidence:
    """AUEM and EMOA as coded against both that see the levels."""
    found: dict[str, float] = {}
    for (one, a), (two, b) in product(
        (("AUEM", "auem"), ("EMOA", "emoa as coded")), (("RCF", "rcf"), ("APLDP", "apldp"))
    ):
        found |= _ratios_by_size(context, f"{one} over {two}", a, b, _by_size_often)
    return found | _runs(by_size(context, "Job", 12))


def _by_size_often(context: Context, data: str, k: int) -> Errors:
    """With many more runs for a few values, where the errors are near each other and a run takes little time."""
    return few_values(context, data, k, _OFTEN) if k <= _FEW else by_size(context, data, k)


@claim(
    "rcf-sizes",
    "EMOA is close to RCF and APLDP, in MSE and MAE, whatever the number of values",
    "Sec. 7.3.2, Fig. 3 and 4",
    "close",
    Rule(
        (below("EMOA over RCF, *", _CLOSE, noisy=True), below("EMOA over APLDP, *", _CLOSE, noisy=True)),
        note="close: within a factor of 1.5; paired logarithms of ratios of errors; EMOA as the authors coded it",
        alpha=ALPHA,
    ),
    "fig3",
)
def near_rcf_by_size(context: Context) -> Evidence:
    """EMOA as coded over both that see the levels."""
    found = _ratios_by_size(context, "EMOA over RCF", "emoa as coded", "rcf")
    found |= _ratios_by_size(context, "EMOA over APLDP", "emoa as coded", "apldp")
    return found | _runs(by_size(context, "Job", 12))


@claim(
    "rcf",
    "EMOA comes close to RCF and APLDP on Education and Country, in MSE and MAE",
    "Sec. 7.3.3, Fig. 7(a), 7(c), 8(a) and 8(c)",
    "comparable",
    Rule(
        (below("EMOA over RCF, *", _CLOSE, noisy=True), below("EMOA over APLDP, *", _CLOSE, noisy=True)),
        (below("corrected EM over projected RCF, *", _CLOSE, noisy=True),),
        "EMOA, printed or coded, is far from it; EM on the true likelihood is within a factor of 1.5 of projected RCF",
        note="close: within a factor of 1.5; paired logarithms of ratios of errors; with so many values APLDP, as it "
        "is described, is RCF",
        alpha=ALPHA,
    ),
    "fig7",
)
def near_rcf(context: Context) -> Evidence:
    """EMOA as coded over both that see the levels, and corrected EM over RCF, both within the simplex."""
    found: dict[str, float] = {}
    for what, one, two in (
        ("EMOA over RCF", "emoa as coded", "rcf"),
        ("EMOA over APLDP", "emoa as coded", "apldp"),
        ("corrected EM over projected RCF", "em", "rcf projected"),
    ):
        found |= _ratios(context, ten_levels, what, one, two, tables=("Education", "Country"))
    return found | _runs(ten_levels(context, "Job", "uniform"))


@claim(
    "pbp",
    "AUEM and EMOA generally beat PBP, in MSE and MAE",
    "Sec. 7.3.3, Fig. 5 and 6",
    "generally outperform",
    Rule(
        (
            below("AUEM over PBP with the true shares, *", 0, noisy=True),
            below("EMOA over PBP with the true shares, *", 0, noisy=True),
        ),
        (
            below("AUEM over PBP with random shares, *", 0, noisy=True),
            at_least("AUEM over PBP with the true shares, *", 0, noisy=True),
        ),
        "the paper gives PBP random shares of the levels, and then AUEM beats it; with the true ones, which PBP is "
        "made for, neither AUEM nor, on all data, EMOA does",
        note="paired logarithms of ratios of errors; EMOA as the authors coded it",
        alpha=ALPHA,
    ),
    "fig5",
)
def pbp(context: Context) -> Evidence:
    """AUEM and EMOA against PBP with the right shares and with random ones."""
    found: dict[str, float] = {}
    for label, method in (("AUEM", "auem"), ("EMOA", "emoa as coded")):
        found |= _ratios(context, two_levels_often, f"{label} over PBP with the true shares", method, "pbp")
        found |= _ratios(context, two_levels_often, f"{label} over PBP with random shares", method, "pbp random")
    return found | _runs(two_levels_often(context, "Job", "uniform"))


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
    errors = two_levels_often(context, "Job", "uniform")
    found: dict[str, float] = {}
    for shares, other in (("random shares", "pbp random"), ("the true shares", "pbp")):
        a, b = errors.mse["emoa as coded"], errors.mse[other]
        name, ratio = f"EMOA as coded, PBP with {shares}: share of the MSE left", float(a.mean() / b.mean())
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
        note="differences of the mean logarithms of errors; EMOA as the authors coded it",
        alpha=ALPHA,
    ),
    "fig7",
)
def uniform_better(context: Context) -> Evidence:
    """Errors with the power law over those with uniform levels, two and ten levels."""
    found: dict[str, float] = {}
    for compute, levels, methods in ((two_levels_often, "two", _THREE), (ten_levels_often, "ten", _FIVE)):
        for data, method, error in product(DATA, methods, _BOTH):
            even, uneven = (getattr(compute(context, data, kind), error)[method] for kind in SHARES)
            name = f"power law over uniform, {levels} levels, {error.upper()}, {data}, {method}"
            found[name], found[spread_of(name)] = _apart(uneven, even)
    return found | _runs(ten_levels_often(context, "Job", "uniform"))


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


_FEWER = math.log(0.8)


@claim(
    "country",
    "Country's errors are lower than Education's and Job's because there are more people",
    "Sec. 7.3.3, Fig. 7 and 8",
    "significantly lower",
    Rule(
        (
            below("Country over *", 0, noisy=True),
            below("as many people as Country over those of Job, *", _FEWER, noisy=True),
        ),
        (
            above("as many people as Country over those of Job, *", _FEWER, noisy=True),
            above("Country over Job, MSE, *, emoa as coded", 0, noisy=True),
        ),
        "not for all schemes: EMOA's squared error is higher than on Job; and people are not the reason: 8 % more of "
        "them lower the squared error by about 8 %, no more",
        note="logarithms of ratios of errors, ten levels; EMOA as the authors coded it. People alone: MSE of RCF and "
        "PPDA on Job, scaled to the people of Country; they are the reason if that lowers it by a fifth",
        alpha=ALPHA,
    ),
    "fig7",
)
def country(context: Context) -> Evidence:
    """Errors on Country over those on both others, and what the number of people alone explains."""
    found: dict[str, float] = {}
    for other, kind, method, error in product(("Education", "Job"), SHARES, _FIVE, _BOTH):
        own, theirs = (getattr(ten_levels_often(context, data, kind), error)[method] for data in ("Country", other))
        name = f"Country over {other}, {error.upper()}, {kind}, {method}"
        found[name], found[spread_of(name)] = _apart(own, theirs)
    few, many = (more_people(context, n).mse for n in (load(DATA[data]).n for data in ("Job", "Country")))
    for method in ("rcf", "ppda"):
        name = f"as many people as Country over those of Job, {method}"
        found[name], found[spread_of(name)] = _apart(many[method], few[method])
    return found | _runs(ten_levels_often(context, "Job", "uniform"))


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
    runs = 300 if context.quick else _OFTEN
    for data, k in (("Job", 3), ("Education", _FEW)):
        name = f"APLDP over RCF, {data}, {k} values"
        found[name], found[spread_of(name)] = few_values(context, data, k, runs).log_ratio("apldp", "rcf")
    many = few_values(context, "Job", 12, 3).mse
    found["largest relative difference for 12 values"] = float(np.abs(many["apldp"] / many["rcf"] - 1).max())
    return found | {"runs": runs}
