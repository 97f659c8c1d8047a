/** Pictures as elements of SVG: no styles within, only classes, so that they keep to the page's policy and colours. */

/** @typedef {Record<string, string | number>} Attributes */
/** @typedef {{x: (v: number) => number, y: (v: number) => number, root: SVGElement, width: number, height: number}} Frame */
/** @typedef {{value: number, low: number | null, high: number | null}} Ends */

const SVG = "http://www.w3.org/2000/svg";
let clips = 0;

/** @param {string} name @param {Attributes} attributes @param {string} [text] */
export function shape(name, attributes, text) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  if (text !== undefined) made.textContent = text;
  return made;
}

/** @param {number} share */
export const percent = (share, digits = 1) => `${(100 * share).toFixed(digits).replace(/^-(0(\.0*)?)$/, "$1").replace("-", "−")} %`;

/** A picture with a name that is read aloud, in place of what was there. @param {Element} place @param {number} height @param {string} said */
function picture(place, height, said) {
  const width = Math.max(260, Math.round(place.getBoundingClientRect().width) || 480);
  const root = shape("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": said });
  place.replaceChildren(root);
  return { root, width };
}

/** @param {SVGElement} root @param {string} name @param {Attributes} attributes @param {string} [text] */
const draw = (root, name, attributes, text) => root.appendChild(shape(name, attributes, text));

/** A bar of a share within its row. @param {number} share */
export function bar(share) {
  const root = shape("svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" });
  draw(root, "rect", { class: "track", width: 100, height: 10, rx: 1.5 });
  draw(root, "rect", { class: "fill", width: 100 * share, height: 10, rx: 1.5 });
  return root;
}

/** Truth as bars, estimates as points on their intervals. @param {Element} place @param {string[]} labels @param {number[]} truth @param {Ends[] | null} found */
export function estimatesChart(place, labels, truth, found) {
  const row = Math.max(46, 222 / labels.length);
  const [top, bottom, height] = [4, 24, 4 + row * labels.length + 24];
  const { root, width } = picture(place, height, "Estimates of all answers with their intervals; the table has the numbers");
  const most = Math.min(1, Math.max(...truth) + 0.25);
  const [left, right] = [6, width - 14];
  const x = (/** @type {number} */ v) => left + ((Math.max(-0.1, Math.min(most, v)) + 0.1) / (most + 0.1)) * (right - left);
  for (let v = 0; v <= most + 1e-9; v += most > 0.6 ? 0.2 : 0.1) {
    draw(root, "line", { class: v ? "grid" : "zero", x1: x(v), x2: x(v), y1: top, y2: height - bottom });
    draw(root, "text", { class: "soft", x: x(v), y: height - 6, "text-anchor": "middle" }, percent(v, 0));
  }
  labels.forEach((label, i) => {
    const y = top + row * i;
    const shown = label.length > 40 ? `${label.slice(0, 39)}…` : label;
    draw(root, "text", { x: x(0) + 4, y: y + 15 }, shown);
    draw(root, "rect", { class: "truth", x: x(0), y: y + 21, width: Math.max(0.5, x(truth[i]) - x(0)), height: 16 });
    const one = found?.[i];
    if (!one) return;
    if (one.low !== null && one.high !== null) draw(root, "line", { class: "whisker", x1: x(one.low), x2: x(one.high), y1: y + 29, y2: y + 29 });
    draw(root, "circle", { class: "mark", cx: x(one.value), cy: y + 29, r: 5.5 });
  });
}

/** Axes of a picture with lines. @param {Element} place @param {string} said @param {{x: [number, string][], y: [number, string][], log?: boolean}} axes @returns {Frame} */
function frame(place, said, axes) {
  const height = 250;
  const { root, width } = picture(place, height, said);
  const scale = axes.log ? Math.log : (/** @type {number} */ v) => v;
  const [x0, x1] = [axes.x[0][0], axes.x[axes.x.length - 1][0]].map(scale);
  const [y0, y1] = [axes.y[0][0], axes.y[axes.y.length - 1][0]];
  const x = (/** @type {number} */ v) => 50 + ((scale(v) - x0) / (x1 - x0)) * (width - 74);
  const y = (/** @type {number} */ v) => 12 + (1 - (Math.max(y0, Math.min(y1, v)) - y0) / (y1 - y0)) * (height - 40);
  for (const [v, text] of axes.y) {
    draw(root, "line", { class: "grid", x1: x(axes.x[0][0]), x2: width - 24, y1: y(v), y2: y(v) });
    draw(root, "text", { class: "soft", x: 44, y: y(v) + 4, "text-anchor": "end" }, text);
  }
  for (const [v, text] of axes.x) draw(root, "text", { class: "soft", x: x(v), y: height - 6, "text-anchor": "middle" }, text);
  return { x, y, root, width, height };
}

/** @param {[number, number][]} points @param {Frame} frame */
const path = (points, { x, y }) => points.map(([a, b], i) => `${i ? "L" : "M"}${x(a).toFixed(1)} ${y(b).toFixed(1)}`).join("");

