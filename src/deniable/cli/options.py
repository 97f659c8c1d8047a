"""Command signatures made once: the mechanism with its domain and own options, numbers with clear errors, `--json`.

A command is a plain function. `command` gives it to typer with a longer signature: a parameter of type `Choice` becomes
all the options that choose a mechanism, generated from the registry's OPTIONS; one of type `Given` becomes the options
of a table, and is what was given of them; one of type `Output` becomes `--json`.
Typer parses and hands back what is to be done; `main` does it, so that all errors have one way out.
"""

from __future__ import annotations

import csv
import inspect
import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from types import MappingProxyType, NoneType
from typing import Annotated, Any, TypeAlias, cast, get_args

import typer
from typer.models import OptionInfo

from deniable.cli.output import Output, heard
from deniable.core.domain import Domain
from deniable.errors import ParameterError, require
from deniable.mechanisms.base import Mechanism
from deniable.mechanisms.entry import Entry
from deniable.mechanisms.protocol import Protocol
from deniable.mechanisms.registry import (
    MECHANISMS,
    OPTIONS,
    PROTOCOLS,
    check_options,
    entry_of,
    mechanism,
    protocol,
    resolved,
)
from deniable.mechanisms.spaces import SPACE
from deniable.run.files import read_labels, read_space

__all__ = [
    "ANSWERS",
    "DOMAIN",
    "FILES",
    "Choice",
    "Given",
    "argument",
    "changed",
    "command",
    "option",
    "read_domain",
    "split",
]

_Parameters = list[inspect.Parameter]
_WHOLE = re.compile(
    r"[+-]?[0-9]{1,40}|[+-]?[0-9]{1,3}(_[0-9]{3}){1,12}|[+-]?[0-9]{1,20}(\.[0-9]{1,20})?[eE]\+?[0-9]{1,2}"
)
"""Whole numbers as people type them: 100000, 100_000, 1e5."""
Given: TypeAlias = Mapping[str, Any]
"""Options by name, each with its type, its place-holder and its help; what is given of them, by name."""
Known: TypeAlias = Sequence[str] | Callable[[], Iterable[str]]
"""What an argument or an option may be; a function where it takes a moment to know."""
DOMAIN = ("k", "labels", "labels_file")
"""Options that give the domain."""
ANSWERS: Given = {
    "k": (int, "K", "Number of possible values, 0 to K-1."),
    "labels": (str, "A,B,...", "The possible values by name, separated by commas."),
    "labels_file": (str, "FILE", "The same from a file, one per line."),
    "missing": (str, "LABEL", "The label that missing values count as."),
    "other": (str, "LABEL", "The label that values not in the list count as."),
}
"""The options that give the domain, and what counts as what."""
_BRING = (*SPACE, "sizes")
"""Own options of mechanisms that say what the domain is."""


def _matrix(source: str) -> Any:
    from deniable.run.given.matrices import read_matrix  # for those who have one

    return read_matrix(source)


def _promise(source: str) -> Any:
    from deniable.run.given.promises import read_promise_file

    return read_promise_file(source)


def _loss(given: str) -> Any:
    from deniable.run.given.promises import read_losses

    return read_losses(given)


