/** The kernel of a channel that is written down beside what it promises: a budget for each two values. */
import { CHECKS, Disclosing, FORMS, checkSeedWords, checkValue, form, isNumber, isWhole, register } from "../designs.js";
import { FormatError, PrivacyError, require, show } from "../errors.js";
import { EPSILON_MAX, EPSILON_MIN, Ratio, chance, expLow, least, most, packInt, uintWidth } from "../exact.js";
import { next } from "../logarithms.js";
import { ENTRIES_MAX, checkRows, drawn } from "./table.js";

/** @import { Words } from "../types.js" */

/** Comparisons of one proof, at most: values times values times outputs. */
const COMPARED = 1n << 23n;
/** Rows of the longest proof that a design carries. */
const MULTIPLIERS_MAX = 1 << 16;

/** @param {any} part @param {string} where @returns {number[][]} */
function readBudgets(part, where) {
  const list = (/** @type {any} */ given) => {
    if (!Array.isArray(given)) throw new FormatError(`${where} must be a list, got ${show(given, 60)}.`);
    return given;
  };
  return list(part).map((row) =>
    list(row).map((budget) => {
      if (budget === "inf") return Infinity;
      if (isNumber(budget)) return budget;
      throw new FormatError(`${where} needs numbers, or "inf" for no limit, got ${show(budget, 60)}.`);
    }),
  );
}

/** The sum of two budgets, rounded up. @param {number} one @param {number} two */
function addUp(one, two) {
  const whole = one + two;
  const part = whole - one;
  return one - (whole - part) + (two - part) > 0 ? next(whole, 1) : whole;
}

/** Whether each two values have no limit, as text: rows of budgets that are the same in this. @param {number[]} row */
const endless = (row) => row.map((budget) => (budget === Infinity ? "1" : "0")).join("");

/**
 * Output y of value x with probability weights[x][y] / 2**64; one word decides. Every output is at most e^budgets[x][z] times as
 * likely for x as for z; infinite: there is no limit. `hiddenRatio` is the largest ratio where there is one. A value is protected
 * if all its outputs are within that ratio against every other value.
 */
export class Channel extends Disclosing {
  static kind = "channel";
  static fields = "weights** budgets";
  static reads = { budgets: readBudgets };

  words = 1n;
  /** What `look` found. @type {{ratio: Ratio, beyond: bigint[]} | undefined} */
  #found;

  check() {
    const { weights, budgets } = this;
    checkRows(weights, 0n);
    const k = weights.length;
    this.k = BigInt(k);
    this.outputs = BigInt(weights[0].length);
    require(k * k <= ENTRIES_MAX, "values times values", k * k, `at most ${ENTRIES_MAX} budgets`);
    require(budgets.length === k && budgets.every((row) => row.length === k), "budgets", budgets.length, `${k} rows of ${k} budgets`);
    budgets.forEach((row, x) =>
      row.forEach((budget, z) => {
        const ok = budget === 0 || budget === Infinity || (EPSILON_MIN <= budget && budget <= EPSILON_MAX);
        const need = x === z ? "0" : `0, a number from ${EPSILON_MIN} to ${EPSILON_MAX}, or infinite`;
        require(ok && (x !== z || budget === 0), `budgets[${x}][${z}]`, budget, need);
      }),
    );
  }

  get width() {
    return uintWidth(this.outputs);
  }

  /** What a proof goes through. */
  get work() {
    const number = this.k * this.k * this.outputs;
    const steps = (number >> 3n) + 50n * BigInt(new Set(this.budgets.flat()).size);
    return { what: "comparisons of values and outputs", number, most: COMPARED, steps };
  }

  /** The largest finite budget, which is the epsilon of a design; 0 if there is none. */
  get limit() {
    return this.budgets.flat().reduce((a, b) => (a < b && b < Infinity ? b : a), 0);
  }

  /** What follows from the budgets: those of shortest paths, sums rounded up; 0 makes two values one. @returns {number[][]} */
  get closed() {
    const { budgets } = this;
    const found = budgets.map((row, x) => row.map((budget, z) => (budgets[z][x] === 0 ? 0 : budget)));
    found.forEach((past, via) => {
      for (const row of found) {
        const first = row[via];
        if (first < Infinity) past.forEach((more, z) => (row[z] = Math.min(row[z], addUp(first, more))));
      }
    });
    return found;
  }

  /** @param {string} name of the mechanism @param {number} epsilon of the design */
  checkLimit(name, epsilon) {
    const { limit } = this;
    if (limit !== epsilon) throw new FormatError(`epsilon of ${name} must be the largest limit of its kernel, ${limit}, got ${epsilon}.`);
  }

  /** Whether any two values have a limit. */
  get limited() {
    return this.budgets.some((row, x) => row.some((budget, z) => x !== z && budget < Infinity));
  }

