"""What the page of a task works out: tables, differences of windows, reports still needed, what forgers can do."""

from __future__ import annotations

from datetime import date
from types import SimpleNamespace
from typing import Any

import pytest

from deniable.errors import ParameterError
from deniable.mechanisms.entry import DIRECTION, FREQUENCY, MEAN
from deniable.service.pages import dashboard, looking
from deniable.service.pages.looking import alarm, compared, needed, told, wanted_range
from deniable.service.release import PUBLISHED, WITHHELD, Window
from deniable.service.results.reading import estimate_in
from deniable.service.texts.catalogue import texts

EN, DE = texts("desk", "en"), texts("desk", "de")


def estimate(labels: list[str], **columns: Any) -> dict[str, Any]:
    usual = {"value": [0.125] * len(labels), "stderr": [0.02] * len(labels)}
    return {"labels": labels, "n": 400, **usual, "low": [0.1] * len(labels), "high": [0.15] * len(labels), **columns}


def part(state: str = PUBLISHED, **more: Any) -> dict[str, Any]:
    return {"question": "q", "text": "Which?", "reports": 40, "state": state, **more}


# ---- tables


def test_a_table_has_shares_in_points_and_means_in_their_unit() -> None:
    shares = told(part(estimate=estimate(["a", "b"], value=[0.12345, -0.001])), EN, 40)
    assert shares.head == ("answer", "share", "standard error of the share", "share from", "share to")
    assert shares.rows == (("a", "12.35%", "2%", "10%", "15%"), ("b", "-0.1%", "2%", "10%", "15%"))
    assert (shares.question, shares.text, shares.reports, shares.why, shares.note) == ("q", "Which?", 40, "", "")
    mean = estimate(["m"], part="mean", value=[6.25], stderr=[0.5], low=[5.25], high=[None], note="By and by.")
    numbers = told(part(estimate=mean), EN, 40)
    assert numbers.head == ("answer", "mean", "standard error of the mean", "mean from", "mean to")
    assert numbers.rows == (("mean", "6.25", "0.5", "5.25", "too rare to say"),)
    assert numbers.note == "By and by."
    several = told(part(estimate=estimate(["x", "y"], part="mean")), EN, 40)
    assert [row[0] for row in several.rows] == ["x", "y"], "of several means each has its name"


def test_a_table_of_keys_has_the_means_beside_the_shares() -> None:
    keys = estimate(["a"], mean=[0.5], mean_stderr=[0.25], mean_low=[float("nan")], mean_high=[1.0])
    found = told(part(estimate=keys), EN, 40)
    means = ("mean", "standard error of the mean", "mean from", "mean to")
    assert found.head == ("answer", "share", "standard error of the share", "share from", "share to", *means)
    assert found.rows == (("a", "12.5%", "2%", "10%", "15%", "0.5", "0.25", "too rare to say", "1"),)
    fewer = told(part(estimate={**keys, "mean_stderr": None, "stderr": None}), EN, 40)
    assert fewer.head == ("answer", "share", "share from", "share to", "mean", "mean from", "mean to")


@pytest.mark.parametrize("count", [1, 50, 51, 120])
def test_fifty_answers_are_shown_and_the_others_unfold(count: int) -> None:
    labels = [str(i) for i in range(count)]
    found = told(part(estimate=estimate(labels)), EN, 40)
    assert [row[0] for row in found.rows] == labels[:50]
    assert [row[0] for row in found.rest] == labels[50:]


@pytest.mark.parametrize(
    ("state", "reports", "why", "english"),
    [
        (WITHHELD, 39, "39 reports are fewer than the minimum batch of 40", False),
        (WITHHELD, 40, "elsewhere", True),
        (PUBLISHED, 39, "elsewhere", True),
        ("open", 0, "elsewhere", True),
    ],
)
def test_why_there_is_no_table_is_said(state: str, reports: int, why: str, english: bool) -> None:
    more = {"estimate": None} if state == PUBLISHED else {"estimate": estimate(["a"])}
    found = told({**part(state, why="elsewhere", **more), "reports": reports}, EN, 40)
    assert (found.why, found.english, found.rows, found.head) == (why, english, (), ())


