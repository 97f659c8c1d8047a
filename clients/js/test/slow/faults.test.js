import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { Ledger } from "../../src/ledger.js";
import { FileStore } from "../../src/store_file.js";
import { device, live } from "./killed.js";
import { COIN, Clock, Collector, folder, question, task } from "../tasks.js";

const KILLED = fileURLToPath(new URL("killed.js", import.meta.url));
const BEYOND = 1_000_000;
const LOCAL = "http://127.0.0.1:1";

/** @param {string} path @returns {string[]} what the collector has, once for each id */
const received = (path) => (existsSync(join(path, "collector")) ? [...new Set(readFileSync(join(path, "collector"), "utf8").trim().split("\n"))] : []);

/**
 * After a sudden end the device is started again, answers and flushes once more: it has spent once and is counted once, and
 * if it is started only after the task is void, what was spent and not sent is told.
 *
 * @param {string} path
 * @param {string} value
 * @returns {Promise<{spent: number, lost: number}>} what was on the disk after the end
 */
async function again(path, value) {
  const late = new Clock("2030-01-02");
  const before = await new Ledger(join(path, "ledger"), { clock: late.read }).overview();
  const { spent } = before.left;
  assert.ok(spent === 0 || spent === 1, `spent ${spent}`);
  assert.equal(before.sent.length, spent, "the spend and its report are there together");
  assert.ok(received(path).length <= spent, "nothing leaves before its spend is on the disk");
  const copy = join(path, "late");
  mkdirSync(copy);
  if (existsSync(join(path, "ledger"))) writeFileSync(join(copy, "ledger"), readFileSync(join(path, "ledger")));
  const ledger = new Ledger(join(copy, "ledger"), { clock: late.read });
  await ledger.flush("http://127.0.0.1:1", { fetch: () => assert.fail("sent after its end") });
  const { lost, counts } = await ledger.overview();
  assert.deepEqual(lost, { reports: counts.expired, epsilon: counts.expired });
  assert.equal(counts.expired + counts.sent, spent, "what was spent is sent, or told as lost");
  const next = device(path, BEYOND, "kill");
  next.clock.now += 7 * 3_600_000; // later than any next attempt
  await live(next, value);
  await next.ledger.flush(null, { fetch: next.fetch });
  const after = await next.ledger.overview();
  assert.equal(after.left.spent, 1, "overspent");
  assert.equal(after.counts.sent, 1);
  assert.equal(received(path).length, 1, "counted once");
  const left = readdirSync(path).filter((name) => !["ledger", "collector", "late"].includes(name) && !/\.lock\./.test(name));
  assert.deepEqual(left, [], "nothing is left over");
  return { spent, lost: counts.expired };
}

for (const [how, value] of [["kill", "yes"], ["half", "neither"]]) {
  test(`killed at every write and every send (${how}, ${value}): never overspent, and what is lost is told`, async (t) => {
    const path = folder(t);
    mkdirSync(join(path, "0"));
    const alive = spawnSync(process.execPath, [KILLED, join(path, "0"), String(BEYOND), how, value], { encoding: "utf8" });
    const names = JSON.parse(alive.stdout);
    for (const needed of ["writeFileSync", "linkSync", "fsyncSync", "renameSync", "send"]) assert.ok(names.includes(needed), needed);
    const found = { spent: 0, lost: 0 };
    for (let point = 1; point <= names.length; point += 1) {
      const own = join(path, String(point));
      mkdirSync(own);
      const { signal } = spawnSync(process.execPath, [KILLED, own, String(point), how, value]);
      assert.equal(signal, "SIGKILL", `${point}: ${names[point - 1]}`);
      const { spent, lost } = await again(own, value);
      found.spent += spent;
      found.lost += lost;
    }
    t.diagnostic(`${names.length} points, ${found.spent} after the spend, ${found.lost} of them lost if the task ends meanwhile; overspent 0`);
    assert.ok(found.spent > 0 && found.spent < names.length && found.lost > 0 && found.lost < found.spent);
  });
}

test("a full disk at every write: a refusal in words, nothing sent that is not spent", async (t) => {
  const path = folder(t);
  let refused = 0;
  for (let point = 1; ; point += 1) {
    const own = join(path, String(point));
    mkdirSync(own);
    /** @type {string[]} */
    const names = [];
    try {
      await live(device(own, point, "full", names), "yes");
      if (names.length < point) break;
    } catch (error) {
      const { kind, message } = /** @type {any} */ (error);
      assert.equal(kind, "LedgerError");
      assert.match(message, /cannot grow: the disk is full/);
      refused += 1;
    }
    await again(own, "yes");
  }
  t.diagnostic(`${refused} refusals`);
  assert.ok(refused > 20);
});

