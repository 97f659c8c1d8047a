/** Histogram with discrete Laplace noise: exact, because a geometric number is coins that do not depend on each other. */
import { Base, checkValue, checkWhole, form, register } from "../designs.js";
import { require } from "../errors.js";
import { EPSILON_MAX, ONE, Ratio, WORD, expLow, happens, join, largest, packInt } from "../exact.js";
import { nearest } from "../logarithms.js";

/** @import { Words } from "../types.js" */

const HALF = 1n << 31n;

/** One-hot vector plus noise in every coordinate, in steps of 1/2**grid, cut off at `reach` steps. */
export class Laplace extends Base {
  static kind = "laplace";
  static fields = "k# again% grid reach level_top level_bottom";
  /** Thresholds of the remainder's digits, nearest to 2**64/(1 + e^(level 2^i / 2^(grid + 1))). @type {bigint[]} */
  digits = [];

  check() {
    const { level_top, level_bottom } = this;
    checkWhole("grid", this.grid, 0n, 16n);
    checkWhole("reach", this.reach, 1n << this.grid, HALF - 1n);
    const ok = level_top > 0n && level_bottom > 0n && level_top <= EPSILON_MAX * Number(level_bottom);
    require(ok, "level", [level_top, level_bottom], `a fraction above 0 and at most ${EPSILON_MAX}`);
  }

  /** Worked out when it is asked for: once the design is known to be little enough work. */
  thresholds() {
    const level = nearest(new Ratio(this.level_top, this.level_bottom));
    for (let i = this.digits.length; i < this.grid; i++) {
      const low = expLow(level * 2 ** (i - Number(this.grid) - 1));
      this.digits.push(rounded(WORD * low.bottom, low.top + low.bottom));
    }
    return this.digits;
  }

  get ratio() {
    return this.step.times(this.step);
  }

  /**
   * The worst ratio of one coordinate with and without its unit: a step of 2**grid, or within it the lowest digit with
   * all higher ones against it.
   */
  get step() {
    const within = (/** @type {Ratio} */ product, /** @type {bigint} */ t) => product.times(new Ratio(WORD - t, t));
    return largest([new Ratio(WORD, this.again), this.thresholds().slice(1).reduce(within, ONE)]);
  }

  get width() {
    return 4 * Number(this.k);
  }

  /** A sign, the digits, and coins until the first tail, which may be far away. */
  get words() {
    const rare = WORD - this.again;
    return this.k * (this.grid + 2n + (WORD + rare - 1n) / rare);
  }

  /** @param {bigint} x @param {Words} words */
  randomise(x, words) {
    checkValue(x, this.k);
    return this.around(x, words);
  }

  /** @param {Words} words */
  blind(words) {
    return this.around(-1n, words);
  }

  get blindPeak() {
    return this.step;
  }

  /** @param {bigint} x @param {Words} words */
  around(x, words) {
    const parts = [];
    for (let i = 0n; i < this.k; i++) {
      let y = this.noise(words) + (i === x ? 1n << this.grid : 0n);
      if (y > this.reach) y = this.reach;
      if (y < -this.reach) y = -this.reach;
      parts.push(packInt(y + HALF, 4));
    }
    return join(parts);
  }

  /** @param {Words} words */
  noise(words) {
    const digits = this.thresholds();
    for (;;) {
      const negative = happens(WORD / 2n, words);
      let size = 0n;
      digits.forEach((t, i) => {
        if (happens(t, words)) size += 1n << BigInt(i);
      });
      while (happens(this.again, words)) size += 1n << this.grid;
      if (size || !negative) return negative ? -size : size;
    }
  }
}

/** top/bottom to the nearest whole number, halves to the even one. @param {bigint} top @param {bigint} bottom */
function rounded(top, bottom) {
  const down = top / bottom;
  const twice = 2n * (top % bottom);
  return twice > bottom || (twice === bottom && down & 1n) ? down + 1n : down;
}

register([Laplace], { she: form("laplace", { grid: "whole grid", reach: "whole reach" }) });
