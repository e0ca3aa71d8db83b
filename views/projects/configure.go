package projects

import "postern/views/ui"

// Head names the project above its pages.
type Head struct {
	Name        string
	DisplayName string
	Access      ui.Badge
	HistoryURL  string // of the audit log; "" for viewers
	Frozen      string // says that the project is taken down and why, "" while it is served
	Deleted     string // when it was deleted, and what follows; "" unless it is in the bin
	DeleteURL   string
}

// Configure is what can be set in a project. Each page has the parts that it shows.
type Configure struct {
	Page     ui.Page
	Head     Head
	ReadOnly bool // for viewers

	Overview   Overview
	Warnings   []string // about what is allowed but may surprise
	NewKeyURL  string   // of the form of a new key; "" for viewers
	Versions   []Version
	AddVersion *VersionForm // nil for viewers

	Keys Keys

	Limits Limits
	CORS   ui.CORS

	General    General
	Product    Product
	SigningURL string // of the signatures of the project's calls
	Move       *Move  // nil where there is no team to move it to
}

// Move posts team and confirm to Action.
type Move struct {
	Action string
	Teams  []ui.Option
	Error  string
}

// General posts revision and display_name to Action.
type General struct {
	Action      string
	Revision    string
	DisplayName ui.Value
	Error       string
}

// Version is one version with its access policy, addresses and environments.
type Version struct {
	ID           string // ver_…
	Name         string
	Access       Access
	Ranges       Ranges
	Environments []Environment

	AccessURL  string // of the page of its access policy
	ExplainURL string // explains how the gateway decides a call
	ManageURL  string // renames and removes it; "" for viewers

	AddEnvironment *EnvironmentForm // nil for viewers
}

// Access posts revision, mode, methods (any of api_key, jwt and opaque), keyless, fallback_owner, and the fields of
// IssuerRow and Introspection to Action. With do it is not saved: the page shows the form with what that asks for.
type Access struct {
	Action        string
	Revision      string
	Mode          string // passthrough or authenticate
	APIKey        bool   // api_key is among the methods
	JWT           bool   // jwt is
	Issuers       []IssuerRow
	IssuersError  string
	Opaque        bool // opaque is
	Introspection Introspection
	Keyless       string // reject or owner_fallback
	FallbackOwner ui.Value
	ModeError     string
	MethodsError  string
	KeylessError  string
	Error         string
}

// The names of the choices, on the form and where two states are compared.
var (
	modeTitles    = map[string]string{"passthrough": "Passthrough", "authenticate": "Authenticate"}
	methodTitles  = map[string]string{"api_key": "API key", "jwt": "JWT", "opaque": "Opaque token"}
	keylessTitles = map[string]string{"reject": "No fallback", "owner_fallback": "Falls back to an owner"}
)

// ModeTitle is what the form calls a mode.
func ModeTitle(mode string) string { return titleOf(modeTitles, mode) }

// MethodTitle is what the form calls a method.
func MethodTitle(method string) string { return titleOf(methodTitles, method) }

// KeylessTitle is what the form calls what becomes of a call without a key.
func KeylessTitle(keyless string) string { return titleOf(keylessTitles, keyless) }

func titleOf(titles map[string]string, value string) string {
	if title, ok := titles[value]; ok {
		return title
	}
	return value
}

func (a Access) modes(id string) ui.Group {
	return ui.Group{
		ID:     id + "-mode",
		Name:   "mode",
		Legend: "Who can call",
		Error:  a.ModeError,
		Options: []ui.Option{
			{
				Value:  "passthrough",
				Title:  ModeTitle("passthrough"),
				Chosen: a.Mode != "authenticate",
				Text:   "Calls without credentials are forwarded.",
			},
			{
				Value:  "authenticate",
				Title:  ModeTitle("authenticate"),
				Chosen: a.Mode == "authenticate",
				Text:   "Every call needs a credential of an allowed type.",
			},
		},
	}
}

func (a Access) methods(id string) ui.Group {
	return ui.Group{
		ID:     id + "-methods",
		Name:   "methods",
		Legend: "Allowed methods",
		Error:  a.MethodsError,
		Hint:   "If a call carries a credential of an allowed type, Postern checks it, even in passthrough mode.",
		Options: []ui.Option{
			{Value: "api_key", Title: MethodTitle("api_key"), Chosen: a.APIKey, Text: "In the X-API-Key header."},
			{
				Value:  "jwt",
				Title:  MethodTitle("jwt"),
				Chosen: a.JWT,
				Text:   "In Authorization: Bearer, from an issuer listed below.",
			},
			{
				Value:  "opaque",
				Title:  MethodTitle("opaque"),
				Chosen: a.Opaque,
				Text:   "In Authorization: Bearer, checked on every call by the introspection endpoint below.",
			},
		},
	}
}

func (a Access) keyless(id string) ui.Group {
	return ui.Group{
		ID:     id + "-keyless",
		Name:   "keyless",
		Legend: "A call without an API key",
		Error:  a.KeylessError,
		Options: []ui.Option{
			{
				Value:  "reject",
				Title:  KeylessTitle("reject"),
				Chosen: a.Keyless != "owner_fallback",
				Text:   "Authenticate refuses it with 401. Passthrough forwards it anonymously.",
			},
			{
				Value:  "owner_fallback",
				Title:  KeylessTitle("owner_fallback"),
				Chosen: a.Keyless == "owner_fallback",
				Text:   "Forwarded, and counted as that owner's call.",
			},
		},
	}
}

// Environment posts revision and target to Action.
type Environment struct {
	ID       string // env_…
	Name     string
	URL      string // where it answers
	Action   string
	Revision string
	Target   ui.Value
	Error    string

	ManageURL      string // renames and removes it; "" for viewers
	CheckAction    string // checks the target; "" for viewers
	HeadersURL     string // of the headers that calls carry to the upstream
	CertificateURL string // of the certificate that it presents to the upstream
}

// Conflict is a form whose values were changed by another request after it was
// opened. Saving anyway posts Hidden, which holds the newer revision, to Action.
type Conflict struct {
	Page    ui.Page
	What    string // such as "The access of version 1.0.0"
	Action  string
	BackURL string // shows the project as it is now
	Rows    []Difference
	Hidden  []Pair
}

// Difference is one setting in both states.
type Difference struct {
	Label  string
	Yours  string
	Theirs string
}

// Pair is a hidden form field.
type Pair struct{ Name, Value string }

// RemoveActions takes the actions of the forms away: what is set can be read, not changed.
func (m *Configure) RemoveActions() {
	m.General.Action, m.Limits.Action, m.CORS.Action, m.Product.Action = "", "", "", ""
	m.AddVersion = nil
	for i := range m.Versions {
		version := &m.Versions[i]
		version.Access.Action, version.Ranges.Action = "", ""
		version.ManageURL, version.AddEnvironment = "", nil
		for j := range version.Environments {
			version.Environments[j].Action, version.Environments[j].ManageURL = "", ""
			version.Environments[j].CheckAction = ""
		}
	}
}
