/** Subset selection. */
import { Base, checkValue, checkWhole, form, register } from "../designs.js";
import { bitsWidth, happens, packBits, subset } from "../exact.js";

/** @import { Words } from "../types.js" */

/** Subset selection: `size` values, the own one among them with probability keep/2**64, as bits. */
export class Subset extends Base {
  static kind = "subset";
  static fields = "k# size keep%";
  even = true;

  check() {
    checkWhole("size", this.size, 1n, this.k - 1n);
  }

  /** Sets that hold a value, and sets that do not. */
  get reports() {
    const others = this.k - this.size;
    let own = 1n;
    for (let i = 1n; i < this.size; i++) own = (own * (others + i)) / i;
    return [own, (own * others) / this.size];
  }

  get favours() {
    return this.size;
  }

  get levels() {
    return [this.size, this.k - this.size];
  }

  get width() {
    return bitsWidth(this.k);
  }

  get words() {
    return this.size + 1n;
  }

  /** @param {bigint} x @param {Words} words */
  randomise(x, words) {
    checkValue(x, this.k);
    const kept = happens(this.keep, words);
    const others = subset(this.k - 1n, kept ? this.size - 1n : this.size, words);
    const chosen = Array.from(others, (i) => (i >= x ? i + 1n : i));
    return packBits(kept ? [...chosen, x] : chosen, this.k);
  }

  /** @param {Words} words */
  blind(words) {
    return packBits(subset(this.k, this.size, words), this.k);
  }
}

register([Subset], { "ss ass": form("subset", { size: "whole size" }) });
