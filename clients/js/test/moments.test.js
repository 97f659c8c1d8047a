/** Moments of a ledger to the millisecond: when reports may be sent, are missed or given up, when places end and begin. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { webCrypto } from "../src/exact.js";
import { COIN, Collector, MemoryStore, made, question, task } from "./tasks.js";

const URL_HERE = "https://here.example";
const DAY = 86_400_000;
const QUARTER = 7_889_400_000;
const START = Date.parse("2026-11-16T00:00:00Z");
const LONG = { opens: "2026-11-16", days: 3660, count: 1 };
const LOW = { ...COIN, epsilon: 0.5, kernel: { ...COIN.kernel, keep: "11400000000000000000" } };

/** @param {MemoryStore | any} store */
const bookOf = (store) => JSON.parse(String(store.text));
/** @param {string} text @param {any} [changes] */
const asking = (text, changes = {}) => task({ questions: [[question({ text })]], ...changes });

/** All random times are the shortest (0) or the longest (255) that there are. @template T @param {number} byte @param {() => Promise<T>} run */
async function chance(byte, run) {
  const fill = (/** @type {any} */ found) => new Uint8Array(found.buffer).fill(byte) && found;
  Object.defineProperty(webCrypto, "getRandomValues", { configurable: true, value: fill });
  try {
    return await run();
  } finally {
    delete (/** @type {any} */ (webCrypto).getRandomValues);
  }
}

/** @param {any} [options] @param {number} [now] */
function ledgerAt(options = {}, now = START) {
  const found = made(options);
  found.clock.now = now;
  const collector = new Collector();
  const flush = (/** @type {any} */ more = {}) => found.ledger.flush(null, { fetch: collector.fetch, ...more });
  return { ...found, collector, flush };
}

for (const [delay, late] of [[0, 600], [60, 600], [600, 600], [3600, 3600], [7200, 7200]]) {
  test(`a moment is missed ${late} seconds after it where reports wait ${delay}, and then drawn again once`, async () => {
    for (const more of [0, 1]) {
      const { clock, store, ledger, collector, flush } = ledgerAt({ delay });
      await chance(0, () => ledger.take(task(), { url: URL_HERE }));
      const [{ due }] = bookOf(store).report;
      assert.equal(due, START + 600_000);
      clock.now = due + 1000 * late + more;
      await chance(255, () => flush({ due: true }));
      if (!more || !delay) {
        assert.equal(collector.requests.length, 1);
        continue;
      }
      assert.equal(collector.requests.length, 0);
      assert.equal(bookOf(store).report[0].due, clock.now + 1000 * delay);
      clock.now += 1000 * (delay + late) + 1;
      await flush({ due: true });
      assert.equal(collector.requests.length, 1, "it moves once");
    }
  });
}

test("a moment that is drawn again is a second before the window ends at the latest", async () => {
  for (const [left, moment] of [[7200, 3600], [3601, 3600], [3600, 3599], [2, 1], [1, 0]]) {
    const { clock, store, ledger } = ledgerAt({ delay: 3600 });
    await chance(0, () => ledger.take(task(), { url: URL_HERE }));
    clock.now = START + 7 * DAY - 1000 * left;
    const fetch = /** @type {any} */ (async () => new Response("", { status: 500 }));
    await chance(255, () => ledger.flush(null, { due: true, fetch }));
    assert.equal(bookOf(store).report[0].due, clock.now + 1000 * moment, `${left}`);
  }
});

