// The page of what is remembered: forms become requests, and the list is drawn again.
const { ask, redraw } = globalThis.maia;
const lost = document.querySelector(".memory").dataset.lost;

/** The list, and how many there are; other forms keep what was typed. */
const drawNotes = () => redraw("notes", "notes-count");

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
  await drawNotes();
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
  await drawNotes();
  document.querySelector("#notes input[type=search]").focus();
});
