/**
 * What a person may see of a ledger. No report is shown before it is done: who could look at one and then withdraw it would
 * choose what is sent.
 *
 * @module
 */

import { amountText } from "./amounts.js";
import { dayOf } from "./days.js";
import { endOf, givenOf, mostOf, nextPlace, placeOf, placesOf, reservedIn, spentIn } from "./places.js";

/** @typedef {import("./book.js").Book} Book */
/** @typedef {import("./places.js").Limits} Limits */

/** What can become of a report. */
const STATES = ["waiting", "sent", "refused", "expired"];

/**
 * What was asked, what became of the reports, what is left.
 *
 * @param {Book} book
 * @param {Limits} limits
 * @param {number} now
 */
export function overview(book, limits, now) {
  const asked = Object.entries(book.task).map(([task, document]) => ({
    task,
    collector: nameOf(document),
    subject: document.subject,
    questions: document.questions.flat().map((/** @type {any} */ question) => question.text),
    until: book.taken[task]?.until ?? null,
  }));
  const inState = (/** @type {string} */ state) => book.report.filter((entry) => entry.state === state).length;
  return {
    asked,
    sent: reports(book).map(({ body, url, ...told }) => told),
    counts: Object.fromEntries(STATES.map((state) => [state, inState(state)])),
    ...balances(book, limits, now),
  };
}

/**
 * Everything in the ledger but its key, and digests, which mean nothing without it.
 *
 * @param {Book} book
 * @param {Limits} limits
 * @param {number} now
 */
export function exported(book, limits, now) {
  return {
    version: 2,
    ...balances(book, limits, now),
    tasks: Object.values(book.task),
    reports: reports(book),
    spent: book.spend.map(({ task, window, amount, day }) => ({ task, window, epsilon: number(amount), day })),
  };
}

/** @param {any} document @returns {string | null} */
const nameOf = ({ collector }) => collector?.name ?? collector ?? null;

/** @param {Book} book reports, with what was sent where that is done */
const reports = (book) =>
  book.report.map(({ due, later, ends, until, most, body, ...told }) => ({
    ...told,
    cost: number(told.cost),
    body: told.state === "waiting" ? null : body,
  }));

/** What was lost, and what is left for each collector and for new ones. @param {Book} book @param {Limits} limits @param {number} now */
function balances(book, limits, now) {
  const lost = book.report.filter((entry) => ["refused", "expired"].includes(entry.state));
  const collectors = Object.keys(book.account).flatMap((name) => {
    const place = placeOf(book, name, now);
    if (!place) return [];
    const [spent, reserved, most] = [spentIn(book, place), reservedIn(book, place, dayOf(now)), mostOf(book, name, limits)];
    const left = most > spent + reserved ? most - spent - reserved : 0n;
    const tasks = Object.entries(book.task).filter(([id]) => book.taken[id]?.place === place);
    const told = tasks.length ? nameOf(tasks[tasks.length - 1][1]) : `forgotten (${name.slice(0, 8)})`;
    return [{ collector: told, until: endOf(place), spent: number(spent), reserved: number(reserved), most: number(most), left: number(left) }];
  });
  const [all, given] = [placesOf(book, limits, now), givenOf(book)];
  return {
    lost: { reports: lost.length, epsilon: number(lost.reduce((sum, entry) => sum + BigInt(entry.cost), 0n)) },
    places: { given, left: Math.max(0, all - given), next: nextPlace(book, now) },
    collectors,
    spent: number(book.spend.reduce((sum, { amount }) => sum + BigInt(amount), 0n)),
  };
}

/** @param {bigint | string} amount */
const number = (amount) => Number(amountText(BigInt(amount)));
