/**
 * Sensitive and harmless values: a base kernel on the sensitive ones, and a branch for the others. A harmless value is
 * disclosed with some probability; otherwise the report looks like one of the base kernel's.
 */
import { fieldsOf, isMapping } from "../documents.js";
import { ParameterError, require } from "../errors.js";
import { ONE, Ratio, WORD, largest } from "../exact.js";
import { FIELDS, checkParams, read } from "../grammar.js";
import { join, packInt, uintWidth } from "../packing.js";
import { below, happens } from "../words.js";
import {
  BASES,
  Base,
  CHECKS,
  Disclosing,
  FORMS,
  checkK,
  checkPlain,
  checkValue,
  checkWhole,
  form,
  kernelTo,
  oneOf,
  register,
} from "./contract.js";

/** @typedef {import("../words.js").Words} Words */
/** @typedef {import("./contract.js").Parts} Parts */

/**
 * A base kernel for the values in the half-open ranges `sensitive` = (start, end, start, end, ...). Any other value is
 * disclosed alone with probability plain/2**64; else a report is made without any value (`blind` = 1) or of a uniformly
 * drawn sensitive value (`blind` = 0), and the value is put beside it with probability attach/2**64.
 *
 * The first field of a report is 0 (nothing disclosed), 1 + j (the j-th harmless value alone), or 1 + m + j (with a report
 * beside it; m harmless values); the base's bytes follow, zero if there are none.
 */
export class Utility extends Disclosing {
  static kind = "utility";
  static fields = "k sensitive* base@* plain attach blind";

  /** What `mixture.js` takes where its parts disclose. */
  static get Mixture() {
    return UtilityMixture;
  }

  constructor(/** @type {Parts} */ { k, sensitive, base, plain, attach, blind }) {
    super();
    checkK((this.k = k));
    checkRanges((this.sensitive = sensitive), k);
    checkPlain("a base", ...(this.base = base));
    const s = this.s;
    const fits = base.length === (s >= 2n ? 1 : 0) && base.every((/** @type {any} */ each) => each.k === s);
    require(fits, "base", base.length, s >= 2n ? `one kernel on ${s} values` : "empty for fewer than 2 values");
    require(s ? plain < WORD : plain === WORD, "plain", (this.plain = plain), "from 0 to 2**64 - 1");
    require(s ? attach < WORD : !attach, "attach", (this.attach = attach), "a threshold");
    checkWhole("blind", (this.blind = blind), 0n, 1n);
  }

  /** Number of sensitive values. */
  get s() {
    return countOf(this.sensitive);
  }

  /** Chance that a harmless value is not disclosed. */
  get kept() {
    return new Ratio((WORD - this.plain) * (WORD - this.attach), WORD * WORD);
  }

  get protected() {
    return this.sensitive;
  }

  get disclosed() {
    return ONE.minus(this.kept);
  }

  /**
   * Sensitive values against each other have the base's ratio. An output is at most `peak` times as likely for a sensitive
   * value as it is for the branch, which has the mass `kept`; and at most the base's ratio less likely.
   */
  get hiddenRatio() {
    if (!this.s) return ONE;
    const [base] = this.base;
    if (!base) return ONE.over(this.kept);
    if (this.s === this.k) return base.ratio;
    const peak = this.blind ? withBlind(base).blindPeak : mappedPeak(base);
    return largest([base.ratio, peak.over(this.kept)]);
  }

  /** Bytes of the first field. */
  get head() {
    return uintWidth(1n + (this.k - this.s) * (this.attach ? 2n : 1n));
  }

  get width() {
    return this.head + (this.base[0]?.width ?? 0);
  }

  get words() {
    return 3n + (this.base[0]?.words ?? 0n);
  }

  /** @param {bigint} x @param {Words} words */
  randomise(x, words) {
    checkValue(x, this.k);
    const { sensitive, rank } = place(this.sensitive, x);
    const body = (/** @type {(kernel: any) => Uint8Array} */ make) => this.base.map(make);
    if (sensitive) return join(packInt(0n, this.head), ...body((kernel) => kernel.randomise(rank, words)));
    if (happens(this.plain, words)) {
      return join(packInt(1n + rank, this.head), new Uint8Array(this.width - this.head));
    }
    const parts = body((kernel) =>
      this.blind ? withBlind(kernel).blind(words) : kernel.randomise(below(this.s, words), words),
    );
    const beside = this.attach > 0n && happens(this.attach, words);
    return join(packInt(beside ? 1n + this.k - this.s + rank : 0n, this.head), ...parts);
  }
}

/** A mixture of two that disclose: both protect the same values and have one report format. */
class UtilityMixture extends Disclosing {
  static kind = "mixture";
  static fields = "first@ second@ coin";

