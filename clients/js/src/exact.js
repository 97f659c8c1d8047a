/** Exact numbers: ratios, bounds of e^epsilon, draws from random words, integers as bytes. No float decides. */
import { EntropyError, PrivacyError, require } from "./errors.js";

/** @import { Words } from "./types.js" */

export const EPSILON_MAX = 40;
export const EPSILON_MIN = 1e-12;
const GUARD_BITS = 192;

/** 2**64: a threshold is a whole number between 0 and this. */
export const WORD = 1n << 64n;

/** A quotient of whole numbers; `bottom` is above 0. */
export class Ratio {
  /** @param {bigint} top @param {bigint} [bottom] */
  constructor(top, bottom = 1n) {
    this.top = top;
    this.bottom = bottom;
  }

  /** @param {Ratio} other */
  plus(other) {
    return new Ratio(this.top * other.bottom + other.top * this.bottom, this.bottom * other.bottom);
  }

  /** @param {Ratio} other */
  minus(other) {
    return this.plus(new Ratio(-other.top, other.bottom));
  }

  /** @param {Ratio} other */
  times(other) {
    return new Ratio(this.top * other.top, this.bottom * other.bottom);
  }

  /** @param {Ratio} other above 0 */
  over(other) {
    return new Ratio(this.top * other.bottom, this.bottom * other.top);
  }

  /** @param {Ratio} other */
  below(other) {
    return this.top * other.bottom < other.top * this.bottom;
  }

  /** Nearly, for messages. */
  toString() {
    return `${Number((this.top * 1000n) / this.bottom) / 1000}`;
  }
}

export const ONE = new Ratio(1n);

/** A threshold as a chance. @param {bigint} threshold */
export const chance = (threshold) => new Ratio(threshold, WORD);

/** The largest of some ratios. @param {Ratio[]} ratios */
export const largest = (ratios) => ratios.reduce((a, b) => (a.below(b) ? b : a));

/** @param {bigint[]} numbers */
export const least = (numbers) => numbers.reduce((a, b) => (b < a ? b : a));

/** @param {bigint[]} numbers */
export const most = (numbers) => numbers.reduce((a, b) => (b > a ? b : a));

/** A ratio or its inverse, whichever is at least 1. @param {Ratio} ratio */
export const either = (ratio) => (ratio.below(ONE) ? ONE.over(ratio) : ratio);

/**
 * How many times as likely each of `own` answers is, which come with chance keep/2**64, as each of the rest.
 * @param {bigint} keep @param {bigint} own @param {bigint} rest
 */
export const twoLevelLift = (keep, own, rest) => new Ratio(keep * rest, (WORD - keep) * own);

/** The exact value of a float. @param {number} x */
export function exactly(x) {
  let bits = 0n;
  for (; !Number.isInteger(x); bits++) x *= 2;
  return new Ratio(BigInt(x), 1n << bits);
}

/** @param {number} epsilon */
export function checkEpsilon(epsilon) {
  require(EPSILON_MIN <= epsilon && epsilon <= 700, "epsilon", epsilon, `a number from ${EPSILON_MIN} to 700`);
  if (epsilon > EPSILON_MAX) {
    const hint = "A 64-bit threshold cannot express rarer answers.";
    throw new PrivacyError(`epsilon must be at most ${EPSILON_MAX} to draw reports, got ${epsilon}.`, hint);
  }
  return epsilon;
}

/** @type {Map<number, Ratio>} */
const known = new Map();

/** At most e^x, and nearer to it than 190 bits: the Taylor series in fixed point, with all terms rounded down. @param {number} x */
export function expLow(x) {
  const found = known.get(x);
  if (found) return found;
  require(0 <= x && x <= 700, "x", x, "between 0 and 700");
  const { top, bottom } = exactly(x);
  const one = 1n << BigInt(GUARD_BITS + Math.ceil(1.45 * x));
  let [sum, term] = [0n, one];
  for (let n = 1n; term; n++) {
    sum += term;
    term = (term * top) / (bottom * n);
  }
  const low = new Ratio(sum, one);
  if (known.size > 999) known.clear();
  known.set(x, low);
  return low;
}

// ---- random words

/** Node 18 has randomness in a module only; the one place that names it. */
const place = "node:crypto";

/** The randomness of the browser, of Node, or of what else runs this. @type {Crypto} */
export const webCrypto = globalThis.crypto ?? (await import(/* webpackIgnore: true */ /* @vite-ignore */ place)).webcrypto;

/** 64-bit words of the system's generator; `EntropyError` if it has none, and nothing is drawn. */
export class SystemWords {
  bits = 64;

  word() {
    try {
      return webCrypto.getRandomValues(new BigUint64Array(1))[0];
    } catch (cause) {
      throw new EntropyError("the system gave no randomness; no report was made.", "", { cause });
    }
  }
}

/** True with probability exactly threshold/2**bits. @param {bigint} threshold @param {Words} words */
export const happens = (threshold, words) => words.word() < threshold;

/** Uniform on 0..n-1, exactly: words that would favour some numbers are drawn again. @param {bigint} n @param {Words} words */
export function below(n, words) {
  const bits = BigInt(words.bits);
  const size = 1n << bits;
  require(0n < n && n <= size, "n", n, `between 1 and 2**${bits}`);
  for (;;) {
    const product = words.word() * n;
    if ((product & (size - 1n)) >= size % n) return product >> bits;
  }
}

/** A uniform number of 0..k-1 other than x. @param {bigint} x @param {bigint} k @param {Words} words */
export function otherThan(x, k, words) {
  const r = below(k - 1n, words);
  return r >= x ? r + 1n : r;
}

/** A uniform subset of {0..n-1} with `size` elements (Floyd's method). @param {bigint} n @param {bigint} size @param {Words} words */
export function subset(n, size, words) {
  require(0n <= size && size <= n, "size", size, `between 0 and ${n}`);
  const chosen = new Set();
  for (let last = n - size; last < n; last++) {
    const pick = below(last + 1n, words);
    chosen.add(chosen.has(pick) ? last : pick);
  }
  return /** @type {Set<bigint>} */ (chosen);
}

// ---- one report as bytes of constant length: unsigned integers, little-endian, and bit sets, lowest bit first

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

/** A subset of {0..k-1}: item i is bit i % 8 of byte i // 8. @param {Iterable<bigint | number>} items @param {bigint} k */
export function packBits(items, k) {
  const out = new Uint8Array(bitsWidth(k));
  for (const item of items) out[Math.floor(Number(item) / 8)] |= 1 << Number(item) % 8;
  return out;
}

/** Parts as one, with zeros up to `width`; there may be more of them than a call can have arguments. @param {Uint8Array[]} parts */
export function join(parts, width = parts.reduce((sum, part) => sum + part.length, 0)) {
  const out = new Uint8Array(width);
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}
