/**
 * What a page loads for a design of one family, and what it loads besides. A family is what `prepare` of load.js needs to prove
 * a design and to draw a report: the core, which every design has, and the modules of its kernels. Domains of numbers or of
 * points, explanations, and the ledger with its outbox come in modules of their own, and have their own limits here.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import { gzipSync } from "node:zlib";

import "../src/index.js";
import { FORMS, KERNELS } from "../src/designs.js";

const SOURCE = new URL("../src/", import.meta.url);
/** Bytes of the sources with their comments, and as a collector serves them: every file gzipped on its own. */
const FAMILY = { plain: 60_000, gzip: 15_000 };
/** What comes to a family, or to what else is said. @type {[string, string[], typeof FAMILY][]} */
const BESIDES = [
  ["kernels/dealt.js", ["load.js"], { plain: 8_700, gzip: 2_500 }],
  ["labels.js", ["load.js"], { plain: 4_900, gzip: 1_600 }],
  ["intervals.js", ["load.js"], { plain: 3_300, gzip: 1_200 }],
  ["codes.js", ["load.js"], { plain: 4_300, gzip: 1_700 }],
  ["spaces.js", ["load.js", "labels.js"], { plain: 1_200, gzip: 560 }],
  ["unicode_texts.js", ["load.js", "labels.js"], { plain: 46_500, gzip: 18_000 }],
  ["explain.js", ["load.js"], { plain: 27_700, gzip: 7_100 }],
  ["explain_parts.js", ["load.js", "explain.js"], { plain: 2_000, gzip: 800 }],
  ["task.js", ["load.js", "labels.js", "explain.js"], { plain: 62_000, gzip: 16_800 }],
  ["together.js", ["load.js", "labels.js", "task.js"], { plain: 6_600, gzip: 1_900 }],
  ["terms.js", ["load.js", "task.js"], { plain: 6_000, gzip: 2_200 }],
  ["ledger.js", ["load.js", "task.js"], { plain: 45_500, gzip: 10_200 }],
  ["outbox.js", ["load.js", "ledger.js"], { plain: 12_000, gzip: 2_900 }],
  ["views.js", ["load.js", "ledger.js"], { plain: 4_300, gzip: 1_200 }],
];
/** As in service/pages/assets.py: comments that have lines of their own, and types within lines. */
const COMMENT = /^[ \t]*(?:\/\*\*(?:[^*]|\*(?!\/))*\*\/[ \t]*|\/\/[^\n]*)\n|\/\*\* @type [^\n]*?\*\/ ?/gm;

/** @param {URL} url */
const text = (url) => readFileSync(url, "utf8");

/** All modules that are loaded with some, by their address. @param {URL[]} urls @param {Set<string>} [found] */
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
const MODULES = [...text(LOAD).matchAll(/\[\s*"([^"]*)",\s*\(\) => import\("([^"]+)"\)/g)].map(([, looked, path]) => ({
  looked: looked.split(" "),
  url: new URL(path, LOAD),
}));

/** @param {Iterable<string>} hrefs */
function sizes(hrefs) {
  const files = [...hrefs].map((href) => text(new URL(href)));
  const zipped = files.map((file) => gzipSync(file.replace(COMMENT, ""), { level: 9 }).length);
  return { plain: Buffer.byteLength(files.join("")), gzip: zipped.reduce((a, b) => a + b) };
}

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
const familyOf = (name, kinds) =>
  closure([LOAD, ...MODULES.filter(({ looked }) => looked.some((each) => [...kinds, `:${name}`].includes(each))).map(({ url }) => url)]);

/** @param {Record<string, number>} found @param {Record<string, number>} limits @param {string} what */
function within(found, limits, what) {
  for (const [unit, most] of Object.entries(limits)) assert.ok(found[unit] < most, `${found[unit]} of ${most} bytes (${unit}) for ${what}`);
}

test("every kind of kernel and of domain has one module", () => {
  const all = MODULES.flatMap(({ looked }) => looked);
  assert.deepEqual(all.filter((each) => /^[^.:]/.test(each)).sort(), [...KERNELS.keys()].sort());
  assert.deepEqual(all.filter((each) => each.startsWith(".")), [".ticks", ".labels", ".interval", ".circle", ".codes", ".space"]);
  assert.ok(all.filter((each) => each.startsWith(":")).every((each) => FORMS.has(each.slice(1)) || each === ":dealt"));
  assert.equal(new Set(MODULES.map(({ url }) => url.href)).size, MODULES.length);
});

test("every family is small", () => {
  const all = [...FORMS].flatMap(([name, { kernel }]) => choices(kernel).map((kinds) => ({ name, kinds })));
  for (const { name, kinds } of all) within(sizes(familyOf(name, kinds)), FAMILY, `${name}: ${kinds}`);
  const whole = closure([new URL("index.js", SOURCE)]);
  assert.ok(all.length > 60 && all.every(({ name, kinds }) => familyOf(name, kinds).size < whole.size));
});

test("so is what is loaded besides", () => {
  const core = closure([LOAD]);
  assert.deepEqual([...core].map((href) => href.slice(SOURCE.href.length)).sort(), ["designs.js", "device.js", "errors.js", "exact.js", "load.js"]);
  for (const [file, there, limits] of BESIDES) {
    const before = closure(there.map((name) => new URL(name, SOURCE)));
    const more = [...closure([new URL(file, SOURCE)])].filter((href) => !before.has(href));
    within(sizes(more), limits, file);
  }
});

test("a page loads what a design needs, and no more", async () => {
  /** @type {{about: string, design: any, harmless: any}[]} */
  const good = JSON.parse(text(new URL("../../vectors/hostile.json", import.meta.url))).good;
  const script = `
    const { parentPort, workerData } = require("node:worker_threads");
    (async () => {
      const { deviceFor } = await import(workerData.source + "load.js");
      const { KERNELS, FORMS } = await import(workerData.source + "designs.js");
      const device = await deviceFor(workerData.design, { harmless: workerData.harmless });
      let told = "";
      try { device.explain(); } catch (error) { told = error.message; }
      parentPort.postMessage({ kinds: [...KERNELS.keys()], names: [...FORMS.keys()], width: device.kernel.width, told });
    })();`;
  for (const { about, design, harmless } of good) {
    const worker = new Worker(script, { eval: true, workerData: { source: SOURCE.href, design, harmless } });
    const { kinds, names, width, told } = await new Promise((done, fail) => worker.once("message", done).once("error", fail));
    assert.ok(width > 0 && names.includes(design.mechanism), about);
    assert.match(told, /not loaded/);
    const own = [...JSON.stringify(design).matchAll(/"kind":"([^"]+)"/g)].map((match) => match[1]);
    const files = [...familyOf(design.mechanism, own)].map((href) => text(new URL(href))).join("");
    const had = [...files.matchAll(/static kind = "([^"]+)"/g)].map((match) => match[1]);
    assert.deepEqual([...kinds].sort(), [...new Set(had)].sort(), about);
  }
  assert.ok(good.length > 20);
});
