/**
 * Days of the calendar in UTC, as numbers (days since 1970) and as people write them (2026-11-16).
 *
 * @module
 */

const DAY = 86_400_000;
const WRITTEN = /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/;

/** @param {number} number @returns {string} */
export const dayText = (number) => new Date(number * DAY).toISOString().slice(0, 10);

/** The last day that can be written. */
export const LAST_DAY = Date.UTC(9999, 11, 31) / DAY;

/**
 * @param {unknown} text
 * @returns {number | null} null if it is no day
 */
export function dayNumber(text) {
  if (typeof text !== "string" || !WRITTEN.test(text) || text.startsWith("0000")) return null;
  const number = Date.parse(`${text}T00:00:00Z`) / DAY;
  return !Number.isNaN(number) && dayText(number) === text ? number : null;
}

/** @param {number} moment milliseconds since 1970 @returns {number} the day that it is in */
export const dayOf = (moment) => Math.floor(moment / DAY);
