// What pages need beyond HTML: sending, stopping, renaming, preferences, and a stream that stays in view.
const csrf = document.querySelector('meta[name="csrf"]')?.content ?? "";
const scroll = document.getElementById("scroll");
const stream = document.getElementById("stream");

const flying = new Map();

/**
 * Ask the server; a refusal comes back as its words. The same thing asked while it is on its way is one (a double click).
 * `match` is the mark of what is changed: where it is another one by now, nothing is.
 */
function ask(method, url, body, match) {
  const what = JSON.stringify([method, url, body, match]);
  if (!flying.has(what)) flying.set(what, request(method, url, body, match).finally(() => flying.delete(what)));
  return flying.get(what);
}

async function request(method, url, body, match) {
  const headers = { "X-CSRF-Token": csrf, Accept: "application/json" };
  if (match) headers["If-Match"] = match;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let answer;
  try {
    answer = await fetch(url, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) });
  } catch {
    return { ok: false, status: 0, data: {} };
  }
  const data = answer.status === 204 ? {} : await answer.json().catch(() => ({}));
  return { ok: answer.ok, status: answer.status, data, mark: answer.headers.get("ETag") };
}
globalThis.maia = { ask, refuse };

// The reader's zone, so that the server writes their hours.
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
if (zone && !document.cookie.includes(`maia-zone=${zone}`)) {
  document.cookie = `maia-zone=${zone}; path=/; max-age=31536000; samesite=strict`;
}

// Composer ------------------------------------------------------------------------------------------------------------

for (const form of document.querySelectorAll("[data-composer]")) {
  const place = form.dataset.composer;
  const box = form.querySelector("textarea");
  if (place !== "new" && !stream.querySelector("article")) box.focus();
  const refusal = document.getElementById("refusal");
  const draft = `maia-draft-${place}`;
  box.value ||= sessionStorage.getItem(draft) ?? "";
  box.addEventListener("input", () => sessionStorage.setItem(draft, box.value));
  box.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      form.requestSubmit();
    }
  });
  let sending = false;
  // On Home the conversation begins with its first message or file; a reload finds those files again.
  const kept = place === "new" ? sessionStorage.getItem("maia-begun") : null;
  let begun = place === "new" ? null : place;
  const isFree = () => !sending && form.querySelector("#actions")?.dataset.running !== "yes";
  let beginning = null;
  form.begun = () => begun ?? kept;
  form.resume = (isThere) => (isThere ? (begun ??= kept) : begun || sessionStorage.removeItem("maia-begun"));
  form.conversation = async () => {
    if (begun) return begun;
    beginning ??= made(refusal, form).finally(() => (beginning = null));
    begun = await beginning;
    if (begun) sessionStorage.setItem("maia-begun", begun);
    return begun;
  };
  const holds = () => box.value.trim() || form.attached?.count;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (!isFree() || !holds()) return;
    sending = true;
    const all = (await form.attached?.settled()) ?? true;
    sending = false;
    if (all && holds()) send(box.value);
  });
  /** Where writing goes on once a card is gone; a finger that tapped it is not shown a keyboard. */
  const goOn = () => matchMedia("(pointer: coarse)").matches || box.focus();
  form.addEventListener("proposed", (event) => {
    if (!isFree()) return;
    goOn();
    send(event.detail, undefined, null);
  });
  const send = async (content, privacy, files = form.attached) => {
    sending = true;
    refusal.replaceChildren();
    if (box.value === content) box.value = "";
    const isEarlier = place === "new" && begun !== null; // by a file: what was chosen since then counts
    const id = await form.conversation();
    const settled = isEarlier ? await ask("PATCH", `/api/v1/conversations/${id}`, chosenIn(form)) : { ok: Boolean(id) };
    const attachments = files?.ids() ?? [];
    const message = { content, privacy, attachments };
    const sent = id && (settled.ok ? await ask("POST", `/api/v1/conversations/${id}/messages`, message) : settled);
    sending = false;
    if (sent && sent.ok) {
      if (!box.value) sessionStorage.removeItem(draft);
      sessionStorage.removeItem("maia-begun");
      files?.sent();
      if (place === "new") location.assign(`/conversations/${id}`);
      else scroll.scrollTop = scroll.scrollHeight;
      return;
    }
    if (sent && sent.data.code === "privacy_blocked") {
      sessionStorage.removeItem(draft);
      choose(refusal, sent, {
        mask: () => {
          goOn();
          send(content, "mask", files);
        },
        edit: () => {
          box.value = content;
          sessionStorage.setItem(draft, content);
          box.focus();
        },
        discard: () => {
          leaveNothing();
          box.focus();
        },
      });
      return;
    }
    box.value = box.value ? `${content}\n${box.value}` : content; // what was typed meanwhile stays as well
    sessionStorage.setItem(draft, box.value);
    if (sent) refuse(refusal, sent);
    if (sent?.status === 409) form.attached?.again();
    if (sent?.status) leaveNothing();
    else if (sent && place === "new") sessionStorage.setItem(`maia-draft-${id}`, content); // it may have arrived
    box.focus();
  };
  /** A conversation on Home whose first message was not taken, and that holds no file, is taken back. */
  const leaveNothing = () => {
    if (place !== "new" || !begun || form.attached?.count) return;
    ask("DELETE", `/api/v1/conversations/${begun}`);
    sessionStorage.removeItem("maia-begun");
    begun = null;
  };
}

