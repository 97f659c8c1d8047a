"""What a device remembers and spent, on its disk, and the reports that wait to be sent."""

from deniable_client.ledger.book import Ledger, Receipt
from deniable_client.ledger.outbox import Sent

__all__ = ["Ledger", "Receipt", "Sent"]
