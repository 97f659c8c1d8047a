"""Adaptive designs: golden selections, the paper's example, independence of n, and what a choice says of itself."""

from __future__ import annotations

import json
import math
import re
import warnings
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.core.selection import NORMALISED, SELECTORS, Preference, SelectionWarning
from deniable.errors import ParameterError
from deniable.mechanisms.frequency.families import FAMILIES, MIXTURES, choose
from tiers import every

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "adaptive.json").read_text())
SETTINGS = GOLDEN["settings"]
NAMES = tuple(FAMILIES)
OWN = {"ass": "size", "aue": "p", "alh": "g", "athe": "theta"}


def chosen(name: str, k: int, epsilon: float, **rules: Any) -> Any:
    """A mechanism whose fallbacks, if any, are looked at elsewhere."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SelectionWarning)
        return dn.mechanism(name, k=k, epsilon=epsilon, **rules)


def named(row: dict[str, Any]) -> str:
    return f"k={row['k']}-epsilon={row['epsilon']}"


# ---- golden selections


@pytest.mark.parametrize("row", SETTINGS, ids=named)
@pytest.mark.parametrize("name", NAMES)
def test_selections_by_the_paper_s_objectives_equal_the_golden_ones(row: dict[str, Any], name: str) -> None:
    assert set(row[name]["paper"]) == set(SELECTORS)
    for select, golden in row[name]["paper"].items():
        m = chosen(name, row["k"], row["epsilon"], form="paper", select=select)
        if "degenerate" in golden.get("flag", ""):
            assert "hypervolume" in m.selection["note"]
            golden = row[name]["paper"]["utopia"]
        assert m.params[OWN[name]] == pytest.approx(golden["param"], rel=1e-12), select


@pytest.mark.parametrize(
    ("name", "row"), every(5, product(NAMES, SETTINGS), name=lambda case: f"{case[0]}-{named(case[1])}")
)
def test_selections_by_exact_objectives_are_no_worse_than_the_golden_ones(name: str, row: dict[str, Any]) -> None:
    """Raw objectives, compared by what is made small; on the authors' grids the same parameters come out.

    The elbow's chord ends where the candidates do, so that its distances on other candidates do not compare.
    """
    k, epsilon = row["k"], row["epsilon"]
    for select, golden in row[name]["exact"].items():
        how = Preference(select, "none")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SelectionWarning)
            grid = choose(FAMILIES[name], k, epsilon, how, continuous=False)
            free = choose(FAMILIES[name], k, epsilon, how)
        if "degenerate" not in golden.get("flag", ""):
            assert grid.value == pytest.approx(golden["param"], rel=1e-12), select
            assert (grid.asr, grid.mse) == pytest.approx((golden["asr"], golden["mse"]), rel=1e-9)
        if select != "elbow":
            assert free.objective <= grid.objective + 1e-9 * abs(grid.objective), select


@pytest.mark.parametrize("row", SETTINGS, ids=named)
@pytest.mark.parametrize("name", ["aue", "athe"])
def test_continuous_optima_equal_the_golden_ones(row: dict[str, Any], name: str) -> None:
    """By the paper's metric, off its grid: the same objective to nine digits."""
    golden = row[name]["continuous"]
    found = choose(
        FAMILIES[name], row["k"], row["epsilon"], Preference("weighted", "none"), metric="paper", continuous=True
    )
    assert found.objective <= (golden["asr"] + golden["mse_approx"]) / 2 * (1 + 1e-9)


def test_the_paper_s_example() -> None:
    """k = 100, epsilon 4, equal weights."""
    made = {name: chosen(name, 100, 4.0, form="paper").params[OWN[name]] for name in NAMES}
    assert (made["ass"], made["alh"]) == (7, 13)
    assert made["aue"] == pytest.approx(0.8181811818, abs=1e-10)
    assert made["athe"] == pytest.approx(0.7828282828, abs=1e-10)
    assert dn.mechanism("ss", k=100, epsilon=4.0).params == {"size": 2}
    assert dn.mechanism("olh", k=100, epsilon=4.0).params == {"g": 56}


