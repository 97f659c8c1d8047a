/**
 * A ledger in a file, for Node: written anew as a whole for each step, safe for several processes and sudden ends.
 *
 * A step holds a lock, reads the file, and writes a new one beside it, which takes its place once it is on the disk. So
 * there is the old ledger or the new one, at any moment, and nothing is left of what was erased.
 *
 * @module
 */

import { createHash, randomBytes } from "node:crypto";
import * as files from "node:fs";
import { hostname } from "node:os";
import { dirname } from "node:path";

import { LedgerError } from "./ledger_errors.js";

/** @typedef {typeof import("node:fs")} Files */

/** @type {Record<string, [string, string]>} what an error of the system means */
const WORDS = {
  ENOSPC: ["cannot grow: the disk is full", "Make room and try again."],
  EDQUOT: ["cannot grow: the disk is full", "Make room and try again."],
  EACCES: ["must not be written", "Allow whoever runs this to write the file and its folder."],
  EPERM: ["must not be written", "Allow whoever runs this to write the file and its folder."],
  EROFS: ["must not be written", "Name a file on a disk that can be written."],
  ENOENT: ["cannot be opened", "See that its folder is there."],
  EIO: ["could not be read or written by the disk", "See whether the disk is damaged."],
};
const PAUSE = 20;

/** One file. */
export class FileStore {
  /**
   * @param {string} path
   * @param {{patience?: number, fs?: Files}} [options] `patience`: seconds to wait for another process
   */
  constructor(path, { patience = 10, fs = files } = {}) {
    this.path = path;
    this.patience = patience;
    this.fs = fs;
  }

  /**
   * A step that others wait for. What it leaves of the ledger is on the disk when this ends; if it throws, nothing is
   * changed.
   *
   * @template T
   * @param {(state: any) => T} step is given what the last one left, undefined at first, and returns [state, answer]
   * @returns {Promise<any>} the answer
   */
  async change(step) {
    let written = false;
    try {
      const release = await this.#lock(`${this.path}.lock`);
      try {
        const before = this.#read();
        const [state, answer] = /** @type {any} */ (step(before && JSON.parse(before)));
        const after = JSON.stringify(state);
        if (after !== before) {
          this.#write(after);
          written = true;
          this.#synchronise();
        }
        return answer;
      } finally {
        release();
      }
    } catch (error) {
      throw this.#inWords(error, written);
    }
  }

  /** @returns {string | undefined} */
  #read() {
    const { fs, path } = this;
    if (!fs.existsSync(path)) return undefined;
    const [sum, text] = fs.readFileSync(path, "utf8").split("\n");
    if (text && sum === checksum(text)) return text;
    throw new LedgerError(
      `${path} is damaged, or is not a ledger; nothing was spent or sent.`,
      "Restore it from a backup. A new ledger would not know what was spent.",
    );
  }

  /** @param {string} text */
  #write(text) {
    const { fs, path } = this;
    const fresh = `${path}.new`;
    const file = fs.openSync(fresh, "w", 0o600);
    try {
      fs.writeFileSync(file, `${checksum(text)}\n${text}\n`);
      fs.fsyncSync(file);
    } catch (error) {
      fs.rmSync(fresh, { force: true });
      throw error;
    } finally {
      fs.closeSync(file);
    }
    fs.renameSync(fresh, path);
  }

  /** The new file is there after a loss of power, too. */
  #synchronise() {
    if (process.platform === "win32") return; // folders cannot be synchronised there
    const { fs } = this;
    const folder = fs.openSync(dirname(this.path), "r");
    try {
      fs.fsyncSync(folder);
    } finally {
      fs.closeSync(folder);
    }
  }

  /**
   * A file that names its owner is there as long as a process has the lock. If the owner is dead, the one who has the
   * lock of the lock removes it: nobody else may, so that no living owner's is taken away.
   *
   * @param {string} lock
   * @returns {Promise<() => void>} gives it back
   */
  async #lock(lock) {
    const { fs } = this;
    const own = owner(fs, process.pid);
    const card = `${lock}.${process.pid}.${randomBytes(6).toString("hex")}`;
    const until = Date.now() + this.patience * 1000;
    fs.writeFileSync(card, JSON.stringify({ ...own, nonce: card }), { flag: "wx", mode: 0o600 });
    try {
      for (;;) {
        try {
          fs.linkSync(card, lock);
          return () => fs.rmSync(lock, { force: true });
        } catch (error) {
          if (codeOf(error) !== "EEXIST") throw error;
        }
        const held = textOf(fs, lock);
        if (held !== null && dead(fs, held, own)) {
          const release = await this.#lock(`${lock}.lock`);
          if (textOf(fs, lock) === held) fs.rmSync(lock, { force: true });
          release();
        } else if (Date.now() > until) {
          throw new LedgerError(
            `the ledger ${this.path} is in use by another program; nothing was spent or sent.`,
            `Try again in a moment. If no program uses it, remove ${lock}.`,
          );
        } else {
          await new Promise((resolve) => setTimeout(resolve, PAUSE * Math.random()));
        }
      }
    } finally {
      fs.rmSync(card, { force: true });
    }
  }

  /** @param {unknown} error @param {boolean} written @returns {unknown} */
  #inWords(error, written) {
    const code = codeOf(error);
    if (code === undefined) return error;
    const [told, hint] = WORDS[code] ?? [`cannot be used (${code})`, "See whether its disk and folder are in order."];
    const state = written ? "this step is written down, but perhaps not for good" : "nothing was spent or sent";
    return new LedgerError(`the ledger ${this.path} ${told}; ${state}.`, hint);
  }
}

/** @param {string} text */
const checksum = (text) => createHash("sha256").update(text).digest("hex");

/** @param {unknown} error @returns {string | undefined} the code of an error of the system */
const codeOf = (error) =>
  error instanceof Error && "syscall" in error && "code" in error ? String(error.code) : undefined;

/** @param {Files} fs @param {string} path @returns {string | null} */
function textOf(fs, path) {
  try {
    return fs.readFileSync(path, "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return null;
    throw error;
  }
}

/**
 * What tells a process from all others, also from those before the machine was started and later ones of its number.
 *
 * @param {Files} fs
 * @param {number} pid
 */
function owner(fs, pid) {
  const boot = process.platform === "linux" ? textOf(fs, "/proc/sys/kernel/random/boot_id") : null;
  const stat = process.platform === "linux" ? textOf(fs, `/proc/${pid}/stat`) : null;
  return { pid, host: hostname(), boot, start: stat && stat.slice(stat.lastIndexOf(")")).split(" ")[20] };
}

/** @param {Files} fs @param {string} held @param {ReturnType<typeof owner>} own whether the owner is no more */
function dead(fs, held, own) {
  let other;
  try {
    other = JSON.parse(held);
  } catch {
    return true; // it has its content from the first moment on: the machine lost power
  }
  if (other.host !== own.host) return false; // nobody can tell
  if (other.boot !== own.boot) return true;
  try {
    process.kill(other.pid, 0);
  } catch (error) {
    return codeOf(error) === "ESRCH";
  }
  return owner(fs, other.pid).start !== other.start;
}
