"""What the planner says of a mechanism: what the predictions for all questions share, said once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from deniable.mechanisms.base import Mechanism

__all__ = ["FORGED", "Prediction", "forged_gain", "plain"]

FORGED = 0.01
"""The share of forged reports that `poisoning` is for."""
_SHORT = 24
M = TypeVar("M", bound=Mechanism)


@dataclass(frozen=True, kw_only=True)
class Prediction(Generic[M]):
    """A mechanism with what is predicted of it; `options` make it again: `mechanism(name, **options)`."""

    mechanism: M
    options: Mapping[str, Any]
    bits: float
    bytes: int
    beaten_by: str = ""
    """A design that is at least as good in every respect."""
    why: str = ""
    told: ClassVar[tuple[str, ...]]
    """What the document tells beside the mechanism itself."""

    @property
    def name(self) -> str:
        """The registry name."""
        return self.mechanism.name

    @property
    def own(self) -> Mapping[str, Any]:
        """The parameters that the title tells."""
        return self.mechanism.params

    @property
    def title(self) -> str:
        """Name and own parameters, as far as they are short."""
        texts = {key: f"{x:.4g}" if isinstance(x, float) else str(x) for key, x in self.own.items()}
        told = ", ".join(f"{key} = {text}" for key, text in texts.items() if len(text) <= _SHORT)
        return f"{self.name} ({told})" if told else self.name

    def document(self) -> dict[str, Any]:
        """As plain data, with the names of `deniable design`."""
        m = self.mechanism
        shown = {name: plain(x) for name, x in self.options.items()}
        head = {"mechanism": m.name, "params": m.params, "options": shown, "epsilon": m.epsilon}
        exact = {"epsilon_exact": m.epsilon_exact, "k": m.k}
        rest = {"beaten_by": self.beaten_by or None, "why": self.why, "vetted": m.vetted}
        return head | exact | {name: getattr(self, name) for name in self.told} | rest


def plain(x: Any) -> Any:
    """An option as plain data, or else in words."""
    return list(x) if isinstance(x, tuple) else x if isinstance(x, int | float | str) else str(x)


def forged_gain(pull: Any) -> Any:
    """What forged reports gain, from what one can add; a forger who cannot gain can behave. Numbers or arrays."""
    return FORGED * np.maximum(pull, 0.0)