@pytest.mark.parametrize("row", GOLDEN["by_n"], ids=lambda row: f"n={row['n']}")
def test_raw_objectives_depend_on_n_as_the_golden_ones_do(row: dict[str, Any]) -> None:
    for name in NAMES:
        m = chosen(name, 100, 4.0, form="paper", n=row["n"])
        assert m.params[OWN[name]] == pytest.approx(row[name]["param"], rel=1e-12)


# ---- settings that are not in the golden file, by definition


def brute(name: str, k: int, epsilon: float, select: str) -> float:
    """The best value of a criterion over the authors' grid, from mechanisms made one by one."""
    grids: dict[str, list[Any]] = {
        "ass": list(range(1, k)),
        "alh": list(range(2, max(k, round(math.exp(epsilon)) + 1) + 1)),
        "aue": np.linspace(0.5, 0.999999, 100).tolist(),
        "athe": np.linspace(0.5, 1, 100).tolist(),
    }
    base, option = {"ass": ("ss", "size"), "alh": ("lh", "g"), "aue": ("ue", "p"), "athe": ("the", "threshold")}[name]
    best = math.inf
    for x in grids[name]:
        m: Any = dn.mechanism(base, k=k, epsilon=epsilon, **{option: x})
        a, e = m.asr, m.mse()
        value = {
            "utopia": math.hypot(a, e),
            "weighted": 0.3 * a + 0.7 * e,
            "epsilon-constraint": e if a <= 0.45 else math.inf,
            "hypervolume": -max(0, 1 - a) * max(0, 1 - e),
            "tchebycheff": max(0.3 * a, 0.7 * e) + 1e-6 * (0.3 * a + 0.7 * e),
        }[select]
        best = min(best, value)
    return best


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("k", "epsilon"), [(7, 3.3), (17, 3.7), (40, 5.0)])
def test_exact_selections_beat_every_design_made_one_by_one(name: str, k: int, epsilon: float) -> None:
    for select in (s for s in SELECTORS if s != "elbow"):
        own = {"limit": 0.45} if select == "epsilon-constraint" else {"weight": 0.3} if select in NORMALISED else {}
        m = chosen(name, k, epsilon, select=select, normalize="none", **own)
        assert not m.selection["note"].startswith("no design")
        assert m.selection["objective"] <= brute(name, k, epsilon, select) + 1e-12


@pytest.mark.parametrize("name", [*NAMES, "ssmix"])
@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"limit": 0.3}, "limit must be left out unless select is epsilon-constraint; it is weighted, got 0.3"),
        (
            {"limit": 0.3, "select": "utopia"},
            "limit must be left out unless select is epsilon-constraint; it is utopia",
        ),
        ({"weight": 0.3, "select": "elbow"}, "weight must be left out unless select is weighted or tchebycheff"),
        ({"reference": (1, 2)}, "reference must be left out unless select is hypervolume; it is weighted"),
        (
            {"rho": 0.01, "select": "hypervolume"},
            "rho must be left out unless select is tchebycheff; it is hypervolume",
        ),
        ({"normalize": "log", "select": "utopia"}, "unless select is weighted or tchebycheff; it is utopia"),
        ({"normalize": "anchor", "select": "elbow"}, "it is elbow, which reads raw objectives, got 'anchor'"),
        ({"prior": [1 / 8] * 8, "objectives": "paper"}, "objectives must be exact with a prior, got 'paper'"),
    ],
)
def test_what_would_have_no_effect_is_refused(name: str, given: dict[str, Any], text: str) -> None:
    with pytest.raises(dn.ParameterError, match=re.escape(text)):
        chosen(name, 8, 1.0, **given)


@pytest.mark.parametrize(
    ("name", "given", "text"),
    [
        ("ssmix", {"size": 2, "select": "utopia"}, "select must be left out where size is given, got 'utopia'"),
        ("ssmix", {"size": 2, "prior": [1 / 8] * 8}, "prior must be left out where size is given"),
        ("ss", {"size": 2, "rounding": "best"}, "rounding must be left out where size is given, got 'best'"),
        ("wheel", {"arc": 0.2, "rounding": "paper"}, "rounding must be left out where arc is given, got 'paper'"),
    ],
)
def test_what_chooses_a_parameter_is_refused_beside_it(name: str, given: dict[str, Any], text: str) -> None:
    with pytest.raises(dn.ParameterError, match=re.escape(text)):
        dn.mechanism(name, epsilon=1.0, k=8, **given)


