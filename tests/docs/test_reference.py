"""The reference has a place for every public name, option, route, setting, problem type, mechanism and field."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

import deniable as dn
import deniable_client
from deniable.cli.app import build
from deniable.service.http.app import ROWS
from deniable.service.http.problems import KINDS
from deniable.service.ingest import REASONS
from deniable.service.pages.table import PAGES
from deniable.service.settings import PREFIX, rows
from deniable_client.task import _NEEDED, _OPTIONAL

DOCS = Path(__file__).resolve().parents[2] / "docs"


def text_of(name: str) -> str:
    return (DOCS / name).read_text("utf-8")


def missing(names: Iterator[str] | list[str], text: str) -> list[str]:
    """The names that do not stand as code at the beginning of a row."""
    return [name for name in names if f"\n| `{name}` |" not in text]


def section(text: str, heading: str) -> str:
    found = re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE)
    assert found is not None, heading
    return found[1]


@pytest.mark.parametrize("package", [dn, deniable_client], ids=lambda package: package.__name__)
def test_every_public_name(package: Any) -> None:
    own = section(text_of("api.md"), f"`{package.__name__}`")
    assert missing(list(package.__all__), own) == []
    assert "|  |" not in own, "a name without a word about it"


def options(command: Any, path: str) -> Iterator[tuple[str, str]]:
    """Each command with each of its options."""
    for name, inner in getattr(command, "commands", {}).items():
        yield from options(inner, f"{path} {name}".strip())
    if not hasattr(command, "commands"):
        for parameter in command.params:
            yield from ((path, option) for option in parameter.opts if option.startswith("--"))


def test_every_command_with_every_option() -> None:
    text = text_of("cli.md")
    found = list(options(get_command(build()), ""))
    assert len(found) > 150
    lost = [(path, option) for path, option in found if option not in section(text, f"`deniable {path}`")]
    assert [each for each in lost if each[1] != "--help"] == []


def test_every_route_and_every_page() -> None:
    text = text_of("http.md")
    assert missing([f"{row.method} {row.path}" for row in ROWS], section(text, "Routes and roles")) == []
    assert missing([f"{row.method} {row.path}" for row in PAGES], section(text, "Pages")) == []


def test_every_problem_type_and_every_reason() -> None:
    text = text_of("http.md")
    assert missing(list(KINDS), section(text, "Problem types")) == []
    assert missing(["accepted", "duplicate", *REASONS], section(text, "Answers to reports")) == []


def test_every_setting() -> None:
    text = text_of("settings.md")
    assert missing([row.name for row in rows()], text) == []
    assert all(f"`{PREFIX}{row.name.upper()}`" in text for row in rows())


def test_every_field_of_a_task() -> None:
    known = {name for table in (_NEEDED, _OPTIONAL) for name in table[2]}
    assert missing(sorted(known), section(text_of("protocol.md"), "1. The task")) == []
    assert len(known) > 15


def test_every_mechanism_and_protocol() -> None:
    text = text_of("mechanisms.md") + text_of("maths.md")
    assert [name for name in (*dn.MECHANISMS, *dn.PROTOCOLS) if f"`{name}`" not in text] == []


def test_what_is_missing_is_found() -> None:
    assert missing(["a", "b"], "\n| `a` | x |\n| c | `b` |") == ["b"]
    with pytest.raises(AssertionError, match="Gone"):
        section("## There\nx\n", "Gone")
