"""Writes the parts of the documentation that come from the program: tables, command help, outputs of examples.

    python docs/generate.py                   write them
    python docs/generate.py performance.md    write those of some pages
    python docs/generate.py --check           only look; exit code 1 if some page is not up to date

A page marks such a part with `<!-- generated: NAME -->` and `<!-- end -->`, where NAME is one of PARTS; in a block of
kind `console`, what follows a line `$ COMMAND` is the command's output. What Python sessions (`>>>`) show is written
anew too; whether it is right is for tests/docs/test_examples.py to say, and for the reader of the difference.
"""

from __future__ import annotations

import ast
import contextlib
import doctest
import io
import math
import os
import re
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import typer
from scipy.stats import binom

import deniable as dn
from deniable.cli import main
from deniable.cli.app import build
from deniable.core.intervals import score_interval, wald_interval
from deniable.core.types import Target
from deniable.mechanisms.support import SupportMechanism
from deniable_client.exact import EPSILON_MAX, exp_bounds
from deniable_client.telling import GRADES, HARDLY_ANY, sure_of

DOCS = Path(__file__).resolve().parent
sys.path.insert(0, str(DOCS))

import listed  # noqa: E402
import measured  # noqa: E402
import numbered  # noqa: E402
from measured import table  # noqa: E402

ROOT = DOCS.parent
WIDTH = 100
"""Columns of example outputs."""

NAMES = ("grr", "ss", "sue", "oue", "blh", "olh", "plh", "the", "she", "wheel", "hr", "pgr")
"""The plain frequency oracles, which need only k and epsilon: those of the tables."""


def pages(*names: str) -> list[Path]:
    """All pages of the documentation, or those of these names below docs/."""
    return [DOCS / name for name in names] or [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]


# ---- tables


def make(name: str, epsilon: float, k: int) -> SupportMechanism:
    """A mechanism for a table."""
    made = dn.mechanism(name, epsilon=epsilon, k=k)
    assert isinstance(made, SupportMechanism)
    return made


STARTERS = ("ss", "plh", "uss", "hm", "kv-ss2")
"""Mechanisms to start with: one for each kind of question, and one for many answers."""


def starters() -> str:
    """A few rows of the registry, for the front page."""
    rows = [[_linked(name, ROOT), dn.MECHANISMS[name].summary, dn.MECHANISMS[name].best_for] for name in STARTERS]
    return table(["name", "what it is", "best for"], rows, right=3)


def mechanisms() -> str:
    """The registry."""
    return _registry(dn.MECHANISMS)


def protocols() -> str:
    """The registry of collections in several steps."""
    return _registry(dn.PROTOCOLS)


def _registry(entries: Mapping[str, Any]) -> str:
    rows = [
        [_linked(name, DOCS), row.summary, row.best_for, " ".join(f"`--{o.replace('_', '-')}`" for o in row.options)]
        for name, row in entries.items()
    ]
    return table(["name", "what it is", "best for", "own options"], rows, right=4)


def _linked(name: str, folder: Path) -> str:
    """A mechanism's name, as a link from a folder to the page of mathematics that has it in a heading."""
    for page in sorted((DOCS / "maths").glob("*.md")):
        if any(f"`{name}`" in heading for heading in headings(page.read_text("utf-8"))):
            return f"[`{name}`]({page.relative_to(folder).as_posix()})"
    return f"`{name}`"


def headings(text: str) -> list[str]:
    """The headings of a page, of any level."""
    return re.findall(r"^#+ (.*)$", re.sub(r"```.*?```", "", text, flags=re.DOTALL), re.MULTILINE)


def epsilon_unused() -> str:
    """Epsilon minus ln(exact ratio), which is not used."""
    epsilons = (0.01, 0.1, 1.0, 4.0, 12.0, 20.0, 30.0, EPSILON_MAX)
    cases = [("grr", 2), ("grr", 10**6), ("ss", 100), ("sue", 100), ("oue", 100), ("olh", 100)]
    rows = [[f"`{name}`", f"{k:,}", *(_unused(name, e, k) for e in epsilons)] for name, k in cases]
    return table(["mechanism", "k", *(f"epsilon {e:g}" for e in epsilons)], rows)


