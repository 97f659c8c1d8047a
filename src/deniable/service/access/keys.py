"""Who may do what: roles, and keys that are shown once and kept as hashes.

A key is 256 random bits, so its SHA-256 is as hard to undo as the key is to guess; a slow hash would add nothing.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
from base64 import urlsafe_b64encode
from collections.abc import Iterable
from datetime import date, timedelta
from enum import Enum

from deniable.errors import ParameterError, meant, require
from deniable.service.store.contract import Ending, KeyRow, Store

__all__ = ["KEY_ROLES", "Role", "holder", "is_valid", "new_key", "revoke", "rotate"]


class Role(Enum):
    """What a request may do; each includes those before it."""

    PUBLIC = 0
    ANALYST = 1
    ADMINISTRATOR = 2

    def includes(self, other: Role) -> bool:
        """Whether who has this role may do what the other one may."""
        return self.value >= other.value


KEY_ROLES = {"analyst": Role.ANALYST, "administrator": Role.ADMINISTRATOR}
"""Roles that have keys, by the names that the store has for them."""
_NAME = re.compile("[a-z0-9][a-z0-9-]{0,62}")
_ROTATED = re.compile(r"(.*)-([0-9]+)")


def new_key(
    store: Store, role: str, *, today: date, name: str | None = None, instead: Ending | None = None
) -> tuple[str, str]:
    """Make a key; its name, and the key itself, which nobody can show again. `instead`: a key that ends with it."""
    require(role in KEY_ROLES, "role", role, f"one of {', '.join(KEY_ROLES)}")
    taken = {key.name for key in list(store.keys())}
    if name is None:
        name = _free(role, taken)
    require(bool(_NAME.fullmatch(name)), "name", name, "small letters, digits and -, at most 63")
    require(name not in taken, "name", name, "a name that no other key has", "Revoked keys keep their names.")
    key = f"deniable-{role}-{urlsafe_b64encode(os.urandom(32)).rstrip(b'=').decode()}"
    store.put_key(KeyRow(name, role, _digest(key), today), instead=instead)
    return name, key


def _free(stem: str, taken: Iterable[str]) -> str:
    """The first of stem-1, stem-2, ... that is not taken."""
    number = 1
    while f"{stem}-{number}" in taken:
        number += 1
    return f"{stem}-{number}"


def rotate(store: Store, name: str, *, today: date, days: int) -> tuple[str, str, date]:
    """A new key of the same role; the old one still works for some days, so that nobody is locked out.

    Who signed in with the old one must sign in again. The new key's name, the new key, and the day on which the old
    one is void; with 0 days it is void at once.
    """
    old = _find(store, name)
    require(old.revoked is None, "name", name, "a key that is not revoked")
    require(0 <= days <= 366, "days", days, "a whole number from 0 to 366")
    stem = found[1] if (found := _ROTATED.fullmatch(name)) else name
    until = today + timedelta(days)
    free = _free(stem, {key.name for key in list(store.keys())})
    made = new_key(store, old.role, today=today, name=free, instead=Ending(name, until, later=days > 0))
    return *made, until


def revoke(store: Store, name: str, today: date) -> None:
    """Make a key void now, and end the sessions of who signed in with it."""
    _find(store, name)
    store.revoke_key(name, today)


def _find(store: Store, name: str) -> KeyRow:
    keys = {key.name: key for key in list(store.keys())}
    if name not in keys:
        hint = meant(name, keys) or "`deniable key list` shows them."
        raise ParameterError(f"name must be the name of a key, got {name!r}.", hint)
    return keys[name]


def holder(keys: Iterable[KeyRow], key: str, today: date) -> KeyRow | None:
    """Whose key this is, if it is valid. All keys are compared, each in constant time."""
    digest, found = _digest(key), None
    for row in keys:
        same = hmac.compare_digest(row.digest, digest)
        found = row if same and is_valid(row, today) else found
    return found


def is_valid(key: KeyRow, today: date) -> bool:
    """Whether a key is good today. One that was made void at once has no hash: no clock makes it valid again."""
    return bool(key.digest) and (key.revoked is None or today < key.revoked)


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()
