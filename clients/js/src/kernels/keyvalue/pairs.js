/**
 * Key-value kernels: which key a person has, and how much of it. The input of most of them is a *signed key* of
 * 0..2 keys - 1: the key for a value that was rounded to the top of its range (+1), key + keys for the bottom (-1).
 */
import { CHECKS, FORMS, Kernel, checkPlain, checkValue, checkWhole, form, isNumber, oneOf, register, whole } from "../../designs.js";
import { ParameterError, require, show } from "../../errors.js";
import { ONE, Ratio, WORD, below, either, twoLevelLift } from "../../exact.js";

/** @import { Domain, Shapes, Words } from "../../types.js" */

/** Values lie on this many equal steps of their range, so that rounding one to an end compares integers. */
export const GRID = 1n << 32n;

/**
 * The pairs of one person, by padding and sampling, through a kernel on signed keys. `length` 0: everybody has exactly one.
 * Else fewer than `length` pairs are filled up from `length` further keys that mean nothing, and one of all is drawn.
 */
export class Pairs extends Kernel {
  static kind = "pairs";
  static fields = "base@ keys# length";

  check() {
    const { base, keys, length } = this;
    checkPlain("a kernel for pairs", base);
    checkWhole("length", length, 0n, keys, "Give at most as many pairs per person as there are keys.");
    const need = 2n * (keys + length);
    const hint = "Padding needs as many dummy keys as the length says; with fewer an amplified kernel leaks.";
    require(base.k === need, "signed keys of the kernel", base.k, `2 (keys + length) = ${need}`, hint);
  }

  /** Over all sets of pairs with different keys. */
  get ratio() {
    return this.length ? paddedRatio(this.base, this.keys, this.length) : this.base.ratio;
  }

  /** Of a domain: its keys. */
  get answers() {
    return this.keys;
  }

  get width() {
    return this.base.width;
  }

  get words() {
    return 3n + this.base.words;
  }

  /** What a proof goes through. */
  get work() {
    return { what: "pairs per person", number: this.length, most: 1n << 12n, steps: 40n * this.length };
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

  /** Pairs with keys by number, and values in steps of their range. @param {any} pairs @param {Domain} domain @param {[number, number]} range */
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

  /** Of a list of pairs those that there are keys and numbers for; null if that leaves none. @param {any} pairs @param {Domain} domain @param {[number, number]} range */
  possible(pairs, domain, [low, high]) {
    if (!Array.isArray(pairs)) return pairs;
    const fits = pairs.filter((pair) => {
      if (!Array.isArray(pair) || pair.length !== 2 || typeof pair[1] !== "number") return false;
      try {
        domain.index(pair[0]);
      } catch (error) {
        if (error instanceof ParameterError) return false; // a key that is none of the design's
        throw error;
      }
      return low <= pair[1] && pair[1] <= high;
    });
    return fits.length || !pairs.length ? fits : null;
  }

  /** What somebody may have who says nothing. @param {Words} words @returns {[number, number][]} */
  drawn(words) {
    return this.length ? [] : [[Number(below(this.keys, words)), Number(GRID / 2n)]];
  }
}

/** The nearest whole number, halves to the even one. @param {number} x */
function nearest(x) {
  const found = Math.round(x);
  return found - x === 0.5 && found % 2 ? found - 1 : found;
}

/** Different keys that count as one become one pair with their mean. @param {[number, number][]} pairs */
function merged(pairs) {
  /** @type {Map<number, number[]>} */
  const found = new Map();
  for (const [key, steps] of pairs) found.set(key, [...(found.get(key) ?? []), steps]);
  return [...found].map(([key, all]) => /** @type {[number, number]} */ ([key, Math.floor(all.reduce((a, b) => a + b) / all.length)]));
}

/** A kernel on signed keys. */
export class Signed extends Kernel {
  check() {
    this.k = 2n * this.keys;
  }

  /** Whether the sign is -1, and the key. @param {bigint} x @returns {[number, bigint]} */
  split(x) {
    checkValue(x, this.k);
    return [Number(x / this.keys), x % this.keys];
  }
}

/** Sets of `size` signed keys; the own one is among them with probability keep/2**64. */
export class SignedSet extends Signed {
  static fields = "keys# size keep%";

  check() {
    super.check();
    checkWhole("size", this.size, 1n, this.keys);
  }

  get favours() {
    return this.size;
  }

  get lift() {
    return twoLevelLift(this.keep, this.size, this.k - this.size);
  }

  get ratio() {
    return either(this.lift);
  }
}

/** The sign is kept, or turned, or the key is not said at all. @param {Kernel} kernel */
export const checkTurned = ({ own, flip }) => require(own + flip < WORD, "own + flip", own + flip, "below 2**64");

/** Exact ratio between sets of pairs (docs/maths/keyvalue.md, section 4). @param {any} base @param {bigint} keys @param {bigint} length @returns {Ratio} */
export function paddedRatio(base, keys, length) {
  if (base.padded) return base.padded(keys, length);
  const size = base.favours;
  require(size !== undefined, "kernel", base.kind, "one that padding is worked out for");
  return size ? either(ONE.plus(base.lift.minus(ONE).times(new Ratio(size < length ? size : length, length)))) : base.ratio;
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
register([Pairs], forms, [FORMS]);
