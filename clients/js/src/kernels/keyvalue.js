/**
 * Key-value kernels: which key a person has, and how much of it. The input of most of them is a *signed key* of
 * 0..2 keys - 1: the key for a value that was rounded to the top of its range (+1), key + keys for the bottom (-1).
 */
import { ParameterError, require } from "../errors.js";
import { ONE, Ratio, WORD, either, largest, twoLevelLift } from "../exact.js";
import { bitsWidth, join, packBits, packInt, uintWidth } from "../packing.js";
import { below, happens, subset } from "../words.js";
import { GRID, Kernel, checkK, checkPlain, checkThreshold, checkValue, checkWhole, register, whole } from "./contract.js";

/** @typedef {import("../words.js").Words} Words */
/** @typedef {import("./contract.js").Parts} Parts */

/** @param {bigint} number */
const share = (number) => new Ratio(number, WORD);

/** A kernel on signed keys. */
export class Signed extends Kernel {
  get k() {
    return 2n * /** @type {any} */ (this).keys;
  }

  /** Whether the sign is -1, and the key. @param {bigint} x @returns {[number, bigint]} */
  split(x) {
    checkValue(x, this.k);
    const { keys } = /** @type {any} */ (this);
    return [Number(x / keys), x % keys];
  }
}

/** One of {+1, -1, 0} per key, independently: thresholds own (sign kept), flip (sign turned), other (not held, any). */
export class SignedUnary extends Signed {
  static kind = "signed-unary";
  static fields = "keys own flip other";

  constructor(/** @type {Parts} */ { keys, own, flip, other }) {
    super();
    checkK((this.keys = keys));
    checkThreshold("own", (this.own = own));
    checkThreshold("flip", (this.flip = flip));
    checkThreshold("other", (this.other = other));
    require(own + flip < WORD, "own + flip", own + flip, "below 2**64");
  }

  /** Between two keys the largest quotient own/other times the largest other/own; at one key, of both signs. */
  get ratio() {
    const [s, r, a] = [share(this.own), share(this.flip), new Ratio(this.other, 2n * WORD)];
    const none = [ONE.minus(s).minus(r), ONE.minus(share(this.other))];
    const pairs = [[s, a], [r, a], none];
    const up = largest(pairs.map(([own, other]) => own.over(other)));
    const down = largest(pairs.map(([own, other]) => other.over(own)));
    return largest([up.times(down), either(s.over(r))]);
  }

  /** Positions that are independent gain nothing by padding. */
  padded() {
    return this.ratio;
  }

  get width() {
    return 2 * bitsWidth(this.keys);
  }

  get words() {
    return 2n * this.keys;
  }

  /** @param {bigint} x @param {Words} words */
  randomise(x, words) {
    const [minus, key] = this.split(x);
    /** @type {bigint[][]} */
    const sides = [[], []];
    for (let i = 0n; i < this.keys; i++) {
      if (i === key) {
        const word = words.word();
        if (word < this.own + this.flip) sides[word < this.own ? minus : 1 - minus].push(i);
      } else if (happens(this.other, words)) sides[Number(below(2n, words))].push(i);
    }
    return join(packBits(sides[0], this.keys), packBits(sides[1], this.keys));
  }
}

/** `size` different keys, each with a sign; the own signed key is among them with probability keep/2**64. */
export class SignedSubset extends Signed {
  static kind = "signed-subset";
  static fields = "keys size keep";

  constructor(/** @type {Parts} */ { keys, size, keep }) {
    super();
    checkK((this.keys = keys));
    checkWhole("size", (this.size = size), 1n, keys);
    checkThreshold("keep", (this.keep = keep));
  }

  get lift() {
    return twoLevelLift(this.keep, this.size, 2n * this.keys - this.size);
  }

  get ratio() {
    return either(this.lift);
  }

  /** Exact ratio between sets of pairs, fewer of which are in a small set. @param {bigint} keys @param {bigint} length */
  padded(keys, length) {
    return paddedSets(this.lift, this.size, length);
  }

  get width() {
    return 2 * bitsWidth(this.keys);
  }

  get words() {
    return 2n * this.size + 2n;
  }

