// What a report could have meant: how likely it is for each answer. For people to look at; nothing is decided by it.
import { say, thousandths } from "./explain.js";
import { bucket, hash32, split64 } from "./hashing.js";
import { permute } from "./permuting.js";

/** @import { Explanation } from "./explain.js" */
/** @typedef {Record<string, any>} Kernel A kernel as the design document has it. */

const WORD = 2 ** 64;
/** Answers that are gone through one by one. */
const MOST = 65536;
/** @param {string} threshold */
const chance = (threshold) => Number(BigInt(threshold)) / WORD;

/** @param {Uint8Array} bytes @param {number} start @param {number} end */
function whole(bytes, start, end) {
  let found = 0n;
  for (let i = end - 1; i >= start; i--) found = (found << 8n) | BigInt(bytes[i]);
  return found;
}

/** @param {Uint8Array} bytes @param {number} i */
const bit = (bytes, i) => (bytes[i >> 3] >> (i & 7)) & 1;

/** @param {Uint8Array} bytes */
const ones = (bytes) => bytes.reduce((sum, byte) => sum + byte.toString(2).replaceAll("0", "").length, 0);

/** @param {number} k @param {(x: number) => number} weight */
const each = (k, weight) => Array.from({ length: k }, (_, x) => weight(x));

/** Weights of a two-level kernel against a report without any value, which has the weight 1.
 * @param {Kernel} kernel @param {number} own @param {number} all @param {(x: number) => boolean} supports */
function levels(kernel, own, all, supports) {
  const keep = chance(kernel.keep);
  const [high, low] = [(keep * all) / own, ((1 - keep) * all) / (all - own)];
  return each(Number(kernel.k), (x) => (supports(x) ? high : low));
}

/** The numbers of half-open ranges, one after the other. @param {number[]} ends */
const inside = (ends) => ends.flatMap((start, i) => (i % 2 ? [] : each(ends[i + 1] - start, (x) => start + x)));

/** @param {number} count */
const headOf = (count) => [1, 2, 4].find((width) => count <= 256 ** width) ?? 8;

/** What stands before a report where some answers may be named: its length, and the answer that it names, if any.
 * @param {Kernel} kernel @param {Uint8Array} bytes @returns {{head: number, named: number | null}} */
function headed(kernel, bytes) {
  const ends = kernel.sensitive.map(Number);
  const harmless = ends.reduce((/** @type {number} */ sum, /** @type {number} */ end, /** @type {number} */ i) => sum + (i % 2 ? -end : end), Number(kernel.k));
  const head = headOf(1 + harmless * (Number(kernel.attach ?? "0") > 0 ? 2 : 1));
  const tag = Number(whole(bytes, 0, head));
  let named = (tag - 1) % harmless; // its rank among them; then the sensitive ones before it are counted, too
  for (let i = 0; i < ends.length; i += 2) named += ends[i] <= named ? ends[i + 1] - ends[i] : 0;
  return { head, named: tag ? named : null };
}

/** The answer that a report names, null if it names none; undefined where that is not worked out.
 * @param {Kernel} kernel @param {Uint8Array} bytes @param {number} level @returns {number | null | undefined} */
function namedBy(kernel, bytes, level) {
  const inner = kernel.kind === "personal" ? kernel.data[level] : kernel.kind === "mixture" ? kernel.first : kernel;
  return inner?.kind === "utility" || inner?.kind === "utility-levels" ? headed(inner, bytes).named : undefined;
}

/** Weights where some answers may be named; `hidden` weighs the sensitive ones, and the others if none is named.
 * @param {Kernel} kernel @param {Uint8Array} bytes
 * @param {(report: Uint8Array, count: number) => {own: number[], other: number}} hidden */
function disclosing(kernel, bytes, hidden) {
  const k = Number(kernel.k);
  const sensitive = inside(kernel.sensitive.map(Number));
  const { head, named } = headed(kernel, bytes);
  if (named !== null) return each(k, (x) => (x === named ? 1 : 0));
  const { own, other } = hidden(bytes.subarray(head), sensitive.length);
  const kept = (1 - chance(kernel.plain)) * (1 - chance(kernel.attach ?? "0"));
  const weights = new Array(k).fill(kept * other);
  sensitive.forEach((x, rank) => (weights[x] = own[rank]));
  return weights;
}

