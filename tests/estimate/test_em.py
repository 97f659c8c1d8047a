"""EM itself: its step is that of the enumerated channel, it never goes downhill, and its certificate is true."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import deniable as dn
from deniable.core.channel import Channel
from deniable.core.types import Columns
from deniable.estimate.em import EMS_SLACK, Move, em_move, ems_move, smooth, squarem, uniform
from deniable.estimate.evidence import DenseEvidence, Evidence, PackedRows, RowEvidence, ValueEvidence
from deniable.mechanisms.base import Mechanism
from deniable.mechanisms.support import SupportMechanism
from deniable.testing.exact import enumerated

SMALL = [
    (name, dict(case))
    for name, row in dn.MECHANISMS.items()
    if issubclass(row.cls, SupportMechanism)
    for case in row.small
]


def made(name: str, **options: Any) -> SupportMechanism:
    m = dn.mechanism(name, **options)
    assert isinstance(m, SupportMechanism)
    return m


def reports_of(m: Mechanism, n: int, seed: int) -> dn.Reports:
    stream = dn.simulation(seed)
    weights = 0.5 ** np.arange(m.k)
    return m.privatize_items(stream.generator().choice(m.k, size=n, p=weights / weights.sum()), stream)


def evidence_of(m: Mechanism, reports: dn.Reports) -> Evidence:
    return (
        m.bulk.reader.tally_evidence(m.tally(reports).cells)
        if m.bulk.reader.sufficient
        else m.bulk.reader.evidence([reports.columns])
    )


def maximised(evidence: Evidence, tolerance: float, **options: Any) -> Any:
    return squarem(em_move(evidence), uniform(evidence.k), tolerance=tolerance, max_steps=20_000, **options)


# ---- the step


def brute_force(m: SupportMechanism, channel: Channel, columns: Columns, f: np.ndarray) -> Any:
    """One EM step and the log-likelihood from the channel's own weights, report by report."""
    assert channel.supported is not None
    weight = dict(zip(channel.supported, channel.weights, strict=True))
    bits = np.unpackbits(m.bulk.supported(columns), axis=1, count=m.k, bitorder="little")
    step, loglik = np.zeros(m.k), 0.0
    for row in bits:
        given_x = np.array([float(v / channel.total) for v in weight[frozenset(np.flatnonzero(row).tolist())]])
        step += f * given_x / (f @ given_x) / len(bits)
        loglik += np.log(f @ given_x)
    return step, loglik


@pytest.mark.parametrize(("name", "case"), SMALL, ids=str)
def test_step_is_that_of_the_enumerated_channel(name: str, case: dict[str, Any]) -> None:
    """For every family of the registry whose outputs can be listed; k = 2 and k that is no power of 2 among them."""
    m = made(name, **case)
    channel = enumerated(m)
    assert channel is not None
    reports = reports_of(m, 120, seed=5)
    evidence, points = evidence_of(m, reports), dn.simulation(6).generator().dirichlet(np.ones(m.k), size=2)
    found = [evidence.step(f) for f in points]
    wanted = [brute_force(m, channel, reports.columns, f) for f in points]
    for f, (g, _), (step, _) in zip(points, found, wanted, strict=True):
        np.testing.assert_allclose(f * g, step, rtol=1e-10)
    assert found[0][1] - found[1][1] == pytest.approx(wanted[0][1] - wanted[1][1], abs=1e-9)


def test_families_that_are_looked_at() -> None:
    looked_at = {name for name, _ in SMALL}
    assert {"grr", "ss", "ue", "sue", "oue", "lh", "blh", "olh", "the", "plh", "wheel", "hr", "pgr"} <= looked_at


@pytest.mark.parametrize("name", ["grr", "ss", "oue", "olh", "hr", "pgr", "wheel", "plh", "the"])
def test_step_is_that_of_the_written_out_likelihood(name: str) -> None:
    """Larger domains, packed over several bytes and blocks: the same sums from the dense matrix."""
    m = made(name, epsilon=1.3, k=37)
    reports = reports_of(m, 20_000, seed=8)
    dense = DenseEvidence(m.bulk.reader.likelihood(reports.columns), np.ones(len(reports)))
    f = dn.simulation(9).generator().dirichlet(np.ones(m.k))
    g, _ = evidence_of(m, reports).step(f)
    np.testing.assert_allclose(g, dense.step(f)[0], rtol=1e-11)
    assert f @ g == pytest.approx(1, abs=1e-12)


