"""The one explicit table of mechanisms. Command line, documentation and conformance tests are made from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from deniable.collect.reports import Design, difference
from deniable.core.domain import Domain
from deniable.core.families import METRICS
from deniable.core.selection import NORMALIZATIONS, SELECTORS
from deniable.errors import FormatError, ParameterError, require
from deniable.mechanisms import costs, curves
from deniable.mechanisms.adaptive import RULES, adaptive, mixed
from deniable.mechanisms.base import Mechanism
from deniable.mechanisms.grr import GRR
from deniable.mechanisms.hadamard import Hadamard
from deniable.mechanisms.histogram import SHE, THE
from deniable.mechanisms.interval import IntervalSelection
from deniable.mechanisms.keyvalue_rows import MECHANISM_ROWS, OPTION_ROWS, PROTOCOL_ROWS
from deniable.mechanisms.local_hashing import BalancedHashing, LocalHashing
from deniable.mechanisms.mixture import SubsetMixture
from deniable.mechanisms.personal import LEVEL_REPORTS, Personal
from deniable.mechanisms.personal_make import largest_level, make_personal
from deniable.mechanisms.projective import Projective
from deniable.mechanisms.subset import SubsetSelection
from deniable.mechanisms.unary import Unary
from deniable.mechanisms.utility import Utility
from deniable.mechanisms.utility_forms import BASES, FORMS
from deniable.mechanisms.utility_levels import LEVEL_OPTIONS, LEVEL_ROWS
from deniable.mechanisms.utility_make import make_utility
from deniable.mechanisms.utility_mixture import UtilityMixture, make_mixture
from deniable.mechanisms.wheel import Wheel

__all__ = ["MECHANISMS", "OPTIONS", "Entry", "Option", "Traits", "from_design", "mechanism"]


@dataclass(frozen=True, slots=True)
class Option:
    """An own parameter of some mechanisms, as an argument and as a command-line option."""

    kind: type
    help: str
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Traits:
    """What the planner asks of a row; what is None is unknown and meets no limit on it."""

    work: Callable[[Any, float], Any] | None = None
    """Steps of the server per report, if there are n of them (`costs`)."""
    pull: Callable[[Any, int], Any] | None = None
    """What one forged report can add to n times the summed estimates of r targets (`costs`)."""
    curve: curves.CurveOf | None = None
    """The family along its own parameter, from which the planner chooses."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A row: how to make the mechanism, what it is, and small cases for the tests."""

    cls: type[Any]
    make: Callable[..., Any]
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
    question: str = "frequency"
    """What is estimated: the planner compares designs that answer the same question."""
    traits: Traits = Traits()
    promise: Callable[[Mapping[str, Any]], float] | None = None
    """Epsilon where none is given, from the options; without it epsilon must be given."""


OPTIONS: Mapping[str, Option] = {
    "size": Option(int, "Items in a reported subset (ss); the best is near k/(e^epsilon+1)."),
    "p": Option(float, "Probability that the own bit is sent as 1 (ue)."),
    "g": Option(int, "Range of the hash (lh) or number of blocks (plh); the best is near e^epsilon + 1."),
    "threshold": Option(float, "Noisy coordinates above it are sent as 1 (the)."),
    "arc": Option(float, "Share of the ring that an answer's arc covers (wheel); the best is near 1/(e^epsilon+1)."),
    "prime": Option(int, "Prime of the projective geometry (pgr); the best is near e^epsilon + 1."),
    "share": Option(float, "Share of the reports whose subset has one item more than size says (ssmix)."),
    "select": Option(str, "How error and best guess are balanced (ass, aue, alh, athe, ssmix).", SELECTORS),
    "objectives": Option(
        str, "What is balanced: the exact quantities, or the metrics and grids of the adaptive paper.", METRICS
    ),
    "normalize": Option(
        str, "Scale of weighted and tchebycheff: raw, relative to the least error, or logarithms.", NORMALIZATIONS
    ),
    "weight": Option(float, "Weight of the best guess, from 0 to 1; the error has the rest (weighted, tchebycheff)."),
    "limit": Option(float, "Largest allowed success of the best guess (epsilon-constraint)."),
    "sensitive": Option(str, "Sensitive answers: how many of the first ones, or labels separated by commas (ULDP)."),
    "theta": Option(
        float, "Expected share of people with a harmless answer (ULDP); their share of labels if left out."
    ),
    "form": Option(str, "How ULDP is reached: null branch; as in the paper but valid; as printed (audit only).", FORMS),
    "base": Option(
        str, "The mechanism on the sensitive answers (utility), or of the data (pldp: sue, oue, grr, lh).", tuple(BASES)
    ),
    "levels": Option(str, "Levels of protection that people choose from, separated by commas (pldp)."),
    "shares": Option(str, "Expected shares of the levels, for closed forms and simulations; alike if left out (pldp)."),
    "level_epsilon": Option(float, "Protection of the level report (pldp)."),
    "level_report": Option(str, "What is sent about the level: a response, one bit, or nothing (pldp).", LEVEL_REPORTS),
    "leak_budget": Option(float, "Most that a report may tell about the level; base and g are chosen for it (pldp)."),
    "frequency": Option(float, "Frequency of the item that `variance` is for (pldp)."),
    "rounding": Option(str, "How an ideal size is made whole: nearest, or lowest exact MSE.", ("paper", "best")),
    "encoding": Option(
        str, "Subsets as k bits, or as an interval under a seeded permutation (ss).", ("bits", "interval")
    ),
} | {name: Option(*row) for name, row in (*LEVEL_OPTIONS.items(), *OPTION_ROWS.items())}


