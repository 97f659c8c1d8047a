/** What a design may send about each answer, in words that a person can agree to or not. */
import { TOLD, disclosedBy, proved, spans } from "./device.js";
import { REPORTS } from "./english_reports.js";
import { require } from "./errors.js";
import { ONE, Ratio, exactly } from "./exact.js";
import { guarantees } from "./levels.js";
import { logUpper } from "./logarithms.js";

/** @import { Charge, Design, Domain, Proved, Span } from "./types.js" */

const SHOWN = 12;
const REPORTS_MAX = 10_000;

/** How sure, in thousandths, somebody who thought two answers equally likely can become: each has its word for protection. */
const GRADES = [570, 670, 750, 900, 983, 1000];

/** All sentences by name; those of other modules come to them. @type {Record<string, string | string[]>} */
export const SENTENCES = REPORTS;

/** A sentence, or a part of one; of two, the first is for one and the other for several. @param {string} name @param {Record<string, unknown>} parts */
export function say(name, parts = {}) {
  const text = SENTENCES[name];
  return (typeof text === "string" ? text : text[parts.count === 1 ? 0 : 1]).replace(/{(\w+)}/g, (_, part) => `${parts[part]}`);
}

/**
 * What a number of reports tell together, each drawn anew: they are at most `ratio` times as likely for a protected answer as
 * for another one, somebody who thought both equally likely can become `sure` of it, and at least one of them names an answer
 * that is not protected with the chance `named`, all rounded up; `phrase` is the word for that much protection.
 * @typedef {{reports: number, ratio: Ratio, sure: Ratio, named: Ratio, phrase: string, text: string}} Telling
 */

/** What one report may tell, exactly; `text` (and `String(...)`) says it in words. */
export class Explanation {
  /**
   * @param {Design} design
   * @param {Ratio} ratio how many times as likely a report that names no answer can be for one answer as for another
   * @param {number} epsilon the exact level that the integers keep, rounded up
   * @param {Span[]} disclosed answers that a report may name
   * @param {Ratio} chance that the report of such an answer names it; the largest there is
   */
  constructor(design, ratio, epsilon, disclosed, chance) {
    this.design = design;
    this.ratio = ratio;
    this.epsilon = epsilon;
    this.disclosed = disclosed;
    this.chance = chance;
  }

  get text() {
    return this.over(1).text;
  }

  toString() {
    return this.text;
  }

  /** What a number of reports tell together if each is drawn anew, as in the windows of a task. @param {number} reports @returns {Telling} */
  over(reports) {
    const whole = Number.isInteger(reports) && 1 <= reports && reports <= REPORTS_MAX;
    require(whole, "reports", reports, `a whole number from 1 to ${REPORTS_MAX}`);
    const ratio = power(this.ratio, reports);
    const sure = sureOf(ratio);
    const named = reports === 1 ? this.chance : ONE.minus(raised(ONE.minus(this.chance), reports, 0n));
    const told = { reports, ratio, sure, named, phrase: phraseOf(sure), text: "" };
    return { ...told, text: this.lines(told).join("\n") };
  }

  /** @param {Telling} told @returns {string[]} */
  lines(told) {
    return lines(this, told);
  }

  /** What a report of this design may tell that nobody looked at, in a sentence. */
  get unread() {
    if (this.chance.top) return say(alone(this) ? "may_name" : "may_tell");
    const { sure, phrase } = this.over(1);
    return this.now(thousandths(sure), phrase);
  }

  /** How sure, in thousandths, a report makes somebody. @param {bigint} tenths @param {string} grade */
  now(tenths, grade, name = "now") {
    return say(name, { both: two(this), sure: certainty(tenths), grade });
  }

  /** The levels that a person may choose, if any, each with the word for protection by its own exact ratio. @returns {[number, string][]} */
  levels(reports = 1) {
    const { kernel, params } = this.design;
    if (kernel.kind !== "personal") return [];
    return kernel.data.map((/** @type {any} */ data, /** @type {number} */ i) => [
      params.levels[i],
      phraseOf(sureOf(power(data.promisedRatio, reports))),
    ]);
  }

