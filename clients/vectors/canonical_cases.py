"""Documents with their canonical form, and bytes that have none; `make.py` writes them to `canonical.json`."""

from __future__ import annotations

import base64
import json
import math
import struct
from collections.abc import Iterator
from typing import Any

from deniable_client.canonical import canonical

Case = dict[str, Any]


def data(content: bytes) -> Case:
    """Bytes as a text, or in base64 where they are none."""
    try:
        return {"text": content.decode()}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(content).decode()}


# fmt: off
NUMBERS = [
    "0", "-0", "1", "-1", "0.1", "-0.5",
    "1e21", "1e20", "123456789012345680000", "1e-6", "1e-7", "1.5e-7",
    "1e23", "9007199254740991", "9007199254740992", "9007199254740993", "-9007199254740991", "18446744073709551615",
    "1152921504606846976", "333333333.33333329", "1E30", "4.50", "2e-3", "0.000000000000000000000000001",
    "5e-324", "2.2250738585072014e-308", "1.7976931348623157e308", "4.35", "0.000001", "0.0000001",
    "100", "1e2", "10000000000000000000000", "999999999999999900000", "295147905179352830000", "0.3",
    "0.30000000000000004", "1.0", "1e0", "2.5e-5", "1e-400", "123456.789",
    "-1e-9", "-1e21", "0.1e1", "1e+2", "1E-2",
]
# fmt: on
TEXTS = [
    "",
    "a",
    '\u20ac$\u000f\nA\'B"\\\\"/',
    "\u0000\u001f\u007f\u0080",
    "\u2028\u2029",
    "\U0001f600",
    "\b\t\n\f\r",
    "é",
]
SORTING = ["\u20ac", "\r", "\ufb33", "1", "\U0001f600", "\u0080", "\u00f6", "", "10", "2", "B", "a", "aa", "__proto__"]


def doubles() -> Iterator[float]:
    """Doubles of all sizes, by their bits."""
    for i in range(200):
        bits = (i * 0x9E3779B97F4A7C15 + 0x1234567) & ((1 << 64) - 1)
        value = struct.unpack(">d", bits.to_bytes(8, "big"))[0]
        if math.isfinite(value):
            yield value
    for exponent in range(-30, 31):
        yield 10.0**exponent
        yield 2.0**exponent * 1.1
        yield -(3.0**exponent)


def canonical_vectors() -> Case:
    """Numbers, texts and documents with their canonical form, and what has none."""
    read = [
        *(f'{{"n":{text}}}' for text in NUMBERS),
        *(json.dumps({"t": text}) for text in TEXTS),
        *(json.dumps({text: text}, ensure_ascii=False) for text in TEXTS),
        json.dumps({name: i for i, name in enumerate(SORTING)}),
        '{ "b" : [ 1 , 2.0 ,\n{ } , [ ] ] ,\t"a" : { "d" : true , "c" : null , "b" : false } }',
        '{"\\u0061":"\\u00e9\\ud83d\\ude00\\/"}',
        '{"peach":"This sorting order","péché":"is wrong","pêche":"in French","sin":"but canonical"}',
    ]
    refused = {
        "a name twice": b'{"a":1,"a":1}',
        "a name twice, spelled differently": b'{"a":1,"\\u0061":2}',
        "a name twice, deep inside": b'{"x":[{"y":{"a":1,"a":2}}]}',
        "NaN": b'{"n":NaN}',
        "Infinity": b'{"n":Infinity}',
        "minus Infinity": b'{"n":-Infinity}',
        "a number beyond all doubles": b'{"n":1e400}',
        "a whole number beyond all doubles": b'{"n":' + b"9" * 400 + b"}",
        "a lone high surrogate": b'{"t":"\\ud800"}',
        "a lone low surrogate": b'{"t":"\\udc00x"}',
        "surrogates in the wrong order": b'{"t":"\\ude00\\ud83d"}',
        "a lone surrogate in a name": b'{"\\ud800":1}',
        "a surrogate in UTF-8": b'{"t":"\xed\xa0\x80"}',
        "bytes that are not UTF-8": b'{"t":"\xff"}',
        "an overlong sequence": b'{"t":"\xc0\xaf"}',
        "a byte order mark": b'\xef\xbb\xbf{"n":1}',
        "UTF-16": '{"n":1}'.encode("utf-16"),
        "nothing": b"",
        "white space": b" ",
        "not a mapping: a list": b"[1]",
        "not a mapping: a number": b"1",
        "not a mapping: null": b"null",
        "more after the document": b'{"n":1}{}',
        "a comma too many": b'{"n":1,}',
        "a comma too many in a list": b'{"n":[1,]}',
        "a comment": b'{"n":1/* one */}',
        "single quotes": b"{'n':1}",
        "a leading zero": b'{"n":01}',
        "a plus sign": b'{"n":+1}',
        "no digit after the point": b'{"n":1.}',
        "no digit before the point": b'{"n":.5}',
        "hexadecimal": b'{"n":0x10}',
        "a line break in a text": b'{"t":"a\nb"}',
        "a tabulator in a text": b'{"t":"a\tb"}',
        "an unknown escape": b'{"t":"\\x41"}',
        "half an escape": b'{"t":"\\u00e"}',
        "a no-break space between parts": b'{"n":\xc2\xa01}',
        "capitals": b'{"n":True}',
        "undefined": b'{"n":undefined}',
        "other digits": '{"n":\u0661}'.encode(),
        "13 deep": b'{"a":' * 13 + b"1" + b"}" * 13,
        "100,000 deep": b'{"a":' + b"[" * 100_000,
        "a text of 65,537 characters": b'{"t":"' + b"x" * 65_537 + b'"}',
    }
    bits = [{"bits": struct.pack(">d", value).hex(), "canonical": canonical(value).decode()} for value in doubles()]
    cases = []
    for text in read:
        form = canonical(json.loads(text, parse_int=lambda s: float(s) if abs(float(s)) > 2**53 - 1 else int(s)))
        cases.append({"text": text, "canonical": form.decode()})
    return {
        "about": "text: as it is read; bits: a double, big-endian; refused: FormatError (bytes as text, or in base64)",
        "numbers": bits,
        "cases": cases,
        "refused": [{"about": about, "error": "format"} | shortened(content) for about, content in refused.items()],
    }


def shortened(content: bytes) -> Case:
    """Bytes, or how to make them where they are long."""
    if len(content) < 10_000:
        return data(content)
    start, fill = content.decode().split("[" if b"[" in content else "x", 1)[0], "[" if b"[" in content else "x"
    count = content.count(fill.encode())
    return {"start": start, "fill": fill, "count": count, "end": content.decode()[len(start) + count :]}
