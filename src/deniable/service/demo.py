"""The whole system in one go, told as a story: plan, prove, open, answer, close, estimate, look."""

from __future__ import annotations

import base64
import http.client
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias
from urllib.parse import urlsplit

import numpy as np

from deniable.audit.exact import audit
from deniable.collect.codec import load
from deniable.collect.tally import Tally
from deniable.core.types import IntArray
from deniable.datasets.population import Population
from deniable.datasets.tables import load as load_data
from deniable.errors import DeniableError, FormatError, MissingExtraError, require
from deniable.mechanisms.base import Mechanism
from deniable.plan.questions import plan
from deniable.present.tables import Table, designs_table, percent, shares_table
from deniable.run.describe import describe
from deniable.run.files import open_output
from deniable.run.local import estimate_tally
from deniable.run.results import Shown
from deniable.service.access.identity import Identity
from deniable.service.access.keys import new_key
from deniable.service.store import open_store
from deniable.service.tasks import Asked, Terms, new_task
from deniable_client.canonical import canonical
from deniable_client.task import Task

__all__ = ["BROWSERS", "FILES", "Running", "demonstrate", "serving"]

Teller: TypeAlias = Callable[[str, str, Table | None], None]
"""Called at each step with its title, a few sentences and perhaps a table."""
Progress: TypeAlias = Callable[[int, int], None]
"""Called with how many devices have answered, and of how many."""

_DATA, _EPSILON, _LEVEL = "bank-job", 1.0, 0.95
_QUESTION = "What is your job?"
_DATABASE, _TASK, _TALLY, _TABLE = "collector.db", "task.json", "tally.bin", "estimate.csv"
_CHARTS, _PAGE, _PICTURE = ("estimate.html", "estimate.png"), "dashboard.html", "dashboard.png"
FILES = (_DATABASE, _TASK, _TALLY, _TABLE, *_CHARTS, _PAGE, _PICTURE)
"""What is written to the folder."""
_CROWD = 1000
"""Devices, about, that answer the task that is left open: nothing is published about one person alone."""
_LINES = 16
"""Connections that devices share."""
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@dataclass(frozen=True, slots=True)
class Running:
    """A collector that serves, and how to get in."""

    address: str
    task: str
    key: str

    @property
    def survey(self) -> str:
        """The page on which people answer."""
        return f"{self.address}/t/{self.task}"


