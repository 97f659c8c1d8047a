"""What a design costs beyond error and best guess: work for the server, and what forged reports can do.

The functions take a mechanism, or anything with its own parameters as attributes (`k`, `support`, `size`, `g`, ...),
which may be arrays: a whole family at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from deniable.core.frontier import mixture_information
from deniable.core.laws import epsilon_to
from deniable.core.support import Support
from deniable.mechanisms.entry import one_counter
from deniable_client.hashing import rounds
from deniable_client.kernels.geometry import points
from deniable_client.packing import bits_width

__all__ = [
    "HASH_WORK",
    "MOST",
    "ROUND_WORK",
    "WORK",
    "pull_by",
    "pull_mixture",
    "pull_noise",
]

# ---- work, in operations on machine words; the work of a release is shared by its n reports

HASH_WORK = 4
"""Operations of a hash value: multiply, add, shift, compare."""
ROUND_WORK = 10
"""Operations of a round of the keyed permutation."""


def work_bits(m: Any, n: float) -> Any:
    """One bit for each of the k answers, byte by byte."""
    return float(bits_width(m.k))


def work_numbers(m: Any, n: float) -> Any:
    """One number for each of the k answers."""
    return float(m.k)


def work_hashes(m: Any, n: float) -> Any:
    """One hash value for each of the k answers."""
    return float(HASH_WORK * m.k)


def work_set(m: Any, n: float) -> Any:
    """One permuted place for each answer in the set."""
    return m.size * float(ROUND_WORK * rounds(m.k))


def work_block(m: Any, n: float) -> Any:
    """One permuted place for each answer in the largest block."""
    return np.ceil(m.k / m.g) * ROUND_WORK * rounds(m.k)


def work_hadamard(m: Any, n: float) -> Any:
    """One counter per report, and a transform of K log2 K steps per release."""
    order = 1 << int(m.k).bit_length()
    return 1 + order * (order.bit_length() - 1) / n


def work_projective(m: Any, n: float) -> Any:
    """One counter per report; per release all pairs of answers and reported points, or a transform if that is less."""
    prime, t = m.prime, m.rank
    pairs = m.k * np.minimum(points_of(prime, t), n)
    return 1 + np.minimum(pairs, 2.0 * t * np.asarray(prime, np.float64) ** (t + 1)) / n


def work_affine(m: Any, n: float) -> Any:
    """One counter per report; per release two transforms of about 2q numbers for each class, and one back."""
    return 1 + (2 * m.m + 1) * 2.0 * m.q * math.log2(2 * m.q) / n


def points_of(prime: Any, t: Any) -> Any:
    """`points`, for arrays too."""
    return np.vectorize(points, otypes=[np.float64])(prime, t) if np.ndim(prime) else float(points(prime, t))


# ---- pull: what one forged report can add to n times the summed estimates of r targets that suit the forger best


def support_pull(support: Support[Any], held: Any, r: int) -> Any:
    """(s - r q)/(p - q), s the number of targets that the report supports [AdaptiveLDP Eq. 2]."""
    return (held - r * support.q) / support.gap


def most_one(m: Any) -> Any:
    """A report supports one answer."""
    return 1


def most_set(m: Any) -> Any:
    """A report supports `size` answers of the forger's choice."""
    return m.size


def most_block(m: Any) -> Any:
    """A report supports the answers of a block, all of them targets under a seed that is searched for long enough."""
    return np.ceil(m.k / m.g)


def most_all(m: Any) -> Any:
    """A report can support all targets: bits are free, and seeds can be searched."""
    return m.k


def most_projective(m: Any) -> Any:
    """A report supports the answers on a hyperplane."""
    return points_of(m.prime, np.asarray(m.rank) - 1)


def most_points(m: Any) -> Any:
    """A report supports the points of a block; targets that all are in one do exist."""
    return m.points


Most = Callable[[Any], Any]
MOST: Mapping[str, Most] = {
    "grr": most_one,
    "ss": most_set,
    "iss": most_set,
    "plh": most_block,
    "pgr": most_projective,
    "affine": most_points,
    **dict.fromkeys(("ue", "lh", "the", "wheel", "hr"), most_all),
}
"""How many answers of a forger's choice a report supports at most, by family."""
WORK: Mapping[str, Callable[[Any, float], Any]] = {
    "grr": one_counter,
    "iss": work_set,
    "plh": work_block,
    "she": work_numbers,
    "hr": work_hadamard,
    "pgr": work_projective,
    "affine": work_affine,
    **dict.fromkeys(("ss", "ue", "the", "ssmix"), work_bits),
    **dict.fromkeys(("lh", "wheel"), work_hashes),
}
"""Operations of the server per report, by family."""


def pull_by(family: str) -> Callable[[Any, int], Any]:
    """The pull of a family whose reports support answers."""
    most = MOST[family]
    return lambda m, r: support_pull(m.support, np.minimum(r, most(m)), r)


def pull_noise(m: Any, r: int) -> Any:
    """A report adds the largest number that fits to every target."""
    return r * m.reach / 2.0**m.grid


def pull_mixture(m: Any, r: int) -> Any:
    """A report of the size that suits the forger, weighted as the estimator weights it (docs/maths/mixture.md)."""
    w, v = epsilon_to(m.epsilon)
    sizes = (m.size, m.size + 1)
    sums = [
        m.k * (held + (r - held) * w) / (s + (m.k - s) * w) - r for s, held in ((s, np.minimum(r, s)) for s in sizes)
    ]
    most = np.where(np.asarray(m.share) > 0, np.maximum(*sums), sums[0])
    return most / mixture_information(w, v, m.k, m.size, m.share) + r / m.k
