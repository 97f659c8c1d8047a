/**
 * Windows of a task that was taken up: their moments, and the reports that are drawn for them.
 *
 * @module
 */

import { amountOf } from "./amounts.js";
import { fromBase64, toBase64 } from "./book.js";
import { dayNumber, dayOf, dayText } from "./days.js";
import { joined } from "./task.js";
import { upTo } from "./memory.js";

/** @typedef {import("./book.js").Book} Book */
/** @typedef {import("./book.js").Entry} Entry */
/** @typedef {import("./memory.js").Source} Source */
/** @typedef {import("./question.js").Question} Question */
/** @typedef {import("./task.js").Task} Task */

/** What a step of the ledger is about: a task, in a window, at a moment. @typedef {{book: Book, source: Source, task: Task, window: number, now: number}} Step */

export const DAY = 86_400_000;

/** So long after a task is taken up its first moment may come. */
const GAP = 600_000;

/** @param {string} day @returns {number} the moment when it begins, in milliseconds */
export const startOf = (day) => Number(dayNumber(day)) * DAY;

/** When a window begins and ends. @param {{opens: string, days: number}} task @param {number} window @returns {[number, number]} */
export function spanOf({ opens, days }, window) {
  const start = startOf(opens) + window * days * DAY;
  return [start, start + days * DAY];
}

/** The moment of the window in which a task is taken up. @param {number} now @param {number} ends @param {number} delay */
export function firstMoment(now, ends, delay) {
  const start = Math.min(now + GAP, Math.max(now, ends - 1));
  return start + upTo(Math.max(0, Math.min(delay, ends - 1 - start)));
}

/** The moment of a later window: in its second half. @param {[number, number]} span @param {number} now */
export function laterMoment([start, ends], now) {
  const first = Math.max(now, start + (ends - start) / 2);
  return first + upTo(Math.max(0, ends - 1 - first));
}

/**
 * Open a window: it is spent, and has the report of no answer until there is one.
 *
 * @param {Step} step
 * @param {Question} asked
 * @param {number} due
 * @returns {Entry}
 */
export function openWindow(step, asked, due) {
  const { book, source, task, window, now } = step;
  const { place, epsilon, opened } = book.taken[task.id];
  const day = dayText(dayOf(now));
  const [, ends] = spanOf(task, window);
  opened.push(window);
  book.spend.push({ place, task: task.id, window, amount: epsilon, day });
  /** @type {Entry} */
  const entry = {
    id: source.reportId(task.id, window),
    task: task.id,
    window,
    question: asked.key,
    body: "",
    cost: String(amountOf(task.epsilon)),
    day,
    url: book.course[task.id].url,
    state: "waiting",
    reason: "",
    attempts: 0,
    most: task.attempts,
    due,
    later: 0,
    ends,
    until: Math.min(due + task.sendDays * DAY, startOf(task.expires)),
  };
  book.report.push(entry);
  draw(step, asked, entry, undefined);
  return entry;
}

/**
 * Draw the report of a window from a value, whatever that is, in place of the one that was not sent.
 *
 * @param {Step} step
 * @param {Question} asked
 * @param {Entry} entry
 * @param {unknown} value
 * @returns {boolean} whether the value was an answer
 */
export function draw({ book, source, task, window }, asked, entry, value) {
  const { level, head } = book.course[task.id];
  const device = asked.agreed(); // as the person did when the task was taken up
  const { answer, answered } = asked.answer(device, value, source.words("none", { task: task.id, window }));
  const known = { question: asked.key, answer: plain(answer), level, round: [task.id, window] };
  const words = source.words("report", known);
  const report = device.randomise(answer, { words, level: level === null ? undefined : device.levels[level] });
  entry.body = toBase64(joined(fromBase64(head), report, task.width));
  return answered;
}

/** @param {any} answer @returns {any} numbers for a document, pairs by their keys: kernels may have them as big ones */
function plain(answer) {
  if (!Array.isArray(answer)) return Number(answer);
  return answer.map((pair) => pair.map(Number)).sort((a, b) => a[0] - b[0] || a[1] - b[1]);
}
