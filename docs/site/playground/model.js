/** What the page computes, without anything that is seen: designs, reports of the real client, counts and estimates. */
import { dealt } from "./client/dealing.js";
import { Device } from "./client/device.js";
import { SystemWords } from "./client/exact.js";
import { explain } from "./client/explain.js";
import { likelihoods, meant, reading } from "./client/meaning.js";
import { labelsFault } from "./client/texts.js";
import { TABLE } from "./table.js";
import "./client/kernels/response.js";
import "./client/kernels/subset.js";
import "./client/kernels/unary.js";
import "./client/kernels/seeded.js";
import "./client/labels.js";
import "./client/unicode_texts.js";

export const EPSILONS = TABLE.epsilons;
export const MECHANISMS = Object.keys(TABLE.mechanisms);
export const ROBOTS = 10_000;
/** The two-sided normal quantile of 95 %. */
const CRITICAL = 1.959963984540054;
/** Variance of a count from which on the normal law does. */
const FEW = 10;

const words = new SystemWords();

/** @param {string} mechanism */
export const titleOf = (mechanism) => TABLE.mechanisms[mechanism].title;

/** The labels in a text, one in each line, and what is wrong with them, if anything. @param {string} text */
export function labelsIn(text) {
  const labels = text.split("\n").map((line) => line.trim()).filter(Boolean);
  const { least, most } = TABLE;
  const amount = least <= labels.length && labels.length <= most;
  const fault = amount ? labelsFault(labels) : `there are ${labels.length}; write ${least} to ${most}, one in each line`;
  return { labels, fault };
}

/** Error of a share, as a standard error, that a share of `f` of `n` robots has. @param {{p: number, q: number}} law @param {number} f @param {number} n */
export function standardError({ p, q }, f, n) {
  const share = q + f * (p - q);
  return Math.sqrt((share * (1 - share)) / n) / (p - q);
}

/** Row of the table. @param {string} mechanism @param {number} step number of the epsilon @param {number} k */
export const rowOf = (mechanism, step, k) => TABLE.mechanisms[mechanism].rows[k][step];

/** The mechanism with the least error for a share that is as large as the others. @param {number} step @param {number} k */
export function bestOf(step, k) {
  const error = (/** @type {string} */ name) => standardError(rowOf(name, step, k), 1 / k, ROBOTS);
  return MECHANISMS.reduce((best, name) => (error(name) < error(best) * (1 - 1e-9) ? name : best));
}

/** One design with labels: what a device proves before its first report, and what follows from it. */
export class Setting {
  /** @param {string} mechanism @param {number} step @param {string[]} labels */
  constructor(mechanism, step, labels) {
    const { params, kernel, p, q, guess } = rowOf(mechanism, step, labels.length);
    const { version } = TABLE.mechanisms[mechanism];
    this.mechanism = mechanism;
    this.labels = labels;
    this.epsilon = EPSILONS[step];
    this.design = { mechanism, version, epsilon: this.epsilon, domain: { labels }, params, kernel };
    this.device = new Device(this.design);
    this.explanation = explain(this.design);
    this.law = { p, q };
    this.guess = guess;
    const { top, bottom } = this.explanation.ratio;
    const ratio = Number((top * 10n ** 15n) / bottom) / 1e15;
    this.bound = ratio / (ratio + labels.length - 1);
  }

  /** A report for an answer, as a device makes it. @param {number} answer */
  report(answer) {
    return this.device.randomise(answer, { words });
  }

  /** What a report says. @param {Uint8Array} bytes */
  read(bytes) {
    const { kernel } = this.design;
    const weights = likelihoods(kernel, bytes) ?? [];
    const shares = meant(kernel, bytes) ?? [];
    const best = shares.reduce((found, one, x) => (one > shares[found] ? x : found), 0);
    return { weights, shares, best, supported: supported(weights), text: reading(this.explanation, kernel, bytes).text };
  }

  /** The most that anybody can make of a report, on average and at all, and without one. */
  get limits() {
    return { blind: 1 / this.labels.length, guess: this.guess, bound: this.bound };
  }
}

/** The answers that a report speaks for: it is likelier for them than a report without any answer. @param {number[]} weights */
const supported = (weights) => weights.flatMap((weight, x) => (weight > 1 ? [x] : []));

/** One of some answers, as common as their weights say, which are whole numbers. @param {number[]} weights */
export const drawn = (weights) => dealt(weights.map(BigInt), words);

/** How common the answers of a crowd are, the first most. @type {Record<string, (k: number) => number[]>} */
export const CROWDS = {
  uneven: (k) => Array.from({ length: k }, (_, x) => k - x),
  equal: (k) => Array.from({ length: k }, () => 1),
  rare: (k) => Array.from({ length: k }, (_, x) => (x < k - 1 ? 98 : 2 * (k - 1))),
};

/** Robots that answer, and what a collector makes of their reports. */
export class Crowd {
  /** @param {Setting} setting @param {string} kind */
  constructor(setting, kind) {
    const weights = CROWDS[kind](setting.labels.length);
    this.setting = setting;
    this.weights = weights;
    this.truth = weights.map((weight) => weight / weights.reduce((a, b) => a + b));
    this.counts = weights.map(() => 0);
    this.n = 0;
  }

  /** So many more answer; only their reports are counted. @param {number} robots */
  answer(robots) {
    const { setting, counts } = this;
    for (let i = 0; i < robots; i++) {
      const report = setting.report(drawn(this.weights));
      for (const x of supported(likelihoods(setting.design.kernel, report) ?? [])) counts[x]++;
    }
    this.n += robots;
  }

  /** Of each answer the estimate and its 95 % interval for the crowd that robots are drawn from; none while reports are few. */
  estimates() {
    return this.counts.map((count) => estimate(count, this.n, this.setting.law));
  }
}

/** @typedef {{value: number, low: number | null, high: number | null}} Ends */

/** From the share of reports that speak for an answer: unbiased, with Wilson's interval. @param {number} count @param {number} n @param {{p: number, q: number}} law */
export function estimate(count, n, { p, q }) {
  const share = count / n;
  const back = (/** @type {number} */ s) => (s - q) / (p - q);
  const c = CRITICAL ** 2 / n;
  const centre = (share + c / 2) / (1 + c);
  const half = Math.sqrt(c * (share * (1 - share) + c / 4)) / (1 + c);
  const few = n * share * (1 - share) < FEW;
  return { value: back(share), low: few ? null : back(centre - half), high: few ? null : back(centre + half) };
}
