/** Tables whose reports are numbers with exactly the right mean: rounding by chance, then a row. */
import { CHECKS, Kernel, checkK, checkSeedWords, checkValue, form, isWhole, register } from "../designs.js";
import { ParameterError, require } from "../errors.js";
import { Ratio, WORD, below, largest, least, most, packInt, uintWidth } from "../exact.js";

/** @import { Words } from "../types.js" */

const PLACES_MAX = 1n << 30n;
const VALUE_MAX = 1n << 40n;
const ENTRIES_MAX = 1 << 18;
const OWN_MAX = 8;
const CERTIFICATE_MAX = 1024;

/** Whether numbers rise from 0 on. @param {bigint[]} numbers @param {bigint} limit */
const rising = (numbers, limit) =>
  numbers[0] === 0n && numbers[numbers.length - 1] < limit && numbers.every((number, i) => !i || numbers[i - 1] < number);

/** Outputs of a row that have a weight of their own, with it. @param {bigint[]} row @returns {[number, bigint][]} */
const ownOf = (row) => Array.from({ length: row.length / 2 - 1 }, (_, i) => [Number(row[2 * i + 2]), row[2 * i + 3]]);

/**
 * A number becomes one of the two `places` beside it, by chance, so that it is the same on average; the place has a row of
 * weights of the outputs, out of 2**64. Rounding and row have a random word each, always both. Output j stands for values[j]; a
 * row (first, end, j, weight, ...) gives the outputs from first to end - 1 their most, others their least, the listed ones their
 * own weight. The mean of the values of every row is on one line over the places, exactly.
 */
export class Lattice extends Kernel {
  static kind = "lattice";
  static fields = "k# places* values* least* most* rows**";
  words = 2n;

  get points() {
    return BigInt(this.places.length);
  }

  check() {
    const { k, places, values, rows } = this;
    checkK(k, PLACES_MAX);
    const [count, outputs] = [places.length, values.length];
    require(count >= 2, "places", count, "at least 2 of them");
    require(outputs >= 2, "values", outputs, "at least 2 of them");
    require(count * outputs <= ENTRIES_MAX, "places times values", count * outputs, `at most ${ENTRIES_MAX}`);
    require(this.least.length === outputs, "least", this.least.length, `one for each of ${outputs} values`);
    require(this.most.length === outputs, "most", this.most.length, `one for each of ${outputs} values`);
    require(rows.length === count, "rows", rows.length, `one for each of ${count} places`);
    require(rising(places, PLACES_MAX), "places", places, `rising integers from 0 on, below ${PLACES_MAX}`);
    require(rising(values, VALUE_MAX), "values", values, `rising integers from 0 on, below ${VALUE_MAX}`);
    require(places[count - 1] === k - 1n, "places", places[count - 1], `numbers from 0 to k - 1 = ${k - 1n}`);
    this.least.forEach((/** @type {bigint} */ low, /** @type {number} */ j) => {
      const high = this.most[j];
      const hint = "An output that never comes would rule numbers out.";
      require(0n < low && low <= high && high <= WORD, `least[${j}] and most[${j}]`, [low, high], "integers from 1 to 2**64, the lower one first", hint);
    });
    this.outputs = BigInt(outputs);
    rows.forEach((/** @type {bigint[]} */ row, /** @type {number} */ i) => this.checkRow(row, i));
    this.checkMeans();
  }

  /** A range of outputs, and rising outputs with a weight between their least and their most. @param {bigint[]} row @param {number} i */
  checkRow(row, i) {
    const shaped = row.length % 2 === 0 && row.length >= 2 && row.length <= 2 + 2 * OWN_MAX;
    require(shaped, `rows[${i}]`, row.length, "a range of outputs, and outputs' weights");
    const [first, end] = row;
    const own = ownOf(row);
    const fits = first <= end && end <= this.outputs && own.every(([j], at) => j < this.values.length && (!at || own[at - 1][0] < j));
    require(fits, `rows[${i}]`, row, "rising outputs");
    const inside = own.every(([j, weight]) => this.least[j] <= weight && weight <= this.most[j]);
    require(inside, `rows[${i}]`, row, "weights from the least to the most of their outputs");
  }

