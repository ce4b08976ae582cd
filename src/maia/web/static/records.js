// What every page does with conversations: find one, edit its record, archive or delete it with an undo, and follow
// what changes on a page whose parts are live.
const { ask } = globalThis.maia;
const toasts = document.getElementById("toasts");

async function read(url) {
  const answer = await fetch(url, { headers: { Accept: "text/html" } }).catch(() => null);
  return answer?.ok ? answer.text() : null;
}

/** Draw these parts again, as the server has them now; the page as it is there, null where it cannot be asked. */
async function redraw(...ids) {
  const html = await read(location.href);
  if (html === null) return null;
  const fresh = new DOMParser().parseFromString(html, "text/html");
  for (const id of ids) document.getElementById(id)?.replaceWith(fresh.getElementById(id) ?? "");
  return fresh;
}

// What was done, and the way back ---------------------------------------------------------------------------------------

/** Say something for a while; `undo` is what its button does. It stays while somebody points at it or is in it. */
function tell(words, { tone = "", undo, stays = false } = {}) {
  const toast = document.createElement("div");
  toast.className = "toast";
  if (tone) toast.dataset.tone = tone;
  toast.append(words);
  if (undo) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "btn btn-quiet";
    button.textContent = toasts.dataset.undo;
    button.addEventListener("click", () => {
      toast.remove();
      undo();
    });
    toast.append(button);
  }
  toasts.replaceChildren(toast);
  const leave = () => (toast.matches(":hover, :focus-within") ? setTimeout(leave, 2000) : toast.remove());
  if (!stays) setTimeout(leave, undo ? 12000 : 7000);
  return toast;
}

const said = (answer) => answer.data.message ?? toasts.dataset.lost;

/** Ask, and say a refusal; whether it was done. */
async function done(...request) {
  const answer = await ask(...request);
  if (!answer.ok) tell(said(answer), { tone: "danger" });
  return answer.ok;
}

/** A page of what is gone is left; the words and the undo come along. */
function after(id, kept) {
  document.getElementById("record").close();
  if (location.pathname.startsWith(`/conversations/${id}`)) {
    sessionStorage.setItem("maia-done", JSON.stringify(kept));
    location.assign("/");
  } else {
    show(kept);
  }
}

function show({ words, id, restore }) {
  const request = restore ? ["POST", `/api/v1/conversations/${id}/restore`] : archiving(id, false);
  tell(toasts.dataset[words], { undo: () => done(...request) });
}

const archiving = (id, archived) => ["PATCH", `/api/v1/conversations/${id}`, { archived }];

const kept = sessionStorage.getItem("maia-done");
if (kept) {
  sessionStorage.removeItem("maia-done");
  show(JSON.parse(kept));
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  const { record: edited, pin, archive, archived, delete: deleted } = button.dataset;
  if (edited) openRecord(edited);
  else if (button.id === "find") openFinder();
  else if ("close" in button.dataset) button.closest("dialog").close();
  else if (pin) {
    const is = button.getAttribute("aria-pressed") === "true";
    if (await done("PATCH", `/api/v1/conversations/${pin}`, { pinned: !is })) record.close();
  } else if (archive && archived === "true") {
    if (await done(...archiving(archive, false))) {
      record.close();
      tell(toasts.dataset.unarchived);
    }
  } else if (archive) {
    if (await done(...archiving(archive, true))) after(archive, { words: "archived", id: archive });
  } else if (deleted) {
    const gone = await done("DELETE", `/api/v1/conversations/${deleted}`);
    if (gone) after(deleted, { words: "deleted", id: deleted, restore: true });
  }
});

// The record ------------------------------------------------------------------------------------------------------------

const record = document.getElementById("record");
let opener;

async function openRecord(id) {
  const html = await read(`/ui/cards/${id}`);
  if (html === null) {
    tell(toasts.dataset.lost, { tone: "danger" });
    return;
  }
  record.innerHTML = html;
  opener = document.activeElement?.id;
  record.showModal();
}

