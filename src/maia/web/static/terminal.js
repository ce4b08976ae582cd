// The page of terminal sessions: a button opens one as a conversation.
const { ask, refuse } = globalThis.maia;
const refusal = document.getElementById("refusal");

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-session]");
  if (!button) return;
  button.disabled = true;
  refusal.replaceChildren();
  const { folder } = button.closest("[data-folder]").dataset;
  const answer = await ask("POST", "/api/v1/terminal-sessions", { folder, name: button.dataset.session });
  if (answer.ok) return location.assign(`/conversations/${answer.data.conversationId}`);
  refuse(refusal, answer, false);
  button.disabled = false;
  button.focus();
});
