package projects

import (
	"github.com/a-h/templ"

	"postern/views/ui"
)

// Login lists the app clients of a project's tenants and creates more of them.
type Login struct {
	Page     ui.Page
	Head     Head
	Warnings []ui.Notice // about what is allowed but may surprise
	Rows     []AppClientRow
	List     ui.List
	Create   *AppClientCreate // nil for who may not
	API      LoginAPI
}

// LoginAPI sums up what applications can ask for at the project's API.
type LoginAPI struct {
	URL      string // of the API scopes
	Scopes   string // such as 3 scopes
	Audience string // "" for none
}

// AppClientRow is an app client in the list.
type AppClientRow struct {
	Name      string
	URL       string
	Tenant    string
	Kind      string // confidential or public
	Frozen    bool
	Providers []string // what their buttons say
	Redirects []string
}

// AppClientCreate posts tenant, name, redirect_uris and confidential to Action.
type AppClientCreate struct {
	Open         bool
	Action       string
	Tenants      []ui.Option
	Name         ui.Value
	Redirects    ui.Value
	Confidential bool
	Error        string
}

// AppClient is an app client with what can be done to it. What the viewer may not do
// is nil or "".
type AppClient struct {
	Page         ui.Page
	Name         string
	Facts        []ui.Fact
	ClientID     string
	Issuer       string
	AuthorizeURL string
	TestAction   string
	TestProblem  string // why users cannot sign in yet, "" where they can
	Frozen       bool
	Providers    []ProviderRow
	Settings     *AppClientSettings
	API          *ClientAccess // with no action for who may only read it
	Keys         *ClientKeys
	Freeze       *ClientFreeze
	Branding     *Branding
	Preview      templ.Component
	Secret       *AppClientSecret
	Delete       *ui.Confirmation
	BackURL      string
}

// sections are the links to what the page has, in its order.
func (m AppClient) sections() []ui.Link {
	links := []ui.Link{{URL: "#connect", Text: "Connect"}, {URL: "#providers", Text: "Providers"}}
	add := func(shown bool, id, text string) {
		if shown {
			links = append(links, ui.Link{URL: "#" + id, Text: text})
		}
	}
	add(m.Settings != nil, "settings", "Settings")
	add(m.API != nil, "access", "API access")
	add(true, "branding", "Branding")
	add(m.Secret != nil, "secret", "Client secret")
	add(m.Keys != nil, "signing-keys", "Signing keys")
	if m.Freeze != nil {
		add(true, "freeze", m.Freeze.title())
	}
	add(m.Delete != nil, "delete", "Delete")
	return links
}

// ProviderRow is a provider, or a kind of which there is none.
type ProviderRow struct {
	ID     string // "" for a kind of which there is none
	Label  string
	Text   string // whose app, and what goes on of its tokens
	State  ui.Badge
	URL    string // of the provider's page
	Switch string // posts enabled; "" for who may not
	On     bool
	SetUp  string // leads to the form that adds one, "" for who may not
	Add    string // posts type and makes one at once: nothing has to be asked
	Type   string // kind
	Error  string
}

// AppClientSettings posts revision, name, redirect_uris, logout_uris, access_minutes,
// refresh_days, algorithm and, where it has options, pkce to Action.
type AppClientSettings struct {
	Action               string
	Revision             string
	Name                 ui.Value
	Redirects            ui.Value
	Logouts              ui.Value
	BackchannelLogoutURI ui.Value
	Access               ui.Value
	Refresh              ui.Value
	Algorithms           []ui.Option
	Algorithm            string      // what is wrong with the choice
	PKCE                 []ui.Option // none for a public client, which always needs it
	PKCEError            string
	Error                string
}

// Branding posts revision, title, welcome, logo_url and color to Action; PreviewURL
// shows them before they are saved.
type Branding struct {
	Action     string
	Revision   string
	PreviewURL string
	Title      ui.Value
	Welcome    ui.Value
	LogoURL    ui.Value
	Color      ui.Value
	Error      string
}

// AppClientSecret posts kind, confidential or public, and confirm to Action.
type AppClientSecret struct {
	Action       string
	ETag         string // of the app client, see ui.NonceFor
	Confidential bool
	Error        string
}

// NewSecret shows an app client's secret, once.
type NewSecret struct {
	Page   ui.Page
	Title  string
	Secret string
	Facts  []ui.Fact
	Back   string
}

// ProviderNew posts type, issuer and managed to Action.
type ProviderNew struct {
	Page    ui.Page
	Label   string
	Type    string
	Action  string
	Issuer  *ui.Field // nil where there is nothing to ask
	Managed []ui.Option
	Wrong   string // with managed
	Error   string
	BackURL string
}

// Provider is a provider with what can be done to it.
type Provider struct {
	Page     ui.Page
	Label    string
	Facts    []ui.Fact
	Callback string
	Register string // where, in words

	MappingsURL string     // of its group mappings, "" where there are no claims
	TestAction  string     // "" for who may not
	Report      *Diagnosis // nil before a test
	Edit        *ProviderForm
	Delete      *ui.Confirmation
	BackURL     string
}

// ProviderForm posts revision, client_id, client_secret, scopes, client_token, upstream_token and enabled to
// Action.
type ProviderForm struct {
	Action    string
	Revision  string
	Managed   bool
	Label     ui.Value
	LabelHint string // what users see without a label
	SignIn    ui.Value
	HasSecret bool
	NeedsID   bool
	ClientID  ui.Value
	Secret    string // what is wrong with it: what was typed is never shown again
	NeedsKey  bool   // the kind works with a secret alone
	Scopes    ui.Value
	Audience  *ui.Value // nil for a kind that takes none
	Domains   *ui.Value // nil for a kind that takes none
	Tokens    TokenChoice

	ResponseMode *ui.Group // nil for a kind that takes none

	On    bool
	Error string
}

func (f ProviderForm) secretHint() string {
	if f.HasSecret {
		return "Leave empty to keep the saved secret."
	}
	return "Stored encrypted and never shown again."
}

func (s AppClientSettings) algorithms() ui.Group {
	return ui.Group{
		ID:      "client-algorithm",
		Name:    "algorithm",
		Legend:  "Token signature",
		Options: s.Algorithms,
		Error:   s.Algorithm,
	}
}

func (s AppClientSettings) pkce() ui.Group {
	return ui.Group{
		ID:      "client-pkce",
		Name:    "pkce",
		Legend:  "PKCE",
		Options: s.PKCE,
		Error:   s.PKCEError,
	}
}

// MappingOutcome is a group mapping with what a test login's claims made of it.
type MappingOutcome struct {
	Rule   string // for example: groups is "staff"
	Group  string
	Values string // that the claim had
	State  ui.Badge
}

// TestLogin shows the result of a test login.
type TestLogin struct {
	Page    ui.Page
	Name    string
	Problem string // why it ended with nothing, "" where a user was signed in
	Facts   []ui.Fact
	ID      []ui.Fact // claims of the ID token, as JSON
	Access  []ui.Fact // of the access token; none where that is the provider's own
	Stated  []ui.Fact // claims of the provider, as JSON
	Groups  []MappingOutcome
	BackURL string // of the app client, "" where no project serves its tenant
}
