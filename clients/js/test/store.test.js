/** Where a ledger lies: each step is written as a whole or not at all, and what goes wrong is told in words. */
import assert from "node:assert/strict";
import * as files from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { WindowError } from "../src/ledger_errors.js";
import { FileStore } from "../src/store_file.js";
import { BrowserStore } from "../src/store_indexeddb.js";
import { folder } from "./tasks.js";

/** @param {string} code */
const fault = (code) => Object.assign(new Error(code), { code, syscall: "call" });
/** @param {any} state */
const more = (state) => [{ count: (state?.count ?? 0) + 1 }, state?.count ?? null];
/** Everything in a folder but locks' cards. @param {string} path */
const left = (path) => files.readdirSync(path);

test("a step is given what the last one left, and its answer comes back", async (t) => {
  const path = folder(t);
  const store = new FileStore(join(path, "ledger"));
  for (const answer of [null, 1, 2]) assert.equal(await store.change(more), answer);
  assert.deepEqual(left(path), ["ledger"]);
  assert.equal(files.readFileSync(join(path, "ledger"), "utf8"), '{"count":3}\n');
  if (process.platform !== "win32") assert.equal(files.statSync(join(path, "ledger")).mode & 0o777, 0o600);
});

test("a step that throws changes nothing, and the next one goes on", async (t) => {
  const path = folder(t);
  const store = new FileStore(join(path, "ledger"));
  await store.change(more);
  const stop = new RangeError("no");
  await assert.rejects(store.change(() => { throw stop; }), (error) => error === stop);
  assert.deepEqual(left(path), ["ledger"]);
  assert.equal(await store.change(more), 1);
});

test("a step that leaves all as it was writes nothing", async (t) => {
  const path = folder(t);
  let written = 0;
  const fs = /** @type {any} */ ({ ...files, renameSync: (/** @type {any} */ ...given) => (written++, /** @type {any} */ (files.renameSync)(...given)) });
  const store = new FileStore(join(path, "ledger"), { fs });
  await store.change(more);
  assert.equal(await store.change((/** @type {any} */ state) => [state, "seen"]), "seen");
  assert.equal(written, 1);
});

for (const call of ["openSync", "writeFileSync", "linkSync", "renameSync", "readFileSync"]) {
  for (const [code, told] of [
    ["ENOSPC", "cannot grow: the disk is full"],
    ["EDQUOT", "cannot grow: the disk is full"],
    ["EACCES", "must not be written"],
    ["EPERM", "must not be written"],
    ["EROFS", "must not be written"],
    ["EIO", "could not be read or written by the disk"],
    ["EMFILE", "cannot be used (EMFILE)"],
  ]) {
    test(`${code} of ${call} is told in words, and the ledger stays as it was`, async (t) => {
      const path = folder(t);
      const name = join(path, "ledger");
      await new FileStore(name).change(more);
      const fs = /** @type {any} */ ({ ...files, [call]() { throw fault(code); } });
      await assert.rejects(new FileStore(name, { fs, patience: 0 }).change(more), (/** @type {any} */ error) => {
        assert.equal(error.kind, "LedgerError");
        assert.equal(error.message, `the ledger ${name} ${told}; nothing was spent or sent.`);
        return true;
      });
      assert.equal(files.readFileSync(name, "utf8"), '{"count":1}\n');
      for (const each of left(path)) if (each.includes(".lock")) files.rmSync(join(path, each));
      assert.equal(await new FileStore(name).change(more), 1);
    });
  }
}

test("what is written and perhaps not for good is told so", { skip: process.platform === "win32" }, async (t) => {
  const name = join(folder(t), "ledger");
  const fs = /** @type {any} */ ({ ...files, openSync: (/** @type {any} */ path, /** @type {any} */ how, /** @type {any} */ mode) => { if (how === "r") throw fault("EIO"); return files.openSync(path, how, mode); } });
  await assert.rejects(new FileStore(name, { fs }).change(more), { kind: "LedgerError", message: /by the disk; this step is written down, but perhaps not for good\.$/ });
  assert.equal(files.readFileSync(name, "utf8"), '{"count":1}\n');
});

test("a lock whose owner cannot be seen from here is respected for a minute", async (t) => {
  const path = folder(t);
  const name = join(path, "ledger");
  const lock = JSON.stringify({ pid: process.pid, host: `${hostname()}.elsewhere`, boot: null, space: null, start: null, nonce: "x" });
  for (const [age, free] of /** @type {[number, boolean][]} */ ([[0, false], [59, false], [61, true], [3600, true]])) {
    files.writeFileSync(`${name}.lock`, lock);
    const then = Date.now() / 1000 - age + (age === 59 ? 0.5 : 0);
    files.utimesSync(`${name}.lock`, then, then);
    const step = new FileStore(name, { patience: 0 }).change(more);
    if (free) await step;
    else await assert.rejects(step, { kind: "LedgerError", message: /is in use by another program/ });
    files.rmSync(`${name}.lock`, { force: true });
  }
});

