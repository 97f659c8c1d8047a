"""Texts that are not ASCII: what every character is, where joiners may stand, and what looks alike."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from itertools import accumulate

from deniable_client.texts.confusables import ALIKE, CLASSES, RUNS

__all__ = ["STRAY", "classes_of", "fault", "settled", "skeleton"]

STRAY = "!-~="
"""Classes of what has no place where it stands: refused ones, both joiners, the mark that makes an emoji of a sign."""
MARKS_MAX = 4
"""Marks on one character, as UTS 39 advises: more of them reach into what is written around."""

_SIGNS = "!._^*"
"""Classes that are no letters of a script, in order: refused, other, space, mark, emoji; letters come after them."""
_NAMES = CLASSES.split()
_CLASSES = _SIGNS + "".join(chr(0x100 + i) for i in range(len(_NAMES) - len(_SIGNS)))
_OF = dict(zip(_NAMES, _CLASSES, strict=True))
_RUNS = [(int(length, 36), _CLASSES[int(number, 36)]) for length, number in (run.split(".") for run in RUNS.split())]
_ENDS = list(accumulate(length for length, _ in _RUNS))

# fmt: off
_JOINED = "".join(_OF[name] for name in (
    "Arabic", "Syriac", "Mongolian", "Nko", "Mandaic", "Manichaean", "Devanagari", "Bengali", "Gurmukhi", "Gujarati",
    "Oriya", "Tamil", "Telugu", "Kannada", "Malayalam", "Sinhala", "Khmer", "Tibetan", "Myanmar",
))
# fmt: on
"""Scripts whose letters have joiners between them."""
_TOGETHER = frozenset(_OF[name] for name in ("Latin", "Han", "Hiragana", "Katakana", "Bopomofo", "Hangul"))
"""Scripts that are written in one word."""
_LETTERS = re.compile(f"[{_CLASSES[len(_SIGNS)]}-{_CLASSES[-1]}^]+")
_RULES = [
    (re.compile(r"\*="), "**"),
    (re.compile(r"\.=(?=\^)"), ".."),  # a digit in a box
    (re.compile(r"\*-(?=\*)"), "**"),
    (re.compile(rf"([{_JOINED}^])[-~](?=[{_JOINED}])"), r"\1."),
]
"""Where joiners may stand."""
_LONE = re.compile(rf"(^|[_\n]|\^{{{MARKS_MAX}}})(\^+)")

_DROPPED = dict.fromkeys((0x200C, 0x200D, 0xFE0F))
_WIDTHS = ((0x1D400, 0x1D800), (0x1EE00, 0x1EF00), (0xFB50, 0xFE00), (0xFE70, 0xFFF0))
"""Styles, shapes and widths of other characters, which look like those."""


class _Classes(dict[int, str]):
    """Classes of code points that have been met."""

    def __missing__(self, code: int) -> str:
        self[code] = _RUNS[bisect_right(_ENDS, code)][1]
        return self[code]


class _Alike(dict[int, str]):
    """What characters look like."""

    def __missing__(self, code: int) -> str:
        sign = chr(code)
        if any(low <= code < high for low, high in _WIDTHS):
            made = unicodedata.normalize("NFKD", sign)
            self[code] = sign if made == sign else made.translate(self)
        else:
            self[code] = " " if _KINDS[code] == "_" else sign
        return self[code]


_KINDS = _Classes({0x0A: "\n", 0x200C: "~", 0x200D: "-", 0xFE0F: "="})


def _alike() -> _Alike:
    made, code = _Alike(), 0
    for entry in ALIKE.split():
        step, targets = entry.split(":")
        code += int(step, 36)
        made[code] = "".join(chr(int(target, 36)) for target in targets.split("."))
    return made


_LOOKS = _alike()


def classes_of(text: str) -> str:
    """One sign for each character: what it is."""
    return text.translate(_KINDS)


def settled(classes: str) -> str:
    """Classes in which joiners are no strays where they may stand, and marks are where they may not."""
    for rule, made in _RULES:
        classes = rule.sub(made, classes)
    return _LONE.sub(lambda found: found[1] + "!" * len(found[2]), classes)


def fault(text: str, prose: bool) -> tuple[int, str] | None:
    """The place of what a text of one or more lines may not have, and what it is; in `prose` words may mix scripts."""
    classes = settled(classes_of(text))
    place = next((i for i, kind in enumerate(classes) if kind in STRAY), None) if _has_stray(classes) else None
    if place is not None:
        refused = f"has U+{ord(text[place]):04X}, which people cannot see or not every device knows"
        return place, _MARKS if _KINDS[ord(text[place])] == "^" else refused
    marks = unicodedata.normalize("NFD", text)
    again = _repeated(marks)
    if again is not None:
        return _line_start(text, marks.count("\n", 0, again)), _MARKS
    return None if prose else _mixed(classes)


_MARKS = f"has a mark that stands alone, twice, or with more than {MARKS_MAX - 1} others on one letter"


def _has_stray(classes: str) -> bool:
    return any(stray in classes for stray in STRAY)


def _repeated(text: str) -> int | None:
    """Where a decomposed text has a mark twice in a row, or too many."""
    kinds = classes_of(text)
    lone = settled(kinds)
    for found in re.finditer(r"\^[\^!]+", lone):
        start, end = found.span()
        if "!" in found[0] or any(text[i] == text[i + 1] for i in range(start, end - 1)):
            return start
    return None


def _line_start(text: str, line: int) -> int:
    place = 0
    for _ in range(line):
        place = text.index("\n", place) + 1
    return place


def _mixed(classes: str) -> tuple[int, str] | None:
    """Where a word has letters of scripts that are not written together."""
    if len(set(classes) - set(_SIGNS) - {"\n"}) < 2:
        return None
    for word in _LETTERS.finditer(classes):
        kinds = set(word[0]) - {"^"}
        if len(kinds) > 1 and not kinds <= _TOGETHER:
            names = sorted(_NAMES[_CLASSES.index(kind)].replace("_", " ") for kind in kinds)
            return word.start(), f"has letters of {' and '.join(names)} in one word"
    return None


def skeleton(text: str) -> str:
    """A text with one character for all that look like it (UTS 39), without joiners."""
    plain = unicodedata.normalize("NFD", text).translate(_DROPPED)
    return unicodedata.normalize("NFD", plain.translate(_LOOKS))
