"""The statement of protection against the enumerated channel; nothing is taken from the proof."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from deniable.core.channel import Channel
from deniable.core.promise.judge import Pair, breach, enumerated
from deniable.core.protection import Protection
from deniable.mechanisms.base import Mechanism
from deniable.mechanisms.common import channels_of
from deniable.testing.exact import LARGE
from deniable.testing.exact import enumerated as listed
from deniable_client.exact import exp_bounds

__all__ = ["check_claims", "check_protection"]


def check_protection(m: Mechanism) -> str:
    """The promise and the chance of a disclosure hold for the channel, and the text is about that promise."""
    told = m.protection
    if listed(m) is None:
        return LARGE
    right = (m.epsilon, m.promise.closed.epsilon)  # as given, or what follows from all budgets
    assert told.epsilon in right, f"the statement says epsilon {told.epsilon!r}, the mechanism {m.epsilon!r}"
    assert told.promise == m.promise, f"the statement is about {told.promise!r}, the mechanism has {m.promise!r}"
    check_claims(told, channels_of(m), m.bulk.channel_error)
    return f"{told.kind}: {told.text}"


def check_claims(told: Protection, channels: Sequence[Channel], slack: Fraction = Fraction(0)) -> None:
    """The claims about a channel, or about one for each level; a chance may be off by `slack`."""
    pairs = enumerated(told.promise, channels)
    found = breach(pairs)
    assert found is None, _broken(found)
    worst = max(_disclosed(told, channel) for channel in channels)
    assert abs(worst - told.disclosed) <= slack or (worst <= told.disclosed and told.steps), (
        f"the statement says that answers are disclosed with a chance of up to {float(told.disclosed)!r}, "
        f"the channel has {float(worst)!r}"
    )
    if len(told.levels) > 1:
        for claim, what in ((told.level, "the level"), (told.pair, "answer and level")):
            most = [pair.ratio or 0 for pair in pairs if pair.budget <= claim]
            tight = exp_bounds(max(claim - 1e-9, 0.0))[0] <= max(most)
            assert tight, f"about {what} reports tell less than e^{claim!r}"


def _broken(found: Pair) -> str:
    if found.ratio is None:
        return (
            f"{found.output!r} rules answers out: it can come from {found.likely}, not from {found.unlikely}, and is "
            "no disclosure of a harmless answer alone"
        )
    return (
        f"{found.output!r} is more than e^{found.budget:g} times as likely for {found.likely} as for {found.unlikely}"
    )


def _disclosed(told: Protection, channel: Channel) -> Fraction:
    """The largest chance that an answer is disclosed: by outputs that it alone leads to, and without any limit."""
    chances = [Fraction(0)] * channel.k
    for row in channel.weights:
        senders = [x for x, weight in enumerate(row) if weight]
        if len(senders) == 1 and told.promise.is_harmless(senders[0]):
            chances[senders[0]] += Fraction(row[senders[0]], channel.total)
    return max(chances)
