"""`plan`: ranked designs for people, answers and risks; the smallest n or epsilon; the closest if nothing will do."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from deniable.core.domain import Domain
from deniable.core.frontier import best_subset_size, mixture_mse, mixture_success
from deniable.core.laws import epsilon_to
from deniable.core.promise import Promise
from deniable.core.promise.ranges import sensitive_ranges
from deniable.errors import DeniableError, ParameterError, require
from deniable.mechanisms.base import Mechanism
from deniable.mechanisms.entry import Traits
from deniable.mechanisms.frequency.affine import OutdoneError
from deniable.mechanisms.optimal.bounds import least_error
from deniable.mechanisms.registry import MECHANISMS
from deniable.mechanisms.support import SupportMechanism
from deniable.plan.advice import advise
from deniable.plan.answer import Plan, Rejected
from deniable.plan.candidates import Recipe, Wish, check_given, make, recipes
from deniable.plan.cautions import about_people, about_shares, about_target
from deniable.plan.charts import plan_chart
from deniable.plan.prediction import Prediction, counted, excess_percent, figure, forged_gain, points
from deniable.plan.promised import Promised, item_promise
from deniable.plan.request import Request, request
from deniable.plan.scoring import Score, Weights, check_weights, excess, missed, misses, rounded
from deniable.plan.smallest import smallest_epsilon, smallest_n
from deniable.present.tables import number
from deniable_client.exact import EPSILON_MAX

if TYPE_CHECKING:
    import altair

__all__ = ["FrequencyPlan", "FrequencyPrediction", "plan_frequency"]

_FRONTIER_POINTS = 200
_NEEDED = ("mse", "asr", "bits", "bytes")
"""What a mechanism must say of itself to be compared."""
_USUAL = ("theta", "form", "base", "sensitive")
"""Parameters that no title tells unless they are given."""
_STATED = ("objective", "error", "blind")
"""What designs state of themselves, which has columns of its own or is what is asked."""
_FAITHFUL = 1.01
"""How much larger the error of the sampled integers may be than the ideal one."""
_ERROR = Weights("mse", {"mse": 1.0})
"""Nothing but the error counts."""
_NEAR, _EQUAL = 5e-3, 1e-9
"""Designs of one kind that differ by less than the first, or of two kinds by less than the second, are shown once."""


@dataclass(frozen=True, kw_only=True)
class FrequencyPrediction(Prediction[Mechanism]):
    """What is predicted of a mechanism for shares, for n reports."""

    n: int
    mse: float
    """Exact, averaged over the answers."""
    asr: float
    """Success of the best guess of a value from its report, under the prior of the request."""
    blind: float
    """The same without a report."""
    work: float | None
    """Operations of the server per report."""
    poisoning: float | None
    """By how much a hundredth of forged reports can raise the summed shares of the targets."""
    bound: float | None = None
    """The least MSE that any mechanism with this epsilon can have; None where it is not known."""
    gap: float | None = None
    """How far the MSE is above it, as a fraction."""
    smallest_n: int | None = None
    """Fewest reports that reach the target error."""
    smallest_epsilon: float | None = None
    """Least epsilon that reaches the target error with n reports."""

    @property
    def stderr(self) -> float:
        """The predicted standard error of an estimated share: the root of the exact MSE."""
        return math.sqrt(self.mse)

    @property
    def own(self) -> Mapping[str, Any]:
        """The parameters that were chosen, not those that were given."""
        entry = MECHANISMS.get(self.name)
        hidden = () if entry is None else (*entry.inner, *entry.needed[:1] * (entry.traits.curve is None))
        some = entry is not None and "sensitive" in entry.needed
        usual = [name for name in _USUAL if some and name not in self.options]
        return {name: x for name, x in self.mechanism.params.items() if name not in (*hidden, *usual, *_STATED)}

    @property
    def told(self) -> tuple[str, ...]:  # type: ignore[override]
        """The smallest n and epsilon only where they were looked for."""
        reached = [name for name in ("smallest_n", "smallest_epsilon") if getattr(self, name) is not None]
        numbers = ("n", "stderr", "mse", "asr", "blind", "bits", "bytes", "work", "poisoning", "bound", "gap")
        return (*numbers, *reached)


@dataclass(frozen=True, repr=False)
class FrequencyPlan(Plan[FrequencyPrediction]):
    """Mechanisms for shares, best first."""

    closest: FrequencyPrediction | None = None
    """The design that misses the limits by least, if none meets them."""
    smallest_n: FrequencyPrediction | None = None
    """With a target error: the design that needs fewest reports at this epsilon."""
    smallest_epsilon: FrequencyPrediction | None = None
    """With a target error: the design that needs the least epsilon for this n."""
    unused: tuple[str, ...] = ()
    """That no design here makes use of what was given, with the reason, if it is so."""
    meanings: ClassVar[Mapping[str, str]] = {
        "error": "standard error of a share, in percentage points",
        "epsilon": "the largest finite budget that a design is made for",
        "excess": "how far its square is above the least that is possible with the same promise",
        "guess": "how often the best guess of an answer from its report is right",
        "bytes": "of a report",
        "work": "operations of the server per report",
        "forged": "what 1 % of forged reports can add to the shares of the targets",
    }

    @cached_property
    def frontier(self) -> tuple[dict[str, float], ...]:
        """The least error of any mechanism against the best guess (uniform prior), from the least error on.

        `ssmix` with the `size` and `share` of a row attains it. For the epsilon and n of the request, or of the best
        design where one of them was looked for.
        """
        best = self.best or self.closest
        return (
            ()
            if best is None or "promise" in self.request
            else _frontier(self.request["k"], best.mechanism.epsilon, best.n)
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """What a newcomer should hear, and that no design here makes use of what was given."""
        best, asked = self.best, self.request
        found = [*super().notes, *about_target(self.limits.get("stderr"))]
        if best is not None:
            many = about_people(best.n) if asked["n"] is None else ()
            found += [*many, *about_shares(asked["k"], best.n, best.stderr)]
        return (*found, *self.unused)

    def chart(self) -> altair.LayerChart:
        return plan_chart(self)

    def nearest(self) -> FrequencyPrediction | None:
        return self.closest

    def found(self) -> dict[str, Prediction[Any] | None]:
        return {"smallest_n": self.smallest_n, "smallest_epsilon": self.smallest_epsilon, **super().found()}

    def document(self) -> dict[str, Any]:
        return super().document() | {"frontier": [dict(row) for row in self.frontier]}

    @property
    def columns(self) -> Mapping[str, Callable[[FrequencyPrediction], str]]:
        found: dict[str, Callable[[FrequencyPrediction], str]] = {}
        if self.request["epsilon"] is None or "promise" in self.request:
            found["epsilon"] = lambda d: f"{d.mechanism.epsilon:.6g}"
        if self.request["n"] is None:
            found["reports"] = lambda d: f"{d.n:,}"
        return found | _COLUMNS

    def _told(self, best: FrequencyPrediction) -> str:
        n, epsilon = self.request["n"], self.request["epsilon"]
        goal = f"for a standard error of {self.limits['stderr']:g}" if "stderr" in self.limits else ""
        if n is None:
            enough = counted(best.n, "report is", "reports are")
            under = "under this promise" if "promise" in self.request else f"at epsilon {epsilon:g}"
            return f"{enough} enough {goal} {under}: {best.title}."
        if epsilon is None:
            reports = counted(n, "report", "reports")
            return f"epsilon {best.mechanism.epsilon!r} is enough {goal} with {reports}: {best.title}."
        what, more = self._chosen(best, "has the least error", "stderr")
        error = f"a standard error of {figure(100 * best.stderr)} percentage points{more}"
        return f"{best.title} {what}{self.within}: {error}."

    def _no(self) -> str:
        text = super()._no()
        if self.smallest_n is not None and self.request["n"] is not None:
            text += f" That error takes {self.smallest_n.smallest_n:,} reports with {self.smallest_n.title}"
            little = self.smallest_epsilon
            text += f", or epsilon {little.mechanism.epsilon!r}." if little is not None else "."
        return text


_COLUMNS: dict[str, Callable[[FrequencyPrediction], str]] = {
    "error": lambda d: f"{figure(100 * d.stderr)} pt",
    "excess": lambda d: excess_percent(d.gap),
    "guess": lambda d: f"{100 * d.asr:.3g} %",
    "bytes": lambda d: number(d.bytes),
    "work": lambda d: "unknown" if d.work is None else number(round(d.work)),
    "forged": lambda d: points(d.poisoning),
}


def plan_frequency(
    *,
    k: int | None = None,
    labels: Sequence[str] | None = None,
    domain: Domain | None = None,
    n: int | None = None,
    epsilon: float | None = None,
    limits: Mapping[str, float],
    weight: float | None = None,
    weights: Mapping[str, float] | str | None = None,
    targets: int | None = None,
    prior: object = None,
    sensitive: object = None,
    given: Mapping[str, Any] | None = None,
    promise: Promise | None = None,
    top: int | None = None,
) -> FrequencyPlan:
    """Ranked designs for shares of k answers (or `labels`), n reports and a promise epsilon.

    The standard error that is limited is that of a share, the root of the exact MSE; with it one of n and epsilon may
    be left out, and the smallest is found. asr is the success of the best guess of an answer under `prior`, poisoning
    how much forged reports can raise the summed shares of `targets` answers (10 unless given). `sensitive`: which
    answers need protection, as a list of labels or as the number of the first ones; mechanisms that protect all of
    them are compared anyway. `given` has further options that some mechanisms need, by name.

    A `promise` of any kind stands for epsilon, and brings its answers: the best channel for it is listed where it can
    be found, and others as far as they keep it too, each with its excess over the least error under that promise, all
    answers being equally frequent; with harmless answers, `theta` in `given` is the share of people who have one.
    Budgets of sensitive answers (`item_epsilon` and `sensitive`) are such a promise.
    """
    answers = _answers(k, labels, domain, promise)
    weighed, options = check_weights(weight, weights, "mse"), dict(given or {})
    if sensitive is not None:
        require("sensitive" not in options, "sensitive", sensitive, "left out if `given` has it")
        options["sensitive"] = sensitive
    if promise is None and (promise := item_promise(options, answers)) is not None:
        options = {name: x for name, x in options.items() if name not in ("item_epsilon", "sensitive")}
        epsilon = None
    if promise is not None:
        require(epsilon is None, "epsilon", epsilon, "left out with a promise, which says it")
        promised = Promised.of(promise, answers, options)
        wanted = request(answers, n, promised.epsilon, limits, weighed, targets, prior, options, top)
        return _Planner(replace(wanted, promised=promised)).plan()
    wanted = request(answers, n, epsilon, limits, weighed, targets, prior, options, top)
    if "sensitive" in options and not sensitive_ranges(options["sensitive"], answers):
        hint = "Leave it out if all answers are sensitive; if none is, nothing needs protection."
        raise ParameterError(f"sensitive must name at least one answer, got {options['sensitive']!r}.", hint)
    check_given(wanted)
    return _Planner(wanted).plan()


def _answers(k: int | None, labels: Sequence[str] | None, domain: Domain | None, promise: Promise | None) -> Domain:
    """What people may answer: what is given, or what a promise is about."""
    if promise is None or any(x is not None for x in (k, labels, domain)):
        return Domain.given(k, labels, domain)
    require(isinstance(promise, Promise), "promise", promise, "a promise", "dn.promise(...) makes one.")
    return Domain.given(None if promise.labels else promise.k, promise.labels)


class _Planner:
    """One request on its way to a plan."""

    def __init__(self, wanted: Request) -> None:
        self.wanted = wanted
        self.out: list[Rejected] = []
        self.least: float | None = None
        """The least MSE of one report under a promise, where the best channel for it was found."""

    def plan(self) -> FrequencyPlan:
        epsilon = self.wanted.epsilon
        return self._ranked(self._at_smallest_epsilon() if epsilon is None else self._at(epsilon))

    # ---- designs

    def _at(self, epsilon: float) -> list[FrequencyPrediction]:
        """All designs at an epsilon: first the rows as they are, then those whose parameter is chosen."""
        w = self.wanted
        every = list(recipes(w.given) if w.promised is None else w.promised.recipes(w.given))
        wish = self._wish([])
        fixed = [d for recipe in every if not recipe.tuned for d in self._tried(recipe, epsilon, wish)]
        wish = self._wish(fixed)
        return fixed + [d for recipe in every if recipe.tuned for d in self._tried(recipe, epsilon, wish)]

    def _wish(self, fixed: Sequence[FrequencyPrediction]) -> Wish:
        """Limits by column, that of the standard error as one of the MSE; without designs the error alone counts."""
        w = self.wanted
        limits = {name: most for name, most in w.limits.items() if name != "stderr"}
        if w.target is not None and w.n is not None and w.epsilon is not None:
            limits["mse"] = w.target**2
        n = w.n or 1
        weights = w.weights if fixed else _ERROR
        return Wish(w, n, limits, weights.among(replace(d, mse=d.mse * d.n / n) for d in fixed))

    def _tried(self, recipe: Recipe, epsilon: float, wish: Wish) -> Iterable[FrequencyPrediction]:
        """The design of a recipe, unless it cannot be made, for n reports or the fewest that reach the target."""
        w = self.wanted
        try:
            m, options = make(recipe, epsilon, wish)
            if recipe.at_default and m.name != recipe.name:
                self.out.append(Rejected(recipe.name, f"the same design as {m.name}", twin=True))
                return
            by_n = w.target is not None and w.epsilon is not None
            few = smallest_n(lambda n: math.sqrt(_mse(m, n)), w.target or 0) if by_n else None
            n = w.n or few
            assert n is not None
            yield self._held(replace(_predict(m, options, recipe.entry.traits, w, n), smallest_n=few))
        except DeniableError as error:
            outdone = isinstance(error, OutdoneError)
            self.out.append(Rejected(recipe.name, f"cannot be made: {error.message}", twin=outdone))

    def _held(self, d: FrequencyPrediction) -> FrequencyPrediction:
        """With the bound of the promise, where one is given; refused if it is not kept."""
        w = self.wanted
        promised = w.promised
        if promised is None:
            return d
        promised.refuse_other(d.mechanism)
        if "promise" in d.options and d.bound is not None:
            self.least = d.bound * d.n
            return d
        if self.least is None:
            found = least_error(promised.promise, promised.prior)
            self.least = math.nan if found is None or found.error <= 0 else found.error / w.k
        known = math.isfinite(self.least)
        bound = self.least / d.n if known else None
        return replace(d, bound=bound, gap=None if bound is None else max(0.0, d.mse / bound - 1))

    def _at_smallest_epsilon(self) -> list[FrequencyPrediction]:
        """Every recipe at the least epsilon that reaches the target, or at the largest there is if none does."""
        w, wish, found = self.wanted, self._wish([]), []
        assert w.target is not None
        for recipe in recipes(w.given):
            if not recipe.ruled:
                epsilon = smallest_epsilon(lambda e, recipe=recipe: _error(recipe, e, wish), w.target)  # type: ignore[misc]
                tried = self._tried(recipe, epsilon or EPSILON_MAX, wish)
                found += [replace(d, smallest_epsilon=epsilon) for d in tried]
        return found

    # ---- ranking

    def _ranked(self, found: Sequence[FrequencyPrediction]) -> FrequencyPlan:
        """By the weighted sum, in which what is looked for stands for the error."""
        w = self.wanted
        lead = "epsilon" if w.epsilon is None else "n" if w.n is None else "mse"
        weights, distinct = w.weights.instead(lead), self._distinct(found)
        score = weights.among(distinct)
        inside = [score.marked(d) for d in distinct if not misses(d, w.limits)]
        outside = sorted(
            (d for d in distinct if misses(d, w.limits)), key=lambda d: rounded((excess(d, w.limits), d.mse))
        )
        ranked = self._merged(sorted(inside, key=lambda d: (*score.key(d), *rounded([d.mse]))), score)
        designs = advise(ranked, lead, weights=weights)[: w.top]
        self.out += [Rejected(d.title, missed(d, w.limits), d) for d in outside]
        closest = outside[0] if outside and not inside else None
        few, little = self._needs(distinct)
        unused = self._unused(designs)
        out, labels = tuple(self.out), w.domain.labels
        return FrequencyPlan(w.document(), w.limits, designs, out, closest, few, little, unused, labels=labels)

    def _unused(self, designs: Sequence[FrequencyPrediction]) -> tuple[str, ...]:
        """Designs for what was given, e.g. sensitive answers, that are all out: they miss a limit, or may do so."""
        w = self.wanted
        own = [o.design for o in self.out if o.design is not None and set(w.given) & set(o.design.options)]
        kept = any(set(w.given) & set(d.options) for d in designs)
        if kept or not own or len(designs) in (0, w.top):  # others may be further down
            return ()
        names = ", ".join(dict.fromkeys(d.name for d in own))
        told = f"Note: no design here makes use of {' and '.join(w.given)}. Those that do ({names}) are left out"
        unknown = {name for d in own for name in w.limits if getattr(d, name) is None}
        if all(any(getattr(d, name) is None for name in unknown) for d in own):
            what = " and ".join(sorted(unknown))
            return (f"{told} because their {what} is not known, so they cannot meet a limit on it.",)
        return (f"{told} because they miss the limits.",)

    def _needs(
        self, found: Sequence[FrequencyPrediction]
    ) -> tuple[FrequencyPrediction | None, FrequencyPrediction | None]:
        """With a target error, whose only fault may be that: who needs fewest reports, and who the least epsilon."""
        w = self.wanted
        if w.target is None:
            return None, None
        rest = {name: most for name, most in w.limits.items() if name != "stderr"}
        able = [d for d in found if not misses(d, rest if w.epsilon is not None else w.limits)]
        few = min((d for d in able if d.smallest_n), key=lambda d: (d.smallest_n or 0, d.mse), default=None)
        if w.n is None or w.promised is not None:
            return few, None
        if w.epsilon is None:
            return None, min(able, key=lambda d: (d.mechanism.epsilon, d.mse), default=None)
        return few, _Planner(replace(w, epsilon=None, top=1, weights=_ERROR)).plan().best

    def _merged(self, designs: Sequence[FrequencyPrediction], score: Score) -> list[FrequencyPrediction]:
        """Without designs that a better one of the same kind hardly differs from, or that equal one of another kind."""
        kept: list[FrequencyPrediction] = []
        for d in designs:
            kin = (other for other in kept if (other.n, other.mechanism.epsilon) == (d.n, d.mechanism.epsilon))
            same = next(
                (o for o in kin if _alike(o, d, _NEAR if type(o.mechanism) is type(d.mechanism) else _EQUAL)), None
            )
            if same is None:
                kept.append(d)
                continue
            as_good = not score.weights.weighed or score.key(same) == score.key(d)
            if as_good and same.options and not d.options and type(same.mechanism) is type(d.mechanism):
                kept[kept.index(same)], d, same = d, same, d  # the usual choice, if it is as good
            if same.name != d.name:
                self.out.append(Rejected(d.title, f"hardly different from {same.title}", twin=True))
        return kept

    def _distinct(self, found: Sequence[FrequencyPrediction]) -> list[FrequencyPrediction]:
        """Without designs that are the same under another name."""
        seen: dict[Any, FrequencyPrediction] = {}
        for d in found:
            m = d.mechanism
            same = (type(m), m.epsilon, repr(m.params))
            if same not in seen:
                seen[same] = d
            elif seen[same].name != m.name:
                self.out.append(Rejected(d.title, f"the same design as {seen[same].title}", twin=True))
        return list(seen.values())


def _predict(m: Mechanism, options: Mapping[str, Any], traits: Traits, wanted: Request, n: int) -> FrequencyPrediction:
    """All predictions for a mechanism; those of error and best guess are its own closed forms."""
    own = m.properties(n)
    missing = [name for name in _NEEDED if name not in own]
    if missing:
        raise ParameterError(f"{m.name} has no {' and no '.join(missing)} to compare.", "It answers another question.")
    _check_sampled(m, own["mse"], n)
    guess = m.guess(wanted.prior) if wanted.prior is not None else None
    return FrequencyPrediction(
        mechanism=m,
        options=options,
        n=n,
        asr=own["asr"] if guess is None else guess.success,
        blind=1 / m.k if guess is None else guess.blind,
        work=None if traits.work is None else float(traits.work(m, n)),
        poisoning=None if traits.pull is None else float(forged_gain(traits.pull(m, wanted.targets))),
        bound=own.get("bound"),
        gap=own.get("gap"),
        **{name: own[name] for name in _NEEDED if name != "asr"},
    )


def _check_sampled(m: Mechanism, mse: float, n: float) -> None:
    """Refuse a design whose integers cannot follow its ideal parameters, so that the prediction would be too good."""
    sampled = m.support_effective.mse(m.k, n) if isinstance(m, SupportMechanism) else mse
    if sampled > _FAITHFUL * mse:
        raise ParameterError(f"what {m.name} samples has {sampled / mse:.3g} times the ideal error.")


def _columns_of(d: FrequencyPrediction) -> dict[str, float]:
    """What designs are compared by; unknown ones are left out."""
    columns = {"mse": d.mse, "asr": d.asr, "bits": d.bits, "bytes": d.bytes, "work": d.work, "poisoning": d.poisoning}
    return {name: float(x) for name, x in columns.items() if x is not None}


def _alike(a: FrequencyPrediction, b: FrequencyPrediction, tolerance: float) -> bool:
    one, two = _columns_of(a), _columns_of(b)
    return one.keys() == two.keys() and all(abs(x - two[name]) <= tolerance * abs(x) for name, x in one.items())


def _mse(m: Mechanism, n: float) -> float:
    """The closed form of the MSE alone, where the mechanism has it."""
    own = getattr(m, "mse", None)
    return float(own(n) if own is not None else m.properties(n).get("mse", math.inf))


def _error(recipe: Recipe, epsilon: float, wish: Wish) -> float:
    """The standard error at an epsilon; infinite where nothing can be made that meets the limits it is tuned to.

    Nothing can be made either where the integers that are sampled cannot follow the ideal parameters.
    """
    limits = {name: most for name, most in wish.limits.items() if recipe.tuned or name == "poisoning"}
    try:
        m, options = make(recipe, epsilon, wish)
        mse = _mse(m, wish.n)
        _check_sampled(m, mse, wish.n)
        beyond = limits and misses(_predict(m, options, recipe.entry.traits, wish.request, int(wish.n)), limits)
    except DeniableError:
        return math.inf
    return math.inf if beyond else math.sqrt(mse)


def _frontier(k: int, epsilon: float, n: int) -> tuple[dict[str, float], ...]:
    w, v = epsilon_to(epsilon)
    first = best_subset_size(k, epsilon)
    places = np.geomspace(first, k - 1, _FRONTIER_POINTS)
    places = np.unique(np.concatenate([places, np.rint(places)])) if first < k - 1 else np.array([float(first)])
    size = np.floor(places)
    share = places - size
    asr = mixture_success(w, k, size, share)
    mse = mixture_mse(w, v, k, size, share) / n
    columns = (size.astype(int), share, asr, mse, np.sqrt(mse))
    names = ("size", "share", "asr", "mse", "stderr")
    return tuple(dict(zip(names, row, strict=True)) for row in zip(*(c.tolist() for c in columns), strict=True))
