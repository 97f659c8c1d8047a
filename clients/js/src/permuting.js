/** A keyed permutation of items, from the 64-bit seed of a report. */
import { mix32, split64 } from "./hashing.js";

/**
 * The position of item `x` of 0..k-1 under the keyed permutation of `seed`: a Feistel network on pairs (left, right) with
 * left < a and right < b; results outside 0..k-1 are permuted again.
 * @param {bigint} seed @param {bigint} x @param {bigint} k
 */
export function permute(seed, x, k) {
  const count = Number(k);
  const a = Math.floor(Math.sqrt(count - 1)) + 1;
  let b = Math.ceil(count / a);
  b += b % 2;
  const keys = Array.from({ length: count < 1024 ? 24 : 12 }, (_, r) => Number(split64(seed, BigInt(r + 3)) >> 32n));
  let y = Number(x);
  do {
    let left = Math.floor(y / b);
    let right = y % b;
    keys.forEach((key, r) => {
      if (r % 2) right = (right + Math.floor((mix32(left ^ key) * b) / 2 ** 32)) % b;
      else left = (left + Math.floor((mix32(right ^ key) * a) / 2 ** 32)) % a;
    });
    y = left * b + right;
  } while (y >= count);
  return BigInt(y);
}
