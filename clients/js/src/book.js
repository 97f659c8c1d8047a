/**
 * What lies in a ledger's store: its parts, the tag that recognises damage, and what becomes of older ledgers.
 *
 * @module
 */

import { digest } from "./canonical.js";
import { dayOf, dayText } from "./days.js";
import { show } from "./errors.js";
import { LedgerError } from "./ledger_errors.js";
import { Source, randomBytes } from "./memory.js";
import { hex } from "./sha256.js";

/**
 * Kept for good: `own` (the key of the digests, or a mark of the secret), when it was `made`, how many places the person
 * `allowed` besides, `account` (by collector and address, as digests), `taken` (by task), `spend` and `deal`. Erased by `forget`: `task`,
 * `course` and `report`. `tag` is over all of it.
 *
 * @typedef {{version: 2, own: Record<string, string>, made: number, allowed: number, account: Record<string, Account>,
 *   taken: Record<string, Taken>, spend: {place: string, task: string, window: number, amount: string, day: string}[],
 *   deal: Record<string, number>, task: Record<string, any>, course: Record<string, Course>, report: Entry[], tag: string}} Book
 */

/**
 * The places of one collector, by the moments when they began; `least` is the smallest budget that the collector
 * promised, null if there is none, and `more` what the person allowed it besides.
 *
 * @typedef {{began: number[], least: string | null, more: string}} Account
 */

/**
 * A task that was taken up. A `place` is an account and the moment when it began; `windows` is how many may be opened in all.
 *
 * @typedef {{place: string, epsilon: string, opens: string, days: number, count: number, windows: number, opened: number[],
 *   withdrawn: boolean}} Taken
 */

/**
 * How a task goes on without a word of the person: the key of its question, the number of the level, what is sent openly,
 * where to, until when it is open, and the moment (which may move once) of a window that is not opened yet.
 *
 * @typedef {{key: string, level: number | null, head: string, url: string | null, until: string, window: number, due: number,
 *   moved: boolean}} Course
 */

/**
 * A report: first sent before its window `ends`, then at most so many times (`most`) and `days` after it `started`, and never
 * once its task is `void`.
 *
 * @typedef {{id: string, task: string, window: number, question: string, body: string, cost: string, day: string,
 *   url: string | null, state: string, reason: string, attempts: number, most: number, started: number | null, days: number,
 *   due: number | null, moved: boolean, later: number, ends: number, void: number}} Entry
 */

const VERSION = 2;
const DAY = 86_400_000;

/** What a ledger of version 1 may still send. */
const [OLD_ATTEMPTS, OLD_DAYS] = [8, 7];

/**
 * The book of a state, and where its randomness comes from; `LedgerError` if it is damaged, or was made with another secret.
 *
 * @param {any} state undefined if there is none yet
 * @param {Uint8Array | null} secret
 * @param {number} now
 * @returns {{book: Book, source: Source}}
 */
export function openBook(state, secret, now) {
  const found = state === undefined ? fresh(now) : state;
  if (found?.version !== 1 && found?.version !== VERSION) throw unknown(found);
  const source = sourceOf(found, secret);
  if (found.version === 1) {
    if ("tag" in found) throw damaged(); // it was of version 2
    try {
      return { book: migrated(found, now), source };
    } catch (cause) {
      throw damaged({ cause });
    }
  }
  if (state !== undefined && found.tag !== tagOf(found, source)) throw damaged();
  return { book: found, source };
}

/** @param {Book} book @param {Source} source @returns {Book} with the tag of what it has now */
export const sealedBook = (book, source) => Object.assign(book, { tag: tagOf(book, source) });

/** @param {Book} book @param {Source} source the names stay in the order in which they were written */
const tagOf = ({ tag, ...content }, source) => source.tag(JSON.stringify(content));

/** @param {any} [options] */
export const damaged = (options) =>
  new LedgerError(
    "the ledger is damaged, or is not a ledger; nothing was spent or sent.",
    "Restore it from a backup. A new ledger would not know what was spent.",
    options,
  );

/** @param {any} state */
function unknown(state) {
  if (!Number.isInteger(state?.version)) return damaged();
  return new LedgerError(
    `this is a ledger of version ${show(state.version)}; this client knows ${VERSION}.`,
    "Use the client that wrote it, or a newer one.",
  );
}

/** @param {number} now @returns {Book} */
function fresh(now) {
  const kept = { own: {}, made: now, allowed: 0, account: {}, taken: {}, spend: [], deal: {} };
  return { version: VERSION, ...kept, task: {}, course: {}, report: [], tag: "" };
}

/** @param {any} book @param {Uint8Array | null} secret @returns {Source} */
function sourceOf(book, secret) {
  const { own } = book;
  if (own === null || typeof own !== "object") throw damaged();
  const first = !Object.keys(own).length;
  if (!secret && !first && !("secret" in own) && !/^[0-9a-f]{64}$/.test(String(own.key))) throw damaged();
  const key = secret ?? (first ? randomBytes(32) : fromHex(String(own.key ?? "")));
  const source = new Source(key, secret !== null);
  /** @type {Record<string, string>} */
  const mark = secret ? { secret: hex(source.digest("ledger", {})) } : { key: hex(key) };
  if (first) book.own = mark;
  if (JSON.stringify(book.own) === JSON.stringify(mark)) return source;
  throw new LedgerError(
    "the ledger was made with another secret, or without one; nothing was spent or sent.",
    "Open it with the same secret as before.",
  );
}

/**
 * A ledger of version 1: what was spent stays, each task in a place of its own; what waits is still sent, for so long.
 *
 * @param {any} old
 * @param {number} now
 * @returns {Book}
 */
function migrated(old, now) {
  const book = fresh(now);
  Object.assign(book, { own: old.own, deal: old.deal, task: old.task });
  const today = dayText(dayOf(now));
  const ids = new Set([...Object.keys(old.answered), ...old.spend.map((/** @type {any} */ { task }) => task)]);
  for (const id of ids) {
    const spends = old.spend.filter((/** @type {any} */ { task }) => task === id);
    const windows = old.answered[id] ?? [];
    const name = oldAccount(id);
    const place = `${name}/${now}`;
    book.account[name] = { began: [now], least: null, more: "0" };
    const { opens = today, days = 1, count = 1 } = old.task[id]?.window ?? {};
    book.taken[id] = { place, epsilon: "0", opens, days, count, windows: 0, opened: windows, withdrawn: true };
    for (const { amount, day: on } of spends) book.spend.push({ place, task: id, window: -1, amount, day: on });
  }
  book.report = old.report.map((/** @type {any} */ { answer, expires, ...entry }) => {
    const ends = Math.min(expires, now + OLD_DAYS * DAY);
    const attempts = Math.min(entry.attempts, OLD_ATTEMPTS - 1);
    return { ...entry, attempts, most: OLD_ATTEMPTS, started: attempts ? now : null, days: OLD_DAYS, moved: true, ends, void: ends };
  });
  return book;
}

/** @param {string} task of version 1 @returns {string} its own account */
export const oldAccount = (task) => digest({ task });

/** @param {string} text */
const fromHex = (text) => Uint8Array.from(text.match(/../g) ?? [], (digits) => parseInt(digits, 16));

/** @param {Uint8Array} data */
export function toBase64(data) {
  let text = "";
  for (const byte of data) text += String.fromCharCode(byte);
  return btoa(text);
}

/** @param {string} text */
export const fromBase64 = (text) => Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
