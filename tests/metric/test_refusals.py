"""What cannot be is refused with what was given, what is allowed and what to do; files of distances."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.core.codes import Codes, Span
from deniable.core.space import Space
from deniable.mechanisms.metric.brr import BRR
from deniable.mechanisms.metric.codebook import Codebook
from deniable.run.files import read_space


def test_a_table_of_losses_has_as_many_reports_as_columns() -> None:
    """Which may be other things than the answers, and then have no names."""
    wide, square = (Space.losses(rows, ["a", "b"]) for rows in ([[0, 2, 1], [1, 0, 4]], [[0, 1], [1, 0]]))
    assert (wide.outputs, square.outputs) == (3, 2)
    assert wide.decode(np.array([2, 0])).tolist() == [2, 0]
    assert square.decode(np.array([1, 0])).tolist() == ["b", "a"]
    assert Space.sets([["x"], ["x", "y"]]).outputs == 2


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: Space.vectors([[0, 0], [1]]), "same dimension, got 2 numbers at position 0 and 1 at position 1"),
        (lambda: Space.vectors([[0, 0], [1, math.nan]]), "finite numbers, got nan at position 1, column 1"),
        (lambda: Space.vectors([[0, math.inf], [1, 2]]), "finite numbers, got inf at position 0, column 1"),
        (lambda: Space.vectors([[0, "x"], [1, 2]]), "rows of numbers, got .* at position 0"),
        (lambda: Space.vectors([]), "points must be at least 2, got 0"),
        (lambda: Space.vectors([[1, 2]]), "points must be at least 2, got 1"),
        (lambda: Space.vectors(5), "rows of numbers, got int"),
        (lambda: Space.vectors([1, 2]), "rows of numbers, got 1 at position 0"),
        (lambda: Space.vectors([[0], [1]], norm="cosine"), "norm must be one of euclidean"),
        (lambda: Space.losses([[0, 1], [-1, 0]]), r"losses must be >= 0, got -1.0 at position 1, column 0"),
        (lambda: Space.losses([[0], [1]]), "longer rows"),
        (lambda: Space.losses(np.zeros((600, 600))), "at most 262144"),
        (lambda: Space.places([[91, 0], [0, 0]]), r"latitude from -90 to 90 .* got \(91.0, 0.0\) at position 0"),
        (lambda: Space.places([[1, 2, 3], [1, 2, 3]]), "latitude and longitude"),
        (lambda: Space.integers([0, 1]), r"integers must be > 0, got 0.0 at position 0"),
        (lambda: Space.sets(["ab", "c"]), "lists or sets of things, got 'ab' at position 0"),
        (lambda: Space.vectors([[0], [1]], ["a"]), "k = 2 labels"),
        (lambda: Space.vectors([[0, 0], [1, 1]]).nearest([[1, 2, 3]]), "rows of 2 numbers"),
        (lambda: Codes.over(0, 1, [0.5, 0.2]), "2 rising numbers from 0 to 1"),
        (lambda: Codes.over(0, 1, [0.5, 1.2]), "2 rising numbers from 0 to 1"),
        (lambda: Span.of("1"), "interval must be two numbers"),
    ],
)
def test_spaces_that_are_none(make: Any, told: str) -> None:
    with pytest.raises(dn.ParameterError, match=told):
        make()


@pytest.mark.parametrize(
    ("name", "given", "told"),
    [
        ("brr", {}, "points, interval or distances"),
        ("brr", {"k": 5, "points": 5}, "exactly one of"),
        ("brr", {"points": 1}, "points must be an integer >= 2, got 1"),
        ("brr", {"points": 0}, "points must be an integer >= 2, got 0"),
        ("brr", {"points": 2.5}, "points must be an integer"),
        ("brr", {"points": 5, "layout": "endpoints"}, "layout must be left out without an interval"),
        ("brr", {"points": 5, "rule": "max"}, "rule must be one of mean, min"),
        ("brr", {"points": 5, "size": 5}, "m must be an integer from 1 to 4"),
        ("brr", {"points": 5, "size": 0}, "m must be an integer from 1 to 4"),
        ("brr", {"points": 5, "size": 2, "rule": "mean"}, "left out where size says"),
        ("brr", {"points": 5, "tie": "left"}, "tie must be one of"),
        ("brr", {"points": 3, "prior": [0.5, 0.5]}, "prior must be 3"),
        ("brr", {"points": 3, "prior": [0.5, 0.6, 0.1]}, "sum to 1"),
        ("brr", {"points": 3, "prior": [1, 0, 0], "form": "paper"}, "prior must be left out for the rule min"),
        ("brr", {"interval": (0, 1), "size": 2}, "Give points=N"),
        ("brr", {"interval": (1, 0)}, "the lower one first"),
        ("brr", {"interval": (0, math.nan)}, "two finite numbers"),
        ("brr", {"distances": [[0, 1], [1, 0]], "points": 3}, "given alone"),
        ("brr", {"distances": Space.vectors([[0], [1], [3]]), "tie": "low"}, "not on a line"),
        ("codebook", {"points": 5, "size": 1}, "size must be an integer >= 2"),
        ("codebook", {"points": 5, "size": 6}, "at most the number of points"),
        ("codebook", {"points": 5, "variant": "best"}, "variant must be one of optimal, bins"),
        ("codebook", {"distances": [[0, 1], [1, 0]], "variant": "bins"}, "optimal where answers are not on a line"),
        ("codebook", {"interval": (0, 1), "prior": [1.0]}, "prior must be left out"),
        ("codebook", {"interval": (0, 1), "size": 60, "epsilon": 0.1}, "codes would coincide"),
        ("grr", {"domain": Span.of((0, 1))}, "no interval for this mechanism"),
        ("grr", {"interval": (0, 1)}, "no option 'interval'"),
    ],
)
def test_mechanisms_that_are_none(name: str, given: dict[str, Any], told: str) -> None:
    with pytest.raises(dn.ParameterError, match=told):
        dn.mechanism(name, **{"epsilon": 1.0, **given})


@pytest.mark.parametrize("name", ["brr", "codebook"])
def test_numbers_outside_of_an_interval_are_errors_or_clipped_by_choice(name: str) -> None:
    m = dn.mechanism(name, epsilon=1.0, interval=(0, 1))
    for bad in (-0.1, 1.1, math.nan, math.inf, "text", None):
        with pytest.raises(dn.ParameterError, match=r"values must be numbers.*position 1"):
            m.privatize([0.5, bad])
    clipped = dn.mechanism(name, epsilon=1.0, interval=(0, 1), clip=True)
    assert clipped.domain.encode([-7.0, 7.0]).tolist() == [0, clipped.k - 1]
    with pytest.raises(dn.ParameterError, match="position 0"):
        clipped.privatize([math.nan])


def test_codes_must_be_answers() -> None:
    for codes in ((), (2, 1), (0, 0), (0, 9), (-1,)):
        with pytest.raises(dn.ParameterError, match="rising numbers of answers from 0 to 4"):
            Codebook(epsilon=1.0, domain=dn.Domain.of(5), codes=codes)
    with pytest.raises(dn.ParameterError, match="codes must be given"):
        Codebook(epsilon=1.0, domain=dn.Domain.of(5))
    with pytest.raises(dn.ParameterError, match="the number of codes, 2"):
        Codebook(epsilon=1.0, domain=dn.Domain.of(5), codes=(1, 3), size=3)
    with pytest.raises(dn.ParameterError, match="codes are the codes"):
        Codebook(epsilon=1.0, domain=Codes.over(0, 1, [0.2, 0.8]), codes=(0, 1))


SQUARE = Space.vectors([[0, 0], [1, 0], [0, 1], [1, 1]])
LIMIT = str(2**63)
RESPONSE = {"kind": "response", "k": "4", "keep": LIMIT}
ROWS = [["1", str(2**64 - 1)], [str(2**64 - 1), "1"]] * 2


@pytest.mark.parametrize(
    ("name", "given", "kernel", "told"),
    [
        ("brr", {"distances": SQUARE, "size": 2}, {"keep": LIMIT}, "does not agree with itself: .*keep"),
        ("brr", {"distances": SQUARE, "size": 2}, {"neighbours": [["0"], ["1"], ["2"], ["3"]]}, "m of brr must be"),
        ("brr", {"distances": SQUARE, "size": 2}, {"neighbours": [["0", "1"], ["0", "1"]]}, "is for 2 values"),
        ("brr", {"distances": SQUARE, "size": 2}, {"outputs": "5"}, "does not agree with itself: .*outputs"),
        ("brr", {"distances": SQUARE, "size": 2}, RESPONSE, "kind 'response' is not possible here"),
        ("brr", {"points": 4, "size": 2}, {"keep": LIMIT}, "does not agree with itself: .*keep"),
        ("brr", {"points": 4, "size": 2}, RESPONSE, "kind 'response' is not possible here"),
        ("codebook", {"distances": SQUARE, "size": 2}, {"base": {**RESPONSE, "k": "2"}}, "does not agree with itself"),
        ("codebook", {"distances": SQUARE, "size": 2}, {"starts": ["0"], "codes": ["1"]}, "nearest answers"),
        ("codebook", {"distances": SQUARE, "size": 2}, {"k": "5"}, "is for 5 values"),
        ("codebook", {"points": 4, "size": 2}, {"starts": ["0", "1"]}, "does not agree with itself: .*starts"),
        ("codebook", {"interval": (0, 1), "size": 4}, {"keep": LIMIT}, "does not agree with itself: .*keep"),
        ("exponential", {"points": 4}, RESPONSE, "kind 'response' is not possible here"),
        ("exponential", {"points": 4}, {"weights": ROWS}, "its table is not the one"),
        ("laplace", {"points": 4}, {"weights": [[LIMIT, LIMIT]] * 4}, "its table is not the one"),
        ("lsrr", {"distances": SQUARE}, {"weights": [[str(2**62)] * 4] * 4}, "its table is not the one"),
    ],
)
def test_designs_whose_kernel_is_not_theirs_are_refused(name: str, given: Any, kernel: Any, told: str) -> None:
    """The kernel of a design is taken only where floats may differ, and only if it is what it should be."""
    design = dn.mechanism(name, epsilon=1.0, **given).design
    assert dn.from_design(design).design == design
    changed = kernel if "kind" in kernel else design["kernel"] | kernel
    with pytest.raises(dn.FormatError, match=told):
        dn.from_design(design | {"kernel": changed})


def test_a_kernel_of_a_design_cannot_be_taken_along_to_other_parameters() -> None:
    """What a design carried was checked against its epsilon and distances, so it holds for those alone."""
    m = dn.mechanism("laplace", epsilon=2.0, points=5)
    read = dn.from_design(m.design)
    assert read == m
    assert replace(read, epsilon=1.0) == dn.mechanism("laplace", epsilon=1.0, points=5)
    with pytest.raises(dn.FormatError, match="its table is not the one"):
        replace(m, epsilon=1.0, given=m.kernel)  # type: ignore[call-arg]


def test_reports_of_another_design_are_not_read() -> None:
    one, two = (BRR(epsilon=e, domain=dn.Domain.of(5), m=2) for e in (1.0, 2.0))
    with pytest.raises(dn.ParameterError, match="of this very design"):
        two.released(one.privatize([1, 2]))  # type: ignore[arg-type]


def test_reports_that_no_device_can_have_sent_are_refused() -> None:
    m = dn.mechanism("codebook", epsilon=1.0, points=10)
    columns = {"value": np.array([m.kernel.base.k], np.uint8)}  # type: ignore[attr-defined]
    with pytest.raises(dn.FormatError, match="largest possible"):
        m.bulk.count(columns)  # type: ignore[arg-type]


def test_files_of_distances(tmp_path: Path) -> None:
    file = tmp_path / "d.csv"
    file.write_text("0,1,2\n1,0,1\n2,1,0\n")
    assert read_space(file) == Space.losses([[0, 1, 2], [1, 0, 1], [2, 1, 0]])
    file.write_text("a,b\n0,1\n1,0\n")
    assert read_space(file).labels == ("a", "b")
    file.write_text("label,lat,lon\nBerlin,52.5,13.4\nParis,48.9,2.4\n")
    assert read_space(file) == Space.places([[52.5, 13.4], [48.9, 2.4]], ["Berlin", "Paris"])
    m = dn.mechanism("brr", epsilon=1.0, distances=dn.load(file))
    assert m.properties()["unit"] == "km"
    assert m.privatize(["Paris"]).row_bytes == 1


@pytest.mark.parametrize("kind", [str, Path])
def test_no_mechanism_opens_a_file(tmp_path: Path, kind: type) -> None:
    """What is given may come from anywhere; an error must not quote a file of this machine."""
    (tmp_path / "secret").write_text("0,1\nsecret,0\n")
    with pytest.raises(dn.ParameterError, match=r"a Space or a matrix of losses, got .*deniable\.load") as caught:
        dn.mechanism("brr", epsilon=1.0, distances=kind(tmp_path / "secret"))
    assert "secret,0" not in str(caught.value)
    with pytest.raises(dn.ParameterError, match="a Space or a matrix of losses"):
        dn.plan(question="release", epsilon=1.0, distances=kind(tmp_path / "nowhere.csv"))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "at least 2 lines"),
        ("0,1\n", "at least 2 lines"),
        ("0,1\n1\n", "same dimension"),
        ("0,x\n1,0\n1,0\n", "numbers, or else labels"),
        ("lat,lon\n1,2\n3\n", "line 3 has 1 cells"),
        ("0,-1\n1,0\n", ">= 0"),
        ("0,nan\n1,0\n", "finite"),
    ],
)
def test_files_that_hold_no_distances(tmp_path: Path, text: str, told: str) -> None:
    file = tmp_path / "d.csv"
    file.write_text(text)
    with pytest.raises(dn.DeniableError, match=told):
        read_space(file)
    with pytest.raises(dn.FormatError, match="must be a file that can be read"):
        read_space(tmp_path / "none.csv")
