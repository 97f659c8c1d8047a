"""Protocols for key-value data: every step private, everybody asked once, the right keys found."""

from __future__ import annotations

import numpy as np
import pytest

import deniable as dn
from deniable.errors import ParameterError
from deniable.estimate.result import Estimate
from deniable.mechanisms.keyvalue.pairs import PairSets
from deniable.mechanisms.keyvalue.protocols import KsAdap, KsGrr, PairStep, SizeStep, choose_length


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
