package policy

import (
	"cmp"
	"net/netip"
	"strings"
	"time"

	"postern/core/snapshot"
)

// Denial is an error response that the gateway sends instead of the upstream's.
type Denial struct {
	Status  int    // HTTP status code
	Code    string // stable, snake_case
	Message string // one sentence for the caller
}

// The denials of the gateway. An exported gateway sends the same bytes for each denial that its
// plugin implements.
var (
	NoRoute             = Denial{404, "no_route", "There is no project, version or environment at this URL."}
	CredentialsRequired = Denial{401, "credentials_required", "Send an API key in the X-API-Key header."}
	TokenRequired       = Denial{401, "credentials_required", "Send a token as Authorization: Bearer."}
	EitherRequired      = Denial{401, "credentials_required", "Send an API key in the X-API-Key header, or a token " +
		"as Authorization: Bearer."}
	KeyInAuthorization = Denial{401, "credentials_required", "Authorization contains an API key. Send it in the " +
		"X-API-Key header."}
	TokensNotAccepted = Denial{401, "credentials_required", "Authorization contains a token, but this API doesn't " +
		"accept tokens. Send an API key in the X-API-Key header."}
	KeysNotAccepted = Denial{401, "invalid_token", "Authorization contains an API key, but this API doesn't accept " +
		"API keys. Send a token as Authorization: Bearer."}
	InvalidToken = Denial{401, "invalid_token", "This token isn't valid here."}
	InvalidKey   = Denial{401, "invalid_key", "This API key isn't valid here."}
	KeyFrozen    = Denial{403, "key_frozen", "This API key is frozen."}
	WrongTenant  = Denial{403, "wrong_tenant", "This API key belongs to a tenant that isn't served here."}
	TokenTenant  = Denial{403, "wrong_tenant", "This token belongs to a tenant that isn't served here, or to a " +
		"different tenant than the API key."}
	UserFrozen        = Denial{403, "user_frozen", "This user is frozen."}
	ClientFrozen      = Denial{403, "client_frozen", "This application is frozen."}
	InsufficientScope = Denial{403, "insufficient_scope", "This route requires a scope that the caller doesn't have."}
	TokenScope        = Denial{403, "insufficient_scope", "This route requires a scope that the token doesn't have."}
	NotInGroup        = Denial{403, "not_in_group", "This route requires a group that the caller isn't in."}
	NotOwner          = Denial{403, "not_owner", "Only the owner of this object can make this call."}
	NoRule            = Denial{403, "no_rule", "None of this API's rules allow this route."}
	IPDenied          = Denial{403, "ip_denied", "Calls from this IP address aren't allowed."}
	RateLimited       = Denial{429, "rate_limited", "Too many calls. Try again after the time in Retry-After."}
	QuotaExceeded     = Denial{429, "quota_exceeded", "The call quota is used up. Try again after the time in " +
		"Retry-After."}
	LimitsUnavailable = Denial{503, "limits_unavailable", "Calls can't be counted right now."}
	ProjectFrozen     = Denial{403, "project_frozen", "The operator of this gateway has taken down this proxy."}
	ExpiredProxy      = Denial{410, "expired_proxy", "This proxy was never claimed and has expired."}
	Deleted           = Denial{410, "deleted", "This proxy was deleted by its team."}
	ClaimRequired     = Denial{403, "claim_required", "This proxy isn't claimed yet. Until it is claimed, it doesn't " +
		"forward WebSockets, large responses, or calls to ports other than 80 and 443."}
	UpstreamUnreachable = Denial{502, "upstream_unreachable", "The upstream can't be reached."}
	NoHealthyUpstream   = Denial{503, "no_healthy_upstream", "The upstream has no healthy targets."}
	UpstreamOpen        = Denial{503, "upstream_open", "Calls to the upstream are stopped because too many calls " +
		"have failed."}
	IssuerUnavailable = Denial{503, "issuer_unavailable", "The token issuer's keys aren't available right now."}
	TokenIssuerAway   = Denial{503, "provider_unavailable", "The token can't be checked right now, because its " +
		"issuer can't be reached."}
	TokenIssuerNonsense = Denial{502, "provider_answer_invalid", "The token's issuer returned an invalid response."}
	UnverifiableToken   = Denial{401, "unverifiable_token", "The token's issuer doesn't specify which application " +
		"the token was issued for."}
	TokenSealed = Denial{503, "provider_token_unavailable", "The provider's token for the upstream can't be " +
		"decrypted right now."}
	GRPCNeedsDomain = Denial{501, "grpc_needs_domain", "gRPC is served only on custom domains, because the paths of " +
		"gRPC calls can't have a prefix."}
	GRPCNeedsHTTP2 = Denial{501, "grpc_needs_http2", "gRPC requires HTTP/2, which isn't used for calls to this " +
		"upstream."}
	UpstreamTimeout = Denial{504, "upstream_timeout", "The upstream didn't respond in time."}
	LoopDetected    = Denial{508, "loop_detected", "This request has already passed through this gateway too many " +
		"times."}
	BadRequest = Denial{400, "bad_request", "The request target isn't valid."}
	BadPath    = Denial{400, "bad_path", "A dot segment in the path points above the root or is hidden, for example " +
		"by an encoded slash."}
	MethodNotAllowed = Denial{405, "method_not_allowed", "This method isn't forwarded."}
	RequestTimeout   = Denial{408, "request_timeout", "The request body arrived too slowly."}
	InvalidRequest   = Denial{422, "invalid_request", "The request doesn't match the OpenAPI document of this API."}
	BodyTooLarge     = Denial{413, "body_too_large", "The request body is too large."}
	BodyNoObject     = Denial{400, "bad_body", "A JSON body must be an object or an array."}
	Busy             = Denial{503, "busy", "The gateway is using all its memory for request bodies. Try again in a " +
		"moment."}
	TooManyCalls = Denial{503, "upstream_busy", "This API has too many calls in progress. Try again in a moment."}
	Compiling    = Denial{503, "busy", "The gateway is still reading the OpenAPI document of this API. Try again in " +
		"a moment."}
	ResponseTooLarge = Denial{502, "response_too_large", "The response is too large to be changed."}
)

