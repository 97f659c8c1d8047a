"""The collector's commands: tasks, keys, settings."""

from __future__ import annotations

import json
import time
from datetime import UTC, date, datetime

import pytest

import deniable as dn
from deniable.cli import service, service_tasks
from deniable.cli.service_tasks import _printable
from deniable.mechanisms.registry import from_design
from deniable.service.store import open_store
from deniable.service.store.contract import Incoming, Upload
from deniable_client import Task

URL = "sqlite:///c.db"
DB = ("--database", URL)
GRR = dn.mechanism("grr", epsilon=1.0, labels=["never", "often"])


@pytest.fixture(autouse=True)
def alone(monkeypatch):
    monkeypatch.delenv("DENIABLE_DATABASE", raising=False)


def design(tmp_path, m=GRR):
    (tmp_path / "design.json").write_text(json.dumps(m.design))
    return "design.json"


def new(run, tmp_path, *more):
    done = run("task", "new", "--design", design(tmp_path), "--question", "How often?", *DB, *more, "--json")
    assert done.code == 0, done.err
    return done.json


def test_a_task_from_a_design(run, tmp_path):
    found = new(run, tmp_path, "--min-batch", 50, "--window-days", 3, "--retention", "reports", "--windows", 2)
    task = Task.load(found["task"], expect=found["id"])
    assert (task.min_batch, task.days, task.count, task.keep) == (50, 3, 2, "reports")
    assert task.questions[0].design == GRR.design
    assert (task.version, task.count * task.epsilon, task.document["budget"]) == (2, 2, 2)
    assert run("task", "list", *DB, "--json").json["tasks"][0]["state"] == "draft"


class Stopped(datetime):
    """A clock that stands, at one second after midnight of UTC less a number of seconds."""

    less = 0

    @classmethod
    def now(cls, tz=None):
        return cls.fromtimestamp(datetime(2027, 1, 1, 0, 0, 1, tzinfo=UTC).timestamp() - cls.less, tz)


@pytest.mark.parametrize("zone", ["UTC", "EAST-14", "WEST+11"])
@pytest.mark.parametrize(
    ("less", "day"), [(0, "2027-01-01"), (1, "2027-01-01"), (2, "2026-12-31"), (43_200, "2026-12-31")]
)
def test_the_day_of_keys_and_tasks_is_that_of_utc_wherever_the_collector_is(
    run, tmp_path, monkeypatch, zone, less, day
):
    monkeypatch.setattr(service, "datetime", Stopped)
    monkeypatch.setattr(Stopped, "less", less)
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        assert str(service.today()) == day
        assert new(run, tmp_path)["task"]["window"]["opens"] == day
    finally:
        monkeypatch.delenv("TZ")
        time.tzset()


@pytest.mark.parametrize(
    "command",
    [
        ("design", "ss", "--epsilon", 1, "--labels", "a,b,c", "--json"),
        ("plan", "--labels", "a,b,c", "--n", 10000, "--epsilon", 1, "--json"),
    ],
)
def test_a_task_from_what_other_commands_print(run, command):
    text = run(*command).out
    done = run("task", "new", "--design", "-", "--question", "Which?", *DB, "--json", stdin=text)
    assert done.json["task"]["design"]["domain"] == {"labels": ["a", "b", "c"]}


