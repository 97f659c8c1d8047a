/**
 * A ledger in a file, for Node: written anew as a whole for each step, safe for several processes and sudden ends.
 *
 * A step holds a lock, reads the file, and writes a new one beside it, which takes its place once it is on the disk. So
 * there is the old ledger or the new one, at any moment, and nothing is left of what was erased.
 *
 * No update is lost, even if a lock was taken from an owner that only seemed dead: the new file is there before the ledger is
 * read, and whoever has the lock removes those of all others before it reads, so that theirs cannot take the ledger's place.
 *
 * @module
 */

import { createHash, randomBytes } from "node:crypto";
import * as files from "node:fs";
import { hostname } from "node:os";
import { basename, dirname, join } from "node:path";

import { damaged } from "./book.js";
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

/** A lock whose owner cannot be seen from here is respected so long, in milliseconds; steps take far less. */
const LEASE = 60_000;

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
      const { release, fresh, owned } = await this.#lock(`${this.path}.lock`);
      /** @type {number | undefined} */
      let file;
      try {
        file = this.fs.openSync(fresh, "wx", 0o600);
        this.#removeOthers(fresh);
        if (!owned()) throw this.#busy(`${this.path}.lock`);
        const before = this.#read();
        const [state, answer] = /** @type {any} */ (step(parsed(before)));
        const after = JSON.stringify(state);
        if (after !== before) {
          this.#write(file, after);
          this.#replace(fresh);
          written = true;
          this.#synchronise();
        }
        return answer;
      } finally {
        if (file !== undefined) this.fs.closeSync(file);
        this.fs.rmSync(fresh, { force: true });
        release();
      }
    } catch (error) {
      throw this.#inWords(error, written);
    }
  }

  /** @returns {string | undefined} what the last step left */
  #read() {
    const { fs, path } = this;
    if (!fs.existsSync(path)) return undefined;
    const [first, second] = fs.readFileSync(path, "utf8").split("\n");
    return second && first === checksum(second) ? second : first; // a ledger of version 1 has two lines
  }

  /** @param {string} own the new files of others, who lost the lock or died, cannot take the ledger's place any more */
  #removeOthers(own) {
    const { fs, path } = this;
    const start = `${basename(path)}.new.`;
    for (const name of fs.readdirSync(dirname(path))) {
      const found = join(dirname(path), name);
      if (name.startsWith(start) && name !== basename(own)) fs.rmSync(found, { force: true });
    }
  }

  /** @param {number} file @param {string} text */
  #write(file, text) {
    this.fs.writeFileSync(file, `${text}\n`);
    this.fs.fsyncSync(file);
  }

  /** @param {string} fresh */
  #replace(fresh) {
    try {
      this.fs.renameSync(fresh, this.path);
    } catch (error) {
      throw codeOf(error) === "ENOENT" ? this.#busy(`${this.path}.lock`) : error; // whoever took the lock removed it
    }
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
   * @returns {Promise<{release: () => void, fresh: string, owned: () => boolean}>} gives it back; the name of the file that
   *   takes the ledger's place; whether nobody took the lock
   */
  async #lock(lock) {
    const { fs } = this;
    const own = owner(fs, process.pid);
    const nonce = `${process.pid}.${randomBytes(6).toString("hex")}`;
    const card = `${lock}.${nonce}`;
    const text = JSON.stringify({ ...own, nonce });
    const owned = () => textOf(fs, lock) === text;
    const until = Date.now() + this.patience * 1000;
    try {
      for (;;) {
        fs.writeFileSync(card, text, { mode: 0o600 }); // its time is the lock's
        try {
          fs.linkSync(card, lock);
          const release = () => owned() && fs.rmSync(lock, { force: true });
          return { release, fresh: `${this.path}.new.${nonce}`, owned };
        } catch (error) {
          if (codeOf(error) !== "EEXIST") throw error;
        }
        const held = textOf(fs, lock);
        if (held !== null && dead(fs, held, own, ageOf(fs, lock, card))) {
          const { release } = await this.#lock(`${lock}.lock`);
          if (textOf(fs, lock) === held) fs.rmSync(lock, { force: true });
          release();
        } else if (Date.now() > until) {
          throw this.#busy(lock);
        } else {
          await new Promise((resolve) => setTimeout(resolve, PAUSE * Math.random()));
        }
      }
    } finally {
      fs.rmSync(card, { force: true });
    }
  }

  /** @param {string} lock */
  #busy(lock) {
    return new LedgerError(
      `the ledger ${this.path} is in use by another program; nothing was spent or sent.`,
      `Try again in a moment. If no program uses it, remove ${lock}.`,
    );
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

/** @param {string | undefined} text */
function parsed(text) {
  try {
    return text === undefined ? text : JSON.parse(text);
  } catch (cause) {
    throw damaged({ cause });
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
 * What tells a process from all others, also from those before the machine was started, later ones of its number, and those of
 * other containers, which have numbers of their own.
 *
 * @param {Files} fs
 * @param {number} pid
 */
function owner(fs, pid) {
  const linux = process.platform === "linux";
  const boot = linux ? textOf(fs, "/proc/sys/kernel/random/boot_id") : null;
  const stat = linux ? textOf(fs, `/proc/${pid}/stat`) : null;
  const space = linux ? fs.readlinkSync("/proc/self/ns/pid") : null;
  return { pid, host: hostname(), boot, space, start: stat && stat.slice(stat.lastIndexOf(")")).split(" ")[20] };
}

/** @param {Files} fs @param {string} lock @param {string} card a file that was written now @returns {number} milliseconds, by the disk's clock */
function ageOf(fs, lock, card) {
  try {
    return fs.statSync(card).mtimeMs - fs.statSync(lock).mtimeMs;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return 0; // it was given back meanwhile
    throw error;
  }
}

/** @param {Files} fs @param {string} held @param {ReturnType<typeof owner>} own @param {number} age whether the owner is no more */
function dead(fs, held, own, age) {
  let other;
  try {
    other = JSON.parse(held);
  } catch {
    return true; // it has its content from the first moment on: the machine lost power
  }
  const near = ["host", "boot", "space"].every((name) => other?.[name] === /** @type {any} */ (own)[name]);
  if (!near) return age > LEASE; // its number means nothing here
  try {
    process.kill(other.pid, 0);
  } catch (error) {
    return codeOf(error) === "ESRCH";
  }
  return owner(fs, other.pid).start !== other.start;
}
