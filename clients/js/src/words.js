/** Random words for one report: from the system, or replayed for test vectors. */
import { EntropyError, ParameterError, require } from "./errors.js";
import { webCrypto } from "./random.js";

/** @typedef {{bits: number, word(): bigint}} Words where random words come from; `bits` is their size */

/** 64-bit words of the system's generator. If it fails, nothing is drawn. */
export class SystemWords {
  bits = 64;

  /** The next word; `EntropyError` if the system has none. */
  word() {
    try {
      return webCrypto.getRandomValues(new BigUint64Array(1))[0];
    } catch (cause) {
      throw new EntropyError("the system gave no randomness; no report was made.", "", { cause });
    }
  }
}

/** Words given beforehand: for test vectors and exhaustive tests only. */
export class ReplayWords {
  /** @param {Iterable<bigint>} words @param {number} [bits] */
  constructor(words, bits = 64) {
    this.bits = bits;
    this.left = words[Symbol.iterator]();
  }

  /** The next given word; `ParameterError` when they are used up. */
  word() {
    const { done, value } = this.left.next();
    if (done) throw new ParameterError("the given words are used up.", "Give more of them.");
    const ok = typeof value === "bigint" && 0n <= value && value >> BigInt(this.bits) === 0n;
    require(ok, "word", value, `an unsigned ${this.bits}-bit integer (a BigInt)`);
    return value;
  }
}

/** True with probability exactly threshold/2**bits. @param {bigint} threshold @param {Words} words */
export const happens = (threshold, words) => words.word() < threshold;

/**
 * Uniform on 0..n-1, exactly: words that would favour some numbers are drawn again.
 * @param {bigint} n @param {Words} words
 */
export function below(n, words) {
  const bits = BigInt(words.bits);
  const size = 1n << bits;
  require(0n < n && n <= size, "n", n, `between 1 and 2**${bits}`);
  for (;;) {
    const product = words.word() * n;
    if ((product & (size - 1n)) >= size % n) return product >> bits;
  }
}

/**
 * A uniform subset of {0..n-1} with `size` elements (Floyd's method).
 * @param {bigint} n @param {bigint} size @param {Words} words
 */
export function subset(n, size, words) {
  require(0n <= size && size <= n, "size", size, `between 0 and ${n}`);
  const chosen = new Set();
  for (let last = n - size; last < n; last++) {
    const pick = below(last + 1n, words);
    chosen.add(chosen.has(pick) ? last : pick);
  }
  return /** @type {Set<bigint>} */ (chosen);
}
