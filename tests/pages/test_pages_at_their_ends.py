"""Pieces of pages at their borders: days, promises, choices, languages, compression, maps; from values made by hand."""

from __future__ import annotations

import gzip
import hashlib
from datetime import date, timedelta
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from deniable.service.pages import asking, assets, drawing, render, signin, survey
from deniable.service.pages.asking import Choice, ChoiceForm
from deniable.service.texts import catalogue
from deniable.service.texts.catalogue import Texts, area, texts
from deniable.service.texts.languages import LANGUAGES, direction_of, language, name_of, preferred, tag_of
from deniable_client.telling import GRADES

EN = texts("answer", "en")


def asking_for(**headers: str) -> Request:
    """A request with these headers."""
    raw = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return Request({"type": "http", "method": "GET", "path": "/", "query_string": b"", "headers": raw})


# ---- what is sent


@pytest.mark.parametrize(
    ("header", "takes"),
    [
        (None, False), ("", False), ("gzip", True), ("GZIP", True), ("br, gzip", True), ("deflate,gzip ;q=0.5", True),
        ("gzip;q=0", False), ("gzip; q=0", False), ("gzip; q = 0.0", False), ("gzip;q=0.00", False),
        ("gzip;q=0.000", False), ("gzip;q=0.001", True), ("br", False), ("x-gzip", False), ("br;q=0, gzip;q=1", True),
        ("gzip;q=0, gzip", False),
    ],
)  # fmt: skip
def test_pages_are_compressed_for_browsers_that_say_so(header: str | None, takes: bool) -> None:
    request = asking_for() if header is None else asking_for(accept_encoding=header)
    assert render.takes_gzip(request) is takes
    found = render.compressed(Response(b"text " * 90, 200, {"vary": "accept-language"}), request)
    assert found.headers["vary"] == "accept-language, accept-encoding"
    assert found.headers.get("content-encoding") == ("gzip" if takes else None)
    assert found.headers["content-length"] == str(len(found.body))
    body = bytes(found.body)
    assert (gzip.decompress(body) if takes else body) == b"text " * 90


@pytest.mark.parametrize("small", [True, False])
@pytest.mark.parametrize("frames", [(), ("https://a.example",), ("https://a.example", "https://b.example:8443")])
def test_a_page_that_was_drawn_says_who_may_frame_it_and_what_it_depends_on(
    small: bool, frames: tuple[str, ...]
) -> None:
    found = render.drawn_page(b"text", small, frames)
    assert found.headers.get("content-encoding") == ("gzip" if small else None)
    assert found.headers["vary"] == "accept-encoding, accept-language"
    assert found.headers["cache-control"] == "no-store"
    own = f"frame-ancestors {' '.join(frames) or chr(39) + 'none' + chr(39)}"
    assert found.headers["content-security-policy"].split("; ")[-1] == own
    assert found.headers["content-security-policy"].split("; ")[:-1] == render.POLICY.split("; ")[:-1]
    assert found.headers["content-type"] == "text/html; charset=utf-8"


@pytest.mark.parametrize(
    ("tag", "shown", "way"), [("en", "en", "ltr"), ("ar-EG", "ar", "rtl"), ("de", "de", "ltr"), ("he", "en", "ltr")]
)
def test_a_page_that_is_refused_has_its_status_and_its_language(tag: str, shown: str, way: str) -> None:
    found = render.refused(409, "Gone <b>", "It & that.", tag)
    text = bytes(found.body).decode()
    assert found.status_code == 409
    assert f'<html lang="{shown}" dir="{way}">' in text
    assert "Gone &lt;b&gt;" in text
    assert "It &amp; that." in text
    assert found.headers["cache-control"] == "no-store"


def test_a_page_in_a_frame_of_ours_sends_nothing() -> None:
    found = render.silent_page(b"x").headers["content-security-policy"].split("; ")
    assert "form-action 'none'" in found
    assert "frame-ancestors 'self'" in found
    assert not any(rule.startswith("connect-src") for rule in found), "so that it falls back to none"
    assert f"{render.POLICY}; frame-src 'self'" == render.FRAMING


def test_names_of_files_change_with_any_of_them() -> None:
    """By hand: names and contents of all files, in the order of their names."""
    digest = hashlib.sha256()
    for name, made in sorted(assets.of_page().items()):
        digest.update(name.encode() + b"\0" + hashlib.sha256(made.plain).digest())
        assert gzip.decompress(made.small) == made.plain
        assert len(made.small) < len(made.plain)
    assert assets.base() == f"/static/{digest.hexdigest()[:16]}/"


