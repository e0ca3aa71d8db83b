// Copies the browser libraries that package static embeds out of node_modules,
// each with its licence, so that a build needs Go only.
import { copyFileSync, mkdirSync } from "node:fs";

const files = [
  ["htmx.org/dist/htmx.min.js", "htmx.js"],
  ["htmx.org/LICENSE", "htmx.LICENSE.txt"],
];

mkdirSync("static/vendor", { recursive: true });
for (const [from, to] of files) {
  copyFileSync(`node_modules/${from}`, `static/vendor/${to}`);
}
