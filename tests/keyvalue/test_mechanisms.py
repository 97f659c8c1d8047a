"""Key-value mechanisms at work: samplers, devices, estimates, intervals, shrinkage, and what is refused."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

import deniable as dn
from deniable.collect.reports import Reports
from deniable.core.domain import Domain
from deniable.mechanisms.keyvalue.base import KeyValue
from deniable.mechanisms.keyvalue.estimate import (
    GroupCounts,
    MeanPart,
    clipped_mean,
    keyvalue_parts,
    score,
    shrink_means,
)
from deniable.mechanisms.keyvalue.laws import Signal, alone, variances
from deniable.mechanisms.keyvalue.pairs import PairSets, steps_of
from deniable.mechanisms.keyvalue.signed import SignedUnaryEncoding
from deniable.testing import StreamWords, check_closed_forms
from deniable_client import Device
from deniable_client.errors import FormatError, ParameterError, PrivacyError
from deniable_client.kernels import Pairs, Response
from deniable_client.kernels.keyvalue import GRID, response
from tiers import every

NAMES = ("kv-ss2", "kv-ss", "kv-mix", "kv-lh", "kv-olh", "ks-ue", "pckv-ue", "pckv-grr", "privkv")
PADDED = NAMES[:-1]
CYCLIC = ("kv-ss2 cyclic", "kv-ss cyclic")
ALPHA = 1e-6
"""False alarm rate of each statistical test below; seeds were fixed before the first run."""


def make(name: str, **given: Any) -> KeyValue:
    base, _, encoding = name.partition(" ")
    m = dn.mechanism(base, **given, **({"encoding": encoding} if encoding else {}))
    assert isinstance(m, KeyValue)
    return m


# ---- samplers


def pvalue(m: KeyValue, reports: Reports, x: int) -> float:
    """Of how often +1 and -1 were seen at each key, each binomial exactly, given signed key x (Bonferroni)."""
    cells, n = m.tally(reports).cells, len(reports)
    law = np.zeros((2, len(m.groups), m.k))
    minus, key = divmod(x, m.k)
    for g, group in enumerate(m.groups):
        s = group.signal
        own = [(s.held + s.gain) / 2, (s.held - s.gain) / 2] if s.gain else [s.held, 0]
        for side in range(2):
            idle = s.idle / 2 if s.gain else s.idle * (1 - side)
            law[side, g] = float(group.share * s.asked * idle)
            law[side, g, key] = float(group.share * s.asked * own[side ^ minus if s.gain else side])
    counts = np.stack([cells["plus"], cells["minus"]])
    tails = np.minimum(binom.cdf(counts, n, law), binom.sf(counts - 1, n, law))
    return float(min(1.0, 2 * tails.min() * tails.size))


@pytest.mark.stat
@pytest.mark.parametrize("name", [*NAMES, *CYCLIC])
def test_bulk_and_device_follow_the_law_and_another_input_is_seen(name: str) -> None:
    m = make(name, epsilon=2.0, k=5)
    for x in (0, 3, 7):
        reports = m.privatize_items(np.full(40_000, x), dn.simulation(11 + x))
        assert pvalue(m, reports, x) > ALPHA
        assert pvalue(m, reports, (x + 1) % 10) < ALPHA
        assert pvalue(m, reports, (x + 5) % 10) < ALPHA
    words = StreamWords(dn.simulation(5))
    rows = [m.kernel.randomise(3, words) for _ in range(4000)]
    assert pvalue(m, Reports.from_rows(m.design, m.fields, rows, simulated=True), 3) > ALPHA


@pytest.mark.stat
@pytest.mark.parametrize("name", PADDED)
def test_padding_draws_each_pair_with_its_chance(name: str) -> None:
    """Person types with 0, 1, 2 and 4 pairs: the chance of each signed key, from the law of the draw."""
    m = make(name, epsilon=1.0, k=6, length=2, range=(1, 5))
    for size, chance in ((0, 0.0), (1, 0.5), (2, 0.5), (4, 0.25)):
        n = 20_000
        keys, values = np.tile(np.arange(size), n), np.tile(np.full(size, 4.0), n)
        pairs = PairSets.of((np.arange(n + 1) * size, keys, values), m.domain, m.range)
        drawn = m.choose(pairs, dn.simulation(size))
        for key in range(size):
            for sign, share in ((0, 0.75), (m.total, 0.25)):
                seen = int((drawn == key + sign).sum())
                p = chance * share
                assert 2 * min(binom.cdf(seen, n, p), binom.sf(seen - 1, n, p)) > ALPHA / 20
        dummies = (drawn % m.total) >= m.k
        assert dummies.sum() == 0 if size >= 2 else abs(dummies.mean() - (1 - size * 0.5)) < 0.03


@pytest.mark.parametrize("name", [*NAMES, *CYCLIC])
def test_device_reports_pairs_and_tally_reads_them(name: str) -> None:
    labels = ["shoes", "coats", "hats"]
    given: dict[str, Any] = {} if name == "privkv" else {"length": 2}
    m = make(name, epsilon=1.0, labels=labels, range=(1, 5), **given)
    device = Device(json.loads(json.dumps(m.design)))
    row = device.report([("hats", 4)])
    assert len(row) == m.bulk.row_bytes
    for bad in ([("hats", 6)], [("hats", math.nan)], [("socks", 2)], "hats", [("hats", 2), ("hats", 3)]):
        with pytest.raises(ParameterError):
            device.report(bad)


@pytest.mark.parametrize("name", [*NAMES, *CYCLIC])
def test_design_comes_back(name: str) -> None:
    m = make(name, epsilon=1.5, k=12, range="0,10")
    again = dn.from_design(json.loads(json.dumps(m.design)))
    assert again == m
    assert again.params["range"] == [0.0, 10.0]


@pytest.mark.parametrize("name", [*NAMES, *CYCLIC])
def test_the_name_changes_nothing_that_is_sampled(name: str) -> None:
    m = make(name, epsilon=1.5, k=12)
    mine = replace(m, name="mine")
    assert (mine.kernel, mine.params, mine.ideal()) == (m.kernel, m.params, m.ideal())
    assert mine.design == m.design | {"mechanism": "mine"}


def test_the_shape_of_three_way_answers_is_a_parameter_of_its_own() -> None:
    for shape in ("ks-ue", "pckv-ue"):
        mine = SignedUnaryEncoding(epsilon=1.0, domain=Domain.of(4), shape=shape, name="mine")
        assert mine.kernel == make(shape, epsilon=1.0, k=4).kernel
        assert SignedUnaryEncoding(epsilon=1.0, domain=Domain.of(4), shape=shape).name == shape
        assert "shape" not in mine.params
    with pytest.raises(ParameterError, match="shape must be one of ks-ue"):
        SignedUnaryEncoding(epsilon=1.0, domain=Domain.of(4), shape="mine")


# ---- estimates


def people(seed: int, n: int = 60_000) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    draw = np.random.default_rng(seed)
    keys = draw.choice(8, size=n, p=np.array([20, 15, 10, 5, 2, 1, 1, 0]) / 54)
    means = np.array([4.5, 3.0, 2.0, 4.0, 3.0, 3.0, 1.5, 3.0])
    return np.arange(n + 1), keys, np.clip(means[keys] + draw.normal(0, 0.5, n), 1, 5)


@pytest.mark.stat
@pytest.mark.parametrize("name", [*NAMES, *CYCLIC])
def test_frequency_and_mean_are_found_and_intervals_cover(name: str) -> None:
    """40 runs, 95 % intervals of 8 keys: coverage of frequencies binomial(320, .95) down to ALPHA, means no less."""
    data = people(1, 6000)
    m = make(name, epsilon=3.0, k=8, range=(1, 5))
    f, unit = PairSets.of(data, m.domain, m.range).truth(8)
    mean = 3 + 2 * unit
    hits = np.zeros((2, 8))
    for rng in dn.simulation(77).spawn(40):
        found = m.estimate(m.tally(m.privatize(data, rng=rng)))
        hits[0] += found.interval(0.95).covers(f)
        hits[1] += found["mean"].interval(0.95).covers(mean)
    least = binom.ppf(ALPHA, 320, 0.94)
    assert hits[0].sum() >= least
    assert hits[1][f > 0].sum() >= binom.ppf(ALPHA, 280, 0.94)
    assert hits[0].sum() < 320, "intervals that always cover are too wide"


@pytest.mark.stat
@pytest.mark.parametrize("name", every(3, [*NAMES, *CYCLIC]))
def test_stated_variance_of_frequencies_is_that_of_many_runs(name: str) -> None:
    """Sums of squared standardised errors over 150 runs and 8 keys; chi-square, effective freedom at least 150."""
    data = people(2, 1500)
    m = make(name, epsilon=2.0, k=8)
    offsets, keys, values = data
    data = (offsets, keys, (values - 3) / 2)
    f, _ = PairSets.of(data, m.domain, m.range).truth(8)
    total = []
    for rng in dn.simulation(3).spawn(150):
        part = m.estimate(m.tally(m.privatize(data, rng=rng)))
        curve = part.parts["frequency"].curve
        total.append((part.value - f) ** 2 / (curve[0] + curve[1] * f + curve[2] * f * f))
    ratio = float(np.mean(total))
    assert abs(ratio - 1) < 5 * math.sqrt(2 / 150)
    assert abs(1.8 * ratio - 1) > 5 * math.sqrt(2 / 150), "no power"


def test_rare_keys_are_too_rare_to_say() -> None:
    data = people(3, 5000)
    m = make("kv-ss2", epsilon=1.0, k=8, range=(1, 5))
    found = m.estimate(m.tally(m.privatize(data, rng=dn.simulation(4))))
    part = found.parts["mean"]
    assert isinstance(part, MeanPart)
    rare, ends = part.too_rare(), found["mean"].interval()
    assert rare[7]
    assert not rare[0]
    assert (ends.low[rare] == 1.0).all()
    assert (ends.high[rare] == 5.0).all()
    assert ends.low[0] > 1.0
    assert ((found["mean"].value >= 1) & (found["mean"].value <= 5)).all()


def test_shrinking_is_labelled_and_helps_where_means_are_alike() -> None:
    draw = np.random.default_rng(5)
    keys = draw.choice(30, size=20_000, p=np.arange(30, 0, -1) / 465)
    values = np.clip(draw.normal(0.6, 0.3, keys.size), -1, 1)
    data = (np.arange(keys.size + 1), keys, values)
    m = make("kv-ss2", epsilon=1.0, k=30)
    truth = PairSets.of(data, m.domain, m.range).truth(30)
    plain, shrunk = [], []
    for rng in dn.simulation(6).spawn(10):
        found = m.estimate(m.tally(m.privatize(data, rng=rng)))
        better = shrink_means(found, 10)
        assert better.biased
        assert not found.biased
        assert "shrunk" in better.steps[-1]
        for out, e in ((plain, found), (shrunk, better)):
            out.append(score(truth, e.value, e["mean"].value, 10).mse_mean_top)
    assert np.mean(shrunk) < 0.6 * np.mean(plain)


def test_means_are_shrunk_towards_those_of_the_most_frequent_keys_only() -> None:
    """Where that is one key's it stays where it is, to the last digits; all others come nearer to the pooled mean."""
    m = make("kv-ss2", epsilon=2.0, k=4)
    rows = [(person, person % 10 // 4, (0.8, -0.5, -0.5)[person % 10 // 4]) for person in range(1000)]
    found = m.estimate(m.tally(m.privatize(rows, rng=dn.simulation(2))))
    part = found.parts["mean"]
    assert isinstance(part, MeanPart)
    own, first = part.unit, int(np.argmax(part.frequency))
    for top in (1, 2, 4):
        order = np.argsort(-part.frequency)[:top]
        centre = float(part.total[order].sum() / part.frequency[order].sum())
        made = shrink_means(found, top)["mean"].value
        assert (abs(made[first] - own[first]) < 1e-12) == (top == 1)
        clear = np.abs(own) < 1
        assert clear.sum() > 1
        assert np.abs(made - centre)[clear].max() <= np.abs(own - centre)[clear].max()


@pytest.mark.parametrize("name", ["ks-ue", "kv-ss2", "kv-mix", "kv-ss", "privkv"])
def test_the_error_for_given_people_is_that_of_their_frequencies(name: str) -> None:
    """People with one pair each: what two groups add by splitting them is nothing where all have the same key."""
    m = make(name, epsilon=1.0, k=3)
    for counts in ([8, 0, 0], [6, 2, 0], [4, 2, 2]):
        keys = np.repeat(np.arange(3), counts)
        people = PairSets(np.arange(9), keys, np.full(8, 1 << 31))
        want = [float(variances(m.groups, Fraction(count, 8))[0]) / 8 for count in counts]
        assert m.expected_error(people) == pytest.approx(want, rel=1e-9, abs=1e-15)


def test_values_are_rounded_to_the_nearest_step_of_their_range() -> None:
    values = np.array([1.0, 1.1, 2.3, 3.7, 4.9, 5.0])
    assert steps_of(values, (1.0, 5.0)).tolist() == [round(Fraction((v - 1) / 4) * GRID) for v in values.tolist()]


@pytest.mark.parametrize("name", ["kv-ss2", "kv-mix", "kv-ss", "pckv-grr", "kv-lh"])
def test_errors_for_several_pairs_each_are_those_of_the_channel(name: str) -> None:
    """One of two pairs is drawn: variances of frequencies and of means, by the list of all reports."""
    told = check_closed_forms(make(name, k=2, length=2, epsilon=1.0))
    assert "all moments of frequency (variances) and mean (variances)" in told


def test_a_rare_key_is_taken_for_that_of_one_person() -> None:
    """A frequency below one in n counts as that, one above 1 as 1; a mean stays in its range."""
    frequency, total = np.array([-0.2, 0.0, 0.0005, 0.002, 1.5]), np.array([0.0004, -0.0002, 0.0003, -0.001, 0.9])
    assert clipped_mean(frequency, total, 1000) == pytest.approx([0.4, -0.2, 0.3, -0.5, 0.9])
    assert clipped_mean(frequency, 10 * total, 1000).tolist() == [1, -1, 1, -1, 1]


def test_score_by_hand() -> None:
    f, m = np.array([0.4, 0.3, 0.2, 0.1]), np.array([0.5, 0.0, -0.5, 1.0])
    found = score((f, m), np.array([0.1, 0.5, 0.2, 0.3]), np.zeros(4), 2)
    assert (found.ncr, found.found) == (1 / 3, 1)
    assert found.mse_frequency == pytest.approx(0.04)
    assert found.mse_mean_top == pytest.approx(0.125)
    assert math.isnan(score((f, m), np.array([0.0, 0.0, 1.0, 1.0]), m, 2).mse_mean)


def test_tallies_of_halves_add_up_and_frames_are_read() -> None:
    m = make("kv-mix", epsilon=2.0, k=4, length=2, range=(0, 1))
    rows = [("ann", 0, 0.5), ("bob", 1, 1.0), ("ann", 2, 0.0)]
    columns = {"user": ["ann", "bob", "ann"], "key": [0, 1, 2], "value": [0.5, 1.0, 0.0]}
    triple = (np.array([0, 2, 3]), np.array([0, 2, 1]), np.array([0.5, 0.0, 1.0]))
    made = [PairSets.of(given, m.domain, m.range) for given in (rows, columns, triple)]
    for pairs in made:
        assert pairs.offsets.tolist() == [0, 2, 3]
        assert pairs.keys.tolist() == [0, 2, 1]
        assert pairs.values.tolist() == [GRID // 2, 0, GRID]
    reports = [m.privatize(given, rng=dn.simulation(1)) for given in (rows, columns, triple)]
    assert len({r.row(0) for r in reports}) == 1


# ---- refusals


BAD_PAIRS: dict[str, tuple[Any, str]] = {
    "above": (([0, 1], [0], [5.5]), "from 1 to 5"),
    "nan": (([0, 1], [0], [math.nan]), "outside or missing"),
    "text": (([0, 1], [0], ["high"]), "must be numbers"),
    "unknown key": (([0, 1], [9], [2.0]), "from 0 to 3"),
    "twice": (([0, 2], [1, 1], [2.0, 3.0]), "different keys"),
    "offsets": (([0, 5], [1], [2.0]), "offsets"),
    "one value": (3, "pairs must be"),
}


@pytest.mark.parametrize("what", BAD_PAIRS)
@pytest.mark.parametrize("name", NAMES)
def test_bad_pairs_are_refused(name: str, what: str) -> None:
    m = make(name, epsilon=1.0, k=4, range=(1, 5), **({} if name == "privkv" else {"length": 2}))
    given, words = BAD_PAIRS[what]
    with pytest.raises(ParameterError, match=words):
        m.privatize(given)


@pytest.mark.parametrize("name", NAMES)
def test_one_pair_means_one_pair(name: str) -> None:
    m = make(name, epsilon=1.0, k=4)
    for offsets, keys in (([0, 2], [0, 1]), ([0, 0, 1], [0])):
        with pytest.raises(ParameterError, match="exactly one pair"):
            m.privatize((offsets, keys, [0.0] * len(keys)))


@pytest.mark.parametrize("length", [0, -1, 5, 1.5, True, 10**15])
@pytest.mark.parametrize("name", PADDED)
def test_bad_lengths_are_refused(name: str, length: Any) -> None:
    with pytest.raises(ParameterError, match=r"length must be an integer from 1|size must be|k must be"):
        make(name, epsilon=1.0, k=4, length=length)


@pytest.mark.parametrize("given", ["5,1", "1", (1, math.inf), (2, 2), "a,b", 3])
def test_bad_ranges_are_refused(given: Any) -> None:
    with pytest.raises(ParameterError, match="range must be two"):
        make("kv-ss2", epsilon=1.0, k=4, range=given)


@pytest.mark.parametrize("mix", [-0.1, 1.0, math.nan, "half"])
def test_bad_shares_are_refused(mix: Any) -> None:
    with pytest.raises(ParameterError, match="mix must be"):
        make("kv-mix", epsilon=1.0, k=4, mix=mix)


def test_amplified_kernel_without_its_padding_is_refused() -> None:
    padded = Pairs(response(1.0, 5, 3), 5, 3)
    assert isinstance(padded.base, Response)
    assert float(padded.base.ratio) > math.e > float(padded.ratio) * (1 - 1e-12)
    for length in (0, 1, 2):
        with pytest.raises(ParameterError, match="dummy keys"):
            Pairs(padded.base, 5, length)
    alone = Pairs(padded.base, 8, 0)  # as if all of them were real keys: allowed, but its promise is another one
    design = dict(make("pckv-grr", epsilon=1.0, k=8).design)
    kernel = {
        "kind": "pairs",
        "keys": "8",
        "length": "0",
        "base": {"kind": "response", "k": "16", "keep": str(alone.base.keep)},
    }
    with pytest.raises(PrivacyError, match="promises epsilon 1"):
        Device(design | {"kernel": kernel})


@pytest.mark.parametrize("name", ["kv-ss", "ks-ue", "kv-ss2", "kv-lh", "kv-olh", "pckv-grr", "privkv", *CYCLIC])
def test_impossible_reports_are_refused(name: str) -> None:
    m = make(name, epsilon=1.0, k=11)
    reports = m.privatize_items(np.zeros(5, np.int64), dn.simulation(1))
    reports.columns["report"][:] = 255
    with pytest.raises(FormatError):
        m.tally(reports)


def test_commands_for_single_values_refuse_pairs() -> None:
    from deniable.run.local import privatize_file

    with pytest.raises(ParameterError, match="takes key-value pairs"):
        privatize_file(make("kv-ss2", epsilon=1.0, k=4), "nowhere.csv", "-", column="a")
    with pytest.raises(ParameterError, match="is a protocol"):
        dn.mechanism("ks-adap", epsilon=1.0, k=4)


def test_closed_forms_beyond_what_can_be_sampled() -> None:
    for name in NAMES:
        m = make(name, epsilon=60.0, k=Domain.of(10).k)
        assert m.refusal is not None
        assert 0 <= m.properties()["variance"] < 100


def test_what_is_told_by_chance_is_taken_off_by_how_often_it_was_asked() -> None:
    """Where it is left to chance how many reports speak of a key, those that did count, not those expected."""
    signal = Signal.of(Fraction(1, 2), Fraction(1, 4), Fraction(1, 4), asked=Fraction(1, 2))
    (group,) = alone(signal)
    given: Any = (np.array([100.0]), np.array([20]), np.array([10]))
    assert GroupCounts(group, *given, asked=np.array([80])).frequency == pytest.approx((30 - 80 / 4) / (100 * 0.5))
    assert GroupCounts(group, *given).frequency == pytest.approx((30 - 100 / 4) / (100 * 0.5))


def test_the_spread_of_a_mean_is_that_of_the_enumerated_reports() -> None:
    """All three answers of people who have the key with value 1, and of others: variance of total - m frequency."""
    s, r, a = Fraction(1, 2), Fraction(1, 8), Fraction(1, 4)
    (group,) = alone(Signal.of(s, r, a))
    n, f = 1000, 0.4
    step, gain = float(s + r - a), float(s - r)
    held = {1: float(s), -1: float(r), 0: float(1 - s - r)}
    idle = {1: float(a / 2), -1: float(a / 2), 0: float(1 - a)}
    square = sum(
        share * chance * (x / gain - (abs(x) - float(a)) / step) ** 2
        for share, law in ((f, held), (1 - f, idle))
        for x, chance in law.items()
    )
    seen, signed = n * (float(a) + f * step), n * f * gain
    counts: Any = (np.array([float(n)]), np.array([(seen + signed) / 2]), np.array([(seen - signed) / 2]))
    mean = keyvalue_parts([GroupCounts(group, *counts)], n, None, (-1.0, 1.0))["mean"]
    assert isinstance(mean, MeanPart)
    assert mean.value == pytest.approx([1.0])
    assert (mean.spread[0] + mean.spread[1]) * n == pytest.approx([square])
