"""Reports as Parquet or Arrow files: one report per row, or packed blocks; what they are is in the schema's metadata.

Whoever keeps reports in a data lake writes this schema (`write_table`, `TableWriter`) and reads it (`TableReader`):
the command line, Spark and a collector's export share it. docs/formats.md describes it.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b, sha256
from pathlib import Path
from typing import Any

from deniable.collect.codec import Head, block_of, canonical
from deniable.collect.limits import HEADER, check_answers, parse_header
from deniable.collect.reports import Design, Reports
from deniable.errors import FormatError, MergeError, need_extra, require

__all__ = [
    "DESIGN",
    "LAYOUTS",
    "METADATA",
    "PACKED",
    "REPORT",
    "TableReader",
    "TableWriter",
    "fingerprint",
    "head_in",
    "metadata_of",
    "parse_head",
    "rows_array",
    "write_table",
]

METADATA = "deniable"
"""The key of the schema's metadata, and of a column's metadata in Spark, that has the header."""
REPORT = "report"
"""The column of reports, one per row."""
PACKED = ("n", "crc", "payload")
"""The columns of packed blocks: number of reports, CRC-32 of the payload, and the columns of the reports in a row."""
DESIGN = "design"
"""The column, where there is one, that says of every row which design its report is of, by `fingerprint`."""
LAYOUTS = ("packed", "rows")
"""How reports may lie in a table."""
BLOCK_BYTES, _GROUP_BLOCKS, _GROUP_ROWS = 1 << 20, 8, 1 << 18
"""Bytes of a packed block, blocks of a row group, rows of a row group: readers hold one of these at a time."""

_SPARK = b"org.apache.spark.sql.parquet.row.metadata"
"""Where Spark keeps the metadata of columns."""
_MAGIC = {b"PAR1": "parquet", b"ARRO": "arrow"}


def fingerprint(design: Design) -> str:
    """32 hexadecimal digits that name a design, for the column `design`."""
    return sha256(canonical(design)).hexdigest()[:32]


def metadata_of(head: Head, *, parts: bool = False) -> str:
    """The header as text. `parts`: several files of one folder share it, and its id."""
    check_answers(head.design)
    return canonical(head.document() | {"version": 1} | ({"parts": True} if parts else {})).decode()


def head_in(metadata: Mapping[bytes, bytes] | None) -> tuple[Head, bool] | None:
    """The header in a schema's metadata, and whether files share it; None where there is none.

    `FormatError` for one that is damaged, or of a version that is not known.
    """
    text = (metadata or {}).get(METADATA.encode())
    if text is None:
        text = _from_spark((metadata or {}).get(_SPARK))
    return None if text is None else parse_head(text)


def parse_head(text: bytes) -> tuple[Head, bool]:
    """A header, and whether files share it, from its text."""
    if len(text) > HEADER:
        raise FormatError(f"the header has {len(text):,} bytes, at most {HEADER:,} are allowed.")
    document = parse_header(text)
    version = document.get("version")
    if version != 1:
        raise FormatError(f"this table of reports has version {version!r}, this program reads 1.", "Upgrade deniable.")
    head = Head.of(document)
    check_answers(head.design)
    return head, document.get("parts") is True


def _from_spark(text: bytes | None) -> bytes | None:
    """The header that Spark wrote with a column."""
    if text is None or METADATA.encode() not in text:
        return None
    for column in parse_header(text).get("fields", []):
        known = column.get("metadata", {}) if isinstance(column, dict) else {}
        if isinstance(known, dict) and isinstance(known.get(METADATA), str):
            return str(known[METADATA]).encode()
    return None


def _spark_metadata(names: Iterable[tuple[str, str]], text: str) -> bytes:
    """What Spark reads as the schema, with the header at the first column."""
    columns = [{"name": name, "type": kind, "nullable": True, "metadata": {}} for name, kind in names]
    columns[0]["metadata"] = {METADATA: text}
    return json.dumps({"type": "struct", "fields": columns}).encode()


class TableWriter:
    """Writes reports of one design as Parquet; `close`, or leaving the `with`, finishes the file."""

    def __init__(self, out: Any, head: Head, *, layout: str = LAYOUTS[0], extra: Any = ()) -> None:
        """`out` is a path or a stream; `extra` has Arrow fields of further columns, for one report per row."""
        require(layout in LAYOUTS, "layout", layout, f"one of {', '.join(LAYOUTS)}")
        require(layout == "rows" or not extra, "extra", extra, "left out for packed blocks, which have no rows")
        arrow, parquet = need_extra("pyarrow", "frames"), need_extra("pyarrow.parquet", "frames")
        self.head, self.layout, self.total, self._arrow = head, layout, 0, arrow
        self._held: list[Any] = []
        self._reports: list[Reports] = []
        text = metadata_of(head)
        if layout == "rows":
            fields = [arrow.field(REPORT, arrow.binary()), *extra]
            names, how = ((REPORT, "binary"),), {"compression": "zstd"}
        else:
            fields = [arrow.field("payload", arrow.binary()), ("n", arrow.int32()), ("crc", arrow.int64())]
            names = (("payload", "binary"), ("n", "integer"), ("crc", "long"))  # type: ignore[assignment]
            how = {"compression": "none", "use_dictionary": False, "write_statistics": False}  # type: ignore[dict-item]
        known = {METADATA.encode(): text.encode()}
        if not extra:
            known[_SPARK] = _spark_metadata(names, text)
        self._schema = arrow.schema(fields, metadata=known)
        self._writer = parquet.ParquetWriter(out, self._schema, **how)
        self._rows = max(1, BLOCK_BYTES // max(1, sum(f.width for f in head.fields)))

    def __enter__(self) -> TableWriter:
        return self

    def __exit__(self, kind: object, *rest: object) -> None:
        if kind is None:
            self.close()

    def write(self, reports: Reports, columns: Mapping[str, Any] | None = None) -> None:
        """Append reports of the same design, with further `columns`; simulated ones only to a file marked so."""
        if reports.design != self.head.design or (reports.simulated and not self.head.simulated):
            raise MergeError("these reports are of another design than the file, or simulated while it is not.")
        self.total += len(reports)
        if self.layout == "rows":
            self._held.append(self._arrow.table({REPORT: rows_array(reports), **(columns or {})}, schema=self._schema))
            if sum(table.num_rows for table in self._held) >= _GROUP_ROWS:
                self._flush()
            return
        self._reports.append(reports)
        while sum(map(len, self._reports)) >= self._rows:
            whole = Reports.concat(self._reports)
            self._block(whole[: self._rows])
            self._reports = [whole[self._rows :]]

    def _block(self, reports: Reports) -> None:
        payload = block_of(reports)
        self._held.append((payload, len(reports), zlib.crc32(payload)))
        if len(self._held) == _GROUP_BLOCKS:
            self._flush()

    def _flush(self) -> None:
        if not self._held:
            return
        if self.layout == "rows":
            whole = self._arrow.concat_tables(self._held)
        else:
            whole = self._arrow.table([list(column) for column in zip(*self._held, strict=True)], schema=self._schema)
        self._writer.write_table(whole, row_group_size=len(whole))
        self._held.clear()

    def close(self) -> None:
        """Write what is held back, and the end of the file."""
        if any(map(len, self._reports)):
            self._block(Reports.concat(self._reports))
        self._reports.clear()
        self._flush()
        self._writer.close()


def rows_array(reports: Reports) -> Any:
    """Reports as an Arrow array of bytes, as devices send them."""
    import numpy as np

    arrow = need_extra("pyarrow", "frames")
    n, width = len(reports), reports.row_bytes
    flat = [np.ascontiguousarray(reports.columns[f.name]).view(np.uint8).reshape(n, f.width) for f in reports.fields]
    table = flat[0] if len(flat) == 1 else np.concatenate(flat, axis=1)
    offsets = np.arange(0, (n + 1) * width, width, dtype=np.int64)
    made = arrow.LargeBinaryArray.from_buffers(
        arrow.large_binary(), n, [None, arrow.py_buffer(offsets), arrow.py_buffer(np.ascontiguousarray(table))]
    )
    return made.cast(arrow.binary())


def write_table(
    target: Any, head: Head, batches: Iterable[Reports], *, layout: str = LAYOUTS[0], extra: Any = ()
) -> int:
    """Write reports as one Parquet file; returns how many. This is the schema that an export of reports has."""
    with TableWriter(target, head, layout=layout, extra=extra) as writer:
        for reports in batches:
            writer.write(reports)
        return writer.total


@dataclass(frozen=True)
class TableReader:
    """A Parquet or Arrow file of reports: its header, and its rows in batches, in bounded memory.

    `given` stands in for the header of a file that has none: who wrote it must know what its reports are.
    """

    path: str
    given: Head | None = None

    @cached_property
    def kind(self) -> str:
        """`parquet` or `arrow`."""
        with Path(self.path).open("rb") as file:
            found = _MAGIC.get(file.read(4))
        if found is None:
            raise FormatError(f"{self.path} is neither a Parquet nor an Arrow file.")
        return found

    @cached_property
    def _file(self) -> Any:
        """The opened file; `FormatError` where it is damaged."""
        arrow, parquet = need_extra("pyarrow", "frames"), need_extra("pyarrow.parquet", "frames")
        ipc = need_extra("pyarrow.ipc", "frames")
        try:
            if self.kind == "parquet":
                return parquet.ParquetFile(self.path, memory_map=True)
            return ipc.open_file(arrow.memory_map(self.path))
        except (arrow.ArrowException, OSError, UnicodeDecodeError) as error:
            raise FormatError(f"{self.path} is not in the {self.kind.title()} format, or damaged: {error}.") from error

    @property
    def schema(self) -> Any:
        """The Arrow schema."""
        return self._file.schema_arrow if self.kind == "parquet" else self._file.schema

    @property
    def metadata(self) -> Mapping[bytes, bytes] | None:
        """What the file says of itself."""
        found: Mapping[bytes, bytes] | None = self.schema.metadata
        return found

    @cached_property
    def _known(self) -> tuple[Head, bool]:
        found = head_in(self.metadata)
        if found is None and self.kind == "parquet":
            found = head_in(self._file.metadata.metadata)
        if found is None and self.given is None:
            hint = "Say what its reports are: --design FILE, or design= in Python."
            raise FormatError("the table does not say of which design its reports are.", hint)
        if found is not None and self.given is not None and found[0].design != self.given.design:
            raise FormatError(f"{self.path} has reports of another design than the one given.")
        return found or (self.given, False)  # type: ignore[return-value]

    @property
    def head(self) -> Head:
        """What the reports are."""
        return self._known[0]

    @property
    def design(self) -> Design:
        """The design of the reports."""
        return self.head.design

    @property
    def simulated(self) -> bool:
        """Whether any of them came from a seeded stream."""
        return self.head.simulated

    @property
    def parts(self) -> bool:
        """Whether other files of the same folder share the header and its id."""
        return self._known[1]

    @property
    def id(self) -> str:
        """The id of the file, or of the folder that it is a part of."""
        return self.head.id

    @cached_property
    def content(self) -> str:
        """A hash of what is in a file without an id: it tells this file from others."""
        digest = blake2b(digest_size=16)
        with Path(self.path).open("rb") as file:
            while part := file.read(1 << 20):
                digest.update(part)
        return digest.hexdigest()

    @property
    def groups(self) -> int:
        """How many parts of the file can be read on their own."""
        return int(self._file.metadata.num_row_groups if self.kind == "parquet" else self._file.num_record_batches)

    def first_row(self, group: int) -> int:
        """How many rows stand before a part."""
        if self.kind == "parquet":
            return sum(self._file.metadata.row_group(i).num_rows for i in range(group))
        return sum(self._file.get_batch(i).num_rows for i in range(group))

    @property
    def rows(self) -> int:
        """How many rows there are in all."""
        if self.kind == "parquet":
            return int(self._file.metadata.num_rows)
        return self.first_row(self.groups)

    def batches(self, group: int, columns: Iterable[str], size: int = 1 << 16) -> Iterator[Any]:
        """The rows of a part, `size` at a time; `FormatError` where it is damaged. Threads open the file again."""
        arrow = need_extra("pyarrow", "frames")
        file = TableReader(self.path, self.given)._file
        names = [name for name in columns if name in self.schema.names]
        try:
            if self.kind == "parquet":
                yield from file.iter_batches(batch_size=size, row_groups=[group], columns=names, use_threads=False)
            else:
                batch = file.get_batch(group).select(names)
                yield from (batch.slice(start, size) for start in range(0, batch.num_rows, size))
        except (arrow.ArrowException, OSError, UnicodeDecodeError, ArithmeticError) as error:
            raise FormatError(f"{self.path} is a damaged {self.kind.title()} file: {error}.") from error