/** An estimate and its interval while reports come in. @param {Element} place @param {string} label @param {number} truth @param {[number, Ends][]} history @param {number} most */
export function settlingChart(place, label, truth, history, most) {
  const low = truth < 0.25 ? -0.1 : Math.max(0, Math.floor(10 * truth - 1.5) / 10);
  const high = Math.min(1, Math.ceil(10 * truth + 1.5) / 10);
  const step = high - low > 0.35 ? 0.1 : 0.05;
  const ys = Array.from({ length: Math.round((high - low) / step) + 1 }, (_, i) => low + step * i);
  const made = frame(place, `How the estimate of ${label} settles around the truth, ${percent(truth)}`, {
    x: [[100, "100"], [1000, "1,000 robots"], [most, most.toLocaleString("en")]],
    y: ys.map((v) => [v, percent(v, 0)]),
    log: true,
  });
  const { root, x, y } = made;
  const late = history.filter(([n]) => n >= 100);
  const sure = /** @type {[number, {low: number, high: number}][]} */ (/** @type {unknown} */ (late.filter(([, one]) => one.low !== null)));
  if (sure.length > 1) {
    const upper = sure.map(([n, one]) => /** @type {[number, number]} */ ([n, one.high]));
    const lower = sure.map(([n, one]) => /** @type {[number, number]} */ ([n, one.low]));
    draw(root, "path", { class: "band", d: `${path(upper, made)}${path(lower.reverse(), made).replace("M", "L")}Z` });
  }
  draw(root, "line", { class: "truth-line", x1: x(100), x2: x(most), y1: y(truth), y2: y(truth) });
  if (late.length > 1) draw(root, "path", { class: "curve", d: path(late.map(([n, one]) => [n, one.value]), made) });
  draw(root, "text", { class: "truth-text", x: x(most), y: 26, "text-anchor": "end" }, `true: ${percent(truth)}`);
}

/** A curve over epsilon with a mark at the present one. @param {Element} place @param {string} said @param {number[]} epsilons @param {number[]} values @param {number} now @param {[number, string][]} ys @param {{values: number[], text: string}} [limit] */
export function epsilonChart(place, said, epsilons, values, now, ys, limit) {
  const last = epsilons[epsilons.length - 1];
  const made = frame(place, said, { x: [[0, "0"], [1, "1"], [2, "2"], [3, "3"], [4, "4"], [5, "5"], [last, `${last}`]], y: ys });
  const { root, x, y } = made;
  const line = (/** @type {number[]} */ of) => path(of.map((v, i) => [epsilons[i], v]), made);
  const id = `clip-${clips++}`;
  draw(draw(root, "clipPath", { id }), "rect", { x: x(0), y: 12, width: x(last) - x(0) + 2, height: 210 });
  if (limit) {
    draw(root, "path", { class: "limit", d: line(limit.values) });
    draw(root, "line", { class: "limit", x1: x(last) - 166, x2: x(last) - 136, y1: y(0.12), y2: y(0.12) });
    draw(root, "text", { class: "limit-text", x: x(last), y: y(0.12) + 4, "text-anchor": "end" }, limit.text);
  }
  draw(root, "path", { class: "curve", d: line(values), "clip-path": `url(#${id})` });
  draw(root, "line", { class: "zero", x1: x(epsilons[now]), x2: x(epsilons[now]), y1: 12, y2: y(ys[0][0]) });
  draw(root, "circle", { class: "mark", cx: x(epsilons[now]), cy: y(values[now]), r: 6 });
}

/** Scores on one scale, with what chance, the best guess and the promise allow. @param {Element} place @param {{blind: number, guess: number, bound: number}} limits @param {{text: string, share: number, n: number}[]} scores */
export function scoreChart(place, limits, scores) {
  const { root, width } = picture(place, 118, "Scores beside what can be reached; the text below has the numbers");
  const x = (/** @type {number} */ v) => 12 + v * (width - 24);
  draw(root, "rect", { class: "track", x: x(0), y: 50, width: x(1) - x(0), height: 14, rx: 7 });
  draw(root, "rect", { class: "truth", x: x(limits.blind), y: 50, width: Math.max(1, x(limits.guess) - x(limits.blind)), height: 14 });
  draw(root, "line", { class: "limit", x1: x(limits.bound), x2: x(limits.bound), y1: 44, y2: 78 });
  const end = (/** @type {number} */ v) => (v > 0.7 ? "end" : v < 0.3 ? "start" : "middle");
  draw(root, "text", { class: "limit-text", x: x(limits.bound), y: 94, "text-anchor": end(limits.bound) }, `promise: never above ${percent(limits.bound)}`);
  draw(root, "text", { class: "soft", x: x(0), y: 112 }, "0 %");
  draw(root, "text", { class: "soft", x: x(1), y: 112, "text-anchor": "end" }, "100 %");
  scores.forEach(({ text, share, n }, i) => {
    if (!n) return;
    draw(root, "line", { class: "whisker", x1: x(share), x2: x(share), y1: i ? 36 : 20, y2: 66 });
    draw(root, "circle", { class: "mark", cx: x(share), cy: 57, r: 6 });
    draw(root, "text", { x: x(share), y: i ? 32 : 14, "text-anchor": end(share) }, `${text} ${percent(share)}`);
  });
}
