"""Verdicts follow from evidence: `decide`, and every claim's rule under evidence for it and against it.

No claim can be forgotten: rules are those of all claims of all papers, nothing but `decide` makes a verdict, and the
numbers that it compares are not written down in the measurements.
"""

from __future__ import annotations

import ast
import inspect
import json
import operator
import re
import textwrap
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm, t

import deniable.papers
from deniable.errors import ParameterError
from deniable.papers.evidence import Evidence, Missing, Sampled, as_evidence, as_plain
from deniable.papers.paper import Claim, Context, Measures, Paper, read_paper
from deniable.papers.rules import (
    ALPHA,
    Condition,
    Rule,
    Verdict,
    decide,
    read_rule,
)
from deniable.papers.runner import PAPERS

ALL = [(paper.name, claim) for paper in PAPERS.values() for claim in paper.claims]
NAMED = {f"{name}-{claim.id}": claim for name, claim in ALL}


# ---- decide


def verdict(rule: Rule, **measured: Any) -> str:
    return decide(rule, {name.replace("_", " "): value for name, value in measured.items()}).verdict


def test_a_statement_is_reproduced_corrected_or_refuted() -> None:
    rule = Rule(
        (Condition("off", "<=", 0.1), Condition("lost", "==", 0)),
        (Condition("other", "<=", "limit"),),
        "what holds instead",
    )
    assert verdict(rule, off=0.1, lost=0, other=9, limit=1) == "reproduced"
    assert verdict(rule, off=0.2, lost=0, other=1, limit=1) == "corrected"
    assert verdict(rule, off=0.1, lost=1, other=1, limit=1) == "corrected"
    assert verdict(rule, off=0.2, lost=0, other=2, limit=1) == "refuted"
    found = decide(rule, {"off": 0.2, "lost": 0, "other": 2, "limit": 1})
    assert found.note == "'off' is 0.2; not even what is given instead holds: 'other' is 2"
    assert str(rule) == (
        "reproduced if 'off' is at most 0.1 and 'lost' is 0; else corrected if 'other' is at most 'limit'"
    )


@pytest.mark.parametrize(
    ("condition", "value", "state"),
    [
        (Condition("x", "<", 1), 1, False),
        (Condition("x", "<=", 1), 1, True),
        (Condition("x", ">", 1), 1, False),
        (Condition("x", ">=", 1), 1, True),
        (Condition("x", "==", 1), 1, True),
        (Condition("x", "!=", 1), 1, False),
    ],
)
def test_bounds_are_strict_or_not_as_they_say(condition: Condition, value: float, state: bool) -> None:
    assert condition.state({"x": value}, 0) is state


def test_a_star_means_each_of_them() -> None:
    rule = Rule((Condition("*, printed", "<", "*, exact"),))
    good = {"a, printed": 1, "a, exact": 2, "b, printed": 3, "b, exact": 4}
    assert decide(rule, good).verdict == "reproduced"
    found = decide(rule, good | {"b, exact": 3})
    assert (found.verdict, found.note) == ("refuted", "'b, printed' is 3")


