/**
 * What a task says, in sentences for a person who decides whether to answer.
 *
 * @module
 */

import { dayNumber, dayText } from "./days.js";
import { general } from "./parts.js";
import { printable, quoted } from "./printing.js";
import { SAID } from "./task.js";

/** @import { Task } from "./task.js" */

/** @param {Task} task @returns {string[]} one line each, safe to show */
SAID.terms = (task) => [...who(task), ...asked(task), ...sending(task), ...course(task), use(task)].map(printable);

/** @param {Task} task */
function who({ collector, version, key, url }) {
  const first = collector ? `${collector} asks.` : "The collector does not say who it is.";
  if (version === 1) {
    const old = "This is an old task (version 1): nobody signed it, and it has no answer for no answer.";
    return [first, `${old} If you give none, a random answer is reported.`];
  }
  const vouched = url === null ? "no address vouches for it" : `reports go to ${url} and nowhere else`;
  return [first, `Its key is ${key?.slice(0, 16)}..; ${vouched}.`];
}

/** @param {Task} task */
function asked(task) {
  const { questions, strata, version } = task;
  const lines = [];
  if (questions.length > 1) lines.push(`One of ${questions.length} questions is drawn for you; only that one is answered.`);
  for (const { text, explanation, labels, none } of questions) {
    lines.push(`The collector asks: ${quoted(text)}`, ...explanation.over(windowsOf(task)).text.split("\n"));
    if (labels && !explanation.design.domain.labels) {
      lines.push(`Answers by number: ${labels.map((label, i) => `${i} is ${label}`).join(", ")}.`);
    }
    if (version > 1) lines.push(`No answer, or one that the question does not have, counts as ${named(none)}.`);
  }
  for (const [name, values] of strata) {
    lines.push(`Sent openly with your report: ${name}, one of ${values.join(", ")}.`);
  }
  return lines;
}

/** @param {any} none */
const named = (none) => (none === null ? "a random one" : Array.isArray(none) && !none.length ? "no pairs at all" : written(none));

/** @param {any} part @returns {string} as all clients write it */
function written(part) {
  if (Array.isArray(part)) return `[${part.map(written).join(", ")}]`;
  return typeof part === "string" ? quoted(part) : number(part);
}

/** @param {number} x @returns {string} with all its digits, as all clients write it */
function number(x) {
  const [digits, power] = x.toExponential().split("e");
  if (Number(power) >= -4 && Number(power) < 16) return Number.isInteger(x) && !Number.isSafeInteger(x) ? `${x}.0` : String(x);
  return `${digits}e${power[0]}${power.slice(1).padStart(2, "0")}`;
}

/** @param {Task} task */
function sending({ attempts, sendDays, expires }) {
  const tries = attempts === 1 ? "once" : `at most ${attempts} times`;
  const days = sendDays === 1 ? "a day" : `${sendDays} days`;
  return [
    "That you take part is not hidden. Once you do, a report is sent, whatever you answer and if you do not.",
    `A report is tried to be delivered ${tries} within ${days}; from ${expires} on nothing is sent any more.`,
  ];
}

/** @param {Task} task how many reports are drawn: one, or one in each window */
const windowsOf = ({ memory, count }) => (memory === "first" ? 1 : count);

/** @param {Task} task */
function course(task) {
  const until = `${task.opens} to ${dayText(Number(dayNumber(task.closes)) - 1)}`;
  const days = task.days === 1 ? "a day" : `${task.days} days`;
  const often = task.count === 1 ? "once" : `once in each of ${task.count} windows of ${days}`;
  const windows = windowsOf(task);
  const first = windows < task.count;
  const all = windows > 1 ? `; ${windows} of them, ${general(task.epsilon * windows)} in all` : "";
  return [
    `Asked ${often}, ${until}.${first ? " The first answer is sent, and no other." : ""}`,
    `A report costs epsilon ${general(task.epsilon)}, whether or not you answered${all}.`,
    ...(task.version > 1 ? [`This collector asks at most epsilon ${general(task.most)} of you in a year, with all its tasks.`] : []),
  ];
}

/** @param {Task} task */
const use = ({ minBatch, keep, keepDays }) =>
  `Results are published for at least ${minBatch} reports. ` +
  (keep === "tally" ? "Reports are erased once they are counted." : `Reports are kept for ${keepDays} days after the last window.`);
