// Working without a mouse: `?` tells the keys, and the focus is never lost to what is drawn anew.
const help = document.getElementById("help");

// Help ------------------------------------------------------------------------------------------------------------------

/** Whether somebody writes there, so that a key is a letter. */
const isWritten = (element) => element.closest("input, textarea, select, [contenteditable], .xterm") !== null;

document.addEventListener("keydown", (event) => {
  if (event.key !== "?" || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (isWritten(event.target) || document.querySelector("dialog[open]")) return;
  event.preventDefault();
  help.togglePopover();
});

// Focus -----------------------------------------------------------------------------------------------------------------

/** What had the focus last, and the ids of what it stands in, the nearest first. */
let last = null;
let places = [];

document.addEventListener("focusin", ({ target }) => {
  last = target;
  places = [];
  for (let each = target.parentElement; each; each = each.parentElement) if (each.id) places.push(each.id);
});
// Whoever leaves a place on purpose is not brought back to it.
document.addEventListener("focusout", ({ target, relatedTarget }) => {
  if (relatedTarget) return;
  setTimeout(() => {
    const isLeft = target === last && target.isConnected && !target.disabled && target.checkVisibility();
    if (isLeft && document.hasFocus() && document.activeElement === document.body) last = null;
  });
});

const isThere = (element) => element?.isConnected && !element.disabled && element.checkVisibility({ checkVisibilityCSS: true });
const usable = "a[href], button, input:not([type=hidden]), select, textarea, summary";

/** Where to go on: the same thing drawn anew, else the first thing to use in the nearest place that is still there. */
function restore() {
  if (!last || document.activeElement !== document.body) return;
  if (last.isConnected && (last.disabled || !last.id)) {
    if (isThere(last)) last.focus({ preventScroll: true });
    if (last.disabled) return; // it is asked for, and comes back
  }
  const same = last.id && document.getElementById(last.id);
  if (isThere(same)) return same.focus({ preventScroll: true });
  for (const id of places) {
    const place = document.getElementById(id);
    const next = place && [...place.querySelectorAll(usable)].find(isThere);
    if (next) return next.focus({ preventScroll: true });
  }
  document.getElementById("main").focus({ preventScroll: true });
}

let asked = 0;
new MutationObserver(() => {
  if (!last || asked || document.activeElement !== document.body) return;
  asked = requestAnimationFrame(() => {
    asked = 0;
    restore();
  });
}).observe(document.body, { childList: true, subtree: true, attributeFilter: ["disabled", "hidden"] });
