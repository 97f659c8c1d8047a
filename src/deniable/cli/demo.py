"""The demonstration."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from deniable.cli.options import option
from deniable.cli.output import Output
from deniable.cli.pipeline import Force
from deniable.present.tables import Table

__all__ = ["demo"]


def demo(
    out: Output,
    folder: Annotated[str, option("--out", "DIR", "Folder to write to.")] = "demo-output",
    seed: Annotated[int | None, option("--seed", "S", "SIMULATE with a seed: repeatable, hence NOT private.")] = None,
    force: Force = False,
) -> None:
    """The whole way in one go, told as a story.

    Choose, prove, report, add up, estimate, compare with the truth; files and charts go to a folder.
    """
    from deniable.run.demo import FILES, demonstrate

    for name in FILES:
        out.claim(str(Path(folder) / name), force=force)
    step = 0

    def tell(title: str, text: str, table: Table | None) -> None:
        nonlocal step
        step += 1
        out.tell(f"{step}. {title.upper()}", text, *([] if table is None else [table]))
        out.tell("")

    document = demonstrate(Path(folder), seed=seed, tell=tell)
    out.show(document, f"Everything is in {folder}: {', '.join(document['files'])}.")
