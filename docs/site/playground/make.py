"""The playground: one page, one style, one script, made of the client's own modules and of designs with exact integers.

The page works from a file and under a policy that allows nothing but its own files: module scripts, workers and
requests do neither, so all modules are put into one plain script by the bundler of the collector's pages.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from pathlib import Path
from typing import Any

import deniable as dn
from deniable.mechanisms.registry import MECHANISMS
from deniable.service.pages.assets import client
from deniable.service.pages.bundle import classic

HERE = Path(__file__).resolve().parent
ENTRY = "main.js"
SCRIPT = "playground.js"
CHOICES = ("ss", "grr", "oue", "olh")
ANSWERS = (2, 8)
EPSILONS = (*(step / 4 for step in range(1, 13)), *(step / 2 for step in range(7, 13)))
"""Steps of the slider: quarters up to 3, halves up to 6."""


def table() -> dict[str, Any]:
    """Every design that the page offers, with the chances that its integers have."""
    return {
        "epsilons": EPSILONS,
        "least": ANSWERS[0],
        "most": ANSWERS[1],
        "mechanisms": {
            name: {
                "title": MECHANISMS[name].summary,
                "version": dn.mechanism(name, epsilon=1.0, k=2).version,
                "rows": {k: [row(name, epsilon, k) for epsilon in EPSILONS] for k in range(ANSWERS[0], ANSWERS[1] + 1)},
            }
            for name in CHOICES
        },
    }


def row(name: str, epsilon: float, k: int) -> dict[str, Any]:
    """A design's integers, how often its reports support an answer, and how often the best guess is right."""
    made = dn.mechanism(name, epsilon=epsilon, k=k)
    design, support = made.design, made.support_effective
    return {
        "params": design["params"],
        "kernel": design["kernel"],
        "p": support.p,
        "q": support.q,
        "guess": made.guess().success,
    }


def sources() -> dict[str, str]:
    """All modules by their names: the page's own, the client's, and the table."""
    own = {path.name: path.read_text("utf-8") for path in sorted(HERE.glob("*.js"))}
    return own | client() | {"table.js": f"export const TABLE = {json.dumps(table(), separators=(',', ':'))};\n"}


def make(out: Path) -> None:
    """Write the page, its style, its script and its sign."""
    out.mkdir(parents=True, exist_ok=True)
    for name in ("index.html", "playground.css"):
        shutil.copy(HERE / name, out / name)
    shutil.copy(HERE.parent / "static" / "mark.svg", out / "mark.svg")
    (out / SCRIPT).write_text(classic(ENTRY, sources()), "utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="folder for the page and its files")
    make(parser.parse_args().out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
