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
from deniable.mechanisms.hadamard import Hadamard
from deniable.mechanisms.histogram import SHE, THE
from deniable.mechanisms.local_hashing import BalancedHashing, LocalHashing
from deniable.mechanisms.projective import Projective
from deniable.mechanisms.subset import SubsetSelection
from deniable.mechanisms.unary import Unary
from deniable.mechanisms.wheel import Wheel

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
    needed: tuple[str, ...] = ()
    """Options without a default."""
    inner: tuple[str, ...] = ()
    """Arguments for tests and research that the command line does not offer."""
    kind: str = "mechanism"
    small: tuple[Mapping[str, Any], ...] = ()
    """Arguments of `mechanism` whose channel can be enumerated."""


OPTIONS: Mapping[str, Option] = {
    "size": Option(int, "Items in a reported subset (ss); the best is near k/(e^epsilon+1)."),
    "p": Option(float, "Probability that the own bit is sent as 1 (ue)."),
    "g": Option(int, "Range of the hash (lh) or number of blocks (plh); the best is near e^epsilon + 1."),
    "threshold": Option(float, "Noisy coordinates above it are sent as 1 (the)."),
    "arc": Option(float, "Share of the ring that an answer's arc covers (wheel); the best is near 1/(e^epsilon+1)."),
    "prime": Option(int, "Prime of the projective geometry (pgr); the best is near e^epsilon + 1."),
    "rounding": Option(str, "How an ideal size is made whole: nearest, or lowest exact MSE.", ("paper", "best")),
}


def _grid(*ks: int, **options: Any) -> tuple[dict[str, Any], ...]:
    return tuple({"k": k, "epsilon": e, **options} for k in ks for e in (0.1, 1.0, 4.0))


def _subset(*, epsilon: float, domain: Domain, size: int | None = None, rounding: Any = "paper") -> Mechanism:
    if size is not None:
        return SubsetSelection(epsilon=epsilon, domain=domain, size=size)
    return SubsetSelection.optimal(epsilon=epsilon, domain=domain, rounding=rounding)


def _the(*, epsilon: float, domain: Domain, threshold: float | None = None) -> Mechanism:
    if threshold is not None:
        return THE(epsilon=epsilon, domain=domain, theta=threshold)
    return THE.optimal(epsilon=epsilon, domain=domain)


def _balanced(*, epsilon: float, domain: Domain, g: int | None = None) -> Mechanism:
    if g is not None:
        return BalancedHashing(epsilon=epsilon, domain=domain, g=g)
    return BalancedHashing.optimal(epsilon=epsilon, domain=domain)


def _wheel(
    *, epsilon: float, domain: Domain, arc: float | None = None, rounding: Any = "paper", ring: int = 32
) -> Mechanism:
    if arc is not None:
        return Wheel(epsilon=epsilon, domain=domain, arc=arc, ring=ring)
    return Wheel.optimal(epsilon=epsilon, domain=domain, rounding=rounding)


def _projective(*, epsilon: float, domain: Domain, prime: int | None = None) -> Mechanism:
    if prime is not None:
        return Projective(epsilon=epsilon, domain=domain, prime=prime)
    return Projective.optimal(epsilon=epsilon, domain=domain)


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
        needed=("p",),
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
        needed=("g",),
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
    "plh": Entry(
        BalancedHashing,
        _balanced,
        "balanced local hashing by a keyed permutation",
        "docs/maths/local-hashing.md",
        "large domains: nearly the least error in a seed and log2 g bits, quick to decode",
        ("g",),
        small=(*_grid(2, 3, 5), {"k": 5, "epsilon": 1.0, "g": 2}, {"k": 6, "epsilon": 2.0, "g": 3}),
    ),
    "the": Entry(
        THE,
        _the,
        "thresholded histogram encoding",
        "AdaptiveLDP Sec. IV-E",
        "comparison: a unary encoding that leaves part of its budget unused",
        ("threshold",),
        small=(*_grid(2, 4), {"k": 3, "epsilon": 2.0, "threshold": 0.5}),
    ),
    "she": Entry(
        SHE,
        SHE,
        "summed histogram encoding (discrete Laplace noise)",
        "AdaptiveLDP Sec. IV-E",
        "comparison: noisy vectors that are simply averaged",
        inner=("grid", "reach"),
        small=tuple({"k": 2, "epsilon": e, "grid": g, "reach": 2**g + 2} for e in (0.5, 2.0) for g in (0, 1, 2)),
    ),
    "wheel": Entry(
        Wheel,
        _wheel,
        "wheel: hashing to an arc of a ring",
        "ULDP Sec. 5.5",
        "large domains at small epsilon: local hashing without a whole-number range",
        ("arc", "rounding"),
        inner=("ring",),
        small=(
            {"k": 2, "epsilon": 1.0, "arc": 0.25, "ring": 3},
            {"k": 3, "epsilon": 0.5, "arc": 0.5, "ring": 2},
            {"k": 3, "epsilon": 2.0, "arc": 0.125, "ring": 3},
        ),
    ),
    "hr": Entry(
        Hadamard,
        Hadamard,
        "Hadamard response",
        "ULDP Sec. 2",
        "small epsilon, very large domains: log2 k bits, no seed, decoding in k log k",
        small=_grid(2, 3, 5, 8),
    ),
    "pgr": Entry(
        Projective,
        _projective,
        "projective-geometry response",
        "ULDP Sec. 4",
        "large domains: log2 k bits, no seed, near the least error",
        ("prime",),
        small=(*_grid(2, 3, 7), {"k": 10, "epsilon": 1.0, "prime": 3}, {"k": 5, "epsilon": 2.0, "prime": 5}),
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
    unknown = [o for o in options if o not in (*entry.options, *entry.inner)]
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
        choices = OPTIONS[option].choices if option in OPTIONS else ()
        require(not choices or value in choices, option, value, f"one of {', '.join(choices)}")
    missing = [o for o in entry.needed if o not in options]
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
