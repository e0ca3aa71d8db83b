/** @type {import('tailwindcss').Config} */
module.exports = {
  // Class names live in templates only, never in Go code: this list decides
  // which of them exist in the built style sheet.
  content: ["./views/**/*.templ"],
  theme: {
    extend: {
      // Every color is a token of static/src/tokens.css with a light and a dark
      // value, so that no template has to say "dark:".
      colors: {
        canvas: "var(--canvas)",
        surface: "var(--surface)",
        sunken: "var(--sunken)",
        line: "var(--line)",
        edge: "var(--edge)",
        ink: "var(--ink)",
        muted: "var(--muted)",
        faint: "var(--faint)",
        accent: "var(--accent)",
        good: "var(--good)",
        warn: "var(--warn)",
        bad: "var(--bad)",
        cold: "var(--cold)",
      },
      fontFamily: {
        // Geist has the characters of Latin-1. system-ui comes last: on many a Linux it
        // is a face meant for terminals.
        sans: [
          "Geist", "-apple-system", "BlinkMacSystemFont", "Segoe UI", "Roboto", "Noto Sans", "Cantarell", "Ubuntu",
          "Liberation Sans", "system-ui", "sans-serif",
        ],
        mono: ["ui-monospace", "SF Mono", "Cascadia Mono", "Menlo", "Consolas", "Liberation Mono", "monospace"],
      },
      // The one type scale. Body text is base, h1 xl, h2 lg.
      fontSize: {
        xs: ["0.75rem", "1.125rem"],
        sm: ["0.8125rem", "1.25rem"],
        base: ["0.9375rem", "1.4375rem"],
        lg: ["1.0625rem", "1.5rem"],
        xl: ["1.375rem", "1.75rem"],
      },
      // The one content width, and that of text in it.
      maxWidth: { page: "60rem", form: "44rem" },
    },
  },
};
