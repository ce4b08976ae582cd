// The page of projects: forms in a dialog, and the order of stages by hand or by buttons.
const { ask, tell, said, place } = globalThis.maia;
const dialog = document.getElementById("plan");
const urls = { projects: "/api/v1/projects", types: "/api/v1/project-types", stages: "/api/v1/stages" };
const asNumber = (text) => (text === "" ? null : Number(text));
let opener;

document.addEventListener("click", async (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  if (button.dataset.plan) open(button);
  else if ("folderAdd" in button.dataset) addFolder(button);
  else if ("folderRemove" in button.dataset) button.closest(".plan-folder").remove();
  else if ("folderUp" in button.dataset) up(button.closest(".plan-folder"));
  else if ("remove" in button.dataset) remove(button.closest("form"));
  else if (button.dataset.step) step(button);
});

async function open(button) {
  const answer = await fetch(`/ui/projects/${button.dataset.plan}`, { headers: { Accept: "text/html" } }).catch(() => null);
  if (!answer?.ok) {
    tell(said({ data: {} }), { tone: "danger" });
    return;
  }
  dialog.innerHTML = await answer.text();
  opener = button.id;
  dialog.showModal();
}

dialog.addEventListener("close", () => {
  if (document.activeElement === document.body) document.getElementById(opener)?.focus();
});

// Folders ---------------------------------------------------------------------------------------------------------------

function addFolder(button) {
  const row = button.parentElement.querySelector("template").content.firstElementChild.cloneNode(true);
  button.before(row);
  row.querySelector("[data-folder-path]").focus();
}

function up(row) {
  const before = row.previousElementSibling;
  if (before?.classList.contains("plan-folder")) before.before(row);
  row.querySelector("[data-folder-up]").focus();
}

/** The folders of a form, without empty lines; null where it has none to choose. */
function folders(form) {
  const rows = [...form.querySelectorAll(".plan-folder")];
  const of = (row, what) => row.querySelector(`[data-folder-${what}]`).value.trim();
  return form.dataset.kind === "stages" ? null : rows.map((row) => ({ name: of(row, "name"), path: of(row, "path") })).filter(({ path }) => path);
}

// Saving ----------------------------------------------------------------------------------------------------------------

function fields(form) {
  const body = {};
  for (const field of form.querySelectorAll("[name]")) {
    if (field.type === "radio" && !field.checked) continue;
    const isChoice = ["typeId", "agent"].includes(field.name);
    if (field.type === "checkbox") body[field.name] = field.checked;
    else if (field.type === "number") body[field.name] = asNumber(field.value);
    else body[field.name] = isChoice ? field.value || null : field.value;
  }
  return body;
}

function problem(form, words) {
  const shown = form.querySelector(".problem");
  shown.textContent = words;
  shown.hidden = !words;
}

dialog.addEventListener("submit", async (event) => {
  event.preventDefault();
  const form = event.target;
  const missing = form.querySelector(":invalid:not(fieldset)");
  if (missing) {
    problem(form, `${form.querySelector(".problem").dataset.missing} ${missing.closest("label").firstChild.textContent}`);
    missing.focus();
    return;
  }
  const { kind, id } = form.dataset;
  if (kind === "master") {
    const told = await ask("PUT", "/api/v1/prompts/master", { prompt: form.elements.prompt.value });
    if (told.ok) dialog.close();
    else problem(form, said(told));
    return;
  }
  const answer = await (id ? ask("PATCH", `${urls[kind]}/${id}`, fields(form)) : ask("POST", urls[kind], fields(form)));
  if (answer.ok && !id) form.dataset.id = answer.data.id;
  const list = folders(form);
  const kept = answer.ok && list ? await ask("PUT", `${urls[kind]}/${form.dataset.id}/folders`, { folders: list }) : answer;
  if (kept.ok) dialog.close();
  else problem(form, said(kept));
});

async function remove(form) {
  const answer = await ask("DELETE", `${urls[form.dataset.kind]}/${form.dataset.id}`);
  if (answer.ok) dialog.close();
  else problem(form, said(answer));
}

// The order of stages ---------------------------------------------------------------------------------------------------

async function keepOrder(list, undo) {
  const answer = await ask("PUT", "/api/v1/order/stages", { ids: [...list.children].map((each) => each.dataset.id) });
  if (answer.ok) return;
  undo();
  tell(said(answer), { tone: "danger" });
}

function step(button) {
  const item = button.closest(".item");
  const next = item.nextElementSibling;
  const back = () => item.parentElement.insertBefore(item, next);
  if (button.dataset.step === "1") next?.after(item);
  else item.previousElementSibling?.before(item);
  button.focus();
  keepOrder(item.parentElement, back);
}

/** SortableJS comes only for those who may order stages. */
function sortable() {
  const list = place.querySelector(".plan-order");
  if (!list || !globalThis.Sortable || globalThis.Sortable.get(list)) return;
  let below;
  new globalThis.Sortable(list, {
    filter: "button",
    preventOnFilter: false,
    delay: 180,
    delayOnTouchOnly: true,
    onStart: ({ item }) => (below = item.nextElementSibling),
    onEnd: ({ item }) => item.nextElementSibling !== below && keepOrder(list, () => list.insertBefore(item, below)),
  });
}

if (place.querySelector(".plan-order")) {
  const script = document.createElement("script");
  script.src = document.getElementById("projects-script").dataset.sortable;
  script.addEventListener("load", sortable);
  document.head.append(script);
}
place.addEventListener("maia:parts", sortable);
