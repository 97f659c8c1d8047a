"""Every option reaches the number: for each option of each command two values whose outputs differ, or a reason.

The options come from the commands themselves: a new one that is neither tried nor excused fails.
"""

from __future__ import annotations

import gzip
import json
from base64 import b64encode
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import typer

import deniable as dn
from deniable.cli import main
from deniable.cli.app import build

Case = tuple[str, str | None, str | None]
"""What stands before the option, and its two values; None leaves it out, "" is a flag."""

LABELS = "--labels a,b,c,d"
VECTORS = str(Path(__file__).resolve().parents[2] / "clients/vectors")
DESIGN: Mapping[str, Case] = {
    "--epsilon": ("grr --k 4", "1", "2"),
    "--k": ("grr --epsilon 1", "4", "5"),
    "--labels": ("grr --epsilon 1", "a,b", "a,b,c"),
    "--labels-file": ("grr --epsilon 1", "two.txt", "three.txt"),
    "--missing": (f"grr --epsilon 1 {LABELS}", None, "none"),
    "--other": (f"grr --epsilon 1 {LABELS}", None, "rest"),
    "--size": ("ss --epsilon 1 --k 9", "2", "3"),
    "--p": ("ue --epsilon 1 --k 4", "0.6", "0.7"),
    "--g": ("lh --epsilon 1 --k 9", "2", "3"),
    "--threshold": ("the --epsilon 1 --k 4", "0.6", "0.7"),
    "--arc": ("wheel --epsilon 1 --k 9", "0.2", "0.3"),
    "--prime": ("pgr --epsilon 1 --k 9", "3", "5"),
    "--share": ("ssmix --epsilon 1 --k 9 --size 2", "0.2", "0.4"),
    "--select": ("ass --epsilon 2 --k 50", "utopia", "elbow"),
    "--objectives": ("ass --epsilon 2 --k 50", "paper", "exact"),
    "--normalize": ("ass --epsilon 2 --k 50 --select weighted", "none", "log"),
    "--weight": ("ass --epsilon 2 --k 50 --select weighted --normalize log", "0.1", "0.9"),
    "--limit": ("ass --epsilon 2 --k 50 --select epsilon-constraint", "0.05", "0.1"),
    "--reference": ("ass --epsilon 2 --k 50 --select hypervolume", "1,1", "0.2,1"),
    "--rho": ("ass --epsilon 2 --k 50 --select tchebycheff --normalize log", "1e-6", "0.9"),
    "--prior": ("ass --epsilon 2 --k 50", "uniform", "zipf:1.5"),
    "--rounding": ("olh --epsilon 2.2 --k 40", "paper", "best"),
    "--encoding": ("ss --epsilon 1 --k 9", "bits", "interval"),
    "--sensitive": ("uss --epsilon 1 --k 9", "3", "5"),
    "--theta": ("uss --epsilon 1 --k 9 --sensitive 4", "0.2", "0.8"),
    "--form": ("urr --epsilon 1 --k 9 --sensitive 4", "null", "glutf"),
    "--base": ("utility --epsilon 1 --k 9 --sensitive 4", "grr", "oue"),
    "--item-epsilon": ("uue-levels --k 4 --sensitive 2", "1,2", "1,3"),
    "--flip": ("uue-levels --k 4 --sensitive 2 --item-epsilon 1,2", "0.2", "0.3"),
    "--levels": ("pldp --base sue --k 4 --level-epsilon 1", "0.5,1", "0.5,2"),
    "--shares": ("pldp --base sue --k 4 --level-epsilon 1 --levels 0.5,1", "0.5,0.5", "0.2,0.8"),
    "--level-epsilon": ("pldp --base sue --k 4 --levels 0.5,1", "0.5", "1"),
    "--level-report": ("pldp --base sue --k 4 --levels 0.5,1 --level-epsilon 1", "response", "bit"),
    "--leak-budget": ("pldp --k 4 --levels 0.5,1 --level-epsilon 0.2", "0.3", "0.6"),
    "--disclosure": ("upldp --base sue --k 4 --sensitive 2 --levels 0.5,2 --level-epsilon 1", "common", "own"),
    "--frequency": ("pldp --base sue --k 4 --levels 0.5,1 --level-epsilon 1", "0.1", "0.3"),
    "--length": ("kv-ss --epsilon 1 --k 9", "2", "3"),
    "--range": ("kv-ss --epsilon 1 --k 9", "0,1", "0,2"),
    "--mix": ("kv-ss --epsilon 1 --k 9", "0.1", "0.3"),
    "--interest": ("kv-ss --epsilon 2 --k 9", "0.2", "5"),
    "--rounds": ("privkvm --epsilon 1 --k 9", "2", "3"),
    "--top": ("ks-grr --epsilon 1 --k 9", "2", "3"),
    "--points": ("brr --epsilon 1", "8", "9"),
    "--interval": ("hm --epsilon 1", "0,1", "0,2"),
    "--layout": ("hm --epsilon 1 --interval 0,1 --points 9", "midpoints", "endpoints"),
    "--clip": ("hm --epsilon 1 --interval 0,1", None, ""),
    "--distances": ("brr --epsilon 1", "near.csv", "far.csv"),
    "--rule": ("brr --epsilon 1 --points 20", "mean", "min"),
    "--tie": ("brr --epsilon 1 --points 8 --size 3", "low", "high"),
    "--variant": ("laplace --epsilon 1 --points 5", "truncate", "clamp"),
    "--window": ("pm --epsilon 2 --interval 0,1 --points 64", "best", "paper"),
    "--cells": ("affine --epsilon 1 --k 7", "8", "40"),
    "--tolerance": ("affine --epsilon 1 --k 30", "0", "0.5"),
    "--outputs": ("lu --epsilon 1 --interval 0,1", "4", "8"),
    "--objective": ("optimal --promise line.json", "frequency", "release"),
    "--matrix": ("matrix", "fair.csv", "unfair.csv"),
    "--promise": ("optimal", "line.json", "even.json"),
    "--values": ("optimal --promise line.json --objective mean", "numbers.txt", "squares.txt"),
    "--loss": ("optimal --promise line.json --objective release", "absolute", "zero-one"),
    "--worst": ("optimal --promise line.json --objective release --points 3", None, ""),
    "--queries": ("windows --epsilon 1 --k 16", "ranges", "prefixes"),
    "--widths": ("windows --epsilon 1 --k 8", "1,2", "1,4"),
    "--circle": ("windows --epsilon 1 --k 8", "8", "12"),
    "--fanout": ("tree --epsilon 1 --k 9", "2", "3"),
    "--sizes": ("box --epsilon 1", "2,2", "2,3"),
    "--shape": ("box --epsilon 1 --sizes 3,3", "1,1", "1,2"),
    "--most": ("several --epsilon 1 --k 5", "2", "3"),
    "--marks": ("several --epsilon 1 --k 5 --most 3", "3", "5"),
    "--n": ("grr --epsilon 1 --k 4", "10", "20"),
}
"""Options that make a design: those of `design`, which all commands share."""

