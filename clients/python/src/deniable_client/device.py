"""A device: checks the design it was given, then turns its own value into one deniable report."""

from __future__ import annotations

from collections.abc import Mapping

from deniable_client.domains import answer_reader
from deniable_client.errors import FormatError, ParameterError, require
from deniable_client.exact import check_epsilon, exp_bounds
from deniable_client.kernels import Pairs, Personal, UtilityBudgets, check_promise, kernel_from
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
        self.kernel = kernel_from(kernel)
        answers = self.kernel.keys if isinstance(self.kernel, Pairs) else self.kernel.k
        self._index = answer_reader(domain, answers)
        labels = domain.get("labels")
        self.labels: tuple[str, ...] | None = tuple(labels) if isinstance(labels, list | tuple) else None
        self._range = _range(design) if isinstance(self.kernel, Pairs) else (0.0, 0.0)
        check_promise(self.kernel, exp_bounds(self.epsilon)[0], self.epsilon)
        self.levels = _levels(design, self.kernel) if isinstance(self.kernel, Personal) else ()
        if isinstance(self.kernel, UtilityBudgets):
            check_budgets(self.kernel, _budgets(design, self.kernel))

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
        if level is not None or isinstance(self.kernel, Personal):
            return self._at_level(value, level, drawn)
        if isinstance(self.kernel, Pairs) and coin is None:
            return self.kernel.randomise(self._pairs(value), drawn)
        if coin is None:
            return self.kernel.randomise(self._index(value), drawn)
        dealt = getattr(self.kernel, "randomise_dealt", None)
        if dealt is None:
            raise ParameterError(f"coin must be left out: a {self.kernel.kind} kernel has no public seed.")
        report: bytes = dealt(self._index(value), coin, drawn)
        return report

    def _at_level(self, value: object, level: float | None, words: Words) -> bytes:
        if not isinstance(self.kernel, Personal):
            raise ParameterError(f"level must be left out: a {self.kernel.kind} kernel has one level for all.")
        listed = ", ".join(f"{each:g}" for each in self.levels)
        require(level is None or level in self.levels, "level", level, f"one of {listed}")
        return self.kernel.randomise(self._index(value), words, 0 if level is None else self.levels.index(level))

    def _pairs(self, pairs: object) -> list[tuple[int, int]]:
        """Pairs with keys by number, and values in steps of their range."""
        low, high = self._range
        if not isinstance(pairs, list | tuple) or not all(isinstance(p, list | tuple) and len(p) == 2 for p in pairs):
            raise ParameterError(f"value must be a list of pairs (key, number), got {pairs!r}.")
        for _, number in pairs:
            real = isinstance(number, int | float) and not isinstance(number, bool) and low <= number <= high
            require(real, "the number of a pair", number, f"from {low:g} to {high:g}", "Nothing is clipped.")
        return [(self._index(key), round((number - low) / (high - low) * GRID)) for key, number in pairs]


def _levels(design: Mapping[str, object], kernel: Personal) -> tuple[float, ...]:
    """The levels of a design, each of whose promises its kernels keep, that of the level report included."""
    params = design.get("params")
    given = params.get("levels") if isinstance(params, Mapping) else None
    if not isinstance(params, Mapping) or not isinstance(given, list | tuple) or len(given) != len(kernel.data):
        raise FormatError(f"the design must list {len(kernel.data)} levels, got {given!r}.")
    levels = tuple(check_epsilon(level, sampling=True) for level in given)
    for level, data in zip(levels, kernel.data, strict=True):
        check_promise(data, exp_bounds(level)[0], level)
    for channel in kernel.level:
        promised = check_epsilon(params.get("level_epsilon") or 0.0, sampling=True)
        check_promise(channel, exp_bounds(promised)[0], promised)
    return levels


def _budgets(design: Mapping[str, object], kernel: UtilityBudgets) -> tuple[float, ...]:
    """The budgets of a design's sensitive values."""
    params = design.get("params")
    given = params.get("item_epsilon") if isinstance(params, Mapping) else None
    if not isinstance(given, list | tuple) or len(given) != kernel.s:
        raise FormatError(f"the design must list {kernel.s} numbers as item_epsilon, got {given!r}.")
    return tuple(check_epsilon(epsilon, sampling=True) for epsilon in given)


def _range(design: Mapping[str, object]) -> tuple[float, float]:
    """The value range of a key-value design."""
    params = design.get("params")
    ends = params.get("range") if isinstance(params, Mapping) else None
    if not isinstance(ends, list | tuple) or len(ends) != 2 or not all(isinstance(e, int | float) for e in ends):
        raise FormatError("a key-value design needs params with a range of two numbers.")
    low, high = float(ends[0]), float(ends[1])
    if not low < high:
        raise FormatError(f"the range of a key-value design must have its lower end first, got {low} and {high}.")
    return low, high
