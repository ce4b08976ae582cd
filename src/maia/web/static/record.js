// The record beside a conversation: its tabs, notes and fields; what changes elsewhere is asked for again.
const { ask } = globalThis.maia;
const rail = document.getElementById("rail");
const conversation = rail.dataset.conversation;
const tabs = [...rail.querySelectorAll("[role=tab]")];
const panelOf = (tab) => document.getElementById(tab.getAttribute("aria-controls"));

// Tabs ----------------------------------------------------------------------------------------------------------------

/** Draw a panel as the server has it now. */
async function load(panel) {
  delete panel.dataset.stale;
  await htmx.ajax("GET", panel.dataset.url, { target: panel, swap: "innerMorph" });
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

// What changes elsewhere ----------------------------------------------------------------------------------------------

document.getElementById("live").addEventListener("record", (event) => {
  const parts = event.detail.data.split(" ");
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
  const answer = await ask("POST", `/api/v1/conversations/${conversation}/notes`, { note: box.value });
  problem.hidden = answer.ok;
  if (answer.ok) box.value = "";
  else problem.textContent = answer.data.message ?? form.dataset.lost;
  box.focus();
  if (answer.ok) load(form.closest("[role=tabpanel]"));
});