@pytest.mark.parametrize(
    ("given", "message"),
    [({"other": 1.0}, "among them"), ({"off": "text"}, "the number 'off'"), ({}, "among them")],
)
def test_evidence_that_lacks_what_the_rule_speaks_of_is_an_error(given: Evidence, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        decide(Rule((Condition("off", "<=", 1),)), given)


def noisy(value: float, error: float, runs: int | None = None) -> Evidence:
    more = {} if runs is None else {"runs": runs}
    return {"gain": Sampled(value, error), **more}


def test_numbers_that_were_drawn_decide_only_beyond_chance() -> None:
    rule = Rule((Condition("gain", ">", 0, noisy=True),), alpha=ALPHA)
    edge = float(norm.isf(ALPHA))
    for value, expected in ((1.01, "reproduced"), (0.99, "not tested"), (-0.99, "not tested"), (-1.01, "refuted")):
        assert decide(rule, noisy(edge * value, 1.0)).verdict == expected
    found = decide(rule, noisy(0.5, 1.0))
    assert found.note.startswith("not decided")
    assert found.measured == {"gain": 0.5, "gain, standard error": 1.0}


def test_few_runs_need_more_and_one_run_decides_nothing() -> None:
    rule = Rule((Condition("gain", ">", 0, noisy=True),), alpha=ALPHA)
    edge = float(t.isf(ALPHA, 3))
    assert edge > 2 * norm.isf(ALPHA)
    assert decide(rule, noisy(1.01 * edge, 1.0, runs=4)).verdict == "reproduced"
    assert decide(rule, noisy(0.99 * edge, 1.0, runs=4)).verdict == "not tested"
    assert decide(rule, noisy(1e9, 1.0, runs=1)).verdict == "not tested"


def test_all_comparisons_of_a_rule_share_its_error_rate() -> None:
    rule = Rule((Condition("gain *", ">", 0, noisy=True),), alpha=ALPHA)
    for shared, expected in ((50, "not tested"), (101, "reproduced")):
        many = {f"gain {i}": Sampled(float(norm.isf(ALPHA / shared)), 1.0) for i in range(100)}
        assert decide(rule, many).verdict == expected


def test_not_worse_is_what_chance_allows() -> None:
    rule = Rule((Condition("gain", ">=", 0, noisy=True),), alpha=ALPHA)
    assert decide(rule, noisy(-3.0, 1.0)).verdict == "reproduced"
    assert decide(rule, noisy(-3.2, 1.0)).verdict == "refuted"


def test_a_correction_that_is_not_decided_leaves_the_verdict_open() -> None:
    """It does not hold as printed, and more runs would show whether the correction does: nothing is refuted yet."""
    rule = Rule((Condition("lost", "==", 0),), (Condition("gain", ">", 0, noisy=True),), "instead", alpha=ALPHA)
    found = decide(rule, {"lost": 1, **noisy(1.0, 1.0)})
    assert found.verdict == "not tested"
    assert found.note == "not decided, as chance may explain: 'gain' is 1; not as printed: 'lost' is 1"
    assert decide(rule, {"lost": 1, **noisy(9.0, 1.0)}).verdict == "corrected"
    assert decide(rule, {"lost": 1, **noisy(-9.0, 1.0)}).verdict == "refuted"


def test_what_is_asked_twice_is_compared_once() -> None:
    """The statement and its correction ask for the same: chance has one occasion, not two."""
    one, two = Condition("gain", ">", 0, noisy=True), Condition("other", ">", 0, noisy=True)
    rule = Rule((one, two), (one,), "one of them", alpha=ALPHA)
    edge = float(norm.isf(ALPHA / 2))
    assert decide(rule, {"gain": Sampled(1.01 * edge, 1.0), "other": Sampled(9.0, 1.0)}).verdict == "reproduced"
    assert decide(rule, {"gain": Sampled(0.99 * edge, 1.0), "other": Sampled(9.0, 1.0)}).verdict == "not tested"


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: Rule(()), "holds must be at least one condition"),
        (lambda: Rule((Condition("x", ">", 0, noisy=True),)), "alpha must be above 0"),
        (lambda: Rule((Condition("x", "==", 0),), (Condition("y", "==", 0),)), "why must be given"),
        (lambda: Condition("x", "~", 0), "relation must be one of"),
        (lambda: Condition("x", ">", "y", noisy=True), "noisy must be given for"),
    ],
)
def test_a_rule_is_checked(made: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        made()


def test_what_cannot_be_measured_is_not_tested() -> None:
    claim = Claim("x", "says", "Eq. 1", 1, Rule((Condition("x", "==", 1),)), lambda context: Missing("no file"))
    assert claim.test(Context(Paper("toy", "Toy25", "A toy", (), (claim,)))) == Verdict("not tested", None, "no file")


# ---- numbers with their errors


@pytest.mark.stat
def test_errors_of_means_differences_and_ratios_are_those_of_simulated_numbers() -> None:
    """False alarms: six standard deviations of each estimated error, so 2e-9 each; a fifth more is found."""
    draw, often = np.random.default_rng(3), 20_000
    one, two = (draw.normal(mean, 0.1, (often, 16)) for mean in (2.0, 3.0))
    a, b = Sampled(2.0, 0.1 / 4), Sampled(3.0, 0.1 / 4)
    seen, other = one.mean(axis=1), two.mean(axis=1)
    for formed, values in (
        (a - b, seen - other),
        (a / -4, seen / -4),
        (a.log_ratio(b), np.log(seen / other)),
        (Sampled.mean([a, b]), (seen + other) / 2),
    ):
        spread = float(values.std(ddof=1))
        assert formed.value == pytest.approx(float(values.mean()), abs=6 * formed.error / often**0.5 + 1e-3)
        assert abs(formed.error / spread - 1) < 6 / (2 * often) ** 0.5
        assert abs(1.2 * formed.error / spread - 1) > 6 / (2 * often) ** 0.5


def test_the_mean_over_runs_has_the_error_of_the_runs() -> None:
    found = Sampled.over_runs(np.array([1.0, 2.0, 3.0]))
    assert found == Sampled(2.0, pytest.approx(1 / 3**0.5))
    assert found.away(0.0) == pytest.approx(2 * 3**0.5)
    assert Sampled.over_runs(np.array([1.0])) == Sampled(1.0, float("inf"))


def test_evidence_is_written_and_read_again() -> None:
    """A number that is called a standard error itself stays what it is."""
    evidence: Evidence = {"runs": 5, "who": "all", "gain": Sampled(0.5, 0.1), "item 0, standard error": 0.3}
    plain = as_plain(evidence)
    assert list(plain) == ["runs", "who", "gain", "gain, standard error", "item 0, standard error"]
    assert as_evidence(plain) == evidence


def test_a_number_that_was_not_drawn_has_no_chance_to_be_beyond() -> None:
    with pytest.raises(ParameterError, match=r"'gain' with a standard error, got 0\.5"):
        decide(Rule((Condition("gain", ">", 0, noisy=True),), alpha=ALPHA), {"gain": 0.5})


# ---- what is written down


def test_a_rule_that_is_written_down_is_the_same_rule() -> None:
    told = {
        "holds": [["gain, *", ">", 0.1, "beyond chance"], ["lost", "==", 0]],
        "instead": [["lost", "<=", "most"]],
        "why": "some are lost",
        "note": "of all",
    }
    holds = Condition("gain, *", ">", 0.1, noisy=True), Condition("lost", "==", 0)
    assert read_rule(told) == Rule(holds, (Condition("lost", "<=", "most"),), "some are lost", "of all", ALPHA)
    assert read_rule({**told, "alpha": 1e-6}).alpha == 1e-6
    assert read_rule({"holds": [["lost", "==", 0]]}).alpha == 0


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ({"holds": [["gain", ">", 0, "by chance"]]}, "chance must be 'beyond chance', or left out, got 'by chance'"),
        ({"holds": [["gain", "above", 0]]}, "relation must be one of"),
        ({"why": "nothing holds"}, "holds must be at least one condition"),
    ],
)
def test_a_rule_that_is_written_down_wrongly_is_refused(told: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        read_rule(told)


def test_every_claim_that_is_written_down_is_measured_once() -> None:
    paper = PAPERS["pldp"]
    measures = Measures({claim.id: claim.measure for claim in paper.claims})
    assert read_paper("pldp", paper.figures, measures) == paper
    first = Measures({"thm51": measures["thm51"]})
    for parts in (
        [Measures({id: measure for id, measure in measures.items() if id != "thm51"})],
        [measures, Measures({"thm99": measures["thm51"]})],
        [measures, first],
    ):
        with pytest.raises(ParameterError, match="one measurement for each of"):
            read_paper("pldp", paper.figures, *parts)
    with pytest.raises(ParameterError, match="each claim is measured once"):
        first("thm51")(measures["thm51"])


# ---- evidence for and against, for every claim


def values_of(rule: Rule) -> dict[str, list[float]]:
    """Numbers on both sides of all bounds, for two names where there is a star."""
    names: dict[str, set[float]] = {}
    for c in rule.conditions:
        for text in ("one", "two") if "*" in c.quantity else ("",):
            names.setdefault(c.quantity.replace("*", text), set())
    for c in rule.conditions:
        for name, bound in c.names(dict.fromkeys(names, 0.0)).items():
            if isinstance(bound, str):
                names.setdefault(bound, set()).update((1.0, 2.0, 3.0))
                names[name] |= names[bound]
            else:
                step = max(1e-12, abs(bound) / 7)
                names[name] |= {bound - step, bound + step} | ({bound} if "=" in c.relation and not c.noisy else set())
    for c in rule.conditions:
        for name, bound in c.names(dict.fromkeys(names, 0.0)).items():
            if isinstance(bound, str):
                names.setdefault(bound, set()).update(names[name])
    ranked = {name: sorted(values) for name, values in names.items()}
    if any(c.noisy for c in rule.conditions):  # nothing lies on a bound, where nothing is decided
        return {name: [v[0], *((a + 2 * b) / 3 for a, b in pairwise(v)), v[-1]] for name, v in ranked.items()}
    return {name: sorted({*v, *((a + b) / 2 for a, b in pairwise(v))}) for name, v in ranked.items()}


def sure(rule: Rule, world: dict[str, float], error: float) -> Evidence:
    """These numbers with standard errors, all of them the same, if any was drawn."""
    drawn = any(c.noisy for c in rule.conditions)
    return {name: Sampled(value, error) if drawn else value for name, value in world.items()}


TRUE = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne}
Comparison = tuple[str, str, str | float]


