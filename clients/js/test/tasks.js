import "../src/index.js"; // all kernels
/** Tasks, collectors and ledgers for tests. */

import { createPrivateKey, createPublicKey, sign } from "node:crypto";
import { readFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { Ledger } from "../src/ledger.js";
import { seal, Task } from "../src/task.js";

const FOLDER = new URL("../../vectors/", import.meta.url);

/** @param {string} name @returns {any} */
export const vectors = (name) => JSON.parse(readFileSync(new URL(`${name}.json`, FOLDER), "utf8"));

/** A yes/no question at epsilon 1. */
export const COIN = {
  mechanism: "grr",
  version: 1,
  epsilon: 1,
  domain: { labels: ["yes", "no"] },
  params: {},
  kernel: { kind: "response", k: "2", keep: "13485650502877570762" },
};

/** A collector's key, from 32 bytes that are all the same. @param {number} [byte] */
export function keyOf(byte = 7) {
  const der = Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), Buffer.alloc(32, byte)]);
  const secret = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  const open = createPublicKey(secret).export({ format: "der", type: "spki" }).subarray(-32);
  return { key: open.toString("hex"), sign: (/** @type {Uint8Array} */ message) => Uint8Array.from(sign(null, message, secret)) };
}

/** @param {any} [changes] @returns {any} */
export const question = (changes = {}) => ({ name: "sleep", text: "Did you sleep well?", none: "no", ...changes });

/** A task of version 2, by the collector with this byte. @param {any} [changes] @param {number} [byte] @returns {any} */
export const document = (changes = {}, byte = 7) => ({
  version: 2,
  collector: { name: "Example Institute", key: keyOf(byte).key },
  language: "en",
  subject: "sleep",
  epsilon: 1,
  design: COIN,
  questions: [[question()]],
  window: { opens: "2026-11-16", days: 7, count: 1 },
  min_batch: 1,
  memory: "fresh",
  sending: { attempts: 8, days: 7 },
  budget: 2,
  retention: { keep: "tally" },
  ...changes,
});

/** Of several questions about the same design. @param {number} count @param {any} [changes] */
export const several = (count, changes = {}) => ({
  design: { mechanism: "dealt", version: 1, epsilon: 1, shares: Array(count).fill(1), parts: Array(count).fill(COIN) },
  questions: Array.from({ length: count }, (_, i) => [question({ name: `q${i}`, text: `${i}?` })]),
  ...changes,
});

/** A sealed document. @param {any} [changes] @param {number} [byte] */
export const sealed = (changes = {}, byte = 7) => seal(document(changes, byte), keyOf(byte).sign);

/** @param {any} [changes] @param {number} [byte] */
export const task = (changes = {}, byte = 7) => Task.load(sealed(changes, byte));

/** @param {any} [changes] @returns {any} a question of version 1 */
export const oldQuestion = (changes = {}) => ({ name: "sleep", text: "Did you sleep well?", design: COIN, share: 1, ...changes });

/** A task of version 1. @param {any} [changes] @returns {any} */
export const oldDocument = (changes = {}) => ({
  version: 1,
  subject: "sleep",
  epsilon: 1,
  questions: [oldQuestion()],
  window: { opens: "2026-11-16", days: 7, count: 1 },
  precision: "day",
  min_batch: 1,
  memory: "fresh",
  budget: { task: 2, subject: 4, lifetime: 8 },
  retention: { keep: "tally" },
  expires: "2030-01-01",
  ...changes,
});

/** @param {any} [changes] */
export const oldTask = (changes) => Task.load(seal(oldDocument(changes)));

/** A clock that stands on a day until it is moved. */
export class Clock {
  constructor(day = "2026-11-16") {
    this.now = Date.parse(`${day}T12:00:00Z`);
  }

  read = () => this.now;

  /** @param {number} [days] */
  pass(days = 1) {
    this.now += days * 86_400_000;
  }
}

/** A store in memory, with the steps of a real one. */
export class MemoryStore {
  /** @type {string | undefined} */
  text = undefined;

  /** @param {(state: any) => [any, any]} step */
  async change(step) {
    const [state, answer] = step(this.text && JSON.parse(this.text));
    this.text = JSON.stringify(state);
    return answer;
  }
}

/** The same without undoing anything, for many steps. */
export class FastStore {
  /** @type {any} */
  state = undefined;

  /** @param {(state: any) => [any, any]} step */
  async change(step) {
    const [state, answer] = step(this.state);
    this.state = state;
    return answer;
  }
}

/** @param {{after(step: () => void): void}} t @returns {string} a folder that is removed after the test */
export function folder(t) {
  const path = mkdtempSync(join(tmpdir(), "deniable-"));
  t.after(() => rmSync(path, { recursive: true }));
  return path;
}

/** A collector in memory: what it was sent, once for each id. */
export class Collector {
  /** @type {Map<string, string>} */
  reports = new Map();
  /** @type {{url: string, options: any}[]} */
  requests = [];
  /** @type {(id: string) => Response | Error | undefined} what it answers in place of the usual */
  trouble = () => undefined;

  /** @type {any} */
  fetch = async (/** @type {string} */ url, /** @type {any} */ options) => {
    this.requests.push({ url, options });
    const results = [];
    const { reports } = JSON.parse(options.body);
    for (const { id, report } of reports) {
      const trouble = this.trouble(id);
      if (trouble instanceof Error) throw trouble;
      if (trouble) return trouble;
      results.push({ id, status: this.reports.has(id) ? "duplicate" : "accepted" });
      this.reports.set(id, report);
    }
    return Response.json({ results });
  };
}

/** @param {string} error a kind as vectors have it @returns {string} */
export const kindOf = (error) => `${error[0].toUpperCase()}${error.slice(1)}Error`;

/** @param {any} entry @returns {Uint8Array} the bytes that an entry of a vector says */
export function content({ text, base64, start, fill, count, end }) {
  if (base64 !== undefined) return Uint8Array.from(Buffer.from(base64, "base64"));
  return new TextEncoder().encode(text ?? start + fill.repeat(count) + end);
}

/** A ledger on the first day. @param {any} [options] @param {MemoryStore | FastStore} [store] */
export function made(options = {}, store = new MemoryStore()) {
  const clock = new Clock();
  return { clock, store, ledger: new Ledger(store, { delay: 0, clock: clock.read, ...options }) };
}
