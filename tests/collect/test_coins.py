"""Coins that the collector deals: they are used, the report stays private, and seed search by fake users ends."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest

import deniable as dn
from deniable.collect.coins import refuse_undealt
from deniable.errors import FormatError
from deniable.kernels.hashing import bucket
from deniable.kernels.permutation import permute
from deniable.testing import StreamWords
from deniable_client import Device

WITH_SEED = ("blh", "olh", "alh", "plh", "wheel")


@pytest.mark.parametrize("name", WITH_SEED)
def test_reports_carry_the_dealt_coins(name: str) -> None:
    m = dn.mechanism(name, k=20, epsilon=1.0)
    coins = dn.simulation(3).draw(64, 50)
    reports = m.privatize(np.arange(50) % 20, coins=coins, rng=dn.simulation(1))
    assert (reports.columns["seed"] == coins).all()
    refuse_undealt(reports, coins)
    assert m.estimate(m.tally(reports)).n == 50


@pytest.mark.parametrize("name", WITH_SEED)
def test_many_blocks_keep_the_order_of_the_coins(name: str) -> None:
    m = dn.mechanism(name, k=20, epsilon=1.0)
    n = m.bulk.block + 17
    coins = np.arange(n, dtype=np.uint64)
    assert (m.privatize(np.zeros(n, np.int64), coins=coins).columns["seed"] == coins).all()


@pytest.mark.parametrize("name", WITH_SEED)
def test_dealing_the_coins_that_would_have_been_drawn_changes_nothing(name: str) -> None:
    m, items = dn.mechanism(name, k=20, epsilon=1.0), np.arange(40) % 20
    drawn = m.privatize(items, rng=dn.simulation(5))
    stream = dn.simulation(5)
    stream.draw(64, 40)  # the words that the coins came from
    dealt = m.privatize(items, coins=drawn.columns["seed"], rng=stream)
    assert all((dealt.columns[c] == drawn.columns[c]).all() for c in drawn.columns)


def test_unions_of_affine_are_dealt_and_carried() -> None:
    m: Any = dn.mechanism("affine", k=100, epsilon=1.0)
    n = m.bulk.block + 17
    coins = dn.simulation(3).draw(32, n) % m.m
    reports = m.privatize(np.arange(n) % 100, coins=coins, rng=dn.simulation(1))
    assert (reports.columns["value"] // m.q == coins).all()
    refuse_undealt(reports, coins)
    with pytest.raises(FormatError, match=r"report 0 carries another coin than the one dealt \(1 of"):
        refuse_undealt(reports, np.r_[(coins[0] + 1) % m.m, coins[1:]])
    with pytest.raises(dn.ParameterError, match=f"coins must be 2 whole numbers from 0 to {m.m - 1}.*got {m.m}"):
        m.privatize([1, 2], coins=[0, m.m])


def test_unions_of_affine_must_be_dealt_at_random() -> None:
    """Over all unions others are supported with one chance, exactly; given a union they are not."""
    m: Any = dn.mechanism("affine", k=11, epsilon=1.0, q=13, m=4, j=1, zero=0)
    member = np.unpackbits(m.bulk.supported({"value": np.arange(m.order)}), axis=1, count=11, bitorder="little")
    law, (own, rest) = m.support_effective, (m.points, m.q - m.points)
    chance = np.where(member, law.p / own, law.p_not / rest).T.reshape(11, m.m, m.q)  # of each shift, given the union
    held = np.einsum("xib,ibz->ixz", chance, member.reshape(m.m, m.q, 11).astype(float))
    assert np.allclose(chance.sum(axis=2), 1, atol=1e-12)
    assert np.allclose(held[:, range(11), range(11)], law.p, atol=1e-12), "the own answer, given any union"
    others = held[:, ~np.eye(11, dtype=bool)]
    assert np.allclose(others.mean(axis=0), law.q, atol=1e-12)
    assert np.ptp(others) > 0.05


@pytest.mark.stat
def test_given_the_union_the_own_answer_is_held_as_often_as_promised() -> None:
    """20,000 people of one value; alpha 1e-6, against twice as small a chance to lie."""
    m: Any = dn.mechanism("affine", k=11, epsilon=1.0, q=13, m=4, j=1, zero=0)
    for coin in range(m.m):
        reports = m.privatize(np.full(20_000, 3), coins=np.full(20_000, coin), rng=dn.simulation(8 + coin))
        held = int((m.bulk.supported(reports.columns)[:, 0] >> 3 & 1).sum())
        assert binomtest(held, 20_000, m.support_effective.p).pvalue > 1e-6
        assert binomtest(held, 20_000, 1 - m.support_effective.p_not / 2).pvalue < 1e-6


@pytest.mark.stat
@pytest.mark.parametrize("name", ["olh", "plh"])
def test_given_the_coin_the_report_is_randomised_response(name: str) -> None:
    """One coin for 20,000 people of one value: the own bucket comes with probability p. Alpha 1e-6; bulk and device."""
    m: Any = dn.mechanism(name, k=12, epsilon=1.0)
    coin, n = 12345678901234567890, 20_000
    seeds = np.full(1, coin, np.uint64)
    own = (
        int(bucket(seeds, np.array([3]), m.g)[0])
        if name == "olh"
        else int(permute(seeds, np.array([3]), 12)[0]) * m.g // 12
    )
    bulk = m.privatize(np.full(n, 3), coins=np.full(n, coin, np.uint64), rng=dn.simulation(8)).columns["value"]
    device, words = Device(m.design), StreamWords(dn.simulation(9))
    rows = [device.report(3, words, coin=coin) for _ in range(n // 10)]
    assert {row[:8] for row in rows} == {coin.to_bytes(8, "little")}
    alone = dn.Reports.from_rows(m.design, m.fields, rows, simulated=True).columns["value"]
    for values in (bulk, alone):
        assert binomtest(int((values == own).sum()), values.size, m.support_effective.p).pvalue > 1e-6
        assert binomtest(int((values == own).sum()), values.size, 1 / m.g).pvalue < 1e-6


def test_other_coins_than_the_dealt_ones_are_refused() -> None:
    m = dn.mechanism("olh", k=20, epsilon=1.0)
    coins = np.arange(10, dtype=np.uint64)
    reports = m.privatize(np.zeros(10, np.int64), coins=coins)
    with pytest.raises(FormatError, match=r"report 4 carries another coin than the one dealt \(1 of 10 do\)"):
        refuse_undealt(reports, np.where(coins == 4, 99, coins))
    plain = dn.mechanism("oue", k=20, epsilon=1.0)
    with pytest.raises(FormatError, match="no public seed"):
        refuse_undealt(plain.privatize([1]), [1])


@pytest.mark.parametrize("coins", [[1], [1, 2, -3], [1.5, 2, 3], ["a", "b", "c"], [1, 2, 1 << 64], [[1, 2], 3]])
def test_what_are_no_coins_is_refused(coins: object) -> None:
    with pytest.raises(dn.ParameterError, match="coins must be 3 whole numbers"):
        dn.mechanism("olh", k=20, epsilon=1.0).privatize([1, 2, 3], coins=coins)


def test_mechanisms_without_a_seed_take_no_coins() -> None:
    with pytest.raises(dn.ParameterError, match="coins must be left out: a unary kernel"):
        dn.mechanism("oue", k=20, epsilon=1.0).privatize([1, 2, 3], coins=[1, 2, 3])
    with pytest.raises(dn.ParameterError, match="coin must be left out: a unary kernel has no public seed"):
        Device(dn.mechanism("oue", k=20, epsilon=1.0).design).report(1, coin=4)
    for bad in (-1, 1 << 64, 0.5):
        with pytest.raises(dn.ParameterError, match="coin must be an integer"):
            Device(dn.mechanism("olh", k=20, epsilon=1.0).design).report(1, coin=bad)  # type: ignore[arg-type]


# ---- poisoning


def poisoning_gain(m: Any, hits: float, targets: int) -> float:
    """Rise of the targets' summed estimates per share of fake users, each of whose reports supports `hits` of them."""
    return float((hits - targets * m.support.q) / m.support.gap)


