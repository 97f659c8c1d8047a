// Texts of the catalogue on a page: parts filled in, numbers, days, lists and plurals as the page's language has them.

/** @typedef {string | Record<string, string>} Text */
/** @typedef {Record<string, any>} Values */

/**
 * What says texts in one language.
 *
 * @param {string} tag of the language
 * @param {Record<string, Text>} found the texts that the page was given, by their ids
 */
export function speaker(tag, found) {
  const plural = new Intl.PluralRules(tag);
  const number = (/** @type {number} */ value, digits = 3) => new Intl.NumberFormat(tag, { maximumFractionDigits: digits }).format(value);
  const percent = (/** @type {number} */ value, digits = 0) =>
    new Intl.NumberFormat(tag, { style: "percent", maximumFractionDigits: digits }).format(value / 100);
  const date = (/** @type {string | Date} */ day) =>
    new Intl.DateTimeFormat(tag, { dateStyle: "long", timeZone: "UTC" }).format(new Date(day));
  const list = (/** @type {string[]} */ parts) => new Intl.ListFormat(tag).format(parts);

  /** @param {string} id @param {Values} values */
  function template(id, values) {
    const text = found[id];
    if (text === undefined) throw new Error(`the page has no text ${id}`);
    return typeof text === "string" ? text : (text[plural.select(values.count)] ?? text.other);
  }

  /** @param {any} value */
  const written = (value) => (typeof value === "number" ? number(value) : value instanceof Date ? date(value) : value);

  /** The parts of a text in turn; what is a node stays one. @param {string} id @param {Values} [values] @returns {any[]} */
  function parts(id, values = {}) {
    const names = template(id, values).split(/\{(\w+)\}/);
    return names.map((part, i) => (i % 2 ? written(values[part]) : part)).filter((part) => part !== "");
  }

  /** A text with its parts filled in. @param {string} id @param {Values} [values] */
  const say = (id, values) => parts(id, values).join("");

  return { say, parts, number, percent, date, list };
}
