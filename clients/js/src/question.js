/**
 * A question of a task: its texts, its design, and what every value, or none, counts as.
 *
 * @module
 */

import { digest } from "./canonical.js";
import { counter, within } from "./dealing.js";
import { Device } from "./device.js";
import { asFormat, isNumber, isWhole } from "./designs.js";
import { PrivacyError, show } from "./errors.js";
import { below } from "./exact.js";
import { explain } from "./explain.js";
import { general, listIn, need, textIn } from "./parts.js";
import { needLabels } from "./texts.js";

/** @import { Answer, Words } from "./types.js" */
/** @import { Single } from "./together.js" */
/** @typedef {Record<string, any>} Mapping */

export const TEXT_MAX = 10_000;
/** How a page asks, if the task says so; what is sent does not depend on it. */
const KINDS = ["one", "several", "yes-no", "rating", "ordered", "number", "time"];
export const NAME = /^[a-z0-9_-]{1,64}$/;

/** What `together.js` adds once it is loaded: questions that a part asks together. @type {Record<string, any>} */
export const TOGETHER = {};

/** A question of a task; its design has been proved to keep its promise. */
export class Question {
  /** @type {Device | undefined} */
  #device;
  /** @type {Device | undefined} */
  #agreed;

  /**
   * @param {{name: string, text: string, share: number, design: Mapping, explanation: any, key: string,
   *   labels: readonly string[] | null, none: any, kind: string | null, unit: string | null, ends: readonly string[] | null,
   *   together?: readonly Single[]}} parts `key` is the same for the same question in another task of the
   *   collector; `labels` are what people read for the answers 0, 1, .., null if there are only numbers; `none` is what no
   *   answer counts as; a random answer if it is null, or undefined as in tasks of version 1; `together` are the questions
   *   that are asked together, where there are several: an answer is then a list, one for each
   */
  constructor(parts) {
    this.name = parts.name;
    this.text = parts.text;
    this.share = parts.share;
    this.design = parts.design;
    this.explanation = parts.explanation;
    this.key = parts.key;
    this.labels = parts.labels;
    this.none = parts.none;
    this.kind = parts.kind;
    this.unit = parts.unit;
    this.ends = parts.ends;
    this.together = parts.together ?? [];
    Object.freeze(this);
  }

  /** @returns {number} bytes of a report of this question's design */
  get width() {
    return Number(this.explanation.design.kernel.width);
  }