/** Weights of all sets of answers to several questions, the last of which counts fastest.
 * @param {number[]} sizes @param {number[]} shape @param {string} keep @param {Uint8Array} bytes */
function boxed(sizes, shape, keep, bytes) {
  const [k, own] = [sizes, shape].map((numbers) => numbers.reduce((a, b) => a * b, 1));
  if (k > MOST) return null;
  let start = 0;
  const held = sizes.map((size) => each(size, () => bit(bytes, start++)));
  if (held.some((row, j) => row.filter(Boolean).length !== shape[j])) return each(k, () => 0);
  return levels({ keep, k }, own, k, (x) => {
    for (let j = sizes.length - 1; j >= 0; x = Math.floor(x / sizes[j--])) if (!held[j][x % sizes[j]]) return false;
    return true;
  });
}

/** Weights of all cells of several questions, the last of which counts fastest: a report speaks of the sum of their buckets.
 * @param {Kernel} kernel @param {number[]} sizes @param {number} g @param {Uint8Array} bytes */
function summed(kernel, sizes, g, bytes) {
  const k = sizes.reduce((product, own) => product * own, 1);
  if (k > MOST) return null;
  const [seed, set, size] = [whole(bytes, 0, 8), bytes.subarray(8), Number(kernel.size)];
  const buckets = sizes.map((own, i) => {
    const [seeded, filled] = [split64(seed, BigInt(i + 1)), BigInt(Math.ceil(own / g) * g)];
    return each(own, (answer) => Number(permute(seeded, BigInt(answer), filled)) % g);
  });
  if (ones(set) !== size) return each(k, () => 0);
  return levels({ keep: kernel.keep, k }, size, g, (x) => {
    let sum = 0;
    for (let i = sizes.length - 1; i >= 0; x = Math.floor(x / sizes[i--])) sum += buckets[i][x % sizes[i]];
    return bit(set, sum % g) === 1;
  });
}

/** Weights of all answers by the kind of the kernel; a report without any value would have the weight 1.
 * @type {Record<string, (kernel: Kernel, bytes: Uint8Array, level: number) => number[] | null>} */