// Denials returns every Denial, ordered by status.
func Denials() []Denial {
	return []Denial{
		BadRequest, BadPath, BodyNoObject,
		CredentialsRequired, TokenRequired, EitherRequired, KeyInAuthorization, TokensNotAccepted, KeysNotAccepted,
		InvalidKey, InvalidToken, UnverifiableToken,
		KeyFrozen, WrongTenant, TokenTenant, UserFrozen, ClientFrozen, IPDenied, ProjectFrozen, ClaimRequired,
		InsufficientScope, TokenScope, NotInGroup, NotOwner, NoRule,
		NoRoute, MethodNotAllowed, RequestTimeout, ExpiredProxy, Deleted, BodyTooLarge, InvalidRequest,
		RateLimited, QuotaExceeded, GRPCNeedsDomain, GRPCNeedsHTTP2,
		UpstreamUnreachable, ResponseTooLarge, TokenIssuerNonsense, LimitsUnavailable, IssuerUnavailable,
		TokenIssuerAway, Busy, TooManyCalls, Compiling, NoHealthyUpstream, UpstreamOpen,
		TokenSealed, UpstreamTimeout, LoopDetected,
	}
}

// Challenge returns the WWW-Authenticate header of a 401 (RFC 9110, 15.5.2; RFC 6750, 3 for tokens) and of TokenScope;
// "" for every other denial.
func (d Denial) Challenge() string {
	switch {
	case d == TokenScope:
		return `Bearer error="insufficient_scope"`
	case d.Status != 401:
		return ""
	case d == InvalidToken, d == UnverifiableToken, d == KeysNotAccepted:
		return `Bearer error="invalid_token"`
	case d == TokenRequired:
		return "Bearer"
	case d == EitherRequired:
		return WWWAuthenticateValue + ", Bearer"
	}
	return WWWAuthenticateValue
}

// Body returns the JSON body of the response. Codes and messages are ASCII without
// quotes or backslashes, so nothing needs escaping.
func (d Denial) Body() []byte {
	return []byte(`{"message":"` + d.Message + `","code":"` + d.Code + `"}`)
}

// GRPCStatus returns the status code that a gRPC call gets (grpc/grpc, doc/statuscodes.md).
func (d Denial) GRPCStatus() int {
	switch d.Status {
	case 400:
		return 3 // INVALID_ARGUMENT
	case 401:
		return 16 // UNAUTHENTICATED
	case 403:
		return 7 // PERMISSION_DENIED
	case 404, 410:
		return 5 // NOT_FOUND
	case 413, 429:
		return 8 // RESOURCE_EXHAUSTED
	case 500:
		return 13 // INTERNAL
	case 501:
		return 12 // UNIMPLEMENTED
	case 502, 503:
		return 14 // UNAVAILABLE
	case 504:
		return 4 // DEADLINE_EXCEEDED
	}
	return 2 // UNKNOWN
}