FILES: Mapping[str, Callable[[str], Any]] = {
    "distances": read_space,
    "matrix": _matrix,
    "promise": _promise,
    "loss": _loss,
}
"""Options that are files on the command line, and how they are read."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The mechanism that a command line asks for, with what was given of its domain and of its own options."""

    name: str
    epsilon: float | None
    domain_given: Mapping[str, Any]
    options: Mapping[str, Any]

    @property
    def entry(self) -> Entry:
        """The row of the registry."""
        return entry_of(self.name)

    def make(self, domain: Domain | None = None, *, n: int | None = None) -> Mechanism:
        """The mechanism, for the domain that was asked for or for another one.

        `n` reports are planned: it matters to mechanisms whose own parameter is chosen for a number of reports.
        """
        return mechanism(self.name, **self._given(domain, n))

    def make_any(self, domain: Domain | None = None, *, n: int | None = None) -> Mechanism | Protocol[Any]:
        """The same, also for a protocol."""
        return (protocol if self.name in PROTOCOLS else mechanism)(self.name, **self._given(domain, n))

    def _given(self, domain: Domain | None, n: int | None) -> dict[str, Any]:
        entry = self.entry
        if self.epsilon is None and entry.default_epsilon is None:
            raise ParameterError("epsilon must be given.", "Say how private it is to be, e.g. --epsilon 1.")
        if domain is None and not self.domain_stands and "prior" not in self.options:
            check_options(self.name, self.options)
        own = {o: FILES[o](x) if o in FILES and o in entry.options else x for o, x in self.options.items()}
        planned: dict[str, Any] = {"n": n} if n is not None and "n" in entry.inner else {}
        planned |= {"progress": heard()} if "progress" in entry.inner else {}
        where = domain or self._domain
        about = where or _answers(own.get("promise"))
        if "values" in own and "values" in entry.options and about is not None:
            from deniable.run.given.promises import read_numbers

            own["values"] = read_numbers(own["values"], about.labels_or_numbers)
        if "prior" in own and not (about is None and entry.space is not None and "prior" in entry.options):
            need = "left out: the choice is made without one"
            require("prior" in entry.options and about is not None, "prior", own["prior"], f"{need} for {self.name}")
            from deniable.run.given.priors import read_prior

            own["prior"] = read_prior(own["prior"], cast(Domain, about))
        return {"epsilon": self.epsilon, "domain": where, **own, **planned}

    @property
    def _domain(self) -> Domain | None:
        """The domain that is given, or that a prior brings; None where own options give it."""
        if self.brings_domain:
            return None
        if self.domain_stands or "prior" not in self.options:
            return read_domain(self.domain_given)
        from deniable.run.given.priors import domain_of_prior

        return domain_of_prior(self.options["prior"]) or read_domain(self.domain_given)

    @property
    def domain_stands(self) -> bool:
        """Whether the domain is given."""
        return any(name in self.domain_given for name in DOMAIN) or self.brings_domain

    @property
    def brings_domain(self) -> bool:
        """Whether own options, such as --interval, say what the domain is; then nothing else may."""
        if self.entry.brings:
            return not any(name in self.domain_given for name in DOMAIN)
        own = [name for name in _BRING if name in self.options and self.entry.space is not None]
        both = [_flag(name) for name in (*DOMAIN, *own) if own and name in {*self.domain_given, *own}]
        if len(both) > len(own):
            hint = "Numbers come from --interval or --points, a list of answers from --k or --labels."
            raise ParameterError(f"the domain must be given in one way only, got {' and '.join(both)}.", hint)
        return bool(own)

    @property
    def files(self) -> list[str]:
        """The files that are read to make it."""
        known = {**self.domain_given, **self.options}
        given = [known[name] for name in ("labels_file", *FILES, "values") if name in known]
        return given + [prior for prior in [known.get("prior", "")] if prior.lower().endswith((".csv", ".json"))]

    def without(self, names: Container[str]) -> Choice:
        """The same without those of these options that the mechanism does not have."""
        kept = {o: x for o, x in self.options.items() if o not in names or o in self.entry.options}
        return replace(self, options=kept)


def _answers(promise: Any) -> Domain | None:
    """The answers that a promise is about."""
    return None if promise is None else Domain.given(None if promise.labels else promise.k, promise.labels)


def read_domain(given: Mapping[str, Any]) -> Domain:
    """The domain, from the values of --k, --labels or --labels-file, and of --missing and --other."""
    ways = [_flag(name) for name in DOMAIN if name in given]
    if len(ways) != 1:
        raise ParameterError(
            "the domain must be given by exactly one of --k, --labels and --labels-file, "
            f"got {' and '.join(ways) or 'none'}.",
            "For example --k 16, or --labels never,sometimes,often; some mechanisms take --points, --interval or "
            "--distances instead.",
        )
    choices = {name: given[name] for name in ("missing", "other") if name in given}
    if "k" in given:
        return Domain.of(given["k"], **choices)
    if "labels" in given:
        return Domain.of(_told_apart(given["labels"]), **choices)
    labels = read_labels(given["labels_file"])
    try:
        return Domain.of(labels, **choices)
    except ParameterError as error:
        raise ParameterError(error.message.replace("labels must ", "labels-file must ", 1), error.hint) from None


