// The survey page: proves the promise before the question, randomises the answer here, sends one report whatever it is.
import { Ledger } from "./client/ledger.js";
import { prepare } from "./client/load.js";
import { Task } from "./client/task.js";
import { enliven, namesOf, settleNumber, valueOf } from "./fields.js";
import { speaker } from "./texts.js";
// Of the ledger, which loads them when they are needed: always, here.
import "./client/outbox.js";
import "./client/store_indexeddb.js";
import "./client/views.js";

/** @param {string} id @returns {any} */
const $ = (id) => document.getElementById(id);
const page = $("survey");
const id = page?.dataset.task;
const kiosk = page && "kiosk" in page.dataset;
const speak = speaker(document.documentElement.lang || "en", JSON.parse($("texts")?.textContent ?? "{}"));
const { say } = speak;
const { title } = document; // never with anything of an answer
const SLICE = 30_000; // milliseconds between two looks at whether a report's moment has come
const TOSS = 1600; // milliseconds that the picture of the coin takes, whatever was answered
const STEPS = ["start", "declined", "no", "answer", "check", "coin", "receipt"];

const { PageStore, watch } = kiosk ? await import("./kiosk.js") : { PageStore: null, watch: null };
const ledger = page && new Ledger(PageStore ? new PageStore() : "deniable", { delay: 0 });
const origin = location.origin;

/** @param {unknown} error as the client says it, in English */
function words(error) {
  const { message, hint } = /** @type {any} */ (error);
  return [message ?? String(error), hint].filter(Boolean).join(" ");
}

/** @param {string} text */
function problem(text) {
  for (const place of document.querySelectorAll(".problem")) {
    /** @type {any} */ (place).hidden = !text;
    place.textContent = text;
  }
  document.title = text ? `${say("error.summary")}: ${title}` : title;
}

/** What went wrong, in this page's language where the client says what it was. @param {any} error */
const trouble = (error) => (error.kind === "LedgerError" ? say("error.ledger") : error.kind === "WindowError" ? say("wait.other") : words(error));

/** @param {string} step */
function show(step) {
  for (const each of STEPS) $(each).hidden = each !== step;
  $(step).focus({ preventScroll: true });
  scrollTo(0, 0); // its beginning, on whatever screen
}

/** Go on to a step that the browser's own way back leads back from; nothing of an answer is in it. @param {string} step @param {number} [at] which question */
function goTo(step, at = 0) {
  if (history.state?.step !== step || history.state.at !== at) history.pushState({ step, at }, "");
  show(step);
}

/** @param {any} before what is chosen before the question @returns {number | null} */
function levelOf(before) {
  const slider = before.querySelector("[data-levels]");
  return slider ? Number(before.querySelectorAll("[data-level]")[slider.valueAsNumber].getAttribute("data-level")) : null;
}

const GRADES = [570n, 670n, 750n, 900n, 983n, 1000n];

/** What the page says about the promise is what this device works out. @param {any} task @param {any} question @param {any} before */
function holds(task, question, before) {
  const hundredths = (/** @type {any} */ { top, bottom }) => (100n * top + bottom - 1n) / bottom;
  const all = question.explanation.over(task.memory === "fresh" ? task.count : 1).sure;
  const once = question.explanation.over(1).sure;
  const grade = 1 + GRADES.findIndex((most) => 1000n * all.top <= most * all.bottom);
  const found = [hundredths(once), hundredths(all), grade].map(String);
  const { sure, all: said, grade: word } = before.dataset;
  if (found.join() !== [sure, said, word].join()) throw new Error("the page says another promise than the task keeps.");
}

let tries = 0;

/** Once more when the network is back, by hand, or after a while that grows each time.
 * @param {() => Promise<void>} step */
function later(step) {
  const stop = new AbortController();
  const go = () => {
    stop.abort();
    clearTimeout(timer);
    step();
  };
  const timer = setTimeout(go, Math.min(60_000, 1000 * 2 ** tries++) * (1 + Math.random()));
  addEventListener("online", go, { once: true, signal: stop.signal });
  $("retry").addEventListener("click", go, { once: true, signal: stop.signal });
}

