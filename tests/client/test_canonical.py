"""One spelling of a document for all clients (RFC 8785), and a strict way to read one."""

from __future__ import annotations

import base64
import json
import struct
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deniable_client.canonical import BYTES_MAX, canonical, digest, parse
from deniable_client.errors import FormatError
from tasks import vectors

FILE = vectors("canonical")


def raw(case: dict[str, Any]) -> bytes:
    """The bytes of a case."""
    if "fill" in case:
        return str(case["start"] + case["fill"] * case["count"] + case["end"]).encode()
    return case["text"].encode() if "text" in case else base64.b64decode(case["base64"])


def test_numbers_are_written_as_ecmascript_writes_them() -> None:
    for case in FILE["numbers"]:
        value = struct.unpack(">d", bytes.fromhex(case["bits"]))[0]
        assert canonical(value).decode() == case["canonical"]
        assert float(case["canonical"]) == value
    assert len(FILE["numbers"]) > 300


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (-0.0, "0"),
        (1e21, "1e+21"),
        (1e20, "100000000000000000000"),
        (2.0**60, "1152921504606847000"),
        (5e-324, "5e-324"),
        (1.7976931348623157e308, "1.7976931348623157e+308"),
        (1e-6, "0.000001"),
        (1e-7, "1e-7"),
        (333333333.33333329, "333333333.3333333"),
        (-1.5, "-1.5"),
        (2**53 - 1, "9007199254740991"),
    ],
)
def test_numbers_of_the_standard(value: float, text: str) -> None:
    assert canonical(value).decode() == text


def test_documents_have_their_canonical_form() -> None:
    for case in FILE["cases"]:
        assert canonical(parse(case["text"])).decode() == case["canonical"]
        assert canonical(parse(case["canonical"])).decode() == case["canonical"]
    assert len(FILE["cases"]) > 60


def test_names_are_sorted_by_utf_16_units() -> None:
    """The sorting example of RFC 8785, where code points would give another order."""
    names = ["\u20ac", "\r", "\ufb33", "1", "\U0001f600", "\u0080", "\u00f6"]
    assert list(json.loads(canonical(dict.fromkeys(names, 0)))) == [names[i] for i in (1, 3, 5, 6, 0, 4, 2)]


@pytest.mark.parametrize("case", FILE["refused"], ids=lambda case: case["about"])
def test_what_readers_could_take_differently_is_refused(case: dict[str, Any]) -> None:
    with pytest.raises(FormatError):
        parse(raw(case))


def test_a_document_is_at_most_16_mib() -> None:
    with pytest.raises(FormatError, match=r"has 16777217 bytes"):
        parse(b" " * (BYTES_MAX + 1))
    with pytest.raises(FormatError, match=r"has 16777218 bytes"):
        parse("\u00e9" * (BYTES_MAX // 2 + 1))


@pytest.mark.parametrize(
    "part", [float("nan"), float("inf"), {1: 2}, {"a": b"x"}, {"a": {1}}, 2**53, -(2**53), "\ud800", {"\ud800": 1}, 1j]
)
def test_what_has_no_canonical_form_is_refused(part: Any) -> None:
    with pytest.raises(FormatError):
        canonical(part)


def test_endless_nesting_is_refused() -> None:
    part: list[Any] = []
    part.append(part)
    with pytest.raises(FormatError, match="nested too deep"):
        canonical(part)


PARTS = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(st.text(max_size=6), PARTS, max_size=4))
def test_any_document_survives_and_has_one_form(document: dict[str, Any]) -> None:
    form = canonical(document)
    spelled = json.dumps(document, indent=1)
    assert canonical(parse(form)) == form
    assert canonical(parse(spelled)) == form
    assert json.loads(form, parse_int=float) == document
    assert digest(parse(spelled)) == digest(document)
