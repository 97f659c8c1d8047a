/** Domains whose answers are lists of options, at most so many of them. */
import { DOMAINS, fieldsOf, isWhole, must, numbered } from "./designs.js";
import { ParameterError, show } from "./errors.js";
import { numberOf, setsUpTo } from "./kernels/several.js";
import { labelled } from "./labels.js";

const OPTIONS_MAX = 64;
const ANSWERS_MAX = 1n << 32n;

/** @param {any} document @param {string} name */
DOMAINS.ticks = function ticked(document, name) {
  must(name === "several", "ticks", name, "that of several: no label names a set of options");
  const { ticks, most } = fieldsOf(document, "the domain", ["ticks", "most"]);
  const listed = Array.isArray(ticks);
  must(listed || isWhole(ticks, 2, OPTIONS_MAX), "ticks", ticks, `labels, or a whole number from 2 to ${OPTIONS_MAX}`);
  const named = listed ? labelled({ labels: ticks }) : numbered(ticks);
  const count = named.answers;
  must(count <= OPTIONS_MAX, "ticks", count, `at most ${OPTIONS_MAX} options`);
  must(isWhole(most, 1, count), "most", most, `a whole number from 1 to ${count}`);
  const sets = setsUpTo(BigInt(count), BigInt(most));
  must(sets <= ANSWERS_MAX, "most", most, `such that there are at most ${ANSWERS_MAX} sets of so many options`);
  return {
    answers: Number(sets),
    options: listed ? ticks : Array.from({ length: count }, (_, i) => `${i}`),
    index(/** @type {any} */ value) {
      if (!Array.isArray(value) || value.length > count) {
        throw new ParameterError(`value must be a list of what is ticked of ${count} options, got ${show(value)}.`);
      }
      const chosen = new Set(Array.from(value, (each) => named.index(each)));
      if (chosen.size < value.length) throw new ParameterError(`value must have every option at most once, got ${show(value)}.`);
      if (chosen.size > most) throw new ParameterError(`value must have at most ${most} options, got ${chosen.size}.`);
      return Number(numberOf(Array.from(chosen, BigInt), BigInt(count)));
    },
  };
};
