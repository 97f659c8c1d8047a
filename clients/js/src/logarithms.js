/** Floats of ratios, and of their logarithms rounded up. */
import { require } from "./errors.js";
import { ONE, exactly, expLow } from "./exact.js";

/** @typedef {import("./exact.js").Ratio} Ratio */

/** The nearest float. @param {Ratio} ratio */
export function nearest({ top, bottom }) {
  if (!top) return 0;
  const size = top < 0n ? -top : top;
  const shift = 66 - 4 * (size.toString(16).length - bottom.toString(16).length);
  const over = size << BigInt(Math.max(shift, 0));
  const under = bottom << BigInt(Math.max(-shift, 0));
  const found = Number((over / under) | (over % under ? 1n : 0n)) * 2 ** -shift;
  return top < 0n ? -found : found;
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
    const near = nearest(excess); // ln(1 + t) <= t, and nearer to it than floats are to each other
    return exactly(near).below(excess) ? next(near, 1) : near;
  }
  if (most.below(ratio)) return next(700 + logUpper(ratio.over(most)), 1);
  let guess = Math.min(Math.log1p(nearest(excess)), 700);
  while (!expLow(guess).below(ratio)) guess = next(guess, -1);
  while (expLow(guess).below(ratio)) guess = next(guess, 1);
  return guess;
}
