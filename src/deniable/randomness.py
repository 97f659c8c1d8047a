"""The one door for randomness: a secure bulk stream by default, seeded streams for simulation only.

Every exact primitive takes the size of its random words as a parameter, so that tests can enumerate them all.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from deniable.core.types import UintArray
from deniable.errors import EntropyError, ParameterError, is_whole, require

__all__ = ["Replay", "Secure", "Simulation", "Stream", "bernoulli", "secure", "simulation", "stream_of"]

_TYPES: dict[int, Any] = {8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}
_ZEROS = memoryview(bytes(1 << 20))
"""What is enciphered, piece by piece. Shorter pieces would make threads wait for each other in between."""


class Stream(Protocol):
    """A source of uniform words."""

    simulated: bool
    """True marks everything drawn from here as simulated."""

    def draw(self, bits: int, size: int) -> UintArray:
        """`size` uniform unsigned integers of `bits` = 8, 16, 32 or 64 bits."""

    def spawn(self, count: int) -> Sequence[Stream]:
        """`count` streams of the same kind, independent of this one and of each other, e.g. one per block of work."""


class _Process:
    """The process that this is, told from its parent even where both have the same number."""

    def __init__(self) -> None:
        self.forks = 0
        self.lock = threading.Lock()

    def forked(self) -> None:
        """Called in a child before anything else: locks of threads that it does not have are of no use to it."""
        self.forks += 1
        self.lock = threading.Lock()

    @property
    def name(self) -> tuple[int, int]:
        """Number of forks, and the number of the process for children that were made behind Python's back."""
        return self.forks, os.getpid()


_PROCESS = _Process()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_PROCESS.forked)


class Secure:
    """AES-256 in counter mode, keyed from the operating system; a new key in every process.

    If the operating system has no entropy nothing is drawn (`EntropyError`). Threads may share a stream, and children
    that are forked while one of them draws start afresh.
    """

    simulated = False

    def __init__(self) -> None:
        self._rekey()

    def __repr__(self) -> str:
        return "<Secure: the operating system's randomness>"

    def __reduce__(self) -> tuple[type[Secure], tuple[()]]:
        """A copy, and what another process gets, is a new stream: no key is ever copied."""
        return Secure, ()

    def _rekey(self) -> None:
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

        try:
            key, start = os.urandom(32), os.urandom(16)
        except (OSError, NotImplementedError) as error:
            raise EntropyError("the operating system gave no randomness; nothing was drawn.") from error
        self._lock = threading.Lock()
        self._cipher = Cipher(algorithms.AES(key), modes.CTR(start)).encryptor()
        self._home = _PROCESS.name

    def draw(self, bits: int, size: int) -> UintArray:
        need = size * bits // 8
        out = np.empty(need + 16, np.uint8)
        view = memoryview(out.data)
        if self._home != _PROCESS.name:
            with _PROCESS.lock:
                if self._home != _PROCESS.name:
                    self._rekey()
        with self._lock:
            for start in range(0, need, len(_ZEROS)):
                part = min(len(_ZEROS), need - start)
                self._cipher.update_into(_ZEROS[:part], view[start : start + part + 16])
        return out[:need].view(_TYPES[bits])

    def spawn(self, count: int) -> list[Secure]:
        """See `Stream.spawn`: each with a key of its own."""
        return [Secure() for _ in range(count)]


class Simulation:
    """A seeded stream: reproducible, hence not private. It marks all that comes from it as simulated."""

    simulated = True

    def __init__(self, seed: int | np.random.SeedSequence) -> None:
        if not isinstance(seed, np.random.SeedSequence):
            require(is_whole(seed, 0), "seed", seed, "an integer >= 0")
            seed = np.random.SeedSequence(int(seed))
        self._sequence = seed
        self._bits = np.random.PCG64DXSM(seed)

    def __repr__(self) -> str:
        spawned = "".join(f".{number}" for number in self._sequence.spawn_key)
        return f"<Simulation, seed {self._sequence.entropy}{spawned}>"

    def draw(self, bits: int, size: int) -> UintArray:
        words = self._bits.random_raw((size * bits + 63) // 64).astype("<u8", copy=False)
        out: UintArray = words.view(_TYPES[bits])[:size]
        return out

    def spawn(self, count: int) -> list[Simulation]:
        """See `Stream.spawn`: seeded streams, e.g. one per run; each call gives further ones."""
        return [Simulation(child) for child in self._sequence.spawn(count)]

    def generator(self) -> np.random.Generator:
        """NumPy's generator on this stream, for drawing populations and counts in simulations."""
        return np.random.Generator(self._bits)


class Replay:
    """Words given beforehand, of one size: for exhaustive tests of the primitives only."""

    simulated = True

    def __init__(self, words: Any, bits: int) -> None:
        self.bits = bits
        self._words = np.asarray(words, _TYPES[bits])
        self.used = 0

    def draw(self, bits: int, size: int) -> UintArray:
        """See `Stream.draw`; `ParameterError` when the words are used up."""
        require(bits == self.bits, "bits", bits, f"{self.bits}, the size of the given words")
        if self.used + size > self._words.size:
            raise ParameterError("the given words are used up.")
        self.used += size
        return self._words[self.used - size : self.used]

    def spawn(self, count: int) -> list[Replay]:
        """Given words cannot be divided: `ParameterError`."""
        raise ParameterError("given words cannot be divided among streams.", "Replay them for fewer reports at once.")


def secure() -> Secure:
    """A new secure stream, keyed from the operating system."""
    return Secure()


def simulation(seed: int) -> Simulation:
    """A seeded stream, for simulation only: reports, tallies and results made from it say so.

    >>> bool((simulation(7).draw(64, 3) == simulation(7).draw(64, 3)).all())
    True
    """
    return Simulation(seed)


def stream_of(rng: Stream | None) -> Stream:
    """The stream to draw from: a new secure one unless another is given. Seeds and other generators are refused."""
    if rng is None:
        return secure()
    if all(hasattr(rng, name) for name in ("draw", "spawn", "simulated")):
        return rng
    whole = is_whole(rng, 0)
    raise ParameterError(
        f"rng must be left out, or be a stream of deniable, got {rng!r}.",
        "Left out, reports are drawn from the operating system's randomness, as those of real people must be; "
        f"rng=dn.simulation({rng if whole else 'seed'}) repeats a simulation, and marks all that comes from it.",
    )


def bernoulli(stream: Stream, threshold: int, size: int, *, bits: int = 64) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """True with probability exactly threshold / 2**bits, `size` times."""
    require(0 <= threshold <= 1 << bits, "threshold", threshold, f"from 0 to 2**{bits}")
    if threshold == 1 << bits:
        return np.ones(size, np.bool_)
    return np.asarray(stream.draw(bits, size) < _TYPES[bits](threshold))
