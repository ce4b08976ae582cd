// The page of what is remembered: forms become requests, and the list is drawn again.
const { ask } = globalThis.maia;
const lost = document.querySelector(".memory").dataset.lost;

/** The list as the server has it now; other forms keep what was typed. */
async function redraw() {
  const answer = await fetch(location.href, { headers: { Accept: "text/html" } }).catch(() => null);
  if (!answer?.ok) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const place of ["#notes", ".topbar .num"]) document.querySelector(place).replaceWith(fresh.querySelector(place));
}

function refused(form, answer) {
  const place = form.querySelector("[role=alert]");
  place.textContent = answer.data.message ?? lost;
  place.dataset.tone = "danger";
}

document.addEventListener("submit", async (event) => {
  const form = event.target.closest("[data-note]");
  if (!form) return;
  event.preventDefault();
  const given = new FormData(form);
  const [scope, scopeId] = given.get("scope").split(":");
  const body = { text: given.get("text"), scope, scopeId: scopeId ?? "" };
  body.standing = given.has("standing");
  body.important = given.has("important");
  const button = form.querySelector(".btn-primary");
  button.disabled = true;
  const answer = await ask(form.dataset.note, form.dataset.url, body);
  button.disabled = false;
  if (!answer.ok) return refused(form, answer);
  form.querySelector("[role=alert]").textContent = "";
  if (form.dataset.note === "POST") form.reset();
  await redraw();
  const note = document.getElementById(`note-${answer.data.id}`);
  if (form.dataset.note === "POST") form.querySelector("textarea").focus();
  else note?.querySelector("summary").focus();
});

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-forget]");
  if (!button) return;
  if (button.dataset.asked !== "yes") {
    button.dataset.asked = "yes";
    button.textContent = button.dataset.sure;
    return;
  }
  button.disabled = true;
  const answer = await ask("DELETE", button.dataset.forget);
  if (!answer.ok) {
    button.disabled = false;
    return refused(button.closest("form"), answer);
  }
  await redraw();
  document.querySelector("#notes input[type=search]").focus();
});
