/**
 * Accounts: what each collector may still ask, in exact sums of decimal numbers. No collector's changes another's.
 *
 * @module
 */

import { amountOf, amountText } from "./amounts.js";
import { accountName } from "./book.js";
import { dayNumber, dayOf, dayText } from "./days.js";
import { require } from "./errors.js";
import { BudgetError } from "./ledger_errors.js";

/** @typedef {import("./book.js").Book} Book */
/** @typedef {import("./book.js").Taken} Taken */
/** @typedef {import("./memory.js").Source} Source */
/** @typedef {import("./task.js").Task} Task */
/** @typedef {{collector: bigint, places: number}} Limits of one place, and how many a new ledger has to give */

const YEAR = 365;
const DAY = 86_400_000;
const QUARTER = (YEAR * DAY) / 4;

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
 * @param {Source} source
 * @param {Task} task
 * @param {string | null} url
 */
export const accountOf = (source, task, url) =>
  accountName(source, task.version === 1 ? { task: task.id } : { collector: task.key, url: task.url ?? url });

/** @param {Book} book @param {string} name @param {string} today @returns {string | null} the place of an account that lasts today */
export function placeOf(book, name, today) {
  const since = book.account[name]?.days.find((day) => dayNumber(today) < Number(dayNumber(day)) + YEAR);
  return since === undefined ? null : `${name}/${since}`;
}

/** @param {string} place @returns {string} the first day after it */
export const endOf = (place) => dayText(Number(dayNumber(place.slice(place.indexOf("/") + 1))) + YEAR);

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
export const givenOf = (book) => Object.values(book.account).reduce((sum, { days }) => sum + days.length, 0);

/** @param {Book} book @param {Limits} limits @param {number} now @returns {string} the day on which there is one place more */
export const nextPlace = (book, { places }, now) =>
  dayText(dayOf(book.made + QUARTER * (Math.floor((now - book.made) / QUARTER) + 1) + DAY - 1));

/**
 * A place with room for all windows that are left of a task; `BudgetError` if there is none. Nothing is written but a new
 * place, and what the collector promises.
 *
 * @param {Book} book
 * @param {Source} source
 * @param {Task} task
 * @param {{url: string | null, windows: number, limits: Limits, now: number}} how
 * @returns {string}
 */
export function placeFor(book, source, task, { url, windows, limits, now }) {
  const today = dayText(dayOf(now));
  const name = accountOf(source, task, url);
  const found = placeOf(book, name, today);
  const all = placesOf(book, limits, now);
  if (!found && givenOf(book) >= all) {
    throw new BudgetError(
      `all ${all} places that this device has for collectors are given; nothing was spent or sent.`,
      `The next one is there on ${nextPlace(book, limits, now)}; ledger.allow({places: 1}) gives one more.`,
    );
  }
  const place = found ?? `${name}/${today}`;
  const promised = amountOf(task.most);
  const before = book.account[name]?.least ?? null;
  const least = before !== null && BigInt(before) < promised ? before : String(promised);
  const own = mostOf(book, name, limits);
  const most = BigInt(least) < own ? BigInt(least) : own;
  const cost = amountOf(task.epsilon) * BigInt(windows);
  const used = spentIn(book, place) + reservedIn(book, place, dayOf(now));
  if (used + cost > most) {
    throw new BudgetError(
      `this task costs epsilon ${amountText(cost)}, and of the ${amountText(most)} for its collector in a year ` +
        `${amountText(used)} is spent or reserved already; nothing was spent or sent.`,
      "This device does not take part; its person may allow the collector more: ledger.allow({task, epsilon}).",
    );
  }
  const account = (book.account[name] ??= { days: [], least, more: "0" });
  account.least = least;
  if (!found) account.days.push(today);
  return place;
}
