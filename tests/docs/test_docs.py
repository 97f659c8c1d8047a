"""The documentation is whole: fresh and complete; its links, citations, tests and files exist; its layers are true."""

from __future__ import annotations

import ast
import json
import math
import re
from collections.abc import Iterator, Set
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import deniable as dn
from deniable.papers import runner

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
KEPT = DOCS / "data" / "claims"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
SOURCES = [*sorted((ROOT / "src").rglob("*.py")), *sorted((ROOT / "clients/python/src").rglob("*.py"))]


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def text_of(path: Path) -> str:
    return path.read_text("utf-8")


# ---- generated parts


LONG = ("docs/keyvalue.md", "docs/planning.md", "docs/howto/questions.md", "docs/tutorial-questionnaire.md")
"""Pages whose commands take many seconds, and those of the jobs: in the full tier."""


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(
            page, id=name_of(page), marks=[pytest.mark.slow] * (name_of(page) in LONG or page.parent.name == "jobs")
        )
        for page in PAGES
    ],
)
def test_generated_parts_are_fresh(page: Path, generate: ModuleType) -> None:
    text = text_of(page)
    assert generate.fresh(text) == text, f"{name_of(page)} is not up to date; run: python docs/generate.py"


def test_stale_parts_are_noticed(generate: ModuleType) -> None:
    stale_table = "<!-- generated: belief -->\n| epsilon | 12345 |\n<!-- end -->\n"
    assert "12345" not in generate.fresh(stale_table)
    stale_output = "```console\n$ printf 'one\\ntwo\\n'\none\n```\n"
    assert generate.fresh(stale_output) == "```console\n$ printf 'one\\ntwo\\n'\none\ntwo\n```\n"
    with pytest.raises(KeyError, match="unheard"):
        generate.fresh("<!-- generated: unheard -->\n<!-- end -->\n")
    with pytest.raises(RuntimeError, match="ends with 2"):
        generate.fresh("```console\n$ deniable design nonsense --epsilon 1 --k 2\n```\n")


def test_kept_runs_have_every_claim_by_its_rule() -> None:
    """Who changes a claim runs the paper again: `deniable reproduce PAPER --seed S`, and keeps what it found."""
    known = {f"{p.name}-{claim.id}": str(claim.rule) for p in runner.PAPERS.values() for claim in p.claims}
    for seed in KEPT.iterdir():
        kept = [one for file in sorted(seed.glob("*/claims.json")) for one in json.loads(text_of(file))]
        assert {one["id"]: one["rule"] for one in kept} == known, seed.name


def test_every_part_is_used(generate: ModuleType) -> None:
    asked = {name for page in PAGES for name in re.findall(r"<!-- generated: ([\w-]+) -->", text_of(page))}
    assert asked == set(generate.PARTS)


@pytest.mark.parametrize("name", ["adult-education", "averaging", "belief", "errors", "planning", "price"])
def test_picture_is_fresh(name: str, make_pictures: ModuleType) -> None:
    assert name in make_pictures.CHARTS
    stored = json.loads(text_of(make_pictures.PICTURES / f"{name}.json"))
    assert not different(stored, make_pictures.CHARTS[name]().to_dict()), "run: python docs/make_pictures.py"


def different(one: Any, two: Any, where: str = "") -> list[str]:
    """Where two charts differ: in numbers by more than processors do, or in anything but names made of digests."""
    if isinstance(one, dict) and isinstance(two, dict) and one.keys() == two.keys():
        return [found for key in one for found in different(one[key], two[key], f"{where}/{key}")]
    if isinstance(one, list) and isinstance(two, list) and len(one) == len(two):
        return [
            found for i, pair in enumerate(zip(one, two, strict=True)) for found in different(*pair, f"{where}/{i}")
        ]
    if isinstance(one, float) and isinstance(two, int | float) and math.isclose(one, two, rel_tol=1e-6):
        return []
    if isinstance(one, str) and isinstance(two, str):
        one, two = (re.sub(r"\b(view|param)_[0-9a-f]{16}", r"\1", text) for text in (one, two))
    return [] if one == two else [f"{where}: {one!r}, {two!r}"]