def _unused(name: str, epsilon: float, k: int) -> str:
    m = make(name, epsilon, k)
    if m.refusal:
        return "refused"
    return f"{math.log1p(float(exp_bounds(epsilon)[0] / m.kernel.ratio - 1)):.0e}"


@cache
def coverage() -> str:
    """Exact coverage of two kinds of intervals for an item that nobody holds."""
    rows = []
    targets: tuple[Target, ...] = ("reporters", "population")
    for name, epsilon, k in (("grr", 1.0, 100), ("oue", 4.0, 100)):
        for target in targets:
            for low, high in ((5, 10), (10, 30), (30, 100), (100, 300)):
                found = np.array([_covered(name, epsilon, k, x, target) for x in np.linspace(low, high, 16)])
                shown = [f"{100 * v:.1f} %" for v in (*_least_mean(found[:, 0]), *_least_mean(found[:, 1]))]
                rows.append([f"`{name}`, epsilon {epsilon:g}, k = {k}", target, f"{low} to {high}", *shown])
    head = [
        "design",
        "target",
        "expected supporting reports",
        "score: least",
        "mean",
        "value +- z stderr: least",
        "mean",
    ]
    return table(head, rows, right=2)


def _least_mean(values: np.ndarray) -> tuple[float, float]:
    return float(values.min()), float(values.mean())


def _covered(name: str, epsilon: float, k: int, expected: float, target: Target) -> tuple[float, float]:
    s = make(name, epsilon, k).support_effective
    n = round(expected / s.q)
    share, law = np.arange(n + 1) / n, binom.pmf(np.arange(n + 1), n, s.q)
    score = score_interval(share, s, n, level=0.95, target=target)
    usual = wald_interval(s.unbias(share), np.sqrt(s.plug_in(share, n, target)), level=0.95, target=target)
    nobody = np.zeros(n + 1)
    return float(law[score.covers(nobody)].sum()), float(law[usual.covers(nobody)].sum())


def gaps() -> str:
    """How far the exact MSE is above the least possible one."""
    cases = [(k, e) for k in (2, 16, 100, 10_000) for e in (0.5, 1.0, 2.0, 4.0)]
    rows = [[f"{k:,}", f"{e:g}", *(_gap(name, e, k) for name in NAMES)] for k, e in cases]
    return table(["k", "epsilon", *(f"`{name}`" for name in NAMES)], rows, right=0)


def _gap(name: str, epsilon: float, k: int) -> str:
    gap = 100 * float(dn.mechanism(name, epsilon=epsilon, k=k).properties()["gap"])
    return f"{abs(round(gap, 1)):,.1f} %" if gap < 999.95 else f"{gap:,.0f} %"


_FEW = 64
"""Answers up to which `affine` gives way to others."""


def oracles() -> str:
    """Properties of every frequency oracle at three settings."""
    names = [
        name
        for name, row in dn.MECHANISMS.items()
        if row.question == "frequency" and row.kind == "mechanism" and not row.needed and row.default_epsilon is None
    ]
    head = ["oracle", "own parameters", "std. error, points", "above the bound", "best guess right", "bits", "bytes"]
    parts = []
    for k, epsilon in ((16, 1.0), (100, 4.0), (10_000, 1.0)):
        rows = [_oracle(name, epsilon, k) for name in names if name != "affine" or k > _FEW]
        parts.append(
            f"**k = {k:,}, epsilon = {epsilon:g}** (a blind guess is right {100 / k:.3g} % of the time)\n\n"
            + table(head, rows, right=2)
        )
    return "\n\n".join(parts)