# ---- windows compared


class Made:
    """An estimate whose difference to any other is given."""

    def __init__(self, *pvalues: float, range: Any = None, value: float = 0.25) -> None:
        self.range, self.value = range, value
        self.pvalues = pvalues

    def compare(self, other: Made) -> Any:
        n = len(self.pvalues)
        labels = [f"answer {i}" for i in range(n)]
        spread = [0.125] * n
        difference = [self.value - other.value] * n
        return SimpleNamespace(labels=labels, value=difference, stderr=spread, pvalue_adjusted=self.pvalues)


class Biased(Made):
    """An estimate that cannot be compared."""

    def compare(self, other: Made) -> Any:
        raise ParameterError("compare takes unbiased estimates.")


def windows(*found: Made | None) -> list[Window]:
    made = []
    for i, each in enumerate(found):
        own = part(found=each) if each is not None else part(WITHHELD)
        made.append(Window(i, PUBLISHED, 40, {"questions": [part(found=Made(0.0)) | {"question": "other"}, own]}))
    return made


QUESTION: Any = SimpleNamespace(name="q", labels=None)


def test_each_published_window_is_compared_with_the_one_before() -> None:
    made = windows(Made(0.5, value=0.1), None, Made(0.02, value=0.4), Made(0.3, value=0.7))
    assert estimate_in(made[0].document["questions"][1], QUESTION).value == 0.1  # type: ignore[index,comparison-overlap]
    one, two = compared(QUESTION, made, EN)
    assert (one.first, one.second) == ("window 3", "window 1"), "the one between was withheld"
    assert (two.first, two.second) == ("window 4", "window 3")
    assert one.rows == (("answer 0", "30", "12.5", "0.04"),), "points; the p-value is doubled for two comparisons"
    assert two.rows == (("answer 0", "30", "12.5", "0.6"),)
    assert (one.clear, two.clear) == (1, 0)
    assert compared(QUESTION, made[:2], EN) == []
    assert compared(QUESTION, [], EN) == []


def test_at_most_twelve_comparisons_are_shown_and_corrected_for() -> None:
    made = windows(*[Made(0.001)] * 15)
    found = compared(QUESTION, made, EN)
    assert [pair.first for pair in found] == [f"window {i}" for i in range(2, 14)]
    assert {pair.rows[0][3] for pair in found} == {"0.012"}
    assert len(compared(QUESTION, made, EN, most=2)) == 2
    assert compared(QUESTION, windows(Made(0.1), Biased(0.1), Made(0.1)), EN) == [], "all or none"


def test_differences_stand_with_the_smallest_chances_first() -> None:
    pvalues = [0.5, 0.0004, 0.05, 0.0499, 0.001, 1.0]
    (found,) = compared(QUESTION, windows(Made(0.0), Made(*pvalues)), EN)
    assert [row[0] for row in found.rows] == [f"answer {i}" for i in (1, 4, 3, 2, 0, 5)]
    assert [row[3] for row in found.rows] == ["4.0e-04", "0.001", "0.05", "0.05", "0.5", "1"]
    assert found.clear == 3, "0.05 is not below 0.05"
    many = compared(QUESTION, windows(Made(0.0), Made(*[0.01 * (i + 1) for i in range(60)][::-1])), EN)[0]
    assert [row[0] for row in many.rows] == [f"answer {i}" for i in range(59, 9, -1)], "fifty of them"
    assert many.clear == 4, "of all, shown or not"


def test_means_are_compared_in_their_unit() -> None:
    numbers = (0.0, 24.0)
    (found,) = compared(QUESTION, windows(Made(0.1, range=numbers, value=6.0), Made(0.7, range=numbers, value=4.5)), EN)
    assert (found.rows, found.points) == ((("mean", "-1.5", "0.13", "0.7"),), False)
    (shares,) = compared(QUESTION, windows(Made(0.1), Made(0.7)), EN)
    assert shares.points


