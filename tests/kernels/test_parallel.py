"""Work on several threads: the same results whatever their number, and no thread left behind."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import deniable as dn
from deniable.errors import FormatError, ParameterError
from deniable.kernels import loops, parallel, reference, sparing, using
from deniable.randomness import Replay, Secure, Simulation, secure, simulation


@pytest.mark.parametrize("count", [1, 3])
def test_number_of_threads_is_what_the_environment_says(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DENIABLE_THREADS", str(count))
    assert parallel.threads() == count
    assert len(parallel.shares(100)) == count


def test_number_of_threads_is_the_number_of_usable_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DENIABLE_THREADS", raising=False)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 5, 6}, raising=False)
    assert parallel.threads() == 3
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert parallel.threads() == 1


@pytest.mark.parametrize("text", ["0", "-1", "two", "1.5"])
def test_other_numbers_of_threads_are_refused(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DENIABLE_THREADS", text)
    with pytest.raises(ParameterError, match="DENIABLE_THREADS must be an integer >= 1"):
        parallel.threads()


@pytest.mark.parametrize("n", [0, 1, 2, 9, 10, 11])
@pytest.mark.parametrize("size", [1, 3, 10])
def test_blocks_and_shares_cover_everything_once(n: int, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DENIABLE_THREADS", str(size))
    for parts in (parallel.blocks(n, size), parallel.shares(n)):
        assert [i for part in parts for i in range(n)[part]] == list(range(n))
        assert all(part.start < part.stop for part in parts)


def test_jobs_run_at_the_same_time_and_answer_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DENIABLE_THREADS", "2")
    meeting = threading.Barrier(2, timeout=60)  # nobody passes alone

    def work(job: int) -> int:
        meeting.wait()
        return 10 * job

    before = set(threading.enumerate())
    assert parallel.run(work, range(4)) == [0, 10, 20, 30]
    assert set(threading.enumerate()) <= before  # of other tests' threads some may have ended meanwhile


def test_one_thread_is_the_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DENIABLE_THREADS", "1")
    assert set(parallel.run(lambda _: threading.get_ident(), range(3))) == {threading.get_ident()}


def test_an_error_of_a_job_is_the_caller_s(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DENIABLE_THREADS", "2")

    def work(job: int) -> int:
        if job == 3:
            raise FormatError("job 3")
        return job

    with pytest.raises(FormatError, match="job 3"):
        parallel.run(work, range(6))


@pytest.mark.parametrize("count", [1, 2, 4])
def test_results_come_in_order_while_few_jobs_are_fetched(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DENIABLE_THREADS", str(count))
    fetched: list[int] = []

    def jobs() -> Iterator[int]:
        for job in range(20):
            fetched.append(job)
            yield job

    most = 0
    for done, result in enumerate(parallel.ahead(lambda job: job * job, jobs())):
        assert result == done**2
        most = max(most, len(fetched) - done)
    assert len(fetched) == 20
    assert most == (1 if count == 1 else count + 1)


@pytest.mark.parametrize("count", ["1", "3"])
@pytest.mark.parametrize(("bad_job", "bad_fetch", "seen"), [(4, 99, 4), (99, 4, 4), (2, 3, 2), (3, 3, 3)])
def test_the_first_error_is_the_one_that_appears(
    count: str, bad_job: int, bad_fetch: int, seen: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DENIABLE_THREADS", count)

    def jobs() -> Iterator[int]:
        for job in range(10):
            if job == bad_fetch:
                raise FormatError("fetch")
            yield job

    def work(job: int) -> int:
        if job == bad_job:
            raise ParameterError("job")
        return job

    results: list[int] = []
    with pytest.raises(FormatError if bad_fetch <= bad_job else ParameterError):
        results.extend(parallel.ahead(work, jobs()))
    assert results == list(range(seen))


def test_work_within_work_stays_on_its_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DENIABLE_THREADS", "2")

    def outer(_: int) -> bool:
        return set(parallel.run(lambda _: threading.get_ident(), range(3))) == {threading.get_ident()}

    assert parallel.run(outer, range(2)) == [True, True]
    assert list(parallel.ahead(outer, range(2))) == [True, True]
    assert parallel.threads() == 2


@pytest.mark.parametrize("name", ["grr", "ss", "oue", "olh"])
def test_seeded_reports_do_not_depend_on_the_threads(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    m = dn.mechanism(name, epsilon=1.0, k=300)
    n = 2 * m.bulk.block + 17
    items = np.arange(n) % 300
    made = []
    for count in ("1", "2", "5"):
        monkeypatch.setenv("DENIABLE_THREADS", count)
        made.append(m.privatize(items, rng=simulation(9)))
    tallies = [m.tally(reports) for reports in made]
    for reports in made[1:]:
        for field, column in reports.columns.items():
            np.testing.assert_array_equal(column, made[0].columns[field])
    monkeypatch.setenv("DENIABLE_THREADS", "1")
    assert tallies[0] == m.tally(made[0][: n // 3]) + m.tally(made[0][n // 3 :])
    assert all(tally == tallies[0] for tally in tallies)
    assert tallies[0].n == n


def test_blocks_depend_on_the_length_of_a_report_alone() -> None:
    """A million bytes at a time, from 64 reports to 65,536: seeded runs repeat as long as this stays."""
    for k, block in ((8, 1 << 16), (128, 1 << 16), (136, (1 << 20) // 17), (8000, 1048), (1 << 20, 64)):
        assert dn.mechanism("oue", epsilon=1.0, k=k).bulk.block == block


def test_blocks_have_streams_of_their_own() -> None:
    m = dn.mechanism("oue", epsilon=1.0, k=64)
    items = np.zeros(2 * m.bulk.block, np.int64)
    for rng in (simulation(3), secure(), None):
        bits = m.privatize(items, rng=rng).columns["bits"]
        assert (bits[: m.bulk.block] != bits[m.bulk.block :]).any(axis=1).mean() > 0.99


def test_a_stream_gives_further_children_each_time() -> None:
    for stream in (simulation(3), secure()):
        words = [child.draw(64, 4).tolist() for _ in range(2) for child in stream.spawn(2)]
        words.append(stream.draw(64, 4).tolist())
        assert len({tuple(w) for w in words}) == 5
        assert all(isinstance(child, type(stream)) for child in stream.spawn(1))
    assert isinstance(simulation(1).spawn(1)[0], Simulation)
    assert isinstance(secure().spawn(1)[0], Secure)


def test_given_words_are_not_divided() -> None:
    m = dn.mechanism("grr", epsilon=1.0, k=4)
    with pytest.raises(ParameterError, match="cannot be divided"):
        m.privatize(np.zeros(m.bulk.block + 1, np.int64), rng=Replay([], 64))


def test_a_bad_report_in_any_share_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DENIABLE_THREADS", "3")
    m = dn.mechanism("grr", epsilon=1.0, k=200)
    reports = m.privatize(np.zeros(60_000, np.int64), rng=simulation(2))
    for place in (0, 30_000, 59_999):
        column = reports.columns["value"].copy()
        column[place] = 200
        broken = dn.Reports(reports.design, reports.fields, {"value": column}, simulated=True)
        with pytest.raises(FormatError, match="the value 200"):
            m.tally(broken)


def on_threads(count: int, work: Callable[[], object], seconds: float) -> list[Exception]:
    """Threads that do the same again and again and change places as often as they can; the errors they meet."""
    errors: list[Exception] = []
    start, end = threading.Barrier(count), time.monotonic() + seconds

    def repeat() -> None:
        start.wait(60)
        while not errors and time.monotonic() < end:
            try:
                work()
            except Exception as error:
                errors.append(error)

    workers = [threading.Thread(target=repeat) for _ in range(count)]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    finally:
        sys.setswitchinterval(before)
    return errors


@pytest.mark.slow
def test_threads_do_not_disturb_each_other() -> None:
    """Errors of shared state came after a tenth of a second of `sparing`, after one or two of `tally`."""
    m = dn.mechanism("grr", epsilon=1.0, k=4)
    reports = m.privatize([0, 1, 2, 3], rng=simulation(1))
    expected = m.tally(reports)

    def spare() -> None:
        with sparing(4), using("reference"):
            assert loops() is reference

    def count() -> None:
        assert m.tally(reports) == expected

    assert on_threads(8, spare, 1.0) == []
    assert on_threads(8, count, 3.0) == []


def test_loops_chosen_in_a_thread_are_its_own() -> None:
    pytest.importorskip("numba", reason="needs numba: pip install 'deniable[fast]'")
    meeting, seen = threading.Barrier(2), []

    def choose() -> None:
        with using("reference"):
            meeting.wait(60)
            meeting.wait(60)
            seen.append(loops())

    with using("compiled") as own:
        other = threading.Thread(target=choose)
        other.start()
        meeting.wait(60)
        assert loops() is own
        meeting.wait(60)
        other.join()
        assert loops() is own
    assert seen == [reference]


@pytest.mark.parametrize("name", ["reference", "compiled"])
def test_workers_use_the_loops_of_their_caller(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DENIABLE_THREADS", "2")
    if name == "compiled":
        pytest.importorskip("numba", reason="needs numba: pip install 'deniable[fast]'")
    with using(name) as own:
        assert parallel.run(lambda _: loops(), range(4)) == [own] * 4
        assert list(parallel.ahead(lambda _: loops(), range(4))) == [own] * 4


CHILD = """
import os, sys
import numpy as np
import deniable as dn
from deniable.kernels import loops
m = dn.mechanism("oue", epsilon=1.0, k=100)
items = np.arange(4 * m.bulk.block) % 100
print(loops().__name__.rpartition(".")[2], m.tally(m.privatize(items, rng=dn.simulation(5))).cells["support"].sum())
if hasattr(os, "fork"):
    pid = os.fork()
    if pid == 0:
        ok = m.tally(m.privatize(items)).n == items.size
        os._exit(0 if ok else 1)
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""


