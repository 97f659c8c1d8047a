"""The mark of simulated data: whatever is made of it, alone or with other data, carries the mark; nothing else does."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.collect.codec import ReportWriter, dump, load, read
from deniable.collect.reports import Reports
from deniable.collect.tally import Tally
from deniable.datasets.population import Population
from deniable.errors import MergeError
from deniable.estimate import change
from deniable.estimate.pooled import pool
from deniable.estimate.result import Estimate
from deniable.mechanisms.dealt.estimates import Estimates
from deniable.mechanisms.keyvalue.protocols import KsAdap, KsGrr
from deniable.mechanisms.keyvalue.rounds import PrivKvm
from deniable.present.charts import caption
from deniable.run.local import estimate_files, privatize_file, tally_files
from deniable.run.results import Shown
from deniable.run.studies.frequency import tally_population

ITEMS = np.arange(60) % 3
PAIRS = [(user, str(user % 4), 0.5) for user in range(200)]


def grr() -> Any:
    return dn.mechanism("grr", epsilon=2.0, k=3)


def drawn(m: Any, marked: bool) -> Reports:
    reports: Reports = m.privatize_items(ITEMS % m.k, dn.simulation(1) if marked else None)
    assert reports.simulated == marked
    return reports


BOTH = pytest.mark.parametrize("marked", [True, False])
MIXED = pytest.mark.parametrize(("one", "two"), [(True, False), (False, True), (True, True), (False, False)])


@BOTH
def test_parts_of_reports(marked: bool) -> None:
    reports = drawn(grr(), marked)
    assert reports[3:9].simulated == marked
    assert reports[:0].simulated == marked
    rows = [reports.row(i) for i in range(5)]
    assert Reports.from_rows(reports.design, reports.fields, rows, simulated=marked).simulated == marked


@MIXED
def test_reports_and_tallies_put_together(one: bool, two: bool) -> None:
    m = grr()
    first, second = drawn(m, one), drawn(m, two)
    assert (first + second).simulated == (one or two)
    assert Reports.concat([first, second, first[:0]]).simulated == (one or two)
    assert (m.tally(first) + m.tally(second)).simulated == (one or two)
    assert (m.tally(first) == m.tally(first)) is True
    assert m.tally(first) != Tally(m.design, m.bulk.strata, m.tally(first).cells, not one)


@BOTH
def test_bytes(marked: bool) -> None:
    m = grr()
    reports = drawn(m, marked)
    assert load(dump(reports)).simulated == marked
    assert load(dump(reports[:0])).simulated == marked
    assert load(dump(m.tally(reports))).simulated == marked
    reader = read(io.BytesIO(dump(reports)))
    assert reader.simulated == marked
    assert {part.simulated for part in reader} == {marked}  # type: ignore[union-attr]


def test_marked_reports_do_not_hide_in_a_file_without_the_mark() -> None:
    m = grr()
    with ReportWriter(io.BytesIO(), m.design, m.fields, simulated=False) as writer:
        writer.write(drawn(m, False))
        with pytest.raises(MergeError, match="simulated while it is not"):
            writer.write(drawn(m, True))


@BOTH
def test_empty_and_simulated_tallies(marked: bool) -> None:
    m = grr()
    assert m.empty(simulated=marked).simulated == marked
    assert not m.empty().simulated
    assert m.simulate_tally([3, 4, 5], dn.simulation(1)).simulated


def fitted(method: str, name: str = "grr") -> Callable[[bool], Estimate]:
    def made(marked: bool) -> Estimate:
        m = dn.mechanism(name, epsilon=2.0, k=3)
        return m.fit(drawn(m, marked), method)

    return made


def from_tally(marked: bool) -> Estimate:
    m = grr()
    found: Estimate = m.fit(m.tally(drawn(m, marked)))
    return found


def personal(method: str) -> Callable[[bool], Estimate]:
    def made(marked: bool) -> Estimate:
        m = dn.mechanism("pldp", k=3, levels=[0.5, 2.0], level_epsilon=1.0)
        many = np.tile(ITEMS, 200)  # with few reports the estimate would warn
        reports = m.privatize(many, levels=np.where(many, 0.5, 2.0), rng=dn.simulation(1) if marked else None)
        assert reports.simulated == marked
        return m.estimate(reports) if method == "linear" else m.fit(reports, method)

    return made


def number(method: str) -> Callable[[bool], Estimate]:
    def made(marked: bool) -> Estimate:
        m = dn.mechanism("duchi" if method == "mean" else "sw", epsilon=2.0, points=8, interval=(0.0, 1.0))
        reports = m.privatize(ITEMS / 3, rng=dn.simulation(1) if marked else None)
        return m.estimate(reports) if method == "mean" else m.fit(reports)

    return made


def pairs(marked: bool) -> Estimate:
    m = dn.mechanism("kv-ss", epsilon=2.0, labels=["0", "1", "2", "3"])
    reports = m.privatize(PAIRS, rng=dn.simulation(1) if marked else None)
    assert reports.simulated == marked
    assert m.privatize_items(ITEMS, dn.simulation(1) if marked else None).simulated == marked
    return m.estimate(m.tally(reports))


ESTIMATES: dict[str, Callable[[bool], Estimate]] = {
    "linear": lambda marked: grr().estimate(grr().tally(drawn(grr(), marked))),
    "linear of reports": lambda marked: grr().estimate(drawn(grr(), marked)),
    "em": fitted("em"),
    "em of a tally": from_tally,
    "count-aware": fitted("count-aware", "oue"),
    "calibrated": fitted("calibrated", "olh"),
    "levels": personal("linear"),
    "levels by em": personal("em"),
    "mean": number("mean"),
    "distribution": number("fit"),
    "pairs": pairs,
}


@BOTH
@pytest.mark.parametrize("kind", ESTIMATES)
def test_estimates_and_what_is_made_of_them(kind: str, marked: bool) -> None:
    found = ESTIMATES[kind](marked)
    assert found.simulated == marked
    assert ("SIMULATED" in repr(found)) == marked
    if "frequency" in found.parts:
        assert found.project().simulated == marked


@MIXED
def test_estimates_beside_each_other(one: bool, two: bool) -> None:
    first, second = ESTIMATES["linear"](one), ESTIMATES["linear"](two)
    mixed = one or two
    assert first.compare(second).simulated == mixed
    assert change.trend([first, second]).simulated == mixed
    assert change.equality([first, second]).simulated == mixed
    assert set(first.compare(second).to_columns()["simulated"]) == {mixed}
    assert Estimates({"a": first, "b": second}, first.design).simulated == mixed


@MIXED
def test_pooled_estimates(one: bool, two: bool) -> None:
    found = pool([ESTIMATES["linear"](one), ESTIMATES["linear"](two)])
    assert found.simulated == (one or two)


PROTOCOLS: dict[str, Callable[[], Any]] = {
    "ks-grr": lambda: KsGrr(epsilon=4.0, domain=8, top=2),  # type: ignore[arg-type]
    "ks-adap": lambda: KsAdap(epsilon=4.0, domain=8, top=2),  # type: ignore[arg-type]
    "privkvm": lambda: PrivKvm(epsilon=4.0, domain=8, rounds=2),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("kind", PROTOCOLS)
def test_one_marked_step_marks_the_result_of_a_protocol(kind: str) -> None:
    made = PROTOCOLS[kind]()
    keys = np.arange(400) % 8
    data = made.pairs((np.arange(401), keys, np.where(keys > 3, -0.5, 0.5)))
    found, steps, tallies = made.run(data, dn.simulation(2))
    assert found.simulated
    assert not made.run(data, dn.secure())[0].simulated
    plain = [Tally(t.design, t.strata, t.cells, False) for t in tallies]
    assert not made.next(plain).simulated
    for i in range(len(steps)):
        one = [*plain[:i], tallies[i], *plain[i + 1 :]]
        assert made.next(one).simulated, f"the mark of step {i + 1} is lost"


@BOTH
def test_files(marked: bool, tmp_path: Path) -> None:
    (tmp_path / "values.txt").write_text("\n".join(str(i) for i in ITEMS.tolist()) + "\n")
    sent = str(tmp_path / "sent.reports")
    privatize_file(grr(), str(tmp_path / "values.txt"), sent, rng=dn.simulation(1) if marked else None)
    assert load(Path(sent).read_bytes()).simulated == marked
    assert tally_files([sent]).simulated == marked
    assert estimate_files([sent]).simulated == marked
    assert estimate_files([sent], "em").simulated == marked


@MIXED
def test_files_added_up(one: bool, two: bool, tmp_path: Path) -> None:
    m = grr()
    for name, marked in (("one", one), ("two", two)):
        (tmp_path / name).write_bytes(dump(m.tally(drawn(m, marked)[: 40 if name == "two" else None])))
    assert tally_files([str(tmp_path / "one"), str(tmp_path / "two")]).simulated == (one or two)


@BOTH
def test_what_is_shown(marked: bool) -> None:
    found = ESTIMATES["linear"](marked)
    assert Shown.of(found).facts["simulated"] == marked
    assert caption("grr", epsilon=1.0, n=3, simulated=marked).endswith("simulated") == marked


@BOTH
def test_populations(marked: bool) -> None:
    people = Population("made up", ("a", "b", "c"), np.array([30, 20, 10]))
    stream = dn.simulation(3) if marked else dn.secure()
    assert tally_population(grr(), people, stream).simulated == marked
