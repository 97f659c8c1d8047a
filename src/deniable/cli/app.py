"""The program: its commands, and one way out for results and errors."""

from __future__ import annotations

import io
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from typing import Annotated, Any, NamedTuple

import typer

from deniable.cli.help import HelpContext
from deniable.cli.wording import as_typed
from deniable.errors import DeniableError, ParameterError
from deniable.present.tables import printable

__all__ = ["run"]

YES, NO, BAD, FAULT = 0, 1, 2, 3
"""Exit codes: done; the answer is no; bad use or bad input; our fault."""

_READ = {"--values"}
"""Options with the name that errors have for what is read from files: they are meant where they are typed."""

PIPE_CLOSED = 141
"""Exit code as shells give it for the signal that this is."""


_Made = Mapping[str, tuple[Callable[..., int | None], dict[str, Any]]]
"""Functions of a module by the names of their commands, each with how it is made a command."""


def _designs() -> _Made:
    from deniable.cli.designs import design, mechanisms

    return {"mechanisms": (mechanisms, {}), "design": (design, {})}


def _promises() -> _Made:
    from deniable.cli.promises import promise

    return {"promise": (promise, {})}


def _plans() -> _Made:
    from deniable.cli.plans import ASKED, plan

    return {"plan": (plan, {"given": ASKED})}


def _pipeline() -> _Made:
    from deniable.cli.pipeline import estimate, privatize, tally

    return {"privatize": (privatize, {}), "tally": (tally, {}), "estimate": (estimate, {})}


def _studies() -> _Made:
    from deniable.cli.studies import audit, reproduce, simulate

    return {
        "simulate": (simulate, {}),
        "audit": (audit, {"epsilon": False, "own": ("promise",)}),
        "reproduce": (reproduce, {}),
    }


def _sweeps() -> _Made:
    from deniable.cli.bench.study import study
    from deniable.cli.options import ANSWERS

    return {"study": (study, {"given": ANSWERS})}


def _compared() -> _Made:
    from deniable.cli.bench.compare import compare
    from deniable.cli.options import ANSWERS, DOMAIN

    return {"compare": (compare, {"given": {name: ANSWERS[name] for name in DOMAIN}})}


def _verified() -> _Made:
    from deniable.cli.bench.verify import verify

    return {"verify": (verify, {})}


def _conformance() -> _Made:
    from deniable.cli.bench.conformance import conformance

    return {"conformance": (conformance, {})}


def _attacks() -> _Made:
    from deniable.cli.attacks import attack

    return {"attack": (attack, {"own": ("prior",)})}


def _release() -> _Made:
    from deniable.cli.release import release

    return {"release": (release, {})}


def _demo() -> _Made:
    from deniable.cli.demo import demo

    return {"demo": (demo, {})}


def _service() -> _Made:
    from deniable.cli.service import SERVED, serve

    return {"serve": (serve, {"given": SERVED})}


def _survey() -> _Made:
    from deniable.cli.survey import ASKED, COMMANDS

    return {name: (function, {"given": ASKED}) for name, function in COMMANDS.items()}


def _tasks() -> _Made:
    from deniable.cli.service_tasks import COMMANDS

    return {name: (function, {}) for name, function in COMMANDS.items()}


def _keys() -> _Made:
    from deniable.cli.service import KEY_COMMANDS

    return {name: (function, {}) for name, function in KEY_COMMANDS.items()}


def _stores() -> _Made:
    from deniable.cli.service_store import COMMANDS

    return {name: (function, {}) for name, function in COMMANDS.items()}


class _Command(NamedTuple):
    """A command: what loads its module, and the line for the list of commands."""

    load: Callable[[], _Made]
    summary: str
    group: bool = False
    """Whether these are several commands, each with a second word."""


