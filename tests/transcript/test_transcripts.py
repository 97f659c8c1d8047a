"""What is sent, when, and what is not, tells no more than what is in it (docs/protocol.md, section 0), enumerated."""

from __future__ import annotations

import base64
import math
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from deniable_client.ledger.http import Reply
from tiers import every
from transcript.harness import KEEP, SAYS, Coins, Device, Real, Seen, Setting, Transcript, law, ratio, schedule

WORST = Fraction(KEEP, (1 << 64) - KEEP)
"""The ratio of one report."""
ACCEPT, SILENCE = Reply(200, {}, b"accept"), Reply(0, {}, b"", "no answer")


def accepts(peer: str, request: int, before: int) -> Reply:
    """All is well."""
    return ACCEPT


def refuses(peer: str, request: int, before: int) -> Reply:
    """Nothing is counted."""
    return Reply(410, {}, b"")


def hangs(peer: str, request: int, before: int) -> Reply:
    """Nobody answers, ever."""
    return SILENCE


def repeats(peer: str, request: int, before: int) -> Reply:
    """The first three attempts are lost, whatever became of them."""
    return ACCEPT if before >= 3 else SILENCE


def puts_off(peer: str, request: int, before: int) -> Reply:
    """Every report is put off for a day once."""
    return ACCEPT if before else Reply(429, {"retry-after": "86400"}, b"")


def talks_nonsense(peer: str, request: int, before: int) -> Reply:
    """Every second answer means nothing."""
    return ACCEPT if request % 2 else Reply(200, {}, b'{"results": 7}')


def other_hangs(peer: str, request: int, before: int) -> Reply:
    """B never answers, A does."""
    return ACCEPT if peer == "A" else SILENCE


SERVERS = (accepts, refuses, hangs, repeats, puts_off, talks_nonsense)


def silences(seen: Transcript) -> Any:
    """A transcript without the bytes: when, to whom, which report, how long."""
    return [(*event[:4], len(base64.b64decode(event[4])), event[5]) for event in seen]


def check(setting: Setting, kinds: tuple[str, ...], *, make: type[Device] = Real) -> Fraction | float:
    """The largest ratio between any two histories; and all else is the same for all of them."""
    slots = setting.slots()
    histories = [dict(zip(slots, says, strict=True)) for says in product(kinds, repeat=len(slots))]
    laws = [law(make, setting, history) for history in histories]
    assert all(sum(each.values()) == 1 for each in laws)
    if make is Real:
        public = {repr(silences(seen)) for each in laws for seen in each}
        assert len(public) == 1, "what is sent when depends on the answers"
    return max(ratio(one, two) for one in laws for two in laws)


def opened(setting: Setting) -> int:
    """Reports that are sent to somebody."""
    history = dict.fromkeys(setting.slots(), "none")
    return len({event[3] for event in schedule(Real, setting, history, dict.fromkeys(setting.slots(), True))})


@pytest.mark.parametrize("server", SERVERS, ids=lambda server: server.__name__)
def test_one_window_tells_what_its_report_tells(server: Any) -> None:
    """All that a person may say or not, in time, late, or changed: the ratio is that of the design, and attained."""
    assert check(Setting(1, server, days=2), tuple(SAYS)) == WORST <= 2


@pytest.mark.parametrize("server", [accepts, repeats], ids=lambda server: server.__name__)
def test_two_windows_tell_what_two_reports_tell(server: Any) -> None:
    setting = Setting(2, server, days=3)
    assert opened(setting) == 2
    assert check(setting, ("1", "outside", "none")) == WORST**2


@pytest.mark.slow
@pytest.mark.turns(4)
@pytest.mark.parametrize(
    ("server", "moment"),
    [(accepts, Fraction(0)), *((server, Fraction(9, 10)) for server in SERVERS)],
    ids=lambda given: str(getattr(given, "__name__", given)),
)
def test_three_windows_tell_what_three_reports_tell(server: Any, moment: Fraction) -> None:
    setting = Setting(3, server, moment=moment, days=5)
    assert opened(setting) == 3
    assert check(setting, ("0", "1", "outside", "none")) == WORST**3


