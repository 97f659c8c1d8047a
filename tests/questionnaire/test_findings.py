"""What survey researchers once ran into, and the tests that hold it mended; new ones stand below the table."""

from __future__ import annotations

import ast
import json
from functools import cache
from pathlib import Path

import pytest

from deniable.cli import main
from deniable.service.results.flat import COLUMNS

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
    "6: nobody says who asks; no dates, drafts, preview; open is live at once": (
        "questionnaire/test_builder.py::test_from_nothing_to_an_open_task",
        "questionnaire/test_builder.py::test_the_preview_is_the_survey_page_and_cannot_send",
        "questionnaire/test_builder.py::test_languages_and_groups",
        "pages/test_dashboard.py::test_a_plan_becomes_a_draft_and_opens_nothing",
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
}


@cache
def functions(path: str) -> dict[str, ast.FunctionDef]:
    tree = ast.parse((TESTS / path).read_text("utf-8"))
    return {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("finding", FINDINGS)
def test_every_finding_has_tests_that_can_fail(finding: str) -> None:
    for test in FINDINGS[finding]:
        path, _, name = test.partition("::")
        found = functions(path).get(name)
        assert found is not None, f"{test} is gone"
        marks = " ".join(ast.unparse(each) for each in found.decorator_list)
        assert "skip" not in marks, test
        assert "xfail" not in marks, test


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
