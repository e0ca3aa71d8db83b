package snapshot

// Validation says what becomes of a request that does not match the OpenAPI document of its version.
type Validation string

// The values of Validation.
const (
	ValidationOff     Validation = ""
	ValidationReport  Validation = "report"  // it is forwarded, and counted as one that would have been refused
	ValidationEnforce Validation = "enforce" // it is refused
)

// Publication says who can read the OpenAPI document of a version at the gateway, as openapi.json below
// the address of each environment. The upstream's own openapi.json is not reached then.
type Publication string

// The values of Publication.
const (
	PublicationOff     Publication = ""
	PublicationCallers Publication = "callers" // callers that access policy and rules admit
	PublicationPublic  Publication = "public"  // everyone, without a credential
)