test("a report is given up in the very millisecond, and why is told", async () => {
  for (const [tried, days, ends, why] of /** @type {[number | null, number, number, RegExp][]} */ ([
    [null, 7, 7 * DAY, /its window was over before it could be sent/],
    [0, 7, 7 * DAY, /in as many days as there are/],
    [3_600_000, 1, DAY + 3_600_000, /in as many days as there are/],
    [3_600_000, 7, 7 * DAY + 3_600_000, /in as many days as there are/],
    [2 * DAY, 7, 8 * DAY, /the task was void before the collector confirmed it/],
  ])) {
    const { clock, ledger, collector, flush } = ledgerAt();
    collector.trouble = () => new Response("", { status: 500 });
    await ledger.take(task({ sending: { attempts: 8, days } }), { url: URL_HERE });
    if (tried !== null) {
      clock.now = START + tried;
      assert.equal((await flush()).waiting, 1);
    }
    clock.now = START + ends - 1;
    assert.equal((await flush({ task: "0".repeat(64) })).waiting, 1, `${why}`);
    clock.now += 1;
    assert.deepEqual(await flush({ task: "0".repeat(64) }), { sent: 0, refused: 0, expired: 1, waiting: 0 });
    const seen = await ledger.overview();
    assert.match(seen.sent[0].reason, why);
    assert.deepEqual(seen.lost, { reports: 1, epsilon: 1 });
  }
});

test("a place lasts a year to the millisecond", async () => {
  const { clock, ledger } = ledgerAt();
  for (const text of ["a", "b"]) await ledger.take(asking(text, { window: LONG }), { url: URL_HERE });
  for (const [later, over] of /** @type {[number, boolean][]} */ ([[0, false], [QUARTER, false], [4 * QUARTER - 1, false], [4 * QUARTER, true]])) {
    clock.now = START + later;
    const { places: [place] } = await ledger.overview();
    assert.deepEqual([place.over, place.ends, place.spent], [over, "2027-11-16", 2]);
    if (!over) await assert.rejects(ledger.take(asking("c", { window: LONG }), { url: URL_HERE }), { kind: "BudgetError", most: "2", used: "2", until: "2027-11-16" });
  }
  await ledger.take(asking("c", { window: LONG }), { url: URL_HERE });
  assert.deepEqual((await ledger.overview()).places.map(({ over, spent }) => [over, spent]), [[true, 2], [false, 1]]);
});

test("places and the day of the next one change with each quarter, to the millisecond", async () => {
  const { clock, ledger } = ledgerAt({ places: 1 });
  await ledger.allow({ places: 0 });
  for (const [later, more] of [[-DAY, 0], [0, 0], [QUARTER - 1, 0], [QUARTER, 1], [2 * QUARTER - 1, 1], [9 * QUARTER, 9]]) {
    clock.now = START + later;
    const next = new Date(START + (more + 1) * QUARTER).toISOString().slice(0, 10);
    assert.deepEqual((await ledger.overview()).left, { places: 1 + more, next, spent: 0 });
  }
  for (const places of [3, 2]) await ledger.allow({ places });
  assert.equal((await ledger.overview()).left.places, 15);
});

test("what is allowed is for the place that a task is answered in", async () => {
  for (const [signed, allowed, taken, fits] of /** @type {[string | null, string | null, string | null, boolean][]} */ ([
    [null, null, null, true],
    [null, URL_HERE, URL_HERE, true],
    [null, "HTTPS://Here.example/", URL_HERE, true],
    [null, URL_HERE, "https://other.example", false],
    [null, null, URL_HERE, false],
    [URL_HERE, null, null, true],
    [URL_HERE, URL_HERE, URL_HERE, true],
  ])) {
    const { ledger } = ledgerAt({ collector: 1 });
    const own = task().document.collector;
    const changes = { epsilon: 2, budget: 9, ...(signed && { collector: { ...own, url: signed } }) };
    const asked = task(changes);
    const take = () => ledger.take(asked, { url: taken });
    await ledger.allow({ task: asked, epsilon: 0.5, url: allowed });
    await assert.rejects(take(), { kind: "BudgetError" });
    await ledger.allow({ task: asked, epsilon: 0.5, url: allowed });
    if (!fits) {
      await assert.rejects(take(), { kind: "BudgetError", message: /of the 1 for this collector/ }, `${[signed, allowed, taken]}`);
      continue;
    }
    assert.equal((await take()).cost, 2);
    await ledger.allow({ task: asked, epsilon: 1 }); // from now on the ledger knows where it is answered
    await ledger.take(asking("b", { ...changes, epsilon: 1 }), { url: taken });
    assert.equal((await ledger.overview()).places[0].most, 3);
  }
});

