"""`mechanisms` and `design` say what the library says."""

from __future__ import annotations

import math

import pytest

import deniable as dn
from cli.lines_of import options_of
from deniable.mechanisms.registry import MECHANISMS, OPTIONS, PROTOCOLS

SMALL = [
    (name, {key: value for key, value in row.items() if key not in entry.inner})
    for name, entry in MECHANISMS.items()
    for row in entry.small[:1] + entry.small[-1:]
]


def test_mechanisms_are_the_registry(run):
    rows = run("mechanisms", "--json").json["mechanisms"]
    assert [row["name"] for row in rows] == [*MECHANISMS, *PROTOCOLS]
    for row in rows:
        entry = {**MECHANISMS, **PROTOCOLS}[row["name"]]
        assert row["options"] == list(entry.options)
        assert row["vetted"] is entry.cls.vetted
        assert (row["summary"], row["best_for"], row["source"]) == (entry.summary, entry.best_for, entry.source)


def test_mechanisms_table_has_a_line_for_each(run):
    lines = run("mechanisms").out.splitlines()
    assert [line.split()[0] for line in lines] == ["name", *MECHANISMS, *PROTOCOLS]


@pytest.mark.parametrize(("name", "arguments"), SMALL, ids=lambda x: x if isinstance(x, str) else None)
def test_design_is_what_the_library_says(run, tmp_path, name, arguments):
    done = run("design", name, *options_of(arguments, tmp_path), "--n", 1000, "--json")
    planned = {"n": 1000} if "n" in MECHANISMS[name].inner else {}
    m = dn.mechanism(name, **arguments, **planned)
    assert done.code == 0
    found = done.json
    assert found["design"] == m.design
    assert found["effective"] == m.effective(1000)
    for key, value in m.properties(1000).items():
        assert found[key] == value, key
    assert (found["mechanism"], found["epsilon"], found["k"], found["n"]) == (name, m.epsilon, m.k, 1000)
    assert (found["epsilon_exact"], found["params"], found["vetted"]) == (m.epsilon_exact, m.params, m.vetted)


def test_design_has_the_promised_keys_and_n_is_1_by_default(run):
    found = run("design", "ss", "--epsilon", 1, "--k", 16, "--json").json
    keys = "mechanism epsilon epsilon_exact k n params p q mse mse_sum mse_approx asr bits bytes bound gap effective"
    keys += " bound_at_asr gap_at_asr"
    assert {*keys.split(), "vetted", "design"} <= set(found)
    assert found["n"] == 1


def test_design_document_is_what_a_device_takes(run):
    from deniable_client import Device

    found = run("design", "oue", "--epsilon", 1, "--labels", "no,yes,never", "--json").json
    assert len(Device(found["design"]).report("never")) == found["bytes"]


@pytest.mark.parametrize("epsilon", [41, 700])
def test_beyond_what_can_be_sampled_there_are_closed_forms_and_a_note(run, epsilon):
    found = run("design", "grr", "--epsilon", epsilon, "--k", 5, "--json").json
    assert not {"epsilon_exact", "effective", "bytes", "design"} & set(found)
    assert "at most 40" in found["note"]
    assert found["mse"] == dn.mechanism("grr", epsilon=float(epsilon), k=5).mse()
    text = run("design", "grr", "--epsilon", epsilon, "--k", 5).out
    assert "No reports can be drawn: epsilon must be at most 40" in text


def test_design_table_explains(run):
    out = run("design", "ss", "--epsilon", 1, "--k", 16, "--n", 10_000).out
    m = dn.mechanism("ss", epsilon=1.0, k=16)
    rows = {line.split("  ")[0]: line for line in out.splitlines()}
    assert "blind guess: 1/k = 0.0625" in rows["asr"]
    assert "0.000 %" in rows["gap"]
    assert f"{100 * math.sqrt(m.mse(10_000)):.4g} points" in rows["std. error"]
    assert "size = 4" in rows["params"]


def test_labels_from_a_file_and_from_the_line_are_the_same(run, tmp_path):
    (tmp_path / "labels.txt").write_text('no\n"yes, often"\nnever, é\n', "utf-8")
    one = run("design", "grr", "--epsilon", 1, "--labels-file", "labels.txt", "--missing", "no", "--json").json
    line = '"no","""yes, often""","never, é"'
    two = run("design", "grr", "--epsilon", 1, "--labels", line, "--missing", "no", "--json").json
    assert one == two
    assert one["design"]["domain"] == {"labels": ["no", '"yes, often"', "never, é"], "missing": "no"}


def test_labels_come_from_standard_input_too(run):
    found = run("design", "grr", "--epsilon", 1, "--labels-file", "-", "--json", stdin="a\nb\n").json
    assert found["design"]["domain"] == {"labels": ["a", "b"]}


@pytest.mark.parametrize("command", ["design", "simulate", "privatize", "audit"])
def test_every_own_option_is_in_every_command(run, command):
    help = " ".join(run(command, "--help").out.split())
    for name, option in OPTIONS.items():
        assert f"--{name.replace('_', '-')}" in help
        assert " ".join(option.help.split()) in help


def test_a_new_option_needs_no_change_in_the_commands(run, monkeypatch):
    from dataclasses import replace

    from deniable.mechanisms import registry

    seen = {}

    def make(*, epsilon, domain, hue_shift=None):
        seen["hue_shift"] = hue_shift
        return MECHANISMS["grr"].make(epsilon=epsilon, domain=domain)

    monkeypatch.setitem(OPTIONS, "hue_shift", registry.Option(int, "Made up for this test."))
    monkeypatch.setitem(MECHANISMS, "grr2", replace(MECHANISMS["grr"], make=make, options=("hue_shift",)))
    assert "Made up for this test." in run("design", "--help").out
    assert run("design", "grr2", "--epsilon", 1, "--k", 3, "--hue-shift", 7, "--json").code == 0
    assert seen == {"hue_shift": 7}
