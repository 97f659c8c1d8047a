// The survey page: proves the promise before the question, randomises the answer here, sends one report whatever it is.
import { Ledger } from "./client/ledger.js";
import { prepare } from "./client/load.js";
import { reading } from "./client/meaning.js";
import { Task } from "./client/task.js";
// Of the ledger, which loads them when they are needed: always, here.
import "./client/outbox.js";
import "./client/store_indexeddb.js";
import "./client/views.js";

/** @param {string} id @returns {any} */
const $ = (id) => document.getElementById(id);
const page = $("survey");
const id = page.dataset.task;
const ledger = new Ledger("deniable", { delay: 0 });
const origin = location.origin;
const SLICE = 30_000; // milliseconds between two looks at whether a report's moment has come

/** @param {string} tag @param {string} text */
function made(tag, text) {
  const node = document.createElement(tag);
  node.textContent = text;
  return node;
}

/** @param {unknown} error */
function words(error) {
  const { message, hint } = /** @type {any} */ (error);
  return [message ?? String(error), hint].filter(Boolean).join(" ");
}

/** @param {string} state @param {string} text */
function proof(state, text) {
  $("proof").dataset.state = state;
  $("proof").textContent = text;
}

/** @param {string} text */
function problem(text) {
  for (const place of document.querySelectorAll(".problem")) {
    /** @type {any} */ (place).hidden = !text;
    place.textContent = text;
  }
}

/** @param {HTMLElement} section */
function show(section) {
  for (const each of [$("start"), $("answer"), $("check"), $("receipt")]) each.hidden = each !== section;
  section.focus({ preventScroll: true });
  scrollTo(0, 0); // its beginning, on whatever screen
}

/** What a question's controls hold: the value as the design takes it, null for no answer, and what it is in words;
 * nothing if it is not filled in yet.
 * @param {any} question @param {HTMLFieldSetElement} field @returns {{value: any, said: string} | null} */
function valueOf(question, field) {
  const kind = field.dataset.kind;
  const none = { value: null, said: "I prefer not to say" };
  const silent = /** @type {any} */ (field.querySelector("[data-none]:checked"));
  if (silent) return none;
  if (kind === "number") {
    const input = /** @type {HTMLInputElement} */ (field.querySelector("input[type=number]"));
    return input.value === "" ? null : { value: input.valueAsNumber, said: input.value };
  }
  const name = (/** @type {number} */ number) => question.explanation.design.domain.labels?.[number] ?? number;
  if (kind === "ratings") {
    const picked = /** @type {HTMLInputElement[]} */ ([...field.querySelectorAll("input[type=checkbox]:checked")]);
    const pairs = picked.map((box) => [name(Number(box.value)), rangeOf(field, box.value).valueAsNumber]);
    const rated = picked.map((box) => `${box.parentElement?.textContent?.trim()}: ${short(rangeOf(field, box.value).valueAsNumber)}`);
    return pairs.length ? { value: pairs, said: rated.join(", ") } : { ...none, value: [] };
  }
  const chosen = /** @type {any} */ (field.querySelector("input[type=radio]:checked, select"));
  if (!chosen || chosen.value === "") return null;
  if (chosen.value === "none") return none;
  const number = Number(chosen.value);
  return { value: name(number), said: question.labels?.[number] ?? String(number) };
}

/** @param {number} x */
const short = (x) => String(Number(x.toPrecision(4)));

/** @param {HTMLFieldSetElement} field @param {string} key @returns {HTMLInputElement} */
const rangeOf = (field, key) => /** @type {any} */ (field.querySelector(`input[data-key="${key}"]`));

/** @param {HTMLElement} before what is chosen before the question @returns {number | null} */
function levelOf(before) {
  const slider = /** @type {HTMLInputElement | null} */ (before.querySelector("[data-levels]"));
  return slider ? Number(before.querySelectorAll("[data-level]")[slider.valueAsNumber].getAttribute("data-level")) : null;
}

/** Controls that answer each other: sliders and their words, map and list.
 * @param {HTMLElement} before @param {HTMLFieldSetElement} field */
