// The levels of autonomy: another one is kept at once, or the old one comes back with the reason.
const { ask } = globalThis.maia;
const place = document.getElementById("levels");
const said = document.getElementById("levels-said");
const kept = new Map([...place.querySelectorAll("input:checked")].map((each) => [each.dataset.level, each.value]));

place.addEventListener("change", async (event) => {
  const input = event.target.closest("[data-level]");
  if (!input) return;
  const category = input.dataset.level;
  const answer = await ask("PATCH", `/api/v1/autonomy/${category}`, { level: Number(input.value) });
  said.textContent = answer.ok ? place.dataset.saved : (answer.data.message ?? place.dataset.lost);
  said.parentElement.dataset.tone = answer.ok ? "success" : "danger";
  if (answer.ok) {
    kept.set(category, input.value);
    await told(category);
  } else place.querySelector(`[data-level="${category}"][value="${kept.get(category)}"]`).checked = true;
});

/** Who set it, as the server has it now. */
async function told(category) {
  const answer = await fetch(location.href, { headers: { Accept: "text/html" } }).catch(() => null);
  if (!answer?.ok) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  const line = `#level-${category} .levelled-how > small`;
  document.querySelector(line).replaceWith(fresh.querySelector(line));
}
