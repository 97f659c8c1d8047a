"""The catalogue of the pages: complete in every language, used, and nothing said beside it."""

from __future__ import annotations

import json
import re
import subprocess
from datetime import date
from html.parser import HTMLParser
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from deniable.errors import DeniableError
from deniable.service.pages.survey import SAID
from deniable.service.texts.catalogue import Text, Texts, area, bdi, places, say, texts
from deniable.service.texts.languages import LANGUAGES, direction_of, language, preferred
from js.conftest import node

__all__ = ["node"]

ROOT = Path(__file__).resolve().parents[2]
SERVICE = ROOT / "src" / "deniable" / "service"
TEXTS = SERVICE / "texts"
STATIC = SERVICE / "pages" / "static"
TEMPLATES = SERVICE / "pages" / "templates"
AREAS = sorted(path.name for path in TEXTS.iterdir() if path.is_dir() and (path / "en.json").exists())
SAME = {"pairs.minus", "receipt.epsilon"}
"""Texts that may be the same in two languages."""


def _each(text: Text) -> list[str]:
    return [text] if isinstance(text, str) else list(text.values())


def _gaps(name: str) -> list[str]:
    """What is wrong with an area: ids, places, plurals, texts that were left in English."""
    found = {tag: area(name, tag) for tag in LANGUAGES}
    notes = json.loads((TEXTS / name / "notes.json").read_text("utf-8"))
    wrong = [f"{id}: no note" for id in found["en"] if not notes.get(id)]
    wrong += [f"{id}: a note without a text" for id in notes if id not in found["en"]]
    for tag, id in product(LANGUAGES, sorted({id for each in found.values() for id in each})):
        own, english = found[tag].get(id), found["en"].get(id)
        if own is None or english is None:
            wrong.append(f"{id}: missing in {tag if own is None else 'en'}")
            continue
        wanted = {place for each in _each(english) for place in places(each)}
        if {place for each in _each(own) for place in places(each)} != wanted:
            wrong.append(f"{id}: other places in {tag}")
        if not all(each.strip() == each and each for each in _each(own)):
            wrong.append(f"{id}: empty, or with spaces around it, in {tag}")
        if isinstance(own, str) != isinstance(english, str):
            wrong.append(f"{id}: plurals in one of en, {tag}")
        if not isinstance(own, str) and set(own) != _plurals(tag):
            wrong.append(f"{id}: not the plurals of {tag}")
        words = re.sub(r"\{\w+\}", "", "".join(_each(own)))
        if tag != "en" and own == english and re.search(r"\w{4}", words) and id not in SAME:
            wrong.append(f"{id}: not translated in {tag}")
    return wrong


def _plurals(tag: str) -> set[str]:
    return {LANGUAGES[tag].plural(n) for n in (*range(120), 1_000_000, 1.5)}


@pytest.mark.parametrize("name", AREAS)
def test_every_text_is_in_every_language(name: str) -> None:
    assert _gaps(name) == []
    assert not set(area(name, "en")) & set(area("common", "en")) or name == "common"


