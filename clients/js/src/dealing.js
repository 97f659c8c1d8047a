/** What tasks and designs of several parts share: how one is drawn, how much work all proofs may be, and in which part a fault is. */
import { DeniableError, FormatError } from "./errors.js";
import { below } from "./exact.js";

/** @import { Charge, Words } from "./types.js" */

/** The number of one of some shares, drawn by them: the first whose cumulated share is above a uniform number. @param {bigint[]} shares @param {Words} words */
export function dealt(shares, words) {
  let drawn = below(shares.reduce((sum, share) => sum + share), words);
  return shares.findIndex((share) => (drawn -= share) < 0n);
}

/** Steps of the proofs of a task's designs, or of the parts of a design, all together (docs/protocol.md, section 2). */
const STEPS_MAX = 2_000_000;

/** Counts steps before they are done, and refuses more than a device takes part in. @returns {Charge} */
export function counter() {
  let left = STEPS_MAX;
  return (steps) => {
    if ((left -= steps) >= 0) return;
    const told = `these designs need more than ${STEPS_MAX} steps to be proved, more than a device takes part in.`;
    throw new FormatError(told, "Ask fewer or smaller questions.");
  };
}

/** What `make` gives; an error says where it is. @template T @param {string} where @param {() => T} make */
export function within(where, make) {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof DeniableError)) throw error;
    const Kind = /** @type {new (message: string, hint: string, options: any) => DeniableError} */ (error.constructor);
    throw new Kind(`${where}: ${error.message}`, error.hint, { cause: error });
  }
}
