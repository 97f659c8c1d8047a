/**
 * The grammar of designs: which kernels a mechanism may have, and how its parameters and its kernel hang together. A device
 * believes no number before the document has the shape that its mechanism's name allows: this table is the allow-list.
 */
import { fieldsOf, isMapping, isNumber, isWhole, readDocument } from "./documents.js";
import { readDomain } from "./domains.js";
import { FormatError, ParameterError, show } from "./errors.js";
import { WORD, checkEpsilon } from "./exact.js";
import { kernelFrom, kernelTo } from "./kernels/contract.js";

/** @typedef {import("./kernels/contract.js").Shapes} Shapes */
/** @typedef {{kernel: Shapes, params: Record<string, string>}} Form how parameters are checked, by `CHECKS`; `?`: optional */
/**
 * A design that has the shape that it should have: nothing more is known of its numbers.
 * @typedef {{
 *   name: string, epsilon: number, domain: import("./domains.js").Domain, params: Record<string, any>, kernel: any,
 * }} Design
 */

const FIELDS = ["mechanism", "version", "epsilon", "domain", "params", "kernel"];
const VERSION = 1;
/** How far a threshold may be from the probability that a parameter says, as a float, in 2**-64. */
const NEAR = 1n << 34n;

/** @param {string} kinds @returns {Shapes} */
const oneOf = (kinds) => Object.fromEntries(kinds.split(" ").map((kind) => [kind, {}]));

/** @param {string | Shapes} kernel @param {Record<string, string>} [params] @returns {Form} */
const form = (kernel, params = {}) => ({ kernel: typeof kernel === "string" ? oneOf(kernel) : kernel, params });

/** @param {string} bases @returns {Shapes} */
const utility = (bases) => ({ utility: { base: oneOf(bases) } });

const SIZE = { size: "whole size" };
const G = { g: "whole g" };
const P = { p: "share keep" };
const THETA = { theta: "number" };
const M = { m: "whole m" };

/** @type {Record<string, Form>} Mechanisms that protect all answers alike; any of them may be the base of `utility`. */
const PLAIN = {
  grr: form("response"),
  ss: form("subset", SIZE),
  ass: form("subset", SIZE),
  iss: form("interval", SIZE),
  ue: form("unary", P),
  sue: form("unary", P),
  oue: form("unary", P),
  aue: form("unary", P),
  the: form("unary", THETA),
  athe: form("unary", THETA),
  lh: form("hashing", G),
  blh: form("hashing", G),
  olh: form("hashing", G),
  alh: form("hashing", G),
  plh: form("balanced", G),
  she: form("laplace", { grid: "whole grid", reach: "whole reach" }),
  wheel: form("wheel", { arc: "chance", ring: "whole ring" }),
  hr: form("hadamard"),
  pgr: form("projective", { prime: "whole prime" }),
  ssmix: form(
    { mixture: { first: oneOf("subset"), second: oneOf("subset whole") } },
    { size: "whole first.size", share: "share coin" },
  ),
  brr: form("window neighbours", { ...M, "tie?": "word random low high" }),
  codebook: form(
    { ...oneOf("constant response"), recode: { base: oneOf("response") } },
    { size: "whole", "codes?": "wholes" },
  ),
  exponential: form("table", { "variant?": "word calibrated printed" }),
  laplace: form("table", { "variant?": "word truncate clamp" }),
  geometric: form("table"),
  lsrr: form("table", { "variant?": "word calibrated rank", "size?": "whole" }),
  sw: form("window", M),
  pm: form("window", M),
  duchi: form("leaning"),
  hm: form(
    { "window-or-bit": { window: oneOf("window"), bit: oneOf("leaning") } },
    { m: "whole window.m", share: "share coin" },
  ),
};
/** @type {Shapes} */
const ANY = Object.assign({}, ...Object.values(PLAIN).map(({ kernel }) => kernel));
/** @type {Record<string, Form>} */
const BASES = { ...PLAIN, explicit: form("table") };

const ULDP = { base: "base", sensitive: "same sensitive", theta: "chance", form: "word null glutf paper separate" };
const LEVELS = {
  levels: "levels data",
  base: "kind data sue:unary oue:unary grr:response lh:hashing",
  level_epsilon: "budget level",
  level_report: "kind level response:response bit:bit none:",
  g: "g data",
};
const DATA = oneOf("unary response hashing");
const LEVEL = oneOf("response bit");
const CODED = { "encoding?": "word bits cyclic" };

/** @param {Shapes} base @param {Record<string, string>} [params] */
const pairs = (base, params) => form({ pairs: { base } }, { ...params, "length?": "whole length", range: "range" });

/** Some people speak of keys only, the others of keys with signs; or all do the latter. @param {string} keys @param {string} signed */
const two = (keys, signed) => ({
  grouped: { first: { "keys-only": { base: oneOf(keys) } }, second: oneOf(signed) },
  ...oneOf(signed),
});

