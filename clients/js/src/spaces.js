/** Domains whose answers are points of a space, with labels or without. */
import { CHOICES, DOMAINS, fieldsOf, isNumber, must, numbered } from "./designs.js";
import { labelled } from "./labels.js";

const SPACES = ["places", "euclidean", "manhattan", "chebyshev", "sets", "integers", "losses"];

/** @param {any} document */
DOMAINS.space = function space(document) {
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
};