def faults(comparisons: list[Comparison], want: bool, world: dict[str, float]) -> int:
    """How many comparisons of a condition must change to make it true of all of them, or not."""
    right = [TRUE[how](world[name], world[b] if isinstance(b, str) else b) for name, how, b in comparisons]
    return right.count(False) if want else int(all(right))


def find(wanted: list[tuple[list[Comparison], bool]], start: dict[str, float], values: dict[str, list[float]]) -> Any:
    """Evidence under which conditions are true or not as wanted: numbers are moved in turn, as long as that helps."""
    world = start
    for _ in range(3 * len(values)):
        left = [faults(comparisons, want, world) for comparisons, want in wanted]
        if not any(left):
            return world
        wrong = next(comparisons for (comparisons, _), fault in zip(wanted, left, strict=True) if fault)
        involved = dict.fromkeys(n for name, _, bound in wrong for n in (name, bound) if isinstance(n, str))
        moves = [world | {name: value} for name in involved for value in values[name] if value != world[name]]
        world = min(moves, key=lambda at: sum(faults(comparisons, want, at) for comparisons, want in wanted))
    return None


def find_any(rule: Rule, target: list[bool], free: range, *, printed: bool | None = None) -> dict[str, float] | None:
    """Evidence with these states, those that are free as they come; the statement as printed true or not, if given."""
    values = values_of(rule)
    compared = [[(n, c.relation, b) for n, b in c.names(dict.fromkeys(values, 0.0)).items()] for c in rule.conditions]
    wanted = [(compared[i], want) for i, want in enumerate(target) if i not in free]
    low, high = ({name: v[i] for name, v in values.items()} for i in (0, -1))
    ends = [low, high, *(low | {name: x} for name, v in values.items() for x in v)]
    ends += [high | {name: x} for name, v in values.items() for x in v]
    for end in ends:
        world = find(wanted, end, values)
        if world is None:
            continue
        holds = not any(faults(comparisons, True, world) for comparisons in compared[: len(rule.holds)])
        if printed is None or printed == holds:
            found: dict[str, float] = world
            return found
    return None


