"""What the PLDP paper reads from its figures: methods against each other, on the same reports."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise, product

import numpy as np

from deniable.core.types import FloatArray
from deniable.datasets.tables import load
from deniable.papers.evidence import Evidence, Sampled
from deniable.papers.paper import Context, Measures
from deniable.papers.pldp.experiments import (
    DATA,
    SHARES,
    by_size,
    by_size_fitted,
    by_size_often,
    few_values,
    more_people,
    nine_jobs,
    sizes,
    ten_levels,
    ten_levels_fitted,
    ten_levels_often,
    two_levels_often,
)
from deniable.papers.pldp.study import Errors

__all__ = ["measures"]

measures = Measures()


# ---- figures

_FEW, _OFTEN = 4, 600
"""Up to so many values they are few, and collected so often."""
Compare = Callable[[Context, str, str], Errors]
Found = dict[str, float | Sampled]


_BOTH = ("mse", "mae")


def _ratios(
    context: Context,
    compute: Compare,
    what: str,
    one: str,
    two: str,
    errors: tuple[str, ...] = _BOTH,
    tables: tuple[str, ...] = tuple(DATA),
) -> Found:
    """Paired log-ratios of the errors of two methods by data and distribution; below 0 the first is better."""
    return {
        f"{what}, {error.upper()}, {data}, {kind}": compute(context, data, kind).log_ratio(one, two, error)
        for error, data, kind in product(errors, tables, SHARES)
    }


def _ratios_by_size(
    context: Context,
    what: str,
    one: str,
    two: str,
    compute: Callable[[Context, str, int], Errors] | None = None,
) -> Found:
    """The same by data and number of values."""
    return {
        f"{what}, {error.upper()}, {data}, {k} values": (compute or by_size)(context, data, k).log_ratio(
            one, two, error
        )
        for error, data in product(_BOTH, DATA)
        for k in sizes(context, data)
    }


def _apart(one: FloatArray, two: FloatArray) -> Sampled:
    """The difference of the mean logarithms of errors from different runs."""
    return Sampled.over_runs(np.log(one)) - Sampled.over_runs(np.log(two))


def _over(one: FloatArray, two: FloatArray) -> Sampled:
    """The logarithm of the ratio of mean errors from different runs: as the figures show them."""
    return Sampled.over_runs(one).log_ratio(Sampled.over_runs(two))


def _runs(*several: Errors) -> dict[str, float]:
    return {"runs": min(errors.runs for errors in several)}


@measures("emoa")
def printed_em(context: Context) -> Evidence:
    """The printed algorithm, normalised, and EM on the true likelihood, both against AUEM."""
    found = _ratios(context, ten_levels, "printed over AUEM", "emoa normalised", "auem")
    found |= _ratios(context, ten_levels, "as coded over AUEM", "emoa as coded", "auem")
    found |= _ratios(context, ten_levels, "corrected EM over AUEM", "em", "auem")
    return found | _runs(ten_levels(context, "Job", "uniform"))


@measures("emoa-sizes")
def em_by_size(context: Context) -> Evidence:
    """The printed algorithm, what was run, and EM on the true likelihood, all against AUEM."""
    found = _ratios_by_size(context, "printed over AUEM", "emoa normalised", "auem", by_size_fitted)
    found |= _ratios_by_size(context, "as coded over AUEM", "emoa as coded", "auem")
    for error, data in product(_BOTH, DATA):
        seen = [by_size_fitted(context, data, k).log_ratio("em", "auem", error) for k in sizes(context, data)]
        found[f"corrected EM over AUEM, mean, {error.upper()}, {data}"] = Sampled.mean(seen)
    return found | _runs(by_size_fitted(context, "Job", 12))


_FIVE = ("auem", "emoa as coded", "rcf", "ppda", "apldp")
_THREE = ("pbp", "auem", "emoa as coded")


def _rises(error: str) -> Callable[[Context], Evidence]:
    """A measurement of whether a larger domain has the larger error, step by step."""

    def measure(context: Context) -> Evidence:
        found: Found = {}
        for data, method in product(DATA, _FIVE):
            own, at = sizes(context, data), f"{data}, {method}"
            who = {"auem": "AUEM", "emoa as coded": "EMOA"}.get(method, "by SUE alone")
            for kind, (few, many) in (("rise", (own[0], own[-1])), *(("step", pair) for pair in pairwise(own))):
                less, more = (getattr(by_size_often(context, data, k), error)[method] for k in (few, many))
                found[f"{who}: {kind}, {at}: from {few} to {many} values"] = _over(more, less)
        return found | _runs(by_size_often(context, "Job", 12))

    return measure


measures |= {"fig3": _rises("mse"), "fig4": _rises("mae")}


@measures("ppda")
def ppda(context: Context) -> Evidence:
    """Raw AUEM and EMOA as the authors coded it over PPDA."""
    found: Found = {}
    for label, method in (("AUEM", "auem"), ("EMOA", "emoa as coded")):
        found |= _ratios(context, ten_levels_often, f"{label} over PPDA", method, "ppda")
        found |= _ratios_by_size(context, f"{label} over PPDA", method, "ppda")
    return found | _runs(by_size(context, "Job", 12), ten_levels_often(context, "Job", "uniform"))


@measures("rcf-better")
def rcf_better(context: Context) -> Evidence:
    """AUEM and EMOA as coded against both that see the levels."""
    found: Found = {}
    for (one, a), (two, b) in product(
        (("AUEM", "auem"), ("EMOA", "emoa as coded")), (("RCF", "rcf"), ("APLDP", "apldp"))
    ):
        found |= _ratios_by_size(context, f"{one} over {two}", a, b, _by_size_often)
    return found | _runs(by_size(context, "Job", 12))


def _by_size_often(context: Context, data: str, k: int) -> Errors:
    """With many more runs for a few values, where the errors are near each other and a run takes little time."""
    return few_values(context, data, k, _OFTEN) if k <= _FEW else by_size(context, data, k)


@measures("rcf-sizes")
def near_rcf_by_size(context: Context) -> Evidence:
    """EMOA as coded over both that see the levels."""
    found = _ratios_by_size(context, "EMOA over RCF", "emoa as coded", "rcf")
    found |= _ratios_by_size(context, "EMOA over APLDP", "emoa as coded", "apldp")
    return found | _runs(by_size(context, "Job", 12))


@measures("rcf")
def near_rcf(context: Context) -> Evidence:
    """EMOA as coded over both that see the levels, and corrected EM over RCF, both within the simplex."""
    found: Found = {}
    for what, one, two, collected in (
        ("EMOA over RCF", "emoa as coded", "rcf", ten_levels),
        ("EMOA over APLDP", "emoa as coded", "apldp", ten_levels),
        ("corrected EM over projected RCF", "em", "rcf projected", ten_levels_fitted),
    ):
        found |= _ratios(context, collected, what, one, two, tables=("Education", "Country"))
    return found | _runs(ten_levels(context, "Job", "uniform"))


@measures("pbp")
def pbp(context: Context) -> Evidence:
    """AUEM and EMOA against PBP with the right shares and with random ones."""
    found: Found = {}
    for label, method in (("AUEM", "auem"), ("EMOA", "emoa as coded")):
        found |= _ratios(context, two_levels_often, f"{label} over PBP with the true shares", method, "pbp")
        found |= _ratios(context, two_levels_often, f"{label} over PBP with random shares", method, "pbp random")
    return found | _runs(two_levels_often(context, "Job", "uniform"))


@measures("improvement")
def improvement(context: Context) -> Evidence:
    """The share of PBP's mean squared error that is left, as the paper measures it and with the true shares.

    For the nine values that the paper has, beside all twelve of the table, and for as many people as the authors' file.
    """
    several = {
        "nine values": nine_jobs(context, None),
        "twelve values": two_levels_often(context, "Job", "uniform"),
        "nine values, 11,162 people": nine_jobs(context, 11_162),
    }
    found: Found = {}
    for (told, errors), (shares, other) in product(
        several.items(), (("random shares", "pbp random"), ("the true shares", "pbp"))
    ):
        a, b = errors.mse["emoa as coded"], errors.mse[other]
        # by the delta method, paired
        ratio, noise = float(a.mean() / b.mean()), float((a / a.mean() - b / b.mean()).std(ddof=1)) / math.sqrt(a.size)
        found[f"{told}, PBP with {shares}: share of the MSE left"] = Sampled(ratio, ratio * noise)
    return found | _runs(*several.values())


@measures("uniform-better")
def uniform_better(context: Context) -> Evidence:
    """Errors with the power law over those with uniform levels, two and ten levels."""
    found: Found = {}
    for compute, levels, methods in ((two_levels_often, "two", _THREE), (ten_levels_often, "ten", _FIVE)):
        for data, method, error in product(DATA, methods, _BOTH):
            even, uneven = (getattr(compute(context, data, kind), error)[method] for kind in SHARES)
            name = f"power law over uniform, {levels} levels, {error.upper()}, {data}, {method}"
            found[name] = _apart(uneven, even)
    return found | _runs(ten_levels_often(context, "Job", "uniform"))


@measures("table1")
def table_sizes(_: Context) -> Evidence:
    """Counted."""
    people = {name: load(table) for name, table in DATA.items()}
    return {f"{name}, {what}": n for name, p in people.items() for what, n in (("values", p.k), ("people", p.n))}


@measures("country")
def country(context: Context) -> Evidence:
    """Errors on Country over those on both others, and what the number of people alone explains."""
    found: Found = {}
    for other, kind, method, error in product(("Education", "Job"), SHARES, _FIVE, _BOTH):
        own, theirs = (getattr(ten_levels_often(context, data, kind), error)[method] for data in ("Country", other))
        found[f"Country over {other}, {error.upper()}, {kind}, {method}"] = _apart(own, theirs)
    few, many = (more_people(context, n).mse for n in (load(DATA[data]).n for data in ("Job", "Country")))
    for method in ("rcf", "ppda"):
        found[f"as many people as Country over those of Job, {method}"] = _apart(many[method], few[method])
    return found | _runs(ten_levels_often(context, "Job", "uniform"))


# ---- of our own


@measures("apldp-few")
def apldp_few(context: Context) -> Evidence:
    """Both baselines on the same people, whose levels they see."""
    found: Found = {}
    runs = 300 if context.quick else _OFTEN
    for data, k in (("Job", 3), ("Education", _FEW)):
        ratio = few_values(context, data, k, runs).log_ratio("apldp adaptive", "rcf")
        found[f"APLDP over RCF, {data}, {k} values"] = ratio
    many = few_values(context, "Job", 12, 3).mse
    found["largest relative difference for 12 values"] = float(np.abs(many["apldp adaptive"] / many["rcf"] - 1).max())
    return found | {"runs": runs}