  /**
   * The answers that a report may name, which is what `new Device(design, {harmless})` asks consent for. As the question has
   * them: labels, pairs [low, high] of numbers of an interval, else ranges {start, end} of answers' numbers, without the end.
   * @returns {any[]}
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
 * @param {unknown} design @param {Charge} [charge]
 */
export const explain = (design, charge) => explanation(proved(design, charge));

/** What the integers of a design mean for each answer. @param {Proved} design @returns {Explanation} */
function explanation(design) {
  if (design.parts) return TOLD.ofParts(design, design.parts.map(explanation));
  const disclosed = disclosedBy(design);
  const chance = reduced(disclosed.length ? design.kernel.disclosed : new Ratio(0n));
  return new Explanation(design, design.ratio, logUpper(design.ratio), disclosed, chance);
}

TOLD.explanation = explanation;

/** In lowest terms. @param {Ratio} ratio */
export function reduced({ top, bottom }) {
  let [a, b] = [top, bottom];
  while (b) [a, b] = [b, a % b];
  return new Ratio(top / a, bottom / a);
}

// ---- numbers

/** How sure somebody can become who thought two answers equally likely. @param {Ratio} ratio */
const sureOf = ({ top, bottom }) => new Ratio(top, top + bottom);

const BITS = 192n;

/** A power in `BITS` binary digits after the point, rounded up (1) or down (0). @param {Ratio} base @param {number} exponent @param {bigint} up */
function raised({ top, bottom }, exponent, up) {
  const factor = ((top << BITS) + up * (bottom - 1n)) / bottom;
  const more = up * ((1n << BITS) - 1n);
  let found = 1n << BITS;
  for (const digit of exponent.toString(2)) {
    found = (found * found + more) >> BITS;
    if (digit === "1") found = (found * factor + more) >> BITS;
  }
  return new Ratio(found, 1n << BITS);
}

/** The ratio of several reports. @param {Ratio} ratio @param {number} reports */
const power = (ratio, reports) => (reports === 1 ? ratio : raised(ratio, reports, 1n));

// ---- sentences

/** The word for protection that leaves somebody this sure. @param {Ratio} sure */
const phraseOf = ({ top, bottom }) => say(`grade_${GRADES.find((most) => 1000n * top <= BigInt(most) * bottom)}`);

/** How sure somebody can become, in thousandths that are rounded up. @param {bigint} tenths */
const certainty = (tenths, of = "one") => percentage("sure", tenths, { one: say(of) });

/** @param {string} name @param {bigint} tenths @param {Record<string, string>} [parts] */
const percentage = (name, tenths, parts) =>
  tenths < 1000n ? say(name, { ...parts, percent: `${tenths / 10n}.${tenths % 10n}` }) : say(`${name}_nearly`, parts);

/** In thousandths, rounded up. @param {Ratio} share */
export const thousandths = ({ top, bottom }) => up(1000n * top, bottom);

/** @param {Explanation} found @param {Telling} told */
function lines(found, told) {
  const { domain, kernel } = found.design;
  const named = found.disclosed.length ? [disclosure(found, told)] : [];
  const more = FURTHER[kernel.kind]?.(found, told.reports) ?? [];
  return [protection(found, told), belief(found, told), ...named, ...more, ...choices(domain, found.disclosed)];
}

/** @param {Explanation} found @param {Telling} told */
function protection({ design: { domain, kernel }, epsilon, disclosed }, { reports: count, ratio, phrase: grade }) {
  const likely = say("likely", { count, times: times(ratio) });
  const most = say("level", { count, epsilon: levelOf(epsilon, count) });
  const level = kernel.kind === "personal" ? say("level_loosest", { level: most }) : most;
  if (!disclosed.length) return say(kernel.kind === "pairs" ? "protection_pairs" : "protection", { grade, likely, level });
  const answers = listOf(domain, spans(kernel.protected.map(Number)));
  return say(answers ? "protection_some" : "protection_between", { grade: grade[0].toUpperCase() + grade.slice(1), answers, likely, level });
}

/** @param {Explanation} found @param {Telling} told */
function belief(found, { sure }) {
  const some = found.design.kernel.protected?.length ? [say("two_some"), "it"] : [say("two_between"), "one"];
  const [both, one] = found.disclosed.length ? some : [two(found), "one"];
  return say("belief", { both, sure: certainty(thousandths(sure), one) });
}

/** @param {Explanation} found */
const two = ({ design }) => say(design.kernel.kind === "pairs" ? "two_pairs" : "two");

/** @param {Explanation} found @param {Telling} told */
function disclosure(found, { reports: count, named }) {
  const { design: { domain, kernel }, disclosed, chance } = found;
  const [one, several] = [chance, named].map((share) => {
    const cases = chance.top === chance.bottom ? say("cases_all") : percentage("cases", thousandths(share));
    return kernel.kind === "personal" ? say("cases_up_to", { cases }) : cases;
  });
  const name = alone(found) ? "disclosure" : "disclosure_open";
  const told = say(name, { answers: listOf(domain, disclosed, Infinity), cases: one });
  return count === 1 ? told : say(`${name}_all`, { disclosure: told, count, cases: several });
}

/** Whether a report that is not within the ratio names its answer: it could come from no other one. @param {Explanation} found */
const alone = ({ design: { kernel, parts } }) => (parts ?? [{ kernel }]).every((part) => part.kernel.kind !== "channel");

/** What else is to be said of designs with some kinds of kernels. @type {Record<string, (found: Explanation, reports: number) => string[]>} */
const FURTHER = {
  personal(found, count) {
    const levels = found.levels(count).map(([epsilon, grade]) => ({ count, epsilon: levelOf(epsilon, count), grade }));
    const listed = levels.map((each) => say("choice_level", each)).join("; ");
    const line = say("choice", { levels: listed, least: levels[0].epsilon });
    if (levels.length === 1) return [line];
    const { level, pair } = guarantees(found.design.kernel);
    return [line, say("choice_told", { count, level: levelOf(level, count), pair: levelOf(pair, count) })];
  },

  "utility-levels"({ design: { domain, params, kernel } }, count) {
    const single = spans(kernel.sensitive.map(Number)).flatMap(([start, end]) =>
      Array.from({ length: end - start }, (_, i) => start + i),
    );
    const name = (/** @type {number} */ x, /** @type {number} */ i) =>
      `${listOf(domain, [[x, x + 1]])} ${levelOf(params.item_epsilon[i], count)}`;
    return [say("budgets", { count, answers: cut(single.map(name)) })];
  },

  channel({ design: { domain, kernel } }, count) {
    const own = kernel.closed.map((/** @type {number[]} */ row, /** @type {number} */ x) => {
      const others = row.filter((_, z) => z !== x);
      const finite = others.filter((budget) => budget < Infinity);
      const name = !finite.length ? "limit_none" : finite.length < others.length ? "limit_some" : "limit";
      return { name, epsilon: levelOf(Math.max(...finite, 0), count) };
    });
    if (new Set(own.map((/** @type {any} */ { name, epsilon }) => `${name} ${epsilon}`)).size === 1) return [];
    const told = own.map((/** @type {any} */ { name, epsilon }, /** @type {number} */ x) =>
      say(name, { answer: listOf(domain, [[x, x + 1]]), epsilon }),
    );
    return [say("limits", { count, answers: cut(told) })];
  },
};

/** What values that are none of the labels count as, and whether that is protected. @param {Domain} domain @param {Span[]} disclosed */
function choices(domain, disclosed) {
  const open = new Set(domain.labels ? named(domain, disclosed) : []);
  const told = [["missing", domain.missing], ["other", domain.other]];
  return told.flatMap(([name, label]) =>
    label === undefined ? [] : [say(open.has(label) ? `${name}_open` : `${name}`, { label: quoted(label) })],
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
    parts = named(domain, ranges).map(([low, high]) => say("numbers", { low: number(low), high: number(high) }));
  } else parts = ranges.map(([low, end]) => (end === low + 1 ? `${low}` : say("range", { low, high: end - 1 })));
  return cut(parts, shown);
}

/** The first of a list, and how many more there are. @param {string[]} parts */
function cut(parts, shown = SHOWN) {
  const answers = parts.slice(0, shown).join(", ");
  return parts.length > shown ? say("more", { answers, count: parts.length - shown }) : answers;
}

/** A number in as few digits as tell it from every other one. @param {number} x */
export function number(x) {
  const [digits, exponent] = x.toExponential().split("e");
  if (x && (+exponent < -4 || +exponent >= 16)) return `${digits}e${exponent[0]}${exponent.slice(1).padStart(2, "0")}`;
  return `${x}`;
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

/** A ratio, rounded up to three digits, or to a power of ten if it is large. @param {Ratio} ratio */
function times({ top, bottom }) {
  if (top >= 10n ** 15n * bottom) {
    const hex = up(top, bottom).toString(16);
    const bits = 4 * hex.length - Math.clz32(parseInt(hex[0], 16)) + 28;
    return `10^${Math.floor((bits * 30103) / 100000) + 1}`;
  }
  const digits = top < 10n * bottom ? 2 : top < 100n * bottom ? 1 : 0;
  const text = `${up(top * 10n ** BigInt(digits), bottom)}`;
  return digits ? `${text.slice(0, -digits)}.${text.slice(-digits)}` : text;
}

/** The level of some reports together, rounded up to four digits. @param {number} epsilon @param {number} reports */
function levelOf(epsilon, reports) {
  if (!epsilon) return "0";
  const { top, bottom } = exactly(epsilon).times(new Ratio(BigInt(reports)));
  const size = 3 - Number((epsilon * reports).toExponential().split("e")[1]);
  const digits = size > 0 ? up(top * 10n ** BigInt(size), bottom) : up(top, bottom * 10n ** BigInt(-size));
  const whole = size > 0 ? `${digits}`.padStart(size + 1, "0") : `${digits}${"0".repeat(-size)}`;
  return size > 0 ? `${whole.slice(0, -size)}.${whole.slice(-size)}`.replace(/\.?0+$/, "") : whole;
}
