"""What stands in a release: promises and bounds in numbers, answers in words, groups, and reports that were kept."""

from __future__ import annotations

import json
import math
from base64 import b64encode
from datetime import timedelta
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest

import deniable as dn
from deniable.collect.tally import Tally
from deniable.errors import FormatError
from deniable.service import release
from deniable.service.ingest import Intake, check_strata, first_day_after, window_of
from deniable.service.release import certificate, forged, kept_reports, tally_in, tally_of, voided, windows
from deniable.service.store.contract import Batch
from deniable.service.tasks import Asked
from deniable_client.canonical import canonical
from service.calling import DESIGN, Service, item, task_of
from service.making import make_task, task_document


def intake_of(*asked: Asked, **terms: Any) -> Intake:
    return Intake(canonical(task_of(*asked, **terms)))


# ---- promises and bounds


@pytest.mark.parametrize(
    ("name", "options", "count", "words"),
    [
        ("grr", {"k": 3}, 1, "its report for this question, and whether and when something was sent, are at most 2.72"),
        ("grr", {"k": 3}, 3, "its 3 reports together for this question, and whether and when something was sent, are"),
        ("uss", {"k": 5, "sensitive": 2}, 1, "its report for this question"),
    ],
)
def test_a_release_has_the_whole_proof_of_its_promise(
    name: str, options: dict[str, Any], count: int, words: str
) -> None:
    m = dn.mechanism(name, epsilon=1.0, **options)
    task = intake_of(Asked(text="?", design=m.design), windows=count).task
    found = certificate(task, task.questions[0], m)
    device = found.pop("device")
    assert found == {
        "task": task.id,
        "question": "q1",
        "mechanism": name,
        "epsilon": 1.0,
        "epsilon_exact": m.epsilon_exact,
        "ratio": f"{m.proof.ratio.numerator}/{m.proof.ratio.denominator}",  # type: ignore[union-attr]
        "method": m.proof.method,
        "argument": m.proof.argument,
        "witness": str(m.proof.witness),
        "vetted": True,
        "protection": m.protection.document(),
        "text": m.protection.text,
        "budget": {"collector": max(2, count)},
        "memory": "fresh",
        "readers": release.READERS,
    }
    assert math.e * (1 - 1e-9) < float(Fraction(found["ratio"])) <= math.e
    assert words in device
    times = {1: "2.72", 3: "20.1"}[count]  # e and e^3, rounded up
    one = "a protected answer" if name == "uss" else "one answer"
    assert device.endswith(f"are at most {times} times as likely for {one}, or none, as for another.")
    json.dumps(found, allow_nan=False)


def test_a_release_tells_what_was_proved_beside_what_was_promised() -> None:
    """Also where the proof is better than the promise, has no ratio, or nobody has looked at the mechanism."""
    task, m = make_task(), dn.mechanism("grr", epsilon=1.0, k=8)
    proof = SimpleNamespace(ratio=None, method="a way", argument="why", witness=("a", 1))
    other: Any = SimpleNamespace(
        name="mine", epsilon=1.0, epsilon_exact=0.75, proof=proof, vetted=False, protection=m.protection
    )
    found = certificate(task, task.questions[0], other)
    assert (found["mechanism"], found["epsilon"], found["epsilon_exact"]) == ("mine", 1.0, 0.75)
    assert (found["ratio"], found["method"], found["argument"], found["witness"]) == (None, "a way", "why", "('a', 1)")
    assert (found["vetted"], found["budget"]) == (False, {"task": 40, "subject": 40, "lifetime": 40})


def test_of_older_tasks_nothing_is_promised_about_silence() -> None:
    task = make_task()
    told = certificate(task, task.questions[0], dn.mechanism("grr", epsilon=1.0, k=8))["device"]
    assert told == "A task of version 1: devices could stay silent for reasons that depend on the answer."


@pytest.mark.parametrize(("epsilon", "k"), [(0.5, 2), (1.0, 3), (2.0, 10)])
def test_what_a_hundredth_of_forged_reports_can_do_is_said_in_points(epsilon: float, k: int) -> None:
    """By hand for randomised response: a forged report counts 1 - q beyond what an honest one adds, over p - q."""
    p = math.exp(epsilon) / (math.exp(epsilon) + k - 1)
    q = (1 - p) / (k - 1)
    found = forged(dn.mechanism("grr", epsilon=epsilon, k=k))
    gain = 0.01 * (1 - q) / (p - q)
    assert (found["share"], found["gain"]) == (0.01, pytest.approx(gain, rel=1e-9))
    rounded = math.ceil(100 * gain * 100 - 1e-7) / 100  # rounded against us
    assert found["text"] == (
        f"1 % of forged reports can raise the share of one answer by at most {rounded:.2f} percentage points."
    )


