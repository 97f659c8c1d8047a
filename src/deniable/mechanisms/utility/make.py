"""Making ULDP mechanisms: by base and sensitive items, with the parameters of least error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from deniable.core.domain import Domain
from deniable.errors import require
from deniable.mechanisms.base import Mechanism
from deniable.mechanisms.utility.base import Utility
from deniable.mechanisms.utility.bases import FORMS, tuned
from deniable.mechanisms.utility.sensitive import check_theta, sensitive_ranges
from deniable_client.exact import check_epsilon

__all__ = ["KEPT_PRIVATE", "make_utility", "utility"]

KEPT_PRIVATE = "kept private"
"""The sensitive label for people who do not want to give a harmless answer (docs/threat-model.md)."""


def make_utility(
    base: str,
    *,
    epsilon: float,
    domain: Domain,
    sensitive: object,
    theta: float | None = None,
    form: str = "null",
    name: str = "",
    **own: Any,
) -> Utility:
    """The transform of the base of this name, with its own parameters or those of least error for `theta`."""
    epsilon, domain = check_epsilon(epsilon), Domain.of(domain)
    require(form in FORMS, "form", form, f"one of {', '.join(FORMS)}")
    ranges = sensitive_ranges(sensitive, domain)
    s = sum(ranges[1::2]) - sum(ranges[::2])
    share = check_theta(theta, s, domain.k)
    made = tuned(base, epsilon=epsilon, s=s, theta=share, form=form, own=own)
    return Utility(epsilon=epsilon, domain=domain, base=made, sensitive=ranges, theta=share, form=form, name=name)


def utility(
    base: Mechanism | str,
    sensitive: object,
    *,
    epsilon: float | None = None,
    k: int | None = None,
    labels: Sequence[str] | None = None,
    domain: Domain | None = None,
    theta: float | None = None,
    form: str = "null",
    kept_private: bool = False,
    **own: Any,
) -> Utility:
    """Any mechanism as a ULDP mechanism: `base` works on the sensitive items, the others may be disclosed.

    `base` is a mechanism for as many items as are sensitive, or the name of one, which then needs `epsilon` and gets
    the parameters of least error for `theta` unless its `own` are given. `sensitive` is how many of the first items,
    or labels. With `kept_private` the sensitive label "kept private" is added to the domain, for people who do not
    want to give their harmless answer.

    >>> m = utility("ss", ["ill"], epsilon=1.0, labels=["well", "tired", "ill"], kept_private=True)
    >>> m.domain.labels, m.s
    (('well', 'tired', 'ill', 'kept private'), 2)
    """
    given = [what for what in (k, labels, domain) if what is not None]
    require(len(given) == 1, "domain", given, "given by exactly one of k, labels and domain")
    whole = Domain.of(given[0])
    if kept_private:
        require(whole.labels is not None, "kept_private", True, "left out for a domain without labels")
        names, marked = whole.labels_or_numbers, sensitive_ranges(sensitive, whole)
        chosen = [name for a, b in zip(marked[::2], marked[1::2], strict=True) for name in names[a:b]]
        whole = replace(whole, k=whole.k + 1, labels=(*names, KEPT_PRIVATE))
        sensitive = [*chosen, KEPT_PRIVATE]
    if isinstance(base, str):
        require(epsilon is not None, "epsilon", epsilon, "given with the name of a base")
        assert epsilon is not None
        return make_utility(base, epsilon=epsilon, domain=whole, sensitive=sensitive, theta=theta, form=form, **own)
    require(not own, "options", sorted(own), "left out with a base that is made already")
    ranges = sensitive_ranges(sensitive, whole)
    s = sum(ranges[1::2]) - sum(ranges[::2])
    share = check_theta(theta, s, whole.k)
    level = base.epsilon if epsilon is None else epsilon
    return Utility(epsilon=level, domain=whole, base=base, sensitive=ranges, theta=share, form=form)
