/** Everyone chooses a level of protection: one data kernel per level, and a channel that hides the chosen level. */
import { isNumber, isWhole } from "../documents.js";
import { require } from "../errors.js";
import { ONE, Ratio, WORD, exactly, expLow, largest, logUpper, next } from "../exact.js";
import { levelOf } from "../explain.js";
import { readEpsilon } from "../grammar.js";
import { join, packInt } from "../packing.js";
import { happens } from "../words.js";
import {
  CHECKS,
  Disclosing,
  FORMS,
  Kernel,
  checkK,
  checkPromise,
  checkThreshold,
  checkValue,
  form,
  oneOf,
  register,
} from "./contract.js";

/** @typedef {import("../words.js").Words} Words */
/** @typedef {import("./contract.js").Parts} Parts */

/** One bit: 1 with probability chances[x]/2**64 for value x. A level report that says no more than a mean needs. */
export class Bit extends Kernel {
  static kind = "bit";
  static fields = "chances*";

  constructor(/** @type {Parts} */ { chances }) {
    super();
    /** @type {bigint[]} */
    this.chances = chances;
    checkK(this.k);
    for (const chance of chances) checkThreshold("chances", chance);
  }

  get k() {
    return BigInt(this.chances.length);
  }

  get ratio() {
    const least = this.chances.reduce((a, b) => (b < a ? b : a));
    const most = this.chances.reduce((a, b) => (b > a ? b : a));
    return largest([new Ratio(most, least), new Ratio(WORD - least, WORD - most)]);
  }

  get width() {
    return 1;
  }

  get words() {
    return 1n;
  }

  /** @param {bigint} x @param {Words} words */
  randomise(x, words) {
    checkValue(x, this.k);
    return packInt(happens(this.chances[Number(x)], words) ? 1n : 0n, 1);
  }
}

/** @type {Record<string, (kernel: any, level: number) => bigint[]>} in proportion to the chances of a level's reports */
const CHANNELS = {
  response: ({ k, keep }, level) => Array.from({ length: Number(k) }, (_, i) => (i === level ? keep * (k - 1n) : WORD - keep)),
  bit: ({ chances }, level) => [WORD - chances[level], chances[level]],
};

/**
 * The data kernel of the chosen level, then the level itself through a channel of its own. `data` has one kernel for each
 * level, from the most protective on; `level` has the channel on the numbers of the levels, or is empty.
 */
export class Personal extends Disclosing {
  static kind = "personal";
  static fields = "data@* level@*";

  constructor(/** @type {Parts} */ { data, level }) {
    super();
    /** @type {any[]} */
    this.data = data;
    /** @type {any[]} */
    this.level = level;
    const hint = "Reports of another form, e.g. another hash range, would show the level.";
    require(new Set(this.data.map(formOf)).size === 1, "data", data.length, "kernels of one kind, size and report format", hint);
    this.data.forEach(checkData);
    const channel = level.length <= 1 && this.level.every((each) => each.kind in CHANNELS && each.k === BigInt(data.length));
    require(channel, "level", level.length, `empty, or one response or bit kernel on ${data.length} levels`);
  }

  get k() {
    return this.data[0].k;
  }

  /** Of values at one level, which may be known: the level report does not depend on the value, so it cancels. */
  get hiddenRatio() {
    return largest(this.data.map((kernel) => kernel.promisedRatio));
  }

  /** The same at all levels, which have reports of one form. */
  get protected() {
    return this.data[0].sensitive ?? [0n, this.k];
  }

  get disclosed() {
    return largest(this.data.map((kernel) => kernel.disclosed ?? new Ratio(0n)));
  }

  /** Every level's kernel keeps its own promise, and so does the level report. @param {Record<string, any>} params */
  checkPromises({ levels, level_epsilon }) {
    this.data.forEach((kernel, i) => checkPromise(kernel, expLow(levels[i]), levels[i]));
    for (const kernel of this.level) checkPromise(kernel, expLow(level_epsilon), level_epsilon);
  }

  /** What else is to be said of a design. @param {import("../grammar.js").Design} design */
  further({ params }) {
    const levels = params.levels.map(levelOf);
    const line = `You choose how much: epsilon ${levels.join(", ")}; the most protective, ${levels[0]}, if you do not.`;
    if (levels.length === 1) return [line];
    const told = `The report may tell which level you chose: at most epsilon ${levelOf(this.levelGuarantee)} about that`;
    const both = `${levelOf(this.pairGuarantee)} about your answer if you chose the level by looking at it`;
    return [line, `${told}, and ${both}.`];
  }

  /** How many parts the proof goes through two by two, and how many at most. */
  get parts() {
    return { what: "levels", count: BigInt(this.data.length), most: 16n };
  }

  get width() {
    return this.data[0].width + (this.level[0]?.width ?? 0);
  }

  get words() {
    return this.data.reduce((most, { words }) => (words > most ? words : most), 0n) + 2n * BigInt(this.level.length);
  }

  /** @param {bigint} x @param {Words} words @param {number} [level] the number of the chosen one */
  randomise(x, words, level = 0) {
    require(level in this.data, "level", level, `the number of one of the ${this.data.length} levels`);
    const told = this.data[level].randomise(x, words);
    return join(told, ...this.level.map((kernel) => kernel.randomise(BigInt(level), words)));
  }

  /** Exact largest log-ratio of the whole report between two levels, the value being the same; rounded up. */
  get levelGuarantee() {
    return Math.max(0, ...this.between("same"));
  }

