/** Mixtures of two kernels that disclose. */
import { Disclosing, FORMS, form, register } from "../designs.js";
import { require } from "../errors.js";
import { ONE, chance, happens, largest, most } from "../exact.js";
import { Mixture, checkAlike } from "./mixture.js";
import { Utility } from "./utility.js";
import { over } from "./utility_forms.js";

/** @import { Words } from "../types.js" */

/** A mixture of two that disclose: both protect the same values and have one report format. */
export class UtilityMixture extends Disclosing {
  static kind = "mixture";
  static fields = "first@ second@ coin";

  check() {
    const { first, second } = this;
    const both = first instanceof Utility && second instanceof Utility;
    require(both, "kernels of a mixture", [first.kind, second.kind], "both utility kernels, or neither");
    checkAlike(this, ["k", "width", "head", "sensitive"]);
    this.k = first.k;
  }

  get protected() {
    return this.first.sensitive;
  }

  get disclosed() {
    const more = chance(this.coin);
    return ONE.minus(more).times(this.first.disclosed).plus(more.times(this.second.disclosed));
  }

  /** The larger one, of those that can happen. */
  get hiddenRatio() {
    return largest((this.coin ? [this.first, this.second] : [this.first]).map((part) => part.hiddenRatio));
  }

  get width() {
    return this.first.width;
  }

  get words() {
    return 1n + most([this.first.words, this.second.words]);
  }

  /** @param {bigint} x @param {Words} words */
  randomise(x, words) {
    return (happens(this.coin, words) ? this.second : this.first).randomise(x, words);
  }
}

Mixture.Disclosing = UtilityMixture;
const params = { size: "whole first.base.0.size", share: "share coin", sensitive: "same protected", theta: "chance" };
register([], { ussmix: form({ mixture: { first: over("subset"), second: over("subset whole") } }, params) }, [FORMS]);
