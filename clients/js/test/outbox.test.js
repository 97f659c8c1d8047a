import assert from "node:assert/strict";
import { test } from "node:test";

import { Ledger } from "../src/ledger.js";
import { checkedUrl } from "../src/outbox.js";
import { Clock, Collector, MemoryStore, task } from "./tasks.js";

const URL_HERE = "http://127.0.0.1:1";
const HOUR = 3_600_000;

/** @param {Clock} clock @param {MemoryStore} store how long a report has to wait, at first and after an attempt */
function until(clock, store) {
  const entry = () => JSON.parse(String(store.text)).report[0];
  return { due: () => entry().due - clock.now, later: () => entry().later - clock.now };
}

/** @param {any} [options] */
async function waiting(options = {}) {
  const [clock, collector, store] = [new Clock(), new Collector(), new MemoryStore()];
  const ledger = new Ledger(store, { clock: clock.read, ...options });
  const receipt = await ledger.answer(task({ expires: "2029-08-12" }), "yes", { url: URL_HERE });
  const flush = (/** @type {any} */ more = {}) => ledger.flush(null, { fetch: collector.fetch, due: true, ...more });
  return { clock, collector, ledger, receipt, flush, ...until(clock, store) };
}

test("a report is sent as the protocol says, and nothing else is", async () => {
  const { clock, collector, receipt, flush } = await waiting();
  clock.now += HOUR;
  assert.deepEqual(await flush(), { sent: 1, refused: 0, expired: 0, waiting: 0 });
  const [{ url, options }] = collector.requests;
  assert.match(url, /^http:\/\/127\.0\.0\.1:1\/v1\/tasks\/[0-9a-f]{64}\/reports$/);
  const report = Buffer.from(receipt.body).toString("base64");
  assert.equal(options.body, `{"reports":[{"id":"${receipt.id}","report":"${report}"}]}`);
  assert.match(receipt.id, /^[0-9a-f]{32}$/);
  assert.deepEqual(options.headers, { "Content-Type": "application/json" });
  assert.equal(options.credentials, "omit");
  assert.equal(options.redirect, "error");
  await flush({ due: false });
  assert.equal(collector.requests.length, 1, "what was sent is not sent again");
});

test("a report waits for a random time, uniform up to the delay", async () => {
  // Kolmogorov's distance of 400 waits from a uniform law: above 0.135 with a chance below 1e-6.
  const waits = [];
  for (let i = 0; i < 400; i += 1) waits.push((await waiting({ delay: 100 })).due() / 100_000);
  const sorted = waits.sort((a, b) => a - b);
  assert.ok(sorted.every((wait, i) => Math.abs(wait - i / 400) < 0.135));
  const { collector, flush } = await waiting();
  await flush();
  assert.equal(collector.requests.length, 0, "not before it is due"); // due at once: 2^-32
  await flush({ due: false });
  assert.equal(collector.requests.length, 1, "unless one asks for it");
});

test("an answer that got lost makes the device send the same id again, counted once", async () => {
  const { clock, collector, receipt, flush } = await waiting({ delay: 0 });
  const { fetch } = collector;
  const sent = [];
  for (let attempt = 0; attempt < 5; attempt += 1) {
    const lost = attempt < 4;
    const cut = async (/** @type {any[]} */ ...given) => {
      const answer = await fetch(...given);
      if (lost) throw new TypeError("connection reset");
      return answer;
    };
    sent.push(await flush({ fetch: cut }));
    clock.now += 6 * HOUR;
  }
  assert.deepEqual(sent.map((each) => each.sent), [0, 0, 0, 0, 1]);
  assert.deepEqual([...collector.reports.keys()], [receipt.id]);
  assert.equal(collector.requests.length, 5);
});

test("what the collector answers decides what the device does", async () => {
  const status = (/** @type {number} */ code) => new Response("", { status: code });
  const say = (/** @type {any} */ body) => new Response(typeof body === "string" ? body : JSON.stringify(body));
  /** @type {[string, (id: string) => Response | Error][]} */
  const cases = [
    ...[400, 401, 403, 404, 405, 410, 413, 415, 422].map((code) => /** @type {any} */ (["refused", () => status(code)])),
    ...[202, 301, 408, 409, 425, 429, 500, 502, 503, 599].map((code) => /** @type {any} */ (["waiting", () => status(code)])),
    ["waiting", () => new TypeError("no network")],
    ["sent", (id) => say({ results: [{ id, status: "accepted" }] })],
    ["sent", (id) => say({ results: [{ id, status: "duplicate" }] })],
    ["refused", (id) => say({ results: [{ id, status: "rejected", reason: "closed" }] })],
    ["waiting", (id) => say({ results: [{ id, status: "fine" }] })],
    ["waiting", () => say({ results: [{ id: "0".repeat(32), status: "accepted" }] })],
    ...["", "{}", "[]", "null", '{"results":1}', '{"results":[null]}', "x".repeat(100_000)].map((text) => /** @type {any} */ (["waiting", () => say(text)])),
  ];
  for (const [state, trouble] of cases) {
    const { collector, ledger, flush } = await waiting({ delay: 0 });
    collector.trouble = trouble;
    assert.equal(/** @type {any} */ (await flush())[state], 1, String(trouble));
    const seen = await ledger.overview();
    assert.equal(seen.counts[state], 1);
    assert.deepEqual(seen.lost, state === "refused" ? { reports: 1, epsilon: 1 } : { reports: 0, epsilon: 0 });
    assert.equal(Boolean(seen.sent[0].reason), state !== "sent");
  }
});

