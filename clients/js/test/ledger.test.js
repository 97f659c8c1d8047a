import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { Ledger } from "../src/ledger.js";
import { DerivedWords, Source } from "../src/memory.js";
import { hex } from "../src/sha256.js";
import { Task } from "../src/task.js";
import { Clock, Collector, MemoryStore, folder, kindOf, made, question, task, vectors } from "./tasks.js";

const bytes = (/** @type {string} */ text) => Uint8Array.from(Buffer.from(text, "hex"));
const LOCAL = "http://127.0.0.1:1";

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
    const answer = device.answer(asked.value(each.value));
    const round = read.memory === "fresh" ? [read.id, each.window] : null;
    const told = { question: asked.key, answer: each.answer, level: each.level, round };
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
  assert.ok(derived.length > 60);
});

test("a secret deals the same question as in all clients", () => {
  const { deals } = vectors("ledger");
  const read = Task.load(deals.task);
  const dealt = deals.cases.map((/** @type {any} */ { secret }) => read.deal(new Source(bytes(secret), true).words("deal", { task: read.id })).name);
  assert.deepEqual(dealt, deals.cases.map((/** @type {any} */ each) => each.question));
  assert.equal(new Set(dealt).size, 3);
});

for (const { about, limits, steps } of vectors("ledger").sequences) {
  test(`as in all clients: ${about}`, async () => {
    const { secret, tasks } = vectors("ledger");
    const { clock, ledger } = made({ ...limits, secret: bytes(secret) });
    for (const { task: name, value, today, receipt, error, spent, ...options } of steps) {
      clock.now = Date.parse(`${today}T12:00:00Z`);
      const answer = ledger.answer(Task.load(tasks[name]), value, options);
      if (error) await assert.rejects(answer, { kind: kindOf(error) });
      else {
        const got = await answer;
        assert.deepEqual({ ...got, body: hex(got.body) }, receipt);
      }
      assert.equal((await ledger.overview()).left.lifetime.spent, spent);
    }
    assert.ok(steps.length);
  });
}

// ---- memory

test("a ledger without a secret draws anew for each device, and does not deal all the same question", async () => {
  const questions = [question(), question({ name: "b", text: "And now?" })];
  const names = new Set();
  for (let i = 0; i < 64; i += 1) names.add((await made().ledger.question(task({ questions }))).name);
  assert.equal(names.size, 2); // all alike: 2^-63
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
  await assert.rejects(ledger.answer(open, "maybe"), { kind: "ParameterError" });
  await assert.rejects(ledger.answer(open, "yes", { harmless: ["yes"] }), { kind: "PrivacyError" });
  await assert.rejects(ledger.answer(open, "yes", { question: "other" }), { kind: "ParameterError" });
  await assert.rejects(ledger.answer(open, "yes", { url: "http://example.org" }), { kind: "ParameterError" });
  await assert.rejects(ledger.answer(/** @type {any} */ (open.document), "yes"), { kind: "ParameterError" });
  const dear = task({ epsilon: 9, budget: { task: 9, subject: 9, lifetime: 9 } });
  await assert.rejects(ledger.answer(dear, "yes"), { kind: "BudgetError" });
  assert.equal(store.text, before);
  const collector = new Collector();
  await ledger.flush(LOCAL, { fetch: collector.fetch });
  assert.equal(collector.requests.length, 0);
});

test("settings that cannot be are refused", () => {
  const store = new MemoryStore();
  for (const options of [{ secret: new Uint8Array(31) }, { secret: "x".repeat(32) }, { subject: -1 }, { lifetime: NaN }, { delay: -1 }, { delay: 1e9 }]) {
    assert.throws(() => new Ledger(store, /** @type {any} */ (options)), { kind: "ParameterError" });
  }
});

test("a ledger is opened with the secret it was made with, by a client that knows its version", async () => {
  const { store, ledger } = made({ secret: new Uint8Array(32) });
  await ledger.answer(task(), "yes");
  for (const secret of [null, new Uint8Array(32).fill(1)]) {
    await assert.rejects(new Ledger(store, { secret }).overview(), { kind: "LedgerError" });
  }
  store.text = JSON.stringify({ ...JSON.parse(String(store.text)), version: 2 });
  await assert.rejects(ledger.overview(), { kind: "LedgerError" });
});

// ---- what a person may see and do

test("a person sees what was asked, sent and is left", async () => {
  const { clock, ledger } = made();
  const collector = new Collector();
  await ledger.answer(task({ collector: "Example Institute" }), "yes", { url: LOCAL });
  clock.pass();
  await ledger.flush(null, { fetch: collector.fetch });
  const seen = await ledger.overview();
  assert.equal(seen.asked[0].collector, "Example Institute");
  assert.deepEqual(seen.asked[0].questions, ["Did you sleep well?"]);
  assert.deepEqual(seen.counts, { waiting: 0, sent: 1, refused: 0, expired: 0 });
  assert.deepEqual(seen.left.subjects, [{ subject: "sleep", spent: 1, most: 4, left: 3 }]);
  assert.deepEqual(seen.left.lifetime, { spent: 1, most: 8, left: 7 });
  const exported = await ledger.export();
  assert.equal(exported.reports[0].body, [...collector.reports.values()][0]);
  assert.equal(exported.tasks.length, 1);
  assert.doesNotThrow(() => JSON.stringify(exported));
});

test("forgetting erases questions, reports and digests from the file, and keeps what was spent", async (t) => {
  const path = join(folder(t), "ledger");
  const clock = new Clock();
  const ledger = new Ledger(path, { clock: clock.read, delay: 0 });
  const asked = task();
  const got = await ledger.answer(asked, "yes");
  const body = Buffer.from(got.body).toString("base64");
  const traces = ["Did you sleep well?", asked.questions[0].key, got.id, `"${body}"`, '"subject":"sleep"'];
  for (const trace of traces) assert.ok(readFileSync(path, "utf8").includes(trace), trace);
  assert.ok((await ledger.forget(asked)) >= 2);
  for (const trace of traces) assert.ok(!readFileSync(path, "utf8").includes(trace), trace);
  const seen = await ledger.overview();
  assert.equal(seen.left.lifetime.spent, 1);
  assert.match(seen.left.subjects[0].subject, /^forgotten/);
  await assert.rejects(ledger.answer(asked, "yes"), { kind: "WindowError" });
  clock.pass();
  assert.equal((await ledger.answer(asked, "yes")).cost, 1, "a forgotten question costs again");
  await assert.rejects(ledger.forget("0".repeat(64)), { kind: "ParameterError" });
  await assert.rejects(ledger.forget(), { kind: "ParameterError" });
  assert.ok((await ledger.forget(null, { everything: true })) >= 2);
});

test("without the key nobody can tell an answer from the digest in the ledger", async () => {
  const answers = await Promise.all(
    ["yes", "no"].map(async (value) => {
      const { store, ledger } = made({ secret: new Uint8Array(32).fill(7) });
      await ledger.answer(task(), value);
      return JSON.parse(String(store.text));
    }),
  );
  assert.notEqual(answers[0].memo[0].answer, answers[1].memo[0].answer);
  assert.ok(!JSON.stringify(answers[0]).includes("07".repeat(32)), "the secret is not in the ledger");
});
