/** Certified bounds of e^epsilon: rational numbers made of whole ones, so that no float decides. */
import { PrivacyError, require } from "./errors.js";

/** Samplers refuse more. */
export const EPSILON_MAX = 40;
const EPSILON_MIN = 1e-12;
const GUARD_BITS = 192;

/** 2**64: a threshold is a whole number between 0 and this. */
export const WORD = 1n << 64n;

/** A quotient of whole numbers; `bottom` is above 0. */
export class Ratio {
  /** @param {bigint} top @param {bigint} [bottom] */
  constructor(top, bottom = 1n) {
    this.top = top;
    this.bottom = bottom;
  }

  /** @param {Ratio} other */
  plus(other) {
    return new Ratio(this.top * other.bottom + other.top * this.bottom, this.bottom * other.bottom);
  }

  /** @param {Ratio} other */
  minus(other) {
    return new Ratio(this.top * other.bottom - other.top * this.bottom, this.bottom * other.bottom);
  }

  /** @param {Ratio} other */
  times(other) {
    return new Ratio(this.top * other.top, this.bottom * other.bottom);
  }

  /** @param {Ratio} other above 0 */
  over(other) {
    return new Ratio(this.top * other.bottom, this.bottom * other.top);
  }

  /** @param {Ratio} other */
  below(other) {
    return this.top * other.bottom < other.top * this.bottom;
  }

  /** In lowest terms. */
  reduced() {
    let [a, b] = [this.top, this.bottom];
    while (b) [a, b] = [b, a % b];
    return new Ratio(this.top / a, this.bottom / a);
  }

  /** The nearest float. */
  valueOf() {
    if (!this.top) return 0;
    const size = this.top < 0n ? -this.top : this.top;
    const shift = 66 - 4 * (size.toString(16).length - this.bottom.toString(16).length);
    const over = size << BigInt(Math.max(shift, 0));
    const under = this.bottom << BigInt(Math.max(-shift, 0));
    const found = Number((over / under) | (over % under ? 1n : 0n)) * 2 ** -shift;
    return this.top < 0n ? -found : found;
  }
}

export const ONE = new Ratio(1n);

/** The largest of some ratios. @param {Ratio[]} ratios */
export function largest(ratios) {
  let [found] = ratios;
  for (const each of ratios) if (found.below(each)) found = each;
  return found;
}

/** A ratio or its inverse, whichever is at least 1. @param {Ratio} ratio */
export const either = (ratio) => (ratio.below(ONE) ? ONE.over(ratio) : ratio);

/** The exact value of a float. @param {number} x */
export function exactly(x) {
  let bits = 0n;
  for (; !Number.isInteger(x); bits++) x *= 2;
  return new Ratio(BigInt(x), 1n << bits);
}

/** `epsilon` after checking it. @param {number} epsilon */
export function checkEpsilon(epsilon) {
  require(0 < epsilon && epsilon < Infinity, "epsilon", epsilon, "a finite number > 0");
  require(epsilon >= EPSILON_MIN, "epsilon", epsilon, `at least ${EPSILON_MIN}`, "With less, reports would be pure noise.");
  require(epsilon <= 700, "epsilon", epsilon, "at most 700", "Beyond that e^epsilon is not a float.");
  if (epsilon > EPSILON_MAX) {
    const hint = "A 64-bit threshold cannot express rarer answers.";
    throw new PrivacyError(`epsilon must be at most ${EPSILON_MAX} to draw reports, got ${epsilon}.`, hint);
  }
  return epsilon;
}

/** @type {Map<number, Ratio>} */
const known = new Map();

/**
 * A ratio that is certainly at most e^x, and nearer to it than 190 bits, for 0 <= x <= 700: the Taylor series in fixed
 * point with all terms rounded down.
 * @param {number} x
 */
export function expLow(x) {
  const found = known.get(x);
  if (found) return found;
  const { low } = expBounds(x);
  if (known.size > 999) known.clear();
  known.set(x, low);
  return low;
}

/**
 * Ratios low <= e^x <= high; the upper one has its terms rounded up, and twice the last one for all that are left out.
 * @param {number} x
 */
export function expBounds(x) {
  require(0 <= x && x <= 700, "x", x, "between 0 and 700");
  const { top, bottom } = exactly(x);
  const one = 1n << BigInt(GUARD_BITS + Math.ceil(1.45 * x));
  let [low, high, down, up] = [one, one, one, one];
  for (let n = 0; n <= 2 * x || up > 1n; ) {
    const under = bottom * BigInt(++n);
    down = (down * top) / under;
    up = (up * top + under - 1n) / under;
    low += down;
    high += up;
  }
  return { low: new Ratio(low, one), high: new Ratio(high + 2n * up, one) };
}

const view = new DataView(new ArrayBuffer(8));

/**
 * The next float above (`by` 1) or below (-1) a positive one; of a negative one, nearer to 0 (-1).
 * @param {number} x @param {1 | -1} by
 */
export function next(x, by) {
  if (!x) return 5e-324;
  view.setFloat64(0, x);
  view.setBigInt64(0, view.getBigInt64(0) + BigInt(by));
  return view.getFloat64(0);
}

/** The least float found that is certainly >= ln(ratio), for ratio >= 1. @param {Ratio} ratio @returns {number} */
export function logUpper(ratio) {
  const excess = ratio.minus(ONE);
  const most = expLow(700);
  require(excess.top >= 0n, "ratio", ratio, "at least 1");
  if (excess.top << 100n < excess.bottom) {
    const near = excess.valueOf(); // ln(1 + t) <= t, and nearer to it than floats are to each other
    return exactly(near).below(excess) ? next(near, 1) : near;
  }
  if (most.below(ratio)) return next(700 + logUpper(ratio.over(most)), 1);
  let guess = Math.min(Math.log1p(excess.valueOf()), 700);
  while (!expLow(guess).below(ratio)) guess = next(guess, -1);
  while (expLow(guess).below(ratio)) guess = next(guess, 1);
  return guess;
}

/**
 * How many times as likely each of `own` favoured answers, which come with probability keep/2**64, is as each of the
 * rest; may be below 1.
 * @param {bigint} keep
 * @param {bigint} own
 * @param {bigint} rest
 */
export const twoLevelLift = (keep, own, rest) => new Ratio(keep * rest, (WORD - keep) * own);
