"""`deniable conformance`: a client in another language against the vectors."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from deniable.cli.options import argument, option, split
from deniable.cli.output import Output
from deniable.errors import require
from deniable.present.tables import Column, Table
from deniable.testing.clients import SETS, ask_all, kinds_of, questions_of, vectors_in

__all__ = ["conformance"]


def conformance(
    command: Annotated[
        str, argument("COMMAND", "What starts the client, in quotes: it reads questions, a JSON object a line.")
    ],
    out: Output,
    vectors: Annotated[
        str, option("--vectors", "DIR", "Folder with the test vectors, clients/vectors of the source tree.")
    ] = "clients/vectors",
    only: Annotated[
        str | None,
        option("--only", "SET,...", "Only these sets of questions, in the order of a client's making.", tuple(SETS)),
    ] = None,
    kernels: Annotated[
        str | None,
        option("--kernels", "KIND,...", "Of questions about kernels only those about these kinds, such as response."),
    ] = None,
    seconds: Annotated[float, option("--seconds", "S", "How long one answer may take.")] = 60.0,
) -> int:
    """Check a client in any language against the test vectors.

    The program COMMAND answers every question on standard input with a line on standard output; what is asked and in
    which order to build a client is on the page howto/conformance.md. The exit code is 1 if an answer is wrong or
    missing.

    Example: deniable conformance "node clients/js/conformance.js"
    """
    names = split(only) if only is not None else list(SETS)
    for name in names:
        require(name in SETS, "only", name, f"one or more of {', '.join(SETS)}")
    require(0 < seconds <= 3600, "seconds", seconds, "a number above 0, at most 3600")
    files = vectors_in(Path(vectors))
    kinds = split(kernels) if kernels is not None else []
    if kinds:
        known = sorted({kind for name in SETS for each in questions_of(files, name) for kind in kinds_of(each)})
        for kind in kinds:
            require(kind in known, "kernels", kind, f"one or more of {', '.join(known)}")
    asked = 0
    with out.progress("asking") as progress:

        def shown(name: str, number: int) -> None:
            nonlocal asked
            asked += 1
            progress(asked, None)

        found = list(ask_all(command, files, names, kinds=kinds, seconds=seconds, shown=shown))
    rows = [
        [told.name, f"{told.asked:,}", f"{told.right:,}", f"{told.unsupported:,}", _verdict(told.right, told.asked)]
        for told in found
    ]
    holds = all(told.holds for told in found)
    counts = (Column(name, right=True) for name in ("asked", "right", "not there"))
    table = Table((Column("set"), *counts, Column("")), rows)
    wrong = [f"{told.name}: {line}" for told in found for line in told.wrong]
    missing = [told.name for told in found if told.unsupported]
    told_missing = [f"Not there (answered unsupported): {', '.join(missing)}."] if missing else []
    verdict = "The client keeps to the vectors." if holds else "The client does not keep to the vectors."
    document = {
        "holds": holds,
        "sets": {
            told.name: {"asked": told.asked, "right": told.right, "unsupported": told.unsupported, "wrong": told.wrong}
            for told in found
        },
    }
    out.show(document, table, *wrong, *told_missing, verdict)
    return 0 if holds else 1


def _verdict(right: int, asked: int) -> str:
    return "held" if 0 < asked == right else "not held"
