/**
 * The task: what a collector asks, under which promise, when and how often (docs/protocol.md).
 *
 * @module
 */

import { canonical, digest, parse } from "./canonical.js";
import { dayNumber, dayOf, dayText } from "./days.js";
import { dealt } from "./dealing.js";
import { fieldsOf, lengthOf } from "./designs.js";
import { DeniableError, FormatError, ParameterError, show } from "./errors.js";
import { join } from "./exact.js";
import { WindowError } from "./ledger_errors.js";
import { need } from "./parts.js";
import { Question } from "./question.js";
import { FIELDS, NOT_TOLD, readNew, readOld, signedPart } from "./reading.js";
import { hex } from "./sha256.js";

/** @import { Words } from "./types.js" */
/** @typedef {Record<string, any>} Mapping */
/** @typedef {{subject: string, purpose?: string, strata?: {title: string, values: string[]}[], questions: {text: string, labels?: string[], unit?: string, ends?: string[]}[][]}} Translation */

export { Question };

/** What `terms.js` adds once it is loaded. @type {{terms?: (task: Task) => string[]}} */
export const SAID = {};

const BYTES_MAX = 2 ** 22;

/** Characters of a task's texts, all together. */
const TEXTS_MAX = 2 ** 20;
const LOADED = {};

/**
 * A task that has the right form, id and signature, and whose designs all keep their promises.
 *
 * `Task.load` reads one; there is no other way to make a task that a ledger answers.
 */
export class Task {
  /** @param {object} key @param {Mapping} parts */
  constructor(key, parts) {
    if (key !== LOADED) throw new ParameterError("a task is made by Task.load only.");
    /** @type {1 | 2} */
    this.version = parts.version;
    /** @type {string} */
    this.id = parts.id;
    /** @type {string} */
    this.subject = parts.subject;
    /** @type {number} */
    this.epsilon = parts.epsilon;
    /** @type {readonly Question[]} one for each part of the design */
    this.questions = parts.questions;
    /** @type {ReadonlyMap<string, readonly string[]>} values in the order of their numbers */
    this.strata = parts.strata;
    /** @type {string} the first day */
    this.opens = dayText(parts.opens);
    /** @type {number} */
    this.days = parts.days;
    /** @type {number} */
    this.count = parts.count;
    /** @type {string} the first day after the last window */
    this.closes = dayText(parts.closes);
    /** @type {string} the first day on which it is void */
    this.expires = dayText(parts.expires);
    /** @type {number} */
    this.minBatch = parts.minBatch;
    /** @type {string} */
    this.memory = parts.memory;
    /** @type {Record<string, number>} `collector`; in version 1 `task`, `subject` and `lifetime` */
    this.budget = parts.budget;
    /** @type {string} */
    this.keep = parts.keep;
    /** @type {number} */
    this.keepDays = parts.keepDays;
    /** @type {string | null} the name that the collector gives itself */
    this.collector = parts.collector;
    /** @type {string | null} */
    this.key = parts.key;
    /** @type {string | null} where reports go, if the collector signed that */
    this.url = parts.url;
    /** @type {number} */
    this.attempts = parts.attempts;
    /** @type {number} */
    this.sendDays = parts.sendDays;
    /** @type {string | null} */
    this.language = parts.language;
    /** @type {Record<string, Translation>} by language */
    this.translations = parts.translations;
    /** @type {string | null} why it is asked, in the collector's words */
    this.purpose = parts.purpose;
    /** @type {"public" | "private"} who will see what is published */
    this.results = parts.results;
    /** @type {Record<string, string>} what people read for a stratum, by its name, where that is another text */
    this.titles = parts.titles;
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
    const document = parse(text ? data : canonical(data), "the task", BYTES_MAX);
    const { version } = document;
    if (version !== 1 && version !== 2) {
      throw new FormatError(`task version ${show(version)} is unknown; this client has 1 and 2.`);
    }
    const [needed, optional] = FIELDS[version];
    const given = fieldsOf(document, "a task", needed, optional);
    const found = idOf(document);
    if (given.id !== found || (expect !== null && expect !== found)) {
      throw new FormatError(
        `the task was altered: its content has the id ${found}, not ${show(expect ?? given.id)}.`,
        "Nothing is sent. Ask for the task again.",
      );
    }
    const size = characters(document);
    need(size <= TEXTS_MAX, "texts", `at most ${TEXTS_MAX} characters`, size);
    return new Task(LOADED, { version, ...(version === 2 ? readNew(given) : readOld(given)) });
  }