@pytest.mark.parametrize("name", NAMED)
def test_every_verdict_changes_under_contrary_evidence(name: str) -> None:
    """Evidence for it reproduces a claim; evidence against any single condition changes the verdict: none is idle."""
    rule = NAMED[name].rule
    first, last = len(rule.holds), len(rule.conditions)
    printed, instead = range(first), range(first, last)
    for_it = find_any(rule, [True] * last, free=instead)
    assert for_it is not None
    assert decide(rule, sure(rule, for_it, 1e-15)).verdict == "reproduced"
    for i in printed:
        against = find_any(rule, [j != i for j in range(last)], free=instead)
        assert against is not None, f"{rule.conditions[i]} never decides alone: drop it"
        assert decide(rule, sure(rule, against, 1e-15)).verdict in ("corrected", "refuted")
    if not rule.instead:
        return
    right = find_any(rule, [True] * last, free=printed, printed=False)
    assert right is not None
    assert decide(rule, sure(rule, right, 1e-15)).verdict == "corrected"
    for i in instead:
        against = find_any(rule, [j != i for j in range(last)], free=printed, printed=False)
        assert against is not None, f"{rule.conditions[i]} never decides alone: drop it"
        assert decide(rule, sure(rule, against, 1e-15)).verdict == "refuted"


