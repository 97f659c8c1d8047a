import assert from "node:assert/strict";
import { createHash, generateKeyPairSync, randomBytes, sign } from "node:crypto";
import { test } from "node:test";

import { sha512, verified } from "../src/signing.js";

/** @param {Uint8Array} data */
const hex = (data) => Buffer.from(data).toString("hex");

test("SHA-512 is that of all, at every length around a block", () => {
  for (let length = 0; length < 260; length += 1) {
    const data = randomBytes(length);
    assert.equal(hex(sha512(data)), createHash("sha512").update(data).digest("hex"), `${length}`);
  }
});

test("what others sign holds, and no longer once a bit of it is another", () => {
  for (let i = 0; i < 40; i += 1) {
    const { publicKey, privateKey } = generateKeyPairSync("ed25519");
    const key = publicKey.export({ format: "der", type: "spki" }).subarray(-32);
    const message = randomBytes(48);
    const parts = [key, message, sign(null, message, privateKey)];
    assert.ok(verified(parts[0], parts[1], parts[2]));
    parts.forEach((part, which) => {
      const altered = Uint8Array.from(part);
      altered[(7 * i) % part.length] ^= 1 << i % 8;
      const [a, b, c] = parts.map((each, at) => (at === which ? altered : each));
      assert.ok(!verified(a, b, c), `${i} ${which}`);
    });
  }
});

test("one signature takes less than 50 ms of processor time", () => {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const key = publicKey.export({ format: "der", type: "spki" }).subarray(-32);
  const message = randomBytes(48);
  const signature = sign(null, message, privateKey);
  const before = process.cpuUsage();
  for (let i = 0; i < 10; i += 1) assert.ok(verified(key, message, signature));
  const { user, system } = process.cpuUsage(before);
  assert.ok(user + system < 10 * 50_000, `${(user + system) / 10_000} ms`);
});