def test_a_prior_by_name_is_refused_with_the_way_to_its_numbers() -> None:
    with pytest.raises(dn.ParameterError, match=r"prior must be 8 numbers, got 'zipf'.*datasets\.resolve\('zipf:1\.2'"):
        dn.mechanism("ass", epsilon=1.0, k=8, prior="zipf")
    prior = dn.datasets.resolve("zipf:1.2", n=10**6, k=8).frequencies
    assert dn.mechanism("ass", epsilon=1.0, k=8, prior=prior).name == "ass"


@pytest.mark.parametrize("name", [*NAMES, "ssmix"])
def test_the_elbow_is_farthest_from_its_chord(name: str) -> None:
    """Against 5000 other places between the same ends."""
    family = FAMILIES.get(name, MIXTURES)
    k, epsilon = 60, 2.5
    found = choose(family, k, epsilon, Preference("elbow", "none"))
    low, high = family.ends(k, epsilon)
    high = family.elbow_end(k, high) if family.elbow_end else high
    places = np.unique(np.rint(np.linspace(low, high, 5000))) if family.whole else np.linspace(low, high, 5001)
    asr, mse = family.objectives(k, epsilon, places, "exact")
    on = asr <= asr[np.argmin(mse)]  # beyond the least error both objectives get worse
    asr, mse = asr[on], mse[on]
    first, last = int(np.argmin(asr)), int(np.argmax(asr))
    da, dm = asr[last] - asr[first], mse[last] - mse[first]
    far = np.abs(da * (mse - mse[first]) - dm * (asr - asr[first])).max()
    assert -found.objective >= far * (1 - 1e-3)


# ---- a corner and a share of one's own


def test_the_corner_of_hypervolumes_is_an_option() -> None:
    """k = 100, epsilon 4: the largest rectangle up to the corner, among all sizes made one by one."""
    sizes = [dn.mechanism("ss", k=100, epsilon=4.0, size=size) for size in range(1, 100)]
    for asr, mse in ((1.0, 1.0), (0.3, 0.5), (0.12, 5.0)):
        areas = [max(0, asr - m.properties()["asr"]) * max(0, mse - m.properties()["mse"]) for m in sizes]
        m = chosen("ass", 100, 4.0, select="hypervolume", reference=(asr, mse))
        assert m.size == 1 + int(np.argmax(areas))
        assert -m.selection["objective"] == pytest.approx(max(areas))
        assert m.selection["reference"] == [asr, mse]
    assert chosen("ass", 100, 4.0, select="hypervolume", reference="0.3,0.5") == chosen(
        "ass", 100, 4.0, select="hypervolume", reference=(0.3, 0.5)
    )
    with pytest.warns(SelectionWarning, match="every MSE is at least 0.01, so no design covers any hypervolume"):
        dn.mechanism("ass", k=100, epsilon=4.0, select="hypervolume", reference=(1, 0.01))
    with pytest.warns(SelectionWarning, match="no design is below ASR 0.02 and MSE 0.1"):
        dn.mechanism("ass", k=100, epsilon=4.0, select="hypervolume", reference=(0.02, 0.1))


@pytest.mark.parametrize("given", [(1, 0), (0, 1), (2, 1), (1, math.inf), (1,), "1;1", "a,b", 3, (math.nan, 1)])
def test_a_corner_that_is_none_is_refused(given: Any) -> None:
    with pytest.raises(dn.ParameterError, match="reference must be two numbers"):
        chosen("ass", 8, 1.0, select="hypervolume", reference=given)


