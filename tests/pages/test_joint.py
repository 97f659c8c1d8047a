"""Questions that are asked together, one after the other on the survey page, drawn once; and what is told of them."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from deniable.mechanisms.registry import from_design
from deniable.service.ingest import Intake
from deniable.service.pages.asking import asked
from deniable.service.release import windows
from deniable.service.results.flat import flat
from deniable.service.results.joint import by_question, crossings
from deniable.service.results.view import views
from deniable.service.texts.catalogue import texts
from deniable.service.texts.languages import LANGUAGES
from deniable_client.task import Task
from pages.asks import TODAY, Paged, fill, joint
from pages.browsing import STORED, Tab, axe, begin, browser, ready, send
from pages.recording import Proxy, Running
from pages.said import said_on
from pages.test_survey import MOST_BYTES, _weight

PARTS = "[data-part]"
OWN = ["sleep", "Do you snore?", "How often do you dream?", "no", "yes", "never", "often", "Example Health Institute"]
ARABIC = ["Example Health Institute", "1", "2", "3"]


def test_each_question_has_its_own_answers_and_says_what_none_counts_as() -> None:
    """Not sets of answers; a label that says "I prefer not to say" is offered once, and first."""
    (form,) = asked(Task.load(joint(none="no")))
    assert form.kind == "together"
    assert form.choices == ()
    snore, dream = form.parts
    assert (snore.text, [c.text for c in snore.choices]) == ("Do you snore?", ["no", "yes"])
    assert snore.counted == "Sent and protected like any other answer; counted as no."
    assert [c.text for c in dream.choices] == ["I prefer not to say", "never", "often"]
    assert (dream.none, dream.counted) == (0, "Sent and protected like any other answer.")
    (form,) = asked(Task.load(joint()))
    assert form.parts[0].counted.endswith("your answers to all questions then count as random ones.")


@pytest.mark.parametrize("tag", LANGUAGES)
def test_the_beginning_says_how_many_are_asked(tag: str) -> None:
    """All of them, or some by chance, in every language; three questions are in two parts."""
    say = texts("answer", tag)
    assert say("deal.all", count=2) != say("deal.some", total=3, count=2) != say("deal.one", total=3)
    service = Paged()
    for pair, told in ((False, say("deal.all", count=2)), (True, say("deal.some", total=3, count=2))):
        id = service.add(joint(pair=pair, language=tag, translations=None))
        text = service.get(f"/t/{id}").body.decode()
        assert told in text
        assert text.count("data-part") == 2 + 2 * pair
        radios = set(re.findall(r'type="radio" name="([^"]+)"', text))
        assert len(radios) == 2 + 2 * pair, "no two groups of answers take each other's choice away"


def test_the_page_is_small() -> None:
    assert _weight(joint(translations=None), "client/together.js", "joint.js") <= MOST_BYTES


def test_printed_questions_are_each_there_once() -> None:
    service = Paged()
    text = service.get(f"/t/{service.add(joint(pair=True))}/print").body.decode()
    for question in ("Do you snore?", "How often do you dream?", "Do you nap?"):
        assert text.count(question) == 1


# ---- what is published


def published(**more: Any) -> tuple[Paged, str, list[Any]]:
    """A task with 300 simulated people in each part, whose week is over."""
    service = Paged()
    document = joint(results="public", pair=True, **more)
    made = [from_design(design) for design in document["design"]["parts"]]
    id = service.add(document)
    fill(service.store, document, made, 300, day=TODAY, seed=5)
    service.to_day(TODAY + timedelta(14))
    return service, id, made


def test_each_question_and_each_table_of_two_is_shown_as_it_is_released() -> None:
    """A question of two parts has what both tell; numbers are those of the release, in the words of the reader."""
    service, id, _ = published()
    row, task = service.store.task(id), Task.load(service.store.task(id).document)
    found = windows(service.store, row, Intake(row.document), service.now)
    told = found[0].told(task)["survey"]
    shown = views(task, found, "reporters", "en")
    assert [view.question.name for view in shown] == [each["question"] for each in told["questions"]]
    assert [view.question.name for view in shown] == ["snore", "dream", "nap"]
    for view in shown:
        (own,) = [each for each in told["questions"] if each["question"] == view.question.name]
        assert [cell.value for cell in view.last.cells] == own["estimate"]["value"]
        assert [cell.low for cell in view.last.cells] == own["estimate"]["low"]
        assert view.last.reports == own["reports"]
    words = {view.question.name: (view.text, view.labels) for view in shown}
    tables = [each for each in crossings(task, by_question(task, found, "population"), words) if each.cells]
    assert [each.texts[1] for each in tables] == ["Do you nap?"]
    for two, own in zip(tables, [each for each in told["tables"] if each["cells"]], strict=True):
        assert [value for row in two.cells for value, _, _ in row] == own["cells"]["value"]
        assert [high for row in two.cells for _, _, high in row] == own["cells"]["high"]
        assert two.pvalue == own["independence"]["pvalue"]
    page = service.get(f"/r/{id}?lang=ar").body.decode()
    assert page.count('<table class="cross">') == 1
    assert texts("see", "ar")("cross.title") in page
    assert "no, I prefer not to say" not in page


def test_the_flat_table_has_everybody_and_each_group_of_each_question_and_table() -> None:
    """Every number of the release, in its order, once; nothing of a part that is withheld."""
    service, id, _ = published(strata={"country": ["DE", "FR", "IT"]})
    row = service.store.task(id)
    assert row is not None
    task = Task.load(row.document)
    found = windows(service.store, row, Intake(row.document), service.now)
    survey, wanted = found[0].told(task)["survey"], list[tuple[Any, ...]]()
    for name, part in (("", survey), *((group["name"], group) for group in survey["groups"])):
        for told in part["questions"]:
            own = told["estimate"]
            numbers = zip(own["labels"], *(own[each] for each in ("value", "stderr", "low", "high")), strict=True)
            wanted += [(name, told["question"], *cells, own["n"]) for cells in numbers]
        for table in part["tables"]:
            one, two = table["questions"]
            names = (one, two, "value", "stderr", "low", "high")
            cells = zip(*(table["cells"][each] for each in names), strict=True) if table["cells"] else ()
            wanted += [(name, f"{one} x {two}", f"{a}, {b}", *rest, table["reports"]) for a, b, *rest in cells]
    columns = ("group", "question", "answer", "value", "stderr", "low", "high", "reports")
    assert [tuple(row[column] for column in columns) for row in flat(task, found)] == wanted
    assert [group["name"] for group in survey["groups"]] == ["FR", "IT", "all others"]
    assert {(name, asked) for name, asked, *_ in wanted} >= {
        (name, asked) for name in ("", "FR", "IT", "all others") for asked in ("snore", "dream", "nap", "snore x nap")
    }
    assert {(row["window"], row["from"], row["to"]) for row in flat(task, found)} == {
        (0, TODAY.isoformat(), (TODAY + timedelta(6)).isoformat())
    }


# ---- in a browser


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser() as found:
        yield found


def pick(page: Any, number: int | str) -> None:
    """Choose an answer to the question that is shown, and continue."""
    page.locator(f'{PARTS}:not([hidden]) input[value="{number}"]').check()
    page.click("#go")


@pytest.mark.slow
@pytest.mark.parametrize(("tag", "look"), [("en", "light"), ("ar", "dark")])
def test_they_are_asked_one_after_the_other_and_sent_as_one_report(
    chromium: Any, tmp_path: Path, tag: str, look: str
) -> None:
    """Back, a missing answer, a correction of one of them: one report, whatever was tried; nothing is kept of it."""
    service, say = Paged(), texts("answer", tag)
    id = service.add(joint(none="no"))
    with Running(service) as site, Proxy(site.url) as proxy:
        context = chromium.new_context(viewport={"width": 360, "height": 740}, color_scheme=look, bypass_csp=True)
        tab = Tab(context, f"{proxy.url}/t/{id}?lang={tag}")
        page, words, seen = tab.page, [], OWN if tag == "en" else ARABIC
        if tag == "ar":
            told = Task.load(joint()).translations["ar"]
            seen += [told["subject"], *(line for one in told["questions"][0] for line in (one["text"], *one["labels"]))]

        def look_at(state: str) -> None:
            page.screenshot(path=tmp_path / f"joint-{state}-{tag}.png", full_page=True)
            assert page.evaluate("document.documentElement.scrollWidth") <= 360, state
            page.evaluate(axe())
            assert page.evaluate("axe.run().then((found) => found.violations.map((each) => each.id))") == [], state
            words.extend(said_on(page, tag, seen))

        ready(page)
        begin(page)
        first, second = page.locator(PARTS).nth(0), page.locator(PARTS).nth(1)
        assert page.inner_text("#progress") == say("question.progress", i=1, n=2)
        assert first.is_visible()
        assert second.is_hidden()
        look_at("first")
        page.click("#go")
        assert page.inner_text("#answer .problem") == say("error.choose")
        pick(page, 0)
        assert first.is_hidden()
        assert second.is_visible()
        assert page.inner_text("#progress") == say("question.progress", i=2, n=2)
        assert page.evaluate("document.activeElement.id") == "answer"
        page.click("#back")
        assert first.locator("input[value='0']").is_checked(), "what was chosen stays"
        page.click("#go")
        look_at("second")
        pick(page, 2)
        page.wait_for_selector("#check:not([hidden])")
        said = page.locator("[data-review]:not([hidden]) [data-said]")
        assert page.locator("#yours").is_hidden()
        assert said.all_inner_texts() == (
            ["no", "often"] if tag == "en" else ["\u0625\u0637\u0644\u0627\u0642\u0627", "3"]
        )
        look_at("check")
        page.locator("[data-change]").nth(0).click()
        assert first.is_visible()
        assert second.is_hidden()
        pick(page, 1)
        page.click("#go")
        page.wait_for_selector("#check:not([hidden])")
        assert said.all_inner_texts()[0] == (
            "yes" if tag == "en" else "\u0628\u0627\u0644\u062a\u0623\u0643\u064a\u062f"
        )
        page.go_back()  # the browser's own way leads to the question before
        assert second.is_visible()
        page.go_forward()
        page.wait_for_selector("#check:not([hidden])")
        assert proxy.sent("/reports") == []
        assert send(page) == say("receipt.title")
        assert page.locator("[data-said]").all_text_contents() == ["", ""]
        page.click("#sent summary")
        look_at("receipt")
        rows = page.locator(".bars bdi").all_inner_texts()
        assert len(rows) == 6
        assert ("yes / often" if tag == "en" else "\u0628\u0627\u0644\u062a\u0623\u0643\u064a\u062f / 3") in rows
        (request,) = proxy.sent("/reports")
        (report,) = json.loads(request.body)["reports"]
        assert len(b64decode(report["report"])) == Task.load(service.store.task(id).document).width
        assert sum(tally.n for tally in service.store.tallies(id).values()) == 1
        assert words == []
        tab.fine()
        context.close()


@pytest.mark.turns(2)
@pytest.mark.slow
def test_requests_are_alike_whatever_is_answered(chromium: Any) -> None:
    """All sets of answers, and no answer to one or to all: requests are the same in number, order and length.

    What is kept on the device is as long, before it is sent and after it.
    """
    service, found = Paged(), set()
    id = service.add(joint(translations=None))
    given = [(a, b) for a in (0, 1, "") for b in (0, 1, 2)]
    with Running(service) as site:
        for one, two in given:
            with Proxy(site.url) as proxy:
                context = chromium.new_context()
                tab = Tab(context, f"{proxy.url}/t/{id}")
                ready(tab.page)
                begin(tab.page)
                pick(tab.page, one)
                pick(tab.page, two)
                tab.page.wait_for_selector("#check:not([hidden])")
                kept = [len(tab.page.evaluate(STORED))]
                assert send(tab.page) == "Thank you. Your report was counted."
                kept.append(len(tab.page.evaluate(STORED)))
                tab.fine()
                context.close()
                asked_for = [(r.path, len(r.body)) for r in proxy.requests if not r.path.startswith("/static/")]
                found.add((tuple(asked_for), tuple(kept)))
    assert len(found) == 1, found
    assert sum(tally.n for tally in service.store.tallies(id).values()) == len(given)


@pytest.mark.slow
@pytest.mark.parametrize(("tag", "look"), [("en", "light"), ("ar", "dark")])
def test_tables_of_two_are_read_on_every_screen_and_verified(
    chromium: Any, tmp_path: Path, tag: str, look: str
) -> None:
    """No fault for axe-core, nothing sideways; the page finds its id and ratios right."""
    service, id, _ = published()
    with Running(service) as site:
        context = chromium.new_context(color_scheme=look, bypass_csp=True)
        tab = Tab(context, f"{site.url}/r/{id}?lang={tag}")
        for width in (360, 1280):
            tab.page.set_viewport_size({"width": width, "height": 800})
            assert tab.page.evaluate("document.documentElement.scrollWidth") <= width
            tab.page.screenshot(path=tmp_path / f"joint-result-{tag}-{width}.png", full_page=True)
            tab.page.evaluate(axe())
            assert tab.page.evaluate("axe.run().then((found) => found.violations.map((each) => each.id))") == []
        tab.page.click("#go")
        tab.page.wait_for_selector("#found p:nth-child(6)")
        assert tab.page.locator("#found .wrong").count() == 0
        tab.fine()
        context.close()
