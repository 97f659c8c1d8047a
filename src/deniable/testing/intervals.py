"""What intervals and variances must be beside each other, for every part of every estimate, both targets, few and many.

Nothing here depends on luck: whatever was drawn, all of it must hold.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import replace

import numpy as np

from deniable.core.types import FloatArray, IntArray, Target
from deniable.errors import ParameterError
from deniable.estimate.result import Estimate
from deniable.mechanisms.base import Mechanism
from deniable.randomness import simulation

__all__ = ["check_intervals"]

_SIZES = (40, 4000)
"""People in a run: few, for whom intervals are exact, and many."""
_NEAR = 1e-9
"""What ends may differ by that are the same but for rounding, per unit of the part's own size."""
_CHANCE = 10.0
"""Over the root of n: what of a sample's variance is due to chance, at most."""
_TARGETS: tuple[Target, ...] = ("reporters", "population")


def check_intervals(m: Mechanism, *, seed: int = 0) -> str:
    """Every interval holds its value, widens with its level, and with many at once is that of the stricter level.

    The diagonal of a covariance is the variance; a population is known less well than those who reported; after a
    projection nothing is narrower than before, within [0, 1].
    """
    if "parts" in m.design:
        return "does not apply: each part has estimates of its own; check the parts"
    seen: dict[str, None] = {}
    for n in _SIZES:
        # the last answer is nobody's: its estimate is near the end of what can be
        items = np.arange(n) ** 2 % max(1, m.k - 1)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # of so few people; what is said must hold all the same
                estimate = m.estimate(m.tally(m.privatize_items(items, simulation(seed))))
        except ParameterError as error:
            return f"does not apply: {error}"
        for name in estimate.parts:
            one = estimate[name]
            for target in _TARGETS:
                _check_ends(one, target, f"{name}, {target}, {n} people")
                if n == _SIZES[-1]:
                    _check_width(one, target, f"{name}, {target}, {n} people")
            _check_targets(one, f"{name}, {n} people")
            seen[name] = None
        if "frequency" in seen and not estimate["frequency"]._part.several:
            _check_projected(estimate["frequency"], f"{n} people")
    return f"{' and '.join(seen)} of {' and '.join(map(str, _SIZES))} people"


def _check_ends(one: Estimate, target: Target, where: str) -> None:
    size, value = one.value.size, one.value
    usual, more = one.interval(0.9, target), one.interval(0.99, target)
    unit = _NEAR * float(np.max([np.abs(value).max(), np.abs(more.low).max(), np.abs(more.high).max()]))
    low, high = one.range or (0.0, 1.0)
    assert np.all(usual.low <= value + unit), f"an interval begins above its value ({where})"
    assert np.all(value <= usual.high + unit), f"an interval ends below its value ({where})"
    earlier, later = np.maximum(usual.low, low), np.minimum(usual.high, high)  # beyond, nobody asks
    assert np.all(more.low <= earlier + unit), f"an interval of a higher level begins later ({where})"
    assert np.all(later <= more.high + unit), f"an interval of a higher level ends earlier ({where})"
    together, strict = (
        one.interval(0.9, target, simultaneous=True),
        one.interval(1 - 0.1 / size, target),
    )
    same = _same(together.low, strict.low, unit) and _same(together.high, strict.high, unit)
    assert same, f"intervals that hold at once are not those of the level 1 - 0.1/{size} ({where})"
    assert together.simultaneous or size == 1, f"intervals that hold at once do not say so ({where})"
    assert (together.level, together.target) == (0.9, target), f"intervals tell another level or target ({where})"
    try:
        matrix = one.covariance(target)
    except ParameterError:  # not worked out, and said so
        return
    off = np.abs(np.diagonal(matrix) - one.variance(target)).max()
    assert off <= _NEAR * np.abs(matrix).max(), f"the diagonal of the covariance is not the variance ({where})"
    assert np.abs(matrix - matrix.T).max() <= _NEAR * np.abs(matrix).max(), f"the covariance is not symmetric ({where})"


def _check_width(one: Estimate, target: Target, where: str) -> None:
    """The level is heard: unless all is known, or nothing, a higher one takes more room."""
    usual, more = (ends.high - ends.low for ends in (one.interval(0.9, target), one.interval(0.99, target)))
    low, high = one.range or (0.0, 1.0)
    told = (usual > 0) & (usual < high - low)
    assert np.all((more > usual) | ~told), f"an interval of a higher level is no wider ({where})"


def _check_targets(one: Estimate, where: str) -> None:
    """Where an estimate is one that a population can have, drawing its people only adds to the error.

    Of means the two variances are estimated apart, each without bias, so that they may differ by chance: a little.
    """
    chance = _NEAR if one.range is None else _CHANCE / math.sqrt(one.n)
    own, all_people = (one.variance(target) for target in _TARGETS)
    low, high = one.range or (0.0, 1.0)
    inside = (one.value >= low) & (one.value <= high)
    assert np.all((all_people >= own * (1 - chance)) | ~inside), f"a population is known too well ({where})"


def _check_projected(one: Estimate, where: str) -> None:
    cut = one.project()
    for target in _TARGETS:
        before, after = one.interval(0.9, target), cut.interval(0.9, target)
        before = replace(before, low=np.clip(before.low, 0, 1), high=np.clip(before.high, 0, 1))
        assert np.all(after.low <= before.low), f"after projection an interval begins later ({target}, {where})"
        assert np.all(after.high >= before.high), f"after projection an interval ends earlier ({target}, {where})"
        held = (after.low <= cut.value) & (cut.value <= after.high)
        assert np.all(held), f"after projection an interval does not hold its value ({target}, {where})"


def _same(one: FloatArray | IntArray, two: FloatArray | IntArray, unit: float) -> bool:
    return bool(np.all(np.abs(one - two) <= unit))
