/** What a page loads for a design of one family: load.js, and the modules of the kernels in it with all that they import. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { gzipSync } from "node:zlib";

import "../src/index.js";
import { FORMS, KERNELS } from "../src/kernels/contract.js";

const SOURCE = new URL("../src/", import.meta.url);
/** Bytes of sources with their comments: for the smallest family, and for the largest one. Fewer are better. */
const PLAIN_MAX = { least: 61_000, most: 96_500 };
/** The same as a collector serves them: without the lines that are comments only, and every file gzipped on its own. */
const GZIP_MAX = { least: 16_100, most: 25_500 };
const COMMENT = /^[ \t]*(?:\/\*\*(?:[^*]|\*(?!\/))*\*\/[ \t]*|\/\/[^\n]*)\n/gm;

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
  const zipped = files.reduce((sum, file) => sum + gzipSync(file.replace(COMMENT, ""), { level: 9 }).length, 0);
  return { files: files.length, plain: Buffer.byteLength(files.join("")), gzip: zipped };
}

test("every kind and every mechanism has one module", () => {
  assert.deepEqual(MODULES.flatMap(({ names }) => names).filter((name) => name && name !== "explicit").sort(), [...FORMS.keys()].sort());
  assert.equal(MODULES.length, 17);
  const all = MODULES.flatMap((each) => each.kinds);
  const kinds = all.filter((kind) => !kind.startsWith("."));
  assert.deepEqual(all.filter((kind) => kind.startsWith(".")), [".interval", ".codes", ".space"]);
  assert.deepEqual([...kinds].sort(), [...KERNELS.keys()].sort());
});

test("what is loaded for one family does not grow", () => {
  const all = [...FORMS].flatMap(([name, { kernel }]) => choices(kernel).map((kinds) => ({ name, kinds })));
  const found = ["", ".interval", ".space"].flatMap((domain) =>
    all.map(({ name, kinds }) => ({ name, kinds, domain, ...loaded(name, [...kinds, domain]) })),
  );
  for (const [what, limits] of /** @type {const} */ ([["plain", PLAIN_MAX], ["gzip", GZIP_MAX]])) {
    const sorted = found.sort((a, b) => a[what] - b[what]);
    const [least, most] = [sorted[0], sorted[sorted.length - 1]];
    assert.ok(least[what] <= limits.least, `${least[what]} bytes (${what}) for ${least.name}`);
    assert.ok(most[what] <= limits.most, `${most[what]} bytes (${what}) for ${most.name}: ${most.kinds}`);
  }
  const whole = [...closure([new URL("index.js", SOURCE)])].length;
  assert.ok(found.every(({ files }) => files < whole));
});
