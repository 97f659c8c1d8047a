"""Things kept in files and taken out again: reports and tallies by their bytes, mechanisms by their designs."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from deniable.collect import codec
from deniable.collect.codec import dump
from deniable.collect.files import replace_file
from deniable.collect.limits import parse_header
from deniable.collect.reports import Design, Reports, new_id
from deniable.collect.tally import Tally
from deniable.core.space import Space
from deniable.errors import FormatError, ParameterError, require
from deniable.mechanisms.base import Mechanism
from deniable.mechanisms.registry import from_design
from deniable.run.files import check_output, naming, open_input, read_space, refuse_loss

__all__ = ["load", "read_design", "save"]


def load(what: str | os.PathLike[str] | bytes) -> Reports | Tally | Mechanism | Space:
    """What a file holds, by its path, or what bytes of `dump` hold: reports, a tally, or a mechanism.

    A .csv file holds a space: a table of losses, or places with the columns latitude and longitude.

    >>> import deniable as dn
    >>> dn.load("nowhere.bin")
    Traceback (most recent call last):
        ...
    deniable_client.errors.ParameterError: cannot read 'nowhere.bin': No such file or directory. Give the path of ...
    """
    if isinstance(what, bytes | bytearray | memoryview):
        return _known(codec.load(bytes(what)))
    known = isinstance(what, str | os.PathLike)
    require(known, "path", what, "the path of a file, or bytes that dn.dump gave")
    path = Path(what)
    try:
        data = path.read_bytes()
    except OSError as error:
        hint = "Give the path of a file that dn.save or a command wrote."
        raise ParameterError(f"cannot read {str(what)!r}: {error.strerror}.", hint) from error
    if path.suffix.lower() == ".csv" and data[:4] not in codec.MAGIC:
        return read_space(path)
    with naming(str(what)):
        return _design(data) if data.lstrip()[:1] in (b"{", b"[") else _known(codec.load(data))


def _known(found: Reports | Tally) -> Reports | Tally:
    """The same; whoever looks at the counts of a tally sees what they are about."""
    if isinstance(found, Tally):
        return replace(found, names=lambda cell: from_design(found.design).entry_names(cell))
    return found


def read_design(path: str) -> Design:
    """The design in a file: as `save` writes it, or within what `deniable design` and `deniable plan` print as JSON."""
    with open_input(path) as stream, naming(path):
        try:
            document = parse_header(stream.read(1 << 25))
        except FormatError as error:
            raise FormatError("this is not a design: it is not JSON.", _WANTED) from error
        if document.get("feasible") is False:
            raise ParameterError("this plan has no design: none meets its limits.", "Plan with other limits.")
        found = document.get("design", document)
        if not isinstance(found, dict) or not {"kernel", "parts"} & set(found):
            raise FormatError("this is not a design: there is none with a kernel in it.", _WANTED)
        return from_design(found).design


_WANTED = (
    "Give a design as deniable.save(mechanism, path) writes it, or the output of `deniable design NAME --json` or "
    "`deniable plan --json`."
)


def save(what: Reports | Tally | Mechanism, path: str | os.PathLike[str], *, force: bool = False) -> Path:
    """Write reports, a tally or a mechanism to a file, whole or not at all; `load` reads it.

    A file that exists is replaced with `force` only. Report files get an id, so that none of them is counted twice.
    """
    bytes_of = next((made for kind, made in _BYTES.items() if isinstance(what, kind)), None)
    if bytes_of is None:
        hint = "Estimates are saved as frames, by to_pandas() or to_polars(); charts by deniable.present.charts.save."
        raise ParameterError(f"only reports, tallies and mechanisms are saved, got {type(what).__name__}.", hint)
    require(isinstance(path, str | os.PathLike), "path", path, "the path of a file")
    target = os.fspath(path)
    check_output(target, name="path")
    refuse_loss(target, force=force, name="path", how="force=True")
    replace_file(Path(os.path.realpath(target)), bytes_of(what))
    return Path(target)


_BYTES: Mapping[type, Callable[[Any], bytes]] = {
    Reports: lambda reports: dump(reports, id=_id(reports)),
    Tally: dump,
    Mechanism: lambda m: (json.dumps(m.design, ensure_ascii=False, indent=1, allow_nan=False) + "\n").encode(),
}
"""What is written of each kind of thing."""


def _id(reports: Reports) -> str:
    """The id of a report file: of one batch its own, however often it is saved; files of one seed stay the same."""
    if reports.simulated:
        return ""
    known = {*reports.sources, *reports.batches}
    return known.pop() if len(known) == 1 else new_id()


def _design(data: bytes) -> Mechanism:
    try:
        return from_design(json.loads(data))
    except (ValueError, RecursionError) as error:
        if isinstance(error, FormatError):
            raise
        raise FormatError(f"this is no design in JSON: {error}.") from error
