"""The exact audit: is the largest likelihood ratio of what is sampled at most e^epsilon?"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any, Protocol, runtime_checkable

from deniable.core.channel import Channel, Proof
from deniable.core.protection import Protection
from deniable.errors import EnumerationError, ParameterError
from deniable_client.exact import check_epsilon, exp_bounds

__all__ = ["Audit", "audit"]


@runtime_checkable
class _Enumerable(Protocol):
    """Anything with a promise and a channel that can be written down."""

    @property
    def epsilon(self) -> float: ...

    def channel(self) -> Channel: ...


@dataclass(frozen=True, slots=True, repr=False)
class Audit:
    """The verdict, with its evidence.

    `proof` is the general argument (symmetry, factorisation, ...) or the enumeration itself; `enumerated` is the
    enumeration of all outputs where there are few enough, which must agree with it.
    """

    name: str
    promised: float
    proof: Proof
    enumerated: Proof | None
    vetted: bool
    budgets_kept: bool = True
    """Values or levels that have smaller budgets of their own keep them too; true where there are none."""
    guarantee: Mapping[str, Any] | None = None
    """What is promised beside epsilon, e.g. about a person's level; None where there is nothing."""
    protection: Protection | None = None
    """Who is protected from what, if the promise is kept; None where nothing but epsilon is known."""

    @property
    def exact(self) -> float:
        """The exact epsilon, rounded up; infinite if some report rules a value out."""
        return self._worst.epsilon

    @property
    def _worst(self) -> Proof:
        return self.proof if self.enumerated is None else self.enumerated

    @property
    def agrees(self) -> bool:
        """Whether argument and enumeration, where both are there, give the same ratio."""
        return self.enumerated is None or self.enumerated.ratio == self.proof.ratio

    @property
    def holds(self) -> bool:
        """The exact ratio is at most a certified lower bound of e^epsilon: no rounding is forgiven."""
        ratio = self._worst.ratio
        kept = self.agrees and self.budgets_kept
        return kept and ratio is not None and ratio <= exp_bounds(self.promised)[0]

    @property
    def verdict(self) -> str:
        """Whether the promise is kept, and what it is."""
        told = "" if self.protection is None else self.protection.text
        if self.holds:
            return f"The promise is kept. {told}".rstrip()
        return f"THE PROMISE IS BROKEN. It was: {told}" if told else "THE PROMISE IS BROKEN."

    def __repr__(self) -> str:
        verdict = "kept" if self.holds else "BROKEN"
        return f"<Audit of {self.name}: the promise {self.promised!r} is {verdict}, exact epsilon {self.exact!r}>"

    def _repr_html_(self) -> str:
        """A small table with a bar for notebooks: how much of the promise is used."""
        from deniable.present.html import Bar, facts_html

        facts = {
            "exact epsilon": repr(self.exact),
            "promised epsilon": repr(self.promised),
            "witness": str(self._worst.witness),
            "argument": self.proof.argument,
            "vetted": "yes" if self.vetted else "no",
        }
        title = f"{self.name}: the promise is {'kept' if self.holds else 'BROKEN'}"
        return facts_html(title, facts, bar=Bar(min(1.0, self.exact / self.promised)))

    def document(self) -> dict[str, Any]:
        """As plain data."""
        worst = self._worst
        spare = self.promised - self.exact
        return {
            "mechanism": self.name,
            "epsilon": self.promised,
            "epsilon_exact": self.exact if math.isfinite(self.exact) else None,
            "holds": self.holds,
            "spare": spare if math.isfinite(spare) else None,
            "method": self.proof.method,
            "argument": self.proof.argument,
            "enumerated": self.enumerated.argument if self.enumerated else None,
            "agrees": self.agrees,
            "witness": asdict(worst.witness),
            "ratio": str(worst.ratio) if worst.ratio is not None else "infinite",
            "vetted": self.vetted,
            **({} if self.protection is None else {"protection": self.protection.document()}),
        } | ({} if self.guarantee is None else {"guarantee": dict(self.guarantee), "budgets_kept": self.budgets_kept})


def audit(what: object, *, epsilon: float | None = None) -> Audit:
    """Audit a mechanism, a channel, or any object with `epsilon` and `channel()`, against its promise or another one.

    >>> import deniable as dn
    >>> dn.audit(dn.mechanism("grr", epsilon=1.0, k=4)).holds
    True
    >>> dn.audit(dn.Channel(("no", "yes"), ((3, 1), (1, 3)), 4), epsilon=1.0).holds
    False
    """
    if isinstance(what, type):
        raise _unfit(what)
    promised = epsilon if epsilon is not None else getattr(what, "epsilon", None)
    if promised is None and (hasattr(what, "channel") or hasattr(what, "proof")):
        hint = "Say which promise is to be checked, for example epsilon=1."
        raise ParameterError("epsilon must be given to audit something that promises none itself.", hint)
    if promised is None:
        raise _unfit(what)
    check_epsilon(promised)
    if isinstance(what, Channel):
        return Audit("channel", promised, what.proof(), None, False, protection=_of_channel(what, promised))
    name = str(getattr(what, "name", type(what).__name__))
    proof = getattr(what, "proof", None)
    vetted = bool(getattr(what, "vetted", False))
    if isinstance(proof, Proof):
        kept, more = bool(getattr(what, "budgets_kept", True)), getattr(what, "guarantee", None)
        own = getattr(what, "protection", None)
        told = (own.against(promised) if kept else own) if isinstance(own, Protection) else None
        return Audit(name, promised, proof, _enumerate(what), vetted, kept, more, told)
    if isinstance(what, _Enumerable):
        channel = what.channel()
        return Audit(name, promised, channel.proof(), None, vetted, protection=_of_channel(channel, promised))
    raise _unfit(what)


def _unfit(what: object) -> ParameterError:
    """What can be audited, and how to get there from what was given."""
    hint = "Give it a method channel() that returns a deniable.Channel, or a property proof."
    if isinstance(what, type):
        told = f"the class {what.__name__}"
        return ParameterError(f"audit takes a mechanism or a channel, got {told}.", f"Make one: {what.__name__}(...).")
    if isinstance(what, str):
        hint = f"Make one: dn.audit(dn.mechanism({what!r}, epsilon=1, k=4))."
    elif hasattr(what, "__len__"):
        hint = "A table of probabilities, a row for each value, becomes a channel by dn.Channel.from_matrix(table)."
    return ParameterError(f"audit takes a mechanism or a channel, got {type(what).__name__}.", hint)


def _of_channel(channel: Channel, epsilon: float) -> Protection:
    """What a channel on its own promises: to all inputs, or to those that it does not call harmless."""
    if not channel.harmless:
        return Protection(epsilon=epsilon)
    own = tuple(end for x in range(channel.k) if x not in channel.harmless for end in (x, x + 1))
    told = (sum(channel.weights[o][x] for o in channel.disclosing) for x in channel.harmless)
    return Protection(epsilon=epsilon, sensitive=own, disclosed=Fraction(max(told), channel.total))


def _enumerate(what: object) -> Proof | None:
    """The enumeration of all outputs, or None where they are too many."""
    if not isinstance(what, _Enumerable):
        return None
    try:
        return what.channel().proof()
    except EnumerationError:
        return None
