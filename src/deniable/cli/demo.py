"""The demonstration."""

from __future__ import annotations

import signal
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from deniable.cli.options import option
from deniable.cli.output import Output
from deniable.cli.pipeline import Force
from deniable.errors import need_extra
from deniable.present.tables import Table, Whole

if TYPE_CHECKING:
    from deniable.service.demo import Running

__all__ = ["demo"]


def demo(
    out: Output,
    folder: Annotated[str, option("--out", "DIR", "Folder to write to.")] = "demo-output",
    people: Annotated[
        int | None, option("--people", "N", "How many devices answer; all of the data set if left out.")
    ] = None,
    keep: Annotated[
        bool, option("--keep", None, "Leave the collector running for a browser, and print where.")
    ] = False,
    force: Force = False,
) -> None:
    """The whole system in one go, told as a story.

    Plan, prove, open a task, serve it on this machine, let every device answer over HTTP, close, estimate, compare with
    the truth, look; files and pictures go to a folder. It needs the extra service: pip install 'deniable[service]'.
    """
    for module in ("starlette", "uvicorn", "httptools", "msgspec", "jinja2"):
        need_extra(module, "service")
    from deniable.service.demo import FILES, demonstrate

    for name in FILES:
        out.claim(str(Path(folder) / name), force=force, plain=False)
    step = 0

    def tell(title: str, text: str, table: Table | None) -> None:
        nonlocal step
        step += 1
        out.tell(f"{step}. {title.upper()}", text, *([] if table is None else [table]))
        out.tell("")

    def stay(running: Running) -> None:
        ended = threading.Event()
        before = {each: signal.signal(each, lambda *_: ended.set()) for each in (signal.SIGINT, signal.SIGTERM)}
        out.tell(
            Whole(f"Answer in a browser:  {running.survey}"),
            Whole(f"Look at the results:  {running.address}/  with the key {running.key}"),
            "About a thousand devices have answered the question that is open; yours is counted with them. Its "
            "estimate is published when you close it on its page. Control-C stops the collector.",
        )
        ended.wait()
        for each, handler in before.items():
            signal.signal(each, handler)
        out.tell("", "The collector is stopped.")

    with out.progress("devices") as moved:
        document = demonstrate(Path(folder), people=people, tell=tell, progress=moved, keep=stay if keep else None)
    out.show(document, f"Everything is in {folder}: {', '.join(document['files'])}.")
