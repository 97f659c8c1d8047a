"""A stranger's row: registered by one call, known everywhere, taken out again; and errors that help."""

from __future__ import annotations

import inspect
import json
import math
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from types import ModuleType
from typing import Any

import pytest
import typer

import deniable as dn
from deniable.cli import main
from deniable.cli.app import build
from deniable.cli.options import Choice
from deniable.errors import ParameterError
from deniable.mechanisms import registry
from deniable.mechanisms.entry import Entry, Option, Traits
from deniable.mechanisms.frequency import costs
from deniable.mechanisms.frequency import table as frequency
from deniable.mechanisms.frequency.grr import GRR
from deniable.mechanisms.keyvalue import table as keyvalue
from deniable.mechanisms.metric import table as metric
from deniable.mechanisms.numeric import table as numeric
from deniable.mechanisms.optimal import table as optimal
from deniable.mechanisms.ordinal import table as ordinal
from deniable.mechanisms.personal import table as personal
from deniable.mechanisms.registry import ALIASES, MECHANISMS, OPTIONS, PROTOCOLS, resolved
from deniable.mechanisms.survey import table as survey
from deniable.mechanisms.utility import table as utility
from mechanisms.test_strangers import Coin


def careful(*, epsilon: float, domain: Any, back: float = 0.0) -> GRR:
    return GRR(epsilon=epsilon * (1 - back), domain=domain, name="careful")


CAREFUL = Entry(
    GRR,
    careful,
    "randomised response with a reserve",
    "nowhere",
    "tests",
    options=("back",),
    traits=Traits(costs.WORK["grr"], costs.pull_by("grr")),
)
BACK = {"back": Option(float, "Share of the budget that is kept back.")}


