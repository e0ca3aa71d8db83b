package projects

import (
	"time"

	"postern/core/contract"
	"postern/views/ui"
)

// OpenAPI shows the OpenAPI document of a version, and imports another one.
type OpenAPI struct {
	Page      ui.Page
	Version   string // name
	Facts     []ui.Fact
	URL       string // of this page
	Search    string // what the operations are searched for; "": nothing
	Total     int    // operations, also those that are not found
	Groups    []OperationGroup
	Paging    ui.Paging
	Warnings  []string
	Settings  *OpenAPISettings
	Invalid   []InvalidRow
	Unchecked []ui.Fact
	Form      *OpenAPIForm // nil for viewers
	Remove    *ui.Confirmation
	RulesURL  string // shows the proposed rules in the form of the version's rules; "": none
}

// OperationGroup are the operations with a tag.
type OperationGroup struct {
	Tag  string
	Rows []OperationRow
}

// OperationRow is an operation in the list.
type OperationRow struct {
	Method, Path, Summary, Scopes string
	Deprecated                    bool
	URL                           string // of what the document says of it
}

// InvalidRow counts the calls to an operation that validation would have refused.
type InvalidRow struct {
	Operation, Calls, Problem string
	Last                      time.Time
}

// OpenAPISettings posts revision, validation and publication to Action.
type OpenAPISettings struct {
	contract.SavedOpenAPISettings // current, or as posted

	Action  string // "": they are only shown
	Address string // of the published document; "": none
	Error   string
	Wrong   string // of validation
}

func (f *OpenAPISettings) validations() ui.Group {
	now, _ := f.Validation.MarshalText()
	option := func(value, title, text string) ui.Option {
		return ui.Option{Value: value, Title: title, Text: text, Chosen: string(now) == value}
	}
	return ui.Group{
		ID:     "openapi-validation",
		Name:   "validation",
		Legend: "Request validation",
		Error:  f.Wrong,
		Options: []ui.Option{
			option("off", "Off", "Requests are forwarded unchecked."),
			option("report", "Report", "Requests that don't match the document are forwarded and counted."),
			option("enforce", "Enforce", "Requests that don't match the document get 422 invalid_request."),
		},
	}
}

func (f *OpenAPISettings) publications() ui.Group {
	now, _ := f.Publication.MarshalText()
	option := func(value, title, text string) ui.Option {
		return ui.Option{Value: value, Title: title, Text: text, Chosen: string(now) == value}
	}
	return ui.Group{
		ID:     "openapi-publication",
		Name:   "publication",
		Legend: "Publish openapi.json",
		Hint:   "Published under each environment's gateway URL, with that URL as the server.",
		Options: []ui.Option{
			option("off", "Not published", "Calls to this path go to the upstream."),
			option("callers", "For callers", "Only callers that Access and Rules allow can read it."),
			option("public", "Public", "Anyone can read it without a credential."),
		},
	}
}

// Operation shows what a document says of one operation.
type Operation struct {
	Page                 ui.Page
	Method, Path         string
	Summary, Description string
	Deprecated           bool
	Facts                []ui.Fact
	Parameters           []MemberRow
	Body                 []ContentView
	Responses            []ResponseView
	BackURL              string
}

// ResponseView is a response of an operation.
type ResponseView struct {
	Status, Description string
	Content             []ContentView
}

// ContentView is a body in one content type.
type ContentView struct {
	Title   string
	Members []MemberRow
	Example string
	Cut     bool
}

// MemberRow is a parameter, or a member of an object.
type MemberRow struct {
	Name, Type, Rules, Note string
	Required                bool
	Depth                   int
}

func (m MemberRow) indent() string { return indents[min(m.Depth, len(indents)-1)] }

// OpenAPIForm posts revision, openapi_url and openapi_document to Action.
type OpenAPIForm struct {
	Action   string
	Revision string
	URL      ui.Value
	Document ui.Value
	Error    string
}
