/** Generalised randomised response. */
import { Base, checkValue, form, register } from "../designs.js";
import { below, happens, otherThan, packInt, uintWidth } from "../exact.js";

/** @import { Words } from "../types.js" */

/** Generalised randomised response: the value with probability keep/2**64, else another one, all alike. */
export class Response extends Base {
  static kind = "response";
  static fields = "k# keep%";
  words = 2n;
  favours = 1n;
  even = true;

  get reports() {
    return [1n, this.k - 1n];
  }

  get width() {
    return uintWidth(this.k);
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

register([Response], { grr: form("response") });
