"""A device: checks the design it was given, then turns its own value into one deniable report."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from deniable_client.domains import answer_reader
from deniable_client.errors import FormatError, ParameterError, require
from deniable_client.exact import check_epsilon, exp_bounds
from deniable_client.kernels import check_promise, kernel_from
from deniable_client.kernels.keyvalue import GRID
from deniable_client.kernels.utility_budgets import check_budgets
from deniable_client.words import SystemWords, Words

__all__ = ["Device"]


class Device:
    """Reports values under a design document, after proving that the design keeps its promise.

    The document is the one that `deniable design` prints as `design` and that every report file carries. The
    integers in it are recomputed into an exact likelihood ratio; a design that leaks more than its `epsilon` says
    is refused with `PrivacyError` before anything is sent, so the server need not be trusted for them.

    >>> design = {"mechanism": "grr", "version": 1, "epsilon": 1.0986122886681098, "domain": {"k": 2},
    ...           "kernel": {"kind": "response", "k": "2", "keep": "13835058055282163711"}}
    >>> len(Device(design).report(1))
    1
    """

    def __init__(self, design: Mapping[str, object]) -> None:
        kernel, epsilon, domain = design.get("kernel"), design.get("epsilon"), design.get("domain")
        if not isinstance(kernel, Mapping) or not isinstance(epsilon, int | float) or not isinstance(domain, Mapping):
            raise FormatError(
                f"a design needs epsilon, domain and kernel, got {sorted(map(str, design))}.",
                "Use the design that `deniable design NAME --json` prints under `design`.",
            )
        self.epsilon = check_epsilon(epsilon, sampling=True)
        self.kernel: Any = kernel_from(kernel)
        kind, params = self.kernel.kind, design.get("params")
        self._index = answer_reader(domain, getattr(self.kernel, "keys", 0) if kind == "pairs" else self.kernel.k)
        labels = domain.get("labels")
        self.labels: tuple[str, ...] | None = tuple(labels) if isinstance(labels, list | tuple) else None
        check_promise(self.kernel, exp_bounds(self.epsilon)[0], self.epsilon)
        own = _OWN.get(kind, _nothing)(params if isinstance(params, Mapping) else {}, self.kernel)
        self.levels = own if kind == "personal" else ()
        self._range = own if kind == "pairs" else ()

    def report(
        self, value: object, words: Words | None = None, *, coin: int | None = None, level: float | None = None
    ) -> bytes:
        """One report for `value`: a label, a number of the interval, or an integer from 0 to k-1, as the domain has it.

        For key-value designs `value` is the list of the person's pairs (key, number).

        `coin` is the public seed that the collector dealt, for kernels that have one. Decide to take part before
        looking at it, and answer a retry with the same report: see docs/maths/coins.md, section 4.

        `level` is the protection that the person chose, where the design has levels: one of `levels`, the smallest and
        most protective one if left out. Do not choose it by looking at the value.
        """
        drawn = words or SystemWords()
        report: bytes
        if level is not None or self.levels:
            report = self.kernel.randomise(self._index(value), drawn, self._number(level))
        elif coin is None:
            report = self.kernel.randomise(self._pairs(value) if self._range else self._index(value), drawn)
        elif hasattr(self.kernel, "randomise_dealt"):
            report = self.kernel.randomise_dealt(self._index(value), coin, drawn)
        else:
            raise ParameterError(f"coin must be left out: a {self.kernel.kind} kernel has no public seed.")
        return report

    def _number(self, level: float | None) -> int:
        """The number of a level."""
        if not self.levels:
            raise ParameterError(f"level must be left out: a {self.kernel.kind} kernel has one level for all.")
        listed = ", ".join(f"{each:g}" for each in self.levels)
        require(level is None or level in self.levels, "level", level, f"one of {listed}")
        return 0 if level is None else self.levels.index(level)

    def _pairs(self, pairs: object) -> list[tuple[int, int]]:
        """Pairs with keys by number, and values in steps of their range."""
        low, high = self._range
        if not isinstance(pairs, list | tuple) or not all(isinstance(p, list | tuple) and len(p) == 2 for p in pairs):
            raise ParameterError(f"value must be a list of pairs (key, number), got {pairs!r}.")
        for _, number in pairs:
            real = isinstance(number, int | float) and not isinstance(number, bool) and low <= number <= high
            require(real, "the number of a pair", number, f"from {low:g} to {high:g}", "Nothing is clipped.")
        return [(self._index(key), round((number - low) / (high - low) * GRID)) for key, number in pairs]


# ---- what designs of some kinds promise beside epsilon, and what else is needed of their parameters


def _levels(params: Mapping[str, Any], kernel: Any) -> tuple[float, ...]:
    """The levels of a design, each of whose promises its kernels keep, that of the level report included."""
    given = params.get("levels")
    if not isinstance(given, list | tuple) or len(given) != len(kernel.data):
        raise FormatError(f"the design must list {len(kernel.data)} levels, got {given!r}.")
    levels = tuple(check_epsilon(level, sampling=True) for level in given)
    promised = list(zip(levels, kernel.data, strict=True))
    promised += [(check_epsilon(params.get("level_epsilon") or 0.0, sampling=True), each) for each in kernel.level]
    for epsilon, each in promised:
        check_promise(each, exp_bounds(epsilon)[0], epsilon)
    return levels


def _budgets(params: Mapping[str, Any], kernel: Any) -> tuple[float, ...]:
    """The budgets of a design's sensitive values, each of which the kernel keeps."""
    given = params.get("item_epsilon")
    if not isinstance(given, list | tuple) or len(given) != kernel.s:
        raise FormatError(f"the design must list {kernel.s} numbers as item_epsilon, got {given!r}.")
    budgets = tuple(check_epsilon(epsilon, sampling=True) for epsilon in given)
    check_budgets(kernel, budgets)
    return budgets


def _range(params: Mapping[str, Any], kernel: Any) -> tuple[float, ...]:
    """The value range of a key-value design."""
    ends = params.get("range")
    if not isinstance(ends, list | tuple) or len(ends) != 2 or not all(isinstance(e, int | float) for e in ends):
        raise FormatError("a key-value design needs params with a range of two numbers.")
    low, high = float(ends[0]), float(ends[1])
    if not low < high:
        raise FormatError(f"the range of a key-value design must have its lower end first, got {low} and {high}.")
    return low, high


def _nothing(params: Mapping[str, Any], kernel: Any) -> tuple[float, ...]:
    return ()


_OWN: Mapping[str, Callable[[Mapping[str, Any], Any], tuple[float, ...]]] = {
    "personal": _levels,
    "utility-levels": _budgets,
    "pairs": _range,
}
"""By the kind of the kernel."""