/** The page of one person and one task. */
class Visit {
  taken = /** @type {any} */ (null);
  leave = /** @type {(() => void) | null} */ (null); // sends the report that is drawn, at once

  /** @param {any} task @param {any} question */
  constructor(task, question) {
    this.task = task;
    this.question = question;
    this.field = /** @type {any} */ (document.querySelector(`fieldset[data-name="${question.name}"]`));
    this.before = /** @type {any} */ (document.querySelector(`[data-for="${question.name}"]`));
    this.harmless = question.explanation.harmless.length ? question.explanation.harmless : null;
    this.receipts = /** @type {Promise<any> | null} */ (null);
    this.field.hidden = this.field.disabled = this.before.hidden = false;
    for (const field of this.fields) enliven(this.before, field, speak, problem);
  }

  /** What is answered, one after the other. */
  get fields() {
    return [this.field];
  }

  ask() {
    goTo("answer");
  }

  back() {
    goTo("start");
  }

  /** @param {any} state where history is */
  follow(state) {
    show(state?.step ?? "start");
  }

  /** @returns {any} the answer, or what is wrong with it; null if another question comes first */
  given() {
    return valueOf(this.question, this.field, speak);
  }

  names() {
    return namesOf(this.field);
  }

  get level() {
    return this.taken?.options.level == null ? 0 : this.question.design.params.levels.indexOf(this.taken.options.level);
  }

  /** What shows receipts; null where it cannot be loaded. */
  receiptParts() {
    return (this.receipts ??= import("./receipt.js"));
  }

  /** What is settled before anything is asked. @param {boolean} agreed as if it were */
  terms(agreed = false) {
    const lists = /** @type {any[]} */ ([...document.querySelectorAll("[data-stratum]")]);
    const value = (/** @type {any} */ list) => (agreed ? [...list.options].map((option) => option.value).find(Boolean) : list.value);
    const strata = Object.fromEntries(lists.map((list) => [list.dataset.stratum, value(list)]));
    return { level: levelOf(this.before), harmless: this.harmless, strata, url: origin };
  }

  /** Everything there is to know about the report of this window, or once all are over of the last; nothing if it was not taken up. @param {number | null} [window] */
  async entry(window = windowOf(this.task)) {
    const seen = await ledger.overview();
    const own = seen.sent.filter((/** @type {any} */ each) => each.task === this.task.id);
    const entry = window === null ? own.at(-1) : own.find((/** @type {any} */ each) => each.window === window);
    return { entry, place: seen.places.find((/** @type {any} */ each) => each.collector === this.task.collector && !each.over) };
  }

  /** Take part: from here on one report is sent. */
  async begin() {
    if (this.taken) return this.ask();
    const consent = this.before.querySelector("[data-consent]");
    const lists = /** @type {any[]} */ ([...document.querySelectorAll("[data-stratum]")]);
    const missing = consent && !consent.checked ? consent : lists.find((list) => list.value === "");
    if (missing) {
      problem(say(missing === consent ? "error.agree" : "error.group"));
      return missing.focus();
    }
    const options = this.terms();
    const receipt = await ledger.take(this.task, options);
    this.taken = { ...receipt, options };
    this.receiptParts();
    if (!receipt.new) return this.send(); // another page took part meanwhile: its report is sent as it is
    this.leave = await ledger.parting(receipt);
    for (const each of document.querySelectorAll("#start input, #start select, #decline")) /** @type {any} */ (each).disabled = true;
    $("languages")?.remove(); // another language is another page, and leaving this one sends the report
    this.ask();
  }

