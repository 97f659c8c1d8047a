"""The one explicit table of mechanisms. Command line, documentation and conformance tests are made from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from deniable.collect.reports import Design, difference
from deniable.core.domain import Domain
from deniable.errors import FormatError, ParameterError, require
from deniable.mechanisms.base import Mechanism
from deniable.mechanisms.grr import GRR
from deniable.mechanisms.local_hashing import LocalHashing
from deniable.mechanisms.subset import SubsetSelection
from deniable.mechanisms.unary import Unary

__all__ = ["MECHANISMS", "OPTIONS", "Entry", "Option", "from_design", "mechanism"]


@dataclass(frozen=True, slots=True)
class Option:
    """An own parameter of some mechanisms, as an argument and as a command-line option."""

    kind: type
    help: str
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Entry:
    """A row: how to make the mechanism, what it is, and small cases for the tests."""

    cls: type[Mechanism]
    make: Callable[..., Mechanism]
    summary: str
    source: str
    best_for: str
    options: tuple[str, ...] = ()
    kind: str = "mechanism"
    small: tuple[Mapping[str, Any], ...] = ()
    """Arguments of `mechanism` whose channel can be enumerated."""


OPTIONS: Mapping[str, Option] = {
    "size": Option(int, "Items in a reported subset (ss); the best is near k/(e^epsilon+1)."),
    "p": Option(float, "Probability that the own bit is sent as 1 (ue)."),
    "g": Option(int, "Range of the hash (lh); the best is near e^epsilon + 1."),
    "rounding": Option(str, "How an ideal size is made whole: nearest, or lowest exact MSE.", ("paper", "best")),
}


def _grid(*ks: int, **options: Any) -> tuple[dict[str, Any], ...]:
    return tuple({"k": k, "epsilon": e, **options} for k in ks for e in (0.1, 1.0, 4.0))


def _subset(*, epsilon: float, domain: Domain, size: int | None = None, rounding: Any = "paper") -> Mechanism:
    if size is not None:
        return SubsetSelection(epsilon=epsilon, domain=domain, size=size)
    return SubsetSelection.optimal(epsilon=epsilon, domain=domain, rounding=rounding)


MECHANISMS: Mapping[str, Entry] = {
    "grr": Entry(
        GRR,
        GRR,
        "generalised randomised response",
        "AdaptiveLDP Sec. IV-A",
        "few answers (k < 3e^epsilon + 2): one small number per report",
        small=_grid(2, 3, 5, 8),
    ),
    "ss": Entry(
        SubsetSelection,
        _subset,
        "subset selection",
        "AdaptiveLDP Sec. IV-B",
        "the least error for every k and epsilon; reports of k bits",
        ("size", "rounding"),
        small=(*_grid(2, 3, 5, 8), {"k": 6, "epsilon": 1.0, "size": 4}, {"k": 6, "epsilon": 2.0, "size": 5}),
    ),
    "ue": Entry(
        Unary,
        Unary,
        "unary encoding with a chosen p",
        "AdaptiveLDP Sec. IV-C",
        "research on the family; p trades error against the best guess",
        ("p",),
        small=(*_grid(2, 4, p=0.8), {"k": 3, "epsilon": 2.0, "p": 0.25}),
    ),
    "sue": Entry(
        Unary,
        Unary.symmetric,
        "symmetric unary encoding (basic one-time RAPPOR)",
        "AdaptiveLDP Sec. IV-C",
        "comparison with deployments of RAPPOR",
        small=_grid(2, 3, 6),
    ),
    "oue": Entry(
        Unary,
        Unary.optimised,
        "optimised unary encoding",
        "AdaptiveLDP Sec. IV-C",
        "medium domains with simple clients: independent bits",
        small=_grid(2, 3, 6),
    ),
    "lh": Entry(
        LocalHashing,
        LocalHashing,
        "local hashing with a chosen range g",
        "AdaptiveLDP Sec. IV-D",
        "research on the family; g trades error against the best guess",
        ("g",),
        small=(*_grid(2, 4, g=3), {"k": 2, "epsilon": 1.0, "g": 5}),
    ),
    "blh": Entry(
        LocalHashing,
        LocalHashing.binary,
        "binary local hashing",
        "AdaptiveLDP Sec. IV-D",
        "one bit and a seed per report",
        small=_grid(2, 3, 6),
    ),
    "olh": Entry(
        LocalHashing,
        LocalHashing.optimal,
        "optimised local hashing",
        "AdaptiveLDP Sec. IV-D",
        "large domains: reports of 9 bytes or so, whatever k is",
        ("rounding",),
        small=({"k": 2, "epsilon": 0.1}, {"k": 3, "epsilon": 1.0}, {"k": 4, "epsilon": 1.0}),
    ),
}


def mechanism(
    name: str,
    *,
    epsilon: float,
    k: int | None = None,
    labels: Sequence[str] | None = None,
    domain: Domain | None = None,
    **options: Any,
) -> Mechanism:
    """The mechanism `name` for a domain given by `k`, `labels` or `domain`, with its own options.

    >>> mechanism("ss", epsilon=4.0, k=100).params
    {'size': 2}
    """
    entry = _entry(name)
    unknown = [o for o in options if o not in entry.options]
    if unknown:
        allowed = ", ".join(entry.options) or "none"
        raise ParameterError(f"{name} has no option {unknown[0]!r}; its own options are: {allowed}.")
    _check_options(name, entry, options)
    given = [what for what in (k, labels, domain) if what is not None]
    require(len(given) == 1, "domain", given, "given by exactly one of k, labels and domain")
    made = entry.make(epsilon=epsilon, domain=Domain.of(given[0]), **options)
    return made if made.name == name else replace(made, name=name)


def _check_options(name: str, entry: Entry, options: Mapping[str, Any]) -> None:
    for option, value in options.items():
        choices = OPTIONS[option].choices
        require(not choices or value in choices, option, value, f"one of {', '.join(choices)}")
    missing = [o for o in ("p", "g") if o in entry.options and o not in options]
    if missing:
        raise ParameterError(f"{name} needs its own parameter {missing[0]}.", OPTIONS[missing[0]].help)


def from_design(design: Design) -> Mechanism:
    """The mechanism of a design, as reports and tallies carry it; it must come out exactly the same."""
    name = design.get("mechanism")
    if not isinstance(name, str) or name not in MECHANISMS:
        raise FormatError(f"the design's mechanism {name!r} is unknown to this version.", "Upgrade deniable.")
    cls = MECHANISMS[name].cls
    if design.get("version") != cls.version:
        raise FormatError(f"version {design.get('version')} of {name} is unknown; this program has {cls.version}.")
    try:
        made = cls(
            epsilon=design["epsilon"],
            domain=Domain.from_document(design["domain"]),
            name=name,
            **design["params"],
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise FormatError(f"the design of {name} is not well formed: {error!r}.") from error
    if made.design != design:
        raise FormatError(f"the design does not agree with itself: {difference(made.design, design)}.")
    return made


def _entry(name: str) -> Entry:
    if name not in MECHANISMS:
        raise ParameterError(f"mechanism must be one of {', '.join(MECHANISMS)}, got {name!r}.")
    return MECHANISMS[name]
