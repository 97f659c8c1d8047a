"""The shape of the sources: layers, sizes, and words that must not be there."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCES = (ROOT / "clients/python/src", ROOT / "src")

# A module may import from its own layer or from an earlier one; layers on one line are on a par. A dotted layer is a
# part of the one before the dot; what is left of `mechanisms` is the contract that all families keep.
ORDER = (
    ("deniable_client",),
    ("errors",),
    ("core",),
    ("randomness",),
    ("kernels",),
    ("collect",),
    ("estimate",),
    ("mechanisms",),
    ("mechanisms.frequency", "mechanisms.metric"),
    ("mechanisms.utility", "mechanisms.keyvalue", "mechanisms.numeric"),
    ("mechanisms.personal",),
    ("mechanisms.registry",),
    ("datasets", "present"),
    ("plan",),
    ("audit",),
    ("learn",),
    ("run",),
    ("service",),
    ("papers",),
    ("testing",),
    ("deniable",),  # the face of the package, its __init__.py: it may import anything
    ("cli",),
    ("__main__",),
)
RANK = {name: rank for rank, names in enumerate(ORDER) for name in names}
FAMILIES = ("frequency", "utility", "personal", "keyvalue", "metric", "numeric")
MAY = {"utility": {"frequency"}, "keyvalue": {"frequency"}, "personal": {"frequency", "utility"}}
"""Which families a family may build on; any other import between families is a fault."""
MODULE_LINES = 600
FUNCTION_LINES = 60


class Source(NamedTuple):
    """One module: its dotted name, whether it is a package's __init__, and its text."""

    module: str
    is_package: bool
    text: str

    @property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @property
    def layer(self) -> str:
        return layer_of(self.module)


class Fault(NamedTuple):
    """What is wrong on which line."""

    line: int
    what: str


Rule = Callable[[Source], Iterator[Fault]]


def layer_of(module: str) -> str:
    """The layer of a dotted name: its second part in `deniable` (with the third, if ORDER has it), else its first."""
    first, *rest = module.split(".")
    if first != "deniable" or not rest:
        return first
    return ".".join(rest[:2]) if ".".join(rest[:2]) in RANK else rest[0]


def family_of(module: str) -> str:
    """The family whose room a dotted name is in, or nothing."""
    parts = module.split(".")
    return parts[2] if parts[:2] == ["deniable", "mechanisms"] and parts[2:3] and parts[2] in FAMILIES else ""


def role_of(module: str) -> str:
    """What a module is in its family's room: its own name."""
    return (module.split(".")[3:4] or [""])[0]


def imports(source: Source) -> Iterator[tuple[int, str]]:
    """Line and absolute dotted name of each import; for `from a import b` that is `a.b`."""
    package = source.module.split(".") if source.is_package else source.module.split(".")[:-1]
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            parts = [*base, *(node.module or "").split(".")] if node.module else base
            yield from ((node.lineno, ".".join([*parts, alias.name])) for alias in node.names)


def target_layer(name: str) -> str:
    """The layer an imported name belongs to; `deniable.x` with no layer x is the package itself."""
    layer = layer_of(name)
    return layer if layer in RANK else name.partition(".")[0]


def points_upwards(source: Source) -> Iterator[Fault]:
    """Imports of our own code go to the same or an earlier layer."""
    if source.module == "deniable":
        return
    if source.layer not in RANK:
        yield Fault(1, f"{source.module} is in no layer; give it its place in ORDER")
        return
    for line, name in imports(source):
        layer = target_layer(name)
        if layer in RANK and RANK[layer] > RANK[source.layer]:
            yield Fault(line, f"layer {source.layer} imports {name} of the later layer {layer}")


def families_keep_apart(source: Source) -> Iterator[Fault]:
    """A family builds on the families that MAY names, and on no other."""
    own = family_of(source.module)
    for line, name in imports(source):
        other = family_of(name)
        if own and other and own != other and other not in MAY.get(own, set()):
            yield Fault(line, f"family {own} imports {name} of family {other}")


LAWS = ("laws", "sensitive_laws")
ESTIMATORS = ("estimate", "mixture_estimate", "em", "sensitive_estimate", "sensitive_em")


