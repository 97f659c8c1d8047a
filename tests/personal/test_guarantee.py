"""What a report promises about value and level, by enumeration of all outputs; and designs within a leak budget."""

from __future__ import annotations

import math
from dataclasses import fields, replace
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.mechanisms.personal.laws import common_range, level_leakage, pair_bound
from deniable.mechanisms.personal.plain import Personal
from deniable_client import Device, ReplayWords
from deniable_client.errors import PrivacyError
from deniable_client.exact import exp_bounds, log_upper
from deniable_client.kernels import Bit, Hashing, Response, Unary, kernel_from, kernel_to
from deniable_client.kernels import Personal as Kernel

CASES: list[dict[str, Any]] = [
    {"base": base, "k": k, "levels": levels, "level_epsilon": 0.3, "level_report": report}
    for base, k in (("sue", 3), ("sue", 5), ("oue", 2), ("oue", 4), ("grr", 2), ("grr", 6), ("lh", 3), ("affine", 6))
    for levels in ("0.5,1,2", "0.1,1")
    for report in ("response", "bit")
]


def made(**given: Any) -> Personal:
    m = dn.mechanism("pldp", **given)
    assert isinstance(m, Personal)
    return m


def told(m: Personal, i: int) -> list[Fraction]:
    """Chances of the reported levels."""
    weights = m.kernel.told(i)
    return [Fraction(w, sum(weights)) for w in weights]


def enumerated(m: Personal) -> tuple[Fraction, Fraction, Fraction, Fraction]:
    """Largest ratios: of values at one level, of levels by the data, by the whole report, and of pairs of both."""
    channels = [base.channel() for base in m.bases]
    t, outputs = len(m.levels), range(len(channels[0].outputs))
    mass = [[[Fraction(w, c.total) for w in row] for row in c.weights] for c in channels]
    heard = [[told(m, i)[r] for r in range(len(m.bulk.strata))] for i in range(t)]
    level = {(i, j): max(a / b for a, b in zip(heard[i], heard[j], strict=True)) for i in range(t) for j in range(t)}
    data = leak = both = pair = Fraction(0)
    for i, j in product(range(t), repeat=2):
        for o in outputs:
            one, two = mass[i][o], mass[j][o]
            same = max(a / b for a, b in zip(one, two, strict=True))
            most = max(one) / min(two)
            leak, both = max(leak, same), max(both, same * level[i, j])
            pair = max(pair, most * level[i, j])
            data = max(data, most) if i == j else data
    return data, leak, both, pair


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c['base']}-{c['k']}-{c['levels']}-{c['level_report']}")
def test_guarantee_is_the_enumerated_one(case: dict[str, Any]) -> None:
    m = made(**case)
    data, leak, level, pair = (log_upper(ratio) for ratio in enumerated(m))
    found = m.guarantee
    for name, want in (("data", data), ("leakage", leak), ("level", level), ("pair", pair)):
        assert found[name] >= want, f"{name} is stated as {found[name]!r}, below the enumerated {want!r}"
        assert found[name] == pytest.approx(want, rel=1e-14), name
    assert found["pair"] <= pair_bound(m.base, m.levels, m.k, 0.3) * (1 + 1e-14)
    assert found["leakage"] == pytest.approx(level_leakage(m.base, m.levels, m.k, m.one_in), rel=1e-13)
    if case["level_report"] == "response":
        assert found["level"] == pytest.approx(found["level_report"] + found["leakage"], rel=1e-14)


def test_each_level_keeps_its_own_promise_exactly() -> None:
    m = made(k=6, levels="0.2,0.7,3", base="sue", level_epsilon=0.4)
    for kernel, level in zip(m.kernel.data, m.levels, strict=True):
        assert kernel.ratio <= exp_bounds(level)[0]
        assert kernel.ratio > exp_bounds(level * (1 - 1e-12))[0]
    assert m.kernel.level[0].ratio <= exp_bounds(0.4)[0]
    assert m.kernel.hidden_ratio == max(kernel.ratio for kernel in m.kernel.data)


