"""What kernels of both clients say of themselves."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from deniable_client.errors import ParameterError
from deniable_client.kernels import kernel_from
from deniable_client.kernels.contract import Base

CLIENTS = Path(__file__).resolve().parents[2] / "clients"
SCRIPT = f"""
import "{(CLIENTS / "js" / "src" / "index.js").as_uri()}";
import {{ kernelFrom }} from "{(CLIENTS / "js" / "src" / "designs.js").as_uri()}";
import {{ text }} from "node:stream/consumers";

const said = (document) => {{
  const {{ reports, words, width, work = null }} = kernelFrom(document);
  return {{ reports: reports ?? null, words, width, work: work && Object.values(work) }};
}};
const kernels = JSON.parse(await text(process.stdin));
console.log(JSON.stringify(kernels.map(said), (_, part) => (typeof part === "bigint" ? `${{part}}` : part)));
"""


def kernels() -> Iterator[Any]:
    """All kernels of the vectors, those inside of others too."""

    def walk(part: Any) -> Iterator[Any]:
        if isinstance(part, dict):
            yield from [part] if "kind" in part else []
            part = list(part.values())
        for each in part if isinstance(part, list) else ():
            yield from walk(each)

    for path in sorted((CLIENTS / "vectors").glob("*.json")):
        for case in json.loads(path.read_text()).get("cases", ()):
            yield from walk(case["kernel"]) if "reports" in case and "kernel" in case else ()


def said(document: Any) -> dict[str, Any]:
    """What Python's kernel says, in the form of the script."""
    kernel: Any = kernel_from(document)
    try:
        reports = [str(count) for count in kernel.reports] if isinstance(kernel, Base) else None
    except ParameterError:
        reports = None
    work = getattr(kernel, "work", None)
    told = None if work is None else [str(each) for each in work]
    return {"reports": reports, "words": str(kernel.words), "width": kernel.width, "work": told}


def test_kernels_say_the_same_of_themselves(node: str) -> None:
    """The exact number of blind reports, how much work a report and a proof are, and how long a report is."""
    asked = list({json.dumps(document): document for document in kernels()}.values())
    command = [node, "--input-type=module", "--eval", SCRIPT]
    done = subprocess.run(command, input=json.dumps(asked), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert [(document, found) for document, found in zip(asked, told, strict=True) if found != said(document)] == []
    assert len(asked) > 150
    assert sum(found["reports"] is not None for found in told) > 50
    assert sum(found["work"] is not None for found in told) > 30