def roles_keep_order(source: Source) -> Iterator[Fault]:
    """In a family's room laws import laws alone, and estimators import no mechanism."""
    own, role = family_of(source.module), role_of(source.module)
    for line, name in imports(source):
        if not own or family_of(name) != own:
            continue
        part = role_of(name)
        if role in LAWS and part not in LAWS:
            yield Fault(line, f"laws import {name}, which is no law")
        if role in ESTIMATORS and part not in (*LAWS, *ESTIMATORS, "pairs"):
            yield Fault(line, f"an estimator imports {name}, which is neither a law nor an estimator")


def client_is_plain(source: Source) -> Iterator[Fault]:
    """The client needs nothing but the standard library."""
    if source.layer != "deniable_client":
        return
    allowed = sys.stdlib_module_names | {"deniable_client"}
    for line, name in imports(source):
        if name.partition(".")[0] not in allowed:
            yield Fault(line, f"imports {name}, which is not in the standard library")


def module_is_short(source: Source) -> Iterator[Fault]:
    """A module fits in a reader's head."""
    lines = len(source.text.splitlines())
    if lines > MODULE_LINES:
        yield Fault(MODULE_LINES + 1, f"module has {lines} lines, at most {MODULE_LINES} are allowed")


def functions_are_short(source: Source) -> Iterator[Fault]:
    """A function's body, without its docstring, fits on a screen."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body
            lines = (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0
            if lines > FUNCTION_LINES:
                yield Fault(node.lineno, f"{node.name} has {lines} body lines, at most {FUNCTION_LINES} are allowed")


def randomness_has_one_door(source: Source) -> Iterator[Fault]:
    """Only the randomness layer knows NumPy's and Python's generators."""
    if source.layer == "randomness":
        return
    for line, name in imports(source):
        if name.split(".")[0] == "random" or name.split(".")[:2] == ["numpy", "random"]:
            yield Fault(line, f"imports {name}; randomness comes from deniable.randomness")
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Attribute) and ast.unparse(node) in ("np.random", "numpy.random"):
            yield Fault(node.lineno, "uses np.random; randomness comes from deniable.randomness")


def nothing_is_unfinished(source: Source) -> Iterator[Fault]:
    """No stubs, no swallowed errors, no notes of things to do."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Raise) and node.exc and "NotImplementedError" in ast.unparse(node.exc):
            yield Fault(node.lineno, "raises NotImplementedError")
        elif isinstance(node, ast.ExceptHandler) and all(is_empty(statement) for statement in node.body):
            yield Fault(node.lineno, "an error is caught and dropped; say why with contextlib.suppress")
    for number, line in enumerate(source.text.splitlines(), start=1):
        if re.search(r"\b(TODO|FIXME)\b", line):
            yield Fault(number, line.strip())


def is_empty(statement: ast.stmt) -> bool:
    """Whether it is `pass` or a bare constant such as `...`."""
    return isinstance(statement, ast.Pass) or (
        isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    )


RULES: tuple[Rule, ...] = (
    points_upwards,
    families_keep_apart,
    roles_keep_order,
    client_is_plain,
    module_is_short,
    functions_are_short,
    randomness_has_one_door,
    nothing_is_unfinished,
)


def read(path: Path) -> Source:
    """The module in a file below one of the SOURCES."""
    base = next(base for base in SOURCES if path.is_relative_to(base))
    parts = path.relative_to(base).with_suffix("").parts
    is_package = parts[-1] == "__init__"
    return Source(".".join(parts[:-1] if is_package else parts), is_package, path.read_text("utf-8"))


PATHS = sorted(path for base in SOURCES for path in base.rglob("*.py"))


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_source_keeps_the_rule(path: Path, rule: Rule) -> None:
    faults = [f"{path.relative_to(ROOT)}:{line}: {what}" for line, what in rule(read(path))]
    assert not faults, "\n" + "\n".join(faults)


def test_both_packages_are_looked_at() -> None:
    assert {read(path).module.partition(".")[0] for path in PATHS} == {"deniable", "deniable_client"}


LONG_FUNCTION = "def f():\n    '''Doc.'''\n" + "    x = 1\n"


