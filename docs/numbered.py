"""Parts of the documentation about the papers: every numbered equation, theorem, algorithm, table and figure."""

from __future__ import annotations

import json
import re
import textwrap
import tomllib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from measured import table

from deniable.papers.paper import Claim, Paper
from deniable.papers.runner import PAPERS

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
KEPT = DOCS / "data" / "claims"
KINDS = {
    "Eq": "Equation",
    "Equations": "Equation",
    "Theorem": "Theorem",
    "Thm": "Theorem",
    "Prop": "Proposition",
    "Lemma": "Lemma",
    "Alg": "Algorithm",
    "Algorithm": "Algorithm",
    "Table": "Table",
    "Fig": "Figure",
    "Figures": "Figure",
}
ORDER = ("Equation", "Theorem", "Proposition", "Lemma", "Algorithm", "Table", "Figure")
_WORDS = "|".join(sorted(KINDS, key=len, reverse=True))
_NUMBER = r"\(?[A-Z]?\.?\d+(?:\.\d+)?\)?(?:\(\d+\))?"
_PLACE = re.compile(rf"\b({_WORDS})\.? ({_NUMBER}(?:(?:, | and | to |, and ){_NUMBER})*)")


class Item(NamedTuple):
    """A numbered thing of a paper."""

    kind: str
    number: str

    def __str__(self) -> str:
        return f"{self.kind} {self.number}"


def items(text: str) -> Iterator[Item]:
    """The numbered things that a text names: `Eq. 12 to 14 and Fig. 3` are four."""
    for word, numbers in _PLACE.findall(text):
        kind, last = KINDS[word], ""
        for sign, number in re.findall(rf"(^|, and |, | and | to )({_NUMBER})", numbers):
            plain = re.sub(r"\(\d+\)$", "", number) if not number.startswith("(") else number
            plain = plain.strip("()")
            if sign == " to " and last.isdigit() and plain.isdigit():
                yield from (Item(kind, str(n)) for n in range(int(last) + 1, int(plain)))
            yield Item(kind, plain)
            last = plain


def _key(item: Item) -> tuple[int, list[tuple[int, int | str]]]:
    parts = re.findall(r"\d+|[A-Z]+", item.number)
    return ORDER.index(item.kind), [(1, part) if part.isalpha() else (0, int(part)) for part in parts]


@cache
def _verdicts(name: str) -> dict[str, tuple[str, str]]:
    """The verdict and the note of every claim of a paper, from the runs that are kept."""
    found: dict[str, tuple[str, str]] = {}
    for file in sorted(KEPT.glob(f"*/{name}/claims.json")):
        for one in json.loads(file.read_text("utf-8")):
            verdict, _ = found.get(one["id"], (one["verdict"], ""))
            same = verdict == one["verdict"]
            found[one["id"]] = (verdict if same else "not decided", one["note"] or "")
    return found


@cache
def _sources() -> dict[str, str]:
    folders = (ROOT / "src/deniable", ROOT / "clients/python/src/deniable_client")
    paths = (path for folder in folders for path in sorted(folder.rglob("*.py")))
    return {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in paths}


@cache
def _tests() -> dict[str, str]:
    paths = sorted((ROOT / "tests").rglob("test_*.py"))
    return {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in paths}


@cache
def _cited(key: str) -> dict[Item, list[str]]:
    """Where the code cites each numbered thing, with the key of the paper before it."""
    found: dict[Item, list[str]] = {}
    for path, text in _sources().items():
        for place in re.findall(rf"\b{key},? ((?:{_WORDS})\.? [^\]\n;]*)", text):
            for item in items(place):
                if path not in found.setdefault(item, []):
                    found[item].append(path)
    return found


def _tested(paper: Paper, claim: Claim) -> str:
    """The first test that has the claim by its name; its rule is tried by the tests of all rules."""
    own = re.compile(rf"[\"'](?:{paper.name}-)?{re.escape(claim.id)}[\"']")
    found = [path for path, text in _tests().items() if path.startswith("tests/papers/") and own.search(text)]
    return found[0] if found else "tests/papers/test_checks.py"


@cache
def _further(name: str) -> dict[Item, dict[str, str]]:
    """What is said of things that have no claim."""
    rows = tomllib.loads((ROOT / "src/deniable/papers/further.toml").read_text("utf-8"))[name]
    return {item: row for row in rows for item in items(row["what"])}


def listed(paper: Paper) -> list[Item]:
    """All numbered things of a paper: what claims, statements without one, and the code name, and those in between."""
    texts = [claim.where for claim in paper.claims if not claim.ours] + [one.where for one in paper.left_out]
    texts += [one.statement for one in paper.left_out]
    named = {item for text in texts for item in items(text)} | set(_cited(paper.key))
    for kind in ORDER:
        most = max((int(item.number) for item in named if item.kind == kind and item.number.isdigit()), default=0)
        named |= {Item(kind, str(n)) for n in range(1, most + 1)}
    return sorted(named, key=_key)