def demonstrate(
    folder: Path, *, people: int | None = None, tell: Teller, progress: Progress, keep: Callable[[Running], None] | None
) -> dict[str, Any]:
    """Run the whole system on the jobs of the Bank data set; files go to a folder.

    `people` takes part of them only. `keep` is called before the collector is stopped, with a task left open.
    """
    folder.mkdir(parents=True, exist_ok=True)
    known = load_data(_DATA)
    most = known.n if people is None else people
    require(1000 <= most <= known.n, "people", people, f"from 1,000 to {known.n:,}")
    values = known.values()[np.arange(most) * known.n // most]
    asked = Population(known.name, known.labels, np.bincount(values, minlength=known.k))
    m = _plan(asked, tell)
    proved = _prove(m, tell)
    url = f"sqlite:///{folder / _DATABASE}"
    task, key = _open(m, url, folder, tell)
    with serving(url) as address:
        running = Running(address, task["id"], key)
        spent = _answer(running, values, tell, progress)
        tally = _close(running, folder, tell)
        shares = Shown.of(estimate_tally(tally), level=_LEVEL, truth=asked.frequencies)
        found = _compare(m, asked, shares, tell)
        files = _look(running, shares, folder, tell)
        if keep is not None:
            keep(_another(m, url, running, values[:: max(1, len(values) // _CROWD)], progress))
    return {
        "data": asked.name,
        "design": describe(m, asked.n),
        "audit": proved,
        "task": task,
        "devices": len(values),
        "seconds": spent,
        **found,
        "estimate": shares.document(),
        "folder": str(folder),
        "files": files,
    }


def _plan(people: Population, tell: Teller) -> Mechanism:
    found = plan(labels=people.labels, n=people.n, epsilon=_EPSILON, max_bytes=2)
    best = found.best
    assert best is not None  # randomised response fits into two bytes
    text = (
        f"{people.n:,} people are asked for their job, one of {people.k}, under epsilon = {_EPSILON:g}, "
        f"with reports of at most two bytes. {found.message} "
        f"(A blind guess of someone's job is right {percent(1 / people.k, 1)} of the time.)"
    )
    tell("Plan", text, designs_table([describe(d.mechanism, people.n) for d in found.designs]))
    made: Mechanism = best.mechanism
    return made


def _prove(m: Mechanism, tell: Teller) -> dict[str, Any]:
    found = audit(m)
    ways = f"By {found.proof.method}" + (" and by enumeration" if found.enumerated else "")
    text = (
        f"{ways}, in whole numbers, not by sampling: the largest likelihood ratio of any report between any two values "
        f"gives epsilon = {found.exact!r}, promised is {found.promised!r}. "
        f"The promise is {'kept' if found.holds else 'BROKEN'}. Every device proves it again before its first report."
    )
    tell("Prove", text, None)
    return found.document()


def _open(m: Mechanism, url: str, folder: Path, tell: Teller) -> tuple[dict[str, Any], str]:
    """A task on an embedded database, open from today on, and a key for the dashboard."""
    for old in folder.glob(f"{_DATABASE}*"):
        old.unlink()
    today = datetime.now(UTC).date()
    terms = Terms(opens=today, collector="Deniable's demonstration")
    store = open_store(url)
    try:
        task = new_task([Asked(text=_QUESTION, design=m.design)], terms, Identity(store.identity()))
        store.put_task(task["id"], canonical(task))
        store.set_state(task["id"], "open")
        _, key = new_key(store, "administrator", today=today)
    finally:
        store.close()
    with open_output(str(folder / _TASK)) as out:
        out.write(canonical(task))
    text = (
        "The task says what is asked, the design with its integers, when, how often, and what is kept. Its name is "
        f"the hash of all that: {task['id'][:16]}... A collector cannot change it quietly. Written: {_TASK}."
    )
    tell("Open", text, None)
    return task, key


@contextmanager
def serving(url: str) -> Iterator[str]:
    """A collector in a process of its own, on a free port of this machine."""
    command = [sys.executable, "-m", "deniable", "serve", "--database", url, "--port", "0", "--json"]
    with tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            if not line:
                log.seek(0)
                raise DeniableError(f"the collector did not start: {log.read()[-2000:].strip()}")
            yield json.loads(line)["address"]
        finally:
            process.terminate()
            process.communicate(timeout=30)


# ---- devices


def _answer(running: Running, values: IntArray, tell: Teller, progress: Progress) -> float:
    """Every device reads the task, proves it, randomises its own value and sends one report in a request of its own."""
    start = time.perf_counter()
    task, accepted = _devices(running, values, progress)
    seconds = time.perf_counter() - start
    question = task.questions[0]
    text = (
        f"{accepted:,} devices answered at {running.address}, with one request each, in {seconds:.0f} s. Each drew "
        f"its report with the operating system's randomness; {question.width} bytes of it left the device. The "
        "collector acknowledged each one when it was on the disk, counted, and erased."
    )
    tell("Answer", text, None)
    return seconds


def _devices(running: Running, values: IntArray, progress: Progress) -> tuple[Task, int]:
    """A device for each value; the task that they answered, and how many reports were accepted."""
    task = Task.load(_get(running, f"/v1/tasks/{running.task}")[1], expect=running.task)
    with ThreadPoolExecutor(_LINES) as pool:
        parts = [values[i::_LINES] for i in range(_LINES)]
        waiting = [_Line(running, task) for _ in parts]
        jobs = [pool.submit(line.send, part) for line, part in zip(waiting, parts, strict=True)]
        try:
            while not all(job.done() for job in jobs):
                time.sleep(0.2)
                progress(sum(line.sent for line in waiting), len(values))
            return task, sum(job.result() for job in jobs)
        finally:
            for line in waiting:  # whoever interrupts this does not wait for all devices
                line.open = False


class _Line:
    """A connection that some devices use one after the other, as behind a gateway."""

    def __init__(self, running: Running, task: Task) -> None:
        where = urlsplit(running.address)
        self._host, self._port, self._task = where.hostname, where.port, task
        path = f"/v1/tasks/{running.task}/reports"
        self._head = f"POST {path} HTTP/1.1\r\nhost: {where.netloc}\r\ncontent-type: application/json\r\n"
        self.sent = 0
        self.open = True

    def send(self, values: IntArray) -> int:
        """Answer for each value; how many reports were accepted."""
        question, accepted = self._task.questions[0], 0
        device = question.device()
        with socket.create_connection((self._host, self._port), timeout=30) as line, line.makefile("rb") as answers:
            for value in values:
                if not self.open:
                    break
                body = self._task.body(question, device.randomise(int(value)))
                report = {"id": os.urandom(16).hex(), "report": base64.b64encode(body).decode()}
                told = self._sent(line, answers, json.dumps({"reports": [report]}))
                accepted += told["results"][0]["status"] == "accepted"
                self.sent += 1
        return accepted

    def _sent(self, line: socket.socket, answers: BinaryIO, text: str) -> Any:
        """What the collector says to a request, once it is not too busy to take it."""
        while True:
            line.sendall(f"{self._head}content-length: {len(text)}\r\n\r\n{text}".encode())
            status, headers = int(answers.readline().split()[1]), {}
            while (field := answers.readline()) != b"\r\n":
                name, _, value = field.partition(b":")
                headers[name.lower()] = int(value) if value.strip().isdigit() else 0
            told = answers.read(headers[b"content-length"])
            if status == 200:
                return json.loads(told)
            if status not in (429, 503):
                raise FormatError(f"the collector refused a report: {told.decode('utf-8', 'replace')[:300]}")
            time.sleep(headers.get(b"retry-after", 1))


def _get(running: Running, path: str, **headers: str) -> tuple[str, bytes]:
    """What the collector answers, and of which kind it is."""
    connection = http.client.HTTPConnection(urlsplit(running.address).netloc, timeout=60)
    connection.request("GET", path, headers={"authorization": f"Bearer {running.key}", **headers})
    answer = connection.getresponse()
    data = answer.read()
    connection.close()
    if answer.status != 200:
        raise FormatError(f"the collector answered {answer.status} to {path}: {data[:300].decode('utf-8', 'replace')}")
    return answer.headers.get_content_type(), data


# ---- results


def _close(running: Running, folder: Path, tell: Teller) -> Tally:
    """Close the task, which publishes its window, and take the tally."""
    connection = http.client.HTTPConnection(urlsplit(running.address).netloc, timeout=60)
    headers = {"authorization": f"Bearer {running.key}", "content-type": "application/json"}
    connection.request("PUT", f"/v1/tasks/{running.task}/state", json.dumps({"state": "closed"}), headers)
    answer = connection.getresponse()
    told = answer.read()
    connection.close()
    if answer.status != 200:
        raise FormatError(f"the task could not be closed: {told[:300].decode('utf-8', 'replace')}")
    data = _get(running, f"/v1/tasks/{running.task}/tally", accept="application/octet-stream")[1]
    tally = load(data)
    if not isinstance(tally, Tally):
        raise FormatError("the collector's answer has no tally in it.")
    with open_output(str(folder / _TALLY)) as out:
        out.write(data)
    text = f"The task is closed; what is published about it never changes. The tally has {tally.n:,} reports: {_TALLY}."
    tell("Close", text, None)
    return tally


def _compare(m: Mechanism, people: Population, shares: Shown, tell: Teller) -> dict[str, Any]:
    columns, truth = shares.columns, people.frequencies
    inside = int(((columns["low"] <= truth) & (truth <= columns["high"])).sum())
    error = columns["value"] - truth
    mse, predicted = float(np.mean(error**2)), float(m.effective(people.n)["mse"])
    worst = int(np.abs(error).argmax())
    text = (
        f"The estimates with {100 * _LEVEL:g} % intervals, beside the truth that no collector ever saw. "
        f"{inside} of {people.k} intervals hold the truth; the usual error is {100 * mse**0.5:.2f} points "
        f"(predicted: {100 * predicted**0.5:.2f}), the largest {100 * abs(error[worst]):.2f} points, at "
        f"{people.labels[worst]}."
    )
    tell("Estimate and compare", text, shares_table(columns, shares.labels, level=_LEVEL))
    return {
        "mse": mse,
        "mse_predicted": predicted,
        "max_abs_error": float(abs(error[worst])),
        "covered": inside,
        "intervals": people.k,
    }


def _look(running: Running, shares: Shown, folder: Path, tell: Teller) -> list[str]:
    """Table, charts, and the page of the dashboard, as a file that needs no server and as a picture."""
    shares.save(str(folder / _TABLE))
    made, texts = [_DATABASE, _TASK, _TALLY, _TABLE], []
    try:
        for name in _CHARTS:
            shares.draw(str(folder / name), "Jobs, estimated from deniable reports")
        made += _CHARTS
        texts.append(
            f"Open {folder / _CHARTS[0]} in a browser; it needs no network. {_CHARTS[1]} is the same as a picture."
        )
        with open_output(str(folder / _PAGE)) as out:
            out.write(_snapshot(running))
        made.append(_PAGE)
        texts.append(f"{_PAGE} is the dashboard's page of this task.")
        if _photograph(folder / _PAGE, folder / _PICTURE):
            made.append(_PICTURE)
            texts.append(f"{_PICTURE} is a picture of it.")
    except MissingExtraError as error:
        texts.append(f"No chart was drawn: {error}. The numbers are in {folder / _TABLE}.")
    tell("Look", " ".join(texts), None)
    return made


def _snapshot(running: Running) -> bytes:
    """The dashboard's page of the task with its styles and pictures inside."""
    text = _get(running, f"/tasks/{running.task}")[1].decode()

    def inside(found: re.Match[str]) -> str:
        kind, data = _get(running, found[2])
        return f'{found[1]}"data:{kind};base64,{base64.b64encode(data).decode()}"'

    text = re.sub(r'(<link rel="stylesheet" href=|<img class="chart"[^>]* src=)"(/[^"]*)"', inside, text)
    return re.sub(r'<script type="module"[^>]*></script>', "", text).encode()


def _photograph(page: Path, target: Path) -> bool:
    """Take a picture of a page with whichever browser there is; False if there is none, or it cannot."""
    browser = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if browser is None:
        return False
    with tempfile.TemporaryDirectory() as profile:
        command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync"]
        command += ["--disable-background-networking", "--disable-component-update", "--hide-scrollbars"]
        command += [
            f"--user-data-dir={profile}",
            "--window-size=1100,1500",
            f"--screenshot={target}",
            page.resolve().as_uri(),
        ]
        try:
            subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60, check=False)
        except (OSError, subprocess.TimeoutExpired):
            return False
    return target.is_file()


def _another(m: Mechanism, url: str, running: Running, values: IntArray, progress: Progress) -> Running:
    """The same question once more, left open: for whoever wants to answer it in a browser, among some others."""
    today = datetime.now(UTC).date()
    terms = Terms(opens=today, collector="Deniable's demonstration", subject="your job", min_batch=10)
    store = open_store(url)
    try:
        task = new_task([Asked(text=_QUESTION, design=m.design)], terms, Identity(store.identity()))
        store.put_task(task["id"], canonical(task))
        store.set_state(task["id"], "open")
    finally:
        store.close()
    found = Running(running.address, task["id"], running.key)
    _devices(found, values, progress)
    return found