/** A message with protected data: what types, never the values, and the three ways on. */
function choose(place, answer, ways) {
  const shown = document.getElementById("privacy-template").content.cloneNode(true);
  shown.querySelector("b").textContent = answer.data.message;
  for (const button of shown.querySelectorAll("[data-privacy]")) {
    button.addEventListener("click", () => {
      place.replaceChildren();
      ways[button.dataset.privacy]();
    });
  }
  place.replaceChildren(shown);
  place.querySelector("button").focus();
}

/** The fields of a new conversation that Home offers. */
function chosenIn(form) {
  return Object.fromEntries([...form.querySelectorAll("select[name]")].map((each) => [each.name, each.value || null]));
}

/** Begin a conversation with what was chosen beside its first message. */
async function made(refusal, form) {
  const fields = Object.entries(chosenIn(form)).filter(([, value]) => value);
  const answer = await ask("POST", "/api/v1/conversations", Object.fromEntries(fields));
  if (!answer.ok) refuse(refusal, answer);
  return answer.ok ? answer.data.id : null;
}

/** Show why a message was not taken: the server's words, and the status as a detail; of another change the words alone. */
function refuse(place, answer, isMessage = true) {
  const template = document.getElementById("refusal-template");
  const shown = template.content.cloneNode(true);
  const title = shown.querySelector("b");
  if (!answer.status) title.textContent = title.dataset.lost;
  else if (isMessage) title.textContent = title.dataset.refused.replace("{n}", answer.status);
  else title.textContent = answer.data.message ?? title.dataset.lost;
  shown.querySelector("span").textContent = isMessage ? (answer.data.message ?? "") : "";
  const way = shown.querySelector(".error-actions a");
  const isOut = answer.status === 401;
  const settings = "manages" in way.dataset && answer.data.settings;
  shown.querySelector(".error-actions").hidden = !isOut && !settings;
  if (settings) way.href = settings;
  if (isOut) {
    way.textContent = way.dataset.signIn;
    way.href = `/signin?next=${encodeURIComponent(location.pathname + location.search)}`;
  }
  place.replaceChildren(shown);
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  if (stream && (button.id === "stop" || "stop" in button.dataset)) {
    button.disabled = true;
    const answer = await ask("POST", `/api/v1/conversations/${stream.dataset.conversation}/stop`);
    button.disabled = answer.ok;
    if (!answer.ok) refuse(document.getElementById("refusal"), answer, false);
  } else if (button.id === "new-conversation") {
    const answer = await ask("POST", "/api/v1/conversations", {});
    if (answer.ok) location.assign(`/conversations/${answer.data.id}`);
    else globalThis.maia.tell(globalThis.maia.said(answer), { tone: "danger" });
  } else if (button.id === "sign-out") {
    const answer = await ask("DELETE", "/api/v1/session");
    if (answer.ok || answer.status === 401) location.assign("/signin");
    else globalThis.maia.tell(globalThis.maia.said(answer), { tone: "danger" });
  } else if (button.dataset.prefer) {
    const answer = await ask("PATCH", "/api/v1/session/preferences", { [button.dataset.prefer]: button.dataset.value || null });
    if (answer.ok) location.reload();
    else globalThis.maia.tell(globalThis.maia.said(answer), { tone: "danger" });
  } else if (button.dataset.decide) {
    decide(button);
  } else if (button.dataset.say) {
    propose(button.dataset.say);
  } else if (button.id === "title") {
    rename(button);
  }
});

// Approvals -----------------------------------------------------------------------------------------------------------

/** Approve or refuse a call; the card in a conversation changes by the stream, the page of approvals is read again. */
async function decide(button) {
  const place = button.closest(".card, #request, .item");
  const buttons = place.querySelectorAll("[data-decide]");
  buttons.forEach((each) => (each.disabled = true));
  const decision = button.dataset.decide === "approved" ? "approve" : "refuse";
  const answer = await ask("POST", `/api/v1/approvals/${button.dataset.ticket}`, { decision });
  if (answer.ok && place.id === "request") {
    location.assign(`/approvals/${button.dataset.ticket}`);
    return;
  }
  if (answer.ok) return;
  const problem = place.querySelector(".problem");
  problem.textContent = answer.data.message ?? document.querySelector("#refusal-template").content.querySelector("b").dataset.lost;
  problem.hidden = false;
  const isSettled = [403, 404, 409].includes(answer.status);
  if (!isSettled) buttons.forEach((each) => (each.disabled = false));
}