def test_a_survey_with_strata(run, tmp_path):
    file = design(tmp_path)
    done = run(
        *("task", "new", "--design", file, "--question", "One?", "--design", file, "--question", "Two?"),
        *("--share", 2, "--share", 1, "--strata", "country=DE,FR", "--collector", "Institute", *DB, "--json"),
    )
    task = Task.load(done.json["task"])
    assert [(q.name, q.text, q.share) for q in task.questions] == [("q1", "One?", 2), ("q2", "Two?", 1)]
    assert (task.strata, task.collector) == ({"country": ("not told", "DE", "FR")}, "Institute")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ((), "--database must be given"),
        ((*DB, "--min-batch", 0), "--min-batch must be"),
        ((*DB, "--window-days", 0), "--window-days must be"),
        ((*DB, "--opens", "tomorrow"), "--opens must be a day"),
        ((*DB, "--strata", "country"), "--strata must be"),
        ((*DB, "--none", "nothing listed"), "none of q1 of a task must be"),
        ((*DB, "--url", "http://example.org"), "url"),
        ((*DB, "--language", "?"), "language"),
        ((*DB, "--windows", 2, "--budget", 1), "--budget must be from 2, the cost of this task"),
        ((*DB, "--question", "Two?"), "--question must be given as often as --design"),
        ((*DB, "--share", "x"), "--share must be"),
        ((*DB, "--retention", "x", "--retention-days", 5), "--retention must be"),
        ((*DB, "--subject", ""), "--subject must be a text"),
        (("--database", "mysql://x"), "--database must be sqlite"),
        (("--config", "none.toml"), "--config must be a file"),
    ],
)
def test_a_task_that_cannot_be(run, tmp_path, options, says):
    done = run("task", "new", "--design", design(tmp_path), "--question", "How often?", *options)
    assert (done.code, done.out) == (2, "")
    assert says in done.err


@pytest.mark.parametrize("command", ["task new", "tally"])
@pytest.mark.parametrize("text", ["", "[]", "{}", '{"design": 1}', "[" * 100_000, '{"feasible": false}'])
def test_a_file_that_is_no_design(run, tmp_path, text, command):
    """In the same words for every command."""
    (tmp_path / "d.json").write_text(text)
    rest = ["--question", "How often?", *DB] if command == "task new" else ["reports.csv"]
    done = run(*command.split(), "--design", "d.json", *rest)
    assert done.code == 2
    said = (
        "d.json: this plan has no design: none meets its limits."
        if "feasible" in text
        else "d.json: this is not a design:"
    )
    assert said in done.err


def test_a_design_that_leaks_makes_no_task(run, tmp_path):
    leaking = json.loads(json.dumps(GRR.design))
    leaking["kernel"]["keep"] = str(2**64 - 1)
    (tmp_path / "d.json").write_text(json.dumps(leaking))
    done = run("task", "new", "--design", "d.json", "--question", "How often?", *DB, "--json")
    assert done.code == 2
    assert not (tmp_path / "c.db").exists()


def test_from_draft_to_results(run, tmp_path):
    id = new(run, tmp_path, "--min-batch", 4, "--retention", "reports")["id"]
    assert run("task", "open", id[:8], *DB, "--json").json == {"id": id, "state": "open"}
    store = open_store(URL)
    task = Task.load(store.task(id).document)
    reports = [Incoming(bytes([0] * 15 + [i]), bytes([i % 2])) for i in range(6)]
    assert all(o.status == "accepted" for o in store.add([Upload(id, task.opens, reports)])[0])
    store.close()
    shown = run("task", "show", id[:8], *DB, "--json").json
    assert [(w["state"], w["reports"]) for w in shown["windows"]] == [("open", 6)]
    assert "How often?" in run("task", "show", id, *DB).out
    refused = run("task", "export", id, "--what", "tally", "--out", "t.tally", *DB)
    assert refused.code == 2
    assert "nothing yet" in refused.err
    assert run("task", "close", id, *DB, "--json").json == {"id": id, "state": "closed", "reports": 6, "published": [0]}
    results = run("task", "export", id, *DB, "--json").json
    assert results["windows"][0]["questions"][0]["estimate"]["n"] == 6
    assert run("task", "export", id, "--out", "r.json", *DB).code == 0
    assert json.loads((tmp_path / "r.json").read_text()) == results
    for what in ("tally", "reports"):
        assert run("task", "export", id, "--what", what, "--out", f"x.{what}", *DB).code == 0
        assert run("estimate", f"x.{what}", "--json").json["n"] == 6
    for table in ("packed", "rows"):
        written = run("task", "export", id, "--what", "reports", "--out", f"{table}.parquet", "--table", table, *DB)
        assert written.code == 0
        assert run("estimate", f"{table}.parquet", "--json").json == run("estimate", "x.reports", "--json").json
    assert run("tally", "packed.parquet", "x.reports", "--out", "both.tally").code == 2  # the same reports
    assert run("task", "export", id, "--what", "tally", "--out", "r.parquet", *DB).code == 2  # a tally is no table
    assert run("task", "export", id, "--what", "tally", "--table", "rows", "--out", "r.tally", *DB).code == 2
    assert not list(tmp_path.glob("r.[pt]*"))
    assert run("task", "export", id, "--out", "r.json", *DB).code == 2  # it is there
    assert run("task", "open", id, *DB).code == 2
    assert run("task", "close", id, *DB).code == 0


