"""What each part of a task may be, from least to most, for `limits.json`: written by hand, and no code asked."""

from __future__ import annotations

from typing import Any

__all__ = ["limit_vectors"]

WHO = {"name": "q", "text": "Tired?", "none": "no"}
DOCUMENT: dict[str, Any] = {
    "version": 2,
    "collector": {"name": "Institute"},
    "language": "en",
    "subject": "sleep",
    "epsilon": 1,
    "design": {
        "mechanism": "grr",
        "version": 1,
        "epsilon": 1,
        "domain": {"labels": ["no", "yes"]},
        "params": {},
        "kernel": {"kind": "response", "k": "2", "keep": "13485650502877570762"},
    },
    "questions": [[WHO]],
    "window": {"opens": "2026-11-16", "days": 7, "count": 1},
    "memory": "fresh",
    "sending": {"attempts": 8, "days": 7},
    "budget": 1000,
    "min_batch": 10,
    "retention": {"keep": "tally"},
}
"""A task of version 2, without its id, key and signature."""


def text(*lengths: int) -> list[str]:
    return ["x" * length for length in lengths]


def whole(least: int, most: int) -> tuple[list[Any], list[Any]]:
    """A whole number from the least to the most."""
    return [least, most], [least - 1, most + 1, least + 0.5, str(least), True, None]


def words(most: int) -> tuple[list[Any], list[Any]]:
    """A text of at most so many characters on one line."""
    return text(1, most), [*text(0, most + 1), " ", "a\nb", "a\u0000", 1, None, ["x"]]


def asked(**more: Any) -> dict[str, Any]:
    """The question, with more in it."""
    return WHO | more


def strata(*sizes: int) -> list[dict[str, Any]]:
    """As many strata, with so many values."""
    return [{"name": f"s{i}", "values": [f"v{j}" for j in range(size)]} for i, size in enumerate(sizes)]


def told(**more: Any) -> dict[str, Any]:
    """The texts in another language, with more in them; None leaves one out."""
    own = {"subject": "Schlaf", "questions": [[{"text": "M\u00fcde?", "labels": ["nein", "ja"]}]]} | more
    return {name: part for name, part in own.items() if part is not None}


