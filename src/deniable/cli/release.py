"""The command that reads near answers back as values."""

from __future__ import annotations

from typing import Annotated, Any

from deniable.cli.options import argument, option
from deniable.cli.output import Output
from deniable.cli.pipeline import Force
from deniable.run.files import named
from deniable.run.layout import STANDARD
from deniable.run.release import read_released, release_files
from deniable.run.results import check_table

__all__ = ["release"]


def release(
    files: Annotated[list[str], argument("REPORTS...", "Report files of one design; - for standard input.")],
    out: Output,
    target: Annotated[
        str | None, option("--out", "FILE", "The .csv file to write; standard output if left out.")
    ] = None,
    remap: Annotated[
        bool, option("--remap", None, "Take each report for the answer that is nearest on average: costs no privacy.")
    ] = False,
    force: Force = False,
) -> None:
    """Read near answers back as values, one for each report.

    For mechanisms whose single reports are near their values (brr, codebook, exponential, laplace, geometric, lsrr).
    The values are numbers, labels or places, in the order of the reports; each is noisy, and deniable. --json without
    --out lists them.

    Example: deniable release near.bin --out near.csv
    """
    listed = out.as_json and target is None
    place = target or STANDARD
    if not listed:
        out.claim(place, sources=files, force=force)
        check_table(place, (".csv",))
    out.note(f"reading {', '.join(map(named, files))}")
    values: list[Any] = []
    with out.progress("reading") as progress:
        if listed:
            marks: list[bool] = []

            def add(block: list[Any], mark: bool) -> None:
                values.extend(block)
                marks.append(mark)

            m = read_released(files, add, remap=remap, progress=progress)
            n, simulated = len(values), any(marks)
        else:
            m, n, simulated = release_files(files, place, remap=remap, progress=progress)
    if not listed:
        out.note(f"wrote {n:,} values{', SIMULATED,' * simulated} to {'standard output' if target is None else place}")
    if out.as_json:
        facts = {"mechanism": m.name, "epsilon": m.epsilon, "n": n, "simulated": simulated, "remapped": remap}
        out.show(facts | ({"values": values} if listed else {"out": target}))
