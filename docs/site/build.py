"""The site from docs/: `./bin/site`, or `python docs/site/build.py` where the extra `site` is installed.

The pages are plain Markdown that is readable without a site. They are staged into site/source with what only a site
needs: contents, links that stay on it, notebooks and docstrings as pages. Sphinx then makes site/html of them.

- A page of HEADS stands above the pages that its lists begin with: `- [title](page.md): what it says`.
- What a page links to outside docs/ becomes a page (PROJECT) or is put beside the pages.
- `<!-- columns -->`, `<!-- next -->`, `<!-- cards -->` and `<!-- end -->` are the only marks of layout.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
SITE = DOCS / "site"
HEADS = ("tutorial", "howto", "reference", "explanation", "papers", "maths", "decisions", "gallery")
"""Pages above others; the first four are the doors on the front page."""
DOORS = HEADS[:4]
PROJECT = {
    "CHANGELOG.md": "project/changelog.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "SECURITY.md": "project/security.md",
    "clients/js/README.md": "project/javascript.md",
    "README.md": "index.md",
}
"""Pages that stand outside docs/, and where they go."""
PACKAGES = ("deniable", "deniable_client")
_LINK = re.compile(r"(?<=\]\()([^)\s]+)(?=\))")
_PLAYGROUND = re.compile(r"\[([^\]]+)\]\([\w./]*site/playground/index\.html\)")
"""A link to the page that has a style and a script of its own, beside those that Sphinx makes."""
_ITEM = re.compile(r"^- \[[^\]]*\]\(([^)#\s]+)\)", re.MULTILINE)
"""A title may go on in the next line."""
_FENCE = re.compile(r"(^```.*?^```$)", re.DOTALL | re.MULTILINE)


def pages() -> list[Path]:
    """The Markdown pages of docs/."""
    return [path for path in sorted(DOCS.rglob("*.md")) if SITE not in path.parents]


def below(head: str) -> list[str]:
    """The pages below a head, in the order of its lists, as paths below docs/."""
    text = (DOCS / f"{head}.md").read_text("utf-8")
    found = [os.path.normpath(target) for target in _ITEM.findall(text)]
    kept = [name for name in found if name.endswith((".md", ".ipynb")) and not name.startswith("..")]
    return list(dict.fromkeys(kept))


def heads() -> list[str]:
    """The heads that there are."""
    return [head for head in HEADS if (DOCS / f"{head}.md").is_file()]


def placed() -> dict[str, list[str]]:
    """Every page with the heads that it stands below."""
    found: dict[str, list[str]] = {}
    for head in heads():
        for name in below(head):
            found.setdefault(name, []).append(head)
    return found


# ---- staging


def stage(source: Path) -> None:
    """Write all that Sphinx reads."""
    shutil.rmtree(source, ignore_errors=True)
    source.mkdir(parents=True)
    shutil.copy(SITE / "conf.py", source / "conf.py")
    shutil.copytree(SITE / "static", source / "static")
    for page in pages():
        name = page.relative_to(DOCS).as_posix()
        _write(source, name, _staged(page, name, source))
    for outside, name in PROJECT.items():
        if name != "index.md":
            _write(source, name, _staged(ROOT / outside, name, source))
    for path in sorted((DOCS / "notebooks").glob("*.ipynb")):
        _write(source, f"notebooks/{path.stem}.md", _notebook(path, source))
    for package in PACKAGES:
        for name in public(package):
            _write(source, f"api/{package}.{name}.md", _entry(package, name))


def _write(source: Path, name: str, text: str) -> None:
    path = source / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def _staged(page: Path, name: str, source: Path) -> str:
    """A page with links for the site, its layout and its contents."""
    there = os.path.relpath("playground/index.html", Path(name).parent)
    text = _PLAYGROUND.sub(rf'<a class="playground" href="{there}">\1</a>', page.read_text("utf-8"))
    text = outside_code(text, lambda part: _linked(part, page, name, source))
    text = _laid_out(text)
    if name == "index.md":
        return text + _toctree([*(f"{door}.md" for door in DOORS if (DOCS / f"{door}.md").is_file()), *_project()])
    if name == "api.md":
        text, entries = _with_entries(text)
        return text + _toctree(entries)
    stem = name.removesuffix(".md")
    return text + (_toctree(below(stem)) if stem in heads() else "")


def outside_code(text: str, change: Callable[[str], str]) -> str:
    """Text with a change made to all that is not a block of code; blocks lose their last empty line."""
    parts = _FENCE.split(text)
    return "".join(re.sub(r"\n+```$", "\n```", part) if part.startswith("```") else change(part) for part in parts)


def _project() -> list[str]:
    return [name for name in PROJECT.values() if name != "index.md"]


def _linked(text: str, page: Path, name: str, source: Path) -> str:
    """Links as they are on the site."""

    def target(found: re.Match[str]) -> str:
        if re.match(r"[a-z]+:|#", found[1]):
            return found[1]
        path, sign, anchor = found[1].partition("#")
        return _address((page.parent / path).resolve(), name, source) + sign + anchor

    return _LINK.sub(target, text)


def _address(path: Path, name: str, source: Path) -> str:
    """Where a file of the repository is on the site, from the page `name`; it is put there if it is no page."""
    whole = path.relative_to(ROOT).as_posix()
    if whole in PROJECT:
        there = PROJECT[whole]
    elif path.suffix == ".md" and DOCS in path.parents:
        there = path.relative_to(DOCS).as_posix()
    elif path.suffix == ".ipynb":
        there = path.relative_to(DOCS).with_suffix(".md").as_posix()
    else:
        there = f"files/{whole}"
        (source / there).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, source / there)
    return os.path.relpath(there, Path(name).parent)


_MARKS = {"columns": '<div class="columns"><div>', "next": "</div><div>", "cards": '<div class="cards">'}


def _laid_out(text: str) -> str:
    """The marks of layout as elements, each closed by the next end."""
    made: list[str] = []
    close = ""
    for line in text.split("\n"):
        mark = re.fullmatch(r"<!-- (columns|next|cards|end) -->", line)
        if mark is None or (mark[1] == "end" and not close):
            made.append(line)
            continue
        if mark[1] == "end":
            made += ["", close, ""]
            close = ""
        else:
            made += ["", _MARKS[mark[1]], ""]
            close = "</div>" if mark[1] == "cards" else "</div></div>"
    return "\n".join(made)


def _toctree(names: list[str]) -> str:
    short = {"project/javascript.md": "JavaScript client"}
    plain = ((name, "/" + name.removesuffix(".md").removesuffix(".ipynb")) for name in names)
    entries = "\n".join(f"{short[name]} <{there}>" if name in short else there for name, there in plain)
    return f"\n```{{toctree}}\n:hidden:\n\n{entries}\n```\n"


def _notebook(path: Path, source: Path) -> str:
    """A notebook as a page: its texts, its code, what it printed and drew."""
    parts: list[str] = []
    for number, cell in enumerate(json.loads(path.read_text("utf-8"))["cells"]):
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(_linked(text, path, f"notebooks/{path.stem}.md", source))
            continue
        parts.append(f"```python\n{text}\n```")
        for output in cell["outputs"]:
            if "text" in output:
                parts.append(f"```text\n{''.join(output['text']).rstrip()}\n```")
            for drawn in (output.get("data", {}).get("image/svg+xml"),):
                if drawn:
                    picture = f"notebooks/{path.stem}-{number}.svg"
                    _write(source, picture, "".join(drawn))
                    parts.append(f"![What the code above draws]({Path(picture).name})")
    there = _address(path.with_suffix(".py"), f"notebooks/{path.stem}.md", source)
    parts.append(f"The same as [a script in cells]({there}).")
    return "\n\n".join(parts) + "\n"


# ---- the reference of Python


def public(package: str) -> list[str]:
    """The public names of a package that can be called, or hold something."""
    module = __import__(package)
    return sorted((name for name in module.__all__ if not name.startswith("__")), key=str.lower)


def _entry(package: str, name: str) -> str:
    """The page of a public name, from its docstrings."""
    value = getattr(__import__(package), name)
    if isinstance(value, type):
        kind = "autoexception" if issubclass(value, Exception) else "autoclass"
    elif type(value).__name__ == "module":
        kind = "automodule"
    else:
        kind = "autofunction" if callable(value) else "autodata"
    home = f"{package}.{name}"
    extra = ":no-value:" if kind == "autodata" else ":members:"
    option = "" if kind == "autofunction" else f"   {extra}\n"
    return f"# {package}.{name}\n\n```{{eval-rst}}\n.. {kind}:: {home}\n{option}```\n"


def _with_entries(text: str) -> tuple[str, list[str]]:
    """The page of all names with a link at each, and the entries' pages."""
    entries = [f"api/{package}.{name}.md" for package in PACKAGES for name in public(package)]
    for package in PACKAGES:
        before, mark, rest = text.partition(f"\n## `{package}`\n")
        own, sign, after = rest.partition("\n## ")
        own = re.sub(
            r"^\| `(\w+)` \|",
            lambda found, package=package: (
                f"| [`{found[1]}`](api/{package}.{found[1]}.md) |"
                if f"api/{package}.{found[1]}.md" in entries
                else found[0]
            ),
            own,
            flags=re.MULTILINE,
        )
        text = before + mark + own + sign + after
    return text, entries