def test_where_nobody_knows_what_forged_reports_do_it_is_said_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(release, "entry_of", lambda name: SimpleNamespace(traits=SimpleNamespace(pull=None)))
    found = forged(dn.mechanism("grr", epsilon=1.0, k=3))
    assert found == {"share": 0.01, "gain": None, "text": "How much forged reports can change is not known."}


# ---- answers in words


def test_answers_of_a_release_have_the_words_of_the_task_where_the_design_has_none() -> None:
    def words(labels: list[str], own: Any = None, together: Any = (), kind: str = "point") -> list[str]:
        explanation = SimpleNamespace(design=SimpleNamespace(kernel=SimpleNamespace(kind=kind)))
        question: Any = SimpleNamespace(labels=own, together=together, explanation=explanation)
        return list(release._answers_of(question, labels))

    assert words(["0", "1", "2"], ("no", "yes", "maybe")) == ["no", "yes", "maybe"]
    assert words(["0", "1", "2"]) == ["0", "1", "2"]
    assert words(["0", "1"], ("no", "yes", "maybe")) == ["0", "1"]  # bins of answers have no words of the task
    assert words(["1", "2"], ("no", "yes")) == ["1", "2"]
    assert words(["never", "often"], ("no", "yes")) == ["never", "often"]
    two = [SimpleNamespace(name="a", labels=("x", "y")), SimpleNamespace(name="b", labels=("1", "2", "3"))]
    cells = ["x, 1", "x, 2", "x, 3", "y, 1", "y, 2", "y, 3"]
    assert words(list("012345"), None, two) == cells
    assert words(list("abcdef"), None, two) == list("abcdef")
    assert words(list("01234"), None, two, "box") == ["a: x", "a: y", "b: 1", "b: 2", "b: 3"]


# ---- what is withheld


def closed(service: Service, id: str) -> dict[str, Any]:
    """The first window of a task after it was closed."""
    service.store.set_state(id, "closed")
    service.collector.forget(id)
    row = service.store.task(id)
    assert row is not None
    (window,) = windows(service.store, row, Intake(row.document), service.now)
    return dict(window.told(Intake(row.document).task))


def test_what_is_withheld_says_why_and_how_many_reports_there_are_and_nothing_else() -> None:
    service = Service()
    two = [Asked(text="One?", design=DESIGN, name="one"), Asked(text="Two?", design=DESIGN, name="two")]
    id = service.add(task_of(*two, min_batch=4))
    service.fates(id, *(item(i, b"\0\1") for i in range(4)), *(item(10 + i, b"\1\1") for i in range(3)))
    window = closed(service, id)
    assert {name: window[name] for name in window if name != "questions"} == {
        "task": id, "window": 0, "from": "2026-11-16", "to": "2026-11-22", "state": "published", "min_batch": 4,
        "reports": 7,
    }  # fmt: skip
    one, two_ = window["questions"]
    assert two_ == {
        "question": "two", "text": "Two?", "reports": 3, "state": "withheld",
        "why": "3 reports are fewer than the minimum batch of 4",
    }  # fmt: skip
    assert set(one) == {"question", "text", "reports", "state", "estimate", "tally", "none", "privacy", "forged"}


def test_a_window_that_is_open_counts_the_reports_of_all_its_questions_and_groups() -> None:
    service = Service()
    two = [Asked(text="One?", design=DESIGN), Asked(text="Two?", design=DESIGN)]
    id = service.add(task_of(*two, strata={"land": ["DE", "FR"]}, windows=2, min_batch=99))
    for number, (land, question, n) in enumerate([(1, 0, 4), (2, 0, 3), (1, 1, 2), (0, 1, 1)]):
        service.fates(id, *(item(100 * number + i, bytes([land, question, 1])) for i in range(n)))
    row = service.store.task(id)
    assert row is not None
    found = windows(service.store, row, Intake(row.document), service.now)
    assert [(window.state, window.reports, window.document) for window in found] == [("open", 10, None)]