def test_the_printed_bound_for_pairs_is_too_small_for_independent_bits() -> None:
    """max(leakage + first level, last level) + level epsilon is 2.3 here; the exact value is more."""
    m = made(k=3, levels="0.5,1,2", base="sue", level_epsilon=0.3)
    printed = max(level_leakage("sue", m.levels, 3) + 0.5, 2.0) + 0.3
    assert printed == pytest.approx(2.3, abs=0.05)
    assert m.guarantee["pair"] == pytest.approx(2.3176, abs=1e-4)
    assert m.guarantee["pair"] > printed


def test_stated_values_of_the_specification() -> None:
    levels = [round(0.1 * i, 1) for i in range(1, 11)]
    for base, k, g, leak in (("sue", 42, None, 10.736), ("oue", 42, None, 23.32), ("grr", 16, None, 0.8045)):
        m = made(k=k, levels=levels, base=base, g=g, level_epsilon=0.3)
        assert m.guarantee["leakage"] == pytest.approx(leak, abs=5e-3)
        assert "tell more about the level" in m.guarantee["warning"]
    assert made(k=16, levels=levels, base="grr", level_epsilon=0.3).guarantee["pair"] == pytest.approx(1.285, abs=5e-4)
    assert made(k=16, levels=levels, base="lh", level_epsilon=0.6).guarantee["warning"] == ""
    assert common_range(levels) == 3


def test_leak_budget_chooses_a_design_that_keeps_it() -> None:
    levels = [round(0.1 * i, 1) for i in range(1, 11)]
    m = made(k=16, levels=levels, level_epsilon=0.3, leak_budget=0.79, base="lh")
    assert (m.base, m.g) == ("lh", 3)
    assert m.guarantee["level"] <= 0.79
    best = made(k=16, levels=levels, level_epsilon=0.3, leak_budget=0.79)
    assert best.base == "affine"
    assert best.guarantee["level"] <= 0.79
    assert best.error < m.error
    wide = made(k=16, levels=levels, level_epsilon=0.3, leak_budget=20.0)
    assert wide.properties()["mse"] <= m.properties()["mse"]
    with pytest.raises(dn.ParameterError, match=r"leak_budget must be at least 4\.39 .* base sue"):
        made(k=16, levels=levels, level_epsilon=0.3, leak_budget=1.0, base="sue")
    with pytest.raises(dn.ParameterError, match=r"leak_budget must be at least 0\.7816"):
        made(k=16, levels=levels, level_epsilon=0.3, leak_budget=0.5, base="lh")
    with pytest.raises(dn.ParameterError, match=r"leak_budget must be at least 0\.7\d+ .* that of base affine"):
        made(k=16, levels=levels, level_epsilon=0.3, leak_budget=0.5)


def test_affine_leaks_least_also_where_some_are_sensitive() -> None:
    """At the middle level's share of favoured reports half of the range of levels is told, which is the least."""
    m = made(k=1000, levels="0.5,1,2", base="affine", level_epsilon=0.5)
    hashed = made(k=1000, levels="0.5,1,2", base="lh", level_epsilon=0.5)
    assert 0.75 <= m.guarantee["leakage"] < 0.7507 < hashed.guarantee["leakage"]
    assert m.error < 0.975 * hashed.error
    assert (m.bulk.row_bytes, hashed.bulk.row_bytes) == (3, 10)
    assert dn.from_design(m.design) == m
    with pytest.raises(dn.ParameterError, match="level_report must not be none for base affine"):
        made(k=10, levels="0.5,1", base="affine", level_report="none")
    some, other = (
        dn.mechanism("upldp", k=100, sensitive=70, levels="0.5,1,2", base=base, level_epsilon=0.5, theta=0.5)
        for base in ("affine", "lh")
    )
    assert some.properties(1e6)["mse"] < 0.97 * other.properties(1e6)["mse"]
    assert some.guarantee["level"] < other.guarantee["level"]
    assert (some.bulk.row_bytes, other.bulk.row_bytes) == (4, 11)
    assert dn.from_design(some.design) == some
    with pytest.raises(dn.ParameterError, match=r"number of protected answers must be at most about .* Use base lh"):
        made(k=9_000_000, levels="0.5,1", base="affine", level_epsilon=0.5)


