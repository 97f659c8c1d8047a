import assert from "node:assert/strict";
import { test } from "node:test";

import { Collector, FastStore, made, task } from "../tasks.js";

const URL_HERE = "http://127.0.0.1:1";
const LONG = { opens: "2026-11-16", days: 300, count: 1 };

/**
 * How many of 100 people an attacker unmasks who takes the majority of all reports that a collector has of each, or a coin
 * where there is none, after 31 rounds.
 *
 * @param {(person: number) => {secret: Uint8Array | null, lost: boolean}} habit how each device goes about it
 */
async function unmasked(habit) {
  const asked = task({ window: LONG });
  let [right, most] = [0, 0];
  for (let person = 0; person < 100; person += 1) {
    const value = person % 2;
    const { secret, lost } = habit(person);
    let { ledger } = made({ secret }, new FastStore());
    /** @type {string[]} */
    const seen = [];
    for (let round = 0; round < 31; round += 1) {
      const collector = new Collector();
      await ledger.answer(asked, ["yes", "no"][value], { url: URL_HERE }).catch((error) => assert.equal(error.kind, "WindowError"));
      await ledger.flush(null, { fetch: collector.fetch });
      seen.push(...collector.reports.values());
      if (lost) ({ ledger } = made({ secret }, new FastStore()));
    }
    const ones = seen.filter((report) => report === "AQ==").length;
    right += Number(Number(2 * ones > seen.length) === value);
    most = Math.max(most, new Set(seen).size);
  }
  return { right, most };
}

test("averaging unmasks who loses the ledger, and nobody who keeps it or its secret", async () => {
  // One report is right with e/(e+1) = 0.731: for 73 of 100 people, for more than 92 with a chance of 5e-7. The majority of 31
  // reports is wrong with 0.003: for more than 6 of 100 people with a chance of 3e-8.
  const secret = () => crypto.getRandomValues(new Uint8Array(32));
  const lost = await unmasked(() => ({ secret: null, lost: true }));
  assert.ok(lost.right >= 94 && lost.most === 2, `${lost.right}`);
  for (const habit of [() => ({ secret: null, lost: false }), () => ({ secret: secret(), lost: true }), () => ({ secret: secret(), lost: false })]) {
    const own = habit();
    const kept = await unmasked(() => ({ ...own, secret: own.secret && secret() }));
    assert.ok(kept.right <= 92 && kept.most === 1, `${kept.right} ${kept.most}`);
  }
});

test("of many answers in a window one is sent, and none of the others can be seen", async () => {
  const asked = task({ window: LONG });
  let ones = 0;
  for (let person = 0; person < 300; person += 1) {
    const { ledger } = made({}, new FastStore());
    const collector = new Collector();
    for (const value of ["yes", "no", "yes", null, "no"]) await ledger.answer(asked, value, { url: URL_HERE });
    await ledger.flush(null, { fetch: collector.fetch });
    assert.equal(collector.requests.length, 1);
    ones += Number([...collector.reports.values()][0] === "AQ==");
  }
  // The last answer is reported with e/(e+1): 219 of 300, standard deviation 7.7; outside of five of them with 6e-7.
  assert.ok(Math.abs(ones - 219.3) < 5 * 7.7, `${ones}`);
});