  /**
   * A device for this question, if the person agrees to disclose exactly the `harmless` answers.
   *
   * @param {Iterable<unknown> | null} [harmless]
   */
  device(harmless = null) {
    if (harmless === null) return (this.#device ??= new Device(this.design));
    const listed = typeof harmless === "object" && Symbol.iterator in harmless;
    return new Device(this.design, { harmless: listed ? Array.from(harmless, (each) => this.value(each)) : harmless });
  }

  /** @returns {Device} for somebody who agreed to disclose what the design discloses, if anything */
  agreed() {
    const { harmless } = this.explanation;
    return (this.#agreed ??= this.device(harmless.length ? harmless : null));
  }

  /**
   * What the design knows an answer as: the number of a label, where only the task has labels.
   *
   * @param {unknown} given
   * @returns {unknown}
   */
  value(given) {
    const { answers, labels, options } = this.explanation.design.domain;
    if (this.together.length) {
      const number = TOGETHER.joint(this.together, given, answers);
      return number === null || !labels ? number : labels[number];
    }
    const own = labels || options ? null : this.labels;
    if (own && Array.isArray(given)) return given.map((pair) => (Array.isArray(pair) && pair.length ? [this.value(pair[0]), ...pair.slice(1)] : pair));
    return own && typeof given === "string" && own.includes(given) ? own.indexOf(given) : given;
  }

  /**
   * What any value counts as, and whether it was an answer: no value raises an error, whatever it is.
   *
   * @param {Device} device
   * @param {unknown} value
   * @param {Words} words where `none` is null: one of the protected answers is drawn then
   * @returns {{answer: Answer, answered: boolean}}
   */
  answer(device, value, words) {
    const { kernel, domain, params } = this.explanation.design;
    try {
      const known = this.value(value);
      return { answer: device.answer(kernel.possible ? kernel.possible(known, domain, params.range) : known), answered: true };
    } catch {
      // Reading may fail in any way, since a value may be anything: all of them are no answer.
      return { answer: this.none === null ? this.#drawn(words) : device.answer(this.value(this.none)), answered: false };
    }
  }

  /** @param {Words} words @returns {Answer} a protected answer, uniformly drawn */
  #drawn(words) {
    const { kernel, domain } = this.explanation.design;
    if (kernel.drawn) return kernel.drawn(words);
    const { disclosed } = this.explanation;
    const open = openOf(this.explanation);
    if (open === domain.answers) return Number(below(BigInt(open), words));
    let found = Number(below(BigInt(domain.answers - open), words));
    for (const [start, end] of disclosed) if (found >= start) found += end - start;
    return found;
  }
}

/** How many answers a report may name. @param {{disclosed: [number, number][]}} explanation */
const openOf = ({ disclosed }) => disclosed.reduce((sum, [start, end]) => sum + end - start, 0);

/**
 * A question from its parts, after all that is to be proved.
 *
 * @param {Mapping} given `name`, `text`, perhaps `labels`, and `none` in version 2
 * @param {{design: Mapping, share: number, by: Mapping, epsilon: number, proofs: Proofs}} of `by` is what the key
 *   names besides the question: the collector's key, or the subject; `proofs` of designs that were proved already
 * @returns {Question}
 */
export function questionFrom(given, { design, share, by, epsilon, proofs }) {
  const { name } = given;
  need(typeof name === "string" && NAME.test(name), "name of a question", "small letters, digits, - or _", name);
  const text = textIn(given.text, `text of ${name}`, TEXT_MAX, true);
  const explanation = provedIn(design, name, epsilon, proofs);
  const { domain } = explanation.design;
  const key = digest({ ...by, text, design, labels: given.labels ?? null });
  const labels = "labels" in given ? labelsIn(given.labels, name, domain) : (domain.labels ?? domain.options ?? null);
  need(!("kind" in given) || KINDS.includes(given.kind), `kind of ${name}`, `one of ${KINDS.join(", ")}`, given.kind);
  const shown = { kind: given.kind ?? null, ...shownIn(given, given.kind, name) };
  const made = new Question({ name, text, share, design, explanation, key, labels, none: given.none ?? null, ...shown });
  if (made.none !== null) checkNone(made);
  return made;
}

/** What a part's design may send; it promises no larger epsilon than the task. @param {any} design @param {string} name @param {number} epsilon @param {Proofs} proofs */
export function provedIn(design, name, epsilon, proofs) {
  need(design?.parts === undefined, `design of ${name}`, "without parts, of which each is a question of its own", design);
  const explanation = proofs.of(design, name);
  if (explanation.design.epsilon <= epsilon) return explanation;
  const told = `epsilon ${general(explanation.design.epsilon)}, more than the ${general(epsilon)} that the task says`;
  throw new PrivacyError(`question ${name} costs ${told}; nothing is sent.`);
}

/**
 * What people see beside the text: the unit of a number, what the ends of a rating mean.
 *
 * @param {Mapping} given
 * @param {unknown} kind
 * @param {string} where
 */
export function shownIn(given, kind, where) {
  const [unit, ends] = ["unit" in given, "ends" in given];
  need(!unit || kind === "number", `kind of ${where}`, "number where there is a unit", kind);
  const told = unit ? textIn(given.unit, `unit of ${where}`, 40) : null;
  need(!ends || kind === "rating", `kind of ${where}`, "rating where there are ends", kind);
  return { unit: told, ends: ends ? listIn(given.ends, "ends", 2, 2).map((end) => textIn(end, `an end of ${where}`, 100)) : null };
}

/** Steps of every design, and for each of its parts; kernels say themselves what else a proof takes (`work`). */
const [STEPS, STEPS_OF_PART] = [100, 3];

/** It, and every mapping, list, text, number, true, false and null in it. @param {any} part @returns {number} */
const partsOf = (part) =>
  part !== null && typeof part === "object" ? Object.values(part).reduce((sum, each) => sum + partsOf(each), 1) : 1;

/** What the designs of a task may send; each is proved once, and all of them together are so much work at most. */
export class Proofs {
  /** @type {Map<string, any>} */
  #known = new Map();
  #charge = counter();

  /** @param {any} design @param {string} name of the question @returns {any} what it may send */
  of(design, name) {
    const key = digest({ design });
    const told = () => {
      this.#charge(STEPS + STEPS_OF_PART * partsOf(design));
      return explain(design, this.#charge);
    };
    if (!this.#known.has(key)) this.#known.set(key, within(`question ${name}`, told));
    return this.#known.get(key);
  }
}

/**
 * Labels that a task gives to the answers of a design which has numbers only.
 *
 * @param {unknown} given
 * @param {string} name
 * @param {any} domain
 */
function labelsIn(given, name, domain) {
  const where = `labels of ${name}`;
  need(!domain.labels && !domain.options && !domain.border, where, "left out, since its design says what answers are", given);
  return checkLabels(listIn(given, where, domain.answers, domain.answers), name);
}

/** @param {any[]} labels @param {string} name of their question @returns {readonly string[]} labels that people can tell apart */
export function checkLabels(labels, name) {
  need(labels.every((label) => typeof label === "string"), `labels of ${name}`, "texts", labels);
  needLabels(labels, `labels of ${name}`);
  return Object.freeze([...labels]);
}

/** The answer for no answer must be an answer, as plainly as there is one, and a protected one. @param {Question} asked */
function checkNone(asked) {
  const { none, explanation } = asked;
  const { domain, kernel, params } = explanation.design;
  const where = `none of ${asked.name}`;
  if (none === null) {
    if (openOf(explanation) < domain.answers) return;
    throw new PrivacyError(`${where} must be a protected answer, and reports may name all of them; nothing is sent.`);
  }
  if (kernel.pairsOf) {
    const pairs = Array.isArray(none) && none.every((pair) => Array.isArray(pair) && pair.length === 2);
    const fit = pairs && none.every(([key, number]) => isAnswer(asked, key) && isNumber(number));
    need(fit, where, "a list of pairs [key, number]", none);
    asFormat(`${where} of a task must be one of its answers`, () => kernel.pairsOf(asked.value(none), domain, params.range));
    return;
  }
  need(isAnswer(asked, none), where, "one of its answers", none);
  const number = asFormat(`${where} of a task must be one of its answers`, () => domain.index(asked.value(none)));
  if (explanation.disclosed.some((/** @type {any} */ [start, end]) => start <= number && number < end)) {
    throw new PrivacyError(`${where} must be a protected answer, and reports may name ${show(none)}; nothing is sent.`);
  }
}

/** Whether it is an answer by itself, or a key: a label, the number of an answer, or a number of the interval. @param {Question} asked @param {any} given */
function isAnswer({ labels, explanation }, given) {
  const { domain } = explanation.design;
  if (domain.options) return Array.isArray(given);
  if (labels) return labels.includes(given);
  if (!domain.border) return isWhole(given, 0, domain.answers - 1);
  return isNumber(given) && domain.border(0) <= given && given <= domain.border(domain.answers);
}
