/**
 * Task documents of both versions, part by part: nothing is ignored, and nothing is believed before it is checked.
 *
 * @module
 */

import { checkedUrl } from "./addresses.js";
import { amountOf } from "./amounts.js";
import { LAST_DAY } from "./days.js";
import { COMPOSED, asFormat, fieldsOf, isMapping } from "./designs.js";
import { DeniableError, FormatError } from "./errors.js";
import { BUDGET_MAX, amountIn, dayIn, listIn, need, textIn, wholeIn } from "./parts.js";
import { NAME, Proofs, TEXT_MAX, TOGETHER, checkLabels, questionFrom, shownIn } from "./question.js";
import { verified } from "./signing.js";
import { needLabels } from "./texts.js";

/** @typedef {Record<string, any>} Mapping */

const SHARED = ["version", "id", "subject", "epsilon", "questions", "window", "min_batch", "memory", "budget", "retention"];

/** Fields of the documents of a version: those that are needed, and those that may be left out. @type {Record<string, string[][]>} */
export const FIELDS = {
  1: [[...SHARED, "precision", "expires"], ["collector", "strata"]],
  2: [
    [...SHARED, "signature", "collector", "language", "design", "sending"],
    ["translations", "strata", "purpose", "results"],
  ],
};

/** @type {Record<number, string[]>} */
const MEMORIES = { 1: ["fresh", "remembered", "first"], 2: ["fresh"] };
const BUDGETS = ["task", "subject", "lifetime"];
const SHARE_MAX = 1_000_000;

