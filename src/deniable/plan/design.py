"""A design with all that is predicted of it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from deniable.errors import ParameterError
from deniable.mechanisms.base import Mechanism
from deniable.mechanisms.entry import Traits
from deniable.mechanisms.registry import MECHANISMS
from deniable.plan.request import Request

__all__ = ["FORGED", "Design", "design_of", "forged_gain", "title_of"]

FORGED = 0.01
"""The share of forged reports that `poisoning` is for."""
_SHORT = 24
_FAITHFUL = 1.01


@dataclass(frozen=True, slots=True)
class Design:
    """A mechanism with its predictions for n reports; `options` make it again: `mechanism(name, **options)`."""

    mechanism: Mechanism
    options: Mapping[str, Any]
    n: int
    mse: float
    """Exact, averaged over the answers."""
    asr: float
    """Success of the best guess of a value from its report, under the prior of the request."""
    blind: float
    """The same without a report."""
    bits: float
    bytes: int
    work: float | None
    """Operations of the server per report."""
    poisoning: float | None
    """By how much a hundredth of forged reports can raise the summed shares of the targets."""
    bound: float
    """The least MSE that any mechanism with this epsilon can have."""
    gap: float
    """How far the MSE is above it, as a fraction."""
    smallest_n: int | None = None
    """Fewest reports that reach the target error."""
    smallest_epsilon: float | None = None
    """Least epsilon that reaches the target error with n reports."""
    beaten_by: str = ""
    """A design that is at least as good in every respect."""
    why: str = ""

    @property
    def name(self) -> str:
        """The registry name."""
        return self.mechanism.name

    @property
    def stderr(self) -> float:
        """The predicted standard error of an estimated share: the root of the exact MSE."""
        return math.sqrt(self.mse)

    @property
    def title(self) -> str:
        """Name and own parameters."""
        return title_of(self.mechanism)

    def document(self) -> dict[str, Any]:
        """As plain data, with the names of `deniable design`."""
        m = self.mechanism
        head = {"mechanism": m.name, "params": m.params, "options": dict(self.options), "epsilon": m.epsilon}
        names = ("stderr", "mse", "asr", "blind", "bits", "bytes", "work", "poisoning", "bound", "gap")
        exact = {"epsilon_exact": m.epsilon_exact, "k": m.k, "n": self.n}
        found = {"smallest_n": self.smallest_n, "smallest_epsilon": self.smallest_epsilon}
        told = {"beaten_by": self.beaten_by or None, "why": self.why, "vetted": m.vetted}
        reached = {name: x for name, x in found.items() if x is not None}
        return head | exact | {name: getattr(self, name) for name in names} | reached | told


def forged_gain(pull: Any) -> Any:
    """What forged reports gain, from what one can add; a forger who cannot gain can behave. Numbers or arrays."""
    return FORGED * np.maximum(pull, 0.0)


def title_of(m: Mechanism) -> str:
    """A mechanism's name with the parameters that were chosen for it, as far as they are short."""
    entry = MECHANISMS.get(m.name)
    hidden = () if entry is None else (*entry.inner, *entry.needed[:1] * (entry.traits.curve is None))
    own = {name: f"{value:.4g}" if isinstance(value, float) else str(value) for name, value in m.params.items()}
    told = ", ".join(f"{name} = {text}" for name, text in own.items() if len(text) <= _SHORT and name not in hidden)
    return f"{m.name} ({told})" if told else m.name


def design_of(m: Mechanism, options: Mapping[str, Any], traits: Traits, wanted: Request, n: int) -> Design:
    """All predictions for a mechanism; those of error and best guess are its own closed forms."""
    own = m.properties(n)
    missing = [name for name in ("mse", "asr", "bits", "bytes", "bound", "gap") if name not in own]
    if missing:
        raise ParameterError(f"{m.name} has no {' and no '.join(missing)} to compare.", "It answers another question.")
    _check_sampled(m, own["mse"], n)
    guess = m.guess(wanted.prior) if wanted.prior is not None else None
    return Design(
        m,
        options,
        n,
        own["mse"],
        own["asr"] if guess is None else guess.success,
        1 / m.k if guess is None else guess.blind,
        own["bits"],
        own["bytes"],
        None if traits.work is None else float(traits.work(m, n)),
        None if traits.pull is None else float(forged_gain(traits.pull(m, wanted.targets))),
        own["bound"],
        own["gap"],
    )


def _check_sampled(m: Mechanism, mse: float, n: float) -> None:
    """Refuse a design whose integers cannot follow its ideal parameters, so that the prediction would be too good."""
    sampled = getattr(m, "support_effective", None)
    if sampled is not None and float(sampled.mse(m.k, n)) > _FAITHFUL * mse:
        raise ParameterError(f"what {m.name} samples has {sampled.mse(m.k, n) / mse:.3g} times the ideal error.")
