"""Makes the tables of texts, the same for both clients: what every character is, and which ones look alike.

    python clients/vectors/tables.py UCD CONFUSABLES

UCD is a folder with files of the Unicode Character Database (DerivedAge, DerivedCoreProperties, Scripts,
emoji/emoji-data, extracted/DerivedGeneralCategory), of version 14 or later: characters that came later than 14 are left
out. CONFUSABLES has the pairs of UTS 39 as JSON: characters (or a few of them) with lists of {"c": what looks like it}.
Writes `confusables.py` of the Python client and `confusables.js` of the other one.
"""

from __future__ import annotations

import json
import re
import sys
import textwrap
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

CLIENTS = Path(__file__).parents[1]
PYTHON = CLIENTS / "python" / "src" / "deniable_client" / "texts" / "confusables.py"
JAVASCRIPT = CLIENTS / "js" / "src" / "confusables.js"
AGE = 14.0
LAST = 0x110000
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
BLANK = {0x2800, 0xFFFC, 0x16FE4, 0x1D159}
"""Drawn as nothing, although no property says so: an empty braille cell, a filler, a note without a head, no object."""
OTHERS = ("refused", "other", "space", "mark", "emoji")
"""What characters are that are no letters of a script, in this order."""
WIDTHS = ((0x1D400, 0x1D800), (0x1EE00, 0x1EF00), (0xFB50, 0xFE00), (0xFE70, 0xFF00), (0xFF00, 0xFFF0))
"""Styles, shapes and widths of other characters: what those are (NFKD) is what these look like."""
OWN = {
    "w": "vv",
    "W": "VV",
    "\u03c2": "\u03c3",  # the sigma at the end of words is a small one, so that capitals have one small letter
    "\u0371": "\u2c76",  # these are drawn alike by common fonts
    "\u051a": "Q",
    "\u060c": "'",
    "\u0674": "\u0654",
    "\ua646": "\u0196",
    "\ua72a": "\u0190",
}
"""What UTS 39 does not have."""

NOTICE = """\
Written by clients/vectors/tables.py. Facts of the Unicode Character Database (characters of Unicode 14.0) and of the
confusables of Unicode Security Mechanisms (UTS 39, as of Unicode 13.0). Copyright of the data files: Unicode, Inc.;
they are used under the Unicode License, https://www.unicode.org/license.txt."""
CLASSES_TOLD = (
    "What a character may be: refused, another sign, a space, a mark above or below others, or a script's letter."
)
RUNS_TOLD = "All code points in order: how many follow each other and the number of what they are, in base 36."
ALIKE_TOLD = "How far a character is from the one before, and the characters that it looks like, in base 36."

Text = dict[int, str]


def rows(path: Path) -> Iterator[tuple[range, str]]:
    """Ranges of code points and their property, of a file of the database."""
    for line in path.read_text(encoding="utf-8").splitlines():
        found = re.match(r"([0-9A-F]+)(?:\.\.([0-9A-F]+))?\s*;\s*([\w.]+)", line)
        if found:
            yield range(int(found[1], 16), int(found[2] or found[1], 16) + 1), found[3]


def property_of(path: Path) -> Text:
    """The last property of each code point."""
    return {code: name for codes, name in rows(path) for code in codes}


def having(path: Path, wanted: str) -> set[int]:
    """Code points that have a property, of a file with several."""
    return {code for codes, name in rows(path) if name == wanted for code in codes}


def classes(folder: Path) -> tuple[list[str], list[int]]:
    """The names of classes, and the number of each code point's."""
    age, category = (property_of(folder / name) for name in ("DerivedAge.txt", "extracted/DerivedGeneralCategory.txt"))
    script, drawn = property_of(folder / "Scripts.txt"), folder / "emoji/emoji-data.txt"
    pictures = having(drawn, "Extended_Pictographic") | having(drawn, "Emoji_Modifier")
    ignored = having(folder / "DerivedCoreProperties.txt", "Default_Ignorable_Code_Point") | BLANK

    def name_of(code: int) -> str:
        kind = category.get(code, "Cn")
        if float(age.get(code, AGE + 1)) > AGE or kind[0] == "C" or kind in ("Zl", "Zp") or code in ignored:
            return "refused"
        if kind == "Zs":
            return "space"
        if kind in ("Mn", "Me"):
            return "mark"
        if code in pictures:
            return "emoji"
        own = script.get(code, "Common")
        return own if kind[0] in "LM" and own not in ("Common", "Inherited") else "other"

    named = [name_of(code) for code in range(LAST)]
    names = [*OTHERS, *sorted(set(named) - set(OTHERS))]
    numbers = {name: number for number, name in enumerate(names)}
    return names, [numbers[name] for name in named]


