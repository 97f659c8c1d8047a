"""Commands ask tables: what a question or an input does not list is refused, what it lists works for every row."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import deniable as dn
from cli.lines_of import options_of
from deniable.mechanisms.registry import MECHANISMS, PROTOCOLS
from deniable.plan.questions import PLANS
from deniable.run.inputs import INPUTS
from deniable.run.questions import QUESTIONS
from deniable_client import explain

ALL = {**MECHANISMS, **PROTOCOLS}


def test_every_row_has_its_input_and_its_question():
    assert {entry.question for entry in ALL.values()} == set(QUESTIONS) == set(PLANS)
    assert {entry.cls.takes for entry in MECHANISMS.values()} == set(INPUTS)


def test_the_module_is_the_command():
    done = subprocess.run([sys.executable, "-m", "deniable", "--version"], capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout) == (0, f"deniable {dn.__version__}\n")


def test_reports_that_are_given_are_fitted(run, tmp_path):
    """Their tally would not tell enough."""
    (tmp_path / "v.txt").write_text("0\n1\n1\n2\n" * 100)
    for seed, name in enumerate("ab"):
        run("privatize", "ss", "--epsilon", 2, "--k", 6, "--size", 2, "v.txt", "--out", name, "--seed", seed)
    found = run("estimate", "a", "b", "--method", "em", "--json").json
    m = dn.mechanism("ss", epsilon=2.0, k=6, size=2)
    reports = dn.load((tmp_path / "a").read_bytes()) + dn.load((tmp_path / "b").read_bytes())
    assert found["value"] == m.fit(reports, "em").value.tolist()
    assert found["n"] == 800
    run("tally", "a", "--out", "t")
    done = run("estimate", "t", "b", "--method", "em")
    assert done.code == 2, "a tally among them hides what its reports said"
    assert "Keep the reports" in done.err


LINE = ("--epsilon", 1, "--k", 10, "--sensitive", 3)


def test_a_protocol_for_single_values_is_simulated(run):
    found = run("simulate", "collaborative", *LINE, "--data", "zipf", "--n", 2000, "--runs", 3, "--json").json
    assert (found["mechanism"], found["n"], found["mse_predicted"]) == ("collaborative", 2000, None)
    assert len(found["first"]["value"]) == 10
    assert abs(sum(found["first"]["truth"]) - 1) < 1e-9
    table = run("simulate", "collaborative", *LINE, "--data", "zipf", "--n", 2000, "--runs", 3)
    assert "measured mse" in table.out
    assert "predicted" not in table.out


@pytest.mark.parametrize(("mix", "code"), [("1", 0), ("0", 0), ("0.5", 2)])
def test_mix_is_yes_or_no_for_collaborative(run, mix, code):
    done = run("design", "collaborative", *LINE, "--mix", mix)
    assert done.code == code
    assert code == 0 or "mix must be 1 (yes) or 0 (no)" in done.err


@pytest.mark.parametrize("command", [("simulate", "duchi"), ("simulate", "brr"), ("design", "brr")])
def test_two_domains_are_told_as_they_were_typed(run, command):
    more = ("--data", "zipf") if command[0] == "simulate" else ()
    done = run(*command, "--epsilon", 1, "--interval", "0,10", "--k", 4, *more)
    assert done.code == 2
    assert "got --k and --interval." in done.err
    assert "Domain(" not in done.err


def test_limits_and_weights_work_with_sensitive_answers(run):
    line = ("plan", "--k", 10, "--n", 1000, "--epsilon", 1, "--sensitive", 3)
    limits = ("--max-poisoning", 0.2, "--max-work", 5)
    found = run(*line, *limits, "--json").json["designs"]
    assert found[0]["mechanism"] == "uss"
    assert all(d["poisoning"] <= 0.2 and d["work"] <= 5 for d in found)
    weighed = run(*line, "--weight", 0.9, "--json").json["designs"]
    assert weighed[0]["mechanism"] != "uss"


def test_what_is_unknown_of_all_designs_for_what_is_given_is_told_first(run, monkeypatch):
    from dataclasses import replace

    from deniable.mechanisms import registry
    from deniable.mechanisms.entry import Traits

    for name, entry in MECHANISMS.items():
        if "sensitive" in entry.options:
            monkeypatch.setitem(registry.MECHANISMS, name, replace(entry, traits=Traits()))
    line = ("plan", "--k", 10, "--n", 100000, "--epsilon", 1, "--sensitive", 3)
    head = run(*line, "--max-poisoning", 0.1).out.partition("excess")[0]
    assert "Note: no design here makes use of sensitive. Those that do (uss" in " ".join(head.split())
    assert "uss" in run(*line, "--max-poisoning", 0.1, "--json").json["notes"][0]
    assert "notes" not in run(*line, "--json").json, "there is no limit that they miss"


@pytest.mark.parametrize(
    ("name", "more", "refused"),
    [
        ("ss", ("--columns", "a,b,c"), "columns must be left out for shares of values"),
        ("ss", ("--duplicates", "first"), "duplicates must be left out for shares of values"),
        ("brr", ("--level", 0.9), "level must be left out for single answers"),
        ("brr", ("--chart", "c.json"), "chart must be left out for single answers"),
    ],
)
def test_settings_of_other_questions_are_refused(run, name, more, refused):
    pytest.importorskip("altair")
    done = run("simulate", name, "--epsilon", 1, "--k", 5, "--data", "zipf", *more)
    assert done.code == 2
    assert refused in done.err


def test_readings_and_columns_of_others_are_refused(run, tmp_path):
    (tmp_path / "v.txt").write_text("0\n1\n" * 20)
    line = ("privatize", "grr", "--epsilon", 1, "--k", 2, "v.txt", "--out", "r")
    assert "columns must be left out: grr takes values" in run(*line, "--columns", "a,b,c").err
    assert run(*line).code == 0
    assert "shrink must be left out for shares of values" in run("estimate", "r", "--shrink", 2).err


# ---- who is protected from what: the mechanism's own statement (tests/mechanisms/test_protection.py), everywhere

FIRST = ("grr", "uss", "uue-levels", "pldp", "upldp", "kv-ss2", "brr", "hm")
"""One of each kind of promise; the others take half a minute and are in the full tier."""


def first_case(name, folder):
    """The first small case of a row as options of a command."""
    entry = MECHANISMS[name]
    return options_of({key: x for key, x in entry.small[0].items() if key not in entry.inner}, folder)


@pytest.mark.parametrize("name", [pytest.param(n, marks=[] if n in FIRST else pytest.mark.slow) for n in MECHANISMS])
def test_design_and_audit_begin_with_the_statement_of_the_mechanism(run, name, tmp_path):
    told = dn.mechanism(name, **MECHANISMS[name].small[0]).protection
    options = first_case(name, tmp_path)
    for command, lead in (("design", ""), ("audit", "The promise is kept. ")):
        assert " ".join(run(command, name, *options).out.split()).startswith(lead + told.text)
        assert run(command, name, *options, "--json").json["protection"] == json.loads(json.dumps(told.document()))


@pytest.mark.parametrize("name", [pytest.param(n, marks=[] if n in FIRST else pytest.mark.slow) for n in MECHANISMS])
def test_design_says_what_a_device_would_tell_its_owner(run, name, tmp_path):
    options = first_case(name, tmp_path)
    found = run("design", name, *options, "--json").json
    assert found["explain"] == str(explain(found["design"]))
    text = " ".join(run("design", name, *options).out.split())
    assert "What people are told: " + " ".join(found["explain"].split()) in text


def test_a_broken_design_tells_people_nothing(run):
    line = ("ulh", "--epsilon", 1, "--k", 5, "--sensitive", 3, "--g", 2, "--form", "paper")
    assert "explain" not in run("design", *line, "--json").json
    assert "What people are told" not in run("design", *line).out


def test_a_broken_design_does_not_claim_to_protect(run):
    line = ("ulh", "--epsilon", 1, "--k", 5, "--sensitive", 3, "--g", 2, "--form", "paper")
    for command, code in (("design", 0), ("audit", 1)):
        done = run(command, *line)
        assert done.code == code
        assert done.out.startswith("THE PROMISE IS BROKEN")


def test_protocols_say_it_too(run):
    text = " ".join(run("design", "collaborative", "--epsilon", 1, "--k", 6, "--sensitive", 2).out.split())
    assert text.startswith("Everybody answers one step only. Protects the sensitive answers (0, 1):")


def test_labels_that_are_protected_are_named(run):
    done = run("design", "uss", "--epsilon", 1, "--labels", "ill,well,gone", "--sensitive", "ill,gone")
    assert "Protects the sensitive answers (ill, gone): they are never disclosed" in " ".join(done.out.split())


def test_a_channel_of_ones_own_is_told_by_what_it_calls_harmless():
    m = dn.mechanism("uss", epsilon=1.0, k=4, sensitive="1,2")
    told = dn.audit(m.channel(), epsilon=1.0).protection
    assert (list(told.items), told.disclosed) == ([1, 2], m.protection.disclosed)
    plain = dn.audit(dn.Channel(("no", "yes"), ((3, 1), (1, 3)), 4), epsilon=2.0)
    assert plain.verdict.startswith("The promise is kept. Protects every answer")