def test_value_counts_are_rows_of_one_item() -> None:
    counts = np.array([5, 0, 7, 1, 3])
    f = np.array([0.4, 0.1, 0.3, 0.0, 0.2])
    rows = PackedRows.of([np.array([[1], [2], [4], [8], [16]], np.uint8)], 5, counts)
    for one, two in zip(ValueEvidence(counts.astype(float), 3.0).step(f), RowEvidence(rows, 3.0).step(f), strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-13)


@given(
    hnp.arrays(np.bool_, st.tuples(st.integers(1, 40), st.integers(1, 21))),
    st.booleans(),
)
def test_packed_sums_are_plain_sums(bits: np.ndarray, weighted: bool) -> None:
    n, k = bits.shape
    times = np.arange(n) % 4 if weighted else np.ones(n, np.int64)
    rows = PackedRows.of([np.packbits(bits, axis=1, bitorder="little")], k, times if weighted else None)
    f, v = np.linspace(0.5, 1.5, k), 1.0 + np.arange(len(rows)) % 3
    unpacked = np.unpackbits(np.ascontiguousarray(rows.columns.T), axis=1, count=k, bitorder="little").astype(float)
    assert sorted(np.repeat(unpacked, rows.weights.astype(int), axis=0).tolist()) == sorted(
        np.repeat(bits.astype(float), times, axis=0).tolist()
    )
    np.testing.assert_allclose(rows.sums(rows.tables(f), slice(None)), unpacked @ f, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(rows.by_item(v), v @ unpacked, atol=1e-12)
    np.testing.assert_allclose(rows.by_pair(v), unpacked.T @ (v[:, None] * unpacked), atol=1e-12)
    assert rows.sizes().tolist() == unpacked.sum(axis=1).tolist()


def test_equal_reports_are_counted_together() -> None:
    m = made("ss", epsilon=1.0, k=6)
    reports = reports_of(m, 5000, seed=2)
    rows = m.bulk.reader.evidence([reports.columns]).rows  # type: ignore[attr-defined]
    assert len(rows) == 15  # all pairs of 6 items
    assert rows.weights.sum() == 5000


# ---- never downhill

FAMILIES = ("grr", "ss", "sue", "oue", "blh", "olh", "hr", "pgr", "wheel", "the")


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(FAMILIES),
    st.sampled_from([2, 3, 5, 7, 12]),
    st.floats(0.1, 6.0),
    st.integers(1, 300),
    st.integers(0, 2**32),
)
def test_log_likelihood_never_falls(name: str, k: int, epsilon: float, n: int, seed: int) -> None:
    m = made(name, epsilon=epsilon, k=k)
    evidence = evidence_of(m, reports_of(m, n, seed))
    climb = squarem(em_move(evidence), uniform(k), tolerance=0.02, max_steps=2000)
    assert np.diff(climb.path).min(initial=0.0) >= -1e-11 * (1 + np.abs(climb.path).max())
    assert climb.gain >= -1e-9
    assert climb.gap >= -1e-9
    assert climb.value.min() >= 0
    assert climb.value.sum() == pytest.approx(1, abs=1e-12)
    assert climb.met
    assert climb.gap <= 0.02


def skewed(seed: int = 1) -> Evidence:
    """Reports of people almost all of whom have one of few values: the maximum is at the edge."""
    m = made("oue", epsilon=0.5, k=30)
    return evidence_of(m, reports_of(m, 4000, seed))


def test_unguarded_jumps_would_fall() -> None:
    """The guard is needed: with slack, the same jumps lower the log-likelihood by much more than rounding does."""
    evidence = skewed()
    guarded, free = maximised(evidence, 0.02), maximised(evidence, 0.02, slack=np.inf)
    assert np.diff(guarded.path).min() >= 0
    assert np.diff(free.path).min() < -1e-4


def test_acceleration_pays() -> None:
    """Plain EM needs more than five times the passes over the reports."""
    evidence = skewed()
    f, move = uniform(evidence.k), em_move(evidence)
    fast = maximised(evidence, 0.02)
    for _ in range(5 * fast.steps):
        f = move(f).to
    assert move(f).gap > 0.02 >= fast.gap


def test_no_component_is_trapped() -> None:
    """From a start that all but rules out the most frequent value the same maximum is reached."""
    evidence = skewed()
    start = uniform(evidence.k)
    start[0] = 1e-9
    climb = squarem(em_move(evidence), start / start.sum(), tolerance=0.001, max_steps=5000)
    assert climb.met
    np.testing.assert_allclose(climb.value, maximised(evidence, 0.001).value, atol=2e-3)