/** @type {Record<string, Form>} What designs look like, by the mechanism's name. */
export const FORMS = {
  ...PLAIN,
  uss: form(utility("subset"), ULDP),
  uue: form(utility("unary"), ULDP),
  urap: form(utility("unary"), ULDP),
  ulh: form(utility("hashing"), ULDP),
  uwheel: form(utility("wheel"), ULDP),
  upgr: form(utility("projective"), ULDP),
  urr: form(utility("response"), ULDP),
  uhr: form(utility("hadamard"), ULDP),
  utility: form({ utility: { base: ANY } }, ULDP),
  ussmix: form(
    { mixture: { first: utility("subset"), second: utility("subset whole") } },
    { size: "whole first.base.0.size", share: "share coin", sensitive: "same protected", theta: "chance" },
  ),
  "uue-levels": form("utility-levels", {
    item_epsilon: "budgets s",
    sensitive: "same sensitive",
    flip: "chance",
    theta: "chance",
  }),
  pldp: form({ personal: { data: DATA, level: LEVEL } }, LEVELS),
  upldp: form(
    { personal: { data: { utility: { base: DATA } }, level: LEVEL } },
    { ...LEVELS, sensitive: "same protected", disclosure: "word common own capped" },
  ),
  "kv-ss2": pairs(oneOf("subset interval"), { size: "whole base.size", ...CODED }),
  "kv-ss": pairs(two("subset interval", "signed-subset signed-interval"), {
    mix: "chance",
    key_size: "whole base.first.base.size|",
    size: "whole base.second.size|base.size",
    ...CODED,
  }),
  "kv-mix": pairs(two("unary", "signed-unary"), { mix: "chance" }),
  "kv-lh": pairs(oneOf("signed-hashing"), { g: "whole base.g" }),
  "kv-olh": pairs(oneOf("hashing"), { g: "whole base.g" }),
  "ks-ue": pairs(oneOf("signed-unary")),
  "pckv-ue": pairs(oneOf("signed-unary")),
  "pckv-grr": pairs(oneOf("response")),
  privkv: pairs(oneOf("one-key told-key"), { "key_epsilon?": "number", "told?": "same base.told" }),
};

/**
 * A design as parts, after its shape was checked: `FormatError` for anything that is not on the list above.
 * @param {unknown} document
 */
export function readDesign(document) {
  const given = fieldsOf(readDocument(document), "a design", FIELDS);
  const name = given.mechanism;
  if (typeof name !== "string" || !Object.hasOwn(FORMS, name)) {
    throw new FormatError(`mechanism ${show(name)} is unknown to this client.`, "Upgrade the client.");
  }
  return read(name, FORMS[name], given);
}

/** @param {string} name @param {Form} form @param {Record<string, any>} given @returns {Design} */
function read(name, form, given) {
  if (given.version !== VERSION) {
    throw new FormatError(`version ${show(given.version)} of ${name} is unknown; this client has ${VERSION}.`);
  }
  const epsilon = readEpsilon(given.epsilon, "epsilon");
  const kernel = asFormat(`the kernel of ${name} has numbers that do not fit`, () =>
    kernelFrom(given.kernel, form.kernel, `the kernel of ${name}`),
  );
  const domain = readDomain(given.domain, kernel.kind === "pairs" ? kernel.keys : kernel.k);
  checkParams(name, form, given, kernel);
  return { name, epsilon, domain, params: given.params, kernel };
}

/**
 * What `make` gives; a `ParameterError` of it is one of the document's format.
 * @template T
 * @param {string} told
 * @param {() => T} make
 */
export function asFormat(told, make) {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof ParameterError)) throw error;
    throw new FormatError(`${told}: ${error.message}`, error.hint, { cause: error });
  }
}

/** @param {any} given @param {string} where */
function readEpsilon(given, where) {
  if (!isNumber(given)) throw new FormatError(`${where} of a design must be a number, got ${show(given)}.`);
  return asFormat(`${where} of the design`, () => checkEpsilon(given));
}

/** Exactly the parameters of the form, each as the kernel has it. @param {string} name @param {Form} form @param {any} given @param {any} kernel */
function checkParams(name, form, given, kernel) {
  const [needed, optional] = [false, true].map((may) =>
    Object.keys(form.params).flatMap((param) => (param.endsWith("?") === may ? [param.replace("?", "")] : [])),
  );
  const params = fieldsOf(given.params, `params of ${name}`, needed, optional);
  for (const [param, rule] of Object.entries(form.params)) {
    const own = param.replace("?", "");
    if (!Object.hasOwn(params, own)) continue;
    const [check, ...words] = rule.split(" ");
    const told = CHECKS[check](params[own], words, kernel, given);
    if (told) throw new FormatError(`${own} of ${name} must be ${told}, got ${show(params[own])}.`);
  }
}

/** What a kernel has at a place such as `first.base.0.size`, if there is such a place. @param {any} kernel @param {string} path */
const at = (kernel, path) => path.split(".").reduce((part, step) => part?.[step], kernel);

