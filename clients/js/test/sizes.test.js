/** What a page loads for a design of one family: load.js, and the modules of the kernels in it with all that they import. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { gzipSync } from "node:zlib";

import "../src/index.js";
import { FORMS } from "../src/kernels/contract.js";

const SOURCE = new URL("../src/", import.meta.url);
const PLAIN_MAX = 60_000;
const GZIP_MAX = 15_000;

/** @param {URL} url */
const text = (url) => readFileSync(url, "utf8");

/** All modules that are loaded with some, by their address. @param {URL[]} urls */
function closure(urls, found = new Set()) {
  for (const url of urls) {
    if (found.has(url.href)) continue;
    found.add(url.href);
    const names = [...text(url).matchAll(/^(?:import|export)\s(?:[^;]*?from )?"(\.[^"]+)"/gm)].map((match) => match[1]);
    closure(names.map((name) => new URL(name, url)), found);
  }
  return found;
}

const LOAD = new URL("load.js", SOURCE);
const MODULES = [...text(LOAD).matchAll(/\[\s*"([^"]*)",\s*"([^"]*)",\s*\(\) => import\("([^"]+)"\)/g)].map(
  ([, kinds, names, path]) => ({ kinds: kinds.split(" "), names: names.split(" "), url: new URL(path, LOAD) }),
);

/** Sets of kinds that designs of these shapes may have. @param {any} shapes @returns {string[][]} */
function choices(shapes) {
  return Object.entries(shapes).flatMap(([kind, fields]) => {
    let sets = [[kind]];
    for (const inner of Object.values(fields)) {
      const more = choices(inner);
      sets = sets.flatMap((one) => more.map((two) => [...one, ...two]));
    }
    return sets;
  });
}

/** @param {string} name @param {string[]} kinds */
function loaded(name, kinds) {
  const own = MODULES.filter((each) => each.names.includes(name) || each.kinds.some((kind) => kinds.includes(kind)));
  const files = [...closure([LOAD, ...own.map(({ url }) => url)])].map((href) => text(new URL(href)));
  const zipped = files.reduce((sum, file) => sum + gzipSync(file, { level: 9 }).length, 0);
  return { plain: Buffer.byteLength(files.join("")), gzip: zipped };
}

test("every kind and every mechanism has one module", () => {
  assert.deepEqual(MODULES.flatMap(({ names }) => names).filter((name) => name && name !== "explicit").sort(), [...FORMS.keys()].sort());
  assert.equal(MODULES.length, 13);
});

test("what is loaded for one family is little", () => {
  const lines = [];
  for (const [name, { kernel }] of FORMS) {
    const sizes = choices(kernel).map((kinds) => ({ kinds, ...loaded(name, kinds) }));
    const worst = sizes.reduce((a, b) => (b.gzip > a.gzip ? b : a));
    lines.push(`${name}: ${worst.plain} bytes, ${worst.gzip} gzipped (${worst.kinds})`);
    assert.ok(worst.plain <= PLAIN_MAX && worst.gzip <= GZIP_MAX, lines.at(-1));
  }
  if (process.env.SHOW) console.log(lines.join("\n"));
});
