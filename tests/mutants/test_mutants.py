"""Mutants: the lists fit the sources, the tool tells survivors, and (full tier) nothing wrong lives unargued."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from mutants.draw import Reached, given
from mutants.run import LISTS, ROOT, Answer, Job, ListError, Mutant, chosen, read_lists, run_all
from mutants.swap import pairs

TOOL = LISTS / "run.py"
LEAST = 1000
AREAS = {
    *("apart", "audit", "beside", "checking", "commands", "dealt", "devices", "drawn", "estimates", "estimating"),
    *("grammar", "learn", "ledger", "marks"),
    *(f"noticed-{area}" for area in ("clients", "collector", "designs", "files", "oracles", "pages", "plans")),
    *("options", "planning", "predicting", "proofs", "randomness"),
    *("releases", "running", "scripts", "second", "see", "serving", "sessions"),
    *("stores", "stranger", "survey", "testing", "thresholds", "told", "values"),
}  # fmt: skip
CRITICAL = (
    *(path for path in (ROOT / "clients/python/src/deniable_client/kernels").glob("*.py") if path.stem != "__init__"),
    *(ROOT / "clients/python/src/deniable_client" / name for name in ("exact.py", "words.py", "packing.py")),
    *(ROOT / "clients/python/src/deniable_client" / f"{name}.py" for name in ("documents", "domains", "grammar")),
    *(ROOT / "clients/python/src/deniable_client" / f"{name}.py" for name in ("device", "explanation", "telling")),
    *(ROOT / "src/deniable/learn" / name for name in ("ledger.py", "leaves.py", "boosting.py", "choice.py")),
    *(ROOT / "src/deniable/learn" / name for name in ("sgd.py", "vectors.py", "network.py", "release.py")),
    *(ROOT / "src/deniable" / name for name in ("randomness.py", "audit/exact.py", "core/channel.py")),
    *(ROOT / "src/deniable/collect" / name for name in ("codec.py", "reports.py", "tally.py")),
    *(ROOT / "src/deniable/testing").glob("*.py"),
)  # fmt: skip
"""Files on which a promise depends: each has mutants. `geometry.py` of the kernels has only levels, as `basic.py`."""


def test_the_lists_fit_the_sources_and_are_long_enough() -> None:
    mutants = read_lists()
    assert len(mutants) >= LEAST
    assert {m.id.partition("/")[0] for m in mutants} == AREAS
    changed = {ROOT / m.file for m in mutants}
    assert [str(path.relative_to(ROOT)) for path in CRITICAL if path not in changed and path.stem != "geometry"] == []
    assert [m for m, n in Counter((m.file, m.old, m.new) for m in mutants).items() if n > 1] == []


PARTS = 30
OUTER_INNER = ("def test_servers_that_mutants_leave_are_ended", "    def there(job: Job) -> bool:")


@pytest.mark.slow
@pytest.mark.turns(PARTS)
@pytest.mark.parametrize("part", range(1, PARTS + 1))
def test_every_mutant_is_killed_or_argued_equivalent(part: int) -> None:
    """At most a minute of processor time for a day's share; all of them at night."""
    done = run_tool(["--json", "--part", f"{part}/{PARTS}"], None, 7200)
    outcomes = json.loads(done.stdout)["outcomes"]
    assert [o for o in outcomes if o["status"] not in ("killed", "equivalent")] == []
    assert done.returncode == 0
    assert len(outcomes) >= LEAST // PARTS


# ---- the tool itself, on a small package of its own

SOURCE = """
def double(x):
    return 2 * x


def clipped(x):
    return min(max(x, 0), 9)


def wait(x):
    while x:
        x -= 1
    return "done"
"""
TESTS = """
from little import clipped, double, wait


def test_double():
    assert double(3) == 6
    assert wait(3) == "done"


def test_clipped():
    assert clipped(-1) == 0
"""
LIST = """
[[file]]
path = "src/little.py"
tests = ["tests/test_little.py"]

[[file.mutant]]
id = "killed"
breaks = "one number"
old = "return 2 * x"
new = "return 3 * x"

[[file.mutant]]
id = "alive"
breaks = "the upper end"
old = ", 9)"
new = ", 8)"

[[file.mutant]]
id = "argued"
breaks = "nothing"
old = "return 2 * x"
new = "return x * 2"
equivalent = "multiplication of numbers is commutative, always"

[[file.mutant]]
id = "wrongly-argued"
breaks = "everything"
old = "return 2 * x"
new = "return x"
equivalent = "this is said to be the same, wrongly"

[[file.mutant]]
id = "endless"
breaks = "the end"
old = "x -= 1"
new = "x += 1"
endless = true

[[file.mutant]]
id = "stuck"
breaks = "the end, unexpectedly"
old = "x -= 1"
new = "x += 2"

[[file.mutant]]
id = "not-imported"
breaks = "the module"
old = "def double(x):"
new = "def other(x):"

[[file.mutant]]
id = "other-test"
breaks = "the lower end, which the listed test does not look at"
old = "max(x, 0)"
new = "max(x, 1)"
tests = ["tests/test_little.py::test_double"]
"""