LAND = {"name": "land", "values": ["a", "b"]}
CASES: tuple[tuple[list[Any], list[Any], list[Any]], ...] = (
    (["version"], [2], [0, 3, "2", True, None]),
    (["subject"], *words(200)),
    (["collector", "name"], *words(200)),
    (["collector", "url"], ["https://a.example", "https://a.example/b", "http://localhost:80", "https://a.example:65535"],
     ["https://a.example/", "HTTPS://a.example", "http://a.example", "https://a.example:65536", "a.example", "", None]),
    (["purpose"], [*text(1, 1000), "a\nb"], [*text(0, 1001), " ", 1, None]),
    (["questions"], [[[WHO]]], [[], [[]], [WHO], [[WHO], [WHO]], None]),
    (["questions", 0, 0, "text"], [*text(1, 10_000), "a\n\tb"], [*text(0, 10_001), "\n", 1, None]),
    (["questions", 0, 0, "name"], ["q", "a-b_9", "0", "x" * 64], ["", "x" * 65, "A", "a b", "\u00e9", "a.b", 1, None]),
    (["questions", 0, 0, "none"], ["no", "yes", None], ["maybe", "", "No", 0, 1, [], ["no"], False]),
    (["questions", 0, 0, "kind"], ["one", "several", "yes-no", "rating", "ordered", "number", "time"],
     ["", "One", "yes", 1, None, ["one"]]),
    (["questions", 0, 0],
     [asked(kind="number", unit=own) for own in text(1, 40)]
     + [asked(kind="rating", ends=["x", "x" * 100])],
     [asked(kind="number", unit=own) for own in (*text(0, 41), 1, None)]
     + [asked(kind=kind, unit="h") for kind in ("one", "rating", "time")] + [asked(unit="h"), asked(ends=["a", "b"])]
     + [asked(kind="rating", ends=own) for own in (["a"], ["a", "b", "c"], ["a", "x" * 101], ["a", ""], "ab", None)]
     + [asked(kind="number", ends=["a", "b"]), asked(labels=["a", "b"]), asked(share=1), asked(design=1)]),
    (["window", "opens"], ["2024-02-29", "1970-01-01", "0001-01-01", "9999-12-23"],
     ["2026-02-29", "2026-13-01", "2026-1-1", "2026-11-16T00:00:00Z", "0000-01-01", "9999-12-24", "", 20261116, None]),
    (["window", "days"], *whole(1, 3660)),
    (["window", "count"], *whole(1, 1000)),  # so many fit into the largest budget
    (["sending", "attempts"], *whole(1, 8)),
    (["sending", "days"], *whole(1, 7)),
    (["min_batch"], *whole(1, 10**9)),
    (["budget"], [1, 1.5, 1000], [0, 0.999999, 1000.000001, "1", True, None]),
    (["epsilon"], [1, 1.5, 1000], [0, 0.999999, 1000.000001, -1, "1", True, None]),
    (["memory"], ["fresh"], ["first", "remembered", "", None, 1, ["fresh"]]),
    (["language"], ["en", "pt-BR", "zh-Hans-CN", "x" * 8, "en" + "-abcdefgh" * 3 + "-abcde"],
     ["e", "x" * 9, "en-", "en_US", "", "en" + "-abcdefgh" * 3 + "-abcdef", "en-\u00e9", 1, None]),
    (["results"], ["public"], ["private", "", None, True]),
    (["retention"], [{"keep": "tally"}, {"keep": "reports", "days": 0}, {"keep": "reports", "days": 3660}],
     [{"keep": "reports"}, {"keep": "tally", "days": 1}, {"keep": "reports", "days": 3661}, {"keep": "all"},
      {"keep": "reports", "days": -1}, {"keep": "reports", "days": 1.5}, {}, None]),
    (["strata"],
     [[], strata(1), strata(254), strata(*[1] * 8), strata(63, 63), [LAND | {"title": "x" * 200}],
      [LAND | {"values": ["x" * 200]}], [LAND | {"name": "x" * 64}]],
     [strata(0), strata(255), strata(*[1] * 9), strata(63, 64), [LAND, LAND], [LAND | {"title": "x" * 201}],
      [LAND | {"title": ""}], [LAND | {"values": ["x" * 201]}], [LAND | {"values": ["a", "not told"]}],
      [LAND | {"values": ["a", "a"]}], [LAND | {"values": ["a", "A"]}], [LAND | {"name": "Land"}],
      [LAND | {"name": "x" * 65}], [LAND | {"more": 1}], LAND, None]),
    (["translations"],
     [{}, {"de": told()}, {"de": told(), "fr": told()}, {"de": told(subject="x" * 200)}, {"de": told(strata=[])},
      {"de": told(questions=[[{"text": "x" * 10_000, "labels": ["x" * 1000, "b"]}]])}],
     [{"en": told()}, {"d": told()}, {"de": told(subject="x" * 201)}, {"de": told(subject=None)},
      {"de": told(purpose="a")}, {"de": told(questions=[])}, {"de": told(questions=[[]])},
      {"de": told(questions=[[{"text": "a"}]])}, {"de": told(questions=[[{"text": "a", "labels": ["a"]}]])},
      {"de": told(questions=[[{"text": "a", "labels": ["a", "a"]}]])},
      {"de": told(questions=[[{"text": "a", "labels": ["a", "b", "c"]}]])},
      {"de": told(questions=[[{"text": "x" * 10_001, "labels": ["a", "b"]}]])},
      {"de": told(questions=[[{"text": "a", "labels": ["x" * 1001, "b"]}]])},
      {"de": told(questions=[[{"text": "a", "labels": ["a", "b"], "unit": "h"}]])},
      {"de": told(strata=[{"title": "a", "values": ["b"]}])}, {"de": 1}, [], None]),
)  # fmt: skip
GROUPED = (
    {"purpose": "For science.", "strata": [LAND | {"title": "Land"}, {"name": "age", "values": ["x"]}]},
    [told(purpose="Wissen.", strata=strata_) for strata_ in (
        None, [], [{"title": "Land", "values": ["c", "d"]}, {"title": "Alter", "values": ["x" * 200]}])]
    + [told(purpose="x" * 1000)],
    [told(), told(purpose="x" * 1001)]
    + [told(purpose="Wissen.", strata=strata_) for strata_ in (
        [{"title": "Land", "values": ["c", "d"]}],
        [{"title": "Land", "values": ["c"]}, {"title": "Alter", "values": ["x"]}],
        [{"title": "Land", "values": ["c", "c"]}, {"title": "Alter", "values": ["x"]}],
        [{"title": "x" * 201, "values": ["c", "d"]}, {"title": "Alter", "values": ["x"]}],
        [{"title": "Land", "values": ["c", "d"]}, {"title": "Alter", "values": ["x" * 201]}],
        [{"values": ["c", "d"]}, {"title": "Alter", "values": ["x"]}],
    )],
)  # fmt: skip
"""A task with a purpose and strata, and what its translation may be."""


