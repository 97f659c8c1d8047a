"""Any LDP mechanism as a base: by name, made already, a stranger's, or a bare channel; and what cannot be one."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.core.channel import Channel
from deniable.mechanisms.frequency.grr import GRR
from deniable.mechanisms.utility.base import Utility
from deniable.mechanisms.utility.bases import BASES
from deniable.mechanisms.utility.mixture import UtilityMixture
from deniable.mechanisms.utility.options import MIXTURE
from deniable.randomness import simulation
from deniable.testing import StreamWords
from deniable_client import Device, explain
from deniable_client.exact import exp_bounds
from deniable_client.kernels import Response, UtilityBudgets, kernel_from, kernel_to
from deniable_client.kernels import Utility as Kernel
from deniable_client.kernels import UtilityMixture as MixtureKernel
from mechanisms.test_strangers import coin

WORD = 1 << 64
BUDGETS = (0.2, 1.0, 4.0)
SMALL: dict[str, dict[str, Any]] = {"wheel": {"arc": 0.25, "ring": 2}, "she": {"grid": 0, "reach": 1}, "lh": {"g": 2}}


def kept(m: Any) -> None:
    """Definition 3 over all outputs: within the ratio that devices compute, which is within e^epsilon."""
    found = m.channel().proof()
    assert found.ratio is not None
    assert found.ratio <= m.kernel.hidden_ratio <= exp_bounds(m.epsilon)[0]
    assert m.proof.ratio == found.ratio
    assert dn.audit(m).holds


def counted(m: Any) -> dn.Tally:
    """What a device sends is counted, and what is written down means the same mechanism."""
    assert dn.from_design(m.design) == m
    assert dn.from_design(m.design).design == m.design
    device, words = Device(m.design, harmless=explain(m.design).harmless), StreamWords(simulation(5))
    rows = [device.report(i % m.k, words) for i in range(40)]
    tally = m.tally(dn.Reports.from_rows(m.design, m.fields, rows, simulated=True))
    assert tally.n == 40
    loaded = dn.load(dn.dump(tally))
    assert isinstance(loaded, dn.Tally)
    return loaded


def unbiased(m: Utility) -> None:
    """The estimator that reads counts of all outputs, and its error, by the enumerated channel."""
    matrix = m.bulk.reduced
    assert np.allclose(matrix.sum(axis=1), 1)
    f = np.arange(1.0, m.k + 1) / (m.k * (m.k + 1) / 2)
    adds = np.linalg.pinv(matrix)
    assert np.allclose(matrix @ adds, np.eye(m.k), atol=1e-9)
    true = np.einsum("x,xo,oi,oj->ij", f, matrix, adds, adds) - np.diag(f)
    assert np.allclose(m.covariance(f), true, atol=1e-9 * np.abs(true).max())
    n = 200_000
    people = np.repeat(np.arange(m.k), np.round(f * n).astype(int))
    found = m.estimate(m.tally(m.privatize_items(people, simulation(3))))
    assert (np.abs(found.value - f) < 5 * found.stderr + 1e-4).all()


@pytest.mark.parametrize("epsilon", BUDGETS)
@pytest.mark.parametrize("base", [*BASES, MIXTURE])
def test_every_name_makes_a_private_mechanism(base: str, epsilon: float) -> None:
    s = 2 if base in ("wheel", "she", "alh", "olh") else 3
    m = dn.utility(base, s, epsilon=epsilon, k=s + 2, **SMALL.get(base, {}))
    if base not in ("olh", "alh") or epsilon < 2:
        kept(m)
    counted(m)
    if isinstance(m, Utility) and m.base is not None:
        assert (m.base.name, m.form) == (base, "null")


@pytest.mark.parametrize("epsilon", BUDGETS)
@pytest.mark.parametrize("name", ["brr", "codebook", "exponential", "geometric", "lsrr", "sw", "duchi"])
def test_finite_mechanisms_are_read_through_the_inverse_of_their_channel(name: str, epsilon: float) -> None:
    given: dict[str, Any] = {"interval": "0,1"} if name in ("sw", "duchi") else {}
    m = dn.utility(dn.mechanism(name, epsilon=epsilon, points=4, **given), 4, k=6)
    assert isinstance(m, Utility)
    assert (m.epsilon, m.form, m.bulk.kernel.attach) == (epsilon, "glutf", 0)
    kept(m)
    tally = counted(m)
    if np.linalg.matrix_rank(m.bulk.reduced) < m.k:
        with pytest.raises(dn.ParameterError, match=r"has rank \d, below the 6 answers.*"):
            m.estimate(tally)
        assert m.fit(tally, stderr=None).value.sum() == pytest.approx(1)
        assert "mse" not in m.properties()
    else:
        assert math.isfinite(m.properties()["mse_sum"])
        if epsilon >= 1:
            unbiased(m)


def test_a_mixture_is_the_optimum_of_its_own() -> None:
    made = dn.mechanism("ssmix", epsilon=1.0, k=4, size=2, share=0.25)
    m = dn.utility(made, 4, k=6)
    assert isinstance(m, UtilityMixture)
    assert (m.size, m.share, m.epsilon) == (2, 0.25, 1.0)
    assert dn.utility("ssmix", 4, epsilon=1.0, k=6, size=2, share=0.25) == m
    with pytest.raises(dn.ParameterError, match=r"epsilon must be that of the base, 1\.0"):
        dn.utility(made, 4, k=6, epsilon=2.0)


@pytest.mark.parametrize("epsilon", BUDGETS)
def test_a_strangers_mechanism(epsilon: float) -> None:
    """A kernel without blind reports: as likely as a sensitive answer drawn at random, by support all the same."""
    m = dn.utility(replace(coin(), epsilon=epsilon), 2, k=4)
    assert isinstance(m, Utility)
    assert m.form == "glutf"
    kept(m)
    assert m.kernel.hidden_ratio == m.channel().proof().ratio
    people = np.repeat(np.arange(4), [10_000, 40_000, 20_000, 30_000])
    found = m.estimate(m.tally(m.privatize_items(people, simulation(4))))
    assert (np.abs(found.value - [0.1, 0.4, 0.2, 0.3]) < 5 * found.stderr).all()
    with pytest.raises(dn.FormatError, match="'coin' is unknown"):
        dn.from_design(m.design)


CHANNELS = [
    Channel(("no", "yes"), ((3, 1), (1, 3)), 4),
    Channel(("a", "b", "c"), ((5, 2, 1), (2, 4, 2), (1, 2, 5)), 8),
    Channel(("a", "b", "c", "d"), ((4, 2, 1), (1, 2, 2), (1, 1, 2), (1, 2, 2)), 7),
    Channel.from_matrix([[0.5, 0.3, 0.2], [0.3, 0.4, 0.3], [0.25, 0.25, 0.5]]),
]


@pytest.mark.parametrize("spare", [None, 0.5])
@pytest.mark.parametrize("channel", CHANNELS)
def test_a_bare_channel(channel: Channel, spare: float | None) -> None:
    exact = channel.proof().epsilon
    m = dn.utility(channel, channel.k, epsilon=None if spare is None else exact + spare, k=channel.k + 2)
    assert isinstance(m, Utility)
    assert m.base is not None
    kept(m)
    counted(m)
    unbiased(m)
    assert np.allclose(m.base.channel().matrix(), channel.matrix(), rtol=0, atol=1e-15)
    made = m.base.channel()
    peak = max(Fraction(made.k * max(row), sum(row)) for row in made.weights)
    own = m.bulk.kernel
    assert own.hidden_ratio == m.channel().proof().ratio
    more = replace(own, plain=own.plain + 1)
    assert peak / own.kept <= exp_bounds(m.epsilon)[0] < peak / more.kept
    assert more.hidden_ratio > exp_bounds(m.epsilon)[0]
    prior = np.arange(1.0, m.k + 1) / (m.k * (m.k + 1) / 2)
    exactly = float(m.channel().asr([Fraction(2 * (i + 1), m.k * (m.k + 1)) for i in range(m.k)]))
    assert m.guess(prior).success == pytest.approx(exactly, rel=1e-12)
    assert m.properties()["asr"] == pytest.approx(float(m.channel().asr()), rel=1e-12)


def test_whole_weights_are_kept_as_they_are() -> None:
    m = dn.utility(CHANNELS[1], 3, k=5)
    assert isinstance(m, Utility)
    assert m.base is not None
    assert m.base.kernel.weights[0] == (5 << 61, 2 << 61, 1 << 61)  # type: ignore[attr-defined]


# ---- what cannot be a base


@pytest.mark.parametrize(
    ("base", "given", "error", "told"),
    [
        (CHANNELS[0], {"sensitive": 3}, dn.ParameterError, "one for the 3 sensitive items"),
        (CHANNELS[0], {"sensitive": 2, "epsilon": 1.0}, dn.PrivacyError, "above epsilon 1.0"),
        (CHANNELS[0], {"sensitive": 2, "form": "null"}, dn.ParameterError, "form must be glutf"),
        (Channel(("a", "b"), ((1, 0), (0, 1)), 1), {"sensitive": 2}, dn.PrivacyError, "must not rule values out"),
        ("hr", {"sensitive": 3, "epsilon": 1.0, "form": "glutf"}, dn.ParameterError, "form must be null"),
        ("pgr", {"sensitive": 3, "epsilon": 1.0, "form": "glutf"}, dn.ParameterError, "form must be null"),
        ("brr", {"sensitive": 3, "epsilon": 1.0}, dn.ParameterError, "is made first and given itself"),
        ("ssmix", {"sensitive": 3, "epsilon": 1.0, "form": "glutf"}, dn.ParameterError, "form must be null"),
        (None, {"sensitive": 2, "epsilon": 1.0}, dn.ParameterError, "base must be a mechanism, a Channel, or the name"),
        (GRR, {"sensitive": 2, "epsilon": 1.0}, dn.ParameterError, "base must be a mechanism, a Channel, or"),
    ],
)
def test_refusals_name_the_reason(base: Any, given: dict[str, Any], error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told):
        dn.utility(base, k=6, **given)


@pytest.mark.parametrize(
    ("name", "given", "told"),
    [
        ("uss", {"sensitive": 1}, "must not disclose"),
        ("ussmix", {"sensitive": 2}, "must not disclose"),
        ("uue-levels", {"sensitive": 1, "item_epsilon": "1"}, "must not disclose"),
        ("pldp", {"levels": "0.5,1", "level_epsilon": 1.0}, "must not disclose"),
        ("pldp", {"levels": "1"}, "must not disclose"),
        ("kv-ss2", {}, "takes one of its values"),
        ("kv-ss", {"length": 1}, "takes one of its values"),
    ],
)
def test_a_base_that_discloses_or_takes_something_else_is_refused(name: str, given: dict[str, Any], told: str) -> None:
    with pytest.raises(dn.DeniableError, match=told):
        dn.utility(dn.mechanism(name, epsilon=1.0, k=3, **given), 3, k=5)


def test_devices_refuse_kernels_that_disclose_inside() -> None:
    """The ratio of the inner kernel leaves out what it discloses: value 2 would be sent as it is, half of the time."""
    clear = Kernel(3, (0, 2), (Response.calibrate(1.0, 2),), WORD // 2, 0, 1)
    budgets = UtilityBudgets(3, (0, 2), WORD // 2, (WORD // 4, WORD // 4), 0)
    for inner in (clear, budgets, MixtureKernel(clear, clear, 1)):
        with pytest.raises(dn.PrivacyError, match="a base must not disclose"):
            Kernel(5, (0, 3), (inner,), 0, 0, 0)
    whole = kernel_to(Kernel(5, (0, 3), (Response.calibrate(1.0, 3),), 0, 0, 0))
    with pytest.raises(dn.PrivacyError, match="a base must not disclose"):
        kernel_from({**whole, "base": [kernel_to(clear)]})


# ---- faults of before


def test_a_base_with_another_epsilon_or_other_labels_is_refused() -> None:
    made = dn.mechanism("ss", epsilon=1.0, k=3, size=1)
    with pytest.raises(dn.ParameterError, match=r"epsilon must be that of the base, 1\.0, got 3\.0"):
        dn.utility(made, 3, epsilon=3.0, k=6)
    assert dn.utility(made, 3, k=6).base == made  # type: ignore[union-attr]
    named = dn.mechanism("ss", epsilon=1.0, labels=["a", "b", "c"], size=1)
    for labels in (["x", "b", "c", "d"], ["b", "a", "c", "d"]):
        with pytest.raises(dn.ParameterError, match="labels of the base must be those of the sensitive answers"):
            dn.utility(named, labels[:3], labels=labels)
    m = dn.utility(named, ["a", "b", "c"], labels=["a", "b", "c", "d"])
    assert dn.from_design(m.design) == m


def test_a_name_does_not_decide_what_is_sampled() -> None:
    m = dn.mechanism("urap", epsilon=1.0, k=5, sensitive=3, form="glutf")
    assert isinstance(m, Utility)
    assert (m.form, m.params["form"]) == ("separate", "glutf")
    other = replace(m, name="utility")
    assert other.kernel == m.kernel
    assert other.guess([0.2] * 5) == m.guess([0.2] * 5)
    assert dn.from_design(m.design) == m
    assert dn.from_design(other.design) == other
    mapped = dn.mechanism("utility", epsilon=1.0, k=5, sensitive=3, base="sue", form="glutf")
    with pytest.raises(dn.ParameterError, match="form must be one of null, paper, separate"):
        replace(mapped, name="urap")
