/** For pages: devices that load only the modules of the kernels that their design has. */
import { Device } from "./device.js";
import { readDocument } from "./documents.js";

/** Kinds of kernels by the module that has them. @type {[string, () => Promise<unknown>][]} */
const MODULES = [
  ["response subset unary", () => import("./kernels/basic.js")],
  ["hashing balanced wheel interval", () => import("./kernels/seeded.js")],
  ["hadamard projective", () => import("./kernels/geometry.js")],
  ["laplace", () => import("./kernels/laplace.js")],
  ["whole mixture", () => import("./kernels/mixture.js")],
  ["table", () => import("./kernels/table.js")],
  ["window leaning window-or-bit", () => import("./kernels/window.js")],
  ["neighbours recode constant", () => import("./kernels/metric.js")],
  ["utility", () => import("./kernels/utility.js")],
  ["utility-levels", () => import("./kernels/budgets.js")],
  ["personal bit", () => import("./kernels/personal.js")],
  ["signed-unary signed-subset keys-only one-key grouped pairs", () => import("./kernels/keyvalue.js")],
  ["signed-interval signed-hashing told-key", () => import("./kernels/keyvalue_seeded.js")],
];

/** Load what a design needs; `new Device(design)` works then. @param {unknown} design */
export async function prepare(design) {
  const kinds = new Set(kindsOf(readDocument(design).kernel));
  await Promise.all(MODULES.filter(([own]) => own.split(" ").some((kind) => kinds.has(kind))).map(([, load]) => load()));
}

/** All kinds of kernels in a document. @param {any} part @returns {string[]} */
function kindsOf(part) {
  const inner = typeof part === "object" && part ? Object.values(part).flatMap(kindsOf) : [];
  return typeof part?.kind === "string" ? [part.kind, ...inner] : inner;
}

/**
 * A device for a design, as `new Device(design, options)` makes it.
 * @param {unknown} design
 * @param {ConstructorParameters<typeof Device>[1]} [options]
 */
export async function deviceFor(design, options) {
  await prepare(design);
  return new Device(design, options);
}