def test_the_share_of_the_plain_sum_is_an_option() -> None:
    """With a share of 1 the sum decides as much as the largest objective."""
    for rho in (0.0, 1e-6, 0.2, 1.0):
        m = chosen("ass", 100, 4.0, select="tchebycheff", normalize="none", weight=0.6, rho=rho)
        parts = [
            (0.6 * p["asr"], 0.4 * p["mse"])
            for p in (dn.mechanism("ss", k=100, epsilon=4.0, size=size).properties() for size in range(1, 100))
        ]
        assert m.selection["objective"] == pytest.approx(min(max(x) + rho * sum(x) for x in parts))
    few, many = (
        chosen("ass", 100, 4.0, select="tchebycheff", normalize="none", weight=0.95, rho=r) for r in (0.0, 1.0)
    )
    assert few.size != many.size
    with pytest.raises(dn.ParameterError, match="rho must be from 0 to 1"):
        chosen("ass", 8, 1.0, select="tchebycheff", rho=-0.1)


# ---- a prior


def skewed(k: int, kind: str = "zipf:1.2") -> Any:
    return dn.datasets.resolve(kind, n=10**9, k=k).frequencies


PLAIN = {"ass": "ss", "aue": "ue", "alh": "lh", "athe": "the"}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("k", "epsilon"), [(7, 3.3), (40, 2.0), (40, 5.0)])
def test_a_prior_is_what_the_objectives_are_computed_with(name: str, k: int, epsilon: float) -> None:
    """Against the best guess of designs made one by one, with ties and impossible values in the prior."""
    family = FAMILIES[name]
    low, high = family.ends(k, epsilon)
    places = np.linspace(low, min(high, 8), 5)
    places = np.unique(np.rint(places)) if family.whole else places
    uneven = np.arange(k) % 4 / np.sum(np.arange(k) % 4)
    for prior in (skewed(k), uneven, np.full(k, 1 / k)):
        asr, mse = family.objectives(k, epsilon, places, "exact", np.sort(prior)[::-1])
        for i, value in enumerate(family.value(places)):
            own: dict[str, Any] = {
                family.parameter if name != "athe" else "threshold": int(value) if family.whole else float(value)
            }
            m = dn.mechanism(PLAIN[name], k=k, epsilon=epsilon, **own)
            assert asr[i] == pytest.approx(m.guess(prior).success, rel=1e-9)
            assert mse[i] == pytest.approx(m.properties()["mse"], rel=1e-9)


@pytest.mark.parametrize("name", [*NAMES, "ssmix"])
def test_a_uniform_prior_chooses_what_none_does(name: str) -> None:
    with_prior = chosen(name, 30, 3.0, prior=np.full(30, 1 / 30))
    for key, value in chosen(name, 30, 3.0).params.items():
        assert with_prior.params[key] == pytest.approx(value, rel=1e-5)
    assert with_prior.selection["prior"] == "given"
    assert with_prior.selection["asr_under_prior"] == pytest.approx(with_prior.properties()["asr"])


@pytest.mark.parametrize("name", [*NAMES, "ssmix"])
def test_a_choice_for_a_prior_is_the_best_under_it(name: str) -> None:
    """k = 100, epsilon 4, Zipf 1.2: the weighted sum of what is chosen, against that of the choice without a prior."""
    prior = skewed(100)
    tuned, plain = chosen(name, 100, 4.0, prior=prior), chosen(name, 100, 4.0)
    assert tuned.selection["asr_under_prior"] == pytest.approx(tuned.guess(prior).success, rel=1e-9)
    assert tuned.guess(prior).success < plain.guess(prior).success
    limit = tuned.guess(prior).success + 0.01
    bound = chosen(name, 100, 4.0, prior=prior, select="epsilon-constraint", limit=limit)
    assert bound.guess(prior).success <= limit + 1e-9
    assert bound.properties()["mse"] <= tuned.properties()["mse"] * (1 + 1e-9)


def test_a_mixture_under_a_prior_beats_every_other_one() -> None:
    """Weighted, against 200 mixtures made one by one; its sets are smaller than those of least error."""
    prior, k, epsilon = skewed(30), 30, 2.5
    m = chosen("ssmix", k, epsilon, prior=prior, weight=0.7)
    anchor: Any = dn.mechanism("ss", k=k, epsilon=epsilon, rounding="best")
    success, error = anchor.guess(prior).success, anchor.properties()["mse"]
    best = math.inf
    for size in range(1, 9):
        for share in np.linspace(0, 0.96, 25):
            other = dn.mechanism("ssmix", k=k, epsilon=epsilon, size=size, share=float(share))
            total = 0.7 * other.guess(prior).success / success + 0.3 * other.properties()["mse"] / error
            best = min(best, total)
    assert m.selection["objective"] <= best + 1e-9
    assert m.size < anchor.size


