package contract

import "net/http"

// Changes are the changes that each operation makes, in the order in which they are applied. Remove and Rename take
// names, the others values too.
type Changes[Names, Values any] struct {
	Remove  Names  `json:"remove" doc:"What is removed"`
	Rename  Names  `json:"rename" doc:"What gets another name"`
	Replace Values `json:"replace" doc:"Values of what is there"`
	Add     Values `json:"add" doc:"What is not there yet"`
	Append  Values `json:"append" doc:"Further values"`
}

// RequestChange is what an operation changes of requests.
type RequestChange struct {
	Headers []string `json:"headers" doc:"name:value; of remove the name, of rename name:new name" example:"[\"X-A:1\"]"`
	Query   []string `json:"query" doc:"The same for arguments of the query" example:"[\"page:1\"]"`
	Body    []string `json:"body" doc:"The same for JSON members and form fields" example:"[\"source:shop\"]"`
}

// ResponseNames is what an operation on names changes of responses.
type ResponseNames struct {
	Headers []string `json:"headers" doc:"name; of rename name:new name" example:"[\"X-A\"]"`
	Body    []string `json:"body" doc:"The same for JSON members" example:"[\"internal_notes\"]"`
}

// ResponseValues is what an operation on values changes of responses.
type ResponseValues struct {
	Headers   []string `json:"headers" doc:"name:value" example:"[\"X-A:1\"]"`
	Body      []string `json:"body" doc:"The same for JSON members" example:"[\"version:2\"]"`
	BodyTypes []string `json:"body_types" enum:"string,number,boolean" doc:"Of each value in body; empty: strings"`
}

// RequestChanges are what all operations change of requests.
type RequestChanges struct {
	Changes[RequestChange, RequestChange]
}

// ResponseChanges are what all operations change of responses.
type ResponseChanges struct {
	Changes[ResponseNames, ResponseValues]
}

// Transforms change a version's requests and responses.
type Transforms struct {
	Request  RequestChanges  `json:"request" doc:"On the way to the upstream; remove comes first, append last"`
	Response ResponseChanges `json:"response" doc:"On the way to the caller, also of refusals"`
}

// SavedTransforms are the current Transforms.
type SavedTransforms struct {
	Transforms
	ETag string `json:"etag" doc:"Send as If-Match to replace them"`
}

// Tag returns their ETag.
func (t SavedTransforms) Tag() string { return t.ETag }

// TransformsUpdate is a request to replace the transforms of a version.
type TransformsUpdate struct {
	VersionPath
	Condition
	Body Transforms
}

// The operations on transforms.
var (
	GetTransforms = Op[VersionPath, SavedTransforms]{Operation{
		ID: "get-transforms", Method: http.MethodGet, Path: version + "/transforms", Permission: ReadProjects,
		Summary: "Get the changes to a version's requests and responses", Command: "transforms show PROJECT VERSION",
		Doc: "Has the operations on requests and on responses, in the order in which they are applied.",
	}}
	SetTransforms = Op[TransformsUpdate, SavedTransforms]{Operation{
		ID: "set-transforms", Method: http.MethodPut, Path: version + "/transforms", Permission: UpdateProjects,
		Summary: "Replace the changes to a version's requests and responses",
		Command: "transforms set PROJECT VERSION",
		Doc:     "Replaces all of them. Every gateway follows within a second.",
	}}
)

var transformOperations = []Described{GetTransforms, SetTransforms}
