"""Texts of strangers: what they may contain, which labels people can tell apart, and how they are shown.

A text may contain what Unicode 14 has, apart from what nobody sees, what changes the direction of writing, and private
characters; the same in every client, whatever its own version of Unicode. Joiners stand only where a script or an emoji
needs them. Labels of one question must differ after everything that looks alike is made the same (skeletons of UTS 39),
and in more than capitals, which are not heard.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

__all__ = ["LABELS_MAX", "LABEL_MAX", "label_key", "labels_fault", "printable", "quoted", "text_fault"]

LABEL_MAX = 1000
"""Characters of a label."""
LABELS_MAX = 1 << 20
"""Characters of all labels of a question, unless all are ASCII."""
ALIKE = {"0": "O", "1": "l", "I": "l", "W": "VV", "m": "rn", "w": "vv", "|": "l", '"': "''", "`": "'"}
"""What looks alike in ASCII; `confusables` has the same and the others."""

_ALIKE = str.maketrans(ALIKE)
_LINES = str.maketrans("\t\n\r", "   ")
_CONTROL, _ANY_CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f]"), re.compile("[\x00-\x1f\x7f]")
_SPACES = re.compile("[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+")
"""All that is white space, in every client."""


def text_fault(text: str, *, prose: bool = False) -> str:
    """What is wrong with a text, in words; nothing if people can see all of it.

    In `prose`, as a question is, there may be line breaks, tabs, and words of letters from several scripts.

    >>> text_fault("ill\\U000e0100")
    '"ill\\\\udb40\\\\udd00" has U+E0100, which people cannot see or not every device knows'
    """
    return _fault([text.translate(_LINES) if prose else text], prose)


def labels_fault(labels: Sequence[str]) -> str:
    """What is wrong with the labels of one question, in words; nothing if people can see all and tell them apart.

    >>> labels_fault(["yes", "\\u0443\\u0435\\u0455"])
    '"yes" and "\\\\u0443\\\\u0435\\\\u0455" look alike'
    """
    if max(map(len, labels), default=0) > LABEL_MAX:
        return f"{_shown(max(labels, key=len))} has more than {LABEL_MAX} characters"
    joined = "\n".join(labels)
    if len(joined) > LABELS_MAX and not joined.isascii():
        return f"{_shown(labels[0])} is one of labels that have more than {LABELS_MAX} characters in all"
    return _fault(labels, False) or _twins(labels, joined)


def label_key(label: str) -> str:
    """The same for labels that look alike.

    >>> label_key("Illinois") == label_key("lllin0is")
    False
    >>> label_key("Illinois") == label_key("lllinois")
    True
    """
    return "\n".join(_keys(label))


def printable(text: str) -> str:
    """A text of a stranger as one line that moves no cursor and hides nothing: what it may not contain shows its code.

    >>> printable("a\\x1b[2Jb\\nc")
    'a\\\\x1b[2Jb c'
    """
    line = " ".join(filter(None, _SPACES.split(text)))
    if line.isascii() and line.isprintable():
        return line
    from deniable_client.texts import unicode

    good = unicode.settled(unicode.classes_of(line))
    return "".join(ascii(sign)[1:-1] if kind in unicode.STRAY else sign for sign, kind in zip(line, good, strict=True))


def quoted(text: str) -> str:
    """A stranger's words in quotes, on one line; a quote in them does not end them.

    >>> quoted('Do you smoke?" Nothing is sent.')
    '"Do you smoke?\\\\" Nothing is sent."'
    """
    inner = printable(text.replace("\\", "\\\\").replace('"', '\\"'))
    return f'"{inner}"'


# ---- what is wrong


def _fault(texts: Sequence[str], prose: bool) -> str:
    joined = "\n".join(texts)
    if _CONTROL.search(joined) or joined.count("\n") != len(texts) - 1 or not all(map(_visible, texts)):
        odd = next(text for text in texts if _ANY_CONTROL.search(text) or not _visible(text))
        return f"{_shown(odd)} is blank or has a control sign"
    if not joined.isascii():
        from deniable_client.texts import unicode

        found = unicode.fault(joined, prose)
        if found:
            place, told = found
            return f"{_shown(texts[joined.count(chr(10), 0, place)])} {told}"
    return ""


def _visible(text: str) -> bool:
    return bool(text.strip(" ")) and (text.isascii() or bool(_SPACES.sub("", text)))


def _twins(labels: Sequence[str], joined: str) -> str:
    for text, told in ((joined, "look alike"), (joined.lower(), "sound alike")):
        keys = _keys(text)
        if len(set(keys)) < len(keys):
            first: dict[str, int] = {}
            here = next(i for i, key in enumerate(keys) if first.setdefault(key, i) != i)
            return f"{_shown(labels[first[keys[here]]])} and {_shown(labels[here])} {told}"
    return ""


def _keys(joined: str) -> list[str]:
    """What labels look like; there is one on each line."""
    if joined.isascii():
        alike = joined.translate(_ALIKE)
    else:
        from deniable_client.texts import unicode

        alike = unicode.skeleton(joined)
    keys = alike.split("\n")
    return [" ".join(filter(None, key.split(" "))) for key in keys] if " " in alike else keys


def _shown(text: str) -> str:
    """A text with codes for all that is not ASCII, cut where it is long."""
    told = json.dumps(text[:80])
    return told if len(told) <= 80 else told[:77] + "..."
