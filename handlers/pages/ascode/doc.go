// Package ascode writes the two lines for a shell that do what a page or a form of the
// dashboard does: a call of the JSON API with curl, and a command of postern.
//
// It owns which operation and command belong to which page and form, how lines are put together and quoted
// (POSIX.1-2024, Shell Command Language, 2.2), and reads the forms of a page as it was rendered, with the values in
// them. It leaves to the package pages the fields whose text has its own syntax (Readers). Methods and paths are those
// of the OpenAPI document.
package ascode