_COMMANDS: Mapping[str, _Command] = {
    "mechanisms": _Command(_designs, "List the mechanisms, what each is best for, and its options."),
    "design": _Command(_designs, "Show a mechanism's parameters and properties."),
    "promise": _Command(_promises, "Show what a promise says, and what follows from it."),
    "plan": _Command(_plans, "Find the mechanism and its parameters for a job."),
    "privatize": _Command(_pipeline, "Turn values into deniable reports, one for each value."),
    "tally": _Command(_pipeline, "Count reports, and add up tallies of one design."),
    "estimate": _Command(_pipeline, "Estimate the share of every value, or the mean of numbers, with error bars."),
    "survey": _Command(_survey, "Several questions, one budget: who is asked which, and what comes of it.", group=True),
    "release": _Command(_release, "Read near answers back as values, one for each report."),
    "simulate": _Command(_studies, "Privatise a known population and compare with the truth."),
    "study": _Command(_sweeps, "Measure several mechanisms at several budgets, beside their closed forms."),
    "compare": _Command(_compared, "Set designs side by side: promise, error, bytes, best guess, forged reports, gap."),
    "audit": _Command(_studies, "Prove that no report leaks more than epsilon, or refute it."),
    "verify": _Command(_verified, "Verify a file: ids recomputed, promises proved, in words."),
    "conformance": _Command(_conformance, "Check a client in any language against the test vectors."),
    "reproduce": _Command(_studies, "Compute a paper's figures and check its claims."),
    "attack": _Command(_attacks, "Guess values from their reports, as well as anyone can."),
    "serve": _Command(_service, "Collect reports over HTTP."),
    "task": _Command(_tasks, "Make tasks, open and close them, and see what came in.", group=True),
    "key": _Command(_keys, "Make and revoke the keys of analysts and administrators.", group=True),
    "store": _Command(_stores, "Check, copy and bring up to date the collector's database.", group=True),
    "demo": _Command(_demo, "The whole system in one go, told as a story."),
}
"""The commands, in the order of the help."""


def build(only: str | None = None) -> typer.Typer:
    """The typer application.

    With `only`, the other commands are names with a line of help: their modules are not loaded.
    """
    app = _typer()

    @app.callback()
    def _root(
        version: Annotated[
            bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
        ] = False,
    ) -> None:
        """Statistics from people who need not trust the collector: local differential privacy, end to end."""

    for name, row in _COMMANDS.items():
        if only is None or only == name:
            _make(app, name, row)
        else:
            app.command(name, short_help=row.summary)(_unloaded)
    return app


@cache
def _program(only: str | None, rows: tuple[tuple[str, int], ...]) -> Any:
    """What parses and calls, made once a process for each command: making it takes as long as many commands do."""
    return typer.main.get_command(build(only))


def _rows() -> tuple[tuple[str, int], ...]:
    """The mechanisms whose options the commands have; none while nobody has asked for the registry."""
    registry = sys.modules.get("deniable.mechanisms.registry")
    return tuple((name, id(row)) for name, row in registry.MECHANISMS.items()) if registry else ()


def _typer() -> typer.Typer:
    return typer.Typer(
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )


def _make(app: typer.Typer, name: str, row: _Command) -> None:
    """Make a command of its function, or a group of its functions."""
    from deniable.cli.options import command

    made = row.load()
    if not row.group:
        function, how = made[name]
        command(app, function, **how)
        return
    group = _typer()
    for verb, (function, how) in made.items():
        command(group, function, name=verb, **how)
    app.add_typer(group, name=name, help=row.summary, short_help=row.summary)


def _unloaded() -> None:
    """Stands for a command that was not asked for."""


def run(args: list[str]) -> int:
    """Run the command line and return the exit code."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # the shell closed it: what would go there goes nowhere
            setattr(sys, name, io.TextIOWrapper(io.BytesIO()))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a sign that the terminal does not know is no reason to fail
    asked = _Asked()
    try:
        code = _run(_named(args), asked)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        _let_go()
        return PIPE_CLOSED
    except Exception as error:
        return _fail(error, asked, as_json="--json" in args)


def _named(args: list[str]) -> list[str]:
    """With a matrix, its row need not be named: `deniable design --matrix FILE`."""
    if not any(arg.partition("=")[0] == "--matrix" for arg in args):
        return args
    from deniable.mechanisms.registry import MECHANISMS, resolved

    named = any(resolved(arg) in MECHANISMS for arg in args[1:])
    return args if named else [args[0], "matrix", *args[1:]]


def _let_go() -> None:
    """Whatever is still buffered for standard output goes nowhere."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@dataclass
class _Asked:
    """The command that was asked for, and its options."""

    path: str = "deniable"
    flags: set[str] = field(default_factory=set)
    unsaid: set[str] = field(default_factory=set)
    """Those of `_READ` that were not typed: what is wrong is not about them, unless they are wanted."""

    @property
    def help(self) -> str:
        """Where to read on."""
        return f"See `{self.path} --help`."


