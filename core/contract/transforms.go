package contract

import "net/http"

// Changes has the changes of each operation, in the order in which the operations are applied. Remove and Rename take
// names, the others names and values.
type Changes[Names, Values any] struct {
	Remove  Names  `json:"remove" doc:"Names to remove"`
	Rename  Names  `json:"rename" doc:"Names to change, as old:new"`
	Replace Values `json:"replace" doc:"New values of existing items"`
	Add     Values `json:"add" doc:"Items to add if they don't exist"`
	Append  Values `json:"append" doc:"Values to add, even if the item exists"`
}

// RequestChange has the changes of one operation to requests.
type RequestChange struct {
	Headers []string `json:"headers" doc:"Headers as name:value. For remove, the name. For rename, use old:new" example:"[\"X-A:1\"]"`
	Query   []string `json:"query" doc:"Query parameters, in the same format" example:"[\"page:1\"]"`
	Body    []string `json:"body" doc:"JSON members and form fields, in the same format" example:"[\"source:shop\"]"`
}

// ResponseNames has the changes to responses of an operation that takes names.
type ResponseNames struct {
	Headers []string `json:"headers" doc:"Names of headers. For rename, use old:new" example:"[\"X-A\"]"`
	Body    []string `json:"body" doc:"JSON members, in the same format" example:"[\"internal_notes\"]"`
}

// ResponseValues has the changes to responses of an operation that takes values.
type ResponseValues struct {
	Headers   []string `json:"headers" doc:"name:value" example:"[\"X-A:1\"]"`
	Body      []string `json:"body" doc:"JSON members, in the same format" example:"[\"version:2\"]"`
	BodyTypes []string `json:"body_types" enum:"string,number,boolean" doc:"Type of each value in body. Leave empty if all are strings"`
}

// RequestChanges has the changes of all operations to requests.
type RequestChanges struct {
	Changes[RequestChange, RequestChange]
}

// ResponseChanges has the changes of all operations to responses.
type ResponseChanges struct {
	Changes[ResponseNames, ResponseValues]
}

// Transforms change a version's requests and responses.
type Transforms struct {
	Request  RequestChanges  `json:"request" doc:"Changes on the way to the upstream, in the order remove, rename, replace, add, append"`
	Response ResponseChanges `json:"response" doc:"Changes on the way to the caller. They also apply to refusals"`
}

// SavedTransforms are the current Transforms.
type SavedTransforms struct {
	Transforms
	ETag string `json:"etag" doc:"Send as If-Match to replace the transforms"`
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
	GetTransforms = &Op[VersionPath, SavedTransforms]{Operation{
		ID: "get-transforms", Method: http.MethodGet, Path: version + "/transforms", Permission: ReadProjects,
		Summary: "Get a version's transforms", Command: "transforms show PROJECT VERSION",
		Doc: "Returns the changes to requests and responses, in the order in which they are applied.",
	}}
	SetTransforms = &Op[TransformsUpdate, SavedTransforms]{Operation{
		ID: "set-transforms", Method: http.MethodPut, Path: version + "/transforms", Permission: UpdateProjects,
		Summary: "Replace a version's transforms",
		Command: "transforms set PROJECT VERSION",
		Doc:     "Replaces all transforms. The change takes effect on every gateway within a second.",
	}}
)

var transformOperations = []Described{GetTransforms, SetTransforms}