  /** @param {bigint} x @param {Words} words */
  randomise(x, words) {
    const [minus, key] = this.split(x);
    const kept = happens(this.keep, words);
    const turned = !kept && below(2n * this.keys - this.size, words) < this.size;
    const others = subset(this.keys - 1n, kept || turned ? this.size - 1n : this.size, words);
    /** @type {bigint[][]} */
    const sides = [[], []];
    for (const i of [...others].sort((a, b) => (a < b ? -1 : 1))) {
      sides[Number(below(2n, words))].push(i >= key ? i + 1n : i);
    }
    if (kept || turned) sides[kept ? minus : 1 - minus].push(key);
    return join(packBits(sides[0], this.keys), packBits(sides[1], this.keys));
  }
}

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

/** One key, drawn without looking at the own one and sent in clear, with +1, -1 or 0 for it. */
export class OneKey extends Signed {
  static kind = "one-key";
  static fields = "keys keep flip";

  constructor(/** @type {Parts} */ { keys, keep, flip }) {
    super();
    checkK((this.keys = keys));
    checkThreshold("keep", (this.keep = keep));
    checkThreshold("flip", (this.flip = flip));
  }

  /** By which people without the key answer, in 2**-32 of the chance of +1: they toss an even coin. @returns {bigint[]} */
  get guesses() {
    return [GRID / 2n];
  }

  /** The key is public, so only what is said of it counts; quotients are monotone in the guess. */
  get ratio() {
    const [p, turn] = [share(this.keep), share(this.flip)];
    const [s, r] = [p.times(ONE.minus(turn)), p.times(turn)];
    const none = [ONE.minus(p), ONE.minus(p), p];
    const least = this.guesses.reduce((a, b) => (b < a ? b : a));
    const most = this.guesses.reduce((a, b) => (b > a ? b : a));
    const laws = [least, most].flatMap((guess) => {
      const told = new Ratio(guess, GRID);
      const plus = told.times(ONE.minus(turn)).plus(ONE.minus(told).times(turn));
      const rest = ONE.minus(p);
      return [none, [s, r, rest.times(plus)], [r, s, rest.times(ONE.minus(plus))]];
    });
    return largest(laws.map((said) => largest(said).over(said.reduce((a, b) => (b.below(a) ? b : a)))));
  }

  get width() {
    return uintWidth(3n * this.keys);
  }

  get words() {
    return 5n;
  }

  /** @param {bigint} x @param {Words} words */
  randomise(x, words) {
    const [minus, key] = this.split(x);
    const asked = below(this.keys, words);
    const held = asked === key;
    const said = happens(this.keep, words) === held ? 1 + this.sign(asked, minus, held, words) : 0;
    return packInt(3n * asked + BigInt(said), this.width);
  }

  /** What is said of the key, 0 for +1 and 1 for -1. @param {bigint} asked @param {number} minus @param {boolean} held @param {Words} words */
  sign(asked, minus, held, words) {
    return minus ^ Number(held ? happens(this.flip, words) : below(2n, words));
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
}

/** How many of their answers plain kernels favour (or slight); bits are free, buckets may hold all. @param {any} kernel */
const favouredBy = (kernel) => ({ response: 1n, subset: kernel.size, interval: kernel.size })[/** @type {any} */ (kernel).kind];

/**
 * Exact ratio between sets of pairs, for a kernel on keys + length keys (docs/maths/keyvalue.md, section 4).
 * @param {any} base
 * @param {bigint} keys
 * @param {bigint} length
 * @returns {Ratio}
 */
function paddedRatio(base, keys, length) {
  if (base.padded) return base.padded(keys, length);
  const size = favouredBy(base);
  if (size) return paddedSets(base.lift, size, length);
  require(base.kind === "hashing", "kernel", base.kind, "one that padding is worked out for");
  return base.ratio;
}

/** Sets of `size` signed keys, against people who have none of them. @param {Ratio} lift @param {bigint} size @param {bigint} length */
function paddedSets(lift, size, length) {
  return either(ONE.plus(lift.minus(ONE).times(new Ratio(size < length ? size : length, length))));
}

/**
 * Sets of keys: `held` of them real, the rest dummies, which may not be avoided where there are few keys.
 * @param {Ratio} lift
 * @param {bigint} size
 * @param {bigint} keys
 * @param {bigint} length
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

register(SignedUnary, SignedSubset, KeysOnly, OneKey, Grouped, Pairs);
