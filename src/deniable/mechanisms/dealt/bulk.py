"""Parts for many people: who gets which, how their reports look in one form, and how they are counted part by part."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np

from deniable.collect.reports import Field
from deniable.collect.tally import part_name
from deniable.core.channel import Channel
from deniable.core.types import BoolArray, Columns, IntArray
from deniable.errors import EnumerationError
from deniable.kernels.sampling import below
from deniable.mechanisms.bulk import Bulk, Cells, check_outputs
from deniable.mechanisms.framing import (
    chosen_channel,
    counted_apart,
    framed,
    framed_fields,
    log2_sum,
    possible_frames,
)
from deniable.mechanisms.possible import Cell
from deniable.randomness import Stream
from deniable_client.kernels import Dealt

__all__ = ["NUMBER", "DealtBulk"]

NUMBER = "part"
"""The field of a report that says which part it is of, from 0."""


@dataclass(frozen=True)
class DealtBulk(Bulk[Dealt]):
    """Parts for many people. An input is a row with an input of each part; strata and cells are those of the parts."""

    parts: tuple[Bulk[Any], ...]

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        return framed_fields(NUMBER, self.parts)

    # ---- client

    def deal(self, n: int, rng: Stream) -> IntArray:
        """The part of each of n people: what `Dealt.deal` of the kernel does for one."""
        shares = self.kernel.shares
        return np.searchsorted(np.cumsum(shares), below(rng, sum(shares), n), side="right")

    def perturb(self, items: IntArray, rng: Stream) -> Columns:
        """See `Bulk.perturb`: items are rows, with the item of each part; all but one of them are not looked at."""
        numbers = self.deal(len(items), rng)
        return framed(self.fields, self.parts, numbers, lambda i, at: self.parts[i].perturb(items[at, i], rng))

    # ---- counter

    @cached_property
    def strata(self) -> tuple[str, ...]:
        return tuple(part_name(i) + stratum for i, part in enumerate(self.parts) for stratum in part.strata)

    @property
    def cells(self) -> Mapping[str, Cell]:
        return {part_name(i) + name: cell for i, part in enumerate(self.parts) for name, cell in part.cells.items()}

    @cached_property
    def layout(self) -> dict[str, tuple[int, ...]]:
        """See `Bulk.layout`: a cell has the strata of its part."""
        own = {
            part_name(i) + name: shape
            for i, part in enumerate(self.parts)
            for name, shape in part.layout.items()
            if name != "n"
        }
        return dict(sorted(({"n": (len(self.strata),)} | own).items()))

    def count(self, columns: Columns) -> Cells:
        found = counted_apart(NUMBER, self.parts, columns)
        own = {part_name(i) + name: cell for i, part in enumerate(found) for name, cell in part.items() if name != "n"}
        return {"n": np.concatenate([part["n"] for part in found]), **own}

    def possible(self, columns: Columns) -> BoolArray:
        return possible_frames(NUMBER, self.parts, columns)

    def check(self, cells: Cells) -> None:
        """See `Bulk.check`: each part by its own rules."""
        start = 0
        for i, part in enumerate(self.parts):
            end, name = start + len(part.strata), part_name(i)
            own = {key.removeprefix(name): cell for key, cell in cells.items() if key.startswith(name)}
            part.check({"n": cells["n"][start:end], **own})
            start = end

    # ---- channel

    @cached_property
    def outputs(self) -> float:
        return log2_sum([part.outputs for part in self.parts])

    @property
    def inputs(self) -> int:
        """See `Bulk.inputs`: an input of each part, the last one counting fastest."""
        return math.prod(part.inputs for part in self.parts)

    @property
    def channel_error(self) -> Fraction:
        return max(part.channel_error for part in self.parts)

    def channel(self) -> Channel:
        check_outputs(self.outputs, "these parts", self.inputs)
        channels = [part.channel() for part in self.parts]
        if any(channel.disclosing for channel in channels):
            raise EnumerationError(
                "the channel of these parts is not written out: a report that discloses an answer to one question "
                "leaves those to the others open.",
                "`proof` works for all parts; the channels of the parts are written out.",
            )
        inputs = list(product(*(range(channel.k) for channel in channels)))
        wide = [
            replace(channel, weights=tuple(tuple(row[x[i]] for x in inputs) for row in channel.weights), supported=None)
            for i, channel in enumerate(channels)
        ]
        return chosen_channel([f"part {i}" for i in range(len(wide))], wide, self.kernel.shares)
