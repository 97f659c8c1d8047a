/** Every file of clients/vectors, bit for bit: reports, ratios, bounds, hashes, packing; what leaks or is no design is refused. */
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";

import { Ratio, bitsWidth, expLow, packBits, packInt, uintWidth } from "../src/exact.js";
import { reduced } from "../src/explain.js";
import { bucket, hash32, mix32, split64 } from "../src/hashing.js";
import { Device, ReplayWords, explain } from "../src/index.js";
import { logUpper } from "../src/logarithms.js";
import { FORMS, KERNELS, checkPromise, kernelFrom } from "../src/designs.js";
import { kernelTo } from "../src/kernels/utility_forms.js";

const FOLDER = new URL("../../vectors/", import.meta.url);
/** @type {Record<string, any>} */
const FILES = Object.fromEntries(
  readdirSync(FOLDER)
    .filter((name) => name.endsWith(".json"))
    .map((name) => [name.slice(0, -5), JSON.parse(readFileSync(new URL(name, FOLDER), "utf8"))]),
);
const SPECIAL = ["grammar", "hash", "hostile", "packing", "promise"];
const KERNEL_FILES = Object.keys(FILES).filter((name) => FILES[name].cases?.[0]?.reports);

/** @param {Uint8Array} bytes */
const hex = (bytes) => Buffer.from(bytes).toString("hex");
/** @param {string[]} words */
const replayed = (words) => new ReplayWords(words.map((word) => BigInt(`0x${word}`)));
/** @param {string} kind */
const refusal = (kind) => (/** @type {any} */ error) => error.kind === kind || assert.fail(`${error.kind}: ${error}`);

test("the files of kernels are there, and have all kinds", () => {
  assert.ok(KERNEL_FILES.length >= 16);
  const kinds = new Set();
  const walk = (/** @type {any} */ part) => {
    if (part?.kind) kinds.add(part.kind);
    if (part && typeof part === "object") Object.values(part).forEach(walk);
  };
  for (const name of KERNEL_FILES) FILES[name].cases.forEach((/** @type {any} */ { kernel }) => walk(kernel));
  assert.deepEqual([...kinds].sort(), [...KERNELS.keys()].sort());
  assert.equal(kinds.size, 41);
});

for (const name of KERNEL_FILES) {
  test(`${name}: words become the reports, ratios are exact, what leaks is refused`, () => {
    let count = 0;
    for (const { kernel: document, ratio, width, epsilon, leaks, budgets, reports } of FILES[name].cases) {
      const kernel = kernelFrom(document);
      assert.deepEqual(kernelTo(kernel), document);
      assert.equal(kernel.width, width);
      const { top, bottom } = reduced(kernel.promisedRatio);
      assert.deepEqual([`${top}`, `${bottom}`], [ratio.numerator, ratio.denominator]);
      const check = (/** @type {any} */ made) => {
        checkPromise(made, expLow(epsilon), epsilon);
        if (budgets || made.kind === "channel") made.checkPromises({ item_epsilon: budgets });
      };
      check(kernel);
      if (leaks) assert.throws(() => check(kernelFrom(leaks)), refusal("PrivacyError"));
      for (const { value, pairs, level, words, report } of reports) {
        const given = pairs ? pairs.map((/** @type {any} */ [k, v]) => [k, Number(v)]) : Array.isArray(value) ? value : BigInt(value);
        const replay = replayed(words);
        assert.equal(hex(kernel.randomise(given, replay, level)), report);
        assert.throws(() => replay.word(), refusal("ParameterError"), "all words are used");
        count++;
      }
    }
    assert.ok(count >= 20, `${count}`);
  });
}

test("words deal the parts that the vectors say, and reports of parts are framed as they say", () => {
  let [dealt, framed] = [0, 0];
  for (const { kernel: document, deals, frames } of FILES.dealt.cases) {
    const kernel = kernelFrom(document);
    for (const { words, part } of deals) assert.equal(kernel.deal(replayed(words)), part, `${dealt++}`);
    for (const { part, report, framed: whole } of frames) {
      assert.equal(hex(kernel.frame(part, Uint8Array.from(Buffer.from(report, "hex")))), whole, `${framed++}`);
    }
  }
  assert.ok(dealt > 90 && framed > 41, `${[dealt, framed]}`);
});

