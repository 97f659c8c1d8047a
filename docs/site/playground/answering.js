/** The visitor's own report: its bytes, and what they could have meant. */
import { bar, percent } from "./charts.js";
import { count, element, made, told } from "./page.js";

/** @import { Setting } from "./model.js" */

let reports = 0;

/** The answers to choose from; what was made under another setting goes. @param {Setting} setting */
export function offer(setting) {
  const chosen = element("answers").querySelector("input:checked")?.value ?? "0";
  element("answers").replaceChildren(
    ...setting.labels.map((label, x) => {
      const input = made("input", { type: "radio", name: "answer", value: `${x}` });
      input.checked = `${x}` === chosen;
      return made("label", {}, input, label);
    }),
  );
  element("answers").querySelector("input:checked") ?? (element("answers").querySelector("input").checked = true);
  element("made").hidden = true;
  element("said").textContent = "";
  reports = 0;
}

/** Make a report for the chosen answer, and show it. @param {Setting} setting */
export function report(setting) {
  const answer = Number(element("answers").querySelector("input:checked").value);
  const bytes = setting.report(answer);
  const { shares, best, supported, text } = setting.read(bytes);
  reports++;
  element("bytes").replaceChildren(
    ...Array.from(bytes, (byte) =>
      made("span", {}, made("b", {}, byte.toString(16).padStart(2, "0")), made("small", {}, byte.toString(2).padStart(8, "0"))),
    ),
  );
  element("bytes").dataset.hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  element("decoded").textContent = `${bytes.length === 1 ? "One byte" : `${bytes.length} bytes`}, whatever you answer. ${told(setting, supported)}`;
  element("again").textContent =
    reports === 1
      ? "Press again for another report of the same answer. Real devices make one and keep to it: several would tell more."
      : `${count(reports)} reports by now. A real device makes one and keeps to it: several tell more than one.`;
  const rows = shares.map((share, x) => {
    const row = made("tr", {}, made("th", { scope: "row" }, setting.labels[x]), made("td"), made("td"));
    row.children[1].append(bar(share / 100));
    row.children[2].append(made("data", { value: `${share / 100}` }, percent(share / 100)));
    return row;
  });
  element("meant").querySelector("tbody").replaceChildren(...rows);
  element("read").textContent = text;
  element("made").hidden = false;
  const sure = `Best guess: ${setting.labels[best]}, right ${percent(shares[best] / 100)} of the time.`;
  element("read").prepend(made("strong", {}, sure), " ");
  element("said").textContent = `${element("decoded").textContent} ${sure}`;
}
