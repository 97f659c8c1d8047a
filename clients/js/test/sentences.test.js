/** What people read of designs and of tasks, word for word as all clients say it. */
import assert from "node:assert/strict";
import { test } from "node:test";

import "../src/index.js";
import { explain, number } from "../src/explain.js";
import { Task } from "../src/task.js";
import "../src/terms.js";
import { vectors } from "./tasks.js";

const { designs, tasks } = vectors("sentences");

test("what reports of a design tell is said as the vectors say it, of one report and of several", () => {
  const documents = [...vectors("hostile").good, ...vectors("dealt").good];
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