# ---- building


def build(source: Path, html: Path) -> int:
    """Run Sphinx; warnings are errors."""
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-j", "auto", "-b", "html"]
    return subprocess.run([*command, str(source), str(html)], check=False).returncode


def playground(out: Path) -> int:
    """Make the page that works without Sphinx."""
    return subprocess.run(
        [sys.executable, str(SITE / "playground" / "make.py"), "--out", str(out)], check=False
    ).returncode


def texts_for_programs(html: Path) -> None:
    """llms.txt: what the project is and where its pages are, for programs that read; all pages as one text."""
    lines = ["# Deniable", "", f"> {_first((DOCS / 'index.md').read_text('utf-8'))}", ""]
    whole: list[str] = []
    for head in heads():
        page = (DOCS / f"{head}.md").read_text("utf-8")
        lines += [f"## {_title(page)}", ""]
        for name in (f"{head}.md", *below(head)):
            if name.endswith(".md"):
                text = (DOCS / name).read_text("utf-8")
                lines.append(f"- [{_title(text)}]({name.removesuffix('.md')}.html): {_first(text)}")
                whole.append(f"<!-- {name} -->\n\n{text}")
        lines.append("")
    (html / "llms.txt").write_text("\n".join(lines), "utf-8")
    (html / "llms-full.txt").write_text("\n\n".join(whole), "utf-8")


