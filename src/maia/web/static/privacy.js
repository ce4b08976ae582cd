// The page of privacy: a policy from the form, what is wrong at its field, who saved meanwhile, and a text to try.
const { ask, redraw } = globalThis.maia;
const POLICY = "/api/v1/privacy/policy";
const page = document.getElementById("privacy");
const form = document.getElementById("policy");
const trying = document.getElementById("try");
const fill = (words, values) => words.replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);

// The policy ----------------------------------------------------------------------------------------------------------

const patterns = document.getElementById("patterns");
const parts = (row) => Object.fromEntries([...row.querySelectorAll("[data-part]")].map((each) => [each.dataset.part, each]));
const isEmpty = (row) => ["name", "pattern", "type"].every((part) => !parts(row)[part].value.trim());
const hosts = () => form.elements.localHosts.value.split("\n").map((text, n) => ({ text: text.trim(), n: n + 1 })).filter((each) => each.text);

function policy() {
  for (const row of [...patterns.children]) if (isEmpty(row)) row.remove();
  const actions = [...form.querySelectorAll(".kind input:checked")].map((each) => [each.name, each.value]);
  const customPatterns = [...patterns.children].map((row) =>
    Object.fromEntries(Object.entries(parts(row)).map(([name, each]) => [name, each.value])),
  );
  const localHosts = hosts().map((each) => each.text);
  const { enabled, audit } = form.elements;
  return { enabled: enabled.checked, actions: Object.fromEntries(actions), customPatterns, localHosts, audit: audit.checked };
}

function say(words, tone) {
  const place = document.getElementById("policy-said");
  place.textContent = words;
  place.dataset.tone = tone;
}

/** Where the words of an issue belong: a field, and what they are put under. */
function fieldOf(path) {
  const [, n, part] = /^customPatterns\[(\d+)\](?:\.(\w+))?$/.exec(path) ?? [];
  if (n !== undefined) {
    const row = patterns.children[n];
    const field = row && parts(row)[part ?? "name"];
    return field && { field, under: field.closest("div") };
  }
  if (path.startsWith("localHosts")) return { field: form.elements.localHosts, under: form.querySelector("[data-place=localHosts]") };
  const under = [...form.querySelectorAll("[data-place]")].find((each) => each.dataset.place === path);
  return under && { field: under.querySelector("input:checked, input, button"), under };
}

function wordsOf({ path, message }) {
  const line = /^localHosts\[(\d+)\]$/.exec(path);
  return line ? fill(form.dataset.line, { line: hosts()[line[1]]?.n ?? "", words: message }) : message;
}

function clear() {
  form.querySelectorAll(".wrong").forEach((each) => each.remove());
  for (const field of form.querySelectorAll("[aria-invalid]")) {
    field.removeAttribute("aria-invalid");
    if (field.name !== "localHosts") field.removeAttribute("aria-describedby");
  }
  document.getElementById("conflict").hidden = true;
}

function showIssues(issues) {
  const homeless = [];
  let first = null;
  issues.forEach((issue, n) => {
    const place = fieldOf(issue.path);
    if (!place) return homeless.push(`${issue.path}: ${issue.message}`);
    const words = Object.assign(document.createElement("small"), { className: "wrong", id: `wrong-${n}`, textContent: wordsOf(issue) });
    place.under.append(words);
    place.field.setAttribute("aria-invalid", "true");
    if (place.field.name !== "localHosts") place.field.setAttribute("aria-describedby", words.id);
    first ??= place.field;
  });
  say([form.dataset.wrong, ...homeless].join(" "), "danger");
  first?.focus();
}

let edits = 0; // what was changed since the page came; `kept` of it are saved
let kept = 0;

function changed() {
  edits += 1;
  say(form.dataset.changed, "muted");
}

