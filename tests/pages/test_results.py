"""What is seen of results: lines over time, groups, targets, the public page and its verification."""

from __future__ import annotations

import csv
import io
import json
import os
import re
from collections.abc import Sequence
from datetime import date, timedelta
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.collect.codec import load
from deniable.collect.tally import Tally
from deniable.core.types import Target
from deniable.estimate.change import trend
from deniable.service.ingest import Intake
from deniable.service.pages import exports
from deniable.service.release import windows
from deniable.service.results import words
from deniable.service.results.flat import flat
from deniable.service.results.public import charts_of
from deniable.service.results.reading import estimate_in, group_names, published
from deniable.service.results.view import Cell, QuestionView, Wording, views
from deniable.service.results.words import shown
from deniable.service.store.contract import Incoming, Upload
from deniable.service.texts.catalogue import bdi, texts
from deniable.service.texts.languages import LANGUAGES
from deniable_client.task import Task
from pages.asks import TODAY, Paged, signed_in, task
from pages.browsing import Tab, axe, browser
from pages.recording import Running
from pages.test_dashboard import only_text

BEGUN = TODAY - timedelta(35)
YES = dn.mechanism("grr", epsilon=2.0, labels=["Dark", "Light"])
FOUR = dn.mechanism("ss", epsilon=2.0, labels=["never", "sometimes", "often", "always"])


def counted(service: Paged, document: dict[str, Any], made: Sequence[Any], week: int, shares: Sequence[Any]) -> None:
    """Reports of simulated people for each question: so many of each answer, in all strata in turn."""
    known = Task.load(document)
    for number, (m, counts) in enumerate(zip(made, shares, strict=True)):
        reports = m.privatize_items(np.repeat(np.arange(len(counts)), counts), dn.simulation(100 * week + number))
        bodies = []
        for i in range(len(reports)):
            strata = {name: values[1 + i % (len(values) - 1)] for name, values in known.strata.items()}
            bodies.append(Incoming(os.urandom(16), known.body(known.questions[number], reports.row(i), strata)))
        outcomes = service.store.add([Upload(known.id, BEGUN + timedelta(7 * week), bodies)])[0]
        assert {outcome.status for outcome in outcomes} == {"accepted"}


class Asked:
    """A collector with a public task over four weeks (the third too small), and one that is not public."""

    def __init__(self) -> None:
        self.service = Paged()
        terms: dict[str, Any] = {"opens": BEGUN, "windows": 5, "budget": 20, "min_batch": 100}
        words = {"subject": "Themes", "purpose": "To choose one.", "strata": {"country": ["DE", "FR"]}}
        document = task([YES, FOUR], "Which theme?", results="public", **terms, **words)
        self.id = self.service.add(document)
        for week, share in enumerate((0.30, 0.40, None, 0.60)):
            yes = [20, 30] if share is None else [int(500 * share), 500 - int(500 * share)]
            counted(
                self.service,
                document,
                [YES, FOUR],
                week,
                [yes, [12, 8, 8, 5] if share is None else [90, 60, 50, 30]],
            )
        self.private = self.service.add(task([YES], "Which theme?", subject="Private", **terms))
        self.headers = signed_in(self.service)

    def views(self, target: Target = "population") -> tuple[Task, list[QuestionView], Any]:
        row = self.service.store.task(self.id)
        assert row is not None
        known = Intake(row.document)
        found = windows(self.service.store, row, known, self.service.now)
        return known.task, views(known.task, found, target, "en"), found


@pytest.fixture(scope="module")
def asked() -> Asked:
    return Asked()


# ---- what is computed


def test_the_trend_is_that_of_all_published_windows_and_corrected_for_all_questions(asked: Asked) -> None:
    """Windows keep their places in time: a withheld one is a gap, not left out."""
    known, found, told = asked.views()
    question = known.questions[0]
    parts = list(published(told, question.name))
    assert [window.number for window, _ in parts] == [0, 1, 3]
    wanted = trend([estimate_in(part, question) for _, part in parts], [0.0, 1.0, 3.0])
    assert found[0].trend == wanted
    assert wanted.pvalue < 1e-4
    assert found[0].pvalue == pytest.approx(2 * wanted.pvalue), "the smaller of two (Holm)"
    assert [bool(moment.cells) for moment in found[0].moments][:4] == [True, True, False, True]
    assert found[0].moments[2].few
    assert list(found[0].shown) == [0], "of yes and no one is shown"


