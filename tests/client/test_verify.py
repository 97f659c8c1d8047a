"""What anybody can check of a file: ids recomputed, promises proved, damage found; with the standard library alone."""

from __future__ import annotations

import base64
import io
import json
import math
import os
import struct
import subprocess
import sys
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

import deniable as dn
from deniable_client.checking import changes, verify, verify_place, verify_places
from deniable_client.checking.binary import read_binary
from deniable_client.command import main
from deniable_client.errors import FormatError, ParameterError
from tasks import GRR, asked, document, sealed

SS = dn.mechanism("ss", epsilon=1.0, labels=["a", "b", "c", "d"])


def put(path: Path, content: Any) -> str:
    """A file with these bytes, or this document."""
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content, indent=2).encode())
    return str(path)


def test_designs_are_proved() -> None:
    found = verify(json.dumps(SS.design).encode())
    assert (found.kind, found.holds) == ("design", True)
    assert found.facts["epsilon_exact"] == SS.epsilon_exact
    assert found.facts["ratio"] == f"{SS.proof.ratio.numerator}/{SS.proof.ratio.denominator}"  # type: ignore[union-attr]
    assert "Its promise is proved" in found.lines[1]
    broken = verify(json.dumps({**SS.design, "epsilon": 0.5}).encode())
    assert not broken.holds
    assert broken.facts["error"] == "PrivacyError"
    assert "promises epsilon 0.5" in broken.lines[1]


@pytest.mark.parametrize("task", [document(), asked()], ids=["version 1", "signed"])
def test_tasks_have_their_ids_recomputed(task: dict[str, Any]) -> None:
    found = verify(json.dumps(task).encode(), expect=task["id"])
    assert (found.kind, found.holds, found.facts["id"]) == ("task", True, task["id"])
    assert found.facts["signed"] == (task["version"] == 2)
    assert verify(json.dumps({"task": task, "id": task["id"]}).encode()).holds  # as `task new --json` prints it
    altered = verify(json.dumps({**task, "min_batch": 11}).encode())
    assert not altered.holds
    assert "the task was altered" in altered.lines[1]
    assert not verify(json.dumps(task).encode(), expect="0" * 64).holds


def test_a_task_that_leaks_does_not_hold() -> None:
    leaking = {**GRR, "kernel": {**GRR["kernel"], "keep": "18000000000000000000"}}
    task = sealed(document(questions=[{"name": "q", "text": "Tired?", "design": leaking, "share": 1}]))
    found = verify(json.dumps(task).encode())
    assert not found.holds
    assert found.facts["error"] == "PrivacyError"


def files() -> dict[str, bytes]:
    reports = SS.privatize(["a", "b", "c"] * 40, rng=dn.simulation(1))
    return {"reports": dn.dump(reports), "tally": dn.dump(SS.tally(reports))}


