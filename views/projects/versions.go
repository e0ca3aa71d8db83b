package projects

import (
	"strconv"
	"time"

	"postern/views/ui"
)

// VersionForm posts version and copy_from to Action.
type VersionForm struct {
	Open     bool
	Action   string
	Name     ui.Value
	CopyFrom []ui.Option
	Error    string
}

// EnvironmentForm posts name and target to Action.
type EnvironmentForm struct {
	Open   bool
	ID     string // prefix of the ids of its fields
	Action string
	Name   ui.Value
	Target ui.Value
	Error  string
}

// Place is a version or an environment with its callers, to be renamed or removed.
type Place struct {
	Page    ui.Page
	Heading string // such as Version 1.0.0
	Kind    string // version or environment
	Facts   []ui.Fact
	Rename  *RenameForm // nil for viewers
	Removal Removal

	Health []TargetHealth // of an environment

	Targets  *Targets         // nil for a version, and for viewers
	Checks   *UpstreamNumbers // nil for a version, and for viewers
	Breaker  *UpstreamNumbers // nil for a version, and for viewers
	Timeouts *Timeouts        // nil for a version
	Retries  *Retries         // nil for a version
	HTTP     *UpstreamHTTP    // nil for a version
	TLS      *UpstreamTLS
	Host     *HostHeader // nil for a version
	BackURL  string      // of the project
}

// RenameForm posts revision and name to Action.
type RenameForm struct {
	Action   string
	Revision string
	Name     ui.Value
	Slug     bool // the name is derived from the typed text
	Hint     string
	Error    string
}

// Timeouts posts revision and its fields to Action.
type Timeouts struct {
	Open     bool
	Action   string // "" for viewers
	Revision string
	Fields   []ui.Field
	Facts    []ui.Fact // for viewers
	Error    string
}

// TargetHealth is a target with its health.
type TargetHealth struct {
	URL    string
	Weight string
	Health ui.Badge
	Detail string    // for how many gateways it isn't healthy, and why; "" if it is
	Since  time.Time // zero: not known
}

// Targets posts revision, balance, balance_header, and a url and a weight for each row to Action.
type Targets struct {
	Open     bool
	Action   string
	Revision string
	Rows     []TargetRow
	Balance  ui.Field
	Options  []ui.Option // of Balance
	Header   ui.Field
	Error    string
}

// TargetRow is a target in the form.
type TargetRow struct {
	N      int // place in the form
	URL    ui.Value
	Weight ui.Value
	New    bool // it was added a moment ago, and gets the focus
}

// number is the number of the row, from 1.
func (r TargetRow) number() string { return strconv.Itoa(r.N + 1) }

// UpstreamNumbers posts revision and its fields to Action.
type UpstreamNumbers struct {
	ID       string // of the section
	Title    string
	Verb     string // of the button that saves
	Intro    string
	Open     bool
	Action   string
	Revision string
	Fields   []ui.Field
	Error    string
}

// Retries posts revision and its fields to Action.
type Retries struct {
	Open     bool
	Action   string // "" for viewers
	Revision string
	Max      ui.Field
	On       ui.Group
	Facts    []ui.Fact // for viewers
	Error    string
}

// UpstreamHTTP posts revision and http to Action.
type UpstreamHTTP struct {
	Open     bool
	Action   string // "" for viewers
	Revision string
	Version  ui.Group
	Facts    []ui.Fact // for viewers
	Error    string
}

// UpstreamTLS posts revision, pem, system and server_name to Action.
type UpstreamTLS struct {
	Open       bool
	Action     string // "" for viewers
	Revision   string
	CA         ui.Value
	System     bool
	ServerName ui.Value
	Facts      []ui.Fact // what differs from the defaults
	Error      string
}

// HostHeader posts revision and host_header to Action.
type HostHeader struct {
	Open     bool
	Action   string // "" for viewers
	Revision string
	Value    ui.Value
	Error    string
}

// Removal shows the callers of a version or an environment, and asks before it is removed.
type Removal struct {
	Confirm *ui.Confirmation // nil for viewers and where Last is set
	Since   string           // such as 14:00 UTC
	Total   string           // such as 1,204 calls; "" for none
	Callers []CallerRow
	More    string // such as 12 more owners; "" for none
	Last    string // why it can't be removed; "" if it can
}

// CallerRow is an owner of calls. Owner is "" for calls without one.
type CallerRow struct{ Owner, Calls string }
