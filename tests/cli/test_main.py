"""The way out: exit codes, interruptions, closed pipes, what is imported, progress."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import deniable as dn
from deniable.cli import output
from deniable.cli.output import Output
from deniable.mechanisms.frequency.grr import ResponseBulk
from deniable.run import inputs

PROGRAM = [sys.executable, "-c", "from deniable.cli import main; raise SystemExit(main())"]
GRR3 = ["grr", "--epsilon", 1, "--k", 3]


def test_help_version_and_no_command(run):
    assert run("--version").out == f"deniable {dn.__version__}\n"
    done = run("--help")
    assert (done.code, done.err) == (0, "")
    for name in ("mechanisms", "design", "privatize", "tally", "estimate", "simulate", "audit", "reproduce", "demo"):
        assert f"\n  {name} " in done.out
        assert "Example: deniable" in run(name, "--help").out or name in ("mechanisms", "demo")
    nothing = run()
    assert (nothing.code, nothing.raw) == (2, b"")
    assert nothing.err.startswith("Usage: deniable")


def test_our_own_faults_have_exit_code_3(run, monkeypatch):
    from deniable.cli import designs

    def broken(m, n):
        raise ZeroDivisionError("oh")

    monkeypatch.setattr(designs, "describe", broken)
    done = run("design", *GRR3)
    assert (done.code, done.raw) == (3, b"")
    assert "ZeroDivisionError: oh" in done.err
    assert "Traceback" not in done.err
    assert run("design", *GRR3, "--json").json["error"]["type"] == "ZeroDivisionError"
    monkeypatch.setenv("DENIABLE_DEBUG", "1")
    assert "Traceback" in run("design", *GRR3).err


def test_a_full_disk_is_told_as_such(run, tmp_path):
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("this system has no /dev/full to write to")
    (tmp_path / "v.txt").write_text("0\n")
    done = run("privatize", *GRR3, "v.txt", "--out", full)
    assert done.code == 2
    assert "No space left" in done.err


def test_interruption_leaves_nothing_behind(run, tmp_path, monkeypatch):
    (tmp_path / "v.txt").write_text("0\n" * 100)
    (tmp_path / "old").write_bytes(b"old")
    monkeypatch.setattr(inputs, "CHUNK_VALUES", 40)
    real, calls = ResponseBulk.perturb, []

    def interrupted(self, items, rng):
        calls.append(items.size)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return real(self, items, rng)

    monkeypatch.setattr(ResponseBulk, "perturb", interrupted)
    assert run("privatize", *GRR3, "v.txt", "--out", "old", "--force").code == 130
    assert sorted(calls) == [20, 40, 40], "chunks are privatised side by side, in any order"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["old", "v.txt"]
    assert (tmp_path / "old").read_bytes() == b"old"


def test_control_c_from_outside(tmp_path, monkeypatch):
    monkeypatch.setenv("DENIABLE_KERNELS", "reference")
    line = [*PROGRAM, "privatize", *map(str, GRR3), "-", "--out", str(tmp_path / "r")]
    with subprocess.Popen(line, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdin.write(b"0\n1\n")
        process.stdin.flush()
        until = time.monotonic() + 120
        while not list(tmp_path.iterdir()) and time.monotonic() < until:
            time.sleep(0.02)
        assert [path.suffix for path in tmp_path.iterdir()] == [".part"]
        process.send_signal(signal.SIGINT)
        process.wait(120)
        told = process.stderr.read().decode()
    assert process.returncode == 130
    assert "Traceback" not in told
    assert list(tmp_path.iterdir()) == []


INTERRUPTED_AT = """
import os, signal, sys

class Interrupt:
    def find_spec(self, name, *_):
        if name == {at!r}:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupt())
