/** A device: checks the design it was given, then turns its own value into one deniable report. */
import { Disclosing, answerOf, asFormat, checkPromise, readDesign, whole } from "./designs.js";
import { DeniableError, FormatError, ParameterError, PrivacyError, require, show } from "./errors.js";
import { SystemWords, expLow } from "./exact.js";

/** @import { Answer, Charge, Design, Domain, Drawing, Options, Proved, Span, Told } from "./types.js" */

const WORK_MAX = 1n << 20n;

/** What `explain.js` and `explain_parts.js` add once they are loaded. @type {Told} */
export const TOLD = { explanation: unloaded, ofParts: unloaded };

/** @returns {never} */
function unloaded() {
  throw new DeniableError("the module of explanations is not loaded.", "Use explanationFor of load.js.");
}

/**
 * Reports values under a design, after proving that the design keeps its promise. The document may come from a server that
 * nobody trusts: one of another shape than its mechanism's is refused with a `FormatError`, one that leaks more than its
 * `epsilon` says with a `PrivacyError`, before anything is drawn.
 */
export class Device {
  /** @type {Answer | undefined} */
  #standIn;
  #design;

  /**
   * `harmless` is consent to exactly the answers that a report may name (`explain` says which). `standIn` is reported in place
   * of a value that the question has no answer for; otherwise such a value is an error, and that no report arrives tells it. For
   * a design of parts they are lists, with one for each part.
   * @param {unknown} design @param {Options} [options]
   */
  constructor(design, options = {}) {
    this.#design = proved(design);
    checkConsent(this.#design, options.harmless);
    const { epsilon, kernel, domain, params } = this.#design;
    this.epsilon = epsilon;
    this.kernel = kernel;
    this.labels = domain.labels ?? null;
    /** @type {readonly number[]} */
    this.levels = Object.freeze([...(params.levels ?? [])]);
    this.#standIn = "standIn" in options ? answerOf(this.#design, options.standIn) : undefined;
  }

  /** What this design may send about each answer, once `explain.js` is loaded. */
  explain() {
    return TOLD.explanation(this.#design);
  }

  /**
   * One report for `value`: a label, a number of the interval, or an integer from 0 to k-1, as the domain has it; for
   * key-value designs the list of the person's pairs [key, number], for designs of parts a list with a value for each part.
   *
   * `coin` is the public seed that the collector dealt, for kernels that have one. `level` is the one of `levels` that the person
   * chose, the most protective one if left out.
   * @param {unknown} value @param {Drawing} [drawing]
   */
  report(value, drawing) {
    return this.randomise(this.answer(value), drawing);
  }

  /** What is randomised for a value. @param {unknown} value @returns {Answer} */
  answer(value) {
    try {
      return answerOf(this.#design, value);
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

  /** The number of a level; the first, the most protective one, if none is given. @param {number | null} [level] */
  level(level) {
    const none = level === undefined || level === null;
    if (!this.levels.length && !none) {
      throw new ParameterError(`level must be left out: a ${this.kernel.kind} kernel has one level for all.`);
    }
    require(none || this.levels.includes(level), "level", level, `one of ${this.levels.join(", ")}`);
    return none ? 0 : this.levels.indexOf(level);
  }
}

/**
 * A design of the right shape that is little enough work and keeps all its promises.
 * @param {unknown} document @param {Charge} [charge]
 */
export const proved = (document, charge) => kept(readDesign(document), charge);

/** @param {Design} design @param {Charge} [charge] @returns {Proved} */
function kept(design, charge) {
  if (design.proved) return design.proved(kept, charge);
  const { kernel, epsilon, params } = design;
  checkWork(kernel);
  charge?.(Number(kernel.work?.steps ?? 0));
  const told = `the kernel of ${design.name} has parts that do not go together`;
  const ratio = asFormat(told, () => checkPromise(kernel, expLow(epsilon), epsilon));
  kernel.checkPromises?.(params);
  if (disclosedBy(design).length && !(kernel.limited ?? kernel.protected.length)) {
    const told = "this design protects no answer: its reports name them, whatever its epsilon says; no report was made.";
    throw new PrivacyError(told, "Do not take part; tell whoever runs the task.");
  }
  return { ...design, ratio };
}

/** `FormatError` for a kernel whose proof or reports are more work, or longer, than a device takes part in. @param {any} kernel */
function checkWork(kernel) {
  const amounts = [
    { what: "random words", number: kernel.words, most: WORK_MAX },
    { what: "bytes", number: BigInt(kernel.width), most: WORK_MAX },
    ...(kernel.work ? [kernel.work] : []),
  ];
  for (const { what, number, most } of amounts) {
    if (number > most) {
      const told = `a report of this design needs ${number} ${what}, more than the ${most} that a device takes part in.`;
      throw new FormatError(told, "For many answers use a mechanism with short reports, such as plh, pgr or olh.");
    }
  }
}

// ---- consent

/** Pairs of ends, without those of nothing. @param {number[]} ends @returns {Span[]} */
export const spans = (ends) =>
  ends.flatMap((start, i) => (i % 2 === 0 && start < ends[i + 1] ? [/** @type {Span} */ ([start, ends[i + 1]])] : []));

/** The answers that a report may name. @param {Design} design */
export function disclosedBy({ kernel, domain }) {
  const open = kernel instanceof Disclosing && /** @type {any} */ (kernel).disclosed.top > 0n;
  return open ? spans([0, .../** @type {any} */ (kernel).protected.map(Number), domain.answers]) : [];
}

/** `PrivacyError` unless consent was given to exactly the answers that reports may name. @param {Design} design @param {any} harmless */
function checkConsent(design, harmless) {
  if (design.agreed) return design.agreed(checkConsent, harmless);
  const { domain } = design;
  const [open, given] = [disclosedBy(design), consented(domain, harmless ?? [])];
  if (`${given}` === `${open}`) return;
  throw new PrivacyError(
    `this design may disclose ${listed(domain, open)}, and consent was given for ${listed(domain, given)}; no report was made.`,
    open.length
      ? "Ask the person, then pass exactly these answers: new Device(design, {harmless: [...]})."
      : "Leave out harmless, or ask whoever runs the task which design is meant.",
  );
}

/** @param {Domain} domain @param {Span[]} ranges */
function listed({ labels, border }, ranges) {
  const told = ranges.map(([start, end]) =>
    labels ? show(labels.slice(start, end)) : border ? `${border(start)} to ${border(end)}` : `${start} to ${end - 1}`,
  );
  return told.join(", ") || "none of its answers";
}

/** The answers in a list as half-open ranges. @param {Domain} domain @param {any} harmless */
function consented(domain, harmless) {
  if (typeof harmless === "string" || typeof harmless[Symbol.iterator] !== "function") {
    throw new ParameterError(`harmless must be a list of answers, got ${show(harmless)}.`);
  }
  const known = domain.labels && new Set(domain.labels);
  /** @type {Span[]} */
  const found = [];
  const given = Array.from(harmless, (entry) => domain.span?.(entry) ?? span(domain, known, entry));
  for (const [start, end] of given.sort((a, b) => a[0] - b[0] || a[1] - b[1])) {
    const last = found[found.length - 1];
    if (last && start <= last[1]) last[1] = Math.max(last[1], end);
    else if (start < end) found.push([start, end]);
  }
  return found;
}

/**
 * The numbers of an answer, or of a range of them.
 * @param {Domain} domain @param {Set<string> | undefined} known @param {any} entry @returns {Span}
 */
function span(domain, known, entry) {
  if (!known && Number.isInteger(entry?.start) && Number.isInteger(entry?.end)) return [entry.start, entry.end];
  if (known && !known.has(entry)) {
    throw new ParameterError(`harmless must be a list of this question's labels, got ${show(entry)} in it.`);
  }
  const number = domain.index(entry);
  return [number, number + 1];
}