def test_a_window_without_any_published_question_is_withheld() -> None:
    task = intake_of(min_batch=4).task
    document = json.loads(voided(task, 3, [7], "lost."))
    assert (document["state"], document["window"], document["questions"][0]["why"]) == ("withheld", 3, "lost.")
    assert (document["from"], document["to"]) == ("2026-12-07", "2026-12-13")
    assert voided(task, 3, [7], "l\u00f6st.").decode().count("l\u00f6st") == 1  # as it is, in UTF-8
    assert b" " not in voided(task, 3, [7], "lost.").replace(b"How often?", b"")


def test_groups_are_told_by_the_names_of_their_values() -> None:
    """Of two strata: those that stand alone, and all others; each with its own tally and its own estimate."""
    service = Service()
    id = service.add(task_of(strata={"land": ["DE", "FR"], "age": ["old", "new"]}, min_batch=4))
    for number, (head, n) in enumerate([(b"\1\1", 5), (b"\1\2", 2), (b"\1\0", 3), (b"\2\2", 1)]):
        service.fates(id, *(item(100 * number + i, head + b"\2") for i in range(n)))
    (question,) = closed(service, id)["questions"]
    told = [(group["name"], group["strata"], group["reports"]) for group in question["groups"]]
    assert told == [
        ("DE, old", [{"land": "DE", "age": "old"}], 5),
        ("all others", [{}], 6),
    ]
    tallies = [tally_in(group) for group in question["groups"]]
    assert [tally.n for tally in tallies] == [5, 6]
    assert sum(tallies[1:], tallies[0]) == tally_in(question)
    for group in question["groups"]:
        assert group["estimate"]["n"] == group["reports"]
        assert group["estimate"]["level"] == 0.95


def test_what_is_no_tally_is_not_taken_for_one() -> None:
    m = dn.mechanism("grr", epsilon=1.0, k=3)
    reports = b64encode(dn.dump(m.privatize([0, 1], rng=dn.simulation(1)))).decode()
    with pytest.raises(FormatError, match="what is published has no tally in it"):
        tally_in({"tally": reports})
    part = {"question": "q1", "state": "published", "tally": reports}
    window: Any = release.Window(0, "published", 2, {"questions": [part]})
    with pytest.raises(FormatError, match="about a window has no tally in it"):
        tally_of([window], "q1")
    assert tally_of([window], "q2") is None
    withheld: Any = release.Window(0, "withheld", 2, {"questions": [part | {"state": "withheld"}]})
    assert tally_of([withheld, release.Window(1, "open", 5, None)], "q1") is None


def test_published_tallies_of_all_windows_add_up() -> None:
    m = dn.mechanism("grr", epsilon=1.0, k=3)

    def window(number: int, n: int) -> Any:
        file = b64encode(dn.dump(m.simulate_tally([n, 0, 0], dn.simulation(n)))).decode()
        return release.Window(
            number, "published", n, {"questions": [{"question": "q1", "state": "published", "tally": file}]}
        )

    whole = tally_of([window(0, 5), window(1, 7), window(2, 9)], "q1")
    assert isinstance(whole, Tally)
    assert whole.n == 21


# ---- reports that were kept


class Kept:
    """A store with reports by combination."""

    def __init__(self, id: str, rows: dict[Batch, list[bytes]], m: Any) -> None:
        self.id, self.rows, self._m = id, rows, m

    def tallies(self, task: str) -> dict[Batch, Any]:
        assert task == self.id
        return dict.fromkeys(self.rows)

    def reports(self, task: str, batch: Batch) -> list[bytes]:
        assert task == self.id
        return self.rows[batch]


