/**
 * What a person may see of a ledger. No report is shown before it is done: who could look at one and then withdraw it would
 * choose what is sent.
 *
 * @module
 */

import { amountText } from "./amounts.js";
import { dayOf, dayText } from "./days.js";
import { endOf, givenOf, mostOf, nextPlace, placesOf, reservedIn, spentIn } from "./places.js";

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
  }));
  const planned = Object.entries(book.course).filter(([id, { window }]) => window >= 0 && !book.taken[id].opened.includes(window));
  const inState = (/** @type {string} */ state) => book.report.filter((entry) => entry.state === state).length;
  return {
    asked,
    sent: reports(book).map(({ body, url, ...told }) => told),
    counts: { planned: planned.length, ...Object.fromEntries(STATES.map((state) => [state, inState(state)])) },
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
  book.report.map(({ due, later, ends, most, started, days, moved, void: end, body, ...told }) => ({
    ...told,
    cost: number(told.cost),
    body: told.state === "waiting" ? null : body,
  }));

/** What was lost, and what is left in the places and for new ones. @param {Book} book @param {Limits} limits @param {number} now */
function balances(book, limits, now) {
  const lost = book.report.filter((entry) => ["refused", "expired"].includes(entry.state));
  const all = Object.entries(book.account).flatMap(([name, { began }]) => began.map((moment) => ({ name, moment })));
  const places = all.sort((a, b) => a.moment - b.moment).map(({ name, moment }) => {
    const place = `${name}/${moment}`;
    const [most, spent, reserved] = [mostOf(book, name, limits), spentIn(book, place), reservedIn(book, place, dayOf(now))];
    const left = most > spent + reserved ? most - spent - reserved : 0n;
    const named = Object.entries(book.task).filter(([id]) => book.taken[id]?.place === place);
    const collector = named.length ? nameOf(named[named.length - 1][1]) : null;
    const ends = endOf(moment);
    const amounts = { most: number(most), spent: number(spent), reserved: number(reserved), left: number(left) };
    return { collector, ends: dayText(dayOf(ends)), over: now >= ends, ...amounts };
  });
  return {
    lost: { reports: lost.length, epsilon: number(lost.reduce((sum, entry) => sum + BigInt(entry.cost), 0n)) },
    places,
    left: {
      places: Math.max(0, placesOf(book, limits, now) - givenOf(book)),
      next: nextPlace(book, now),
      spent: number(book.spend.reduce((sum, { amount }) => sum + BigInt(amount), 0n)),
    },
  };
}

/** @param {bigint | string} amount */
const number = (amount) => Number(amountText(BigInt(amount)));
