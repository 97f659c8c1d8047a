/** Random words that are given beforehand, for test vectors and exhaustive tests only. */
import { ParameterError, require } from "./errors.js";

/** Words given beforehand. */
export class ReplayWords {
  /** @param {Iterable<bigint>} words @param {number} [bits] */
  constructor(words, bits = 64) {
    this.bits = bits;
    this.left = words[Symbol.iterator]();
  }

  /** The next given word; `ParameterError` when they are used up. */
  word() {
    const { done, value } = this.left.next();
    if (done) throw new ParameterError("the given words are used up.", "Give more of them.");
    const ok = typeof value === "bigint" && 0n <= value && value >> BigInt(this.bits) === 0n;
    require(ok, "word", value, `an unsigned ${this.bits}-bit integer (a BigInt)`);
    return value;
  }
}
