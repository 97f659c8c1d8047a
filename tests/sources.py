"""How our own sources are read: modules, what they import and use, and classes with what they inherit."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
SOURCES = (ROOT / "clients/python/src", ROOT / "src")
READERS = ("tests", "examples", "benchmarks")
"""Folders of code that uses our own and is not judged here."""
PATHS = sorted(path for base in SOURCES for path in base.rglob("*.py"))
FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)


class Source(NamedTuple):
    """One module: its dotted name, whether it is a package's __init__, and its text."""

    module: str
    is_package: bool
    text: str

    @property
    def tree(self) -> ast.Module:
        return parsed(self.text)

    @property
    def nodes(self) -> tuple[ast.AST, ...]:
        """All nodes of the tree."""
        return walked(self.text)

    @classmethod
    def at(cls, path: Path, text: str) -> Source:
        """The module at a path below a folder of sources."""
        parts = path.with_suffix("").parts
        is_package = parts[-1] == "__init__"
        return cls(".".join(parts[:-1] if is_package else parts), is_package, text)

    @property
    def path(self) -> str:
        """Where it is below the folder of sources."""
        return f"{self.module.replace('.', '/')}{'/__init__' * self.is_package}.py"

    @property
    def ours(self) -> bool:
        """Whether it is one of the sources, and not one of their readers."""
        return self.module.partition(".")[0] in ("deniable", "deniable_client")


Tree = Mapping[str, Source]
"""All modules by their names, with those of the readers."""


@cache
def parsed(text: str) -> ast.Module:
    """The tree of a text: many rules look at the same one."""
    return ast.parse(text)


@cache
def walked(text: str) -> tuple[ast.AST, ...]:
    """All nodes of the tree of a text, for the same reason."""
    return tuple(ast.walk(parsed(text)))


def read(path: Path) -> Source:
    """The module in a file below one of the SOURCES, or below the root for readers."""
    base = next((base for base in SOURCES if path.is_relative_to(base)), ROOT)
    return Source.at(path.relative_to(base), path.read_text("utf-8"))


@cache
def imports(source: Source) -> tuple[tuple[int, str], ...]:
    """Line and absolute dotted name of each import; for `from a import b` that is `a.b`."""
    nodes = (node for node in source.nodes if isinstance(node, ast.Import | ast.ImportFrom))
    return tuple((node.lineno, name) for node in nodes for name in imported(source, node))


def imported(source: Source, node: ast.Import | ast.ImportFrom) -> list[str]:
    """The absolute dotted names of one import."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    package = source.module.split(".") if source.is_package else source.module.split(".")[:-1]
    parts = package[: len(package) - node.level + 1] if node.level else []
    parts += node.module.split(".") if node.module else []
    return [".".join([*parts, alias.name]) for alias in node.names]


@cache
def known_names(source: Source) -> Mapping[str, str]:
    """What the names that a module imports stand for."""
    names = {}
    for node in source.nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            for alias, name in zip(node.names, imported(source, node), strict=True):
                whole = bool(alias.asname) or isinstance(node, ast.ImportFrom)
                names[alias.asname or alias.name.partition(".")[0]] = name if whole else name.partition(".")[0]
    return names


@cache
def all_names(source: Source) -> Mapping[str, str]:
    """What the names of a module stand for: imported ones, and those that it makes itself."""
    made = [node.name for node in source.tree.body if isinstance(node, (ast.ClassDef, *FUNCTION))]
    own = {name: f"{source.module}.{name}" for name in (*assigned(source), *made)}
    return {**known_names(source), **own}


def dotted(node: ast.expr, names: Mapping[str, str]) -> str:
    """The dotted name that an expression such as `module.Class[int]` stands for, or nothing."""
    if isinstance(node, ast.Subscript):
        return dotted(node.value, names)
    if isinstance(node, ast.Attribute):
        before = dotted(node.value, names)
        return before and f"{before}.{node.attr}"
    return names.get(node.id, "") if isinstance(node, ast.Name) else ""


def used(source: Source) -> set[str]:
    """The dotted names that a module imports, or reaches through modules that it imports, also those in a list."""
    names, nodes = known_names(source), source.nodes
    attributes = [node for node in nodes if isinstance(node, ast.Attribute)]
    rows = (node.elts for node in nodes if isinstance(node, ast.Tuple | ast.List))
    in_lists = {dotted(node, names) for row in rows for node in row if isinstance(node, ast.Name)}
    return {
        *(name for _, name in imports(source)),
        *(dotted(node, names) for node in attributes),
        *(f"{name}.{node.attr}" for name in in_lists for node in attributes),
    }


def targets(node: ast.stmt) -> list[str]:
    """The plain names that a statement assigns to."""
    if not isinstance(node, ast.Assign | ast.AnnAssign):
        return []
    places = node.targets if isinstance(node, ast.Assign) else [node.target]
    return [place.id for place in places if isinstance(place, ast.Name)]


def assigned(source: Source) -> set[str]:
    """The names that a module gives to values."""
    return {name for node in source.tree.body for name in targets(node)}


def listed(source: Source) -> dict[str, int]:
    """The names in a module's `__all__`, with their lines."""
    lists = (node.value for node in source.tree.body if isinstance(node, ast.Assign) and "__all__" in targets(node))
    names = (name for values in lists if isinstance(values, ast.List | ast.Tuple) for name in values.elts)
    return {name.value: name.lineno for name in names if isinstance(name, ast.Constant)}


