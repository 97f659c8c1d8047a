/** Texts that are not ASCII: what every character is, where joiners may stand, and what looks alike; `texts.js` asks it. */
import { ALIKE, CLASSES, RUNS } from "./confusables.js";
import { ALPHABETS } from "./texts.js";

const STRAY = /[!\-~=]/;
/** Marks on one character, as UTS 39 advises: more of them reach into what is written around. */
const MARKS_MAX = 4;
const TOLD = `a mark that stands alone, twice, or with more than ${MARKS_MAX - 1} others on one letter`;

/** Classes that are no letters of a script, in their order: refused, other, space, mark, emoji; letters come after them. */
const SIGNS = "!._^*";
const NAMES = CLASSES.trim().split(/\s+/);
const SIGN_OF = NAMES.map((_, i) => SIGNS[i] ?? String.fromCharCode(0x100 + i - SIGNS.length));
/** @param {string} names */
const scripts = (names) => names.split(" ").map((name) => SIGN_OF[NAMES.indexOf(name)]).join("");
/** Scripts whose letters have joiners between them. */
const JOINED = scripts(
  "Arabic Syriac Mongolian Nko Mandaic Manichaean Devanagari Bengali Gurmukhi Gujarati Oriya Tamil Telugu Kannada " +
    "Malayalam Sinhala Khmer Tibetan Myanmar",
);
/** Scripts that are written in one word. */
const TOGETHER = scripts("Latin Han Hiragana Katakana Bopomofo Hangul");
const LETTERS = new RegExp(`[${SIGN_OF[SIGNS.length]}-${SIGN_OF[SIGN_OF.length - 1]}^]+`, "g");

/** Where joiners may stand. @type {[RegExp, string][]} */
const RULES = [
  [/\*=/g, "**"],
  [/\.=(?=\^)/g, ".."],
  [/\*-(?=\*)/g, "**"],
  [new RegExp(`([${JOINED}^])[-~](?=[${JOINED}])`, "g"), "$1."],
];
const LONE = new RegExp(`(^|[_\\n]|\\^{${MARKS_MAX}})(\\^+)`, "g");

/** Styles, shapes and widths of other characters, which look like those. */
const WIDTHS = /[\u{1d400}-\u{1d7ff}\u{1ee00}-\u{1eeff}\ufb50-\ufdff\ufe70-\uffef]/u;

/** The number of every code point's class. */
const KINDS = new Uint8Array(0x110000);
let end = 0;
for (const run of RUNS.trim().split(/\s+/)) {
  const [length, number] = run.split(".").map((part) => parseInt(part, 36));
  KINDS.fill(number, end, (end += length));
}

/** @type {Map<string, string>} */
const LOOKS = new Map();
let code = 0;
for (const entry of ALIKE.trim().split(/\s+/)) {
  const [step, targets] = entry.split(":");
  code += parseInt(step, 36);
  LOOKS.set(String.fromCodePoint(code), String.fromCodePoint(...targets.split(".").map((target) => parseInt(target, 36))));
}

/** @type {Record<string, string>} */
const OWN = { "\n": "\n", "\u200c": "~", "\u200d": "-", "\ufe0f": "=" };
/** @param {string} sign */
const classOf = (sign) => OWN[sign] ?? SIGN_OF[KINDS[Number(sign.codePointAt(0))]];

/** One sign for each character: what it is. @param {string} text */
function classesOf(text) {
  let made = "";
  for (const sign of text) made += classOf(sign);
  return made;
}

/** Classes in which joiners are no strays where they may stand, and marks are where they may not. @param {string} classes */
function settled(classes) {
  for (const [rule, made] of RULES) classes = classes.replace(rule, made);
  return classes.replace(LONE, (_, before, marks) => before + "!".repeat(marks.length));
}

/** UTF-16 units before a character. @param {string} text @param {number} count */
const unitsOf = (text, count) => {
  let units = 0;
  for (const sign of text) {
    if (count-- === 0) break;
    units += sign.length;
  }
  return units;
};

/**
 * The place (in UTF-16 units) of what a text of one or more lines may not have, and what it is; in `prose` words may mix scripts.
 * @param {string} text @param {boolean} prose @returns {{place: number, told: string} | null}
 */
function fault(text, prose) {
  const classes = settled(classesOf(text));
  const stray = classes.search(STRAY);
  if (stray >= 0) {
    const place = unitsOf(text, stray);
    return { place, told: classOf(String.fromCodePoint(Number(text.codePointAt(place)))) === "^" ? TOLD : "" };
  }
  const line = repeated(text.normalize("NFD"));
  if (line >= 0) return { place: text.split("\n").slice(0, line).join("\n").length + (line > 0 ? 1 : 0), told: TOLD };
  return prose ? null : mixed(text, classes);
}

/** The line in which a decomposed text has a mark twice in a row, or too many; -1 if none has. @param {string} text */
function repeated(text) {
  const lone = settled(classesOf(text));
  if (!/\^[\^!]/.test(lone)) return -1;
  const signs = [...text];
  for (const found of lone.matchAll(/\^[\^!]+/g)) {
    const run = signs.slice(found.index, found.index + found[0].length);
    if (found[0].includes("!") || run.some((sign, i) => sign === run[i + 1])) return lone.slice(0, found.index).split("\n").length - 1;
  }
  return -1;
}

/** Where a word has letters of scripts that are not written together. @param {string} text @param {string} classes */
function mixed(text, classes) {
  for (const word of classes.matchAll(LETTERS)) {
    const kinds = [...new Set(word[0])].filter((kind) => kind !== "^");
    if (kinds.length > 1 && !kinds.every((kind) => TOGETHER.includes(kind))) {
      const names = kinds.map((kind) => NAMES[SIGN_OF.indexOf(kind)].replaceAll("_", " ")).sort();
      return { place: unitsOf(text, word.index), told: `letters of ${names.join(" and ")} in one word` };
    }
  }
  return null;
}

/** What a character looks like. @param {string} sign @returns {string} */
function look(sign) {
  let found = LOOKS.get(sign);
  if (found === undefined) {
    const made = WIDTHS.test(sign) ? sign.normalize("NFKD") : sign;
    found = made === sign ? (classOf(sign) === "_" ? " " : sign) : looks(made);
    LOOKS.set(sign, found);
  }
  return found;
}

/** @param {string} text */
function looks(text) {
  let made = "";
  for (const sign of text) made += look(sign);
  return made;
}

/** A text with one character for all that look like it (UTS 39), without joiners. @param {string} text */
function skeleton(text) {
  const plain = text.replaceAll("\u03c2", "\u03c3").normalize("NFD").replace(/[\u200c\u200d\ufe0f]/g, "");
  return looks(plain).normalize("NFD");
}

/** Whether each character of a line has no place where it stands. @param {string} line */
const strays = (line) => Array.from(settled(classesOf(line)), (kind) => STRAY.test(kind));

Object.assign(ALPHABETS, { fault, skeleton, strays });