GRR = "grr --epsilon 1 --labels a,b,c,d"
PAIRS = "kv-ss --epsilon 1 --labels a,b,c,d"
ASKED = "--design design.json --question Which? --database sqlite:///t.db"
PEOPLE = "--k 16 --n 10000 --epsilon 1"
OF_SURVEYS: Mapping[str, Case] = {
    "--epsilon": ("--question a=2 --question b=3", "1", "2"),
    "--weights": ("--question a=2 --question b=3 --epsilon 1", "a=1", "a=5"),
    "--stderr": ("--question a=2 --question b=3 --epsilon 1", "a=0.02,b=0.02", "a=0.02,b=0.2"),
    "--tables": ("--question a=2 --question b=3 --epsilon 1", None, "a:b"),
    "--scheme": ("--question a=2 --question b=2 --epsilon 1", "one", "box"),
    "file": ("--epsilon 1", "asked.json", "asked-more.json"),
    "--question": ("--question b=3 --epsilon 1", "a=2", "a=3"),
}
"""What a survey is planned from."""
WRITTEN = "written.csv"
"""The file that some commands below write: what is in it counts as their output."""
PRIVATIZED = f"survey.json answers.csv --seed 1 --out {WRITTEN}"
COMMANDS: Mapping[str, Mapping[str, Case]] = {
    "promise": {
        "file": ("", "line.json", "even.json"),
        "--explain": ("line.json", "0", "1"),
    },
    "survey plan": {**OF_SURVEYS, "--n": ("--question a=2 --epsilon 1", "100", "200")},
    "survey design": {option: (f"--out {WRITTEN} {case[0]}", *case[1:]) for option, case in OF_SURVEYS.items()},
    "survey assign": {
        "survey": (f"--n 100 --seed 1 --out {WRITTEN}", "survey.json", "tables.json"),
        "--n": (f"survey.json --seed 1 --out {WRITTEN}", "100", "200"),
        "--seed": (f"survey.json --n 100 --out {WRITTEN}", "1", "2"),
    },
    "survey privatize": {
        "survey": (f"--seed 1 --out {WRITTEN}", "survey.json answers.csv", "tables.json answers.csv"),
        "values": (f"--seed 1 --out {WRITTEN}", "survey.json answers.csv", "survey.json more-answers.csv"),
        "--columns": (PRIVATIZED, "a,b", "c,b"),
        "--part-column": (PRIVATIZED, "part", "other"),
        "--format": (PRIVATIZED, "csv", "lines"),
        "--delimiter": (PRIVATIZED, "comma", "semicolon"),
        "--text-encoding": (PRIVATIZED, "utf-8", "utf-16"),
        "--no-header": (f"survey.json bare-answers.csv --columns 1,2 --seed 1 --out {WRITTEN}", None, ""),
        "--seed": (f"survey.json answers.csv --out {WRITTEN}", "1", "2"),
    },
    "survey tally": {
        "survey": ("", "survey.json some-survey.bin", "tables.json some-survey.bin"),
        "files": ("survey.json", "some-survey.bin", "more-survey.bin"),
    },
    "survey estimate": {
        "survey": ("", "survey.json some-survey.bin", "tables.json some-survey.bin"),
        "files": ("survey.json", "some-survey.bin", "more-survey.bin"),
        "--level": ("survey.json some-survey.bin", "0.9", "0.99"),
        "--target": ("survey.json some-survey.bin", "reporters", "population"),
        "--simultaneous": ("survey.json some-survey.bin", None, ""),
    },
    "survey simulate": {
        "survey": ("--n 300 --runs 2", "survey.json", "tables.json"),
        "--n": ("survey.json --runs 2", "300", "600"),
        "--runs": ("survey.json --n 300", "2", "3"),
        "--seed": ("survey.json --n 300 --runs 2", "1", "2"),
        "--data": ("survey.json --runs 2", "answers.csv", "more-answers.csv"),
        "--columns": ("survey.json --runs 2 --data answers.csv", "a,b", "a,c"),
    },
    "survey table": {
        "survey": ("--of a,b", "tables.json some-tables.bin", "survey.json some-tables.bin"),
        "files": ("--of a,b tables.json", "some-tables.bin", "more-tables.bin"),
        "--of": ("tables.json some-tables.bin", "a,b", "b,a"),
        "--level": ("tables.json some-tables.bin --of a,b", "0.9", "0.99"),
    },
    "plan": {
        "--k": ("--n 10000 --epsilon 1", "4", "40"),
        "--labels": ("--n 10000 --epsilon 1", "a,b", "a,b,c"),
        "--labels-file": ("--n 10000 --epsilon 1", "two.txt", "three.txt"),
        "--n": ("--k 16 --epsilon 1", "1000", "2000"),
        "--epsilon": ("--k 16 --n 10000", "1", "2"),
        "--target-error": (PEOPLE, "0.02", "0.2"),
        "--max-asr": (PEOPLE, "0.12", "0.9"),
        "--max-bits": (PEOPLE, "8", "64"),
        "--max-bytes": (PEOPLE, "1", "64"),
        "--max-work": (PEOPLE, "2", "1e9"),
        "--max-poisoning": (PEOPLE, "0.05", "9"),
        "--targets": (PEOPLE, "1", "8"),
        "--weight": (PEOPLE, "0.1", "0.9"),
        "--weights": (PEOPLE, "error=1", "bits=1"),
        "--sensitive": (PEOPLE, "4", "8"),
        "--top": (PEOPLE, "1", "3"),
        "--question": ("--n 10000 --epsilon 1 --k 16", "frequency", "key-value"),
        "--length": ("--question key-value --n 10000 --epsilon 1 --k 16", "1", "3"),
        "--interest": ("--question key-value --n 10000 --epsilon 1 --k 16", "0.1", "9"),
        "--points": ("--question release --epsilon 1", "8", "9"),
        "--interval": ("--question mean --epsilon 1 --n 1000", "0,1", "0,2"),
        "--distances": ("--question release --epsilon 1", "near.csv", "far.csv"),
        "--promise": ("--n 1000", "line.json", "even.json"),
    },
    "tally": {
        "files": ("", "one.bin", "two.bin"),
        "--design": ("reports.csv --strict", None, "design.json"),
        "--strict": ("some.csv --design design.json", None, ""),
    },
    "estimate": {
        "files": ("", "one.bin", "two.bin"),
        "--level": ("one.bin", "0.9", "0.99"),
        "--target": ("one.bin", "reporters", "population"),
        "--simultaneous": ("one.bin", None, ""),
        "--project": ("one.bin", None, ""),
        "--method": ("one.bin", "unbiased", "em"),
        "--shrink": ("pairs.bin", "1", "3"),
        "--top": ("one.bin", "1", "2"),
        "--range": ("ordered.bin", "a,b", "b,d"),
        "--quantile": ("ordered.bin", "0.25", "0.75"),
        "--cdf": ("ordered.bin", None, ""),
        "--design": ("reports.csv --strict", None, "design.json"),
        "--strict": ("some.csv --design design.json", None, ""),
    },
    "simulate": {
        "--data": ("grr --epsilon 1 --k 8 --n 500 --runs 2", "uniform", "zipf:2"),
        "--n": ("grr --epsilon 1 --k 8 --data zipf:2 --runs 2", "500", "600"),
        "--runs": ("grr --epsilon 1 --k 8 --data zipf:2 --n 500", "2", "3"),
        "--seed": ("grr --epsilon 1 --k 8 --data zipf:2 --n 500 --runs 2", "1", "2"),
        "--level": ("grr --epsilon 1 --k 8 --data zipf:2 --n 500 --runs 2", "0.5", "0.99"),
        "--project": ("grr --epsilon 1 --k 8 --data zipf:2 --n 500 --runs 2", None, ""),
        "--column": (f"{GRR} --data columns.csv --runs 2", "first", "second"),
        "--format": (
            f"{GRR} --missing d --other d --data lines.csv --runs 2",
            "csv",
            "lines",
        ),
        "--delimiter": (f"{GRR} --other d --data semi.csv --runs 2", "comma", "semicolon"),
        "--text-encoding": (
            "grr --epsilon 1 --labels \u00e4,b --other b --data latin.csv --runs 2",
            "latin-1",
            "cp437",
        ),
        "--no-header": (f"{GRR} --data bare.csv --runs 2", None, ""),
        "--columns": (
            f"{PAIRS} --data pairs.csv --runs 2",
            "user,key,value",
            "user,key,other",
        ),
        "--duplicates": ("privkv --epsilon 4 --labels a,b --data twice.csv --runs 2", "refuse", "first"),
        "--compression": (f"{GRR} --other d --data packed.csv --runs 2", "gzip", "none"),
    },
    "study": {
        "names": ("--k 4 --n 200 --runs 1 --epsilons 1", "grr", "ss"),
        "--k": ("grr --n 200 --runs 1 --epsilons 1", "4", "5"),
        "--labels": ("grr --n 200 --runs 1 --epsilons 1", "a,b", "a,b,c"),
        "--labels-file": ("grr --n 200 --runs 1 --epsilons 1", "two.txt", "three.txt"),
        "--missing": ("grr --labels a,b,c,d --data values.csv --runs 1 --epsilons 1", "a", "e"),
        "--other": ("grr --labels a,b,c --data values.csv --runs 1 --epsilons 1", "a", "b"),
        "--epsilons": ("grr --k 4 --n 200 --runs 1", "1", "1,2"),
        "--data": ("grr --k 4 --n 200 --runs 1 --epsilons 1", "uniform", "zipf:2"),
        "--n": ("grr --k 4 --runs 1 --epsilons 1", "200", "300"),
        "--metrics": ("grr --k 4 --n 200 --runs 1 --epsilons 1", "mse", "mae"),
        "--runs": ("grr --k 4 --n 200 --epsilons 1", "1", "2"),
        "--seed": ("grr --k 4 --n 200 --runs 1 --epsilons 1", "1", "2"),
        "--every": ("grr --k 4 --n 200 --runs 2 --epsilons 1 --out written.csv --force", None, ""),
    },
    "compare": {
        "names": ("--epsilon 1 --k 4", "grr", "ss"),
        "--epsilon": ("grr --k 4", "1", "2"),
        "--k": ("grr --epsilon 1", "4", "5"),
        "--labels": ("grr --epsilon 1", "a,b", "a,b,c"),
        "--labels-file": ("grr --epsilon 1", "two.txt", "three.txt"),
        "--n": ("grr --epsilon 1 --k 4", "100", "200"),
    },
    "verify": {
        "file": ("", "design.json", "other.json"),
        "--diff": ("design.json", "design.json", "other.json"),
    },
    "conformance": {
        "command": (f"--only hash --vectors {VECTORS}", "cat", "false"),
        "--only": (f"cat --vectors {VECTORS}", "packing", "hash"),
        "--kernels": (f"cat --only promise --vectors {VECTORS}", "response", "unary"),
        "--vectors": ("cat --only hash", VECTORS, "none"),
        "--seconds": (f"cat --only hash --vectors {VECTORS}", "9", "0"),
    },
    "attack": {
        "--prior": ("grr --epsilon 1 --k 8 --reports 2000 --seed 1", "uniform", "zipf:2"),
        "--tuned": ("grr --epsilon 1 --k 8 --reports 2000 --seed 1 --prior zipf:2", None, ""),
        "--target": (
            "pldp --base grr --k 4 --levels 0.5,1 --level-epsilon 1 --reports 2000 --seed 1",
            "value",
            "level",
        ),
        "--reports": ("oue --epsilon 1 --k 8 --seed 1", "1000", "2000"),
        "--seed": ("oue --epsilon 1 --k 8 --reports 2000", "1", "2"),
    },
    "audit": {
        "--promise": ("grr --epsilon 1 --k 3", "0.9", "1.5"),
        "--fakes": ("rsrfd --epsilon 1", "0.5,0.5;0.5,0.5", "0.9,0.1;0.9,0.1"),
    },
    "task new": {
        name: (ASKED, *values)
        for name, values in {
            "--min-batch": ("50", "60"),
            "--opens": ("2027-01-01", "2027-01-02"),
            "--window-days": ("3", "4"),
            "--windows": ("1", "2"),
            "--retention": ("tally", "reports"),
            "--subject": ("sleep", "health"),
            "--strata": ("country=DE,FR", "country=DE,IT"),
            "--url": ("https://a.example", "https://b.example"),
            "--language": ("en", "de"),
            "--budget": ("2", "3"),
            "--collector": ("Ann", "Bob"),
            "--none": ("a", "b"),
        }.items()
    }
    | {
        "--design": ("--question Which? --database sqlite:///t.db", "design.json", "other.json"),
        "--question": ("--design design.json --database sqlite:///t.db", "Which?", "Who?"),
        "--share": (f"{ASKED} --share 1 --design other.json --question Who?", "1", "3"),
        "--retention-days": (f"{ASKED} --retention reports", "5", "6"),
        "--from": ("--database sqlite:///t.db", "asked.json", "sixty.json"),
        "--survey": ("--question Do? --question How? --database sqlite:///t.db", "survey.json", "tables.json"),
    },
}

