/** What every kernel has, how kernels are read from documents, and the checks that they share. */
import { fieldsOf, isMapping, readDocument, readWhole } from "../documents.js";
import { FormatError, ParameterError, PrivacyError, require, show } from "../errors.js";
import { ONE, Ratio, WORD, either, largest, twoLevelLift } from "../exact.js";
import { below } from "../words.js";

/** @typedef {import("../words.js").Words} Words */
/** @typedef {"bit" | "base" | "chances" | "codes" | "data" | "first" | "flips" | "level" | "neighbours"} Lists */
/** @typedef {"second" | "sensitive" | "starts" | "told" | "weights" | "window"} MoreLists */
/** @typedef {Record<string, bigint> & Record<Lists | MoreLists, any>} Parts by the names of a kernel's fields */
/** @typedef {{kernel: Shapes, params: Record<string, string>}} Form kernels, and how parameters are checked; `?`: optional */
/** @typedef {Record<string, any>} Shapes kinds of kernels that may stand somewhere, with the shapes of their fields */

/** Items are hashed as 32-bit integers. */
export const ITEMS_MAX = 1n << 32n;
/** Values of pairs lie on this many equal steps of their range, so that rounding one to an end compares integers. */
export const GRID = 1n << 32n;

/**
 * Randomises one value of 0..k-1 into `width` bytes, and protects all values alike. Subclasses have `randomise(x, words)`
 * and `ratio`: the exact largest likelihood ratio of any report between any two values; `words`: how many random words a
 * report draws, on average and at most.
 */
export class Kernel {
  static kind = "";
  /** Names of fields; after them `*`: a list, `**`: lists, `@`: a kernel, `@*`: kernels. */
  static fields = "";

  get kind() {
    return /** @type {typeof Kernel} */ (this.constructor).kind;
  }

  /** @returns {any} */
  get promisedRatio() {
    return /** @type {any} */ (this).ratio;
  }
}

/**
 * A kernel that protects the values in the half-open ranges `isProtected` only: a report may give away one of the others,
 * with the chance `disclosed`. It has no `ratio`, but a `hiddenRatio` of all reports that give none away.
 */
export class Disclosing extends Kernel {
  get promisedRatio() {
    return /** @type {any} */ (this).hiddenRatio;
  }
}

/**
 * A kernel that others may build on: it has reports made without any value (`blind`). Two-level kernels have `keep`, and
 * `levels`: how many reports support a given value and how many do not, up to a factor.
 */
export class Base extends Kernel {
  /** @type {[bigint, bigint]} */
  get levels() {
    throw new ParameterError(`reports of a ${this.kind} kernel do not support values.`);
  }

  /** How many times as likely a report is for a value that it supports as for another one; may be below 1. */
  get lift() {
    return twoLevelLift(/** @type {any} */ (this).keep, ...this.levels);
  }

  get ratio() {
    return either(this.lift);
  }

  /** Chance that a blind report supports a given value. */
  get share() {
    const [own, rest] = this.levels;
    return new Ratio(own, own + rest);
  }

  /** The largest quotient of a report's likelihoods given some value, and for a blind report. */
  get blindPeak() {
    const [keep, share] = [this.kept, this.share];
    return largest([keep.over(share), ONE.minus(keep).over(ONE.minus(share))]);
  }

  /** How many values share the largest likelihood of any report, at least; 1 holds for every kernel. */
  get least() {
    return 1n;
  }

  get kept() {
    return new Ratio(/** @type {any} */ (this).keep, WORD);
  }
}

/**
 * `Base.least` where blind reports support equally many values each, up to rounding.
 * @param {any} kernel @returns {bigint}
 */
export function favoured(kernel) {
  /** @type {bigint[]} */
  const [k, top, bottom] = [kernel.k, kernel.share.top, kernel.share.bottom];
  return kernel.kept.below(kernel.share) ? k - (k * top + bottom - 1n) / bottom : (k * top) / bottom;
}

// ---- checks

/** @param {string} name @param {bigint} value @param {bigint} least @param {bigint} most @param {string} [hint] */
export function checkWhole(name, value, least, most, hint) {
  const ok = typeof value === "bigint" && least <= value && value <= most;
  require(ok, name, value, `an integer from ${least} to ${most}`, hint);
}

/**
 * A whole number as the kernels have it; what is none stays as it is, for a check to refuse.
 * @param {any} value @returns {any}
 */
export const whole = (value) => (Number.isSafeInteger(value) ? BigInt(value) : value);

/** @param {bigint} k */
export const checkK = (k, limit = ITEMS_MAX) => checkWhole("k", k, 2n, limit, "For a yes/no question use k=2.");

/** @param {bigint} x @param {bigint} k */
export const checkValue = (x, k) => checkWhole("value", x, 0n, k - 1n);

/** @param {string} name @param {bigint} t */
export const checkThreshold = (name, t) => checkWhole(name, t, 1n, WORD - 1n);

/** A seed is one word of 64 bits. @param {Words} words */
export const checkSeedWords = (words) => require(words.bits === 64, "words.bits", words.bits, "64", "A seed is one word.");

/** A uniform number of 0..k-1 other than x. @param {bigint} x @param {bigint} k @param {Words} words */
export function otherThan(x, k, words) {
  const r = below(k - 1n, words);
  return r >= x ? r + 1n : r;
}

