/** Mixtures: one of two kernels, by a coin that does not look at the value. */
import { Base, Disclosing, Kernel, checkPlain, checkValue, checkWhole, form, oneOf, register } from "../designs.js";
import { require } from "../errors.js";
import { ONE, WORD, bitsWidth, happens, largest, most, packBits } from "../exact.js";

/** @import { Words } from "../types.js" */

/** The set of all k values, whatever the value is: a report that says nothing. */
export class Whole extends Base {
  static kind = "whole";
  static fields = "k#";
  words = 0n;
  blindPeak = ONE;

  get ratio() {
    return ONE;
  }

  get width() {
    return bitsWidth(this.k);
  }

  /** @param {bigint} x */
  randomise(x) {
    checkValue(x, this.k);
    return this.blind();
  }

  blind() {
    return packBits(Array(Number(this.k)).keys(), this.k);
  }
}

/** Refuse two kernels of a mixture that are not alike. @param {any} kernel @param {string[]} names */
export function checkAlike({ first, second, coin }, names) {
  checkWhole("coin", coin, 0n, WORD - 1n);
  for (const name of names) {
    const [one, two] = [`${first[name]}`, `${second[name]}`];
    require(one === two, `${name} of the kernels in a mixture`, [one, two], "the same");
  }
}

/** The second kernel with probability coin/2**64, else the first one; both have reports of one length. */
export class Mixture extends Kernel {
  static kind = "mixture";
  static fields = "first@ second@ coin";
  /** Of kernels that disclose: `utility_mixture.js` adds it. @type {any} */
  static Disclosing = undefined;

  /** A mixture of kernels that disclose says so itself. @param {any} parts */
  static choose({ first, second }) {
    return [first, second].some((part) => part instanceof Disclosing) ? Mixture.Disclosing : Mixture;
  }

  check() {
    checkPlain("a mixture", this.first, this.second);
    checkAlike(this, ["k", "width"]);
    this.k = this.first.k;
  }

  /** The larger one, of those that can happen. */
  get ratio() {
    return this.coin ? largest([this.first.ratio, this.second.ratio]) : this.first.ratio;
  }

  get width() {
    return this.first.width;
  }

  get words() {
    return 1n + most([this.first.words, this.second.words]);
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
