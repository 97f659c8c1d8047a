"""Parts of pages that come from results kept in docs/data: claims of papers, and what was measured."""

from __future__ import annotations

import json
import re
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from deniable.papers.beside import APART, beside, together
from deniable.papers.paper import Paper
from deniable.papers.rules import VERDICTS, Rule
from deniable.papers.runner import PAPERS

sys.path.append(str(Path(__file__).resolve().parents[1] / "benchmarks"))

from measure import DATA, read_csv, table

KEPT = DATA / "claims"
"""Results of `deniable reproduce`, a folder for each seed."""


def optimum() -> str:
    """Least losses under promises, and how far every baseline with the same promise is above them."""
    rows = [
        [
            row["setting"],
            row["way"],
            f"{float(row['loss']):.4g}",
            f"{100 * abs(round(float(row['above']), 4)):.1f} %",
            f"{100 * float(row['guess']):.1f} %",
        ]
        for row in read_csv("optimum")
        if row["question"] == "release"
    ]
    return table(("setting", "release", "expected loss", "above the least", "best guess right"), rows, right=2)


def least_errors() -> str:
    """Least errors of estimates under promises, and how far every baseline with the same promise is above them."""
    rows = [
        [
            row["setting"],
            row["way"],
            f"{float(row['loss']):.5g}",
            f"{100 * abs(round(float(row['above']), 4)):.1f} %",
            f"{100 * float(row['guess']):.1f} %",
        ]
        for row in read_csv("optimum")
        if row["question"] != "release"
    ]
    return table(("promise", "mechanism", "error of one report", "above the least", "best guess right"), rows, right=2)


def papers() -> str:
    """How many claims each paper has, and its statements that have none, with the reasons."""
    rows = []
    for p in PAPERS.values():
        ours = sum(claim.ours for claim in p.claims)
        rows.append([f"`{p.name}`", p.key, *map(str, (len(p.claims) - ours, ours, len(p.left_out)))])
    lost = [[f"`{p.name}`", one.statement, one.where, one.reason] for p in PAPERS.values() for one in p.left_out]
    counted = table(("paper", "key", "claims", "questions of our own", "statements without a claim"), rows, right=2)
    return f"{counted}\n\n{table(('paper', 'statement', 'where', 'why it has no claim'), lost, right=4)}"


def claims() -> str:
    """What became of every claim, from runs that are kept in docs/data/claims.

    Runs with several seeds stand beside each other (docs/data/claims/SEED/PAPER/, `claims.json` and `provenance.json`):
    where their verdicts differ, the claim is not decided.
    """
    told = []
    for paper in PAPERS.values():
        folders = [file.parent for file in sorted(KEPT.glob(f"*/{paper.name}/claims.json"))]
        runs = [json.loads((folder / "claims.json").read_text("utf-8")) for folder in folders]
        made = [json.loads((folder / "provenance.json").read_text("utf-8")) for folder in folders]
        if not runs:
            continue
        told += [
            f"### `{paper.name}`",
            textwrap.fill(_made(made) + _missing(paper, runs), 118, break_on_hyphens=False),
            table(("claim", "where", "measured", "verdict", "what it means", "figure"), _rows(paper, runs), right=6),
        ]
    return "\n\n".join(told) or "No run is kept yet."


def seeds() -> str:
    """Verdicts of the kept runs beside each other: how many of each, by paper and seed, and the claims that differ."""
    counted, apart = [], []
    for paper in PAPERS.values():
        folders = [file.parent for file in sorted(KEPT.glob(f"*/{paper.name}/claims.json"))]
        runs = {folder.parent.name: json.loads((folder / "claims.json").read_text("utf-8")) for folder in folders}
        for seed, records in runs.items():
            found = [record["verdict"] for record in records]
            counted.append([f"`{paper.name}`", seed, *(str(found.count(verdict)) for verdict in VERDICTS)])
        if len(runs) == 2:
            one, two = runs.values()
            differ = [row for row in beside(one, two) if row["together"] == APART]
            apart += [[f"`{row['id']}`", row["verdict"], row["other"]] for row in differ]
    told = table(("paper", "seed", *VERDICTS), counted, right=1)
    if not apart:
        return f"{told}\n\nThe verdicts of both seeds are the same for every claim."
    return f"{told}\n\n{table(('claim', 'with seed 1', 'with seed 2'), apart, right=3)}"


