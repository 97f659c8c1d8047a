"""What a device needs to report under local differential privacy: the standard library and nothing else.

Also the one home of what a device and the collecting side share: certified bounds of e^epsilon, integer
thresholds, the hash, the scalar randomisers and the packing of one report.
"""

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
