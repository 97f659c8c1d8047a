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
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=300)
    assert ast.literal_eval(done.stdout) == ["deniable", "deniable.audit", "deniable.plan"]


def test_functions_win_over_packages_of_the_same_name() -> None:
    code = (
        "import deniable.audit.exact, deniable.plan.frequency, deniable as dn; "
        "print(callable(dn.audit), callable(dn.plan))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=300)
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
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=300)
    assert done.stderr.splitlines()[-1] == "[]"


def test_what_a_shell_shows_is_short_and_has_the_numbers() -> None:
    m = deniable.mechanism("ss", epsilon=2.0, labels=["no", "yes"])
    estimate = m.estimate(m.tally(m.privatize(["no"] * 30 + ["yes"] * 70, rng=deniable.simulation(1))))
    shown = {
        repr(deniable.simulation(4)): "<Simulation, seed 4>",
        repr(deniable.simulation(4).spawn(2)[1]): "<Simulation, seed 4.1>",
        repr(deniable.secure()): "<Secure: the operating system's randomness>",
        repr(deniable.protocol("ks-grr", epsilon=2.0, k=10, top=3)): "<ks-grr (epsilon = 2, k = 10, top = 3)>",
        repr(estimate.compare(estimate)).split(":")[0]: "<Comparison of 100 and 100 reports, SIMULATED",
        repr(deniable.attack(m, reports=100)).split(",")[0]: (
            "<Attack on ss: the best guess of a value is right 88.1 % of the time"
        ),
    }
    assert list(shown) == list(shown.values())


def test_the_means_of_keys_have_a_chart() -> None:
    m = deniable.mechanism("kv-ss2", epsilon=4.0, labels=["hats", "shoes"], range=(1, 5))
    pairs = {"user": list(range(60)), "key": ["hats", "shoes"] * 30, "value": [2.0, 4.0] * 30}
    means = m.estimate(m.tally(m.privatize(pairs, rng=deniable.simulation(1))))["mean"]
    assert means.range == (1.0, 5.0)
    drawn = means.chart().to_dict()
    assert drawn["title"]["text"] == ["Estimated means"]
    with pytest.raises(deniable.ParameterError, match=r"part must be one of .*, got 'hats'.*to_pandas"):
        means["hats"]
