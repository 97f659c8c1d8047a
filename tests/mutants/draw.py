"""Draws small wrong changes of Python sources, with tests that reach them: a list of mutants to look through.

    pytest -p mutants.reach --reach-to DIR -m "not slow"
    python tests/mutants/draw.py --reach DIR --count 40 --seed 1 src/deniable/plan > tests/mutants/plan.toml
    python tests/mutants/draw.py --reach DIR --given mine.toml > folder/mine.toml; bin/mutate --lists folder

What is changed: a comparison, an operator, a number, a condition, an argument that is left out, a call that is left
out, the smaller for the larger. Tests are the quickest that reach the function, of as many files as fit. With `--given`
nothing is drawn: mutants that somebody wrote without looking at the tests get those that reach what they change.
"""

from __future__ import annotations

import argparse
import ast
import json
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from mutants.run import CLIENT, ROOT, SCRIPT, ListError, Mutant

Reached = dict[str, dict[str, list[list[object]]]]
"""What `mutants.reach` wrote: for each function and file of tests the quickest, each as [seconds, name]."""
SECONDS = 4.0
"""Of processor time for the tests of one mutant."""
MOST = 24
"""So many tests of one mutant."""
COMPARED: dict[type[ast.AST], str] = {
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.In: "not in",
    ast.NotIn: "in",
    ast.Is: "is not",
    ast.IsNot: "is",
}
JOINED: dict[type[ast.AST], str] = {
    ast.Add: "-",
    ast.Sub: "+",
    ast.Mult: "/",
    ast.Div: "*",
    ast.FloorDiv: "*",
    ast.Mod: "//",
    ast.Pow: "*",
    ast.LShift: ">>",
    ast.RShift: "<<",
    ast.BitOr: "&",
    ast.BitAnd: "|",
}
OTHER = {"min": "max", "max": "min", "any": "all", "all": "any", "ceil": "floor", "floor": "ceil"}


@dataclass(frozen=True)
class Change:
    """Columns of a source that get another text."""

    what: str
    node: ast.expr | ast.stmt
    new: str


def changes(tree: ast.AST) -> Iterator[tuple[str, Change]]:
    """All changes of a module's functions, with where the function begins ("line")."""
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            for part in function.body:
                for change in _within(part):
                    yield str(first_line(function)), change


