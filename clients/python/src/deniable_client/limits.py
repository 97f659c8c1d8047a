"""How much work a report is: random words and bytes, known before the first word is drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from deniable_client.errors import FormatError
from deniable_client.exact import WORD_BITS

__all__ = ["check_work"]

_WORDS_MAX = 1 << 20
"""Random words of one report, on average: about a second in Python."""

_BYTES_MAX = 1 << 20
"""Bytes of one report."""

_WORD = 1 << WORD_BITS
_PARTS: Mapping[str, tuple[str, Callable[[Any], int], int]] = {
    "pairs": ("pairs per person", lambda kernel: kernel.length, 1 << 12),
    "utility-levels": ("budgets of answers", lambda kernel: kernel.s, 1 << 12),
    "personal": ("levels", lambda kernel: len(kernel.data), 16),
}
"""What a proof goes through one by one (levels: two by two) and how many of them at most, by the kind of the kernel."""


def words_of(kernel: Any) -> int:
    """Random words that a report draws, on average and at most; a few more where numbers have to be drawn again."""
    return _WORDS[kernel.kind](kernel)


def _noise(kernel: Any) -> int:
    """Coordinates of noise: a sign, the digits, and coins until the first tail, which may be far away."""
    tails: int = kernel.k * (kernel.grid + 2 + -(-_WORD // (_WORD - kernel.again)))
    return tails


def _few(words: int) -> Callable[[Any], int]:
    return lambda kernel: words


_WORDS: Mapping[str, Callable[[Any], int]] = {
    **dict.fromkeys(("whole", "constant"), _few(0)),
    **dict.fromkeys(("table", "leaning", "bit"), _few(1)),
    **dict.fromkeys(("response", "hadamard", "neighbours"), _few(2)),
    **dict.fromkeys(("hashing", "balanced", "wheel", "interval", "window"), _few(3)),
    **dict.fromkeys(("signed-interval", "signed-hashing", "one-key", "told-key", "window-or-bit"), _few(5)),
    "projective": lambda kernel: 2 * kernel.rank + 1,
    "subset": lambda kernel: kernel.size + 1,
    "unary": lambda kernel: kernel.k,
    "laplace": _noise,
    "signed-unary": lambda kernel: 2 * kernel.keys,
    "signed-subset": lambda kernel: 2 * kernel.size + 2,
    "utility-levels": lambda kernel: kernel.s + 1,
    "keys-only": lambda kernel: words_of(kernel.base),
    "recode": lambda kernel: words_of(kernel.base),
    "mixture": lambda kernel: 1 + max(words_of(kernel.first), words_of(kernel.second)),
    "grouped": lambda kernel: 1 + max(words_of(kernel.first), words_of(kernel.second)),
    "pairs": lambda kernel: 3 + words_of(kernel.base),
    "utility": lambda kernel: 3 + sum(words_of(base) for base in kernel.base),
    "personal": lambda kernel: max(words_of(data) for data in kernel.data) + len(kernel.level) * 2,
}
"""By the kind of the kernel."""


def check_work(kernel: Any) -> None:
    """`FormatError` for a kernel whose proof or reports are more work, or longer, than a device takes part in."""
    amounts = [("random words", words_of(kernel), _WORDS_MAX), ("bytes", kernel.width, _BYTES_MAX)]
    if kernel.kind in _PARTS:
        what, count, limit = _PARTS[kernel.kind]
        amounts.append((what, count(kernel), limit))
    for what, amount, most in amounts:
        if amount > most:
            raise FormatError(
                f"a report of this design needs {amount} {what}, more than the {most} that a device takes part in.",
                "For many answers use a mechanism with short reports, such as plh, pgr or olh.",
            )
