"""Schemes by the names that papers give them, and `form=paper` for all that is as printed."""

from __future__ import annotations

import re
import warnings
from typing import Any

import pytest

import deniable as dn
from deniable.datasets import synthetic
from deniable.errors import ParameterError, PrivacyError
from deniable.mechanisms.metric.bipartite import line_min, line_printed
from deniable.mechanisms.registry import MECHANISMS, PROTOCOLS
from deniable.papers.schemes import KINDS, SCHEMES, find, try_scheme

LINE: dict[str, Any] = {"epsilon": 0.5, "points": 40}
ULDP: dict[str, Any] = {"epsilon": 1.0, "k": 6, "sensitive": 3, "theta": 0.5}


@pytest.mark.parametrize(
    ("name", "given", "same"),
    [
        ("pldp", {"levels": "0.5,1", "k": 4, "level_epsilon": 0.3}, {"base": "sue", "level_report": "response"}),
    ],
)
def test_as_printed_is_form_paper(name: str, given: dict[str, Any], same: dict[str, str]) -> None:
    """The same mechanism, to the byte of its document."""
    made = dn.mechanism(name, **given, form="paper")
    assert made.design == dn.mechanism(name, **given, **same).design
    assert made.design != dn.mechanism(name, **given).design


def test_every_row_that_is_printed_takes_form_paper_and_nothing_twice() -> None:
    rows = {name: entry.printed for name, entry in MECHANISMS.items() if entry.printed is not None}
    adaptive, near = {"ass", "aue", "alh", "athe"}, {"brr", "exponential", "lsrr"}
    assert set(rows) == adaptive | near | {"uss", "uue", "urr", "urap", "uhr", "pldp"}
    uhr = dn.mechanism("uhr", **ULDP)
    assert uhr.design == dn.mechanism("uhr", **ULDP, form="paper").design, "the usual form is as printed"
    with pytest.raises(ParameterError, match="rule must be left out with form=paper, got 'mean'"):
        dn.mechanism("brr", **LINE, form="paper", rule="mean")
    with pytest.raises(ParameterError, match="form must be paper"):
        dn.mechanism("brr", **LINE, form="null")


@pytest.mark.parametrize(
    ("name", "given", "former"),
    [
        ("exponential", {"epsilon": 2.0, "points": 5}, {"variant": "printed"}),
        ("ass", {"epsilon": 4.0, "k": 100}, {"objectives": "paper"}),
        ("aue", {"epsilon": 4.0, "k": 100}, {"objectives": "paper"}),
        ("brr", LINE, {"rule": "min"}),
        *((name, ULDP, {"form": "glutf"}) for name in ("uss", "uue", "urr", "urap")),
    ],
)
def test_the_former_spelling_warns(name: str, given: dict[str, Any], former: dict[str, str]) -> None:
    """And makes the same, to the byte of its document; other values of these options do not warn."""
    option, value = next(iter(former.items()))
    with pytest.warns(FutureWarning, match=f"{option}={value} is now form=paper"):
        old = dn.mechanism(name, **given, **former)
    made = dn.mechanism(name, **given, form="paper")
    assert made.design == old.design != dn.mechanism(name, **given).design


def test_names_of_what_is_not_as_printed_do_not_warn() -> None:
    """Algorithm 1 with a repaired z is glutf; under another rule BRR is not as printed."""
    with warnings.catch_warnings(action="error"):
        assert dn.mechanism("ulh", **ULDP, form="glutf").design != dn.mechanism("ulh", **ULDP).design
        assert dn.mechanism("brr", **LINE, rule="mean").design != dn.mechanism("brr", **LINE, form="paper").design
        assert dn.mechanism("uss", **ULDP, form="null").design != dn.mechanism("uss", **ULDP, form="paper").design


def test_a_name_that_a_paper_mentions_says_why_it_is_not_there() -> None:
    with pytest.raises(ParameterError, match=r"PrivKVM\+ is PrivKVM with a number of rounds by a rule that is in no"):
        dn.protocol("PrivKVM+", epsilon=1.0, k=4)


def test_algorithm_3_is_a_rule_for_lines() -> None:
    """Private as any m is; often one too many. On other spaces there is none."""
    made = dn.mechanism("brr", epsilon=0.3, points=6, rule="alg3")
    assert dn.audit(made).holds
    odd = [n for n in range(4, 60) if line_printed(n, 0.5) != line_min(n, 0.5)]
    assert odd
    assert all(line_printed(n, 0.5, even=-1) == line_min(n, 0.5) for n in range(4, 60))
    with pytest.raises(ParameterError, match="rule must be mean or min where answers are not on a line"):
        dn.mechanism("brr", epsilon=1.0, distances=dn.Space.vectors([[0, 0], [1, 0], [2, 3]]), rule="alg3")


def test_the_staircase_as_printed_is_made_where_it_is_private_only() -> None:
    made = dn.mechanism("lsrr", epsilon=2.0, points=8, form="paper")
    assert dn.audit(made).holds
    with pytest.raises(PrivacyError, match=r"promises epsilon 2, but its exact epsilon here is 2\.2"):
        dn.mechanism("lsrr", epsilon=2.0, points=9, form="paper")


def test_every_way_to_have_a_scheme_is_one() -> None:
    """Rows and options of the registry, spelt as they are there; names of rows in capitals lead to the same row."""
    called = re.compile(r'dn\.(mechanism|protocol)\("([\w-]+)"((?:, \w+=[^,]+)*), \.\.\.\)')
    for scheme in SCHEMES.values():
        if scheme.kind == "as coded":
            continue
        found = called.fullmatch(scheme.call)
        assert found, scheme.call
        row = {"mechanism": MECHANISMS, "protocol": PROTOCOLS}[found[1]][found[2]]
        for option in re.findall(r"(\w+)=", found[3]):
            form = option == "form" and row.printed is not None
            assert form or option in (*row.options, "points"), (scheme.name, option)
    assert {"uhr", "urr", "ks-ue", "pckv-ue", "privkv"} <= set(SCHEMES)


def test_names_are_found_in_any_spelling_and_say_what_they_are() -> None:
    assert {scheme.kind for scheme in SCHEMES.values()} <= set(KINDS)
    assert {name for name, one in SCHEMES.items() if one.kind == "reconstruction"} == {
        *("ppda", "rcf", "apldp", "pbp", "privkvm+"),
    }
    assert find("Brr Algorithm 3") is SCHEMES["brr-algorithm-3"]
    with pytest.raises(ParameterError, match="scheme must be one of"):
        find("ppta")


def test_schemes_are_simulated_and_those_that_see_levels_have_less_error() -> None:
    """Fixed seed; RCF has about a sixth of AUEM's squared error at this number of people."""
    people = synthetic("zipf", k=8, n=20_000)
    found = {name: try_scheme(name, people, runs=30).mse for name in ("rcf", "apldp", "ppda", "pbp", "auem")}
    assert all(one.value > 0 and one.error > 0 for one in found.values())
    assert found["rcf"].value + 5 * found["rcf"].error < found["auem"].value
    with pytest.raises(ParameterError, match=r"This one is dn\.mechanism"):
        try_scheme("uss", people)