@pytest.mark.parametrize("kind", ["reports", "tally"])
def test_report_and_tally_files(kind: str) -> None:
    data = files()[kind]
    found = verify(data)
    assert (found.kind, found.holds, found.facts["reports"]) == (kind, True, 120)
    assert "SIMULATED" in found.lines[0]
    places = {5: data[:5], len(data) - 3: data[:-3]}
    cut = [verify(part) for part in places.values()]
    assert [(each.holds, "ends within" in each.lines[1]) for each in cut] == [(False, True)] * 2
    for at in (12, len(data) // 2, len(data) - 15):
        damaged = bytearray(data)
        damaged[at] ^= 1
        assert not verify(bytes(damaged)).holds, at
    assert not verify(data + b"x").holds


@pytest.mark.parametrize("kind", ["reports", "tally"])
def test_no_bit_of_a_file_can_be_changed(kind: str) -> None:
    """All files that differ in one bit from a small one, all that end too early, and what is longer by a byte."""
    reports = SS.privatize(["a", "b", "c"], rng=dn.simulation(1))
    data = dn.dump(reports) if kind == "reports" else dn.dump(SS.tally(reports))
    magic = data[:4]
    assert read_binary(magic, io.BytesIO(data[4:])).n == 3
    for place in range(32, 8 * len(data)):
        changed = bytearray(data)
        changed[place // 8] ^= 1 << place % 8
        with pytest.raises(FormatError):
            read_binary(magic, io.BytesIO(changed[4:]))
    for other in (*(data[:end] for end in range(4, len(data))), data + b"\0"):
        with pytest.raises(FormatError):
            read_binary(magic, io.BytesIO(other[4:]))


def packed(header: dict[str, Any], rest: bytes) -> bytes:
    """A file behind its first four bytes, whose header fits its check sum."""
    text = json.dumps(header).encode()
    return b"\x01" + struct.pack("<I", len(text)) + text + struct.pack("<I", zlib.crc32(text)) + rest


def test_counts_of_a_file_are_those_of_what_is_in_it() -> None:
    """Check sums that fit do not help: what a block, an end mark or a cell says is counted again."""
    head = {"design": {}, "simulated": False}
    fields = head | {"fields": [["a", "u", 1], ["b", "u", 2]]}

    def block(n: int, data: bytes) -> bytes:
        return struct.pack("<II", n, zlib.crc32(data)) + data

    def end(total: int, crc: int = 0) -> bytes:
        return struct.pack("<IIQ", 0, crc, total)

    both = block(2, b"abcdef") + block(1, b"xyz")
    assert read_binary(b"DNRP", io.BytesIO(packed(fields, both + end(3)))).n == 3
    for rest in (both + end(2), both + end(3, 1), both[:-1] + end(3), block((1 << 30) // 3 + 1, b"") + end(0)):
        with pytest.raises(FormatError):
            read_binary(b"DNRP", io.BytesIO(packed(fields, rest)))
    for odd in ([], [["a", "u"]], [["a", "u", 0]], [["a", "u", True]], [["a", "u", 1 << 32]], [[1, "u", 1]], "a", None):
        with pytest.raises(FormatError, match="fields are not well formed"):
            read_binary(b"DNRP", io.BytesIO(packed(head | {"fields": odd}, end(0))))

    def tally(cells: Any, *counts: int) -> Any:
        data = struct.pack(f"<{len(counts)}q", *counts)
        rest = data + struct.pack("<I", zlib.crc32(data))
        return read_binary(b"DNTL", io.BytesIO(packed(head | {"cells": cells}, rest))).n

    assert tally([["x", [2]], ["n", [2]], ["y", [1, 1]]], 5, 6, 3, 4, 9) == 7
    assert tally([["n", [0]]]) == 0
    for cells, counts in (
        ([["x", [1]]], [1]),
        ([["n", [1]]], [-1]),
        ([["n", [2]]], [5, -1]),
        ([], []),
        ([["n", [1 << 22, 2]], ["m", [1]]], []),
        ([["n", [1, 1, 1]]], [1]),
        ([["n", [-1]]], []),
        ([["n", [True]]], [1]),
        ([["n", 1]], [1]),
    ):
        with pytest.raises(FormatError, match=r"cells|fewer than no|needs the cell n"):
            tally(cells, *counts)


def test_no_more_is_read_than_a_file_may_have() -> None:
    huge = verify(b"DNRP\x01\xff\xff\xff\xff")
    assert not huge.holds
    assert "4,294,967,295 bytes" in huge.lines[1]
    with pytest.raises(FormatError, match="more than 16777216"):
        verify(b" " * ((1 << 24) + 1))


@pytest.mark.parametrize("data", [b"", b"a,b\n", b"[1]", b'{"a": 1}', b'{"a": 1, "a": 2}', b'{"a": NaN}', b"\xff\xfe"])
def test_what_is_no_file_of_ours_is_told(data: bytes) -> None:
    with pytest.raises(FormatError):
        verify(data)


def test_certificates_agree_with_themselves() -> None:
    ratio = SS.proof.ratio
    assert ratio is not None
    made = {"ratio": f"{ratio.numerator}/{ratio.denominator}", "epsilon": 1.0, "epsilon_exact": SS.epsilon_exact}
    made |= {"witness": "Pr[..]", "task": "0" * 64}
    found = verify(json.dumps(made).encode())
    assert (found.kind, found.holds, found.facts["proved"]) == ("certificate", True, False)
    for wrong in ({"epsilon": 0.9}, {"epsilon_exact": 0.9}, {"ratio": "1/2"}, {"ratio": "1/0"}, {"epsilon": True}):
        assert not verify(json.dumps({**made, **wrong}).encode()).holds, wrong
    for huge in ("1e999999999", "1E+99999", "1" * 5000, "1_0", "3 / 2", "inf"):  # a few bytes that fill the memory
        found = verify(json.dumps({**made, "ratio": huge}).encode())
        assert "ratio of a certificate must be a fraction" in found.lines[1], huge


def released() -> dict[str, Any]:
    """What a collector publishes of a window, with one question whose number of reports is too small."""
    data = files()["tally"]
    proved = {**verify(data).facts, "task": "0" * 64}
    shown = {"question": "q", "state": "published", "reports": 120, "privacy": proved}
    held = {"question": "r", "state": "withheld", "reports": 2, "why": "too few"}
    shown["tally"] = base64.b64encode(data).decode()
    return {"window": 0, "state": "closed", "task": "0" * 64, "reports": 122, "questions": [shown, held]}


def test_every_number_of_a_release_is_held_against_its_tallies() -> None:
    """Reports of each question and of all, what is certified, and the tally itself: each changed alone is noticed."""
    made = released()
    found = verify(json.dumps(made).encode())
    assert (found.holds, found.facts) == (True, {"task": "0" * 64, "window": 0, "reports": 122})
    assert [line.partition(":")[0] for line in found.lines[1:]] == ["'q'", "'r'"]
    shown, held = made["questions"]
    exact, ratio = shown["privacy"]["epsilon_exact"], shown["privacy"]["ratio"]
    wrong = {
        "mechanism": ["grr", None],
        "epsilon": [1.5, None],
        "epsilon_exact": [math.nextafter(exact, 2), math.nextafter(exact, 0), None],
        "ratio": [f"1{ratio}", None],
    }
    changed = [shown | {"privacy": shown["privacy"] | {part: own}} for part, each in wrong.items() for own in each]
    changed += [shown | {"privacy": None}, shown | {"reports": 121}, shown | {"reports": None}]
    changed += [shown | {"tally": tally} for tally in (None, "!", base64.b64encode(files()["reports"]).decode())]
    releases = [made | {"questions": [each, held]} for each in changed]
    releases += [made | {"questions": [shown]}, made | {"questions": [shown, held | {"reports": 3}]}]
    releases += [made | {"reports": total} for total in (120, 121, 123, None)]
    releases += [made | {"questions": [shown | {"reports": own}, held], "reports": own + 2} for own in (0, 119, 121)]
    releases += [made | {"questions": each} for each in ([shown, "r"], {"q": shown})]
    for each in releases:
        assert not verify(json.dumps(each).encode()).holds
    without = {name: part for name, part in shown.items() if name != "tally"}
    told = verify(json.dumps(made | {"questions": [without, held]}).encode())
    assert (told.holds, "agrees with itself" in told.lines[1]) == (True, True)
    for part in ("ratio", "epsilon", "epsilon_exact"):
        lacking = {name: own for name, own in shown["privacy"].items() if name != part}
        assert not verify(json.dumps(made | {"questions": [without | {"privacy": lacking}, held]}).encode()).holds
    both = {"task": "0" * 64, "windows": [made, {"document": made}, {"window": 2, "state": "open"}]}
    assert verify(json.dumps(both).encode()).facts == {"windows": 2}
    both["windows"][1] = {"document": made | {"reports": 1}}  # type: ignore[index]
    assert not verify(json.dumps(both).encode()).holds
    assert not verify(json.dumps({"windows": [{"window": 2, "state": "open"}]}).encode()).holds


def test_what_stands_beside_a_design_is_not_taken_for_verified() -> None:
    printed = {"design": SS.design, "epsilon": 1.0, "mechanism": "ss", "mse": 0.1}  # as `design --json` prints it
    found = verify(json.dumps(printed).encode())
    assert found.holds
    assert found.lines[-1] == "Only the design was verified, not what stands beside it: ['mse']."
    for wrong in ({"epsilon": 0.1}, {"mechanism": "grr"}, {"epsilon_exact": 0.1}, {"id": "0" * 64}):
        told = verify(json.dumps(printed | wrong).encode())
        (name,) = wrong
        assert not told.holds, wrong
        assert f"the file says {name}" in told.lines[1]
    task = document()
    lacking = {name: part for name, part in task.items() if name != "questions"} | {"design": SS.design}
    with pytest.raises(FormatError, match="none of what can be verified"):
        verify(json.dumps(lacking).encode())
    signed = {name: part for name, part in asked().items() if name != "questions"}
    assert "questions is missing" in verify(json.dumps(signed).encode()).lines[1]


def test_what_changed_between_two_tasks(tmp_path: Path) -> None:
    one = put(tmp_path / "one.json", document())
    two = put(tmp_path / "two.json", document(min_batch=20, budget={"task": 2, "subject": 4, "lifetime": 9}))
    told, lines, same = verify_places(one, two)
    assert not same
    assert [each["where"] for each in told["changes"]] == ["min_batch", "budget.lifetime", "id"]
    assert "  min_batch: 10 became 20" in lines
    assert verify_places(one, one)[1:] == (
        [verify_place(one).lines[0]] * 2 + ["Nothing changed."],
        True,
    )
    with pytest.raises(ParameterError, match="got a task and a design"):
        verify_places(one, put(tmp_path / "d.json", SS.design))
    found = changes({"a": [1, 2], "b": {"c": 1}, "e": [{"f": 1}]}, {"a": [2, 3], "d": 4, "e": []})
    assert [each["line"] for each in found] == [
        "a: without [1] and with [3]",
        "b: gone, it was {'c': 1}",
        "e[1]: gone, it was {'f': 1}",
        "d: new, 4",
    ]


def test_differences_are_told_up_to_sixty_and_ids_always() -> None:
    """One by one; of more the number; what follows from the rest comes last and is not counted."""
    before = {"id": "a", "signature": "b", **{f"x{i:02}": i for i in range(61)}}
    for count in (59, 60, 61):
        after = {"id": "c", "signature": "d", **{f"x{i:02}": i + (i < count) for i in range(61)}}
        lines = [each["line"] for each in changes(before, after)]
        more = ["and 1 more"] * (count > 60)
        follows = [f"{name}: the content is another one" for name in ("id", "signature")]
        assert lines == [*(f"x{i:02}: {i} became {i + 1}" for i in range(min(count, 60))), *more, *follows]
    order, kinds = changes({"a": [1, 2]}, {"a": [2, 1]}), changes({"a": 1, "b": True}, {"a": 1.0, "b": 1})
    assert [each["line"] for each in (*order, *kinds)] == ["a: another order", "a: 1 became 1.0", "b: True became 1"]
    assert changes(before, before) == []


def test_exit_codes_of_the_client(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good, bad = put(tmp_path / "good.json", document()), put(tmp_path / "bad.json", {**document(), "min_batch": 11})
    other = put(tmp_path / "other.json", document(min_batch=12))
    codes = [main(["verify", *each]) for each in ([good], [bad], [good, "--diff", other])]
    assert codes == [0, 1, 1]
    told = capsys.readouterr().out.splitlines()
    assert told[-3:-1] == ["What changed (2):", "  min_batch: 10 became 12"]
    assert told[-1] == "  id: the content is another one"
    assert main(["verify", bad, "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["holds"] is False
    assert main(["verify", str(tmp_path / "none.json")]) == 2
    assert main(["verify", put(tmp_path / "x.csv", b"a,b\n")]) == 2
    assert "cannot be read" in (err := capsys.readouterr().err)
    assert "cannot be verified" in err


class _Answers(BaseHTTPRequestHandler):
    replies: dict[str, tuple[int, bytes, dict[str, str]]]

    def do_GET(self) -> None:
        status, body, headers = self.replies.get(self.path, (404, b"", {}))
        self.send_response(status)
        for name, text in headers.items():
            self.send_header(name, text)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nobody listens."""


@contextmanager
def served(replies: dict[str, tuple[int, bytes, dict[str, str]]]) -> Iterator[str]:
    """A server on this machine that answers as it is told."""
    handler = type("Answers", (_Answers,), {"replies": replies})
    server = HTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_addresses_are_fetched_within_limits() -> None:
    task = document()
    data, place = json.dumps(task).encode(), f"/v1/tasks/{task['id']}"
    replies = {
        place: (200, data, {}),
        f"/v1/tasks/{'0' * 64}": (200, data, {}),
        "/elsewhere": (302, b"", {"Location": place}),
        "/large": (200, b" " * ((1 << 24) + 10), {}),
    }
    with served(replies) as at:
        assert verify_place(at + place).holds
        assert not verify_place(f"{at}/v1/tasks/{'0' * 64}").holds  # another task than was asked for
        assert verify_places(at + place, f"{at}/v1/tasks/{'0' * 64}")[1:] == (
            [verify_place(at + path).lines[0] for path in (place, f"/v1/tasks/{'0' * 64}")] + ["Nothing changed."],
            False,
        )
        for path in ("/elsewhere", "/large", "/none"):
            with pytest.raises(ParameterError):
                verify_place(at + path)
    for url in ("http://example.org/x", "https://", "http://127.0.0.1:1/x"):
        with pytest.raises(ParameterError):
            verify_place(url)


def test_the_standard_library_is_enough(tmp_path: Path) -> None:
    client = Path(__file__).parents[2] / "clients" / "python" / "src"
    path = put(tmp_path / "reports.bin", files()["reports"])
    code = (
        f"import sys; sys.path[:] = [{str(client)!r}] + [p for p in sys.path if 'site-packages' not in p]\n"
        "from deniable_client.command import main\n"
        f"code = main(['verify', {path!r}])\n"
        "assert not {'numpy', 'deniable', 'cryptography'} & set(sys.modules)\n"
        "sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "120 reports" in done.stdout


@pytest.mark.skipif(os.name == "nt", reason="no such pipes")
def test_who_reads_no_more_is_no_drama(tmp_path: Path) -> None:
    """`deniable-client verify FILE | head -1`: no trace of an error, and the exit code is that of the verdict."""
    for design, code in ((SS.design, 0), ({**SS.design, "epsilon": 0.5}, 1)):
        read, write = os.pipe()
        os.close(read)
        with os.fdopen(write, "w") as gone:
            command = [sys.executable, "-m", "deniable_client", "verify", put(tmp_path / "design.json", design)]
            done = subprocess.run(command, stdout=gone, stderr=subprocess.PIPE, check=False, timeout=60)
        assert (done.returncode, done.stderr) == (code, b"")