def gaps(paper: Paper) -> list[Item]:
    """Numbered things about which nothing is said anywhere."""
    return [item for item in listed(paper) if _row(paper, item) is None]


def _row(paper: Paper, item: Item) -> list[str] | None:
    """What became of one: its state, where it is, what it means, and the test."""
    claims = [claim for claim in paper.claims if not claim.ours and item in set(items(claim.where))]
    cited = _cited(paper.key).get(item, [])
    code = ", ".join(f"`{path}`" for path in cited[:2])
    if claims:
        told = [_verdicts(paper.name).get(f"{paper.name}-{claim.id}", ("not tested", "")) for claim in claims]
        wrong = [i for i, (verdict, _) in enumerate(told) if verdict in ("corrected", "refuted")]
        state = "superseded" if wrong else "implemented"
        says = "; ".join(
            f"{claim.claim} (`{claim.id}`): {verdict}" + (f", {note}" if i in wrong and note else "")
            for i, (claim, (verdict, note)) in enumerate(zip(claims, told, strict=True))
        )
        tests = ", ".join(f"`{path}`" for path in dict.fromkeys(_tested(paper, claim) for claim in claims))
        return [str(item), state, says, code, tests]
    left = [one for one in paper.left_out if item in set(items(f"{one.where} {one.statement}"))]
    if left:
        says = "; ".join(f"{one.statement}: {one.reason}" for one in left)
        return [str(item), "implemented" if cited else "unused", says, code, ""]
    further = _further(paper.name).get(item)
    if further:
        return [
            str(item),
            further["state"],
            further["why"],
            *_as_code(further.get("code")),
            *_as_code(further.get("test")),
        ]
    return [str(item), "implemented", "used as it stands", code, ""] if cited else None


def _as_code(path: str | None) -> list[str]:
    return [f"`{path}`" if path else ""]


def needless(paper: Paper) -> list[Item]:
    """Things about which further.toml speaks although a claim or a statement does."""
    told = {item for claim in paper.claims if not claim.ours for item in items(claim.where)}
    told |= {item for one in paper.left_out for item in items(f"{one.where} {one.statement}")}
    return [item for item in _further(paper.name) if item in told or item not in listed(paper)]


def page(name: str) -> str:
    """All numbered things of a paper, in order."""
    paper = PAPERS[name]
    lost = gaps(paper)
    if lost:
        raise LookupError(f"src/deniable/papers/further.toml must say what became of {', '.join(map(str, lost))}")
    rows = [row for item in listed(paper) if (row := _row(paper, item)) is not None]
    rows = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    counts = {state: sum(row[1] == state for row in rows) for state in ("implemented", "superseded", "unused")}
    said = ", ".join(f"{count} {state}" for state, count in counts.items())
    return f"{said}.\n\n" + table(["what", "state", "what became of it", "code", "test"], rows, right=5)


def errata(name: str) -> str:
    """What a paper says that does not hold, with what holds instead and what was measured."""
    paper, rows = PAPERS[name], []
    for claim in paper.claims:
        verdict, note = _verdicts(paper.name).get(f"{paper.name}-{claim.id}", ("not tested", ""))
        if not claim.ours and verdict in ("corrected", "refuted"):
            rows.append([claim.where, claim.claim, verdict, note, f"`{claim.id}`"])
    rows = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    return table(["where", "the paper says", "verdict", "what was found", "claim"], rows, right=5)


def _part(make: Callable[[str], str], name: str) -> Callable[[], str]:
    return lambda: make(name)


def references() -> str:
    """The five papers, as refs.bib has them."""
    told = (f"- **{p.key}** {_reference(p.key)} `deniable reproduce {p.name}`" for p in PAPERS.values())
    return "\n".join(textwrap.fill(one, 118, subsequent_indent="  ", break_on_hyphens=False) for one in told)


def _reference(key: str) -> str:
    text = (DOCS / "refs.bib").read_text("utf-8")
    entry = re.search(rf"^@\w+\{{{key},\n(.*?)^\}}", text, re.DOTALL | re.MULTILINE)
    assert entry is not None, key
    fields: dict[str, Any] = dict(re.findall(r"^\s*(\w+)\s*=\s*\{(.*)\},?$", entry[1], re.MULTILINE))
    plain = {name: re.sub(r"\{\\'e\}", "é", value).replace("{", "").replace("}", "") for name, value in fields.items()}
    people = [" ".join(reversed(one.split(", "))) for one in plain["author"].split(" and ")]
    where = next((plain[name] for name in ("booktitle", "journal", "howpublished", "note") if name in plain), "")
    return f"{', '.join(people)}: *{plain['title']}*. {where}, {plain['year']}.".replace("\\&", "&")


PARTS: dict[str, Callable[[], str]] = {
    "references": references,
    **{f"numbered-{name}": _part(page, name) for name in PAPERS},
    **{f"errata-{name}": _part(errata, name) for name in PAPERS},
}
