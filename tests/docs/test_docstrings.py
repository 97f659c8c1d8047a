"""Examples in docstrings run, and print what they say: those of every module, found by themselves."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
from collections.abc import Iterator

import pytest

import deniable
import deniable_client

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
LEAST = 100
"""There are more examples than these: fewer would mean that they are not found."""


def modules() -> Iterator[str]:
    for package in (deniable, deniable_client):
        yield package.__name__
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not found.name.endswith("__main__"):  # would start the command
                yield found.name


def examples() -> Iterator[doctest.DocTest]:
    """The examples of all modules; one that cannot be imported for want of an extra has none that could run."""
    finder = doctest.DocTestFinder(exclude_empty=True)
    for name in modules():
        try:
            module = importlib.import_module(name)
        except ImportError as error:  # pragma: no cover - where extras are missing
            if (error.name or "").partition(".")[0] in ("deniable", "deniable_client"):
                raise
            continue
        yield from (test for test in finder.find(module, name) if test.examples)


def test_examples_in_docstrings_print_what_they_say() -> None:
    said: list[str] = []
    tests = list(examples())
    for test in tests:
        doctest.DocTestRunner(verbose=False, optionflags=FLAGS).run(test, out=said.append)
    assert not said, "\n".join(said)
    assert len(tests) >= LEAST


def test_an_example_that_is_wrong_is_found() -> None:
    said: list[str] = []
    wrong = doctest.DocTestParser().get_doctest(">>> 1 + 1\n3\n", {}, "wrong", None, 0)
    doctest.DocTestRunner(verbose=False, optionflags=FLAGS).run(wrong, out=said.append)
    assert "Expected" in "".join(said)


@pytest.mark.parametrize("name", ["deniable.core.promise.value", "deniable_client.kernels.table"])
def test_modules_are_walked_through(name: str) -> None:
    assert name in set(modules())
