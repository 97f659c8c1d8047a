/** Designs of parts: what is wrong with them, what is read and agreed to, and what is loaded for them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Worker } from "node:worker_threads";

import { reduced } from "../src/explain.js";
import { Device, Task, explain } from "../src/index.js";
import { vectors } from "./tasks.js";

const { good, tasks } = vectors("dealt");
/** @type {Record<string, any>} */
const PARTS = Object.assign({}, ...good.map((/** @type {any} */ { about, design }) => Object.fromEntries(about.split(", ").map((/** @type {string} */ name, /** @type {number} */ i) => [name, design.parts[i]]))));

/** @param {string[]} names @param {any} [more] */
const design = (names, more) => ({ mechanism: "dealt", version: 1, epsilon: 1, shares: names.map(() => 1), parts: names.map((name) => PARTS[name]), ...more });

/** @param {any} part @param {number} count */
const many = (part, count) => design([], { parts: Array(count).fill(part), shares: Array(count).fill(1) });

test("what is wrong with a part names the part", () => {
  for (const [change, kind, message] of [
    [{ version: 2 }, "FormatError", /^part 2: version 2 of ss is unknown/],
    [{ epsilon: 0.3 }, "PrivacyError", /^part 2: this design promises epsilon 0\.3 but its subset kernel/],
  ]) {
    assert.throws(() => explain(design([], { shares: [1, 1], parts: [PARTS.grr, { ...PARTS.ss, .../** @type {any} */ (change) }] })), { kind, message });
  }
});

test("parts are so many and so much work at most", () => {
  assert.equal(/** @type {any} */ (explain(many(PARTS.grr, 255))).parts.length, 255);
  const told = /parts of a design of parts must be a list of 2 to 255 designs/;
  assert.throws(() => explain(many(PARTS.grr, 256)), { kind: "FormatError", message: told });
  const { params, kernel } = PARTS.pldp;
  const levels = {
    ...PARTS.pldp,
    params: { ...params, levels: Array.from({ length: 16 }, (_, i) => 0.5 + i / 100), level_report: "none", level_epsilon: null },
    kernel: { kind: "personal", level: [], data: Array(16).fill(kernel.data[0]) },
  };
  assert.doesNotThrow(() => new Device(many(levels, 2)));
  const message = /^part 20: these designs need more than 2000000 steps to be proved/;
  assert.throws(() => new Device(many(levels, 255)), { kind: "FormatError", message });
});

test("a question of a task asks for one part", () => {
  const wanted = { kind: "FormatError", message: /design of q of a task must be without parts/ };
  for (const { task } of tasks) assert.throws(() => Task.load(task), wanted);
  assert.equal(tasks.length, 2);
});

test("values of all parts are read and one is reported", () => {
  const dealt = design(["labels", "kv-ss2"]);
  const device = new Device(dealt);
  assert.deepEqual(device.answer(["a", [[0, -1]]]), [0, [[0, 0]]]);
  for (const wrong of [["a"], "ab", ["a", [[0, 0]], 1], { a: 1 }, ["a", 0], null]) {
    assert.throws(() => device.report(wrong), { kind: "ParameterError" });
  }
  assert.deepEqual(new Device(dealt, { standIn: ["b", []] }).answer(["a", 0]), [1, []]);
  assert.throws(() => device.report(["a", []], { level: 1 }), { kind: "ParameterError", message: /level must be left out/ });
  assert.throws(() => device.report(["a", []], { coin: 1n }), { kind: "ParameterError", message: /coin must be left out/ });
  for (const harmless of [[["a"]], "ab", new Set([["a"], []]), 5]) {
    const given = { harmless: /** @type {any} */ (harmless) };
    assert.throws(() => new Device(dealt, given), { kind: "ParameterError", message: /harmless must be a list of 2 lists of answers/ });
  }
  assert.doesNotThrow(() => new Device(dealt, { harmless: [] }));
});

test("the chance that an answer is named counts the deal", () => {
  const found = explain(design(["urr", "grr"], { shares: [1, 3] }));
  assert.deepEqual(found.harmless, [[{ start: 2, end: 4 }], []]);
  const [chance, own, other] = [found.chance, found.chanceOf([2, 0]), found.chanceOf([0, 1])].map((each) => `${reduced(each).top}/${each.bottom}`);
  assert.deepEqual([chance, own, other], ["1/16", "1/16", "0/1"]);
  assert.throws(() => found.chanceOf(2), { kind: "ParameterError", message: /value must be a list of 2 answers, one for each part/ });
});

test("the modules of parts are loaded for designs of parts, and for no other", async () => {
  const script = `
    const { parentPort, workerData } = require("node:worker_threads");
    (async () => {
      const { prepare, explanationFor } = await import(workerData.source + "load.js");
      const { Device, TOLD } = await import(workerData.source + "device.js");
      const { COMPOSED } = await import(workerData.source + "designs.js");
      const told = [];
      for (const design of workerData.designs) {
        await prepare(design);
        told.push(COMPOSED.size, new Device(design).kernel.width, (await explanationFor(design)).text.split("\\n")[0]);
      }
      parentPort.postMessage(told);
    })();`;
  const designs = [PARTS.grr, design(["grr", "ss"])];
  const source = new URL("../src/", import.meta.url).href;
  const worker = new Worker(script, { eval: true, workerData: { source, designs } });
  const told = await new Promise((done, fail) => worker.once("message", done).once("error", fail));
  assert.deepEqual(told, [0, 1, explain(PARTS.grr).text.split("\n")[0], 1, 2, "One of 2 questions is drawn for you; only that one is answered."]);
});