const WEIGHTS = {
  response: (kernel, bytes) => {
    const y = Number(whole(bytes, 0, bytes.length));
    return levels(kernel, 1, Number(kernel.k), (x) => x === y);
  },
  subset: (kernel, bytes) => {
    const [k, size] = [Number(kernel.k), Number(kernel.size)];
    return ones(bytes) === size ? levels(kernel, size, k, (x) => bit(bytes, x) === 1) : each(k, () => 0);
  },
  box: (kernel, bytes) => boxed(kernel.sizes.map(Number), kernel.shape.map(Number), kernel.keep, bytes),
  interval: (kernel, bytes) => {
    const [seed, first] = [whole(bytes, 0, 8), Number(whole(bytes, 8, bytes.length))];
    const [k, size] = [Number(kernel.k), Number(kernel.size)];
    return levels(kernel, size, k, (x) => (Number(permute(seed, BigInt(x), BigInt(k))) - first + k) % k < size);
  },
  unary: (kernel, bytes) => {
    const [keep, flip] = [chance(kernel.keep), chance(kernel.flip)];
    return each(Number(kernel.k), (x) => (bit(bytes, x) ? keep / flip : (1 - keep) / (1 - flip)));
  },
  affine: (kernel, bytes) => {
    const [q, m, j, g] = [kernel.q, kernel.m, kernel.j, kernel.g].map(Number);
    const y = Number(whole(bytes, 0, bytes.length));
    const [first, shift] = [Math.floor(y / q), y % q];
    const held = new Set(kernel.zero === "1" ? [0] : []);
    for (let e = 0, power = 1; e < q - 1; e++, power = (power * g) % q) if ((e - first + m) % m < j) held.add(power);
    return levels(kernel, held.size, q, (x) => held.has((x - shift + q) % q));
  },
  whole: (kernel, bytes) => each(Number(kernel.k), () => (ones(bytes) === Number(kernel.k) ? 1 : 0)),
  constant: (kernel) => each(Number(kernel.k), () => 1),
  hashing: (kernel, bytes) => {
    const [seed, y, g] = [whole(bytes, 0, 8), Number(whole(bytes, 8, bytes.length)), Number(kernel.g)];
    return levels(kernel, 1, g, (x) => Number(bucket(seed, BigInt(x), BigInt(g))) === y);
  },
  balanced: (kernel, bytes) => {
    const [seed, y, g, k] = [whole(bytes, 0, 8), Number(whole(bytes, 8, bytes.length)), Number(kernel.g), Number(kernel.k)];
    return levels(kernel, 1, g, (x) => Math.floor((Number(permute(seed, BigInt(x), BigInt(k))) * g) / k) === y);
  },
  interaction: (kernel, bytes) => summed(kernel, kernel.sizes.map(Number), Number(kernel.g), bytes),
  wheel: (kernel, bytes) => {
    const [seed, y, arc, size] = [whole(bytes, 0, 8), Number(whole(bytes, 8, bytes.length)), Number(kernel.arc), 2 ** Number(kernel.ring)];
    const start = (/** @type {number} */ x) => Math.floor(Number(hash32(seed, BigInt(x))) / (2 ** 32 / size));
    return levels(kernel, arc, size, (x) => (y - start(x) + size) % size < arc);
  },
  hadamard: (kernel, bytes) => {
    const y = whole(bytes, 0, bytes.length);
    const even = (/** @type {number} */ x) => [...(BigInt(x + 1) & y).toString(2)].filter((b) => b === "1").length % 2 === 0;
    return levels(kernel, 1, 2, even);
  },
  table: (kernel, bytes) => {
    const y = Number(whole(bytes, 0, bytes.length));
    return kernel.weights.map((/** @type {string[]} */ row) => chance(row[y]));
  },
  channel: (kernel, bytes, level) => WEIGHTS.table(kernel, bytes, level),
  mixture: (kernel, bytes, level) => {
    const coin = chance(kernel.coin);
    const [first, second] = [kernel.first, kernel.second].map((part) => likelihoods(part, bytes, level));
    return first && second && first.map((one, x) => (1 - coin) * one + coin * second[x]);
  },
  window: (kernel, bytes) => {
    const y = Number(whole(bytes, 0, bytes.length));
    const [outputs, m, shift, tie] = [kernel.outputs, kernel.m, kernel.shift, kernel.tie].map(Number);
    const start = (/** @type {number} */ x, /** @type {number} */ by) => Math.min(Math.max(x - by, 0), outputs - m);
    const keep = chance(kernel.keep);
    const [high, low] = [(keep * outputs) / m, ((1 - keep) * outputs) / (outputs - m)];
    const one = (/** @type {number} */ x, /** @type {number} */ by) => (start(x, by) <= y && y < start(x, by) + m ? high : low);
    return each(Number(kernel.k), (x) => (tie ? (one(x, shift) + one(x, shift - 1)) / 2 : one(x, shift)));
  },
  leaning: (kernel, bytes) => {
    const at = (/** @type {number} */ x) => chance(kernel.base) + x * chance(kernel.slope);
    return each(Number(kernel.k), (x) => (bytes[0] ? at(x) : 1 - at(x)));
  },
  "window-or-bit": (kernel, bytes, level) => {
    const [y, outputs] = [Number(whole(bytes, 0, bytes.length)), Number(kernel.window.outputs)];
    return y < outputs ? likelihoods(kernel.window, bytes, level) : likelihoods(kernel.bit, Uint8Array.of(y - outputs), level);
  },
  arc: (kernel, bytes) => {
    const [y, k, size] = [Number(whole(bytes, 0, bytes.length)), Number(kernel.k), Number(kernel.size)];
    return levels(kernel, size, k, (x) => (x - y + k) % k < size);
  },
  neighbours: (kernel, bytes) => {
    const y = whole(bytes, 0, bytes.length).toString();
    const [outputs, m, keep] = [Number(kernel.outputs), kernel.neighbours[0].length, chance(kernel.keep)];
    const near = (/** @type {string[]} */ row) => (row.includes(y) ? (keep * outputs) / m : ((1 - keep) * outputs) / (outputs - m));
    return kernel.neighbours.map(near);
  },
  recode: (kernel, bytes, level) => {
    const codes = likelihoods(kernel.base, bytes, level);
    const starts = kernel.starts.map(Number);
    return codes && each(Number(kernel.k), (x) => codes[Number(kernel.codes[starts.filter((/** @type {number} */ s) => s <= x).length - 1])]);
  },
  utility: (kernel, bytes, level) =>
    disclosing(kernel, bytes, (report, s) => {
      if (s < 2) return { own: [1], other: 1 };
      const own = likelihoods(kernel.base[0], report, level) ?? [];
      const possible = own.some((one) => one > 0) ? 1 : 0; // of a mixture, the other part may have made this report
      return { own, other: kernel.blind === "1" ? possible : own.reduce((a, b) => a + b, 0) / s };
    }),
  "utility-levels": (kernel, bytes) =>
    disclosing(kernel, bytes, (report) => {
      const keep = chance(kernel.keep);
      const own = kernel.flips.map((/** @type {string} */ flip, /** @type {number} */ i) => (bit(report, i) ? keep / chance(flip) : (1 - keep) / (1 - chance(flip))));
      return { own, other: 1 };
    }),
  personal: (kernel, bytes, level) => {
    const after = kernel.level.length ? headOf(kernel.data.length) : 0; // what is said about the level comes last
    return likelihoods(kernel.data[level], bytes.subarray(0, bytes.length - after), level);
  },
};

