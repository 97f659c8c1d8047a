"""The grammar of designs: which kernels a mechanism may have, and how its parameters and its kernel hang together.

A device believes no number before the document has the shape that its mechanism's name allows. The table below is the
whole allow-list. The core tests that it is neither narrower nor wider than what its registry makes, and other clients
read the same table from `clients/vectors/grammar.json`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from deniable_client.documents import check_document, fields_of, is_list, is_number, is_whole
from deniable_client.domains import Domain, read_domain
from deniable_client.errors import FormatError, ParameterError, PrivacyError, show, within
from deniable_client.exact import EPSILON_MIN, WORD, WORD_BITS, check_epsilon
from deniable_client.kernels import Shapes, kernel_from, kernel_to
from deniable_client.kernels.contract import inner_of
from deniable_client.kernels.dealt import PARTS_MAX, Dealt

__all__ = ["FORMS", "SHARE_MAX", "Design", "read_design", "split_design"]

VERSION = 1
"""The version of all mechanisms so far."""

_DEALT = "dealt"
"""The mechanism's name in designs of parts."""
_WHOLE_MAX = 1000
"""The most that a design of parts promises; its parts, of which it is the largest, promise less."""
SHARE_MAX = 1_000_000
CERTIFICATE_MAX = 1024
MULTIPLIERS_MAX = 1 << 16
_FIELDS = ("mechanism", "version", "epsilon", "domain", "params", "kernel")
_NEAR = 1 << (WORD_BITS - 30)
"""How far a threshold may be from the probability that a parameter says, as a float, in 2**-64."""


@dataclass(frozen=True, slots=True)
class Form:
    """What the designs of a mechanism look like."""

    kernel: Shapes
    params: Mapping[str, str] = field(default_factory=dict)
    """How each parameter is checked (`_CHECKS`), and against which numbers of the kernel; `?`: may be left out."""


@dataclass(frozen=True, slots=True)
class Design:
    """A design that has the shape that it should have: nothing more is known of its numbers.

    It has a copy of everything that is asked for later, so that a document may change then.
    """

    name: str
    epsilon: float
    domain: Domain
    params: Mapping[str, Any]
    kernel: Any
    parts: tuple[Design, ...] = ()
    """The designs one of which is dealt to a person, if there are several."""

    @property
    def pairs(self) -> bool:
        """Whether what a person says are pairs of a key and a number."""
        return hasattr(self.kernel, "pairs_of")

    @property
    def levels(self) -> tuple[float, ...]:
        """The levels that a person may choose, from the most protective on; none if there is one for all."""
        return tuple(self.params.get("levels", ()))

    def number_of(self, value: object) -> Any:
        """What the kernel randomises: the number of an answer, pairs of numbers, or one of these for each part."""
        if self.pairs:
            return self.kernel.pairs_of(value, self.domain, self.params["range"])
        return self.domain.index(value)


def _one_of(*kinds: str) -> Shapes:
    return {kind: {} for kind in kinds}


def _utility(*bases: str) -> Shapes:
    return {"utility": {"base": _one_of(*bases)}}


