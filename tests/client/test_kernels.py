"""The scalar randomisers, by enumerating words; their documents; what they refuse."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from deniable_client.errors import FormatError, ParameterError
from deniable_client.exact import exp_bounds
from deniable_client.hashing import bucket
from deniable_client.kernels import KERNELS, Hashing, Kernel, Response, Subset, Unary, Windows, kernel_from, kernel_to
from deniable_client.packing import unpack_bits
from deniable_client.words import ReplayWords
from tiers import every


def law(kernel: Kernel, x: int, draws: int, bits: int) -> Counter[bytes]:
    """Reports over all sequences of `draws` words; sequences that need more words are left out."""
    found: Counter[bytes] = Counter()
    for words in product(range(1 << bits), repeat=draws):
        try:
            found[kernel.randomise(x, ReplayWords(words, bits))] += 1
        except ParameterError:
            continue
    return found


@pytest.mark.parametrize(
    ("keep", "k", "x"), every(5, [(keep, k, x) for keep in (1, 100, 200, 255) for k, x in ((2, 0), (3, 1), (5, 4))])
)
def test_response_for_all_pairs_of_8_bit_words(k: int, x: int, keep: int) -> None:
    """Thresholds below 256 make 8-bit words decide; a second word is needed for a lie only."""
    found = law(Response(k, keep), x, 2, 8)
    per_lie = 256 // (k - 1)  # words that lead to each other value
    expected = {bytes([y]): keep * 256 if y == x else (256 - keep) * per_lie for y in range(k)}
    assert found == expected


@pytest.mark.parametrize(
    ("keep", "flip", "x"), every(2, [(*both, x) for both in ((128, 60), (200, 1), (255, 254)) for x in (0, 1)])
)
def test_unary_for_all_pairs_of_8_bit_words(keep: int, flip: int, x: int) -> None:
    found = law(Unary(2, keep, flip), x, 2, 8)
    for report, count in found.items():
        ones = unpack_bits(report, 2)
        expected = 1
        for i in range(2):
            t = keep if i == x else flip
            expected *= t if i in ones else 256 - t
        assert count == expected
    assert sum(found.values()) == 256**2


@pytest.mark.parametrize(("k", "size", "keep"), [(4, 2, 9), (3, 2, 5), (5, 2, 12), (3, 1, 7)])
def test_subset_for_all_sequences_of_4_bit_words(k: int, size: int, keep: int) -> None:
    """Sets with the value are equally likely among each other, and so are those without it, for each word count."""
    kernel = Subset(k, size, keep)
    for x in range(k):
        ends: Counter[tuple[int, bytes]] = Counter()  # (words used, report) of sequences that end there
        for draws in range(1, size + 2):
            for words in product(range(16), repeat=draws):
                replay = ReplayWords(words, 4)
                try:
                    report = kernel.randomise(x, replay)
                except ParameterError:
                    continue
                if next(replay._words, None) is None:
                    ends[draws, report] += 1
        by_kind: dict[tuple[int, bool], set[int]] = {}
        mass: Counter[bool] = Counter()
        for (draws, report), count in ends.items():
            has_x = x in unpack_bits(report, k)
            by_kind.setdefault((draws, has_x), set()).add(count)
            mass[has_x] += count * 16 ** (size + 1 - draws)
            assert len(unpack_bits(report, k)) == size
        assert all(len(counts) == 1 for counts in by_kind.values()), by_kind
        assert mass[True] > 0 < mass[False]


def test_hashing_is_response_on_the_bucket() -> None:
    kernel = Hashing.calibrate(1.0, k=10, g=4)
    seed = 0x0123456789ABCDEF
    h = bucket(seed, 7, 4)
    kept = kernel.randomise(7, ReplayWords([seed, kernel.keep - 1]))
    assert kept == seed.to_bytes(8, "little") + bytes([h])
    lies = {kernel.randomise(7, ReplayWords([seed, kernel.keep, w << 62 | 1 << 40]))[8] for w in range(4)}
    assert lies == {0, 1, 2, 3} - {h}


def test_hashing_needs_64_bit_words_for_its_seed() -> None:
    with pytest.raises(ParameterError, match=r"words\.bits must be 64, got 8"):
        Hashing(10, 4, 100).randomise(0, ReplayWords([1, 2, 3], 8))


CALIBRATED: list[Kernel] = [
    Response.calibrate(1.0, 10),
    Subset.calibrate(2.0, 12, 3),
    Unary.calibrate(0.5, 9, 2**63),
    Hashing.calibrate(3.0, 100, 21),
]


@pytest.mark.parametrize(("kernel", "epsilon"), list(zip(CALIBRATED, [1.0, 2.0, 0.5, 3.0], strict=True)))
def test_calibrated_kernels_keep_the_promise(kernel: Kernel, epsilon: float) -> None:
    low = exp_bounds(epsilon)[0]
    assert low * (1 - Fraction(1, 10**12)) < kernel.ratio <= low


@pytest.mark.parametrize("kernel", CALIBRATED, ids=lambda kernel: kernel.kind)
def test_documents_round_trip_as_decimal_strings(kernel: Kernel) -> None:
    document = kernel_to(kernel)
    assert kernel_from(document) == kernel
    assert all(isinstance(v, str) for v in document.values())
    assert set(KERNELS) >= {document["kind"]}


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({}, "kernel kind None is unknown"),
        ({"kind": "cuckoo"}, "kernel kind 'cuckoo' is unknown; possible are .*response"),
        ({"kind": ["response"]}, "is unknown"),
        ({"kind": "response", "k": "2"}, r"has the fields kind, k, keep; keep is missing"),
        ({"kind": "response", "k": "2", "keep": "1", "bias": "1"}, "'bias' is unknown"),
        ({"kind": "response", "k": "2", "keep": "many"}, "needs whole numbers"),
        ({"kind": "response", "k": "2", "keep": 1.5}, "needs whole numbers"),
    ],
)
def test_documents_that_do_not_fit_are_refused(document: dict[str, object], message: str) -> None:
    with pytest.raises(FormatError, match=message):
        kernel_from(document)


def windows(**changes: Any) -> Windows:
    """Four cells of two points, or something else in place of a part."""
    given: dict[str, Any] = {"k": 7, "circle": 8, "widths": (2,), "shifts": (2,), "shares": (1,), "sizes": (3,)}
    return Windows(**(given | {"keeps": (1 << 63,)} | changes))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Response(1, 5), "k must be an integer from 2"),
        (lambda: Response(2, 0), "keep must be an integer between 0 and"),
        (lambda: Response(2, 2**64), "keep must be an integer between 0 and"),
        (lambda: Response(True, 5), "k must be an integer from 2"),
        (lambda: Subset(5, 0, 9), "size must be an integer from 1 to k-1 = 4, got 0"),
        (lambda: Subset(5, 5, 9), "size must be an integer from 1 to k-1 = 4, got 5"),
        (lambda: Unary(5, 9, 9), "flip must be less than keep, got 9"),
        (lambda: Hashing(5, 1, 9), "g must be an integer from 2"),
        (lambda: Hashing(5, 2**32, 9), "g must be an integer from 2"),
        (lambda: windows(sizes=(4,)), "size must be an integer from 1 to 3, got 4"),
        (lambda: windows(sizes=(0,)), "size must be an integer from 1 to 3, got 0"),
        (lambda: windows(shifts=(3,)), "number of shifts must be an integer from 1 to 2, got 3"),
        (lambda: windows(shifts=(0,)), "number of shifts must be an integer from 1 to 2, got 0"),
        (lambda: windows(shares=(0,)), "share must be an integer from 1 to"),
        (lambda: windows(shares=(2**64 + 1,)), "share must be an integer from 1 to"),
        (lambda: windows(widths=(3,)), "width must be a divisor of the circle's 8 points, got 3"),
        (lambda: windows(widths=(8,)), "width must be an integer from 1 to 6, got 8"),
        (lambda: windows(circle=6), "circle must be an integer from 7 to"),
        (lambda: windows(keeps=()), "keeps must be 1 numbers, one for each width"),
    ],
)
def test_impossible_kernels_are_refused(make: object, message: str) -> None:
    assert windows().words == 6
    with pytest.raises(ParameterError, match=message):
        make()  # type: ignore[operator]


@pytest.mark.parametrize("kernel", CALIBRATED, ids=lambda kernel: kernel.kind)
@pytest.mark.parametrize("bad", [-1, 1000, True, 1.0, "1", None])
def test_values_outside_the_domain_make_no_report(kernel: Kernel, bad: object) -> None:
    with pytest.raises(ParameterError, match="value must be an integer from 0 to"):
        kernel.randomise(bad, ReplayWords([0] * 20))  # type: ignore[arg-type]


@pytest.mark.parametrize("kernel", CALIBRATED, ids=lambda kernel: kernel.kind)
def test_reports_have_one_length_for_all_values_and_words(kernel: Kernel) -> None:
    extremes = ([2**40] * 64, [2**64 - 1] * 64, [2**63 + 2**40] * 64)
    lengths = {len(kernel.randomise(x, ReplayWords(w))) for x in range(kernel.k) for w in extremes}
    assert lengths == {kernel.width}
