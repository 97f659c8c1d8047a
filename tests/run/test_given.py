"""What people hand in beside values: options behind a name, matrices, priors, numbers and losses in files."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.core.domain import Domain
from deniable.run.given.designs import is_file
from deniable.run.given.matrices import read_matrix
from deniable.run.given.named import read_named
from deniable.run.given.priors import domain_of_prior, read_prior
from deniable.run.given.promises import promise_document, read_losses, read_numbers, read_promise_file

# ---- a name, or a name with options


@pytest.mark.parametrize(
    ("text", "name", "options"),
    [
        ("grr", "grr", {}),
        (" grr ", "grr", {}),
        ("ss:size=3", "ss", {"size": 3}),
        ("ss:size=3,epsilon=2", "ss", {"size": 3, "epsilon": 2.0}),
        ("ss: size = 3 , k = 1e3", "ss", {"size": 3, "k": 1000}),
        ("ue:p=.4", "ue", {"p": 0.4}),
        ("pldp:base=grr,levels=0.5,1,2", "pldp", {"base": "grr", "levels": "0.5,1,2"}),
        ("pldp:levels=0.5,1,base=grr", "pldp", {"base": "grr", "levels": "0.5,1"}),
    ],
)
def test_options_behind_a_name_are_read_in_their_kinds(text: str, name: str, options: dict[str, Any]) -> None:
    found = read_named(text)
    assert found == (name, options)
    assert {key: type(value) for key, value in found[1].items()} == {key: type(x) for key, x in options.items()}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("ss:size=3,size=4", "size must be given once"),
        ("ss:3", "mechanism must be a name, or a name with options"),
        ("ss:size=2.5", "size must be a whole number, got '2.5'"),
        ("ss:size=inf", "size must be a whole number, got 'inf'"),
        ("ss:epsilon=x", "epsilon must be a number, got 'x'"),
        ("ss:p=0.5", "ss has no option 'p'"),
        ("nothing", "nothing"),
    ],
)
def test_options_that_do_not_fit_are_refused_by_name(text: str, told: str) -> None:
    with pytest.raises(dn.ParameterError, match=told):
        read_named(text)


FLAGS = sorted(name for name, row in dn.MECHANISMS.items() for o in row.options if "clip" in o)


@pytest.mark.parametrize(
    ("word", "meant"), [("", True), ("true", True), ("Yes", True), ("false", False), ("NO", False), ("no", False)]
)
def test_a_flag_behind_a_name_says_yes_or_no(word: str, meant: bool) -> None:
    (_, options) = read_named(f"{FLAGS[0]}:clip={word}")
    assert options == {"clip": meant}
    with pytest.raises(dn.ParameterError, match="clip must be true or false"):
        read_named(f"{FLAGS[0]}:clip=perhaps")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("grr", False), ("a.json", True), ("A.CSV", True), ("x.tally", True), ("x.reports", True), ("d.bin", True),
        ("folder/design", True), ("deniable.core:Domain", False), ("ss:p=0.5", False),
    ],
)  # fmt: skip
def test_a_name_is_that_of_a_file_by_its_ending_or_its_folder(name: str, expected: bool) -> None:
    assert is_file(name) == expected


# ---- matrices


MATRICES: dict[str, tuple[str, list[list[Fraction]], list[str] | None, list[str] | None]] = {
    "plain": ("1/3,2/3\n0.5,0.5\n", [[Fraction(1, 3), Fraction(2, 3)], [Fraction(1, 2)] * 2], None, None),
    "named columns": ("a,b\n1,0\n0,1\n", [[Fraction(1), Fraction(0)], [Fraction(0), Fraction(1)]], ["a", "b"], None),
    "named rows": ("no,1,0\nyes,0,1\n", [[Fraction(1), Fraction(0)], [Fraction(0), Fraction(1)]], None, ["no", "yes"]),
    "a corner": (
        ",a,b\nno,1,0\nyes,0,1\n", [[Fraction(1), Fraction(0)], [Fraction(0), Fraction(1)]], ["a", "b"], ["no", "yes"]
    ),
    "no corner": (
        "a,b\nno,1,0\nyes,0,1\n", [[Fraction(1), Fraction(0)], [Fraction(0), Fraction(1)]], ["a", "b"], ["no", "yes"]
    ),
    "spaces and lines": (
        "\n a , b \n\n 1 , 0 \n 0 , 1 \n", [[Fraction(1), Fraction(0)], [Fraction(0), Fraction(1)]], ["a", "b"], None
    ),
}  # fmt: skip


def _shares(rows: Any) -> list[list[float]]:
    return [[float(Fraction(str(cell).strip())) for cell in row] for row in rows]


@pytest.mark.parametrize("case", MATRICES)
def test_a_matrix_of_text_has_its_names_where_they_stand(tmp_path: Path, case: str) -> None:
    text, rows, outputs, labels = MATRICES[case]
    (tmp_path / "m.csv").write_text(text)
    found = read_matrix(str(tmp_path / "m.csv"))
    assert _shares(found.rows) == [[float(x) for x in row] for row in rows]
    assert found.outputs == (None if outputs is None else tuple(outputs))
    assert found.labels == (None if labels is None else tuple(labels))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "matrix must be rows of chances, got nothing"),
        ("0.5;0.5\n0.5;0.5\n", "separated by commas, got semicolons between them"),
        ("0.5\t0.5\n0.5\t0.5\n", "separated by commas, got tabs between them"),
        ("a,b,c\n1,0\n0,1\n", "the first line must be a name for each column, got 3 names"),
        ('{"rows": [[1]]}', "fields must be matrix, labels and outputs, got ['rows']"),
        ('{"labels": ["a"]}', "fields must be matrix, labels and outputs, got ['labels']"),
        ('{"matrix": [[1, 0], [0, 1]], "labels": ["a", 2]}', "labels must be a list of names"),
        ('{"matrix": [[1, 0], [0, 1]], "outputs": ["a", ""]}', "outputs must be a list of names"),
        ("{", "it is not JSON"),
    ],
)
def test_a_matrix_that_is_none_is_refused_in_its_file(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "m.csv").write_text(text)
    with pytest.raises((dn.ParameterError, dn.FormatError)) as caught:
        read_matrix(str(tmp_path / "m.csv"))
    assert str(caught.value).startswith(f"{tmp_path / 'm.csv'}: ")
    assert told in str(caught.value)


def test_a_matrix_in_json_has_its_names(tmp_path: Path) -> None:
    for document, outputs, labels in (
        ([[1, 0], [0, 1]], None, None),
        ({"matrix": [[1, 0], [0, 1]], "labels": ["no", "yes"]}, None, ("no", "yes")),
        ({"matrix": [[1, 0], [0, 1]], "labels": None, "outputs": ["a", "b"]}, ("a", "b"), None),
    ):
        (tmp_path / "m.json").write_text(json.dumps(document))
        found = read_matrix(str(tmp_path / "m.json"))
        assert (found.outputs, found.labels) == (outputs, labels)


@pytest.mark.parametrize("text", ["0.75,0.25\n0.25,0.75\n", "a,b\n.75,.25\n.25,.75\n", "[[0.75, 0.25], [0.25, 0.75]]"])
def test_a_mark_of_the_encoding_is_no_part_of_a_matrix(tmp_path: Path, text: str) -> None:
    """As spreadsheets write it before everything else: neither a first number nor a first name has it."""
    (tmp_path / "m").write_bytes(b"\xef\xbb\xbf" + text.encode())
    found = read_matrix(str(tmp_path / "m"))
    assert _shares(found.rows) == [[0.75, 0.25], [0.25, 0.75]]
    assert found.outputs == (("a", "b") if text.startswith("a") else None)


def test_a_matrix_may_be_as_long_as_the_limit_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "1,0\n0,1\n"
    (tmp_path / "m.csv").write_text(text)
    monkeypatch.setattr("deniable.run.given.matrices._BYTES", len(text))
    assert _shares(read_matrix(str(tmp_path / "m.csv")).rows) == [[1, 0], [0, 1]]
    monkeypatch.setattr("deniable.run.given.matrices._BYTES", len(text) - 1)
    with pytest.raises(dn.ParameterError, match="matrix must be at most 7 bytes long, got more than 7 bytes"):
        read_matrix(str(tmp_path / "m.csv"))


# ---- priors


def _prior(folder: Path, text: str, domain: Domain, name: str = "p.csv") -> list[float]:
    (folder / name).write_text(text)
    found = read_prior(str(folder / name), domain)
    assert found is not None
    return [float(x) for x in found]


def test_counts_belong_to_answers_by_their_labels(tmp_path: Path) -> None:
    named, numbered = Domain.of(["tea", "milk", "water"]), Domain.of(3)
    rows = "milk,1\nwater,5\ntea,2\n"
    assert _prior(tmp_path, rows, named) == [2 / 8, 1 / 8, 5 / 8]
    assert _prior(tmp_path, f"drink,count\n{rows}", named) == [2 / 8, 1 / 8, 5 / 8]
    assert _prior(tmp_path, rows, numbered) == [1 / 8, 5 / 8, 2 / 8]  # other labels stand for numbers in their order
    assert _prior(tmp_path, "2,1\n0,5\n1,2\n", numbered) == [5 / 8, 2 / 8, 1 / 8]
    assert read_prior("uniform", named) is None
    for other in (Domain.of(["tea", "milk"]), Domain.of(2), Domain.of(["tea", "milk", "wine"])):
        with pytest.raises(dn.ParameterError, match=f"prior must be counts of the {other.k} answers"):
            _prior(tmp_path, rows, other)


def test_shares_are_told_from_counts_by_their_decimals(tmp_path: Path) -> None:
    named = Domain.of(["tea", "milk"])
    for text in ("milk,0.25\ntea,0.75\n", "milk, .25\ntea, .75\n", "0.75\n0.25\n"):
        assert _prior(tmp_path, text, named) == [0.75, 0.25]
    assert _prior(tmp_path, '{"milk": 0.25, "tea": 0.75}', named, "p.json") == [0.75, 0.25]
    assert _prior(tmp_path, "[0.75, 0.25]", named, "p.json") == [0.75, 0.25]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("tea,1,2\nmilk,2,3\n", "prior must be lines of a label and a count"),
        ("", "prior must be lines of a label and a count"),
        ("tea,-1\nmilk,2\nwater,-3\n", "prior must be whole counts of at most 15 digits"),
        (f"tea,{10**15}\nmilk,1\n", "prior must be whole counts of at most 15 digits"),
    ],
)
def test_a_file_of_counts_that_is_none_is_refused(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises((dn.ParameterError, dn.FormatError), match=told):
        _prior(tmp_path, text, Domain.of(["tea", "milk"]))


def test_a_count_has_fifteen_digits_at_most(tmp_path: Path) -> None:
    assert _prior(tmp_path, f"tea,{10**15 - 1}\nmilk,{10**15 - 1}\n", Domain.of(["tea", "milk"])) == [0.5, 0.5]


def test_a_prior_that_is_made_up_has_any_number_of_answers(tmp_path: Path) -> None:
    found = read_prior("zipf", Domain.of(4))
    assert found is not None
    assert found == pytest.approx(np.array([12, 6, 4, 3]) / 25, abs=1e-8)
    one, two, again = (read_prior("dirichlet", Domain.of(4), seed) for seed in (1, 2, 1))
    assert one is not None
    assert two is not None
    assert again is not None
    assert (one == again).all()
    assert not (one == two).any()
    assert domain_of_prior("zipf") is None
    brought = domain_of_prior("bank-job")
    assert brought is not None
    assert brought.k == 12
    (tmp_path / "p.csv").write_text("tea,1\nmilk,3\n")
    own = domain_of_prior(str(tmp_path / "p.csv"))
    assert own is not None
    assert own.labels == ("tea", "milk")
    with pytest.raises(dn.ParameterError, match="prior must be uniform, zipf"):
        domain_of_prior("nothing")


# ---- numbers and losses


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("[1, 2.5, 3]", [1.0, 2.5, 3.0]),
        ('{"c": 3, "a": 1, "b": 2.5}', [1.0, 2.5, 3.0]),
        ("1\n2.5\n3\n", [1.0, 2.5, 3.0]),
        ("1,2.5,3\n", [1.0, 2.5, 3.0]),
        ("number\n1\n2.5\n3\n", [1.0, 2.5, 3.0]),
        ("c,3\nb,2.5\na,1\n", [1.0, 2.5, 3.0]),
        ("label,number\nc,3\nb,2.5\na,1\n", [1.0, 2.5, 3.0]),
        ("\ufeff\n c , 3 \n\n b , 2.5 \n a , 1 \n", [1.0, 2.5, 3.0]),
    ],
)
def test_a_number_for_each_value_in_their_order(tmp_path: Path, text: str, found: list[float]) -> None:
    (tmp_path / "n").write_text(text, "utf-8")
    assert read_numbers(str(tmp_path / "n"), ["a", "b", "c"]) == found


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[1, 2]", "got 2 numbers"),
        ("[1, 2, 3, 4]", "got 4 numbers"),
        ("[1, 2, true]", "True is not a number"),
        ('[1, 2, "3"]', "'3' is not a number"),
        ('{"a": 1, "b": 2}', "got other labels, such as 'c'"),
        ('{"a": 1, "b": 2, "c": 3, "d": 4}', "got other labels, such as 'd'"),
        ('{"a": 1, "a": 2, "c": 3}', "'a' is there twice"),
        ("a,1\nb,2\na,3\n", "'a' is there twice"),
        ("[1, 2, NaN]", "NaN is not a number of JSON"),
        ("a,1\nb,x\nc,3\n", "could not convert"),
    ],
)
def test_numbers_that_do_not_fit_the_values_are_refused(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "n").write_text(text)
    with pytest.raises((dn.ParameterError, dn.FormatError)) as caught:
        read_numbers(str(tmp_path / "n"), ["a", "b", "c"])
    assert str(caught.value).startswith(f"{tmp_path / 'n'}: ")
    assert told in str(caught.value)


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("0,1\n2,0\n", [["0", "1"], ["2", "0"]]),
        ("a,b\n0,1\n2,0\n", [["0", "1"], ["2", "0"]]),
        (",a,b\na,0,1\nb,2,0\n", [["0", "1"], ["2", "0"]]),
        ("\n 0 , 1 \n\n 2 , 0 \n", [["0", "1"], ["2", "0"]]),
    ],
)
def test_losses_are_read_without_their_labels(tmp_path: Path, text: str, rows: list[list[str]]) -> None:
    (tmp_path / "l.csv").write_text(text)
    assert read_losses(str(tmp_path / "l.csv")) == rows
    assert read_losses("squared") == "squared"


# ---- promises


def _promised(folder: Path, text: str) -> list[list[float]]:
    (folder / "p").write_text(text)
    found: list[list[float]] = read_promise_file(str(folder / "p")).budgets.tolist()
    return found


INF = float("inf")


@pytest.mark.parametrize(
    ("text", "budgets"),
    [
        ("0,1\ninf,0\n", [[0, 1], [INF, 0]]),
        ("a,b\n0,1\ninf,0\n", [[0, 1], [INF, 0]]),
        (",a,b\na,0,1\nb,inf,0\n", [[0, 1], [INF, 0]]),
        ('{"budgets": [[0, 1], ["inf", 0]]}', [[0, 1], [INF, 0]]),
        ('{"epsilon": 2, "k": 2}', [[0, 2], [2, 0]]),
        ('{"epsilon": 2, "labels": ["a", "b"]}', [[0, 2], [2, 0]]),
    ],
)
def test_promises_in_files_say_these_budgets(tmp_path: Path, text: str, budgets: list[list[float]]) -> None:
    assert _promised(tmp_path, text) == budgets


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (",a,b\nb,0,1\na,1,0\n", "labels in front of the rows must be the same as those above the columns"),
        ("a,b\n", "budgets must be a square of numbers, got no line of numbers"),
        ("[1]", "a promise must be a JSON object, got a list"),
        ('{"epsilom": 1, "k": 2}', "Did you mean epsilon or"),
        ('{"epsilon": 1, "k": 0}', "k must be a whole number >= 1"),
        ('{"epsilon": 1, "labels": ["a", 1]}', "labels must be a list of texts"),
        ('{"epsilon": 1, "k": 3, "graph": {}}', "graph must be a list"),
        ('{"epsilon": 1, "k": 1025, "graph": []}', "k must be at most 1,024 where budgets are said pair by pair"),
        ('{"blocks": [1000000, 1], "inside": 1, "across": 2}', "k must be at most 1,000,000 where budgets are said"),
        (" \n", "the file of a promise must be a JSON object or a CSV matrix, got nothing"),
    ],
)
def test_promises_that_are_none_are_refused_in_their_file(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises((dn.ParameterError, dn.FormatError)) as caught:
        _promised(tmp_path, text)
    assert str(caught.value).startswith(f"{tmp_path / 'p'}: ")
    assert told in str(caught.value)


def test_the_document_of_a_promise_spells_out_what_follows() -> None:
    found = promise_document(dn.promise(budgets=[[0, 1, "inf"], [5, 0, 1], [5, 5, 0]], labels=["a", "b", "c"]))
    assert found["k"] == 3
    assert found["labels"] == ["a", "b", "c"]
    assert found["budgets"] == [[0.0, 1.0, "inf"], [5.0, 0.0, 1.0], [5.0, 5.0, 0.0]]
    assert found["closed"] == [[0.0, 1.0, 2.0], [5.0, 0.0, 1.0], [5.0, 5.0, 0.0]]
    assert found["implied"] == [
        {"likely": "a", "unlikely": "c", "given": "inf", "budget": 2.0, "path": ["a", "b", "c"]}
    ]
