/**
 * Reports that are to be sent: each at its moment, again with the same id until it is counted or given up. Nothing that a
 * collector answers, or does not answer, stops the reports for another.
 *
 * @module
 */

import { checkedUrl } from "./addresses.js";
import { show } from "./errors.js";
import { upTo } from "./memory.js";

/** @typedef {import("./book.js").Book} Book */
/** @typedef {import("./book.js").Entry} Entry */
/** @typedef {{status: number, wait: string, text: string, trouble: string}} Reply status 0 if there was no answer */

/**
 * What `flush` did, in numbers of reports: the collector has them; it does not count them; given up, after the last attempt
 * or day; not due yet, or to be sent again later.
 *
 * @typedef {{sent: number, refused: number, expired: number, waiting: number}} Sent
 */

/**
 * How reports are sent: `only` those of a task; `due` ones only.
 *
 * @typedef {{url: string | null, only: string | null, due: boolean, timeout: number, fetch?: typeof fetch,
 *   clock: () => number}} How
 */

/** Answers that sending again does not change. */
const FINAL = new Set([400, 401, 403, 404, 405, 410, 413, 415, 422]);
const SECOND = 1000;
const STEP = 30 * SECOND;
const STEPS_MAX = 10;
const LATER_MAX = 6 * 3600 * SECOND;

/** What a collector can make a device wait. */
const WAIT_MAX = 86_400 * SECOND;
const REASON_MAX = 200;

/** Bytes of an answer that are looked at. */
const REPLY_MAX = 2 ** 16;

/**
 * Send one by one; each is put off before it is sent, so that nobody else sends it meanwhile.
 *
 * @param {<T>(step: (book: Book) => T) => Promise<T>} change a step of the ledger
 * @param {How} how
 * @returns {Promise<Sent>}
 */
export async function flush(change, how) {
  const counts = { sent: 0, refused: 0, expired: await change((book) => giveUp(book, how.clock())), waiting: 0 };
  /** @type {Set<string>} */
  const done = new Set();
  /** @type {unknown[]} */
  const errors = [];
  for (;;) {
    const entry = await change((book) => claim(book, how, done));
    if (!entry) break;
    done.add(entry.id);
    const reply = await post(entry, how);
    try {
      const state = await change((book) => settle(book, entry, reply, how.clock()));
      if (state !== "waiting") counts[state] += 1;
    } catch (error) {
      errors.push(error); // the ledger could not be written: the others are tried before this is told
    }
  }
  if (errors.length) throw errors[0];
  counts.waiting = await change((book) => book.report.filter((entry) => entry.state === "waiting").length);
  return counts;
}

/** What was not sent in its window, or for too long, is given up. @param {Book} book @param {number} now */
function giveUp(book, now) {
  const late = book.report.filter(
    (entry) => entry.state === "waiting" && (entry.until <= now || (!entry.attempts && entry.ends <= now)),
  );
  for (const entry of late) finish(entry, "expired", "its time was over before the collector confirmed it");
  return late.length;
}

/** @param {Entry} entry @param {string} state @param {string} reason */
const finish = (entry, state, reason) => Object.assign(entry, { state, reason, due: null, later: 0 });

/**
 * The next report, with its next attempt put off already: a device that dies now sends it later.
 *
 * @param {Book} book
 * @param {How} how
 * @param {Set<string>} done
 * @returns {(Entry & {url: string}) | null}
 */
function claim(book, { url, only, due, timeout, clock }, done) {
  const now = clock();
  const ready = book.report.filter(
    (entry) =>
      entry.state === "waiting" &&
      entry.later <= now &&
      (!due || Number(entry.due) <= now) &&
      (only === null || entry.task === only) &&
      (entry.url ?? url) !== null &&
      !done.has(entry.id),
  );
  const [entry] = ready.sort((a, b) => Number(a.due) - Number(b.due));
  if (!entry) return null;
  entry.attempts += 1;
  entry.later = now + timeout * SECOND + pause(entry.attempts);
  return { ...entry, url: checkedUrl(entry.url ?? url) };
}

/**
 * @param {Book} book
 * @param {Entry} sent
 * @param {Reply} reply
 * @param {number} now
 * @returns {"sent" | "refused" | "expired" | "waiting"}
 */
