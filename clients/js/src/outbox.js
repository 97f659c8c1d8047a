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
 * How reports are sent: `only` those of a task; `due` ones only; `move` draws moments anew that were missed.
 *
 * @typedef {{url: string | null, only: string | null, due: boolean, timeout: number, fetch?: typeof fetch,
 *   clock: () => number, move: (book: Book) => void}} How
 */

/** Answers that sending again does not change. */
const FINAL = new Set([400, 401, 403, 404, 405, 410, 413, 415, 422]);
const SECOND = 1000;
const STEP = 30 * SECOND;
const STEPS_MAX = 10;
const LATER_MAX = 6 * 3600 * SECOND;

const DAY = 86_400 * SECOND;

/** What a collector can make a device wait. */
const WAIT_MAX = DAY;
const REASON_MAX = 200;

/** Bytes of an answer; a longer one is not understood. */
const REPLY_MAX = 2 ** 16;

/**
 * Send what is to be sent; places do not wait for each other, so that nobody holds up another's reports.
 *
 * @param {<T>(step: (book: Book) => T) => Promise<T>} change a step of the ledger
 * @param {How} how
 * @returns {Promise<Sent>}
 */
export async function flush(change, how) {
  const counts = { sent: 0, refused: 0, expired: 0, waiting: 0 };
  const lanes = await change((book) => {
    how.move(book);
    counts.expired = giveUp(book, how.clock());
    return new Set(book.report.filter(({ state }) => state === "waiting").map((entry) => laneOf(book, entry)));
  });
  const sending = [...lanes].map((lane) => sendLane(change, lane, how, counts));
  const failed = (await Promise.allSettled(sending)).find((each) => each.status === "rejected");
  if (failed) throw /** @type {PromiseRejectedResult} */ (failed).reason; // the ledger could not be written
  return change((book) => {
    const expired = counts.expired + giveUp(book, how.clock());
    return { ...counts, expired, waiting: book.report.filter(({ state }) => state === "waiting").length };
  });
}

/** Whose reports are sent one after the other: those of one place. @param {Book} book @param {Entry} entry */
const laneOf = (book, { task }) => book.taken[task]?.place ?? task;

/**
 * Send the reports of one place one by one; each is put off before, so that nobody else sends it meanwhile.
 *
 * @param {<T>(step: (book: Book) => T) => Promise<T>} change
 * @param {string} lane
 * @param {How} how
 * @param {Sent} counts
 */
async function sendLane(change, lane, how, counts) {
  /** @type {Set<string>} */
  const done = new Set();
  for (;;) {
    const entry = await change((book) => claim(book, lane, how, done));
    if (!entry) return;
    done.add(entry.id);
    const reply = await post(entry, how);
    const state = await change((book) => settle(book, entry, reply, how.clock()));
    if (state !== "waiting") counts[state] += 1;
  }
}

const TRIED = "the collector did not confirm it in as many attempts as there are";

/** @type {[string, (entry: Entry, now: number) => boolean][]} why a report is given up */
const ENDS = [
  ["the task was void before the collector confirmed it", (entry, now) => entry.void <= now],
  ["its window was over before it could be sent", (entry, now) => !entry.attempts && entry.ends <= now],
  [TRIED, (entry, now) => entry.attempts >= entry.most && entry.later <= now], // a device died at the last one
  [
    "the collector did not confirm it in as many days as there are",
    (entry, now) => entry.started !== null && entry.started + entry.days * DAY <= now,
  ],
];

/** @param {Book} book @param {number} now @returns {number} how many were given up */
function giveUp(book, now) {
  let count = 0;
  for (const entry of book.report.filter(({ state }) => state === "waiting")) {
    const found = ENDS.find(([, over]) => over(entry, now));
    if (found) finish(entry, "expired", found[0]);
    count += Number(found !== undefined);
  }
  return count;
}

/** @param {Entry} entry @param {string} state @param {string} reason */
const finish = (entry, state, reason) => Object.assign(entry, { state, reason, due: null, later: 0 });

/**
 * The next report, with its next attempt put off already: a device that dies now sends it later.
 *
 * @param {Book} book
 * @param {string} lane
 * @param {How} how
 * @param {Set<string>} done
 * @returns {(Entry & {url: string}) | null}
 */
function claim(book, lane, { url, only, due, timeout, clock }, done) {
  const now = clock();
  const ready = book.report.filter(
    (entry) =>
      entry.state === "waiting" &&
      entry.attempts < entry.most &&
      entry.void > now &&
      entry.later <= now &&
      (!due || Number(entry.due) <= now) &&
      (only === null || entry.task === only) &&
      (entry.url ?? url) !== null &&
      laneOf(book, entry) === lane &&
      !done.has(entry.id),
  );
  const [entry] = ready.sort((a, b) => Number(a.due) - Number(b.due));
  if (!entry) return null;
  entry.attempts += 1;
  entry.started ??= now;
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
  const entry = book.report.find((each) => each.id === sent.id && each.state === "waiting"); // it may have been forgotten meanwhile
  if (entry && state !== "waiting") finish(entry, state, reason);
  else if (entry && entry.attempts >= entry.most) {
    finish(entry, "expired", TRIED);
    return "expired";
  } else if (entry) Object.assign(entry, { reason, later: now + retryAfter(reply.wait, now) + pause(sent.attempts) });
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

/** @param {string} url @param {string} task where reports of a task go */
const placeOf = (url, task) => `${url}/v1/tasks/${task}/reports`;

/** @param {string} id @param {string} body */
const textOf = (id, body) => JSON.stringify({ reports: [{ id, report: body }] });

/** What asks a browser for a request that tells no more than it must. @param {string} body @returns {RequestInit} */
const requestOf = (body) => ({
  method: "POST",
  headers: { "Content-Type": "application/json" },
  body,
  credentials: "omit",
  redirect: "error",
  cache: "no-store",
  referrerPolicy: "no-referrer",
});

/**
 * One of the attempts of a report that was not tried yet, set aside for the moment at which a page is left: the ledger cannot
 * be written then.
 *
 * @param {Book} book
 * @param {string} id
 * @param {string | null} url
 * @param {boolean} before whether it was set aside before
 * @returns {(Entry & {url: string}) | null} the report with its address; null if it was tried, or has one attempt only
 */
export function setAside(book, id, url, before) {
  const entry = book.report.find((each) => each.id === id && each.state === "waiting" && !each.attempts);
  if (!entry || (!before && entry.most < 2) || (entry.url ?? url) === null) return null;
  if (!before) entry.most -= 1;
  return { ...entry, url: checkedUrl(entry.url ?? url) };
}

/** Send what was set aside, at once and without waiting for an answer. @param {Entry & {url: string}} entry @param {typeof fetch} fetch */
export function part({ url, task, id, body }, fetch) {
  fetch(placeOf(url, task), { ...requestOf(textOf(id, body)), keepalive: true }).catch(() => undefined); // tried again later
}

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
    const exchange = await exchangeOf(fetch);
    const work = exchange(placeOf(url, task), { body: textOf(id, body), signal: stop.signal, most: REPLY_MAX });
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
  const response = await fetch(url, { ...requestOf(body), signal });
  const data = new Uint8Array(most);
  const reader = response.body?.getReader();
  let size = 0;
  while (reader) {
    const { done, value } = await reader.read();
    if (done) break;
    if (size + value.length > most) throw new Error("the answer is too long"); // the signal ends it
    data.set(value, size);
    size += value.length;
  }
  const wait = response.headers.get("Retry-After") ?? "";
  return { status: response.status, wait, data: data.subarray(0, size) };
}
