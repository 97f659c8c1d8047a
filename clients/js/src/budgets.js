/**
 * What was spent, and what may still be: exact sums of decimal numbers.
 *
 * @module
 */

import { require, show } from "./errors.js";
import { BudgetError, LedgerError } from "./ledger_errors.js";
import { amountOf, amountText } from "./amounts.js";

/** @typedef {{subject: bigint, lifetime: bigint}} Limits the most for one subject and in all, whatever a server says */
/** @typedef {import("./ledger.js").Book} Book */

/** @param {number} subject @param {number} lifetime @returns {Limits} */
export function limitsOf(subject, lifetime) {
  for (const [name, given] of Object.entries({ subject, lifetime })) {
    require(Number.isFinite(given) && given >= 0 && given <= 1000, name, given, "a number from 0 to 1000");
  }
  return { subject: amountOf(subject), lifetime: amountOf(lifetime) };
}

/**
 * Write down what one report of a task costs; `BudgetError` if that is more than there is left.
 *
 * @param {Book} book
 * @param {import("./task.js").Task} task
 * @param {string} subject
 * @param {Limits} limits
 * @param {string} day
 */
export function spend(book, task, subject, limits, day) {
  const cost = amountOf(task.epsilon);
  const most = mostOf(book, subject, limits);
  const budget = /** @param {"task" | "subject" | "lifetime"} name */ (name) => amountOf(task.budget[name]);
  /** @type {[string, bigint, bigint][]} */
  const sums = [
    ["this task", spent(book, (each) => each.task === task.id), budget("task")],
    [`the subject ${show(task.subject)}`, spent(book, (each) => each.subject === subject), least(most.subject, budget("subject"))],
    ["everything together", spent(book, () => true), least(most.lifetime, budget("lifetime"))],
  ];
  for (const [what, before, limit] of sums) {
    if (before + cost <= limit) continue;
    throw new BudgetError(
      `this answer costs epsilon ${amountText(cost)}, and of the ${amountText(limit)} for ${what} ` +
        `${amountText(before)} is spent already; nothing was spent or sent.`,
      "What was spent does not come back; this device stays silent here.",
    );
  }
  book.spend.push({ task: task.id, subject, amount: String(cost), day });
}

/**
 * The most for a subject and in all: the device's own limits, and what tasks promised that were answered before.
 *
 * @param {Book} book
 * @param {string} subject
 * @param {Limits} limits
 * @returns {Limits}
 */
export function mostOf(book, subject, limits) {
  const promises = Object.values(book.promise);
  const ofSubject = promises.filter((each) => each.subject === subject).map((each) => amount(each.most_subject));
  return {
    subject: least(limits.subject, ...ofSubject),
    lifetime: least(limits.lifetime, ...promises.map((each) => amount(each.most_lifetime))),
  };
}

/** @param {Book} book @param {(each: {task: string, subject: string}) => boolean} which @returns {bigint} */
export const spent = (book, which) =>
  book.spend.filter(which).reduce((sum, each) => sum + amount(each.amount), 0n);

/** @param {bigint[]} amounts */
const least = (...amounts) => amounts.reduce((a, b) => (b < a ? b : a));

/** @param {unknown} text @returns {bigint} */
function amount(text) {
  if (typeof text === "string" && /^[0-9]+$/.test(text)) return BigInt(text);
  throw new LedgerError("the ledger is damaged: an amount in it is not a number; nothing was spent or sent.");
}
