/** Mechanisms for sensitive and harmless values: which designs with a utility kernel there are. */
import "./mapped.js";
import { BASES, CHECKS, FIELDS, FORMS, checkParams, fieldsOf, form, isMapping, marked, oneOf, read, register } from "../designs.js";

/** The inverse of `kernelFrom`. @param {any} kernel @returns {any} */
export function kernelTo(kernel) {
  if (typeof kernel === "bigint") return `${kernel}`;
  if (typeof kernel === "number") return kernel === Infinity ? "inf" : kernel;
  if (Array.isArray(kernel)) return kernel.map(kernelTo);
  return Object.fromEntries([["kind", kernel.kind], ...marked(kernel).map(([name]) => [name, kernelTo(kernel[name])])]);
}

/** The base by name and parameters, or by its whole design; null without one. */
CHECKS.base = (value, _, { base: [own] }, design) => {
  if (value === null || !own) {
    return value === null && !own ? "" : "null for fewer than two sensitive answers, and only then";
  }
  const whole = isMapping(value) && Object.hasOwn(value, "kernel");
  const given = fieldsOf(value, "base", whole ? FIELDS : ["mechanism", "params"]);
  const [name, form] = [given.mechanism, BASES.get(given.mechanism)];
  if (!form || !Object.hasOwn(form.kernel, own.kind)) return `a mechanism that has a ${own.kind} kernel`;
  if (!whole) {
    checkParams(`base ${name}`, form, given, own);
    return "";
  }
  const made = read(name, form, given);
  const same = made.epsilon === design.epsilon && JSON.stringify(kernelTo(made.kernel)) === JSON.stringify(kernelTo(own));
  return same ? "" : "a design with the epsilon and the kernel of the base";
};

/** Sensitive answers through one of these kernels. @param {string} bases @returns {any} */
export const over = (bases) => ({ utility: { base: oneOf(bases) } });
const params = { base: "base", sensitive: "same sensitive", theta: "chance", form: "word null glutf paper separate" };
const any = {
  /** Whatever is loaded and protects all answers alike. */
  get base() {
    return Object.assign({}, ...[...BASES.values()].map(({ kernel }) => kernel));
  },
};
const named = { uss: "subset", "uue urap": "unary", ulh: "hashing", uwheel: "wheel", upgr: "projective", urr: "response", uhr: "hadamard" };
const forms = Object.fromEntries(Object.entries(named).map(([names, base]) => [names, form(over(base), params)]));
forms.utility = form({ utility: any }, params);
register([], forms, [FORMS]);