_LATTICE = {"points": "whole points", "outputs": "whole outputs"}
_SIZE, _G, _P = {"size": "whole size"}, {"g": "whole g"}, {"p": "share keep"}
_PLAIN: Mapping[str, Form] = {
    "grr": Form(_one_of("response")),
    "ss": Form(_one_of("subset"), _SIZE),
    "ass": Form(_one_of("subset"), _SIZE),
    "iss": Form(_one_of("interval"), _SIZE),
    "ue": Form(_one_of("unary"), _P),
    "sue": Form(_one_of("unary"), _P),
    "oue": Form(_one_of("unary"), _P),
    "aue": Form(_one_of("unary"), _P),
    "the": Form(_one_of("unary"), {"theta": "number"}),
    "athe": Form(_one_of("unary"), {"theta": "number"}),
    "lh": Form(_one_of("hashing"), _G),
    "blh": Form(_one_of("hashing"), _G),
    "olh": Form(_one_of("hashing"), _G),
    "alh": Form(_one_of("hashing"), _G),
    "plh": Form(_one_of("balanced"), _G),
    "she": Form(_one_of("laplace"), {"grid": "whole grid", "reach": "whole reach"}),
    "wheel": Form(_one_of("wheel"), {"arc": "chance", "ring": "whole ring"}),
    "hr": Form(_one_of("hadamard")),
    "pgr": Form(_one_of("projective"), {"prime": "whole prime"}),
    "affine": Form(_one_of("affine"), {name: f"whole {name}" for name in ("q", "m", "j", "zero", "g")}),
    "ssmix": Form(
        {"mixture": {"first": _one_of("subset"), "second": _one_of("subset", "whole")}},
        {"size": "whole first.size", "share": "share coin"},
    ),
    "brr": Form(_one_of("window", "neighbours"), {"m": "whole m", "tie?": "word random low high"}),
    "codebook": Form(
        {**_one_of("constant", "response"), "recode": {"base": _one_of("response")}},
        {"size": "whole", "codes?": "wholes"},
    ),
    "exponential": Form(_one_of("table"), {"variant?": "word calibrated printed"}),
    "laplace": Form(_one_of("table"), {"variant?": "word truncate clamp"}),
    "geometric": Form(_one_of("table")),
    "lsrr": Form(_one_of("table"), {"variant?": "word calibrated rank printed", "size?": "whole"}),
    "sw": Form(_one_of("window"), {"m": "whole m"}),
    "pm": Form(_one_of("window"), {"m": "whole m"}),
    "duchi": Form(_one_of("leaning")),
    "hm": Form(
        {"window-or-bit": {"window": _one_of("window"), "bit": _one_of("leaning")}},
        {"m": "whole window.m", "share": "share coin"},
    ),
    "om": Form(
        _one_of("lattice"),
        {**_LATTICE, "objective": "word worst even centre prior", "certificate": "certificate"},
    ),
    "lu": Form(_one_of("lattice"), _LATTICE),
    "arc": Form(_one_of("arc"), {"size": "whole size"}),
}
"""Mechanisms that protect all answers alike; any of them, or a table, may be the base of `utility`."""

_ANY: Shapes = {kind: inner for form in _PLAIN.values() for kind, inner in form.kernel.items()}
_BASES = {**_PLAIN, "explicit": Form(_one_of("table"))}

_ULDP = {"base": "base", "sensitive": "same sensitive", "theta": "chance", "form": "word null glutf paper separate"}
_SOME: Mapping[str, Form] = {
    "uss": Form(_utility("subset"), _ULDP),
    "uue": Form(_utility("unary"), _ULDP),
    "urap": Form(_utility("unary"), _ULDP),
    "ulh": Form(_utility("hashing"), _ULDP),
    "uwheel": Form(_utility("wheel"), _ULDP),
    "upgr": Form(_utility("projective"), _ULDP),
    "urr": Form(_utility("response"), _ULDP),
    "uhr": Form(_utility("hadamard"), _ULDP),
    "utility": Form({"utility": {"base": _ANY}}, _ULDP),
    "ussmix": Form(
        {"mixture": {"first": _utility("subset"), "second": _utility("subset", "whole")}},
        {"size": "whole first.base.0.size", "share": "share coin", "sensitive": "same protected", "theta": "chance"},
    ),
    "uue-levels": Form(
        _one_of("utility-levels"),
        {"item_epsilon": "budgets s", "sensitive": "same sensitive", "flip": "chance", "theta": "chance"},
    ),
}

_WRITTEN: Mapping[str, Form] = {
    "matrix": Form(_one_of("channel"), {"prior?": "numbers k", "outputs?": "texts outputs"}),
    "optimal": Form(
        _one_of("channel"),
        {
            "objective": "word frequency mean functional",
            "prior?": "numbers k",
            "values?": "numbers k",
            "functionals?": "rows k",
            "case?": "word worst",
            "error": "number",
            "blind": "whole",
        },
    ),
    "optimal-release": Form(
        _one_of("channel"),
        {
            "points": "wholes",
            "prior?": "numbers k",
            "case?": "word worst",
            "loss": "number",
            "bound": "number",
            "blind": "whole",
            "multipliers?": "multipliers",
        },
    ),
}
"""Mechanisms that are written down whole, with what they promise between any two answers."""
_GRIDS = {"circle": "whole circle", "widths": "same widths", "shares": "same shares", "sizes": "same sizes"}
_ORDERED: Mapping[str, Form] = {name: Form(_one_of("windows"), _GRIDS) for name in ("windows", "tree")}

