package policy

// Names of headers, in the canonical form of net/http.
const (
	KeyHeader            = "X-Api-Key"
	ConsumerIDHeader     = "X-Consumer-Id"
	UsernameHeader       = "X-Consumer-Username"
	CustomIDHeader       = "X-Consumer-Custom-Id"
	CredentialHeader     = "X-Credential-Identifier"
	ScopeHeader          = "X-Authenticated-Scope"
	UserHeader           = "X-Authenticated-Userid"
	GroupsHeader         = "X-Consumer-Groups"
	TenantHeader         = "X-Tenant-Id"
	WWWAuthenticateValue = `Key realm="postern"` // goes with every 401 where keys are looked at, but for those about a token
)

// IdentityHeaders lists, as documentation writes them, the headers by which
// upstreams learn who calls. Only a gateway may set them.
func IdentityHeaders() []string {
	return []string{
		"X-Consumer-ID", "X-Consumer-Username", "X-Consumer-Custom-ID", "X-Consumer-Groups",
		"X-Credential-Identifier", "X-Credential-Username", "X-Anonymous-Consumer",
		"X-Authenticated-Scope", "X-Authenticated-Userid", "X-Tenant-ID",
	}
}

// ForwardedHeaders lists the headers that say which way a call came. The
// gateway sets them; of what the caller sent, only the first line of
// X-Forwarded-For and Via is appended to.
func ForwardedHeaders() []string {
	return []string{
		"X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host", "X-Forwarded-Port",
		"X-Forwarded-Path", "X-Forwarded-Prefix", "X-Real-IP", "Via",
	}
}

// IsIdentityHeader tells whether name is one of IdentityHeaders to any reader:
// case does not count, and neither does _ for -, because CGI-like upstreams
// make HTTP_X_CONSUMER_ID of both.
func IsIdentityHeader(name string) bool {
	if len(name) < len("X-Tenant-ID") || name[0]|0x20 != 'x' {
		return false
	}
	switch name[2] | 0x20 {
	case 'c':
		return sameHeader(name, "x-consumer-id") || sameHeader(name, "x-consumer-username") ||
			sameHeader(name, "x-consumer-custom-id") || sameHeader(name, "x-consumer-groups") ||
			sameHeader(name, "x-credential-identifier") || sameHeader(name, "x-credential-username")
	case 'a':
		return sameHeader(name, "x-anonymous-consumer") || sameHeader(name, "x-authenticated-scope") ||
			sameHeader(name, "x-authenticated-userid")
	case 't':
		return sameHeader(name, "x-tenant-id")
	}
	return false
}

// IsForwardedHeader tells whether name is one of ForwardedHeaders to any
// reader; see IsIdentityHeader.
func IsForwardedHeader(name string) bool {
	switch {
	case len(name) == len("via"):
		return sameHeader(name, "via")
	case len(name) < len("x-real-ip") || name[0]|0x20 != 'x':
		return false
	case name[2]|0x20 == 'r':
		return sameHeader(name, "x-real-ip")
	}
	return sameHeader(name, "x-forwarded-for") || sameHeader(name, "x-forwarded-proto") ||
		sameHeader(name, "x-forwarded-host") || sameHeader(name, "x-forwarded-port") ||
		sameHeader(name, "x-forwarded-path") || sameHeader(name, "x-forwarded-prefix")
}

// IsKeyHeader tells whether name is X-API-Key to any reader; see
// IsIdentityHeader. Only the spelling with dashes is read as a key.
func IsKeyHeader(name string) bool { return sameHeader(name, "x-api-key") }

// sameHeader compares a header name with a lower-case one that uses dashes.
func sameHeader(name, lower string) bool {
	if len(name) != len(lower) {
		return false
	}
	for i := range len(name) {
		c := name[i]
		if isUpper(c) {
			c |= 0x20
		} else if c == '_' {
			c = '-'
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}
