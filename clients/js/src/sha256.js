/**
 * SHA-256 and HMAC, of one go and without waiting.
 *
 * The browser's own (`crypto.subtle`) answers later only, and on https pages only. A report is drawn from words that are
 * derived one by one, within one transaction of the ledger, so the hash has to be there at once. No branch and no
 * memory access depends on the data.
 *
 * @module
 */

/** @param {number} power @returns {Uint32Array} the first 32 bits of the fractions of roots of the first 64 primes */
function roots(power) {
  const found = new Uint32Array(64);
  for (let number = 2, count = 0; count < 64; number += 1) {
    let prime = true;
    for (let factor = 2; factor * factor <= number; factor += 1) if (number % factor === 0) prime = false;
    if (prime) {
      const root = number ** (1 / power);
      found[count] = (root - Math.floor(root)) * 2 ** 32;
      count += 1;
    }
  }
  return found;
}

const ROUND = roots(3);
const START = roots(2).slice(0, 8);
const BLOCK = 64;
const WORDS = new Int32Array(64);

/** @param {number} x @param {number} n */
const turn = (x, n) => (x >>> n) | (x << (32 - n));

/**
 * One block into the state.
 *
 * @param {Uint32Array} state
 * @param {DataView} view
 * @param {number} offset
 */
function compress(state, view, offset) {
  const w = WORDS;
  for (let i = 0; i < 16; i += 1) w[i] = view.getInt32(offset + 4 * i);
  for (let i = 16; i < 64; i += 1) {
    const near = w[i - 2];
    const far = w[i - 15];
    const mixed = (turn(near, 17) ^ turn(near, 19) ^ (near >>> 10)) + (turn(far, 7) ^ turn(far, 18) ^ (far >>> 3));
    w[i] = mixed + w[i - 7] + w[i - 16];
  }
  let a = state[0] | 0;
  let b = state[1] | 0;
  let c = state[2] | 0;
  let d = state[3] | 0;
  let e = state[4] | 0;
  let f = state[5] | 0;
  let g = state[6] | 0;
  let h = state[7] | 0;
  for (let i = 0; i < 64; i += 1) {
    const first = (h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + (ROUND[i] | 0) + w[i]) | 0;
    const second = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + first) | 0;
    d = c;
    c = b;
    b = a;
    a = (first + second) | 0;
  }
  state[0] += a;
  state[1] += b;
  state[2] += c;
  state[3] += d;
  state[4] += e;
  state[5] += f;
  state[6] += g;
  state[7] += h;
}

/**
 * @param {Uint8Array} data
 * @param {Uint32Array} state after `before` bytes
 * @param {number} before a multiple of 64
 * @returns {Uint8Array}
 */
function finish(data, state, before) {
  const length = data.length;
  const padded = new Uint8Array(Math.ceil((length + 9) / BLOCK) * BLOCK);
  padded.set(data);
  padded[length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setBigUint64(padded.length - 8, BigInt(before + length) * 8n);
  const current = state.slice();
  for (let offset = 0; offset < padded.length; offset += BLOCK) compress(current, view, offset);
  const digest = new DataView(new ArrayBuffer(32));
  current.forEach((part, i) => digest.setUint32(4 * i, part));
  return new Uint8Array(digest.buffer);
}

/** @param {Uint8Array} data @returns {Uint8Array} 32 bytes */
export const sha256 = (data) => finish(data, START, 0);

/**
 * HMAC-SHA-256 with a key, as a function of the message.
 *
 * @param {Uint8Array} key
 * @returns {(message: Uint8Array) => Uint8Array}
 */
export function hmac(key) {
  const short = key.length > BLOCK ? sha256(key) : key;
  const [inner, outer] = [0x36, 0x5c].map((pad) => {
    const block = new Uint8Array(BLOCK).fill(pad);
    short.forEach((byte, i) => {
      block[i] ^= byte;
    });
    const state = START.slice();
    compress(state, new DataView(block.buffer), 0);
    return state;
  });
  return (message) => finish(finish(message, inner, BLOCK), outer, BLOCK);
}

/** @param {Uint8Array} data @returns {string} lower-case hexadecimal digits */
export const hex = (data) => Array.from(data, (byte) => byte.toString(16).padStart(2, "0")).join("");
