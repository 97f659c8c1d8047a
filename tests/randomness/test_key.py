"""Where the words of a secure stream come from: AES in counter mode, by keys that only the operating system knows."""

from __future__ import annotations

import os

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

import deniable as dn
from deniable.errors import EntropyError, ParameterError
from deniable.randomness import Replay, Secure, bernoulli, secure, simulation


class Entropy:
    """The operating system's generator, listened to."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.given: list[bytes] = []
        real = os.urandom

        def listen(size: int) -> bytes:
            self.given.append(real(size))
            return self.given[-1]

        monkeypatch.setattr(os, "urandom", listen)


def expected(key: bytes, start: bytes, size: int, skip: int = 0) -> bytes:
    cipher = Cipher(algorithms.AES(key), modes.CTR(start)).encryptor()
    return cipher.update(bytes(skip + size))[skip:]


def test_words_are_those_of_the_cipher_under_the_key_that_was_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    entropy = Entropy(monkeypatch)
    stream = secure()
    assert [len(part) for part in entropy.given] == [32, 16]
    key, start = entropy.given
    assert stream.draw(64, 100).tobytes() == expected(key, start, 800)
    assert stream.draw(8, 5).tobytes() == expected(key, start, 5, 800)
    assert stream.draw(32, 3).tobytes() == expected(key, start, 12, 805)
    assert len(entropy.given) == 2, "one key for one stream"


def test_long_draws_go_on_where_the_last_piece_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    entropy = Entropy(monkeypatch)
    words = secure().draw(64, 300_000)
    assert words.tobytes() == expected(*entropy.given, words.nbytes)


def test_every_stream_has_a_key_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    entropy = Entropy(monkeypatch)
    parent = secure()
    children = parent.spawn(3)
    assert len({entropy.given[i] for i in (0, 2, 4, 6)}) == 4
    for child, at in zip(children, (2, 4, 6), strict=True):
        assert child.draw(8, 16).tobytes() == expected(*entropy.given[at : at + 2], 16)
    assert not any(child.simulated for child in children)


def test_another_process_draws_a_key_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = secure()
    stream.draw(8, 3)
    entropy = Entropy(monkeypatch)
    stream.draw(8, 3)
    assert entropy.given == []
    monkeypatch.setattr(os, "getpid", lambda: -1)  # as after a fork
    assert stream.draw(8, 16).tobytes() == expected(*entropy.given, 16)
    stream.draw(8, 16)
    assert len(entropy.given) == 2, "one new key for the child, not one for each draw"


@pytest.mark.parametrize("error", [OSError("no entropy"), NotImplementedError("no source")])
def test_without_entropy_there_is_no_stream(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(size: int) -> bytes:
        raise error

    monkeypatch.setattr(os, "urandom", fail)
    with pytest.raises(EntropyError, match="nothing was drawn"):
        secure()


def test_reports_are_drawn_securely_unless_told_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each call draws a key; names of batches, which are shorter, do not count."""
    entropy = Entropy(monkeypatch)
    for name, values in (("grr", [1, 0]), ("oue", [1, 0]), ("olh", [1, 0])):
        entropy.given.clear()
        dn.mechanism(name, epsilon=1.0, k=3).privatize(values)
        assert 32 in map(len, entropy.given)
    pairs = dn.mechanism("kv-ss", epsilon=1.0, labels=["a", "b"])
    entropy.given.clear()
    pairs.privatize([(0, "a", 0.5)])
    assert 32 in map(len, entropy.given)


def test_seeded_children_differ_and_are_marked() -> None:
    stream = simulation(4)
    children = [*stream.spawn(2), *stream.spawn(2)]
    assert len({child.draw(64, 1).tobytes() for child in [stream, *children]}) == 5
    assert all(child.simulated for child in children)
    assert not Secure.simulated
    assert simulation(4).generator().integers(1 << 30) == simulation(4).generator().integers(1 << 30)


@pytest.mark.parametrize("bits", [8, 16])
def test_coins_for_every_word_and_some_thresholds(bits: int) -> None:
    words = np.arange(1 << bits)
    for threshold in (0, 1, 77, (1 << bits) - 1, 1 << bits):
        assert bernoulli(Replay(words, bits), threshold, words.size, bits=bits).sum() == threshold
    for wrong in (-1, (1 << bits) + 1):
        with pytest.raises(ParameterError, match="threshold must be from 0"):
            bernoulli(Replay(words, bits), wrong, 1, bits=bits)
