package projects

import (
	"strconv"

	"postern/views/ui"
)

// IssuerRow is a trusted issuer on the form of a version's access. It posts issuer, issuer_audience, issuer_jwks_url,
// issuer_tenant, issuer_removed and secret_token, each once for every row.
type IssuerRow struct {
	N        int    // place in the form
	ID       string // prefix of the ids
	Issuer   ui.Value
	Audience ui.Value
	JWKSURL  ui.Value
	Tenant   ui.Value
	Removed  bool       // it is left out when the form is saved
	New      bool       // it was added a moment ago, and gets the focus
	Error    string     // about the row as a whole
	Report   *Diagnosis // nil before a test
}

// do is the value of the button that does something with the row.
func (r IssuerRow) do(what string) string { return what + " " + strconv.Itoa(r.N) }

// Introspection is the endpoint that a version's opaque tokens are introspected at. It posts introspection,
// introspection_client, introspection_method, introspection_issuer, introspection_audience, introspection_secret and
// introspection_secret_token.
type Introspection struct {
	Endpoint    ui.Value
	ClientID    ui.Value
	Method      ui.Value
	InForm      bool // client_secret_post
	Issuer      ui.Value
	Audience    ui.Value
	HasSecret   bool // there is a secret that it asks with
	SecretError string
	Report      *Diagnosis // nil before a test
}

func (m Introspection) methods() []ui.Option {
	return []ui.Option{
		{Value: "client_secret_basic", Title: "In the header (client_secret_basic)", Chosen: !m.InForm},
		{Value: "client_secret_post", Title: "In the form (client_secret_post)", Chosen: m.InForm},
	}
}

// secretHint says what becomes of a field that never shows what it holds.
func (m Introspection) secretHint() string {
	if m.HasSecret {
		return "Leave empty to keep the saved secret."
	}
	return "Required by some endpoints."
}
