"""What a device needs to report under local differential privacy: the standard library and nothing else.

Also the one home of what a device and the collecting side share: certified bounds of e^epsilon, integer
thresholds, the hash, the scalar randomisers and the packing of one report.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from deniable_client.errors import (
    BudgetError,
    DeniableError,
    EntropyError,
    FormatError,
    LedgerError,
    ParameterError,
    PrivacyError,
    WindowError,
)

if TYPE_CHECKING:
    from deniable_client.device import Device, explain
    from deniable_client.ledger import Ledger, Receipt
    from deniable_client.task import Task
    from deniable_client.words import ReplayWords, SystemWords

__version__ = "0.1.0"

__all__ = [
    "BudgetError",
    "DeniableError",
    "Device",
    "EntropyError",
    "FormatError",
    "Ledger",
    "LedgerError",
    "ParameterError",
    "PrivacyError",
    "Receipt",
    "ReplayWords",
    "SystemWords",
    "Task",
    "WindowError",
    "__version__",
    "explain",
]

_HOMES = {
    "Device": "device",
    "Ledger": "ledger",
    "Receipt": "ledger",
    "ReplayWords": "words",
    "SystemWords": "words",
    "Task": "task",
    "explain": "device",
}
"""Where names are made that are loaded when somebody uses them: an app starts without waiting for all of them."""


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = found
    return found
