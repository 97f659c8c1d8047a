/** What a report could have meant: the answer that it names, and how sure it makes somebody, by hand and by the device. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { kernelFrom } from "../src/designs.js";
import { WORD } from "../src/exact.js";
import * as all from "../src/index.js";
import { guarantees } from "../src/levels.js";
import { meant, reading } from "../src/meaning.js";
import { ReplayWords } from "../src/replay.js";
import { COIN, vectors } from "./tasks.js";

const { explain } = all;
const HALF = `${WORD / 2n}`;

/** Reports that name a harmless answer in half of the cases. @param {number} k @param {number[]} ends @param {any} [more] */
function naming(k, ends, more = {}) {
  const s = ends.reduce((sum, end, i) => sum + (i % 2 ? end : -end), 0);
  const base = s < 2 ? [] : [{ kind: "response", k: `${s}`, keep: `${(WORD / 4n) * 3n}` }];
  return { kind: "utility", k: `${k}`, sensitive: ends.map(String), base, plain: HALF, attach: "0", blind: "0", ...more };
}

test("a named answer is the one that the device had, wherever the sensitive ones are", () => {
  const [quarter, last] = [WORD / 4n, WORD - 1n]; // within a half, and not
  for (const [k, ends] of /** @type {[number, number[]][]} */ ([
    [4, [0, 2]],
    [4, [2, 4]],
    [5, [0, 3]],
    [5, [1, 2, 3, 4]],
    [7, [0, 2, 3, 5]],
    [7, [0, 1, 3, 4, 6, 7]],
    [300, [0, 2, 258, 299]],
    [250, [0, 2, 10, 58]],
  ])) {
    for (const attach of ["0", HALF]) {
      const kernel = naming(k, ends, { attach });
      const device = kernelFrom(kernel);
      const names = [];
      for (let x = 0; x < k; x += 1) {
        const sensitive = ends.filter((end) => end <= x).length % 2 === 1;
        const shares = Array.from({ length: k }, (_, at) => (at === x ? 100 : 0));
        const plain = device.randomise(BigInt(x), new ReplayWords(Array(4).fill(quarter)));
        if (!sensitive) names.push([meant(kernel, plain), shares]);
        else assert.ok(/** @type {number[]} */ (meant(kernel, plain)).every((share) => share < 100));
        if (!sensitive && attach !== "0") {
          const beside = device.randomise(BigInt(x), new ReplayWords([last, ...Array(5).fill(quarter)]));
          names.push([meant(kernel, beside), shares]);
        }
      }
      assert.ok(names.length);
      for (const [found, wanted] of names) assert.deepEqual(found, wanted, `${ends} of ${k}`);
    }
  }
  assert.deepEqual(meant(naming(5, [0, 2]), Uint8Array.of(1, 0)), [0, 0, 100, 0, 0], "the first one after the sensitive ones");
  assert.deepEqual(meant(naming(5, [0, 2]), Uint8Array.of(3, 0)), [0, 0, 0, 0, 100]);
});

test("how sure a report makes somebody is rounded up, to the thousandth, and is no more than all reports allow", () => {
  for (const { about, design } of vectors("hostile").good) {
    const { kind, k, size = "1", keep } = design.kernel;
    if (kind !== "response" && kind !== "subset") continue;
    const explanation = explain(design);
    const [own, rest, kept] = [BigInt(size), BigInt(k) - BigInt(size), BigInt(keep)];
    const [high, low] = [kept * rest, (WORD - kept) * own];
    const wanted = (1000n * high + high + low - 1n) / (high + low);
    const { tenths, named, text } = reading(explanation, design.kernel, kernelFrom(design.kernel).randomise(0n, new all.SystemWords()));
    assert.deepEqual([tenths, named], [wanted, null], about);
    assert.ok(text.includes(`${wanted / 10n}.${wanted % 10n} %`), text);
  }
  const found = reading(explain(COIN), COIN.kernel, Uint8Array.of(0));
  assert.equal(found.tenths, 732n, "73.106 %");
  assert.match(found.text, /73\.2 % sure/);
});

