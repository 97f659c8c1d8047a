import assert from "node:assert/strict";
import { createHash, createHmac, randomBytes } from "node:crypto";
import { test } from "node:test";

import { canonical, digest, parse } from "../src/canonical.js";
import { hex, hmac, sha256 } from "../src/sha256.js";
import { content, kindOf, vectors } from "./tasks.js";

const text = (/** @type {unknown} */ part) => new TextDecoder().decode(canonical(part));
const refused = { kind: "FormatError" };

test("SHA-256 and HMAC are those of everybody else, at all lengths of a block", () => {
  for (let length = 0; length < 260; length += 1) {
    const [data, key] = [randomBytes(length), randomBytes((length * 7) % 200)];
    assert.equal(hex(sha256(data)), createHash("sha256").update(data).digest("hex"));
    assert.equal(hex(hmac(key)(data)), createHmac("sha256", key).update(data).digest("hex"));
  }
});

test("the canonical form is the one of RFC 8785", () => {
  assert.equal(text({ b: 1.0, a: [1e21, 0.1, null, "€"] }), '{"a":[1e+21,0.1,null,"€"],"b":1}');
  assert.equal(text([1e20, 2 ** 60, 1e-6, 1e-7, -0, 333333333.33333329]), "[100000000000000000000,1152921504606847000,0.000001,1e-7,0,333333333.3333333]");
  assert.equal(text({ "\u20ac": 1, "\r": 2, "\ufb33": 3, "1": 4, "😀": 5, "\u0080": 6, "ö": 7 }), '{"\\r":2,"1":4,"\u0080":6,"ö":7,"€":1,"😀":5,"\ufb33":3}');
  assert.equal(text("\u000f\b\"\\\u007f"), '"\\u000f\\b\\"\\\\\u007f"');
});

test("what RFC 8785 cannot write has no canonical form", () => {
  let deep = {};
  for (let i = 0; i < 100_000; i += 1) deep = { deep };
  for (const part of [NaN, Infinity, "\ud800", { "\udc00": 1 }, [undefined], 1n, () => 1, Symbol("s"), deep]) {
    assert.throws(() => canonical(part), refused, String(typeof part));
  }
});

test("a document is read, however its numbers and texts are spelled", () => {
  const spelled = ' { "b" : [ 1.0 , 1e0, -0, 0.5e1 ] ,\r\n\t"a":"\\ud83d\\ude00\\/\\u0041" , "__proto__": null } ';
  assert.equal(text(parse(spelled)), '{"__proto__":null,"a":"😀/A","b":[1,1,0,5]}');
  assert.equal(digest(parse(spelled)), createHash("sha256").update(text(parse(spelled))).digest("hex"));
  const bytes = new TextEncoder().encode(spelled);
  assert.deepEqual(parse(bytes), parse(spelled));
});

const BAD = [
  ...["", " ", "{", "}", "[1]", "1", '"a"', "null", "{} {}", "{}x", "\ufeff{}", "{'a':1}", "{a:1}", '{"a" 1}', '{"a":}'],
  ...['{"a":1,}', '{,}', '{"a":[1,]}', '{"a":[,1]}', '{"a":[1 2]}', '{"a":1 "b":2}', '{"a":1,"a":1}', '{"a":{"b":1,"b":2}}'],
  ...['{"a":01}', '{"a":+1}', '{"a":1.}', '{"a":.5}', '{"a":1e}', '{"a":0x1}', '{"a":-}', '{"a":1e400}', '{"a":-1e400}'],
  ...['{"a":NaN}', '{"a":Infinity}', '{"a":-Infinity}', '{"a":tru}', '{"a":True}', '{"a":nul}', '{"a":undefined}'],
  ...['{"a":"\t"}', '{"a":"\\x"}', '{"a":"\\u12"}', '{"a":"\\u12g4"}', '{"a":"\\ud800"}', '{"\\udfff":1}', '{"a":"', '{"a'],
  ...['{"a":1}//', '{"a":/**/1}', '{"a":1}\0', `{"a":${"9".repeat(400)}}`, `{"a":${"[".repeat(12)}${"]".repeat(12)}}`],
  ...["[".repeat(1_000_000), '{"a":'.repeat(200_000), `{"a":"${"x".repeat(65_537)}"}`, `{"a":[${"1,".repeat(528_384)}1]}`],
];

test("what is not a document is refused, and nothing else is thrown", () => {
  for (const bad of BAD) assert.throws(() => parse(bad), refused, bad.slice(0, 60));
  for (const bytes of [[0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d], [0xef, 0xbb, 0xbf, 0x7b, 0x7d], [0xff, 0xfe, 0x7b, 0]]) {
    assert.throws(() => parse(Uint8Array.from(bytes)), refused);
  }
  assert.throws(() => parse(new Uint8Array(2 ** 24 + 1)), refused);
});

test("what just fits is read", () => {
  assert.equal(parse(`{"a":${"[".repeat(11)}${"]".repeat(11)}}`).a.length, 1);
  assert.equal(parse(`{"a":"${"😀".repeat(65_536)}"}`).a.length, 131_072);
});

test("numbers and documents of the vectors have the same canonical form here", () => {
  const { numbers, cases } = vectors("canonical");
  for (const { bits, canonical: form } of numbers) {
    const view = new DataView(new ArrayBuffer(8));
    view.setBigUint64(0, BigInt(`0x${bits}`));
    assert.equal(text(view.getFloat64(0)), form);
  }
  for (const { text: spelled, canonical: form } of cases) assert.equal(text(parse(spelled)), form);
  assert.ok(numbers.length > 300 && cases.length > 60);
});

test("what the vectors refuse is refused here", () => {
  const { refused: listed } = vectors("canonical");
  for (const each of listed) assert.throws(() => parse(content(each)), { kind: kindOf(each.error) }, each.about);
  assert.ok(listed.length > 40);
});
