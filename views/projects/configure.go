package projects

import (
	"strings"

	"postern/core/contract"
	"postern/views/ui"
)

// Head names the project above its pages.
type Head struct {
	Name        string
	DisplayName string
	Access      ui.Badge
	HistoryURL  string // of the audit log; "" for viewers
	Frozen      string // says that the project is taken down and why, "" while it is served
	Deleted     string // when it was deleted, and what follows; "" unless it is in the trash
	DeleteURL   string
}

// Configure is what can be set in a project. Each page has the parts that it shows.
type Configure struct {
	Page     ui.Page
	Head     Head
	ReadOnly bool // for viewers

	Overview   Overview
	Warnings   []ui.Notice // about what is allowed but may surprise
	NewKeyURL  string      // of the form of a new key; "" for viewers
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

// asNotices returns warnings without a link.
func asNotices(texts []string) (out []ui.Notice) {
	for _, text := range texts {
		out = append(out, ui.Notice{Tone: ui.Warn, Text: text})
	}
	return out
}

// Move posts team and confirm to Action.
type Move struct {
	Action string
	Teams  []ui.Option
	Error  string
}

// General posts revision and display_name to Action.
type General struct {
	Name        string // which can't be changed
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
// KeyPlaceRow, IssuerRow and Introspection to Action. With do it is not saved: the page shows the form with what that
// requests.
type Access struct {
	Action   string
	Revision string
	contract.RequestsAuth
	Wrong     map[string]string // by the member of RequestsAuth
	KeyPlaces []KeyPlaceRow

	KeyPlacesError string
	SendMetadata   bool

	Issuers       []IssuerRow
	IssuersError  string
	Introspection Introspection
	FallbackOwner ui.Value
	Error         string
}

// accessTitles are the names of the choices by their member, on the form and where two states are compared.
var accessTitles = map[string]map[string]string{
	"mode":    {"passthrough": "Passthrough", "authenticate": "Authenticate"},
	"methods": {"api_key": "API key", "jwt": "JWT", "opaque": "Opaque token"},
	"keyless": {"reject": "No fallback", "owner_fallback": "Fallback owner"},
}

// AccessText is what the form calls the values of a member of RequestsAuth.
func AccessText(member string, values []string) string {
	if len(values) == 0 {
		return "none"
	}
	titles := make([]string, len(values))
	for i, value := range values {
		if titles[i] = accessTitles[member][value]; titles[i] == "" {
			titles[i] = value
		}
	}
	return strings.Join(titles, ", ")
}

// choice is an option of a member of RequestsAuth.
func choice(member, value string, chosen bool, text string) ui.Option {
	return ui.Option{Value: value, Title: AccessText(member, []string{value}), Chosen: chosen, Text: text}
}

func (a Access) modes(id string) ui.Group {
	return ui.Group{
		ID:     id + "-mode",
		Name:   "mode",
		Legend: "Who can call",
		Error:  a.Wrong["mode"],
		Options: []ui.Option{
			choice("mode", "passthrough", a.Mode != "authenticate", "Calls without credentials are forwarded."),
			choice("mode", "authenticate", a.Mode == "authenticate",
				"Every call must have a credential of an allowed type."),
		},
	}
}

func (a Access) methods(id string) ui.Group {
	return ui.Group{
		ID:     id + "-methods",
		Name:   "methods",
		Legend: "Allowed methods",
		Error:  a.Wrong["methods"],
		Hint:   "If a call includes a credential of an allowed type, Postern checks it, even in passthrough mode.",
		Options: []ui.Option{
			choice("methods", "api_key", a.Allows("api_key"), "In one of the places listed below."),
			choice("methods", "jwt", a.Allows("jwt"), "A bearer token from an issuer listed below."),
			choice("methods", "opaque", a.Allows("opaque"),
				"A bearer token, checked on every call by the introspection endpoint below."),
		},
	}
}

func (a Access) keyless(id string) ui.Group {
	return ui.Group{
		ID:     id + "-keyless",
		Name:   "keyless",
		Legend: "Calls without an API key",
		Error:  a.Wrong["keyless"],
		Options: []ui.Option{
			choice("keyless", "reject", a.Keyless != "owner_fallback",
				"In authenticate mode, these calls need another credential of an allowed type. In passthrough mode, "+
					"they're forwarded."),
			choice("keyless", "owner_fallback", a.Keyless == "owner_fallback",
				"These calls are forwarded on behalf of the fallback owner."),
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
	Forwards string // the target that is saved
	Error    string

	ManageURL      string // renames and removes it; "" for viewers
	CheckAction    string // checks the target; "" for viewers
	HeadersURL     string // of the headers that calls carry to the upstream
	CertificateURL string // of the certificate that it presents to the upstream
	TimeoutsURL    string
	TargetsURL     string // of the page with the targets and their health
}

// Conflict is a form whose values were changed by another request after it was
// opened. Saving anyway posts Hidden, which holds the newer revision, to Action.
type Conflict struct {
	Page    ui.Page
	What    string // such as "The access to version 1.0.0"
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
