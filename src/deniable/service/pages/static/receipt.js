// What became of a report, what it could have meant, or why there is none: loaded once that is known.
import { reading } from "./client/meaning.js";

const SHOWN = 8;

/** What people read for the collector's words for why a report is not counted. @type {Record<string, string>} */
const REASONS = {
  ...Object.fromEntries(["not-open", "early", "late", "sealed"].map((code) => [code, "reason.dates"])),
  ...Object.fromEntries(["length", "question", "stratum", "padding", "impossible", "malformed"].map((code) => [code, "reason.broken"])),
  "other-body": "reason.twice",
};

/** @param {string} tag @param {...any} parts */
function made(tag, ...parts) {
  const node = document.createElement(tag);
  node.append(...parts);
  return node;
}

/** A report as people read it: what it tells, and what was sent.
 * @param {any} how */
export function meaningOf({ task, question, body, level, speak, names }) {
  const { say, parts, percent } = speak;
  const start = task.width - Math.max(...task.questions.map((/** @type {any} */ each) => each.width));
  const report = body.subarray(start, start + question.width);
  const { shares, named, tenths } = reading(question.explanation, question.design.kernel, report, level);
  const bytes = Array.from(body, (byte) => byte.toString(16).padStart(2, "0")).join(" ");
  const code = made("code", bytes.length > 200 ? `${bytes.slice(0, 200)} …` : bytes);
  code.dir = "ltr";
  const sure = (tenths ?? 0n) >= 1000n ? say("start.promise.nearly") : percent(Math.ceil(Number(tenths)) / 10, 1);
  const tells = tenths !== null ? say(question.explanation.levels().length ? "receipt.told.level" : "receipt.told", { percent: sure }) : say(named === null ? "receipt.may" : "receipt.open");
  const told = [...parts("receipt.size", { count: body.length }), " ", code];
  return { tells, told, meant: shares && !question.explanation.design.domain.options ? bars(question, shares, speak, names) : [] };
}

/** @param {any} question @param {number[]} shares @param {any} speak @param {Record<string, string>} known */
function bars(question, shares, speak, known) {
  const labelled = question.labels || question.together.length;
  const { names, parts } = labelled || shares.length <= 2 * SHOWN ? single(question, shares, speak, known) : ranges(question, shares, speak);
  const order = parts.map((/** @type {number} */ _, /** @type {number} */ i) => i).sort((/** @type {number} */ a, /** @type {number} */ b) => (labelled ? parts[b] - parts[a] : 0) || a - b);
  const rows = order.slice(0, 2 * SHOWN).map((/** @type {number} */ i) => {
    const bar = document.createElement("progress");
    Object.assign(bar, { max: 100, value: parts[i], ariaLabel: names[i] });
    return made("li", made("bdi", names[i]), bar, made("b", share(parts[i], speak)));
  });
  const list = made("ul", ...rows);
  list.className = "bars";
  const left = order.slice(2 * SHOWN);
  const rest = left.reduce((/** @type {number} */ sum, /** @type {number} */ i) => sum + parts[i], 0);
  const more = left.length ? [made("p", speak.say("receipt.rest", { count: left.length, rest: Math.round(rest) }))] : [];
  return [made("p", speak.say("receipt.means")), list, ...more];
}

/** Of 100 people; all of them and none are said only if it is so. @param {number} part @param {any} speak */
function share(part, { number }) {
  if (part > 0 && part < 0.05) return `< ${number(0.1)}`;
  return part < 100 && part >= 99.5 ? `> ${number(99)}` : number(part, part < 9.95 ? 1 : 0);
}

/** @param {any} question @param {number[]} shares @param {any} speak @param {Record<string, string>} known */
const single = (question, shares, speak, known) => ({
  names: shares.map((_, i) => (question.labels || question.together.length ? (known[i] ?? question.labels[i]) : rangeName(question, i, i + 1, speak))),
  parts: shares,
});