def _oracle(name: str, epsilon: float, k: int) -> list[str]:
    m = dn.mechanism(name, epsilon=epsilon, k=k)
    found = m.properties(100_000)
    own = ", ".join(f"{key} = {_short(value)}" for key, value in m.params.items() if isinstance(value, int | float))
    error, guess = 100 * math.sqrt(found["mse"]), 100 * found["asr"]
    size = [f"{found['bits']:,.1f}", f"{found['bytes']:,}"]
    return [f"`{name}`", own or "–", f"{error:.3f}", _gap(name, epsilon, k), f"{guess:.3g} %", *size]


def _short(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) and value < 10**7 else f"{value:.4g}"


def belief() -> str:
    """From even odds: the largest probability after one report, rounded up."""
    epsilons = (0.1, 0.5, 1.0, 2.0, 4.0, 8.0)
    values = [f"{math.ceil(10_000 * sure_of(exp_bounds(e)[1])) / 100:g} %" for e in epsilons]
    return table(["epsilon", *(f"{e:g}" for e in epsilons)], [["at most", *values]])


def grades() -> str:
    """Words for protection: up to which certainty, and which epsilon, rounded down."""
    rows = [
        [words, f"{float(100 * most):g} %", f"{math.floor(100 * math.log(most / (1 - most))) / 100:g}"]
        for most, words in GRADES
    ]
    return table(["word", "sure, from even odds, up to", "epsilon up to"], [*rows, [HARDLY_ANY, "more", "more"]])


PROMISES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("ss", {"epsilon": 1.0, "k": 6}),
    ("uss", {"epsilon": 1.0, "labels": ["ill", "very ill", "well", "gone"], "sensitive": "ill,very ill"}),
    ("uue-levels", {"labels": ["ill", "very ill", "well"], "sensitive": "ill,very ill", "item_epsilon": "2,0.5"}),
    ("pldp", {"k": 6, "levels": "0.5,1", "level_epsilon": 0.5}),
    ("upldp", {"k": 6, "sensitive": 3, "levels": "0.5,1", "level_epsilon": 0.5}),
    ("brr", {"epsilon": 1.0, "points": 10}),
    ("hm", {"epsilon": 1.0, "interval": "0,100"}),
    ("kv-ss2", {"epsilon": 1.0, "k": 6}),
    ("kv-ss2", {"epsilon": 1.0, "k": 6, "length": 2}),
)
"""A small design of each kind of promise."""


def promises() -> str:
    """What designs of each kind promise, in the words of the program."""
    made = [(name, dn.mechanism(name, **options).protection) for name, options in PROMISES]
    return table(["design", "kind", "statement"], [[f"`{n}`", p.kind, p.text] for n, p in made], right=3)


def averaging() -> str:
    """How often the majority of several yes/no reports is right."""
    p = make("grr", 1.0, 2).support_effective.p
    counts = (1, 3, 11, 31, 51)
    right = [f"{100 * float(binom.sf(m // 2, m, p)):.4g} %" for m in counts]
    return table(["reports", *map(str, counts)], [["right", *right]])


def poisoning() -> str:
    """Rise of one item's estimate per 1 % of fake reports, in percentage points."""
    names = [name for name in NAMES if issubclass(dn.MECHANISMS[name].cls, SupportMechanism)]
    rows = [
        [f"{k:,}", f"{e:g}", *(f"{s.q_not / s.gap:.2f}" for s in (make(n, e, k).support_effective for n in names))]
        for k, e in ((2, 1.0), (16, 1.0), (16, 4.0), (1000, 1.0), (1000, 4.0))
    ]
    return table(["k", "epsilon", *(f"`{name}`" for name in names)], rows, right=0)


def commands() -> str:
    """The help of every command."""
    texts = [f"## `deniable {name}`\n\n```text\n{_help(*name.split())}\n```" for name in command_names()]
    return "\n\n".join([f"```text\n{_help()}\n```", *texts])


def command_names() -> list[str]:
    """All commands, in the order of the help; those of a group with two words."""
    group: Any = typer.main.get_command(build())
    return [" ".join((name, *verb)) for name, made in group.commands.items() for verb in _verbs(made)]