def is_empty(statement: ast.stmt) -> bool:
    """Whether it is `pass` or a bare constant such as `...`."""
    return isinstance(statement, ast.Pass) or (
        isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    )


def within(node: ast.stmt, line: int) -> bool:
    """Whether a statement has this line."""
    return node.lineno <= line <= (node.end_lineno or 0)


def explained(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a function has a docstring or, private or set for a property that has one, needs none."""
    marks = {ast.unparse(mark).rpartition(".")[2] for mark in node.decorator_list}
    return node.name[0] == "_" or bool(ast.get_docstring(node)) or bool(marks & {"setter", "overload"})


def explained_in(source: Source) -> set[str]:
    """The functions of a module that have docstrings."""
    return {node.name for node in source.tree.body if isinstance(node, FUNCTION) and ast.get_docstring(node)}


def functions_in(source: Source) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    """All functions of a module, at any depth."""
    return [node for node in source.nodes if isinstance(node, FUNCTION)]


def body_lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of a function's body without its docstring."""
    body = node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


def says_see(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a docstring only points to another one, and the function has a body that could stand without."""
    return len(node.body) > 1 and re.fullmatch(r"See `[^`]+`\.?", ast.get_docstring(node) or "") is not None


class Class(NamedTuple):
    """A class with its module, its bases among our own classes, and the functions in its body."""

    source: Source
    node: ast.ClassDef
    bases: tuple[str, ...]

    @property
    def functions(self) -> dict[str, ast.FunctionDef | ast.AsyncFunctionDef]:
        return {node.name: node for node in self.node.body if isinstance(node, FUNCTION)}

    @property
    def members(self) -> set[str]:
        """The names of its functions and its fields."""
        return {*self.functions, *(name for node in self.node.body for name in targets(node))}

    @property
    def is_protocol(self) -> bool:
        return any(ast.unparse(base).startswith("Protocol") for base in self.node.bases)


def classes(tree: Tree) -> dict[str, Class]:
    """Our own classes by their dotted names."""
    found = {}
    for source in tree.values():
        nodes = [node for node in source.tree.body if isinstance(node, ast.ClassDef)] if source.ours else []
        for node in nodes:
            bases = (home(dotted(base, all_names(source)), tree) for base in node.bases)
            found[f"{source.module}.{node.name}"] = Class(source, node, tuple(base for base in bases if base))
    return {name: made._replace(bases=tuple(b for b in made.bases if b in found)) for name, made in found.items()}


def home(name: str, tree: Tree) -> str:
    """Where a name was made that modules may have passed on."""
    module, _, last = name.rpartition(".")
    passed = known_names(tree[module]).get(last, name) if module in tree else name
    return name if passed == name else home(passed, tree)


def chain(name: str, known: Mapping[str, Class]) -> list[str]:
    """A class and all that it inherits from, its own name first."""
    return [name, *(above for base in known[name].bases for above in chain(base, known))]


def all_functions(name: str, known: Mapping[str, Class]) -> set[str]:
    """The functions of a class, inherited ones included."""
    return {function for step in chain(name, known) for function in known[step].functions}


def depth(name: str, known: Mapping[str, Class]) -> int:
    """How many classes stand above each other, the class itself included."""
    return 1 + max((depth(base, known) for base in known[name].bases), default=0)


def filled_by(name: str, known: Mapping[str, Class]) -> list[str]:
    """The protocols that a class fills in: it has all of their functions, or fields in their place."""
    members = {member for step in chain(name, known) for member in known[step].members}
    return [p for p, made in known.items() if made.is_protocol and made.functions and {*made.functions} <= members]
