// The levels of autonomy: another one is kept at once, or the old one comes back with the reason.
const { ask } = globalThis.maia;
const place = document.getElementById("levels");
const said = document.getElementById("levels-said");
const all = () => [...place.querySelectorAll("input:checked")].map((each) => [each.dataset.level, each.value]);
let kept = new Map(all());
document.addEventListener("maia:parts", () => (kept = new Map(all()))); // others set them, too

place.addEventListener("change", async (event) => {
  const input = event.target.closest("[data-level]");
  if (!input) return;
  const category = input.dataset.level;
  const answer = await ask("PATCH", `/api/v1/autonomy/${category}`, { level: Number(input.value) });
  said.textContent = answer.ok ? place.dataset.saved : (answer.data.message ?? place.dataset.lost);
  said.parentElement.dataset.tone = answer.ok ? "success" : "danger";
  if (answer.ok) kept.set(category, input.value);
  else place.querySelector(`[data-level="${category}"][value="${kept.get(category)}"]`).checked = true;
});
