"""Nobody counts twice in memory: the same reports are noticed, others never are, and bytes do not tell."""

from __future__ import annotations

import copy
import pickle

import pytest

import deniable as dn
from deniable.collect.reports import BATCHES, Reports, new_id

M = dn.mechanism("grr", epsilon=1.0, labels=["no", "yes"])
VALUES = ["no", "yes"] * 20


def made(seed: int | None = None) -> Reports:
    return M.privatize(VALUES, rng=None if seed is None else dn.simulation(seed))


@pytest.mark.parametrize("seed", [None, 7])
def test_the_same_reports_do_not_add_up(seed: int | None) -> None:
    reports, other = made(seed), made(8)
    for again in (reports, copy.copy(reports), copy.deepcopy(reports), pickle.loads(pickle.dumps(reports))):
        with pytest.raises(dn.MergeError, match=r"same reports would be counted twice.*leave one.*cell run twice"):
            _ = M.tally(reports) + M.tally(again)
        with pytest.raises(dn.MergeError, match="counted twice"):
            _ = reports + again
    both = M.tally(reports + other)
    for part in (reports, other):
        with pytest.raises(dn.MergeError, match="counted twice"):
            _ = both + M.tally(part)
    with pytest.raises(dn.MergeError, match="counted twice"):
        _ = sum([M.tally(other), M.tally(reports), M.tally(other)])
    with pytest.raises(dn.MergeError, match="counted twice"):
        _ = both + both


def test_other_reports_add_up_though_they_are_equal() -> None:
    """A seed gives the same reports again, but to other people."""
    one, two = made(1), made(1)
    assert one == two
    assert (M.tally(one) + M.tally(two)).n == 80
    parts = [M.tally(one[:10]), M.tally(one[10:])]
    assert sum(parts) == M.tally(one)
    assert M.tally(one[:10] + one[:10]).n == 20  # parts are the caller's business


def test_pairs_are_noticed_too() -> None:
    m = dn.mechanism("kv-ss2", epsilon=1.0, labels=["hats", "shoes"])
    tally = m.tally(m.privatize([(1, "hats", 0.5), (2, "shoes", -0.5)]))
    with pytest.raises(dn.MergeError, match="counted twice"):
        _ = tally + tally


def test_bytes_know_nothing_of_batches() -> None:
    one, two = made(1), made(1)
    assert one.batches != two.batches
    assert dn.dump(one) == dn.dump(two)
    assert dn.dump(M.tally(one)) == dn.dump(M.tally(two))
    assert dn.dump(M.tally(one[:10]) + M.tally(one[10:])) == dn.dump(M.tally(one))


def test_loaded_reports_are_known_by_their_file() -> None:
    """By the id of the file, which the tally keeps, or by its content."""
    known, unknown = dn.dump(made(), id=new_id()), dn.dump(made(1))
    first, again = dn.load(known), dn.load(known)
    tally = M.tally(first)
    assert first.sources == tally.sources == (known[known.index(b'"id":"') + 6 :][:32].decode(),)
    for other in (M.tally(again), dn.load(dn.dump(tally))):
        with pytest.raises(dn.MergeError, match="report file would be counted twice"):
            _ = tally + other
    assert M.tally(first[:5]).sources == ()
    with pytest.raises(dn.MergeError, match="counted twice"):
        _ = dn.load(unknown) + dn.load(unknown)
    assert (M.tally(dn.load(unknown)) + tally).n == 80


def test_what_is_remembered_stays_small() -> None:
    """The last batches are known; of more than so many, the first ones are forgotten."""
    parts = [M.tally(M.privatize(["no"], rng=dn.simulation(i))) for i in range(BATCHES + 5)]
    whole = sum(parts)
    assert (whole.n, len(whole.batches)) == (BATCHES + 5, BATCHES)
    with pytest.raises(dn.MergeError, match="counted twice"):
        _ = whole + parts[-1]
    assert (whole + parts[0]).n == BATCHES + 6
