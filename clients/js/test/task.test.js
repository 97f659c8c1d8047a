import assert from "node:assert/strict";
import { test } from "node:test";

import { amountOf, amountText } from "../src/amounts.js";
import { Question, Task, seal } from "../src/task.js";
import { ReplayWords } from "../src/replay.js";
import { COIN, content, document, kindOf, question, task, vectors } from "./tasks.js";

const GRADES = { ...COIN, domain: { k: 3 }, kernel: { kind: "response", k: "3", keep: "10604499373000000000" } };
const format = { kind: "FormatError" };

test("tasks of the vectors are read, with the same widths and keys", () => {
  const { good } = vectors("tasks");
  for (const each of good) {
    const read = Task.load(each.task, { expect: each.task.id });
    assert.equal(read.width, each.width, each.about);
    assert.deepEqual(read.questions.map((asked) => asked.key), each.questions, each.about);
    if (each.terms) assert.deepEqual(read.terms(), each.terms, each.about);
  }
  assert.ok(good.length > 30);
});

test("a task may be spelled in any way", () => {
  const { spellings, days } = vectors("tasks");
  for (const each of spellings) assert.equal(Task.load(content(each)).id, days.task.id, each.about);
  assert.ok(spellings.length > 2);
});

test("what the vectors refuse is refused here, with the same kind of error", () => {
  const { cases } = vectors("tasks");
  for (const each of cases) {
    const expect = each.expect ?? null;
    assert.throws(() => Task.load(content(each), { expect }), { kind: kindOf(each.error) }, each.about);
  }
  assert.ok(cases.length > 150);
});

test("windows are days in UTC", () => {
  const { days } = vectors("tasks");
  const read = Task.load(days.task);
  for (const { today, window, error } of days.cases) {
    const [begin, end] = ["T00:00:00Z", "T23:59:59.999Z"].map((time) => new Date(today + time));
    for (const moment of [today, begin, end]) {
      if (error) assert.throws(() => read.window(moment), { kind: kindOf(error) }, today);
      else assert.equal(read.window(moment), window, today);
    }
  }
  assert.ok(days.cases.length > 5);
  assert.throws(() => read.window("16 November"), { kind: "ParameterError" });
});

test("a task that is altered by one bit is refused, in whichever byte it is", () => {
  const bytes = new TextEncoder().encode(JSON.stringify(seal(document())));
  for (let place = 0; place < bytes.length; place += 1) {
    const altered = bytes.slice();
    altered[place] ^= 1 << (5 * place) % 8;
    assert.throws(() => Task.load(altered), format, `byte ${place}`);
  }
  assert.ok(bytes.length > 500);
});

test("a task that was named beforehand must be that one", () => {
  const sealed = seal(document());
  assert.equal(Task.load(sealed, { expect: sealed.id }).id, sealed.id);
  assert.throws(() => Task.load(sealed, { expect: "0".repeat(64) }), format);
});

test("there is no other way to a task, and none to change one", () => {
  assert.throws(() => new Task({}, {}), { kind: "ParameterError" });
  const made = task();
  assert.throws(() => Object.assign(made, { epsilon: 0 }), TypeError);
  assert.throws(() => Object.assign(made.budget, { task: 9 }), TypeError);
  assert.throws(() => Object.assign(made.questions[0], { share: 9 }), TypeError);
  assert.ok(made.questions[0] instanceof Question);
});

test("a task that leaks, or whose question costs more than it says, is refused", () => {
  const leaking = { ...COIN, kernel: { ...COIN.kernel, keep: "13500000000000000000" } };
  for (const changes of [{ questions: [question({ design: leaking })] }, { epsilon: 0.9 }]) {
    assert.throws(() => seal(document(changes)), { kind: "PrivacyError" });
  }
});

test("the question is dealt by shares, as everywhere", () => {
  const made = task({ questions: [question({ share: 1 }), question({ name: "b", share: 3 })] });
  const dealt = (/** @type {bigint} */ word) => made.deal(new ReplayWords([word])).name;
  assert.equal(dealt(0n), "sleep");
  assert.equal(dealt((1n << 62n) - 1n), "sleep");
  assert.equal(dealt(1n << 62n), "b");
  assert.equal(dealt((1n << 64n) - 1n), "b");
});

test("all bodies of a task have one length, and say question and strata first", () => {
  const strata = [{ name: "country", values: ["DE", "FR"] }];
  const made = task({ questions: [question(), question({ name: "b" })], strata });
  const body = made.body(made.questions[1], Uint8Array.of(7), { country: "FR" });
  assert.deepEqual([...body], [1, 1, 7]);
  for (const given of [null, {}, { country: "IT" }, { country: "FR", more: "x" }, { toString: "FR" }]) {
    assert.throws(() => made.body(made.questions[1], Uint8Array.of(7), given), { kind: "ParameterError" });
  }
});

test("labels of a task stand for the numbers of its design", () => {
  const made = task({ questions: [question({ design: GRADES, labels: ["bad", "fair", "good"] })] });
  const [asked] = made.questions;
  assert.deepEqual(["bad", "good", 1, "none"].map((value) => asked.value(value)), [0, 2, 1, "none"]);
});

test("the terms say what a person has to know", () => {
  const made = task({ collector: "Example Institute", retention: { keep: "reports", days: 7 }, memory: "first" });
  const told = made.terms();
  assert.equal(told[0], "Example Institute asks.");
  assert.ok(told.includes('The collector asks: "Did you sleep well?"'));
  assert.ok(told.some((line) => line.includes("at most 4 for this task, 4 for all about \"sleep\", 8 in all")), told.join("\n"));
  assert.ok(told.some((line) => line.endsWith("Reports are kept for 7 days after the last window.")));
  assert.match(task({ subject: "it's \"fun\"" }).terms().join(), /for all about "it's \\"fun\\""/);
});

test("amounts add up exactly", () => {
  assert.equal(3n * amountOf(0.1), amountOf(0.3));
  assert.notEqual(amountOf(0.1 + 0.2), amountOf(0.3));
  for (const [number, text] of [[1e-12, "0.000000000001"], [1000, "1000"], [0, "0"], [1.5e-7, "0.00000015"]]) {
    assert.equal(amountText(amountOf(Number(number))), text);
  }
});
