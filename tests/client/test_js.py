"""The JavaScript client: its own tests, its package, its types, and that it never differs from Python's."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tarfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from fuzz import clients

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "clients" / "js"
NODE_MIN = 18


def _version() -> int:
    node = shutil.which("node")
    if node is None:
        return 0
    told = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    return int(told.strip().lstrip("v").split(".")[0] or 0)


pytestmark = pytest.mark.skipif(
    _version() < NODE_MIN, reason=f"the JavaScript client needs Node {NODE_MIN} or newer: install it from nodejs.org"
)


def run(*command: str, folder: Path = FOLDER) -> str:
    """What a command says; it must succeed."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


LONG = ("device", "ledger", "outbox", "texts")
"""Files of its tests that take some seconds each."""
OWN = sorted(path.name.removesuffix(".test.js") for path in (FOLDER / "test").glob("*.test.js"))


@pytest.mark.parametrize(
    "files",
    [
        pytest.param([name for name in OWN if name not in LONG], id="quick"),
        *(pytest.param([name], id=name, marks=pytest.mark.slow) for name in LONG),
    ],
)
def test_its_own_tests_pass(files: list[str]) -> None:
    told = run("node", "--test", *(str(FOLDER / "test" / f"{name}.test.js") for name in files))
    assert re.search(r"^# fail 0$", told, re.MULTILINE)
    assert int(re.search(r"^# pass (\d+)$", told, re.MULTILINE)[1]) >= 5 * len(files)  # type: ignore[index]


# ---- both clients


def compared(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, Any]:
    """The figures of the differential fuzzer."""
    clients.main(["--json", *map(str, arguments)])
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def same(told: dict[str, Any], reports: int, leaking: int) -> None:
    assert told["shown"] == []
    assert told["differences"] == told["leaking designs taken"] == 0
    assert told["reports"] >= reports
    assert told["leaking designs"] >= leaking


def test_clients_agree(capsys: pytest.CaptureFixture[str]) -> None:
    """A small run of the fuzzer; larger ones are below and in its command."""
    told = compared(capsys, "--reports", 2500, "--leaking", 30, "--seed", 11)
    same(told, 2500, 30)
    assert told["values refused"] > 100
    assert told["errors"]["FormatError"] > 5
    assert told["errors"]["PrivacyError"] > 5


@pytest.mark.turns(2)
@pytest.mark.slow
def test_clients_agree_about_all_kinds_of_kernels(capsys: pytest.CaptureFixture[str]) -> None:
    told = compared(capsys, "--reports", 60_000, "--leaking", 300, "--seed", 12)
    same(told, 60_000, 300)
    kinds = Counter(told["reports by kind"])
    for mechanism in ("privkv", "pldp"):  # few designs have kernels of one key, or tell a level by one bit
        rare = compared(capsys, "--reports", 2_000, "--leaking", 0, "--seed", 12, "--mechanism", mechanism)
        same(rare, 2_000, 0)
        kinds += Counter(rare["reports by kind"])
    assert set(told["kinds without a report"]) <= set(kinds)
    assert min(kinds.values()) > 50


def test_clients_agree_about_surveys(capsys: pytest.CaptureFixture[str]) -> None:
    """Surveys as they are made for people, and ones with a fault: a part that leaks, a share of 0, too many parts."""
    told = compared(capsys, "--surveys", "--reports", 2000, "--leaking", 0, "--seed", 21)
    same(told, 2000, 0)
    assert told["designs"]["damaged survey, refused"] > 3
    assert "damaged survey, taken" not in told["designs"]
    assert told["designs"]["survey, taken"] > 20, "those without the consent that they need are refused"


@pytest.mark.slow
@pytest.mark.turns(50)
@pytest.mark.parametrize("part", range(50))
def test_clients_agree_about_a_million_reports_of_surveys(part: int, capsys: pytest.CaptureFixture[str]) -> None:
    """20,000 a day, all of them in the nightly tier; questions of all kinds, ticked options among them."""
    told = compared(capsys, "--surveys", "--reports", 20_000, "--leaking", 0, "--seed", 100 + part)
    same(told, 20_000, 0)
    assert "damaged survey, taken" not in told["designs"]
    assert min(told["reports by kind"][kind] for kind in ("box", "several")) > 100


FAULTS = [
    ("kernels/box.js", "kept || j < miss", "kept || j <= miss", "box"),
    ("kernels/box.js", "if (holds) words.word();", "if (!holds) words.word();", "box"),
    ("kernels/several.js", "kept ? met : 0n", "kept ? 1n : 0n", "several"),
    ("kernels/several.js", "upTo(marks - BigInt(ticked.length))", "upTo(marks)", "several"),
    ("exact.js", "words.word() < threshold", "words.word() <= threshold", ""),
    ("exact.js", ">= size % n", "> size % n", ""),
    ("exact.js", "last < n; last++", "last < n - 1n; last++", ""),
    ("hashing.js", "0x846ca68b", "0x846ca68d", ""),
    ("intervals.js", "share * (points - 1) - 0.5", "share * (points - 1) - 0.49", ""),
    ("kernels/keyvalue/pairs.js", "found - x === 0.5 && found % 2", "found - x === 0.5 && !(found % 2)", "kv-ss2"),
    ("designs.js", "if (low.below(ratio)) {", "if (low.times({ top: 1001n, bottom: 1000n }).below(ratio)) {", ""),
    ("kernels/keyvalue/grouped.js", "(length - least) * (size - held)", "0n", "kv-ss"),
    (
        "kernels/utility.js",
        "this.blindly ? blindPeak(baseHalf(base)) : Utility.mappedPeak(base)",
        "Utility.mappedPeak(base)",
        "",
    ),
    ("levels.js", "this.base.other(its.base), ", "", "upldp"),
    ("dealing.js", "(drawn -= share) < 0n", "(drawn -= share) <= 0n", ""),
    ("kernels/dealt.js", "isNumber(part.epsilon) && part.epsilon > epsilon", "false", ""),
    ("kernels/window.js", "y >= first ? y + this.m : y", "y > first ? y + this.m : y", ""),
]
"""Where a fault is put into a copy of the client: a comparison turned, one too few, a term left out of a proof;
for what few designs have, of which mechanism they are."""


