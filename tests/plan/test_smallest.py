"""The smallest n and epsilon are on the safe side, and one step less is not enough."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import deniable as dn
from deniable.plan.smallest import EPSILON_STEPS, smallest_epsilon, smallest_n


def error(d, n=None, epsilon=None):
    """The standard error of a design of the same name and options with another n or epsilon."""
    m = dn.mechanism(d.name, epsilon=epsilon or d.mechanism.epsilon, domain=d.mechanism.domain, **d.options)
    return math.sqrt(m.properties(n or d.n)["mse"])


@given(
    k=st.integers(2, 300),
    epsilon=st.floats(0.05, 8.0),
    target=st.floats(1e-4, 0.3),
)
@settings(max_examples=10, deadline=None)
def test_smallest_n_is_enough_and_one_less_is_not(k, epsilon, target):
    found = dn.plan(k=k, epsilon=epsilon, target_error=target)
    best = found.best
    assert best.n == found.smallest_n.n == min(d.n for d in found.designs)
    for d in found.designs:
        assert error(d) <= target
        assert d.n == 1 or error(d, n=d.n - 1) > target


@given(k=st.integers(2, 300), n=st.integers(100, 10**7), target=st.floats(1e-3, 0.2))
@settings(max_examples=4, deadline=None)
def test_smallest_epsilon_is_enough_and_a_step_less_is_not(k, n, target):
    found = dn.plan(k=k, n=n, target_error=target)
    if not found.feasible:
        return
    best = found.best
    epsilon = best.mechanism.epsilon
    assert epsilon == min(d.mechanism.epsilon for d in found.designs)
    assert best.stderr <= target
    if epsilon > 1e-3:
        less = round(epsilon * EPSILON_STEPS - 1) / EPSILON_STEPS
        again = dn.plan(k=k, n=n, epsilon=less)
        assert min(d.stderr for d in again.designs) > target


def test_smallest_n_at_the_edge_of_a_float():
    for mse in (0.3, 0.1, 1 / 3, 2.0, 7.7):
        for target in (0.01, 0.1, 0.07):
            n = smallest_n(lambda n, mse=mse: math.sqrt(mse / n), target)
            assert math.sqrt(mse / n) <= target
            assert n == 1 or math.sqrt(mse / (n - 1)) > target


def test_smallest_epsilon_answers_none_or_the_least_it_knows():
    assert smallest_epsilon(lambda e: 1.0, 0.5) is None
    assert smallest_epsilon(lambda e: 0.1, 0.5) == 1e-3
    assert smallest_epsilon(lambda e: 1 / e, 0.025) == 40.0
    assert smallest_epsilon(lambda e: 1 / e, 0.0249) is None


def test_smallest_epsilon_is_never_on_the_wrong_side_of_a_jump():
    """An error that jumps up inside: the answer still meets the target."""

    def jumpy(e):
        return 1 / e + (0.3 if 2.0 <= e < 2.5 else 0.0)

    found = smallest_epsilon(jumpy, 0.5)
    assert jumpy(found) <= 0.5
    assert jumpy(found - 1 / EPSILON_STEPS) > 0.5


def test_targets_and_numbers_that_make_no_sense_are_refused():
    with pytest.raises(dn.ParameterError, match="two of n, epsilon and target_error must be given, got epsilon"):
        dn.plan(k=5, epsilon=1.0)
    with pytest.raises(dn.ParameterError, match="target_error must be a finite number > 0, got -1"):
        dn.plan(k=5, epsilon=1.0, target_error=-1)
    with pytest.raises(dn.ParameterError, match="n must be an integer >= 1"):
        dn.plan(k=5, epsilon=1.0, n=0)


def test_smallest_n_ends_where_one_report_more_makes_no_difference():
    """Beyond 2**53 reports a float does not notice one more: steps of one would never end."""
    calls = 0

    def error(n):
        nonlocal calls
        calls += 1
        assert calls < 200, "as many steps as a bisection needs"
        return math.sqrt(3.2842182922546607 / n)

    n = smallest_n(error, 1e-12)
    assert error(n) <= 1e-12 < error(n - 1)
    assert n > 1 << 53


def test_a_target_that_nobody_can_reach_is_answered_with_a_caution():
    for found in (
        dn.plan(k=20, epsilon=1.0, target_error=1e-12),
        dn.plan(question="mean", interval=(0, 1), epsilon=1.0, target_error=1e-9),
    ):
        assert found.best.n > 8_000_000_000
        assert any("there are fewer people than that" in note for note in found.notes)
        assert not any("instead of at most" in o.reason for o in found.out), "the fewest reports reach the target"
    assert not any("fewer people" in note for note in dn.plan(k=20, epsilon=1.0, n=10**12).notes), "n was given"


def test_designs_that_miss_the_target_have_no_smallest_epsilon():
    """Those told meet it; of those that are out, some reach it at no epsilon: that is None, not the largest."""
    found = dn.plan(k=20, n=20_000, target_error=0.005, max_bytes=2, top=100)
    every = [*found.designs, *(o.design for o in found.out if o.design is not None)]
    missed = [d for d in every if d.stderr > 0.005]
    assert {d.name for d in missed} >= {"the"}
    assert {d.smallest_epsilon for d in missed} == {None}
    assert all(d.smallest_epsilon == d.mechanism.epsilon for d in found.designs)
    assert found.smallest_epsilon.bytes <= 2
    assert found.smallest_epsilon.smallest_epsilon > min(d.smallest_epsilon or 99 for d in every), "who misses is less"


def test_a_design_whose_integers_cannot_follow_it_is_left_out():
    """At epsilon 40 the integers of local hashing lie too far apart: what is sampled has more error than the ideal."""
    found = dn.plan(k=20, n=1000, epsilon=40.0, top=100)
    (why,) = [o.reason for o in found.out if "samples" in o.reason]
    assert why == "cannot be made: what lh samples has 1.02 times the ideal error."
    assert "lh" not in {d.name for d in found.designs}
