"""Protocols for key-value data: every step private, everybody asked once, the right keys found."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from itertools import product
from statistics import NormalDist

import numpy as np
import pytest

import deniable as dn
from deniable.errors import ParameterError
from deniable.estimate.result import Estimate
from deniable.mechanisms.keyvalue.estimate import FrequencyPart
from deniable.mechanisms.keyvalue.pairs import PairSets
from deniable.mechanisms.keyvalue.protocols import (
    KsAdap,
    KsGrr,
    PairStep,
    SizeStep,
    choose_length,
    printed_budget,
    printed_length,
)
from deniable.mechanisms.protocol import permutation
from deniable_client.grammar import read_design
from deniable_client.kernels.keyvalue import GRID


def people(n: int, k: int, most: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """People with 0 to `most` pairs (one for most = 1); key i has values near 0.9 - i/5, the first are frequent."""
    draw = np.random.default_rng(seed)
    sizes = np.ones(n, int) if most == 1 else draw.integers(0, most + 1, n)
    order = np.argsort(1.5 * np.log(np.arange(k) + 2.0) - draw.gumbel(size=(n, k)), axis=1)[:, :most]
    flat = order[np.arange(most) < sizes[:, None]]
    values = np.clip(0.9 - flat / 5 + draw.normal(0, 0.05, flat.size), -1, 1)
    return np.r_[0, np.cumsum(sizes)], flat, values


@pytest.mark.parametrize(("kind", "most"), [(KsGrr, 1), (KsAdap, 3)])
def test_frequent_keys_and_their_means_are_found(kind: type, most: int) -> None:
    protocol = kind(epsilon=4.0, domain=60, top=4)
    data = protocol.pairs(people(40_000, 60, most, 1))
    found, steps, tallies = protocol.run(data, dn.simulation(2))
    assert sum(t.n for t in tallies) == 40_000
    assert [t.n for t in tallies] == [round(40_000 * s) for s in protocol.shares]
    assert isinstance(found, Estimate)
    assert found.simulated
    truth, mean = data.truth(60)
    best = set(np.argsort(-truth)[:4].tolist())
    assert {int(label) for label in protocol.best(found)} == best
    for label in best:
        at = found.labels.index(str(label))
        assert found["mean"].value[at] == pytest.approx(mean[label], abs=0.15), "half of it if divided by P + Q"
    for step in steps:
        assert dn.audit(step.mechanism).holds
        assert step.mechanism.epsilon == 4.0


def test_steps_depend_on_tallies_only_and_come_in_order() -> None:
    protocol = KsAdap(epsilon=2.0, domain=30, top=3)
    data = protocol.pairs(people(4000, 30, 3, 3))
    _, steps, tallies = protocol.run(data, dn.simulation(4))
    assert [step.name for step in steps] == ["keys", "sizes", "pairs"]
    again = protocol.next(tallies[:1])
    assert isinstance(again, SizeStep)
    assert again == steps[1]
    last = protocol.next(tallies[:2])
    assert isinstance(last, PairStep)
    assert last.mechanism.design == steps[2].mechanism.design
    assert last.mechanism.params["length"] <= 5


@pytest.mark.parametrize("kind", [KsGrr, KsAdap])
def test_people_without_any_key_say_so(kind: type) -> None:
    """The last answer of the first question is theirs; the first key does not get them."""
    step = kind(epsilon=9.0, domain=6, top=2).first()
    nobody = PairSets(np.zeros(401, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int64))
    found = step.mechanism.estimate(step.mechanism.tally(step.privatize(nobody, dn.simulation(3)))).value
    assert found[-1] == pytest.approx(1, abs=0.05)
    assert np.abs(found[:-1]).max() < 0.05


def test_length_is_the_least_that_covers_enough() -> None:
    assert choose_length([0.5, 0.46, 0.02, 0.02, 0, 0]) == 1
    assert choose_length([0.5, 0.3, 0.1, 0.08, 0.01, 0.01]) == 3
    assert choose_length([1.2, -0.1, -0.1, 0, 0, 0]) == 1
    assert choose_length([0, 0, 0, 0, 0, 1.0]) == 5


def test_length_is_right_in_nearly_all_runs_at_the_size_of_a_real_collection() -> None:
    """10,550 people, nearly all with at most one candidate: the noise of the sizes does not make it large."""
    sizes = np.repeat([0, 1, 2, 3], [9000, 1450, 80, 20])
    m = dn.mechanism("grr", epsilon=2.0, k=6)
    lengths = [
        choose_length(m.estimate(m.tally(m.privatize_items(sizes, s))).value) for s in dn.simulation(5).spawn(40)
    ]
    assert np.median(lengths) == 1
    assert np.mean(lengths) < 2


def test_length_as_printed_takes_negative_shares_as_they_are() -> None:
    assert printed_length([0.5, 0.46, 0.02, 0.02, 0, 0]) == 1
    assert printed_length([0.5, 0.3, 0.1, 0.08, 0.01, 0.01]) == 3
    assert printed_length([0.9, 0.1, -0.2, 0.0, 0.2]) == 1
    assert printed_length([0.9, 0.01, -0.02, -0.02, 0.13]) == 4
    assert printed_length([1.1, -0.02, -0.08]) == 2
    assert printed_length([1.0, 0.0, 0.0]) == 1


# ---- as printed, and better than printed


@pytest.mark.parametrize("length", [1, 2, 5])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 6.0])
def test_last_step_as_printed_has_the_chances_of_equation_7(length: int, epsilon: float) -> None:
    """P and Q with e^epsilon itself, on 2t candidates and the dummies; what is spent is that or less."""
    spent = printed_budget(epsilon, length)
    m = dn.mechanism("pckv-grr", epsilon=spent, k=6, length=length)
    total = math.exp(epsilon) + 2 * (6 + length) - 1
    signal = m.groups[0].signal  # type: ignore[attr-defined]
    assert float(signal.gain) == pytest.approx((math.exp(epsilon) - 1) / total, rel=1e-12)
    assert float(signal.held) == pytest.approx((math.exp(epsilon) + 1) / total, rel=1e-12)
    assert dn.audit(m, epsilon=epsilon).holds
    assert (spent < epsilon) is (length > 1)


def test_means_as_printed_are_too_small_and_say_so() -> None:
    """The same answers, divided by P + Q: what people send and frequencies are those of the repaired form."""
    repaired, printed = (KsGrr(epsilon=1.0, domain=60, top=4, form=form) for form in ("repaired", "paper"))
    right, steps, tallies = repaired.run(repaired.pairs(people(40_000, 60, 1, 1)), dn.simulation(2))
    found = printed.next(tallies)
    assert isinstance(found, Estimate)
    again = printed.next(tallies[:1])
    assert isinstance(again, PairStep)
    assert again.mechanism.design == steps[1].mechanism.design
    assert np.array_equal(found["frequency"].value, right["frequency"].value)
    clear = np.abs(right["mean"].value) < 0.999
    assert clear.sum() >= 3
    shrunk = found["mean"].value[clear] / right["mean"].value[clear]
    assert shrunk == pytest.approx((math.e - 1) / (math.e + 1), rel=1e-9)
    assert (found.biased, right.biased) == (True, False)
    assert any("P + Q" in step for step in found.steps)


def test_steps_of_adap_as_printed() -> None:
    """All sizes are asked for, by hashing; the length may be any; the last step leaves part of the budget unused."""
    protocol = KsAdap(epsilon=1.0, domain=60, top=8, form="paper")
    data, lengths = protocol.pairs(people(1000, 60, 3, 1)), []
    for rng in dn.simulation(3).spawn(5):
        found, steps, tallies = protocol.run(data, rng)
        assert (steps[1].mechanism.name, steps[1].mechanism.k) == ("olh", 17)
        lengths.append(steps[2].mechanism.params["length"])
        assert lengths[-1] == printed_length(steps[1].mechanism.estimate(tallies[1]).value)
        assert steps[2].mechanism.epsilon == printed_budget(1.0, lengths[-1])
        assert found.biased
    assert max(lengths) > 5, "more than anybody has, by chance"
    with pytest.raises(ParameterError, match=r"form must be one of repaired, paper, got 'pooled'\. Its first step"):
        KsAdap(epsilon=1.0, domain=60, form="pooled")
    with pytest.raises(ParameterError, match="form must be one of repaired, pooled, paper, got 'null'"):
        dn.protocol("ks-grr", epsilon=1.0, k=60, form="null")


def test_pooled_frequencies_are_right_and_their_stated_error_is_that_of_many_runs() -> None:
    """Three keys that always become candidates: no bias, the stated error, about half of the variance.

    100 runs: alpha = 1e-4 in each of three tests of bias, with power 0.86 for half a standard error; the spread of 300
    errors has a standard error of 0.041.
    """
    keys = np.repeat(np.arange(30), np.r_[600, 500, 400, np.full(27, 50)])
    data = PairSets(np.arange(keys.size + 1), keys, np.where(keys % 2, 0, 1 << 32))
    protocol = KsGrr(epsilon=2.0, domain=30, top=4, form="pooled")  # type: ignore[arg-type]
    errors = []
    for rng in dn.simulation(11).spawn(100):
        found, _, _ = protocol.run(data, rng)
        at = [found.labels.index(label) for label in ("0", "1", "2")]
        part = found.parts["frequency"]
        errors.append(
            (part.value[at] - np.array([600, 500, 400]) / keys.size) / np.sqrt(part.variance("reporters")[at])
        )
    z = np.array(errors)
    assert np.abs(z.mean(axis=0)).max() * 10 < NormalDist().inv_cdf(1 - 0.5e-4)
    assert 0.85 < z.std() < 1.15
    assert (found.n, found.biased) == (keys.size, True)
    assert isinstance(part, FrequencyPart)
    assert part.later is not None
    first = 4 * math.exp(2) / (math.exp(2) - 1) ** 2 / (keys.size / 2)
    assert part.curve[0].max() < 1.03 / (1 / first + 1 / part.later.curve[0].max()), "the best weights for rare keys"
    other, _, _ = replace(protocol, form="repaired").run(data, dn.simulation(12))
    known = [other.labels.index(label) for label in ("0", "1", "2")]
    less = part.variance("population")[at] / other["frequency"].variance("population")[known]
    assert less.max() < 0.55


def test_intervals_hold_for_candidates_by_chance_too() -> None:
    """Two hundred keys alike: candidates come out too high, and their intervals hold all the same.

    40 runs of 8 keys at 95 %: below 91 % has a chance of 1e-3 if they hold. Those of all reports would not.
    """
    keys, truth = np.repeat(np.arange(200), 6), 1 / 200
    data = PairSets(np.arange(keys.size + 1), keys, np.full(keys.size, 1 << 31))
    protocol = KsGrr(epsilon=2.0, domain=200, top=4, form="pooled")  # type: ignore[arg-type]
    errors, covered, naive = [], [], []
    for rng in dn.simulation(13).spawn(40):
        part = protocol.run(data, rng)[0].parts["frequency"]
        assert isinstance(part, FrequencyPart)
        ends, bare = (one.interval(0.95, "population", False) for one in (part, replace(part, later=None)))
        errors.append(part.value - truth)
        covered.append((ends.low <= truth) & (ends.high >= truth))
        naive.append((bare.low <= truth) & (bare.high >= truth))
        assert ((ends.low <= part.value) & (part.value <= ends.high)).all()
    assert np.mean(errors) > 5 * truth
    assert np.mean(covered) > 0.91
    assert np.mean(naive) < 0.8


def test_a_run_goes_on_where_it_was_left() -> None:
    protocol = KsGrr(epsilon=2.0, domain=30, top=3)
    data = protocol.pairs(people(2000, 30, 1, 3))
    order = permutation(dn.simulation(1), 2000)
    whole, steps, tallies = protocol.go_on(data, order, (), dn.simulation(2))
    rest, left, both = protocol.go_on(data, order, tallies[:1], dn.simulation(3))
    assert ([s.name for s in steps], [s.name for s in left]) == (["keys", "pairs"], ["pairs"])
    assert (rest.labels, both[0]) == (whole.labels, tallies[0])
    assert both[1].n == tallies[1].n == 1000
    done, none, _ = protocol.go_on(data, order, tallies, dn.simulation(4))
    assert none == []
    assert np.array_equal(done["mean"].value, whole["mean"].value)


@pytest.mark.parametrize(("name", "form"), [("ks-grr", "pooled"), ("ks-grr", "paper"), ("ks-adap", "paper")])
@pytest.mark.parametrize("epsilon", [0.5, 3.0])
def test_every_form_is_private_and_devices_know_its_steps(name: str, form: str, epsilon: float) -> None:
    made = dn.protocol(name, epsilon=epsilon, k=30, top=3, form=form)
    found = dn.audit(made)
    assert found.holds
    assert not dn.audit(made, epsilon=0.8 * epsilon).holds
    for step in made.outline:
        design = step.mechanism.design
        assert read_design(design).kernel.ratio <= math.exp(epsilon) * (1 + 1e-9)
        assert "form" not in design["params"]


@pytest.mark.parametrize("name", ["ks-grr", "ks-adap"])
def test_registry_makes_protocols(name: str) -> None:
    made = dn.protocol(name, epsilon=1.0, labels=["a", "b", "c", "d"], top=2, range="1,5")
    assert (made.k, made.epsilon, made.first().mechanism.k) == (4, 1.0, 5)
    for bad in ({"top": 3}, {"top": 0}, {"range": "5,1"}, {"length": 2}):
        with pytest.raises(ParameterError):
            dn.protocol(name, epsilon=1.0, k=4, **bad)
    with pytest.raises(ParameterError, match="protocol must be one of"):
        dn.protocol("grr", epsilon=1.0, k=4)


def test_pairs_are_taken_apart_and_put_together() -> None:
    data = PairSets(np.array([0, 2, 2, 3]), np.array([4, 1, 4]), np.array([7, 8, 9]))
    part = data.take(np.array([2, 0]))
    assert (part.offsets.tolist(), part.keys.tolist(), part.values.tolist()) == ([0, 1, 3], [4, 4, 1], [9, 7, 8])
    places = np.array([-1, -1, -1, -1, 0])
    only = data.only(places)
    assert (only.offsets.tolist(), only.keys.tolist(), only.values.tolist()) == ([0, 1, 1, 2], [0, 0], [7, 9])


@pytest.mark.parametrize("name", ["ks-grr", "ks-adap", "privkvm", "collaborative"])
@pytest.mark.parametrize("epsilon", [0.5, 3.0])
def test_protocols_are_audited_over_all_their_steps(name: str, epsilon: float) -> None:
    own = {"top": 3} if name.startswith("ks") else {"sensitive": 4} if name == "collaborative" else {"rounds": 4}
    made = dn.protocol(name, epsilon=epsilon, k=30, **own)
    found = dn.audit(made)
    assert found.holds
    assert found.name == name
    ratios = [step.mechanism.proof.ratio for step in made.outline]
    assert len(ratios) == len(made.shares)
    spent = np.prod([float(r) for r in ratios]) if made.repeated else max(float(r) for r in ratios)
    assert float(found.proof.ratio) == pytest.approx(spent, rel=1e-12)
    assert not dn.audit(made, epsilon=epsilon * 0.8 if name != "privkvm" else epsilon * 0.6).holds
    assert all(step.name in found.proof.argument for step in made.outline)


@pytest.mark.parametrize("name", ["ks-grr", "ks-adap", "privkvm", "collaborative"])
def test_protocols_of_ten_million_answers_are_audited_without_a_run(name: str) -> None:
    """Nobody is made up for it: a run through this many answers takes gigabytes."""
    own = {"sensitive": 4} if name == "collaborative" else {}
    start = time.process_time()
    many = dn.audit(dn.protocol(name, epsilon=1.0, k=10**7, **own))
    assert time.process_time() - start < 5
    assert many.holds
    few = dn.audit(dn.protocol(name, epsilon=1.0, k=50, **own))
    assert float(many.proof.ratio) == pytest.approx(float(few.proof.ratio), rel=1e-15)


@pytest.mark.parametrize("form", ["repaired", "paper"])
def test_an_audit_knows_every_length_that_can_come_out(form: str) -> None:
    made = dn.protocol("ks-adap", epsilon=2.0, k=40, top=3, form=form)
    keys, sizes, pairs = made.outline
    lengths = [m.length for m in made.variants(pairs)[0]]
    assert lengths == list(range(1, sizes.mechanism.k))
    data = made.pairs(people(2000, 40, 4, 3))
    for seed in range(3):
        _, steps, _ = made.run(data, dn.simulation(seed))
        assert steps[-1].mechanism.length in lengths
        assert all(step.mechanism.proof.ratio <= made.proof.ratio for step in steps)
        assert [(s.name, s.share, s.mechanism.k) for s in steps] == [
            (s.name, s.share, s.mechanism.k) for s in made.outline
        ]
    worst = max(m.proof.ratio for m in made.variants(pairs)[0])
    assert made.proof.ratio == max(worst, keys.mechanism.proof.ratio, sizes.mechanism.proof.ratio)
    assert f"lengths from 1 to {lengths[-1]}" in made.proof.argument


@pytest.mark.parametrize("epsilon", [0.5, 3.0])
def test_an_audit_knows_the_worst_guess(epsilon: float) -> None:
    """Whatever was published before a round, the ratio of its question is at most the audited one, which is reached."""
    made = dn.protocol("privkvm", epsilon=epsilon, k=3, rounds=2)
    second = made.outline[1]
    (worst,), told = made.variants(second)
    assert told == "the worst of all guesses"
    for guesses in product((0, 1, GRID // 3, GRID), repeat=3):
        asked = replace(second.mechanism, told=guesses)
        assert dn.audit(asked).agrees
        assert asked.proof.ratio <= worst.proof.ratio
        assert asked.proof.ratio == worst.proof.ratio or not {0, GRID} & set(guesses)
    assert made.proof.ratio == made.outline[0].mechanism.proof.ratio * worst.proof.ratio
