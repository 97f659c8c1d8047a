"""What `./bin/release` makes: the same bytes anywhere, complete, and it runs where nothing else is installed."""

from __future__ import annotations

import hashlib
import json
import os
import re
import tarfile
import zipfile
from collections.abc import Iterator
from email.message import Message
from email.parser import Parser
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import deniable as dn
from tasks import asked

from .conftest import ROOT, cloned, emptied, pythons, ran

pytestmark = pytest.mark.slow

V = dn.__version__
LIBRARY, CLIENT = f"deniable-{V}-py3-none-any.whl", f"deniable_client-{V}-py3-none-any.whl"
NPM, KIT = f"deniable-client-{V}.tgz", f"deniable-conformance-{V}.tar.gz"
PACKED = (LIBRARY, CLIENT, f"deniable-{V}.tar.gz", f"deniable_client-{V}.tar.gz", NPM, KIT)
EXTRAS = ("fast", "frames", "charts", "service", "postgres", "spark")


def members(path: Path) -> Iterator[tuple[str, bytes]]:
    """The files in a wheel or a tarball, by their names below its folder."""
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as wheel:
            yield from ((name, wheel.read(name)) for name in wheel.namelist())
        return
    with tarfile.open(path) as archive:
        for entry in archive:
            if entry.isfile():
                content = archive.extractfile(entry)
                assert content is not None
                yield entry.name.partition("/")[2], content.read()


def metadata(path: Path) -> Message:
    (text,) = [data for name, data in members(path) if name.endswith(".dist-info/METADATA")]
    return Parser().parsestr(text.decode())


# ---- what there is


def test_the_release_is_complete_and_its_sums_hold(made: Path) -> None:
    bills = [f"sbom/deniable{extra}.cdx.json" for extra in ("", "-all", *(f"-{each}" for each in EXTRAS))]
    there = {path.relative_to(made).as_posix() for path in made.rglob("*") if path.is_file()}
    assert there == {*PACKED, *bills, "THIRD-PARTY.md", "SHA256SUMS"}
    rows = dict(reversed(row.split("  ")) for row in (made / "SHA256SUMS").read_text().splitlines())
    assert set(rows) == there - {"SHA256SUMS"}
    assert all(hashlib.sha256((made / name).read_bytes()).hexdigest() == digest for name, digest in rows.items())


@pytest.mark.turns(3)
def test_another_place_and_time_give_the_same_bytes(builder: Path, made: Path, tmp_path: Path) -> None:
    clone = cloned(tmp_path / "a folder with another name" / "clone", builder)
    python = builder / ".venv-release" / "bin" / "python"
    elsewhere = {"TZ": "Pacific/Kiritimati", "LC_ALL": "C", "SOURCE_DATE_EPOCH": "1"}
    command = f"umask 077; exec '{python}' '{clone}/release/build.py' --out '{tmp_path}/out'"
    ran("sh", "-c", command, cwd=tmp_path, more=elsewhere)
    assert (tmp_path / "out" / "SHA256SUMS").read_text() == (made / "SHA256SUMS").read_text()


def test_what_is_not_committed_is_refused_and_a_full_folder_kept(builder: Path, tmp_path: Path) -> None:
    python, script = builder / ".venv-release" / "bin" / "python", builder / "release" / "build.py"
    (tmp_path / "mine.txt").write_text("kept")
    done = ran(python, script, "--out", tmp_path, cwd=builder, holds=False)
    assert done.returncode
    assert "is not empty" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
    (builder / "stray.txt").write_text("")
    try:
        done = ran(python, script, "--out", tmp_path / "new", cwd=builder, holds=False)
    finally:
        (builder / "stray.txt").unlink()
    assert done.returncode
    assert "not committed" in done.stderr
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("name", PACKED)
def test_licences_are_inside_and_nothing_tells_where_it_was_made(made: Path, builder: Path, name: str) -> None:
    found = dict(members(made / name))
    for file in ("LICENSE", "NOTICE.md"):
        assert [each for each in found if each.split("/")[-1] == file], file
    fetched = rb"files\.python" + rb"hosted|/simple/|registry\." + rb"npmjs"
    odd = re.compile(fetched + rb"|" + re.escape(str(builder.parent).encode()))
    assert [each for each, data in found.items() if odd.search(data)] == []
    assert not [
        each for each in found if re.search(r"__pycache__|\.pyc$|\.git/|node_modules|package-lock|\.nbi$", each)
    ]


def test_bills_and_notices_tell_no_address_of_packages(made: Path) -> None:
    for path in [*made.glob("sbom/*"), made / "THIRD-PARTY.md"]:
        assert "not declared" not in path.read_text()
        assert not re.search(r"file:|https?://(?!cyclonedx\.org)", re.sub(r'"description": .*', "", path.read_text()))


