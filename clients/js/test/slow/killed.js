/**
 * A device that dies: `node killed.js FOLDER POINT HOW` answers and flushes, and is gone at the given point.
 *
 * Points are all calls that change files and all that send, one after the other, and the moments right after them. HOW is
 * `kill` (the process ends at once, no clean-up), `half` (a write has only half of its data, then the same) or `full` (the
 * call fails, since the disk is full). Prints how many points there were, if it lives.
 */

import * as files from "node:fs";
import { join } from "node:path";

import { Ledger } from "../../src/ledger.js";
import { FileStore } from "../../src/store_file.js";
import { Clock, task } from "../tasks.js";

const CHANGING = ["writeFileSync", "linkSync", "rmSync", "openSync", "fsyncSync", "closeSync", "renameSync"];

/** What a full disk does not prevent. */
const FREE = ["rmSync", "closeSync"];

/**
 * @param {string} folder
 * @param {number} point
 * @param {string} how
 * @param {string[]} [names] is told the calls
 */
export function device(folder, point, how, names = []) {
  let count = 0;
  const here = (/** @type {string} */ name) => {
    count += 1;
    names.push(name);
    return count === point;
  };
  const die = () => process.kill(process.pid, "SIGKILL");
  const faulty = Object.fromEntries(
    CHANGING.map((name) => [
      name,
      (/** @type {any[]} */ ...given) => {
        if (!(how === "full" && FREE.includes(name)) && here(name)) {
          if (how === "full") throw Object.assign(new Error("no space"), { code: "ENOSPC", syscall: name });
          if (how === "half" && name === "writeFileSync") files.writeFileSync(given[0], given[1].slice(0, given[1].length / 2), given[2]);
          die();
        }
        const answer = /** @type {any} */ (files)[name](...given);
        if (how === "kill" && here(`after ${name}`)) die();
        return answer;
      },
    ]),
  );
  const collector = join(folder, "collector");
  /** @type {any} */
  const fetch = async (/** @type {string} */ _, /** @type {any} */ { body }) => {
    if (here("send")) {
      if (how === "full") throw new TypeError("no network");
      die();
    }
    const [{ id, report }] = JSON.parse(body).reports;
    files.appendFileSync(collector, `${id} ${report}\n`);
    if (how === "kill" && here("after send")) die();
    return Response.json({ results: [{ id, status: "accepted" }] });
  };
  const store = new FileStore(join(folder, "ledger"), { fs: /** @type {any} */ ({ ...files, ...faulty }) });
  const clock = new Clock();
  return { ledger: new Ledger(store, { delay: 0, clock: clock.read }), fetch, clock };
}

/** @param {ReturnType<typeof device>} made @param {unknown} value */
export async function live({ ledger, fetch }, value) {
  await ledger.answer(asked(), value, { url: "http://127.0.0.1:1" }).catch((error) => {
    if (error.kind !== "WindowError") throw error; // it was sent before
  });
  await ledger.flush(null, { fetch });
}

/** One window, in which there is time for several attempts. */
export const asked = () => task({ window: { opens: "2026-11-16", days: 100, count: 1 } });

if (process.argv[1] === new URL(import.meta.url).pathname) {
  const [folder, point, how, value] = process.argv.slice(2);
  /** @type {string[]} */
  const names = [];
  await live(device(folder, Number(point), how, names), value);
  console.log(JSON.stringify(names));
}