def _missing(paper: Paper, runs: Sequence[Sequence[dict[str, Any]]]) -> str:
    """The claims that are not in the runs that are kept."""
    known = {record["id"] for record in runs[0]}
    lost = [f"`{name}`" for claim in paper.claims if (name := f"{paper.name}-{claim.id}") not in known]
    return f" Not in these runs: {', '.join(lost)}." if lost else ""


def _made(runs: Sequence[dict[str, Any]]) -> str:
    """How runs that are kept were made, so that they can be made again."""
    seeds = " and ".join(str(run["seed"]) for run in runs)
    quick = {run["quick"] for run in runs}
    how = "smaller simulations (`--quick`)" if quick == {True} else "all simulations in full"
    if len(quick) > 1:
        how = "one run in full, the other with smaller simulations (`--quick`), which decide less"
    version = " and ".join(sorted({run["versions"]["deniable"] for run in runs}))
    return f"Version {version}, seed{'s' * (len(runs) > 1)} {seeds}: {how}."


def _rows(paper: Paper, runs: Sequence[Sequence[dict[str, Any]]]) -> list[list[str]]:
    rules = {f"{paper.name}-{claim.id}": claim.rule for claim in paper.claims}
    ours = {f"{paper.name}-{claim.id}": claim.ours for claim in paper.claims}
    rows = []
    for same in zip(*runs, strict=True):
        one, verdicts, rule = same[0], {run["verdict"] for run in same}, rules.get(same[0]["id"])
        if rule is None:
            continue
        verdict = together(verdicts)
        verdict += "" if one["rule"] == str(rule) else " (by an earlier rule)"
        meaning = one["note"] or "what was measured agrees with the paper"
        own = "Of our own: " if ours[one["id"]] else ""
        claim, found = f"{own}{one['claim']} (`{one['id']}`)", _deciding(rule, one["measured"] or {})
        rows.append([claim, one["where"], found, verdict, meaning, one["figure"] or "-"])
    return [[cell.replace("|", "\\|") for cell in row] for row in rows]


def _deciding(rule: Rule, measured: dict[str, Any], most: int = 3) -> str:
    """The numbers that decide, those that a star stands for as their range; the first ones if there are many."""
    told = []
    for quantity in dict.fromkeys(condition.quantity for condition in rule.conditions):
        pattern = re.compile(re.escape(quantity).replace(r"\*", "(.+)"))
        found = [x for name, x in measured.items() if pattern.fullmatch(name) and not name.endswith(", standard error")]
        ends = sorted({f"{x:.3g}": x for x in found if isinstance(x, int | float)}.items(), key=lambda end: end[1])
        if ends:
            shown = quantity.replace("*", "\\*")
            told.append(f"{shown}: {' to '.join(dict.fromkeys((ends[0][0], ends[-1][0])))}")
    return "; ".join(told[:most] + ([f"and {len(told) - most} more"] if len(told) > most else [])) or "-"


def spark() -> str:
    """Core-hours and gigabytes for many reports, from the rates of `benchmarks/spark.py --json` in spark.json."""
    found = json.loads((DATA / "spark.json").read_text("utf-8"))
    heads = ("reports of", "read", "bytes each", "million a second, two cores", *(f"10^{e}" for e in _POWERS))
    return table(heads, list(_sizes(found["rows"])), right=2)


def attacks() -> str:
    """What attackers cost a collector before and after they were reckoned with, from `benchmarks/attacks.py --keep`."""
    found = json.loads((DATA / "attacks.json").read_text("utf-8"))
    before = {row["attack"]: row for row in found["before"]["rows"]}
    heads = ("attack", "sent", "processor s", "memory MiB", "disk MiB", "honest p99, ms", "honest refused")
    rows = []
    for row in found["after"]["rows"]:
        old = before[row["attack"]]
        cells = [
            f"{old[name]:,g} → {row[name]:,g}" if old[name] != row[name] else f"{row[name]:,g}"
            for name in ("cpu_s", "peak_mib", "disk_mib", "p99_ms")
        ]
        refused = " → ".join(f"{each['refused']} of {each['honest']}" for each in (old, row))
        rows.append([row["what"].rstrip("."), _bytes(row["sent_kib"]), *cells, refused])
    return table(heads, rows, right=1)


def _bytes(kib: float) -> str:
    return f"{kib / 1024:,.1f} MB" if kib >= 1024 else f"{kib:,.0f} kB"


_POWERS = (9, 11)
_READ = {"spark_files": "files, by executors", "spark_frame": "data frame"}


