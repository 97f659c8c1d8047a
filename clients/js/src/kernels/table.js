/** The kernel of a channel that is simply written down: for each value, how often each output comes. */
import { BASES, Kernel, checkK, checkSeedWords, checkValue, form, register } from "../designs.js";
import { require } from "../errors.js";
import { Ratio, WORD, largest, least, most, packInt, uintWidth } from "../exact.js";

/** @import { Words } from "../types.js" */

const ENTRIES_MAX = 1 << 18;

/** @param {bigint[]} row */
const sum = (row) => row.reduce((a, b) => a + b, 0n);

/** Output y of value x with probability weights[x][y] / 2**64; one word decides. */
export class Table extends Kernel {
  static kind = "table";
  static fields = "weights**";

  words = 1n;

  check() {
    const rows = this.weights;
    checkK((this.k = BigInt(rows.length)));
    const outputs = rows[0].length;
    require(rows.every((row) => row.length === outputs), "weights", rows.length, "rows of one length");
    require(outputs >= 2, "outputs", outputs, "at least 2");
    require(rows.length * outputs <= ENTRIES_MAX, "values times outputs", rows.length * outputs, `at most ${ENTRIES_MAX}`);
    const hint = "An output that never comes would rule values out.";
    rows.forEach((row, x) => {
      require(row.every((w) => w >= 1n), `weights[${x}]`, row, "integers >= 1", hint);
      require(sum(row) === WORD, `weights[${x}]`, sum(row), "integers whose sum is 2**64");
    });
    this.outputs = BigInt(outputs);
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

  /** The first output whose cumulated weight is above the word. @param {bigint} x @param {Words} words */
  randomise(x, words) {
    checkValue(x, this.k);
    checkSeedWords(words);
    const row = this.weights[Number(x)];
    const word = words.word();
    let y = 0;
    for (let total = row[0]; word >= total; total += row[y]) y++;
    return packInt(BigInt(y), this.width);
  }
}

register([Table], {
  exponential: form("table", { "variant?": "word calibrated printed" }),
  laplace: form("table", { "variant?": "word truncate clamp" }),
  geometric: form("table"),
  lsrr: form("table", { "variant?": "word calibrated rank", "size?": "whole" }),
});
register([], { explicit: form("table") }, [BASES]);
