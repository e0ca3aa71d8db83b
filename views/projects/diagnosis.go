package projects

import "postern/views/ui"

// Diagnosis is the report of a test of something that a project depends on.
type Diagnosis struct {
	ID      string // of the element
	Title   string // what was tested
	Outcome ui.Badge
	Steps   []ExplainedStep
	Facts   []ui.Fact
	Problem string // why there was no test; "" with a report
}

// TargetCheck checks the target of an environment by posting to Action.
type TargetCheck struct {
	Page    ui.Page
	Title   string // version and environment
	Target  string
	Action  string
	Report  Diagnosis
	Command string
	Offer   *CAOffer // nil: none
	BackURL string
}

// CAOffer posts revision, pem, system and server_name to Action: the settings of an environment with the certificate
// that its upstream sent.
type CAOffer struct {
	Action     string
	Revision   string
	PEM        string
	System     bool
	ServerName string
	Facts      []ui.Fact
}
