/**
 * The ledger: answers tasks within their budgets, remembers what was drawn, queues what is to be sent.
 *
 * @module
 */

import { amountOf, amountText } from "./amounts.js";
import { limitsOf, spend } from "./budgets.js";
import { dayOf, dayNumber, dayText } from "./days.js";
import { ParameterError, PrivacyError, require, show } from "./errors.js";
import { LedgerError, WindowError } from "./ledger_errors.js";
import { Source, checkedSecret, randomBytes, upTo } from "./memory.js";
import { checkedUrl, flush } from "./outbox.js";
import { hex } from "./sha256.js";
import { Task, joined } from "./task.js";
import { exported, overview } from "./views.js";

/** @typedef {import("./task.js").Question} Question */
/** @typedef {{change(step: (state: any) => [any, any]): Promise<any>}} Store */

/**
 * What became of an answer: it is spent, remembered and queued. `cost` is what it cost now, 0 if a report that was drawn
 * before is sent again; `body` is what is sent; `new` is false if this window was answered so before.
 *
 * @typedef {{id: string, question: string, window: number, cost: number, body: Uint8Array, new: boolean}} Receipt
 */

/**
 * What lies in the store. Kept for good: `own` (the key of the digests, or a mark of the secret), `spend`, `promise`,
 * `answered` (windows by task), `deal`. Erased by `forget`: `task`, `memo`, `report`.
 *
 * @typedef {{version: 1, own: Record<string, string>,
 *   spend: {task: string, subject: string, amount: string, day: string}[],
 *   promise: Record<string, {subject: string, most_subject: string, most_lifetime: string}>,
 *   answered: Record<string, number[]>, deal: Record<string, number>, task: Record<string, any>,
 *   memo: {question: string, answer: string, report: string}[], report: Entry[]}} Book
 * @typedef {{id: string, task: string, window: number, question: string, answer: string, body: string, cost: string,
 *   day: string, url: string | null, state: string, reason: string, attempts: number, due: number | null,
 *   later: number, expires: number}} Entry
 */

const VERSION = 1;
const DELAY_MAX = 604_800;

/**
 * What a device spent, remembers and has to send.
 *
 * An answer is checked, paid for, remembered and queued in one transaction, before anything leaves the device; `flush`
 * sends what is due. A refusal sends nothing and spends nothing. See docs/protocol.md, sections 2 to 6.
 */
export class Ledger {
  #secret;
  #limits;
  #delay;
  #clock;
  #store;

  /**
   * @param {string | Store} where a file (Node), the name of a database (browsers), or another store
   * @param {object} [options]
   * @param {Uint8Array | null} [options.secret] at least 32 random bytes that outlive the ledger: reports are derived from it,
   *   so that a lost ledger does not draw them anew; without one they are drawn by the system and kept
   * @param {number} [options.subject] the device's own limit for one subject, whatever a task says
   * @param {number} [options.lifetime] and in all
   * @param {number} [options.delay] the longest random time in seconds that a report waits before it is sent
   * @param {number} [options.patience] seconds to wait for other processes that use the same file
   * @param {() => number} [options.clock] milliseconds since 1970
   */
  constructor(where, { secret = null, subject = 8, lifetime = 16, delay = 3600, patience = 10, clock = Date.now } = {}) {
    this.#secret = secret === null ? null : checkedSecret(secret);
    this.#limits = limitsOf(subject, lifetime);
    const fits = Number.isFinite(delay) && delay >= 0 && delay <= DELAY_MAX;
    require(fits, "delay", delay, `a number of seconds from 0 to ${DELAY_MAX} (a week)`);
    this.#delay = delay;
    this.#clock = clock;
    /** @type {Promise<Store> | Store} */
    this.#store = typeof where === "string" ? openStore(where, patience) : where;
  }

  // ---- answering

