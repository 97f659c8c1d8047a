/** The kernel of a channel that is simply written down: for each value, how often each output comes. */
import { BASES, Kernel, checkK, checkSeedWords, checkValue, form, register } from "../designs.js";
import { require } from "../errors.js";
import { Ratio, WORD, largest, least, most, packInt, uintWidth } from "../exact.js";

/** @import { Words } from "../types.js" */

export const ENTRIES_MAX = 1 << 18;

/** @param {bigint[]} row */
const sum = (row) => row.reduce((a, b) => a + b, 0n);

/** The first output of a row whose cumulated weight is above a random word. @param {bigint[]} row @param {Words} words */
export function drawn(row, words) {
  const word = words.word();
  let y = 0;
  for (let total = row[0]; word >= total; total += row[y]) y++;
  return BigInt(y);
}

/** Refuse rows of different lengths, and too many of them; then what is least, and not a sum of 2**64. @param {bigint[][]} rows @param {bigint} least */
export function checkRows(rows, least, hint = "") {
  checkK(BigInt(rows.length));
  const outputs = rows[0].length;
  require(rows.every((row) => row.length === outputs), "weights", rows.length, "rows of one length");
  require(outputs >= 2, "outputs", outputs, "at least 2");
  require(rows.length * outputs <= ENTRIES_MAX, "values times outputs", rows.length * outputs, `at most ${ENTRIES_MAX}`);
  rows.forEach((row, x) => {
    require(row.every((w) => w >= least), `weights[${x}]`, row, `integers >= ${least}`, hint);
    require(sum(row) === WORD, `weights[${x}]`, sum(row), "integers whose sum is 2**64");
  });
}

/** Output y of value x with probability weights[x][y] / 2**64; one word decides. */
export class Table extends Kernel {
  static kind = "table";
  static fields = "weights**";

  words = 1n;

  check() {
    checkRows(this.weights, 1n, "An output that never comes would rule values out.");
    this.k = BigInt(this.weights.length);
    this.outputs = BigInt(this.weights[0].length);
  }

  get columns() {
    return this.weights[0].map((_, y) => this.weights.map((row) => row[y]));
  }

  get ratio() {
    return largest(this.columns.map((column) => new Ratio(most(column), least(column))));
  }

  /** The largest quotient of an output's likelihoods given some value, and on average over all values. */
  get mappedPeak() {
    return largest(this.columns.map((column) => new Ratio(this.k * most(column), sum(column))));
  }

  get width() {
    return uintWidth(this.outputs);
  }

  /** @param {bigint} x @param {Words} words */
  randomise(x, words) {
    checkValue(x, this.k);
    checkSeedWords(words);
    return packInt(drawn(this.weights[Number(x)], words), this.width);
  }
}

register([Table], {
  exponential: form("table", { "variant?": "word calibrated printed" }),
  laplace: form("table", { "variant?": "word truncate clamp" }),
  geometric: form("table"),
  lsrr: form("table", { "variant?": "word calibrated rank printed", "size?": "whole" }),
});
register([], { explicit: form("table") }, [BASES]);