def test_previews_have_the_style_of_the_day_or_of_the_night() -> None:
    style, light, dark = (assets.asset(f"survey{look}.css") for look in ("", "-light", "-dark"))
    assert style is not None
    assert light is not None
    assert dark is not None
    asked = b"@media (prefers-color-scheme: dark)"
    assert asked in style.plain
    assert light.plain == style.plain.replace(asked, b"@media not all")
    assert dark.plain == style.plain.replace(asked, b"@media all")
    assert {made.kind for made in (style, light, dark)} == {"text/css; charset=utf-8"}
    assert assets.asset("survey.html") is None


def test_what_draws_sees_of_the_environment_only_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DENIABLE_DATABASE", "postgresql://ann:secret@db/x")
    monkeypatch.setenv("PGPASSWORD", "secret")
    monkeypatch.setenv("LANG", "C.UTF-8")
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    found = drawing._environment()
    assert set(found) <= {*drawing._KEPT, "PYTHONPATH", "PYTHONSAFEPATH"}
    assert found["LANG"] == "C.UTF-8"
    assert "VIRTUAL_ENV" not in found
    assert "secret" not in str(found)
    assert found["PYTHONSAFEPATH"] == "1"


class Process:
    """As much of a process as a renderer looks at."""

    def __init__(self) -> None:
        self.pid, self.over, self.killed = 7, None, 0

    def poll(self) -> int | None:
        return self.over

    def kill(self) -> None:
        self.killed += 1

    def communicate(self) -> None:
        assert self.killed, "nobody waits for a process that goes on"


def test_a_new_process_draws_after_so_many_pictures_or_when_the_old_one_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawing.subprocess, "Popen", lambda *_, **__: Process())
    renderer = drawing.Renderer()
    first: Any = renderer._ready()
    for made, same in ((1, True), (499, True), (500, False)):
        renderer._made = made
        assert (renderer._ready() is first) is same
    assert first.killed == 1
    assert renderer._made == 0, "the new one begins to count"
    second: Any = renderer._ready()
    second.over = 1
    assert renderer._ready() is not second
    assert renderer.pid == 7
    renderer.close()
    assert renderer.pid is None


# ---- who signs in


@pytest.mark.parametrize(
    ("path", "inside"),
    [
        ("/", True), ("/q/1?x=2#y", True), ("/tasks/\u00e4", True), ("", False), ("q", False), ("//x.org", False),
        ("/\\x.org", False), ("/q\\..", False), ("https://x.org", False), ("/q\n", False), ("/\tq", False),
        ("/\u2028q", False), ("/a//b", True),
    ],
)  # fmt: skip
def test_after_signing_in_only_paths_of_the_site_are_gone_to(path: str, inside: bool) -> None:
    assert signin._inside(path) == (path if inside else "/")


# ---- when a survey takes answers

OPENS = date(2026, 3, 2)


