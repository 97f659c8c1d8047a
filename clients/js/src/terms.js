/**
 * What a task says, in sentences for a person who decides whether to answer.
 *
 * @module
 */

import { dayNumber, dayText } from "./days.js";
import { TERMS } from "./english_terms.js";
import { SENTENCES, number, say } from "./explain.js";
import { general } from "./parts.js";
import { printable, quoted } from "./printing.js";
import { SAID } from "./task.js";

/** @import { Task } from "./task.js" */

Object.assign(SENTENCES, TERMS);

/** @param {Task} task @returns {string[]} one line each, safe to show */
SAID.terms = (task) => [...who(task), ...asked(task), ...sending(task), ...course(task), ...use(task)].map(printable);

/** @param {Task} task */
function who({ collector, key, url, purpose }) {
  const first = collector ? say("asks", { collector }) : say("asks_unnamed");
  const why = purpose === null ? [] : [say("purpose", { text: quoted(purpose) })];
  return [first, key ? say(url === null ? "key" : "key_url", { key: key.slice(0, 16), url }) : say("old"), ...why];
}

/** @param {Task} task */
function asked(task) {
  const { questions, strata, version } = task;
  const lines = [];
  if (questions.length > 1) lines.push(say("drawn", { count: questions.length }));
  for (const { text, explanation, labels, none, together } of questions) {
    for (const one of together) lines.push(say("question", { text: quoted(one.text) }), say("numbered", { answers: numbered(one.labels) }));
    lines.push(together.length ? say("together", { count: together.length }) : say("question", { text: quoted(text) }), ...explanation.over(windowsOf(task)).text.split("\n"));
    if (labels && !explanation.design.domain.labels) {
      lines.push(say("numbered", { answers: numbered(labels) }));
    }
    if (version > 1) lines.push(say("none", { answer: named(none) }));
  }
  for (const [name, values] of strata) lines.push(say("openly", { name, values: values.join(", ") }));
  return lines;
}

/** @param {readonly string[]} labels */
const numbered = (labels) => labels.map((label, number) => say("numbered_one", { number, label })).join(", ");

/** @param {any} none */
const named = (none) => (none === null ? say("none_random") : Array.isArray(none) && !none.length ? say("none_pairs") : written(none));

/** @param {any} part @returns {string} as all clients write it */
function written(part) {
  if (Array.isArray(part)) return `[${part.map(written).join(", ")}]`;
  if (typeof part === "string") return quoted(part);
  const long = Number.isInteger(part) && !Number.isSafeInteger(part) && Math.abs(part) < 1e16;
  return long ? `${part}.0` : number(part);
}

/** @param {Task} task */
function sending({ attempts, sendDays, expires }) {
  const tries = say("tries", { count: attempts });
  return [say("hidden"), say("sent", { tries, days: say("days", { count: sendDays }), expires })];
}

/** @param {Task} task how many reports are drawn: one, or one in each window */
const windowsOf = ({ memory, count }) => (memory === "first" ? 1 : count);

/** @param {Task} task */
function course(task) {
  const days = say("days", { count: task.days });
  const last = dayText(Number(dayNumber(task.closes)) - 1);
  const asked = say("asked", { count: task.count, days, first: task.opens, last });
  const count = windowsOf(task);
  return [
    count < task.count ? say("asked_first", { asked }) : asked,
    say("costs", { count, epsilon: general(task.epsilon), total: general(task.epsilon * count) }),
    ...(task.version > 1 ? [say("year", { most: general(task.most) })] : []),
  ];
}

/** @param {Task} task */
const use = ({ minBatch, keep, keepDays, results }) => [
  say(`kept_${keep}`, { batch: minBatch, days: keepDays }),
  ...(results === "public" ? [say("results_public")] : []),
];
