// The pages of agents: a new one, what a definition says, switching off, removing and its way back.
const { ask, tell, said, redraw } = globalThis.maia;
const page = document.querySelector(".agent");

const refused = (answer) => tell(said(answer), { tone: "danger" });

// A new agent -----------------------------------------------------------------------------------------------------------

const fresh = document.getElementById("agent-new");
let isMaking = false; // Enter twice makes one agent
fresh?.addEventListener("submit", async (event) => {
  event.preventDefault();
  if (isMaking) return;
  const form = event.target;
  const given = Object.fromEntries(new FormData(form));
  const problem = form.querySelector(".problem");
  const say = (words) => Object.assign(problem, { textContent: words, hidden: !words });
  if (!given.nickname.trim()) {
    say(problem.dataset.missing);
    form.elements.nickname.focus();
    return;
  }
  isMaking = true;
  const answer = await ask("POST", "/api/v1/agents", given);
  if (answer.ok) return location.assign(`/agents/${answer.data.id}`);
  isMaking = false;
  say(said(answer));
});
addEventListener("pageshow", () => (isMaking = false)); // the back button may bring the page as it was left

document.addEventListener("click", async (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  const { restore, enable, remove, forget } = button.dataset;
  if ("agentNew" in button.dataset) fresh.showModal();
  else if (restore) again(await ask("POST", "/api/v1/agents/restore", { kept: restore }));
  else if (enable) switched(button, enable === "true");
  else if (remove) removed(button, remove);
  else if (forget) forgotten(button, forget);
});

function again(answer) {
  if (answer.ok) location.assign(`/agents/${answer.data.id}`);
  else refused(answer);
}

async function removed(button, url) {
  button.disabled = true;
  const answer = await ask("DELETE", url);
  button.disabled = false;
  if (!answer.ok) return refused(answer);
  isKept = true;
  location.assign(`/agents?removed=${encodeURIComponent(answer.data.kept)}`);
}

async function forgotten(button, url) {
  if (button.dataset.asked !== "yes") {
    button.dataset.asked = "yes";
    button.textContent = button.dataset.sure;
    return;
  }
  const answer = await ask("DELETE", url);
  if (!answer.ok) return refused(answer);
  await redraw("agent-memories");
  document.querySelector("#agent-memories input").focus();
}

async function switched(button, enabled) {
  const answer = await ask("PATCH", button.dataset.url, form ? { enabled, revision: form.dataset.revision } : { enabled });
  if (form) stale(answer);
  if (!answer.ok) return refused(answer);
  if (form) form.dataset.revision = answer.data.revision;
  await redraw("agent-head", "colleagues");
  document.querySelector("[data-enable]")?.focus();
}

// The form of a definition ----------------------------------------------------------------------------------------------

const form = page?.querySelector("[data-agent]");
const LINES = ["capabilities", "constraints"];
let isKept = false;
let stored; // what the file says
let shown; // what nobody has touched; the turns stand there before they are stored

/** What the form says, by the names of the interface; the model is a pair, or none. */
function values() {
  const found = {};
  for (const name of ["avatar", "nickname", "role", "type", "group", "description", "goal", "backstory", "instructions", "missions", "output"])
    found[name] = form.elements[name].value.trim();
  for (const name of LINES) found[name] = form.elements[name].value.split("\n").map((each) => each.trim()).filter(Boolean);
  const { provider, model } = form.elements.model.selectedOptions[0].dataset;
  found.pair = { provider: provider ?? null, model: model ?? null };
  found.effort = form.elements.effort.value || null;
  found.maxTurns = form.elements.maxTurns.value === "" ? null : Number(form.elements.maxTurns.value);
  found.monthlyTokens = Number(form.elements.monthlyTokens.value);
  const isAll = form.elements.which.value === "all";
  found.tools = isAll ? null : [...form.querySelectorAll("[name=tool]:checked")].map((each) => each.value);
  return found;
}

/** Only what is other than in the file, so that saving leaves the rest alone (N-05.12). */
function changes() {
  const now = values();
  const other = Object.keys(now).filter((name) => JSON.stringify(now[name]) !== JSON.stringify(stored[name]));
  const body = Object.fromEntries(other.map((name) => [name, now[name]]));
  const { pair, ...rest } = body;
  return pair ? { ...rest, ...pair } : rest;
}

function note(words, tone = "") {
  const place = form.querySelector("[data-said]");
  place.textContent = words;
  place.dataset.tone = tone;
}

function touched() {
  isKept = JSON.stringify(values()) === JSON.stringify(shown);
  note(isKept ? "" : form.dataset.unsaved);
}

function modelChosen() {
  const { levels = "", gone } = form.elements.model.selectedOptions[0].dataset;
  const known = levels.split(" ").filter(Boolean);
  document.getElementById("agent-model-gone").hidden = gone === undefined;
  form.querySelector("[data-no-levels]").hidden = known.length > 0;
  for (const option of form.elements.effort.options) {
    const fits = option.value === "" || known.includes(option.value);
    option.hidden = option.disabled = !fits;
    if (!fits && option.selected) form.elements.effort.value = "";
  }
}

function toolsFound(words) {
  let count = 0;
  for (const line of form.querySelectorAll(".agent-checks li")) {
    line.hidden = !line.textContent.toLowerCase().includes(words.trim().toLowerCase());
    count += line.hidden ? 0 : 1;
  }
  form.querySelector("[data-tools-none]").hidden = count > 0;
}

/** Offer both ways on where the file is another one by now. */
function stale(answer) {
  const isStale = answer.status === 409 && answer.data.code === "agent_changed";
  form.querySelector(".agent-stale").hidden = !isStale;
  if (isStale) form.dataset.theirs = answer.data.agent.revision;
}

async function save() {
  const missing = form.querySelector(":invalid:not(fieldset)");
  if (missing) {
    note(`${form.dataset.missing} ${missing.closest("label").firstChild.textContent}`, "danger");
    missing.focus();
    return;
  }
  const body = { ...changes(), revision: form.dataset.revision };
  const sent = values();
  const button = form.querySelector(".agent-bar .btn-primary");
  button.disabled = true;
  const answer = await ask("PATCH", form.dataset.agent, body);
  button.disabled = false;
  stale(answer);
  if (!answer.ok) return note(said(answer), "danger");
  form.dataset.revision = answer.data.revision;
  stored = shown = sent; // what was typed meanwhile is not in it
  touched();
  if (isKept) note(form.dataset.saved, "success");
  redraw("agent-head", "agent-quota", "colleagues");
}

if (form?.querySelector(".agent-bar")) {
  stored = values();
  shown = { ...stored };
  if ("unset" in form.elements.maxTurns.dataset) stored.maxTurns = null;
  isKept = true;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    save();
  });
  form.addEventListener("input", (event) => {
    if ("toolSearch" in event.target.dataset) toolsFound(event.target.value);
    if (event.target.name === "which") document.getElementById("agent-toolbox").hidden = event.target.value === "all";
    if (event.target.name === "model") modelChosen();
    touched();
  });
  form.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    if ("resetModel" in button.dataset) {
      form.elements.model.value = "";
      modelChosen();
      touched();
    } else if ("take" in button.dataset) {
      isKept = true;
      location.reload();
    } else if ("keep" in button.dataset) {
      form.dataset.revision = form.dataset.theirs;
      save();
    }
  });
  form.querySelector("[data-tool-search]").addEventListener("keydown", (event) => event.key === "Enter" && event.preventDefault());
  addEventListener("beforeunload", (event) => isKept || event.preventDefault());
}
