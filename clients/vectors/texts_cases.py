"""Texts and labels that every client must take, or refuse; `make.py` writes them to `texts.json`."""

from __future__ import annotations

import hashlib
from typing import Any

from deniable_client.device import explain
from deniable_client.texts import label_key, labels_fault, printable, quoted, text_fault
from deniable_client.texts.unicode import STRAY, classes_of, settled

Case = dict[str, Any]

PERSIAN = "\u0646\u0645\u06cc\u200c\u062f\u0627\u0646\u0645"
DOCTOR = "\U0001f469\u200d\u2695\ufe0f"
FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
KEYCAP = "1\ufe0f\u20e3"
HINDI = "\u0915\u094d\u200d\u0937"

TEXTS = [
    "plain",
    "  two  spaces ",
    "50 %, <=50K, ?",
    "caf\u00e9 cafe\u0301",
    "m\u00b2 \u00bd \u2116 5 \u20ac \u2026",
    PERSIAN,
    HINDI,
    f"{DOCTOR} {FAMILY} {KEYCAP}",
    "\U0001f44d\U0001f3fd",
    "\u05e9\u05b8\u05c1\u05dc\u05d5\u05b9\u05dd",
    "\ub108 \ud55c\uad6d\uc5b4 PCR\u691c\u67fb \u30ab\u30ca",
    "Wi-Fi \u0434\u043e\u043c\u0430",
    "\u03b2-blocker",
    "a\u00a0b\u202fc\u3000d",
    'say "yes" \\ no',
    "\U0001e900\U00010400 \U00020000",
    # What must be refused, at least outside of prose:
    "",
    " ",
    "\u00a0\u3000",
    "two\nlines",
    "a\ttab",
    "a\r\nb",
    "a\x0bb",
    "\x00",
    "a\x1b[2J",
    "a\x85b",
    "\u0443es",
    "pay\u0440al",
    "\u03bcg",
    "Fine\u2028An answer costs epsilon 0.",
    # What must be refused everywhere:
    "ill\U000e0100",
    "\u202elli ton",
    "\u2066ill\u2069",
    *(f"ill{chr(code)}" for code in (0xAD, 0x34F, 0x61C, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180E, 0x180F)),
    *(f"ill{chr(code)}" for code in (0x200B, 0x200C, 0x200D, 0x200E, 0x200F, 0x2029, 0x202A, 0x2060, 0x2061, 0x2065)),
    *(f"ill{chr(code)}" for code in (0x206F, 0x2800, 0x3164, 0xE000, 0xF8FF, 0xFDD0, 0xFE00, 0xFE0E, 0xFE0F, 0xFEFF)),
    *(f"ill{chr(code)}" for code in (0xFFA0, 0xFFF0, 0xFFF9, 0xFFFB, 0xFFFE, 0xFFFF, 0x13430, 0x1BCA0, 0x1D159)),
    *(f"ill{chr(code)}" for code in (0x16FE4, 0x1D173, 0x1FFFE, 0xE0001, 0xE0041, 0xE0FFF, 0xF0000, 0x10FFFF)),
    *(f"ill{chr(code)}" for code in (0x378, 0x1E030, 0x1FAE8, 0x31350, 0x11F00, 0x10D40, 0x1C89)),  # after Unicode 14
    "\u05d0\u200d\u05d1",
    "\u0301a",
    "a \u0301",
    "a\u0301\u0301",
    "\u00e9\u0301",
    "a\u0300\u0301\u0302\u0303\u0304",
    "a" + "\u0300\u0301" * 400,
    "\U0001f3f4\U000e0067\U000e0062\U000e007f",
    f"{DOCTOR}\u200d",
    "\u200dill",
]

