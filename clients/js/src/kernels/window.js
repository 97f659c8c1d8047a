/** Kernels for values in an order: an answer near the value, or one bit that leans with it. */
import { ITEMS_MAX, Kernel, checkValue, checkWhole, form, oneOf, register } from "../designs.js";
import { require } from "../errors.js";
import { Ratio, WORD, below, either, happens, largest, packInt, twoLevelLift, uintWidth } from "../exact.js";

/** @import { Words } from "../types.js" */

/**
 * One of the `m` answers around the value with probability keep/2**64, else one of the others, all alike. The window of x
 * starts at x - shift, or at the nearest place where it fits; with `tie` = 1 a fair coin decides between two shifts.
 */
export class Window extends Kernel {
  static kind = "window";
  static fields = "k# outputs m shift tie keep%";
  words = 3n;

  check() {
    const { k, outputs, m, shift, tie } = this;
    checkWhole("outputs", outputs, 2n, ITEMS_MAX);
    checkWhole("m", m, 1n, outputs - 1n);
    checkWhole("tie", tie, 0n, 1n);
    checkWhole("shift", shift, tie, k - 1n);
    require(m > tie, "m", m, "at least 2 with a coin between two windows (tie = 1)");
    const apart = this.start(0n, shift - tie) < this.start(k - 1n, shift);
    const hint = "Otherwise a report would tell (almost) nothing.";
    require(apart, "shift", shift, "such that the first and the last value have windows apart", hint);
  }

  /** The first answer of the window of x, for one of the two shifts. @param {bigint} x @param {bigint} shift */
  start(x, shift) {
    const [first, last] = [x - shift, this.outputs - this.m];
    return first < 0n ? 0n : first > last ? last : first;
  }

  get ratio() {
    return either(twoLevelLift(this.keep, this.m, this.outputs - this.m));
  }

  get width() {
    return uintWidth(this.outputs);
  }

  /** @param {bigint} x @param {Words} words */
  randomise(x, words) {
    return packInt(this.draw(x, words), this.width);
  }

  /** @param {bigint} x @param {Words} words */
  draw(x, words) {
    checkValue(x, this.k);
    const first = this.start(x, this.tie ? this.shift - below(2n, words) : this.shift);
    if (happens(this.keep, words)) return first + below(this.m, words);
    const y = below(this.outputs - this.m, words);
    return y >= first ? y + this.m : y;
  }
}

/** One bit that is 1 with probability (base + x slope)/2**64: its mean is exactly linear in the value. */
export class Leaning extends Kernel {
  static kind = "leaning";
  static fields = "k# base% slope";
  width = 1;
  words = 1n;

  check() {
    const hint = "The bit of the last value must be able to come out either way.";
    checkWhole("slope", this.slope, 1n, (WORD - 1n - this.base) / (this.k - 1n), hint);
  }

  /** Probabilities rise with the value, so the first and the last one are farthest apart. */
  get ratio() {
    const last = this.base + (this.k - 1n) * this.slope;
    return largest([new Ratio(last, this.base), new Ratio(WORD - this.base, WORD - last)]);
  }

  /** @param {bigint} x @param {Words} words */
  randomise(x, words) {
    return packInt(this.draw(x, words), 1);
  }

  /** @param {bigint} x @param {Words} words */
  draw(x, words) {
    checkValue(x, this.k);
    return happens(this.base + x * this.slope, words) ? 1n : 0n;
  }
}

/** A leaning bit with probability coin/2**64, reported as outputs + bit, else the answer of a window. */
export class WindowOrBit extends Kernel {
  static kind = "window-or-bit";
  static fields = "window@ bit@ coin%";
  words = 5n;

  check() {
    const { window, bit } = this;
    const fits = window instanceof Window && bit instanceof Leaning;
    require(fits, "kernels", [window.kind, bit.kind], "a window kernel and a leaning kernel");
    require(window.k === bit.k, "k", bit.k, `the same for both kernels, ${window.k}`);
    this.k = window.k;
  }

  get ratio() {
    return largest([this.window.ratio, this.bit.ratio]);
  }

  get width() {
    return uintWidth(this.window.outputs + 2n);
  }

  /** @param {bigint} x @param {Words} words */
  randomise(x, words) {
    checkValue(x, this.k);
    const bit = happens(this.coin, words);
    const y = bit ? this.window.outputs + this.bit.draw(x, words) : this.window.draw(x, words);
    return packInt(y, this.width);
  }
}

register([Window, Leaning, WindowOrBit], {
  brr: form("window neighbours", { m: "whole m", "tie?": "word random low high" }),
  "sw pm": form("window", { m: "whole m" }),
  duchi: form("leaning"),
  hm: form(
    { "window-or-bit": { window: oneOf("window"), bit: oneOf("leaning") } },
    { m: "whole window.m", share: "share coin" },
  ),
});
