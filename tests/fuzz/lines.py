"""Command lines, right and wrong, made from the registry and from the program's own table of options.

A line starts right: a command with a row's small case. Then none, one or a few things are done to it that people do by
mistake. The same number always gives the same line.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from random import Random
from typing import Any

import typer

import deniable as dn
from deniable.cli.app import build
from deniable.mechanisms.registry import MECHANISMS, PROTOCOLS
from deniable.run.survey import write_survey
from deniable.service.access.identity import Identity
from deniable.service.access.keys import new_key
from deniable.service.store import open_store
from deniable.service.tasks import Asked, Terms, new_task
from deniable_client.canonical import canonical

_TOP: Mapping[str, Any] = typer.main.get_command(build()).commands  # type: ignore[attr-defined]
_VERBS = {name: list(getattr(made, "commands", {})) for name, made in _TOP.items()}
COMMANDS: Mapping[str, Any] = {
    **{name: made for name, made in _TOP.items() if not _VERBS[name]},
    **{f"{name} {verb}": _TOP[name].commands[verb] for name, verbs in _VERBS.items() for verb in verbs},
}
"""By their words: one, or two where the first stands for several commands."""
NOT_TRIED = {"conformance", "demo"}
"""The first runs any program; the second takes long and starts a collector. `serve` is tried by tests that put
something harmless in its place."""
ROWS = {**MECHANISMS, **PROTOCOLS}

ODD = ["", " ", "0", "-1", "+3", "1e400", "nan", "inf", "-inf", "1e-320", "0.1.2", "1e3", "1_000", "1_", "0x10", "1.5"]
ODD += [
    "99999999999999999999",
    "1" * 50,
    "x",
    "a,b",
    ",",
    '"',
    "0,0",
    "1,2",
    "5,1",
    "yes",
    "\u0663",
    "a\x1b[31mb",
    "-",
    "~",
]
ODD += ["grr", "ss:9", "zipf:", "zipf:nan", "normal:-1", "uniform:2", "é" * 300]
"""Values that are right for few options and wrong for most."""

FILES = ["v.txt", "v.csv", "pairs.csv", "numbers.txt", "r.bin", "t.bin", "cut.bin", "empty.txt", "latin.txt", "folder"]
FILES += ["missing.txt", "nowhere/x.txt", "-", "", "a" * 300 + ".txt", "v.txt/x", "places.csv", "/dev/null"]
FILES += ["near.bin", "design.json", "c.toml", "c.db", "copy.db", "full", "*.bin", "no*such"]
FILES += ["promise.json", "losses.csv", "chances.csv", "survey.json", "answers.csv", "s.bin", "asked.json"]
OUTPUTS = [
    "new.bin",
    "new.csv",
    "new.json",
    "new.html",
    "new",
    "old.bin",
    "old.json",
    "folder",
    "nowhere/x.json",
    "v.txt",
]
OUTPUTS += ["", "a" * 300 + ".json", "v.txt/x.csv", "r.bin"]
"""Files to read and to write: some are fine, some are not."""
_READ = {
    "--labels-file",
    "--distances",
    "--data-dir",
    "--design",
    "--survey",
    "--config",
    "--matrix",
    "--values",
    "--diff",
}
_WRITTEN = {"--out", "--chart", "--chart-means", "--resume"}

GOOD: Mapping[str, Sequence[str]] = {
    "--k": ["2", "5", "1e1", "1_2"],
    "--epsilon": ["0.5", "1", "2", "4.0"],
    "--n": ["1", "1000", "1e3", "10_000"],
    "--runs": ["1", "2"],
    "--seed": ["0", "7"],
    "--level": ["0.5", "0.99"],
    "--labels": ["a,b,c", "no,yes"],
    "--top": ["1", "3"],
    "--reports": ["1", "50"],
    "--promise": ["0.5", "3", "promise.json", "losses.csv"],
    "--objective": ["frequency", "mean", "release", "even"],
    "--loss": ["absolute", "zero-one", "losses.csv"],
    "--queries": ["ranges", "prefixes"],
    "--sizes": ["2,2", "3,2,2"],
    "--shape": ["1,1", "1"],
    "--widths": ["1,2", "1,4"],
    "--range": ["0,1", "1,3"],
    "--quantile": ["0.5", "0.9"],
    "--fakes": ["0.9,0.1;0.9,0.1"],
    "--question": ["a=2", "b=no,yes", "c=0..5", "How often?", "frequency"],
    "--weights": ["a=2", "error=1,bits=1", "1"],
    "--stderr": ["0.05", "a=0.05"],
    "--tables": ["a:b", "a:z"],
    "--scheme": ["auto", "one", "box", "split"],
    "--of": ["a,b", "b,a"],
    "--columns": ["a,b", "user,key,value"],
    "--part-column": ["part", "a"],
    "--explain": ["0", "2", "ill"],
    "--points": ["2", "9"],
    "--interval": ["0,10", "-1,1"],
    "--target-error": ["0.05", "0.5"],
    "--data": ["zipf", "uniform", "bank-job", "dirichlet:2"],
    "--prior": ["zipf", "normal:2", "bank-job"],
    "--engine": ["local"],
    "--chart-order": ["value", "given"],
    "--table": ["packed", "rows"],
    "--format": ["lines"],
    "--compression": ["none", "gzip"],
    "--delimiter": ["tab", ";"],
    "--text-encoding": ["cp1252", "utf-16"],
    "--database": [
        "sqlite:///c.db",
        "sqlite:///new.db",
        "sqlite:///nowhere/x.db",
        "sqlite:///v.txt",
        "sqlite:///folder",
        "sqlite:///",
    ],
}
"""Values that are right where the option is, or nearly; others are tried too."""

DATABASE = ("--database", "sqlite:///c.db")
SERVICE: Mapping[str, Mapping[str, str]] = {
    "task new": {
        "--share": "2",
        "--min-batch": "50",
        "--opens": "2030-01-01",
        "--window-days": "3",
        "--windows": "2",
        "--retention": "reports",
        "--retention-days": "5",
        "--subject": "sleep",
        "--strata": "country=DE,FR",
        "--collector": "A university",
        "--budget": "20",
        "--none": "2",
        "--url": "https://collect.example.org",
        "--language": "de-CH",
        "--config": "c.toml",
    },
    "task next": {"--subject": "sleep", "--min-batch": "50", "--window-days": "3", "--config": "c.toml"},
    "task export": {"--what": "results", "--question": "q1", "--out": "new.json", "--config": "c.toml"},
    "key new": {"--name": "someone", "--config": "c.toml"},
    "key rotate": {"--days": "3", "--config": "c.toml"},
    "serve": {
        "--host": "127.0.0.1",
        "--port": "8001",
        "--max-body": "100000",
        "--max-reports": "100",
        "--max-waiting": "1000",
        "--max-memory": "100000000",
        "--max-connections": "10",
        "--rate": "5",
        "--header-seconds": "5",
        "--body-seconds": "5",
        "--idle-seconds": "5",
        "--stop-seconds": "5",
        "--session-seconds": "300",
        "--upkeep-seconds": "5",
        "--config": "c.toml",
    },
}
"""Options of the collector's commands that may be left out, with right values."""
SURVEY = dn.survey({"a": 2, "b": 3}, epsilon=1.0, tables=[("a", "b")])
"""The survey that there is a file of."""


