"""The one explicit table of mechanisms. Command line, documentation and conformance tests are made from it."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from importlib import import_module
from keyword import iskeyword
from typing import Any

from deniable.collect.reports import Design, difference
from deniable.core.codes import Span
from deniable.core.domain import Domain
from deniable.errors import DeniableError, FormatError, InWords, ParameterError, meant, require, show
from deniable.mechanisms.base import Mechanism
from deniable.mechanisms.entry import ADDED, Entry, Option
from deniable.mechanisms.frequency import options as frequency
from deniable.mechanisms.keyvalue import options as keyvalue
from deniable.mechanisms.metric import options as metric
from deniable.mechanisms.numeric import options as numeric
from deniable.mechanisms.optimal import options as optimal
from deniable.mechanisms.ordinal import options as ordinal
from deniable.mechanisms.personal import options as personal
from deniable.mechanisms.protocol import Protocol
from deniable.mechanisms.survey import options as survey
from deniable.mechanisms.utility import options as utility
from deniable_client.documents import check_document
from deniable_client.exact import check_epsilon
from deniable_client.grammar import FORMS, read_design

__all__ = [
    "ALIASES",
    "MECHANISMS",
    "OPTIONS",
    "PROTOCOLS",
    "check_options",
    "entry_of",
    "from_design",
    "mechanism",
    "protocol",
    "register",
    "resolved",
]

_COMMON = ("epsilon", "k", "labels", "domain", "missing", "other")
"""What every mechanism takes, for hints at slips."""
_SHOWN = 8
"""Names in a hint."""
_TOLD = (frequency, utility, personal, keyvalue, metric, numeric, optimal, ordinal, survey)


def _joined() -> dict[str, Option]:
    """Options by name; of one that several families have, what each says of it and the choices of all."""
    found: dict[str, Option] = {}
    for name, option in (pair for told in _TOLD for pair in told.OPTIONS.items()):
        known = found.get(name, option)
        choices = tuple(dict.fromkeys((*known.choices, *option.choices)))
        found[name] = (
            option if known is option else replace(option, help=f"{known.help} {option.help}", choices=choices)
        )
    return found


_OPTIONS = _joined()


class _Rows(MutableMapping[str, Entry]):
    """The rows of a kind: names are known at once, and a family is loaded when one of its rows is asked for."""

    def __init__(self, kind: str) -> None:
        rooms = {told: told.__name__.rpartition(".")[0] for told in _TOLD}
        self._rows: dict[str, Entry | str] = {n: room for told, room in rooms.items() for n in told.NAMES.get(kind, ())}

    def __repr__(self) -> str:
        return f"<{len(self)} names: {', '.join(self)}>"

    def __getitem__(self, name: str) -> Entry:
        row = self._rows[name]
        if isinstance(row, str):
            row = self._rows[name] = import_module(f"{row}.table").ROWS[name]
        return row

    def __setitem__(self, name: str, entry: Entry) -> None:
        self._rows[name] = entry

    def __delitem__(self, name: str) -> None:
        del self._rows[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, name: object) -> bool:
        return name in self._rows


_KINDS = {kind: _Rows(kind) for kind in ("mechanism", "protocol")}
_SPACES = re.compile(r"[\s_-]+")
_NAME, _OPTION = re.compile(r"[a-z](-?[a-z0-9]){0,39}"), re.compile(r"[a-z](_?[a-z0-9]){0,39}")
_TAKEN = [
    "name",
    "epsilon",
    "k",
    "labels",
    "labels_file",
    "domain",
    "missing",
    "other",
    "rng",
    "json",
    "as_json",
    "help",
]
_TAKEN += ["column", "columns", "level_column", "duplicates", "format", "delimiter", "text_encoding", "compression"]
_TAKEN += ["no_header", "header", "values", "data", "out", "target", "save", "force", "n", "runs", "seed", "level"]
_TAKEN += [
    "project",
    "chart",
    "promise",
    "tuned",
    "reports",
    "version",
    "engine",
    "master",
    "table",
    "fakes",
    "people",
    "names",
]
_TAKEN += ["prior", "config", "database", "question", "subject", "after", "window_days", "min_batch"]
_TAKEN += ["file", "weights", "stderr", "tables", "scheme"]
"""Arguments of `mechanism`, and what commands call their own arguments and options: no option may have these names."""

_KNOWN_AS = {
    "grr": "krr k-rr rr randomized-response randomised-response generalized-randomized-response direct-encoding de",
    "ss": "k-subset subset k-ss subset-selection",
    "sue": "rappor basic-rappor b-rappor basic-one-time-rappor one-time-rappor symmetric-unary-encoding",
    "oue": "optimized-unary-encoding optimised-unary-encoding optimal-unary-encoding",
    "ue": "unary-encoding",
    "lh": "local-hashing",
    "blh": "binary-local-hashing",
    "olh": "optimized-local-hashing optimised-local-hashing optimal-local-hashing",
    "the": "thresholding-with-histogram-encoding threshold-histogram-encoding",
    "she": "summation-with-histogram-encoding histogram-encoding",
    "hr": "hadamard hadamard-response hadamard-randomized-response hrr",
    "pgr": "projective-geometry-response",
    "wheel": "wheel-mechanism",
    "urr": "utility-optimized-rr utility-optimized-randomized-response",
    "urap": "utility-optimized-rappor",
    "pldp": "personalized-ldp personalised-ldp",
    "pckv-ue": "pckv",
    "brr": "bipartite-randomized-response bipartite-randomised-response",
    "exponential": "exponential-mechanism",
    "laplace": "laplace-mechanism",
    "geometric": "geometric-mechanism discrete-laplace",
    "sw": "square-wave",
    "pm": "piecewise piecewise-mechanism",
    "duchi": "duchi-mechanism",
    "hm": "hybrid hybrid-mechanism",
}
_LACKING = {
    "privkvm+": "PrivKVM+ is PrivKVM with a number of rounds by a rule that is in no text at hand: "
    "privkvm takes any number of them, rounds=N.",
}
"""Names that papers mention, and why there is no such row."""
ALIASES: Mapping[str, str] = {alias: name for name, known in _KNOWN_AS.items() for alias in known.split()}
"""Rows by other names that people know them by."""

OPTIONS: Mapping[str, Option] = _OPTIONS
MECHANISMS: Mapping[str, Entry] = _KINDS["mechanism"]
"""All mechanisms, by name: what each is, for which question, and the options that it takes."""
PROTOCOLS: Mapping[str, Entry] = _KINDS["protocol"]
"""Collections in several steps."""


def register(name: str, entry: Entry, options: Mapping[str, Option] | None = None) -> ExitStack:
    """Add a row of your own, with the options that no row has yet; all of Deniable knows it from then on.

    `mechanism`, `from_design`, and the commands of a program that calls `deniable.cli.main` afterwards. Rows are never
    replaced: a name that is taken is refused. The row stays, or as long as a `with` block if the result opens one.

    >>> with register("mine", replace(MECHANISMS["grr"], summary="as I want it")):
    ...     mechanism("mine", epsilon=1.0, k=4).name
    'mine'
    >>> "mine" in MECHANISMS
    False
    """
    own = dict(options or {})
    fits = isinstance(name, str) and _NAME.fullmatch(name) is not None
    require(fits, "name", name, "a letter, then at most 39 lower-case letters and digits, with hyphens between them")
    require(isinstance(entry, Entry), "entry", entry, "an Entry", "Start from one: replace(dn.MECHANISMS['grr'], ...).")
    free = not any(name in rows for rows in _KINDS.values()) and name not in ALIASES
    require(free, "name", name, "free: the registry has such a row, or knows one by this name")
    odd = [option for option in own if not _OPTION.fullmatch(option) or iskeyword(option)]
    require(not odd, "options", odd, "named by lower-case letters and digits, with underscores between them")
    bare = [option for option, said in own.items() if not isinstance(said, Option)]
    require(not bare, "options", bare, "described by an Option each")
    taken = [option for option in own if option in OPTIONS or option in _TAKEN]
    hint = "A row may list options that others have; `options` is for new ones."
    require(not taken, "options", taken, "free: there are such options already", hint)
    unknown = [option for option in (*entry.options, *entry.needed) if option not in OPTIONS and option not in own]
    require(not unknown, "options", unknown, "described, for the command line and its help", "Pass options={...}.")
    undo = ExitStack()
    kept: list[MutableMapping[str, Entry]] = [_KINDS[entry.kind], *[ADDED] * (entry.kind == "mechanism")]
    for rows in kept:
        rows[name] = entry
        undo.callback(rows.pop, name, None)
    _OPTIONS.update(own)
    for option in own:
        undo.callback(_OPTIONS.pop, option, None)
    return undo


def mechanism(
    name: str,
    *,
    epsilon: float | None = None,
    k: int | None = None,
    labels: Sequence[str] | None = None,
    domain: Domain | Span | None = None,
    missing: str | None = None,
    other: str | None = None,
    **options: Any,
) -> Mechanism:
    """The mechanism `name` for a domain given by `k`, `labels` or `domain`, with its own options.

    `missing` names the label that missing values count as, `other` the one for values that are no labels; without them
    such values are errors.
    Rows about numbers and distances take options instead that describe the domain: `points`, `interval`, `distances`.

    >>> mechanism("ss", epsilon=4.0, k=100).params
    {'size': 2}
    """
    name = resolved(name)
    if name in PROTOCOLS:
        raise ParameterError(
            f"{name} is a protocol of several steps, not one mechanism.",
            f"Make it with deniable.protocol({name!r}, ...), then run(data, rng). On the command line: "
            f"`deniable simulate {name}` tries it, `deniable task next {name}` collects its rounds.",
        )
    ways, choices = {"k": k, "labels": labels, "domain": domain}, {"missing": missing, "other": other}
    made: Mechanism = _made("mechanism", MECHANISMS, name, epsilon, ways, choices, options)
    return made if made.name == name or type(made) is not MECHANISMS[name].cls else replace(made, name=name)


def protocol(
    name: str,
    *,
    epsilon: float | None = None,
    k: int | None = None,
    labels: Sequence[str] | None = None,
    domain: Domain | None = None,
    missing: str | None = None,
    other: str | None = None,
    **options: Any,
) -> Protocol[Any]:
    """The protocol `name` for a domain given by `k`, `labels` or `domain`, with its own options.

    >>> protocol("ks-adap", epsilon=2.0, k=1000, top=20).first().share
    0.4
    """
    name = resolved(name)
    ways, choices = {"k": k, "labels": labels, "domain": domain}, {"missing": missing, "other": other}
    made: Protocol[Any] = _made("protocol", PROTOCOLS, name, epsilon, ways, choices, options)
    return made


def _made(
    kind: str,
    rows: Mapping[str, Entry],
    name: str,
    epsilon: float | None,
    ways: Mapping[str, Any],
    choices: Mapping[str, str | None],
    options: dict[str, Any],
) -> Any:
    """What a row makes of its promise, its domain and its options."""
    entry = _known(kind, name, rows)
    options = as_printed(name, entry, options)
    check_options(name, options)
    other = None if entry.instead is None else entry.instead(options)
    if other is not None:
        name, level, own = other
        require(epsilon in (None, level), "epsilon", epsilon, f"left out, or {level!r}, which the promise says")
        return mechanism(name, epsilon=level, domain=_domain(entry, ways, choices, options), **own)
    if epsilon is None:
        if entry.default_epsilon is None:
            raise ParameterError("epsilon must be given.", "Say how private it is to be, e.g. epsilon=1.")
        epsilon = entry.default_epsilon(options)
    where = _domain(entry, ways, choices, options)
    return entry.make(epsilon=check_epsilon(epsilon), domain=where, **options)


def as_printed(name: str, entry: Entry, options: dict[str, Any]) -> dict[str, Any]:
    """`form=paper`, in the options that a row has for what its paper prints; former spellings warn.

    >>> as_printed("brr", entry_of("brr"), {"form": "paper", "points": 9})
    {'points': 9, 'rule': 'min'}
    """
    if entry.printed is None:
        return options
    for option, value in entry.printed.items():
        if options.get(option) == value and value in _FORMER:
            warnings.warn(f"{option}={value} is now form=paper; it goes with the next version.", FutureWarning, 4)
    if "form" not in options or (options["form"] != "paper" and "form" in entry.options):
        return options
    require(options["form"] == "paper", "form", options["form"], f"paper (as printed), or left out, for {name}")
    rest = {option: value for option, value in options.items() if option != "form"}
    twice = [option for option in entry.printed if option in rest]
    require(not twice, twice[0] if twice else "form", rest.get(twice[0]) if twice else "", "left out with form=paper")
    return {**rest, **entry.printed}


_FORMER = ("printed", "paper", "min", "glutf")
"""How options of their own called what is as printed before that was `form=paper` everywhere."""


def entry_of(name: str) -> Entry:
    """The row of a mechanism or of a protocol."""
    name = resolved(name)
    rows = next((rows for rows in _KINDS.values() if name in rows), None)
    return _known("mechanism", name, {**MECHANISMS, **PROTOCOLS} if rows is None else rows)


def resolved(name: str) -> str:
    """The registry's name for one that people use, in whatever spelling; an unknown one stays.

    >>> resolved("k-RR"), resolved("Direct Encoding"), resolved("basic_rappor"), resolved("grr")
    ('grr', 'grr', 'sue', 'grr')
    """
    if not isinstance(name, str) or any(name in rows for rows in _KINDS.values()):
        return name
    spelt = _SPACES.sub("-", name.strip().lower())
    return spelt if any(spelt in rows for rows in _KINDS.values()) else ALIASES.get(spelt, name)


def _known(kind: str, name: str, rows: Mapping[str, Entry]) -> Entry:
    if not isinstance(name, str) or name not in rows:
        near = _LACKING.get(str(name).strip().lower()) or meant(
            name, [*rows, *(alias for alias, row in ALIASES.items() if row in rows)]
        )
        if kind == "protocol" and isinstance(name, str) and name in MECHANISMS:
            near = f"{name} is one mechanism: dn.mechanism({name!r}, ...)."
        raise ParameterError(f"{kind} must be one of {', '.join(rows)}, got {show(name)}.", near)
    return rows[name]


def _domain(
    entry: Entry, ways: Mapping[str, Any], choices: Mapping[str, str | None], options: dict[str, Any]
) -> Domain | Span:
    """The one domain that is given, in one of several ways."""
    given = {name: what for name, what in ways.items() if what is not None}
    asked = entry.space is not None and not (entry.brings and given)
    names, own = list(options), entry.space(options) if asked and entry.space is not None else None
    if own is not None:
        given[" with ".join(name for name in names if entry.brings or name not in options)] = own
    if len(given) != 1:
        more = "" if entry.space is None else ", or by points, interval or distances"
        told = " and ".join(given) or "none of them"
        raise ParameterError(f"domain must be given by exactly one of k, labels and domain{more}, got {told}.")
    if isinstance(ways["domain"], Span):
        hint = "Give the number of answers, k, or labels."
        require(entry.space is not None, "domain", InWords("an interval"), "no interval for this mechanism", hint)
    found = own if own is not None else ways["domain"]
    if isinstance(found, Span):
        for name, label in choices.items():
            require(label is None, name, label, "left out: numbers have no labels")
        return found
    return Domain.given(ways["k"], ways["labels"], **choices) if found is None else Domain.of(found, **choices)


def check_options(name: str, options: Mapping[str, Any]) -> None:
    """An error for an option that a mechanism or protocol does not have, has no such value of, or misses."""
    entry = entry_of(name)
    family: Mapping[str, Option] = next((told.OPTIONS for told in _TOLD if name in told.NAMES.get(entry.kind, ())), {})
    for option, value in options.items():
        if option not in (*entry.options, *entry.inner):
            own = f"its own options are: {', '.join(entry.options)}" if entry.options else "it has none of its own"
            having = [row for rows in (MECHANISMS, PROTOCOLS) for row in rows if option in rows[row].options]
            others = f"Those that have it: {', '.join(having[:_SHOWN])}{' and others' * (len(having) > _SHOWN)}."
            hint = meant(option.lower(), (*entry.options, *_COMMON)) or others * bool(having)
            raise ParameterError(f"{name} has no option {show(option)}; {own}.", hint)
        known = family.get(option) or OPTIONS.get(option)
        choices = known.choices if known is not None else ()
        require(not choices or value in choices, option, value, f"one of {', '.join(choices)}")
    missing = [o for o in entry.needed if o not in options]
    if missing:
        raise ParameterError(f"{name} needs its own parameter {missing[0]}.", OPTIONS[missing[0]].help)


def from_design(design: Design) -> Mechanism:
    """The mechanism of a design, as reports and tallies carry it; it must come out exactly the same.

    Designs come from outside: their shape is checked as devices do it, before any number in them is believed.
    """
    if isinstance(design, Mapping) and design.get("mechanism") == "dealt":
        from deniable.mechanisms.dealt.base import from_parts  # loaded for designs of parts alone

        return from_parts(design, from_design)
    check = read_design if _known_to_devices(design) else check_document
    check(design)
    name = design.get("mechanism")
    if name is None:
        hint = "m.design is the design of a mechanism m; dn.save(m, path) writes it."
        raise FormatError("the design does not name its mechanism.", hint)
    if not isinstance(name, str) or name not in MECHANISMS:
        hint = "Upgrade deniable, or add the mechanism with dn.register if it is of your own."
        raise FormatError(f"the design's mechanism {name!r} is unknown to this version.", hint)
    cls = MECHANISMS[name].cls
    if design.get("version") != cls.version:
        raise FormatError(f"version {design.get('version')} of {name} is unknown; this program has {cls.version}.")
    try:
        domain = Domain.from_document(design["domain"])
        whole = {**design, "params": {key: _param(value) for key, value in design["params"].items()}}
        made: Mechanism = cls.of_design(whole, domain)
        agrees = made.design == design
    except DeniableError:
        raise
    except _RAW as error:
        raise FormatError(f"the design of {name} is not well formed: {error!r}.") from error
    if not agrees:
        raise FormatError(f"the design does not agree with itself: {difference(made.design, design)}.")
    return made


def _known_to_devices(design: object) -> bool:
    """Whether devices know the mechanism of a design and that of its base: rows that somebody added they do not."""
    given = design if isinstance(design, Mapping) else {}
    params = given.get("params")
    base = params.get("base") if isinstance(params, Mapping) else None
    name, inner = given.get("mechanism"), base.get("mechanism") if isinstance(base, Mapping) else None
    added = isinstance(inner, str) and inner in MECHANISMS and inner not in FORMS
    return isinstance(name, str) and name in FORMS and not added


_RAW = (LookupError, TypeError, AttributeError, ValueError, ArithmeticError, MemoryError, RecursionError)
"""What mechanisms that somebody added may raise for designs that are none of theirs."""


def _param(param: Any) -> Any:
    """A parameter; one that is a design itself, such as that of a base, as its mechanism."""
    if not _is_design(param):
        return param
    own = param.get("params")
    if isinstance(own, Mapping) and any(_is_design(value) for value in own.values()):
        raise FormatError("the design of a base holds another design.", "A transform cannot be the base of another.")
    return from_design(param)


def _is_design(param: object) -> bool:
    return isinstance(param, Mapping) and {"mechanism", "kernel"} <= set(param)
