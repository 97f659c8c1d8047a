"""`deniable study`: several mechanisms at several budgets, in one go."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from deniable.cli.options import DOMAIN, FILES, Given, argument, option, read_domain, split
from deniable.cli.output import Output
from deniable.cli.pipeline import Force
from deniable.datasets.synthetic import KINDS
from deniable.datasets.tables import NAMES
from deniable.errors import ParameterError, require
from deniable.mechanisms.registry import MECHANISMS, PROTOCOLS
from deniable.run.files import named, open_output
from deniable.run.given.named import read_named
from deniable.run.results import check_chart, check_table
from deniable.run.sweep.metrics import METRICS
from deniable.run.sweep.study import study as sweep

__all__ = ["study"]


def study(
    names: Annotated[
        list[str],
        argument(
            "NAME...", "Mechanisms; options of one stand behind a colon, as in ue:p=0.4.", [*MECHANISMS, *PROTOCOLS]
        ),
    ],
    given: Given,
    out: Output,
    epsilons: Annotated[str, option("--epsilons", "E1,E2,...", "The budgets, separated by commas.")] = "0.5,1,2,4",
    data: Annotated[
        str,
        option(
            "--data",
            "NAME",
            "adult-age, adult-education, adult-country, bank-job; uniform, zipf[:s], normal[:s], dirichlet[:a]; "
            "or a file of values as `simulate` takes it.",
            (*NAMES, *KINDS),
        ),
    ] = "zipf",
    n: Annotated[int | None, option("--n", "N", "People; all of a table, 10,000 if made up.")] = None,
    metrics: Annotated[
        str | None,
        option(
            "--metrics",
            "M1,M2,...",
            f"{', '.join(METRICS)}; ndcg:10 for the 10 most frequent answers. mse if left out (loss for near answers).",
            tuple(METRICS),
        ),
    ] = None,
    runs: Annotated[int, option("--runs", "R", "How often each collection is repeated.")] = 20,
    seed: Annotated[int, option("--seed", "S", "Seed of the simulation: every run is that of `simulate`.")] = 0,
    resume: Annotated[
        str | None,
        option("--resume", "FILE", "Keep what is done here; asked for again, the study goes on from there."),
    ] = None,
    workers: Annotated[int | None, option("--workers", "W", "Processes; one for each core if left out.")] = None,
    chart: Annotated[
        str | None, option("--chart", "FILE", "Draw it, a panel per metric: .pdf, .svg, .png, .html or .json.")
    ] = None,
    save: Annotated[
        str | None, option("--out", "FILE", "Write a table: .csv, .tex (for papers), or .json; - for CSV.")
    ] = None,
    every: Annotated[bool, option("--every", None, "Write every run to --out instead of means (.csv).")] = False,
    force: Force = False,
) -> None:
    """Measure several mechanisms at several budgets, beside their closed forms.

    All combinations on one known population, in parallel, each run the same as that of `simulate` with this seed. What
    is measured comes with its standard error over the runs. A study that is stopped goes on with --resume.

    Example: deniable study grr ss oue olh --epsilons 0.5,1,2,4 --k 100 --n 100000 --chart study.pdf
    """
    for name, file in (("out", save), ("chart", chart)):
        out.claim(file, name, sources=[data, resume], force=force)
    kind = "" if save is None else check_table(save, [".csv", ".tex", ".json"])
    require(not every or kind == ".csv", "every", every, "given together with --out FILE.csv")
    if chart is not None:
        check_chart(chart)
    domain = read_domain(given) if any(name in given for name in DOMAIN) else None
    budgets = [_budget(text) for text in split(epsilons, "epsilons")]
    asked: dict[str, Any] = {"data": data, "n": n, "runs": runs, "seed": seed, "workers": workers}
    listed = None if metrics is None else split(metrics, "metrics")
    many = f"{len(names)} mechanism{'s' * (len(names) != 1)} at {len(budgets)} budget{'s' * (len(budgets) != 1)}"
    told = f"measuring {many} on {named(data)}, {runs:,} run{'s' * (runs != 1)} each, seed {seed}"
    with out.progress("measuring", told) as progress:
        found = sweep(
            {text: _read(text) for text in names},
            budgets,
            domain=domain,
            metrics=listed,
            resume=resume,
            progress=progress,
            **asked,
        )
    if save is not None:
        if kind == ".json":
            import json

            with open_output(save) as target:
                target.write((json.dumps(found.document(), indent=1, allow_nan=False) + "\n").encode())
        elif kind == ".tex":
            found.to_latex(save)
        else:
            found.to_csv(save, every=every)
        out.note(f"wrote {Path(save) if save != '-' else 'standard output'}")
    if chart is not None:
        found.plot(chart)
        out.note(f"drew {chart}")
    out.show(found.document(), found.table(), "± is the standard error over the runs; closed forms are exact.")


def _read(text: str) -> tuple[str, dict[str, Any]]:
    """A name with its options; those that are files are read."""
    name, options = read_named(text)
    return name, {key: FILES[key](value) if key in FILES else value for key, value in options.items()}


def _budget(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ParameterError(f"epsilons must be numbers, separated by commas, got {text!r}.") from None
