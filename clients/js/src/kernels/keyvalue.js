/**
 * Key-value kernels: which key a person has, and how much of it. The input of most of them is a *signed key* of
 * 0..2 keys - 1: the key for a value that was rounded to the top of its range (+1), key + keys for the bottom (-1).
 */
import { isNumber } from "../documents.js";
import { ParameterError, require, show } from "../errors.js";
import { ONE, Ratio, either, largest } from "../exact.js";
import { below, happens } from "../words.js";
import {
  CHECKS,
  FORMS,
  GRID,
  Kernel,
  checkK,
  checkPlain,
  checkThreshold,
  checkValue,
  checkWhole,
  form,
  oneOf,
  register,
  whole,
} from "./contract.js";
import { paddedSets } from "./signed.js";

/** @typedef {import("../words.js").Words} Words */
/** @typedef {import("./contract.js").Parts} Parts */
/** @typedef {import("./contract.js").Shapes} Shapes */

/** A kernel on keys that does not look at the sign. */
export class KeysOnly extends Kernel {
  static kind = "keys-only";
  static fields = "base@";

  constructor(/** @type {Parts} */ { base }) {
    super();
    checkPlain("a kernel on keys", (this.base = base));
  }

  get k() {
    return 2n * this.base.k;
  }

  get ratio() {
    return this.base.ratio;
  }

  /** @param {bigint} keys @param {bigint} length */
  padded(keys, length) {
    const size = favouredBy(this.base);
    return size ? paddedKeys(this.base.lift, size, keys, length) : this.base.ratio;
  }

  get width() {
    return this.base.width;
  }

  get words() {
    return this.base.words;
  }

  /** @param {bigint} x @param {Words} words */
  randomise(x, words) {
    checkValue(x, this.k);
    return this.base.randomise(x % this.base.k, words);
  }
}

/** The second of two kernels with probability coin/2**64, by a coin that a report shows in its first byte. */
export class Grouped extends Kernel {
  static kind = "grouped";
  static fields = "first@ second@ coin";

  constructor(/** @type {Parts} */ { first, second, coin }) {
    super();
    checkPlain("a group", (this.first = first), (this.second = second));
    require(first.k === second.k, "k of both groups", [first.k, second.k], "the same");
    checkThreshold("coin", (this.coin = coin));
  }

  get k() {
    return this.first.k;
  }

  get ratio() {
    return largest([this.first.ratio, this.second.ratio]);
  }

  /** @param {bigint} keys @param {bigint} length @returns {Ratio} */
  padded(keys, length) {
    return largest([this.first, this.second].map((part) => paddedRatio(part, keys, length)));
  }

  get width() {
    return 1 + Math.max(this.first.width, this.second.width);
  }

  get words() {
    const [one, two] = [this.first.words, this.second.words];
    return 1n + (one > two ? one : two);
  }

  /** The shorter report is filled up with zeros. @param {bigint} x @param {Words} words */
  randomise(x, words) {
    const second = happens(this.coin, words);
    const out = new Uint8Array(this.width);
    out[0] = Number(second);
    out.set((second ? this.second : this.first).randomise(x, words), 1);
    return out;
  }
}

/**
 * The pairs of one person, by padding and sampling, through a kernel on signed keys. `length` 0: everybody has exactly one
 * pair. Else people with fewer than `length` pairs are filled up from `length` further keys that mean nothing, one key is
 * drawn, and the kernel covers keys + length keys.
 */
export class Pairs extends Kernel {
  static kind = "pairs";
  static fields = "base@ keys length";

  constructor(/** @type {Parts} */ { base, keys, length }) {
    super();
    checkPlain("a kernel for pairs", (this.base = base));
    checkK((this.keys = keys));
    checkWhole("length", (this.length = length), 0n, keys, "Give at most as many pairs per person as there are keys.");
    const need = 2n * (keys + length);
    const hint = "Padding needs as many dummy keys as the length says; with fewer an amplified kernel leaks.";
    require(base.k === need, "signed keys of the kernel", base.k, `2 (keys + length) = ${need}`, hint);
  }

  /** Over all sets of pairs with different keys. */
  get ratio() {
    return this.length ? paddedRatio(this.base, this.keys, this.length) : this.base.ratio;
  }

  get width() {
    return this.base.width;
  }

  get words() {
    return 3n + this.base.words;
  }

  /** How many parts the proof goes through, and how many at most. */
  get parts() {
    return { what: "pairs per person", count: this.length, most: 1n << 12n };
  }

  /** A report for pairs (key, value in steps of 1/GRID of the range). @param {any[]} pairs @param {Words} words */
  randomise(pairs, words) {
    this.checkPairs(pairs);
    const count = BigInt(pairs.length);
    const number = below(count > this.length ? count : this.length || 1n, words);
    const [key, value] = number < count ? pairs[Number(number)].map(whole) : [this.keys + below(this.length, words), GRID / 2n];
    const signed = below(GRID, words) < value ? key : key + this.keys + this.length;
    return this.base.randomise(signed, words);
  }

