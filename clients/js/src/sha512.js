/**
 * SHA-512 of one go, for signatures: short messages, of public things only.
 *
 * @module
 */

const MASK = (1n << 64n) - 1n;

/** The first 64 bits of the fractions of roots of the first primes. @param {number} count @param {bigint} power 2 or 3 */
function roots(count, power) {
  /** @type {bigint[]} */
  const primes = [];
  for (let number = 2n; primes.length < count; number += 1n) {
    if (primes.every((prime) => number % prime)) primes.push(number);
  }
  return primes.map((prime) => {
    let root = 0n; // below 2**69, since 409 has a cube root below 8 and 19 a square root below 5
    for (let bit = 1n << 68n; bit; bit >>= 1n) if ((root | bit) ** power <= prime << (64n * power)) root |= bit;
    return root & MASK;
  });
}

const ROUND = roots(80, 3n);
const START = roots(8, 2n);
const BLOCK = 128;

/** @param {bigint} x @param {bigint[]} by */
const turns = (x, ...by) => by.reduce((sum, n) => sum ^ (x >> n) ^ ((x << (64n - n)) & MASK), 0n);

/** @param {bigint[]} state @param {bigint[]} w the first 16 words @returns {bigint[]} */
function compress(state, w) {
  for (let i = 16; i < 80; i += 1) {
    const [near, far] = [w[i - 2], w[i - 15]];
    w[i] = (w[i - 7] + w[i - 16] + (turns(near, 19n, 61n) ^ (near >> 6n)) + (turns(far, 1n, 8n) ^ (far >> 7n))) & MASK;
  }
  let [a, b, c, d, e, f, g, h] = state;
  for (let i = 0; i < 80; i += 1) {
    const first = h + turns(e, 14n, 18n, 41n) + ((e & f) ^ (~e & MASK & g)) + ROUND[i] + w[i];
    const second = turns(a, 28n, 34n, 39n) + ((a & b) ^ (a & c) ^ (b & c));
    [a, b, c, d, e, f, g, h] = [(first + second) & MASK, a, b, c, (d + first) & MASK, e, f, g];
  }
  return [a, b, c, d, e, f, g, h].map((part, i) => (part + state[i]) & MASK);
}

/** @param {Uint8Array} data @returns {Uint8Array} 64 bytes */
export function sha512(data) {
  const padded = new Uint8Array(Math.ceil((data.length + 17) / BLOCK) * BLOCK);
  padded.set(data);
  padded[data.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setBigUint64(padded.length - 8, BigInt(data.length) * 8n);
  let state = START;
  for (let at = 0; at < padded.length; at += BLOCK) {
    state = compress(state, Array.from({ length: 16 }, (_, i) => view.getBigUint64(at + 8 * i)));
  }
  const digest = new DataView(new ArrayBuffer(64));
  state.forEach((part, i) => digest.setBigUint64(8 * i, part));
  return new Uint8Array(digest.buffer);
}