# ---- levels


@pytest.mark.parametrize(
    ("levels", "text"),
    [
        ("0.5,0.5,1", "levels must be different from each other, got 0.5"),
        ("0,1", "levels must be finite numbers > 0, got 0.0"),
        ("-1,1", "levels must be finite numbers > 0, got -1.0"),
        ("inf", "levels must be finite numbers > 0, got inf"),
        ("a,b", "levels must be numbers"),
        ([], "at least one number"),
    ],
)
def test_wrong_levels_are_refused(levels: Any, text: str) -> None:
    with pytest.raises(dn.ParameterError, match=text):
        made(k=4, levels=levels, level_epsilon=0.3, base="sue")


def test_order_of_levels_does_not_matter() -> None:
    one = made(k=4, levels="2,0.5,1", shares="0.2,0.3,0.5", level_epsilon=0.3, base="oue")
    two = made(k=4, levels="0.5,1,2", shares="0.3,0.5,0.2", level_epsilon=0.3, base="oue")
    assert one == two
    assert one.shares == two.shares == (0.3, 0.5, 0.2)
    assert one.design == two.design
    assert one.epsilon == 2.0


def test_people_with_levels_outside_the_list_are_refused() -> None:
    m = made(k=4, levels="0.5,1", level_epsilon=0.3, base="sue")
    with pytest.raises(dn.ParameterError, match=r"levels must be among 0\.5, 1, got 0\.7"):
        m.privatize([0, 1], levels=[0.5, 0.7])
    with pytest.raises(dn.ParameterError, match="one level, or 3 of them"):
        m.privatize([0, 1, 2], levels=[0.5, 1.0])
    with pytest.raises(dn.ParameterError, match="levels must be given"):
        m.privatize([0, 1])
    with pytest.raises(dn.ParameterError, match="levels must be given"):
        m.privatize_items(np.array([0, 1]))
    with pytest.raises(dn.ParameterError, match="at least the largest level"):
        made(k=4, levels="0.5,1", level_epsilon=0.3, epsilon=0.7)
    assert len(m.privatize([0, 1, 2], levels=0.5)) == 3


def test_a_tally_without_reports_on_a_level_is_estimated() -> None:
    m = made(k=4, levels="0.5,1,3", level_epsilon=4.0, base="sue")
    reports = m.privatize(np.arange(4000) % 4, levels=3.0, rng=dn.simulation(1))
    keep = reports.columns["level"] != 0
    some = dn.Reports(m.design, m.fields, {name: column[keep] for name, column in reports.columns.items()}, True)
    tally = m.tally(some)
    assert tally.cells["n"][0] == 0
    for found in (m.estimate(tally), m.estimate(tally, "auem"), m.estimate(tally, "grouped"), m.fit(some)):
        assert np.allclose(found.value, 0.25, atol=0.1)


@pytest.mark.parametrize("name", ["pldp", "upldp"])
def test_class_variables_stay_those_of_the_class(name: str) -> None:
    """Strata and sufficiency are the bulk's: what an instance holds are its fields, and properties kept in a cache."""
    for case in dn.MECHANISMS[name].small:
        m = dn.mechanism(name, **case)
        _ = m.design, m.properties(), m.effective()
        cached = {key for cls in type(m).__mro__ for key, v in vars(cls).items() if isinstance(v, cached_property)}
        assert set(vars(m)) <= cached | {f.name for f in fields(m)}
        assert m.bulk.reader.sufficient == (case["base"] in ("grr", "affine"))
        assert m.bulk.strata == m.empty().strata


def test_items_alone_are_reported_at_the_most_protective_level() -> None:
    bulk = made(k=4, levels="0.5,1,3", level_epsilon=0.5, base="oue").bulk
    items = np.arange(600) % 4
    first = bulk.perturb_levels(items, np.zeros(600, np.int64), dn.simulation(3))
    numbers = np.arange(600) % 3
    mixed = bulk.perturb_levels(items, numbers, dn.simulation(3))
    for want, given in ((first, items), (mixed, numbers * 4 + items)):
        found = bulk.perturb(given, dn.simulation(3))
        assert all(np.array_equal(found[name], column) for name, column in want.items())