def _sizes(rows: Sequence[dict[str, Any]]) -> Iterator[list[str]]:
    for row in rows:
        for key, how in _READ.items():
            rate, width = row["reports"] / row[key], row["bytes"] / row["reports"]
            costs = [_cost(10**e / rate * 2 / 3600, 10**e * width / 1e9) for e in _POWERS]
            yield [row["work"], how, f"{width:.3g}", f"{rate / 1e6:.3g}", *costs]


def _cost(hours: float, gigabytes: float) -> str:
    return f"{hours:.2g} core-hours, {gigabytes:,.3g} GB"


# ---- speed and memory, from `bin/bench`


def _figures() -> dict[str, str]:
    """The machine and its limits."""
    return {row["what"]: row["value"] for row in read_csv("machine")}


def peers() -> str:
    """One row per work: ours, each library, and the ratio to the faster one."""
    works: dict[str, dict[str, dict[str, str]]] = {}
    for row in read_csv("peers"):
        works.setdefault(row["work"], {})[row["peer"]] = row
    libraries = ["multi-freq-ldpy", "pure-ldp"]
    rows = []
    for work, found in works.items():
        least = min(found.values(), key=lambda row: float(row["ratio"]))
        theirs = [_number(found[name]["theirs"]) if name in found else "–" for name in libraries]
        share = f"{float(least['limit_share']):.0%} ({least['limit']})" if least["limit_share"] else ""
        rows.append([work, _number(least["ours"]), *theirs, f"{float(least['ratio']):,.0f}", share])
    return table(["work", "ns per user", *libraries, "times faster", "share of the machine's limit"], rows, 1)


def _number(text: str) -> str:
    """Three digits or so."""
    value = float(text)
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 1 else f"{value:.2f}"


def limits() -> str:
    """The machine's limits as rates."""
    found = _figures()
    names = {"copy": "memory copy", "read": "memory read", "cipher": "AES-256 stream (secure randomness)"}
    rows = [[name, f"{1 / float(found[f'{key}_ns']):.1f} GB/s"] for key, name in names.items()]
    rows.append(["random bits of any probability, from that stream", f"{_number(found['random_bit_ns'])} ns per bit"])
    rows.append(["hash values", f"{float(found['hash_ns']):.3f} ns each"])
    return table(["limit, on all cores", "measured"], rows, 1)


def machine() -> str:
    """What the figures were measured on."""
    found = _figures()
    return (
        f"Measured on {found['cores']} cores of an x86-64 machine (instructions: {found['instructions']}),\n"
        f"load {found['load']} before the run{_other_load(found['load'])}."
    )


def _other_load(usual: str) -> str:
    """The load before the rows of `affine`, where these are from a run of their own."""
    (load,) = {row["load"] for row in read_csv("peers") if row["work"].startswith("affine")}
    return "" if load == usual else f" ({load} before that of the rows of `affine`)"


def growth() -> str:
    """Exponents and peak memory."""
    rows = [
        [
            row["mechanism"],
            {"n": "reports", "k": "answers"}[row["varied"]],
            f"{row['from']:,} to {row['to']:,}",
            f"{row['exponent']:.2f}",
            f"{row['peak_mib']:.0f} MiB",
        ]
        for row in import_module("growth").exponents(read_csv("growth"))
    ]
    return table(["mechanism", "varied", "range", "exponent of time", "peak memory"], rows, 2)


def largest() -> str:
    """The largest cases, in words."""
    rows = [row for row in read_csv("growth") if row["varied"] == "n"]
    top = {row["mechanism"]: row for row in rows}
    lines = [
        f"- {int(row['n']):,} {name} reports made in {float(row['privatize']):.1f} s and counted in "
        f"{float(row['tally']):.1f} s, within {float(row['peak_mib']):.0f} MiB"
        for name, row in top.items()
    ]
    return "\n".join(lines)


# ---- studies, each shown as its script in benchmarks/ does


def _shown(script: str, data: str, show: str = "render") -> Callable[[], str]:
    return lambda: str(getattr(import_module(script), show)(read_csv(data)))


STUDIES: dict[str, Callable[[], str]] = {
    "costs": _shown("costs", "costs"),
    "estimators": _shown("estimators", "estimators"),
    "intervals": _shown("intervals", "coverage"),
    "learning": _shown("learning", "learning"),
    "numeric-grids": _shown("numeric", "numeric-grids", "render_grids"),
    "numeric-speed": _shown("numeric", "numeric-speed", "render_speed"),
    "numeric-study": _shown("numeric", "numeric", "render_study"),
    "places": _shown("places", "places"),
}
"""Parts by name."""
