"""The runner behind `deniable reproduce`: figures and claims of papers, written to a folder.

For each paper OUT/PAPER/ gets `report.html` (claims, verdicts, reasons and figures on one page), `claims.json`, a CSV,
an HTML and a PNG file per figure, and `provenance.json`. Every file is written whole or not at all, and the same seed
gives the same bytes, but for running times. How to add a paper: see `papers.paper`.
"""

from __future__ import annotations

import json
import platform
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from deniable.collect.files import replace_file
from deniable.datasets.folder import data_folder
from deniable.errors import MissingExtraError, ParameterError, require
from deniable.papers.adaptive import paper as adaptive
from deniable.papers.beside import beside, read_run
from deniable.papers.brr import paper as brr
from deniable.papers.charts import marked
from deniable.papers.kskv import paper as kskv
from deniable.papers.page import Drawn, page, said
from deniable.papers.paper import SEED, Claim, Context, Figure, Found, Paper, Rows, silent
from deniable.papers.pldp import paper as pldp
from deniable.papers.rules import VERDICTS, Value
from deniable.papers.uldp import paper as uldp
from deniable.papers.unfinished import Unfinished, journal_of
from deniable.present.charts import save
from deniable.run.files import csv_bytes

__all__ = ["PAPERS", "reproduce"]

PAPERS: Mapping[str, Paper] = {
    paper.name: paper for paper in (adaptive.PAPER, uldp.PAPER, kskv.PAPER, pldp.PAPER, brr.PAPER)
}
"""All papers by name, in the order in which `all` runs them."""


@dataclass(frozen=True, slots=True)
class Summary:
    """What a run wrote and found."""

    paper: str
    quick: bool
    out: Path
    figures: tuple[Drawn, ...]
    claims: tuple[dict[str, Any], ...]
    """As in claims.json."""
    left_out: tuple[dict[str, str], ...]
    """Statements of the papers that have no claim, with the reasons."""
    pages: tuple[Path, ...]
    """One for each paper."""
    notes: tuple[str, ...]
    """What could not be done, e.g. charts without the extra that draws them."""
    seconds: float
    against: tuple[dict[str, str], ...] = ()
    """The verdicts beside those of another run, if one was given."""

    def counts(self, whose: str | None = None) -> dict[str, int]:
        """How many claims have each verdict: all of them, or `the paper's`, or `ours`."""
        found = Counter(claim["verdict"] for claim in self.claims if whose in (None, claim["whose"]))
        return {verdict: found[verdict] for verdict in VERDICTS}

    def document(self) -> dict[str, Any]:
        """As plain data, for JSON."""
        return {
            "paper": self.paper,
            "quick": self.quick,
            "out": str(self.out),
            "figures": [drawn.document() for drawn in self.figures],
            "claims": list(self.claims),
            "counts": self.counts(),
            "counts_of_the_papers": self.counts("the paper's"),
            "counts_of_ours": self.counts("ours"),
            "left_out": list(self.left_out),
            "pages": [str(file) for file in self.pages],
            "notes": list(self.notes),
            "seconds": round(self.seconds, 3),
        } | ({"against": list(self.against)} if self.against else {})

    def table(self) -> list[dict[str, str]]:
        """The claims as rows of short texts."""
        columns = ("id", "claim", "where", "paper", "measured", "verdict")
        return [{column: _brief(claim[column]) for column in columns} for claim in self.claims]


def reproduce(
    paper: str,
    *,
    figure: str | None = None,
    quick: bool = False,
    out: Path,
    data_dir: Path | None = None,
    seed: int = SEED,
    against: Path | None = None,
    fresh: bool = False,
    progress: Callable[[str], None] = silent,
) -> Summary:
    """Compute a paper's figures and claims, or those of `all` papers, and write them below `out`.

    With `figure` it is that figure alone, and only the claims that are read from it. `quick` takes smaller simulations.
    `progress` is told what is being done. `against` is the `out` of an earlier run, with another seed: its verdicts are
    set beside these, in `verdicts.csv`. A run that was ended before its end goes on where it stood when it is asked for
    again, by the same program with the same data; with `fresh` it begins again.
    """
    start = time.perf_counter()
    out = Path(out)
    require(out.is_dir() or not out.exists(), "out", str(out), "a folder, or a path where one can be made")
    ok = data_dir is None or Path(data_dir).is_dir()
    require(ok, "data_dir", str(data_dir), "a folder that exists", "Leave it out if no data set is needed.")
    require(isinstance(seed, int) and 0 <= seed < 1 << 63, "seed", seed, "a whole number from 0 to 2^63 - 1")
    chosen = _chosen(paper)
    require(figure is None or len(chosen) == 1, "figure", figure, "left out when all papers are run")
    wanted = None if figure is None else chosen[0].figure(figure)
    other = None if against is None else read_run(Path(against), [one.name for one in chosen])
    figures: list[Drawn] = []
    claims: list[dict[str, Any]] = []
    pages: list[Path] = []
    notes: list[str] = []
    for one in chosen:
        context, folder = Context(one, quick, data_folder(data_dir), seed, progress), out / one.name
        folder.mkdir(parents=True, exist_ok=True)
        if fresh:
            journal_of(folder).unlink(missing_ok=True)
        done = Unfinished(context, folder if wanted is None else None)
        try:
            drawn = _draw(context, done, wanted, folder, notes)
            records = _test(context, done, wanted, folder)
        finally:
            done.close()
        pages.append(folder / "report.html")
        replace_file(pages[-1], page(one, drawn, records, _told(context)).encode())
        _write_json(folder / "provenance.json", _provenance(context, wanted, drawn))
        figures += drawn
        claims += records
    seconds = time.perf_counter() - start
    lost = tuple({"paper": one.name, **asdict(statement)} for one in chosen for statement in one.left_out)
    rows = () if other is None else tuple(beside(claims, other))
    if rows:
        replace_file(out / "verdicts.csv", _csv(rows))
    found = (tuple(figures), tuple(claims), lost, tuple(pages), tuple(notes), seconds, rows)
    for one in chosen if wanted is None else ():
        journal_of(out / one.name).unlink(missing_ok=True)
    return Summary(paper, quick, out, *found)


