// The pages of people and of one's own account: ask the server, draw again, show a link that is told once.
const { ask, redraw } = globalThis.maia;
const lost = document.querySelector("[data-lost]")?.dataset.lost ?? "";

function say(place, words, tone) {
  if (!place) return;
  place.textContent = words;
  place.dataset.tone = tone;
}

function showLink(path, name) {
  const card = document.getElementById("link");
  const title = card.querySelector("[data-for]");
  title.textContent = title.dataset.for.replace("{name}", name);
  const input = card.querySelector("input");
  input.value = new URL(path, location.origin).href;
  card.hidden = false;
  input.focus();
  input.select();
}

const said = () => document.getElementById("people-said");

async function act(element, body) {
  const { url, method, act: what, name } = element.dataset;
  element.disabled = true;
  const answer = await ask(method ?? "PATCH", url, body);
  const shown = document.getElementById("people") ? "people" : "sign-ins";
  if (!(await redraw(shown))) {
    element.disabled = false;
    if (!answer.ok && element.tagName === "SELECT") for (const each of element.options) each.selected = each.defaultSelected;
  }
  if (!answer.ok) return say(said(), answer.data.message ?? lost, "danger");
  say(said(), "", "");
  if (what === "link") showLink(answer.data.invitation.path, name);
  else document.getElementById(element.closest("li")?.id)?.querySelector("select, button")?.focus();
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest("button[data-act]");
  if (!button) return;
  if (button.dataset.act !== "copy") return act(button);
  const input = button.parentElement.querySelector("input");
  input.select();
  await navigator.clipboard?.writeText(input.value).catch(() => document.execCommand("copy"));
  button.textContent = button.dataset.copied;
});

document.addEventListener("change", (event) => {
  if (event.target.matches("select[data-act=role]")) act(event.target, { role: event.target.value });
});

const forms = {
  invite: { method: "POST", url: "/api/v1/users" },
  "own-name": { method: "PATCH", url: "/api/v1/session/name" },
  "own-password": { method: "PUT", url: "/api/v1/session/password" },
};

document.addEventListener("submit", async (event) => {
  const form = event.target;
  const way = forms[form.id];
  if (!way) return;
  event.preventDefault();
  const answer = await ask(way.method, way.url, Object.fromEntries(new FormData(form)));
  const place = form.querySelector(".notice");
  if (!answer.ok) return say(place, answer.data.message ?? lost, "danger");
  say(place, form.dataset.done ?? "", "success");
  if (form.id === "own-name") return redraw("nav");
  form.reset();
  if (form.id === "own-password") return redraw("sign-ins");
  await redraw("people");
  showLink(answer.data.invitation.path, answer.data.user.name);
});
