/** One public choice of a part: a coin that looks at no answer says which of several kernels is used. */
import { counter, dealt, within } from "../dealing.js";
import { COMPOSED, Disclosing, FIELDS, answerOf, checkWhole, fieldsOf, isMapping, isNumber, isWhole, readOne, register, whole } from "../designs.js";
import { FormatError, ParameterError, PrivacyError, require, show } from "../errors.js";
import { Ratio, WORD, join, largest, most } from "../exact.js";

/** @import { Charge, Design, Proved, Words } from "../types.js" */

/** Parts of a deal: their number is one byte of a report. */
const PARTS_MAX = 255;
const [EPSILON_MIN, EPSILON_MAX] = [1e-12, 1000];
const SHARE_MAX = 1_000_000;

/**
 * One of the parts with probability share/sum of shares; the input is a record, with an input for each part. A report is the
 * number of the part, that part's report, and zeros up to the longest one. What a part discloses is disclosed, so this is a
 * `Disclosing` kernel whatever the parts are.
 */
export class Dealt extends Disclosing {
  static kind = "dealt";
  static fields = "parts@* shares*";

  check() {
    const { parts, shares } = this;
    checkWhole("number of parts", BigInt(parts.length), 2n, BigInt(PARTS_MAX));
    const nested = parts.filter((part) => part instanceof Dealt);
    require(!nested.length, "parts", nested.length, "kernels that are not dealt themselves", "Deal all parts at once.");
    require(shares.length === parts.length, "shares", shares, `one for each of ${parts.length} parts`);
    for (const share of shares) checkWhole("share", share, 1n, WORD);
    require(this.total <= WORD, "sum of shares", this.total, "at most 2**64");
  }

  get total() {
    return this.shares.reduce((sum, share) => sum + share, 0n);
  }

  /** The deal is public and looks at no value, so the worst part's. */
  get hiddenRatio() {
    return largest(this.parts.map(({ promisedRatio }) => promisedRatio));
  }

  /** Of a record with nothing but answers that a report may name. */
  get disclosed() {
    const chances = this.parts.map(({ disclosed = new Ratio(0n) }, i) => disclosed.times(new Ratio(this.shares[i], this.total)));
    return chances.reduce((sum, chance) => sum.plus(chance));
  }

  get width() {
    return 1 + Math.max(...this.parts.map(({ width }) => width));
  }

  get words() {
    return 1n + most(this.parts.map(({ words }) => words));
  }

  /** The number of a part, drawn by the shares. @param {Words} words */
  deal(words) {
    return dealt(this.shares, words);
  }

  /** A report of one of the parts as a report of the whole. @param {number} part @param {Uint8Array} report */
  frame(part, report) {
    checkWhole("part", whole(part), 0n, BigInt(this.parts.length - 1));
    const { width } = this.parts[part];
    require(report.length === width, "report", report.length, `${width} bytes`);
    return join([Uint8Array.of(part), report], this.width);
  }

  /** @param {any[]} record @param {Words} words @returns {Uint8Array} */
  randomise(record, words) {
    if (!Array.isArray(record) || record.length !== this.parts.length) {
      throw new ParameterError(`value must be a list of ${this.parts.length} inputs, one for each part, got ${show(record)}.`);
    }
    const part = this.deal(words);
    return this.frame(part, this.parts[part].randomise(whole(record[part]), words));
  }
}

register([Dealt]);

// ---- designs

COMPOSED.set("dealt", {
  read(given) {
    const { parts, shares } = split(given);
    const made = parts.map((part, i) => within(`part ${i + 1}`, () => readOne(part)));
    const kernel = new Dealt(/** @type {any} */ ({ parts: made.map((part) => part.kernel), shares: shares.map(BigInt) }));
    const answers = made.reduce((product, { domain }) => product * domain.answers, 1);
    const domain = { answers, index: (/** @type {unknown} */ value) => records(made, value) };
    return { name: "dealt", epsilon: given.epsilon, domain, params: {}, kernel, parts: made, proved, agreed };
  },
  split,
});

/** @this {Design} @param {(part: Design, charge: Charge) => Proved} prove @param {Charge} [charge] @returns {Proved} */
function proved(prove, charge = counter()) {
  const parts = (this.parts ?? []).map((part, i) => within(`part ${i + 1}`, () => prove(part, charge)));
  return { ...this, parts, ratio: largest(parts.map(({ ratio }) => ratio)) };
}

/** @this {Design} @param {(part: Design, harmless: any) => void} check @param {any} harmless */
function agreed(check, harmless) {
  const [lists, parts] = [harmless ?? [], this.parts ?? []];
  const fits = Array.isArray(lists) && (!lists.length || lists.length === parts.length);
  require(fits, "harmless", lists, `a list of ${parts.length} lists of answers`);
  parts.forEach((part, i) => check(part, lists[i]));
}

/** @param {any} design @returns {{parts: any[], shares: number[]}} */
function split(design, most = Infinity) {
  const { version, epsilon, parts, shares } = fieldsOf(design, "a design of parts", [...FIELDS.slice(0, 3), "shares", "parts"]);
  need(version === 1, "version", "1", version);
  const fits = isNumber(epsilon) && EPSILON_MIN <= epsilon && epsilon <= EPSILON_MAX;
  need(fits, "epsilon", `a number from ${EPSILON_MIN} to ${EPSILON_MAX}`, epsilon);
  need(Array.isArray(parts) && 2 <= parts.length && parts.length <= PARTS_MAX, "parts", `a list of 2 to ${PARTS_MAX} designs`, parts);
  need(parts.every((/** @type {any} */ part) => part?.mechanism !== "dealt"), "parts", "designs that have no parts themselves", parts);
  need(Array.isArray(shares) && shares.length === parts.length, "shares", `a list of ${parts.length} whole numbers`, shares);
  const told = (/** @type {number} */ own, /** @type {number} */ limit) => `epsilon ${own}, more than the ${limit}`;
  if (epsilon > most) throw new PrivacyError(`the design promises ${told(epsilon, most)} that the task says; nothing is sent.`);
  const more = parts.find((/** @type {any} */ part) => isMapping(part) && isNumber(part.epsilon) && part.epsilon > epsilon);
  if (more) throw new PrivacyError(`a part of the design promises ${told(more.epsilon, epsilon)} of the whole design; nothing is sent.`);
  for (const share of shares) need(isWhole(share, 1, SHARE_MAX), "a share", `a whole number from 1 to ${SHARE_MAX}`, share);
  return { parts, shares };
}

/** @param {boolean} ok @param {string} where @param {string} need @param {unknown} got */
function need(ok, where, need, got) {
  if (!ok) throw new FormatError(`${where} of a design of parts must be ${need}, got ${show(got)}.`);
}

/** How a list with a value for each part is read. @param {Design[]} parts @param {any} value */
function records(parts, value) {
  if (Array.isArray(value) && value.length === parts.length) return parts.map((part, i) => answerOf(part, value[i]));
  throw new ParameterError(`value must be a list of ${parts.length} answers, one for each part, got ${show(value)}.`);
}
