/**
 * The task: what a collector asks, under which promise, when and how often (docs/protocol.md).
 *
 * @module
 */

import { canonical, digest, parse } from "./canonical.js";
import { LAST_DAY, dayNumber, dayOf, dayText } from "./days.js";
import { Device } from "./device.js";
import { fieldsOf } from "./designs.js";
import { DeniableError, FormatError, ParameterError, PrivacyError, show } from "./errors.js";
import { below } from "./exact.js";
import { explain } from "./explain.js";
import { WindowError } from "./ledger_errors.js";
import { BUDGET_MAX, amountIn, dayIn, general, listIn, need, textIn, wholeIn } from "./parts.js";
import { printable, quoted } from "./printing.js";
import { needLabels } from "./texts.js";

/** @import { Words } from "./types.js" */
/** @typedef {Record<string, any>} Mapping */

const VERSION = 1;

const NEEDED = [
  "version",
  "id",
  "subject",
  "epsilon",
  "questions",
  "window",
  "precision",
  "min_batch",
  "memory",
  "budget",
  "retention",
  "expires",
];
const MEMORIES = ["fresh", "remembered", "first"];
const BUDGETS = ["task", "subject", "lifetime"];
const TEXT_MAX = 10_000;

/** Questions, and values of a stratum: one byte of a report. */
const LISTED_MAX = 255;
const STRATA_MAX = 8;
const NAME = /^[a-z0-9_-]{1,64}$/;

/** A question of a task; its design has been proved to keep its promise. */
export class Question {
  /** @type {Device | undefined} */
  #device;

  /**
   * @param {{name: string, text: string, share: number, design: Mapping, explanation: any, key: string,
   *   labels: readonly string[] | null}} parts `key` is the same for the same question in another task: the hash of
   *   subject, text, design and labels; `labels` are what people read for the answers 0, 1, .., null if there are only numbers
   */
  constructor(parts) {
    this.name = parts.name;
    this.text = parts.text;
    this.share = parts.share;
    this.design = parts.design;
    this.explanation = parts.explanation;
    this.key = parts.key;
    this.labels = parts.labels;
    Object.freeze(this);
  }

  /** @returns {number} bytes of a report of this question's design */
  get width() {
    return Number(this.explanation.design.kernel.width);
  }

  /**
   * A device for this question, if the person agrees to disclose exactly the `harmless` answers.
   *
   * @param {Iterable<unknown> | null} [harmless]
   */
  device(harmless = null) {
    if (harmless === null) return (this.#device ??= new Device(this.design));
    const listed = typeof harmless === "object" && Symbol.iterator in harmless;
    return new Device(this.design, { harmless: listed ? Array.from(harmless, (each) => this.value(each)) : harmless });
  }

  /**
   * What the design knows an answer as: the number of a label, where only the task has labels.
   *
   * @param {unknown} given
   * @returns {unknown}
   */
  value(given) {
    const own = this.explanation.design.domain.labels ? null : this.labels;
    return own && typeof given === "string" && own.includes(given) ? own.indexOf(given) : given;
  }
}

/**
 * A task that has the right form and id, and whose designs all keep their promises.
 *
 * `Task.load` reads one; there is no other way to make a task that a ledger answers.
 */
export class Task {
  /** @param {object} key @param {Mapping} parts */
  constructor(key, parts) {
    if (key !== LOADED) throw new ParameterError("a task is made by Task.load only.");
    /** @type {string} */
    this.id = parts.id;
    /** @type {string} */
    this.subject = parts.subject;
    /** @type {number} */
    this.epsilon = parts.epsilon;
    /** @type {readonly Question[]} */
    this.questions = parts.questions;
    /** @type {ReadonlyMap<string, readonly string[]>} */
    this.strata = parts.strata;
    /** @type {string} the first day */
    this.opens = dayText(parts.opens);
    /** @type {number} */
    this.days = parts.days;
    /** @type {number} */
    this.count = parts.count;
    /** @type {number} */
    this.minBatch = parts.minBatch;
    /** @type {string} */
    this.memory = parts.memory;
    /** @type {{task: number, subject: number, lifetime: number}} */
    this.budget = parts.budget;
    /** @type {string} */
    this.keep = parts.keep;
    /** @type {number} */
    this.keepDays = parts.keepDays;
    /** @type {string} the first day on which it is void */
    this.expires = dayText(parts.expires);
    /** @type {string | null} */
    this.collector = parts.collector;
    /** @type {Mapping} */
    this.document = parts.document;
    Object.freeze(this);
  }

