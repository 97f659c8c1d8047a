"""The survey page's modules in one file: the same modules, one of each, and nothing is guessed about their style."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from client.test_js import _tsc
from deniable.errors import DeniableError
from deniable.service.pages import assets
from deniable.service.pages.bundle import bundled, classic, stripped

CLIENTS = Path(__file__).resolve().parents[2] / "clients"
CLIENT = CLIENTS / "js" / "src"
STATIC = CLIENTS.parent / "src" / "deniable" / "service" / "pages" / "static"
PAGE = """
globalThis.document = { documentElement: {}, getElementById: () => ({ dataset: {} }) };
globalThis.location = { origin: "http://127.0.0.1:1" };
"""
"""As much of a browser as the page's script asks for where there is no question."""
STUBS = """
import "./page.js";
import { existsSync, writeFileSync } from "node:fs";
const bundle = await import("./served/survey.js");
for (const [own, names] of Object.entries(bundle)) {
  if (!own.startsWith("client_")) continue;
  const taken = `import "../page.js";\\nimport { ${own} } from "../served/survey.js";\\n`;
  writeFileSync(`src/${own.slice(7)}.js`, `${taken}export const { ${Object.keys(names).join(", ")} } = ${own};\\n`);
}
"""
"""Modules of the client's names that have what the bundle has."""


