/** Kernels with a public seed: local hashing. */
import { Base, checkSeedWords, checkValue, checkWhole, form, register } from "../designs.js";
import { below, happens, otherThan, uintWidth } from "../exact.js";
import { bucket, seeded } from "../hashing.js";

/** @import { Words } from "../types.js" */

/** A kernel whose report begins with a public seed, fresh or dealt beforehand; one of `outputs` numbers follows. */
export class Seeded extends Base {
  words = 3n;

  get width() {
    return 8 + uintWidth(this.outputs);
  }

  /** @param {bigint} x @param {Words} words */
  randomise(x, words) {
    checkSeedWords(words);
    return this.randomiseDealt(x, words.word(), words);
  }

  /** The same with a seed that was dealt. @param {bigint} x @param {bigint} coin @param {Words} words @returns {Uint8Array} */
  randomiseDealt(x, coin, words) {
    checkValue(x, this.k);
    checkWhole("coin", coin, 0n, (1n << 64n) - 1n, "It is the seed that the collector dealt.");
    return seeded(coin, /** @type {any} */ (this).spread(x, coin, words), this.outputs);
  }

  /** @param {Words} words */
  blind(words) {
    return seeded(words.word(), below(this.outputs, words), this.outputs);
  }
}

/** Local hashing: a fresh public seed, then randomised response on the hash value in 0..g-1. */
export class Hashing extends Seeded {
  static kind = "hashing";
  static fields = "k# g keep%";
  /** Buckets may hold all. @type {bigint | undefined} */
  favours = 0n;

  /** With 32-bit hash values every bucket must be non-empty. */
  check(most = 1n << 31n) {
    checkWhole("g", (this.outputs = this.g), 2n, most);
  }

  get reports() {
    return [1n, this.g - 1n];
  }

  /** Where the seed sends the value. @param {bigint} x @param {bigint} coin */
  place(x, coin) {
    return bucket(coin, x, this.g);
  }

  /** @param {bigint} x @param {bigint} coin @param {Words} words */
  spread(x, coin, words) {
    const own = this.place(x, coin);
    return happens(this.keep, words) ? own : otherThan(own, this.g, words);
  }
}

register([Hashing], { "lh blh olh alh": form("hashing", { g: "whole g" }) });
