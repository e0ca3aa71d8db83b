// Copies the browser libraries that package static embeds out of node_modules, and
// cuts the font down to what pages need, each with its license, so that a build needs
// Go only.
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import subsetFont from "subset-font";

const files = [
  ["htmx.org/dist/htmx.min.js", "htmx.js"],
  ["htmx.org/LICENSE", "htmx.LICENSE.txt"],
  ["@fontsource-variable/geist/LICENSE", "geist.LICENSE.txt"],
  ["tailwindcss/LICENSE", "tailwindcss.LICENSE.txt"], // its style resets are part of app.css
];

mkdirSync("static/vendor", { recursive: true });
for (const [from, to] of files) {
  copyFileSync(`node_modules/${from}`, `static/vendor/${to}`);
}

// The characters of Latin-1 and of typography; others come from the system's font. The
// weights are the two that pages use and what lies between.
const range = (first, last) => Array.from({ length: last - first + 1 }, (_, i) => String.fromCodePoint(first + i));
const characters = [...range(0x20, 0x7e), ...range(0xa0, 0xff), ..."–—‘’“”•…‹›€™−←↑→↓"].join("");
const geist = readFileSync("node_modules/@fontsource-variable/geist/files/geist-latin-wght-normal.woff2");
const subset = await subsetFont(geist, characters, {
  targetFormat: "woff2",
  variationAxes: { wght: { min: 400, max: 600, default: 400 } },
});
writeFileSync("static/vendor/geist.woff2", subset);
