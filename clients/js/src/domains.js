/** From a person's value to the number of an answer, as the domain of a design says. */
import { fieldsOf, isMapping, isNumber, isWhole } from "./documents.js";
import { FormatError, ParameterError, show } from "./errors.js";

const ANSWERS_MAX = 2 ** 32;
const POINTS_MAX = 2 ** 30;
const CHOICES = ["missing", "other"];
const SPACES = ["places", "euclidean", "manhattan", "chebyshev", "sets", "integers", "losses"];

/**
 * How values are read. `index` gives the number of the answer that a value is, or throws a `ParameterError`; `border`,
 * in an interval, where the numbers of an answer begin; for one answer more than there are, where the last end.
 * @typedef {{
 *   answers: number, index: (value: unknown) => number, labels?: string[], missing?: string, other?: string,
 *   border?: (i: number) => number,
 * }} Domain
 */

/** @param {boolean} ok @param {string} name @param {unknown} got @param {string} need */
function must(ok, name, got, need) {
  if (!ok) throw new FormatError(`${name} of the design's domain must be ${need}, got ${show(got)}.`);
}

/** @type {Record<string, (document: any) => Domain>} domains by the field that tells them */
const FORMS = { space, codes, interval: grid, labels: listed, k: count };

/**
 * The domain of a design whose kernel has so many answers; `FormatError` where it is another, or none at all.
 * @param {any} document @param {bigint} answers
 */
export function readDomain(document, answers) {
  const form = Object.keys(FORMS).find((each) => isMapping(document) && Object.hasOwn(document, each)) ?? "k";
  const made = FORMS[form](document);
  if (BigInt(made.answers) !== answers) {
    throw new FormatError(`the kernel is for ${answers} values, the domain has another number of them.`);
  }
  return made;
}

/** @param {number} answers @returns {Domain} */
const numbered = (answers) => ({
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
function labelled(given) {
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

/** @param {any} document */
function space(document) {
  const given = fieldsOf(document, "the domain", ["space", "points"], ["labels", ...CHOICES]);
  const { points, space: kind } = given;
  must(SPACES.includes(kind), "space", kind, `one of ${SPACES.join(", ")}`);
  const good = kind === "sets" ? (/** @type {any} */ cell) => typeof cell === "string" : isNumber;
  const rows = Array.isArray(points) && points.every((row) => Array.isArray(row) && row.every(good));
  must(rows && points.length >= 2, "points", points, "at least two lists");
  if (!("labels" in given)) {
    fieldsOf(document, "a space without labels", ["space", "points"]);
    return numbered(points.length);
  }
  const made = labelled(given);
  must(made.answers === points.length, "labels", made.answers, `one for each of ${points.length} points`);
  return made;
}

/**
 * The ends of the interval, and how its numbers are read: others are refused, or moved to its nearer end.
 * @param {Record<string, any>} given
 */
function inside({ interval: ends, clip }) {
  const two = Array.isArray(ends) && ends.length === 2 && ends.every(isNumber);
  const [low, high] = two ? ends.map((/** @type {number} */ end) => end + 0) : [0, 0];
  const need = "two numbers, the lower one first and not too far from each other";
  must(low < high && isNumber(high - low), "interval", ends, need);
  must(typeof clip === "boolean", "clip", clip, "true or false");
  /** @param {any} value */
  const read = (value) => {
    if (typeof value === "number" && (clip ? !Number.isNaN(value) : low <= value && value <= high)) {
      return Math.min(Math.max(value, low), high);
    }
    const told = `value must be a number${clip ? "" : ` from ${low} to ${high}`}, got ${show(value)}.`;
    throw new ParameterError(told, clip ? "" : "Nothing is clipped.");
  };
  return { low, high, read };
}

/** @param {any} document @returns {Domain} */
function grid(document) {
  const given = fieldsOf(document, "the domain", ["interval", "points", "layout", "clip"]);
  const { low, high, read } = inside(given);
  const { points, layout } = given;
  must(isWhole(points, 2, POINTS_MAX), "points", points, `a whole number from 2 to ${POINTS_MAX}`);
  must(["midpoints", "endpoints"].includes(layout), "layout", layout, "midpoints or endpoints");
  const step = (high - low) / points;
  must(low < low + step && high - step < high, "points", points, "so few that floats tell neighbours apart");
  const middle = layout === "midpoints";
  return {
    answers: points,
    index(value) {
      const share = (read(value) - low) / (high - low);
      const place = middle ? Math.ceil(share * points) - 1 : Math.ceil(share * (points - 1) - 0.5);
      return Math.min(Math.max(place, 0), points - 1);
    },
    border(i) {
      const share = middle ? i / points : (i - 0.5) / (points - 1);
      return i < points ? low + (high - low) * Math.min(Math.max(share, 0), 1) : high;
    },
  };
}

/** @param {any} document @returns {Domain} */
function codes(document) {
  const given = fieldsOf(document, "the domain", ["interval", "codes", "clip"]);
  const { low, high, read } = inside(given);
  /** @type {number[]} */
  const all = given.codes;
  const fits = (/** @type {number} */ code, /** @type {number} */ i) => isNumber(code) && low <= code && code <= high && !(code <= all[i - 1]);
  must(Array.isArray(all) && all.length >= 2 && all.every(fits), "codes", all, "at least two rising numbers inside");
  const ends = all.map((code, i) => (i ? all[i - 1] / 2 + code / 2 : low));
  return {
    answers: all.length,
    index(value) {
      const number = read(value);
      let i = all.length - 1;
      while (i && ends[i] >= number) i--;
      return i;
    },
    border: (i) => ends[i] ?? high,
  };
}
