"""The playground: made of the client's own modules, kept to a strict policy, and its numbers are those of Python."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from html.parser import HTMLParser
from importlib import util
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import deniable as dn
from client.test_js import _tsc
from deniable.collect.reports import Reports
from deniable.mechanisms.base import Mechanism
from deniable.service.pages import assets
from deniable_client import Device
from deniable_client.hashing import split64
from deniable_client.words import by_shares
from pages.browsing import Tab, axe, browser

HERE = Path(__file__).resolve().parents[2] / "docs" / "site" / "playground"
SOURCE = HERE.parents[2] / "clients" / "js" / "src"
ROBOTS = 10_000
POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'"


@pytest.fixture(scope="module")
def make() -> ModuleType:
    spec = util.spec_from_file_location("playground_make", HERE / "make.py")
    assert spec is not None
    assert spec.loader is not None
    found = util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


@pytest.fixture(scope="module")
def page(make: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("playground")
    make.make(folder)
    return folder / "index.html"


# ---- without a browser


class Elements(HTMLParser):
    """Ids, and what a strict policy would stop."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.stopped: list[str] = []
        self.loaded: list[str] = []
        self.policy = ""
        self._script = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.ids += [given["id"] or ""] if "id" in given else []
        self.stopped += [f"{tag} {name}" for name in given if name == "style" or name.startswith("on")]
        self.stopped += [tag] if tag == "style" else []
        self.loaded += [value or "" for name, value in attrs if name == "src" or (tag == "link" and name == "href")]
        if given.get("http-equiv") == "Content-Security-Policy":
            self.policy = given["content"] or ""
        self._script = tag == "script" and "src" not in given

    def handle_data(self, data: str) -> None:
        self.stopped += ["script"] if self._script and data.strip() else []


def elements(text: str) -> Elements:
    found = Elements()
    found.feed(text)
    return found


def test_the_page_loads_only_what_lies_beside_it_and_has_nothing_that_its_policy_stops(page: Path) -> None:
    found = elements(page.read_text("utf-8"))
    assert found.policy == POLICY
    assert found.stopped == []
    assert sorted({*found.loaded, "index.html"}) == sorted(path.name for path in page.parent.iterdir())
    style = (page.parent / "playground.css").read_text("utf-8")
    assert "@import" not in style
    assert "url(" not in style
    bad = elements('<p style="a" onclick="b">c</p><style>d</style><script>e</script>')
    assert bad.stopped == ["p style", "p onclick", "style", "script"]


def test_scripts_ask_for_elements_that_are_there(page: Path) -> None:
    asked = {
        name for path in HERE.glob("*.js") for name in re.findall(r'\belement\("([\w-]+)"\)', path.read_text("utf-8"))
    }
    ids = elements(page.read_text("utf-8")).ids
    assert len(ids) == len(set(ids))
    assert asked <= set(ids)
    assert len(asked) > 25


def test_the_clients_modules_are_those_of_the_client(make: ModuleType) -> None:
    """As they are written, under their own names; the page adds modules of its own beside them."""
    found = make.sources()
    taken = assets.client()
    assert len(taken) > 60
    assert {name: found[name] for name in taken} == taken
    assert all((SOURCE / name.removeprefix("client/")).read_text("utf-8") == text for name, text in taken.items())
    assert {name for name in found if name not in taken} == {path.name for path in HERE.glob("*.js")} | {"table.js"}


def test_the_script_is_plain_and_has_the_clients_modules(page: Path) -> None:
    """One script that is no module; no request, no frame, no worker, no code from text."""
    text = (page.parent / "playground.js").read_text("utf-8")
    assert text.startswith('"use strict";\n(async()=>{')
    assert not re.search(r"^(?:import|export)\b", text, re.MULTILINE)
    for module in ("client_device", "client_exact", "client_meaning", "client_kernels_subset", "client_kernels_seeded"):
        assert f"const {module}=await(async()=>{{" in text
    for word in ("fetch(", "XMLHttpRequest", "new Worker", "innerHTML", "eval(", "new Function", "sendBeacon"):
        assert word not in text
    assert "Math.random" not in text


