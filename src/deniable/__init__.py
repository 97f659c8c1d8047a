"""Deniable: statistics from people who need not trust the collector.

>>> import deniable as dn
>>> m = dn.mechanism("oue", epsilon=1.0, labels=["never", "sometimes", "often"])
>>> reports = m.privatize(["never", "often", "never"])
>>> len(reports), reports.row_bytes
(3, 1)
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from importlib import import_module

TYPE_CHECKING = False  # as type checkers read it, without loading `typing`
if TYPE_CHECKING:
    from deniable import datasets
    from deniable.audit.exact import audit
    from deniable.audit.reconstruction import attack
    from deniable.collect.codec import dump
    from deniable.collect.reports import Reports
    from deniable.collect.tally import Tally
    from deniable.core.channel import Channel
    from deniable.core.domain import Domain
    from deniable.core.grid import Grid
    from deniable.core.promise import Promise
    from deniable.core.promise.making import promise
    from deniable.core.space import Space
    from deniable.errors import DeniableError, FormatError, MergeError, ParameterError, PrivacyError
    from deniable.estimate.change import equality, trend
    from deniable.estimate.result import Comparison, Estimate
    from deniable.mechanisms.base import Mechanism
    from deniable.mechanisms.ordinal.question import ordinal
    from deniable.mechanisms.registry import MECHANISMS, PROTOCOLS, from_design, mechanism, protocol, register
    from deniable.mechanisms.utility.make import utility
    from deniable.plan.questions import plan
    from deniable.plan.survey import survey
    from deniable.randomness import secure, simulation
    from deniable.run.store import load, save
    from deniable.run.sweep.study import study

__version__ = "0.2.0"

# What there is to work with: values and what holds them, then mechanisms, then what is done with them, then errors.
__all__ = ["Channel", "Comparison", "Domain", "Estimate", "Grid", "Promise", "Reports", "Space", "Tally", "__version__"]
__all__ += ["MECHANISMS", "PROTOCOLS", "Mechanism", "from_design", "mechanism", "protocol", "register", "utility"]
__all__ += ["attack", "audit", "datasets", "dump", "load", "ordinal", "plan", "promise", "save", "secure", "simulation"]
__all__ += ["equality", "study", "survey", "trend"]
__all__ += ["DeniableError", "FormatError", "MergeError", "ParameterError", "PrivacyError"]

_HOMES: Mapping[str, tuple[str, ...]] = {
    "deniable": ("datasets",),
    "deniable.audit.exact": ("audit",),
    "deniable.audit.reconstruction": ("attack",),
    "deniable.collect.codec": ("dump",),
    "deniable.collect.reports": ("Reports",),
    "deniable.collect.tally": ("Tally",),
    "deniable.core.channel": ("Channel",),
    "deniable.core.domain": ("Domain",),
    "deniable.core.grid": ("Grid",),
    "deniable.core.promise": ("Promise",),
    "deniable.core.promise.making": ("promise",),
    "deniable.core.space": ("Space",),
    "deniable.errors": ("DeniableError", "FormatError", "MergeError", "ParameterError", "PrivacyError"),
    "deniable.estimate.change": ("equality", "trend"),
    "deniable.estimate.result": ("Comparison", "Estimate"),
    "deniable.mechanisms.base": ("Mechanism",),
    "deniable.mechanisms.ordinal.question": ("ordinal",),
    "deniable.mechanisms.registry": ("MECHANISMS", "PROTOCOLS", "from_design", "mechanism", "protocol", "register"),
    "deniable.mechanisms.utility.make": ("utility",),
    "deniable.plan.questions": ("plan",),
    "deniable.plan.survey": ("survey",),
    "deniable.randomness": ("secure", "simulation"),
    "deniable.run.store": ("load", "save"),
    "deniable.run.sweep.study": ("study",),
}
"""Where the names come from: the same as above, for loading each when it is first used."""

_FORMER: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "deniable.mechanism(name, ...) makes it": {
        "deniable.mechanisms.frequency.grr": ("GRR",),
        "deniable.mechanisms.frequency.local_hashing": ("LocalHashing",),
        "deniable.mechanisms.frequency.subset": ("SubsetSelection",),
        "deniable.mechanisms.frequency.unary": ("Unary",),
        "deniable.mechanisms.metric.brr": ("BRR",),
        "deniable.mechanisms.metric.codebook": ("Codebook",),
        "deniable.mechanisms.numeric.base": ("Duchi", "Hybrid", "Piecewise", "SquareWave"),
        "deniable.mechanisms.personal.plain": ("Personal",),
        "deniable.mechanisms.personal.sensitive": ("PersonalUtility",),
        "deniable.mechanisms.utility.base": ("Utility",),
    },
    "deniable.plan(question=..., ...) gives it": {
        "deniable.plan.answer": ("Plan",),
        "deniable.plan.former": ("PairPlan", "plan_keyvalue", "plan_means", "plan_pairs", "plan_release"),
        "deniable.plan.keyvalue": ("KeyValuePlan",),
        "deniable.plan.mean": ("MeanPlan",),
        "deniable.plan.release": ("ReleasePlan",),
    },
    "deniable.load(path) reads it": {"deniable.run.files": ("read_space",)},
}
"""Names of the version before by what is there instead, and where they come from; they go with the next version."""

_HOME = {name: module for module, names in _HOMES.items() for name in names}

for _name in ("audit", "plan"):  # functions that have the names of packages: these are loaded now, and step back
    import_module(f"deniable.{_name}")
    del globals()[_name]


def __getattr__(name: str) -> object:
    for instead, homes in _FORMER.items():
        for module, names in homes.items():
            if name in names:
                warnings.warn(f"deniable.{name} goes: {instead} now.", DeprecationWarning, stacklevel=2)
                return getattr(import_module(module), name)
    if name not in _HOME:
        from difflib import get_close_matches

        near = "" if name.startswith("_") else " or ".join(get_close_matches(name, __all__))
        raise AttributeError(f"module 'deniable' has no attribute {name!r}." + f" Did you mean {near}?" * bool(near))
    home = import_module(_HOME[name])
    value = import_module(f"deniable.{name}") if home.__name__ == __name__ else getattr(home, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