test("what can be allowed has ends", async () => {
  const { ledger } = ledgerAt();
  await ledger.allow({ places: 1000 });
  await ledger.allow({ task: task(), epsilon: 1000 });
  for (const places of [1001, -1, 0.5, NaN, /** @type {any} */ ("1")]) await assert.rejects(ledger.allow({ places }), { kind: "ParameterError", message: /places must be/ });
  for (const epsilon of [1000.5, -0.5, 0, NaN, /** @type {any} */ ("1")]) await assert.rejects(ledger.allow({ task: task(), epsilon }), { kind: "ParameterError", message: /epsilon must be/ });
  for (const apart of [{ epsilon: 1 }, { places: 1, epsilon: 1 }]) await assert.rejects(ledger.allow(apart), { kind: "ParameterError" });
  assert.equal((await ledger.overview()).left.places, 1002);
});

test("an offer refuses what could not be taken up, and changes nothing", async () => {
  const { clock, store, ledger } = ledgerAt();
  await ledger.overview();
  const before = store.text;
  await ledger.offer(task(), { url: URL_HERE });
  for (const [asked, terms, kind] of /** @type {[any, any, string][]} */ ([
    [task({ epsilon: 3, budget: 3 }), {}, "BudgetError"],
    [task({ window: { opens: "2026-11-17", days: 1, count: 1 } }), {}, "WindowError"],
    [task(), { harmless: ["yes"] }, "PrivacyError"],
    [task(), { level: 1 }, "ParameterError"],
    [task(), { url: "http://example.org" }, "ParameterError"],
    [task(), { strata: { country: "DE" } }, "ParameterError"],
  ])) await assert.rejects(ledger.offer(asked, terms), { kind });
  assert.equal(store.text, before);
  clock.now += 1;
  assert.equal((await ledger.take(task(), { url: URL_HERE })).cost, 1);
  await ledger.offer(task());
  assert.equal((await ledger.overview()).left.spent, 1);
});

test("the same question waits until the last day of the other task is over", async () => {
  const { clock, ledger } = ledgerAt({ collector: 99 });
  await ledger.take(task({ window: { opens: "2026-11-16", days: 2, count: 3 }, budget: 9 }), { url: URL_HERE });
  const other = task({ window: LONG, budget: 9 });
  for (let days = 0; days < 6; days += 1) {
    clock.now = START + (days + 1) * DAY - 1;
    await assert.rejects(ledger.take(other, { url: URL_HERE }), { kind: "WindowError", same: true });
  }
  clock.now += 1;
  assert.ok((await ledger.take(other, { url: URL_HERE })).new);
});

test("a new ledger that may follow another waits out windows to the millisecond", async () => {
  for (const [born, first] of [[START - 1, 1], [START, 1], [START + 1, 2], [START + DAY, 2]]) {
    const { clock, ledger } = ledgerAt({ pause: true, collector: 99 }, born);
    await ledger.allow({ places: 0 });
    const asked = task({ window: { opens: "2026-11-15", days: 1, count: 9 }, budget: 9 });
    clock.now = START + first * DAY - 1;
    const from = new Date(START + first * DAY).toISOString().slice(0, 10);
    await assert.rejects(ledger.take(asked, { url: URL_HERE }), { kind: "WindowError", from }, `${born - START}`);
    clock.now += 1;
    assert.equal((await ledger.take(asked, { url: URL_HERE })).window, first + 1);
  }
});

