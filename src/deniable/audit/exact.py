"""The exact audit: is the largest likelihood ratio of what is sampled at most e^epsilon?"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from typing import Any, Protocol, runtime_checkable

from deniable.core.channel import Channel, Proof
from deniable.core.promise import Promise
from deniable.core.promise.judge import Pair, breach, enumerated, proved
from deniable.core.promise.ranges import others, ranges_of
from deniable.core.protection import Protection
from deniable.errors import EnumerationError, ParameterError, require
from deniable.mechanisms.base import Mechanism
from deniable.mechanisms.common import channels_of, kept
from deniable_client.exact import check_epsilon

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
    pairs: tuple[Pair, ...] = ()
    """For each two classes of inputs that are promised something: the budget, the exact largest ratio, and a report
    that attains it. The pair that comes nearest to its budget, or is farthest beyond it, is the first."""
    broken: Pair | None = None
    """A pair that is beyond its budget, by the argument or by enumeration; None if there is none."""
    guarantee: Mapping[str, Any] | None = None
    """What reports tell beside epsilon, e.g. about a person's level; None where there is nothing."""
    own_kept: bool = True
    """Whether the own promise is kept, with all of its levels or budgets, where another epsilon was asked about."""
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
        """Every exact ratio is within the promise (`deniable.core.promise.judge`), and the two ways to it agree."""
        return self.agrees and self.broken is None

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
        } | ({} if self.guarantee is None else {"guarantee": dict(self.guarantee), "budgets_kept": self.own_kept})


def audit(what: object, *, epsilon: float | None = None, promise: Promise | None = None) -> Audit:
    """Audit a mechanism, a channel, or any object with `epsilon` and `channel()`, against its promise or another one.

    Code whose channel is not known (`Mechanism.from_functions`) is audited by reports: that can refute, never prove.

    >>> import deniable as dn
    >>> dn.audit(dn.mechanism("grr", epsilon=1.0, k=4)).holds
    True
    >>> found = dn.audit(dn.Channel(("no", "yes"), ((3, 1), (1, 3)), 4), epsilon=1.0)
    >>> found.holds, str(found.pairs[0])
    (False, 'no for 0 against 1: promised 1, exact 1.09861')
    """
    if isinstance(what, type):
        raise _unfit(what)
    promised = _promised(what, epsilon, promise)
    name = "channel" if isinstance(what, Channel) else str(getattr(what, "name", type(what).__name__))
    proof, vetted = getattr(what, "proof", None), bool(getattr(what, "vetted", False))
    if getattr(what, "untraced", ""):
        from deniable.audit.empirical import measure

        require(promise is None, "promise", promise, "left out for code: reports are held against one epsilon")
        return measure(what, promised)  # type: ignore[arg-type]
    if isinstance(proof, Proof):
        judged, proof = _judged(what, proof, promised, promise)
        argued = proved(judged, proof)
        found, pairs = _enumerate(what, judged, proof)
        told = getattr(what, "protection", None)
        told = told if isinstance(told, Protection) and promise is None else None
        if told is not None and promised != getattr(what, "epsilon", None):
            told = told.against(promised)
        broken = breach(argued) or breach(pairs)
        more = getattr(what, "guarantee", None)
        return Audit(name, promised, proof, found, vetted, pairs or argued, broken, more, _keeps(what), told)
    if isinstance(what, Channel | _Enumerable):
        channel = what if isinstance(what, Channel) else what.channel()
        judged = promise or _of_channel(channel, promised)
        pairs = enumerated(judged, [channel])
        told = Protection(promise=judged, epsilon=promised, disclosed=_disclosed(channel)) if promise is None else None
        return Audit(name, promised, channel.proof(), None, vetted, pairs, breach(pairs), protection=told)
    raise _unfit(what)


def _promised(what: object, epsilon: float | None, promise: Promise | None) -> float:
    """The epsilon that is to be checked: what was given, or the object's own."""
    if promise is not None:
        require(isinstance(promise, Promise), "promise", promise, "a promise", "Make one: dn.promise(...).")
        require(epsilon is None, "epsilon", epsilon, "left out with a promise", "The promise has its own budgets.")
        return promise.epsilon
    promised = epsilon if epsilon is not None else getattr(what, "epsilon", None)
    if promised is None and (hasattr(what, "channel") or hasattr(what, "proof")):
        hint = "Say which promise is to be checked, for example epsilon=1."
        raise ParameterError("epsilon must be given to audit something that promises none itself.", hint)
    if promised is None:
        raise _unfit(what)
    return check_epsilon(promised)


def _keeps(what: object) -> bool:
    """Whether a mechanism keeps its own promise."""
    return not isinstance(what, Mechanism) or kept(what)


def _judged(what: object, proof: Proof, promised: float, promise: Promise | None) -> tuple[Promise, Proof]:
    """The promise that something with a proof is held against: its own, or one epsilon to the same values.

    What a proof says of smaller budgets is about those of the own promise.
    """
    own = getattr(what, "promise", None)
    if promise is None and isinstance(own, Promise) and promised == getattr(what, "epsilon", None):
        return own, proof
    if promise is None and isinstance(own, Promise):
        promise = own.flat(promised)
    plain = Promise.plain(promised, 1 + max(1, proof.witness.likely, proof.witness.unlikely))
    return promise or plain, replace(proof, ratios=(), parts=())


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


def _of_channel(channel: Channel, epsilon: float) -> Promise:
    """What a channel on its own promises: to all inputs, or to those that it does not call harmless."""
    if not channel.harmless:
        return Promise.plain(epsilon, channel.k)
    rest = ranges_of(channel.harmless)
    return Promise.by_class(channel.k, (others(rest, channel.k), rest), (epsilon, math.inf), strict=epsilon)


def _disclosed(channel: Channel) -> Fraction:
    """The largest chance that a harmless input is disclosed."""
    told = (sum(channel.weights[o][x] for o in channel.disclosing) for x in channel.harmless)
    return Fraction(max(told, default=0), channel.total)


def _enumerate(what: object, judged: Promise, proof: Proof) -> tuple[Proof | None, tuple[Pair, ...]]:
    """What all outputs say, at every level where there are some; nothing where they are too many."""
    if not isinstance(what, _Enumerable):
        return None, ()
    try:
        channel = what.channel()
        channels = channels_of(what) if judged.levels and isinstance(what, Mechanism) else [channel]
    except EnumerationError:
        return None, ()
    return channel.proof(), enumerated(judged, channels, proof)
