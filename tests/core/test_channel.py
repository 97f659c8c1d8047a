"""Exact channels: proofs with witnesses, best guesses, support; and what is no channel."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import deniable as dn
from deniable.core.channel import Channel, Proof, Witness
from deniable.errors import ParameterError
from deniable.mechanisms.support import SupportMechanism
from deniable_client.exact import exp_bounds

SETTINGS = settings(deadline=None, derandomize=True, max_examples=80)


@st.composite
def channels(draw: st.DrawFn) -> Channel:
    k, outputs = draw(st.integers(2, 4)), draw(st.integers(1, 4))
    total = draw(st.integers(1, 60))
    columns = []
    for _ in range(k):
        cuts = sorted(draw(st.lists(st.integers(0, total), min_size=outputs - 1, max_size=outputs - 1)))
        columns.append([b - a for a, b in zip([0, *cuts], [*cuts, total], strict=True)])
    weights = tuple(tuple(columns[x][o] for x in range(k)) for o in range(outputs))
    return Channel(tuple(f"o{o}" for o in range(outputs)), weights, total)


@SETTINGS
@given(channels())
def test_proof_is_the_largest_quotient_and_its_witness_attains_it(channel: Channel) -> None:
    quotients: list[Fraction | None] = []
    for row in channel.weights:
        for top in row:
            for bottom in row:
                if bottom:
                    quotients.append(Fraction(top, bottom))
                elif top:
                    quotients.append(None)
    proof = channel.proof()
    if None in quotients:
        assert proof.ratio is None
        assert proof.epsilon == math.inf
    else:
        assert proof.ratio == max(q for q in quotients if q is not None)
    if proof.ratio == 1:
        return  # no output tells anything, so any will do as a witness
    row = channel.weights[channel.outputs.index(proof.witness.output)]
    top, bottom = row[proof.witness.likely], row[proof.witness.unlikely]
    assert (Fraction(top, bottom) if bottom else None) == proof.ratio


@SETTINGS
@given(channels(), st.data())
def test_best_guess_beats_every_rule_and_is_reached_by_one(channel: Channel, data: st.DataObject) -> None:
    raw = data.draw(st.lists(st.integers(1, 9), min_size=channel.k, max_size=channel.k))
    prior = [Fraction(v, sum(raw)) for v in raw]
    best = channel.asr(prior)
    rules = product(range(channel.k), repeat=len(channel.outputs))
    success = (
        sum(prior[g] * Fraction(row[g], channel.total) for g, row in zip(rule, channel.weights, strict=True))
        for rule in rules
    )
    assert max(success) == best
    assert best >= max(prior)
    assert channel.asr() == channel.asr([Fraction(1, channel.k)] * channel.k)


@SETTINGS
@given(channels())
def test_matrix_rows_sum_to_one(channel: Channel) -> None:
    matrix = channel.matrix()
    assert matrix.shape == (channel.k, len(channel.outputs))
    assert matrix.sum(axis=1) == pytest.approx(1)


def test_floats_are_taken_at_their_exact_value() -> None:
    channel = Channel.from_matrix([[0.1, 0.9], [0.9, 0.1]])
    exact = Fraction(0.9) / Fraction(0.1)
    assert channel.proof().ratio == exact != 9
    assert (
        Channel.from_matrix([[Fraction(1, 10), Fraction(9, 10)], [Fraction(9, 10), Fraction(1, 10)]]).proof().ratio == 9
    )


@pytest.mark.parametrize(
    ("weights", "total", "says"),
    [
        (((3, 1), (1, 2)), 4, "the weights of value 1 sum to 3, not to the total 4"),
        (((5, 1), (-1, 3)), 4, r"must be whole numbers >= 0, got \(-1, 3\)"),
        (((0.75, 0.25), (0.25, 0.75)), 1, r"must be whole numbers >= 0, got \(0.75, 0.25\).*from_matrix"),
        (((3, 1), (1, 3)), 4.0, "weights and total must be whole numbers"),
        (((3, 1),), 4, "weights must be one row per output"),
        (((3, 1), (1,)), 4, "weights must be rows of one length"),
    ],
)
def test_what_is_no_channel_is_refused(weights: tuple[tuple[int, ...], ...], total: int, says: str) -> None:
    with pytest.raises(ParameterError, match=says):
        Channel(("a", "b"), weights, total)


@pytest.mark.parametrize(
    ("matrix", "says"),
    [
        ([[0.75, 0.5], [0.25, 0.75]], "the probabilities given value 0 sum to 1.25, not to 1.*row for each value"),
        ([[0.75, 0.25], [0.5, 0.25]], "the probabilities given value 1 sum to 0.75, not to 1"),
        ([[0.75, 0.25 + 2e-6], [0.5, 0.5]], "the probabilities given value 0 sum to 1, not to 1"),
        ([[0.75, 0.25 - 2e-6], [0.5, 0.5]], "the probabilities given value 0 sum to 0.999998, not to 1"),
        ([[0.5, 0.5], [1.0]], "matrix must be rows of one length"),
        ([["a", 0.5], [0.5, 0.5]], "matrix must be rows of probabilities, got 'a'"),
        ([[float("nan"), 0.5], [0.5, 0.5]], "matrix must be rows of probabilities, got nan"),
        ([], "matrix must be rows of one length"),
    ],
)
def test_what_is_no_table_of_probabilities_is_refused(matrix: Any, says: str) -> None:
    with pytest.raises(ParameterError, match=says):
        Channel.from_matrix(matrix)


def test_a_proof_says_how_many_pairs_were_compared() -> None:
    """Those without a limit were not: here only two of six are held against each other."""
    rows = ((4, 2, 0), (0, 2, 4))
    every, some = (Channel(("a", "b"), rows, 4, unlimited=frozenset(u)) for u in ((), {(0, 2), (2, 0), (0, 1), (2, 1)}))
    assert every.proof().ratio is None
    assert "all 2 outputs and 6 ordered pairs of values were compared" in every.proof().argument
    assert "all 2 outputs and 2 ordered pairs of values were compared" in some.proof().argument


def test_priors_must_sum_to_one() -> None:
    channel = Channel(("a", "b"), ((3, 1), (1, 3)), 4)
    with pytest.raises(ParameterError, match="prior must be 2 fractions that sum to 1"):
        channel.asr([Fraction(1, 2), Fraction(1, 3)])


def test_support_of_a_channel_that_is_not_pure_is_refused() -> None:
    plain = Channel(("a", "b"), ((3, 1), (1, 3)), 4)
    with pytest.raises(ParameterError, match="does not say which items its outputs support"):
        plain.support()
    uneven = Channel(("a", "b"), ((3, 2), (1, 2)), 4, (frozenset({0}), frozenset({1})))
    with pytest.raises(ParameterError, match="p is not the same for all items: from 1/2 to 3/4"):
        uneven.support()


@pytest.mark.parametrize("name", ["grr", "ss", "sue", "oue"])
def test_support_of_the_channel_is_the_stated_one(name: str) -> None:
    m = dn.mechanism(name, epsilon=1.0, k=4)
    assert isinstance(m, SupportMechanism)
    assert m.channel().support() == m.bulk.support


def test_an_infinite_ratio_is_said_to_be_infinite() -> None:
    proof = Proof(None, "m", "a", Witness("o", 0, 1))
    assert proof.epsilon == math.inf
    assert str(proof.witness) == "Pr[o | value 0] against Pr[o | value 1]"


def test_the_epsilon_of_a_proof_is_never_below_the_logarithm() -> None:
    """Rounded to the nearest float it would be, for about half of the ratios."""
    for top in range(2, 40):
        found = Proof(Fraction(top), "m", "a", Witness("o", 0, 1)).epsilon
        assert exp_bounds(found)[0] >= top > exp_bounds(math.nextafter(found, 0.0))[0]


def test_too_many_outputs_are_no_broken_channel() -> None:
    with pytest.raises(dn.errors.EnumerationError, match="too many to enumerate"):
        dn.mechanism("oue", epsilon=1.0, k=100).channel()
    audit = dn.audit(dn.mechanism("oue", epsilon=1.0, k=100))
    assert audit.holds
    assert audit.enumerated is None