  /**
   * The question of a task that this device answers, which is dealt once and for all.
   *
   * @param {Task} task
   * @param {{dealt?: string | null}} [options] `dealt`: the one that the collector dealt to it; the device draws one itself
   *   if it is left out
   * @returns {Promise<Question>}
   */
  async question(task, { dealt = null } = {}) {
    if (dealt !== null) task.question(dealt);
    if (task.questions.length === 1) return task.questions[0];
    const number = await this.#step((book, source) => {
      const named = dealt === null ? null : task.question(dealt);
      book.deal[task.id] ??= task.questions.indexOf(named ?? task.deal(source.words("deal", { task: task.id })));
      return book.deal[task.id];
    });
    return sameQuestion(task.questions[number], dealt);
  }

  /**
   * Answer a task in today's window: spent, remembered and queued when this is done, or refused with an error.
   *
   * `value`, `level` and `harmless` are those of `Device`, for the question that was dealt to this device (see
   * `question`; naming it here makes sure of it). `strata` has a value for each stratum that the task declares, which is
   * sent in the clear. `url` is the collector's, for `flush`.
   *
   * @param {Task} task
   * @param {unknown} value
   * @param {{level?: number | null, harmless?: Iterable<unknown> | null, strata?: Record<string, string> | null,
   *   dealt?: string | null, question?: string | null, url?: string | null}} [options]
   * @returns {Promise<Receipt>}
   */
  async answer(task, value, options = {}) {
    const { level = null, harmless = null, strata = null, dealt = null, question = null, url = null } = options;
    if (!(task instanceof Task)) {
      throw new ParameterError(`task must be a Task, got ${show(task)}.`, "Read it with Task.load(data).");
    }
    const now = this.#clock();
    const day = dayText(dayOf(now));
    const window = task.window(day);
    if (url !== null) checkedUrl(url);
    if (question !== null) task.question(question);
    const asked = sameQuestion(await this.question(task, { dealt }), question);
    const device = asked.device(harmless);
    return this.#step((book, source) => {
      const step = { book, source, task, asked, window, day };
      const kept = task.memory === "first" ? book.memo.find((memo) => memo.question === asked.key) : undefined;
      const answer = kept ? null : device.answer(asked.value(value)); // later ones are not looked at
      const chosen = device.level(level);
      const known = {
        answer: Array.isArray(answer) ? answer.sort((a, b) => Number(a[0]) - Number(b[0]) || Number(a[1]) - Number(b[1])) : answer,
        level: device.levels.length ? Number(chosen) : null,
        head: task.head(asked, strata),
      };
      const before = answered(step, known);
      if (before) return before;
      const [report, cost] = kept ? [fromBase64(kept.report), 0n] : reportOf(step, device, known, this.#limits);
      const most = Math.min(this.#delay * 1000, Math.max(0, startOf(task.expires) - now));
      return queue(step, known, { report, cost, url, due: now + upTo(most) });
    });
  }

  // ---- sending

  /**
   * Send the reports that wait, one by one, each to the `url` it was answered with, else to this one.
   *
   * @param {string | null} [url]
   * @param {{task?: Task | string | null, report?: string | null, due?: boolean, timeout?: number, fetch?: typeof fetch}}
   *   [options] only those of one `task`, or the one `report` with this id, if given; with `due` only those whose random time has come: what a timer should call, since reports
   *   that leave at once tell when they were answered; `timeout` in seconds. A report that could not be delivered is not
   *   tried again before its time, unless it is named. Reports without any url stay where they are.
   */
  async flush(url = null, { task = null, report = null, due = false, timeout = 20, fetch = globalThis.fetch } = {}) {
    if (url !== null) checkedUrl(url);
    const only = task instanceof Task ? task.id : task;
    const change = (/** @type {(book: Book) => any} */ step) => this.#step(step);
    return flush(change, { url, only, report, due, timeout, fetch, clock: this.#clock });
  }

  // ---- what a person may see and do

  /** What was asked, what was sent, what waits or was lost, and what is left of the budgets. */
  async overview() {
    return this.#step((book, source) => overview(book, source, this.#limits));
  }

  /** Everything that the ledger has about its person, as a document for JSON. */
  async export() {
    return this.#step((book, source) => exported(book, source, this.#limits));
  }

  /**
   * Erase what was asked, remembered and sent about a task (its id), a question (its key) or everything.
   *
   * Reports that wait are not sent any more. What was spent stays: amounts, days, ids of tasks, hashes of subjects.
   *
   * @param {Task | string | null} [task]
   * @param {{question?: string | null, everything?: boolean}} [options]
   * @returns {Promise<number>} how many reports and memories were erased
   */
  async forget(task = null, { question = null, everything = false } = {}) {
    if ([task !== null, question !== null, everything].filter(Boolean).length !== 1) {
      throw new ParameterError("forget needs exactly one of task, question and everything: true.");
    }
    const id = task instanceof Task ? task.id : task;
    return this.#step((book) => {
      const keys = new Set(book.report.filter((entry) => entry.task === id).map((entry) => entry.question));
      if (question !== null) keys.add(question);
      const before = book.report.length + book.memo.length;
      book.memo = book.memo.filter((memo) => !everything && !keys.has(memo.question));
      book.report = book.report.filter((entry) => !everything && entry.task !== id && entry.question !== question);
      const left = new Set(book.report.map((entry) => entry.task));
      book.task = Object.fromEntries(Object.entries(book.task).filter(([name]) => left.has(name)));
      const erased = before - book.report.length - book.memo.length;
      if (erased || everything) return erased;
      throw new ParameterError(`this ledger has nothing about ${show(id ?? question)}.`, "See its overview.");
    });
  }

  /**
   * @template T
   * @param {(book: Book, source: Source) => T} step
   * @returns {Promise<T>}
   */
  async #step(step) {
    const store = await this.#store;
    return store.change((state) => {
      const book = checkedBook(state);
      return [book, step(book, this.#source(book))];
    });
  }

  /** @param {Book} book @returns {Source} `LedgerError` if the ledger was made with another secret */
  #source(book) {
    const fresh = !Object.keys(book.own).length;
    const key = this.#secret ?? (fresh ? randomBytes(32) : fromHex(book.own.key ?? ""));
    const source = new Source(key, this.#secret !== null);
    /** @type {Record<string, string>} */
    const mark = this.#secret ? { secret: hex(source.digest("ledger", {})) } : { key: hex(key) };
    if (fresh) book.own = mark;
    if (JSON.stringify(book.own) !== JSON.stringify(mark)) {
      throw new LedgerError(
        "the ledger was made with another secret, or without one; nothing was spent or sent.",
        "Open it with the same secret as before.",
      );
    }
    return source;
  }
}