def told(capsys: pytest.CaptureFixture[str], *args: str) -> Any:
    assert main([*args, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_all_of_deniable_knows_a_row_that_was_registered(capsys: pytest.CaptureFixture[str]) -> None:
    with dn.register("careful", CAREFUL, BACK):
        m = dn.mechanism("careful", epsilon=2.0, k=4, back=0.5)
        assert (m.name, m.epsilon) == ("careful", 1.0)
        assert dn.from_design(m.design) == m
        line = ("careful", "--epsilon", "2", "--k", "4", "--back", "0.5")
        assert told(capsys, "design", *line)["epsilon"] == 1.0
        assert told(capsys, "audit", *line)["mechanism"] == "careful"
        assert told(capsys, "attack", *line, "--reports", "100")["mechanism"] == "careful"
        assert told(capsys, "simulate", *line, "--data", "zipf", "--n", "50", "--runs", "2")["n"] == 50
        planned = told(capsys, "plan", "--k", "4", "--n", "100", "--epsilon", "1")
        assert "careful" in {d["mechanism"] for d in planned["designs"]} | {o["title"] for o in planned["out"]}
        listed = {row["name"]: row["options"] for row in told(capsys, "mechanisms")["mechanisms"]}
        assert listed["careful"] == ["back"]
    assert "careful" not in MECHANISMS
    assert "back" not in OPTIONS
    assert main(["design", "careful", "--epsilon", "1", "--k", "4"]) == 2


def test_a_row_that_was_registered_is_a_base_with_all_that_is_given() -> None:
    """The same as the mechanism made first and handed over: its own options, theta and form."""
    own: dict[str, Any] = {"k": 5, "theta": 0.7}
    with dn.register("careful", CAREFUL, BACK):
        base = dn.mechanism("careful", epsilon=2.0, k=3, back=0.5)
        for form in (None, "null", "glutf"):
            made = dn.utility("careful", 3, epsilon=2.0, back=0.5, form=form, **own)
            assert made == dn.utility(base, 3, form=form, **own)
            assert (made.theta, made.params["form"]) == (0.7, form or "null")


def test_a_class_of_a_stranger_is_a_row_like_ours(capsys: pytest.CaptureFixture[str]) -> None:
    row = Entry(Coin, Coin, "Warner's coin, once more", "Warner65", "tests", small=({"k": 2, "epsilon": 1.0},))
    with dn.register("coin", row):
        m = dn.mechanism("coin", epsilon=1.0, labels=["no", "yes"])
        assert (type(m), dn.from_design(m.design)) == (Coin, m)
        assert dn.load(dn.dump(m.tally(m.privatize(["no", "yes"])))).n == 2  # type: ignore[union-attr]
        line = ("coin", "--epsilon", "1", "--k", "2")
        assert told(capsys, "design", *line)["bits"] == 1
        assert told(capsys, "audit", *line)["holds"]
        found = told(capsys, "simulate", *line, "--data", "uniform", "--n", "400", "--runs", "3")
        assert found["ratio"] < 20
        planned = told(capsys, "plan", "--k", "2", "--n", "100", "--epsilon", "1")
        assert "coin" in {d["mechanism"] for d in planned["designs"]} | {o["title"] for o in planned["out"]}


def test_a_row_stays_unless_it_is_taken_out() -> None:
    undo = dn.register("again", replace(MECHANISMS["ss"], summary="mine"))
    try:
        assert dn.mechanism("again", epsilon=1.0, k=9).name == "again"
    finally:
        undo.close()
    with pytest.raises(dn.ParameterError, match="got 'again'"):
        dn.mechanism("again", epsilon=1.0, k=9)


def test_protocols_are_registered_too() -> None:
    with dn.register("asked-twice", PROTOCOLS["collaborative"]):
        assert dn.protocol("asked-twice", epsilon=1.0, k=5, sensitive=2).k == 5
    assert "asked-twice" not in PROTOCOLS


@pytest.mark.parametrize(
    ("name", "entry", "options", "says"),
    [
        ("grr", CAREFUL, BACK, "name must be free: the registry has such a row.*, got 'grr'"),
        ("ks-grr", CAREFUL, BACK, "name must be free"),
        ("package:object", CAREFUL, BACK, "name must be a letter, then at most 39 lower-case letters"),
        ("1", CAREFUL, BACK, "name must be a letter"),
        ("x-", CAREFUL, BACK, "name must be a letter"),
        (None, CAREFUL, BACK, "name must be a letter"),
        ("krr", CAREFUL, BACK, "name must be free: the registry has such a row, or knows one by this name"),
        ("prisms", CAREFUL, {}, "options must be described"),
        ("ks-adap", CAREFUL, BACK, "name must be free"),
        ("careful", GRR, BACK, "entry must be an Entry"),
        ("careful", CAREFUL, {**BACK, "class": BACK["back"]}, "named by lower-case letters"),
        ("careful", CAREFUL, {**BACK, "fancy": None}, "described by an Option each"),
        ("careful", CAREFUL, {**BACK, "json": BACK["back"]}, "free: there are such options already"),
        ("careful", CAREFUL, {}, "options must be described"),
        ("careful", CAREFUL, {**BACK, "size": BACK["back"]}, "free: there are such options already"),
        ("careful", CAREFUL, {**BACK, "k": BACK["back"]}, "free: there are such options already"),
        ("careful", CAREFUL, {**BACK, "Back": BACK["back"]}, "named by lower-case letters"),
    ],
)
def test_what_cannot_be_registered_is_refused(name: str, entry: Entry, options: dict[str, Option], says: str) -> None:
    before = dict(MECHANISMS), dict(OPTIONS)
    with pytest.raises(dn.ParameterError, match=says):
        dn.register(name, entry, options)
    assert (dict(MECHANISMS), dict(OPTIONS)) == before


def commands_of(group: Any) -> Iterator[Any]:
    """The commands of a program, those inside its groups too."""
    for command in group.commands.values():
        yield from commands_of(command) if hasattr(command, "commands") else (command,)


def test_an_option_that_a_command_has_itself_is_refused_when_it_is_registered() -> None:
    """Else no command could be run at all."""
    commands = commands_of(typer.main.get_command(build()))
    params = [p for c in commands if any(p.name == "epsilon" and c.name != "plan" for p in c.params) for p in c.params]
    flags = {flag.lstrip("-").replace("-", "_") for p in params for flag in p.opts if len(flag) > 2}
    own = sorted(({p.name for p in params} | flags) - set(OPTIONS))
    assert {"seed", "text_encoding", "out", "force", "tuned", "json", "engine", "window_days"} <= set(own)
    for name in own:
        row = replace(CAREFUL, options=(name,))
        refused = pytest.raises(dn.ParameterError, match=rf"options must be free.*'{name}'")
        with refused, dn.register("careful", row, {name: Option(int, "Which.")}):
            pass  # one that is not refused is taken out again: no other test sees it


def test_a_registered_name_is_a_base_for_sensitive_answers() -> None:
    with dn.register("careful", CAREFUL, BACK):
        m = dn.utility("careful", 3, k=6, epsilon=2.0, back=0.5)
        assert (m.base.name, m.base.epsilon, m.epsilon) == ("careful", 1.0, 1.0)
        assert m.estimate(m.tally(m.privatize([0, 1, 5]))).n == 3
        assert dn.from_design(m.design) == m
    with pytest.raises(dn.ParameterError, match="base must be one of"):
        dn.utility("careful", 3, k=6, epsilon=2.0)


@pytest.mark.parametrize(
    ("known", "name"),
    [
        ("krr", "grr"),
        ("k-RR", "grr"),
        ("Direct Encoding", "grr"),
        ("direct_encoding", "grr"),
        ("rappor", "sue"),
        ("k-subset", "ss"),
        ("OUE", "oue"),
        ("Optimal Local Hashing", "olh"),
        ("hadamard", "hr"),
        ("KS-Adap", "ks-adap"),
    ],
)
def test_names_that_people_know_are_understood(capsys: pytest.CaptureFixture[str], known: str, name: str) -> None:
    if name in MECHANISMS:
        assert dn.mechanism(known, epsilon=1.0, k=4) == dn.mechanism(name, epsilon=1.0, k=4)
    more = ["--top", "2"] if name in PROTOCOLS else []
    assert told(capsys, "design", known, "--epsilon", "1", "--k", "4", *more)["mechanism"] == name


def test_other_names_are_of_rows_and_never_rows_themselves() -> None:
    assert set(ALIASES.values()) <= {*MECHANISMS, *PROTOCOLS}
    assert not set(ALIASES) & {*MECHANISMS, *PROTOCOLS}
    assert all(resolved(alias.replace("-", " ").upper()) == name for alias, name in ALIASES.items())
    with pytest.raises(dn.ParameterError, match=r"name must be free.*knows one by this name, got 'krr'"):
        dn.register("krr", CAREFUL, BACK)
    with pytest.raises(dn.ParameterError, match=r"Did you mean .*rappor"):
        dn.mechanism("rapor", epsilon=1.0, k=4)


@pytest.mark.parametrize(
    ("shell", "words", "wanted", "not_wanted"),
    [
        ("bash", "design k", {"kv-ss2", "ks-adap", "kv-olh"}, {"grr", "krr"}),
        ("zsh", "design k", {"kv-ss2", "ks-adap", "kv-olh"}, {"grr", "krr"}),
        ("fish", "design k", {"kv-ss2", "ks-adap", "kv-olh"}, {"grr", "krr"}),
        ("bash", "design ss --select e", {"elbow", "epsilon-constraint"}, {"utopia"}),
        ("bash", "privatize ss --format p", {"parquet"}, {"csv"}),
        ("bash", "estimate --method e", {"em", "ems", "em-blind"}, {"unbiased", "..."}),
        ("bash", "estimate --chart-order v", {"value"}, {"given", "ORDER"}),
        ("bash", "simulate ss --data a", {"adult-age", "adult-education"}, {"zipf", "bank-job"}),
        ("bash", "attack ss --prior z", {"zipf"}, {"uniform"}),
        ("bash", "reproduce a", {"adaptive", "all"}, {"uldp"}),
    ],
)
def test_shells_complete_names_and_choices(
    shell: str,
    words: str,
    wanted: set[str],
    not_wanted: set[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    typed = f"deniable {words}"
    for name, value in {
        "_DENIABLE_COMPLETE": f"complete_{shell}",
        "COMP_WORDS": typed,
        "COMP_CWORD": str(len(typed.split()) - 1),
        "_TYPER_COMPLETE_ARGS": typed,
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    }.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit, match="0"):
        main([])
    found = set(re.findall(r"[\w-]+", capsys.readouterr().out))
    assert wanted <= found
    assert not not_wanted & found


@pytest.mark.parametrize(
    ("name", "near"), [("ohl", "olh"), ("collaborativ", "collaborative"), ("kvss2", "kv-ss2"), ("OLH!", "olh")]
)
def test_near_names_are_told(capsys: pytest.CaptureFixture[str], name: str, near: str) -> None:
    main(["design", name, "--epsilon", "1", "--k", "4"])
    assert near in capsys.readouterr().err.partition("hint: Did you mean")[2] or name == "OLH!"
    with pytest.raises(dn.ParameterError, match=r"its own options are: size.* Did you mean size\?"):
        dn.mechanism("ss", epsilon=1.0, k=4, sise=2)


@pytest.mark.parametrize(("name", "option", "own", "other"), [("oue", "p", 0.5, 0.6), ("blh", "g", 2, 3)])
def test_a_name_that_stands_for_a_number_has_no_other(name: str, option: str, own: float, other: float) -> None:
    made: Any = dn.mechanism(name, epsilon=1.0, k=3)
    assert made.params[option] == own
    with pytest.raises(dn.ParameterError, match=f"{option} must be {own:g} for {name}, got"):
        replace(made, **{option: other})


def test_a_design_has_the_version_of_its_class() -> None:
    """So that a change of what a name stands for is refused by those who do not know it."""
    made = dn.mechanism("grr", epsilon=1.0, k=3)
    newer: Any = type("Newer", (type(made),), {"version": 2})(epsilon=1.0, domain=made.domain)
    assert (made.design["version"], newer.design["version"]) == (1, 2)
    assert newer.design == {**made.design, "version": 2}
    with pytest.raises(dn.FormatError, match="version 2"):
        dn.from_design(newer.design)


def test_ways_to_give_a_domain_are_told_by_name() -> None:
    with pytest.raises(dn.ParameterError, match=r"got k and labels\.") as caught:
        dn.mechanism("grr", epsilon=1.0, k=2, labels=["a", "b"])
    assert "Domain(" not in str(caught.value)
    with pytest.raises(dn.ParameterError, match=r"got k and interval with points\."):
        dn.mechanism("brr", epsilon=1.0, k=2, interval="0,1", points=3)
    with pytest.raises(dn.ParameterError, match="got none of them"):
        dn.mechanism("grr", epsilon=1.0)


def test_a_design_that_nobody_knows_says_how_to_add_it() -> None:
    with dn.register("careful", CAREFUL, BACK):
        design = dn.mechanism("careful", epsilon=1.0, k=3).design
    with pytest.raises(dn.FormatError, match=r"unknown to this version.*dn\.register"):
        dn.from_design(design)
    with pytest.raises(dn.FormatError, match="the design must be a mapping"):
        dn.from_design("careful")  # type: ignore[arg-type]


def test_designs_inside_designs_end_at_the_first() -> None:
    """A base that is written as its whole design cannot be a transform; 500 in each other are refused at once."""
    deep = dn.utility(dn.mechanism("brr", epsilon=1.0, points=3), 3, k=6).design
    assert dn.from_design(deep).design == deep
    for _ in range(500):
        deep = {**deep, "params": {**deep["params"], "base": deep}}
    with pytest.raises(dn.FormatError, match="the design is nested more than 12 deep"):
        dn.from_design(deep)


# ---- rows that are loaded when they are asked for


TABLES = (frequency, utility, personal, keyvalue, metric, numeric, optimal, ordinal, survey)


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.__name__)
def test_a_family_tells_its_rows_before_it_is_loaded(table: ModuleType) -> None:
    """The names of `options` are those of the rows, by kind and in order."""
    told = import_module(f"{table.__name__.rpartition('.')[0]}.options").NAMES
    kinds = {kind: tuple(name for name, row in table.ROWS.items() if row.kind == kind) for kind in told}
    assert kinds == told
    assert sum(map(len, told.values())) == len(table.ROWS)


def test_the_registry_has_the_rows_of_all_families() -> None:
    rows = {name: row for table in TABLES for name, row in table.ROWS.items()}
    assert rows == {**MECHANISMS, **PROTOCOLS}
    assert len(MECHANISMS) + len(PROTOCOLS) == len(rows)


def test_the_bases_of_uldp_are_those_that_it_can_make() -> None:
    from deniable.mechanisms.frequency.mixture import SubsetMixture
    from deniable.mechanisms.utility import bases, options

    assert tuple(bases.BASES) == options.BASES
    assert SubsetMixture.family == options.MIXTURE


_ALONE = """
import sys
from deniable.cli import main
code = main({words!r})
loaded = [name for name in sys.modules if name.startswith("deniable.mechanisms.") and name.endswith(".table")]
print(code, *sorted(loaded), "scipy" in sys.modules)
"""


@pytest.mark.parametrize(
    ("words", "tables"),
    [
        (["--help"], []),
        (["design", "grr", "--epsilon", "1", "--k", "4"], ["frequency"]),
        (["design", "duchi", "--epsilon", "1", "--interval", "0,1"], ["numeric"]),
    ],
)
def test_a_command_loads_the_family_that_it_speaks_of(words: list[str], tables: list[str]) -> None:
    """That is what makes it quick; and nothing loads SciPy."""
    made = subprocess.run(
        [sys.executable, "-c", _ALONE.format(words=words)], capture_output=True, text=True, check=True
    )
    loaded = [f"deniable.mechanisms.{family}.table" for family in tables]
    assert made.stdout.splitlines()[-1].split() == ["0", *loaded, "False"]


@pytest.mark.parametrize("n", [0, -1, math.inf, math.nan, "10", None, True], ids=repr)
def test_errors_are_those_of_some_reports(n: Any) -> None:
    with_labels = {"epsilon": 1.0, "k": 6}
    made = [
        dn.mechanism(name, **with_labels) for name in ("ss", "oue", "olh", "hr", "she", "ssmix", "kv-ss2", "kv-mix")
    ]
    made += [dn.mechanism(name, sensitive=2, **with_labels) for name in ("uss", "ussmix", "urr", "uue")]
    made += [
        dn.mechanism("hm", epsilon=1.0, interval=(0, 1)),
        dn.mechanism("pldp", levels=[1.0, 2.0], level_epsilon=1.0, k=6),
    ]
    for m in made:
        for numbers in (m.properties, m.effective):
            with pytest.raises(ParameterError, match="n must be a number > 0"):
                numbers(n)
    with pytest.raises(ParameterError, match=r"n must be a number > 0, got .* It is the number of reports"):
        made[0].mse(n)


COMMANDS = ("attacks", "designs", "pipeline", "service_tasks", "studies")


def test_names_of_arguments_and_of_commands_own_options_are_taken() -> None:
    """What commands that make a mechanism call their own, in Python and on the line: else they would not start."""
    taken, seen = set(registry._TAKEN), 0
    assert set(inspect.signature(dn.mechanism).parameters) - {"options"} <= taken
    for command in (f for name in COMMANDS for f in vars(import_module(f"deniable.cli.{name}")).values()):
        if inspect.isfunction(command) and "Choice" in command.__annotations__.values():
            seen += 1
            for name, parameter in inspect.signature(command, eval_str=True).parameters.items():
                told = getattr(parameter.annotation, "__metadata__", ())
                spelled = [line for each in told for line in each.param_decls or ()]
                own = {name, *(line.lstrip("-").replace("-", "_") for line in spelled)}
                assert parameter.annotation is Choice or own <= taken, (command.__name__, own - taken)
    assert seen >= 6
