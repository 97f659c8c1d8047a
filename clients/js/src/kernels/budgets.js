/** Sensitive values with budgets of their own: independent bits whose noise depends on the value that they stand for. */
import { CHECKS, Disclosing, FORMS, checkValue, checkWhole, form, readEpsilon, register } from "../designs.js";
import { PrivacyError, require } from "../errors.js";
import { ONE, Ratio, WORD, bitsWidth, chance, checkEpsilon, expLow, happens, join, largest, packBits, packInt, uintWidth } from "../exact.js";
import { checkRanges, countOf, place } from "./utility.js";

/** @import { Words } from "../types.js" */

/**
 * One bit for each value in the half-open ranges `sensitive`: 1 with probability keep/2**64 for the own value, and
 * flips[i]/2**64 for the i-th sensitive value if it is another one. Any other value is disclosed alone with probability
 * plain/2**64, else all bits are those of other values.
 */
export class UtilityBudgets extends Disclosing {
  static kind = "utility-levels";
  static fields = "k# sensitive* keep% flips*% plain";

  check() {
    const { k, keep, flips, sensitive } = this;
    checkRanges(sensitive, k);
    const fits = this.s === countOf(sensitive) && this.s > 0n;
    require(fits, "flips", flips.length, `one threshold for each of the ${countOf(sensitive)} sensitive values`);
    for (const flip of flips) require(flip < keep, "flips", flip, "less than keep");
    checkWhole("plain", this.plain, 0n, WORD - 1n);
  }

  /** Number of sensitive values. */
  get s() {
    return BigInt(this.flips.length);
  }

  get protected() {
    return this.sensitive;
  }

  get disclosed() {
    return chance(this.plain);
  }

  get hiddenRatio() {
    return largest(this.itemRatios(Array(this.flips.length).fill(0)));
  }

  /**
   * For each sensitive value the largest ratio against harmless values and those with no smaller a budget. All pairs keep
   * the smaller of their budgets if and only if each of these is within its own value's; of the other values the one with
   * the least flip alone counts.
   * @param {number[]} epsilons
   */
  itemRatios(epsilons) {
    const order = epsilons.map((_, i) => i).sort((a, b) => epsilons[b] - epsilons[a]);
    /** @type {Ratio[]} */
    const found = [];
    let least = [WORD, WORD]; // the two least flips so far, by falling budget
    for (let at = 0; at < order.length; ) {
      let end = at;
      while (end < order.length && epsilons[order[end]] === epsilons[order[at]]) end++;
      const alike = order.slice(at, (at = end));
      least = [...least, ...alike.map((i) => this.flips[i])].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0)).slice(0, 2);
      for (const i of alike) found[i] = this.farthest(this.flips[i], least[this.flips[i] === least[0] ? 1 : 0]);
    }
    return found;
  }

  /** Of a sensitive value's bit against harmless values, and against one with another's flip. @param {bigint} flip @param {bigint} other */
  farthest(flip, other) {
    const kept = chance(WORD - this.plain);
    const others = this.s < this.k ? [[kept, kept]] : [];
    if (other < WORD) others.push(this.ends(other));
    const [high, low] = this.ends(flip);
    return largest([ONE, ...others.flatMap(([over, under]) => [high.over(under), over.over(low)])]);
  }

  /** @param {bigint} flip */
  ends(flip) {
    return [new Ratio(this.keep, flip), new Ratio(WORD - this.keep, WORD - flip)];
  }

  /** `PrivacyError` unless every pair of values is within the smaller of its budgets. @param {Record<string, any>} params */
  checkPromises({ item_epsilon }) {
    this.itemRatios(item_epsilon).forEach((ratio, i) => {
      if (!expLow(checkEpsilon(item_epsilon[i])).below(ratio)) return;
      const told = `sensitive value number ${i} is promised epsilon ${item_epsilon[i]} but has likelihood ratio ${ratio}`;
      throw new PrivacyError(`${told}; no report was made.`, "Do not take part; tell whoever runs the task.");
    });
  }

  /** What a proof goes through. */
  get work() {
    return { what: "budgets of answers", number: this.s, most: 1n << 12n, steps: 80n * this.s };
  }

  /** Bytes of the first field. */
  get head() {
    return uintWidth(1n + this.k - this.s);
  }

  get width() {
    return this.head + bitsWidth(this.s);
  }

  get words() {
    return this.s + 1n;
  }

  /** @param {bigint} x @param {Words} words */
  randomise(x, words) {
    checkValue(x, this.k);
    const { sensitive, rank } = place(this.sensitive, x);
    if (!sensitive && happens(this.plain, words)) {
      return join([packInt(1n + rank, this.head), new Uint8Array(this.width - this.head)]);
    }
    const own = sensitive ? Number(rank) : -1;
    const ones = [...this.flips.keys()].filter((i) => happens(i === own ? this.keep : this.flips[i], words));
    return join([packInt(0n, this.head), packBits(ones, this.s)]);
  }
}

CHECKS.budgets = (value, [path], kernel) => {
  const count = kernel[path];
  if (!Array.isArray(value) || BigInt(value.length) !== count) return `a list of ${count} budgets`;
  value.forEach((number) => readEpsilon(number, "a budget"));
  return "";
};

const params = { item_epsilon: "budgets s", sensitive: "same sensitive", flip: "chance", theta: "chance" };
register([UtilityBudgets], { "uue-levels": form("utility-levels", params) }, [FORMS]);
