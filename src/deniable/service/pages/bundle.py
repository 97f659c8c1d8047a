"""Scripts of a page in one file: modules in the order in which they need each other, each in a scope of its own.

Modules are written in one style, and what is not in it is an error, never guessed: statements of imports and exports
begin lines and end with a semicolon, exports are functions, classes, constants or lists, no module needs itself.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from deniable.errors import DeniableError

__all__ = ["bundled", "classic", "stripped"]

_IMPORT = re.compile(r'^import (?:\{([^}"\']*)\} from )?"(\.[^"\n]+)";$', re.MULTILINE)
_LIST = re.compile(r'^export \{([^}"\']*)\}(?: from "(\.[^"\n]+)")?;$', re.MULTILINE)
_DECLARED = re.compile(r"^export (?=(?:async function|function|class|const)\b\*? ([A-Za-z_$][\w$]*))", re.MULTILINE)
_OUTSIDE = re.compile(r'^import [^;"\']* from "node:[a-z]+";$', re.MULTILINE)
_LATER = re.compile(r'(?<![.\w$])import\("(\.[^"\n]+)"\)')
_KEPT = "/* webpackIgnore: true */"
"""Says that an address which is loaded later is not one of ours."""
_LEFT = re.compile(r"(?<![.\w$])(?:import\b(?!\()|export\b(?=\s*[\w{*$]))")
"""An import or export that was not understood: methods may have these names."""
_BEFORE_PATTERN = re.compile(r"(?:^|[(,=:\[!&|?{;~+\-*%<>^]|\breturn|\btypeof|\bcase)$")
"""After what a stroke begins a pattern, and does not divide."""
_AROUND = re.compile(r"(?<!import) *([=,;:?(){}\[\]>&|]) *(?!from)")
"""Signs that stand for themselves, whatever is beside them: plus, minus, strokes and less-than do not."""
_BETWEEN = re.compile(r"(?<![-+*/<]) ([-+*<%]) (?![-+*/!<])")
"""Signs that do between two names or numbers, where none of them is doubled by it."""
_ONE = re.compile(r"(?<=[;{,])\n(?!import\b|export\b|\Z)")
"""Ends of lines after signs that end nothing by themselves."""
_TOKEN = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'", re.DOTALL)
_RUN = re.compile(r"[^\"'`/{}]+")
_PATTERN = re.compile(r"/(?:[^/\\\n\[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/")


def _wrong(what: str) -> DeniableError:
    return DeniableError(f"{what}.", "Write the module in the style of the others.")


# ---- text


def _pieces(text: str, at: int = 0, closing: bool = False) -> Iterator[tuple[str, int]]:
    """Kinds of parts of a script, each with its end; with `closing` up to the brace that ends an expression."""
    code, depth = "", 0
    while at < len(text):
        sign = text[at]
        run = _RUN.match(text, at)
        kind, end = "code", run.end() if run else at + 1
        if sign == "`":
            kind, end = "text", _end_of_template(text, at + 1)
        elif sign in "\"'" or text[at : at + 2] in ("//", "/*"):
            found = _TOKEN.match(text, at)
            if found is None:
                raise _wrong(f"a text or comment does not end: {text[at : at + 40]!r}")
            kind, end = "comment" if sign == "/" else "text", found.end()
        elif sign == "/" and _BEFORE_PATTERN.search(code.rstrip()):
            found = _PATTERN.match(text, at)
            if found is None:
                raise _wrong(f"a pattern does not end: {text[at : at + 40]!r}")
            kind, end = "text", found.end()
        elif sign == "/" and (code.rstrip().endswith("}") or text[at + 1 : at + 2] not in (" ", "=")):
            raise _wrong(f"it is not known whether this divides: {text[at : at + 40]!r}")
        depth += (sign == "{") - (sign == "}") if kind == "code" else 0
        if closing and depth < 0:
            return
        code = code + (text[at:end] if kind == "code" else "" if kind == "comment" else "x")
        code = code.rstrip()[-20:] + " " * code[-1:].isspace()
        yield kind, end
        at = end


def _end_of_template(text: str, at: int) -> int:
    while text[at : at + 1] not in ("`", ""):
        if text.startswith("${", at):
            at = max((end for _, end in _pieces(text, at + 2, closing=True)), default=at + 2)
        at += 2 if text[at : at + 1] == "\\" else 1
    if text[at : at + 1] != "`":
        raise _wrong(f"a text with expressions does not end: {text[-40:]!r}")
    return at + 1


def _parts(text: str) -> Iterator[tuple[str, str]]:
    """Code and texts in turn; comments are what they are to the language, a space or the end of a line."""
    at, code = 0, ""
    for kind, end in _pieces(text):
        part, at = text[at:end], end
        if kind == "text":
            yield "code", code
            yield "text", part
            code = ""
        elif kind == "code" or part == _KEPT:
            code += part
        else:
            code += "\n" if "\n" in part else " "
    yield "code", code


def _lines(text: str, ends: Callable[[str], str], within: Callable[[str], str] = str) -> str:
    """A script without comments, `ends` of its lines mended, and its code `within` them; texts stay as they are."""
    held: list[str] = []
    written = ""
    for kind, part in _parts(text):
        over = kind == "text" and "\n" in part
        if "\0" in part or (over and re.search(r"\n\s*(?:import|export)\b", part)):
            raise _wrong(f"a text could be mistaken for something else: {part[:40]!r}")
        held += [part] if over else []
        written += "\0" if over else part if kind == "text" else within(part)
    lines = "".join(f"{line}\n" for each in written.split("\n") if (line := ends(each)))
    lines = _ONE.sub("", lines) if within is not str else lines
    return re.sub("\0", lambda _: held.pop(0), lines)


def stripped(text: str) -> str:
    """A script without comments and without spaces that the language does not need.

    >>> stripped("  const { a } = f(x, 'b  c');  // all")
    "const{a}=f(x,'b  c');\\n"
    """
    return _lines(text, lambda line: line.strip(" \t"), lambda code: _BETWEEN.sub(r"\1", _AROUND.sub(r"\1", code)))


# ---- modules


@dataclass(frozen=True)
class _Module:
    """What a module imports, by the others' names, what it exports, and the rest of it."""

    name: str
    imports: tuple[tuple[str, str], ...]
    exports: tuple[str, ...]
    """As in a list of an object."""
    again: tuple[tuple[str, str], ...]
    """What it exports of others, as in a pattern of an object, and their names."""
    body: str

    @property
    def own(self) -> str:
        """What it is called in the bundle."""
        return re.sub(r"\W", "_", self.name.removesuffix(".js"))