function settle(book, sent, reply, now) {
  const [state, reason] = verdict(reply, sent.id);
  const entry = book.report.find((each) => each.id === sent.id); // it may have been forgotten meanwhile
  if (state !== "waiting") {
    if (entry) finish(entry, state, reason);
    return state;
  }
  if (entry && entry.attempts >= entry.most) {
    finish(entry, "expired", `given up after ${entry.attempts} attempts: ${reason}`);
    return "expired";
  }
  if (entry) Object.assign(entry, { reason, later: now + retryAfter(reply.wait, now) + pause(sent.attempts) });
  return state;
}

/**
 * What an answer means for a report: it is sent, refused or still waiting, and why.
 *
 * @param {Reply} reply
 * @param {string} id
 * @returns {["sent" | "refused" | "waiting", string]}
 */
function verdict(reply, id) {
  if (FINAL.has(reply.status)) return ["refused", `the collector answered ${reply.status}`];
  if (reply.status !== 200) return ["waiting", reply.trouble || `the collector answered ${reply.status}`];
  let row;
  try {
    row = JSON.parse(reply.text).results.find((/** @type {any} */ each) => each?.id === id);
  } catch {
    row = undefined; // not JSON, or not what it should be
  }
  if (["accepted", "duplicate"].includes(row?.status)) return ["sent", ""];
  if (row?.status === "rejected") return ["refused", typeof row.reason === "string" ? row.reason.slice(0, REASON_MAX) : ""];
  return ["waiting", "the collector's answer was not understood"];
}

/** @param {string} text seconds or a date @param {number} now @returns {number} milliseconds that the collector asks to wait */
function retryAfter(text, now) {
  const seconds = /^[0-9]+$/.test(text);
  const wait = seconds ? Number(text) * SECOND : / GMT$/.test(text) ? Date.parse(text) - now : 0;
  return Number.isNaN(wait) ? 0 : Math.min(Math.max(wait, 0), WAIT_MAX);
}

/** @param {number} attempts @returns {number} a random time before another one */
const pause = (attempts) => upTo(Math.min(STEP * 2 ** Math.min(attempts, STEPS_MAX), LATER_MAX));

/**
 * One report to its collector; whatever goes wrong is told in the reply, and it ends in time whatever the other side does.
 *
 * @param {Entry & {url: string}} entry
 * @param {How} how
 * @returns {Promise<Reply>}
 */
async function post({ id, task, body, url }, { timeout, fetch }) {
  const stop = new AbortController();
  /** @type {any} */
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => {
      reject(new Error(`not within ${timeout} seconds`));
      stop.abort();
    }, timeout * SECOND);
  });
  try {
    const request = { body: JSON.stringify({ reports: [{ id, report: body }] }), signal: stop.signal, most: REPLY_MAX };
    const exchange = await exchangeOf(fetch);
    const work = exchange(`${url}/v1/tasks/${task}/reports`, request);
    const { status, wait, data } = await Promise.race([work, /** @type {Promise<never>} */ (late)]);
    return { status, wait: String(wait).trim(), text: new TextDecoder().decode(data), trouble: "" };
  } catch (error) {
    return { status: 0, wait: "", text: "", trouble: `no answer (${show(error instanceof Error ? error.message : "")})` };
  } finally {
    clearTimeout(timer);
    stop.abort();
  }
}

/** @param {typeof fetch} [fetch] how one request is made: in Node over a connection of its own */
async function exchangeOf(fetch) {
  const node = /** @type {any} */ (globalThis).process?.versions?.node;
  if (node && !fetch) return (await import("./exchange_node.js")).exchange;
  const used = fetch ?? globalThis.fetch;
  return (/** @type {string} */ url, /** @type {{body: string, signal: AbortSignal, most: number}} */ how) => fetched(used, url, how);
}

/**
 * @param {typeof fetch} fetch
 * @param {string} url
 * @param {{body: string, signal: AbortSignal, most: number}} how
 */
async function fetched(fetch, url, { body, signal, most }) {
  const response = await fetch(url, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body,
    credentials: "omit",
    redirect: "error",
    cache: "no-store",
    referrerPolicy: "no-referrer",
    signal,
  });
  const data = new Uint8Array(most);
  const reader = response.body?.getReader();
  let size = 0;
  while (reader && size < most) {
    const { done, value } = await reader.read();
    if (done) break;
    data.set(value.subarray(0, most - size), size);
    size += value.length;
  }
  if (size >= most) await reader?.cancel();
  const wait = response.headers.get("Retry-After") ?? "";
  return { status: response.status, wait, data: data.subarray(0, Math.min(size, most)) };
}
