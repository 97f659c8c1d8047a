"""The statement of protection, claim by claim, against the enumerated channel; nothing is taken from the proof."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations

from deniable.core.channel import Channel
from deniable.core.protection import Protection
from deniable.mechanisms.base import Mechanism
from deniable.testing.exact import LARGE, enumerated
from deniable_client.exact import exp_bounds

__all__ = ["check_claims", "check_protection"]


def check_protection(m: Mechanism) -> str:
    """All claims of `m.protection` hold for the channel, and its text says every one of them."""
    told, budgets = m.protection, m.protection.levels or (m.epsilon,)
    found = enumerated(m)
    if found is None:
        return LARGE
    at = getattr(m.bulk, "channel_at", None)
    channels = [found] if at is None else [at(i) for i in range(len(budgets))]
    assert told.epsilon == m.epsilon, f"the statement says epsilon {told.epsilon!r}, the mechanism {m.epsilon!r}"
    check_claims(told, channels, m.bulk.channel_error)
    return f"{told.kind}: {told.text}"


def check_claims(told: Protection, channels: Sequence[Channel], slack: Fraction = Fraction(0)) -> None:
    """The claims about a channel, or about one for each level; a chance may be off by `slack`."""
    budgets = told.levels or (told.epsilon,)
    assert len(channels) == len(budgets), f"{len(budgets)} levels are told, there are {len(channels)} channels"
    k, own = channels[0].k, set(told.items)
    assert own <= set(range(k)), "the statement calls answers sensitive that do not exist"
    worst = Fraction(0)
    for channel, budget in zip(channels, budgets, strict=True):
        disclosing = {o for o in range(len(channel.outputs)) if _discloses(told, channel, o, own)}
        _check_ratios(told, channel, budget, disclosing)
        for x in set(range(k)) - own:
            chance = Fraction(sum(channel.weights[o][x] for o in disclosing), channel.total)
            worst = max(worst, chance)
    assert abs(worst - told.disclosed) <= slack or (worst <= told.disclosed and told.steps), (
        f"the statement says that answers are disclosed with a chance of up to {float(told.disclosed)!r}, "
        f"the channel has {float(worst)!r}"
    )
    if told.levels:
        _check_levels(told, channels, own)


def _discloses(told: Protection, channel: Channel, o: int, own: set[int]) -> bool:
    """Whether an output shows its sender's answer: exactly one harmless answer must lead to it, and it be told."""
    senders = [x for x, weight in enumerate(channel.weights[o]) if weight]
    if len(senders) in (0, channel.k) and not (told.sensitive == () and senders):
        return False
    assert told.sensitive is not None, f"nothing is told of disclosures, but {channel.outputs[o]!r} rules answers out"
    alone = len(senders) == 1 and senders[0] not in own
    assert alone, f"{channel.outputs[o]!r} can come from the answers {senders}: no disclosure of a harmless one alone"
    return True


def _check_ratios(told: Protection, channel: Channel, budget: float, disclosing: set[int]) -> None:
    """Every other output, and every two inputs: at most the certified lower bound of e^budget."""
    of = dict(zip(told.items, told.budgets, strict=bool(told.budgets)))
    alike = {b: exp_bounds(b)[0] for b in {budget, *told.budgets}}
    for o, row in enumerate(channel.weights):
        if o in disclosing or not max(row):
            continue
        if not of:
            assert max(row) <= alike[budget] * min(row), _broken(channel, o, budget)
            continue
        for x, y in permutations(range(channel.k), 2):
            b = min(of.get(x, budget), of.get(y, budget))
            assert row[x] <= alike[b] * row[y], _broken(channel, o, b)


def _broken(channel: Channel, o: int, budget: float) -> str:
    return f"{channel.outputs[o]!r} is more than e^{budget:g} times as likely for one answer as for another"


def _check_levels(told: Protection, channels: Sequence[Channel], own: set[int]) -> None:
    """What reports tell about levels: of the same answer over all outputs, and of both over those that hide it."""
    laws = [
        {name: [Fraction(w, c.total) for w in row] for name, row in zip(c.outputs, c.weights, strict=True)}
        for c in channels
    ]
    level, pair = Fraction(1), Fraction(1)
    for one, two in permutations(laws, 2):
        assert one.keys() == two.keys(), "reports of different levels look different"
        for name, row in one.items():
            other = two[name]
            hidden = all(row)
            level = max([level, *(a / b for a, b in zip(row, other, strict=True) if a)])
            pair = max(pair, max(row) / min(other)) if hidden else pair
    pair = max([pair, *(max(row) / min(row) for law in laws for row in law.values() if all(row))])
    for claim, true, what in ((told.level, level, "the level"), (told.pair, pair, "answer and level")):
        assert true <= exp_bounds(claim)[1], f"about {what} reports tell {float(true)!r}, more than e^{claim!r}"
        assert exp_bounds(max(claim - 1e-9, 0.0))[0] <= true, f"about {what} reports tell less than e^{claim!r}"
