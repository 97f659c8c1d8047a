/** For pages: devices that load only the modules of what their design has. */
import { Device } from "./device.js";
import { isMapping, readDocument } from "./documents.js";

/** Kinds of kernels (or, after a dot, fields of domains), names of mechanisms, and the module that has them. @type {[string, string, () => Promise<unknown>][]} */
const MODULES = [
  ["response subset unary", "grr ss ass ue sue oue aue the athe", () => import("./kernels/basic.js")],
  ["hashing balanced wheel interval", "iss lh blh olh alh plh wheel", () => import("./kernels/seeded.js")],
  ["hadamard projective", "hr pgr", () => import("./kernels/geometry.js")],
  ["laplace", "she", () => import("./kernels/laplace.js")],
  ["whole mixture", "ssmix", () => import("./kernels/mixture.js")],
  ["table", "exponential laplace geometric lsrr explicit", () => import("./kernels/table.js")],
  ["window leaning window-or-bit", "brr sw pm duchi hm", () => import("./kernels/window.js")],
  ["neighbours recode constant", "codebook", () => import("./kernels/metric.js")],
  ["utility", "uss uue urap ulh uwheel upgr urr uhr utility ussmix", () => import("./kernels/utility.js")],
  ["utility-levels", "uue-levels", () => import("./kernels/budgets.js")],
  ["personal bit", "pldp upldp", () => import("./kernels/personal.js")],
  [
    "keys-only grouped pairs",
    "kv-ss2 kv-ss kv-mix kv-lh kv-olh ks-ue pckv-ue pckv-grr privkv",
    () => import("./kernels/keyvalue.js"),
  ],
  ["signed-unary signed-subset", "", () => import("./kernels/signed.js")],
  ["signed-interval signed-hashing", "", () => import("./kernels/signed_seeded.js")],
  ["one-key told-key", "", () => import("./kernels/onekey.js")],
  [".interval .codes", "", () => import("./intervals.js")],
  [".space", "", () => import("./spaces.js")],
];

/** Load what a design, or a task with several, needs; `new Device(design)` works then. @param {unknown} design */
export async function prepare(design) {
  /** @type {Set<unknown>[]} */
  const [kinds, names] = [new Set(), new Set()];
  const walk = (/** @type {any} */ part) => {
    if (isMapping(part)) {
      kinds.add(part.kind);
      names.add(part.mechanism);
      for (const field of Object.keys(part.domain ?? {})) kinds.add(`.${field}`);
    }
    if (part && typeof part === "object") Object.values(part).forEach(walk);
  };
  walk(readDocument(design));
  const has = (/** @type {string} */ own, /** @type {Set<unknown>} */ all) => own.split(" ").some((each) => all.has(each));
  await Promise.all(MODULES.map(([own, ours, load]) => (has(own, kinds) || has(ours, names)) && load()));
}

/**
 * A device for a design, as `new Device(design, options)` makes it.
 * @param {unknown} design @param {ConstructorParameters<typeof Device>[1]} [options]
 */
export async function deviceFor(design, options) {
  await prepare(design);
  return new Device(design, options);
}
