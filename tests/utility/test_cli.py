"""ULDP on the command line: the audit that says no, a design, a simulation, clear errors."""

from __future__ import annotations

import json
from typing import Any

import pytest

from deniable.cli import main

ULH = ["audit", "ulh", "--epsilon", "1", "--k", "30", "--sensitive", "25", "--g", "4", "--theta", "0.95", "--json"]


def told(capsys: pytest.CaptureFixture[str], *line: str) -> tuple[int, Any]:
    code = main(list(line))
    return code, json.loads(capsys.readouterr().out)


def test_audit_of_the_printed_mechanism_says_no_with_its_witness(capsys: pytest.CaptureFixture[str]) -> None:
    code, found = told(capsys, *ULH, "--form", "paper")
    assert (code, found["holds"], found["vetted"]) == (1, False, False)
    assert found["epsilon_exact"] == pytest.approx(1.3263256, abs=1e-7)
    assert (found["witness"]["likely"], found["witness"]["unlikely"]) == (0, 25)
    assert "alone" in found["witness"]["output"]


@pytest.mark.parametrize("form", ["null", "glutf"])
def test_audit_of_valid_forms_says_yes(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, found = told(capsys, *ULH, "--form", form)
    assert (code, found["holds"], found["vetted"]) == (0, True, True)


def test_small_cases_are_enumerated_over_all_hash_functions(capsys: pytest.CaptureFixture[str]) -> None:
    line = ["audit", "ulh", "--epsilon", "1", "--k", "4", "--sensitive", "3", "--g", "2", "--json"]
    code, found = told(capsys, *line)
    assert (code, found["agrees"]) == (0, True)
    assert "disclose a harmless value" in found["enumerated"]
    code, found = told(capsys, *line, "--form", "paper")
    assert (code, found["agrees"], found["witness"]["output"]) == (1, True, "hash (0, 0, 1) report 1")


def test_design_and_simulation_with_labels(capsys: pytest.CaptureFixture[str]) -> None:
    labels = ["--labels", "well,ill,tired", "--sensitive", "ill,tired"]
    code, found = told(capsys, "design", "uss", "--epsilon", "1", *labels, "--n", "1000", "--json")
    assert code == 0
    assert found["params"]["sensitive"] == [1, 3]
    assert found["gap"] >= -1e-9
    simulate = ["simulate", "uss", "--epsilon", "2", "--data", "zipf", "--k", "12", "--n", "2000", "--runs", "3"]
    code, found = told(capsys, *simulate, "--sensitive", "4", "--theta", "0.3", "--json")
    assert code == 0
    assert 0.2 < found["ratio"] < 5


def test_a_sensitive_label_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    code, found = told(capsys, "design", "uss", "--epsilon", "1", "--labels", "a,b", "--sensitive", "c", "--json")
    assert code == 2
    assert "got 'c'" in found["error"]["message"]


def test_design_and_audit_with_budgets_of_their_own(capsys: pytest.CaptureFixture[str]) -> None:
    line = ["uue-levels", "--k", "6", "--sensitive", "4", "--item-epsilon", "1,1,2,2", "--flip", "0.35", "--json"]
    code, found = told(capsys, "design", *line)
    assert (code, found["epsilon"]) == (0, 2.0)
    assert [round(e, 5) for e in found["guarantee"]["items"]] == [1.0, 1.0, 1.38096, 1.38096]
    assert found["guarantee"]["kept"] is True
    code, found = told(capsys, "audit", *line)
    assert (code, found["holds"], found["agrees"]) == (0, True, True)