/**
 * `PrivacyError` for parts of a kernel that do not protect all of their values alike.
 * @param {string} what @param {Kernel[]} parts
 */
export function checkPlain(what, ...parts) {
  for (const part of parts) {
    if (part instanceof Disclosing) {
      throw new PrivacyError(
        `${what} must not disclose: reports of a ${part.kind} kernel may give away the value they were made of, or the ` +
          "level they were made at.",
        "Use a kernel that protects all of its values alike.",
      );
    }
  }
}

/**
 * The kernel's exact ratio; `PrivacyError` unless it is at most the certified lower bound `low` of e^epsilon.
 * @param {Kernel} kernel @param {Ratio} low @param {number} epsilon @returns {Ratio}
 */
export function checkPromise(kernel, low, epsilon) {
  const ratio = kernel.promisedRatio;
  if (low.below(ratio)) {
    const told = `this design promises epsilon ${epsilon} but its ${kernel.kind} kernel has likelihood ratio `;
    const size = ratio.top >> 1000n < ratio.bottom ? `${+ratio}` : "beyond 2**1000";
    const hint = "Do not take part; tell whoever runs the task.";
    throw new PrivacyError(`${told}${size}, above e^epsilon = ${+low}; no report was made.`, hint);
  }
  return ratio;
}

// ---- documents

/** @type {Map<string, any>} Kernels by their kind: those whose module was loaded. */
export const KERNELS = new Map();

/** @type {Map<string, Form>} What designs look like, by the mechanism's name: those whose module was loaded. */
export const FORMS = new Map();

/** @type {Map<string, Form>} Those that protect all answers alike: any of them may be the base of `utility`. */
export const BASES = new Map();

/** @type {Record<string, (value: any, words: string[], kernel: any, design: any) => string>} see `grammar.js` */
export const CHECKS = {};

/**
 * Add kernels, and the mechanisms that have them, several names with spaces between.
 * @param {any[]} kernels @param {Record<string, Form>} [forms] @param {Map<string, Form>[]} [where]
 */
export function register(kernels, forms = {}, where = [FORMS, BASES]) {
  for (const each of kernels) KERNELS.set(each.kind, each);
  for (const [names, form] of Object.entries(forms)) {
    for (const name of names.split(" ")) for (const map of where) map.set(name, form);
  }
}

/** @param {string} kinds @returns {Shapes} */
export const oneOf = (kinds) => Object.fromEntries(kinds.split(" ").map((kind) => [kind, {}]));

/** @param {string | Shapes} kernel @param {Record<string, string>} [params] @returns {Form} */
export const form = (kernel, params = {}) => ({ kernel: typeof kernel === "string" ? oneOf(kernel) : kernel, params });

const PARTS_MAX = 64;

/**
 * A kernel from its document; `FormatError` for an unknown kind, or fields that do not fit or have other shapes.
 * Without `shapes` any kernel may stand anywhere that it can be sampled; designs have a grammar for that.
 * @param {any} document
 * @param {Shapes} [shapes]
 * @param {string} [where]
 * @returns {any}
 */
export function kernelFrom(document, shapes, where = "the kernel") {
  if (!shapes && where === "the kernel") document = readDocument(document, where);
  const kind = isMapping(document) ? document.kind : undefined;
  const allowed = shapes ? Object.keys(shapes) : [...KERNELS.keys()];
  if (!allowed.includes(kind)) {
    const hint = shapes ? "The mechanism's name decides which kernels it may have." : "Upgrade the client.";
    throw new FormatError(`${where}: kernel kind ${show(kind)} is not possible; possible are ${allowed.join(", ")}.`, hint);
  }
  const made = KERNELS.get(kind);
  if (!made) throw new FormatError(`${where}: the module of ${kind} kernels is not loaded.`, "Use deviceFor of load.js.");
  const names = made.fields.split(" ").map((/** @type {string} */ field) => field.match(/^(\w+)(.*)$/)?.slice(1));
  const given = fieldsOf(document, `a ${kind} kernel`, ["kind", ...names.map((/** @type {any} */ [name]) => name)]);
  /** @type {any} */
  const parts = {};
  for (const [name, form] of names) parts[name] = readPart(given[name], form, shapes?.[kind][name], `${name} of ${where}`);
  return new (made.choose?.(parts) ?? made)(parts);
}

/** @param {any} part @param {string} form @param {any} shapes @param {string} where @returns {any} */
function readPart(part, form, shapes, where) {
  if (form === "") return readWhole(part, where);
  if (form === "@") return kernelFrom(part, shapes, where);
  if (!Array.isArray(part)) throw new FormatError(`${where} must be a list, got ${show(part, 60)}.`);
  if (form === "@*" && part.length > PARTS_MAX) {
    throw new FormatError(`${where} must have at most ${PARTS_MAX} kernels, got ${part.length}.`);
  }
  return part.map((entry) => readPart(entry, form.slice(0, -1), shapes, where));
}

/** The inverse of `kernelFrom`. @param {any} kernel @returns {any} */
export function kernelTo(kernel) {
  if (typeof kernel === "bigint") return `${kernel}`;
  if (Array.isArray(kernel)) return kernel.map(kernelTo);
  const names = kernel.constructor.fields.match(/\w+/g);
  return Object.fromEntries([["kind", kernel.kind], ...names.map((/** @type {string} */ n) => [n, kernelTo(kernel[n])])]);
}