/** @typedef {{book: Book, source: Source, task: Task, asked: Question, window: number, day: string}} Step */

/**
 * What a person says: the number of the answer (or pairs of numbers), null if it is not looked at, the number of the
 * level, and what is sent openly.
 *
 * @typedef {{answer: any, level: number | null, head: Uint8Array}} Known
 */

/** @param {Step} step @param {Known} known what an answer is recognised by: nobody can tell it from this without the key */
const digestOf = ({ source, asked }, { answer, level }) =>
  hex(source.digest("answer", { question: asked.key, answer: plain(answer), level }));

/** @param {Step} step */
const subjectOf = ({ source, task }) => hex(source.digest("subject", { subject: task.subject }));

/**
 * The report of this window, if there is one; `WindowError` if it was made of another answer.
 *
 * @param {Step} step
 * @param {Known} known
 * @returns {Receipt | null}
 */
function answered(step, known) {
  const { book, task, asked, window } = step;
  const found = book.report.find((entry) => entry.task === task.id && entry.window === window);
  if (!found && !book.answered[task.id]?.includes(window)) return null;
  if (!found) {
    throw new WindowError(
      "this task was answered in this window already, and then forgotten; nothing was spent or sent.",
      "One answer is taken in each window.",
    );
  }
  const body = fromBase64(found.body);
  const other = known.answer !== null && found.answer !== digestOf(step, known);
  if (other || known.head.some((byte, i) => byte !== body[i])) {
    throw new WindowError(
      "this task was answered otherwise in this window already; nothing was spent or sent.",
      "The first answer of a window stays.",
    );
  }
  return { id: found.id, question: asked.name, window, cost: 0, body, new: false };
}

