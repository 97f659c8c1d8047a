/** What a design may send that deals one of its parts to each report. */
import { TOLD } from "./device.js";
import { Ratio } from "./exact.js";
import { Explanation, reduced, say } from "./explain.js";
import { logUpper } from "./logarithms.js";

/** @import { Telling } from "./explain.js" */
/** @import { Design, Proved } from "./types.js" */

/** Of each part what it may send, in `parts`; answers that reports may name are told there alone. */
export class PartsExplanation extends Explanation {
  /** @param {Proved} design @param {Explanation[]} parts */
  constructor(design, parts) {
    super(design, design.ratio, logUpper(design.ratio), [], dealt(design, parts.map(({ chance }) => chance)));
    this.parts = parts;
  }

  /** One list for each part, if any of them names answers. */
  get harmless() {
    return this.chance.top ? this.parts.map(({ harmless }) => harmless) : [];
  }

  /** Chance that a report for this record names an answer. @param {any} values one for each part */
  chanceOf(values) {
    this.design.domain.index(values);
    return dealt(this.design, this.parts.map((part, i) => part.chanceOf(values[i])));
  }

  /** @param {Telling} told */
  lines({ reports }) {
    const lines = this.parts.map((part) => part.over(reports).text.split("\n"));
    return [say("drawn", { count: lines.length }), ...lines.flatMap((own, i) => own.map((text) => say("part", { number: i + 1, text })))];
  }
}

/** Chance of what happens with these chances in the parts of a design. @param {Design} design @param {Ratio[]} chances */
const dealt = ({ kernel: { shares, total } }, chances) =>
  reduced(chances.reduce((sum, chance, i) => sum.plus(chance.times(new Ratio(shares[i], total))), new Ratio(0n)));

TOLD.ofParts = (design, parts) => new PartsExplanation(design, parts);
