"""Task documents: read by an allow-list, named by their content, never believed before their designs are proved."""

from __future__ import annotations

import base64
import copy
import dataclasses
import json
import time
from collections import Counter
from datetime import date
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from deniable_client import DeniableError, FormatError, ParameterError, PrivacyError, ReplayWords, Task, WindowError
from deniable_client.canonical import canonical
from deniable_client.questions import amount_of
from deniable_client.signing import verify
from deniable_client.task import NOT_TOLD, seal, signed_part
from tasks import GRR, asked, document, loaded, sealed, vectors

FILE = vectors("tasks")


def second(about: str) -> dict[str, Any]:
    """A good task of version 2."""
    found: dict[str, Any] = next(case["task"] for case in FILE["good"] if case["about"] == f"2: {about}")
    return copy.deepcopy(found)


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
    assert (task.question_at, task.strata_at, str(task.expires)) == tuple(
        case[name] for name in ("question_at", "strata_at", "expires")
    )


@pytest.mark.parametrize("case", FILE["cases"], ids=lambda case: case["about"])
def test_other_documents_are_refused(case: dict[str, Any]) -> None:
    with pytest.raises(DeniableError) as refused:
        Task.load(raw(case))
    assert kind_of(refused.value) == case["error"]


def test_the_spelling_does_not_matter() -> None:
    for case in FILE["spellings"]:
        assert Task.load(raw(case)).id == FILE["days"]["task"]["id"], case["about"]


@pytest.mark.parametrize("name", ["days", "days2"])
def test_a_task_is_open_in_its_windows(name: str) -> None:
    task = Task.load(FILE[name]["task"])
    for case in FILE[name]["cases"]:
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
    with pytest.raises(FormatError, match="task version 3 is unknown; this client has 1 and 2"):
        Task.load({"version": 3, "block": []})


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
    terms = "\n".join(Task.load(second("strata")).terms())
    for part in (
        "Example Institute asks.",
        f"Its key is {second('grr')['collector']['key'][:16]}..; reports go to https://collect.example.org",
        'The collector asks: "q?"',
        "No answer, or one that the question does not have, counts as 0.",
        "Sent openly with your report: country, one of not told, DE, FR.",
        "That you take part is not hidden.",
        "at most 8 times within 7 days; from 2026-12-01 on nothing is sent any more.",
        "Asked once in each of 2 windows of 7 days, 2026-11-16 to 2026-11-29.",
        "A report costs epsilon 1, whether or not you answered; 2 of them, 2 in all.",
        "at most epsilon 2 of you in a year",
        "erased once they are counted",
    ):
        assert part in terms
    assert "no address vouches for it" in "\n".join(Task.load(second("no address")).terms())
    kept = Task.load(second("reports are kept")).terms()
    assert "Reports are kept for 0 days after the last window." in "\n".join(kept)


def test_terms_of_an_old_task_say_so() -> None:
    terms = "\n".join(loaded(memory="first").terms())
    assert "This is an old task (version 1): nobody signed it" in terms
    assert "The first answer is sent, and no other." in terms


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


SIGNATURES = vectors("signatures")


@pytest.mark.parametrize("kind", ["good", "bad"])
def test_signatures_are_checked(kind: str) -> None:
    for case in SIGNATURES[kind]:
        parts = (bytes.fromhex(case[name]) for name in ("key", "signature", "message"))
        assert verify(*parts) is (kind == "good"), case["about"]


def test_signatures_of_other_lengths_do_not_hold() -> None:
    case = SIGNATURES["good"][0]
    key, signature, message = (bytes.fromhex(case[name]) for name in ("key", "signature", "message"))
    assert verify(key, signature, message)
    for wrong in ((key[:-1], signature), (key + b"\0", signature), (key, signature[:-1]), (key, signature + b"\0")):
        assert not verify(*wrong, message)


def test_no_bit_of_a_signed_task_can_be_changed() -> None:
    """One bit of each byte of a small document, in turns: none is accepted, and none breaks the reader."""
    data = canonical(second("one window"))
    for place in range(len(data)):
        changed = bytearray(data)
        changed[place] ^= 1 << place % 8
        with pytest.raises(FormatError):
            Task.load(bytes(changed))


def test_a_task_cannot_be_made_or_changed_otherwise() -> None:
    task = Task.load(second("grr"))
    with pytest.raises(ValueError, match="read"):
        dataclasses.replace(task, epsilon=1e-9)
    with pytest.raises(ParameterError, match=r"is read with Task\.load"):
        dataclasses.replace(task, epsilon=1e-9, read=object())


def test_seal_signs() -> None:
    private = Ed25519PrivateKey.from_private_bytes(bytes([7]) * 32)
    made = {name: part for name, part in second("grr").items() if name not in ("id", "signature")}
    assert seal(made, private.sign) == second("grr")
    assert signed_part("ab" * 32) == b"deniable/2 task\0" + b"\xab" * 32
    with pytest.raises(ParameterError, match="sign must be given"):
        seal(made)
    with pytest.raises(FormatError, match="is not signed with the key"):
        seal(made, lambda message: bytes(64))


def test_the_answer_for_no_answer_is_what_a_device_reports() -> None:
    question = Task.load(second("labels of the task")).questions[0]
    assert question.device().answer(question.value("never")) == question.device().answer(object()) == 0
    pairs = Task.load(second("pairs for no answer")).questions[0]
    assert pairs.device().answer("nothing") == pairs.device().answer([[1, -0.25]])


