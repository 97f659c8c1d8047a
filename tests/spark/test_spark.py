"""Spark counts as one machine does, byte for byte: every mechanism, groups, streams, and when executors are killed."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

import deniable as dn
from deniable.collect.parquet import LAYOUTS, write_table
from deniable.run.counting import head_of
from deniable.run.local import count_files, tally_files

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
pytest.importorskip("pyspark", reason="needs pyspark: pip install 'deniable[spark]'")


def java() -> int:
    """The version of Java that is here, or 0."""
    if shutil.which("java") is None:
        return 0
    told = subprocess.run(["java", "-version"], capture_output=True, text=True, check=False).stderr
    return int(told.partition('"')[2].partition(".")[0] or 0)


pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(java() < 17, reason="needs Java 17 or newer: install a JRE, or set JAVA_HOME"),
]
MECHANISMS = [name for name, row in dn.MECHANISMS.items() if row.kind == "mechanism"]


def spark_on(master: str, **config: str):
    from deniable.run import spark

    return spark.start(master, **{"spark.log.level": "OFF", "spark.ui.showConsoleProgress": "false"}, **config)


def tables(folder: Path) -> dict[str, list[str]]:
    """Two tables of reports of every mechanism, packed and one per row."""
    made = {}
    for name in MECHANISMS:
        m = dn.mechanism(name, **dn.MECHANISMS[name].small[0])
        for layout in LAYOUTS:
            levels = {"levels": np.resize(m.levels, 200)} if m.takes == "values with levels" else {}
            reports = m.privatize_items(np.arange(200) % m.k, **levels)
            path = folder / f"{name}-{layout}.parquet"
            write_table(str(path), head_of(m, id=os.urandom(16).hex()), [reports], layout=layout)
            made.setdefault(name, []).append(str(path))
    return made


def kill_once(marker: str):
    """What kills the executor of the first task that comes by; the task is then run again elsewhere."""

    def through(batches):
        for batch in batches:
            try:
                os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                yield batch
                continue
            daemon = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[1])
            executor = int(Path(f"/proc/{daemon}/stat").read_text().rpartition(")")[2].split()[1])
            os.kill(executor, signal.SIGKILL)
            time.sleep(30)

    return through


def slow_once(marker: str):
    """What keeps the first task that comes by waiting; a copy of it, started meanwhile, leaves a note and goes on."""

    def through(batches):
        from pyspark import TaskContext

        task = str(TaskContext.get().partitionId())
        for batch in batches:
            try:
                with open(marker, "x") as file:
                    file.write(task)
            except FileExistsError:
                if Path(marker).read_text() == task:
                    Path(f"{marker}-again").touch()
            else:
                for _ in range(1000):
                    if Path(f"{marker}-again").exists():
                        break
                    time.sleep(0.1)
            yield batch

    return through


def test_every_engine_gives_the_same_bytes(tmp_path):
    from deniable.run import spark

    made = tables(tmp_path)
    session = spark_on("local[2]")
    try:
        with ProcessPoolExecutor(2, get_context("spawn")) as pool:
            apart = list(pool.map(tally_files, [[path] for paths in made.values() for path in paths]))
        for i, (name, paths) in enumerate(made.items()):
            local = dn.dump(tally_files(paths))
            assert dn.dump(apart[2 * i] + apart[2 * i + 1]) == local, name
            assert dn.dump(spark.count_files(session, paths).tally) == local, name
        for name in ("grr", "oue", "olh", "uss", "pldp", "kv-ss2"):
            for path in made[name]:
                assert spark.tally(session.read.parquet(path)).tally == tally_files([path]), path
    finally:
        session.stop()


def test_frames_groups_and_streams(tmp_path):
    from deniable.run import spark
    from deniable.run.spark.parts import tables_of
    from deniable.run.spark.stream import State

    session = spark_on("local[2]")
    try:
        m = dn.mechanism("grr", epsilon=2.0, labels=["no", "yes", "often"])
        values = session.createDataFrame([("no", 1), ("yes", 2), ("often", 1)] * 50, ["answer", "day"])
        out = str(tmp_path / "out of 1 %")
        reports = spark.privatize(values, m, out, column="answer", keep=["day"])
        assert reports.columns == ["report", "day"]
        whole = count_files([out])
        assert whole.tally.n == 150
        assert dn.dump(spark.count_files(session, [out]).tally) == dn.dump(whole.tally)
        many = reports.repartition(40)
        assert spark.tally(many).tally == whole.tally
        plain = tables_of(reports, m.design)  # files and nothing else: tasks open them
        assert sorted(table.path for table in plain) == sorted(map(str, Path(out).glob("*.parquet")))
        assert spark.tally(reports).tally == whole.tally
        for other in (reports.filter("day = 1"), reports.select("report"), reports.limit(100), many):
            assert tables_of(other, m.design) is None
        assert spark.tally(reports.filter("day = 1")).tally.n == 100
        by_day = str(tmp_path / "by-day")
        reports.write.partitionBy("day").parquet(by_day)
        assert tables_of(session.read.parquet(by_day), m.design) is None
        assert spark.tally(session.read.parquet(by_day), m).tally.cells["n"].sum() == 150
        groups = spark.collected(spark.tally(many, by="day"), "day")
        assert {key: part.tally.n for key, part in groups.items()} == {(1,): 100, (2,): 50}
        assert sum(part.tally for part in groups.values()) == whole.tally
        assert {row.n for row in spark.estimate(reports, by="day").collect()} == {50, 100}
        by_task = spark.collected(spark.tally(reports, {1: m, 2: m}, by="day"), "day")
        assert by_task == groups

        bad = session.createDataFrame(
            [(bytearray([0]),), (None,), (bytearray([0, 1]),), (bytearray([9]),)], "report binary"
        )
        counted = spark.tally(bad, m)
        assert (counted.tally.n, counted.skipped) == (1, {"impossible": 1, "length": 1, "null": 1})
        with pytest.raises(dn.FormatError, match=r"missing|another length|no device"):
            spark.tally(bad, m, strict=True)
        with pytest.raises(dn.ParameterError, match="missing"):
            spark.privatize(session.createDataFrame([(None,)], "v string"), m, str(tmp_path / "no"), column="v")

        pairs = session.createDataFrame(
            [(u, k, 0.5) for u in range(40) for k in (0, u % 3)][1::2], ["user", "key", "value"]
        )
        kv = dn.mechanism("kv-ss2", epsilon=2.0, k=3)
        assert spark.tally(spark.privatize(pairs, kv, str(tmp_path / "kv"), seed=1)).tally.n == 40

        stream = session.readStream.schema(reports.schema).parquet(out)
        state = tmp_path / "state"
        for _ in range(2):  # the second time there is nothing new
            spark.tally_stream(stream, m, state, trigger={"availableNow": True}).awaitTermination()
        held = State(state)
        last, query, found, keys = held.read()
        assert found[()].tally == whole.tally.__class__(m.design, whole.tally.strata, whole.tally.cells)
        assert not held.add(last, query, found, keys)  # a batch that comes again
        assert held.tallies[()].tally.n == 150
        with pytest.raises(dn.MergeError, match="another stream"):
            held.add(0, "someone else", found, keys)
    finally:
        session.stop()


def one_table(folder: Path):
    """One table with the reports of all mechanisms, what each of them is on one machine, and the designs by name."""
    made = tables(folder)
    rows = [pq.read_table(paths[1]).replace_schema_metadata(None) for paths in made.values()]
    names = np.repeat(list(made), [len(part) for part in rows])
    path = str(folder / "all.parquet")
    pq.write_table(pa.concat_tables(rows).append_column("name", pa.array(names)), path)
    local = {name: replace(tally_files(paths[1:]), sources=()) for name, paths in made.items()}
    return path, local, {name: dn.from_design(tally.design) for name, tally in local.items()}, made


def check_spoiled(session, table, spoil):
    """Count all reports by one job, of which one task is spoilt: each mechanism must have its bytes."""
    from deniable.run import spark

    path, local, designs, _ = table
    frame = session.read.parquet(path).repartition(6)
    frame = frame.mapInArrow(spoil, frame.schema)
    found = spark.collected(spark.tally(frame, designs, by="name"), "name")
    assert {key[0] for key in found} == set(local)
    for (name,), counted in found.items():
        assert dn.dump(counted.tally) == dn.dump(local[name]), name


@pytest.mark.turns(2)
def test_a_cluster_that_loses_an_executor(tmp_path):
    from deniable.run import spark

    table = one_table(tmp_path)
    session = spark_on("local-cluster[2,1,1024]")
    try:
        check_spoiled(session, table, kill_once(str(tmp_path / "killed")))
        assert (tmp_path / "killed").exists()
        for name in ("grr", "oue", "uss", "kv-ss2"):  # packed blocks
            packed = table[-1][name][:1]
            assert spark.count_files(session, packed).tally == tally_files(packed), name
    finally:
        session.stop()


@contextmanager
def two_hosts():
    """A cluster of two workers that Spark takes for two machines: it never runs a copy of a task on the same one."""
    import pyspark

    home = Path(pyspark.__file__).parent
    names = {"SPARK_HOME": str(home), "PYSPARK_PYTHON": sys.executable, "SPARK_NO_DAEMONIZE": "1"}
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    url = f"spark://127.0.0.1:{port}"
    deploy = [str(home / "bin" / "spark-class"), "org.apache.spark.deploy"]
    commands = [[deploy[0], f"{deploy[1]}.master.Master", "--host", "127.0.0.1", "--port", str(port)]]
    for host in ("127.0.0.1", "127.0.0.2"):
        own = ["--host", host, "--cores", "1", "--memory", "1g", "--webui-port", "0", url]
        commands.append([deploy[0], f"{deploy[1]}.worker.Worker", *own])
    commands[0] += ["--webui-port", "0"]
    with tempfile.TemporaryDirectory() as work, ExitStack() as stack:
        for command in commands:
            process = subprocess.Popen(
                command, cwd=work, env={**os.environ, **names, "SPARK_WORKER_DIR": work}, stderr=subprocess.DEVNULL
            )
            stack.callback(process.wait)
            stack.callback(process.kill)
        yield url


def test_a_task_that_runs_twice_counts_once(tmp_path):
    """One task is kept waiting until Spark runs a copy of it elsewhere (speculation)."""
    table = one_table(tmp_path)
    eager = {"": "true", ".interval": "100ms", ".multiplier": "1.1", ".quantile": "0.3", ".minTaskRuntime": "500ms"}
    config = {f"spark.speculation{key}": text for key, text in eager.items()}
    with two_hosts() as url:
        session = spark_on(url, **config, **{"spark.driver.host": "127.0.0.1", "spark.executor.memory": "512m"})
        try:
            check_spoiled(session, table, slow_once(str(tmp_path / "slow")))
        finally:
            session.stop()
    assert (tmp_path / "slow-again").exists()