def _chosen(name: str) -> tuple[Paper, ...]:
    if name == "all":
        return tuple(PAPERS.values())
    if name not in PAPERS:
        raise ParameterError(f"paper must be one of {', '.join(PAPERS)} or all, got {name!r}.")
    return (PAPERS[name],)


def _draw(context: Context, done: Unfinished, wanted: Figure | None, folder: Path, notes: list[str]) -> list[Drawn]:
    """Write the figures; `notes` gets what could not be done."""
    drawn = []
    asked = context.paper.figures if wanted is None else (wanted,)
    if done.figures or done.claims:
        told = f"{len(done.figures)} of {len(asked)} figures and {len(done.claims)} claims are there from before"
        context.progress(f"{context.paper.name}: going on; {told}")
    for number, figure in enumerate(asked, start=1):
        context.progress(f"{context.paper.name}: {figure.id} ({number} of {len(asked)}), {figure.title}")
        rows, marks = done.rows(figure.id), context.marks(figure.id)
        files, note = _write_figure(figure, rows, marks, folder)
        drawn.append(Drawn(context.paper.name, figure, files, marks))
        if note:
            context.progress(note)
            notes.append(note)
    return drawn


def _test(context: Context, done: Unfinished, wanted: Figure | None, folder: Path) -> list[dict[str, Any]]:
    """Test the claims and write what was found."""
    paper = context.paper
    claims = [claim for claim in paper.claims if wanted is None or claim.figure == wanted.id]
    records = []
    for number, claim in enumerate(claims, start=1):
        context.progress(f"{paper.name}: claim {number} of {len(claims)}, {claim.id}")
        records.append(_record(paper, claim, done.found(claim.id)))
    _write_json(folder / "claims.json", records)
    return records


def _record(paper: Paper, claim: Claim, measured: Found) -> dict[str, Any]:
    """A claim as it stands in claims.json."""
    found = claim.judge(measured)
    return {
        "id": f"{paper.name}-{claim.id}",
        "claim": claim.claim,
        "whose": claim.whose,
        "quote": claim.quote,
        "where": f"{paper.key} {claim.where}",
        "paper": claim.paper,
        "measured": found.measured,
        "verdict": found.verdict,
        "note": found.note,
        "figure": claim.figure,
        "rule": str(claim.rule),
        "error_rate": claim.rule.alpha,
    }


def _write_figure(figure: Figure, rows: Rows, marks: tuple[str, ...], folder: Path) -> tuple[tuple[Path, ...], str]:
    """The files written, and what to say if there are no charts among them."""
    table = folder / f"{figure.id}.csv"
    replace_file(table, _csv(rows))
    files = [table]
    try:
        chart = marked(figure.draw(rows), marks)
        files += [save(chart, folder / f"{figure.id}{suffix}") for suffix in (".html", ".png")]
    except MissingExtraError as error:
        return tuple(files), f"{figure.id} was written as CSV only: {error}"
    return tuple(files), ""


def _csv(rows: Rows) -> bytes:
    """The rows with a header; numbers in full precision."""
    columns = list(rows[0])
    odd = [i for i, row in enumerate(rows) if list(row) != columns]
    require(not odd, "rows", f"other columns in row {odd[:1]}", f"mappings with the columns {columns}")
    return csv_bytes(rows)


def _write_json(path: Path, what: object) -> None:
    replace_file(path, (json.dumps(what, ensure_ascii=False, indent=1, allow_nan=False) + "\n").encode())


def _provenance(context: Context, wanted: Figure | None, drawn: list[Drawn]) -> dict[str, Any]:
    """Where the files beside it come from: enough to make them again."""
    paper = context.paper
    return {
        "paper": paper.name,
        "key": paper.key,
        "title": paper.title,
        "figure": None if wanted is None else wanted.id,
        "quick": context.quick,
        "seed": context.seed,
        "files": [file.name for d in drawn for file in d.files] + ["claims.json", "report.html"],
        "marks": {d.figure.id: list(d.marks) for d in drawn if d.marks},
        "versions": {
            "deniable": _version("deniable"),
            "numpy": _version("numpy"),
            "scipy": _version("scipy"),
            "python": platform.python_version(),
        },
    }


def _told(context: Context) -> str:
    """How a page's numbers were computed."""
    quick = "; quick: with smaller simulations" if context.quick else ""
    return f"{context.paper.key}, computed with deniable {_version('deniable')}, seed {context.seed}{quick}."


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed as a package"


def _brief(value: Value | None) -> str:
    """A value as short text: of many numbers the first three."""
    if isinstance(value, Mapping):
        shown = [f"{name}: {_brief(part)}" for name, part in list(value.items())[:3]]
        return "; ".join(shown + ([f"and {len(value) - 3} more"] if len(value) > 3 else []))
    return said(value)