  /** @returns {number} bytes of every report body of this task */
  get width() {
    return this.strata.size + Number(this.questions.length > 1) + Math.max(...this.questions.map(({ width }) => width));
  }

  /** @returns {number} the most that it asks of one device: for this task in version 1, for all of its collector in a year since */
  get most() {
    return this.version === 1 ? this.budget.task : this.budget.collector;
  }

  /** @returns {number | null} where the number of the question stands in a body, if there are several */
  get questionAt() {
    if (this.questions.length === 1) return null;
    return this.version === 1 ? 0 : this.strata.size;
  }

  /** @returns {number} where the numbers of the strata begin in a body */
  get strataAt() {
    return this.version === 1 && this.questions.length > 1 ? 1 : 0;
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
    const [opens, closes] = [this.opens, this.closes].map((each) => Number(dayNumber(each)));
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
    return this.questions[dealt(this.questions.map(({ share }) => BigInt(share)), words)];
  }

  /**
   * What is sent: the numbers of the strata and of the question, the report, and zeros up to `width`.
   *
   * @param {Question} question
   * @param {Uint8Array} report
   * @param {Mapping | null} [strata]
   * @returns {Uint8Array}
   */
  body(question, report, strata = null) {
    return join([this.head(question, strata), report], this.width);
  }

  /**
   * The first bytes of a body, which are sent in the clear: the numbers of the strata and of the question.
   *
   * @param {Question} question
   * @param {Mapping | null} [strata] a stratum that is left out is not told; version 1 needs all of them
   * @returns {Uint8Array}
   */
  head(question, strata = null) {
    const given = strata ?? {};
    const [names, own] = [Object.keys(given), [...this.strata.keys()]];
    const all = this.version === 2 || names.length === own.length;
    if (!all || !names.every((name) => this.strata.has(name))) {
      throw new ParameterError(`strata must be given for exactly ${own.join(", ") || "none"}, got ${show(names.sort())}.`);
    }
    const numbers = [...this.strata].map(([name, values]) => {
      const value = Object.hasOwn(given, name) ? given[name] : NOT_TOLD;
      if (values.includes(value)) return values.indexOf(value);
      throw new ParameterError(`${name} must be one of ${values.join(", ")}, got ${show(value)}.`);
    });
    const number = this.questions.length > 1 ? [this.questions.indexOf(question)] : [];
    return Uint8Array.from(this.version === 1 ? [...number, ...numbers] : [...numbers, ...number]);
  }

  /**
   * What the task says, in sentences for a person who decides whether to take part, once `terms.js` is loaded, as `index.js` does.
   *
   * @returns {string[]} safe to show
   */
  terms() {
    if (SAID.terms) return SAID.terms(this);
    throw new DeniableError("the module of terms is not loaded.", "Import terms.js.");
  }
}

/** @param {Mapping} document @returns {string} the hash of its content */
const idOf = ({ id, signature, ...content }) => digest(content);

/** Code points of all texts that people may read: those in a document, but not inside of kernels. @param {any} part @returns {number} */
function characters(part) {
  if (typeof part === "string") return lengthOf(part);
  if (part === null || typeof part !== "object") return 0;
  const inner = Object.entries(part).filter(([name]) => name !== "kernel" || Array.isArray(part));
  return inner.reduce((sum, [, each]) => sum + characters(each), 0);
}

/**
 * A document with its id and signature, after the checks that a device will make.
 *
 * @param {Mapping} document
 * @param {(message: Uint8Array) => Uint8Array} [sign] signs as the collector, in version 2
 * @returns {Mapping}
 */
export function seal(document, sign) {
  const id = idOf(document);
  if (document.version === 2 && !sign) {
    throw new ParameterError("sign must be given: a task of version 2 has its collector's signature.");
  }
  return Task.load({ ...document, id, ...(sign && { signature: hex(sign(signedPart(id))) }) }).document;
}
