/** Domains of directions: an interval whose ends are the same. */
import { DOMAINS, fieldsOf, isWhole, must } from "./designs.js";
import { cells, inside } from "./intervals.js";

const DIRECTIONS_MAX = 2 ** 20;

/** @param {any} document @param {string} name */
DOMAINS.circle = function circle(document, name) {
  must(name === "arc", "circle", name, "that of arc: its first direction lies at both ends, where consent cannot name it");
  const { circle: interval, points } = fieldsOf(document, "the domain", ["circle", "points"]);
  const { low, high, read } = inside({ interval, clip: false });
  must(isWhole(points, 3, DIRECTIONS_MAX), "points", points, `a whole number from 3 to ${DIRECTIONS_MAX}`);
  const step = (high - low) / points;
  must(low < low + step && high - step < high, "points", points, "so few that floats tell neighbours apart");
  const place = (/** @type {unknown} */ value) => Math.floor(((read(value) - low) / (high - low)) * points + 0.5) % points;
  const border = (/** @type {number} */ i) => (i < points ? low + (high - low) * (Math.max(i - 0.5, 0) / points) : high);
  return cells(points, place, border);
};
