/** For pages: devices that load only the modules of what their design has. */
import { Device } from "./device.js";
import { COMPOSED, readDocument } from "./designs.js";

/** @import { Options } from "./types.js" */

/**
 * Kinds of kernels, names of mechanisms (after a colon) where kinds do not tell, fields of domains (after a dot), and where
 * they are. @type {[string, () => Promise<unknown>][]}
 */
const MODULES = [
  ["response", () => import("./kernels/response.js")],
  ["subset", () => import("./kernels/subset.js")],
  ["unary", () => import("./kernels/unary.js")],
  ["hashing", () => import("./kernels/seeded.js")],
  ["balanced wheel", () => import("./kernels/rings.js")],
  ["interval", () => import("./kernels/interval.js")],
  ["hadamard projective", () => import("./kernels/geometry.js")],
  ["affine", () => import("./kernels/affine.js")],
  ["laplace", () => import("./kernels/laplace.js")],
  ["whole mixture", () => import("./kernels/mixture.js")],
  ["table", () => import("./kernels/table.js")],
  ["channel", () => import("./kernels/channel.js")],
  ["window leaning window-or-bit :brr", () => import("./kernels/window.js")],
  ["lattice", () => import("./kernels/lattice.js")],
  ["arc", () => import("./kernels/arc.js")],
  ["neighbours recode constant :codebook", () => import("./kernels/metric.js")],
  ["windows", () => import("./kernels/windows.js")],
  ["utility", () => import("./kernels/utility.js")],
  [":uss :uue :urap :ulh :uwheel :upgr :urr :uhr :utility", () => import("./kernels/utility_forms.js")],
  [":ussmix", () => import("./kernels/utility_mixture.js")],
  ["utility-levels", () => import("./kernels/budgets.js")],
  ["personal", () => import("./kernels/personal.js")],
  ["bit", () => import("./kernels/bit.js")],
  ["pairs", () => import("./kernels/keyvalue/pairs.js")],
  ["box", () => import("./kernels/box.js")],
  ["interaction", () => import("./kernels/interaction.js")],
  ["dealt :dealt", () => import("./kernels/dealt.js")],
  ["keys-only grouped", () => import("./kernels/keyvalue/grouped.js")],
  ["signed-unary", () => import("./kernels/keyvalue/signed_unary.js")],
  ["signed-subset", () => import("./kernels/keyvalue/signed_subset.js")],
  ["signed-interval", () => import("./kernels/keyvalue/signed_interval.js")],
  ["signed-hashing", () => import("./kernels/keyvalue/signed_hashing.js")],
  ["one-key told-key", () => import("./kernels/keyvalue/onekey.js")],
  ["several .ticks", () => import("./ticks.js")],
  [".labels", () => import("./labels.js")],
  [".interval", () => import("./intervals.js")],
  [".circle", () => import("./circles.js")],
  [".codes", () => import("./codes.js")],
  [".space", () => import("./spaces.js")],
];

/** Load what a design, or a task with several, needs; `new Device(design)` works then. @param {unknown} design */
export async function prepare(design) {
  const found = new Set();
  const walk = (/** @type {any} */ part) => {
    if (!part || typeof part !== "object") return;
    found.add(part.kind).add(`:${part.mechanism}`);
    for (const each of Object.keys(part.domain ?? {})) found.add(`.${each}`);
    Object.values(part).forEach(walk);
  };
  const document = readDocument(design);
  walk(document);
  await Promise.all([
    /[^\0-\x7f]/.test(JSON.stringify(document)) && import("./unicode_texts.js"),
    ...MODULES.map(([own, load]) => own.split(" ").some((each) => found.has(each)) && load()),
  ]);
}

/** What `new Device(design, options)` makes. @param {unknown} design @param {Options} [options] */
export async function deviceFor(design, options) {
  await prepare(design);
  return new Device(design, options);
}

/** What a design may send about each answer, as `explain(design)` says it. @param {unknown} design */
export async function explanationFor(design) {
  await prepare(design);
  if (COMPOSED.size) await import("./explain_parts.js");
  return (await import("./explain.js")).explain(design);
}
