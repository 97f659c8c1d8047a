/** Domains of numbers: an interval in which a few of them, the codes, stand for all. */
import { DOMAINS, fieldsOf, isNumber, must } from "./designs.js";
import { cells, inside } from "./intervals.js";

/** @param {any} document */
DOMAINS.codes = function codes(document) {
  const given = fieldsOf(document, "the domain", ["interval", "codes", "clip"]);
  const { low, high, read } = inside(given);
  /** @type {number[]} */
  const all = given.codes;
  const fits = (/** @type {number} */ code, /** @type {number} */ i) => isNumber(code) && low <= code && code <= high && !(code <= all[i - 1]);
  must(Array.isArray(all) && all.length >= 2 && all.every(fits), "codes", all, "at least two rising numbers inside");
  const ends = all.map((code, i) => (i ? all[i - 1] / 2 + code / 2 : low));
  const place = (/** @type {unknown} */ value) => {
    const number = read(value);
    let i = all.length - 1;
    while (i && ends[i] >= number) i--;
    return i;
  };
  return cells(all.length, place, (i) => ends[i] ?? high);
};
