"""Utility-optimised local privacy (ULDP): any mechanism on the sensitive items, harmless items mostly disclosed.

One transform for all bases [ULDP Algorithm 1], by default in a form that is valid for every hash function and more
accurate: null branch, disclosed values alone (docs/maths/utility.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Self

from deniable.collect.reports import Design
from deniable.collect.tally import Tally
from deniable.core.channel import Proof, Witness
from deniable.core.domain import Domain
from deniable.core.guess import Guess, check_prior
from deniable.core.laws import epsilon_to
from deniable.core.support import check_n
from deniable.core.types import FloatArray, Target
from deniable.errors import EnumerationError, InWords, ParameterError, require
from deniable.estimate.linear import check_reports
from deniable.estimate.result import Part
from deniable.mechanisms.base import Mechanism, report_size
from deniable.mechanisms.bulk import SupportBulk
from deniable.mechanisms.utility.bases import SEPARATE, base_from, document_of, hashed
from deniable.mechanisms.utility.bound import least_mse_sum
from deniable.mechanisms.utility.bulk import UtilityBulk
from deniable.mechanisms.utility.laws import UtilityLaw
from deniable.mechanisms.utility.options import FORMS
from deniable.mechanisms.utility.reading import Reading, reading_of
from deniable.mechanisms.utility.sensitive import SensitiveMechanism
from deniable_client.exact import WORD, check_epsilon
from deniable_client.kernels import Kernel, kernel_from, promised_ratio
from deniable_client.kernels import Utility as UtilityKernel
from deniable_client.kernels.contract import check_plain
from deniable_client.kernels.utility import has_blind

__all__ = ["Utility", "check_fit", "default_form"]

_OWN_FORMS: Mapping[str, Mapping[str, str]] = {"urap": {"glutf": SEPARATE}}
"""What designs of a registry row mean by the name of a form, where that is the row's own."""


