/**
 * Designs: what documents from outside may be made of, how values are read, what every kernel has, and the grammar: no number
 * is believed before the document has the shape that its mechanism's name allows (`FORMS`, which stand beside the kernels).
 */
import { FormatError, ParameterError, PrivacyError, require, show } from "./errors.js";
import { WORD, checkEpsilon, either, twoLevelLift } from "./exact.js";

/** @import { Ratio } from "./exact.js" */
/** @import { Answer, Check, Composed, Design, Domain, Form, Parts, Shapes, Words } from "./types.js" */

const DEPTH_MAX = 12;
const NODES_MAX = (1 << 19) + (1 << 12);
const TEXT_MAX = 1 << 16;
const TEXTS_MAX = 1 << 24;

/** @param {any} part */
export const isMapping = (part) => Object.prototype.toString.call(part) === "[object Object]";

/** A copy of a bounded number of plain parts; `FormatError` for anything else. @param {unknown} document @returns {Record<string, any>} */
export function readDocument(document, what = "the design") {
  let nodes = 1;
  let texts = 0;
  /** @param {string} told @param {unknown} [part] */
  const refuse = (told, part) => {
    throw new FormatError(`${what} ${told}${part === undefined ? "" : `: ${show(part, 60)}`}.`);
  };
  /** @param {string} text */
  const count = (text) => {
    const length = text.length > 2 * TEXT_MAX ? Infinity : lengthOf(text);
    if (length > TEXT_MAX) refuse(`has a text of more than ${TEXT_MAX} characters`);
    if (/\p{Surrogate}/u.test(text)) refuse("has a text that cannot be stored as UTF-8", text);
    if ((texts += length) > TEXTS_MAX) refuse(`has more than ${TEXTS_MAX} characters`);
  };
  /** @param {any} part @param {number} depth @returns {any} */
  const copy = (part, depth) => {
    const list = Array.isArray(part);
    if (typeof part === "string") count(part);
    else if (list || isMapping(part)) {
      if (depth > DEPTH_MAX) refuse(`is nested more than ${DEPTH_MAX} deep`);
      const names = list ? [] : Object.keys(part);
      nodes += list ? part.length : names.length;
      if (nodes > NODES_MAX) refuse(`has more than ${NODES_MAX} parts`);
      if (list) return Array.from(part, (each) => copy(each, depth + 1));
      const made = Object.create(null);
      for (const name of names) {
        count(name);
        made[name] = copy(part[name], depth + 1);
      }
      return made;
    } else if (part !== null && typeof part !== "boolean" && !isNumber(part)) {
      refuse("has a part that is no finite number, text, list or mapping", part ?? "undefined");
    }
    return part;
  };
  if (!isMapping(document)) refuse("must be a mapping of names to values", document ?? "nothing");
  return copy(document, 1);
}

/** Characters of a text: code points, not UTF-16 units. @param {string} text */
export const lengthOf = (text) => text.length - (text.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0);

export const isNumber = Number.isFinite;

/** @param {any} part @param {number | bigint} least @param {number | bigint} most */
export const isWhole = (part, least, most) => Number.isInteger(part) && least <= part && part <= most;

/** A whole number written as text, in the one way there is. @param {unknown} part @param {string} where */
export function readWhole(part, where) {
  if (typeof part === "string" && /^(0|[1-9][0-9]{0,39})$/.test(part)) return BigInt(part);
  throw new FormatError(`${where} needs whole numbers, written as text in at most 40 digits, got ${show(part, 60)}.`);
}

/** A mapping with exactly these names. @param {any} document @param {string} where @param {string[]} needed @returns {Record<string, any>} */
export function fieldsOf(document, where, needed, /** @type {string[]} */ optional = []) {
  if (!isMapping(document)) throw new FormatError(`${where} must be a mapping of names to values, got ${show(document, 60)}.`);
  const wrong = needed.filter((name) => !Object.hasOwn(document, name)).map((name) => `${name} is missing`);
  for (const name of Object.keys(document)) {
    if (!needed.includes(name) && !optional.includes(name)) wrong.push(`${show(name, 60)} is unknown`);
  }
  if (wrong.length) {
    const also = optional.length ? `, perhaps ${optional.join(", ")}` : "";
    throw new FormatError(`${where} has the fields ${needed.join(", ") || "none"}${also}; ${wrong.join(", ")}.`);
  }
  return document;
}

