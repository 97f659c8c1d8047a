"""One report as bytes: widths, round trips, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable_client.errors import FormatError
from deniable_client.packing import bits_width, pack_bits, pack_int, uint_width, unpack_bits, unpack_int


@pytest.mark.parametrize(
    ("count", "width"),
    [(2, 1), (256, 1), (257, 2), (65536, 2), (65537, 4), (2**32, 4), (2**32 + 1, 8), (2**64, 8)],
)
def test_smallest_integer_type(count: int, width: int) -> None:
    assert uint_width(count) == width
    assert pack_int(count - 1, width) == np.array([count - 1], f"<u{width}").tobytes()


@given(st.data())
def test_bits_round_trip(data: st.DataObject) -> None:
    k = data.draw(st.integers(1, 300))
    items = sorted(data.draw(st.sets(st.integers(0, k - 1))))
    packed = pack_bits(items, k)
    assert len(packed) == bits_width(k) == -(-k // 8)
    assert unpack_bits(packed, k) == items
    flags = np.zeros(k, np.uint8)
    flags[items] = 1
    assert packed == np.packbits(flags, bitorder="little").tobytes()


@given(st.integers(0, 2**64 - 1))
def test_integers_round_trip(value: int) -> None:
    width = uint_width(value + 1)
    assert unpack_int(pack_int(value, width), width) == value


@pytest.mark.parametrize(("data", "k"), [(b"", 3), (b"\0\0", 3), (b"\0", 9)])
def test_bits_of_another_length_are_refused(data: bytes, k: int) -> None:
    with pytest.raises(FormatError, match=f"a report of {k} bits has {len(data)} bytes"):
        unpack_bits(data, k)


def test_ones_in_the_padding_are_refused() -> None:
    with pytest.raises(FormatError, match="padding that is not zero"):
        unpack_bits(b"\x08", 3)


def test_integers_of_another_length_are_refused() -> None:
    with pytest.raises(FormatError, match="has 1 bytes, 2 are needed"):
        unpack_int(b"\0", 2)
