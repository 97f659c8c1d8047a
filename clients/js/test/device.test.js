/** A device trusts nobody: what it takes, what it refuses, and where its randomness comes from. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { Ratio, below, exactly, expLow, subset, webCrypto } from "../src/exact.js";
import * as all from "../src/index.js";
import { logUpper, nearest, next } from "../src/logarithms.js";

const { Device, ReplayWords, SystemWords, explain } = all;
const KEEP = "13485650502877570762";
/** @param {any} [more] */
const grr = (more) => ({
  mechanism: "grr",
  version: 1,
  epsilon: 1,
  domain: { k: 2 },
  params: {},
  kernel: { kind: "response", k: "2", keep: KEEP },
  ...more,
});
/** @type {any[]} */
const GOOD = JSON.parse(readFileSync(new URL("../../vectors/hostile.json", import.meta.url), "utf8")).good;
/** @param {string} about @returns {any} */
const good = (about) => structuredClone(GOOD.find((each) => each.about === about).design);

/** @param {() => unknown} make @param {string} kind @param {RegExp} [told] */
function refused(make, kind, told = /./) {
  assert.throws(make, (/** @type {any} */ error) => {
    assert.equal(error.kind, kind, `${error.stack}`);
    assert.match(error.message, told);
    return error instanceof all.DeniableError && typeof error.hint === "string";
  });
}

test("errors have the names of the Python classes, a message and a hint", () => {
  for (const kind of ["Parameter", "Format", "Privacy", "Window", "Budget", "Ledger", "Entropy"].map((k) => `${k}Error`)) {
    const error = new /** @type {any} */ (all)[kind]("it is so.", "Do that.");
    assert.deepEqual([error.kind, error.name, error.message, error.hint], [kind, kind, "it is so.", "Do that."]);
    assert.equal(`${error}`, `${kind}: it is so. Do that.`);
    assert.ok(error instanceof all.DeniableError && error instanceof Error);
  }
});

test("numbers below n are uniform, exactly, for words of any size", () => {
  for (const bits of [1, 2, 4]) {
    for (let n = 1n; n <= 1n << BigInt(bits); n++) {
      const seen = new Map();
      for (let word = 0n; word < 1n << BigInt(bits); word++) {
        try {
          const found = below(n, new ReplayWords([word], bits));
          seen.set(found, (seen.get(found) ?? 0) + 1);
        } catch (error) {
          assert.match(`${error}`, /used up/);
        }
      }
      assert.deepEqual(new Set(seen.values()).size, 1, `${bits} ${n}`);
      assert.equal(seen.size, Number(n));
    }
  }
  const sets = new Map();
  for (let a = 0n; a < 4n; a++) {
    for (let b = 0n; b < 4n; b++) {
      for (let c = 0n; c < 4n; c++) {
        try {
          const found = [...subset(4n, 2n, new ReplayWords([a, b, c], 2))].sort().join();
          sets.set(found, (sets.get(found) ?? 0) + 1);
        } catch (error) {
          assert.match(`${error}`, /used up/);
        }
      }
    }
  }
  assert.deepEqual([...sets.keys()].sort(), ["0,1", "0,2", "0,3", "1,2", "1,3", "2,3"]);
});

test("words that are none are refused", () => {
  refused(() => new ReplayWords([1n << 64n]).word(), "ParameterError", /64-bit/);
  refused(() => new ReplayWords([-1n]).word(), "ParameterError");
  refused(() => new ReplayWords(/** @type {any} */ ([1])).word(), "ParameterError", /BigInt/);
  refused(() => new ReplayWords([]).word(), "ParameterError", /used up/);
  refused(() => below(0n, new SystemWords()), "ParameterError");
});

test("without entropy nothing is reported", () => {
  const device = new Device(grr());
  assert.equal(device.report(1).length, 1);
  const seen = new Set(Array.from({ length: 50 }, () => new SystemWords().word()));
  assert.ok(seen.size === 50 && [...seen].every((word) => 0n <= word && word < 1n << 64n));
  try {
    Object.defineProperty(webCrypto, "getRandomValues", {
      configurable: true,
      value() {
        throw new Error("none");
      },
    });
    refused(() => device.report(1), "EntropyError", /no report was made/);
  } finally {
    delete (/** @type {any} */ (webCrypto).getRandomValues);
  }
  assert.equal(device.report(1).length, 1);
});

test("a report is what the words say", () => {
  const device = new Device(grr());
  const keep = BigInt(KEEP);
  assert.deepEqual([...device.report(1, { words: new ReplayWords([keep - 1n]) })], [1]);
  assert.deepEqual([...device.report(1, { words: new ReplayWords([keep, 0n]) })], [0]);
  assert.equal(device.epsilon, 1);
  assert.equal(device.answer(1), 1);
  assert.deepEqual(device.randomise(0, { words: new ReplayWords([0n]) }), new Uint8Array([0]));
});