  /**
   * Read a task; `FormatError` if it is none or was altered, `PrivacyError` if it leaks.
   *
   * @param {Uint8Array | string | Mapping} data
   * @param {{expect?: string | null}} [options] `expect`: the id that the task should have, where it is known beforehand
   * @returns {Task}
   */
  static load(data, { expect = null } = {}) {
    const text = typeof data === "string" || data instanceof Uint8Array;
    const document = parse(text ? data : canonical(data), "the task");
    const { version = VERSION } = document;
    if (version !== VERSION) {
      throw new FormatError(`task version ${show(version)} is unknown; this client has ${VERSION}.`);
    }
    const given = fieldsOf(document, "a task", NEEDED, ["collector", "strata"]);
    const found = digest(withoutId(document));
    if (given.id !== found || (expect !== null && expect !== found)) {
      throw new FormatError(
        `the task was altered: its content has the id ${found}, not ${show(expect ?? given.id)}.`,
        "Nothing is sent. Ask for the task again.",
      );
    }
    return read(given);
  }

  /** @returns {string} the first day after the last window */
  get closes() {
    return dayText(Number(dayNumber(this.opens)) + this.days * this.count);
  }

  /** @returns {number} bytes of every report body of this task */
  get width() {
    const head = (this.questions.length > 1 ? 1 : 0) + this.strata.size;
    return head + Math.max(...this.questions.map((question) => question.width));
  }

  /**
   * The number of the window that a day is in; `WindowError` if there is none.
   *
   * @param {Date | string} today a moment, or a day such as 2026-11-16 (UTC)
   * @returns {number}
   */
  window(today) {
    const day = today instanceof Date ? dayOf(today.getTime()) : dayNumber(today);
    if (day === null || Number.isNaN(day)) throw new ParameterError(`today must be a day, got ${show(today)}.`);
    const opens = Number(dayNumber(this.opens));
    const closes = opens + this.days * this.count;
    if (day >= Number(dayNumber(this.expires))) {
      throw new WindowError(`this task expired on ${this.expires}; nothing is sent any more.`);
    }
    if (day < opens || day >= closes) {
      const told = day < opens ? `opens on ${this.opens}` : `was open until ${dayText(closes - 1)}`;
      throw new WindowError(`this task is not open today, ${dayText(day)}: it ${told}.`);
    }
    return Math.floor((day - opens) / this.days);
  }

  /** @param {unknown} name @returns {Question} a question by its name */
  question(name) {
    const found = this.questions.find((question) => question.name === name);
    if (found) return found;
    const known = this.questions.map((question) => question.name).join(", ");
    throw new ParameterError(`question must be one of ${known}, got ${show(name)}.`);
  }

  /** @param {Words} words @returns {Question} one of the questions, drawn by their shares */
  deal(words) {
    let drawn = Number(below(BigInt(this.questions.reduce((sum, question) => sum + question.share, 0)), words));
    return /** @type {Question} */ (this.questions.find((question) => (drawn -= question.share) < 0));
  }

  /**
   * What is sent: the numbers of the question and of the strata, the report, and zeros up to `width`.
   *
   * @param {Question} question
   * @param {Uint8Array} report
   * @param {Mapping | null} [strata]
   * @returns {Uint8Array}
   */
  body(question, report, strata = null) {
    return joined(this.head(question, strata), report, this.width);
  }

  /**
   * The first bytes of a body, which are sent in the clear: the numbers of the question and of the strata.
   *
   * @param {Question} question
   * @param {Mapping | null} [strata]
   * @returns {Uint8Array}
   */
  head(question, strata = null) {
    const given = strata ?? {};
    const names = Object.keys(given);
    if (names.length !== this.strata.size || !names.every((name) => this.strata.has(name))) {
      const need = [...this.strata.keys()].join(", ") || "none";
      throw new ParameterError(`strata must be given for exactly ${need}, got ${show(names.sort())}.`);
    }
    const head = this.questions.length > 1 ? [this.questions.indexOf(question)] : [];
    for (const [name, values] of this.strata) {
      if (!values.includes(given[name])) {
        throw new ParameterError(`${name} must be one of ${values.join(", ")}, got ${show(given[name])}.`);
      }
      head.push(values.indexOf(given[name]));
    }
    return Uint8Array.from(head);
  }

