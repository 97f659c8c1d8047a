"""Making ULDP mechanisms: by base and sensitive items, with the parameters of least error."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from deniable.core.channel import Channel
from deniable.core.domain import Domain
from deniable.core.promise.ranges import sensitive_ranges
from deniable.errors import require
from deniable.mechanisms.base import Mechanism
from deniable.mechanisms.entry import ADDED
from deniable.mechanisms.utility.base import Utility, check_fit, default_form
from deniable.mechanisms.utility.bases import tuned
from deniable.mechanisms.utility.explicit import written_down
from deniable.mechanisms.utility.minimax import MINIMAX, at_worst, least_favourable
from deniable.mechanisms.utility.mixture import UtilityMixture, make_mixture
from deniable.mechanisms.utility.options import FORMS, MIXTURE
from deniable.mechanisms.utility.sensitive import split_sensitive
from deniable_client.exact import check_epsilon

__all__ = ["make_separate", "make_utility", "utility"]

KEPT_PRIVATE = "kept private"
"""The sensitive label for people who do not want to give a harmless answer (docs/threat-model.md)."""


def make_utility(
    base: str,
    *,
    epsilon: float,
    domain: Domain,
    sensitive: object,
    theta: float | str | None = None,
    form: str = "null",
    name: str = "",
    **own: Any,
) -> Utility:
    """The transform of the base of this name, with its own parameters or those of least error for `theta`."""
    epsilon, domain = check_epsilon(epsilon), Domain.of(domain)
    require(form in FORMS, "form", form, f"one of {', '.join(FORMS)}")
    if theta == MINIMAX:
        given: dict[str, Any] = {"epsilon": epsilon, "domain": domain, "form": form, "name": name, **own}
        return _minimax(partial(make_utility, base, sensitive=sensitive, **given), sensitive, domain)
    ranges, s, share = split_sensitive(sensitive, domain, theta)
    made = tuned(base, epsilon=epsilon, s=s, theta=share, form=form, own=own)
    return Utility(epsilon=epsilon, domain=domain, base=made, sensitive=ranges, theta=share, form=form, name=name)


def _minimax(make: Callable[..., Utility], sensitive: object, domain: Domain) -> Utility:
    """For the least favourable share of harmless answers, where there is a choice."""
    s = split_sensitive(sensitive, domain, None)[1]
    if not 0 < s < domain.k:
        return make()
    return at_worst(least_favourable(lambda share: make(theta=share)))


def make_separate(*, form: str = "null", name: str, **given: Any) -> Utility:
    """uRAP: symmetric unary encoding, in whose form glutf every report has bits and the value may stand beside them."""
    require(form in ("null", "glutf"), "form", form, "null or glutf")
    made = make_utility("sue", name=name, **given)
    if form == "null":
        return made
    separate = replace(made, form="separate")
    return at_worst(separate) if given.get("theta") == MINIMAX else separate


def utility(
    base: Mechanism | Channel | str,
    sensitive: object,
    *,
    epsilon: float | None = None,
    k: int | None = None,
    labels: Sequence[str] | None = None,
    domain: Domain | None = None,
    missing: str | None = None,
    other: str | None = None,
    theta: float | str | None = None,
    form: str | None = None,
    kept_private: bool = False,
    **own: Any,
) -> Utility | UtilityMixture:
    """Any mechanism as a ULDP mechanism: `base` works on the sensitive items, the others may be disclosed.

    `base` is a mechanism or a channel for as many items as are sensitive, whose epsilon is then kept; or the name of a
    mechanism, also of one that was registered, which needs `epsilon` and gets the parameters of least error for `theta`
    unless its `own` are given. `sensitive` is how many of the first items, or labels. `form` is `null` for bases that
    have reports without a value, else `glutf`: a harmless item that is not disclosed is reported as a sensitive one
    would be, all alike. With `kept_private` the sensitive label "kept private" is added to the domain, for people who
    do not want to give their harmless answer. With `theta` "minimax" everything is for the share of harmless answers
    that is the least favourable one. `missing` and `other` are the labels of such values, as for `mechanism`.

    >>> m = utility("ss", ["ill"], epsilon=1.0, labels=["well", "tired", "ill"], kept_private=True)
    >>> m.domain.labels, m.s
    (('well', 'tired', 'ill', 'kept private'), 2)
    >>> m = utility(Channel(("no", "yes"), ((3, 1), (1, 3)), 4), 2, k=3)
    >>> m.base.proof.ratio, round(m.properties()["z"], 6)
    (Fraction(3, 1), 0.5)
    """
    whole = Domain.given(k, labels, domain, missing=missing, other=other)
    if kept_private:
        whole, sensitive = _with_private(whole, sensitive)
    known = isinstance(base, str | Channel | Mechanism)
    require(known, "base", base, "a mechanism, a Channel, or the name of a mechanism", "Make one: dn.mechanism(...).")
    if isinstance(base, str):
        require(epsilon is not None, "epsilon", epsilon, "given with the name of a base")
        assert epsilon is not None
        if base not in ADDED:
            return _by_name(base, form, epsilon=epsilon, domain=whole, sensitive=sensitive, theta=theta, **own)
        s = split_sensitive(sensitive, whole, None)[1]
        made: Mechanism = ADDED[base].make(epsilon=epsilon, domain=Domain.of(s), **own)
        return utility(made, sensitive, domain=whole, theta=theta, form=form)
    require(not own, "options", sorted(own), "left out with a base that is made already")
    ranges, _, share = split_sensitive(sensitive, whole, None if theta == MINIMAX else theta)
    made = written_down(base, epsilon) if isinstance(base, Channel) else base
    level = made.epsilon if epsilon is None else epsilon
    if made.family == MIXTURE:
        require(form in (None, "null"), "form", form, f"null for base {MIXTURE}")
        sizes = partial(UtilityMixture, epsilon=level, domain=whole, sensitive=ranges, **made.params)
        check_fit(made, sizes(theta=share))
        return least_favourable(lambda at: sizes(theta=at)) if theta == MINIMAX else sizes(theta=share)
    chosen = default_form(made) if form is None else form
    found = Utility(epsilon=level, domain=whole, base=made, sensitive=ranges, theta=share, form=chosen)
    return at_worst(found) if theta == MINIMAX else found


def _by_name(base: str, form: str | None, **given: Any) -> Utility | UtilityMixture:
    if base != MIXTURE:
        return make_utility(base, form=form or "null", **given)
    require(form in (None, "null"), "form", form, f"null for base {MIXTURE}")
    return make_mixture(**given)


def _with_private(whole: Domain, sensitive: object) -> tuple[Domain, list[str]]:
    """The domain and its sensitive labels with the label "kept private"."""
    require(whole.labels is not None, "kept_private", True, "left out for a domain without labels")
    names, marked = whole.labels_or_numbers, sensitive_ranges(sensitive, whole)
    chosen = [name for a, b in zip(marked[::2], marked[1::2], strict=True) for name in names[a:b]]
    return replace(whole, k=whole.k + 1, labels=(*names, KEPT_PRIVATE)), [*chosen, KEPT_PRIVATE]