test("designs of parts are read by themselves: the same words, and the same reports", () => {
  for (const { about, design, harmless, epsilon, text, several, exact, unread, width, reports } of FILES.dealt.good) {
    const found = explain(design);
    const twelve = found.over(12);
    assert.deepEqual([found.epsilon, found.text, twelve.text, found.unread], [epsilon, text, several, unread], about);
    const written = (/** @type {any} */ ratio) => `${reduced(ratio).top}/${reduced(ratio).bottom}`;
    assert.deepEqual([twelve.ratio, twelve.sure, twelve.named].map(written), exact, about);
    for (const agreed of [found.harmless, harmless]) {
      const device = new Device(design, { harmless: agreed });
      assert.deepEqual([device.kernel.width, device.epsilon, `${device.explain()}`], [width, design.epsilon, text], about);
      for (const { value, words, report } of reports) {
        const replay = replayed(words);
        assert.equal(hex(device.report(value, { words: replay })), report, about);
        assert.throws(() => replay.word(), refusal("ParameterError"), "all words are used");
      }
    }
  }
  assert.ok(FILES.dealt.good.length > 7);
});

test("a label is named in a sentence as the vectors say", () => {
  for (const { label, told, design } of FILES.texts.named) assert.equal(explain(design).text.split("\n").at(-1), told, label);
  assert.ok(FILES.texts.named.length > 25);
});

test("the hash of items and seeds, step by step", () => {
  for (const { seed, item, mix, a, b, hash, buckets } of FILES.hash.cases) {
    const number = BigInt(`0x${seed}`);
    assert.deepEqual([split64(number, 1n), split64(number, 2n)], [BigInt(`0x${a}`), BigInt(`0x${b}`)]);
    assert.equal(mix32(item), mix);
    assert.equal(hash32(number, BigInt(item)), BigInt(hash));
    for (const [g, y] of Object.entries(buckets)) assert.equal(bucket(number, BigInt(item), BigInt(g)), BigInt(y));
  }
  assert.ok(FILES.hash.cases.length >= 35);
});

test("bits and integers as bytes", () => {
  for (const { k, items, bytes, width } of FILES.packing.bits) {
    assert.equal(hex(packBits(items, BigInt(k))), bytes);
    assert.equal(bitsWidth(BigInt(k)), width);
  }
  for (const { value, count, width, bytes } of FILES.packing.integers) {
    assert.equal(uintWidth(BigInt(count)), width);
    assert.equal(hex(packInt(BigInt(value), width)), bytes);
  }
});

test("promises are judged as the vectors say, bounds of e^epsilon are the same numbers", () => {
  const judged = { true: 0, false: 0 };
  for (const { epsilon, kernel, accept, bounds } of FILES.promise.cases) {
    if (bounds) {
      const { top, bottom } = reduced(expLow(epsilon));
      assert.deepEqual([`${top}`, `${bottom}`], bounds.low);
      continue;
    }
    const check = () => checkPromise(kernelFrom(kernel), expLow(epsilon), epsilon);
    judged[/** @type {"true"} */ (`${accept}`)]++;
    if (accept) check();
    else assert.throws(check, refusal("PrivacyError"));
  }
  assert.ok(judged.true === judged.false && judged.true >= 12);
});

test("logarithms are rounded up to the same floats", () => {
  for (const { ratio, log } of FILES.promise.logs) {
    const [top, bottom] = ratio.map(BigInt);
    assert.equal(logUpper(new Ratio(top, bottom)), log, `${log}`);
  }
  assert.ok(FILES.promise.logs.length > 20);
});

test("the grammar is the one that all clients share", () => {
  assert.deepEqual(JSON.parse(JSON.stringify(Object.fromEntries(FORMS))), FILES.grammar.forms);
});

test("hostile documents are refused with the kind of error that the vectors say, good ones are taken", () => {
  const kinds = /** @type {any} */ ({ format: "FormatError", privacy: "PrivacyError" });
  for (const { about, design, harmless, error } of [...FILES.hostile.cases, ...FILES.dealt.refused]) {
    try {
      new Device(design, { harmless });
      assert.fail("taken");
    } catch (found) {
      assert.equal(/** @type {any} */ (found).kind, kinds[error], `${about}: ${found}`);
    }
  }
  for (const { about, design, harmless } of FILES.hostile.good) {
    assert.doesNotThrow(() => new Device(design, { harmless }), about);
    assert.equal(`${explain(design).harmless.length > 0}`, `${harmless !== null}`, about);
  }
  assert.ok(FILES.hostile.cases.length > 300 && FILES.dealt.refused.length > 41 && FILES.hostile.good.length > 20);
});

test("no file is left out", () => {
  const tasks = Object.keys(FILES).filter((name) => !KERNEL_FILES.includes(name) && !SPECIAL.includes(name));
  assert.deepEqual(tasks.filter((name) => !/^(tasks|canonical|ledger|signatures|texts|sentences|fields|limits)$/.test(name)), []);
});
