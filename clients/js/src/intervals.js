/** Domains of numbers: an interval with a grid of points. */
import { DOMAINS, fieldsOf, isNumber, isWhole, must } from "./designs.js";
import { ParameterError, show } from "./errors.js";

/** @import { Domain } from "./types.js" */

const POINTS_MAX = 2 ** 30;

/**
 * The ends of the interval, and how its numbers are read: others are refused, or moved to its nearer end.
 * @param {Record<string, any>} given
 */
export function inside({ interval: ends, clip }) {
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

/**
 * A domain of numbers, whose answers are read, and found by their borders.
 * @param {number} answers @param {(value: unknown) => number} index @param {(i: number) => number} border @returns {Domain}
 */
export const cells = (answers, index, border) => ({
  answers,
  index,
  border,
  span(/** @type {any} */ pair) {
    const near = Array.isArray(pair) && pair.length === 2 ? pair.map((end) => [end, index(end)]) : [];
    const found = near.flatMap(([end, at]) => [at, at + 1].filter((i) => border(i) === end));
    if (found.length === 2) return [found[0], found[1]];
    const hint = "Use those that explain(design).harmless has.";
    throw new ParameterError(`harmless must be a list of pairs [low, high] of numbers, got ${show(pair)} in it.`, hint);
  },
});

/** @param {any} document */
DOMAINS.interval = function grid(document) {
  const given = fieldsOf(document, "the domain", ["interval", "points", "layout", "clip"]);
  const { low, high, read } = inside(given);
  const { points, layout } = given;
  must(isWhole(points, 2, POINTS_MAX), "points", points, `a whole number from 2 to ${POINTS_MAX}`);
  must(["midpoints", "endpoints"].includes(layout), "layout", layout, "midpoints or endpoints");
  const step = (high - low) / points;
  must(low < low + step && high - step < high, "points", points, "so few that floats tell neighbours apart");
  const middle = layout === "midpoints";
  const place = (/** @type {unknown} */ value) => {
    const share = (read(value) - low) / (high - low);
    const found = middle ? Math.ceil(share * points) - 1 : Math.ceil(share * (points - 1) - 0.5);
    return Math.min(Math.max(found, 0), points - 1);
  };
  const border = (/** @type {number} */ i) => {
    const share = middle ? i / points : (i - 0.5) / (points - 1);
    return i < points ? low + (high - low) * Math.min(Math.max(share, 0), 1) : high;
  };
  return cells(points, place, border);
};