def _pairs(listed: str, names: str) -> str:
    """`a, b as c` as `a, b: c`: what an object or a pattern of one has."""
    found = [each.split(" as ") for each in re.split(r"\s*,\s*", listed.strip()) if each]
    if not all(re.fullmatch(r"[\w$]+", word) for each in found for word in each) or any(
        len(each) > 2 for each in found
    ):
        raise _wrong(f"{names} lists what is not known: {listed.strip()!r}")
    return ", ".join(": ".join(each) for each in found)


def _read(name: str, text: str) -> _Module:
    folder = posixpath.dirname(name)
    written = _lines(text, lambda line: line.rstrip(" \t"))
    imports: list[tuple[str, str]] = []
    exports: list[str] = []
    again: list[tuple[str, str]] = []

    def path(to: str) -> str:
        return posixpath.normpath(posixpath.join(folder, to))

    def taken(found: re.Match[str]) -> str:
        imports.append((_pairs(found[1] or "", name), path(found[2])))
        return ""

    def listed(found: re.Match[str]) -> str:
        if found[2] is None:
            turned = (": ".join(reversed(each.split(": "))) for each in _pairs(found[1], name).split(", "))
            exports.extend(turned)
        else:
            again.append((_pairs(found[1], name), path(found[2])))
        return ""

    def declared(found: re.Match[str]) -> str:
        exports.append(found[1])
        return ""

    body = _DECLARED.sub(declared, _LIST.sub(listed, _IMPORT.sub(taken, written)))
    left = "".join(part if kind == "code" else "''" for kind, part in _parts(_OUTSIDE.sub("", body)))
    if (found := _LEFT.search(left)) is not None:
        raise _wrong(f"{name} imports or exports in a way that is not known: {left[found.start() :][:60]!r}")
    later = re.findall(r"(?<![.\w$])import\((?!\s*/\* webpackIgnore: true \*/)", left)
    if len(later) != len(_LATER.findall(body)):
        raise _wrong(f"{name} loads something later whose address is not known")
    return _Module(name, tuple(imports), tuple(exports), tuple(again), body)


def _ordered(name: str, known: Callable[[str], _Module], found: dict[str, _Module], way: tuple[str, ...] = ()) -> None:
    """All that a module imports at once, before it."""
    if name in way:
        raise _wrong(f"modules need each other in a circle: {' > '.join((*way, name))}")
    if name in found:
        return
    module = known(name)
    for _, other in (*module.imports, *module.again):
        _ordered(other, known, found, (*way, name))
    found[name] = module


