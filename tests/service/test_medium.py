"""Erasing holds on the medium: no file tells a single report or the order of arrival, a stated time after it came."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path

import pytest

from deniable.service.store import open_store
from service.databases import ENGINES, forgetful_postgres, new_database
from service.making import DAY
from service.recovery import END, Found, Trial, files_of


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> Iterator[str]:
    with ExitStack() as stack:
        if request.param == "postgres":
            new_database("postgres", Path())  # so that there is a server
            stack.enter_context(forgetful_postgres())
        yield request.param


def clean(found: Found, n: int, *, bodies: int = 0) -> bool:
    """Nothing but what is kept on purpose, in an order that chance would give too."""
    return found.tallies == found.reports == 0 and found.bodies == bodies and found.order < chance(n)


def chance(n: int) -> float:
    """Four standard deviations of the order of n ids that is drawn at random (Kendall's coefficient)."""
    return float(4 * (2 * (2 * n + 5) / (9 * n * (n - 1))) ** 0.5)


def analyzed(url: str) -> None:
    """The server takes samples of all tables, as it does by itself when they have grown."""
    import psycopg

    with psycopg.connect(url, autocommit=True) as link:
        link.execute("ANALYZE")


def stages(engine: str, folder: Path, n: int, *, bodies: bool) -> None:
    """Single reports through the life of a task: what can be found, after each stage."""
    (folder / "copies").mkdir()
    url = new_database(engine, folder)
    trial = Trial(open_store(url, settle_seconds=1e9), bodies=bodies)
    store, kept = trial.store, n if bodies else 0

    def look() -> Found:
        return trial.scan(list(files_of(engine, url, folder)))

    trial.send(n)
    before = look()  # without the defence the same scan recovers them
    assert before.reports >= n // 4
    assert before.order > chance(n)
    if engine == "postgres":
        analyzed(url)
    store.settle()
    assert clean(look(), n, bodies=kept)
    trial.send(2)
    assert look().reports >= 1
    n, kept = n + 2, kept + 2 * bodies
    store.purge(DAY)
    assert clean(look(), n, bodies=kept)
    store.seal(trial.task.id, 0)
    store.put_release(trial.task.id, 0, b"{}")
    store.settle()
    assert clean(look(), n, bodies=kept)
    store.backup(folder / "copies" / "copy")
    assert clean(trial.scan([folder / "copies" / "copy"]), n, bodies=kept)
    (folder / "copies" / "copy").unlink()
    store.set_state(trial.task.id, "closed")
    store.purge(END + timedelta(3))
    assert clean(look(), n)
    assert sum(tally.n for tally in store.tallies(trial.task.id).values()) == n
    assert store.check() == []
    store.close()
    assert clean(look(), n)


@pytest.mark.parametrize("bodies", [False, True])
def test_single_reports_cannot_be_recovered(engine: str, bodies: bool, tmp_path: Path) -> None:
    stages(engine, tmp_path, 30, bodies=bodies)


@pytest.mark.slow
def test_a_thousand_single_reports_cannot_be_recovered(engine: str, tmp_path: Path) -> None:
    stages(engine, tmp_path, 1000, bodies=True)