/** @param {string} path @param {string} script @returns {Promise<string>} */
const child = (path, script) =>
  new Promise((resolve, reject) => {
    const running = spawn(process.execPath, ["--input-type=module", "-e", script, path], { stdio: ["ignore", "pipe", "inherit"] });
    let told = "";
    running.stdout.on("data", (data) => (told += data));
    running.on("exit", (code) => (code ? reject(new Error(`exit code ${code}`)) : resolve(told)));
  });

test("several processes at once spend what there is, and no more", async (t) => {
  const path = join(folder(t), "ledger");
  const script = `
    const { Ledger } = await import(${JSON.stringify(new URL("../../src/ledger.js", import.meta.url))});
    const { Clock, question, task } = await import(${JSON.stringify(new URL("../tasks.js", import.meta.url))});
    const clock = new Clock();
    const ledger = new Ledger(process.argv[1], { clock: clock.read, collector: 6, patience: 60 });
    let done = 0;
    for (let i = 0; i < 8; i += 1) {
      try {
        const questions = [[question({ text: "q" + process.pid + i })]];
        await ledger.answer(task({ questions, budget: 9 }), "yes");
        done += 1;
      } catch (error) {
        if (error.kind !== "BudgetError") throw error;
      }
    }
    console.log(done);`;
  const done = await Promise.all([1, 2, 3, 4].map(() => child(path, script)));
  assert.equal(done.reduce((sum, each) => sum + Number(each), 0), 6);
  const { left, counts } = await new Ledger(path, { clock: new Clock().read }).overview();
  assert.deepEqual([left.spent, counts.waiting], [6, 6]);
});

/** Sets of numbers, one for each step, in a ledger's file. @param {string} path @param {number} count @param {string} name */
const steps = (path, count, name) => `
  const { FileStore } = await import(${JSON.stringify(new URL("../../src/store_file.js", import.meta.url))});
  const store = new FileStore(${JSON.stringify(path)}, { patience: 60 });
  for (let i = 0; i < ${count}; i += 1) await store.change((state = {}) => [{ ...state, [${JSON.stringify(name)} + i]: 1 }, null]);`;

test("no update is lost between processes that cannot see each other's numbers", async (t) => {
  const path = join(folder(t), "ledger");
  const spaces = spawnSync("unshare", ["--pid", "--fork", "--mount-proc", "true"]).status === 0;
  const start = spaces ? ["unshare", "--pid", "--fork", "--mount-proc", process.execPath] : [process.execPath];
  const run = (/** @type {string} */ name) =>
    new Promise((resolve, reject) => {
      const [command, ...first] = start;
      const running = spawn(command, [...first, "--input-type=module", "-e", steps(path, 40, name)], { stdio: ["ignore", "inherit", "inherit"] });
      running.on("exit", (code) => (code ? reject(new Error(`exit code ${code}`)) : resolve(null)));
    });
  await Promise.all(["a", "b", "c"].map(run));
  t.diagnostic(spaces ? "in PID namespaces of their own" : "without namespaces, which need rights");
  assert.equal(Object.keys(JSON.parse(readFileSync(path, "utf8"))).length, 120);
});

/** @param {string} path @returns {Promise<any>} what a lock of this process says */
async function cardOf(path) {
  let card;
  await new FileStore(path).change(() => {
    card = JSON.parse(readFileSync(`${path}.lock`, "utf8"));
    return [{ version: 1 }, null];
  });
  return card;
}

