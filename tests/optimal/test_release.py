"""The best release under a promise: known optima, the certificate, whole numbers, and what is refused."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.core.promise import Promise
from deniable.errors import EnumerationError
from deniable.mechanisms.metric.baselines import exponential, geometric
from deniable.mechanisms.optimal.release import programme
from deniable.mechanisms.optimal.release.arcs import arcs_of
from deniable.mechanisms.optimal.release.programme import bound_of, least_loss
from deniable.mechanisms.optimal.release.proof import proved
from deniable.mechanisms.optimal.release.solution import release

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "release.json").read_text())


def line(k: int) -> np.ndarray:
    return np.abs(np.subtract.outer(np.arange(k), np.arange(k))).astype(float)


def losses(case: dict[str, Any], k: int) -> np.ndarray:
    name = case["loss_name"]
    if name == "distances":
        points = np.array(case["arguments"]["points"])
        return np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=2))
    return {"absolute": line(k), "squared": line(k) ** 2, "zero-one": 1 - np.eye(k)}[name]


@pytest.mark.parametrize("case", GOLDEN["release"], ids=lambda case: case["id"])
def test_least_losses_are_those_found_apart_from_this_code(case: dict[str, Any]) -> None:
    p = dn.promise(**case["arguments"])
    loss = losses(case, p.k)
    found = release(p, loss, worst=case["objective"] == "minimax")
    assert found.value == pytest.approx(case["value"], rel=GOLDEN["tolerance"])
    assert found.bound <= found.value
    assert found.gap < 1e-11
    assert found.blind < 1e-12
    assert all(sum(row) == 1 << 64 for row in found.rows)
    for name, value in case.get("baselines", {}).items():
        assert found.bound <= value * (1 + 1e-9), name


@pytest.mark.parametrize("case", [c for c in GOLDEN["release"] if "geometric" in c.get("baselines", {})], ids=str)
def test_baselines_are_those_found_apart_from_this_code(case: dict[str, Any]) -> None:
    """Geometric noise, remapped or not, and the exponential mechanism: calibrated to the step, and printed (half)."""
    step, loss, told = case["arguments"]["epsilon"], line(20), case["baselines"]
    noisy = geometric(20, step * 19)
    assert (noisy * loss).sum() / 20 == pytest.approx(told["geometric"], rel=1e-9)
    remapped = (noisy.T @ loss).min(axis=1).sum() / 20
    assert remapped == pytest.approx(told["geometric_remapped"], rel=1e-9)
    assert remapped == pytest.approx(case["value"], rel=1e-9), "on a line of equal steps nothing beats it"
    half = exponential(loss, step * 19, calibrated=False)
    assert (half * loss).sum() / 20 == pytest.approx(told["exponential_half"], rel=1e-9)


@pytest.mark.parametrize(("k", "epsilon"), [(4, 0.5), (9, 1.0), (16, 2.0), (7, 4.0)])
def test_one_epsilon_on_a_line_is_the_codebook(k: int, epsilon: float) -> None:
    best = release(dn.promise(epsilon=epsilon, k=k), line(k))
    codes = dn.mechanism("codebook", epsilon=epsilon, points=k)
    assert best.value == pytest.approx(codes.properties()["loss"], rel=1e-9)


@pytest.mark.parametrize(("k", "epsilon"), [(2, 1.0), (5, 0.3), (10, 3.0)])
def test_right_or_wrong_is_randomised_response(k: int, epsilon: float) -> None:
    best = release(dn.promise(epsilon=epsilon, k=k), 1 - np.eye(k))
    assert best.value == pytest.approx((k - 1) / (math.exp(epsilon) + k - 1), rel=1e-11)


@pytest.mark.parametrize("kind", ["absolute", "squared"])
def test_a_line_of_equal_steps_is_truncated_geometric_noise_remapped(kind: str) -> None:
    """Whatever the prior is [Ghosh09]."""
    zipf = 1 / np.arange(1, 13)
    loss = line(12) if kind == "absolute" else line(12) ** 2
    best = release(dn.promise(points=list(range(12)), epsilon=0.7), loss, zipf / zipf.sum())
    joint = (zipf / zipf.sum())[:, None] * geometric(12, 0.7 * 11)
    assert best.value == pytest.approx((joint.T @ loss).min(axis=1).sum(), rel=1e-10)


# ---- the certificate


def random_promise(rng: np.random.Generator, k: int) -> Promise:
    budgets = rng.uniform(0.1, 3.0, (k, k))
    budgets[rng.random((k, k)) < 0.3] = np.inf
    np.fill_diagonal(budgets, 0.0)
    budgets[0, 1] = 1.0
    return dn.promise(budgets=budgets.tolist())


def random_channel(rng: np.random.Generator, p: Promise, outputs: int) -> np.ndarray:
    """A channel that keeps a promise: columns in its cone, and what is missing to 1 in a column that all send."""
    closed = p.closed.budgets
    while True:
        columns = (rng.random((p.k, 1, outputs)) * np.exp(-closed)[:, :, None]).max(axis=0) + 1e-300
        columns *= 0.3 / columns.sum(axis=1).max()
        rest = 1 - columns.sum(axis=1)
        with np.errstate(invalid="ignore"):
            apart = np.log(rest)[:, None] - np.log(rest)[None, :]
        if (apart <= closed).all():
            columns[:, 0] += rest
            return columns


@pytest.mark.parametrize("seed", range(12))
def test_no_channel_loses_less_and_every_pair_is_kept(seed: int) -> None:
    rng = np.random.default_rng(seed)
    k, outputs = int(rng.integers(2, 7)), int(rng.integers(2, 6))
    p, loss, prior = random_promise(rng, k), rng.random((k, outputs)), rng.dirichlet(np.ones(k))
    found = release(p, loss, prior)
    worst = release(p, loss, worst=True)
    assert found.value - found.bound < 1e-9
    assert worst.value - worst.bound < 1e-9
    made = np.array(found.rows, np.float64) / 2.0**64
    assert prior @ (made * loss[:, found.points]).sum(axis=1) == pytest.approx(found.value, rel=1e-12)
    for _ in range(5):
        other = (random_channel(rng, p, outputs) * loss).sum(axis=1)
        assert prior @ other >= found.bound
        assert other.max() >= worst.bound


def test_any_multipliers_give_a_bound_and_wrong_ones_a_lower_one() -> None:
    """The bound trusts no solver: with whatever multipliers it is below the optimum, and below it by what is wrong."""
    p, loss = dn.promise(points=list(range(6)), epsilon=0.5), line(6)
    prior = np.full(6, 1 / 6)
    budgets = p.closed.budgets
    best, arcs = least_loss(budgets, loss, prior), arcs_of(budgets)
    rng = np.random.default_rng(3)
    cost = prior[:, None] * loss
    for size in (0.0, 1e-3, 1.0):
        rows, sides = (
            rng.normal(0, size, 6),
            rng.exponential(size, (arcs.size, 6)) if size else np.zeros((arcs.size, 6)),
        )
        assert bound_of(arcs, cost, rows, sides) <= best.bound
    found: dict[str, Any] = {}
    whole = programme.bound_of

    def keep(arcs: Any, cost: Any, rows: Any, sides: Any) -> float:
        found.update(rows=rows, sides=sides)
        return whole(arcs, cost, rows, sides)

    programme.bound_of = keep
    try:
        least_loss(budgets, loss, prior)
    finally:
        programme.bound_of = whole
    rows = found["rows"].copy()
    rows[2] += 1e-3
    assert best.value - 1e-3 < bound_of(arcs, cost, rows, found["sides"]) <= best.value
    less = bound_of(arcs, cost, found["rows"], 0.99 * found["sides"])
    assert less < best.bound - 1e-4, "limits that are not counted in full prove less"


@pytest.mark.parametrize(
    ("name", "p"),
    [
        ("pairs", dn.promise(points=list(range(9)), epsilon=0.4)),
        ("hubs", dn.promise(epsilon=1.0, k=9)),
        ("hubs", dn.promise(item_epsilon=[1, 2, 3] * 3, rule="min")),
        ("hubs", dn.promise(item_epsilon=[1, 2, 3] * 3, rule="own")),
        ("hubs", dn.promise(blocks=[5, 5], inside=0.5, across=1.0)),
    ],
)
def test_few_inequalities_say_as_much_as_all_of_them(name: str, p: Promise) -> None:
    """Hubs and generating pairs: the same least loss as with an inequality for every pair, and fewer of them."""
    from scipy.optimize import linprog

    k, budgets = p.k, p.closed.budgets
    groups = [[x for x in range(k) if p.class_of(x) == a] for a in range(len(p.classes))]
    arcs = arcs_of(budgets, groups)
    assert arcs.form == name
    assert arcs.size < np.isfinite(budgets).sum() - k
    found = least_loss(budgets, line(k), np.full(k, 1 / k), groups=groups)
    rows = []
    for x, z in np.argwhere(np.isfinite(budgets) & ~np.eye(k, dtype=bool)).tolist():
        for y in range(k):
            row = np.zeros((k, k))
            row[x, y], row[z, y] = 1.0, -math.exp(budgets[x, z])
            rows.append(row.ravel())
    sums = np.kron(np.eye(k), np.ones(k))
    every = linprog(line(k).ravel() / k, A_ub=np.array(rows), b_ub=np.zeros(len(rows)), A_eq=sums, b_eq=np.ones(k))
    assert found.value == pytest.approx(every.fun, rel=1e-9)


def test_inequalities_that_are_added_when_broken_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    points = np.random.default_rng(5).random((14, 2))
    loss = np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=2))
    p = dn.promise(points=points.tolist(), epsilon=4.0)
    whole = release(p, loss)
    monkeypatch.setattr(programme, "_ROWS", 10)
    heard: list[str] = []
    parts = release(p, loss, progress=lambda step, number: heard.append(step))
    assert parts.solution.rounds > 1
    assert len(heard) == parts.solution.rounds + 1
    assert parts.value == pytest.approx(whole.value, rel=1e-10)
    assert parts.gap < 1e-10


@pytest.mark.parametrize("worst", [False, True])
def test_symmetry_changes_nothing_but_the_work(monkeypatch: pytest.MonkeyPatch, worst: bool) -> None:
    ring = [(i, (i + 1) % 9) for i in range(9)]
    around = np.minimum(line(9), 9 - line(9))
    cases = [(dn.promise(graph=ring, epsilon=0.8, k=9), around), (dn.promise(epsilon=1.0, k=9), line(9))]
    folded = [release(p, loss, worst=worst) for p, loss in cases]
    monkeypatch.setattr(programme, "folded", lambda arcs, outputs, problem: _FOLDED(arcs, outputs, None))
    for found, (p, loss) in zip(folded, cases, strict=True):
        assert found.value == pytest.approx(release(p, loss, worst=worst).value, rel=1e-10)
        assert found.gap < 1e-10


_FOLDED = programme.folded


# ---- edges and refusals


def test_values_that_nobody_may_tell_apart_are_one() -> None:
    p = dn.promise(budgets=[[0, 0, 1], [2, 0, 1], [1, 1, 0]])
    found = release(p, line(3))
    assert found.rows[0] == found.rows[1] != found.rows[2]
    worst = release(p, line(3), worst=True)
    each = (np.array(worst.rows, float) / 2.0**64 * line(3)[:, worst.points]).sum(axis=1)
    assert each.max() == pytest.approx(worst.bound, rel=1e-9)
    with pytest.raises(dn.ParameterError, match="nothing is left to tell"):
        release(dn.promise(epsilon=0, k=3), line(3))


def test_priors_with_zeros_two_values_and_parts_without_a_limit_are_fine() -> None:
    nobody = release(dn.promise(epsilon=1.0, k=3), line(3), np.array([0.5, 0.5, 0.0]))
    assert nobody.value == pytest.approx(1 / (1 + math.e), rel=1e-11), "as if there were only two values"
    one_sided = release(dn.promise(budgets=[[0, 1], ["inf", 0]]), 1 - np.eye(2))
    assert one_sided.value == pytest.approx(0.5 / math.e, rel=1e-11)
    blocks = release(dn.promise(blocks=[2, 3], inside=0.5, across="inf"), 1 - np.eye(5))
    q = math.exp(-0.5)
    assert blocks.value == pytest.approx((2 * q / (1 + q) + 3 * 2 * q / (1 + 2 * q)) / 5, rel=1e-9)
    told = release(dn.promise(budgets=[[0, "inf"], ["inf", 0]]), 1 - np.eye(2))
    assert (told.value, told.gap) == (0.0, 0.0)


@pytest.mark.parametrize("epsilon", [0.001, 0.01, 8.0, 30.0, 40.0])
def test_small_and_large_budgets(epsilon: float) -> None:
    found = release(dn.promise(epsilon=epsilon, k=4), 1 - np.eye(4))
    assert found.value == pytest.approx(3 / (math.exp(epsilon) + 3), rel=1e-8, abs=2e-12)
    assert found.blind < 1e-9


BAD: list[tuple[object, str]] = [
    ([[0, 1], [1, math.nan]], r"loss\[1\]\[1\]"),
    ([[0, -1], [1, 0]], r"loss\[0\]\[1\]"),
    ([[0, math.inf], [1, 0]], r"loss\[0\]\[1\]"),
    ([[0, 1, 2]], "a row for each of the 2 values"),
    ([0, 1], "a row for each of the 2 values"),
    ("absolute", "a row for each of the 2 values"),
    ([[0, 1], [1]], "a row for each of the 2 values"),
    ([[], []], "a row for each of the 2 values"),
]


@pytest.mark.parametrize(("loss", "part"), BAD)
def test_a_loss_that_is_none_is_refused_with_its_place(loss: object, part: str) -> None:
    with pytest.raises(dn.ParameterError, match=part):
        release(dn.promise(epsilon=1.0, k=2), loss)


def test_what_is_too_large_says_what_to_do_instead() -> None:
    with pytest.raises(EnumerationError, match="codebook"):
        release(dn.promise(epsilon=1.0, k=300), line(300))


def test_a_solver_that_fails_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programme, "_WAYS", ())
    with pytest.raises(dn.DeniableError, match="no solver found the optimum"):
        release(dn.promise(epsilon=1.0, k=3), line(3))


# ---- the mechanism


def test_a_design_is_read_without_solving_and_a_wrong_one_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    m = dn.mechanism("optimal", promise=dn.promise(points=[0, 1, 2, 3], epsilon=0.5), objective="release")
    design = json.loads(json.dumps(m.design))
    monkeypatch.setattr(programme, "_WAYS", ())
    read = dn.from_design(design)
    assert read == m
    assert read.properties() == m.properties()
    assert dn.audit(read).holds
    other = json.loads(json.dumps(design))
    other["params"]["loss"] *= 0.99
    with pytest.raises(dn.FormatError, match="does not agree with itself"):
        dn.from_design(other)
    claimed = json.loads(json.dumps(design))
    claimed["params"]["bound"] = 2 * m.properties()["loss"]
    with pytest.raises(dn.FormatError, match="does not agree with itself"):
        dn.from_design(claimed)
    moved = json.loads(json.dumps(design))
    moved["params"]["points"] = [9] * len(moved["params"]["points"])
    with pytest.raises(dn.DeniableError, match="points"):
        dn.from_design(moved)
    tight = json.loads(json.dumps(design))
    rows = tight["kernel"]["weights"]
    at = int(np.argmax([int(w) for w in rows[0]]))
    for y, by in ((at, 1 << 24), (1 - at if at < 2 else 0, -(1 << 24))):
        rows[0][y] = type(rows[0][y])(int(rows[0][y]) + by)
    with pytest.raises(dn.DeniableError):
        dn.from_design(tight)


PROVED: dict[str, dict[str, Any]] = {
    "a line": {"promise": dn.promise(points=[0, 1, 2, 3, 4], epsilon=0.7), "objective": "release"},
    "hubs": {"promise": dn.promise(epsilon=1.0, k=9), "objective": "release"},
    "harmless values, the worst one": {
        "promise": dn.promise(epsilon=1.0, k=7, sensitive=4),
        "objective": "release",
        "loss": "zero-one",
        "worst": True,
    },
    "small budgets": {"promise": dn.promise(epsilon=0.01, k=3), "objective": "release", "loss": "zero-one"},
    "smaller ones": {"promise": dn.promise(epsilon=0.0005, k=4), "objective": "release", "worst": True},
    "large ones": {"promise": dn.promise(epsilon=8.0, k=4), "objective": "release"},
    "values that are one": {
        "promise": dn.promise(budgets=[[0, 0, 1, 2], [0, 0, 1, 2], [1, 1, 0, "inf"], [2, 2, 0.5, 0]]),
        "objective": "release",
        "prior": (0.4, 0.3, 0.3, 0.0),
    },
    "values that are one, the worst one": {
        "promise": dn.promise(budgets=[[0, 0, 1], [0, 0, 1], [0.5, 0.5, 0]]),
        "objective": "release",
        "worst": True,
    },
}


@pytest.mark.parametrize("name", PROVED)
def test_readers_prove_the_bound_again_in_whole_numbers(name: str) -> None:
    m = dn.mechanism("optimal", **PROVED[name])
    assert m.multipliers is not None
    assert m.certificate["proved"]
    assert 0 <= m.certificate["gap"] < 1e-9
    design = json.loads(json.dumps(m.design))
    assert dn.from_design(design).certificate == m.certificate
    loss, closed = m.losses.matrix(), m.promise.closed.budgets
    prior = None if m.case else m.losses.weights(m.prior)
    rng = np.random.default_rng(5)
    rows = list(m.multipliers)
    for _ in range(40):  # whatever the rows are, they prove no more than the least loss
        at = int(rng.integers(len(rows)))
        x, z, y, much = rows[at]
        other = (x, z, y, max(0, much + int(rng.choice([-(2**40), 2**30, 2**45])))) if x != z else rows[at]
        found = proved([*rows[:at], other, *rows[at + 1 :]], loss, prior, closed)
        assert found <= m.certificate["value"]
    fewer = [row for row in rows if row[0] == row[1]]
    assert proved(fewer, loss, prior, closed) < m.certificate["bound"] * (1 - 1e-6)
    assert "budgets" in name or "ones" in name or m.certificate["gap"] < 1e-12
    claimed = json.loads(json.dumps(design))
    claimed["params"]["multipliers"] = [list(row) for row in fewer]
    with pytest.raises(dn.FormatError, match="its certificate proves"):
        dn.from_design(claimed)


@pytest.mark.parametrize(
    "row", [(0, 9, 0, 5), (0, 1, 9, 5), (0, 1, 0, -5), (0, 0, 1, 5), (0, 0, 2, 50), (0, 1, 0, 2**60), (2, 0, 0, 5)]
)
def test_rows_that_are_about_nothing_are_refused(row: tuple[int, int, int, int]) -> None:
    p = dn.promise(budgets=[[0, 1, 1], [1, 0, 1], ["inf", "inf", 0]])
    with pytest.raises(dn.FormatError, match="proves nothing"):
        proved([row], line(3), np.full(3, 1 / 3), p.closed.budgets)


def test_an_optimum_that_tells_nothing_is_told_and_not_made() -> None:
    with pytest.raises(dn.ParameterError, match="the same answer for everybody, number 1, has the least loss"):
        dn.mechanism("optimal", promise=dn.promise(epsilon=0.01, k=3), objective="release")


def test_a_design_without_a_proof_says_that_its_bound_is_only_stated() -> None:
    m = dn.mechanism("optimal", promise=dn.promise(points=[0, 1, 2, 3], epsilon=0.5), objective="release")
    design = json.loads(json.dumps(m.design))
    del design["params"]["multipliers"]
    read = dn.from_design(design)
    assert not read.certificate["proved"]
    assert read.certificate["bound"] == m.least


def test_losses_can_be_said_in_several_ways() -> None:
    p = dn.promise(epsilon=1.0, labels=["a", "b", "c"])
    values = [0.0, 1.0, 5.0]
    apart = np.abs(np.subtract.outer(values, values))
    one = dn.mechanism("optimal", promise=p, objective="release", values=values)
    two = dn.mechanism("optimal", promise=p, objective="release", loss=apart.tolist())
    three = dn.mechanism("optimal", promise=p, objective="release", loss="squared", values=values)
    four = dn.mechanism("optimal", promise=p, objective="release", loss=(apart**2).tolist())
    assert one.properties() == two.properties() != three.properties() == four.properties()
    assert one.domain.labels == ("a", "b", "c")
    near = dn.mechanism("optimal-release", promise={"points": [0, 1, 5], "epsilon": 0.2}, distances=apart.tolist())
    assert near.properties()["gap"] < 1e-11


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"loss": "cubed"}, "absolute, squared, zero-one"),
        ({"values": [1, 2]}, "3 finite numbers"),
        ({"values": ["x", "y", "z"]}, "values must be numbers"),
        ({"loss": [[0, 1], [1, 0]]}, "a row for each of the 3 values"),
        ({"prior": [0.5, 0.6, 0.1]}, "prior must sum to 1"),
        ({"worst": True, "prior": [0.5, 0.4, 0.1]}, "left out for the worst case"),
        ({"epsilon": 2.0}, "the largest budget of the promise"),
        ({"k": 4}, "as many as the domain has"),
    ],
)
def test_options_that_do_not_fit_are_refused(options: dict[str, Any], part: str) -> None:
    with pytest.raises(dn.ParameterError, match=part):
        dn.mechanism("optimal", promise=dn.promise(epsilon=1.0, k=3), objective="release", **options)


def test_losses_are_for_releases_only() -> None:
    with pytest.raises(dn.ParameterError, match="left out unless objective is release"):
        dn.mechanism("optimal", promise=dn.promise(epsilon=1.0, k=3), loss="squared")
