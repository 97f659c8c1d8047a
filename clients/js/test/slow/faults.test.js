import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { Ledger } from "../../src/ledger.js";
import { FileStore } from "../../src/store_file.js";
import { device, live } from "./killed.js";
import { Clock, folder, task } from "../tasks.js";

const KILLED = fileURLToPath(new URL("killed.js", import.meta.url));
const BEYOND = 1_000_000;

/** @param {string} path @returns {string[]} what the collector has, once for each id */
const received = (path) => (existsSync(join(path, "collector")) ? [...new Set(readFileSync(join(path, "collector"), "utf8").trim().split("\n"))] : []);

/**
 * After a sudden end the device is started again, answers and flushes once more: it has spent once and is counted once, and
 * if it is started only after the task is void, what was spent and not sent is told.
 *
 * @param {string} path
 * @param {string} memory
 * @returns {Promise<{spent: number, lost: number}>} what was on the disk after the end
 */
async function again(path, memory) {
  const late = new Clock("2030-01-02");
  const asked = task({ memory });
  const before = await new Ledger(join(path, "ledger"), { clock: late.read }).overview();
  const { spent } = before.left.lifetime;
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
  await live(next, memory);
  await next.ledger.flush(null, { fetch: next.fetch });
  const after = await next.ledger.overview();
  assert.equal(after.left.lifetime.spent, 1, "overspent");
  assert.equal(after.counts.sent, 1);
  assert.equal(received(path).length, 1, "counted once");
  const left = readdirSync(path).filter((name) => !["ledger", "collector", "late"].includes(name) && !/\.lock\./.test(name));
  assert.deepEqual(left, [], "nothing is left over");
  return { spent, lost: counts.expired };
}

for (const [how, memory] of [["kill", "remembered"], ["half", "fresh"]]) {
  test(`killed at every write and every send (${how}, ${memory}): never overspent, and what is lost is told`, async (t) => {
    const path = folder(t);
    mkdirSync(join(path, "0"));
    const alive = spawnSync(process.execPath, [KILLED, join(path, "0"), String(BEYOND), how, memory], { encoding: "utf8" });
    const names = JSON.parse(alive.stdout);
    for (const needed of ["writeFileSync", "linkSync", "fsyncSync", "renameSync", "send"]) assert.ok(names.includes(needed), needed);
    const found = { spent: 0, lost: 0 };
    for (let point = 1; point <= names.length; point += 1) {
      const own = join(path, String(point));
      mkdirSync(own);
      const { signal } = spawnSync(process.execPath, [KILLED, own, String(point), how, memory]);
      assert.equal(signal, "SIGKILL", `${point}: ${names[point - 1]}`);
      const { spent, lost } = await again(own, memory);
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
      await live(device(own, point, "full", names), "remembered");
      if (names.length < point) break;
    } catch (error) {
      const { kind, message } = /** @type {any} */ (error);
      assert.equal(kind, "LedgerError");
      assert.match(message, /cannot grow: the disk is full/);
      refused += 1;
    }
    await again(own, "remembered");
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
    const { Clock, task } = await import(${JSON.stringify(new URL("../tasks.js", import.meta.url))});
    const clock = new Clock();
    const ledger = new Ledger(process.argv[1], { clock: clock.read, lifetime: 6, patience: 60 });
    let done = 0;
    for (let i = 0; i < 8; i += 1) {
      try {
        await ledger.answer(task({ subject: "s" + process.pid + i }), "yes");
        done += 1;
      } catch (error) {
        if (error.kind !== "BudgetError") throw error;
      }
    }
    console.log(done);`;
  const done = await Promise.all([1, 2, 3, 4].map(() => child(path, script)));
  assert.equal(done.reduce((sum, each) => sum + Number(each), 0), 6);
  const { left, counts } = await new Ledger(path).overview();
  assert.equal(left.lifetime.spent, 6);
  assert.equal(counts.waiting, 6);
});

test("the lock of a living process is respected, that of a dead one is not", async (t) => {
  const path = join(folder(t), "ledger");
  const alive = new FileStore(path, { patience: 0.2 });
  await alive.change(() => {
    const lock = JSON.parse(readFileSync(`${path}.lock`, "utf8"));
    assert.equal(lock.pid, process.pid);
    writeFileSync(`${path}.card`, JSON.stringify(lock));
    return [{ version: 1 }, null];
  });
  const card = JSON.parse(readFileSync(`${path}.card`, "utf8"));
  for (const change of [{}, { host: "another machine", pid: 1 }]) {
    writeFileSync(`${path}.lock`, JSON.stringify({ ...card, ...change }));
    await assert.rejects(alive.change((state) => [state, null]), { kind: "LedgerError", message: /in use by another program/ });
  }
  const { pid } = spawnSync(process.execPath, ["-e", ""]);
  for (const held of [JSON.stringify({ ...card, pid }), JSON.stringify({ ...card, boot: "before" }), JSON.stringify({ ...card, start: "0" }), "", "{"]) {
    writeFileSync(`${path}.lock`, held);
    assert.equal(await alive.change((state) => [state, "done"]), "done", held);
    assert.ok(!existsSync(`${path}.lock`));
  }
});

test("a damaged ledger is refused, not started anew", async (t) => {
  const path = join(folder(t), "ledger");
  const clock = new Clock();
  const ledger = new Ledger(path, { clock: clock.read });
  await ledger.answer(task(), "yes");
  const whole = readFileSync(path, "utf8");
  for (const damaged of ["", "x", whole.slice(0, -20), whole.replace('"amount":"1', '"amount":"0'), "\n", whole.split("\n")[1]]) {
    writeFileSync(path, damaged);
    await assert.rejects(ledger.answer(task(), "yes"), { kind: "LedgerError", message: /damaged/ });
    assert.equal(readFileSync(path, "utf8"), damaged);
  }
  writeFileSync(path, whole);
  assert.equal((await ledger.answer(task(), "yes")).new, false);
  await assert.rejects(new Ledger(join(path, "x", "ledger")).overview(), { kind: "LedgerError" });
});
