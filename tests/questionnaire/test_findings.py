"""What survey researchers once ran into, and the tests that hold it mended; new ones stand below the table."""

from __future__ import annotations

import json
import re
from datetime import date
from pathlib import Path

import pytest

from deniable.cli import main
from deniable.service.access.identity import Identity
from deniable.service.questionnaire.complete import problems
from deniable.service.questionnaire.document import read
from deniable.service.questionnaire.opening import task_of
from deniable.service.results.flat import COLUMNS
from deniable_client.task import Task
from named import faults_of

TESTS = Path(__file__).resolve().parents[1]
FINDINGS: dict[str, tuple[str, ...]] = {
    "1: weekly tasks fall silent in the third week, and nothing warns": (
        "questionnaire/test_outlook.py::test_devices_answer_every_window_of_what_is_recommended",
        "questionnaire/test_outlook.py::test_nothing_is_withheld_or_silent_without_being_told_before",
        "questionnaire/test_builder.py::test_twelve_windows_cannot_be_opened_and_say_why",
        "questionnaire/test_findings.py::test_a_task_of_eight_weeks_warns",
    ),
    "2: neighbouring windows only, no chart over time, other axes in each": (
        "pages/test_results.py::test_the_trend_is_that_of_all_published_windows_and_corrected_for_all_questions",
        "pages/test_results.py::test_charts_have_one_axis_and_order_for_all_windows",
        "estimate/test_change.py::test_a_trend_from_30_to_45_is_found",
    ),
    "3: the fifth question in a browser is refused after the answer": (
        "questionnaire/test_builder.py::test_earlier_surveys_are_said",
        "questionnaire/test_outlook.py::test_nothing_is_withheld_or_silent_in_many_cases",
    ),
    "4: sixty people, a silent minimum batch of a hundred, and a result that is not there": (
        "questionnaire/test_outlook.py::test_sixty_people_are_warned_and_still_published",
        "questionnaire/test_commands.py::test_sixty_people_get_a_result_and_closing_says_if_there_is_none",
    ),
    "5: 37, not sent, then 45 is refused; the page never shows the answer back": (
        "pages/test_answering.py::test_a_number_is_said_back_corrected_and_asked_about",
        "pages/test_answering.py::test_who_goes_back_and_forth_cannot_choose_the_noise",
    ),
    "6: nobody says who asks; no dates, drafts, preview; open is live at once": (
        "questionnaire/test_builder.py::test_from_nothing_to_an_open_task",
        "questionnaire/test_builder.py::test_the_preview_is_the_survey_page_and_cannot_send",
        "questionnaire/test_builder.py::test_languages_and_groups",
        "pages/test_dashboard.py::test_a_plan_becomes_a_draft_and_opens_nothing",
    ),
    "7: English pages under every language; 300 characters fail": (
        "pages/test_languages.py::test_every_page_is_of_one_language",
        "pages/test_answering.py::test_an_arabic_reader_answers_on_a_small_phone",
        "questionnaire/test_findings.py::test_a_question_of_300_characters_opens",
    ),
    "8: two targets on one page, and yes and no tested as two answers": (
        "pages/test_results.py::test_intervals_are_for_the_population_unless_told_otherwise",
        "pages/test_results.py::test_the_dashboard_says_which_target_and_switches",
        "estimate/test_change.py::test_yes_and_no_are_one_test",
    ),
    "9: six designs with equal buttons; 1.000 people is read as one": (
        "pages/test_dashboard.py::test_a_plan_recommends_one_design_and_folds_the_others",
        "questionnaire/test_document.py::test_numbers_with_two_readings_are_asked_about",
        "questionnaire/test_builder.py::test_wrong_inputs_are_explained_and_nothing_is_lost",
    ),
    "10: est.csv is JSON, the table is not documented, errors beside a file are not seen, two questions halve n": (
        "cli/test_service.py::test_results_are_what_the_ending_of_the_file_says",
        "questionnaire/test_findings.py::test_errors_are_seen_where_standard_output_is_a_file",
        "questionnaire/test_findings.py::test_the_flat_table_is_documented_column_by_column",
        "questionnaire/test_outlook.py::test_what_one_question_each_costs_is_said_and_what_together_would_gain",
    ),
    "11: charts on phones are shrunken pictures; the certificate lacks date, version, n, and is behind sign-in": (
        "pages/test_results.py::test_pages_of_results_have_no_fault_for_axe_and_do_not_scroll_sideways",
        "pages/test_results.py::test_the_public_page_speaks_every_language",
        "pages/test_results.py::test_verify_finds_a_changed_digit",
    ),
    "12: a page still says that there is no ledger": (
        "questionnaire/test_findings.py::test_weaknesses_that_are_told_are_those_of_today",
    ),
}