def test_priors_of_many_answers_are_quick_enough_to_be_used() -> None:
    """k = 200,000: fewer places are looked at together, and the choice is still the best of its neighbours."""
    k = 200_000
    m, prior = chosen("ass", k, 4.0, prior=skewed(k)), skewed(k)
    anchor: Any = dn.mechanism("ss", k=k, epsilon=4.0, rounding="best")

    def total(size: int) -> float:
        other: Any = dn.mechanism("ss", k=k, epsilon=4.0, size=size)
        return float(other.guess(prior).success / anchor.guess(prior).success + other.mse() / anchor.mse())

    assert total(m.size) <= min(total(m.size + 1), total(max(1, m.size - 1))) + 1e-12
    assert m.selection["candidates"] < 20_000


@pytest.mark.parametrize("prior", [[0.5, 0.5], [0.5, 0.5, 0.5], [1.5, -0.5, 0.0], "zipf", [math.nan, 0.5, 0.5]])
def test_a_prior_that_is_none_is_refused(prior: Any) -> None:
    with pytest.raises(dn.ParameterError, match="prior must"):
        chosen("ass", 3, 1.0, prior=prior)


# ---- scales


@pytest.mark.parametrize("name", [*NAMES, "ssmix"])
@pytest.mark.parametrize("select", NORMALISED)
@pytest.mark.parametrize("scale", ["anchor", "log"])
def test_a_scaled_choice_does_not_depend_on_n(name: str, select: str, scale: str) -> None:
    rules = {"select": select, "normalize": scale, "weight": 0.6}
    first, *rest = (chosen(name, 50, 2.0, **rules, n=n).params for n in (1, 100, 10**6))
    for other in rest:
        for key, value in first.items():
            assert other[key] == pytest.approx(value, rel=1e-6, abs=1e-6)


def test_scaled_choices_at_k_100_epsilon_4() -> None:
    """Relative to the least error, and by logarithms, in the whole range of each parameter."""
    found = {name: chosen(name, 100, 4.0).params[OWN[name]] for name in NAMES}
    assert (found["ass"], found["alh"]) == (4, 22)
    assert found["aue"] == pytest.approx(0.7230, abs=5e-5)
    assert found["athe"] == pytest.approx(0.628, abs=5e-4)
    logs = {name: chosen(name, 100, 4.0, normalize="log").params[OWN[name]] for name in NAMES}
    assert (logs["ass"], logs["alh"]) == (10, 8)
    assert logs["aue"] == pytest.approx(0.8875, abs=5e-5)


def test_the_anchor_is_the_least_error_of_the_whole_family() -> None:
    """All weight on the error gives it: for AUE p = 0.5547, not 1/2."""
    m = chosen("aue", 100, 4.0, weight=0.0)
    assert m.p == pytest.approx(0.5547, abs=5e-5)
    assert m.mse() < dn.mechanism("oue", k=100, epsilon=4.0).mse()  # type: ignore[attr-defined]
    assert chosen("ass", 100, 4.0, weight=0.0).size == 2


def test_a_choice_on_the_authors_grid_is_one_of_it_to_the_last_digit() -> None:
    for weight in (0.1, 0.5, 0.9):
        found = choose(FAMILIES["aue"], 20, 2.0, Preference("weighted", "none", weight), metric="paper")
        assert found.value in np.linspace(0.5, 0.999999, 100)


def test_the_search_sees_what_the_authors_grid_misses() -> None:
    """k = 100, epsilon 10: on the grid p = 1/2; the optimum lies between its last two points."""
    assert chosen("aue", 100, 10.0, form="paper").p == 0.5
    found = choose(FAMILIES["aue"], 100, 10.0, Preference("weighted", "none"), metric="paper", continuous=True)
    assert found.value == pytest.approx(0.999546, abs=1e-6)
    assert found.objective == pytest.approx(0.1050, abs=5e-5)


