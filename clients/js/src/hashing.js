/** The one hash: items to 32-bit values, h(x) = ((a mix(x) + b) mod 2**64) >> 32, from the 64-bit seed of a report. */
import { join, packInt, uintWidth } from "./exact.js";

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

/** A report: a seed and one of so many outputs. @param {bigint} seed @param {bigint} y @param {bigint} outputs */
export const seeded = (seed, y, outputs) => join([packInt(seed, 8), packInt(y, uintWidth(outputs))]);