def _told_apart(text: str) -> list[str]:
    """The labels of --labels: at least two, each of them once."""
    labels = split(text)
    hint = "For a yes/no question: --labels no,yes."
    require(len(labels) >= 2, "labels", text, "at least 2 labels, separated by commas", hint)
    twice = next((label for i, label in enumerate(labels) if label in labels[:i]), None)
    require(twice is None, "labels", text, "different from each other", f"{twice!r} is there twice.")
    return labels


def argument(metavar: str, help: str, known: Known = ()) -> Any:
    """A positional argument; shells complete it from what is `known`."""
    return typer.Argument(metavar=metavar, help=help, autocompletion=_completing(known))


def option(name: str, metavar: str | None, help: str, known: Known = ()) -> Any:
    """An option; without `metavar` it is a flag. Shells complete it from what is `known`, or `metavar` lists, a|b."""
    known = known or (metavar.split("|") if metavar is not None and "|" in metavar else ())
    return typer.Option(name, metavar=metavar, help=help, autocompletion=_completing(known))


def _completing(known: Known) -> Callable[[str], list[str]] | None:
    """What gives a shell the values that start as typed."""

    def starting(incomplete: str) -> list[str]:
        return [value for value in (known() if callable(known) else known) if value.startswith(incomplete)]

    return starting if known else None


def command(
    app: typer.Typer,
    function: Callable[..., int | None],
    *,
    labels: bool = True,
    epsilon: bool = True,
    given: Given = MappingProxyType({}),
    name: str | None = None,
    own: Container[str] = (),
) -> None:
    """Make a function the command of its name, or of another one.

    Without `labels` the domain is given by --k alone; without `epsilon` the name may be that of an object. Options of
    mechanisms that are the command's `own` it reads itself.
    """
    wanted = inspect.signature(function, eval_str=True).parameters.values()
    groups = {p.name: _flatten(p, labels, epsilon, given, own) for p in wanted}
    flat = [_for_typer(p) for group, _ in groups.values() for p in group]
    flat.sort(key=lambda p: p.name == "as_json")
    names = [p.name for p in flat]
    twice = sorted({name for name in names if names.count(name) > 1})
    hint = "A row that was registered has an option of this name: give it another one."
    require(not twice, "options", twice, f"different from those of `deniable {function.__name__}` itself", hint)

    def done(given: Mapping[str, Any]) -> int | None:
        _refuse_flags(flat, given)
        return function(
            **{name: build({p.name: _read(p, given[p.name]) for p in group}) for name, (group, build) in groups.items()}
        )

    def parsed(**given: Any) -> Callable[[], int | None]:
        return lambda: done(given)

    parsed.__doc__ = function.__doc__
    vars(parsed)["__signature__"] = inspect.Signature(flat)
    parsed.__annotations__ = {p.name: p.annotation for p in flat}
    summary = " ".join((function.__doc__ or "").split("\n\n")[0].split())
    app.command(name or function.__name__, short_help=summary)(parsed)


def _flatten(
    parameter: inspect.Parameter, labels: bool, epsilon: bool, given: Given, own: Container[str]
) -> tuple[_Parameters, Callable[[dict[str, Any]], Any]]:
    """The options that a parameter becomes, and what puts their values back together."""
    if parameter.annotation is Choice:
        return [p for p in _choice_parameters(labels, epsilon) if p.name not in own], _choice
    if parameter.annotation == Given:
        return _table_parameters(given), _present
    if parameter.annotation is Output:
        help = "One JSON object on standard output instead of tables."
        return [_parameter("as_json", bool, option("--json", None, help), False)], lambda values: Output(**values)
    return [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)], lambda values: values[parameter.name]