@pytest.fixture(scope="module")
def client(node: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder like that of the client, whose modules are those that browsers are sent, with the client's tests."""
    folder = tmp_path_factory.mktemp("bundle") / "js"
    source = folder / "src"
    shutil.copytree(CLIENTS / "js" / "test", folder / "test")
    shutil.copytree(CLIENTS / "vectors", folder.parent / "vectors")
    for name, text in assets.scripts().items():
        path = folder / "served" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        if name.startswith("client/"):
            stub = source / name.removeprefix("client/")
            stub.parent.mkdir(parents=True, exist_ok=True)
            up = "../" * len(stub.relative_to(folder).parts[:-1])
            stub.write_text(f'import "{up}page.js";\nexport * from "{up}served/{name}";\n', "utf-8")
    for name in ("index.js", "replay.js"):
        shutil.copy(CLIENTS / "js" / "src" / name, source / name)
    (folder / "page.js").write_text(PAGE)
    (folder / "package.json").write_text('{"type": "module"}')
    _run(node, folder, STUBS)
    names = {path.relative_to(source) for path in source.rglob("*.js")}
    there = {path.relative_to(CLIENTS / "js" / "src") for path in (CLIENTS / "js" / "src").rglob("*.js")}
    assert names == there - {Path("types.js")}
    return folder


def _run(node: str, folder: Path, code: str) -> str:
    (folder / "run.js").write_text(code, "utf-8")
    done = subprocess.run([node, "run.js"], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


LEAST = {"vectors": 20, "device": 12, "canonical": 5, "task": 15, "signing": 3, "outbox": 10, "ledger": 40}
"""Tests of the client, and how many there are at least."""


@pytest.mark.slow
@pytest.mark.turns(3)
@pytest.mark.parametrize("name", LEAST)
def test_the_bundle_does_what_the_modules_do(node: str, client: Path, name: str) -> None:
    """The client's own tests, vectors included, with the modules of the bundle."""
    done = subprocess.run([node, "--test", f"test/{name}.test.js"], cwd=client, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    (passed,) = re.findall(r"^# pass (\d+)$", done.stdout, re.MULTILINE)
    assert int(passed) >= LEAST[name]


def test_there_is_one_of_each_module(node: str, client: Path) -> None:
    """Kernels that are loaded later extend the bundle's classes and throw its errors, and it finds them."""
    told = _run(
        node,
        client,
        """
        import "./page.js";
        import { client_designs as designs, client_errors as errors, client_load as load } from "./served/survey.js";
        const before = designs.KERNELS.size;
        const { Response } = await import("./served/client/kernels/response.js");
        await import("./served/client/kernels/metric.js");
        const found = [Response.prototype instanceof designs.Kernel, designs.KERNELS.size > before];
        try {
          await load.deviceFor({});
        } catch (error) {
          found.push(error instanceof errors.DeniableError);
        }
        console.log(JSON.stringify([before, ...found]));
        """,
    )
    assert told.strip() == "[0,true,true,true]"


def test_what_is_in_the_bundle_has_no_file_of_its_own() -> None:
    """Browsers load the bundle and what a design needs; nothing that only Node has a use for."""
    found = assets.of_page()
    for name in ("ledger", "task", "designs", "outbox", "store_indexeddb", "store_file", "exchange_node", "index"):
        assert f"client/{name}.js" not in found
    assert {"survey.js", "receipt.js", "client/meaning.js", "client/kernels/subset.js", "client/intervals.js"} <= set(
        found
    )
    text = found["survey.js"].plain.decode()
    assert not re.search(r"^import ", text, re.MULTILINE)
    assert assets.scripts() == assets.scripts()


SMALL = {
    "a.js": 'import { b, c as d } from "./x/b.js";\nimport "./e.js";\nlog(b(), d);\nimport("./x/later.js");\n',
    "e.js": "globalThis.f = 1; // for all\n",
    "x/b.js": '/** 2 */\nexport function b() {\n return "import"; /* no */\n}\nconst one = 1;\nexport { one as c };\n',
    "x/later.js": 'import { b } from "./b.js";\nexport { c } from "./b.js";\nexport class Late {}\nb();\n',
}


def test_a_bundle_is_what_it_says() -> None:
    found = bundled("a.js", SMALL)
    assert list(found) == ["a.js", "x/later.js"]
    assert found["a.js"].splitlines() == [
        'export const x_b=await(async()=>{function b(){return "import";}',
        "const one=1;return{c:one,b};})();",
        "export const e=await(async()=>{globalThis.f=1;return{};})();",
        "export const a=await(async()=>{const{b,c:d}=x_b;log(b(),d);",
        'import("./x/later.js");return{};})();',
    ]
    assert found["x/later.js"].splitlines() == [
        'import {x_b} from "../a.js";const{b}=x_b;',
        "export const{c}=x_b;class Late{}",
        "b();",
        "export{Late};",
    ]


def test_a_plain_script_has_all_of_its_modules_and_none_that_come_later() -> None:
    """It is strict as modules are, and names nothing outside itself."""
    assert classic("e.js", SMALL) == (
        '"use strict";\n(async()=>{\nconst e=await(async()=>{globalThis.f=1;return{};})();\n})();\n'
    )
    text = classic("x/later.js", SMALL)
    assert text.splitlines()[2:-1] == [
        'const x_b=await(async()=>{function b(){return "import";}',
        "const one=1;return{c:one,b};})();const x_later=await(async()=>{const{b}=x_b;class Late{}",
        "b();return{Late,c:x_b.c};})();",
    ]
    with pytest.raises(DeniableError, match=r"these come later: \./x/later\.js"):
        classic("a.js", SMALL)


@pytest.mark.parametrize(
    "odd",
    [
        'import all from "./e.js";',
        'import * as all from "./e.js";',
        "import { b } from './e.js';",
        'import { b } from "node:fs";',
        'import { default as b } from "./e.js"',
        'import { b } from "./nowhere.js";',
        'import { b, "c d" as e } from "./e.js";',
        "export default 1;",
        "export let changes = 1;",
        "export var changes = 1;",
        "export const { a, b } = {};",
        'export * from "./e.js";',
        "  export const inner = 1;",
        "const where = import.meta.url;",
        "import(place);",
        'import(`./${"e"}.js`);',
        'import( "./e.js" );',
        'const text = `over\nimport "./b.js";`;',
        "const text = `${`over\n export const lines`}`;",
        "const text = '\0';",
        'const text = "open;',
        "/* open",
        "if (a) {} /b/.test(c);",
        "if (a) /b/.test(c);",
        "const text = `${a",
        "const text = `a",
        'import "./a.js";',
    ],
)
def test_what_is_written_in_another_way_is_refused(odd: str) -> None:
    """In a module of the bundle; most of it anywhere."""
    with pytest.raises(DeniableError):
        bundled("a.js", SMALL | {"e.js": f"{odd}\n"})


def test_comments_go_and_texts_stay() -> None:
    """Also texts that look like comments, patterns with quotes in them, and texts within texts."""
    kept = [
        "const url=\"http://a//b\";const one='/* no */';",
        r"""const found=/[/'"`]\/\/*/.test(text)?a / b / c:`${x ? `//${y}` : "}"} // z`;""",
        "const half=(a+b)/ 2,third=list[0]/ 3;return /x/;",
    ]
    given = f"// one\n  {kept[0]} // two\n/* three\n   four */\n\n\t{kept[1]}\n{kept[2]} /* five */\n"
    assert stripped(given) == "".join(kept) + "\n"
    over = "const table=`\n  a \n\n// b\n`+`c`;\n"
    assert stripped(f"  {over}  f();") == f"{over.rstrip()}f();\n"
    assert stripped('f("a\u2028b");') == 'f("a\u2028b");\n'
    assert stripped("a + +b; a - -b; a++ + b; x < !--y; a < b; a !== -b; return -1;") == (
        "a + +b;a - -b;a++ + b;x < !--y;a<b;a !==-b;return -1;\n"
    )
    assert stripped("return /* a\nb */ x;") == "return\nx;\n"


CHECKED = {
    "compilerOptions": {
        "allowJs": True,
        "checkJs": True,
        "strict": True,
        "noEmit": True,
        "target": "es2022",
        "module": "nodenext",
        "lib": ["es2023", "dom", "dom.iterable"],
        "skipLibCheck": True,
        "types": ["node"],
    },
    "include": ["static/*.js"],
}


@pytest.mark.turns(2)
@pytest.mark.slow
def test_scripts_of_pages_are_typed(tmp_path: Path) -> None:
    """As strictly as the client that they import; a wrong type is noticed."""
    tsc, types = _tsc() or pytest.skip("there is no TypeScript")
    shutil.copytree(STATIC, tmp_path / "static")
    shutil.copytree(CLIENT, tmp_path / "static" / "client")
    (tmp_path / "package.json").write_text('{"type": "module"}')
    (tmp_path / "tsconfig.json").write_text(json.dumps(CHECKED))
    (tmp_path / "static" / "planted.js").write_text('/** @type {number} */\nexport const planted = "text";\n')
    done = subprocess.run(
        [tsc, "-p", ".", "--typeRoots", str(types)], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    own = re.findall(r"^static/(\w+\.js)\(", done.stdout, re.MULTILINE)
    assert own == ["planted.js"], done.stdout
