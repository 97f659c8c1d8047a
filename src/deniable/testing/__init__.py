"""Conformance: what every mechanism must keep, ours or a stranger's, written once. Needs no test framework.

>>> import deniable as dn
>>> from deniable.testing import conformance
>>> for name, outcome in conformance(dn.mechanism("grr", epsilon=1.0, k=3), checks=["rows", "reports"]):
...     print(name, "-", outcome)
rows - 3 outputs sum to 1 for each of 3 values
reports - 1 bytes for each of 3 values
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from deniable.errors import require
from deniable.mechanisms.base import Mechanism
from deniable.testing.exact import check_closed_forms, check_privacy, check_rows
from deniable.testing.intervals import check_intervals
from deniable.testing.sampling import (
    REPORTS_MAX,
    check_power,
    check_sampler,
    check_unbiased,
    law_pvalue,
    reports_needed,
    stronger,
    untestable,
    watched_values,
)
from deniable.testing.statements import check_protection
from deniable.testing.wire import StreamWords, check_bytes, check_merge, check_reports

__all__ = [
    "CHECKS",
    "StreamWords",
    "check_bytes",
    "check_closed_forms",
    "check_intervals",
    "check_merge",
    "check_power",
    "check_privacy",
    "check_protection",
    "check_reports",
    "check_rows",
    "check_sampler",
    "check_unbiased",
    "conformance",
    "law_pvalue",
    "reports_needed",
    "stronger",
    "watched_values",
]

Check = Callable[[Mechanism, float, int], str]
"""A check of a mechanism with a false alarm rate and a seed; it says what it found, or raises `AssertionError`."""

_SMALL = 0.5
"""Up to this epsilon the sampler is looked at with a ninth of the reports: what it samples is proved exactly anyway."""
_RUN = 20_000
"""Reports in the run of the whole pipeline."""
_SOME = 100_000
"""Reports of each value where a wrong epsilon cannot be seen, however many there are."""


def _sampler(m: Mechanism, alpha: float, seed: int) -> str:
    return check_sampler(m, alpha=alpha, n=_affordable(m, _needed(m, alpha)), seed=seed)


def _power(m: Mechanism, alpha: float, seed: int) -> str:
    need = _needed(m, alpha)
    if need > _affordable(m, need):
        return "does not apply: a wrong epsilon would not show in any affordable number of reports"
    return check_power(m, alpha=alpha, n=_affordable(m, need), seed=seed + 1, excess=_excess(m))


def _needed(m: Mechanism, alpha: float) -> float:
    return reports_needed(m, alpha=alpha, miss=alpha, excess=_excess(m)) if untestable(m) is None else 1


def _excess(m: Mechanism) -> float:
    """What times epsilon must be seen: 10 % more, and 30 % more of a small one, of which little shows in a report."""
    return 1.3 if m.epsilon <= _SMALL else 1.1


def _affordable(m: Mechanism, need: float) -> int:
    """`need`, or what fits into `REPORTS_MAX` reports and 256 MB of them at a time; some, if no number would do."""
    limit = min(REPORTS_MAX // len(watched_values(m.k)), (1 << 28) // m.bulk.row_bytes)
    return min(limit, _SOME if math.isinf(need) else int(need))


CHECKS: Mapping[str, Check] = {
    "rows": lambda m, alpha, seed: check_rows(m),
    "privacy": lambda m, alpha, seed: check_privacy(m),
    "protection": lambda m, alpha, seed: check_protection(m),
    "closed_forms": lambda m, alpha, seed: check_closed_forms(m),
    "merge": lambda m, alpha, seed: check_merge(m),
    "bytes": lambda m, alpha, seed: check_bytes(m),
    "reports": lambda m, alpha, seed: check_reports(m),
    "intervals": lambda m, alpha, seed: check_intervals(m, seed=seed),
    "sampler": _sampler,
    "power": _power,
    "unbiased": lambda m, alpha, seed: check_unbiased(m, alpha=alpha, n=_RUN, seed=seed + 2),
}
"""All checks by name, those that need no luck first."""

_STATISTICAL = 3
"""How many of them share the false alarm rate: sampler, power (here: the chance to miss) and unbiased."""


def conformance(
    m: Mechanism, *, alpha: float = 1e-3, checks: Sequence[str] | None = None, seed: int = 0
) -> list[tuple[str, str]]:
    """Run all checks (or the named ones) and say what each found; one `AssertionError` names all that failed.

    A mechanism that keeps its contract fails with probability at most `alpha`, the statistical checks together.
    """
    names = list(CHECKS if checks is None else checks)
    unknown = [name for name in names if name not in CHECKS]
    require(not unknown, "checks", unknown, f"among {', '.join(CHECKS)}")
    require(0 < alpha < 1, "alpha", alpha, "between 0 and 1")
    outcomes, failures = [], []
    for name in names:
        try:
            outcomes.append((name, CHECKS[name](m, alpha / _STATISTICAL, seed)))
        except Exception as error:  # a stranger's mechanism may fail in any way; each way is a failed check
            kind = "" if isinstance(error, AssertionError) else f"{type(error).__name__}: "
            failures.append(f"{name}: {kind}{error}")
    if failures:
        listed = "\n  ".join(failures)
        raise AssertionError(f"{type(m).__name__} fails {len(failures)} of {len(names)} checks:\n  {listed}")
    return outcomes