@pytest.mark.slow
def test_processes_with_and_without_numba_agree_and_may_fork() -> None:
    pytest.importorskip("numba", reason="compares with the compiled loops: pip install 'deniable[fast]'")
    answers = {}
    for name in ("reference", "compiled", "auto"):
        environment = {**os.environ, "DENIABLE_KERNELS": name, "DENIABLE_THREADS": "2"}
        command = [sys.executable, "-c", CHILD]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        answers[name] = done.stdout.split()
    assert [answers[name][0] for name in answers] == ["reference", "compiled", "compiled"]
    assert len({answer[1] for answer in answers.values()}) == 1


def test_everything_works_without_numba() -> None:
    """In a process that cannot import numba."""
    code = "import sys; sys.modules['numba'] = None\n" + CHILD
    environment = {key: value for key, value in os.environ.items() if key != "DENIABLE_KERNELS"}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[0] == "reference"


def test_an_unknown_set_of_loops_is_refused() -> None:
    environment = {**os.environ, "DENIABLE_KERNELS": "fastest"}
    code = "import deniable.kernels as k; k.loops()"
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode != 0
    assert "DENIABLE_KERNELS must be auto, reference or compiled" in done.stderr


@pytest.mark.parametrize(("lines", "loaded"), [(50, False), (70_000, True)])
def test_numba_is_loaded_for_much_work_only(lines: int, loaded: bool, tmp_path: Path) -> None:
    """Loading it takes longer than little work."""
    pytest.importorskip("numba", reason="needs numba: pip install 'deniable[fast]'")
    (tmp_path / "v.txt").write_text("0\n1\n" * (lines // 2))
    code = (
        "import sys; import deniable as dn; from deniable.run.local import privatize_file, tally_files\n"
        "m = dn.mechanism('grr', epsilon=1.0, k=2)\n"
        "print(privatize_file(m, 'v.txt', 'r'), tally_files(['r']).n, 'numba' in sys.modules)"
    )
    environment = {key: value for key, value in os.environ.items() if key != "DENIABLE_KERNELS"}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [str(lines), str(lines), str(loaded)]
