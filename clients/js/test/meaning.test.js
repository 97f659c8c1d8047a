/** What a report could have meant: the answer that it names, and how sure it makes somebody, by hand and by the device. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { kernelFrom } from "../src/designs.js";
import { WORD } from "../src/exact.js";
import * as all from "../src/index.js";
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
