"""A mutant in a process that has imported everything: its functions get other code.

Importing the sources and collecting the tests takes longer than most tests. So it is done once, and each mutant is
tried by a fork of that process in which the functions of the changed text have the changed code. What cannot be
changed that way (what runs while a module is imported: constants, decorators, defaults; code that is compiled
otherwise) is not, and what lives is tried once more by a process that imports it: values that were computed while
tests were collected are those of the sources.
"""

from __future__ import annotations

import gc
import inspect
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import pytest

from mutants.run import Answer, Job, Mutant, Overlay, Watch, run_all

__all__ = ["Nursery", "pairs"]

COMPILED = ("/kernels/compiled/",)
"""Files whose functions are compiled by others when they are first called."""


def pairs(old: CodeType, new: CodeType) -> Iterator[tuple[CodeType, CodeType]]:
    """The functions that differ, each with its other code; `ValueError` where more than functions does."""
    if not old.co_flags & inspect.CO_OPTIMIZED:  # it runs when it is imported
        same = old.co_code == new.co_code and old.co_names == new.co_names
        if not same or [c for c in old.co_consts if not _code(c)] != [c for c in new.co_consts if not _code(c)]:
            raise ValueError("what runs at import differs")
    elif old != new:
        yield old, new
    inner, other = list(filter(_code, old.co_consts)), list(filter(_code, new.co_consts))
    if [c.co_name for c in inner] != [c.co_name for c in other]:
        return  # other functions are made inside this one: its own code has them
    for one, two in zip(inner, other, strict=True):
        yield from pairs(one, two)


def _code(part: object) -> bool:
    return isinstance(part, CodeType)


class Nursery:
    """A plugin of pytest: instead of running the collected tests it tries mutants with them."""

    def __init__(self, jobs: Sequence[Job], root: Path, at_once: int, done: Callable[[Job, Answer], None]) -> None:
        self.jobs, self.root, self.at_once, self.done = jobs, root, at_once, done
        self.watch = Watch()
        self.items: dict[str, list[Any]] = {}
        self.functions: dict[CodeType, list[FunctionType]] = {}
        self.sound: dict[str, bool] = {}
        """Which of the tests that failed pass here on the sources as they are."""

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        for item in session.items:
            for name in {item.nodeid, item.nodeid.partition("[")[0], item.nodeid.partition("::")[0]}:
                self.items.setdefault(name, []).append(item)
        files = {str(self.root / job.mutant.file) for job in self.jobs if job.mutant is not None}
        gc.unfreeze()
        for each in gc.get_objects():
            if type(each) is FunctionType and each.__code__.co_filename in files:
                self.functions.setdefault(each.__code__, []).append(each)
        gc.freeze()

        def work(job: Job, folder: Path) -> Answer:
            return self.try_(session, job, folder)

        def told(job: Job, answer: Answer) -> None:
            """A test that fails in a fork whatever is changed says nothing of the mutant."""
            by = next(iter(answer.get("failed", ())), None)
            if by is not None and by not in self.sound:
                run_all([Job((by,))], self.root, 1, lambda _, own: self.sound.update({by: own["code"] == 0}), work)
            if by is not None and not self.sound[by]:
                answer = {"code": -1, "failed": [], "stopped": False, "log": f"{by} fails in every fork"}
            self.done(job, answer)

        run_all(self.jobs, self.root, self.at_once, told, work)
        return True

    def pytest_internalerror(self, excrepr: object) -> None:
        """What this plugin does wrong is told; mutants that are left are imported."""
        sys.stderr.write(f"{excrepr}"[-4000:] + "\n")

    def try_(self, session: pytest.Session, job: Job, folder: Path) -> Answer:
        """In a fork: the tests of a job, on the changed functions."""
        config: Any = session.config
        if job.mutant is not None and not self.swap(job.mutant):
            return {"code": -1, "failed": [], "log": "not swapped"}
        config._tmp_path_factory._basetemp = folder  # its own, so that forks do not meet there
        chosen = list(dict.fromkeys(item for name in job.tests for item in self.items.get(name, ())))
        if not all(name in self.items for name in job.tests):
            return {"code": -1, "failed": [], "log": "not collected"}
        for item, after in zip(chosen, [*chosen[1:], None], strict=True):
            config.hook.pytest_runtest_protocol(item=item, nextitem=after)
            if self.watch.failed and job.mutant is not None:
                break
        state: Any = session
        state._setupstate.teardown_exact(None)
        return {"code": int(bool(self.watch.failed)), "failed": self.watch.failed, "log": ""}

    def swap(self, mutant: Mutant) -> bool:
        """Give functions their other code; whether all of it could be."""
        path = self.root / mutant.file
        if mutant.module() not in sys.modules:  # whoever imports it from now on gets the changed text
            sys.meta_path.insert(0, Overlay(mutant.module(), mutant.text(self.root)))
            return True
        if any(part in str(path) for part in COMPILED):
            return False
        old, new = (
            compile(text, str(path), "exec", dont_inherit=True)
            for text in (path.read_text("utf-8"), mutant.text(self.root))
        )
        try:
            found = [(each, after) for before, after in pairs(old, new) for each in self.functions.get(before, ())]
            for each, after in found:
                each.__code__ = after
        except ValueError:
            return False
        return bool(found)