@dataclass(frozen=True, kw_only=True)
class Utility(SensitiveMechanism):
    """Sensitive items are reported by `base`; a harmless one is disclosed if a coin says so, else hidden among them.

    `sensitive` has the ends of half-open ranges of item numbers; `base` is None if there are fewer than two such items.
    `theta` is the share of people with a harmless item that parameters and closed-form errors are for; privacy and
    unbiasedness do not depend on it. Forms: see `FORMS` and `SEPARATE`. A report that discloses nothing keeps epsilon
    for *all* pairs of items; one that discloses does so for a harmless item of its sender and nothing else.
    """

    base: Mechanism | None
    form: str = "null"
    family: ClassVar[str] = "utility"
    vetted: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        taken = _OWN_FORMS.get(self.name, {})
        allowed = [form for form in (*FORMS, SEPARATE) if form not in taken]
        require(self.form in allowed, "form", self.form, f"one of {', '.join(allowed)}")
        require((self.base is None) == (self.s < 2), "base", self.base, "given if there are two sensitive items")
        if self.base is not None:
            check_fit(self.base, self)
            if self.base.refusal is None:
                _check_sampled(self.base, self.form)
        if self.form == "paper":
            object.__setattr__(self, "vetted", False)

    @classmethod
    def of_design(cls, design: Design, domain: Domain) -> Self:
        """See `Mechanism.of_design`; a base that the design describes by name is made here."""
        params = dict(design["params"])
        params["form"] = _OWN_FORMS.get(design["mechanism"], {}).get(params["form"], params["form"])
        if isinstance(params["base"], Mapping):
            kernel: Any = kernel_from(design["kernel"])
            params["base"] = base_from(params["base"], design["epsilon"], kernel.base[0])
        return super().of_design({**design, "params": params}, domain)

    def at(self, epsilon: float) -> Self:
        """See `Mechanism.at`: the base too."""
        return replace(self, epsilon=epsilon, base=None if self.base is None else self.base.at(epsilon))

    @property
    def params(self) -> dict[str, Any]:
        base = None if self.base is None else document_of(self.base)
        words = {form: word for word, form in _OWN_FORMS.get(self.name, {}).items()}
        form = words.get(self.form, self.form)
        return {"base": base, "sensitive": list(self.sensitive), "theta": self.theta, "form": form}

    # ---- what is sampled

    @cached_property
    def bulk(self) -> UtilityBulk:
        check_epsilon(self.epsilon, sampling=True)
        if self.base is None:
            return UtilityBulk(self._kernel(()), None)
        return UtilityBulk(self._kernel((self.base.bulk.kernel,)), self.base.bulk)

    def _kernel(self, base: tuple[Kernel, ...]) -> UtilityKernel:
        where = (self.epsilon, self.k, self.sensitive, base)
        if self.base is None or self.form == "null":
            return UtilityKernel.null(*where)
        if self.form == SEPARATE:
            return UtilityKernel.separate(*where)
        share = self.reading.share
        made = UtilityKernel.mapped(*where, share)
        if self.form == "paper" and hashed(self.base):
            p: Fraction = self.reading.base.bulk.support.p
            attach = round(p * (1 - 1 / base[0].ratio) * WORD)
            return replace(made, plain=int((1 - share) * WORD), attach=attach)
        return made

    @cached_property
    def proof(self) -> Proof:
        """See `Mechanism.proof`; by enumeration where the kernel's ratio is known to be a bound only."""
        text = (
            "a report that discloses has one possible sender's item, a harmless one. Any other report: sensitive items "
            "against each other have the base's ratio; a sensitive item against a harmless one at most (largest "
            "likelihood over that in the branch)/(chance of the branch), for every output and every public seed; the "
            "other way round at most the base's ratio; two harmless items have the same likelihood"
        )
        if self.base is not None and not _ratio_is_exact(self.base.bulk.kernel):
            try:
                return self.channel().proof()
            except EnumerationError:
                text += "; the first of them is a bound"
        own, rest = self.items
        likely = int(own[0]) if own.size else 0
        unlikely = int(rest[0]) if rest.size else int(own[-1])
        return Proof(promised_ratio(self.kernel), "decomposition", text, Witness(self._worst(), likely, unlikely))

    def _worst(self) -> str:
        if not self.s:
            return "no report"
        if self.base is None:
            return "the report that discloses nothing"
        if not self.bulk.kernel.blind and hashed(self.base):
            return "a seed under which this sensitive value alone is favoured by the report, with such a report"
        return "a report of the base that favours this sensitive value"

    @property
    def disclosed_chance(self) -> Fraction:
        return 1 - self.bulk.kernel.kept

    # ---- estimator

    @cached_property
    def reading(self) -> Reading:
        """How estimates read the base."""
        return reading_of(self)

    @property
    def law(self) -> UtilityLaw[float]:
        """The ideal law of a report; for noisy vectors with p = 1, q = 0."""
        return self.reading.law

    @property
    def law_exact(self) -> UtilityLaw[Fraction]:
        """The law of the integers that are sampled; for noisy vectors with p = 1, q = 0."""
        return self.reading.law_exact

    @cached_property
    def law_effective(self) -> UtilityLaw[float]:
        """`law_exact` as floats: what the estimator uses."""
        return self.law_exact.map(float)

    def parts(self, tally: Tally) -> dict[str, Part]:
        check_reports(tally)
        return {"frequency": self.reading.part(tally.cells, tally.n)}

    def covariance(self, f: FloatArray, n: float = 1, target: Target = "reporters") -> FloatArray:
        """Covariance matrix of the estimates from n reports at frequencies `f`, for the integers that are sampled."""
        return self.reading.expected(f, n).covariance(target)

    def theta_of(self, tally: Tally) -> float:
        """Unbiased estimate of the share of people with a harmless item; it may lie outside [0, 1]."""
        check_reports(tally)
        return float(tally.cells["n"][1] / tally.n / float(1 - self.bulk.kernel.kept))

    # ---- closed forms

    def mse_sum(self, n: float = 1, *, theta: float | None = None) -> float:
        """Variances summed over all items for a population with this share of harmless items; `theta` unless given.

        `ParameterError` where different populations make the same reports, so that nothing can be estimated.
        """
        total = self.reading.error(self.theta if theta is None else theta, ideal=True)
        if total is None:
            raise ParameterError("no unbiased estimate exists from reports on this base.", "Use fit().")
        return total / check_n(n)

    def properties(self, n: float = 1) -> dict[str, Any]:
        """See `Mechanism.properties`; errors for a population with `theta` harmless answers."""
        total = self.reading.error(self.theta, ideal=True)
        bound = least_mse_sum(self.s, self.k - self.s, self.theta, *epsilon_to(self.epsilon))
        gap = {} if total is None else {"gap": total / bound - 1 if bound > 0 else 0.0}
        return self._numbers(total, n, ideal=True) | report_size(self) | {"bound": bound / n / self.k} | gap

    def effective(self, n: float = 1) -> dict[str, Any]:
        total = self.reading.error(self.theta, ideal=False)
        return {"epsilon": self.epsilon_exact} | self._numbers(total, n, ideal=False)

    def _numbers(self, total: float | None, n: float, *, ideal: bool) -> dict[str, float]:
        found, n = self.reading.numbers(ideal=ideal), check_n(n)
        errors = {} if total is None else {"mse": total / n / self.k, "mse_sum": total / n}
        return found | errors | {"asr": self._asr(found["z"])}

    def _asr(self, z: float) -> float:
        """All items being equally likely: what is disclosed, and the base's guess; the branch is never the likelier."""
        hidden = float(self.s == 1) if self.base is None else self.s * self.base.guess().success
        return float((self.k - self.s) * z + hidden) / self.k

    def guess(self, prior: object = None) -> Guess:
        """See `Mechanism.guess`; under a prior for bases that support items or whose outputs can be listed."""
        if prior is None:
            return Guess(self._asr(self.reading.numbers(ideal=True)["z"]), 1 / self.k)
        return self.reading.guess(check_prior(prior, self.k))


