package projects

import "postern/views/ui"

// OpenAPI shows the OpenAPI document of a version, and imports another one.
type OpenAPI struct {
	Page       ui.Page
	Version    string // name
	Facts      []ui.Fact
	Operations []OperationRow
	Form       *OpenAPIForm // nil for viewers
	Remove     *ui.Confirmation
	RulesURL   string // shows the proposed rules in the form of the version's rules; "": none
	BackURL    string // of the project
}

// OperationRow is an operation in the list.
type OperationRow struct {
	Method, Path, Summary, Scopes string
	Deprecated                    bool
}

// OpenAPIForm posts revision, openapi_url and openapi_document to Action.
type OpenAPIForm struct {
	Action   string
	Revision string
	URL      ui.Value
	Document ui.Value
	Error    string
}
