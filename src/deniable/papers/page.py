"""The page of a reproduction: each figure with the claims that are read from it, verdicts and reasons beside it.

One HTML file without scripts that loads nothing: pictures are part of it, and all text is escaped.
"""

from __future__ import annotations

import base64
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from deniable.papers.paper import Claim, Figure, LeftOut, Paper
from deniable.papers.rules import VERDICTS, Value

__all__ = ["Drawn", "page", "said"]

_MOST = 6
"""Measured numbers that are shown at once; the others unfold."""

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"

_STYLE = """
:root { color-scheme: light dark; --ink: #1f2328; --soft: #59636e; --line: #d1d9e0; --card: #f6f8fa; --page: #fff;
  --link: #0969da; --reproduced: #116329; --corrected: #7d4e00; --refuted: #a40e26; --not-tested: #59636e; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --soft: #9ea7b3; --line: #3d444d; --card: #161b22;
  --page: #0d1117; --link: #6cb6ff; --reproduced: #57d364; --corrected: #e3b341; --refuted: #ff8b85;
  --not-tested: #9ea7b3; } }
body { margin: 0 auto; padding: 1.5rem; max-width: 100rem; color: var(--ink); background: var(--page);
  font: 1rem/1.5 system-ui, sans-serif; }
a { color: var(--link); }
h1 { line-height: 1.2; font-size: clamp(1.4rem, 5vw, 2rem); }
h2 { margin-top: 3rem; padding-top: 1rem; border-top: 1px solid var(--line); }
h3 { margin: 0 0 .3rem; font-size: 1rem; }
p { margin: .3rem 0; }
.soft, figcaption, dt { color: var(--soft); font-size: .9rem; }
.pair { display: grid; grid-template-columns: minmax(0, 1fr); gap: 1.5rem; align-items: start; }
.pair > figure { order: -1; }
@media (min-width: 64rem) { .pair { grid-template-columns: minmax(22rem, 2fr) 3fr; }
  .pair > figure { order: 0; position: sticky; top: 1rem; max-height: calc(100vh - 2rem); overflow-y: auto; }
  .alone { columns: 2; column-gap: 1.5rem; } }
article { margin: 0 0 1rem; padding: .8rem 1rem; border: 1px solid var(--line); border-left-width: .35rem;
  border-radius: .4rem; background: var(--card); break-inside: avoid; overflow-wrap: anywhere; }
figure { margin: 0; }
.picture { display: block; overflow-x: auto; background: #fff; border-radius: .4rem; }
img { display: block; max-width: 100%; height: auto; }
.counts { padding: 0; list-style: none; }
dl { margin: .4rem 0 0; display: grid; grid-template-columns: 6.5rem 1fr; gap: .1rem .8rem; }
dd { margin: 0; }
@media (max-width: 36rem) { body { padding: 1rem; } dl { grid-template-columns: minmax(0, 1fr); }
  dd { margin-bottom: .4rem; } ul { padding-left: 1.2rem; } img { max-width: none; width: 38rem; } }
table { border-collapse: collapse; font-size: .9rem; }
td { padding: 0 .8rem 0 0; vertical-align: top; }
td + td { text-align: right; font-variant-numeric: tabular-nums; }
td.number { white-space: nowrap; }
.verdict { font-weight: 600; }
.mark { font-weight: 600; color: var(--refuted); }
.reproduced { border-left-color: var(--reproduced); } .corrected { border-left-color: var(--corrected); }
.refuted { border-left-color: var(--refuted); } .not-tested { border-left-color: var(--not-tested); }
.reproduced .verdict { color: var(--reproduced); } .corrected .verdict { color: var(--corrected); }
.refuted .verdict { color: var(--refuted); } .not-tested .verdict { color: var(--not-tested); }
"""

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<header>
<h1>{title}</h1>
<p>{told}</p>
{counts}
</header>
<nav aria-label="Contents">
<h2 id="contents">Contents</h2>
<ul>
{contents}
</ul>
</nav>
<main>
{sections}
</main>
</body>
</html>
"""

_MEANINGS = {
    "reproduced": "what was measured agrees with the paper",
    "corrected": "not as printed, but what holds instead is known",
    "refuted": "it does not hold",
    "not tested": "nothing is known, or chance may explain what was measured (not decided)",
}


@dataclass(frozen=True, slots=True)
class Drawn:
    """A figure that was written, its files, and what its picture says about its data."""

    paper: str
    figure: Figure
    files: tuple[Path, ...]
    marks: tuple[str, ...] = ()

    def document(self) -> dict[str, Any]:
        """As plain data."""
        f = self.figure
        files = [str(file) for file in self.files]
        own = {"paper": self.paper, "id": f.id, "title": f.title, "where": f.where}
        return {**own, "files": files, "marks": list(self.marks)}


def page(paper: Paper, drawn: Sequence[Drawn], records: Sequence[Mapping[str, Any]], told: str) -> str:
    """The page about figures that were drawn and claims as in claims.json; `told` says how they were computed."""
    known = {f"{paper.name}-{claim.id}": claim for claim in paper.claims}
    places: dict[str, list[Mapping[str, Any]]] = {id: [] for id in (*(one.figure.id for one in drawn), "")}
    for record in records:
        places[_beside(known[record["id"]], [one.figure for one in drawn])].append(record)
    sections = [_section(one, places[one.figure.id]) for one in drawn]
    contents = [_entry(one.figure.id, _heading(one.figure), places[one.figure.id]) for one in drawn]
    if places[""]:
        sections.append(_alone(places[""]))
        contents.append(_entry("others", "Claims without a figure", places[""]))
    if paper.left_out:
        sections.append(_left_out(paper.left_out))
        contents.append(_entry("left-out", "Statements without a claim", ()))
    return _PAGE.format(
        policy=_POLICY,
        style=_STYLE,
        title=escape(paper.title),
        told=escape(told),
        counts=_counts(records),
        contents="\n".join(contents),
        sections="\n".join(sections),
    )


def said(value: Value | None) -> str:
    """A text as it is, a number with five digits, nothing as a dash."""
    if value is None:
        return "-"
    return f"{value:.5g}" if isinstance(value, float) else str(value)


def _counts(records: Sequence[Mapping[str, Any]]) -> str:
    """How many claims there are, in all and of each verdict, and what the verdicts mean."""
    if not records:
        return "<p>No claims were tested.</p>"
    found = Counter(record["verdict"] for record in records if record["whose"] != "ours")
    own = Counter(record["verdict"] for record in records if record["whose"] == "ours")
    rows = "\n".join(
        f'<li class="{_class(v)}"><span class="verdict">{found[v]} {v}</span>: {escape(_MEANINGS[v])}</li>'
        for v in VERDICTS
        if found[v]
    )
    told = f'<p>{found.total()} claims of the paper:</p>\n<ul class="counts">\n{rows}\n</ul>' if found else ""
    ours = ", ".join(f"{own[v]} {v}" for v in VERDICTS if own[v])
    return told + (f"\n<p>{own.total()} of our own, which the paper does not state: {ours}.</p>" if own else "")


def _class(verdict: str) -> str:
    return verdict.replace(" ", "-")


def _beside(claim: Claim, figures: Sequence[Figure]) -> str:
    """The figure beside which a claim stands: its own, or the first one that the paper's place names."""
    ids = [figure.id for figure in figures]
    if claim.figure is not None:
        return claim.figure if claim.figure in ids else ""
    named = (f.id for f in figures if re.search(rf"{re.escape(f.where)}(?![\w(])", claim.where))
    return next(named, "")


