// The page of approvals stays true: what waits, and what became of the request that it shows, are read again.
const count = () => document.getElementById("count-autonomy").value;
let shown = count();

document.addEventListener("maia:nav", async () => {
  if (count() === shown) return;
  shown = count();
  const answer = await fetch(location.href, { headers: { Accept: "text/html" } }).catch(() => null);
  if (!answer?.ok) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  document.getElementById("main").replaceChildren(...fresh.getElementById("main").childNodes);
});
