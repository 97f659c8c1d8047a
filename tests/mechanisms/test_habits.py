"""What people type who know pandas, NumPy and scikit-learn: right counts, or an error that says what to do."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

import deniable as dn
from deniable.errors import DeniableError, is_number
from deniable.mechanisms.frequency.grr import GRR

M = dn.mechanism("ss", epsilon=1.0, labels=["no", "yes"])
REPORTS = M.privatize(["no", "yes"] * 20, rng=dn.simulation(1))
FRAME = pd.DataFrame({"a": ["no"], "b": ["yes"]})


@pytest.mark.parametrize(
    ("name", "own"),
    [
        ("the", {"threshold": True}),
        ("ssmix", {"size": 2, "share": False}),
        ("wheel", {"arc": True}),
        ("ue", {"p": True}),
        ("affine", {"tolerance": False}),
        ("ass", {"weight": True}),
        ("ass", {"select": "epsilon-constraint", "limit": True}),
        ("ass", {"select": "tchebycheff", "rho": False}),
    ],
)
def test_a_truth_value_is_no_number(name: str, own: dict[str, Any]) -> None:
    """Though Python counts with it: whoever says yes or no means something else."""
    with pytest.raises(dn.ParameterError, match=r"must be .*, got (True|False)"):
        dn.mechanism(name, epsilon=1.0, k=11, **own)
    assert all(map(is_number, (1, 0.5, np.float32(1))))
    assert not any(map(is_number, (True, False, np.bool_(1), Fraction(1, 2), "1", None)))


def test_a_witness_lists_three_answers_and_says_whether_there_are_more() -> None:
    for size, told in ((2, "0, 1"), (3, "0, 1, 2"), (4, "0, 1, 2, ...")):
        witness = dn.mechanism("ss", epsilon=1.0, k=9, size=size).proof.witness
        assert witness.output == f"report {{{told}}}"


def test_a_line_shows_six_labels_and_says_whether_there_are_more() -> None:
    for k, more in ((5, ""), (6, ""), (7, ", ...")):
        m = dn.mechanism("grr", epsilon=1.0, labels=list("abcdefg")[:k])
        assert repr(m) == f"<grr (epsilon = 1, k = {k}): {', '.join('abcdef'[:k])}{more}>"
        assert f"{', '.join('abcdef'[:k])}{more}<" in m._repr_html_()


@pytest.mark.parametrize("epsilon", [Decimal("1.5"), Fraction(3, 2), np.float32(1.5), np.float64(1.5)])
def test_epsilon_is_any_number(epsilon: Any) -> None:
    m = dn.mechanism("grr", epsilon=epsilon, k=4)
    assert type(m.epsilon) is float
    assert m == dn.mechanism("grr", epsilon=1.5, k=4)
    assert dn.audit(m, epsilon=epsilon).holds


TYPED: dict[str, tuple[Callable[[], object], str]] = {
    "epsilon text": (
        lambda: dn.mechanism("grr", epsilon="1", k=4),
        r"epsilon must be a finite number > 0, got '1'\.$",
    ),
    "epsilon nan": (
        lambda: dn.mechanism("grr", epsilon=Decimal("NaN"), k=4),
        r"finite number > 0, got Decimal\('NaN'\)",
    ),
    "epsilon snan": (lambda: dn.mechanism("grr", epsilon=Decimal("sNaN"), k=4), "finite number > 0"),
    "k float": (
        lambda: dn.mechanism("grr", epsilon=1, k=1e6),
        r"k must be an integer >= 2, got 1000000\.0\. Write k=1000000\.",
    ),
    "k text": (lambda: dn.mechanism("grr", epsilon=1, k="4"), r"got '4'\. Write k=4\."),
    "k array": (lambda: dn.mechanism("grr", epsilon=1, k=np.array(4)), r"got array\(4\)\. Write k=4\."),
    "k labels": (lambda: dn.mechanism("grr", epsilon=1, k=["a", "b"]), r"Labels are given as labels="),
    "k one": (lambda: dn.mechanism("grr", epsilon=1, k=1.0), r"For a yes/no question use k=2"),
    "k nan": (lambda: dn.Domain(float("nan")), r"k must be an integer >= 2, got nan"),  # type: ignore[arg-type]
    "labels nested": (
        lambda: dn.mechanism("grr", epsilon=1, labels=[["a"], ["b"]]),
        r"single texts or numbers, got \['a'\]",
    ),
    "labels bytes": (lambda: dn.mechanism("grr", epsilon=1, labels=[b"a", b"b"]), "Bytes are decoded first"),
    "a table": (
        lambda: M.privatize(np.array([["no", "yes"]])),
        r"shape \(1, 2\)\. Give one column of it, such as values\[:, 0\]",
    ),
    "groups": (lambda: M.privatize(FRAME.groupby("a")), r"values must be single ones, got a value of type tuple\. "),
    "fit values": (lambda: M.fit(["no"]), r"data must be reports.*got \['no'\]\. .*m\.fit\(m\.privatize\(values\)\)"),
    "fit one": (lambda: M.fit(3), r"data must be reports.*got 3\. .*m\.fit\(m\.privatize\(values\)\)"),
    "estimate values": (lambda: M.estimate(["no"]), r"tally must be .*m\.estimate\(m\.privatize\(values\)\)"),  # type: ignore[arg-type]
    "tally a frame": (lambda: M.tally(FRAME), r"got a value of type DataFrame\. .*m\.tally\(m\.privatize\(values\)\)"),  # type: ignore[arg-type]
    "protocol": (lambda: dn.protocol("grr", epsilon=1, k=4), r"grr is one mechanism: dn\.mechanism\('grr', \.\.\.\)"),
    "base": (lambda: dn.utility("sss", epsilon=1, k=4, sensitive=2), r"base must be one of .*Did you mean ss "),
    "coins": (lambda: dn.mechanism("olh", epsilon=1, k=4).privatize([1], coins=[1, 2]), r"got int64 of shape \(2,\)"),
    "no reports": (lambda: dn.Reports.concat([]), "parts must be at least one batch of reports, got none"),
    "space": (lambda: dn.Space.of(3), r"points must be at least 2.*dn\.Space\.vectors, places"),
    "class": (lambda: dn.audit(GRR), r"audit takes a mechanism or a channel, got the class GRR\. Make one: GRR\("),
    "levels": (
        lambda: dn.mechanism(
            "pldp", k=4, base="sue", levels=[0.5, 1.0], shares=[0.5, 0.5], level_epsilon=1.0
        ).privatize(FRAME, column="a", levels="c"),
        r"the frame has no column 'c'; it has 'a', 'b'\.$",
    ),
}


@pytest.mark.parametrize("name", TYPED)
def test_an_error_says_what_to_do(name: str) -> None:
    call, said = TYPED[name]
    with pytest.raises(DeniableError, match=said) as error:
        call()
    assert "\n" not in str(error.value)


def test_long_answers_are_cut_in_errors() -> None:
    """What somebody wrote is not repeated in full, nor is a number that has no text."""
    text = "my whole story " * 400
    calls = (
        lambda: M.privatize([text]),
        lambda: dn.mechanism("grr", epsilon=1.0, k=4).privatize([text]),
        lambda: dn.mechanism("pm", epsilon=1.0, interval=(0, 1)).privatize([text]),
        lambda: dn.mechanism(text, epsilon=1.0, k=4),
        lambda: dn.mechanism("uss", epsilon=1.0, labels=["a", "b"], sensitive=[text]),
        lambda: dn.mechanism("grr", epsilon=1.0, k=10**5000),
    )
    for call in calls:
        with pytest.raises(DeniableError) as error:
            call()
        assert len(str(error.value)) < 600


def test_an_array_without_dimensions_is_one_value() -> None:
    for one in (np.array("no"), np.ma.array("no"), np.str_("no"), "no"):
        assert len(M.privatize(one)) == 1
    missing = dn.mechanism("grr", epsilon=40.0, labels=["no", "gap"], missing="gap")
    assert missing.tally(missing.privatize(np.ma.array("no", mask=True))).cells["support"].tolist() == [[0, 1]]


def test_binned_numbers_of_pandas_are_their_categories() -> None:
    """Beside a gap pandas gives intervals of whole numbers as intervals of others."""
    for ages in ([1, 5, None, 9], [1, 5, 9]):
        binned = pd.cut(pd.Series(ages), [0, 4, 8, 10])
        labels = [*map(str, binned.cat.categories), "gap"]
        m = dn.mechanism("grr", epsilon=40.0, labels=labels, missing="gap")
        for given, column in ((binned, None), (pd.DataFrame({"age": binned, "n": 1}), "age")):
            assert m.tally(m.privatize(given, column=column)).cells["support"].tolist() == [[1, 1, 1, len(ages) - 3]]


def test_reports_are_rows_of_fields_for_numpy() -> None:
    rows = np.asarray(REPORTS)
    assert rows.shape == (40,)
    assert np.array_equal(rows["bits"], REPORTS.columns["bits"])
    hashed = dn.mechanism("olh", epsilon=1.0, k=4).privatize([1, 2, 3])
    assert np.asarray(hashed).dtype.names == ("seed", "value")
    assert np.asarray(hashed)["seed"].tolist() == hashed.columns["seed"].tolist()
    assert np.array(hashed).tobytes() == b"".join(hashed.row(i) for i in range(3))


def test_an_estimate_is_no_sequence() -> None:
    found = M.estimate(REPORTS)
    for read in (list, dict, tuple):
        with pytest.raises(TypeError, match="not iterable"):
            read(found)


def test_a_copy_of_a_secure_stream_is_a_new_one() -> None:
    stream = dn.secure()
    draws = [one.draw(64, 4).tolist() for one in (stream, copy.copy(stream), pickle.loads(pickle.dumps(stream)))]
    assert len({number for draw in draws for number in draw}) == 12
    assert not copy.deepcopy(stream).simulated
