/** A game: guess an answer from its report, against what the promise allows. */
import { percent, scoreChart } from "./charts.js";
import { drawn } from "./model.js";
import { count, element, made, told } from "./page.js";

/** @import { Setting } from "./model.js" */

const ROUNDS = 1000;
const you = { text: "you", n: 0, right: 0 };
const best = { text: "best guesser", n: 0, right: 0 };
/** The neighbour's answer, and what their report says. */
let hidden = { answer: 0, best: 0 };

/** Begin again, with new answers or a new promise. @param {Setting} setting */
export function restart(setting) {
  for (const score of [you, best]) score.n = score.right = 0;
  element("verdict").textContent = "";
  element("guesses").replaceChildren(
    ...setting.labels.map((label, x) => {
      const button = made("button", { type: "button" }, label);
      button.addEventListener("click", () => guess(setting, x));
      return button;
    }),
  );
  next(setting);
  show(setting);
}

/** A neighbour with an answer, and their report. @param {Setting} setting */
function neighbour(setting) {
  const answer = drawn(setting.labels.map(() => 1));
  return { answer, ...setting.read(setting.report(answer)) };
}

/** @param {Setting} setting */
function next(setting) {
  const found = neighbour(setting);
  hidden = found;
  element("neighbour-report").textContent = told(setting, found.supported);
}

/** @param {Setting} setting @param {number} answer */
function guess(setting, answer) {
  const { answer: truth, best: likeliest } = hidden;
  you.n++;
  best.n++;
  you.right += answer === truth ? 1 : 0;
  best.right += likeliest === truth ? 1 : 0;
  const verdict = element("verdict");
  verdict.className = answer === truth ? "right" : "wrong";
  verdict.textContent = `${answer === truth ? "Right" : "Wrong"}: they said “${setting.labels[truth]}”. Here is the next neighbour.`;
  next(setting);
  show(setting);
}

/** Many rounds for the one who always takes the likeliest answer. @param {Setting} setting */
export function playMany(setting) {
  for (let i = 0; i < ROUNDS; i++) {
    const found = neighbour(setting);
    best.n++;
    best.right += found.best === found.answer ? 1 : 0;
  }
  show(setting);
}

/** @param {{n: number, right: number}} score */
const share = ({ n, right }) => (n ? right / n : 0);

/** @param {Setting} setting */
export function show(setting) {
  const { limits } = setting;
  scoreChart(element("score"), limits, [you, best].map((each) => ({ text: each.text, n: each.n, share: share(each) })));
  const scores = [you, best].map((each) => `${each.text} ${each.right} of ${count(each.n)}${each.n ? `, ${percent(share(each))}` : ""}`);
  const told = `Without a report ${percent(limits.blind)} would be right. The best guess from this design’s reports is right ${percent(limits.guess)} of the time in the long run; the promise allows no report more than ${percent(limits.bound)}.`;
  element("score-said").textContent = `${you.n || best.n ? `Right so far: ${scores.join("; ")}. ` : ""}${told}`;
  Object.assign(element("score-said").dataset, { n: best.n, right: best.right, guess: limits.guess, bound: limits.bound });
}
