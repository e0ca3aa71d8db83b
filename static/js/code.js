// While the drawer with the page's code is open, the lines of a form follow what is typed into it. A
// dialog is over the drawer, and has the lines of its forms below them.
(() => {
  "use strict";

  const drawer = document.querySelector("[data-as-code]");
  if (!drawer) return;
  const edited = new Set();
  const writing = new WeakMap();

  // Secrets are sent only as filled in or not. Files and the nonce, which sends the form, are not sent.
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

  const inDialog = (form) => form.closest("#dialog-body") !== null;
  const readable = (form) =>
    inDialog(form) ? document.querySelector("[data-panel-code][open]") !== null : drawer.matches(":popover-open");

  const write = async (form) => {
    const query = new URLSearchParams({ form: form.getAttribute("action") });
    if (inDialog(form)) query.set("in", "panel-code");
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

  const writeEdited = () => {
    edited.forEach((form) => {
      if (form.isConnected && !readable(form)) return;
      edited.delete(form);
      if (form.isConnected) write(form);
    });
  };

  const follow = (event) => {
    const form = event.target.form;
    if (!form?.matches("main form[method=post], #dialog-body form[method=post]")) return;
    edited.add(form);
    clearTimeout(writing.get(form));
    if (!readable(form)) return;
    writing.set(form, setTimeout(() => write(form), 200));
  };
  document.addEventListener("input", follow);
  document.addEventListener("change", follow);
  drawer.addEventListener("toggle", (event) => {
    if (event.newState !== "open") return;
    writeEdited();
    drawer.querySelector("button").focus();
  });
  document.addEventListener(
    "toggle",
    (event) => {
      if (event.target.matches("details[data-panel-code][open]")) writeEdited();
    },
    true,
  );
  document.addEventListener("keydown", (event) => {
    if (document.querySelector("dialog[open]")) return; // it is what closes
    if (event.key === "Escape" && drawer.matches(":popover-open")) drawer.hidePopover();
  });
})();