// ---- domains: from a person's value to the number of an answer

const ANSWERS_MAX = 2 ** 32;
export const CHOICES = ["missing", "other"];

/** @param {boolean} ok @param {string} name @param {unknown} got @param {string} need */
export function must(ok, name, got, need) {
  if (!ok) throw new FormatError(`${name} of the design's domain must be ${need}, got ${show(got)}.`);
}

/**
 * Domains by the field that tells them, in this order; `labels.js`, `spaces.js`, `intervals.js` and `codes.js` add theirs.
 * @type {Record<string, ((document: any, name: string) => Domain) | null>}
 */
export const DOMAINS = { space: null, circle: null, codes: null, interval: null, labels: null, k: count };

/** @param {any} document @param {bigint} answers as many as the kernel has @param {string} name of the mechanism @returns {Domain} */
export function readDomain(document, answers, name) {
  const form = Object.keys(DOMAINS).find((each) => isMapping(document) && Object.hasOwn(document, each)) ?? "k";
  const made = DOMAINS[form]?.(document, name);
  if (!made) throw new FormatError(`the module of ${form} domains is not loaded.`, "Use deviceFor of load.js.");
  if (BigInt(made.answers) !== answers) {
    throw new FormatError(`the kernel is for ${answers} values, the domain has another number of them.`);
  }
  return made;
}

/** @param {number} answers @returns {Domain} */
export const numbered = (answers) => ({
  answers,
  index(value) {
    if (isWhole(value, 0, answers - 1)) return Number(value) + 0;
    throw new ParameterError(`value must be an integer from 0 to ${answers - 1}, got ${show(value)}.`);
  },
});

function count(/** @type {any} */ document) {
  const { k } = fieldsOf(document, "the domain", ["k"]);
  must(isWhole(k, 2, ANSWERS_MAX), "k", k, `a whole number from 2 to ${ANSWERS_MAX}`);
  return numbered(k);
}

// ---- what every kernel has

/** Items are hashed as 32-bit integers. */
export const ITEMS_MAX = 1n << 32n;

/** @type {new (parts: Parts) => Parts} */
const Fields = /** @type {any} */ (
  class {
    constructor(/** @type {Parts} */ parts) {
      Object.assign(this, parts);
    }
  }
);

/**
 * Randomises one value of 0..k-1 into `width` bytes, and protects all values alike. Subclasses have `randomise(x, words)`,
 * the exact largest likelihood `ratio` of any report between any two values, and how many random `words` a report draws.
 */
export class Kernel extends Fields {
  static kind = "";
  /**
   * Names of fields; after them `*`: a list, `**`: lists, `@`: a kernel, `@*`: kernels; `#`: sizes, `%`: thresholds; `reads` of a
   * kernel has others.
   */
  static fields = "";

  constructor(/** @type {Parts} */ parts) {
    super(parts);
    for (const [name, , mark] of marked(this)) {
      const given = mark ? [/** @type {any} */ (parts)[name]].flat() : [];
      for (const each of given) mark === "#" ? checkK(each) : checkWhole(name, each, 1n, WORD - 1n);
    }
    this.check();
  }

  /** Refuses fields that do not go together. */
  check() {}

  get kind() {
    return /** @type {typeof Kernel} */ (this.constructor).kind;
  }

  /** @returns {any} */
  get promisedRatio() {
    return /** @type {any} */ (this).ratio;
  }
}

/**
 * A kernel that protects the values in the half-open ranges `protected` only: a report may give away one of the others, with
 * the chance `disclosed`. It has a `hiddenRatio` of all reports that give none away, and may say whether it is `limited` at all.
 */
export class Disclosing extends Kernel {
  get promisedRatio() {
    return /** @type {any} */ (this).hiddenRatio;
  }
}

