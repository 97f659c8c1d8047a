"""Charts in the page itself: drawn for whatever width they get, in the colours of light and dark pages.

Positions along the width are shares of it, and texts keep their size; only lines and bands are stretched. No script and
no style attribute is needed: colours are classes. The numbers stand beside every chart as text.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from deniable.service.results.view import Cell, QuestionView
from deniable.service.texts.catalogue import Texts

__all__ = ["Scale", "axis", "bars", "lines", "scale_of", "swatch"]

_COLOURS = 6
"""Colours of lines; with dashes there are more looks than answers on one chart."""
_DASHES = 4
_TOP, _BOTTOM, _APART = 10, 24, 15
"""Pixels above and below the field, and between two names."""
_NAME = 16
"""Characters of a name beside the end of its line; the list below has all of it."""
_TICKS = 6
_WIDE = 1000
"""Units of width of what is stretched."""


@dataclass(frozen=True, slots=True)
class Scale:
    """An axis: where it begins and ends, its ticks, and how they are written."""

    low: float
    high: float
    ticks: tuple[float, ...]
    write: Callable[[float], str]

    def at(self, value: float) -> float:
        """Where a value is, from 0 to 1."""
        return min(max((value - self.low) / (self.high - self.low), 0.0), 1.0)


def scale_of(view: QuestionView, t: Texts) -> Scale:
    """One axis for all windows and groups of a question: from 0, or the lowest end, to the next ten above the highest.

    That of numbers is the range they are from.
    """
    if view.numbers and view.span is not None:
        low, high = view.span
        step = _step(high - low)
        ticks = tuple(low + i * step for i in range(math.floor((high - low) / step + 1e-9) + 1))
        return Scale(low, high, ticks, lambda x: t.language.number(x, 2))
    cells = [cell for moment in view.published for cell in moment.cells]
    cells += [cell for group in view.groups for cell in group.cells]
    ends = [end for cell in cells for end in (cell.value, cell.low, cell.high) if end is not None]
    low = min(0.0, math.floor(20 * min(ends, default=0.0)) / 20)
    high = max(0.1, math.ceil(10 * max(ends, default=0.1) - 1e-9) / 10)
    step = _step(high - low)
    first = math.ceil(low / step - 1e-9)
    ticks = tuple(i * step for i in range(first, math.floor(high / step + 1e-9) + 1))
    return Scale(low, high, ticks, lambda x: t.language.share(100 * x))


def _step(width: float) -> float:
    """A round step that gives at most so many ticks."""
    rough = width / _TICKS
    power = 10.0 ** math.floor(math.log10(rough))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= rough - 1e-12)


def _tag(name: str, *inside: str, **attributes: object) -> Markup:
    told = Markup("").join(
        Markup(' {}="{}"').format(key.rstrip("_").replace("_", "-"), value) for key, value in attributes.items()
    )
    return Markup("<{0}{1}>{2}</{0}>").format(Markup(name), told, Markup("").join(inside))


def _look(number: int) -> str:
    return f"c{number % _COLOURS} d{number // _COLOURS % _DASHES if number >= _COLOURS else number % _DASHES}"


def _percent(share: float) -> str:
    return f"{100 * share:.2f}%"


# ---- over time


def lines(view: QuestionView, scale: Scale, t: Texts, chosen: Sequence[int], *, height: int = 240) -> Markup:
    """One line for each chosen answer over the windows, with its band; windows that are not published are gaps."""
    field = height - _TOP - _BOTTOM

    def down(value: float) -> float:
        return round(_TOP + field * (1 - scale.at(value)), 1)

    many = len(view.moments)
    middle = [(i + 0.5) / many for i in range(many)]
    drawn = [_grid(scale, down), *_gaps(view, t, field)]
    for number in chosen:
        cells = [moment.cells[number] if moment.cells else None for moment in view.moments]
        drawn += _line(cells, middle, down, _look(number), height)
    every = math.ceil(many / 6)
    for i, moment in enumerate(view.moments):
        if i % every == 0:
            day = moment.first.strftime("%m-%d")
            drawn.append(_tag("text", day, x=_percent(middle[i]), y=height - 6, text_anchor="middle"))
    axis = [_tag("text", escape(scale.write(tick)), x=40, y=down(tick) + 4, text_anchor="end") for tick in scale.ticks]
    parts = [
        _tag("svg", *axis, class_="scale", width=46, height=height, aria_hidden="true"),
        _tag("svg", *drawn, class_="field", height=height, aria_hidden="true"),
    ]
    if len(chosen) > 1:
        names = _names(view, chosen, down, height)
        parts.append(_tag("svg", *names, class_="names", height=height, aria_hidden="true"))
    return _tag("div", *parts, class_="plot", dir="ltr")


def _grid(scale: Scale, down: Callable[[float], float]) -> Markup:
    rows = [
        _tag("line", x1="0", x2="100%", y1=down(tick), y2=down(tick), class_="zero" if abs(tick) < 1e-9 else "grid")
        for tick in scale.ticks
    ]
    return Markup("").join(rows)


def _gaps(view: QuestionView, t: Texts, field: int) -> Iterator[Markup]:
    many = len(view.moments)
    for i, moment in enumerate(view.moments):
        if not moment.cells:
            told = _tag("title", escape(t("gap.title", first=moment.first, last=moment.last)))
            place = {"x": _percent(i / many), "width": _percent(1 / many), "y": _TOP, "height": field}
            yield _tag("rect", told, class_="gap", fill="url(#hatch)", **place)


def _line(
    cells: Sequence[Cell | None], middle: Sequence[float], down: Callable[[float], float], look: str, height: int
) -> list[Markup]:
    """Bands and lines between neighbours that are published, and a dot for each."""
    stretched: list[Markup] = []
    dots: list[Markup] = []
    run: list[tuple[float, Cell]] = []
    for place, cell in [*zip(middle, cells, strict=True), (0.0, None)]:
        if cell is not None and cell.value is not None:
            run.append((place, cell))
            dots.append(_tag("circle", cx=_percent(place), cy=down(cell.value), r=4, class_=f"dot {look}"))
            continue
        if len(run) > 1:
            stretched += _run(run, down, look)
        elif run:
            alone = run[0][1]
            low, high = (down(alone.value if end is None else end) for end in (alone.low, alone.high))  # type: ignore[arg-type]  # it has a value
            ends = {"x1": _percent(run[0][0]), "x2": _percent(run[0][0]), "y1": low, "y2": high}
            dots.append(_tag("line", class_=f"reach {look}", **ends))
        run = []
    inner = {"viewBox": f"0 0 {_WIDE} {height}", "preserveAspectRatio": "none", "width": "100%", "height": height}
    return [_tag("svg", *stretched, **inner), *dots]


def _run(run: Sequence[tuple[float, Cell]], down: Callable[[float], float], look: str) -> list[Markup]:
    def points(each: Sequence[tuple[float, float]]) -> str:
        return " ".join(f"{_WIDE * x:.1f},{down(y)}" for x, y in each)

    middle = [(x, cell.value) for x, cell in run if cell.value is not None]
    whole = [(x, cell.low, cell.high) for x, cell in run if cell.low is not None and cell.high is not None]
    band = [(x, low) for x, low, _ in whole] + [(x, high) for x, _, high in reversed(whole)]
    drawn = [_tag("polyline", points=points(middle), class_=f"line {look}", vector_effect="non-scaling-stroke")]
    return [_tag("polygon", points=points(band), class_=f"band {look}"), *drawn] if len(whole) > 1 else drawn


def _names(view: QuestionView, chosen: Sequence[int], down: Callable[[float], float], height: int) -> Iterator[Markup]:
    """Names beside the ends of lines, moved apart where they would overlap."""
    last = view.last
    if last is None:
        return
    places = sorted((down(last.cells[i].value or 0.0), i) for i in chosen)
    put: list[tuple[float, int]] = []
    for place, i in places:
        put.append((max(place + 4, put[-1][0] + _APART) if put else place + 4, i))
    limit = height - _BOTTOM + 6.0
    for step in range(len(put) - 1, -1, -1):
        put[step] = min(put[step][0], limit), put[step][1]
        limit = put[step][0] - _APART
    for place, i in put:
        name = view.labels[i]
        short = name if len(name) <= _NAME else f"{name[: _NAME - 1]}…"
        yield _tag("text", escape(short), x=6, y=place, class_=f"name {_look(i)}")


def swatch(number: int) -> Markup:
    """A piece of an answer's line, for lists."""
    piece = _tag("line", x1=1, x2=23, y1=7, y2=7, class_=f"line {_look(number)}")
    dot = _tag("circle", cx=12, cy=7, r=4, class_=f"dot {_look(number)}")
    return _tag("svg", piece, dot, class_="swatch", width=24, height=14, aria_hidden="true")


