"""Who a collector is: the Ed25519 key that signs its tasks, so that no other collector can ask in its name."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

__all__ = ["SEED_BYTES", "Identity"]

SEED_BYTES = 32


@dataclass(frozen=True)
class Identity:
    """A key pair by its seed, which stays in the database: whoever has it can ask in the collector's name."""

    seed: bytes

    def __repr__(self) -> str:
        return f"Identity(key={self.key!r})"

    @cached_property
    def _private(self) -> Ed25519PrivateKey:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        return Ed25519PrivateKey.from_private_bytes(self.seed)

    @cached_property
    def key(self) -> str:
        """The public key, in hexadecimal digits, as tasks have it."""
        return self._private.public_key().public_bytes_raw().hex()

    def sign(self, message: bytes) -> bytes:
        """The signature of a message: 64 bytes."""
        return self._private.sign(message)