test("files of others that did not become the ledger are removed, and no other file is", async (t) => {
  const path = folder(t);
  for (const name of ["ledger.new.1.abc", "ledger.newer", "other.new.1", "ledger.lock.1.abc"]) files.writeFileSync(join(path, name), "x");
  await new FileStore(join(path, "ledger")).change(more);
  assert.deepEqual(left(path).sort(), ["ledger", "ledger.lock.1.abc", "ledger.newer", "other.new.1"]);
});

// ---- browsers

/** A database of a browser: one table with one entry, and what goes wrong in it. @param {any} [trouble] */
function database(trouble = {}) {
  const kept = { tables: [], state: undefined, closed: 0, opened: /** @type {any[]} */ ([]) };
  const later = (/** @type {() => void} */ run) => queueMicrotask(run);
  const made = {
    createObjectStore: (/** @type {never} */ name) => kept.tables.push(name),
    close: () => (kept.closed += 1),
    transaction(/** @type {string} */ table, /** @type {string} */ mode, /** @type {any} */ how) {
      kept.opened.push([table, mode, how]);
      /** @type {any} */
      const own = { error: trouble.error ?? null, aborted: false, abort() { own.aborted = true; later(() => own.onabort()); } };
      let put = kept.state;
      own.objectStore = () => ({
        get: () => {
          const request = /** @type {any} */ ({ result: kept.state === undefined ? undefined : structuredClone(kept.state) });
          later(() => {
            request.onsuccess();
            if (own.aborted) return;
            later(() => {
              if (trouble.error) own.onabort();
              else {
                kept.state = put;
                own.oncomplete();
              }
            });
          });
          return request;
        },
        put: (/** @type {any} */ state, /** @type {string} */ key) => {
          assert.equal(key, "state");
          put = state;
        },
      });
      return own;
    },
  };
  const indexedDB = {
    open(/** @type {string} */ name, /** @type {number} */ version) {
      assert.deepEqual([name, version], ["mine", 1]);
      if (trouble.open) throw trouble.open;
      const request = /** @type {any} */ ({ result: made, error: trouble.request });
      later(() => {
        if (trouble.request) return request.onerror();
        if (!kept.tables.length) request.onupgradeneeded();
        request.onsuccess();
      });
      return request;
    },
  };
  Object.assign(globalThis, { indexedDB });
  return kept;
}

test("a browser keeps a ledger in one table, each step in a transaction of its own", async (t) => {
  t.after(() => delete (/** @type {any} */ (globalThis).indexedDB));
  const kept = database();
  const store = new BrowserStore("mine");
  assert.equal(store.pauses, true, "a site's data may be erased");
  for (const answer of [null, 1, 2]) assert.equal(await store.change(more), answer);
  assert.deepEqual([kept.state, kept.closed, kept.tables], [{ count: 3 }, 3, ["ledger"]]);
  assert.deepEqual(kept.opened[0], ["ledger", "readwrite", { durability: "strict" }]);
  const stop = new RangeError("no");
  await assert.rejects(store.change(() => { throw stop; }), { kind: "LedgerError", message: /cannot be used \(RangeError: no\)/ });
  const own = new WindowError("not today");
  await assert.rejects(store.change(() => { throw own; }), (error) => error === own);
  assert.deepEqual([kept.state, kept.closed], [{ count: 3 }, 5]);
});

test("what goes wrong in a browser is told in words", async (t) => {
  t.after(() => delete (/** @type {any} */ (globalThis).indexedDB));
  const full = Object.assign(new Error("full"), { name: "QuotaExceededError" });
  for (const [trouble, told] of /** @type {[any, RegExp][]} */ ([
    [{ error: full }, /^the ledger mine cannot grow: the storage is full; nothing was spent or sent\.$/],
    [{ error: new Error("gone") }, /^the ledger mine cannot be used \(Error: gone\); nothing was spent or sent\.$/],
    [{ open: new Error("private") }, /^the ledger mine cannot be used \(Error: private\); nothing was spent or sent\.$/],
    [{ request: full }, /^the ledger mine cannot grow: the storage is full/],
  ])) {
    database(trouble);
    await assert.rejects(new BrowserStore("mine").change(more), { kind: "LedgerError", message: told });
  }
});

test("whether a browser keeps its data is told if it is known", async (t) => {
  const before = Object.getOwnPropertyDescriptor(globalThis, "navigator");
  t.after(() => (before ? Object.defineProperty(globalThis, "navigator", before) : delete (/** @type {any} */ (globalThis).navigator)));
  let asked = 0;
  for (const [storage, known] of /** @type {[any, boolean | null][]} */ ([
    [{ persist: async () => (asked += 1), persisted: async () => true }, true],
    [{ persist: async () => (asked += 1), persisted: async () => false }, false],
    [{ persist: () => { throw new Error("no"); }, persisted: () => { throw new Error("no"); } }, null],
    [undefined, null],
  ])) {
    Object.defineProperty(globalThis, "navigator", { configurable: true, value: { storage } });
    const store = new BrowserStore("mine");
    await store.persist();
    assert.equal(await store.persistent(), known);
  }
  assert.equal(asked, 2);
});
