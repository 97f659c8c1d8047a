/** Texts of strangers: what they may contain, and which labels people can tell apart; `unicode_texts.js` knows what is not ASCII. */
import { FormatError, show } from "./errors.js";

/** @import { Alphabet } from "./types.js" */

export const LABEL_MAX = 1000;
/** What looks alike in ASCII; `confusables.js` has the same and the others. @type {Record<string, string>} */
export const ALIKE = { 0: "O", 1: "l", I: "l", W: "VV", m: "rn", w: "vv", "|": "l", '"': "''", "`": "'" };

/** @type {Alphabet} */
const ASCII = {
  fault: (text) => (/^ *$|[\0-\x1f\x7f]/.test(text) ? "is blank or has a control sign" : ""),
  skeleton: (text) => text.trim().replace(/ +|./g, (sign) => ALIKE[sign] ?? sign[0]),
  shown: show,
};

/** What `unicode_texts.js` adds once it is loaded. @type {{of?: (texts: readonly string[]) => Alphabet}} */
export const ALPHABETS = {};

/** @param {string} text */
export const isPlain = (text) => !/[^\0-\x7f]/.test(text);

/** What is known of the characters of texts. @param {readonly string[]} texts */
export function alphabetOf(texts) {
  const found = texts.every(isPlain) ? ASCII : ALPHABETS.of?.(texts);
  if (found) return found;
  throw new FormatError("the module of texts beyond ASCII is not loaded.", "Use prepare of load.js.");
}

/** Characters of a text: code points, not UTF-16 units. @param {string} text */
export const lengthOf = (text) => text.length - (text.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0);

/** What is wrong with the labels of one question, in words; nothing if people can tell them apart. @param {readonly string[]} labels */
export function labelsFault(labels) {
  const { fault, skeleton, shown } = alphabetOf(labels);
  const long = labels.find((label) => lengthOf(label) > LABEL_MAX);
  if (long) return `${shown(long)} has more than ${LABEL_MAX} characters`;
  for (const label of labels) if (fault(label)) return `${shown(label)} ${fault(label)}`;
  for (const lower of [false, true]) {
    const first = new Map();
    for (const label of labels) {
      const key = skeleton(lower ? label.toLowerCase() : label);
      if (first.has(key)) return `${shown(first.get(key))} and ${shown(label)} ${lower ? "differ in capitals only" : "look alike"}`;
      first.set(key, label);
    }
  }
  return "";
}

/** Who consents must be able to tell two labels apart. @param {readonly string[]} labels @param {string} where */
export function needLabels(labels, where) {
  const wrong = labelsFault(labels);
  if (wrong) throw new FormatError(`${where} must be texts that people can see and tell apart: ${wrong}.`);
}
