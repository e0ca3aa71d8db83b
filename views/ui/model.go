package ui

import (
	"cmp"
	"time"
)

// Page is what the shell around every page needs.
type Page struct {
	Title   string   // of the document, without the product's name
	Account *Account // nil while signed out
	Crumbs  []Crumb  // the way from a page of the sidebar to here; the last one is this page
	Rail    bool     // the sidebar shows icons only
	Flash   *Notice  // what the last action did, shown once
	Theme   string   // "light", "dark", or "" for the system's
	Control string   // URL of the control plane, for commands
	Here    string   // path to come back to after the theme form
	Posted  bool     // it answers a form, whose values aren't saved
	Refresh int      // seconds until a browser without script loads the page again; 0: never
}

// Account is who is signed in, and for which of their teams.
type Account struct {
	Name  string
	Email string
	Team  string   // name of the chosen team, "" without any
	Teams []Option // all of them; Value is the id
	Audit bool     // the chosen team's audit log may be read
}

// Initial is the letter of the account's picture.
func (a Account) Initial() string {
	for _, r := range a.Name + a.Email {
		return string(r)
	}
	return "?"
}

// teamID is the id of the chosen team, "" without any.
func (a Account) teamID() string {
	for _, t := range a.Teams {
		if t.Chosen {
			return t.Value
		}
	}
	return ""
}

// Crumb is one step of the way to a page.
type Crumb struct {
	Text    string
	URL     string   // ignored for the last one
	Project *Project // that the step leads to; its pages are in the sidebar
}

// Project is what the sidebar shows of a project.
type Project struct {
	Name        string // in addresses
	DisplayName string
	Versions    []Link // text and id of each; the last one is the newest
}

// Tab is one of several pages side by side.
type Tab struct {
	URL     string
	Text    string
	Current bool
}

// Link is a URL with its text.
type Link struct{ URL, Text string }

// Tone is what a badge or notice means, apart from its text.
type Tone string

// The tones. Plain says nothing.
const (
	Plain  Tone = ""
	Good   Tone = "good"
	Warn   Tone = "warn"
	Bad    Tone = "bad"
	Cold   Tone = "cold"
	Accent Tone = "accent"
)

// Notice is a sentence the user should see.
type Notice struct {
	Tone Tone
	Text string
	Link Link   // to what changes that; the zero Link is none
	Undo string // path of the form that undoes what a flash tells of, "" for none
}

// Badge is a state in a word or two.
type Badge struct {
	Tone Tone
	Text string
}

// Value is what a field holds and what is wrong with it.
type Value struct {
	Text  string
	Error string // "" when nothing is wrong
}

// Option is one choice of a select, radio group or list of checkboxes.
type Option struct {
	Value    string
	Title    string
	Text     string // a sentence on what choosing it means
	Chosen   bool
	Disabled bool
	Note     string // shown as a badge, such as why it is disabled
}

// Field is a text input with its label, hint and error.
type Field struct {
	ID           string // of the element; hint and error get ids made from it
	Name         string // in the form
	Label        string
	Hint         string
	Type         string // "" is text
	Placeholder  string
	Autocomplete string
	Value        Value
	MinLength    string // "" is none
	Required     bool
	Conditional  bool // whether it is needed depends on another field: called neither required nor optional
	Mono         bool // for addresses, names and codes
	Numeric      bool // shows a keyboard of digits
	URL          bool // shows a keyboard for URLs; unlike the type url, it accepts a URL without a scheme
	Slug         bool // the name is derived from the typed text, and a script shows it below the field
	Multiline    bool // for a form whose fields are listed: a TextArea
	Autofocus    bool
}

// inputType is the type attribute.
func (f Field) inputType() string {
	if f.Type == "" {
		return "text"
	}
	return f.Type
}

// describedBy lists the ids of the field's hint and error, "" for neither.
func (f Field) describedBy() string { return describedBy(f.ID, f.Hint, f.Value.Error) }

func describedBy(id, hint, wrong string) string {
	switch {
	case hint != "" && wrong != "":
		return id + "-error " + id + "-hint"
	case wrong != "":
		return id + "-error"
	case hint != "":
		return id + "-hint"
	}
	return ""
}

// Group is a set of options under one question.
type Group struct {
	ID      string
	Name    string // of every input in the form
	Legend  string
	Hint    string
	Error   string
	Options []Option
}

// optionID is the id of the input of one option.
func (g Group) optionID(o Option) string { return g.ID + "-" + cmp.Or(o.Value, "default") }

// Fact is one line of a list of properties.
type Fact struct {
	Label string
	Time  time.Time // shown before Value; the zero time is not
	Value string
	Mono  bool
	Copy  string // id of the value, which has a button that copies it; "" for none
}

// Limits asks how many calls each window admits, with an input for each that is
// named Name, _ and the window; an empty one admits any number.
type Limits struct {
	ID      string
	Name    string
	Legend  string
	Windows []Limit // shortest first
}

// Limit is the input of one window.
type Limit struct {
	Window string // such as minute
	Label  string // such as A minute
	Value  Value
}