@pytest.mark.parametrize(
    ("row", "day", "state"),
    [
        ("open", -1, "early"), ("open", 0, ""), ("open", 13, ""), ("open", 14, "over"), ("closed", 0, "closed"),
        ("closed", -1, "closed"), ("closed", 20, "closed"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("expires", [14, 90])
def test_a_survey_takes_answers_from_its_first_day_to_its_last(row: str, day: int, state: str, expires: int) -> None:
    task = SimpleNamespace(opens=OPENS, closes=OPENS + timedelta(14), expires=OPENS + timedelta(expires))
    collector: Any = SimpleNamespace(today=lambda: OPENS + timedelta(day))
    known: Any = SimpleNamespace(row=SimpleNamespace(state=row), intake=SimpleNamespace(task=task))
    assert survey._state(collector, known) == state


def test_a_survey_that_devices_no_longer_answer_is_over() -> None:
    task = SimpleNamespace(opens=OPENS, closes=OPENS + timedelta(14), expires=OPENS + timedelta(5))
    known: Any = SimpleNamespace(row=SimpleNamespace(state="open"), intake=SimpleNamespace(task=task))
    for day, state in ((4, ""), (5, "over")):
        collector: Any = SimpleNamespace(today=lambda day=day: OPENS + timedelta(day))
        assert survey._state(collector, known) == state


# ---- what is asked


@pytest.mark.parametrize(
    ("sure", "hundredths"),
    [
        (Fraction(1, 2), 50),
        (Fraction(731, 1000), 74),
        (Fraction(73, 100), 73),
        (Fraction(9901, 10_000), 100),
        (Fraction(1), 100),
        (Fraction(501, 1000), 51),
    ],
)
def test_how_sure_a_report_makes_somebody_is_rounded_up(sure: Fraction, hundredths: int) -> None:
    assert asking._hundredths(sure) == hundredths


def test_words_for_protection_have_their_numbers() -> None:
    phrases = [phrase for _, phrase in GRADES]
    assert [asking._grade(phrase) for phrase in phrases] == [1, 2, 3, 4, 5]
    assert asking._grade("anything else") == 6


@pytest.mark.parametrize(("count", "buttons"), [(2, True), (16, True), (17, False)])
def test_sixteen_answers_are_buttons_and_more_are_a_list(count: int, buttons: bool) -> None:
    form = ChoiceForm(name="q", text="?", choices=tuple(Choice(i, str(i)) for i in range(count)))
    assert form.buttons is buttons


def test_the_answer_that_means_none_is_offered_first_and_the_others_stay_in_order() -> None:
    choices = [Choice(i, text) for i, text in enumerate("abcd")]
    for none, order in ((None, "abcd"), (0, "abcd"), (3, "dabc"), (1, "bacd")):
        assert "".join(choice.text for choice in asking._first(none, choices)) == order


@pytest.mark.parametrize(
    ("memory", "count", "reports"), [("fresh", 4, 4), ("fresh", 1, 1), ("permanent", 4, 1), ("kept", 4, 1)]
)
def test_reports_tell_together_that_are_drawn_anew(memory: str, count: int, reports: int) -> None:
    task: Any = SimpleNamespace(memory=memory, count=count)
    assert asking._reports(task) == reports


def test_answers_that_may_be_named_are_labels_or_numbers_and_the_last_is_included() -> None:
    plain: Any = SimpleNamespace(labels=None)
    named: Any = SimpleNamespace(labels=("a", "b", "c"))
    assert asking._in_words(range(2, 6), plain, (), EN) == "2 to 5"
    assert asking._in_words(range(2, 3), plain, (), EN) == "2"
    assert asking._in_words(range(1, 3), named, ("x", "y", "z"), EN) == "y and z"
    assert asking._in_words((30, 200.5), plain, (), EN) == "30 to 200.5"
    assert asking._in_words("b", named, ("x", "y", "z"), EN) == "y", "in the language of the page"
    assert asking._in_words("d", named, ("x", "y", "z"), EN) == "d"


def test_choices_that_a_report_may_name_are_marked() -> None:
    domain: Any = SimpleNamespace(answers=5)
    found = asking._choices((), domain, (1, 3, 4, 5))
    assert [(choice.number, choice.text, choice.harmless) for choice in found] == [
        (0, "0", False), (1, "1", True), (2, "2", True), (3, "3", False), (4, "4", True),
    ]  # fmt: skip
    shapes = [("M", (1.0, 2.0)), ("N", (3.0, 4.0))]
    two = asking._choices(("a", "b"), domain, (), shapes)
    assert [(choice.text, choice.outline, choice.centre) for choice in two] == [
        ("a", "M", (1.0, 2.0)),
        ("b", "N", (3.0, 4.0)),
    ]


@pytest.mark.parametrize(
    ("one", "none", "first", "counted"),
    [
        ({"none": None}, None, "never", EN("question.counted.together")),
        ({"none": "skip"}, 2, "I prefer not to say", EN("question.counted")),
        ({"none": "often"}, None, "never", EN("question.counted.as", answer="often")),
    ],
)
def test_of_questions_asked_together_what_silence_counts_as_is_said_and_not_offered_twice(
    one: dict[str, Any], none: int | None, first: str, counted: str
) -> None:
    labels = ("never", "often", "skip")
    single = SimpleNamespace(name="q", kind="one", labels=labels, ends=None, **one)
    words: Any = {"text": "How?", "labels": ["never", "often", EN("question.skip")]}
    question: Any = SimpleNamespace(together=(single,))
    (form,) = asking._together(question, [words], EN)
    assert (form.none, form.choices[0].text, form.counted, form.text) == (none, first, counted, "How?")


def test_labels_of_questions_asked_together_are_joined_in_the_order_of_the_report() -> None:
    one, two = {"text": "A?", "labels": ["a", "b"]}, {"text": "B?", "labels": ["x", "y", "z"]}
    found = asking._words([one, two])
    assert found["text"] == "A?\nB?"
    assert found["labels"] == ["a / x", "a / y", "a / z", "b / x", "b / y", "b / z"]
    assert asking._words([one]) is one


# ---- maps


def test_places_keep_their_directions_and_proportions_within_the_frame() -> None:
    """320 wide and 240 high, with 12 around: what is wide fills the width, what is high the height."""
    assert asking._placed([(0, 0), (10, 0)]) == [(12.0, 120.0), (308.0, 120.0)]
    assert asking._placed([(0, 0), (0, 10)]) == [(160.0, 228.0), (160.0, 12.0)], "north is up"
    wide = asking._placed([(0, 0), (20, 10), (10, 5)])
    assert wide == [(12.0, 194.0), (308.0, 46.0), (160.0, 120.0)]
    high = asking._placed([(0, 0), (10, 20)])
    assert high == [(106.0, 228.0), (214.0, 12.0)]


def test_only_spaces_in_the_plane_and_on_the_globe_have_a_map() -> None:
    points = [(50.0, 2.0), (48.0, 12.0)]
    earth = asking._outlines({"space": "places", "points": points})
    (_, west), (_, east) = earth
    assert west[1] < east[1], "latitude comes first, and north is up"
    assert west[0] < east[0]
    for kind in ("euclidean", "manhattan", "chebyshev"):
        (_, one), (_, two) = asking._outlines({"space": kind, "points": points})
        assert one[0] > two[0]
        assert one[1] > two[1]
    for domain in (
        {"space": "line", "points": points},
        {"space": "euclidean", "points": [(1, 2, 3)]},
        {"labels": ["a"]},
    ):
        assert asking._outlines(domain) == []


def test_a_cell_is_cut_in_the_middle_between_two_places() -> None:
    square = [(0.0, 0.0), (4.0, 0.0), (4.0, 4.0), (0.0, 4.0)]
    assert sorted(asking._nearer(square, (1.0, 2.0), (3.0, 2.0))) == [(0.0, 0.0), (0.0, 4.0), (2.0, 0.0), (2.0, 4.0)]
    assert asking._nearer(square, (1.0, 2.0), (9.0, 2.0)) == square, "what is on the border stays"
    assert asking._path([]) == ""
    assert asking._path(square) == "M0 0L4 0L4 4L0 4Z"


# ---- languages


@pytest.mark.parametrize(
    ("tag", "value", "digits", "written"),
    [
        ("en", 999, 3, "999"), ("en", 1000, 3, "1,000"), ("en", 1234567.5, 3, "1,234,567.5"), ("de", 1000, 3, "1.000"),
        ("es", 9999, 3, "9999"), ("es", 10_000, 3, "10.000"), ("fr", 1234.5, 3, "1\u202f234,5"), ("en", 0.5, 0, "1"),
        ("en", 2.5, 0, "3"), ("en", 0.125, 2, "0.13"), ("en", -0.125, 2, "-0.13"), ("en", -0.004, 2, "0"),
        ("en", -0.005, 2, "-0.01"), ("en", 0, 2, "0"), ("en", 10, 2, "10"), ("en", 1.10, 2, "1.1"),
        ("ar", -1.5, 2, "\u200e-1.5"), ("en", 999.9996, 3, "1,000"),
    ],
)  # fmt: skip
def test_numbers_are_written_as_people_do(tag: str, value: float, digits: int, written: str) -> None:
    assert language(tag).number(value, digits) == written


def test_signs_shares_days_and_lists_are_those_of_the_language() -> None:
    english, arabic = language("en"), language("ar")
    assert [english.signed(value) for value in (2.5, -2.5, 0.0, -0.04)] == ["+2.5", "-2.5", "0", "0"]
    assert arabic.signed(2.5) == "\u200e+2.5"
    assert [language(tag).share(12.25, 1) for tag in ("en", "de", "ar")] == [
        "12.3%",
        "12,3\u00a0%",
        "12.3\u200e%\u200e",
    ]
    assert english.share(12.5) == "13%"
    assert [language(tag).date(date(2026, 3, 9)) for tag in ("en", "de", "es")] == [
        "March 9, 2026", "9. M\u00e4rz 2026", "9 de marzo de 2026",
    ]  # fmt: skip
    assert [english.list(list(parts)) for parts in ("", "a", "ab", "abc")] == ["", "a", "a and b", "a, b, and c"]
    assert language("de").list(list("abcd")) == "a, b, c und d"


@pytest.mark.parametrize(
    ("tag", "plurals"),
    [
        ("en", {0: "other", 1: "one", 2: "other", 1.5: "other", 1_000_000: "other"}),
        ("de", {0: "other", 1: "one", 2: "other"}),
        ("fr", {0: "one", 1: "one", 1.5: "one", 2: "other", 1_000_000: "many", 2_000_000: "many", 1_000_001: "other"}),
        ("es", {0: "other", 1: "one", 1.5: "other", 2: "other", 1_000_000: "many", 500_000: "other"}),
        ("ar", {0: "zero", 1: "one", 2: "two", 3: "few", 10: "few", 11: "many", 99: "many", 100: "other", 102: "other",
                103: "few", 110: "few", 111: "many", 199: "many", 1.5: "other", 3.5: "other"}),
    ],
)  # fmt: skip
def test_plurals_are_those_of_unicode(tag: str, plurals: dict[float, str]) -> None:
    assert {n: language(tag).plural(n) for n in plurals} == plurals


@pytest.mark.parametrize(
    ("header", "offered", "tag"),
    [
        ("", ["fr", "en"], "fr"), ("de", ["fr", "en"], "fr"), ("en;q=0.5, fr;q=0.4", ["fr", "en"], "en"),
        ("en;q=0, fr;q=0.4", ["en", "fr"], "fr"),
        ("en;q=0", ["fr", "en"], "fr"), ("en;q=0", ["en", "fr"], "en"), ("en, fr", ["fr", "en"], "en"),
        ("de-CH", ["en", "de"], "de"), ("de", ["en", "de-AT"], "de-AT"), ("de-CH", ["de-AT", "de-CH"], "de-CH"),
        ("DE-ch", ["en", "de-CH"], "de-CH"), ("fr;q=0.9, de;q=1.0", ["fr", "de"], "de"), ("*", ["fr", "de"], "fr"),
        ("fr;q=bad, de;q=0.9", ["de", "fr"], "fr"), ("fr; q = 0.8, de;q=0.9", ["fr", "de"], "de"),
        ("x," * 600 + "de", ["fr", "de"], "fr"),
    ],
)  # fmt: skip
def test_browsers_get_the_language_they_want_most_of_those_that_there_are(
    header: str, offered: list[str], tag: str
) -> None:
    assert preferred(header, offered) == tag


def test_languages_are_known_by_their_tags_and_names() -> None:
    for row in LANGUAGES.values():
        assert tag_of(f" {row.name.upper()} ") == row.tag
        assert all(tag_of(name) == row.tag for name in row.called.split())
        assert name_of(row.tag) == row.name
    assert (tag_of(" pt-BR "), name_of("de-CH"), name_of("pt")) == ("pt-BR", "de-CH", "pt")
    assert (language("de-CH").tag, language("DE").tag, language("pt").tag) == ("de", "de", "en")
    assert [direction_of(tag) for tag in ("ar", "ar-EG", "HE", "fa", "en", "arn")] == ["rtl"] * 4 + ["ltr"] * 2
    with pytest.raises(ValueError, match="language must be a language tag"):
        language("")


# ---- texts


def test_parts_of_texts_are_written_as_the_language_does() -> None:
    say = texts("see", "de")
    assert say("range", low=1234.5, high=date(2026, 3, 9)) == "1.234,5 bis 9. M\u00e4rz 2026"
    assert say("range", low=True, high=["a", "b", "c"]) == "True bis a, b und c"
    assert say("range", low="1.5", high=("x", 2)) == "1.5 bis x und 2"


def test_parts_of_pages_are_escaped_unless_they_are_marked() -> None:
    say = texts("see", "en")
    assert say.html("range", low="<a>", high=Markup("<b>x</b>")) == "&lt;a&gt; to <b>x</b>"
    assert say.html("range", low=["<a>", Markup("<i>")], high=["<", ">"]) == "&lt;a&gt; and <i> to &lt; and &gt;"
    assert say.html("range", low=1000, high=None) == "1,000 to None"


def test_a_text_by_number_takes_the_plural_or_else_the_usual_one() -> None:
    say = Texts("build", "en")
    one, other = EN.language.plural(1), EN.language.plural(7)
    told = area("build", "en")["out.answers"]
    assert not isinstance(told, str)
    assert say("out.answers", count=1, n=1) == told[one].format(n=1)
    assert say("out.answers", count=7, n=7) == told[other].format(n=7)
    assert say("out.answers", count=1.5, n=1.5) == told["other"].format(n=1.5)


def test_an_area_has_its_own_texts_before_those_that_all_share(monkeypatch: pytest.MonkeyPatch) -> None:
    there = {"common": {"a": "shared", "b": "for all"}, "own": {"a": "own"}}
    monkeypatch.setattr(catalogue, "area", lambda name, tag: there[name])
    say = Texts("own", "en")
    assert (say("a"), say("b")) == ("own", "for all")
