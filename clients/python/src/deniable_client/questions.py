"""A question of a task: its text, its proved design, and the answer that no answer counts as."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import prod
from typing import Any

from deniable_client.canonical import digest
from deniable_client.device import Device
from deniable_client.documents import fields_of, is_list, is_number, is_whole
from deniable_client.errors import FormatError, ParameterError, PrivacyError, show
from deniable_client.explanation import Explanation
from deniable_client.kernels.keyvalue import GRID
from deniable_client.texts import labels_fault, text_fault
from deniable_client.words import Words, below

__all__ = [
    "NAME",
    "NAMED",
    "SHOWN",
    "TEXT_MAX",
    "UNITS",
    "Question",
    "Single",
    "amount_of",
    "asked_together",
    "check_again",
    "check_labels",
    "check_none",
    "check_translated",
    "kind_in",
    "list_in",
    "need",
    "need_apart",
    "shown_in",
    "single_in",
    "text_in",
]

NAME, NAMED = re.compile("[a-z0-9_-]{1,64}"), "small letters, digits, - or _"
"""Names of questions and of groups."""
_SIZED = ("box", "interaction")
"""Kernels that know how many answers each question has."""
_TOGETHER_MAX = 4096
"""Answers of a question that is asked together with others."""
UNITS, TEXT_MAX = 30, 10_000
"""Amounts are whole multiples of 10**-UNITS."""
_KINDS = ("one", "several", "yes-no", "rating", "ordered", "number", "time")
"""How a page asks, if the task says so; what is sent does not depend on it."""
SHOWN = ("unit", "ends")
"""What people see beside a question's text and answers."""
_KINDS_TOGETHER = ("one", "yes-no", "rating", "ordered")
"""How a page asks a question together with others."""


@dataclass(frozen=True, slots=True)
class Single:
    """One of the questions that a part asks together: a report is about the answers to all of them."""

    name: str
    text: str
    labels: tuple[str, ...]
    none: str | None = None
    """The answer that no answer counts as; None if the answers to all of them are random ones then."""
    kind: str | None = None
    unit: None = None
    ends: tuple[str, str] | None = None

    def number(self, given: object) -> int | None:
        """The number of an answer, by its label or by itself; None for what is not an answer."""
        if isinstance(given, str):
            return self.labels.index(given) if given in self.labels else None
        fits = not isinstance(given, float) and is_whole(given, 0, len(self.labels) - 1)
        return int(given) if fits else None  # type: ignore[call-overload]  # it is a whole number


