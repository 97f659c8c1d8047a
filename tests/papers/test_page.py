"""The page of a reproduction: every claim once beside its figure, all text escaped; marks of made-up data."""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from deniable.papers import runner
from deniable.papers.charts import bar_chart, cell_chart, marked
from deniable.papers.evidence import Evidence, Missing
from deniable.papers.paper import Claim, Context, Figure, LeftOut, Paper, Rows, made_up
from deniable.papers.rules import Condition, Rule
from deniable.papers.runner import reproduce
from deniable.present.charts import line_chart

NASTY = "<script>alert('1')</script> & \"quoted\""
VOID = {"meta", "img", "br"}


@dataclass
class Element:
    """An element with its text, that of the elements within it included."""

    tag: str
    attrs: dict[str, str | None]
    text: str = ""


@dataclass
class Reader(HTMLParser):
    """Reads a page strictly: what is opened is closed, in the right order."""

    found: list[Element] = field(default_factory=list)
    open: list[Element] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len(attrs) == len(dict(attrs)), f"an attribute of {tag} is given twice"
        self.found.append(Element(tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(self.found[-1])

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop().tag == tag

    def handle_data(self, data: str) -> None:
        for element in self.open:
            element.text += data

    def of(self, tag: str) -> list[Element]:
        return [element for element in self.found if element.tag == tag]


def read(text: str) -> Reader:
    reader = Reader()
    reader.feed(text)
    reader.close()
    assert not reader.open, f"not closed: {[element.tag for element in reader.open]}"
    return reader


def plain_rows(context: Context) -> Rows:
    return [{"x": x, "y": 2.0 * x, "who": NASTY, "data": "Adult"} for x in range(3)]


def draw(rows: Rows) -> Any:
    return line_chart(rows, x="x", y="y", series="who", title="A line", subtitle="What it is.")


def drawn_rows(context: Context) -> Rows:
    return [{**row, "y": int(context.stream("noise").draw(8, 1)[0])} for row in context.once(plain_rows)]


def shared_rows(context: Context) -> Rows:
    return [{**row, "data": made_up("Census")} for row in context.once(drawn_rows)]


FIGURES = (
    Figure("fig1", "exact", "Fig. 1", plain_rows, draw),
    Figure("fig2", "drawn", "Fig. 2", drawn_rows, draw),
    Figure("fig12", NASTY, "Fig. 12", shared_rows, draw),
)


def claim(id: str, where: str, found: Evidence | Missing, figure: str | None = None, paper: Any = 1) -> Claim:
    """Reproduced, corrected or refuted by x = 1, 2 or 3."""
    why = "nearly" if id == "many" else f"because of {NASTY}"
    rule = Rule((Condition("x", "<=", 1),), (Condition("x", "<=", 2),), why)
    return Claim(id, f"claim {id} {NASTY}", where, paper, rule, lambda context: found, figure)


CLAIMS = (
    claim("own", "Sec. 3", {"x": 0.123456789}, "fig1"),
    claim("named", "Fig. 12, App. A", {"x": 3, NASTY: NASTY}),
    claim("part", "Fig. 2(a)", {"x": 1.0}),
    claim("many", "Fig. 2, Sec. 4", {"x": 2, **{f"{NASTY} {i}": i / 3 for i in range(1, 9)}}),
    claim("alone", "Eq. 5", Missing("nobody has the data"), paper={NASTY: 1}),
)
TOY = Paper("toy", "Toy25", f"A toy {NASTY}", FIGURES, CLAIMS, (LeftOut(NASTY, "Sec. 9", "no number"),))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of the toy; pictures hold their description only."""

    def describe(chart: Any, path: Path) -> Path:
        path.write_text(chart.to_json())
        return path

    out = tmp_path_factory.mktemp("out")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runner, "save", describe)
        patch.setattr(runner, "PAPERS", {"toy": TOY})
        reproduce("toy", out=out, quick=True)
    return out / "toy"


@pytest.fixture(scope="module")
def text(folder: Path) -> str:
    return (folder / "report.html").read_text("utf-8")


# ---- the page


def test_every_claim_stands_once_with_verdict_and_reason(text: str) -> None:
    articles = read(text).of("article")
    assert sorted(str(a.attrs["id"]) for a in articles) == sorted(f"toy-{c.id}" for c in CLAIMS)
    reasons = {
        "toy-own": ("reproduced", "what was measured agrees with the paper"),
        "toy-named": ("refuted", "'x' is 3; not even what is given instead holds: 'x' is 3"),
        "toy-part": ("reproduced", "what was measured agrees with the paper"),
        "toy-many": ("corrected", "nearly"),
        "toy-alone": ("not tested", "nobody has the data"),
    }
    for article in articles:
        id = str(article.attrs["id"])
        verdict, reason = reasons[id]
        assert article.attrs["class"] == verdict.replace(" ", "-")
        assert f"claim {id[4:]} {NASTY}" in article.text
        assert f"\n{verdict}\nreason{reason}where" in article.text
        rule = "reproduced if 'x' is at most 1; else corrected if 'x' is at most 2"
        assert article.text.rstrip().endswith(f"rule{rule}error ratenone: no random draws")


def test_claims_stand_beside_their_figures(text: str) -> None:
    """By the figure that is given, else by the one that is named: Fig. 2(a) and Fig. 12 are not Fig. 2."""
    order = re.findall(r'<(?:h2|article) id="([\w-]+)"', text)
    assert order == [
        *("contents", "fig1", "toy-own", "fig2", "toy-many", "fig12", "toy-named"),
        *("others", "toy-part", "toy-alone", "left-out"),
    ]


def test_contents_lead_to_every_part(text: str) -> None:
    reader = read(text)
    targets = [a.attrs["href"] for a in reader.of("a") if str(a.attrs["href"]).startswith("#")]
    assert targets == ["#fig1", "#fig2", "#fig12", "#others", "#left-out"]
    ids = [e.attrs["id"] for e in reader.found if "id" in e.attrs]
    assert len(ids) == len(set(ids))
    assert {str(t)[1:] for t in targets} <= set(ids)
    counts, entries = [e.text for e in reader.of("li")][:4], [e.text for e in reader.of("li")][4:]
    assert entries[1] == "Fig. 2: drawn 1 corrected"
    assert "<p>5 claims of the paper:</p>" in text
    assert counts[:2] == [
        "2 reproduced: what was measured agrees with the paper",
        "1 corrected: not as printed, but what holds instead is known",
    ]
    classes = [e.attrs["class"] for e in reader.of("li")[:4]]
    assert classes == ["reproduced", "corrected", "refuted", "not-tested"]


def test_all_text_is_escaped(text: str) -> None:
    reader = read(text)
    assert {e.tag for e in reader.found} == {
        *("html", "head", "meta", "title", "style", "body", "header", "h1", "h2", "h3", "p", "nav", "ul", "li", "a"),
        *("span", "main", "section", "div", "article", "dl", "dt", "dd", "table", "tr", "td", "details", "summary"),
        *("figure", "img", "figcaption"),
    }
    assert reader.of("title")[0].text == f"A toy {NASTY}"
    assert reader.of("img")[2].attrs["alt"] == f"Fig. 12: {NASTY}"
    assert f"{NASTY} 8" in next(e for e in reader.of("details")).text


def test_the_page_is_whole_in_one_file(folder: Path, text: str) -> None:
    """No script, no style or picture from elsewhere; links lead to files beside it."""
    reader = read(text)
    policy = next(e.attrs["content"] for e in reader.of("meta") if "http-equiv" in e.attrs)
    assert policy == "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    assert not re.search(r"https?:|//\w|@import|url\(", text)
    for image, figure in zip(reader.of("img"), FIGURES, strict=True):
        data = str(image.attrs["src"]).removeprefix("data:image/png;base64,")
        assert base64.b64decode(data, validate=True) == (folder / f"{figure.id}.png").read_bytes()
    linked = [str(a.attrs["href"]) for a in reader.of("a") if not str(a.attrs["href"]).startswith("#")]
    assert len(linked) == 12
    assert all((folder / name).is_file() for name in linked)
    opened = [a.attrs["href"] for a in reader.of("a") if a.attrs.get("class") == "picture"]
    assert opened == [f"{figure.id}.html" for figure in FIGURES]


def test_numbers_are_short_and_many_unfold(text: str) -> None:
    reader = read(text)
    assert '<td class="number">0.12346</td>' in text
    assert "td.number { white-space: nowrap; }" in text
    assert "0.123456789" not in text
    assert [e.text for e in reader.of("summary")] == ["3 more"]


def test_light_and_dark(text: str) -> None:
    """Both sets of colours have a value for everything, and text has a contrast of 4.5 or more on page and card."""
    light, dark = (dict(re.findall(r"--([\w-]+): (#\w+)", part)) for part in re.findall(r":root \{(.*?)\}", text, re.S))
    assert set(light) == set(dark)
    for colours in (light, dark):
        for name in set(colours) - {"page", "card", "line"}:
            worst = min(contrast(colours[name], colours[ground]) for ground in ("page", "card"))
            assert worst >= 4.5, f"{name} {colours[name]}: {worst:.2f}"


def contrast(one: str, two: str) -> float:
    """The ratio of two colours' relative luminances, as the web's accessibility guidelines define it."""
    high, low = sorted((luminance(one), luminance(two)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def luminance(colour: str) -> float:
    digits = colour[1:] if len(colour) == 7 else "".join(2 * c for c in colour[1:])
    parts = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


# ---- marks

SIMULATED = "Simulated with seed 1: no real reports."
CENSUS = "MADE-UP DATA (Census)."


def test_figures_say_what_their_data_are(folder: Path, text: str) -> None:
    """In the picture itself, in its table's page and on the page; also for results that were computed before."""
    expected = {"fig1": [], "fig2": [SIMULATED], "fig12": [CENSUS, SIMULATED]}
    captions = [e.text for e in read(text).of("figcaption")]
    for caption, (name, marks) in zip(captions, expected.items(), strict=True):
        picture = (folder / f"{name}.png").read_text()
        for mark in (SIMULATED, CENSUS):
            assert (mark in picture) == (mark in caption) == (mark in marks), (name, mark)


@pytest.mark.parametrize("kind", ["lines", "bars", "cells"])
def test_marks_come_first_in_every_kind_of_chart(kind: str) -> None:
    rows = [{"a": i, "b": 1.0, "c": "one", "d": "two"} for i in range(3)]
    chart: Any = {
        "lines": lambda: line_chart(rows, x="a", y="b", series="c", facet="d", title="T", subtitle="S"),
        "bars": lambda: bar_chart(rows, x="a", y="b", panel="c", title="T", subtitle="S"),
        "cells": lambda: cell_chart(rows, x="a", y="c", text="b", kind="d", title="T"),
    }[kind]()
    found = marked(chart, (CENSUS, SIMULATED)).to_dict()
    assert found["title"]["text"] == ["T"]
    assert found["title"]["subtitle"][:2] == ["MADE-UP DATA (Census). Simulated with seed 1: no real", "reports."]
    assert found["title"]["subtitle"][2:] == chart.to_dict()["title"].get("subtitle", [])
    assert found["description"].endswith(f"{CENSUS} {SIMULATED}")
    assert marked(chart, ()) is chart
