"""Tables: aligned, wrapped within a width, harmless."""

from __future__ import annotations

import pytest

from deniable.present.tables import Column, Table, number, percent, shares_table

TABLE = Table(
    (Column("label", wrap=True), Column("share", right=True)),
    [["a long label of several words", "12 %"], ["[bold]b[/bold]", "3 %"], ["日本", "100 %"]],
)


def test_plain_tables_are_aligned_by_width_on_the_screen():
    lines = TABLE.render().splitlines()
    assert lines[0] == "label                          share"
    assert lines[1] == "a long label of several words   12 %"
    assert lines[2] == "[bold]b[/bold]                   3 %"
    assert lines[3] == "日本                           100 %"


@pytest.mark.parametrize("width", [25, 40, 80])
def test_tables_fit_a_width_and_lose_nothing(width):
    lines = TABLE.render(width=width).splitlines()
    assert max(map(len, lines)) <= width
    words = " ".join(lines).split()
    for word in ("several", "words", "[bold]b[/bold]", "日本", "100", "12"):
        assert word in words


def test_no_spaces_at_the_end_of_lines():
    for text in (TABLE.render(), TABLE.render(width=30)):
        assert all(line == line.rstrip() for line in text.splitlines())


@pytest.mark.parametrize(
    ("stderr", "shown"), [(0.3, "12.3 %"), (0.01, "12.3 %"), (0.001, "12.35 %"), (0.00012, "12.346 %"), (0.0, "12.3 %")]
)
def test_shares_show_as_many_digits_as_the_error_allows(stderr, shown):
    columns = {"value": [0.1234567], "stderr": [stderr], "low": [0.0], "high": [1.0]}
    assert shares_table(columns, ["a"], level=0.9).rows[0][1] == shown


def test_numbers():
    assert [number(x) for x in (0, 1234567, 0.5, 1e-20, 1e22, float("inf"))] == [
        "0",
        "1,234,567",
        "0.5",
        "1e-20",
        "1e+22",
        "inf",
    ]
    assert percent(-0.00123, 1) == "-0.1 %"
