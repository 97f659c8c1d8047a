import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "node:test";

import { Ledger } from "../src/ledger.js";
import { checkedUrl } from "../src/addresses.js";
import { Clock, Collector, MemoryStore, question, task } from "./tasks.js";

const URL_HERE = "http://127.0.0.1:1";
const HOUR = 3_600_000;

/** @param {Clock} clock @param {MemoryStore} store how long a report has to wait, at first and after an attempt */
function until(clock, store) {
  const entry = () => JSON.parse(String(store.text)).report[0];
  return { due: () => entry().due - clock.now, later: () => entry().later - clock.now };
}

const LONG = { opens: "2026-11-16", days: 300, count: 1 };

/** @param {any} [options] @param {any} [changes] */
async function waiting(options = {}, changes = {}) {
  const [clock, collector, store] = [new Clock(), new Collector(), new MemoryStore()];
  const ledger = new Ledger(store, { clock: clock.read, ...options });
  const receipt = await ledger.answer(task({ window: LONG, ...changes }), "yes", { url: URL_HERE });
  const flush = (/** @type {any} */ more = {}) => ledger.flush(null, { fetch: collector.fetch, ...more });
  return { clock, collector, ledger, receipt, flush, store, ...until(clock, store) };
}

test("a report is sent as the protocol says, and nothing else is", async () => {
  const { clock, collector, receipt, flush, ledger, due } = await waiting();
  clock.now += due() - 1;
  assert.equal((await flush({ due: true })).waiting, 1, "not before its moment");
  clock.now += 1;
  assert.deepEqual(await flush({ due: true }), { sent: 1, refused: 0, expired: 0, waiting: 0 });
  const [{ url, options }] = collector.requests;
  assert.match(url, /^http:\/\/127\.0\.0\.1:1\/v1\/tasks\/[0-9a-f]{64}\/reports$/);
  const [{ body: report }] = (await ledger.export()).reports;
  assert.equal(options.body, `{"reports":[{"id":"${receipt.id}","report":"${report}"}]}`);
  assert.match(receipt.id, /^[0-9a-f]{32}$/);
  assert.deepEqual(options.headers, { "Content-Type": "application/json" });
  assert.equal(options.credentials, "omit");
  assert.equal(options.redirect, "error");
  await flush();
  assert.equal(collector.requests.length, 1, "what was sent is not sent again");
});

test("a page that is left sends its report at once, in one of its attempts, and answers no more", async () => {
  const { collector, ledger, receipt, flush, store } = await waiting({ delay: 0 });
  const entry = () => JSON.parse(String(store.text)).report[0];
  const { most } = entry();
  const asked = task({ window: LONG });
  const old = await ledger.parting(receipt, collector);
  assert.equal(entry().most, most - 1);
  await ledger.answer(asked, "no");
  old?.();
  assert.equal(collector.requests.length, 0, "what was answered before is not sent");
  const leave = await ledger.parting(receipt, collector);
  assert.equal(entry().most, most - 1, "once");
  leave?.();
  leave?.();
  assert.equal(collector.requests.length, 1);
  const [{ url, options }] = collector.requests;
  assert.equal(options.body, `{"reports":[{"id":"${receipt.id}","report":"${entry().body}"}]}`);
  assert.ok(options.keepalive);
  await assert.rejects(ledger.answer(asked, "yes"), { kind: "WindowError" });
  assert.equal((await flush()).sent, 1);
  assert.deepEqual(
    collector.requests.map((/** @type {any} */ each) => [each.url, each.options.body, each.options.headers]),
    [0, 1].map(() => [url, options.body, options.headers]),
  );
  assert.equal(await ledger.parting(receipt, collector), null, "it was tried");
});

test("a page that is left after its window sends nothing, nor one whose report may be tried once", async () => {
  const { clock, collector, ledger, receipt } = await waiting();
  const leave = await ledger.parting(receipt, collector);
  clock.now += 300 * 24 * HOUR;
  leave?.();
  assert.equal(collector.requests.length, 0);
  const once = await waiting({}, { sending: { attempts: 1, days: 7 } });
  assert.equal(await once.ledger.parting(once.receipt, once.collector), null);
});

