"""What estimates are on average and how they vary, for any mechanism: from the channel and the counter, to first order.

An estimate is a function of a tally. At the expected tally of many people it must be the truth, and one report more
moves it by what decides its covariance: its influence. For linear estimates that is exact, for quotients it is what a
large sample has. Needed is what each output of the channel adds to a tally, which its cells tell by their names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from deniable.collect.tally import Tally
from deniable.core.channel import Channel
from deniable.core.grid import Grid
from deniable.core.types import FloatArray, IntArray, Target
from deniable.errors import ParameterError
from deniable.estimate.result import Part
from deniable.mechanisms.base import Mechanism
from deniable.randomness import simulation

__all__ = ["check_moments"]

_PEOPLE = 1 << 46
"""Reports in the expected tally: its cells are whole numbers, so this many that rounding them does not count."""
_STEP = 1 << 16
"""One of so many reports is added to see an estimate move."""
_FORWARD = (-25 / 12, 4.0, -3.0, 4 / 3, -1 / 4)
"""The first derivative from five points, each a step further, with an error of the fourth order."""
_NEAR, _LEAST = 1e-6, 0.01
"""What of the largest variance, or of this least one, a stated variance may differ by."""
_TRUE = 1e-8
"""What of the largest true value the estimate at the expected tally may be off."""
_CELLS_OFF = 100
"""By so many reports all cells may be rounded together."""
_ABOVE = {"mean": 0.01, "interaction": 0.0}
"""How much too large a variance may be, where reports do not tell how unlike the values of people are."""
_DRAWN = 200
"""Reports that are counted one by one, to see that the outputs add to a tally what is taken from their names."""


@dataclass(frozen=True, slots=True, eq=False)
class Law:
    """The law of what one report adds to a tally: the distinct additions, and the chance of each given each input."""

    added: Mapping[str, IntArray]
    chances: FloatArray

    @property
    def strata(self) -> IntArray:
        """The stratum that each addition is counted in."""
        return np.asarray(self.added["n"].argmax(axis=1))


def check_moments(m: Mechanism, channels: list[Channel]) -> str:
    """Every part is unbiased at the expected tally, with the variances and covariances that it states."""
    unknown = [name for name in m.bulk.cells if name not in _CELLS]
    if unknown:
        return f"moments do not apply: what outputs add to {', '.join(unknown)} is not known"
    law = _law_of(m, channels)
    _check_counter(m, law)
    f = _population(m)
    try:
        parts = m.parts(_tally(m, _expected(law, f)))
    except ParameterError as error:
        return f"moments do not apply: {error}"
    told = []
    for name, part in parts.items():
        _check_truth(m, name, part, f)
        told += _check_spread(m, name, part, law, f)
    return f"all moments of {' and '.join(dict.fromkeys(told))}"


# ---- what a report adds to a tally


def _every(channel: Channel, items: range | list[int]) -> IntArray:
    held = channel.supported or ()
    return np.array([[i in own for i in items] for own in held], np.int64).reshape(len(held), len(items))


def _plain(channel: Channel, size: int) -> IntArray:
    """Support of the items that may not be disclosed, in their order."""
    return _every(channel, [x for x in range(channel.k) if x not in channel.harmless][:size])


def _told(channel: Channel, size: int) -> IntArray:
    """The harmless items that are disclosed, in their order."""
    return _every(channel, sorted(channel.harmless))


def _numbered(channel: Channel, size: int) -> IntArray:
    """The outputs that are counted one by one come first, those of each stratum in the same order."""
    strata, found = np.array(channel.strata or (0,) * len(channel.outputs)), np.zeros((len(channel.outputs), size))
    for stratum in set(strata.tolist()):
        own = [o for o in np.flatnonzero(strata == stratum).tolist() if o not in channel.disclosing][:size]
        found[own, np.arange(len(own))] = 1
    return found.astype(np.int64)


def _by_key(channel: Channel, size: int) -> IntArray:
    """Outputs are listed key by key."""
    return np.repeat(np.eye(size, dtype=np.int64), len(channel.outputs) // size, axis=0)


def _steps(channel: Channel, size: int) -> IntArray:
    """Outputs are all vectors of whole numbers between two ends, in their order."""
    wide = round(len(channel.outputs) ** (1 / size))
    return np.asarray(np.indices((wide,) * size).reshape(size, -1).T - wide // 2, np.int64)


_CELLS: Mapping[str, Callable[[Channel, int], IntArray]] = {
    "support": _plain,
    "disclosed": _told,
    "value": _numbered,
    "plus": lambda channel, size: _every(channel, range(size)),
    "minus": lambda channel, size: _every(channel, range(size, 2 * size)),
    "asked": _by_key,
    "sum": _steps,
}
"""What each output of a channel adds to a cell, by the name of the cell."""


def _law_of(m: Mechanism, channels: list[Channel]) -> Law:
    """The law over what is added; with several levels, that of somebody whose level is any of them."""
    first, strata = channels[0], len(m.bulk.strata)
    place = np.array(first.strata or (0,) * len(first.outputs))
    added = {"n": np.eye(strata, dtype=np.int64)[place]}
    for name, cell in m.bulk.cells.items():
        entries = _CELLS[name](first, cell.size)
        added[name] = np.zeros((len(place), strata, cell.size), np.int64)
        added[name][np.arange(len(place)), place] = entries
    rows = np.concatenate([cell.reshape(len(place), -1) for cell in added.values()], axis=1)
    _, kept, group = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    each = np.mean([channel.matrix() for channel in channels], axis=0)
    chances = np.zeros((each.shape[0], len(kept)))
    np.add.at(chances.T, group.reshape(-1), each.T)
    return Law({name: cell[kept] for name, cell in added.items()}, chances)


def _check_counter(m: Mechanism, law: Law) -> None:
    """What single reports add to a tally is what some output adds."""
    known = {_key({name: cell[i] for name, cell in law.added.items()}) for i in range(law.chances.shape[1])}
    columns = m.bulk.draw(np.arange(_DRAWN) % m.k, simulation(6))
    for i in range(_DRAWN):
        found = m.bulk.count({name: column[i : i + 1] for name, column in columns.items()})
        assert _key(found) in known, f"a report is counted as {dict(found)}, which no output of the channel adds"


def _key(cells: Mapping[str, IntArray]) -> bytes:
    return b"".join(np.asarray(cells[name], np.int64).tobytes() for name in sorted(cells))


# ---- populations, and what is estimated of them


def _population(m: Mechanism) -> FloatArray:
    """Falling shares of the inputs; of sets of pairs, of those that are not too large to be estimated without bias."""
    held = _held(m)
    most = m.params.get("length") if m.bulk.inputs != m.bulk.k else 1
    weight = np.where((held.sum(axis=1) > 0) & (held.sum(axis=1) <= most), np.arange(len(held), 0, -1.0), 0.0)
    return np.asarray(weight / weight.sum())


def _held(m: Mechanism) -> FloatArray:
    """Which items (or keys) somebody with each input of the channel has."""
    inputs, k = m.bulk.inputs, m.k
    if inputs == m.bulk.k:  # one value each; with a sign, in two rows of keys
        return np.tile(np.eye(k), (inputs // k, 1))
    return np.array([[x // 3**key % 3 > 0 for key in range(k)] for x in range(inputs)], np.float64)


def _check_truth(m: Mechanism, name: str, part: Part, f: FloatArray) -> None:
    held = _held(m) if m.bulk.stands_for is None else m.bulk.stands_for
    true = f @ held if name == "frequency" else None
    if name == "mean" and isinstance(m.domain, Grid):
        true = np.array([f @ m.domain.points])
    if name == "interaction":
        true = cast(Any, m).interaction_of(f)
    if true is None:
        return
    off, whole = np.abs(part.value - true).max(), np.sqrt(part.variance("population") * _PEOPLE).max() / _PEOPLE
    assert off <= _TRUE * np.abs(true).max() + _CELLS_OFF * whole, (
        f"{name} is estimated as {part.value} on average where {true} is true"
    )


# ---- how an estimate moves


def _expected(law: Law, f: FloatArray) -> dict[str, IntArray]:
    """The cells of so many people, in whole reports, so that cells that count the same reports agree."""
    people = np.rint(_PEOPLE * (f @ law.chances)).astype(np.int64)
    return {name: np.tensordot(people, cell, 1) for name, cell in law.added.items()}


def _tally(m: Mechanism, cells: Mapping[str, IntArray]) -> Tally:
    return Tally(m.design, m.bulk.strata, dict(cells), simulated=True)


def _influence(m: Mechanism, name: str, law: Law, f: FloatArray) -> FloatArray:
    """How fast the estimate moves as reports of each kind are added, per share of all reports."""
    at, share = _expected(law, f), f @ law.chances
    rare = np.array([share[law.strata == s].sum() for s in law.strata])
    moves = []
    for i, chance in enumerate(rare.tolist()):
        step = max(1, int(_PEOPLE // _STEP * chance))
        more = ({key: cell + j * step * law.added[key][i] for key, cell in at.items()} for j in range(len(_FORWARD)))
        points = [m.parts(_tally(m, cells))[name].value for cells in more]
        moves.append(sum(w * p for w, p in zip(_FORWARD, points, strict=True)) * (_PEOPLE / step))
    return np.array(moves)


def _check_spread(m: Mechanism, name: str, part: Part, law: Law, f: FloatArray) -> list[str]:
    """Variances and covariances for both targets, against those of one report's influence.

    A part that has one variance for both targets, since its reports do not tell them apart, must have the larger one.
    """
    moves = _influence(m, name, law, f)
    second = (f @ law.chances * moves.T) @ moves
    mean = law.chances @ moves
    targets: dict[Target, FloatArray] = {
        "reporters": second - (f * mean.T) @ mean,
        "population": second - np.outer(f @ mean, f @ mean),
    }
    if name in _ABOVE and np.array_equal(part.variance("reporters"), part.variance("population")):
        targets["reporters"] = targets["population"]
    told = [f"{name} (variances)"]
    for target, true in targets.items():
        above = _ABOVE.get(name, 0.0)
        _compare(f"{target}' variance of {name}", part.variance(target) * _PEOPLE, np.diag(true), above)
        try:
            stated = part.covariance(target) * _PEOPLE
        except ParameterError:  # not worked out, and said so
            continue
        _compare(f"{target}' covariance of {name}", stated, true, above)
        told = [name]
    return told


def _compare(what: str, stated: FloatArray, true: FloatArray, above: float) -> None:
    slack = _NEAR * max(_LEAST, np.abs(true).max())
    off = np.maximum(true - stated, stated - true - above * np.abs(true))
    at = np.unravel_index(int(off.argmax()), off.shape)
    assert off[at] <= slack, (
        f"{what} for {' and '.join(map(str, at))} is stated as {float(stated[at])!r} from one report, the channel has "
        f"{float(true[at])!r}"
    )