  /** The answer, said back before it is sent. */
  async answer() {
    const given = this.given();
    if (!given) return;
    if (given.wrong) return this.wrong(given);
    try {
      await ledger.answer(this.task, given.value, { ...this.taken.options, question: this.question.name });
    } catch (error) {
      if (/** @type {any} */ (error).kind !== "WindowError") throw error;
      return this.send(); // it was sent meanwhile, or its window is over: what became of it is told
    }
    this.leave = await ledger.parting(this.taken);
    $("said").textContent = given.said;
    const { low, high } = this.field.dataset;
    $("beyond").hidden = !given.beyond;
    $("beyond").textContent = given.beyond ? say("clip" in this.field.dataset ? "check.clipped" : "check.beyond", { low: Number(low), high: Number(high) }) : "";
    goTo("check");
  }

  /** @param {{wrong: string, either?: number[]}} given */
  wrong({ wrong, either }) {
    const place = this.field.querySelector("[data-asked]");
    if (!either) return problem(say(wrong, { example: speak.number(12.5) }));
    const [a, b] = either.map((value) => speak.number(value, 15));
    problem(say(wrong, { a, b }));
    const buttons = either.map((value, i) => {
      const node = Object.assign(document.createElement("button"), { type: "button", className: "quiet", textContent: [a, b][i] });
      node.addEventListener("click", () => {
        settleNumber(this.field, value, speak);
        place.hidden = true;
        problem("");
        $("go").focus();
      });
      return node;
    });
    place.replaceChildren(...buttons);
    place.hidden = false;
    buttons[0].focus();
  }

  /** Send the report that is drawn, and show what became of it. @param {boolean} [seen] whether the coin is shown meanwhile */
  async send(seen = false) {
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    if (seen) show("coin");
    const shown = new Promise((done) => setTimeout(done, seen && !still ? TOSS : 0));
    await ledger.flush(origin, { task: this.task });
    await shown;
    await this.receipt();
  }

  /** @param {boolean} [before] whether it was sent before this visit */
  async receipt(before = false) {
    const { entry, place } = await this.entry();
    if (!entry) return;
    const { meaningOf, outcomeOf, nextOf, factsOf } = await this.receiptParts();
    const kept = (await ledger.export()).reports.find((/** @type {any} */ each) => each.id === entry.id);
    const body = kept?.body ? Uint8Array.from(atob(kept.body), (sign) => sign.charCodeAt(0)) : null;
    const [title, text] = outcomeOf(entry, this.task, speak, before);
    const told = body && meaningOf({ task: this.task, question: this.question, body, level: this.level, speak, names: this.names() });
    $("receipt-title").textContent = title;
    $("outcome").textContent = told && entry.state === "sent" ? `${text} ${told.tells}` : text;
    $("next").textContent = entry.state === "sent" ? nextOf(this.task, entry.window, speak) : "";
    $("next").hidden = !$("next").textContent;
    $("sent").hidden = !told;
    $("told").replaceChildren(...(told?.told ?? []));
    $("meant").replaceChildren(...(told?.meant ?? []));
    $("facts").replaceChildren(...factsOf(entry, place, speak));
    $("retry").hidden = entry.state !== "waiting";
    forget();
    show("receipt");
    if (entry.state === "waiting") later(() => this.send());
  }
}

/** Nothing of the answer stays in the page. */
function forget() {
  $("answer").reset();
  for (const place of document.querySelectorAll("#said, [data-said], #beyond")) place.textContent = "";
}

/** @param {any} task @returns {number | null} the window that is open by this device's clock */
function windowOf(task) {
  try {
    return task.window(new Date(Date.now()));
  } catch (error) {
    if (/** @type {any} */ (error).kind !== "WindowError") throw error;
    return null;
  }
}

/** @param {string} state @param {string} text @param {unknown} [error] */
function proof(state, text, error) {
  $("proof").dataset.state = state;
  $("proof").textContent = text;
  $("why").hidden = !error;
  if (error) $("why").lastElementChild.textContent = words(error);
}

