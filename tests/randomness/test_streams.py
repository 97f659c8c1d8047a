"""Streams: secure ones never repeat each other, seeded ones always repeat themselves and say that they are seeded."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from scipy.stats import binomtest, chisquare

import deniable as dn
from deniable.errors import EntropyError, ParameterError
from deniable.randomness import Replay, Secure, Simulation, secure, simulation

FORKS = 250
FORKING = f"""
import os
from deniable.randomness import secure
stream = secure()
stream.draw(8, 100)  # the parent has used it already
prefixes = []
for _ in range({FORKS}):
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(write, stream.draw(8, 16).tobytes())
        os._exit(0)
    os.close(write)
    prefixes.append(os.read(read, 16))
    os.close(read)
    os.waitpid(child, 0)
prefixes.append(stream.draw(8, 16).tobytes())
assert all(len(p) == 16 for p in prefixes)
print(len(prefixes), len(set(prefixes)))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork; run the tests on Linux or macOS for it")
def test_children_of_a_process_that_share_a_stream_draw_different_words() -> None:
    found = subprocess.run([sys.executable, "-c", FORKING], capture_output=True, text=True, check=True)
    assert found.stdout.split() == [str(FORKS + 1)] * 2


def test_new_streams_differ() -> None:
    assert len({secure().draw(8, 16).tobytes() for _ in range(300)}) == 300


def test_spawned_streams_differ_from_each_other_and_from_their_parent() -> None:
    for parent in (secure(), simulation(5)):
        streams = [parent, *parent.spawn(50), *parent.spawn(50)]
        assert len({stream.draw(8, 16).tobytes() for stream in streams}) == 101
        assert {stream.simulated for stream in streams} == {parent.simulated}


def test_threads_that_share_a_stream_never_get_the_same_words() -> None:
    stream, found, lock = secure(), [], threading.Lock()

    def work() -> None:
        mine = [stream.draw(8, 16).tobytes() for _ in range(500)]
        with lock:
            found.extend(mine)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == len(set(found)) == 2000


def test_large_draws_do_not_repeat_themselves() -> None:
    """Across the pieces in which a long draw is made."""
    words = secure().draw(64, 300_000)
    assert np.unique(words).size == 300_000  # a collision has probability 2.4e-9


@pytest.mark.parametrize("error", [OSError("no entropy"), NotImplementedError("no source")])
def test_without_entropy_nothing_is_drawn_and_nothing_is_reported(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    m = dn.mechanism("oue", epsilon=1.0, k=4)

    def fail(size: int) -> bytes:
        raise error

    monkeypatch.setattr(os, "urandom", fail)
    with pytest.raises(EntropyError, match="nothing was drawn"):
        secure()
    with pytest.raises(EntropyError, match="nothing was drawn"):
        m.privatize([0, 1, 2])


def test_a_child_without_entropy_does_not_fall_back_on_its_parents_key(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = secure()

    def fail(size: int) -> bytes:
        raise OSError("no entropy")

    monkeypatch.setattr(os, "getpid", lambda: -1)  # as after a fork
    monkeypatch.setattr(os, "urandom", fail)
    with pytest.raises(EntropyError):
        stream.draw(64, 1)


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
@pytest.mark.parametrize("size", [0, 1, 3, 1000])
def test_draws_have_the_size_that_was_asked_for(bits: int, size: int) -> None:
    for stream in (secure(), simulation(1)):
        words = stream.draw(bits, size)
        assert words.shape == (size,)
        assert words.dtype == np.dtype(f"u{bits // 8}")


def test_seeded_streams_repeat_and_are_pinned() -> None:
    """The words of a seed never change: simulations can be repeated years later."""
    assert (simulation(7).draw(64, 100) == simulation(7).draw(64, 100)).all()
    assert (simulation(7).draw(64, 9) != simulation(8).draw(64, 9)).all()
    assert simulation(7).draw(64, 2).tolist() == PINNED[64]
    assert simulation(7).draw(8, 4).tolist() == PINNED[8]
    assert simulation(7).spawn(2)[1].draw(64, 1).tolist() == PINNED["second child"]


PINNED = {
    64: [1791289110853690569, 15195811958582366061],
    8: [201, 164, 117, 166],
    "second child": [8942849349292836368],
}


@pytest.mark.parametrize("seed", [-1, 1.5, True, "1", None])
def test_seeds_are_whole_numbers(seed: object) -> None:
    with pytest.raises(ParameterError, match="seed must be an integer >= 0, got"):
        simulation(seed)  # type: ignore[arg-type]


def test_only_secure_streams_are_not_marked() -> None:
    assert not Secure.simulated
    assert Simulation.simulated
    assert Replay.simulated
    m = dn.mechanism("grr", epsilon=1.0, k=3)
    assert m.privatize([1], rng=simulation(1)).simulated
    assert m.tally(m.privatize([1], rng=simulation(1))).simulated
    assert m.estimate(m.tally(m.privatize([1], rng=simulation(1)))).simulated
    assert not m.estimate(m.tally(m.privatize([1]))).simulated


def test_replayed_words_end_and_have_one_size() -> None:
    stream = Replay([1, 2, 3], 8)
    assert stream.draw(8, 2).tolist() == [1, 2]
    with pytest.raises(ParameterError, match="used up"):
        stream.draw(8, 2)
    with pytest.raises(ParameterError, match="bits must be 8"):
        stream.draw(16, 1)
    with pytest.raises(ParameterError, match="cannot be divided"):
        stream.spawn(2)


@pytest.mark.stat
@pytest.mark.parametrize("make", [secure, lambda: simulation(77)], ids=["secure", "seeded"])
def test_bytes_and_bits_of_a_stream_are_uniform(make: object) -> None:
    """Alpha 1e-6 for each of 65 tests; the secure stream is new each time, so a false alarm is once in 15 000 runs.

    Bits that are 1 with probability 0.505 would be rejected (n = 400 000 of each: 6.3 standard errors).
    """
    words = make().draw(64, 400_000)  # type: ignore[operator]
    counts = np.bincount(words.view(np.uint8), minlength=256)
    assert chisquare(counts).pvalue > 1e-6
    for bit in range(64):
        ones = int((words >> np.uint64(bit) & np.uint64(1)).sum())
        assert binomtest(ones, words.size).pvalue > 1e-6
    assert binomtest(round(0.505 * words.size), words.size).pvalue < 1e-6
