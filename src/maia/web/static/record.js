// The record beside a conversation: its tabs, notes and fields; what changes elsewhere is asked for again.
const { ask } = globalThis.maia;
const rail = document.getElementById("rail");
const conversation = rail.dataset.conversation;
const tabs = [...rail.querySelectorAll("[role=tab]")];
const panelOf = (tab) => document.getElementById(tab.getAttribute("aria-controls"));

// Tabs ----------------------------------------------------------------------------------------------------------------

/** Draw a panel as the server has it now, one request at a time: what changes meanwhile draws it once more. */
const again = new Map();
async function load(panel) {
  if (again.has(panel)) return again.set(panel, true);
  try {
    do {
      again.set(panel, false);
      delete panel.dataset.stale;
      await htmx.ajax("GET", panel.dataset.url, { target: panel, swap: "innerMorph" });
    } while (again.get(panel));
  } finally {
    again.delete(panel);
  }
}

function show(tab) {
  for (const each of tabs) {
    each.setAttribute("aria-selected", String(each === tab));
    each.tabIndex = each === tab ? 0 : -1;
    panelOf(each).hidden = each !== tab;
  }
  if (panelOf(tab).dataset.stale) load(panelOf(tab));
  localStorage.setItem("maia-rail-tab", tab.id);
}

rail.addEventListener("click", (event) => {
  const tab = event.target.closest("[role=tab]");
  if (tab) show(tab);
});
rail.addEventListener("keydown", (event) => {
  const at = tabs.indexOf(event.target);
  const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: -1 }[event.key];
  if (at < 0 || to === undefined) return;
  event.preventDefault();
  const next = tabs.at(to % tabs.length);
  next.focus();
  show(next);
});
const last = tabs.find((tab) => tab.id === localStorage.getItem("maia-rail-tab"));
if (last && last !== tabs[0]) show(last);

// As a sheet on a narrow screen, the first thing in it has the focus; closing gives it back by itself.
rail.addEventListener("toggle", (event) => {
  if (event.target === rail && event.newState === "open") tabs.find((tab) => tab.tabIndex === 0).focus();
});

// OpenCode's terminal is loaded when it is opened, by those who have its icon.
const terminal = document.getElementById("opencode-open");
terminal?.addEventListener("click", async () => (await import(terminal.dataset.script)).toggle());

// What changes elsewhere ----------------------------------------------------------------------------------------------

/** What the server said last is shown again where a change did not reach it. */
function reset(field) {
  if (field.tagName === "SELECT") for (const each of field.options) each.selected = each.defaultSelected;
  else field.value = field.defaultValue;
}

/** Draw what stands above again. What has the focus keeps it; a day that is being chosen stays unless it was refused. */
let [drawn, resets] = [0, false];
async function drawBar(refused = false) {
  const mine = ++drawn;
  resets ||= refused;
  const answer = await fetch(`/ui/conversations/${conversation}/bar`, { headers: { Accept: "text/html" } }).catch(() => null);
  if (!answer?.ok) {
    if (refused) document.querySelectorAll("[data-field]").forEach(reset);
    return;
  }
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  if (mine !== drawn) return; // a later one is on its way
  const fields = document.getElementById("fields");
  for (const gone of fields.querySelectorAll("[id]")) if (!fresh.getElementById(gone.id)) gone.remove();
  for (const now of fresh.querySelectorAll("body > [id]:not(#fields), #fields > [id]")) {
    const old = document.getElementById(now.id);
    const focused = old?.contains(document.activeElement) ? document.activeElement : null;
    if (!old) fields.append(now);
    else if (old.open || (old.querySelector(":popover-open") && !resets)) continue;
    else if (old.outerHTML !== now.outerHTML || resets) old.replaceWith(now);
    if (focused) (now.querySelector(`[id="${focused.id}"]`) ?? now.querySelector("select, input, summary"))?.focus();
  }
  resets = false;
}
globalThis.maia.drawBar = drawBar;

document.getElementById("live").addEventListener("record", (event) => {
  const parts = event.detail.data.split(" ");
  if (parts.includes("fields")) drawBar();
  if (parts.includes("children")) load(document.getElementById("children"));
  for (const tab of tabs) {
    const panel = panelOf(tab);
    if (!panel.dataset.parts.split(" ").some((part) => parts.includes(part))) continue;
    if (panel.hidden) panel.dataset.stale = "yes";
    else load(panel);
  }
});

// Execution: open while an agent runs, unless a person closed it; closed again when it ended, unless they opened it ----

