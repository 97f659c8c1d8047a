/**
 * The other half of tests/fuzz/tasks.py: reads documents, one a line, and answers with what this client makes of them.
 * `node verdicts.js [FOLDER OF src]`
 */
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const folder = process.argv[2] ? pathToFileURL(`${process.argv[2]}/`) : new URL("../src/", import.meta.url);
await import(new URL("index.js", folder).href);
const { Task } = await import(new URL("task.js", folder).href);

/** @template T @param {() => T} make @returns {T | {error: string}} */
function tried(make) {
  try {
    return make();
  } catch (error) {
    const { kind, stack } = /** @type {any} */ (error);
    return { error: kind ?? `raw: ${stack}` };
  }
}

/** @param {any} job */
const told = ({ data, expect, days }) =>
  tried(() => {
    const task = Task.load(Uint8Array.from(Buffer.from(data, "base64")), { expect });
    const windows = days.map((/** @type {string} */ day) => tried(() => task.window(day)));
    const keys = task.questions.map((/** @type {any} */ question) => question.key);
    const { id, width, closes, expires, questionAt, strataAt, attempts, sendDays } = task;
    const bytes = { width, places: [questionAt, strataAt], sending: [attempts, sendDays] };
    return { id, closes, expires, ...bytes, keys, windows, terms: task.terms() };
  });

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(told(JSON.parse(line)))}\n`);
}
