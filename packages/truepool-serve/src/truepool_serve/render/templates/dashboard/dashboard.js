// The same page again, unless somebody reads with the keyboard or selects words.
const state = document.getElementById("state");
function reading() {
  return document.activeElement?.closest("main") || !getSelection().isCollapsed;
}
async function refresh() {
  if (document.hidden) return;
  if (reading()) {
    state.textContent = "Paused while you read; click beside the tables to go on.";
    return;
  }
  try {
    const answer = await fetch(location.href, { cache: "no-store", credentials: "same-origin" });
    if (!answer.ok) throw new Error(answer.status);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    document.title = page.title;
    for (const part of ["header", "main"]) {
      document.querySelector(part).replaceWith(page.querySelector(part));
    }
    state.className = "";
    state.textContent = "";
  } catch {
    state.className = "stale";
    state.textContent = "The coordinator does not answer; these numbers are old.";
  }
}
setInterval(refresh, 5000);
