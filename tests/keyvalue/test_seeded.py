"""Key-value reports with a public seed, and rounds with public guesses: the same laws in fewer bits, exact privacy."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

import deniable as dn
from deniable.core.channel import Channel
from deniable.errors import FormatError, ParameterError
from deniable.estimate.result import Estimate
from deniable.mechanisms.keyvalue.base import KeyValue
from deniable.mechanisms.keyvalue.laws import Signal, ratio_of
from deniable.mechanisms.keyvalue.rounds import PrivKvm, published_means
from deniable.mechanisms.keyvalue.signed import OneSampledKey
from deniable.testing import StreamWords
from deniable_client import Device
from deniable_client.exact import exp_bounds
from deniable_client.kernels import Interval, SignedHashing, SignedInterval, ToldKey
from deniable_client.kernels.keyvalue import GRID

ALPHA = 1e-6
"""False alarm rate of each statistical test below; seeds were fixed before the first run."""


def make(name: str, **given: Any) -> KeyValue:
    m = dn.mechanism(name, **given)
    assert isinstance(m, KeyValue)
    return m


# ---- cyclic encodings


def by_set(channel: Channel) -> dict[frozenset[int], tuple[Fraction, ...]]:
    """The law of the favoured signed keys, whatever else a report shows."""
    found: dict[frozenset[int], list[int]] = defaultdict(lambda: [0] * len(channel.weights[0]))
    for row in channel.weights:
        favoured = frozenset(x for x, w in enumerate(row) if w == max(row))
        found[favoured] = [a + b for a, b in zip(found[favoured], row, strict=True)]
    return {s: tuple(Fraction(w, channel.total) for w in row) for s, row in found.items()}


@pytest.mark.parametrize(
    ("name", "own"),
    [
        ("kv-ss2", {"k": 3}),
        ("kv-ss2", {"k": 3, "size": 3}),
        ("kv-ss", {"k": 4, "mix": 0.0, "size": 2}),
        ("kv-ss", {"k": 3, "mix": 0.0, "size": 1}),
    ],
)
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_cyclic_reports_have_exactly_the_law_of_sets(name: str, own: dict[str, Any], epsilon: float) -> None:
    bits, ring = (make(name, epsilon=epsilon, encoding=e, **own) for e in ("bits", "cyclic"))
    assert by_set(bits.channel()) == by_set(ring.channel())
    assert bits.properties()["variance"] == ring.properties()["variance"]
    assert ring.epsilon_exact == bits.epsilon_exact <= epsilon


@pytest.mark.parametrize("k", [100, 1206])
def test_cyclic_reports_are_short_and_estimated_alike(k: int) -> None:
    for name in ("kv-ss2", "kv-ss"):
        m = make(name, epsilon=2.0, k=k, encoding="cyclic")
        assert m.bulk.row_bytes <= 8 + 2 + (name == "kv-ss")
        assert m.properties()["bits"] == pytest.approx(64 + math.log2(2 * k), abs=1)
        bits = make(name, epsilon=2.0, k=k)
        assert (m.design["params"]["encoding"], "encoding" in bits.design["params"]) == ("cyclic", False)
        assert make(name, epsilon=2.0, k=k, encoding="interval") == m


def test_one_sign_hash_bit_is_not_the_permutation() -> None:
    """Over many seeds the sign of a key and its position are independent: chi-square with a known tail."""
    from scipy.stats import chi2

    from deniable_client.hashing import permute
    from deniable_client.kernels.keyvalue_seeded import sign_of

    table = np.zeros((5, 2))
    for seed in range(8000):
        table[permute(seed * 0x9E3779B97F4A7C15 % 2**64, 3, 5), sign_of(seed * 0x9E3779B97F4A7C15 % 2**64, 3)] += 1
    expected = 8000 / 10
    assert ((table - expected) ** 2 / expected).sum() < chi2.isf(ALPHA, 9)


# ---- local hashing


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 4.0])
def test_hashed_reports_have_the_errors_of_three_way_answers(epsilon: float) -> None:
    """At the chances of PCKV-UE (g = (e+3)/2) and of SOUE (g = (e+1)/2) the constants are the same; here for any g."""
    e = ratio_of(epsilon)
    for g in range(2, math.ceil(e) + 1):
        if g - 1 >= e:
            continue
        m = make("kv-lh", epsilon=epsilon, k=1000, g=g)
        s, r, a = (float(x) for x in _chances(float(e), g))
        assert m.ideal()[0].signal.limits()[0] == pytest.approx(a * (1 - a) / (s + r - a) ** 2, rel=1e-12)
        assert m.ideal()[0].signal.limits()[1] == pytest.approx(a / (s - r) ** 2, rel=1e-12)
        assert m.properties()["gap"] >= -1e-12


def _chances(e: float, g: int) -> tuple[float, float, float]:
    """The frontier of three-way answers at a = 1/g, written out from its own formula; s and r of the mechanism."""
    rho = min(max(2 * (g - 1) * (e - 1) / e - e + 2, 1.0), e)
    q = 1 / (e + rho + 2 * g - 2)
    return e * q, rho * q, 1 / g


def test_hashing_with_the_flip_of_one_has_the_constants_of_known_mechanisms() -> None:
    e = ratio_of(math.log(3.0))
    for g, shape in ((3, "pckv-ue"), (2, "soue")):
        from deniable.mechanisms.keyvalue.laws import SHAPES

        q = 1 / (e + 1 + 2 * g - 2)
        mine = Signal.of(e * q, q, Fraction(1, g)).limits()
        assert mine == pytest.approx(Signal.of(*SHAPES[shape](e)).limits(), rel=1e-12)


def test_range_is_the_best_for_the_interest() -> None:
    for interest in (0.0, 1.0, 3.0):
        cost = {}
        for g in range(2, 9):
            found = make("kv-lh", epsilon=2.0, k=500, g=g).properties()
            cost[g] = interest**2 * found["variance"] + found["variance_mean"]
        chosen = make("kv-lh", epsilon=2.0, k=500, interest=interest).params["g"]
        assert cost[chosen] == min(cost.values())
    with pytest.raises(ParameterError, match=r"g must be below e\^epsilon \+ 1"):
        make("kv-lh", epsilon=1.0, k=10, g=4)


@pytest.mark.stat
def test_without_the_public_sign_a_mean_would_be_biased() -> None:
    """Two keys, one with value 1, the other not held: its signs are even; by those of the bucket they are not."""
    m, n = make("kv-lh", epsilon=2.0, k=2, g=2), 60_000
    reports = m.privatize_items(np.zeros(n, np.int64), dn.simulation(3))
    cells = m.tally(reports).cells
    plus, minus = int(cells["plus"][0, 1]), int(cells["minus"][0, 1])
    assert 2 * min(binom.cdf(plus, plus + minus, 0.5), binom.sf(plus - 1, plus + minus, 0.5)) > ALPHA
    rows = reports.columns["report"]
    seeds, said = rows[:, :8].copy().view("<u8").reshape(n), rows[:, 8].astype(np.int64)
    from deniable.kernels.hashing import bucket

    own, other = (bucket(seeds.astype(np.uint64), np.full(n, key), 4) for key in (0, 1))
    same = (own >> 1 == other >> 1) & (said >> 1 == other >> 1)
    kept = int((said[same] == own[same]).sum())  # what would count as +1 without the key's own sign
    assert binom.sf(kept - 1, int(same.sum()), 0.5) < ALPHA


# ---- kernels


@pytest.mark.parametrize(
    ("kernel", "words"),
    [
        (lambda: SignedHashing(5, 1, 1 << 62, 1 << 61), "g must be"),
        (lambda: SignedHashing(5, 2, 1 << 63, 1 << 63), "below 2"),
        (lambda: SignedInterval(5, 6, 1 << 62), "size must be"),
        (lambda: ToldKey(3, 1 << 63, 1 << 62, (0, 1)), "one number for each"),
        (lambda: ToldKey(2, 1 << 63, 1 << 62, (0, GRID + 1)), "told must be"),
        (lambda: SignedHashing.calibrate(1.0, 5, 2, Fraction(3)), "turned must be from 1"),
    ],
)
def test_bad_kernels_are_refused(kernel: Any, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        kernel()


def test_a_device_refuses_a_hashing_that_leaks_more() -> None:
    m = make("kv-lh", epsilon=1.0, k=10)
    design = json.loads(json.dumps(m.design))
    assert len(Device(design).report([(3, 0.5)])) == m.bulk.row_bytes == 9
    design["kernel"]["base"]["own"] = str(int(design["kernel"]["base"]["own"]) + (1 << 40))
    with pytest.raises(dn.PrivacyError, match="no report was made"):
        Device(design)


@pytest.mark.parametrize("name", ["kv-ss2", "kv-ss"])
def test_numbers_beyond_the_ring_are_refused(name: str) -> None:
    m = make(name, epsilon=1.0, k=11, encoding="cyclic")
    reports = m.privatize_items(np.zeros(5, np.int64), dn.simulation(1))
    reports.columns["report"][:, -1] = 22
    with pytest.raises(FormatError, match="the largest possible is"):
        m.tally(reports)


# ---- rounds


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.3, 7.0])
@pytest.mark.parametrize("rounds", [1, 2, 3, 7])
def test_budgets_of_all_rounds_stay_within_the_whole(epsilon: float, rounds: int) -> None:
    protocol = PrivKvm(epsilon=epsilon, domain=dn.Domain.of(4), rounds=rounds)
    assert sum(map(Fraction, protocol.budgets)) <= Fraction(epsilon)
    assert sum(protocol.budgets) == pytest.approx(epsilon, rel=1e-14)
    tallies, spent = [], Fraction(1)
    step = protocol.first()
    data = protocol.pairs((np.arange(401), np.arange(400) % 4, np.linspace(-1, 1, 400)))
    for _ in range(rounds):
        assert not isinstance(step, Estimate)
        assert dn.audit(step.mechanism).holds
        ratio = step.mechanism.proof.ratio
        assert ratio is not None
        assert step.name == "round 1" or float(ratio) == pytest.approx(math.exp(step.mechanism.epsilon), rel=1e-9)
        spent *= ratio
        tallies.append(step.mechanism.tally(step.privatize(data, dn.simulation(1))))
        step = protocol.next(tallies)
    assert isinstance(step, Estimate)
    assert spent <= exp_bounds(epsilon)[0]


@pytest.mark.stat
def test_rounds_lose_the_bias_as_slowly_as_the_formula_says() -> None:
    """Means after 1 and 4 rounds against f p m/(f p + (1-f)(1-p)), then m' = f m + (1-f) m'; 5 standard errors."""
    n, f, m = 400_000, np.array([0.1, 0.3, 0.6]), np.array([0.8, -0.6, 0.2])
    keys = np.repeat(np.arange(3), (n * f).astype(int))
    errors = []
    for rounds in (1, 4):
        protocol = PrivKvm(epsilon=6.0, domain=dn.Domain.of(3), rounds=rounds)
        found, _, tallies = protocol.run(protocol.pairs((np.arange(n + 1), keys, m[keys])), dn.simulation(rounds))
        assert [t.n for t in tallies] == [n] * rounds, "everybody in every round"
        p = math.exp(3) / (1 + math.exp(3))
        expected = m * f * p / (f * p + (1 - f) * (1 - p))
        for _ in range(rounds - 1):
            expected = f * m + (1 - f) * expected
        spread = 5 * rounds / np.sqrt(n / 3 * 0.5 * f) / math.tanh(protocol.budgets[-1] / 4 if rounds > 1 else 0.75)
        assert (np.abs(found["mean"].value - expected) < np.minimum(spread, 0.15)).all()
        assert found.biased
        assert "biased" in found.steps[-1]
        errors.append(np.abs(expected - m))
        assert found["mean"].interval().covers(m).all(), "intervals of the first round are not biased"
    assert (errors[1] < errors[0]).all()
    assert errors[1][0] > 0.6 * errors[0][0], "a rare key keeps most of it"


@pytest.mark.stat
def test_bulk_and_device_answer_by_the_guess() -> None:
    told = (0, GRID // 4, GRID)
    m = OneSampledKey(epsilon=2.0, domain=dn.Domain.of(3), key_epsilon=0.5, told=told)
    law = m.channel().matrix()[0]
    n = 30_000
    bulk = m.privatize_items(np.zeros(n, np.int64), dn.simulation(8)).columns["report"][:, 0]
    words = StreamWords(dn.simulation(9))
    device = np.array([m.kernel.randomise(0, words)[0] for _ in range(6000)])
    for sent in (bulk, device):
        counts = np.bincount(sent, minlength=9)
        tails = np.minimum(binom.cdf(counts, sent.size, law), binom.sf(counts - 1, sent.size, law))
        assert 2 * 9 * tails.min() > ALPHA
    wrong = np.bincount(bulk, minlength=9)
    even = OneSampledKey(epsilon=2.0, domain=dn.Domain.of(3), key_epsilon=0.5).channel().matrix()[0]
    tails = np.minimum(binom.cdf(wrong, n, even), binom.sf(wrong - 1, n, even))
    assert 2 * 9 * tails.min() < ALPHA, "guesses make no difference"


def test_later_rounds_are_read_by_the_protocol_only() -> None:
    m = OneSampledKey(epsilon=1.0, domain=dn.Domain.of(3), key_epsilon=0.0, told=(0, 0, GRID))
    again = dn.from_design(json.loads(json.dumps(m.design)))
    assert again == m
    tally = m.tally(m.privatize_items(np.zeros(50, np.int64), dn.simulation(1)))
    with pytest.raises(ParameterError, match="privkvm"):
        m.estimate(tally)
    assert set(m.properties()) == {"bits", "bytes"}
    means = published_means(m, tally, np.zeros(3))
    assert (np.abs(means) <= 1).all()
    unheard = published_means(m, m.empty(), np.array([0.3, -0.2, 1.0]))
    assert unheard.tolist() == [0.3, -0.2, 1.0], "a key of which nobody spoke keeps the mean of before"
    for bad in ({"key_epsilon": 1.0}, {"key_epsilon": -0.1}, {"told": (1, 2)}):
        with pytest.raises(ParameterError):
            OneSampledKey(epsilon=1.0, domain=dn.Domain.of(3), **bad)
    for rounds in (0, 21, 1.5, True):
        with pytest.raises(ParameterError, match="rounds must be"):
            dn.protocol("privkvm", epsilon=1.0, k=3, rounds=rounds)


def test_interval_kernels_are_padded_like_subsets() -> None:
    for epsilon, k, length, size in ((1.0, 5, 2, 1), (2.0, 5, 3, 2), (1.0, 6, 2, 4)):
        bits = make("kv-ss2", epsilon=epsilon, k=k, length=length, size=size)
        ring = make("kv-ss2", epsilon=epsilon, k=k, length=length, size=size, encoding="cyclic")
        assert isinstance(ring.kernel.base, Interval)
        assert ring.kernel.ratio == bits.kernel.ratio
