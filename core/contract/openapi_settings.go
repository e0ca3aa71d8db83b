package contract

import (
	"net/http"
	"time"
)

// Validation says what happens to a request that does not match the OpenAPI document of its version. JSON has off for
// the zero value.
type Validation string

// The values of Validation.
const (
	ValidationOff     Validation = ""
	ValidationReport  Validation = "report"  // it is forwarded, and counted as a call that would have been refused
	ValidationEnforce Validation = "enforce" // it is refused
)

// MarshalText implements encoding.TextMarshaler.
func (v Validation) MarshalText() ([]byte, error) { return switchText(string(v)), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (v *Validation) UnmarshalText(text []byte) error {
	*v = Validation(switchValue(text))
	return nil
}

// Publication says who can read the OpenAPI document of a version at the gateway, as openapi.json below the URL of each
// environment. The upstream's own openapi.json can't be reached then. JSON has off for the zero value.
type Publication string

// The values of Publication.
const (
	PublicationOff     Publication = ""
	PublicationCallers Publication = "callers" // callers that the access policy and the rules admit
	PublicationPublic  Publication = "public"  // everyone, without a credential
)

// MarshalText implements encoding.TextMarshaler.
func (p Publication) MarshalText() ([]byte, error) { return switchText(string(p)), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (p *Publication) UnmarshalText(text []byte) error {
	*p = Publication(switchValue(text))
	return nil
}

const off = "off"

func switchText(value string) []byte {
	if value == "" {
		value = off
	}
	return []byte(value)
}

func switchValue(text []byte) string {
	if string(text) == off {
		return ""
	}
	return string(text)
}

// OpenAPISettings say what the gateway does with the OpenAPI document of a version.
type OpenAPISettings struct {
	Validation  Validation  `json:"validation" enum:"off,report,enforce" doc:"Request validation. report counts and forwards requests that don't match; enforce refuses them with 422"`
	Publication Publication `json:"publication" enum:"off,callers,public" doc:"Who can read openapi.json at each environment's URL. callers means every caller that the access settings allow; public means everyone"`
}

// SavedOpenAPISettings are the current OpenAPISettings.
type SavedOpenAPISettings struct {
	OpenAPISettings
	Unchecked []Unchecked `json:"unchecked" doc:"Parts of the document that requests aren't checked against"`
	ETag      string      `json:"etag" doc:"Send as If-Match to change the settings"`
}

// Tag returns their ETag.
func (s SavedOpenAPISettings) Tag() string { return s.ETag }

// Unchecked is a part of a document that requests aren't checked against.
type Unchecked struct {
	At     string `json:"at" doc:"Location in the document" example:"PUT /orders: body/schema/properties/price"`
	Reason string `json:"reason"`
}

// OpenAPISettingsUpdate is a request to replace the OpenAPI settings of a version.
type OpenAPISettingsUpdate struct {
	VersionPath
	Condition
	Body OpenAPISettings
}

// InvalidRequest counts the calls of the last 30 days to an operation that didn't match the OpenAPI document, but were
// forwarded because mismatches are only reported.
type InvalidRequest struct {
	Operation string    `json:"operation" doc:"Operation in the document" example:"GET /orders/{id}"`
	Calls     int64     `json:"calls"`
	Problem   string    `json:"problem" doc:"Problem in the last of these calls, without values from the request" example:"query limit must be an integer"`
	LastAt    time.Time `json:"last_at"`
}

// The operations on what the gateway does with the OpenAPI document of a version.
var (
	GetOpenAPISettings = &Op[VersionPath, SavedOpenAPISettings]{Operation{
		ID: "get-openapi-settings", Method: http.MethodGet, Path: version + "/openapi/settings",
		Summary: "Get the OpenAPI settings of a version", Permission: ReadProjects,
		Command: "openapi settings PROJECT VERSION",
		Doc:     "Returns whether requests are validated, and who can read the document.",
	}}
	SetOpenAPISettings = &Op[OpenAPISettingsUpdate, SavedOpenAPISettings]{Operation{
		ID: "set-openapi-settings", Method: http.MethodPut, Path: version + "/openapi/settings",
		Summary: "Set the OpenAPI settings of a version",
		Command: "openapi settings PROJECT VERSION", Permission: UpdateProjects,
		Doc: "Replaces all settings. Use them to validate requests against the document and to publish it.",
	}}
	ListInvalidRequests = &Op[VersionPath, List[InvalidRequest]]{Operation{
		ID: "list-invalid-requests", Method: http.MethodGet, Path: version + "/openapi/invalid-requests",
		Summary: "List calls that didn't match the OpenAPI document", Permission: ReadUsage,
		Command: "openapi invalid PROJECT VERSION",
		Doc: "Counts calls from the last 30 days that didn't match but were forwarded because validation was set to " +
			"report. The list has one item per route and reason, most frequent first.",
	}}
)

var openAPISettingsOperations = []Described{GetOpenAPISettings, SetOpenAPISettings, ListInvalidRequests}