def _choice_parameters(labels: bool, epsilon: bool) -> _Parameters:
    """Name, epsilon, domain and every own option of the registry; None means not given."""
    name = "The mechanism; `deniable mechanisms` lists them." + (
        "" if epsilon else " Or a file, or package.module:object."
    )
    domain = ANSWERS if labels else {"k": ANSWERS["k"]}
    promise = (
        "The privacy promise: a number > 0; smaller is more private. "
        "Left out: the largest level or budget (pldp, uue-levels)."
    )
    made = [_parameter("name", str, argument("NAME", name, [*MECHANISMS, *PROTOCOLS]))]
    made += _table_parameters({"epsilon": (float, "E", promise), **domain})
    for n, own in OPTIONS.items():
        var = "|".join(own.choices) or own.kind.__name__.upper()
        made.append(_parameter(n, own.kind, option(_flag(n), None if own.kind is bool else var, own.help), None))
    return made


def _table_parameters(table: Given) -> _Parameters:
    return [_parameter(n, kind, option(_flag(n), var, help), None) for n, (kind, var, help) in table.items()]


def _parameter(name: str, kind: type, info: Any, default: Any = inspect.Parameter.empty) -> inspect.Parameter:
    annotation: Any = Annotated[kind | None if default is None else kind, info]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _kind(parameter: inspect.Parameter) -> Any:
    """What a parameter's value is, apart from None."""
    base = get_args(parameter.annotation)[0]
    return next((kind for kind in get_args(base) if NoneType in get_args(base) and kind is not NoneType), base)


def _for_typer(parameter: inspect.Parameter) -> inspect.Parameter:
    """Numbers are taken as text, so that the error for a wrong one says what was given."""
    if _kind(parameter) not in (int, float):
        return parameter
    base, info = get_args(parameter.annotation)
    default = parameter.default
    if default is not parameter.empty and default is not None:
        default = str(default)
    text: Any = Annotated[str | None if NoneType in get_args(base) else str, info]
    return parameter.replace(annotation=text, default=default)


def _read(parameter: inspect.Parameter, value: Any) -> Any:
    """The inverse of `_for_typer`, for a value."""
    kind = _kind(parameter)
    if value is None or kind not in (int, float):
        return value
    name = _flag(parameter.name).removeprefix("--")
    if kind is int:
        whole = _WHOLE.fullmatch(value) is not None and Fraction(value).denominator == 1
        require(whole, name, value, "a whole number", "For example 100000, 100_000 or 1e5.")
        return int(Fraction(value))
    try:
        return float(value)
    except ValueError:
        hint = "Decimals stand behind a point, as in 1.5." if "," in value else "For example 1 or 0.5."
        raise ParameterError(f"{name} must be a number, got {value!r}.", hint) from None


def _refuse_flags(parameters: _Parameters, given: Mapping[str, Any]) -> None:
    """Refuse an option as the value of another one: `--out --json` would write a file of that name."""
    infos = {p.name: get_args(p.annotation)[1] for p in parameters}
    flags = {name: str(info.default) for name, info in infos.items() if isinstance(info, OptionInfo)}
    for name, flag in flags.items():
        hint = "A file of this name can be given with its folder: ./--json."
        require(given[name] not in flags.values(), flag, given[name], "followed by a value, not by an option", hint)


def _present(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _choice(values: dict[str, Any]) -> Choice:
    name, epsilon, present = values.pop("name"), values.pop("epsilon"), _present(values)
    domain = {n: value for n, value in present.items() if n not in OPTIONS}
    options = {n: value for n, value in present.items() if n in OPTIONS}
    row = resolved(name)
    if f"{row}-{options.get('objective')}" in MECHANISMS:  # an objective that has a row of its own
        row = f"{row}-{options.pop('objective')}"
    return Choice(row, epsilon, domain, options)


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def changed(function: Callable[..., Any], **values: Any) -> dict[str, Any]:
    """Those values of a command's options that are not the ones it has if nothing is said."""
    usual = inspect.signature(function).parameters
    return {name: value for name, value in values.items() if value != usual[name].default}


def split(text: str, what: str = "labels") -> list[str]:
    """Labels separated by commas; one with a comma in it stands in double quotes."""
    try:
        labels = next(csv.reader([text], strict=True), [])
    except csv.Error as error:
        raise ParameterError(f"{what} must be separated by commas, got {text!r}: {error}.") from error
    require("" not in labels, what, text, "free of empty ones")
    return labels
