"""Signatures that every client must accept, and those that it must refuse, for `signatures.json`."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from deniable_client.signing import _BASE, _ORDER, _P, _add, _encode, _point, _times, verify

Case = dict[str, Any]

SEEDS = {
    "the first of RFC 8032": ("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60", b""),
    "the second of RFC 8032": ("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb", b"\x72"),
    "the third of RFC 8032": ("c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7", b"\xaf\x82"),
    "a hash": (
        "833fe62409237b9d62ec77587520911e9a759cec1d19755b7da901b96dca3d42",
        hashlib.sha512(b"abc").digest(),
    ),
    "a thousand bytes": ("07" * 32, bytes(i % 251 for i in range(1000))),
}
EIGHTH = bytes.fromhex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05")
"""A point of order 8."""


def key_of(seed: bytes) -> Ed25519PrivateKey:
    """A private key."""
    return Ed25519PrivateKey.from_private_bytes(seed)


def case(about: str, key: bytes, message: bytes, signature: bytes) -> Case:
    """One row."""
    return {"about": about, "key": key.hex(), "message": message.hex(), "signature": signature.hex()}


def good() -> Iterator[Case]:
    """Signatures that hold."""
    for about, (seed, message) in SEEDS.items():
        private = key_of(bytes.fromhex(seed))
        yield case(about, private.public_key().public_bytes_raw(), message, private.sign(message))
    scalar, public = own_key()
    neutral = _encode((0, 1, 1, 0))
    yield case("R is the neutral point", public, b"m", made(scalar, public, b"m", 0, neutral))
    mixed = shifted(public)
    number = next(i for i in range(999) if challenge(point_of(5), mixed, bytes([i])) % 8 == 0)
    signature = made(scalar, mixed, bytes([number]), 5, point_of(5))
    yield case("a key with a part of order 8 that cancels", mixed, bytes([number]), signature)


def bad() -> Iterator[Case]:
    """Signatures that do not hold, or that only lax readers accept."""
    private = key_of(b"\7" * 32)
    public, message = private.public_key().public_bytes_raw(), b"a message"
    plain = private.sign(message)
    s = int.from_bytes(plain[32:], "little")
    yield case("another message", public, b"a massage", plain)
    yield case("another key", key_of(b"\x08" * 32).public_key().public_bytes_raw(), message, plain)
    for bit in (0, 7, 100, 254, 255, 256, 300, 500, 511):
        changed = bytearray(plain)
        changed[bit // 8] ^= 1 << bit % 8
        yield case(f"bit {bit} is another", public, message, bytes(changed))
    yield case("S and the order", public, message, plain[:32] + (s + _ORDER).to_bytes(32, "little"))
    yield case("S is the order", public, message, plain[:32] + _ORDER.to_bytes(32, "little"))
    yield case("all zeros", public, message, bytes(64))
    yield case("all ones", public, message, b"\xff" * 64)
    yield case("a key that is not a point", (2).to_bytes(32, "little"), message, plain)
    yield from small_keys(message)
    yield from odd_points()


def small_keys(message: bytes) -> Iterator[Case]:
    """Keys of small order, with signatures for which the equation holds, and longer forms of points."""
    top = 1 << 255
    order_of_8 = int.from_bytes(EIGHTH, "little")
    for about, number in {
        "the neutral point": 1,
        "the neutral point, x = -0": 1 | top,
        "the neutral point, y = p + 1": _P + 1,
        "the point of order 2": _P - 1,
        "the point of order 2, x = -0": (_P - 1) | top,
        "a point of order 4": 0,
        "the other point of order 4": top,
        "a point of order 4, y = p": _P,
        "a point of order 8": order_of_8,
        "the second point of order 8": order_of_8 | top,
        "the third point of order 8": _P - order_of_8,
        "the fourth point of order 8": (_P - order_of_8) | top,
    }.items():
        key = number.to_bytes(32, "little")
        near = next(i for i in range(999) if challenge(point_of(1), key, message + bytes([i])) % 8 == 0)
        signature = point_of(1) + (1).to_bytes(32, "little")
        yield case(f"the key is {about}", key, message + bytes([near]), signature)


def odd_points() -> Iterator[Case]:
    """R in a longer form, and what holds with the cofactor only."""
    scalar, public = own_key()
    for about, number in (("y = p + 1", _P + 1), ("x = -0", 1 | 1 << 255)):
        encoded = number.to_bytes(32, "little")
        yield case(f"R is the neutral point, {about}", public, b"m", made(scalar, public, b"m", 0, encoded))
    yield case("R has a part of order 8", public, b"m", made(scalar, public, b"m", 5, shifted(point_of(5))))
    mixed = shifted(public)
    yield case("the key has a part of order 8", mixed, b"m", made(scalar, mixed, b"m", 5, point_of(5)))


def own_key() -> tuple[int, bytes]:
    """A scalar and its point."""
    scalar = int.from_bytes(hashlib.sha512(b"vectors").digest(), "little") % _ORDER
    return scalar, point_of(scalar)


def point_of(scalar: int) -> bytes:
    """A multiple of the base point."""
    return _encode(_times(scalar, _BASE))


def shifted(data: bytes) -> bytes:
    """A point and the one of order 8."""
    one, two = _point(data), _point(EIGHTH)
    assert one is not None
    assert two is not None
    return _encode(_add(one, two))


def challenge(r: bytes, key: bytes, message: bytes) -> int:
    """What a signature is made for."""
    return int.from_bytes(hashlib.sha512(r + key + message).digest(), "little") % _ORDER


def made(scalar: int, key: bytes, message: bytes, nonce: int, r: bytes) -> bytes:
    """A signature with a nonce of one's own, whose point is written as `r`."""
    return r + ((nonce + challenge(r, key, message) * scalar) % _ORDER).to_bytes(32, "little")


def signatures_vectors() -> Case:
    """Signatures of both kinds."""
    holds, fails = list(good()), list(bad())
    for rows, wanted in ((holds, True), (fails, False)):
        for row in rows:
            found = verify(*(bytes.fromhex(row[name]) for name in ("key", "signature", "message")))
            assert found is wanted, row["about"]
    return {"about": "Ed25519: key, message and signature in hexadecimal digits", "good": holds, "bad": fails}
