/** Parts of a task: what they may be from the least to the most, each changed alone, as in all clients. */
import assert from "node:assert/strict";
import { test } from "node:test";

import "../src/index.js";
import { seal } from "../src/task.js";
import { keyOf, vectors } from "./tasks.js";

const { document, cases } = vectors("limits");
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
