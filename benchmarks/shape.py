"""The shape of the sources, counted: sizes, folders, inheritance, questions about types; and what a change took away.

    python benchmarks/shape.py [--json] [--base REV] [--root FOLDER]

`--base` compares with a revision of git, `--root` looks at another checkout. A class is one of the *roles* if it is a
mechanism, a kernel, or a kernel in bulk: nobody should have to ask for those by their type.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import subprocess
import sys
import tarfile
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from sources import (
    FUNCTION,
    ROOT,
    SOURCES,
    Source,
    all_functions,
    all_names,
    body_lines,
    chain,
    classes,
    depth,
    dotted,
    functions_in,
    home,
    says_see,
    targets,
)

FOLDERS = tuple(base.relative_to(ROOT).as_posix() for base in SOURCES)
ROLES = ("Mechanism", "Bulk", "Law")
"""Classes that stand for mechanisms and kernels in bulk, with all that inherit from them; `Law` is an old name."""
KERNELS = "deniable_client.kernels."
"""All classes below are kernels."""


class Sources:
    """All modules of both packages, by their names."""

    def __init__(self, files: Mapping[str, str]) -> None:
        read = (Source.at(Path(path), text) for path, text in files.items())
        self.tree = {source.module: source for source in read}
        self.classes = classes(self.tree)

    def named(self, node: ast.expr, source: Source) -> Iterator[str]:
        """The dotted names in an expression such as `A`, `a.B[int]`, `A | B`, `(A, B)`, or a name for one of those."""
        if isinstance(node, ast.BinOp | ast.Tuple):
            parts = node.elts if isinstance(node, ast.Tuple) else [node.left, node.right]
            yield from (name for part in parts for name in self.named(part, source))
            return
        name = home(dotted(node, all_names(source)), self.tree)
        module, _, last = name.rpartition(".")
        body = self.tree[module].tree.body if module in self.tree else []
        given = [each.value for each in body if isinstance(each, ast.Assign) and last in targets(each)]
        yield from self.named(given[-1], self.tree[module]) if given else [name]

    @cached_property
    def roles(self) -> set[str]:
        """All mechanisms, kernels and kernels in bulk."""
        return {
            name for name in self.classes if name.startswith(KERNELS) or any(map(_is_role, chain(name, self.classes)))
        }


def _is_role(name: str) -> bool:
    return name.rpartition(".")[2] in ROLES and name.startswith("deniable.mechanisms")


# ---- reading


def working(root: Path) -> dict[str, str]:
    """The files of a checkout, by their paths below the source folders."""
    return {
        path.relative_to(root / folder).as_posix(): path.read_text("utf-8")
        for folder in FOLDERS
        for path in sorted((root / folder).rglob("*.py"))
    }


def revision(root: Path, name: str) -> dict[str, str]:
    """The files of a revision of git."""
    packed = subprocess.run(["git", "archive", name, *FOLDERS], cwd=root, stdout=subprocess.PIPE, check=True).stdout
    files = {}
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        for member in archive:
            content = archive.extractfile(member)
            if content is not None and member.name.endswith(".py"):
                folder = next(folder for folder in FOLDERS if member.name.startswith(f"{folder}/"))
                files[member.name.removeprefix(f"{folder}/")] = content.read().decode()
    return files


# ---- counting


def shape(sources: Sources) -> dict[str, Any]:
    """All counts."""
    modules, known = sources.tree.values(), sources.classes
    lines = {module.path: len(module.text.splitlines()) for module in modules}
    folders = Counter(Path(module.path).parent.as_posix() for module in modules)
    folder, most = max(folders.items(), key=lambda pair: (pair[1], pair[0]))
    deepest = sorted(known, key=lambda name: (-depth(name, known), name))
    members = {name: len(all_functions(name, known)) for name in known}
    fullest = max(members, key=lambda name: (members[name], name))
    mechanism = next(made for name, made in known.items() if name.endswith(".mechanisms.base.Mechanism"))
    asked = [question for module in modules for question in questions(module, sources)]
    functions = sorted(
        ((body_lines(node), f"{m.path}:{node.name}") for m in modules for node in functions_in(m)), reverse=True
    )
    return {
        "files": len(lines),
        "lines": sum(lines.values()),
        "largest_folder": {"name": folder, "files": most},
        "depth": {
            "most": depth(deepest[0], known),
            "above_3": [name for name in deepest if depth(name, known) > 3],
        },
        "mechanism_functions": len(mechanism.functions),
        "most_functions": {"name": fullest, "functions": members[fullest]},
        "above_50_functions": {name: count for name, count in members.items() if count > 50},
        "isinstance": sum(is_question(node) for m in modules for node in m.nodes),
        "isinstance_on_roles": [place for place, kind in asked if kind == "isinstance"],
        "match_on_roles": [place for place, kind in asked if kind == "match"],
        "see_docstrings": sum(says_see(node) for m in modules for node in functions_in(m)),
        "largest_functions": [{"name": name, "lines": count} for count, name in functions[:5]],
        "largest_modules": [
            {"name": name, "lines": lines[name]} for name in sorted(lines, key=lambda p: -lines[p])[:5]
        ],
    }


def is_question(node: ast.AST) -> bool:
    """Whether it is a call of `isinstance`."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance"