def most_hits(m: Any, targets: int, seed: int) -> float:
    """Targets that the best bucket of a coin holds: the mean over 20,000 coins, which the fakes cannot choose."""
    n = 20_000
    coins = np.repeat(dn.simulation(seed).draw(64, n).astype(np.uint64), targets)
    items = np.tile(np.arange(targets), n)
    own = bucket(coins, items, m.g) if m.family == "lh" else permute(coins, items, m.k) * m.g // m.k
    counts = np.bincount(own + m.g * np.repeat(np.arange(n), targets), minlength=n * m.g).reshape(n, m.g)
    return float(counts.max(axis=1).mean())


@pytest.mark.parametrize(("name", "free", "dealt", "most"), [("olh", 20.4, 3.0, 10), ("plh", 3.6, 2.4, 2)])
def test_dealt_coins_end_the_search_for_a_colliding_seed(name: str, free: float, dealt: float, most: int) -> None:
    """k = 100, epsilon 4, 10 targets: gain per share of fakes, with a chosen seed and with a dealt one."""
    m = dn.mechanism(name, k=100, epsilon=4.0)
    assert poisoning_gain(m, most, 10) == pytest.approx(free, abs=0.05)
    assert poisoning_gain(m, most_hits(m, 10, 1), 10) == pytest.approx(dealt, abs=0.05)


def test_fakes_with_dealt_coins_gain_what_is_predicted() -> None:
    """The whole way: 5 % fakes send their best bucket for dealt coins; it passes, and the estimate shows it."""
    m: Any = dn.mechanism("olh", k=100, epsilon=4.0)
    n, fakes, targets = 20_000, 1000, 10
    coins = dn.simulation(2).draw(64, n).astype(np.uint64)
    reports = m.privatize(np.arange(n) % 90 + 10, coins=coins, rng=dn.simulation(3))
    buckets = bucket(np.repeat(coins[:fakes], targets), np.tile(np.arange(targets), fakes), m.g).reshape(fakes, targets)
    values = reports.columns["value"].copy()
    for i, row in enumerate(buckets):
        values[i] = np.bincount(row).argmax()
    forged = dn.Reports(reports.design, reports.fields, {"seed": coins, "value": values})
    refuse_undealt(forged, coins)
    rise = m.estimate(m.tally(forged)).value[:targets].sum()
    error = np.sqrt(m.covariance(np.full(100, 0.01), n)[:targets, :targets].sum())
    assert rise == pytest.approx(0.05 * poisoning_gain(m, most_hits(m, targets, 1), targets), abs=5 * error)
    assert rise < 0.05 * 20.4 / 2
