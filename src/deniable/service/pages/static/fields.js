// What people fill in: choices, lists that are searched, numbers as people write them, maps and sliders.

/** Zeros of the digits of other scripts: Arabic, Persian, Devanagari, Bengali, full width. */
const ZEROS = [0x660, 0x6f0, 0x966, 0x9e6, 0xff10];

/** @param {string} text digits of any script as ours, and signs as they are most common */
const plain = (text) =>
  Array.from(text.trim(), (sign) => {
    const code = Number(sign.codePointAt(0));
    const zero = ZEROS.find((first) => first <= code && code < first + 10);
    return zero === undefined ? sign : String(code - zero);
  })
    .join("")
    .replace(/[\s'’_\u066c\u200e\u200f\u061c]/g, "")
    .replace(/\u066b/g, ".")
    .replace(/\u060c/g, ",")
    .replace(/^\u2212/, "-");

/** Thousands in groups of three. @param {string} text @param {string} sign */
const grouped = (text, sign) => new RegExp(`^[+-]?\\d{1,3}(\\${sign}\\d{3})+$`).test(text);

/**
 * A number as people write it: one value; two where it may be either ("1.000"); none if it is not a number.
 *
 * @param {string} text
 * @returns {number[]}
 */
export function readNumber(text) {
  const found = plain(text);
  const signs = /** @type {string[]} */ (found.match(/[.,]/g) ?? []);
  if (!/^[+-]?[\d.,]*\d[\d.,]*(e[+-]?\d{1,3})?$/i.test(found)) return [];
  const whole = (/** @type {string} */ part) => Number(part.replace(/[.,]/g, ""));
  const tenths = (/** @type {string} */ part) => Number(part.replace(",", "."));
  if (signs.length < 2) {
    const either = grouped(found, signs[0] ?? ".") && !/^[+-]?0/.test(found);
    return either ? [whole(found), tenths(found)] : [tenths(found)];
  }
  const [first, last] = [signs[0], signs[signs.length - 1]];
  if (signs.every((sign) => sign === first)) return grouped(found, first) ? [whole(found)] : [];
  const at = found.lastIndexOf(last);
  const fits = signs.indexOf(last) === signs.length - 1 && (grouped(found.slice(0, at), first) || false);
  return fits ? [Number(`${whole(found.slice(0, at))}.${found.slice(at + 1)}`)] : [];
}

/** @param {string} text without what people leave out when they search */
const folded = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

/** Which of some texts hold all words of a search. @param {string[]} texts @param {string} search @returns {number[]} */
export function matching(texts, search) {
  const words = folded(search).split(/\s+/).filter(Boolean);
  return texts.flatMap((text, i) => (words.every((word) => folded(text).includes(word)) ? [i] : []));
}

/** @param {any} field @param {string} key @returns {HTMLInputElement} */
const rangeOf = (field, key) => field.querySelector(`input[data-key="${key}"]`);

/** What people read for each answer, by its number. @param {any} field @returns {Record<string, string>} */
export function namesOf(field) {
  const found = [...field.querySelectorAll("input[value]:not([value='']), option")];
  return Object.fromEntries(found.map((each) => [each.value, (each.closest("label.choice, label.pick")?.querySelector("bdi") ?? each).textContent.trim()]));
}

/**
 * What a question's controls hold: the value as the design takes it, null for no answer, and what it is in words; an id of what
 * is missing if it is not filled in.
 *
 * @param {any} question @param {any} field @param {any} speak what says texts
 * @returns {{value: any, said: string, beyond?: boolean} | {wrong: string, either?: number[]}}
 */
export function valueOf(question, field, speak) {
  const none = { value: null, said: speak.say("question.skip") };
  if (field.querySelector("[data-none]:checked")) return none;
  const kind = field.dataset.kind;
  if (kind === "number") return numberOf(field, speak);
  if (kind === "ticks") return ticksOf(question, field, speak);
  const labels = question.together.length ? null : question.explanation.design.domain.labels;
  const name = (/** @type {number} */ number) => labels?.[number] ?? number;
  const names = namesOf(field);
  if (kind === "ratings") {
    const picked = [...field.querySelectorAll("input[type=checkbox]:checked")];
    const rating = (/** @type {any} */ box) => rangeOf(field, box.value).valueAsNumber;
    const pairs = picked.map((box) => [name(Number(box.value)), rating(box)]);
    const said = picked.map((box) => `${names[box.value]}: ${speak.number(rating(box))}`);
    return pairs.length ? { value: pairs, said: speak.list(said) } : { ...none, value: [] };
  }
  const chosen = field.querySelector("input[type=radio]:checked, select");
  if (!chosen || chosen.value === "") return { wrong: "error.choose" };
  if (chosen.value === "none") return none;
  return { value: name(Number(chosen.value)), said: names[chosen.value] };
}

/** @param {any} question @param {any} field @param {any} speak @returns {any} */
function ticksOf(question, field, speak) {
  const names = namesOf(field);
  const picked = [...field.querySelectorAll("input[name]:checked")].map((box) => box.value);
  const { options } = question.explanation.design.domain;
  const value = picked.map((number) => (Array.isArray(options) ? options[Number(number)] : Number(number)));
  return { value, said: picked.length ? speak.list(picked.map((number) => names[number])) : speak.say("question.nothing") };
}

/** Ticks that do not go together: "I prefer not to say" and others, or more than there may be. @param {any} field @param {any} box
 * @returns {number} how many there may be, if it was one too many; else 0 */
function tick(field, box) {
  const boxes = [...field.querySelectorAll("input[type=checkbox]")];
  const most = Number(field.querySelector("[data-most]").dataset.most);
  for (const each of boxes) if (box.checked && ("none" in each.dataset) !== ("none" in box.dataset)) each.checked = false;
  const many = most > 0 && boxes.filter((each) => each.checked).length > most;
  if (many) box.checked = false;
  return many ? most : 0;
}

/** @param {any} field @param {any} speak @returns {any} */
function numberOf(field, speak) {
  const input = field.querySelector("[data-number]");
  const found = input.dataset.exact && input.dataset.text === input.value ? [Number(input.dataset.exact)] : readNumber(input.value);
  if (!found.length) return { wrong: input.value.trim() ? "error.digits" : "error.choose" };
  if (found.length > 1) return { wrong: "error.number", either: found };
  const [value] = found;
  const unit = field.querySelector(".number > bdi")?.textContent ?? "";
  const said = [Math.abs(value) < 1e15 ? speak.number(value, 15) : input.value.trim(), unit].join(" ").trim();
  return { value, said, beyond: value < Number(field.dataset.low) || value > Number(field.dataset.high) };
}

/** A number that was asked about: what is meant from now on. @param {any} field @param {number} value @param {any} speak */
export function settleNumber(field, value, speak) {
  const input = field.querySelector("[data-number]");
  input.value = speak.number(value, 15);
  Object.assign(input.dataset, { exact: value, text: input.value });
}

/** Controls that answer each other: sliders and their words, map and list, search and list.
 * @param {any} before @param {any} field @param {any} speak @param {(text: string) => void} problem what tells that something is wrong */
export function enliven(before, field, speak, problem) {
  before.addEventListener("input", (/** @type {any} */ { target }) => {
    if (!target.dataset.levels) return;
    before.querySelector(".level").value = before.querySelectorAll("[data-level]")[target.valueAsNumber].textContent;
  });
  field.addEventListener("input", (/** @type {any} */ { target }) => {
    if (target.type === "checkbox" && field.dataset.kind === "ratings") rangeOf(field, target.value).disabled = !target.checked;
    if (field.dataset.kind === "ticks") {
      const max = tick(field, target);
      problem(max ? speak.say("error.max", { max }) : "");
    }
    const number = field.querySelector("[data-number]");
    if (target.type === "checkbox" && number) number.disabled = target.checked;
    for (const range of field.querySelectorAll(".rate > input")) {
      range.nextElementSibling.value = range.disabled ? "–" : speak.number(Number(range.valueAsNumber.toPrecision(3)));
    }
    mark(field);
  });
  for (const region of field.querySelectorAll(".map > path")) {
    region.addEventListener("click", () => {
      const number = region.getAttribute("data-number");
      const radio = field.querySelector(`input[type=radio][value="${number}"]`);
      if (radio) radio.checked = true;
      else field.querySelector("select").value = number;
      mark(field);
    });
  }
  searching(field, speak);
}

/** The list has what fits the search; what was chosen stays. @param {any} field @param {any} speak */
function searching(field, speak) {
  const search = field.querySelector("[data-search]");
  if (!search) return;
  const list = field.querySelector("select");
  const all = [...list.options];
  search.addEventListener("input", () => {
    const found = matching(all.map((option) => option.textContent), search.value);
    list.replaceChildren(...all.filter((option, i) => option.selected || found.includes(i)));
    field.querySelector("[data-found]").textContent = search.value ? speak.say("question.found", { count: found.length }) : "";
  });
  search.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== "Enter" && event.key !== "ArrowDown") return;
    event.preventDefault();
    list.focus();
  });
}

/** @param {any} field */
function mark(field) {
  const chosen = field.querySelector("input[type=radio]:checked, select");
  for (const region of field.querySelectorAll(".map > path")) {
    region.classList.toggle("chosen", region.getAttribute("data-number") === chosen?.value);
  }
}