/** The kernel itself, or the base of one that discloses. @param {any} kernel */
const inner = (kernel) => (kernel.kind === "utility" ? kernel.base[0] : kernel);

/** @type {Record<string, (value: any, words: string[], kernel: any, design: any) => string>} what it must be; empty if it is */
const CHECKS = {
  /** A whole number: that of the kernel at the first of several places that is there. */
  whole(value, [places], kernel) {
    const paths = places?.split("|") ?? [];
    const found = paths.filter((path) => path).map((path) => at(kernel, path)).find((number) => number !== undefined);
    if (!isWhole(value, 0, WORD - 1n) || (found !== undefined && BigInt(value) !== found)) {
      return found === undefined ? "a whole number" : `the kernel's ${found}`;
    }
    return paths.length && found === undefined && !paths.includes("") ? "a number that the kernel has" : "";
  },

  wholes: (value) => (isWholes(value) ? "" : "a list of whole numbers"),

  share(value, [path], kernel) {
    const threshold = at(kernel, path);
    const off = isNumber(value) && Math.abs(value) <= 1 ? BigInt(Math.trunc(value * 2 ** 64)) - threshold : WORD;
    return -NEAR <= off && off <= NEAR ? "" : `the kernel's ${Number(threshold) / 2 ** 64}`;
  },

  chance: (value) => (isNumber(value) && 0 <= value && value <= 1 ? "" : "a number from 0 to 1"),

  number: (value) => (isNumber(value) ? "" : "a number"),

  word: (value, words) => (words.includes(value) ? "" : `one of ${words.join(", ")}`),

  /** The very numbers of the kernel. */
  same(value, [path], kernel) {
    const found = at(kernel, path);
    return found && isWholes(value) && `${value.map(BigInt)}` === `${found}` ? "" : `the kernel's own numbers, ${show(found)}`;
  },

  range(value) {
    const fits = Array.isArray(value) && value.length === 2 && value.every(isNumber) && isNumber(value[1] - value[0]);
    return fits && value[0] < value[1] ? "" : "two numbers, the lower one first";
  },

  budgets(value, [path], kernel) {
    const count = at(kernel, path);
    if (!Array.isArray(value) || BigInt(value.length) !== count) return `a list of ${count} budgets`;
    value.forEach((number) => readEpsilon(number, "a budget"));
    return "";
  },

  /** Epsilon of a part, null if there is no such part: nothing is promised of what is not there. */
  budget(value, [path], kernel) {
    if (!at(kernel, path).length) return value === null ? "" : "null";
    readEpsilon(value, "level_epsilon");
    return "";
  },

  /** A level for each kernel, from the most protective on, the last one being the design's promise. */
  levels(value, [path], kernel, design) {
    const count = at(kernel, path).length;
    const told = `${count} numbers that rise, the most protective first, up to epsilon`;
    if (!Array.isArray(value) || value.length !== count || !value.every(isNumber)) return told;
    if (value.some((level, i) => level <= value[i - 1]) || value[count - 1] > design.epsilon) return told;
    value.forEach((number) => readEpsilon(number, "a level"));
    return "";
  },

  /** A word that goes with the kind of the kernels at a place, or of their bases. */
  kind(value, [path, ...words], kernel) {
    const means = new Map(words.map((word) => /** @type {[string, string]} */ (word.split(":"))));
    const found = [...new Set(at(kernel, path).map((/** @type {any} */ part) => inner(part).kind))].join() || "";
    return means.get(value) === found ? "" : `a word for kernels of kind ${found || "none"}`;
  },

  /** The range of hashing at all levels, or null for other kernels. */
  g(value, [path], kernel) {
    const found = inner(at(kernel, path)[0]).g;
    const fits = found === undefined ? value === null : isWhole(value, found, found);
    return fits ? "" : `the kernel's ${found ?? null}`;
  },

  /** The base by name and parameters, or by its whole design; null without one. */
  base(value, _, kernel, design) {
    const [own] = kernel.base;
    if (value === null || !own) {
      return value === null && !own ? "" : "null for fewer than two sensitive answers, and only then";
    }
    const whole = isMapping(value) && Object.hasOwn(value, "kernel");
    const given = fieldsOf(value, "base", whole ? FIELDS : ["mechanism", "params"]);
    const name = given.mechanism;
    const form = typeof name === "string" && Object.hasOwn(BASES, name) ? BASES[name] : undefined;
    if (!form || !Object.hasOwn(form.kernel, own.kind)) return `a mechanism that has a ${own.kind} kernel`;
    if (!whole) {
      checkParams(`base ${name}`, form, given, own);
      return "";
    }
    const made = read(name, form, given);
    const same = made.epsilon === design.epsilon && JSON.stringify(kernelTo(made.kernel)) === JSON.stringify(kernelTo(own));
    return same ? "" : "a design with the epsilon and the kernel of the base";
  },
};

/** @param {any} value */
const isWholes = (value) => Array.isArray(value) && value.every((each) => isWhole(each, 0, 2 ** 32));
