/** Where randomness comes from: the Web Crypto interface of the browser, of Node, or of what else runs this. */

const found = /** @type {any} */ (globalThis).crypto;

/** @type {Crypto} Node 18 has it in a module only; the one place that names it. */
export const webCrypto = found ?? (await import(/* webpackIgnore: true */ /* @vite-ignore */ "node:crypto")).webcrypto;
