package ui

import (
	"cmp"
	"strings"
)

// Confirmation asks before something is taken away. It says what that does to users and
// callers, and whether it can be undone, and posts confirm to Action, or typed_name where
// Type is set.
type Confirmation struct {
	ID     string // of the box or the field; other ids begin with it
	Action string
	Verb   string // such as Delete
	Kind   string // of what goes, such as tenant
	Name   string // of what goes; "" where the kind says it
	Title  string // what the button says; "" for verb and kind
	Tick   string // what the box agrees to; "" for verb, kind and name
	Facts  []Fact // what is deleted with it
	Impact []string
	Undo   string // how it is undone; "" if it cannot be
	Type   string // asks to type this name instead of a tick; "" asks for the tick
	Typed  Value  // what was typed instead of the name
	Error  string
	Hidden []Hidden // posted with the tick
	Open   bool     // for an error in another field of the form

	// ByButton asks for neither: the button confirms, for what is easily made again or is announced in time.
	ByButton bool
}

// Hidden is a field that a form posts and does not show.
type Hidden struct{ Name, Value string }

// title is what the button says, such as Delete tenant.
func (c Confirmation) title() string { return cmp.Or(c.Title, c.Verb+" "+c.Kind) }

// tick is what the box agrees to.
func (c Confirmation) tick() string {
	return cmp.Or(c.Tick, strings.TrimSpace(c.title()+" "+c.Name))
}

// undoText says whether something can be undone.
func undoText(how string) string { return cmp.Or(how, "This can't be undone.") }

// open reports whether the disclosure around the form is open: it holds an error.
func (c Confirmation) open() bool { return c.Open || c.Error != "" || c.Typed.Error != "" }

// label is that of the field for the name, such as Tenant name.
func (c Confirmation) label() string { return strings.ToUpper(c.Kind[:1]) + c.Kind[1:] + " name" }
