/** Sensitive and harmless values: a base kernel on the sensitive ones, and a branch that may disclose the others. */
import { Base, Disclosing, checkPlain, checkValue, checkWhole, register } from "../designs.js";
import { ParameterError, require } from "../errors.js";
import { ONE, Ratio, WORD, below, chance, happens, join, largest, packInt, uintWidth } from "../exact.js";

/** @import { Words } from "../types.js" */

/**
 * The base kernel has the values in the half-open ranges `sensitive`. Any other value is disclosed alone with probability
 * plain/2**64; else a report is made without any value (`blind` = 1) or of a uniform sensitive one, and the value is put beside
 * it with probability attach/2**64. A report begins with 0 (nothing disclosed), 1 + j (the j-th of m harmless values alone), or
 * 1 + m + j (beside a report); the base's bytes follow, zero if there are none.
 */
export class Utility extends Disclosing {
  static kind = "utility";
  static fields = "k# sensitive* base@* plain attach blind";
  /** Of `mapped.js`, for reports of a uniform sensitive value. @type {(kernel: any) => Ratio} */
  static mappedPeak;

  check() {
    const { k, base, plain, attach } = this;
    checkRanges(this.sensitive, k);
    checkPlain("a base", ...base);
    const s = this.s;
    const fits = base.length === (s >= 2n ? 1 : 0) && base.every((/** @type {any} */ each) => each.k === s);
    require(fits, "base", base.length, s >= 2n ? `one kernel on ${s} values` : "empty for fewer than 2 values");
    require(s ? plain < WORD : plain === WORD, "plain", plain, "from 0 to 2**64 - 1");
    require(s ? attach < WORD : !attach, "attach", attach, "a threshold");
    checkWhole("blind", /** @type {any} */ (this).blind, 0n, 1n);
  }

  /** Whether a report that discloses nothing is made without any value. */
  get blindly() {
    return /** @type {any} */ (this).blind === 1n;
  }

  /** Number of sensitive values. */
  get s() {
    return countOf(this.sensitive);
  }

  /** Chance that a harmless value is not disclosed. */
  get kept() {
    return chance(WORD - this.plain).times(chance(WORD - this.attach));
  }

  get protected() {
    return this.sensitive;
  }

  get disclosed() {
    return ONE.minus(this.kept);
  }

  /**
   * Sensitive values have the base's ratio. An output is at most `peak` times as likely for one as for the branch, of mass
   * `kept`; and at most the base's ratio less likely.
   */
  get hiddenRatio() {
    if (!this.s) return ONE;
    const [base] = this.base;
    if (!base) return ONE.over(this.kept);
    if (this.s === this.k) return base.ratio;
    const peak = this.blindly ? blindPeak(baseHalf(base)) : Utility.mappedPeak(base);
    return largest([base.ratio, peak.over(this.kept)]);
  }

  /** Bytes of the first field. */
  get head() {
    return uintWidth(1n + (this.k - this.s) * (this.attach ? 2n : 1n));
  }

  get width() {
    return this.head + (this.base[0]?.width ?? 0);
  }

  get words() {
    return 3n + (this.base[0]?.words ?? 0n);
  }

  /** @param {bigint} x @param {Words} words */
  randomise(x, words) {
    checkValue(x, this.k);
    const { sensitive, rank } = place(this.sensitive, x);
    const [base] = this.base;
    if (sensitive) return this.pack(0n, base?.randomise(rank, words));
    if (happens(this.plain, words)) return this.pack(1n + rank);
    const told = base && (this.blindly ? baseHalf(base).blind(words) : base.randomise(below(this.s, words), words));
    const beside = this.attach > 0n && happens(this.attach, words);
    return this.pack(beside ? 1n + this.k - this.s + rank : 0n, told);
  }

  /** @param {bigint} first @param {Uint8Array} [told] */
  pack(first, told = new Uint8Array(this.width - this.head)) {
    return join([packInt(first, this.head), told]);
  }
}

/** How many numbers ranges hold. @param {bigint[]} ranges */
export const countOf = (ranges) => ranges.reduce((sum, end, i) => (i % 2 ? sum + end : sum - end), 0n);

/** Whether `x` is sensitive, and its rank among its kind. @param {bigint[]} ranges @param {bigint} x */
export function place(ranges, x) {
  const at = ranges.filter((end) => end <= x).length;
  const before = countOf(ranges.slice(0, at - (at % 2)));
  return at % 2 ? { sensitive: true, rank: before + x - ranges[at - 1] } : { sensitive: false, rank: x - before };
}

/** Refuse what are no ends of ranges of 0..k-1, in order and apart. @param {bigint[]} ranges @param {bigint} k */
export function checkRanges(ranges, k) {
  const ok = ranges.length % 2 === 0 && ranges.every((end, i) => end <= k && (!i || ranges[i - 1] < end));
  require(ok, "sensitive", ranges, `increasing ends of half-open ranges within 0..${k}`);
}

/** A kernel that has reports without a value; `ParameterError` for another one. @param {any} kernel @returns {any} */
function baseHalf(kernel) {
  if (kernel instanceof Base) return kernel;
  throw new ParameterError(`a ${kernel.kind} kernel has no reports without a value.`, "Use blind = 0.");
}

/** The largest quotient of a report's likelihoods given some value, and for a blind report. @param {any} kernel */
function blindPeak(kernel) {
  if (kernel.blindPeak) return kernel.blindPeak;
  const [keep, share] = [chance(kernel.keep), shareOf(kernel)];
  return largest([keep.over(share), ONE.minus(keep).over(ONE.minus(share))]);
}

/** Chance that a blind report supports a value. @param {any} kernel */
export const shareOf = ({ levels: [own, rest] }) => new Ratio(own, own + rest);

register([Utility]);