def _title(text: str) -> str:
    return text.partition("\n")[0].lstrip("# ")


def _first(text: str) -> str:
    """The first sentence of a page's first paragraph."""
    blocks = (block.strip() for block in text.split("\n\n")[1:])
    block = next((block for block in blocks if block[:1].isalpha() or block[:1] in "*`["), "")
    return re.split(r"(?<=[.?!]) ", " ".join(block.split()))[0]


def unplaced() -> Iterator[str]:
    """What is wrong with the places of pages: each but the front page stands below one head."""
    where = placed()
    doors = {f"{door}.md" for door in DOORS}
    for page in pages():
        name = page.relative_to(DOCS).as_posix()
        count = len(where.get(name, ()))
        if name != "index.md" and count + (name in doors) != 1:
            yield f"docs/{name} stands in the lists of {where.get(name) or 'no page'}; one of {', '.join(heads())} must"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=ROOT / "site", help="folder for source/ and html/")
    out: Path = parser.parse_args().out
    start = time.monotonic()
    wrong = list(unplaced())
    if wrong:
        sys.stderr.write("\n".join([*wrong, ""]))
        return 1
    sys.stderr.write("staging the pages\n")
    stage(out / "source")
    sys.stderr.write("building the site (about a minute)\n")
    code = build(out / "source", out / "html") or playground(out / "html" / "playground")
    if code == 0:
        texts_for_programs(out / "html")
        sys.stderr.write(f"wrote {out / 'html' / 'index.html'} in {time.monotonic() - start:.0f} s\n")
    return code


if __name__ == "__main__":
    sys.exit(main())
