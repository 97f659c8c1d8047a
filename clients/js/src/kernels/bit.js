/** A level report of one bit, which says no more than a mean needs. */
import { Kernel, checkK, checkValue, register } from "../designs.js";
import { Ratio, WORD, happens, largest, least, most, packInt } from "../exact.js";

/** @import { Words } from "../types.js" */

/** One bit: 1 with probability chances[x]/2**64 for value x. */
export class Bit extends Kernel {
  static kind = "bit";
  static fields = "chances*%";
  width = 1;
  words = 1n;

  check() {
    checkK((this.k = BigInt(this.chances.length)));
  }

  get ratio() {
    const [low, high] = [least(this.chances), most(this.chances)];
    return largest([new Ratio(high, low), new Ratio(WORD - low, WORD - high)]);
  }

  /** @param {bigint} x @param {Words} words */
  randomise(x, words) {
    checkValue(x, this.k);
    return packInt(happens(this.chances[Number(x)], words) ? 1n : 0n, 1);
  }
}

register([Bit]);