test("values outside the domain are refused, or replaced by the stand-in", () => {
  for (const bad of [-1, 2, 0.5, NaN, true, null, undefined, "1", [1], 1n, {}]) {
    refused(() => new Device(grr()).report(bad), "ParameterError", /integer from 0 to 1/);
    assert.equal(new Device(grr(), { standIn: 0 }).answer(bad), 0);
  }
  refused(() => new Device(grr(), { standIn: 7 }), "ParameterError");
  for (const bad of [2, -1, 0.5, "0", null]) refused(() => new Device(grr()).randomise(/** @type {any} */ (bad)), "ParameterError");
});

test("a unit of 2^-64 more is refused", () => {
  refused(() => new Device(grr({ kernel: { kind: "response", k: "2", keep: `${BigInt(KEEP) + 1n}` } })), "PrivacyError", /promises epsilon 1/);
  refused(() => new Device(grr({ epsilon: 41 })), "PrivacyError", /at most 40/);
});

test("names of what every object has are no names of mechanisms or kernels", () => {
  for (const name of ["constructor", "__proto__", "toString", "hasOwnProperty"]) {
    refused(() => new Device(grr({ mechanism: name })), "FormatError", /unknown/);
    refused(() => new Device(grr({ kernel: { kind: name, k: "2", keep: KEEP } })), "FormatError");
    refused(() => new Device(JSON.parse(JSON.stringify(grr()).replace('"params":{}', `"params":{"${name}":1}`))), "FormatError");
    refused(() => new Device(JSON.parse(JSON.stringify(grr()).replace('"version"', `"${name}":1,"version"`))), "FormatError");
  }
  refused(() => new Device(Object.create(grr())), "FormatError", /missing/);
});

test("what is no plain data is refused, and what changes later changes nothing", () => {
  for (const odd of [undefined, () => 1, Symbol("x"), 1n, NaN, Infinity, new Date(), new Map(), new Uint8Array(2)]) {
    refused(() => new Device(grr({ params: { odd } })), "FormatError");
    refused(() => new Device(odd), "FormatError");
  }
  /** @type {any} */
  const circle = grr();
  circle.params.more = circle;
  refused(() => new Device(circle), "FormatError", /nested/);
  let asked = 0;
  const turning = { k: "2", kind: "response", get keep() { return asked++ ? `${(1n << 64n) - 1n}` : KEEP; } };
  assert.ok(new Device(grr({ kernel: turning })));
  assert.equal(asked, 1, "a number is read once, so that the one which is proved is the one which is sampled");
  const personal = good("pldp");
  const device = new Device(personal);
  personal.params.levels[0] = 40;
  assert.deepEqual(device.levels, [0.5, 1]);
});

test("texts: lengths in characters, no lone surrogates, labels that people can tell apart", () => {
  const labels = (/** @type {any[]} */ ...given) => grr({ domain: { labels: given } });
  refused(() => new Device(labels("a", "\ud800")), "FormatError", /UTF-8/);
  assert.ok(new Device(labels("a", "\u{1F600}".repeat(1000))));
  refused(() => new Device(labels("a", "\u{1F600}".repeat(1001))), "FormatError", /1000 characters/);
  refused(() => new Device(labels("a", "\u{1F600}".repeat((1 << 16) + 1))), "FormatError", /characters/);
  for (const twin of ["HIV ", "HIV\u200b", "\uff28IV", "HI\u3164V", "H\u00adIV", " HIV", "HIV\u2028"]) {
    refused(() => new Device(labels("HIV", twin)), "FormatError", /tell apart/);
  }
  for (const blank of ["", " ", "\u200b", "\u2800", "\u00a0"]) refused(() => new Device(labels("a", blank)), "FormatError");
  refused(() => new Device(labels("hiv", "HIV")), "FormatError", /"hiv" and "HIV" sound alike/);
});

test("levels and coins are taken where the design has them", () => {
  const personal = new Device(good("pldp"));
  assert.equal(personal.level(), 0);
  assert.equal(personal.level(1), 1);
  refused(() => personal.level(0.7), "ParameterError", /one of 0.5, 1/);
  refused(() => new Device(grr()).report(1, { level: 1 }), "ParameterError", /left out/);
  refused(() => new Device(grr()).report(1, { coin: 1n }), "ParameterError", /no public seed/);
  const hashing = new Device(good("lh"));
  const words = () => new ReplayWords([0n]);
  assert.deepEqual(hashing.report(3, { coin: 7n, words: words() }), hashing.report(3, { coin: 7, words: words() }));
  assert.deepEqual([...hashing.report(3, { coin: 7n, words: words() }).slice(0, 8)], [7, 0, 0, 0, 0, 0, 0, 0]);
  for (const coin of [1n << 64n, -1n, 1.5]) refused(() => hashing.report(3, { coin }), "ParameterError", /coin/);
});

