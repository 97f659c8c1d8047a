"""`deniable conformance`: our JavaScript client is taken as a program; faults in it and bad manners are not."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from deniable.errors import ParameterError
from deniable.testing.clients import SETS, Told, ask_all, kinds_of, questions_of, vectors_in

ROOT = Path(__file__).resolve().parents[2]
VECTORS = vectors_in(ROOT / "clients/vectors")
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js 18 or newer")


def told_by(command: str, *names: str, seconds: float = 60) -> dict[str, Told]:
    return {told.name: told for told in ask_all(command, VECTORS, names, seconds=seconds)}


def client(folder: Path = ROOT / "clients/js") -> str:
    return shlex.join(["node", str(folder / "conformance.js")])


def program(text: str) -> str:
    return shlex.join([sys.executable, "-c", text])


def test_all_files_of_vectors_are_asked_about() -> None:
    asked = {name: sum(1 for _ in questions_of(VECTORS, name)) for name in SETS}
    assert min(asked.values()) > 5
    assert sum(asked.values()) > 7_000
    kinds = {q.ask["kernel"]["kind"] for name in ("kernels", "dealt") for q in questions_of(VECTORS, name)}
    assert len(kinds) > 30


@needs_node
def test_our_client_is_taken(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    done = run("conformance", client(), "--only", "packing,hash,promise,dealt")
    assert done.code == 0, done.out
    assert "The client keeps to the vectors." in done.out
    assert done.out.count("held") == 4


@needs_node
@pytest.mark.slow
def test_our_client_answers_all_questions() -> None:
    told = told_by(client())
    assert list(told) == list(SETS)
    assert [each for each in told.values() if not each.holds] == []


FAULTS = [
    ("exact.js", "words.word() < threshold", "words.word() <= threshold", "kernels"),
    ("exact.js", ">= size % n", "> size % n", "kernels"),
    ("hashing.js", "0x846ca68b", "0x846ca68d", "hash"),
    ("dealing.js", "(drawn -= share) < 0n", "(drawn -= share) <= 0n", "dealt"),
    ("kernels/dealt.js", "isNumber(part.epsilon) && part.epsilon > epsilon", "false", "designs"),
    ("memory.js", 'this.digest("id", {', 'this.digest("ids", {', "reports"),
]
"""A fault in a copy of the client, and the set of questions that meets it."""


@needs_node
@pytest.mark.slow
@pytest.mark.parametrize(("name", "right", "wrong", "where"), FAULTS, ids=[f"{r[0]}-{i}" for i, r in enumerate(FAULTS)])
def test_a_planted_fault_is_rejected(name: str, right: str, wrong: str, where: str, tmp_path: Path) -> None:
    copy = tmp_path / "js"
    shutil.copytree(ROOT / "clients/js", copy, ignore=shutil.ignore_patterns("test"))
    source = copy / "src" / name
    text = source.read_text()
    assert right in text
    source.write_text(text.replace(right, wrong))
    told = told_by(client(copy), where)[where]
    assert not told.holds
    assert told.wrong
    assert told.unsupported == 0


# ---- programs without manners


def test_a_client_that_ends_is_told_with_its_last_words() -> None:
    with pytest.raises(ParameterError, match=r"the client ended with code 3\. Its last words: out of luck"):
        told_by(program("import sys; sys.stderr.write('out of luck\\n'); sys.exit(3)"), "hash")


def test_a_client_that_hangs_is_not_waited_for() -> None:
    with pytest.raises(ParameterError, match=r"the client said nothing for 0\.3 seconds"):
        told_by(program("import time; time.sleep(60)"), "hash", seconds=0.3)


def test_a_client_that_cannot_be_run() -> None:
    with pytest.raises(ParameterError, match=r"command \"no-such-client\" cannot be run"):
        told_by("no-such-client", "hash")
    with pytest.raises(ParameterError, match="command must be a program and its arguments"):
        told_by(" ", "hash")


ANSWERS = {
    "no JSON": "'no'",
    "no object": "'[]'",
    "another question's": "json.dumps({'n': 0, 'hash': 0, 'buckets': []})",
    "nothing of it": "json.dumps({'n': n})",
    "a truth value for a number": "json.dumps({'n': n, 'bytes': 'ff', 'width': True})",
}


@pytest.mark.parametrize("what", ANSWERS)
def test_answers_that_are_none_are_wrong(what: str) -> None:
    lines = "import json, sys\nfor line in sys.stdin:\n    n = json.loads(line)['n']\n"
    told = told_by(program(f"{lines}    print({ANSWERS[what]}, flush=True)"), "packing")["packing"]
    assert (told.asked, told.right, told.unsupported, len(told.wrong)) == (13, 0, 0, 3)


@pytest.mark.parametrize(("more", "shift", "right"), [("", 0, 13), ("'error': 'x', ", 0, 0), ("", 1, 0)])
def test_right_results_count_under_their_number_and_without_an_error(more: str, shift: int, right: int) -> None:
    text = f"""