def _verbs(command: Any) -> list[list[str]]:
    return [[verb] for verb in command.commands] if hasattr(command, "commands") else [[]]


def _help(*command: str) -> str:
    out = io.StringIO()
    with _plain_terminal(80), contextlib.redirect_stdout(out):
        code = main([*command, "--help"])
    assert code == 0, f"deniable {' '.join(command)} --help ends with {code}"
    return "\n".join(line.rstrip() for line in out.getvalue().strip().splitlines())


@contextlib.contextmanager
def _plain_terminal(width: int) -> Iterator[None]:
    """No colours, a fixed number of columns."""
    before = dict(os.environ)
    os.environ.update(_terminal(width))
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _terminal(width: int) -> dict[str, str]:
    return {"COLUMNS": str(width), "TERMINAL_WIDTH": str(width), "NO_COLOR": "1", "TERM": "dumb", "LC_ALL": "C.UTF-8"}


def tree() -> str:
    """The folders of the sources: what each of them is, and its modules."""
    package = ROOT / "src/deniable"
    return "\n".join(["```text", *_folder(package, "src/deniable", 0), "```"])


def _folder(folder: Path, name: str, depth: int) -> list[str]:
    """A folder's name with the first sentence of its docstring, its modules, and the folders below it."""
    indent, said = "  " * depth, ast.get_docstring(ast.parse((folder / "__init__.py").read_text("utf-8"))) or ""
    title = f"{indent}{name}/".ljust(18)
    names = " ".join(path.stem for path in sorted(folder.glob("*.py")) if path.stem != "__init__")
    lines = textwrap.wrap(said.partition("\n")[0], WIDTH, initial_indent=f"{title} ", subsequent_indent=" " * 19)
    lines += textwrap.wrap(names, WIDTH, initial_indent=" " * 19 + "- ", subsequent_indent=" " * 21)
    below = (path.parent for path in sorted(folder.glob("*/__init__.py")))
    return lines + [line for part in below for line in _folder(part, part.name, depth + 1)]


def settings() -> str:
    """The settings of the collector."""
    from deniable.service.settings import PREFIX, rows

    usual = {row.name: row.default if isinstance(row.default, int | str) else "" for row in rows()}
    return table(
        ["setting", "in the environment", "usually", "what it is"],
        [
            [
                f"`{row.name}`",
                f"`{PREFIX}{row.name.upper()}`",
                f"`{usual[row.name]}`" * (usual[row.name] != ""),
                row.metadata["help"],
            ]
            for row in rows()
        ],
        right=4,
    )


def routes() -> str:
    """The routes of the collector, with their roles."""
    from deniable.service.http.app import ROWS

    return table(
        ["route", "role", "what it does"],
        [[f"`{row.method} {row.path}`", row.role.name.lower(), row.summary] for row in ROWS],
        right=3,
    )


def results() -> str:
    """The columns of the flat table of all that is published about a task."""
    from deniable.service.results.flat import COLUMNS

    return table(["column", "what is in it"], [[f"`{name}`", what] for name, what in COLUMNS.items()], right=2)


PARTS: dict[str, Callable[[], str]] = {
    "attacks": measured.attacks,
    "averaging": averaging,
    "belief": belief,
    "claims": measured.claims,
    "seeds": measured.seeds,
    "commands": commands,
    "coverage": coverage,
    "epsilon-unused": epsilon_unused,
    "gaps": gaps,
    "grades": grades,
    "growth": measured.growth,
    "largest": measured.largest,
    "limits": measured.limits,
    "least-errors": measured.least_errors,
    "optimum": measured.optimum,
    "machine": measured.machine,
    "mechanisms": mechanisms,
    "oracles": oracles,
    "papers": measured.papers,
    "peers": measured.peers,
    "poisoning": poisoning,
    "promises": promises,
    "protocols": protocols,
    "results": results,
    "routes": routes,
    "settings": settings,
    "spark": measured.spark,
    "starters": starters,
    "tree": tree,
    **listed.PARTS,
    **numbered.PARTS,
    **measured.STUDIES,
}
"""The parts that pages may ask for."""


