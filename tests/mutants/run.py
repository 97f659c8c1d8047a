"""Mutation testing: small wrong changes of the sources that the tests must notice.

A mutant is data, in the lists beside this file: where it is, a piece of text that occurs there exactly once, what takes
its place, what that breaks, and the tests that must fail. Nothing is edited: each mutant is tried by a process of its
own, forked from one that has imported the sources and collected the tests, where its functions get other code
(`swap.py`). Where that cannot be, and where no test fails, it is imported by a process that has loaded libraries but
nothing of ours. Tests that start other programs do not see a mutant, so they cannot kill one. Mutants of the JavaScript
client are made in a copy of it and tried by its own tests. Tests that fail must pass on the sources as they are.

    bin/mutate                    all lists
    bin/mutate learn              one list
    bin/mutate exact.py           mutants of files whose path contains this (a / or a .py says that a path is meant)
    bin/mutate learn/total-lost   one mutant
    bin/mutate --list             show them, run nothing
    bin/mutate --json             the outcome as data
    bin/mutate --part 2/5         each fifth of them, from the second on
    bin/mutate --lists FOLDER     lists of another folder
    bin/mutate --jobs 4           so many at a time (2)
    bin/mutate --limit 20         seconds of processor time after which a mutant is stopped (60)
    bin/mutate --fresh            import the sources anew for every mutant, which takes longer

Ends with 0 if every mutant is killed or argued equivalent, with 1 if not, with 2 if a list or an option is wrong.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import find_spec
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
LISTS = Path(__file__).resolve().parent
SOURCES = ("clients/python/src", "src")
CLIENT = "clients/js"
"""The client whose mutants are tried by its own tests, which Node runs."""
SCRIPT = ".js"
LIMIT = 60.0
"""Seconds of processor time after which a mutant is stopped. That is a kill only where the list says so (`endless =
true`)."""
PATIENCE = 10
"""What waits for something without working is stopped after so many times that on the clock: machines may be busy."""
BASELINE_LIMIT = 900.0
"""The same for all listed tests without a mutant."""
LIBRARIES = ("numpy", "scipy.optimize", "scipy.stats", "cryptography.hazmat.primitives.ciphers", "numba")
FINE = ("killed", "equivalent")
FIELDS = {"id", "breaks", "old", "new", "tests", "equivalent", "endless"}


class ListError(Exception):
    """A list of mutants that is not well formed, or does not fit the sources any more."""


@dataclass(frozen=True)
class Mutant:
    """One wrong change. `id` is the name of its list and its own."""

    id: str
    file: str
    old: str
    new: str
    breaks: str
    tests: tuple[str, ...]
    equivalent: str = ""
    """Why no test can notice it; it is run all the same, and must live."""
    endless: bool = False
    """It may never end: then being stopped is a kill."""

    def text(self, root: Path) -> str:
        """The wrong source; `ListError` where the list is stale."""
        path = root / self.file
        if not path.is_file():
            raise ListError(f"{self.id}: there is no {self.file}")
        source = path.read_text("utf-8")
        found = source.count(self.old)
        if found != 1:
            raise ListError(f"{self.id}: the old text occurs {found} times in {self.file}, not once:\n{self.old}")
        wrong = source.replace(self.old, self.new)
        if self.file.endswith(SCRIPT):
            return wrong
        try:
            compile(wrong, self.file, "exec")
        except SyntaxError as error:
            raise ListError(f"{self.id}: with the new text {self.file} is no Python: {error}") from error
        return wrong

    def module(self) -> str:
        """The dotted name of the module it changes."""
        base = next((base for base in SOURCES if self.file.startswith(base + "/")), "")
        parts = Path(self.file[len(base) :].lstrip("/")).with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@dataclass
class Outcome:
    """What became of a mutant: killed, alive, equivalent, or an error (stopped, not imported, wrongly argued)."""

    id: str
    status: str
    seconds: float = 0.0
    by: str = ""
    """The first test that failed."""
    note: str = field(default="", repr=False)


# ---- lists


def read_lists(folder: Path = LISTS, root: Path = ROOT) -> list[Mutant]:
    """All mutants, checked; `ListError` names everything that is wrong."""
    mutants, wrong = [], []
    for path in sorted(folder.glob("*.toml")):
        try:
            mutants += list(_read(path))
        except (ListError, tomllib.TOMLDecodeError) as error:
            wrong.append(f"{path.name}: {error}")
    wrong += [f"{name} is there {count} times" for name, count in Counter(m.id for m in mutants).items() if count > 1]
    for mutant in mutants:
        wrong += [f"{mutant.id}: there is no {t}" for t in mutant.tests if not (root / t.partition("::")[0]).is_file()]
        try:
            mutant.text(root)
        except ListError as error:
            wrong.append(str(error))
    if wrong:
        raise ListError("\n".join(wrong))
    return mutants


def _read(path: Path) -> Iterator[Mutant]:
    for group in tomllib.loads(path.read_text("utf-8"))["file"]:
        for row in group["mutant"]:
            unknown, missing = row.keys() - FIELDS, {"id", "breaks", "old", "new"} - row.keys()
            if unknown or missing:
                raise ListError(f"{row.get('id', row)}: unknown {sorted(unknown)}, missing {sorted(missing)}")
            if row["old"] == row["new"] or not row["old"].strip():
                raise ListError(f"{row['id']}: the new text must differ from the old, and the old must say something")
            if "equivalent" in row and len(row["equivalent"].split()) < 5:
                raise ListError(f"{row['id']}: an equivalent mutant needs an argument")
            tests = tuple(row.get("tests", group.get("tests", ())))
            if not tests:
                raise ListError(f"{row['id']}: no tests are listed")
            if any(test.endswith(SCRIPT) != group["path"].endswith(SCRIPT) for test in tests):
                raise ListError(f"{row['id']}: scripts are tried by scripts, and nothing else is")
            rest = {name: row[name] for name in ("old", "new", "breaks", "equivalent", "endless") if name in row}
            yield Mutant(f"{path.stem}/{row['id']}", group["path"], tests=tests, **rest)


def chosen(mutants: Sequence[Mutant], names: Iterable[str]) -> list[Mutant]:
    """Those of the named lists, files or mutants; all without a name."""
    picked: set[str] = set()
    for name in names:
        own = {m.id for m in mutants if name in (m.id, m.id.partition("/")[0]) or (".py" in name and name in m.file)}
        if not own:
            areas = ", ".join(dict.fromkeys(m.id.partition("/")[0] for m in mutants))
            raise ListError(f"{name!r} is no list ({areas}), no file with mutants and no mutant")
        picked |= own
    return [m for m in mutants if not names or m.id in picked]


# ---- one process


class Overlay(MetaPathFinder):
    """Serves one module from a text instead of its file."""

    def __init__(self, module: str, text: str) -> None:
        self.module, self.text = module, text

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name != self.module:
            return None
        spec = PathFinder.find_spec(name, path)
        if spec is not None and spec.origin is not None:
            spec.loader = _Text(name, spec.origin, self.text)
        return spec


class _Text(SourceFileLoader):
    """A module whose text is given; compiled anew, so that no bytecode of the file is read or written."""

    def __init__(self, name: str, path: str, text: str) -> None:
        super().__init__(name, path)
        self.text = text

    def get_code(self, fullname: str) -> Any:
        return compile(self.text, self.path, "exec", dont_inherit=True)


class Watch:
    """Remembers which tests failed, and whether all could be collected."""

    def __init__(self) -> None:
        self.failed: list[str] = []
        self.uncollected: list[str] = []

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            self.failed.append(report.nodeid)

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            self.uncollected.append(f"{report.nodeid}: {str(report.longrepr)[-2000:]}")


def warm(libraries: Sequence[str]) -> None:
    """Load what the tests need and no mutant is in."""
    import hypothesis

    for name in ("pytest", *libraries):
        if find_spec(name.partition(".")[0]) is not None:  # numba is optional
            import_module(name)
    hypothesis.settings.register_profile("mutants", database=None, derandomize=True, deadline=None)
    hypothesis.settings.load_profile("mutants")
    ours = sorted(name for name in sys.modules if name.partition(".")[0] in ("deniable", "deniable_client"))
    assert not ours, f"loaded too early: {ours}"


def _run_scripts(tests: Sequence[str], root: Path, mutant: Mutant | None, folder: Path) -> dict[str, Any]:
    """Node on a copy of the JavaScript client; files beside it are those of the project."""
    copy = folder / CLIENT
    shutil.copytree(root / CLIENT, copy, ignore=shutil.ignore_patterns("node_modules"))
    for beside in (root / CLIENT).parent.iterdir():
        if beside.name != copy.name:
            (copy.parent / beside.name).symlink_to(beside)
    if mutant is not None:
        (folder / mutant.file).write_text(mutant.text(root), "utf-8")
    done = subprocess.run(
        ["node", "--test", "--test-reporter=tap", *(test.removeprefix(f"{CLIENT}/") for test in tests)],
        cwd=copy,
        capture_output=True,
        text=True,
        check=False,
    )
    failed = [line.strip() for line in done.stdout.splitlines() if line.lstrip().startswith("not ok ")]
    return {
        "code": done.returncode,
        "failed": failed,
        "uncollected": [],
        "log": done.stdout[-4000:] + done.stderr[-400:],
    }


def _run_tests(tests: Sequence[str], root: Path, stop: bool, basetemp: str) -> dict[str, Any]:
    """pytest in this process."""
    import pytest

    watch = Watch()
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--assert=plain", f"--rootdir={root}"]
    options += [f"--basetemp={basetemp}", *(["-x"] if stop else [])]
    code = pytest.main([*options, *tests], plugins=[watch])
    return {"code": int(code), "failed": watch.failed, "uncollected": watch.uncollected}


# ---- many processes


@dataclass
class _Child:
    job: Job
    pid: int
    pipe: int
    since: float
    folder: tempfile.TemporaryDirectory[str]
    said: bytes = b""


@dataclass(frozen=True)
class Job:
    """Tests to run on the sources, with a mutant or without."""

    tests: tuple[str, ...]
    mutant: Mutant | None = None
    limit: float = BASELINE_LIMIT


Answer = dict[str, Any]
"""What a child says: the exit code of pytest, the failed tests, what could not be collected; or that it was stopped."""


def _fresh(job: Job, folder: Path, root: Path) -> Answer:
    """The tests of a job in a process that has imported nothing of ours."""
    if job.tests[0].endswith(SCRIPT):
        return _run_scripts(job.tests, root, job.mutant, folder / "copy")
    if job.mutant is not None:
        sys.meta_path.insert(0, Overlay(job.mutant.module(), job.mutant.text(root)))
    answer = _run_tests(job.tests, root, job.mutant is not None, f"{folder}/temp")
    return answer | {"log": (folder / "log").read_text("utf-8", "replace")[-4000:]}


Work = Callable[[Job, Path], Answer]
"""What a child does for a job, in a folder of its own."""


def _start(job: Job, root: Path, work: Work) -> _Child:
    folder = tempfile.TemporaryDirectory(prefix="mutant-", ignore_cleanup_errors=True)
    reading, writing = os.pipe()
    pid = os.fork()
    if pid:
        os.close(writing)
        return _Child(job, pid, reading, time.monotonic(), folder)
    try:  # the child: nothing of the parent runs after this
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.setsid()
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(job.limit), resource.RLIM_INFINITY))
        os.close(reading)
        log = os.open(f"{folder.name}/log", os.O_WRONLY | os.O_CREAT)
        for own in (1, 2):
            os.dup2(log, own)
        tempfile.tempdir = os.environ["TMPDIR"] = folder.name  # where `_end` finds what is left
        os.chdir(root)
        os.write(writing, json.dumps(work(job, Path(folder.name))).encode())
    except BaseException:
        os.write(writing, json.dumps({"code": -1, "log": traceback.format_exc()}).encode())
    finally:
        os._exit(0)
    raise AssertionError("unreachable")


def _end(child: _Child, stopped: bool) -> Answer:
    if stopped:
        os.killpg(child.pid, signal.SIGKILL)
    status = os.waitpid(child.pid, 0)[1]
    stopped |= os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU
    os.close(child.pipe)
    _stop_servers(Path(child.folder.name))
    child.folder.cleanup()
    answer: Answer = {"code": -1}
    with suppress(ValueError):  # a process that a test forked, and that did not end there, says something, too
        answer = json.loads(child.said) if not stopped else answer
    return answer | {"stopped": stopped, "seconds": time.monotonic() - child.since}


def _stop_servers(folder: Path) -> None:
    """End the servers of PostgreSQL that a child has left: they are nobody's children, and outlive all others."""
    for path in folder.rglob("postmaster.pid"):
        with suppress(OSError, ValueError):  # it has ended by itself
            os.kill(int(path.read_text("utf-8").partition("\n")[0]), signal.SIGQUIT)
            for _ in range(200):
                if not path.exists():
                    break
                time.sleep(0.05)


