/** Kernels on signed keys with a public seed in the report: hashed keys, or a permutation of them. */
import { require } from "../errors.js";
import { Ratio, WORD, largest } from "../exact.js";
import { bucket, hash32, permute } from "../hashing.js";
import { join, packInt, uintWidth } from "../packing.js";
import { below, happens } from "../words.js";
import { checkK, checkSeedWords, checkThreshold, checkWhole, register } from "./contract.js";
import { Signed, SignedSubset } from "./signed.js";

/** @typedef {import("../words.js").Words} Words */
/** @typedef {import("./contract.js").Parts} Parts */

/** `SignedSubset` in a seed and log2(2 keys) bits: `size` neighbouring positions on a ring of keys, and one sign. */
export class SignedInterval extends SignedSubset {
  static kind = "signed-interval";

  get width() {
    return 8 + uintWidth(2n * this.keys);
  }

  get words() {
    return 5n;
  }

  /** Reports that do not hold the own signed key are numbered wrong sign first. @param {bigint} x @param {Words} words */
  randomise(x, words) {
    const [minus, key] = this.split(x);
    checkSeedWords(words);
    const seed = words.word();
    const kept = happens(this.keep, words);
    let back = below(kept ? this.size : 2n * this.keys - this.size, words);
    const turned = !kept && back < this.keys;
    if (!kept && !turned) back += this.size - this.keys;
    const y = (permute(seed, key, this.keys) - back + this.keys) % this.keys;
    const sign = BigInt(minus ^ Number(turned)) ^ (hash32(seed, key) >> 31n);
    return join(packInt(seed, 8), packInt(y + this.keys * sign, uintWidth(2n * this.keys)));
  }
}

/**
 * Keys hashed to g buckets with a public random sign: 2 bucket + sign, the own one with probability own/2**64, that with the
 * other sign with flip/2**64, else any of the other 2g - 2.
 */
export class SignedHashing extends Signed {
  static kind = "signed-hashing";
  static fields = "keys g own flip";

  constructor(/** @type {Parts} */ { keys, g, own, flip }) {
    super();
    checkK((this.keys = keys));
    checkWhole("g", (this.g = g), 2n, 1n << 30n);
    checkThreshold("own", (this.own = own));
    checkThreshold("flip", (this.flip = flip));
    require(own + flip < WORD, "own + flip", own + flip, "below 2**64");
  }

  /** Given any hash function a report has one of three probabilities. */
  get ratio() {
    const others = 2n * this.g - 2n;
    const levels = [this.own * others, this.flip * others, WORD - this.own - this.flip];
    return largest(levels.flatMap((a) => levels.map((b) => new Ratio(a, b))));
  }

  /** Buckets may hold all pairs, so padding gains nothing. */
  padded() {
    return this.ratio;
  }

  get width() {
    return 8 + uintWidth(2n * this.g);
  }

  get words() {
    return 5n;
  }

  /** @param {bigint} x @param {Words} words */
  randomise(x, words) {
    const [minus, key] = this.split(x);
    checkSeedWords(words);
    const seed = words.word();
    let value = bucket(seed, key, 2n * this.g) ^ BigInt(minus);
    const word = words.word();
    if (word >= this.own) value ^= 1n;
    if (word >= this.own + this.flip) {
      const other = below(2n * this.g - 2n, words);
      value = other >= value - (value % 2n) ? other + 2n : other;
    }
    return join(packInt(seed, 8), packInt(value, uintWidth(2n * this.g)));
  }
}

register([SignedInterval, SignedHashing]);
