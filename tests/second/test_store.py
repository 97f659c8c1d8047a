"""The second time, of a collector: each step of its life fails at each moment, and is done again, here or elsewhere.

A step is a few dozen statements and files. Each of them fails once; or the process is dead from there on and another
one begins; or, before each transaction, another process does the same step. Whatever happened, once the step is done
all is as it would have been: nothing is lost or counted twice, nothing that is withheld leaves, and keys that are void
stay void. What that is, a model says that knows what was sent and nothing else. On PostgreSQL, too, where a commit can
also be done and its answer be lost.
"""

from __future__ import annotations

import json
import shutil
from base64 import b64decode
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import deniable as dn
from deniable.collect.tally import Tally
from deniable.errors import DeniableError, FormatError, ParameterError
from deniable.service.store.restoring import restore
from deniable.service.store.sqlite import SqliteEngine
from second.beside import Beside
from second.failing import Moments, died, failed, meanwhile, watched
from second.steps import LEAST, SENT, STEPS, Place, batch_of, do, insist, reports_of, state_of, value_of
from service.databases import ENGINES, copied_database, drop_database, new_database

NAMES = list(STEPS)
WAYS = ("failed", "died", "beside")


def place_in(folder: Path, url: str = "") -> Place:
    return Place(url or f"sqlite:///{folder / 'c.db'}", str(folder / "journal"), folder)


class Life:
    """The life of a collector without trouble: its files before each step, and what was there after it."""

    def __init__(self, folder: Path, engine: str = "sqlite", steps: Sequence[str] = NAMES) -> None:
        self.postgres = engine == "postgres"
        self.before: dict[str, Path] = {}
        self.databases: dict[str, str] = {}
        self.after: dict[str, dict[str, Any]] = {}
        self.moments: dict[str, list[str]] = {}
        place = place_in(folder / "now", new_database(engine, folder) if self.postgres else "")
        place.folder.mkdir()
        for name in steps:
            self.before[name] = folder / name
            shutil.copytree(place.folder, self.before[name])
            if self.postgres:
                self.databases[name] = copied_database(place.url)
            with watched(place.folder, postgres=self.postgres) as moments, place.opened() as store:
                moments.disarm()
                do(name, store, place)
                self.moments[name] = list(moments.seen)
            with place.opened() as store:
                self.after[name] = state_of(store, STEPS[name][0])

    @contextmanager
    def again(self, step: str, folder: Path) -> Iterator[Place]:
        """A place as it was before a step."""
        shutil.copytree(self.before[step], folder)
        place = place_in(folder, copied_database(self.databases[step]) if self.postgres else "")
        yield place
        if self.postgres:
            drop_database(place.url)
        shutil.rmtree(folder)


Lives = Callable[[str], Life]


@pytest.fixture(scope="module")
def lives(tmp_path_factory: pytest.TempPathFactory) -> Lives:
    """The life on each engine."""
    return cache(lambda engine: Life(tmp_path_factory.mktemp("life"), engine))


@pytest.fixture(scope="module")
def life(lives: Lives) -> Life:
    return lives("sqlite")


@pytest.fixture(scope="module")
def other() -> Iterator[Beside]:
    made = Beside()
    yield made
    made.close()


# ---- the model


def released(step: str) -> dict[tuple[str, int, int], bool]:
    """What is published and what withheld after a step, by task, window and question."""
    steps = NAMES[: NAMES.index(step) + 1]
    over = {("two", 0), ("same", 0)} if "first upkeep" in steps else set()
    over |= {("two", 1), ("same", 1)} if "second upkeep" in steps else set()
    over |= {("two", 2)} if "close" in steps else set()
    return {
        (name, window, question): n >= LEAST and (name, window) != ("same", 1)
        for (name, window, question), n in SENT.items()
        if (name, window) in over
    }


@pytest.mark.parametrize("step", NAMES)
def test_a_life_without_trouble_is_that_of_the_model(life: Life, step: str) -> None:
    steps, found = NAMES[: NAMES.index(step) + 1], life.after[step]
    begun = [w for w, name in enumerate(("first window", "second window", "third window")) if name in steps]
    assert found["faults"] == []
    assert found["keys"] == {"ann": True, "bob": step not in NAMES[5:], "eve": "keys" not in steps}
    assert found["keys of old"] == {"ann": True, "bob": True, "eve": "keys" not in steps}, "void at once is for ever"
    for name in ("two", "same"):
        sent = {key: n for key, n in SENT.items() if key[0] == name and key[1] in begun}
        task, counted = found[name], Counter[Any]()
        for (_, window, question), n in sent.items():
            for i in range(n):
                counted[batch_of(window, question, i % 2 if name == "two" else None)] += 1
        assert {batch: tally_of(data).n for batch, data in task["counted"].items()} == dict(counted)
        bodies = sorted(body for window in begun for _, body in reports_of(name, window))
        kept = sorted(body for lot in task["kept"].values() for body in lot)
        assert kept == ([] if name == "same" or step == "erase" else bodies)
        told = {(name, number): json.loads(data)["questions"] for number, data in task["told"].items() if data}
        states = {
            (*place, q): part["state"] == "published" for place, parts in told.items() for q, part in enumerate(parts)
        }
        assert states == {place: fine for place, fine in released(step).items() if place[0] == name}
        for question, lots in task["exported"].items():
            q = int(question[1:])
            public = [w for (whose, w, asked), fine in released(step).items() if fine and (whose, asked) == (name, q)]
            values = sorted(value_of(w, q, i) for w in public for i in range(SENT[name, w, q]))
            assert sorted(b"".join(lots)) == (values if kept else [])
    assert found["two"]["state"] == ("closed" if "close" in steps else "open")


