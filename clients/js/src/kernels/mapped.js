/** Harmless values whose reports are made of a uniform sensitive one. */
import { Ratio, chance, most } from "../exact.js";
import { Utility, shareOf } from "./utility.js";

/**
 * The largest quotient of a report's likelihoods given some value, and on average over all k values, m of which share the largest
 * one. @param {any} kernel
 */
Utility.mappedPeak = (kernel) => {
  if (kernel.mappedPeak) return kernel.mappedPeak;
  /** @type {{k: bigint, ratio: Ratio}} */
  const { k, ratio } = kernel;
  const m = favoured(kernel);
  return new Ratio(k * ratio.top, m * ratio.top + (k - m) * ratio.bottom);
};

/**
 * That m: 1 unless all reports support equally many values, or points of which all but some are values.
 * @param {any} kernel @returns {bigint}
 */
function favoured(kernel) {
  const { k, keep, even, blocks } = kernel;
  if (blocks) {
    const { levels, lift } = kernel;
    return most([1n, /** @type {any} */ (levels[lift.top >= lift.bottom ? 0 : 1] - (blocks[0] - k))]);
  }
  if (!even) return 1n;
  const share = shareOf(kernel);
  const part = k * share.top;
  return chance(keep).below(share) ? k - (part + share.bottom - 1n) / share.bottom : part / share.bottom;
}
