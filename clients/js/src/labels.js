/** Domains whose answers have labels. */
import { CHOICES, DOMAINS, fieldsOf, must } from "./designs.js";
import { ParameterError, show } from "./errors.js";
import { needLabels } from "./texts.js";

/** @import { Domain } from "./types.js" */

/** @param {any} document */
DOMAINS.labels = function listed(document) {
  return labelled(fieldsOf(document, "the domain", ["labels"], CHOICES));
};

/** @param {Record<string, any>} given @returns {Domain} */
export function labelled(given) {
  const { labels, missing, other } = given;
  const texts = Array.isArray(labels) && labels.length >= 2 && labels.every((label) => typeof label === "string");
  must(texts, "labels", labels, "at least two texts");
  needLabels(labels, "labels of the design's domain");
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

/** Whether no value was given. @param {unknown} value */
const isNothing = (value) => value === undefined || value === null || value === "" || Number.isNaN(value);
