/** Where randomness comes from: the Web Crypto interface of the browser, of Node, or of what else runs this. */

const found = /** @type {any} */ (globalThis).crypto;

/** Node 18 has it in a module only; the one place that names it. */
const place = "node:crypto";

/** @type {Crypto} */
export const webCrypto = found ?? (await import(/* webpackIgnore: true */ /* @vite-ignore */ place)).webcrypto;
