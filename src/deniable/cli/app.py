"""The program: its commands, and one way out for results and errors."""

from __future__ import annotations

import io
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Sequence
from typing import Annotated, Any, NamedTuple

import typer

from deniable.cli import attacks, demo, designs, pipeline, plans, studies
from deniable.cli.options import command
from deniable.cli.output import write_json
from deniable.errors import DeniableError
from deniable.present.tables import printable

__all__ = ["main"]

YES, NO, BAD, FAULT = 0, 1, 2, 3
"""Exit codes: done; the answer is no; bad use or bad input; our fault."""

INTERRUPTED, PIPE_CLOSED = 130, 141
"""Exit codes as shells give them for the signals that these are."""


_COMMANDS: Sequence[tuple[Callable[..., int | None], dict[str, Any]]] = (
    (designs.mechanisms, {}),
    (designs.design, {}),
    (plans.plan, {"given": plans.ASKED}),
    (pipeline.privatize, {}),
    (pipeline.tally, {}),
    (pipeline.estimate, {}),
    (studies.simulate, {"labels": False}),
    (studies.audit, {"epsilon": False}),
    (studies.reproduce, {}),
    (attacks.attack, {}),
    (demo.demo, {}),
)
"""The commands, in the order of the help, and how each is made."""


def build() -> typer.Typer:
    """The typer application. Help is framed on terminals and plain in pipes."""
    app = typer.Typer(
        no_args_is_help=True,
        rich_markup_mode="rich" if sys.stdout.isatty() else None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )

    @app.callback()
    def _root(
        version: Annotated[
            bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
        ] = False,
    ) -> None:
        """Statistics from people who need not trust the collector: local differential privacy, end to end."""

    for function, how in _COMMANDS:
        command(app, function, **how)
    return app


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    args = list(sys.argv[1:] if argv is None else argv)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a sign that the terminal does not know is no reason to fail
    try:
        code = _run(args)
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        sys.stderr.write("interrupted; nothing half-done was left behind.\n")
        return INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # whatever is still buffered goes nowhere
        return PIPE_CLOSED
    except Exception as error:
        return _fail(error, as_json="--json" in args)


def _run(args: list[str]) -> int:
    """Parse, then do what was asked for outside of typer, so that errors come here as they are."""
    parsed = typer.main.get_command(build()).main(args=args, prog_name="deniable", standalone_mode=False)
    with warnings.catch_warnings():
        warnings.showwarning = _warn
        return (parsed() if callable(parsed) else parsed) or YES


def _warn(message: Warning | str, *_: Any, **__: Any) -> None:
    """Warnings go to standard error as a line for people, without the place in the source."""
    _say(f"warning: {message}")


def _version(wanted: bool) -> None:
    if wanted:
        from deniable import __version__

        sys.stdout.write(f"deniable {__version__}\n")
        raise typer.Exit


class _Trouble(NamedTuple):
    code: int
    type: str
    message: str
    hint: str


def _fail(error: Exception, *, as_json: bool) -> int:
    if os.environ.get("DENIABLE_DEBUG"):
        _say(*"".join(traceback.format_exception(error)).splitlines())
    found = _trouble(error)
    if found.message.startswith("Usage:"):  # no command at all: the help is the message
        _say(*found.message.splitlines())
    elif as_json:
        write_json({"error": {"type": found.type, "message": found.message, "hint": found.hint}})
    else:
        _say(f"error: {found.message}", *([f"hint: {found.hint}"] if found.hint else []))
    return found.code


def _say(*lines: str) -> None:
    """Lines on standard error: labels, file names and whatever else they quote cannot steer the terminal."""
    sys.stderr.write("".join(f"{printable(line)}\n" for line in lines))


def _trouble(error: Exception) -> _Trouble:
    """What went wrong, in words, and whose fault it is."""
    name = type(error).__name__
    if isinstance(error, DeniableError):
        return _Trouble(BAD, name, error.message, error.hint)
    if _is_usage(error):
        context: Any = getattr(error, "ctx", None)
        hint = f"See `{context.command_path} --help`." if context else "See `deniable --help`."
        return _Trouble(BAD, "UsageError", error.format_message(), hint)  # type: ignore[attr-defined]
    if isinstance(error, OSError):
        return _Trouble(FAULT, name, f"the operating system refused: {error}.", "")
    hint = "Please report this; with DENIABLE_DEBUG=1 the traceback is shown."
    return _Trouble(FAULT, name, f"something went wrong inside: {name}: {error}", hint)


def _is_usage(error: Exception) -> bool:
    """Whether typer (or the click that it may be built on) refused the command line."""
    return hasattr(error, "format_message") and hasattr(error, "exit_code")
