"""What mechanisms, bulks and parts are they say by members of their contract; few places ask whether one is there."""

from __future__ import annotations

import re
from collections import Counter

from sources import ROOT, SOURCES

ASKS = re.compile(r"\b(?:getattr|hasattr)\((?:m|bulk|base|part|mechanism), ?(\"\w+\"|[\w.]+)")
CLIENT = "clients/python/src/deniable_client/kernels"
KNOWN = {
    (f"{CLIENT}/contract.py", '"__dict__"'): "what stands inside another kernel may be no kernel at all",
    (f"{CLIENT}/contract.py", '"kind"'): "the same, in the words of the refusal",
    (f"{CLIENT}/keyvalue.py", '"padded"'): "only kernels on keys say it themselves",
    ("src/deniable/cli/designs.py", '"output_points"'): "what outputs are, where they are answers",
    ("src/deniable/papers/checks.py", "self.quantity"): "a claim names the property that it is about",
    ("src/deniable/plan/frequency.py", '"mse"'): "one closed form alone, where a mechanism has it",
    ("src/deniable/run/sweep/cells.py", '"privatize_items"'): "what a user's function gave may be anything",
    ("src/deniable/testing/exact.py", '"unbiased"'): "a stranger's mechanism need not have it",
}
"""Who asks for what, and why no member of the contract can say it."""


def test_at_most_eight_places_ask_a_mechanism_what_it_has() -> None:
    files = (path for base in SOURCES for path in base.rglob("*.py"))
    texts = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in files}
    found = Counter((name, asked) for name, text in texts.items() for asked in ASKS.findall(text))
    assert found == Counter(list(KNOWN)), "give the contract a member, or name the place and the reason here"
    assert found.total() <= 8
