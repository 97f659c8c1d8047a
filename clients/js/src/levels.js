/** What a report of a personal kernel tells about the level it was made at, and about values that choose the level. */
import { ONE, Ratio, WORD, exactly, largest } from "./exact.js";
import { logUpper, nearest, next } from "./logarithms.js";

/** @type {Record<string, (kernel: any, level: number) => bigint[]>} in proportion to the chances of a level's reports */
const CHANNELS = {
  response: ({ k, keep }, level) => Array.from({ length: Number(k) }, (_, i) => (i === level ? keep * (k - 1n) : WORD - keep)),
  bit: ({ chances }, level) => [WORD - chances[level], chances[level]],
};

/**
 * Exact largest log-ratios of the whole report, rounded up: between two levels, the value being the same (`level`), and
 * between any two pairs of a value and a level, which is what is left if the level depends on the value (`pair`).
 * @param {any} kernel
 */
export function guarantees(kernel) {
  const same = between(kernel, "same");
  const pair = Math.max(logUpper(kernel.hiddenRatio), ...same, ...between(kernel, "other"));
  return { level: Math.max(0, ...same), pair };
}

/** Largest log-ratios of whole reports for each two levels. @param {any} kernel @param {"same" | "other"} values @returns {number[]} */
function between({ data, level }, values) {
  /** @type {any[]} */
  const laws = data.map(lawOf);
  const told = laws.map((_, i) => level.flatMap((/** @type {any} */ channel) => CHANNELS[channel.kind](channel, i)));
  return laws.flatMap((one, i) =>
    laws.flatMap((two, j) => (i === j ? [] : [addUp(one[values](two), ofLaws(told[i], told[j]))])),
  );
}

/** @param {any} kernel @returns {any} */
function lawOf(kernel) {
  if (kernel.kind === "utility") return new Hiding(lawOf(kernel.base[0]), new Ratio(kernel.plain, WORD));
  if (kernel.kind === "unary") return new Bits(Number(kernel.k), kernel.keep, kernel.flip);
  const [own, rest] = kernel.levels;
  return new OneOf(own + rest, new Ratio(kernel.keep, WORD * own), new Ratio(WORD - kernel.keep, WORD * rest));
}

/** Independent bits, 1 with chance keep/2**64 for the own value and flip/2**64 for any of the others. */
class Bits {
  /** @param {number} k @param {bigint} keep @param {bigint} flip */
  constructor(k, keep, flip) {
    this.k = k;
    this.keep = keep;
    this.flip = flip;
  }

  /** The same for reports without a value. */
  get blind() {
    return new Bits(this.k, this.flip, this.flip);
  }

  /** Largest log-ratio of a report of this kernel and of another one of its form for one value. @param {Bits} its */
  same(its, factor = ONE) {
    return addUp(log(factor), ofBits(this.keep, its.keep), (this.k - 1) * ofBits(this.flip, its.flip));
  }

  /** ... of this kernel for one value and of the other kernel for another one. @param {Bits} its */
  other(its) {
    return addUp(ofBits(this.keep, its.flip), ofBits(this.flip, its.keep), (this.k - 2) * ofBits(this.flip, its.flip));
  }
}

/** One of `size` answers (for hashing: given the seed), each own one with chance `own`, any other with `rest`. */
class OneOf {
  /** @param {bigint} size @param {Ratio} own @param {Ratio} rest */
  constructor(size, own, rest) {
    this.size = size;
    this.own = own;
    this.rest = rest;
  }

  get blind() {
    return new OneOf(this.size, new Ratio(1n, this.size), new Ratio(1n, this.size));
  }

  /** @param {OneOf} its */
  same(its, factor = ONE) {
    return log(factor.times(largest([this.own.over(its.own), this.rest.over(its.rest)])));
  }

  /** @param {OneOf} its */
  other(its) {
    const third = this.size > 2n ? [this.rest.over(its.rest)] : [];
    return log(largest([this.own.over(its.rest), this.rest.over(its.own), ...third]));
  }
}

/** A base on the sensitive values; a harmless one is disclosed with chance `told`, or hidden by a blind report. */
class Hiding {
  /** @param {any} base @param {Ratio} told */
  constructor(base, told) {
    this.base = base;
    this.told = told;
    this.kept = ONE.minus(told);
  }

  /** @param {Hiding} its */
  same(its) {
    return Math.max(this.base.same(its.base), log(this.told.over(its.told)), this.hidden(its));
  }

  /** Of reports that disclose nothing. @param {Hiding} its */
  other(its) {
    const own = this.base.same(its.base.blind, ONE.over(its.kept));
    const theirs = this.base.blind.same(its.base, this.kept);
    return Math.max(this.base.other(its.base), this.hidden(its), own, theirs);
  }

  /** @param {Hiding} its */
  hidden(its) {
    return this.base.blind.same(its.base.blind, this.kept.over(its.kept));
  }
}

/** A float at least as large as the exact sum of the terms; 0 if all of them are. @param {number[]} terms */
function addUp(...terms) {
  const most = Math.max(...terms.map(Math.abs));
  if (!most) return 0;
  const sum = terms.reduce((all, term) => all.plus(exactly(term)), new Ratio(0n));
  return nearest(sum) + 4 * (next(most, 1) - most);
}

/** Largest log-ratio of two laws of one outcome, each in whole numbers with the same sum. @param {bigint[]} one @param {bigint[]} two */
const ofLaws = (one, two) => (one.length ? logUpper(largest(one.map((a, i) => new Ratio(a, two[i])))) : 0);

/** Largest log-ratio of a bit that is 1 with chance a/2**64 and one with b/2**64. @param {bigint} a @param {bigint} b */
const ofBits = (a, b) => ofLaws([a, WORD - a], [b, WORD - b]);

/** A float that is at least ln(ratio), also below 0. @param {Ratio} ratio */
function log(ratio) {
  return ratio.below(ONE) ? next(next(-logUpper(ONE.over(ratio)), -1), -1) : logUpper(ratio);
}

