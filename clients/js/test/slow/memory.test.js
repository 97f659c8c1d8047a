import assert from "node:assert/strict";
import { test } from "node:test";

import { hex } from "../../src/sha256.js";
import { FastStore, made, question, task, vectors } from "../tasks.js";

test("1,000 rounds: as many different reports of each value as the task declares", async () => {
  const wide = vectors("hostile").good.find((/** @type {any} */ each) => each.about === "lh").design;
  for (const [memory, distinct] of /** @type {[string, number[]][]} */ ([["fresh", [500, 500]], ["remembered", [1, 1]], ["first", [1, 0]]])) {
    const asked = task({
      memory,
      epsilon: wide.epsilon,
      questions: [question({ design: wide })],
      budget: { task: 1000, subject: 1000, lifetime: 1000 },
    });
    for (const secret of [null, new Uint8Array(32)]) {
      const { clock, ledger } = made({ secret, subject: 1000, lifetime: 1000 }, new FastStore());
      /** @type {Set<string>[]} */
      const seen = [new Set(), new Set()];
      let cost = 0;
      for (let round = 0; round < 1000; round += 1) {
        const value = round % 2;
        const got = await ledger.answer(asked, value);
        cost += got.cost;
        if (!seen[0].has(hex(got.body))) seen[value].add(hex(got.body));
        clock.pass();
      }
      assert.deepEqual(seen.map((each) => each.size), distinct, `${memory} ${secret}`);
      assert.ok(Math.abs(cost - (distinct[0] + distinct[1]) * wide.epsilon) < 1e-6, memory);
    }
  }
});

/**
 * How many of 100 people an attacker unmasks who takes the majority of 31 reports of each.
 *
 * @param {string} memory
 * @param {() => {secret: Uint8Array | null, lost: boolean}} habit how each device goes about it
 */
async function unmasked(memory, habit) {
  const asked = task({ memory, budget: { task: 1000, subject: 1000, lifetime: 1000 } });
  let right = 0;
  for (let person = 0; person < 100; person += 1) {
    const value = person % 2;
    const { secret, lost } = habit();
    let { clock, ledger } = made({ secret, subject: 1000, lifetime: 1000 }, new FastStore());
    let ones = 0;
    for (let round = 0; round < 31; round += 1) {
      ones += (await ledger.answer(asked, ["yes", "no"][value])).body[0];
      if (lost) ledger = made({ secret, subject: 1000, lifetime: 1000 }, new FastStore()).ledger;
      else clock.pass();
    }
    right += Number(Number(ones > 15) === value);
  }
  return right;
}

test("averaging unmasks a client without memory, and not one with it", async () => {
  // A memo is right with e/(e+1) = 0.731: for 73 of 100 people, for more than 92 with a chance of 5e-7. The majority of 31
  // reports is wrong with 0.003: for more than 6 of 100 people with a chance of 3e-8.
  const secret = () => crypto.getRandomValues(new Uint8Array(32));
  assert.ok((await unmasked("fresh", () => ({ secret: null, lost: false }))) >= 94);
  assert.ok((await unmasked("remembered", () => ({ secret: null, lost: true }))) >= 94, "a lost ledger draws anew");
  assert.ok((await unmasked("remembered", () => ({ secret: null, lost: false }))) <= 92);
  assert.ok((await unmasked("first", () => ({ secret: null, lost: false }))) <= 92);
  assert.ok((await unmasked("remembered", () => ({ secret: secret(), lost: true }))) <= 92, "a secret outlives the ledger");
});