DOMAINS: tuple[tuple[dict[str, Any], list[float], list[list[Any]]], ...] = (
    ({"interval": [0, 1], "points": 4, "layout": "midpoints", "clip": False}, [0, 0.25, 0.5, 0.75, 1],
     [[0, 0], [0.25, 0], [0.2500001, 1], [0.5, 1], [0.51, 2], [0.75, 2], [0.76, 3], [1, 3], [-0.1, None], [1.1, None]]),
    ({"interval": [0, 3], "points": 4, "layout": "endpoints", "clip": True}, [0, 0.5, 1.5, 2.5, 3],
     [[-5, 0], [0, 0], [0.5, 0], [0.51, 1], [1.5, 1], [1.51, 2], [2.5, 2], [2.6, 3], [3, 3], [9, 3], ["1", None]]),
    ({"interval": [0, 10], "codes": [1, 4, 9], "clip": False}, [0, 2.5, 6.5, 10],
     [[0, 0], [1, 0], [2.5, 0], [2.51, 1], [4, 1], [6.5, 1], [6.51, 2], [10, 2], [-1, None], [10.5, None]]),
    ({"circle": [0, 8], "points": 4}, [0, 1, 3, 5, 8],
     [[0, 0], [0.99, 0], [1, 1], [2.99, 1], [3, 2], [4.99, 2], [5, 3], [6.99, 3], [7, 0], [8, 0], [8.1, None]]),
    ({"k": 3}, [], [[0, 0], [2, 2], [3, None], [-1, None], [0.5, None], ["1", None], [None, None], [[], None]]),
)  # fmt: skip
"""Domains, where their answers begin and the last one ends, and the answers of values; None where they are none."""
CHECKS: tuple[tuple[str, str, dict[str, Any], list[Any], list[Any]], ...] = (
    ("whole", "", {}, [0, 7, 2**53], [-1, 0.5, 2.0**64, "1", True, None, [1]]),
    ("whole", "size", {"size": "7"}, [7], [6, 8, "7", None]),
    ("whole", "base.size", {"base": {"size": "7"}}, [7], [0, 6, 8]),
    ("whole", "first.size|base.size", {"base": {"size": "7"}}, [7], [6, 8]),
    ("whole", "first.size|", {}, [0, 9], [-1, 0.5]),
    ("whole", "first.size", {}, [], [0, 7]),
    ("share", "keep", {"keep": str(1 << 63)}, [0.5, 0.5 + 2**-31, 0.5 - 2**-31], [0.5 + 2**-29, 0.5 - 2**-29, 0, 1.5]),
    ("chance", "", {}, [0, 0.5, 1], [-1e-9, 1 + 1e-9, "0", True, None]),
    ("number", "", {}, [0, -1, 1e300, 0.5], ["0", True, None, []]),
    ("word", "low high", {}, ["low", "high"], ["Low", "", "low high", None, 1, ["low"]]),
    ("wholes", "", {}, [[], [0], [2**32, 1]], [[-1], [0.5], [2**32 + 1], ["1"], [True], 1, None]),
    ("numbers", "k", {"k": "2"}, [[0, 1], [-0.5, 1e9]], [[1], [1, 2, 3], [1, "2"], [1, None], [], 1, None]),
    ("texts", "k", {"k": "2"}, [["a", "b"]], [["a", "a"], ["a"], ["a", "b", "c"], ["a", ""], ["a", 1], "ab", None]),
    (
        "rows",
        "k",
        {"k": "2"},
        [[[0, 1]], [[0, 1], [1, 2]]],
        [[], [[0]], [[0, 1]] * 3, [[0, 1], [1]], [[0, "1"]], [0, 1]],
    ),
    ("same", "sizes", {"sizes": ["2", "3"]}, [[2, 3]], [[3, 2], [2], [2, 3, 4], [], ["2", "3"], 2, None]),
    ("same", "none", {}, [], [[], [1], None]),
    ("range", "", {}, [[0, 1], [-1, 1.5]], [[1, 0], [0, 0], [0], [0, 1, 2], ["0", 1], [-1e308, 1e308], None]),
    ("budgets", "s", {"s": "2"}, [[0.5, 1], [40, 1e-12]], [[0.5], [1, 2, 3], 1, None]),
    (
        "certificate",
        "",
        {},
        [[], [[0, 1, 2, 3, -4]], [[0] * 5] * 1024, [[2**53, -(2**53), 0, 0, 0]]],
        [[[0] * 4], [[0] * 6], [[0] * 5] * 1025, [[0, 0, 0, 0, 0.5]], [[0, 0, 0, 0, "1"]], [0], None],
    ),
    (
        "multipliers",
        "",
        {},
        [[], [[0, 1, 2, 2**53]]],
        [[[0] * 3], [[0] * 5], [[0, 0, 0, -1]], [[0, 0, 0, 0.5]], [0], None],
    ),
    (
        "levels",
        "data",
        {"data": [{}, {}]},
        [[0.5, 1], [0.1, 2]],
        [[1, 1], [1, 0.5], [0.5], [0.5, 2.5], [0.5, 1, 2], [0.5, "1"], None],
    ),
    ("budget", "level", {"level": []}, [None], [0, 1, 0.5, "null"]),
    ("budget", "level", {"level": [{}]}, [0.5, 1, 40], []),
    (
        "kind",
        "data a:unary b:unary c:response",
        {"data": [{"kind": "unary"}, {"kind": "unary"}]},
        ["a", "b"],
        ["c", "d", None],
    ),
    ("kind", "data a:unary b:response", {"data": [{"kind": "unary"}, {"kind": "response"}]}, [], ["a", "b"]),
    ("kind", "level a:bit none:", {"level": []}, ["none"], ["a", "bit", None]),
    ("ticks", "", {"ticks": "2", "options": "3"}, [2], [1, 3, "2", 2.5, None]),
)
"""Rules of parameters: their words, a kernel, what is taken (for a design of epsilon 2) and what is not."""


def limit_vectors() -> dict[str, Any]:
    """The task, and for each of its parts what it may be and what not, all else being as it is; domains; parameters."""
    rows = [{"place": place, "taken": taken, "refused": refused} for place, taken, refused in CASES]
    changes, taken, refused = GROUPED
    more = {"changes": changes, "place": ["translations"]}
    more |= {name: [{"de": each} for each in own] for name, own in (("taken", taken), ("refused", refused))}
    domains = [dict(zip(("domain", "borders", "values"), row, strict=True)) for row in DOMAINS]
    checks = [dict(zip(("check", "words", "kernel", "taken", "refused"), row, strict=True)) for row in CHECKS]
    parts = {"cases": [*rows, more], "domains": domains, "checks": checks}
    return {"about": "parts of a task from the least to the most", "document": DOCUMENT, **parts}
