"""Terms of tasks up to their ends, what no answer means, and the bounds of every setting."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

import deniable as dn
from deniable.errors import DeniableError, ParameterError
from deniable.service.access.identity import Identity
from deniable.service.access.keys import new_key, rotate
from deniable.service.settings import Settings, rows, settings
from deniable.service.tasks import Asked, Terms, caution, counted_as, new_task, none_in, own_none
from deniable_client.task import Task
from service.calling import DESIGN, OPENS, task_of
from service.memory import MemoryStore

OWN = Identity(bytes(32))


def costing(epsilon: float, **terms: Any) -> dict[str, Any]:
    """A task of one question that costs so much in each window."""
    design = dn.mechanism("grr", epsilon=epsilon, k=2).design
    return new_task([Asked(text="Really?", design=design)], Terms(opens=OPENS, **terms), OWN)


# ---- tasks


@pytest.mark.parametrize(
    ("terms", "says"),
    [
        ({"window_days": 1}, ""),
        ({"window_days": 3660}, ""),
        ({"window_days": 0}, "window_days must be a whole number from 1 to 3660"),
        ({"window_days": 3661}, "window_days must be a whole number from 1 to 3660"),
        ({"windows": 1}, ""),
        ({"windows": 0}, "windows must be a whole number from 1 to 10000"),
        ({"windows": 10_001}, "windows must be a whole number from 1 to 10000"),
        ({"subject": "s" * 200}, ""),
        ({"subject": "s" * 201}, "subject must be given, in at most 200 characters"),
        ({"strata": {"a": [str(i) for i in range(63)], "b": [str(i) for i in range(63)]}}, ""),
        ({"strata": {"a": [str(i) for i in range(64)], "b": [str(i) for i in range(63)]}}, "got 4,160"),
    ],
    ids=str,
)
def test_terms_are_taken_up_to_their_ends(terms: dict[str, Any], says: str) -> None:
    """A stratum has one value more than was given: that of those who do not tell."""
    if not says:
        assert task_of(**terms)["version"] == 2
        return
    with pytest.raises(ParameterError, match=says):
        task_of(**terms)


def test_a_long_question_needs_a_subject_of_its_own() -> None:
    for length, fits in ((200, True), (201, False)):
        asked = Asked(text="q" * length, design=DESIGN)
        if fits:
            assert task_of(asked)["subject"] == "q" * 200
        else:
            with pytest.raises(ParameterError, match="subject must be given"):
                task_of(asked)
            assert task_of(asked, subject="short")["subject"] == "short"


@pytest.mark.parametrize(
    ("epsilon", "windows", "budget", "says"),
    [
        (1.0, 1000, None, ""),
        (1.0, 1001, None, "It costs epsilon 1001 for 1001 windows, more than the 1000 that a task may cost"),
        (2.0, 501, None, "It costs epsilon 1002 for 501 windows"),
        (1.0, 3, 3.0, ""),
        (1.0, 3, 2.999, "budget must be from 3, the cost of this task, to 1000, got 2.999"),
        (1.0, 3, 1000.0, ""),
        (1.0, 3, 1000.5, "budget must be from 3"),
        (0.5, 3, 1.5, ""),
        (0.5, 3, None, ""),
        (0.5, 5, None, ""),
        (0.5, 3, 1.4, "budget must be from 1.5"),
    ],
)
def test_what_a_task_costs_in_all_is_bounded(epsilon: float, windows: int, budget: float | None, says: str) -> None:
    if says:
        with pytest.raises(DeniableError, match=says):
            costing(epsilon, windows=windows, budget=budget)
        return
    made = costing(epsilon, windows=windows, budget=budget)
    assert made["budget"] == (budget if budget is not None else max(2.0, epsilon * windows))


def test_the_dearest_question_is_what_a_task_of_parts_costs() -> None:
    asked = [
        Asked(text=f"{epsilon}?", design=dn.mechanism("grr", epsilon=epsilon, k=2).design, share=share)
        for epsilon, share in ((0.5, 3), (1.5, 1), (1.0, 2))
    ]
    made = new_task(asked, Terms(opens=OPENS, windows=2), OWN)
    assert (made["epsilon"], made["budget"], made["design"]["shares"]) == (1.5, 3.0, [3, 1, 2])
    assert [part[0]["name"] for part in made["questions"]] == ["q1", "q2", "q3"]
    assert [part["epsilon"] for part in made["design"]["parts"]] == [0.5, 1.5, 1.0]
    assert "parts" not in costing(1.0)["design"]


def test_a_task_says_what_was_given_and_leaves_the_rest_to_its_defaults() -> None:
    usual = task_of()
    assert usual["collector"] == {"name": "A collector that gives no name", "key": OWN.key}
    assert (usual["retention"], usual["min_batch"], usual["language"]) == ({"keep": "tally"}, 100, "en")
    assert usual["window"] == {"opens": OPENS.isoformat(), "days": 7, "count": 1}
    assert usual["sending"] == {"attempts": 8, "days": 7}
    assert not {"strata", "purpose", "results", "translations"} & set(usual)
    given = task_of(
        collector="Uni", url="https://a.example", retention="reports", retention_days=9, attempts=3, send_days=2,
        window_days=5, windows=2, purpose="to plan", results="public", language="de",
        strata={"land": ["DE", "FR"], "age": ["old"]}, titles={"land": "Country"},
    )  # fmt: skip
    assert given["collector"] == {"name": "Uni", "url": "https://a.example", "key": OWN.key}
    assert given["retention"] == {"keep": "reports", "days": 9}
    assert (given["sending"], given["window"]["days"], given["window"]["count"]) == ({"attempts": 3, "days": 2}, 5, 2)
    assert (given["purpose"], given["results"], given["language"]) == ("to plan", "public", "de")
    assert given["strata"] == [
        {"name": "land", "values": ["DE", "FR"], "title": "Country"},
        {"name": "age", "values": ["old"]},
    ]
    assert task_of(retention="reports")["retention"] == {"keep": "reports", "days": 30}


def test_a_question_says_how_it_is_shown_only_if_that_was_said() -> None:
    plain = task_of()["questions"][0][0]
    assert plain == {"name": "q1", "text": "How often?", "none": None}
    design = dn.mechanism("grr", epsilon=1.0, k=3).design
    asked = Asked(
        text="How much?",
        design=design,
        name="much",
        labels=["a", "b", "c"],
        none="b",
        ends=["low", "high"],
        kind="rating",
    )
    assert task_of(asked)["questions"][0][0] == {
        "name": "much", "text": "How much?", "none": "b", "labels": ["a", "b", "c"], "kind": "rating",
        "ends": ["low", "high"],
    }  # fmt: skip


def test_a_task_has_at_least_one_question() -> None:
    with pytest.raises(ParameterError, match="questions must be at least one"):
        new_task([], Terms(opens=OPENS), OWN)


@pytest.mark.parametrize(("windows", "warns"), [(1, False), (2, False), (3, True)])
def test_devices_that_would_decline_are_warned_of(windows: int, warns: bool) -> None:
    """Epsilon 2 in a year is what they spend; exactly that is no more than that."""
    said = caution(Task.load(task_of(windows=windows)))
    assert bool(said) == warns
    assert not warns or said.startswith("it costs epsilon 3 in all, and devices spend at most 2 on one collector")


# ---- no answer


def test_a_text_for_no_answer_is_read_as_the_design_needs_it() -> None:
    def design(name: str, **options: Any) -> dict[str, Any]:
        found: dict[str, Any] = dn.mechanism(name, epsilon=1.0, **options).design
        return found

    labelled = design("grr", labels=["1", "2"])
    assert none_in(labelled, "2") == "2"
    ticks = design("several", labels=["a", "b", "c"], most=2)
    assert none_in(ticks, "a; c ;;") == ["a", "c"]
    assert none_in(ticks, "") == none_in(ticks, " ; ") == []
    numbered = design("several", k=4, most=2)
    assert none_in(numbered, "3;0") == [3, 0]
    assert (none_in(design("hm", interval=(0, 10)), "2.5"), none_in(design("grr", k=4), "3")) == (2.5, 3)
    for wrong, text in ((design("grr", k=4), "2.5"), (design("hm", interval=(0, 10)), "x")):
        with pytest.raises(ParameterError, match=f"none must be a number here, got '{text}'"):
            none_in(wrong, text)


def test_an_answer_of_its_own_for_no_answer_is_known_and_needs_no_word() -> None:
    def question(**asked: Any) -> Any:
        return Task.load(task_of(Asked(text="?", **asked))).questions[0]

    own = dn.mechanism("grr", epsilon=1.0, labels=["yes", "not said", "no"], missing="not said").design
    ticks = dn.mechanism("several", epsilon=1.0, labels=["a", "b", "c"], most=2).design
    span = dn.mechanism("hm", epsilon=1.0, interval=(0, 10)).design
    table = [
        (question(design=own), 1, ""),
        (question(design=own, none="no"), None, "those who give no answer are counted as 'no'."),
        (question(design=own, none=None), None, "those who give no answer are counted as a random answer."),
        (question(design=DESIGN, none="often"), None, "those who give no answer are counted as 'often'."),
        (question(design=ticks), None, ""),
        (question(design=ticks, none=["b"]), None, "those who give no answer are counted as ['b']."),
        (question(design=span), None, "those who give no answer are counted as 5."),
    ]
    assert [(own_none(each), counted_as(each)) for each, _, _ in table] == [(n, said) for _, n, said in table]


# ---- settings

KB, MB = 1024, 1024 * 1024
BOUNDS = {
    "port": (0, 65535),
    "session_seconds": (60, 604_800),
    "session_idle_seconds": (60, 604_800),
    "max_body": (KB, 1024 * MB),
    "max_reports": (1, 1_000_000),
    "max_waiting": (1, 100_000_000),
    "max_memory": (MB, 1024 * 1024 * MB),
    "max_connections": (1, 1_000_000),
    "rate": (0, 1_000_000_000),
    "header_seconds": (1, 3600),
    "body_seconds": (1, 3600),
    "body_rate": (1, 1_000_000),
    "work_seconds": (1, 3600),
    "read_seconds": (1, 3600),
    "idle_seconds": (1, 3600),
    "stop_seconds": (1, 3600),
    "upkeep_seconds": (1, 86_400),
    "clock_days": (1, 36_500),
    "webhook_private": (0, 1),
}
"""The least and the most that each number may be."""


def test_every_number_among_the_settings_has_its_bounds() -> None:
    assert {row.name for row in rows() if isinstance(row.default, int)} == set(BOUNDS)
    for name, (least, most) in BOUNDS.items():
        for number in (least, most):
            assert getattr(settings({name: number}, environment={}), name) == number
            assert getattr(settings({name: str(number)}, environment={}), name) == number
        for number in (least - 1, most + 1):
            with pytest.raises(ParameterError, match=f"{name} must be a whole number from {least:,} to {most:,}, got"):
                settings({name: number}, environment={})


def test_a_session_ends_within_the_day_and_an_hour_after_it_was_used() -> None:
    usual = Settings()
    assert (usual.session_seconds, usual.session_idle_seconds) == (43_200, 3600)
    assert (usual.max_body, usual.max_memory) == (4 * MB, 256 * MB)


@pytest.mark.parametrize("text", ["", "1.0", "1e3", " 5", "+5", "-1", "٣", "1" * 19, "five", "0x5", "5_0"])
def test_a_number_as_text_is_digits(text: str) -> None:
    with pytest.raises(ParameterError, match="rate must be a whole number"):
        settings({"rate": text}, environment={})


@pytest.mark.parametrize(
    ("origin", "taken"),
    [
        ("https://a.example", True),
        ("http://a.example:8080", True),
        ("https://a.example:8080", True),
        ("https://a.example/", False),
        ("https://", False),
        ("wss://a.example", False),
        ("https://a.example\n", False),
        ("https://a b.example", False),
        ("https://*.example", False),
        ("a.example", False),
    ],
)
@pytest.mark.parametrize("name", ["cors", "frames"])
def test_an_origin_is_a_site_and_nothing_after_it(name: str, origin: str, taken: bool) -> None:
    for id in ("*", "0f" * 32):
        if taken:
            assert getattr(settings({name: {id: [origin]}}, environment={}), name) == {id: (origin,)}
        else:
            with pytest.raises(ParameterError, match=f"{name} must be origins"):
                settings({name: {id: [origin]}}, environment={})
    for wrong in ("0F" * 32, "0f" * 31, "", "0f" * 32 + "\n"):
        with pytest.raises(ParameterError, match=f"{name} must be origins"):
            settings({name: {wrong: ["https://a.example"]}}, environment={})


def test_eight_addresses_may_be_told_and_a_wrong_one_is_named_without_its_secrets() -> None:
    eight = [f"https://a.example/{i}" for i in range(8)]
    assert settings({"webhooks": eight}, environment={}).webhooks == tuple(eight)
    assert settings({"webhooks": ", ".join(eight) + ","}, environment={}).webhooks == tuple(eight)
    with pytest.raises(ParameterError, match="at most 8 addresses"):
        settings({"webhooks": [*eight, eight[0]]}, environment={})
    for wrong, shown in (
        ("https://user:secret@a.example/secret", "https://a.example/..."),
        ("ftp://a.example", "ftp://a.example"),
        ("https://a.example/sec ret", "https://a.example/..."),
        ("secret@a.example/secret", "a.example/..."),
    ):
        with pytest.raises(ParameterError) as told:
            settings({"webhooks": [wrong]}, environment={})
        assert f"got {shown!r}" in str(told.value)
        assert "secret" not in str(told.value)


def test_what_may_hold_a_password_is_not_in_what_is_printed() -> None:
    shown = repr(Settings(database="postgresql://u:secret@h/x", webhooks=("https://a.example/secret",)))
    assert "secret" not in shown
    assert "port=8000" in shown


def test_settings_of_one_collector_are_not_those_of_another() -> None:
    one, two = settings({}, environment={}), settings({}, environment={})
    assert one.cors is not two.cors
    assert one.frames is not two.frames


# ---- keys

TODAY = date(2026, 11, 16)


def test_a_name_of_a_key_has_63_signs_at_most() -> None:
    store = MemoryStore()
    for name in ("a", "a" * 63, "0-a", "a-"):
        assert new_key(store, "analyst", today=TODAY, name=name)[0] == name
    for name in ("", "a" * 64, "-a", "A", "a_b", "a\n", "\u00e9"):
        with pytest.raises(ParameterError, match="name must be small letters, digits and -, at most 63"):
            new_key(store, "analyst", today=TODAY, name=name)
    assert {row.created for row in list(store.keys())} == {TODAY}


def test_an_old_key_works_for_up_to_a_year_beside_the_new_one() -> None:
    for days, until in ((0, TODAY), (366, date(2027, 11, 17))):
        store = MemoryStore()
        new_key(store, "administrator", today=TODAY, name="boss")
        fresh, key, day = rotate(store, "boss", today=TODAY, days=days)
        assert (fresh, day) == ("boss-1", until)
        assert key.startswith("deniable-administrator-")
        found = {row.name: row for row in list(store.keys())}
        assert (found["boss"].revoked, found["boss-1"].revoked, found["boss-1"].role) == (until, None, "administrator")
        assert bool(found["boss"].digest) == (days > 0)
    for days in (-1, 367):
        store = MemoryStore()
        new_key(store, "analyst", today=TODAY)
        with pytest.raises(ParameterError, match="days must be a whole number from 0 to 366"):
            rotate(store, "analyst-1", today=TODAY, days=days)


def test_names_of_new_keys_are_the_first_that_are_free() -> None:
    store = MemoryStore()
    names = [new_key(store, role, today=TODAY)[0] for role in ("analyst", "analyst", "administrator")]
    assert names == ["analyst-1", "analyst-2", "administrator-1"]
    new_key(store, "analyst", today=TODAY, name="analyst-4")
    assert [new_key(store, "analyst", today=TODAY)[0] for _ in range(2)] == ["analyst-3", "analyst-5"]
    assert rotate(store, "analyst-2", today=TODAY, days=1)[0] == "analyst-6"
