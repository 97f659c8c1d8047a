"""Parts of the documentation that list what the code has: names, routes, problems, decisions."""

from __future__ import annotations

import ast
import inspect
import re
import sys
import textwrap
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

from measured import table

import deniable as dn
import deniable_client

DOCS = Path(__file__).resolve().parent


def summary(text: str | None) -> str:
    """The first sentence of a docstring."""
    first = " ".join((text or "").strip().split("\n\n")[0].split())
    found = re.match(r"(.*?[.!?])(?:\s|$)(?<!e\.g\.)", first)
    return (found[1] if found else first).replace("|", "\\|")


def _kind(value: Any) -> str:
    if isinstance(value, type):
        return "error" if issubclass(value, Exception) else "class"
    if isinstance(value, ModuleType):
        return "module"
    return "function" if callable(value) else "value"


def _said(package: ModuleType, name: str) -> str:
    """What a name is: the first sentence of its docstring, or of the string that follows the definition of a value."""
    value = getattr(package, name)
    if name == "__version__":
        return "The version of the package."
    if _kind(value) != "value":
        return summary(inspect.getdoc(value))
    for module in [found for key, found in sorted(sys.modules.items()) if key.startswith(package.__name__)]:
        said = _after(module, name) if getattr(module, name, None) is value else None
        if said:
            return summary(said)
    raise LookupError(f"{package.__name__}.{name} is not described: put a docstring after its definition")


def _after(module: ModuleType, name: str) -> str | None:
    """The string that follows the assignment of a name in a module."""
    for one, two in pairwise(ast.parse(inspect.getsource(module)).body):
        targets = [one.target] if isinstance(one, ast.AnnAssign) else one.targets if isinstance(one, ast.Assign) else []
        named = any(isinstance(target, ast.Name) and target.id == name for target in targets)
        said = two.value if isinstance(two, ast.Expr) else None
        if named and isinstance(said, ast.Constant) and isinstance(said.value, str):
            return said.value
    return None


def _names(package: ModuleType) -> str:
    """The public names of a package, errors last."""
    rows = [(_kind(getattr(package, name)), name) for name in package.__all__]
    rows.sort(key=lambda row: (row[0] == "error", row[1].lower()))
    return table(["name", "kind", "what it is"], [[f"`{n}`", kind, _said(package, n)] for kind, n in rows], right=3)


def api() -> str:
    """The public names of the library."""
    return _names(dn)


def api_client() -> str:
    """The public names of the device's package."""
    return _names(deniable_client)


def page_routes() -> str:
    """The pages of the collector, with their roles."""
    from deniable.service.pages.table import PAGES

    rows = [[f"`{row.method} {row.path}`", row.role.name.lower(), row.summary] for row in PAGES]
    return table(["route", "role", "what it does"], rows, right=3)


def problems() -> str:
    """The problem types of the collector."""
    from deniable.service.http.problems import KINDS

    rows = [
        [f"`{name}`", str(kind.status), kind.title, f"{kind.retry} s" if kind.retry else ""]
        for name, kind in KINDS.items()
    ]
    return table(["type: `urn:deniable:problem:` and", "status", "title", "try again after"], rows, right=3)


def rejections() -> str:
    """What a report may be answered."""
    from deniable.service.ingest import REASONS

    rows = [
        ["`accepted`", "counted, and durable"],
        ["`duplicate`", "the same report under the same id was counted before"],
        ["`malformed`", "no id of 32 digits, or not base64"],
        *([f"`{name}`", said] for name, said in REASONS.items()),
    ]
    return table(["answer", "what it means"], rows, right=2)


def decisions() -> str:
    """The decision records in order."""
    found = sorted((DOCS / "decisions").glob("*.md"))
    titles = [(path.name, path.read_text("utf-8").partition("\n")[0].removeprefix("# ")) for path in found]
    items = (f"- [{title}](decisions/{name})" for name, title in titles)
    return "\n".join(textwrap.fill(item, 118, subsequent_indent="  ", break_on_hyphens=False) for item in items)


def gallery() -> str:
    """The pictures that are drawn by code, each with its code."""
    text = (DOCS / "make_pictures.py").read_text("utf-8")
    body = ast.parse(text).body
    functions = {node.name: node for node in body if isinstance(node, ast.FunctionDef)}
    charts = next(
        node.value for node in body if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == "CHARTS"
    )
    assert isinstance(charts, ast.Dict)
    parts = []
    for key, value in zip(charts.keys, charts.values, strict=True):
        name, function = ast.literal_eval(key or ast.Constant("")), functions[ast.unparse(value)]
        said = (ast.get_docstring(function) or "").splitlines()[0].rstrip(".")
        code = ast.get_source_segment(text, function)
        parts.append(f"### {said}\n\n![{said}](pictures/{name}.png)\n\n```py\n{code}\n```")
    return "\n\n".join(parts)


PARTS: dict[str, Callable[[], str]] = {
    "api": api,
    "api-client": api_client,
    "decisions": decisions,
    "gallery": gallery,
    "page-routes": page_routes,
    "problems": problems,
    "rejections": rejections,
}