def run_all(
    jobs: Sequence[Job], root: Path, at_once: int, done: Callable[[Job, Answer], None], work: Work | None = None
) -> None:
    """Run the jobs, so many at a time, and hand each answer to `done`; fresh, unless it is told how to `work`."""
    waiting, running = list(jobs)[::-1], list[_Child]()
    try:
        while waiting or running:
            while waiting and len(running) < at_once:
                running.append(_start(waiting.pop(), root, work or (lambda job, folder: _fresh(job, folder, root))))
            ready = select.select([child.pipe for child in running], [], [], 0.5)[0]
            for child in list(running):
                said = os.read(child.pipe, 1 << 16) if child.pipe in ready else None
                child.said += said or b""
                late = time.monotonic() - child.since > PATIENCE * child.job.limit
                if said == b"" or late:
                    running.remove(child)
                    done(child.job, _end(child, stopped=said != b""))
    finally:
        for child in running:
            _end(child, stopped=True)


def judge(mutant: Mutant, answer: Answer) -> Outcome:
    """What an answer says about a mutant."""
    note, by = "", ""
    if answer["stopped"]:
        status, note = ("killed" if mutant.endless else "error"), f"stopped after {answer['seconds']:.0f} s"
    elif answer["code"] == 0:
        status = "equivalent" if mutant.equivalent else "alive"
    elif answer["code"] == 1 and answer["failed"]:
        status, by = "killed", answer["failed"][0]
    else:
        told = answer.get("uncollected") or [answer.get("log", "the process died")]
        status, note = "error", f"the tests could not be run (exit code {answer['code']}): {told[0]}"
    if status == "killed" and mutant.equivalent:
        status, note = "error", "argued equivalent, but a test notices it"
    return Outcome(mutant.id, status, answer["seconds"], by, note)


