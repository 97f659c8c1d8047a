/**
 * Reports that wait to be sent: each at a random time, again with the same id until it is counted or void.
 *
 * @module
 */

import { ParameterError, show } from "./errors.js";
import { upTo } from "./memory.js";

/** @typedef {import("./ledger.js").Book} Book */
/** @typedef {import("./ledger.js").Entry} Entry */
/** @typedef {{status: number, wait: string, text: string, trouble: string}} Reply status 0 if there was no answer */

/**
 * What `flush` did, in numbers of reports: the collector has them; it does not count them; given up, since their task is
 * void; not due yet, or to be sent again later.
 *
 * @typedef {{sent: number, refused: number, expired: number, waiting: number}} Sent
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
 * @param {{url: string | null, only: string | null, report: string | null, due: boolean, timeout: number,
 *   fetch: typeof fetch, clock: () => number}} how `only` those of a task, or one `report`
 * @returns {Promise<Sent>}
 */
export async function flush(change, how) {
  const counts = { sent: 0, refused: 0, expired: await change((book) => giveUp(book, how.clock())), waiting: 0 };
  /** @type {Set<string>} */
  const done = new Set();
  for (;;) {
    const entry = await change((book) => claim(book, how, done));
    if (!entry) break;
    done.add(entry.id);
    const reply = await post(entry, how);
    const [state, reason] = verdict(reply, entry.id);
    await change((book) => settle(book, entry, state, reason, reply, how.clock()));
    if (state !== "waiting") counts[state] += 1;
  }
  counts.waiting = await change((book) => book.report.filter((entry) => entry.state === "waiting").length);
  return counts;
}

/** @param {Book} book @param {number} now */
function giveUp(book, now) {
  const late = book.report.filter((entry) => entry.state === "waiting" && entry.expires <= now);
  for (const entry of late) {
    Object.assign(entry, { state: "expired", reason: "the task expired before the collector confirmed it", due: null });
  }
  return late.length;
}

/**
 * The next report, with its next attempt put off already: a device that dies now sends it later.
 *
 * @param {Book} book
 * @param {{url: string | null, only: string | null, report: string | null, due: boolean, clock: () => number}} how
 * @param {Set<string>} done
 * @returns {(Entry & {url: string}) | null}
 */
function claim(book, { url, only, report, due, clock }, done) {
  const now = clock();
  const ready = book.report.filter(
    (entry) =>
      entry.state === "waiting" &&
      entry.expires > now &&
      (report !== null || entry.later <= now) && // a person who asks for one report does not wait
      (!due || Number(entry.due) <= now) &&
      (only === null || entry.task === only) &&
      (report === null || entry.id === report) &&
      (entry.url ?? url) !== null &&
      !done.has(entry.id),
  );
  const [entry] = ready.sort((a, b) => Number(a.due) - Number(b.due));
  if (!entry) return null;
  entry.attempts += 1;
  entry.later = now + pause(entry.attempts);
  return { ...entry, url: checkedUrl(entry.url ?? url) };
}

/**
 * @param {Book} book
 * @param {Entry} sent
 * @param {string} state
 * @param {string} reason
 * @param {Reply} reply
 * @param {number} now
 */
function settle(book, sent, state, reason, reply, now) {
  const entry = book.report.find((each) => each.id === sent.id); // it may have been forgotten meanwhile
  const later = now + retryAfter(reply.wait, now) + pause(sent.attempts);
  if (entry) Object.assign(entry, { state, reason }, state === "waiting" ? { later } : { due: null });
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
    row = JSON.parse(reply.text).results.find((/** @type {any} */ each) => each.id === id);
  } catch {
    row = undefined;
  }
  if (["accepted", "duplicate"].includes(row?.status)) return ["sent", ""];
  if (row?.status === "rejected") return ["refused", String(row.reason ?? "").slice(0, REASON_MAX)];
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
 * One report to its collector; whatever goes wrong is told in the reply.
 *
 * @param {Entry & {url: string}} entry
 * @param {{timeout: number, fetch: typeof fetch}} how
 * @returns {Promise<Reply>}
 */
async function post({ id, task, body, url }, { timeout, fetch }) {
  try {
    const response = await fetch(`${url}/v1/tasks/${task}/reports`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ reports: [{ id, report: body }] }),
      credentials: "omit",
      redirect: "error",
      cache: "no-store",
      referrerPolicy: "no-referrer",
      signal: AbortSignal.timeout(timeout * SECOND),
    });
    const text = await beginning(response);
    return { status: response.status, wait: response.headers.get("Retry-After")?.trim() ?? "", text, trouble: "" };
  } catch (error) {
    return { status: 0, wait: "", text: "", trouble: `no answer (${show(String(error))})` };
  }
}

/** @param {Response} response @returns {Promise<string>} the first bytes of an answer */
async function beginning(response) {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let text = "";
  for (let size = 0; reader && size <= REPLY_MAX; ) {
    const { done, value } = await reader.read();
    if (done) return text;
    size += value.length;
    text += decoder.decode(value, { stream: true });
  }
  await reader?.cancel();
  return text;
}

/** @param {unknown} url @returns {string} an address that a device talks to, without a slash at its end */
export function checkedUrl(url) {
  const need = "https, or http to this machine (localhost, 127.0.0.1)";
  let parts;
  try {
    if (typeof url === "string" && !/[\s\p{C}?#@]/u.test(url)) parts = new URL(url);
  } catch {
    parts = undefined;
  }
  const near = parts?.protocol === "http:" && ["localhost", "127.0.0.1", "[::1]"].includes(parts.hostname);
  if (parts?.protocol === "https:" || near) return String(url).replace(/\/+$/, "");
  throw new ParameterError(
    `url must be an address with ${need}, without a user, a query or a #, got ${show(url)}.`,
    "Reports are not sent openly.",
  );
}
