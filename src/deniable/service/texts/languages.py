"""Languages of the pages: how each writes numbers, days and lists, and which plural a number takes.

Browsers do the same by `Intl`; a test holds both to the same signs. A language is added by a row here and a file in
each folder of texts: docs/howto/languages.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import ROUND_HALF_UP, Decimal

from deniable.errors import require

__all__ = ["LANGUAGES", "Language", "direction_of", "language", "name_of", "preferred", "tag_of"]

_NARROW, _FIXED, _LEFT = "\u202f", "\u00a0", "\u200e"
"""A narrow space that does not break, a space that does not break, and the mark of what is written left to right."""
_RIGHT_TO_LEFT = frozenset({"ar", "ckb", "dv", "fa", "he", "ps", "sd", "ug", "ur", "yi"})
"""Languages that are written right to left, those that only a task's own texts have among them."""


@dataclass(frozen=True, slots=True)
class Language:
    """A language of the pages: its tag, its name in itself, and how it writes what is not a word."""

    tag: str
    name: str
    called: str
    """Its names in the other languages, in small letters, with spaces between them."""
    plural: Callable[[float], str]
    months: str
    """Names of the months, as they stand within a day, with spaces between them."""
    day: str
    """A day in full, with places for `day`, `month` and `year`."""
    comma: tuple[str, str]
    """What stands between thousands, and before tenths."""
    joined: tuple[str, str, str]
    """Between two parts of a list, before the last of more, and between the others."""
    percent: str = f"{{}}{_FIXED}%"
    minus: str = "-"
    grouped: int = 1000
    """From which number on thousands are set apart."""

    @property
    def direction(self) -> str:
        """Which way it is written, as pages say it."""
        return direction_of(self.tag)

    def number(self, value: float, digits: int = 3) -> str:
        """A number with at most so many digits after the comma, as people write it.

        >>> language("de").number(1234.5)
        '1.234,5'
        """
        exact = Decimal(abs(value)).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)
        whole, _, part = f"{exact:f}".partition(".")
        group, comma = self.comma
        written = f"{int(whole):,}".replace(",", group) if int(whole) >= self.grouped else whole
        tenths = part.rstrip("0")
        sign = self.minus if value < 0 and (int(whole) or tenths) else ""
        return sign + written + (comma + tenths if tenths else "")

    def signed(self, value: float, digits: int = 1) -> str:
        """A number with its sign, also where what is written is above 0.

        >>> language("en").signed(2.5), language("en").signed(-2.5), language("en").signed(0.04)
        ('+2.5', '-2.5', '0')
        """
        written = self.number(value, digits)
        return (self.minus.replace("-", "+") if value > 0 and written != "0" else "") + written

    def share(self, value: float, digits: int = 0) -> str:
        """A number of hundredths, with its sign."""
        return self.percent.format(self.number(value, digits))

    def date(self, value: date) -> str:
        """A day in full."""
        return self.day.format(day=value.day, month=self.months.split()[value.month - 1], year=value.year)

    def list(self, parts: Sequence[str]) -> str:
        """Several texts as one."""
        two, last, between = self.joined
        if len(parts) < 3:
            return two.join(parts)
        return f"{between.join(parts[:-1])}{last}{parts[-1]}"


def _one(n: float) -> str:
    return "one" if n == 1 else "other"


def _one_many(n: float) -> str:
    return "many" if n and n % 1_000_000 == 0 else _one(n)


def _french(n: float) -> str:
    return "one" if 0 <= n < 2 else "many" if n % 1_000_000 == 0 else "other"


def _arabic(n: float) -> str:
    if n in (0, 1, 2):
        return ("zero", "one", "two")[int(n)]
    rest = n % 100
    if rest != int(rest) or rest < 3:
        return "other"
    return "few" if rest <= 10 else "many"


