"""Draws small wrong changes of the JavaScript client, with the tests that reach them: mutants to look through.

    python tests/mutants/draw_scripts.py --count 60 --seed 1 > tests/mutants/scripts.toml

Node says which pieces each file of tests runs; a mutant gets the quickest files that run its place.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from mutants.draw import as_toml
from mutants.run import CLIENT, ROOT, Mutant

SECONDS = 15.0
"""On the clock, for the tests of one mutant."""
CHANGES = (
    *((r" < ", " <= "), (r" <= ", " < "), (r" > ", " >= "), (r" >= ", " > ")),
    *((r" === ", " !== "), (r" !== ", " === "), (r" && ", " || "), (r" \|\| ", " && ")),
    *((r" \+ ", " - "), (r" - ", " + "), (r" \* ", " + "), (r" % ", " / "), (r" \? ", " || true ? ")),
    *((r"\b1n\b", "2n"), (r"\b0\b", "1"), (r"\b1\b", "2"), (r"\btrue\b", "false"), (r"\bfalse\b", "true")),
    *((r"\bif \((?!\!)", "if (false && "), (r"\.every\(", ".some("), (r"\.some\(", ".every("), (r"!(?=[a-z(])", "")),
)
"""What is looked for, and what takes its place."""
TABLES = ("confusables", "unicode_texts", "types")
"""Sources that are data."""
LEFT_OUT = re.compile(r"^\s*(//|\*|/\*|import |export \{|throw )|`|=> \{$|\"[^\"]* [^\"]*\"")
"""Lines of comments, imports and sentences."""


def ran(test: Path, folder: Path) -> tuple[float, dict[str, list[tuple[int, int, int]]]]:
    """How long a file of tests takes, and how often each piece of the sources ran: (start, end, count)."""
    start = time.monotonic()
    environment = os.environ | {"NODE_V8_COVERAGE": str(folder)}
    subprocess.run(["node", "--test", str(test)], cwd=ROOT / CLIENT, env=environment, capture_output=True, check=True)
    spent = time.monotonic() - start
    found: dict[str, list[tuple[int, int, int]]] = {}
    for path in folder.glob("*.json"):
        for script in json.loads(path.read_text("utf-8"))["result"]:
            name = script["url"].removeprefix(f"file://{ROOT}/")
            if name.startswith(f"{CLIENT}/src/"):
                ranges = [each for function in script["functions"] for each in function["ranges"]]
                found.setdefault(name, []).extend((r["startOffset"], r["endOffset"], r["count"]) for r in ranges)
    return spent, found


def reached(pieces: list[tuple[int, int, int]], place: int) -> bool:
    """Whether the smallest piece around a place ran."""
    around = [(end - start, count) for start, end, count in pieces if start <= place < end]
    least = min((size for size, _ in around), default=0)
    return any(count for size, count in around if size == least)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    runs = {}
    for test in sorted((ROOT / CLIENT / "test").glob("*.test.js")):
        with tempfile.TemporaryDirectory() as folder:
            runs[str(test.relative_to(ROOT))] = ran(test, Path(folder))
    every = []
    sources = [path for path in sorted((ROOT / CLIENT / "src").rglob("*.js")) if path.stem not in TABLES]
    for path in sources:
        offset = 0
        for number, line in enumerate(path.read_text("utf-8").splitlines(keepends=True), 1):
            if not LEFT_OUT.search(line):
                every += [
                    (path, number, line.rstrip("\n"), hit, offset + hit.start(), new)
                    for old, new in CHANGES
                    for hit in re.finditer(old, line)
                ]
            offset += len(line)
    Random(given.seed).shuffle(every)
    found: dict[tuple[Path, int], Mutant] = {}
    for path, number, line, hit, place, new in every:
        file, source = str(path.relative_to(ROOT)), path.read_text("utf-8")
        tests, spent = [], 0.0
        for test, (seconds, pieces) in sorted(runs.items(), key=lambda run: run[1][0]):
            if spent + seconds <= SECONDS and reached(pieces.get(file, []), place):
                tests.append(test)
                spent += seconds
        if not tests or (path, number) in found or source.count(line) != 1:
            continue
        wrong = line[: hit.start()] + new + line[hit.end() :]
        told = f"`{hit[0].strip()}` becomes `{new.strip() or 'nothing'}`"
        found[path, number] = Mutant(f"{path.stem}-{number}", file, line, wrong, told, tuple(tests))
        if len(found) == given.count:
            break
    print(as_toml(sorted(found.values(), key=lambda mutant: (mutant.file, mutant.id))))


if __name__ == "__main__":
    main()