/** Send a message that a button proposes; what is being typed stays where it is. */
function propose(words) {
  document.getElementById("message")?.form.dispatchEvent(new CustomEvent("proposed", { detail: words }));
}

// Days --------------------------------------------------------------------------------------------------------------

document.addEventListener("click", async ({ target }) => {
  const button = target.closest("[data-day-open]");
  if (button) (await import(button.dataset.dayOpen)).open(button);
});
document.addEventListener("input", ({ target }) => {
  const shown = target.hidden && target.parentElement.querySelector("[data-day]");
  if (!shown) return;
  const written = { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" };
  const day = new Intl.DateTimeFormat(document.documentElement.lang, written);
  shown.textContent = target.value ? day.format(new Date(target.value)) : shown.dataset.none;
});

// Title ---------------------------------------------------------------------------------------------------------------

/** Edit the title in its place; one that was refused stays as it was typed, until Escape. */
function rename(button) {
  const input = document.createElement("input");
  input.className = "input title-input";
  input.maxLength = 200;
  input.value = button.dataset.typed ?? button.dataset.title;
  input.setAttribute("aria-label", button.title);
  let isEnding = false;
  const end = async (keep, isAsked = true) => {
    if (isEnding) return;
    isEnding = true;
    const title = input.value.trim();
    input.replaceWith(button);
    const refused = button.dataset.typed;
    if (!keep) delete button.dataset.typed;
    else if (title && title !== button.dataset.title && (isAsked || title !== refused)) {
      const answer = await ask("PATCH", `/api/v1/conversations/${stream.dataset.conversation}`, { title });
      if (answer.ok) {
        const shown = document.getElementById("title");
        delete shown.dataset.typed;
        document.getElementById("refusal").replaceChildren();
        shown.textContent = shown.dataset.title = answer.data.title;
        document.title = `${answer.data.title} · maia`;
      } else {
        refuse(document.getElementById("refusal"), answer, false);
        const shown = document.getElementById("title");
        if (answer.status !== 404) {
          shown.dataset.typed = title;
          return rename(shown);
        }
      }
    }
    document.getElementById("title")?.focus();
  };
  input.addEventListener("keydown", (event) => {
    if (event.isComposing || !["Enter", "Escape"].includes(event.key)) return;
    event.preventDefault(); // else the same Enter presses the button that stands here again
    end(event.key === "Enter");
  });
  input.addEventListener("blur", () => end(true, false));
  button.replaceWith(input);
  input.focus();
  input.select();
}

// Gone --------------------------------------------------------------------------------------------------------------

/** Nothing more comes to this page: why stands above the composer, and what was typed stays in it. */
function over(answer, told) {
  document.getElementById("live")?.remove();
  document.getElementById("offline").hidden = true;
  const refusal = document.getElementById("refusal");
  if (told) refusal.replaceChildren(told);
  else refuse(refusal, answer, false);
  document.querySelectorAll("[data-composer] button, [data-composer] textarea").forEach((each) =>
    each.tagName === "TEXTAREA" ? (each.readOnly = true) : each.closest("#refusal") || (each.disabled = true),
  );
}

/** The conversation was deleted elsewhere, or its reader may not see it any more. */
function gone() {
  if (document.getElementById("gone")) return;
  over(null, document.getElementById("gone-template").content.cloneNode(true));
  document.querySelector("[data-bring-back]").addEventListener("click", async () => {
    const answer = await ask("POST", `/api/v1/conversations/${stream.dataset.conversation}/restore`);
    if (answer.ok) location.reload();
    else globalThis.maia.tell(globalThis.maia.said(answer), { tone: "danger" });
  });
  const waits = new EventSource(`/ui/back?conversation=${encodeURIComponent(stream.dataset.conversation)}`);
  waits.addEventListener("back", () => location.reload());
}

// The stream ----------------------------------------------------------------------------------------------------------

if (scroll && stream) {
  let follows = true;
  const toEnd = () => (scroll.scrollTop = scroll.scrollHeight);
  scroll.addEventListener("scroll", () => {
    follows = scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight < 80;
  });
  new ResizeObserver(() => follows && toEnd()).observe(scroll.firstElementChild); // the turns, and the cards below them
  toEnd();
  const line = document.getElementById("offline");
  document.addEventListener("htmx:sse:error", async () => {
    line.hidden = false;
    const answer = await ask("GET", `/api/v1/conversations/${stream.dataset.conversation}`);
    if (answer.status === 404) gone();
    else if (answer.status === 401) over(answer);
  });
  document.getElementById("live").addEventListener("gone", () => gone());
  document.addEventListener("htmx:sse:after:connection", () => (line.hidden = true));
  document.addEventListener("htmx:sse:after:message", () => {
    const title = document.getElementById("title")?.dataset.title;
    if (title) document.title = `${title} · maia`;
  });
}
