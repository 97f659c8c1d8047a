"""The conformance suite on mechanisms from outside: a right one passes, each kind of broken one is caught by name."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cached_property

import numpy as np
import pytest

from deniable.core.channel import Channel
from deniable.core.domain import Domain
from deniable.core.support import Support
from deniable.core.types import Columns, IntArray
from deniable.mechanisms.bulk import Cells
from deniable.mechanisms.frequency.grr import GRR, ResponseBulk
from deniable.mechanisms.frequency.subset import SubsetBulk, SubsetSelection
from deniable.randomness import Stream, bernoulli
from deniable.testing import CHECKS, check_sampler, conformance, reports_needed
from deniable_client.errors import ParameterError
from deniable_client.words import Words
from strangers import ALPHA, WORD, Coin, CoinBulk, CoinKernel, coin, failures, with_bulk


def test_a_right_mechanism_of_a_stranger_passes() -> None:
    outcomes = conformance(coin(), alpha=ALPHA)
    assert [name for name, _ in outcomes] == list(CHECKS)
    assert not [outcome for _, outcome in outcomes if outcome.startswith("does not apply")]


class SwappedBulk(CoinBulk):
    """p and q swapped in the bulk sampler."""

    def perturb(self, items: IntArray, rng: Stream) -> Columns:
        return super().perturb(1 - items, rng)


class Overclaimed(Coin):
    """Samples 5 % more epsilon than it promises, and says so in its integers."""

    excess = 1.05


class DishonestBulk(CoinBulk):
    """Samples 5 % more epsilon than its integers say."""

    def perturb(self, items: IntArray, rng: Stream) -> Columns:
        return replace(coin(), epsilon=1.05).bulk.perturb(items, rng)


class OneUnitOffBulk(CoinBulk):
    """States p one unit of 2^-64 wrong."""

    @property
    def support(self) -> Support[Fraction]:
        p = Fraction(self.kernel.keep + 1, WORD)
        return Support(p, 1 - p, 2 * p - 1, 1 - p, p, Fraction(0), Fraction(0))


class LeakyChannelBulk(CoinBulk):
    """The argument says one ratio, the channel has another."""

    def channel(self) -> Channel:
        return Channel(("no", "yes"), ((3, 1), (1, 3)), 4, (frozenset({0}), frozenset({1})))


class ChannelOfHalfBulk(CoinBulk):
    """Forgets an output."""

    def channel(self) -> Channel:
        return Channel(("no",), ((WORD, 1),), WORD, (frozenset({0}),))


class ForgetfulBulk(CoinBulk):
    """Counts one report too few in batches of more than one."""

    def count(self, columns: Columns) -> Cells:
        cells = super().count(columns)
        return {**cells, "n": np.maximum(cells["n"] - 1, np.minimum(cells["n"], 1))}


class WordyKernel(CoinKernel):
    """A longer report for yes than for no."""

    def randomise(self, x: int, words: Words) -> bytes:
        return super().randomise(x, words) * (1 + x)


class Wordy(Coin):
    """Its device's reports differ in length."""

    kernel_class = WordyKernel


class GenerousKernel(CoinKernel):
    """Takes the value 2 for yes."""

    def randomise(self, x: int, words: Words) -> bytes:
        return super().randomise(min(x, 1) if x == 2 else x, words)


class Generous(Coin):
    """Off by one at the end of the domain."""

    kernel_class = GenerousKernel


@pytest.mark.parametrize(
    ("broken", "check", "says"),
    [
        (with_bulk(SwappedBulk), "sampler", "do not follow the law"),
        (Overclaimed, "privacy", "epsilon 1.0 is promised, 1.05"),
        (with_bulk(OneUnitOffBulk), "closed_forms", "p is stated as"),
        (with_bulk(LeakyChannelBulk), "privacy", "enumeration finds the ratio 3, the proof says"),
        (with_bulk(ChannelOfHalfBulk), "rows", "ParameterError: the weights of value 1 sum to 1, not to the total"),
        (with_bulk(ForgetfulBulk), "merge", "is not the tally of all reports"),
        (Wordy, "reports", "have [1, 2] bytes"),
        (Generous, "reports", "a device takes the value 2"),
    ],
)
def test_a_broken_mechanism_is_caught_by_the_check_for_it(broken: type[Coin], check: str, says: str) -> None:
    found = failures(coin(broken))
    assert check in found, f"caught by {sorted(found)} only"
    assert says in found[check]


