"""Texts of strangers: what they may contain, which labels people can tell apart, and how they are shown."""

from __future__ import annotations

import ast
import json
import time
import unicodedata
from pathlib import Path
from typing import Any

import pytest

from deniable_client import explain, texts
from deniable_client.texts import LABEL_MAX, LABELS_MAX, label_key, labels_fault, printable, quoted, text_fault, unicode
from deniable_client.texts.confusables import CLASSES

VECTORS: dict[str, Any] = json.loads(
    (Path(__file__).parents[2] / "clients" / "vectors" / "texts.json").read_text(encoding="utf-8")
)


@pytest.mark.parametrize("case", VECTORS["texts"], ids=lambda case: ascii(case["text"])[:30])
def test_texts_of_the_vectors(case: dict[str, Any]) -> None:
    assert text_fault(case["text"]) == case["fault"]
    assert text_fault(case["text"], prose=True) == case["prose"]
    assert quoted(case["text"]) == case["quoted"]
    assert quoted(case["text"]).isprintable() or "\u200c" in case["text"] or "\u200d" in case["text"]


@pytest.mark.parametrize("case", VECTORS["labels"], ids=lambda case: ascii(case["labels"])[:40])
def test_labels_of_the_vectors(case: dict[str, Any]) -> None:
    assert labels_fault(case["labels"]) == case["fault"]
    assert list(map(label_key, case["labels"])) == case["keys"]


@pytest.mark.parametrize("case", VECTORS["named"], ids=lambda case: ascii(case["label"])[:30])
def test_labels_are_named_as_the_vectors_say(case: dict[str, Any]) -> None:
    told = explain(case["design"]).text.splitlines()[-1]
    assert told == case["told"]
    shown = told.removeprefix("If you leave the answer empty, that is reported as ").removesuffix(".")
    assert ast.literal_eval(shown) == case["label"]
    assert told.isprintable()


def test_the_vectors_have_both_kinds() -> None:
    for part, wrong, fine in (("texts", 60, 15), ("labels", 40, 12)):
        faults = [bool(case["fault"]) for case in VECTORS[part]]
        assert sum(faults) >= wrong
        assert faults.count(False) >= fine


def test_what_no_reader_sees_is_nowhere_allowed() -> None:
    """This Python's own tables agree: nothing that is allowed is unassigned, private, a control or a format sign."""
    kinds = unicode.settled(unicode.classes_of("".join(f"a{chr(code)}" for code in range(0x110000))))[1::2]
    good = [chr(code) for code, kind in enumerate(kinds) if kind not in unicode.STRAY and code != 0x0A]
    assert len(good) == VECTORS["alphabet"]["allowed"] == 144_261
    assert {unicodedata.category(sign)[0] for sign in good} == set("LMNPSZ")
    assert not {unicodedata.category(sign) for sign in good} & {"Zl", "Zp"}


def test_ascii_and_the_table_agree() -> None:
    """A label looks the same whether the others of its question are ASCII or not."""
    for code in range(0x20, 0x7F):
        assert label_key(f"a{chr(code)}") == label_key(f"a{chr(code)}\n\u4e0d").split("\n")[0], chr(code)
    assert len(texts.ALIKE) == 9


def test_skeletons_are_settled() -> None:
    """A skeleton is its own skeleton: two texts that look alike have one, in whatever order it is found."""
    good = "\n".join(chr(c) for c in range(0x80, 0x110000) if unicode.classes_of(chr(c)) not in unicode.STRAY)
    once = unicode.skeleton(good)
    assert unicode.skeleton(once) == once
    assert len(CLASSES.split()) < 256


def test_messages_name_both_labels_and_are_plain() -> None:
    told = labels_fault(["l", "\u0661"])
    assert told == '"l" and "\\u0661" look alike'
    assert labels_fault(["Ja", "nein", "ja"]) == '"Ja" and "ja" sound alike'
    assert labels_fault(["a", "x" * 100_000]) == f'"{"x" * 76}... has more than {LABEL_MAX} characters'


@pytest.mark.parametrize("sign", ["\ufdfa", "e\u0301\u0323"])
def test_work_is_bounded(sign: str) -> None:
    """The largest lists of labels take little time, and larger ones are refused before they are looked at."""
    each = sign * (900 // len(sign))
    count = (LABELS_MAX - 1) // (len(each) + 5)
    start = time.process_time()
    assert labels_fault([f"{each}{i:04}" for i in range(count)]) == ""
    assert time.process_time() - start < 3
    start = time.process_time()
    assert "more than" in labels_fault([f"{each}{i:04}" for i in range(count + 99)])
    assert time.process_time() - start < 0.5


def test_what_is_printed_is_one_line_that_hides_nothing() -> None:
    assert printable("a\u202eb\u200bc\nd\x1be") == r"a\u202eb\u200bc d\x1be"
    assert printable("\u0301 a\ue000\U000e0100\ufeff") == r"\u0301 a\ue000\U000e0100\ufeff"
    assert printable("\u0646\u200c\u0645") == "\u0646\u200c\u0645"
    assert printable("n\u200cm") == r"n\u200cm"
    assert quoted('a" b\\') == r'"a\" b\\"'
