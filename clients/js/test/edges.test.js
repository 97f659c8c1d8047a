/** Ends of ranges, and what kernels say of their work: the numbers are those of the Python client. */
import assert from "node:assert/strict";
import { test } from "node:test";

import "../src/index.js";
import { amountOf } from "../src/amounts.js";
import { parse } from "../src/canonical.js";
import { Device } from "../src/device.js";
import { kernelFrom, readDocument, readDomain } from "../src/designs.js";
import { WORD } from "../src/exact.js";
import { general } from "../src/parts.js";
import { ReplayWords } from "../src/replay.js";
import { Task } from "../src/task.js";
import "../src/terms.js";
import { COIN, question, sealed, several, task, vectors } from "./tasks.js";

const HALF = `${WORD / 2n}`;

test("amounts are cut off below their unit, and exact above it", () => {
  const unit = amountOf(1e-12) / 10n ** BigInt(String(amountOf(1e-12)).length - 1);
  assert.equal(unit, 1n);
  assert.equal(amountOf(1.5), (3n * amountOf(1)) / 2n);
  assert.equal(amountOf(5e-324), 0n);
  assert.equal(amountOf(0.1) + amountOf(0.2), amountOf(0.3));
});

test("documents are so deep and no deeper", () => {
  const mappings = (/** @type {number} */ depth) => '{"a":'.repeat(depth) + "1" + "}".repeat(depth);
  const lists = (/** @type {number} */ depth) => `{"a":${"[".repeat(depth - 1)}1${"]".repeat(depth - 1)}}`;
  for (const nested of [mappings, lists]) {
    parse(nested(12));
    assert.throws(() => parse(nested(13)), { kind: "FormatError" });
  }
});

test("documents are measured in bytes, whether they are bytes or a text", () => {
  const text = '{"a":"\u00e9"}'; // 9 signs in 10 bytes
  for (const data of [text, new TextEncoder().encode(text)]) {
    assert.equal(parse(data, "it", 10).a, "\u00e9");
    assert.throws(() => parse(data, "it", 9), { kind: "FormatError", message: "it has more than 9 bytes." });
  }
});

test("numbers have an exponent above 12 digits and below four zeros", () => {
  assert.equal(general(1e11), "100000000000");
  assert.equal(general(1e12), "1e+12");
  assert.equal(general(1e-4), "0.0001");
  assert.equal(general(1e-5), "1e-05");
  assert.equal(general(0), "0");
  assert.deepEqual([1 / 3, 2 / 3, 0.1 + 0.2, 123456789.1234567, 1e12 / 3, 1e-5 / 3].map(general), ["0.333333333333", "0.666666666667", "0.3", "123456789.123", "333333333333", "3.33333333333e-06"]);
});

test("kernels say how many words they take", () => {
  assert.equal(kernelFrom({ kind: "box", sizes: ["4", "3"], shape: ["2", "1"], keep: HALF }).words, 5n);
  assert.equal(kernelFrom({ kind: "box", sizes: ["9"], shape: ["3"], keep: HALF }).words, 5n);
  assert.equal(kernelFrom({ kind: "signed-subset", keys: "8", size: "3", keep: HALF }).words, 8n);
  const noise = { kind: "laplace", k: "3", again: "6786177901268885275", grid: "3", reach: "20", level_top: "2", level_bottom: "1" };
  const rare = WORD - 6786177901268885275n;
  assert.equal(kernelFrom(noise).words, 3n * (3n + 2n + (WORD + rare - 1n) / rare));
});

test("near answers are among the outputs", () => {
  const document = { kind: "neighbours", outputs: "3", neighbours: [["2"], ["0"], ["1"]], keep: HALF };
  kernelFrom(document);
  assert.throws(() => kernelFrom({ ...document, neighbours: [["3"], ["0"], ["1"]] }), { kind: "ParameterError" });
});

