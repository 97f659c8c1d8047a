"""What command lines say and are told, piece by piece: options, domains, outputs, exit codes, and sentences."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import deniable as dn
from deniable.cli import app, imports, service_store, service_tasks, studies
from deniable.cli import promises as promised
from deniable.cli import survey as surveys
from deniable.cli.bench.compare import _named as compared
from deniable.cli.bench.conformance import _verdict
from deniable.cli.help import _Formatter, _listed
from deniable.cli.options import Choice, _choice, _parameter, _read, option, read_domain, split
from deniable.cli.output import Output
from deniable.cli.plans import plan
from deniable.cli.report import _short, _spare, decimal
from deniable.cli.wording import as_typed
from deniable.errors import MissingExtraError, need_extra, whole
from deniable.present.tables import Table, Whole

# ---- options


def read(kind: type, text: str, default: Any = None) -> Any:
    return _read(_parameter("max_bytes", kind, option("--max-bytes", "B", "Help."), default), text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("5", 5), ("+5", 5), ("-5", -5), ("100_000", 100_000), ("1e5", 100_000), ("1.5e1", 15), ("25e+1", 250),
        ("1_000_000", 1_000_000), ("9" * 40, int("9" * 40)), ("2.50e1", 25), ("0", 0),
    ],
)  # fmt: skip
def test_whole_numbers_are_read_as_people_type_them(text: str, value: int) -> None:
    assert read(int, text) == value
    assert type(read(int, text)) is int


@pytest.mark.parametrize(
    "text", ["1.5", "1.25e1", "1e-1", "10_00", "_1", "1,000", "", " 1", "x", "0x1", "1e100", "9" * 41]
)
def test_what_is_no_whole_number_is_refused_by_its_option(text: str) -> None:
    with pytest.raises(dn.ParameterError, match="max-bytes must be a whole number"):
        read(int, text)


def test_numbers_with_commas_are_told_of_the_point() -> None:
    assert read(float, "1.5") == 1.5
    assert read(float, "1e-3") == 0.001
    assert _read(_parameter("x", str, option("--x", "X", "Help."), None), "1.5") == "1.5"
    assert read(float, "7") == 7.0
    with pytest.raises(
        dn.ParameterError, match=r"max-bytes must be a number, got '1,5'\. Decimals stand behind a point"
    ):
        read(float, "1,5")
    with pytest.raises(dn.ParameterError, match=r"max-bytes must be a number, got 'x'\. For example 1 or 0\.5"):
        read(float, "x")


def test_labels_are_separated_by_commas_outside_of_quotation_marks() -> None:
    assert split("a,b c,d") == ["a", "b c", "d"]
    assert split('"a,b",c') == ["a,b", "c"]
    assert split(" a , b ") == [" a ", " b "]
    for text in ("", ",", "a,,b", "a,"):
        if text:
            with pytest.raises(dn.ParameterError, match="labels must be free of empty ones"):
                split(text)
    assert split("") == []
    with pytest.raises(dn.ParameterError, match="columns must be separated by commas"):
        split('"a', "columns")


def test_a_domain_is_given_in_one_way(tmp_path: Path) -> None:
    (tmp_path / "l").write_text("a\nb\nc\n")
    file = str(tmp_path / "l")
    assert read_domain({"k": 3}).k == 3
    assert read_domain({"labels": "a,b"}).labels == ("a", "b")
    assert read_domain({"labels_file": file}).labels == ("a", "b", "c")
    both = read_domain({"labels": "a,b,c", "missing": "b", "other": "c"})
    assert both.encode(["", "a", "z"]).tolist() == [1, 0, 2]
    for given, told in (
        ({}, "got none"),
        ({"k": 3, "labels": "a,b"}, "got --k and --labels"),
        ({"labels": "a,b", "labels_file": file}, "got --labels and --labels-file"),
    ):
        with pytest.raises(dn.ParameterError, match=told):
            read_domain(given)
    for labels, told in (("a", "labels must be at least 2 labels"), ("a,b,a", "'a' is there twice")):
        with pytest.raises(dn.ParameterError, match=told):
            read_domain({"labels": labels})
    with pytest.raises(dn.ParameterError, match="missing"):
        read_domain({"labels_file": file, "missing": "z"})


def chosen(name: str, epsilon: float | None = 1.0, domain: Mapping[str, Any] | None = None, **options: Any) -> Choice:
    return Choice(name, epsilon, domain or {}, options)


def test_a_choice_knows_its_files_and_who_says_what_the_domain_is() -> None:
    assert chosen("grr", domain={"labels_file": "l"}, prior="p.CSV").files == ["l", "p.CSV"]
    assert chosen("grr", prior="zipf").files == []
    assert chosen("grr", prior="p.json", distances="d", matrix="m", promise="q", values="v").files == [
        "d", "m", "q", "v", "p.json"
    ]  # fmt: skip
    assert not chosen("grr").domain_stands
    assert chosen("grr", domain={"k": 3}).domain_stands
    assert not chosen("grr", domain={"missing": "a"}).domain_stands
    near = chosen("brr", interval="0,1")
    assert (near.brings_domain, near.domain_stands) == (True, True)
    assert not chosen("brr", domain={"k": 3}).brings_domain
    with pytest.raises(dn.ParameterError, match="the domain must be given in one way only, got --k and --interval"):
        _ = chosen("brr", domain={"k": 3}, interval="0,1").brings_domain
    with pytest.raises(dn.ParameterError, match="epsilon must be given"):
        chosen("grr", None, {"k": 3}).make()
    assert chosen("grr", 2.0, {"k": 3}).make().epsilon == 2.0
    assert chosen("grr", domain={"k": 3}).make(dn.Domain.of(5)).k == 5
    assert chosen("grr", top=3, size=2).without({"top", "size"}).options == {}
    assert chosen("ss", top=3, size=2).without({"top", "size"}).options == {"size": 2}
    assert chosen("ss", top=3).without({"size"}).options == {"top": 3}


def test_what_is_typed_is_apart_by_domain_and_own_options() -> None:
    given = {"name": "ss", "epsilon": 1.0, "k": 4, "labels": None, "size": 2, "p": None, "missing": "x"}
    assert _choice(given) == Choice("ss", 1.0, {"k": 4, "missing": "x"}, {"size": 2})


# ---- the program


def _params() -> list[Any]:
    program = app._program("survey", app._rows())
    return list(program.commands["survey"].commands["plan"].params)


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (["--n", "1", "--n", "2"], "--n must be given once, got it twice"),
        (["--n=1", "--n", "2"], "--n must be given once, got it twice"),
        (["--n", "1", "--n", "2", "--n=3"], "--n must be given once, got it 3 times"),
    ],
)
def test_an_option_is_given_once(args: list[str], told: str) -> None:
    with pytest.raises(dn.ParameterError, match=told):
        app._refuse_twice(_params(), args)
    app._refuse_twice(_params(), args[:1])
    app._refuse_twice(_params(), ["--n", "1", "--", "--n", "--n"])
    app._refuse_twice(_params(), ["--question", "a=1", "--question", "b=2", "--json", "--json"])


def test_with_a_matrix_the_row_need_not_be_named() -> None:
    assert app._named(["design", "--matrix", "m.csv"]) == ["design", "matrix", "--matrix", "m.csv"]
    assert app._named(["design", "--matrix=m.csv"]) == ["design", "matrix", "--matrix=m.csv"]
    for args in (["design", "matrix", "--matrix", "m"], ["design", "--matrix", "m", "grr"], ["design", "grr"], []):
        assert app._named(args) == args


@pytest.mark.parametrize(
    ("error", "code", "kind", "hint"),
    [
        (dn.ParameterError("k must be 2.", "H"), 2, "ParameterError", "H"),
        (dn.ParameterError("k must be 2."), 2, "ParameterError", "See `deniable --help`."),
        (dn.FormatError("bad."), 2, "FormatError", ""),
        (FileNotFoundError(2, "gone"), 2, "FileNotFoundError", "Make room there"),
        (MemoryError(), 2, "MemoryError", "Ask for fewer values"),
        (ZeroDivisionError("x"), 3, "ZeroDivisionError", "Please report this"),
    ],
)
def test_errors_end_with_a_code_by_whose_fault_it_is(error: Exception, code: int, kind: str, hint: str) -> None:
    found = app._trouble(error, app._Asked())
    assert (found.code, found.type) == (code, kind)
    assert found.hint.startswith(hint)
    assert bool(found.hint) == bool(hint)


@pytest.mark.parametrize(("terminal", "lines"), [(False, 2), (True, 0)])
def test_an_error_as_json_is_told_in_words_too_unless_somebody_looks(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, terminal: bool, lines: int
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: terminal, raising=False)
    assert app._fail(dn.ParameterError("k must be 2.", "H"), app._Asked(), as_json=True) == 2
    done = capsys.readouterr()
    assert json.loads(done.out) == {"error": {"type": "ParameterError", "message": "k must be 2.", "hint": "H"}}
    assert done.err.splitlines() == ["error: k must be 2.", "hint: H"][:lines]
    assert app._fail(dn.ParameterError("k must be 2.", "H"), app._Asked(), as_json=False) == 2
    done = capsys.readouterr()
    assert (done.out, done.err.splitlines()) == ("", ["error: k must be 2.", "hint: H"])


@pytest.mark.parametrize(
    ("message", "typed"),
    [
        ("max_bytes must be 1, got None.", "--max-bytes must be 1, but it was left out."),
        ("max_bytes must be 1, got 0.", "--max-bytes must be 1, got 0."),
        ("x.csv: k must be 1.", "x.csv: --k must be 1."),
        ("k and max_bytes must differ, got k.", "--k and --max-bytes must differ, got --k."),
        ("talk must be 1.", "talk must be 1."),
        ("ss has no option 'k'; its own options are: max_bytes, k.", "ss has no option --k; its own options are: "
         "--max-bytes, --k."),
        ("use k=[1, 2] or max_bytes='a b'.", "use --k 1,2 or --max-bytes ab."),
        ("f(k=2) is called.", "f(k=2) is called."),
    ],
)  # fmt: skip
def test_errors_name_options_as_they_are_typed(message: str, typed: str) -> None:
    assert as_typed(message, "", ["--k", "--max-bytes"])[0] == typed
    assert as_typed(message, message, [])[0] == message


@pytest.mark.parametrize("width", range(9, 40))
def test_a_list_of_choices_is_broken_behind_its_bars_only(width: int) -> None:
    name = "--rule mean|min|median|max"
    lines = _listed(name, width)
    assert "".join(line.removeprefix("  ") if i else line for i, line in enumerate(lines)) == name
    assert all(line.endswith("|") for line in lines[:-1])
    assert all(len(line) <= width or line.count("|") <= 1 for line in lines)
    for one, two in pairwise(lines):  # nothing more would have fitted
        word, bar, _ = two.removeprefix("  ").partition("|")
        assert len(one + word + bar) > width


@pytest.mark.parametrize(("columns", "width"), [(10, 20), (22, 20), (40, 38), (80, 78), (81, 78), (200, 78)])
def test_help_is_as_wide_as_can_be_read(monkeypatch: pytest.MonkeyPatch, columns: int, width: int) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    assert _Formatter().width == width


# ---- outputs


def test_an_output_is_claimed_once_and_never_over_an_input(tmp_path: Path) -> None:
    (tmp_path / "in").write_text("x")
    (tmp_path / "old").write_text("x")
    (tmp_path / "link").symlink_to(tmp_path / "new")
    out = Output(False)
    out.claim(None)
    out.claim(str(tmp_path / "new"), sources=[None, str(tmp_path / "in")])
    for twice in (str(tmp_path / "new"), str(tmp_path / "link"), str(tmp_path / "." / "new")):
        with pytest.raises(dn.ParameterError, match="chart must be another file than the other outputs"):
            out.claim(twice, "chart")
    with pytest.raises(dn.ParameterError, match="out must be another file than the input"):
        out.claim(str(tmp_path / "in"), sources=[str(tmp_path / "in")], force=True)
    with pytest.raises(dn.ParameterError, match="out must be the name of a new file"):
        out.claim(str(tmp_path / "old"))
    out.claim(str(tmp_path / "old"), force=True)
    with pytest.raises(dn.ParameterError, match="out must be in a folder that exists"):
        out.claim(str(tmp_path / "no" / "x"))
    out.claim(str(tmp_path / "no" / "x"), plain=False)


def test_where_bytes_go_to_standard_output_no_table_does(capsys: pytest.CaptureFixture[str]) -> None:
    out = Output(False)
    out.show({"a": 1}, "before")
    out.claim("-")
    out.show({"a": 1}, "after")
    out.note("note\x1b")
    done = capsys.readouterr()
    assert (done.out, done.err) == ("before\n", "note\\x1b\n")
    with pytest.raises(dn.ParameterError, match="out must not be - together with --json"):
        Output(True).claim("-")
    Output(True).show({"a": 1}, "text")
    assert capsys.readouterr().out == '{"a": 1}\n'
    Output(True).tell("text")
    assert capsys.readouterr().out == ""
    with pytest.raises(ValueError, match="JSON"):
        Output(True).show({"a": math.nan})


def test_texts_are_filled_and_what_is_copied_is_not(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    Output(False).tell("word " * 60, Whole("word " * 60), Table((), []))
    filled, whole_text, _ = capsys.readouterr().out.split("\n\n")
    assert max(map(len, filled.splitlines())) <= 100
    assert len(filled.splitlines()) == 3
    assert len(whole_text.splitlines()) == 1


def test_what_is_announced_is_said_once_all_is_in_order(capsys: pytest.CaptureFixture[str]) -> None:
    with Output(False).progress("working", "here it goes") as progress:
        assert capsys.readouterr().err == ""
        for done in (0, 1, 2):
            progress(done, 2)
    assert capsys.readouterr().err == "here it goes\n"
    with Output(False).progress("working") as progress:
        progress(0, 2)
    assert capsys.readouterr().err == ""


# ---- numbers in words


def test_what_is_spare_of_a_promise_has_three_digits_however_little_it_is() -> None:
    assert _spare(Fraction(2), Fraction(1)) == f"{math.log(2):.3g}"
    assert _spare(Fraction(10**30 + 1), Fraction(10**30)) == "1e-30"
    assert _spare(Fraction(1), Fraction(2)) == "-0.693"
    assert _spare(Fraction(10**400), Fraction(1)) == "very much"
    assert decimal(Fraction(2, 3), 4) == "0.6667"
    assert Decimal(decimal(Fraction(1, 7))) * 7 == pytest.approx(1)
    assert len(decimal(Fraction(1, 7))) == 32
    for digits in (1, 26, 27, 28, 40):
        text = _short(int("123456789" * 5) // 10 ** (45 - digits))
        own = ("123456789" * 5)[:digits]
        assert text == (own if digits <= 27 else f"{own[:12]}...{own[-12:]} ({digits} digits)")


@pytest.mark.parametrize(
    ("right", "asked", "told"), [(0, 0, "not held"), (2, 2, "held"), (1, 2, "not held"), (0, 2, "not held")]
)
def test_a_set_of_which_nothing_was_asked_is_not_held(right: int, asked: int, told: str) -> None:
    assert _verdict(right, asked) == told


def test_epsilons_that_are_checked_are_above_zero_and_have_a_power() -> None:
    assert studies._number("700") == 700.0
    assert studies._number("1e-3") == 0.001
    for wrong in ("0", "-1", "700.1", "inf", "nan", "p.csv"):
        with pytest.raises(dn.ParameterError, match="promise must be a number > 0 and at most 700"):
            studies._number(wrong)


def test_verdicts_of_two_runs_stand_beside_each_other_where_they_differ() -> None:
    seen = enumerate(["the same", "x", "the same"])
    rows = [{"id": str(i), "verdict": "v", "other": "w", "together": told} for i, told in seen]
    told, table = studies._beside(rows, "DIR")
    assert told == "2 of 3 verdicts are those of DIR."
    assert isinstance(table, Table)
    assert [list(row) for row in table.rows] == [["1", "v", "w", "x"]]
    assert studies._beside(rows[:1], "DIR") == ["1 of 1 verdicts are those of DIR."]


@pytest.mark.parametrize(
    ("text", "epsilon", "given", "found"),
    [
        ("grr", 1.0, {"k": 4}, (1.0, 4)), ("grr:epsilon=2", 1.0, {"k": 4}, (2.0, 4)),
        ("grr:k=5", 1.0, {"k": 4}, (1.0, 5)),
        ("ss:epsilon=2,size=1", None, {"labels": "a,b,c"}, (2.0, 3)),
        ("grr:epsilon=3,k=7", None, {}, (3.0, 7)),
    ],
)  # fmt: skip
def test_what_stands_behind_a_name_wins_over_what_is_given_for_all(
    text: str, epsilon: float | None, given: dict[str, Any], found: tuple[float, int]
) -> None:
    made = compared(text, epsilon, given)
    assert (made.epsilon, made.k) == found


@pytest.mark.parametrize(
    ("text", "epsilon", "given", "told"),
    [
        ("grr", None, {"k": 4}, "epsilon must be given for grr"),
        ("grr", 1.0, {}, "k must be given for grr"),
        ("collaborative", 1.0, {"k": 4}, "collaborative is a protocol of several steps"),
    ],
)
def test_what_a_design_lacks_is_told(text: str, epsilon: float | None, given: dict[str, Any], told: str) -> None:
    with pytest.raises(dn.ParameterError, match=told):
        compared(text, epsilon, given)


# ---- promises


def _texts(parts: list[Any]) -> str:
    return "\n".join(part.render() if isinstance(part, Table) else part for part in parts)


@pytest.mark.parametrize(("k", "table"), [(2, True), (12, True), (13, False)])
def test_budgets_have_a_table_where_values_are_few(k: int, table: bool) -> None:
    budgets = [[0.0 if i == j else 1.0 + (i + 2 * j) / 100 for j in range(k)] for i in range(k)]
    found = promised._budgets(dn.promise(budgets=budgets), None, "T")  # type: ignore[arg-type]
    assert isinstance(found, Table) == table
    if isinstance(found, Table):
        assert [list(row)[1:] for row in found.rows] == [
            ["" if i == j else promised._word(budgets[i][j]) for j in range(k)] for i in range(k)
        ]
    else:
        assert found == "T: too many for a table. --json writes them out, and --chart draws them."
    assert promised._word(math.inf) == "inf"


@pytest.mark.parametrize("k", [5, 6, 8])
def test_so_many_budgets_that_follow_are_listed_and_the_rest_is_counted(k: int) -> None:
    """Along a chain of values each budget is a sum of ones: (k - 1)(k - 2) of them are less than was given."""
    budgets = [[0.0 if i == j else 1.0 if abs(i - j) == 1 else 9.0 for j in range(k)] for i in range(k)]
    promise = dn.promise(budgets=budgets)
    follow = (k - 1) * (k - 2)
    assert len(promise.implied) == follow
    parts = promised._parts(promise, "SENTENCE")
    listed = next(part for part in parts if isinstance(part, Table) and part.title == "Less than was given")
    assert len(listed.rows) == min(20, follow)
    assert ("And" in _texts(parts)) == (follow > 20)
    if follow > 20:
        assert f"And {follow - 20:,} more: --json lists all of them." in parts
    assert parts[-1] == "SENTENCE"
    closed = dn.promise(budgets=[[0, 1], [1, 0]])
    assert "Nothing smaller follows from them." in promised._parts(closed, None)


def test_a_value_is_named_by_its_label_or_its_number() -> None:
    named, numbered = dn.promise(epsilon=1, labels=["0", "1"]), dn.promise(epsilon=1, k=2)
    assert promised._value(named, "1") == "1"
    assert promised._value(numbered, "1") == 1
    assert promised._value(numbered, "one") == "one"
    with pytest.raises(dn.ParameterError, match="explain must"):
        promised._explained(numbered, "2")


# ---- surveys


def test_questions_are_read_as_they_are_typed() -> None:
    given = ["smokes=no,yes", "age=8", "income=0..5000", "sports=2 of a,b,c", "pets=any of a,b", "many=3 of 9"]
    found = surveys._listed([*given, "x=a=b,c", "of=one of a,b"])
    assert found == {
        "smokes": {"labels": ["no", "yes"]},
        "age": 8,
        "income": {"interval": "0,5000"},
        "sports": {"several": ["a", "b", "c"], "most": 2},
        "pets": {"several": ["a", "b"]},
        "many": {"several": 9, "most": 3},
        "x": {"labels": ["a=b", "c"]},
        "of": {"labels": ["one of a", "b"]},
    }
    for wrong in ("smokes", "=a,b", "smokes="):
        with pytest.raises(dn.ParameterError, match="question must be NAME=WHAT"):
            surveys._listed([wrong])
    with pytest.raises(dn.ParameterError, match="question must be given once"):
        surveys._listed(["a=2", "b=2", "a=3"])
    assert surveys._numbers("stderr", "0.01") == 0.01
    assert surveys._numbers("weights", "a=1,b=2.5,c=d=3") == {"a": 1.0, "b": 2.5, "c=d": 3.0}
    with pytest.raises(dn.ParameterError, match="weights must be numbers, got 'a=x'"):
        surveys._numbers("weights", "a=x")


def test_a_plan_of_a_survey_says_how_good_it_is() -> None:
    made = SimpleNamespace(tables=(), questions=(1, 2), record=1.5, scheme="one", needed=None)
    told = {"mse_sum": 0.5, "n": 100, "gap": 0.0312}
    told["compared"] = {"split": 150.0, "together_from": 2.25}  # type: ignore[assignment]
    assert surveys._notes(made, told) == [
        "The summed squared error is at most 3.1 % above the least that any survey with this promise can have.",
        "Splitting the budget among all questions would have 3 times the squared error.",
        "Asking some of them together pays from epsilon 2.25 on.",
    ]
    told["compared"] = {"split": None, "together_from": None}  # type: ignore[assignment]
    assert surveys._notes(made, told)[1:] == ["Asking questions together does not pay at any epsilon up to 12."]
    tabled = SimpleNamespace(**{**vars(made), "tables": (("a", "b"),)})
    assert surveys._notes(tabled, {"gap": 0.5, "compared": {}}) == [
        "The summed squared error of all cells is at most 50.0 % above the least that any survey with this promise "
        "can have."
    ]
    head = surveys._headline(made, {}, 1200)
    assert head == (
        "2 questions, epsilon = 1.5 for all answers together: everybody answers one question. 1,200 people."
    )
    assert surveys._headline(SimpleNamespace(**{**vars(made), "needed": 7}), {}, 7).endswith("7 people are enough.")
    assert surveys._questions([1]) == "1 question"
    assert (surveys._error(0.0123, False), surveys._error(12.34, True)) == ("1.23 pt", "12.3")
    assert [surveys._rounded(None), surveys._rounded(0.5), surveys._rounded(0.95, share=True)] == [
        "too rare", "0.5", "95.00 %"
    ]  # fmt: skip


# ---- tasks


def test_a_task_is_over_on_the_day_after_its_last_one(monkeypatch: pytest.MonkeyPatch) -> None:
    last = date(2026, 11, 16)
    task = SimpleNamespace(closes=last + timedelta(1), opens=last, id="x", subject="s")
    for today, over in ((last - timedelta(1), False), (last, False), (last + timedelta(1), True)):
        monkeypatch.setattr(service_tasks, "today", lambda today=today: today)
        told = service_tasks._over(task)
        assert told == (f"its last day was {last}: no report will be counted." if over else "")
    row: Any = SimpleNamespace(state="open")
    assert service_tasks._listed(task, row, 3) == {
        "id": "x", "state": "open", "subject": "s", "opens": "2026-11-16", "until": "2026-11-16", "reports": 3
    }  # fmt: skip


def test_shares_days_and_groups_of_a_task_are_read() -> None:
    assert service_tasks._shares(None, 3) == [1, 1, 1]
    assert service_tasks._shares(["2", "10"], 2) == [2, 10]
    for wrong, count in ((["0"], 1), (["1"], 2), (["1", "1"], 1), (["x"], 1), (["1.5"], 1), (["-1"], 1), (["²"], 1)):
        with pytest.raises(dn.ParameterError, match="share must be a whole number > 0 for each --design"):
            service_tasks._shares(wrong, count)
    assert service_tasks._day("2026-02-28") == date(2026, 2, 28)
    with pytest.raises(dn.ParameterError, match="opens must be a day such as 2026-11-16, got '2026-02-29'"):
        service_tasks._day("2026-02-29")
    assert service_tasks._strata(["a=x,y", "b=z"]) == {"a": ["x", "y"], "b": ["z"]}
    for odd in ("a", "a=", ""):
        with pytest.raises(dn.ParameterError, match="strata must be a name and its values"):
            service_tasks._strata([odd])


def test_files_of_results_are_tables_by_their_ending() -> None:
    assert [service_tasks._form(name) for name in ("-", "x.csv", "x.PARQUET", "x.json", "x")] == [
        "", "csv", "parquet", "", ""
    ]  # fmt: skip
    with pytest.raises(dn.ParameterError, match=r"out must be a name that ends in \.csv, \.parquet or \.json"):
        service_tasks._form("x.xls")
    assert service_tasks._printable('"a\u202e"\nü') == '"a\\u202e"\nü'


def test_an_id_of_a_task_may_be_cut_to_four_letters(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [SimpleNamespace(id=id, document=b"") for id in ("abcd1", "abcd2", "abce1")]
    store: Any = SimpleNamespace(tasks=lambda: rows)
    monkeypatch.setattr("deniable.service.ingest.Intake", lambda document: "intake")
    assert service_tasks.known_task(store, "abce") == (rows[2], "intake")
    assert service_tasks.known_task(store, "abcd2") == (rows[1], "intake")
    for id, told in (
        ("abcd", "got 'abcd': 2 tasks begin with it"),
        ("zzzz", "got 'zzzz': no task begins with it"),
        ("abc", r"got 'abc': it is too short.* It takes at least 4 letters"),
        ("", "it is too short"),
    ):
        with pytest.raises(dn.ParameterError, match=told):
            service_tasks.known_task(store, id)


def test_what_a_questionnaire_says_is_not_said_twice() -> None:
    service_tasks._refuse_given({"survey": None, "design": None})
    with pytest.raises(dn.ParameterError, match="design must be left out with --from"):
        service_tasks._refuse_given({"survey": None, "design": ["x"]})


def test_what_was_done_to_a_copy_is_told_in_sentences() -> None:
    def told(**facts: Any) -> list[str]:
        usual: dict[str, Any] = {"journal": None, "noted": {}, "closed": [], "voided": 0, "revoked": []}
        return list(service_store._changes(SimpleNamespace(**usual | facts), facts.pop("named", False)))  # type: ignore[arg-type]

    assert told(journal="J") == ["By the journal, all that happened since then stays so: nothing did."]
    assert told(journal="J", noted={"closed": 1, "revoked": 2, "released": 1000}) == [
        "By the journal, all that happened since then stays so: 1,000 published windows, 1 closed task, 2 revoked keys."
    ]
    assert told(journal="J", voided=1)[1:] == [
        "Reports that are published came after the copy was made, and nobody knows their ids any more.",
        "0 tasks closed for good: none. 1 window will never be published.",
    ]
    assert told(closed=["a" * 64, "b" * 64], voided=2, revoked=["k"])[1:3] == [
        f"2 tasks closed for good: {'a' * 12}, {'b' * 12}. 2 windows will never be published.",
        "1 key made void: k.",
    ]
    assert told(journal="J", named=True)[-1] == "Name it in the settings from now on: journal = J"


# ---- objects to audit, optional parts


def test_an_object_of_the_current_folder_comes_before_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "statistics_of_mine.py").write_text(
        "class A:\n    class B:\n        x = 3\n\ndef made():\n    return 5\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", ["/nowhere"])
    assert imports._load("statistics_of_mine:A.B.x") == 3
    assert imports._load("statistics_of_mine:made") == 5
    import sys

    assert sys.path[0] == str(tmp_path)
    assert sys.path.count(str(tmp_path)) == 1


def test_parts_that_are_not_installed_are_named_with_their_extra() -> None:
    assert need_extra("json", "service") is json
    with pytest.raises(MissingExtraError, match=r"this needs nothing_here.* pip install 'deniable\[service\]'"):
        need_extra("nothing_here", "service")
    assert whole("k", 5, 1) == 5
    for value, told in ((True, "k must be an integer >= 1"), (0, "k must be an integer >= 1"), (2.0, "k must be")):
        with pytest.raises(dn.ParameterError, match=told):
            whole("k", value, 1)
    with pytest.raises(dn.ParameterError, match="k must be an integer from 1 to 4, got 5"):
        whole("k", 5, 1, 4)
    assert whole("k", 4, 1, 4) == 4


def test_a_plan_that_nothing_meets_ends_with_one(capsys: pytest.CaptureFixture[str]) -> None:
    for most, code in ((1, 1), (1000, 0)):
        given = {"k": 1000, "n": 10_000, "epsilon": 1.0, "max_bits": float(most), "top": 1}
        assert plan(Output(True), given) == code
        assert json.loads(capsys.readouterr().out)["feasible"] == (code == 0)