async function save(mark) {
  clear();
  const now = edits;
  const button = form.querySelector(".policy-foot button");
  button.disabled = true;
  const answer = await ask("PUT", POLICY, policy(), mark);
  button.disabled = false;
  if (answer.ok) {
    form.dataset.mark = answer.mark;
    kept = now;
    const fresh = await redraw("policy-state", "privacy-counts");
    if (fresh && trying) trying.dataset.names = fresh.getElementById("try").dataset.names;
    document.getElementById("policy-off").hidden = answer.data.enabled;
    return kept === edits ? say(fill(form.dataset.done, answer.data), "success") : say(form.dataset.changed, "muted");
  }
  if (answer.status === 412) {
    say("", "");
    document.getElementById("conflict").hidden = false;
    return document.querySelector("#conflict button").focus();
  }
  if (answer.data.issues) return showIssues(answer.data.issues);
  say(answer.data.message ?? page.dataset.lost, "danger");
}

if (document.getElementById("policy-said")) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    save(form.dataset.mark);
  });
  form.addEventListener("input", changed);
  form.addEventListener("click", (event) => {
    const act = event.target.closest("button")?.dataset.act;
    if (act === "remove") {
      const row = event.target.closest(".pattern");
      const next = row.nextElementSibling ?? row.previousElementSibling;
      row.remove();
      (next?.querySelector("[data-act]") ?? document.getElementById("add-pattern")).focus();
      changed();
    } else if (act === "theirs") {
      kept = edits;
      location.reload();
    } else if (act === "mine") save();
  });
  document.getElementById("add-pattern").addEventListener("click", () => {
    if (patterns.children.length >= Number(patterns.dataset.most)) return;
    patterns.append(document.getElementById("pattern-template").content.cloneNode(true));
    patterns.lastElementChild.querySelector("input").focus();
  });
  form.addEventListener("reset", clear);
  addEventListener("beforeunload", (event) => kept === edits || event.preventDefault());
}

// Trying it -----------------------------------------------------------------------------------------------------------

/** Where a match stands; the interface counts characters, not the halves of them that a browser counts. */
function place(characters, match) {
  const before = characters.slice(0, match.start);
  const start = match.start - (before.lastIndexOf("\n") + 1);
  const line = before.filter((each) => each === "\n").length + 1;
  return fill(trying.dataset.place, { line, start: start + 1, end: start + match.end - match.start });
}

/** The preview, its placeholders set off. */
function marked(text, types) {
  const known = new Set(types.map((type) => `[${type.toUpperCase()}]`));
  return text.split(/(\[[A-Z0-9_]+\])/).map((piece) => {
    if (!known.has(piece)) return piece;
    return Object.assign(document.createElement("mark"), { textContent: piece });
  });
}

function cell(words) {
  return Object.assign(document.createElement("td"), { textContent: words });
}

trying?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const text = trying.elements.text.value.replaceAll("\r\n", "\n");
  const answer = await ask("POST", "/api/v1/privacy/scan", { text });
  const problem = trying.querySelector(".problem");
  problem.hidden = answer.ok;
  const shown = document.getElementById("tried");
  shown.hidden = !answer.ok;
  if (!answer.ok) {
    problem.textContent = answer.data.message ?? page.dataset.lost;
    return;
  }
  const [names, actions] = [JSON.parse(trying.dataset.names), JSON.parse(trying.dataset.actions)];
  const { matches, inbound, egressPreview } = answer.data;
  const nameOf = (type) => names[type] ?? type;
  const characters = Array.from(text);
  const part = (name) => shown.querySelector(`[data-${name}]`);
  const verdict = (name) => shown.querySelector(`[data-verdict=${name}]`);
  verdict("refused").hidden = !inbound.refused;
  verdict("passes").hidden = inbound.refused;
  verdict("refused").querySelector("span").textContent = fill(trying.dataset.refused, { types: inbound.types.map(nameOf).join(", ") });
  part("found").hidden = !matches.length;
  part("nothing").hidden = matches.length > 0;
  shown.querySelector("tbody").replaceChildren(
    ...matches.map((match) => {
      const row = document.createElement("tr");
      row.append(cell(nameOf(match.type)), cell(place(characters, match)), cell(actions[match.action]));
      return row;
    }),
  );
  const replaced = matches.filter((match) => match.action === "mask" || match.action === "block");
  shown.querySelector("pre").replaceChildren(...marked(egressPreview, replaced.map((match) => match.type)));
});
