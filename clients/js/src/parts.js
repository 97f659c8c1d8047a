/**
 * Parts of a task document: each is what it must be, or a `FormatError` says so.
 *
 * @module
 */

import { dayNumber } from "./days.js";
import { isNumber, isWhole, lengthOf } from "./designs.js";
import { FormatError, show } from "./errors.js";
import { textFault } from "./printing.js";

export const BUDGET_MAX = 1000;
const LEAST = 1e-12;

/** @param {number} x @returns {string} a number in at most 12 digits */
export function general(x) {
  const [digits, power] = x.toExponential(11).split("e");
  if (x && (Number(power) < -4 || Number(power) > 11)) {
    return `${Number(digits)}e${power[0]}${power.slice(1).padStart(2, "0")}`;
  }
  return String(Number(x.toPrecision(12)));
}

/** @param {any} given @param {string} where @returns {number} */
export function amountIn(given, where) {
  const fits = isNumber(given) && given >= LEAST && given <= BUDGET_MAX;
  need(fits, where, `a number from ${general(LEAST)} to ${BUDGET_MAX}`, given);
  return given;
}

/** @param {any} given @param {string} where @param {number} least @param {number} most @returns {number} */
export function wholeIn(given, where, least, most) {
  need(isWhole(given, least, most), where, `a whole number from ${least} to ${most}`, given);
  return given;
}

/** @param {any} given @param {string} where @param {number} most @param {boolean} [prose] as a question is @returns {string} */
export function textIn(given, where, most, prose = false) {
  const told = `a text that people can see, of at most ${most} characters`;
  need(typeof given === "string" && given.length <= 2 * most && lengthOf(given) <= most, where, told, given);
  const wrong = textFault(given, prose);
  if (wrong) throw new FormatError(`${where} of a task must be ${told}: ${wrong}.`);
  return given;
}

/** @param {any} given @param {string} where @param {number} least @param {number} most @returns {any[]} */
export function listIn(given, where, least, most) {
  const fits = Array.isArray(given) && given.length >= least && given.length <= most;
  need(fits, where, least < most ? `a list of ${least} to ${most} entries` : `a list of ${most} entries`, given);
  return given;
}

/** @param {unknown} given @param {string} where @returns {number} */
export function dayIn(given, where) {
  const found = dayNumber(given);
  need(found !== null, where, "a day such as 2026-11-16", given);
  return Number(found);
}

/** @param {boolean} ok @param {string} where @param {string} need @param {unknown} got */
export function need(ok, where, need, got) {
  if (!ok) throw new FormatError(`${where} of a task must be ${need}, got ${show(got)}.`);
}
