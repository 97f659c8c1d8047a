"""What an installation brings along: a bill of materials for each choice of extras, and the licences in one table.

pip says what it would install into an empty environment, with the versions of constraints.txt, and what these packages
declare about themselves. Nothing is installed. The bills are CycloneDX 1.6 as JSON, checked against its schema.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cyclonedx.factory.license import LicenseFactory
from cyclonedx.model import HashAlgorithm, HashType, Property
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.model.license import License
from cyclonedx.output.json import JsonV1Dot6
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packageurl import PackageURL
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

EXTRAS = ("", "fast", "frames", "charts", "service", "postgres", "spark", "all")
"""Choices of who installs the library; the other extras are for who works on it."""
OURS = ("deniable", "deniable-client")
_CLASSIFIED = re.compile(r"License :: (?:OSI Approved :: )?(.+)")
_SHORT = 60
"""Characters of a licence's name; what is longer is its text."""
_ALIAS = {
    "BSD License": "BSD-3-Clause",
    "BSD 3-Clause License": "BSD-3-Clause",
    "ISC License": "ISC",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Apache Software License": "Apache-2.0",
}
"""Names of licences that are not those of SPDX, as packages say them that say no more."""

Declared = Mapping[str, Any]
"""What pip says of a package: its metadata, the file's hash, the extras that are asked for."""


def resolved(client: Path, library: Path, extra: str, constraints: Path) -> list[Declared]:
    """What pip would install, ours included, by name."""
    wanted = f"{library}[{extra}]" if extra else f"{library}"
    with tempfile.TemporaryDirectory() as aside:
        report = Path(aside) / "report.json"
        command = [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed", "--quiet"]
        command += ["--disable-pip-version-check", "--constraint", str(constraints), "--report", str(report)]
        done = subprocess.run([*command, str(client), wanted], capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"error: pip does not know what deniable[{extra}] brings.\n{done.stderr[-2000:]}")
        rows = json.loads(report.read_text("utf-8"))["install"]
    return sorted(rows, key=_name)


def _name(row: Declared) -> str:
    return canonicalize_name(row["metadata"]["name"])


def licence(metadata: Declared) -> str:
    """What a package says about its licence: an expression, a name, what it is classified as, "not declared"."""
    if metadata.get("license_expression"):
        return str(metadata["license_expression"])
    named = (metadata.get("license") or "").strip()
    if named and len(named) <= _SHORT and "\n" not in named:
        return _ALIAS.get(named, named)
    found = [match[1] for line in metadata.get("classifier", ()) if (match := _CLASSIFIED.fullmatch(line))]
    return " AND ".join(_ALIAS.get(each, each) for each in found) or "not declared"


def needed(rows: Mapping[str, Declared], extra: str) -> dict[str, set[str]]:
    """What each package needs here among `rows`, by name, with the extras that are asked of it."""
    asked: dict[str, set[str]] = {name: set() for name in rows}
    asked["deniable"] |= {extra} - {""}
    edges: dict[str, set[str]] = {}
    before = -1
    while before != (before := sum(map(len, asked.values()))):  # a package may ask for extras of one that was seen
        for name, row in rows.items():
            found = list(_applying(row, asked[name]))
            for need in found:
                asked[canonicalize_name(need.name)] |= need.extras
            edges[name] = {canonicalize_name(need.name) for need in found} - {name}
    return edges


def _applying(row: Declared, extras: Collection[str]) -> Iterator[Requirement]:
    for line in row["metadata"].get("requires_dist", ()):
        need = Requirement(line)
        if need.marker is None or any(need.marker.evaluate({"extra": extra}) for extra in ["", *extras]):
            yield need


def component(row: Declared) -> Component:
    """A package as the bill has it; where it was fetched from is nobody's business."""
    metadata = row["metadata"]
    name, version = _name(row), metadata["version"]
    hashes = row["download_info"]["archive_info"]["hashes"]
    said = licence(metadata)
    made = Component(
        type=ComponentType.LIBRARY,
        name=name,
        version=version,
        purl=PackageURL("pypi", name=name, version=version),
        bom_ref=f"{name}=={version}",
        description=metadata.get("summary"),
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=hashes["sha256"])],
    )
    if said != "not declared":
        known = LicenseFactory().make_from_string(said)
        made.licenses.add(License(name=said) if known is None else known)
    return made


def bill(rows: Sequence[Declared], moment: int, extra: str) -> str:
    """The bill of materials of one choice, as JSON; what does not fit the schema is an error."""
    known = {_name(row): row for row in rows}
    made = {name: component(row) for name, row in known.items()}
    content = "\n".join(sorted(f"{each.bom_ref} {each.hashes[0].content}" for each in made.values()))
    bom = Bom(serial_number=uuid.uuid5(uuid.NAMESPACE_OID, content), components=made.values())
    bom.metadata.timestamp = datetime.fromtimestamp(moment, UTC)
    bom.metadata.component = made["deniable"]
    bom.components.discard(made["deniable"])
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    bom.metadata.properties.add(Property(name="deniable:extra", value=extra or "none"))
    bom.metadata.properties.add(Property(name="deniable:resolved-for", value=f"Python {python}, {sys.platform}"))
    for name, others in needed(known, extra).items():
        bom.register_dependency(made[name], [made[other] for other in sorted(others)])
    text = str(JsonV1Dot6(bom).output_as_string(indent=2)) + "\n"
    if error := JsonStrictValidator(SchemaVersion.V1_6).validate_str(text):
        sys.exit(f"error: the bill of materials of deniable[{extra}] does not fit its schema.\n{error}")
    return text


def table(bills: Mapping[str, Sequence[Declared]]) -> Iterator[str]:
    """The packages of others as a page: version, licence, and which extras bring each."""
    brought: dict[str, list[str]] = {}
    rows: dict[str, Declared] = {}
    for extra, found in bills.items():
        for row in found:
            if _name(row) not in OURS and extra != "all":
                brought.setdefault(_name(row), []).append(extra)
                rows[_name(row)] = row
    yield "# Packages of others\n\n"
    yield "What `pip install deniable` brings along, in the versions that this release was tested with, and under\n"
    yield "which licence each says it is. `deniable-client` and `@deniable/client` bring nothing. What is inside our\n"
    yield "own packages is in `NOTICE.md`.\n\n| package | version | licence | brought by |\n|---|---|---|---|\n"
    for name in sorted(rows):
        by = "always" if "" in brought[name] else ", ".join(f"`{extra}`" for extra in brought[name])
        yield f"| {name} | {rows[name]['metadata']['version']} | {licence(rows[name]['metadata'])} | {by} |\n"


def write(out: Path, client: Path, library: Path, tree: Path, moment: int) -> None:
    """The bills below `sbom`, and the table."""
    bills = {extra: resolved(client, library, extra, tree / "constraints.txt") for extra in EXTRAS}
    folder = out / "sbom"
    folder.mkdir()
    for extra, rows in bills.items():
        name = f"deniable-{extra}" if extra else "deniable"
        (folder / f"{name}.cdx.json").write_text(bill(rows, moment, extra), "utf-8")
    (out / "THIRD-PARTY.md").write_text("".join(table(bills)), "utf-8")
