// Sends the answer of a sign-in to the application. Without scripts, the page's button does.
(() => {
  "use strict";
  document.querySelector("form[data-back]")?.submit();
})();
