// The page of terminal sessions: a button opens one as a conversation.
const csrf = document.querySelector('meta[name="csrf"]').content;
const refusal = document.getElementById("refusal");

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-session]");
  if (!button) return;
  button.disabled = true;
  refusal.replaceChildren();
  const body = { folder: button.closest("[data-folder]").dataset.folder, name: button.dataset.session };
  const headers = { "X-CSRF-Token": csrf, Accept: "application/json", "Content-Type": "application/json" };
  const send = { method: "POST", headers, body: JSON.stringify(body) };
  const answer = await fetch("/api/v1/terminal-sessions", send).catch(() => null);
  const data = await answer?.json().catch(() => ({}));
  if (answer?.ok) {
    location.assign(`/conversations/${data.conversationId}`);
    return;
  }
  const shown = document.getElementById("refusal-template").content.cloneNode(true);
  const title = shown.querySelector("b");
  title.textContent = data?.message ?? title.dataset.lost;
  refusal.replaceChildren(shown);
  button.disabled = false;
  button.focus();
});
