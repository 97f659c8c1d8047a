"""Surveys: several questions under one budget, each by the best mechanism of its kind, asked in the best way."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from itertools import combinations
from typing import Any

import numpy as np

from deniable.core.domain import Domain, Ticks
from deniable.core.grid import Grid
from deniable.errors import FormatError, InWords, ParameterError, is_number, is_whole, meant, require, show
from deniable.mechanisms.base import Mechanism
from deniable.mechanisms.entry import FREQUENCY
from deniable.mechanisms.ordinal.question import Ordinal, ordinal
from deniable.mechanisms.registry import entry_of, mechanism
from deniable.mechanisms.survey.asked import AskedPart, Told, tell
from deniable.mechanisms.survey.blocks import Block, Goal, best_blocks, singles
from deniable.mechanisms.survey.box import Box
from deniable.mechanisms.survey.laws import box_costs, least_cost, most_information, sampling
from deniable.mechanisms.survey.survey import SCHEMES, Question, Survey
from deniable.mechanisms.survey.tabled import TableSurvey
from deniable.mechanisms.survey.tables import EFFECTS, PAIRS, table_costs, table_parts
from deniable.plan.questions import plan
from deniable_client.errors import within
from deniable_client.exact import check_epsilon
from deniable_client.kernels.dealt import PARTS_MAX

__all__ = ["AUTO", "AskedPart", "Survey", "Told", "pays_from", "restored", "survey", "tell"]

AUTO = "auto"
"""The way of asking with the smallest errors, of those that make one report."""
_PEOPLE = 10_000
"""People for whom a mechanism is chosen; which one is best does not depend on it."""
_BITS, _BYTES = 2048, 32
"""Of questions with more answers than these bits, reports are kept to so many bytes."""
_SAME = 1e-9
"""Errors that differ by less are the same."""
_LABELLED = 64
"""Sets of answers to several questions that have labels, at most."""
_EPSILON_MOST = 12.0
"""Up to it, `pays_from` looks for the epsilon from which asking together pays."""


def survey(
    questions: Mapping[str, Any],
    *,
    epsilon: float | None = None,
    weights: Mapping[str, float] | Sequence[float] | None = None,
    stderr: Mapping[str, float] | float | None = None,
    tables: Sequence[tuple[str, str]] | None = None,
    scheme: str = AUTO,
) -> Survey:
    """Several questions to the same people under one epsilon: who is asked which, by which mechanism.

    `questions` by name: a number of answers, a list of labels, a domain, a grid of numbers, or a mechanism; or a
    mapping that says more: `k` or `labels`, with `sensitive` for those that need protection; `interval` for the mean of
    numbers; `ordinal` for answers in an order, as `deniable.ordinal` is; `keys` (with `length` pairs per person and the
    `range` of their values); `several` for options of which people tick any number, or at most `most`; `mechanism` with
    its options; and `epsilon` for a budget of its own, at most that of the survey. Left out, epsilon is the largest of
    the mechanisms.

    `weights` say how much the error of each question counts (1 unless given; one with 0 is not asked); errors of
    numbers count relative to their interval. Or `stderr`, the standard error that is wanted of each: then `needed` says
    how many people that takes. `scheme`: "one" question for each person, "box" (some asked together, in one report),
    whichever is better ("auto"), or "split": everybody answers all with parts of the budget, for comparison.

    `tables` are pairs of questions whose answers are wanted together: some reports are then about both, as "pairs" or
    as "effects", whichever is better; with one of these as scheme and no tables, those of all questions that can be.

    >>> import deniable as dn
    >>> s = dn.survey({"smokes": ["no", "yes"], "age": 8, "income": {"interval": (0, 5000)}}, epsilon=1.0)
    >>> s
    <Survey of 3 questions (epsilon = 1, scheme one): smokes, age, income>
    >>> [round(share, 3) for share in s.properties()["shares"].values()]
    [0.284, 0.442, 0.274]
    >>> dn.survey({"a": 2, "b": 2}, epsilon=2.0).parts
    ('a+b',)
    >>> dn.survey({"a": 2, "b": 16}, epsilon=1.0, stderr=0.01).needed
    44153
    """
    _check_questions(questions)
    known = (AUTO, *SCHEMES)
    require(scheme in known, "scheme", scheme, f"one of {', '.join(known)}", meant(scheme, known))
    most = _promise(questions, epsilon)
    goal = _goal(tuple(questions), weights, stderr)
    if scheme == "split":
        hint = "With a split budget all reports of a person together have a table; it is not built here."
        require(tables is None, "tables", tables, "left out for a split budget", hint)
        return _split(questions, most, goal)
    asked = tuple(_question(name, given, most) for name, given in questions.items())
    over = [question for question in asked if question.mechanism.epsilon > most]
    if over:
        name, own = over[0].name, over[0].mechanism.epsilon
        require(False, f"epsilon of {name}", own, f"at most that of the survey, {most:g}")
    goal = _scaled(goal, asked)
    if tables is not None or scheme in (PAIRS, EFFECTS):
        return _tabled(asked, most, goal, tables, scheme)
    costs, free = [q.cost for q in asked], [_size(q, most) for q in asked]
    ways: dict[str, list[Block]] = {"one": singles(costs, goal)}
    if scheme == "box":
        few = sum(k is not None for k in free)
        hint = "Those given as a number of answers or as labels, with the whole epsilon, can be."
        require(few >= 2, "questions", InWords(f"{few} that can be asked together"), "at least 2 for a box", hint)
        ways["box"] = best_blocks(most, costs, free, goal, least=2)
    elif scheme == AUTO:
        found = best_blocks(most, costs, free, goal)
        ways |= {"box": found} if any(block.shape for block in found) else {}
    totals = {name: goal.total([block.people for block in blocks]) for name, blocks in ways.items()}
    chosen = scheme if scheme != AUTO else min(ways, key=lambda name: totals[name])
    blocks = tuple(block for block in ways[chosen] if block.people > 0)
    made = tuple(_mechanism(block, asked, most) for block in blocks)
    return Survey(
        questions=asked,
        epsilon=most,
        scheme=chosen,
        blocks=blocks,
        goal=goal,
        mechanisms=made,
        alternatives=totals,
    )


def pays_from(questions: Mapping[str, int], weights: Any = None) -> float | None:
    """The epsilon from which some questions, by their numbers of answers, are better asked together.

    None if that is beyond any epsilon in use.

    >>> round(pays_from({"a": 2, "b": 2}), 4)
    1.3425
    """
    goal, sizes = _goal(tuple(questions), weights, None), list(questions.values())

    def together(epsilon: float) -> bool:
        costs = [least_cost(k, epsilon) for k in sizes]
        return any(block.shape for block in best_blocks(epsilon, costs, sizes, goal))

    low, high = 0.01, _EPSILON_MOST
    if not together(high):
        return None
    while high - low > 1e-6:
        middle = (low + high) / 2
        low, high = (low, middle) if together(middle) else (middle, high)
    return high


def _tabled(asked: tuple[Question, ...], epsilon: float, goal: Goal, tables: Any, scheme: str) -> Survey:
    """A survey with tables; questions without any are asked alone."""
    known = (AUTO, PAIRS, EFFECTS)
    hint = "From reports about single questions nothing follows about two of them together."
    require(scheme in known, "scheme", scheme, f"one of {', '.join(known)} where tables are wanted", hint)
    require(not goal.stderr, "stderr", goal.stderr, "left out where tables are wanted", "Give weights instead.")
    able = {q.name: q.mechanism.domain for q in asked if _size(q, epsilon) is not None}
    wanted = list(combinations(able, 2)) if tables is None else [tuple(pair) for pair in tables]
    odd = [name for pair in wanted for name in pair if name not in able and name in {q.name for q in asked}]
    told = "questions with answers by number or labels, at the epsilon of the survey"
    require(not odd, "tables", odd and odd[0], told, "A number, or a sensitive question, has no table.")
    few = InWords(f"{len(able)} of these")
    require(bool(wanted) and len(able) >= 2, "tables", few, f"at least one pair of {told}")
    held = {name: able[name] for name in able if any(name in pair for pair in wanted)}
    plan_of = table_parts(held if len(held) >= 2 else able, epsilon, tables=wanted, scheme=scheme)
    alone = [block for block in singles([q.cost for q in asked], goal) if asked[block.members[0]].name not in held]
    blocks = tuple(block for block in alone if block.people > 0)
    made = (*plan_of.mechanisms, *(asked[block.members[0]].mechanism for block in blocks))
    costs = table_costs(held, epsilon, tables=wanted)
    return TableSurvey(
        questions=asked,
        epsilon=epsilon,
        scheme=plan_of.scheme,
        blocks=blocks,
        goal=goal,
        mechanisms=made,
        alternatives={name: cost for name, cost in costs.items() if name != "bound"},
        plan=plan_of,
    )


# ---- what is given


def _check_questions(questions: object) -> None:
    hint = "For example survey({'smokes': 2, 'age': 8}, epsilon=1)."
    require(isinstance(questions, Mapping), "questions", questions, "a mapping from names to questions", hint)
    names = list(questions)  # type: ignore[call-overload]  # it is a mapping
    require(len(names) > 0, "questions", InWords("none"), "at least one question", hint)
    few = len(names) <= PARTS_MAX
    require(few, "questions", InWords(f"{len(names)} of them"), f"at most {PARTS_MAX}", "Make two surveys of them.")
    odd = [name for name in names if not isinstance(name, str) or not name]
    require(not odd, "questions", odd and odd[0], "with names that are texts", hint)


def _promise(questions: Mapping[str, Any], epsilon: float | None) -> float:
    """The epsilon of the survey."""
    if epsilon is not None:
        return check_epsilon(epsilon)
    own: list[float | None] = [given.epsilon if _is_made(given) else None for given in questions.values()]
    known = [each for each in own if each is not None]
    if len(known) < len(own):
        raise ParameterError("epsilon must be given.", "Say how private it is to be, e.g. epsilon=1.")
    return max(known)


def _goal(names: tuple[str, ...], weights: Any, stderr: Any) -> Goal:
    if stderr is None:
        told = _by_name("weights", names, 1.0 if weights is None else weights)
        bad = [w for w in told if not 0 <= w < math.inf]
        require(not bad, "weights", bad and bad[0], "numbers >= 0")
        require(
            any(told), "weights", InWords("0 for every question"), "above 0 for one at least", "0: it is not asked."
        )
        return Goal(weights=told)
    require(weights is None, "weights", weights, "left out where stderr is given", "The wanted errors say it all.")
    wanted = _by_name("stderr", names, stderr)
    bad = [error for error in wanted if not 0 < error < math.inf]
    require(not bad, "stderr", bad and bad[0], "numbers > 0", "0.01 is a percentage point of a share.")
    return Goal(stderr=wanted)


def _by_name(what: str, names: Sequence[str], given: Any) -> tuple[float, ...]:
    """A number for each question: by name, in order, or one for all."""
    if isinstance(given, Mapping):
        unknown = [name for name in given if name not in names]
        hint = meant(unknown[0], names) if unknown else ""
        require(not unknown, what, unknown and unknown[0], f"for the questions {', '.join(names)}", hint)
        usual = {} if what == "stderr" else dict.fromkeys(names, 1.0)
        missing = [name for name in names if name not in {**usual, **given}]
        require(not missing, what, InWords(f"none for {', '.join(missing)}"), "a number for every question")
        numbers = [{**usual, **given}[name] for name in names]
    else:
        several = isinstance(given, Iterable) and not isinstance(given, str)
        numbers = list(given) if several else [given] * len(names)
        require(len(numbers) == len(names), what, given, f"{len(names)} numbers, one for each question")
    odd = [x for x in numbers if not isinstance(x, int | float | np.number) or isinstance(x, bool) or math.isnan(x)]
    require(not odd, what, odd and odd[0], "numbers")
    return tuple(map(float, numbers))


def _scaled(goal: Goal, asked: Sequence[Question]) -> Goal:
    """Weights of variances in the units that they have."""
    if goal.stderr:
        return goal
    return Goal(weights=tuple(w / q.unit for w, q in zip(goal.weights, asked, strict=True)))


# ---- the best mechanism of a question


def _question(name: str, given: Any, epsilon: float) -> Question:
    """A question with its mechanism and what one report of it costs."""
    with within(name):
        if _is_made(given):
            return _costed(name, given)
        told = _described(given)
        own = told.pop("epsilon", epsilon)
        free = set(told) <= {"k", "labels", "domain", "missing", "other"}
        return replace(_costed(name, _made(told, check_epsilon(own))), free=free)


def _is_made(given: object) -> bool:
    """Whether this is a mechanism already."""
    return hasattr(type(given), "privatize_items")


_WRITTEN = ((Ordinal, "ordinal"), (Ticks, "several"), (Domain, "domain"))
"""What a question may be instead of a mapping, and the key that it has in one."""


def _described(given: Any) -> dict[str, Any]:
    """What somebody says of a question, as a mapping."""
    if isinstance(given, Mapping):
        return dict(given)
    if is_whole(given, 0):
        return {"k": int(given)}
    own = next((name for kind, name in _WRITTEN if isinstance(given, kind)), None)
    if own is not None:
        return {own: given}
    need = "a number of answers, a list of labels, a domain, a mechanism, or a mapping that describes one"
    listed = isinstance(given, Iterable) and not isinstance(given, str | bytes)
    require(listed, "question", given, need)
    return {"labels": given}


def _made(told: dict[str, Any], epsilon: float) -> Mechanism:
    kind = next((kind for kind in _KINDS if kind in told), None)
    if kind is None:
        hint = f"For example {{'k': 4}}; with others of {', '.join(_KINDS)}."
        raise ParameterError(f"question must have one of {', '.join(_KINDS)}, got {show(sorted(told))}.", hint)
    return _KINDS[kind](told, epsilon)


def _allowed(told: Mapping[str, Any], *names: str) -> None:
    unknown = [name for name in told if name not in names]
    hint = meant(unknown[0], names) if unknown else ""
    require(not unknown, "question", unknown and unknown[0], f"described by {', '.join(names)}", hint)


def _by_mechanism(told: dict[str, Any], epsilon: float) -> Mechanism:
    """A mechanism by name, with its options."""
    options = dict(told)
    return mechanism(options.pop("mechanism"), epsilon=epsilon, **options)


def _of_keys(told: dict[str, Any], epsilon: float) -> Mechanism:
    """How many people have each key, and the mean of its values."""
    _allowed(told, "keys", "length", "range", "interest")
    where = Domain.of(told["keys"])
    own = {name: told[name] for name in ("length", "interest") if name in told}
    found: Any = _best(question="key-value", domain=where, epsilon=epsilon, **own)
    return replace(found, range=tuple(told["range"])) if "range" in told else found  # type: ignore[no-any-return]


def _of_numbers(told: dict[str, Any], epsilon: float) -> Mechanism:
    """The mean of numbers of an interval."""
    _allowed(told, "interval", "points", "layout", "clip")
    return _best(question="mean", epsilon=epsilon, **told)


def _in_order(told: dict[str, Any], epsilon: float) -> Mechanism:
    """Answers in an order: ranges of them, cumulative shares and quantiles."""
    _allowed(told, "ordinal", "queries")
    given = told["ordinal"]
    how = {"queries": told["queries"]} if "queries" in told else {}
    return (given if isinstance(given, Ordinal) else ordinal(given, **how)).mechanism(epsilon)


def _of_ticks(told: dict[str, Any], epsilon: float) -> Mechanism:
    """Which of several options people tick, at most so many of them."""
    _allowed(told, "several", "most")
    where = Ticks.over(told["several"], told.get("most"))
    return mechanism("several", epsilon=epsilon, domain=where, most=where.most)


def _of_answers(told: dict[str, Any], epsilon: float) -> Mechanism:
    """Shares of answers, some of which may be the sensitive ones; of a grid the mean of its numbers."""
    _allowed(told, "k", "labels", "domain", "missing", "other", "sensitive")
    where = told.get("domain")
    if isinstance(where, Grid):
        require(len(told) == 1, "question", sorted(told), "a grid alone")
        name = _best(question="mean", epsilon=epsilon, interval=(where.low, where.high)).name
        return mechanism(name, epsilon=epsilon, domain=where)
    choices = {name: told[name] for name in ("missing", "other") if name in told}
    found = Domain.given(told.get("k"), told.get("labels"), where, **choices)
    more: dict[str, Any] = {"sensitive": told["sensitive"]} if told.get("sensitive") is not None else {}
    more |= {"max_bytes": _BYTES} if found.k > _BITS else {}
    return _best(domain=found, epsilon=epsilon, **more)


def _best(**asked: Any) -> Mechanism:
    """The first design of the plan for a question, of shares one of least error; the same question is planned once."""
    hashable = {name: tuple(each) if isinstance(each, list) else each for name, each in asked.items()}
    return _planned(**hashable)


@lru_cache(maxsize=256)
def _planned(**asked: Any) -> Mechanism:
    found = plan(n=_PEOPLE, **asked)
    require(found.best is not None, "question", InWords("one without a design"), "possible at this epsilon")
    designs = found.designs
    if asked.get("question", FREQUENCY) == FREQUENCY:  # a plan may put shorter reports ahead of less error
        least = min(d.stderr for d in designs)
        designs = tuple(d for d in designs if d.stderr <= least * (1 + _SAME))
    made: Mechanism = designs[0].mechanism
    return made


_KINDS: Mapping[str, Callable[[dict[str, Any], float], Mechanism]] = {
    "mechanism": _by_mechanism,
    "keys": _of_keys,
    "interval": _of_numbers,
    "ordinal": _in_order,
    "several": _of_ticks,
    "k": _of_answers,
    "labels": _of_answers,
    "domain": _of_answers,
}
"""By what a question is described by; the first of them that is there counts."""


def _costed(name: str, m: Mechanism) -> Question:
    """A question with the variance of one report, at the uniform population."""
    told, row = m.properties(1), entry_of(m.name)
    made = partial(Question, name, m)
    if "variance" in told and "variance_mean" in told:  # keys with values: the error of shares and that of means
        length = m.params.get("length") or 1
        share = min(1.0, length / m.k)
        least = (2 - 1 / m.k) ** 2 if length == 1 else None  # of people with one pair each (Y1b)
        return made(told["variance"] + told["variance_mean"], share * (1 - share), least=least)
    if "variance_worst" in told:  # numbers, in their own unit; some have more points than could be listed
        low, high = (float(end) for end in m.domain.decode(np.array([0, m.k - 1])))
        spread = (high - low) ** 2 * (m.k + 1) / (12 * (m.k - 1))  # of numbers that are equally far apart
        return made(told["variance_worst"], spread, (high - low) ** 2)
    if "bound_circle" in told:  # directions: points on a circle of radius 1, that is 2 wide
        return made(told["variance_mean"], 1.0, 4.0)
    if "variance_range" in told:  # answers in an order: the error of an average range, which has the drawing in it
        lengths = np.arange(1, m.k + 1)
        ways, share = m.k - lengths + 1, lengths / m.k
        drawn = float((ways * share * (1 - share)).sum() / ways.sum())
        least = told["bound"] * most_information(m.k, m.epsilon) if "bound" in told else None
        return made(told["variance_range"] - drawn, drawn, least=least)
    if "ticked" in told:  # options of which people tick several, all sets of them being equally common
        spread = told["ticked"] * (1 - told["ticked"])
        cost = (told["mse"] + spread) / (1 + told["gap"])  # what any design costs at least
        return made(told["mse"], spread, least=cost * most_information(m.k, m.epsilon))
    plain = row.question == FREQUENCY and m.takes == "values" and m.protection.kind == "LDP"
    known = isinstance(told.get("mse"), float)
    hint = "Mechanisms for shares, means, and keys with values do; others are dealt by deniable.mechanisms.dealt."
    require(known, "mechanism", m.name, "one that tells the error of its estimates", hint)
    return made(told["mse"], sampling(m.k), plain=plain)


def _size(question: Question, epsilon: float) -> int | None:
    """The number of answers of a question that may be asked together with others; None of those that may not."""
    alone = not (question.free and question.plain) or question.mechanism.epsilon != epsilon
    return None if alone else question.k


def _mechanism(block: Block, asked: Sequence[Question], epsilon: float) -> Mechanism:
    """The mechanism of a block: that of its question, or a box."""
    if not block.shape:
        return asked[block.members[0]].mechanism
    each = [asked[j].mechanism.domain for j in block.members]
    sizes = tuple(domain.k for domain in each)
    return Box(epsilon=epsilon, domain=_together(each), sizes=sizes, shape=block.shape)


def _together(each: Sequence[Domain]) -> Domain:
    """All sets of answers, with labels where all answers have some and there are few sets."""
    k = math.prod(domain.k for domain in each)
    if k > _LABELLED or any(domain.labels is None for domain in each):
        return Domain.of(k)
    labels = [""]
    for domain in each:
        labels = [f"{before}, {own}" if before else own for before in labels for own in domain.labels_or_numbers]
    try:
        return Domain.of(labels)
    except ParameterError:  # labels that cannot be told apart when they stand together: their numbers can
        return Domain.of(k)


def _split(questions: Mapping[str, Any], epsilon: float, goal: Goal) -> Survey:
    """Every question to everybody, with equal parts of the budget unless questions have their own."""
    own = {name: _own_epsilon(given) for name, given in questions.items()}
    left = epsilon - math.fsum(each for each in own.values() if each is not None)
    rest = sum(each is None for each in own.values())
    fits = left > 1e-12 if rest else left >= -1e-9
    hint = "Budgets of a split add up; leave them out for equal parts."
    told = InWords(f"{epsilon - left:g} in all" + " and others without any" * bool(rest))
    require(fits, "epsilons of the questions", told, f"at most that of the survey, {epsilon:g}, together", hint)
    asked = tuple(
        _question(name, given, left / rest if own[name] is None else epsilon) for name, given in questions.items()
    )
    goal = _scaled(goal, asked)
    blocks = tuple(singles([question.cost for question in asked], goal))
    made = tuple(question.mechanism for question in asked)
    return Survey(questions=asked, epsilon=epsilon, scheme="split", blocks=blocks, goal=goal, mechanisms=made)


def _own_epsilon(given: Any) -> float | None:
    """The budget that a question brings itself."""
    return given.get("epsilon") if isinstance(given, Mapping) else getattr(given, "epsilon", None)


# ---- surveys that were kept


def restored(document: Mapping[str, Any], read: Callable[[Any], Mechanism]) -> Survey:
    """The survey of a document: its questions and its design, each of which `read` makes a mechanism of.

    `FormatError` where they do not go together: what is estimated is what the design says.
    """
    try:
        named = {name: read(design) for name, design in document["questions"].items()}
        members = [tuple(int(j) for j in part) for part in document["parts"]]
        goal = Goal(tuple(document.get("weights", ())), tuple(document.get("stderr", ())))
        scheme, epsilon, design = document["scheme"], document["epsilon"], document["design"]
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise FormatError(f"the survey is not well formed: {error!r}.", "Make it again.") from error
    fits = scheme in SCHEMES and len(goal.weights or goal.stderr) == len(named)
    numbers = [j for part in members for j in part]
    if not fits or len(set(numbers)) < len(numbers) or not set(numbers) <= set(range(len(named))) or not all(members):
        raise FormatError("the survey does not agree with itself: its parts are not those of its questions.")
    asked = tuple(_costed(name, m) for name, m in named.items())
    whole = read(design)
    parts = tuple(getattr(whole, "mechanisms", (whole,)))
    if not is_number(epsilon) or not max(m.epsilon for m in parts) <= epsilon < math.inf:
        raise FormatError(
            "the survey does not agree with itself: its epsilon is below that of its design, or no number."
        )
    last = len(parts) - len(members)
    if last < 0 or (last > 0 and "tables" not in document):
        raise FormatError("the survey does not agree with itself: its parts are not those of its design.")
    blocks = tuple(_restored(part, m, asked, goal) for part, m in zip(members, parts[last:], strict=True))
    given: dict[str, Any] = {"questions": asked, "epsilon": epsilon, "scheme": scheme, "blocks": blocks, "goal": goal}
    given |= {"mechanisms": parts, "whole": tuple(getattr(whole, "shares", ()))}
    made = TableSurvey(**given, plan=_plan_of(document, asked, epsilon)) if "tables" in document else Survey(**given)
    if len(made.parts) != len(parts) or made.design() != design:
        raise FormatError("the survey does not agree with itself: its design is not that of its questions and shares.")
    return made


def _plan_of(document: Mapping[str, Any], asked: Sequence[Question], epsilon: float) -> Any:
    """The tables of a survey that was kept; whether its parts are those of the design is for the caller to see."""
    domains = {question.name: question.mechanism.domain for question in asked}
    try:
        pairs = [(one, two) for one, two in document["tables"]]
        held = {name: domains[name] for name in domains if any(name in pair for pair in pairs)}
        return table_parts(held, epsilon, tables=pairs, scheme=document["scheme"])
    except (LookupError, TypeError, ValueError) as error:
        raise FormatError(f"the survey is not well formed: {error!r}.", "Make it again.") from error


def _restored(members: tuple[int, ...], m: Any, asked: Sequence[Question], goal: Goal) -> Block:
    """A part of a survey, from its mechanism."""
    sizes = tuple(asked[j].k for j in members)
    if len(members) == 1 and m.design == asked[members[0]].mechanism.design:
        costs: tuple[float, ...] = (asked[members[0]].cost,)
        return Block(members, (), costs, goal.of(members).people(costs))
    if not isinstance(m, Box) or m.sizes != sizes:
        raise FormatError("the survey does not agree with itself: a part has other questions than it says.")
    costs = tuple(box_costs(m.epsilon, sizes, m.shape))
    return Block(members, m.shape, costs, goal.of(members).people(costs))
