"""A device: checks the design it was given, then turns its own value into one deniable report."""

from __future__ import annotations

from collections.abc import Mapping

from deniable_client.errors import FormatError, ParameterError
from deniable_client.exact import check_epsilon, exp_bounds
from deniable_client.kernels import check_promise, kernel_from
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
        labels = domain.get("labels")
        self.labels: tuple[str, ...] | None = tuple(labels) if isinstance(labels, list | tuple) else None
        if self.labels is not None and not all(isinstance(label, str) for label in self.labels):
            raise FormatError("the labels of a design's domain must be texts.")
        if (len(self.labels) if self.labels else domain.get("k")) != self.kernel.k:
            raise FormatError(f"the kernel is for {self.kernel.k} values, the domain has another number of them.")
        check_promise(self.kernel, exp_bounds(self.epsilon)[0], self.epsilon)

    def report(self, value: object, words: Words | None = None, *, coin: int | None = None) -> bytes:
        """One report for `value`: a label where the domain has labels, else an integer from 0 to k-1.

        `coin` is the public seed that the collector dealt, for kernels that have one. Decide to take part before
        looking at it, and answer a retry with the same report: see docs/maths/coins.md, section 4.
        """
        drawn = words or SystemWords()
        if coin is None:
            return self.kernel.randomise(self._index(value), drawn)
        dealt = getattr(self.kernel, "randomise_dealt", None)
        if dealt is None:
            raise ParameterError(f"coin must be left out: a {self.kernel.kind} kernel has no public seed.")
        report: bytes = dealt(self._index(value), coin, drawn)
        return report

    def _index(self, value: object) -> int:
        if self.labels is not None:
            if value not in self.labels:
                raise ParameterError(f"value {value!r} is not one of this question's {len(self.labels)} labels.")
            return self.labels.index(str(value))
        if isinstance(value, bool) or not isinstance(value, int):
            raise ParameterError(f"value must be an integer from 0 to {self.kernel.k - 1}, got {value!r}.")
        return value
