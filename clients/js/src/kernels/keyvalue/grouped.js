/** Key-value kernels of two groups: some people speak of keys only, the others of keys with signs. */
import { Kernel, checkPlain, checkValue, register } from "../../designs.js";
import { require } from "../../errors.js";
import { ONE, Ratio, either, happens, join, largest, most } from "../../exact.js";
import { paddedRatio } from "./pairs.js";

/** @import { Words } from "../../types.js" */

/** A kernel on keys that does not look at the sign. */
export class KeysOnly extends Kernel {
  static kind = "keys-only";
  static fields = "base@";

  check() {
    checkPlain("a kernel on keys", this.base);
    this.k = 2n * this.base.k;
  }

  get ratio() {
    return this.base.ratio;
  }

  /** @param {bigint} keys @param {bigint} length */
  padded(keys, length) {
    const size = this.base.favours;
    return size ? paddedKeys(this.base.lift, size, keys, length) : this.base.ratio;
  }

  get width() {
    return this.base.width;
  }

  get words() {
    return this.base.words;
  }

  /** @param {bigint} x @param {Words} words */
  randomise(x, words) {
    checkValue(x, this.k);
    return this.base.randomise(x % this.base.k, words);
  }
}

/** A deal of two parts with the same input (`dealt.js`): the second one with probability coin/2**64, for the low words. */
export class Grouped extends Kernel {
  static kind = "grouped";
  static fields = "first@ second@ coin%";

  check() {
    const { first, second } = this;
    checkPlain("a group", first, second);
    require(first.k === second.k, "k of both groups", [first.k, second.k], "the same");
    this.k = first.k;
  }

  get ratio() {
    return largest([this.first.ratio, this.second.ratio]);
  }

  /** @param {bigint} keys @param {bigint} length @returns {Ratio} */
  padded(keys, length) {
    return largest([this.first, this.second].map((part) => paddedRatio(part, keys, length)));
  }

  get width() {
    return 1 + Math.max(this.first.width, this.second.width);
  }

  get words() {
    return 1n + most([this.first.words, this.second.words]);
  }

  /** @param {bigint} x @param {Words} words */
  randomise(x, words) {
    const second = happens(this.coin, words);
    return join([Uint8Array.of(second ? 1 : 0), (second ? this.second : this.first).randomise(x, words)], this.width);
  }
}

/**
 * Sets of keys: `held` of them real, the rest dummies, which may not be avoided where there are few keys.
 * @param {Ratio} lift @param {bigint} size @param {bigint} keys @param {bigint} length
 */
function paddedKeys(lift, size, keys, length) {
  const gain = lift.minus(ONE);
  let worst = ONE;
  for (let held = size > length ? size - length : 0n; held <= size && held <= keys; held++) {
    const most = held < length ? held : length;
    const least = keys - held < length ? keys - held : length;
    const square = length * length;
    const high = ONE.plus(gain.times(new Ratio(most * length + (length - most) * (size - held), square)));
    const low = ONE.plus(gain.times(new Ratio((length - least) * (size - held), square)));
    worst = largest([worst, either(high.over(low))]);
  }
  return worst;
}

register([KeysOnly, Grouped]);
