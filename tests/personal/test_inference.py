"""Guessing the level that a person chose."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

import deniable as dn
from deniable.mechanisms.personal.base import LevelMechanism

ALPHA = 1e-4
"""Chance that a right simulation fails a test here, over all of its cases together."""

SMALL: list[dict[str, Any]] = [
    {"base": base, "level_report": told, **more}
    for base in ("sue", "oue", "grr", "lh", "affine")
    for told in ("response", "bit", "none")
    for more in ({}, {"sensitive": 2}, {"sensitive": 2, "disclosure": "own"})
    if (base not in ("grr", "affine") or told != "none") and (told == "response" or "disclosure" not in more)
]


def made(k: int = 4, **own: Any) -> LevelMechanism:
    level = {} if own.get("level_report") == "none" else {"level_epsilon": 0.4}
    given: dict[str, Any] = {"levels": (0.5, 1.0, 2.5), "shares": (0.2, 0.5, 0.3), "g": None, **level, **own}
    if own.get("base") == "lh":
        given["g"] = 2
    else:
        del given["g"]
    m = dn.mechanism("pldp", k=k, **given)
    assert isinstance(m, LevelMechanism)
    return m


def exactly(m: LevelMechanism, item: int) -> float:
    """By the list of all reports: the largest of share times chance, level by level, added up."""
    channels = [m.bulk.channel_at(i) for i in range(len(m.levels))]
    outputs = [[row[item] / channel.total for row in channel.weights] for channel in channels]
    shares = m.shares or ()
    return sum(
        max(share * float(p) for share, p in zip(shares, column, strict=True)) for column in zip(*outputs, strict=True)
    )


@pytest.mark.parametrize("own", SMALL, ids=lambda own: "-".join(map(str, own.values())))
def test_the_closed_form_is_what_the_list_of_all_reports_says(own: dict[str, Any]) -> None:
    m = made(**own)
    expected = np.mean([exactly(m, item) for item in range(m.k)])
    found = m.guess_level()
    assert found.success == pytest.approx(expected, rel=1e-6)
    assert found.blind == 0.5
    assert found.blind - 1e-12 <= found.report <= found.success + 1e-9 <= found.bound + 1e-8


def test_a_prior_tells_how_many_hold_a_sensitive_value() -> None:
    m = made(base="sue", sensitive=2, disclosure="own")
    one, two = exactly(m, 0), exactly(m, 3)
    assert one != pytest.approx(two, rel=1e-3)
    assert m.guess_level([0.4, 0.3, 0.2, 0.1]).success == pytest.approx(0.7 * one + 0.3 * two, rel=1e-6)
    with pytest.raises(dn.ParameterError, match="prior must be left out for the guess of levels"):
        made(base="sue").guess_level([0.4, 0.3, 0.2, 0.1])


def test_known_values() -> None:
    """Ten levels from 0.1 to 1, level epsilon 0.3: from data and level report, and from the level report alone."""
    levels = tuple(i / 10 for i in range(1, 11))
    cases = (("sue", 12, 0.145), ("sue", 16, 0.149), ("sue", 42, 0.169), ("oue", 16, 0.178), ("oue", 42, 0.218))
    for base, k, success in (*cases, ("grr", 16, 0.133), ("lh", 16, 0.133)):
        m = dn.mechanism("pldp", levels=levels, level_epsilon=0.3, base=base, k=k)
        found = m.guess_level()  # type: ignore[attr-defined]
        assert found.success == pytest.approx(success, abs=1e-3)
        assert found.report == pytest.approx(0.1304, abs=5e-5)


def test_attacks_are_as_successful_as_expected() -> None:
    """By simulated reports; a guess that forgot the value, or the level report, would be off by more than this."""
    runs = [dn.attack(made(k=9, **own), target="level", reports=4000, seed=11) for own in SMALL if own["base"] != "oue"]
    edge = norm.isf(ALPHA / 2 / len(runs))
    for run in runs:
        assert run.measured is not None
        assert run.stderr is not None
        assert abs(run.measured - run.expected.success) < edge * run.stderr
    reported = dn.attack(made(k=9, base="sue"), target="level", reports=40_000, seed=12)
    told = reported.document()
    assert told["measured"] - 3 * edge / 4 * told["measured_stderr"] > told["level_report"], (
        "the data tell the level, too"
    )
    assert (told["target"], told["asr"]) == ("level", reported.expected.success)


def test_attacks_on_levels_are_refused_where_there_are_none() -> None:
    with pytest.raises(dn.ParameterError, match="target must be value for grr, which hides no level"):
        dn.attack(dn.mechanism("grr", epsilon=1.0, k=3), target="level")
    with pytest.raises(dn.ParameterError, match="target must be value where there is one level only"):
        dn.attack(dn.mechanism("pldp", levels=(1.0,), k=3), target="level")
    with pytest.raises(dn.ParameterError, match="target must be one of value, level, got 'budget'"):
        dn.attack(made(), target="budget")
