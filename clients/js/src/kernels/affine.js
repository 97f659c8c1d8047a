/** Affine response: unions of cyclotomic classes of a prime field, moved by any shift. */
import { Base, checkK, checkValue, checkWhole, form, register } from "../designs.js";
import { require } from "../errors.js";
import { below, happens, most, packInt, uintWidth } from "../exact.js";

/** @import { Words } from "../types.js" */

/** Reports that a design may have at most; products of two such numbers are exact. */
const CELLS_MAX = 1n << 23n;

/**
 * A block of a balanced design on 0..q-1, holding x with probability keep/2**64. Class c is the set of all g^(c + m l) mod q.
 * Block (i, b), the report i q + b, is the classes i, ..., i+j-1 (mod m), and 0 if `zero` is 1, all moved by b.
 */
export class Affine extends Base {
  static kind = "affine";
  static fields = "k q m j zero g keep%";
  words = 3n;

  check() {
    const { k, q, m, j, zero, g } = this;
    checkK(k, CELLS_MAX);
    checkWhole("q", q, most([k, 3n]), CELLS_MAX, "It is the number of points, and the answers are some.");
    checkWhole("m", m, 1n, CELLS_MAX / q, `A design has at most ${CELLS_MAX} reports, which are m q.`);
    checkWhole("j", j, 0n, m - 1n);
    checkWhole("zero", zero, 0n, 1n);
    checkWhole("g", g, 1n, q - 1n);
    const [prime] = factors(Number(q));
    require(prime === Number(q), "q", q, "a prime number");
    require((q - 1n) % m === 0n, "m", m, `a divisor of q-1 = ${q - 1n}`);
    require(j + zero > 0n, "j", j, "at least 1 if zero is 0", "A block would have no points.");
    const root = factors(Number(q) - 1).every((factor) => this.power((Number(q) - 1) / factor) !== 1);
    const more = "Its powers must be all points but 0; otherwise some reports would rule out answers.";
    require(root, "g", g, `a primitive root of ${q}`, more);
  }

  /** What blocks there are. */
  get blocks() {
    return [this.q, this.m, this.j, this.zero, this.g];
  }

  /** Points of a class. */
  get step() {
    return (this.q - 1n) / this.m;
  }

  /** Points of a block. */
  get points() {
    return this.j * this.step + this.zero;
  }

  /** Number of reports. */
  get order() {
    return this.m * this.q;
  }

  get reports() {
    return [this.m * this.points, this.m * (this.q - this.points)];
  }

  get levels() {
    return [this.points, this.q - this.points];
  }

  get width() {
    return uintWidth(this.order);
  }

  /** @param {bigint} x @param {Words} words */
  randomise(x, words) {
    return this.block(x, words, () => below(this.m, words));
  }

  /** With a union that was dealt: private for every one. @param {bigint} x @param {bigint} coin @param {Words} words */
  randomiseDealt(x, coin, words) {
    checkWhole("coin", coin, 0n, this.m - 1n, "It is the union that the collector dealt.");
    return this.block(x, words, () => coin);
  }

  /** @param {bigint} x @param {Words} words @param {() => bigint} union */
  block(x, words, union) {
    checkValue(x, this.k);
    const { q, m, j, step, points } = this;
    const kept = happens(this.keep, words);
    const i = union();
    const drawn = below(kept ? points : q - points, words);
    const [turn, place] = [drawn / step, drawn % step];
    const [skipped, last] = kept ? [0n, j] : [j, m - j];
    const power = BigInt(this.power(Number(((i + turn + skipped) % m) + m * place)));
    const point = [power, 0n][Number(turn === last)];
    return packInt(i * q + ((x - point + q) % q), this.width);
  }

  /** @param {Words} words */
  blind(words) {
    return packInt(below(this.order, words), this.width);
  }

  /** g^exponent mod q in a time that does not tell the exponent. @param {number} exponent */
  power(exponent) {
    const [q, g] = [Number(this.q), Number(this.g)];
    let power = 1;
    for (let bit = this.q.toString(2).length - 1; bit >= 0; bit--) {
      const square = (power * power) % q;
      power = [square, (square * g) % q][(exponent >> bit) & 1];
    }
    return power;
  }
}

/** The different prime factors of n >= 1, by trial division. @param {number} n */
function factors(n) {
  const found = [];
  for (let divisor = 2; divisor * divisor <= n; divisor++) {
    if (n % divisor === 0) found.push(divisor);
    while (n % divisor === 0) n /= divisor;
  }
  return n > 1 ? [...found, n] : found;
}

const params = Object.fromEntries(["q", "m", "j", "zero", "g"].map((name) => [name, `whole ${name}`]));
register([Affine], { affine: form("affine", params) });