test("a report that tells less than others makes somebody less sure, and one that is not known as sure as any", () => {
  const three = { ...COIN, epsilon: 1.0986122886681098, kernel: { ...COIN.kernel, keep: `${(WORD / 4n) * 3n}` } };
  const explanation = explain(three); // at most 3 to 1, so 75 %
  const weights = [[6n, 4n, 5n, 1n], [2n, 4n, 10n, 0n]].map((row) => row.map((one) => `${(one * WORD) / 16n}`));
  const kernel = { kind: "channel", weights };
  const tell = (/** @type {number} */ y) => reading(explanation, kernel, Uint8Array.of(y));
  assert.deepEqual([0, 1, 2, 3].map((y) => tell(y).tenths), [750n, 501n, 667n, 750n], "floats are rounded up once more");
  assert.match(tell(2).text, /66\.7 % sure/);
  assert.deepEqual([tell(0).shares, tell(1).shares], [[75, 25], [50, 50]]);
  const unknown = reading(explanation, { kind: "several" }, Uint8Array.of(0));
  assert.deepEqual([unknown.tenths, unknown.shares], [750n, null]);
});

// ---- every kind of kernel, against the reports that it makes

const THIRD = `${WORD / 3n + 1n}`;
const TWO_THIRDS = `${(2n * WORD) / 3n + 1n}`;

/** Words of which equally many give each number below n, for every n that divides `count`. @param {number} count */
const evenly = (count) => Array.from({ length: count }, (_, i) => (BigInt(2 * i + 1) * WORD) / BigInt(2 * count));

/** The chances of all reports of a value, from as few words as it takes. @param {any} kernel @param {any} x @param {number} level @param {bigint[]} seed @param {bigint[]} words */
function law(kernel, x, level, seed, words) {
  /** @type {Map<string, number>} */
  const found = new Map();
  /** @type {[bigint[], number][]} */
  const open = [[seed, 1]];
  for (let next = open.pop(); next; next = open.pop()) {
    const [given, share] = next;
    try {
      const report = `${kernel.randomise(x, new ReplayWords(given), level)}`;
      found.set(report, (found.get(report) ?? 0) + share);
    } catch (error) {
      assert.match(`${error}`, /used up/);
      for (const word of words) open.push([[...given, word], share / words.length]);
    }
  }
  return found;
}

const PAIR = { kind: "response", k: "2", keep: TWO_THIRDS };
const THREE = { kind: "response", k: "3", keep: TWO_THIRDS };
const OPEN = { kind: "utility", k: "5", sensitive: ["1", "3"], base: [PAIR], plain: THIRD, attach: "0", blind: "1" };
const SET = { kind: "subset", k: "3", size: "1", keep: TWO_THIRDS };
const NEAR = { kind: "window", k: "4", outputs: "4", m: "2", shift: "1", tie: "0", keep: TWO_THIRDS };
const LEAN = { kind: "leaning", k: "4", base: `${WORD / 6n + 1n}`, slope: `${WORD / 6n + 1n}` };
const rows = [[1n, 2n, 3n], [3n, 2n, 1n], [2n, 2n, 2n]].map((row) => row.map((sixth, y) => `${(sixth * WORD) / 6n + (y ? 0n : WORD - row.reduce((sum, one) => sum + (one * WORD) / 6n, 0n))}`));

