package projects

import (
	"time"

	"postern/views/ui"
)

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
	Curl     string // a call that the list will show
	OlderURL string // next page of the list, "" on the last
	Path     string // of the page without filters
	Filtered bool
	Status   ui.Value
	Statuses []ui.Option
	Owner    ui.Value
	Contains ui.Value // part of the path
	Code     ui.Value
	Dropped  string // notice that calls are missing from the log, "" when none are

	NoGateway bool // the server serves no calls, and its log stays empty
}

const noGateway = "This server doesn't run a gateway, so this page is always empty. The Usage page counts the calls " +
	"to all gateways. To see individual calls, ask the operator for the gateways' access logs."

// Request is one call.
type Request struct {
	URL         string // of the call's own page
	Arrival     string // sorts calls by when they arrived
	Route       string // path template
	Time        string // of day, UTC
	At          time.Time
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

// RequestDetail is one call with what the gateway did with it.
type RequestDetail struct {
	Page     ui.Page
	Request  Request
	Facts    []ui.Fact
	Steps    []ExplainedStep
	Upstream []ui.Fact // headers about the caller; none if the upstream did not answer
	Curl     string    // "" for calls to a customer's host name
	BackURL  string
}
