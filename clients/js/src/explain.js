/** What a design may send about each answer, in words that a person can agree to or not. */
import { TOLD, disclosedBy, proved, spans } from "./device.js";
import { Ratio, exactly } from "./exact.js";
import { guarantees } from "./levels.js";
import { logUpper } from "./logarithms.js";

/** @import { Design, Domain, Span } from "./types.js" */

const SHOWN = 12;

/** What one report may tell, exactly; `text` (and `String(...)`) says it in words. */
export class Explanation {
  /**
   * @param {Design} design
   * @param {number} epsilon the exact level that the integers keep, rounded up
   * @param {Span[]} disclosed answers that a report may name
   * @param {Ratio} chance that the report of such an answer names it; the largest there is
   * @param {string} text
   */
  constructor(design, epsilon, disclosed, chance, text) {
    this.design = design;
    this.epsilon = epsilon;
    this.disclosed = disclosed;
    this.chance = chance;
    this.text = text;
  }

  toString() {
    return this.text;
  }

  /**
   * The answers that a report may name, which is what `new Device(design, {harmless})` asks consent for. As the question has
   * them: labels, pairs [low, high] of numbers of an interval, else ranges {start, end} of answers' numbers, without the end.
   */
  get harmless() {
    const { labels, border } = this.design.domain;
    if (!labels && !border) return this.disclosed.map(([start, end]) => ({ start, end }));
    return named(this.design.domain, this.disclosed);
  }

  /** Chance that a report for this value names its answer; 0 if it is protected. @param {unknown} value */
  chanceOf(value) {
    const number = this.design.domain.index(value);
    return this.disclosed.some(([start, end]) => start <= number && number < end) ? this.chance : new Ratio(0n);
  }
}

/**
 * What a design may send about each answer, after the same checks as a device's: to be read before any consent.
 * @param {unknown} design @param {(kernel: any) => void} [before] the proof, which may be refused then
 */
export const explain = (design, before) => explanation(...proved(design, before));

/** What the integers of a design, with this exact ratio, mean for each answer. @param {Design} design @param {Ratio} ratio */
function explanation(design, ratio) {
  const { kernel, domain } = design;
  const exact = logUpper(ratio);
  const disclosed = disclosedBy(design);
  const chance = reduced(disclosed.length ? kernel.disclosed : new Ratio(0n));
  const lines = [protection(design, ratio, exact, disclosed)];
  if (disclosed.length) lines.push(disclosure(design, disclosed, chance));
  lines.push(...(FURTHER[kernel.kind]?.(design) ?? []), ...choices(domain, disclosed));
  return new Explanation(design, exact, disclosed, chance, lines.join("\n"));
}

TOLD.explanation = explanation;

/** In lowest terms. @param {Ratio} ratio */
export function reduced({ top, bottom }) {
  let [a, b] = [top, bottom];
  while (b) [a, b] = [b, a % b];
  return new Ratio(top / a, bottom / a);
}

// ---- sentences

/** @param {Design} design @param {Ratio} ratio @param {number} exact @param {Span[]} disclosed */
function protection({ domain, kernel }, ratio, exact, disclosed) {
  const loosest = kernel.kind === "personal" ? " at the least protective level" : "";
  const most = `any report that you send is at most ${times(ratio)} times as likely`;
  const level = `(epsilon ${levelOf(exact)}${loosest})`;
  if (kernel.kind === "pairs") {
    const own = "Everything that you say is protected: whichever keys and values you have";
    return `${own}, ${most} as for any other keys and values ${level}.`;
  }
  if (!disclosed.length) {
    return `Every answer is protected: whatever you answer, ${most} for your answer as for any other one ${level}.`;
  }
  const kept = listOf(domain, spans(kernel.protected.map(Number)));
  if (!kept) return "No answer is protected.";
  return `Protected: ${kept}. With such an answer, ${most} for it as for any other answer ${level}; no report names it.`;
}

/** @param {Design} design @param {Span[]} disclosed @param {Ratio} chance */
function disclosure({ domain, kernel }, disclosed, chance) {
  const sure = chance.top === chance.bottom;
  const most = kernel.kind === "personal" && !sure ? "up to " : "";
  const rest = sure ? "." : "; otherwise it looks like a report of a protected answer.";
  const all = listOf(domain, disclosed, Infinity);
  return `Not protected: ${all}. The report names such an answer in ${most}${percent(chance)}${rest}`;
}

/** What else is to be said of designs with some kinds of kernels. @type {Record<string, (design: Design) => string[]>} */
const FURTHER = {
  personal({ params, kernel }) {
    const levels = params.levels.map(levelOf);
    const line = `You choose how much: epsilon ${levels.join(", ")}; the most protective, ${levels[0]}, if you do not.`;
    if (levels.length === 1) return [line];
    const { level, pair } = guarantees(kernel);
    const told = `The report may tell which level you chose: at most epsilon ${levelOf(level)} about that`;
    return [line, `${told}, and ${levelOf(pair)} about your answer if you chose the level by looking at it.`];
  },

  "utility-levels"({ domain, params, kernel }) {
    const single = spans(kernel.sensitive.map(Number)).flatMap(([start, end]) =>
      Array.from({ length: end - start }, (_, i) => start + i),
    );
    const name = (/** @type {number} */ x, /** @type {number} */ i) =>
      `${listOf(domain, [[x, x + 1]])} ${levelOf(params.item_epsilon[i])}`;
    const shown = single.slice(0, SHOWN).map(name).join(", ") + more(single.length);
    return [`Each protected answer has its own epsilon: ${shown}; of two answers the smaller holds.`];
  },
};