const strip = document.getElementById("execution");
const isRunning = () => document.getElementById("run").dataset.running === "yes";
let ran = isRunning();
let byItself = ran;
strip.querySelector("summary").addEventListener("click", () => (byItself = false));
new MutationObserver(() => {
  if (isRunning() === ran) return;
  ran = !ran;
  if (ran && !strip.open) byItself = strip.open = true;
  else if (!ran && byItself) strip.open = false;
}).observe(strip, { attributes: true, attributeFilter: ["data-running"], childList: true, subtree: true });

// History -------------------------------------------------------------------------------------------------------------

rail.addEventListener("click", (event) => {
  const filter = event.target.closest("[data-show]");
  if (!filter) return;
  const panel = filter.closest("[role=tabpanel]");
  panel.dataset.url = panel.dataset.url.split("?")[0] + (filter.dataset.show ? `?kind=${filter.dataset.show}` : "");
  load(panel);
});
rail.addEventListener("submit", async (event) => {
  if (event.target.id !== "note-form") return;
  event.preventDefault();
  const form = event.target;
  const [box, problem] = [form.elements.note, form.querySelector(".problem")];
  const note = box.value;
  box.value = "";
  const answer = await ask("POST", `/api/v1/conversations/${conversation}/notes`, { note });
  problem.hidden = answer.ok;
  if (!answer.ok) {
    box.value = box.value ? `${note}\n${box.value}` : note; // what was typed meanwhile stays as well
    problem.textContent = answer.data.message ?? form.dataset.lost;
  }
  box.focus();
  if (answer.ok) load(form.closest("[role=tabpanel]"));
});

// Fields --------------------------------------------------------------------------------------------------------------

/** Change something of the conversation; why it was refused stands above the composer, or in `place`. */
async function change(body, place) {
  const answer = await ask("PATCH", `/api/v1/conversations/${conversation}`, body);
  const refusal = document.getElementById("refusal");
  if (place) {
    place.hidden = answer.ok;
    place.textContent = answer.ok ? "" : (answer.data.message ?? place.dataset.lost);
  } else if (answer.ok) refusal.replaceChildren();
  else globalThis.maia.refuse(refusal, answer, false);
  return answer.ok;
}

document.addEventListener("change", async (event) => {
  const field = event.target;
  if (!field.validity?.valid) return;
  if (field.dataset.field) drawBar(!(await change({ [field.dataset.field]: field.value || null })));
  else if ("primary" in field.dataset) {
    const all = [...field.options].map((each) => ({ name: each.dataset.name, path: each.value }));
    const first = all.find((each) => each.path === field.value);
    drawBar(!(await change({ folders: [first, ...all.filter((each) => each !== first)] })));
  }
});

// Folders -------------------------------------------------------------------------------------------------------------

const problemOf = (panel) => panel.querySelector(".problem");
const listed = (panel) => [...panel.querySelectorAll("[data-path]")].map(({ dataset }) => ({ name: dataset.name, path: dataset.path }));

rail.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-folder]");
  if (!button) return;
  const panel = button.closest("[role=tabpanel]");
  const [folders, at] = [listed(panel), Number(button.dataset.at)];
  const [folder] = folders.splice(at, 1);
  const to = { up: at - 1, down: at + 1 }[button.dataset.folder];
  if (to !== undefined) folders.splice(to, 0, folder);
  if (!(await change({ folders }, problemOf(panel)))) return;
  await load(panel);
  const next = panel.querySelectorAll("[data-path]")[to ?? Math.min(at, folders.length - 1)];
  (next?.querySelector(`[data-folder=${button.dataset.folder}]:not(:disabled)`) ?? next?.querySelector("button:not(:disabled)"))?.focus();
});
rail.addEventListener("click", async (event) => {
  const url = event.target.closest("[data-defaults]")?.dataset.defaults;
  if (!url) return;
  const panel = event.target.closest("[role=tabpanel]");
  const answer = await ask("PUT", url, { folders: listed(panel) });
  const problem = problemOf(panel);
  problem.hidden = answer.ok;
  problem.textContent = answer.ok ? "" : (answer.data.message ?? problem.dataset.lost);
  if (answer.ok) load(panel);
});
rail.addEventListener("submit", async (event) => {
  if (event.target.id !== "folder-form") return;
  event.preventDefault();
  const [form, panel] = [event.target, event.target.closest("[role=tabpanel]")];
  const added = { name: form.elements.name.value, path: form.elements.path.value };
  const ok = await change({ folders: [...listed(panel), added] }, problemOf(panel));
  if (ok) {
    form.reset();
    form.closest("details").open = false;
    form.closest("details").querySelector("summary").focus();
    load(panel);
  } else form.elements.path.focus();
});
