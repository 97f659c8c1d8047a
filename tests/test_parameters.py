"""Every parameter reaches the number: of each public function two values whose results differ, or a reason why not.

The parameters come from the signatures: a new one that is neither tried nor excused fails. Options of commands are
gone through in `tests/cli/test_options_matter.py`, options of mechanisms there and by their conformance tests. What a
result says of how it was asked (a level, a target, a request) does not count: the numbers must differ.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import deniable as dn
from deniable.core.intervals import Interval
from deniable.estimate.ordered import Quantiles
from deniable.estimate.result import Comparison, Estimate
from deniable.mechanisms.protocol import Protocol
from deniable.plan.questions import Plan
from deniable.plan.survey import Survey

LEFT_OUT = object()
"""Instead of a value: the parameter is not given."""
Case = tuple[Mapping[str, Any], Any, Any]
"""What else is given, and two values."""


@cache
def made() -> dict[str, Any]:
    """Things that are looked at below."""
    m = dn.mechanism("grr", epsilon=1.0, labels=["a", "b", "c"])
    uneven = m.estimate(m.simulate_tally([700, 200, 100], dn.simulation(1)))
    other = m.estimate(m.simulate_tally([300, 400, 900], dn.simulation(2)))
    numbers = dn.mechanism("sw", epsilon=1.0, interval=(0, 1), points=40)
    many = dn.mechanism("grr", epsilon=1.0, k=60)
    fitted = numbers.fit(numbers.privatize(np.linspace(0.1, 0.5, 400), rng=dn.simulation(3)), "ems")
    asked = dn.survey({"a": 2, "b": 3}, epsilon=1.0)
    return {"m": m, "uneven": uneven, "other": other, "fitted": fitted, "asked": asked,
            "counted": m.tally(m.privatize(["c"] * 5, rng=dn.simulation(4))),
            "many": many.estimate(many.simulate_tally([99] * 60, dn.simulation(5))),
            "line": dn.promise(points=[0, 1, 2], epsilon=0.5)}  # fmt: skip


def told(what: Any) -> Any:
    """The numbers of a result, without what it says of how it was asked."""
    if isinstance(what, Plan):
        return [(d.title, told(d.document())) for d in what.designs], what.feasible
    if hasattr(what, "too_rare"):
        return told(what.value), told(what.variance("reporters"))
    if isinstance(what, Interval):
        return what.low.tolist(), what.high.tolist()
    if isinstance(what, Estimate):
        return what.labels, told(what.value), what.n, what.steps
    if isinstance(what, Comparison):
        return told(what.value), told(what.stderr)
    if isinstance(what, Protocol):
        return repr(what), repr(what.domain)
    if isinstance(what, dn.Promise):
        return what.labels, repr(what.classes), told(what.table), told(what.closed.budgets)
    if isinstance(what, Mapping):
        return {name: told(each) for name, each in what.items() if name not in ("level", "target", "seed", "prior")}
    if isinstance(what, np.ndarray):
        return what.tolist()
    if isinstance(what, Path):
        return what.read_bytes()
    for name in ("to_columns", "document", "design"):
        found = getattr(what, name, None)
        if found is not None:
            return told(found() if callable(found) else found)
    return repr(what)


FLAT: Mapping[str, Any] = {"k": 8, "n": 1000, "epsilon": 1.0}
LINE: Mapping[str, Any] = {"question": "release", "points": 6, "epsilon": 1.0}
MEAN: Mapping[str, Any] = {"question": "mean", "n": 1000, "epsilon": 1.0}
KEYS: Mapping[str, Any] = {"question": "key-value", "k": 8, "n": 1000, "epsilon": 1.0}
FOUR: Mapping[str, Any] = {"name": "grr", "epsilon": 1.0, "k": 4}
NAMED: Mapping[str, Any] = {"name": "grr", "epsilon": 1.0, "labels": ["a", "b"]}
SMALL: Mapping[str, Any] = {"epsilons": 1.0, "mechanisms": ["grr"], "k": 4, "n": 300, "runs": 2, "workers": 1}
UTILITY: Mapping[str, Any] = {"base": "grr", "sensitive": 2, "epsilon": 1.0, "k": 4}
TWO: Mapping[str, Any] = {"questions": {"a": 2, "b": 3}, "epsilon": 1.0}


def functions() -> dict[str, Mapping[str, Case]]:
    """Of public functions and methods the cases of each parameter."""
    known = made()
    m, uneven, other, fitted, asked = (known[name] for name in ("m", "uneven", "other", "fitted", "asked"))
    own = {"m": m, "reports": 400}
    reports = m.privatize(["a", "b"], rng=dn.simulation(1))
    near, far = np.array([[0.0, 1], [1, 0]]), np.array([[0.0, 2], [2, 0]])
    items = {"item_epsilon": [1.0, 2.0, 3.0], "rule": "own"}
    blocks = {"blocks": [2, 2], "inside": 1.0, "across": 2.0}
    counts = [700, 200, 100]
    rows = {"design": m.design, "fields": m.fields, "simulated": True}
    answered = asked.privatize({"a": [0, 1] * 30, "b": [0, 2] * 30}, rng=dn.simulation(1))
    levelled = dn.mechanism("pldp", base="sue", k=4, levels=[0.5, 1.0], level_epsilon=1.0)
    return {
        "plan": {
            "question": (FLAT, "frequency", "range"),
            "k": ({"n": 1000, "epsilon": 1.0}, 8, 9),
            "labels": ({"n": 1000, "epsilon": 1.0}, ["a", "b"], ["a", "b", "c"]),
            "domain": ({"n": 1000, "epsilon": 1.0}, dn.Domain(3), dn.Domain(4)),
            "points": ({"question": "release", "epsilon": 1.0}, 5, 6),
            "interval": (MEAN, (0, 1), (0, 2)),
            "layout": ({**LINE, "interval": (0, 1)}, "midpoints", "endpoints"),
            "clip": ({**MEAN, "interval": (0, 1)}, LEFT_OUT, True),
            "distances": ({"question": "release", "epsilon": 1.0}, near, far),
            "n": ({"k": 8, "epsilon": 1.0}, 1000, 2000),
            "epsilon": ({"k": 8, "n": 1000}, 1.0, 1.1),
            "promise": ({"n": 1000}, known["line"], dn.promise(points=[0, 1, 2], epsilon=0.6)),
            "target_error": ({"k": 8, "epsilon": 1.0}, 0.01, 0.02),
            "max_asr": (FLAT, LEFT_OUT, 0.237),
            "max_bits": (FLAT, LEFT_OUT, 4),
            "max_bytes": (FLAT, LEFT_OUT, 1),
            "max_work": (FLAT, LEFT_OUT, 0.5),
            "max_poisoning": (FLAT, LEFT_OUT, 0.0185),
            "max_worst": (LINE, LEFT_OUT, 0.6),
            "targets": (FLAT, 1, 3),
            "weight": (FLAT, 0.1, 0.9),
            "weights": (FLAT, "error=1,bits=1", "error=1,bits=9"),
            "sensitive": (FLAT, 2, 3),
            "prior": (FLAT, LEFT_OUT, [0.3] + [0.1] * 7),
            "given": ({**FLAT, "sensitive": 2}, LEFT_OUT, {"theta": 0.9}),
            "length": (KEYS, LEFT_OUT, 3),
            "interest": (KEYS, 0.1, 9.0),
            "top": (FLAT, 1, 2),
        },
        "mechanism": {
            "name": ({"epsilon": 1.0, "k": 4}, "grr", "ss"),
            "epsilon": ({"name": "grr", "k": 4}, 1.0, 2.0),
            "k": ({"name": "grr", "epsilon": 1.0}, 4, 5),
            "labels": ({"name": "grr", "epsilon": 1.0}, ["a", "b"], ["a", "c"]),
            "domain": ({"name": "grr", "epsilon": 1.0}, dn.Domain(4), dn.Domain(5)),
            "missing": (NAMED, LEFT_OUT, "a"),
            "other": (NAMED, LEFT_OUT, "b"),
        },
        "protocol": {
            "name": ({"epsilon": 1.0, "k": 50}, "privkvm", "ks-grr"),
            "epsilon": ({"name": "privkvm", "k": 4}, 1.0, 2.0),
            "k": ({"name": "privkvm", "epsilon": 1.0}, 4, 5),
            "labels": ({"name": "privkvm", "epsilon": 1.0}, ["a", "b"], ["a", "b", "c"]),
            "domain": ({"name": "privkvm", "epsilon": 1.0}, dn.Domain(4), dn.Domain(5)),
            "missing": ({**NAMED, "name": "privkvm"}, LEFT_OUT, "a"),
            "other": ({**NAMED, "name": "privkvm"}, LEFT_OUT, "b"),
        },
        "utility": {
            "base": ({**UTILITY}, "grr", "oue"),
            "sensitive": ({**UTILITY}, 2, 3),
            "epsilon": ({**UTILITY}, 1.0, 2.0),
            "k": ({**UTILITY}, 4, 5),
            "labels": ({"base": "grr", "sensitive": 1, "epsilon": 1.0}, ["a", "b"], ["a", "c"]),
            "domain": ({"base": "grr", "sensitive": 1, "epsilon": 1.0}, dn.Domain(3), dn.Domain(4)),
            "missing": ({"base": "grr", "sensitive": 1, "epsilon": 1.0, "labels": ["a", "b"]}, LEFT_OUT, "a"),
            "other": ({"base": "grr", "sensitive": 1, "epsilon": 1.0, "labels": ["a", "b"]}, LEFT_OUT, "b"),
            "theta": ({**UTILITY, "base": "ss"}, 0.1, 0.9),
            "form": ({**UTILITY}, "null", "glutf"),
            "kept_private": (
                {"base": "grr", "sensitive": ["a"], "epsilon": 1.0, "labels": ["a", "b", "c"], "other": "c"},
                LEFT_OUT,
                True,
            ),
        },
        "attack": {
            "m": ({"reports": 400}, m, m.at(2.0)),
            "prior": (own, [0.2, 0.3, 0.5], [0.1, 0.2, 0.7]),
            "reports": ({"m": m}, 400, 800),
            "seed": (own, 1, 2),
        },
        "audit": {
            "what": ({}, m, m.at(2.0)),
            "epsilon": ({"what": m.channel()}, 0.5, 1.5),
            "promise": ({"what": m.channel()}, dn.promise(k=3, epsilon=0.5), dn.promise(k=3, epsilon=1.5)),
        },
        "dump": {
            "what": ({}, m.tally(reports), m.empty()),
            "id": ({"what": reports}, "1" * 32, "2" * 32),
        },
        "ordinal": {
            "answers": ({}, 4, 5),
            "queries": ({"answers": 8}, "ranges", "prefixes"),
        },
        "promise": {
            "epsilon": ({"k": 3}, 1.0, 2.0),
            "k": ({"epsilon": 1.0}, 3, 4),
            "labels": ({"epsilon": 1.0}, ["a", "b"], ["a", "c"]),
            "sensitive": ({"epsilon": 1.0, "k": 4}, 2, 3),
            "item_epsilon": ({"rule": "own"}, [1.0, 2.0], [1.0, 3.0]),
            "rule": (items, "own", "min"),
            "graph": ({"epsilon": 1.0, "k": 3}, [(0, 1)], [(0, 1), (1, 2)]),
            "distances": ({"epsilon": 1.0}, near, far),
            "points": ({"epsilon": 1.0}, [0, 1, 2], [0, 1, 3]),
            "blocks": ({**blocks, "k": 4}, [2, 2], [1, 3]),
            "inside": (blocks, 1.0, 1.5),
            "across": (blocks, 2.0, 1.5),
            "budgets": ({}, [[0.0, 1.0], [1.0, 0.0]], [[0.0, 1.0], [2.0, 0.0]]),
        },
        "study": {
            "mechanisms": (SMALL, ["grr"], ["ss"]),
            "epsilons": (SMALL, 1.0, 2.0),
            "data": (SMALL, "zipf", "uniform"),
            "k": (SMALL, 4, 5),
            "labels": ({name: x for name, x in SMALL.items() if name != "k"}, ["a", "b"], ["a", "b", "c"]),
            "domain": ({name: x for name, x in SMALL.items() if name != "k"}, dn.Domain(3), dn.Domain(4)),
            "n": (SMALL, 300, 400),
            "metrics": (SMALL, "mse", "mae"),
            "runs": (SMALL, 2, 3),
            "seed": (SMALL, 1, 2),
        },
        "survey": {
            "questions": ({"epsilon": 1.0}, {"a": 2}, {"a": 3}),
            "epsilon": ({"questions": {"a": 2}}, 1.0, 2.0),
            "weights": (TWO, {"a": 1}, {"a": 5}),
            "stderr": (TWO, 0.01, {"a": 0.01, "b": 0.05}),
            "tables": (TWO, LEFT_OUT, [("a", "b")]),
            "scheme": (TWO, "one", "box"),
        },
        "trend": {
            "estimates": ({}, [uneven, other], [other, uneven]),
            "times": ({"estimates": [uneven, other]}, [0, 1], [0, 2]),
            "target": ({"estimates": [uneven, other]}, "reporters", "population"),
        },
        "equality": {
            "estimates": ({}, [uneven, other], [uneven, uneven]),
            "target": ({"estimates": [uneven, other]}, "reporters", "population"),
        },
        "simulation": {"seed": ({}, 1, 2)},
        "from_design": {"design": ({}, m.design, m.at(2.0).design)},
        "load": {"what": ({}, dn.dump(m.empty()), dn.dump(m.tally(reports)))},
        "Estimate.binned": {"bins": ({"self": fitted}, 4, 5)},
        "Estimate.compare": {
            "other": ({"self": uneven}, other, uneven),
            "target": ({"self": uneven, "other": other}, "reporters", "population"),
        },
        "Estimate.covariance": {"target": ({"self": uneven}, "reporters", "population")},
        "Estimate.variance": {"target": ({"self": uneven}, "reporters", "population")},
        "Estimate.interval": {
            "level": ({"self": uneven}, 0.9, 0.95),
            "target": ({"self": uneven}, "reporters", "population"),
            "simultaneous": ({"self": uneven}, False, True),
        },
        "Estimate.to_columns": {
            "level": ({"self": uneven}, 0.9, 0.95),
            "target": ({"self": uneven}, "reporters", "population"),
        },
        "Estimate.quantiles": {
            "level": ({"self": known["many"]}, 0.1, 0.99),
            "target": ({"self": known["many"], "level": 0.5}, "reporters", "population"),
        },
        "Comparison.interval": {
            "level": ({"self": uneven.compare(other)}, 0.9, 0.95),
            "simultaneous": ({"self": uneven.compare(other)}, False, True),
        },
        "Comparison.to_columns": {"level": ({"self": uneven.compare(other)}, 0.9, 0.95)},
        "Mechanism.at": {"epsilon": ({"self": m}, 1.0, 2.0)},
        "Mechanism.effective": {"n": ({"self": m}, 1, 2)},
        "Mechanism.properties": {"n": ({"self": m}, 1, 2)},
        "Mechanism.guess": {"prior": ({"self": m}, LEFT_OUT, [0.8, 0.1, 0.1])},
        "Mechanism.empty": {"simulated": ({"self": m}, False, True)},
        "Mechanism.simulate_tally": {
            "counts": ({"self": m, "rng": dn.simulation(1)}, counts, counts[::-1]),
            "rng": ({"self": m, "counts": counts}, dn.simulation(1), dn.simulation(2)),
        },
        "Mechanism.fit": {
            "data": ({"self": m}, m.tally(reports), known["counted"]),
        },
        "Mechanism.from_matrix": {
            "matrix": ({}, [[3, 1], [1, 3]], [[2, 1], [1, 2]]),
            "labels": ({"matrix": [[3, 1], [1, 3]]}, ["a", "b"], ["a", "c"]),
            "epsilon": ({"matrix": [[3, 1], [1, 3]]}, 2.0, 3.0),
        },
        "Mechanism.estimate": {"tally": ({"self": m}, m.tally(reports), known["counted"])},
        "Mechanism.parts": {"tally": ({"self": m}, m.tally(reports), known["counted"])},
        "Mechanism.tally": {"reports": ({"self": m}, reports, reports[:1])},
        "Mechanism.privatize": {
            "values": ({"self": m, "rng": 1}, ["a"] * 9, ["b"] * 9),
            "levels": ({"self": levelled, "rng": 1, "values": [0] * 9}, [0.5] * 9, [1.0] * 9),
        },
        "Mechanism.privatize_items": {"items": ({"self": m, "rng": 1}, np.zeros(9, int), np.ones(9, int))},
        "Mechanism.of_design": {"design": ({"self": type(m), "domain": m.domain}, m.design, m.at(2.0).design)},
        "Reports.concat": {"parts": ({}, [reports], [reports, reports[:1]])},
        "Reports.row": {"i": ({"self": m.privatize(["a"] * 40, rng=dn.simulation(1))}, 0, 3)},
        "Reports.from_rows": {
            "rows": (rows, [b"\0"], [b"\1"]),
            "simulated": ({**rows, "rows": [b"\0"]}, False, True),
        },
        "Survey.privatize": {
            "values": ({"self": asked, "rng": 1}, {"a": [0] * 9, "b": [0] * 9}, dict.fromkeys("ab", [1] * 9))
        },
        "Survey.tally": {"reports": ({"self": asked}, answered, answered[:1])},
        "Survey.apart": {"tally": ({"self": asked}, asked.tally(answered), asked.tally(answered[:5]))},
        "Survey.estimate": {"tally": ({"self": asked}, asked.tally(answered), asked.tally(answered[:30]))},
        "Survey.assign": {"n": ({"self": asked, "rng": dn.simulation(1)}, 2, 3)},
        "Survey.properties": {"n": ({"self": asked}, 1, 2)},
        "Survey.about": {"part": ({"self": asked}, "a", "b")},
    }


def both(name: str, parameter: str, case: Case) -> tuple[Any, Any]:
    """What comes out for both values."""
    given, *values = case
    own, _, method = name.rpartition(".")
    results = []
    for value in values:
        more = dict(given) if value is LEFT_OUT else {**given, parameter: value}
        what = getattr(more.pop("self", CLASSES[own]) if own else dn, method)
        if isinstance(more.get("rng"), int):
            more["rng"] = dn.simulation(more["rng"])  # the same stream for both values
        results.append(told(what(**more)))
    return results[0], results[1]


CLASSES = {
    each.__name__: each for each in (Estimate, Comparison, Quantiles, Survey, dn.Mechanism, dn.Reports, dn.Tally)
}
"""Whose methods are gone through."""
WHY_NOT: Mapping[str, str] = {
    "progress": "is told how far the work is: tests/run/test_sweep.py, tests/estimate/test_em.py",
    "workers": "must not change a result: tests/run/test_sweep.py",
    "resume": "must not change a result: tests/run/test_sweep.py",
    "register": "what it does is seen by a name: tests/mechanisms/test_registry.py",
    "save": "writes a file: tests/run/test_store.py",
    "Estimate.chart": "pictures: tests/present/test_charts.py",
    "attack.target": "is refused where a design has one target: tests/cli/test_options_matter.py",
    "Mechanism.from_functions": "tests/mechanisms/test_functions.py",
    "Mechanism.from_matrix": "the rest of its parameters: tests/audit",
    "Mechanism.fit": "methods and their options: tests/estimate/test_em_fit.py",
    "Mechanism.empty.most": "refuses tallies that are larger: tests/mechanisms/test_too_many.py",
    "Mechanism.entry_names": "a cell's names are its result: tests/cli/test_baselines.py",
    "Mechanism.of_design.domain": "must be that of the design",
    "Reports.from_rows": "the rest is the design's: tests/collect/test_reports.py",
    "column": "of a frame: tests/collect/test_frames.py",
    "coins": "tests/collect/test_coins.py",
    "promise.space": "a file of places: tests/core/test_promise.py",
    "Survey.privatize.assigned": "tests/survey/test_survey.py",
    "Survey.pooled": "tests/survey/test_survey.py",
    "Survey.table": "takes what it is about by place: tests/mechanisms/test_edges.py",
    "rng": "reports differ each time: tests/randomness",
}
"""Functions, parameters of one, or names of parameters that are not tried here, and why."""


def parameters() -> Iterator[tuple[str, str]]:
    """Every public function and method with each of its parameters."""
    public = {name: getattr(dn, name) for name in dn.__all__}
    found = {name: what for name, what in public.items() if inspect.isfunction(what)}
    for owner, kind in CLASSES.items():
        own = inspect.getmembers(kind, lambda each: inspect.isfunction(each) or inspect.ismethod(each))
        found |= {f"{owner}.{name}": what for name, what in own if not name.startswith("_")}
    for name, what in found.items():
        for parameter in inspect.signature(what).parameters.values():
            if parameter.name != "self" and parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
                yield name, parameter.name


def excused(name: str, parameter: str) -> bool:
    return bool({name, parameter, f"{name}.{parameter}", name.rpartition(".")[2]} & set(WHY_NOT))


def test_every_parameter_is_tried_or_excused() -> None:
    """A new parameter without an entry here fails; so does an entry for one that is gone."""
    known, cases = set(parameters()), functions()
    tried = {(name, parameter) for name, own in cases.items() for parameter in own}
    assert [pair for pair in sorted(known - tried) if not excused(*pair)] == []
    assert sorted(tried - known) == []
    named = {word for pair in known for word in (*pair, ".".join(pair), pair[0].rpartition(".")[2])}
    assert set(WHY_NOT) - named == set()


def test_two_values_of_a_parameter_give_two_results() -> None:
    same = []
    for name, cases in functions().items():
        for parameter, case in cases.items():
            one, two = both(name, parameter, case)
            same += [f"{name} {parameter}"] if one == two else []
    assert same == []
