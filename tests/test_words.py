"""The repository speaks of the project alone: no machine of a developer, no package index."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

# Put together from pieces, so that this file does not contain what it looks for.
FORBIDDEN = {
    "path of a developer's machine": r"(?<![\w-])/(?:work|root|home)" + "/",
    "folder beside the repository": r"\.\./" + "shared",
    "address of a package index": "|".join(
        [r"index[-_]" + "url", "python" + "hosted", r"registry\." + "npmjs", r"pypi\." + "org"]
    ),
}


def faults(text: str) -> list[tuple[int, str]]:
    """Line and kind of each forbidden word."""
    return [
        (number, kind)
        for number, line in enumerate(text.splitlines(), start=1)
        for kind, pattern in FORBIDDEN.items()
        if re.search(pattern, line, re.IGNORECASE)
    ]


def tracked() -> list[Path]:
    """The files that git keeps or would keep."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        listing = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a git checkout, or git is not installed: clone the repository with git to check its words")
    return [path for name in listing.decode().split("\0") if name and (path := ROOT / name).is_file()]


def test_no_forbidden_word_in_the_repository() -> None:
    found = []
    for path in tracked():
        data = path.read_bytes()
        if b"\0" not in data:  # text
            text = f"{path.relative_to(ROOT)}\n{data.decode(errors='replace')}"
            found += [f"{path.relative_to(ROOT)}:{line - 1}: {kind}" for line, kind in faults(text)]
    assert not found, "\n" + "\n".join(found)


STILTED = (
    "ahead of it in nothing",
    "right in {",
    "says nothing about anybody",
    "by a coin (",
    "since nothing is maximised",
    "alike if left out",
    "non-sensitive",
)
"""Phrases that the list of words in CONTRIBUTING.md replaces, as far as people would see them."""


def test_what_people_read_keeps_to_the_list_of_words() -> None:
    """In texts of the program: string literals, documentation strings included."""
    found = []
    for path in tracked():
        if path.suffix in (".py", ".toml") and "src" in path.relative_to(ROOT).parts:
            text = path.read_text("utf-8")
            found += [f"{path.relative_to(ROOT)}: {phrase}" for phrase in STILTED if phrase in text]
    assert not found, found


def test_this_file_is_looked_at() -> None:
    assert Path(__file__).resolve() in tracked()


@pytest.mark.parametrize(
    "text",
    [
        "see " + "/wo" + "rk/main",
        "(" + "/ro" + "ot/x)",
        "'" + "/ho" + "me/someone'",
        ".." + "/shar" + "ed/design",
        "--extra-index" + "-url x",
        "PIP_INDEX" + "_URL=x",
        "https://files.python" + "hosted.x",
        "https://registry." + "npmjs.x",
    ],
)
def test_forbidden_word_is_found(text: str) -> None:
    assert [line for line, _ in faults(f"\n{text}")] == [2]


@pytest.mark.parametrize(
    "text", ["network/home-grown/work", "https://example.org/home/page", "index.url", "/homework/"]
)
def test_other_words_pass(text: str) -> None:
    assert faults(text) == []