def test_intervals_are_for_the_population_unless_told_otherwise(asked: Asked) -> None:
    _, wide, _ = asked.views()
    _, narrow, _ = asked.views("reporters")
    for one, two in zip(wide, narrow, strict=True):
        assert (one.target, two.target) == ("population", "reporters")
        assert one.last is not None
        assert two.last is not None
        for a, b in zip(one.last.cells, two.last.cells, strict=True):
            assert a.value == b.value
            assert a.stderr > b.stderr  # type: ignore[operator]


def test_charts_have_one_axis_and_order_for_all_windows(asked: Asked) -> None:
    """Also for groups; withheld windows are hatched, and the line is not drawn across them."""
    known, found, _ = asked.views()
    t = texts("see", "en")
    part = charts_of(known, found[1], found, t)
    ((_, drawn),) = part["trend"]
    assert drawn.count('class="gap"') == sum(not moment.cells for moment in found[1].moments)
    assert drawn.count("<polyline") == 4, "of each answer one before the gap; after it there is one window, a dot"
    assert [label for _, label, _ in part["legend"]] == list(found[1].labels)
    assert len(set(re.findall(r'class="line (c\d d\d)"', str(drawn)))) == 4
    assert part["rows"][0][0] == "never"
    assert "fewer than 100 reports" in part["gaps"][0]
    assert "33" not in "".join(part["gaps"]), "how many there were is not told"


def test_more_than_five_answers_are_small_charts_of_the_same_axis() -> None:
    service = Paged()
    m = dn.mechanism("ss", epsilon=4.0, k=40)
    document = task([m], opens=BEGUN, windows=3, budget=20, min_batch=50)
    service.add(document)
    for week in range(2):
        counted(service, document, [m], week, [[10] * 40])
    row = service.store.tasks()[0]
    known = Intake(row.document)
    found = views(known.task, windows(service.store, row, known, service.now), "population", "en")
    part = charts_of(known.task, found[0], found, texts("see", "en"))
    assert len(part["trend"]) == 40
    axes = {tuple(re.findall(r'text-anchor="end">([^<]*)<', str(drawn))) for _, drawn in part["trend"]}
    assert len(axes) == 1
    assert len(part["rows"]) == 40


def test_directions_have_no_straight_axis_and_are_not_claimed_where_there_is_none() -> None:
    service = Paged()
    m = dn.mechanism("arc", epsilon=1.0, interval=(0, 24))
    document = task([m], opens=BEGUN, windows=3, budget=20, min_batch=50, results="public")
    id = service.add(document)
    for week in range(2):
        around = np.zeros(m.bulk.k, dtype=np.int64)
        around[np.linspace(0, m.bulk.k - 1, 96).astype(np.int64)] = 1
        counted(service, document, [m], week, [around])
    row = service.store.tasks()[0]
    known = Intake(row.document)
    found = views(known.task, windows(service.store, row, known, service.now), "population", "en")
    part = charts_of(known.task, found[0], found, texts("see", "en"))
    assert found[0].circular
    assert (part["trend"], part["rows"]) == ([], [])
    assert part["sentences"] == [texts("see", "en")("say.nowhere")]
    assert part["tables"][0][1] == [("Mean", "–", "–", "–")]
    assert "No direction can be told." in only_text(service.get(f"/r/{id}?lang=en").body.decode()).text


def test_directions_are_told_within_one_turn() -> None:
    """400 people at 23:30 and at 0:30: around midnight, from the evening on, not from -2 on."""
    service = Paged()
    m = dn.mechanism("arc", epsilon=4.0, interval=(0, 24))
    document = task([m], opens=BEGUN, windows=3, budget=20, min_batch=50, results="public")
    service.add(document)
    late = np.zeros(m.bulk.k, dtype=np.int64)
    late[[round(0.5 / 24 * m.bulk.k), round(23.5 / 24 * m.bulk.k)]] = 200
    counted(service, document, [m], 0, [late])
    row = service.store.tasks()[0]
    known = Intake(row.document)
    (view,) = views(known.task, windows(service.store, row, known, service.now), "population", "en")
    assert view.last is not None
    (cell,) = (shown(view, each) for each in view.last.cells)
    assert None not in (cell.value, cell.low, cell.high)
    assert 20 < float(cell.low or 0) < 24
    assert 0 < float(cell.high or 0) < 4
    assert 0 <= float(cell.value or 0) < 24


