// Verifies the public page of a task in the browser: its id, the proved ratios, and every number of the tables whose design
// can be computed again from the published counts (randomised response and subset selection).
import { prepare } from "./client/load.js";
import { Task } from "./client/task.js";
import { speaker } from "./texts.js";

/** z of 95 % intervals, to the last digit of a double. */
const Z = 1.959963984540054;

/** Below this variance of a count, intervals are joined with exact ones; those are not computed again here. */
const FEW = 10;

const page = /** @type {HTMLElement} */ (document.getElementById("main"));
const found = /** @type {HTMLElement} */ (document.getElementById("found"));
const go = /** @type {HTMLButtonElement} */ (document.getElementById("go"));
const { say, percent } = speaker(
  document.documentElement.lang,
  JSON.parse(/** @type {HTMLElement} */ (document.getElementById("texts")).textContent ?? ""),
);

/** @param {string} text @param {boolean} right */
function tell(text, right) {
  const line = document.createElement("p");
  line.className = right ? "ok" : "wrong";
  line.textContent = text;
  found.append(line);
  return right;
}

/** @param {string} path */
async function got(path) {
  const reply = await fetch(path, { cache: "no-store", credentials: "omit" });
  if (!reply.ok) throw new Error(`${reply.status}`);
  return reply;
}

/** Chances of a design that a report supports its own answer and another one, if it is of those kinds; from its integers. @param {any} kernel */
function chances(kernel) {
  const kind = kernel.constructor.kind;
  if (kind !== "response" && kind !== "subset") return null;
  const size = kind === "subset" ? Number(kernel.size) : 1;
  const p = Number(kernel.keep) / 2 ** 64;
  return { p, q: (size - p) / (Number(kernel.k) - 1) };
}

/** Estimate and interval for the population from a count. @param {number} count @param {number} n @param {{p: number, q: number}} law */
function estimated(count, n, { p, q }) {
  const share = count / n;
  const c = (Z * Z) / n;
  const centre = (share + c / 2) / (1 + c);
  const half = Math.sqrt(c * (share * (1 - share) + c / 4)) / (1 + c);
  const few = n * share * (1 - share) < FEW;
  return [share, ...(few ? [] : [centre - half, centre + half])].map((each) => (each - q) / (p - q));
}

/** Compare the tables of a question with its counts; `pooled`: other parts ask it, too. @param {any} question @param {any[]} windows @param {boolean} pooled */
function compare(question, windows, pooled) {
  const law = pooled ? null : chances(question.explanation.design.kernel);
  if (law === null) return tell(say("verify.table.not", { question: question.text.replaceAll("\n", " / ") }), true);
  let compared = 0;
  let right = true;
  for (const { window, part } of windows) {
    const rows = page.querySelectorAll(`table[data-question="${CSS.escape(question.name)}"][data-window="${window}"] tbody tr`);
    const [n] = part.counts.n;
    const [support] = part.counts.support;
    if (rows.length !== support.length) right = false;
    rows.forEach((row, i) => {
      const cells = [...row.querySelectorAll("td")].map((cell) => cell.textContent ?? "");
      estimated(support[i], n, law).forEach((value, j) => {
        compared += 1;
        const wanted = percent(100 * value, 1);
        if (same(cells[j], wanted)) return;
        const answer = row.querySelector("th")?.textContent ?? "";
        right = tell(say("verify.table.wrong", { question: question.text, answer, said: cells[j], found: wanted }), false);
      });
    });
  }
  return right && tell(say("verify.table.ok", { question: question.text, n: compared }), true);
}

/** Whether two written numbers are the same, whatever spaces and marks of direction a language has. @param {string} one @param {string} two */
function same(one, two) {
  const plain = (/** @type {string} */ text) => text.replace(/[\s\u200e\u200f\u061c]/g, "").replace(/^-(?=0%$)/, "");
  return plain(one) === plain(two);
}

async function verify() {
  const id = page.dataset.task ?? "";
  found.replaceChildren();
  found.textContent = say("verify.working");
  let text;
  let told;
  try {
    text = await (await got(`/v1/tasks/${id}`)).text();
    told = await (await got(`/r/${id}/counts.json`)).json();
  } catch {
    found.textContent = "";
    return tell(say("verify.failed"), false);
  }
  found.textContent = "";
  let task;
  try {
    const given = JSON.parse(text);
    await prepare(given);
    if (given.questions?.some((/** @type {any} */ part) => part.length > 1)) await import("./client/together.js");
    task = Task.load(text, { expect: id });
  } catch (error) {
    return tell(say("verify.id.wrong", { why: error instanceof Error ? error.message : "" }), false);
  }
  let right = tell(say("verify.id.ok"), true);
  for (const question of task.questions) {
    const { ratio } = question.explanation;
    const proved = `${ratio.top}/${ratio.bottom}`;
    const [top, bottom] = (page.querySelector(`[data-ratio="${CSS.escape(question.name)}"]`)?.textContent ?? "0/1").split("/");
    const equal = BigInt(top) * ratio.bottom === BigInt(bottom) * ratio.top;
    const parts = { question: question.text.replaceAll("\n", " / "), ratio: proved };
    right = tell(say(equal ? "verify.ratio.ok" : "verify.ratio.wrong", parts), equal) && right;
    const windows = told.windows.flatMap((/** @type {any} */ each) =>
      each.questions
        .filter((/** @type {any} */ part) => part.question === question.name)
        .map((/** @type {any} */ part) => ({ window: each.window, part })),
    );
    const pooled = question.together.length > 0 || task.questions.some((/** @type {any} */ each) => each.together.some((/** @type {any} */ one) => one.name === question.name));
    if (windows.length) right = compare(question, windows, pooled) && right;
  }
  return tell(say(right ? "verify.done.ok" : "verify.done.wrong"), right);
}

go.hidden = false;
go.addEventListener("click", async () => {
  go.disabled = true;
  page.dataset.verified = String(await verify());
  go.disabled = false;
});
