"""Everything that a release consists of, from the last commit and nothing else: `./bin/release`.

- Both packages for Python: a source package each, and the wheel that is built from that source package.
- The package for npm, with the types that TypeScript reads from its comments.
- What someone needs who writes a client in another language: the vectors and the pages about them.
- What an installation brings along (`materials.py`), and the check sums of all of it.

The same commit gives the same bytes, in any folder at any time: times are those of the commit, and what builds is
pinned (constraints.txt, TYPES below).
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NoReturn

import materials

ROOT = Path(__file__).resolve().parents[1]
TYPES = {"typescript": "5.9.3", "@types/node": "20.19.43"}
"""What writes the types of the npm package; other versions may write other bytes."""
KIT = ("LICENSE", "NOTICE.md", "clients/js/conformance.js", "docs/formats.md", "docs/howto/conformance.md")
KIT += ("docs/maths/*.md", "docs/protocol.md", "docs/threat-model.md")
"""What goes with the vectors: what is asked, how another client answers, formats, the protocol and why it is right."""
SUMS = "SHA256SUMS"


def stop(what: str, hint: str) -> NoReturn:
    """End with an error in words."""
    sys.exit(f"error: {what}\nhint: {hint}")


def run(*command: str | Path, cwd: Path = ROOT, more: Mapping[str, str] | None = None) -> str:
    """What a command prints; its errors end the build."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")} | dict(
        more or {}
    )
    done = subprocess.run([str(part) for part in command], cwd=cwd, env=environment, capture_output=True, text=True)
    if done.returncode:
        told = (done.stderr or done.stdout).strip()[-3000:]
        stop(f"{' '.join(str(part) for part in command)} failed.\n{told}", "Mend this and build again.")
    return done.stdout.strip()


# ---- what is built from


def sources(into: Path) -> dict[str, str]:
    """The tree of the last commit, and the time that everything in the release has."""
    if run("git", "status", "--porcelain"):
        stop(
            "there are changes that are not committed.", "A release is built from a commit: commit them, or stash them."
        )
    packed = subprocess.run(
        ["git", "-c", "tar.umask=0022", "archive", "HEAD"], cwd=ROOT, check=True, capture_output=True
    ).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(into, filter="data")
    return {"SOURCE_DATE_EPOCH": run("git", "log", "-1", "--format=%ct"), "TZ": "UTC"}


# ---- packages


def python_package(folder: Path, out: Path, scratch: Path, fixed: Mapping[str, str]) -> Path:
    """The source package of a folder, and the wheel that its content makes; gives the wheel."""
    packed = built(folder, "sdist", out, fixed)
    with tarfile.open(packed) as archive:
        archive.extractall(scratch, filter="data")
    unpacked = scratch / packed.name.removesuffix(".tar.gz")
    return built(unpacked, "wheel", out, fixed)


def built(folder: Path, target: str, out: Path, fixed: Mapping[str, str]) -> Path:
    """The one file that hatchling adds to a folder."""
    there = set(out.iterdir())
    run(sys.executable, "-m", "hatchling", "build", "-t", target, "-d", out, cwd=folder, more=fixed)
    (made,) = set(out.iterdir()) - there
    return made


def node_modules(scratch: Path) -> Path:
    """What writes the types, of exactly these versions: where DENIABLE_NODE_MODULES says, or fetched by npm."""
    told = os.environ.get("DENIABLE_NODE_MODULES")
    folder = Path(told) if told else scratch / "tools" / "node_modules"
    if not told:
        wanted = [f"{name}@{version}" for name, version in TYPES.items()]
        run("npm", "install", "--prefix", scratch / "tools", "--no-save", "--no-audit", *wanted)
    for name, version in TYPES.items():
        said = folder / name / "package.json"
        found = json.loads(said.read_text("utf-8"))["version"] if said.is_file() else "not there"
        if found != version:
            hint = "Unset DENIABLE_NODE_MODULES: npm fetches what is needed."
            stop(f"types are written with {name} {version}, which is {found} in {folder}.", hint)
    return folder


def npm_package(folder: Path, out: Path, scratch: Path, fixed: Mapping[str, str]) -> None:
    """The tarball for npm: the sources, and beside each the types that its comments declare."""
    tools, types = node_modules(scratch), scratch / "types"
    options = ["--declaration", "--emitDeclarationOnly", "--noEmit", "false", "--newLine", "lf", "--types", "node"]
    options += ["--typeRoots", tools / "@types", "--outDir", types]
    run("node", tools / "typescript" / "bin" / "tsc", "--project", folder, *options, cwd=folder)
    shutil.copytree(types, folder / "src", dirs_exist_ok=True)
    offline = {"npm_config_offline": "true", "npm_config_cache": str(scratch / "npm"), "npm_config_umask": "0022"}
    run("npm", "pack", "--ignore-scripts", "--pack-destination", out, cwd=folder, more={**fixed, **offline})


def archive(name: str, tree: Path, paths: Iterable[str], out: Path, moment: int) -> None:
    """Files below one folder, without anything that tells who packed them or when."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for path in sorted(paths):
            data = (tree / path).read_bytes()
            entry = tarfile.TarInfo(f"{name}/{path}")
            entry.size, entry.mtime, entry.mode = len(data), moment, 0o644
            tar.addfile(entry, io.BytesIO(data))
    (out / f"{name}.tar.gz").write_bytes(gzip.compress(packed.getvalue(), mtime=moment))


def write_sums(out: Path) -> None:
    """The check sums as `sha256sum --check` reads them."""
    files = sorted(path for path in out.rglob("*") if path.is_file() and path.name != SUMS)
    rows = (f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(out).as_posix()}\n" for path in files)
    (out / SUMS).write_text("".join(rows), "utf-8")


def build(out: Path, scratch: Path) -> None:
    """All of it, into an empty folder."""
    tree = scratch / "tree"
    fixed = sources(tree)
    moment = int(fixed["SOURCE_DATE_EPOCH"])
    client = python_package(tree / "clients" / "python", out, scratch, fixed)
    library = python_package(tree, out, scratch, fixed)
    npm_package(tree / "clients" / "js", out, scratch, fixed)
    version = library.name.split("-")[1]
    kit = {path.relative_to(tree).as_posix() for name in (*KIT, "clients/vectors/*.json") for path in tree.glob(name)}
    archive(f"deniable-conformance-{version}", tree, kit, out, moment)
    materials.write(out, client, library, tree, moment)
    write_sums(out)


def main() -> None:
    """Read the options, build aside, and put the whole into its place at once."""
    parser = argparse.ArgumentParser(prog="./bin/release", description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=ROOT / "dist", metavar="DIR", help="where to (dist/)")
    parser.add_argument("--force", action="store_true", help="take the place of what is there")
    given = parser.parse_args()
    out = given.out.resolve()
    os.umask(0o022)  # modes of files are in the packages
    if out.exists() and not out.is_dir():
        stop(f"--out must be a folder, and {out} is a file.", "Give another path.")
    if out.is_dir() and any(out.iterdir()) and not given.force:
        stop(f"{out} is not empty.", "Give another folder with --out, or --force to put the release in its place.")
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".release-", dir=out.parent) as aside:
        made = Path(aside) / "made"
        made.mkdir()
        build(made, Path(aside))
        shutil.rmtree(out, ignore_errors=True)
        made.rename(out)
    print((out / SUMS).read_text("utf-8"), end="")


if __name__ == "__main__":
    main()
