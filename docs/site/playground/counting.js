/** Robots that answer, a few at a time so that the page stays alive, and what is known of all of them meanwhile. */
import { estimatesChart, percent, settlingChart } from "./charts.js";
import { Crowd, ROBOTS } from "./model.js";
import { count, element, made } from "./page.js";

/** @import { Setting } from "./model.js" */
/** @typedef {import("./model.js").Ends} Ends */

const PAUSE = 30;
/** @type {Crowd} */
let crowd;
/** @type {[number, Ends[]][]} */
let history = [];
/** @type {ReturnType<typeof setTimeout> | undefined} */
let waiting;

/** A crowd that has not answered yet. @param {Setting} setting */
export function gather(setting) {
  halt();
  crowd = new Crowd(setting, element("kind").value);
  history = [];
  const followed = element("followed").value;
  element("followed").replaceChildren(...setting.labels.map((label, x) => made("option", { value: `${x}` }, label)));
  element("followed").value = Number(followed) < setting.labels.length && followed ? followed : "0";
  element("crowd-said").textContent = "";
  show();
}

/** Let all of them answer, from the first one on. @param {Setting} setting */
export function run(setting) {
  gather(setting);
  element("run").disabled = true;
  element("stop").disabled = false;
  element("crowd-said").textContent = "Robots are answering.";
  step();
}

/** Some more, and on after a pause; the more have answered, the more at once. */
function step() {
  crowd.answer(Math.min(Math.max(20, Math.floor(crowd.n / 20)), ROBOTS - crowd.n));
  history.push([crowd.n, crowd.estimates()]);
  const done = crowd.n === ROBOTS;
  if (done) halt();
  else waiting = setTimeout(step, PAUSE);
  if (done || !matchMedia("(prefers-reduced-motion: reduce)").matches) show();
  else progress();
  if (done) element("crowd-said").textContent = verdict();
}

/** No more answer; what has come stays. */
export function halt() {
  clearTimeout(waiting);
  const running = element("run").disabled;
  element("run").disabled = false;
  element("stop").disabled = true;
  if (running && crowd.n < ROBOTS) element("crowd-said").textContent = `Stopped. ${verdict()}`;
}

function progress() {
  element("progress").value = crowd.n;
  element("count").textContent = crowd.n ? `${count(crowd.n)} of ${count(ROBOTS)} reports` : "no robot has answered yet";
}

/** In a sentence what the intervals came to. */
function verdict() {
  const known = crowd.estimates().map((one, x) => ({ ...one, truth: crowd.truth[x] })).filter((one) => one.low !== null);
  const held = known.filter((one) => (one.low ?? 0) <= one.truth && one.truth <= (one.high ?? 0)).length;
  const wide = Math.max(...known.map((one) => (one.high ?? 0) - (one.low ?? 0))) * 50;
  if (!known.length) return "There are too few reports for intervals.";
  return `${held} of ${known.length} intervals hold the truth; about 95 of 100 do. The widest goes ${wide.toFixed(1)} points up and down.`;
}

/** @param {Ends} one */
function row(one) {
  const ends = one.low === null || one.high === null ? ["too few reports"] : [made("data", { value: `${one.low}` }, percent(one.low).slice(0, -2)), " to ", ...data(one.high)];
  return [made("td", {}, ...data(one.value)), made("td", {}, ...ends)];
}

/** @param {number} share */
const data = (share) => [made("data", { value: `${share}` }, percent(share))];

export function show() {
  const { labels } = crowd.setting;
  const found = crowd.n ? crowd.estimates() : null;
  progress();
  estimatesChart(element("estimates"), labels, crowd.truth, found);
  const followed = Number(element("followed").value);
  const line = history.map(([n, all]) => /** @type {[number, Ends]} */ ([n, all[followed]]));
  settlingChart(element("settling"), labels[followed], crowd.truth[followed], line, ROBOTS);
  const cells = (/** @type {number} */ x) => (found ? row(found[x]) : [made("td", {}, "–"), made("td", {}, "–")]);
  const rows = labels.map((label, x) =>
    made("tr", {}, made("th", { scope: "row" }, label), made("td", {}, percent(crowd.truth[x])), ...cells(x)),
  );
  element("numbers").querySelector("tbody").replaceChildren(...rows);
}
