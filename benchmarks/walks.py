"""The walk of a value through the sources: which functions it visits from `privatize` through `tally` to `estimate`.

    python benchmarks/walks.py [--json] [--tree]
    python benchmarks/walks.py --http [--tree]      ten reports over HTTP, and what is published of them

Every walk is traced in a process of its own: the three commands on small files, each function at its first visit. Not
counted are the parsing of arguments, the printing of tables, lookups in them, and functions without a name. A folder is
the client, a family's room, or a package; there and back is a folder between two visits of another one. A file is a
family's own if only its walk visits it, no other family's room imports it, and nothing beside it that other walks visit
does. `--json` prints one JSON object, `--tree` the visits themselves. To measure another tree, put its two source
folders on PYTHONPATH.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple


class Walk(NamedTuple):
    """Options of `privatize`, the lines of a file of values, and further files that the options name."""

    options: str
    values: str
    files: Mapping[str, str] = {}


ANSWERS = "answer" + 500 * " a b c d"
"""Enough of them that every way which chance may choose is taken."""
PLACES = "label,latitude,longitude a,0.1,0.2 b,0.3,0.1 c,0.4,0.5 d,0.2,0.3"
WALKS = {
    "ss": Walk("--labels a,b,c,d", ANSWERS),
    "uss": Walk("--labels a,b,c,d --sensitive a,b", ANSWERS),
    "kv-ss2": Walk("--labels a,b,c,d", "user,key,value" + "".join(f" u{i},{'abcd'[i % 4]},0.5" for i in range(200))),
    "brr": Walk("--distances places.csv --size 1", ANSWERS, {"places.csv": PLACES}),
}
OTHERS = {"duchi": Walk("--interval 0,10", "number" + 50 * " 1 2 3")}
"""What else the walks are compared with; `pldp` is not there, as it builds on the families of `ss` and `uss`."""
ROOMS = {
    name: f"mechanisms/{room}"
    for name, room in (("ss", "frequency"), ("uss", "utility"), ("kv-ss2", "keyvalue"), ("brr", "metric"))
}
"""Where the family of a walk lives; what another family's room imports is not its own."""
COMMANDS = ("privatize", "tally", "estimate")


class Visit(NamedTuple):
    """The first call of a function, during one of the COMMANDS."""

    command: str
    package: str
    file: str
    function: str

    @property
    def place(self) -> str:
        """The file with its package, such as client/exact.py or core/domain.py."""
        return f"client/{self.file}" if self.package == "deniable_client" else self.file

    @property
    def folder(self) -> str:
        """Where it is: the client, a family's room, a package, or a module of its own."""
        return folder_of(self.place)


def folder_of(place: str) -> str:
    """The folder of a file."""
    parts = place.removesuffix(".py").split("/")
    return "/".join(parts[:2]) if parts[0] == "mechanisms" and len(parts) > 2 else parts[0]


# ---- tracing, in a process per walk


def roots() -> dict[str, str]:
    """Folder and name of our two packages."""
    import deniable
    import deniable_client

    return {f"{Path(str(p.__file__)).parent}{os.sep}": p.__name__ for p in (deniable, deniable_client)}


