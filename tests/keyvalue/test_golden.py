"""Golden numbers of key-value mechanisms: parameters, exact epsilon, exact laws of estimates, padding, mixtures."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.core.laws import ratio_to, response, unary
from deniable.mechanisms.keyvalue.estimate import clipped_mean
from deniable.mechanisms.keyvalue.laws import SHAPES, Group, Signal, ratio_of, variances
from deniable.mechanisms.keyvalue.signed import OneSampledKey
from deniable_client.kernels.keyvalue import SignedUnary, signed_ratio

GOLDEN: dict[str, Any] = json.loads((Path(__file__).parents[1] / "golden" / "kskv.json").read_text())
NAMES = {
    "KS-UE": "ks-ue",
    "PCKV-UE": "pckv-ue",
    "OKV-UE(corner)": "corner",
    "OKV-UE(tau=0.5)": "between",
    "SOUE": "soue",
}
BUDGETS = [float(e) for e in GOLDEN["params"]]
CLOSE = 1e-10


def chances(mech: str, epsilon: float) -> tuple[Fraction, Fraction, Fraction]:
    if mech in NAMES:
        return SHAPES[NAMES[mech]](ratio_of(epsilon))
    raise KeyError(mech)


@pytest.mark.parametrize("epsilon", BUDGETS)
@pytest.mark.parametrize("mech", NAMES)
def test_three_way_answers(mech: str, epsilon: float) -> None:
    row = GOLDEN["params"][str(epsilon)][mech]
    s, r, a = chances(mech, epsilon)
    found = {"s": s, "r": r, "z": 1 - s - r, "a": a}
    for key, value in found.items():
        assert float(value) == pytest.approx(row[key], rel=CLOSE)
    low, mean = Signal.of(s, r, a).limits()
    assert low == pytest.approx(row["lowf_Varf_times_n"], rel=CLOSE)
    assert mean == pytest.approx(row["lowf_Varm0_times_nk2_over_n"], rel=CLOSE)
    assert math.log(signed_ratio(s, r, a)) == pytest.approx(row["exact_eps"], rel=CLOSE)


@pytest.mark.parametrize("epsilon", BUDGETS)
@pytest.mark.parametrize("mech", NAMES)
def test_what_is_sampled_is_near_the_ideal_and_never_above_it(mech: str, epsilon: float) -> None:
    kernel = SignedUnary.calibrate(epsilon, 5, SHAPES[NAMES[mech]])
    assert kernel.ratio <= ratio_of(epsilon)
    for sampled, ideal in zip(kernel.chances, chances(mech, epsilon), strict=True):
        assert float(sampled) == pytest.approx(float(ideal), rel=1e-15)


@pytest.mark.parametrize("epsilon", BUDGETS)
@pytest.mark.parametrize("length", [1, 2, 3])
def test_signed_response_with_padding(epsilon: float, length: int) -> None:
    row = GOLDEN["params"][str(epsilon)][f"PCKV-GRR(d=100,l={length})"]
    m = dn.mechanism("pckv-grr", epsilon=epsilon, k=100, length=length)
    signal = m.ideal()[0].signal
    p, q = (signal.held + signal.gain) / 2, (signal.held - signal.gain) / 2
    assert (float(p), float(q)) == (pytest.approx(row["P"], rel=CLOSE), pytest.approx(row["Q"], rel=CLOSE))
    assert m.total == row["D"]
    assert float(signal.held) == pytest.approx(row["a"], rel=CLOSE)


@pytest.mark.parametrize("epsilon", BUDGETS)
def test_second_phase_of_ks_grr_is_padding_with_one_dummy(epsilon: float) -> None:
    row = GOLDEN["params"][str(epsilon)]["KS-GRR(t=20)"]
    m = dn.mechanism("pckv-grr", epsilon=epsilon, k=40, length=1)
    signal = m.ideal()[0].signal
    assert m.total == row["D"]
    assert float((signal.held + signal.gain) / 2) == pytest.approx(row["P"], rel=CLOSE)
    assert float((signal.held - signal.gain) / 2) == pytest.approx(row["Q"], rel=CLOSE)


# ---- exact laws of the estimates


def count_law(s: float, r: float, a: float, n: int, groups: list[tuple[int, float]]) -> np.ndarray:
    """Joint law of (number of +1, number of -1) over the people, by convolution."""
    law = np.zeros((n + 1, n + 1))
    law[0, 0] = 1.0
    people = [(count, s * (1 + v) / 2 + r * (1 - v) / 2, s * (1 - v) / 2 + r * (1 + v) / 2) for count, v in groups]
    people.append((n - sum(count for count, _ in groups), a / 2, a / 2))
    done = 0
    for count, up, down in people:
        for _ in range(count):
            top = law[: done + 2, : done + 2]
            new = top * (1 - up - down)
            new[1:] += up * top[:-1]
            new[:, 1:] += down * top[:, :-1]
            law[: done + 2, : done + 2] = new
            done += 1
    return law


@pytest.mark.parametrize(
    "row", GOLDEN["moments"], ids=lambda row: f"{row['mech']}-{row['eps']}-f{row['f']:g}-m{row['m']:g}"
)
def test_exact_law_of_estimates(row: dict[str, Any]) -> None:
    s, r, a = (float(v) for v in chances(row["mech"], row["eps"]))
    n = row["n"]
    law = count_law(s, r, a, n, [tuple(g) for g in row["groups"]])
    plus, minus = np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij")
    f = ((plus + minus) / n - a) / (s + r - a)
    total = (plus - minus) / (n * (s - r))

    def moments(value: np.ndarray) -> tuple[float, float]:
        mean = float((law * value).sum())
        return mean, float((law * (value - mean) ** 2).sum())

    assert moments(plus)[0] == pytest.approx(row["E_n1"], rel=CLOSE)
    assert moments(minus)[0] == pytest.approx(row["E_nminus1"], rel=CLOSE)
    mean, variance = moments(f)
    assert mean == pytest.approx(row["f"], rel=CLOSE)
    assert variance == pytest.approx(row["Var_f"], rel=CLOSE)
    signal = Signal.of(*chances(row["mech"], row["eps"]))
    assert float(signal.frequency_variance(Fraction(row["f"]))) / n == pytest.approx(row["Var_f"], rel=CLOSE)
    mean, variance = moments(clipped_mean(f, total, n))
    assert mean == pytest.approx(row["E_m_clipped_exact"], rel=1e-9, abs=CLOSE)
    assert variance == pytest.approx(row["Var_m_clipped_exact"], rel=1e-9, abs=CLOSE)


@pytest.mark.parametrize("row", GOLDEN["grr"], ids=lambda row: f"t{row['t']}-{row['eps']}")
def test_exact_law_of_ks_grr(row: dict[str, Any]) -> None:
    n, f, m = row["n_group"], row["f"], row["m"]
    signal = Signal.of_signed(response(*ratio_to(ratio_of(row["eps"])), 2 * (2 * row["t"] + 1)))
    p, q = (signal.held + signal.gain) / 2, (signal.held - signal.gain) / 2
    assert (float(p), float(q)) == (pytest.approx(row["P"], rel=CLOSE), pytest.approx(row["Q"], rel=CLOSE))
    assert float(signal.frequency_variance(Fraction(f))) / n == pytest.approx(row["Var_f"], rel=CLOSE)
    law = count_law(float(p), float(q), float(signal.idle), n, [(round(n * f), m)])
    plus, minus = np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij")
    share = ((plus + minus) / n - float(signal.idle)) / float(signal.step)
    mean = clipped_mean(share, (plus - minus) / (n * float(signal.gain)), n)
    found = float((law * mean).sum())
    assert found == pytest.approx(row["E_m_clipped_exact"], rel=1e-9)
    assert float((law * (mean - found) ** 2).sum()) == pytest.approx(row["Var_m_clipped_exact"], rel=1e-9)
    shrunk = float((p - q) / (p + q))
    assert shrunk == pytest.approx(row["paper_p_plus_q_expectation_factor"], rel=CLOSE)


# ---- privacy by enumeration


@pytest.mark.parametrize("epsilon", BUDGETS)
@pytest.mark.parametrize("name", ["ks-ue", "pckv-ue"])
@pytest.mark.parametrize("length", [None, 2])
def test_enumerated_epsilon_of_three_way_answers(name: str, epsilon: float, length: int | None) -> None:
    mech = {v: k for k, v in NAMES.items()}[name]
    key = f"{mech} enum d=3" + (",l=2 padded" if length else "")
    m = dn.mechanism(name, epsilon=epsilon, k=3, length=length)
    found = m.channel().proof().epsilon
    assert found <= epsilon
    assert found == pytest.approx(GOLDEN["ldp"][str(epsilon)][key], rel=CLOSE)


@pytest.mark.parametrize("epsilon", BUDGETS)
@pytest.mark.parametrize("length", [1, 2, 3])
def test_enumerated_epsilon_of_padded_response(epsilon: float, length: int) -> None:
    m = dn.mechanism("pckv-grr", epsilon=epsilon, k=3, length=length)
    found = m.channel().proof()
    assert found.ratio == m.kernel.ratio <= ratio_of(epsilon)
    assert found.epsilon == pytest.approx(
        GOLDEN["ldp"][str(epsilon)][f"PCKV-GRR enum d=3,l={length} padded"], rel=CLOSE
    )


@pytest.mark.parametrize("epsilon", BUDGETS)
@pytest.mark.parametrize("length", [2, 3])
def test_one_dummy_for_an_amplified_kernel_leaks(epsilon: float, length: int) -> None:
    """What `Pairs` refuses to build: sets of pairs, one dummy key of which the whole padding falls."""
    d, e = 3, float(ratio_of(epsilon))
    raised = length * (e - 1) + 1
    keys = d + 1
    worst = 0.0
    rows = []
    for digits in product((0, 1, 2), repeat=d):
        held = [key + keys * (digit == 2) for key, digit in enumerate(digits) if digit]
        most = max(len(held), length)
        weight = np.zeros(2 * keys)
        weight[held] = 1 / most
        weight[[d, d + keys]] = (most - len(held)) / most / 2
        rows.append(1 + (raised - 1) * weight)
    table = np.array(rows)
    # every row is divided by a normaliser of the amplified kernel on 2(d+length) signed keys, the same for all
    worst = float(np.log(table.max(0) / table.min(0)).max())
    assert worst == pytest.approx(GOLDEN["ldp"][str(epsilon)][f"PCKV-GRR WRONG single dummy d=3,l={length}"], rel=1e-9)


@pytest.mark.parametrize("row", GOLDEN["privkv"], ids=lambda row: str(row["eps"]))
def test_privkv(row: dict[str, Any]) -> None:
    m = dn.mechanism("privkv", epsilon=row["eps"], k=3)
    assert isinstance(m, OneSampledKey)
    assert m.epsilon_exact == pytest.approx(row["exact_eps_uniform_mtilde"], rel=CLOSE)
    s, r, a = (float(v) for v in m.bulk.groups[0].kernel.chances)
    f, mean = 0.1, 0.8
    printed = (s - r) * f * mean / ((s + r) * f + a * (1 - f)) / (2 * s / (s + r) - 1)
    assert printed == pytest.approx(row["E_mean_estimate_f01_m08"], rel=CLOSE)


# ---- padding and mixtures


@pytest.mark.parametrize("row", GOLDEN["padding"], ids=lambda row: f"{row['mech']}-l{row['l']}")
def test_padding_by_enumerating_every_draw(row: dict[str, Any]) -> None:
    length, key, people = row["l"], row["key"], row["population"]
    s, r, a = (float(v) for v in chances(row["mech"], row["eps"]))
    drawn = [sum(1 / max(len(p), length) for k, _ in p if k == key) for p in people]
    values = [sum(v / max(len(p), length) for k, v in p if k == key) for p in people]
    n = len(people)
    assert length * sum(drawn) / n == pytest.approx(row["E_fhat"], rel=CLOSE)
    pi = np.array([a + (s + r - a) * c for c in drawn])
    variance = length**2 * float((pi * (1 - pi)).sum()) / (n * (s + r - a)) ** 2
    assert variance == pytest.approx(row["Var_fhat"], rel=CLOSE)
    assert sum(values) / sum(drawn) == pytest.approx(row["limit_mhat"], rel=CLOSE)


@pytest.mark.parametrize("length", [1, 2, 3, 5])
def test_padded_variance_is_that_of_the_drawn_keys(length: int) -> None:
    """`variances` against the sum over people, for people with one pair each."""
    s, r, a = SHAPES["ks-ue"](ratio_of(1.0))
    f = Fraction(1, 7)
    first, _ = variances((Group(Fraction(1), Signal.of(s, r, a), Fraction(1)),), f, length)
    pi = a + (s + r - a) / length
    exact = length**2 * (f * pi * (1 - pi) + (1 - f) * a * (1 - a)) / (s + r - a) ** 2
    assert first == exact


@pytest.mark.parametrize("epsilon", BUDGETS)
def test_mixture_constants(epsilon: float) -> None:
    e = ratio_of(epsilon)
    half = Fraction(1, 2)
    soue, oue = Signal.of(*SHAPES["soue"](e)), Signal.of_keys(unary(half, half, *ratio_to(e)))
    for row in GOLDEN["mixture"][str(epsilon)]:
        share = row["lambda"]
        told = share / float(oue.frequency_variance(Fraction(0)))
        told += (1 - share) / float(soue.frequency_variance(Fraction(0)))
        assert 1 / told == pytest.approx(row["F"], rel=CLOSE)
        assert float(soue.sum_variance(Fraction(0))) / (1 - share) == pytest.approx(row["M_mix"], rel=CLOSE)


@pytest.mark.parametrize("row", GOLDEN["privkv"], ids=lambda row: str(row["eps"]))
def test_privkv_with_a_guess_spends_everything(row: dict[str, float]) -> None:
    """By enumeration, for a guess at an end of the range."""
    m = OneSampledKey(epsilon=row["eps"], domain=dn.Domain.of(3), key_epsilon=row["eps1"], told=(0, 0, 0))
    ratio = m.channel().proof().ratio
    assert ratio is not None
    assert math.log(ratio) == pytest.approx(row["exact_eps_mtilde_minus1"], rel=CLOSE)
    assert ratio <= ratio_of(row["eps"])
