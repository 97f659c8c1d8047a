"""The survey page without a browser: what it asks and weighs, what it forbids, what a report could mean."""

from __future__ import annotations

import gzip
import json
import re
import shutil
import subprocess
from collections.abc import Callable
from datetime import timedelta
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.core.space import Space
from deniable.core.types import FloatArray
from deniable.service.pages import assets
from deniable.service.pages.asking import Choice, QuestionForm, asked, regions
from deniable.service.pages.render import POLICY
from deniable_client import explain
from deniable_client.task import Task
from deniable_client.telling import certainty
from pages.asks import TODAY, Paged, kinds, mechanisms, task

CLIENT = Path(__file__).resolve().parents[2] / "clients" / "js" / "src"
MOST_BYTES = 60_000
"""Of the page with all its files, compressed as they are sent, with the heads of HTTP."""
UNICODE_BYTES = 18_000
"""Of Unicode's tables, which come besides where a text of the task is not ASCII (docs/performance.md)."""
GZIP = {"accept-encoding": "gzip"}
BUDGET = {"task": 8, "subject": 8, "lifetime": 16}


# ---- what is asked


def _one(document: dict[str, Any]) -> QuestionForm:
    return asked(Task.load(document))[0]


def test_each_kind_of_question_is_asked_in_its_way() -> None:
    found = {name: _one(document) for name, document in kinds().items()}
    ways = {name: each.kind for name, each in found.items()}
    usual = dict.fromkeys(("choice", "list", "sensitive", "level", "survey"), "choice")
    assert ways == usual | {name: name for name in ("number", "places", "ratings")}
    assert (found["number"].low, found["number"].high) == (30.0, 200.0)
    assert [choice.harmless for choice in found["sensitive"].choices] == [True, True, False, False]
    assert found["sensitive"].harmless == ("flu", "hay fever")
    assert [words for _, words in found["level"].levels] == [
        "0.5: strong protection",
        "1: good protection",
        "2: limited protection",
    ]
    assert [level for level, _ in found["level"].levels] == [0.5, 1.0, 2.0]
    weak = task([dn.mechanism("pldp", k=2, levels="7.5,8", level_epsilon=0.5)])
    assert {words.partition(": ")[2] for _, words in _one(weak).levels} == {"hardly any protection"}
    assert (found["ratings"].low, found["ratings"].high) == (-1.0, 1.0)
    assert (found["choice"].buttons, found["list"].buttons) == (True, False)
    assert found["ratings"].choices[1] == Choice(1, "foam")
    assert {name: each.bound for name, each in found.items() if each.bound} == {"sensitive": "some"}


def _area(path: str) -> float:
    points = [tuple(map(float, pair.split())) for pair in path[1:-1].split("L")]
    around = zip(points, [*points[1:], points[0]], strict=True)
    return abs(sum(x * b - a * y for (x, y), (a, b) in around)) / 2


def test_regions_part_the_map() -> None:
    """Every point lies in its own region, and the regions fill the map without overlapping. Seeded."""
    rng = np.random.default_rng(3)
    points = [(float(x), float(y)) for x, y in rng.normal(size=(25, 2))]
    found = regions(points)
    assert sum(_area(path) for path, _ in found) == pytest.approx(320 * 240, rel=1e-3)
    centres = np.array([centre for _, centre in found])
    assert ((centres >= 0) & (centres <= (320, 240))).all()
    for path, own in found:
        corners = np.array([tuple(map(float, pair.split())) for pair in path[1:-1].split("L")])
        distance = np.linalg.norm(corners[:, None] - centres[None], axis=2)
        mine = np.linalg.norm(corners - own, axis=1)
        assert (mine <= distance.min(axis=1) + 0.2).all()


def test_north_is_up_and_one_place_has_all() -> None:
    (_, north), (_, south) = regions([(13.4, 52.5), (13.4, 48.1)])
    assert north[1] < south[1]
    assert regions([(1, 1)]) == [("M0 0L320 0L320 240L0 240Z", (160.0, 120.0))]
    first, second, third = regions([(0, 0), (0, 0), (5, 0)])
    assert first == second != third