def test_chances_are_at_most_one() -> None:
    (found, _) = compared(QUESTION, windows(Made(0.1), Made(0.6), Made(0.1)), EN)
    assert found.rows[0][3] == "1"


# ---- reports still needed


@pytest.mark.parametrize(
    ("columns", "error", "total"),
    [
        ({"stderr": [0.01, 0.02]}, 2.0, 400),
        ({"stderr": [0.01, 0.02]}, 1.0, 1600),
        ({"stderr": [0.01, 0.02]}, 1.9, 444),
        ({"stderr": [0.5], "part": "mean"}, 0.25, 1600),
        ({"stderr": [0.5], "part": "mean"}, 2000.0, 1),
    ],
)
def test_errors_fall_with_the_root_of_the_reports(columns: Any, error: float, total: int) -> None:
    assert needed(part(estimate=estimate(["a"], **columns)), error) == total


def test_errors_may_be_wanted_up_to_ten_thousand_times_smaller_or_larger() -> None:
    shares = part(estimate=estimate(["a"], stderr=[0.02, 0.01]))
    assert wanted_range(shares) == pytest.approx((2e-4, 2e4, 2.0))
    low, high, _ = wanted_range(shares)
    assert needed(shares, low) == pytest.approx(400 * 1e8, rel=1e-9)
    assert needed(shares, high) == 1
    assert needed(shares, low * 0.999) is needed(shares, high * 1.001) is None
    mean = part(estimate=estimate(["a"], stderr=[0.5], part="mean"))
    assert wanted_range(mean) == pytest.approx((5e-5, 5e3, 0.5))


def window_of(*reports: int | None) -> list[Window]:
    """Windows of two questions with an error of two points of 400 reports; None is withheld."""
    made = []
    for i, n in enumerate(reports):
        whole = part(estimate=None if n is None else estimate(["a"])) | {"reports": n or 0, "text": f"Which {i}?"}
        made.append(Window(i, PUBLISHED, n or 0, {"questions": [whole, {**whole, "text": f"Other {i}?"}]}))
    return made


def test_reports_needed_are_worked_out_from_the_last_window_that_is_published() -> None:
    found = window_of(100, 399, None)
    assert dashboard._needed(found, "", EN) == []
    more = "400 reports in one window, 1 more than the 399 there were."
    assert dashboard._needed(found, "2", EN) == [("Which 1?", more), ("Other 1?", more)]
    enough = dashboard._needed(window_of(400), "2", EN)
    assert enough[0] == ("Which 0?", "400 reports are enough: 400 would do.")
    far = dashboard._needed(found, "0", EN)[0][1]
    assert far == "It must be from 0.0002 to 2e+04 here: it is 2 now."
    assert dashboard._needed(window_of(None), "2", EN) == [("", EN("need.nothing"))]
    assert dashboard._needed([Window(0, "open", 3, None)], "2", EN) == [("", EN("need.nothing"))]
    assert dashboard._needed(found, "x" * 21, EN) == [("", f"“{'x' * 20}” is not a number.")]
    assert dashboard._needed(found, "nan", EN)[0][1] == far


# ---- what forgers can do


def forger(monkeypatch: pytest.MonkeyPatch, gain: float | None, asks: str) -> tuple[str, bool]:
    monkeypatch.setattr(dashboard, "forged", lambda m: {"gain": gain, "text": "In English."})
    monkeypatch.setattr(dashboard, "question_of", lambda name: SimpleNamespace(name=asks))
    m: Any = SimpleNamespace(name="any")
    return dashboard._forged(m, EN)


@pytest.mark.parametrize(
    ("gain", "points"), [(0.012301, "1.24"), (0.0123, "1.23"), (0.02, "2"), (0.00001, "0.01"), (0.0, "0")]
)
def test_shares_that_forgers_can_move_are_rounded_up(monkeypatch: pytest.MonkeyPatch, gain: float, points: str) -> None:
    said = f"1 % of forged reports can raise the share of one answer by at most {points} percentage points."
    assert forger(monkeypatch, gain, FREQUENCY) == (said, False)


