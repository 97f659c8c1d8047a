"""A mechanism from a matrix of chances: ideas of a few lines, through all that the others do; and what is refused."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.cli import main
from deniable.core.channel import Chances
from deniable.estimate.inverse import best_inverse
from deniable.mechanisms.optimal.matrix import Matrix, from_matrix
from deniable.testing import conformance
from deniable_client import Device
from deniable_client.exact import exp_bounds, log_upper

WORD = 1 << 64


def test_answers_that_hardly_differ_have_no_estimate_without_bias() -> None:
    """Two of three answers are told apart by one part in a billion: an inverse would be rounding errors."""
    near = np.array([[0.6, 0.2, 0.2], [0.2, 0.6, 0.2], [0.2, 0.6 - 1e-9, 0.2 + 1e-9]])
    with pytest.raises(dn.ParameterError, match=r"condition number .*e\+.*, above 1e\+08"):
        best_inverse(near, "mine")
    fine = best_inverse(np.vstack([near[:2], [0.2, 0.6 - 1e-5, 0.2 + 1e-5]]), "mine")
    assert fine.shape == (3, 3)


def test_warners_coin_in_five_lines() -> None:
    coin = dn.Mechanism.from_matrix([[3, 1], [1, 3]], labels=["no", "yes"])
    assert dn.audit(coin).holds
    reports = coin.privatize(["yes"] * 400 + ["no"] * 600, rng=dn.simulation(1))
    share = coin.estimate(reports)
    assert abs(share.value[1] - 0.4) < 5 * share.stderr[1]
    assert coin.epsilon == log_upper(Fraction(3)) == pytest.approx(math.log(3), rel=1e-15)
    assert coin.proof.ratio == 3
    twin = dn.mechanism("grr", epsilon=coin.epsilon, k=2)
    assert coin.properties(1000)["mse"] == pytest.approx(twin.properties(1000)["mse"], rel=1e-12)


def test_a_hadamard_variant_in_six_lines() -> None:
    signs = np.array([[1, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]])
    idea = dn.Mechanism.from_matrix((2 + signs[1:]) / 8, epsilon=math.log(3) + 1e-12)
    assert dn.audit(idea).holds
    tally = idea.tally(idea.privatize([0, 1, 2] * 500, rng=dn.simulation(2)))
    assert np.abs(idea.estimate(tally).value - 1 / 3).max() < 5 * idea.estimate(tally).stderr.max()
    assert idea.fit(tally).value.sum() == pytest.approx(1)
    assert idea.rank == 3
    assert idea.properties(1)["mse"] == pytest.approx(2.0)  # of all unbiased estimates; pairs of them have more


def test_a_leaking_matrix_is_refused_until_it_is_said_which_pairs_have_no_limit() -> None:
    leaking = {"maybe": ["1/2", "1/4"], "perhaps": ["1/2", "1/4"], "surely": [0, "1/2"]}
    with pytest.raises(
        dn.PrivacyError, match=r"surely has the chance 0\.5 for well and 0 for ill.*in a promise: dn\.promise"
    ):
        dn.Mechanism.from_matrix(leaking, labels=["ill", "well"])
    meant = dn.promise(budgets=[[0, 0.7], ["inf", 0]], labels=["ill", "well"])
    told = dn.Mechanism.from_matrix(leaking, labels=["ill", "well"], promise=meant)
    assert dn.audit(told).holds
    assert told.kept.between("ill", "well") == log_upper(Fraction(2))
    assert told.kept.between("well", "ill") == math.inf
    with pytest.raises(dn.PrivacyError, match="may disclose 'well'"):
        Device(told.design)
    assert Device(told.design, harmless=["well"]).explain().harmless == ("well",)
    assert "by enumeration" in dict(conformance(told, checks=["privacy", "protection"]))["privacy"]


def test_devices_and_collector_speak_of_the_same_design() -> None:
    m = from_matrix([[0.5, 0.3, 0.2], [0.2, 0.5, 0.3]], labels=["no", "yes"], outputs=["a", "b", "c"], prior=[0.9, 0.1])
    document = json.loads(json.dumps(m.design))
    assert document["params"] == {"prior": [0.9, 0.1], "outputs": ["a", "b", "c"]}
    assert dn.from_design(document) == m
    rows = [Device(document).report("yes") for _ in range(50)]
    tally = m.tally(dn.Reports.from_rows(m.design, m.fields, rows, simulated=False))
    assert tally.n == 50
    assert dn.attack(m).expected.success == m.guess().success
    assert m.channel().outputs == ("a", "b", "c")


@pytest.mark.parametrize(
    "matrix",
    [
        [[0.75, 0.25], [0.25, 0.75]],
        [[Fraction(3, 4), Fraction(1, 4)], [Fraction(1, 4), Fraction(3, 4)]],
        [["3/4", "0.25"], ["1/4", "0.75"]],
        [[3, 1], [1, 3]],
        np.array([[3, 1], [1, 3]], np.int32),
        np.array([[0.75, 0.25], [0.25, 0.75]], np.float32),
        {"a": [3, 1], "b": [1, 3]},
        dn.Channel(("a", "b"), ((3, 1), (1, 3)), 4),
        Chances([["3", "1"], ["1", "3"]], labels=("no", "yes")),
    ],
    ids=["floats", "fractions", "texts", "whole", "integers", "singles", "columns", "channel", "file"],
)
def test_the_same_matrix_in_any_form_is_the_same_table(matrix: Any) -> None:
    assert from_matrix(matrix).table.weights == ((3 << 62, 1 << 62), (1 << 62, 3 << 62))


def test_frames_name_their_columns_and_rows() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"x": [0.75, 0.25], "y": [0.25, 0.75]})
    assert from_matrix(frame).outputs == ("x", "y")
    assert from_matrix(frame).domain.labels is None
    named = frame.set_axis(["no", "yes"])
    assert from_matrix(named).domain.labels == ("no", "yes")
    assert from_matrix(named, labels=["a", "b"]).domain.labels == ("a", "b")
    with pytest.raises(dn.ParameterError, match="labels must be different"):
        from_matrix(frame.set_axis(["no", "no"]))
    for index in (["a", None], ["no", "no"], pandas.MultiIndex.from_tuples([(1, 2), (3, 4)])):
        assert from_matrix(frame.set_axis(index), labels=["a", "b"]).domain.labels == ("a", "b"), "it is not asked"


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 3.0, 8.0])
def test_given_limits_are_kept_to_the_last_unit(epsilon: float) -> None:
    """A matrix of floats exactly at e^epsilon is rounded to the private side, and one a little beyond is refused."""
    e = math.exp(epsilon)
    rows = (np.ones((4, 4)) + (e - 1) * np.eye(4)) / (e + 3)
    m = from_matrix(rows, epsilon=epsilon)
    assert m.proof.ratio is not None
    assert m.proof.ratio <= exp_bounds(epsilon)[0]
    assert m.epsilon - m.epsilon_exact < 1e-9
    with pytest.raises(dn.PrivacyError, match=r"report 0 is .* times as likely for 0 as for 1, above e\^"):
        from_matrix(rows, epsilon=epsilon * (1 - 1e-6))


def test_rows_off_by_a_billionth_are_divided_by_their_sums() -> None:
    off = from_matrix([[0.75 + 1e-9, 0.25], [0.25, 0.75]])
    assert all(sum(row) == WORD for row in off.table.weights)
    assert off.epsilon == pytest.approx(math.log(3), abs=3e-9)


@pytest.mark.parametrize(
    ("matrix", "own", "said"),
    [
        ([[0.5, 0.5]], {}, "at least 2 rows, got 1 x 2 entries"),
        ([[1], [1]], {}, "at least 2 columns, got 2 x 1 entries"),
        ([[0.5, 0.5], [0.5, 0.4]], {}, r"matrix\[1\] must sum to 1, got 0\.9"),
        ([[0.9, 0.9], [0.1, 0.1]], {}, "Its columns do: turn it round"),
        ([[3, 1], [1, 4]], {}, r"matrix\[0\] must sum to 1, got 4"),
        ([[0.5, 0.5], [0.5, math.nan]], {}, r"matrix\[1\]\[1\] must be a number >= 0"),
        ([[0.5, 0.5], [0.5, math.inf]], {}, r"matrix\[1\]\[1\] must be a number >= 0"),
        ([[1.5, -0.5], [0.5, 0.5]], {}, r"matrix\[0\]\[1\] must be a number >= 0"),
        ([[0.5, "x"], [0.5, 0.5]], {}, r"matrix\[0\]\[1\]"),
        ([[0.5, "1/0"], [0.5, 0.5]], {}, r"matrix\[0\]\[1\]"),
        ([[0.5, "1e99999999"], [0.5, 0.5]], {}, r"matrix\[0\]\[1\] must be a number"),
        ([[True, False], [False, True]], {}, r"matrix\[0\]\[0\]"),
        ([[0.5, 0.5], [0.5]], {}, "rows of one length"),
        ([], {}, "rows of chances"),
        ("matrix.csv", {}, "rows of chances"),
        (None, {}, "rows of chances"),
        ([0.5, 0.5], {}, "rows of chances"),
        (np.zeros((10_000, 10_000)), {}, "got 10000 x 10000"),
        (np.full((300, 300), 1 / 300), {}, "which every device compares; got 300 x 300"),
        ([[0.5, 0.5], [0.5, 0.5]], {}, "Rows that are all the same tell nothing"),
        ([[3, 1], [1, 3]], {"labels": ["a", "b", "c"]}, "matrix must be 3 rows, one for each answer, got 2 rows"),
        ([[3, 1], [1, 3]], {"outputs": ["a", "a"]}, "2 different names, one for each column"),
        ([[3, 1], [1, 3]], {"outputs": ["a"]}, r"2 different names, one for each column, got \['a'\]"),
        ([[3, 1], [1, 3]], {"outputs": ["a", "b", "c"]}, "2 different names, one for each column"),
        (Chances([[3, 1], [1, 3]], outputs=("a", "b", "c")), {}, "2 different names, one for each column"),
        (dn.Channel(("a", "b"), ((3, 1), (1, 3)), 4), {"outputs": ["a"]}, "2 different names, one for each column"),
        ([[3, 1], [1, 3]], {"epsilon": 0}, "epsilon must be a finite number > 0"),
        ([[3, 1], [1, 3]], {"promise": 1.0}, "promise must be a promise"),
        ([[3, 1], [1, 3]], {"promise": dn.promise(epsilon=2, k=3)}, "one to 2 answers"),
        ([[3, 1], [1, 3]], {"prior": [1.0]}, "prior must be 2 finite numbers"),
    ],
    ids=lambda part: str(part)[:40],
)
def test_what_is_no_matrix_of_chances_is_refused_by_its_place(matrix: Any, own: dict[str, Any], said: str) -> None:
    with pytest.raises(dn.ParameterError, match=said):
        from_matrix(matrix, **own)


def test_what_no_sampler_can_draw_is_refused() -> None:
    tiny = math.exp(-45)
    with pytest.raises(dn.PrivacyError, match="epsilon must be at most 40"):
        from_matrix([[1 - tiny, tiny], [tiny, 1 - tiny]])


def test_what_reports_cannot_tell_apart_has_no_error_bar() -> None:
    """Two outputs for three answers: the rounding of a weak channel is no information about the third direction."""
    m = from_matrix([[0.5, 0.5], [0.51, 0.49], [0.49, 0.51]])
    for seed in range(4):
        fitted = m.fit(m.privatize([0, 1, 2] * 50, rng=dn.simulation(seed)))
        assert np.isinf(fitted.stderr).all(), seed


def test_chances_below_a_unit_stay_possible() -> None:
    tiny = Fraction(1, 1 << 70)
    m = from_matrix(
        [[1 - tiny, tiny], [Fraction(1, 2), Fraction(1, 2)]], promise=dn.promise(budgets=[[0, 1], ["inf", 0]])
    )
    assert m.table.weights[0] == (WORD - 1, 1)
    assert isinstance(m, Matrix)


@pytest.mark.parametrize(
    ("name", "text", "labels", "outputs"),
    [
        ("bare.csv", "0.75,0.25\n0.25,0.75\n", ("0", "1"), None),
        ("head.csv", "heads,tails\n3/4,1/4\n1/4,3/4\n", ("0", "1"), ["heads", "tails"]),
        ("both.csv", "answer,heads,tails\nno,3,1\nyes,1,3\n", ("no", "yes"), ["heads", "tails"]),
        ("side.csv", "no,3,1\nyes,1,3\n", ("no", "yes"), None),
        ("rows.json", "[[3, 1], [1, 3]]", ("0", "1"), None),
        (
            "all.json",
            '{"matrix": [[3, 1], [1, 3]], "labels": ["no", "yes"], "outputs": ["x", "y"]}',
            ("no", "yes"),
            ["x", "y"],
        ),
    ],
)
def test_files_of_matrices(
    name: str, text: str, labels: Any, outputs: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).write_text(text)
    assert main(["design", "--matrix", str(tmp_path / name), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["mechanism"], found["epsilon"]) == ("matrix", log_upper(Fraction(3)))
    m = dn.from_design(found["design"])
    assert m.domain.labels_or_numbers == labels
    assert m.params.get("outputs") == outputs


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "nothing"),
        ("{", "it is not JSON"),
        ('{"rows": [[1]]}', "matrix, labels and outputs"),
        ('{"matrix": [[3, 1], [1, 3]], "labels": ["a"]}', "labels must be 2 names"),
        ('{"matrix": [[3, 1], [1, 3]], "labels": "ab"}', "a list of names"),
        ("a,b,c\n0.5,0.5\n0.4,0.6\n", "a name for each column"),
        ("1,0\n0,1\n", "rules answers out"),
        ("no;3;1\nyes;1;3\n", "must be separated by commas, got semicolons"),
        ("3\t1\n1\t3\n", "must be separated by commas, got tabs"),
        ("\xff\xfe", "sum to 1|not UTF-8|must be"),
    ],
)
def test_files_that_are_no_matrix_are_refused_with_a_reason(
    text: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "m.csv"
    path.write_text(text)
    assert main(["design", "matrix", "--matrix", str(path)]) == 2
    told = capsys.readouterr().err
    assert any(part in told for part in said.split("|")), told
