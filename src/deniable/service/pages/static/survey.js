// The survey page: proves the promise, randomises the answer here, shows what would be sent, and sends it if asked to.
import { Ledger } from "./client/ledger.js";
import { prepare } from "./client/load.js";
import { meant } from "./client/meaning.js";
import { Task } from "./client/task.js";

/** @param {string} id @returns {any} */
const $ = (id) => document.getElementById(id);
const page = $("survey");
const id = page.dataset.task;
const ledger = new Ledger("deniable", { delay: 0 });
let named = /** @type {boolean | null} */ (null); // whether the report names its answer; null if it was not looked at
const SENT = `deniable sent ${id}`; // the person pressed "send": it may go out when the network is back

/** @param {string} tag @param {string} text */
function made(tag, text) {
  const node = document.createElement(tag);
  node.textContent = text;
  return node;
}

/** @param {unknown} error */
function told(error) {
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
  for (const each of [$("answer"), $("preview"), $("receipt")]) each.hidden = each !== section;
  section.focus({ preventScroll: true });
  scrollTo(0, 0); // its beginning, on whatever screen
}

/** The value that a question's controls hold, as the design takes it; null if there is none yet.
 * @param {any} question @param {HTMLFieldSetElement} field */
function valueOf(question, field) {
  const kind = field.dataset.kind;
  if (kind === "number") {
    const input = /** @type {HTMLInputElement} */ (field.querySelector("input[type=number]"));
    return input.value === "" ? null : input.valueAsNumber;
  }
  const name = (/** @type {number} */ number) => question.explanation.design.domain.labels?.[number] ?? number;
  if (kind === "ratings") {
    const picked = /** @type {HTMLInputElement[]} */ ([...field.querySelectorAll("input[type=checkbox]:checked")]);
    return picked
      .filter((box) => !("consent" in box.dataset))
      .map((box) => [name(Number(box.value)), rangeOf(field, box.value).valueAsNumber]);
  }
  const chosen = /** @type {any} */ (field.querySelector("input[type=radio]:checked, select"));
  return !chosen || chosen.value === "" ? null : name(Number(chosen.value));
}

/** @param {HTMLFieldSetElement} field @param {string} key @returns {HTMLInputElement} */
const rangeOf = (field, key) => /** @type {any} */ (field.querySelector(`input[data-key="${key}"]`));

/** @param {HTMLFieldSetElement} field */
function levelOf(field) {
  const slider = /** @type {HTMLInputElement | null} */ (field.querySelector("[data-levels]"));
  return slider ? Number(field.querySelectorAll("[data-level]")[slider.valueAsNumber].getAttribute("data-level")) : null;
}

/** Controls that answer each other: sliders and their words, map and list.
 * @param {HTMLFieldSetElement} field */
