"""A secure stream that is shared across a fork starts afresh in the child, however much that looks like its parent."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import count
from typing import Any

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from deniable.randomness import secure

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork; run on Linux or macOS for it")

SAME_NUMBER = """
import os
from deniable.randomness import secure
os.getpid = lambda: 7  # as in a new namespace of process numbers, where the child may have its parent's
stream = secure()
stream.draw(8, 100)
found = []
for _ in range(20):
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(write, stream.draw(8, 16).tobytes())
        os._exit(0)
    os.close(write)
    found.append(os.read(read, 16))
    os.waitpid(child, 0)
found.append(stream.draw(8, 16).tobytes())
print(len(found), len(set(found)))
"""

LOCKED = """
import os, signal, threading
from deniable.randomness import secure
stream = secure()
held, go = threading.Event(), threading.Event()
cipher = stream._cipher
class Slow:  # another thread is in the middle of a draw
    def update_into(self, *args):
        held.set()
        go.wait(200)
        return cipher.update_into(*args)
stream._cipher = Slow()
thread = threading.Thread(target=stream.draw, args=(64, 1))
thread.start()
held.wait()
child = os.fork()
if child == 0:
    signal.alarm(100)  # a child that hangs is ended by the system
    words = stream.draw(64, 4)
    os._exit(0 if len(set(words.tolist())) == 4 else 1)
code = os.waitpid(child, 0)[1]
go.set()
thread.join()
print(code)
"""

THREADS = """
import os, threading
from deniable.randomness import secure
stream = secure()
child = os.fork()
if child == 0:
    found = []
    def work():
        found.extend(stream.draw(64, 50).tolist())
    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    os._exit(0 if len(set(found)) == 400 else 1)
print(os.waitpid(child, 0)[1])
"""


def told(program: str) -> list[str]:
    """What a program of its own prints; nothing waits so long but one that hangs."""
    command = [sys.executable, "-W", "ignore", "-c", program]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=300).stdout.split()


def test_a_child_with_its_parents_number_draws_other_words() -> None:
    assert told(SAME_NUMBER) == ["21", "21"]


def test_a_child_forked_while_a_thread_draws_does_not_hang() -> None:
    assert told(LOCKED) == ["0"]


def test_threads_of_a_child_share_one_new_key() -> None:
    assert told(THREADS) == ["0"]


def test_a_child_that_no_hook_told_of_is_known_by_its_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """As after a fork by a library, which Python does not hear of."""
    stream = secure()
    before = stream._cipher
    monkeypatch.setattr(os, "getpid", lambda: -1)
    stream.draw(8, 1)
    assert stream._cipher is not before


# ---- the key


def test_words_are_those_of_the_cipher_under_the_systems_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """The key is what the system gave, all 32 bytes of it, and so is the start."""
    key, start = bytes(range(32)), bytes(range(100, 116))
    given = {32: key, 16: start}
    monkeypatch.setattr(os, "urandom", given.__getitem__)
    want = Cipher(algorithms.AES(key), modes.CTR(start)).encryptor().update(bytes(3_000_000))
    stream = secure()
    found = np.concatenate([stream.draw(8, 1_000), stream.draw(8, 2_500_000)])
    assert found.tobytes() == want[: found.size]


@pytest.mark.parametrize("constant", [16, 32])
def test_key_and_start_each_make_streams_differ(constant: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With one of them held fixed, every stream is still its own: a constant key would show."""
    numbers = count(1)

    def draw(size: int) -> bytes:
        return bytes(size) if size == constant else next(numbers).to_bytes(size, "big")

    monkeypatch.setattr(os, "urandom", draw)
    streams: list[Any] = [secure() for _ in range(40)]
    assert len({stream.draw(8, 16).tobytes() for stream in streams + secure().spawn(10)}) == 50