@pytest.mark.parametrize(
    ("gain", "value"),
    [(0.45601, "0.457"), (0.5, "0.5"), (12.301, "12.4"), (123.1, "124"), (1234.5, "1,240"), (0.0, "0")],
)
def test_means_that_forgers_can_move_are_rounded_up_to_three_digits(
    monkeypatch: pytest.MonkeyPatch, gain: float, value: str
) -> None:
    assert forger(monkeypatch, gain, MEAN) == (f"1 % of forged reports can move the mean by at most {value}.", False)


def test_what_is_not_known_of_forgers_is_said_and_other_questions_have_their_own_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for asks in (FREQUENCY, MEAN, DIRECTION):
        assert forger(monkeypatch, None, asks) == (EN("forge.unknown"), False)
    assert forger(monkeypatch, 0.5, DIRECTION) == ("In English.", True)


@pytest.mark.parametrize(
    ("asks", "id"),
    [
        ((FREQUENCY,), "need.shares"),
        ((MEAN, MEAN), "need.numbers"),
        (("mean", FREQUENCY), "need.both"),
        ((DIRECTION,), "need.shares"),
    ],
)
def test_the_wanted_error_is_in_the_unit_of_what_is_asked(
    monkeypatch: pytest.MonkeyPatch, asks: tuple[str, ...], id: str
) -> None:
    monkeypatch.setattr(dashboard, "question_of", lambda name: SimpleNamespace(name=name))
    known: Any = SimpleNamespace(intake=SimpleNamespace(mechanisms=[SimpleNamespace(name=each) for each in asks]))
    assert dashboard._unit(known) == id


def test_what_silence_counts_as_is_said() -> None:
    def said(none: Any, say: Any = EN) -> str:
        question: Any = SimpleNamespace(none=none)
        return str(dashboard._silent(question, say))

    assert said(None) == "Those who give no answer are counted as a random answer."
    assert said("<b>") == "Those who give no answer are counted as “&lt;b&gt;”."
    assert said(7.25) == "Those who give no answer are counted as “7.25”."
    assert "7,25" in said(7.25, DE)


@pytest.mark.parametrize(
    ("rejected", "n"),
    [
        ({}, 0),
        ({"length": 1, "question": 2, "stratum": 4, "padding": 8, "impossible": 16}, 31),
        ({"not-open": 1, "early": 1, "late": 1, "sealed": 1, "other-body": 1}, 0),
        ({"late": 3, "padding": 2}, 2),
    ],
)
def test_reports_that_no_device_sends_are_added_up(rejected: dict[str, int], n: int) -> None:
    assert alarm(rejected) == n


def test_a_window_on_the_page_has_its_first_and_its_last_day() -> None:
    question = SimpleNamespace(name="q", together=(), labels=("a", "b"), text="Which?")
    own: Any = SimpleNamespace(questions=[question], min_batch=40, strata={}, translations={}, language="en")
    published = {**part(estimate=estimate(["a", "b"])), "tally": "..", "found": object()}
    document = {"from": "2026-03-02", "to": "2026-03-08", "questions": [published]}
    window: Any = SimpleNamespace(number=3, state=PUBLISHED, reports=40, told=lambda task: document)
    found = dashboard._window(window, own, "population", True, EN)
    assert (found["from"], found["to"]) == (date(2026, 3, 2), date(2026, 3, 8))
    assert (found["number"], found["reports"], found["last"], found["state"]) == (3, 40, True, PUBLISHED)
    ((table, drawn, groups),) = found["questions"]
    assert [row[0] for row in table.rows] == ["a", "b"]
    assert (drawn, groups) == (True, [])
    document["questions"] = [{name: value for name, value in published.items() if name != "tally"}]
    assert dashboard._window(window, own, "population", False, EN)["questions"][0][1] is False, "there is no picture"
    assert looking._share_in(DE)(0.12345) == "12,35\u00a0%"
