/** Key-value kernels that speak of one key, drawn without looking at the own one and sent in clear. */
import { checkWhole, register } from "../../designs.js";
import { require } from "../../errors.js";
import { ONE, Ratio, below, chance, happens, largest, least, most, packInt, uintWidth } from "../../exact.js";
import { GRID, Signed } from "./pairs.js";

/** @import { Words } from "../../types.js" */

/** The key with +1, -1 or 0 for it. */
export class OneKey extends Signed {
  static kind = "one-key";
  static fields = "keys# keep% flip%";
  words = 5n;

  /** By which people without the key answer, in 2**-32 of the chance of +1: they toss an even coin. */
  get guesses() {
    return [GRID / 2n];
  }

  /** The key is public, so only what is said of it counts; quotients are monotone in the guess. */
  get ratio() {
    const [p, turn] = [chance(this.keep), chance(this.flip)];
    const [s, r] = [p.times(ONE.minus(turn)), p.times(turn)];
    const none = [ONE.minus(p), ONE.minus(p), p];
    const laws = [least(this.guesses), most(this.guesses)].flatMap((guess) => {
      const told = new Ratio(guess, GRID);
      const plus = told.times(ONE.minus(turn)).plus(ONE.minus(told).times(turn));
      const rest = ONE.minus(p);
      return [none, [s, r, rest.times(plus)], [r, s, rest.times(ONE.minus(plus))]];
    });
    return largest(laws.map((said) => largest(said).over(said.reduce((a, b) => (b.below(a) ? b : a)))));
  }

  get width() {
    return uintWidth(3n * this.keys);
  }

  /** @param {bigint} x @param {Words} words */
  randomise(x, words) {
    const [minus, key] = this.split(x);
    const asked = below(this.keys, words);
    const held = asked === key;
    const said = happens(this.keep, words) === held ? 1 + this.sign(asked, minus, held, words) : 0;
    return packInt(3n * asked + BigInt(said), this.width);
  }

  /** What is said of the key, 0 for +1 and 1 for -1. @param {bigint} asked @param {number} minus @param {boolean} held @param {Words} words */
  sign(asked, minus, held, words) {
    return minus ^ Number(held ? happens(this.flip, words) : below(2n, words));
  }
}

/** `OneKey` where people without the key answer as if its value were a public guess, +1 with probability told[i]/2**32. */
export class ToldKey extends OneKey {
  static kind = "told-key";
  static fields = "keys# keep% flip% told*";

  check() {
    super.check();
    const fits = BigInt(this.told.length) === this.keys;
    require(fits, "told", this.told.length, `one number for each of the ${this.keys} keys`);
    for (const number of this.told) checkWhole("told", number, 0n, GRID);
  }

  get guesses() {
    return this.told;
  }

  /** @param {bigint} asked @param {number} minus @param {boolean} held @param {Words} words */
  sign(asked, minus, held, words) {
    const sign = held ? minus : Number(below(GRID, words) >= this.told[Number(asked)]);
    return sign ^ Number(happens(this.flip, words));
  }
}

register([OneKey, ToldKey]);