  /** `PrivacyError` unless every output is within the budget of every two values: something by nothing is not. */
  checkPromises() {
    const { weights, budgets } = this;
    /** @type {Map<number, Ratio>} */
    const bounds = new Map();
    budgets.forEach((row, x) =>
      row.forEach((budget, z) => {
        if (x === z || budget === Infinity) return;
        const { top, bottom } = bounds.get(budget) ?? expLow(budget);
        bounds.set(budget, new Ratio(top, bottom));
        const y = weights[x].findIndex((weight, i) => weight * bottom > top * weights[z][i]);
        if (y < 0) return;
        const told = `value number ${x} is promised ${budget} against number ${z}, but output ${y} has the weights`;
        const hint = "Do not take part; tell whoever runs the task.";
        throw new PrivacyError(`${told} ${weights[x][y]} and ${weights[z][y]}; no report was made.`, hint);
      }),
    );
  }

  /** The least weight of each output, of the values that have no limit ("1"), or of the others. @param {string} free @param {string} which */
  lowest(free, which) {
    const rows = this.weights.filter((_, z) => free[z] === which);
    return this.weights[0].map((_, y) => least(rows.map((row) => row[y])));
  }

  /** Of any two values that have a limit; `PrivacyError` if it is infinite. */
  get hiddenRatio() {
    return (this.#found ??= this.look()).ratio;
  }

  /** That ratio, and how often, in 2**-64, a report speaks for each value beyond it, against one that has no limit. */
  look() {
    const free = this.budgets.map(endless);
    let ratio = new Ratio(1n);
    for (const own of new Set(free)) {
      const rows = this.weights.filter((_, x) => free[x] === own);
      this.lowest(own, "0").forEach((bottom, y) => {
        const top = most(rows.map((row) => row[y]));
        if (top * ratio.bottom > ratio.top * bottom) ratio = new Ratio(top, bottom);
      });
    }
    if (!ratio.bottom) this.checkPromises();
    const rest = new Map([...new Set(free)].map((own) => [own, own.includes("1") ? this.lowest(own, "1") : null]));
    const beyond = this.weights.map((row, x) => {
      const others = rest.get(free[x]) ?? row;
      return row.reduce((sum, weight, y) => (weight * ratio.bottom > ratio.top * others[y] ? sum + weight : sum), 0n);
    });
    return { ratio, beyond };
  }

  get beyond() {
    return (this.#found ??= this.look()).beyond;
  }

  /** The values that every report speaks for within the ratio, against any other one. */
  get protected() {
    const closed = [false, ...this.beyond.map((share) => !share), false];
    return closed.flatMap((one, i) => (i && one !== closed[i - 1] ? [BigInt(i - 1)] : []));
  }

  get disclosed() {
    return chance(most(this.beyond));
  }

  /** @param {bigint} x @param {Words} words */
  randomise(x, words) {
    checkValue(x, this.k);
    checkSeedWords(words);
    return packInt(drawn(this.weights[Number(x)], words), this.width);
  }
}

CHECKS.numbers = (value, [path], kernel) => {
  const count = Number(kernel[path]);
  return Array.isArray(value) && value.length === count && value.every(isNumber) ? "" : `a list of ${count} numbers`;
};

CHECKS.texts = (value, [path], kernel) => {
  const count = Number(kernel[path]);
  const fits = Array.isArray(value) && value.length === count && value.every((text) => text && typeof text === "string");
  return fits && new Set(value).size === count ? "" : `a list of ${count} different names`;
};

CHECKS.rows = (value, [path], kernel) => {
  const count = Number(kernel[path]);
  const fits = Array.isArray(value) && 0 < value.length && value.length <= count;
  const rows = fits && value.every((row) => Array.isArray(row) && row.length === count && row.every(isNumber));
  return rows ? "" : `1 to ${count} lists of ${count} numbers`;
};

/** Rows of four whole numbers; nothing that a device does depends on them. */
CHECKS.multipliers = (value) => {
  const whole = (/** @type {unknown} */ number) => isWhole(number, 0, 2 ** 53);
  const fits = Array.isArray(value) && value.length <= MULTIPLIERS_MAX;
  const rows = fits && value.every((row) => Array.isArray(row) && row.length === 4 && row.every(whole));
  return rows ? "" : `at most ${MULTIPLIERS_MAX} rows of four whole numbers`;
};

register(
  [Channel],
  {
    matrix: form("channel", { "prior?": "numbers k", "outputs?": "texts outputs" }),
    optimal: form("channel", {
      objective: "word frequency mean functional",
      "prior?": "numbers k",
      "values?": "numbers k",
      "functionals?": "rows k",
      "case?": "word worst",
      error: "number",
      blind: "whole",
    }),
    "optimal-release": form("channel", {
      points: "wholes",
      "prior?": "numbers k",
      "case?": "word worst",
      loss: "number",
      bound: "number",
      blind: "whole",
      "multipliers?": "multipliers",
    }),
  },
  [FORMS],
);
