"""The site is whole: every page has one place, links lead somewhere, and nothing is loaded from elsewhere.

The site is built once in the full tier, with packages of the extra `site` that are put into a folder of the test.
"""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from html import unescape
from pathlib import Path
from types import ModuleType
from urllib.parse import unquote

import pytest

from pages.browsing import Tab, axe, browser

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
NEEDED = ("sphinx", "myst_parser", "pydata_sphinx_theme", "numpydoc")
SECONDS = 600
"""More than that the packages, or the site, never take; a machine that others use is slow."""
SHOWN = (
    ("index", 1280, "light"),
    ("index", 360, "dark"),
    ("first-steps", 360, "light"),
    ("playground", 360, "light"),
    ("howto", 1280, "dark"),
    ("cli", 360, "dark"),
    ("api", 1280, "dark"),
    ("api/deniable.Estimate", 360, "light"),
    ("http", 1280, "light"),
    ("maths/intervals", 360, "light"),
    ("notebooks/places", 1280, "light"),
    ("project/changelog", 1280, "dark"),
)
"""Pages that axe-core looks at: eight and more, wide and narrow, light and dark."""


FAULTS = """() => axe.run({ preload: false }).then((found) =>
  found.violations.map((each) => [each.id, each.nodes[0].html]))"""
"""What is wrong with a page; styles are not fetched a second time, which a page from a file may not."""


def tool(name: str = "build") -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"site_{name}", DOCS / "site" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


@pytest.fixture(scope="module")
def build() -> ModuleType:
    return tool()


# ---- before it is built


def test_every_page_has_one_place(build: ModuleType) -> None:
    assert list(build.unplaced()) == []
    assert len(build.pages()) > 80