def test_promises_are_those_of_all_reports() -> None:
    """Four windows that draw anew: the page tells what all of them tell, and consent is asked in these words."""
    made = mechanisms()["sensitive"]
    once, four = (_one(task(made, windows=windows)) for windows in (1, 4))
    told = explain(made[0].design)
    assert (once.level, four.level) == (3, 5)
    for form, reports in ((once, 1), (four, 4)):
        assert form.sure == ceil(100 * told.over(1).sure)
        assert form.sure_all == ceil(100 * told.over(reports).sure) < 100
    service = Paged()
    text = service.get(f"/t/{service.add(task(made, windows=4))}").body.decode()
    assert f"at most {four.sure}% sure of it" in text
    assert f"If you answer all 4 times, this becomes at most {four.sure_all}%" in text
    assert "That is little protection." in text


# ---- how it is sent


def _scripts(name: str, found: set[str]) -> None:
    """A module with all that it imports at once."""
    if name in found:
        return
    known = assets.asset(name)
    assert known is not None, name
    found.add(name)
    folder = name.rpartition("/")[0]
    for other in re.findall(r'^(?:import|export)\s[^;]*?"(\.[^"]+)"', known.plain.decode(), re.MULTILINE):
        parts: list[str] = folder.split("/") if folder else []
        for step in other.split("/"):
            parts = parts[:-1] if step == ".." else parts if step == "." else [*parts, step]
        _scripts("/".join(parts), found)


def _size(service: Paged, path: str) -> int:
    """Bytes of an answer: its body, and its head with the two lines that the server adds."""
    reply = service.get(path, GZIP)
    assert reply.status == 200, path
    added = "HTTP/1.1 200 OK\r\ndate: Tue, 17 Nov 2026 00:00:00 GMT\r\n\r\n"
    return len(reply.body) + len(added) + sum(len(f"{name}: {value}\r\n") for name, value in reply.headers.items())


def _kernel_modules(design: dict[str, Any]) -> list[str]:
    """The modules that the page loads for a design, by the page's own table."""
    text = (CLIENT / "load.js").read_text("utf-8")
    table = re.findall(r'\[\s*"([^"]*)",\s*\(\) => import\("\./([^"]+)"\)', text)
    assert len(table) > 5
    written = json.dumps(design)
    return [
        f"client/{path}"
        for looked, path in table
        if any(f'"kind": "{each}"' in written or each == f":{design['mechanism']}" for each in looked.split())
        or any(f".{field}" in looked.split() for field in design["domain"])
    ]


def _weight(document: dict[str, Any], *more: str) -> int:
    """Bytes of page, styles, all modules, `more` of them, and the task, as they are sent."""
    service = Paged()
    id = service.add(document)
    found: set[str] = set()
    for name in ("survey.js", *more):
        _scripts(name, found)
    for design in document["design"].get("parts", [document["design"]]):
        for name in _kernel_modules(design):
            _scripts(name, found)
    assert len(found) >= 2 + len(more)
    return sum(_size(service, path) for path in (f"/t/{id}", f"/v1/tasks/{id}", *map(_static, ("survey.css", *found))))


def _static(name: str) -> str:
    return assets.base() + name


@pytest.mark.parametrize("kind", mechanisms())
def test_the_page_is_small(kind: str) -> None:
    """For each kind of question."""
    assert _weight(kinds()[kind]) <= MOST_BYTES


def test_tables_of_unicode_come_where_texts_are_not_ascii() -> None:
    """They come to what every page loads, and nobody else loads them."""
    made = [dn.mechanism("ss", epsilon=1.0, labels=["nie", "manchmal", "täglich"])]
    plain, weight = _weight(task(made)), _weight(task(made), "client/unicode_texts.js")
    assert plain <= MOST_BYTES < weight <= plain + UNICODE_BYTES
    assert "confusables" not in assets.scripts()["survey.js"]


def test_pages_are_compressed_for_those_who_take_it() -> None:
    service = Paged()
    path = f"/t/{service.add(kinds()['choice'])}"
    plain = service.get(path)
    for takes in ("gzip", "br, GZIP;q=0.5", "deflate,gzip ; q=1"):
        small = service.get(path, {"accept-encoding": takes})
        assert gzip.decompress(small.body) == plain.body
        assert small.headers["content-encoding"] == "gzip"
        assert int(small.headers["content-length"]) == len(small.body) < len(plain.body) / 2
    for refuses in ("identity", "gzip;q=0", "br, gzip; q=0.0", "xgzip"):
        assert service.get(path, {"accept-encoding": refuses}).body == plain.body
    assert "content-encoding" not in plain.headers
    assert plain.headers["vary"] == "accept-encoding, accept-language"