  /** @returns {string[]} what the task says, in sentences for a person who decides whether to answer; safe to show */
  terms() {
    const lines = [this.collector ? `${this.collector} asks.` : "The collector does not say who it is."];
    if (this.questions.length > 1) {
      lines.push(`One of ${this.questions.length} questions is drawn for you; only that one is answered.`);
    }
    for (const question of this.questions) {
      lines.push(`The collector asks: ${quoted(question.text)}`, ...question.explanation.text.split("\n"));
      if (question.labels && !question.explanation.design.domain.labels) {
        lines.push(`Answers by number: ${question.labels.map((label, i) => `${i} is ${label}`).join(", ")}.`);
      }
    }
    for (const [name, values] of this.strata) {
      lines.push(`Sent openly with your report: ${name}, one of ${values.join(", ")}.`);
    }
    const until = `${this.opens} to ${dayText(Number(dayNumber(this.closes)) - 1)}`;
    const days = this.days === 1 ? "a day" : `${this.days} days`;
    const often = this.count === 1 ? "once" : `once in each of ${this.count} windows of ${days}`;
    const { task, subject, lifetime } = this.budget;
    const said = [
      ...lines,
      `Asked ${often}, ${until}. ${MEANING[this.memory]}`,
      `An answer costs epsilon ${general(this.epsilon)}; at most ${general(task)} for this task, ` +
        `${general(subject)} for all about ${quoted(this.subject)}, ${general(lifetime)} in all.`,
      `Results are published for at least ${this.minBatch} reports. ` +
        (this.keep === "tally"
          ? "Reports are erased once they are counted."
          : `Reports are kept for ${this.keepDays} days after the last window.`),
    ];
    return said.map(printable);
  }
}

const LOADED = {};

/** @param {Uint8Array} head @param {Uint8Array} report @param {number} width zeros follow up to it */
export function joined(head, report, width) {
  const body = new Uint8Array(width);
  body.set(head);
  body.set(report, head.length);
  return body;
}

/** @type {Record<string, string>} */
const MEANING = {
  fresh: "Each answer is randomised anew and costs again.",
  remembered: "The same answer sends the same report again, at no cost; that an answer changed can be noticed.",
  first: "Your first answer is kept: the same report is sent each time, at no further cost.",
};

/** @param {Mapping} document @returns {Mapping} */
const withoutId = (document) => Object.fromEntries(Object.entries(document).filter(([name]) => name !== "id"));

/**
 * A document with its id, after the checks that a device will make.
 *
 * @param {Mapping} document
 * @returns {Mapping}
 */
export const seal = (document) => Task.load({ ...document, id: digest(withoutId(document)) }).document;

// ---- reading the parts

/** @param {Mapping} given @returns {Task} */
function read(given) {
  const subject = textIn(given.subject, "subject", 200);
  const epsilon = amountIn(given.epsilon, "epsilon");
  const questions = listIn(given.questions, "questions", 1, LISTED_MAX).map((each) => question(each, subject, epsilon));
  const names = new Set(questions.map((each) => each.name));
  need(names.size === questions.length, "names of questions", "different", "two alike");
  const window = fieldsOf(given.window, "window", ["opens", "days", "count"]);
  const days = wholeIn(window.days, "days", 1, 3660);
  const count = wholeIn(window.count, "count", 1, 10_000);
  const opens = dayIn(window.opens, "opens");
  const expires = dayIn(given.expires, "expires");
  const closes = opens + days * count;
  need(closes <= LAST_DAY && expires >= closes, "expires", "after the last window", given.expires);
  need(given.precision === "day", "precision", "day", given.precision);
  need(MEMORIES.includes(given.memory), "memory", `one of ${MEMORIES.join(", ")}`, given.memory);
  const keep = fieldsOf(given.retention, "retention", ["keep"], ["days"]);
  need(["tally", "reports"].includes(keep.keep), "retention", "tally or reports", keep.keep);
  need((keep.keep === "reports") === "days" in keep, "retention", "days with reports, and only then", keep);
  return new Task(LOADED, {
    id: given.id,
    subject,
    epsilon,
    questions: Object.freeze(questions),
    strata: strataIn("strata" in given ? given.strata : []),
    opens,
    days,
    count,
    minBatch: wholeIn(given.min_batch, "min_batch", 1, 10 ** 9),
    memory: given.memory,
    budget: budgetIn(given.budget, epsilon),
    keep: keep.keep,
    keepDays: wholeIn("days" in keep ? keep.days : 0, "days of retention", 0, 3660),
    expires,
    collector: "collector" in given ? textIn(given.collector, "collector", 200) : null,
    document: given,
  });
}

/** @param {unknown} document @param {string} subject @param {number} epsilon @returns {Question} */
function question(document, subject, epsilon) {
  const given = fieldsOf(document, "a question", ["name", "text", "design", "share"], ["labels"]);
  const { name, design } = given;
  const named = typeof name === "string" && NAME.test(name);
  need(named, "name of a question", "small letters, digits, - or _", name);
  const text = textIn(given.text, `text of ${name}`, TEXT_MAX, true);
  const explanation = explained(design, name);
  const proved = explanation.design;
  if (proved.epsilon > epsilon) {
    const told = `epsilon ${general(proved.epsilon)}, more than the ${general(epsilon)} that the task says`;
    throw new PrivacyError(`question ${name} costs ${told}; nothing is sent.`);
  }
  return new Question({
    name,
    text,
    share: wholeIn(given.share, `share of ${name}`, 1, 1_000_000),
    design,
    explanation,
    key: digest({ subject, text, design, labels: given.labels ?? null }),
    labels: "labels" in given ? labelsIn(given.labels, name, proved.domain) : (proved.domain.labels ?? null),
  });
}

/** @param {Mapping} design @param {string} name */
function explained(design, name) {
  try {
    return explain(design);
  } catch (error) {
    if (!(error instanceof DeniableError)) throw error;
    const Kind = /** @type {new (message: string, hint: string) => DeniableError} */ (error.constructor);
    throw new Kind(`question ${name}: ${error.message}`, error.hint);
  }
}

/**
 * Labels that a task gives to the answers of a design which has numbers only.
 *
 * @param {unknown} given
 * @param {string} name
 * @param {any} domain
 */
function labelsIn(given, name, domain) {
  const where = `labels of ${name}`;
  need(!domain.labels && !domain.border, where, "left out, since its design says what answers are", given);
  const labels = listIn(given, where, domain.answers, domain.answers);
  need(labels.every((label) => typeof label === "string"), where, "texts", given);
  needLabels(labels, where);
  return Object.freeze([...labels]);
}

/** @param {unknown} given @returns {Map<string, readonly string[]>} */
function strataIn(given) {
  const found = new Map();
  for (const entry of listIn(given, "strata", 0, STRATA_MAX)) {
    const { name, values } = fieldsOf(entry, "a stratum", ["name", "values"]);
    const listed = listIn(values, "values of a stratum", 2, LISTED_MAX);
    const fits = typeof name === "string" && NAME.test(name) && !found.has(name);
    need(fits, "name of a stratum", "small letters, digits, - or _, and no other's", name);
    const texts = listed.map((value) => textIn(value, `a value of ${name}`, 200));
    needLabels(texts, `values of ${name}`);
    found.set(name, Object.freeze(texts));
  }
  return found;
}

/** @param {unknown} given @param {number} epsilon */
function budgetIn(given, epsilon) {
  const fields = fieldsOf(given, "budget", BUDGETS);
  const [task, subject, lifetime] = BUDGETS.map((name) => amountIn(fields[name], `budget of ${name}`));
  const rising = epsilon <= task && task <= subject && subject <= lifetime;
  need(rising, "budget", `epsilon <= task <= subject <= lifetime <= ${BUDGET_MAX}`, given);
  return Object.freeze({ task, subject, lifetime });
}
