"""Every page as it was once written, word for word: `PYTHONPATH=tests python -m pages.written` writes them anew.

Tasks, reports and days are always the same, so a page is the same to the last sign: numbers, order, words, attributes
and headers. What is another way of showing a page that is there already is kept as what differs from it. Read what
changed (`git diff tests/golden/pages`) before it is kept: each line is something that somebody would see.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import date, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import deniable as dn
from deniable.core.space import Space
from deniable.service.access.identity import Identity
from deniable.service.questionnaire.document import Item, Questionnaire, dumped, read
from deniable.service.questionnaire.opening import task_of
from deniable.service.store.contract import DraftRow, Incoming, Upload
from deniable.service.tasks import Asked, Terms, new_task
from deniable_client.task import Task
from pages.asks import CITIES, LOCAL, OFTEN, Paged, joint, signed_in
from service.calling import HOST, item

__all__ = ["FOLDER", "PAGES", "kept", "shown", "write"]

FOLDER = Path(__file__).resolve().parents[1] / "golden" / "pages"
TODAY = date(2026, 3, 2)
BEGUN = TODAY - timedelta(35)
SELF = Identity(bytes(range(32)))
ARABIC = {
    "subject": "\u0627\u0644\u0646\u0648\u0645",
    "purpose": "\u0644\u0644\u062a\u062e\u0637\u064a\u0637",
    "questions": [
        [{"text": "\u0643\u0645\u061f", "labels": ["\u0646\u0639\u0645", "\u0644\u0627", "\u0631\u0628\u0645\u0627"]}],
        [{"text": "\u0645\u062a\u0649\u061f", "labels": ["1", "2", "3", "4"]}],
        [{"text": "\u0623\u064a\u0646\u061f", "labels": ["\u0623", "\u0628", "\u062c"]}],
    ],
    "strata": [{"title": "\u0627\u0644\u0628\u0644\u062f", "values": ["\u0623\u0644\u0645", "\u0641\u0631", "\u0633"]}],
}


# ---- a collector


def _answered(service: Paged, document: dict[str, Any], week: int, counts: list[Any], seed: int) -> None:
    """Reports of made-up people for each question, in the groups in turn: so many of each answer, or their numbers."""
    known = Task.load(document)
    parts = document["design"].get("parts", [document["design"]])
    bodies = []
    for number, (design, own) in enumerate(zip(parts, counts, strict=True)):
        m = dn.from_design(design)
        rng = dn.simulation(100 * seed + 10 * week + number)
        if isinstance(own, np.ndarray):
            drawn = m.privatize(own, rng=rng)
        else:
            drawn = m.privatize_items(np.repeat(np.arange(len(own)), own), rng)
        for i in range(len(drawn)):
            strata = {name: values[1 + (i % 7 + i % 3) % (len(values) - 1)] for name, values in known.strata.items()}
            report = known.body(known.questions[number], drawn.row(i), strata)
            bodies.append(Incoming((seed << 96 | week << 64 | number << 32 | i).to_bytes(16), report))
    day = known.opens + timedelta(known.days * week)
    assert {each.status for each in service.store.add([Upload(known.id, day, bodies)])[0]} == {"accepted"}


def _told(*asked: Asked, **terms: Any) -> dict[str, Any]:
    usual = {"opens": BEGUN, "windows": 5, "budget": 20, "min_batch": 60, "collector": "Uni Bern", "results": "public"}
    return new_task(asked, Terms(**{**usual, **terms}), SELF)


def _themes() -> dict[str, Any]:
    """Three questions in groups and two languages, over five weeks."""
    two, four = ["Dark", "Light", "<Both>"], ["never", "now & then", "often", "always"]
    rare = {"labels": ["flu", "HIV", "none"], "sensitive": ["HIV"]}
    return _told(
        Asked(text="Which theme?", design=dn.mechanism("grr", epsilon=3.0, labels=two).design, name="theme", share=2),
        Asked(text="How often?", design=dn.mechanism("ss", epsilon=3.0, labels=four).design, name="often"),
        Asked(text="Ill with?", design=dn.mechanism("urr", epsilon=3.0, **rare).design, name="ill"),
        subject="Themes", purpose="To choose one.", titles={"country": "Which country?"}, language="en",
        strata={"country": ["DE", "FR", "LI"]}, translations={"ar": ARABIC},
    )  # fmt: skip


def _lone() -> dict[str, dict[str, Any]]:
    """A task of each other kind of question, with how many people gave each answer, for two weeks."""
    options = [f"city {i}" for i in range(7)]
    made = {
        "mean": dn.mechanism("duchi", epsilon=3.0, interval=(0, 24)),
        "ratings": dn.mechanism("kv-ss", epsilon=4.0, labels=["down", "foam", "wool"], length=2),
        "hour": dn.mechanism("arc", epsilon=4.0, interval=(0, 24)),
        "cities": dn.mechanism("olh", epsilon=3.0, labels=options),
    }
    said = {"mean": {"unit": "h", "kind": "number"}}
    return {
        name: _told(
            Asked(text=f"What about {name}?", design=m.design, name="q", **said.get(name, {})),
            subject=name, windows=3, min_batch=20, results="public" if name in ("mean", "hour") else None,
        )
        for name, m in made.items()
    }  # fmt: skip


def _many(design: Any, week: int) -> Any:
    """What 240 people answer: numbers, or so many of each answer."""
    if "interval" in design["domain"]:
        return 6 + 4 * np.sin(np.arange(240.0)) + week
    size = dn.from_design(design).k
    return [240 * (i + 1 + week) // (size * (size + 1) // 2 + size * week) for i in range(size)]


@cache
def _collector() -> tuple[Paged, dict[str, str]]:
    """A collector with tasks of every kind, some of them answered, with the names of their ids."""
    service = Paged()
    service.to_day(TODAY)
    themes, ids = _themes(), {}
    ids["themes"] = service.add(themes)
    for week, people in enumerate(([140, 60, 40], [150, 90, 0], [9, 4, 3], [60, 150, 30])):
        some = week == 2
        others = [[5, 4, 3, 2], [8, 3, 3]] if some else [[60, 50, 40, 30], [80, 30, 40]]
        _answered(service, themes, week, [people, *others], 1)
    for seed, (name, document) in enumerate(_lone().items(), start=2):
        ids[name] = service.add(document)
        for week in range(2):
            _answered(service, document, week, [_many(document["design"], week)], seed)
    both = _both()
    ids["both"] = service.add(both)
    for week in range(2):
        cells = [200 - 60 * week, 20, 60, 90, 40, 30 + 60 * week]
        parts = both["design"]["parts"]
        _answered(
            service, both, week, [_many(each, week) if "interval" in each["domain"] else cells for each in parts], 9
        )
    return service, ids


def _both() -> dict[str, Any]:
    """Two questions that are asked together, beside a number."""
    document = {
        "questionnaire": 1, "title": "Health", "who": "Uni Bern", "why": "To plan.", "people": 9000, "public": True,
        "windows": 2, "protection": 1.0, "opens": BEGUN.isoformat(),
        "groups": [{"name": "g1", "title": "Where?", "values": ["North", "South"]}],
        "questions": [
            {"name": "smokes", "kind": "yes-no", "text": "Do you smoke?", "skip": False},
            {"name": "sport", "kind": "one", "text": "Sport?", "options": ["never", "weekly", "daily"], "skip": False},
            {"name": "hours", "kind": "number", "text": "Hours of sleep?", "low": 0, "high": 24, "unit": "h"},
        ],
        "together": [["smokes", "sport"]],
    }  # fmt: skip
    return task_of(read(document), SELF, today=BEGUN, min_batch=60)


def _open(service: Paged) -> dict[str, str]:
    """A task of each way to ask, which is open: the ids by name."""
    low, high = [0.5, 1.0, 2.0], ["badly", "well"]
    places = Space.places([list(place) for place in CITIES.values()], list(CITIES))
    own = {"levels": low, "shares": [0.3, 0.3, 0.4], "level_epsilon": 1.0, "labels": ["no", "yes", "quit"]}
    some = {"labels": ["flu", "hay fever", "depression", "HIV"], "sensitive": ["depression", "HIV"]}
    silent = dn.Domain.of([*OFTEN, "no answer"], missing="no answer")
    labels = ARABIC["strata"][0]["values"][:2]
    own_words = {name: ARABIC[name] for name in ("subject", "purpose")} | {
        "questions": [[{"text": "?", "labels": labels}]]
    }
    made: dict[str, tuple[Any, dict[str, Any], dict[str, Any]]] = {
        "choice": (dn.mechanism("ss", epsilon=1.0, domain=silent), {}, {}),
        "list": (dn.mechanism("olh", epsilon=1.0, labels=[f"city {i}" for i in range(17)]), {}, {}),
        "sixteen": (dn.mechanism("olh", epsilon=1.0, labels=[f"city {i}" for i in range(16)]), {}, {}),
        "sensitive": (dn.mechanism("uss", epsilon=1.0, **some), {}, {"windows": 3}),
        "level": (dn.mechanism("pldp", base="oue", epsilon=2.0, **own), {}, {}),
        "number": (dn.mechanism("sw", epsilon=1.0, interval=(30, 200)), {"unit": "kg", "kind": "number"}, {}),
        "rating": (dn.mechanism("ss", epsilon=1.0, labels=["1", "2"]), {"kind": "rating", "ends": tuple(high)}, {}),
        "places": (dn.mechanism("brr", epsilon=1.0, distances=places), {}, {}),
        "ticks": (dn.mechanism("several", epsilon=1.0, labels=list("abc"), most=3), {}, {}),
        "named": (dn.mechanism("uss", epsilon=1.0, k=6, sensitive=2), {}, {}),
        "counted": (
            dn.mechanism("grr", epsilon=1.0, labels=["a", "b"]),
            {"none": "a"},
            {"translations": {"ar": own_words}},
        ),
        "keyed": (dn.mechanism("kv-ss", epsilon=1.0, labels=["down", "foam", "wool"], length=2), {}, {}),
    }
    ids = {}
    for name, (m, said, terms) in made.items():
        asked = Asked(text=f"A question of the kind {name}?", design=m.design, name="q", **said)
        usual = {"opens": TODAY, "windows": 1, "subject": "sleep", "results": None, "purpose": "To <learn>."}
        ids[name] = service.add(_told(asked, **{**usual, **terms}))
    service.send(ids["choice"], item(1, b"\x0f"), *(item(i, b"too long") for i in (2, 3, 4)))
    ids["pair"] = service.add(joint(none="no", pair=True, opens=TODAY))
    ids["early"] = service.add(_told(Asked(text="Later?", design=made["choice"][0].design), opens=TODAY + timedelta(9)))
    closed = Asked(text="Closed?", design=made["choice"][0].design)
    ids["closed"] = service.add(_told(closed, opens=TODAY, subject="closed"), "closed")
    ids["draft"] = service.add(_told(closed, opens=TODAY, subject="draft"), "draft")
    return ids


# ---- questionnaires


def questionnaire() -> Questionnaire:
    """A draft that uses whatever there is."""
    arabic = {
        name: {"text": f"\u0633\u0624\u0627\u0644 {name}", **more}
        for name, more in {
            "q1": {}, "q2": {"options": ["\u0623", "\u0628"]}, "q3": {"options": ["1", "2", "3"]},
            "q4": {"ends": ["\u0633", "\u062c"]}, "q5": {"options": ["\u0645", "\u0646", "\u0648"]},
            "q6": {"unit": "\u0633\u0627\u0639\u0629"}, "q7": {}, "q8": {"options": ["a", "b"]},
        }.items()
    }  # fmt: skip
    return read(
        {
            "questionnaire": 1, "title": "Sleep & exams", "who": "Uni <Bern>", "why": "To plan.\nAnd to learn.",
            "opens": "2026-03-05", "days": 10, "windows": 3, "people": 40_000, "response": 0.45, "protection": 0.5,
            "public": True,
            "questions": [
                {"name": "q1", "kind": "yes-no", "text": "Did you copy?"},
                {"name": "q2", "kind": "one", "text": "Which?", "options": ["Law", "Physics"], "other": True},
                {"name": "q3", "kind": "several", "text": "Take?", "options": ["tea", "pills", "wine"], "most": 2},
                {"name": "q4", "kind": "rating", "text": "How well?", "ends": ["badly", "well"], "points": 3,
                 "skip": False},
                {"name": "q5", "kind": "ordered", "text": "How far?", "options": ["low", "mid", "high"]},
                {"name": "q6", "kind": "number", "text": "How long?", "low": -2, "high": 22, "unit": "h"},
                {"name": "q7", "kind": "time", "text": "When?", "slots": 48},
                {"name": "q8", "kind": "one", "text": "Ill?", "options": ["HIV", "flu"], "sensitive": ["HIV"],
                 "mechanism": "", "skip": False},
            ],
            "together": [["q1", "q4"], ["q2", "q5"]],
            "groups": [
                {"name": "g1", "title": "Where?", "values": ["North", "South"], "shares": [0.3, 0.7]},
                {"name": "g2", "title": "Term?", "values": ["1", "2", "3"]},
            ],
            "translations": {
                "ar": {"title": "\u0646\u0648\u0645", "why": ARABIC["purpose"], "questions": arabic,
                       "groups": {"g1": {"title": "\u0623\u064a\u0646", "values": ["\u0634", "\u062c"]},
                                  "g2": {"title": "\u0641\u0635\u0644", "values": ["1", "2", "3"]}}},
            },
        }
    )  # fmt: skip


def _trial(asked: Questionnaire) -> bytes:
    """What robots might have answered, as a trial keeps it."""
    share = {"label": "Yes", "truth": 0.5, "found": 0.4567, "low": -0.02, "high": 0.61}
    mean = {"label": "mean", "truth": None, "found": 6.254, "low": 4.0, "high": 9.5}
    told = {
        "simulated": True, "robots": 200,
        "questions": [
            {"question": "q1", "reports": 77, "half": 0.1234, "rows": [share, {**share, "label": "No"}], "mean": False,
             "truth": [0.5, 0.5]},
            {"question": "q6", "reports": 55, "half": 1.234, "rows": [mean], "mean": True, "truth": [0.5, 0.3, 0.2]},
            {"question": "q2", "reports": 3, "half": 0.2, "rows": [], "why": "too few", "mean": False, "truth": [1.0]},
            {"question": "gone", "reports": 3, "half": 0.2, "rows": [], "why": "", "mean": False, "truth": [1.0]},
        ],
        "tables": [{"questions": ["q1", "q4"], "reports": 66, "half": 0.05, "rows": [{**share, "label": "Yes, 1"}]}],
        "document": dumped(asked).decode(),
    }  # fmt: skip
    return json.dumps(told).encode()


def _drafts(service: Paged) -> None:
    """Drafts: whole, begun, in vain, too dear; one that is open, and one whose trial is of another text."""
    full = questionnaire()
    few = replace(full, together=(), groups=(), translations={}, questions=full.questions[:1], windows=1, response=None)
    drafts = {
        "full": DraftRow("full", 3, dumped(full), _trial(full)),
        "empty": DraftRow("empty", 1, dumped(Questionnaire())),
        "begun": DraftRow("begun", 2, dumped(replace(full, people=None, questions=(*full.questions, Item(name="q9"))))),
        "vain": DraftRow("vain", 2, dumped(replace(few, people=40))),
        "dear": DraftRow("dear", 2, dumped(replace(few, people=2000, windows=12)), _trial(full)),
        "open": DraftRow("open", 4, dumped(replace(few, people=2000)), None, "f" * 64),
    }
    for row in drafts.values():
        assert service.store.put_draft(row)


# ---- pages

PLAN = "text=How+%3Coften%3E&answers=never%0Aoften%0Aalways&people=10000&epsilon=2"
PAGES: dict[str, tuple[str, str, str]] = {
    "results": ("/r/{themes}?lang=en", "", ""),
    "results-ar": ("/r/{themes}?lang=ar", "", "results"),
    "results-de": ("/r/{both}", "de-CH", ""),
    "results-mean": ("/r/{mean}", "fr", ""),
    "results-hour": ("/r/{hour}", "fr", "results-mean"),
    "results-none": ("/r/{choice}", "", ""),
    "results-table": ("/r/{themes}/results.csv", "", ""),
    "results-both": ("/r/{both}/results.csv?target=reporters", "", ""),
    "results-kind": ("/r/{themes}/results.txt", "", "results-none"),
    "results-counts": ("/r/{mean}/counts.json", "", ""),
    "tasks": ("/", "", ""),
    "tasks-reader": ("/", "es analyst", "tasks"),
    "task": ("/tasks/{themes}", "", "results"),
    "task-wanted": ("/tasks/{themes}?target=reporters&error=0.5", "analyst", "task"),
    "task-mean": ("/tasks/{mean}?error=0.01", "", ""),
    "task-ratings": ("/tasks/{ratings}?error=many", "", "task-mean"),
    "task-hour": ("/tasks/{hour}", "", "task-mean"),
    "task-cities": ("/tasks/{cities}", "", "task-mean"),
    "task-both": ("/tasks/{both}?error=2", "de", "results-de"),
    "task-both-reporters": ("/tasks/{both}?target=reporters&error=2", "de", "task-both"),
    "task-begun": ("/tasks/{choice}?error=2", "es", "task-mean"),
    "task-target": ("/tasks/{choice}?target=all", "", "results-none"),
    "certificate": ("/tasks/{themes}/certificate", "ar", ""),
    "certificate-number": ("/tasks/{number}/certificate", "ar", "certificate"),
    "export": ("/tasks/{ratings}/export.csv", "", ""),
    "export-none": ("/tasks/{choice}/export.csv", "", "results-none"),
    "picture-none": ("/tasks/{choice}/0/q.svg", "", "results-none"),
    "plan": ("/plan", "", ""),
    "plan-made": ("/plan?kind=shares&" + PLAN, "analyst", "plan"),
    "plan-some": ("/plan?kind=shares&sensitive=often&" + PLAN, "ar", "plan"),
    "plan-mean": ("/plan?kind=mean&low=0&high=24&" + PLAN, "", "plan"),
    "plan-wrong": ("/plan?people=1.5&" + PLAN.replace("people=10000&", ""), "", "plan"),
    "signed-out": ("/tasks/{themes}?error=2", "de nobody", ""),
    "signed-out-over": ("/plan", "over", "signed-out"),
    "survey": ("/t/{choice}", "", ""),
    **{f"survey-{name}": (f"/t/{{{name}}}", "", "survey") for name in
       ("list", "sixteen", "sensitive", "level", "number", "rating", "places", "keyed", "ticks", "named", "pair",
        "early")},
    **{f"survey-{name}": (f"/t/{{{name}}}", "", "survey-early") for name in ("closed", "draft", "mean")},
    "survey-counted": ("/t/{counted}?lang=ar", "", "survey-ar"),
    "survey-ar": ("/t/{pair}?lang=ar", "", "survey-pair"),
    "survey-kiosk": ("/t/{choice}?kiosk&lang=xx", "de", "survey"),
    "survey-embed": ("/t/{choice}?embed", "", "survey"),
    "survey-unknown": ("/t/" + "0" * 64, "ar", "survey-draft"),
    "print": ("/t/{pair}/print?lang=ar", "", ""),
    "static-old": ("/static/0000000000000000/survey.js", "", "survey-draft"),
    "drafts": ("/q", "", ""),
    "drafts-reader": ("/q", "ar analyst", "drafts"),
    "draft": ("/q/full", "", ""),
    "draft-reader": ("/q/full", "analyst", "draft"),
    "draft-empty": ("/q/empty", "", "draft"),
    "draft-begun": ("/q/begun", "", "draft"),
    "draft-open": ("/q/open", "", "draft-empty"),
    "draft-none": ("/q/nothing", "", "results-none"),
    "draft-file": ("/q/full/questionnaire.json", "", ""),
    "language": ("/q/full/language/ar", "", ""),
    "outlook": ("/q/full/outlook", "", ""),
    "outlook-ar": ("/q/full/outlook", "ar", "outlook"),
    "outlook-begun": ("/q/begun/outlook", "", "outlook"),
    "outlook-vain": ("/q/vain/outlook", "", "outlook"),
    "outlook-dear": ("/q/dear/outlook", "", "outlook"),
    "preview": ("/q/full/preview?language=ar&dark", "", ""),
    "preview-empty": ("/q/empty/preview", "", "preview"),
    "preview-page": ("/q/full/preview/page?language=ar&dark", "", "survey-ar"),
    "trial": ("/q/full/trial", "", ""),
    "trial-old": ("/q/dear/trial", "de", "trial"),
    "trial-empty": ("/q/empty/trial", "", "trial"),
    "opening": ("/q/full/open", "", ""),
    "opening-reader": ("/q/full/open", "analyst", "opening"),
    "opening-vain": ("/q/vain/open", "", "opening"),
    "opening-anyway": ("/q/vain/open?anyway", "", "opening"),
    "opening-dear": ("/q/dear/open", "", "opening"),
    "opening-open": ("/q/open/open", "", "opening"),
}  # fmt: skip
"""By name: the address, who asks in which language, and the page it is another way of."""
DRAWN = {"results-mean", "survey-places", "trial"}
"""Those whose pictures are there in full."""
_ALWAYS = {"content-length", "server-timing"}


@cache
def _whole() -> tuple[Paged, dict[str, str], dict[str, dict[str, str]]]:
    service, ids = _collector()
    ids |= _open(service)
    _drafts(service)
    who = {role: signed_in(service, role) for role in ("administrator", "analyst")}
    return service, ids, who | {"nobody": {}, "over": {"cookie": "deniable-local=" + "x" * 43}}


def _drawn(found: re.Match[str]) -> str:
    """A picture by what it is made of and a digest; the pages of `DRAWN` have theirs in full."""
    shapes = Counter(re.findall(r"<([a-z]+)", found[0]))
    listed = " ".join(f"{name}={count}" for name, count in sorted(shapes.items()))
    return f"<svg {listed} {hashlib.sha256(found[0].encode()).hexdigest()[:8]}/>"


@cache
def shown(name: str) -> tuple[str, ...]:
    """The lines of a page as it is now: status, headers, elements; names of content are left out."""
    service, ids, who = _whole()
    path, how, _ = PAGES[name]
    roles = [word for word in how.split() if word in who]
    tag = " ".join(word for word in how.split() if word not in who)
    headers = {"accept-language": tag, "host": HOST, **LOCAL, **who[roles[0] if roles else "administrator"]}
    reply = service.get(path.format_map(ids), headers)
    text = reply.body.decode().replace(dn.__version__, "VERSION")
    text = re.sub(r"/static/[0-9a-f]{16}/", "/static/", text)
    text = re.sub(r"[0-9a-f]{64}", "ID", text)
    text = re.sub(r"id=&?#?[0-9a-f]{12}\b|\b[0-9a-f]{12}\b", "ID", text)
    head = [f"{key}: {value}" for key, value in sorted(reply.headers.items()) if key not in _ALWAYS]
    text = re.sub(r"-?\d+\.\d{7,}(?:e-?\d+)?", lambda found: f"{float(found[0]):.6g}", text)
    text = text if name in DRAWN else re.sub(r"<svg.*?</svg>", _drawn, text, flags=re.DOTALL)
    body = re.sub(r">\s*<", ">\n<", text).splitlines()
    return (str(reply.status), *head, "", *(line.strip() for line in body if line.strip()))


def kept(name: str) -> tuple[str, ...]:
    """What the file of a page should have: its lines, or how they differ from those of the page it is like."""
    like, own = PAGES[name][2], shown(name)
    other = ("---", *difflib.unified_diff(shown(like), own, lineterm="", n=0)) if like else own
    return min(own, tuple(other), key=lambda lines: sum(map(len, lines)))


def write() -> Iterator[str]:
    """Write all of them; the names of those that changed."""
    FOLDER.mkdir(exist_ok=True)
    for path in FOLDER.glob("*.txt"):
        if path.stem not in PAGES:
            path.unlink()
    for name in PAGES:
        path, text = FOLDER / f"{name}.txt", "\n".join(kept(name)) + "\n"
        if not path.is_file() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")
            yield name


if __name__ == "__main__":
    print(*write())
