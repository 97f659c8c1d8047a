"""What a forged report can add, and what reports cost: for every row, against all reports that there are."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import deniable as dn
from deniable.collect.tally import Tally
from deniable.mechanisms.entry import FREQUENCY
from deniable.mechanisms.registry import MECHANISMS
from deniable.mechanisms.utility.options import BASES
from deniable.plan.prediction import forged_gain
from tiers import every

ROWS = {name: entry for name, entry in MECHANISMS.items() if entry.question in (FREQUENCY, "key-value")}
LEVELS = ("pldp", "upldp")
AT_LEVELS = [(n, c) for n in LEVELS for c in MECHANISMS[n].small]
NOISY = ("she",)
"""Reports whose largest numbers are too rare to be drawn."""
CASES = [
    (name, case)
    for name, entry in ROWS.items()
    if entry.question == FREQUENCY and name not in (*LEVELS, *NOISY)
    for case in entry.small[:2]
]
UNEVEN = [
    pytest.param("plh", {"k": k, "epsilon": 1.0, "g": g}, id=f"plh of {k} in {g}") for k, g in ((5, 2), (7, 3), (10, 4))
]
"""Blocks of different sizes, of which the largest counts."""
REPORTS = 4000


def test_every_row_about_frequencies_and_pairs_has_its_work_and_its_bound():
    lacking = [name for name, entry in ROWS.items() if entry.kind == "mechanism" and None in costs_of(entry)]
    assert lacking == []


def costs_of(entry):
    return entry.traits.work, entry.traits.pull


def weights(m):
    """What each of the different reports adds to the estimates: those of single reports, drawn until all are there."""
    drawn = m.privatize_items(np.arange(REPORTS) % m.k, dn.simulation(5))
    told = [c.reshape(REPORTS, -1) for name, c in drawn.columns.items() if name != "seed"]
    for bulk in (m.bulk, getattr(m.bulk, "base", None)):  # under a seed it matters what the report supports
        told += [bulk.supported(drawn.columns)] if "seed" in drawn.columns and hasattr(bulk, "supported") else []
    first = np.unique(np.hstack(told), axis=0, return_index=True)[1]
    return np.array([m.estimate(m.tally(drawn[i : i + 1])).value for i in first.tolist()])


@pytest.mark.parametrize(("name", "case"), CASES + UNEVEN, ids=lambda x: x if isinstance(x, str) else None)
def test_the_bound_is_attained_by_some_report_and_exceeded_by_none(name, case):
    """The r targets are the best ones for the forger: the r largest weights of a report."""
    m = dn.mechanism(name, **case)
    found = -np.sort(-weights(m), axis=1)
    for r in range(1, min(m.k, found.shape[1])):
        pull = float(MECHANISMS[name].traits.pull(m, r))
        assert max(pull, 0) == pytest.approx(max(found[:, :r].sum(axis=1).max(), 0), rel=1e-9), r


@pytest.mark.parametrize(("name", "case"), every(4, AT_LEVELS))
def test_the_bound_at_levels_is_the_rise_by_the_best_of_all_forged_reports(name, case):
    """A thousandth of forged reports among very many expected ones: what the estimator itself makes of them."""
    m = dn.mechanism(name, **case)
    own = m.items[0] if name == "upldp" else np.arange(m.k)
    rest = np.setdiff1d(np.arange(m.k), own)
    pull = MECHANISMS[name].traits.pull
    for r in (1, 2):
        held = [np.array(targets) for targets in combinations(range(m.k), r) if set(own) - set(targets)]
        rises = [rise(m, own, rest, targets) for targets in held[:: max(1, len(held) // 5)] + held[-1:]]
        assert float(pull(m, r)) == pytest.approx(max(rises), rel=0.02), r


@pytest.mark.parametrize("base", BASES)
def test_where_every_answer_is_sensitive_costs_are_those_of_the_base(base):
    """One look more for what might have been disclosed; of noisy vectors as far as they reach."""
    m = dn.utility(base, 4, epsilon=1.0, k=4, **({"grid": 1, "reach": 3} if base == "she" else {}))
    ours, theirs = (MECHANISMS[name].traits for name in ("utility", base))
    for r in (1, 2, 3):
        assert float(ours.pull(m, r)) == pytest.approx(float(theirs.pull(m.base, r)), rel=1e-9), r
    assert float(ours.work(m, 10)) == pytest.approx(1 + float(theirs.work(m.base, 10)))


N, FORGED = 10**9, 10**6


def rise(m, own, rest, targets):
    """The largest rise of the summed targets per forged report."""
    theta = float(getattr(m, "theta", 0) or 0)
    f = np.zeros(m.k)
    for part, share in ((own, 1 - theta), (rest, theta)):
        left = np.setdiff1d(part, targets)
        f[left] = share / max(1, left.size)
    f = f / f.sum()
    honest = expected(m, own, rest, f)
    before = total(m, honest, targets)
    kind = kind_of(m)
    numbers = range(honest[kind].shape[1])
    sizes = range(len(own) + 1) if kind == "support" and m.base != "grr" else (1,)
    forged = [(kind, c) for size in sizes for c in combinations(numbers, size)]
    found = []
    for level in range(len(m.bulk.strata)):
        for kind, choice in forged + [("disclosed", (j,)) for j in range(len(rest))]:
            cells = {key: cell.copy() for key, cell in honest.items()}
            cells["n"][level] += FORGED
            cells[kind][level, list(choice)] += FORGED
            found.append(total(m, cells, targets) - before)
    return max(found) * N / FORGED


def kind_of(m):
    """What tallies count: the answers that reports support or, of base affine, the reports themselves."""
    return "value" if m.base == "affine" else "support"


def expected(m, own, rest, f):
    """Cells of N honest reports, rounded: by the channels of all levels."""
    strata, kind = len(m.bulk.strata), kind_of(m)
    width = m.bases[0].order if kind == "value" else own.size
    cells = {"n": np.zeros(strata), kind: np.zeros((strata, width)), "disclosed": np.zeros((strata, rest.size))}
    place = {int(x): i for i, x in enumerate(own)} | {int(x): i for i, x in enumerate(rest)}
    for level, share in enumerate(m.shares):
        channel = m.bulk.channel_at(level)
        told = [next(i for i, s in enumerate(m.bulk.strata) if name.endswith(s)) for name in channel.outputs]
        for o, row in enumerate(channel.weights):
            mass = N * share * sum(f[x] * w / channel.total for x, w in enumerate(row))
            cells["n"][told[o]] += mass
            if o in channel.disclosing or kind == "support":
                for x in channel.supported[o]:
                    cells["disclosed" if o in channel.disclosing else kind][told[o], place[x]] += mass
            else:
                cells[kind][told[o], o // strata] += mass
    return cells


def total(m, cells, targets):
    whole = {key: np.rint(cell).astype(np.int64) for key, cell in cells.items() if cell.size}
    if m.base in ("grr", "affine"):  # a report counts once: what rounding left is made up for
        told = sum(whole[key].sum(axis=1) for key in (kind_of(m), "disclosed") if key in whole)
        whole[kind_of(m)][:, 0] += whole["n"] - told
    return float(m.estimate(Tally(m.design, m.bulk.strata, whole, simulated=True)).value[targets].sum())


def test_work_grows_with_the_sensitive_answers_only():
    few, many = (dn.mechanism("ulh", epsilon=1.0, k=1000, sensitive=s) for s in (10, 500))
    work = MECHANISMS["ulh"].traits.work
    assert work(few, 100) == 1 + 4 * 10
    assert work(many, 100) == 1 + 4 * 500
    levels = dn.mechanism("upldp", k=1000, sensitive=10, levels="0.5,1", level_epsilon=0.5)
    assert MECHANISMS["upldp"].traits.work(levels, 100) == 2 + 4 * 10


# ---- means and near answers

MEANS = [name for name, entry in MECHANISMS.items() if entry.question == "mean"]
NEAR = [name for name, entry in MECHANISMS.items() if entry.question == "release" and not entry.needed]


@pytest.mark.parametrize("name", MEANS)
def test_forged_reports_move_a_mean_by_what_is_said_and_by_no_more(name):
    """Everybody at the lowest value but a hundredth, who send what suits them best: the estimator itself says it."""
    grid = {"om": {"points": 17, "fine": 1}, "lu": {"fine": 4097}}.get(name, {"points": 8})
    m = dn.mechanism(name, epsilon=1.0, interval=(10, 30), **grid)
    one = m.tally(m.privatize([10.0]))
    honest = np.round(99 * 10**7 * m.channel().matrix()[0]).astype(np.int64)
    found = []
    for y in range(honest.size):
        counts = honest.copy()
        counts[y] += 10**7
        tally = Tally(m.design, one.strata, {"n": counts.sum(keepdims=True), "value": counts[None]}, False)
        found.append(m.estimate(tally).value[0] - m.grid.at(0))
    said = forged_gain(MECHANISMS[name].traits.pull(m, 1))
    assert max(found) == pytest.approx(said, rel=1e-4)
    planned = next(
        d for d in dn.plan(question="mean", interval=(10, 30), points=8, epsilon=1.0, n=100).designs if d.name == name
    )
    assert planned.poisoning == pytest.approx(said, rel=3e-3 if name == "lu" else 1e-6)  # its places are rounded
    assert planned.work == pytest.approx(1 + m.readings.size / 100)


@pytest.mark.parametrize("name", NEAR)
@pytest.mark.parametrize("where", [{"points": 7}, {"interval": (0, 10), "points": 5}, {"interval": (0, 10)}], ids=str)
def test_a_forged_near_answer_costs_the_largest_loss_that_a_report_can_have(name, where):
    m = dn.mechanism(name, epsilon=1.0, **where)
    answers = np.asarray(m.domain.points if "interval" in where else np.arange(m.k), float)
    answers = answers if m.output_points is None else answers[m.output_points]
    values = np.linspace(0, 10, 1001) if "interval" in where else np.arange(7)
    want = np.abs(values[:, None] - answers).max()
    assert MECHANISMS[name].traits.pull(m, 1) == pytest.approx(want)


def test_limits_on_work_and_on_forged_reports_are_kept_for_means_and_near_answers():
    means = dn.plan(question="mean", interval=(0, 100), epsilon=1.0, n=10_000, max_poisoning=1.6, max_work=1.5)
    assert [d.name for d in means.designs] == ["duchi"]
    near = dn.plan(question="release", points=30, epsilon=1.0, max_poisoning=0.25)
    assert [d.name for d in near.designs] == ["codebook"]
    assert near.designs[0].work == 1.0
    assert dn.plan(question="release", points=30, epsilon=1.0, max_work=0.5).designs == ()


def test_plans_tell_what_forgers_can_do_to_as_many_targets_as_there_are():
    """Of every design what the bound above says of that many targets, which for unary reports is more than of one."""
    for question in ("frequency", "key-value"):
        gains = {}
        for r in (1, 4):
            found = dn.plan(question=question, k=8, n=10_000, epsilon=1.0, targets=r, top=100)
            for d in (*found.designs, *(o.design for o in found.out if o.design is not None)):
                pull = MECHANISMS[d.name].traits.pull
                if pull is not None and d.poisoning is not None:
                    assert d.poisoning == pytest.approx(float(forged_gain(pull(d.mechanism, r))), rel=1e-9), d.title
                    gains.setdefault(r, {})[d.name] = d.poisoning
        name = "oue" if question == "frequency" else "ks-ue"
        assert gains[4][name] > 2 * gains[1][name]


def test_parameters_are_tuned_against_forgers_of_all_targets():
    """Against forgers of eight answers unary reports and arcs are made that just meet the limit; of one, others are."""
    met = {}
    for r in (1, 8):
        found = dn.plan(k=16, n=10_000, epsilon=1.0, targets=r, max_poisoning=0.2, top=100)
        met[r] = {d.name: d.poisoning for d in found.designs if d.options}
    assert max(met[1].values()) < 0.05
    assert met[8]["ue"] == pytest.approx(0.2, rel=1e-6)
    assert met[8]["wheel"] == pytest.approx(0.2, rel=1e-6)
