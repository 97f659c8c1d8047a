/** Texts of strangers: the same characters are allowed, and the same labels look alike, as in all clients. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Worker } from "node:worker_threads";

import { LABELS_MAX } from "../src/unicode_texts.js";
import { printable, quoted, textFault } from "../src/printing.js";
import { ALIKE, ALPHABETS, LABEL_MAX, alphabetOf, labelsFault } from "../src/texts.js";

/** @type {any} */
const VECTORS = JSON.parse(readFileSync(new URL("../../vectors/texts.json", import.meta.url), "utf8"));
const { skeleton, strays } = /** @type {any} */ (ALPHABETS.of?.([]));
/** @param {string} label */
const keyOf = (label) => alphabetOf([label]).skeleton(label);

test("texts of the vectors", () => {
  for (const { text, fault, prose, quoted: told } of VECTORS.texts) {
    assert.equal(textFault(text), fault);
    assert.equal(textFault(text, true), prose);
    assert.equal(quoted(text), told);
  }
  assert.ok(VECTORS.texts.length > 80);
});

test("labels of the vectors", () => {
  for (const { labels, fault, keys } of VECTORS.labels) {
    assert.equal(labelsFault(labels), fault);
    assert.deepEqual(labels.map(keyOf), keys);
  }
  assert.ok(VECTORS.labels.length > 50);
});

test("all code points are what they are in all clients", () => {
  const { allowed, ...hashes } = VECTORS.alphabet;
  let every = "";
  for (let code = 0; code < 0x110000; code++) every += "a" + String.fromCodePoint(code);
  const stray = strays(every);
  const good = [];
  for (let code = 0; code < 0x110000; code++) if (!stray[2 * code + 1] && code !== 10) good.push(String.fromCodePoint(code));
  assert.equal(good.length, allowed);
  const looks = (/** @type {string[]} */ signs) => signs.map(skeleton).join("\n");
  const made = { printable: printable(every), skeleton: looks(good), lower: looks(good.map((sign) => sign.toLowerCase())) };
  for (const [name, text] of Object.entries(made)) {
    assert.equal(createHash("sha256").update(text).digest("hex"), hashes[name], name);
  }
});

test("a label looks the same whether the others are ASCII or not", () => {
  for (let code = 0x20; code < 0x7f; code++) {
    const sign = String.fromCharCode(code);
    assert.equal(keyOf(`a${sign}x\u4e0d`), keyOf(`a${sign}x`) + keyOf("\u4e0d"));
  }
  assert.equal(Object.keys(ALIKE).length, 9);
});

test("work is bounded", () => {
  for (const sign of ["\ufdfa", "\u0444", "e\u0301\u0323", "\u{1d49c}", "ab \u0432\u0433 "]) {
    const each = sign.repeat(Math.floor(900 / [...sign].length));
    const count = Math.floor((LABELS_MAX - 1) / ([...each].length + 5));
    const labels = (/** @type {number} */ most) => Array.from({ length: most }, (_, i) => each + String(i).padStart(4, "0"));
    const start = process.cpuUsage();
    assert.equal(labelsFault(labels(count)), "");
    assert.ok(process.cpuUsage(start).user < 6e6);
    assert.match(labelsFault(labels(count + 99)), /more than/);
  }
  assert.match(labelsFault(["a", "x".repeat(LABEL_MAX + 1)]), /more than 1000/);
});

test("what is not ASCII needs a module that prepare loads", async () => {
  const script = `
    const { parentPort, workerData } = require("node:worker_threads");
    (async () => {
      const { prepare } = await import(workerData + "load.js");
      await import(workerData + "kernels/response.js");
      await import(workerData + "labels.js");
      const { Device } = await import(workerData + "device.js");
      const kernel = { kind: "response", k: "2", keep: "13485650502877570762" };
      const design = { mechanism: "grr", version: 1, epsilon: 1, domain: { labels: ["oui", "pas s\\u00fbr"] }, params: {}, kernel };
      const told = [];
      try { new Device(design); } catch (error) { told.push(error.kind, error.hint); }
      await prepare(design);
      told.push(new Device(design).labels.length);
      parentPort.postMessage(told);
    })();`;
  const worker = new Worker(script, { eval: true, workerData: new URL("../src/", import.meta.url).href });
  const told = await new Promise((done, fail) => worker.once("message", done).once("error", fail));
  assert.deepEqual(told, ["FormatError", "Use prepare of load.js.", 2]);
});
