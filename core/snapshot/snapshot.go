// Package snapshot has the immutable types that describe what a gateway serves: projects, their versions, environments
// and access policies, and the keys that are valid for them. It owns these types, which the gateway and every export
// target read, and the list of Features that a project can use. It leaves loading to service/projects and service/keys,
// and what the types mean for a call to core/policy.
package snapshot

import (
	"net/netip"
	"slices"
	"strings"
	"time"

	"postern/core/contract"
)

// RequestsAuth says which calls to a version are served.
type RequestsAuth = contract.RequestsAuth

// AllowedPairs has the issuers and audiences that the method JWT accepts.
type AllowedPairs = contract.JWT

// KeyPlace is a place where callers can send their keys.
type KeyPlace = contract.KeyPlace

// Metadata is a team's own data about a key.
type Metadata = contract.Metadata

// APIKeyAuth says how callers send their keys.
type APIKeyAuth = contract.APIKeyAuth

// The protocols of WebSockets that are the gateway's, and their header.
const (
	WebSocketProtocolHeader = contract.WebSocketProtocolHeader
	GatewayProtocol         = contract.GatewayProtocol
	KeyProtocol             = contract.KeyProtocol
)

// The modes of RequestsAuth.
const (
	Passthrough  = contract.Passthrough
	Authenticate = contract.Authenticate
)

// The methods of RequestsAuth.
const (
	APIKey = contract.MethodAPIKey
	JWT    = contract.MethodJWT
	Opaque = contract.MethodOpaque
)

// The ways in which RequestsAuth treats calls without an API key.
const (
	Reject        = contract.KeylessReject
	OwnerFallback = contract.KeylessOwnerFallback
)

// Access is the policy of one version: how its callers authenticate, and where calls may come from.
type Access struct {
	RequestsAuth
	IP IPRules
}

// IPRules are a contract.IPRules, compiled. Deny takes precedence.
type IPRules struct {
	Allow []netip.Prefix `json:"allow"` // empty: from anywhere
	Deny  []netip.Prefix `json:"deny"`
}

// Project is one proxied API with everything that serving it requires, except its keys: there can be too many for one
// value, so they are streamed.
type Project struct {
	ID            string // prj_…
	Name          string // host label and path segment
	DisplayName   string
	TeamID        string // team_…; projects of an unclaimed workspace share some limits; not exported
	FormerTeam    string `json:",omitempty"` // the team before a move, which still has its keys; not exported
	FallbackOwner string // the owner that Keyless OwnerFallback counts calls against
	ProductID     string // prd_… of the product it belongs to; "" without one
	Product       string // name of the product
	ProductTitle  string `json:",omitempty"` // display name of the product; "": the name
	Limits        ProjectLimits
	API           API   // what app clients can request
	CORS          *CORS `json:",omitempty"` // nil: left to upstreams
	CreatedAt     time.Time
	ExpiresAt     time.Time // zero: never; from then on, calls to a project of an unclaimed workspace get 410
	TakenDown     bool      // by an operator of this installation: calls get 403; not exported
	Deleted       bool      // in the trash: calls get 410 and keys aren't accepted; it can still be exported
	ImportedKeys  bool      // keys of any form may be valid, because some were imported
	Revision      int64     // of the change feed; grows with every change of this project
	RevisedAt     time.Time // when Revision was written, UTC
	KeyTypes      []KeyType // sorted by name
	Tenants       []Tenant  // sorted by name
	Versions      []Version // sorted by name

	// Clients are the app clients of the tenants that are served, sorted by id.
	Clients []AppClient
	// Barred are the barred users of those tenants and, since their keys are valid for this project too, of the other
	// projects of the product. Sorted by id.
	Barred []BarredUser

	// Members are the owners of keys who are in groups that a version's rules name, sorted by user and tenant.
	Members []Member `json:",omitempty"`

	// Users are the users of the tenants who are in those groups, sorted. They are left out if there are no app
	// clients.
	Users []Member `json:",omitempty"`

	// EndedSessions are the ids (ses_…) of the tenants' sessions that ended within the last BarredFor, so that one of
	// their tokens may not have expired yet. Sorted.
	EndedSessions []string

	// GroupsLeft are the users of the tenants who left groups, sorted by user.
	GroupsLeft []GroupsLeft `json:",omitempty"`

	// CallSigningKeys are in the order in which they sign. None: calls are not signed.
	CallSigningKeys []CallSigningKey `json:",omitempty"`

	// Webhooks are the team's, sorted by id; only in exports.
	Webhooks []Webhook `json:",omitempty"`

	// DataKeys are the keys of the sealed values in Versions and CallSigningKeys.
	DataKeys []DataKey `json:",omitempty"`
}

// FrozenOwner reports whether a key's owner is an end user who is frozen.
func (p *Project) FrozenOwner(owner string) bool {
	byID := func(user BarredUser, id string) int { return strings.Compare(user.ID, id) }
	at, found := slices.BinarySearchFunc(p.Barred, owner, byID)
	return found && !p.Barred[at].Deleted
}

