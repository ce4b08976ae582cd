// The model picker, the effort field and the page of providers: choose, search, ask the server, draw again.
const { ask, refuse, redraw, said: reason } = globalThis.maia;
const conversation = document.getElementById("stream")?.dataset.conversation;

// The picker and the field bar of a conversation ---------------------------------------------------------------------

async function choose(change) {
  const answer = await ask("PATCH", `/api/v1/conversations/${conversation}`, change);
  const place = document.getElementById("refusal");
  if (answer.ok) place.replaceChildren();
  else refuse(place, answer, false);
  if ("modelBinding" in change) document.getElementById("picker").open = false;
  await globalThis.maia.drawBar(!answer.ok);
  if ("modelBinding" in change) document.querySelector("#picker > summary")?.focus();
}

function shownItems(picker) {
  return [...picker.querySelectorAll(".menu-item:not([hidden])")].filter((item) => !item.closest("[hidden]"));
}

function search(picker, word) {
  const words = word.toLowerCase().split(/\s+/).filter(Boolean);
  for (const item of picker.querySelectorAll("[data-find]")) {
    item.hidden = !words.every((each) => item.dataset.find.includes(each));
  }
  for (const group of picker.querySelectorAll("[role=radiogroup][aria-labelledby]")) {
    group.hidden = !group.querySelector(".menu-item:not([hidden])");
  }
  picker.querySelector("[data-nothing]").hidden = shownItems(picker).some((item) => item.dataset.find) || words.length === 0;
}

if (conversation) {
  document.addEventListener("input", (event) => {
    const picker = event.target.closest("#picker");
    if (picker) search(picker, event.target.value);
  });
  document.addEventListener("change", (event) => {
    if (event.target.matches("[data-effort]")) choose({ effort: event.target.value || null });
  });
  document.addEventListener("click", (event) => {
    const summary = event.target.closest("#picker > summary");
    if (summary) {
      event.preventDefault(); // opened here: what is typed at once is not lost to a field that has no focus yet
      const picker = summary.parentElement;
      picker.open = !picker.open;
      if (picker.open) picker.querySelector("input").focus();
      return;
    }
    const open = document.querySelector("#picker[open]");
    if (open && !open.contains(event.target)) open.open = false;
    const item = event.target.closest("[data-choose]");
    if (item && item.getAttribute("aria-disabled") !== "true") choose(JSON.parse(item.dataset.choose));
  });
  document.addEventListener("keydown", (event) => {
    const picker = event.target.closest?.("#picker[open]");
    if (!picker) return;
    const items = shownItems(picker);
    const at = items.indexOf(document.activeElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: items.length - 1 }[event.key];
    if (event.key === "Escape") {
      picker.open = false;
      picker.querySelector("summary").focus();
    } else if (event.key === "Enter" && event.target.matches("input")) {
      if (event.target.value.trim()) items.find((item) => item.dataset.find)?.click();
    } else if (to !== undefined && (event.key.startsWith("Arrow") || at >= 0)) {
      items[Math.max(0, Math.min(to, items.length - 1))]?.focus();
    } else return;
    event.preventDefault();
  });
}

// The page of providers -----------------------------------------------------------------------------------------------

const page = document.getElementById("providers");
if (page) {
  const fill = (words, values) => words.replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
  const say = (place, words, tone) => {
    const line = document.getElementById(place);
    if (!line) return;
    line.textContent = words;
    line.dataset.tone = tone;
  };
  /** Usable again; what did not reach the server shows what it had before. */
  const back = (element, isKept) => {
    element.disabled = false;
    if (isKept) return;
    if (element.type === "checkbox") element.checked = element.defaultChecked;
    for (const option of element.querySelectorAll("option")) option.selected = option.defaultSelected;
  };
  const act = async (button, body) => {
    const { method, url, said, asking } = button.dataset;
    button.disabled = true;
    if (asking) say(said, asking, "muted");
    const answer = await ask(method, url, body ?? (button.dataset.body ? JSON.parse(button.dataset.body) : undefined));
    if (!(await redraw("providers"))) back(button, answer.ok);
    if (!answer.ok) say(said, reason(answer), "danger");
    else if (button.dataset.done) say(said, doneWords(button, answer.data), "success");
  };
  const doneWords = (button, data) => {
    const { done, unchanged } = button.dataset;
    if (!data.missing) return fill(done, { model: data.modelId, seconds: data.seconds, text: data.text });
    if (!data.missing.length && !data.restored.length) return unchanged;
    return fill(done, { missing: data.missing.join(", ") || "—", restored: data.restored.join(", ") || "—" });
  };
  document.addEventListener("click", (event) => {
    const button = event.target.closest("button[data-url]");
    if (button) act(button);
  });
  document.addEventListener("change", (event) => {
    const box = event.target;
    if (box.matches("[data-switch]")) act(box, { ...JSON.parse(box.dataset.body ?? "{}"), [box.dataset.switch]: box.checked });
    if (box.closest("[data-tier]")) {
      const row = box.closest("[data-tier]");
      const value = (name) => row.querySelector(`[name=${name}]`).value;
      const [first, second] = [value("primary"), value("fallback")].map((each) => (each ? JSON.parse(each) : [null, null]));
      act(row, {
        providerId: first[0], modelId: first[1], fallbackProviderId: second[0], fallbackModelId: second[1],
        effort: value("effort") || null,
      });
    }
  });
  const addAddress = async (form) => {
    const body = Object.fromEntries(new FormData(form));
    say("address-said", fill(form.dataset.asking, body), "muted");
    const button = form.querySelector("button");
    button.disabled = true;
    const answer = await ask("POST", "/api/v1/model/addresses", body);
    button.disabled = false;
    if (!answer.ok) return say("address-said", reason(answer), "danger");
    const count = answer.data.models.length;
    form.reset();
    await redraw("providers");
    say("address-said", fill(count ? form.dataset.done : form.dataset.silent, { name: answer.data.name, count }), count ? "success" : "warning");
  };
  const saveBudget = async (form) => {
    const body = {};
    for (const [name, value] of new FormData(form)) {
      body[name] = name.endsWith("At") ? Number(value) / 100 : value === "" ? null : Number(value);
    }
    const answer = await ask("PUT", "/api/v1/routing/budget", body);
    if (answer.ok) await redraw("providers");
    say("budget-said", answer.ok ? form.dataset.done : reason(answer), answer.ok ? "success" : "danger");
  };
  const submits = { "address-form": addAddress, "budget-form": saveBudget };
  document.addEventListener("submit", (event) => {
    const submit = submits[event.target.id];
    if (!submit) return;
    event.preventDefault();
    submit(event.target);
  });
  document.addEventListener("submit", async (event) => {
    const form = event.target.closest("#key-form");
    if (!form) return;
    event.preventDefault();
    const body = { key: form.elements.key.value, provider: form.elements.provider.value };
    if (!body.key.trim()) return;
    const keeps = event.submitter?.value === "keep";
    const answer = await ask("POST", keeps ? "/api/v1/model/providers" : "/api/v1/model/keys/look", body);
    const data = answer.data;
    if (!answer.ok) return say("key-said", reason(answer), "danger");
    if (!keeps) {
      const words = data.provider ? fill(form.dataset.known, data) : fill(form.dataset.unknown, data);
      return say("key-said", [words, ...data.notices.map((each) => each.message)].join(" "), data.provider ? "success" : "warning");
    }
    form.reset();
    await redraw("providers");
    say("key-said", fill(form.dataset.kept, data), "success");
  });
}