// NameScope returns the denial with the scope that the caller lacks at the end of its message. It returns the denial
// unchanged for "". Scopes don't contain quotes or backslashes either (RFC 6749, 3.3).
func (d Denial) NameScope(scope string) Denial {
	if scope != "" {
		d.Message = strings.TrimSuffix(d.Message, ".") + ": " + scope + "."
	}
	return d
}

// Call has the properties of a call that Decide needs.
type Call struct {
	Access      *snapshot.Access
	Realm       *Realm
	Environment string        // name of the environment called
	Former      string        // its previous name, while keys still have that name; see snapshot.Environment
	Places      *KeyPlaces    // where keys travel; nil: X-API-Key
	KeyLines    int           // number of keys the caller sent, in all places
	Key         *snapshot.Key // found by the only key sent; nil when that is malformed or unknown
	OldSecret   bool          // Key was found by the secret before its last rotation
	Token       *Token        // verified; nil when none was sent or it was refused
	TokenDenial Denial        // why the token was refused; zero when none was sent or it is verified
	// Authorization is the call's only Authorization line. It determines the denial of a call without a credential that
	// the version accepts.
	Authorization string
	RemoteIP      netip.Addr // the caller's; the zero value is in no range
	Rules         *Rules     // of the version; nil: none
	Method        string     // of the call; for Rules
	Path          string     // normalized, below the environment's prefix; for Rules
	Relations     Relations  // for Rules; nil: no object has an owner
	Consumers     *Consumers // cache; may be nil
	Now           time.Time
}

// Token has the claims of a verified token.
type Token struct {
	Issuer  string    // iss
	Subject string    // sub, see IsSubject
	Scopes  []string  // see ReadScopes
	Tenant  string    // name of the tenant of its pair; "" is the project's own
	Expires time.Time // when it stops being accepted, leeway included; zero: not known
	Hosted            // set if one of our app clients issued it; such a token has no Tenant
}

// Identity is the caller on whose behalf a call is made. The zero value is an anonymous caller. The user of a token is
// not a consumer: consumers are the owners of keys, and an issuer could choose a subject that equals the name of one.
type Identity struct {
	ConsumerID   string   // X-Consumer-ID
	Owner        string   // X-Consumer-Username and X-Consumer-Custom-ID; "" without a key and without a fallback owner
	CredentialID string   // X-Credential-Identifier: the key's id; "" without a key
	Metadata     string   // X-Consumer-Metadata: the key's, if the version sends it; see MetadataValue
	Kept         Kept     // replaces the values above in headers; calls are counted for the values above
	User         string   // X-Authenticated-Userid; "" without a token
	Issuer       string   // the issuer of the subject User; "" for one of our end users
	Groups       []string // X-Consumer-Groups: the user's
	Truncated    bool     // X-Consumer-Groups-Truncated: the user is in more groups
	Scopes       []string // X-Authenticated-Scope: the key's, or else the token's
	TenantID     string   // X-Tenant-ID; "" without a key or token
}

// Kept is the identity that upstreams know from the gateway from which a key was imported; nil if there is none.
type Kept struct {
	Consumer     *snapshot.Consumer
	CredentialID *string
}

// Headers are the identity headers of a call with a key or for an owner. CustomID is "" if no header is sent.
type Headers struct{ ConsumerID, Username, CustomID, CredentialID string }

// Headers returns the identity headers for the upstream.
func (id *Identity) Headers() Headers {
	h := Headers{id.ConsumerID, id.Owner, id.Owner, id.CredentialID}
	if of := id.Kept.Consumer; of != nil && *of != (snapshot.Consumer{}) {
		h.ConsumerID, h.Username = cmp.Or(of.ID, h.ConsumerID), cmp.Or(of.Username, h.Username)
		h.CustomID = of.CustomID // upstreams may store it as another system's, so the owner's name can't stand for it
	}
	if id.Kept.CredentialID != nil {
		h.CredentialID = *id.Kept.CredentialID
	}
	return h
}