# ---- pages


def test_the_dashboard_says_which_target_and_switches(asked: Asked) -> None:
    page = asked.service.get(f"/tasks/{asked.id}", asked.headers).body.decode()
    text = only_text(page).text
    for number in (1, 2):
        assert f'href="/tasks/{asked.id}?target=reporters#q{number}"' in page, "to the same question again"
        assert f'<h2 id="q{number}">' in page
    assert "There is a trend (p\u00a0<\u00a00.001)." in text
    assert "Intervals are for the population" in text
    assert "Show intervals for those who answered" in text
    assert "Withheld: window 3" in text
    other = only_text(asked.service.get(f"/tasks/{asked.id}?target=reporters", asked.headers).body.decode()).text
    assert "Intervals are for those who answered" in other
    assert asked.service.get(f"/tasks/{asked.id}?target=all", asked.headers).status == 422


def test_the_public_page_is_there_only_if_the_task_says_so(asked: Asked) -> None:
    page = asked.service.get(f"/r/{asked.id}")
    assert page.status == 200
    for path in ("", "/counts.json", "/results.csv", "/q0.tally"):
        assert asked.service.get(f"/r/{asked.private}{path}").status == 404
        assert asked.service.get(f"/r/{'0' * 64}{path}").status == 404
    assert asked.service.get(f"/r/{asked.id}/nothing.tally").status == 404


@pytest.mark.parametrize("tag", LANGUAGES)
def test_the_public_page_speaks_every_language(asked: Asked, tag: str) -> None:
    """Without a script: sentences, tables, method, certificate with id, fraction, version and day."""
    reply = asked.service.get(f"/r/{asked.id}?lang={tag}")
    text = only_text(reply.body.decode()).text
    t = texts("see", tag)
    assert f'lang="{tag}" dir="{LANGUAGES[tag].direction}"' in reply.body.decode()
    for id in ("trend.title", "group.title", "method.self", "cert.how", "verify.what", "limits.self", "cite.title"):
        assert t(id) in text
    assert asked.id in text
    assert t.language.number(7.3891, 4) in text
    assert re.search(r"\d{15,}/\d{15,}", text)
    assert dn.__version__ in text
    assert str(asked.service.collector.believed().date()) in text
    assert "33" not in re.findall(r"[0-9]+", t("gap.few", first=BEGUN, last=BEGUN, least=100))


def test_the_public_page_tells_nothing_that_was_withheld(asked: Asked) -> None:
    """Neither how many reports the small window had nor its name in any file."""
    told = asked.service.get(f"/r/{asked.id}/counts.json").json
    assert [window["window"] for window in told["windows"]] == [0, 1, 3]
    rows = list(csv.DictReader(io.StringIO(asked.service.get(f"/r/{asked.id}/results.csv").body.decode())))
    assert {row["window"] for row in rows} == {"0", "1", "3"}
    known, _, found = asked.views()
    assert asked.service.get(f"/r/{asked.id}/results.json").json == json.loads(json.dumps(flat(known, found)))


def test_words_of_the_author_are_in_the_language_of_the_page() -> None:
    translated = {"subject": "Thema", "questions": [[{"text": "Welches?", "labels": ["Dunkel", "Hell"]}]]}
    made = task([YES], "Which?", translations={"de": translated}, results="public")
    known = Task.load(made)
    assert Wording.of(known, "de").labels == (("Dunkel", "Hell"),)
    assert Wording.of(known, "fr").texts == ("Which?",)
    assert Wording.of(known, "de").subject == "Thema"


# ---- verified in a browser


BESIDE_AXES = """() => [...document.querySelectorAll(".axis text")].filter((text) => {
  const own = text.getBoundingClientRect(), all = text.ownerSVGElement.getBoundingClientRect();
  return own.left < all.left - 2 || own.right > all.right + 2;
}).map((text) => text.textContent)"""
CHANGE = """(where) => { const cell = document.querySelector(`main ${where}`);
  cell.textContent = cell.textContent.replace(/[0-9]/, (digit) => (Number(digit) + 1) % 10); }"""


