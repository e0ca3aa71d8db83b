package projects

import (
	"time"

	"postern/views/ui"
)

// UpstreamHeaders lists the headers that calls to an environment carry to its upstream, and
// sets more of them.
type UpstreamHeaders struct {
	Page    ui.Page
	Title   string // version and environment, such as 1.0.0/prod
	Target  string
	Set     *UpstreamHeaderForm // nil for viewers
	Rows    []UpstreamHeaderRow
	BackURL string // of the project
}

// UpstreamHeaderForm posts name and secret_value to Action. The value is never shown.
type UpstreamHeaderForm struct {
	Action     string
	Name       ui.Value
	ValueError string
	Error      string
}

// UpstreamHeaderRow is a header in the list.
type UpstreamHeaderRow struct {
	Name      string
	Since     time.Time // when its value was set
	RemoveURL string    // of the page that asks first, "" for viewers
}

// UpstreamHeaderRemoval asks before a header is removed.
type UpstreamHeaderRemoval struct {
	Page    ui.Page
	Name    string
	Facts   []ui.Fact
	Confirm ui.Confirmation
	BackURL string // of the list
}