test("an answer that got lost makes the device send the same id again, counted once", async () => {
  const { clock, collector, receipt, flush } = await waiting();
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
    ["refused", (id) => say({ results: [{ id, status: "rejected", reason: { toString: 1 } }] })],
    ["waiting", (id) => say({ results: [{ id, status: { toString: 1 } }] })],
    ["waiting", () => say({ results: { find: 1 } })],
    ["waiting", () => say("[".repeat(60_000))],
    ["waiting", () => /** @type {any} */ ({ status: 200, headers: null, body: null })],
    ["waiting", () => /** @type {any} */ (Object.create(null))],
    ["waiting", () => say({ results: [{ id: "0".repeat(32), status: "accepted" }] })],
    ...["", "{}", "[]", "null", '{"results":1}', '{"results":[null]}', "x".repeat(100_000)].map((text) => /** @type {any} */ (["waiting", () => say(text)])),
  ];
  for (const [state, trouble] of cases) {
    const { collector, ledger, flush } = await waiting();
    collector.trouble = trouble;
    assert.equal(/** @type {any} */ (await flush())[state], 1, String(trouble));
    const seen = await ledger.overview();
    assert.equal(/** @type {any} */ (seen.counts)[state], 1);
    assert.deepEqual(seen.lost, state === "refused" ? { reports: 1, epsilon: 1 } : { reports: 0, epsilon: 0 });
    assert.equal(typeof seen.sent[0].reason, "string");
    if (state === "waiting") assert.notEqual(seen.sent[0].reason, "");
  }
});

test("an answer without end is cut", async () => {
  const { collector, flush } = await waiting();
  let pulled = 0;
  collector.trouble = () => new Response(new ReadableStream({ pull: (to) => (pulled++, to.enqueue(new Uint8Array(4096).fill(32))) }));
  assert.equal((await flush()).waiting, 1);
  assert.ok(pulled < 40, String(pulled));
});

test("later is a random time up to 2^attempts x 30 seconds; after the last attempt it is given up", async () => {
  /** @type {number[]} */
  const most = [];
  for (let person = 0; person < 40; person += 1) {
    const { clock, collector, flush, later, ledger } = await waiting();
    collector.trouble = () => new Response("", { status: 503 });
    for (let attempt = 1; attempt <= 8; attempt += 1) {
      const told = await flush();
      await flush();
      assert.equal(collector.requests.length, attempt, "not tried again before its time");
      if (attempt === 8) {
        assert.deepEqual(told, { sent: 0, refused: 0, expired: 1, waiting: 0 });
        break;
      }
      const limit = 30_000 * 2 ** attempt;
      assert.ok(later() >= 0 && later() <= limit);
      most[attempt] = Math.max(most[attempt] ?? 0, later() / limit);
      clock.now += later() + 1;
    }
    clock.pass(3);
    await flush();
    assert.equal(collector.requests.length, 8);
    assert.deepEqual((await ledger.overview()).lost, { reports: 1, epsilon: 1 });
  }
  assert.ok(most.every((share) => share > 0.5), String(most)); // none of 40 in the upper half: 7 x 2^-40
});

test("attempts and days are those of the task, and end with it: no answer is a beacon", async () => {
  const count = async (/** @type {any} */ changes, hours = 24) => {
    const { clock, collector, flush } = await waiting({}, changes);
    collector.trouble = () => new Response("", { status: 500 });
    for (let i = 0; i < 60; i += 1) {
      await flush();
      clock.now += hours * HOUR;
    }
    return collector.requests.length;
  };
  assert.equal(await count({}), 7, "a day apart: seven days");
  assert.equal(await count({}, 6), 8);
  assert.equal(await count({ sending: { attempts: 2, days: 7 } }), 2);
  assert.equal(await count({ sending: { attempts: 8, days: 1 } }, 7), 4);
  assert.equal(await count({ window: { opens: "2026-11-16", days: 1, count: 1 } }, 12), 3, "until the task is void");
});

