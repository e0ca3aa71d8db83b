package projects

import "postern/views/ui"

// Requests is a project's live log.
type Requests struct {
	Page     ui.Page
	Head     Head
	Rows     []Request // newest first
	LiveURL  string    // server-sent events of RequestRow, without the query that says after which request; "" for a list that stands still
	LiveFrom string    // id of the newest row; an id that no request has when there is none
	Here     string    // this page, to load it again
	OlderURL string    // the next page of the list, "" on the last
	Dropped  string    // says that the log has gaps, "" when it has none
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
	Owner       string // "" for nobody
	KeyURL      string // of the key's page; "" without a key
	Duration    string
	Bytes       string
	Address     string
}
