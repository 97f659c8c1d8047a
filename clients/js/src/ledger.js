/**
 * The ledger: takes tasks up or declines them by looking at public things only, then sends one report in each window.
 *
 * @module
 */

import { checkedUrl } from "./addresses.js";
import { amountOf, amountText } from "./amounts.js";
import { openBook, sealedBook, toBase64 } from "./book.js";
import { dayOf, dayText } from "./days.js";
import { ParameterError, PrivacyError, require, show } from "./errors.js";
import { LedgerError, WindowError } from "./ledger_errors.js";
import { checkedSecret, upTo } from "./memory.js";
import { accountOf, limitsOf, placeFor } from "./places.js";
import { Task } from "./task.js";
import { DAY, draw, firstMoment, laterMoment, openWindow, slotOf, spanOf } from "./windows.js";

/** @typedef {import("./book.js").Book} Book */
/** @typedef {import("./book.js").Entry} Entry */
/** @typedef {import("./memory.js").Source} Source */
/** @typedef {import("./outbox.js").Sent} Sent */
/** @typedef {import("./question.js").Question} Question */
/** @typedef {import("./windows.js").Step} Step */

/**
 * Where a ledger lies. `pauses`: it may be one of several that follow each other without knowing; `persist` asks that it is
 * kept, `persistent` says whether it is.
 *
 * @typedef {{change(step: (state: any) => [any, any]): Promise<any>, pauses?: boolean, persist?(): Promise<unknown>,
 *   persistent?(): Promise<boolean | null>}} Store
 */

/**
 * What became of an answer, or of taking a task up. `cost` is what it cost now: 0 if the window was open already; `new` says
 * whether it was opened now, `answered` whether the value was an answer of the question. What is sent is shown once it is done.
 *
 * @typedef {{id: string, question: string, window: number, cost: number, new: boolean, answered: boolean}} Receipt
 */

/**
 * What a person settles when a task is taken up: `level` and `harmless` are those of `Device`, `strata` is sent in the clear,
 * `dealt` names the question that the collector dealt to this device, `url` the address of the collector.
 *
 * @typedef {{level?: number | null, harmless?: Iterable<unknown> | null, strata?: Record<string, string> | null,
 *   dealt?: string | null, url?: string | null}} Terms
 */

const DELAY_MAX = 604_800;

/** Milliseconds after which a moment was missed, at least. */
const LATE = 600_000;

/** What a device spent, has reserved and has to send. See docs/protocol.md, sections 2 to 6. */
export class Ledger {
  #secret;
  #limits;
  #delay;
  #clock;
  #pause;
  #store;

  /** Reports that are sent when a page is left; null while an answer changes, "left" once it was. @type {Map<string, any>} */
  #aside = new Map();

  /**
   * @param {string | Store} where a file (Node), the name of a database (browsers), or another store
   * @param {object} [options]
   * @param {Uint8Array | null} [options.secret] at least 32 random bytes that outlive the ledger: reports are derived from it,
   *   so that a lost ledger does not draw them anew; without one they are drawn by the system and kept
   * @param {number} [options.collector] the most epsilon for one collector in a year, whatever it asks
   * @param {number} [options.places] how many collectors a new ledger has a place for; there is one more in each quarter
   * @param {number} [options.delay] seconds within which the first moment of a task lies
   * @param {number} [options.patience] seconds to wait for other processes that use the same file
   * @param {() => number} [options.clock] milliseconds since 1970
   * @param {boolean | null} [options.pause] whether a new ledger waits before it takes up tasks of several windows, since it
   *   cannot know what was sent before it; if left out: in browsers
   */
  constructor(where, options = {}) {
    const { secret = null, collector = 2, places = 2, delay = 3600, patience = 10, clock = Date.now, pause = null } = options;
    const old = ["subject", "lifetime"].filter((name) => name in options);
    if (old.length) {
      const told = "collector (the most for one collector in a year) and places (how many collectors) replace them";
      throw new ParameterError(`${old.join(" and ")} must be left out: ${told}.`);
    }
    this.#secret = secret === null ? null : checkedSecret(secret);
    this.#limits = limitsOf(collector, places);
    const fits = Number.isFinite(delay) && delay >= 0 && delay <= DELAY_MAX;
    require(fits, "delay", delay, `a number of seconds from 0 to ${DELAY_MAX} (a week)`);
    this.#delay = delay * 1000;
    this.#clock = clock;
    this.#pause = pause;
    /** @type {Promise<Store> | Store} */
    this.#store = typeof where === "string" ? openStore(where, patience) : where;
  }