# ---- side by side


def bars(scale: Scale, cell: Cell, number: int = 0) -> Markup:
    """A dot on its interval, as wide as it gets."""
    drawn = [
        _tag("line", x1=_percent(x), x2=_percent(x), y1=0, y2=22, class_="zero" if abs(tick) < 1e-9 else "grid")
        for tick, x in ((tick, scale.at(tick)) for tick in scale.ticks)
    ]
    if cell.low is not None and cell.high is not None:
        ends = {"x1": _percent(scale.at(cell.low)), "x2": _percent(scale.at(cell.high)), "y1": 11, "y2": 11}
        drawn.append(_tag("line", class_=f"wide {_look(number).split()[0]}", **ends))
    if cell.value is not None:
        place = _percent(scale.at(cell.value))
        drawn.append(_tag("circle", cx=place, cy=11, r=5, class_=f"dot {_look(number).split()[0]}"))
    return _tag("svg", *drawn, class_="track", height=22, aria_hidden="true")


def axis(scale: Scale) -> Markup:
    """The numbers below dots on their intervals."""
    many = len(scale.ticks)
    drawn = []
    for i, tick in enumerate(scale.ticks):
        x = scale.at(tick)
        anchor = "start" if x < 0.04 else "end" if x > 0.96 else "middle"
        if many <= 4 or i % 2 == 0:
            drawn.append(_tag("text", escape(scale.write(tick)), x=_percent(x), y=12, text_anchor=anchor))
    return _tag("svg", *drawn, class_="track", height=16, aria_hidden="true")