def test_results_are_what_the_ending_of_the_file_says(run, tmp_path):
    """CSV and Parquet are one flat table with the columns of the page, for the population unless told otherwise."""
    import csv

    import pyarrow.parquet as pq

    from deniable.service.results.flat import COLUMNS

    id = closed_with(run, tmp_path, [bytes([i % 2]) for i in range(60)], "--min-batch", 50)
    written = run("task", "export", id, "--out", "est.csv", *DB, "--json").json
    assert written == {"id": id, "what": "results", "out": "est.csv", "rows": 2}
    with (tmp_path / "est.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == [name for name in COLUMNS if not name.startswith("mean") and name != "too_rare"]
    assert {row["target"] for row in rows} == {"population"}
    assert run("task", "export", id, "--out", "est.parquet", *DB).code == 0
    assert [row["value"] for row in pq.read_table("est.parquet").to_pylist()] == [float(row["value"]) for row in rows]
    assert run("task", "export", id, "--out", "own.csv", "--target", "reporters", *DB).code == 0
    with (tmp_path / "own.csv").open(newline="") as file:
        own = list(csv.DictReader(file))
    whole = run("task", "export", id, *DB, "--json").json["windows"][0]["questions"][0]["estimate"]
    assert [float(row["low"]) for row in own] == whole["low"]
    assert all(float(a["stderr"]) > float(b["stderr"]) for a, b in zip(rows, own, strict=True))
    for wrong, said in (
        (("--out", "est.xls"), "ends in .csv, .parquet or .json"),
        (("--out", "x.json", "--target", "reporters"), "left out unless"),
        (("--out", "x.csv", "--target", "everybody"), "one of reporters, population"),
    ):
        refused = run("task", "export", id, *wrong, *DB)
        assert (refused.code, said in refused.err) == (2, True), refused.err
    assert not (tmp_path / "x.csv").exists()


def test_an_error_as_json_is_seen_on_the_screen_too(run):
    """Standard output goes to a file: whoever waits at the terminal is told all the same."""
    done = run("task", "export", "abcd", "--database", "sqlite:///none.db", "--json")
    assert done.json["error"]["message"] in done.err.replace("error: ", "")


def closed_with(run, tmp_path, bodies, *more):
    """A task that is closed, with these reports."""
    id = new(run, tmp_path, *more)["id"]
    run("task", "open", id, *DB)
    store = open_store(URL)
    sent = [Incoming(i.to_bytes(16, "big"), body) for i, body in enumerate(bodies)]
    opens = Task.load(store.task(id).document).opens
    assert {o.status for o in store.add([Upload(id, opens, sent)])[0]} == {"accepted"}
    store.close()
    assert run("task", "close", id, *DB).code == 0
    return id


def test_only_the_owner_can_read_exported_reports(run, tmp_path):
    id = closed_with(run, tmp_path, [b"\0", b"\1"] * 5, "--min-batch", 10, "--retention", "reports")
    for name in ("x.reports", "x.parquet"):
        assert run("task", "export", id, "--what", "reports", "--out", name, *DB).code == 0
        assert (tmp_path / name).stat().st_mode & 0o777 == 0o600
        assert run("task", "export", id, "--what", "reports", "--out", name, *DB).code == 2  # it is there


def test_results_hide_nothing_on_a_terminal():
    """Characters that move the cursor or turn the text around are codes, and the JSON says the same."""
    told = {"text": "How \x9b2J often \u202e \U000e0041 \x7f \ufeff?", "more": ["é", "猫", "a\nb"]}
    shown = _printable(json.dumps(told, indent=1, ensure_ascii=False))
    assert all(sign.isprintable() or sign == "\n" for sign in shown)
    assert "\\u009b2J often \\u202e" in shown
    assert "é" in shown
    assert json.loads(shown) == told


def test_a_protocol_round_by_round(run):
    protocol = ("task", "next", "collaborative", "--epsilon", 2, "--k", 6, "--sensitive", 2, *DB)
    first = run(*protocol, "--question", "Which?", "--min-batch", 5, "--json").json
    assert (first["done"], first["round"], first["rounds"], first["share"]) == (False, 1, 2, 0.05)
    ids = [first["id"]]
    for number in range(2):
        store = open_store(URL)
        task = Task.load(store.task(ids[-1]).document)
        m = from_design(task.questions[0].design)
        rows = m.privatize([i % 6 for i in range(60)])
        store.set_state(ids[-1], "open")
        sent = [Incoming(bytes([number] * 15 + [i]), rows.row(i)) for i in range(60)]
        assert all(o.status == "accepted" for o in store.add([Upload(ids[-1], task.opens, sent)])[0])
        store.close()
        early = run(*protocol, *(x for id in ids for x in ("--after", id)))
        assert (early.code, "over and published" in early.err) == (2, True)
        run("task", "close", ids[-1], *DB)
        after = run(*protocol, *(x for id in ids for x in ("--after", id[:10])), "--json").json
        ids += [after["id"]] if not after["done"] else []
    assert len(ids) == 2
    assert after["estimate"]["n"] == 120
    assert run("task", "next", "grr", "--epsilon", 1, "--k", 3, *DB).code == 2


@pytest.mark.parametrize("id", ["zz", "0000", "abcdefg", ""])
def test_a_task_that_is_not_there(run, tmp_path, id):
    new(run, tmp_path)
    for verb in ("show", "open", "close", "export"):
        done = run("task", verb, id, *DB)
        assert done.code == 2
        assert "ID must be the id of a task" in done.err


def test_keys(run):
    made = run("key", "new", "--role", "analyst", *DB)
    assert made.out.startswith("deniable-analyst-")
    assert made.out.count("\n") == 1
    other = run("key", "new", "--role", "administrator", "--name", "ann", *DB, "--json").json
    assert (other["name"], other["role"]) == ("ann", "administrator")
    turned = run("key", "rotate", "analyst-1", "--days", 2, *DB, "--json").json
    assert (turned["name"], turned["replaces"]) == ("analyst-2", "analyst-1")
    assert run("key", "revoke", "ann", *DB).code == 0
    listed = run("key", "list", *DB, "--json").json["keys"]
    states = {k["name"]: k["revoked"] is None for k in listed}
    assert states == {"analyst-1": False, "ann": False, "analyst-2": True}
    for secret in (made.out.strip(), other["key"], turned["key"]):
        assert secret not in json.dumps(listed)
    assert "Did you mean analyst-" in run("key", "revoke", "analyst-l", *DB).err
    assert run("key", "new", "--role", "king", *DB).code == 2


def test_the_database_may_come_from_the_environment_or_a_file(run, tmp_path, monkeypatch):
    (tmp_path / "deniable.toml").write_text(f'database = "{URL}"\n')
    assert run("key", "new", "--role", "analyst", "--config", "deniable.toml").code == 0
    assert (tmp_path / "c.db").exists()
    monkeypatch.setenv("DENIABLE_DATABASE", "sqlite:///e.db")
    assert run("key", "new", "--role", "analyst", "--config", "deniable.toml").code == 0
    assert (tmp_path / "e.db").exists()


@pytest.mark.parametrize(
    "command",
    [
        ("task", "list"),
        ("task", "show", "86d1"),
        ("task", "open", "86d1"),
        ("task", "close", "86d1"),
        ("task", "export", "86d1"),
        ("key", "list"),
        ("key", "revoke", "bob"),
        ("key", "rotate", "bob"),
        ("store", "check"),
        ("store", "backup", "copy"),
    ],
    ids=" ".join,
)
def test_a_slip_in_the_name_of_the_database_makes_none(run, tmp_path, command):
    done = run(*command, *DB)
    assert done.code == 2
    assert "--database must be a database that is there, got 'sqlite:///c.db'" in done.err
    assert not list(tmp_path.iterdir())


def test_an_empty_question(run, tmp_path):
    done = run("task", "new", "--design", design(tmp_path), "--question", " ", *DB)
    assert (done.code, done.out) == (2, "")
    assert "--question must be a text that people can see" in done.err


def test_a_task_that_is_over_before_it_opens(run, tmp_path):
    made = run("task", "new", "--design", design(tmp_path), "--question", "q", "--opens", "2020-01-01", *DB, "--json")
    assert "warning: its last day was 2020-01-07: no report will be counted" in made.err
    told = " ".join(run("task", "open", made.json["id"], *DB).out.split())
    assert "is open, but its last day was 2020-01-07" in told
    assert "reports are counted from" not in told
    assert "warning" not in run("task", "new", "--design", design(tmp_path), "--question", "q", *DB).err


def test_options_without_effect_are_told(run, tmp_path):
    asked = ("task", "new", "--design", design(tmp_path), "--question", "q", *DB)
    assert "warning: --share has no effect" in run(*asked, "--share", 2).err
    assert "warning: --retention-days has no effect" in run(*asked, "--retention-days", 5).err
    assert "no effect" not in run(*asked, "--retention-days", 5, "--retention", "reports").err


def test_an_id_that_begins_several_tasks_names_none_of_them(run, tmp_path, monkeypatch):
    """Closing is final: the first of two is not taken for the one that was meant."""
    monkeypatch.setattr("deniable.cli.service_tasks._LEAST_PREFIX", 1)
    ids = [new(run, tmp_path, "--min-batch", 50 + i)["id"] for i in range(17)]  # two of them begin alike
    first = next(letter for letter in "0123456789abcdef" if sum(id[0] == letter for id in ids) > 1)
    several = sum(id[0] == first for id in ids)
    for verb in ("show", "open", "close"):
        done = run("task", verb, first, *DB)
        assert done.code == 2
        assert f"{several} tasks begin with it" in " ".join(done.err.split())
    assert {row["state"] for row in run("task", "list", *DB, "--json").json["tasks"]} == {"draft"}


def test_how_a_task_is_named(run, tmp_path):
    id = new(run, tmp_path)["id"]
    assert "too short. hint: `deniable task list` shows them. It takes at least 4" in " ".join(
        run("task", "show", id[:3], *DB).err.replace(":\n", ": ").split()
    )
    assert run("task", "show", id[:4], *DB).code == 0
    wrong = "0000" if not id.startswith("0000") else "1111"
    assert (
        f"ID must be the id of a task, or how it begins, got '{wrong}': no task" in run("task", "show", wrong, *DB).err
    )
    protocol = ("collaborative", "--epsilon", 1, "--k", 50, "--sensitive", 10)
    assert "--after must be the id of a task" in run("task", "next", *protocol, "--after", wrong, *DB).err


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ((), "--database must be given"),
        ((*DB, "--port", "x"), "--port must be a whole number"),
        ((*DB, "--port", "70000"), "--port must be a whole number from 0"),
        ((*DB, "--cors", "x"), "--cors must be origins"),
    ],
)
def test_serve_refuses_what_it_cannot_be_told(run, options, says):
    done = run("serve", *options)
    assert done.code == 2
    assert says in done.err


def test_serve_says_which_extra_is_missing(run, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "starlette", None)
    done = run("serve", *DB)
    assert done.code == 2
    assert "deniable[service]" in done.err


def test_a_task_is_a_week_long_and_its_last_day_counts(run, tmp_path, monkeypatch):
    monkeypatch.setattr(service_tasks, "today", lambda: date(2026, 11, 16))
    assert new(run, tmp_path)["task"]["window"] == {"opens": "2026-11-16", "days": 7, "count": 1}
    for opens, told in (("2026-11-10", False), ("2026-11-09", True)):
        done = run("task", "new", "--design", design(tmp_path), "--question", opens, "--opens", opens, *DB)
        assert done.code == 0, done.err
        assert ("its last day was" in done.err) is told
