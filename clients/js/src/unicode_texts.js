/** Texts that are not ASCII: what every character is, where joiners may stand, and what looks alike; `texts.js` asks it. */
import { ALIKE, CLASSES, RUNS } from "./confusables.js";
import { lengthOf } from "./designs.js";
import { ALPHABETS } from "./texts.js";

/** Characters of all labels of a question, unless all are ASCII. */
export const LABELS_MAX = 1 << 20;
const STRAY = /[!\-~=]/;
/** Marks on one character, as UTS 39 advises: more of them reach into what is written around. */
const MARKS_MAX = 4;
const MARKED = `has a mark that stands alone, twice, or with more than ${MARKS_MAX - 1} others on one letter`;

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
const LONE = new RegExp(`(^|_|\\^{${MARKS_MAX}})(\\^+)`, "g");

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
const OWN = { "\u200c": "~", "\u200d": "-", "\ufe0f": "=" };
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

/** What is wrong with a text of one line, in words; in `prose` words may mix scripts. @param {string} text */
function fault(text, prose = false) {
  const classes = settled(classesOf(text));
  if (/^_*$/.test(classes) || /[\0-\x1f\x7f]/.test(text)) return "is blank or has a control sign";
  const stray = classes.search(STRAY);
  if (stray >= 0) {
    const sign = [...text][stray];
    const code = Number(sign.codePointAt(0)).toString(16).toUpperCase().padStart(4, "0");
    return classOf(sign) === "^" ? MARKED : `has U+${code}, which people cannot see or not every device knows`;
  }
  return isMarked(text.normalize("NFD")) ? MARKED : prose ? "" : mixed(classes);
}

/** Whether a decomposed text has a mark twice in a row, or too many. @param {string} text */
function isMarked(text) {
  const lone = settled(classesOf(text));
  if (!/\^[\^!]/.test(lone)) return false;
  const signs = [...text];
  return lone.includes("!") || signs.some((sign, i) => lone[i] === "^" && sign === signs[i + 1]);
}

/** What scripts that are not written together have letters in one word. @param {string} classes */
function mixed(classes) {
  for (const [word] of classes.matchAll(LETTERS)) {
    const kinds = [...new Set(word)].filter((kind) => kind !== "^");
    if (kinds.length > 1 && !kinds.every((kind) => TOGETHER.includes(kind))) {
      const names = kinds.map((kind) => NAMES[SIGN_OF.indexOf(kind)].replaceAll("_", " ")).sort();
      return `has letters of ${names.join(" and ")} in one word`;
    }
  }
  return "";
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
  const plain = text.normalize("NFD").replace(/[\u200c\u200d\ufe0f]/g, "");
  return looks(plain).normalize("NFD").replace(/ +/g, " ").replace(/^ | $/g, "");
}

/** Whether each character of a line has no place where it stands. @param {string} line */
const strays = (line) => Array.from(settled(classesOf(line)), (kind) => STRAY.test(kind));

/** A text with codes for all that is not ASCII, cut where it is long. @param {string} text */
function shown(text) {
  const told = JSON.stringify([...text.slice(0, 160)].slice(0, 80).join("")).replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
  return told.length <= 80 ? told : `${told.slice(0, 77)}...`;
}

const ALPHABET = { fault, skeleton, strays, shown };
const LONG = { ...ALPHABET, fault: () => `is one of labels that have more than ${LABELS_MAX} characters in all` };

ALPHABETS.of = (texts) => (lengthOf(texts.join(" ")) > LABELS_MAX ? LONG : ALPHABET);
