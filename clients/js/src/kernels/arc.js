/** Directions: an arc of a circle around the value is favoured. */
import { Kernel, checkK, checkValue, checkWhole, form, register } from "../designs.js";
import { below, either, happens, packInt, twoLevelLift, uintWidth } from "../exact.js";

/** @import { Words } from "../types.js" */

const DIRECTIONS_MAX = 1n << 20n;

/** One of k directions around a circle, told by another one: report y favours y, y + 1, ..., y + size - 1 (mod k). */
export class Arc extends Kernel {
  static kind = "arc";
  static fields = "k# size keep%";
  words = 2n;

  check() {
    checkK(this.k, DIRECTIONS_MAX);
    checkWhole("size", this.size, 1n, this.k - 1n);
  }

  get ratio() {
    return either(twoLevelLift(this.keep, this.size, this.k - this.size));
  }

  get width() {
    return uintWidth(this.k);
  }

  /** A report that begins so far behind the value that it favours it, or the other way round. @param {bigint} x @param {Words} words */
  randomise(x, words) {
    checkValue(x, this.k);
    if (happens(this.keep, words)) return packInt((x + this.k - below(this.size, words)) % this.k, this.width);
    return packInt((x + 1n + below(this.k - this.size, words)) % this.k, this.width);
  }
}

register([Arc], { arc: form("arc", { size: "whole size" }) });
