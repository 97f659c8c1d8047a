/**
 * Whether an Ed25519 signature (RFC 8032) holds, in whole numbers and at once.
 *
 * All of it is public, so nothing here hides how long it takes. The equation is S B = R + k A, without the cofactor; what is
 * refused besides: S not below the order, points that are not in their shortest form, keys of small order.
 *
 * @module
 */

/** @typedef {[bigint, bigint, bigint, bigint]} Point X, Y, Z, T with x = X/Z, y = Y/Z, x y = T/Z */

const P = (1n << 255n) - 19n;
const ORDER = (1n << 252n) + 27742317777372353535851937790883648493n;
const SIGN = 1n << 255n;

/** @param {bigint} x */
const mod = (x) => ((x %= P) < 0n ? x + P : x);

/** @param {bigint} base @param {bigint} power */
function raised(base, power) {
  let result = 1n;
  for (; power; power >>= 1n) {
    if (power & 1n) result = (result * base) % P;
    base = (base * base) % P;
  }
  return result;
}

const D = mod(-121665n * raised(121666n, P - 2n));
const ROOT = raised(2n, (P - 1n) / 4n); // of -1
/** @type {Point} */
const ZERO = [0n, 1n, 1n, 0n];
const BASE = /** @type {Point} */ (point(mod(4n * raised(5n, P - 2n))));

/** @param {Point} a @param {Point} b @returns {Point} their sum; the law is complete, so it doubles too */
function plus([x1, y1, z1, t1], [x2, y2, z2, t2]) {
  const a = mod((y1 - x1) * (y2 - x2));
  const b = mod((y1 + x1) * (y2 + x2));
  const c = mod(2n * D * t1 * t2);
  const d = mod(2n * z1 * z2);
  const [e, f, g, h] = [b - a, d - c, d + c, b + a];
  return [mod(e * f), mod(g * h), mod(f * g), mod(e * h)];
}

/** The point with these 256 bits (y, and whether x is odd), null if there is none or this is not its shortest form. @param {bigint} bits */
function point(bits) {
  const y = bits & (SIGN - 1n);
  if (y >= P) return null;
  const [u, v] = [mod(y * y - 1n), mod(D * y * y + 1n)];
  let x = (u * v ** 3n * raised(u * v ** 7n % P, (P - 5n) / 8n)) % P;
  if (mod(v * x * x - u)) x = (x * ROOT) % P;
  if (mod(v * x * x - u) || (!x && bits & SIGN)) return null;
  if (x & 1n ? !(bits & SIGN) : bits & SIGN) x = P - x;
  return /** @type {Point} */ ([x, y, 1n, (x * y) % P]);
}

/** @param {Point} point @returns {bigint} its 256 bits */
function bitsOf([x, y, z]) {
  const inverse = raised(z, P - 2n);
  return mod(y * inverse) | ((mod(x * inverse) & 1n) << 255n);
}

/** @param {Uint8Array} bytes the lowest first */
const number = (bytes) => bytes.reduceRight((sum, byte) => (sum << 8n) | BigInt(byte), 0n);

/**
 * @param {Uint8Array} key 32 bytes
 * @param {Uint8Array} message
 * @param {Uint8Array} signature 64 bytes
 * @returns {boolean} whether the owner of the key signed the message
 */
export function verified(key, message, signature) {
  if (key.length !== 32 || signature.length !== 64) return false;
  const [start, scalar] = [signature.subarray(0, 32), number(signature.subarray(32))];
  const own = point(number(key));
  if (!own || scalar >= ORDER) return false;
  const eighth = [0, 1, 2].reduce((sum) => plus(sum, sum), own);
  if (bitsOf(eighth) === 1n) return false;
  const hashed = new Uint8Array(64 + message.length);
  hashed.set(start);
  hashed.set(key, 32);
  hashed.set(message, 64);
  const factor = number(sha512(hashed)) % ORDER;
  const [x, y, z, t] = own;
  /** @type {Point} */
  const minus = [P - x, y, z, P - t];
  const sums = [ZERO, BASE, minus, plus(BASE, minus)];
  let sum = ZERO;
  for (let i = 252n; i >= 0n; i -= 1n) {
    sum = plus(plus(sum, sum), sums[Number(((scalar >> i) & 1n) + 2n * ((factor >> i) & 1n))]);
  }
  return bitsOf(sum) === number(start); // a start that is not the shortest form of a point is never met
}

// ---- SHA-512 of one go, for short messages

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