/** Parts of a design, and values of a stratum: one byte of a report. */
const LISTED_MAX = 255;
const STRATA_MAX = 8;
/** Questions that one part asks together. */
const TOGETHER_MAX = 32;
const PURPOSE_MAX = 1000;
const GROUPS_MAX = 4096;
const LANGUAGE = /^(?=.{2,35}$)[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$/;
const SIGNATURE = /^[0-9a-f]{128}$/;
const KEY = /^[0-9a-f]{64}$/;

/** The value of a stratum that somebody does not tell. */
export const NOT_TOLD = "not told";

/** @param {Mapping} given @returns {Mapping} the parts of a task of version 1 */
export function readOld(given) {
  const [subject, epsilon] = [textIn(given.subject, "subject", 200), amountIn(given.epsilon, "epsilon")];
  const proofs = new Proofs();
  const questions = listIn(given.questions, "questions", 1, LISTED_MAX).map((each) => {
    const { design, ...texts } = fieldsOf(each, "a question", ["name", "text", "design", "share"], ["labels"]);
    const share = wholeIn(texts.share, "share of a question", 1, SHARE_MAX);
    return questionFrom(texts, { design, share, by: { subject }, epsilon, proofs });
  });
  const expires = dayIn(given.expires, "expires");
  const common = shared(given, questions);
  need(expires >= common.closes, "expires", "after the last window", given.expires);
  need(given.precision === "day", "precision", "day", given.precision);
  return {
    ...common,
    subject,
    epsilon,
    expires,
    strata: strataIn("strata" in given ? given.strata : [], 2, LISTED_MAX),
    budget: budgetIn(given.budget, epsilon),
    collector: "collector" in given ? textIn(given.collector, "collector", 200) : null,
    key: null,
    url: null,
    language: null,
    translations: {},
    purpose: null,
    results: "private",
    titles: {},
    attempts: 8,
    sendDays: 7,
  };
}

/** @param {Mapping} given @returns {Mapping} the parts of a task of version 2 */
export function readNew(given) {
  const collector = fieldsOf(given.collector, "collector", ["name", "key"], ["url"]);
  const { key } = collector;
  need(fits(KEY, key), "key", "64 hexadecimal digits in small letters", key);
  need(fits(SIGNATURE, given.signature), "signature", "128 hexadecimal digits in small letters", given.signature);
  if (!verified(fromHex(key), signedPart(given.id), fromHex(given.signature))) {
    const told = `the task is not signed with the key ${key.slice(0, 16)}.. of its collector; nothing is sent.`;
    throw new FormatError(told, "Ask for the task again.");
  }
  const [subject, epsilon] = [textIn(given.subject, "subject", 200), amountIn(given.epsilon, "epsilon")];
  need(fits(LANGUAGE, given.language), "language", "a tag such as en or pt-BR", given.language);
  const sending = fieldsOf(given.sending, "sending", ["attempts", "days"]);
  const questions = questionsIn(given, key, epsilon);
  const common = shared(given, questions);
  const budget = amountIn(given.budget, "budget");
  const whole = amountOf(epsilon) * BigInt(common.count);
  const strata = "strata" in given ? given.strata : [];
  need(whole <= amountOf(budget), "budget", `at least epsilon x ${common.count} windows, at most ${BUDGET_MAX}`, budget);
  return {
    ...common,
    subject,
    epsilon,
    expires: common.closes + 1,
    strata: groupsIn(strata),
    budget: Object.freeze({ collector: budget }),
    collector: textIn(collector.name, "name of the collector", 200),
    key,
    url: "url" in collector ? signedUrl(collector.url) : null,
    language: given.language,
    translations: translationsIn(given, questions),
    purpose: "purpose" in given ? textIn(given.purpose, "purpose", PURPOSE_MAX, true) : null,
    results: resultsIn(given),
    titles: Object.fromEntries(strata.filter(hasTitle).map((/** @type {any} */ { name, title }) => [name, textIn(title, "title of a stratum", 200)])),
    attempts: wholeIn(sending.attempts, "attempts of sending", 1, 8),
    sendDays: wholeIn(sending.days, "days of sending", 1, 7),
  };
}

/** @param {any} stratum */
const hasTitle = (stratum) => "title" in stratum;

/** @param {Mapping} given */
function resultsIn(given) {
  need(!("results" in given) || given.results === "public", "results", "public, or left out", given.results);
  return "results" in given ? "public" : "private";
}

/** @param {RegExp} form @param {unknown} given */
const fits = (form, given) => typeof given === "string" && form.test(given);

/** @param {string} text @returns {Uint8Array} */
const fromHex = (text) => Uint8Array.from(text.match(/../g) ?? [], (digits) => parseInt(digits, 16));

/** @param {string} id @returns {Uint8Array} what a collector signs */
export const signedPart = (id) => Uint8Array.from([...new TextEncoder().encode("deniable/2 task\0"), ...fromHex(id)]);

/** @param {unknown} given @returns {string} an address, in the form that it is compared in */
function signedUrl(given) {
  const same = asFormat("collector of a task", () => checkedUrl(given)) === given;
  need(same, "url", "in small letters up to the path, without a / at its end", given);
  return String(given);
}

/** What both versions have. @param {Mapping} given @param {readonly any[]} questions @returns {Mapping} */
function shared(given, questions) {
  need(new Set(questions.map(({ name }) => name)).size === questions.length, "names of questions", "different", "two alike");
  const window = fieldsOf(given.window, "window", ["opens", "days", "count"]);
  const days = wholeIn(window.days, "days", 1, 3660);
  const count = wholeIn(window.count, "count", 1, 10_000);
  const opens = dayIn(window.opens, "opens");
  const closes = opens + days * count;
  need(closes <= LAST_DAY + 1 - given.version, "window", "before the year 10000", window);
  const known = MEMORIES[given.version];
  need(known.includes(given.memory), "memory", `one of ${known.join(", ")}`, given.memory);
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
function questionsIn({ design, questions }, collector, epsilon) {
  const { parts, shares } = COMPOSED.get(design?.mechanism)?.split(design, epsilon) ?? { parts: [design], shares: [1] };
  const proofs = new Proofs();
  const asked = listIn(questions, "questions", parts.length, parts.length).map(
    (together) => listIn(together, "questions of a part", 1, TOGETHER_MAX),
  );
  const found = asked.map((each, i) => {
    const of = { design: parts[i], share: shares[i], by: { collector }, epsilon, proofs };
    if (each.length > 1) return loaded().from(each, of);
    return questionFrom(fieldsOf(each[0], "a question", ["name", "text", "none"], ["labels", "kind", "unit", "ends"]), of);
  });
  if (asked.some((each) => each.length > 1)) loaded().check(found);
  return found;
}

/** What reads questions that are asked together. */
function loaded() {
  if (TOGETHER.from) return TOGETHER;
  throw new DeniableError("the module of questions that are asked together is not loaded.", "Import together.js.");
}

/**
 * The texts in other languages, of the same shape.
 *
 * @param {Mapping} given
 * @param {readonly any[]} questions
 */
function translationsIn(given, questions) {
  const told = "translations" in given ? given.translations : {};
  const [strata, more] = [given.strata ?? [], "purpose" in given ? ["purpose"] : []];
  need(isMapping(told), "translations", "a mapping of languages to texts", told);
  for (const [tag, texts] of Object.entries(told)) {
    const other = fits(LANGUAGE, tag) && tag !== given.language;
    need(other, "language of a translation", "a tag such as en or pt-BR, and not that of the task", tag);
    const own = fieldsOf(texts, `the translation ${tag}`, ["subject", "questions", ...more], ["strata"]);
    textIn(own.subject, `subject in ${tag}`, 200);
    if (more.length) textIn(own.purpose, `purpose in ${tag}`, PURPOSE_MAX, true);
    const parts = listIn(own.questions, `questions in ${tag}`, questions.length, questions.length);
    parts.forEach((together, i) => {
      const each = questions[i].together.length ? questions[i].together : [questions[i]];
      const told = listIn(together, `questions of a part in ${tag}`, each.length, each.length);
      each.forEach((/** @type {any} */ one, /** @type {number} */ j) => translated(one, told[j], tag));
    });
    const groups = listIn("strata" in own ? own.strata : [], `strata in ${tag}`, 0, strata.length);
    need([0, strata.length].includes(groups.length), `strata in ${tag}`, `all ${strata.length}, or left out`, groups);
    groups.forEach((group, i) => {
      const [{ name, values }, named] = [strata[i], fieldsOf(group, `a stratum in ${tag}`, ["title", "values"])];
      textIn(named.title, `title of ${name} in ${tag}`, 200);
      const words = listIn(named.values, `values of ${name} in ${tag}`, values.length, values.length);
      needLabels(words.map((word) => textIn(word, `a value of ${name}`, 200)), `values of ${name} in ${tag}`);
    });
  }
  return told;
}

/** A question in another language: everything that people read of it, and nothing else. @param {any} question @param {unknown} asked @param {string} tag */
function translated({ name, kind, labels, unit, ends }, asked, tag) {
  const there = Object.entries({ labels, unit, ends }).flatMap(([field, part]) => (part === null ? [] : [field]));
  const fields = fieldsOf(asked, `a question in ${tag}`, ["text", ...there]);
  textIn(fields.text, `text of ${name} in ${tag}`, TEXT_MAX, true);
  shownIn(fields, kind, `${name} in ${tag}`);
  if (labels) checkLabels(listIn(fields.labels, `labels of ${name} in ${tag}`, labels.length, labels.length), name);
}

/** Groups that may stay untold, at most so many combinations. @param {unknown} given @returns {Map<string, readonly string[]>} */
function groupsIn(given) {
  const found = strataIn(given, 1, LISTED_MAX - 1, ["title"]);
  const groups = [...found.values()].reduce((product, values) => product * (values.length + 1), 1);
  need(groups <= GROUPS_MAX, "strata", `at most ${GROUPS_MAX} combinations, with those not told`, groups);
  for (const [name, values] of found) {
    need(!values.includes(NOT_TOLD), "values of a stratum", `others than '${NOT_TOLD}', which is there already`, name);
    found.set(name, Object.freeze([NOT_TOLD, ...values]));
  }
  return found;
}

/** @param {unknown} given @param {number} least @param {number} most @param {string[]} [more] @returns {Map<string, readonly string[]>} */
function strataIn(given, least, most, more = []) {
  const found = new Map();
  for (const entry of listIn(given, "strata", 0, STRATA_MAX)) {
    const { name, values } = fieldsOf(entry, "a stratum", ["name", "values"], more);
    const listed = listIn(values, "values of a stratum", least, most);
    need(fits(NAME, name) && !found.has(name), "name of a stratum", "small letters, digits, - or _, and no other's", name);
    const texts = listed.map((value) => textIn(value, `a value of ${name}`, 200));
    needLabels(texts, `values of ${name}`);
    found.set(name, Object.freeze(texts));
  }
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