/** Small kernels, in how many parts a word is divided, and the number of the level. @type {[string, any, number, number?][]} */
const SMALL = [
  ["response", THREE, 6],
  ["subset", { ...SET, k: "4", size: "2" }, 6],
  ["unary", { kind: "unary", k: "3", keep: TWO_THIRDS, flip: THIRD }, 3],
  ["whole", { kind: "whole", k: "3" }, 3],
  ["constant", { kind: "constant", k: "3" }, 3],
  ["table", { kind: "table", weights: rows }, 6],
  ["channel", { kind: "channel", weights: rows, budgets: rows.map((_, x) => rows.map((_, z) => (x === z ? 0 : 2))) }, 6],
  ["hadamard", { kind: "hadamard", k: "3", keep: TWO_THIRDS }, 12],
  ["affine", { kind: "affine", k: "6", q: "7", m: "2", j: "1", zero: "1", g: "3", keep: TWO_THIRDS }, 12],
  ["affine without 0", { kind: "affine", k: "7", q: "7", m: "3", j: "2", zero: "0", g: "5", keep: TWO_THIRDS }, 12],
  ["arc", { kind: "arc", k: "5", size: "2", keep: TWO_THIRDS }, 6],
  ["neighbours", { kind: "neighbours", outputs: "4", neighbours: [["0", "1"], ["1", "2"], ["0", "3"]], keep: TWO_THIRDS }, 6],
  ["recode", { kind: "recode", k: "5", starts: ["0", "1", "4"], codes: ["2", "0", "1"], base: THREE }, 6],
  ["window", NEAR, 6],
  ["window, between two", { ...NEAR, tie: "1" }, 6],
  ["leaning", LEAN, 6],
  ["window-or-bit", { kind: "window-or-bit", window: NEAR, bit: LEAN, coin: THIRD }, 6],
  ["mixture", { kind: "mixture", first: SET, second: { ...SET, size: "2", keep: HALF }, coin: THIRD }, 6],
  ["mixture of two alike", { kind: "mixture", first: SET, second: { ...SET, keep: HALF }, coin: THIRD }, 6],
  ["mixture with the whole", { kind: "mixture", first: SET, second: { kind: "whole", k: "3" }, coin: THIRD }, 6],
  ["utility", OPEN, 6],
  ["utility, beside", { ...OPEN, k: "4", attach: HALF }, 6],
  ["utility, mapped", { ...OPEN, blind: "0" }, 6],
  ["utility, mapped and beside", { ...OPEN, k: "4", attach: HALF, blind: "0" }, 6],
  ["utility of one", { ...OPEN, k: "3", sensitive: ["1", "2"], base: [] }, 6],
  ["utility-levels", { kind: "utility-levels", k: "4", sensitive: ["0", "1", "2", "3"], keep: HALF, flips: [THIRD, `${WORD / 6n + 1n}`], plain: THIRD }, 6],
  ["mixture of two that disclose", { kind: "mixture", first: { ...OPEN, sensitive: ["0", "3"], base: [SET] }, second: { ...OPEN, sensitive: ["0", "3"], base: [{ ...SET, size: "2", keep: HALF }], plain: HALF }, coin: THIRD }, 6],
  ["personal", { kind: "personal", data: [{ ...THREE, keep: HALF }, THREE], level: [] }, 6, 1],
  ["personal, with its level", { kind: "personal", data: [{ ...PAIR, keep: TWO_THIRDS }, { ...PAIR, keep: `${(5n * WORD) / 6n}` }], level: [PAIR] }, 6, 0],
  ["personal, open", { kind: "personal", data: [OPEN, { ...OPEN, plain: HALF }], level: [{ kind: "bit", chances: [THIRD, TWO_THIRDS] }] }, 6, 1],
  ...[1n, 2n, 3n, 4n].flatMap((i) => [
    ["hashing", { kind: "hashing", k: "5", g: "3", keep: TWO_THIRDS }, 6, 0, i],
    ["balanced", { kind: "balanced", k: "7", g: "3", keep: TWO_THIRDS }, 6, 0, i],
    ["interval", { kind: "interval", k: "5", size: "2", keep: TWO_THIRDS }, 6, 0, i],
    ["wheel", { kind: "wheel", k: "5", arc: "3", ring: "2", keep: TWO_THIRDS }, 6, 0, i],
    ["interaction", { kind: "interaction", sizes: ["2", "4"], g: "3", size: "2", keep: HALF }, 6, 0, i],
  ].map((row) => /** @type {any} */ (row))),
];

