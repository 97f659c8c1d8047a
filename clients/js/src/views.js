/**
 * What a person may see of a ledger.
 *
 * @module
 */

import { mostOf, spent } from "./budgets.js";
import { hex } from "./sha256.js";
import { amountText } from "./amounts.js";

/** @typedef {import("./ledger.js").Book} Book */
/** @typedef {import("./ledger.js").Entry} Entry */
/** @typedef {import("./budgets.js").Limits} Limits */
/** @typedef {import("./memory.js").Source} Source */

/** What can become of a report. */
const STATES = ["waiting", "sent", "refused", "expired"];

/**
 * What was asked, what became of the reports, what is left.
 *
 * @param {Book} book
 * @param {Source} source
 * @param {Limits} limits
 */
export function overview(book, source, limits) {
  const asked = Object.entries(book.task).map(([task, document]) => ({
    task,
    collector: document.collector ?? null,
    subject: document.subject,
    questions: document.questions.map((/** @type {any} */ question) => question.text),
    expires: document.expires,
  }));
  const lost = book.report.filter((entry) => ["refused", "expired"].includes(entry.state));
  const inState = (/** @type {string} */ state) => book.report.filter((entry) => entry.state === state).length;
  return {
    asked,
    sent: reports(book).map(({ body, url, ...told }) => told),
    counts: Object.fromEntries(STATES.map((state) => [state, inState(state)])),
    lost: { reports: lost.length, epsilon: number(lost.reduce((sum, entry) => sum + BigInt(entry.cost), 0n)) },
    left: left(book, source, limits),
  };
}

/**
 * Everything in the ledger but its key, and digests, which mean nothing without it.
 *
 * @param {Book} book
 * @param {Source} source
 * @param {Limits} limits
 */
export function exported(book, source, limits) {
  return {
    version: 1,
    left: left(book, source, limits),
    lost: overview(book, source, limits).lost,
    tasks: Object.values(book.task),
    reports: reports(book),
    remembered: book.memo.map(({ question, report }) => ({ question, report })),
    spent: book.spend.map(({ task, amount, day }) => ({ task, epsilon: number(BigInt(amount)), day })),
  };
}

/** @param {Book} book */
const reports = (book) =>
  book.report.map(({ answer, due, later, expires, ...told }) => ({ ...told, cost: number(BigInt(told.cost)) }));

/** @param {Book} book @param {Source} source @param {Limits} limits */
function left(book, source, limits) {
  const names = new Map(Object.values(book.task).map(({ subject }) => [hex(source.digest("subject", { subject })), subject]));
  const keys = [...new Set(Object.values(book.promise).map((promise) => promise.subject))];
  return {
    subjects: keys.map((key) => ({
      subject: names.get(key) ?? `forgotten (${key.slice(0, 8)})`,
      ...balance(spent(book, (each) => each.subject === key), mostOf(book, key, limits).subject),
    })),
    lifetime: balance(spent(book, () => true), mostOf(book, "", limits).lifetime),
  };
}

/** @param {bigint} amount */
const number = (amount) => Number(amountText(amount));

/** @param {bigint} spent @param {bigint} most */
const balance = (spent, most) => ({ spent: number(spent), most: number(most), left: number(most > spent ? most - spent : 0n) });
