"""Chunked jobs give what whole ones give."""

from __future__ import annotations

import numpy as np
import pytest

import deniable as dn
from deniable.errors import FormatError
from deniable.run import inputs
from deniable.run.describe import describe
from deniable.run.inputs import chunk_size
from deniable.run.local import estimate_tally, tally_files, write_tally
from deniable.run.results import Shown
from deniable.run.studies import frequency as simulate


def test_chunks_of_long_reports_are_shorter():
    assert chunk_size(dn.mechanism("grr", epsilon=1.0, k=4)) == inputs.CHUNK_VALUES
    long = dn.mechanism("oue", epsilon=1.0, k=1 << 20)
    assert chunk_size(long) == long.bulk.block == 64
    assert chunk_size(long) * long.bulk.row_bytes <= 1 << 23


@pytest.mark.parametrize("beyond", [-1, 0, 1])
def test_a_population_tallied_in_chunks_is_what_the_library_gives(beyond):
    """Below, at and above a chunk: the same reports from the same seed."""
    m = dn.mechanism("oue", epsilon=1.0, k=3000)
    people = dn.datasets.synthetic("zipf", k=3000, n=chunk_size(m) + beyond)
    whole = m.tally(m.privatize(people.values(), rng=dn.simulation(1)))
    assert simulate.tally_population(m, people, dn.simulation(1)) == whole


def test_a_population_is_walked_in_its_order(monkeypatch):
    people = dn.datasets.Population("p", tuple("abcde"), [3, 0, 5, 1, 0])
    for size in (1, 2, 4, 100):
        assert np.concatenate(list(simulate._items(people, size))).tolist() == people.values().tolist()


def test_a_population_tallied_in_chunks_is_complete(monkeypatch):
    people = dn.datasets.synthetic("zipf", k=5, n=1000)
    m = dn.mechanism("ss", epsilon=1.0, k=5)
    monkeypatch.setattr(inputs, "CHUNK_VALUES", 300)
    found = simulate.tally_population(m, people, dn.simulation(1))
    total = m.empty()
    for start, stream in zip(range(0, 1000, 300), dn.simulation(1).spawn(4), strict=True):
        total = total + m.tally(m.privatize(people.values()[start : start + 300], rng=stream))
    assert found == total
    assert (found.n, found.simulated) == (1000, True)


def test_progress_of_a_tally_reaches_the_end(tmp_path):
    m = dn.mechanism("grr", epsilon=1.0, k=4)
    paths = [str(tmp_path / name) for name in "ab"]
    for path, values in zip(paths, ([0, 1], [0, 1, 2]), strict=True):
        write_tally(m.tally(m.privatize(values)), path)
    seen = []
    assert tally_files(paths, progress=lambda *args: seen.append(args)).n == 5
    one, two = (len((tmp_path / name).read_bytes()) for name in "ab")
    assert seen == [(one, one + two), (one + two, one + two)]


def test_a_tally_with_other_cells_than_its_design_is_refused(tmp_path):
    m = dn.mechanism("grr", epsilon=1.0, k=4)
    good = m.tally(m.privatize([0, 1]))
    bad = [
        {"n": good.cells["n"], "support": good.cells["support"][:, :3]},
        {"n": good.cells["n"], "score": good.cells["support"]},
    ]
    for cells in bad:
        (tmp_path / "t").write_bytes(dn.dump(dn.Tally(m.design, m.bulk.strata, cells)))
        with pytest.raises(FormatError, match="a tally of this design has the cells"):
            tally_files([str(tmp_path / "t")])


def test_estimates_need_no_mechanism_but_the_tallys_own():
    m = dn.mechanism("olh", epsilon=1.0, labels=["a", "b", "c"])
    tally = m.tally(m.privatize(["a", "b", "b"]))
    assert (estimate_tally(tally).value == m.estimate(tally).value).all()


def test_shares_largest_first_ties_in_order():
    m = dn.mechanism("grr", epsilon=1.0, k=4)
    tally = dn.Tally(m.design, m.bulk.strata, {"n": np.array([10]), "support": np.array([[2, 4, 2, 2]])})
    shares = Shown.of(m.estimate(tally), truth=np.array([0.1, 0.7, 0.1, 0.1]))
    assert shares.top(3).labels == ("1", "0", "2")
    assert shares.top(3).columns["truth"].tolist() == [0.7, 0.1, 0.1]
    assert shares.top(9).document()["labels"] == ["1", "0", "2", "3"]
    assert shares.rows()[1] == {
        "label": "1",
        **{name: column[1] for name, column in shares.columns.items()},
        "simulated": False,
    }


def test_description_of_what_cannot_be_sampled_says_so():
    m = dn.mechanism("grr", epsilon=50.0, k=4)
    assert describe(m)["note"] == str(m.refusal)
    assert "note" not in describe(dn.mechanism("grr", epsilon=40.0, k=4))
