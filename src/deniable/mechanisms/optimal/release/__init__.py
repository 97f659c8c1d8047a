"""The best release under any promise: the channel of least expected loss, its bound, and its whole numbers."""

from deniable.mechanisms.optimal.release.solution import Release, release

__all__ = ["Release", "release"]
