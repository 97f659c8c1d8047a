/** One report as bytes of constant length: unsigned integers, little-endian, and bit sets, lowest bit first. */

/** Bytes (1, 2, 4 or 8) of the smallest unsigned type that holds 0..count-1. @param {bigint} count */
export const uintWidth = (count) => (count <= 256n ? 1 : count <= 65536n ? 2 : count <= 1n << 32n ? 4 : 8);

/** Bytes of a set of `k` bits. @param {bigint} k */
export const bitsWidth = (k) => Number((k + 7n) / 8n);

/** An unsigned integer in `width` bytes. @param {bigint} value @param {number} width */
export function packInt(value, width) {
  const out = new Uint8Array(width);
  for (let i = 0; i < width; i++, value >>= 8n) out[i] = Number(value & 255n);
  return out;
}

/**
 * A subset of {0..k-1}: item i is bit i % 8 of byte i // 8; the padding is zero.
 * @param {Iterable<bigint | number>} items @param {bigint} k
 */
export function packBits(items, k) {
  const out = new Uint8Array(bitsWidth(k));
  for (const item of items) out[Math.floor(Number(item) / 8)] |= 1 << Number(item) % 8;
  return out;
}

/** Several parts as one. @param {Uint8Array[]} parts */
export function join(...parts) {
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}