# ---- certificate


@pytest.mark.parametrize("name", ["grr", "ss", "oue", "olh", "hr"])
def test_certificate_bounds_what_is_missing(name: str) -> None:
    """At random frequencies and on the way up, against the maximum found to 1e-9 nats."""
    m = made(name, epsilon=1.0, k=9)
    evidence = evidence_of(m, reports_of(m, 3000, seed=4))
    best = maximised(evidence, 1e-9)
    assert best.met
    top, move = em_move(evidence)(best.value).loglik, em_move(evidence)
    points = [*dn.simulation(3).generator().dirichlet(np.ones(9), size=20), uniform(9)]
    for _ in range(40):
        points.append(move(points[-1]).to)
    found = [move(f) for f in points]
    assert all(-1e-8 <= top - x.loglik <= x.gap + 1e-8 for x in found)
    for tolerance in (10.0, 1.0, 0.02):
        climb = maximised(evidence, tolerance)
        assert top - move(climb.value).loglik <= climb.gap <= tolerance


def test_half_the_certificate_would_be_no_bound() -> None:
    """It is not needlessly wide: for a single report from the uniform start the bound is met up to a factor of 2."""
    evidence = ValueEvidence(np.array([1.0, 0.0]), 1.2)
    start = em_move(evidence)(uniform(2))
    missing = em_move(evidence)(np.array([1.0, 0.0])).loglik - start.loglik
    assert start.gap / 2 < missing <= start.gap


# ---- smoothing, several simplices, progress


def test_smoothing_keeps_the_sum_and_smooths() -> None:
    f = np.array([0.1, 0.0, 0.7, 0.2])
    assert smooth(f).tolist() == pytest.approx([0.075, 0.2, 0.4, 0.325])
    assert smooth(np.full(5, 0.2)).tolist() == pytest.approx([0.2] * 5)
    assert smooth(np.array([0.9, 0.1])).tolist() == pytest.approx([0.7, 0.3])


def test_smoothed_iteration_ends_at_its_fixed_point() -> None:
    m = made("grr", epsilon=1.0, k=30)
    evidence = evidence_of(m, reports_of(m, 4000, seed=1))
    climb = squarem(ems_move(evidence), uniform(30), tolerance=1e-9, max_steps=20_000, slack=EMS_SLACK)
    f = uniform(30)
    for _ in range(20_000):
        f = ems_move(evidence)(f).to
    assert climb.met
    assert climb.steps < 2000
    np.testing.assert_allclose(climb.value, f, atol=1e-6)


def two_simplices(one: Evidence, two: Evidence) -> Callable[[np.ndarray], Move]:
    """Two independent problems as one: what personal privacy levels will need."""

    def move(theta: np.ndarray) -> Move:
        a, b = em_move(one)(theta[: one.k]), em_move(two)(theta[one.k :])
        to = np.concatenate([a.to, b.to])
        return Move(theta, to, a.merit + b.merit, a.gap + b.gap, a.loglik + b.loglik)

    return move


def test_several_simplices_are_climbed_together() -> None:
    one, two = skewed(1), ValueEvidence(np.array([30.0, 5.0, 1.0]), 4.0)
    start = np.concatenate([uniform(one.k), uniform(two.k)])
    climb = squarem(two_simplices(one, two), start, tolerance=0.01, max_steps=5000, blocks=[one.k, two.k])
    assert climb.met
    assert climb.value[: one.k].sum() == pytest.approx(1, abs=1e-12)
    assert climb.value[one.k :].sum() == pytest.approx(1, abs=1e-12)
    np.testing.assert_allclose(climb.value[one.k :], maximised(two, 0.01).value, atol=0.02)
    np.testing.assert_allclose(climb.value[: one.k], maximised(one, 0.01).value, atol=0.02)


def test_progress_hears_of_every_pass() -> None:
    heard: list[tuple[int, float]] = []
    climb = maximised(skewed(), 0.02, progress=lambda count, gap: heard.append((count, gap)))
    assert [count for count, _ in heard] == list(range(1, climb.steps + 1))
    assert heard[-1][1] == climb.gap


@pytest.mark.parametrize("limit", [1, 2, 3, 4, 5, 9])
def test_steps_are_limited(limit: int) -> None:
    climb = squarem(em_move(skewed()), uniform(30), tolerance=1e-6, max_steps=limit)
    assert climb.steps == limit
    assert not climb.met
