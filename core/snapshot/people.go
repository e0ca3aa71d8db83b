package snapshot

import (
	"time"

	"postern/core/contract"
)

// The following types are only loaded for exports. Gateways don't need them.

// ClientSettings are an app client's settings, without the keys that verify its tokens.
type ClientSettings struct {
	RedirectURIs         []string
	LogoutURIs           []string // that a browser may be sent to after a sign-out
	BackchannelLogoutURI string   // where the client is notified that a session has ended, or ""
	APIScopes            []string // that it may request
	GrantTypes           []string
	SecretHash           []byte        // SHA-256; nil: a public client
	PKCE                 string        // required, or when_sent for a client with a secret
	AccessFor            time.Duration // lifetime of its access tokens, whole seconds
	RefreshFor           time.Duration // lifetime of its refresh tokens, whole seconds; 0: it gets none
	Algorithm            string        // of new signing keys
	CreatedAt            time.Time

	contract.Branding // of the sign-in page; "": the default
}

// Branded reports whether the sign-in page has its own branding.
func (s *ClientSettings) Branded() bool { return s.Branding != contract.Branding{} }

// SkipsPKCE reports whether the client may send requests without PKCE.
func (s *ClientSettings) SkipsPKCE() bool { return s.SecretHash != nil && s.PKCE == "when_sent" }

// ProviderSettings are a provider's settings, except for the choice of tokens, which gateways get too.
type ProviderSettings struct {
	Managed              bool // the installation's own app, for which the team has no secret
	HasSecret            bool
	Scopes               []string
	Label                string   // on its button; "": the name of the type
	Audience             string   // the API that its access tokens are for; "": none
	ResponseMode         string   // query or form_post; "": the type takes none
	AuthoritativeDomains []string // of email addresses
	SignInDomains        []string // of email addresses whose users are sent to it
	Mappings             []GroupMapping
	Endpoints            *ProviderEndpoints // nil until its discovery document was read
	CreatedAt            time.Time
}

// ProviderEndpoints are the endpoints in a provider's discovery document (OpenID Connect Discovery 1.0, 3).
type ProviderEndpoints struct {
	Authorization string `json:"authorization"`
	Token         string `json:"token"`
	UserInfo      string `json:"userinfo"` // "": it doesn't have one
	JWKS          string `json:"jwks"`
	EndSession    string `json:"end_session"` // "": it doesn't have one
}

// GroupMapping is a rule by which a provider's claims put users into a group.
type GroupMapping struct {
	Claim string // a path
	Value string
	Match string // exact or prefix
	Group string // name
}

// Text returns the rule as a line, such as: groups = /sales → sales.
func (m GroupMapping) Text() string {
	rest := ""
	if m.Match == "prefix" {
		rest = "…"
	}
	return m.Claim + " = " + m.Value + rest + " → " + m.Group
}

// Directory is a tenant's groups and sign-up policy. It doesn't contain the users: there can be too many for one value,
// so they are streamed.
type Directory struct {
	InviteOnly bool       // only users who are expected may join
	Approvals  []Approval // who may, sorted by id
	Groups     []Group    // sorted by name
	Users      int64      // how many there are
	Consents   int64      // of all users, to app clients
}

// Approval lets people join an invite-only tenant.
type Approval struct {
	ID        string
	Kind      string   // email or domain
	Value     string   // lowercase
	Groups    []string // ids of the groups that they are added to
	CreatedAt time.Time
}

// Group is a group of users of a tenant, and of apps that own keys of it.
type Group struct {
	ID          string // grp_…
	Name        string
	DisplayName string       // "": the name
	ExternalID  string       // a provisioning system's id; "" if none created it
	Parents     []string     // ids of the groups that contain it, sorted
	Owners      []GroupOwner // direct ones, sorted by name
	CreatedAt   time.Time
	UpdatedAt   time.Time
}

// GroupOwner says that an app that owns keys is in a group.
type GroupOwner struct {
	Owner     string // as in Key
	Role      string // member or admin
	CreatedAt time.Time
}

// User is a user of a tenant.
type User struct {
	ID            string // usr_…; the sub of their tokens
	Email         string // lowercase; "": the provider doesn't state one
	EmailVerified bool
	Name          string
	Profile       string // JSON object of the other claims that a provider sent; "": none
	UserName      string // the name in a provisioning system, lowercase; "": none
	ExternalID    string // the provisioning system's own id; "": none
	State         string // active, frozen or invited
	CreatedAt     time.Time
	UpdatedAt     time.Time
	Identities    []Identity   // sorted by issuer and subject
	Memberships   []Membership // direct ones, sorted by group
	Consents      []Consent    // sorted by app client
}

// Identity is the account of a user at a provider.
type Identity struct {
	Issuer     string // the provider's type, and its issuer where the type does not imply it
	Subject    string // the provider's id of the user
	ProviderID string // through which it was first seen; it may be gone
	CreatedAt  time.Time
}

// Membership says that a user is in a group.
type Membership struct {
	GroupID   string
	Role      string // member or admin
	Mapped    bool   // only because of a provider's claims
	CreatedAt time.Time
}

// Consent is a user's consent to share data with an app client.
type Consent struct {
	ClientID  string
	Scope     string // separated by spaces
	CreatedAt time.Time
	UpdatedAt time.Time
}

// Webhook is a team's URL that is notified of events, without its signing secret.
type Webhook struct {
	ID      string
	Host    string // of its URL, which may have a secret in its path
	Events  []string
	Enabled bool
}
