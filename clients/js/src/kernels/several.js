/** What somebody ticks of a list of options: a random set of outputs, likelier if it meets the own ones. */
import { Base, CHECKS, FORMS, ITEMS_MAX, checkValue, checkWhole, form, isWhole, register } from "../designs.js";
import { require } from "../errors.js";
import { WORD, below, bitsWidth, happens, packBits, subset } from "../exact.js";

/** @import { Words } from "../types.js" */

const OPTIONS_MAX = 64n;

/** Sets of `size` out of n; none where there are not so many. @param {bigint} n @param {bigint} size */
function combinations(n, size) {
  if (size < 0n || size > n) return 0n;
  let found = 1n;
  for (let i = 1n; i <= size; i++) found = (found * (n - size + i)) / i;
  return found;
}

/** @param {bigint[]} numbers */
const sum = (numbers) => numbers.reduce((a, b) => a + b, 0n);

/** @param {bigint} count */
const upTo = (count) => Array.from({ length: Number(count) }, (_, i) => BigInt(i));

/** How many sets of at most `most` options there are, the empty one included. @param {bigint} options @param {bigint} most */
export const setsUpTo = (options, most) => sum(upTo(most + 1n).map((size) => combinations(options, size)));

/**
 * The number of a set of options: smaller sets come first, and of one size those whose largest option is less.
 * @param {bigint[]} chosen @param {bigint} options
 */
export function numberOf(chosen, options) {
  const own = [...chosen].sort((a, b) => (a < b ? -1 : 1));
  const before = own.length ? setsUpTo(options, BigInt(own.length) - 1n) : 0n;
  return before + sum(own.map((option, i) => combinations(option, BigInt(i) + 1n)));
}

/** The inverse of `numberOf`. @param {bigint} number @param {bigint} options */
function setOf(number, options) {
  let size = 0n;
  for (; number >= combinations(options, size); size++) number -= combinations(options, size);
  const found = [];
  for (let option = options; size > 0n; size--) {
    do option--;
    while (combinations(option, size) > number);
    number -= combinations(option, size);
    found.push(option);
  }
  return found;
}

/** How many sets of `size` outputs hold 0, 1, .. of `marks` given ones. @param {bigint} outputs @param {bigint} marks @param {bigint} size */
const ways = (outputs, marks, size) =>
  upTo((marks < size ? marks : size) + 1n).map((held) => combinations(marks, held) * combinations(outputs - marks, size - held));

/**
 * A set of `size` outputs that holds at least one of the `marks` own ones with probability keep/2**64. Each of `options` has an
 * output. `ticks` marks: what is ticked, filled up with dummies; as many as options: there is one for each that is not ticked. A
 * value is the number of a set of options; a report has a bit for each output.
 */
export class Several extends Base {
  static kind = "several";
  static fields = "options ticks marks size keep%";

  check() {
    const { options, ticks, marks, size } = this;
    checkWhole("options", options, 2n, OPTIONS_MAX);
    checkWhole("ticks", ticks, 1n, options);
    this.k = setsUpTo(options, ticks);
    require(this.k <= ITEMS_MAX, "ticks", ticks, `such that there are at most ${ITEMS_MAX} sets of so many options`);
    const fits = marks === ticks || marks === options;
    require(fits, "marks", marks, `${ticks}, as many as may be ticked, or all ${options} options`);
    checkWhole("size", size, 1n, marks === options ? 1n : options);
    const total = combinations(options + marks, size);
    require(total <= WORD, "size", size, "such that there are at most 2**64 sets of so many outputs");
  }

  /** How many reports hold 0, 1, .. own outputs. */
  get held() {
    return ways(this.options + this.marks, this.marks, this.size);
  }

  /** Sets that hold an own output, and those that hold none. */
  get reports() {
    const [miss, ...hits] = this.held;
    return [sum(hits), miss];
  }

  get width() {
    return bitsWidth(this.options + this.marks);
  }

  /** The same number whatever is ticked and whatever happens to it. */
  get words() {
    return 2n + this.size;
  }

  /** The own outputs of somebody with this value, in rising order. @param {bigint} x */
  ownOf(x) {
    checkValue(x, this.k);
    const { options, marks } = this;
    const ticked = setOf(x, options).reverse();
    const more = marks === options ? upTo(options).filter((i) => !ticked.includes(i)) : upTo(marks - BigInt(ticked.length));
    return [...ticked, ...more.map((i) => options + i)];
  }

  /** @param {bigint} x @param {Words} words */
  randomise(x, words) {
    const own = this.ownOf(x);
    const kept = happens(this.keep, words);
    const hits = this.held.slice(1);
    let drawn = below(sum(hits), words);
    const met = BigInt(hits.findIndex((way) => (drawn -= way) < 0n) + 1);
    const held = kept ? met : 0n;
    const others = upTo(this.options + this.marks).filter((y) => !own.includes(y));
    const chosen = Array.from(subset(this.marks, held, words), (i) => own[Number(i)]);
    chosen.push(...Array.from(subset(this.options, this.size - held, words), (i) => others[Number(i)]));
    return packBits(chosen, this.options + this.marks);
  }

  /** @param {Words} words */
  blind(words) {
    return packBits(subset(this.options + this.marks, this.size, words), this.options + this.marks);
  }
}

/** How many options may be ticked: as the kernel has it and the domain, which has as many options too. */
CHECKS.ticks = (value, _, kernel, { domain }) => {
  const options = Array.isArray(domain.ticks) ? domain.ticks.length : domain.ticks;
  const same = isWhole(value, 1, kernel.options) && BigInt(value) === kernel.ticks && domain.most === value;
  return same && BigInt(options) === kernel.options ? "" : `the kernel's ${kernel.ticks} of ${kernel.options} options`;
};

register([Several], { several: form("several", { most: "ticks", marks: "whole marks", size: "whole size" }) }, [FORMS]);