test("nobody holds up the reports for another, whatever they answer or do not", async () => {
  const clock = new Clock();
  const ledger = new Ledger(new MemoryStore(), { clock: clock.read, places: 9 });
  for (let byte = 1; byte <= 6; byte += 1) {
    for (const text of ["a", "b"]) await ledger.answer(task({ questions: [[question({ text })]] }, byte), "yes", { url: `https://c${byte}.example` });
  }
  const honest = new Collector();
  /** @type {any} */
  const fetch = async (/** @type {string} */ url, /** @type {any} */ options) => {
    if (url.startsWith("https://c1.")) return new Promise(() => {}); // never, and deaf to its signal
    if (url.startsWith("https://c2.")) return new Response(new ReadableStream({ pull: () => new Promise(() => {}) }));
    if (url.startsWith("https://c3.")) throw { toString: 1 };
    if (url.startsWith("https://c4.")) return Response.json({ results: [{ id: JSON.parse(options.body).reports[0].id, status: "rejected", reason: { toString: 1 } }] });
    return honest.fetch(url, options);
  };
  const told = await ledger.flush(null, { fetch, timeout: 0.2 });
  assert.deepEqual(told, { sent: 4, refused: 2, expired: 0, waiting: 6 });
  assert.equal(honest.reports.size, 4);
});

test("in Node each report has a connection of its own", async (t) => {
  const ports = new Set();
  /** @type {string[]} */
  const headers = [];
  const server = createServer((request, response) => {
    ports.add(request.socket.remotePort);
    headers.push(Object.keys(request.headers).sort().join());
    let text = "";
    request.on("data", (part) => (text += part));
    request.on("end", () => response.end(JSON.stringify({ results: [{ id: JSON.parse(text).reports[0].id, status: "accepted" }] })));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(null)));
  t.after(() => server.close());
  const { port } = /** @type {any} */ (server.address());
  const clock = new Clock();
  const ledger = new Ledger(new MemoryStore(), { clock: clock.read });
  for (const text of ["a", "b"]) await ledger.answer(task({ questions: [[question({ text })]] }), "yes", { url: `http://127.0.0.1:${port}` });
  assert.equal((await ledger.flush()).sent, 2);
  assert.equal(ports.size, 2);
  assert.deepEqual([...new Set(headers)], ["connection,content-length,content-type,host"]);
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
    ["Fri, 31 Dec 9999 23:59:59", 0],
    ["Fri, 31 Dec 9999 23:59:59 -0000", 0],
  ])) {
    const { collector, flush, later } = await waiting();
    collector.trouble = () => new Response("", { status: 429, headers: { "Retry-After": text } });
    await flush();
    assert.ok(later() >= least && later() <= least + 60_000, `${text}: ${later()}`);
    await flush();
    assert.equal(collector.requests.length, 1, "flush of either kind keeps to it");
  }
});

test("from the day on which a task is void nothing is sent, and the person sees what was lost", async () => {
  const { clock, collector, ledger, flush } = await waiting({}, { window: { opens: "2026-11-16", days: 1, count: 1 } });
  clock.now = Date.parse("2026-11-18T00:00:00Z");
  assert.deepEqual(await flush(), { sent: 0, refused: 0, expired: 1, waiting: 0 });
  assert.equal(collector.requests.length, 0);
  assert.deepEqual((await ledger.overview()).lost, { reports: 1, epsilon: 1 });
});

test("a moment that was missed is drawn again, once, in an hour from then", async () => {
  const { clock, collector, flush, due } = await waiting();
  clock.pass(2);
  await flush({ due: true });
  assert.ok(due() > 0 && due() <= HOUR, String(due())); // at once: 2^-32
  assert.equal(collector.requests.length, 0);
  clock.pass(2);
  await flush({ due: true });
  assert.equal(collector.requests.length, 1, "whoever looks once a day sends it then");
});

test("reports are sent one by one, each to its own collector", async () => {
  const [clock, collector] = [new Clock(), new Collector()];
  const ledger = new Ledger(new MemoryStore(), { clock: clock.read });
  await ledger.answer(task(), "yes", { url: "https://a.example/" });
  await ledger.answer(task({}, 8), "no");
  assert.equal((await ledger.flush(null, { fetch: collector.fetch })).waiting, 1, "one has no collector yet");
  await ledger.flush("https://b.example", { fetch: collector.fetch });
  assert.deepEqual(collector.requests.map(({ url }) => url.slice(0, 24)), ["https://a.example/v1/tas", "https://b.example/v1/tas"]);
  assert.ok(collector.requests.every(({ options }) => JSON.parse(options.body).reports.length === 1));
});