/** Many numbers, put together into a few ranges. @param {any} question @param {number[]} shares @param {any} speak */
function ranges(question, shares, speak) {
  const ends = Array.from({ length: SHOWN + 1 }, (_, i) => Math.round((i * shares.length) / SHOWN));
  const sum = (/** @type {number} */ i) => shares.slice(ends[i], ends[i + 1]).reduce((a, b) => a + b, 0);
  const each = ends.slice(0, -1).map((_, i) => i);
  return { names: each.map((i) => rangeName(question, ends[i], ends[i + 1], speak)), parts: each.map(sum) };
}

/** @param {any} question @param {number} start @param {number} end @param {any} speak */
function rangeName(question, start, end, { say, number }) {
  const border = question.explanation.design.domain.border;
  if (!border) return end === start + 1 ? number(start) : say("range", { low: start, high: end - 1 });
  const [low, high] = [border(start), border(end)];
  let digits = 4; // or as many as tell them apart
  while (digits < 17 && Math.abs(Number(high.toPrecision(digits)) - Number(low.toPrecision(digits)) - (high - low)) > (high - low) / 8) digits++;
  const written = (/** @type {number} */ x) => number(Number(x.toPrecision(digits)), 15);
  return say("range", { low: written(low), high: written(high) });
}

/** What became of a report in words: a title and a sentence. @param {any} entry @param {any} task @param {any} speak @param {boolean} before whether that was known before this visit */
export function outcomeOf(entry, task, { say }, before) {
  const [days, now] = [task.sendDays * 86_400_000, Date.now()];
  const last = new Date(Math.min(Date.parse(task.expires) - 86_400_000, now + days));
  if (entry.state === "sent" && before) return [say("return.title"), say("return.text", spanOf(task, entry.window))];
  if (entry.state === "sent") return [say("receipt.title"), say("receipt.has")];
  if (entry.state === "waiting") return [say("offline.title"), `${say("offline.text")} ${say("offline.last", { date: last })}`];
  if (entry.state === "expired") return [say("rejected.title"), say("rejected.gone")];
  const found = Object.hasOwn(REASONS, entry.reason) ? REASONS[entry.reason] : "";
  return [say("rejected.title"), found ? say("rejected.text", { reason: say(found) }) : say("rejected.final")];
}

/** The first and the last day of a window. @param {any} task @param {number} window */
function spanOf({ opens, days }, window) {
  const day = (/** @type {number} */ count) => new Date(Date.parse(opens) + count * 86_400_000);
  return { from: day(days * window), to: day(days * (window + 1) - 1) };
}

/** When it can be answered again; nothing if it cannot. @param {any} task @param {number} window @param {any} speak */
export const nextOf = (task, window, { say }) =>
  task.memory === "fresh" && window + 1 < task.count ? say("receipt.next", { date: spanOf(task, window + 1).from }) : "";

/** The number of the report, what it cost and what is left. @param {any} entry @param {any} place @param {any} speak */
export function factsOf(entry, place, { say }) {
  const id = made("code", entry.id);
  id.dir = "ltr";
  const left = place && say("receipt.amount", { left: place.left, most: place.most, date: new Date(place.ends) });
  const facts = [["receipt.number", id], ["receipt.cost", say("receipt.epsilon", { amount: entry.cost })], ["receipt.left", left]];
  return facts.filter(([, fact]) => fact).flatMap(([name, fact]) => [made("dt", say(name)), made("dd", fact)]);
}

/** Why there is no question for this device, and what to do. @param {any} error @param {any} speak */
export function declined({ kind, next, until, most, used, from, same }, { say }) {
  const epsilon = (/** @type {string} */ amount) => say("receipt.epsilon", { amount: Number(amount) });
  const amounts = { most: epsilon(most), used: epsilon(used), date: new Date(until ?? NaN) };
  const limit = next ? say("budget.places", { date: new Date(next) }) : until ? say("budget.collector", amounts) : say("budget.cost", amounts);
  const wait = from ? say("wait.text", { date: new Date(from) }) : from === "" ? say("wait.never") : say(same ? "wait.same" : "wait.other");
  const lines = kind === "BudgetError" ? [...(next || until ? [say("budget.text")] : []), limit, say("budget.todo")] : [wait];
  return lines.map((line) => made("p", line));
}
