"""Every method of every mechanism works on report files, and says what the same method says of the reports."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.errors import ParameterError
from deniable.estimate.fit import _FITS
from deniable.estimate.methods import (
    BITS,
    EVIDENCE,
    IN_WORDS,
    LEVELS,
    LIKELIHOOD,
    METHODS,
    SEEDS,
    TALLY,
    UNBIASED,
    methods_for,
)
from deniable.mechanisms.fitting import PLAIN, methods_of
from deniable.mechanisms.registry import MECHANISMS, mechanism
from deniable.run.local import estimate_files

N = 300


def made(name: str) -> Any:
    """The first small design of a mechanism that takes items, in a form that makes reports."""
    for case in MECHANISMS[name].small:
        m = mechanism(name, **case)
        if hasattr(m, "privatize_items") and not getattr(m, "refusal", None):
            return m
    return None


CASES = [
    (name, method)
    for name in MECHANISMS
    if (m := made(name)) is not None and hasattr(m, "fit")
    for method in dict.fromkeys((*methods_of(m), *methods_for(PLAIN)))
]
"""All that others have too: what a mechanism does not have it refuses."""


def direct(m: Any, reports: Any, method: str) -> Any:
    """What the mechanism itself says, or why it does not."""
    try:
        if method == UNBIASED:
            return m.estimate(m.tally(reports))
        return m.estimate(m.tally(reports), method) if METHODS[method].reads == TALLY else m.fit(reports, method)
    except ParameterError as error:
        return error


@pytest.mark.parametrize(
    ("name", "method"), [pytest.param(*c, marks=() if c[0] in ("pldp", "olh") else pytest.mark.slow) for c in CASES]
)
@pytest.mark.filterwarnings("ignore")
def test_files_say_what_reports_say(name: str, method: str, tmp_path: Path) -> None:
    m = made(name)
    reports = m.privatize_items(np.arange(N) % m.k, dn.simulation(7))
    halves = [reports[: N // 2], reports[N // 2 :]]
    files = []
    for i, half in enumerate(halves):
        files.append(str(tmp_path / f"{i}.bin"))
        Path(files[-1]).write_bytes(dn.dump(half))
    expected = direct(m, reports, method)
    if method != UNBIASED:  # which some channels do not have, depending on their rank
        assert (method in methods_of(m)) != isinstance(expected, ParameterError), expected
    if isinstance(expected, ParameterError):
        with pytest.raises(ParameterError, match=str(expected).split(".")[0].replace("(", r"\(").replace(")", r"\)")):
            estimate_files(files, method)
        return
    found = estimate_files(files, method)
    assert found.n == N
    assert found.value == pytest.approx(expected.value, rel=1e-9, abs=1e-12)


def test_levels_and_public_seeds_have_methods_of_their_own() -> None:
    few = {name: made(name) for name in ("pldp", "olh", "ss", "oue", "ussmix", "duchi")}
    methods = {name: {*methods_of(m)} - {UNBIASED} for name, m in few.items()}
    assert {"auto", "auem", "self", "grouped", "pbp", "emoa", "em", "em-known", "em-blind"} == methods["pldp"]
    assert "calibrated" in methods["olh"]
    assert methods["ss"] == {"em", "ems"} == methods["oue"] - {"count-aware"}
    assert methods["ussmix"] == methods["duchi"] == set()
    key_value = mechanism("kv-ss2", epsilon=1.0, k=4)
    assert methods_of(key_value) == (UNBIASED,)
    assert len({name for name, _ in CASES}) >= 25


def test_a_method_that_a_mechanism_does_not_have_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "reports.bin"
    m = mechanism("ss", epsilon=1.0, k=4)
    file.write_bytes(dn.dump(m.privatize([0, 1, 2, 3])))
    with pytest.raises(ParameterError, match=r"method must be one of unbiased, em, .* for reports of ss, got 'auem'"):
        estimate_files([str(file)], "auem")


def test_every_method_of_the_table_has_somebody_who_does_it() -> None:
    """Names that code goes by are those of the table: of fits, and of estimates by levels."""
    assert tuple(_FITS) == methods_for([LIKELIHOOD, BITS], EVIDENCE)
    assert methods_for([SEEDS]) == ("calibrated",)
    m = made("pldp")
    tally = m.tally(m.privatize_items(np.arange(9000) % m.k, dn.simulation(3)))
    for method in methods_for([LEVELS], TALLY):
        assert m.estimate(tally, method).n == 9000
    with pytest.raises(ParameterError, match="method must be one of em, emoa, em-known, em-blind, got 'ems'"):
        m.fit(tally, "ems")


def test_help_names_all_methods() -> None:
    assert [name for name in METHODS if name != UNBIASED and name not in re.findall(r"[\w-]+", IN_WORDS)] == []


def test_a_fit_takes_all_that_is_counted_or_is_refused(tmp_path: Path) -> None:
    """A tally beside reports tells too little for a fit of reports: the reports alone are not taken for all."""
    m = dn.mechanism("oue", epsilon=1.0, k=4)
    parts = [m.privatize_items(np.arange(400) % 4, dn.simulation(seed)) for seed in (1, 2)]
    (tmp_path / "reports").write_bytes(dn.dump(parts[0]))
    (tmp_path / "tally").write_bytes(dn.dump(m.tally(parts[1])))
    assert estimate_files([str(tmp_path / "reports")], "em").n == 400
    with pytest.raises(ParameterError):
        estimate_files([str(tmp_path / "reports"), str(tmp_path / "tally")], "em")