def test_kept_reports_are_those_of_the_window_and_the_group_that_were_published() -> None:
    """In the order of their bytes, whatever the order of arrival; where some are missing none are written."""
    m = dn.mechanism("grr", epsilon=1.0, k=200)
    two = [Asked(text="?", design=m.design, name=name) for name in ("one", "two")]
    intake = intake_of(*two, strata={"land": ["DE", "FR"]}, windows=2)
    rows = {
        (0, 1, 1): [9, 3], (0, 1, 2): [7], (1, 1, 1): [5, 4], (1, 1, 0): [8, 1], (0, 0, 1): [2, 2],
    }  # fmt: skip
    batches = {
        Batch(window, question, (land,)): [bytes([question, land, value]) for value in values]
        for (window, question, land), values in rows.items()
    }

    def file(*values: int) -> str:
        reports = dn.Reports.from_rows(m.design, m.fields, [bytes([v]) for v in values], simulated=False)
        return b64encode(dn.dump(m.tally(reports))).decode()

    def part(*groups: tuple[list[dict[str, str]], list[int]]) -> dict[str, Any]:
        told = [{"strata": strata, "reports": len(own), "tally": file(*own)} for strata, own in groups]
        return {"question": "two", "state": "published", "groups": told}

    german: list[dict[str, str]] = [{"land": "DE"}]
    # the values of a stratum begin with that of those who do not tell
    first = part((german, [3, 9]), ([{}], [7]))
    second = part(([{}], [1, 4, 5, 8]))
    found = [
        release.Window(0, "published", 3, {"questions": [first]}),
        release.Window(1, "published", 4, {"questions": [second]}),
    ]
    store: Any = Kept(intake.task.id, batches, m)
    written = [
        (window, [r.row(i)[0] for i in range(len(r))]) for window, r in kept_reports(store, intake, found, "two")
    ]
    assert written == [(0, [3, 9]), (0, [7]), (1, [1, 4, 5, 8])]
    assert list(kept_reports(store, intake, found, "one")) == []
    batches[Batch(1, 1, (1,))] = [bytes([1, 1, 5])]
    with pytest.raises(FormatError) as told:
        list(kept_reports(store, intake, found, "two"))
    assert str(told.value).startswith(
        "3 reports are kept of a group of window 2; they are not the 4 that were published"
    )
    for batch in list(batches):
        batches[batch] = []
    assert list(kept_reports(store, intake, found, "two")) == [], "they were erased in time"


# ---- days


@pytest.mark.parametrize(("days", "count"), [(1, 1), (1, 3), (3, 2), (7, 1)])
def test_each_day_belongs_to_one_window_and_is_over_when_no_report_of_it_can_come(days: int, count: int) -> None:
    """All days around a task, by counting them one by one."""
    task, length = make_task(days=days, count=count), days * count
    around = {day: window_of(task, task.opens + timedelta(day)) for day in range(-4, length + 5)}
    last = {window: max(day for day, found in around.items() if found == window) for window in range(count)}
    for day, found in around.items():
        inside = min(max(day, 0), length - 1) // days
        assert found == ("early" if day < -1 else "late" if day > length else inside)
        for window in range(count):
            over = task.opens + timedelta(day) >= first_day_after(task, window)
            assert over == (day > last[window])


def test_strata_that_are_declared_one_by_one_are_counted_together() -> None:
    check_strata({})
    check_strata({str(i): ["a", "b"] for i in range(12)})  # 4,096
    with pytest.raises(dn.ParameterError, match="at most 4,096 combinations, got 8,192"):
        check_strata({str(i): ["a", "b"] for i in range(13)})


# ---- what is looked at


def test_each_body_has_its_first_reason_whatever_stands_beside_it() -> None:
    """The question before the strata, and the first of these; others of the same upload are judged as if alone."""
    m = dn.mechanism("grr", epsilon=1.0, k=5)
    document = task_document([m.design] * 2, strata={"a": ["0", "1"], "b": ["0", "1", "2"]})
    intake = Intake(canonical(document))
    table = {
        b"\0\0\0\0": None, b"\1\1\2\4": None, b"\2\0\0\0": "question", b"\2\2\3\5": "question",
        b"\0\2\0\0": "stratum", b"\0\0\3\0": "stratum", b"\1\1\2\5": "impossible", b"\1\1\2": "length",
        b"": "length", b"\1\1\2\4\0": "length",
    }  # fmt: skip
    assert intake.check(list(table)).reasons == list(table.values())
    for body, reason in table.items():
        assert intake.check([body]).reasons == [reason]
    checked = intake.check([body for body, reason in table.items() if reason is None])
    assert checked.fine.all()
    assert checked.counted is None, "they answer two questions"
    one = intake.check([b"\1\1\2\4", b"\1\0\0\3"])
    assert one.counted is not None
    assert (one.counted[0], one.counted[1].n) == (1, 2)
    assert intake.check([b"\1\1\2\4", b"\1\0\0\7"]).counted is None
