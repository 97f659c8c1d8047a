"""The exact audit decides by fractions, believes neither argument nor enumeration alone, and shows its evidence."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import pytest

import deniable as dn
from deniable.audit.exact import Audit, audit
from deniable.core.channel import Channel, Proof, Witness
from deniable.errors import EnumerationError
from deniable.mechanisms.common import refuse_broken
from deniable_client.exact import exp_bounds

LOW, HIGH = exp_bounds(1.0)
FINER = 1 << 300


def proof(ratio: Fraction | None, method: str = "argument") -> Proof:
    return Proof(ratio, method, f"why {method}", Witness("o", 0, 1))


def verdict(ratio: Fraction | None, enumerated: Fraction | str | None = "none", **more: Any) -> Audit:
    found = None if enumerated == "none" else proof(enumerated, "enumeration")  # type: ignore[arg-type]
    return replace(audit(Promised(1.0, proof(ratio))), enumerated=found, vetted=True, **more)


@dataclass(frozen=True)
class Promised:
    """Something with an argument and a channel of its own."""

    epsilon: float
    proof: Proof
    made: Channel | None = None
    vetted: bool = False
    name: str = "promised"

    def channel(self) -> Channel:
        if self.made is None:
            raise EnumerationError("too many to enumerate.")
        return self.made


def coin(top: int, bottom: int) -> Channel:
    """Two answers with the ratio top/bottom."""
    return Channel(("no", "yes"), ((top, bottom), (bottom, top)), top + bottom)


@pytest.mark.parametrize("name", ["uss", "uue", "urr"])
def test_another_epsilon_is_asked_of_sensitive_answers_alone(name: str) -> None:
    """Harmless answers may be disclosed, whatever epsilon is asked about."""
    m = dn.mechanism(name, epsilon=1.0, k=5, sensitive="1,3")
    assert audit(m, epsilon=2.0).holds
    assert "disclosed" in audit(m, epsilon=2.0).verdict
    assert not audit(m, epsilon=0.99).holds


def test_the_certified_bound_decides_and_no_float_does() -> None:
    """Ratios that are all the same float: at the lower bound of e, beyond it, and beyond e."""
    beyond = LOW + Fraction(1, FINER)
    assert float(LOW) == float(beyond) == float(HIGH) == math.e
    assert verdict(LOW).holds
    assert not verdict(beyond).holds
    assert not verdict(HIGH).holds


def test_a_report_that_rules_a_value_out_breaks_any_promise() -> None:
    found = verdict(None)
    assert not found.holds
    assert found.exact == math.inf
    told = found.document()
    assert (told["epsilon_exact"], told["ratio"], told["spare"]) == (None, "infinite", None)


@pytest.mark.parametrize("enumerated", [Fraction(3, 2), Fraction(5, 2), 2 + Fraction(1, FINER), None])
def test_argument_and_enumeration_must_agree_to_the_last_digit(enumerated: Fraction | None) -> None:
    assert verdict(Fraction(2), Fraction(2)).agrees
    assert verdict(Fraction(2), Fraction(2)).holds
    found = verdict(Fraction(2), enumerated)
    assert not found.agrees
    assert not found.holds, "even where both are within the promise"
    assert found.document()["agrees"] is False


def test_what_was_enumerated_is_what_is_reported() -> None:
    found = verdict(Fraction(2), Fraction(5, 2))
    assert found.exact == found.enumerated.epsilon > math.log(2)  # type: ignore[union-attr]
    assert found.document()["ratio"] == "5/2"
    assert verdict(Fraction(2)).exact == proof(Fraction(2)).epsilon


def test_what_reports_tell_beside_epsilon_is_evidence() -> None:
    found = verdict(Fraction(2), guarantee={"level": 1}).document()
    assert (found["guarantee"], found["budgets_kept"]) == ({"level": 1}, True)
    assert "budgets_kept" not in verdict(Fraction(2)).document()


def test_an_object_is_asked_for_both_its_argument_and_its_channel() -> None:
    right = Promised(1.0, proof(Fraction(2)), coin(2, 1))
    found = audit(right)
    assert found.holds
    assert found.enumerated == coin(2, 1).proof()
    assert not audit(replace(right, made=coin(5, 2))).holds, "the argument says 2, the channel 5/2"
    assert not audit(replace(right, proof=proof(Fraction(3, 2)))).agrees
    assert audit(replace(right, made=None)).enumerated is None
    assert audit(replace(right, vetted=True)).vetted
    assert not found.vetted
    assert found.name == "promised"


def test_an_object_without_an_argument_is_enumerated() -> None:
    class Bare:
        epsilon = 1.0

        def channel(self) -> Channel:
            return coin(3, 1)

    found = audit(Bare())
    assert (found.proof.method, found.proof.ratio, found.holds, found.name) == ("enumeration", 3, False, "Bare")
    assert audit(Bare(), epsilon=1.2).holds


def test_a_promise_of_its_own_is_what_an_object_is_held_against() -> None:
    made = dn.mechanism("grr", epsilon=1.0, k=3)
    less = dn.promise(item_epsilon=[1, 0.5, 1], rule="own")
    broken = type("Broken", (type(made),), {"promise": property(lambda self: less), "guarantee": {"items": "less"}})
    found = audit(broken(epsilon=1.0, domain=made.domain))
    assert audit(made).holds
    assert not found.holds
    assert (found.pairs[0].likely, found.pairs[0].budget, found.pairs[0].kept) == ("1", 0.5, False)
    assert (found.guarantee, found.own_kept) == ({"items": "less"}, False)
    with pytest.raises(dn.PrivacyError, match=r"promises epsilon 0\.5 but its exact epsilon is 1\.0"):
        refuse_broken(broken(epsilon=1.0, domain=made.domain))
    assert audit(broken(epsilon=1.0, domain=made.domain), epsilon=1.5).holds, "another promise was asked about"


def test_an_argument_that_says_too_little_of_a_smaller_budget_is_found_out() -> None:
    made = dn.mechanism("grr", epsilon=1.0, k=3)
    less = dn.promise(item_epsilon=[1, 0.5, 1], rule="own")
    told = replace(made.proof, ratios=((made.proof.ratio, Witness("o", 0, 1)), (Fraction(3, 2), Witness("o", 1, 0))))
    own = {"promise": property(lambda self: less), "proof": property(lambda self: told)}
    found = audit(type("Wrong", (type(made),), own)(epsilon=1.0, domain=made.domain))
    assert (found.agrees, found.own_kept, found.holds) == (True, True, False)
    assert (found.broken, found.broken and found.broken.budget) == (found.pairs[0], 0.5)


def test_any_channel_is_held_against_any_promise() -> None:
    line = dn.promise(points=[0, 1, 2], epsilon=0.6)
    steps = dn.mechanism("geometric", points=3, epsilon=1.2).channel()
    assert audit(steps, promise=line).holds
    found = audit(dn.mechanism("grr", epsilon=1.2, k=3), promise=line)
    assert not found.holds
    worst = found.pairs[0]
    assert (worst.budget, worst.ratio, worst.output) == (0.6, found.proof.ratio, "report 0")
    assert [pair.kept for pair in found.pairs] == [False, False, True], "to the middle, from it, from end to end"
    with pytest.raises(dn.ParameterError, match="of 3 values each"):
        audit(coin(3, 1), promise=line)
    with pytest.raises(dn.ParameterError, match="left out with a promise"):
        audit(steps, promise=line, epsilon=1.0)
    with pytest.raises(dn.ParameterError, match="promise must be a promise"):
        audit(steps, promise=1.0)  # type: ignore[arg-type]
    large = dn.mechanism("oue", epsilon=1.2, k=1000)
    assert audit(large, promise=dn.promise(epsilon=1.2, k=1000)).holds
    assert not audit(large, promise=dn.promise(blocks=[500, 500], inside=1.2, across=1.1)).holds, "the smallest counts"


def test_the_promise_is_the_object_s_unless_another_is_given() -> None:
    m = dn.mechanism("grr", epsilon=1.0, k=4)
    assert audit(m).promised == 1.0
    assert audit(m, epsilon=2.0).document()["spare"] == pytest.approx(1.0)
    assert not audit(m, epsilon=0.999).holds
    assert not audit(coin(3, 1), epsilon=1.0).holds
    assert audit(coin(3, 1), epsilon=1.1).holds
    with pytest.raises(dn.ParameterError, match="epsilon must be given"):
        audit(coin(3, 1))
    with pytest.raises(dn.ParameterError, match="epsilon must be a finite number > 0"):
        audit(coin(3, 1), epsilon=0.0)
    with pytest.raises(dn.ParameterError, match="audit takes a mechanism or a channel, got str"):
        audit("grr", epsilon=1.0)
    with pytest.raises(dn.ParameterError, match=r"got str. Make one: dn.audit\(dn.mechanism\('grr'"):
        audit("grr")
    with pytest.raises(dn.ParameterError, match=r"got list. .*Channel.from_matrix"):
        audit([[0.75, 0.25], [0.25, 0.75]])


def test_disclosure_is_fine_for_one_harmless_input_only() -> None:
    """Output `told` discloses: allowed if exactly one input leads to it, and that one is harmless."""

    def ratio(told: tuple[int, int, int], harmless: set[int], disclosing: set[int]) -> Fraction | None:
        rest = tuple(4 - w for w in told)
        made = Channel(("told", "rest"), (told, rest), 4, None, frozenset(harmless), frozenset(disclosing))
        return made.proof().ratio

    assert ratio((0, 0, 2), {2}, {0}) == 2
    assert ratio((0, 0, 2), set(), {0}) is None, "a sensitive value is disclosed"
    assert ratio((0, 0, 2), {2}, set()) is None, "an output that must not disclose"
    assert ratio((0, 1, 2), {1, 2}, {0}) is None, "two inputs lead to it"
    assert ratio((0, 1, 2), {2}, {0}) is None
    assert ratio((0, 0, 2), {1}, {0}) is None, "another value is the harmless one"


def test_nothing_is_drawn_beyond_the_certified_bound() -> None:
    m = dn.mechanism("grr", epsilon=1.0, k=4)
    for ratio in (LOW + Fraction(1, FINER), Fraction(100), None):
        broken = type("Broken", (type(m),), {"proof": property(lambda self, r=ratio: proof(r))})
        with pytest.raises(
            dn.PrivacyError, match=r"no report was made\. Witness: o for 0 against 1: promised 1, exact "
        ):
            refuse_broken(broken(epsilon=1.0, domain=m.domain))
        with pytest.raises(dn.PrivacyError, match="no report was made"):
            broken(epsilon=1.0, domain=m.domain).privatize([1], rng=dn.simulation(1))
        with pytest.raises(dn.PrivacyError, match="no report was made"):
            broken(epsilon=1.0, domain=m.domain).simulate_tally([1, 0, 0, 0], dn.simulation(1))
