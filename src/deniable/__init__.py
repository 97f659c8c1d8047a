"""Deniable: statistics from people who need not trust the collector.

>>> import deniable as dn
>>> m = dn.mechanism("oue", epsilon=1.0, labels=["never", "sometimes", "often"])
>>> reports = m.privatize(["never", "often", "never"])
>>> len(reports), reports.row_bytes
(3, 1)
"""

from __future__ import annotations

from deniable import datasets
from deniable.audit.exact import audit
from deniable.audit.reconstruction import attack
from deniable.collect.codec import dump, load
from deniable.collect.reports import Reports
from deniable.collect.tally import Tally
from deniable.core.channel import Channel
from deniable.core.domain import Domain
from deniable.errors import DeniableError, FormatError, MergeError, ParameterError, PrivacyError
from deniable.estimate.result import Comparison, Estimate
from deniable.mechanisms.base import Mechanism
from deniable.mechanisms.grr import GRR
from deniable.mechanisms.local_hashing import LocalHashing
from deniable.mechanisms.registry import MECHANISMS, PROTOCOLS, from_design, mechanism, protocol
from deniable.mechanisms.subset import SubsetSelection
from deniable.mechanisms.unary import Unary
from deniable.mechanisms.utility import Utility
from deniable.mechanisms.utility_make import utility
from deniable.plan.planner import Plan, plan
from deniable.randomness import secure, simulation

__version__ = "0.1.0"

__all__ = [
    "GRR",
    "MECHANISMS",
    "PROTOCOLS",
    "Channel",
    "Comparison",
    "DeniableError",
    "Domain",
    "Estimate",
    "FormatError",
    "LocalHashing",
    "Mechanism",
    "MergeError",
    "ParameterError",
    "Plan",
    "PrivacyError",
    "Reports",
    "SubsetSelection",
    "Tally",
    "Unary",
    "Utility",
    "__version__",
    "attack",
    "audit",
    "datasets",
    "dump",
    "from_design",
    "load",
    "mechanism",
    "protocol",
    "plan",
    "secure",
    "simulation",
    "utility",
]
