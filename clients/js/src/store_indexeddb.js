/**
 * A ledger in the browser's own database, safe for several tabs and sudden ends.
 *
 * @module
 */

import { DeniableError } from "./errors.js";
import { LedgerError } from "./ledger_errors.js";

const TABLE = "ledger";
const KEY = "state";

/** One database of this origin. */
export class BrowserStore {
  /** The site may erase it at any time, and nobody would know. */
  pauses = true;

  /** @param {string} name */
  constructor(name) {
    this.name = name;
  }

  /**
   * A step that others wait for, in other tabs too. What it leaves of the ledger is on the disk when this ends; if it
   * throws, nothing is changed.
   *
   * @template T
   * @param {(state: any) => T} step is given what the last one left, undefined at first, and returns [state, answer]
   * @returns {Promise<any>} the answer
   */
  async change(step) {
    const database = await this.#open();
    try {
      return await new Promise((resolve, reject) => {
        const transaction = database.transaction(TABLE, "readwrite", { durability: "strict" });
        const table = transaction.objectStore(TABLE);
        const found = table.get(KEY);
        /** @type {unknown} */
        let answer;
        /** @type {unknown} */
        let thrown = null;
        found.onsuccess = () => {
          try {
            const [state, given] = /** @type {any} */ (step(found.result));
            answer = given;
            table.put(state, KEY);
          } catch (error) {
            thrown = error;
            transaction.abort();
          }
        };
        transaction.oncomplete = () => resolve(answer);
        transaction.onabort = () => reject(thrown ?? transaction.error);
      });
    } catch (error) {
      throw this.#inWords(error);
    } finally {
      database.close();
    }
  }

  /** Ask the browser to keep it; it may ask the person, or refuse. */
  async persist() {
    try {
      await globalThis.navigator?.storage?.persist?.();
    } catch {
      // not here, such as in private windows: `persistent` tells
    }
  }

  /** @returns {Promise<boolean | null>} whether the browser keeps it when it needs room; null if nobody knows */
  async persistent() {
    try {
      return (await globalThis.navigator?.storage?.persisted?.()) ?? null;
    } catch {
      return null;
    }
  }

  /** @returns {Promise<IDBDatabase>} */
  #open() {
    return new Promise((resolve, reject) => {
      const fail = (/** @type {unknown} */ error) => reject(this.#inWords(error));
      try {
        const request = indexedDB.open(this.name, 1);
        request.onupgradeneeded = () => request.result.createObjectStore(TABLE);
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => fail(request.error);
      } catch (error) {
        fail(error);
      }
    });
  }

  /** @param {unknown} error @returns {unknown} */
  #inWords(error) {
    if (error instanceof DeniableError) return error;
    const full = error instanceof Error && error.name === "QuotaExceededError";
    const told = full ? "cannot grow: the storage is full" : `cannot be used (${error})`;
    const hint = full ? "Make room and try again." : "See whether this page may store data on this device.";
    return new LedgerError(`the ledger ${this.name} ${told}; nothing was spent or sent.`, hint);
  }
}
