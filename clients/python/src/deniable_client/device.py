"""A device: checks the design it was given, then turns its own value into one deniable report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from deniable_client.documents import parts_of
from deniable_client.errors import FormatError, ParameterError, require, within
from deniable_client.exact import exp_bounds
from deniable_client.explanation import Explanation, check_consent, explanation, of_parts
from deniable_client.grammar import Design, read_design
from deniable_client.kernels import check_promise
from deniable_client.words import SystemWords, Words

__all__ = ["Device", "Steps", "check_work", "explain", "plain"]

_NO_VALUE = object()


class Device:
    """Reports values under a design document, after proving that the design keeps its promise.

    The document is the one that `deniable design` prints as `design` and that every report file carries; it may come
    from a server that nobody trusts. It must have the shape that its mechanism's name allows (`grammar`); its integers
    are then recomputed into an exact likelihood ratio. A design that is anything else is refused with `FormatError`,
    and one that leaks more than its `epsilon` says with `PrivacyError`, before anything is drawn or sent.

    A design may protect some answers only. Then `harmless` must list exactly the answers that a report may name
    (`explain` says which): without that consent it is refused too.

    A design of parts deals one of them to each report; then values, stand-in and consent are lists, with one for each
    part.

    `stand_in` is reported in place of a value that the question has no answer for. Without it such a value is an error,
    and whoever sees that no report arrives learns that the value was none of the answers.

    What `explain` gave stands for its design, which is then not proved again.

    >>> design = {"mechanism": "grr", "version": 1, "epsilon": 1.0986122886681098, "domain": {"k": 2}, "params": {},
    ...           "kernel": {"kind": "response", "k": "2", "keep": "13835058055282163711"}}
    >>> len(Device(design).report(1))
    1
    """

    def __init__(
        self,
        design: Mapping[str, object] | Explanation,
        *,
        harmless: Iterable[object] | None = None,
        stand_in: object = _NO_VALUE,
    ) -> None:
        self._explanation = design if isinstance(design, Explanation) else explain(design)
        self._design = self._explanation.design
        check_consent(self._explanation, harmless)
        self.epsilon = self._design.epsilon
        self.kernel = self._design.kernel
        self.labels = self._design.domain.labels
        self.levels = self._design.levels
        self._stand_in = None if stand_in is _NO_VALUE else self._design.number_of(stand_in)

    def explain(self) -> Explanation:
        """What this design may send about each answer: protected, or disclosed and with which chance."""
        return self._explanation

    def report(
        self, value: object, words: Words | None = None, *, coin: int | None = None, level: float | None = None
    ) -> bytes:
        """One report for `value`: a label, a number of the interval, or an integer from 0 to k-1, as the domain has it.

        For key-value designs `value` is the list of the person's pairs (key, number), for designs of parts a list with
        a value for each part; only the one of the part that is drawn is looked at, at its most protective level.

        `coin` is the public seed that the collector dealt, for kernels that have one. Decide to take part before
        looking at it, and answer a retry with the same report: see docs/maths/coins.md, section 4.

        `level` is the protection that the person chose, where the design has levels: one of `levels`, the smallest and
        most protective one if left out. Do not choose it by looking at the value.
        """
        return self.randomise(self.answer(value), words, coin=coin, level=level)

    def answer(self, value: object) -> Any:
        """What is randomised for a value: the number of an answer, or pairs of numbers (key, steps)."""
        try:
            return self._design.number_of(value)
        except ParameterError:
            if self._stand_in is None:
                raise
            return self._stand_in

    def known(self, value: object) -> Any:
        """The same for any object at all, without the stand-in: None if it is not an answer. Nothing raises an error.

        Of key-value answers pairs are left out whose key is unknown or whose number is outside.
        """
        given = plain(value)
        try:
            if not self._design.pairs or not isinstance(given, list):
                return self._design.number_of(given)
            fitting = [pair for pair in given if self._fits(pair)]
            return self._design.number_of(fitting) if fitting or not given else None
        except ParameterError:
            return None

    def _fits(self, pair: object) -> bool:
        """Whether a pair has a key and a number of the design."""
        try:
            key, number = pair if isinstance(pair, list) and len(pair) == 2 else (None, None)
            self._design.domain.index(key)
        except ParameterError:
            return False
        if not isinstance(number, int | float) or isinstance(number, bool):
            return False
        low, high = map(float, self._design.params["range"])
        return low <= number <= high

    @property
    def stand_in(self) -> Any:
        """What is randomised for a value that is not an answer; None if there is nothing."""
        return self._stand_in

    def randomise(
        self, answer: Any, words: Words | None = None, *, coin: int | None = None, level: float | None = None
    ) -> bytes:
        """One report for what `answer` gave."""
        drawn = words or SystemWords()
        chosen = self.level(level)
        if coin is not None and not hasattr(self.kernel, "randomise_dealt"):
            raise ParameterError(f"coin must be left out: a {self.kernel.kind} kernel has no public seed.")
        report: bytes
        if self.levels:
            report = self.kernel.randomise(answer, drawn, chosen)
        elif coin is None:
            report = self.kernel.randomise(answer, drawn)
        else:
            report = self.kernel.randomise_dealt(answer, coin, drawn)
        return report

    def level(self, level: float | None) -> int:
        """The number of a level; levels rise, so the first is the most protective, and taken if none is given."""
        if not self.levels:
            if level is not None:
                raise ParameterError(f"level must be left out: a {self.kernel.kind} kernel has one level for all.")
            return 0
        listed = ", ".join(f"{each:g}" for each in self.levels)
        require(level is None or level in self.levels, "level", level, f"one of {listed}")
        return 0 if level is None else self.levels.index(level)


def plain(value: object, depth: int = 3) -> object:
    """A value as one of Python's own kinds, whatever its class does; an object without meaning if it is another."""
    kind = type(value)
    if value is None or kind is bool:
        return value
    if issubclass(kind, str):
        return str.__str__(value)
    if issubclass(kind, int):
        return int.__int__(value)  # type: ignore[arg-type]  # it is one
    if issubclass(kind, float):
        return float.__float__(value)  # type: ignore[arg-type]  # it is one
    if depth and issubclass(kind, list | tuple):
        holder: Any = list if issubclass(kind, list) else tuple
        return [plain(each, depth - 1) for each in holder.__iter__(value)]
    return _NO_VALUE


