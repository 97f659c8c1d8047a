"""Spark sessions that find this package, hold bounded batches, and say what went wrong in our own words."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from deniable import errors
from deniable.errors import DeniableError, MissingExtraError, need_extra

__all__ = ["bounded", "calling", "parallelism", "start"]

BATCH_BYTES = 1 << 26
"""Bytes that Spark hands to Python at a time, at most."""
_BATCH = "spark.sql.execution.arrow.maxBytesPerBatch"
_RAISED = re.compile(r"^(?:deniable_client\.|deniable\.)errors\.(\w+): (.*)$", re.MULTILINE)


def start(master: str | None = None, **config: str) -> Any:
    """A session on `master` (a URL of Spark; all cores of this machine if left out), or the one that runs already.

    Executors on this machine use this very Python, and nothing listens to other machines, unless `config` says so.
    """
    sql = need_extra("pyspark.sql", "spark")
    if sql.SparkSession.getActiveSession() is None and not _has_java():
        raise MissingExtraError(
            "Spark needs Java 17 or newer, which is not installed.", "Install a JRE, or set JAVA_HOME."
        )
    master = master or "local[*]"
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    own = {"spark.ui.enabled": "false", "spark.sql.session.timeZone": "UTC"}
    if master.startswith("local"):
        own |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    builder = sql.SparkSession.builder.master(master).appName("deniable")
    for name, value in (own | config).items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def _has_java() -> bool:
    home = os.environ.get("JAVA_HOME", "")
    return bool(shutil.which("java") or (home and shutil.which("java", path=os.path.join(home, "bin"))))


def bounded(spark: Any) -> None:
    """Keep batches small enough for blocks of a megabyte, unless the session was told how large they may be."""
    known = spark.conf.get(_BATCH, None)
    if known is None or int(re.sub(r"\D", "", known) or 0) >= 2**31 - 1:
        spark.conf.set(_BATCH, str(BATCH_BYTES))


def parallelism(spark: Any) -> int:
    """How many tasks run at a time."""
    return int(spark.sparkContext.defaultParallelism)


@contextmanager
def calling() -> Iterator[None]:
    """Errors that executors raised become the same errors here."""
    pyspark = need_extra("pyspark.errors", "spark")
    try:
        yield
    except pyspark.PySparkException as error:
        found = _RAISED.findall(str(error))
        kind = getattr(errors, found[-1][0], None) if found else None
        if isinstance(kind, type) and issubclass(kind, DeniableError):
            raise kind(found[-1][1]) from error
        raise