_LEVELS = {
    "levels": "levels data",
    "base": "kind data sue:unary oue:unary grr:response lh:hashing affine:affine",
    "level_epsilon": "budget level",
    "level_report": "kind level response:response bit:bit none:",
    "g": "g data",
}
_DATA = _one_of("unary", "response", "hashing", "affine")
_OWN: Mapping[str, Form] = {
    "pldp": Form(
        {"personal": {"data": _DATA, "level": _one_of("response", "bit")}},
        {**_LEVELS, "blocks?": "same data.0.blocks"},
    ),
    "upldp": Form(
        {"personal": {"data": {"utility": {"base": _DATA}}, "level": _one_of("response", "bit")}},
        {
            **_LEVELS,
            "blocks?": "same data.0.base.0.blocks",
            "sensitive": "same protected",
            "disclosure": "word common own capped",
        },
    ),
}


def _pairs(shapes: Shapes, **params: str) -> Form:
    return Form({"pairs": {"base": shapes}}, {**params, "length?": "whole length", "range": "range"})


def _two(keys: Shapes, signed: Shapes) -> Shapes:
    """Some people speak of keys only, the others of keys with signs; or all do the latter."""
    return {"grouped": {"first": {"keys-only": {"base": keys}}, "second": signed}, **signed}


_CODED = {"encoding?": "word bits cyclic"}
_PAIRS: Mapping[str, Form] = {
    "kv-ss2": _pairs(_one_of("subset", "interval"), size="whole base.size", **_CODED),
    "kv-ss": _pairs(
        _two(_one_of("subset", "interval"), _one_of("signed-subset", "signed-interval")),
        mix="chance",
        key_size="whole base.first.base.size|",
        size="whole base.second.size|base.size",
        **_CODED,
    ),
    "kv-mix": _pairs(_two(_one_of("unary"), _one_of("signed-unary")), mix="chance"),
    "kv-lh": _pairs(_one_of("signed-hashing"), g="whole base.g"),
    "kv-olh": _pairs(_one_of("hashing"), g="whole base.g"),
    "ks-ue": _pairs(_one_of("signed-unary")),
    "pckv-ue": _pairs(_one_of("signed-unary")),
    "pckv-grr": _pairs(_one_of("response")),
    "privkv": _pairs(_one_of("one-key", "told-key"), **{"key_epsilon?": "number", "told?": "same base.told"}),
}

_JOINT: Mapping[str, Form] = {
    "box": Form(_one_of("box"), {"sizes": "same sizes", "shape": "same shape"}),
    "interaction": Form(_one_of("interaction"), {"sizes": "same sizes", "g": "whole g", "size": "whole size"}),
    "several": Form(_one_of("several"), {"most": "ticks", "marks": "whole marks", "size": "whole size"}),
}
"""Several questions in one report; what they protect are all answers together."""

_ALONE = {"circle": "arc", "ticks": "several"}
"""Domains that one mechanism has: no pair of numbers names the first answer of a circle, no label a set of options."""

FORMS: Mapping[str, Form] = {
    **_PLAIN,
    **_ORDERED,
    **_SOME,
    **_WRITTEN,
    **_OWN,
    **_PAIRS,
    **_JOINT,
}
"""What designs look like, by the mechanism's name."""


def read_design(document: object) -> Design:
    """A design as parts, after its shape was checked: `FormatError` for anything that is not on the list above.

    >>> document = {"mechanism": "grr", "version": 1, "epsilon": 1, "domain": {"k": 2}, "params": {},
    ...             "kernel": {"kind": "response", "k": "2", "keep": "13485650502877570762"}}
    >>> read_design(document).kernel.k
    2
    """
    check_document(document)
    designs, shares = split_design(document)
    if len(designs) == 1:
        return _read_one(document)
    parts = tuple(_part(number, design) for number, design in enumerate(designs, start=1))
    kernel = Dealt(tuple(part.kernel for part in parts), shares)
    return Design(_DEALT, document["epsilon"], Domain(kernel.k, _records(parts)), {}, kernel, parts)  # type: ignore[index]


def _part(number: int, document: object) -> Design:
    with within(f"part {number}"):
        return _read_one(document)


def _read_one(document: object) -> Design:
    """A design that has no parts."""
    given = fields_of(document, "a design", _FIELDS)
    name = given["mechanism"]
    if not isinstance(name, str) or name not in FORMS:
        raise FormatError(f"mechanism {show(name)} is unknown to this client.", "Upgrade the client.")
    return _read(name, FORMS[name], given)


