/** Everything: all kernels are loaded, so that any design can be read at once. Pages may prefer `load.js`. */
import "./kernels/basic.js";
import "./kernels/seeded.js";
import "./kernels/geometry.js";
import "./kernels/laplace.js";
import "./kernels/mixture.js";
import "./kernels/table.js";
import "./kernels/window.js";
import "./kernels/metric.js";
import "./kernels/utility.js";
import "./kernels/budgets.js";
import "./kernels/personal.js";
import "./kernels/keyvalue.js";
import "./kernels/onekey.js";
import "./kernels/signed.js";
import "./kernels/signed_seeded.js";
import "./intervals.js";
import "./spaces.js";

export { Device, explain } from "./device.js";
export * from "./errors.js";
export { Ledger } from "./ledger.js";
export { Task } from "./task.js";
export { ReplayWords, SystemWords } from "./words.js";