test("a pair is a list of two, not a text of two signs", () => {
  const kernel = kernelFrom({ kind: "pairs", base: { kind: "response", k: "10", keep: HALF }, keys: "5", length: "0" });
  const domain = { index: (/** @type {any} */ key) => Number(key) };
  assert.deepEqual(kernel.pairsOf([[1, 0.5]], domain, [0, 1]), [[1, 2 ** 31]]);
  for (const wrong of ["ab", ["ab"], [[1]], [[1, 0.5, 2]], 7, [["1", 0.5], "10"]]) {
    assert.throws(() => kernel.pairsOf(wrong, domain, [0, 1]), { kind: "ParameterError" });
  }
});

test("another bucket than one's own comes with either sign, and one's own never", () => {
  const own = WORD / 4n;
  const kernel = kernelFrom({ kind: "signed-hashing", keys: "5", g: "3", own: `${own}`, flip: `${own}` });
  const all = new Set();
  for (let i = 1n; i <= 12n; i++) {
    const seed = (i * 0x9e3779b97f4a7c15n) % WORD;
    for (const x of [0n, 5n]) {
      const value = (/** @type {bigint[]} */ ...rest) => kernel.randomise(x, new ReplayWords([seed, ...rest])).at(-1);
      const kept = value(0n);
      all.add(kept);
      const seen = [0n, 1n, 2n, 3n].map((i) => value(WORD - 1n, ((2n * i + 1n) * WORD) / 8n));
      assert.equal(value(own), kept ^ 1);
      assert.equal(new Set([...seen, kept, kept ^ 1]).size, 6);
    }
  }
  assert.equal(all.size, 6);
});

test("a reader stops at a depth of its own, mappings and lists counted alike", () => {
  const mappings = (/** @type {number} */ depth) => '{"a":'.repeat(depth) + "1" + "}".repeat(depth);
  for (const depth of [13, 33, 63]) assert.throws(() => parse(mappings(depth)), /is nested more than 12 deep/, `${depth}`);
  assert.throws(() => parse(mappings(64)), /is nested too deep: at character/);
});

test("documents that a program hands over have plain parts alone", () => {
  assert.deepEqual({ ...readDocument({ a: null, b: true, c: 1, d: "e" }) }, { a: null, b: true, c: 1, d: "e" });
  for (const part of [NaN, Infinity, undefined, 1n, Symbol("a"), () => 1, new Date(0), new Map()]) {
    assert.throws(() => readDocument({ a: [part] }), { kind: "FormatError" }, typeof part);
  }
});

test("the texts of a task are so long together, and no longer", () => {
  const asked = 106;
  const long = (/** @type {number} */ more) =>
    sealed(several(asked, { questions: Array.from({ length: asked }, (_, i) => [question({ name: `q${i}`, text: "x".repeat(i ? 9_880 : more) })]) }));
  const most = 2 ** 20;
  const rest = (/** @type {any} */ part) =>
    typeof part === "string"
      ? part.length
      : part && typeof part === "object"
        ? Object.entries(part).reduce((/** @type {number} */ sum, [name, each]) => sum + (name === "kernel" ? 0 : rest(each)), 0)
        : 0;
  const one = most - rest(long(1)) + 1;
  assert.ok(one > 1 && one < 10_000, `${one}`);
  Task.load(long(one));
  assert.throws(() => long(one + 1), /texts of a task must be at most 1048576 characters, got 1048577/);
});

test("numbers in terms are written as every client writes them", () => {
  const grades = { ...COIN, domain: { k: 3 }, kernel: { kind: "response", k: "3", keep: "10604499373000000000" } };
  const few = task({ design: grades, questions: [[question({ none: 1 })]] });
  const { design } = vectors("hostile").good.find((/** @type {any} */ each) => each.about === "a grid");
  const wide = { ...design, domain: { ...design.domain, interval: [0, 2 ** 54] } };
  const told = (/** @type {any} */ made) => made.terms().find((line) => line.startsWith("No answer"));
  const counts = (/** @type {string} */ none) => `No answer, or one that the question does not have, counts as ${none}.`;
  const many = [9007199254740994, 1e16].map((none) => task({ design: wide, epsilon: design.epsilon, budget: 8, questions: [[question({ none })]] }));
  assert.deepEqual([few, ...many].map(told), ["1", "9007199254740994.0", "1e+16"].map(counts));
});