def tally_of(data: bytes) -> Tally:
    found = dn.load(data)
    assert isinstance(found, Tally)
    return found


def test_a_withheld_question_has_no_numbers_but_how_many(life: Life) -> None:
    """What is published of a window holds the tallies of its published questions, which are those that were sent."""
    told = json.loads(life.after["erase"]["two"]["told"][1])
    first, second = told["questions"]
    assert tally_of(b64decode(first["tally"])).n == 20
    assert sum(group["reports"] for group in first["groups"]) == 20
    assert set(second) == {"question", "text", "reports", "state", "why"}


# ---- trouble


def troubled(life: Life, step: str, way: str, at: int, folder: Path, beside: Callable[[str, Place], None]) -> str:
    """A step with trouble at a moment, then once more without: what it said the first time."""
    with life.again(step, folder) as place, watched(folder, postgres=life.postgres) as moments:
        said = once(step, way, at, place, moments, beside)
        moments.disarm()
        with place.opened() as store:
            do(step, store, place)
        with place.opened() as store:
            assert_same(state_of(store, STEPS[step][0]), life.after[step], f"{step}, {way} at {at} ({said})")
        assert way == "died" or not list(folder.rglob("*.part")), f"{step}, {way} at {at}: a part of a copy is left"
    return said


def once(step: str, way: str, at: int, place: Place, moments: Moments, beside: Callable[[str, Place], None]) -> str:
    acts = {
        "failed": failed(moments),
        "died": died(moments),
        "beside": meanwhile(moments, lambda: beside(step, place)),
    }
    with place.opened() as store:
        moments.arm(at, acts[way])
        try:
            do(step, store, place)
        except (DeniableError, OSError) as error:
            return type(error).__name__
        finally:
            if way == "failed":  # the same process goes on, with all that it remembers
                moments.disarm()
                do(step, store, place)
    return "nothing"


def assert_same(found: dict[str, Any], expected: dict[str, Any], where: str) -> None:
    assert found["faults"] == [], where
    for part, state in expected.items():
        if isinstance(state, dict):
            wrong = [name for name in state if found[part][name] != state[name]]
            assert wrong == [], f"{where}: {part} has other {', '.join(map(str, wrong))}"
    assert found == expected, where


def every(life: Life, way: str, first: int, step: int) -> list[tuple[str, int]]:
    """Each `step`-th moment of a life; beside another process, only where a transaction begins."""
    found = [
        (name, at)
        for name in NAMES
        for at, what in enumerate(life.moments[name])
        if way != "beside" or what.startswith("BEGIN")
    ]
    return found[first::step]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("engine", ENGINES)
def test_trouble_at_some_moments_changes_nothing(
    lives: Lives, other: Beside, engine: str, way: str, tmp_path: Path
) -> None:
    """A sample of what the slow tier does in full."""
    life = lives(engine)
    said = Counter(troubled(life, name, way, at, tmp_path / "x", other.do) for name, at in every(life, way, 5, 41))
    assert sum(said.values()) >= 4
    assert (set(said) <= {"nothing"}) is (way == "beside"), said


def test_trouble_while_reports_reach_a_server_changes_nothing(tmp_path: Path) -> None:
    """A few moments: a report is kept, all are committed, and all are committed but nobody hears of it."""
    life = Life(tmp_path, "postgres", NAMES[:2])
    step, moments = NAMES[1], life.moments[NAMES[1]]
    kept = next(at for at, what in enumerate(moments) if what.startswith("INSERT INTO kept_fresh"))
    done = next(at for at in range(kept, len(moments)) if moments[at] == "COMMIT")
    assert moments[done + 1] == "answer to COMMIT"
    for at in (kept, done, done + 1):
        assert troubled(life, step, "failed", at, tmp_path / "x", lambda *_: None) == "StoreUnavailableError"


