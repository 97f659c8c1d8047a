"""Which bytes are a report of a design, and which are a body of a task: written from docs/formats.md and
docs/protocol.md, one byte string at a time. It imports nothing of the project, so that it cannot share its mistakes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

__all__ = ["Shape", "body_check", "report_shape"]


class Shape(NamedTuple):
    """Reports of a kernel: their length, and which byte strings of that length they can be."""

    width: int
    fits: Callable[[bytes], bool]


def report_shape(design: Mapping[str, Any]) -> Shape:
    """The reports of a design; of one of parts, the number of a part, its report, and zeros up to the longest."""
    if "parts" not in design:
        return _shape(design["kernel"])
    shapes = [report_shape(part) for part in design["parts"]]

    def fits(data: bytes) -> bool:
        if data[0] >= len(shapes):
            return False
        end = 1 + shapes[data[0]].width
        return not any(data[end:]) and shapes[data[0]].fits(data[1:end])

    return Shape(1 + max(shape.width for shape in shapes), fits)


def body_check(task: Mapping[str, Any]) -> Callable[[bytes], bool]:
    """Whether bytes can be a body of a task."""
    shapes = [report_shape(question["design"]) for question in task["questions"]]
    sizes = [len(stratum["values"]) for stratum in task.get("strata", [])]
    several = len(shapes) > 1
    head = several + len(sizes)
    width = head + max(shape.width for shape in shapes)

    def check(body: bytes) -> bool:
        if len(body) != width:
            return False
        question = body[0] if several else 0
        if question >= len(shapes) or any(body[several + i] >= size for i, size in enumerate(sizes)):
            return False
        end = head + shapes[question].width
        return not any(body[end:]) and shapes[question].fits(body[head:end])

    return check


def _whole(limit: int, widths: tuple[int, ...] = (1, 2, 4, 8)) -> Shape:
    """An unsigned integer below a limit, in the smallest type that holds them all."""
    width = next(width for width in widths if limit - 1 < 256**width)
    return Shape(width, lambda data: int.from_bytes(data, "little") < limit)


def _after(first: Shape, second: Shape) -> Shape:
    cut = first.width
    return Shape(cut + second.width, lambda data: first.fits(data[:cut]) and second.fits(data[cut:]))


_SEED = Shape(8, lambda data: True)
_NOTHING = Shape(0, lambda data: True)


def _bits(k: int, sizes: set[int] | None) -> Shape:
    """A bit set of k answers, of one of these sizes, or of any."""

    def fits(data: bytes) -> bool:
        number = int.from_bytes(data, "little")
        return number >> k == 0 and (sizes is None or number.bit_count() in sizes)

    return Shape(-(-k // 8), fits)


def _sides(keys: int, size: int | None) -> Shape:
    """Two bit sets, keys at +1 and keys at -1: no key is in both, and if it matters there are `size` in all."""
    width = -(-keys // 8)

    def fits(data: bytes) -> bool:
        plus, minus = int.from_bytes(data[:width], "little"), int.from_bytes(data[width:], "little")
        apart = plus & minus == 0 and (plus | minus) >> keys == 0
        return apart and (size is None or (plus | minus).bit_count() == size)

    return Shape(2 * width, fits)


def _shape(kernel: Mapping[str, Any]) -> Shape:
    kind = kernel["kind"]
    return _KINDS[kind](kernel)


def _n(kernel: Mapping[str, Any], name: str) -> int:
    return int(kernel[name])


def _hadamard(kernel: Mapping[str, Any]) -> Shape:
    return _whole(1 << _n(kernel, "k").bit_length())


def _projective(kernel: Mapping[str, Any]) -> Shape:
    """Points of the smallest projective space over this prime that has at least k of them."""
    prime, points = _n(kernel, "prime"), 1
    while points < _n(kernel, "k"):
        points = points * prime + 1
    return _whole(points)


def _mixture(kernel: Mapping[str, Any]) -> Shape:
    first, second = kernel["first"], kernel["second"]
    if first["kind"] == "utility":
        bases = {"kind": "mixture", "coin": kernel["coin"], "first": first["base"][0], "second": second["base"][0]}
        return _utility({**first, "base": [bases]})
    parts = (first, second) if _n(kernel, "coin") else (first,)
    sizes = {_n(part, "size") if part["kind"] == "subset" else _n(part, "k") for part in parts}
    return _bits(_n(first, "k"), sizes)


def _sensitive(kernel: Mapping[str, Any]) -> int:
    ends = [int(end) for end in kernel["sensitive"]]
    return sum(ends[1::2]) - sum(ends[::2])


def _utility(kernel: Mapping[str, Any]) -> Shape:
    harmless = _n(kernel, "k") - _sensitive(kernel)
    base = _shape(kernel["base"][0]) if kernel["base"] else None
    beside = _n(kernel, "attach") > 0
    return _headed(harmless, base, beside=beside)


def _headed(harmless: int, base: Shape | None, *, beside: bool) -> Shape:
    """0 and a report of the base, or the number of a disclosed answer and zeros, or a report beside it."""
    head = _whole(1 + harmless * (2 if beside else 1), (1, 2, 4))
    rest = base or _NOTHING

    def fits(data: bytes) -> bool:
        if not head.fits(data[: head.width]):
            return False
        told, report = int.from_bytes(data[: head.width], "little"), data[head.width :]
        if 1 <= told <= harmless:
            return not any(report)
        return base is not None and base.fits(report)

    return Shape(head.width + rest.width, fits)


def _utility_levels(kernel: Mapping[str, Any]) -> Shape:
    sensitive = _sensitive(kernel)
    return _headed(_n(kernel, "k") - sensitive, _bits(sensitive, None), beside=False)


def _personal(kernel: Mapping[str, Any]) -> Shape:
    data = _shape(kernel["data"][0])
    return _after(data, _shape(kernel["level"][0])) if kernel["level"] else data


def _grouped(kernel: Mapping[str, Any]) -> Shape:
    first, second = _shape(kernel["first"]["base"]), _shape(kernel["second"])
    width = max(first.width, second.width)

    def fits(data: bytes) -> bool:
        shape = {0: first, 1: second}.get(data[0])
        if shape is None:
            return False
        report = data[1:]
        return shape.fits(report[: shape.width]) and not any(report[shape.width :])

    return Shape(1 + width, fits)


def _laplace(kernel: Mapping[str, Any]) -> Shape:
    k, reach = _n(kernel, "k"), _n(kernel, "reach")

    def fits(data: bytes) -> bool:
        steps = (int.from_bytes(data[i : i + 4], "little") - 2**31 for i in range(0, 4 * k, 4))
        return all(-reach <= step <= reach for step in steps)

    return Shape(4 * k, fits)


def _box(kernel: Mapping[str, Any]) -> Shape:
    """A bit for each answer to the first question, then to the second, ..; so many ones for each of them."""
    sizes, wanted = [int(k) for k in kernel["sizes"]], [int(size) for size in kernel["shape"]]

    def fits(data: bytes) -> bool:
        number = int.from_bytes(data, "little")
        for k, size in zip(sizes, wanted, strict=True):
            if (number % (1 << k)).bit_count() != size:
                return False
            number >>= k
        return number == 0

    return Shape(-(-sum(sizes) // 8), fits)


def _windows(kernel: Mapping[str, Any]) -> Shape:
    """The number of a width, a shift below its number of shifts, and so many of its cells, then zeros."""
    circle, shifts = _n(kernel, "circle"), [int(s) for s in kernel["shifts"]]
    cells = [circle // int(width) for width in kernel["widths"]]
    sets = [_bits(own, {int(size)}) for own, size in zip(cells, kernel["sizes"], strict=True)]
    shift, width = _whole(max(shifts)), max(own.width for own in sets)

    def fits(data: bytes) -> bool:
        if data[0] >= len(sets) or int.from_bytes(data[1 : 1 + shift.width], "little") >= shifts[data[0]]:
            return False
        own, rest = sets[data[0]], data[1 + shift.width :]
        return own.fits(rest[: own.width]) and not any(rest[own.width :])

    return Shape(1 + shift.width + width, fits)


_KINDS: dict[str, Callable[[Mapping[str, Any]], Shape]] = {
    "response": lambda kernel: _whole(_n(kernel, "k")),
    "subset": lambda kernel: _bits(_n(kernel, "k"), {_n(kernel, "size")}),
    "mixture": _mixture,
    "unary": lambda kernel: _bits(_n(kernel, "k"), None),
    "hashing": lambda kernel: _after(_SEED, _whole(_n(kernel, "g"), (1, 2, 4))),
    "balanced": lambda kernel: _after(_SEED, _whole(_n(kernel, "g"), (1, 2, 4))),
    "interaction": lambda kernel: _after(_SEED, _bits(_n(kernel, "g"), {_n(kernel, "size")})),
    "wheel": lambda kernel: _after(_SEED, _whole(1 << _n(kernel, "ring"), (1, 2, 4))),
    "hadamard": _hadamard,
    "projective": _projective,
    "interval": lambda kernel: _after(_SEED, _whole(_n(kernel, "k"))),
    "utility": _utility,
    "utility-levels": _utility_levels,
    "personal": _personal,
    "bit": lambda kernel: _whole(2),
    "pairs": lambda kernel: _shape(kernel["base"]),
    "grouped": _grouped,
    "signed-subset": lambda kernel: _sides(_n(kernel, "keys"), _n(kernel, "size")),
    "signed-unary": lambda kernel: _sides(_n(kernel, "keys"), None),
    "signed-interval": lambda kernel: _after(_SEED, _whole(2 * _n(kernel, "keys"))),
    "signed-hashing": lambda kernel: _after(_SEED, _whole(2 * _n(kernel, "g"), (1, 2, 4))),
    "one-key": lambda kernel: _whole(3 * _n(kernel, "keys")),
    "told-key": lambda kernel: _whole(3 * _n(kernel, "keys")),
    "neighbours": lambda kernel: _whole(_n(kernel, "outputs")),
    "lattice": lambda kernel: _whole(len(kernel["values"])),
    "arc": lambda kernel: _whole(_n(kernel, "k")),
    "window": lambda kernel: _whole(_n(kernel, "outputs")),
    "recode": lambda kernel: _shape(kernel["base"]),
    "constant": lambda kernel: _whole(1),
    "table": lambda kernel: _whole(len(kernel["weights"][0])),
    "channel": lambda kernel: _whole(len(kernel["weights"][0])),
    "affine": lambda kernel: _whole(int(kernel["q"]) * int(kernel["m"])),
    "leaning": lambda kernel: _whole(2),
    "window-or-bit": lambda kernel: _whole(_n(kernel["window"], "outputs") + 2),
    "laplace": _laplace,
    "windows": _windows,
    "box": _box,
    "several": lambda kernel: _bits(_n(kernel, "options") + _n(kernel, "marks"), {_n(kernel, "size")}),
}
