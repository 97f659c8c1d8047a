"""Tests that a table names, as `folder/test_file.py::test_name`: whether they are there, and can fail."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from functools import cache
from pathlib import Path

__all__ = ["faults_of"]

TESTS = Path(__file__).resolve().parent


def faults_of(names: Iterable[str]) -> list[str]:
    """Those that are gone, are skipped, or may fail."""
    found = []
    for name in names:
        file, _, function = name.partition("::")
        node = _functions(file).get(function)
        if node is None:
            found.append(f"{name} is not there any more")
        elif any(word in ast.unparse(each) for each in node.decorator_list for word in ("skip", "xfail")):
            found.append(f"{name} is skipped, or may fail")
    return found


@cache
def _functions(file: str) -> dict[str, ast.FunctionDef]:
    tree = ast.parse((TESTS / file).read_text("utf-8"))
    return {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