def run_tool(arguments: list[str], place: Path | None, timeout: float = 600) -> subprocess.CompletedProcess[str]:
    """The command, on this project or on a small one in a folder."""
    where = "" if place is None else f", Path({str(place / 'lists')!r}), Path({str(place)!r})"
    code = (
        f"import sys; from pathlib import Path; sys.path.insert(0, {str(LISTS.parent)!r})\n"
        f"from mutants.run import main; sys.exit(main({arguments!r}{where}))"
    )
    command = [sys.executable, "-c", code] if place is not None else [sys.executable, str(TOOL), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)


@pytest.fixture
def little(tmp_path: Path) -> Path:
    for name, text in (("src/little.py", SOURCE), ("tests/test_little.py", TESTS), ("lists/all.toml", LIST)):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.slow
def test_survivors_are_told_and_nothing_is_edited(little: Path) -> None:
    done = run_tool(["--json", "--limit", "3"], little)
    assert done.returncode == 1, done.stderr
    found: dict[str, Any] = {o["id"].partition("/")[2]: o for o in json.loads(done.stdout)["outcomes"]}
    assert {name: outcome["status"] for name, outcome in found.items()} == {
        "killed": "killed",
        "alive": "alive",
        "argued": "equivalent",
        "wrongly-argued": "error",
        "endless": "killed",
        "stuck": "error",
        "not-imported": "error",
        "other-test": "alive",
    }
    assert found["killed"]["by"] == "tests/test_little.py::test_double"
    assert "a test notices it" in found["wrongly-argued"]["note"]
    assert "stopped after" in found["stuck"]["note"]
    assert "cannot import name 'double'" in found["not-imported"]["note"]
    assert (little / "src/little.py").read_text() == SOURCE
    assert "alive" in done.stderr


@pytest.mark.slow
def test_only_what_is_asked_for_is_run_and_a_clean_run_ends_well(little: Path) -> None:
    done = run_tool(["all/killed", "all/argued"], little)
    assert done.returncode == 0, done.stderr
    assert "2 mutants: 1 killed, 1 equivalent" in done.stdout


@pytest.mark.slow
def test_a_test_that_fails_anyway_kills_nothing(little: Path) -> None:
    (little / "tests/test_little.py").write_text(TESTS.replace("== 6", "== 7"))
    done = run_tool(["all/alive"], little)
    assert done.returncode == 2
    assert "these tests fail on the sources as they are:\ntests/test_little.py::test_double" in done.stderr


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("return 2 * x", "return 4 * x"), "the old text occurs 0 times in src/little.py, not once"),
        (('old = ", 9)"', 'old = "x"'), "times in src/little.py, not once"),
        (('new = ", 8)"', 'new = ", 8"'), "with the new text src/little.py is no Python"),
        (('id = "alive"', 'id = "killed"'), "all/killed is there 2 times"),
        (('new = ", 8)"', 'new = ", 9)"'), "the new text must differ from the old"),
        (("multiplication of numbers is commutative, always", "same"), "an equivalent mutant needs an argument"),
        (("tests/test_little.py::test_double", "tests/test_none.py"), "there is no tests/test_none.py"),
        (('breaks = "one number"\n', ""), "missing ['breaks']"),
        (("src/little.py", "src/large.py"), "there is no src/large.py"),
        (("endless = true", "forever = true"), "unknown ['forever']"),
    ],
)
def test_lists_that_do_not_fit_are_errors(little: Path, change: tuple[str, str], words: str) -> None:
    text = LIST.replace(*change, 1)
    assert text != LIST
    (little / "lists/all.toml").write_text(text)
    with pytest.raises(ListError) as caught:
        read_lists(little / "lists", little)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("change", "functions"),
    [
        (("return 2 * x", "return 3 * x"), ["double"]),
        (("while x:", "while x > 1:"), ["wait"]),
        (("2 * x", "sorted(y for y in [x])"), ["double"]),
        (("def double(x):", "def double(x=1):"), None),
        (("def wait(x):", "LIMIT = 3\n\n\ndef wait(x):"), None),
    ],
)
def test_functions_get_other_code_and_what_runs_at_import_does_not(
    change: tuple[str, str], functions: list[str] | None
) -> None:
    assert SOURCE.count(change[0]) == 1
    old, new = (compile(text, "little.py", "exec") for text in (SOURCE, SOURCE.replace(*change)))
    if functions is None:
        with pytest.raises(ValueError, match="what runs at import differs"):
            list(pairs(old, new))
    else:
        assert [before.co_name for before, _ in pairs(old, new)] == functions
        assert all(before != after for before, after in pairs(old, new))