/**
 * A kernel that others may build on: it has reports made without any value (`blind`). Most have `keep`, and `reports`: how many
 * blind reports (with one seed) support a given value and how many do not, all equally likely. `favours` says how many values
 * each report favours, or slights (0: up to all), and `even` that blind reports support equally many each, up to rounding.
 */
export class Base extends Kernel {
  /** The same up to a factor. @returns {bigint[]} */
  get levels() {
    return /** @type {any} */ (this).reports;
  }

  /** How many times as likely a report is for a value that it supports as for another one; may be below 1. */
  get lift() {
    return twoLevelLift(this.keep, this.levels[0], this.levels[1]);
  }

  get ratio() {
    return either(this.lift);
  }
}

// ---- checks

/** @param {string} name @param {bigint} value @param {bigint} least @param {bigint} most @param {string} [hint] */
export function checkWhole(name, value, least, most, hint) {
  const ok = typeof value === "bigint" && least <= value && value <= most;
  require(ok, name, value, `an integer from ${least} to ${most}`, hint);
}

/** A whole number as kernels have it; what is none stays, for a check to refuse. @param {any} value @returns {any} */
export const whole = (value) => (Number.isSafeInteger(value) ? BigInt(value) : value);

/** @param {bigint} k */
export const checkK = (k, limit = ITEMS_MAX) => checkWhole("k", k, 2n, limit, "For a yes/no question use k=2.");

/** @param {bigint} x @param {bigint} k */
export const checkValue = (x, k) => checkWhole("value", x, 0n, k - 1n);

/** A seed is one word of 64 bits. @param {Words} words */
export const checkSeedWords = (words) => require(words.bits === 64, "words.bits", words.bits, "64", "A seed is one word.");

/** `PrivacyError` for parts that do not protect all values alike. @param {string} what @param {Kernel[]} parts */
export function checkPlain(what, ...parts) {
  const open = parts.find((part) => part instanceof Disclosing);
  if (!open) return;
  const told = `reports of a ${open.kind} kernel may give away the value they were made of, or the level they were made at.`;
  throw new PrivacyError(`${what} must not disclose: ${told}`, "Use a kernel that protects all of its values alike.");
}

/** The exact ratio; `PrivacyError` if it is above the bound `low` of e^epsilon. @param {Kernel} kernel @param {Ratio} low @param {number} epsilon @returns {Ratio} */
export function checkPromise(kernel, low, epsilon) {
  const ratio = kernel.promisedRatio;
  if (low.below(ratio)) {
    const told = `this design promises epsilon ${epsilon} but its ${kernel.kind} kernel has likelihood ratio ${ratio}`;
    const hint = "Do not take part; tell whoever runs the task.";
    throw new PrivacyError(`${told}, above e^epsilon = ${low}; no report was made.`, hint);
  }
  return ratio;
}

// ---- kernels from documents

/** Kernels by their kind: those whose module was loaded. @type {Map<string, any>} */
export const KERNELS = new Map();

/** What designs look like, by the mechanism's name: those whose module was loaded. @type {Map<string, Form>} */
export const FORMS = new Map();

/** Those that protect all answers alike, so that `utility` may build on them. @type {Map<string, Form>} */
export const BASES = new Map();

/**
 * Add kernels, and the mechanisms that have them, several names with spaces between.
 * @param {any[]} kernels @param {Record<string, Form>} [forms] @param {Map<string, Form>[]} [where]
 */
export function register(kernels, forms = {}, where = [FORMS, BASES]) {
  for (const each of kernels) KERNELS.set(each.kind, each);
  for (const [names, form] of Object.entries(forms)) {
    for (const name of names.split(" ")) for (const map of where) map.set(name, form);
  }
}

/** @param {string} kinds @returns {Shapes} */
export const oneOf = (kinds) => Object.fromEntries(kinds.split(" ").map((kind) => [kind, {}]));