def _heading(figure: Figure) -> str:
    return f"{figure.where}: {figure.title}"


def _entry(anchor: str, heading: str, records: Sequence[Mapping[str, Any]]) -> str:
    """A line of the contents."""
    found = Counter(record["verdict"] for record in records)
    told = ", ".join(f"{found[v]} {v}" for v in VERDICTS if found[v])
    counted = f' <span class="soft">{escape(told)}</span>' if told else ""
    return f'<li><a href="#{escape(anchor)}">{escape(heading)}</a>{counted}</li>'


def _section(drawn: Drawn, records: Sequence[Mapping[str, Any]]) -> str:
    """A figure and the claims beside it."""
    claims = "\n".join(map(_article, records)) or '<p class="soft">No claim is read from this figure alone.</p>'
    heading = f'<h2 id="{escape(drawn.figure.id)}">{escape(_heading(drawn.figure))}</h2>'
    return f'<section>\n{heading}\n<div class="pair">\n<div>\n{claims}\n</div>\n{_figure(drawn)}\n</div>\n</section>'


def _figure(drawn: Drawn) -> str:
    """The picture, in the page; files beside the page by name."""
    pictures = [file for file in drawn.files if file.suffix == ".png"]
    shown = '<p class="soft">There is no picture, only the table.</p>'
    if pictures:
        data = base64.b64encode(pictures[0].read_bytes()).decode()
        shown = f'<img src="data:image/png;base64,{data}" alt="{escape(_heading(drawn.figure))}">'
        large = next((file for file in drawn.files if file.suffix == ".html"), pictures[0])
        shown = f'<a class="picture" href="{escape(large.name)}" title="Open the figure by itself">{shown}</a>'
    marks = "".join(f'<p class="mark">{escape(mark)}</p>' for mark in drawn.marks)
    links = ", ".join(f'<a href="{escape(file.name)}">{escape(file.name)}</a>' for file in drawn.files)
    return f"<figure>\n{shown}\n<figcaption>{marks}<p>Files: {links}</p></figcaption>\n</figure>"