def _records(parts: Sequence[Design]) -> Callable[[object], Any]:
    """How a list with a value for each part is read."""

    def numbers(value: object) -> tuple[Any, ...]:
        if not isinstance(value, list | tuple) or len(value) != len(parts):
            raise ParameterError(f"value must be a list of {len(parts)} answers, one for each part, got {show(value)}.")
        return tuple(part.number_of(each) for part, each in zip(parts, value, strict=True))

    return numbers


def split_design(document: Any, most: float = math.inf) -> tuple[Sequence[Any], tuple[int, ...]]:
    """The designs that a design deals one of, and their shares; itself alone if it has no parts.

    `PrivacyError` if it promises more than `most`, or one of the parts more than the whole.
    """
    if not isinstance(document, Mapping) or document.get("mechanism") != _DEALT:
        return [document], (1,)
    given = fields_of(document, "a design of parts", (*_FIELDS[:3], "shares", "parts"))
    _check_version(_DEALT, given)
    whole, parts, shares = given["epsilon"], given["parts"], given["shares"]
    fits = is_number(whole) and EPSILON_MIN <= whole <= _WHOLE_MAX
    _need(fits, "epsilon", f"a number from {EPSILON_MIN:g} to {_WHOLE_MAX}", whole)
    _need(is_list(parts) and 2 <= len(parts) <= PARTS_MAX, "parts", f"a list of 2 to {PARTS_MAX} designs", parts)
    plain = [not isinstance(part, Mapping) or part.get("mechanism") != _DEALT for part in parts]
    _need(all(plain), "parts", "designs that have no parts themselves", parts)
    _need(is_list(shares) and len(shares) == len(parts), "shares", f"a list of {len(parts)} whole numbers", shares)
    if whole > most:
        raise PrivacyError(f"the design promises epsilon {whole:g}, more than the {most:g} that the task says.")
    for part in parts:
        own = part.get("epsilon") if isinstance(part, Mapping) else None
        if is_number(own) and own > whole:
            told = f"epsilon {own:g}, more than the {whole:g} of the whole design; nothing is sent."
            raise PrivacyError(f"a part of the design promises {told}")
    for share in shares:
        _need(is_whole(share, 1, SHARE_MAX), "a share", f"a whole number from 1 to {SHARE_MAX}", share)
    return parts, tuple(map(int, shares))


def _need(ok: bool, where: str, need: str, got: object) -> None:
    if not ok:
        raise FormatError(f"{where} of a design of parts must be {need}, got {show(got)}.")


def _check_version(name: str, given: Mapping[str, Any]) -> None:
    if given["version"] != VERSION or isinstance(given["version"], bool):
        raise FormatError(f"version {show(given['version'])} of {name} is unknown; this client has {VERSION}.")


def _read(name: str, form: Form, given: Mapping[str, Any]) -> Design:
    _check_version(name, given)
    epsilon = _epsilon(given["epsilon"], "epsilon")
    try:
        kernel = kernel_from(given["kernel"], form.kernel, f"the kernel of {name}")
    except ParameterError as error:
        raise FormatError(f"the kernel of {name} has numbers that do not fit: {error}") from error
    largest = getattr(kernel, "limit", epsilon)
    if largest != epsilon:
        raise FormatError(f"epsilon of {name} must be the largest limit of its kernel, {largest!r}, got {epsilon!r}.")
    domain = read_domain(given["domain"], getattr(kernel, "answers", kernel.k))
    for own, only in _ALONE.items():
        if own in given["domain"] and name != only:
            raise FormatError(f"{own} of the design's domain must be those of {only}, got {show(name)}.")
    _check_params(name, form, given, kernel)
    params = {param: tuple(own) if is_list(own) else own for param, own in given["params"].items()}
    return Design(name, epsilon, domain, params, kernel)


def _epsilon(given: object, where: str) -> float:
    if not is_number(given):
        raise FormatError(f"{where} of a design must be a number, got {show(given)}.")
    try:
        return check_epsilon(given, sampling=True)  # type: ignore[arg-type]  # it is a number
    except ParameterError as error:
        raise FormatError(f"{where} of the design: {error}") from error


# ---- parameters


def _check_params(name: str, form: Form, given: Mapping[str, Any], kernel: Any) -> None:
    """Exactly the parameters of the form, each as the kernel has it."""
    needed = [param for param in form.params if not param.endswith("?")]
    optional = [param[:-1] for param in form.params if param.endswith("?")]
    params = fields_of(given["params"], f"params of {name}", needed, optional)
    for param, rule in form.params.items():
        own = param.removesuffix("?")
        if own in params:
            check, *words = rule.split()
            told = _CHECKS[check](params[own], words, kernel, given)
            if told:
                raise FormatError(f"{own} of {name} must be {told}, got {show(params[own])}.")


