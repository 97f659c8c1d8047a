/** The page: what is chosen, and its four parts, which begin again when something else is chosen. */
import { offer, report } from "./answering.js";
import { epsilonChart, percent } from "./charts.js";
import { gather, halt, run, show as showCrowd } from "./counting.js";
import { playMany, restart, show as showScore } from "./guessing.js";
import { EPSILONS, MECHANISMS, ROBOTS, Setting, bestOf, labelsIn, rowOf, standardError, titleOf } from "./model.js";
import { element, made } from "./page.js";

const AT_FIRST = 1;
/** @type {Setting} */
let setting;

/** The site's own choice between light and dark, where there is one. */
function look() {
  try {
    const mode = localStorage.getItem("mode");
    if (mode === "light" || mode === "dark") document.documentElement.dataset.theme = mode;
  } catch {
    return; // a browser that keeps nothing for this page: then its own choice holds
  }
}

const step = () => Number(element("epsilon").value);

/** The question, above its answers. */
function ask() {
  element("question").textContent = element("asked").value.trim() || "Your answer";
}

/** What is chosen now; the parts stay as they are while the answers are not fit to be asked. */
function choose() {
  const { labels, fault } = labelsIn(element("labels").value);
  element("labels-fault").textContent = fault ? `These answers cannot be asked: ${fault}.` : "";
  element("labels").setAttribute("aria-invalid", `${fault !== ""}`);
  if (fault) return;
  const best = bestOf(step(), labels.length);
  const chosen = element("mechanism").value;
  setting = new Setting(chosen === "best" ? best : chosen, step(), labels);
  element("mechanism").options[0].textContent = `least error: ${titleOf(best)}`;
  const { text, phrase } = setting.explanation.over(1);
  element("epsilon-now").textContent = `${setting.epsilon}`;
  element("epsilon").setAttribute("aria-valuetext", `${setting.epsilon}, ${phrase}`);
  element("grade").textContent = phrase;
  element("promise").textContent = text.split("\n")[0];
  offer(setting);
  restart(setting);
  gather(setting);
  price();
}

/** Error and protection over all epsilons. */
function price() {
  const { labels, mechanism } = setting;
  const k = labels.length;
  const rows = EPSILONS.map((_, i) => rowOf(mechanism, i, k));
  const points = rows.map((each) => 1.96 * standardError(each, 1 / k, ROBOTS));
  const most = points[1] > 0.12 ? 0.2 : points[1] > 0.06 ? 0.1 : 0.05;
  const now = step();
  const margin = `${(100 * points[now]).toFixed(1)} points`;
  epsilonChart(
    element("error"),
    `Error over epsilon; at ${setting.epsilon} it is ${margin}`,
    EPSILONS,
    points,
    now,
    [0, 0.25, 0.5, 0.75, 1].map((part) => [part * most, `${+(100 * part * most).toFixed(2)}`]),
  );
  const bounds = EPSILONS.map((epsilon) => Math.exp(epsilon) / (Math.exp(epsilon) + k - 1));
  epsilonChart(
    element("protection"),
    `Best guess over epsilon; at ${setting.epsilon} it is right ${percent(setting.guess)} of the time`,
    EPSILONS,
    rows.map((each) => each.guess),
    now,
    [0, 0.25, 0.5, 0.75, 1].map((share) => [share, percent(share, 0)]),
    { values: bounds, text: "the promise’s limit" },
  );
  element("price-said").textContent = `At epsilon ${setting.epsilon}, 95 % of estimates are within ${margin} of the truth, up or down, and the best guess at one person is right ${percent(setting.guess)} of the time; without a report it would be ${percent(1 / k)}.`;
}

/** All pictures again, in the width that there is now. */
function draw() {
  showScore(setting);
  showCrowd();
  price();
}

function begin() {
  look();
  element("epsilon").max = EPSILONS.length - 1;
  element("epsilon").value = EPSILONS.indexOf(AT_FIRST);
  element("mechanism").append(
    made("option", { value: "best" }, "least error"),
    ...MECHANISMS.map((name) => made("option", { value: name }, titleOf(name))),
  );
  element("main").hidden = false;
  choose();
  ask();
  element("asked").addEventListener("input", ask);
  for (const id of ["epsilon", "labels"]) element(id).addEventListener("input", choose);
  element("mechanism").addEventListener("change", choose);
  element("report").addEventListener("click", () => report(setting));
  element("many").addEventListener("click", () => playMany(setting));
  element("fresh").addEventListener("click", () => restart(setting));
  element("kind").addEventListener("change", () => gather(setting));
  element("followed").addEventListener("change", showCrowd);
  element("run").addEventListener("click", () => run(setting));
  element("stop").addEventListener("click", halt);
  let width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth !== width) draw();
    width = innerWidth;
  });
  document.documentElement.dataset.ready = "yes";
}

begin();
