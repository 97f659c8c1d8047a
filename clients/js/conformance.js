/**
 * This client as a program that answers the questions of `deniable conformance`: a JSON object a line in, one out.
 *
 *     deniable conformance "node clients/js/conformance.js"
 *
 * An example for clients in other languages; docs/howto/conformance.md tells what each question means.
 */
import { createInterface } from "node:readline";

import { canonical, parse } from "./src/canonical.js";
import { checkPromise, kernelFrom } from "./src/designs.js";
import { bitsWidth, expLow, packBits, packInt, uintWidth } from "./src/exact.js";
import { reduced } from "./src/explain.js";
import { bucket, hash32 } from "./src/hashing.js";
import { Device, ReplayWords, explain } from "./src/index.js";
import { Source } from "./src/memory.js";
import { textFault } from "./src/printing.js";
import { verified } from "./src/signing.js";
import { Task } from "./src/task.js";
import { alphabetOf, labelsFault } from "./src/texts.js";

/** Words given beforehand that count how many were used. */
class Counted extends ReplayWords {
  used = 0;
  word() {
    this.used += 1;
    return super.word();
  }
}

/** @param {Uint8Array} data */
const hex = (data) => Buffer.from(data).toString("hex");
/** @param {string} text */
const bytes = (text) => Uint8Array.from(Buffer.from(text, "hex"));
/** @param {string[]} words */
const replayed = (words) => new Counted(words.map((word) => BigInt(`0x${word}`)));
/** @param {any} ratio */
const fraction = (ratio) => {
  const { top, bottom } = reduced(ratio);
  return [`${top}`, `${bottom}`];
};
/** The bytes of a document. @param {any} ask */
const content = ({ text, base64 }) => (base64 === undefined ? new TextEncoder().encode(text) : Uint8Array.from(Buffer.from(base64, "base64")));
/** @param {any} value */
const plain = (value) => JSON.parse(JSON.stringify(value, (_, part) => (typeof part === "bigint" ? Number(part) : part)));

/** @type {Record<string, (ask: any) => any>} */
const ANSWERS = {
  bits: ({ k, items }) => ({ bytes: hex(packBits(items, BigInt(k))), width: bitsWidth(BigInt(k)) }),
  integer({ value, count }) {
    const width = uintWidth(BigInt(count));
    return { bytes: hex(packInt(BigInt(value), width)), width };
  },
  hash({ seed, item, parts }) {
    const number = BigInt(`0x${seed}`);
    const buckets = parts.map((/** @type {string} */ g) => Number(bucket(number, BigInt(item), BigInt(g))));
    return { hash: Number(hash32(number, BigInt(item))), buckets };
  },
  bound: ({ epsilon }) => ({ low: fraction(expLow(epsilon)) }),
  kernel({ kernel: document }) {
    const kernel = kernelFrom(document);
    return { width: kernel.width, ratio: fraction(kernel.promisedRatio) };
  },
  judge({ kernel: document, epsilon, budgets }) {
    const kernel = kernelFrom(document);
    checkPromise(kernel, expLow(epsilon), epsilon);
    if (budgets || kernel.kind === "channel") kernel.checkPromises({ item_epsilon: budgets });
    return { kept: true };
  },
  randomise({ kernel: document, value, pairs, level, words }) {
    const replay = replayed(words);
    const given = pairs ? pairs.map((/** @type {any} */ [k, v]) => [k, Number(v)]) : Array.isArray(value) ? value : BigInt(value);
    return { report: hex(kernelFrom(document).randomise(given, replay, level)), used: replay.used };
  },
  deal: ({ kernel, words }) => ({ part: kernelFrom(kernel).deal(replayed(words)) }),
  frame: ({ kernel, part, report }) => ({ framed: hex(kernelFrom(kernel).frame(part, bytes(report))) }),
  number({ bits }) {
    const view = new DataView(new ArrayBuffer(8));
    view.setBigUint64(0, BigInt(`0x${bits}`));
    return { canonical: new TextDecoder().decode(canonical(view.getFloat64(0))) };
  },
  canonical: (ask) => ({ canonical: new TextDecoder().decode(canonical(parse(content(ask)))) }),
  signature: ({ key, message, signature }) => ({ holds: verified(bytes(key), bytes(message), bytes(signature)) }),
  design({ design, harmless }) {
    const device = new Device(design, { harmless });
    return { width: device.kernel.width, epsilon: device.epsilon };
  },
  explain({ design }) {
    const found = explain(design);
    return { text: found.text, several: found.over(12).text };
  },
  text: ({ text }) => ({ fault: textFault(text), prose: textFault(text, true) }),
  labels: ({ labels }) => ({ fault: labelsFault(labels), keys: labels.map((/** @type {string} */ each) => alphabetOf([each]).skeleton(each)) }),
  task(ask) {
    const { id, width, questionAt, strataAt, expires, questions } = Task.load(content(ask));
    return { id, width, question_at: questionAt, strata_at: strataAt, expires, questions: questions.map(({ key }) => key) };
  },
  window: (ask) => ({ window: Task.load(content(ask)).window(ask.today) }),
  report({ secret, harmless, question, value, level, window, strata, ...ask }) {
    const [source, task] = [new Source(bytes(secret), true), Task.load(content(ask))];
    const asked = task.question(question);
    const device = asked.device(harmless);
    const { answer } = asked.answer(device, value, source.words("none", { task: task.id, window }));
    const told = { question: asked.key, answer: plain(answer), level, round: [task.id, window] };
    const words = source.words("report", told);
    const report = device.randomise(answer, { words, level: level === null ? undefined : device.levels[level] });
    return { answer: plain(answer), key: hex(source.digest("report", told)), report: hex(report), body: hex(task.body(asked, report, strata)), id: source.reportId(task.id, window) };
  },
  dealt({ secret, ...ask }) {
    const task = Task.load(content(ask));
    return { question: task.deal(new Source(bytes(secret), true).words("deal", { task: task.id })).name };
  },
};

/** @param {any} ask */
function answer({ n, do: what, ...ask }) {
  const known = Object.hasOwn(ANSWERS, what) ? ANSWERS[what] : undefined;
  if (!known) return { n, error: "unsupported" };
  try {
    return { n, ...known(ask) };
  } catch (error) {
    return { n, error: /** @type {any} */ (error).kind ?? `${error}` };
  }
}

for await (const line of createInterface({ input: process.stdin })) process.stdout.write(`${JSON.stringify(answer(JSON.parse(line)))}\n`);
