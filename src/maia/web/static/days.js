// A day, typed or taken from a small calendar in the language of the page: loaded when somebody opens one.
const [FIRST, LAST] = ["2000-01-01", "2999-12-31"];
const LANGUAGES = ["fr", "en"];
const utc = (iso) => new Date(`${iso}T00:00:00Z`);
const isoOf = (date) => date.toISOString().slice(0, 10);
const local = () => isoOf(new Date(Date.now() - new Date().getTimezoneOffset() * 60_000));

/** That many days later. */
function moved(iso, days) {
  const date = utc(iso);
  date.setUTCDate(date.getUTCDate() + days);
  return isoOf(date);
}

/** That many months later, on its last day where it is shorter. */
function turned(iso, months) {
  const date = utc(iso);
  const day = date.getUTCDate();
  date.setUTCDate(1);
  date.setUTCMonth(date.getUTCMonth() + months);
  const last = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
  date.setUTCDate(Math.min(day, last));
  return isoOf(date);
}

const within = (iso) => (iso < FIRST ? FIRST : iso > LAST ? LAST : iso);
const written = (lang, how, iso) => new Intl.DateTimeFormat(lang, { ...how, timeZone: "UTC" }).format(utc(iso));
const weekOf = (iso) => (utc(iso).getUTCDay() + 6) % 7;

// What somebody typed -------------------------------------------------------------------------------------------------

const plain = (text) => text.toLowerCase().normalize("NFKD").replace(/\p{M}/gu, "").replace(/’/g, "'").replace(/\s+/g, " ").trim();
const names = (how, days) => LANGUAGES.map((lang) => days.map((iso) => plain(written(lang, how, iso))));
const MONTHS = names({ month: "long" }, Array.from({ length: 12 }, (_, n) => `2001-${String(n + 1).padStart(2, "0")}-01`));
const WEEKDAYS = names({ weekday: "long" }, Array.from({ length: 7 }, (_, n) => `2001-01-0${n + 1}`));

/** Where the only name stands that begins like this, else -1. */
function told(word, lists) {
  const found = new Set(lists.flatMap((list) => list.map((name, at) => (word.length > 2 && name.startsWith(word) ? at : -1))));
  found.delete(-1);
  return found.size === 1 ? [...found][0] : -1;
}

function dated(year, month, day) {
  const date = new Date(Date.UTC(year, month - 1, day));
  const isThere = date.getUTCFullYear() === year && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  const iso = isThere ? isoOf(date) : "";
  return iso && iso === within(iso) ? iso : null;
}

/** Without a year it is the next such day, from today on. */
function near(today, year, month, day) {
  if (year !== undefined) return dated(year < 100 ? 2000 + year : year, month, day);
  const now = Number(today.slice(0, 4));
  return [0, 1, 2, 3, 4].map((n) => dated(now + n, month, day)).find((iso) => iso && iso >= today) ?? null;
}

/** The day in what was typed, in either language, day before month; null where there is none. */
export function read(text, today = local()) {
  const typed = plain(text);
  for (const lang of LANGUAGES) {
    const near = new Intl.RelativeTimeFormat(lang, { numeric: "auto" });
    for (const n of [-1, 0, 1, 2]) if (plain(near.format(n, "day")) === typed) return moved(today, n);
  }
  const weekday = WEEKDAYS.map((list) => list.indexOf(typed)).find((at) => at >= 0);
  if (weekday !== undefined) return moved(today, ((weekday - weekOf(today) + 6) % 7) + 1);
  const iso = /^(\d{4})-(\d{1,2})-(\d{1,2})$/.exec(typed);
  if (iso) return dated(...iso.slice(1).map(Number));
  const parts = typed.replace(/(\d)(?:er|st|nd|rd|th)\b/g, "$1").split(/[\s,./-]+/).filter(Boolean);
  const numbers = parts.filter((each) => /^\d{1,4}$/.test(each)).map(Number);
  const words = parts.filter((each) => !/^(?:\d{1,4}|le|the|of|on)$/.test(each));
  if (!words.length) return numbers.length === 2 || numbers.length === 3 ? near(today, numbers[2], numbers[1], numbers[0]) : null;
  const month = told(words.at(-1), MONTHS);
  if (month < 0 || numbers.length < 1 || numbers.length > 2) return null;
  if (words.slice(0, -1).some((each) => told(each, WEEKDAYS) < 0)) return null;
  return near(today, numbers[1], month + 1, numbers[0]);
}

// The calendar --------------------------------------------------------------------------------------------------------

function make(tag, given = {}, ...inside) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(given)) if (value !== undefined) made.setAttribute(name, value);
  made.append(...inside);
  return made;
}

