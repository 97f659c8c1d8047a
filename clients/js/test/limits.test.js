/** Parts of a task: what they may be from the least to the most, each changed alone, as in all clients. */
import assert from "node:assert/strict";
import { test } from "node:test";

import "../src/index.js";
import { CHECKS, readDomain } from "../src/designs.js";
import { seal } from "../src/task.js";
import { keyOf, vectors } from "./tasks.js";

const { document, cases, domains, checks } = vectors("limits");
const { key, sign } = keyOf();

for (const { place, taken, refused, changes = {} } of cases) {
  test(`${place.join(".")} of a task is taken from its least to its most`, () => {
    const changed = (/** @type {unknown} */ value) => {
      const made = { ...structuredClone(document), ...structuredClone(changes) };
      made.collector.key = key;
      const part = place.slice(0, -1).reduce((/** @type {any} */ own, /** @type {any} */ step) => own[step], made);
      part[place.at(-1)] = value;
      return seal(made, sign);
    };
    for (const value of taken) assert.ok(changed(value), `${JSON.stringify(value)}`.slice(0, 80));
    for (const value of refused) {
      const told = `${JSON.stringify(value)}`.slice(0, 80);
      assert.throws(() => changed(value), (/** @type {any} */ { kind }) => ["FormatError", "PrivacyError"].includes(kind), told);
    }
  });
}

for (const { domain, borders, values } of domains) {
  test(`values of ${Object.keys(domain).join(", ")} have the answers of their place`, () => {
    const made = readDomain(domain, BigInt(borders.length ? borders.length - 1 : domain.k), "circle" in domain ? "arc" : "grr");
    for (const [value, answer] of values) {
      if (answer === null) assert.throws(() => made.index(value), { kind: "ParameterError" }, `${value}`);
      else assert.equal(made.index(value), answer, `${value}`);
    }
    assert.deepEqual(made.border ? borders.map((/** @type {any} */ _, /** @type {number} */ i) => made.border?.(i)) : [], borders);
  });
}

/** A kernel, or a part of one, from its document. @param {any} given @returns {any} */
function part(given) {
  if (Array.isArray(given)) return given.map(part);
  if (typeof given === "object") return Object.fromEntries(Object.entries(given).map(([name, own]) => [name, part(own)]));
  return /^[0-9]+$/.test(given) ? BigInt(given) : given;
}

for (const { check, words, kernel, taken, refused } of checks) {
  test(`parameters are what the rule says: ${check} ${words}`, () => {
    const design = { epsilon: 2, domain: { ticks: 3, most: 2 } };
    const told = (/** @type {any} */ value) => CHECKS[check](value, words ? words.split(" ") : [], part(kernel), design);
    for (const value of taken) assert.equal(told(value), "", JSON.stringify(value).slice(0, 80));
    for (const value of refused) assert.notEqual(told(value), "", `${JSON.stringify(value)}`.slice(0, 80));
  });
}