def test_reports_are_alike_at_all_levels() -> None:
    """One length, and no field but the base's and the noisy level."""
    for base, width in (("sue", 3), ("oue", 3), ("grr", 2), ("lh", 10)):
        m = made(k=12, levels="0.5,1,3", level_epsilon=0.5, base=base)
        lengths = {m.privatize([3], levels=level).row(0).__len__() for level in m.levels}
        assert lengths == {width}


def test_a_hash_range_of_its_own_for_a_level_is_refused() -> None:
    with pytest.raises(dn.ParameterError, match="would show the level"):
        Kernel((Hashing.calibrate(1.0, 8, 3), Hashing.calibrate(2.0, 8, 4)), ())
    with pytest.raises(dn.ParameterError, match="would show the level"):
        Kernel((Response.calibrate(1.0, 8), Unary.calibrate(2.0, 8, 1 << 63)), ())


def test_kernels_travel_as_documents() -> None:
    for report in ("response", "bit", "none"):
        m = made(k=5, levels="0.5,1,2", base="oue", level_epsilon=0.4, level_report=report)
        assert kernel_from(kernel_to(m.kernel)) == m.kernel
        assert dn.from_design(m.design) == m


def test_the_bit_is_linear_in_q_and_within_its_epsilon() -> None:
    m = made(k=5, levels="0.5,1,2", base="sue", level_epsilon=0.4, level_report="bit")
    bit = m.kernel.level[0]
    assert isinstance(bit, Bit)
    assert bit.ratio <= exp_bounds(0.4)[0]
    assert math.log(bit.ratio) == pytest.approx(0.4, rel=1e-12)
    q, chance = m.law.of("q"), np.array(bit.chances) / 2**64
    slope = (chance[0] - chance[-1]) / (q[0] - q[-1])
    assert np.allclose(chance - chance[0], slope * (q - q[0]), atol=1e-15)


def test_a_device_reports_at_its_level_and_refuses_one_that_leaks() -> None:
    m = made(k=4, levels="0.5,1,2", base="grr", level_epsilon=0.5)
    device = Device(m.design)
    words = [0, 0]  # both coins say: keep
    assert device.report(3, ReplayWords(words), level=1.0) == bytes([3, 1])
    assert device.report(3, ReplayWords(words)) == bytes([3, 0]), "the most protective level unless told otherwise"
    with pytest.raises(dn.ParameterError, match="level must be one of"):
        device.report(3, level=0.7)
    wrong = dict(m.design) | {"kernel": kernel_to(Kernel((m.kernel.data[1], *m.kernel.data[1:]), m.kernel.level))}
    with pytest.raises(PrivacyError, match=r"promises epsilon 0\.5"):
        Device(wrong)
    loud = dict(m.design) | {"kernel": kernel_to(Kernel(m.kernel.data, (Response.calibrate(2.0, 3),)))}
    with pytest.raises(PrivacyError, match=r"promises epsilon 0\.5"):
        Device(loud)


def test_a_level_that_breaks_its_own_promise_is_found_although_the_largest_level_keeps_it() -> None:
    good = made(k=4, levels="0.5,1,2", base="grr", level_epsilon=0.5)
    found = dn.audit(good)
    assert found.holds
    assert found.document()["guarantee"]["level"] == good.guarantee["level"]
    data, level = good.kernel.data, good.kernel.level
    for wrong in (Kernel((data[1], *data[1:]), level), Kernel(data, (Response.calibrate(0.6, 3),))):
        bad = made(k=4, levels="0.5,1,2", base="grr", level_epsilon=0.5)
        vars(bad)["bulk"] = replace(good.bulk, kernel=wrong)
        assert bad.kernel.hidden_ratio == good.kernel.hidden_ratio
        assert not dn.audit(bad).holds
        with pytest.raises(PrivacyError, match="no report was made"):
            bad.privatize([0, 1], levels=0.5)
