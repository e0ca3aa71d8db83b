// What forms show before they are sent: the name that is made of a text, and a question before
// changes are lost.
(() => {
  "use strict";

  // As core/contract makes names.
  const isName = (text) => /^[a-z][a-z0-9-]{0,38}[a-z0-9]$/.test(text);
  const slug = (text) => {
    if (isName(text)) return text;
    const plain = text
      .toLowerCase()
      .replace(/ß/g, "ss")
      .replace(/ø/g, "o")
      .replace(/[à-ÿ]/g, (letter) => letter.normalize("NFD")[0]);
    const name = plain.replace(/[^a-z0-9]+/g, "-").replace(/^[-0-9]+/, "");
    return name.slice(0, 40).replace(/-+$/, "");
  };

  const preview = (field) => {
    const typed = field.value.trim();
    const name = slug(typed);
    const text = !isName(name) || name === typed ? "" : `Saved as ${name}`;
    const shown = document.getElementById(field.dataset.slug);
    if (shown && shown.textContent !== text) shown.textContent = text;
  };
  document.addEventListener("input", (event) => {
    if (event.target.matches("[data-slug]")) preview(event.target);
  });
  window.addEventListener("pageshow", () => document.querySelectorAll("[data-slug]").forEach(preview));

  if (!document.getElementById("account-menu")) return; // signed out, there is nothing to change

  // Forms that change something. A search, boxes that select rows of a list, questions before something
  // is deleted and the options of an export are not worth a question.
  const kept =
    ":is(main, #dialog[open]) form[method=post]" +
    ":not([data-search], [data-export-start], :has([data-choose-all], [name=confirm], [name=typed_name]))";

  const isFilledIn = (field) => !field.matches(":disabled, [type=hidden], [type=password], button, fieldset, output");
  const isChanged = (field) => {
    if (!isFilledIn(field)) return false;
    if (field.matches("[type=checkbox], [type=radio]")) return field.checked !== field.defaultChecked;
    if (!field.matches("select")) return field.value !== field.defaultValue;
    const options = [...field.options];
    const first = options.some((option) => option.defaultSelected) ? null : options.find((option) => !option.disabled);
    return options.some((option) => option.selected !== (option.defaultSelected || option === first));
  };

  // A page that answers a form, such as one with mistakes, has what was typed and not saved.
  const isAnswered = (form) =>
    form.closest("[data-posted]") !== null && form.getAttribute("action") === window.location.pathname;

  // Forms with a part that a button of their own has fetched, such as "Add an issuer". That part has what was typed as
  // if it was saved. before has the values of these forms before the first button, null if they had changes by then.
  const touched = new WeakSet();
  const before = new WeakMap();

  // The form that is being sent loses nothing, but others on its page do.
  let sent = null;
  const hasChanges = (form) => touched.has(form) || [...form.elements].some(isAnswered(form) ? isFilledIn : isChanged);
  const isUnsaved = (form) => form !== sent && hasChanges(form);
  const unsavedIn = (root) => [...root.querySelectorAll(kept)].some(isUnsaved);

  const ask = (event) => {
    if (!unsavedIn(document)) return;
    event.preventDefault();
    sent = null; // who stays has sent nothing
  };
  // Only while there is something to lose: with a listener, browsers don't keep the page for a step back.
  const watch = () => {
    window[unsavedIn(document) ? "addEventListener" : "removeEventListener"]("beforeunload", ask);
  };
  const edited = (event) => {
    if (event.target.form === sent) sent = null;
    watch();
  };
  document.addEventListener("input", edited);
  document.addEventListener("change", edited);
  const valuesOf = (form) => new URLSearchParams(new FormData(form)).toString();
  let posted = null;
  document.addEventListener("htmx:beforeSwap", (event) => {
    const { elt, verb } = event.detail.requestConfig;
    const form = verb === "post" ? elt.closest("form") : null;
    if (form && !before.has(form)) before.set(form, hasChanges(form) ? null : valuesOf(form));
    posted = form;
  });
  document.addEventListener("htmx:afterSettle", () => {
    if (posted?.isConnected) touched[valuesOf(posted) === before.get(posted) ? "delete" : "add"](posted);
    posted = null;
    watch();
  });
  document.addEventListener("close", watch, true);
  document.addEventListener("submit", (event) => {
    const elsewhere = event.target.hasAttribute("target") || event.submitter?.hasAttribute("formtarget");
    if (!event.defaultPrevented && !elsewhere) sent = event.target;
  });
  window.addEventListener("pageshow", () => {
    sent = null;
    watch();
  });

  // A dialog that is closed loses what was typed into it.
  const keepOpen = (event) => {
    const dialog = document.getElementById("dialog");
    if (!dialog.open || !unsavedIn(dialog) || window.confirm("Discard your changes?")) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  document.addEventListener("cancel", (event) => event.target.id === "dialog" && keepOpen(event), true);
  document.addEventListener(
    "click",
    (event) => {
      if (event.target.id === "dialog" || event.target.closest("[data-dialog-close]")) keepOpen(event);
    },
    true,
  );
})();
