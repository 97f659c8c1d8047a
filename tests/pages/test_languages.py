"""The survey page in every language, in frames and on paper, without a browser; and its logic in Node."""

from __future__ import annotations

import json
import re
import subprocess
from datetime import timedelta
from html import unescape
from pathlib import Path
from typing import Any

import pytest

import deniable as dn
from deniable.service.pages import assets
from deniable.service.pages.asking import asked, groups
from deniable.service.pages.render import POLICY
from deniable.service.settings import Settings
from deniable.service.sharing.qr import svg
from deniable.service.texts.catalogue import texts
from deniable.service.texts.languages import LANGUAGES
from deniable_client.task import NOT_TOLD, Task
from js.conftest import node
from pages.asks import TODAY, Paged, mechanisms, task
from pages.conftest import Shown
from pages.said import beside, said_in
from tiers import every

__all__ = ["node"]

STATIC = Path(__file__).resolve().parents[2] / "src" / "deniable" / "service" / "pages" / "static"
ARABIC = {
    "subject": "\u0627\u0644\u0646\u0648\u0645",
    "questions": [
        [{"text": "\u0643\u0645\u061f", "labels": ["\u0623\u0628\u062f\u0627", "\u0643\u062b\u064a\u0631\u0627"]}]
    ],
}
OFTEN = [dn.mechanism("grr", epsilon=1.0, labels=["never", "often"])]


def spoken(**more: Any) -> dict[str, Any]:
    """A question in English and Arabic."""
    return task(OFTEN, "How often?", translations={"ar": ARABIC}, **more)


def _page(service: Paged, path: str, header: str = "") -> str:
    return service.get(path, {"accept-language": header} if header else {}).body.decode()


@pytest.mark.parametrize(
    ("query", "header", "tag"),
    [
        ("", "", "en"),
        ("", "ar-EG, en;q=0.5", "ar"),
        ("?lang=ar", "en", "ar"),
        ("?lang=en", "ar", "en"),
        ("?lang=xx", "", "en"),
    ],
)
def test_people_read_their_own_language(query: str, header: str, tag: str) -> None:
    service = Paged()
    id = service.add(spoken())
    text = _page(service, f"/t/{id}{query}", header)
    assert f'<html lang="{tag}" dir="{"rtl" if tag == "ar" else "ltr"}">' in text
    assert (ARABIC["questions"][0][0]["text"] in text) is (tag == "ar")
    assert ("How often?" in text) is (tag == "en")
    assert re.findall(r'hreflang="(\w+)"( aria-current)?', text) == [
        (each, " aria-current" if each == tag else "") for each in ("en", "ar")
    ]
    assert "accept-language" in service.get(f"/t/{id}").headers["vary"]


def test_whose_words_they_are_is_isolated() -> None:
    """What the collector wrote has a direction of its own, in every language."""
    service = Paged()
    text = _page(service, f"/t/{service.add(spoken())}?lang=ar")
    for words in ("Example Health Institute", ARABIC["subject"], *ARABIC["questions"][0][0]["labels"]):
        assert f'<bdi dir="auto">{words}</bdi>' in text


@pytest.mark.parametrize("tag", LANGUAGES)
def test_every_page_is_of_one_language(tag: str) -> None:
    """No sentence of another language is left on it, for any kind of question, whatever its state."""
    english, own = (set(re.findall(r">([^<>{}]{25,}[^<>{}0-9a-f][^<>{}]*)<", _page_of(each))) for each in ("en", tag))
    assert len(english) > 8
    assert (english & own == english) is (tag == "en")
    assert tag == "en" or {text for text in english & own if not text.startswith("A question")} == set()
    service = Paged()
    early = service.add(task(OFTEN, language=tag, opens=TODAY + timedelta(3)))
    assert f'<html lang="{tag}"' in _page(service, f"/t/{early}")
    assert f'<html lang="{tag}"' in service.get(f"/t/{'0' * 64}", {"accept-language": tag}).body.decode()


def _page_of(tag: str) -> str:
    service = Paged()
    strata = {"country": ["DE", "FR"]}
    return _page(service, f"/t/{service.add(task(mechanisms()['sensitive'], language=tag, strata=strata))}")


def test_answers_and_groups_are_shown_in_translation_and_sent_as_they_are() -> None:
    names = {"country": "Which country?"}
    own = {**ARABIC, "strata": [{"title": "\u0627\u0644\u0628\u0644\u062f", "values": ["\u0623", "\u0628"]}]}
    document = task(OFTEN, translations={"ar": own}, strata={"country": ["DE", "FR"]}, titles=names)
    known = Task.load(document)
    (form,) = asked(known, "ar")
    assert [(choice.number, choice.text) for choice in form.choices] == list(
        enumerate(ARABIC["questions"][0][0]["labels"])
    )
    (arabic,), (english,) = groups(known, "ar"), groups(known, "en")
    assert (arabic.title, english.title) == (own["strata"][0]["title"], "Which country?")
    assert [value for value, _ in arabic.values] == [NOT_TOLD, "DE", "FR"] == [value for value, _ in english.values]
    assert [words for _, words in english.values] == ["I prefer not to say", "DE", "FR"]
    assert [words for _, words in arabic.values][1:] == ["\u0623", "\u0628"]