@pytest.mark.slow
@pytest.mark.turns(4)
@pytest.mark.parametrize(
    ("name", "right", "wrong", "mechanism"), FAULTS, ids=[f"{row[0]}-{i}" for i, row in enumerate(FAULTS)]
)
def test_a_fault_is_found(
    name: str, right: str, wrong: str, mechanism: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "src"
    shutil.copytree(FOLDER / "src", source)
    text = (source / name).read_text()
    assert text.count(right) == 1
    (source / name).write_text(text.replace(right, wrong))
    only = ["--mechanism", mechanism] if mechanism else []
    told = compared(capsys, "--reports", 60_000, "--leaking", 0, "--until-different", "--source", source, *only)
    assert told["differences"] > 0


# ---- the package


@pytest.mark.skipif(shutil.which("npm") is None, reason="packing needs npm, which comes with Node")
def test_the_package_can_be_unpacked_and_imported(tmp_path: Path) -> None:
    """Nothing but the sources, the page, the licence and the types of them; it works where it is put."""
    run("npm", "pack", "--offline", "--pack-destination", str(tmp_path))
    (packed,) = tmp_path.glob("*.tgz")
    with tarfile.open(packed) as archive:
        names = {name.removeprefix("package/") for name in archive.getnames()}
        archive.extractall(tmp_path, filter="data")
    sources = {str(path.relative_to(FOLDER)) for path in (FOLDER / "src").rglob("*.js")}
    assert names == {"package.json", "README.md", "LICENSE", "NOTICE.md", *sources}
    home = tmp_path / "home" / "node_modules" / "@deniable"
    home.mkdir(parents=True)
    (tmp_path / "package").rename(home / "client")
    grr = '{mechanism: "grr", version: 1, epsilon: 1, domain: {k: 2}, params: {}, '
    grr += 'kernel: {kind: "response", k: "2", keep: "13485650502877570762"}}'
    script = f"""
        import {{ Device, ReplayWords }} from "@deniable/client";
        import {{ deviceFor }} from "@deniable/client/load";
        const words = () => new ReplayWords([13485650502877570762n, 0n]);
        const one = new Device({grr}).report(1, {{ words: words() }});
        const two = (await deviceFor({grr})).report(1, {{ words: words() }});
        console.log(JSON.stringify([...one, ...two]));
    """
    (tmp_path / "home" / "try.mjs").write_text(script)
    assert json.loads(run("node", "try.mjs", folder=tmp_path / "home")) == [0, 0]


def test_no_lock_file_no_dependency_no_address() -> None:
    package = json.loads((FOLDER / "package.json").read_text())
    assert package["name"] == "@deniable/client"
    assert package["type"] == "module"
    assert not {"dependencies", "devDependencies", "peerDependencies", "optionalDependencies"} & set(package)
    assert not [*FOLDER.rglob("*lock*"), *FOLDER.rglob("node_modules")]
    files = [path for path in FOLDER.rglob("*") if path.is_file()]
    assert not [path for path in files if "registry." in path.read_text() or "npmjs" in path.read_text()]


NODE_ONLY = {"exact.js", "exchange_node.js", "store_file.js"}
"""Files that name parts of Node; the first only where there is no other way to randomness."""


def test_sources_run_in_browsers() -> None:
    for path in (FOLDER / "src").rglob("*.js"):
        odd = re.search(r"\bnode:|\bprocess\.|\bBuffer\b|\brequire\(\"|__dirname", path.read_text())
        assert (odd is None) or path.name in NODE_ONLY, f"{path.name}: {odd}"


def _tsc() -> tuple[str, Path] | None:
    """TypeScript's compiler and the types of Node, on the path or in the folder that a variable names."""
    folder = os.environ.get("DENIABLE_NODE_MODULES")
    if folder and (Path(folder) / ".bin" / "tsc").exists():
        return str(Path(folder) / ".bin" / "tsc"), Path(folder) / "@types"
    found = shutil.which("tsc")
    return (found, Path(found).resolve().parents[2] / "@types") if found else None


@pytest.mark.slow
@pytest.mark.skipif(
    _tsc() is None,
    reason="types need TypeScript: npm install typescript @types/node, and DENIABLE_NODE_MODULES=FOLDER/node_modules",
)
def test_types_hold() -> None:
    tsc, types = _tsc() or ("", Path())
    run(tsc, "-p", "tsconfig.json", "--typeRoots", str(types), "--types", "node")
