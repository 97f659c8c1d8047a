"""Tallies, estimates and reports on Spark: the same bytes as on one machine, from data frames, files and streams.

Needs the extra `spark` and Java 17 or newer; docs/howto/spark.md has the rest.
"""

from __future__ import annotations

from deniable.run.spark.files import count_files
from deniable.run.spark.frames import collected, estimate, tally
from deniable.run.spark.reports import privatize
from deniable.run.spark.session import start
from deniable.run.spark.stream import State, tally_stream

__all__ = ["State", "collected", "count_files", "estimate", "privatize", "start", "tally", "tally_stream"]