def _at(kernel: Any, path: str) -> Any:
    """What a kernel has at a place such as `first.base.0.size`; None if there is no such place."""
    for step in path.split("."):
        if step.isdecimal():
            kernel = kernel[int(step)] if int(step) < len(kernel) else None
        else:
            kernel = getattr(kernel, step, None)
    return kernel


def _whole(value: Any, words: Sequence[str], kernel: Any, design: Any) -> str:
    """A whole number: that of the kernel at the first of several places that is there."""
    paths = words[0].split("|") if words else []
    found = next((number for path in paths if path and (number := _at(kernel, path)) is not None), None)
    if not is_whole(value, 0, 2**64 - 1) or (found is not None and value != found):
        return f"the kernel's {found}" if found is not None else "a whole number"
    return "a number that the kernel has" if paths and found is None and "" not in paths else ""


def _ticks(value: Any, words: Sequence[str], kernel: Any, design: Any) -> str:
    """How many options may be ticked: as the kernel has it and the domain, which has as many options too."""
    domain = design["domain"]
    listed = domain.get("ticks")
    options = len(listed) if is_list(listed) else listed
    same = is_whole(value, 1, kernel.options) and value == kernel.ticks == domain.get("most")
    return "" if same and options == kernel.options else f"the kernel's {kernel.ticks} of {kernel.options} options"


def _share(value: Any, words: Sequence[str], kernel: Any, design: Any) -> str:
    threshold = _at(kernel, words[0])
    near = is_number(value) and abs(value) <= 1 and abs(int(value * WORD) - threshold) <= _NEAR
    return "" if near else f"the kernel's {threshold / WORD!r}"


def _chance(value: Any, words: Sequence[str], kernel: Any, design: Any) -> str:
    return "" if is_number(value) and 0 <= value <= 1 else "a number from 0 to 1"


def _finite(value: Any, words: Sequence[str], kernel: Any, design: Any) -> str:
    return "" if is_number(value) else "a number"


def _word(value: Any, words: Sequence[str], kernel: Any, design: Any) -> str:
    return "" if value in words and isinstance(value, str) else f"one of {', '.join(words)}"


def _wholes(value: Any, words: Sequence[str], kernel: Any, design: Any) -> str:
    return "" if is_list(value) and all(is_whole(v, 0, 2**32) for v in value) else "a list of whole numbers"


def _numbers(value: Any, words: Sequence[str], kernel: Any, design: Any) -> str:
    """As many numbers as the kernel says."""
    count = _at(kernel, words[0])
    fits = is_list(value) and len(value) == count and all(map(is_number, value))
    return "" if fits else f"a list of {count} numbers"


def _rows(value: Any, words: Sequence[str], kernel: Any, design: Any) -> str:
    """Lists of as many numbers as the kernel says, at most as many lists."""
    count = _at(kernel, words[0])
    fits = is_list(value) and 0 < len(value) <= count
    fits = fits and all(is_list(row) and len(row) == count and all(map(is_number, row)) for row in value)
    return "" if fits else f"1 to {count} lists of {count} numbers"


def _texts(value: Any, words: Sequence[str], kernel: Any, design: Any) -> str:
    """As many different names as the kernel says."""
    count = _at(kernel, words[0])
    fits = is_list(value) and len(value) == count and all(isinstance(text, str) and text for text in value)
    return "" if fits and len(set(value)) == count else f"a list of {count} different names"


def _certificate(value: Any, words: Sequence[str], kernel: Any, design: Any) -> str:
    """Rows of five whole numbers; nothing that a device does depends on them."""
    rows: Any = value if is_list(value) and len(value) <= CERTIFICATE_MAX else [None]
    fits = all(is_list(row) and len(row) == 5 and all(is_whole(v, -(2**53), 2**53) for v in row) for row in rows)
    return "" if fits else f"at most {CERTIFICATE_MAX} rows of five whole numbers"


def _multipliers(value: Any, words: Sequence[str], kernel: Any, design: Any) -> str:
    """Rows of four whole numbers; nothing that a device does depends on them."""
    rows: Any = value if is_list(value) and len(value) <= MULTIPLIERS_MAX else [None]
    fits = all(is_list(row) and len(row) == 4 and all(is_whole(v, 0, 2**53) for v in row) for row in rows)
    return "" if fits else f"at most {MULTIPLIERS_MAX} rows of four whole numbers"


