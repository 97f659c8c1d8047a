/**
 * The other half of tests/fuzz/clients.py: reads designs with values and words, one JSON document a line, and answers with
 * what this client makes of them. `node differential.js [FOLDER OF src]`
 */
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const folder = process.argv[2] ? pathToFileURL(`${process.argv[2]}/`) : new URL("../src/", import.meta.url);
const { Device, explain } = await import(new URL("index.js", folder).href);
const { split64 } = await import(new URL("hashing.js", folder).href);

const WORDS_MAX = 1 << 21;

/** Given words first, then those of a splitmix64; remembers how many were used. */
class Drawn {
  bits = 64;
  used = 0;

  /** @param {string} seed @param {string[]} first */
  constructor(seed, first) {
    this.seed = BigInt(seed);
    this.first = first.map(BigInt);
  }

  word() {
    if (++this.used > WORDS_MAX) throw new Error("no end of words");
    return this.first[this.used - 1] ?? split64(this.seed, BigInt(this.used - this.first.length));
  }
}

/** @param {any} part values that JSON has no number for */
const value = (part) => (part?.odd ? Number(part.odd) : part);

/** @template T @param {() => T} make @returns {T | {error: string}} */
function tried(make) {
  try {
    return make();
  } catch (error) {
    const { kind } = /** @type {any} */ (error);
    return { error: kind ?? `raw: ${/** @type {any} */ (error)?.stack ?? error}` };
  }
}

/** @param {any} job */
function answered({ design, harmless, stand_in, cases }) {
  const told = tried(() => {
    const found = explain(design);
    const { text, epsilon, chance, harmless: open } = found;
    return { text, over: found.over(9).text, epsilon, chance: `${chance.top}/${chance.bottom}`, harmless: open };
  });
  const options = { harmless, ...(stand_in === undefined ? {} : { standIn: value(stand_in) }) };
  const device = tried(() => new Device(design, options));
  if (device.error) return { told, error: device.error };
  const reports = cases.map((/** @type {any} */ { value: given, level, coin, seed, first }) => {
    const words = new Drawn(seed, first);
    const report = tried(() =>
      device.report(value(given), { words, level: value(level), coin: coin === null ? undefined : BigInt(coin) }),
    );
    return report.error ?? `${Buffer.from(report).toString("hex")} ${words.used}`;
  });
  return { told, width: device.kernel.width, reports };
}

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(answered(JSON.parse(line)))}\n`);
}
