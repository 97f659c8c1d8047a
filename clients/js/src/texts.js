/** Texts of strangers: what they may contain, and which labels people can tell apart; `unicode_texts.js` knows what is not ASCII. */
import { lengthOf } from "./designs.js";
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
  throw new FormatError("the module of texts that are not ASCII is not loaded.", "Use prepare of load.js.");
}

/** What is wrong with the labels of one question, in words; nothing if people can tell them apart. @param {readonly string[]} labels */
export function labelsFault(labels) {
  const { fault, skeleton, shown } = alphabetOf(labels);
  for (const label of labels) {
    const wrong = lengthOf(label) > LABEL_MAX ? `has more than ${LABEL_MAX} characters` : fault(label);
    if (wrong) return `${shown(label)} ${wrong}`;
  }
  for (const lower of [false, true]) {
    const first = new Map();
    for (const label of labels) {
      const key = skeleton(lower ? label.toLowerCase() : label);
      const wrong = lower ? "sound alike" : "look alike";
      if (first.has(key)) return `${shown(first.get(key))} and ${shown(label)} ${wrong}`;
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
