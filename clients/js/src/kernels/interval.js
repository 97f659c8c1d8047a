/** Subset selection in few bits: neighbours on a ring, under a keyed permutation. */
import { Base, checkSeedWords, checkValue, checkWhole, form, register } from "../designs.js";
import { below, happens, uintWidth } from "../exact.js";
import { seeded } from "../hashing.js";
import { permute } from "../permuting.js";

/** @import { Words } from "../types.js" */

/** Subset selection in a seed and log2 k bits: `size` neighbouring positions on a ring of k, under a permutation. */
export class Interval extends Base {
  static kind = "interval";
  static fields = "k# size keep%";
  words = 3n;
  even = true;

  check() {
    checkWhole("size", this.size, 1n, this.k - 1n);
  }

  get favours() {
    return this.size;
  }

  get reports() {
    return [this.size, this.k - this.size];
  }

  get width() {
    return 8 + uintWidth(this.k);
  }

  /** @param {bigint} x @param {Words} words */
  randomise(x, words) {
    checkValue(x, this.k);
    checkSeedWords(words);
    const seed = words.word();
    const kept = happens(this.keep, words);
    const back = kept ? below(this.size, words) : this.size + below(this.k - this.size, words);
    return seeded(seed, (permute(seed, x, this.k) - back + this.k) % this.k, this.k);
  }

  /** @param {Words} words */
  blind(words) {
    return seeded(words.word(), below(this.k, words), this.k);
  }
}

register([Interval], { iss: form("interval", { size: "whole size" }) });
