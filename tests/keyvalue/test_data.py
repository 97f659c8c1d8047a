"""Real collections, where the data folder is there (DENIABLE_DATA): E-Commerce reviews and clothing rentals."""

from __future__ import annotations

import os
import time
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import deniable as dn
from deniable.mechanisms.keyvalue.base import KeyValue
from deniable.mechanisms.keyvalue.estimate import MeanPart, score, shrink_means
from deniable.mechanisms.keyvalue.protocols import KsAdap
from deniable.papers.kskv import paper as kskv
from deniable.papers.kskv.study import load_data
from deniable.papers.paper import Context

FOLDER = Path(os.environ.get("DENIABLE_DATA", "nowhere"))
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (FOLDER / "ecommerce.csv.gz").is_file(), reason="set DENIABLE_DATA to the data folder"),
]


def test_split_with_shrunk_means_beats_ks_ue_in_all_three_on_ecommerce() -> None:
    """Top 20, epsilon 2, 100 paired runs; each mean difference must be at least 3 standard errors on the good side."""
    data = load_data(Context(kskv.PAPER, data_dir=FOLDER), "E-Commerce")
    assert (len(data.pairs), data.k) == (23_486, 1206)
    truth = data.pairs.truth(data.k)
    designs = {
        "ks-ue": dn.mechanism("ks-ue", epsilon=2.0, k=1206),
        "kv-mix": dn.mechanism("kv-mix", epsilon=2.0, k=1206, mix=0.5),
        "kv-ss": dn.mechanism("kv-ss", epsilon=2.0, k=1206, mix=0.5),
    }
    found: dict[str, list[tuple[float, float, float]]] = {name: [] for name in designs}
    for rng in dn.simulation(2026).spawn(100):
        for (name, m), own in zip(designs.items(), rng.spawn(3), strict=True):
            assert isinstance(m, KeyValue)
            estimate = m.estimate(m.tally(m.privatize(data.pairs, rng=own)))
            used = estimate if name == "ks-ue" else shrink_means(estimate, 20)
            part = used.parts["mean"]
            assert isinstance(part, MeanPart)
            one = score(truth, used["frequency"].value, part.unit, 20)
            found[name].append((-one.ncr, one.mse_frequency_top, one.mse_mean_top))
    base = np.array(found.pop("ks-ue"))
    for name, values in found.items():
        less = base - np.array(values)
        z = less.mean(0) / (less.std(0, ddof=1) / 10)
        print(name, "NCR, MSE of frequency and mean:", np.array(values).mean(0), "KS-UE:", base.mean(0), "z:", z)
        assert (z > 3).all(), (name, z)


def test_one_run_of_ks_adap_on_clothing_is_quick_and_small() -> None:
    """105,508 people, 5,850 keys: under 10 seconds and 1 GB, loading the data apart."""
    data = load_data(Context(kskv.PAPER, data_dir=FOLDER), "Clothing")
    assert (len(data.pairs), data.k, data.pairs.keys.size) == (105_508, 5850, 192_198)
    protocol = KsAdap(epsilon=4.0, domain=dn.Domain.of(5850), top=20)
    tracemalloc.start()
    start = time.process_time()
    found, steps, _ = protocol.run(data.pairs, dn.simulation(1))
    seconds = time.process_time() - start
    memory = tracemalloc.get_traced_memory()[1] / 1e9
    tracemalloc.stop()
    print(f"{seconds:.1f} s, {memory:.2f} GB, length {steps[-1].mechanism.params['length']}")
    assert seconds < 10
    assert memory < 1
    truth, _ = data.pairs.truth(5850)
    best = {str(i) for i in np.argsort(-truth)[:20]}
    assert len(best & set(protocol.best(found))) >= 12
