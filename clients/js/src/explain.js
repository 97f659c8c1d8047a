/** What a design may send about each answer, in words that a person can agree to or not. */
import { ParameterError, PrivacyError, show } from "./errors.js";
import { Ratio, exactly, logUpper } from "./exact.js";
import { Disclosing } from "./kernels/contract.js";

/** @typedef {import("./domains.js").Domain} Domain */
/** @typedef {import("./grammar.js").Design} Design */
/** @typedef {[number, number]} Span a half-open range of answers' numbers, or the ends of an interval */

export const SHOWN = 12;

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

/** What the integers of a design, with this exact ratio, mean for each answer. @param {Design} design @param {Ratio} ratio */
export function explanation(design, ratio) {
  const { kernel, domain } = design;
  const exact = logUpper(ratio);
  const open = kernel instanceof Disclosing && /** @type {any} */ (kernel).disclosed.top > 0n;
  const disclosed = open ? spans([0, .../** @type {any} */ (kernel).protected.map(Number), domain.answers]) : [];
  const chance = (disclosed.length ? kernel.disclosed : new Ratio(0n)).reduced();
  const lines = [protection(design, ratio, exact, disclosed)];
  if (disclosed.length) lines.push(disclosure(design, disclosed, chance));
  lines.push(...(kernel.further?.(design) ?? []), ...choices(domain, disclosed));
  return new Explanation(design, exact, disclosed, chance, lines.join("\n"));
}

/**
 * `PrivacyError` unless the caller consented to disclose exactly the answers that reports may name.
 * @param {Explanation} found @param {Iterable<unknown> | null} [harmless]
 */
export function checkConsent(found, harmless) {
  const { domain } = found.design;
  const given = consented(domain, harmless ?? []);
  if (`${given}` === `${found.disclosed}`) return;
  const [told, heard] = [listOf(domain, found.disclosed) || "none of its answers", listOf(domain, given) || "none"];
  throw new PrivacyError(
    `this design may disclose ${told}, and consent was given for ${heard}; no report was made.`,
    found.disclosed.length
      ? "Ask the person, then pass exactly these answers: new Device(design, {harmless: [...]})."
      : "Leave out harmless, or ask whoever runs the task which design is meant.",
  );
}

/** The answers in a list as half-open ranges. @param {Domain} domain @param {any} harmless */
function consented(domain, harmless) {
  if (typeof harmless === "string" || typeof harmless[Symbol.iterator] !== "function") {
    throw new ParameterError(`harmless must be a list of answers, got ${show(harmless)}.`);
  }
  const known = domain.labels && new Set(domain.labels);
  /** @type {Span[]} */
  const found = [];
  const given = Array.from(harmless, (entry) => span(domain, known, entry));
  for (const [start, end] of given.sort((a, b) => a[0] - b[0] || a[1] - b[1])) {
    const last = found[found.length - 1];
    if (last && start <= last[1]) last[1] = Math.max(last[1], end);
    else if (start < end) found.push([start, end]);
  }
  return found;
}

/**
 * The numbers of an answer, or of a range of them; what counts as another answer is none here.
 * @param {Domain} domain @param {Set<string> | undefined} known @param {any} entry @returns {Span}
 */
function span(domain, known, entry) {
  if (domain.border) return cells(domain, domain.border, entry);
  if (!known && Number.isInteger(entry?.start) && Number.isInteger(entry?.end)) return [entry.start, entry.end];
  if (known && !known.has(entry)) {
    throw new ParameterError(`harmless must be a list of this question's labels, got ${show(entry)} in it.`);
  }
  const number = domain.index(entry);
  return [number, number + 1];
}

/** The answers of a pair of numbers, which must be where answers begin and end. @param {Domain} domain @param {(i: number) => number} border @param {any} entry @returns {Span} */
function cells(domain, border, entry) {
  const pair = Array.isArray(entry) && entry.length === 2 ? entry : [];
  const near = pair.map((end) => [end, domain.index(end)]);
  const found = near.flatMap(([end, at]) => [at, at + 1].filter((i) => border(i) === end));
  if (found.length === 2) return [found[0], found[1]];
  const hint = "Use those that explain(design).harmless has.";
  throw new ParameterError(`harmless must be a list of pairs [low, high] of numbers, got ${show(entry)} in it.`, hint);
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

/** What values that are none of the labels count as, and whether that is protected. @param {Domain} domain @param {Span[]} disclosed */
function choices(domain, disclosed) {
  const open = new Set(domain.labels ? named(domain, disclosed) : []);
  const told = [["If you leave the answer empty, that", domain.missing], ["Anything else", domain.other]];
  return told.flatMap(([what, label]) =>
    label === undefined ? [] : [`${what} is reported as ${quoted(label)}${open.has(label) ? ", which is not protected" : ""}.`],
  );
}

// ---- words

/** Pairs of ends, without those of nothing. @param {number[]} ends @returns {Span[]} */
export function spans(ends) {
  return ends.flatMap((start, i) => (i % 2 === 0 && start < ends[i + 1] ? [/** @type {Span} */ ([start, ends[i + 1]])] : []));
}

/** The answers of some ranges by label, or by the ends of their numbers. @param {Domain} domain @param {Span[]} ranges @returns {any[]} */
function named({ labels, border }, ranges) {
  return ranges.flatMap(([start, end]) => /** @type {any[]} */ (labels?.slice(start, end) ?? [[border?.(start), border?.(end)]]));
}

/** Some answers in words: the first of them, or every one. @param {Domain} domain @param {Span[]} ranges */
export function listOf(domain, ranges, shown = SHOWN) {
  /** @type {string[]} */
  let parts = [];
  if (domain.labels) parts = named(domain, ranges).map(quoted);
  else if (domain.border) {
    parts = named(domain, ranges).map(([low, high]) => `numbers from ${general(low)} to ${general(high)}`);
  } else parts = ranges.map(([start, end]) => (end === start + 1 ? `${start}` : `${start} to ${end - 1}`));
  return parts.slice(0, shown).join(", ") + (shown === SHOWN ? more(parts.length) : "");
}

/** @param {number} count */
export const more = (count) => (count > SHOWN ? ` and ${count - SHOWN} more` : "");

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
export function levelOf(epsilon) {
  if (!epsilon) return "0";
  const { top, bottom } = exactly(epsilon);
  const size = 3 - Number(epsilon.toExponential().split("e")[1]);
  const digits = size > 0 ? up(top * 10n ** BigInt(size), bottom) : up(top, bottom * 10n ** BigInt(-size));
  const whole = size > 0 ? `${digits}`.padStart(size + 1, "0") : `${digits}${"0".repeat(-size)}`;
  return size > 0 ? `${whole.slice(0, -size)}.${whole.slice(-size)}`.replace(/\.?0+$/, "") : whole;
}
