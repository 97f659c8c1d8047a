/** Keys with signs, each by itself. */
import { register } from "../../designs.js";
import { ONE, Ratio, WORD, below, bitsWidth, chance, either, happens, join, largest, packBits } from "../../exact.js";
import { Signed, checkTurned } from "./pairs.js";

/** @import { Words } from "../../types.js" */

/** One of {+1, -1, 0} per key, independently: thresholds own (sign kept), flip (sign turned), other (not held, any). */
export class SignedUnary extends Signed {
  static kind = "signed-unary";
  static fields = "keys# own% flip% other%";
  favours = 0n;

  check() {
    super.check();
    checkTurned(this);
  }

  /** Between two keys the largest quotient own/other times the largest other/own; at one key, of both signs. */
  get ratio() {
    const [s, r, a] = [chance(this.own), chance(this.flip), new Ratio(this.other, 2n * WORD)];
    const none = [ONE.minus(s).minus(r), ONE.minus(chance(this.other))];
    const pairs = [[s, a], [r, a], none];
    const up = largest(pairs.map(([own, other]) => own.over(other)));
    const down = largest(pairs.map(([own, other]) => other.over(own)));
    return largest([up.times(down), either(s.over(r))]);
  }

  get width() {
    return 2 * bitsWidth(this.keys);
  }

  get words() {
    return 2n * this.keys;
  }

  /** @param {bigint} x @param {Words} words */
  randomise(x, words) {
    const [minus, key] = this.split(x);
    /** @type {bigint[][]} */
    const sides = [[], []];
    for (let i = 0n; i < this.keys; i++) {
      if (i === key) {
        const word = words.word();
        if (word < this.own + this.flip) sides[word < this.own ? minus : 1 - minus].push(i);
      } else if (happens(this.other, words)) sides[Number(below(2n, words))].push(i);
    }
    return join(sides.map((side) => packBits(side, this.keys)));
  }
}

register([SignedUnary]);