def test_pictures_that_differ_are_noticed(make_pictures: ModuleType) -> None:
    chart = make_pictures.CHARTS["errors"]().to_dict()
    assert not different(chart, json.loads(json.dumps(chart)))
    for changed in ({**chart, "width": 1}, {k: v for k, v in chart.items() if k != "mark"} | {"title": "another"}):
        assert different(chart, changed)
    assert different([1.0], [1.00001]) == ["/0: 1.0, 1.00001"]
    assert different({"a": [1.0]}, {"a": [1.0, 2.0]})
    assert not different({"a": "view_ec381f51613e1c2a_0"}, {"a": "view_78fdad16f1a00c0e_0"})


@pytest.mark.parametrize("picture", sorted((DOCS / "pictures").glob("*.png")), ids=lambda path: path.stem)
def test_every_picture_is_small_and_shown(picture: Path) -> None:
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert picture.stat().st_size < 150_000
    assert any(f"pictures/{picture.name}" in text_of(page) for page in PAGES), "no page shows it"


# ---- completeness


def test_every_command_is_documented(generate: ModuleType) -> None:
    text = text_of(DOCS / "cli.md")
    missing = [name for name in generate.command_names() if f"\n## `deniable {name}`\n" not in text]
    assert not missing
    assert len(generate.command_names()) >= 8


@pytest.mark.parametrize("name", dn.MECHANISMS)
def test_every_mechanism_has_its_mathematics(name: str, generate: ModuleType) -> None:
    pages = sorted((DOCS / "maths").glob("*.md"))
    found = [name_of(p) for p in pages if any(f"`{name}`" in heading for heading in generate.headings(text_of(p)))]
    assert len(found) == 1, f"one page of docs/maths must have `{name}` in a heading, found {found}"
    link = f"| [`{name}`]({found[0].removeprefix('docs/')}) |"
    assert text_of(DOCS / "mechanisms.md").count(link) == 1, "run: python docs/generate.py"


@pytest.mark.parametrize("name", dn.MECHANISMS)
def test_every_mechanism_has_its_bytes_described(name: str) -> None:
    assert re.search(rf"^\|.*\| .*`{name}`.* \|.*\|", text_of(DOCS / "formats.md"), re.MULTILINE), (
        f"the table of reports in docs/formats.md must name `{name}`"
    )


JOBS = ("data", "engineer", "research", "reviewer", "survey")


def test_the_front_page_has_two_screens(generate: ModuleType) -> None:
    """Of 40 lines each; a few mechanisms to start with, and a way for every job."""
    text = text_of(ROOT / "README.md")
    assert len(text.splitlines()) <= 80
    assert re.findall(r"^\| \[`([\w-]+)`\]", text, re.MULTILINE) == list(generate.STARTERS)
    assert len(generate.STARTERS) == 5
    commands = re.findall(r"^    (\./bin/\w+) ", text, re.MULTILINE)
    assert commands == ["./bin/demo", "./bin/test"]
    assert all((ROOT / command).is_file() for command in commands)
    python = re.findall(r"^(?:>>>|\.\.\.) ", text, re.MULTILINE)
    assert len(python) <= 10


@pytest.mark.parametrize("page", [ROOT / "README.md", DOCS / "index.md"], ids=name_of)
def test_every_job_has_its_page(page: Path) -> None:
    linked = {target for target, _ in local_links(page)}
    assert {DOCS / f"jobs/{job}.md" for job in JOBS} <= linked
    assert tuple(sorted(path.stem for path in (DOCS / "jobs").glob("*.md"))) == JOBS


@pytest.mark.parametrize("job", JOBS)
def test_the_page_of_a_job_leads_through_in_order(job: str, generate: ModuleType) -> None:
    """Numbered steps from 1 on, code that is run, and other pages to go to."""
    page = DOCS / f"jobs/{job}.md"
    numbers = [int(heading.split(".")[0]) for heading in generate.headings(text_of(page)) if heading[0].isdigit()]
    assert numbers == list(range(1, len(numbers) + 1))
    assert len(numbers) >= 4
    assert "```console\n$ deniable " in text_of(page) or "```console\n$ (echo " in text_of(page)
    assert len({target for target, _ in local_links(page)}) >= 5


