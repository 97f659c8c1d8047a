"""RS+FD and RS+RFD leak: exact epsilons of all answers and of one, by argument and by enumeration, and its cost."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import deniable as dn
from deniable.audit.fakes import RECIPES, FakeData, rsfd, rsrfd
from deniable.errors import ParameterError

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "tables.json").read_text())["settings"]
CASES = [row for row in GOLDEN if row["kind"].startswith("rs")]


def made(case: dict[str, Any]) -> FakeData:
    if "fakes" in case:
        return rsrfd(case["claimed"], fakes=case["fakes"])
    return rsfd(case["claimed"], case.get("sizes") or [case["k"]] * case["d"])


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c['kind']}-{c.get('sizes') or c.get('d') or len(c['fakes'])}")
def test_exact_epsilons_are_the_golden_ones(case: dict[str, Any]) -> None:
    leak = made(case)
    assert leak.record == pytest.approx(case["record_exact"], rel=1e-10)
    assert leak.one_answer == pytest.approx(case["one_answer_exact"], rel=1e-10)
    found = dn.audit(leak)
    assert found.agrees
    assert not found.holds
    assert found.exact == leak.record
    assert (found.enumerated is None) == (math.prod(leak.sizes) > 1000)


BITS = [RECIPES[name](1.0, sizes) for name in ("rsfd-oue-z", "rsfd-oue-r") for sizes in ((2, 2), (3, 2))]


@pytest.mark.parametrize(
    "leak", [rsfd(1.0, (3, 2)), rsfd(0.5, (2, 2, 2)), rsrfd(1.0, fakes="0.6,0.3,0.1;0.8,0.2"), *BITS], ids=str
)
def test_one_answer_is_what_enumeration_finds(leak: FakeData) -> None:
    channel = leak.channel()
    records = list(product(*(range(k) for k in leak.sizes)))
    pairs = [
        (i, j)
        for i, x in enumerate(records)
        for j, y in enumerate(records)
        if sum(a != b for a, b in zip(x, y, strict=True)) == 1
    ]
    assert leak.one_answer_ratio == max(Fraction(row[i], row[j]) for row in channel.weights for i, j in pairs)
    assert all(sum(column) == channel.total for column in zip(*channel.weights, strict=True))


def test_one_answer_is_protected_only_for_equal_sizes_and_even_fakes() -> None:
    assert rsfd(1.0, (4, 4, 4)).document()["one_answer_holds"]
    assert not rsfd(1.0, (4, 3)).document()["one_answer_holds"]
    assert not rsrfd(1.0, fakes="0.6,0.4;0.6,0.4").document()["one_answer_holds"]
    assert rsfd(math.log(2), (3, 2)).one_answer_ratio == pytest.approx(23 / 11, rel=1e-15)


def test_answers_as_bits_leak_as_much() -> None:
    """Fakes of no answer keep the promise about one answer at any sizes, those of a random one at none."""
    e = math.log(2)
    for name, sizes, one in (("z", (2, 3), 2), ("z", (3, 3), 2), ("r", (3, 3), 13 / 6)):
        leak = RECIPES[f"rsfd-oue-{name}"](e, sizes)
        assert float(leak.one_answer_ratio) == pytest.approx(one, rel=1e-12)
        assert leak.document()["one_answer_holds"] == (one == 2 or leak.one_answer_ratio <= 2)
        assert leak.record == pytest.approx(math.log(3), rel=1e-12)
        found = dn.audit(leak)
        assert found.agrees
        assert not found.holds
        assert found.enumerated is not None
        assert found.exact == leak.record
        told = leak.compared()
        assert max(told["one_question"], told["all_questions"]) < told["recipe"]


@pytest.mark.parametrize(
    ("d", "k", "record", "recipe", "one", "every"),
    [(2, 2, 1.490, 2.503, 1.251, 1.171), (4, 4, 2.063, 7.508, 1.877, 2.077), (8, 16, 2.691, 17.56, 2.195, 3.245)],
)
def test_it_is_dominated_twice(d: int, k: int, record: float, recipe: float, one: float, every: float) -> None:
    """Asking one question openly at the same exact epsilon, and all questions where one answer alone is protected."""
    leak = rsfd(1.0, [k] * d)
    told = leak.compared()
    assert leak.record == pytest.approx(record, abs=1e-3)
    assert told["recipe"] == pytest.approx(recipe, rel=1e-3)
    assert told["one_question"] == pytest.approx(one, rel=1e-3)
    assert told["all_questions"] == pytest.approx(every, rel=1e-3)
    assert max(told["one_question"], told["all_questions"]) < told["recipe"]
    open_question = dn.mechanism("ss", epsilon=leak.record, k=k, rounding="best")
    population = open_question.properties()["mse"] + (k - 1) / k**2
    assert told["one_question"] == pytest.approx(d * population, rel=1e-9)


def test_its_variance_is_that_of_the_enumerated_channel() -> None:
    """The usual estimate of an item's share, from the counts of all reports: unbiased, with the stated variance."""
    for leak in (rsfd(1.0, (3, 2)), rsrfd(1.0, fakes="0.6,0.3,0.1;0.8,0.2")):
        matrix, d = leak.channel().matrix(), len(leak.sizes)
        records, found = list(product(*(range(k) for k in leak.sizes))), []
        for j, k in enumerate(leak.sizes):
            own = []
            for v in range(k):
                seen = sum(matrix[:, y].mean() for y, report in enumerate(records) if report[j] == v)
                p = float(leak.ratio) / (float(leak.ratio) + k - 1)
                gap = (p - (1 - p) / (k - 1)) / d
                own.append(seen * (1 - seen) / gap**2)
            found.append(sum(own) / k)
        assert leak.compared()["recipe"] == pytest.approx(sum(found) / d, rel=1e-12)


def test_the_variance_of_bits_is_that_of_the_enumerated_channel() -> None:
    for leak in BITS:
        matrix, d, found = leak.channel().matrix(), len(leak.sizes), []
        sent = list(product(*(range(1 << k) for k in leak.sizes)))
        gap = (0.5 - 1 / (float(leak.ratio) + 1)) / d
        for j, k in enumerate(leak.sizes):
            seen = [sum(matrix[:, y].mean() for y, sets in enumerate(sent) if sets[j] >> v & 1) for v in range(k)]
            found.append(sum(mu * (1 - mu) for mu in seen) / (k * gap**2))
        assert leak.compared()["recipe"] == pytest.approx(sum(found) / d, rel=1e-12)


def test_what_is_no_recipe_is_refused() -> None:
    for give, told in (
        (lambda: rsfd(1.0, "4"), "2 to 64 questions"),
        (lambda: rsfd(1.0, (4, 1)), "2 answers or more"),
        (lambda: rsfd(1.0, (2, 2), fakes="0.5,0.5"), "left out for rsfd"),
        (lambda: rsrfd(1.0, fakes="0.9,0.2;0.5,0.5"), "sum to 1"),
        (lambda: rsrfd(1.0, fakes="1,0;0.5,0.5"), "chances > 0"),
        (lambda: rsrfd(1.0, fakes="a,b;c,d"), "chances of answers"),
        (lambda: rsrfd(1.0, sizes=(3, 3)), "those of the fakes"),
    ):
        with pytest.raises(ParameterError, match=told):
            give()
    assert set(RECIPES) == {"rsfd", "rsfd-oue-z", "rsfd-oue-r", "rsrfd"}
    assert not set(RECIPES) & set(dn.MECHANISMS)
