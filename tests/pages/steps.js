/**
 * What the page's modules do between "send" and the request, for one answer after the other: reads `{task, people, count}`
 * from standard input, where `people` are options of `Ledger.answer` with the `value`, and prints for each of them
 * `{steps, sent, spent}`: a hash of how often every block of the modules was run, the length of the request, and
 * milliseconds. With `count` false nothing is counted, and times are those of code that runs at its full speed.
 * A person may have a `delay`, in milliseconds, for which the request waits: what tests must notice.
 */
import { createHash } from "node:crypto";
import { Session } from "node:inspector";
import { text } from "node:stream/consumers";

const given = JSON.parse(await text(process.stdin));
const session = new Session();
session.connect();

/** @param {string} method @param {any} [options] @returns {any} what the profiler answers; it does so at once */
function ask(method, options) {
  let found;
  session.post(`Profiler.${method}`, options, (/** @type {any} */ error, /** @type {any} */ answer) => {
    if (error) throw new Error(error.message);
    found = answer;
  });
  return found;
}

if (given.count) {
  ask("enable");
  ask("startPreciseCoverage", { callCount: true, detailed: true }); // only blocks of modules that are loaded later
}
const { Ledger } = await import("../../clients/js/src/ledger.js");
const { Task } = await import("../../clients/js/src/task.js");
const { Clock, MemoryStore } = await import("../../clients/js/test/tasks.js");
const task = Task.load(given.task);
const clock = new Clock();

/** @returns {string} how often each block was run since it was last asked, in the client's modules and in `waited` */
function steps() {
  const ours = (/** @type {string} */ url, /** @type {string} */ name) => url.includes("/js/src/") || name === "waited";
  const rows = ask("takePreciseCoverage").result.flatMap((/** @type {any} */ { url, functions }) =>
    functions
      .filter((/** @type {any} */ { functionName, ranges }) => ranges[0].count > 0 && ours(url, functionName))
      .map((/** @type {any} */ { functionName, ranges }) => JSON.stringify([url, functionName, ranges])),
  );
  return createHash("sha256").update(rows.sort().join("\n")).digest("hex");
}

/** @param {number} delay milliseconds that pass here without rest */
function waited(delay) {
  if (delay === 0) return; // so that a delay is another step even if the machine stands still until it is over
  const until = performance.now() + delay;
  while (performance.now() < until);
}

/** @param {any} person @returns {Promise<any>} */
async function sent({ value, delay = 0, ...options }) {
  const ledger = new Ledger(new MemoryStore(), { clock: clock.read, delay: 0 });
  const receipt = await ledger.answer(task, value, { url: "http://127.0.0.1:1", ...options });
  let found;
  if (given.count) steps(); // what was run before does not count
  const start = performance.now();
  await ledger.flush("http://127.0.0.1:1", {
    task,
    fetch: async (/** @type {any} */ url, /** @type {any} */ { body }) => {
      waited(delay);
      const spent = performance.now() - start;
      found = { steps: given.count ? steps() : "", sent: url.length + body.length, spent };
      return new Response(JSON.stringify({ results: [{ id: receipt.id, status: "accepted" }] }));
    },
  });
  return found;
}

await sent(given.people[0]); // modules that are loaded once
const found = [];
for (const person of given.people) found.push(await sent(person));
console.log(JSON.stringify(found));