test("only the reports of a task are sent where it is named, those that wait longest first", async () => {
  const [clock, collector] = [new Clock(), new Collector()];
  const store = new MemoryStore();
  const ledger = new Ledger(store, { clock: clock.read, collector: 9, places: 9 });
  const asked = ["a", "b", "c", "d", "e"].map((text) => task({ budget: 9, questions: [[question({ text })]] }));
  for (const one of asked) await ledger.answer(one, "yes", { url: URL_HERE });
  assert.deepEqual(await ledger.flush(null, { task: asked[2], fetch: collector.fetch }), { sent: 1, refused: 0, expired: 0, waiting: 4 });
  assert.ok(collector.requests[0].url.includes(asked[2].id));
  const due = JSON.parse(String(store.text)).report.filter((/** @type {any} */ each) => each.state === "waiting");
  due.sort((/** @type {any} */ a, /** @type {any} */ b) => a.due - b.due);
  await ledger.flush(null, { fetch: collector.fetch });
  const ids = collector.requests.slice(1).map(({ options }) => JSON.parse(options.body).reports[0].id);
  assert.deepEqual(ids, due.map((/** @type {any} */ each) => each.id));
});

test("a reason is kept up to 200 characters", async () => {
  const { collector, ledger, flush } = await waiting();
  collector.trouble = (id) => Response.json({ results: [{ id, status: "rejected", reason: "x".repeat(5000) }] });
  await flush();
  assert.equal((await ledger.overview()).sent[0].reason, "x".repeat(200));
});

test("a report that is on its way for the last time is not given up meanwhile", async () => {
  const { collector, flush } = await waiting({}, { sending: { attempts: 1, days: 7 } });
  const { fetch } = collector;
  /** @type {any} */
  let meanwhile;
  const told = await flush({
    fetch: async (/** @type {any[]} */ ...given) => {
      meanwhile = await flush();
      return fetch(...given);
    },
  });
  assert.deepEqual(meanwhile, { sent: 0, refused: 0, expired: 0, waiting: 1 });
  assert.deepEqual(told, { sent: 1, refused: 0, expired: 0, waiting: 0 });
});

test("a report that was tried is given up in the moment in which its task is void", async () => {
  const { clock, collector, flush, store } = await waiting({}, { window: { opens: "2026-11-16", days: 1, count: 1 } });
  collector.trouble = () => new Response("", { status: 503 });
  await flush();
  clock.now = JSON.parse(String(store.text)).report[0].void - 1;
  assert.equal((await flush()).waiting, 1);
  clock.now += 1;
  assert.deepEqual(await flush(), { sent: 0, refused: 0, expired: 1, waiting: 0 });
});

test("two that flush at once send a report once", async () => {
  const { collector, flush } = await waiting();
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
  const { collector, ledger, flush } = await waiting();
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
  for (const url of ["https://example.org", "https://example.org/a/", "http://localhost:8000", "http://127.0.0.1", "http://[::1]:1", "https://a:65535", `https://${"a".repeat(63)}.example`, "https://example.org/".padEnd(2000, "a")]) {
    assert.equal(checkedUrl(url), url.replace(/\/$/, ""));
  }
  assert.equal(checkedUrl("HTTP://LocalHost:80/A/"), "http://localhost:80/A");
  for (const url of ["http://example.org", "ftp://a", "example.org", "", null, 1, "https://u:p@a", "https://a?b", "https://a#b", "https://a b", "file:///etc", "javascript:1", "http://127.0.0.1.example.org", "http://[::1].evil.example", "https://a:0", "https://a:65536", "https://-a.example", `https://${"a".repeat(64)}.example`, "https://example.org/".padEnd(2001, "a")]) {
    assert.throws(() => checkedUrl(url), { kind: "ParameterError" }, String(url));
  }
});
