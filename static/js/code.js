// While the drawer with the page's code is open, the lines of a form follow what is typed into it.
(() => {
  "use strict";

  const drawer = document.querySelector("[data-as-code]");
  if (!drawer) return;
  const edited = new Set();
  const writing = new WeakMap();

  // Of secrets only that they are filled in is sent, and neither files nor the nonce, which sends
  // the form.
  const typedInto = (form) => {
    const submitter = form.querySelector("button[name]:not([type=button])");
    const typed = new FormData(form);
    if (submitter && !typed.has(submitter.name)) typed.append(submitter.name, submitter.value);
    const body = new URLSearchParams();
    for (const [name, value] of typed) {
      const found = form.elements.namedItem(name);
      const field = found instanceof RadioNodeList ? found[0] : found;
      if (typeof value !== "string" || field?.matches("[data-nonce]")) continue;
      const secret = field?.matches("[type=password], [name=private_key], [name*=secret]");
      body.append(name, secret && value ? "SECRET" : value);
    }
    return body;
  };

  const write = async (form) => {
    const query = new URLSearchParams({ form: form.getAttribute("action") });
    const answer = await fetch(`/as-code?${query}`, { method: "POST", body: typedInto(form) }).catch(() => null);
    if (answer?.status !== 200) return;
    const arrived = document.createElement("template");
    arrived.innerHTML = await answer.text();
    const lines = arrived.content.firstElementChild;
    const shown = document.getElementById(lines.id);
    if (!shown) return;
    shown.replaceWith(lines);
    lines.dispatchEvent(new CustomEvent("as-code:written", { bubbles: true }));
  };

  const follow = (event) => {
    const form = event.target.form;
    if (!form?.matches("main form[method=post]")) return;
    edited.add(form);
    clearTimeout(writing.get(form));
    if (!drawer.matches(":popover-open")) return;
    writing.set(form, setTimeout(() => write(form), 200));
  };
  document.addEventListener("input", follow);
  document.addEventListener("change", follow);
  drawer.addEventListener("toggle", (event) => {
    if (event.newState !== "open") return;
    edited.forEach((form) => form.isConnected && write(form));
    edited.clear();
    drawer.querySelector("button").focus();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && drawer.matches(":popover-open")) drawer.hidePopover();
  });
})();
