/**
 * A crowd of devices, each with a ledger of its own: reads `{task, values, harmless, level}` from standard input, answers and
 * sends, and prints what a collector has then: one id and report a line.
 */
import { text } from "node:stream/consumers";

import { Ledger } from "../src/ledger.js";
import { Task } from "../src/task.js";
import { Clock, Collector, FastStore } from "./tasks.js";

const given = JSON.parse(await text(process.stdin));
const task = Task.load(given.task);
const [clock, collector] = [new Clock(), new Collector()];
for (const [i, value] of given.values.entries()) {
  const ledger = new Ledger(new FastStore(), { clock: clock.read });
  const level = given.levels?.[i % given.levels.length] ?? null;
  await ledger.answer(task, value, { harmless: given.harmless ?? null, level, url: "http://127.0.0.1:1" });
  await ledger.flush(null, { fetch: collector.fetch });
  collector.requests.length = 0;
}
for (const [id, report] of collector.reports) console.log(id, report);