def test_metadata_is_what_an_index_shows(made: Path) -> None:
    for name in (LIBRARY, CLIENT):
        told = metadata(made / name)
        assert (told["Version"], told["License-Expression"], told["Requires-Python"]) == (V, "MIT", ">=3.11")
        assert told["Description-Content-Type"] == "text/markdown"
        assert "Typing :: Typed" in told.get_all("Classifier", [])
        assert len(told["Keywords"].split(",")) >= 5
        body = str(told.get_payload())
        assert len(body) > 1000
        links = re.findall(r"\]\(([^)]+)\)", body)
        assert [link for link in links if not link.startswith("https://")] == [], (
            "there is nothing beside it on an index"
        )
        assert [each for each, _ in members(made / name) if each.endswith("/py.typed")]
    assert Requirement(f"deniable-client=={V}") in map(
        Requirement, metadata(made / LIBRARY).get_all("Requires-Dist", [])
    )


def test_both_wheels_come_from_their_source_packages(made: Path, builder: Path, tmp_path: Path) -> None:
    python = builder / ".venv-release" / "bin" / "python"
    moment = ran("git", "log", "-1", "--format=%ct", cwd=builder).stdout.strip()
    build = (python, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", tmp_path)
    ran(*build, *(made / name for name in PACKED[2:4]), cwd=tmp_path, more={"SOURCE_DATE_EPOCH": moment})
    for name in (LIBRARY, CLIENT):
        assert (tmp_path / name).read_bytes() == (made / name).read_bytes(), name


# ---- bills of materials


@pytest.mark.parametrize("extra", ["", *EXTRAS])
def test_a_bill_has_what_the_wheel_asks_for(made: Path, extra: str) -> None:
    bill = json.loads((made / "sbom" / f"deniable{extra and '-'}{extra}.cdx.json").read_text())
    parts = {part["name"]: part for part in bill["components"]}
    needs = map(Requirement, metadata(made / LIBRARY).get_all("Requires-Dist", []))
    wanted = {canonicalize_name(n.name) for n in needs if n.marker is None or n.marker.evaluate({"extra": extra})}
    assert wanted <= set(parts)
    pinned = dict(re.findall(r"^([\w.-]+)==(.+)$", (ROOT / "constraints.txt").read_text(), re.MULTILINE))
    pins = {canonicalize_name(name): version for name, version in pinned.items()}
    assert all(pins[name] == part["version"] for name, part in parts.items() if name != "deniable-client")
    assert all(
        part["licenses"] and part["hashes"][0]["alg"] == "SHA-256" for part in parts.values() if part["name"] in pins
    )
    edges = {row["ref"]: set(row.get("dependsOn", ())) for row in bill["dependencies"]}
    reached, todo = set(), [bill["metadata"]["component"]["bom-ref"]]
    while todo:
        todo += edges[(at := todo.pop())] - reached
        reached |= edges[at]
    assert reached == {part["bom-ref"] for part in parts.values()}, "nothing is there that nothing needs"


def test_extras_are_told_apart(made: Path) -> None:
    def names(extra: str) -> set[str]:
        bill = json.loads((made / "sbom" / f"deniable{extra}.cdx.json").read_text())
        return {part["name"] for part in bill["components"]}

    assert "uvicorn" in names("-service")
    assert not {"uvicorn", "pyarrow", "numba", "pyspark", "altair", "psycopg"} & names("")
    assert names("-all") == set().union(*(names(f"-{extra}") for extra in EXTRAS))


# ---- installed where nothing else is

LACKING = {
    "demo": "service",
    "serve --database sqlite:///new.db": "service",
    "design ss --k 4 --epsilon 1 --chart x.svg": "charts",
    "privatize ss --k 4 --epsilon 1 --no-header values.csv --out r.parquet": "frames",
    "tally r.parquet --engine spark --out t": "spark",
    "store check --database postgresql://127.0.0.1:1/none": "postgres",
}
"""Commands that need an extra."""
PROBES = {
    "fast": "import numba, deniable.kernels",
    "frames": "import pyarrow.parquet",
    "charts": "import altair, vl_convert",
    "service": "import deniable.service.http.serve",
    "postgres": "import psycopg; psycopg.pq.version()",
    "spark": "import pyspark.sql, pandas, pyarrow",
}


def installed(made: Path, folder: Path, python: str, extra: str = "") -> Path:
    """An environment with the wheels and one extra; gives its programs."""
    programs = emptied(folder / "env", python)
    wanted = f"{made / LIBRARY}[{extra}]" if extra else f"{made / LIBRARY}"
    pip = (programs / "python", "-m", "pip", "install", "--quiet", "--constraint", ROOT / "constraints.txt")
    ran(*pip, made / CLIENT, wanted, cwd=folder)
    ran(programs / "python", "-m", "pip", "check", cwd=folder)
    assert ran(programs / "deniable", "--version", cwd=folder).stdout == f"deniable {V}\n"
    return programs


@pytest.mark.parametrize("python", pythons(), ids=lambda path: re.sub(r".*?(\d\.\d+)?[^/]*/bin/", r"\1 ", path))
def test_without_extras(made: Path, tmp_path: Path, python: str) -> None:
    """Every command says what it does, and what needs an extra names it; the example of the package's page runs."""
    programs = installed(made, tmp_path, python)
    listed = ran(programs / "deniable", "--help", cwd=tmp_path).stdout.partition("Commands:")[2]
    commands = re.findall(r"^  ([a-z]+) ", listed, re.MULTILINE)
    assert len(commands) >= 22
    for command in commands:
        told = ran(programs / "deniable", command, "--help", cwd=tmp_path).stdout
        assert "Usage: deniable" in told
        assert ("deniable[service]" in told) == (command in ("serve", "demo")), command
    (tmp_path / "values.csv").write_text("0\n1\n2\n")
    for line, extra in LACKING.items():
        done = ran(programs / "deniable", *line.split(), cwd=tmp_path, holds=False)
        assert done.returncode not in (0, 1), line
        assert f"pip install 'deniable[{extra}]'" in done.stderr, (line, done.stderr)
    page = tmp_path / "page.md"
    page.write_text(str(metadata(made / LIBRARY).get_payload()))
    done = ran(programs / "python", "-m", "doctest", "-v", page, cwd=tmp_path)
    assert re.search(r"\b8 passed", done.stdout), done.stdout[-300:]
    assert ran(programs / "deniable-client", "--help", cwd=tmp_path).stdout


@pytest.mark.turns(6)
@pytest.mark.parametrize("extra", [extra for extra in EXTRAS if extra != "service"])
def test_each_extra_alone(made: Path, tmp_path: Path, extra: str) -> None:
    """It brings what its commands need: none of them names it any more."""
    programs = installed(made, tmp_path, pythons()[0], extra)
    ran(programs / "python", "-c", PROBES[extra], cwd=tmp_path)
    (tmp_path / "values.csv").write_text("0\n1\n2\n")
    for line, needs in LACKING.items():
        if needs == extra != "spark":  # which reads a file that only `frames` can write
            done = ran(programs / "deniable", *line.split(), cwd=tmp_path, holds=False)
            assert "pip install" not in done.stderr, (line, done.stderr)
            assert done.returncode == (0 if extra in ("charts", "frames") else 2), (line, done.stderr)


@pytest.mark.parametrize("python", pythons()[-1:], ids=["newest"])
def test_the_demonstration_runs_from_the_wheel(made: Path, tmp_path: Path, python: str) -> None:
    programs = installed(made, tmp_path, python, "service")
    (tmp_path / "elsewhere").mkdir()
    done = ran(programs / "deniable", "demo", "--people", "1000", cwd=tmp_path / "elsewhere")
    assert re.search(r"^7\. LOOK", done.stdout, re.MULTILINE), done.stdout
    kept = {path.name for path in (tmp_path / "elsewhere" / "demo-output").iterdir()}
    assert {"task.json", "tally.bin", "estimate.csv"} <= kept


# ---- npm


@pytest.fixture
def project(made: Path, tmp_path: Path) -> Path:
    """An empty project that has the package from its tarball."""
    (tmp_path / "package.json").write_text('{"name": "empty", "private": true, "type": "module"}')
    ran("npm", "install", "--offline", "--no-audit", "--no-fund", made / NPM, cwd=tmp_path)
    assert [path.name for path in (tmp_path / "node_modules").iterdir() if path.name[0] != "."] == ["@deniable"]
    return tmp_path


def test_an_empty_project_answers_a_task(project: Path) -> None:
    task = asked()
    (project / "task.json").write_text(json.dumps(task))
    (project / "task.mjs").write_text((ROOT / "tests/release/task.mjs").read_text())
    told = json.loads(ran("node", "task.mjs", cwd=project).stdout)
    assert (told["id"], told["cost"], told["answered"], told["sent"]) == (task["id"], 1, True, 1)
    (report,) = told["got"]
    assert set(report) >= {"id", "report"}
    assert (project / "ledger.json").is_file()


def test_a_strict_project_in_typescript_takes_the_types(project: Path, builder: Path) -> None:
    """Also the declarations are checked; a slip in a name or a type is found."""
    source = (ROOT / "tests/release/consumer.ts").read_text()
    (project / "use.ts").write_text(source)
    compiler = tools(project) / "typescript" / "bin" / "tsc"
    for module, resolution in (("nodenext", "nodenext"), ("esnext", "bundler")):
        options = {"strict": True, "noEmit": True, "target": "es2022", "lib": ["es2023", "dom"], "types": []}
        options |= {"module": module, "moduleResolution": resolution, "skipLibCheck": False}
        (project / "tsconfig.json").write_text(json.dumps({"compilerOptions": options, "files": ["use.ts"]}))
        ran("node", compiler, cwd=project)
    for right, wrong in (("task.days", "task.day"), ('"answers"', "7"), ("receipt.cost", "receipt.id")):
        (project / "use.ts").write_text(source.replace(right, wrong))
        done = ran("node", compiler, cwd=project, holds=False)
        assert done.returncode, wrong
        assert "use.ts(" in done.stdout


def tools(project: Path) -> Path:
    """The compiler, outside of the project: where a variable says, or fetched."""
    if os.environ.get("DENIABLE_NODE_MODULES"):
        return Path(os.environ["DENIABLE_NODE_MODULES"])
    ran("npm", "install", "--prefix", project / "tools", "--no-save", "--no-audit", "typescript@5", cwd=project)
    return project / "tools" / "node_modules"