def test_a_random_answer_for_none_is_any_protected_one_wherever_they_are() -> None:
    """Between the answers that a report may name, before and after them; each for as many words."""
    base = {"kind": "response", "k": "3", "keep": str(1 << 63)}
    kernel = {"kind": "utility", "k": "6", "sensitive": ["0", "1", "3", "4", "5", "6"], "base": [base]}
    params = {"base": {"mechanism": "grr", "params": {}}, "sensitive": [0, 1, 3, 4, 5, 6], "theta": 0.5, "form": "null"}
    design = {"mechanism": "urr", "version": 1, "epsilon": 2, "domain": {"k": 6}, "params": params}
    design["kernel"] = kernel | {"plain": str(1 << 62), "attach": "0", "blind": "1"}
    made = asked(design=design, epsilon=2, questions=[[{"name": "q", "text": "?", "none": None}]])
    question = Task.load(made).questions[0]
    device = question.device([1, 2, 4])
    words = [((2 * i + 1) << 64) // 12 for i in range(6)]
    assert [question.nothing(device, ReplayWords([word])) for word in words] == [0, 0, 3, 3, 5, 5]


def test_strata_that_are_left_out_are_not_told() -> None:
    task = Task.load(second("a survey"))
    assert task.strata["country"] == (NOT_TOLD, "DE", "FR") == ("not told", "DE", "FR")
    asked = task.question("second")
    assert task.head(asked) == bytes([0, 0, 1])
    assert task.head(asked, {"country": "FR"}) == bytes([2, 0, 1])
    with pytest.raises(ParameterError, match="strata must be given for exactly"):
        task.head(asked, {"town": "x"})


@pytest.mark.parametrize(
    ("sizes", "fits"),
    [
        ([63, 63], True),
        ([15, 15, 15], True),
        ([3] * 6, True),
        ([1] * 8, True),
        ([240, 16], False),  # 4097
        ([63, 64], False),
        ([15, 15, 16], False),
        ([4] * 6, False),  # 4096 without those not told
        ([3] * 7, False),
    ],
)
def test_combinations_of_strata_are_counted_with_those_not_told(sizes: list[int], fits: bool) -> None:
    """4096 at most: the collector keeps a tally of each, and every client draws the same line."""
    strata = [{"name": f"s{i}", "values": [f"v{j}" for j in range(size)]} for i, size in enumerate(sizes)]
    if fits:
        assert [len(values) for values in Task.load(asked(strata=strata)).strata.values()] == [n + 1 for n in sizes]
    else:
        with pytest.raises(FormatError, match="at most 4096 combinations, with those not told"):
            Task.load(asked(strata=strata))


def test_texts_of_a_task_are_bounded_together() -> None:
    german = {"subject": "x", "questions": [[{"text": "x" * 10_000}]]}
    tags = [f"l{chr(97 + i // 26)}{chr(97 + i % 26)}" for i in range(105)]
    many = second("grr") | {"translations": dict.fromkeys(tags, german)}
    with pytest.raises(FormatError, match="texts of a task must be at most 1048576 characters"):
        seal(many, lambda message: bytes(64))


def test_a_task_has_at_most_four_mebibytes() -> None:
    data = canonical(second("grr"))
    assert Task.load(data.ljust(1 << 22)).version == 2
    with pytest.raises(FormatError, match="the task has 4194305 bytes, more than 4194304"):
        Task.load(data.ljust((1 << 22) + 1))


def test_equal_designs_are_proved_once() -> None:
    """255 questions of the slowest design there is; proved one by one they are more than a device does."""
    case = next(case for case in FILE["cases"] if case["about"].startswith("2: 20 proofs"))
    made = json.loads(raw(case))
    wide = made["design"]["parts"][0]
    made["design"] |= {"parts": [wide] * 255, "shares": [1] * 255}
    made["questions"] = [[{"name": f"q{i}", "text": "?", "none": 0}] for i in range(255)]
    private = Ed25519PrivateKey.from_private_bytes(bytes([7]) * 32)
    start = time.process_time()
    assert len(Task.load(seal(made, private.sign)).questions) == 255
    assert time.process_time() - start < 10  # 255 proofs take 12 s and more


@pytest.mark.parametrize("number", range(len(FILE["joint"])))
def test_answers_to_questions_asked_together_have_one_number(number: int) -> None:
    """By their labels or numbers; what is missing counts as that question's own, or makes it no answer at all."""
    file = FILE["joint"][number]
    asked = Task.load(file["task"]).questions[0]
    assert [asked.joint(case["given"]) for case in file["cases"]] == [case["number"] for case in file["cases"]]
    sizes = [len(one.labels) for one in asked.together]
    every = [asked.joint([a, asked.together[1].labels[b]]) for a in range(sizes[0]) for b in range(sizes[1])]
    assert every == list(range(asked.explanation.design.domain.answers))


def test_hostile_surveys_are_among_the_cases() -> None:
    """A part that leaks, a deal that looks at answers, two parts of one person, a share of 0, parts beyond a byte."""
    found = {case["about"]: case["error"] for case in FILE["cases"]}
    wanted = {
        "2: the second part leaks": "privacy",
        "2: asked together: a box that leaks": "privacy",
        "2: a survey: a deal that looks at the answer": "format",
        "2: a survey: two parts for each": "format",
        "2: asked together: two parts of one person": "format",
        "2: a design of parts: a share of 0": "format",
        "2: a design of parts: 256 parts": "format",
    }
    assert {about: found.get(about) for about in wanted} == wanted
