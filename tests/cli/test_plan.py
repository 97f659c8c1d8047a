"""`deniable plan`: the planner's answers, its exit codes, its chart."""

from __future__ import annotations

import json
import shlex

import pytest

import deniable as dn

JOB = ("--k", 100, "--n", 10_000, "--epsilon", 1)


def test_json_is_the_plan(run):
    done = run("plan", *JOB, "--json")
    assert (done.code, done.err) == (0, "")
    assert done.json == json.loads(json.dumps(dn.plan(k=100, n=10_000, epsilon=1.0).document()))


def test_table_has_a_line_and_a_reason_for_each_design(run):
    found = dn.plan(k=100, n=10_000, epsilon=1.0)
    out = run("plan", *JOB).out
    assert out.startswith("affine has the least error: a standard error of 1.9 percentage points.\n")
    for d in found.designs:
        assert f"\n{d.title} " in out or f"\n{d.title}  " in out
        assert (d.why in out) != bool(d.beaten_by)
    assert "as good in everything, up to half a percent: affine beats " in " ".join(out.split())


def test_every_limit_has_an_option(run):
    limits = {"max_asr": 0.02, "max_bits": 80, "max_bytes": 12, "max_work": 5_000, "max_poisoning": 0.4}
    options = [x for name, most in limits.items() for x in (f"--{name.replace('_', '-')}", most)]
    found = dn.plan(k=100, n=10_000, epsilon=1.0, weight=0.3, targets=5, top=3, **limits)
    done = run("plan", *JOB, *options, "--weight", 0.3, "--targets", 5, "--top", 3, "--json")
    assert done.json == json.loads(json.dumps(found.document()))
    assert len(done.json["designs"]) == 3


def test_no_is_exit_code_1_with_the_closest(run):
    done = run("plan", *JOB, "--max-asr", 0.005, "--json")
    assert done.code == 1
    assert done.json["designs"] == []
    assert done.json["message"].startswith("No design meets the limits (best guess at most 0.005); the closest is ")
    assert done.json["closest"]["asr"] > 0.005
    text = run("plan", *JOB, "--max-asr", 0.005)
    assert text.code == 1
    assert " ".join(text.out.split()).startswith(
        "No design meets the limits (best guess at most 0.005); the closest is "
    )


def test_smallest_n_and_epsilon(run):
    few = run("plan", "--k", 100, "--epsilon", 1, "--target-error", 0.01, "--json").json
    assert few["designs"][0]["n"] == dn.plan(k=100, epsilon=1.0, target_error=0.01).best.n
    assert "reports are enough" in few["message"]
    little = run("plan", "--k", 100, "--n", 10_000, "--target-error", 0.01)
    best = dn.plan(k=100, n=10_000, target_error=0.01).best
    assert little.out.startswith(f"epsilon {best.mechanism.epsilon!r} is enough")
    assert any(line.split()[:2] == ["design", "epsilon"] for line in little.out.splitlines())


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--k", 100, "--n", 10), "two of --n, --epsilon and --target-error must be given, got --n."),
        (("--n", 10, "--epsilon", 1), "the domain must be given by exactly one of --k, --labels and --labels-file"),
        ((*JOB, "--max-asr", 2), "--max-asr must be at most 1, got 2.0.\nhint: It is a probability."),
        ((*JOB, "--weight", 2), "weight must be from 0 to 1, got 2.0.\nhint: It is that of the best guess (ASR)."),
        (("--k", 100, "--n", 10, "--epsilon", 50), "epsilon must be at most 40 to draw reports, got 50.0."),
        ((*JOB, "--chart", "plan.gif"), "chart must be a name that ends in one of"),
        ((*JOB, "--targets", 100), "targets must be an integer from 1 to 99, got 100."),
    ],
)
def test_bad_use_is_exit_code_2(run, args, message):
    done = run("plan", *args)
    assert done.code == 2
    assert message in done.err
    assert done.out == ""


def test_sensitive_answers_bring_mechanisms_of_their_own(run):
    found = run("plan", "--k", 20, "--n", 1000, "--epsilon", 1, "--sensitive", 5, "--json").json
    assert found["designs"][0]["mechanism"] == "uss"


def test_chart(run, tmp_path):
    pytest.importorskip("altair", reason="charts need: pip install 'deniable[charts]'")
    done = run("plan", *JOB, "--max-asr", 0.018, "--chart", "plan.json", "--json")
    assert (done.code, done.err) == (0, "drew plan.json\n")
    assert "nothing can lie below" in (tmp_path / "plan.json").read_text("utf-8")


KEYS = ("--question", "key-value", "--k", 50, "--n", 10_000, "--epsilon", 2)


