"""Sheets of an .xlsx file as rows of texts, by the standard library, with limits on everything."""

from __future__ import annotations

import io
import re
import struct
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from xml.etree import ElementTree

from deniable.errors import DeniableError, FormatError

__all__ = ["sheets_of"]

_PART, _ROWS, _COLUMNS, _TEXT = 8 << 20, 5000, 200, 32_767
"""Bytes of a part when it is unpacked, rows and columns of a sheet, characters of a cell."""
_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_WANTED = ("survey", "choices", "settings")


def sheets_of(data: bytes) -> Mapping[str, Sequence[Mapping[str, str]]]:
    """The rows of the sheets survey, choices and settings, each by the names in the first row."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as file:
            shared = _shared(file)
            targets = _targets(file)
            return {name: _rows(_part(file, path), shared) for name, path in targets.items()}
    except DeniableError:
        raise
    except (zipfile.BadZipFile, zlib.error, KeyError, ValueError, RuntimeError, EOFError, struct.error) as error:
        raise FormatError(f"this is not a workbook that can be read: {error}.", "Save it as .xlsx again.") from None


def _part(file: zipfile.ZipFile, name: str) -> ElementTree.Element:
    """A part as a tree; nothing of it is read beyond the limit, and it may declare no entities."""
    if file.getinfo(name).compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise FormatError(f"{name} of the workbook is packed in a way that sheets are not.")
    with file.open(name) as source:
        data = source.read(_PART + 1)
    if len(data) > _PART:
        raise FormatError(f"{name} of the workbook has more than {_PART:,} bytes.")
    if b"<!" in data:
        raise FormatError(f"{name} of the workbook has declarations, which sheets do not have.")
    try:
        return ElementTree.fromstring(data)
    except ElementTree.ParseError as error:
        raise FormatError(f"{name} of the workbook is damaged: {error}.") from None


def _shared(file: zipfile.ZipFile) -> list[str]:
    """Texts that cells name by their numbers."""
    if "xl/sharedStrings.xml" not in file.namelist():
        return []
    return [_text(each) for each in _part(file, "xl/sharedStrings.xml").iter(f"{_MAIN}si")]


def _text(part: ElementTree.Element) -> str:
    return "".join(piece.text or "" for piece in part.iter(f"{_MAIN}t"))[:_TEXT]


def _targets(file: zipfile.ZipFile) -> dict[str, str]:
    """The parts of the sheets that are wanted, by name."""
    relations = {
        each.get("Id", ""): each.get("Target", "") for each in _part(file, "xl/_rels/workbook.xml.rels").iter()
    }
    found = {}
    for sheet in _part(file, "xl/workbook.xml").iter(f"{_MAIN}sheet"):
        name, target = (sheet.get("name") or "").strip().lower(), relations.get(sheet.get(_RELATION, ""), "")
        if name in _WANTED and target:
            found[name] = target.lstrip("/") if target.startswith("/") else f"xl/{target}"
    return found


def _rows(tree: ElementTree.Element, shared: Sequence[str]) -> list[dict[str, str]]:
    heads: dict[int, str] = {}
    found: list[dict[str, str]] = []
    for row in tree.iter(f"{_MAIN}row"):
        cells = {_column(cell.get("r", "")): _value(cell, shared) for cell in row.iter(f"{_MAIN}c")}
        cells = {place: text for place, text in cells.items() if 0 <= place < _COLUMNS}
        if not heads:
            heads = {place: text.strip() for place, text in cells.items() if text.strip()}
            continue
        told = {head: cells.get(place, "").strip() for place, head in heads.items()}
        if any(told.values()):
            found.append(told)
        if len(found) > _ROWS:
            raise FormatError(f"a sheet has more than {_ROWS:,} rows.")
    return found


def _column(reference: str) -> int:
    """The number of the column of a cell such as C7."""
    found = re.match("[A-Z]{1,3}", reference)
    number = 0
    for letter in found[0] if found else "":
        number = 26 * number + ord(letter) - 64
    return number - 1


def _value(cell: ElementTree.Element, shared: Sequence[str]) -> str:
    kind = cell.get("t", "n")
    if kind == "inlineStr":
        return _text(cell)
    value = cell.find(f"{_MAIN}v")
    text = (value.text or "") if value is not None else ""
    if kind == "s":
        return shared[int(text)] if text.isdecimal() and int(text) < len(shared) else ""
    return text[:_TEXT]