def _grid(*ks: int, **options: Any) -> tuple[dict[str, Any], ...]:
    return tuple({"k": k, "epsilon": e, **options} for k in ks for e in (0.1, 1.0, 4.0))


def _subset(
    *, epsilon: float, domain: Domain, size: int | None = None, rounding: Any = "paper", encoding: str = "bits"
) -> Mechanism:
    """Subset selection as bits; or the same law as permuted intervals, which is `iss`."""
    if size is None:
        size = SubsetSelection.optimal(epsilon=epsilon, domain=domain, rounding=rounding).size
    cls = IntervalSelection if encoding == "interval" else SubsetSelection
    return cls(epsilon=epsilon, domain=domain, size=size)


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


def _interval(*, epsilon: float, domain: Domain, size: int | None = None) -> Mechanism:
    if size is not None:
        return IntervalSelection(epsilon=epsilon, domain=domain, size=size)
    return IntervalSelection.optimal(epsilon=epsilon, domain=domain)


def _with_base(base: str, name: str) -> Callable[..., Mechanism]:
    return lambda **given: make_utility(base, name=name, **given)


def _with_any_base(*, base: str = "ss", **given: Any) -> Mechanism:
    return make_utility(base, **given)


def _utility(name: str, base: str, own: tuple[str, ...], summary: str, source: str, best_for: str) -> Entry:
    """A row of a ULDP mechanism, with small cases for both valid forms."""
    cases: list[dict[str, Any]] = [
        {"k": k, "sensitive": s, "epsilon": e, "theta": 0.6} for k, s, e in ((4, 2, 1.0), (5, 3, 0.5), (4, 3, 4.0))
    ]
    if own in (("g",), ("arc",)):
        fixed: dict[str, Any] = {"g": 2} if own == ("g",) else {"arc": 0.25, "ring": 2}
        cases = [case | fixed for case in cases[:2]] + [{**cases[0], "sensitive": 2, "epsilon": 4.0} | fixed]
    cases += [] if base in ("hr", "pgr") else [cases[0] | {"form": "glutf"}]
    inner = ("ring",) if base == "wheel" else ()
    options = ("sensitive", "theta", "form", *own)
    make = _with_base(base, name)
    return Entry(Utility, make, summary, source, best_for, options, ("sensitive",), inner, small=tuple(cases))