@pytest.mark.slow
def test_verify_finds_a_changed_digit(asked: Asked) -> None:
    """In Chromium: all agrees as it is; another digit in a table or in the fraction is found, and where is said."""
    t = texts("see", "en")
    with Running(asked.service) as site, browser() as made:
        for where, said in (
            (None, "verify.done.ok"),
            ("td", "verify.done.wrong"),
            ("[data-ratio]", "verify.done.wrong"),
        ):
            context = made.new_context()
            tab = Tab(context, f"{site.url}/r/{asked.id}?lang=en")
            if where is not None:
                tab.page.evaluate(CHANGE, where)
            tab.page.click("#go")
            tab.page.wait_for_selector("#main[data-verified]")
            found = tab.page.inner_text("#found")
            assert t(said) in found
            assert ("the table says" in found) == (where == "td")
            assert ("is not the proved one" in found) == (where == "[data-ratio]")
            tab.fine()
            context.close()


@pytest.mark.slow
@pytest.mark.parametrize("width", [360, 1280])
def test_pages_of_results_have_no_fault_for_axe_and_do_not_scroll_sideways(asked: Asked, width: int) -> None:
    """Light, dark and right to left; the keyboard reaches what can be pressed."""
    rules = axe()
    with Running(asked.service) as site, browser() as made:
        for scheme, tag in (("light", "en"), ("dark", "de"), ("light", "ar")):
            context = made.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
            tab = Tab(context, f"{site.url}/r/{asked.id}?lang={tag}")
            tab.page.evaluate(rules)
            faults = tab.page.evaluate(
                "axe.run().then((found) => found.violations.map((each) => [each.id, each.nodes[0].html]))"
            )
            assert faults == [], (scheme, tag)
            assert tab.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
            assert tab.page.evaluate(BESIDE_AXES) == [], "numbers of an axis stand under their chart"
            tab.page.focus("#go")
            tab.page.keyboard.press("Enter")
            tab.page.wait_for_selector("#main[data-verified=true]")
            tab.fine()
            context.close()


@pytest.mark.slow
def test_a_reader_without_a_script_is_offered_nothing_that_needs_one(asked: Asked) -> None:
    """A style for all buttons showed the one that verifies, and it did nothing."""
    with Running(asked.service) as site, browser() as made:
        page = made.new_context(java_script_enabled=False).new_page()
        page.goto(f"{site.url}/r/{asked.id}")
        assert page.locator("#go").is_hidden()
        assert page.locator("table").first.is_visible()