test("an answer without end is cut", async () => {
  const { collector, flush } = await waiting({ delay: 0 });
  let pulled = 0;
  collector.trouble = () => new Response(new ReadableStream({ pull: (to) => (pulled++, to.enqueue(new Uint8Array(4096).fill(32))) }));
  assert.equal((await flush()).waiting, 1);
  assert.ok(pulled < 40, String(pulled));
});

test("later is a random time up to 2^attempts x 30 seconds, six hours at most", async () => {
  const most = [];
  for (let person = 0; person < 40; person += 1) {
    const { clock, collector, flush, later } = await waiting({ delay: 0 });
    collector.trouble = () => new Response("", { status: 503 });
    for (let attempt = 1; attempt < 14; attempt += 1) {
      await flush({ due: false });
      await flush({ due: false });
      assert.equal(collector.requests.length, attempt, "not tried again before its time");
      const limit = Math.min(30_000 * 2 ** attempt, 6 * HOUR);
      assert.ok(later() >= 0 && later() <= limit);
      most[attempt] = Math.max(most[attempt] ?? 0, later() / limit);
      clock.now += later() + 1;
    }
  }
  assert.ok(most.every((share) => share > 0.5), String(most)); // none of 40 in the upper half: 13 x 2^-40
});

test("Retry-After is honoured, in seconds or as a date, for a day at most", async () => {
  const { now } = new Clock();
  for (const [text, least] of /** @type {[string, number][]} */ ([
    ["120", 120_000],
    ["999999999999", 24 * HOUR],
    [new Date(now + 5 * HOUR).toUTCString(), 5 * HOUR],
    [new Date(now + 500 * HOUR).toUTCString(), 24 * HOUR],
    [new Date(now - HOUR).toUTCString(), 0],
    ["soon", 0],
    ["-5", 0],
  ])) {
    const { collector, flush, later } = await waiting({ delay: 0 });
    collector.trouble = () => new Response("", { status: 429, headers: { "Retry-After": text } });
    await flush();
    assert.ok(later() >= least && later() <= least + 60_000, `${text}: ${later()}`);
  }
});

test("from the day on which a task is void nothing is sent, and the person sees what was lost", async () => {
  const { clock, collector, ledger, flush } = await waiting({ delay: 0 });
  clock.now = Date.parse("2029-08-12T00:00:00Z");
  assert.deepEqual(await flush(), { sent: 0, refused: 0, expired: 1, waiting: 0 });
  assert.equal(collector.requests.length, 0);
  assert.deepEqual((await ledger.overview()).lost, { reports: 1, epsilon: 1 });
});

test("reports are sent one by one, each to its own collector", async () => {
  const [clock, collector] = [new Clock(), new Collector()];
  const ledger = new Ledger(new MemoryStore(), { clock: clock.read, delay: 0 });
  await ledger.answer(task(), "yes", { url: "https://a.example/" });
  await ledger.answer(task({ min_batch: 2 }), "no");
  assert.equal((await ledger.flush(null, { fetch: collector.fetch })).waiting, 1, "one has no collector yet");
  await ledger.flush("https://b.example", { fetch: collector.fetch });
  assert.deepEqual(collector.requests.map(({ url }) => url.slice(0, 24)), ["https://a.example/v1/tas", "https://b.example/v1/tas"]);
  assert.ok(collector.requests.every(({ options }) => JSON.parse(options.body).reports.length === 1));
});

test("two that flush at once send a report once", async () => {
  const { collector, flush } = await waiting({ delay: 0 });
  const { fetch } = collector;
  const slow = async (/** @type {any[]} */ ...given) => {
    await new Promise((resolve) => setTimeout(resolve, 20));
    return fetch(...given);
  };
  const both = await Promise.all([flush({ fetch: slow }), flush({ fetch: slow })]);
  assert.deepEqual(both.map((each) => each.sent).sort(), [0, 1]);
  assert.equal(collector.requests.length, 1);
});

test("a report that is forgotten while it travels stays forgotten", async () => {
  const { collector, ledger, flush } = await waiting({ delay: 0 });
  const { fetch } = collector;
  await flush({
    fetch: async (/** @type {any[]} */ ...given) => {
      await ledger.forget(null, { everything: true });
      return fetch(...given);
    },
  });
  assert.deepEqual((await ledger.overview()).sent, []);
});

test("reports go to https, or to this machine", () => {
  for (const url of ["https://example.org", "https://example.org/a/", "http://localhost:8000", "http://127.0.0.1", "http://[::1]:1"]) {
    assert.equal(checkedUrl(url), url.replace(/\/$/, ""));
  }
  for (const url of ["http://example.org", "ftp://a", "example.org", "", null, 1, "https://u:p@a", "https://a?b", "https://a#b", "https://a b", "file:///etc", "javascript:1", "http://127.0.0.1.example.org"]) {
    assert.throws(() => checkedUrl(url), { kind: "ParameterError" }, String(url));
  }
});
