/** Texts of strangers: what they may contain, which labels people can tell apart, and how they are shown. */
import { FormatError } from "./errors.js";

/** @import { Alphabets } from "./types.js" */

export const LABEL_MAX = 1000;
/** Characters of all labels of a question, unless all are ASCII. */
export const LABELS_MAX = 1 << 20;
/** What looks alike in ASCII; `confusables.js` has the same and the others. @type {Record<string, string>} */
export const ALIKE = { 0: "O", 1: "l", I: "l", W: "VV", m: "rn", w: "vv", "|": "l", '"': "''", "`": "'" };
/** What `unicode_texts.js` adds once it is loaded, for all that is not ASCII. @type {Partial<Alphabets>} */
export const ALPHABETS = {};

const SPACES = /[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/g;

/** @param {string} text */
export const isPlain = (text) => !/[^\0-\x7f]/.test(text);

/** @returns {Alphabets} */
function alphabets() {
  if (ALPHABETS.fault) return /** @type {Alphabets} */ (ALPHABETS);
  throw new FormatError("the module of texts that are not ASCII is not loaded.", "Call prepare of load.js before, and wait for it.");
}

/** What is wrong with a text, in words; in `prose` there may be line breaks and words of several scripts. @param {string} text */
export const textFault = (text, prose = false) => fault([prose ? text.replace(/[\t\n\r]/g, " ") : text], prose);

/** What is wrong with the labels of one question, in words; nothing if people can tell them apart. @param {readonly string[]} labels */
export function labelsFault(labels) {
  const long = labels.find((label) => label.length > LABEL_MAX && [...label].length > LABEL_MAX);
  if (long !== undefined) return `${shown(long)} has more than ${LABEL_MAX} characters`;
  const joined = labels.join("\n");
  if (!isPlain(joined) && joined.length > LABELS_MAX && lengthOf(joined) > LABELS_MAX) return `they have more than ${LABELS_MAX} characters`;
  return fault(labels, false) || twins(labels, joined);
}

/** Characters of a text: code points, not UTF-16 units. @param {string} text */
export const lengthOf = (text) => text.length - (text.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0);

/** The same for labels that look alike. @param {string} label */
export const labelKey = (label) => keys(label)[0];

/** @param {readonly string[]} texts @param {boolean} prose */
function fault(texts, prose) {
  const joined = texts.join("\n");
  const broken = texts.find((text) => text.includes("\n"));
  if (broken !== undefined) return refused(broken, "\n");
  const at = (/** @type {number} */ place) => texts[joined.slice(0, place).split("\n").length - 1];
  const place = joined.search(/[\0-\x09\x0b-\x1f\x7f]/);
  if (place >= 0) return refused(at(place), joined[place]);
  const found = isPlain(joined) ? null : alphabets().fault(joined, prose);
  if (found) return found.told ? `${shown(at(found.place))} has ${found.told}` : refused(at(found.place), joined.slice(found.place));
  const blank = texts.find((text) => !text.replace(SPACES, ""));
  return blank === undefined ? "" : `${shown(blank)} is blank`;
}

/** @param {string} text @param {string} sign */
function refused(text, sign) {
  const code = Number(sign.codePointAt(0)).toString(16).toUpperCase().padStart(4, "0");
  return `${shown(text)} has U+${code}, which people cannot see or not every device knows`;
}

/** @param {readonly string[]} labels @param {string} joined */
function twins(labels, joined) {
  for (const [text, told] of [
    [joined, "look alike"],
    [joined.toLowerCase(), "differ in capitals only"],
  ]) {
    const first = new Map();
    for (const [i, key] of keys(text).entries()) {
      if (first.has(key)) return `${shown(labels[first.get(key)])} and ${shown(labels[i])} ${told}`;
      first.set(key, i);
    }
  }
  return "";
}

/** What labels look like; there is one on each line. @param {string} joined */
function keys(joined) {
  const alike = isPlain(joined) ? joined.replace(/[01IWmw|"`]/g, (sign) => ALIKE[sign]) : alphabets().skeleton(joined);
  return alike.split("\n").map((key) => key.replace(/ +/g, " ").replace(/^ | $/g, ""));
}

/** A text with codes for all that is not ASCII, cut where it is long. @param {string} text */
function shown(text) {
  const signs = [...text.slice(0, 100)];
  const cut = signs.length > 40 ? `${signs.slice(0, 37).join("")}...` : signs.join("");
  return `'${cut.replace(/[^ -~]/gu, coded)}'`;
}

/** @param {string} sign */
export function coded(sign) {
  const code = Number(sign.codePointAt(0));
  const [letter, digits] = code < 0x100 ? ["x", 2] : code < 0x10000 ? ["u", 4] : ["U", 8];
  return { "\n": "\\n", "\r": "\\r", "\t": "\\t" }[sign] ?? `\\${letter}${code.toString(16).padStart(Number(digits), "0")}`;
}

/** A stranger's text as one line that hides nothing: what it may not contain shows its code. @param {string} text */
export function printable(text) {
  const line = text.replace(SPACES, " ").trim();
  if (!/[^ -~]/.test(line)) return line;
  if (isPlain(line) || !ALPHABETS.strays) return line.replace(/[^ -~]/gu, coded);
  const strays = ALPHABETS.strays(line);
  return Array.from(line, (sign, i) => (strays[i] ? coded(sign) : sign)).join("");
}

/** A stranger's words in quotes, on one line; a quote in them does not end them. @param {string} text */
export const quoted = (text) => `"${printable(text.replace(/[\\"]/g, "\\$&"))}"`;