def _same(value: Any, words: Sequence[str], kernel: Any, design: Any) -> str:
    """The very numbers of the kernel."""
    found = _at(kernel, words[0])
    same = found is not None and not _wholes(value, (), kernel, design) and tuple(value) == tuple(found)
    return "" if same else f"the kernel's own numbers, {show(found)}"


def _range(value: Any, words: Sequence[str], kernel: Any, design: Any) -> str:
    two = is_list(value) and len(value) == 2 and all(is_number(end) for end in value)
    fits = two and 0 < float(value[1]) - float(value[0]) < math.inf
    return "" if fits else "two numbers, the lower one first"


def _budgets(value: Any, words: Sequence[str], kernel: Any, design: Any) -> str:
    fits = is_list(value) and len(value) == _at(kernel, words[0])
    for number in value if fits else ():
        _epsilon(number, "a budget")
    return "" if fits else f"a list of {_at(kernel, words[0])} budgets"


def _levels(value: Any, words: Sequence[str], kernel: Any, design: Any) -> str:
    """A level for each kernel, from the most protective on, the last one being the design's promise."""
    count = len(_at(kernel, words[0]))
    fits = is_list(value) and len(value) == count and all(is_number(level) for level in value)
    fits = fits and all(a < b for a, b in pairwise(value)) and value[-1] <= design["epsilon"]
    for number in value if fits else ():
        _epsilon(number, "a level")
    return "" if fits else f"{count} numbers that rise, the most protective first, up to epsilon"


def _budget(value: Any, words: Sequence[str], kernel: Any, design: Any) -> str:
    """Epsilon of a part, null if there is no such part: nothing is promised of what is not there."""
    if not _at(kernel, words[0]):
        return "" if value is None else "null"
    _epsilon(value, "level_epsilon")
    return ""


def _kind(value: Any, words: Sequence[str], kernel: Any, design: Any) -> str:
    """A word that goes with the kind of the kernels at a place, or of their bases."""
    means = dict(word.split(":") for word in words[1:])
    found = {inner_of(part).kind for part in _at(kernel, words[0])} or {""}
    fits = isinstance(value, str) and value in means and found == {means[value]}
    return "" if fits else f"a word for kernels of kind {', '.join(sorted(found)) or 'none'}"


def _g(value: Any, words: Sequence[str], kernel: Any, design: Any) -> str:
    """The range of hashing at all levels, or null for other kernels."""
    inner = inner_of(_at(kernel, words[0])[0])
    found = inner.g if inner.kind == "hashing" else None
    return "" if value == found else f"the kernel's {found}"


def _base(value: Any, words: Sequence[str], kernel: Any, design: Any) -> str:
    """The base by name and parameters, or by its whole design; null without one."""
    if value is None or not kernel.base:
        return "" if value is None and not kernel.base else "null for fewer than two sensitive answers, and only then"
    inner, whole = kernel.base[0], isinstance(value, Mapping) and "kernel" in value
    given = fields_of(value, "base", _FIELDS if whole else ("mechanism", "params"))
    name = given["mechanism"]
    form = _BASES.get(name) if isinstance(name, str) else None
    if form is None or inner.kind not in form.kernel:
        return f"a mechanism that has a {inner.kind} kernel"
    if not whole:
        _check_params(f"base {name}", form, given, inner)
        return ""
    made = _read(name, form, given)
    same = made.epsilon == design["epsilon"] and kernel_to(made.kernel) == kernel_to(inner)
    return "" if same else "a design with the epsilon and the kernel of the base"


_CHECKS: Mapping[str, Callable[[Any, Sequence[str], Any, Any], str]] = {
    "whole": _whole,
    "ticks": _ticks,
    "certificate": _certificate,
    "wholes": _wholes,
    "share": _share,
    "chance": _chance,
    "number": _finite,
    "word": _word,
    "multipliers": _multipliers,
    "numbers": _numbers,
    "rows": _rows,
    "texts": _texts,
    "same": _same,
    "range": _range,
    "budgets": _budgets,
    "budget": _budget,
    "levels": _levels,
    "kind": _kind,
    "g": _g,
    "base": _base,
}
"""What a parameter may be; the answer is what it must be, empty if it is that."""