  /** Refuse what are no pairs of one person. @param {any[]} pairs */
  checkPairs(pairs) {
    for (const [key, value] of pairs) {
      checkWhole("key", whole(key), 0n, this.keys - 1n);
      checkWhole("value", whole(value), 0n, GRID, "It is the number of steps from the low end of the range.");
    }
    if (new Set(pairs.map(([key]) => key)).size < pairs.length) {
      throw new ParameterError("pairs must have different keys.", "Keep one value of each key, e.g. their mean.");
    }
    const hint = "For several, or none, the task needs a length.";
    require(this.length > 0n || pairs.length === 1, "pairs", pairs.length, "exactly one", hint);
  }

  /**
   * Pairs with keys by number, and values in steps of their range.
   * @param {any} pairs @param {import("../domains.js").Domain} domain @param {[number, number]} range
   */
  pairsOf(pairs, domain, [low, high]) {
    if (!Array.isArray(pairs) || !pairs.every((pair) => Array.isArray(pair) && pair.length === 2)) {
      throw new ParameterError(`value must be a list of pairs [key, number], got ${show(pairs)}.`);
    }
    for (const [, number] of pairs) {
      const real = typeof number === "number" && low <= number && number <= high;
      require(real, "the number of a pair", number, `from ${low} to ${high}`, "Nothing is clipped.");
    }
    /** @type {[number, number][]} */
    let numbers = pairs.map(([key, n]) => [domain.index(key), nearest(((n - low) / (high - low)) * Number(GRID))]);
    const different = new Set(pairs.map(([key]) => `${key}`)).size === pairs.length;
    if (domain.other !== undefined && different) numbers = merged(numbers);
    this.checkPairs(numbers);
    return numbers;
  }
}

/** The nearest whole number, halves to the even one. @param {number} x */
function nearest(x) {
  const found = Math.round(x);
  return found - x === 0.5 && found % 2 ? found - 1 : found;
}

/** Different keys that count as one key become one pair with their mean: how many there are does not show. @param {[number, number][]} pairs */
function merged(pairs) {
  /** @type {Map<number, number[]>} */
  const found = new Map();
  for (const [key, steps] of pairs) found.set(key, [...(found.get(key) ?? []), steps]);
  return [...found].map(([key, all]) => /** @type {[number, number]} */ ([key, Math.floor(all.reduce((a, b) => a + b) / all.length)]));
}

/** How many of their answers plain kernels favour (or slight); bits are free, buckets may hold all. @param {any} kernel */
const favouredBy = (kernel) => (kernel.kind === "response" ? 1n : /^(subset|interval)$/.test(kernel.kind) && kernel.size);

/**
 * Exact ratio between sets of pairs, for a kernel on keys + length keys (docs/maths/keyvalue.md, section 4).
 * @param {any} base @param {bigint} keys @param {bigint} length @returns {Ratio}
 */
function paddedRatio(base, keys, length) {
  if (base.padded) return base.padded(keys, length);
  const size = favouredBy(base);
  if (size) return paddedSets(base.lift, size, length);
  require(base.kind === "hashing", "kernel", base.kind, "one that padding is worked out for");
  return base.ratio;
}

/**
 * Sets of keys: `held` of them real, the rest dummies, which may not be avoided where there are few keys.
 * @param {Ratio} lift @param {bigint} size @param {bigint} keys @param {bigint} length
 */
function paddedKeys(lift, size, keys, length) {
  const gain = lift.minus(ONE);
  let worst = ONE;
  for (let held = size > length ? size - length : 0n; held <= size && held <= keys; held++) {
    const most = held < length ? held : length;
    const least = keys - held < length ? keys - held : length;
    const square = length * length;
    const high = ONE.plus(gain.times(new Ratio(most * length + (length - most) * (size - held), square)));
    const low = ONE.plus(gain.times(new Ratio((length - least) * (size - held), square)));
    worst = largest([worst, either(high.over(low))]);
  }
  return worst;
}

CHECKS.range = (value) => {
  const fits = Array.isArray(value) && value.length === 2 && value.every(isNumber) && isNumber(value[1] - value[0]);
  return fits && value[0] < value[1] ? "" : "two numbers, the lower one first";
};

/** @param {Shapes} base @param {Record<string, string>} [params] */
const pairs = (base, params) => form({ pairs: { base } }, { ...params, "length?": "whole length", range: "range" });

/** Some people speak of keys only, the others of keys with signs; or all do the latter. @param {string} keys @param {string} signed */
const two = (keys, signed) => ({
  grouped: { first: { "keys-only": { base: oneOf(keys) } }, second: oneOf(signed) },
  ...oneOf(signed),
});

const forms = {
  "kv-ss2": pairs(oneOf("subset interval"), { size: "whole base.size", "encoding?": "word bits cyclic" }),
  "kv-ss": pairs(two("subset interval", "signed-subset signed-interval"), {
    mix: "chance",
    key_size: "whole base.first.base.size|",
    size: "whole base.second.size|base.size",
    "encoding?": "word bits cyclic",
  }),
  "kv-mix": pairs(two("unary", "signed-unary"), { mix: "chance" }),
  "kv-lh": pairs(oneOf("signed-hashing"), { g: "whole base.g" }),
  "kv-olh": pairs(oneOf("hashing"), { g: "whole base.g" }),
  "ks-ue pckv-ue": pairs(oneOf("signed-unary")),
  "pckv-grr": pairs(oneOf("response")),
  privkv: pairs(oneOf("one-key told-key"), { "key_epsilon?": "number", "told?": "same base.told" }),
};
register([KeysOnly, Grouped, Pairs], forms, [FORMS]);
