"""Promises: what is promised to whom, what follows from it, and the one place that decides whether it is kept."""

from deniable.core.promise.value import Promise

__all__ = ["Promise"]
