"""Writes the stored files of mechanisms that have none yet: `python tests/golden/bytes.py NAME...` (all: no name).

Files are made from a seeded stream, once. A file that is there is never replaced: what was stored must stay readable,
so a new layout gets a new version number and files of its own. `bytes.json` records what is in them.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

import deniable as dn
from deniable.collect.reports import Reports
from deniable.collect.tally import Tally
from deniable.mechanisms.dealt.base import dealt

FOLDER = Path(__file__).parent
RECORD = FOLDER / "bytes.json"
PEOPLE, SEED, ANSWERS, EPSILON = 12, 2024, 10, 1.0
OPTIONS: dict[str, dict[str, Any]] = {"ue": {"p": 0.75}, "lh": {"g": 7}}
LABELS = dn.Domain.of(["never", "now and then", "öfter", "no answer", "other"], missing="no answer", other="other")


def cases() -> dict[str, dn.Mechanism]:
    """One design per registry row, other encodings of some, and one with labels."""
    made = {name: design(name) for name in dn.MECHANISMS if dn.MECHANISMS[name].kind == "mechanism"}
    made |= {
        f"{name}-cyclic": dn.mechanism(name, epsilon=EPSILON, k=ANSWERS, encoding="cyclic")
        for name in ("kv-ss2", "kv-ss")
    }
    made |= {"labels": dn.mechanism("grr", epsilon=EPSILON, domain=LABELS)}
    return made | {"dealt": dealt([made[name] for name in ("labels", "uss", "oue")], [1, 2, 3])}


def design(name: str) -> dn.Mechanism:
    """Ten answers where that is all that is needed, else the first small case of the row."""
    try:
        return dn.mechanism(name, epsilon=EPSILON, k=ANSWERS, **OPTIONS.get(name, {}))
    except dn.ParameterError:
        return dn.mechanism(name, **dn.MECHANISMS[name].small[0])


def content(what: Reports | Tally) -> dict[str, Any]:
    """What is in a file, in plain data."""
    common = {"design": json.loads(json.dumps(what.design)), "simulated": what.simulated}
    if isinstance(what, Tally):
        return common | {"cells": {name: cell.tolist() for name, cell in sorted(what.cells.items())}}
    return common | {"rows": [what.row(i).hex() for i in range(len(what))]}


def write(name: str, m: dn.Mechanism) -> None:
    """The two files of a mechanism, and their record; refused if one is there."""
    reports = m.privatize_items(np.arange(PEOPLE) % m.k, dn.simulation(SEED))
    record = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    for kind, what in (("reports", reports), ("tally", m.tally(reports))):
        path = FOLDER / f"{name}-v{m.version}.{kind}"
        if path.exists():
            raise SystemExit(f"{path.name} is there already; it must stay as it is. Nothing was written for {name}.")
        path.write_bytes(dn.dump(what))
        record[path.name] = content(what)
    RECORD.write_text(json.dumps(dict(sorted(record.items())), indent=1, ensure_ascii=False) + "\n")
    print(f"{name}: {len(dn.dump(reports))} bytes of reports")


if __name__ == "__main__":
    every = cases()
    chosen = sys.argv[1:] or [n for n, m in every.items() if not (FOLDER / f"{n}-v{m.version}.reports").exists()]
    for chosen_name in chosen:
        write(chosen_name, every[chosen_name])
