/** What people read of designs and of tasks, word for word as all clients say it. */
import assert from "node:assert/strict";
import { test } from "node:test";

import "../src/index.js";
import { Ratio } from "../src/exact.js";
import { Explanation, explain, number } from "../src/explain.js";
import { Task } from "../src/task.js";
import "../src/terms.js";
import { COIN, vectors } from "./tasks.js";

const { own, designs, tasks } = vectors("sentences");

test("what reports of a design tell is said as the vectors say it, of one report and of several", () => {
  const documents = [...vectors("hostile").good, ...vectors("dealt").good, ...own];
  assert.deepEqual(designs.map((/** @type {any} */ { about }) => about), documents.map(({ about }) => about));
  designs.forEach((/** @type {any} */ { about, epsilon, unread, over }, /** @type {number} */ i) => {
    const found = explain(documents[i].design);
    assert.deepEqual([found.epsilon, found.unread], [epsilon, unread], about);
    for (const { reports, phrase, sure, named, levels, lines } of over) {
      const told = found.over(reports);
      assert.deepEqual(told.text.split("\n"), lines, `${about}, ${reports}`);
      assert.equal(told.phrase, phrase);
      assert.deepEqual(found.levels?.(reports).map(([, words]) => words) ?? [], levels, about);
      const near = (/** @type {any} */ { top, bottom }) => Number((top << 60n) / bottom) / 2 ** 60;
      assert.ok(Math.abs(near(told.named) - named) <= 1e-12, about);
      const [top, bottom = "1"] = typeof sure === "string" ? sure.split("/") : [];
      if (top) assert.equal(told.sure.top * BigInt(bottom), BigInt(top) * told.sure.bottom, about);
      else assert.ok(Math.abs(near(told.sure) - sure) <= 1e-12, about);
    }
  });
  assert.ok(designs.length > 40);
});

test("the terms of a task are those of the vectors", () => {
  const documents = vectors("tasks").good;
  assert.deepEqual(tasks.map((/** @type {any} */ { about }) => about), documents.map((/** @type {any} */ { about }) => about));
  tasks.forEach((/** @type {any} */ { about, terms }, /** @type {number} */ i) => {
    assert.deepEqual(Task.load(documents[i].task).terms(), terms, about);
  });
  assert.ok(tasks.length > 30);
});

test("numbers are written in as few digits as tell them apart, with an exponent where they are very large or small", () => {
  /** @type {[number, string][]} */
  const all = [[0, "0"], [-0, "0"], [30, "30"], [-2.5, "-2.5"], [0.1, "0.1"], [1e-4, "0.0001"], [9e-5, "9e-05"], [1.5e-10, "1.5e-10"], [1e15, "1000000000000000"], [9999999999999998, "9999999999999998"], [1e16, "1e+16"], [1.25e100, "1.25e+100"], [-1e-7, "-1e-07"], [5e-324, "5e-324"]];
  for (const [x, written] of all) assert.equal(number(x), written);
});

/** A number in thousandths as a ratio. @param {number} x */
const ratioOf = (x) => new Ratio(BigInt(Math.round(x * 1000)), 1000n);

test("ratios have three digits up to a thousand, levels four, shares a tenth of a percent; all are rounded up", () => {
  const { design } = explain(COIN);
  const told = (/** @type {Ratio} */ ratio, epsilon = 1, reports = 1) => new Explanation(design, ratio, epsilon, [], new Ratio(0n)).over(reports).text;
  /** @type {[number, string][]} */
  const times = [[1, "1.00"], [1.5, "1.50"], [1.001, "1.01"], [9.99, "9.99"], [9.991, "10.00"], [10, "10.0"], [10.01, "10.1"], [99.9, "99.9"], [99.91, "100.0"], [100, "100"], [100.1, "101"], [999999999999, "999999999999"], [1e15, "10^16"], [1e20, "10^21"]];
  for (const [ratio, shown] of times) assert.ok(told(ratioOf(ratio)).includes(` at most ${shown} times as likely`), `${ratio}: ${told(ratioOf(ratio))}`);
  /** @type {[number, number, string][]} */
  const levels = [[1, 1, "1"], [0.5, 3, "1.5"], [0.1, 1, "0.1001"], [0.1, 12, "1.201"], [2.5, 2, "5"], [12345, 1, "12350"], [1.234, 1, "1.234"], [1.2345, 1, "1.235"], [0.00012345, 1, "0.0001235"], [3, 10_000, "30000"], [0.9999, 1, "1"], [9.9991, 1, "10"], [0.25, 1, "0.25"], [40, 365, "14600"]];
  for (const [epsilon, reports, shown] of levels) {
    const text = told(ratioOf(1), epsilon, reports);
    assert.ok(text.includes(`(epsilon ${shown}${reports > 1 ? " in all" : ""}).`), `${epsilon} ${reports}: ${text}`);
  }
  /** @type {[number, string][]} */
  const sure = [[1, "at most 50.0 % sure"], [1.001, "at most 50.1 % sure"], [3, "at most 75.0 % sure"], [999, "at most 99.9 % sure"], [999.001, "practically certain"]];
  for (const [ratio, shown] of sure) assert.ok(told(ratioOf(ratio)).includes(shown), `${ratio}: ${told(ratioOf(ratio))}`);
});

test("what several reports tell is rounded against us: ratios and chances up, by less than 2^-180", () => {
  const told = new Explanation(explain(COIN).design, new Ratio(10n, 7n), 1, [], new Ratio(1n, 3n)).over(3);
  for (const [found, exact] of /** @type {[Ratio, Ratio][]} */ ([[told.ratio, new Ratio(1000n, 343n)], [told.named, new Ratio(19n, 27n)]])) {
    const above = found.top * exact.bottom - exact.top * found.bottom;
    assert(above >= 0n, "never less than is true");
    assert(above << 180n < found.bottom * exact.bottom, "and hardly more");
  }
});
