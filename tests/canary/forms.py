"""Canaries: secrets of every kind, in all the forms in which they may turn up."""

from __future__ import annotations

import json
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import quote_plus

__all__ = ["forms", "found_in", "leaked"]

_ROTATIONS = 3
"""In base64, a text looks otherwise at each of three places."""


def forms(secret: bytes) -> set[bytes]:
    """A secret as it is, in base64 wherever it begins, in hexadecimal digits, in URLs, in JSON and in Python."""
    found = {secret, secret.hex().encode(), repr(secret)[2:-1].encode(), quote_plus(secret).encode()}
    found.add(json.dumps(secret.decode("latin-1"))[1:-1].encode())
    for shift in range(_ROTATIONS):
        for encode in (b64encode, urlsafe_b64encode):
            found.add(encode(bytes(shift) + secret)[4 if shift else 0 :].rstrip(b"=")[:-1])
    return {form for form in found if len(form) > 5}


def leaked(data: bytes, secrets: Iterable[bytes]) -> set[bytes]:
    """Which secrets are in some bytes, in any form."""
    return {secret for secret in secrets if any(form in data for form in forms(secret))}


def found_in(folder: Path, *wanted: bytes) -> set[bytes]:
    """Which of these are in any file below a folder, in any form."""
    data = b"\0".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())
    assert data
    return leaked(data, wanted)