def _run(args: list[str], asked: _Asked) -> int:
    """Parse, then do what was asked for outside of typer, so that errors come here as they are."""
    completing = "_DENIABLE_COMPLETE" in os.environ
    words = [arg for arg in args if not arg.startswith("-")]
    group = _program(None if completing else (words or [""])[0], _rows())
    for each in _path(group, words):
        each.context_class = HelpContext
        asked.path += f" {each.name}" * (each is not group)
        asked.flags.update(flag for param in each.params for flag in param.opts)
        asked.unsaid = _READ - {arg.partition("=")[0] for arg in args}
        _refuse_twice(each.params, args)
        for param in each.get_params(typer.Context(each)):
            param.get_runtime_param = _AsTyped
    parsed = group.main(args=args, prog_name="deniable", standalone_mode=False)
    with warnings.catch_warnings():
        warnings.showwarning = _warn
        return (parsed() if callable(parsed) else parsed) or YES


def _path(group: Any, words: list[str]) -> Iterator[Any]:
    """The program, the command that is asked for, and its second word where it has one."""
    yield group
    for word in words:
        group = getattr(group, "commands", {}).get(word)
        if group is None:
            return
        yield group


def _refuse_twice(params: Iterable[Any], args: list[str]) -> None:
    """Refuse an option that is given twice: of two lists of sensitive answers the first would be forgotten."""
    given = [arg.partition("=")[0] for arg in (args[: args.index("--")] if "--" in args else args)]
    once = (param for param in params if not (getattr(param, "multiple", False) or getattr(param, "is_flag", False)))
    for flag in (flag for param in once for flag in param.opts):
        if flag.startswith("--") and given.count(flag) > 1:
            times = "twice" if given.count(flag) == 2 else f"{given.count(flag)} times"
            hint = "Several values of one option are separated by commas, where it takes them."
            raise ParameterError(f"{flag} must be given once, got it {times}.", hint)


class _AsTyped:
    """Values stay text, for `options` to read: typer's own way loads a library that checks types, for 0.2 s."""

    def coerce(self, value: Any, **_: Any) -> Any:
        """The value as it is."""
        return value


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


def _fail(error: Exception, asked: _Asked, *, as_json: bool) -> int:
    if os.environ.get("DENIABLE_DEBUG"):
        _say(*"".join(traceback.format_exception(error)).splitlines())
    found = _trouble(error, asked)
    told = [f"error: {found.message}", *([f"hint: {found.hint}"] if found.hint else [])]
    if found.message.startswith("Usage:"):  # no command at all: the help is the message
        _say(*found.message.splitlines())
    elif as_json:
        from deniable.cli.output import write_json

        try:
            write_json({"error": {"type": found.type, "message": found.message, "hint": found.hint}})
        except OSError:  # standard output itself is what cannot be written
            _say(*told)
        else:
            if not sys.stdout.isatty():  # it goes to a file or a program; who looks at the screen is told, too
                _say(*told)
    else:
        _say(*told)
    if isinstance(error, OSError):
        _let_go()
    return found.code


def _say(*lines: str) -> None:
    """Lines on standard error: labels, file names and whatever else they quote cannot steer the terminal."""
    sys.stderr.write("".join(f"{printable(line)}\n" for line in lines))


def _trouble(error: Exception, asked: _Asked) -> _Trouble:
    """What went wrong, in words, and whose fault it is."""
    name = type(error).__name__
    if isinstance(error, DeniableError):
        about = asked.flags if " must be given " in error.message else asked.flags - asked.unsaid
        message, hint = as_typed(error.message, error.hint, about)
        return _Trouble(BAD, name, message, hint or (asked.help if isinstance(error, ParameterError) else ""))
    if _is_usage(error):
        return _Trouble(BAD, "UsageError", error.format_message(), _usage_hint(error, asked))  # type: ignore[attr-defined]
    if isinstance(error, OSError):
        hint = "Make room there, or choose another place; no file was left half-written."
        return _Trouble(BAD, name, f"the operating system refused: {error}.", hint)
    if isinstance(error, MemoryError):
        return _Trouble(BAD, name, "this takes more memory than there is.", "Ask for fewer values, reports or runs.")
    hint = "Please report this; with DENIABLE_DEBUG=1 the traceback is shown."
    return _Trouble(FAULT, name, f"something went wrong inside: {name}: {error}", hint)


def _usage_hint(error: Any, asked: _Asked) -> str:
    """What to do about a command line that cannot be read."""
    param = getattr(error, "param", None)
    if param is not None and param.help:
        return f"{param.help} {asked.help}"
    context = getattr(error, "ctx", None)
    if getattr(error, "option_name", None) and context is not None and context.parent is None:
        return "Options stand behind the command that they belong to. See `deniable --help`."
    return asked.help


def _is_usage(error: Exception) -> bool:
    """Whether typer (or the click that it may be built on) refused the command line."""
    return hasattr(error, "format_message") and hasattr(error, "exit_code")
