"""The one explicit table of mechanisms. Command line, documentation and conformance tests are made from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from deniable.collect.reports import Design, difference
from deniable.core.codes import Span
from deniable.core.domain import Domain
from deniable.errors import FormatError, ParameterError, require
from deniable.mechanisms.base import Mechanism
from deniable.mechanisms.entry import Entry, Option
from deniable.mechanisms.frequency import table as frequency
from deniable.mechanisms.keyvalue import table as keyvalue
from deniable.mechanisms.metric import table as metric
from deniable.mechanisms.numeric import table as numeric
from deniable.mechanisms.personal import table as personal
from deniable.mechanisms.protocol import Protocol
from deniable.mechanisms.utility import table as utility

__all__ = ["MECHANISMS", "OPTIONS", "PROTOCOLS", "from_design", "mechanism", "protocol"]

_TABLES = (frequency, utility, personal, keyvalue, metric, numeric)
_ROWS = {name: entry for table in _TABLES for name, entry in table.ROWS.items()}

OPTIONS: Mapping[str, Option] = {name: option for table in _TABLES for name, option in table.OPTIONS.items()}
MECHANISMS: Mapping[str, Entry] = {name: entry for name, entry in _ROWS.items() if entry.kind == "mechanism"}
PROTOCOLS: Mapping[str, Entry] = {name: entry for name, entry in _ROWS.items() if entry.kind == "protocol"}
"""Collections in several steps."""


def mechanism(
    name: str,
    *,
    epsilon: float | None = None,
    k: int | None = None,
    labels: Sequence[str] | None = None,
    domain: Domain | Span | None = None,
    **options: Any,
) -> Mechanism:
    """The mechanism `name` for a domain given by `k`, `labels` or `domain`, with its own options.

    Rows about numbers and distances take options instead that describe the domain: `points`, `interval`, `distances`.

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
    made: Mechanism = entry.make(epsilon=epsilon, domain=_domain(entry, (k, labels, domain), options), **options)
    return made if made.name == name or type(made) is not entry.cls else replace(made, name=name)


def _domain(entry: Entry, ways: Sequence[Any], options: dict[str, Any]) -> Domain | Span:
    """The one domain that is given, in one of several ways."""
    given = [what for what in ways if what is not None]
    own = None if entry.place is None else entry.place(options)
    given += [] if own is None else [own]
    more = "" if entry.place is None else ", or by points, interval or distances"
    require(len(given) == 1, "domain", given, f"given by exactly one of k, labels and domain{more}")
    if isinstance(given[0], Span):
        hint = "Give the number of answers, k, or labels."
        require(entry.place is not None, "domain", given[0], "no interval for this mechanism", hint)
        return given[0]
    return Domain.of(given[0])


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
        whole = {**design, "params": {key: _made(value) for key, value in design["params"].items()}}
        made: Mechanism = cls.of_design(whole, Domain.from_document(design["domain"]))
    except (KeyError, TypeError, AttributeError) as error:
        raise FormatError(f"the design of {name} is not well formed: {error!r}.") from error
    if made.design != design:
        raise FormatError(f"the design does not agree with itself: {difference(made.design, design)}.")
    return made


def _made(param: Any) -> Any:
    """A parameter; one that is a design itself, such as that of a base, as its mechanism."""
    return from_design(param) if isinstance(param, Mapping) and {"mechanism", "kernel"} <= set(param) else param


def _entry(name: str) -> Entry:
    if name in PROTOCOLS:
        raise ParameterError(
            f"{name} is a protocol of several steps, not one mechanism.",
            "Make it in Python: deniable.protocol(name, ...), then run(pairs, rng).",
        )
    if name not in MECHANISMS:
        raise ParameterError(f"mechanism must be one of {', '.join(MECHANISMS)}, got {name!r}.")
    return MECHANISMS[name]


def protocol(
    name: str, *, epsilon: float, k: int | None = None, labels: Sequence[str] | None = None, **options: Any
) -> Protocol[Any]:
    """The protocol `name` for a domain given by `k` or `labels`, with its own options.

    >>> protocol("ks-adap", epsilon=2.0, k=1000, top=20).first().share
    0.4
    """
    require(name in PROTOCOLS, "protocol", name, f"one of {', '.join(PROTOCOLS)}")
    entry = PROTOCOLS[name]
    unknown = [o for o in options if o not in entry.options]
    require(not unknown, "options", unknown, f"among {', '.join(entry.options)} for {name}")
    given = [what for what in (k, labels) if what is not None]
    require(len(given) == 1, "domain", given, "given by exactly one of k and labels")
    made: Protocol[Any] = entry.make(epsilon=epsilon, domain=Domain.of(given[0]), **options)
    return made