/** @param {string | Shapes} kernel @param {Record<string, string>} [params] @returns {Form} */
export const form = (kernel, params = {}) => ({ kernel: typeof kernel === "string" ? oneOf(kernel) : kernel, params });

const PARTS_MAX = 64;

/** Names, forms and marks of a kernel's fields. @param {any} kernel @returns {string[][]} */
export const marked = ({ constructor: { fields } }) =>
  fields.split(" ").map((/** @type {string} */ field) => field.match(/^(\w+)([@*]*)(.*)$/)?.slice(1));

/**
 * A kernel from its document; `FormatError` for an unknown kind, or fields that do not fit. Without `shapes`, which designs
 * always have, any kernel may stand anywhere that it can be sampled.
 * @param {any} document @param {Shapes} [shapes] @param {string} [where] @returns {any}
 */
export function kernelFrom(document, shapes, where = "the kernel") {
  if (!shapes && where === "the kernel") document = readDocument(document, where);
  const kind = isMapping(document) ? document.kind : undefined;
  const allowed = shapes ? Object.keys(shapes) : [...KERNELS.keys()];
  if (!allowed.includes(kind)) {
    const hint = shapes ? "The mechanism's name decides which kernels it may have." : "Upgrade the client.";
    throw new FormatError(`${where}: kernel kind ${show(kind)} is not possible; possible are ${allowed.join(", ")}.`, hint);
  }
  const made = KERNELS.get(kind);
  if (!made) throw new FormatError(`${where}: the module of ${kind} kernels is not loaded.`, "Use deviceFor of load.js.");
  const fields = marked(made.prototype);
  const given = fieldsOf(document, `a ${kind} kernel`, ["kind", ...fields.map(([name]) => name)]);
  /** @type {any} */
  const parts = {};
  for (const [name, form] of fields) {
    const at = `${name} of ${where}`;
    parts[name] = made.reads?.[name]?.(given[name], at) ?? readPart(given[name], form, shapes?.[kind][name], at);
  }
  return new (made.choose?.(parts) ?? made)(parts);
}

/** @param {any} part @param {string} form @param {any} shapes @param {string} where @returns {any} */
function readPart(part, form, shapes, where) {
  if (form === "") return readWhole(part, where);
  if (form === "@") return kernelFrom(part, shapes, where);
  if (!Array.isArray(part)) throw new FormatError(`${where} must be a list, got ${show(part, 60)}.`);
  if (form === "@*" && part.length > PARTS_MAX) {
    throw new FormatError(`${where} must have at most ${PARTS_MAX} kernels, got ${part.length}.`);
  }
  return part.map((entry) => readPart(entry, form.slice(0, -1), shapes, where));
}

// ---- designs from documents

export const FIELDS = ["mechanism", "version", "epsilon", "domain", "params", "kernel"];
const VERSION = 1;
/** How far a threshold may be from the probability that a parameter says, as a float, in 2**-64. */
const NEAR = 1n << 34n;

/** Designs that are made of others, by the mechanism's name: those whose module was loaded. @type {Map<unknown, Composed>} */
export const COMPOSED = new Map();

/** A design whose shape was checked; nothing more is known of its numbers. @param {unknown} document @returns {Design} */
export function readDesign(document) {
  const given = readDocument(document);
  return COMPOSED.get(given.mechanism)?.read(given) ?? readOne(given);
}

/** @param {any} document of a design that has no parts @returns {Design} */
export function readOne(document) {
  const given = fieldsOf(document, "a design", FIELDS);
  const name = given.mechanism;
  const form = FORMS.get(name);
  if (form) return read(name, form, given);
  throw new FormatError(`mechanism ${show(name)} is unknown to this client.`, "Upgrade the client, or use deviceFor of load.js.");
}

/** What a kernel randomises for a value; `ParameterError` if that is no answer. @param {Design} design @param {unknown} value @returns {Answer} */
export const answerOf = ({ kernel, domain, params }, value) =>
  kernel.pairsOf?.(value, domain, params.range) ?? domain.index(value);