def first_line(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Where its code begins: at its first decorator."""
    return min([function.lineno, *(each.lineno for each in function.decorator_list)])


def _within(part: ast.AST) -> Iterator[Change]:
    """Changes of a statement; functions inside it are gone through by themselves, texts of errors not at all."""
    if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Raise | ast.JoinedStr):
        return
    if isinstance(part, ast.expr | ast.stmt):
        yield from _changes(part)
    for name, inner in ast.iter_fields(part):
        if name in ("annotation", "returns"):
            continue
        for each in inner if isinstance(inner, list) else [inner]:
            if isinstance(each, ast.AST):
                yield from _within(each)


def _changes(part: ast.expr | ast.stmt) -> Iterator[Change]:
    match part:
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in COMPARED:
            yield Change("compare", part, f"{ast.unparse(left)} {COMPARED[type(op)]} {ast.unparse(right)}")
        case ast.BinOp(left=left, op=op, right=right) if type(op) in JOINED and not _is_text(left, right):
            yield Change("operator", part, f"({_held(left)} {JOINED[type(op)]} {_held(right)})")
        case ast.BoolOp(op=op, values=values):
            word = " or " if isinstance(op, ast.And) else " and "
            yield Change("logic", part, "(" + word.join(map(_held, values)) + ")")
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield Change("not", part, _held(operand))
        case ast.Constant(value=int() as value) if not isinstance(value, bool):
            yield Change("number", part, str(value + 1))
        case ast.Constant(value=bool() as value):
            yield Change("flag", part, str(not value))
        case ast.If(test=test):
            yield Change("never", test, "False")
        case ast.Expr(value=ast.Call()):
            yield Change("call", part, "pass")
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=args, keywords=keywords):
            if name in OTHER and args:
                changed = ast.unparse(part.func)[: -len(name)] + OTHER[name]
                yield Change("other", part.func, changed)
            for keyword in keywords:
                if keyword.arg is not None:
                    left = ast.Call(part.func, args, [each for each in keywords if each is not keyword])
                    yield Change("argument", part, ast.unparse(left))


def _held(part: ast.expr) -> str:
    simple = isinstance(part, ast.Name | ast.Constant | ast.Attribute | ast.Call | ast.Subscript)
    return ast.unparse(part) if simple else f"({ast.unparse(part)})"


def _is_text(*parts: ast.expr) -> bool:
    return any(isinstance(part, ast.JoinedStr | ast.List | ast.Tuple | ast.Set | ast.Dict) for part in parts) or any(
        isinstance(part, ast.Constant) and isinstance(part.value, str) for part in parts
    )


def written(source: str, change: Change) -> tuple[str, str] | None:
    """The old text, whole lines that stand there once, and the new one; None where that is long."""
    lines = source.splitlines(keepends=True)
    first, last = change.node.lineno - 1, (change.node.end_lineno or change.node.lineno) - 1
    start = change.node.col_offset
    end = change.node.end_col_offset or start
    head = lines[first].encode()[:start].decode()
    tail = lines[last].encode()[end:].decode()
    old, new = "".join(lines[first : last + 1]), head + change.new + tail
    while source.count(old) > 1 and first > 0:
        first -= 1
        old, new = lines[first] + old, lines[first] + new
    if source.count(old) != 1 or old.count("\n") > 8 or old == new:
        return None
    return old.rstrip("\n"), new.rstrip("\n")


def tests_of(reach: Reached, place: str) -> list[str]:
    """The quickest tests that reach a function, of one file after the other."""
    own = {name: list(tests) for name, tests in reach.get(place, {}).items()}
    found: list[str] = []
    spent = 0.0
    while any(own.values()) and len(found) < MOST:
        for _, name in sorted((float(str(tests[0][0])), name) for name, tests in own.items() if tests):
            seconds, test = own[name].pop(0)
            if spent + float(str(seconds)) <= SECONDS and "[" not in str(test).partition("::")[0]:
                spent += float(str(seconds))
                found.append(str(test))
            else:
                own[name].clear()
    return found


def drawn(paths: list[Path], reach: Reached, count: int, seed: int) -> list[Mutant]:
    """So many mutants of these files, at most one of a line."""
    every = []
    for path in paths:
        source, file = path.read_text("utf-8"), str(path.relative_to(ROOT))
        for first, change in changes(ast.parse(source)):
            if f"{file}:{first}" in reach:
                every.append((file, source, first, change))
    Random(seed).shuffle(every)
    found: dict[tuple[str, int], Mutant] = {}
    for file, source, first, change in every:
        where = (file, change.node.lineno)
        texts = written(source, change)
        tests = tests_of(reach, f"{file}:{first}")
        if where in found or texts is None or not tests:
            continue
        old = ast.get_source_segment(source, change.node) or ""
        told = f"`{' '.join(old.split())}` becomes `{' '.join(change.new.split())}`"
        name = f"{Path(file).parent.name}-{Path(file).stem}-{change.node.lineno}"
        mutant = Mutant(name, file, texts[0], texts[1], told, tuple(tests))
        try:
            mutant.text(ROOT)
        except ListError:
            continue
        found[where] = mutant
        if len(found) == count:
            break
    return sorted(found.values(), key=lambda mutant: (mutant.file, mutant.id))


def reached_by(path: Path, old: str, reach: Reached) -> list[str]:
    """The quickest tests that reach the innermost function around a text that any test reaches; outside of functions,
    those of any in the file. Scripts are tried by all tests of theirs.
    """
    file = str(path.relative_to(ROOT))
    if file.endswith(SCRIPT):
        return sorted(str(test.relative_to(ROOT)) for test in (ROOT / CLIENT / "test").glob(f"*.test{SCRIPT}"))
    source = path.read_text("utf-8")
    line = source[: source.find(old) + len(old.rstrip())].count("\n") + 1
    functions = [f for f in ast.walk(ast.parse(source)) if isinstance(f, ast.FunctionDef | ast.AsyncFunctionDef)]
    around = [f for f in functions if first_line(f) <= line <= (f.end_lineno or f.lineno)]
    for function in sorted(around, key=first_line, reverse=True):
        if tests := tests_of(reach, f"{file}:{first_line(function)}"):
            return tests
    return [] if around else sorted({t for f in functions for t in tests_of(reach, f"{file}:{first_line(f)}")})[:MOST]


def given(path: Path, reach: Reached) -> tuple[list[Mutant], list[str]]:
    """The mutants of a list, each with tests that reach it; and the names of those that none reaches."""
    found, unreached = [], []
    for group in tomllib.loads(path.read_text("utf-8"))["file"]:
        for row in group["mutant"]:
            tests = tuple(row.get("tests", ())) or tuple(reached_by(ROOT / group["path"], row["old"], reach))
            if tests:
                found.append(Mutant(row["id"], group["path"], row["old"], row["new"], row["breaks"], tests))
            else:
                unreached.append(row["id"])
    return found, unreached


def as_toml(mutants: list[Mutant]) -> str:
    """A list as `run.py` reads it."""
    lines: list[str] = []
    file = ""
    for mutant in mutants:
        if mutant.file != file:
            file = mutant.file
            lines += ["[[file]]", f"path = {json.dumps(file)}", ""]
        lines += ["[[file.mutant]]"]
        for name in ("id", "breaks", "old", "new"):
            lines.append(f"{name} = {json.dumps(getattr(mutant, name), ensure_ascii=False)}")
        lines += ["tests = [", *(f"    {json.dumps(test, ensure_ascii=False)}," for test in mutant.tests), "]", ""]
    return "\n".join(lines)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="*", type=Path, help="files or folders")
    parser.add_argument("--given", type=Path, metavar="LIST", help="draw none; tests for the mutants of this list")
    parser.add_argument("--reach", type=Path, required=True, help="the folder that mutants.reach wrote")
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    if bool(asked.paths) == bool(asked.given):
        parser.error("say files or folders to draw from, or --given LIST")
    reach: Reached = {}
    for path in sorted(asked.reach.glob("*.json")):
        for place, files in json.loads(path.read_text("utf-8")).items():
            for name, tests in files.items():
                own = reach.setdefault(place, {}).setdefault(name, [])
                own += tests
                own.sort()
    paths = [
        each.resolve() for path in asked.paths for each in (sorted(path.rglob("*.py")) if path.is_dir() else [path])
    ]
    if asked.given:
        mutants, unreached = given(asked.given, reach)
        print("".join(f"no test reaches {name}\n" for name in unreached), end="", file=sys.stderr)
    else:
        mutants = drawn(paths, reach, asked.count, asked.seed)
    print(as_toml(mutants))


if __name__ == "__main__":
    main()