/** How likely a report is for each answer, up to a factor; null where that is not worked out.
 * @param {Kernel} kernel @param {Uint8Array} bytes @param {number} [level] number of the chosen level
 * @returns {number[] | null} */
export function likelihoods(kernel, bytes, level = 0) {
  if (!Object.hasOwn(WEIGHTS, kernel.kind) || Number(kernel.k ?? 0) > MOST) return null;
  return WEIGHTS[kernel.kind](kernel, bytes, level);
}

/** Of 100 people who send exactly this report, how many have which answer, if all answers were equally common.
 * @param {Kernel} kernel @param {Uint8Array} bytes @param {number} [level]
 * @returns {number[] | null} */
export function meant(kernel, bytes, level = 0) {
  const found = likelihoods(kernel, bytes, level);
  const total = found?.reduce((a, b) => a + b, 0);
  return found && total ? found.map((one) => (100 * one) / total) : null;
}

/** How sure, in thousandths, somebody who thought two answers equally likely can be: by the weights if they are known, and never
 * more than all reports allow. @param {bigint} most @param {number[] | null} weights */
function sureBy(most, weights) {
  const [low, high] = (weights ?? []).reduce(([a, b], one) => [Math.min(a, one), Math.max(b, one)], [Infinity, 0]);
  if (!(0 < low && low <= high && high < Infinity)) return most;
  const found = BigInt(Math.ceil(1000 * (high / (high + low)) * (1 + 1e-9))); // floats, so rounded up once more
  return found < most ? found : most;
}

/** What this very report tells: the shares of `meant`, and a sentence; the answer that it names, if it does, else how sure it
 * makes somebody, in thousandths. What is not known is told as the most that may be, or null.
 * @param {Explanation} explanation @param {Kernel} kernel @param {Uint8Array} bytes @param {number} [level] */
export function reading(explanation, kernel, bytes, level = 0) {
  const named = explanation.disclosed.length ? namedBy(kernel, bytes, level) : null;
  if (named === undefined) return { shares: null, text: explanation.unread, named: null, tenths: null };
  const shares = meant(kernel, bytes, level);
  if (named !== null) return { shares, text: say("names"), named, tenths: null };
  const { sure, phrase } = explanation.over(1);
  const [, own] = explanation.levels()[level] ?? [];
  const tenths = sureBy(thousandths(sure), likelihoods(kernel, bytes, level));
  return { shares, text: explanation.now(tenths, own ?? phrase, own && "now_level"), named, tenths };
}
