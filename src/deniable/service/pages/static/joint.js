// Questions of one report, asked one after the other: loaded where a task has them.
import { namesOf, valueOf } from "./fields.js";

/** @param {any} visit @returns {any[]} */
const partsOf = (visit) => [...visit.field.querySelectorAll("[data-part]")];

/**
 * The page of one person who is asked several questions together.
 *
 * @param {any} Visit the page of one person
 * @param {any} page `$`, `goTo` and `speak` of the page
 */
export function jointVisit(Visit, { $, goTo, speak }) {
  return class extends Visit {
    at = 0;

    /** @param {any} task @param {any} question */
    constructor(task, question) {
      super(task, question);
      this.review = /** @type {any} */ (document.querySelector(`[data-review="${question.name}"]`));
      [this.review.hidden, $("yours").hidden, $("change").hidden] = [false, true, true];
      for (const each of this.review.querySelectorAll("[data-change]")) each.addEventListener("click", () => this.ask(Number(each.dataset.change)));
    }

    get fields() {
      return partsOf(this);
    }

    /** Show one of the questions; whatever is answered, the way is the same. */
    ask(at = 0) {
      this.at = at;
      for (const [i, field] of this.fields.entries()) field.hidden = i !== at;
      $("progress").textContent = speak.say("question.progress", { i: at + 1, n: this.fields.length });
      goTo("answer", at);
    }

    back() {
      return this.at ? this.ask(this.at - 1) : super.back();
    }

    /** @param {any} state where history is */
    follow(state) {
      return state?.step === "answer" ? this.ask(state.at) : super.follow(state);
    }

    /** The answers to all of them, said back; null as long as there is another question. */
    given() {
      const all = this.fields.map((field) => /** @type {any} */ (valueOf(this.question, field, speak)));
      if (all[this.at].wrong) return all[this.at];
      if (this.at + 1 < all.length) return this.ask(this.at + 1);
      const missing = all.findIndex((each) => each.wrong);
      if (missing >= 0) return this.ask(missing);
      for (const [i, place] of this.review.querySelectorAll("[data-said]").entries()) place.textContent = all[i].said;
      return { value: all.map(({ value }) => value), said: "" };
    }

    /** What people read for each set of answers, where those to the last question count fastest. */
    names() {
      const names = this.fields.map((part) => Object.entries(namesOf(part)).flatMap(([number, name]) => (number === "none" ? [] : [name])));
      return { ...names.reduce((sets, own) => sets.flatMap((set) => own.map((name) => `${set} / ${name}`))) };
    }
  };
}
