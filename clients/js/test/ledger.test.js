import assert from "node:assert/strict";
import { readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { webCrypto } from "../src/exact.js";
import { Ledger } from "../src/ledger.js";
import { DerivedWords, Source } from "../src/memory.js";
import { hex, sha256 } from "../src/sha256.js";
import { Task } from "../src/task.js";
import { firstMoment, laterMoment } from "../src/windows.js";
import { COIN, Clock, Collector, FastStore, MemoryStore, folder, keyOf, kindOf, made, oldQuestion, oldTask, question, several, task, vectors } from "./tasks.js";

const bytes = (/** @type {string} */ text) => Uint8Array.from(Buffer.from(text, "hex"));
const LOCAL = "http://127.0.0.1:1";
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const HALF = { ...COIN, epsilon: 0.5, kernel: { ...COIN.kernel, keep: "11400000000000000000" } };

/** A task of several windows of a day. @param {number} [count] @param {any} [changes] @param {number} [byte] */
const daily = (count = 3, changes = {}, byte = 7) =>
  task({ epsilon: 0.5, design: HALF, budget: 2, window: { opens: "2026-11-16", days: 1, count }, ...changes }, byte);

const FIXED = daily();

/** @param {MemoryStore} store */
const bookOf = (store) => JSON.parse(String(store.text));

/** Everything but the bytes that were drawn, and coins. @param {any} book */
function shape(book) {
  const { tag, own, report, course, ...rest } = book;
  const entries = report.map(({ id, body, due, until, ...entry }) => ({ ...entry, length: body.length }));
  return { ...rest, entries, courses: Object.keys(course) };
}

// ---- the vectors

test("a secret gives the same words, reports, bodies and ids as in all clients", () => {
  const { secret, derived } = vectors("ledger");
  const tasks = new Map(vectors("tasks").good.map((/** @type {any} */ each) => [each.about, each]));
  const source = new Source(bytes(secret), true);
  for (const each of derived) {
    const given = /** @type {any} */ (tasks.get(each.task));
    const read = Task.load(given.task);
    const asked = read.question(each.question);
    const device = asked.device(given.harmless);
    const answer = asked.answer(device, each.value, source.words("none", { task: read.id, window: each.window })).answer;
    const told = { question: asked.key, answer: each.answer, level: each.level, round: [read.id, each.window] };
    assert.deepEqual(JSON.parse(JSON.stringify(answer, (_, part) => (typeof part === "bigint" ? Number(part) : part))), each.answer);
    assert.equal(hex(source.digest("report", told)), each.report_key, each.task);
    const words = new DerivedWords(source.digest("report", told));
    assert.deepEqual(each.words, each.words.map(() => words.word().toString(16).padStart(16, "0")), each.task);
    const level = each.level === null ? undefined : device.levels[each.level];
    const report = device.randomise(answer, { words: source.words("report", told), level });
    assert.equal(hex(report), each.report, each.task);
    assert.equal(hex(read.body(asked, report, each.strata)), each.body, each.task);
    assert.equal(source.reportId(read.id, each.window), each.id, each.task);
  }
  assert.ok(derived.length > 150);
});

test("a secret deals the same question as in all clients", () => {
  const { deals } = vectors("ledger");
  for (const name of ["task", "task2"]) {
    const read = Task.load(deals[name]);
    const dealt = (/** @type {any} */ { secret }) => read.deal(new Source(bytes(secret), true).words("deal", { task: read.id })).name;
    const wanted = deals.cases.map((/** @type {any} */ each) => each[name === "task" ? "question" : "question2"]);
    assert.deepEqual(deals.cases.map(dealt), wanted);
    assert.equal(new Set(wanted).size, 3);
  }
});

for (const { about, limits, steps } of vectors("ledger").sequences) {
  test(`as in all clients: ${about}`, async () => {
    const { secret, tasks } = vectors("ledger");
    const { clock, store, ledger } = made({ ...limits, secret: bytes(secret), delay: 3600 });
    await ledger.overview(); // it is made on the first day
    for (const step of steps) {
      const { do: what, task: name, value, today, receipt, error, body, spent, accounts, free, ...options } = step;
      clock.now = Date.parse(`${today}T12:00:00Z`);
      const asked = name === undefined ? null : Task.load(tasks[name]);
      /** @type {Record<string, () => Promise<any>>} */
      const acts = {
        take: () => ledger.take(/** @type {any} */ (asked), options),
        answer: () => ledger.answer(/** @type {any} */ (asked), value, options),
        forget: () => ledger.forget(asked, options),
        allow: () => ledger.allow({ task: asked, ...options }),
      };
      if (error) await assert.rejects(acts[what](), { kind: kindOf(error) }, JSON.stringify(step));
      else {
        const got = await acts[what]();
        if (receipt) {
          assert.deepEqual(got, receipt, JSON.stringify(step));
          const entry = bookOf(store).report.find((/** @type {any} */ { id }) => id === got.id);
          assert.equal(Buffer.from(entry.body, "base64").toString("hex"), body, JSON.stringify(step));
        }
      }
      const seen = await ledger.overview();
      assert.equal(seen.left.spent, spent, JSON.stringify(step));
      assert.deepEqual(seen.places.map((place) => [place.spent, place.reserved, place.left]), accounts, JSON.stringify(step));
      assert.equal(seen.left.places, free, JSON.stringify(step));
    }
    assert.ok(steps.length);
  });
}

// ---- total answers

test("whatever is answered, or nothing at all, one report of one size is drawn, and all else is the same", async () => {
  const odd = ["yes", "no", "maybe", 0, NaN, 1e300, null, undefined, [], {}, { toString: 1 }, Symbol("s"), 10n ** 40n, () => 1];
  const shapes = new Set();
  for (const value of [...odd, "nothing"]) {
    const { store, ledger } = made({ secret: new Uint8Array(32) });
    await ledger.take(task(), { url: LOCAL });
    if (value !== "nothing") {
      const receipt = await ledger.answer(task(), value);
      assert.deepEqual({ ...receipt, id: "" }, { id: "", question: "sleep", window: 0, cost: 0, new: false, answered: value === "yes" || value === "no" });
    }
    shapes.add(JSON.stringify(shape(bookOf(store))));
  }
  assert.equal(shapes.size, 1);
});

test("a number outside of an interval sends a report like any other, and nothing is learned by silence", async () => {
  const { design } = vectors("hostile").good.find((/** @type {any} */ each) => each.about === "a grid");
  const [low, high] = design.domain.interval;
  const asked = task({ design, epsilon: 8, budget: 8, questions: [[question({ none: low })]] });
  for (const value of [low, high, low - 1, high + 1, Infinity, "x"]) {
    const { ledger } = made({ collector: 8 });
    const collector = new Collector();
    await ledger.answer(asked, value, { url: LOCAL });
    assert.equal((await ledger.flush(null, { fetch: collector.fetch })).sent, 1, String(value));
  }
});

test("an answer takes the place of the one before until it is sent, and not after", async () => {
  const { store, ledger } = made({ secret: new Uint8Array(32) });
  const collector = new Collector();
  const first = await ledger.answer(task(), "yes", { url: LOCAL });
  const [before] = bookOf(store).report;
  const again = await ledger.answer(task(), "no");
  const [after] = bookOf(store).report;
  assert.deepEqual([first.new, first.cost, again.new, again.cost, again.id], [true, 1, false, 0, first.id]);
  assert.deepEqual({ ...after, body: "" }, { ...before, body: "" });
  await ledger.flush(null, { fetch: collector.fetch });
  await assert.rejects(ledger.answer(task(), "yes"), { kind: "WindowError" });
  assert.equal((await ledger.overview()).left.spent, 1);
});

test("an answer whose report was tried to be sent stays as it is, whatever the collector heard of it", async () => {
  for (const heard of [true, false]) {
    const { clock, store, ledger } = made();
    const collector = new Collector();
    const lost = async (/** @type {any[]} */ ...given) => {
      if (heard) await collector.fetch(...given);
      throw new TypeError("connection reset");
    };
    await ledger.answer(task(), "yes", { url: LOCAL });
    const drawn = bookOf(store).report[0].body;
    assert.equal((await ledger.flush(null, { fetch: lost })).waiting, 1);
    const [before] = bookOf(store).report;
    assert.deepEqual([before.state, before.attempts, before.body], ["waiting", 1, drawn]);
    await assert.rejects(ledger.answer(task(), "no"), { kind: "WindowError", message: /or tried to/ });
    assert.deepEqual(bookOf(store).report, [before]);
    clock.now += HOUR;
    assert.equal((await ledger.flush(null, { fetch: collector.fetch })).sent, 1);
    assert.deepEqual([...collector.reports], [[before.id, drawn]], "one report, once");
  }
});

test("with a secret the report of an answer is the same again, and no answer has its own", async () => {
  const bodies = [];
  for (const value of ["yes", "yes", "no", "no", null]) {
    const { store, ledger } = made({ secret: new Uint8Array(32).fill(3) });
    await ledger.answer(task(), value);
    bodies.push(bookOf(store).report[0].body + bookOf(store).report[0].id);
  }
  assert.equal(bodies[0], bodies[1]);
  assert.deepEqual([bodies[2], bodies[4]], [bodies[3], bodies[3]]); // none is "no"
});

test("no report is shown before it is done", async () => {
  const { ledger } = made();
  const collector = new Collector();
  const receipt = await ledger.answer(task(), "yes", { url: LOCAL });
  assert.ok(!("body" in receipt));
  assert.equal((await ledger.export()).reports[0].body, null);
  await ledger.flush(null, { fetch: collector.fetch });
  assert.equal((await ledger.export()).reports[0].body, [...collector.reports.values()][0]);
});

// ---- windows and moments

test("a task of several windows sends one report in each, answered or not, and is reserved as a whole", async () => {
  const { clock, ledger } = made({ collector: 1.5 });
  const collector = new Collector();
  await ledger.take(daily(), { url: LOCAL });
  assert.deepEqual((await ledger.overview()).places.map(({ spent, reserved, left }) => [spent, reserved, left]), [[0.5, 1, 0]]);
  clock.now += HOUR;
  for (let window = 0; window < 4; window += 1) {
    if (window === 1) await ledger.answer(daily(), "yes");
    await ledger.flush(null, { fetch: collector.fetch, due: true });
    clock.now += 11 * HOUR - 1;
    await ledger.flush(null, { fetch: collector.fetch, due: true });
    clock.now += 13 * HOUR + 1;
  }
  assert.equal(collector.reports.size, 3);
  assert.equal((await ledger.overview()).left.spent, 1.5);
});

test("moments: in an hour that begins ten minutes later, then in the second half of a window; coins choose, not answers", async () => {
  // Kolmogorov's distance of 400 moments from a uniform law: above 0.135 with a chance below 1e-6.
  const [first, later] = [/** @type {number[]} */ ([]), /** @type {number[]} */ ([])];
  const asked = daily();
  for (let person = 0; person < 400; person += 1) {
    const store = new FastStore();
    const { clock, ledger } = made({ delay: 3600 }, store);
    const start = clock.now;
    await ledger.answer(asked, person % 2 ? "yes" : null, { url: LOCAL });
    first.push((store.state.report[0].due - start - 600_000) / HOUR);
    clock.now = Date.parse("2026-11-17T00:00:01Z");
    await ledger.flush(null, { due: true, fetch: new Collector().fetch });
    later.push((Object.values(store.state.course)[0].due - Date.parse("2026-11-17T12:00:00Z")) / (12 * HOUR));
  }
  for (const found of [first, later]) {
    assert.ok(found.sort((a, b) => a - b).every((each, i) => Math.abs(each - i / 400) < 0.135), `${found[0]} ${found[399]}`);
  }
});

test("the earliest and the latest moments are those that are said: a second before a window ends at the latest", () => {
  const [now, minute, second] = [1e12, 60_000, 1000];
  const moments = (/** @type {number} */ byte) => {
    const fill = (/** @type {any} */ found) => new Uint8Array(found.buffer).fill(byte) && found;
    Object.defineProperty(webCrypto, "getRandomValues", { configurable: true, value: fill });
    try {
      const ends = [DAY, HOUR, 10 * minute + second, 10 * minute, 5 * minute, second, 0];
      return [laterMoment([now, now + DAY]) - now, ...ends.map((end) => firstMoment(now, now + end, HOUR) - now)];
    } finally {
      delete (/** @type {any} */ (webCrypto).getRandomValues);
    }
  };
  assert.deepEqual(moments(0), [DAY / 2, 10 * minute, 10 * minute, 10 * minute, 0, 0, 0, -second]);
  assert.deepEqual(moments(255), [DAY - second, 70 * minute, HOUR - second, 10 * minute, 10 * minute - second, 5 * minute - second, 0, -second]);
});

test("a later window is opened at its moment and not before, and is planned until then", async () => {
  const store = new FastStore();
  const { clock, ledger } = made({}, store);
  const collector = new Collector();
  const flush = () => ledger.flush(null, { fetch: collector.fetch, due: true });
  const planned = async () => (await ledger.overview()).counts.planned;
  await ledger.take(FIXED, { url: LOCAL });
  clock.now += HOUR;
  await flush();
  clock.now = Date.parse("2026-11-17T00:00:00Z");
  assert.equal(await planned(), 0);
  await flush();
  const { due } = store.state.course[FIXED.id];
  for (const [now, sent, waits] of [[due - 1, 1, 1], [due, 2, 0]]) {
    clock.now = now;
    await flush();
    assert.deepEqual([collector.requests.length, await planned()], [sent, waits], `${now - due}`);
  }
});

test("a place is over a year after it began, to the millisecond", async () => {
  const { clock, ledger } = made();
  await ledger.take(task());
  const over = async () => (await ledger.overview()).places[0].over;
  clock.now += 4 * 7_889_400_000 - 1;
  assert.equal(await over(), false);
  clock.now += 1;
  assert.equal(await over(), true);
});

test("only what is named whole is forgotten", async () => {
  const { store, ledger } = made();
  await ledger.take(task());
  const [{ id, questions: [{ key }] }, before] = [task(), store.text];
  for (const part of [key.slice(0, 60), "", id]) await assert.rejects(ledger.forget(null, { question: part }), { kind: "ParameterError" });
  for (const part of [id.slice(0, 60), "", key]) await assert.rejects(ledger.forget(part), { kind: "ParameterError" });
  assert.equal(store.text, before);
  assert.equal(await ledger.forget(null, { question: key }), 2);
});

test("a lock whose process is no more is taken, also if another one has its number now", { skip: process.platform !== "linux" }, async (t) => {
  const path = join(folder(t), "ledger");
  const seen = () => new Ledger(path, { patience: 0 }).overview();
  const stat = (/** @type {number} */ pid) => readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ")[19];
  const own = { pid: process.pid, host: hostname(), boot: readFileSync("/proc/sys/kernel/random/boot_id", "utf8"), space: readlinkSync("/proc/self/ns/pid"), start: stat(process.pid) };
  for (const [changes, free] of /** @type {[any, boolean][]} */ ([[{}, false], [{ start: "1" }, true], [{ pid: 2 ** 22 + 1 }, true], [{ boot: "another" }, false]])) {
    writeFileSync(`${path}.lock`, JSON.stringify({ ...own, nonce: "x", ...changes }));
    if (free) await seen();
    else await assert.rejects(seen(), { kind: "LedgerError", message: /in use by another program/ });
  }
});

test("a secret may be wiped by whoever gave it", async () => {
  const [store, secret] = [new MemoryStore(), new Uint8Array(32).fill(5)];
  const { ledger } = made({ secret }, store);
  secret.fill(0);
  await ledger.take(task());
  assert.equal((await made({ secret: new Uint8Array(32).fill(5) }, store).ledger.overview()).left.spent, 1);
});

test("an answer that makes the ledger look at a window first moves no moment", async () => {
  // Late in the second half of a window: whether somebody answers first or not, what was missed moves when reports are sent.
  const found = [];
  for (const answers of [true, false]) {
    let over = 0;
    for (let person = 0; person < 60; person += 1) {
      const store = new FastStore();
      const { clock, ledger } = made({ delay: 3600 }, store);
      await ledger.take(FIXED, { url: LOCAL });
      clock.now = Date.parse("2026-11-17T23:00:00Z");
      if (answers) await ledger.answer(FIXED, "yes");
      const drawn = answers ? store.state.report[1].due : null;
      if (drawn !== null) over += Number(drawn < clock.now);
      await ledger.flush(null, { due: true, fetch: new Collector().fetch });
      const entry = store.state.report[1];
      const due = entry ? entry.due : Object.values(store.state.course)[0].due;
      assert.ok(due === null || (due >= clock.now && due < Date.parse("2026-11-18T00:00:00Z")), `${due}`);
    }
    found.push(over);
  }
  assert.ok(found[0] > 30, `${found}`); // 11 of 12 moments are over: at most 30 of 60 with a chance below 1e-15
});

test("a device that was off for a window has not opened it, and what it had drawn and not sent is given up", async () => {
  const { clock, ledger } = made();
  const collector = new Collector();
  await ledger.take(daily(4), { url: LOCAL });
  clock.pass(2);
  await ledger.flush(null, { fetch: collector.fetch, due: true });
  const seen = await ledger.overview();
  assert.deepEqual([collector.requests.length, seen.counts.expired, seen.left.spent], [0, 1, 0.5]);
  assert.deepEqual(seen.places[0].reserved, 1, "two windows are left, and the one that was missed came back");
});

// ---- accounts

test("no collector learns of another: what one asks or promises changes nothing for the others", async () => {
  const law = async (/** @type {boolean} */ busy) => {
    const { store, ledger } = made();
    if (busy) {
      await ledger.take(task({ budget: 1, subject: "HIV test" }, 9), { url: LOCAL });
      await ledger.flush(null, { fetch: new Collector().fetch });
    }
    const receipt = await ledger.take(task({ subject: "HIV test" }), { url: LOCAL });
    await assert.rejects(ledger.take(task({ subject: "b", window: { opens: "2026-11-16", days: 1, count: 2 }, questions: [[question({ text: "b" })]] }), { url: LOCAL }), { kind: "BudgetError" });
    const own = bookOf(store).report.filter((/** @type {any} */ { task: id }) => id === task({ subject: "HIV test" }).id);
    return JSON.stringify([{ ...receipt, id: "" }, own.map((/** @type {any} */ { id, body, due, until, ...rest }) => rest)]);
  };
  assert.equal(await law(false), await law(true));
});

test("a device has two places, and one more in each quarter; each is given once and lasts a year", async () => {
  const { clock, ledger } = made({}, new FastStore());
  const asked = (/** @type {number} */ byte, window = { opens: "2026-11-16", days: 3000, count: 1 }) => task({ window }, byte);
  await ledger.take(asked(1), { url: LOCAL });
  await ledger.take(asked(2), { url: LOCAL });
  await assert.rejects(ledger.take(asked(3), { url: LOCAL }), { kind: "BudgetError", message: /all 2 places/ });
  clock.now += 7_889_400_000 - 1;
  await assert.rejects(ledger.take(asked(3), { url: LOCAL }), { kind: "BudgetError" });
  clock.now += 1;
  await ledger.take(asked(3), { url: LOCAL });
  await assert.rejects(ledger.take(asked(4), { url: LOCAL }), { kind: "BudgetError" });
  await ledger.allow({ places: 1 });
  await ledger.take(asked(4), { url: LOCAL });
  const { places, left } = await ledger.overview();
  assert.deepEqual([places.length, left.places, left.next], [4, 0, "2027-05-18"]);
});

test("one collector gets so much in a year, whatever its tasks are called; only the person allows more", async () => {
  const { clock, ledger } = made({}, new FastStore());
  const asked = (/** @type {string} */ text, /** @type {any} */ changes = {}) => task({ questions: [[question({ text })]], window: { opens: "2026-11-16", days: 3000, count: 1 }, ...changes });
  await ledger.take(asked("a"), { url: LOCAL });
  await ledger.take(asked("b"), { url: LOCAL });
  await assert.rejects(ledger.take(asked("c"), { url: LOCAL }), { kind: "BudgetError", message: /of the 2 for this collector/ });
  await ledger.allow({ task: asked("a"), epsilon: 1 });
  await assert.rejects(ledger.take(asked("c"), { url: LOCAL }), { kind: "BudgetError" }, "its own word is 2");
  clock.now += 4 * 7_889_400_000;
  await ledger.take(asked("c", { budget: 1 }), { url: LOCAL });
  await assert.rejects(ledger.take(asked("d"), { url: LOCAL }), { kind: "BudgetError", message: /of the 1 for this/ }, "the smallest budget that it gave holds");
});

test("what a person allows a collector adds up", async () => {
  const { ledger } = made();
  const asked = (/** @type {string} */ text) => task({ questions: [[question({ text })]], budget: 5, window: { opens: "2026-11-16", days: 3000, count: 1 } });
  await ledger.take(asked("a"), { url: LOCAL });
  for (let i = 0; i < 2; i += 1) await ledger.allow({ task: asked("a"), epsilon: 1 });
  for (const text of ["b", "c", "d"]) await ledger.take(asked(text), { url: LOCAL });
  await assert.rejects(ledger.take(asked("e"), { url: LOCAL }), { kind: "BudgetError", message: /of the 4 for this collector/ });
});

test("a clock that goes back opens no more windows than were reserved", async () => {
  const [store, collector] = [new MemoryStore(), new Collector()];
  const { clock, ledger } = made({}, store);
  clock.pass();
  await ledger.take(daily(), { url: LOCAL });
  clock.pass(-1);
  for (let window = 0; window < 4; window += 1) {
    await ledger.flush(null, { fetch: collector.fetch });
    clock.now += 11 * HOUR;
    await ledger.flush(null, { fetch: collector.fetch });
    clock.now += 13 * HOUR;
  }
  const [taken] = Object.values(bookOf(store).taken);
  assert.deepEqual([taken.windows, taken.opened.length], [2, 2]);
});

test("the same key at another address has a place of its own, and a signed address is the only one", async () => {
  const { ledger } = made();
  await ledger.take(task(), { url: LOCAL });
  const other = task({ questions: [[question({ text: "b" })]] });
  await ledger.take(other, { url: "https://other.example" });
  assert.equal((await ledger.overview()).places.length, 2);
  const collector = { name: "A", key: keyOf().key, url: "https://a.example" };
  const signed = task({ collector, questions: [[question({ text: "c" })]] });
  const { ledger: second } = made();
  await assert.rejects(second.take(signed, { url: LOCAL }), { kind: "PrivacyError" });
  await second.take(signed);
  const seen = new Collector();
  await second.flush(LOCAL, { fetch: seen.fetch });
  assert.match(seen.requests[0].url, /^https:\/\/a\.example\/v1/);
});

test("the same question is not drawn in two tasks at the same time", async () => {
  const { clock, ledger } = made({ places: 9 });
  await ledger.take(task());
  await assert.rejects(ledger.take(task({ min_batch: 2 })), { kind: "WindowError", message: /same question in another task/ });
  await ledger.take(task({ min_batch: 2 }, 8)); // of another collector
  clock.pass(7);
  await ledger.take(task({ min_batch: 2, window: { opens: "2026-11-16", days: 7, count: 2 }, budget: 2 }));
});

test("an address stays as it was taken up with", async () => {
  const { ledger } = made();
  await ledger.take(task(), { url: LOCAL });
  await assert.rejects(ledger.answer(task(), "yes", { url: "https://other.example" }), { kind: "PrivacyError" });
  await ledger.answer(task(), "yes", { url: `${LOCAL}/` });
});

// ---- new ledgers in browsers

test("a new store that may follow another one waits out a whole window, where there are several", async () => {
  const { clock, ledger } = made({ pause: true, places: 9 });
  await ledger.take(task()); // one window is taken at once
  const asked = daily(4, { questions: [[question({ text: "b" })]] });
  await assert.rejects(ledger.take(asked), { kind: "WindowError", hint: /from 2026-11-18 on/ });
  clock.pass();
  await assert.rejects(ledger.take(asked), { kind: "WindowError" });
  clock.pass();
  assert.equal((await ledger.take(asked)).window, 2);
  const store = new MemoryStore();
  const browser = Object.assign(store, { pauses: true });
  const next = new Ledger(browser, { clock: clock.read });
  await assert.rejects(next.take(daily(9, { epsilon: 0.5, budget: 9 }), { url: LOCAL }), { kind: "WindowError" }, "browsers do so by themselves");
});

test("the browser is asked to keep the store when a task is taken up, and the overview tells", async () => {
  let asked = 0;
  const store = Object.assign(new MemoryStore(), { persist: async () => void (asked += 1), persistent: async () => asked > 0 });
  const { ledger } = made({}, store);
  assert.equal((await ledger.overview()).persistent, false);
  await ledger.take(task());
  await ledger.answer(task(), "yes");
  assert.deepEqual([asked, (await ledger.overview()).persistent], [1, true]);
  assert.equal((await made().ledger.overview()).persistent, null);
});

// ---- version 1

test("old tasks are answered where silence tells nothing", async () => {
  const several1 = { window: { opens: "2026-11-16", days: 7, count: 4 } };
  await assert.rejects(made().ledger.take(oldTask({ ...several1, memory: "remembered" })), { kind: "WindowError" });
  await assert.rejects(made().ledger.take(oldTask({ ...several1 })), { kind: "BudgetError" }, "all windows have to fit");
  await made().ledger.take(oldTask({ memory: "remembered" }));
  const { clock, ledger } = made();
  const collector = new Collector();
  const first = oldTask({ ...several1, memory: "first" });
  await ledger.answer(first, "maybe", { url: LOCAL });
  await ledger.flush(null, { fetch: collector.fetch });
  clock.pass(7);
  await assert.rejects(ledger.answer(first, "yes"), { kind: "WindowError" });
  assert.deepEqual([collector.reports.size, (await ledger.overview()).left.spent], [1, 1]);
});

test("each old task has a place of its own, and its budgets bind nobody else", async () => {
  const { ledger } = made();
  await ledger.take(oldTask({ budget: { task: 1, subject: 1, lifetime: 1 } }));
  await ledger.take(oldTask({ questions: [oldQuestion({ text: "b" })] }));
  assert.equal((await ledger.overview()).places.length, 2);
});

// ---- refusals

test("a refusal spends nothing, queues nothing and sends nothing", async () => {
  const { clock, store, ledger } = made();
  const open = task();
  await ledger.overview();
  const before = store.text;
  clock.pass(-1);
  await assert.rejects(ledger.answer(open, "yes"), { kind: "WindowError" });
  clock.pass(10_000);
  await assert.rejects(ledger.answer(open, "yes"), { kind: "WindowError" });
  clock.pass(-9_999);
  await assert.rejects(ledger.answer(open, "yes", { harmless: ["yes"] }), { kind: "PrivacyError" });
  await assert.rejects(ledger.answer(open, "yes", { level: 1 }), { kind: "ParameterError" });
  await assert.rejects(ledger.answer(open, "yes", { strata: { country: "DE" } }), { kind: "ParameterError" });
  await assert.rejects(ledger.answer(open, "yes", { question: "other" }), { kind: "ParameterError" });
  await assert.rejects(ledger.answer(open, "yes", { url: "http://example.org" }), { kind: "ParameterError" });
  await assert.rejects(ledger.answer(/** @type {any} */ (open.document), "yes"), { kind: "ParameterError" });
  await assert.rejects(ledger.answer(task({ epsilon: 3, budget: 3 }), "yes"), { kind: "BudgetError" });
  assert.equal(store.text, before);
  const collector = new Collector();
  await ledger.flush(LOCAL, { fetch: collector.fetch });
  assert.equal(collector.requests.length, 0);
});

test("settings that cannot be are refused", () => {
  const store = new MemoryStore();
  for (const options of [{ secret: new Uint8Array(31) }, { secret: "x".repeat(32) }, { collector: -1 }, { places: 1.5 }, { places: NaN }, { delay: -1 }, { delay: 1e9 }]) {
    assert.throws(() => new Ledger(store, /** @type {any} */ (options)), { kind: "ParameterError" });
  }
  assert.throws(() => new Ledger(store, /** @type {any} */ ({ subject: 8 })), { kind: "ParameterError", message: /collector .* and places .* replace them/ });
});

test("the question is dealt once, and another one of the task is refused", async () => {
  const names = new Set();
  for (let i = 0; i < 64; i += 1) names.add((await made().ledger.question(task(several(2)))).name);
  assert.equal(names.size, 2); // all alike: 2^-63
  const { ledger } = made();
  const asked = task(several(2));
  assert.equal((await ledger.question(asked, { dealt: "q1" })).name, "q1");
  await assert.rejects(ledger.take(asked, { dealt: "q0" }), { kind: "PrivacyError" });
  await assert.rejects(ledger.answer(asked, "yes", { question: "q0" }), { kind: "PrivacyError" });
  assert.equal((await ledger.answer(asked, "yes", { question: "q1" })).question, "q1");
});

// ---- damage

test("a ledger that was altered is refused, wherever, and stays as it is", async () => {
  const { ledger, store } = made();
  await ledger.answer(task(), "yes", { url: LOCAL });
  const whole = bookOf(store);
  for (const name of Object.keys(whole)) {
    const altered = JSON.stringify({ ...whole, [name]: name === "tag" ? "0".repeat(64) : name === "allowed" ? 7 : undefined });
    store.text = altered;
    await assert.rejects(ledger.overview(), { kind: "LedgerError" }, name);
    assert.equal(store.text, altered);
  }
});

test("a ledger is opened with the secret it was made with, by a client that knows its version", async () => {
  const { store, ledger } = made({ secret: new Uint8Array(32) });
  await ledger.answer(task(), "yes");
  for (const secret of [null, new Uint8Array(32).fill(1)]) {
    await assert.rejects(new Ledger(store, { secret }).overview(), { kind: "LedgerError" });
  }
  store.text = JSON.stringify({ ...bookOf(store), version: 3 });
  await assert.rejects(ledger.overview(), { kind: "LedgerError", message: /version 3/ });
});

/** A ledger of version 1 in which a report waits. @param {any} [changes] */
function oldLedger(changes = {}) {
  const store = new FastStore();
  const asked = oldTask();
  const entry = { id: "a".repeat(32), task: asked.id, window: 0, question: asked.questions[0].key, answer: "", body: "AQ==", cost: "1" + "0".repeat(30), day: "2026-11-16", url: LOCAL, state: "waiting", reason: "", attempts: 3, due: 0, later: 0, expires: Date.parse("2030-01-01"), ...changes };
  store.state = {
    version: 1,
    own: { key: "07".repeat(32) },
    spend: [{ task: asked.id, subject: "x", amount: "1" + "0".repeat(30), day: "2026-11-16" }],
    promise: {},
    answered: { [asked.id]: [0] },
    deal: {},
    task: { [asked.id]: asked.document },
    memo: [],
    report: [entry],
  };
  return { store, asked, entry };
}

test("a ledger of version 1 goes on: its spends stay, and what waits is still sent", async () => {
  const { store, asked, entry } = oldLedger();
  const tired = { ...entry, id: "b".repeat(32), attempts: 8 };
  store.state.report.push(tired);
  const { clock, ledger } = made({}, store);
  const seen = await ledger.overview();
  assert.deepEqual([seen.left.spent, seen.places.length, seen.counts.waiting], [1, 1, 2]);
  await assert.rejects(ledger.take(asked), { kind: "WindowError" }, "it was answered in this window");
  const collector = new Collector();
  await ledger.flush(null, { fetch: collector.fetch });
  assert.equal(collector.reports.get(entry.id), "AQ==");
  assert.ok(collector.reports.has(tired.id), "what was tried as often as now is allowed is tried once more");
  clock.pass(365);
  assert.equal((await ledger.overview()).left.spent, 1);
});

test("a report of a ledger of version 1 has the attempts that are left of eight, and one at least", async () => {
  for (const [attempts, left] of [[0, 8], [3, 5], [7, 1], [8, 1], [20, 1]]) {
    const { store } = oldLedger({ attempts });
    const { clock, ledger } = made({}, store);
    const collector = new Collector();
    collector.trouble = () => new Response("", { status: 500 });
    for (let i = 0; i < 24; i += 1) {
      await ledger.flush(null, { fetch: collector.fetch });
      clock.now += 6 * HOUR;
    }
    assert.equal(collector.requests.length, left, `${attempts}`);
    assert.equal((await ledger.overview()).counts.expired, 1);
  }
});

test("what waits in a ledger of version 1 is sent until its task expires, and for seven days at most", async () => {
  const start = new Clock().now;
  for (const attempts of [0, 3]) {
    for (const [expires, ends] of [[1, 1], [DAY, DAY], [7 * DAY - 1, 7 * DAY - 1], [7 * DAY + 1, 7 * DAY], [365 * DAY, 7 * DAY]]) {
      for (const [late, sent] of [[ends - 1, 1], [ends, 0]]) {
        const { store } = oldLedger({ attempts, expires: start + expires });
        const { clock, ledger } = made({}, store);
        await ledger.overview(); // it becomes one of version 2
        clock.now = start + late;
        const collector = new Collector();
        await ledger.flush(null, { fetch: collector.fetch });
        assert.equal(collector.reports.size, sent, `${attempts} ${expires} ${late}`);
        assert.equal((await ledger.overview()).counts[sent ? "sent" : "expired"], 1);
      }
    }
  }
});

test("a file of version 1 begins with the sum of its ledger, and is none where that does not fit", async (t) => {
  const path = join(folder(t), "ledger");
  const old = JSON.stringify({ version: 1, own: { key: "07".repeat(32) }, spend: [], promise: {}, answered: {}, deal: {}, task: {}, memo: [], report: [] });
  const sum = hex(sha256(new TextEncoder().encode(old)));
  for (const [text, good] of [[`${sum}\n${old}\n`, true], [`${sum}\n${old.replace("07", "08")}\n`, false], [`${sum}\n`, false], [`${sum.replace(/./, "x")}\n${old}`, false]]) {
    writeFileSync(path, `${text}`);
    const seen = new Ledger(path).overview();
    if (good) assert.equal((await seen).left.spent, 0);
    else await assert.rejects(seen, { kind: "LedgerError", message: /is damaged/ });
  }
});

// ---- what a person may see and do

test("a person sees what was asked, sent and is left", async () => {
  const { ledger } = made();
  const collector = new Collector();
  await ledger.answer(task(), "yes", { url: LOCAL });
  await ledger.flush(null, { fetch: collector.fetch });
  const seen = await ledger.overview();
  assert.equal(seen.asked[0].collector, "Example Institute");
  assert.deepEqual(seen.asked[0].questions, ["Did you sleep well?"]);
  assert.deepEqual(seen.counts, { planned: 0, waiting: 0, sent: 1, refused: 0, expired: 0 });
  const [place] = seen.places;
  assert.deepEqual(place, { collector: "Example Institute", ends: "2027-11-16", over: false, most: 2, spent: 1, reserved: 0, left: 1 });
  const exported = await ledger.export();
  assert.equal(exported.tasks.length, 1);
  assert.doesNotThrow(() => JSON.stringify(exported));
});

test("forgetting erases questions and reports from the file, gives back what was not opened, and keeps what was spent", async (t) => {
  const path = join(folder(t), "ledger");
  const clock = new Clock();
  const ledger = new Ledger(path, { clock: clock.read });
  const asked = daily();
  const got = await ledger.answer(asked, "yes", { url: LOCAL });
  const traces = ["Did you sleep well?", asked.questions[0].key, got.id, '"subject":"sleep"'];
  for (const trace of traces) assert.ok(readFileSync(path, "utf8").includes(trace), trace);
  assert.equal((await ledger.overview()).places[0].reserved, 1);
  assert.equal(await ledger.forget(asked), 2);
  for (const trace of traces) assert.ok(!readFileSync(path, "utf8").includes(trace), trace);
  const seen = await ledger.overview();
  assert.deepEqual([seen.left.spent, seen.places[0].reserved], [0.5, 0]);
  assert.equal(seen.places[0].collector, null);
  await assert.rejects(ledger.answer(asked, "yes"), { kind: "WindowError" });
  clock.pass();
  assert.equal((await ledger.answer(asked, "yes", { url: LOCAL })).cost, 0.5);
  await assert.rejects(ledger.forget("0".repeat(64)), { kind: "ParameterError" });
  await assert.rejects(ledger.forget(), { kind: "ParameterError" });
  assert.equal(await ledger.forget(null, { question: asked.questions[0].key }), 2);
  await ledger.answer(daily(3, { questions: [[question({ text: "more" })]] }), "yes", { url: LOCAL });
  assert.equal(await ledger.forget(null, { everything: true }), 2);
});

test("a task that was only read is the one that is answered", async () => {
  const copy = Task.load(JSON.stringify(task().document));
  assert.equal((await made().ledger.answer(copy, "yes")).new, true);
  assert.throws(() => Object.assign(copy, { epsilon: 1e-12 }), TypeError);
});