def test_a_page_needs_no_script_to_be_read() -> None:
    """The question is in the page itself, before any script, and scripts do not hold it up."""
    text = survey_page("choice")
    assert "A question of the kind choice?" in text
    assert re.findall(r"<script[^>]*>", text) == [
        f'<script type="module" src="{assets.base()}survey.js">',
        '<script type="application/json" id="texts">',
    ]
    assert "needs JavaScript" in text


def survey_page(kind: str) -> str:
    service = Paged()
    id = service.add(kinds()[kind])
    reply = service.get(f"/t/{id}")
    assert reply.status == 200
    policy = reply.headers["content-security-policy"]
    assert policy == POLICY
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert reply.headers["cache-control"] == "no-store"
    return reply.body.decode()


@pytest.mark.parametrize("kind", mechanisms())
def test_nothing_is_inline_and_nothing_from_elsewhere(kind: str) -> None:
    text = survey_page(kind)
    assert not re.search(r"<[^>]*\s(?:on\w+|style)=", text)
    assert not re.search(r"(?:src|href)=\"(?!/|#|data:,\")", text)
    assert "<style" not in text


def test_files_are_kept_for_ever_under_a_name_that_changes() -> None:
    service = Paged()
    path = f"{assets.base()}survey.js"
    small = service.get(path, {"accept-encoding": "gzip"})
    plain = service.get(path)
    assert gzip.decompress(small.body) == plain.body
    assert "immutable" in plain.headers["cache-control"]
    assert plain.headers["vary"] == "accept-encoding"
    assert plain.headers["content-type"].startswith("text/javascript")
    for other in ("/static/0000000000000000/survey.js", f"{assets.base()}../survey.py", f"{assets.base()}nothing.js"):
        assert service.get(other).status == 404
    assert "client/store_file.js" not in assets.of_page()
    assert isinstance(assets.asset("survey.css"), assets.Asset)


def test_a_task_that_is_not_open_says_so() -> None:
    service = Paged()
    made = mechanisms()["choice"]
    draft, closed = service.add(task(made), "draft"), service.add(task(made), "closed")
    later = service.add(task(made, opens=TODAY + timedelta(3)))
    over = service.add(task(made, opens=TODAY - timedelta(40)))
    assert service.get(f"/t/{draft}").status == 404
    assert service.get(f"/t/{'f' * 64}").status == 404
    assert service.get("/t/x").status == 404
    for id in (closed, later, over):
        text = service.get(f"/t/{id}").body.decode()
        assert ("This survey is not open yet" if id == later else "This survey is over") in text
        assert "<form" not in text
        assert "survey.js" in text


# ---- what a report could mean


