/** The page's elements by their ids, and what several of its parts say in the same way. */

/** @import { Setting } from "./model.js" */

/** @param {string} id @returns {any} */
export const element = (id) => document.getElementById(id);

/** @param {string} name @param {Record<string, string>} [attributes] @param {...(string | Node)} inside @returns {any} */
export function made(name, attributes = {}, ...inside) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...inside);
  return node;
}

/** @param {number} n */
export const count = (n) => n.toLocaleString("en");

/** Some answers in quotes. @param {string[]} labels */
export const listed = (labels) => labels.map((label) => `“${label}”`).join(", ");

/** What a report says, in words, without saying whom it is about. @type {Record<string, (own: string[], k: number) => string>} */
const TOLD = {
  grr: (own) => `The report names one answer: ${listed(own)}. It may be the true one, or one drawn by chance.`,
  ss: (own) =>
    own.length === 1
      ? `The report names one answer: ${listed(own)}. It may be the true one, or one drawn by chance.`
      : `The report names ${own.length} answers: ${listed(own)}. The true one may be among them, or not.`,
  oue: (own, k) =>
    `The report has a bit for each of the ${k} answers, each drawn on its own. ${own.length ? `Set: ${listed(own)}.` : "None is set."}`,
  olh: (own) =>
    `The report has a random way to sort the answers into bins, and the name of one bin. ${own.length ? `In it: ${listed(own)}.` : "It is empty."}`,
};

/** @param {Setting} setting @param {number[]} supported */
export const told = ({ mechanism, labels }, supported) =>
  TOLD[mechanism](supported.map((x) => labels[x]), labels.length);
