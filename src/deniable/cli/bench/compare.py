"""`deniable compare`: designs side by side."""

from __future__ import annotations

from typing import Annotated, Any

from deniable.cli.options import DOMAIN, FILES, Given, argument, option, read_domain
from deniable.cli.output import Output
from deniable.cli.pipeline import Force
from deniable.errors import ParameterError, require
from deniable.mechanisms.base import Mechanism
from deniable.mechanisms.registry import MECHANISMS, PROTOCOLS, entry_of, mechanism
from deniable.mechanisms.spaces import SPACE
from deniable.plan.prediction import FORGED
from deniable.run.given.designs import is_file, read_designs
from deniable.run.given.named import read_named
from deniable.run.results import check_chart
from deniable.run.sweep.compare import compared

__all__ = ["compare"]


def compare(
    names: Annotated[
        list[str],
        argument(
            "DESIGN...",
            "Names, with options behind a colon as in ss:epsilon=2,size=3; or files: a design, a task, a .csv matrix.",
            [*MECHANISMS],
        ),
    ],
    given: Given,
    out: Output,
    epsilon: Annotated[
        float | None, option("--epsilon", "E", "The promise of those that have none of their own.")
    ] = None,
    n: Annotated[int, option("--n", "N", "Reports, for the errors.")] = 10_000,
    chart: Annotated[
        str | None, option("--chart", "FILE", "Draw error against the best guess: .pdf, .svg, .png, .html or .json.")
    ] = None,
    force: Force = False,
) -> None:
    """Set designs side by side: promise, error, bytes, best guess, forged reports, gap.

    Errors are closed forms for N reports; the gap is how far an error is above the least that any design with the same
    promise can have. What is not known is said so.

    Example: deniable compare grr ss oue design.json --epsilon 1 --k 16
    """
    out.claim(chart, "chart", force=force)
    if chart is not None:
        check_chart(chart)
    require(n >= 1, "n", n, "an integer >= 1")
    designs: list[tuple[str, Mechanism]] = []
    for name in names:
        designs += _from_file(name) if is_file(name.partition(":")[0]) else [(name, _named(name, epsilon, given))]
    found = compared(designs, n)
    if chart is not None:
        from deniable.present.charts import save

        save(found.chart(), chart)
        out.note(f"drew {chart}")
    meaning = (
        f"For {n:,} reports. Forged: what {100 * FORGED:g} % of forged reports can add to one estimate at most. "
        "Gap: how far the squared error is above the least possible."
    )
    out.show(found.document(), found.table(), meaning, *found.promises())


def _from_file(source: str) -> list[tuple[str, Mechanism]]:
    """The designs of a file, by its name and those of a task's questions."""
    made = read_designs(source)
    return [(source if len(made) == 1 else f"{source}: {name}", m) for name, m in made]


def _named(text: str, epsilon: float | None, given: Given) -> Mechanism:
    name, options = read_named(text)
    if name in PROTOCOLS:
        raise ParameterError(f"{name} is a protocol of several steps: its parts are compared by `deniable study`.")
    own: dict[str, Any] = {key: FILES[key](value) if key in FILES else value for key, value in options.items()}
    entry = entry_of(name)
    if "epsilon" not in own and epsilon is not None:
        own["epsilon"] = epsilon
    hint = "Give --epsilon for all, or epsilon=1 behind the colon of one."
    require("epsilon" in own or entry.default_epsilon is not None, "epsilon", None, f"given for {text}", hint)
    placed = entry.brings or any(key in SPACE or key == "sizes" for key in own)
    if "k" not in own and not placed:
        own["domain"] = read_domain(given) if any(key in given for key in DOMAIN) else None
        require(
            own["domain"] is not None, "k", None, f"given for {text}", "Give --k or --labels, or k=16 behind the colon."
        )
    return mechanism(name, **own)