DECISIONS = sorted((DOCS / "decisions").glob("*.md"))


@pytest.mark.parametrize("page", DECISIONS, ids=name_of)
def test_decision_record_has_its_parts(page: Path) -> None:
    text = text_of(page)
    assert text.startswith(f"# {page.name[:4]}: ")
    for part in ("Context", "Choice", "Price", "What would change our mind"):
        assert f"\n**{part}.** " in text, f"{part} is missing"


def test_decision_records_are_numbered_in_order() -> None:
    assert [page.name[:4] for page in DECISIONS] == [f"{i:04}" for i in range(1, len(DECISIONS) + 1)]


def test_every_page_can_be_reached() -> None:
    linked = {target for page in PAGES for target, _ in local_links(page)}
    assert [name_of(page) for page in PAGES if page not in linked | {ROOT / "README.md"}] == []


# ---- links


def prose(text: str) -> str:
    """Text without code blocks."""
    return re.sub(r"```.*?```", "", text, flags=re.DOTALL)


def local_links(page: Path) -> Iterator[tuple[Path, str]]:
    """File and anchor of each link that does not leave the repository."""
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(text_of(page))):
        if not re.match(r"[a-z]+:", target):
            path, _, anchor = target.partition("#")
            yield (page.parent / path).resolve() if path else page, anchor


def anchors(text: str) -> set[str]:
    """The anchors of a page's headings, as code hosts make them."""
    headings = re.findall(r"^#+ (.*)$", prose(text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_resolve(page: Path) -> None:
    broken = [
        f"{target}#{anchor}"
        for target, anchor in local_links(page)
        if not target.exists() or (anchor and anchor not in anchors(text_of(target)))
    ]
    assert not broken


def test_broken_link_would_be_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# A heading\n[a](page.md#a-heading) [b](gone.md) ```\n[c](code)\n``` [d](https://example.org)\n")
    assert list(local_links(page)) == [(page, "a-heading"), (tmp_path / "gone.md", "")]
    assert anchors(page.read_text()) == {"a-heading"}


# ---- citations

LISTED = re.findall(r"^@\w+\{(\w+),", text_of(DOCS / "refs.bib"), re.MULTILINE)
KEYS = frozenset(LISTED)
_PLACE = r"(?:Eq|Sec|Thm|Theorem|Alg|Prop|Lemma|Table|Fig)\b\.? ?\(?[0-9IVX]"


def citations(text: str) -> set[str]:
    """What is cited: keys in square brackets, as in [Wang17, ULDP Eq. 3], and words before an equation or section."""
    found = set(re.findall(rf"\b([A-Z]\w+),? {_PLACE}", text)) - {"MSE", "ASR", "LDP"}
    for inside in re.findall(r"(?<!\])\[([A-Z]\w*[^\]\[]*)\](?!\()", text):
        found |= set(re.findall(r"\b([A-Z][A-Za-z]+[0-9]{2}\w?)\b", inside))
    return found


def docstrings(path: Path) -> str:
    """All strings of a module: docstrings, and texts such as the registry's sources."""
    constants = (node for node in ast.walk(ast.parse(text_of(path))) if isinstance(node, ast.Constant))
    return "\n".join(node.value for node in constants if isinstance(node.value, str))


def test_citations_are_in_the_bibliography() -> None:
    texts = {path: prose(text_of(path)) + "\n".join(formulas(text_of(path))) for path in PAGES}
    texts |= {path: docstrings(path) for path in SOURCES}
    unknown = {name_of(path): sorted(citations(text) - KEYS) for path, text in texts.items()}
    assert {name: keys for name, keys in unknown.items() if keys} == {}, "not in docs/refs.bib"


def formulas(text: str) -> list[str]:
    """Blocks of kind `text`, where formulas stand."""
    return re.findall(r"```text\n(.*?)```", text, flags=re.DOTALL)


def test_every_reference_is_listed_once() -> None:
    assert LISTED
    assert len(LISTED) == len(KEYS), f"listed more than once: {sorted(k for k in KEYS if LISTED.count(k) > 1)}"


def test_every_reference_is_cited() -> None:
    cited: Set[str] = set()
    for path in [*PAGES, *SOURCES]:
        words = set(re.findall(r"\w+", text_of(path)))
        cited |= words & KEYS
    unused = KEYS - cited - PAPERS
    assert not unused, f"cited nowhere: {sorted(unused)}"


PAPERS = {"ULDP", "KSKV", "AdaptiveLDP", "PLDP", "BRR"}
"""The papers that the project stands on; cited when their mechanisms are there."""


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("see [Wang17, AdaptiveLDP Sec. IV-C]", {"Wang17", "AdaptiveLDP"}),
        ("by Nobody99 Eq. 3", {"Nobody99"}),
        ("as in ULDP Eq. (21)", {"ULDP"}),
        ("[Cao21]", {"Cao21"}),
        ("[a link](Wang17)", set()),
        ("x[0], Field [1]", set()),
    ],
)
def test_citations_are_found(text: str, found: set[str]) -> None:
    assert citations(text) == found


