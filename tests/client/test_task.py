"""Task documents: read by an allow-list, named by their content, never believed before their designs are proved."""

from __future__ import annotations

import base64
import json
from collections import Counter
from datetime import date
from typing import Any

import pytest

from deniable_client import DeniableError, FormatError, ParameterError, PrivacyError, ReplayWords, Task, WindowError
from deniable_client.canonical import canonical
from deniable_client.task import amount_of, seal
from tasks import GRR, document, loaded, sealed, vectors

FILE = vectors("tasks")


def raw(case: dict[str, Any]) -> bytes:
    """The bytes of a case."""
    return case["text"].encode() if "text" in case else base64.b64decode(case["base64"])


def kind_of(error: DeniableError) -> str:
    """The kind of an error as vectors have it."""
    return type(error).__name__.removesuffix("Error").lower()


@pytest.mark.parametrize("case", FILE["good"], ids=lambda case: case["about"])
def test_good_tasks_are_read(case: dict[str, Any]) -> None:
    task = Task.load(canonical(case["task"]))
    assert task.id == case["task"]["id"]
    assert task.width == case["width"]
    assert [question.key for question in task.questions] == case["questions"]
    assert Task.load(task.document).id == task.id
    assert all(question.device(case["harmless"]) for question in task.questions)


@pytest.mark.parametrize("case", FILE["cases"], ids=lambda case: case["about"])
def test_other_documents_are_refused(case: dict[str, Any]) -> None:
    with pytest.raises(DeniableError) as refused:
        Task.load(raw(case))
    assert kind_of(refused.value) == case["error"]


def test_the_spelling_does_not_matter() -> None:
    for case in FILE["spellings"]:
        assert Task.load(raw(case)).id == FILE["days"]["task"]["id"], case["about"]


def test_a_task_is_open_in_its_windows() -> None:
    task = Task.load(FILE["days"]["task"])
    for case in FILE["days"]["cases"]:
        today = date.fromisoformat(case["today"])
        if "error" in case:
            with pytest.raises(WindowError, match=r"nothing is sent any more|is not open today"):
                task.window(today)
        else:
            assert task.window(today) == case["window"]


