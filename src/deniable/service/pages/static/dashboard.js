// Live counts on the page of a task, and its end when whoever looks at it is not signed in any more.
const live = document.getElementById("live");
const format = new Intl.NumberFormat(document.documentElement.lang);
if (live) {
  const source = new EventSource(/** @type {string} */ (live.dataset.events));
  let counted = false;
  source.addEventListener("message", (event) => {
    counted = true;
    for (const [name, count] of Object.entries(JSON.parse(event.data))) {
      const place = document.getElementById(name);
      if (place) place.textContent = format.format(count);
    }
  });
  source.addEventListener("end", () => {
    source.close();
    location.reload(); // which asks to sign in
  });
  source.addEventListener("error", () => {
    // refused, not only cut: once counts were there, the page knows why when it is loaded again
    if (counted && source.readyState === EventSource.CLOSED) location.reload();
  });
  addEventListener("pagehide", () => source.close());
}
