/** One public choice of a part: a coin that looks at no answer says which of several kernels is used. */
import { Disclosing, checkWhole, register, whole } from "../designs.js";
import { ParameterError, require, show } from "../errors.js";
import { Ratio, WORD, dealt, framed, largest, most } from "../exact.js";

/** @import { Words } from "../types.js" */

/** Parts of a deal: their number is one byte of a report. */
const PARTS_MAX = 255n;

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
    checkWhole("number of parts", BigInt(parts.length), 2n, PARTS_MAX);
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
    return framed(part, report, this.width);
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
