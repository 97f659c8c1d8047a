"""What a design may send about each answer, in words that a person can agree to or not."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Set
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from deniable_client.domains import Domain
from deniable_client.errors import ParameterError, PrivacyError, require, show
from deniable_client.exact import log_upper
from deniable_client.grammar import Design
from deniable_client.kernels import Disclosing, promised_ratio
from deniable_client.telling import (
    Telling,
    at_least_once,
    certainty,
    level,
    number,
    percent,
    phrase,
    power,
    say,
    sure_of,
    times,
)

__all__ = ["Explanation", "check_consent", "explanation", "of_parts"]

_SHOWN = 12
"""Answers that are named one by one."""

_REPORTS_MAX = 10_000
"""Reports that are looked at together: as many as a task may have windows."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """What one report may tell, exactly; `str` says it in words.

    >>> from deniable_client import explain
    >>> document = {"mechanism": "grr", "version": 1, "epsilon": 1, "domain": {"k": 2}, "params": {},
    ...             "kernel": {"kind": "response", "k": "2", "keep": "13485650502877570762"}}
    >>> print(explain(document))
    Every answer has good protection: whatever you answer, any report that you send is at most 2.72 times as likely \
for your answer as for any other one (epsilon 1).
    Somebody who thought two answers equally likely can be at most 73.2 % sure of one of them afterwards.
    """

    design: Design
    ratio: Fraction
    """A report that names no answer is at most this many times as likely for one answer as for another, exactly."""
    epsilon: float
    """The exact level that the integers of the design keep, rounded up: at most what it promises."""
    disclosed: tuple[int, ...]
    """Answers that a report may name: half-open ranges of their numbers (start, end, start, end, ...)."""
    chance: Fraction
    """Chance that the report of such an answer names it; the largest there is."""
    parts: tuple[Explanation, ...] = ()
    """The same for each part of a design that deals one of them; the answers that are named are told there alone."""

    def __str__(self) -> str:
        return self.text

    @property
    def text(self) -> str:
        """What one report may tell, in words: `over(1).text`."""
        return self.over(1).text

    def over(self, reports: int) -> Telling:
        """What a number of reports tell together if each is drawn anew, as in the windows of a task."""
        whole = isinstance(reports, int) and not isinstance(reports, bool) and 1 <= reports <= _REPORTS_MAX
        require(whole, "reports", reports, f"a whole number from 1 to {_REPORTS_MAX}")
        ratio = power(self.ratio, reports)
        sure, named = sure_of(ratio), at_least_once(self.chance, reports)
        told = Telling(reports, ratio, sure, named, phrase(sure), "")
        return replace(told, text="\n".join(_lines(self, told)))

    @property
    def unread(self) -> str:
        """What a report of this design may tell that nobody looked at, in a sentence."""
        if self.chance:
            return say("may_name" if _alone(self) else "may_tell")
        told = self.over(1)
        return say("now", both=_two(self), sure=certainty(told.sure), grade=told.phrase)

    @property
    def disclosure(self) -> str:
        """Which answers a report may name, and how often, in a sentence for each part; nothing if there are none."""
        if self.parts:
            named = ((i, part.disclosure) for i, part in enumerate(self.parts, start=1) if part.disclosed)
            return "\n".join(say("part", number=i, text=text) for i, text in named)
        return _disclosure(self, self.over(1)) if self.disclosed else ""

    def levels(self, reports: int = 1) -> tuple[tuple[float, str], ...]:
        """The levels that a person may choose, if any, each with the word for protection by its own exact ratio."""
        ratios = [promised_ratio(data) for data in self.design.kernel.data] if self.design.levels else []
        words = [phrase(sure_of(power(ratio, reports))) for ratio in ratios]
        return tuple(zip(self.design.levels, words, strict=True))

    @property
    def harmless(self) -> tuple[object, ...]:
        """The answers that a report may name, which is what `Device(harmless=...)` asks consent for.

        As the question has them: labels, pairs (low, high) of numbers of an interval, else ranges of answers' numbers;
        of designs of parts one tuple of these for each part, if any of them names answers.
        """
        if self.parts and self.chance:
            return tuple(part.harmless for part in self.parts)
        return _named(self.design.domain, self.disclosed)

    def chance_of(self, value: object) -> Fraction:
        """Chance that a report for this value names its answer; 0 if it is protected."""
        x = self.design.domain.index(value)
        if self.parts:
            values: Any = value
            return _dealt(self.design, (part.chance_of(each) for part, each in zip(self.parts, values, strict=True)))
        return self.chance if any(start <= x < end for start, end in _ranges(self.disclosed)) else Fraction(0)


def explanation(design: Design, ratio: Fraction) -> Explanation:
    """What the integers of a design, with this exact `promised_ratio`, mean for each answer.

    `PrivacyError` for a design that protects no answer at all: its epsilon would say nothing about its reports.
    """
    kernel = design.kernel
    disclosed: tuple[int, ...] = ()
    if isinstance(kernel, Disclosing) and kernel.disclosed:
        disclosed = _others(kernel.protected, design.domain.answers)
        if not kernel.limited:
            raise PrivacyError(
                "this design protects no answer: its reports name them, whatever its epsilon says; no report was made.",
                "Do not take part; tell whoever runs the task.",
            )
    chance = kernel.disclosed if disclosed else Fraction(0)
    return Explanation(design, ratio, log_upper(ratio), disclosed, chance)


def of_parts(design: Design, parts: tuple[Explanation, ...]) -> Explanation:
    """What a design means that deals one of its parts, which mean these."""
    ratio = promised_ratio(design.kernel)
    return Explanation(design, ratio, log_upper(ratio), (), _dealt(design, (part.chance for part in parts)), parts)


def _dealt(design: Design, chances: Iterable[Fraction]) -> Fraction:
    """Chance of what happens with these chances in the parts of a design."""
    shares: tuple[int, ...] = design.kernel.shares
    return sum((share * chance for share, chance in zip(shares, chances, strict=True)), Fraction(0)) / sum(shares)


def check_consent(found: Explanation, harmless: Iterable[object] | None) -> None:
    """`PrivacyError` unless the caller consented to disclose exactly the answers that reports may name."""
    if found.parts:
        given = harmless or [None] * len(found.parts)
        if not isinstance(given, list | tuple) or len(given) != len(found.parts):
            raise ParameterError(f"harmless must be a list of {len(found.parts)} lists of answers, got {show(given)}.")
        for part, own in zip(found.parts, given, strict=True):
            check_consent(part, own)
        return
    domain = found.design.domain
    given = _consented(domain, harmless)
    if given == found.disclosed:
        return
    told = _list_of(domain, found.disclosed) or "none of its answers"
    raise PrivacyError(
        f"this design may disclose {told}, and consent was given for {_list_of(domain, given) or 'none'}; "
        "no report was made.",
        "Ask the person, then pass exactly these answers: Device(design, harmless=[...])."
        if found.disclosed
        else "Leave out harmless, or ask whoever runs the task which design is meant.",
    )


def _consented(domain: Domain, harmless: Iterable[object] | None) -> tuple[int, ...]:
    """The answers in a list, labels or numbers and ranges of them, as half-open ranges."""
    if isinstance(harmless, str | bytes) or not isinstance(harmless, Iterable | None):
        raise ParameterError(f"harmless must be a list of answers, got {show(harmless)}.")
    entries = [harmless] if isinstance(harmless, range) else list(harmless or ())
    known = None if domain.labels is None else set(domain.labels)
    ends: list[int] = []
    for start, end in sorted(_span(domain, known, entry) for entry in entries):
        if ends and start <= ends[-1]:
            ends[-1] = max(ends[-1], end)
        elif start < end:
            ends += [start, end]
    return tuple(ends)


def _span(domain: Domain, known: Set[str] | None, entry: object) -> tuple[int, int]:
    """The numbers of an answer, or of a range of them; what counts as another answer is none here."""
    if domain.border is not None:
        return _cells(domain, domain.border, entry)
    if isinstance(entry, range) and entry.step == 1 and known is None:
        return entry.start, entry.stop
    if known is not None and not (isinstance(entry, str) and entry in known):
        raise ParameterError(f"harmless must be a list of this question's labels, got {show(entry)} in it.")
    x = domain.index(entry)
    return x, x + 1


def _cells(domain: Domain, border: Callable[[int], float], entry: object) -> tuple[int, int]:
    """The answers of a pair (low, high) of numbers, which must be where answers begin and end."""
    pair = tuple(entry) if isinstance(entry, list | tuple) and len(entry) == 2 else ()
    near = [(end, domain.index(end)) for end in pair]
    found = [i for end, at in near for i in (at, at + 1) if border(i) == end]
    if len(found) != 2:
        hint = "Use those that explain(design).harmless has."
        raise ParameterError(f"harmless must be a list of pairs (low, high) of numbers, got {show(entry)} in it.", hint)
    return found[0], found[1]


# ---- sentences


def _lines(found: Explanation, told: Telling) -> list[str]:
    if found.parts:
        texts = [part.over(told.reports).text.splitlines() for part in found.parts]
        parts = [say("part", number=i, text=line) for i, part in enumerate(texts, start=1) for line in part]
        return [say("drawn", count=len(texts)), *parts]
    design = found.design
    lines = [_protection(found, told), _belief(found, told)]
    lines += [_disclosure(found, told)] if found.disclosed else []
    lines += _personal(found, told.reports) if design.levels else []
    lines += _budgets(found, told.reports) if "item_epsilon" in design.params else []
    lines += _limits(found, told.reports) if hasattr(design.kernel, "budgets") else []
    return lines + _choices(design.domain, found.disclosed)


def _protection(found: Explanation, told: Telling) -> str:
    design, reports = found.design, told.reports
    likely = say("likely", count=reports, times=times(told.ratio))
    most = say("level", count=reports, epsilon=level(found.epsilon, reports))
    if design.levels:
        most = say("level_loosest", level=most)
    if found.disclosed:
        kept, grade = _list_of(design.domain, design.kernel.protected), told.phrase.capitalize()
        name = "protection_some" if kept else "protection_between"
        return say(name, grade=grade, answers=kept, likely=likely, level=most)
    name = "protection_pairs" if design.pairs else "protection"
    return say(name, grade=told.phrase, likely=likely, level=most)


def _belief(found: Explanation, told: Telling) -> str:
    if found.disclosed and not found.design.kernel.protected:
        both, one = say("two_between"), "one"
    else:
        both, one = (say("two_some"), "it") if found.disclosed else (_two(found), "one")
    return say("belief", both=both, sure=certainty(told.sure, one))


def _two(found: Explanation) -> str:
    return say("two_pairs" if found.design.pairs else "two")


def _disclosure(found: Explanation, told: Telling) -> str:
    one, several = percent(found.chance), percent(told.named)
    if found.chance == 1:
        one = several = say("cases_all")
    if found.design.levels:
        one, several = say("cases_up_to", cases=one), say("cases_up_to", cases=several)
    name = "disclosure" if _alone(found) else "disclosure_open"
    named = say(name, answers=_list_of(found.design.domain, found.disclosed, every=True), cases=one)
    return named if told.reports == 1 else say(f"{name}_all", disclosure=named, count=told.reports, cases=several)


def _alone(found: Explanation) -> bool:
    """Whether a report that is not within the ratio names its answer: it could come from no other one."""
    return all(getattr(each.design.kernel, "names_alone", True) for each in found.parts or (found,))


def _personal(found: Explanation, reports: int) -> list[str]:
    kernel = found.design.kernel
    levels = [(level(epsilon, reports), words) for epsilon, words in found.levels(reports)]
    listed = "; ".join(say("choice_level", count=reports, epsilon=own, grade=words) for own, words in levels)
    line = say("choice", levels=listed, least=levels[0][0])
    if len(kernel.data) == 1:
        return [line]
    about, pair = level(kernel.level_guarantee, reports), level(kernel.pair_guarantee, reports)
    return [line, say("choice_told", count=reports, level=about, pair=pair)]


def _budgets(found: Explanation, reports: int) -> list[str]:
    domain, kernel = found.design.domain, found.design.kernel
    single = [x for start, end in _ranges(kernel.protected) for x in range(start, end)]
    names = [_list_of(domain, (x, x + 1)) for x in single]
    pairs = zip(names, found.design.params["item_epsilon"], strict=True)
    return [say("budgets", count=reports, answers=_cut([f"{name} {level(own, reports)}" for name, own in pairs]))]


def _limits(found: Explanation, reports: int) -> list[str]:
    """What each answer is promised, where that is not the same: the largest of its limits."""
    domain, kinds = found.design.domain, []
    for x, row in enumerate(found.design.kernel.closed):
        others = [b for z, b in enumerate(row) if z != x]
        finite = [b for b in others if b < math.inf]
        name = "limit_none" if not finite else "limit_some" if len(finite) < len(others) else "limit"
        kinds.append((name, level(max(finite, default=0.0), reports)))
    if len(set(kinds)) == 1:
        return []
    told = [say(name, answer=_list_of(domain, (x, x + 1)), epsilon=own) for x, (name, own) in enumerate(kinds)]
    return [say("limits", count=reports, answers=_cut(told))]


def _choices(domain: Domain, disclosed: tuple[int, ...]) -> list[str]:
    """What values that are none of the labels count as, and whether that is protected."""
    open_ = set(_named(domain, disclosed)) if domain.labels is not None else set()
    told = (("missing", domain.missing), ("other", domain.other))
    return [
        say(f"{name}_open" if label in open_ else name, label=_quoted(label))
        for name, label in told
        if label is not None
    ]


# ---- words


def _ranges(ends: tuple[int, ...]) -> Iterator[tuple[int, int]]:
    return zip(ends[::2], ends[1::2], strict=True)


def _others(ranges: tuple[int, ...], k: int) -> tuple[int, ...]:
    """The half-open ranges of 0..k-1 that are left."""
    ends = [0, *ranges, k]
    return tuple(end for pair in _ranges(tuple(ends)) if pair[0] < pair[1] for end in pair)


def _named(domain: Domain, ranges: tuple[int, ...]) -> tuple[Any, ...]:
    """The answers of some ranges by label, else ranges of numbers."""
    if domain.labels is not None:
        return tuple(label for start, end in _ranges(ranges) for label in domain.labels[start:end])
    if domain.border is not None:
        return tuple((domain.border(start), domain.border(end)) for start, end in _ranges(ranges))
    return tuple(range(start, end) for start, end in _ranges(ranges))


def _list_of(domain: Domain, ranges: tuple[int, ...], *, every: bool = False) -> str:
    """Some answers in words: the first of them, or every one."""
    if domain.labels is not None:
        parts = [_quoted(name) for name in _named(domain, ranges)]
    elif domain.border is not None:
        parts = [say("numbers", low=number(low), high=number(high)) for low, high in _named(domain, ranges)]
    else:
        spans = [(start, end - 1) for start, end in _ranges(ranges)]
        parts = [f"{low}" if low == high else say("range", low=low, high=high) for low, high in spans]
    return ", ".join(parts) if every else _cut(parts)


def _cut(parts: list[str]) -> str:
    """The first of a list, and how many more there are."""
    shown = ", ".join(parts[:_SHOWN])
    return say("more", answers=shown, count=len(parts) - _SHOWN) if len(parts) > _SHOWN else shown


def _quoted(name: object) -> str:
    return ascii(name) if isinstance(name, str) and not name.isprintable() else repr(name)
