"""Checks that need no luck: the enumerated channel, the privacy it has, and the closed forms that follow from it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.core.channel import Channel
from deniable.core.promise.judge import within
from deniable.core.types import Target
from deniable.errors import EnumerationError
from deniable.mechanisms.base import Mechanism
from deniable.mechanisms.common import channels_of
from deniable.mechanisms.support import SupportMechanism
from deniable.randomness import simulation
from deniable.testing.moments import check_moments
from deniable_client.kernels import promised_ratio

if TYPE_CHECKING:
    from typing_extensions import TypeIs

__all__ = [
    "LARGE",
    "check_closed_forms",
    "check_estimator_reads_support",
    "check_exact_expectation",
    "check_privacy",
    "check_rows",
    "enumerated",
    "enumerated_pairs",
    "supports_items",
]

CLOSE = 1e-12
"""Floats computed in two ways may differ by this, relatively; ideal and sampled probabilities absolutely."""

LARGE = "does not apply: too many outputs to enumerate"
"""What a check finds where there is no channel to look at."""
_WORK = 1 << 20
"""Outputs times triples of a value and two items (or times inputs) that are gone through one by one."""


Table = list[list[list[Fraction]]]
"""Entry [x][i][j]: the probability, given value x, that the report supports both i and j (item i, if i = j)."""


def supports_items(m: Mechanism) -> TypeIs[SupportMechanism]:
    """Whether reports support items, all with the same probabilities: then the rest follows from these."""
    return isinstance(m, SupportMechanism)


def enumerated(m: Mechanism) -> Channel | None:
    """The channel output by output, or None where there are too many outputs."""
    try:
        return m.channel()
    except EnumerationError:
        return None


def enumerated_pairs(m: Mechanism) -> Channel | None:
    """The channel where all pairs of items can be gone through too, else None."""
    channel = enumerated(m)
    return channel if channel is not None and _work(m, channel) <= _WORK else None


def check_rows(m: Mechanism) -> str:
    """For every value the probabilities of all outputs sum to exactly 1, and outputs name only items of the domain."""
    channel = enumerated(m)
    if channel is None:
        return LARGE
    assert channel.k == m.bulk.inputs, f"the channel has {channel.k} values, the mechanism {m.bulk.inputs}"
    for x, column in enumerate(zip(*channel.weights, strict=True)):
        assert min(column) >= 0, f"a probability given value {x} is negative"
        total = Fraction(sum(column), channel.total)
        assert total == 1, f"the probabilities given value {x} sum to {total}, not 1"
    assert len(set(channel.outputs)) == len(channel.outputs), "two outputs have the same name"
    for output, items in zip(channel.outputs, channel.supported or (), strict=channel.supported is not None):
        most = max(m.k, m.bulk.inputs)  # pairs: signed keys
        assert all(0 <= i < most for i in items), f"output {output!r} supports {sorted(items)}, outside 0..{most - 1}"
    return f"{len(channel.outputs)} outputs sum to 1 for each of {m.bulk.inputs} values"


def check_privacy(m: Mechanism) -> str:
    """The exact worst ratio is at most a certified lower bound of e^epsilon; argument and enumeration agree."""
    ratio = m.proof.ratio
    assert ratio is not None, f"some report rules a value out: {m.proof.witness}"
    kept = within(ratio, m.epsilon)
    assert kept, f"epsilon {m.epsilon!r} is promised, {m.proof.epsilon!r} is exact; {m.proof.witness}"
    assert m.epsilon_exact <= m.epsilon, f"epsilon_exact {m.epsilon_exact!r} is above epsilon {m.epsilon!r}"
    sampled = promised_ratio(m.kernel)
    assert sampled == ratio, f"the kernel's ratio {sampled} is not the proof's {ratio}"
    channel = enumerated(m)
    if channel is None:
        return f"ratio {float(ratio)!r} by {m.proof.method}"
    found = channel.proof()
    assert found.ratio == ratio, f"enumeration finds the ratio {found.ratio}, the proof says {ratio}; {found.witness}"
    return f"ratio {float(ratio)!r} by {m.proof.method} and by enumeration"


def check_closed_forms(m: Mechanism) -> str:
    """Best guess, errors, and the moments of every part as stated are those of the enumerated channel.

    Of mechanisms whose reports support items, all of that in fractions, and of numbers the mean and variance of every
    value; parts by `deniable.testing.moments`.
    """
    if supports_items(m):
        _check_ideal(m)
    channel = enumerated(m)
    if channel is None or _work(m, channel) > _WORK:
        return LARGE
    _check_best_guess(m, channel)
    if supports_items(m):
        both = _expectations(channel)
        _check_support(m, both)
        for f in _populations(m.k):
            _check_moments(m, both, f)
    elif hasattr(m, "unbiased"):
        _check_numbers(m, channel)
    return f"best guess under {len(_priors(channel.k)) + 1} priors, {check_moments(m, channels_of(m))}"


def _work(m: Mechanism, channel: Channel) -> int:
    """Steps of what is gone through one by one: pairs of items for all that support them, else inputs."""
    return len(channel.outputs) * (m.k**3 if supports_items(m) else channel.k)


def _check_numbers(m: Any, channel: Channel) -> None:
    """The report of every value is unbiased with the stated variance, in fractions."""
    law = m.law_exact
    z = [law.unbiased(y) for y in range(len(channel.outputs))]
    noise = []
    for x in range(m.k):
        chances = [Fraction(row[x], channel.total) for row in channel.weights]
        mean = sum((p * v for p, v in zip(chances, z, strict=True)), Fraction(0))
        noise.append(sum((p * v * v for p, v in zip(chances, z, strict=True)), Fraction(0)) - mean * mean)
        assert mean == x, f"reports of value {x} are taken for {float(mean)!r} on average"
        assert noise[x] == law.noise(x), f"the variance of value {x} is {float(noise[x])!r}, not {law.noise(x)!r}"
    assert law.worst == max(noise), f"the largest variance is {float(max(noise))!r}, not {float(law.worst)!r}"
    assert law.average == sum(noise) / m.k, f"the mean variance is not {float(law.average)!r}"


def _check_ideal(m: SupportMechanism) -> None:
    for name in ("p", "q", "gap", "p_not", "q_not", "both_one", "both_none"):
        ideal, sampled = getattr(m.support, name), getattr(m.support_effective, name)
        assert abs(ideal - sampled) <= CLOSE, f"{name} is {ideal!r} ideally but {sampled!r} as sampled"
    least, most = 1 / m.k, 1 / (1 + (m.k - 1) * math.exp(-m.epsilon))
    guess = m.guess().success
    ok = least * (1 - CLOSE) <= guess <= most * (1 + CLOSE)
    assert ok, f"the best guess succeeds with {guess!r}, outside [1/k, e/(e+k-1)] = [{least!r}, {most!r}]"
    told = m.properties(7)
    _same("mse", told["mse"], m.mse(7))
    _same("mse_approx", told["mse_approx"], m.mse_approx(7))
    _same("asr", told["asr"], guess)


def _check_support(m: SupportMechanism, both: Table) -> None:
    s = m.bulk.support
    assert (s.gap, s.p_not, s.q_not) == (s.p - s.q, 1 - s.p, 1 - s.q), "gap, p_not and q_not do not fit p and q"
    alike = not m.bulk.uneven
    for x, i, j in product(range(m.k), repeat=3):
        name = ("p" if i == x else "q") if i == j else "both_one" if x in (i, j) else "both_none"
        if name == "both_none" and not alike:
            continue  # differs from pair to pair: the covariances show it
        stated, true = getattr(s, name), both[x][i][j]
        assert abs(stated - true) <= m.bulk.channel_error, (
            f"{name} is stated as {stated} ({float(stated)!r}); given value {x} the channel has {true} "
            f"({float(true)!r}) for items {i} and {j}"
        )


def _check_best_guess(m: Mechanism, channel: Channel) -> None:
    true, told = float(channel.asr()), m.effective()
    if "asr" in told:
        _same("the best guess from what is sampled", told["asr"], true)
    _same("the best guess", m.guess().success, true)
    for prior in _priors(channel.k):
        found, true = m.guess([float(v) for v in prior]), float(channel.asr(prior))
        _same(f"the best guess under the prior {[str(v) for v in prior]}", found.success, true)
        _same("the best guess without a report", found.blind, float(max(prior)))


def _expectations(channel: Channel) -> Table:
    """The table of a channel, in fractions."""
    assert channel.supported is not None, "the channel does not say which items its outputs support"
    k = channel.k
    sums = [[[0] * k for _ in range(k)] for _ in range(k)]
    for weights, items in zip(channel.weights, channel.supported, strict=True):
        for i in items:
            for j in items:
                for x in range(k):
                    sums[x][i][j] += weights[x]
    return [[[Fraction(s, channel.total) for s in row] for row in table] for table in sums]


def _populations(k: int) -> list[list[Fraction]]:
    """Two sets of frequencies: falling from item to item, and all at the first two items."""
    falling = [Fraction(2 * (k - i), k * (k + 1)) for i in range(k)]
    return [falling, [Fraction(3, 4), Fraction(1, 4), *[Fraction(0)] * (k - 2)]]


def _priors(k: int) -> list[list[Fraction]]:
    """Falling and rising frequencies, one value very likely, ties, and a value that never occurs."""
    falling, two = _populations(k)
    sure = [Fraction(9, 10), *[Fraction(1, 10 * (k - 1))] * (k - 1)]
    odd = [Fraction(i % 2, k // 2) for i in range(k)]
    return [falling, falling[::-1], two, sure, odd]


def _check_moments(m: SupportMechanism, both: Table, f: Sequence[Fraction]) -> None:
    """Var and Cov of one report's unbiased weights, summed over the reporters, against every stated entry."""
    k, s = m.k, m.bulk.support
    slack = 4 * m.bulk.channel_error / (s.gap * s.gap)
    share = [sum((f[x] * both[x][i][i] for x in range(k)), Fraction(0)) for i in range(k)]
    n = 11
    floats = np.array([float(v) for v in f])
    extra = m.bulk.extra_pairs(floats, m.support)
    targets: tuple[Target, ...] = ("reporters", "population")
    stated = {t: m.support_effective.covariance(floats, n, t, extra) for t in targets}
    diagonal = Fraction(0)
    for i in range(k):
        for j in range(k):
            joint = sum((f[x] * both[x][i][j] for x in range(k)), Fraction(0))
            given = joint - sum((f[x] * both[x][i][i] * both[x][j][j] for x in range(k)), Fraction(0))
            unit = n * s.gap * s.gap
            true: dict[Target, Fraction] = {
                "reporters": given / unit,
                "population": (joint - share[i] * share[j]) / unit,
            }
            for target, value in true.items():
                _near(f"{target}' covariance of items {i} and {j}", stated[target][i, j], value, unit)
            if i == j:
                exact = s.variance(f[i], n)
                assert abs(exact - true["reporters"]) <= slack, (
                    f"variance of item {i}: {exact}, not {true['reporters']}"
                )
                diagonal += true["reporters"]
    assert abs(s.mse(k, n) - diagonal / k) <= slack, f"mse is stated as {s.mse(k, n)}, the channel has {diagonal / k}"
    if 0 in f:
        i = f.index(Fraction(0))
        assert abs(s.mse_approx(n) - s.variance(f[i], n)) <= slack, "mse_approx is not the variance of an unused item"


