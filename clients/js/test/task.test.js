import assert from "node:assert/strict";
import { test } from "node:test";

import { amountOf, amountText } from "../src/amounts.js";
import { SystemWords } from "../src/exact.js";
import { Question, Task, seal } from "../src/task.js";
import { ReplayWords } from "../src/replay.js";
import { verified } from "../src/signing.js";
import { COIN, content, document, keyOf, kindOf, oldQuestion, oldTask, question, sealed, several, task, vectors } from "./tasks.js";

const GRADES = { ...COIN, domain: { k: 3 }, kernel: { kind: "response", k: "3", keep: "10604499373000000000" } };
const format = { kind: "FormatError" };

test("tasks of the vectors are read, with the same widths and keys", () => {
  const { good } = vectors("tasks");
  for (const each of good) {
    const read = Task.load(each.task, { expect: each.task.id });
    assert.equal(read.width, each.width, each.about);
    assert.deepEqual([read.questionAt, read.strataAt, read.expires], [each.question_at, each.strata_at, each.expires], each.about);
    assert.deepEqual(read.questions.map((asked) => asked.key), each.questions, each.about);
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

for (const version of ["days", "days2"]) {
  test(`windows are days in UTC: ${version}`, () => {
    const days = vectors("tasks")[version];
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
}

test("a task that is altered by one bit is refused, in whichever byte it is", () => {
  const bytes = new TextEncoder().encode(JSON.stringify(sealed()));
  for (let place = 0; place < bytes.length; place += 1) {
    const altered = bytes.slice();
    altered[place] ^= 1 << (5 * place) % 8;
    assert.throws(() => Task.load(altered), format, `byte ${place}`);
  }
  assert.ok(bytes.length > 500);
});

test("a task that was named beforehand must be that one", () => {
  const made = sealed();
  assert.equal(Task.load(made, { expect: made.id }).id, made.id);
  assert.throws(() => Task.load(made, { expect: "0".repeat(64) }), format);
});

test("there is no other way to a task, and none to change one", () => {
  assert.throws(() => new Task({}, {}), { kind: "ParameterError" });
  const made = task();
  assert.throws(() => Object.assign(made, { epsilon: 0 }), TypeError);
  assert.throws(() => Object.assign(made.budget, { collector: 9 }), TypeError);
  assert.throws(() => Object.assign(made.questions[0], { share: 9 }), TypeError);
  assert.ok(made.questions[0] instanceof Question);
});

test("a task is signed by its collector, and by nobody else", () => {
  assert.throws(() => seal(document()), { kind: "ParameterError" });
  assert.throws(() => seal(document(), keyOf(8).sign), format);
  const made = sealed();
  for (const signature of ["0".repeat(128), made.signature.toUpperCase(), made.signature.slice(2), 1, null]) {
    assert.throws(() => Task.load({ ...made, signature }), format);
  }
});

test("signatures of the vectors hold, or do not, as in all clients", () => {
  const { good, bad } = vectors("signatures");
  const bytes = (/** @type {string} */ text) => Uint8Array.from(Buffer.from(text, "hex"));
  for (const [rows, holds] of [[good, true], [bad, false]]) {
    for (const { about, key, message, signature } of rows) {
      assert.equal(verified(bytes(key), bytes(message), bytes(signature)), holds, about);
    }
  }
  assert.ok(good.length > 5 && bad.length > 25);
});

test("a task that leaks, or whose question costs more than it says, is refused", () => {
  const leaking = { ...COIN, kernel: { ...COIN.kernel, keep: "13500000000000000000" } };
  for (const changes of [{ design: leaking }, { epsilon: 0.9 }]) {
    assert.throws(() => sealed(changes), { kind: "PrivacyError" });
  }
});

test("designs that are the same are proved once", () => {
  const { design } = vectors("hostile").good.find((/** @type {any} */ each) => each.about === "upldp");
  const { questions, design: dealt } = several(255);
  const asked = questions.map(([each]) => [{ ...each, none: 0 }]);
  const cost = (/** @type {number} */ count) => {
    const before = process.cpuUsage();
    const parts = Array(count).fill(design);
    const made = task({ epsilon: 9, budget: 9, questions: asked.slice(0, count), design: { ...dealt, epsilon: 9, shares: Array(count).fill(1), parts } });
    assert.equal(new Set(made.questions.map((each) => each.explanation)).size, 1);
    return process.cpuUsage(before).user;
  };
  assert.ok(cost(255) < 2_000_000);
});

test("the question is dealt by shares, as everywhere", () => {
  const two = several(2);
  const made = task({ ...two, design: { ...two.design, shares: [1, 3] } });
  const dealt = (/** @type {bigint} */ word) => made.deal(new ReplayWords([word])).name;
  assert.equal(dealt(0n), "q0");
  assert.equal(dealt((1n << 62n) - 1n), "q0");
  assert.equal(dealt(1n << 62n), "q1");
  assert.equal(dealt((1n << 64n) - 1n), "q1");
});

test("all bodies of a task have one length, and say strata and question first", () => {
  const strata = [{ name: "country", values: ["DE", "FR"] }];
  const made = task({ ...several(2), strata });
  assert.deepEqual([...made.body(made.questions[1], Uint8Array.of(7), { country: "FR" })], [2, 1, 7]);
  assert.deepEqual([...made.body(made.questions[1], Uint8Array.of(7))], [0, 1, 7], "it need not be told");
  for (const given of [{ country: "IT" }, { country: "FR", more: "x" }, { toString: "FR" }]) {
    assert.throws(() => made.body(made.questions[1], Uint8Array.of(7), given), { kind: "ParameterError" });
  }
  const old = oldTask({ questions: [oldQuestion(), oldQuestion({ name: "b" })], strata });
  assert.deepEqual([...old.body(old.questions[1], Uint8Array.of(7), { country: "FR" })], [1, 1, 7]);
  assert.throws(() => old.body(old.questions[1], Uint8Array.of(7)), { kind: "ParameterError" });
});

test("labels of a task stand for the numbers of its design", () => {
  const made = task({ design: GRADES, questions: [[question({ labels: ["bad", "fair", "good"], none: "fair" })]] });
  const [asked] = made.questions;
  assert.deepEqual(["bad", "good", 1, "none"].map((value) => asked.value(value)), [0, 2, 1, "none"]);
});

test("no answer is an answer of the design, and a protected one", () => {
  assert.equal(sealed({ questions: [[question({ none: null })]] }).questions[0][0].none, null);
  for (const none of ["maybe", 0, [], undefined]) assert.throws(() => sealed({ questions: [[question({ none })]] }), format);
  const { design } = vectors("hostile").good.find((/** @type {any} */ each) => each.about === "urr");
  const of = (/** @type {any} */ none) => sealed({ design, epsilon: 8, budget: 8, questions: [[question({ none })]] });
  const found = [0, 1, 2, 3].map((none) => {
    try {
      return of(none) && "taken";
    } catch (error) {
      return /** @type {any} */ (error).kind;
    }
  });
  assert.ok(found.includes("taken") && found.includes("PrivacyError"), found.join());
});

test("every value counts as an answer or as none, and no error comes out", () => {
  const [asked] = task().questions;
  const hostile = new Proxy({}, { get: () => assert.fail("no") });
  const odd = [NaN, Infinity, -1, 1e300, 10n ** 50n, "maybe", "", [], {}, null, undefined, Symbol("x"), () => 1, hostile, { toString: 1 }, new Date(NaN)];
  for (const value of odd) {
    assert.deepEqual(asked.answer(asked.device(), value, new ReplayWords([])), { answer: 1, answered: false });
  }
  assert.deepEqual(asked.answer(asked.device(), "yes", new ReplayWords([])), { answer: 0, answered: true });
});

test("who does not answer is counted, by every design that a task can have", () => {
  const tried = new Set();
  for (const { design } of vectors("hostile").good) {
    if (design.mechanism === "dealt" || design.parts) continue;
    const [asked] = task({ design, epsilon: design.epsilon, budget: 2 * design.epsilon, questions: [[question({ none: null })]] }).questions;
    const { answer } = asked.answer(asked.agreed(), undefined, new SystemWords());
    assert.equal(asked.agreed().randomise(answer).length, asked.width, design.mechanism);
    tried.add(design.kernel.kind);
  }
  assert.ok(tried.size >= 18 && tried.has("windows"), [...tried].join());
});

test("the terms say what a person has to know", () => {
  const told = task({ retention: { keep: "reports", days: 7 } }).terms();
  assert.equal(told[0], "Example Institute asks.");
  assert.ok(told.includes('The collector asks: "Did you sleep well?"'));
  assert.ok(told.some((line) => line.startsWith("That you take part is not hidden.")));
  assert.ok(told.some((line) => line.includes("at most 8 times within 7 days; from 2026-11-24 on nothing is sent")));
  assert.ok(told.some((line) => line.endsWith("Reports are kept for 7 days after the last window.")));
  assert.match(oldTask().terms()[1], /^This is an old task/);
  assert.match(task({ questions: [[question({ labels: ["it's \"fun\"", "no"], none: "it's \"fun\"" })]], design: { ...COIN, domain: { k: 2 } } }).terms().join(), /counts as "it's \\\"fun\\\""/);
});

test("amounts add up exactly", () => {
  assert.equal(3n * amountOf(0.1), amountOf(0.3));
  assert.notEqual(amountOf(0.1 + 0.2), amountOf(0.3));
  for (const [number, text] of [[1e-12, "0.000000000001"], [1000, "1000"], [0, "0"], [1.5e-7, "0.00000015"]]) {
    assert.equal(amountText(amountOf(Number(number))), text);
  }
});

test("answers to questions that are asked together have one number", () => {
  const { joint } = vectors("tasks");
  for (const { task: document, cases } of joint) {
    const asked = Task.load(document).questions[0];
    for (const { given, number } of cases) assert.equal(asked.value(given), number, JSON.stringify(given));
    assert.deepEqual(asked.together.map(({ name }) => name), ["sport", "age"]);
  }
  assert.ok(joint.length > 1 && joint.every((/** @type {any} */ { cases }) => cases.length > 15));
});
