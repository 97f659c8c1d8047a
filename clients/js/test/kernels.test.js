/** What kernels say of themselves, against all reports that they make of few words. */
import assert from "node:assert/strict";
import { test } from "node:test";

import "../src/index.js";
import { kernelFrom } from "../src/designs.js";
import { Ratio, WORD } from "../src/exact.js";
import { reduced } from "../src/explain.js";
import { ReplayWords } from "../src/replay.js";

const KEEP = `${(3n * WORD) / 4n}`;

/** Words of which equally many give each number below n, for every n that divides `count`. @param {bigint} count */
const evenly = (count) => Array.from({ length: Number(count) }, (_, i) => ((2n * BigInt(i) + 1n) * WORD) / (2n * count));

/**
 * How often each report comes of the given words and as few further ones as it takes, each of `further`.
 * @param {(words: ReplayWords) => Uint8Array} draw @param {bigint[]} given @param {bigint[]} further
 */
function outcomes(draw, given, further) {
  for (let all = [given]; all.length < 1e5; all = all.flatMap((words) => further.map((word) => [...words, word]))) {
    /** @type {Record<string, number>} */
    const found = {};
    for (const words of all) {
      try {
        const report = `${draw(new ReplayWords(words))}`;
        found[report] = (found[report] ?? 0) + 1;
      } catch (error) {
        assert.equal(/** @type {any} */ (error).kind, "ParameterError", `${error}`); // the words were used up
      }
    }
    if (Object.keys(found).length) return found;
  }
  return assert.fail("no report of few words");
}

/** Fields of small kernels, and a number that all their draws divide. @type {[any, bigint][]} */
const SMALL = [
  [{ kind: "response", k: "5", keep: KEEP }, 20n],
  [{ kind: "subset", k: "4", size: "2", keep: KEEP }, 12n],
  [{ kind: "subset", k: "5", size: "2", keep: KEEP }, 60n],
  [{ kind: "hadamard", k: "3", keep: KEEP }, 4n],
  [{ kind: "hadamard", k: "5", keep: KEEP }, 8n],
  [{ kind: "projective", k: "4", prime: "3", keep: KEEP }, 12n],
  [{ kind: "projective", k: "6", prime: "2", keep: KEEP }, 14n],
  [{ kind: "affine", k: "5", q: "7", m: "2", j: "1", zero: "0", g: "3", keep: KEEP }, 84n],
  [{ kind: "affine", k: "7", q: "7", m: "3", j: "1", zero: "1", g: "5", keep: KEEP }, 84n],
  [{ kind: "interval", k: "5", size: "2", keep: KEEP }, 30n],
  [{ kind: "hashing", k: "4", g: "3", keep: KEEP }, 6n],
  [{ kind: "balanced", k: "5", g: "3", keep: KEEP }, 6n],
  [{ kind: "wheel", k: "3", arc: "3", keep: KEEP, ring: "3" }, 120n],
];

test("a union of affine response that was dealt is the one that is reported", () => {
  const kernel = kernelFrom({ kind: "affine", k: "7", q: "7", m: "3", j: "1", zero: "1", g: "5", keep: KEEP });
  const third = (/** @type {bigint} */ i) => ((2n * i + 1n) << 64n) / 6n;
  for (let x = 0n; x < 7n; x++) {
    for (const [coin, first, last] of [0n, 1n, 2n].flatMap((i) => [0n, WORD - 1n].map((w) => [i, w, third(2n - i)]))) {
      const drawn = kernel.randomise(x, new ReplayWords([first, third(coin), last]));
      assert.deepEqual(kernel.randomiseDealt(x, coin, new ReplayWords([first, last])), drawn);
      assert.equal(BigInt(drawn[0]) / 7n, coin);
    }
  }
  for (const wrong of [-1n, 3n]) assert.throws(() => kernel.randomiseDealt(0n, wrong, new ReplayWords([0n, 0n])), /coin must be an integer from 0 to 2/);
});

