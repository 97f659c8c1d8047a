/** Kernels with each of their numbers changed in turn: all clients take the same ones, and these say the same of themselves. */
import assert from "node:assert/strict";
import { test } from "node:test";

import "../src/index.js";
import { kernelFrom } from "../src/designs.js";
import { reduced } from "../src/explain.js";
import { vectors } from "./tasks.js";

const { cases } = vectors("fields");

/** @param {any} ratio */
function written(ratio) {
  const { top, bottom } = reduced(ratio);
  return bottom === 1n ? `${top}` : `${top}/${bottom}`;
}

/** What a kernel says of itself, as far as the vectors say it. @param {any} kernel @param {any[]} wanted */
function said(kernel, wanted) {
  const { work } = kernel;
  const told = [Number(kernel.width), Number(kernel.words), work ? [work.number, work.most, work.steps].map(Number) : null];
  if (wanted.length % 2 === 0) {
    try {
      told.push(/** @type {any} */ (written(kernel.promisedRatio)));
    } catch (error) {
      told.push(/** @type {any} */ (error).kind);
    }
  }
  if (wanted.length > 4) told.push(/** @type {any} */ (written(kernel.disclosed)), kernel.protected?.map(Number) ?? wanted[5]);
  return told;
}

for (const { kernel, said: own, fields } of cases) {
  const { kind, ...numbers } = kernel;
  test(`numbers of ${kind} ${JSON.stringify(numbers).replace(/["{}]/g, "").slice(0, 60)}`, () => {
    assert.deepEqual(said(kernelFrom(kernel), own), own);
    for (const { place, taken, refused } of fields) {
      const changed = (/** @type {string} */ value) => {
        const made = structuredClone(kernel);
        const last = place.slice(0, -1).reduce((/** @type {any} */ part, /** @type {any} */ step) => part[step], made);
        last[place.at(-1)] = value;
        return made;
      };
      for (const [value, ...wanted] of taken) {
        const made = kernelFrom(changed(value));
        if (wanted.length) assert.deepEqual(said(made, wanted), wanted, `${place} ${value}`);
      }
      for (const value of refused) {
        assert.throws(() => kernelFrom(changed(value)), (/** @type {any} */ { kind: error }) => ["ParameterError", "PrivacyError", "FormatError"].includes(error), `${place} ${value}`);
      }
    }
  });
}

test("all kinds of kernels have their numbers changed", () => {
  assert.ok(cases.length > 50);
});
