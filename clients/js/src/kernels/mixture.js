/** Mixtures: one of two kernels, by a coin that does not look at the value. */
import { require } from "../errors.js";
import { ONE, WORD, largest } from "../exact.js";
import { bitsWidth, packBits } from "../packing.js";
import { happens } from "../words.js";
import { Base, Disclosing, KERNELS, Kernel, checkK, checkValue, checkWhole, form, oneOf, register } from "./contract.js";

/** @typedef {import("../words.js").Words} Words */
/** @typedef {import("./contract.js").Parts} Parts */

/** The set of all k values, whatever the value is: a report that says nothing. */
export class Whole extends Base {
  static kind = "whole";
  static fields = "k";

  constructor(/** @type {Parts} */ { k }) {
    super();
    checkK((this.k = k));
  }

  get ratio() {
    return ONE;
  }

  get blindPeak() {
    return ONE;
  }

  get width() {
    return bitsWidth(this.k);
  }

  get words() {
    return 0n;
  }

  /** @param {bigint} x @param {Words} words */
  randomise(x, words) {
    checkValue(x, this.k);
    return this.blind(words);
  }

  /** @param {Words} words */
  blind(words) {
    return packBits(Array(Number(this.k)).keys(), this.k);
  }
}

/** The second kernel with probability coin/2**64, else the first one; both have reports of one length. */
export class Mixture extends Kernel {
  static kind = "mixture";
  static fields = "first@ second@ coin";

  /** A mixture of kernels that disclose says so itself. @param {Parts} parts */
  static choose({ first, second }) {
    const disclosing = first instanceof Disclosing || second instanceof Disclosing;
    return disclosing ? KERNELS.get("utility").Mixture : Mixture;
  }

  constructor(/** @type {Parts} */ { first, second, coin }) {
    super();
    checkWhole("coin", (this.coin = coin), 0n, WORD - 1n);
    this.first = first;
    this.second = second;
    for (const name of ["k", "width"]) {
      const [one, two] = [first[name], second[name]];
      require(one === two, `${name} of the kernels in a mixture`, [one, two], "the same");
    }
  }

  get k() {
    return this.first.k;
  }

  /** The larger one, of those that can happen. */
  get ratio() {
    return this.coin ? largest([this.first.ratio, this.second.ratio]) : this.first.ratio;
  }

  get width() {
    return this.first.width;
  }

  get words() {
    const [one, two] = [this.first.words, this.second.words];
    return 1n + (one > two ? one : two);
  }

  /** @param {bigint} x @param {Words} words */
  randomise(x, words) {
    return (happens(this.coin, words) ? this.second : this.first).randomise(x, words);
  }
}

register([Whole, Mixture], {
  ssmix: form(
    { mixture: { first: oneOf("subset"), second: oneOf("subset whole") } },
    { size: "whole first.size", share: "share coin" },
  ),
});
