"""What a page says: every text on it, and which of it is neither from the catalogue nor its author's."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from html.parser import HTMLParser
from string import Formatter
from typing import Any

from deniable.mechanisms.registry import MECHANISMS
from deniable.service.texts.catalogue import Text, area
from deniable.service.texts.languages import LANGUAGES

__all__ = ["COLLECTED", "beside", "said_in", "said_on"]

COLLECTED = """() => {
  const found = [document.title];
  const silent = "script, style, noscript, code, pre, body [lang]";
  const walk = document.createTreeWalker(document.documentElement, NodeFilter.SHOW_TEXT);
  for (let node = walk.nextNode(); node; node = walk.nextNode()) {
    if (!node.parentElement.closest(silent)) found.push(node.data);
  }
  for (const name of ["aria-label", "alt", "title", "placeholder"]) {
    for (const node of document.querySelectorAll(`[${name}]`)) {
      if (!node.closest(silent)) found.push(node.getAttribute(name));
    }
  }
  return found.map((text) => text.replace(/\\s+/g, " ").trim()).filter((text) => text);
}"""
"""All texts of a page, shown or not yet, and what is read out; not what is code or marked as another language."""
_ADDRESS = re.compile(r"https?://\S+|\b[0-9a-f]{12,64}\b")
_LETTERS = r"[^\W\d_]"
AREAS = ("answer", "build", "common", "desk", "see")


def _forms(text: Text) -> Iterable[str]:
    return [text] if isinstance(text, str) else text.values()


@cache
def _known(tag: str) -> tuple[str, ...]:
    """What is said between the places of the texts of a language, and its names of months; the longest first."""
    forms = [form for name in AREAS for text in area(name, tag).values() for form in _forms(text)]
    parts = {" ".join(part.split()) for form in forms for part, *_ in Formatter().parse(form)}
    parts |= set(LANGUAGES[tag].months.split()) | {joint.strip() for joint in LANGUAGES[tag].joined}
    return tuple(sorted((part for part in parts if re.search(_LETTERS, part)), key=len, reverse=True))


@cache
def _pattern(tag: str, own: tuple[str, ...]) -> re.Pattern[str]:
    texts = [" ".join(text.split()) for text in sorted(own, key=len, reverse=True)]
    names = [
        "Deniable",
        "CSV",
        "JSON",
        "PARQUET",
        "Parquet",
        "SVG",
        "PNG",
        "QR",
        *MECHANISMS,
        *LANGUAGES,
        *(each.name for each in LANGUAGES.values()),
    ]
    return re.compile("|".join(_whole(text) for text in (*texts, *_known(tag), *names) if text))


def _whole(text: str) -> str:
    """A text that is not a part of longer words."""
    before, after = (f"(?<!{_LETTERS})", f"(?!{_LETTERS})")
    return before * text[0].isalpha() + re.escape(text) + after * text[-1].isalpha()


def beside(texts: Iterable[str], tag: str, own: Iterable[str] = ()) -> list[str]:
    """Texts with words that are not of the catalogue in a language, and not of those who wrote the questions."""
    pattern = _pattern(tag, tuple(own))
    left = [(text, pattern.sub(" ", _ADDRESS.sub(" ", " ".join(text.split())))) for text in texts]
    return sorted({text for text, rest in left if re.search(rf"{_LETTERS}{{2}}", rest)})


def said_on(page: Any, tag: str, own: Iterable[str] = ()) -> list[str]:
    """The same of a page in a browser."""
    return beside(page.evaluate(COLLECTED), tag, own)


class _Texts(HTMLParser):
    """The texts of a page as it is served; what is code, or marked as another language, is not."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.open: list[tuple[str, bool]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        silent = tag in ("script", "style", "noscript", "code", "pre") or (tag != "html" and "lang" in known)
        self.found += [
            known[name] or "" for name in ("aria-label", "alt", "title", "placeholder") if name in known and not silent
        ]
        if tag not in ("meta", "link", "input", "img", "br", "hr", "rect", "circle", "line", "path"):
            self.open.append((tag, silent))

    def handle_endtag(self, tag: str) -> None:
        while any(each == tag for each, _ in self.open) and self.open.pop()[0] != tag:
            continue

    def handle_data(self, data: str) -> None:
        if not any(silent for _, silent in self.open):
            self.found.append(" ".join(data.split()))


def said_in(html: str) -> list[str]:
    """All texts of a page that is served, without those that are marked as being of another language."""
    parser = _Texts()
    parser.feed(html)
    return [text for text in parser.found if text]