// What was focused may have been drawn anew meanwhile.
record.addEventListener("close", () => {
  if (opener && document.activeElement === document.body) document.getElementById(opener)?.focus();
});

/** What of a form is another value now, by name. */
function changed(form) {
  const change = {};
  for (const field of form.querySelectorAll("select[name], textarea[name], input[name]:not([type=checkbox])")) {
    const before = field.tagName === "SELECT" ? [...field.options].find((each) => each.defaultSelected)?.value ?? "" : field.defaultValue;
    if (field.value !== before) change[field.name] = field.value || null;
  }
  if ("prompt" in change) change.prompt ??= "";
  if ("labels" in change) change.labels = (change.labels ?? "").split(",").map((each) => each.trim()).filter(Boolean);
  const owners = [...form.querySelectorAll("[name=owners]")];
  if (owners.some((each) => each.checked !== each.defaultChecked)) {
    change.owners = owners.filter((each) => each.checked).map((each) => each.value);
  }
  return change;
}

record.addEventListener("submit", async (event) => {
  event.preventDefault();
  const form = event.target;
  const change = changed(form);
  const path = `/api/v1/conversations/${form.dataset.save}`;
  const moves = "stageId" in change;
  const answer = await (moves ? ask("POST", `${path}/move`, { ...change, first: true }) : ask("PATCH", path, change));
  if (answer.ok) {
    record.close();
    return;
  }
  const problem = form.querySelector(".problem");
  problem.textContent = said(answer);
  problem.hidden = false;
});

for (const dialog of document.querySelectorAll("dialog.sheet")) {
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
}

// The finder ------------------------------------------------------------------------------------------------------------

const finder = document.getElementById("finder");
const input = finder.querySelector("input");
const found = document.getElementById("found");
let asked = 0;

async function openFinder() {
  if (finder.open) return;
  input.value = "";
  finder.showModal();
  await look();
}

async function look() {
  const mine = ++asked;
  const html = await read(`/ui/find?q=${encodeURIComponent(input.value)}`);
  if (mine !== asked || html === null) return;
  found.innerHTML = html;
  choose(0);
}

/** Make one of the offers the chosen one. */
function choose(index) {
  const offers = [...found.querySelectorAll("[role=option]")];
  const at = offers.length ? (index + offers.length) % offers.length : -1;
  offers.forEach((offer, n) => offer.setAttribute("aria-selected", n === at ? "true" : "false"));
  if (at < 0) input.removeAttribute("aria-activedescendant");
  else {
    input.setAttribute("aria-activedescendant", offers[at].id);
    offers[at].scrollIntoView({ block: "nearest" });
  }
  return at;
}

let typing;
input.addEventListener("input", () => {
  clearTimeout(typing);
  typing = setTimeout(look, 120);
});
input.addEventListener("keydown", (event) => {
  const offers = [...found.querySelectorAll("[role=option]")];
  const at = offers.findIndex((offer) => offer.getAttribute("aria-selected") === "true");
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    event.preventDefault();
    choose(at + (event.key === "ArrowDown" ? 1 : -1));
  } else if (event.key === "Enter" && !event.isComposing && offers[at]) {
    event.preventDefault();
    offers[at].click();
  }
});
if (navigator.platform.startsWith("Mac")) document.querySelector("#find kbd").textContent = "⌘K";
document.addEventListener("keydown", (event) => {
  if (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey) {
    event.preventDefault();
    openFinder();
  }
});

// Live parts ------------------------------------------------------------------------------------------------------------

/** Follow the parts of a page: `address` is the stream, `shown` what the page shows. */
class Parts {
  constructor(place) {
    this.place = place;
    this.held = 0;
    this.waiting = [];
    addEventListener("pagehide", () => this.leave());
    addEventListener("pageshow", () => this.wake());
    document.addEventListener("visibilitychange", () => this.wake());
  }

