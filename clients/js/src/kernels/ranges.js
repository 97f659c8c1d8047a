/** Half-open ranges of sensitive values, by their ends: (start, end, start, end, ...). */
import { require } from "../errors.js";

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