def test_a_chart_is_of_the_question_and_the_window_that_are_asked_for(
    asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def drawn(data: bytes, labels: Any, title: str, kind: str) -> bytes:
        tally = load(data)
        assert isinstance(tally, Tally)
        return json.dumps([list(labels or ()), tally.n, kind]).encode()

    monkeypatch.setattr(exports, "picture", drawn)
    known, _, found = asked.views()
    for window, number in ((0, 0), (0, 1), (3, 1)):
        name = known.questions[number].name
        (part,) = [each for each in found[window].document["questions"] if each["question"] == name]
        reply = asked.service.get(f"/tasks/{asked.id}/{window}/{name}.png", asked.headers)
        assert reply.json == [list(known.questions[number].labels or ()), part["reports"], "png"]


def plain(said: Any) -> str:
    return re.sub("<[^>]+>", "", str(said))


def test_rare_answers_years_and_units_in_words() -> None:
    t = texts("see", "en")
    rare, usual = (words._share("Blue", Cell(value, 0.0, 0.008), t) for value in (0.004, 0.006))
    assert rare == t.html("say.rare", answer=bdi("Blue"), high=1), "the upper end, rounded up"
    assert usual == t.html("say.share", answer=bdi("Blue"), n="1", low="0", high="1")
    made = Task.load(task([YES], "Which theme?", opens=date(2026, 12, 25), window_days=7, windows=1))
    assert made.closes == date(2027, 1, 1)
    assert "2026" in words.citation(made, "Themes", t, "https://example.org/r")
    change = SimpleNamespace(value=[0.5], stderr=[0.1], interval=lambda level: SimpleNamespace(low=[0.25], high=[0.75]))
    moments = [SimpleNamespace(cells=[Cell(value, value, value)]) for value in (1.0, 1.5)]
    view: Any = SimpleNamespace(
        trend=SimpleNamespace(change=change), pvalue=0.001, level=0.95, published=moments, shown=[0], labels=["a"]
    )
    for numbers, told in ((True, "+0.5"), (False, "+50")):
        view.numbers = numbers
        assert told in plain(words.trend_claim(view, t, 1)[-1])
        arabic = plain(words.trend_claim(view, texts("see", "ar"), 1)[-1])
        assert f"\u200e{told}" in arabic, "before its number, as a minus is, and not behind it"


# ---- what is behind the numbers


@pytest.mark.parametrize("tag", LANGUAGES)
def test_what_no_answer_counts_as_is_told_where_others_give_it_too(tag: str) -> None:
    """The mean of hours had the middle in it for everybody who was silent, and no page for readers said so."""
    t = texts("see", tag)
    hours = dn.mechanism("om", epsilon=1.0, interval=(0, 14))
    ticks = dn.mechanism("several", epsilon=1.0, labels=["Bus", "Car", "Train"], most=2)
    ranges = dn.mechanism("windows", epsilon=1.0, k=24)
    own = dn.mechanism("grr", epsilon=1.0, labels=["Yes", "No", "Not told"], missing="Not told")
    known = Task.load(task([hours, ticks, ranges, own, YES], "What of it?", min_batch=10))
    found = views(known, [], "population", tag)
    middle = t.html("say.silent", answer=bdi("7"))
    expected = [middle, t.html("say.silent.none"), t.html("say.silent.random"), "", t.html("say.silent.random")]
    assert [words.silent(view, t) for view in found] == expected
    same = {"epsilon": 1.0, "ratio": "3/1", "reports": 9}
    made = [{"mechanism": q.design["mechanism"], "asked": q.text, **same} for q in known.questions]
    told = words.method(known, found, made, t, "https://example.org")
    assert "<" not in told
    for id in ("say.silent.none", "say.silent.random"):
        assert t(id) in told


@pytest.mark.parametrize("tag", LANGUAGES)
def test_mechanisms_have_names_that_can_be_published(tag: str) -> None:
    """Answers were randomised "by several" and "by om" in the paragraph to paste."""
    t = texts("see", tag)
    assert words.mechanism("om", t) == f"{t('mechanism.om')} (om)"
    assert words.mechanism("athe", t) == "athe"
    assert words.mechanism("ss", texts("see", "en")) == "subset selection (ss)"


def test_groups_have_the_names_of_the_language_and_what_is_joined_is_named() -> None:
    """In Arabic they were told as the author wrote them in English; the last of three was lost among "all others"."""
    words_of = {"subject": "Thèmes", "questions": [[{"text": "Quoi ?", "labels": ["Sombre", "Clair"]}]]}
    groups = [{"title": "Pays", "values": ["Allemagne", "France", "Italie"]}]
    more = {"strata": {"country": ["DE", "FR", "IT"]}, "translations": {"fr": {**words_of, "strata": groups}}}
    known = Task.load(task([YES], "Which theme?", min_batch=10, **more))
    told = [{"strata": [{"country": "DE"}]}, {"strata": [{"country": "FR"}]}, {"strata": [{}]}]
    names = {tag: group_names(known, told, texts("see", tag)) for tag in ("en", "fr", "ar")}
    assert names["en"] == ["DE", "FR", "IT; I prefer not to say"]
    assert names["fr"] == ["Allemagne", "France", "Italie; Je préfère ne pas répondre"]
    assert names["ar"][:2] == ["DE", "FR"]
    joined = [{"strata": [{"country": "DE"}]}, {"strata": [{"country": "FR"}, {}]}]
    assert group_names(known, joined, texts("see", "en"))[1] == "FR; IT; I prefer not to say"
    assert group_names(known, [{"strata": [{}]}], texts("see", "en")) == ["all"]
    wide = Task.load(task([YES], "Which?", min_batch=10, strata={"a": list("uvwxyz"), "b": ["c", "d"]}))
    told = [{"strata": [{"a": "u"}]}, {"strata": [{"a": "u", "b": "c"}]}, {"strata": [{}]}]
    assert group_names(wide, told, texts("see", "en")) == ["u, others", "u, c", "all others"]
    lone = Task.load(task([YES], "Which?", min_batch=10, strata={"a": list("uvwxyz")}))
    assert group_names(lone, [{"strata": [{"a": "u"}]}, {"strata": [{}]}], texts("see", "en")) == ["u", "all others"]
    late = Task.load(task([YES], "Which?", min_batch=10, strata={"zone": ["N", "S"], "age": ["young", "old"]}))
    told = [{"strata": [{"zone": "N"}]}, {"strata": [{"age": "young", "zone": "N"}]}, {"strata": [{}]}]
    said = group_names(late, told, texts("see", "en"))
    assert said == ["N, others", "N, young", "all others"], "releases have their names in the order of the alphabet"