def check_baseline(tests: Sequence[str], root: Path, at_once: int) -> None:
    """Tests pass on the sources as they are, or `ListError`: a broken test must not count as a kill."""
    wrong: list[str] = []

    def done(job: Job, answer: Answer) -> None:
        if answer["code"] != 0:
            wrong.extend(answer.get("failed") or answer.get("uncollected") or [answer.get("log", "stopped: too slow")])

    scripts = [test for test in tests if test.endswith(SCRIPT)]
    tests = [test for test in tests if not test.endswith(SCRIPT)]
    parts = [tuple(scripts), *(tuple(tests[i::at_once]) for i in range(at_once))]
    run_all([Job(part) for part in parts if part], root, at_once, done)
    if wrong:
        raise ListError("these tests fail on the sources as they are:\n" + "\n".join(wrong))


def run_swapped(jobs: Sequence[Job], root: Path, at_once: int, done: Callable[[Job, Answer], None]) -> None:
    """Try mutants in forks of one process that imports and collects once; those that it cannot try are not answered.

    Each test that fails is run in a fork without a mutant, too: if it fails there as well, it has not noticed anything.
    """
    reading, writing = os.pipe()
    pid = os.fork()
    if not pid:
        try:
            os.close(reading)
            signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            os.chdir(root)
            _nursery(jobs, root, at_once, writing)
        finally:
            os._exit(0)
    os.close(writing)
    try:
        with os.fdopen(reading, "rb") as lines:
            for line in lines:
                number, answer = json.loads(line)
                done(jobs[number], answer)
    finally:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
        os.waitpid(pid, 0)