@pytest.mark.parametrize("engine", ENGINES)
def test_two_processes_that_do_all_at_once_do_it_once(life: Life, other: Beside, engine: str, tmp_path: Path) -> None:
    """Each step in both at the same time, from the first to the last: the outcome is that of one that is alone."""
    place = Place(new_database(engine, tmp_path), str(tmp_path / "journal"), tmp_path)
    for name in NAMES:
        other.begin(name, place)
        insist(name, place)
        other.end()
        with place.opened() as store:
            assert_same(state_of(store, STEPS[name][0]), life.after[name], f"{name}, twice at once")


@pytest.mark.slow
@pytest.mark.turns(6)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_trouble_at_every_moment_changes_nothing(
    lives: Lives, other: Beside, engine: str, way: str, name: str, tmp_path: Path
) -> None:
    life = lives(engine)
    for step, at in every(life, way, 0, 1):
        if step == name:
            troubled(life, step, way, at, tmp_path / "x", other.do)


# ---- from a copy


def restored(place: Place, name: str) -> None:
    """The copy becomes a database beside the old one, which goes on with its journal."""
    engine = SqliteEngine(place.folder / name)
    try:
        restore(place.folder / "copy", engine, journal=Path(place.journal), today=STEPS["close"][0].date())
    finally:
        engine.close()


def state_in(place: Place, name: str) -> dict[str, Any]:
    with Place(f"sqlite:///{place.folder / name}", place.journal, place.folder).opened() as store:
        return state_of(store, STEPS["close"][0])


def test_a_copy_that_is_restored_knows_what_was_published_and_void_since(life: Life, tmp_path: Path) -> None:
    """It was made with the reports of the first window only: the second one was published, and its ids are lost."""
    shutil.copytree(life.before["close"], tmp_path / "x")
    place, old = place_in(tmp_path / "x"), life.after["third window"]
    restored(place, "new.db")
    found = state_in(place, "new.db")
    assert found["faults"] == []
    assert found["keys of old"] == old["keys of old"]
    assert (old["two"]["state"], found["two"]["state"]) == ("open", "closed")
    assert [found["same"][what] for what in ("state", "told")] == [old["same"][what] for what in ("state", "told")]
    for window, known in old["two"]["told"].items():
        told = found["two"]["told"][window]
        assert told == known if known is not None else json.loads(told)["state"] == "withheld"
    first = {batch: data for batch, data in old["two"]["counted"].items() if batch.window == 0}
    assert found["two"]["counted"] == first
    with place.opened() as store, pytest.raises(FormatError, match="goes on with another database"):
        do("close", store, place)


def restored_again(place: Place, name: str) -> bool:
    """Once more, without trouble; whether it was there already."""
    try:
        restored(place, name)
    except ParameterError as error:
        if "the database has tasks or keys already" not in str(error):
            raise
        return True
    return False


@pytest.mark.parametrize("step", [19, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("way", ["failed", "died"])
def test_trouble_while_a_copy_is_restored_leaves_all_or_nothing(
    life: Life, way: str, step: int, tmp_path: Path
) -> None:
    """At each of these moments: what is there is empty, and can be restored into, or whole."""
    shutil.copytree(life.before["close"], tmp_path / "x")
    place = place_in(tmp_path / "x")
    with watched(place.folder) as moments:
        restored(place, "new.db")
        many = len(moments.seen)
    expected, whole = state_in(place, "new.db"), 0
    assert many > 60
    for at in range(3, many, step):
        shutil.rmtree(place.folder)
        shutil.copytree(life.before["close"], place.folder)
        with watched(place.folder) as moments:
            moments.arm(at, failed(moments) if way == "failed" else died(moments))
            with suppress(DeniableError, OSError):
                restored(place, "new.db")
            moments.disarm()
            whole += restored_again(place, "new.db")
        assert_same(state_in(place, "new.db"), expected, f"restored, {way} at {at}")
    assert whole < many / step / 2, "most of the time nothing was there yet"


def test_the_life_has_many_moments(life: Life) -> None:
    """Statements of every kind, files that are written, synced and renamed: what is watched is what happens."""
    seen = Counter(what.split()[0] for each in life.moments.values() for what in each)
    assert {"BEGIN", "COMMIT", "INSERT", "UPDATE", "DELETE", "VACUUM", "PRAGMA", "open", "fsync", "rename"} <= set(seen)
    assert sum(seen.values()) > 300


@pytest.mark.slow
def test_a_life_on_a_server_is_the_same(lives: Lives) -> None:
    """What the model says of the one holds for the other; and each of its moments is watched."""
    life = lives("postgres")
    for name in NAMES:
        assert_same(life.after[name], lives("sqlite").after[name], f"{name}, on PostgreSQL")
    seen = [what for each in life.moments.values() for what in each]
    assert {"connect", "COMMIT", "answer to COMMIT", "FETCH", "fsync", "rename"} <= set(seen)
    begun = [what.split()[1] for what in seen if what.startswith("BEGIN; ")]
    assert {"SELECT", "LOCK", "SET"} <= set(begun)
    assert len(begun) >= seen.count("answer to COMMIT") > 100
    assert len(seen) > 500