function enliven(before, field) {
  before.addEventListener("input", (event) => {
    const input = /** @type {HTMLInputElement} */ (event.target);
    if (!input.dataset.levels) return;
    /** @type {any} */ (before.querySelector(".level")).value = before.querySelectorAll("[data-level]")[input.valueAsNumber].textContent;
  });
  field.addEventListener("input", (event) => {
    const input = /** @type {HTMLInputElement} */ (event.target);
    if (input.type === "checkbox" && field.dataset.kind === "ratings") rangeOf(field, input.value).disabled = !input.checked;
    const number = /** @type {any} */ (field.querySelector("input[type=number]"));
    if (input.type === "checkbox" && number) number.disabled = input.checked;
    for (const range of field.querySelectorAll(".rate input")) {
      const { disabled, valueAsNumber } = /** @type {HTMLInputElement} */ (range);
      /** @type {any} */ (range.nextElementSibling).value = disabled ? "–" : String(Number(valueAsNumber.toPrecision(3)));
    }
    mark(field);
  });
  for (const region of field.querySelectorAll(".map path")) {
    region.addEventListener("click", () => {
      const number = region.getAttribute("data-number");
      const radio = /** @type {any} */ (field.querySelector(`input[type=radio][value="${number}"]`));
      const list = /** @type {any} */ (field.querySelector("select"));
      if (radio) radio.checked = true;
      else list.value = number;
      mark(field);
    });
  }
}

/** @param {HTMLFieldSetElement} field */
function mark(field) {
  const chosen = /** @type {any} */ (field.querySelector("input[type=radio]:checked, select"));
  for (const region of field.querySelectorAll(".map path")) {
    region.classList.toggle("chosen", region.getAttribute("data-number") === chosen?.value);
  }
}

/** What was sent, and what it could have meant.
 * @param {any} task @param {any} question @param {Uint8Array} body @param {number} level
 * @returns {string} what the report tells, in a sentence */
function sentOf(task, question, body, level) {
  const start = task.width - Math.max(...task.questions.map((/** @type {any} */ each) => each.width));
  const report = body.subarray(start, start + question.width);
  const { shares, text } = reading(question.explanation, question.design.kernel, report, level);
  const bytes = Array.from(body, (byte) => byte.toString(16).padStart(2, "0")).join(" ");
  $("told").textContent = `Your report has ${body.length} byte${body.length === 1 ? "" : "s"}: `;
  $("told").append(made("code", bytes.length > 200 ? `${bytes.slice(0, 200)} …` : bytes));
  $("meant").replaceChildren(...(shares ? bars(question, shares) : []), made("p", text));
  return text;
}

const SHOWN = 8;

/** @param {any} question @param {number[]} shares */
function bars(question, shares) {
  const { names, parts } = question.labels || shares.length <= 2 * SHOWN ? single(question, shares) : ranges(question, shares);
  const order = parts.map((_, i) => i).sort((a, b) => (question.labels ? parts[b] - parts[a] : 0) || a - b);
  const list = document.createElement("ul");
  list.className = "bars";
  for (const i of order.slice(0, 2 * SHOWN)) {
    const [row, bar] = [document.createElement("li"), document.createElement("progress")];
    bar.max = 100;
    bar.value = parts[i];
    bar.setAttribute("aria-label", names[i]);
    row.append(made("bdi", names[i]), bar, made("b", share(parts[i])));
    list.append(row);
  }
  const left = order.slice(2 * SHOWN);
  const rest = left.reduce((sum, i) => sum + parts[i], 0);
  const more = left.length ? [made("p", `${left.length} other answers share the remaining ${rest.toFixed(0)}.`)] : [];
  return [made("p", "Of 100 people who send exactly this, if all answers were equally common, so many would have:"), list, ...more];
}

/** Of 100 people; all of them and none are said only if it is so. @param {number} part */
function share(part) {
  if (part > 0 && part < 0.05) return "< 0.1";
  return part < 100 && part >= 99.5 ? "> 99" : part.toFixed(part < 9.95 ? 1 : 0);
}

/** @param {any} question @param {number[]} shares */
const single = (question, shares) => ({ names: question.labels ?? shares.map((_, i) => rangeName(question, i, i + 1)), parts: shares });