  /** Refuses rows that are no distributions, or whose means are not on the line through those of the ends. */
  checkMeans() {
    const sums = this.sums(this.values.map(() => 1n));
    sums.forEach((sum, i) => require(sum === WORD, `rows[${i}]`, sum, "weights whose sum is 2**64"));
    const means = this.sums(this.values);
    const [base, last] = [means[0], this.k - 1n];
    const rise = means[means.length - 1] - base;
    require(rise > 0n, "rows", rise, "such that the mean report rises with the number");
    means.forEach((mean, i) => {
      if ((mean - base) * last === rise * this.places[i]) return;
      const need = `${base} + ${rise * this.places[i]}/${last}`;
      throw new ParameterError(`rows[${i}] is biased: the mean of its values is ${mean} / 2**64, where ${need} is needed for reports without bias.`);
    });
  }

  /** For every row the sum of weights times factors. @param {bigint[]} factors @returns {bigint[]} */
  sums(factors) {
    let low = 0n;
    const extra = [0n];
    factors.forEach((factor, j) => {
      low += this.least[j] * factor;
      extra.push(extra[j] + (this.most[j] - this.least[j]) * factor);
    });
    return this.rows.map((/** @type {bigint[]} */ row) => {
      const [first, end] = [Number(row[0]), Number(row[1])];
      let total = low + extra[end] - extra[first];
      for (const [j, weight] of ownOf(row)) total += (weight - (first <= j && j < end ? this.most[j] : this.least[j])) * factors[j];
      return total;
    });
  }

  /** The weights of a place's outputs. @param {number} i @returns {bigint[]} */
  row(i) {
    const [first, end] = this.rows[i];
    const made = this.least.map((/** @type {bigint} */ low, /** @type {number} */ j) => (first <= j && j < end ? this.most[j] : low));
    for (const [j, weight] of ownOf(this.rows[i])) made[j] = weight;
    return made;
  }

  /** Rounding mixes two rows, which makes no likelihood larger or smaller than both. */
  get ratio() {
    const table = this.rows.map((/** @type {unknown} */ _, /** @type {number} */ i) => this.row(i));
    return largest(
      this.values.map((/** @type {bigint} */ _, /** @type {number} */ j) => {
        const column = table.map((/** @type {bigint[]} */ row) => row[j]);
        return new Ratio(most(column), least(column));
      }),
    );
  }

  get width() {
    return uintWidth(this.outputs);
  }

  /** One word for the place, then one for the output, whatever the number is. @param {bigint} x @param {Words} words */
  randomise(x, words) {
    checkValue(x, this.k);
    checkSeedWords(words);
    let i = this.places.length - 2;
    while (this.places[i] > x) i--;
    const [start, end] = [this.places[i], this.places[i + 1]];
    const up = below(end - start, words) < x - start ? 1 : 0;
    const row = this.row(i + up);
    const word = words.word();
    let y = 0;
    for (let total = row[0]; word >= total; total += row[y]) y++;
    return packInt(BigInt(y), this.width);
  }
}

/** Rows of five whole numbers; nothing that a device does depends on them. */
CHECKS.certificate = (value) => {
  const whole = (/** @type {unknown} */ number) => isWhole(number, -(2 ** 53), 2 ** 53);
  const fits = Array.isArray(value) && value.length <= CERTIFICATE_MAX && value.every((row) => Array.isArray(row) && row.length === 5 && row.every(whole));
  return fits ? "" : `at most ${CERTIFICATE_MAX} rows of five whole numbers`;
};

const SIZES = { points: "whole points", outputs: "whole outputs" };
register([Lattice], {
  om: form("lattice", { ...SIZES, objective: "word worst even centre prior", certificate: "certificate" }),
  lu: form("lattice", SIZES),
});
