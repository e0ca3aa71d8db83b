package projects

import "postern/views/ui"

// Requests is a project's live log.
type Requests struct {
	Page ui.Page
	Head Head
	Rows []Request // newest first
	// LiveURL streams RequestRow as server-sent events; the script adds ?after=. It is "" for an
	// older page, which does not change.
	LiveURL  string
	LiveFrom string // id of the newest row; an id that no request has when there is none
	Here     string // this page's URL, to load it again
	OlderURL string // next page of the list, "" on the last
	Dropped  string // notice that calls are missing from the log, "" when none are
}

// Request is one call.
type Request struct {
	Time        string // of day, UTC
	Stamp       string // RFC 3339
	Method      string
	Path        string // whole
	Rest        string // what is left of it below the environment
	Status      ui.Badge
	Reason      string // code of the gateway's own answer; "" when the upstream answered
	Step        string // which step answered
	Environment string
	Owner       string // "" without an owner
	KeyURL      string // of the key's page; "" without a key
	ExplainURL  string // explains how the gateway decides the same call
	Duration    string
	Bytes       string
	Address     string
}
