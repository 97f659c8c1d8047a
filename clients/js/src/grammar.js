/**
 * The grammar of designs: a device believes no number before the document has the shape that its mechanism's name allows.
 * The allow-list, `FORMS`, stands beside the kernels; how parameters and kernel hang together (`CHECKS`) here and there.
 */
import { fieldsOf, isNumber, isWhole, readDocument } from "./documents.js";
import { readDomain } from "./domains.js";
import { FormatError, ParameterError, show } from "./errors.js";
import { WORD, checkEpsilon } from "./exact.js";
import { CHECKS, FORMS, kernelFrom } from "./kernels/contract.js";

/** @typedef {import("./kernels/contract.js").Form} Form */
/**
 * A design that has the shape that it should have: nothing more is known of its numbers.
 * @typedef {{
 *   name: string, epsilon: number, domain: import("./domains.js").Domain, params: Record<string, any>, kernel: any,
 * }} Design
 */

export const FIELDS = ["mechanism", "version", "epsilon", "domain", "params", "kernel"];
const VERSION = 1;
/** How far a threshold may be from the probability that a parameter says, as a float, in 2**-64. */
const NEAR = 1n << 34n;

/**
 * A design as parts, after its shape was checked: `FormatError` for anything that is not on the list above.
 * @param {unknown} document
 */
export function readDesign(document) {
  const given = fieldsOf(readDocument(document), "a design", FIELDS);
  const name = given.mechanism;
  const form = FORMS.get(name);
  if (form) return read(name, form, given);
  throw new FormatError(`mechanism ${show(name)} is unknown to this client.`, "Upgrade the client, or use deviceFor of load.js.");
}

/** @param {string} name @param {Form} form @param {Record<string, any>} given @returns {Design} */
export function read(name, form, given) {
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
 * @template T @param {string} told @param {() => T} make
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
export function readEpsilon(given, where) {
  if (!isNumber(given)) throw new FormatError(`${where} of a design must be a number, got ${show(given)}.`);
  return asFormat(`${where} of the design`, () => checkEpsilon(given));
}

/** Exactly the parameters of the form, each as the kernel has it. @param {string} name @param {Form} form @param {any} given @param {any} kernel */
export function checkParams(name, form, given, kernel) {
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

/** What a parameter must be, with the words of its rule; empty if it is that. @type {typeof CHECKS} */
const own = {
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

};

/** @param {any} value */
const isWholes = (value) => Array.isArray(value) && value.every((each) => isWhole(each, 0, 2 ** 32));

Object.assign(CHECKS, own);