test("the lock of a living process is respected, that of a dead one is not", async (t) => {
  const path = join(folder(t), "ledger");
  const alive = new FileStore(path, { patience: 0.2 });
  const card = await cardOf(path);
  assert.equal(card.pid, process.pid);
  const { pid } = spawnSync(process.execPath, ["-e", ""]);
  const away = [{ host: "another machine" }, { boot: "another start" }, { space: "pid:[1]" }, { space: "pid:[1]", start: "0" }];
  for (const change of [{}, ...away.map((each) => ({ ...each, pid }))]) {
    writeFileSync(`${path}.lock`, JSON.stringify({ ...card, ...change }));
    await assert.rejects(alive.change((state) => [state, null]), { kind: "LedgerError", message: /in use by another program/ });
  }
  const long = new Date(Date.now() - 120_000);
  const old = away.map((each) => JSON.stringify({ ...card, ...each, pid }));
  for (const held of [...old, JSON.stringify({ ...card, pid }), JSON.stringify({ ...card, start: "0" }), "", "{", "null"]) {
    writeFileSync(`${path}.lock`, held);
    utimesSync(`${path}.lock`, long, long);
    assert.equal(await alive.change((state) => [state, "done"]), "done", held);
    assert.ok(!existsSync(`${path}.lock`));
  }
});

test("who lost the lock while it slept writes nothing over what others wrote", async (t) => {
  const path = join(folder(t), "ledger");
  const [slow, quick] = [new FileStore(path), new FileStore(path)];
  await slow.change(() => [{ count: 0 }, null]);
  const steal = () => {
    // what another process does after a minute: the lock is taken away, and it writes
    rmSync(`${path}.lock`);
    const script = `
      const { FileStore } = await import(${JSON.stringify(new URL("../../src/store_file.js", import.meta.url))});
      await new FileStore(${JSON.stringify(path)}).change((state) => [{ count: state.count + 1 }, null]);`;
    assert.equal(spawnSync(process.execPath, ["--input-type=module", "-e", script]).status, 0);
  };
  const sleeping = slow.change((state) => {
    steal();
    return [{ count: state.count + 10 }, null];
  });
  await assert.rejects(sleeping, { kind: "LedgerError", message: /in use by another program; nothing was spent/ });
  assert.deepEqual(await quick.change((state) => [state, state]), { count: 1 });
  assert.deepEqual(readdirSync(join(path, "..")), ["ledger"]);
});

test("a damaged ledger is refused, not started anew", async (t) => {
  const path = join(folder(t), "ledger");
  const clock = new Clock();
  const ledger = new Ledger(path, { clock: clock.read });
  await ledger.answer(task(), "yes");
  const whole = readFileSync(path, "utf8");
  for (const damaged of ["", "x", whole.slice(0, -20), whole.replace('"amount":"1', '"amount":"0'), "\n", whole.replace('"version":2', '"version":1'), "null", "[]"]) {
    writeFileSync(path, damaged);
    await assert.rejects(ledger.answer(task(), "yes"), { kind: "LedgerError", message: /damaged/ });
    assert.equal(readFileSync(path, "utf8"), damaged);
  }
  writeFileSync(path, whole);
  assert.equal((await ledger.answer(task(), "yes")).new, false);
  await assert.rejects(new Ledger(join(path, "x", "ledger")).overview(), { kind: "LedgerError" });
});

test("1,500 damaged ledgers: refused in words, or the same", async (t) => {
  const path = join(folder(t), "ledger");
  const clock = new Clock();
  const ledger = new Ledger(path, { clock: clock.read });
  await ledger.answer(weekly(), "yes", { url: LOCAL });
  const whole = readFileSync(path);
  const seen = JSON.stringify(await ledger.overview());
  let seed = 12345;
  const random = (/** @type {number} */ most) => (seed = (seed * 1103515245 + 12345) % 2 ** 31) % most;
  let refused = 0;
  for (let i = 0; i < 1500; i += 1) {
    const damaged = Buffer.from(whole);
    damaged[random(whole.length)] ^= 1 + random(255);
    writeFileSync(path, damaged);
    try {
      assert.equal(JSON.stringify(await ledger.overview()), seen);
    } catch (error) {
      assert.equal(/** @type {any} */ (error).kind, "LedgerError", String(/** @type {any} */ (error).stack));
      assert.match(/** @type {any} */ (error).message, /damaged|version|secret/);
      refused += 1;
    }
    if (i % 50 === 0) {
      for (const use of [() => ledger.export(), () => ledger.answer(weekly(), "no"), () => ledger.flush(LOCAL, { fetch: new Collector().fetch })]) {
        await use().catch((/** @type {any} */ error) => assert.equal(error.kind, "LedgerError"));
        writeFileSync(path, damaged);
      }
    }
  }
  assert.ok(refused > 1400, `${refused}`);
});

/** A task of several windows. */
const weekly = () => task({ epsilon: 1, design: COIN, questions: [[question()]], window: { opens: "2026-11-16", days: 7, count: 2 } });