def _meant(jobs: list[Any]) -> Any:
    """Weights and shares of the answers, and the sentence, for a design, a report and a level each."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("there is no Node: install version 18 or newer (nodejs.org) to test the page's modules")
    code = f"""
        import {{ explain }} from {json.dumps((CLIENT / "index.js").as_uri())};
        import {{ likelihoods, meant, reading }} from {json.dumps((CLIENT / "meaning.js").as_uri())};
        import fs from "fs";
        const bytes = (text) => Uint8Array.from(text.match(/../g), (each) => parseInt(each, 16));
        const jobs = JSON.parse(fs.readFileSync(0, "utf8"));
        const found = jobs.map(([design, report, level]) => {{
          const [told, given] = [explain(design), [design.kernel, bytes(report), level]];
          const {{ shares, text }} = reading(told, ...given);
          return {{ weights: likelihoods(...given), shares, meant: meant(...given), text, unread: told.unread }};
        }});
        process.stdout.write(JSON.stringify(found));
    """
    command = [node, "--input-type=module", "-e", code]
    done = subprocess.run(command, input=json.dumps(jobs), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def _designs() -> list[Any]:
    some = ("uss", "uue", "ulh", "urr", "urap")
    places = Space.places([[52, 13], [48, 11], [50, 8], [53, 10]])
    plain = ("grr", "ss", "oue", "sue", "the", "olh", "plh", "wheel", "hr", "iss")
    return [
        *(dn.mechanism(name, epsilon=1.0, k=9) for name in plain),
        dn.mechanism("ssmix", epsilon=1.0, k=9, size=3, share=0.4),
        *(dn.mechanism(name, epsilon=1.0, k=9, sensitive=4) for name in some),
        dn.mechanism("brr", epsilon=1.0, points=12),
        *(dn.mechanism(name, epsilon=1.0, distances=places) for name in ("brr", "codebook")),
        *(dn.mechanism(name, epsilon=1.0, interval=(0, 1)) for name in ("sw", "hm", "duchi", "pm")),
    ]


_Job = tuple[list[Any], str, FloatArray]
"""What Node is asked, the design's name, and the shares of a hundred people in the library's words."""


def _job(m: Any, reports: Any, i: int, likelihood: FloatArray, level: int = 0) -> _Job:
    return [m.design, reports.row(i).hex(), level], m.name, likelihood / likelihood.sum()


def _plain_jobs() -> list[_Job]:
    """Mechanisms whose likelihoods the library has written out."""
    rng, found = dn.simulation(3), []
    for m in _designs():
        reports = m.privatize_items(np.arange(30) % m.bulk.k, rng)
        found += [_job(m, reports, i, m.bulk.reader.likelihood(reports[i].columns)[0]) for i in range(0, 30, 4)]
    return found


def _mixed_jobs() -> list[_Job]:
    """Two sizes of subsets, some answers named: against the enumerated channel, whose outputs have their items."""
    m = dn.mechanism("ussmix", epsilon=1.0, k=9, sensitive=5, size=2, share=0.4)
    reports = m.privatize_items(np.arange(120) % 9, dn.simulation(4))
    channel, found = m.bulk.channel(), []
    assert channel.supported is not None
    for i in range(120):
        columns = reports[i].columns
        named, bits = int(columns["disclosed"][0]), np.unpackbits(columns["bits"][0], bitorder="little")
        items = frozenset([4 + named]) if named else frozenset(np.flatnonzero(bits).tolist())
        (output,) = [
            o for o, held in enumerate(channel.supported) if held == items and (o in channel.disclosing) == bool(named)
        ]
        found.append(_job(m, reports, i, np.array(channel.weights[output], float)))
    sizes = {len(held) for held in channel.supported}
    assert sizes == {1, 2, 3}
    return found


def _level_jobs() -> list[_Job]:
    """Every level of every form of level report, on every base: against the data of that level."""
    own = {"levels": [0.5, 1.0, 2.0], "level_epsilon": 1.0, "epsilon": 2.0, "k": 9}
    found = []
    forms = [(base, told) for base in ("oue", "sue", "lh") for told in ("response", "bit", "none")]
    for base, told in [("grr", "response"), ("grr", "bit"), *forms]:
        for more in ({}, {"sensitive": 4}):
            m = dn.mechanism("upldp" if more else "pldp", base=base, level_report=told, **own, **more)
            levels = np.repeat(own["levels"], 9)
            reports = m.privatize_items(np.arange(27) % 9, dn.simulation(5), levels=levels)
            for i in range(0, 27, 2):
                data = m.bulk.data[i // 9]
                columns = {field.name: reports[i].columns[field.name] for field in data.fields}
                found.append(_job(m, reports, i, data.reader.likelihood(columns)[0], i // 9))
    return found


@pytest.mark.parametrize(
    ("jobs", "names"), [(_plain_jobs, 20), (_mixed_jobs, 1), (_level_jobs, 2)], ids=["plain", "mixed", "levels"]
)
def test_what_a_report_could_mean_is_what_the_library_says(jobs: Callable[[], list[_Job]], names: int) -> None:
    """For each kernel that the page explains, over reports of many answers, against the likelihoods of the library."""
    asked_for = jobs()
    told = _meant([job for job, _, _ in asked_for])
    kinds_of_text = set()
    for found, (job, name, right) in zip(told, asked_for, strict=True):
        weights = np.array(found["weights"]) / np.sum(found["weights"])
        assert weights == pytest.approx(right, abs=1e-9), (name, job)
        assert found["shares"] == found["meant"] == pytest.approx((100 * right).tolist(), abs=1e-7), name
        kinds_of_text.add(_check_sentence(found["text"], right))
        _check_bound(job[0], found["unread"])
    assert len({name for _, name, _ in asked_for}) >= names
    assert "sure" in kinds_of_text


def _check_sentence(text: str, right: FloatArray) -> str:
    """A report names an answer if and only if it says so; how sure it makes somebody is rounded up, and no further."""
    if right.max() == 1:
        assert text == "This report names your answer openly, as you agreed."
        return "named"
    (shown,) = re.findall(r"^Somebody who thought two answers equally likely.* at most (\d+\.\d) % sure of one", text)
    exact = right.max() / (right.max() + right.min())
    assert exact - 1e-9 <= float(shown) / 100 < exact + 0.001 + 1e-6
    return "sure"


def _check_bound(design: Any, text: str) -> None:
    """What is said of a report that was not looked at is the most that any report tells, in both clients."""
    found = explain(design)
    assert text == found.unread
    if found.disclosed:
        assert text == "This report may name your answer openly, as you agreed."
        return
    told = found.over(1)
    assert certainty(told.sure) in text
    assert text.endswith(f"This is {told.phrase}.")


def test_reports_for_many_answers_are_read_too() -> None:
    """With 70,000 answers: what a report names is known, and what it does not name is told by its bound."""
    m = dn.mechanism("urr", epsilon=1.0, k=70_000, sensitive=10)
    reports = m.privatize_items(np.full(40, 60_000), dn.simulation(3))
    texts = [each["text"] for each in _meant([[m.design, reports.row(i).hex(), 0] for i in range(40)])]
    named = [bool(each) for each in reports.columns["disclosed"]]
    assert [text == "This report names your answer openly, as you agreed." for text in texts] == named
    assert {True, False} == set(named)
    assert {text for text, open_ in zip(texts, named, strict=True) if not open_} == {_bound(m)}


def _bound(m: Any) -> str:
    told = explain(m.design).over(1)
    return f"Somebody who thought two answers equally likely can now be {certainty(told.sure)}. This is {told.phrase}."


def test_what_is_not_worked_out_is_told_by_the_bound() -> None:
    many = [dn.mechanism(name, epsilon=1.0, k=70_000) for name in ("grr", "olh")]
    odd = [dn.mechanism("upgr", epsilon=1.0, k=9, sensitive=4), dn.mechanism("she", epsilon=1.0, k=3)]
    found = [(m, m.privatize_items(np.zeros(1, int), dn.simulation(5)).row(0).hex()) for m in (*many, *odd)]
    told = _meant([[m.design, row, 0] for m, row in found])
    assert [each["text"] for each in told] == [_bound(m) for m, _ in found]
    assert all(each["shares"] is None for each in told)
    pairs = dn.mechanism("kv-ss", epsilon=1.0, k=3, length=2)
    (text,) = [each["text"] for each in _meant([[pairs.design, "00" * pairs.bulk.row_bytes, 0]])]
    assert text.startswith("Somebody who thought two sets of keys and values equally likely can now be at most 73.2 %")


def test_little_protection_is_called_so() -> None:
    """At epsilon 8 all of a hundred people would have one answer: the words say so, as at 40, where floats fail."""
    for epsilon in (8.0, 40.0):
        m = dn.mechanism("grr", epsilon=epsilon, k=2)
        (found,) = _meant([[m.design, "01", 0]])
        assert found["text"] == (
            "Somebody who thought two answers equally likely can now be practically certain of one of them "
            "(more than 99.9 % sure). This is hardly any protection (weak)."
        )


def test_no_page_makes_a_promise_of_its_own() -> None:
    """What pages say of protection comes from the numbers of the design."""
    pages = Path(assets.__file__).parent
    for path in (*pages.rglob("*.js"), *pages.rglob("*.html"), *pages.rglob("*.py")):
        text = path.read_text("utf-8")
        for promise in ("Nobody can be sure", "strongest protection", "stay protected", "least protection"):
            assert promise not in text, path.name