@pytest.mark.parametrize("name", [name for name, claim in NAMED.items() if any(c.noisy for c in claim.rule.holds)])
def test_what_was_drawn_is_not_decided_by_one_run(name: str) -> None:
    """With errors that nobody knows, no claim is reproduced that a number alone would have to decide."""
    rule = NAMED[name].rule
    first, last = len(rule.holds), len(rule.conditions)
    world = find_any(rule, [True] * last, free=range(first, last))
    assert world is not None
    strict = any(c.noisy and c.relation in "<>" for c in rule.holds)
    assert strict, "'not above beyond chance' alone is true of anything that is noisy enough: ask for evidence, too"
    assert decide(rule, sure(rule, world, 1e9)).verdict == "not tested"


def made_in(source: str) -> list[str]:
    """The words of verdicts that are made or changed in a source, however they are spelled; "?" for those computed."""
    words = set()
    for call in (n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.Call)):
        name = call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")
        given = [k.value for k in call.keywords if k.arg == "verdict"] + (call.args[:1] if name == "Verdict" else [])
        words |= {str(one.value) if isinstance(one, ast.Constant) else "?" for one in given}
    return sorted(words)


def test_nothing_but_decide_makes_a_verdict() -> None:
    """Measurements return numbers: no other module makes a `Verdict`, or changes the word of one."""
    folder = Path(deniable.papers.__file__).parent
    makers = {str(file.relative_to(folder)): made_in(file.read_text("utf-8")) for file in folder.rglob("*.py")}
    assert {name: words for name, words in makers.items() if words} == {
        "paper.py": ["not tested"],
        "rules.py": ["corrected", "not tested", "refuted", "reproduced"],
    }
    for planted in ('Verdict("x", {})', 'rules.Verdict(verdict="x")', 'replace(found, verdict="x")'):
        assert made_in(planted) == ["x"]