def test_gaps_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each rule, broken once."""
    right = {tag: dict(area("common", tag)) for tag in LANGUAGES}
    breaks: list[tuple[str, Any, str]] = [
        ("nav.next", None, "missing in de"),
        ("range", "{low} bis", "other places in de"),
        ("nav.next", " Weiter", "with spaces"),
        ("nav.next", {"one": "Weiter", "other": "Weiter"}, "plurals in one"),
        ("nav.next", right["en"]["nav.next"], "not translated in de"),
        ("extra", "Mehr", "missing in en"),
    ]
    for id, text, told in breaks:
        broken = {**right, "de": {**right["de"], id: text}}
        if text is None:
            del broken["de"][id]
        monkeypatch.setitem(globals(), "area", lambda _, tag, broken=broken: broken[tag])
        assert [wrong for wrong in _gaps("common") if told in wrong], told


# ---- used


def _used(text: str) -> set[str]:
    """Ids that a source names: in quotes, or as the beginning of one that is put together."""
    return set(re.findall(r"[\"'`]([a-z]+(?:\.[a-z0-9]+)*\.?)(?=[\"'`${])", text))


def test_every_text_is_used() -> None:
    sources = [*TEMPLATES.glob("*.html"), *STATIC.glob("*.js"), *SERVICE.rglob("*.py")]
    named = {id for path in sources for id in _used(path.read_text("utf-8"))}
    starts = tuple(id for id in named if id.endswith("."))
    for name in AREAS:
        left = [id for id in area(name, "en") if id not in named and not id.startswith(starts)]
        assert left == [], f"{name} has texts that nobody says"


_CALLED = re.compile(r"""\b(?:t|d|say)(?:\.html)?\(\s*["']([a-z]+(?:\.[a-z0-9]+)+)["']\s*[,)]""")
"""A text that a template, a page or a script asks for by its whole id."""


def _unknown(source: str) -> set[str]:
    """Ids that a source asks for and no area has."""
    known = {id for name in AREAS for id in area(name, "en")}
    return set(_CALLED.findall(source)) - known


def test_every_text_that_is_asked_for_is_there() -> None:
    sources = [*TEMPLATES.glob("*.html"), *STATIC.glob("*.js"), *SERVICE.rglob("*.py")]
    wrong = {path.name: _unknown(path.read_text("utf-8")) for path in sources}
    assert {name: ids for name, ids in wrong.items() if ids} == {}


@pytest.mark.parametrize("planted", ['{{ t("cross.gone") }}', 't.html("cross.gone", n=1)', "say('cross.gone')"])
def test_a_text_that_is_missing_is_found(planted: str) -> None:
    assert _unknown(planted) == {"cross.gone"}


def test_what_the_survey_page_is_given_its_scripts_say() -> None:
    named = {id for path in STATIC.glob("*.js") for id in _used(path.read_text("utf-8"))}
    assert [id for id in SAID if id not in named] == []


# ---- nothing beside it


class _Words(HTMLParser):
    """Texts of a template that are not from the catalogue: letters between tags, or in attributes that are read out."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.silent = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.silent += tag in ("style", "script")
        for name, value in attrs:
            if name in ("alt", "title", "aria-label", "placeholder", "label"):
                self._look(value or "")

    def handle_endtag(self, tag: str) -> None:
        self.silent -= tag in ("style", "script")

    def handle_data(self, data: str) -> None:
        if not self.silent:
            self._look(data)

    def _look(self, text: str) -> None:
        if re.search(r"[^\W\d_]{2}", text):
            self.found.append(text.strip())


def words_of(template: str) -> list[str]:
    """What a template says by itself."""
    parser = _Words()
    parser.feed(re.sub(r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}", " ", template, flags=re.DOTALL))
    return [each for each in parser.found if each != "Deniable"]


def script_words(text: str) -> list[str]:
    """Texts of a script that look like sentences: words with a space between them, outside of comments and errors."""
    code = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    code = re.sub(r"^\s*//.*$|\s//[^\"'`\n]*$", "", code, flags=re.MULTILINE)
    code = re.sub(r"new \w*Error\([^;]*;", "", code)
    quoted = re.findall(r"\"((?:[^\"\\\n]|\\.)*)\"|'((?:[^'\\\n]|\\.)*)'|`((?:[^`\\]|\\.)*)`", code)
    found = [re.sub(r"\$\{[^}]*\}", "", next(filter(None, parts), "")) for parts in quoted]
    return [
        each for each in found if re.search(r"[A-Za-z]{2,} [A-Za-z]{2,}", each) and not re.search(r"[\[\]#=]", each)
    ]


@pytest.mark.parametrize("path", sorted(TEMPLATES.glob("*.html")), ids=lambda path: path.name)
def test_templates_say_nothing_by_themselves(path: Path) -> None:
    assert words_of(path.read_text("utf-8")) == []


@pytest.mark.parametrize("path", sorted(STATIC.glob("*.js")), ids=lambda path: path.name)
def test_scripts_say_nothing_by_themselves(path: Path) -> None:
    assert script_words(path.read_text("utf-8")) == []


def test_hard_coded_words_are_found() -> None:
    assert words_of('<p>{{ t("a.b") }}</p><b title="{{ x }}"> · </b>') == []
    assert words_of("<p>{{ x }} reports</p>") == ["reports"]
    assert words_of('<img alt="A chart">') == ["A chart"]
    assert script_words('say("a.b"); const x = "a-b c"; // some words here') == []
    assert script_words('node.textContent = "Thank you";') == ["Thank you"]
    assert script_words("node.textContent = `${n} other answers`;") == [" other answers"]


# ---- said


def test_texts_are_filled_in_and_escaped() -> None:
    german = texts("answer", "de-CH")
    assert german("start.who", who="A & B") == "A & B fragt."
    assert german.html("start.who", who="A & B") == "A &amp; B fragt."
    assert german.html("start.who", who=bdi("<b>")) == '<bdi dir="auto">&lt;b&gt;</bdi> fragt.'
    assert german("early.text", date=date(2026, 11, 4)) == "Diese Umfrage beginnt am 4. November 2026."
    assert say("en", "answer", "start.open", answers=["a", "b", "c"]).startswith("Not protected: a, b, and c.")
    for n in (2, 3, 4):
        said = german.html("start.open", answers=[bdi("<")] * n)
        assert said.count('<bdi dir="auto">&lt;</bdi>') == said.count("bdi dir") == n
    arabic = {n: say("ar", "answer", "start.time", count=n) for n in (1, 2, 3, 11)}
    assert len(set(arabic.values())) == 4
    assert texts("answer", "it")("start.agree") == "I want to take part"
    with pytest.raises(DeniableError, match=r"start\.nothing"):
        german("start.nothing")


def test_a_page_gets_its_own_texts_alone() -> None:
    spanish = Texts("answer", "es")
    found = spanish.page(["level.", "start.agree"])
    assert sorted(found) == [f"level.{i}" for i in range(1, 7)] + ["start.agree"]
    with pytest.raises(DeniableError, match="levels"):
        spanish.page(["levels."])


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("", "en"),
        ("fr", "fr"),
        ("fr-CH, en;q=0.9", "fr"),
        ("en;q=0.5, ar-EG;q=0.9", "ar"),
        ("it, ar;q=0", "en"),
        ("zz;q=x, AR", "ar"),
        (",;;q=,", "en"),
        ("de-AT", "de-CH"),
    ],
)
def test_browsers_get_what_they_ask_for_first(header: str, expected: str) -> None:
    assert preferred(header, ["en", "fr", "ar", "de-CH"]) == expected


def test_directions() -> None:
    assert [language(tag).direction for tag in ("en", "ar", "ar-EG")] == ["ltr", "rtl", "rtl"]
    assert (direction_of("he"), direction_of("fa-IR"), direction_of("it")) == ("rtl", "rtl", "ltr")


NUMBERS = [0, 1, 2, 3, 10, 11, 12, 99, 100, 101, 103, 111, 999, 1000, 1234.5, 9999, 10000, 1234567.891, -3.5, 0.25, 1e6]
SCRIPT = """
import { speaker } from "%s";
const { tags, numbers, days } = JSON.parse(process.argv[1]);
const table = { n: { zero: "zero", one: "one", two: "two", few: "few", many: "many", other: "other" }, t: "{a}|{b}" };
const found = tags.map((tag) => {
  const { say, parts, number, percent, date, list } = speaker(tag, table);
  return {
    plural: numbers.map((count) => say("n", { count })), number: numbers.map((x) => number(x)),
    percent: numbers.map((x) => percent(x, 1)), date: days.map(date),
    list: [[], ["a"], ["a", "b"], ["a", "b", "c"]].map(list), text: say("t", { a: 1234.5, b: "x" }),
    node: parts("t", { a: "", b: { node: 1 } }),
  };
});
console.log(JSON.stringify(found));
"""


def test_server_and_browsers_write_the_same(node: str) -> None:
    """Plurals, numbers, shares, days and lists, for every language."""
    days = [f"2026-{month:02}-{day:02}" for month, day in zip(range(1, 13), range(1, 25, 2), strict=True)]
    given = json.dumps({"tags": list(LANGUAGES), "numbers": NUMBERS, "days": days})
    script = SCRIPT % (STATIC / "texts.js").as_uri()
    done = subprocess.run(
        [node, "--input-type=module", "-e", script, given], capture_output=True, text=True, check=True
    )
    for (tag, own), found in zip(LANGUAGES.items(), json.loads(done.stdout), strict=True):
        assert found["plural"] == [own.plural(n) for n in NUMBERS], tag
        assert found["number"] == [own.number(n) for n in NUMBERS], tag
        assert found["percent"] == [own.share(n, 1) for n in NUMBERS], tag
        assert found["date"] == [own.date(date.fromisoformat(day)) for day in days], tag
        assert found["list"] == [own.list(parts) for parts in ([], ["a"], ["a", "b"], ["a", "b", "c"])], tag
        assert found["text"] == f"{own.number(1234.5)}|x"
        assert found["node"] == ["|", {"node": 1}], "what is a node is not made a text"