@pytest.mark.parametrize(
    ("rule", "module", "text", "line"),
    [
        (points_upwards, "deniable.core.x", "import math\nfrom deniable.audit import y", 2),
        (points_upwards, "deniable.core.x", "from deniable import audit", 1),
        (points_upwards, "deniable.core.x", "import deniable.audit.exact as e", 1),
        (points_upwards, "deniable.core.x", "from ..audit import y", 1),
        (points_upwards, "deniable.core.x", "from .. import audit", 1),
        (points_upwards, "deniable.core.x", "def f():\n    from deniable.mechanisms.frequency.grr import GRR", 2),
        (points_upwards, "deniable.run.x", "import deniable as dn", 1),
        (points_upwards, "deniable.run.x", "from deniable import mechanism", 1),
        (points_upwards, "deniable_client.x", "import deniable.errors", 1),
        (points_upwards, "deniable.unheard", "", 1),
        (points_upwards, "deniable.mechanisms.support", "from deniable.mechanisms.frequency.grr import GRR", 1),
        (points_upwards, "deniable.mechanisms.utility.x", "from deniable.mechanisms import registry", 1),
        (families_keep_apart, "deniable.mechanisms.metric.x", "from deniable.mechanisms.frequency import grr", 1),
        (families_keep_apart, "deniable.mechanisms.utility.x", "import deniable.mechanisms.personal.base", 1),
        (roles_keep_order, "deniable.mechanisms.utility.laws", "from deniable.mechanisms.utility.base import U", 1),
        (roles_keep_order, "deniable.mechanisms.personal.em", "from deniable.mechanisms.personal.base import P", 1),
        (client_is_plain, "deniable_client.x", "import os\nimport numpy", 2),
        (client_is_plain, "deniable_client.x", "from deniable.errors import y", 1),
        (module_is_short, "deniable.core.x", "\n" * (MODULE_LINES + 1), MODULE_LINES + 1),
        (functions_are_short, "deniable.core.x", LONG_FUNCTION + "    x = 1\n" * FUNCTION_LINES, 1),
        (randomness_has_one_door, "deniable.core.x", "import random", 1),
        (randomness_has_one_door, "deniable.core.x", "from random import choice", 1),
        (randomness_has_one_door, "deniable.core.x", "from numpy import random", 1),
        (randomness_has_one_door, "deniable.core.x", "from numpy.random import default_rng", 1),
        (randomness_has_one_door, "deniable.core.x", "import numpy as np\nnp.random.default_rng()", 2),
        (nothing_is_unfinished, "deniable.core.x", "raise NotImplementedError", 1),
        (nothing_is_unfinished, "deniable.core.x", "raise NotImplementedError('later')", 1),
        (nothing_is_unfinished, "deniable.core.x", "try:\n    f()\nexcept ValueError:\n    pass", 3),
        (nothing_is_unfinished, "deniable.core.x", "x = 1  # " + "TO" + "DO: more", 1),
    ],
)
def test_rule_finds_the_fault(rule: Rule, module: str, text: str, line: int) -> None:
    assert [fault.line for fault in rule(Source(module, False, text))] == [line]


@pytest.mark.parametrize(
    ("rule", "module", "text"),
    [
        (
            points_upwards,
            "deniable.audit.x",
            "from deniable.core import y\nfrom . import z\nfrom .w import v",
        ),
        (points_upwards, "deniable.present.x", "import deniable.datasets"),
        (points_upwards, "deniable.cli.x", "import deniable as dn\nfrom deniable import run"),
        (points_upwards, "deniable.errors", "from deniable_client.errors import y"),
        (points_upwards, "deniable", "from deniable.cli import main"),
        (families_keep_apart, "deniable.mechanisms.utility.x", "from deniable.mechanisms.frequency import grr"),
        (roles_keep_order, "deniable.mechanisms.utility.estimate", "from deniable.mechanisms.utility.laws import L"),
        (client_is_plain, "deniable_client.x", "import os\nfrom deniable_client.words import Words"),
        (client_is_plain, "deniable.core.x", "import numpy"),
        (module_is_short, "deniable.core.x", "\n" * MODULE_LINES),
        (functions_are_short, "deniable.core.x", LONG_FUNCTION + "    x = 1\n" * (FUNCTION_LINES - 1)),
        (randomness_has_one_door, "deniable.randomness", "import numpy as np\nnp.random.default_rng()"),
        (randomness_has_one_door, "deniable.core.x", "from deniable import randomness"),
        (nothing_is_unfinished, "deniable.core.x", "try:\n    f()\nexcept NotImplementedError:\n    g()"),
    ],
)
def test_rule_lets_good_code_pass(rule: Rule, module: str, text: str) -> None:
    assert list(rule(Source(module, False, text))) == []


def test_relative_imports_of_a_package_start_at_itself() -> None:
    source = Source("deniable.core", True, "from .support import Support\nfrom ..audit import exact")
    assert [name for _, name in imports(source)] == ["deniable.core.support.Support", "deniable.audit.exact"]