// Version is one version of a project's API.
type Version struct {
	ID           string // ver_…
	Name         string // path segment, such as 1.0.0
	Access       Access
	Rules        Rules
	Transforms   Transforms
	Environments []Environment // sorted by name

	OpenAPI     []byte      // the imported document, JSON; nil: none, or it isn't needed
	Validation  Validation  `json:",omitempty"` // of requests against OpenAPI; "": off
	Publication Publication `json:",omitempty"` // of OpenAPI at the gateway; "": off
	// the document's paths, such as /orders/{id}; they name the routes of usage
	Routes []string `json:",omitempty"`
}

// OpenAPISettings returns how the gateway uses the document.
func (v *Version) OpenAPISettings() contract.OpenAPISettings {
	return contract.OpenAPISettings{Validation: v.Validation, Publication: v.Publication}
}

// Environment is one upstream of a version.
type Environment struct {
	ID     string // env_…
	Name   string // path segment, such as prod
	Target string // absolute http or https URL without userinfo, query and fragment

	// Former is the environment's previous name, as long as keys that are limited to that name are still being
	// reloaded: they stay valid for the environment. "" at all other times.
	Former string

	// Domains are the verified custom domains of the environment, sorted by their keys.
	Domains []Domain

	Headers []UpstreamHeader `json:",omitempty"` // sorted by name

	Certificate *ClientCertificate `json:",omitempty"` // nil: none; only with an https target

	Upstream Upstream `json:",omitzero"`
}

// Domain is a custom domain of an environment. Its host is lowercase ASCII, and its prefix is "" or a normalized path
// without a slash at the end.
type Domain struct {
	contract.DomainAddress
	// Shared reports whether other projects have domains with the same host; only in exports.
	Shared bool `json:"shared,omitempty"`
}

// Takes reports whether the domain handles a call to its host with this method and normalized path. It returns the path
// to forward, which rules are matched against too.
func (d *Domain) Takes(method, path string) (rest string, ok bool) {
	if len(d.Methods) > 0 && !slices.Contains(d.Methods, method) {
		return "", false
	}
	rest, ok = strings.CutPrefix(path, d.PathPrefix)
	if !ok || d.PathPrefix != "" && rest != "" && rest[0] != '/' { // /ordersx is not below /orders
		return "", false
	}
	if !d.StripPrefix {
		rest = path
	}
	if path == "/" { // the root alone is the target itself, as on Kong for a route with hosts and the path /
		rest = ""
	}
	return rest, true
}

// ByPrecedence sorts the domains of a host in the order in which the gateway tries them: domains with methods before
// those without, and then the longest prefix first.
func (d *Domain) ByPrecedence(other *Domain) int {
	if a, b := len(d.Methods) > 0, len(other.Methods) > 0; a != b {
		if a {
			return -1
		}
		return 1
	}
	return len(other.PathPrefix) - len(d.PathPrefix)
}

// KeyType names a set of scopes. Keys refer to it, so that a change of its scopes
// applies to every key of the type at once.
type KeyType struct {
	ID        string // kty_…
	Name      string
	Scopes    []string
	ExpiresIn time.Duration // default lifetime of a new key, whole seconds; 0: none
	Limits    Limits        // of each key of the type without its own
	BuiltIn   bool          // full and read-only, which every project has
}

// DefaultTenant is the name of each project's own tenant.
const DefaultTenant = "default"

// Tenant is one customer workspace.
type Tenant struct {
	ID            string // tnt_…
	Name          string
	FallbackOwner string // for calls without a key whose token names the tenant; "": the project's
	Detached      bool   // it isn't served any more, but keys still refer to it; only in exports

	CORS *CORS `json:",omitempty"` // for calls with its credentials; nil: the project's

	DisplayName string     `json:",omitempty"` // "": the name; only in exports
	Directory   *Directory `json:",omitempty"` // only in exports
}

// KeyState is the stored state of a key. Expiry is not a separate state: it follows from ExpiresAt and the clock.
type KeyState string

// The stored states.
const (
	KeyActive  KeyState = "active"
	KeyFrozen  KeyState = "frozen"
	KeyRevoked KeyState = "revoked"
)

// Consumer is the identity of a key's owner at the gateway that the key was imported from.
type Consumer = contract.Consumer

// Key is an API key without its plaintext.
type Key struct {
	ID          string // key_…
	ProjectID   string
	Owner       string
	KeyType     string // name of a KeyType of the project
	Scopes      []string
	TenantID    string
	Tenant      string // name
	ProductID   string // the key is valid for all projects of this product; "": only for its own project
	Environment string // name of the environment it is valid for; "" for all
	State       KeyState
	OwnerFrozen bool           // in an export: the owner is an end user who is frozen
	Limits      *Limits        // nil: those of its type
	AllowedIPs  []netip.Prefix // empty: from anywhere
	Hash        [32]byte       // SHA-256 of the whole key
	OldHash     *[32]byte      // the secret before the last rotation, valid until GraceEndsAt
	GraceEndsAt time.Time      // zero: no grace running
	ExpiresAt   time.Time      // zero: never

	contract.KeyDetails // only in exports
	contract.KeyIdentity

	FoundIn  uint64 // set by the key table: the state of the table that the key was found in
	FoundFor string // set by the key table: the team in which the key was found
}