@pytest.mark.stat
def test_five_percent_more_than_the_integers_say_is_seen_when_asked_for() -> None:
    """Alpha 1e-6, and at most that chance to miss: n is computed for 5 %."""
    n = int(reports_needed(coin(), alpha=ALPHA, miss=ALPHA, excess=1.05))
    assert check_sampler(coin(), alpha=ALPHA, n=n, seed=5).startswith(f"{n} reports of each of 2 values follow")
    with pytest.raises(AssertionError, match=r"do not follow the law .* false alarm rate 1e-06"):
        check_sampler(coin(with_bulk(DishonestBulk)), alpha=ALPHA, n=n, seed=5)


class IncludesItself(ResponseBulk):
    """Lies about all k answers instead of the k-1 others: off by one in the range of the lie."""

    def perturb(self, items: IntArray, rng: Stream) -> Columns:
        kept = bernoulli(rng, self.kernel.keep, items.size)
        lie = (rng.draw(64, items.size) % np.uint64(self.k)).astype(np.int64)
        return {"value": np.where(kept, items, lie).astype(np.uint8)}


class NeverTheLast(ResponseBulk):
    """Never lies with the last answer."""

    def perturb(self, items: IntArray, rng: Stream) -> Columns:
        columns = super().perturb(items, rng)
        lied = (columns["value"] == self.k - 1) & (items != self.k - 1)
        return {"value": np.where(lied, 0, columns["value"]).astype(np.uint8)}


class BeyondTheDomain(ResponseBulk):
    """Lies with an answer that does not exist."""

    def perturb(self, items: IntArray, rng: Stream) -> Columns:
        return {"value": (super().perturb(items, rng)["value"] + 1).astype(np.uint8)}


@pytest.mark.parametrize("broken", [IncludesItself, NeverTheLast, BeyondTheDomain])
def test_off_by_one_in_the_domain_is_caught_by_the_sampler_check(broken: type[ResponseBulk]) -> None:
    class Broken(GRR):
        @cached_property
        def bulk(self) -> ResponseBulk:
            return broken(super().bulk.kernel)

    assert "sampler" in failures(Broken(epsilon=1.0, domain=Domain.of(5)))


class PredictableBulk(SubsetBulk):
    """Fills the set with the lowest items instead of random ones: right support of the own item, wrong law."""

    def perturb(self, items: IntArray, rng: Stream) -> Columns:
        columns = super().perturb(items, rng)
        own = (columns["bits"][:, 0] >> items.astype(np.uint8)) & 1
        fill = np.array([0b011, 0b101, 0b110], np.uint8)  # the two lowest items other than the own one
        return {"bits": np.where(own == 1, columns["bits"][:, 0], fill[2 - np.minimum(items, 2)])[:, None]}


class Predictable(SubsetSelection):
    """Subset selection with it."""

    @cached_property
    def bulk(self) -> SubsetBulk:
        return PredictableBulk(super().bulk.kernel)


def test_sets_that_are_not_uniform_are_caught() -> None:
    assert "sampler" in failures(Predictable(epsilon=1.0, domain=Domain.of(4), size=2))


def test_unknown_checks_and_rates_are_refused() -> None:
    with pytest.raises(ParameterError, match="checks must be among rows, privacy"):
        conformance(coin(), checks=["rows", "speed"])
    with pytest.raises(ParameterError, match="alpha must be between 0 and 1, got 0"):
        conformance(coin(), alpha=0)
