"""What docs/threat-model.md promises and warns of."""

from __future__ import annotations

import io
import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

import deniable as dn
from deniable.collect.codec import ReportWriter
from deniable.core.channel import Channel
from deniable.mechanisms.frequency.grr import GRR
from deniable.mechanisms.support import SupportMechanism
from deniable_client import Device

NAMES = ("grr", "ss", "sue", "oue", "blh", "olh", "plh", "the", "she", "wheel", "hr", "pgr")
"""The plain frequency oracles, which need only k and epsilon."""


@pytest.mark.parametrize("keep", [1, 1 << 32, 1 << 62, (1 << 64) - 1])
def test_a_design_that_leaks_by_lying_is_refused_too(keep: int) -> None:
    """A yes/no design that nearly always reports the opposite of the truth tells as much as one that never lies."""
    design = dict(dn.mechanism("grr", epsilon=0.5, k=2).design)
    Device(design)
    design["kernel"] = {"kind": "response", "k": "2", "keep": str(keep)}
    with pytest.raises(dn.PrivacyError, match=r"promises epsilon 0\.5 but"):
        Device(design)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
def test_two_reports_cost_twice_and_no_less(epsilon: float) -> None:
    one = dn.mechanism("ss", epsilon=epsilon, k=4).channel()
    pairs = list(product(range(len(one.outputs)), repeat=2))
    weights = tuple(tuple(one.weights[a][x] * one.weights[b][x] for x in range(one.k)) for a, b in pairs)
    two = Channel(tuple(map(str, pairs)), weights, one.total**2)
    ratio = one.proof().ratio
    assert ratio is not None
    assert two.proof().ratio == ratio**2


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("k", [2, 16, 300])
@pytest.mark.parametrize("name", NAMES)
def test_best_guess_lies_between_blind_guessing_and_its_limit(name: str, k: int, epsilon: float) -> None:
    asr = float(dn.mechanism(name, epsilon=epsilon, k=k).properties()["asr"])
    limit = 1 / (1 + (k - 1) * math.exp(-epsilon))
    assert 1 / k <= asr * (1 + 1e-12)
    assert asr <= limit * (1 + 1e-9)


def test_rows_keep_the_order_of_their_values() -> None:
    """At epsilon 40 a report lies with a probability below 1e-15: the column is the list of values."""
    values = np.random.default_rng(1).integers(5, size=2000)
    reports = dn.mechanism("grr", epsilon=40.0, k=5).privatize(values)
    assert reports.columns["value"].tolist() == values.tolist()


@pytest.mark.parametrize("name", [n for n in NAMES if issubclass(dn.MECHANISMS[n].cls, SupportMechanism)])
def test_fake_reports_shift_an_estimate_by_what_the_table_says(name: str) -> None:
    """A hundredth of all reports is chosen to support item 0; the estimate moves towards (1-q)/(p-q) by a hundredth."""
    m = dn.mechanism(name, epsilon=1.0, k=16)
    assert isinstance(m, SupportMechanism)
    honest = m.tally(m.privatize(np.arange(9900) % 16, rng=dn.simulation(2)))
    drawn = m.privatize(np.zeros(4000, np.int64), rng=dn.simulation(3))
    chosen = np.flatnonzero(m.bulk.supported(drawn.columns)[:, 0] & 1)[:100]
    assert len(chosen) == 100
    fake = m.tally(replace(drawn, columns={field: column[chosen] for field, column in drawn.columns.items()}))
    before, after = m.estimate(honest).value[0], m.estimate(honest + fake).value[0]
    s = m.support_effective
    assert after == pytest.approx(0.99 * before + 0.01 * s.q_not / s.gap, rel=1e-12)


def test_simulated_reports_do_not_hide_in_a_file_that_is_not_marked() -> None:
    m = dn.mechanism("oue", epsilon=1.0, k=4)
    made_up, real = m.privatize([1, 2, 3], rng=dn.simulation(1)), m.privatize([1, 2, 3])
    with ReportWriter(io.BytesIO(), m.design, m.fields, simulated=False) as writer:
        writer.write(real)
        with pytest.raises(dn.MergeError, match="simulated"):
            writer.write(made_up)
    assert (made_up + real).simulated
    assert (m.tally(made_up) + m.tally(real)).simulated
    assert m.estimate(m.tally(real) + m.tally(made_up)).simulated
    assert not m.estimate(m.tally(real)).simulated


def test_the_same_bytes_again_are_not_a_second_report() -> None:
    """Resending costs nothing more: the bytes carry no fresh coins, and a device that is asked again draws anew."""
    device = Device(dn.mechanism("olh", epsilon=1.0, k=100).design)
    first = device.report(7)
    assert len({first, *(device.report(7) for _ in range(20))}) == 21


def test_a_mechanism_that_breaks_its_promise_draws_nothing() -> None:
    """Integers for epsilon 1 under the promise of 0.9."""

    class Careless(GRR):
        @property
        def kernel(self):  # type: ignore[no-untyped-def]
            return GRR(epsilon=1.0, domain=self.domain).kernel

    m = replace(Careless(epsilon=1.0, domain=4), epsilon=0.9)
    assert not dn.audit(m).holds
    with pytest.raises(dn.PrivacyError, match="no report was made"):
        m.privatize([0, 1])
