/** The kernels of the basic families: randomised response, subset selection, unary encoding. */
import { require } from "../errors.js";
import { Ratio, WORD } from "../exact.js";
import { bitsWidth, packBits, packInt, uintWidth } from "../packing.js";
import { below, happens, subset } from "../words.js";
import { Base, checkK, checkThreshold, checkValue, checkWhole, favoured, form, otherThan, register } from "./contract.js";

/** @typedef {import("../words.js").Words} Words */
/** @typedef {import("./contract.js").Parts} Parts */

/** Generalised randomised response: the value with probability keep/2**64, else another one, all alike. */
export class Response extends Base {
  static kind = "response";
  static fields = "k keep";

  constructor(/** @type {Parts} */ { k, keep }) {
    super();
    checkK((this.k = k));
    checkThreshold("keep", (this.keep = keep));
  }

  /** @type {[bigint, bigint]} */
  get levels() {
    return [1n, this.k - 1n];
  }

  get least() {
    return favoured(this);
  }

  get width() {
    return uintWidth(this.k);
  }

  get words() {
    return 2n;
  }

  /** @param {bigint} x @param {Words} words */
  randomise(x, words) {
    checkValue(x, this.k);
    return packInt(happens(this.keep, words) ? x : otherThan(x, this.k, words), this.width);
  }

  /** @param {Words} words */
  blind(words) {
    return packInt(below(this.k, words), this.width);
  }
}

/** Subset selection: `size` values, the own one among them with probability keep/2**64, as bits. */
export class Subset extends Base {
  static kind = "subset";
  static fields = "k size keep";

  constructor(/** @type {Parts} */ { k, size, keep }) {
    super();
    checkK((this.k = k));
    checkWhole("size", (this.size = size), 1n, k - 1n);
    checkThreshold("keep", (this.keep = keep));
  }

  /** @type {[bigint, bigint]} */
  get levels() {
    return [this.size, this.k - this.size];
  }

  get least() {
    return favoured(this);
  }

  get width() {
    return bitsWidth(this.k);
  }

  get words() {
    return this.size + 1n;
  }

  /** @param {bigint} x @param {Words} words */
  randomise(x, words) {
    checkValue(x, this.k);
    const kept = happens(this.keep, words);
    const others = subset(this.k - 1n, kept ? this.size - 1n : this.size, words);
    const chosen = Array.from(others, (i) => (i >= x ? i + 1n : i));
    return packBits(kept ? [...chosen, x] : chosen, this.k);
  }

  /** @param {Words} words */
  blind(words) {
    return packBits(subset(this.k, this.size, words), this.k);
  }
}

/** Unary encoding: k independent bits, 1 with probability keep/2**64 (own value) or flip/2**64 (others). */
export class Unary extends Base {
  static kind = "unary";
  static fields = "k keep flip";

  constructor(/** @type {Parts} */ { k, keep, flip }) {
    super();
    checkK((this.k = k));
    checkThreshold("keep", (this.keep = keep));
    checkThreshold("flip", (this.flip = flip));
    require(flip < keep, "flip", flip, "less than keep");
  }

  /** Only the two bits that differ between two inputs count. */
  get ratio() {
    return new Ratio(this.keep * (WORD - this.flip), (WORD - this.keep) * this.flip);
  }

  get share() {
    return new Ratio(this.flip, WORD);
  }

  get width() {
    return bitsWidth(this.k);
  }

  get words() {
    return this.k;
  }

  /** @param {bigint} x @param {Words} words */
  randomise(x, words) {
    checkValue(x, this.k);
    return this.bits(Number(x), words);
  }

  /** @param {Words} words */
  blind(words) {
    return this.bits(-1, words);
  }

  /** @param {number} x @param {Words} words */
  bits(x, words) {
    const ones = [];
    for (let i = 0; i < this.k; i++) if (happens(i === x ? this.keep : this.flip, words)) ones.push(i);
    return packBits(ones, this.k);
  }
}

register([Response, Subset, Unary], {
  grr: form("response"),
  "ss ass": form("subset", { size: "whole size" }),
  "ue sue oue aue": form("unary", { p: "share keep" }),
  "the athe": form("unary", { theta: "number" }),
});
