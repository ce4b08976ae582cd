// Files in the composer: chosen, dropped or pasted, sent up at once, kept by the server until the message goes.
const csrf = document.querySelector('meta[name="csrf"]')?.content ?? "";
const AT_ONCE = 3;

for (const form of document.querySelectorAll("[data-composer]")) {
  const tray = form.querySelector(".tray");
  if (tray) form.attached = attached(form, tray);
}

/** What the composer asks: how many files there are, whether all are here, and their ids. */
function attached(form, tray) {
  const words = tray.dataset;
  const places = ["[data-files]", "[data-tray-said]", "[data-tray-told]", "[data-blind]"];
  const [input, said, told, blind] = places.map((each) => form.querySelector(each));
  const template = form.querySelector("[data-tray-item]").content;
  const items = new Set();
  let going = 0;

  const fill = (text, name) => text.replace("{name}", name);
  /** What a person must know; what only somebody who does not see the line must know is `told`. */
  const tell = (text) => {
    said.hidden = !text;
    said.querySelector("span").textContent = text;
  };

  // One file: waiting to go up, going up, being looked at, here, or failed.
  function add(name, size, file) {
    const line = template.firstElementChild.cloneNode(true);
    const item = { name, file, line, id: null, state: "queued", request: null };
    line.querySelector(".tray-name").textContent = line.querySelector(".tray-name").title = name;
    line.dataset.size = size;
    items.add(item);
    tray.append(line);
    line.addEventListener("click", (event) => {
      const act = event.target.closest("[data-act]")?.dataset.act;
      if (act === "retry") retry(item);
      if (act === "remove") remove(item);
    });
    return item;
  }

  function draw(item, state, detail = "") {
    item.state = state;
    item.line.dataset.state = state;
    item.line.querySelector("small").textContent = detail;
    item.line.querySelector("progress").hidden = state !== "going" && state !== "queued";
    const [again, away] = item.line.querySelectorAll("[data-act]");
    again.hidden = state !== "failed" || !item.file;
    again.setAttribute("aria-label", fill(words.retry, item.name));
    away.setAttribute("aria-label", fill(state === "here" || state === "failed" ? words.remove : words.cancel, item.name));
    changed();
  }

  function changed() {
    tray.hidden = items.size === 0;
    const see = document.getElementById("picker")?.dataset.blind;
    blind.hidden = !(see && [...items].some((item) => item.isImage));
    blind.querySelector("span").textContent = see ?? "";
    form.dispatchEvent(new CustomEvent("files"));
  }

  function here(item, data) {
    Object.assign(item, { id: data.id, name: data.name, file: null, request: null, isImage: data.kind === "image" });
    const name = item.line.querySelector(".tray-name");
    name.textContent = name.title = data.name;
    if (item.isImage) {
      const image = Object.assign(document.createElement("img"), { src: `/api/v1/attachments/${data.id}/thumbnail`, alt: "" });
      item.line.querySelector(".tray-sign").replaceChildren(image);
    }
    draw(item, "here", size(data.size));
  }

  function next() {
    for (const item of items) {
      if (going >= AT_ONCE) return;
      if (item.state === "queued") send(item);
    }
  }

  async function send(item) {
    going += 1;
    draw(item, "going");
    const id = await form.conversation();
    if (!items.has(item)) {
      going -= 1;
      next();
    } else if (!id) over(item, null);
    else post(item, `/api/v1/conversations/${id}/attachments?name=${encodeURIComponent(whole(item.name))}`);
  }

  function post(item, url) {
    const request = (item.request = new XMLHttpRequest());
    const bar = item.line.querySelector("progress");
    request.open("POST", url);
    request.setRequestHeader("X-CSRF-Token", csrf);
    request.setRequestHeader("Accept", "application/json");
    request.responseType = "json";
    request.upload.addEventListener("progress", (event) => {
      if (event.lengthComputable) bar.value = event.loaded / event.total;
    });
    request.upload.addEventListener("load", () => {
      bar.removeAttribute("value");
      item.line.querySelector("small").textContent = words.reading;
    });
    request.addEventListener("loadend", () => over(item, request));
    request.send(item.file);
  }

  function over(item, request) {
    going -= 1;
    if (items.has(item)) {
      if (request?.status === 201) {
        here(item, request.response);
        told.textContent = fill(words.sentUp, item.name);
      } else draw(item, "failed", request?.response?.message ?? words.lost);
    } else if (request?.status === 201) forget(request.response.id);
    next();
  }

  function retry(item) {
    if (!item.file) return;
    draw(item, "queued");
    next();
  }

  function remove(item) {
    const beside = item.line.nextElementSibling ?? item.line.previousElementSibling;
    items.delete(item);
    item.line.remove();
    item.request?.abort();
    if (item.id) forget(item.id);
    (beside?.querySelector("[data-act=remove]") ?? form.querySelector("[data-attach]")).focus();
    changed();
  }

  const forget = (id) => globalThis.maia.ask("DELETE", `/api/v1/attachments/${id}`);

  // What comes: at most as many as may go with one message, each with its own refusal.
  function take(files) {
    const room = Math.max(0, Number(words.most) - items.size);
    const chosen = [...files].slice(0, room);
    tell(files.length > room ? said.dataset.crowd : "");
    for (const file of chosen) {
      const item = add(file.name, file.size, file);
      const why = file.size > Number(words.largest) ? words.tooLarge : file.size === 0 ? words.empty : "";
      if (why) item.file = null;
      draw(item, why ? "failed" : "queued", why);
    }
    next();
  }

  form.querySelector("[data-attach]").addEventListener("click", () => input.click());
  input.addEventListener("change", () => {
    take(input.files);
    input.value = "";
  });
  form.querySelector("textarea").addEventListener("paste", (event) => {
    const data = event.clipboardData;
    if (!data.files.length || data.types.includes("text/plain")) return;
    event.preventDefault();
    take(data.files);
  });
  let inside = 0;
  const holds = (event) => event.dataTransfer?.types.includes("Files");
  document.addEventListener("dragenter", (event) => holds(event) && ((inside += 1), (form.dataset.drop = "yes")));
  document.addEventListener("dragleave", (event) => holds(event) && (inside -= 1) <= 0 && delete form.dataset.drop);
  document.addEventListener("dragover", (event) => holds(event) && event.preventDefault());
  document.addEventListener("drop", (event) => {
    if (!holds(event)) return;
    event.preventDefault();
    inside = 0;
    delete form.dataset.drop;
    const entries = [...event.dataTransfer.items].map((each) => each.webkitGetAsEntry?.());
    const files = [...event.dataTransfer.files].filter((_, n) => !entries[n]?.isDirectory);
    take(files);
    if (entries.some((each) => each?.isDirectory)) tell(words.folder);
  });
  const picker = document.querySelector(".topbar");
  if (picker) new MutationObserver(changed).observe(picker, { childList: true, subtree: true });

  // What the server keeps: after a reload, and when a person comes back from another tab.
  async function again() {
    const id = form.begun?.();
    if (!id || [...items].some((item) => item.state !== "here")) return;
    const answer = await globalThis.maia.ask("GET", `/api/v1/conversations/${id}/attachments`);
    if (!answer.ok) form.resume(false);
    if (!answer.ok || [...items].some((item) => item.state !== "here")) return;
    const waiting = answer.data.attachments.filter((each) => each.turn === null && each.origin === "person");
    for (const item of items) {
      if (waiting.some((each) => each.id === item.id)) continue;
      items.delete(item);
      item.line.remove();
    }
    form.resume(waiting.length > 0);
    const known = new Set([...items].map((item) => item.id));
    for (const each of waiting) if (!known.has(each.id)) here(add(each.name, each.size, null), each);
    changed();
  }
  document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && again());
  again();

  return {
    get count() {
      return items.size;
    },
    /** Once nothing is on its way: whether all are here. What failed is told, and is not left out in silence. */
    async settled() {
      while ([...items].some((item) => item.state === "going" || item.state === "queued"))
        await new Promise((done) => form.addEventListener("files", done, { once: true }));
      const all = [...items].every((item) => item.state === "here");
      tell(all ? "" : said.dataset.failed);
      return all;
    },
    ids: () => [...items].filter((item) => item.id).map((item) => item.id),
    sent() {
      items.clear();
      tray.replaceChildren();
      tell("");
      changed();
    },
    again,
  };
}

/** A name that can stand in an address: half a character at its end cannot. */
const whole = (name) => name.toWellFormed?.() ?? name.replace(/[\ud800-\udfff]/g, "");

/** As the server writes it: `84 ko`, `1.5 MB`. */
function size(bytes) {
  const lang = document.documentElement.lang;
  const step = bytes < 1000 ? 0 : bytes < 1e6 ? 1 : 2;
  const unit = { fr: ["o", "ko", "Mo"], en: ["B", "kB", "MB"] }[lang][step];
  const shown = bytes / 1000 ** step;
  const digits = { maximumFractionDigits: step && shown < 100 ? 1 : 0 };
  return `${new Intl.NumberFormat(lang, digits).format(shown)}\u00a0${unit}`;
}