MECHANISMS: Mapping[str, Entry] = {
    "grr": Entry(
        GRR,
        GRR,
        "generalised randomised response",
        "AdaptiveLDP Sec. IV-A",
        "few answers (k < 3e^epsilon + 2): one small number per report",
        small=_grid(2, 3, 5, 8),
        traits=Traits(costs.work_one, costs.pull_one),
    ),
    "ss": Entry(
        SubsetSelection,
        _subset,
        "subset selection",
        "AdaptiveLDP Sec. IV-B",
        "the least error for every k and epsilon; reports of k bits",
        ("size", "rounding", "encoding"),
        small=(*_grid(2, 3, 5, 8), {"k": 6, "epsilon": 1.0, "size": 4}, {"k": 6, "epsilon": 2.0, "size": 5}),
        traits=Traits(costs.work_bits, costs.pull_set, curves.subset_curve),
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
        traits=Traits(costs.work_bits, costs.pull_all, curves.unary_curve),
    ),
    "sue": Entry(
        Unary,
        Unary.symmetric,
        "symmetric unary encoding (basic one-time RAPPOR)",
        "AdaptiveLDP Sec. IV-C",
        "comparison with deployments of RAPPOR",
        small=_grid(2, 3, 6),
        traits=Traits(costs.work_bits, costs.pull_all),
    ),
    "oue": Entry(
        Unary,
        Unary.optimised,
        "optimised unary encoding",
        "AdaptiveLDP Sec. IV-C",
        "medium domains with simple clients: independent bits",
        small=_grid(2, 3, 6),
        traits=Traits(costs.work_bits, costs.pull_all),
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
        traits=Traits(costs.work_hashes, costs.pull_all, curves.hashing_curve),
    ),
    "blh": Entry(
        LocalHashing,
        LocalHashing.binary,
        "binary local hashing",
        "AdaptiveLDP Sec. IV-D",
        "one bit and a seed per report",
        small=_grid(2, 3, 6),
        traits=Traits(costs.work_hashes, costs.pull_all),
    ),
    "olh": Entry(
        LocalHashing,
        LocalHashing.optimal,
        "optimised local hashing",
        "AdaptiveLDP Sec. IV-D",
        "large domains: reports of 9 bytes or so, whatever k is",
        ("rounding",),
        small=({"k": 2, "epsilon": 0.1}, {"k": 3, "epsilon": 1.0}, {"k": 4, "epsilon": 1.0}),
        traits=Traits(costs.work_hashes, costs.pull_all),
    ),
    "plh": Entry(
        BalancedHashing,
        _balanced,
        "balanced local hashing by a keyed permutation",
        "docs/maths/local-hashing.md",
        "large domains: nearly the least error in a seed and log2 g bits, quick to decode",
        ("g",),
        small=(*_grid(2, 3, 5), {"k": 5, "epsilon": 1.0, "g": 2}, {"k": 6, "epsilon": 2.0, "g": 3}),
        traits=Traits(costs.work_block, costs.pull_block, curves.balanced_curve),
    ),
    "the": Entry(
        THE,
        _the,
        "thresholded histogram encoding",
        "AdaptiveLDP Sec. IV-E",
        "comparison: a unary encoding that leaves part of its budget unused",
        ("threshold",),
        small=(*_grid(2, 4), {"k": 3, "epsilon": 2.0, "threshold": 0.5}),
        traits=Traits(costs.work_bits, costs.pull_all, curves.thresholded_curve),
    ),
    "she": Entry(
        SHE,
        SHE,
        "summed histogram encoding (discrete Laplace noise)",
        "AdaptiveLDP Sec. IV-E",
        "comparison: noisy vectors that are simply averaged",
        inner=("grid", "reach"),
        small=tuple({"k": 2, "epsilon": e, "grid": g, "reach": 2**g + 2} for e in (0.5, 2.0) for g in (0, 1, 2)),
        traits=Traits(costs.work_numbers, costs.pull_noise),
    ),
    "wheel": Entry(
        Wheel,
        _wheel,
        "wheel: hashing to an arc of a ring",
        "Wang20",
        "large domains at small epsilon: local hashing without a whole-number range",
        ("arc", "rounding"),
        inner=("ring",),
        small=(
            {"k": 2, "epsilon": 1.0, "arc": 0.25, "ring": 3},
            {"k": 3, "epsilon": 0.5, "arc": 0.5, "ring": 2},
            {"k": 3, "epsilon": 2.0, "arc": 0.125, "ring": 3},
        ),
        traits=Traits(costs.work_hashes, costs.pull_all, curves.wheel_curve),
    ),
    "ass": Entry(
        SubsetSelection,
        adaptive("ass"),
        "adaptive subset selection",
        "AdaptiveLDP Sec. V",
        "the least error for the best guess it allows: on the frontier",
        RULES,
        inner=("n",),
        small=_grid(3, 5, 8),
        traits=Traits(costs.work_bits, costs.pull_set),
    ),
    "aue": Entry(
        Unary,
        adaptive("aue"),
        "adaptive unary encoding",
        "AdaptiveLDP Sec. V",
        "comparison: ass has less error for the same best guess",
        RULES,
        inner=("n",),
        small=_grid(2, 4),
        traits=Traits(costs.work_bits, costs.pull_all),
    ),
    "alh": Entry(
        LocalHashing,
        adaptive("alh"),
        "adaptive local hashing",
        "AdaptiveLDP Sec. V",
        "short reports with a smaller best guess; plh has less error",
        RULES,
        inner=("n",),
        small=({"k": 2, "epsilon": 0.1}, {"k": 3, "epsilon": 1.0}, {"k": 5, "epsilon": 1.0}),
        traits=Traits(costs.work_hashes, costs.pull_all),
    ),
    "athe": Entry(
        THE,
        adaptive("athe"),
        "adaptive thresholded histogram encoding",
        "AdaptiveLDP Sec. V",
        "comparison: leaves part of its budget unused",
        RULES,
        inner=("n",),
        small=_grid(2, 4),
        traits=Traits(costs.work_bits, costs.pull_all),
    ),
    "ssmix": Entry(
        SubsetMixture,
        mixed,
        "mixture of two subset sizes",
        "docs/maths/mixture.md",
        "any best guess that is asked for, with the least error there is",
        ("size", "share", *RULES),
        inner=("n",),
        small=(
            *_grid(3, 5),
            {"k": 2, "epsilon": 1.0, "size": 1, "share": 0.4},
            {"k": 4, "epsilon": 1.0, "size": 2, "share": 0.25},
            {"k": 5, "epsilon": 2.0, "size": 4, "share": 0.75},
            {"k": 6, "epsilon": 0.5, "size": 3, "share": 0.0},
        ),
        traits=Traits(costs.work_bits, costs.pull_mixture, curves.mixture_curve),
    ),
    "hr": Entry(
        Hadamard,
        Hadamard,
        "Hadamard response",
        "Acharya19",
        "small epsilon, very large domains: log2 k bits, no seed, decoding in k log k",
        small=_grid(2, 3, 5, 8),
        traits=Traits(costs.work_hadamard, costs.pull_all),
    ),
    "pgr": Entry(
        Projective,
        _projective,
        "projective-geometry response",
        "Feldman22",
        "large domains: log2 k bits, no seed, near the least error",
        ("prime",),
        small=(*_grid(2, 3, 7), {"k": 10, "epsilon": 1.0, "prime": 3}, {"k": 5, "epsilon": 2.0, "prime": 5}),
        traits=Traits(costs.work_projective, costs.pull_projective, curves.projective_curve),
    ),
    "iss": Entry(
        IntervalSelection,
        _interval,
        "subset selection by permuted intervals",
        "docs/maths/uldp.md",
        "the least error in a seed and log2 k bits; decoding looks up each chosen answer",
        ("size",),
        small=(*_grid(2, 3), {"k": 4, "epsilon": 1.0, "size": 2}, {"k": 5, "epsilon": 2.0, "size": 3}),
        traits=Traits(costs.work_set, costs.pull_set, curves.interval_curve),
    ),
    "uss": _utility(
        "uss",
        "ss",
        ("size",),
        "subset selection for sensitive answers, harmless ones mostly disclosed",
        "ULDP Sec. 5.1",
        "some answers sensitive: the least error, within 3 % or better of the optimum",
    ),
    "ussmix": Entry(
        UtilityMixture,
        make_mixture,
        "subset selection of two adjacent sizes for sensitive answers",
        "docs/maths/uldp.md",
        "the optimum: up to 5 % better than uss where few answers are sensitive and theta is well known",
        ("sensitive", "theta", "size", "share"),
        needed=("sensitive",),
        small=(
            {"k": 5, "sensitive": 3, "epsilon": 1.0, "theta": 0.95},
            {"k": 6, "sensitive": "0,2,4,5", "epsilon": 3.0, "theta": 0.95},
            {"k": 5, "sensitive": 2, "epsilon": 2.0, "theta": 0.95},
            {"k": 6, "sensitive": 4, "epsilon": 0.5, "theta": 0.5, "size": 2, "share": 0.25},
        ),
    ),
    "uue": _utility(
        "uue",
        "ue",
        ("p",),
        "unary encoding for sensitive answers, harmless ones mostly disclosed",
        "ULDP Sec. 5.2",
        "some answers sensitive, simple clients",
    ),
    "ulh": _utility(
        "ulh",
        "lh",
        ("g",),
        "local hashing for sensitive answers, harmless ones mostly disclosed",
        "ULDP Sec. 5.3",
        "many sensitive answers, short reports",
    ),
    "uwheel": _utility(
        "uwheel",
        "wheel",
        ("arc",),
        "wheel for sensitive answers, harmless ones mostly disclosed",
        "ULDP App. B",
        "many sensitive answers at small epsilon",
    ),
    "upgr": _utility(
        "upgr",
        "pgr",
        ("prime",),
        "projective-geometry response for sensitive answers",
        "docs/maths/uldp.md",
        "many sensitive answers: log2 k bits, no seed, near the least error",
    ),
    "urr": _utility(
        "urr",
        "grr",
        (),
        "randomised response for sensitive answers (uRR)",
        "ULDP Sec. 2",
        "one to three sensitive answers, or a large epsilon",
    ),
    "urap": _utility(
        "urap",
        "sue",
        (),
        "symmetric unary encoding for sensitive answers (uRAP)",
        "ULDP Sec. 2",
        "comparison",
    ),
    "uhr": _utility(
        "uhr",
        "hr",
        (),
        "Hadamard response for sensitive answers (uHR)",
        "ULDP Sec. 2",
        "small epsilon, very many sensitive answers",
    ),
    "utility": Entry(
        Utility,
        _with_any_base,
        "any mechanism for sensitive answers, harmless ones mostly disclosed",
        "ULDP Alg. 1",
        "research: the transform with a base of choice",
        ("base", "sensitive", "theta", "form", "size", "p", "g", "arc", "prime"),
        needed=("sensitive",),
        inner=("ring", "grid", "reach"),
        small=(
            {"k": 4, "sensitive": "1,3", "epsilon": 1.0, "base": "plh", "g": 2},
            {"k": 5, "sensitive": 4, "epsilon": 1.0, "base": "iss", "size": 2, "form": "glutf"},
            {"k": 4, "sensitive": 2, "epsilon": 2.0, "base": "the"},
            {"k": 3, "sensitive": 1, "epsilon": 1.0},
            {"k": 3, "sensitive": 0, "epsilon": 1.0},
            {"k": 3, "sensitive": 3, "epsilon": 1.0},
        ),
    ),
    "pldp": Entry(
        Personal,
        make_personal,
        "everyone chooses a level of protection, which is sent noisily beside the data",
        "PLDP Sec. 5",
        "people differ in what they want protected",
        ("levels", "base", "g", "level_epsilon", "level_report", "leak_budget", "shares", "frequency"),
        ("levels",),
        small=(
            {"k": 4, "levels": "0.5,1,2", "base": "sue", "level_epsilon": 0.5},
            {"k": 3, "levels": "0.5,2", "base": "oue", "level_epsilon": 1.0, "level_report": "bit"},
            {"k": 5, "levels": "0.5,1", "base": "grr", "level_epsilon": 0.3},
            {"k": 3, "levels": "0.1,1", "base": "lh", "level_report": "none"},
            {"k": 3, "levels": "1", "base": "sue"},
        ),
        promise=lambda options: largest_level(options["levels"]),
    ),
} | {name: Entry(**row) for name, row in (*LEVEL_ROWS.items(), *MECHANISM_ROWS.items())}


def mechanism(
    name: str,
    *,
    epsilon: float | None = None,
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
    if epsilon is None:
        if entry.promise is None:
            raise ParameterError("epsilon must be given.", "Say how private it is to be, e.g. epsilon=1.")
        epsilon = entry.promise(options)
    given = [what for what in (k, labels, domain) if what is not None]
    require(len(given) == 1, "domain", given, "given by exactly one of k, labels and domain")
    made: Mechanism = entry.make(epsilon=epsilon, domain=Domain.of(given[0]), **options)
    return made if made.name == name or type(made) is not entry.cls else replace(made, name=name)


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
        made: Mechanism = cls(
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
    if name in PROTOCOL_ROWS:
        raise ParameterError(
            f"{name} is a protocol of several steps, not one mechanism.",
            "Make it in Python: deniable.protocol(name, ...), then run(pairs, rng).",
        )
    if name not in MECHANISMS:
        raise ParameterError(f"mechanism must be one of {', '.join(MECHANISMS)}, got {name!r}.")
    return MECHANISMS[name]
