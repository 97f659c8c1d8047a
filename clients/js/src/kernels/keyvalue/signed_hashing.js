/** Hashed signed keys, with a public seed in the report. */
import { checkSeedWords, checkWhole, register } from "../../designs.js";
import { Ratio, WORD, below, largest, uintWidth } from "../../exact.js";
import { bucket, seeded } from "../../hashing.js";
import { Signed, checkTurned } from "./pairs.js";

/** @import { Words } from "../../types.js" */

/**
 * Keys hashed to g buckets with a public random sign: 2 bucket + sign, the own one with probability own/2**64, that with the
 * other sign with flip/2**64, else any of the other 2g - 2.
 */
export class SignedHashing extends Signed {
  static kind = "signed-hashing";
  static fields = "keys# g own% flip%";
  words = 5n;
  favours = 0n;

  check() {
    super.check();
    checkWhole("g", this.g, 2n, 1n << 30n);
    checkTurned(this);
  }

  /** Given any hash function a report has one of three probabilities. */
  get ratio() {
    const others = 2n * this.g - 2n;
    const levels = [this.own * others, this.flip * others, WORD - this.own - this.flip];
    return largest(levels.flatMap((a) => levels.map((b) => new Ratio(a, b))));
  }

  get width() {
    return 8 + uintWidth(2n * this.g);
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
    return seeded(seed, value, 2n * this.g);
  }
}

register([SignedHashing]);
