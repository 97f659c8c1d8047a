"""Every report that there is, one by one: which a device can have sent, how many they are, and what each may add."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.collect.reports import Field, split_rows
from deniable.core.types import Columns
from deniable.mechanisms.bulk import Bulk, SupportBulk
from deniable.mechanisms.dealt.base import dealt

SEEDS = 3
"""So many seeds stand for all."""


def _parts(*ks: int) -> dn.Mechanism:
    return dealt([dn.mechanism("ss", epsilon=1.0, k=4, size=2), *(dn.mechanism("grr", epsilon=1.0, k=k) for k in ks)])


MADE: dict[str, tuple[str, dict[str, Any], int]] = {
    "grr": ("grr", {"k": 5}, 5),
    "grr of all numbers of a byte": ("grr", {"k": 256}, 256),
    "ss": ("ss", {"k": 6, "size": 4}, math.comb(6, 4)),
    "ss of whole bytes": ("ss", {"k": 8, "size": 1}, 8),
    "ue": ("ue", {"k": 3, "p": 0.8}, 2**3),
    "ue of whole bytes": ("oue", {"k": 8}, 2**8),
    "hr": ("hr", {"k": 5}, 8),
    "pgr": ("pgr", {"k": 7, "prime": 2}, 7),
    "pgr of a plane": ("pgr", {"k": 10, "prime": 3}, 13),
    "affine": ("affine", {"k": 6, "q": 7, "m": 3, "j": 1, "zero": 0}, 21),
    "ssmix": ("ssmix", {"k": 6, "size": 3, "share": 0.3}, math.comb(6, 3) + math.comb(6, 4)),
    "ssmix of one size": ("ssmix", {"k": 6, "size": 3, "share": 0.0}, math.comb(6, 3)),
    "ssmix with everything": ("ssmix", {"k": 5, "size": 4, "share": 0.75}, 5 + 1),
    "lh": ("lh", {"k": 4, "g": 3}, 3),
    "plh": ("plh", {"k": 7, "g": 3}, 3),
    "plh of even blocks": ("plh", {"k": 6, "g": 3}, 3),
    "iss": ("iss", {"k": 5, "size": 2}, 5),
    "wheel": ("wheel", {"k": 3, "arc": 0.25, "ring": 3}, 8),
    "uss": ("uss", {"k": 5, "sensitive": 3, "size": 1}, 3 + 2),
    "uss as ULDP": ("uss", {"k": 6, "sensitive": 4, "size": 2, "form": "glutf"}, 6 + 6 * 2 + 2),
    "urap as ULDP": ("urap", {"k": 5, "sensitive": 2, "form": "glutf"}, 4 + 3 * 4 + 3),
    "urr, nothing harmless": ("urr", {"k": 4, "sensitive": 4}, 4),
    "utility of one": ("utility", {"k": 4, "sensitive": 1}, 1 + 3),
    "ussmix": ("ussmix", {"k": 6, "sensitive": 4, "size": 1, "share": 0.25}, 4 + 6 + 2),
    "ussmix of one size": ("ussmix", {"k": 6, "sensitive": 4, "size": 1, "share": 0.0}, 4 + 2),
    "uue-levels": ("uue-levels", {"k": 5, "sensitive": 3, "item_epsilon": "0.5,1,1"}, 8 + 2),
    "pldp": ("pldp", {"k": 4, "levels": "0.5,1,2", "base": "sue", "level_epsilon": 0.5}, 2**4 * 3),
    "pldp of one bit": (
        "pldp",
        {"k": 4, "levels": "0.5,1,2", "base": "grr", "level_epsilon": 0.5, "level_report": "bit"},
        4 * 2,
    ),
    "pldp without levels": ("pldp", {"k": 4, "levels": "0.5,2", "base": "lh", "level_report": "none", "g": 3}, 3),
    "upldp": ("upldp", {"k": 5, "sensitive": 3, "levels": "0.5,1", "base": "grr", "level_epsilon": 0.5}, (3 + 2) * 2),
    "upldp of bits": ("upldp", {"k": 4, "sensitive": 2, "levels": "1", "base": "sue"}, 4 + 2),
}
LOOSE = {"ssmix of one size", "urr, nothing harmless"}
"""Whose cells are those of designs with another size, or with harmless answers; `check` knows more."""


def made(name: str) -> dn.Mechanism:
    row, options, _ = MADE[name]
    given = {} if "levels" in options or "item_epsilon" in options else {"epsilon": 1.0}
    return dn.mechanism(row, **given, **options)


def words(field: Field) -> list[bytes]:
    """What a device might put into a field: one byte of any kind, a few seeds, or zeros but for the first byte."""
    if field.name == "seed":
        return [bytes([i, 7, 99, 0, 3, 255, 1, i]) for i in range(SEEDS)]
    if field.width > 1:
        return [bytes(word) for word in product((0, 1, 2, 3, 5, 43, 44), repeat=field.width)]
    if field.name in ("disclosed", "level", "part"):
        return [bytes([i]) for i in range(10)]
    return [bytes([i]) for i in range(256)]


def every(bulk: Bulk[Any]) -> Columns:
    """All reports whose fields are such words; of two fields of a byte the second goes to 31 only."""
    each = [words(field) for field in bulk.fields]
    if len(each) > 1 and bulk.fields[0].name != "seed":
        each = [some[:32] for some in each]
    rows = np.array([list(b"".join(row)) for row in product(*each)], np.uint8)
    return split_rows(bulk.fields, rows)


def one(columns: Columns, i: int) -> Columns:
    return {name: column[i : i + 1] for name, column in columns.items()}


@pytest.mark.parametrize("name", MADE)
def test_what_can_be_sent_is_counted_and_nothing_else(name: str) -> None:
    """There are as many reports as is told, and cells have the least and the most that one report adds, no less."""
    bulk: Bulk[Any] = made(name).bulk
    columns, outputs = every(bulk), MADE[name][2]
    fine = bulk.possible(columns)
    seeds = SEEDS if bulk.fields[0].name == "seed" else 1
    assert np.count_nonzero(fine) == seeds * outputs
    assert bulk.outputs == pytest.approx(math.log2(outputs) + (64 if seeds > 1 else 0), abs=1e-9)
    for i in np.flatnonzero(~fine)[:: max(1, len(fine) // 60)].tolist():
        with pytest.raises(dn.FormatError):
            bulk.count(one(columns, i))
    after = int(np.flatnonzero(fine)[-1]) + 1  # the one after the last
    if after < len(fine):
        with pytest.raises(dn.FormatError):
            bulk.count(one(columns, after))
    cells = [bulk.count(one(columns, i)) for i in np.flatnonzero(fine).tolist()]
    for each in cells:
        assert {key: cell.shape for key, cell in each.items()} == bulk.layout
        assert each["n"].sum() == 1
        bulk.refuse_impossible(each)
    whole = bulk.count({key: column[fine] for key, column in columns.items()})
    bulk.refuse_impossible(whole)
    for key, cell in bulk.cells.items():
        entries = np.array([each[key].sum(axis=0) for each in cells])
        assert (whole[key] == np.array([each[key] for each in cells]).sum(axis=0)).all()
        assert entries.shape[1] == cell.size
        assert cell.each == (0, 1)
        assert set(np.unique(entries)) <= {0, 1}
        if cell.total is not None and seeds == 1 and name not in LOOSE:
            sums = entries.sum(axis=1)
            assert cell.total == (sums.min(), sums.max())


@pytest.mark.parametrize("name", ["plh", "plh of even blocks", "iss"])
def test_blocks_have_the_sizes_that_their_cells_allow(name: str) -> None:
    """Of every seed all blocks together hold each item as often: the sizes are those of the cells."""
    bulk: Bulk[Any] = made(name).bulk
    columns = every(bulk)
    fine = np.flatnonzero(bulk.possible(columns)).tolist()
    sizes = [int(bulk.count(one(columns, i))["support"].sum()) for i in fine]
    assert bulk.cells["support"].total == (min(sizes), max(sizes))


@pytest.mark.parametrize(("ks", "bad"), [((3,), 0), ((300, 3), 0)])
def test_a_report_of_a_part_ends_where_that_of_its_part_does(ks: tuple[int, ...], bad: int) -> None:
    bulk: Bulk[Any] = _parts(*ks).bulk
    columns = every(bulk)
    fine = bulk.possible(columns)
    for i in range(0, len(fine), max(1, len(fine) // 120)):
        if fine[i]:
            assert bulk.count(one(columns, i))["n"].sum() == 1
        else:
            bad += 1
            with pytest.raises(dn.FormatError):
                bulk.count(one(columns, i))
    assert bad > 20
    assert bulk.outputs == pytest.approx(math.log2(6 + sum(ks)), abs=1e-12)


PLAIN = [name for name, (row, _, _) in MADE.items() if row in ("grr", "ss", "ue", "oue", "hr", "pgr", "affine")]


@pytest.mark.parametrize("name", [name for name in PLAIN if MADE[name][2] <= 64])
def test_reports_without_a_value_are_as_likely_as_is_told(name: str) -> None:
    """The likelihood of a value is 1 or 1/odds, up to a factor; on that scale stands that of a report of no value."""
    bulk: Any = made(name).bulk
    assert isinstance(bulk, SupportBulk)
    channel = bulk.channel()
    blind = bulk.blind_weights(channel)
    assert sum(blind) == 1
    for held, row, mass in zip(channel.supported or (), channel.weights, blind, strict=True):
        for x in range(bulk.k):
            factor = Fraction(row[x], channel.total) / (1 if x in held else 1 / Fraction(bulk.kernel.ratio))
            assert float(mass / factor) == pytest.approx(bulk.reader.blind_likelihood, rel=1e-12)
    most = {r: max(len(held & set(range(r))) for held in channel.supported or ()) for r in (1, 2, bulk.k)}
    assert all(bulk.most(r) >= found for r, found in most.items())
    assert bulk.most(bulk.k) == min(bulk.k, max(len(held) for held in every_block(bulk)))


def every_block(bulk: Any) -> list[set[int]]:
    """What reports support where all points of a geometry are items."""
    whole = {"pgr": lambda k: k.order, "affine": lambda k: k.q}
    name = {"projective": "pgr", "affine": "affine"}.get(bulk.kernel.kind, "")
    if not name:
        return [set(held) for held in bulk.channel().supported or ()]
    points = whole[name](bulk.kernel)
    if name == "pgr":
        found = dn.mechanism("pgr", epsilon=1.0, k=points, prime=bulk.kernel.prime)
    else:
        found = dn.mechanism(
            "affine", epsilon=1.0, k=points, **{n: getattr(bulk.kernel, n) for n in ("q", "m", "j", "zero")}
        )
    return [set(held) for held in found.bulk.channel().supported or ()]