def test_units_ends_and_why_are_shown() -> None:
    """What a point means stands where it is chosen, and so where it is shown back: an answer of 1 says nothing."""
    from deniable.service.access.identity import Identity
    from deniable.service.tasks import Asked, Terms, new_task

    number = dn.mechanism("sw", epsilon=1.0, interval=(0, 24))
    rating = dn.mechanism("ss", epsilon=1.0, labels=["1", "2", "3"])
    service = Paged()
    for asked_for, words in (
        (Asked(text="How long?", design=number.design, kind="number", unit="hours"), ["from 0 to 24 (", ">hours<"]),
        (
            Asked(text="How well?", design=rating.design, kind="rating", ends=("badly", "well")),
            [">1 (badly)<", ">3 (well)<"],
        ),
    ):
        terms = Terms(opens=TODAY, collector="Us", subject="sleep", min_batch=5, purpose="To learn about sleep")
        text = _page(service, f"/t/{service.add(new_task([asked_for], terms, Identity(bytes(range(32)))))}")
        assert all(word in text for word in [*words, "To learn about sleep"])


# ---- frames, codes, paper


def test_a_frame_is_for_sites_that_are_listed() -> None:
    """And for pages that are asked for as a frame; all else stays alone."""
    document = spoken()
    frames = {document["id"]: ("https://a.example", "https://b.example")}
    service = Paged(settings=Settings(frames=frames))
    id, other = service.add(document), service.add(spoken())
    policy = service.get(f"/t/{id}?embed").headers["content-security-policy"]
    assert policy.endswith("frame-ancestors https://a.example https://b.example")
    assert policy.split("; ")[:-1] == POLICY.split("; ")[:-1]
    for path in (f"/t/{id}", f"/t/{other}?embed", f"/t/{id}/print?embed", f"/t/{'0' * 64}?embed"):
        assert "frame-ancestors 'none'" in service.get(path).headers["content-security-policy"]
    everywhere = Paged(settings=Settings(frames={"*": ("https://c.example",)}))
    path = f"/t/{everywhere.add(spoken())}?embed"
    assert "frame-ancestors https://c.example" in everywhere.get(path).headers["content-security-policy"]


def test_the_element_is_served_and_the_sheet_and_its_code_lead_to_the_survey() -> None:
    service = Paged(settings=Settings(public_url="https://collect.example.org"))
    far = {"host": "collect.example.org"}
    id = service.add(spoken())
    script = service.get("/embed.js", far)
    assert script.headers["content-type"].startswith("text/javascript")
    assert "deniable-survey" in script.body.decode()
    sheet = service.get(f"/t/{id}/print?lang=ar", far).body.decode()
    assert 'dir="rtl"' in sheet
    assert f"https://collect.example.org/t/{id}?lang=ar" in sheet
    assert f'src="/t/{id}/qr.svg?lang=ar"' in sheet
    assert all(words in sheet for words in ARABIC["questions"][0][0]["labels"])
    assert "<script" not in sheet
    code = service.get(f"/t/{id}/qr.svg?lang=ar", far)
    assert code.headers["content-type"] == "image/svg+xml"
    assert code.body != service.get(f"/t/{id}/qr.svg", far).body
    for path in ("print", "qr.svg"):
        assert service.get(f"/t/{'0' * 64}/{path}", far).status == 404


@pytest.mark.parametrize("chosen", ["", "xx", "fr", "AR", "ar-EG", "ar x", "%22%3E%3Cb%3E", "en&lang=xx"])
def test_an_address_on_paper_names_no_language_that_the_task_does_not_have(chosen: str) -> None:
    """Nothing of what stands behind `lang=` gets onto the sheet, nor into its code."""
    service = Paged(settings=Settings(public_url="https://collect.example.org"))
    far = {"host": "collect.example.org"}
    id = service.add(spoken())
    sheet = service.get(f"/t/{id}/print?lang={chosen}", far).body.decode()
    assert f"https://collect.example.org/t/{id}<" in sheet
    assert f'src="/t/{id}/qr.svg"' in sheet
    assert "?lang=" not in sheet
    plain, code = (service.get(f"/t/{id}/qr.svg{query}", far).body for query in ("", f"?lang={chosen}"))
    assert code == plain == svg(f"https://collect.example.org/t/{id}", texts("answer", "en")("print.alt")).encode()


def test_a_closed_survey_leads_to_public_results_only() -> None:
    service = Paged()
    for results, shown in ((None, False), ("public", True)):
        more = {} if results is None else {"results": results}
        id = service.add(task(OFTEN, **more), "closed")
        assert (f"/r/{id}" in _page(service, f"/t/{id}")) is shown


def test_a_shared_tablet_is_told_what_it_cannot_promise() -> None:
    service = Paged()
    id = service.add(spoken())
    plain, kiosk = _page(service, f"/t/{id}"), _page(service, f"/t/{id}?kiosk")
    assert "please answer once only" in kiosk
    assert "please answer once only" not in plain
    assert ("data-kiosk" in kiosk, "data-kiosk" in plain) == (True, False)