def _nursery(jobs: Sequence[Job], root: Path, at_once: int, writing: int) -> None:
    import pytest

    sys.path.insert(0, str(LISTS.parent))
    from mutants.swap import Nursery

    def told(job: Job, answer: Answer) -> None:
        os.write(writing, json.dumps([numbers[id(job)], answer]).encode() + b"\n")

    numbers = {id(job): i for i, job in enumerate(jobs)}
    nursery = Nursery(jobs, root, at_once, told)
    tests = list(dict.fromkeys(test for job in jobs for test in job.tests))
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--assert=plain", f"--rootdir={root}"]
    with tempfile.TemporaryDirectory(prefix="mutants-", ignore_cleanup_errors=True) as folder:
        pytest.main([*options, f"--basetemp={folder}/temp", *tests], plugins=[nursery, nursery.watch])


def mutate(
    mutants: Sequence[Mutant], root: Path, at_once: int, limit: float, say: Callable[[str], None], fresh: bool = False
) -> list[Outcome]:
    """Run all of them; `ListError` if tests that fail do so without any."""
    outcomes: dict[str, Outcome] = {}
    jobs = {mutant.id: Job(mutant.tests, mutant, limit) for mutant in mutants}

    def done(job: Job, answer: Answer) -> None:
        assert job.mutant is not None
        found = outcomes[job.mutant.id] = judge(job.mutant, answer)
        count, told = f"{len(outcomes)}/{len(mutants)}", found.note or (found.by and f"by {found.by}")
        say(f"{count:>8} {found.status:10} {found.seconds:5.1f} s  {found.id}" + (f"  {told}" if told else ""))

    def swapped(job: Job, answer: Answer) -> None:
        if answer["code"] == 1 or (answer["stopped"] and job.mutant and job.mutant.endless):
            done(job, answer)

    ours = [job for job in jobs.values() if not job.tests[0].endswith(SCRIPT)]
    if ours and not fresh:
        run_swapped(ours, root, at_once, swapped)
    sound = set(outcomes)
    run_all([job for name, job in jobs.items() if name not in outcomes], root, at_once, done)
    start = time.monotonic()
    others = [found for name, found in outcomes.items() if found.by and name not in sound]
    check_baseline(list(dict.fromkeys(_test_of(jobs[found.id], found) for found in others)), root, at_once)
    say(f"the tests that failed pass on the sources as they are, {time.monotonic() - start:.0f} s")
    return [outcomes[mutant.id] for mutant in mutants]


