"""The catalogue: every text that people read on the pages, by id, in every language.

A folder of texts is an area of the pages; each has one file for each language, `common` is for all. A text has places
for its parts, `{who}`; a text that depends on a number is a mapping by plural (`one`, `few`, .., `other`), chosen by
`count`. `notes.json` of an area says what a translator must know, and which property a text promises.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import date
from functools import cache
from importlib.resources import files
from string import Formatter
from typing import Any

from markupsafe import Markup, escape

from deniable.errors import DeniableError
from deniable.service.texts.languages import Language, language

__all__ = ["Text", "Texts", "area", "bdi", "say", "texts"]

Text = str | Mapping[str, str]
"""A text, or one for each plural."""
_COMMON = "common"


@cache
def area(name: str, tag: str) -> Mapping[str, Text]:
    """The texts of one area alone, in one language, by their ids."""
    found: Mapping[str, Text] = json.loads((files(__package__) / name / f"{tag}.json").read_text("utf-8"))
    return found


def bdi(value: object) -> Markup:
    """A collector's word on a page: as text, with a direction of its own."""
    return Markup('<bdi dir="auto">{}</bdi>').format(value)


class Texts:
    """The texts of an area in one language, and what all areas share."""

    def __init__(self, name: str, tag: str) -> None:
        self.language: Language = language(tag)
        """How numbers, days and lists are written."""
        self._found = {**area(_COMMON, self.language.tag), **area(name, self.language.tag)}

    def __call__(self, id: str, /, **values: Any) -> str:
        """A text with its parts filled in: numbers, days and lists as the language writes them."""
        parts = {name: str(self._written(value)) for name, value in values.items()}
        return self._template(id, values).format_map(parts)

    def html(self, id: str, /, **values: Any) -> Markup:
        """The same for a page: what is not marked as safe is escaped."""
        parts = {name: escape(self._written(value)) for name, value in values.items()}
        return Markup(escape(self._template(id, values)).format_map(parts))

    def page(self, ids: Iterable[str]) -> dict[str, Text]:
        """The texts that a page's script needs, by id; those that end with `.` name all that begin so."""
        wanted = tuple(ids)
        chosen = {
            id: text
            for id, text in self._found.items()
            if id in wanted or any(start.endswith(".") and id.startswith(start) for start in wanted)
        }
        missing = [id for id in wanted if not any(each.startswith(id) for each in chosen)]
        if missing:
            raise DeniableError(f"the catalogue has no text {missing[0]!r}.", "Add it to every language.")
        return chosen

    def _template(self, id: str, values: Mapping[str, Any]) -> str:
        found = self._found.get(id)
        if found is None:
            raise DeniableError(f"the catalogue has no text {id!r}.", "Add it to every language.")
        if isinstance(found, str):
            return found
        return found.get(self.language.plural(values["count"]), found["other"])

    def _written(self, value: Any) -> Any:
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return self.language.number(value)
        if isinstance(value, date):
            return self.language.date(value)
        if isinstance(value, (list, tuple)):
            shown = [escape(each) for each in value]
            return (
                Markup(self.language.list(shown))
                if any(isinstance(each, Markup) for each in value)
                else (self.language.list([str(each) for each in value]))
            )
        return value


@cache
def texts(name: str, tag: str) -> Texts:
    """The texts of an area in the language of a tag; in English where there is no such language."""
    return Texts(name, tag)


def say(tag: str, name: str, id: str, /, **values: Any) -> str:
    """One text of an area.

    >>> say("de", "common", "level.3")
    'guter Schutz'
    """
    return texts(name, tag)(id, **values)


def places(text: str) -> frozenset[str]:
    """The names of a text's places.

    >>> sorted(places("{a} of {b}"))
    ['a', 'b']
    """
    return frozenset(name for _, name, _, _ in Formatter().parse(text) if name is not None)
