// A tablet that many people use: cleared at the end, and when nobody is there any more.

const [IDLE, WARNING] = [60, 20]; // seconds

/** @param {string} id @returns {any} */
const $ = (id) => document.getElementById(id);

/** What a shared tablet keeps: nothing beyond this page. */
export class PageStore {
  /** @type {any} */
  state = undefined;

  /** @param {(state: any) => [any, any]} step */
  async change(step) {
    const [state, answer] = step(structuredClone(this.state));
    this.state = state;
    return answer;
  }
}

/** Everything is forgotten: the page begins anew, and the way back leads to its beginning. */
function clear() {
  location.replace(location.href);
}

/**
 * Count how long nobody did anything; ask, and clear the screen if nobody answers. What was taken up is sent by leaving.
 *
 * @param {any} speak
 */
export function watch(speak) {
  let quiet = 0;
  const stay = () => {
    quiet = 0;
    $("idle").hidden = true;
  };
  for (const event of ["pointerdown", "keydown", "scroll"]) addEventListener(event, stay, { passive: true });
  $("stay").addEventListener("click", stay);
  $("finish").addEventListener("click", clear);
  setInterval(() => {
    if (!$("start").hidden && $("idle").hidden && !document.querySelector("#start :disabled:not(#begin)")) return stay();
    quiet += 1;
    if (quiet === IDLE + WARNING) clear(); // once: what loads slowly would begin anew every second
    if (quiet < IDLE || quiet >= IDLE + WARNING) return undefined;
    $("idle-text").textContent = speak.say("kiosk.idle", { seconds: IDLE + WARNING - quiet });
    if ($("idle").hidden) {
      $("idle").hidden = false;
      $("stay").focus();
    }
    return undefined;
  }, 1000);
}
