"""How values lie in a file: its format, and for text the delimiter, the encoding, the compression and the header."""

from __future__ import annotations

import bz2
import codecs
import gzip
import lzma
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from deniable.errors import FormatError, ParameterError, require

__all__ = ["COMPRESSIONS", "FORMATS", "STANDARD", "Layout"]

STANDARD = "-"
"""The name of standard input or output where a file is taken."""

FORMATS = ("auto", "csv", "lines", "parquet", "arrow")
"""How values may lie in a file; `auto` goes by the suffix."""

_SUFFIXES = {".csv": "csv", ".tsv": "csv", ".parquet": "parquet", ".txt": "lines"}
_SUFFIXES |= {".arrow": "arrow", ".feather": "arrow", ".ipc": "arrow"}
_OPENERS: Mapping[str, Callable[[Any], Any]] = {"gzip": gzip.open, "bzip2": bz2.open, "xz": lzma.open}
_PACKED = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz"}
_DAMAGES = (gzip.BadGzipFile, EOFError, lzma.LZMAError, zlib.error)
_NAMED = {"comma": ",", "tab": "\t", "\\t": "\t", "semicolon": ";", "pipe": "|", "space": " "}

COMPRESSIONS = ("auto", "none", *_OPENERS)
"""How a file may be compressed; `auto` goes by the last suffix."""


@dataclass(frozen=True, slots=True)
class Layout:
    """How values lie in a file; what is left at `auto` or None goes by the file's name."""

    format: str = FORMATS[0]
    delimiter: str | None = None
    """Between the cells of CSV: one sign, or its name; a comma, or for .tsv a tab, unless given."""
    encoding: str | None = None
    """Of text: UTF-8 unless given."""
    compression: str = COMPRESSIONS[0]
    header: bool = True
    """Whether CSV starts with the names of its columns; without them columns are named by their numbers, from 1 on."""

    def __post_init__(self) -> None:
        require(self.format in FORMATS, "format", self.format, f"one of {', '.join(FORMATS)}")
        need = f"one of {', '.join(COMPRESSIONS)}"
        require(self.compression in COMPRESSIONS, "compression", self.compression, need)
        sign = self.delimiter is None or len(_NAMED.get(self.delimiter, self.delimiter)) == 1
        sign = sign and self.delimiter not in ("\n", "\r", '"')
        require(sign, "delimiter", self.delimiter, f"one sign, or one of {', '.join(_NAMED)}")
        if self.encoding is not None:
            _check_encoding(self.encoding)

    @classmethod
    def of(cls, what: str | Layout) -> Layout:
        """A layout, also from the name of a format."""
        return what if isinstance(what, Layout) else cls(what)

    def names_file(self, source: str) -> bool:
        """Whether a name is that of a file with values: by its suffix, or because its format is given."""
        return self.format != FORMATS[0] or _bare(source).suffix.lower() in _SUFFIXES

    def kind(self, source: str) -> str:
        """The format of a file: the one that is given, or by its suffix."""
        found = self.format if self.format != "auto" else self._by_suffix(source)
        told = {
            "delimiter": (self.delimiter, self.delimiter is not None and found != "csv"),
            "no-header": (True, not self.header and found != "csv"),
            "text-encoding": (self.encoding, self.encoding is not None and found in ("parquet", "arrow")),
            "compression": (self.packing(source), self.packing(source) != "none" and found in ("parquet", "arrow")),
        }
        for name, (given, odd) in told.items():
            require(not odd, name, given, f"left out for the format {found}")
        return found

    def _by_suffix(self, source: str) -> str:
        if source == STANDARD:
            return "csv" if self.delimiter is not None or not self.header else "lines"
        found = _SUFFIXES.get(_bare(source).suffix.lower())
        if found is None:
            raise ParameterError(
                f"format must be given for {source!r}: its suffix is none of {', '.join(_SUFFIXES)}.",
                "Say --format csv, lines (one value per line), parquet or arrow.",
            )
        return found

    def packing(self, source: str) -> str:
        """How a file is compressed."""
        by_name = "none" if source == STANDARD else _PACKED.get(Path(source).suffix.lower(), "none")
        return by_name if self.compression == "auto" else self.compression

    def separator(self, source: str) -> str:
        """What stands between the cells of a CSV file."""
        if self.delimiter is not None:
            return _NAMED.get(self.delimiter, self.delimiter)
        return "\t" if source != STANDARD and _bare(source).suffix.lower() == ".tsv" else ","

    @property
    def codec(self) -> str:
        """The encoding of text; a mark that UTF-8 begins with is no part of it."""
        given = self.encoding or "utf-8"
        return "utf-8-sig" if codecs.lookup(given).name == "utf-8" else given

    @contextmanager
    def unpacked(self, stream: BinaryIO, source: str) -> Iterator[Any]:
        """The bytes of a file as they were before compression; `FormatError` if they were not, or are damaged."""
        packing = self.packing(source)
        if packing == "none":
            yield stream
            return
        try:
            with _OPENERS[packing](stream) as opened:
                yield opened
        except (*_DAMAGES, OSError) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise
            hint = "Say --compression none, or which one it is."
            raise FormatError(f"{source} is not compressed by {packing}, or damaged: {error}.", hint) from error


def _bare(source: str) -> Path:
    """The name without the suffix of a compression."""
    path = Path(source)
    return path.with_suffix("") if path.suffix.lower() in _PACKED else path


def _check_encoding(name: str) -> None:
    try:
        known = getattr(codecs.lookup(name), "_is_text_encoding", True)
    except (LookupError, ValueError):
        known = False
    hint = "Windows in the West writes cp1252; others are latin-1, utf-16, shift_jis, gb18030."
    require(known, "text-encoding", name, "the name of an encoding of text", hint)
