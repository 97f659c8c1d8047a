/** Kernels on block designs: Hadamard response and projective-geometry response. No seed, few outputs. */
import { Base, checkK, checkValue, form, register } from "../designs.js";
import { require } from "../errors.js";
import { below, happens, packInt, uintWidth } from "../exact.js";

/** @import { Words } from "../types.js" */

/** Hadamard response: a column of the Sylvester matrix with the entry +1 in row x+1 with probability keep/2**64. */
export class Hadamard extends Base {
  static kind = "hadamard";
  static fields = "k keep%";
  words = 2n;

  check() {
    checkK(this.k, (1n << 32n) - 1n);
  }

  /** Number of columns: the least power of two above k. */
  get order() {
    return 1n << BigInt(this.k.toString(2).length);
  }

  get reports() {
    return [this.order / 2n, this.order / 2n];
  }

  get width() {
    return uintWidth(this.order);
  }

  /** @param {bigint} x @param {Words} words */
  randomise(x, words) {
    checkValue(x, this.k);
    const odd = happens(this.keep, words) ? 0 : 1;
    const row = x + 1n;
    let y = below(this.order, words);
    const ones = (row & y).toString(2).replaceAll("0", "").length;
    if (ones % 2 !== odd) y ^= row & -row;
    return packInt(y, this.width);
  }

  /** @param {Words} words */
  blind(words) {
    return packInt(below(this.order, words), this.width);
  }
}

/** Projective-geometry response: a point of PG(t-1, prime), orthogonal to x's point with probability keep/2**64. */
export class Projective extends Base {
  static kind = "projective";
  static fields = "k prime keep%";

  check() {
    checkK(this.k, 1n << 31n);
    const ok = this.prime < 1n << 31n && isPrime(Number(this.prime));
    require(ok, "prime", this.prime, "a prime number below 2**31");
  }

  /** Number of coordinates: the least, from 2 on, with enough points for all items. */
  get rank() {
    let t = 2n;
    while (this.points(t) < this.k) t++;
    return t;
  }

  /** Number of points of PG(t-1, prime). @param {bigint} t */
  points(t) {
    return (this.prime ** t - 1n) / (this.prime - 1n);
  }

  get order() {
    return this.points(this.rank);
  }

  get reports() {
    const own = this.points(this.rank - 1n);
    return [own, this.order - own];
  }

  get width() {
    return uintWidth(this.order);
  }

  get words() {
    return 2n * this.rank + 1n;
  }

  /** @param {bigint} x @param {Words} words */
  randomise(x, words) {
    checkValue(x, this.k);
    const item = this.point(x);
    const kept = happens(this.keep, words);
    for (;;) {
      const y = this.vector(item, kept ? 0n : 1n + below(this.prime - 1n, words), words);
      if (y.some((v) => v)) return packInt(this.number(y), this.width);
    }
  }

  /** @param {Words} words */
  blind(words) {
    return packInt(below(this.order, words), this.width);
  }

  /**
   * A uniform vector whose inner product with the item's is `product`: all free but the item's first 1.
   * @param {bigint[]} item @param {bigint} product @param {Words} words
   */
  vector(item, product, words) {
    const pivot = item.indexOf(1n);
    const y = item.map((_, i) => (i === pivot ? 0n : below(this.prime, words)));
    const sum = item.reduce((total, a, i) => total + a * y[i], 0n);
    y[pivot] = (((product - sum) % this.prime) + this.prime) % this.prime;
    return y;
  }

  /** The index-th vector whose first non-zero entry is 1, in lexicographic order. @param {bigint} index */
  point(index) {
    let tail = 0n;
    while (this.points(tail + 1n) <= index) tail++;
    const rest = index - this.points(tail);
    const vector = Array(Number(this.rank - 1n - tail)).fill(0n);
    vector.push(1n);
    for (let i = tail - 1n; i >= 0n; i--) vector.push((rest / this.prime ** i) % this.prime);
    return vector;
  }

  /** The inverse of `point`, for any multiple of its vector. @param {bigint[]} vector */
  number(vector) {
    const pivot = vector.findIndex((v) => v);
    const scale = power(vector[pivot], this.prime - 2n, this.prime);
    const digits = vector.slice(pivot + 1);
    const number = digits.reduce((total, v) => total * this.prime + ((v * scale) % this.prime), 0n);
    return this.points(BigInt(digits.length)) + number;
  }
}

/** @param {number} n */
function isPrime(n) {
  for (let d = 2; d * d <= n; d++) if (n % d === 0) return false;
  return n >= 2;
}

/** base**exponent modulo a prime. @param {bigint} base @param {bigint} exponent @param {bigint} prime */
function power(base, exponent, prime) {
  let found = 1n;
  for (; exponent; exponent >>= 1n) {
    if (exponent & 1n) found = (found * base) % prime;
    base = (base * base) % prime;
  }
  return found;
}

register([Hadamard, Projective], { hr: form("hadamard"), pgr: form("projective", { prime: "whole prime" }) });
