/** Unary encoding. */
import { Base, checkValue, form, register } from "../designs.js";
import { require } from "../errors.js";
import { WORD, bitsWidth, happens, packBits } from "../exact.js";

/** @import { Words } from "../types.js" */

/** Unary encoding: k independent bits, 1 with probability keep/2**64 (own value) or flip/2**64 (others). */
export class Unary extends Base {
  static kind = "unary";
  static fields = "k# keep% flip%";

  check() {
    require(this.flip < this.keep, "flip", this.flip, "less than keep");
  }

  /** Only the two bits that differ between two inputs count. */
  get levels() {
    return [this.flip, WORD - this.flip];
  }

  get width() {
    return bitsWidth(this.k);
  }

  get words() {
    return this.k;
  }

  /** @param {bigint} x @param {Words} words */
  randomise(x, words) {
    checkValue(x, this.k);
    return this.bits(Number(x), words);
  }

  /** @param {Words} words */
  blind(words) {
    return this.bits(-1, words);
  }

  /** @param {number} x @param {Words} words */
  bits(x, words) {
    const ones = [];
    for (let i = 0; i < this.k; i++) if (happens(i === x ? this.keep : this.flip, words)) ones.push(i);
    return packBits(ones, this.k);
  }
}

register([Unary], {
  "ue sue oue aue": form("unary", { p: "share keep" }),
  "the athe": form("unary", { theta: "number" }),
});