from deniable.cli import main
raise SystemExit(main(["design", "ss", "--epsilon", "1", "--k", "5"]))
"""


@pytest.mark.parametrize("at", ["typer", "numpy", "deniable.mechanisms.registry", "deniable.run.describe"])
def test_control_c_while_modules_are_loaded(at):
    code = INTERRUPTED_AT.format(at=at)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr == "interrupted; nothing half-done was left behind.\n"


def test_the_list_of_commands_says_what_the_commands_say():
    from deniable.cli.app import _COMMANDS

    for name, row in _COMMANDS.items():
        made = row.load()
        if row.group:
            assert len(made) > 1
            assert all(function.__doc__ for function, _ in made.values())
            continue
        function, _ = made[name]
        assert (function.__name__, function.__doc__.splitlines()[0]) == (name, row.summary)


def test_an_option_is_not_taken_for_the_value_of_another(run, tmp_path):
    (tmp_path / "v.txt").write_text("0\n")
    done = run("privatize", *GRR3, "v.txt", "--out", "--json")
    assert done.code == 2
    assert "--out must be followed by a value, not by an option, got '--json'" in done.err + done.out
    assert [path.name for path in tmp_path.iterdir()] == ["v.txt"]


def test_arguments_in_errors_are_written_as_options(run):
    done = run("plan", "--k", 5, "--n", 100, "--epsilon", 1, "--max-asr", 2)
    assert done.err.startswith("error: --max-asr must be at most 1, got 2.0.")
    assert "use --k 2" in run("design", "ss", "--epsilon", 1, "--k", 1).err


def test_a_closed_pipe_is_no_drama():
    with subprocess.Popen([*PROGRAM, "mechanisms"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        told = process.stderr.read().decode()
        process.wait(120)
    assert (process.returncode, told) == (141, "")


def test_the_pipeline_in_the_shells_way(monkeypatch):
    monkeypatch.setenv("DENIABLE_KERNELS", "reference")  # the results are the same; they start sooner
    values = "0\n1\n1\n2\n" * 500
    lines = [
        ["privatize", "olh", "--epsilon", "1", "--k", "3", "-", "--out", "-", "--seed", "3"],
        ["tally", "-", "--out", "-"],
        ["estimate", "-", "--json"],
    ]
    data = values.encode()
    processes = []
    for line in lines:
        before = processes[-1].stdout if processes else subprocess.PIPE
        processes.append(
            subprocess.Popen([*PROGRAM, *line], stdin=before, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        )
    for process in processes[:-1]:
        process.stdout.close()
    processes[0].stdin.write(data)
    processes[0].stdin.close()
    found = json.loads(processes[-1].communicate(timeout=300)[0])
    for process in processes[:-1]:
        process.wait(120)
        process.stderr.close()
    assert [process.returncode for process in processes] == [0, 0, 0]
    m = dn.mechanism("olh", epsilon=1.0, k=3)
    expected = m.estimate(m.tally(m.privatize([int(v) for v in values.split()], rng=dn.simulation(3))))
    assert found["value"] == expected.value.tolist()
    assert found["simulated"] is True


HYGIENE = """
import sys
{do}
loaded = {modules!r} & set(sys.modules)
sys.stdout.flush()
assert not loaded, loaded
"""
HEAVY = {"scipy", "altair", "numba", "cryptography", "pyarrow", "pandas", "polars", "pydantic"}
DESIGN = "from deniable.cli import main\nassert main(['design', 'olh', '--epsilon', '1', '--k', '9']) == 0"


@pytest.mark.parametrize(
    ("do", "modules"),
    [
        (
            "import deniable",
            {"scipy", "typer", "rich", "altair", "numba", "cryptography", "pyarrow", "pandas", "polars"},
        ),
        (DESIGN, HEAVY | {"rich.console", "concurrent.futures", "logging"}),
        (
            "from deniable.cli import main\nassert main(['--help']) == 0",
            HEAVY | {"numpy", "rich.console", "deniable.mechanisms.registry"},
        ),
    ],
    ids=["library", "design", "help"],
)
def test_only_what_is_needed_is_imported(do, modules):
    code = HYGIENE.format(do=do, modules=modules)
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, env=environment)
    assert done.returncode == 0, done.stderr


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress_is_shown_on_a_terminal_after_a_while_only(monkeypatch, capsys):
    monkeypatch.setenv("TERM", "xterm")
    shown = {}
    for patience in (0.0, 60.0):
        screen = Terminal()
        monkeypatch.setattr(output, "_PATIENCE", patience)
        monkeypatch.setattr(sys, "stderr", screen)
        with Output(as_json=True).progress("counting") as progress:
            for done in range(3):
                time.sleep(0.001)
                progress(done, 3)
        shown[patience] = screen.getvalue()
    assert "counting" in shown[0.0]
    assert shown[60.0] == ""
    assert capsys.readouterr().out == ""


def test_progress_is_silent_in_a_pipe(monkeypatch):
    pipe = io.StringIO()
    monkeypatch.setattr(output, "_PATIENCE", 0.0)
    monkeypatch.setattr(sys, "stderr", pipe)
    with Output(as_json=False).progress("counting") as progress:
        time.sleep(0.001)
        progress(1, None)
    assert pipe.getvalue() == ""


def test_bytes_do_not_go_to_a_terminal(tmp_path, monkeypatch, capsys):
    from deniable.cli import main

    (tmp_path / "v.txt").write_text("0\n")
    screen = Terminal()
    monkeypatch.setattr(sys, "stdout", screen)
    assert main(["privatize", *map(str, GRR3), str(tmp_path / "v.txt"), "--out", "-"]) == 2
    assert screen.getvalue() == ""
    assert "terminal" in capsys.readouterr().err


def test_tables_are_styled_on_a_terminal_and_fit(monkeypatch):
    from deniable.cli import main

    screen = Terminal()
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["mechanisms"]) == 0
    text = screen.getvalue()
    assert "\x1b[1m" in text
    assert max(len(line) for line in re.sub(r"\x1b\[[0-9;]*m", "", text).splitlines()) <= 80


def test_control_c_just_after_modules_are_loaded() -> None:
    """The moment in which the usual handler stands again and the command has not begun."""
    code = "\n".join(
        [
            "import os, signal, deniable.cli as cli",
            "usual = signal.signal",
            "def then(number, handler):",
            "    found = usual(number, handler)",
            "    if handler is signal.default_int_handler:",
            "        os.kill(os.getpid(), number)",
            "    return found",
            "signal.signal = then",
            "raise SystemExit(cli.main(['--help']))",
        ]
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stderr) == (130, "interrupted; nothing half-done was left behind.\n")
