"""The code in the documentation runs and prints what it says; the worked example of a new mechanism is a right one."""

from __future__ import annotations

import doctest
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import deniable as dn
from deniable.mechanisms import registry
from deniable.mechanisms.base import Mechanism
from deniable.testing import CHECKS, conformance

ROOT = Path(__file__).resolve().parents[2]
PAGES = (
    "README.md",
    "docs/first-steps.md",
    "docs/index.md",
    "docs/coming-from.md",
    "docs/tutorial-questionnaire.md",
    "docs/howto/ci.md",
    "docs/howto/levels.md",
    "docs/howto/windows.md",
    "docs/keyvalue.md",
    "docs/planning.md",
    "docs/architecture.md",
    "docs/formats.md",
    "docs/howto/frames.md",
    "docs/howto/own-mechanism.md",
    "docs/jobs/data.md",
    "docs/jobs/engineer.md",
    "docs/jobs/research.md",
    "docs/jobs/reviewer.md",
    "docs/jobs/survey.md",
    "docs/howto/ranges.md",
    "docs/maths/several.md",
    "docs/howto/two-functions.md",
    "docs/howto/study.md",
    "docs/performance.md",
    "docs/estimators.md",
    "docs/learning.md",
    "docs/maths/adaptive.md",
    "docs/maths/coins.md",
    "docs/maths/dealt.md",
    "docs/maths/written.md",
    "docs/maths/survey.md",
    "docs/howto/questions.md",
    "docs/howto/places.md",
    "docs/maths/tables.md",
)


def blocks(text: str) -> list[str]:
    """The Python blocks of a page."""
    return re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def run(text: str, name: str) -> tuple[ModuleType, list[str]]:
    """Run the blocks of a page one after the other, as one module; sessions must print what they show."""
    module = ModuleType(name)
    sys.modules[name] = module
    failures: list[str] = []
    for number, block in enumerate(blocks(text)):
        if ">>>" not in block:
            exec(compile(block, f"{name}, block {number}", "exec"), module.__dict__)
            continue
        test = doctest.DocTestParser().get_doctest(block, module.__dict__, f"{name}[{number}]", name, 0)
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS, verbose=False)
        runner.run(test, out=failures.append, clear_globs=False)
        module.__dict__.update(test.globs)
    return module, failures


@pytest.fixture
def clean_modules() -> Iterator[None]:
    before = dict(sys.modules)
    yield
    for name in set(sys.modules) - set(before):
        if name.startswith("page_"):
            del sys.modules[name]


@pytest.mark.usefixtures("clean_modules")
@pytest.mark.parametrize("page", PAGES)
def test_python_blocks_run(page: str) -> None:
    text = (ROOT / page).read_text("utf-8")
    assert blocks(text)
    _, failures = run(text, "page_" + re.sub(r"\W", "_", page))
    assert not failures, "\n".join(failures)


def test_no_other_page_has_code_that_is_not_run() -> None:
    others = [p for p in ROOT.glob("docs/**/*.md") if p.relative_to(ROOT).as_posix() not in PAGES]
    assert [p.name for p in others if blocks(p.read_text("utf-8"))] == []


@pytest.mark.usefixtures("clean_modules")
def test_wrong_output_would_be_noticed() -> None:
    _, failures = run("```python\n>>> 1 + 1\n3\n\n```\n", "page_wrong")
    assert len(failures) == 1
    assert "Expected:\n    3\nGot:\n    2" in failures[0]


# ---- the worked example


OURS = dict(dn.MECHANISMS)
"""The rows without the one that is added."""


@pytest.fixture
def example(clean_modules: None) -> Iterator[Mapping[str, registry.Entry]]:
    """The rows of docs/architecture.md: ours and the one that is added, which the registry knows meanwhile."""
    module, _ = run((ROOT / "docs/architecture.md").read_text("utf-8"), "page_example")
    with registry.register("warner", module.registry["warner"]):
        yield module.registry


def test_example_adds_one_row(example: Mapping[str, registry.Entry]) -> None:
    assert example == {**OURS, "warner": example["warner"]} == registry.MECHANISMS
    assert "warner" not in OURS


def test_example_conforms(example: Mapping[str, registry.Entry]) -> None:
    """All checks on all its small cases; the false alarm rate is 1e-6 for each."""
    row = example["warner"]
    assert len(row.small) == 3
    for case in row.small:
        made = registry.mechanism("warner", **case)
        assert type(made) is row.cls
        assert made.vetted
        assert [name for name, _ in conformance(made, alpha=1e-6)] == list(CHECKS)
        assert registry.from_design(made.design) == made


def test_example_has_the_law_of_its_kin(example: Mapping[str, registry.Entry]) -> None:
    mine, grr = registry.mechanism("warner", epsilon=1.5, k=2), dn.mechanism("grr", epsilon=1.5, k=2)
    assert mine.properties(100) == grr.properties(100)
    assert mine.channel().weights == grr.channel().weights
    with pytest.raises(dn.ParameterError, match=r"k must be 2, got 3\. For more answers use grr\."):
        registry.mechanism("warner", epsilon=1.0, k=3)


def test_a_faulty_example_would_be_noticed(example: Mapping[str, registry.Entry]) -> None:
    """A report that is counted for the other answer."""

    own = type(example["warner"].cls(epsilon=1.0, domain=2).bulk)

    class SwappedBulk(own):  # type: ignore[misc, valid-type]
        def count(self, columns: Any) -> Any:
            cells = super().count(columns)
            return {**cells, "support": cells["support"][:, ::-1]}

    class Swapped(example["warner"].cls):  # type: ignore[misc, name-defined]
        @property
        def bulk(self) -> Any:
            return SwappedBulk(super().bulk.kernel)

    made: Mechanism = Swapped(epsilon=1.0, domain=2)
    assert replace(made, epsilon=2.0).epsilon == 2.0
    with pytest.raises(AssertionError, match="unbiased"):
        conformance(made, alpha=1e-6, checks=["unbiased"])
