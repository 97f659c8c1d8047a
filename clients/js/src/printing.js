/** Texts of strangers that are no labels: what is wrong with them, and how they are shown on one line. */
import { ALPHABETS, alphabetOf, isPlain } from "./texts.js";

/** All that is white space, in every client. */
const SPACES = /[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/;

/** What is wrong with a text, in words; in `prose` there may be line breaks and words of several scripts. @param {string} text */
export function textFault(text, prose = false) {
  const { fault, shown } = alphabetOf([text]);
  const told = fault(prose ? text.replace(/[\t\n\r]/g, " ") : text, prose);
  return told && `${shown(text)} ${told}`;
}

/** A stranger's text as one line that hides nothing: what it may not contain shows its code. @param {string} text */
export function printable(text) {
  const line = text.split(SPACES).filter(Boolean).join(" ");
  const strays = isPlain(line) ? undefined : ALPHABETS.of?.([line]).strays?.(line);
  return Array.from(line, (sign, i) => (strays ? !strays[i] : /[ -~]/.test(sign)) ? sign : coded(sign)).join("");
}

/** @param {string} sign */
function coded(sign) {
  const code = Number(sign.codePointAt(0)).toString(16);
  return code.length < 3 ? `\\x${code.padStart(2, "0")}` : code.length < 5 ? `\\u${code.padStart(4, "0")}` : `\\U${code.padStart(8, "0")}`;
}

/** A stranger's words in quotes, on one line; a quote in them does not end them. @param {string} text */
export const quoted = (text) => `"${printable(text.replace(/[\\"]/g, "\\$&"))}"`;