@dataclass(frozen=True, slots=True)
class Question:
    """A question of a task; its design has been proved to keep its promise."""

    name: str
    text: str
    share: int
    design: Mapping[str, Any]
    explanation: Explanation
    key: str
    """The same for the same question in another task: the hash of the collector's key, text, design and labels."""
    labels: tuple[str, ...] | None
    """What people read for the answers 0, 1, .., or for the options of a list; None if there are only numbers."""
    none: Any = None
    """The answer that no answer counts as; None if that is a random one, as in all tasks of version 1."""
    kind: str | None = None
    """One of `_KINDS`, or None: as the design suggests."""
    unit: str | None = None
    """What a number is of, such as hours."""
    ends: tuple[str, str] | None = None
    """What the first and the last answer of a rating mean."""
    together: tuple[Single, ...] = ()
    """The questions that are asked together, where there are several: an answer is then a list, one for each."""

    @property
    def width(self) -> int:
        """Bytes of a report of this question's design."""
        return self.explanation.design.kernel.width  # type: ignore[no-any-return]  # kernels are of any kind

    def device(self, harmless: Iterable[object] | None = None) -> Device:
        """A device for this question, if the person agrees to disclose exactly the `harmless` answers."""
        listed = harmless is None or isinstance(harmless, str | bytes | range) or not isinstance(harmless, Iterable)
        agreed = harmless if listed else [self.value(each) for each in harmless]  # type: ignore[union-attr]
        stand_in = {} if self.none is None else {"stand_in": self.value(self.none)}
        return Device(self.explanation, harmless=agreed, **stand_in)

    def value(self, given: object) -> object:
        """What the design knows an answer as: the number of a label, where only the task has labels."""
        domain = self.explanation.design.domain
        if self.together:
            number = self.joint(given)
            return number if number is None or domain.labels is None else domain.labels[number]
        own = self.labels if domain.labels is None and domain.options is None else None
        if own and isinstance(given, list | tuple):  # pairs
            return [
                [self.value(pair[0]), *pair[1:]] if isinstance(pair, list | tuple) and pair else pair for pair in given
            ]
        return own.index(given) if own and isinstance(given, str) and given in own else given

    def joint(self, given: object) -> int | None:
        """The number of the answers to all questions that are asked together; None if that is not an answer.

        `given` has an answer for each, by its label or number; what is not one counts as that question's `none`. With a
        number in place of the list it is that number. The answers to the last question count fastest.
        """
        if not is_list(given) and not isinstance(given, tuple):
            whole = not isinstance(given, float) and is_whole(given, 0, self.explanation.design.domain.answers - 1)
            return int(given) if whole else None  # type: ignore[call-overload]  # it is a whole number
        each: Sequence[object] = given  # type: ignore[assignment]  # it is a list
        if len(each) != len(self.together):
            return None
        told = [single.number(own) for single, own in zip(self.together, each, strict=True)]
        if all(number is None for number in told):
            return None
        found = 0
        for single, number in zip(self.together, told, strict=True):
            filled = single.number(single.none) if number is None else number
            if filled is None:
                return None
            found = found * len(single.labels) + filled
        return found

    def nothing(self, device: Device, words: Words) -> Any:
        """What is randomised where there is no answer: that of the task, or a random protected one if it has none."""
        if device.stand_in is not None:
            return device.stand_in
        domain = self.explanation.design.domain
        if self.explanation.design.pairs:
            empty = device.known([])
            return [(below(domain.answers, words), GRID // 2)] if empty is None else empty
        ends = [0, *self.explanation.disclosed, domain.answers]
        protected = [range(start, end) for start, end in zip(ends[::2], ends[1::2], strict=True)]
        drawn = below(sum(map(len, protected)) or domain.answers, words)
        return next((part[drawn - before] for before, part in _running(protected) if drawn < before + len(part)), drawn)


def check_none(question: Question) -> None:
    """The answer for no answer must be an answer, as plainly as there is one, and a protected one."""
    design, none = question.explanation.design, question.none
    disclosed = question.explanation.disclosed
    if none is None:
        if sum(disclosed[1::2]) - sum(disclosed[::2]) == design.domain.answers:
            told = "reports may name all of them; nothing is sent."
            raise PrivacyError(f"none of {question.name} must be a protected answer, and {told}")
        return
    where = f"none of {question.name}"
    if design.pairs:
        pairs = is_list(none) and all(is_list(pair) and len(pair) == 2 for pair in none)
        fits = pairs and all(_is_answer(question, pair[0]) and is_number(pair[1]) for pair in none)
        need(fits, where, "a list of pairs [key, number]", none)
    else:
        need(_is_answer(question, none), where, "one of its answers", none)
    try:
        number = Device(question.explanation, harmless=question.explanation.harmless or None).answer(
            question.value(none)
        )
    except ParameterError as error:
        raise FormatError(f"{where} of a task must be one of its answers: {error.message}") from error
    if isinstance(number, int) and any(a <= number < b for a, b in zip(disclosed[::2], disclosed[1::2], strict=True)):
        raise PrivacyError(f"{where} must be a protected answer, and reports may name {show(none)}; nothing is sent.")


def _is_answer(question: Question, given: object) -> bool:
    """Whether it is an answer by itself, or a key: a label, the number of an answer, or a number of the interval."""
    domain = question.explanation.design.domain
    if domain.options is not None:
        return is_list(given)
    if question.labels is not None:
        return isinstance(given, str) and given in question.labels
    if domain.border is None:
        return is_whole(given, 0, domain.answers - 1)
    return is_number(given) and domain.border(0) <= given <= domain.border(domain.answers)  # type: ignore[operator]


def _running(parts: Sequence[range]) -> Iterator[tuple[int, range]]:
    """Ranges, each with how many numbers come before it."""
    before = 0
    for part in parts:
        yield before, part
        before += len(part)


def amount_of(epsilon: float) -> int:
    """A number as it is written in decimals, in units of 10**-UNITS: sums of them are exact.

    >>> 3 * amount_of(0.1) == amount_of(0.3)
    True
    """
    return int(Decimal(repr(epsilon)).scaleb(UNITS))


# ---- parts of documents


def shown_in(given: Mapping[str, Any], kind: object, where: str) -> dict[str, Any]:
    """What people see beside the text: the unit of a number, what the ends of a rating mean."""
    found: dict[str, Any] = {}
    if "unit" in given:
        need(kind == "number", f"kind of {where}", "number where there is a unit", kind)
        found["unit"] = text_in(given["unit"], f"unit of {where}", 40)
    if "ends" in given:
        need(kind == "rating", f"kind of {where}", "rating where there are ends", kind)
        found["ends"] = tuple(text_in(end, f"an end of {where}", 100) for end in list_in(given["ends"], "ends", 2, 2))
    return found


def kind_in(given: object, name: str) -> str:
    """How a page asks."""
    need(isinstance(given, str) and given in _KINDS, f"kind of {name}", f"one of {', '.join(_KINDS)}", given)
    return str(given)


def single_in(document: object) -> Single:
    """A question that a part asks together with others: it says itself what its answers are."""
    given = fields_of(document, "a question", ("name", "text", "none", "labels"), ("kind", "ends"))
    name = given["name"]
    need(isinstance(name, str) and NAME.fullmatch(name) is not None, "name of a question", NAMED, name)
    text = text_in(given["text"], f"text of {name}", TEXT_MAX, prose=True)
    labels = check_labels(list_in(given["labels"], f"labels of {name}", 2, _TOGETHER_MAX), name)
    none, kind = given["none"], given.get("kind")
    need(none is None or none in labels, f"none of {name}", "one of its answers", none)
    known = f"one of {', '.join(_KINDS_TOGETHER)} of a question that is asked together with others"
    need("kind" not in given or kind in _KINDS_TOGETHER, f"kind of {name}", known, kind)
    return Single(name, text, labels, none, kind, None, shown_in(given, kind, name).get("ends"))


def asked_together(
    each: tuple[Single, ...], design: Mapping[str, Any], explanation: Explanation, share: int, own: Mapping[str, str]
) -> Question:
    """Questions that are asked together; the answers of the design are all sets of answers to them, and protected."""
    known, sizes = explanation.design, [len(single.labels) for single in each]
    names, domain = [single.name for single in each], known.domain
    name = ".".join(names)
    need(len(set(names)) == len(names), "names of questions", "different", "two alike")
    plain = domain.border is None and domain.options is None and not known.pairs
    sets = "one whose answers are the sets of answers, and nothing else, where questions are asked together"
    fits = plain and domain.missing is None and domain.other is None and not known.levels
    need(fits, f"design of {name}", sets, design["mechanism"])
    told = f"such that there are {domain.answers} sets of answers, as its design has"
    need(prod(sizes) == domain.answers, f"labels of {name}", told, sizes)
    kept = list(known.kernel.sizes) if known.kernel.kind in _SIZED else sizes
    need(kept == sizes, f"labels of {name}", f"so many to each question as its kernel has, {show(kept)}", sizes)
    if explanation.disclosed:
        told = "reports may name some answers, and none to questions that are asked together"
        raise PrivacyError(f"question {name}: {told}; nothing is sent.")
    texts, labels = [single.text for single in each], [list(single.labels) for single in each]
    nones = [single.none for single in each]
    return Question(
        name=name,
        text="\n".join(texts),
        share=share,
        design=design,
        explanation=explanation,
        key=digest({**own, "text": texts, "design": design, "labels": labels}),
        labels=None,
        none=None if None in nones else nones,
        together=each,
    )


def check_again(parts: Sequence[Question]) -> None:
    """A question may be asked in several parts, alone or together with others: then it is the same question."""
    known: dict[str, tuple[str, tuple[str, ...] | None]] = {}
    for part in parts:
        for one in part.together or (part,):
            told = one.text, one.labels
            same = known.setdefault(one.name, told) == told
            need(same, f"text and labels of {one.name}", "the same in all parts", one.text)


def check_translated(question: Question | Single, asked: object, tag: str) -> None:
    """A question in another language: everything that people read of it, and nothing else."""
    known = {"labels": question.labels, "unit": question.unit, "ends": question.ends}
    there = [name for name, part in known.items() if part is not None]
    told, where = fields_of(asked, f"a question in {tag}", ("text", *there)), f"{question.name} in {tag}"
    text_in(told["text"], f"text of {where}", TEXT_MAX, prose=True)
    shown_in(told, question.kind, where)
    if question.labels is not None:
        count = len(question.labels)
        check_labels(list_in(told["labels"], f"labels of {where}", count, count), question.name)


def check_labels(given: Sequence[object], name: str) -> tuple[str, ...]:
    """Labels of the question of this name that people can tell apart."""
    labels = tuple(label for label in given if isinstance(label, str))
    need(len(labels) == len(given), f"labels of {name}", "texts", given)
    need_apart(labels, f"labels of {name}")
    return labels


def need_apart(labels: Sequence[str], where: str) -> None:
    """Texts that people can see and tell apart."""
    wrong = labels_fault(labels)
    if wrong:
        raise FormatError(f"{where} must be texts that people can see and tell apart: {wrong}.")


def text_in(given: object, where: str, most: int, *, prose: bool = False) -> str:
    """A text that people can see."""
    told = f"a text that people can see, of at most {most} characters"
    need(isinstance(given, str) and len(given) <= most, where, told, given)
    wrong = text_fault(given, prose=prose)  # type: ignore[arg-type]  # it is a text
    if wrong:
        raise FormatError(f"{where} of a task must be {told}: {wrong}.")
    return given  # type: ignore[return-value]  # it is a text


def list_in(given: object, where: str, least: int, most: int) -> Sequence[Any]:
    """A list of so many entries."""
    fits = is_list(given) and least <= len(given) <= most  # type: ignore[arg-type]  # it is a list
    need(fits, where, f"a list of {least} to {most} entries" if least < most else f"a list of {most} entries", given)
    return given  # type: ignore[return-value]  # it is a list


def need(ok: bool, where: str, need: str, got: object) -> None:
    """`FormatError` unless it is so."""
    if not ok:
        raise FormatError(f"{where} of a task must be {need}, got {show(got)}.")