/**
 * A report and what it costs: the one that is remembered, or one that is paid for, drawn and remembered now.
 *
 * @param {Step} step
 * @param {any} device
 * @param {Known} known
 * @param {import("./budgets.js").Limits} limits
 * @returns {[Uint8Array, bigint]}
 */
function reportOf(step, device, known, limits) {
  const { book, source, task, asked, window, day } = step;
  const { answer, level } = known;
  const fresh = task.memory === "fresh";
  const digest = digestOf(step, known);
  const kept = book.memo.find((memo) => memo.question === asked.key && memo.answer === digest);
  if (kept && !fresh) return [fromBase64(kept.report), 0n];
  spend(book, task, subjectOf(step), limits, day);
  const round = fresh ? [task.id, window] : null;
  const words = source.words("report", { question: asked.key, answer: plain(answer), level, round });
  const drawn = device.randomise(answer, { words, level: level === null ? undefined : device.levels[level] });
  if (!fresh) book.memo.push({ question: asked.key, answer: digest, report: toBase64(drawn) });
  return [drawn, amountOf(task.epsilon)];
}

/**
 * Write down what the task promised, that it was answered, and the report as one that is to be sent.
 *
 * @param {Step} step
 * @param {Known} known
 * @param {{report: Uint8Array, cost: bigint, url: string | null, due: number}} made
 * @returns {Receipt}
 */
function queue(step, known, { report, cost, url, due }) {
  const { book, source, task, asked, window, day } = step;
  const body = joined(known.head, report, task.width);
  const id = source.reportId(task.id, window);
  const [most_subject, most_lifetime] = [task.budget.subject, task.budget.lifetime].map((each) => String(amountOf(each)));
  book.promise[task.id] ??= { subject: subjectOf(step), most_subject, most_lifetime };
  book.task[task.id] = task.document;
  (book.answered[task.id] ??= []).push(window);
  const content = { question: asked.key, answer: digestOf(step, known), body: toBase64(body), cost: String(cost) };
  const sending = { url, state: "waiting", reason: "", attempts: 0, due, later: 0, expires: startOf(task.expires) };
  book.report.push({ id, task: task.id, window, ...content, day, ...sending });
  return { id, question: asked.name, window, cost: Number(amountText(cost)), body, new: true };
}

// ---- parts

/** @param {Question} found @param {string | null} named @returns {Question} */
function sameQuestion(found, named) {
  if (named === null || named === found.name) return found;
  throw new PrivacyError(
    `question ${found.name} was dealt to this device, and ${named} is asked; nothing was spent or sent.`,
    "A device answers one question of a task, the same in all windows.",
  );
}

/** @param {any} answer @returns {any} numbers for a document: kernels may have them as big ones */
const plain = (answer) =>
  Array.isArray(answer) ? answer.map(plain) : typeof answer === "bigint" ? Number(answer) : answer;

/** @param {any} state @returns {Book} */
function checkedBook(state) {
  if (state === undefined) {
    const kept = { own: {}, spend: [], promise: {}, answered: {}, deal: {} };
    return { version: VERSION, ...kept, task: {}, memo: [], report: [] };
  }
  if (state.version === VERSION) return state;
  throw new LedgerError(
    `this is a ledger of version ${show(state.version)}; this client knows ${VERSION}.`,
    "Use the client that wrote it, or a newer one.",
  );
}

/** @param {string} where @param {number} patience @returns {Promise<Store>} */
async function openStore(where, patience) {
  const node = /** @type {any} */ (globalThis).process?.versions?.node;
  if (node) return new (await import("./store_file.js")).FileStore(where, { patience });
  return new (await import("./store_indexeddb.js")).BrowserStore(where);
}

/** @param {string} day @returns {number} the moment when it begins, in milliseconds */
const startOf = (day) => Number(dayNumber(day)) * 86_400_000;

/** @param {string} text */
const fromHex = (text) => Uint8Array.from(text.match(/../g) ?? [], (digits) => parseInt(digits, 16));

/** @param {Uint8Array} data */
const toBase64 = (data) => btoa(Array.from(data, (byte) => String.fromCharCode(byte)).join(""));

/** @param {string} text */
const fromBase64 = (text) => Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
