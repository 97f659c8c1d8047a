"""Writes the measured parts of docs/performance.md, and its charts, from the results in docs/data.

    python benchmarks/report.py            write them
    python benchmarks/report.py --check    only look; exit code 1 if the page is not up to date

A measured part stands between `<!-- measured: NAME -->` and `<!-- end measured -->`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from typing import Any

from growth import exponents
from measure import DATA, read_csv

PAGE = DATA.parent / "performance.md"
_PART = re.compile(r"(<!-- measured: (\w+) -->\n).*?(<!-- end measured -->)", re.DOTALL)


def table(head: list[str], rows: list[list[str]], right: int) -> str:
    """A Markdown table; columns from number `right` on are flush right."""
    line = ["---"] * right + ["---:"] * (len(head) - right)
    return "".join("| " + " | ".join(row) + " |\n" for row in [head, line, *rows])


def figures() -> dict[str, str]:
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
        theirs = [number(found[name]["theirs"]) if name in found else "–" for name in libraries]
        share = f"{float(least['limit_share']):.0%} ({least['limit']})" if least["limit_share"] else ""
        rows.append([work, number(least["ours"]), *theirs, f"{float(least['ratio']):,.0f}", share])
    return table(["work", "ns per user", *libraries, "times faster", "share of the machine's limit"], rows, 1)


def number(text: str) -> str:
    """Three digits or so."""
    value = float(text)
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 1 else f"{value:.2f}"


def limits() -> str:
    """The machine's limits as rates."""
    found = figures()
    names = {"copy": "memory copy", "read": "memory read", "cipher": "AES-256 stream (secure randomness)"}
    rows = [[name, f"{1 / float(found[f'{key}_ns']):.1f} GB/s"] for key, name in names.items()]
    rows.append(["random bits of any probability, from that stream", f"{number(found['random_bit_ns'])} ns per bit"])
    rows.append(["hash values", f"{float(found['hash_ns']):.3f} ns each"])
    return table(["limit, on all cores", "measured"], rows, 1)


def machine() -> str:
    """What the figures were measured on."""
    found = figures()
    return (
        f"Measured on {found['cores']} cores of an x86-64 machine (instructions: {found['instructions']}), "
        f"load {found['load']} before the run.\n"
    )


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
        for row in exponents(read_csv("growth"))
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
    return "\n".join(lines) + "\n"


PARTS: dict[str, Callable[[], str]] = {
    "machine": machine,
    "peers": peers,
    "limits": limits,
    "growth": growth,
    "largest": largest,
}


def fresh(text: str) -> str:
    """The page with its measured parts written anew."""
    return _PART.sub(lambda part: part[1] + PARTS[part[2]]() + part[3], text)


def charts() -> Iterator[tuple[str, Any]]:
    """The charts of the page, by name."""
    from deniable.present.charts import line_chart

    rows = read_csv("growth")
    for varied, title, x_title in (
        ("n", "Time to make and count reports, k = 1,000", "reports"),
        ("k", "Time per report over the number of answers", "answers k"),
    ):
        unit, per = ("seconds", 1.0) if varied == "n" else ("ns per report", 1e9)
        points = [
            {
                "mechanism": row["mechanism"],
                varied: float(row[varied]),
                unit: per * float(row["seconds"]) / (1 if varied == "n" else float(row["n"])),
            }
            for row in rows
            if row["varied"] == varied
        ]
        chart = line_chart(
            points,
            x=varied,
            y=unit,
            series="mechanism",
            title=title,
            subtitle=f"epsilon 1, secure randomness, {figures()['cores']} cores",
            log_x=True,
            log_y=True,
            x_title=x_title,
        )
        yield f"growth-{varied}", chart


def main() -> None:
    """Write the page and the charts, or check the page."""
    text = PAGE.read_text()
    if "--check" in sys.argv[1:]:
        if fresh(text) != text:
            sys.exit(f"{PAGE.name} is not up to date; run: python benchmarks/report.py")
        return
    PAGE.write_text(fresh(text))
    sys.path.append(str(DATA.parent))
    from make_pictures import squeezed

    from deniable.present.charts import save

    for name, chart in charts():
        picture = save(chart, DATA / f"{name}.png")
        picture.write_bytes(squeezed(picture.read_bytes()))


if __name__ == "__main__":
    main()
