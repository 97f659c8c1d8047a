"""Commands that pages show without their output: each exists with its options, and runs, or it is said why it does not.

Blocks with output (`console`) are run by `docs/generate.py`; these are the indented ones, and commands within a line.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from deniable.cli.app import build

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(
    path
    for path in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    if "decisions" not in path.relative_to(ROOT).parts
)
PROGRAMS = ("deniable", "python", "python3", "curl", "podman", "systemctl", "./bin/", "npm", "node", "export")
NOT_RUN = {
    "deniable serve": "runs until it is stopped; tests/smoke and tests/second start it",
    "deniable reproduce": "takes minutes; the tests of the papers run each part",
    "deniable conformance": "asks thousands of questions; its own tests run it",
    "deniable verify https://": "needs an address on the internet; its own tests serve a task",
    "deniable task export": "needs a week of reports; the tests of the collector export one",
    "deniable task next collaborative --epsilon 1 --k 50 --sensitive 10 --after": "needs a round that is over",
    "deniable design optimal --objective release --promise promise.json": "its files are long; its own tests have them",
    "deniable plan --question release": "its files are long; its own tests have them",
    "./bin/": "sets up the checkout, runs the tests or the demonstration; CI runs it",
    "python3 -m pip": "installs; tests of the installation do so in an empty environment",
    "python3 -m venv": "steps of a deployment; tests/deploy runs them in an empty environment",
    "npm install": "installs a package that a release makes; tests/release do so in an empty project",
    "podman": "needs a container engine; tests/deploy checks what can be checked without",
    "systemctl": "needs systemd; tests/deploy checks the unit",
    "curl": "needs a collector with a week of reports; the tests of the service ask for the same",
}
"""How commands begin that are not run here, and why."""
FILES = {
    "docs/howto/questions.md": {
        "questions.json": '{"questions": {"smokes": ["no", "yes"], "sport": ["never", "weekly", "daily"]}, '
        '"epsilon": 1, "tables": [["smokes", "sport"]]}',
        "answers.csv": "smokes,sport\n" + "no,weekly\nyes,never\nno,daily\n" * 100,
    },
}
"""What a page says that somebody has."""


OTHERS = ("deniable webhook 1",)
"""What begins like a command and is none: the text that a signature begins with."""


def commands(text: str) -> Iterator[str]:
    """The commands of indented blocks, each on one line, without remarks."""
    text = re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
    lines = re.findall(r"^    ((?:[^\n]*\\\n)*[^\n]*)$", text, re.MULTILINE)
    for line in lines:
        whole = re.sub(r"\\\n\s*", "", line).strip()
        if whole.startswith(PROGRAMS):
            yield re.sub(r"\s{2,}#.*", "", whole)


def reason(command: str) -> str | None:
    return next((why for start, why in NOT_RUN.items() if command.startswith(start)), None)


@cache
def root() -> Any:
    return get_command(build())


def fault(command: str) -> str | None:
    """What is wrong with a command line of ours: a command that there is not, or an option."""
    words = re.sub(r'"[^"]*"', "TEXT", command).split()[1:]
    here, path = root(), "deniable"
    while (
        words
        and getattr(here, "commands", None)
        and re.fullmatch(r"[a-z-]+", words[0])
        and not words[0].startswith("-")
    ):
        found = here.get_command(None, words[0])
        if found is None:
            return f"there is no {path} {words[0]}"
        here, path = found, f"{path} {words.pop(0)}"
    known = {option for parameter in here.params for option in (*parameter.opts, *parameter.secondary_opts)} | {
        "--help"
    }
    words = words[: next((i for i, word in enumerate(words) if word in ("|", "&&", ">", ";")), len(words))]
    wrong = [word for word in words if re.match(r"--\w", word) and word.partition("=")[0] not in known]
    return f"{path} has no {', '.join(wrong)}" if wrong else None


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def test_every_command_that_a_page_names_exists_with_its_options() -> None:
    """In blocks of all kinds and within lines."""
    wrong, seen = [], 0
    for page in PAGES:
        text = re.sub(r"\\\n\s*(?:> )?", "", page.read_text("utf-8"))
        for found in re.findall(r"`(deniable [^`\n]+)`|^(?:    |\$ )(deniable [^\n]*)$", text, re.MULTILINE):
            seen += 1
            told = fault("".join(found)) if "".join(found) not in OTHERS else None
            wrong += [f"{name_of(page)}: {told}"] if told else []
    assert wrong == []
    assert seen > 200


def test_commands_that_do_not_exist_would_be_found() -> None:
    assert fault("deniable plan --k 4 --n 100 --epsilon 1 > plan.json") is None
    assert fault("deniable task export ID --what tally && deniable estimate --nonsense") is None
    assert fault("deniable plane --k 4") == "there is no deniable plane"
    assert fault("deniable task opens ID") == "there is no deniable task opens"
    assert fault("deniable plan --ks 4") == "deniable plan has no --ks"
    assert list(commands("a\n\n    deniable plan \\\n        --k 4   # four\n    x = 1\n")) == ["deniable plan --k 4"]


def test_commands_without_output_are_run_or_it_is_said_why_not() -> None:
    """Every reason is used, and so is every page with files."""
    found = {name_of(page): list(commands(page.read_text("utf-8"))) for page in PAGES}
    told = [each for listed in found.values() for each in listed]
    assert [start for start in NOT_RUN if not any(each.startswith(start) for each in told)] == []
    assert set(FILES) <= set(RUN)
    assert sorted(page for page, listed in found.items() if any(runs(each) for each in listed)) == RUN
    assert [each for each in told if not reason(each) and not runs(each)] == []


def runs(command: str) -> bool:
    return command.startswith(("deniable ", "export ")) and reason(command) is None


RUN = [
    "docs/howto/operate.md",
    "docs/howto/questions.md",
    "docs/howto/survey.md",
    "docs/howto/telemetry.md",
    "docs/howto/windows.md",
    "docs/left-open.md",
    "docs/tutorial-questionnaire.md",
]
"""Pages with commands that are run here, in their order, in a folder of their own."""


@pytest.mark.slow
@pytest.mark.parametrize("page", RUN)
def test_commands_of_a_page_run_in_their_order(page: str, tmp_path: Path) -> None:
    """`ID` is what the command before has printed; dots at an end are left out."""
    for name, text in FILES.get(page, {}).items():
        (tmp_path / name).write_text(text, "utf-8")
    bin = Path(sys.executable).parent
    env = {**os.environ, "PATH": f"{bin}{os.pathsep}{os.environ['PATH']}", "DENIABLE_DATABASE": "sqlite:///own.db"}
    ids: list[str] = []
    for line in commands((ROOT / page).read_text("utf-8")):
        if runs(line):
            printed = execute(line, ids, tmp_path, env)
            ids += re.findall(r"\b[0-9a-f]{64}\b", printed)
    assert not ids or (tmp_path / "own.db").is_file() or (tmp_path / "collector.db").is_file()


def execute(line: str, ids: list[str], folder: Path, env: Mapping[str, str]) -> str:
    whole = re.sub(r" \.\.\.$", "", line)
    if re.search(r"\bID\b", whole):
        assert ids, f"{line}: no command before has printed an id"
        whole = re.sub(r"\bID\b", ids[-1], whole)
    done = subprocess.run(["bash", "-c", whole], cwd=folder, env=dict(env), check=False, capture_output=True, text=True)
    assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
    return done.stdout