test("a list has at most 64 kernels", () => {
  const coin = { kind: "response", k: "2", keep: HALF };
  const dealt = (/** @type {number} */ count) => kernelFrom({ kind: "dealt", parts: Array(count).fill(coin), shares: Array(count).fill("1") });
  assert.equal(dealt(64).parts.length, 64);
  assert.throws(() => dealt(65), { kind: "FormatError", message: /at most 64 kernels, got 65/ });
});

test("a field of two points has no blocks", () => {
  const two = { kind: "affine", k: "2", q: "2", m: "1", j: "0", zero: "1", g: "1", keep: HALF };
  assert.throws(() => kernelFrom(two), { kind: "ParameterError", message: /q must be an integer from 3/ });
  assert.equal(kernelFrom({ ...two, q: "3", g: "2" }).points, 1n);
});

test("what is no number is no answer, whether numbers are clipped or not", () => {
  const grid = { interval: [0, 1], points: 4, layout: "midpoints" };
  const codes = { interval: [0, 1], codes: [0, 0.25, 0.5, 1] };
  for (const [form, domain] of [grid, codes].flatMap((each) => [true, false].map((clip) => [each === grid ? "interval" : "codes", { ...each, clip }]))) {
    const { index } = readDomain(domain, 4n, "grr");
    for (const odd of [NaN, undefined, null, "0.5", true, [0.5], 1n]) assert.throws(() => index(odd), { kind: "ParameterError" }, `${form} ${String(odd)}`);
    for (const [far, place] of [[-Infinity, 0], [-1, 0], [2, 3], [Infinity, 3]]) {
      if (domain.clip) assert.equal(index(far), place);
      else assert.throws(() => index(far), { kind: "ParameterError" });
    }
    assert.deepEqual([0, 1].map(index), [0, 3]);
  }
  const circle = readDomain({ circle: [0, 1], points: 4 }, 4n, "arc");
  for (const odd of [NaN, null, -0.1, 1.1, "0"]) assert.throws(() => circle.index(odd), { kind: "ParameterError" });
  assert.deepEqual([0, 0.125, 0.5, 0.875, 1].map(circle.index), [0, 1, 2, 0, 0]);
});

test("no value is the answer for missing ones, any other one that of all others; neither without such an answer", () => {
  const nothing = [undefined, null, "", NaN];
  const others = ["x", " ", "A", "null", 0, 1, false, [], {}];
  for (const [more, missing, other] of /** @type {[object, number | null, number | null][]} */ ([
    [{ missing: "b", other: "c" }, 1, 2],
    [{ missing: "b" }, 1, null],
    [{ other: "c" }, null, 2],
    [{}, null, null],
  ])) {
    const { index } = readDomain({ labels: ["a", "b", "c"], ...more }, 3n, "grr");
    assert.deepEqual(["a", "b", "c"].map(index), [0, 1, 2]);
    for (const [values, answer] of /** @type {[unknown[], number | null][]} */ ([[nothing, missing], [others, other]])) {
      for (const value of values) {
        if (answer === null) assert.throws(() => index(value), { kind: "ParameterError" }, String(value));
        else assert.equal(index(value), answer, `${JSON.stringify(more)} ${typeof value} ${JSON.stringify(value)}`);
      }
    }
  }
});

test("combinations of strata are counted with those not told: 4096 of them and no more", () => {
  for (const [sizes, fits] of /** @type {[number[], boolean][]} */ ([
    [[63, 63], true],
    [[3, 3, 3, 3, 3, 3], true],
    [[240, 16], false],
    [[63, 64], false],
    [[4, 4, 4, 4, 4, 4], false],
  ])) {
    const strata = sizes.map((size, i) => ({ name: `s${i}`, values: Array.from({ length: size }, (_, j) => `v${j}`) }));
    const read = () => task({ strata });
    if (fits) assert.deepEqual([...read().strata.values()].map((values) => values.length), sizes.map((size) => size + 1));
    else assert.throws(read, { kind: "FormatError" }, `${sizes}`);
  }
});