def bundled(entry: str, sources: Mapping[str, str]) -> dict[str, str]:
    """Modules by their names, as they are served: `entry` has in it all that it imports at once.

    What is in the bundle has no file of its own, so that there is one of each; the bundle exports each of them as an
    object, from which the other modules take it. Modules that are loaded later stay files, at addresses that fit.
    """
    modules, inside, whole = _together(entry, sources)
    known = _finder(modules)
    others = {name: _outside(module, entry, inside, known) for name, module in modules.items() if name not in inside}
    return {entry: stripped(whole), **{name: stripped(text) for name, text in others.items()}}


def classic(entry: str, sources: Mapping[str, str]) -> str:
    """All that a module imports at once, as one plain script, which pages from files may load; nothing comes later."""
    _, inside, whole = _together(entry, sources)
    if (later := [to for module in inside.values() for to in _LATER.findall(module.body)]) != []:
        raise _wrong(f"a plain script has all of its modules in it, and these come later: {', '.join(later)}")
    scopes = re.sub(r"^export (?=const \w+ = await \()", "", whole, flags=re.MULTILINE)
    return f'"use strict";\n(async()=>{{\n{stripped(scopes)}}})();\n'


def _finder(modules: Mapping[str, _Module]) -> Callable[[str], _Module]:
    def known(name: str) -> _Module:
        if name not in modules:
            raise _wrong(f"there is no module {name}")
        return modules[name]

    return known


def _together(entry: str, sources: Mapping[str, str]) -> tuple[dict[str, _Module], dict[str, _Module], str]:
    """All modules, those that an entry needs at once, in their order, and these as one text."""
    modules = {name: _read(name, text) for name, text in sources.items()}
    known = _finder(modules)
    inside: dict[str, _Module] = {}
    _ordered(entry, known, inside)
    if len({module.own for module in inside.values()}) < len(inside):
        raise _wrong("two modules of the bundle would have one name")
    for module in inside.values():
        if _OUTSIDE.search(module.body):
            raise _wrong(f"{module.name} is part of the page, and imports what only Node has")
    return modules, inside, "".join(_scope(module, entry, inside, known) for module in inside.values())


def _scope(module: _Module, entry: str, inside: Mapping[str, _Module], known: Callable[[str], _Module]) -> str:
    """A module within the bundle; one may wait for something when it begins."""

    def later(found: re.Match[str]) -> str:
        name = posixpath.normpath(posixpath.join(posixpath.dirname(module.name), found[1]))
        if name in inside:
            return f"Promise.resolve({inside[name].own})"
        return f'import("./{posixpath.relpath(known(name).name, posixpath.dirname(entry) or ".")}")'

    taken = "".join(f"const {{ {names} }} = {inside[other].own};\n" for names, other in module.imports if names)
    again = [
        f"{pair.rpartition(': ')[2]}: {inside[other].own}.{pair.partition(': ')[0]}"
        for names, other in module.again
        for pair in names.split(", ")
    ]
    given = ", ".join((*module.exports, *again))
    body = _LATER.sub(later, module.body)
    return f"export const {module.own} = await (async () => {{\n{taken}{body}\nreturn {{ {given} }};\n}})();\n"


def _outside(module: _Module, entry: str, inside: Mapping[str, _Module], known: Callable[[str], _Module]) -> str:
    """A module that is loaded later: what is in the bundle, it takes from there."""
    folder = posixpath.dirname(module.name)

    def address(name: str) -> str:
        to = posixpath.relpath(name, folder or ".")
        return to if to.startswith(".") else f"./{to}"

    if any(posixpath.normpath(posixpath.join(folder, to)) in inside for to in _LATER.findall(module.body)):
        raise _wrong(f"{module.name} loads later what the bundle has")
    own = sorted({inside[other].own for _, other in (*module.imports, *module.again) if other in inside})
    lines = [f'import {{ {", ".join(own)} }} from "{address(entry)}";'] if own else []
    for export, pairs in (("", module.imports), ("export ", module.again)):
        for names, other in pairs:
            if other in inside:
                lines += [f"{export}const {{ {names} }} = {inside[other].own};"] if names else []
            else:
                listed = f"{{ {names.replace(': ', ' as ')} }} from " if names else ""
                lines.append(f'{"export" if export else "import"} {listed}"{address(known(other).name)}";')
    given = ", ".join(" as ".join(reversed(each.split(": "))) for each in module.exports)
    return "\n".join((*lines, module.body, f"export {{ {given} }};" if given else "", ""))
