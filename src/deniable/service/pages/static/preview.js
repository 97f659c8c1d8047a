// The survey page as a preview: its steps one after another, without a device, without storage, without sending.
/** @param {string} id @returns {any} */
const $ = (id) => document.getElementById(id);
const STEPS = ["start", "declined", "answer", "check", "receipt"];
const texts = JSON.parse($("texts").textContent);
const fields = /** @type {any[]} */ ([...document.querySelectorAll("fieldset.question")]);

/** @param {string} step */
function show(step) {
  for (const each of STEPS) $(each).hidden = each !== step;
  $(step).focus({ preventScroll: true });
  scrollTo(0, 0);
}

/** The questions that are asked together, one after the other; nothing of others. @param {any} [field] @returns {any[]} */
const partsOf = (field = fields.find((each) => !each.hidden)) => [...field.querySelectorAll("[data-part]")];

/** Show one of the questions that are asked together. @param {number} at @param {any} [field] */
function turn(at, field) {
  for (const [i, part] of partsOf(field).entries()) part.hidden = i !== at;
}

/** Ask one of the questions, by its name; the first if there is no such one. @param {string} name */
function ask(name) {
  const chosen = fields.find((field) => field.dataset.name === name) ?? fields[0];
  turn(0, chosen);
  for (const field of fields) field.hidden = field.disabled = field !== chosen;
  for (const before of /** @type {any} */ (document.querySelectorAll("[data-for]"))) before.hidden = before.dataset.for !== chosen.dataset.name;
}

/** What was chosen, in the words of the page; nothing if it was not. @param {any} [field] */
function said(field = fields.find((each) => !each.hidden)) {
  const chosen = [...field.querySelectorAll("input:checked")].map((box) => (box.closest("label").querySelector("bdi, span") ?? box).textContent.trim());
  const listed = [...field.querySelectorAll("select")].flatMap((list) => [...list.selectedOptions].map((option) => option.textContent.trim()));
  const typed = [...field.querySelectorAll("[data-number]")].map((input) => input.value.trim());
  const found = [...chosen, ...listed, ...typed].filter(Boolean).join(", ");
  return found || (field.dataset.kind === "ticks" ? texts["question.nothing"] : "");
}

/** The answers to questions that are asked together, each with its question. @param {any[]} parts */
function review(parts) {
  const name = parts[0]?.parentElement.dataset.name;
  for (const list of /** @type {any} */ (document.querySelectorAll("[data-review]"))) {
    list.hidden = list.dataset.review !== name;
    for (const [i, place] of list.querySelectorAll("[data-said]").entries()) place.textContent = list.hidden ? "" : said(parts[i]);
  }
  $("yours").hidden = $("change").hidden = parts.length > 0;
}

/** @param {string} text */
function problem(text) {
  for (const place of /** @type {any} */ (document.querySelectorAll(".problem"))) {
    place.hidden = !text;
    place.textContent = text;
  }
}

/** The step that the address names: `#answer:q2`. */
function follow() {
  const [step, name] = location.hash.slice(1).split(":");
  ask(decodeURIComponent(name ?? ""));
  show(STEPS.includes(step) ? step : "start");
}

/** @type {Record<string, () => void>} */
const DOES = {
  decline: () => show("declined"),
  again: () => show("start"),
  back: () => {
    const at = partsOf().findIndex((part) => !part.hidden);
    if (at > 0) turn(at - 1);
    else show("start");
  },
  change: () => {
    turn(0);
    show("answer");
  },
  send: () => show("receipt"),
};

if ($("start")) {
  $("proof").hidden = true;
  $("begin").disabled = false;
  $("receipt-title").textContent = texts["receipt.title"];
  for (const [id, does] of Object.entries(DOES)) $(id).addEventListener("click", does);
  for (const each of /** @type {any} */ (document.querySelectorAll("[data-change]"))) {
    each.addEventListener("click", () => {
      turn(Number(each.dataset.change));
      show("answer");
    });
  }
  $("start").addEventListener("submit", (/** @type {Event} */ event) => {
    event.preventDefault();
    show("answer");
  });
  $("answer").addEventListener("submit", (/** @type {Event} */ event) => {
    event.preventDefault();
    const parts = partsOf();
    const at = parts.findIndex((part) => !part.hidden);
    const found = said(parts[at]);
    problem(found ? "" : texts["error.choose"]);
    if (found && at + 1 < parts.length) return turn(at + 1);
    review(parts);
    $("said").textContent = found;
    if (found) show("check");
  });
  addEventListener("hashchange", follow);
  follow();
}