def test_the_table_has_every_choice(make: ModuleType) -> None:
    """What stands in a row is what the library says, and a device accepts every design before its first report."""
    table = make.table()
    assert table["epsilons"][0] == 0.25
    assert table["epsilons"][-1] == 6.0
    for name, own in table["mechanisms"].items():
        assert set(own["rows"]) == set(range(2, 9))
        for k in (2, 5, 8):
            assert len(own["rows"][k]) == len(table["epsilons"])
            for step in (0, 3, 17):
                row = own["rows"][k][step]
                epsilon = table["epsilons"][step]
                part = {key: row[key] for key in ("params", "kernel")}
                design = {"mechanism": name, "version": own["version"], "epsilon": epsilon, "domain": {"k": k}, **part}
                m = dn.from_design(design)
                assert m.design == design
                assert Device(design).epsilon == epsilon
                assert row["p"] == m.support_effective.p
                assert row["q"] == m.support_effective.q
                if name != "olh" or (k < 8 and epsilon <= 1):
                    assert row["guess"] == pytest.approx(float(m.bulk.channel().asr()), abs=1e-12)


TABLE = """/** @typedef {{params: any, kernel: any, p: number, q: number, guess: number}} Row */
/** @typedef {{title: string, version: number, rows: Record<string, Row[]>}} Own */
/** @type {{epsilons: number[], least: number, most: number, mechanisms: Record<string, Own>}} */
export const TABLE = JSON.parse("");
"""
"""The types of the table that is made when the site is."""