# ---- pages

_PART = re.compile(r"(<!-- generated: ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)
_CONSOLE = re.compile(r"(```console\n)(.*?)(```)", re.DOTALL)


def fresh(text: str) -> str:
    """A page with all its generated parts and example outputs as they are now."""
    text = _PART.sub(lambda found: f"{found[1]}{PARTS[found[2]]()}\n{found[3]}", text)
    blocks = _CONSOLE.findall(text)
    if not blocks:
        return text
    with tempfile.TemporaryDirectory() as folder:  # one folder per page: later commands find what earlier ones wrote
        outputs = iter([_session(body, Path(folder)) for _, body, _ in blocks])
        return _CONSOLE.sub(lambda found: f"{found[1]}{next(outputs)}{found[3]}", text)


def _session(body: str, folder: Path) -> str:
    typed = re.findall(r"^\$ .*(?:\n> .*)*", body, re.MULTILINE)
    return "".join(f"{lines}\n{_output(lines, folder)}" for lines in typed)


def _output(lines: str, folder: Path) -> str:
    """What a command prints, on both of its outputs, in order."""
    script = "\n".join(line[2:] for line in lines.splitlines())
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    env = {**os.environ, **_terminal(WIDTH), "PATH": path}
    done = subprocess.run(
        ["bash", "-c", script], cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
    )
    text = done.stdout.decode()
    if done.returncode:
        raise RuntimeError(f"the example {script!r} ends with {done.returncode}: {text}")
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines())


# ---- Python sessions

_PYTHON = re.compile(r"(^```python\n)(.*?)(^```)", re.DOTALL | re.MULTILINE)


def fresh_sessions(text: str) -> str:
    """A page whose Python sessions show what they print now; what already matches (`...` included) stays."""
    module = ModuleType("page_of_docs")
    sys.modules[module.__name__] = module
    return _PYTHON.sub(lambda found: f"{found[1]}{_fresh_session(found[2], module)}{found[3]}", text)


def _fresh_session(block: str, module: ModuleType) -> str:
    if ">>>" not in block:
        exec(compile(block, module.__name__, "exec"), module.__dict__)
        return block
    test = doctest.DocTestParser().get_doctest(block, module.__dict__, "session", None, 0)
    runner = _Recorder(optionflags=doctest.ELLIPSIS, verbose=False)
    runner.run(test, out=lambda _: None, clear_globs=False)
    module.__dict__.update(test.globs)
    lines = block.splitlines(keepends=True)
    for example, got in reversed(runner.wrong):
        start = example.lineno + len(example.source.splitlines())
        lines[start : start + len(example.want.splitlines())] = got.splitlines(keepends=True)
    return "".join(lines)


class _Recorder(doctest.DocTestRunner):
    """Keeps what examples print that is not what they show. An exception that is not shown ends the writing."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.wrong: list[tuple[doctest.Example, str]] = []

    def report_failure(self, out: Any, test: Any, example: doctest.Example, got: str) -> None:
        self.wrong.append((example, got))

    def report_unexpected_exception(self, out: Any, test: Any, example: doctest.Example, exc_info: Any) -> None:
        raise exc_info[1]


def run(arguments: Sequence[str]) -> int:
    """Write or check all pages, or some."""
    check, stale = "--check" in arguments, 0
    for page in pages(*(name for name in arguments if name != "--check")):
        text = page.read_text("utf-8")
        new = fresh_sessions(fresh(text))
        if new != text:
            stale += 1
            print(f"{page.relative_to(ROOT)} {'is not up to date' if check else 'written'}")
            if not check:
                page.write_text(new, "utf-8")
    if stale and check:
        print("run: python docs/generate.py")
    return 1 if stale and check else 0


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
