"""Verdicts of two runs beside each other: the same claims, other draws."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from deniable.errors import FormatError, require
from deniable.papers.rules import VERDICTS

__all__ = ["APART", "SAME", "beside", "read_run", "together"]

SAME, APART = "the same", "not decided"
_MOST = 50_000_000
"""Bytes of a file of claims, at most."""


def together(verdicts: Iterable[str]) -> str:
    """The verdict of several runs: theirs where they agree; else nothing is decided, and it says between which.

    >>> together(["corrected", "corrected"]), together(["reproduced", "not tested"])
    ('corrected', 'not decided (not tested or reproduced by seed)')
    """
    seen = sorted(set(verdicts))
    return seen[0] if len(seen) == 1 else f"{APART} ({' or '.join(seen)} by seed)"


def read_run(folder: Path, papers: Sequence[str]) -> list[dict[str, Any]]:
    """The claims of an earlier run, as `reproduce` wrote them below `folder`; what is not such a file is refused."""
    found: list[dict[str, Any]] = []
    for paper in papers:
        file = folder / paper / "claims.json"
        need = f"a folder that `deniable reproduce` wrote: with {paper}/claims.json"
        require(file.is_file() and file.stat().st_size <= _MOST, "against", str(folder), need)
        try:
            records = json.loads(file.read_text("utf-8"))
        except ValueError as error:
            raise FormatError(f"{file} is not JSON: {error}.", "Run that paper again.") from error
        ok = isinstance(records, list) and all(_is_claim(record) for record in records)
        require(ok, "against", str(file), "a list of claims with id, verdict and rule, as `reproduce` writes it")
        found += records
    return found


def _is_claim(record: object) -> bool:
    if not isinstance(record, Mapping):
        return False
    texts = all(isinstance(record.get(name), str) for name in ("id", "verdict", "rule"))
    return texts and record["verdict"] in VERDICTS


def beside(claims: Sequence[Mapping[str, Any]], other: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """A row for each claim: its verdict here and in the other run, and what they say together.

    A claim that the other run lacks, or decided by another rule, is not compared.
    """
    known = {record["id"]: record for record in other}
    rows = []
    for claim in claims:
        theirs = known.get(claim["id"])
        if theirs is None:
            told, verdict = "not in the other run", ""
        elif theirs["rule"] != claim["rule"]:
            told, verdict = "by another rule there", theirs["verdict"]
        else:
            verdict = theirs["verdict"]
            told = SAME if verdict == claim["verdict"] else APART
        rows.append({"id": claim["id"], "verdict": claim["verdict"], "other": verdict, "together": told})
    return rows
