/**
 * A device among servers of all kinds (tests/ledger/behaviours.py): reads `{ports: {NAME: PORT}, timeout}` from standard input,
 * takes one task up for each, sends, and prints what became of each report, how long it took, and the most bytes that one
 * connection read.
 */
import { Socket } from "node:net";
import { text } from "node:stream/consumers";

import { Ledger } from "../src/ledger.js";
import { Clock, FastStore, keyOf, task } from "./tasks.js";

/** @type {Set<Socket>} */
const sockets = new Set();
const { connect } = Socket.prototype;
Socket.prototype.connect = /** @type {any} */ (
  function (/** @type {any[]} */ ...given) {
    sockets.add(/** @type {any} */ (this));
    return /** @type {any} */ (connect).apply(/** @type {any} */ (this), given);
  }
);

const { ports, timeout } = JSON.parse(await text(process.stdin));
const clock = new Clock();
const ledger = new Ledger(new FastStore(), { clock: clock.read, places: 99 });
/** @type {Record<string, string>} */
const names = {};
for (const [i, [name, port]] of Object.entries(ports).entries()) {
  const collector = { name: "A", key: keyOf(i).key, url: `http://127.0.0.1:${port}` };
  names[(await ledger.take(task({ collector }, i))).id] = name;
}
const start = performance.now();
await ledger.flush(null, { timeout });
const held = (performance.now() - start) / 1000;
const { sent } = await ledger.overview();
const states = Object.fromEntries(sent.map(({ id, state }) => [names[id], state]));
const read = [...sockets].reduce((most, socket) => Math.max(most, socket.bytesRead), 0);
console.log(JSON.stringify({ states, names, held, read, connections: sockets.size }));
process.exit();
