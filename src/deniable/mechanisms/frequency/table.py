"""The registry's rows of frequency oracles."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from deniable.core.domain import Domain
from deniable.errors import require
from deniable.mechanisms.base import Mechanism
from deniable.mechanisms.entry import Curve, Entry, Traits, grid
from deniable.mechanisms.frequency import costs, curves
from deniable.mechanisms.frequency.adaptive import RULES, adaptive, mixed
from deniable.mechanisms.frequency.affine import Affine, make_affine
from deniable.mechanisms.frequency.geometry import Hadamard, Projective
from deniable.mechanisms.frequency.grr import GRR
from deniable.mechanisms.frequency.histogram import SHE, THE
from deniable.mechanisms.frequency.local_hashing import BalancedHashing, LocalHashing
from deniable.mechanisms.frequency.mixture import SubsetMixture
from deniable.mechanisms.frequency.subset import IntervalSelection, SubsetSelection
from deniable.mechanisms.frequency.unary import Unary
from deniable.mechanisms.frequency.wheel import Wheel

__all__ = ["ROWS"]

Cases = tuple[Mapping[str, Any], ...]
"""Small cases of a row."""


def _subset(
    *, epsilon: float, domain: Domain, size: int | None = None, rounding: Any = None, encoding: str = "bits"
) -> Mechanism:
    """Subset selection as bits; or the same law as permuted intervals, which is `iss`."""
    if size is None:
        size = SubsetSelection.optimal(epsilon=epsilon, domain=domain, rounding=rounding or "paper").size
    else:
        _refuse_rounding(rounding, "size")
    cls = SubsetSelection if encoding == "bits" else IntervalSelection
    return cls(epsilon=epsilon, domain=domain, size=size)


def _refuse_rounding(rounding: Any, option: str) -> None:
    require(rounding is None, "rounding", rounding, f"left out where {option} is given", "It chooses the best one.")


def _chosen(cls: Any, option: str, own: str = "") -> Callable[..., Any]:
    """How to make a mechanism whose parameter `own` is given as an option, or else the best one."""

    def make(*, epsilon: float, domain: Domain, **options: Any) -> Any:
        given = options.pop(option, None)
        if given is None:
            return cls.optimal(epsilon=epsilon, domain=domain, **options)
        _refuse_rounding(options.pop("rounding", None), option)
        return cls(epsilon=epsilon, domain=domain, **{own or option: given}, **options)

    return make


def _adaptive(name: str, cls: type[Any], what: str, best_for: str, small: Cases, traits: Traits) -> Entry:
    """A row whose parameter a rule chooses."""
    summary, source = f"adaptive {what}", "AdaptiveLDP Sec. V"
    return Entry(
        cls,
        adaptive(name),
        summary,
        source,
        best_for,
        RULES,
        inner=("n", "form"),
        small=small,
        traits=traits,
        printed={"objectives": "paper"},
    )


def _traits(family: str, curve: Callable[..., Curve] | None = None) -> Traits:
    """What reports of a family cost, and the family along its parameter where the planner may choose it."""
    return Traits(costs.WORK[family], costs.pull_by(family), curve)


def _affine(k: int, numbers: tuple[int, ...], *epsilons: float) -> Cases:
    """Small cases of `affine`, whose best designs for few answers are refused."""
    return tuple({"k": k, "epsilon": e, **dict(zip(("q", "m", "j", "zero"), numbers, strict=True))} for e in epsilons)


_SETS, _BITS, _HASHES = _traits("ss"), _traits("ue"), _traits("lh")

ROWS: Mapping[str, Entry] = {
    "grr": Entry(
        GRR,
        GRR,
        "generalised randomised response",
        "AdaptiveLDP Sec. IV-A",
        "few answers (k < 3e^epsilon + 2): one small number per report",
        small=grid(2, 3, 5, 8),
        traits=_traits("grr"),
    ),
    "ss": Entry(
        SubsetSelection,
        _subset,
        "subset selection",
        "AdaptiveLDP Sec. IV-B",
        "the least error for every k and epsilon; reports of k bits",
        ("size", "rounding", "encoding"),
        small=(*grid(2, 3, 5, 8), {"k": 6, "epsilon": 1.0, "size": 4}, {"k": 6, "epsilon": 2.0, "size": 5}),
        traits=_traits("ss", curves.subset_curve),
    ),
    "ue": Entry(
        Unary,
        Unary,
        "unary encoding with a chosen p",
        "AdaptiveLDP Sec. IV-C",
        "research on the family; p trades error against the best guess",
        ("p",),
        needed=("p",),
        small=(*grid(2, 4, p=0.8), {"k": 3, "epsilon": 2.0, "p": 0.25}),
        traits=_traits("ue", curves.unary_curve),
    ),
    "sue": Entry(
        Unary,
        Unary.symmetric,
        "symmetric unary encoding (basic one-time RAPPOR)",
        "AdaptiveLDP Sec. IV-C",
        "comparison with deployments of RAPPOR",
        small=grid(2, 3, 6),
        traits=_BITS,
    ),
    "oue": Entry(
        Unary,
        Unary.optimised,
        "optimised unary encoding",
        "AdaptiveLDP Sec. IV-C",
        "medium domains with simple clients: independent bits",
        small=grid(2, 3, 6),
        traits=_BITS,
    ),
    "lh": Entry(
        LocalHashing,
        LocalHashing,
        "local hashing with a chosen range g",
        "AdaptiveLDP Sec. IV-D",
        "research on the family; g trades error against the best guess",
        ("g",),
        needed=("g",),
        small=(*grid(2, 4, g=3), {"k": 2, "epsilon": 1.0, "g": 5}),
        traits=_traits("lh", curves.hashing_curve),
    ),
    "blh": Entry(
        LocalHashing,
        LocalHashing.binary,
        "binary local hashing",
        "AdaptiveLDP Sec. IV-D",
        "one bit and a seed per report",
        small=grid(2, 3, 6),
        traits=_HASHES,
    ),
    "olh": Entry(
        LocalHashing,
        LocalHashing.optimal,
        "optimised local hashing",
        "AdaptiveLDP Sec. IV-D",
        "large domains: reports of 9 bytes or so, whatever k is",
        ("rounding",),
        small=({"k": 2, "epsilon": 0.1}, {"k": 3, "epsilon": 1.0}, {"k": 4, "epsilon": 1.0}),
        traits=_HASHES,
    ),
    "plh": Entry(
        BalancedHashing,
        _chosen(BalancedHashing, "g"),
        "balanced local hashing by a keyed permutation",
        "docs/maths/local-hashing.md",
        "large domains: nearly the least error in a seed and log2 g bits, quick to decode",
        ("g",),
        small=(*grid(2, 3, 5), {"k": 5, "epsilon": 1.0, "g": 2}, {"k": 6, "epsilon": 2.0, "g": 3}),
        traits=_traits("plh", curves.balanced_curve),
    ),
    "the": Entry(
        THE,
        _chosen(THE, "threshold", "theta"),
        "thresholded histogram encoding",
        "AdaptiveLDP Sec. IV-E",
        "comparison: a unary encoding that leaves part of its budget unused",
        ("threshold",),
        small=(*grid(2, 4), {"k": 3, "epsilon": 2.0, "threshold": 0.5}),
        traits=_traits("the", curves.thresholded_curve),
    ),
    "she": Entry(
        SHE,
        SHE,
        "summed histogram encoding (discrete Laplace noise)",
        "AdaptiveLDP Sec. IV-E",
        "comparison: noisy vectors that are simply averaged",
        inner=("grid", "reach"),
        small=tuple({"k": 2, "epsilon": e, "grid": g, "reach": 2**g + 2} for e in (0.5, 2.0) for g in (0, 1, 2)),
        traits=Traits(costs.WORK["she"], costs.pull_noise),
    ),
    "wheel": Entry(
        Wheel,
        _chosen(Wheel, "arc"),
        "wheel: hashing to an arc of a ring",
        "Wang20",
        "large domains at small epsilon: local hashing without a whole-number range",
        ("arc", "rounding"),
        inner=("ring",),
        small=(
            {"k": 2, "epsilon": 1.0, "arc": 0.25, "ring": 3},
            {"k": 3, "epsilon": 0.5, "arc": 0.5, "ring": 2},
            {"k": 3, "epsilon": 2.0, "arc": 0.125, "ring": 3},
        ),
        traits=_traits("wheel", curves.wheel_curve),
    ),
    "ass": _adaptive(
        "ass",
        SubsetSelection,
        "subset selection",
        "the least error for the best guess it allows: on the frontier",
        grid(3, 5, 8),
        _SETS,
    ),
    "aue": _adaptive(
        "aue",
        Unary,
        "unary encoding",
        "comparison: ass has less error for the same best guess",
        grid(2, 4),
        _BITS,
    ),
    "alh": _adaptive(
        "alh",
        LocalHashing,
        "local hashing",
        "short reports with a smaller best guess; plh has less error",
        ({"k": 2, "epsilon": 0.1}, {"k": 3, "epsilon": 1.0}, {"k": 5, "epsilon": 1.0}),
        _HASHES,
    ),
    "athe": _adaptive(
        "athe",
        THE,
        "thresholded histogram encoding",
        "comparison: leaves part of its budget unused",
        grid(2, 4),
        _BITS,
    ),
    "ssmix": Entry(
        SubsetMixture,
        mixed,
        "mixture of two subset sizes",
        "docs/maths/mixture.md",
        "any best guess that is asked for, with the least error there is",
        ("size", "share", *RULES),
        inner=("n",),
        small=(
            *grid(3, 5),
            {"k": 2, "epsilon": 1.0, "size": 1, "share": 0.4},
            {"k": 4, "epsilon": 1.0, "size": 2, "share": 0.25},
            {"k": 5, "epsilon": 2.0, "size": 4, "share": 0.75},
            {"k": 6, "epsilon": 0.5, "size": 3, "share": 0.0},
        ),
        traits=Traits(costs.WORK["ssmix"], costs.pull_mixture, curves.mixture_curve),
    ),
    "hr": Entry(
        Hadamard,
        Hadamard,
        "Hadamard response",
        "Acharya19",
        "small epsilon, very large domains: log2 k bits, no seed, decoding in k log k",
        small=grid(2, 3, 5, 8),
        traits=_traits("hr"),
    ),
    "pgr": Entry(
        Projective,
        _chosen(Projective, "prime"),
        "projective-geometry response",
        "Feldman22",
        "the fewest bits near the least error: 2 to 5 fewer than affine, which has less error and is as quick",
        ("prime",),
        small=(*grid(2, 3, 7), {"k": 10, "epsilon": 1.0, "prime": 3}, {"k": 5, "epsilon": 2.0, "prime": 5}),
        traits=_traits("pgr", curves.projective_curve),
    ),
    "iss": Entry(
        IntervalSelection,
        _chosen(IntervalSelection, "size"),
        "subset selection by permuted intervals",
        "docs/maths/utility.md",
        "comparison: the law of ss in a seed and log2 k bits; affine is shorter and far quicker to decode",
        ("size",),
        small=(*grid(2, 3), {"k": 4, "epsilon": 1.0, "size": 2}, {"k": 5, "epsilon": 2.0, "size": 3}),
        traits=_traits("iss", curves.interval_curve),
    ),
    "affine": Entry(
        Affine,
        make_affine,
        "affine response: blocks of cyclotomic classes",
        "docs/maths/affine.md",
        "more than about 100 answers: the least error in log2 k + 3 to 6 bits, no seed, quick to make and to decode",
        ("cells", "tolerance"),
        inner=("q", "m", "j", "zero", "g"),
        small=(
            *_affine(7, (7, 3, 1, 0), 0.1, 1.0, 4.0),
            *_affine(11, (13, 4, 1, 1), 0.5, 2.0),
            *_affine(3, (3, 1, 0, 1), 1.0),
            *_affine(2, (3, 2, 1, 0), 1.0),
            *_affine(5, (13, 4, 1, 0), 1.0),
            *_affine(9, (11, 2, 1, 0), 1.0),
            {"k": 10, "epsilon": 2.0, "tolerance": 0.1},
        ),
        traits=_traits("affine"),
    ),
}