def _alone(records: Sequence[Mapping[str, Any]]) -> str:
    claims = "\n".join(map(_article, records))
    return f'<section>\n<h2 id="others">Claims without a figure</h2>\n<div class="alone">\n{claims}\n</div>\n</section>'


def _left_out(statements: Sequence[LeftOut]) -> str:
    """What the paper says and nothing here tests, with the reasons."""
    rows = "".join(
        f"<dt>{escape(one.where)}</dt><dd>{escape(one.statement)}: {escape(one.reason)}.</dd>" for one in statements
    )
    return f'<section>\n<h2 id="left-out">Statements without a claim</h2>\n<dl>{rows}</dl>\n</section>'


def _article(record: Mapping[str, Any]) -> str:
    """A claim: what the paper says, what was measured, the verdict and its reason."""
    verdict = record["verdict"]
    ours = {"whose": "of our own: the paper does not say so"} if record["whose"] == "ours" else {}
    quoted = {"in its words": f"<q>{escape(record['quote'])}</q>"} if record["quote"] else {}
    parts = {
        **ours,
        "reason": escape(record["note"] or _MEANINGS[verdict]),
        "where": escape(record["where"]),
        **quoted,
        "paper": _values(record["paper"]),
        "measured": _values(record["measured"]),
        "rule": escape(record["rule"]),
        "error rate": escape(f"at most {record['error_rate']:g}" if record["error_rate"] else "none: no random draws"),
    }
    rows = "".join(f"<dt>{name}</dt><dd>{part}</dd>" for name, part in parts.items())
    opened = f'<article id="{escape(record["id"])}" class="{_class(verdict)}">'
    return (
        f'{opened}\n<h3>{escape(record["claim"])}</h3>\n<p class="verdict">{verdict}</p>\n<dl>{rows}</dl>\n</article>'
    )


def _values(value: Value | None) -> str:
    """A value, or a table of several; of many the rest unfolds."""
    if not isinstance(value, Mapping):
        return escape(said(value))
    rows = [f"<tr><td>{escape(str(k))}</td>{_cell(v)}</tr>" for k, v in value.items()]
    first, rest = "".join(rows[:_MOST]), "".join(rows[_MOST:])
    more = f"<details><summary>{len(rows) - _MOST} more</summary><table>{rest}</table></details>" if rest else ""
    return f"<table>{first}</table>{more}"


def _cell(value: str | float) -> str:
    """A text may break anywhere, a number must not."""
    return f"<td>{escape(said(value))}</td>" if isinstance(value, str) else f'<td class="number">{said(value)}</td>'