/** @param {Visit} visit */
function listen(visit) {
  /** @param {string} button @param {() => unknown} step */
  async function pressed(button, step) {
    problem("");
    $(button).disabled = true;
    try {
      await step();
    } catch (error) {
      problem(trouble(error));
    } finally {
      $(button).disabled = false;
    }
  }
  const submit = (/** @type {string} */ form, /** @type {string} */ button, /** @type {() => unknown} */ step) =>
    $(form).addEventListener("submit", (/** @type {Event} */ event) => {
      event.preventDefault();
      pressed(button, step);
    });
  submit("start", "begin", () => visit.begin());
  submit("answer", "go", () => visit.answer());
  $("send").addEventListener("click", () => pressed("send", () => visit.send(true)));
  $("change").addEventListener("click", () => visit.ask());
  $("back").addEventListener("click", () => visit.back());
  addEventListener("popstate", ({ state }) => {
    if (visit.taken && $("receipt").hidden && $("coin").hidden) visit.follow(state);
  });
  // Whoever took part sends one report, also by leaving, or by waiting until its moment.
  addEventListener("pagehide", () => {
    if ($("receipt").hidden) visit.leave?.();
    forget();
  });
  addEventListener("pageshow", (event) => event.persisted && visit.taken && location.reload());
  $("terms").addEventListener("toggle", async () => {
    await import("./client/terms.js");
    $("terms").querySelector("div").replaceChildren(
      ...visit.task.terms().map((/** @type {string} */ line) => Object.assign(document.createElement("p"), { textContent: line, dir: "auto" })),
    );
  });
  setInterval(async () => {
    if (!visit.taken || !$("receipt").hidden) return;
    await ledger.flush(origin, { task: visit.task, due: true });
    if ((await visit.entry(visit.taken.window)).entry?.attempts) await visit.receipt();
  }, SLICE);
}

async function start() {
  const answer = await fetch(`/v1/tasks/${id}`, { credentials: "omit" });
  if (!answer.ok) throw Object.assign(new Error(`The task could not be loaded (${answer.status}).`), { kind: "load" });
  const data = new Uint8Array(await answer.arrayBuffer());
  const given = JSON.parse(new TextDecoder().decode(data));
  await prepare(given);
  if (given.questions.some((/** @type {any} */ part) => part.length > 1)) await import("./client/together.js");
  const task = await Task.load(data, { expect: id });
  const question = await ledger.question(task);
  const several = question.together.length ? (await import("./joint.js")).jointVisit(Visit, { $, goTo, speak }) : Visit;
  const Own = /** @type {typeof Visit} */ (several);
  const visit = new Own(task, question);
  holds(task, question, visit.before);
  proof("kept", say("start.promise.checked"));
  listen(visit);
  const before = (await visit.entry()).entry?.state === "sent";
  await ledger.flush(origin, { task }); // what an earlier visit left
  await visit.receipt(before);
  if ($("receipt").hidden) await offered(visit);
  page.dataset.ready = "yes";
}

/** Whether there is a question for this device is said before it is asked. @param {Visit} visit */
async function offered(visit) {
  try {
    await ledger.offer(visit.task, visit.terms(true));
    $("begin").disabled = false;
  } catch (error) {
    if (!["BudgetError", "WindowError"].includes(/** @type {any} */ (error).kind)) throw error;
    const { declined } = await visit.receiptParts();
    $("no-text").replaceChildren(...declined(error, speak));
    $("no-why").textContent = words(error);
    show("no");
  }
}

/** @param {any} error */
function broken(error) {
  const lost = error.kind === "load" || error instanceof TypeError; // how browsers say that there is no network
  proof("broken", lost ? say("error.load") : error.kind === "LedgerError" ? say("error.ledger") : say("start.broken"), error);
  $("begin").remove();
  page.dataset.ready = "no";
}

if (id && $("start")) {
  $("decline").addEventListener("click", () => show("declined"));
  $("again").addEventListener("click", () => show("start"));
  $("replay").addEventListener("click", () => {
    const picture = /** @type {any} */ (document.querySelector("#start .coin"));
    picture.replaceWith(picture.cloneNode(true)); // its movement begins anew
  });
  watch?.(speak);
  const around = "embed" in page.dataset && window.parent !== window;
  if (around) $("host").textContent = location.host;
  if (around) $("embedded").hidden = false;
  start().catch(broken);
}
