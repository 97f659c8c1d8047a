// A draft saves itself: a moment after each change everything is sent, and the page says what became of it.
const form = /** @type {HTMLFormElement | null} */ (document.getElementById("draft"));
const state = document.getElementById("state");
const texts = JSON.parse(document.getElementById("texts")?.textContent ?? "{}");
const PAUSE = 800;

/** @param {string} id */
const tell = (id) => {
  if (state) state.textContent = texts[id];
};

/** Shows what is wrong beside its field, and nothing beside the others. @param {Record<string, string>} faults */
function mark(faults) {
  for (const old of document.querySelectorAll("span.problem")) old.remove();
  for (const field of document.querySelectorAll("[aria-invalid]")) field.removeAttribute("aria-invalid");
  for (const [name, text] of Object.entries(faults)) {
    const field = document.getElementById(name);
    if (!field) continue;
    const told = document.createElement("span");
    told.className = "problem";
    told.id = `why.${name}`;
    told.textContent = text;
    field.setAttribute("aria-invalid", "true");
    field.setAttribute("aria-describedby", told.id);
    field.after(told);
  }
}

if (form && state) {
  let timer = 0; // 0: nothing was written since it was last sent
  let waiting = Promise.resolve(true);
  const changed = /** @type {HTMLInputElement} */ (form.elements.namedItem("changed"));

  /** @returns {Promise<boolean>} whether all that is written is kept */
  const save = async () => {
    tell("edit.saving");
    const body = new URLSearchParams(/** @type {any} */ (new FormData(form)));
    try {
      const answer = await fetch(form.action, { method: "POST", body, headers: { accept: "application/json" }, redirect: "error" });
      const found = await answer.json();
      if (found.crossed || !answer.ok) {
        tell(found.crossed ? "edit.crossed" : found.large ? "edit.large" : "edit.unsaved");
        return false;
      }
      changed.value = found.changed;
      mark(found.faults);
      document.getElementById("lacking")?.closest("section")?.remove(); // what it says may be mended
      tell("edit.saved");
      return Object.keys(found.faults).length === 0;
    } catch {
      tell("edit.unsaved");
      return false;
    }
  };

  const soon = () => {
    clearTimeout(timer);
    timer = 0;
    return (waiting = waiting.then(save));
  };

  form.addEventListener("input", (event) => {
    if (/** @type {HTMLElement} */ (event.target).id === "tag") return;
    clearTimeout(timer);
    timer = Number(setTimeout(soon, PAUSE));
  });
  // Whoever goes to another page a moment after writing goes there once it is saved; what cannot be is shown instead.
  document.addEventListener("click", async (event) => {
    const link = /** @type {HTMLElement} */ (event.target).closest("a[href]");
    if (!link || !timer || event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    if (await soon()) location.assign(/** @type {HTMLAnchorElement} */ (link).href);
    else /** @type {HTMLElement | null} */ (document.querySelector("[aria-invalid]"))?.focus();
  });
  form.addEventListener("submit", (event) => {
    clearTimeout(timer);
    timer = 0;
    const button = /** @type {HTMLButtonElement | null} */ (event.submitter);
    event.preventDefault(); // once what is being saved is saved, so that the two do not cross
    waiting.then(() => {
      const chosen = document.createElement("input");
      chosen.type = "hidden";
      chosen.name = "do";
      chosen.value = button?.value ?? "save";
      form.append(chosen);
      form.submit();
    });
  });
}
