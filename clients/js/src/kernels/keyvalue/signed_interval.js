/** Sets of signed keys in few bits: neighbours on a ring, under a keyed permutation. */
import { checkSeedWords, register } from "../../designs.js";
import { below, happens, uintWidth } from "../../exact.js";
import { hash32, seeded } from "../../hashing.js";
import { permute } from "../../permuting.js";
import { SignedSet } from "./pairs.js";

/** @import { Words } from "../../types.js" */

/** Signed keys in a seed and log2(2 keys) bits: `size` neighbouring positions on a ring of keys, and one sign. */
export class SignedInterval extends SignedSet {
  static kind = "signed-interval";
  words = 5n;

  get width() {
    return 8 + uintWidth(2n * this.keys);
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
    return seeded(seed, y + this.keys * sign, 2n * this.keys);
  }
}

register([SignedInterval]);
