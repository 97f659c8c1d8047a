"""A study of mean directions by simulation: known directions are privatised, averaged, compared with the truth."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from deniable.core.circle import Circle
from deniable.mechanisms.numeric.arc import Direction
from deniable.randomness import simulation
from deniable.run.files import Progress
from deniable.run.layout import FORMATS, Layout
from deniable.run.results import Shown
from deniable.run.studies.frequency import tally_population
from deniable.run.studies.people import at_points, check_source
from deniable.run.studies.study import Study, against, averaged, check_study, repeated

__all__ = ["simulate_direction"]


def simulate_direction(
    data: str,
    make: Callable[[], Direction],
    *,
    n: int | None = None,
    runs: int = 20,
    seed: int = 0,
    level: float = 0.95,
    column: str | None = None,
    format: str | Layout = FORMATS[0],
    progress: Progress | None = None,
    only: range | None = None,
) -> Study:
    """Estimate a mean direction `runs` times. `make` gives the mechanism, which brings its circle.

    `data` is a column of a file, or a population as in `deniable.datasets.resolve`. Errors are the shorter way around;
    the predicted one is what many reports have (docs/maths/mean-optimum.md, section 8).
    """
    check_study(runs, level, n)
    m, root, layout = make(), simulation(seed), Layout.of(format)
    check_source(data, column, layout)
    people = at_points(data, m.circle, n, column, layout, root.spawn(1)[0])
    cos, sin = people.frequencies @ m.circle.coordinates()
    truth = m.circle.turned(float(m.circle.at(math.atan2(sin, cos) / (2 * math.pi) * m.k)))
    found = repeated(lambda rng: m.estimate(tally_population(m, people, rng)), root, runs, progress, only)
    errors = np.array([_apart(m.circle, e.value[0] - truth) for e in found])
    covered = np.array([float(_covers(m.circle, e.interval(level), truth)) for e in found])
    predicted = m.across(people.frequencies) / people.n / (cos * cos + sin * sin) if math.hypot(cos, sin) else None
    unit = ((m.circle.high - m.circle.low) / (2 * math.pi)) ** 2
    measured = {
        "interval": [m.circle.low, m.circle.high],
        "truth": truth,
        "resultant": math.hypot(cos, sin),
        **averaged("bias", errors),
        **against("mse", errors**2, None if predicted is None else predicted * unit),
        "level": level,
        **averaged("coverage", covered),
    }
    shown = tuple(Shown.of(e, level=level, truth=np.array([truth])) for e in found)
    return Study(made=m, data=people.name, n=people.n, seed=seed, runs=len(found), measured=measured, shown=shown)


def _apart(circle: Circle, off: float) -> float:
    """A difference of directions by the shorter way around."""
    period = circle.high - circle.low
    return (off + period / 2) % period - period / 2


def _covers(circle: Circle, ends: object, truth: float) -> bool:
    """Whether an interval around the circle holds a direction, on any turn."""
    low, high = (float(np.asarray(getattr(ends, name))[0]) for name in ("low", "high"))
    period = circle.high - circle.low
    return high - low >= period or (truth - low) % period <= high - low
