/** Sets of keys with signs. */
import { register } from "../../designs.js";
import { below, bitsWidth, happens, join, packBits, subset } from "../../exact.js";
import { SignedSet } from "./pairs.js";

/** @import { Words } from "../../types.js" */

/** `size` different keys, each with a sign; the own signed key is among them with probability keep/2**64. */
export class SignedSubset extends SignedSet {
  static kind = "signed-subset";

  get width() {
    return 2 * bitsWidth(this.keys);
  }

  get words() {
    return 2n * this.size + 2n;
  }

  /** @param {bigint} x @param {Words} words */
  randomise(x, words) {
    const [minus, key] = this.split(x);
    const kept = happens(this.keep, words);
    const turned = !kept && below(2n * this.keys - this.size, words) < this.size;
    const others = subset(this.keys - 1n, kept || turned ? this.size - 1n : this.size, words);
    /** @type {bigint[][]} */
    const sides = [[], []];
    for (const i of [...others].sort((a, b) => (a < b ? -1 : 1))) {
      sides[Number(below(2n, words))].push(i >= key ? i + 1n : i);
    }
    if (kept || turned) sides[kept ? minus : 1 - minus].push(key);
    return join(sides.map((side) => packBits(side, this.keys)));
  }
}

register([SignedSubset]);
