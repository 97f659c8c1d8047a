"""The shape of the sources: layers, sizes, and words that must not be there."""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import pytest

from sources import (
    FUNCTION,
    PATHS,
    READERS,
    ROOT,
    Source,
    Tree,
    all_functions,
    assigned,
    body_lines,
    chain,
    classes,
    depth,
    explained,
    explained_in,
    filled_by,
    functions_in,
    imports,
    is_empty,
    listed,
    read,
    says_see,
    targets,
    used,
    within,
)

# A module may import from its own layer or from an earlier one; layers on one line are on a par. A dotted layer is a
# part of the one before the dot; what is left of `mechanisms` is the contract that all families keep.
ORDER = (
    ("deniable_client",),
    ("errors",),
    ("core",),
    ("randomness",),
    ("kernels",),
    ("collect", "present"),
    ("estimate",),
    ("mechanisms",),
    ("mechanisms.frequency", "mechanisms.metric", "mechanisms.optimal"),
    ("mechanisms.utility", "mechanisms.keyvalue", "mechanisms.numeric", "mechanisms.ordinal"),
    ("mechanisms.personal",),
    ("mechanisms.dealt",),
    ("mechanisms.survey",),
    ("mechanisms.registry",),
    ("datasets",),
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
FAMILIES = ("frequency", "utility", "personal", "keyvalue", "metric", "numeric", "optimal", "ordinal", "survey")
TRANSFORMS = ("dealt",)
"""Rooms for what makes a mechanism of mechanisms of any family; they have no rows."""
MAY = {
    "optimal": {"metric"},
    "utility": {"frequency", "optimal"},
    "keyvalue": {"frequency"},
    "personal": {"frequency", "utility", "optimal"},
    "survey": {"frequency"},
}
"""Which families a family may build on; any other import between families is a fault."""
QUESTIONS = {
    "frequency": {"frequency", "utility", "personal", "optimal"},
    "keyvalue": {"keyvalue"},
    "mean": {"numeric"},
    "direction": {"numeric"},
    "range": {"ordinal"},
    "release": {"metric"},
    "survey": {"survey", "ordinal"},
}
"""The families that answer a question: its modules in `plan` and `run.studies` may know them, and no other."""
MODULE_LINES = 600
FUNCTION_LINES = 60
FOLDER_FILES = 20
SERVICE_FILES = 14
"""In a folder of the collector, which grows with every job that it learns."""
CLASS_DEPTH = 3
CLASS_FUNCTIONS = 50
"""Functions of a class, inherited ones included."""
OWN_FUNCTIONS = {"deniable.mechanisms.base.Mechanism": 25}
"""Functions of a class, without inherited ones."""


class Fault(NamedTuple):
    """What is wrong on which line."""

    line: int
    what: str


Rule = Callable[[Source], Iterator[Fault]]
Found = tuple[str, Fault]
"""A module and what is wrong in it."""
TreeRule = Callable[[Tree], Iterator[Found]]


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


def target_layer(name: str) -> str:
    """The layer an imported name belongs to; `deniable.x` with no layer x is the package itself."""
    layer = layer_of(name)
    return layer if layer in RANK else name.partition(".")[0]


def points_upwards(source: Source) -> Iterator[Fault]:
    """Imports of our own code go to the same or an earlier layer."""
    if source.module == "deniable":
        return
    if layer_of(source.module) not in RANK:
        yield Fault(1, f"{source.module} is in no layer; give it its place in ORDER")
        return
    for line, name in imports(source):
        layer = target_layer(name)
        if layer in RANK and RANK[layer] > RANK[layer_of(source.module)]:
            yield Fault(line, f"layer {layer_of(source.module)} imports {name} of the later layer {layer}")


def families_keep_apart(source: Source) -> Iterator[Fault]:
    """A family builds on the families that MAY names, and on no other."""
    own = family_of(source.module)
    for line, name in imports(source):
        other = family_of(name)
        if own and other and own != other and other not in MAY.get(own, set()):
            yield Fault(line, f"family {own} imports {name} of family {other}")


LAWS = ("laws", "lattice_laws", "sensitive_laws")
ESTIMATORS = ("estimate", "mixture_estimate", "em")


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


def tables_are_whole(source: Source) -> Iterator[Fault]:
    """The table of a family has its rows; its options say, before that is loaded, which rows and which options."""
    if family_of(source.module):
        wanted = {"table": ("ROWS",), "options": ("NAMES", "OPTIONS")}.get(role_of(source.module), ())
        yield from (Fault(1, f"no {name}") for name in wanted if name not in assigned(source))


def tables_have_one_reader(source: Source) -> Iterator[Fault]:
    """The tables of the families are for the registry, and everybody else asks that."""
    for line, name in imports(source):
        if family_of(name) and role_of(name) == "table" and source.module != "deniable.mechanisms.registry":
            yield Fault(line, f"imports {name}; ask deniable.mechanisms.registry")


def questions_know_their_families(source: Source) -> Iterator[Fault]:
    """Above the registry a family is known to the questions that it answers, and files of its data to `run.inputs`."""
    if layer_of(source.module) not in ("cli", "present", "audit", "testing", "plan", "run", "service", "datasets"):
        return
    for line, name in imports(source):
        if family_of(name) and not may_know(source.module, name):
            yield Fault(line, f"{source.module} imports {name} of family {family_of(name)}")


def may_know(module: str, name: str) -> bool:
    """Whether a module above the registry may import this name of a family."""
    if module == "deniable.run.inputs":
        return (family_of(name), role_of(name)) in {("keyvalue", "pairs"), ("personal", "levels")}
    question = re.fullmatch(r"deniable\.(?:plan|run\.studies)\.(\w+)", module)
    return question is not None and family_of(name) in QUESTIONS.get(question[1], set())


def leaves_stay_leaves(source: Source) -> Iterator[Fault]:
    """Papers are read by the command that reproduces them, and what is learned from reports by the papers."""
    for line, name in imports(source):
        layer = target_layer(name)
        if layer == "papers" and layer_of(source.module) != layer and reader_of(source, line) != ("cli", "reproduce"):
            yield Fault(line, f"imports {name}; only the command `reproduce` does")
        if layer == "learn" and layer_of(source.module) not in (layer, "papers"):
            yield Fault(line, f"imports {name}; only papers do")


def reader_of(source: Source, line: int) -> tuple[str, str]:
    """The layer, and the function that this line is in."""
    around = (node.name for node in source.tree.body if isinstance(node, FUNCTION) and within(node, line))
    return layer_of(source.module), next(around, "")


def docstrings_say_something(source: Source) -> Iterator[Fault]:
    """An override that has nothing to add has no docstring: readers and tools find the one it inherits.

    Where the docstring is the whole body, as in an abstract method that narrows a type, it stays.
    """
    for node in filter(says_see, functions_in(source)):
        yield Fault(node.lineno, f"{node.name}: {ast.get_docstring(node)}")


def modules_have_content(source: Source) -> Iterator[Fault]:
    """No module only passes names on; the face of a package, its __init__.py, may."""
    passes = any(isinstance(node, ast.Import | ast.ImportFrom) for node in source.tree.body)
    others = (node for node in source.tree.body if not isinstance(node, ast.Import | ast.ImportFrom))
    if passes and not source.is_package and all(is_empty(node) or "__all__" in targets(node) for node in others):
        yield Fault(1, f"{source.module} only passes names on; import them from where they are made")


def client_is_plain(source: Source) -> Iterator[Fault]:
    """The client needs nothing but the standard library."""
    if layer_of(source.module) != "deniable_client":
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
    for node in functions_in(source):
        if (lines := body_lines(node)) > FUNCTION_LINES:
            yield Fault(node.lineno, f"{node.name} has {lines} body lines, at most {FUNCTION_LINES} are allowed")


def randomness_has_one_door(source: Source) -> Iterator[Fault]:
    """Only the randomness layer knows NumPy's and Python's generators."""
    if layer_of(source.module) == "randomness":
        return
    for line, name in imports(source):
        if name.split(".")[0] == "random" or name.split(".")[:2] == ["numpy", "random"]:
            yield Fault(line, f"imports {name}; randomness comes from deniable.randomness")
    for node in source.nodes:
        if isinstance(node, ast.Attribute) and ast.unparse(node) in ("np.random", "numpy.random"):
            yield Fault(node.lineno, "uses np.random; randomness comes from deniable.randomness")


def nothing_is_unfinished(source: Source) -> Iterator[Fault]:
    """No stubs, no swallowed errors, no notes of things to do."""
    for node in source.nodes:
        if isinstance(node, ast.Raise) and node.exc and "NotImplementedError" in ast.unparse(node.exc):
            yield Fault(node.lineno, "raises NotImplementedError")
        elif isinstance(node, ast.ExceptHandler) and all(is_empty(statement) for statement in node.body):
            yield Fault(node.lineno, "an error is caught and dropped; say why with contextlib.suppress")
    for number, line in enumerate(source.text.splitlines(), start=1):
        if re.search(r"\b(TODO|FIXME)\b", line):
            yield Fault(number, line.strip())


# ---- rules for all modules together


def inheritance_is_flat(tree: Tree) -> Iterator[Found]:
    """What a method does is found by looking at few classes."""
    known = classes(tree)
    for name, made in known.items():
        if depth(name, known) > CLASS_DEPTH:
            steps = " > ".join(step.rpartition(".")[2] for step in chain(name, known))
            yield made.source.module, Fault(made.node.lineno, f"{steps}: more than {CLASS_DEPTH} classes deep")


def classes_are_small(tree: Tree) -> Iterator[Found]:
    """A class has few functions, and with those it inherits still not many."""
    known = classes(tree)
    for name, made in known.items():
        own, most = len(made.functions), OWN_FUNCTIONS.get(name, CLASS_FUNCTIONS)
        every = len(all_functions(name, known))
        if own > most:
            yield made.source.module, Fault(made.node.lineno, f"{made.node.name} has {own} functions, at most {most}")
        elif every > CLASS_FUNCTIONS:
            what = f"{made.node.name} has {every} functions with inherited ones, at most {CLASS_FUNCTIONS}"
            yield made.source.module, Fault(made.node.lineno, what)


def folders_are_small(tree: Tree) -> Iterator[Found]:
    """A folder's list of files is read at a glance."""
    folders = Counter(s.module if s.is_package else s.module.rpartition(".")[0] for s in tree.values() if s.ours)
    for folder, files in folders.items():
        most = SERVICE_FILES if layer_of(folder) == "service" else FOLDER_FILES
        if files > most:
            yield folder, Fault(1, f"{files} files in one folder, at most {most}")


def families_have_tables(tree: Tree) -> Iterator[Found]:
    """Every family has its table, and every folder of `mechanisms` is a family, or a transform of all of them."""
    for source in tree.values():
        below = source.module.removeprefix("deniable.mechanisms.")
        if source.is_package and below != source.module and "." not in below:
            if below in TRANSFORMS:
                continue
            if below not in FAMILIES:
                yield source.module, Fault(1, f"{below} is no family; name it in FAMILIES")
            else:
                missing = [part for part in ("table", "options") if f"{source.module}.{part}" not in tree]
                yield from ((source.module, Fault(1, f"family {below} has no {part}.py")) for part in missing)


def names_have_users(tree: Tree) -> Iterator[Found]:
    """What a module lists in `__all__` is used by another one, or by the tests. Faces of packages are for outsiders."""
    uses = {source.module: used(source) for source in tree.values()}
    users = Counter(name for names in uses.values() for name in names)
    for source in tree.values():
        for name, line in listed(source).items() if source.ours and not source.is_package else ():
            full = f"{source.module}.{name}"
            if users[full] == (full in uses[source.module]):
                yield source.module, Fault(line, f"nobody but {source.module} uses {name}")


def public_names_are_explained(tree: Tree) -> Iterator[Found]:
    """Public functions, classes and methods have docstrings, unless what they override or fill in has one."""
    known = classes(tree)
    for source in tree.values():
        twin = tree.get("deniable.kernels.reference" if ".kernels.compiled." in source.module else source.module)
        for node in source.tree.body if source.ours else ():
            if isinstance(node, FUNCTION) and not explained(node) and not (twin and node.name in explained_in(twin)):
                yield source.module, Fault(node.lineno, f"{node.name} has no docstring")
    for name, made in known.items():
        if made.node.name[0] == "_":
            continue
        if not ast.get_docstring(made.node):
            yield made.source.module, Fault(made.node.lineno, f"{made.node.name} has no docstring")
        above = [*chain(name, known)[1:], *filled_by(name, known)]
        said = {function for step in above for function, node in known[step].functions.items() if explained(node)}
        for function, node in made.functions.items():
            if not explained(node) and function not in said:
                yield made.source.module, Fault(node.lineno, f"{made.node.name}.{function} has no docstring")


RULES: tuple[Rule, ...] = (
    points_upwards,
    families_keep_apart,
    roles_keep_order,
    tables_are_whole,
    tables_have_one_reader,
    questions_know_their_families,
    leaves_stay_leaves,
    client_is_plain,
    module_is_short,
    functions_are_short,
    docstrings_say_something,
    modules_have_content,
    randomness_has_one_door,
    nothing_is_unfinished,
)
TREE_RULES: tuple[TreeRule, ...] = (
    folders_are_small,
    families_have_tables,
    inheritance_is_flat,
    classes_are_small,
    names_have_users,
    public_names_are_explained,
)


def test_sources_keep_the_rules() -> None:
    """All rules in one test, each source by itself and all together: processes that share tests read them once."""
    readers = (path for folder in READERS for path in (ROOT / folder).rglob("*.py"))
    own = {path: read(path) for path in PATHS}
    whole = {source.module: source for source in (*own.values(), *map(read, readers))}
    faults = [
        f"{rule.__name__}: {path.relative_to(ROOT)}:{line}: {what}"
        for rule in RULES
        for path, source in own.items()
        for line, what in rule(source)
    ]
    faults += [
        f"{rule.__name__}: {module}:{line}: {what}" for rule in TREE_RULES for module, (line, what) in rule(whole)
    ]
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
        (tables_are_whole, "deniable.mechanisms.metric.table", "OPTIONS: dict = {}", 1),
        (tables_are_whole, "deniable.mechanisms.metric.options", "NAMES = {}", 1),
        (tables_are_whole, "deniable.mechanisms.metric.options", "OPTIONS: dict = {}", 1),
        (tables_have_one_reader, "deniable.cli.x", "from deniable.mechanisms.metric import table", 1),
        (tables_have_one_reader, "deniable.mechanisms.metric.x", "from .table import ROWS", 1),
        (questions_know_their_families, "deniable.cli.x", "from deniable.mechanisms.frequency.grr import GRR", 1),
        (questions_know_their_families, "deniable.audit.x", "import deniable.mechanisms.metric.base", 1),
        (questions_know_their_families, "deniable.plan.mean", "from deniable.mechanisms.metric import base", 1),
        (questions_know_their_families, "deniable.plan.answer", "from deniable.mechanisms.frequency import grr", 1),
        (questions_know_their_families, "deniable.run.studies.release", "import deniable.mechanisms.numeric.laws", 1),
        (questions_know_their_families, "deniable.run.inputs", "import deniable.mechanisms.keyvalue.base", 1),
        (leaves_stay_leaves, "deniable.run.x", "from deniable.papers.paper import Paper", 1),
        (leaves_stay_leaves, "deniable.cli.x", "def simulate():\n    from deniable.papers import runner", 2),
        (leaves_stay_leaves, "deniable.testing.x", "import deniable.learn.sgd", 1),
        (docstrings_say_something, "deniable.core.x", "class A:\n    def f():\n        'See `B.f`.'\n        g()", 2),
        (modules_have_content, "deniable.core.x", "'Doc.'\nfrom deniable.core.y import z\n__all__ = ['z']", 1),
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
        (points_upwards, "deniable.present.x", "import deniable.collect.files"),
        (points_upwards, "deniable.cli.x", "import deniable as dn\nfrom deniable import run"),
        (points_upwards, "deniable.errors", "from deniable_client.errors import y"),
        (points_upwards, "deniable", "from deniable.cli import main"),
        (families_keep_apart, "deniable.mechanisms.utility.x", "from deniable.mechanisms.frequency import grr"),
        (roles_keep_order, "deniable.mechanisms.utility.estimate", "from deniable.mechanisms.utility.laws import L"),
        (tables_are_whole, "deniable.mechanisms.metric.table", "ROWS: dict = {}"),
        (tables_are_whole, "deniable.mechanisms.metric.options", "OPTIONS: dict = {}\nNAMES = {}"),
        (tables_are_whole, "deniable.mechanisms.metric.tables", "x = 1"),
        (
            tables_have_one_reader,
            "deniable.mechanisms.registry",
            "from deniable.mechanisms.metric import table as metric",
        ),
        (tables_have_one_reader, "deniable.cli.x", "from deniable.mechanisms.metric import tables"),
        (questions_know_their_families, "deniable.plan.mean", "from deniable.mechanisms.numeric.base import Numeric"),
        (questions_know_their_families, "deniable.run.studies.frequency", "import deniable.mechanisms.utility.base"),
        (
            questions_know_their_families,
            "deniable.run.inputs",
            "from deniable.mechanisms.personal.levels import listed",
        ),
        (questions_know_their_families, "deniable.cli.x", "from deniable.mechanisms.registry import mechanism"),
        (questions_know_their_families, "deniable.papers.x", "from deniable.mechanisms.metric.brr import BRR"),
        (leaves_stay_leaves, "deniable.cli.x", "def reproduce():\n    from deniable.papers import runner"),
        (leaves_stay_leaves, "deniable.papers.brr.x", "from deniable.learn import sgd\nimport deniable.papers.paper"),
        (docstrings_say_something, "deniable.core.x", "def f():\n    'See `B.f`: with more.'\n    g()"),
        (docstrings_say_something, "deniable.core.x", "def f():\n    'See `B.f`.'"),
        (modules_have_content, "deniable.core.x", "from deniable.core.y import z\n__all__ = ['z', 'x']\nx = z"),
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


def tree_of(texts: Mapping[str, str]) -> Tree:
    """Modules by their names; one that has others below it is a package."""
    packages = {name for name in texts for other in texts if other.startswith(f"{name}.")}
    return {name: Source(name, name in packages, text) for name, text in texts.items()}


X, Y, Z = "deniable.core.x", "deniable.core.y", "deniable.core.z"
BASE, NEW, METRIC = (f"deniable.mechanisms.{name}" for name in ("base", "new", "metric"))
ONE = "class {}:\n    'Doc.'\n    def {}(self): {}\n"
LINE = "class A: 'Doc.'\nclass B(A): 'Doc.'\nclass C(B): 'Doc.'\n"
FULL = "class A:\n" + "".join(f"    def f{i}(self): 'Doc.'\n" for i in range(CLASS_FUNCTIONS))
PROTOCOL = ONE.format("P(Protocol)", "f", "'Doc.'") + "    def g(self): 'Doc.'\n"


@pytest.mark.parametrize(
    ("rule", "texts", "where"),
    [
        (inheritance_is_flat, {X: LINE + "class D(C): 'Doc.'"}, (X, 4)),
        (inheritance_is_flat, {X: LINE, Y: "from deniable.core import x as z\nclass D(z.C[int]): 'Doc.'"}, (Y, 2)),
        (inheritance_is_flat, {X: LINE, Y: "from .x import C", Z: "from .y import C\nclass D(C): 'Doc.'"}, (Z, 2)),
        (classes_are_small, {X: FULL + "    def more(self): 'Doc.'"}, (X, 1)),
        (classes_are_small, {X: FULL, Y: "from .x import A\n" + ONE.format("B(A)", "more", "'Doc.'")}, (Y, 2)),
        (classes_are_small, {BASE: FULL.replace("A", "Mechanism", 1)}, (BASE, 1)),
        (folders_are_small, {f"{X}{i}": "" for i in range(FOLDER_FILES + 1)}, ("deniable.core", 1)),
        (
            folders_are_small,
            {f"deniable.service.store.x{i}": "" for i in range(SERVICE_FILES + 1)},
            ("deniable.service.store", 1),
        ),
        (families_have_tables, {METRIC: "", f"{METRIC}.options": ""}, (METRIC, 1)),
        (families_have_tables, {METRIC: "", f"{METRIC}.table": ""}, (METRIC, 1)),
        (families_have_tables, {NEW: "", f"{NEW}.table": ""}, (NEW, 1)),
        (names_have_users, {X: "__all__ = ['a']\na = 1", Y: "a = 1"}, (X, 1)),
        (names_have_users, {X: f"import {X}\n__all__ = [\n    'a',\n]\na = {X}.a"}, (X, 3)),
        (public_names_are_explained, {X: "def f(): g()\ndef _g(): f()"}, (X, 1)),
        (public_names_are_explained, {X: ONE.format("A", "f", "g()")}, (X, 3)),
        (public_names_are_explained, {X: "class A: pass"}, (X, 1)),
        (public_names_are_explained, {X: PROTOCOL, Y: ONE.format("A", "f", "g()")}, (Y, 3)),
    ],
)
def test_rule_for_all_finds_the_fault(rule: TreeRule, texts: dict[str, str], where: tuple[str, int]) -> None:
    assert [(module, fault.line) for module, fault in rule(tree_of(texts))] == [where]


@pytest.mark.parametrize(
    ("rule", "texts"),
    [
        (inheritance_is_flat, {X: LINE}),
        (inheritance_is_flat, {X: LINE, Y: "from elsewhere import C\nclass D(C): 'Doc.'"}),
        (classes_are_small, {X: FULL + ONE.format("B(A)", "f1", "'Doc.'")}),
        (folders_are_small, {f"{X}{i}": "" for i in range(FOLDER_FILES)} | {"deniable.collect.x": ""}),
        (families_have_tables, {METRIC: "", f"{METRIC}.table": "", f"{METRIC}.options": "", BASE: ""}),
        (names_have_users, {X: "__all__ = ['a']", "tests.core.test_x": f"from {X} import a"}),
        (names_have_users, {X: "__all__ = ['a']", Y: "from deniable.core import x\nx.a()"}),
        (names_have_users, {X: "__all__ = ['a']", Y: "from deniable.core import x, z\nfor one in (x, z): one.a()"}),
        (names_have_users, {"deniable.core": "__all__ = ['x']", X: ""}),
        (public_names_are_explained, {X: ONE.format("A", "f", "'Doc.'") + ONE.format("B(A)", "f", "g()")}),
        (public_names_are_explained, {X: PROTOCOL, Y: ONE.format("A", "f", "g()") + "    g: int"}),
        (
            public_names_are_explained,
            {"deniable.kernels.reference": "def f(): 'Doc.'", "deniable.kernels.compiled.x": "def f(): g()"},
        ),
        (public_names_are_explained, {"tests.test_x": "def f(): g()"}),
    ],
)
def test_rule_for_all_lets_good_code_pass(rule: TreeRule, texts: dict[str, str]) -> None:
    assert list(rule(tree_of(texts))) == []
