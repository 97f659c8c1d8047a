/** A device: checks the design it was given, then turns its own value into one deniable report. */
import { FormatError, ParameterError, require } from "./errors.js";
import { expLow } from "./exact.js";
import { checkConsent, explanation } from "./explain.js";
import { asFormat, readDesign } from "./grammar.js";
import { checkPromise, whole } from "./kernels/contract.js";
import { SystemWords } from "./words.js";

/** @typedef {import("./words.js").Words} Words */
/** @typedef {{words?: Words, coin?: bigint | number, level?: number}} Drawing */
/** @typedef {number | [number, number][]} Answer the number of an answer, or pairs of numbers (key, steps) */

const WORK_MAX = 1n << 20n;

/**
 * Reports values under a design document, after proving that the design keeps its promise. The document may come from a
 * server that nobody trusts: one that has not the shape that its mechanism's name allows is refused with a `FormatError`,
 * one that leaks more than its `epsilon` says with a `PrivacyError`, before anything is drawn or sent.
 */
export class Device {
  /** @type {Answer | undefined} */
  #standIn;
  #design;
  #explanation;
  #range;

  /**
   * @param {unknown} design the parsed document
   * @param {object} [options]
   * @param {Iterable<unknown> | null} [options.harmless] consent: exactly the answers that a report may name (`explain` says
   *   which); needed where a design protects some answers only
   * @param {unknown} [options.standIn] reported in place of a value that the question has no answer for; without it such a
   *   value is an error, and whoever sees that no report arrives learns that it was none of the answers
   */
  constructor(design, options = {}) {
    [this.#design, this.#explanation] = proved(design);
    checkConsent(this.#explanation, options.harmless);
    const { epsilon, kernel, domain, params } = this.#design;
    this.epsilon = epsilon;
    this.kernel = kernel;
    this.labels = domain.labels ?? null;
    /** @type {readonly number[]} */
    this.levels = Object.freeze([...(params.levels ?? [])]);
    this.#range = params.range ?? [0, 1];
    this.#standIn = "standIn" in options ? this.#numberOf(options.standIn) : undefined;
  }

  /** What this design may send about each answer: protected, or disclosed and with which chance. */
  explain() {
    return this.#explanation;
  }

  /**
   * One report for `value`: a label, a number of the interval, or an integer from 0 to k-1, as the domain has it; for
   * key-value designs the list of the person's pairs [key, number].
   *
   * `coin` is the public seed that the collector dealt, for kernels that have one. `level` is the protection that the person
   * chose, where the design has levels: one of `levels`, the most protective one if left out.
   * @param {unknown} value
   * @param {Drawing} [drawing]
   */
  report(value, drawing) {
    return this.randomise(this.answer(value), drawing);
  }

  /** What is randomised for a value. @param {unknown} value @returns {Answer} */
  answer(value) {
    try {
      return this.#numberOf(value);
    } catch (error) {
      if (!(error instanceof ParameterError) || this.#standIn === undefined) throw error;
      return this.#standIn;
    }
  }

  /** One report for what `answer` gave. @param {Answer} answer @param {Drawing} [drawing] @returns {Uint8Array} */
  randomise(answer, { words = new SystemWords(), coin, level } = {}) {
    const { kernel } = this;
    const chosen = this.level(level);
    const dealt = coin !== undefined && coin !== null;
    if (dealt && !kernel.randomiseDealt) {
      throw new ParameterError(`coin must be left out: a ${kernel.kind} kernel has no public seed.`);
    }
    if (dealt) return kernel.randomiseDealt(whole(answer), whole(coin), words);
    return kernel.randomise(whole(answer), words, chosen);
  }

  /** The number of a level; levels rise, so the first is the most protective, and taken if none is given. @param {number | null} [level] */
  level(level) {
    const none = level === undefined || level === null;
    if (!this.levels.length && !none) {
      throw new ParameterError(`level must be left out: a ${this.kernel.kind} kernel has one level for all.`);
    }
    require(none || this.levels.includes(level), "level", level, `one of ${this.levels.join(", ")}`);
    return none ? 0 : this.levels.indexOf(level);
  }

  /** @param {unknown} value @returns {Answer} */
  #numberOf(value) {
    const { domain } = this.#design;
    return this.kernel.pairsOf?.(value, domain, this.#range) ?? domain.index(value);
  }
}

/** What a design may send about each answer, after the same checks as a device's: to be read before any consent. @param {unknown} design */
export const explain = (design) => proved(design)[1];

/**
 * A design that has the right shape, is little enough work and keeps all its promises, and what it may send.
 * @param {unknown} document @returns {[import("./grammar.js").Design, import("./explain.js").Explanation]}
 */
function proved(document) {
  const design = readDesign(document);
  const { kernel, epsilon, params } = design;
  checkWork(kernel);
  const told = `the kernel of ${design.name} has parts that do not go together`;
  const ratio = asFormat(told, () => checkPromise(kernel, expLow(epsilon), epsilon));
  kernel.checkPromises?.(params);
  return [design, explanation(design, ratio)];
}

/** `FormatError` for a kernel whose proof or reports are more work, or longer, than a device takes part in. @param {any} kernel */
function checkWork(kernel) {
  const amounts = [
    { what: "random words", count: kernel.words, most: WORK_MAX },
    { what: "bytes", count: BigInt(kernel.width), most: WORK_MAX },
    ...(kernel.parts ? [kernel.parts] : []),
  ];
  for (const { what, count, most } of amounts) {
    if (count > most) {
      const told = `a report of this design needs ${count} ${what}, more than the ${most} that a device takes part in.`;
      throw new FormatError(told, "For many answers use a mechanism with short reports, such as plh, pgr or olh.");
    }
  }
}