@pytest.mark.slow
@pytest.mark.skipif(_tsc() is None, reason="types need TypeScript, as in tests/client/test_js.py")
@pytest.mark.parametrize(("own", "faults"), [("", 0), ("/** @type {number} */ export const wrong = 'text';\n", 1)])
def test_types_hold(make: ModuleType, tmp_path: Path, own: str, faults: int) -> None:
    """Those of the page's modules, with the client's; a wrong one would be noticed."""
    tsc, types = _tsc() or ("", Path())
    for name, text in (make.sources() | {"table.js": TABLE, "wrong.js": f"{own}export {{}};\n"}).items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    (tmp_path / "client" / "types.js").write_text((SOURCE / "types.js").read_text("utf-8"), "utf-8")
    (tmp_path / "package.json").write_text('{"type": "module"}')
    config = json.loads((SOURCE.parent / "tsconfig.json").read_text("utf-8")) | {"include": ["*.js"]}
    (tmp_path / "tsconfig.json").write_text(json.dumps(config))
    command = [tsc, "-p", str(tmp_path), "--typeRoots", str(types), "--types", "node"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert len(re.findall(r"^\S.*error TS", done.stdout, re.MULTILINE)) == faults, done.stdout


# ---- in a browser

SEEDED = """(() => {
  const M = (1n << 64n) - 1n;
  let [seed, i] = [0n, 0n];
  window.reseed = (own) => { [seed, i] = [BigInt(own), 0n]; };
  crypto.getRandomValues = (array) => {
    for (let at = 0; at < array.length; at++) {
      let z = (seed + ++i * 0x9e3779b97f4a7c15n) & M;
      z = ((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n) & M;
      z = ((z ^ (z >> 27n)) * 0x94d049bb133111ebn) & M;
      array[at] = z ^ (z >> 31n);
    }
    return array;
  };
})()"""
"""Random words that Python knows, too, in place of the browser's."""


class SeededWords:
    """The words that the page is given."""

    bits = 64

    def __init__(self, seed: int) -> None:
        self._seed, self._i = seed, 0

    def word(self) -> int:
        self._i += 1
        return split64(self._seed, self._i)


CASES = [
    ("ss", 0.5, ["never", "once", "several times", "often", "always", "no answer"]),
    ("grr", 1.0, ["never", "once", "several times", "often"]),
    ("oue", 2.0, ["oui", "non", "peut-être"]),
    ("olh", 1.0, ["a", "b", "c", "d"]),
]


def choose(page: Any, make: ModuleType, mechanism: str, epsilon: float, labels: list[str]) -> Mechanism:
    """The mechanism that the page now has."""
    page.fill("#labels", "\n".join(labels))
    page.select_option("#mechanism", mechanism)
    page.fill("#epsilon", str(make.EPSILONS.index(epsilon)))
    assert page.text_content("#epsilon-now") == f"{epsilon:g}"
    return dn.mechanism(mechanism, epsilon=epsilon, labels=labels)


def numbers(page: Any, place: str) -> list[float]:
    return [float(each) for each in page.eval_on_selector_all(f"{place} data", "all => all.map((one) => one.value)")]


def by_channel(m: Mechanism, report: bytes) -> np.ndarray[Any, Any]:
    """How likely each answer is after a report, all being equally common, from the enumerated channel."""
    reports = Reports.from_rows(m.design, m.fields, [report], simulated=True)
    bits = np.unpackbits(m.bulk.supported(reports.columns), bitorder="little")[: m.bulk.k]
    held = frozenset(np.flatnonzero(bits).tolist())
    channel = m.bulk.channel()
    assert channel.supported is not None
    rows = {
        tuple(np.array(channel.weights[o], float) / sum(channel.weights[o]))
        for o, own in enumerate(channel.supported)
        if own == held
    }
    assert rows
    assert all(row == pytest.approx(next(iter(rows)), abs=1e-12) for row in rows)
    return np.array(next(iter(rows)))


@pytest.fixture
def tab(page: Path) -> Iterator[Tab]:
    """The page from a file, with words that are known; nothing may be asked of anybody."""
    asked: list[str] = []
    with browser() as chromium:
        context = chromium.new_context(viewport={"width": 1000, "height": 900})
        context.add_init_script(SEEDED)
        context.on("request", lambda request: asked.append(request.url))
        found = Tab(context, page.as_uri())
        found.page.wait_for_selector("html[data-ready]", state="attached")
        yield found
        found.fine()
    assert {Path(url).name for url in asked} <= {"index.html", "playground.css", "playground.js", "mark.svg"}
    assert all(url.startswith("file:") for url in asked)


@pytest.mark.slow
def test_words_become_the_bytes_shares_and_estimates_of_python(tab: Tab, make: ModuleType) -> None:
    """For every mechanism: reports of each answer, what they could have meant, and 10,000 robots with intervals."""
    for seed, (name, epsilon, labels) in enumerate(CASES, start=5):
        m = choose(tab.page, make, name, epsilon, labels)
        device = Device(m.design)
        for x in range(len(labels)):
            tab.page.check(f'#answers input[value="{x}"]')
            tab.page.evaluate(f"reseed({100 * seed + x})")
            tab.page.click("#report")
            right = device.report(labels[x], SeededWords(100 * seed + x))
            assert tab.page.get_attribute("#bytes", "data-hex") == right.hex()
            assert numbers(tab.page, "#meant") == pytest.approx(by_channel(m, right).tolist(), abs=1e-9)
        for kind in ("uneven", "rare") if name == "ss" else ("uneven",):
            tab.page.select_option("#kind", kind)
            tab.page.evaluate(f"reseed({seed})")
            tab.page.click("#run")
            tab.page.wait_for_selector("#run:not([disabled])")
            check_crowd(tab.page, m, kind, SeededWords(seed))


def check_crowd(page: Any, m: Mechanism, kind: str, words: SeededWords) -> None:
    k = m.bulk.k
    weights = [k - x for x in range(k)] if kind == "uneven" else [98] * (k - 1) + [2 * (k - 1)]
    device = Device(m.design)
    labels = m.design["domain"]["labels"]
    rows = [device.report(labels[by_shares(weights, words)], words) for _ in range(ROBOTS)]
    estimate = m.estimate(m.tally(Reports.from_rows(m.design, m.fields, rows, simulated=True)))
    ends = estimate.interval(level=0.95, target="population")
    assert ends.note == ""
    right = np.column_stack([estimate.value, ends.low, ends.high]).ravel()
    assert numbers(page, "#numbers") == pytest.approx(right.tolist(), abs=1e-12)
    assert page.text_content("#count") == "10,000 of 10,000 reports"
    assert re.match(rf"\d of {k} intervals hold the truth", page.text_content("#crowd-said"))


@pytest.mark.slow
def test_the_game_settles_at_the_best_guess(tab: Tab, make: ModuleType) -> None:
    """20,000 rounds: the best guess is right as often as the channel says, within 5 standard errors (alpha 6e-7).

    The best guess of a design that were a quarter of an epsilon further would be 8 standard errors away.
    """
    m = choose(tab.page, make, "ss", 1.0, ["a", "b", "c", "d"])
    tab.page.evaluate("reseed(77)")
    for _ in range(20):
        tab.page.click("#many")
    told = tab.page.evaluate("({...document.getElementById('score-said').dataset})")
    n, right, guess = int(told["n"]), int(told["right"]), float(m.bulk.channel().asr())
    assert n == 20_000
    assert float(told["guess"]) == pytest.approx(guess, abs=1e-12)
    error = (guess * (1 - guess) / n) ** 0.5
    assert abs(right / n - guess) < 5 * error
    further = float(dn.mechanism("ss", epsilon=1.25, k=4).bulk.channel().asr())
    assert abs(right / n - further) > 8 * error
    assert guess <= float(told["bound"]) <= np.e / (np.e + 3) + 1e-12


@pytest.mark.slow
def test_keys_alone_do_everything_and_wrong_answers_are_told(tab: Tab) -> None:
    page = tab.page
    page.focus("#report")
    page.keyboard.press("Enter")
    assert page.is_visible("#made")
    page.focus("#epsilon")
    page.keyboard.press("ArrowRight")
    assert page.text_content("#epsilon-now") == "1.25"
    assert page.is_hidden("#made")
    page.locator("#guesses button").first.focus()
    page.keyboard.press("Enter")
    assert re.match("(Right|Wrong): they said", page.text_content("#verdict"))
    page.focus("#run")
    page.keyboard.press("Enter")
    page.wait_for_selector("#stop:not([disabled])")
    page.focus("#stop")
    page.keyboard.press("Enter")
    assert page.is_enabled("#run")
    for text, told in (
        ("a", "there are 1"),
        ("a\nb\nA", "sound alike"),
        ("a\na", "look alike"),
        ("a\nb\n\u202ec", "c"),
    ):
        page.fill("#labels", text)
        assert told in page.text_content("#labels-fault")
        assert page.get_attribute("#labels", "aria-invalid") == "true"
    page.fill("#asked", "Do you smoke?")
    assert page.text_content("#question") == "Do you smoke?"
    page.fill("#labels", "yes\nno")
    assert page.text_content("#labels-fault") == ""
    assert page.locator("#guesses button").all_text_contents() == ["yes", "no"]


@pytest.mark.slow
def test_the_page_stays_alive_and_can_be_stopped(tab: Tab) -> None:
    """Reports come in slices: some are counted when it is stopped, and not all; what has come stays."""
    page = tab.page
    page.evaluate(
        "new MutationObserver((_, all) => {"
        " if (document.getElementById('progress').value <= 200) return;"
        " all.disconnect(); document.getElementById('stop').click();"
        "}).observe(document.getElementById('count'), { childList: true })"
    )
    page.click("#run")
    page.wait_for_selector("#run:not([disabled])")
    assert 200 < page.evaluate("document.getElementById('progress').value") < ROBOTS
    assert page.text_content("#crowd-said").startswith("Stopped. ")
    assert len(numbers(page, "#numbers")) > 4


FAULTS = """() => axe.run({ preload: false }).then((found) =>
  found.violations.map((each) => [each.id, each.nodes[0].html]))"""


@pytest.mark.slow
def test_the_page_has_no_fault_for_anybody(page: Path) -> None:
    """axe-core, wide and narrow, light and dark, after everything was used; and a word to those without scripts."""
    rules, wrong = axe(), []
    with browser() as chromium:
        for width, scheme in ((1280, "light"), (1280, "dark"), (360, "light"), (360, "dark")):
            context = chromium.new_context(
                viewport={"width": width, "height": 800}, color_scheme=scheme, bypass_csp=True
            )
            tab = Tab(context, page.as_uri())
            tab.page.wait_for_selector("html[data-ready]", state="attached")
            tab.page.fill(
                "#labels", "a\nb\nan answer that is longer than most of them are, as people write them\nd\ne\nf\ng\nh"
            )
            tab.page.click("#report")
            tab.page.locator("#guesses button").first.click()
            tab.page.click("#run")
            tab.page.wait_for_selector("#run:not([disabled])")
            tab.page.evaluate(rules)
            wrong += [(width, scheme, *each) for each in tab.page.evaluate(FAULTS)]
            if tab.page.evaluate("document.documentElement.scrollWidth") > width:
                wrong.append((width, scheme, "scrolls sideways"))
            tab.fine()
            context.close()
        plain = chromium.new_context(java_script_enabled=False).new_page()
        plain.goto(page.as_uri())
        assert plain.is_visible(".notice")
        assert plain.is_hidden("main")
    assert wrong == []