test("pairs: rounded half to even, different keys that count as one become one", () => {
  const design = good("kv-ss2");
  const device = new Device(design);
  assert.deepEqual(device.answer([[0, -1 + 2 * (2.5 / 2 ** 32)], [1, 1]]), [[0, 2], [1, 2 ** 32]]);
  assert.deepEqual(device.answer([[0, -1 + 2 * (3.5 / 2 ** 32)]]), [[0, 4]]);
  for (const odd of [3, [1], [[0]], [[0, 2]], [[0, "1"]], [[5, 1]], [[0, 1], [0, 1]]]) {
    refused(() => device.answer(odd), "ParameterError");
  }
  const open = new Device({ ...design, domain: { labels: ["a", "b"], other: "b" } });
  assert.deepEqual(open.answer([["x", -1], ["y", 1]]), [[1, 2 ** 31]]);
  refused(() => open.answer([["x", -1], ["x", 1]]), "ParameterError", /different keys/);
});

test("consent is for exactly the answers that may be named", () => {
  const design = good("urr");
  assert.deepEqual(explain(design).harmless, [{ start: 2, end: 4 }]);
  for (const harmless of [[2, 3], [3, 2, 2], explain(design).harmless, new Set([2, 3])]) {
    assert.ok(new Device(design, { harmless }));
  }
  refused(() => new Device(design), "PrivacyError", /may disclose 2 to 3, and consent was given for none/);
  refused(() => new Device(design, { harmless: [2] }), "PrivacyError");
  refused(() => new Device(design, { harmless: "23" }), "ParameterError");
  refused(() => new Device(design, { harmless: /** @type {any} */ (3) }), "ParameterError");
  refused(() => new Device(grr(), { harmless: [0] }), "PrivacyError");
  const chance = explain(design).chanceOf(3);
  assert.deepEqual([chance.top, chance.bottom], [1n, 4n]);
  assert.equal(explain(design).chanceOf(0).top, 0n);
});

test("what a person reads", () => {
  assert.equal(
    `${explain(grr())}`,
    "Every answer has good protection: whatever you answer, any report that you send is at most 2.72 times as likely for " +
      "your answer as for any other one (epsilon 1).\n" +
      "Somebody who thought two answers equally likely can be at most 73.2 % sure of one of them afterwards.",
  );
  assert.match(explain(grr()).over(8).text, /hardly any protection \(weak\): .*your 8 reports together.*\(epsilon 8 in all\)/);
  for (const odd of [0, 10_001, 1.5, "2", null]) refused(() => explain(grr()).over(/** @type {any} */ (odd)), "ParameterError");
  const labels = ["it's", 'so "so"', "a\u00a0b", "\u00e9"];
  const text = new Device({ ...good("urr"), domain: { labels } }, { harmless: labels.slice(2) }).explain().text;
  assert.match(text, /^Strong protection: "it's", 'so "so"'\./);
  assert.match(text, /Not protected: 'a\\xa0b', '\u00e9'\. The report names such an answer in 25\.0 % of the cases; otherwise/);
});

test("floats of ratios are the nearest ones, logarithms are rounded up", () => {
  for (const x of [0.1, 1 / 3, 5e-324, 1e-300, 123456789.123, 2 ** 60, -0.7]) {
    const { top, bottom } = exactly(x);
    assert.equal(nearest(new Ratio(top * 3n, bottom * 3n)), Math.abs(x) > 1e-290 ? x : nearest(new Ratio(top, bottom)));
  }
  assert.equal(nearest(new Ratio((1n << 53n) + 1n)), 2 ** 53);
  assert.equal(nearest(new Ratio((1n << 53n) + 3n)), 2 ** 53 + 4);
  assert.equal(nearest(new Ratio((1n << 54n) + 2n + 1n, 1n)), 2 ** 54 + 4);
  for (const x of [1e-9, 0.5, 1, 2.5, 39]) {
    assert.equal(logUpper(expLow(x)), x);
    assert.equal(logUpper(expLow(x).plus(new Ratio(1n, 1n << 180n))), next(x, 1));
  }
  assert.equal(logUpper(new Ratio(1n)), 0);
});

test("the largest reports can be drawn: no list of a design's size becomes arguments of a call", () => {
  const k = 200_000;
  const kernel = { kind: "laplace", k: `${k}`, again: "11188515852577165300", grid: "0", reach: "3", level_top: "1", level_bottom: "1" };
  const she = { mechanism: "she", version: 1, epsilon: 1, domain: { k }, params: { grid: 0, reach: 3 }, kernel };
  assert.equal(new Device(she).report(k - 1).length, 4 * k);
  const wide = 2 ** 20;
  const bits = { kind: "unary", k: `${wide}`, keep: "9223372036854775808", flip: "5534023222112865280" };
  const the = { mechanism: "the", version: 1, epsilon: 1, domain: { k: wide }, params: { theta: 0.9 }, kernel: bits };
  assert.equal(new Device(the).report(wide - 1).length, wide / 8);
});
