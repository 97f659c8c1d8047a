/**
 * Questions that a part of a task asks together: one report is about the answers to all of them.
 *
 * @module
 */

import { digest } from "./canonical.js";
import { fieldsOf, isWhole } from "./designs.js";
import { PrivacyError, show } from "./errors.js";
import { listIn, need, textIn } from "./parts.js";
import { NAME, Question, TEXT_MAX, TOGETHER, checkLabels, provedIn, shownIn } from "./question.js";

/** @typedef {Record<string, any>} Mapping */

/** How a page asks them. */
const KINDS = ["one", "yes-no", "rating", "ordered"];
/** Answers to one of them. */
const ANSWERS_MAX = 4096;
/** Kernels that know how many answers each question has. */
const SIZED = ["box", "interaction"];

/**
 * One of them. `none` is the answer that no answer counts as, null if all answers are random ones then.
 * @typedef {{name: string, text: string, labels: readonly string[], none: string | null, kind: string | null,
 *   unit: null, ends: readonly string[] | null}} Single
 */

/** The number of an answer, by its label or by itself; -1 for what is not an answer. @param {Single} single @param {unknown} given */
function numberOf({ labels }, given) {
  if (typeof given === "string") return labels.indexOf(given);
  return isWhole(given, 0, labels.length - 1) ? Number(given) : -1;
}

/**
 * The number of the answers to all of them, of which those to the last count fastest; null if that is not an answer.
 *
 * @param {readonly Single[]} together
 * @param {unknown} given an answer for each, where what is not one counts as that question's `none`; or the number itself
 * @param {number} answers how many sets of answers there are
 * @returns {number | null}
 */
function jointOf(together, given, answers) {
  if (!Array.isArray(given)) return isWhole(given, 0, answers - 1) ? Number(given) : null;
  if (given.length !== together.length) return null;
  const told = together.map((single, i) => numberOf(single, given[i]));
  if (told.every((number) => number < 0)) return null;
  let found = 0;
  for (const [i, single] of together.entries()) {
    const number = told[i] < 0 ? numberOf(single, single.none) : told[i];
    if (number < 0) return null;
    found = found * single.labels.length + number;
  }
  return found;
}

/** A question that a part asks together with others: it says itself what its answers are. @param {unknown} document @returns {Single} */
function singleIn(document) {
  const given = fieldsOf(document, "a question", ["name", "text", "none", "labels"], ["kind", "ends"]);
  const { name, none } = given;
  need(typeof name === "string" && NAME.test(name), "name of a question", "small letters, digits, - or _", name);
  const text = textIn(given.text, `text of ${name}`, TEXT_MAX, true);
  const labels = checkLabels(listIn(given.labels, `labels of ${name}`, 2, ANSWERS_MAX), name);
  need(none === null || labels.includes(none), `none of ${name}`, "one of its answers", none);
  const known = `one of ${KINDS.join(", ")} of a question that is asked together with others`;
  need(!("kind" in given) || KINDS.includes(given.kind), `kind of ${name}`, known, given.kind);
  return Object.freeze({ name, text, labels, none, kind: given.kind ?? null, unit: null, ends: shownIn(given, given.kind, name).ends });
}

/**
 * Questions that are asked together; the answers of the design are all sets of answers to them, and protected.
 *
 * @param {unknown[]} documents
 * @param {{design: Mapping, share: number, by: Mapping, epsilon: number, proofs: any}} of as in `questionFrom`
 * @returns {Question}
 */
function togetherFrom(documents, { design, share, by, epsilon, proofs }) {
  const together = documents.map(singleIn);
  const names = together.map(({ name }) => name);
  const name = names.join(".");
  const explanation = provedIn(design, name, epsilon, proofs);
  need(new Set(names).size === names.length, "names of questions", "different", "two alike");
  const { domain, kernel, params } = explanation.design;
  const plain = !domain.border && !domain.options && !kernel.pairsOf && domain.missing === undefined && domain.other === undefined;
  const sets = "one whose answers are the sets of answers, and nothing else, where questions are asked together";
  need(plain && !params.levels?.length, `design of ${name}`, sets, design.mechanism);
  const sizes = together.map(({ labels }) => labels.length);
  const told = `such that there are ${domain.answers} sets of answers, as its design has`;
  need(sizes.reduce((product, size) => product * size, 1) === domain.answers, `labels of ${name}`, told, sizes);
  const kept = SIZED.includes(kernel.constructor.kind) ? kernel.sizes.map(Number) : sizes;
  need(String(kept) === String(sizes), `labels of ${name}`, `so many to each question as its kernel has, ${show(kept)}`, sizes);
  if (explanation.disclosed.length) {
    throw new PrivacyError(`question ${name}: reports may name some answers, and none to questions that are asked together; nothing is sent.`);
  }
  const [text, labels, nones] = [together.map((one) => one.text), together.map((one) => one.labels), together.map((one) => one.none)];
  const key = digest({ ...by, text, design, labels });
  const none = nones.includes(null) ? null : Object.freeze(nones);
  const shown = { labels: null, kind: null, unit: null, ends: null, together: Object.freeze(together) };
  return new Question({ name, text: text.join("\n"), share, design, explanation, key, none, ...shown });
}

/** A question may be asked in several parts, alone or together with others: then it is the same question. @param {Question[]} parts */
function checkAgain(parts) {
  const known = new Map();
  /** @type {{name: string, text: string, labels: readonly string[] | null}[]} */
  const asked = parts.flatMap((/** @type {any} */ part) => (part.together.length ? part.together : [part]));
  for (const { name, text, labels } of asked) {
    const told = JSON.stringify([text, labels]);
    if (!known.has(name)) known.set(name, told);
    need(known.get(name) === told, `text and labels of ${name}`, "the same in all parts", text);
  }
}

Object.assign(TOGETHER, { joint: jointOf, from: togetherFrom, check: checkAgain });
