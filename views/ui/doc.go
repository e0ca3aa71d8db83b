// Package ui holds the parts every page is made of: the page shell, form
// controls, tables, badges, copyable values, notices and icons.
//
// It owns their markup and accessibility (WCAG 2.2 AA; WAI-ARIA 1.2) and the
// models they are given. It does not own what a page says (the packages next to
// it) nor colors and spacing of the classes it names (static/src/app.css).
// Nothing here needs a script: static/js/app.js and htmx only shorten ways, and
// no element carries an inline style or script, since the pages' content
// security policy forbids both.
//
// The icons are Lucide's (static/vendor/lucide.LICENSE.txt), except for the mark.
package ui
