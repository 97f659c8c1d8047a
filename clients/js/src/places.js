/**
 * Accounts: what each collector may still ask, in exact sums of decimal numbers. No collector's changes another's.
 *
 * @module
 */

import { amountOf, amountText } from "./amounts.js";
import { oldAccount } from "./book.js";
import { digest } from "./canonical.js";
import { dayNumber, dayOf, dayText } from "./days.js";
import { require } from "./errors.js";
import { BudgetError } from "./ledger_errors.js";

/** @typedef {import("./book.js").Book} Book */
/** @typedef {import("./book.js").Taken} Taken */
/** @typedef {import("./task.js").Task} Task */
/** @typedef {{collector: bigint, places: number}} Limits of one place, and how many a new ledger has to give */

/** Milliseconds of a quarter of a year of 365.25 days. */
const QUARTER = 7_889_400_000;
const YEAR = 4 * QUARTER;

/** @param {number} collector @param {number} places @returns {Limits} */
export function limitsOf(collector, places) {
  const fits = Number.isFinite(collector) && collector >= 0 && collector <= 1000;
  require(fits, "collector", collector, "a number from 0 to 1000, the most for one collector in a year");
  require(Number.isInteger(places) && places >= 0 && places <= 1000, "places", places, "a whole number from 0 to 1000");
  return { collector: amountOf(collector), places };
}

/**
 * Whose account a task has: its collector's key and address; a task of version 1 has one of its own.
 *
 * @param {Task} task
 * @param {string | null} url
 */
export const accountOf = (task, url) =>
  task.version === 1 ? oldAccount(task.id) : digest({ collector: task.key, url: task.url ?? url });

/** @param {Book} book @param {string} name @param {number} now @returns {string | null} the place of an account that lasts now */
export function placeOf(book, name, now) {
  const began = book.account[name]?.began.find((moment) => now < moment + YEAR);
  return began === undefined ? null : `${name}/${began}`;
}

/** @param {number} began @returns {number} when a place ends */
export const endOf = (began) => began + YEAR;

/** @param {Book} book @param {string} place @returns {bigint} */
export const spentIn = (book, place) =>
  book.spend.filter((each) => each.place === place).reduce((sum, { amount }) => sum + BigInt(amount), 0n);

/** @param {Book} book @param {string} place @param {number} today @returns {bigint} what tasks will still open in a place */
export const reservedIn = (book, place, today) =>
  Object.values(book.taken)
    .filter((taken) => taken.place === place)
    .reduce((sum, taken) => sum + BigInt(taken.epsilon) * BigInt(leftOf(taken, today)), 0n);

/** @param {Taken} taken @param {number} today @returns {number} windows that may still be opened; what is over does not come back */
export function leftOf({ opens, days, count, windows, opened, withdrawn }, today) {
  if (withdrawn) return 0;
  const current = Math.max(0, Math.floor((today - Number(dayNumber(opens))) / days));
  const ahead = Math.max(0, count - current) - opened.filter((window) => window >= current).length;
  return Math.max(0, Math.min(ahead, windows - opened.length));
}

/** @param {Book} book @param {string} name @param {Limits} limits @returns {bigint} the most in one place of an account */
export function mostOf(book, name, { collector }) {
  const { least = null, more = "0" } = book.account[name] ?? {};
  const own = collector + BigInt(more);
  return least !== null && BigInt(least) < own ? BigInt(least) : own;
}

/** @param {Book} book @param {Limits} limits @param {number} now how many places there are in all, given ones too */
export const placesOf = (book, { places }, now) =>
  places + book.allowed + Math.max(0, Math.floor((now - book.made) / QUARTER));

/** @param {Book} book */
export const givenOf = (book) => Object.values(book.account).reduce((sum, { began }) => sum + began.length, 0);

/** @param {Book} book @param {number} now @returns {string} the day on which there is one place more */
export const nextPlace = ({ made }, now) => dayText(dayOf(made + QUARTER * (Math.floor(Math.max(0, now - made) / QUARTER) + 1)));

/**
 * A place with room for all windows that are left of a task; `BudgetError` if there is none. Nothing is written but a new
 * place, and what the collector promises.
 *
 * @param {Book} book
 * @param {Task} task
 * @param {{url: string | null, windows: number, limits: Limits, now: number}} how
 * @returns {string}
 */
export function placeFor(book, task, { url, windows, limits, now }) {
  const name = accountOf(task, url);
  const found = placeOf(book, name, now);
  const all = placesOf(book, limits, now);
  if (!found && givenOf(book) >= all) {
    const next = nextPlace(book, now);
    const told = `all ${all} places that this device has for collectors are given; nothing was spent or sent.`;
    const hint = `There is one more on ${next}; the person can allow more: ledger.allow({places: 1}).`;
    throw Object.assign(new BudgetError(told, hint), { next });
  }
  const place = found ?? `${name}/${now}`;
  const [need, told] = [amountOf(task.epsilon) * BigInt(windows), amountOf(task.most)];
  const before = book.account[name]?.least ?? null;
  const least = before !== null && BigInt(before) < told ? before : String(told);
  const own = mostOf(book, name, limits);
  const most = BigInt(least) < own ? BigInt(least) : own;
  const used = spentIn(book, place) + reservedIn(book, place, dayOf(now));
  if (used + need > most) {
    const whose = task.version === 1 ? "this task" : "this collector";
    const told =
      `this task costs epsilon ${amountText(need)}, and of the ${amountText(most)} for ${whose} in a year ` +
      `${amountText(used)} is spent or reserved; nothing was spent or sent.`;
    const hint = "What was spent does not come back before the year is over; the person can allow more: ledger.allow({task, epsilon}).";
    const until = found && dayText(dayOf(endOf(Number(found.split("/")[1]))));
    throw Object.assign(new BudgetError(told, hint), { most: amountText(most), used: amountText(used), until });
  }
  const account = (book.account[name] ??= { began: [], least, more: "0" });
  account.least = least;
  if (!found) account.began.push(now);
  return place;
}
