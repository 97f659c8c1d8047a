/** Answers to several questions in one report: a random box, one set of answers for each question. */
import { Base, FORMS, checkK, checkValue, checkWhole, form, register } from "../designs.js";
import { require } from "../errors.js";
import { below, bitsWidth, happens, packBits, subset } from "../exact.js";

/** @import { Words } from "../types.js" */

/** Questions that are asked together: yes/no questions have as many sets of answers as items may be. */
const QUESTIONS_MAX = 32n;

/** @param {bigint[]} numbers */
const product = (numbers) => numbers.reduce((a, b) => a * b, 1n);

/** @param {bigint[]} numbers */
const sum = (numbers) => numbers.reduce((a, b) => a + b, 0n);

/** Sets of `size` out of k answers. @param {bigint} k @param {bigint} size */
function combinations(k, size) {
  let found = 1n;
  for (let i = 1n; i <= size; i++) found = (found * (k - size + i)) / i;
  return found;
}

/**
 * One set of `shape[j]` answers for each question j; all of them hold the own answers with chance keep/2**64. A value is the
 * number of the answers to all questions, those to the last one counting fastest; a report has a bit for each answer to each
 * question, in their order.
 */
export class Box extends Base {
  static kind = "box";
  static fields = "sizes*# shape* keep%";
  even = true;

  check() {
    const { sizes, shape } = this;
    checkWhole("number of questions", BigInt(sizes.length), 1n, QUESTIONS_MAX);
    require(shape.length === sizes.length, "shape", shape, `a number for each of ${sizes.length} questions`);
    sizes.forEach((k, j) => checkWhole("shape", shape[j], 1n, k - 1n, "A set has at least one answer, and not all of them."));
    checkK((this.k = product(sizes)));
  }

  /** Boxes that hold given answers to all questions, and those that do not. */
  get reports() {
    const { sizes, shape } = this;
    const own = product(sizes.map((k, j) => combinations(k - 1n, shape[j] - 1n)));
    return [own, product(sizes.map((k, j) => combinations(k, shape[j]))) - own];
  }

  get levels() {
    return [this.favours, this.k - this.favours];
  }

  get favours() {
    return product(this.shape);
  }

  get width() {
    return bitsWidth(sum(this.sizes));
  }

  /** The same number whatever the answers are and whatever happens to them. */
  get words() {
    return 2n + sum(this.shape);
  }

  /** The answer to each question, of somebody with this value. @param {bigint} x */
  answersOf(x) {
    checkValue(x, this.k);
    const found = this.sizes.map(() => 0n);
    for (let j = this.sizes.length - 1; j >= 0; j--) [found[j], x] = [x % this.sizes[j], x / this.sizes[j]];
    return found;
  }

  /** The first question whose set does not hold the own answer, from a uniform number below `levels[1]`. @param {bigint} drawn */
  firstMiss(drawn) {
    const { sizes, shape } = this;
    const ways = sizes.map((k, j) => product(shape.slice(0, j)) * (k - shape[j]) * product(sizes.slice(j + 1)));
    return ways.findIndex((way) => (drawn -= way) < 0n);
  }

  /** @param {bigint} x @param {Words} words */
  randomise(x, words) {
    const answers = this.answersOf(x);
    const kept = happens(this.keep, words);
    const miss = this.firstMiss(below(this.levels[1], words));
    return this.packed((j, k, size) => {
      if (!kept && j > miss) return [...subset(k, size, words)];
      const [own, holds] = [answers[j], kept || j < miss];
      const others = Array.from(subset(k - 1n, holds ? size - 1n : size, words), (i) => (i >= own ? i + 1n : i));
      if (holds) words.word(); // so that nobody who counts words learns whether the own answer is there
      return holds ? [...others, own] : others;
    });
  }

  /** @param {Words} words */
  blind(words) {
    return this.packed((_, k, size) => [...subset(k, size, words)]);
  }

  /** Sets of answers as a report. @param {(question: number, k: bigint, size: bigint) => bigint[]} chosen */
  packed(chosen) {
    const items = this.sizes.map((k, j) => {
      const start = sum(this.sizes.slice(0, j));
      return chosen(j, k, this.shape[j]).map((i) => start + i);
    });
    return packBits(items.flat(), sum(this.sizes));
  }
}

register([Box], { box: form("box", { sizes: "same sizes", shape: "same shape" }) }, [FORMS]);
