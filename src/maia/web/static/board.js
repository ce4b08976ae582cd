// The board: filters in the address, lanes that fold and grow, cards that move by hand. What moves them for good is the
// server's answer, and then its stream.
const { ask, tell, said, parts, place } = globalThis.maia;
const filters = document.getElementById("board-filters");
const toasts = document.getElementById("toasts");

// Filters ---------------------------------------------------------------------------------------------------------------

/** The address of the board as its fields stand; `more` are lanes that show more, `rows` those of the list. */
function address(extra = {}) {
  const asked = new URLSearchParams();
  for (const [name, value] of new FormData(filters)) {
    const usual = { view: "kanban", state: "all", group: "stage" }[name] ?? "";
    if (value && value !== usual) asked.append(name, value);
  }
  for (const [name, values] of Object.entries(extra)) for (const value of [values].flat()) asked.append(name, value);
  const query = asked.toString();
  return query ? `?${query}` : "";
}

function reload(extra, shown = "") {
  const query = address(extra);
  history.replaceState(null, "", `/board${query}`);
  place.dataset.view = filters.elements.view.value;
  parts.follow(`/ui/board/stream${query}`, shown);
}

let typing;
filters.addEventListener("input", (event) => {
  clearTimeout(typing);
  typing = setTimeout(reload, event.target.type === "search" ? 250 : 0);
});
filters.addEventListener("submit", (event) => {
  event.preventDefault();
  reload();
});

// Lanes -----------------------------------------------------------------------------------------------------------------

const folds = JSON.parse(localStorage.getItem("maia-folds") ?? "{}");

/** Lanes are folded as this person left them, else as the stage says. */
function fold() {
  for (const lane of place.querySelectorAll(".lane")) {
    const is = folds[lane.id] ?? lane.hasAttribute("data-folded");
    lane.toggleAttribute("data-folded", is);
    lane.querySelector("[data-fold]").setAttribute("aria-expanded", is ? "false" : "true");
  }
}

place.addEventListener("click", (event) => {
  const { dataset } = event.target.closest("button") ?? { dataset: {} };
  if ("fold" in dataset) {
    const lane = event.target.closest(".lane");
    folds[lane.id] = !lane.hasAttribute("data-folded");
    localStorage.setItem("maia-folds", JSON.stringify(folds));
    fold();
  } else if (dataset.more) {
    const all = new URLSearchParams(location.search).getAll("more");
    const key = dataset.more.replace(/:\d+$/, ":");
    reload({ more: [...all.filter((each) => !each.startsWith(key)), dataset.more] });
  } else if (dataset.rows) {
    reload({ rows: dataset.rows });
  }
});

// Moving ----------------------------------------------------------------------------------------------------------------

/** Where the card stands now, as the server is to be asked; `from` is where it stood. */
function wish(card, from) {
  const list = card.parentElement;
  const { field, key, left } = list.dataset;
  const above = card.previousElementSibling;
  const below = card.nextElementSibling;
  const value = field === "priority" ? key : key || null;
  const moved = list === from.list ? {} : { [field]: value };
  if (field !== "stageId") return ["PATCH", "", moved];
  const beside = below ? { before: below.dataset.id } : above && left !== "0" ? { after: above.dataset.id } : {};
  return ["POST", "/move", { ...moved, ...beside }];
}

async function moved(card, from) {
  const back = () => from.list.insertBefore(card, from.below?.parentElement === from.list ? from.below : null);
  if (card.parentElement !== from.list || card.nextElementSibling !== from.below) {
    const [method, path, body] = wish(card, from);
    if (!path && !Object.keys(body).length) back(); // only stages keep an order of their own
    else {
      const answer = await ask(method, `/api/v1/conversations/${card.dataset.id}${path}`, body);
      if (!answer.ok) {
        back();
        tell(`${toasts.dataset.back} ${said(answer)}`, { tone: "danger" });
      }
    }
  }
  parts.hold(false);
}

let sortable;

/** SortableJS, for a board with lanes. */
function library() {
  sortable ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = document.getElementById("board-script").dataset.sortable;
    script.addEventListener("load", () => resolve(globalThis.Sortable));
    script.addEventListener("error", reject);
    document.head.append(script);
  });
  return sortable;
}

async function ready() {
  fold();
  if (!("moves" in place.dataset) || !place.querySelector(".lane-cards")) return;
  const Sortable = await library();
  for (const list of place.querySelectorAll(".lane-cards")) {
    if (Sortable.get(list)) continue;
    let from;
    new Sortable(list, {
      group: "cards",
      draggable: ".kcard",
      filter: "button",
      preventOnFilter: false,
      animation: matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : 120,
      delay: 180,
      delayOnTouchOnly: true,
      emptyInsertThreshold: 40,
      onStart: ({ item }) => {
        parts.hold(true);
        from = { list: item.parentElement, below: item.nextElementSibling };
      },
      onEnd: ({ item }) => moved(item, from),
    });
  }
}

place.addEventListener("maia:leaves", ({ target }) => {
  for (const list of target.querySelectorAll(".lane-cards")) globalThis.Sortable?.get(list)?.destroy();
});
place.addEventListener("maia:parts", ready);
ready();

// By keyboard -----------------------------------------------------------------------------------------------------------

place.addEventListener("keydown", (event) => {
  const card = event.target.closest(".kcard");
  if (!card || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "m") card.querySelector("[data-record]").click();
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const cards = [...card.parentElement.children];
  const next = step ? cards[cards.indexOf(card) + step] : sideways(card, event.key);
  if (next) {
    event.preventDefault();
    next.querySelector("a").focus();
  }
});

/** The card at the same height in the next lane that has one. */
function sideways(card, key) {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
  if (!step) return null;
  const lanes = [...place.querySelectorAll(".lane:not([data-folded]) .lane-cards")].filter((each) => each.children.length);
  const lane = lanes[lanes.indexOf(card.parentElement) + step];
  const at = [...card.parentElement.children].indexOf(card);
  return lane?.children[Math.min(at, lane.children.length - 1)];
}

// A new card ------------------------------------------------------------------------------------------------------------

document.addEventListener("click", (event) => {
  if (event.target.closest("#new-card, [data-new-card]")) document.getElementById("new-dialog").showModal();
});
document.getElementById("new-dialog")?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const form = event.target;
  const project = filters.elements.project.value;
  const stageId = form.elements.stageId.value;
  const url = project ? `/api/v1/projects/${project}/conversations` : "/api/v1/conversations";
  const answer = await ask("POST", url, { title: form.elements.title.value.trim(), ...(stageId && { stageId }) });
  const problem = form.querySelector(".problem");
  problem.hidden = answer.ok;
  problem.textContent = answer.ok ? "" : said(answer);
  if (answer.ok) {
    form.reset();
    form.closest("dialog").close();
  }
});