function enliven(field) {
  field.addEventListener("input", (event) => {
    const input = /** @type {HTMLInputElement} */ (event.target);
    if (input.dataset.levels) {
      /** @type {any} */ (field.querySelector(".level")).value = field.querySelectorAll("[data-level]")[input.valueAsNumber].textContent;
    }
    if (input.type === "checkbox" && field.dataset.kind === "ratings" && !("consent" in input.dataset)) {
      rangeOf(field, input.value).disabled = !input.checked;
    }
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

/** What a report says, and what it could have meant.
 * @param {any} task @param {any} question @param {any} receipt @param {number} level */
function preview(task, question, receipt, level) {
  const body = [...receipt.body].map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
  const first = (task.questions.length > 1 ? 1 : 0) + task.strata.size;
  const kernel = question.design.kernel;
  const shares = meant(kernel, receipt.body.subarray(first, first + question.width), level);
  named = shares !== null && Math.max(...shares) === 100;
  const size = `${receipt.body.length} byte${receipt.body.length === 1 ? "" : "s"}`;
  $("told").textContent = `Your report has ${size}: `;
  $("told").append(made("code", body.length > 200 ? `${body.slice(0, 200)} …` : body));
  $("meant").replaceChildren(...(shares ? bars(question, shares) : [made("p", question.explanation.text)]));
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
    row.append(made("bdi", names[i]), bar, made("b", parts[i].toFixed(parts[i] < 9.95 ? 1 : 0)));
    list.append(row);
  }
  const left = order.slice(2 * SHOWN);
  const rest = left.reduce((sum, i) => sum + parts[i], 0);
  const more = left.length ? [made("p", `${left.length} other answers share the remaining ${rest.toFixed(0)}.`)] : [];
  return [made("p", "Of 100 people who send exactly this, if all answers were equally common, so many would have:"), list, ...more];
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
  const short = (/** @type {number} */ x) => String(Number(x.toPrecision(4)));
  if (border) return `${short(border(start))} to ${short(border(end))}`;
  return end === start + 1 ? String(start) : `${start} to ${end - 1}`;
}

/** @param {any} task @param {any} receipt */
async function send(task, receipt) {
  localStorage.setItem(SENT, String(receipt.window));
  await ledger.flush(location.origin, { report: receipt.id }); // this one, and none that was left before
  await receiptOf(task, receipt.id);
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

/** @param {any} task @param {string} report */
async function receiptOf(task, report) {
  const seen = await ledger.overview();
  const entry = seen.sent.find((/** @type {any} */ each) => each.id === report);
  const may = task.questions.some((/** @type {any} */ each) => each.explanation.harmless.length > 0);
  const open = named === null && may ? "It may name your answer openly, as you agreed." : "It names your answer openly, as you agreed.";
  const meaning = named || (named === null && may) ? open : "Nobody can be sure of your answer from it.";
  const texts = /** @type {Record<string, [string, string]>} */ ({
    sent: ["Thank you, your report was counted", `The collector has your report. ${meaning}`],
    waiting: ["Not sent yet", "The collector could not be reached. The report is kept on this device and sent when you are back online, while this page is open, or when you come back to it."],
  });
  const [title, text] = texts[entry?.state] ?? ["Your report was not counted", entry?.reason ?? ""];
  $("receipt-title").textContent = title;
  $("outcome").textContent = text;
  const subject = seen.left.subjects.find((/** @type {any} */ each) => each.subject === task.subject);
  const facts = [
    ["Report", report],
    ["This answer cost", `epsilon ${entry?.cost ?? 0}`],
    ["Left for this subject", subject ? `${subject.left} of ${subject.most}` : ""],
    ["Left in all", `${seen.left.lifetime.left} of ${seen.left.lifetime.most}`],
  ];
  $("facts").replaceChildren(...facts.filter(([, fact]) => fact !== "").flatMap(([name, fact]) => [made("dt", name), made("dd", fact)]));
  show($("receipt"));
  if (entry?.state === "waiting") later(() => send(task, entry));
}

async function start() {
  const answer = await fetch(`/v1/tasks/${id}`, { credentials: "omit" });
  if (!answer.ok) throw new Error(`The task could not be loaded (${answer.status}).`);
  const data = new Uint8Array(await answer.arrayBuffer());
  await prepare(JSON.parse(new TextDecoder().decode(data)));
  const task = await Task.load(data, { expect: id });
  const question = await ledger.question(task);
  const field = /** @type {HTMLFieldSetElement} */ (document.querySelector(`fieldset[data-name="${question.name}"]`));
  field.hidden = field.disabled = false;
  enliven(field);
  proof("kept", `Checked on your device: ${question.explanation.text.split("\n")[0]}`);
  $("go").disabled = false;
  let receipt = /** @type {any} */ (null);
  $("answer").addEventListener("submit", async (/** @type {Event} */ event) => {
    event.preventDefault();
    const missing = /** @type {any} */ ([...$("answer").elements].find((control) => !control.disabled && !control.checkValidity()));
    const value = missing ? null : valueOf(question, field);
    problem("");
    if (value === null) {
      problem("consent" in (missing?.dataset ?? {}) ? "Please agree first, or leave the page: nothing is sent then." : missing?.validationMessage && missing.type === "number" ? missing.validationMessage : "Please choose an answer first.");
      missing?.focus();
      return;
    }
    const strata = Object.fromEntries([...document.querySelectorAll("[data-stratum]")].map((list) => [list.getAttribute("data-stratum"), /** @type {any} */ (list).value]));
    $("go").disabled = true;
    try {
      const harmless = question.explanation.harmless;
      const level = levelOf(field);
      receipt = await ledger.answer(task, value, { level, harmless: harmless.length ? harmless : null, strata, question: question.name, url: location.origin });
      preview(task, question, receipt, level === null ? 0 : question.design.params.levels.indexOf(level));
      show($("preview"));
    } catch (error) {
      problem(told(error));
    } finally {
      $("go").disabled = false;
    }
  });
  $("send").addEventListener("click", async () => {
    $("send").disabled = true;
    problem("");
    try {
      await send(task, receipt);
    } catch (error) {
      problem(`The report could not be sent: ${told(error)}`);
    } finally {
      $("send").disabled = false;
    }
  });
  $("leave").addEventListener("click", () => show($("answer")));
  await again(task);
  page.dataset.ready = "yes";
}

/** @param {any} task @returns {number | null} the window that is open by this device's clock */
function windowOf(task) {
  try {
    return task.window(new Date(Date.now()));
  } catch (error) {
    if (/** @type {any} */ (error).kind !== "WindowError") throw error;
    problem(told(error));
    return null;
  }
}

/** A report that the person had decided to send before the network failed or the page was closed: it is sent if it still
 * waits. Whoever comes back in the same window sees what became of it; a new window asks again.
 * @param {any} task */
async function again(task) {
  const pressed = localStorage.getItem(SENT);
  const entry = (await ledger.overview()).sent.find((/** @type {any} */ each) => each.task === id && String(each.window) === pressed);
  if (entry?.state === "waiting") await ledger.flush(location.origin, { report: entry.id });
  if (entry && entry.window === windowOf(task)) await receiptOf(task, entry.id);
}

if (id && $("answer")) {
  start().catch((error) => {
    proof("broken", `The promise does not hold, or could not be checked. Nothing can be sent. ${told(error)}`);
    $("go").disabled = true;
    page.dataset.ready = "no";
  });
}
