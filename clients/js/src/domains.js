/** From a person's value to the number of an answer, as the domain of a design says. */
import { fieldsOf, isMapping, isWhole } from "./documents.js";
import { FormatError, ParameterError, show } from "./errors.js";

const ANSWERS_MAX = 2 ** 32;
export const CHOICES = ["missing", "other"];

/**
 * How values are read. `index` gives the number of the answer that a value is, or throws a `ParameterError`; `border`,
 * in an interval, where the numbers of an answer begin; for one answer more than there are, where the last end.
 * @typedef {{
 *   answers: number, index: (value: unknown) => number, labels?: string[], missing?: string, other?: string,
 *   border?: (i: number) => number,
 * }} Domain
 */

/** @param {boolean} ok @param {string} name @param {unknown} got @param {string} need */
export function must(ok, name, got, need) {
  if (!ok) throw new FormatError(`${name} of the design's domain must be ${need}, got ${show(got)}.`);
}

/**
 * Domains by the field that tells them, which is looked for in this order; `spaces.js` and `intervals.js` add their own.
 * @type {Record<string, ((document: any) => Domain) | null>}
 */
export const DOMAINS = { space: null, codes: null, interval: null, labels: listed, k: count };

/**
 * The domain of a design whose kernel has so many answers; `FormatError` where it is another, or none at all.
 * @param {any} document @param {bigint} answers
 */
export function readDomain(document, answers) {
  const form = Object.keys(DOMAINS).find((each) => isMapping(document) && Object.hasOwn(document, each)) ?? "k";
  const made = DOMAINS[form]?.(document);
  if (!made) throw new FormatError(`the module of domains with ${form} is not loaded.`, "Use deviceFor of load.js.");
  if (BigInt(made.answers) !== answers) {
    throw new FormatError(`the kernel is for ${answers} values, the domain has another number of them.`);
  }
  return made;
}

/** @param {number} answers @returns {Domain} */
export const numbered = (answers) => ({
  answers,
  index(value) {
    if (isWhole(value, 0, answers - 1)) return Number(value) + 0;
    throw new ParameterError(`value must be an integer from 0 to ${answers - 1}, got ${show(value)}.`);
  },
});

/** @param {any} document */
function count(document) {
  const { k } = fieldsOf(document, "the domain", ["k"]);
  must(isWhole(k, 2, ANSWERS_MAX), "k", k, `a whole number from 2 to ${ANSWERS_MAX}`);
  return numbered(k);
}

/** @param {any} document */
function listed(document) {
  return labelled(fieldsOf(document, "the domain", ["labels"], CHOICES));
}

/** @param {Record<string, any>} given @returns {Domain} */
export function labelled(given) {
  const { labels, missing, other } = given;
  const texts = Array.isArray(labels) && labels.length >= 2 && labels.every((label) => typeof label === "string");
  must(texts, "labels", labels, "at least two texts");
  const looks = new Set(labels.map(appearance));
  must(looks.size === labels.length && !looks.has(""), "labels", labels, "texts that people can see and tell apart");
  const places = new Map(labels.map((/** @type {string} */ label, /** @type {number} */ i) => [label, i]));
  for (const name of CHOICES) must(!(name in given) || places.has(given[name]), name, given[name], "one of the labels");
  return {
    answers: labels.length,
    labels,
    missing,
    other,
    index(value) {
      const found = places.get(value) ?? places.get(isNothing(value) ? missing : other);
      if (found !== undefined) return found;
      throw new ParameterError(`value ${show(value)} is not one of this question's ${labels.length} labels.`);
    },
  };
}

/** A label without what cannot be seen: who consents must be able to tell two of them apart. @param {string} label */
export function appearance(label) {
  if (/[^ -~]/.test(label)) {
    label = label.normalize("NFKC").replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u034f\u115f\u1160\u2800\u3164\uffa0\ufe00-\ufe0f]/gu, "");
  }
  return label.trim().replace(/\s+/g, " ");
}

/** Whether no value was given. @param {unknown} value */
const isNothing = (value) => value === undefined || value === null || value === "" || Number.isNaN(value);
