/**
 * Addresses that a device talks to: https, or http to this machine; the same for all clients, character by character.
 *
 * @module
 */

import { ParameterError, show } from "./errors.js";

const LENGTH_MAX = 2000;
const NAME = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?";
const FAR = `https://(?:${NAME}(?:\\.${NAME})*|\\[[0-9a-f:.]{2,45}\\])`;
const NEAR = "http://(?:localhost|127\\.0\\.0\\.1|\\[::1\\])";
const URL_FORM = new RegExp(`^(?:${FAR}|${NEAR})(?::([1-9][0-9]{0,4}))?(?:/[A-Za-z0-9._~!$&'()*+,;=:@%-]*)*$`);
const PORT_MAX = 65_535;

/** @param {unknown} url @returns {string} an address in its one form: scheme and host in small letters, no slash at its end */
export function checkedUrl(url) {
  const need = "https, or http to this machine (localhost, 127.0.0.1)";
  if (typeof url === "string" && url.length <= LENGTH_MAX) {
    const lower = (/** @type {string} */ start) => start.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
    const plain = url.replace(/[A-Za-z]+:\/\/[^/]*/, lower).replace(/\/+$/, "");
    const found = URL_FORM.exec(plain);
    if (found && Number(found[1] ?? 0) <= PORT_MAX) return plain;
  }
  throw new ParameterError(
    `url must be an address with ${need}, got ${show(url)}.`,
    "Reports are not sent openly; a user, a query or a # have no place in it, and other letters are %-escaped.",
  );
}
