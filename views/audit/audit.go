// Package audit is the page of a team's audit log.
//
// It owns what the page shows and how; it does not own what an entry says
// (handlers) nor what an entry is (rules).
package audit

import (
	"time"

	"postern/views/ui"
)

// Log is a page of the audit log.
type Log struct {
	Page     ui.Page
	List     ui.List
	Teams    []ui.Option
	Projects []ui.Option
	Project  *ui.Value // its name, to type in place of Projects; nil: they are listed
	Actions  []ui.Option
	Outcomes []ui.Option
	Text     string // that is searched for
	Actor    string
	From, To ui.Value    // days
	Kept     []ui.Hidden // the rest of the query
	Unknown  string      // name of a project that is filtered by but does not exist
	Entries  []Entry
}

// Entry is one line of the log.
type Entry struct {
	ID      string
	Time    string
	At      time.Time
	Who     string
	WhoURL  string // of all that they did; "" if the list is of that
	Text    string // what they did, after Who
	Refused bool
	Facts   []ui.Fact
	Changes []Change
	URL     string // the page of what it is about, "" for none
}

// Change is one field before and after.
type Change struct{ Field, Before, After string }
