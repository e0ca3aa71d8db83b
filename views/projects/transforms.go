package projects

import "postern/views/ui"

// Transforms shows how a version changes requests and responses.
type Transforms struct {
	Page    ui.Page
	Version string // name
	Rows    []TransformRow
	Form    *TransformsForm // nil for viewers
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

// transformSyntax are the parts of a line of transforms.
var transformSyntax = []ui.Fact{
	{Label: "request, response", Value: "A header."},
	{Label: "query", Value: "A query parameter of the request."},
	{Label: "request-body, response-body", Value: "A member of a JSON object, or a form field."},
	{Label: "request remove X-Debug", Value: "Removes the header."},
	{Label: "response rename X-Powered-By: X-Upstream", Value: "Renames the header."},
	{Label: "query replace page: 1", Value: "Sets the value if the parameter exists."},
	{Label: "request add X-Source: shop", Value: "Adds the header if it doesn't exist."},
	{Label: "request append X-Tag: a", Value: "Adds another value."},
	{Label: "response-body add number version: 2", Value: "Adds a number. The type can also be boolean or string."},
}
