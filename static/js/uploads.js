// The upload of a file of keys: how much of it is sent, and how many of its rows are done, which a stream of events
// says. A random id joins the two. Nothing of the file is read here.
(() => {
  "use strict";

  const at = (id) => document.getElementById(id);
  const isUpload = (event) => event.target.id === "key-import";
  const size = (bytes) => `${(bytes / 1e6).toLocaleString("en", { maximumFractionDigits: 1 })} MB`;

  let stream = null;
  let canceled = false;
  const endStream = () => {
    stream?.close();
    stream = null;
  };

  const newWatch = () => {
    const bytes = crypto.getRandomValues(new Uint8Array(16));
    return [...bytes].map((n) => n.toString(16).padStart(2, "0")).join("");
  };

  const followRows = (address) => {
    stream = new EventSource(address);
    stream.addEventListener("rows", (event) => (at("import-done").innerHTML = event.data));
    stream.addEventListener("done", endStream);
  };

  // A check writes nothing, and so has no rows to follow.
  document.addEventListener("htmx:configRequest", (event) => {
    if (!isUpload(event)) return;
    const { formData, path } = event.detail;
    endStream();
    canceled = false;
    at("import-result")?.remove(); // of the file before
    at("import-sent").textContent = "Starting";
    at("import-done").textContent = "";
    at("import-cancel").hidden = false;
    at("import-progress").hidden = false;
    at("import-progress").querySelector("progress").removeAttribute("value");
    const address = event.target.dataset.stream;
    if (path !== address) return;
    const watch = newWatch();
    formData.set("watch", watch);
    followRows(`${address}?watch=${watch}`);
  });

  // The events are those of the request, and then those of its answer, which is smaller than the file.
  document.addEventListener("htmx:xhr:progress", (event) => {
    const { lengthComputable, loaded, total } = event.detail;
    const file = at("import-file")?.files[0];
    if (!isUpload(event) || !lengthComputable || !file || total < file.size) return;
    const bar = at("import-progress").querySelector("progress");
    const whole = loaded === total;
    if (whole) bar.removeAttribute("value");
    else [bar.max, bar.value] = [total, loaded];
    at("import-sent").textContent = whole
      ? `${size(total)} sent. Waiting for the result`
      : `${size(loaded)} of ${size(total)} sent`;
  });

  document.addEventListener("click", (event) => {
    if (event.target.id !== "import-cancel") return;
    canceled = true;
    window.htmx.trigger("#key-import", "htmx:abort");
  });

  document.addEventListener("htmx:afterRequest", (event) => {
    if (!isUpload(event)) return;
    endStream();
    if (event.detail.xhr.status !== 0) return (at("import-progress").hidden = true);
    const bar = at("import-progress").querySelector("progress");
    [bar.max, bar.value] = [1, 0];
    at("import-cancel").hidden = true;
    at("import-sent").textContent = canceled
      ? "Canceled. To continue, import the file again. Existing keys won't be changed."
      : "The connection was lost. Import the file again. Existing keys won't be changed.";
  });

  // Signed out, for example: the page that says so is shown.
  document.addEventListener("htmx:beforeSwap", (event) => {
    if (event.detail.requestConfig.elt.id !== "key-import") return;
    if (event.detail.serverResponse.includes('id="key-import-part"')) return;
    event.detail.shouldSwap = false;
    window.location.assign(window.location.pathname);
  });
})();
