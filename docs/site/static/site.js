// What the theme leaves to do for keyboards and screen readers.
document.addEventListener("DOMContentLoaded", () => {
  for (const button of document.querySelectorAll(".search-button-field")) {
    button.setAttribute("aria-label", button.textContent.replace(/\s+/g, " ").trim());
  }
  for (const summary of document.querySelectorAll("summary")) {
    if (!summary.textContent.trim()) summary.setAttribute("aria-label", "Pages below the one before");
  }
  const reachable = () => {
    for (const table of document.querySelectorAll(".bd-article table")) {
      if (table.scrollWidth > table.clientWidth) table.tabIndex = 0;
    }
  };
  reachable();
  addEventListener("resize", reachable);
});