SERVER = """
folder=$(mktemp -d)
echo "$folder" > "$1"
trap 'touch "$1.ended"; rm "$folder/postmaster.pid"; exit' QUIT
echo $$ > "$folder/postmaster.pid"
for i in $(seq 400); do sleep 0.05; done
"""


def test_servers_that_mutants_leave_are_ended(tmp_path: Path) -> None:
    """They have sessions of their own, as those of PostgreSQL have; one test ends, the other is stopped."""
    jobs = [Job(("stopped",)), Job(("ended",))]
    told = {job: tmp_path / job.tests[0] for job in jobs}

    def there(job: Job) -> bool:
        """Whether its server runs."""
        return told[job].is_file() and (Path(told[job].read_text().strip() or "none") / "postmaster.pid").is_file()

    def work(job: Job, folder: Path) -> Answer:
        signal.signal(signal.SIGQUIT, signal.SIG_DFL)  # a shell cannot catch what is ignored in runs in the background
        subprocess.Popen(["sh", "-c", SERVER, "sh", str(told[job])], start_new_session=True)
        while job is jobs[0] or not all(map(there, jobs)):
            time.sleep(0.01)
        return {"code": 0}

    def done(job: Job, answer: Answer) -> None:
        raise KeyboardInterrupt(job.tests[0])

    with pytest.raises(KeyboardInterrupt, match="ended"):
        run_all(jobs, ROOT, 2, done, work)
    assert {path.name for path in tmp_path.iterdir()} == {"stopped", "stopped.ended", "ended", "ended.ended"}
    assert [job for job in jobs if Path(told[job].read_text().strip()).exists()] == [], "their folders are gone, too"


def test_mutants_that_somebody_wrote_get_the_tests_that_reach_them(tmp_path: Path) -> None:
    """Of the innermost function that a test reaches; outside of functions, of any function of the file."""
    here = "tests/mutants/test_mutants.py"
    source = (ROOT / here).read_text("utf-8").splitlines()
    outer, inner = (next(i for i, line in enumerate(source, 1) if line.startswith(head)) for head in OUTER_INNER)
    rows = {"inside": "return told[job].is_" + "file()", "outside": "PARTS" + " = 30", "around": "import json" + "\n"}
    lines = ["[[file]]", f'path = "{here}"']
    for name, old in rows.items():
        lines += ["[[file.mutant]]", f'id = "{name}"', 'breaks = "x"', f"old = {json.dumps(old)}", 'new = "pass"']
    (tmp_path / "mine.toml").write_text("\n".join(lines))
    reached: Reached = {
        f"{here}:{outer}": {"a.py": [[0.2, "a.py::slow"], [0.3, "a.py::slower"]], "b.py": [[0.1, "b.py::t"]]}
    }
    found, unreached = given(tmp_path / "mine.toml", reached)
    of_outer = ("b.py::t", "a.py::slow", "a.py::slower")
    assert {m.id: m.tests for m in found} == {
        "inside": of_outer,
        "outside": tuple(sorted(of_outer)),
        "around": tuple(sorted(of_outer)),
    }
    assert unreached == []
    reached[f"{here}:{inner}"] = {"c.py": [[0.1, "c.py::t"]]}
    inside = given(tmp_path / "mine.toml", reached)[0][0]
    assert (inside.id, inside.tests) == ("inside", ("c.py::t",))
    assert given(tmp_path / "mine.toml", {}) == ([], list(rows))


def test_names_choose_lists_files_and_mutants() -> None:
    def mutant(name: str, file: str) -> Mutant:
        return Mutant(name, file, "a", "b", "c", ("t.py",))

    three = [mutant("x/1", "src/a/one.py"), mutant("x/2", "src/b/two.py"), mutant("y/1", "src/a/one.py")]
    assert chosen(three, []) == three
    assert chosen(three, ["x"]) == three[:2]
    assert chosen(three, ["a/one.py"]) == [three[0], three[2]]
    assert chosen(three, ["y/1", "x/2"]) == three[1:]
    with pytest.raises(ListError, match="'z' is no list \\(x, y\\), no file with mutants and no mutant"):
        chosen(three, ["z"])
