/**
 * One request over a connection of its own, for Node: reports that share one are known to come from one device.
 *
 * @module
 */

import { request as http } from "node:http";
import { request as https } from "node:https";

const HEADERS_MAX = 16_384;

/**
 * @param {string} url
 * @param {{body: string, signal: AbortSignal, most: number}} how `most` bytes of the answer are read
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
      const done = () => {
        const wait = answer.headers["retry-after"] ?? "";
        resolve({ status: answer.statusCode ?? 0, wait, data: Buffer.concat(parts).subarray(0, most) });
        sent.destroy();
      };
      answer.on("data", (part) => {
        parts.push(part);
        size += part.length;
        if (size >= most) done();
      });
      answer.on("end", done);
      answer.on("error", reject);
      answer.on("close", () => reject(new Error("the answer ended too early")));
    });
    sent.on("error", reject);
    sent.on("close", () => reject(new Error("the connection was closed")));
    sent.end(data);
  });
