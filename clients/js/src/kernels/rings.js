/** Kernels with a public seed: balanced hashing by a keyed permutation, the wheel. */
import { checkWhole, form, register } from "../designs.js";
import { below, happens } from "../exact.js";
import { hash32 } from "../hashing.js";
import { permute } from "../permuting.js";
import { Hashing, Seeded } from "./seeded.js";

/** @import { Words } from "../types.js" */

/** Balanced hashing: a keyed permutation cut into g blocks, then randomised response on the block's number. */
export class Balanced extends Hashing {
  static kind = "balanced";
  favours = undefined;
  even = true;

  /** More blocks than items would be empty. */
  check() {
    super.check(this.k);
  }

  /** @param {bigint} x @param {bigint} coin */
  place(x, coin) {
    return (permute(coin, x, this.k) * this.g) / this.k;
  }
}

/** The wheel: items at hashed places on a ring of 2**ring points; an arc of points from there on is favoured. */
export class Wheel extends Seeded {
  static kind = "wheel";
  static fields = "k# arc keep% ring";

  check() {
    checkWhole("ring", this.ring, 1n, 32n);
    this.outputs = 1n << this.ring;
    checkWhole("arc", this.arc, 1n, this.outputs - 1n);
  }

  get reports() {
    return [this.arc, this.outputs - this.arc];
  }

  /** @param {bigint} x @param {bigint} coin @param {Words} words */
  spread(x, coin, words) {
    const start = hash32(coin, x) >> (32n - this.ring);
    const kept = happens(this.keep, words);
    const step = kept ? below(this.arc, words) : this.arc + below(this.outputs - this.arc, words);
    return (start + step) % this.outputs;
  }
}

register([Balanced, Wheel], {
  plh: form("balanced", { g: "whole g" }),
  wheel: form("wheel", { arc: "chance", ring: "whole ring" }),
});