/** What values that are none of the labels count as, and whether that is protected. @param {Domain} domain @param {Span[]} disclosed */
function choices(domain, disclosed) {
  const open = new Set(domain.labels ? named(domain, disclosed) : []);
  const told = [["If you leave the answer empty, that", domain.missing], ["Anything else", domain.other]];
  return told.flatMap(([what, label]) =>
    label === undefined ? [] : [`${what} is reported as ${quoted(label)}${open.has(label) ? ", which is not protected" : ""}.`],
  );
}

// ---- words

/** The answers of some ranges by label, or by the ends of their numbers. @param {Domain} domain @param {Span[]} ranges @returns {any[]} */
function named({ labels, border }, ranges) {
  return ranges.flatMap(([start, end]) => /** @type {any[]} */ (labels?.slice(start, end) ?? [[border?.(start), border?.(end)]]));
}

/** Some answers in words: the first of them, or every one. @param {Domain} domain @param {Span[]} ranges */
function listOf(domain, ranges, shown = SHOWN) {
  /** @type {string[]} */
  let parts = [];
  if (domain.labels) parts = named(domain, ranges).map(quoted);
  else if (domain.border) {
    parts = named(domain, ranges).map(([low, high]) => `numbers from ${general(low)} to ${general(high)}`);
  } else parts = ranges.map(([start, end]) => (end === start + 1 ? `${start}` : `${start} to ${end - 1}`));
  return parts.slice(0, shown).join(", ") + (shown === SHOWN ? more(parts.length) : "");
}

/** @param {number} count */
const more = (count) => (count > SHOWN ? ` and ${count - SHOWN} more` : "");

/** A number in at most 12 digits. @param {number} x */
function general(x) {
  const [digits, exponent] = x.toExponential(11).split("e");
  if (x && (+exponent < -4 || +exponent >= 12)) {
    const size = exponent.slice(1).padStart(2, "0");
    return `${digits.replace(/\.?0+$/, "")}e${exponent[0]}${size}`;
  }
  const text = x.toFixed(Math.max(0, 11 - Number(exponent)));
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

/** A text in quotes, with what cannot be seen written out. @param {string} name */
function quoted(name) {
  const mark = name.includes("'") && !name.includes('"') ? '"' : "'";
  const plain = name.replace(/[\\]/g, "\\\\").replaceAll(mark, `\\${mark}`);
  if (!/[\p{C}\p{Z}]/u.test(name.replaceAll(" ", ""))) return mark + plain + mark;
  return mark + plain.replace(/[^ -~]/gu, written) + mark;
}

/** @param {string} sign */
function written(sign) {
  const [code, short] = [sign.codePointAt(0) ?? 0, { "\t": "\\t", "\n": "\\n", "\r": "\\r" }[sign]];
  const hex = (/** @type {number} */ size) => code.toString(16).padStart(size, "0");
  return short ?? (code < 256 ? `\\x${hex(2)}` : code < 65536 ? `\\u${hex(4)}` : `\\U${hex(8)}`);
}

/** top/bottom, rounded up. @param {bigint} top @param {bigint} bottom */
const up = (top, bottom) => (top + bottom - 1n) / bottom;

/** A ratio, rounded up to three digits. @param {Ratio} ratio */
function times({ top, bottom }) {
  const digits = top < 10n * bottom ? 2 : top < 100n * bottom ? 1 : 0;
  const text = `${up(top * 10n ** BigInt(digits), bottom)}`;
  if (text.length > 15) return general(Number(Number(text).toPrecision(3)));
  return digits ? `${text.slice(0, -digits)}.${text.slice(-digits)}` : text;
}

/** A chance, rounded up to a tenth of a percent. @param {Ratio} chance */
function percent({ top, bottom }) {
  const tenths = up(top * 1000n, bottom);
  if (tenths === 1000n) return top === bottom ? "all cases" : "nearly all cases";
  return `${tenths / 10n}.${tenths % 10n} % of the cases`;
}

/** A level, rounded up to four digits. @param {number} epsilon */
function levelOf(epsilon) {
  if (!epsilon) return "0";
  const { top, bottom } = exactly(epsilon);
  const size = 3 - Number(epsilon.toExponential().split("e")[1]);
  const digits = size > 0 ? up(top * 10n ** BigInt(size), bottom) : up(top, bottom * 10n ** BigInt(-size));
  const whole = size > 0 ? `${digits}`.padStart(size + 1, "0") : `${digits}${"0".repeat(-size)}`;
  return size > 0 ? `${whole.slice(0, -size)}.${whole.slice(-size)}`.replace(/\.?0+$/, "") : whole;
}
