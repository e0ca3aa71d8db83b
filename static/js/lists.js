// Lists whose search, filters and orders swap the rows alone, times that count down, and times in the reader's zone.
(() => {
  "use strict";

  // A list that is searched, filtered or sorted has its own URL, which htmx would keep only together with copies of
  // pages. The search keeps the filters and the order that were chosen since the page was loaded.
  let listMoved = false;
  document.addEventListener("htmx:configRequest", (event) => {
    const { elt, parameters } = event.detail;
    if (elt.matches("form[data-filters]")) {
      for (const name of Object.keys(parameters)) if (!parameters[name]) delete parameters[name];
    }
    if (!elt.matches("form[data-list]")) return;
    const [q, after] = ["q", "after"].map((name) => elt.dataset.list + name);
    for (const name of Object.keys(parameters)) if (name !== q) delete parameters[name];
    for (const [name, value] of new URLSearchParams(window.location.search)) {
      if (name !== q && name !== after) parameters[name] = value;
    }
    if (!parameters[q]) delete parameters[q];
  });
  // A search that was followed while it was typed has not changed again when its field is left, as for
  // a link of the list.
  document.addEventListener(
    "change",
    (event) => {
      if (event.target.matches("form[data-filters] [type=search]")) event.stopPropagation();
    },
    true,
  );
  document.addEventListener("htmx:afterSwap", (event) => {
    const { elt, path } = event.detail.requestConfig;
    if (!elt.matches("[data-list], [data-filters]")) return;
    const address = elt.matches("a") ? path : event.detail.pathInfo.finalRequestPath;
    if (elt.matches("a[data-list]")) {
      const prefix = elt.dataset.list;
      const search = document.querySelector(`form[data-list="${prefix}"] [type=search]`);
      if (search) search.value = new URL(path, window.location.href).searchParams.get(`${prefix}q`) ?? "";
    }
    listMoved = true;
    window.history[elt.matches("a") ? "pushState" : "replaceState"]({ list: true }, "", address);
  });
  window.addEventListener("popstate", () => {
    if (listMoved) window.location.reload();
  });
  document.addEventListener("click", (event) => {
    document.querySelectorAll("details.filter[open]").forEach((menu) => {
      if (!menu.contains(event.target)) menu.open = false;
    });
  });

  // One box chooses all rows of a page, and the bar of actions shows how many are chosen.
  const boxesOf = (form) => [...form.querySelectorAll("tbody input[type=checkbox]")];
  const countChosen = (form) => {
    const said = form.querySelector("[data-chosen]");
    const all = form.querySelector("[data-choose-all] input");
    if (!said || !all) return;
    const boxes = boxesOf(form);
    const chosen = boxes.filter((box) => box.checked).length;
    said.textContent = `${chosen} ${said.dataset.chosen}${chosen === 1 ? "" : "s"} selected`;
    all.checked = chosen === boxes.length;
    all.indeterminate = chosen > 0 && !all.checked;
  };
  const offerAll = () => {
    document.querySelectorAll("[data-choose-all]:not(:has(input))").forEach((head) => {
      const all = document.createElement("input");
      all.type = "checkbox";
      all.className = "box";
      all.ariaLabel = head.dataset.chooseAll;
      head.append(all);
      countChosen(head.closest("form"));
    });
  };
  document.addEventListener("change", (event) => {
    const form = event.target.closest("form:has([data-choose-all])");
    if (!form) return;
    if (event.target.closest("[data-choose-all]")) {
      boxesOf(form).forEach((box) => (box.checked = event.target.checked));
    }
    countChosen(form);
  });
  document.addEventListener("htmx:afterSettle", offerAll);
  window.addEventListener("pageshow", offerAll); // after the browser has ticked again what was ticked before
  offerAll();

  // On hover, a time shows the exact time in the reader's zone.
  document.addEventListener("pointerover", ({ target }) => {
    const time = target.closest("time[title]");
    if (!time) return;
    time.title = new Date(time.dateTime).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "long" });
  });

  // A time that is left counts down.
  const countDown = () => {
    const now = Date.now();
    document.querySelectorAll("[data-countdown]").forEach((time) => {
      const left = Math.max(0, Math.floor((Date.parse(time.dataset.countdown) - now) / 1000));
      const [d, h, m, s] = [left / 86400, (left / 3600) % 24, (left / 60) % 60, left % 60].map(Math.floor);
      const two = (n) => String(n).padStart(2, "0");
      time.textContent = `${d ? `${d} d ` : ""}${two(h)}:${two(m)}:${two(s)}`;
    });
  };
  if (document.querySelector("[data-countdown]")) {
    countDown();
    setInterval(countDown, 1000);
  }
})();
