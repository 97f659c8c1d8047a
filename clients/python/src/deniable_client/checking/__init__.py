"""What anybody can check of a file that they were handed, with the standard library alone."""

from deniable_client.checking.changes import changes
from deniable_client.checking.places import verify_place, verify_places
from deniable_client.checking.verdict import Verdict, verify

__all__ = ["Verdict", "changes", "verify", "verify_place", "verify_places"]
