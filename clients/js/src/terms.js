/**
 * What a task says, in sentences for a person who decides whether to answer.
 *
 * @module
 */

import { dayNumber, dayText } from "./days.js";
import { general } from "./parts.js";

/** @type {Record<string, string>} */
const MEANING = {
  fresh: "Each answer is randomised anew and costs again.",
  remembered: "The same answer sends the same report again, at no cost; that an answer changed can be noticed.",
  first: "Your first answer is kept: the same report is sent each time, at no further cost.",
};

/** All that is white space, in every client. */
const SPACES = /[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/;

/** @param {string} sign @returns {boolean} whether it can be seen */
const seen = (sign) => sign === " " || !/[\p{C}\p{Z}]/u.test(sign);

/** @param {string} text @returns {string} a stranger's text as one line that hides nothing; joiners of letters stay */
function printable(text) {
  const line = text.split(SPACES).filter(Boolean).join(" ");
  return Array.from(line, (sign) => (seen(sign) || "\u200c\u200d".includes(sign) ? sign : coded(sign))).join("");
}

/** @param {string} text @returns {string} in quotes, as all clients write it */
function quoted(text) {
  const mark = text.includes("'") && !text.includes('"') ? '"' : "'";
  /** @type {Record<string, string>} */
  const known = { "\\": "\\\\", [mark]: `\\${mark}`, "\n": "\\n", "\r": "\\r", "\t": "\\t" };
  return mark + Array.from(text, (sign) => known[sign] ?? (seen(sign) ? sign : coded(sign))).join("") + mark;
}

/** @param {string} sign @returns {string} */
function coded(sign) {
  const code = Number(sign.codePointAt(0));
  const [letter, digits] = code < 0x100 ? ["x", 2] : code < 0x10000 ? ["u", 4] : ["U", 8];
  return `\\${letter}${code.toString(16).padStart(Number(digits), "0")}`;
}

/** @param {any} task @returns {string[]} safe to show */
export function terms(task) {
  const lines = [task.collector ? `${task.collector} asks.` : "The collector does not say who it is."];
  if (task.questions.length > 1) {
    lines.push(`One of ${task.questions.length} questions is drawn for you; only that one is answered.`);
  }
  for (const question of task.questions) {
    lines.push(`Question: ${question.text}`, ...question.explanation.text.split("\n"));
    if (question.labels && !question.explanation.design.domain.labels) {
      lines.push(`Answers by number: ${question.labels.map((label, i) => `${i} is ${label}`).join(", ")}.`);
    }
  }
  for (const [name, values] of task.strata) {
    lines.push(`Sent openly with your report: ${name}, one of ${values.join(", ")}.`);
  }
  const until = `${task.opens} to ${dayText(Number(dayNumber(task.closes)) - 1)}`;
  const days = task.days === 1 ? "a day" : `${task.days} days`;
  const often = task.count === 1 ? "once" : `once in each of ${task.count} windows of ${days}`;
  const said = [
    ...lines,
    `Asked ${often}, ${until}. ${MEANING[task.memory]}`,
    cost(task),
    `Results are published for at least ${task.minBatch} reports. ` +
      (task.keep === "tally"
        ? "Reports are erased once they are counted."
        : `Reports are kept for ${task.keepDays} days after the last window.`),
  ];
  return said.map(printable);
}

/** @param {any} task @returns {string} */
function cost({ version, epsilon, budget, subject }) {
  const told = `An answer costs epsilon ${general(epsilon)}`;
  if (version === 2) return `${told}; at most ${general(budget)} in a year for all that this collector asks.`;
  const { task, subject: own, lifetime } = budget;
  return `${told}; at most ${general(task)} for this task, ${general(own)} for all about ${quoted(subject)}, ${general(lifetime)} in all.`;
}