def questions(module: Source, sources: Sources) -> Iterator[tuple[str, str]]:
    """Place and kind of each question whether something is a certain mechanism, kernel or bulk."""
    for node in module.nodes:
        if isinstance(node, ast.MatchClass):
            asked, kind = node.cls, "match"
        elif isinstance(node, ast.Call) and is_question(node):
            asked, kind = node.args[1], "isinstance"
        else:
            continue
        found = [name for name in sources.named(asked, module) if name in sources.roles]
        if found:
            yield f"{module.path}:{node.lineno}: {', '.join(name.rpartition('.')[2] for name in found)}", kind


def gone(before: Sources, now: Sources) -> dict[str, list[str]]:
    """The names of modules, classes and functions that are nowhere any more; what moved is still there."""

    def stems(sources: Sources) -> set[str]:
        return {module.path for module in sources.tree.values()}

    def made(sources: Sources, kind: Any) -> set[str]:
        return {node.name for module in sources.tree.values() for node in module.tree.body if isinstance(node, kind)}

    return {
        "modules": sorted(stems(before) - stems(now)),
        "classes": sorted(made(before, ast.ClassDef) - made(now, ast.ClassDef)),
        "functions": sorted(made(before, FUNCTION) - made(now, FUNCTION)),
    }


def moved(root: Path, name: str) -> set[str]:
    """The old paths of files that are elsewhere now, mostly as they were."""
    command = ["git", "diff", "--name-status", "-M40%", "--diff-filter=R", name, "--", *FOLDERS]
    rows = subprocess.run(command, cwd=root, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    old = [row.split("\t")[1] for row in rows]
    return {path.removeprefix(f"{folder}/") for path in old for folder in FOLDERS if path.startswith(f"{folder}/")}


# ---- printing


def rows(found: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What a table says: names and values."""
    folder, fullest, above = found["largest_folder"], found["most_functions"], found["depth"]["above_3"]
    function, module = found["largest_functions"][0], found["largest_modules"][0]
    return [
        ("files", f"{found['files']}"),
        ("lines", f"{found['lines']:,}"),
        ("largest folder", f"{folder['files']} files, {folder['name']}"),
        ("inheritance depth", f"{found['depth']['most']}, {len(above)} classes above 3"),
        ("functions of Mechanism", f"{found['mechanism_functions']}"),
        ("most functions of a class", f"{fullest['functions']} with inherited ones, {fullest['name']}"),
        ("classes above 50 functions", f"{len(found['above_50_functions'])}"),
        ("isinstance", f"{found['isinstance']}"),
        ("... on mechanism, kernel, bulk", f"{len(found['isinstance_on_roles'])}"),
        ("match on them", f"{len(found['match_on_roles'])}"),
        ("docstrings that only say See", f"{found['see_docstrings']}"),
        ("largest function", f"{function['lines']} lines, {function['name']}"),
        ("largest module", f"{module['lines']} lines, {module['name']}"),
    ]


def main() -> None:
    """Count and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", action="store_true", help="one JSON object")
    parser.add_argument("--base", metavar="REV", help="compare with this revision")
    parser.add_argument("--root", metavar="FOLDER", type=Path, default=ROOT, help="the checkout to look at")
    given = parser.parse_args()
    now = Sources(working(given.root))
    found = {"now": shape(now)}
    if given.base:
        before = Sources(revision(given.root, given.base))
        lost = gone(before, now)
        lost["modules"] = [path for path in lost["modules"] if path not in moved(given.root, given.base)]
        found |= {"before": shape(before), "gone": lost}
    if given.json:
        print(json.dumps(found))
        return
    columns = [dict(rows(found[key])) for key in ("before", "now") if key in found]
    for name in columns[0]:
        print(f"{name:32}" + "".join(f"{column[name]:72}" for column in columns).rstrip())
    for kind, names in found.get("gone", {}).items():
        print(f"\n{len(names)} {kind} gone: {', '.join(names)}")


if __name__ == "__main__":
    main()
