"""The table of questions: every row is whole, and what differs by question is asked of it alone."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any

import pytest

import deniable as dn
from deniable.errors import ParameterError
from deniable.mechanisms.registry import MECHANISMS, PROTOCOLS
from deniable.plan.questions import PLANS
from deniable.run.questions import QUESTIONS, Question, question_of
from deniable.run.results import Shown
from deniable.service.release import forged


@pytest.mark.parametrize("name", [field.name for field in fields(Question)])
def test_a_question_without_one_of_its_pieces_cannot_be_made(name: str) -> None:
    """So that it does not fail when its first window is published."""
    row = QUESTIONS["frequency"]
    whole = {field.name: getattr(row, field.name) for field in fields(Question)}
    assert Question(**whole) == row
    assert all(field.default is MISSING and field.default_factory is MISSING for field in fields(Question))
    with pytest.raises(TypeError, match=f"missing 1 required positional argument: '{name}'"):
        Question(**{own: value for own, value in whole.items() if own != name})


def test_every_row_of_the_registry_has_its_question() -> None:
    for name in (*MECHANISMS, *PROTOCOLS):
        assert question_of(name) in QUESTIONS.values()


@pytest.mark.parametrize(
    ("name", "options", "told"),
    [
        ("grr", {"k": 4}, "1 % of forged reports can raise the share of one answer by at most 2."),
        ("kv-ss", {"k": 4}, "raise the frequency of one key by at most"),
        ("brr", {"k": 4}, "to the mean loss."),
        ("hm", {"interval": (0, 1)}, "move the mean by at most"),
    ],
)
def test_what_forged_reports_can_do_is_said_by_question(name: str, options: dict[str, Any], told: str) -> None:
    found = forged(dn.mechanism(name, epsilon=1.0, **options))
    assert told in found["text"]
    assert question_of(name).forged(found["gain"]) in found["text"]


def test_forged_reports_move_shares_in_points_and_numbers_as_they_are() -> None:
    told = {name: row.forged(0.1231) for name, row in QUESTIONS.items()}
    assert told == {
        "frequency": "raise the share of one answer by at most 12.4 percentage points",
        "range": "raise the share of a range by at most 12.4 percentage points",
        "key-value": "raise the frequency of one key by at most 12.4 percentage points",
        "release": "add at most 0.123 to the mean loss",
        "mean": "move the mean by at most 0.123",
        "direction": "move the end of the resultant by at most 0.123",
    }


def test_errors_of_means_have_the_unit_of_the_numbers() -> None:
    units = {name: row.unit for name, row in QUESTIONS.items()}
    own = dict.fromkeys(("mean", "direction"), "in the unit of the numbers")
    assert units == dict.fromkeys(units, "in percentage points") | own


def test_pages_ask_for_answers_and_for_numbers() -> None:
    forms = {row.form.kind: row for row in QUESTIONS.values() if row.form is not None}
    assert {kind: row.name for kind, row in forms.items()} == {"shares": "frequency", "mean": "mean"}
    filled = {"answers": "a\n b \n\n", "sensitive": "a", "low": "0", "high": "100"}
    for kind, told in (("shares", {"top": 6, "sensitive": "a"}), ("mean", {"interval": "0,100"})):
        form = forms[kind].form
        assert form is not None
        found = form.read(filled)
        assert {name: value for name, value in found.items() if name != "domain"} == told
        assert set(found) <= {*PLANS[forms[kind].name].takes}
    with pytest.raises(ParameterError, match="highest number must be a number, got 'x'"):
        QUESTIONS["mean"].form.read({"low": "0", "high": "x"})  # type: ignore[union-attr]


def test_what_an_estimate_is_made_into_first_is_refused_for_other_questions() -> None:
    m = dn.mechanism("grr", epsilon=1.0, k=3)
    found = m.estimate(m.tally(m.privatize([0, 1, 2] * 9, rng=dn.simulation(1))))
    with pytest.raises(ParameterError, match="shrink must be left out for shares of values, got 2"):
        question_of("grr").show(found, 0.95, "reporters", False, shrink=2)
    pairs = dn.mechanism("kv-ss", epsilon=1.0, k=3)
    both = pairs.estimate(pairs.tally(pairs.privatize([(i, i % 3, 0.5) for i in range(30)], rng=dn.simulation(2))))
    shown = question_of("kv-ss").show(both, 0.95, "reporters", False, shrink=2)
    assert (shown.bias, shown.facts["range"]) == (("shrunk",), [-1.0, 1.0])
    assert list(shown.columns) == ["value", "stderr", "low", "high", "mean", "mean_low", "mean_high", "too_rare"]


def test_the_largest_of_a_fine_estimate_are_drawn_one_by_one() -> None:
    """All of them in bins, as single numbers say nothing; some of them as they are, and the chart says how many."""
    pytest.importorskip("altair", reason="charts need the extra: pip install 'deniable[charts]'")
    m = dn.mechanism("sw", epsilon=1.0, interval=(0, 1))
    shown = Shown.of(m.fit(m.tally(m.privatize([0.25, 0.75] * 200, rng=dn.simulation(1)))))
    whole, largest = (one.chart("T").to_dict() for one in (shown, shown.top(3)))
    assert len(whole["data"]["values"]) < 10 < shown.total == m.k
    assert [row["label"] for row in largest["data"]["values"]] == list(shown.top(3).labels)
    assert f"the 3 largest of {m.k:,}" in " ".join(largest["title"]["subtitle"])