/** @param {string} name @param {Form} form @param {Record<string, any>} given @returns {Design} */
export function read(name, form, given) {
  if (given.version !== VERSION) {
    throw new FormatError(`version ${show(given.version)} of ${name} is unknown; this client has ${VERSION}.`);
  }
  const epsilon = readEpsilon(given.epsilon, "epsilon");
  const kernel = asFormat(`the kernel of ${name} has numbers that do not fit`, () =>
    kernelFrom(given.kernel, form.kernel, `the kernel of ${name}`),
  );
  kernel.checkLimit?.(name, epsilon);
  const domain = readDomain(given.domain, kernel.answers ?? kernel.k, name);
  checkParams(name, form, given, kernel);
  return { name, epsilon, domain, params: given.params, kernel };
}

/** What `make` gives; its `ParameterError` is a `FormatError`. @template T @param {string} told @param {() => T} make */
export function asFormat(told, make) {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof ParameterError)) throw error;
    throw new FormatError(`${told}: ${error.message}`, error.hint, { cause: error });
  }
}

/** @param {any} given @param {string} where */
export function readEpsilon(given, where) {
  if (!isNumber(given)) throw new FormatError(`${where} of a design must be a number, got ${show(given)}.`);
  return asFormat(`${where} of the design`, () => checkEpsilon(given));
}

/** Exactly the parameters of the form, each as the kernel has it. @param {string} name @param {Form} form @param {any} given @param {any} kernel */
export function checkParams(name, form, given, kernel) {
  const named = (/** @type {RegExp} */ which) => Object.keys(form.params).flatMap((own) => own.match(which)?.[1] ?? []);
  const params = fieldsOf(given.params, `params of ${name}`, named(/^(\w+)$/), named(/^(\w+)\?$/));
  for (const param of named(/^(\w+)/)) {
    if (!Object.hasOwn(params, param)) continue;
    const [check, ...words] = (form.params[param] ?? form.params[`${param}?`]).split(" ");
    const told = CHECKS[check](params[param], words, kernel, given);
    if (told) throw new FormatError(`${param} of ${name} must be ${told}, got ${show(params[param])}.`);
  }
}

/** What a kernel has at a place such as `first.base.0.size`, if any. @param {any} kernel @param {string} path */
const at = (kernel, path) => path.split(".").reduce((part, step) => part?.[step], kernel);

/** @param {any} value */
const isWholes = (value) => Array.isArray(value) && value.every((each) => isWhole(each, 0, 2 ** 32));

/** How parameters are checked, with the words of their rules; modules of kernels add their own. @type {Record<string, Check>} */
export const CHECKS = {
  /** A whole number: that of the kernel at the first of several places that is there. */
  whole(value, [places], kernel) {
    const paths = places?.split("|") ?? [];
    const found = paths.filter((path) => path).map((path) => at(kernel, path)).find((number) => number !== undefined);
    if (!isWhole(value, 0, WORD - 1n) || (found !== undefined && BigInt(value) !== found)) {
      return found === undefined ? "a whole number" : `the kernel's ${found}`;
    }
    return paths.length && found === undefined && !paths.includes("") ? "a number that the kernel has" : "";
  },

  share(value, [path], kernel) {
    const threshold = at(kernel, path);
    const off = isNumber(value) && Math.abs(value) <= 1 ? BigInt(Math.trunc(value * 2 ** 64)) - threshold : WORD;
    return -NEAR <= off && off <= NEAR ? "" : `the kernel's ${Number(threshold) / 2 ** 64}`;
  },

  chance: (value) => (isNumber(value) && 0 <= value && value <= 1 ? "" : "a number from 0 to 1"),

  number: (value) => (isNumber(value) ? "" : "a number"),

  word: (value, words) => (words.includes(value) ? "" : `one of ${words.join(", ")}`),

  wholes: (value) => (isWholes(value) ? "" : "a list of whole numbers"),

  /** The very numbers of the kernel. */
  same(value, [path], kernel) {
    const found = at(kernel, path);
    return found && isWholes(value) && `${value.map(BigInt)}` === `${found}` ? "" : `the kernel's own numbers, ${show(found)}`;
  },
};
