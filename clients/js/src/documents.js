/** Documents from outside: what they may be made of, looked at before any number in them is believed. */
import { FormatError, show } from "./errors.js";

const DEPTH_MAX = 12;
const NODES_MAX = (1 << 19) + (1 << 12);
const TEXT_MAX = 1 << 16;
const TEXTS_MAX = 1 << 24;

/** Whether it is a mapping of names to values. @param {any} part */
export const isMapping = (part) => Object.prototype.toString.call(part) === "[object Object]";

/**
 * A copy that nobody else holds of what is made of a bounded number of plain parts: mappings, lists, texts, finite numbers,
 * true, false, null. `FormatError` for anything else. Texts can be stored as UTF-8.
 * @param {unknown} document
 * @param {string} [what]
 * @returns {Record<string, any>}
 */
export function readDocument(document, what = "the design") {
  let nodes = 1;
  let texts = 0;
  /** @param {string} told @param {unknown} [part] */
  const refuse = (told, part) => {
    throw new FormatError(`${what} ${told}${part === undefined ? "" : `: ${show(part, 60)}`}.`);
  };
  /** @param {string} text */
  const count = (text) => {
    const length = text.length > 2 * TEXT_MAX ? Infinity : lengthOf(text);
    if (length > TEXT_MAX) refuse(`has a text of more than ${TEXT_MAX} characters`);
    if (/\p{Surrogate}/u.test(text)) refuse("has a text that cannot be stored as UTF-8", text);
    if ((texts += length) > TEXTS_MAX) refuse(`has more than ${TEXTS_MAX} characters`);
  };
  /** @param {any} part @param {number} depth @returns {any} */
  const copy = (part, depth) => {
    if (typeof part === "string") count(part);
    else if (Array.isArray(part) || isMapping(part)) {
      if (depth > DEPTH_MAX) refuse(`is nested more than ${DEPTH_MAX} deep`);
      const names = Array.isArray(part) ? [] : Object.keys(part);
      nodes += Array.isArray(part) ? part.length : names.length;
      if (nodes > NODES_MAX) refuse(`has more than ${NODES_MAX} parts`);
      if (Array.isArray(part)) return Array.from(part, (each) => copy(each, depth + 1));
      const made = Object.create(null);
      for (const name of names) {
        count(name);
        made[name] = copy(part[name], depth + 1);
      }
      return made;
    } else if (part !== null && typeof part !== "boolean" && !isNumber(part)) {
      refuse("has a part that is no finite number, text, list or mapping", part ?? "undefined");
    }
    return part;
  };
  if (!isMapping(document)) refuse("must be a mapping of names to values", document ?? "nothing");
  return copy(document, 1);
}

/** Characters of a text: code points, not UTF-16 units. @param {string} text */
const lengthOf = (text) => text.length - (text.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0);

/** Whether it is a finite number. @param {unknown} part */
export const isNumber = (part) => Number.isFinite(part);

/**
 * Whether it is a whole number, written as a number, from `least` to `most`.
 * @param {any} part @param {number | bigint} least @param {number | bigint} most
 */
export const isWhole = (part, least, most) => Number.isInteger(part) && least <= part && part <= most;

/**
 * A whole number from 0 on that is written as text, in the one way there is: decimal digits, no leading zero.
 * @param {unknown} part @param {string} where
 */
export function readWhole(part, where) {
  if (typeof part === "string" && /^(0|[1-9][0-9]{0,39})$/.test(part)) return BigInt(part);
  throw new FormatError(`${where} needs whole numbers, written as text in at most 40 digits, got ${show(part, 60)}.`);
}

/**
 * A mapping that has all of the needed names, and no others than these and the optional ones.
 * @param {any} document
 * @param {string} where
 * @param {string[]} needed
 * @param {string[]} [optional]
 * @returns {Record<string, any>}
 */
export function fieldsOf(document, where, needed, optional = []) {
  if (!isMapping(document)) throw new FormatError(`${where} must be a mapping of names to values, got ${show(document, 60)}.`);
  const wrong = needed.filter((name) => !Object.hasOwn(document, name)).map((name) => `${name} is missing`);
  for (const name of Object.keys(document)) {
    if (!needed.includes(name) && !optional.includes(name)) wrong.push(`${show(name, 60)} is unknown`);
  }
  if (wrong.length) {
    const also = optional.length ? `, perhaps ${optional.join(", ")}` : "";
    throw new FormatError(`${where} has the fields ${needed.join(", ") || "none"}${also}; ${wrong.join(", ")}.`);
  }
  return document;
}
