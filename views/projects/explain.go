package projects

import "postern/views/ui"

// Explain asks how the gateway decides a call, and shows the steps that it takes.
type Explain struct {
	Page         ui.Page
	Action       string // takes the question as a query
	Versions     []ui.Option
	Environments []ui.Option
	Methods      []ui.Option
	Version      ui.Value // an error only; the chosen option has the value
	Environment  ui.Value
	Host         ui.Value // a custom domain
	Path         ui.Value
	Key          ui.Value
	User         ui.Value
	Scopes       ui.Value
	Error        string
	Answer       *Explained // nil before a question was asked
	BackURL      string     // of the requests
}

// Explained is what the gateway decides about a call.
type Explained struct {
	Call     string // method and path
	Verdict  ui.Badge
	Decided  string // sentence on what decided
	Exported ui.Badge
	Differs  bool // the exported gateway answers something else
	Steps    []ExplainedStep
	Command  string // the same by the command line
}

// ExplainedStep is one step of a decision.
type ExplainedStep struct {
	Name    string
	Outcome ui.Badge
	Detail  string
}
