/** Kernels for values with distances: an answer among the nearest ones, or one of a few codes. */
import { Base, ITEMS_MAX, Kernel, checkK, checkValue, checkWhole, form, oneOf, register } from "../designs.js";
import { require } from "../errors.js";
import { ONE, below, either, happens, packInt, twoLevelLift, uintWidth } from "../exact.js";
import { Response } from "./response.js";

/** @import { Words } from "../types.js" */

const NEIGHBOURS_MAX = 1 << 18;

/** One of the value's `m` nearest answers with probability keep/2**64, else one of the others, all alike. */
export class Neighbours extends Kernel {
  static kind = "neighbours";
  static fields = "outputs neighbours** keep%";
  words = 2n;

  check() {
    const { outputs } = this;
    const lists = this.neighbours;
    checkK((this.k = BigInt(lists.length)));
    checkWhole("outputs", outputs, 2n, ITEMS_MAX);
    const m = lists[0].length;
    require(lists.every((row) => row.length === m), "neighbours", lists.length, "lists of one length, common to all values");
    require(1 <= m && m < outputs, "m", m, `an integer from 1 to outputs - 1 = ${outputs - 1n}`);
    require(lists.length * m <= NEIGHBOURS_MAX, "neighbours", lists.length * m, `at most ${NEIGHBOURS_MAX} numbers`);
    lists.forEach((row, x) => {
      const rising = row.every((answer, i) => answer < outputs && (!i || row[i - 1] < answer));
      require(rising, `neighbours[${x}]`, row, `rising integers from 0 to ${outputs - 1n}`);
    });
    this.m = BigInt(m);
  }

  /** Lists are equally long, so two that differ have an answer each that the other has not; alike, they tell nothing. */
  get ratio() {
    const [first, ...rest] = this.neighbours;
    if (rest.every((row) => row.every((answer, i) => answer === first[i]))) return ONE;
    return either(twoLevelLift(this.keep, this.m, this.outputs - this.m));
  }

  get width() {
    return uintWidth(this.outputs);
  }

  /** The r-th of the others is r, moved up past every neighbour that is not above it. @param {bigint} x @param {Words} words */
  randomise(x, words) {
    checkValue(x, this.k);
    const near = this.neighbours[Number(x)];
    if (happens(this.keep, words)) return packInt(near[Number(below(this.m, words))], this.width);
    let y = below(this.outputs - this.m, words);
    for (const answer of near) if (answer <= y) y++;
    return packInt(y, this.width);
  }
}

/** Each value has a public code, those from starts[i] on the code codes[i]; another kernel randomises the code. */
export class Recode extends Kernel {
  static kind = "recode";
  static fields = "k# starts* codes* base@";

  check() {
    const { k, starts, codes, base } = this;
    require(base instanceof Response, "base", base.kind, "a response kernel");
    const rising = starts.every((start, i) => start < k && (i ? starts[i - 1] < start : start === 0n));
    require(rising && starts.length > 0, "starts", starts, "rising integers from 0 on, below k");
    const fits = codes.length === starts.length && codes.every((code) => code < base.k);
    require(fits, "codes", codes, "a code of the base for each run");
  }

  /** That of the codes, unless all values have the same one. */
  get ratio() {
    return new Set(this.codes).size > 1 ? this.base.ratio : ONE;
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
    return this.base.randomise(this.codes[this.starts.filter((start) => start <= x).length - 1], words);
  }
}

/** Always the same report, one byte: what is best where the budget is too small to say anything. */
export class Constant extends Base {
  static kind = "constant";
  static fields = "k#";
  width = 1;
  words = 0n;
  blindPeak = ONE;

  get ratio() {
    return ONE;
  }

  /** @param {bigint} x */
  randomise(x) {
    checkValue(x, this.k);
    return this.blind();
  }

  blind() {
    return packInt(0n, 1);
  }
}

register([Neighbours, Recode, Constant], {
  codebook: form(
    { ...oneOf("constant response"), recode: { base: oneOf("response") } },
    { size: "whole", "codes?": "wholes" },
  ),
});