/** Many numbers, put together into a few ranges.
 * @param {any} question @param {number[]} shares */
function ranges(question, shares) {
  const ends = Array.from({ length: SHOWN + 1 }, (_, i) => Math.round((i * shares.length) / SHOWN));
  const sum = (/** @type {number} */ i) => shares.slice(ends[i], ends[i + 1]).reduce((a, b) => a + b, 0);
  const each = ends.slice(0, -1).map((_, i) => i);
  return { names: each.map((i) => rangeName(question, ends[i], ends[i + 1])), parts: each.map(sum) };
}

/** @param {any} question @param {number} start @param {number} end */
function rangeName(question, start, end) {
  const border = question.explanation.design.domain.border;
  if (border) return between(border(start), border(end));
  return end === start + 1 ? String(start) : `${start} to ${end - 1}`;
}

/** Two numbers in four digits, or in as many as tell them apart. @param {number} low @param {number} high */
function between(low, high) {
  let digits = 4;
  while (digits < 17 && Math.abs(Number(high.toPrecision(digits)) - Number(low.toPrecision(digits)) - (high - low)) > (high - low) / 8) digits++;
  return `${Number(low.toPrecision(digits))} to ${Number(high.toPrecision(digits))}`;
}

let tries = 0;

/** Once more when the network is back, or after a while that grows each time.
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
}

/** Everything there is to know about the report of this task and window; nothing if it was not taken up.
 * @param {any} task @param {number | null} window */
async function entryOf(task, window) {
  const seen = await ledger.overview();
  return { seen, entry: seen.sent.find((/** @type {any} */ each) => each.task === task.id && each.window === window) };
}

/** Send the report that is drawn, and show what became of it.
 * @param {any} task @param {any} question @param {number} level */
async function send(task, question, level) {
  await ledger.flush(origin, { task });
  await receiptOf(task, question, level);
}

/** @param {any} task @param {any} question @param {number} level */
async function receiptOf(task, question, level) {
  const { seen, entry } = await entryOf(task, windowOf(task));
  if (!entry) return;
  const texts = /** @type {Record<string, string[]>} */ ({
    sent: ["Thank you, your report was counted", "The collector has your report."],
    waiting: ["Not sent yet", "The collector could not be reached. The report is kept on this device and sent when you are back online, while this page is open, or when you come back to it."],
  });
  const [title, text] = texts[entry.state] ?? ["Your report was not counted", entry.reason ?? ""];
  const kept = (await ledger.export()).reports.find((/** @type {any} */ each) => each.id === entry.id);
  $("sent").hidden = !kept?.body;
  const body = kept?.body ? Uint8Array.from(atob(kept.body), (sign) => sign.charCodeAt(0)) : null;
  const tells = body ? sentOf(task, question, body, level) : question.explanation.unread;
  $("receipt-title").textContent = title;
  $("outcome").textContent = entry.state === "sent" ? `${text} ${tells}` : text;
  const place = seen.places.find((/** @type {any} */ each) => each.collector === task.collector && !each.over);
  const facts = [
    ["Report", entry.id],
    ["It cost", `epsilon ${entry.cost}`],
    ["Left for this collector", place ? `epsilon ${place.left} of ${place.most}, until ${place.ends}` : ""],
  ];
  $("facts").replaceChildren(...facts.filter(([, fact]) => fact !== "").flatMap(([name, fact]) => [made("dt", name), made("dd", fact)]));
  show($("receipt"));
  if (entry.state === "waiting") later(() => send(task, question, level));
}

