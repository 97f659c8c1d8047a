"""Labels that pass the check are drawn differently by a real browser, and what it refuses looks alike."""

from __future__ import annotations

import random
import unicodedata
from typing import Any

import pytest

from deniable_client.texts import labels_fault
from deniable_client.texts.unicode import skeleton
from pages.browsing import browser

QUESTIONS = 1000
BASES = (
    ["ill", "very ill", "well"],
    ["yes", "no", "not sure"],
    ["HIV", "none", "other"],
    ["cancer", "flu", "I do not know"],
    ["Paracetamol", "Ibuprofen", "100 mg"],
    ["да", "нет", "не знаю"],
    ["ναι", "όχι", "ίσως"],
)
IGNORED = "".join(
    map(chr, (0xAD, 0x34F, 0x61C, 0x115F, 0x17B4, 0x180B, 0x200B, 0x200C, 0x200D, 0x2060, 0x2065, 0x3164, 0xFE00))
) + "".join(map(chr, (0xFE0F, 0xFEFF, 0xFFA0, 0xE0041, 0xE0100)))
DIRECTIONS = "\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
SPACES = " \u00a0\u2002\u2005\u2009\u202f\u3000"
MARKS = "\u0300\u0301\u0323\u0331\u0338\u034f\u0489"
DRAW = """(labels) => {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [320, 48];
  const context = canvas.getContext("2d", { willReadFrequently: true });
  const drawn = (text) => {
    context.clearRect(0, 0, canvas.width, canvas.height);
    context.font = "20px sans-serif";
    context.direction = "ltr";
    context.fillText(text, 8, 32);
    const pixels = new Uint32Array(context.getImageData(0, 0, canvas.width, canvas.height).data.buffer);
    return Array.from(pixels, (pixel, i) => (pixel ? `${i}:${pixel}` : "")).filter(Boolean).join();
  };
  const missing = new Set(["\\u{10ffff}", "\\u0378", "\\ufffe"].map(drawn));
  const known = new Map();
  const hasGlyph = (sign) => {
    if (!known.has(sign)) known.set(sign, !missing.has(drawn(sign)));
    return known.get(sign);
  };
  return labels.map((label) => ({ pixels: drawn(label), glyphs: [...label].every(hasGlyph) }));
}"""


def twins() -> dict[str, list[str]]:
    """For each letter of the bases, characters of the same skeleton, and a few that only resemble it."""
    wanted = {sign for base in BASES for label in base for sign in label if sign.isalnum()}
    found: dict[str, list[str]] = {}
    by_look: dict[str, list[str]] = {}
    for code in (*range(0xA1, 0x3000), *range(0xA640, 0xAC00), *range(0xFF01, 0xFFEF), *range(0x10280, 0x10600)):
        by_look.setdefault(skeleton(chr(code)), []).append(chr(code))
    for sign in sorted(wanted):
        found[sign] = [*by_look.get(skeleton(sign), []), chr(ord(sign) ^ 1), sign.swapcase()]
    return found


def changed(label: str, rng: random.Random, alike: dict[str, list[str]]) -> str:
    """A label that a hostile collector would write beside another one."""
    place = rng.randrange(len(label))
    before, sign, after = label[:place], label[place], label[place + 1 :]
    way = rng.randrange(8)
    if way == 0:
        return before + sign + rng.choice(IGNORED) + after
    if way == 1:
        return (
            rng.choice(DIRECTIONS) + label[::-1]
            if rng.random() < 0.5
            else before + rng.choice(DIRECTIONS) + sign + after
        )
    if way == 2:
        return before + sign + rng.choice(SPACES) + after
    if way == 3:
        return before + sign + rng.choice(MARKS) * rng.randrange(1, 3) + after
    if way == 4:
        return "".join(rng.choice(alike[each]) if alike.get(each) else each for each in label)
    if way == 5:
        return label.replace("l", "I").replace("o", "0").replace("m", "rn") if rng.random() < 0.5 else f" {label} "
    if way == 6:
        return chr(rng.randrange(0x20, 0x3000)) + after
    return before + (rng.choice(alike[sign]) if alike.get(sign) else sign) + after


def questions(rng: random.Random) -> tuple[list[list[str]], list[list[str]]]:
    """Lists of hostile labels that are taken, as many as asked, and those that were refused on the way."""
    alike, taken, refused = twins(), [], []
    while len(taken) < QUESTIONS:
        base = rng.choice(BASES)
        labels = [*base, changed(rng.choice(base), rng, alike)]
        (refused if labels_fault(labels) else taken).append(labels)
    return taken, refused


def folded(label: str) -> str:
    """What labels were compared by before: compatible characters made the same, and format signs dropped."""
    composed = unicodedata.normalize("NFKC", label)
    return " ".join("".join(sign for sign in composed if unicodedata.category(sign) not in ("Cc", "Cf")).split())


def same(question: list[str], drawn: dict[str, Any]) -> list[tuple[str, str]]:
    """Pairs of labels with the same pixels."""
    pairs = [(a, b) for i, a in enumerate(question) for b in question[:i]]
    return [(a, b) for a, b in pairs if drawn[a]["pixels"] == drawn[b]["pixels"]]


@pytest.mark.turns(2)
@pytest.mark.slow
def test_no_two_answers_of_a_question_are_drawn_alike() -> None:
    """1,000 hostile questions that are taken: no two labels have the same pixels, where there are glyphs for them."""
    taken, refused = questions(random.Random(20261117))
    every = sorted({label for question in (*taken, *refused) for label in question})
    with browser() as chromium:
        page = chromium.new_page()
        page.set_content("<!doctype html><title>Labels</title>")
        drawn = dict(zip(every, page.evaluate(DRAW, every), strict=True))
    blind = [question for question in taken if not all(drawn[label]["glyphs"] for label in question)]
    alike = [(pair, question) for question in taken for pair in same(question, drawn) if question not in blind]
    caught = [question for question in refused if same(question, drawn)]
    passed = [question for question in caught if len(set(map(folded, question))) == len(question)]
    print(
        f"{len(taken)} taken, {len(blind)} of them without glyphs here; {len(refused)} refused, {len(caught)} of them"
    )
    print(f"drawn alike; {len(passed)} of these differ where only compatible and format characters are folded")
    assert [tuple(map(ascii, pair)) for pair, _ in alike] == []
    assert len(blind) < QUESTIONS / 4
    assert len(caught) >= 300, "equal pixels would be seen: what is refused often has them"
    assert len(passed) >= 100, "the control: folding alone lets labels through that are drawn alike"
