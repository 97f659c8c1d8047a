// Live counts on the page of a task.
const live = document.getElementById("live");
const format = new Intl.NumberFormat("en");
if (live) {
  const source = new EventSource(/** @type {string} */ (live.dataset.events));
  source.addEventListener("message", (event) => {
    for (const [name, count] of Object.entries(JSON.parse(event.data))) {
      const place = document.getElementById(name);
      if (place) place.textContent = format.format(count);
    }
  });
  addEventListener("pagehide", () => source.close());
}
