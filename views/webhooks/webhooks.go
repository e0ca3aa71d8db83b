// Package webhooks holds the pages on the addresses that a team's events are told
// to.
//
// It owns the list with the form that adds one, the page of one with what it was
// sent, and the page that shows a secret once. It does not own what there is to
// tell nor when it is told (the rules package webhooks).
package webhooks

import (
	"time"

	"postern/views/ui"
)

// List is the page of all webhooks. Its form posts url, description and events to
// the page's own URL.
type List struct {
	Page   ui.Page
	List   ui.List
	Rows   []Row
	Open   bool  // the form is shown at once, such as when a value is wrong
	Create *Form // nil for who may add none
}

// Form is what a webhook's form holds.
type Form struct {
	Teams       []ui.Option // to choose from; asked where there are several
	URL         ui.Value
	Description ui.Value
	Events      []ui.Option
	EventsError string
	Error       string
}

// Row is one webhook.
type Row struct {
	URL     string // of its receiver
	Page    string
	Events  string
	Created time.Time
	State   ui.Badge
}

// Detail is the page of one webhook. Its forms post to Action, and below it to
// switch and rotate.
type Detail struct {
	Page       ui.Page
	URL        string
	State      ui.Badge
	Notice     *ui.Notice // what the user should do about it; nil for nothing
	Facts      []ui.Fact
	Action     string // "" for viewers
	Enabled    bool
	ETag       string // see ui.NonceFor
	Form       Form
	Rotate     ui.Confirmation // of the secret
	Delete     ui.Confirmation
	Deliveries []Delivery
	List       ui.List // of deliveries
}

// Delivery is one event and what became of it. It posts to Again to be sent once
// more, "" while it is on its way.
type Delivery struct {
	Event    string
	Page     string
	Time     time.Time
	State    ui.Badge
	Attempts string
	Outcome  string
	Again    string
}

// Sent is the page of one delivery. It is loaded again while it Waits for the first attempt.
type Sent struct {
	Page    ui.Page
	Path    string
	Event   string
	State   ui.Badge
	Waits   bool
	Facts   []ui.Fact
	Payload string
	Answer  string // the beginning of what the receiver answered last
	Again   string // see Delivery
}

// Shown is the page of a new secret.
type Shown struct {
	Page   ui.Page
	Title  string
	Secret string // "" after the first time
	Facts  []ui.Fact
	Back   string
}

func (f Form) events() ui.Group {
	return ui.Group{ID: "event", Name: "events", Legend: "Events", Options: f.Events, Error: f.EventsError}
}