test("of lists of options those count that name each once and no more than are allowed", () => {
  const all = [[], ...[0, 1, 2].flatMap((a) => [[a], ...[0, 1, 2].flatMap((b) => [[a, b], ...[0, 1, 2].map((c) => [a, b, c])])])];
  const { index } = readDomain({ ticks: 3, most: 2 }, 7n, "several");
  const numbers = [];
  for (const list of all) {
    if (new Set(list).size === list.length && list.length <= 2) numbers.push(index(list));
    else assert.throws(() => index(list), { kind: "ParameterError" }, `${list}`);
  }
  assert.deepEqual(numbers, [0, 1, 4, 5, 2, 4, 6, 3, 5, 6]);
  for (const odd of [[3], [-1], ["0"], [0, 1, 2, 0], "01", null, 0]) assert.throws(() => index(odd), { kind: "ParameterError" });
});

test("a random answer for none is any protected one, wherever they are, each for as many words", () => {
  const sensitive = [0, 1, 3, 4, 5, 6];
  const params = { base: { mechanism: "grr", params: {} }, sensitive, theta: 0.5, form: "null" };
  const base = [{ kind: "response", k: "3", keep: HALF }];
  const kernel = { kind: "utility", k: "6", sensitive: sensitive.map(String), base, plain: `${WORD / 4n}`, attach: "0", blind: "1" };
  const design = { mechanism: "urr", version: 1, epsilon: 2, domain: { k: 6 }, params, kernel };
  const [asked] = task({ design, epsilon: 2, budget: 2, questions: [[question({ none: null })]] }).questions;
  const drawn = (/** @type {bigint} */ word) => asked.answer(asked.agreed(), undefined, new ReplayWords([word])).answer;
  assert.deepEqual([0n, 1n, 2n, 3n, 4n, 5n].map((i) => drawn(((2n * i + 1n) * WORD) / 12n)), [0, 0, 3, 3, 5, 5]);
});

test("reports have so many words and bytes, and proofs are so much work, and no more", () => {
  const keep = `${(5n * WORD) / 8n}`;
  const grr = (/** @type {any} */ kernel, /** @type {string} */ mechanism, /** @type {any} */ params) => ({ mechanism, version: 1, epsilon: 9, domain: { k: Number(kernel.k) }, params, kernel });
  const bits = (/** @type {number} */ k) => grr({ kind: "unary", k: `${k}`, keep, flip: HALF }, "the", { theta: 0.5 });
  const set = (/** @type {number} */ k) => grr({ kind: "subset", k: `${k}`, size: "1", keep: `${WORD >> 21n}` }, "ss", { size: 1 });
  const own = (/** @type {number} */ count) => {
    const data = Array.from({ length: count }, (_, i) => ({ kind: "response", k: "2", keep: `${WORD / 2n + BigInt(i + 1) * (WORD >> 10n)}` }));
    const levels = Array.from({ length: count }, (_, i) => (i + 1) / 2);
    return grr({ k: "2", kind: "personal", data, level: [] }, "pldp", { levels, base: "grr", level_epsilon: null, level_report: "none", g: null });
  };
  const levels = (/** @type {number} */ count) => {
    const { k, ...kernel } = own(count).kernel;
    return { ...own(count), kernel };
  };
  for (const [make, most, told] of /** @type {[(size: number) => any, number, RegExp][]} */ ([
    [bits, 2 ** 20, /needs 1048577 random words, more than the 1048576/],
    [set, 2 ** 23, /needs 1048577 bytes, more than the 1048576/],
    [levels, 16, /needs 17 levels, more than the 16/],
  ])) {
    assert.ok(new Device(make(most)).kernel);
    assert.throws(() => new Device(make(most + 1)), { kind: "FormatError", message: told });
  }
});