LABELS = [
    ["yes", "no"],
    ["1", "2", "10", "12"],
    ["\u05db\u05df", "\u05dc\u05d0"],
    [PERSIAN, "\u0628\u0644\u0647"],
    ["\u0434\u0430", "\u043d\u0435\u0442", "Wi-Fi \u0434\u043e\u043c\u0430"],
    ["\u306f\u3044", "\u3044\u3044\u3048", "\u5206\u304b\u3089\u306a\u3044"],
    ["\uc608", "\uc544\ub2c8\uc694"],
    ["\u0939\u093e\u0901", "\u0928\u0939\u0940\u0902"],
    ["e", "\u00e9", "\u00e8", "\u00ea"],
    ["\U0001f600", "\U0001f622", DOCTOR],
    ["<=50K", ">50K", "?", "50 %", "a/b", "C++", "C#"],
    ["down", "clown"],
    # Look alike:
    ["ill", "very ill", "ill\U000e0100"],
    ["not ill", "\u202elli ton"],
    ["yes", "\u0443es"],
    ["yes", "\u0443\u0435\u0455"],
    ["ill", "ill "],
    ["not ill", "not  ill"],
    ["not ill", "not\u00a0ill"],
    ["not ill", "not\u3000ill"],
    ["ill", "iII"],
    ["1", "l"],
    ["O", "0"],
    ["modern", "modem"],
    ["vvar", "war"],
    ["caf\u00e9", "cafe\u0301"],
    ["\u00c5", "\u212b"],
    ["yes", "\U0001d432\U0001d41e\U0001d42c"],
    ["yes", "\uff59\uff45\uff53"],
    ["\uff76\uff85", "\u30ab\u30ca"],
    ["1-2", "1\u20132"],
    ["1-2", "1\u22122"],
    ["don't", "don\u2019t"],
    [PERSIAN, PERSIAN.replace("\u200c", "")],
    [DOCTOR, DOCTOR.replace("\ufe0f", "")],
    ["\u2665", "\u2665\ufe0f"],
    ["\u0391", "\u0410"],
    ["HE", "\u041d\u0415"],
    ["\u03bf\u03c3", "\u03bf\u03c2"],
    ["\u0661", "\u06f1"],
    ["\ufefb", "\u0644\u0627"],
    ["\u05d0", "\u2135"],
    ["\u0e40\u0e40", "\u0e41"],
    # Sound alike:
    ["Yes", "yes"],
    ["HIV", "hiv"],
    ["\u00c9t\u00e9", "\u00e9t\u00e9"],
    ["\u0394\u0391", "\u03b4\u03b1"],
    # Nothing to see, or too much:
    ["a", ""],
    ["a", " "],
    ["a", "\u2800"],
    ["a", "b\nc"],
    ["a", "b\x1bc"],
    ["a", "b" * 1001],
    ["a", "\U0001f600" * 1001],
    ["a", "b" * 1000],
    ["a", "\U0001f600" * 1000],
]


NAMED = [
    "don't",
    'it is "so"',
    'it\'s "so"',
    "back\\slash",
    *(f"a\u00a0{chr(code)}" for code in (0x7E, 0xA1, 0xFF, 0x100, 0x2460, 0xFFE6, 0x10000, 0x1F600)),
    'it\'s\u00a0"so" \\',
]
"""Labels whose signs are written out where one beside them cannot be seen."""


def named(label: str) -> Case:
    """What a person reads of a label that no answer counts as."""
    domain = {"labels": [label, "another one"], "missing": label}
    kernel = {"kind": "response", "k": "2", "keep": "13485650502877570762"}
    design = {"mechanism": "grr", "version": 1, "epsilon": 1, "domain": domain, "params": {}, "kernel": kernel}
    return {"label": label, "told": explain(design).text.splitlines()[-1], "design": design}


def alphabet() -> Case:
    """Hashes over all code points: how they are printed, and what those that may be shown look like."""
    codes = range(0x110000)
    every = "".join(f"a{chr(code)}" for code in codes)
    kinds = settled(classes_of(every))[1::2]
    good = [code for code, kind in zip(codes, kinds, strict=True) if kind not in STRAY and code != 0x0A]
    lines = "\n".join(map(chr, good))
    parts = {"printable": printable(every), "skeleton": label_key(lines), "lower": label_key(lines.lower())}
    hashes = {name: hashlib.sha256(text.encode()).hexdigest() for name, text in parts.items()}
    return {"allowed": len(good)} | hashes


def texts_vectors() -> Case:
    """All of them."""
    texts = [
        {"text": text, "fault": text_fault(text), "prose": text_fault(text, prose=True), "quoted": quoted(text)}
        for text in TEXTS
    ]
    labels = [{"labels": each, "fault": labels_fault(each), "keys": list(map(label_key, each))} for each in LABELS]
    about = (
        "what is wrong with a text (fault: of one line, prose: as a question), and how it is quoted; what is wrong "
        "with labels of one question, and what each looks like; alphabet: hashes (SHA-256, UTF-8) over all code points "
        "after the letter a: as they are printed, and, for those that may be shown, one on a line, what they look "
        "like, also in lower case; named: what is told of a label that no answer counts as"
    )
    shown = [named(text) for text in (*(text for text in TEXTS if not text_fault(text)), *NAMED)]
    return {"about": about, "alphabet": alphabet(), "texts": texts, "labels": labels, "named": shown}