def check_fit(base: Mechanism, m: SensitiveMechanism) -> None:
    """Refuse a base for other items than the sensitive ones of a mechanism, or with another epsilon."""
    require(base.k == m.s, "base", InWords(f"a mechanism for {base.k} items"), f"one for the {m.s} sensitive items")
    if base.epsilon != m.epsilon:
        raise ParameterError(
            f"epsilon must be that of the base, {base.epsilon!r}, got {m.epsilon!r}.",
            "Leave it out, or make the base with it.",
        )
    if base.domain.labels is not None:
        names = m.domain.labels_or_numbers
        own = tuple(names[i] for i in m.items[0])
        allowed = f"those of the sensitive answers, {own}, in this order"
        require(base.domain.labels == own, "labels of the base", base.domain.labels, allowed)


def default_form(base: Mechanism) -> str:
    """`null` for a base that has reports without a value, else `glutf`."""
    return "null" if base.refusal is not None or has_blind(base.kernel) else "glutf"


def _ratio_is_exact(kernel: Kernel) -> bool:
    """Whether `ratio` of a kernel on this base is attained, and not only a bound."""
    return has_blind(kernel) or hasattr(kernel, "mapped_peak")


def _counts_support(bulk: Any) -> bool:
    """Whether the cell `support` of a tally is what it says: it then adds up over the strata."""
    return type(bulk).support_counts is SupportBulk.support_counts


def _check_sampled(base: Mechanism, form: str) -> None:
    """Refuse a base that discloses, that takes something else than a value, or that has no reports of this form."""
    bulk: Any = base.bulk
    check_plain("a base", base.kernel)
    require(bulk.inputs == base.k, "base", base.name, "a mechanism that takes one of its values from everybody")
    blind = form in ("null", SEPARATE)
    if blind and default_form(base) != "null":
        raise ParameterError(
            f"form must be glutf for base {base.name}, got {form!r}.", "It has no reports without a value."
        )
    if not blind and bulk.support is not None and (bulk.uneven or not _counts_support(bulk)):
        raise ParameterError(
            f"form must be null for base {base.name}, got {form!r}.",
            "What its outputs have in common is known for the null branch only.",
        )
