/** What several answers of a person have to do with each other: hashed to one bucket together. */
import { Base, checkK, checkSeedWords, checkValue, checkWhole, form, FORMS, register } from "../designs.js";
import { bitsWidth, join, packBits, packInt, subset } from "../exact.js";
import { split64 } from "../hashing.js";
import { permute } from "../permuting.js";
import { Subset } from "./subset.js";

/** @import { Words } from "../types.js" */

const QUESTIONS_MAX = 8n;
/** A report has a bit for each bucket. */
const BUCKETS_MAX = 1n << 12n;

/**
 * A fresh public seed, and `size` of g buckets: the sum of the answers' buckets with probability keep/2**64. A value is the
 * number of a cell, one answer to each question, the last question counting fastest. Where g does not divide the number of
 * answers, that is filled up with answers that nobody has.
 */
export class Interaction extends Base {
  static kind = "interaction";
  static fields = "sizes*# g size keep%";

  check() {
    checkWhole("number of questions", BigInt(this.sizes.length), 2n, QUESTIONS_MAX);
    checkK(this.k);
    checkWhole("g", this.g, 2n, BUCKETS_MAX);
    checkWhole("size", this.size, 1n, this.g - 1n);
  }

  get k() {
    return this.sizes.reduce((product, own) => product * own, 1n);
  }

  /** Those of subsets of the buckets; the seed looks at no value. */
  get reports() {
    return this.buckets.reports;
  }

  get levels() {
    return [this.size, this.g - this.size];
  }

  get buckets() {
    return new Subset(/** @type {any} */ ({ k: this.g, size: this.size, keep: this.keep }));
  }

  get words() {
    return this.size + 2n;
  }

  get width() {
    return 8 + bitsWidth(this.g);
  }

  /** Where the seed sends the cell. @param {bigint} x @param {bigint} coin */
  place(x, coin) {
    let sum = 0n;
    for (let i = this.sizes.length; i > 0; i--) {
      const own = this.sizes[i - 1];
      const padded = ((own + this.g - 1n) / this.g) * this.g;
      sum += permute(split64(coin, BigInt(i)), x % own, padded);
      x /= own;
    }
    return sum % this.g;
  }

  /** @param {bigint} x @param {Words} words */
  randomise(x, words) {
    checkSeedWords(words);
    return this.randomiseDealt(x, words.word(), words);
  }

  /** The same with a seed that was dealt. @param {bigint} x @param {bigint} coin @param {Words} words */
  randomiseDealt(x, coin, words) {
    checkValue(x, this.k);
    checkWhole("coin", coin, 0n, (1n << 64n) - 1n, "It is the seed that the collector dealt.");
    return join([packInt(coin, 8), this.buckets.randomise(this.place(x, coin), words)]);
  }

  /** @param {Words} words */
  blind(words) {
    return join([packInt(words.word(), 8), packBits(subset(this.g, this.size, words), this.g)]);
  }
}

register([Interaction], { interaction: form("interaction", { sizes: "same sizes", g: "whole g", size: "whole size" }) }, [FORMS]);
