package projects

import "postern/views/ui"

// Transforms shows how a version changes requests and responses.
type Transforms struct {
	Page    ui.Page
	Version string // name
	Rows    []TransformRow
	Form    *TransformsForm // nil for viewers
	BackURL string          // of the project
}

// TransformRow is a change to a header, to the query or to a body.
type TransformRow struct {
	Direction string // request, query, request-body, response or response-body
	Operation string
	Header    string
	Value     string // of a rename the new name; "": none
	Type      string // of a value in a body; "": string
}

// TransformsForm posts revision and transforms, one a line, to Action.
type TransformsForm struct {
	Action   string
	Revision string
	Lines    ui.Value
	Error    string
}