  // ---- taking part

  /**
   * The question of a task that this device answers, which is dealt once and for all.
   *
   * @param {Task} task
   * @param {{dealt?: string | null}} [options] `dealt`: the one that the collector dealt to it; the device draws one itself
   *   if it is left out
   * @returns {Promise<Question>}
   */
  async question(task, { dealt = null } = {}) {
    const named = dealt === null ? null : checkedTask(task).question(dealt);
    if (checkedTask(task).questions.length === 1) return task.questions[0];
    const number = await this.#step((book, source) => {
      book.deal[task.id] ??= task.questions.indexOf(named ?? task.deal(source.words("deal", { task: task.id })));
      return book.deal[task.id];
    });
    return sameQuestion(task.questions[number], dealt);
  }

  /**
   * Take a task up, before any value is known: from now on one report is sent in each window, answered or not. An error
   * declines it; nothing is spent or sent then. Once it is taken up this opens the window of today.
   *
   * @param {Task} task
   * @param {Terms} [terms]
   * @returns {Promise<Receipt>}
   */
  async take(task, terms = {}) {
    return this.#fill(task, terms, null, () => false);
  }

  /**
   * Whether a task could be taken up now: throws what `take` would throw, and changes nothing. For a page that says so before
   * anybody agrees to anything.
   *
   * @param {Task} task
   * @param {Terms} [terms] as if the person had settled them
   */
  async offer(task, terms = {}) {
    const stop = new WindowError("it could be taken up");
    const tried = this.#fill(task, terms, null, () => {
      throw stop; // a step that throws leaves the ledger as it was
    });
    await tried.catch((error) => {
      if (error !== stop) throw error;
    });
  }

  /**
   * Answer a task in today's window, in place of what was answered before; takes it up first if need be. Every value is
   * taken: what is not an answer of the question counts as no answer. `WindowError` once the report was sent.
   *
   * @param {Task} task
   * @param {unknown} value
   * @param {Terms & {question?: string | null}} [options] `question` makes sure of the one that is answered
   * @returns {Promise<Receipt>}
   */
  async answer(task, value, { question = null, ...terms } = {}) {
    return this.#fill(task, terms, question, (step, asked, entry) => {
      if (entry.attempts || entry.state !== "waiting" || this.#aside.get(entry.id) === "left") {
        throw done("sent its report of this window already, or tried to");
      }
      if (this.#aside.has(entry.id)) this.#aside.set(entry.id, null);
      return draw(step, asked, entry, value);
    });
  }

  /**
   * @param {Task} task
   * @param {Terms} terms
   * @param {string | null} named
   * @param {(step: Step, asked: Question, entry: Entry) => boolean} fill
   * @returns {Promise<Receipt>}
   */
  async #fill(task, terms, named, fill) {
    const now = this.#clock();
    const window = checkedTask(task).window(dayText(dayOf(now)));
    if (named !== null) task.question(named);
    const store = await this.#store;
    const pause = this.#pause ?? store.pauses ?? false;
    const asked = sameQuestion(await this.question(task, { dealt: terms.dealt ?? null }), named);
    let first = false;
    const receipt = await this.#step((book, source) => {
      const step = { book, source, task, window, now };
      first = !(task.id in book.course);
      settle(step, asked, terms, { pause, limits: this.#limits });
      const slot = slotOf(task, window);
      const open = book.report.find((entry) => entry.task === task.id && entry.window === slot);
      const entry = open ?? openWindow(step, asked, this.#moment(step, first));
      const answered = fill(step, asked, entry);
      const cost = open ? 0 : Number(amountText(BigInt(entry.cost)));
      return { id: entry.id, question: asked.name, window: slot, cost, new: !open, answered };
    });
    if (first) await store.persist?.();
    return receipt;
  }

  /** The moment of a window that is opened now. @param {Step} step @param {boolean} first whether the task is taken up now */
  #moment({ book, task, window, now }, first) {
    const span = spanOf(task, window);
    const course = book.course[task.id];
    if (course.window === window) return course.due;
    return first ? firstMoment(now, span[1], this.#delay) : laterMoment(span);
  }

  // ---- sending

  /**
   * Send the reports of open windows, one by one, each to its collector's address, else to this one; windows that have come
   * to their moment are opened.
   *
   * @param {string | null} [url]
   * @param {{task?: Task | string | null, due?: boolean, timeout?: number, fetch?: typeof fetch}} [options] only those of one
   *   `task`, if given; with `due` only those that have come to their moment, which is what a timer should call: reports that
   *   leave at once tell when somebody was there; `timeout` in seconds, for each as a whole. What could not be delivered is
   *   not tried again before its time. Reports without any url stay where they are.
   * @returns {Promise<Sent>}
   */
  async flush(url = null, { task = null, due = false, timeout = 20, fetch } = {}) {
    const to = url === null ? null : checkedUrl(url);
    require(Number.isFinite(timeout) && timeout > 0 && timeout <= 3600, "timeout", timeout, "a number of seconds up to 3600");
    const only = task instanceof Task ? task.id : task;
    await this.#openDue(only);
    const change = (/** @type {(book: Book) => any} */ step) => this.#step(step);
    const move = (/** @type {Book} */ book) => {
      for (const entry of book.report) if (entry.state === "waiting") this.#move(entry, entry.ends);
    };
    const { flush } = await loaded(import("./outbox.js")); // pages need it once somebody sends
    return flush(change, { url: to, only, due, timeout, fetch, clock: this.#clock, move });
  }

  /**
   * What sends a report that was not tried yet at the moment a page is left, when there is no time to write the ledger: one of
   * its attempts is set aside now. It does nothing once the answer was changed, which needs another; after it was called no
   * answer is taken, and `flush` sends the same again to hear what became of it.
   *
   * @param {Receipt} receipt
   * @param {{fetch?: typeof fetch}} [options]
   * @returns {Promise<(() => void) | null>} null if there is nothing that may be sent so
   */
  async parting({ id }, { fetch = globalThis.fetch } = {}) {
    const { part, setAside } = await loaded(import("./outbox.js"));
    const entry = await this.#step((book) => setAside(book, id, null, this.#aside.has(id)));
    this.#aside.set(id, entry);
    const leave = () => {
      if (entry === null || this.#aside.get(id) !== entry || this.#clock() >= Math.min(entry.ends, entry.void)) return;
      this.#aside.set(id, "left");
      part(entry, fetch);
    };
    return entry && leave;
  }

  /** Open the windows that have come to their moment. @param {string | null} only */
  async #openDue(only) {
    const due = await this.#step((book) => this.#comeToTheirMoment(book, only));
    for (const document of due) {
      await loaded(import("./load.js").then(({ prepare }) => prepare(document)));
      const task = Task.load(document);
      await this.#step((book, source) => {
        if (!this.#comeToTheirMoment(book, task.id).length) return; // somebody else was here
        const { window, due: moment } = book.course[task.id];
        openWindow({ book, source, task, window, now: this.#clock() }, task.questions[book.deal[task.id] ?? 0], moment);
      });
    }
  }

  /**
   * Documents of tasks whose window has come to its moment and is not opened; moments are drawn where there are none yet.
   *
   * @param {Book} book
   * @param {string | null} only
   * @returns {any[]}
   */
  #comeToTheirMoment(book, only) {
    const now = this.#clock();
    return Object.entries(book.course).flatMap(([id, course]) => {
      const taken = book.taken[id];
      const window = Math.floor((now - spanOf(taken, 0)[0]) / (taken.days * DAY));
      const open = window >= 0 && window < taken.count && !taken.opened.includes(window) && taken.opened.length < taken.windows;
      if (!open || (only !== null && id !== only)) return [];
      const span = spanOf(taken, window);
      if (course.window !== window) Object.assign(course, { window, due: laterMoment(span), moved: false });
      this.#move(course, span[1]);
      return course.due <= now ? [book.task[id]] : [];
    });
  }

  /** Another moment, once, for what was missed because the device was off. @param {any} planned @param {number} ends */
  #move(planned, ends) {
    const now = this.#clock();
    const missed = planned.due !== null && planned.due < now - Math.max(this.#delay, LATE) && now < ends;
    if (!missed || planned.moved || planned.attempts) return;
    Object.assign(planned, { due: now + upTo(Math.min(this.#delay, Math.max(0, ends - 1000 - now))), moved: true });
  }

  // ---- what a person may see and do

  /** What was asked, what was sent, what waits or was lost, what is left for each collector, and whether the store is kept. */
  async overview() {
    const store = await this.#store;
    const persistent = (await store.persistent?.()) ?? null;
    const { overview } = await loaded(import("./views.js"));
    const told = await this.#step((book) => overview(book, this.#limits, this.#clock()));
    return { ...told, persistent };
  }

  /** Everything that the ledger has about its person, as a document for JSON. */
  async export() {
    const { exported } = await loaded(import("./views.js"));
    return this.#step((book) => exported(book, this.#limits, this.#clock()));
  }

  /**
   * Allow more than the limits: further `places` for collectors, or more `epsilon` for the collector of a `task`.
   *
   * @param {{places?: number, task?: Task | null, epsilon?: number, url?: string | null}} more `url` is the address that the task
   *   will be answered to, if its collector signed none
   */
  async allow({ places = 0, task = null, epsilon = 0, url = null }) {
    require(Number.isInteger(places) && places >= 0 && places <= 1000, "places", places, "a whole number from 0 to 1000");
    const amount = Number.isFinite(epsilon) && epsilon >= 0 && epsilon <= 1000 && (epsilon > 0) === (task !== null);
    require(amount, "epsilon", epsilon, "a number up to 1000, together with the task of a collector");
    await this.#step((book) => {
      book.allowed += places;
      if (task === null) return;
      const known = book.course[checkedTask(task).id]?.url ?? null;
      const name = accountOf(task, known ?? (url === null ? null : checkedUrl(url)));
      const account = (book.account[name] ??= { began: [], least: null, more: "0" });
      account.more = String(BigInt(account.more) + amountOf(epsilon));
    });
  }

  /**
   * Erase what was asked and sent about a task (its id), a question (its key) or everything; what waits is not sent any more.
   * What was opened stays spent: amounts, days, places, ids of tasks.
   *
   * @param {Task | string | null} [task]
   * @param {{question?: string | null, everything?: boolean}} [options]
   * @returns {Promise<number>} how many reports and tasks were erased
   */
  async forget(task = null, { question = null, everything = false } = {}) {
    if ([task !== null, question !== null, everything].filter(Boolean).length !== 1) {
      throw new ParameterError("forget needs exactly one of task, question and everything: true.");
    }
    const id = task instanceof Task ? task.id : task;
    return this.#step((book) => {
      const named = (/** @type {string} */ name, /** @type {string} */ key) => everything || name === id || key === question;
      const ids = new Set([
        ...Object.keys(book.task).filter((name) => named(name, book.course[name]?.key ?? "")),
        ...book.report.filter((entry) => named(entry.task, entry.question)).map((entry) => entry.task),
      ]);
      const gone = book.report.filter((entry) => ids.has(entry.task));
      const erased = gone.length + [...ids].filter((name) => name in book.task).length;
      if (!erased && !everything) {
        throw new ParameterError(`this ledger has nothing about ${show(id ?? question)}.`, "See its overview.");
      }
      book.report = book.report.filter((entry) => !ids.has(entry.task));
      for (const name of ids) withdraw(book, name);
      return erased;
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
      const { book, source } = openBook(state, this.#secret, this.#clock());
      const answer = step(book, source);
      return [sealedBook(book, source), answer];
    });
  }
}

// ---- taking up

/** @param {unknown} task @returns {Task} */
function checkedTask(task) {
  if (task instanceof Task) return task;
  throw new ParameterError(`task must be a Task, got ${show(task)}.`, "Read it with Task.load(data).");
}

/** @param {Question} found @param {string | null} named @returns {Question} */
function sameQuestion(found, named) {
  if (named === null || named === found.name) return found;
  throw new PrivacyError(
    `question ${found.name} was dealt to this device, and ${named} is asked; nothing was spent or sent.`,
    "A device answers one question of a task, the same in all windows.",
  );
}

/**
 * Take a task up, or go on with one; what is left out stays as it was settled before. All of it is public.
 *
 * @param {Step} step
 * @param {Question} asked
 * @param {Terms} terms
 * @param {{pause: boolean, limits: import("./places.js").Limits}} how
 */
function settle(step, asked, { level, harmless, strata, url }, how) {
  const { book, task } = step;
  const before = book.course[task.id];
  const device = harmless == null && before ? asked.agreed() : asked.device(harmless ?? null);
  const kept = before && before.level !== null ? device.levels[before.level] : null;
  const chosen = Number(device.level(level ?? kept));
  const head = strata == null && before ? before.head : toBase64(task.head(asked, strata ?? null));
  const to = addressOf(task, url == null ? null : checkedUrl(url), before);
  const course = before ?? takeUp(step, asked, { url: to, ...how });
  book.course[task.id] = { ...course, level: device.levels.length ? chosen : null, head, url: to };
}

/** Where reports go: to the address that the collector signed, or that the task was taken up with, and to no other. @param {Task} task @param {string | null} url @param {import("./book.js").Course} [before] */
function addressOf(task, url, before) {
  const known = before ? before.url : task.url;
  if (url === null || url === known || (!before && task.url === null)) return known ?? url;
  const whose = task.url === null ? "it was taken up with" : "its collector signed";
  throw new PrivacyError(
    `reports of this task go to ${show(known)}, which ${whose}, not to ${show(url)}; nothing was spent or sent.`,
    "Leave out url.",
  );
}

/**
 * @param {Step} step
 * @param {Question} asked
 * @param {{url: string | null, pause: boolean, limits: import("./places.js").Limits}} how
 */
function takeUp({ book, task, window, now }, asked, { url, pause, limits }) {
  const before = book.taken[task.id];
  if (task.memory === "remembered" && task.count > 1) {
    throw new WindowError(
      "this is an old task (version 1) that asks again and remembers answers: whether something is sent would tell when an " +
        "answer changes; nothing was spent or sent.",
      "Ask its collector for a task of version 2.",
    );
  }
  if (before?.opened.includes(slotOf(task, window)) || (before?.opened.length && task.memory !== "fresh")) {
    throw done("was answered in this window already, or taken up and then forgotten");
  }
  const today = dayText(dayOf(now));
  const other = Object.entries(book.course).find(([id, each]) => id !== task.id && each.key === asked.key && today < each.until);
  if (other && task.key !== null) {
    const told = "the same collector asks the same question in another task at the same time; nothing was spent or sent.";
    throw Object.assign(new WindowError(told, "It is answered once."), { same: true });
  }
  if (pause && task.count > 1) waitOut(book, task, window);
  const fresh = task.memory === "fresh";
  const windows = fresh ? task.count - window : 1;
  const place = placeFor(book, task, { url, windows, limits, now });
  const { opens, days, count } = task;
  const opened = before?.opened ?? [];
  book.task[task.id] = task.document;
  const epsilon = String(amountOf(task.epsilon));
  book.taken[task.id] = { place, epsilon, opens, days, count, windows: opened.length + windows, opened, withdrawn: false };
  const until = fresh ? task.closes : dayText(dayOf(spanOf(task, window)[1]));
  return { key: asked.key, until, window: -1, due: 0, moved: false };
}

/** @param {string} what */
const done = (what) => new WindowError(`this task ${what}; nothing was spent or sent.`, "One report is sent in each window.");

/** `WindowError` if a ledger is so new that another one may have sent a report in this window. @param {Book} book @param {Task} task @param {number} window */
function waitOut(book, task, window) {
  const length = task.days * DAY;
  const first = Math.ceil((book.made + length - spanOf(task, 0)[0]) / length);
  if (window >= first) return;
  const from = first < task.count ? dayText(dayOf(spanOf(task, first)[0])) : "";
  const when = from ? `It can be taken up from ${from} on` : "It is over before that";
  const told = "this ledger is too new to know what was sent before it; nothing was spent or sent.";
  const hint = `The task can be taken up in the first window that begins after a whole one was waited out. ${when}.`;
  throw Object.assign(new WindowError(told, hint), { from });
}

/** What is not opened is not spent, and what was not sent is dropped. @param {Book} book @param {string} id */
function withdraw(book, id) {
  if (book.taken[id]) book.taken[id].withdrawn = true;
  delete book.task[id];
  delete book.course[id];
}

/** A module that comes when it is needed, which may be when there is no network. @template T @param {Promise<T>} module */
const loaded = (module) =>
  module.catch((cause) => {
    const told = "a part of this client could not be loaded; nothing was spent or sent.";
    throw new LedgerError(told, "Try again when there is a network.", { cause });
  });

/** @param {string} where @param {number} patience @returns {Promise<Store>} */
async function openStore(where, patience) {
  const node = /** @type {any} */ (globalThis).process?.versions?.node;
  if (node) return new (await import("./store_file.js")).FileStore(where, { patience });
  return new (await import("./store_indexeddb.js")).BrowserStore(where);
}
