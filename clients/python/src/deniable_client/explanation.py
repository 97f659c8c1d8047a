"""What a design may send about each answer, in words that a person can agree to or not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context
from fractions import Fraction
from typing import Any

from deniable_client.domains import Domain
from deniable_client.errors import ParameterError, PrivacyError, show
from deniable_client.exact import log_upper
from deniable_client.grammar import Design
from deniable_client.kernels import Disclosing

__all__ = ["Explanation", "check_consent", "explanation"]

_SHOWN = 12
"""Answers that are named one by one."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """What one report may tell, exactly; `str` says it in words.

    >>> from deniable_client import explain
    >>> document = {"mechanism": "grr", "version": 1, "epsilon": 1, "domain": {"k": 2}, "params": {},
    ...             "kernel": {"kind": "response", "k": "2", "keep": "13485650502877570762"}}
    >>> print(explain(document))
    Every answer is protected: whatever you answer, any report that you send is at most 2.72 times as likely for your \
answer as for any other one (epsilon 1).
    """

    design: Design
    epsilon: float
    """The exact level that the integers of the design keep, rounded up: at most what it promises."""
    disclosed: tuple[int, ...]
    """Answers that a report may name: half-open ranges of their numbers (start, end, start, end, ...)."""
    chance: Fraction
    """Chance that the report of such an answer names it; the largest there is."""
    text: str

    def __str__(self) -> str:
        return self.text

    @property
    def harmless(self) -> tuple[object, ...]:
        """The answers that a report may name, which is what `Device(harmless=...)` asks consent for.

        As the question has them: labels, pairs (low, high) of numbers of an interval, else ranges of answers' numbers.
        """
        return _named(self.design.domain, self.disclosed)

    def chance_of(self, value: object) -> Fraction:
        """Chance that a report for this value names its answer; 0 if it is protected."""
        number = self.design.domain.index(value)
        return self.chance if any(start <= number < end for start, end in _ranges(self.disclosed)) else Fraction(0)


def explanation(design: Design, ratio: Fraction) -> Explanation:
    """What the integers of a design, with this exact `promised_ratio`, mean for each answer."""
    kernel, exact = design.kernel, log_upper(ratio)
    disclosed: tuple[int, ...] = ()
    if isinstance(kernel, Disclosing) and kernel.disclosed:
        disclosed = _others(kernel.protected, design.domain.answers)
    chance = kernel.disclosed if disclosed else Fraction(0)
    lines = [_protection(design, ratio, exact, disclosed)]
    lines += [_disclosure(design, disclosed, chance)] if disclosed else []
    lines += _FURTHER.get(kernel.kind, lambda *_: [])(design, kernel)
    lines += _choices(design.domain, disclosed)
    return Explanation(design, exact, disclosed, chance, "\n".join(lines))


def check_consent(found: Explanation, harmless: Iterable[object] | None) -> None:
    """`PrivacyError` unless the caller consented to disclose exactly the answers that reports may name."""
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
    number = domain.index(entry)
    return number, number + 1


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


def _protection(design: Design, ratio: Fraction, exact: float, disclosed: tuple[int, ...]) -> str:
    loosest = " at the least protective level" if design.kernel.kind == "personal" else ""
    times, level = f"{_times(ratio)} times as likely", f"(epsilon {_level(exact)}{loosest})"
    if design.kernel.kind == "pairs":
        own = "Everything that you say is protected: whichever keys and values you have"
        return f"{own}, any report that you send is at most {times} as for any other keys and values {level}."
    if not disclosed:
        own = "Every answer is protected: whatever you answer"
        return f"{own}, any report that you send is at most {times} for your answer as for any other one {level}."
    kept = _list_of(design.domain, design.kernel.protected)
    if not kept:
        return "No answer is protected."
    return (
        f"Protected: {kept}. With such an answer, any report that you send is at most {times} for it as for any other "
        f"answer {level}; no report names it."
    )


def _disclosure(design: Design, disclosed: tuple[int, ...], chance: Fraction) -> str:
    most = "up to " if design.kernel.kind == "personal" and chance < 1 else ""
    named = f"Not protected: {_list_of(design.domain, disclosed, every=True)}. The report names such an answer in "
    named += most + _percent(chance)
    return named + ("." if chance == 1 else "; otherwise it looks like a report of a protected answer.")


def _personal(design: Design, kernel: Any) -> list[str]:
    levels = [_level(level) for level in design.params["levels"]]
    line = f"You choose how much: epsilon {', '.join(levels)}; the most protective, {levels[0]}, if you do not."
    if len(kernel.data) == 1:
        return [line]
    told = f"The report may tell which level you chose: at most epsilon {_level(kernel.level_guarantee)} about that"
    both = f"{_level(kernel.pair_guarantee)} about your answer if you chose the level by looking at it"
    return [line, f"{told}, and {both}."]


def _budgets(design: Design, kernel: Any) -> list[str]:
    single = [number for start, end in _ranges(kernel.protected) for number in range(start, end)]
    names = [_list_of(design.domain, (number, number + 1)) for number in single]
    pairs = list(zip(names, design.params["item_epsilon"], strict=True))
    shown = ", ".join(f"{name} {_level(epsilon)}" for name, epsilon in pairs[:_SHOWN])
    return [f"Each protected answer has its own epsilon: {shown}{_more(len(pairs))}; of two answers the smaller holds."]


_FURTHER: Mapping[str, Any] = {"personal": _personal, "utility-levels": _budgets}
"""What else is to be said, by the kind of the kernel."""


def _choices(domain: Domain, disclosed: tuple[int, ...]) -> list[str]:
    """What values that are none of the labels count as, and whether that is protected."""
    open_ = set(_named(domain, disclosed)) if domain.labels is not None else set()
    told = (("If you leave the answer empty, that", domain.missing), ("Anything else", domain.other))
    return [
        f"{what} is reported as {_quoted(label)}{', which is not protected' * (label in open_)}."
        for what, label in told
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
        parts = [f"numbers from {low:.12g} to {high:.12g}" for low, high in _named(domain, ranges)]
    else:
        parts = [f"{start}" if end == start + 1 else f"{start} to {end - 1}" for start, end in _ranges(ranges)]
    return ", ".join(parts) if every else ", ".join(parts[:_SHOWN]) + _more(len(parts))


def _more(count: int) -> str:
    return f" and {count - _SHOWN} more" if count > _SHOWN else ""


def _quoted(name: object) -> str:
    return ascii(name) if isinstance(name, str) and not name.isprintable() else repr(name)


def _times(ratio: Fraction) -> str:
    """A ratio, rounded up to three digits."""
    digits = 2 if ratio < 10 else 1 if ratio < 100 else 0
    scaled = -(-ratio.numerator * 10**digits // ratio.denominator)
    return f"{scaled / 10**digits:.{digits}f}" if ratio < 10**15 else f"{scaled:.3g}"


def _percent(chance: Fraction) -> str:
    """A chance, rounded up to a tenth of a percent."""
    tenths = -(-chance.numerator * 1000 // chance.denominator)
    if tenths == 1000:
        return "all cases" if chance == 1 else "nearly all cases"
    return f"{tenths // 10}.{tenths % 10} % of the cases"


def _level(epsilon: float) -> str:
    """A level, rounded up to four digits."""
    return f"{Context(prec=4, rounding=ROUND_CEILING).create_decimal(epsilon).normalize():f}"
