"""Channels that are too large to enumerate are known as such without writing their size down."""

from __future__ import annotations

import math
from contextlib import nullcontext
from typing import Any

import pytest

import deniable as dn
from deniable.errors import EnumerationError
from deniable.mechanisms.bulk import check_outputs

MILLIONS = 10_000_000
MADE: dict[str, dict[str, Any]] = {
    **{name: {} for name in ("grr", "ss", "oue", "olh", "plh", "the", "she", "wheel", "ssmix", "hr", "pgr", "iss")},
    **{name: {"sensitive": MILLIONS // 2} for name in ("uss", "ussmix", "uue", "ulh")},
    **{name: {} for name in ("kv-ss2", "kv-ss", "kv-mix", "kv-lh", "ks-ue", "pckv-ue")},
}


@pytest.mark.parametrize(
    ("outputs", "k", "fits"), [(20_000, 1, True), (20_001, 1, False), (1 << 12, 1 << 7, True), (1 << 12, 129, False)]
)
def test_channels_are_written_out_up_to_so_many_outputs_and_entries(outputs: int, k: int, fits: bool) -> None:
    bits = math.log2(outputs)
    with nullcontext() if fits else pytest.raises(EnumerationError, match=r"has 2\^1[24]\.\d outputs"):
        check_outputs(bits, "this", k)


@pytest.mark.parametrize("name", MADE)
def test_no_huge_number_is_computed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    m = dn.mechanism(name, epsilon=1.0, k=MILLIONS, **MADE[name])
    sizes: list[int] = []
    for counting in ("comb", "factorial"):
        own = getattr(math, counting)
        monkeypatch.setattr(math, counting, lambda *n, own=own: sizes.append(max(n)) or own(*(min(i, 9) for i in n)))
    with pytest.raises(EnumerationError, match=r"has 2\^[0-9.]+ outputs, too many to enumerate"):
        m.channel()
    assert max(sizes, default=0) <= 20_000, "so large a binomial coefficient takes seconds"


def test_the_number_of_outputs_is_told() -> None:
    with pytest.raises(EnumerationError, match=r"has 2\^100\.0 outputs"):
        dn.mechanism("oue", epsilon=1.0, k=100).channel()
    with pytest.raises(EnumerationError, match=rf"has 2\^{101 * math.log2(4):.1f} outputs"):
        dn.mechanism("lh", epsilon=1.0, k=100, g=4).channel()
    with pytest.raises(EnumerationError, match=rf"has 2\^{math.log2(math.comb(40, 20)):.1f} outputs"):
        dn.mechanism("ss", epsilon=1.0, k=40, size=20).channel()