def test_a_page_in_no_list_is_found(build: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    there = build.placed()
    monkeypatch.setattr(build, "placed", lambda: there | {"cli.md": ["howto", "reference"], "http.md": []})
    said = list(build.unplaced())
    assert len(said) == 2
    assert said[0].startswith("docs/cli.md stands in the lists of ['howto', 'reference']")
    assert "docs/http.md stands in the lists of no page" in said[1]


def test_links_stay_on_the_site(build: ModuleType, tmp_path: Path) -> None:
    text = "[a](../cli.md#x) [b](../../CHANGELOG.md) [c](../data/coverage.csv) [d](https://example.org) [e](#f)"
    page = DOCS / "howto" / "survey.md"
    found = build._linked(text, page, "howto/survey.md", tmp_path)
    assert found == (
        "[a](../cli.md#x) [b](../project/changelog.md) [c](../files/docs/data/coverage.csv) "
        "[d](https://example.org) [e](#f)"
    )
    assert (tmp_path / "files/docs/data/coverage.csv").is_file()
    with pytest.raises(FileNotFoundError):
        build._linked("[a](../gone.txt)", page, "howto/survey.md", tmp_path)


def test_code_is_left_alone(build: ModuleType) -> None:
    assert build.outside_code("a\n```text\na\n\n```\na", str.upper) == "A\n```text\na\n```\nA"


def test_marks_of_layout_become_elements_and_those_of_generated_parts_stay(build: ModuleType) -> None:
    text = "<!-- cards -->\n- x\n<!-- end -->\n<!-- generated: y -->\nz\n<!-- end -->"
    assert build._laid_out(text) == ('\n<div class="cards">\n\n- x\n\n</div>\n\n<!-- generated: y -->\nz\n<!-- end -->')


# ---- the site


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site; skips where its packages cannot be had."""
    folder = tmp_path_factory.mktemp("site")
    env = dict(os.environ)
    if not all(importlib.util.find_spec(name) for name in NEEDED):
        env["PYTHONPATH"] = os.pathsep.join([*filter(None, [env.get("PYTHONPATH")]), str(_packages(folder))])
    command = [sys.executable, str(DOCS / "site" / "build.py"), "--out", str(folder)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=SECONDS, env=env)
    assert done.returncode == 0, done.stderr
    return folder / "html"


def _packages(folder: Path) -> Path:
    """The packages of the extra `site` alone, at the versions that are pinned."""
    extra = re.search(r"^site = \[(.*)\]$", (ROOT / "pyproject.toml").read_text("utf-8"), re.MULTILINE)
    assert extra is not None
    wanted = re.findall(r'"([^"]+)"', extra[1])
    there = folder / "packages"
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", "install", "-q", "--no-compile"]
    done = subprocess.run(
        [*pip, "-c", str(ROOT / "constraints.txt"), "--target", str(there), *wanted],
        check=False,
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    if done.returncode:
        pytest.skip(f"the packages of the extra 'site' cannot be had: {done.stderr.strip().splitlines()[-1]}")
    return there


@cache
def text_of(path: Path) -> str:
    return path.read_text("utf-8")


@cache
def ids(path: Path) -> frozenset[str]:
    return frozenset(re.findall(r'\bid="([^"]+)"', text_of(path)))


def links(path: Path) -> Iterator[tuple[Path, str]]:
    """File and anchor of each link of a built page that stays on the site."""
    for found in re.findall(r'<a\b[^>]*\bhref="([^"]*)"', text_of(path)):
        target = unescape(found)
        if not re.match(r"[a-z]+:|//", target):
            file, _, anchor = target.partition("#")
            yield (path.parent / unquote(file.partition("?")[0])).resolve() if file else path, unquote(anchor)


FOREIGN = re.compile(
    r"<(?:script|img|iframe|source|video|audio|embed|object)\b[^>]*\b(?:src|data)=\"(?:https?:)?//[^\"]*"
    r"|<link\b[^>]*\bhref=\"(?:https?:)?//[^\"]*"
    r"|(?:url\(|@import )[\"']?(?:https?:)?//[^)\"']*"
)
"""What a browser would load from elsewhere."""


def foreign(text: str) -> list[str]:
    return FOREIGN.findall(text)


def test_what_is_loaded_from_elsewhere_would_be_found() -> None:
    assert foreign('<script defer src="https://cdn.example/x.js">')
    assert foreign('<link rel="stylesheet" href="//fonts.example/x">')
    assert foreign("a { background: url(https://x.example/y.png) }")
    assert foreign('<a href="https://example.org">x</a> <img src="x.png"> <link href="_static/x.css">') == []


@pytest.mark.slow
def test_the_built_site_is_whole(site: Path) -> None:
    """Links lead somewhere, no page is out of reach, nothing is foreign; a text for programs, a search, each name."""
    pages = [page for page in sorted(site.rglob("*.html")) if site / "_static" not in page.parents]
    assert len(pages) > 130
    broken, todo, seen = [], [site / "index.html"], {site / "index.html"}
    for page in pages:
        assert foreign(text_of(page)) == [], page.name
        for target, anchor in links(page):
            if not target.is_file() or (anchor and target.suffix == ".html" and anchor not in ids(target)):
                broken.append(f"{page.relative_to(site)}: {target}#{anchor}")
    assert broken == []
    while todo:
        for target, _ in links(todo.pop()):
            if target.suffix == ".html" and target not in seen:
                seen.add(target)
                todo.append(target)
    assert {page.name for page in pages if page not in seen} <= {"search.html", "genindex.html", "py-modindex.html"}
    assert all(foreign(text_of(style)) == [] for style in site.rglob("*.css"))
    listed = text_of(site / "llms.txt")
    assert all((site / name).is_file() for name in re.findall(r"\]\((\S+\.html)\)", listed))
    assert listed.count("\n- [") > 80
    assert "deniable.Estimate.interval" in ids(site / "api/deniable.Estimate.html")
    assert (site / "searchindex.js").stat().st_size > 100_000


@pytest.mark.slow
@pytest.mark.turns(3)
def test_pages_of_the_site_have_no_fault_and_ask_nobody(site: Path) -> None:
    """axe-core finds nothing, no page scrolls sideways, none asks another host; the search finds something."""
    rules, wrong, asked = axe(), [], []
    with browser() as chromium:
        for name, width, scheme in SHOWN:
            context = chromium.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
            context.on("request", lambda request: asked.append(request.url))
            tab = Tab(context, (site / f"{name}.html").as_uri())
            tab.page.evaluate(rules)
            found = tab.page.evaluate(FAULTS)
            wrong += [(name, width, scheme, *each) for each in found]
            if tab.page.evaluate("document.documentElement.scrollWidth") > width:
                wrong.append((name, width, scheme, "scrolls sideways"))
            tab.fine()
            context.close()
        tab = Tab(chromium.new_context(), (site / "search.html").as_uri() + "?q=epsilon")
        tab.page.wait_for_selector("#search-results li")
    assert wrong == []
    assert [url for url in asked if not url.startswith("file:")] == []