@dataclass
class Line:
    """A command line, and what was done to it."""

    command: str
    places: list[str] = field(default_factory=list)
    options: list[tuple[str, str | None]] = field(default_factory=list)
    done: list[tuple[str, str]] = field(default_factory=list)
    """What was done, and to what option or value."""

    @property
    def words(self) -> list[str]:
        """As typed."""
        return [*self.command.split(), *self.places, *(w for pair in self.options for w in pair if w is not None)]

    @property
    def known(self) -> dict[str, bool]:
        """The command's options, and whether they are flags."""
        params = COMMANDS[self.command].params if self.command in COMMANDS else []
        return {p.opts[0]: bool(getattr(p, "is_flag", False)) for p in params if p.opts[0].startswith("--")}


def files(folder: Path) -> None:
    """What the lines read, in a folder: right files of several kinds, and wrong ones."""
    m = dn.mechanism("grr", epsilon=1.0, k=5)
    reports = m.privatize([0, 1, 2, 3, 4] * 4, rng=dn.simulation(1))
    data = dn.dump(reports)
    texts = {
        "v.txt": "0\n1\n1\n0\n",
        "v.csv": "age,level\n0,1\n1,2\n",
        "pairs.csv": "user,key,value\n1,0,0.5\n2,1,-1\n3,,\n",
        "numbers.txt": "0\n0.5\n1\n",
        "places.csv": "lat,lon\n52.5,13.4\n48.9,2.4\n",
        "empty.txt": "",
        "old.bin": "old",
        "old.json": "{}",
    }
    texts |= {"design.json": json.dumps(m.design), "c.toml": "port = 8002\n"}
    asked = {"questionnaire": 1, "title": "Exams", "who": "Uni", "why": "To plan.", "people": 2000}
    texts["questionnaire.json"] = json.dumps(asked | {"questions": [{"kind": "yes-no", "text": "Did you?"}]})
    texts |= {
        "promise.json": '{"points": [0, 1, 2], "epsilon": 0.5}',
        "losses.csv": "0,1,2\n1,0,1\n2,1,0\n",
        "chances.csv": "3,1\n1,3\n",
        "answers.csv": "a,b,part\n0,1,0\n1,2,0\n",
        "asked.json": '{"questions": {"a": {"k": 2}, "b": {"labels": ["no", "yes"]}}}',
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
    write_survey(SURVEY, str(folder / "survey.json"))
    answered = SURVEY.privatize({"a": [0, 1] * 10, "b": [0, 2] * 10}, rng=dn.simulation(3))
    (folder / "s.bin").write_bytes(dn.dump(answered))
    (folder / "latin.txt").write_bytes("caf\xe9\n".encode("latin-1"))
    (folder / "r.bin").write_bytes(data)
    (folder / "t.bin").write_bytes(dn.dump(m.tally(reports)))
    (folder / "cut.bin").write_bytes(data[:-9])
    near = dn.mechanism("geometric", epsilon=1.0, k=5)
    (folder / "near.bin").write_bytes(dn.dump(near.privatize([0, 1, 2], rng=dn.simulation(2))))
    (folder / "folder").mkdir()
    (folder / "full").mkdir()
    (folder / "full" / "1.txt").write_text("0\n1\n")
    (folder / "full" / "2.txt").write_text("1\n")
    store = open_store(f"sqlite:///{folder}/c.db")
    store.put_task(TASK["id"], canonical(TASK))
    store.set_state(TASK["id"], "open")
    new_key(store, "analyst", today=date(2026, 11, 16), name="analyst-1")
    store.backup(folder / "copy.db")
    store.close()


TASK = new_task(
    [Asked(text="How often?", design=dn.mechanism("grr", epsilon=1.0, k=5).design)],
    Terms(opens=date(2026, 11, 16)),
    Identity(bytes(32)),
)
"""The task that the database has."""


def make(seed: int) -> Line:
    """The line of this number."""
    rng = Random(seed)
    command = rng.choice([*(n for n in _TOP if n not in NOT_TRIED), "design", "plan", "privatize", "simulate"])
    command = " ".join([command, *([rng.choice(_VERBS[command])] if _VERBS[command] else [])])
    line = Line(command)
    _START[command](line, rng)
    line.options += [pair for pair in SERVICE.get(command, {}).items() if rng.random() < 0.3]
    if command == "task export" and {"--what", "--question"} <= {flag for flag, _ in line.options}:
        line.done.append(("other", "--question"))  # results are of all questions
    for _ in range(rng.choice([0, 0, 1, 1, 1, 2])):
        rng.choice(_WRONG)(line, rng)
    if command == "reproduce" and not line.done:
        _wrong_name(line, rng)
    if rng.random() < 0.25 and "--json" in line.known:
        line.options.append(("--json", None))
    return line


def _row(line: Line, rng: Random) -> None:
    rows = ROWS if line.command in ("design", "audit", "simulate") else MECHANISMS
    name = rng.choice(list(PROTOCOLS if line.command == "task next" else rows))
    entry = ROWS[name]
    cases = [case for case in entry.small if all(isinstance(x, bool | int | float | str) for x in case.values())]
    case = dict(rng.choice(cases)) if cases else {"epsilon": 1.0, "k": 6}
    if not cases and {"promise", "matrix"} & {*entry.needed}:  # these are files
        case = {"promise": "promise.json", "matrix": "chances.csv"}
        case = {option: file for option, file in case.items() if option in entry.needed}
    case |= {option: 2 for option in (*entry.needed, *{"top"} & {*entry.options}) if option not in case}
    line.places.append(name)
    for option, value in case.items():
        if option not in entry.inner:
            flag = f"--{option.replace('_', '-')}"
            line.options.append((flag, None) if line.known.get(flag) else (flag, str(value)))


def _privatize(line: Line, rng: Random) -> None:
    _row(line, rng)
    line.places.append({"key-value pairs": "pairs.csv"}.get(MECHANISMS[line.places[0]].cls.takes, "v.txt"))
    line.options += [("--out", "new.bin"), ("--seed", "1")]
    if MECHANISMS[line.places[0]].cls.takes == "values with levels":  # nothing names the column of levels
        line.done.append(("place", line.places[1]))


def _simulate(line: Line, rng: Random) -> None:
    _row(line, rng)
    line.options += [("--data", "uniform"), ("--n", "200"), ("--runs", "1")]
    if "sizes" in ROWS[line.places[0]].options:  # several questions at once are refused as they are
        line.done.append(("name", line.places[0]))


def _attack(line: Line, rng: Random) -> None:
    _row(line, rng)
    line.options.append(("--reports", "20"))


def _plan(line: Line, rng: Random) -> None:
    line.options += rng.choice(
        [
            [("--k", "6"), ("--n", "1000"), ("--epsilon", "1")],
            [("--k", "6"), ("--n", "1000"), ("--target-error", "0.05")],
            [("--labels", "a,b,c"), ("--n", "1000"), ("--epsilon", "1"), ("--sensitive", "a")],
            [("--question", "key-value"), ("--k", "6"), ("--n", "1000"), ("--epsilon", "1")],
            [("--question", "release"), ("--points", "6"), ("--epsilon", "1")],
            [("--promise", "promise.json"), ("--n", "1000")],
            [("--question", "mean"), ("--interval", "0,1"), ("--epsilon", "1"), ("--n", "1000")],
        ]
    )


def _promise(line: Line, rng: Random) -> None:
    line.places.append(rng.choice(["promise.json", "losses.csv"]))
    line.options += rng.choice([[], [("--explain", "1")], [("--chart", "new.json")]])


def _asked(line: Line, rng: Random) -> None:
    told = rng.choice(
        [
            [("--question", "a=2"), ("--question", "b=no,yes"), ("--epsilon", "1")],
            [("--question", "a=2"), ("--question", "b=3"), ("--epsilon", "2"), ("--tables", "a:b")],
            [("--question", "a=2"), ("--question", "c=0..5"), ("--epsilon", "1"), ("--weights", "a=2")],
            [("--epsilon", "1"), ("--scheme", "one")],
        ]
    )
    line.places += [] if ("--question", "a=2") in told else ["asked.json"]
    line.options += told


def _survey_plan(line: Line, rng: Random) -> None:
    _asked(line, rng)
    line.options += rng.choice([[], [("--n", "1000")], [("--stderr", "0.05")]])


def _survey_design(line: Line, rng: Random) -> None:
    _asked(line, rng)
    line.options.append(("--out", "new.json"))


def _survey_assign(line: Line, rng: Random) -> None:
    line.places.append("survey.json")
    line.options += [("--n", "20"), ("--out", "new.csv"), *rng.choice([[], [("--seed", "1")]])]


def _survey_privatize(line: Line, rng: Random) -> None:
    line.places += ["survey.json", "answers.csv"]
    line.options += [("--out", "new.bin"), *rng.choice([[], [("--part-column", "part")], [("--columns", "a,b")]])]


def _survey_files(line: Line, rng: Random) -> None:
    line.places += ["survey.json", "s.bin"]


def _survey_simulate(line: Line, rng: Random) -> None:
    line.places.append("survey.json")
    line.options += [("--runs", "1"), *rng.choice([[("--n", "50")], [("--data", "answers.csv")]])]


def _survey_table(line: Line, rng: Random) -> None:
    _survey_files(line, rng)
    line.options.append(("--of", "a,b"))


def _files(line: Line, rng: Random) -> None:
    line.places += rng.choice([["r.bin"], ["t.bin"]])


def _study(line: Line, rng: Random) -> None:
    line.places.append(rng.choice(["grr", "ss:size=2"]))
    line.options += [("--k", "4"), ("--n", "200"), ("--runs", "1"), ("--epsilons", "1")]


def _compare(line: Line, rng: Random) -> None:
    line.places.append(rng.choice(["grr", "ss:size=2", "design.json"]))
    line.options += [("--epsilon", "1"), ("--k", "4")]


def _verify(line: Line, rng: Random) -> None:
    line.places.append(rng.choice(["design.json", "r.bin", "t.bin"]))


def _nothing(line: Line, rng: Random) -> None:
    """A command that needs nothing."""


def _near(line: Line, rng: Random) -> None:
    line.places.append("near.bin")
    line.options += rng.choice([[], [("--out", "new.csv")]])


def _database(line: Line, rng: Random) -> None:
    line.options.append(DATABASE)


def _new_task(line: Line, rng: Random) -> None:
    design = [("--design", "design.json"), ("--question", "How often?")]
    survey = [("--survey", "survey.json"), ("--question", "How?"), ("--question", "Why?")]
    line.options += [*rng.choice([design, survey, [("--from", "asked.json")]]), DATABASE]


def _questionnaire(line: Line, rng: Random) -> None:
    line.places.append(rng.choice(["questionnaire.json", TASK["id"]]))
    line.options += [DATABASE, *rng.choice([[], [("--out", "new.json")]])]


def _next_task(line: Line, rng: Random) -> None:
    _row(line, rng)
    line.options += [("--question", "How often?"), DATABASE]
    if line.places[0] != "collaborative":  # of some everybody answers several steps: they are refused as they are
        line.done.append(("name", line.places[0]))
    if rng.random() < 0.3:
        line.options.append(("--after", TASK["id"][:12]))
        line.done.append(("other", "--after"))


def _task(line: Line, rng: Random) -> None:
    line.places.append(TASK["id"][: rng.choice([4, 12, 64])])
    line.options.append(DATABASE)


def _new_key(line: Line, rng: Random) -> None:
    line.options += [("--role", rng.choice(["analyst", "administrator"])), DATABASE]


def _key(line: Line, rng: Random) -> None:
    line.places.append("analyst-1")
    line.options.append(DATABASE)


def _backup(line: Line, rng: Random) -> None:
    line.places.append("new")
    line.options.append(DATABASE)


def _restore(line: Line, rng: Random) -> None:
    line.places.append("copy.db")
    line.options.append(("--database", "sqlite:///new.db"))


def _paper(line: Line, rng: Random) -> None:
    line.places.append("brr")
    line.options += [("--quick", None), ("--figure", "none")]
    line.done.append(("odd", "--figure"))


_START: Mapping[str, Callable[[Line, Random], None]] = {
    "mechanisms": _nothing,
    "design": _row,
    "plan": _plan,
    "privatize": _privatize,
    "tally": _files,
    "estimate": _files,
    "simulate": _simulate,
    "study": _study,
    "compare": _compare,
    "audit": _row,
    "verify": _verify,
    "reproduce": _paper,
    "attack": _attack,
    "promise": _promise,
    "survey plan": _survey_plan,
    "survey design": _survey_design,
    "survey assign": _survey_assign,
    "survey privatize": _survey_privatize,
    "survey tally": _survey_files,
    "survey estimate": _survey_files,
    "survey table": _survey_table,
    "survey simulate": _survey_simulate,
    "release": _near,
    "serve": _database,
    "task new": _new_task,
    "task next": _next_task,
    "task questionnaire": _questionnaire,
    "task list": _database,
    "task show": _task,
    "task open": _task,
    "task close": _task,
    "task export": _task,
    "key new": _new_key,
    "key list": _database,
    "key revoke": _key,
    "key rotate": _key,
    "store check": _database,
    "store backup": _backup,
    "store restore": _restore,
    "store migrate": _database,
    "store clock": _database,
}


def _value(flag: str, rng: Random) -> str:
    if flag in _READ or flag in _WRITTEN:
        return rng.choice(FILES if flag in _READ else OUTPUTS)
    return rng.choice(GOOD[flag]) if flag in GOOD and rng.random() < 0.4 else rng.choice(ODD)


def _odd_value(line: Line, rng: Random) -> None:
    at = [i for i, (flag, value) in enumerate(line.options) if value is not None and flag != "--figure"]
    if at:
        i = rng.choice(at)
        flag = line.options[i][0]
        value = _value(flag, rng)
        line.options[i] = flag, value
        line.done.append(("odd" if value in ODD else "other", flag))


_MAKING = {*Line("design").known}
"""Options that make a mechanism: many commands have them all, so that their own would seldom come up."""


def _more(line: Line, rng: Random) -> None:
    known = line.known
    own = [flag for flag in known if flag not in _MAKING] or list(known)
    flag = rng.choice(own if rng.random() < 0.5 else list(known))
    bare = known[flag]
    if flag not in ("--help", "--json"):
        line.options.append((flag, None if bare else _value(flag, rng)))
        line.done.append(("more", flag))


def _less(line: Line, rng: Random) -> None:
    if line.options and line.command != "reproduce":
        line.done.append(("less", line.options.pop(rng.randrange(len(line.options)))[0]))


def _misspelt(line: Line, rng: Random) -> None:
    flag = rng.choice(list(line.known)) + rng.choice(["s", "x", "-"])
    line.options.append((flag, None))
    line.done.append(("misspelt", flag))


def _no_value(line: Line, rng: Random) -> None:
    valued = [flag for flag, bare in line.known.items() if not bare]
    if valued:
        line.options.append((rng.choice(valued), None))
        line.done.append(("no value", line.options[-1][0]))


def _place(line: Line, rng: Random) -> None:
    what = rng.choice(FILES)
    if line.places and rng.random() < 0.7:
        line.places[-1] = what
    else:
        line.places.append(what)
    line.done.append(("place", what))


def _wrong_name(line: Line, rng: Random) -> None:
    if line.places:
        line.places[0] = rng.choice(["", "GRR", "krr", "nosuch", "os:path", "no.such:thing", ":", "a:b:c", "-x", "--"])
        line.done.append(("name", line.places[0]))


_WRONG = [_odd_value, _odd_value, _odd_value, _more, _more, _less, _misspelt, _no_value, _place, _wrong_name]