// Account returns the name that the call is counted for, "" for an anonymous caller. The name of a user includes the
// issuer, since two issuers may have the same subject. An end user of ours has the same account through every app
// client.
func (id *Identity) Account() string {
	switch {
	case id.Owner != "":
		return id.Owner
	case id.Issuer == "":
		return id.User
	}
	return id.User + " (" + id.Issuer + ")"
}

// Caller is the identity of a call's caller in a project's log and usage.
type Caller struct {
	Account      string // see Identity.Account
	CredentialID string // the key's id; "" without a key
}

// Caller returns the part of the identity that logs and usage contain.
func (id *Identity) Caller() Caller { return Caller{id.Account(), id.CredentialID} }

// Decision is the outcome for one call.
type Decision struct {
	Allow    bool
	Identity Identity // when allowed; only TenantID for a known caller who is refused
	Denial   Denial   // when not
	Scope    string   // that the caller lacks, for InsufficientScope and TokenScope
	StripKey bool     // the places of keys are the gateway's: values in them must not reach the upstream

	Authorization Authorization // the header that the upstream gets, when allowed

	// Refused is the caller of a refused call, for the project's log and usage: the owner of a key of the project in
	// any state, or the user or app client whose token was accepted. The zero value is an unknown caller.
	Refused Caller

	By     string      // the rule or default that decided; see RuleOutcome
	Shadow RuleOutcome // the outcome of the rules in shadow, if they would have refused the call; otherwise zero

	// Tracking is the change to RelationUser's relations after a 2xx response; nil: none.
	Tracking     *Tracking
	RelationUser string // set with Tracking; never ""
}

// AdmitsAddress reports whether a version's address rules admit calls from an address.
func AdmitsAddress(rules *snapshot.IPRules, from netip.Addr) bool { return admits(rules, from) }

// Decide applies a version's access policy and its rules to one call. It fails closed: an unknown
// mode, or one that requires credentials without naming a method, refuses every call.
func Decide(c *Call) Decision {
	d := authenticate(c)
	if d.Allow && !admits(&c.Access.IP, c.RemoteIP) {
		return denyKnown(IPDenied, d.Identity.Caller(), d.Identity.TenantID)
	}
	if !d.Allow || c.Rules == nil {
		return d
	}
	enforced, shadow := c.Rules.decide(c, &d.Identity)
	if enforced.Denial != (Denial{}) {
		refused := denyKnown(enforced.Denial, d.Identity.Caller(), d.Identity.TenantID)
		refused.By, refused.Scope = enforced.By, enforced.Scope
		return refused
	}
	d.By, d.Shadow = enforced.By, shadow
	if track := c.Rules.tracking(c); track != nil && d.Identity.TenantID != "" {
		if d.RelationUser = c.RelationUser(&d.Identity); d.RelationUser != "" {
			d.Tracking = track
		}
	}
	return d
}

func authenticate(c *Call) Decision {
	keys := c.Access.Allows(snapshot.APIKey)
	token := c.Access.TakesTokens() && (c.Token != nil || c.TokenDenial != Denial{})
	switch {
	case keys && c.KeyLines > 0 && token:
		return decideBoth(c)
	case keys && c.KeyLines > 0:
		return decideKey(c)
	case token:
		return decideToken(c, keys)
	case keys:
		return decideKeyless(c)
	case c.Access.Mode == snapshot.Passthrough:
		return Decision{Allow: true}
	}
	return deny(c.required())
}

// decideKeyless decides a call without any credential to a version that accepts keys.
func decideKeyless(c *Call) Decision {
	switch {
	case c.Access.Keyless == snapshot.OwnerFallback && c.Realm.FallbackOwner != "":
		return Decision{Allow: true, StripKey: true, Identity: Identity{
			ConsumerID: c.Consumers.ID(c.Realm.ID, c.Realm.FallbackOwner),
			Owner:      c.Realm.FallbackOwner,
		}}
	case c.Access.Mode == snapshot.Passthrough:
		return Decision{Allow: true, StripKey: true}
	}
	return deny(c.required())
}

