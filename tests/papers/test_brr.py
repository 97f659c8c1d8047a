"""The reproduction of BRR: what its claims measure, and that they can come out otherwise."""

from __future__ import annotations

import json
import math
import warnings
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deniable.learn.boosting import BoostedTrees
from deniable.learn.network import LocalNetwork
from deniable.mechanisms.metric import staircase
from deniable.papers.brr import applications, checks, figures, learning, printed, release, theorems, theory
from deniable.papers.brr import places as places_of
from deniable.papers.brr.learning import Examples, digits, examples
from deniable.papers.brr.paper import PAPER
from deniable.papers.brr.places import all_losses, laws, load_places, some_places
from deniable.papers.brr.regions import halved_regions, prefix_regions, tile_codes
from deniable.papers.evidence import Evidence, Missing
from deniable.papers.paper import Context
from deniable.papers.rules import Verdict, decide
from deniable.papers.runner import PAPERS

GOLDEN = json.loads((Path(__file__).parents[1] / "golden/brr.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def context() -> Context:
    return Context(PAPER, quick=True)


@pytest.fixture(autouse=True)
def _no_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DENIABLE_DATA", raising=False)


def measured(found: Evidence | Missing) -> dict[str, Any]:
    assert not isinstance(found, Missing)
    return dict(found)


# What is there


def test_the_paper_is_listed_with_its_figures_and_all_claims() -> None:
    assert PAPERS["brr"] is PAPER
    assert {f"fig{i}" for i in (1, 3, 5, 6, 8, 9, 10, 11, 12)} <= {figure.id for figure in PAPER.figures}


# Verdicts


def test_a_right_rule_would_be_reproduced(context: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    """The verdict follows the rule: with an even i made i - 1 there is nothing to correct."""
    right = [
        theory.Choice(
            rule.points, rule.epsilon, rule.own, rule.closed, printed.alg3(rule.points, rule.epsilon, even=-1)
        )
        for rule in theory.rules(context)
    ]
    monkeypatch.setattr(theory, "rules", lambda context: right)
    for name, measure in (("alg3-even", theory.even_i), ("thm1-m", theory.from_one)):
        assert decide(PAPER.claim(name).rule, measure(context)).verdict == "reproduced"


# Numbers


def test_a_derivative_that_stays_neither_grows_nor_falls(monkeypatch: pytest.MonkeyPatch) -> None:
    assert figures.fig3_holds(10, 1.0) == (36, 36)
    monkeypatch.setattr(figures, "_slopes", lambda points, epsilon: np.zeros((points // 2, points)))
    assert figures.fig3_holds(10, 1.0) == (0, 36)


def test_mean_loss_above_grr_with_the_printed_m(context: Context) -> None:
    found = measured(theorems.never_worse(context))
    worse = GOLDEN["extra"]["printed_m_worse_than_GRR_globally"]
    assert found["Alg. 3, mean loss above GRR"] == len(worse)
    assert [found["Alg. 3, some answer above GRR"], found["settings"]] == GOLDEN["extra"][
        "printed_m_worse_than_GRR_at_some_x"
    ]
    assert found["Alg. 3, largest ratio (N=30, epsilon=6)"] == pytest.approx(max(row[-1] for row in worse), rel=1e-12)


def test_limits_are_those_of_the_specification() -> None:
    for row in GOLDEN["limits"]:
        if row["eps"] not in theorems.LIMITS:
            continue
        ratios = theory.local_ratios(theorems.MANY, row["eps"])
        assert float(ratios.max()) == pytest.approx(row["sup"], rel=1e-9)
        assert float(ratios.min()) == pytest.approx(row["inf"], rel=1e-9)
        assert float(ratios[4]) == pytest.approx(row["fixed_k5"], rel=1e-9)
        assert printed.upper_limit(row["eps"]) == pytest.approx(row["sup_limit"], rel=1e-12)
        assert printed.lower_limit(row["eps"]) == pytest.approx(row["inf_limit"], rel=1e-12)
        assert theorems.mean_ratio(theorems.MANY, row["eps"]) == pytest.approx(row["Qg"], rel=1e-9)


def test_distance_from_the_optimum(context: Context) -> None:
    found = measured(checks.optimal(context))
    for row in GOLDEN["base"]:
        name = f"above the optimum, N=40 epsilon={row['eps']:g}"
        if name in found:
            assert found[name] == pytest.approx(row["BRR"] / row["codebook"] - 1, rel=1e-9)
    break_even = GOLDEN["opt"]["breakeven_eps_vs_constant_median"]
    assert found["worse than a constant answer below epsilon"] == pytest.approx(break_even, rel=1e-9)
    worst, points = GOLDEN["opt"]["worst_excess_pct"][:2]
    assert found[f"min over answers above the best common m, N={points} epsilon=6"] == pytest.approx(worst / 100)


def test_few_points_are_better(context: Context) -> None:
    found = measured(checks.more_points(context))
    row = next(row for row in GOLDEN["cont"] if row["eps"] == 2.0)
    assert found["epsilon=2, midpoints, N=7"] == pytest.approx(row["by_N_mid"]["7"], rel=1e-6)
    assert found["epsilon=2, midpoints, best N=3"] == pytest.approx(row["by_N_mid"]["3"], rel=1e-6)


def test_similarities_are_those_of_the_specification(context: Context) -> None:
    known = {(row["N"], row["eps"]): row for row in GOLDEN["jac"]}
    names = {"GRR": "U_GRR", "BRR, rule min (paper)": "U_BRR", "BRR, rule mean": "U_BRR_mg", "codebook": "U_codebook"}
    seen = 0
    for row in context.rows("fig6b"):
        golden = known.get((row["points"], row["epsilon"]))
        if golden is not None and row["mechanism"] in names:
            seen += 1
            assert row["similarity"] == pytest.approx(golden[names[str(row["mechanism"])]], rel=1e-9)
    assert seen >= 8


@pytest.mark.slow
def test_wrong_rules_are_counted_as_in_the_specification() -> None:
    context = Context(PAPER)
    by_range = GOLDEN["m"]["by_range"]
    for check, part in ((theory.even_i, "eps<1"), (theory.from_one, "eps>=1")):
        found = measured(check(context))
        assert (found["settings"], found["wrong"]) == (by_range[part]["cases"], by_range[part]["wrong"])
    both = [
        printed.alg3(rule.points, rule.epsilon, line1=True, line3=True) != rule.least for rule in theory.rules(context)
    ]
    assert sum(both) == GOLDEN["m"]["alg3_literal_wrong"]
    assert measured(theory.inequality15(context))["inequality true"] == GOLDEN["m"]["ineq15_true_in"] == 0


# Places and examples


def test_places_are_made_up_where_there_are_none(context: Context) -> None:
    places = some_places(context, "Gowalla")
    assert places.name == "Gowalla (made up)"
    assert len(places.points) == 300
    assert np.bincount(load_places(context, "Gowalla").regions).min() >= 7
    losses = all_losses(places, 1.0)
    assert losses["codebook"] < losses["BRR, remapped"] < losses["BRR, rule mean"] <= losses["BRR, rule min (paper)"]
    assert losses["level of L-SRR, printed"] > 1.0


def test_levels_are_measured_also_of_what_should_keep_epsilon(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A calibration that does nothing is found out: the correction is lost."""
    points = some_places(context, "Gowalla").points[:60]
    monkeypatch.setattr(places_of, "some_places", lambda _, name: places_of.Places(name, points, globe=False))

    def verdict() -> str:
        own = Context(PAPER, quick=True)
        return decide(PAPER.claim("lsrr-level").rule, release._printed_level(own)).verdict

    assert verdict() == "corrected"
    monkeypatch.setattr(staircase, "calibrated_staircase", staircase.staircase)
    assert verdict() == "refuted"


def test_the_largest_gain_must_be_where_the_paper_has_it(context: Context) -> None:
    """Gains that are large enough at the printed budgets do not do if others are larger."""
    rule = PAPER.claim("fig8-largest").rule
    at = {f"{data}, budget of the largest gain, {groups}": 2.0 for data in release._DATA for groups in ("one", "two")}
    printed: Any = PAPER.claim("fig8-largest").paper
    gains = {f"{name}, other groups": gain for name, gain in printed.items()}
    assert decide(rule, gains | at).verdict == "corrected"
    moved = at | {name: 0.25 for name in at if name.startswith("FourSquare")}
    assert decide(rule, gains | moved).verdict == "reproduced"


def test_laws_are_probabilities_and_only_one_of_them_is_restricted(context: Context) -> None:
    places = some_places(context, "Gowalla")
    found = laws(places, 1.0, own=17)
    for law in found.values():
        assert law.sum() == pytest.approx(1)
    own = places.regions == places.regions[17]
    assert found["own region only: not private"][~own].sum() == 0
    assert (found["BRR, any place"] > 0).all()


def test_real_places_are_read(tmp_path: Path) -> None:
    import gzip

    with gzip.open(tmp_path / "gowalla_brr_1000.csv.gz", "wt") as file:
        file.write("x,y\n" + "".join(f"{i},{i * i % 97}\n" for i in range(50)))
    places = load_places(Context(PAPER, quick=True, data_dir=tmp_path), "Gowalla")
    assert places.name == "Gowalla"
    assert places.points.shape == (50, 2)
    assert not places.globe


def test_a_sample_of_real_places_is_not_called_simulated(tmp_path: Path) -> None:
    import gzip

    draw = np.random.default_rng(1)
    for name, heading in (("gowalla_brr_1000", "x,y"), ("foursquare_nyc_poi", "lat,lon")):
        with gzip.open(tmp_path / f"{name}.csv.gz", "wt") as file:
            file.write(f"{heading}\n" + "".join(f"{40 + x},{-74 + y}\n" for x, y in draw.random((400, 2))))
    assert Context(PAPER, quick=True, data_dir=tmp_path).marks("fig7") == ()
    assert Context(PAPER, quick=True).marks("fig7") == ("MADE-UP DATA (Gowalla, FourSquare).",)


def test_regions_are_the_smallest_tiles_with_enough_places() -> None:
    """By hand: four places in one tile, two near ones in another, and one that only a larger tile can hold."""
    near = [[10 + 1e-4 * i, 10.0] for i in range(4)]
    pair, lone = [[-40.0, 100.0], [-40.0, 100.0001]], [[-60.0, 20.0]]
    codes = tile_codes(np.array([*near, *pair, *lone]))
    regions = prefix_regions(codes, 2)
    assert len(set(regions[:4])) == 1
    assert regions[4] == regions[5] == regions[6] != regions[0]
    assert len(set(prefix_regions(codes[:6], 2))) == 2
    assert len(set(prefix_regions(codes, 5))) == 1


def test_halves_are_as_many_as_asked_for_and_none_is_too_small() -> None:
    draw = np.random.default_rng(1)
    points = np.vstack([draw.uniform(40, 41, (400, 2)), [[-50.0, -50.0]]])
    table = np.hypot(*(points[:, None, :] - points[None, :, :]).transpose(2, 0, 1))
    regions = halved_regions(tile_codes(points), table, 6, 20)
    sizes = np.bincount(regions)
    assert sizes.size == 6
    assert sizes.min() >= 20
    nearest = int(table[-1, :-1].argmin())
    assert regions[-1] == regions[nearest]


def test_the_numbers_of_regions_decide_and_made_up_places_do_not(context: Context) -> None:
    claim = PAPER.claim("fig7")
    assert claim.test(context).verdict == "not tested"
    sizes = {"Gowalla, smallest": 7, "Gowalla, largest": 235}
    assert decide(claim.rule, {"Gowalla, regions": 14, **sizes}).verdict == "corrected"
    assert decide(claim.rule, {"Gowalla, regions": 13, **sizes}).verdict == "reproduced"


@pytest.mark.slow
def test_all_features_are_released_and_by_importance_each_has_its_share(context: Context) -> None:
    """Nothing is left out at the smallest budget of Fig. 11, and nobody warns that nothing is released."""
    data = examples(context, "US Census", 1500)
    public, rest = data.apart(400)
    assert len(public[0]) + len(rest.train[0]) == len(data.train[0])
    important = learning._importances(public, 1)
    assert important.shape == (14,)
    assert important.min() >= important.mean() / 20 > 0
    for label, options in learning.NETWORKS.items():
        given = learning._given(options, 0.25, important)
        model = LocalNetwork(low=-1.0, high=1.0, clip=True, epochs=1, seed=1, **given)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model.fit(rest.train[0], rest.train[1].astype(int))
        assert model.release_.count_ == (1 if "few" in label else 14)
        assert model.ledger_ is not None
        assert model.ledger_.total == Fraction(0.25)


def test_published_trees_are_those_that_are_grown(context: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[dict[str, Any]] = []

    class Spy(BoostedTrees):
        def fit(self, X: object, y: object) -> BoostedTrees:
            made.append({"trees": self.trees, "depth": self.depth, "leaf": self.leaf, "c": self.c})
            return super().fit(X, y)

    monkeypatch.setattr(learning, "BoostedTrees", Spy)
    data = examples(context, "abalone", 200)
    learning._rmse(data, 5.0, learning.LEAVES["DPBoost-BRR (paper: half the sensitivity)"], 1)
    assert made == [{"trees": 50, "depth": 5, "leaf": "alg4", "c": "half_sensitivity"}]


def test_a_converged_reference_gains_nothing_by_more_passes(context: Context) -> None:
    _, data = digits(context).apart(1000)
    one, two = (learning._accuracy(data, None, ("pm", 1), (32.0, 30), 1, passes=p) for p in (30, 60))
    assert abs(two - one) < 0.005
    assert two > 0.9


def test_examples_are_made_up_with_the_right_shape(context: Context) -> None:
    data = examples(context, "abalone")
    assert data.name == "abalone (made up)"
    assert len(data.train[0]) + len(data.test[0]) == 4177
    assert data.train[0].shape[1] == 8
    assert np.abs(data.train[0]).max() <= 1
    made = digits(context)
    assert isinstance(made, Examples)
    assert set(np.unique(made.train[1])) == set(range(10))


# Figures


@pytest.mark.parametrize("name", ["fig1", "fig3", "fig5", "fig5b", "fig6", "fig7", "fig7b", "fig8b"])
def test_figures_have_finite_numbers(name: str, context: Context) -> None:
    rows = context.rows(name)
    values = [value for row in rows for value in row.values() if isinstance(value, float)]
    assert len(values) >= 20
    assert all(math.isfinite(value) for value in values)


def test_leaves_that_the_published_range_cuts_off_decide_about_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Within half the sensitivity there is nothing to correct; one leaf beyond it on each data set is enough."""

    def verdict(most: float) -> Verdict:
        trees = [np.array([0.0, -min(most, 0.9**number)]) for number in range(50)]
        monkeypatch.setattr(applications, "plain_leaves", lambda context, name: (name, trees))
        return PAPER.claim("half-range").test(Context(PAPER))

    assert [verdict(most).verdict for most in (0.4, 0.46)] == ["reproduced", "corrected"]
    found = verdict(0.46).measured
    assert found is not None
    assert (found["Bias: leaves beyond c"], found["trees with a narrower range"]) == (8, 8)


def test_runs_of_a_figure_are_told_as_they_are() -> None:
    rows = [{"runs": runs, "method": "some"} for runs in (5, 16, 5)]
    assert applications._told_runs(rows) == "mean of 5 to 16 runs"
    assert [applications._told_runs(rows[:1]), applications._told_runs([{"runs": 1, "method": "x"}])] == [
        "mean of 5 runs",
        "one run",
    ]
