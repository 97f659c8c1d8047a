/**
 * One spelling of a JSON document (RFC 8785), so that all clients hash it alike, and the strict way to read one.
 *
 * @module
 */

import { readDocument } from "./designs.js";
import { FormatError, show } from "./errors.js";
import { hex, sha256 } from "./sha256.js";

/** Of a document that is read. */
const BYTES_MAX = 2 ** 24;

/** No document may be nested deeper than `readDocument` allows; this is what the reader itself can take. */
const NESTED_MAX = 64;

const LONE = /\p{Surrogate}/u;
const SPACE = /[ \t\n\r]*/y;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?/y;
// eslint-disable-next-line no-control-regex
const PLAIN = /[^"\\\u0000-\u001f]*/y;
const CODE = /[0-9a-fA-F]{4}/y;
/** @type {Record<string, unknown>} */
const WORDS = { t: true, f: false, n: null };
/** @type {Record<string, string>} */
const ESCAPES = { '"': '"', "\\": "\\", "/": "/", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };

/**
 * The canonical form: no white space, names sorted by UTF-16 units, numbers as ECMAScript writes them.
 *
 * @param {unknown} part
 * @returns {Uint8Array}
 */
export const canonical = (part) => new TextEncoder().encode(textOf(part, 0));

/** @param {unknown} part @param {number} depth @returns {string} */
function textOf(part, depth) {
  if (depth > NESTED_MAX) throw new FormatError("a document is nested too deep.");
  if (Array.isArray(part)) return `[${Array.from(part, (each) => textOf(each, depth + 1)).join(",")}]`;
  if (typeof part === "object" && part !== null) {
    const given = /** @type {Record<string, unknown>} */ (part);
    const names = Object.keys(given).sort();
    return `{${names.map((name) => `${textOf(name, 0)}:${textOf(given[name], depth + 1)}`).join(",")}}`;
  }
  if (typeof part === "string" && LONE.test(part)) {
    throw new FormatError(`a text cannot be stored as UTF-8: ${show(part)}.`);
  }
  const plain = part === null || typeof part === "string" || typeof part === "boolean" || Number.isFinite(part);
  if (!plain) throw new FormatError(`a document cannot have ${show(part)}.`, "Use texts, finite numbers, lists.");
  return JSON.stringify(part);
}

/** @param {unknown} document @returns {string} lower-case hex SHA-256 of the canonical form */
export const digest = (document) => hex(sha256(canonical(document)));

/**
 * A document from its bytes; `FormatError` for what RFC 8785 cannot write.
 *
 * @param {Uint8Array | string} data
 * @param {string} [what]
 * @param {number} [most] bytes
 * @returns {Record<string, any>}
 */
export function parse(data, what = "the document", most = BYTES_MAX) {
  const size = typeof data === "string" && data.length <= most ? new TextEncoder().encode(data).length : data.length;
  if (size > most) throw new FormatError(`${what} has more than ${most} bytes.`);
  let text = data;
  if (typeof text !== "string") {
    try {
      text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(text);
    } catch {
      throw new FormatError(`${what} is not JSON in UTF-8.`);
    }
  }
  return readDocument(new Reader(text, what).document(), what);
}

/** `JSON.parse` forgets names that appear twice, and takes 1e400 for a number: this one does not. */
class Reader {
  /** @param {string} text @param {string} what */
  constructor(text, what) {
    this.text = text;
    this.what = what;
    this.at = 0;
  }

  /** @returns {unknown} */
  document() {
    this.skip(SPACE);
    const found = this.value(1);
    if (this.at < this.text.length) this.fail();
    return found;
  }

  /** @param {string} [why] @returns {never} */
  fail(why = "is not JSON in UTF-8") {
    throw new FormatError(`${this.what} ${why}: at character ${this.at + 1}.`);
  }

  /** @param {RegExp} sticky @returns {string} what stands here */
  skip(sticky) {
    sticky.lastIndex = this.at;
    const found = sticky.exec(this.text)?.[0] ?? this.fail();
    this.at += found.length;
    return found;
  }

  /** @param {string} sign @returns {boolean} whether it stood here, and white space after it */
  sign(sign) {
    if (this.text[this.at] !== sign) return false;
    this.at += 1;
    this.skip(SPACE);
    return true;
  }

  /** @param {number} depth @returns {unknown} a value, and white space after it */
  value(depth) {
    if (depth > NESTED_MAX) this.fail("is nested too deep");
    if (this.sign("{")) return this.mapping(depth + 1);
    if (this.sign("[")) return this.list(depth + 1);
    const sign = this.text[this.at];
    const found = sign === '"' ? this.string() : Object.hasOwn(WORDS, sign ?? "") ? this.word(sign) : this.number();
    this.skip(SPACE);
    return found;
  }

  /** @param {string} sign */
  word(sign) {
    const word = String(WORDS[sign]);
    if (!this.text.startsWith(word, this.at)) this.fail();
    this.at += word.length;
    return WORDS[sign];
  }

  number() {
    const value = Number(this.skip(NUMBER));
    if (!Number.isFinite(value)) this.fail("has a number that is too large");
    return value === 0 ? 0 : value; // there is no -0
  }

  string() {
    let found = "";
    for (this.at += 1; ; ) {
      found += this.skip(PLAIN);
      const sign = this.text[this.at];
      this.at += 1;
      if (sign === '"') return found;
      if (sign !== "\\") this.fail();
      found += this.escape();
    }
  }

  escape() {
    const sign = this.text[this.at] ?? "";
    this.at += 1;
    if (sign === "u") return String.fromCharCode(parseInt(this.skip(CODE), 16));
    return Object.hasOwn(ESCAPES, sign) ? ESCAPES[sign] : this.fail();
  }

  /** @param {number} depth */
  list(depth) {
    /** @type {unknown[]} */
    const found = [];
    if (this.sign("]")) return found;
    do found.push(this.value(depth));
    while (this.sign(","));
    return this.sign("]") ? found : this.fail();
  }

  /** @param {number} depth */
  mapping(depth) {
    /** @type {Record<string, unknown>} */
    const found = Object.create(null);
    if (this.sign("}")) return found;
    do {
      if (this.text[this.at] !== '"') this.fail();
      const name = this.string();
      this.skip(SPACE);
      if (!this.sign(":")) this.fail();
      if (name in found) this.fail("has a name twice, so that readers may take one for the other");
      found[name] = this.value(depth);
    } while (this.sign(","));
    return this.sign("}") ? found : this.fail();
  }
}
