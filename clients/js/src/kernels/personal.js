/** Everyone chooses a level of protection: one data kernel per level, and a channel that hides the chosen level. */
import { CHECKS, Disclosing, FORMS, checkPromise, form, isNumber, isWhole, oneOf, readEpsilon, register } from "../designs.js";
import { require } from "../errors.js";
import { Ratio, expLow, join, largest, most } from "../exact.js";

/** @import { Words } from "../types.js" */

/** The kernel in `data` of the chosen level, the most protective one first, then the level through a channel, if there is one. */
export class Personal extends Disclosing {
  static kind = "personal";
  static fields = "data@* level@*";

  check() {
    const { data, level } = this;
    const hint = "Reports of another form, e.g. another hash range, would show the level.";
    require(new Set(data.map(formOf)).size === 1, "data", data.length, "kernels of one kind, size and report format", hint);
    data.forEach(checkData);
    const fits = (/** @type {any} */ { kind, k }) => ["response", "bit"].includes(kind) && k === BigInt(data.length);
    const channel = level.length <= 1 && level.every(fits);
    require(channel, "level", level.length, `empty, or one response or bit kernel on ${data.length} levels`);
    this.k = data[0].k;
  }

  /** Of values at one level, which may be known. */
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

  /** What a proof goes through, two by two. */
  get work() {
    const number = BigInt(this.data.length);
    return { what: "levels", number, most: 16n, steps: 400n * number * number };
  }

  get width() {
    return this.data[0].width + (this.level[0]?.width ?? 0);
  }

  get words() {
    return most(this.data.map(({ words }) => words)) + 2n * BigInt(this.level.length);
  }

  /** @param {bigint} x @param {Words} words @param {number} [level] the number of the chosen one */
  randomise(x, words, level = 0) {
    require(level in this.data, "level", level, `the number of one of the ${this.data.length} levels`);
    const told = this.data[level].randomise(x, words);
    return join([told, ...this.level.map((kernel) => kernel.randomise(BigInt(level), words))]);
  }
}

/** What a kernel's reports show of it. @param {any} kernel @returns {string} */
function formOf(kernel) {
  const { kind, k, width, g, blocks, sensitive, attach, blind, base } = kernel;
  return `${kind === "utility" ? [kind, k, sensitive, !attach, blind, base.map(formOf)] : [kind, k, width, blocks ?? g]}`;
}

/** Refuse kernels that may tell anything about the level. @param {any} kernel */
function checkData(kernel) {
  const base = inner(kernel);
  if (kernel.kind === "utility") {
    require(!!base && kernel.s < kernel.k, "data", kernel.kind, "with two sensitive values and a harmless one");
    const told = kernel.blind === 1n && kernel.attach === 0n && kernel.plain > 0n;
    require(told, "data", kernel.kind, "with blind reports, and values disclosed alone now and then");
  }
  const known = ["response", "unary", "hashing", "affine"].includes(base.kind);
  require(known, "data", base.kind, "response, unary, hashing or affine kernels, or utility kernels on these");
}

/** The kernel itself, or the base of one that discloses. @param {any} kernel */
const inner = (kernel) => (kernel.kind === "utility" ? kernel.base[0] : kernel);

/** A level for each kernel; they rise up to the design's promise. */
CHECKS.levels = (value, _, { data }, design) => {
  const told = `${data.length} numbers that rise, the most protective first, up to epsilon`;
  if (!Array.isArray(value) || value.length !== data.length || !value.every(isNumber)) return told;
  if (value.some((level, i) => level <= value[i - 1]) || value[data.length - 1] > design.epsilon) return told;
  value.forEach((number) => readEpsilon(number, "a level"));
  return "";
};

/** Epsilon of the level report, null if there is none. */
CHECKS.budget = (value, _, { level }) => {
  if (!level.length) return value === null ? "" : "null";
  readEpsilon(value, "level_epsilon");
  return "";
};

/** A word that goes with the kind of the kernels at a place, or of their bases. */
CHECKS.kind = (value, [path, ...words], kernel) => {
  const means = new Map(words.map((word) => /** @type {[string, string]} */ (word.split(":"))));
  const found = [...new Set(kernel[path].map((/** @type {any} */ part) => inner(part).kind))].join();
  return means.get(value) === found ? "" : `a word for kernels of kind ${found || "none"}`;
};

/** The range of hashing at all levels, or null for other kernels. */
CHECKS.g = (value, _, { data }) => {
  const { blocks, g } = inner(data[0]);
  const found = blocks ? undefined : g;
  const fits = found === undefined ? value === null : isWhole(value, found, found);
  return fits ? "" : `the kernel's ${found ?? null}`;
};

const params = {
  levels: "levels data",
  base: "kind data sue:unary oue:unary grr:response lh:hashing affine:affine",
  level_epsilon: "budget level",
  level_report: "kind level response:response bit:bit none:",
  g: "g data",
};
const data = oneOf("unary response hashing affine");
const level = oneOf("response bit");
const forms = {
  pldp: form({ personal: { data, level } }, { ...params, "blocks?": "same data.0.blocks" }),
  upldp: form(
    { personal: { data: { utility: { base: data } }, level } },
    { ...params, "blocks?": "same data.0.base.0.blocks", sensitive: "same protected", disclosure: "word common own capped" },
  ),
};
register([Personal], forms, [FORMS]);
