"""Levels for many people: each report by the bulk of its level, then the noisy level."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import permutations
from typing import Any, ClassVar, Self

import numpy as np

from deniable.collect.reports import Field
from deniable.core.channel import Channel
from deniable.core.types import BoolArray, Columns, FloatArray, IntArray
from deniable.estimate.methods import LEVELS, LEVELS_ALIKE
from deniable.kernels import loops
from deniable.kernels.sampling import respond
from deniable.mechanisms.bulk import Bulk, Cells, SupportBulk, check_outputs, refuse_values
from deniable.mechanisms.personal.em import LevelEvidence, Levelled, UtilityLevelEvidence
from deniable.mechanisms.personal.laws import LevelLaw
from deniable.mechanisms.personal.sensitive_laws import UtilityLevelLaw
from deniable.mechanisms.possible import Cell
from deniable.mechanisms.reader import Reader
from deniable.mechanisms.utility.bulk import UtilityBulk
from deniable.randomness import Stream
from deniable_client.exact import WORD, log_upper
from deniable_client.kernels import Kernel, promised_ratio
from deniable_client.kernels import Personal as PersonalKernel
from deniable_client.kernels.personal import disclosure
from deniable_client.kernels.utility import base_half
from deniable_client.packing import uint_width

__all__ = ["LevelBulk", "PersonalBulk", "SensitiveBulk", "log_masses"]


def _draw_response(kernel: Any, level: IntArray, rng: Stream, dtype: Any) -> Any:
    return respond(rng, level, kernel.k, kernel.keep, dtype)


def _draw_bit(kernel: Any, level: IntArray, rng: Stream, dtype: Any) -> Any:
    return (rng.draw(64, level.size) < np.array(kernel.chances, np.uint64)[level]).astype(dtype)


_DRAWN: Mapping[str, Callable[[Any, IntArray, Stream, Any], Any]] = {"response": _draw_response, "bit": _draw_bit}
"""How a channel reports levels, by the kind of its kernel."""


class LevelReader(Reader["LevelBulk"]):
    """Values and levels are fitted together; `level_evidence` has the likelihoods."""

    @property
    def traits(self) -> tuple[str, ...]:
        return (LEVELS, LEVELS_ALIKE) if self.bulk.alike else (LEVELS,)

    @property
    def sufficient(self) -> bool:
        return self.bulk.bases[0].reader.sufficient


@dataclass(frozen=True)
class LevelBulk(Bulk[PersonalKernel]):
    """One bulk of the data for each level, and a channel that hides the level.

    An item may come with the number of its person's level: level * k + item. Items alone are of the first level, the
    most protective one.
    """

    reads = LevelReader
    alike: ClassVar[bool] = False
    """Whether levels protect all answers alike."""
    data: tuple[Bulk[Any], ...]
    bases: tuple[SupportBulk[Any], ...]
    """What reports the items that are protected, at each level: the data, or what these are made of."""
    levels: tuple[float, ...]
    """What the levels promise: the names of the strata."""

    @classmethod
    def of(
        cls, data: Any, bases: tuple[SupportBulk[Any], ...], channel: tuple[Kernel, ...], levels: tuple[float, ...]
    ) -> Self:
        """From the bulks of each level, and the channel of the level report or none."""
        return cls(PersonalKernel(tuple(each.kernel for each in data), channel), data, bases, levels)

    @property
    def fields(self) -> tuple[Field, ...]:
        """See `Bulk.fields`: those of the data, and the noisy level."""
        told = [Field("level", "uint", uint_width(len(self.strata)))] if self.kernel.level else []
        return (*self.data[0].fields, *told)

    @property
    def strata(self) -> tuple[str, ...]:
        names = {"bit": ("bit 0", "bit 1"), "response": tuple(f"reported {level:g}" for level in self.levels)}
        return next((names[kernel.kind] for kernel in self.kernel.level), ("all",))

    def perturb(self, items: IntArray, rng: Stream) -> Columns:
        level, item = np.divmod(items, self.k)
        return self.perturb_levels(item, level, rng)

    def perturb_levels(self, items: IntArray, levels: IntArray, rng: Stream) -> Columns:
        """Reports for items 0..k-1 of people at the levels of these numbers."""
        columns: Columns = {f.name: np.empty(f.shape(items.size), f.dtype) for f in self.fields}
        for i, bulk in enumerate(self.data):
            mine = np.flatnonzero(levels == i)
            if mine.size:
                for name, column in bulk.perturb(items[mine], rng).items():
                    columns[name][mine] = column
        for kernel in self.kernel.level:
            columns["level"] = _DRAWN[kernel.kind](kernel, levels, rng, self.fields[-1].dtype)
        return columns

    def told(self, columns: Columns) -> IntArray:
        """The numbers of the reported levels, which are those of the strata."""
        if not self.kernel.level:
            return np.zeros(len(next(iter(columns.values()))), np.int64)
        refuse_values(columns["level"], len(self.strata), "level")
        return columns["level"].astype(np.int64)

    @property
    def cells(self) -> Mapping[str, Cell]:
        return self.data[0].cells

    def check(self, cells: Cells) -> None:
        """See `Bulk.check`: reports of each level are reports of the data."""
        super().check(cells)
        for i in range(len(self.strata)):
            self.data[0].check(self.unfolded({name: cell[i] for name, cell in cells.items()}))

    def unfolded(self, cells: Cells) -> Cells:
        """The cells of one level by the strata of the data, which `count` adds up."""
        return {name: cell[None] for name, cell in cells.items()}

    def possible(self, columns: Columns) -> BoolArray:
        """See `Bulk.possible`: a report of the data, with one of the levels."""
        fine = self.data[0].possible({f.name: columns[f.name] for f in self.data[0].fields})
        return fine & np.less(columns["level"], len(self.strata)) if self.kernel.level else fine

    def count(self, columns: Columns) -> Cells:
        """See `Bulk.count`: the cells of the data, all strata together, by reported level."""
        told, own = self.told(columns), [f.name for f in self.data[0].fields]
        parts = [self.data[0].count({name: columns[name][told == r] for name in own}) for r in range(len(self.strata))]
        return {name: np.stack([part[name].sum(axis=0) for part in parts]) for name in parts[0]}

    def supports(self, cells: Cells) -> IntArray:
        """How many reports support each protected item, by reported level."""
        rows = ({name: cell[i : i + 1] for name, cell in cells.items()} for i in range(len(self.strata)))
        return np.stack([self.bases[0].support_counts(row) for row in rows])

    @property
    def outputs(self) -> float:
        return self.data[0].outputs + math.log2(len(self.strata))

    @property
    def worst(self) -> int:
        """The number of the level with the largest ratio."""
        return max(range(len(self.data)), key=lambda i: promised_ratio(self.kernel.data[i]))

    def channel(self) -> Channel:
        """See `Bulk.channel`: at the level with the largest ratio."""
        return self.channel_at(self.worst)

    def channel_at(self, level: int) -> Channel:
        """The exact channel at the level of this number: data and reported level."""
        data, told = self.data[level].channel(), self.kernel.told(level)
        check_outputs(math.log2(len(data.outputs) * len(told)), "these levels", self.k)
        rows = [
            (f"{name}, {stratum}", tuple(w * weight for w in row), held, o in data.disclosing)
            for o, (name, row, held) in enumerate(zip(data.outputs, data.weights, data.supported or (), strict=True))
            for stratum, weight in zip(self.strata, told, strict=True)
        ]
        names, weights, supported, discloses = zip(*rows, strict=True)
        disclosing = frozenset(np.flatnonzero(discloses).tolist())
        strata = tuple(range(len(told))) * len(data.outputs)
        return Channel(names, weights, data.total * sum(told), supported, data.harmless, disclosing, strata)

    @property
    def channel_error(self) -> Fraction:
        return max(bulk.channel_error for bulk in self.data)

    @property
    def guarantee(self) -> dict[str, Any]:
        """Largest log-ratios of a whole report, exactly, rounded up, by the names of `LevelMechanism.guarantee`."""
        kernel = self.kernel
        return {
            "data": log_upper(kernel.hidden_ratio),
            "data_by_level": [log_upper(promised_ratio(each)) for each in kernel.data],
            "level_report": kernel.report,
            "leakage": kernel.leakage,
            "level": kernel.level_guarantee,
            "pair": kernel.pair_guarantee,
            "method": "exact, from the integers that are sampled: the report's independent parts one by one",
        }

    # ---- what reports and tallies say about values and levels

    def level_law(self, shares: FloatArray) -> LevelLaw:
        """Support by level, given shares of the levels, and the level channel."""
        told = [self.kernel.told(i) for i in range(len(self.data))]
        channel = np.array([[weight / sum(row) for weight in row] for row in told])
        return LevelLaw(tuple(base.support.map(float) for base in self.bases), shares, channel)

    @cached_property
    def _law(self) -> LevelLaw:
        """With any shares, where these do not matter."""
        return self.level_law(np.full(len(self.data), 1 / len(self.data)))

    def _table(self, cells: Cells) -> tuple[LevelEvidence, FloatArray]:
        """Every reported level and report as often as it occurs, and the log-likelihoods of reports of no item.

        For bases whose tally counts every report: numbers, or answers that support themselves.
        """
        base, counts = self.bases[0], cells["value"] if "value" in cells else cells["support"]
        high, low, none = log_masses(base, self._law, blind=False)
        kinds, numbers = np.nonzero(counts)
        rows = np.ascontiguousarray(base.supported({"value": numbers.astype(np.uint64)}))
        return LevelEvidence.of(rows, counts[kinds, numbers].astype(np.float64), kinds, high, low, base.k), none

    def _rows(self, batches: Sequence[Columns], *, blind: bool) -> tuple[LevelEvidence, FloatArray]:
        """Every report with its reported level, and the log-likelihoods of reports of no item.

        The class of a report is its reported level, which `blind` leaves out, and for independent bits the number of
        ones.
        """
        base = self.bases[0]
        high, low, none = log_masses(base, self._law, blind=blind)
        rows = np.ascontiguousarray(np.concatenate([base.supported(columns) for columns in batches]))
        kinds = np.concatenate([self.told(columns) for columns in batches])
        if blind:
            kinds = np.zeros_like(kinds)
        if base.size_law is not None:
            kinds = kinds * (base.k + 1) + loops().popcounts(rows)
        return LevelEvidence.of(rows, np.ones(len(rows)), kinds, high, low, base.k), none

    @abstractmethod
    def level_evidence(self, batches: Sequence[Columns], *, blind: bool = False) -> Levelled:
        """What reports say about values and levels; `blind` leaves the level reports out."""

    @abstractmethod
    def tally_level_evidence(self, cells: Cells) -> Levelled:
        """What a tally says about values and levels, where it is `sufficient`."""


class PersonalBulk(LevelBulk):
    """Levels that protect all items."""

    alike: ClassVar[bool] = True

    def level_evidence(self, batches: Sequence[Columns], *, blind: bool = False) -> LevelEvidence:
        return self._rows(batches, blind=blind)[0]

    def tally_level_evidence(self, cells: Cells) -> LevelEvidence:
        return self._table(cells)[0]


# ---- some items are sensitive


@dataclass(frozen=True)
class SensitiveBulk(LevelBulk):
    """Levels that protect sensitive items only, all of them the same ones."""

    data: tuple[UtilityBulk, ...]

    @property
    def guarantee(self) -> dict[str, Any]:
        """See `LevelBulk.guarantee`; `disclosure` is the part of disclosing in `leakage`."""
        pairs = permutations([each.kernel for each in self.data], 2)
        return super().guarantee | {"disclosure": max((disclosure(a, b) for a, b in pairs), default=0.0)}

    def unfolded(self, cells: Cells) -> Cells:
        """See `LevelBulk.unfolded`: a report that discloses an item says nothing else."""
        told = np.int64(0) if "disclosed" not in cells else cells["disclosed"].sum()
        parts = {name: np.stack([cell, np.zeros_like(cell)]) for name, cell in cells.items() if name != "disclosed"}
        parts["n"] = np.stack([cells["n"] - told, told])
        if "disclosed" in cells:
            parts["disclosed"] = np.stack([np.zeros_like(cells["disclosed"]), cells["disclosed"]])
        return parts

    def law(self, shares: FloatArray) -> UtilityLevelLaw:
        """The law on sensitive and harmless items, given shares of the levels."""
        z = np.array([each.kernel.plain / WORD for each in self.data])
        blind = np.array([float(base_half(base.kernel).share) for base in self.bases])
        return UtilityLevelLaw.of(self.level_law(shares), z, blind, self.bases[0].k)

    def level_evidence(self, batches: Sequence[Columns], *, blind: bool = False) -> UtilityLevelEvidence:
        hidden = [{name: c[columns["disclosed"] == 0] for name, c in columns.items()} for columns in batches]
        found, none = self._rows(hidden, blind=blind)
        strata, harmless = len(self.strata), self.data[0].items[1].size
        counts = np.zeros(strata * harmless)
        for columns in batches:
            seen = columns["disclosed"] > 0
            at = self.told(columns)[seen] * harmless + columns["disclosed"][seen].astype(np.int64) - 1
            counts += np.bincount(at, minlength=counts.size)
        return self._disclosing(found, none, counts.reshape(strata, harmless), blind=blind)

    def tally_level_evidence(self, cells: Cells) -> UtilityLevelEvidence:
        return self._disclosing(*self._table(cells), cells["disclosed"].astype(np.float64), blind=False)

    def _disclosing(
        self, hidden: LevelEvidence, none: FloatArray, counts: FloatArray, *, blind: bool
    ) -> UtilityLevelEvidence:
        """Evidence of hidden reports, together with counts of disclosed items by reported level."""
        law, told = self.law(self._law.shares), self._law.channel
        if blind:
            counts, told = counts.sum(axis=0, keepdims=True), np.ones((len(self.data), 1))
        mid = np.exp(none + np.log1p(-law.z)[:, None] - hidden.scale)
        return UtilityLevelEvidence(hidden, mid, counts, told * law.z[:, None], self.data[0].items)


def log_masses(base: SupportBulk[Any], law: LevelLaw, *, blind: bool) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Log-likelihoods at each level of each class: for supported items, for others, and of a report of no item."""
    t, k = len(law.supports), base.k
    told = np.zeros((t, 1)) if blind else np.log(law.channel)
    p, q, p_not, q_not = (law.of(name)[:, None, None] for name in ("p", "q", "p_not", "q_not"))
    if base.size_law is not None:
        ones = np.arange(k + 1)[None, None, :]
        none = told[:, :, None] + ones * np.log(q) + (k - ones) * np.log(q_not)
        high, low = none + np.log(p / q), none + np.log(p_not / q_not)
    else:
        size = float(1 / base_half(base.kernel).share)
        high, low = told[:, :, None] + np.log(p), told[:, :, None] + np.log(p_not / (size - 1))
        none = told[:, :, None] - np.log(size)
    high, low, none = (np.asarray(part, np.float64).reshape(t, -1) for part in (high, low, none))
    return high, low, none
