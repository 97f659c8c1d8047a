/** Kernels with a public seed: local hashing, balanced hashing by a keyed permutation, the wheel, permuted intervals. */
import { bucket, hash32, permute } from "../hashing.js";
import { join, packInt, uintWidth } from "../packing.js";
import { below, happens } from "../words.js";
import { Subset } from "./basic.js";
import {
  Base,
  checkK,
  checkSeedWords,
  checkThreshold,
  checkValue,
  checkWhole,
  favoured,
  form,
  otherThan,
  register,
} from "./contract.js";

/** @typedef {import("../words.js").Words} Words */
/** @typedef {import("./contract.js").Parts} Parts */

/** A seed and one of so many outputs. @param {bigint} seed @param {bigint} y @param {bigint} outputs */
export const seeded = (seed, y, outputs) => join(packInt(seed, 8), packInt(y, uintWidth(outputs)));

/** The same without any value: all outputs alike. @param {bigint} outputs @param {Words} words */
const anyOf = (outputs, words) => seeded(words.word(), below(outputs, words), outputs);

/** A kernel whose report begins with a public seed: a fresh one, or one that was dealt beforehand. */
class Seeded extends Base {
  get words() {
    return 3n;
  }

  /** @param {bigint} x @param {Words} words */
  randomise(x, words) {
    checkSeedWords(words);
    return this.randomiseDealt(x, words.word(), words);
  }

  /**
   * `randomise` with a public seed that was dealt without looking at the value.
   * @param {bigint} x @param {bigint} coin @param {Words} words @returns {Uint8Array}
   */
  randomiseDealt(x, coin, words) {
    checkValue(x, /** @type {any} */ (this).k);
    checkWhole("coin", coin, 0n, (1n << 64n) - 1n, "It is the seed that the collector dealt.");
    return /** @type {any} */ (this).spread(x, coin, words);
  }
}

/** Local hashing: a fresh public seed, then randomised response on the hash value in 0..g-1. */
export class Hashing extends Seeded {
  static kind = "hashing";
  static fields = "k g keep";

  constructor(/** @type {Parts} */ { k, g, keep }) {
    super();
    checkK((this.k = k));
    checkWhole("g", (this.g = g), 2n, this.most);
    checkThreshold("keep", (this.keep = keep));
  }

  /** The largest g: with 32-bit hash values every bucket must be non-empty. */
  get most() {
    return 1n << 31n;
  }

  /** @type {[bigint, bigint]} */
  get levels() {
    return [1n, this.g - 1n];
  }

  get width() {
    return 8 + uintWidth(this.g);
  }

  /** Where the seed sends the value. @param {bigint} x @param {bigint} coin */
  place(x, coin) {
    return bucket(coin, x, this.g);
  }

  /** @param {bigint} x @param {bigint} coin @param {Words} words */
  spread(x, coin, words) {
    const own = this.place(x, coin);
    return seeded(coin, happens(this.keep, words) ? own : otherThan(own, this.g, words), this.g);
  }

  /** @param {Words} words */
  blind(words) {
    return anyOf(this.g, words);
  }
}

/** Balanced hashing: a keyed permutation cut into g blocks, then randomised response on the block's number. */
export class Balanced extends Hashing {
  static kind = "balanced";

  /** More blocks than items would be empty. */
  get most() {
    return this.k;
  }

  get least() {
    return favoured(this);
  }

  /** @param {bigint} x @param {bigint} coin */
  place(x, coin) {
    return (permute(coin, x, this.k) * this.g) / this.k;
  }
}

/** The wheel: items at hashed places on a ring of 2**ring points; an arc of points from there on is favoured. */
export class Wheel extends Seeded {
  static kind = "wheel";
  static fields = "k arc keep ring";

  constructor(/** @type {Parts} */ { k, arc, keep, ring }) {
    super();
    checkK((this.k = k));
    checkWhole("ring", (this.ring = ring), 1n, 32n);
    checkWhole("arc", (this.arc = arc), 1n, this.points - 1n);
    checkThreshold("keep", (this.keep = keep));
  }

  get points() {
    return 1n << this.ring;
  }

  /** @type {[bigint, bigint]} */
  get levels() {
    return [this.arc, this.points - this.arc];
  }

  get width() {
    return 8 + uintWidth(this.points);
  }

  /** @param {bigint} x @param {bigint} coin @param {Words} words */
  spread(x, coin, words) {
    const start = hash32(coin, x) >> (32n - this.ring);
    const kept = happens(this.keep, words);
    const step = kept ? below(this.arc, words) : this.arc + below(this.points - this.arc, words);
    return seeded(coin, (start + step) % this.points, this.points);
  }

  /** @param {Words} words */
  blind(words) {
    return anyOf(this.points, words);
  }
}

/** Subset selection in a seed and log2 k bits: `size` neighbouring positions on a ring of k, under a permutation. */
export class Interval extends Subset {
  static kind = "interval";

  get width() {
    return 8 + uintWidth(this.k);
  }

  get words() {
    return 3n;
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
    return anyOf(this.k, words);
  }
}

register([Hashing, Balanced, Wheel, Interval], {
  iss: form("interval", { size: "whole size" }),
  "lh blh olh alh": form("hashing", { g: "whole g" }),
  plh: form("balanced", { g: "whole g" }),
  wheel: form("wheel", { arc: "chance", ring: "whole ring" }),
});