  constructor(/** @type {Parts} */ { first, second, coin }) {
    super();
    checkWhole("coin", (this.coin = coin), 0n, WORD - 1n);
    const both = first instanceof Utility && second instanceof Utility;
    require(both, "kernels of a mixture", [first.kind, second.kind], "both utility kernels, or neither");
    this.first = first;
    this.second = second;
    for (const name of /** @type {const} */ (["k", "width", "head", "sensitive"])) {
      const [one, two] = [`${first[name]}`, `${second[name]}`];
      require(one === two, `${name} of the kernels in a mixture`, [one, two], "the same");
    }
  }

  get k() {
    return this.first.k;
  }

  get protected() {
    return this.first.sensitive;
  }

  get disclosed() {
    const more = new Ratio(this.coin, WORD);
    return ONE.minus(more).times(this.first.disclosed).plus(more.times(this.second.disclosed));
  }

  /** The larger one, of those that can happen. */
  get hiddenRatio() {
    return largest((this.coin ? [this.first, this.second] : [this.first]).map((part) => part.hiddenRatio));
  }

  get width() {
    return this.first.width;
  }

  get words() {
    const [one, two] = [this.first.words, this.second.words];
    return 1n + (one > two ? one : two);
  }

  /** @param {bigint} x @param {Words} words */
  randomise(x, words) {
    return (happens(this.coin, words) ? this.second : this.first).randomise(x, words);
  }
}

/** How many numbers ranges hold. @param {bigint[]} ranges */
export const countOf = (ranges) => ranges.reduce((sum, end, i) => (i % 2 ? sum + end : sum - end), 0n);

/** Whether `x` is sensitive, and its rank among its kind. @param {bigint[]} ranges @param {bigint} x */
export function place(ranges, x) {
  const at = ranges.filter((end) => end <= x).length;
  const before = countOf(ranges.slice(0, at - (at % 2)));
  return at % 2 ? { sensitive: true, rank: before + x - ranges[at - 1] } : { sensitive: false, rank: x - before };
}

/** Refuse what are no ends of half-open ranges of 0..k-1, in order and apart from each other. @param {bigint[]} ranges @param {bigint} k */
export function checkRanges(ranges, k) {
  const ok = ranges.length % 2 === 0 && ranges.every((end, i) => end <= k && (!i || ranges[i - 1] < end));
  require(ok, "sensitive", ranges, `increasing ends of half-open ranges within 0..${k}`);
}

/** @param {any} kernel @returns {any} */
function withBlind(kernel) {
  if (kernel instanceof Base) return kernel;
  throw new ParameterError(`a ${kernel.kind} kernel has no reports without a value.`, "Use blind = 0.");
}

/**
 * The largest quotient of a report's likelihoods given some value, and on average over all s values: written down in the
 * kernel, or s ratio/(m ratio + s - m), where at least m values share the largest likelihood of an output.
 * @param {any} kernel
 */
function mappedPeak(kernel) {
  if (kernel.mappedPeak) return kernel.mappedPeak;
  /** @type {bigint[]} */
  const [s, m, top, bottom] = [kernel.k, kernel.least ?? 1n, kernel.ratio.top, kernel.ratio.bottom];
  return new Ratio(s * top, m * top + (s - m) * bottom);
}

/** The base by name and parameters, or by its whole design; null without one. */
CHECKS.base = (value, _, { base: [own] }, design) => {
  if (value === null || !own) {
    return value === null && !own ? "" : "null for fewer than two sensitive answers, and only then";
  }
  const whole = isMapping(value) && Object.hasOwn(value, "kernel");
  const given = fieldsOf(value, "base", whole ? FIELDS : ["mechanism", "params"]);
  const [name, form] = [given.mechanism, BASES.get(given.mechanism)];
  if (!form || !Object.hasOwn(form.kernel, own.kind)) return `a mechanism that has a ${own.kind} kernel`;
  if (!whole) {
    checkParams(`base ${name}`, form, given, own);
    return "";
  }
  const made = read(name, form, given);
  const same = made.epsilon === design.epsilon && JSON.stringify(kernelTo(made.kernel)) === JSON.stringify(kernelTo(own));
  return same ? "" : "a design with the epsilon and the kernel of the base";
};

/** @param {string} bases @returns {any} */
const over = (bases) => ({ utility: { base: oneOf(bases) } });
const params = { base: "base", sensitive: "same sensitive", theta: "chance", form: "word null glutf paper separate" };
const any = {
  /** Whatever is loaded and protects all answers alike. */
  get base() {
    return Object.assign({}, ...[...BASES.values()].map(({ kernel }) => kernel));
  },
};
const forms = {
  uss: form(over("subset"), params),
  "uue urap": form(over("unary"), params),
  ulh: form(over("hashing"), params),
  uwheel: form(over("wheel"), params),
  upgr: form(over("projective"), params),
  urr: form(over("response"), params),
  uhr: form(over("hadamard"), params),
  utility: form({ utility: any }, params),
  ussmix: form(
    { mixture: { first: over("subset"), second: over("subset whole") } },
    { size: "whole first.base.0.size", share: "share coin", sensitive: "same protected", theta: "chance" },
  ),
};
register([Utility], forms, [FORMS]);