def written_in(source: str) -> dict[str, bool]:
    """The numbers that a measurement names in its source, each with whether they are written down there.

    Written down means without any call and without anything that is computed in the function: a literal, however it is
    wrapped, or a constant of the module. What is named by a computed text cannot be told, and is left out.
    """
    tree = ast.parse(textwrap.dedent(source))
    own = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    own |= {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)}
    found: dict[str, bool] = {}

    def see(key: ast.expr | None, value: ast.expr) -> None:
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            parts = list(ast.walk(value))
            computed = any(isinstance(n, ast.Call) or (isinstance(n, ast.Name) and n.id in own) for n in parts)
            found[key.value] = found.get(key.value, True) and not computed

    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                see(key, value)
        elif isinstance(node, ast.Assign | ast.AugAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for one in targets:
                if isinstance(one, ast.Subscript):
                    see(one.slice, node.value)
    return found


def constant(rule: Rule, source: str) -> list[str]:
    """The conditions of a rule that no measurement can change: all that they compare is written down."""
    written = written_in(source)
    lost = []
    for c in rule.conditions:
        fits = re.compile(re.escape(c.quantity).replace(r"\*", ".+"))
        sides = [own for name, own in written.items() if fits.fullmatch(name)]
        bound = [written.get(c.bound, False)] if isinstance(c.bound, str) else []
        if sides and all(sides + bound):
            lost.append(str(c))
    return lost


@pytest.mark.parametrize("name", [name for name, claim in NAMED.items() if inspect.isfunction(claim.measure)])
def test_numbers_that_decide_are_computed(name: str) -> None:
    """A measurement that returns what is written in it decides nothing, whatever its rule is."""
    claim = NAMED[name]
    assert not constant(claim.rule, inspect.getsource(claim.measure))


@pytest.mark.parametrize(
    ("source", "caught"),
    [
        ('def f(_):\n    return {"wrong": 0, "settings": len(ALL)}', True),
        ('def f(_):\n    found = {}\n    found["wrong"] = -1 + 1\n    return found', True),
        ('def f(_):\n    return {"wrong": PRINTED["wrong"]}', True),
        ('def f(_):\n    found = {"wrong": 0}\n    found["wrong"] += check()\n    return found', False),
        ('def f(_):\n    lost = [x for x in ALL if bad(x)]\n    return {"wrong": len(lost)}', False),
        ('def f(context):\n    return {"wrong": context.seed}', False),
    ],
)
def test_a_planted_number_is_seen(source: str, caught: bool) -> None:
    assert bool(constant(Rule((Condition("wrong", "==", 0),)), source)) is caught


KEPT = sorted((Path(__file__).parents[2] / "docs" / "data" / "claims").glob("*/*/claims.json"))


@pytest.mark.parametrize("file", KEPT, ids=lambda file: "-".join(file.parts[-3:-1]))
def test_verdicts_that_are_kept_follow_from_the_numbers_beside_them(file: Path) -> None:
    """Full runs that the pages are made of; a claim whose rule has changed since says so on its page."""
    paper, same = PAPERS[file.parent.name], 0
    rules = {f"{paper.name}-{claim.id}": claim.rule for claim in paper.claims}
    for record in json.loads(file.read_text("utf-8")):
        rule = rules.get(record["id"])
        if rule is None or record["rule"] != str(rule):
            continue
        found, same = decide(rule, as_evidence(record["measured"])), same + 1
        assert (found.verdict, rule.alpha) == (record["verdict"], record["error_rate"]), record["id"]
        assert record["note"].endswith(found.note), record["id"]
    assert same > len(rules) / 2


def test_statements_of_our_own_are_told_apart() -> None:
    """The papers do not say them, and they say so."""
    ours = {name for name, claim in NAMED.items() if claim.ours}
    assert len(ours) == 10
    for name, claim in NAMED.items():
        said = "of our own" in f"{claim.where} {claim.paper}"
        assert said is (name in ours), name
        assert claim.whose == ("ours" if name in ours else "the paper's")


def test_claims_and_statements_without_one_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    for paper in PAPERS.values():
        with capsys.disabled():
            print(f"\n{paper.name}: {len(paper.claims)} claims; {len(paper.left_out)} statements have none", end="")
        assert paper.left_out, "which statements of the paper have no claim, and why?"
        assert all(one.reason and one.where for one in paper.left_out)
    assert len(NAMED) == len(ALL) >= 150
