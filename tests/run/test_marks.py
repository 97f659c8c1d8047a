"""Whatever is made of simulated reports says so, however it was made; and nothing else does."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.cli import main
from deniable.collect.reports import Reports
from deniable.core.domain import Domain
from deniable.estimate.pooled import pool
from deniable.run.local import estimate_files, privatize_file, tally_files, write_tally
from deniable.run.results import Shown
from deniable.run.studies.frequency import simulate
from deniable.run.studies.release import simulate_release

Stream = Any
Made = Callable[[Stream], bool]
PEOPLE = 400
PAIRS = np.arange(PEOPLE + 1), np.arange(PEOPLE) ** 2 % 7 % 6, np.linspace(-1, 1, PEOPLE)
"""One pair each: offsets, keys and values."""


def grr() -> dn.Mechanism:
    return dn.mechanism("grr", epsilon=1.0, labels=["a", "b", "c"])


def reports(rng: Stream) -> Reports:
    return grr().privatize(["a", "b", "c", "a"], rng=rng)


def estimate(rng: Stream) -> dn.Estimate:
    return grr().estimate(grr().tally(reports(rng)))


def clean() -> Reports:
    return reports(dn.secure())


def only(column: Any) -> bool:
    """The one truth value of a column."""
    (found,) = set(column)
    assert isinstance(found, bool)
    return found


def shown_columns(rng: Stream) -> bool:
    return only(estimate(rng).to_columns()["simulated"])


def frame(rng: Stream) -> bool:
    return only(list(estimate(rng).to_frame()["simulated"]))


def rows_of_devices(rng: Stream) -> bool:
    given = reports(rng)
    rows = [given.row(i) for i in range(len(given))]
    return Reports.from_rows(given.design, given.fields, rows, simulated=given.simulated).simulated


def tabled(rng: Stream) -> bool:
    return only([row["simulated"] for row in Shown.of(estimate(rng)).rows()])


def level_reports(name: str, rng: Stream) -> tuple[dn.Mechanism, Reports]:
    own: dict[str, Any] = {"sensitive": 2} if name == "upldp" else {}
    m = dn.mechanism(name, base="sue", levels=[4.0, 5.0], k=4, shares=[0.5, 0.5], level_epsilon=1.0, **own)
    return m, m.privatize([0, 0, 0, 1] * 250, levels=[4.0, 5.0] * 500, rng=rng)


def pldp(name: str, method: str) -> Made:
    def made(rng: Stream) -> bool:
        m, given = level_reports(name, rng)
        return (m.estimate(given) if method == "estimate" else m.fit(given, method)).simulated

    return made


def number(name: str, method: str) -> Made:
    def made(rng: Stream) -> bool:
        m = dn.mechanism(name, epsilon=1.0, interval=(0, 10))
        given = m.privatize([1.0, 2.0, 9.0] * 10, rng=rng)
        return (m.estimate(given) if method == "estimate" else m.fit(given, method, stderr=None)).simulated

    return made


def keyed(name: str) -> Made:
    def made(rng: Stream) -> bool:
        m = dn.mechanism(name, epsilon=2.0, k=6, length=2)
        found = m.estimate(m.tally(m.privatize(PAIRS, rng=rng)))
        assert found.simulated is found["mean"].simulated
        return found.simulated

    return made


def staged(name: str, **options: Any) -> Made:
    def made(rng: Stream) -> bool:
        protocol: Any = dn.protocol(name, epsilon=4.0, k=6, **options)
        return bool(protocol.run(protocol.pairs(PAIRS), rng)[0].simulated)

    return made


def collaborative(rng: Stream) -> bool:
    made: Any = dn.protocol("collaborative", epsilon=2.0, k=6, sensitive=3)
    return bool(made.run(np.arange(600) % 6, rng)[0].simulated)


def fitted(name: str, method: str) -> Made:
    def made(rng: Stream) -> bool:
        m = dn.mechanism(name, epsilon=1.0, k=4)
        return m.fit(m.privatize([0, 1, 2, 3] * 25, rng=rng), method).simulated

    return made


MADE: dict[str, Made] = {
    "reports": lambda rng: reports(rng).simulated,
    "slice": lambda rng: reports(rng)[1:3].simulated,
    "slice of none": lambda rng: reports(rng)[:0].simulated,
    "clean + these": lambda rng: (clean() + reports(rng)).simulated,
    "these + clean": lambda rng: (reports(rng) + clean()).simulated,
    "concatenation": lambda rng: Reports.concat([clean(), reports(rng), clean()]).simulated,
    "rows of devices": rows_of_devices,
    "bytes of reports": lambda rng: dn.load(dn.dump(reports(rng))).simulated,
    "tally": lambda rng: grr().tally(reports(rng)).simulated,
    "tally of a slice": lambda rng: grr().tally(reports(rng)[:1]).simulated,
    "clean tally + this": lambda rng: (grr().tally(clean()) + grr().tally(reports(rng))).simulated,
    "this tally + clean": lambda rng: (grr().tally(reports(rng)) + grr().tally(clean())).simulated,
    "bytes of a tally": lambda rng: dn.load(dn.dump(grr().tally(reports(rng)))).simulated,
    "estimate": lambda rng: estimate(rng).simulated,
    "estimate of reports": lambda rng: grr().estimate(reports(rng)).simulated,
    "part": lambda rng: estimate(rng)["frequency"].simulated,
    "projection": lambda rng: estimate(rng).project().simulated,
    "comparison": lambda rng: estimate(rng).compare(estimate(dn.secure())).simulated,
    "comparison, other side": lambda rng: estimate(dn.secure()).compare(estimate(rng)).simulated,
    "columns": shown_columns,
    "frame": frame,
    "pooled": lambda rng: pool([estimate(dn.secure()), estimate(rng)]).simulated,
    "pooled, first": lambda rng: pool([estimate(rng), estimate(dn.secure())]).simulated,
    "shown": lambda rng: Shown.of(estimate(rng)).facts["simulated"],
    "shown rows": tabled,
    "largest only": lambda rng: Shown.of(estimate(rng)).top(1).facts["simulated"],
    "fit": lambda rng: grr().fit(reports(rng)).simulated,
    "fit of a tally": lambda rng: grr().fit(grr().tally(reports(rng))).simulated,
    "fit of batches": lambda rng: grr().fit([clean(), reports(rng)]).simulated,
    "count-aware": fitted("oue", "count-aware"),
    "calibrated": fitted("olh", "calibrated"),
    "ems": fitted("oue", "ems"),
    **{f"levels, {name}, {how}": pldp(name, how) for name in ("pldp", "upldp") for how in ("estimate", "em")},
    **{f"number, {name}": number(name, "estimate") for name in ("duchi", "pm", "hm", "sw")},
    "number, distribution": number("sw", "ems"),
    **{f"key-value, {name}": keyed(name) for name in ("kv-ss", "kv-ss2", "kv-mix", "ks-ue", "pckv-grr")},
    "protocol ks-grr": staged("ks-grr", top=2),
    "protocol ks-adap": staged("ks-adap", top=2),
    "protocol privkvm": staged("privkvm", rounds=2),
    "protocol collaborative": collaborative,
}


@pytest.mark.parametrize("way", MADE)
def test_the_mark_is_carried_by(way: str) -> None:
    assert MADE[way](dn.simulation(8)) is True
    assert MADE[way](dn.secure()) is False


def test_devices_reports_need_the_word_of_whoever_has_them() -> None:
    given = reports(dn.simulation(1))
    with pytest.raises(TypeError, match="simulated"):
        Reports.from_rows(given.design, given.fields, [given.row(0)])  # type: ignore[call-arg]


def files(folder: Path, rng: Stream) -> Iterator[str]:
    """A report file and its tally."""
    (folder / "v.txt").write_text("a\nb\nc\na\n")
    for name in ("reports", "tally"):
        path = str(folder / name)
        if name == "reports":
            privatize_file(grr(), str(folder / "v.txt"), path, rng=rng)
        else:
            write_tally(tally_files([str(folder / "reports")]), path)
        yield path


@pytest.mark.parametrize("marked", [True, False])
def test_the_mark_is_carried_through_files_to_tables(
    marked: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for path in files(tmp_path, dn.simulation(1) if marked else dn.secure()):
        assert dn.load(Path(path).read_bytes()).simulated is marked
        assert estimate_files([path]).simulated is marked
        assert estimate_files([path], "em").simulated is marked
        out = tmp_path / "x.csv"
        assert main(["estimate", path, "--out", str(out), "--force"]) == 0
        assert ("SIMULATED" in capsys.readouterr().out) is marked
        assert {row["simulated"] for row in csv.DictReader(io.StringIO(out.read_text()))} == {str(marked)}
        assert main(["estimate", path, "--json", "--out", str(tmp_path / "x.json"), "--force"]) == 0
        assert json.loads(capsys.readouterr().out)["simulated"] is marked
        assert json.loads((tmp_path / "x.json").read_text())["simulated"] is marked
    mixed = [str(tmp_path / "reports"), str(tmp_path / "clean")]
    privatize_file(grr(), str(tmp_path / "v.txt"), mixed[1], rng=dn.secure())
    for order in (mixed, mixed[::-1]):
        assert estimate_files(order).simulated is marked
        assert estimate_files(order, "em").simulated is marked


def test_studies_say_that_they_are_simulated_in_every_row() -> None:
    def grr_on(domain: Any) -> dn.Mechanism:
        return dn.mechanism("grr", epsilon=1.0, domain=domain)

    def brr_on(domain: Any) -> dn.Mechanism:
        return dn.mechanism("brr", epsilon=1.0, domain=domain)

    for study in (
        simulate("zipf", grr_on, n=50, domain=Domain.of(4), runs=2),
        simulate_release("adult-age", brr_on, runs=2),
    ):
        assert len(study.rows()) >= 2
        assert {row["simulated"] for row in study.rows()} == {True}