for (const [document, count] of SMALL) {
  const { kind, keep, ...sizes } = document;
  test(`reports of ${kind} ${Object.values(sizes)} are as many as it says, and blind ones are the same`, () => {
    const kernel = kernelFrom(document);
    const further = evenly(count);
    const [own, rest] = kernel.reports;
    assert.equal(own * kernel.levels[1], rest * kernel.levels[0]);
    for (const seed of ["hashing", "balanced", "wheel", "interval"].includes(kind) ? [[0n], [7n], [WORD - 1n]] : [[]]) {
      const blind = outcomes((words) => kernel.blind(words), seed, further);
      assert.equal(new Set(Object.values(blind)).size, 1, "all are equally likely");
      for (let x = 0n; x < kernel.k; x++) {
        const [kept, other] = [0n, WORD - 1n].map((coin) => outcomes((words) => kernel.randomise(x, words), [...seed, coin], further));
        assert.deepEqual([kept, other].map((found) => BigInt(Object.keys(found).length)), [own, rest]);
        for (const found of [kept, other]) assert.equal(new Set(Object.values(found)).size, 1, "all are equally likely");
        assert.deepEqual([...Object.keys(kept), ...Object.keys(other)].sort(), Object.keys(blind).sort());
      }
    }
  });
}

const COIN = { kind: "response", k: "2", keep: KEEP };
const HASHED = { kind: "hashing", k: "4", g: "2", keep: KEEP };

test("what is no deal of parts is refused", () => {
  const both = { kind: "dealt", parts: [COIN, COIN], shares: ["1", "1"] };
  for (const [changes, told] of [
    [{ parts: [COIN], shares: ["1"] }, /number of parts must be an integer from 2 to 255, got "1"/],
    [{ shares: ["1"] }, /shares must be one for each of 2 parts/],
    [{ shares: ["1", "0"] }, /share must be an integer from 1/],
    [{ shares: ["1", `${WORD}`] }, /sum of shares must be at most 2\*\*64/],
    [{ parts: [COIN, both] }, /kernels that are not dealt themselves/],
  ]) {
    assert.throws(() => kernelFrom({ ...both, ...changes }), { kind: "ParameterError", message: told });
  }
  assert.throws(() => kernelFrom({ kind: "grouped", first: both, second: both, coin: "1" }), { kind: "PrivacyError" });
});

test("records, parts and reports of a deal are checked", () => {
  const kernel = kernelFrom({ kind: "dealt", parts: [COIN, HASHED], shares: ["1", "1"] });
  for (const wrong of [[0], [0, 0, 0], "01", null, 8n, [0, 4]]) {
    assert.throws(() => kernel.randomise(wrong, new ReplayWords(Array(5).fill(WORD - 1n))), { kind: "ParameterError" });
  }
  for (const [part, size] of [[2, 1], [-1, 1], [0.5, 1], [0, 2], [1, 1]]) {
    assert.throws(() => kernel.frame(part, new Uint8Array(size)), { kind: "ParameterError" });
  }
});

test("what a deal discloses is the average of what its parts do, and its ratio is the worst one's", () => {
  const open = { kind: "utility", k: "5", sensitive: ["1", "3"], base: [COIN], plain: `${WORD / 4n}`, attach: "0", blind: "1" };
  const kernel = kernelFrom({ kind: "dealt", parts: [COIN, open, COIN], shares: ["1", "2", "1"] });
  assert.deepEqual(reduced(kernel.disclosed), new Ratio(1n, 8n));
  assert.deepEqual(reduced(kernel.promisedRatio), reduced(kernel.parts[1].hiddenRatio));
});

test("sets are counted exactly, however many there are", () => {
  const { reports } = kernelFrom({ kind: "subset", k: "100", size: "50", keep: KEEP });
  assert.deepEqual(reports, Array(2).fill(50445672272782096667406248628n));
});