// decideKey decides a call with a key. A key that is unknown, revoked, expired, or for another project or environment
// gets InvalidKey, so that a guesser learns nothing. Only a caller with a valid key learns that the key is frozen,
// belongs to another tenant, or may not be used from this address.
func decideKey(c *Call) Decision {
	k := c.Key
	if c.KeyLines > 1 || k == nil {
		return deny(InvalidKey)
	}
	grant, granted := c.Realm.Grant(k)
	if !granted {
		return deny(InvalidKey)
	}
	caller := Caller{Account: k.Owner, CredentialID: k.ID}
	switch {
	case c.OldSecret && !k.GraceEndsAt.After(c.Now),
		k.State != snapshot.KeyActive && k.State != snapshot.KeyFrozen,
		!k.ExpiresAt.IsZero() && !k.ExpiresAt.After(c.Now),
		k.Environment != "" && k.Environment != c.Environment && k.Environment != c.Former:
		return denyCaller(InvalidKey, caller)
	case k.State == snapshot.KeyFrozen:
		return denyCaller(KeyFrozen, caller)
	case !c.Realm.Serves(grant.TenantID):
		return denyCaller(WrongTenant, caller)
	case c.Realm.frozen(k.Owner):
		return denyCaller(UserFrozen, caller)
	case len(k.AllowedIPs) > 0 && !Contains(k.AllowedIPs, c.RemoteIP):
		return denyKnown(IPDenied, caller, grant.TenantID)
	}
	id := Identity{
		ConsumerID:   c.Consumers.ID(c.Realm.ID, k.Owner),
		Owner:        k.Owner,
		CredentialID: k.ID,
		Kept:         Kept{k.Consumer, k.CredentialID},
		Scopes:       grant.Scopes,
		TenantID:     grant.TenantID,
	}
	if c.Access.SendsMetadata() {
		id.Metadata = MetadataValue(k.Metadata)
	}
	return Decision{Allow: true, StripKey: true, Identity: id}
}

// decideToken decides a call with a token and without a key. An app client that calls for itself is a consumer, named
// by its id. If other calls fall back to an owner, the owner is the consumer, and the identity names the user as well.
func decideToken(c *Call, stripKey bool) Decision {
	if c.Token == nil {
		return deny(c.TokenDenial)
	}
	at, denial := c.Realm.place(c.Token)
	if denial != (Denial{}) {
		return deny(denial)
	}
	id := Identity{Scopes: c.Token.Scopes, TenantID: at.tenantID}
	id.setUser(c.Token)
	if c.Token.isMachine() {
		id.ConsumerID, id.Owner = c.Consumers.ID(c.Realm.ID, c.Token.Client), c.Token.Client
	} else if owner := c.Realm.FallbackOwnerOf(at.tenantID); c.Access.Keyless == snapshot.OwnerFallback && owner != "" {
		id.ConsumerID, id.Owner = c.Consumers.ID(c.Realm.ID, owner), owner
	}
	return Decision{Allow: true, StripKey: stripKey, Identity: id, Authorization: at.authorization}
}

// setUser sets the user of a token. An app client is not a user.
func (id *Identity) setUser(t *Token) {
	if t.isMachine() {
		return
	}
	id.User, id.Issuer, id.Groups = t.Subject, t.Issuer, FirstGroups(t.Groups)
	id.Truncated = t.Truncated || len(id.Groups) < len(t.Groups)
	if t.Client != "" {
		id.Issuer = ""
	}
}

// decideBoth decides a call with a key and a token: both must be valid and belong to one tenant. The consumer and the
// scopes are the key's.
func decideBoth(c *Call) Decision {
	d := decideKey(c)
	if !d.Allow {
		return d
	}
	if c.Token == nil {
		return denyCaller(c.TokenDenial, d.Identity.Caller())
	}
	at, denial := c.Realm.place(c.Token)
	if denial == (Denial{}) && at.tenantID != d.Identity.TenantID {
		denial = TokenTenant
	}
	if denial != (Denial{}) {
		return denyCaller(denial, d.Identity.Caller())
	}
	d.Identity.setUser(c.Token)
	d.Authorization = at.authorization
	return d
}

func deny(d Denial) Decision { return denyCaller(d, Caller{}) }

// denyCaller denies a call and names its caller for the log.
func denyCaller(d Denial, refused Caller) Decision {
	return Decision{Denial: d, StripKey: true, Refused: refused}
}

// denyKnown denies a call whose credentials are valid.
func denyKnown(d Denial, refused Caller, tenantID string) Decision {
	return Decision{Denial: d, StripKey: true, Refused: refused, Identity: Identity{TenantID: tenantID}}
}
