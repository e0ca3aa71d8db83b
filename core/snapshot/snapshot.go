// Package snapshot is the immutable, gateway-neutral description of what is
// served: projects, their versions, environments and access policies, and the
// keys that open them.
//
// It owns the shapes that the gateway serves from and that every export target
// reads, and the list of Features a project can use. It does not own where they
// come from (projects and keys read rows) nor what they mean for a call (policy).
package snapshot

import (
	"net/netip"
	"slices"
	"strings"
	"time"
)

// Mode says whether a version asks its callers for credentials.
type Mode string

// The modes of requests_auth.mode.
const (
	Passthrough  Mode = "passthrough"  // a call needs no credential
	Authenticate Mode = "authenticate" // a call needs one of the allowed methods
)

// Method is a way for a caller to authenticate.
type Method string

// The methods of requests_auth.methods.
const (
	APIKey Method = "api_key"
	JWT    Method = "jwt"
	Opaque Method = "opaque"
)

// Keyless says what happens to a call without an API key.
type Keyless string

// The values of requests_auth.keyless.
const (
	Reject        Keyless = "reject"
	OwnerFallback Keyless = "owner_fallback" // let through in the name of the project's fallback owner
)

// Access is the authentication policy of one version.
type Access struct {
	Mode    Mode
	Methods []Method // empty: credentials are not looked at and pass to the upstream as they came
	Keyless Keyless
	Issuers []TokenIssuer // whose tokens the method JWT takes; the order they were given in
	Opaque  Introspection // whom the method Opaque asks; the zero value without it
	IP      IPRules
}

// TokenIssuer is a pair of issuer and audience whose JSON Web Tokens are taken: a
// token has to match both.
type TokenIssuer struct {
	Issuer   string // iss, compared byte by byte; an http or https URL
	Audience string // has to be among the token's aud
	JWKSURL  string // where the issuer's keys are; "": where its discovery document says
	Tenant   string // name of the tenant that its callers belong to; "": the project's own
}

// IPRules say from where calls may come. Deny is asked first.
type IPRules struct {
	Allow []netip.Prefix // empty: from anywhere
	Deny  []netip.Prefix
}

// Allows tells whether m is among the allowed methods.
func (a Access) Allows(m Method) bool {
	for _, have := range a.Methods {
		if have == m {
			return true
		}
	}
	return false
}

// TakesTokens tells whether Authorization is looked at.
func (a Access) TakesTokens() bool { return a.Allows(JWT) || a.Allows(Opaque) }

// Project is one proxied API with everything that serves it except its keys,
// which are too many to hold in one value and are streamed instead.
type Project struct {
	ID            string // prj_…
	Name          string // host label and path segment
	DisplayName   string
	FallbackOwner string // whom Keyless OwnerFallback counts against
	ProductID     string // prd_… of the grouping it is in; "" without one
	Product       string // name of that
	Limits        ProjectLimits
	CreatedAt     time.Time
	ExpiresAt     time.Time // zero: never; a project of an unclaimed workspace answers 410 from then on
	TakenDown     bool      // by the operators of this installation: calls are answered 403. It is no part of an export
	Revision      int64     // of the change feed; grows with every change of this project
	RevisedAt     time.Time // when Revision was written, UTC
	KeyTypes      []KeyType // sorted by name
	Tenants       []Tenant  // sorted by name
	Versions      []Version // sorted by name

	Clients []AppClient  // of the tenants that are served; sorted by id
	Barred  []BarredUser // of those tenants, and of those of a project in the product for keys of that; sorted by id
}

// FrozenOwner tells whether a key's owner is an end user who is frozen.
func (p *Project) FrozenOwner(owner string) bool {
	at, found := slices.BinarySearchFunc(
		p.Barred, owner, func(one BarredUser, id string) int { return strings.Compare(one.ID, id) },
	)
	return found && !p.Barred[at].Deleted
}

// Version is one version of a project's API.
type Version struct {
	ID           string // ver_…
	Name         string // path segment, such as 1.0.0
	Access       Access
	Environments []Environment // sorted by name
}

// Environment is one upstream of a version.
type Environment struct {
	ID     string // env_…
	Name   string // path segment, such as prod
	Target string // absolute http or https URL without userinfo, query and fragment
}

// KeyType names a set of scopes; keys refer to it, so that a change of its
// scopes holds for every key of the type at once.
type KeyType struct {
	ID        string // kty_…
	Name      string
	Scopes    []string
	ExpiresIn time.Duration // default lifetime of a new key, whole seconds; 0: none
	Limits    Limits        // of each key of the type that has none of its own
	BuiltIn   bool          // full and read-only, which every project has
}

// DefaultTenant is the name of the tenant that each project has for itself.
const DefaultTenant = "default"

// Tenant is one customer workspace.
type Tenant struct {
	ID            string // tnt_…
	Name          string
	FallbackOwner string // for calls without a key whose token names the tenant; "": the project's
	Detached      bool   // no longer served, though keys are still of it; exports alone know such tenants
}

// KeyState is the stored state of a key. Expiry is not a state of its own: it
// follows from ExpiresAt and the clock.
type KeyState string

// The stored states.
const (
	KeyActive  KeyState = "active"
	KeyFrozen  KeyState = "frozen"
	KeyRevoked KeyState = "revoked"
)

// Key is what is known of an API key; never its plaintext.
type Key struct {
	ID          string // key_…
	ProjectID   string
	Owner       string
	KeyType     string // name of a KeyType of the project
	Scopes      []string
	TenantID    string
	Tenant      string // name
	ProductID   string // it opens every project of this product; "": its own project only
	Environment string // name of the environment it opens; "" opens all
	Description string
	State       KeyState
	OwnerFrozen bool           // in an export: the owner is an end user who is frozen
	Limits      *Limits        // nil: those of its type
	AllowedIPs  []netip.Prefix // empty: from anywhere
	Hash        [32]byte       // SHA-256 of the whole key
	OldHash     *[32]byte      // the secret before the last rotation, valid until GraceEndsAt
	GraceEndsAt time.Time      // zero: no grace running
	ExpiresAt   time.Time      // zero: never
	CreatedAt   time.Time
	Prefix      string // what is shown of the key: everything before the secret
	Last4       string

	FoundIn uint64 // for whoever looks keys up: the state of all keys that this one was found in
}
