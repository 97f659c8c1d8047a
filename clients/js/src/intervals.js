/** Domains of numbers: an interval with a grid of points, or with codes. */
import { fieldsOf, isNumber, isWhole } from "./documents.js";
import { DOMAINS, must } from "./domains.js";
import { ParameterError, show } from "./errors.js";

/** @typedef {import("./domains.js").Domain} Domain */

const POINTS_MAX = 2 ** 30;

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
DOMAINS.interval = function grid(document) {
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
};

/** @param {any} document @returns {Domain} */
DOMAINS.codes = function codes(document) {
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
};