def _test_of(job: Job, found: Outcome) -> str:
    """The test that failed, as it can be asked for: of scripts the whole file."""
    return job.tests[0] if job.tests[0].endswith(SCRIPT) else found.by


# ---- the command


def summary(outcomes: Sequence[Outcome], seconds: float) -> str:
    """One line per list, then all."""
    areas = dict.fromkeys(found.id.partition("/")[0] for found in outcomes)
    rows = {area: [o for o in outcomes if o.id.startswith(area + "/")] for area in areas} | {"all": list(outcomes)}
    lines = []
    for area, own in rows.items():
        counts = Counter(found.status for found in own)
        told = ", ".join(f"{counts[s]} {s}" for s in (*FINE, "alive", "error") if counts[s] or s in FINE)
        lines.append(f"{area:12} {len(own):4} mutants: {told}")
    return "\n".join([*lines, f"{seconds:.0f} s"])


def part(text: str) -> tuple[int, int]:
    """Which of how many parts: 2/5 is (2, 5)."""
    first, mark, parts = text.partition("/")
    if not (mark and first.isdecimal() and parts.isdecimal() and 1 <= int(first) <= int(parts)):
        raise argparse.ArgumentTypeError(f"must be a part such as 2/5, got {text!r}")
    return int(first), int(parts)


def main(arguments: Sequence[str] | None = None, folder: Path = LISTS, root: Path = ROOT) -> int:
    """The command; returns its exit code."""
    parser = argparse.ArgumentParser(
        "bin/mutate", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="AREA|FILE|ID")
    parser.add_argument("--list", action="store_true", help="show the mutants, run nothing")
    parser.add_argument("--json", action="store_true", help="the outcome as data")
    parser.add_argument("--part", type=part, default=(1, 1), metavar="I/N", help="each N-th mutant from the I-th on")
    parser.add_argument("--lists", type=Path, default=folder, metavar="FOLDER", help="where the lists are")
    parser.add_argument("--jobs", type=int, default=2, help="mutants at a time (2)")
    parser.add_argument("--fresh", action="store_true", help="import the sources anew for every mutant")
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds of processor time for a mutant (60)")
    given = parser.parse_args(arguments)
    if given.jobs < 1 or given.limit <= 0:
        parser.error("--jobs must be at least 1, and --limit above 0")
    start = time.monotonic()
    try:
        first, step = given.part
        mutants = chosen(read_lists(given.lists, root), given.names)[first - 1 :: step]
        if given.list:
            _show(mutants, given.json)
            return 0
        sys.path[:0] = [str(root / base) for base in SOURCES]
        warm(LIBRARIES if root == ROOT else ())
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that children are ended, too
        told = sys.stderr if given.json else sys.stdout
        outcomes = mutate(
            mutants, root, given.jobs, given.limit, lambda line: print(line, file=told, flush=True), given.fresh
        )
    except ListError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    seconds = time.monotonic() - start
    if given.json:
        print(json.dumps({"seconds": round(seconds, 1), "outcomes": [asdict(found) for found in outcomes]}, indent=1))
    else:
        print(summary(outcomes, seconds))
    return 0 if all(found.status in FINE for found in outcomes) else 1


def _show(mutants: Sequence[Mutant], as_json: bool) -> None:
    if as_json:
        print(json.dumps([asdict(mutant) for mutant in mutants], indent=1))
        return
    for mutant in mutants:
        why = f" (equivalent: {mutant.equivalent})" if mutant.equivalent else ""
        print(f"{mutant.id}: {mutant.breaks}{why}")


if __name__ == "__main__":
    os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    for name in [name for name in os.environ if name.startswith("PYTEST_")]:
        del os.environ[name]  # a run inside another one is a run of its own
    sys.exit(main())
