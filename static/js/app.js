// Enhancements of pages that work without them: copy buttons, dialogs for links that are their own pages, a theme
// choice without a reload, tables that grow, checklists, announcements.
(() => {
  "use strict";

  const announce = (text) => {
    const live = document.getElementById("announcer");
    if (live) live.textContent = text;
  };

  // Copy buttons are hidden in the page, since without a script they do nothing.
  const revealCopyButtons = (root) => {
    if (!navigator.clipboard) return; // absent outside secure contexts
    root.querySelectorAll("button[data-copy]").forEach((button) => (button.hidden = false));
  };

  const copy = async (button) => {
    const source = document.getElementById(button.dataset.copy);
    if (!source) return;
    await navigator.clipboard.writeText(source.textContent.trim());
    button.dataset.copied = "";
    announce("Copied");
    setTimeout(() => delete button.dataset.copied, 1600);
  };

  // A link with data-dialog names its dialog's title. htmx has put the panel of
  // the linked page into the dialog; an answer without a panel (signed out, an
  // error page) is better shown as the page it is.
  const openDialog = (link) => {
    const dialog = document.getElementById("dialog");
    const body = document.getElementById("dialog-body");
    if (!body.firstElementChild) {
      window.location.assign(link.href);
      return;
    }
    document.getElementById("dialog-title").textContent = link.dataset.dialog;
    if (!dialog.open) dialog.showModal();
  };

  const chooseTheme = async (form, theme) => {
    const body = new URLSearchParams(new FormData(form));
    body.set("theme", theme);
    const answer = await fetch(form.action, { method: "POST", body, redirect: "manual" });
    if (answer.type !== "opaqueredirect" && !answer.ok) return;
    document.documentElement.dataset.theme = theme;
    document.querySelectorAll("button[name=theme]").forEach((button) => {
      button.setAttribute("aria-pressed", String(button.value === theme));
    });
  };

  // Keys are left to fields and to what others do with them.
  const typing = (element) => element.closest("input, select, textarea, [contenteditable]");
  const opens = (event, key) => event.key === key && !event.ctrlKey && !event.metaKey && !event.altKey;
  const clickOn = (event, selector) => {
    const link = document.querySelector(selector);
    if (!link || document.querySelector("dialog[open]")) return;
    event.preventDefault();
    link.click();
  };

  // The arrow keys go through the results of the search, and through open menus.
  const move = (event) => {
    const results = event.target.closest("[data-panel], main")?.querySelector("#search-results");
    const menu = event.target.closest(".menu") ?? document.querySelector(".menu:popover-open");
    const field = results && document.getElementById("search-q");
    let stops = [];
    if (menu) stops = [...menu.querySelectorAll("a, button")];
    else if (event.target === field || event.target.matches("[data-found]")) {
      stops = [field, ...results.querySelectorAll("[data-found]")];
    }
    if (!stops.length) return;
    event.preventDefault();
    const step = event.key === "ArrowDown" ? 1 : -1;
    const at = stops.indexOf(event.target);
    stops[at < 0 ? 0 : (at + step + stops.length) % stops.length].focus();
  };

  document.addEventListener("keydown", (event) => {
    if (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey)) clickOn(event, ".search-link");
    else if (event.key === "ArrowDown" || event.key === "ArrowUp") move(event);
    else if (event.target.id === "search-q" && event.key === "Enter") {
      const first = document.querySelector("#search-results [data-found]");
      if (!first) return;
      event.preventDefault();
      first.click();
    } else if (typing(event.target)) return;
    else if (opens(event, "/")) clickOn(event, ".search-link");
    else if (opens(event, "?")) clickOn(event, 'a[href="/shortcuts"]');
  });

  // Text that was typed before htmx had looked at the field is searched for, too.
  document.addEventListener("htmx:afterSettle", (event) => {
    const field = document.querySelector("#dialog-body #search-q");
    if (event.target.id === "dialog-body" && field?.value) field.dispatchEvent(new Event("input", { bubbles: true }));
  });

  // The sidebar narrows at once; the server keeps the choice for the next page.
  const chooseRail = async (form, button) => {
    const body = new URLSearchParams(new FormData(form));
    const rail = button.value === "true";
    body.set(button.name, button.value);
    document.querySelector(".frame").toggleAttribute("data-rail", rail);
    button.setAttribute("aria-pressed", String(rail));
    button.value = String(!rail);
    await fetch(form.action, { method: "POST", body, redirect: "manual" });
  };

  // A table body with data-live grows at its top with the rows that come. Automatic changes can be stopped (WCAG 2.2,
  // 2.2.2), and continue where they were.
  const follow = (rows, toggle) => {
    const most = 200;
    const state = document.getElementById("live-state");
    let last = rows.dataset.liveFrom;
    let missed = 0;
    let source = null;
    const say = (text) => (state.textContent = missed ? `${text}, ${missed} not shown` : text);
    const stop = (text) => {
      source.close();
      source = null;
      toggle.textContent = "Resume";
      say(text);
    };
    const go = () => {
      const address = rows.dataset.live;
      const more = address.includes("?") ? "&" : "?";
      source = new EventSource(`${address}${more}after=${encodeURIComponent(last)}`);
      toggle.textContent = "Pause";
      source.addEventListener("open", () => say("Live"));
      source.addEventListener("error", () => {
        if (!source) return;
        if (source.readyState === EventSource.CLOSED) stop("Stopped"); // such as signed out
        else say("Reconnecting");
      });
      source.addEventListener("missed", (event) => {
        missed += Number(event.data);
        say("Live");
      });
      source.addEventListener("message", (event) => {
        last = event.lastEventId;
        rows.querySelector("[data-live-none]")?.remove();
        const arrived = document.createElement("template");
        arrived.innerHTML = event.data;
        const row = arrived.content.firstElementChild;
        // Calls are sent when they end; their place is by when they arrived.
        const below = [...rows.rows].find((other) => other.dataset.arrival <= row.dataset.arrival);
        rows.insertBefore(row, below ?? null);
        window.htmx?.process(row);
        while (rows.rows.length > most) rows.deleteRow(-1);
      });
    };
    toggle.hidden = false;
    toggle.addEventListener("click", () => (source ? stop("Paused") : go()));
    go();
  };

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button[data-copy]");
    if (button) copy(button).catch(() => announce("Couldn't copy. Select the text instead."));
    if (event.target.closest("[data-dialog-close]") || event.target.id === "dialog") {
      document.getElementById("dialog").close();
    }
    event.target.closest("button[data-dismiss]")?.closest("[data-flash]")?.remove();
  });

  // A question before something is taken away opens at its field, and Escape closes it. Its
  // summary has the focus before and after. Without scripts the summary does both.
  document.addEventListener(
    "toggle",
    (event) => {
      const { target } = event;
      if (!target.matches("details[data-confirmation]") || !target.open) return;
      if (!target.contains(document.activeElement)) return; // it was open when the page came
      target.querySelector("form .box, form .input, form [name=confirm]")?.focus();
    },
    true,
  );
  document.addEventListener("keydown", (event) => {
    const asked = event.key === "Escape" && event.target.closest("details[data-confirmation][open]");
    if (!asked) return;
    event.preventDefault(); // a dialog around it stays open
    asked.open = false;
    asked.querySelector("summary").focus();
  });

  // The browser asks again for a page that the user goes back to, and its forms get
  // new nonces. A form that was sent before keeps its old one, so that sending it
  // again changes nothing. A page that is opened or reloaded starts over.
  const keepNonces = () => {
    const back = performance.getEntriesByType("navigation")[0]?.type === "back_forward";
    document.querySelectorAll("input[data-nonce]").forEach((input) => {
      const sent = sessionStorage.getItem(nonceOf(input.form));
      if (back && sent) input.value = sent;
      else sessionStorage.removeItem(nonceOf(input.form));
    });
  };

  const nonceOf = (form) => `sent ${form.getAttribute("action")}`;

  const noteNonce = (form) => {
    const input = form.querySelector("input[data-nonce]");
    if (input) sessionStorage.setItem(nonceOf(form), input.value);
  };

  // The second click of a double click sends nothing.
  const doubleClick = 1000; // milliseconds
  const sentAt = new WeakMap();
  document.addEventListener("submit", (event) => {
    const form = event.target;
    // By attributes: a field named target would stand in for the form's own.
    if (!form.matches("form[method=post]:not([target], [data-theme-form], [data-rail-form])")) return;
    if (event.timeStamp - (sentAt.get(form) ?? -doubleClick) < doubleClick) {
      event.preventDefault();
      return;
    }
    sentAt.set(form, event.timeStamp);
    noteNonce(form);
  });

  document.addEventListener("submit", (event) => {
    if (!event.target.matches("form[data-theme-form]") || !event.submitter) return;
    event.preventDefault();
    chooseTheme(event.target, event.submitter.value).catch(() => announce("Couldn't save the theme."));
  });

  document.addEventListener("submit", (event) => {
    if (!event.target.matches("form[data-rail-form]") || !event.submitter) return;
    event.preventDefault();
    chooseRail(event.target, event.submitter).catch(() => announce("Couldn't save the sidebar width."));
  });

  document.addEventListener("as-code:written", (event) => revealCopyButtons(event.target));

  document.addEventListener("htmx:afterSwap", (event) => {
    revealCopyButtons(document); // the target itself may have been replaced
    const link = event.detail.requestConfig.elt;
    if (link.matches("a[data-dialog]")) openDialog(link);
  });

  // An answer that refuses a form is swapped in if it shows the same part of the page.
  document.addEventListener("htmx:beforeSwap", (event) => {
    const { elt } = event.detail.requestConfig;
    const id = elt.getAttribute("hx-select")?.slice(1);
    if (elt.matches("[data-swap-errors]") && event.detail.serverResponse.includes(`id="${id}"`)) {
      event.detail.shouldSwap = true;
    }
  });

  // An answer that is not a success is not swapped in; the page itself explains it.
  document.addEventListener("htmx:responseError", (event) => {
    const link = event.detail.requestConfig.elt;
    if (link.matches("a[data-dialog]")) window.location.assign(link.href);
  });

  document.addEventListener("htmx:afterSettle", () => {
    const state = document.querySelector("[data-announce]");
    const live = document.getElementById("announcer");
    if (state && live && live.textContent !== state.dataset.announce) announce(state.dataset.announce);
  });

  // The ticks of a list with data-checklist are kept in this browser, under its name.
  const keepTicks = (list) => {
    const name = `ticked ${list.dataset.checklist}`;
    const boxes = [...list.querySelectorAll("input[type=checkbox]")];
    const ticked = JSON.parse(localStorage.getItem(name) ?? "[]");
    const count = () => {
      const done = boxes.filter((box) => box.checked).length;
      list.querySelector("[data-checked]").textContent = `${done} of ${boxes.length} done`;
    };
    boxes.forEach((box) => (box.checked = ticked.includes(box.value)));
    count();
    list.addEventListener("change", () => {
      localStorage.setItem(name, JSON.stringify(boxes.filter((box) => box.checked).map((box) => box.value)));
      count();
    });
  };

  // The zip of an export that this tab has started is downloaded once, when its page shows
  // that it is ready. Other tabs, and a page that is opened later, have the button.
  const awaited = "awaited export";
  document.addEventListener("submit", (event) => {
    if (event.target.matches("form[data-export-start]")) sessionStorage.setItem(awaited, "started");
  });

  const noteExport = () => {
    const status = document.getElementById("export-status");
    if (sessionStorage.getItem(awaited) !== "started") return;
    if (status) sessionStorage.setItem(awaited, status.dataset.export);
    else sessionStorage.removeItem(awaited); // refused, or the form was left
  };

  const downloadAwaited = () => {
    const link = document.querySelector("a[data-zip]");
    if (!link || sessionStorage.getItem(awaited) !== link.dataset.zip) return;
    sessionStorage.removeItem(awaited);
    link.click();
  };
  document.addEventListener("htmx:afterSettle", downloadAwaited);

  // The page of a running export follows it by a stream of events, named after its states. A
  // change of the state fetches the part of the page again; until there is a stream, and where
  // there is none, htmx fetches it every second. A browser has few connections to a server,
  // so that tabs in the background give theirs up.
  let stream = null;
  const endStream = () => {
    stream?.close();
    stream = null;
  };
  const followExport = () => {
    const status = document.querySelector("#export-status[data-stream]");
    if (!status || document.hidden) return endStream();
    if (stream) return;
    stream = new EventSource(status.dataset.stream);
    for (const state of ["queued", "building", "ready", "failed", "expired", "cancelled"]) {
      stream.addEventListener(state, (event) => {
        const now = document.querySelector("#export-status[data-stream]");
        if (now?.dataset.state === state) {
          document.getElementById("export-progress").innerHTML = event.data;
          return;
        }
        if (state !== "building") endStream(); // at its end the server closes it
        now?.dispatchEvent(new CustomEvent("export-moved"));
      });
    }
  };
  document.addEventListener("htmx:beforeRequest", (event) => {
    const { elt, triggeringEvent } = event.detail.requestConfig;
    if (elt.id !== "export-status" || triggeringEvent?.type === "export-moved") return;
    if (stream?.readyState === EventSource.OPEN) event.preventDefault();
  });
  document.addEventListener("htmx:afterSettle", followExport);
  document.addEventListener("visibilitychange", followExport);

  // A fieldset with data-needs is disabled, and not sent, while the box that it names is off.
  const followNeeds = () => {
    document.querySelectorAll("fieldset[data-needs]").forEach((fields) => {
      fields.disabled = !document.getElementById(fields.dataset.needs).checked;
    });
  };
  document.addEventListener("change", followNeeds);
  document.addEventListener("htmx:afterSwap", followNeeds);
  window.addEventListener("pageshow", followNeeds); // a browser that goes back restores boxes after the scripts

  // Sections of a project's page that have their own pages now; a server sees no fragment.
  const moved = { "#keys": "/keys", "#limits": "/limits", "#cors": "/limits", "#product": "/settings" };
  const page = window.location;
  if (/^\/projects\/[^/]+$/.test(page.pathname) && moved[page.hash]) page.replace(page.pathname + moved[page.hash]);

  revealCopyButtons(document);
  keepNonces();
  noteExport();
  downloadAwaited();
  followExport();
  document.querySelectorAll("[data-checklist]").forEach(keepTicks);
  const live = document.querySelector("tbody[data-live]");
  if (live) follow(live, document.querySelector("button[data-live-toggle]"));
})();
