/** Answers in an order: a public grid of cells on a circle of points, then subset selection among the cells. */
import { dealt } from "../dealing.js";
import { Base, FORMS, checkK, checkValue, checkWhole, form, register } from "../designs.js";
import { require } from "../errors.js";
import { WORD, below, join, largest, most, packInt, uintWidth } from "../exact.js";
import { Subset } from "./subset.js";

/** @import { Words } from "../types.js" */

const CIRCLE_MAX = 1n << 20n;
const WIDTHS_MAX = 64n;

/**
 * One of some widths, by shares, and one of some shifts, all alike; then the own cell or others by `Subset`. Width and shift
 * look at no value and stand in the report, so the ratio of the whole is that of the worst width.
 */
export class Windows extends Base {
  static kind = "windows";
  static fields = "k circle widths* shifts* shares* sizes* keeps*%";

  check() {
    const { k, circle, widths, shifts, shares, sizes, keeps } = this;
    checkK(k, CIRCLE_MAX);
    checkWhole("circle", circle, k, CIRCLE_MAX);
    checkWhole("number of widths", BigInt(widths.length), 1n, WIDTHS_MAX);
    for (const [name, given] of Object.entries({ shifts, shares, sizes, keeps })) {
      require(given.length === widths.length, name, given, `${widths.length} numbers, one for each width`);
    }
    const hint = "Widths rise, and two points are in different cells.";
    this.parts = widths.map((width, i) => {
      checkWhole("width", width, (widths[i - 1] ?? 0n) + 1n, k - 1n, hint);
      require(circle % width === 0n, "width", width, `a divisor of the circle's ${circle} points`);
      checkWhole("number of shifts", shifts[i], 1n, width);
      checkWhole("share", shares[i], 1n, WORD);
      checkWhole("size", sizes[i], 1n, circle / width - 1n);
      return new Subset(/** @type {any} */ ({ k: circle / width, size: sizes[i], keep: keeps[i] }));
    });
    const total = shares.reduce((sum, share) => sum + share, 0n);
    require(total <= WORD, "sum of shares", total, "at most 2**64");
  }

  get ratio() {
    return largest(this.parts.map(({ ratio }) => ratio));
  }

  /** Bytes of the shift. */
  get shiftWidth() {
    return uintWidth(most(this.shifts));
  }

  get width() {
    return 1 + this.shiftWidth + Math.max(...this.parts.map(({ width }) => width));
  }

  get words() {
    return 2n + most(this.parts.map(({ words }) => words));
  }

  /** @param {bigint} x @param {Words} words */
  randomise(x, words) {
    checkValue(x, this.k);
    return this.shifted(words, (part, i, shift) => part.randomise(((x + shift) % this.circle) / this.widths[i], words));
  }

  /** @param {Words} words */
  blind(words) {
    return this.shifted(words, (part) => part.blind(words));
  }

  /** A report of a public width and shift. @param {Words} words @param {(part: any, i: number, shift: bigint) => Uint8Array} report */
  shifted(words, report) {
    const i = dealt(this.shares, words);
    const shift = below(this.shifts[i], words);
    return join([Uint8Array.of(i), packInt(shift, this.shiftWidth), report(this.parts[i], i, shift)], this.width);
  }
}

const told = { circle: "whole circle", widths: "same widths", shares: "same shares", sizes: "same sizes" };
register([Windows], { "windows tree": form("windows", told) }, [FORMS]);
