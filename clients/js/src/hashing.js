/** The one hash: items to 32-bit values, h(x) = ((a mix(x) + b) mod 2**64) >> 32, from the 64-bit seed of a report. */

const M64 = (1n << 64n) - 1n;

/** A fixed public bijection of 32-bit integers. @param {number} x */
export function mix32(x) {
  x = Math.imul(x ^ (x >>> 16), 0x7feb352d);
  x = Math.imul(x ^ (x >>> 15), 0x846ca68b);
  return (x ^ (x >>> 16)) >>> 0;
}

/** The i-th output (from 1) of a splitmix64 started at `seed`. @param {bigint} seed @param {bigint} i */
export function split64(seed, i) {
  let z = (seed + i * 0x9e3779b97f4a7c15n) & M64;
  z = ((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n) & M64;
  z = ((z ^ (z >> 27n)) * 0x94d049bb133111ebn) & M64;
  return z ^ (z >> 31n);
}

/** The 32-bit hash value of item `x` under `seed`. @param {bigint} seed @param {bigint} x */
export function hash32(seed, x) {
  return ((split64(seed, 1n) * BigInt(mix32(Number(x))) + split64(seed, 2n)) & M64) >> 32n;
}

/** The hash value of `x` brought to {0..g-1}. @param {bigint} seed @param {bigint} x @param {bigint} g */
export const bucket = (seed, x, g) => (hash32(seed, x) * g) >> 32n;

/**
 * The position of item `x` of 0..k-1 under the keyed permutation of `seed`: a Feistel network on pairs (left, right) with
 * left < a and right < b; results outside 0..k-1 are permuted again.
 * @param {bigint} seed
 * @param {bigint} x
 * @param {bigint} k
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
