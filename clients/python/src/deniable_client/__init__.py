"""What a device needs to report under local differential privacy: the standard library and nothing else.

Also the one home of what a device and the collecting side share: certified bounds of e^epsilon, integer
thresholds, the hash, the scalar randomisers and the packing of one report.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as type checkers read it: `typing` alone would take longer to load than all that is here
if TYPE_CHECKING:
    from typing import Any

    from deniable_client.device import Device, explain
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
    from deniable_client.ledger import Ledger, Receipt
    from deniable_client.task import Task
    from deniable_client.words import ReplayWords, SystemWords

__version__ = "0.2.0"

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
    "device": ("Device", "explain"),
    "errors": tuple(name for name in __all__ if name.endswith("Error")),
    "ledger": ("Ledger", "Receipt"),
    "task": ("Task",),
    "words": ("ReplayWords", "SystemWords"),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}
"""Where the names come from: the same as above, for loading each when it is first used."""


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = globals()[name] = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