WHY_NOT: Mapping[str, str] = {
    "--json": "the form of the output",
    "--force": "whether a file is replaced: tests/cli/test_nothing_is_lost.py",
    "--out": "where the output goes: tests/cli/test_nothing_is_lost.py",
    "--chart": "draws beside the numbers: tests/cli: test_plan.py, test_promises.py, test_pipeline.py",
    "--chart-means": "draws beside the numbers: tests/cli/test_keyvalue.py",
    "--chart-order": "draws beside the numbers: tests/cli/test_pipeline.py",
    "--engine": "the same numbers by another engine: tests/spark",
    "--master": "where Spark runs: tests/spark",
    "--database": "where tasks are: tests/cli/test_service.py",
    "--config": "settings of the service: tests/service/test_settings.py",
    "--resume": "where a study keeps what is done: tests/run/test_sweep.py",
    "--workers": "the same numbers by several processes: tests/run/test_sweep.py",
    "name": "which mechanism: all tests of commands",
}
ELSEWHERE: Mapping[str, str] = {
    "privatize": "its options are those of `design` and `simulate`; reports: tests/cli/test_pipeline.py",
    "release": "tests/cli/test_release.py",
    "reproduce": "tests/papers",
    "serve": "one setting each: tests/service/test_settings.py",
    "demo": "tests/pages/test_demo.py",
    "mechanisms": "has no options of its own",
    "task next": "its options are those of `design` and `task new`",
    "task questionnaire": "tests/questionnaire/test_commands.py",
    "task list": "has no options of its own",
    "task show": "one argument: tests/cli/test_service.py",
    "task open": "one argument: tests/cli/test_service.py",
    "task close": "one argument: tests/cli/test_service.py",
    "task export": "tests/cli/test_service.py, tests/service/test_export.py",
    "key": "tests/cli/test_service.py",
    "store": "tests/cli/test_service_store.py",
}


