"""What an audit takes beside mechanisms: package.module:object, and recipes that are shown but not offered."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from importlib import import_module
from pathlib import Path
from typing import Any

from deniable.audit.exact import Audit, audit
from deniable.cli.options import Choice
from deniable.errors import DeniableError, ParameterError, require

__all__ = ["audit_object", "audit_recipe"]


def audit_object(choice: Choice, promise: float | None) -> Audit:
    """Import package.module:object, also from the current folder, call it if it is a function or a class, and audit it.

    The options of mechanisms do not apply to it. What it prints goes to standard error. Whatever it raises is its own
    mistake and is told as such.
    """
    name, given = choice.name, {} if choice.epsilon is None else {"epsilon": choice.epsilon}
    for option, value in {**given, **choice.domain_given, **choice.options}.items():
        hint = "The object brings its own; --promise checks another epsilon."
        raise ParameterError(f"{option} must be left out for {name!r}, got {value!r}.", hint)
    try:
        with redirect_stdout(sys.stderr):
            found = _load(name)
            promised = promise is not None or getattr(found, "epsilon", None) is not None
            bare = not promised and (hasattr(found, "channel") or hasattr(found, "proof"))
            hint = "This object promises no epsilon itself: say which one is to be checked, for example --promise 1."
            require(not bare, "promise", promise, f"given for {name!r}", hint)
            return audit(found, epsilon=promise)
    except DeniableError:
        raise
    except Exception as error:
        raise ParameterError(
            f"NAME must be a package.module:object that can be audited, got {name!r}: {type(error).__name__}: {error}.",
            "It needs `epsilon` and `channel()`; a function or class is called first, without arguments.",
        ) from error


def audit_recipe(choice: Choice, fakes: str | None, promise: float | None) -> tuple[Audit, Any] | None:
    """The audit of a recipe that is not offered, and the recipe; None if the name is not one of these."""
    from deniable.audit.fakes import RECIPES

    if choice.name not in RECIPES:
        require(fakes is None, "fakes", fakes, f"left out for {choice.name}", "It belongs to rsrfd.")
        return None
    given = {"epsilon": choice.epsilon, "sizes": choice.options.get("sizes"), "fakes": fakes}
    for name, value in {**choice.domain_given, **choice.options}.items():
        hint = "Questions are described by --sizes 4,4,4 (rsfd) or by --fakes '0.9,0.1;0.9,0.1' (rsrfd)."
        require(name in given, name, value, f"left out for {choice.name}", hint)
    found = RECIPES[choice.name](**{name: value for name, value in given.items() if value is not None})
    return audit(found, epsilon=promise), found


def _load(name: str) -> Any:
    module, _, path = name.partition(":")
    folder = str(Path.cwd())
    if folder not in sys.path:
        sys.path.insert(0, folder)
    found: Any = import_module(module)
    for part in path.split("."):
        found = getattr(found, part)
    return found() if callable(found) else found
