"""Privacy, unbiasedness, variances and best guesses of ULDP mechanisms, from the list of all outputs and hashes."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.core.channel import Channel
from deniable.mechanisms.frequency.unary import Unary
from deniable.mechanisms.support import SupportMechanism
from deniable.mechanisms.utility.base import Utility
from deniable.mechanisms.utility.estimate import UtilityPart
from deniable.mechanisms.utility.make import make_utility
from deniable.testing import check_closed_forms
from deniable_client import Device, explain
from deniable_client.exact import exp_bounds
from deniable_client.kernels import kernel_to
from deniable_client.kernels.utility import most_disclosure
from tiers import every

SMALL = [
    ("grr", 2, {}),
    ("grr", 3, {}),
    ("ss", 4, {}),
    ("ss", 4, {"size": 3}),
    ("iss", 4, {"size": 2}),
    ("ue", 3, {}),
    ("sue", 3, {}),
    ("the", 2, {}),
    ("lh", 3, {"g": 2}),
    ("lh", 2, {"g": 3}),
    ("blh", 4, {}),
    ("plh", 4, {"g": 2}),
    ("plh", 5, {"g": 2}),
    ("wheel", 2, {"arc": 0.25, "ring": 3}),
    ("wheel", 3, {"arc": 0.5, "ring": 2}),
    ("hr", 3, {}),
    ("hr", 5, {}),
    ("pgr", 3, {}),
    ("pgr", 5, {"prime": 2}),
    ("grr", 1, {}),
]
BUDGETS = (0.1, 1.0, 4.0)
GOLDEN = json.loads((Path(__file__).parents[1] / "golden/uldp.json").read_text())


def cases(forms: tuple[str, ...]) -> list[Any]:
    return [
        pytest.param(form, base, s, own, id=f"{form}-{base}-s={s}-{own}")
        for form in forms
        for base, s, own in SMALL
        if form == "null" or base not in ("hr", "pgr")
    ]


def made(form: str, base: str, s: int, own: dict[str, Any], epsilon: float, harmless: int = 2) -> Utility:
    domain = dn.Domain.of(s + harmless)
    return make_utility(base, epsilon=epsilon, domain=domain, sensitive=s, theta=0.6, form=form, **own)


@pytest.mark.parametrize("epsilon", [*BUDGETS, 0.01, 20.0])
@pytest.mark.parametrize(("form", "base", "s", "own"), cases(("null", "glutf")))
def test_every_form_keeps_its_epsilon_for_every_hash(
    form: str, base: str, s: int, own: dict[str, Any], epsilon: float
) -> None:
    """Both properties of the definition over all outputs; the general argument and a device find the same ratio."""
    for harmless in (1, 2):
        m = made(form, base, s, own, epsilon, harmless)
        found = dn.audit(m)
        assert found.enumerated is not None
        assert (found.holds, found.agrees) == (True, True)
        assert m.kernel.hidden_ratio == found.enumerated.ratio <= exp_bounds(epsilon)[0]
        Device(m.design, harmless=explain(m.design).harmless)
        if base != "the":  # all others spend all of it, up to the grain of the thresholds
            assert found.exact == pytest.approx(epsilon, rel=1e-6)


@pytest.mark.parametrize(("form", "base", "s", "own"), cases(("null", "glutf")))
def test_one_step_more_disclosure_would_break_the_promise(form: str, base: str, s: int, own: dict[str, Any]) -> None:
    m = made(form, base, s, own, 1.0)
    name = "attach" if m.kernel.attach else "plain"
    worse = replace(m.kernel, **{name: getattr(m.kernel, name) + 2})
    assert m.kernel.hidden_ratio <= exp_bounds(1.0)[0] < worse.hidden_ratio
    with pytest.raises(dn.PrivacyError, match="likelihood ratio"):
        Device({**m.design, "kernel": kernel_to(worse)})


ENUMERATED = [c for c in GOLDEN["exact_small_cases"] if (c["mech"], c["s"]) != ("uRAP(p)", 1)]
"""With one sensitive item there are no bits to choose a p for."""


@pytest.mark.parametrize("case", ENUMERATED, ids=lambda c: f"{c['mech']}-E={c['E']}-s={c['s']}")
def test_ratios_of_independent_enumerations(case: dict[str, Any]) -> None:
    """The same mechanisms, enumerated elsewhere with rational e; ours has e up to the grain of 64-bit thresholds."""
    epsilon, s, mech = math.log(Fraction(case["E"])), case["s"], case["mech"]
    kinds = {"uSS": ("ss", "glutf"), "uUE": ("ue", "glutf"), "uRR": ("grr", "null"), "uHR": ("hr", "null")}
    kinds |= {f"u{n} {z}": (b, f) for n, b in (("LH", "lh"), ("Wheel", "wheel")) for z, f in _Z.items()}
    base, form = kinds.get(mech, ("pgr", "null"))
    own = {n: case[k] for k, n in (("k", "size"), ("g", "g")) if k in case and base != "grr"}
    own |= {n: float(Fraction(case[k])) for k, n in (("p", "p"), ("l", "arc")) if k in case}
    if mech.startswith("uPGR"):
        own = {"prime": int(mech[mech.index("Q=") + 2])}
    if mech == "uRAP(p)":
        bits = Unary(epsilon=epsilon, domain=dn.Domain.of(s), p=own["p"])
        m = Utility(
            epsilon=epsilon,
            domain=dn.Domain.of(s + 2),
            base=bits,
            sensitive=(0, s),
            theta=0.5,
            form="separate",
            name="urap",
        )
    else:
        m = make_utility(base, epsilon=epsilon, domain=dn.Domain.of(s + 2), sensitive=s, theta=0.5, form=form, **own)
    assert dn.audit(m).holds == case["private"]
    loose = 1e-7 if base == "wheel" else 1e-12
    assert float(m.proof.ratio or 0) == pytest.approx(float(Fraction(case["max_ratio"])), rel=loose)


_Z = {"paper z": "paper", "safe z": "glutf", "null-branch": "null"}


@pytest.mark.parametrize("case", GOLDEN["ulh_worst_case"], ids=lambda c: f"eps={c['eps']}-s={c['s']}")
def test_printed_hashing_leaks_what_the_formula_says(case: dict[str, Any]) -> None:
    m = dn.mechanism(
        "ulh", epsilon=case["eps"], k=case["s"] + 5, sensitive=case["s"], g=case["g"], form="paper", theta=0.9
    )
    assert dn.audit(m).exact == pytest.approx(case["eps_worst"], rel=1e-12)
    assert not dn.audit(m).holds


def test_printed_hashing_at_foursquare_leaks_1_326_and_makes_no_report() -> None:
    m = dn.mechanism("ulh", epsilon=1.0, k=625, sensitive=25, g=4, form="paper", theta=0.95)
    found = dn.audit(m)
    assert found.exact == pytest.approx(1.3263256048304142, rel=1e-12)
    assert (found.holds, found.vetted) == (False, False)
    assert "alone" in found.document()["witness"]["output"]
    assert (found.proof.witness.likely, found.proof.witness.unlikely) == (0, 25)
    with pytest.raises(dn.PrivacyError, match="no report was made"):
        m.privatize([0, 30])
    with pytest.raises(dn.PrivacyError, match="above e"):
        Device(m.design, harmless=explain(m.design).harmless)


@pytest.mark.parametrize(("base", "own"), [("lh", {"g": 2}), ("lh", {"g": 3}), ("wheel", {"arc": 0.25, "ring": 3})])
def test_printed_forms_violate_in_the_enumeration_too(base: str, own: dict[str, Any]) -> None:
    found = dn.audit(made("paper", base, 2, own, 1.0))
    assert found.enumerated is not None
    assert (found.holds, found.agrees) == (False, True)


def test_an_output_that_discloses_wrongly_is_a_breach() -> None:
    """Definition 3, first property: one sender, and a harmless one."""
    good = Channel(("hidden", "told"), ((2, 2, 1), (0, 0, 1)), 2, None, frozenset({2}), frozenset({1}))
    assert good.proof().ratio == 2
    assert Channel(good.outputs, good.weights, 2).proof().ratio is None
    assert replace(good, harmless=frozenset({0, 1})).proof().ratio is None
    two = Channel(("hidden", "told"), ((2, 1, 1), (0, 1, 1)), 2, None, frozenset({1, 2}), frozenset({1}))
    assert two.proof().ratio is None


# ---- moments


@pytest.mark.parametrize(
    ("form", "base", "s", "own", "epsilon"),
    every(4, [(*case.values, e) for e in BUDGETS for case in cases(("null", "glutf", "paper"))]),
)
def test_moments_and_best_guess_are_those_of_the_channel(
    form: str, base: str, s: int, own: dict[str, Any], epsilon: float
) -> None:
    """All that conformance looks at, for every form and base; and what all variances add up to."""
    m = made(form, base, s, own, epsilon)
    assert "all moments of frequency" in check_closed_forms(m)
    f = np.arange(m.k, 0, -1) / (m.k * (m.k + 1) / 2)
    total, theta = np.trace(m.covariance(f)), float(f[m.items[1]].sum())
    assert m.law_effective.mse_sum(s, theta) == pytest.approx(total, rel=1e-10)
    assert m.mse_sum(theta=theta) == pytest.approx(total, rel=1e-9)


@pytest.mark.parametrize(("base", "s", "own"), [("ss", 4, {}), ("ue", 3, {}), ("lh", 3, {"g": 2}), ("hr", 3, {})])
def test_estimates_are_unbiased_in_fractions(base: str, s: int, own: dict[str, Any]) -> None:
    m = made("null", base, s, own, 1.0)
    channel, law = m.channel(), m.law_exact
    assert isinstance(m.base, SupportMechanism)
    for x in range(m.k):
        told = sum((Fraction(channel.weights[o][x], channel.total) for o in channel.disclosing), Fraction(0))
        for i in range(s):
            hit = [o for o, items in enumerate(channel.supported or ()) if i in items and o not in channel.disclosing]
            seen = sum((Fraction(channel.weights[o][x], channel.total) for o in hit), Fraction(0))
            off = (seen + law.credit * told - law.base.q) / law.base.gap - (x == i)
            assert abs(off) <= m.base.bulk.channel_error / law.base.gap


def test_no_plug_in_variance_is_negative() -> None:
    """Reports at the corners of what can be seen: nobody, everybody supports; everybody discloses."""
    for form, base, s, own in [c.values for c in cases(("null", "glutf"))]:
        m = made(form, base, s, own, 1.0)
        for supported in (0.0, 0.3, 1.0):
            for told in (0.0, 1.0) if supported == 0 or form == "glutf" else (0.0, 1 - supported):
                share = np.full(m.k - m.s, told / (m.k - m.s))
                part = UtilityPart(*m.items, m.law_effective, np.full(m.s, supported), share, 10)
                for target in ("reporters", "population"):
                    assert part.variance(target).min() >= -1e-12 / float(m.law.base.gap) ** 2


PREDICTED: list[tuple[str, dict[str, Any]]] = [
    *((name, {"k": 5, "sensitive": 3, "epsilon": 1.0}) for name in ("uss", "uue", "urr", "urap", "uhr", "ussmix")),
    *(("utility", {"k": 5, "sensitive": 3, "epsilon": 1.0, "base": base, "form": "glutf"}) for base in ("sue", "she")),
    ("utility", {"k": 5, "sensitive": 3, "epsilon": 1.0, "base": "she"}),
    ("uue-levels", {"k": 5, "sensitive": 3, "item_epsilon": "0.5,1,2"}),
    ("a bare channel", {"sensitive": 3, "k": 5}),
]


@pytest.mark.parametrize(("name", "given"), PREDICTED, ids=str)
def test_predicted_covariances_differ_by_what_drawing_people_adds(name: str, given: dict[str, Any]) -> None:
    """At any frequencies, in one over the number of people."""
    table = Channel.from_matrix([[0.5, 0.3, 0.2], [0.3, 0.4, 0.3], [0.25, 0.25, 0.5]])
    m: Any = dn.utility(table, **given) if name == "a bare channel" else dn.mechanism(name, **given)
    f = np.array([0.3, 0.05, 0.2, 0.35, 0.1])
    own, all_people = (m.covariance(f, 1, target) for target in ("reporters", "population"))
    assert all_people - own == pytest.approx(np.diag(f) - np.outer(f, f), abs=1e-10)
    assert m.covariance(f, 8, "population") == pytest.approx(all_people / 8, rel=1e-12)
    assert own == pytest.approx(own.T, rel=1e-12)


@pytest.mark.parametrize(("form", "base", "s", "own"), [("null", "ss", 4, {}), ("glutf", "sue", 3, {})])
def test_an_interval_is_for_harmless_answers_that_leave_room_for_the_sensitive_one(
    form: str, base: str, s: int, own: dict[str, Any]
) -> None:
    """By chance more people seem to have harmless answers than are left beside f: intervals are those of just 1 - f."""
    m = made(form, base, s, own, 1.0)
    law, f, ends = m.law_effective, 0.3, []
    for theta in (0.7, 0.9, 1.4):
        told = theta * law.z
        supported = law.base.q + law.base.gap * f - law.credit * told
        part = UtilityPart(*m.items, law, np.full(s, supported), np.full(2, told / 2), 1000)
        assert part.value[m.items[0]] == pytest.approx(f)
        found = part.interval(0.95, "reporters", False)
        ends.append(np.concatenate([found.low[m.items[0]], found.high[m.items[0]]]))
    assert ends[1] == pytest.approx(ends[0], rel=1e-9)
    assert ends[2] == pytest.approx(ends[0], rel=1e-9)


# ---- thresholds


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 20.0, 40.0])
def test_disclosure_is_the_largest_that_is_allowed(epsilon: float) -> None:
    low, word = exp_bounds(epsilon)[0], 1 << 64
    for peak in (Fraction(1), Fraction(3, 2), low, 2 * low):
        t = most_disclosure(epsilon, peak)
        assert t == 0 or peak / (1 - Fraction(t, word)) <= low
        assert t == word - 1 or peak / (1 - Fraction(t + 1, word)) > low
