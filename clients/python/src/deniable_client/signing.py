"""Whether a signature is one: Ed25519 (RFC 8032) in whole numbers, and no more than a device needs of it.

Stricter than some: points in their shortest form only, S below the order of the group, no keys of small order, and the
equation without the cofactor. So all clients say the same about every signature.
"""

from __future__ import annotations

import hashlib

__all__ = ["verify"]

_P = 2**255 - 19
"""The prime of the field."""
_ORDER = 2**252 + 27742317777372353535851937790883648493
"""Of the group that the base point makes."""
_D = -121665 * pow(121666, -1, _P) % _P
_ROOT = pow(2, (_P - 1) // 4, _P)
"""A square root of -1."""
_SIZE = 32

_Point = tuple[int, int, int, int]
"""Extended coordinates X, Y, Z, T: x = X/Z, y = Y/Z, xy = T/Z."""
_NEUTRAL: _Point = (0, 1, 1, 0)


def verify(key: bytes, signature: bytes, message: bytes) -> bool:
    """Whether this is the signature of a message under a public key; False for whatever is not well formed."""
    if len(key) != _SIZE or len(signature) != 2 * _SIZE:
        return False
    public, r, s = _point(key), signature[:_SIZE], int.from_bytes(signature[_SIZE:], "little")
    if public is None or s >= _ORDER or _encode(_times(8, public)) == _encode(_NEUTRAL):
        return False
    k = int.from_bytes(hashlib.sha512(r + key + message).digest(), "little") % _ORDER
    x, y, z, t = public
    return _encode(_add(_times(s, _BASE), _times(k, (-x % _P, y, z, -t % _P)))) == r


def _add(a: _Point, b: _Point) -> _Point:
    """The sum of two points; of a point with itself too."""
    one, two = (a[1] - a[0]) * (b[1] - b[0]) % _P, (a[1] + a[0]) * (b[1] + b[0]) % _P
    three, four = 2 * _D * a[3] * b[3] % _P, 2 * a[2] * b[2] % _P
    e, f, g, h = two - one, four - three, four + three, two + one
    return e * f % _P, g * h % _P, f * g % _P, e * h % _P


def _times(n: int, point: _Point) -> _Point:
    total = _NEUTRAL
    while n:
        if n & 1:
            total = _add(total, point)
        point, n = _add(point, point), n >> 1
    return total


def _encode(point: _Point) -> bytes:
    """The shortest form: y, and the lowest bit of x."""
    inverse = pow(point[2], -1, _P)
    x, y = point[0] * inverse % _P, point[1] * inverse % _P
    return (y | (x & 1) << 255).to_bytes(_SIZE, "little")


def _point(data: bytes) -> _Point | None:
    """The point of an encoding; None if there is none, or if there is a shorter form of it."""
    number = int.from_bytes(data, "little")
    sign, y = number >> 255, number & (1 << 255) - 1
    square = (y * y - 1) * pow(_D * y * y + 1, -1, _P) % _P
    x = pow(square, (_P + 3) // 8, _P)
    if x * x % _P != square:
        x = x * _ROOT % _P
    if y >= _P or x * x % _P != square or (x == 0 and sign):
        return None
    if x & 1 != sign:
        x = _P - x
    return x, y, 1, x * y % _P


_BASE: _Point = _point((4 * pow(5, -1, _P) % _P).to_bytes(_SIZE, "little")) or _NEUTRAL
