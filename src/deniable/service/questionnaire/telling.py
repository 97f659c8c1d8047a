"""An outlook in sentences of the catalogue, for pages and for the command line."""

from __future__ import annotations

import math
from typing import Any

from deniable.service.questionnaire.complete import Fault, cautions
from deniable.service.questionnaire.document import Item
from deniable.service.questionnaire.outlook import Known, Outlook, level_of, sure
from deniable.service.tasks import DEVICE_YEAR
from deniable.service.texts.catalogue import Texts, texts
from deniable.service.texts.languages import direction_of

__all__ = ["half", "in_words", "level", "lines", "ways"]


def in_words(fault: Fault, say: Texts | None = None) -> str:
    """A fault or a caution as a sentence; from right to left, what somebody wrote stands by itself in it."""
    say = say or texts("build", "en")
    right = say.language.direction == "rtl"
    values = {n: f"\u2068{v}\u2069" if right and isinstance(v, str) else v for n, v in fault.values.items()}
    return say(fault.id, **values)


def _isolated(text: str, tag: str, say: Texts) -> str:
    """A text of the questionnaire within a sentence that is written the other way: by itself."""
    return text if direction_of(tag) == say.language.direction else f"\u2068{text}\u2069"


def half(known: Known, item: Item, say: Texts) -> str:
    """How close a question will be known: points, or in the unit of its numbers."""
    if item.kind == "number":
        return f"{say.language.number(rounded_up(known.half))} {item.unit}"
    return say("out.points", points=100 * known.rounded)


def level(epsilon: float, say: Texts) -> str:
    """A protection as the form of a draft offers it."""
    percent = say.language.share(100 * sure(epsilon))
    return say("edit.level", level=say(f"level.{level_of(epsilon)}"), percent=percent)


def _about(known: Known, item: Item, say: Texts) -> str:
    """The same as a sentence."""
    if item.kind == "number":
        return say("out.mean", value=rounded_up(known.half), unit=item.unit)
    return say("out.share", points=100 * known.rounded)


def rounded_up(value: float) -> float:
    """A number above 0 in two digits, rounded up.

    >>> rounded_up(1.264), rounded_up(1234)
    (1.3, 1300.0)
    """
    step = 10.0 ** (math.floor(math.log10(value)) - 1)
    return round(math.ceil(value / step - 1e-9) * step, 12)


def _chance(value: float, say: Texts) -> str:
    """A chance in whole per cent, rounded up."""
    whole = math.ceil(100 * value - 1e-9)
    share = say.language.share(max(whole, 1))
    return say("out.below", percent=share) if value < 0.01 else share


def lines(found: Outlook, min_batch: int | None = None, tag: str = "en") -> dict[str, Any]:
    """What is told of an outlook: sentences, cautions, and whether it can be opened."""
    say, asked = texts("build", tag), found.asked
    told = [say("out.answers", count=round(found.answers), n=round(found.answers))]
    for each in found.known:
        item = asked.item(each.question)
        title = f"{_isolated(item.text, asked.language, say)} – " if len(asked.questions) > 1 else ""
        told.append(f"{title}{_about(each, item, say)} ({say('out.grade.' + each.grade)})")
    told += _crossed(found, say)
    told += [say("out.ticked")] if any(item.kind == "several" for item in asked.questions) else []
    if len(asked.questions) > 1:
        dealt = "out.dealt.some" if asked.together else "out.dealt"
        told += [say(dealt, n=len(asked.questions)), *_price(found, say)]
    percent = say.language.share(100 * sure(asked.protection))
    told.append(say("out.protection", level=say(f"level.{level_of(asked.protection)}"), percent=percent))
    if asked.windows > 1:
        percent = say.language.share(100 * sure(found.cost))
        told.append(say("out.together", n=asked.windows, level=say(f"level.{level_of(found.cost)}"), percent=percent))
    batch = found.min_batch if min_batch is None else min_batch
    told.append(say("out.batch", n=batch))
    told.append(say("out.chance", percent=_chance(found.chance_of(batch), say)))
    told.append(say("out.chance.half", percent=_chance(found.chance_of(batch, 0.5), say)))
    told += [say("out.change", points=math.ceil(100 * found.least_change - 1e-9))] if found.least_change else []
    if found.possible:
        told.append(say("out.fits", used=found.cost))
        more = (
            say("out.later", count=found.later, n=found.later) if found.later and found.fits else say("out.later.none")
        )
        told.append(more)
    warned = [in_words(fault, say) for fault in cautions(asked)]
    warned += [say("out.rough")] if batch < 100 else []
    return {"told": told, "cautions": warned + ways(found, say), "grade": found.grade, "possible": found.possible}


def _crossed(found: Outlook, say: Texts) -> list[str]:
    """What asking together gives, a table of each two questions, and what it costs against dealing them one by one."""
    asked, told = found.asked, []
    for block in asked.together:
        tables = [each for each in found.crossed if each.question in block]
        worst = max(tables, key=lambda each: each.half / each.relevant)
        names = [_isolated(asked.item(name).text, asked.language, say) for name in block]
        table = {"points": 100 * worst.rounded, "n": worst.cells, "grade": say("out.grade." + worst.grade)}
        told.append(say("out.block", count=len(tables), tables=len(tables), questions=names, **table))
        own = max((each for each in found.known if each.question in block), key=lambda each: each.half)
        apart = max(found.apart(block), key=lambda each: each.half)
        points = {"half": 100 * own.rounded, "apart": 100 * apart.rounded}
        told.append(say("out.block.price", **points))
    return told


def _price(found: Outlook, say: Texts) -> list[str]:
    """What it costs that each person is asked one question, and what asking some of them together would gain."""
    worst = found.worst
    item, alone = found.asked.item(worst.question), found.alone(worst)
    told = [
        say(
            "out.price",
            question=_isolated(item.text, found.asked.language, say),
            alone=half(alone, item, say),
            half=half(worst, item, say),
        )
    ]
    gain = math.floor(100 * found.gain)
    return told + ([say("out.joint", percent=say.language.share(gain))] if gain >= 1 else [])


def ways(found: Outlook, say: Texts) -> list[str]:
    """What to change, in the order in which it is to be tried; nothing if all is well."""
    asked = found.asked
    if not found.possible:
        told = [say("out.toomuch", n=asked.windows, used=found.cost)]
        out, then = found.ways_out, found.then
        near = {name: half(known, asked.item(known.question), say) for name, (_, known) in then.items()}
        times = int(out["windows"])
        told += [say("out.way.windows", count=times, n=times, half=near["windows"])] if times >= 1 else []
        if out["protection"]:
            told.append(say("out.way.protection", level=level(out["protection"], say), half=near["protection"]))
        if asked.windows > 1 and then["apart"][0] >= 1 and asked.protection <= DEVICE_YEAR:
            told.append(say("out.way.apart", people=then["apart"][0], half=near["apart"]))
        return told
    told = []
    for name, values in found.suggestions:
        if name in ("apart", "questions", "ticks"):
            values = {**values, "names": [asked.item(each).text for each in values["names"]]}
        elif name == "windows":
            values = {}
        elif name == "protection":
            values = {"level": level(values["epsilon"], say)}
        told.append(say(f"out.try.{name}", **values))
    if found.grade == "vain" and found.noise_free > found.worst.relevant:
        item = asked.item(found.worst.question)
        free = Known(item.name, found.worst.reports, found.noise_free, found.worst.relevant)
        told.append(say("out.noeps", value=half(free, item, say)))
    return told