@pytest.mark.parametrize("name", [*NAMES, "ssmix"])
@pytest.mark.parametrize(("k", "epsilon"), [(2, 0.1), (2, 700.0), (3, 1e-6), (100, 700.0), (10**6, 1.0)])
def test_choices_exist_at_the_edges(name: str, k: int, epsilon: float) -> None:
    for select in SELECTORS:
        m = chosen(name, k, epsilon, select=select)
        asr, mse = m.properties()["asr"], m.properties()["mse"]
        assert 1 / k * (1 - 1e-9) <= asr <= 1 + 1e-12
        assert 0 <= mse < math.inf


# ---- what a choice says of itself


def test_the_record_of_a_choice() -> None:
    m = chosen("ass", 100, 4.0, n=50)
    assert {key: m.selection[key] for key in ("select", "objectives", "normalize", "weight", "limit", "n")} == {
        "select": "weighted",
        "objectives": "exact",
        "normalize": "anchor",
        "weight": 0.5,
        "limit": 0.1,
        "n": 50,
    }
    assert m.selection["note"] == ""
    assert "n = 50" in chosen("ass", 100, 4.0, select="utopia", n=50).selection["note"]
    told = chosen("ass", 100, 4.0, select="utopia").selection
    assert (told["normalize"], told["prior"]) == ("none", "uniform")
    assert "raw objectives" in chosen("aue", 100, 4.0, form="paper").selection["note"]


def test_the_record_is_no_part_of_the_design() -> None:
    one, two = chosen("ass", 100, 4.0), chosen("ass", 100, 4.0, select="weighted", weight=0.501)
    assert one.params == two.params
    assert one.selection != two.selection
    assert one == two
    assert one.design == two.design
    assert dn.from_design(one.design) == one


def test_nothing_inside_the_reference_falls_back_with_a_warning() -> None:
    with pytest.warns(SelectionWarning, match="utopia chose instead"):
        m: Any = dn.mechanism("ass", k=100, epsilon=1.0, select="hypervolume")
    assert m.params == chosen("ass", 100, 1.0, select="utopia").params
    assert "hypervolume" in m.selection["note"]
    with pytest.warns(SelectionWarning, match="no design has an ASR of at most 0.1"):
        dn.mechanism("alh", k=5, epsilon=1.0, select="epsilon-constraint")


@pytest.mark.parametrize(
    ("name", "rules", "what"),
    [
        ("ass", {"select": "best"}, "select must be one of utopia"),
        ("ass", {"weight": 2.0}, "weight must be from 0 to 1"),
        ("ass", {"n": 0}, "n must be a number >= 1"),
        ("ass", {"size": 3}, "ass has no option 'size'"),
        ("ssmix", {"objectives": "paper"}, "objectives must be exact for mixtures"),
        ("ssmix", {"share": 0.5}, "share must be given together with size"),
        ("ssmix", {"size": 5, "share": 1.0}, "share must be from 0 to below 1"),
        ("ssmix", {"size": 10}, "size must be an integer from 1 to k-1 = 9"),
    ],
)
def test_what_makes_no_sense_is_refused(name: str, rules: dict[str, Any], what: str) -> None:
    with pytest.raises(ParameterError, match=what):
        dn.mechanism(name, k=10, epsilon=1.0, **rules)


def test_unary_encoding_is_symmetric_by_its_p_and_not_by_its_name() -> None:
    """1 - p is then computed without cancellation, which rounds to nothing for large epsilon."""
    for epsilon in (1.0, 40.0, 90.0):
        sue = dn.mechanism("sue", epsilon=epsilon, k=5)
        own = type(sue)(epsilon=epsilon, domain=dn.Domain.of(5), p=sue.p)
        assert own.name == "ue"
        assert own.support == sue.support
        assert sue.support.p_not == pytest.approx(sue.support.q, rel=1e-12)
        assert sue.support.p_not > 0
    apart = type(sue)(epsilon=2.0, domain=dn.Domain.of(5), p=0.6, name="sue")
    assert apart.support.p_not == pytest.approx(0.4)
    with pytest.raises(dn.ParameterError, match="p must be between 0 and 1, got 1"):
        dn.mechanism("ue", epsilon=2.0, k=5, p=1.0)