def test_styles_know_no_left_and_right() -> None:
    style = (STATIC / "survey.css").read_text("utf-8")
    assert (
        re.findall(
            r"(?:margin|padding|border)-(?:left|right)|text-align: (?:left|right)|float|\b(?:left|right):", style
        )
        == []
    )
    assert "prefers-reduced-motion" in style
    assert "forced-colors" in style
    for name in ("survey.css", "dashboard.css"):
        rules = (STATIC / name).read_text("utf-8")
        assert re.search(r"(?:^|[}\n] ?)a \{ color: var\(--accent\)", rules), f"links of {name} have its colour"


# ---- logic

SCRIPT = """
import { matching, readNumber } from "%s";
const { numbers, lists } = JSON.parse(process.argv[1]);
const found = lists.map(([texts, search]) => matching(texts, search));
console.log(JSON.stringify({ numbers: numbers.map(readNumber), lists: found }));
"""
NUMBERS: dict[str, list[float]] = {
    "37": [37],
    " 7,5 ": [7.5],
    "7.5": [7.5],
    "-3": [-3],
    "\u22123,25": [-3.25],
    "1.000": [1000, 1],
    "1,000": [1000, 1],
    "-12.345": [-12345, -12.345],
    "0.125": [0.125],
    "0,125": [0.125],
    "1234.567": [1234.567],
    "1.000.000": [1000000],
    "1.000,5": [1000.5],
    "1,000.5": [1000.5],
    "1 000": [1000],
    "1\u202f000,5": [1000.5],
    "1'000": [1000],
    "\u0661\u0662\u066b\u0665": [12.5],
    "\u06f3\u06f7": [37],
    "\u0661\u066c\u0660\u0660\u0660": [1000],
    "\uff11\uff12": [12],
    "1e300": [1e300],
    "1.00.0": [],
    "1,0.0,0": [],
    "1.000,5.0": [],
    "": [],
    "seven": [],
    "7 hours": [],
    "--7": [],
    ".": [],
    "1e9999": [],
}


def test_numbers_are_read_as_people_write_them(node: str) -> None:
    """What may mean two things is asked about; what is not a number is told."""
    lists = [(["Z\u00fcrich", "Bern", "Basel-Stadt"], search) for search in ("zur", "B", "stadt bas", "", "x")]
    given = json.dumps({"numbers": list(NUMBERS), "lists": lists})
    script = SCRIPT % (STATIC / "fields.js").as_uri()
    done = subprocess.run(
        [node, "--input-type=module", "-e", script, given], capture_output=True, text=True, check=True
    )
    found = json.loads(done.stdout)
    assert dict(zip(NUMBERS, found["numbers"], strict=True)) == NUMBERS
    assert found["lists"] == [[0], [1, 2], [2], [0, 1, 2], []]


def test_the_page_is_small_in_every_language() -> None:
    """All that it loads until the question can be asked, for the heaviest kind; what a receipt needs comes later."""
    from pages.test_survey import MOST_BYTES, _size, _static, _weight

    found = {tag: _weight(task(mechanisms()["ratings"], "How?", language=tag)) for tag in LANGUAGES}
    assert max(found.values()) <= MOST_BYTES, found
    service = Paged()
    assert sum(_size(service, _static(name)) for name in ("receipt.js", "client/meaning.js")) <= 6_500
    assert "client/meaning.js" in assets.of_page()


# ---- for those who sign in


@pytest.mark.parametrize("tag", every(len(LANGUAGES), sorted(LANGUAGES)))
def test_analysts_read_their_own_language(shown: Shown, tag: str) -> None:
    """Every word on the pages of analysts is of the catalogue, of a task, or marked as English."""
    service, found = shown.service, {}
    known = [Task.load(row.document) for row in service.store.tasks()]
    own = {text for each in known for q in each.questions for text in (q.name, q.text, *(q.labels or ()))}
    own |= {text for each in known for text in (each.subject, each.collector or "")}
    own |= {text for each in known for name, values in each.strata.items() for text in (name, *values)}
    query = "/plan?text=How+often&kind=shares&answers=never%0Aoften&people=1000&epsilon=1"
    tasks = [f"/tasks/{shown.ids[kind]}" for kind in ("survey", "number", "ratings")]
    for path in ("/", *tasks, f"{tasks[0]}/certificate", f"{tasks[0]}?error=1", f"{tasks[0]}?error=x", "/plan", query):
        reply = service.get(path, shown.headers | {"accept-language": tag})
        text = reply.body.decode()
        assert f'<html lang="{tag}" dir="{LANGUAGES[tag].direction}">' in text
        codes = {unescape(code) for code in re.findall(r"<code>([^<]*)</code>", text)}  # names of designs
        found[path] = beside(said_in(text), tag, own | codes)
    found["signed out"] = beside(said_in(service.get("/", {"accept-language": tag}).body.decode()), tag)
    assert {path: texts for path, texts in found.items() if texts} == {}