def test_no_bit_can_be_changed() -> None:
    """All documents that differ in one bit from a small one: none is accepted, and none breaks the reader."""
    data = canonical(document())
    assert Task.load(data).memory == "remembered"
    kinds: Counter[str] = Counter()
    for place in range(8 * len(data)):
        changed = bytearray(data)
        changed[place // 8] ^= 1 << place % 8
        with pytest.raises(DeniableError) as refused:
            Task.load(bytes(changed))
        kinds[kind_of(refused.value)] += 1
    assert kinds == {"format": 8 * len(data)}


def test_the_expected_id_is_compared() -> None:
    data = canonical(document())
    assert Task.load(data, expect=document()["id"]).id == document()["id"]
    with pytest.raises(FormatError, match="the task was altered"):
        Task.load(data, expect=document(min_batch=11)["id"])


def test_another_version_is_named_before_its_fields() -> None:
    with pytest.raises(FormatError, match="task version 2 is unknown; this client has 1"):
        Task.load({"version": 2, "block": []})


def test_a_design_that_costs_more_than_the_task_says_is_refused() -> None:
    budget = {"task": 2, "subject": 2, "lifetime": 2}
    with pytest.raises(PrivacyError, match=r"question q costs epsilon 1, more than the 0\.99 that the task says"):
        loaded(epsilon=0.99, budget=budget)


def test_seal_makes_the_id_and_all_checks() -> None:
    made = {name: part for name, part in document().items() if name != "id"}
    assert seal(made) == document()
    assert seal(document() | {"id": "wrong"}) == document()
    with pytest.raises(FormatError, match="min_batch of a task must be a whole number"):
        seal(made | {"min_batch": 0})


def test_a_task_that_is_no_mapping_of_texts_is_refused() -> None:
    for bad in ({1: 2}, {"version": float("nan")}, {"version": {1}}, document() | {"min_batch": 2**60}):
        with pytest.raises(FormatError):
            Task.load(bad)  # type: ignore[arg-type]


def survey(*shares: int) -> Task:
    """A task with so many questions."""
    questions = [{"name": f"q{i}", "text": f"{i}?", "design": GRR, "share": share} for i, share in enumerate(shares)]
    return loaded(questions=questions)


def test_questions_are_dealt_by_their_shares_exactly() -> None:
    """Every number below the sum of shares once: each question as often as its share says."""
    task = survey(3, 1, 2)
    words = [-(-(i << 64) // 6) + 5 for i in range(6)]
    dealt = Counter(task.deal(ReplayWords([word])).name for word in words)
    assert dealt == {"q0": 3, "q1": 1, "q2": 2}


def test_bodies_of_a_task_have_one_length() -> None:
    task = Task.load(vectors("ledger")["deals"]["task"])
    strata = {"country": "FR", "phone": "not said"}
    bodies = [task.body(question, b"\1" * question.width, strata) for question in task.questions]
    assert {len(body) for body in bodies} == {task.width}
    assert [body[:3] for body in bodies] == [bytes([i, 1, 2]) for i in range(3)]
    for wrong in (None, {}, {"country": "FR"}, {**strata, "more": "x"}, {"country": "IT", "phone": "no"}):
        with pytest.raises(ParameterError, match=r"must be given for exactly|must be one of"):
            task.body(task.questions[0], b"", wrong)


def test_labels_of_the_task_are_answers_and_consent() -> None:
    design = next(case["task"]["questions"][0]["design"] for case in FILE["good"] if case["about"] == "urr")
    labels = ["never", "once", "often", "daily"]
    task = loaded(questions=[{"name": "q", "text": "?", "design": design, "share": 1, "labels": labels}])
    question = task.questions[0]
    assert question.device(["often", "daily"]).answer(question.value("once")) == 1
    with pytest.raises(PrivacyError, match="consent was given for"):
        question.device(["often"])
    assert "Answers by number: 0 is never, 1 is once, 2 is often, 3 is daily." in task.terms()


def test_labels_make_another_question() -> None:
    plain = next(case["task"]["questions"][0] for case in FILE["good"] if case["about"] == "grr")
    one, other = (loaded(questions=[plain | {"labels": labels}]).questions[0] for labels in (["a", "b"], ["b", "a"]))
    assert one.key != other.key


def test_terms_say_everything_that_matters() -> None:
    terms = "\n".join(loaded(collector="Institute", strata=[{"name": "country", "values": ["DE", "FR"]}]).terms())
    for part in (
        "Institute asks.",
        'The collector asks: "Tired?"',
        "epsilon 1",
        'at most 2 for this task, 4 for all about "sleep", 8 in all',
    ):
        assert part in terms
    assert "Sent openly with your report: country, one of DE, FR." in terms
    assert "once in each of 2000 windows of a day" in terms
    assert "erased once they are counted" in terms
    assert "kept for 30 days" in "\n".join(loaded(retention={"keep": "reports", "days": 30}).terms())


def test_terms_cannot_move_the_cursor_or_add_lines() -> None:
    evil = 'Fine?"\nAn answer costs\tepsilon 0. "'
    question = {"name": "q", "text": evil, "design": GRR, "share": 1}
    terms = loaded(questions=[question]).terms()
    assert all(line.isprintable() for line in terms)
    assert r'The collector asks: "Fine?\" An answer costs epsilon 0. \""' in terms
    for sign in ("\x1b", "\u202e", "\u2028", "\U000e0100"):
        for field in ("collector", "subject"):
            with pytest.raises(FormatError, match=f"{field} of a task must be a text that people can see"):
                loaded(**{field: f"Fine{sign}[2J"})
        with pytest.raises(FormatError, match="text of q of a task"):
            loaded(questions=[question | {"text": f"Fine{sign}?"}])


@pytest.mark.parametrize(
    ("numbers", "total"), [([0.1, 0.1, 0.1], 0.3), ([0.7, 0.1], 0.8), ([1, 2], 3), ([1e-12], 1e-12)]
)
def test_amounts_add_up_as_they_are_written(numbers: list[float], total: float) -> None:
    assert sum(map(amount_of, numbers)) == amount_of(total)


def test_amounts_keep_every_digit() -> None:
    assert amount_of(1.0000000000000002e-12) - amount_of(1e-12) == 2 * 10 ** (30 - 28)
    assert amount_of(0.30000000000000004) > amount_of(0.3)


def test_the_document_is_what_was_read() -> None:
    task = loaded()
    assert json.loads(canonical(task.document)) == document()
    assert sealed(document())["id"] == task.id
