/** Kernels on signed keys, as `keyvalue.js` has them: sets of keys with signs, and independent positions. */
import { require } from "../errors.js";
import { ONE, Ratio, WORD, either, largest, twoLevelLift } from "../exact.js";
import { bitsWidth, join, packBits } from "../packing.js";
import { below, happens, subset } from "../words.js";
import { Kernel, checkK, checkThreshold, checkValue, checkWhole, register } from "./contract.js";

/** @typedef {import("../words.js").Words} Words */
/** @typedef {import("./contract.js").Parts} Parts */

/** @param {bigint} number */
export const share = (number) => new Ratio(number, WORD);

/** A kernel on signed keys. */
export class Signed extends Kernel {
  get k() {
    return 2n * /** @type {any} */ (this).keys;
  }

  /** Whether the sign is -1, and the key. @param {bigint} x @returns {[number, bigint]} */
  split(x) {
    checkValue(x, this.k);
    const { keys } = /** @type {any} */ (this);
    return [Number(x / keys), x % keys];
  }
}

/** Sets of `size` signed keys, against people who have none of them. @param {Ratio} lift @param {bigint} size @param {bigint} length */
export function paddedSets(lift, size, length) {
  return either(ONE.plus(lift.minus(ONE).times(new Ratio(size < length ? size : length, length))));
}

/** One of {+1, -1, 0} per key, independently: thresholds own (sign kept), flip (sign turned), other (not held, any). */
export class SignedUnary extends Signed {
  static kind = "signed-unary";
  static fields = "keys own flip other";

  constructor(/** @type {Parts} */ { keys, own, flip, other }) {
    super();
    checkK((this.keys = keys));
    checkThreshold("own", (this.own = own));
    checkThreshold("flip", (this.flip = flip));
    checkThreshold("other", (this.other = other));
    require(own + flip < WORD, "own + flip", own + flip, "below 2**64");
  }

  /** Between two keys the largest quotient own/other times the largest other/own; at one key, of both signs. */
  get ratio() {
    const [s, r, a] = [share(this.own), share(this.flip), new Ratio(this.other, 2n * WORD)];
    const none = [ONE.minus(s).minus(r), ONE.minus(share(this.other))];
    const pairs = [[s, a], [r, a], none];
    const up = largest(pairs.map(([own, other]) => own.over(other)));
    const down = largest(pairs.map(([own, other]) => other.over(own)));
    return largest([up.times(down), either(s.over(r))]);
  }

  /** Positions that are independent gain nothing by padding. */
  padded() {
    return this.ratio;
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
    return join(packBits(sides[0], this.keys), packBits(sides[1], this.keys));
  }
}

/** `size` different keys, each with a sign; the own signed key is among them with probability keep/2**64. */
export class SignedSubset extends Signed {
  static kind = "signed-subset";
  static fields = "keys size keep";

  constructor(/** @type {Parts} */ { keys, size, keep }) {
    super();
    checkK((this.keys = keys));
    checkWhole("size", (this.size = size), 1n, keys);
    checkThreshold("keep", (this.keep = keep));
  }

  get lift() {
    return twoLevelLift(this.keep, this.size, 2n * this.keys - this.size);
  }

  get ratio() {
    return either(this.lift);
  }

  /** Exact ratio between sets of pairs, fewer of which are in a small set. @param {bigint} keys @param {bigint} length */
  padded(keys, length) {
    return paddedSets(this.lift, this.size, length);
  }

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
    return join(packBits(sides[0], this.keys), packBits(sides[1], this.keys));
  }
}

register([SignedUnary, SignedSubset]);
