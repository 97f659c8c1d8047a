"""The names of `import deniable`: complete, right, and loaded when they are used."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

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


FORMER = [
    (former, home, instead)
    for instead, homes in deniable._FORMER.items()
    for home, names in homes.items()
    for former in names
]


@pytest.mark.parametrize(("former", "home", "instead"), FORMER)
def test_former_names_are_those_of_their_homes_and_say_what_to_use(former: str, home: str, instead: str) -> None:
    with pytest.warns(DeprecationWarning, match=re.escape(f"deniable.{former} goes: {instead} now.")):
        assert getattr(deniable, former) is getattr(import_module(home), former)
    assert former not in dir(deniable)
    assert getattr(deniable, re.findall(r"deniable\.(\w+)", instead)[0])


@pytest.mark.parametrize(
    ("former", "limits", "question", "told"),
    [
        ("plan_keyvalue", {"stderr": 0.5, "bytes": 4}, "key-value", {"target_error": 0.5, "max_bytes": 4}),
        ("plan_pairs", None, "key-value", {}),
        ("plan_means", {"asr": 0.9, "poisoning": 5.0}, "mean", {"max_asr": 0.9, "max_poisoning": 5.0}),
        ("plan_release", {"loss": 3.0, "worst": 4.0}, "release", {"target_error": 3.0, "max_worst": 4.0}),
    ],
)
def test_former_plans_answer_with_their_own_limits(
    former: str, limits: dict[str, float] | None, question: str, told: dict[str, float]
) -> None:
    answers = {"key-value": {"k": 4}, "mean": {"interval": (0, 1)}, "release": {"points": 5}}[question]
    asked: dict[str, Any] = answers | ({} if question == "release" else {"n": 1000})
    with pytest.warns(DeprecationWarning, match=r"deniable\.plan\(question="):
        found = getattr(deniable, former)(epsilon=1.0, limits=limits, **asked)
    assert found == deniable.plan(question=question, epsilon=1.0, **asked, **told)


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
        "import deniable.audit.exact, deniable.plan.questions, deniable as dn; "
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


def test_estimates_of_pairs_show_shares_and_means() -> None:
    """With their errors, as a line and as a table; nothing is told of means of keys that are too rare."""
    m = deniable.mechanism("kv-ss2", epsilon=4.0, labels=["hats", "shoes", "ties"], range=(1, 5))
    pairs = {"user": list(range(4000)), "key": ["hats", "shoes"] * 2000, "value": [2.0, 4.0] * 2000}
    found = m.estimate(m.tally(m.privatize(pairs, rng=deniable.simulation(1))))
    number, share = r"-?\d\.\d+ ± 0\.\d\d+", r"-?\d+\.\d+ % ± \d\.\d+"
    rows = f"hats {share}, mean {number}; shoes {share}, mean {number}; ties {share}, mean too rare to say>"
    assert re.search(rows, repr(found)), repr(found)
    assert re.search(
        f"hats {number}, frequency {share}; .*; ties too rare to say, frequency {share}>", repr(found["mean"])
    )
    shown = found._repr_html_()
    assert shown.index(">mean<") < shown.index(">frequency<") < shown.index(">hats<") < shown.index("too rare to say")
    value, stderr = found["mean"].value, found["mean"].stderr
    assert f"{value[0]:.3f} ± {stderr[0]:.3f}" in shown
    assert f"{value[0]:.3f} ± {stderr[0]:.3f}" in found["mean"]._repr_html_()


def test_distributions_of_numbers_are_shown_in_bins() -> None:
    """Single points of hundreds say nothing; without errors there is nothing to choose bins by."""
    m = deniable.mechanism("sw", epsilon=2.0, interval=(0, 10))
    reports = m.privatize([2.0] * 700 + [8.0] * 300, rng=deniable.simulation(1))
    found = m.fit(reports, "ems")
    bins = found.binned()
    assert 1 < len(bins.labels) < 20
    assert repr(found) == repr(bins)
    assert re.match(
        rf"<Estimate from 1,000 reports of sw, epsilon = 2, in {len(bins.labels)} bins, SIMULATED: 0 to ", repr(found)
    )
    assert re.search(r"to [\d.]+: \d+\.\d % ± \d", repr(found))
    assert found._repr_html_() == bins._repr_html_()
    assert "bins" not in repr(m.fit(reports, "ems", stderr=None))


def test_protocols_show_who_is_asked() -> None:
    shown = deniable.protocol("ks-adap", epsilon=1.0, labels=["a", "b"], top=1, range=(1, 5))._repr_html_()
    for text in (
        "ks-adap (epsilon = 1, k = 2, top = 1)",
        ">a, b<",
        ">step 2<",
        ">10 % of the people<",
        ">from 1 to 5<",
    ):
        assert text in shown
    assert shown.count("of the people") == 3
    assert deniable.protocol("privkvm", epsilon=1.0, k=4, rounds=2)._repr_html_().count("everybody") == 2
    assert ">1 byte<" in deniable.mechanism("grr", epsilon=1.0, k=4)._repr_html_()
    assert "values from 1 to 5" in repr(deniable.mechanism("kv-ss2", epsilon=1.0, k=4, range=(1, 5)))