async function start() {
  const answer = await fetch(`/v1/tasks/${id}`, { credentials: "omit" });
  if (!answer.ok) throw new Error(`The task could not be loaded (${answer.status}).`);
  const data = new Uint8Array(await answer.arrayBuffer());
  await prepare(JSON.parse(new TextDecoder().decode(data)));
  const task = await Task.load(data, { expect: id });
  const question = await ledger.question(task);
  const field = /** @type {HTMLFieldSetElement} */ (document.querySelector(`fieldset[data-name="${question.name}"]`));
  const before = /** @type {HTMLElement} */ (document.querySelector(`[data-for="${question.name}"]`));
  field.hidden = field.disabled = before.hidden = false;
  enliven(before, field);
  proof("kept", `Checked on your device: ${question.explanation.over(task.count).text.split("\n")[0]}`);
  const harmless = question.explanation.harmless.length ? question.explanation.harmless : null;
  let taken = /** @type {any} */ (null);
  let leave = /** @type {(() => void) | null} */ (null); // sends the report that is drawn, at once
  const levelNumber = () => (taken?.options.level == null ? 0 : question.design.params.levels.indexOf(taken.options.level));

  /** @param {string} button @param {() => Promise<void>} step */
  async function pressed(button, step) {
    problem("");
    $(button).disabled = true;
    try {
      await step();
    } catch (error) {
      problem(words(error));
    } finally {
      $(button).disabled = false;
    }
  }
  $("start").addEventListener("submit", (/** @type {Event} */ event) => {
    event.preventDefault();
    const consent = /** @type {HTMLInputElement | null} */ (before.querySelector("[data-consent]"));
    const lists = /** @type {HTMLSelectElement[]} */ ([...document.querySelectorAll("[data-stratum]")]);
    const missing = consent && !consent.checked ? consent : lists.find((list) => list.value === "");
    if (missing) {
      problem(missing === consent ? "Please agree first, or leave the page: nothing is sent then." : "Please choose your group first.");
      missing.focus();
      return;
    }
    pressed("begin", async () => {
      const strata = Object.fromEntries(lists.map((list) => [list.dataset.stratum, list.value]));
      const options = { level: levelOf(before), harmless, strata, url: origin };
      const receipt = await ledger.take(task, options);
      taken = { ...receipt, options };
      if (!receipt.new) return send(task, question, levelNumber()); // another page took part meanwhile: its report is sent as it is
      leave = await ledger.parting(receipt);
      show($("answer"));
    });
  });
  $("answer").addEventListener("submit", (/** @type {Event} */ event) => {
    event.preventDefault();
    const given = valueOf(question, field);
    if (!given) return problem("Please choose an answer first; “I prefer not to say” is one, too.");
    pressed("go", async () => {
      try {
        await ledger.answer(task, given.value, { ...taken.options, question: question.name });
      } catch (error) {
        if (/** @type {any} */ (error).kind !== "WindowError") throw error;
        return send(task, question, levelNumber()); // it was sent meanwhile, or its window is over: what became of it is told
      }
      leave = await ledger.parting(taken);
      $("said").textContent = given.said;
      show($("check"));
    });
  });
  $("send").addEventListener("click", () => pressed("send", () => send(task, question, levelNumber())));
  $("change").addEventListener("click", () => show($("answer")));
  // Whoever took part sends one report, also by leaving, or by waiting until its moment.
  addEventListener("pagehide", () => $("receipt").hidden && leave?.());
  addEventListener("pageshow", (event) => event.persisted && taken && location.reload());
  setInterval(async () => {
    if (!taken || !$("receipt").hidden) return;
    await ledger.flush(origin, { task, due: true });
    if ((await entryOf(task, taken.window)).entry?.attempts) await receiptOf(task, question, levelNumber());
  }, SLICE);
  await again(task, question);
  $("begin").disabled = false;
  page.dataset.ready = "yes";
}

/** @param {any} task @returns {number | null} the window that is open by this device's clock */
function windowOf(task) {
  try {
    return task.window(new Date(Date.now()));
  } catch (error) {
    if (/** @type {any} */ (error).kind !== "WindowError") throw error;
    problem(words(error));
    return null;
  }
}

/** What an earlier visit left is sent. Whoever comes back in the same window sees what became of it; a new window asks
 * again.
 * @param {any} task @param {any} question */
async function again(task, question) {
  await ledger.flush(origin, { task });
  await receiptOf(task, question, 0);
}

if (id && $("start")) {
  start().catch((error) => {
    proof("broken", `The promise does not hold, or could not be checked. Nothing can be sent. ${words(error)}`);
    page.dataset.ready = "no";
  });
}