def test_key_value_question(run, tmp_path):
    done = run("plan", *KEYS, "--interest", 0.5, "--length", 2, "--max-bytes", 20, "--json")
    found = dn.plan(question="key-value", k=50, n=10_000, epsilon=2.0, interest=0.5, length=2, max_bytes=20)
    assert (done.code, done.json) == (0, json.loads(json.dumps(found.document())))
    shown = run("plan", *KEYS, "--chart", "plan.svg")
    assert "is best for frequencies and means equally" in shown.out
    assert (tmp_path / "plan.svg").stat().st_size > 1000
    assert run("plan", *KEYS, "--max-bytes", 1, "--target-error", 1e-6).code == 1
    options = ("--weights", "error=3, bits=1", "--max-asr", 0.06, "--max-work", 50, "--max-poisoning", 0.5)
    weighed = run("plan", *KEYS, *options, "--json")
    limits = {"max_asr": 0.06, "max_work": 50, "max_poisoning": 0.5}
    found = dn.plan(question="key-value", k=50, n=10_000, epsilon=2.0, weights={"error": 3, "bits": 1}, **limits)
    assert (weighed.code, weighed.json) == (0, json.loads(json.dumps(found.document())))
    assert "is the best compromise for" in weighed.json["message"]
    for text in ("error", "speed=1", "error=0"):
        refused = run("plan", *KEYS, "--weights", text)
        assert refused.code == 2
        assert "--weights must be " in refused.err
    assert "--weight must be left out" in run("plan", *KEYS, "--weight", 0.5, "--weights", "error=1").err
    assert "length must be left out" in run("plan", *JOB, "--length", 2).err
    assert "n must be given" in run("plan", "--question", "key-value", "--k", 5, "--epsilon", 1).err
    assert "question must be one of" in run("plan", *JOB, "--question", "quantiles").err


def test_questions_about_near_answers_and_means(run, tmp_path):
    near = run("plan", "--question", "release", "--points", 30, "--epsilon", 2, "--max-bytes", 1, "--json")
    found = dn.plan(question="release", points=30, epsilon=2.0, max_bytes=1)
    assert (near.code, near.json) == (0, json.loads(json.dumps(found.document())))
    (tmp_path / "losses.csv").write_text("a,b,c\n0,1,2\n1,0,1\n2,1,0\n")
    shown = run("plan", "--question", "release", "--distances", "losses.csv", "--epsilon", 1, "--chart", "near.svg")
    assert "has the least expected loss" in shown.out
    assert (tmp_path / "near.svg").stat().st_size > 1000
    assert run("plan", "--question", "release", "--points", 30, "--epsilon", 2, "--target-error", 0.1).code == 1
    mean = ("--question", "mean", "--interval", "0,100", "--epsilon", 1)
    found = dn.plan(question="mean", interval="0,100", epsilon=1.0, n=5000)
    assert run("plan", *mean, "--n", 5000, "--json").json == json.loads(json.dumps(found.document()))
    assert "people are enough for a standard error of 0.5" in run("plan", *mean, "--target-error", 0.5).out
    options = ("--n", 5000, "--weights", "error=1,asr=4,poisoning=1", "--max-asr", 0.63)
    found = dn.plan(
        question="mean",
        interval="0,100",
        epsilon=1.0,
        n=5000,
        weights={"error": 1, "asr": 4, "poisoning": 1},
        max_asr=0.63,
    )
    assert run("plan", *mean, *options, "--json").json == json.loads(json.dumps(found.document()))
    assert run("plan", *mean, "--n", 5000, "--max-asr", 0.55).code == 1
    for args, words in (
        (("--question", "release", "--points", 30), "epsilon or a promise must be given"),
        (("--question", "release", "--points", 30, "--epsilon", 1, "--n", 5), "n must be left out"),
        (("--question", "release", "--points", 30, "--epsilon", 1, "--k", 5), "k must be left out"),
        (("--question", "mean", "--epsilon", 1, "--n", 5), "interval must be given"),
        ((*JOB, "--points", 5), "points must be left out"),
    ):
        refused = run("plan", *args)
        assert refused.code == 2
        assert words in refused.err


# ---- what to type next

TYPED = [
    ("--k", 20, "--n", 1000, "--epsilon", 1, "--sensitive", 5),
    ("--k", 12, "--n", 1000, "--epsilon", 4, "--max-asr", 0.3),
    ("--labels", 'ill,"well, really",gone', "--n", 1000, "--epsilon", 1, "--sensitive", '"well, really"'),
    ("--k", 50_000, "--n", 1000, "--epsilon", 1, "--top", 1),
    ("--k", 20, "--epsilon", 1, "--target-error", 0.02),
    ("--question", "key-value", "--k", 6, "--n", 1000, "--epsilon", 2, "--interest", 0.5, "--length", 2),
    ("--question", "release", "--points", 9, "--epsilon", 2),
    ("--question", "release", "--interval", "0,10", "--epsilon", 1),
    ("--question", "mean", "--interval=-5,5", "--n", 500, "--epsilon", 1),
    ("--question", "key-value", "--k", 6, "--n", 1000, "--epsilon", 2, "--weights", "error=1,asr=2,bits=1"),
    ("--question", "mean", "--interval", "0,9", "--epsilon", 1, "--target-error", 0.2, "--weight", 0.9),
]


@pytest.mark.parametrize(
    "asked",
    [pytest.param(x, marks=pytest.mark.slow if i in (1, 3, 4, 7) else ()) for i, x in enumerate(TYPED)],
    ids=lambda x: " ".join(map(str, x)),
)
def test_the_next_command_can_be_typed_as_it_is(run, asked):
    done = run("plan", *asked)
    assert done.code == 0
    line = done.out.rstrip("\n").splitlines()[-1]
    assert line.startswith("Next: deniable ")
    _, program, *words = shlex.split(line)
    assert program == "deniable"
    more = ["--runs", "1"] if words[0] == "simulate" else []
    again = run(*words, *more, "--json")
    assert again.code == 0
    assert again.json["mechanism"] == run("plan", *asked, "--json").json["designs"][0]["mechanism"]