import json, sys
file = json.load(open({str(ROOT / "clients/vectors/packing.json")!r}))
rows = [*file["bits"], *file["integers"]]
for line, row in zip(sys.stdin, rows):
    print(json.dumps({{{more}'n': json.loads(line)['n'] + {shift}, **row}}), flush=True)
"""
    told = told_by(program(text), "packing")["packing"]
    assert (told.right, told.holds) == (right, right == 13)


def test_what_is_unsupported_is_said_and_does_not_hold(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    lines = "import json, sys\nfor line in sys.stdin:\n    n = json.loads(line)['n']\n"
    command = program(f"{lines}    print(json.dumps({{'n': n, 'error': 'unsupported'}}), flush=True)")
    done = run("conformance", command, "--only", "packing")
    assert done.code == 1
    assert "Not there (answered unsupported): packing." in done.out


def test_a_client_of_one_kernel_is_asked_about_that_one() -> None:
    """Questions that are about no kernel stay, and a kernel that is made of others is asked about with all of them."""
    for name in ("packing", "promise", "kernels"):
        asked = list(questions_of(VECTORS, name, ["response"]))
        kept = [each for each in questions_of(VECTORS, name) if kinds_of(each) <= {"response"}]
        assert asked == kept
        assert len(asked) > 10
    inner = [kinds_of(each) for each in questions_of(VECTORS, "kernels", ["response", "personal"])]
    assert {"response", "personal"} in inner
    assert not [each for each in inner if "affine" in each or not each]


def test_a_client_that_never_stops_writing_fills_nothing() -> None:
    told = told_by(program("while True: print('yes')"), "packing")["packing"]
    assert told.right == 0


def test_wrong_choices_are_told(run: Any, tmp_path: Path) -> None:
    for words, said in (
        (("cat", "--only", "hashes"), "--only"),
        (("cat", "--vectors", str(tmp_path)), "vectors must be a folder with the test vectors"),
        (("cat", "--seconds", "0"), "--seconds"),
        (("cat", "--kernels", "responses", "--vectors", str(ROOT / "clients/vectors")), "--kernels"),
    ):
        done = run("conformance", *words)
        assert done.code == 2
        assert said in done.err


def test_questions_and_answers_on_the_page_are_right() -> None:
    """Lines that the page shows are asked so, and the answers it shows are the right ones."""
    page = (ROOT / "docs/howto/conformance.md").read_text("utf-8")
    lines = [json.loads(line) for line in re.findall(r"^\{\"n\".*\}$", page, re.MULTILINE)]
    questions = [line for line in lines if "do" in line]
    answers = {json.dumps(line["n"]): line for line in lines if "do" not in line}
    assert len(questions) >= 2
    for question in questions:
        number, asked = question["n"], {key: part for key, part in question.items() if key != "n"}
        wanted = [
            each.want for name in ("hash", "kernels") for each in questions_of(VECTORS, name) if each.ask == asked
        ]
        assert {key: part for key, part in answers[json.dumps(number)].items() if key != "n"} in wanted