def commands() -> Iterator[tuple[str, list[str]]]:
    """Every command with its options and arguments."""

    def walk(command: Any, path: list[str]) -> Iterator[tuple[str, list[str]]]:
        if hasattr(command, "commands"):
            for name, inner in command.commands.items():
                yield from walk(inner, [*path, name])
        else:
            yield " ".join(path), [parameter.opts[-1] for parameter in command.params]

    app = build()
    yield from walk(app if hasattr(app, "commands") else typer.main.get_command(app), [])


def tried(command: str) -> set[str]:
    found = set(COMMANDS.get(command, {})) | set(WHY_NOT)
    return found | set(DESIGN) if command in ("design", "simulate", "attack", "audit") else found


def test_every_option_is_tried_or_excused() -> None:
    """A new option without an entry here fails; so does an entry for an option that is gone."""
    known = dict(commands())
    left_out = {
        f"{command} {option}"
        for command, options in known.items()
        if not any(command == name or command.startswith(f"{name} ") for name in ELSEWHERE)
        for option in options
        if option not in tried(command)
    }
    assert left_out == set()
    gone = {
        f"{command} {option}" for command, cases in COMMANDS.items() for option in cases if option not in known[command]
    }
    gone |= {option for option in DESIGN if option not in known["design"]}
    assert gone == set()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the commands above read."""
    folder = tmp_path_factory.mktemp("options")
    texts = {
        "two.txt": "a\nb\n",
        "three.txt": "a\nb\nc\n",
        "near.csv": "label,latitude,longitude\na,0.1,0.2\nb,0.3,0.1\nc,0.4,0.5\n",
        "far.csv": "label,latitude,longitude\na,0.1,0.2\nb,0.3,0.1\nc,9.4,0.5\n",
        "values.csv": "answer\n" + "a\nb\nc\nd\n" * 20,
        "others.csv": "answer\n" + "a\na\nb\nd\n" * 20,
        "columns.csv": "first,second\n" + "a,b\na,c\n" * 20,
        "lines.csv": "a\n" + "b\nc\n" * 20,
        "semi.csv": "answer;more\n" + "a;b\n" * 20,
        "bare.csv": "a\n" + "b\nc\n" * 20,
        "pairs.csv": "user,key,value,other\n" + "".join(f"u{i},{'abcd'[i % 4]},0.5,-0.5\n" for i in range(40)),
        "line.json": '{"points": [0, 1, 2], "epsilon": 0.5}',
        "even.json": '{"k": 3, "epsilon": 0.5}',
        "numbers.txt": "0\n1\n2\n",
        "squares.txt": "0\n1\n4\n",
        "fair.csv": "3,1\n1,3\n",
        "unfair.csv": "4,2\n3,3\n",
        "asked.json": '{"questions": {"a": {"k": 2}}}',
        "asked-more.json": '{"questions": {"a": {"k": 2}, "b": {"k": 3}}}',
        "answers.csv": "a,b,c,part,other\n" + "0,1,1,0,1\n1,2,0,1,0\n" * 20,
        "bare-answers.csv": "0,1\n1,2\n" * 20,
        "more-answers.csv": "a,b\n" + "0,1\n1,0\n" * 30,
        "twice.csv": "user,key,value\n" + "".join(f"u{i // 2},a,{i % 2}\n" for i in range(40)),
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
    (folder / "latin.csv").write_bytes(("answer\n" + "\u00e4\nb\n" * 20).encode("latin-1"))
    (folder / "packed.csv").write_bytes(gzip.compress(texts["values.csv"].encode()))
    m = dn.mechanism("grr", epsilon=1.0, labels=list("abcd"))
    (folder / "design.json").write_text(json.dumps(m.design))
    own = ["--epsilon", "1", "--labels", "a,b,c,d", "--seed", "1"]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name, values, out in (
            ("grr", "values.csv", "one.bin"),
            ("grr", "others.csv", "two.bin"),
            ("kv-ss", "pairs.csv", "pairs.bin"),
            ("tree", "values.csv", "ordered.bin"),
        ):
            assert main(["privatize", name, *own, values, "--out", out]) == 0
        asked = ["--question", "a=2", "--question", "b=3", "--epsilon", "1"]
        for survey, tables in (("survey", []), ("tables", ["--tables", "a:b"])):
            assert main(["survey", "design", *asked, *tables, "--out", f"{survey}.json"]) == 0
            for which, values in (("some", "answers.csv"), ("more", "more-answers.csv")):
                to = ["--seed", "1", "--out", f"{which}-{survey}.bin"]
                assert main(["survey", "privatize", f"{survey}.json", values, *to]) == 0
    lines = ["report", *(b64encode(bytes([i % 4])).decode() for i in range(20))]
    (folder / "reports.csv").write_text("\n".join(lines) + "\n")
    (folder / "some.csv").write_text("\n".join([*lines, "!!!"]) + "\n")
    head = {"questionnaire": 1, "title": "Exams", "who": "Uni Bern", "why": "To plan.", "people": 2000}
    item = {"kind": "yes-no", "text": "Did you?"}
    for name, more in (("asked", {}), ("sixty", {"people": 60})):
        (folder / f"{name}.json").write_text(json.dumps(head | more | {"questions": [item]}))
    (folder / "other.json").write_text(json.dumps(dn.mechanism("grr", epsilon=1.0, labels=list("abc")).design))
    return folder


CASES = [("design", option, case) for option, case in DESIGN.items()]
CASES += [(command, option, case) for command, cases in COMMANDS.items() for option, case in cases.items()]


@pytest.mark.parametrize(("command", "option", "case"), CASES, ids=[f"{c} {o}" for c, o, _ in CASES])
def test_two_values_of_an_option_give_two_outputs(
    command: str, option: str, case: Case, made: Path, run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(made)
    before, *values = case
    told = []
    for value in values:
        (made / WRITTEN).unlink(missing_ok=True)
        words = [*command.split(), *before.split()]
        if value is not None:
            words += value.split() if not option.startswith("-") else [option] if value == "" else [option, value]
        done = run(*words, "--json")
        written = (made / WRITTEN).read_bytes() if (made / WRITTEN).exists() else b""
        told.append((done.code, done.out or done.err, written))
        assert done.code in (0, 1, 2)
    codes = [code for code, *_ in told]
    assert 0 in codes or 1 in codes, told
    (first, second) = (
        {**json.loads(out), "written": written} if code < 2 else {"refused": out} for code, out, written in told
    )
    for each in (first, second):
        _without_names(each)
    assert first != second


def _without_names(found: dict[str, Any]) -> None:
    """What says how something was asked, not what came out."""
    for name in ("id", "signature", "seconds", "data", "prior", "seed"):
        found.pop(name, None)