/** Kernels of two levels, the more protective one first. @type {[string, any[]][]} */
const LEVELS = [
  ["response", [{ ...THREE, keep: HALF }, THREE]],
  ["response of two", [{ ...PAIR, keep: TWO_THIRDS }, { ...PAIR, keep: `${(5n * WORD) / 6n}` }]],
  ["unary", [{ kind: "unary", k: "3", keep: HALF, flip: THIRD }, { kind: "unary", k: "3", keep: TWO_THIRDS, flip: `${WORD / 6n + 1n}` }]],
  ["unary of two", [{ kind: "unary", k: "2", keep: HALF, flip: THIRD }, { kind: "unary", k: "2", keep: TWO_THIRDS, flip: HALF }]],
  ["hashing", [{ kind: "hashing", k: "4", g: "3", keep: HALF }, { kind: "hashing", k: "4", g: "3", keep: TWO_THIRDS }]],
  ["utility", [OPEN, { ...OPEN, plain: HALF }]],
];
const TOLD = [[], [PAIR], [{ kind: "bit", chances: [THIRD, TWO_THIRDS] }]];

for (const [name, data] of LEVELS) {
  test(`what a report of ${name} tells of its level, and of a value and its level, is what the laws of all say`, () => {
    for (const level of TOLD) {
      const kernel = kernelFrom({ kind: "personal", data, level });
      const wanted = { level: 0, pair: 0 };
      for (const seed of name === "hashing" ? [1n, 2n, 3n, 4n].map((i) => [(i * 0x9e3779b97f4a7c15n) % WORD]) : [[]]) {
        const laws = Array.from({ length: 2 * Number(kernel.k) }, (_, i) => law(kernel, BigInt(i >> 1), i & 1, seed, evenly(6)));
        laws.forEach((one, i) => laws.forEach((two, j) => {
          for (const [report, share] of one) {
            const same = i >> 1 === j >> 1;
            if (!same && name === "utility" && !report.startsWith("0")) continue; // it names a harmless answer
            const ratio = Math.log(share / (two.get(report) ?? 0));
            wanted.pair = Math.max(wanted.pair, ratio);
            if (same) wanted.level = Math.max(wanted.level, ratio);
          }
        }));
      }
      const found = guarantees(kernel);
      for (const part of /** @type {("level" | "pair")[]} */ (["level", "pair"]))
        assert.ok(Math.abs(found[part] - wanted[part]) < 1e-9, `${part}: ${found[part]} for ${wanted[part]}`);
    }
  });
}

/** @param {number[]} one @param {number[]} two */
const alike = (one, two) => one.length === two.length && one.every((share, x) => Math.abs(share - two[x]) < 1e-9);

for (const [name, document, parts, level = 0, i] of /** @type {any[]} */ (SMALL)) {
  test(`what a report of ${name} could have meant is what all values' reports say${i ? ` (seed ${i})` : ""}`, () => {
    const kernel = kernelFrom(document);
    const seed = i ? [(BigInt(i) * 0x9e3779b97f4a7c15n) % WORD] : [];
    const words = evenly(parts);
    const informs = !["whole", "constant"].includes(name);
    const count = Number(kernel.k);
    const laws = Array.from({ length: count }, (_, x) => law(kernel, BigInt(x), level, seed, words));
    const reports = new Set(laws.flatMap((each) => [...each.keys()]));
    assert.equal(laws.every((each) => [...each].every(([report, share]) => Math.abs(share - (laws[0].get(report) ?? 0)) < 1e-9)), !informs, "reports tell something");
    for (const report of reports) {
      const chances = laws.map((each) => each.get(report) ?? 0);
      const total = chances.reduce((sum, one) => sum + one, 0);
      const found = meant({ ...document, k: `${count}` }, Uint8Array.from(report.split(",").map(Number)), level);
      assert.ok(found && alike(found, chances.map((one) => (100 * one) / total)), `${report}: ${found} for ${chances}`);
    }
  });
}