def noted(visits: dict[CodeType, Visit], now: Sequence[str]) -> Callable[[FrameType, str, object], None]:
    """For a profiler: notes the first visit of each function of ours, under the name that is now the first."""
    home = roots()

    def note(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        root = next((root for root in home if code.co_filename.startswith(root)), None)
        if event == "call" and root is not None and code not in visits:
            file = Path(code.co_filename.removeprefix(root)).as_posix()
            visits[code] = Visit(now[0], home[root], file, code.co_qualname)

    return note


def trace_http() -> dict[str, list[Visit]]:
    """The walks of ten uploaded reports of `ss`, and of the estimate after their window: from request to answer."""
    sys.path.append(str(Path(__file__).resolve().parents[1] / "tests"))
    sys.path[:] = [path for path in sys.path if path != str(Path(__file__).resolve().parent)]  # has another `service`
    import deniable as dn
    from deniable.mechanisms.registry import MECHANISMS
    from deniable.service.tasks import Asked
    from deniable_client import Device
    from service.calling import Service, item, task_of

    dict(MECHANISMS)
    design = dn.mechanism("ss", epsilon=1.0, labels=list("abcd")).design
    service, device = Service(), Device(design)
    id = service.add(task_of(Asked(text="Which?", design=design), min_batch=5))
    sent = [item(number, device.report("abcd"[number % 4])) for number in range(10)]
    walks: dict[str, list[Visit]] = {}

    def walked(name: str, step: Callable[[], Any]) -> None:
        visits: dict[CodeType, Visit] = {}
        note = noted(visits, [name])
        threading.setprofile(note)
        sys.setprofile(note)
        try:
            reply = step()
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
        if reply.status != 200:
            raise RuntimeError(f"{name} ends with {reply.status}: {reply.body!r}")
        walks[name] = [visit for visit in visits.values() if counts(visit)]

    walked("upload", lambda: service.send(id, *sent))
    service.later(40)
    key = service.key("analyst")
    walked("estimate", lambda: service.get(f"/v1/tasks/{id}/estimate", key))
    return walks


def trace(name: str) -> list[Visit]:
    """The walk of a value of the mechanism `name`."""
    from deniable.cli import main
    from deniable.cli.app import build
    from deniable.mechanisms.registry import MECHANISMS

    build()  # loads what commands need: a walk is that of a value, not of modules
    dict(MECHANISMS)  # the families, too
    walk, visits, now = {**WALKS, **OTHERS}[name], dict[CodeType, Visit](), [""]
    note = noted(visits, now)
    for file, text in {"values.csv": walk.values, **walk.files}.items():
        Path(file).write_text("\n".join(text.split()) + "\n", "utf-8")
    make = [name, "--epsilon", "1", *walk.options.split()]
    for now[0], words in zip(
        COMMANDS,
        ([*make, "values.csv", "--out", "reports.bin"], ["reports.bin", "--out", "tally.bin"], ["tally.bin"]),
        strict=True,
    ):
        said = io.StringIO()
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(said):
            sys.setprofile(note)
            try:
                code = main([now[0], *words])
            finally:
                sys.setprofile(None)
        if code:
            raise RuntimeError(f"deniable {now[0]} {' '.join(words)} ends with {code}: {said.getvalue()}")
    return [visit for visit in visits.values() if counts(visit)]


def counts(visit: Visit) -> bool:
    """Whether a visit is on the way: no parsing, no printing, no lookup in a table, no function without a name."""
    if visit.function.endswith(("__contains__", "__getitem__", "__iter__", "__len__")):
        return False
    if "<" in visit.function.replace("<locals>", "") or visit.file == "present/tables.py":
        return False
    return visit.folder != "cli" or (visit.file == "cli/pipeline.py" and visit.function != "register")


def walk_of(name: str) -> list[Visit]:
    """`trace` in a fresh process, on one thread and with sets in one order: the same walk each time."""
    with tempfile.TemporaryDirectory() as folder:
        found = subprocess.run(
            [sys.executable, str(Path(__file__).resolve()), "--trace", name],
            cwd=folder,
            env={**os.environ, "DENIABLE_THREADS": "1", "PYTHONHASHSEED": "0"},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
    return [Visit(*row) for row in json.loads(found.stdout)]


# ---- counting


def runs(visits: Sequence[Visit]) -> list[str]:
    """The folders in the order of the walk."""
    return [folder for folder, _ in groupby(visit.folder for visit in visits)]


def there_and_backs(folders: Sequence[str]) -> int:
    """How often a walk leaves a folder for one other and comes back."""
    return sum(a == c for a, c in zip(folders, folders[2:], strict=False))


def own(name: str, walks: Mapping[str, Sequence[Visit]], imported: Mapping[str, set[str]]) -> list[str]:
    """The files that only the family of `name` has: no other walk or room needs them, nor are they a part of what does.

    A part is what a visited file of the same folder imports; the face of a package, which names all of it, is none.
    """
    theirs = {visit.place for other, visits in walks.items() if other != name for visit in visits}
    rooms = {place: parts for place, parts in imported.items() if folder_of(place).startswith("mechanisms/")}
    theirs |= {part for place, parts in rooms.items() if folder_of(place) != ROOMS.get(name) for part in parts}
    parts = {
        part
        for place in theirs
        if not place.endswith("__init__.py")
        for part in imported[place]
        if folder_of(part) == folder_of(place)
    }
    return sorted({visit.place for visit in walks[name]} - theirs - parts)


def imports() -> dict[str, set[str]]:
    """For each file of our packages the files that it imports."""
    modules = {}
    for root, package in roots().items():
        for path in Path(root).rglob("*.py"):
            parts = path.relative_to(root).with_suffix("").parts
            name = ".".join([package, *(parts[:-1] if parts[-1] == "__init__" else parts)])
            modules[name] = (path, Visit("", package, path.relative_to(root).as_posix(), "").place)
    found = {}
    for path, place in modules.values():
        names = {name for node in ast.walk(ast.parse(path.read_text("utf-8"))) for name in imported_names(node)}
        found[place] = {modules[name][1] for name in names if name in modules}
    return found


def imported_names(node: ast.AST) -> Iterator[str]:
    """What a statement imports: `a` and `a.b` for `from a import b`, of which one is a module."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module:
        yield node.module
        yield from (f"{node.module}.{alias.name}" for alias in node.names)


def measure() -> dict[str, dict[str, Any]]:
    """What is counted of each walk, and the walk itself."""
    names = (*WALKS, *OTHERS)
    with ThreadPoolExecutor(2) as pool:
        walks = dict(zip(names, pool.map(walk_of, names), strict=True))
    imported = imports()
    return {name: figures(name, walks, imported) for name in WALKS}


def measure_http() -> dict[str, dict[str, Any]]:
    """The same of the walks over HTTP, in this process; nobody has a walk to tell own files from."""
    return {name: {**_counted(visits), "own_files": [], "own_folders": []} for name, visits in trace_http().items()}


def figures(name: str, walks: Mapping[str, Sequence[Visit]], imported: Mapping[str, set[str]]) -> dict[str, Any]:
    """What is counted of one walk, and its visits."""
    mine = own(name, walks, imported)
    return {
        **_counted(walks[name]),
        "own_files": mine,
        "own_folders": sorted({folder_of(place) for place in mine}),
    }


def _counted(visits: Sequence[Visit]) -> dict[str, Any]:
    folders = runs(visits)
    return {
        "functions": len(visits),
        "files": len({visit.place for visit in visits}),
        "folder_visits": len(folders),
        "there_and_backs": there_and_backs(folders),
        "visits": [[visit.command, visit.place, visit.function] for visit in visits],
    }


# ---- printing


def table(found: Mapping[str, Mapping[str, Any]]) -> str:
    """A row per walk."""
    lines = ["value    functions  files  folder visits  there and back  own files  in folders"]
    for name, row in found.items():
        counted = (row["functions"], row["files"], row["folder_visits"], row["there_and_backs"])
        own_files, folders = len(row["own_files"]), " ".join(row["own_folders"])
        lines.append("{:8} {:9}  {:5}  {:13}  {:14}  ".format(name, *counted) + f"{own_files:9}  {folders}")
    return "\n".join(lines)


def tree(visits: Sequence[Sequence[str]]) -> str:
    """The visits, a line per file."""
    lines = []
    for command, part in groupby(visits, key=lambda visit: visit[0]):
        lines.append(f"  {command}")
        for folder, inside in groupby(part, key=lambda visit: folder_of(visit[1])):
            lines.append(f"    {folder}")
            for place, functions in groupby(inside, key=lambda visit: visit[1]):
                lines.append(f"      {place}: {', '.join(function for _, _, function in functions)}")
    return "\n".join(lines)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", action="store_true", help="one JSON object")
    parser.add_argument("--tree", action="store_true", help="also the visits, file by file")
    parser.add_argument("--http", action="store_true", help="the walks of an upload and of an estimate over HTTP")
    parser.add_argument("--trace", metavar="NAME", help="only the visits of one walk, in this process")
    given = parser.parse_args()
    if given.trace:
        print(json.dumps(trace(given.trace)))
        return
    found = measure_http() if given.http else measure()
    if given.json:
        print(json.dumps({"walks": found}))
        return
    print(table(found))
    if given.tree:
        for name, row in found.items():
            print(f"\n{name}\n{tree(row['visits'])}")


if __name__ == "__main__":
    main()