# ---- tests and files that pages name


def named_tests(text: str) -> list[tuple[str, str]]:
    """File and function of each test that a page names, as tests/core/test_x.py::test_y; the function may be empty."""
    return re.findall(r"\b(tests/[\w/]+\.py)(?:::(\w+))?", text)


@cache
def functions_of(path: Path) -> set[str]:
    return {node.name for node in ast.walk(ast.parse(text_of(path))) if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_named_tests_exist(page: Path) -> None:
    missing = [
        f"{file}::{function}" if function else file
        for file, function in named_tests(text_of(page))
        if not (ROOT / file).is_file() or (function and function not in functions_of(ROOT / file))
    ]
    assert not missing


def test_a_test_that_does_not_exist_would_be_found() -> None:
    assert named_tests("by `tests/docs/test_docs.py::test_gone` and tests/x.py") == [
        ("tests/docs/test_docs.py", "test_gone"),
        ("tests/x.py", ""),
    ]
    assert "test_gone" not in functions_of(Path(__file__))
    assert "test_named_tests_exist" in functions_of(Path(__file__))


@pytest.mark.parametrize("page", sorted((DOCS / "maths").glob("*.md")), ids=name_of)
def test_every_claim_names_a_test(page: Path) -> None:
    """Each numbered section that makes a claim says by what it is checked."""
    sections = re.split(r"^## ", text_of(page), flags=re.MULTILINE)[1:]
    unchecked = [s.partition("\n")[0] for s in sections if "**Claim" in s or "**Theorem" in s if not named_tests(s)]
    assert not unchecked
    assert named_tests(text_of(page))


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_named_files_exist(page: Path) -> None:
    """The example of an addition is the one file that pages name and that is not there."""
    named = re.findall(r"`((?:src|clients|tests|docs|bin)/[\w./-]+)`", text_of(page))
    missing = {file for file in named if not (ROOT / file).exists()} - {"src/deniable/mechanisms/frequency/warner.py"}
    assert not missing


def test_layers_are_those_of_the_source() -> None:
    table = text_of(DOCS / "architecture.md").partition("\n## Layers\n")[2].partition("\n## ")[0]
    named = re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)
    package = ROOT / "src/deniable"
    there = {path.stem for path in package.iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()}
    assert set(named) == there - {"__init__", "__main__"} | {"deniable_client"}
    assert len(named) == len(set(named))


# ---- words


def unfinished(text: str) -> list[str]:
    """Marks that an author left."""
    return re.findall(r"\b(?:CHECKED\(|FILL\b|GOLDEN\b|CONFORMANCE\b|XXX|TBD)", text)


def long_lines(text: str) -> list[int]:
    """Lines of prose that no editor shows whole; tables, code and links may be longer."""
    plain = re.sub(r"```.*?```", lambda block: "\n" * block[0].count("\n"), text, flags=re.DOTALL)
    lines = enumerate(plain.splitlines(), start=1)
    return [i for i, line in lines if len(line) > 120 and not line.startswith(("|", "!", "    "))]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_page_is_tidy(page: Path) -> None:
    assert {check.__name__: check(text_of(page)) for check in (unfinished, long_lines)} == {
        "unfinished": [],
        "long_lines": [],
    }