@pytest.mark.parametrize("finding", FINDINGS)
def test_every_finding_has_tests_that_can_fail(finding: str) -> None:
    assert faults_of(FINDINGS[finding]) == []


def test_a_question_of_300_characters_opens() -> None:
    """It is not shortened, and what the survey is about comes from its title."""
    text = "Why? " * 59 + "Why??"
    asked = read({"questionnaire": 1, "title": "Sleep", "who": "Uni Bern", "why": "To plan.", "people": 2000,
                  "questions": [{"kind": "yes-no", "text": text}]})  # fmt: skip
    assert problems(asked) == []
    task = Task.load(task_of(asked, Identity(bytes(32)), today=date(2026, 11, 2)))
    assert (task.subject, task.questions[0].text) == ("Sleep", text)
    assert len(text) == 300


def test_weaknesses_that_are_told_are_those_of_today() -> None:
    """There is a ledger, and what it cannot know is said."""
    page = " ".join((TESTS.parent / "docs/known-weaknesses.md").read_text("utf-8").split())
    assert re.search(r"(there is no|has no|lacks a) ledger", page) is None
    assert "A ledger knows one device" in page


# ---- those that had none


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DENIABLE_DATABASE", "sqlite:///t.db")
    return tmp_path


def test_a_task_of_eight_weeks_warns(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Finding 1, from a design: the same people would fall silent, and are said to decline."""
    assert main(["design", "ss", "--k", "4", "--epsilon", "1", "--json"]) == 0
    Path("d.json").write_text(capsys.readouterr().out)
    line = ["task", "new", "--design", "d.json", "--question", "How often?"]
    assert main([*line, "--windows", "8"]) == 0
    told = " ".join(capsys.readouterr().err.split())
    assert "warning: it costs epsilon 8 in all, and devices spend at most 2" in told
    assert main([*line, "--windows", "2"]) == 0
    assert "it costs epsilon" not in capsys.readouterr().err


@pytest.mark.parametrize(
    "line",
    [
        ("task", "show", "abcdef"),
        ("task", "export", "abcdef", "--out", "est.csv"),
        ("task", "export", "abcdef", "--no-such-option"),
        ("task", "questionnaire", "nobody.json"),
        ("plan", "--k", "0"),
        ("estimate", "nobody.tally"),
        ("nonsense",),
    ],
)
def test_errors_are_seen_where_standard_output_is_a_file(
    line: tuple[str, ...], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Finding 10: `--json > f` left the screen empty. The file has the error, and so has standard error."""
    assert main([*line, "--json"]) == 2
    done = capsys.readouterr()
    error = json.loads(done.out)["error"]
    assert error["message"]
    assert " ".join(error["message"].split()) in " ".join(done.err.split())
    assert not (folder / "est.csv").exists()


def test_the_flat_table_is_documented_column_by_column() -> None:
    """Finding 10: the page of formats has each column, in the order in which they are written."""
    text = (TESTS.parent / "docs" / "formats.md").read_text("utf-8")
    page = text[text.index("One row for each window, question, group and") :]
    rows = [line.split("|")[1].strip().strip("`") for line in page.splitlines() if line.startswith("| `")]
    assert rows[: len(COLUMNS)] == list(COLUMNS)
    api = (TESTS.parent / "docs" / "http.md").read_text("utf-8")
    assert "GET /tasks/{id}/export.{kind}" in api
