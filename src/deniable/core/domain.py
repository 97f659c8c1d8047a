"""The domain of a question: how many answers, their labels, and what happens to missing and unknown ones.

`Ticks` is that of a question with several answers: every set of options is one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from deniable.core.types import FloatArray, IntArray
from deniable.core.values import cells_of, is_missing, labels_of
from deniable.errors import DeniableError, FormatError, InWords, ParameterError, meant, require, show, whole
from deniable_client.hashing import ITEMS_MAX
from deniable_client.kernels.box import OPTIONS_MAX, number_of, set_of, sets_up_to
from deniable_client.texts import labels_fault

__all__ = ["Domain", "Ticks"]

K_MAX = 1 << 32
_REWORD = "Devices refuse such a question. Reword a label, as in 'number 1' and 'letter l', and recode the values."


@dataclass(frozen=True, slots=True)
class Domain:
    """k answers, with or without labels.

    `missing` names the label that missing values (None, NaN, an empty cell) count as; `other` the one for values
    that are not in the list. Both are explicit choices: without them such values are errors.

    >>> Domain.of(["no", "yes"]).encode(["yes", "no", "yes"])
    array([1, 0, 1])
    >>> Domain.of(3).labels_or_numbers
    ('0', '1', '2')
    """

    k: int
    labels: tuple[str, ...] | None = None
    missing: str | None = None
    other: str | None = None

    def __post_init__(self) -> None:
        ok = isinstance(self.k, int) and not isinstance(self.k, bool) and self.k >= 2
        require(ok, "k", self.k, "an integer >= 2", "" if ok else _number_meant(self.k))
        require(self.k <= K_MAX, "k", self.k, f"at most {K_MAX:,}", "Group the values, or hash them to fewer.")
        if self.labels is not None:
            require(len(self.labels) == self.k, "labels", len(self.labels), f"k = {self.k} labels")
            seen = len(set(self.labels))
            require(seen == self.k, "labels", self.labels, "different from each other")
            bad = [label for label in self.labels if not _is_label(label)]
            require(not bad, "labels", bad, "text that is not empty and can be stored as UTF-8")
            wrong = labels_fault(self.labels)
            if wrong:
                raise ParameterError(f"labels must be texts that people can see and tell apart: {wrong}.", _REWORD)
        for name in ("missing", "other"):
            label = getattr(self, name)
            known = label is None or (self.labels is not None and label in self.labels)
            require(known, name, label, "one of the labels", "List it among the labels, so that it is counted.")

    @classmethod
    def of(cls, what: int | Sequence[str] | Domain, **choices: str | None) -> Domain:
        """A domain from a number of answers, a list of labels, or a domain."""
        if isinstance(what, Domain):
            told: dict[str, Any] = {name: label for name, label in choices.items() if label is not None}
            return replace(what, **told) if told else what
        if isinstance(what, int | np.integer):
            return cls(what if isinstance(what, bool) else int(what), **choices)  # type: ignore[arg-type]
        if isinstance(what, str) or not isinstance(what, Iterable):
            raise ParameterError(f"domain must be a number of answers or a list of labels, got {show(what)}.")
        labels = labels_of(what)
        require(len(labels) >= 2, "labels", labels, "a list of at least 2 labels")
        return cls(len(labels), labels, **choices)

    @classmethod
    def given(cls, k: object = None, labels: object = None, domain: Any = None, **choices: str | None) -> Domain:
        """The domain that a caller describes in exactly one of three ways; none of them is read as another."""
        told = {"k": k, "labels": labels, "domain": domain}
        ways = [name for name, what in told.items() if what is not None]
        if len(ways) != 1:
            found = " and ".join(ways) or "none of them"
            raise ParameterError(f"domain must be given by exactly one of k, labels and domain, got {found}.")
        known = k is None or isinstance(k, int | np.integer)
        require(known, "k", k, "an integer >= 2", "" if known else _number_meant(k))
        return cls.of(domain if domain is not None else k if labels is None else labels_of(labels), **choices)  # type: ignore[arg-type]

    @property
    def labels_or_numbers(self) -> tuple[str, ...]:
        """The labels, or "0".."k-1" where there are none."""
        return self.labels if self.labels is not None else tuple(map(str, range(self.k)))

    @property
    def allowed(self) -> str:
        """What values may be, in words."""
        if self.labels is None:
            return f"whole numbers from 0 to {self.k - 1}"
        return f"one of the {self.k} labels ({', '.join(self.labels[:6])}{', ...' * (self.k > 6)})"

    def document(self) -> dict[str, Any]:
        """As plain data, for designs."""
        if self.labels is None:
            return {"k": self.k}
        choices = {name: getattr(self, name) for name in ("missing", "other") if getattr(self, name) is not None}
        return {"labels": list(self.labels), **choices}

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Domain:
        """The inverse of `document`, for grids of numbers, codes and spaces too."""
        if not isinstance(document, Mapping):
            raise FormatError(f"a domain is described by a mapping, got {type(document).__name__}.")
        if "ticks" in document:
            return Ticks.from_ticks(document)
        if "circle" in document:
            from deniable.core.circle import Circle

            return Circle.from_circle(document)
        if "space" in document or "codes" in document:
            from deniable.core.codes import Codes
            from deniable.core.space import Space

            return Space.from_points(document) if "space" in document else Codes.from_codes(document)
        try:
            if "interval" in document:
                from deniable.core.grid import Grid

                low, high = document["interval"]
                return Grid.of(low, high, document["points"], layout=document["layout"], clip=document["clip"])
            extra = {name: document[name] for name in ("missing", "other") if name in document}
            return cls.of(document["labels"], **extra) if "labels" in document else cls.of(document["k"])
        except DeniableError:
            raise
        except (LookupError, TypeError, ValueError) as error:
            raise FormatError(
                f"a domain needs k, labels or an interval with points, got {dict(document)!r}."
            ) from error

    def encode(self, values: object, column: str | None = None) -> IntArray:
        """Values (labels, or integers 0..k-1 where there are no labels) as item numbers.

        They may be a list, an array, a series, or a `column` of a frame (`deniable.core.values.cells_of`).
        """
        cells = cells_of(values, column)
        require(cells.size > 0, "values", InWords("none"), "at least one value", "Empty data have no estimate.")
        return self._encode_numbers(cells) if self.labels is None else self._encode_labels(cells)

    def decode(self, items: IntArray) -> np.ndarray[Any, Any]:
        """Answers as they are read: numbers of an interval, labels where there are some, else numbers of answers."""
        return items if self.labels is None else np.array(self.labels)[items]

    def coordinates(self) -> FloatArray | None:
        """Where answers lie: on a line, in steps, unless they have places of their own; None if nowhere."""
        return np.arange(self.k, dtype=np.float64)

    def distances(self) -> FloatArray:
        """How far answers (rows) and reports (columns) are from each other: on a line by their coordinates."""
        where = self.coordinates()
        assert where is not None
        return np.abs(where[:, None] - where)

    def _encode_numbers(self, cells: np.ndarray[Any, Any]) -> IntArray:
        whole = np.issubdtype(cells.dtype, np.integer) or (cells.dtype == np.bool_ and self.k == 2)
        if not whole:
            cells = _integers_of_objects(cells, self.k)
        bad = np.flatnonzero((cells < 0) | (cells >= self.k))
        if bad.size:
            raise ParameterError(
                f"values must be from 0 to {self.k - 1}, got {cells[bad[0]]} at position {bad[0]}"
                f" ({len(bad)} of {cells.size} values are outside).",
                "Nothing was clipped; correct them or enlarge the domain.",
            )
        return cells.astype(np.int64)

    def _encode_labels(self, cells: np.ndarray[Any, Any]) -> IntArray:
        assert self.labels is not None
        index = {label: i for i, label in enumerate(self.labels)}
        missing = index[self.missing] if self.missing is not None else -2
        other = index[self.other] if self.other is not None else -1
        if "" not in index:
            with suppress(KeyError, TypeError):  # where all are labels this is all; otherwise look closely
                return np.fromiter(map(index.__getitem__, cells.tolist()), np.int64, cells.size)
        codes = np.fromiter(
            (missing if is_missing(v) else _place(v, index, other) for v in cells.tolist()),
            np.int64,
            cells.size,
        )
        self._refuse(cells, codes, -2, "is missing", "missing")
        self._refuse(cells, codes, -1, "is not one of the labels", "other")
        return codes

    def _refuse(self, cells: np.ndarray[Any, Any], codes: IntArray, code: int, what: str, choice: str) -> None:
        bad = np.flatnonzero(codes == code)
        if bad.size:
            cell = cells[bad[0] : bad[0] + 1].tolist()[0]
            near = meant(cell, self.labels or ()) if choice == "other" else ""
            raise ParameterError(
                f"values must be {self.allowed}, but the value {show(cell)} at "
                f"position {bad[0]} {what} ({bad.size} of {cells.size}).",
                f"{near} Correct it, or declare which label such values count as with {choice}=LABEL.".lstrip(),
            )


def _number_meant(k: Any) -> str:
    """What somebody may have meant by a number of answers that is none.

    >>> _number_meant(1e6), _number_meant("4"), _number_meant(["a", "b"])
    ('Write k=1000000.', 'Write k=4.', 'Labels are given as labels=[...].')
    """
    try:
        whole = 0 if isinstance(k, bool) or int(k) != (int(k) if isinstance(k, str) else k) else int(k)
    except (TypeError, ValueError, OverflowError):
        return "Labels are given as labels=[...]." if isinstance(k, Iterable) else "For a yes/no question use k=2."
    return f"Write k={whole}." if 2 <= whole <= K_MAX else "For a yes/no question use k=2."


def _is_label(label: object) -> bool:
    """Whether it can be stored, and told from a missing value."""
    try:
        return isinstance(label, str) and label.encode() != b""
    except UnicodeEncodeError:
        return False


def _place(value: object, index: Mapping[str, int], other: int) -> int:
    """The number of the label that a value is, or `other`.

    A whole number may come as a float, since that is what columns of integers become when something is missing.
    """
    if isinstance(value, bytes | Mapping | Sequence | Set | np.ndarray) and not isinstance(value, str):
        hint = "Bytes are decoded first, rows of several cells need column=NAME."
        require(False, "values", value, "single ones", hint)
    text = value if isinstance(value, str) else str(value)
    if text not in index and isinstance(value, float) and value.is_integer():
        text = str(int(value))
    return index.get(text, other)


def _integers_of_objects(cells: np.ndarray[Any, Any], k: int) -> IntArray:
    """Whole numbers out of an object array; booleans only where the domain is yes/no."""
    at = next((i for i, cell in enumerate(cells.tolist()) if is_missing(cell)), None)
    if at is not None:
        cell = cells[at : at + 1].tolist()[0]
        raise ParameterError(
            f"values must be integers from 0 to {k - 1}, but the value {show(cell)} at position {at} is missing.",
            "Leave it out; or declare labels, one of which missing values count as: missing=LABEL.",
        )
    if cells.dtype == object:
        kinds = (int, np.integer, bool) if k == 2 else (int, np.integer)
        bad = [i for i, v in enumerate(cells.tolist()) if not isinstance(v, kinds) or (k != 2 and isinstance(v, bool))]
        if not bad:
            try:
                return np.array([int(v) for v in cells.tolist()], dtype=np.int64)
            except OverflowError:
                raise ParameterError(f"values must be from 0 to {k - 1}, got one beyond 64 bits.") from None
        found = f"{show(cells.tolist()[bad[0]])} at position {bad[0]}"
    else:
        found = f"an array of dtype {cells.dtype}"
    raise ParameterError(
        f"values must be integers from 0 to {k - 1}, got {found}.",
        "Convert them yourself, or declare labels; nothing is rounded or coerced.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Ticks(Domain):
    """All sets of at most `most` of some options; k is how many sets there are, and each has a number.

    A value is a list of options: labels, or numbers from 0 on where there are none. Texts, as files have them, name
    options with semicolons between; an empty one ticks nothing.

    >>> where = Ticks.over(["drama", "comedy", "western"], 2)
    >>> where.k, where.encode([["comedy"], [], "western;drama"]).tolist()
    (7, [2, 0, 5])
    >>> where.decode(np.array([5])).tolist()
    [['drama', 'western']]
    """

    options: Domain
    most: int

    def __post_init__(self) -> None:
        """See `Domain`: there may be more sets than could have labels."""

    @classmethod
    def over(cls, options: int | Sequence[str] | Domain, most: int | None = None) -> Ticks:
        """Sets of at most so many options: of all of them unless that is said."""
        if isinstance(options, Ticks):
            require(most in (None, options.most), "most", most, f"{options.most}, as the domain has it")
            return options
        each = Domain.of(options)
        plain = type(each) is Domain and each.missing is None and each.other is None
        hint = "Nothing ticked is an answer already: an empty list."
        require(plain, "options", InWords(each.allowed), "a number of them or labels, without missing or other", hint)
        few = "Group some of them, or ask for them in several questions."
        require(each.k <= OPTIONS_MAX, "options", each.k, f"at most {OPTIONS_MAX}", few)
        told = f"a whole number from 1 to the number of options, {each.k}"
        hint = "It is how many options somebody may tick."
        limit = each.k if most is None else whole("most", most, 1, each.k, told, hint)
        sets = sets_up_to(each.k, limit)
        hint = "Let people tick fewer options, or ask for some of them in another question."
        require(sets <= ITEMS_MAX, "most", limit, f"such that there are at most {ITEMS_MAX:,} sets of options", hint)
        return cls(k=sets, options=each, most=limit)

    @classmethod
    def from_ticks(cls, document: Mapping[str, Any]) -> Ticks:
        """The inverse of `document`."""
        try:
            return cls.over(document["ticks"], document["most"])
        except (LookupError, TypeError, ValueError) as error:
            raise FormatError(f"ticks need options and how many may be ticked: {error!r}.") from error

    @property
    def labels_or_numbers(self) -> tuple[str, ...]:
        """What estimates are about: the options."""
        return self.options.labels_or_numbers

    @property
    def allowed(self) -> str:
        named = self.options.allowed.removeprefix("one of ")
        return f"lists of {'any' if self.most == self.options.k else f'at most {self.most}'} of {named}"

    def document(self) -> dict[str, Any]:
        labels = self.options.labels
        return {"ticks": self.options.k if labels is None else list(labels), "most": self.most}

    def encode(self, values: object, column: str | None = None) -> IntArray:
        """Lists of options, or texts, as the numbers of sets."""
        cells = _ticked_cells(values, column)
        require(len(cells) > 0, "values", InWords("none"), "at least one value", "Empty data have no estimate.")
        found: dict[Any, int] = {}
        numbers = np.empty(len(cells), np.int64)
        for i, cell in enumerate(cells):
            key = cell if isinstance(cell, str) else tuple(cell) if isinstance(cell, Iterable) else None
            if key not in found or key is None:
                found[key] = self._number(cell, i)
            numbers[i] = found[key]
        return numbers

    def _number(self, cell: Any, i: int) -> int:
        """The number of the set that somebody ticked."""
        if isinstance(cell, str):
            cell = [part.strip() for part in cell.split(";")] if cell.strip() else []
            cell = [int(part) if self.options.labels is None and part.isdecimal() else part for part in cell]
        hint = "Nothing ticked is an empty list, or an empty text."
        listed = isinstance(cell, Sequence | Set | np.ndarray) and not isinstance(cell, bytes)
        require(listed, "values", cell, f"{self.allowed}, but not so at position {i}", hint)
        own = self.options.encode(list(cell)).tolist() if len(cell) else []
        twice = f"with every option at most once, but not so at position {i}"
        require(len(set(own)) == len(own), "values", list(cell), twice)
        require(len(own) <= self.most, "values", list(cell), f"of at most {self.most} options", "Nothing was left out.")
        return number_of(own, self.options.k)

    def decode(self, items: IntArray) -> np.ndarray[Any, Any]:
        """Lists of options."""
        out = np.empty(len(items), object)
        for i, item in enumerate(items.tolist()):
            out[i] = self.options.decode(np.array(sorted(set_of(item, self.options.k)), np.int64)).tolist()
        return out

    def members(self, items: IntArray) -> np.ndarray[Any, Any]:
        """Which options (columns) the sets of these numbers (rows) hold."""
        count, rest = self.options.k, items.astype(np.int64)
        starts = np.array([sets_up_to(count, size - 1) for size in range(self.most + 1)], np.int64)
        size = np.searchsorted(starts, rest, side="right") - 1
        rest = rest - starts[size]
        out = np.zeros((items.size, count), np.bool_)
        for i in range(self.most, 0, -1):
            rows = np.flatnonzero(size >= i)
            table = np.array([min(math.comb(option, i), ITEMS_MAX) for option in range(count)], np.int64)
            option = np.searchsorted(table, rest[rows], side="right") - 1
            out[rows, option] = True
            rest[rows] -= table[option]
        return out


def _ticked_cells(values: object, column: str | None) -> list[Any]:
    """Cells of lists or texts: those of a frame, or what is listed."""
    if isinstance(values, str):
        return [values]
    if isinstance(values, list | tuple) and column is None:
        return list(values)
    return list(cells_of(values, column))
