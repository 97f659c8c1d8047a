/**
 * One request over a connection of its own, for Node: reports that share one are known to come from one device.
 *
 * @module
 */

import { request as http } from "node:http";
import { request as https } from "node:https";

const HEADERS_MAX = 16_384;
const LONG = "the answer is too long";

/**
 * @param {string} url
 * @param {{body: string, signal: AbortSignal, most: number}} how an answer of more than `most` bytes is none
 * @returns {Promise<{status: number, wait: string, data: Uint8Array}>}
 */
export const exchange = (url, { body, signal, most }) =>
  new Promise((resolve, reject) => {
    const data = Buffer.from(body);
    const headers = { "Content-Type": "application/json", "Content-Length": data.length };
    const options = { method: "POST", agent: /** @type {const} */ (false), headers, signal, maxHeaderSize: HEADERS_MAX };
    const sent = (url.startsWith("https:") ? https : http)(url, options, (answer) => {
      /** @type {Buffer[]} */
      const parts = [];
      let size = 0;
      answer.on("data", (part) => {
        parts.push(part);
        size += part.length;
        if (size > most) sent.destroy(new Error(LONG));
      });
      answer.on("end", () => {
        const wait = answer.headers["retry-after"] ?? "";
        resolve({ status: answer.statusCode ?? 0, wait, data: Buffer.concat(parts) });
        sent.destroy();
      });
      answer.on("error", reject);
      answer.on("close", () => reject(new Error("the answer ended too early")));
    });
    for (const event of ["continue", "information"]) {
      sent.on(event, () => Number(sent.socket?.bytesRead) > most && sent.destroy(new Error(LONG)));
    }
    sent.on("error", reject);
    sent.on("close", () => reject(new Error("the connection was closed")));
    sent.end(data);
  });
