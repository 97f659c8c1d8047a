/**
 * Task documents of both versions, part by part: nothing is ignored, and nothing is believed before it is checked.
 *
 * @module
 */

import { checkedUrl } from "./addresses.js";
import { amountOf } from "./amounts.js";
import { LAST_DAY } from "./days.js";
import { asFormat, fieldsOf, isMapping } from "./designs.js";
import { PrivacyError } from "./errors.js";
import { BUDGET_MAX, amountIn, dayIn, general, listIn, need, textIn, wholeIn } from "./parts.js";
import { labelsIn, questionFrom } from "./question.js";

/** @typedef {Record<string, any>} Mapping */

const SHARED = ["version", "id", "subject", "epsilon", "questions", "window", "min_batch", "memory", "budget", "retention"];

/** Fields of the documents of a version: those that are needed, and those that may be left out. @type {Record<string, string[][]>} */
export const FIELDS = {
  1: [[...SHARED, "precision", "expires"], ["collector", "strata"]],
  2: [
    [...SHARED, "signature", "collector", "language", "design", "sending"],
    ["translations", "strata"],
  ],
};

const MEMORIES = ["fresh", "remembered", "first"];
const BUDGETS = ["task", "subject", "lifetime"];
const DEALT = ["mechanism", "version", "epsilon", "shares", "parts"];
const SHARE_MAX = 1_000_000;