def explain(design: Mapping[str, object], *, charge: Charge | None = None) -> Explanation:
    """What a design may send about each answer, after the same checks as a device's: to be read before any consent.

    `charge` is told how many steps come next, before they are done, and may refuse.
    """
    if charge is not None:
        charge(_STEPS + _STEPS_OF_PART * parts_of(design))
    return _proved(read_design(design), charge or Steps())


def _proved_part(number: int, read: Design, charge: Charge) -> Explanation:
    with within(f"part {number}"):
        return _proved(read, charge)


def _proved(read: Design, charge: Charge) -> Explanation:
    """What a design of the right shape may send, after its proof, or those of its parts."""
    if read.parts:
        return of_parts(read, tuple(_proved_part(i, part, charge) for i, part in enumerate(read.parts, start=1)))
    check_work(read.kernel)
    if hasattr(read.kernel, "work"):
        charge(read.kernel.work.steps)
    try:
        ratio = check_promise(read.kernel, exp_bounds(read.epsilon)[0], read.epsilon)
    except ParameterError as error:  # parts that fit each other, and that no proof is known for together
        raise FormatError(f"the kernel of {read.name} has parts that do not go together: {error}") from error
    if hasattr(read.kernel, "check_promises"):
        read.kernel.check_promises(read.params)
    return explanation(read, ratio)


Charge = Callable[[int], None]


class Steps:
    """Counts the steps of proofs, and refuses more than a device takes part in."""

    def __init__(self) -> None:
        self._left = _STEPS_MAX

    def __call__(self, steps: int) -> None:
        self._left -= steps
        if self._left < 0:
            told = f"these designs need more than {_STEPS_MAX} steps to be proved"
            raise FormatError(f"{told}, more than a device takes part in.", "Ask fewer or smaller questions.")


_WORDS_MAX = 1 << 20
"""Random words of one report, on average: about a second in Python."""

_BYTES_MAX = 1 << 20
"""Bytes of one report."""

_STEPS, _STEPS_OF_PART = 100, 3
"""Steps of every design, and for each of its parts; a step is about a microsecond in Python."""

_STEPS_MAX = 2_000_000
"""Steps of the proofs of all designs of a task, or of all parts of a design: about two seconds in Python."""


def check_work(kernel: Any) -> None:
    """`FormatError` for a kernel whose proof or reports are more work, or longer, than a device takes part in."""
    work = getattr(kernel, "work", None)
    amounts = [("random words", kernel.words, _WORDS_MAX), ("bytes", kernel.width, _BYTES_MAX)]
    for what, amount, most in amounts if work is None else [*amounts, work[:3]]:
        if amount > most:
            raise FormatError(
                f"a report of this design needs {amount} {what}, more than the {most} that a device takes part in.",
                "For many answers use a mechanism with short reports, such as plh, pgr or olh.",
            )
