"""The names of `import deniable`: complete, right, and loaded when they are used."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import deniable


def declared() -> dict[str, set[str]]:
    """What the imports for type checkers say: names by module."""
    tree = ast.parse(Path(deniable.__file__).read_text())
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    found: dict[str, set[str]] = {}
    for line in block.body:
        assert isinstance(line, ast.ImportFrom)
        found.setdefault(str(line.module), set()).update(alias.name for alias in line.names)
    return found


def test_type_checkers_and_programs_see_the_same_names() -> None:
    assert {module: set(names) for module, names in deniable._HOMES.items()} == declared()
    assert set(deniable.__all__) == {name for names in declared().values() for name in names} | {"__version__"}
    assert len(deniable.__all__) == len(set(deniable.__all__))


@pytest.mark.parametrize("name", deniable.__all__)
def test_name_is_what_its_home_calls_so(name: str) -> None:
    value = getattr(deniable, name)
    assert isinstance(value, ModuleType) == (name == "datasets")
    assert getattr(value, "__name__", name) in (name, f"deniable.{name}")
    assert name in dir(deniable)


@pytest.mark.parametrize(("former", "name"), deniable._FORMER.items())
def test_former_names_are_the_new_ones_and_say_so(former: str, name: str) -> None:
    with pytest.warns(DeprecationWarning, match=f"deniable.{former} is now called deniable.{name}"):
        assert getattr(deniable, former) is getattr(deniable, name)
    assert former not in deniable.__all__


def test_unknown_names_are_refused_in_the_usual_way() -> None:
    with pytest.raises(AttributeError, match="module 'deniable' has no attribute 'nonsense'"):
        _ = deniable.nonsense


def test_near_names_are_told_and_the_list_of_names_is_clean() -> None:
    with pytest.raises(AttributeError, match=r"no attribute 'mechansim'\. Did you mean mechanism"):
        _ = deniable.mechansim  # type: ignore[attr-defined]
    assert dir(deniable) == sorted(deniable.__all__)


def test_importing_loads_next_to_nothing() -> None:
    code = "import sys, deniable; print(sorted(m for m in sys.modules if m.startswith(('numpy', 'deniable'))))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert ast.literal_eval(done.stdout) == ["deniable", "deniable.audit", "deniable.plan"]


def test_functions_win_over_packages_of_the_same_name() -> None:
    code = (
        "import deniable.audit.exact, deniable.plan.frequency, deniable as dn; "
        "print(callable(dn.audit), callable(dn.plan))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split() == ["True", "True"]


def test_a_design_needs_no_scipy_and_no_numba() -> None:
    """Both take long to load."""
    code = (
        "import sys; from deniable.cli import main; "
        "sys.argv = ['deniable', 'design', 'oue', '--epsilon', '1', '--k', '100', '--json']\n"
        "try: main()\n"
        "except SystemExit as end: assert not end.code\n"
        "print([m for m in ('scipy', 'numba', 'altair', 'pyarrow', 'narwhals') if m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stderr.splitlines()[-1] == "[]"
