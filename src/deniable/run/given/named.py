"""Mechanisms as short texts, for commands that take several of them: a name, or a name with options."""

from __future__ import annotations

from typing import Any

from deniable.errors import ParameterError, require
from deniable.mechanisms.registry import OPTIONS, check_options, entry_of, resolved

__all__ = ["read_named"]

_ALWAYS = {"epsilon": float, "k": int}
"""What every mechanism takes."""


def read_named(text: str) -> tuple[str, dict[str, Any]]:
    """The registry's name, and the options that stand behind a colon: `ue:p=0.4`, `pldp:base=ss,levels=0.5,1`.

    Commas separate options; a part without an equals sign belongs to the value before it.

    >>> read_named("ss:size=3")
    ('ss', {'size': 3})
    >>> read_named("pldp:base=grr,levels=0.5,1")
    ('pldp', {'base': 'grr', 'levels': '0.5,1'})
    """
    head, colon, rest = text.partition(":")
    name = resolved(head.strip())
    entry_of(name)
    if not colon:
        return name, {}
    found: dict[str, str] = {}
    last = ""
    for part in rest.split(","):
        key, equals, value = part.partition("=")
        if equals:
            last = key.strip().replace("-", "_")
            require(last not in found, last, text, "given once")
            found[last] = value.strip()
        else:
            hint = f"Options stand behind a colon, as in {name}:size=3."
            require(bool(last), "mechanism", text, "a name, or a name with options", hint)
            found[last] += f",{part}"
    check_options(name, {key: value for key, value in found.items() if key not in _ALWAYS})
    return name, {key: _read(key, value) for key, value in found.items()}


def _read(key: str, value: str) -> Any:
    """The value of an option, in its kind."""
    kind = _ALWAYS.get(key) or OPTIONS[key].kind
    if kind is bool:
        known = value.lower() in ("", "true", "yes", "false", "no")
        require(known, key, value, "true or false")
        return value.lower() in ("", "true", "yes")
    try:
        return kind(float(value)) if kind is int and float(value) == int(float(value)) else kind(value)
    except (ValueError, OverflowError):
        word = "a whole number" if kind is int else "a number"
        raise ParameterError(f"{key} must be {word}, got {value!r}.") from None