test("what is chosen again holds for all later windows", async () => {
  const { clock, store, ledger } = ledgerAt({ collector: 99 });
  const asked = task({ window: { opens: "2026-11-16", days: 1, count: 4 }, epsilon: 0.5, design: LOW, budget: 9, strata: [{ name: "land", values: ["DE", "FR"] }] });
  const heads = [];
  for (const strata of [{ land: "DE" }, null, { land: "FR" }, null]) {
    await ledger.answer(asked, "yes", { strata, url: heads.length ? null : URL_HERE });
    heads.push(Buffer.from(bookOf(store).report.at(-1).body, "base64")[0]);
    clock.now += DAY;
  }
  assert.deepEqual(heads, [1, 1, 2, 2]);
});

test("what is over does not stay reserved, and what was opened costs once", async () => {
  const { clock, ledger } = ledgerAt({ collector: 99 });
  const asked = task({ window: { opens: "2026-11-16", days: 1, count: 5 }, budget: 9 });
  await ledger.take(asked, { url: URL_HERE });
  const seen = async () => {
    const { places: [{ spent, reserved, left }] } = await ledger.overview();
    return [spent, reserved, left];
  };
  assert.deepEqual(await seen(), [1, 4, 4]);
  clock.now = START + 3 * DAY; // two windows went by
  assert.deepEqual(await seen(), [1, 2, 6]);
  await ledger.answer(asked, "yes");
  assert.deepEqual(await seen(), [2, 1, 6]);
  clock.now = START + 5 * DAY;
  assert.deepEqual(await seen(), [2, 0, 7]);
});

test("places are told in the order in which they began, with the collector that has them", async () => {
  const { clock, ledger } = ledgerAt({ places: 9 });
  const named = (/** @type {number} */ byte, /** @type {string} */ name) => task({ collector: { ...task({}, byte).document.collector, name }, window: LONG }, byte);
  for (const [byte, name] of /** @type {[number, string][]} */ ([[3, "C"], [1, "A"], [2, "B"]])) {
    await ledger.take(named(byte, name), { url: URL_HERE });
    clock.now += 1000;
  }
  assert.deepEqual((await ledger.overview()).places.map(({ collector }) => collector), ["C", "A", "B"]);
  clock.now = START + 4 * QUARTER;
  await ledger.take(task({ questions: [[question({ text: "more" })]], window: LONG }, 3), { url: URL_HERE });
  const { places } = await ledger.overview();
  assert.deepEqual(places.map(({ over }) => over), [true, false, false, false]);
  assert.deepEqual(places.map(({ collector }) => collector), ["C", "A", "B", "Example Institute"]);
});

test("the smallest budget that a collector ever gave holds, whatever it says later", async () => {
  const { store, ledger } = ledgerAt({ collector: 9 });
  const least = () => Object.values(bookOf(store).account).map((each) => each.least.slice(0, -30));
  for (const [text, budget, wanted] of /** @type {[string, number, string][]} */ ([["a", 5, "5"], ["b", 3, "3"], ["c", 9, "3"]])) {
    await ledger.take(asking(text, { window: LONG, budget }), { url: URL_HERE });
    assert.deepEqual(least(), [wanted]);
    assert.equal((await ledger.overview()).places[0].most, Number(wanted));
  }
  await assert.rejects(ledger.take(asking("d", { window: LONG, budget: 9 }), { url: URL_HERE }), { kind: "BudgetError", message: /of the 3 for this collector/ });
});

test("what is reserved for one task is not given to another, until its windows are over", async () => {
  const { clock, ledger } = ledgerAt({ collector: 3 });
  await ledger.take(task({ window: { opens: "2026-11-16", days: 1, count: 3 }, budget: 9 }), { url: URL_HERE });
  const more = asking("more", { window: LONG, budget: 9 });
  for (const [day, used] of [[0, "3"], [1, "3"]]) {
    clock.now = START + Number(day) * DAY;
    if (day) await ledger.answer(task({ window: { opens: "2026-11-16", days: 1, count: 3 }, budget: 9 }), "yes");
    await assert.rejects(ledger.take(more, { url: URL_HERE }), { kind: "BudgetError", most: "3", used });
  }
  clock.now = START + 3 * DAY; // the last one was not opened
  assert.equal((await ledger.take(more, { url: URL_HERE })).cost, 1);
});