  /** The same between any two pairs of a value and a level: what is left if the level depends on the value. */
  get pairGuarantee() {
    return Math.max(logUpper(this.hiddenRatio), ...this.between("same"), ...this.between("other"));
  }

  /** Largest log-ratios of whole reports for each two levels. @param {"same" | "other"} values */
  between(values) {
    const laws = this.data.map(lawOf);
    const told = this.data.map((_, i) => this.level.flatMap((kernel) => CHANNELS[kernel.kind](kernel, i)));
    return laws.flatMap((one, i) =>
      laws.flatMap((two, j) => (i === j ? [] : [addUp(one[values](two), ofLaws(told[i], told[j]))])),
    );
  }
}

// ---- what a report tells about the level it was made at

/** What a kernel's reports show of it. @param {any} kernel @returns {string} */
function formOf(kernel) {
  const { kind, k, width, g, sensitive, attach, blind, base } = kernel;
  return kind === "utility" ? `${[kind, k, sensitive, !attach, blind, base.map(formOf)]}` : `${[kind, k, width, g]}`;
}

/** Refuse kernels of which it is not known what they tell about the level. @param {any} kernel */
function checkData(kernel) {
  let base = kernel;
  if (kernel.kind === "utility") {
    [base] = kernel.base;
    require(!!base && kernel.s < kernel.k, "data", kernel.kind, "with two sensitive values and a harmless one");
    const told = kernel.blind === 1n && kernel.attach === 0n && kernel.plain > 0n;
    require(told, "data", kernel.kind, "with blind reports, and values disclosed alone now and then");
  }
  const known = ["response", "unary", "hashing"].includes(base.kind);
  require(known, "data", base.kind, "response, unary or hashing kernels, or utility kernels on these");
}

/** @param {any} kernel @returns {any} */
function lawOf(kernel) {
  if (kernel.kind === "utility") return new Hiding(lawOf(kernel.base[0]), new Ratio(kernel.plain, WORD));
  if (kernel.kind === "unary") return new Bits(Number(kernel.k), kernel.keep, kernel.flip);
  const size = kernel.g ?? kernel.k;
  return new OneOf(size, new Ratio(kernel.keep, WORD), new Ratio(WORD - kernel.keep, WORD * (size - 1n)));
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

/** One of `size` answers (for hashing: given the seed), the own one with chance `own`, any other with `rest`. */
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
  return +terms.reduce((sum, term) => sum.plus(exactly(term)), new Ratio(0n)) + 4 * (next(most, 1) - most);
}

/** Largest log-ratio of two laws of one outcome, each in whole numbers with the same sum. @param {bigint[]} one @param {bigint[]} two */
const ofLaws = (one, two) => (one.length ? logUpper(largest(one.map((a, i) => new Ratio(a, two[i])))) : 0);

/** Largest log-ratio of a bit that is 1 with chance a/2**64 and one with b/2**64. @param {bigint} a @param {bigint} b */
const ofBits = (a, b) => ofLaws([a, WORD - a], [b, WORD - b]);

/** A float that is at least ln(ratio), also below 0. @param {Ratio} ratio */
function log(ratio) {
  return ratio.below(ONE) ? next(next(-logUpper(ONE.over(ratio)), -1), -1) : logUpper(ratio);
}

/** A level for each kernel, from the most protective on, the last one being the design's promise. */
CHECKS.levels = (value, _, { data }, design) => {
  const told = `${data.length} numbers that rise, the most protective first, up to epsilon`;
  if (!Array.isArray(value) || value.length !== data.length || !value.every(isNumber)) return told;
  if (value.some((level, i) => level <= value[i - 1]) || value[data.length - 1] > design.epsilon) return told;
  value.forEach((number) => readEpsilon(number, "a level"));
  return "";
};

/** Epsilon of the level report, null if there is none: nothing is promised of what is not there. */
CHECKS.budget = (value, _, { level }) => {
  if (!level.length) return value === null ? "" : "null";
  readEpsilon(value, "level_epsilon");
  return "";
};

/** The kernel itself, or the base of one that discloses. @param {any} kernel */
const inner = (kernel) => (kernel.kind === "utility" ? kernel.base[0] : kernel);

/** A word that goes with the kind of the kernels at a place, or of their bases. */
CHECKS.kind = (value, [path, ...words], kernel) => {
  const means = new Map(words.map((word) => /** @type {[string, string]} */ (word.split(":"))));
  const found = [...new Set(kernel[path].map((/** @type {any} */ part) => inner(part).kind))].join();
  return means.get(value) === found ? "" : `a word for kernels of kind ${found || "none"}`;
};

/** The range of hashing at all levels, or null for other kernels. */
CHECKS.g = (value, _, { data }) => {
  const found = inner(data[0]).g;
  const fits = found === undefined ? value === null : isWhole(value, found, found);
  return fits ? "" : `the kernel's ${found ?? null}`;
};

const params = {
  levels: "levels data",
  base: "kind data sue:unary oue:unary grr:response lh:hashing",
  level_epsilon: "budget level",
  level_report: "kind level response:response bit:bit none:",
  g: "g data",
};
const data = oneOf("unary response hashing");
const level = oneOf("response bit");
const forms = {
  pldp: form({ personal: { data, level } }, params),
  upldp: form(
    { personal: { data: { utility: { base: data } }, level } },
    { ...params, sensitive: "same protected", disclosure: "word common own capped" },
  ),
};
register([Bit, Personal], forms, [FORMS]);