def _near(what: str, stated: float, true: Fraction, unit: Fraction) -> None:
    """Floats against fractions: `CLOSE` of the value, or of the largest that a covariance can be."""
    slack = CLOSE * max(abs(float(true)), float(1 / (4 * unit)))
    assert abs(stated - float(true)) <= slack, f"{what} is stated as {stated!r}, the channel has {float(true)!r}"


def _same(what: str, one: float, two: float) -> None:
    assert math.isclose(one, two, rel_tol=CLOSE, abs_tol=0.0), f"{what} is {one!r} in one place and {two!r} in another"


def check_exact_expectation(m: SupportMechanism, channel: Channel) -> None:
    """The expected estimate from one report of value x is 1 for x and 0 for the others, in fractions."""
    both, s = _expectations(channel), m.bulk.support
    for x in range(m.k):
        for i in range(m.k):
            mean = s.unbias(both[x][i][i])
            off = abs(mean - (1 if i == x else 0))
            assert off <= m.bulk.channel_error / s.gap, f"the expected estimate of item {i} given value {x} is {mean}"


def check_estimator_reads_support(m: SupportMechanism, *, n: int = 40, seed: int = 4) -> None:
    """`estimate` of a tally of one report is the unbiased weight of the items that the report supports."""
    reports = m.privatize_items(np.arange(n) % m.k, simulation(seed))
    held = np.unpackbits(m.bulk.supported(reports.columns), axis=1, count=m.k, bitorder="little")
    yes, no = (float(m.bulk.support.unbias(Fraction(hit))) for hit in (1, 0))
    for i in range(n):
        value = m.estimate(m.tally(reports[i : i + 1])).value
        true = np.where(held[i] == 1, yes, no)
        assert np.allclose(value, true, rtol=CLOSE, atol=0), f"a report that supports {held[i]} is estimated as {value}"