/** Open the calendar of a field, below its button or above it. */
export function open(button) {
  const place = button.parentElement;
  if (place.querySelector(".days")) return;
  const field = place.querySelector("input");
  const words = JSON.parse(button.dataset.words);
  const lang = document.documentElement.lang;
  const today = local();
  let at = within(field.value || today);

  const icon = (name) => {
    const use = button.querySelector("use").cloneNode();
    use.setAttribute("href", `${use.getAttribute("href").split("#")[0]}#i-${name}`);
    const svg = button.querySelector("svg").cloneNode();
    svg.append(use);
    return svg;
  };
  const step = (label, months) => {
    const made = make("button", { type: "button", class: "btn btn-quiet btn-icon", "aria-label": label, title: label }, icon("chevron-right"));
    made.addEventListener("click", () => show(turned(at, months)));
    return made;
  };
  const entry = make("input", { class: "input", autocomplete: "off", spellcheck: "false", placeholder: words.hint });
  const problem = make("p", { class: "small problem", role: "alert", hidden: "" });
  const month = make("b", { id: `${button.id}-month`, "aria-live": "polite" });
  const weekdays = Array.from({ length: 7 }, (_, n) => `2001-01-0${n + 1}`);
  const head = weekdays.map((iso) =>
    make("th", { scope: "col", abbr: written(lang, { weekday: "long" }, iso) }, written(lang, { weekday: "short" }, iso).slice(0, 2)));
  const body = make("tbody");
  const grid = make("table", { role: "grid", "aria-labelledby": month.id }, make("thead", {}, make("tr", {}, ...head)), body);
  const now = make("button", { type: "button", class: "btn" }, words.today);
  const none = make("button", { type: "button", class: "btn btn-quiet" }, words.none);
  const name = document.getElementById(`${button.id}-label`).textContent.replace(/\s*:\s*$/, "");
  const panel = make("div", { class: "days", popover: "", role: "dialog", "aria-label": name },
    make("label", { class: "label" }, words.entry, entry), problem,
    make("div", { class: "days-month" }, step(words.back, -1), month, step(words.on, 1)),
    grid, make("div", { class: "line" }, now, none));

  /** Show the month of a day; that day is the one which the keyboard reaches. */
  function show(iso, focus = false) {
    at = within(iso);
    month.textContent = written(lang, { month: "long", year: "numeric" }, at);
    const first = `${at.slice(0, 8)}01`;
    const cells = Array.from({ length: 42 }, (_, n) => {
      const day = moved(first, n - weekOf(first));
      if (day.slice(0, 7) !== at.slice(0, 7)) return make("td", { role: "gridcell" });
      const label = written(lang, { weekday: "long", day: "numeric", month: "long", year: "numeric" }, day);
      const chosen = make("button", { type: "button", "data-iso": day, "aria-label": label, tabindex: day === at ? "0" : "-1",
        "aria-pressed": String(day === field.value), "aria-current": day === today ? "date" : undefined }, String(Number(day.slice(8))));
      return make("td", { role: "gridcell" }, chosen);
    });
    body.replaceChildren(...[0, 7, 14, 21, 28, 35].map((n) => make("tr", {}, ...cells.slice(n, n + 7))));
    if (focus) body.querySelector("[tabindex='0']").focus();
  }

  function choose(iso) {
    panel.hidePopover();
    button.focus();
    if (iso === field.value) return;
    field.value = iso;
    for (const kind of ["input", "change"]) field.dispatchEvent(new Event(kind, { bubbles: true }));
  }

  function take() {
    const iso = entry.value.trim() ? read(entry.value, today) : "";
    if (iso !== null) return choose(iso);
    problem.textContent = words.wrong;
    problem.hidden = false;
    entry.setAttribute("aria-invalid", "true");
  }

  entry.addEventListener("input", () => {
    problem.hidden = true;
    entry.removeAttribute("aria-invalid");
    const iso = read(entry.value, today);
    if (iso) show(iso);
  });
  panel.addEventListener("keydown", (event) => {
    const [year, week] = [event.shiftKey ? 12 : 1, weekOf(at)];
    const to = { ArrowLeft: () => moved(at, -1), ArrowRight: () => moved(at, 1), ArrowUp: () => moved(at, -7), ArrowDown: () => moved(at, 7),
      Home: () => moved(at, -week), End: () => moved(at, 6 - week), PageUp: () => turned(at, -year), PageDown: () => turned(at, year) }[event.key];
    if (event.target === entry && event.key === "Enter") take();
    else if (event.target === entry && event.key === "ArrowDown") show(at, true);
    else if (grid.contains(event.target) && to) show(to(), true);
    else return;
    event.preventDefault();
  });
  body.addEventListener("click", (event) => event.target.dataset.iso && choose(event.target.dataset.iso));
  now.addEventListener("click", () => choose(today));
  none.addEventListener("click", () => choose(""));
  panel.addEventListener("toggle", (event) => {
    button.setAttribute("aria-expanded", String(event.newState === "open"));
    if (event.newState === "closed") panel.remove();
  });

  if (field.value) entry.value = written(lang === "fr" ? "fr-FR" : "en-GB", { day: "2-digit", month: "2-digit", year: "numeric" }, field.value);
  show(at);
  place.append(panel);
  panel.showPopover();
  const [box, own] = [button.getBoundingClientRect(), panel.getBoundingClientRect()];
  const below = box.bottom + 6 + own.height <= innerHeight - 8;
  panel.style.left = `${Math.max(8, Math.min(box.left, innerWidth - own.width - 8))}px`;
  panel.style.top = `${Math.max(8, below ? box.bottom + 6 : Math.min(box.top - 6, innerHeight - 8) - own.height)}px`;
  if (matchMedia("(pointer: coarse)").matches) show(at, true);
  else entry.select();
}