_ROWS = (
    Language(
        tag="en",
        name="English",
        called="english englisch anglais inglés الإنجليزية",
        plural=_one,
        months="January February March April May June July August September October November December",
        day="{month} {day}, {year}",
        comma=(",", "."),
        joined=(" and ", ", and ", ", "),
        percent="{}%",
    ),
    Language(
        tag="de",
        name="Deutsch",
        called="german allemand alemán الألمانية",
        plural=_one,
        months="Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
        day="{day}. {month} {year}",
        comma=(".", ","),
        joined=(" und ", " und ", ", "),
    ),
    Language(
        tag="fr",
        name="Fran\u00e7ais",
        called="french französisch francés الفرنسية",
        plural=_french,
        months="janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
        day="{day} {month} {year}",
        comma=(_NARROW, ","),
        joined=(" et ", " et ", ", "),
    ),
    Language(
        tag="es",
        name="Espa\u00f1ol",
        called="spanish spanisch espagnol الإسبانية",
        plural=_one_many,
        months="enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
        day="{day} de {month} de {year}",
        comma=(".", ","),
        joined=(" y ", " y ", ", "),
        grouped=10_000,
    ),
    Language(
        tag="ar",
        name="\u0627\u0644\u0639\u0631\u0628\u064a\u0629",
        called="arabic arabisch arabe árabe العربية",
        plural=_arabic,
        months="يناير فبراير مارس أبريل مايو يونيو يوليو أغسطس سبتمبر أكتوبر نوفمبر ديسمبر",
        day="{day} {month} {year}",
        comma=(",", "."),
        joined=(" \u0648", " \u0648", " \u0648"),
        percent=f"{{}}{_LEFT}%{_LEFT}",
        minus=f"{_LEFT}-",
    ),
)
LANGUAGES: dict[str, Language] = {row.tag: row for row in _ROWS}
"""All languages of the pages by their tags; English is the one that is taken where no other fits."""


def _base_of(tag: str) -> str:
    """The language of a tag without its region.

    >>> _base_of("de-CH")
    'de'
    """
    return tag.partition("-")[0].lower()


def name_of(tag: str) -> str:
    """The name of a language in itself, where the pages know it; else its tag.

    >>> name_of("de"), name_of("pt-BR")
    ('Deutsch', 'pt-BR')
    """
    return LANGUAGES[tag].name if tag in LANGUAGES else tag


def tag_of(text: str) -> str:
    """The tag that somebody means who writes the name of a language of the pages, in any of them; else the text.

    >>> tag_of("Arabic"), tag_of("deutsch"), tag_of("pt-BR")
    ('ar', 'de', 'pt-BR')
    """
    said = text.strip().lower()
    found = (row.tag for row in LANGUAGES.values() if said == row.name.lower() or said in row.called.split())
    return next(found, text.strip())


def direction_of(tag: str) -> str:
    """Which way texts of a tag are written."""
    return "rtl" if _base_of(tag) in _RIGHT_TO_LEFT else "ltr"


def language(tag: str) -> Language:
    """The language of the pages for a tag: its own, else English."""
    require(bool(tag), "language", tag, "a language tag, such as 'de'")
    return LANGUAGES.get(_base_of(tag), LANGUAGES["en"])


def preferred(header: str, offered: Sequence[str]) -> str:
    """The tag among those offered that a browser asks for first (`Accept-Language`); the first if it asks for none.

    >>> preferred("fr-CH, fr;q=0.9, en;q=0.8", ["en", "fr"])
    'fr'
    """
    wanted = []
    for place, part in enumerate(header[:1000].split(",")):
        name, _, weight = part.partition(";")
        found = weight.replace(" ", "").removeprefix("q=")
        quality = float(found) if found.replace(".", "", 1).isdecimal() and found.isascii() else 1.0
        wanted.append((-quality, place, name.strip().lower()))
    for refused, _, name in sorted(wanted):
        exact = [tag for tag in offered if tag.lower() == name]
        near = [tag for tag in offered if _base_of(tag) == _base_of(name)]
        if refused < 0 and (exact or near):
            return (exact or near)[0]
    return offered[0]
