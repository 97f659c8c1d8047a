"""Once through what needs other programs: a browser, Spark, PostgreSQL. The full tier has the rest of each.

About 25 seconds of processor time together; each is skipped with its reason where its program is missing.
"""

from __future__ import annotations

from hashlib import blake2b
from pathlib import Path

import pytest

import deniable as dn
from deniable.collect.parquet import write_table
from deniable.run.counting import head_of
from deniable.run.local import count_files
from pages.asks import Paged, mechanisms, task
from pages.browsing import Tab, answer, begin, browser, check, ready, send
from pages.recording import Running
from second.steps import STEPS, Place, do, reports_of, state_of
from service.databases import new_database, postgres_data
from spark.test_spark import java, spark_on


def test_a_question_is_answered_in_a_browser() -> None:
    """The page proves the promise, asks, draws the report and sends it; the collector counts one that is possible."""
    service = Paged()
    id = service.add(task(mechanisms()["choice"]))
    with browser() as chromium, Running(service) as site:
        tab = Tab(chromium.new_context(viewport={"width": 360, "height": 740}), f"{site.url}/t/{id}")
        ready(tab.page)
        assert tab.page.inner_text("#proof") == "Your device has checked this by itself."
        begin(tab.page)
        answer(tab.page)
        assert check(tab.page) == "sometimes"
        assert send(tab.page) == "Thank you. Your report was counted."
        tab.fine()
    (tally,) = service.store.tallies(id).values()
    assert tally.n == 1
    assert service.store.rejections(id) == {}


@pytest.mark.filterwarnings("ignore")  # of Spark's own
@pytest.mark.skipif(java() < 17, reason="needs Java 17 or newer: install a JRE, or set JAVA_HOME")
def test_spark_counts_as_one_machine_does(tmp_path: Path) -> None:
    """Two files of reports, whole and by rows: the same bytes; what is no report is named."""
    pytest.importorskip("pyarrow")
    from deniable.run import spark

    m = dn.mechanism("olh", epsilon=1.0, k=20)
    paths = []
    for layout in ("packed", "rows"):
        paths.append(str(tmp_path / f"{layout}.parquet"))
        reports = m.privatize(list(range(20)) * 10, rng=dn.simulation(len(paths)))
        write_table(paths[-1], head_of(m, id=f"{len(paths):032x}", simulated=True), [reports], layout=layout)
    session = spark_on("local[1]")
    try:
        found = spark.count_files(session, paths)
        local = count_files(paths)
        assert dn.dump(found.tally) == dn.dump(local.tally)
        assert found.tally.n == 400
    finally:
        session.stop()


def test_a_collector_on_postgresql_lives_as_on_sqlite(tmp_path: Path) -> None:
    """Every step of its life leaves the same; at the end no table has an id of a report that was erased."""
    pytest.importorskip("psycopg", reason="needs psycopg: pip install 'deniable[postgres]'")
    url = new_database("postgres", tmp_path)
    places = [Place(f"sqlite:///{tmp_path / 'c.db'}", "", tmp_path / "one"), Place(url, "", tmp_path / "two")]
    ids = [blake2b(report.id, digest_size=16).digest() for window in range(3) for report in reports_of("two", window)]
    for place in places:
        place.folder.mkdir()
    for name, (now, _) in STEPS.items():
        states = []
        for place in places:
            with place.opened() as store:
                do(name, store, place)
                states.append(state_of(store, now))
        assert states[0] == states[1], name
        if name == "third window":
            held = tables(url)
            assert any(id in held for id in ids), "what is kept would be found"
    left = tables(url)
    assert [id for id in ids if id in left] == []


def tables(url: str) -> bytes:
    """The files of a database's tables, without the server's log."""
    return b"\0".join(
        path.read_bytes() for path in postgres_data(url) if path.parent.name != "pg_wal" and path.is_file()
    )