def runs(numbers: list[int]) -> Iterator[tuple[int, int]]:
    """Lengths and numbers of stretches of the same."""
    start = 0
    for code in range(1, len(numbers) + 1):
        if code == len(numbers) or numbers[code] != numbers[start]:
            yield code - start, numbers[start]
            start = code


def decomposed(text: str) -> str:
    """As skeletons are written."""
    return unicodedata.normalize("NFD", text)


def prototypes(pairs: dict[str, list[dict[str, Any]]], allowed: Callable[[str], bool]) -> dict[str, str]:
    """What each character looks like: of two, the one with fewer others looks like the other; spaces are none here."""
    bare = {mark: decomposed(mark.strip("\u200e")) for mark in pairs}
    edges = {(bare[mark], decomposed(other["c"].strip("\u200e"))) for mark, others in pairs.items() for other in others}
    edges = {(min(edge), max(edge)) for edge in edges if allowed("".join(edge))}
    degree = Counter(text for edge in edges for text in edge)
    found = dict(OWN)
    for one, two in sorted(edges):
        least, most = sorted(
            (one, two), key=lambda text: (len(text), text.isascii(), not styled(text), degree[text], text)
        )
        if len(least) == 1 and most.isascii() >= least.isascii() and most != " ":
            found.setdefault(least, most)
    for _ in range(9):
        found = {
            mark: text for mark, text in ((mark, skeleton(text, found)) for mark, text in found.items()) if mark != text
        }
    assert all(skeleton(text, found) == text for text in found.values())
    return found


def skeleton(text: str, alike: dict[str, str]) -> str:
    """A text in the characters that its own look like."""
    return decomposed("".join(alike.get(mark) or made_of(mark, alike) for mark in decomposed(text)))


def styled(mark: str) -> bool:
    """Whether it is a style, shape or width of other characters."""
    return any(low <= ord(mark[0]) < high for low, high in WIDTHS) and unicodedata.normalize("NFKD", mark) != mark


def made_of(mark: str, alike: dict[str, str]) -> str:
    """What a character looks like that is not in the table."""
    return skeleton(unicodedata.normalize("NFKD", mark), alike) if styled(mark) else mark


def shortened(alike: dict[str, str]) -> dict[str, str]:
    """Without those that follow from what a style, shape or width is made of."""
    return {mark: text for mark, text in alike.items() if not styled(mark) or made_of(mark, alike) != text}


def short(number: int) -> str:
    """In base 36."""
    return (short(number // 36) if number >= 36 else "") + DIGITS[number % 36]


def tables(folder: Path, confusables: Path) -> dict[str, str]:
    """The three tables as texts."""
    names, numbers = classes(folder)
    pairs = json.loads(confusables.read_text(encoding="utf-8"))
    alike = shortened(prototypes(pairs, lambda text: all(numbers[ord(mark)] for mark in text)))
    codes = sorted(map(ord, alike))
    steps = zip(codes, [0, *codes], strict=False)
    told = (f"{short(code - last)}:{'.'.join(short(ord(mark)) for mark in alike[chr(code)])}" for code, last in steps)
    return {
        "CLASSES": " ".join(names),
        "RUNS": " ".join(f"{short(length)}.{short(number)}" for length, number in runs(numbers)),
        "ALIKE": " ".join(told),
    }


def main() -> None:
    """Write both files."""
    made = tables(Path(sys.argv[1]), Path(sys.argv[2]))
    told = {"CLASSES": CLASSES_TOLD, "RUNS": RUNS_TOLD, "ALIKE": ALIKE_TOLD}
    lines = {name: "\n".join(textwrap.wrap(text, 118)) for name, text in made.items()}
    parts = [f'{name} = """\\\n{lines[name]}\n"""\n"""{told[name]}"""\n' for name in made]
    head = f'"""What characters are, and which ones look alike.\n\n{NOTICE}\n"""\n'
    listed = '\n__all__ = ["ALIKE", "CLASSES", "RUNS"]\n\n'
    PYTHON.write_text(head + listed + "\n".join(parts), encoding="utf-8")
    notice = "\n".join(f" * {line}" for line in NOTICE.splitlines())
    head = f"/**\n * What characters are, and which ones look alike.\n *\n{notice}\n */\n"
    parts = [f"/** {told[name]} */\nexport const {name} = `\\\n{lines[name]}\n`;\n" for name in made]
    JAVASCRIPT.write_text(head + "\n" + "\n".join(parts), encoding="utf-8")


if __name__ == "__main__":
    main()