@pytest.mark.slow
@pytest.mark.turns(3)
@pytest.mark.parametrize("server", SERVERS, ids=lambda server: server.__name__)
def test_two_windows_and_all_that_a_person_may_do(server: Any) -> None:
    assert check(Setting(2, server, days=4), tuple(SAYS)) == WORST**2


@pytest.mark.parametrize("server", every(2, [other_hangs, accepts], name=lambda server: server.__name__))
def test_another_collector_in_between_changes_nothing(server: Any) -> None:
    """Together they learn what two reports tell; what A sees has the same law whether or not B asks, or hangs."""
    both = Setting(1, server, other=True, days=2)
    assert check(both, ("0", "1", "outside")) == WORST**2
    alone = Setting(1, accepts, days=2)
    for says in ("0", "1", "outside"):
        expected = law(Real, alone, {("A", 0): says})
        for elsewhere in ("0", "1", "none"):
            found: dict[Transcript, Fraction] = {}
            for seen, chance in law(Real, both, {("A", 0): says, ("B", 0): elsewhere}).items():
                own = tuple((*event[:3], 0, *event[4:]) for event in seen if event[1] == "A")
                found[own] = found.get(own, Fraction(0)) + chance
            assert found == expected


# ---- devices of before: the same test fails for them


class Silent(Device):
    """Version 1: a value outside of the domain is refused, so that nothing is sent."""

    def __init__(self, setting: Setting, seen: Seen, coins: Coins) -> None:
        super().__init__(setting, seen, coins)
        self.waits: list[tuple[str, int, int]] = []

    def answer(self, name: str, window: int, value: object) -> None:
        if value in (0, 1):
            kept = self.coins[name, window]
            self.waits.append((name, window, int(value == 1) ^ (not kept)))

    def tick(self) -> None:
        for name, window, report in self.waits:
            body = base64.b64encode(bytes([report])).decode()
            self.seen.post(
                f"https://{name.lower()}.example/v1/tasks/x/reports",
                b'{"reports":[{"id":"%s%d","report":"%s"}]}' % (name.encode(), window, body.encode()),
                1,
            )
        self.waits.clear()


class Shared(Silent):
    """Version 1: one budget for a subject, whoever asks; who spent it on B is silent at A."""

    def answer(self, name: str, window: int, value: object) -> None:
        if not self.waits and not self.seen.events:
            super().answer(name, window, value)


class Redrawn(Silent):
    """Every attempt is a new draw: the collector that never answers sees many reports of one answer."""

    def tick(self) -> None:
        waits = list(self.waits)
        super().tick()
        self.waits = [(name, window, 1 - report) for name, window, report in waits]


def test_silence_for_values_outside_is_found_out() -> None:
    setting = Setting(1, accepts, days=2)
    assert check(setting, ("0", "1"), make=Silent) == WORST
    assert check(setting, ("0", "1", "outside"), make=Silent) == math.inf
    assert check(setting, ("0", "none"), make=Silent) == math.inf


def test_a_budget_that_collectors_share_is_found_out() -> None:
    setting = Setting(1, accepts, other=True, days=2)
    assert check(setting, ("0", "1"), make=Silent) == WORST**2
    assert check(setting, ("0", "none"), make=Shared) == math.inf
    silent = law(Shared, setting, {("A", 0): "none", ("B", 0): "1"})
    spent = law(Shared, setting, {("A", 0): "0", ("B", 0): "1"})
    assert not {event[1] for seen in spent for event in seen} >= {"B"}
    assert {event[1] for seen in silent for event in seen} == {"B"}


def test_coins_that_are_not_the_ledgers_are_found_out() -> None:
    """A ledger that draws anew for each attempt, or that forgets to draw, has other laws: the harness sees them."""
    setting = Setting(1, accepts, days=2)
    found = law(Redrawn, setting, {("A", 0): "1"})
    assert all(len(seen) > 1 and len({event[4] for event in seen}) == 2 for seen in found)
