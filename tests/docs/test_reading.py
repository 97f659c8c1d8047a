"""The first pages can be read by anybody: plain words, or words of the glossary, in sentences that are not long.

`plain.txt` has the everyday words that these pages use. A word that is in neither list is either too special for these
pages, or belongs into the glossary, or is plain and goes into the list.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
PLAIN = frozenset((Path(__file__).parent / "plain.txt").read_text("utf-8").split())
FIRST = ("index.md", "tutorial.md", "first-steps.md", "tutorial-questionnaire.md")
SIMPLE = (*FIRST, "epsilon.md", "faq.md", "howto.md", "integers.md", "playground.md")
LONGEST = 35
"""Words of a sentence that are still read at once."""


def prose(text: str) -> str:
    """The text of a page that is read: no code, no marks, no addresses."""
    text = re.sub(r"```.*?```|<!-- generated.*?<!-- end -->|<!--.*?-->", "\n\n", text, flags=re.DOTALL)
    text = re.sub(r"^    .*$", "", text, flags=re.MULTILINE)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return re.sub(r"`[^`]*`", "this", text)


def sentences(text: str) -> list[str]:
    """The sentences of a page; every item, cell and heading is at least one."""
    blocks = re.split(r"\n\s*\n|^#+ |^\s*(?:- |\d+\. )|^\||\|", prose(text), flags=re.MULTILINE)
    joined = (" ".join(block.split()) for block in blocks)
    return [one for block in joined for one in re.split(r"(?<=[.?!:;])\s+(?=[A-Z*\"(])", block) if one]


def words(text: str) -> set[str]:
    return {word.lower().removesuffix("'s") for word in re.findall(r"[A-Za-z][A-Za-z'-]*[A-Za-z]", prose(text))}


def glossary() -> frozenset[str]:
    """The words that the glossary explains, with their usual endings."""
    rows = re.findall(r"^\| ([^|`]+) \|", (DOCS / "glossary.md").read_text("utf-8"), re.MULTILINE)
    terms = {word.lower() for row in rows for word in re.findall(r"[A-Za-z-]+", row)}
    return frozenset(term + end for term in terms for end in ("", "s", "d", "ed", "es", "ing"))


@pytest.mark.parametrize("page", FIRST)
def test_first_pages_need_no_word_that_the_glossary_lacks(page: str) -> None:
    unknown = words((DOCS / page).read_text("utf-8")) - PLAIN - glossary()
    assert sorted(unknown) == []


@pytest.mark.parametrize("page", SIMPLE)
def test_sentences_are_not_long(page: str) -> None:
    long = [one for one in sentences((DOCS / page).read_text("utf-8")) if len(one.split()) > LONGEST]
    assert long == []


def test_plain_words_are_used_and_are_not_those_of_the_glossary() -> None:
    used = {word for page in FIRST for word in words((DOCS / page).read_text("utf-8"))}
    assert sorted(PLAIN - used) == []
    special = {"epsilon", "mechanism", "tally", "oracle", "channel", "variance", "ledger", "interval", "perturb"}
    assert special <= glossary()
    assert not special & PLAIN


def test_special_words_and_long_sentences_are_noticed() -> None:
    assert words("The *stochastic* `kernel`'s [marginal](x.md).\n```\ncode\n```") == {
        "the",
        "stochastic",
        "this",
        "marginal",
    }
    assert "stochastic" not in PLAIN | glossary()
    long = "A " + "very " * 40 + "long one. A short one."
    assert [len(one.split()) for one in sentences(long)] == [43, 3]
