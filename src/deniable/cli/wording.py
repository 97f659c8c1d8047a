"""Errors in the words of whoever typed the command: options as on the command line, not as arguments of Python."""

from __future__ import annotations

import re
from collections.abc import Collection

__all__ = ["as_typed"]


def as_typed(message: str, hint: str, flags: Collection[str]) -> tuple[str, str]:
    """A message and its hint, with the names of arguments written as those options of the command that they are.

    >>> as_typed("max_bytes must be an integer >= 1, got 0.", "For one value use k=2.", ["--max-bytes", "--k"])
    ('--max-bytes must be an integer >= 1, got 0.', 'For one value use --k 2.')
    >>> as_typed("ss has no option 'g'; its own options are: size, g.", "", ["--g", "--size"])[0]
    'ss has no option --g; its own options are: --size, --g.'
    """
    names = {spelt: flag for flag in flags for spelt in (flag.lstrip("-"), flag.lstrip("-").replace("-", "_"))}
    if not names:
        return message, hint
    known = "|".join(sorted(map(re.escape, names), key=len, reverse=True))

    def option(found: re.Match[str]) -> str:
        return f"{found[1]}{names[found[2]]}{found[3]}"

    def every(found: re.Match[str]) -> str:
        return re.sub(rf"\b(?:{known})\b", lambda name: names[name[0]], found[0])

    def setting(found: re.Match[str]) -> str:
        value = re.sub(r"[\[\]()'\" ]", "", found[2])
        return f"{names[found[1]]} {value}"

    for pattern in (
        rf"(^|: )({known})(?: of a task)?( must )",
        rf"(^)({known})( of q\d+ of a task must )",
        rf"( unless )({known})( is )",
        rf"( has no option )'({known})'(;)",
        rf"( own parameter )({known})(\.)",
        rf"( together with )({known})(,)",
    ):
        message = re.sub(pattern, option, message)
    message = re.sub(rf"(?<=; its own options are: )(?:(?:{known})(?:, |(?=\.)))+", every, message)
    several = rf"(?<![\w-])(?:(?:{known}), )*(?:{known}) and (?:{known})(?= must | give )"
    if re.search(several, message):
        message, hint = (re.sub(several, every, text) for text in (message, hint))
        message = re.sub(rf"(?<=, got )(?:{known})(?=\.$)", every, message)
    message = re.sub(r", got None\.$", ", but it was left out.", message)
    given = rf"(?<![\w.-])(?<!\w\()({known})=(\[[^\]]*\]|\([^)]*\)|'[^']*'|[^\s,;.)]+)"
    return re.sub(given, setting, message), re.sub(given, setting, hint)