/** Parts of a design, and values of a stratum: one byte of a report. */
const LISTED_MAX = 255;
const STRATA_MAX = 8;
const COMBINED_MAX = 4096;
const NAME = /^[a-z0-9_-]{1,64}$/;
const LANGUAGE = /^[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*$/;
const LANGUAGE_MAX = 35;
const LANGUAGES_MAX = 64;
const SIGNATURE = /^[0-9a-f]{128}$/;
const KEY = /^[0-9a-f]{64}$/;

/** What somebody says who does not tell a group. */
export const UNTOLD = "not told";

/** @param {Mapping} given @returns {Mapping} the parts of a task of version 1 */
export function readOld(given) {
  const [subject, epsilon] = [textIn(given.subject, "subject", 200), amountIn(given.epsilon, "epsilon")];
  const proofs = new Map();
  const questions = listIn(given.questions, "questions", 1, LISTED_MAX).map((each) => {
    const { design, ...texts } = fieldsOf(each, "a question", ["name", "text", "design", "share"], ["labels"]);
    const share = wholeIn(texts.share, `share of ${texts.name}`, 1, SHARE_MAX);
    return questionFrom(texts, { design, share, by: { subject }, epsilon, proofs });
  });
  const expires = dayIn(given.expires, "expires");
  const common = shared(given, questions);
  need(expires >= common.closes, "expires", "after the last window", given.expires);
  need(given.precision === "day", "precision", "day", given.precision);
  need(MEMORIES.includes(given.memory), "memory", `one of ${MEMORIES.join(", ")}`, given.memory);
  return {
    ...common,
    subject,
    epsilon,
    expires,
    strata: strataIn("strata" in given ? given.strata : [], 2, LISTED_MAX, []),
    budget: budgetIn(given.budget, epsilon),
    collector: "collector" in given ? textIn(given.collector, "collector", 200) : null,
    key: null,
    url: null,
    language: null,
    translations: new Map(),
    attempts: 8,
    sendDays: 7,
  };
}

/** @param {Mapping} given @returns {Mapping} the parts of a task of version 2, but for its signature */
export function readNew(given) {
  const collector = fieldsOf(given.collector, "collector", ["name", "key"], ["url"]);
  need(typeof collector.key === "string" && KEY.test(collector.key), "key", "64 digits from 0-9 and a-f", collector.key);
  need(typeof given.signature === "string" && SIGNATURE.test(given.signature), "signature", "128 digits from 0-9 and a-f", given.signature);
  const url = "url" in collector ? asFormat("collector of a task", () => checkedUrl(collector.url)) : null;
  const [subject, epsilon] = [textIn(given.subject, "subject", 200), amountIn(given.epsilon, "epsilon")];
  const asked = questionsIn(given, collector.key, epsilon);
  const common = shared(given, asked.questions);
  need(given.memory === "fresh", "memory", "fresh", given.memory);
  const sending = fieldsOf(given.sending, "sending", ["attempts", "days"]);
  const budget = amountIn(given.budget, "budget");
  const whole = amountOf(epsilon) * BigInt(common.count);
  need(amountOf(budget) >= whole, "budget", "at least epsilon for each window", given.budget);
  return {
    ...common,
    subject,
    epsilon,
    expires: common.closes + 1,
    strata: strataIn("strata" in given ? given.strata : [], 1, LISTED_MAX - 1, [UNTOLD]),
    budget,
    collector: textIn(collector.name, "name of the collector", 200),
    key: collector.key,
    url,
    language: languageIn(given.language),
    translations: translationsIn("translations" in given ? given.translations : {}, asked),
    attempts: wholeIn(sending.attempts, "attempts", 1, 8),
    sendDays: wholeIn(sending.days, "days of sending", 1, 7),
  };
}

/** What both versions have. @param {Mapping} given @param {readonly any[]} questions @returns {Mapping} */
function shared(given, questions) {
  need(new Set(questions.map(({ name }) => name)).size === questions.length, "names of questions", "different", "two alike");
  const window = fieldsOf(given.window, "window", ["opens", "days", "count"]);
  const days = wholeIn(window.days, "days", 1, 3660);
  const count = wholeIn(window.count, "count", 1, 10_000);
  const opens = dayIn(window.opens, "opens");
  const closes = opens + days * count;
  need(closes <= LAST_DAY, "window", "over before the year 10000", window);
  const keep = fieldsOf(given.retention, "retention", ["keep"], ["days"]);
  need(["tally", "reports"].includes(keep.keep), "retention", "tally or reports", keep.keep);
  need((keep.keep === "reports") === "days" in keep, "retention", "days with reports, and only then", keep);
  return {
    id: given.id,
    questions: Object.freeze(questions),
    opens,
    days,
    count,
    closes,
    minBatch: wholeIn(given.min_batch, "min_batch", 1, 10 ** 9),
    memory: given.memory,
    keep: keep.keep,
    keepDays: wholeIn("days" in keep ? keep.days : 0, "days of retention", 0, 3660),
    document: given,
  };
}

/**
 * One question for each part of the design.
 *
 * @param {Mapping} given
 * @param {string} collector
 * @param {number} epsilon
 */
function questionsIn({ design, questions: asked }, collector, epsilon) {
  const dealt = isMapping(design) && design.mechanism === "dealt";
  const { parts, shares } = dealt ? dealtIn(design, epsilon) : { parts: [design], shares: [1] };
  const most = dealt ? design.epsilon : epsilon;
  const proofs = new Map();
  const texts = listIn(asked, "questions", parts.length, parts.length).map((entry) => {
    const [one] = listIn(entry, "questions of one part", 1, 1);
    return fieldsOf(one, "a question", ["name", "text", "none"], ["labels"]);
  });
  const by = { collector };
  const questions = texts.map((each, i) =>
    questionFrom(each, { design: parts[i], share: shares[i], by, epsilon: most, proofs }),
  );
  return { questions, texts };
}

/** A design of parts. @param {Mapping} design @param {number} epsilon @returns {{parts: any[], shares: number[]}} */
function dealtIn(design, epsilon) {
  const given = fieldsOf(design, "a design of parts", DEALT);
  need(given.version === 1, "version of its design", "1", given.version);
  const promised = amountIn(given.epsilon, "epsilon of its design");
  if (promised > epsilon) {
    const told = `epsilon ${general(promised)}, more than the ${general(epsilon)} that the task says`;
    throw new PrivacyError(`the design promises ${told}; nothing is sent.`);
  }
  const parts = listIn(given.parts, "parts of its design", 2, LISTED_MAX);
  const shares = listIn(given.shares, "shares of its design", parts.length, parts.length);
  return { parts, shares: shares.map((share) => wholeIn(share, "a share", 1, SHARE_MAX)) };
}

/** @param {unknown} given @returns {string} */
function languageIn(given) {
  const fits = typeof given === "string" && given.length <= LANGUAGE_MAX && LANGUAGE.test(given);
  need(fits, "language", `a tag such as en or pt-BR, of at most ${LANGUAGE_MAX} characters`, given);
  return /** @type {string} */ (given);
}

/**
 * The same texts in other languages.
 *
 * @param {any} given
 * @param {{questions: any[], texts: Mapping[]}} asked
 */
function translationsIn(given, { questions, texts }) {
  need(isMapping(given) && Object.keys(given).length <= LANGUAGES_MAX, "translations", `at most ${LANGUAGES_MAX}, by their language`, given);
  const found = new Map();
  for (const [language, translation] of Object.entries(given)) {
    const { subject, questions: entries } = fieldsOf(translation, "a translation", ["subject", "questions"]);
    const listed = listIn(entries, "questions of a translation", texts.length, texts.length).map((entry, i) => {
      const [one] = listIn(entry, "questions of one part", 1, 1);
      const needed = ["text", ...("labels" in texts[i] ? ["labels"] : [])];
      const fields = fieldsOf(one, "a translated question", needed);
      const { name, explanation } = questions[i];
      const labels = "labels" in fields ? labelsIn(fields.labels, name, explanation.design.domain) : null;
      return Object.freeze({ text: textIn(fields.text, `text of ${name}`, 10_000), labels });
    });
    found.set(languageIn(language), { subject: textIn(subject, "subject", 200), questions: Object.freeze(listed) });
  }
  return found;
}

/**
 * @param {unknown} given
 * @param {number} least
 * @param {number} most
 * @param {string[]} before values that come before those of each stratum
 * @returns {Map<string, readonly string[]>}
 */
function strataIn(given, least, most, before) {
  const found = new Map();
  let combined = 1;
  for (const entry of listIn(given, "strata", 0, STRATA_MAX)) {
    const { name, values } = fieldsOf(entry, "a stratum", ["name", "values"]);
    const listed = listIn(values, "values of a stratum", least, most);
    const fits = typeof name === "string" && NAME.test(name) && !found.has(name);
    need(fits, "name of a stratum", "small letters, digits, - or _, and no other's", name);
    const texts = [...before, ...listed.map((value) => textIn(value, `a value of ${name}`, 200))];
    need(new Set(texts).size === texts.length, `values of ${name}`, "different", values);
    found.set(name, Object.freeze(texts));
    combined *= texts.length;
  }
  const few = combined <= COMBINED_MAX || !before.length;
  need(few, "strata", `at most ${COMBINED_MAX} combinations of their values`, combined);
  return found;
}

/** @param {unknown} given @param {number} epsilon */
function budgetIn(given, epsilon) {
  const fields = fieldsOf(given, "budget", BUDGETS);
  const [task, subject, lifetime] = BUDGETS.map((name) => amountIn(fields[name], `budget of ${name}`));
  const rising = epsilon <= task && task <= subject && subject <= lifetime;
  need(rising, "budget", `epsilon <= task <= subject <= lifetime <= ${BUDGET_MAX}`, given);
  return Object.freeze({ task, subject, lifetime });
}