  leave() {
    clearTimeout(this.patience);
    this.stream?.close();
  }

  /** A stream that ended goes on, for a page that somebody looks at. */
  wake() {
    if (!document.hidden && this.stream?.readyState === EventSource.CLOSED) this.follow(this.address, "");
  }

  follow(address, shown) {
    this.stream?.close();
    this.address = address;
    const join = address.includes("?") ? "&" : "?";
    this.stream = new EventSource(`${address}${join}shown=${encodeURIComponent(shown)}`);
    this.stream.onmessage = ({ data }) => (this.held ? this.waiting.push(data) : this.apply(JSON.parse(data)));
    this.stream.onopen = () => {
      clearTimeout(this.patience);
      this.patience = null;
      this.lost?.remove();
    };
    this.stream.onerror = () => {
      this.patience ??= setTimeout(() => (this.lost = tell(toasts.dataset.offline, { tone: "warning", stays: true })), 3000);
      if (this.stream.readyState === EventSource.CLOSED) setTimeout(() => this.wake(), 5000);
    };
  }

  /** Nothing changes under somebody's hand, however many cards are on their way; what came is applied afterwards. */
  hold(held) {
    this.held += held ? 1 : -1;
    if (!this.held) this.waiting.splice(0).forEach((data) => this.apply(JSON.parse(data)));
  }

  apply({ order, parts }) {
    const focused = document.activeElement?.id;
    const template = document.createElement("template");
    for (const [id, html] of Object.entries(parts)) {
      template.innerHTML = html.trim();
      const [old, fresh] = [document.getElementById(id), template.content.firstElementChild];
      if (old) old.dispatchEvent(new CustomEvent("maia:leaves", { bubbles: true }));
      old ? old.replaceWith(fresh) : this.place.append(fresh);
    }
    const mine = order.map((id) => document.getElementById(id)).filter((each) => each?.parentElement === this.place);
    for (const each of [...this.place.children]) if (!mine.includes(each)) each.remove();
    mine.forEach((each, n) => this.place.children[n] !== each && this.place.insertBefore(each, this.place.children[n]));
    if (focused && document.activeElement === document.body) document.getElementById(focused)?.focus({ preventScroll: true });
    this.place.dispatchEvent(new CustomEvent("maia:parts", { bubbles: true }));
  }
}

const place = document.querySelector("[data-follows]");
const parts = place && new Parts(place);
if (parts) parts.follow(`${place.dataset.follows}${location.search}`, place.dataset.shown);
else if (!document.getElementById("live")) followNav();

/** Say that somebody changed what this page shows; it is drawn again when its reader wishes. */
function compare() {
  const holder = document.querySelector("[data-holds]");
  const { is } = document.getElementById("page-state").dataset;
  if (!holder || !is || holder.dataset[holder.dataset.holds] === is || document.getElementById("changed-elsewhere")) return;
  const toast = tell(toasts.dataset.changed, { stays: true });
  toast.id = "changed-elsewhere";
  const show = Object.assign(document.createElement("button"), { type: "button", className: "btn btn-quiet" });
  show.textContent = toasts.dataset.show;
  show.addEventListener("click", () => location.reload());
  toast.append(show);
}

/** A page without a stream of its own follows the navigation, while somebody looks at it. */
function followNav() {
  const nav = new Parts(document.createElement("div"));
  nav.place.addEventListener("maia:parts", () => {
    document.dispatchEvent(new CustomEvent("maia:nav"));
    setTimeout(compare, 1000); // what this page changes itself, it knows by then
  });
  nav.follow(`/ui/nav/stream?here=${encodeURIComponent(location.pathname)}`, "");
  const rest = () => document.hidden && nav.leave();
  document.addEventListener("visibilitychange", rest);
  rest();
}
Object.assign(globalThis.maia, { tell, said, redraw, parts, place });
