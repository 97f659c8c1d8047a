// <deniable-survey task="ID" lang="de" height="700">: a survey in a frame of another site. The page around it cannot read the
// frame, since it comes from another origin; where that is not so, nothing is shown. Its height does not follow what is in
// it: a height that depends on the answer would tell it.
(() => {
  const script = /** @type {HTMLScriptElement} */ (document.currentScript);
  const home = new URL(script.src).origin;

  class DeniableSurvey extends HTMLElement {
    connectedCallback() {
      const task = this.getAttribute("task") ?? "";
      if (home === location.origin) throw new Error("deniable-survey must not be on the site of its collector: that page could read the answers.");
      if (!/^[0-9a-f]{64}$/.test(task)) throw new Error("deniable-survey needs the attribute task: the 64 digits of a survey's address.");
      const frame = document.createElement("iframe");
      const lang = this.getAttribute("lang");
      frame.src = `${home}/t/${task}?embed${lang ? `&lang=${encodeURIComponent(lang)}` : ""}`;
      frame.title = this.title || new URL(home).host;
      frame.height = this.getAttribute("height") ?? "700";
      frame.referrerPolicy = "no-referrer";
      frame.sandbox.add("allow-scripts", "allow-same-origin", "allow-forms", "allow-popups", "allow-popups-to-escape-sandbox");
      Object.assign(frame.style, { width: "100%", border: "0" });
      this.replaceChildren(frame);
    }
  }
  customElements.define("deniable-survey", DeniableSurvey);
})();
