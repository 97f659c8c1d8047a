/**
 * What a ledger derives from a secret, or draws and keeps: words of reports, ids, the question that is dealt.
 *
 * @module
 */

import { canonical } from "./canonical.js";
import { EntropyError, ParameterError, show } from "./errors.js";
import { SystemWords, webCrypto } from "./exact.js";
import { hex, hmac } from "./sha256.js";

/** @import { Words } from "./types.js" */

const SECRET_LEAST = 32;
const ID_BYTES = 16;

/** 64-bit words from a key: HMAC-SHA-256 of a counter, four words each. */
export class DerivedWords {
  bits = 64;
  #counter = 0n;
  /** @type {bigint[]} */
  #left = [];
  #hmac;

  /** @param {Uint8Array} key */
  constructor(key) {
    this.#hmac = hmac(key);
  }

  /** The next word. */
  word() {
    if (!this.#left.length) {
      const counter = new DataView(new ArrayBuffer(8));
      counter.setBigUint64(0, this.#counter++);
      const block = new DataView(this.#hmac(new Uint8Array(counter.buffer)).buffer);
      this.#left = [24, 16, 8, 0].map((place) => block.getBigUint64(place));
    }
    return /** @type {bigint} */ (this.#left.pop());
  }
}

/** Where a ledger's randomness comes from: the system, and the ledger keeps it; or all follows from a secret. */
export class Source {
  #hmac;

  /**
   * @param {Uint8Array} key of the digests, and of everything else if it is a secret
   * @param {boolean} derived
   */
  constructor(key, derived) {
    this.#hmac = hmac(key);
    this.derived = derived;
  }

  /**
   * What a ledger knows something by that it does not keep itself.
   *
   * @param {string} what
   * @param {object} content
   */
  digest(what, content) {
    const name = new TextEncoder().encode(`deniable/1 ${what}\0`);
    const text = canonical(content);
    const message = new Uint8Array(name.length + text.length);
    message.set(name);
    message.set(text, name.length);
    return this.#hmac(message);
  }

  /** What all of a ledger is recognised by. @param {string} text */
  tag(text) {
    return hex(this.#hmac(new TextEncoder().encode(`deniable/2 ledger\0${text}`)));
  }

  /** @param {string} what @param {object} content @returns {Words} */
  words(what, content) {
    return this.derived ? new DerivedWords(this.digest(what, content)) : new SystemWords();
  }

  /** @param {string} task @param {number} window the id of the report of a window */
  reportId(task, window) {
    return hex(this.derived ? this.digest("id", { task, window }).slice(0, ID_BYTES) : randomBytes(ID_BYTES));
  }
}

/** @param {any} secret @returns {Uint8Array} a secret, if it is one */
export function checkedSecret(secret) {
  if (secret instanceof Uint8Array && secret.length >= SECRET_LEAST) return secret.slice();
  const got = secret instanceof Uint8Array ? `${secret.length} bytes` : show(typeof secret);
  throw new ParameterError(
    `secret must be at least ${SECRET_LEAST} random bytes, got ${got}.`,
    "Make it once: crypto.getRandomValues(new Uint8Array(32)).",
  );
}

/** @param {number} count bytes of the system; `EntropyError` if it has none */
export function randomBytes(count) {
  try {
    return webCrypto.getRandomValues(new Uint8Array(count));
  } catch (cause) {
    throw new EntropyError("the system gave no randomness; nothing was spent or sent.", "", { cause });
  }
}

/** @param {number} most @returns {number} uniform on 0 to `most`, in steps of 2**-32 of it */
export const upTo = (most) => {
  const [word] = new Uint32Array(randomBytes(4).buffer);
  return (most * word) / (2 ** 32 - 1);
};
