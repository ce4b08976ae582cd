// OpenCode's terminal beside a conversation: loaded when somebody opens it, with xterm.js.
const { ask } = globalThis.maia;
const icon = document.getElementById("opencode-open");
const panel = document.getElementById("opencode");
const rail = document.getElementById("rail");
const panes = rail.closest(".panes");
const part = (name) => panel.querySelector(name);
const [screen, saying, go, place, left] = [".shell-screen", ".shell-said", "[data-shell=go]", ".shell-place", ".shell-left"].map(part);
const larger = part("[data-shell=larger]");

const LONGEST_PASTE = 1_000_000;
const PIECE = 32_768;
const TELL_EVERY = 65_536;
const LONGEST_FAREWELL = 2_000;

/** In place of the elements into which xterm.js writes styles: our content policy takes a style sheet from a script alone. */
class AdoptedStyle extends HTMLElement {
  #sheet = new CSSStyleSheet();

  connectedCallback() {
    document.adoptedStyleSheets.push(this.#sheet);
  }

  disconnectedCallback() {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((each) => each !== this.#sheet);
  }

  set textContent(rules) {
    this.#sheet.replaceSync(rules);
  }
}

let loading = null;
/** xterm.js and the styles, once. */
function loaded() {
  loading ??= load().catch((error) => {
    loading = null;
    throw error;
  });
  return loading;
}

async function load() {
  if (!customElements.get("adopted-style")) customElements.define("adopted-style", AdoptedStyle);
  const styles = panel.dataset.styles.split(" ").map(
    (href) =>
      new Promise((resolve, reject) => {
        const link = Object.assign(document.createElement("link"), { rel: "stylesheet", href, onload: resolve, onerror: reject });
        document.head.append(link);
      }),
  );
  const [{ Terminal }, { FitAddon }] = await Promise.all([import(panel.dataset.terminal), import(panel.dataset.fit), ...styles]);
  return { Terminal, FitAddon };
}

// Colours -------------------------------------------------------------------------------------------------------------

const NAMES = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];
const bright = (name) => `bright${name[0].toUpperCase()}${name.slice(1)}`;

/** The colours of the page in the form that xterm.js reads. */
function theme() {
  const brush = Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext("2d", { willReadFrequently: true });
  const probe = document.createElement("i");
  panel.append(probe);
  const colour = (name) => {
    probe.style.color = `var(--${name})`;
    brush.clearRect(0, 0, 1, 1);
    brush.fillStyle = getComputedStyle(probe).color;
    brush.fillRect(0, 0, 1, 1);
    return `#${[...brush.getImageData(0, 0, 1, 1).data].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
  };
  const ansi = NAMES.flatMap((name) => [[name, colour(`ansi-${name}`)], [bright(name), colour(`ansi-bright-${name}`)]]);
  const shown = { background: "surface", foreground: "text", cursor: "accent", cursorAccent: "surface", selectionBackground: "shell-chosen" };
  const own = Object.entries(shown).map(([name, token]) => [name, colour(token)]);
  probe.remove();
  return Object.fromEntries([...ansi, ...own]);
}

// The panel -----------------------------------------------------------------------------------------------------------

/** What there is to say, and what may be done about it. */
function say(words, label = "", action = null) {
  saying.textContent = words;
  go.hidden = !action;
  go.textContent = label;
  go.onclick = action;
}

function describe({ folder, leftOut }) {
  place.hidden = false;
  place.querySelector(".mono").textContent = place.title = folder;
  left.hidden = leftOut.length === 0;
  left.querySelector("ul").replaceChildren(
    ...leftOut.map(({ path, message }) => {
      const item = document.createElement("li");
      const name = Object.assign(document.createElement("code"), { textContent: path });
      item.append(name, ` ${message}`);
      return item;
    }),
  );
}

function show(isOpen) {
  panel.hidden = !isOpen;
  icon.setAttribute("aria-expanded", String(isOpen));
  if (isOpen) panes.dataset.rail = larger.getAttribute("aria-pressed") === "true" ? "shell-large" : "shell";
  else delete panes.dataset.rail;
}

// Told to screen readers where somebody asks for it: xterm.js then takes no text that a keyboard puts in by other ways.
const reader = part("[data-shell=reader]");
const isRead = () => localStorage.getItem("maia-shell-reader") === "yes";
reader.setAttribute("aria-pressed", String(isRead()));
reader.addEventListener("click", () => {
  localStorage.setItem("maia-shell-reader", isRead() ? "no" : "yes");
  reader.setAttribute("aria-pressed", String(isRead()));
  now?.read(isRead());
  now?.focus();
});

let now = null;
let begun = 0;
let ended = Promise.resolve();

/** Nothing of what was begun goes on; what is begun next waits until the server knows that. */
function leave() {
  begun += 1;
  if (now) ended = now.end();
  now = null;
}

/** Open the panel, or close it with its terminal. */
export async function toggle() {
  const isSheet = getComputedStyle(rail).position === "fixed" || getComputedStyle(rail).display === "none";
  if (!panel.hidden && !(isSheet && !rail.matches(":popover-open"))) {
    close();
    return;
  }
  const isNew = panel.hidden;
  show(true);
  if (isSheet && !rail.matches(":popover-open")) rail.showPopover();
  if (isNew) await begin();
  else now?.focus();
}

function close() {
  leave();
  show(false);
  icon.focus();
}

async function begin() {
  leave();
  const mine = begun;
  say(panel.dataset.starting);
  const again = () => begin();
  await ended;
  if (mine !== begun) return;
  const [answer, kit] = await Promise.all([
    ask("POST", "/api/v1/opencode/sessions", { conversationId: rail.dataset.conversation }),
    loaded().catch(() => null),
  ]);
  if (mine !== begun) return;
  if (!answer.ok || !kit) {
    const words = [answer.data.message ?? panel.dataset.lost, answer.data.remedy].filter(Boolean).join(" ");
    say(words, panel.dataset.again, again);
    return;
  }
  describe(answer.data);
  const connect = () => (now = session(kit, answer.data.line, again));
  if (!answer.data.isOpen) {
    connect();
    return;
  }
  say(panel.dataset.elsewhere, panel.dataset.here, connect);
  go.focus();
}

// One terminal --------------------------------------------------------------------------------------------------------

/** A terminal on a line to the server. `again` opens another one when it is over. */
function session({ Terminal, FitAddon }, line, again) {
  const css = getComputedStyle(panel);
  const terminal = new Terminal({
    fontFamily: css.getPropertyValue("--mono"),
    fontSize: Number.parseFloat(css.fontSize) * 0.9,
    theme: theme(),
    minimumContrastRatio: 4.5,
    cursorBlink: !matchMedia("(prefers-reduced-motion: reduce)").matches,
    scrollback: 5_000,
    macOptionIsMeta: true,
    screenReaderMode: isRead(),
  });
  const fit = new FitAddon();
  terminal.loadAddon(fit);
  screen.replaceChildren();
  terminal.open(screen);
  fit.fit();
  terminal.textarea.setAttribute("aria-label", document.getElementById("opencode-title").textContent);
  terminal.textarea.setAttribute("aria-describedby", "opencode-keys");
  terminal.attachCustomKeyEventHandler(keys(terminal));

  const address = new URL(`${line}?columns=${terminal.cols}&rows=${terminal.rows}`, location.href);
  address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
  const socket = new WebSocket(address);
  socket.binaryType = "arraybuffer";
  const tell = (message) => socket.readyState === WebSocket.OPEN && socket.send(JSON.stringify(message));
  const type = (bytes) => {
    for (let at = 0; at < bytes.length && socket.readyState === WebSocket.OPEN; at += PIECE) socket.send(bytes.subarray(at, at + PIECE));
  };
  terminal.onData((text) => {
    const bytes = new TextEncoder().encode(text);
    if (bytes.length > LONGEST_PASTE) say(panel.dataset.pasted);
    else type(bytes);
  });
  terminal.onBinary((text) => type(Uint8Array.from(text, (each) => each.charCodeAt(0))));
  terminal.onResize(({ cols, rows }) => tell({ type: "resize", columns: cols, rows }));
  let isEnded = false;
  const resizing = new ResizeObserver(() => requestAnimationFrame(() => screen.clientHeight && !isEnded && fit.fit()));
  resizing.observe(screen);
  const scheme = matchMedia("(prefers-color-scheme: dark)");
  const repaint = () => (terminal.options.theme = theme());
  scheme.addEventListener("change", repaint);
  const alive = setInterval(() => tell({ type: "ping" }), 15_000);

  let unsaid = 0;
  const seen = (count) => {
    unsaid += count;
    if (unsaid < TELL_EVERY) return;
    tell({ type: "seen", bytes: unsaid });
    unsaid = 0;
  };
  let isOver = false;
  const over = (words) => {
    if (isOver) return;
    isOver = true;
    clearInterval(alive);
    terminal.options.disableStdin = true;
    terminal.options.cursorBlink = false;
    const hadFocus = screen.contains(document.activeElement);
    say(words, panel.dataset.again, again);
    if (hadFocus) go.focus();
  };
  let isBlank = true;
  const drawn = () => {
    const { active } = terminal.buffer;
    isBlank = !Array.from({ length: terminal.rows }, (_, row) => active.getLine(active.baseY + row)).some((each) => each?.translateToString(true));
    if (!isBlank && saying.textContent === panel.dataset.starting) say("");
  };
  socket.onopen = () => {
    say(panel.dataset.starting);
    terminal.focus();
  };
  socket.onmessage = ({ data }) => {
    if (typeof data !== "string") {
      terminal.write(new Uint8Array(data), () => {
        seen(data.byteLength);
        if (isBlank) drawn();
      });
      return;
    }
    const message = JSON.parse(data);
    if (message.type === "over") over(message.message);
    else say(message.message);
  };
  const closed = new Promise((resolve) => {
    socket.onclose = ({ code }) => {
      over(code === 1012 ? panel.dataset.stopping : panel.dataset.lost);
      resolve();
    };
  });
  return {
    focus: () => terminal.focus(),
    read: (isOn) => (terminal.options.screenReaderMode = isOn),
    end() {
      isOver = isEnded = true;
      clearInterval(alive);
      scheme.removeEventListener("change", repaint);
      resizing.disconnect();
      socket.close();
      terminal.dispose();
      return Promise.race([closed, new Promise((resolve) => setTimeout(resolve, LONGEST_FAREWELL))]);
    },
  };
}

/** Keys that are the page's and not the program's: the way out, copying what is chosen, pasting. */
function keys(terminal) {
  return (event) => {
    const key = event.key.toLowerCase();
    const control = event.ctrlKey && !event.altKey && !event.metaKey;
    if (event.key === "F6") {
      if (event.type === "keydown") part(event.shiftKey ? "[data-shell=larger]" : "[data-shell=close]").focus();
      event.preventDefault();
      return false;
    }
    if (control && key === "v") return false;
    if (!control || key !== "c" || !(event.shiftKey || terminal.hasSelection())) return true;
    if (event.type === "keydown" && terminal.hasSelection()) {
      document.execCommand("copy");
      terminal.clearSelection();
    }
    event.preventDefault();
    return false;
  };
}

part("[data-shell=close]").addEventListener("click", close);
larger.addEventListener("click", () => {
  larger.setAttribute("aria-pressed", String(larger.getAttribute("aria-pressed") !== "true"));
  show(true);
  now?.focus();
});
panel.addEventListener("keydown", (event) => {
  if (event.key !== "F6" || event.defaultPrevented || !now) return;
  event.preventDefault();
  now.focus();
});
