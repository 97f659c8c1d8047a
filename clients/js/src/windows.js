/**
 * Windows of a task that was taken up: their moments, and the reports that are drawn for them.
 *
 * @module
 */

import { amountOf } from "./amounts.js";
import { fromBase64, toBase64 } from "./book.js";
import { dayNumber, dayOf, dayText } from "./days.js";
import { join } from "./exact.js";
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

/** Reports go before a window ends, not at its end. */
const SECOND = 1000;

/** @param {string} day @returns {number} the moment when it begins, in milliseconds */
export const startOf = (day) => Number(dayNumber(day)) * DAY;

/** When a window begins and ends. @param {{opens: string, days: number}} task @param {number} window @returns {[number, number]} */
export function spanOf({ opens, days }, window) {
  const start = startOf(opens) + window * days * DAY;
  return [start, start + days * DAY];
}

/** The moment of the window in which a task is taken up. @param {number} now @param {number} ends @param {number} delay */
export function firstMoment(now, ends, delay) {
  const last = ends - SECOND;
  const start = now + GAP <= last ? now + GAP : Math.min(now, last);
  return start + upTo(Math.min(delay, last - start));
}

/**
 * The moment of a later window: in its second half, whenever it is drawn. An answer may be what makes the ledger look at a
 * window for the first time, and must not move anything.
 *
 * @param {[number, number]} span
 */
export function laterMoment([start, ends]) {
  const half = (ends - start) / 2;
  return start + half + upTo(half - SECOND);
}

/** The number that a window's report has; tasks of version 1 that are not fresh have one report in all. @param {Task} task @param {number} window */
export const slotOf = (task, window) => (task.memory === "fresh" ? window : 0);

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
  const slot = slotOf(task, window);
  opened.push(slot);
  book.spend.push({ place, task: task.id, window: slot, amount: epsilon, day });
  /** @type {Entry} */
  const entry = {
    id: source.reportId(task.id, slot),
    task: task.id,
    window: slot,
    question: asked.key,
    body: "",
    cost: String(amountOf(task.epsilon)),
    day,
    url: book.course[task.id].url,
    state: "waiting",
    reason: "",
    attempts: 0,
    most: task.attempts,
    started: null,
    days: task.sendDays,
    due,
    moved: book.course[task.id].moved,
    later: 0,
    ends,
    void: startOf(task.expires),
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
export function draw({ book, source, task }, asked, entry, value) {
  const { level, head } = book.course[task.id];
  const device = asked.agreed(); // as the person did when the task was taken up
  const nothing = source.words("none", { task: task.id, window: entry.window });
  const { answer, answered } = asked.answer(device, value, nothing);
  const chosen = sorted(answer);
  const words = source.words("report", { question: asked.key, answer: chosen, level, round: [task.id, entry.window] });
  const report = device.randomise(chosen, { words, level: level === null ? undefined : device.levels[level] });
  entry.body = toBase64(join([fromBase64(head), report], task.width));
  return answered;
}

/** @param {any} answer @returns {any} plain numbers, pairs by their keys */
function sorted(answer) {
  if (!Array.isArray(answer)) return Number(answer);
  return answer.map((pair) => pair.map(Number)).sort((a, b) => a[0] - b[0] || a[1] - b[1]);
}
