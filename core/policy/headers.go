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

// HeaderFamilies lists the beginnings of names that only a gateway may send, but for
// X-Forwarded-For and the rest of ForwardedHeaders, whose old values it appends to.
func HeaderFamilies() []string {
	return []string{"X-Consumer-", "X-Credential-", "X-Authenticated-", "X-Tenant-", "X-Anonymous-", "X-Forwarded-"}
}

// IsIdentityHeader reports whether name is one of IdentityHeaders, or another of their
// families, to any reader: case does not count, and neither does _ for -, because
// CGI-like upstreams make HTTP_X_CONSUMER_ID of both.
func IsIdentityHeader(name string) bool {
	if len(name) < len("x-tenant-") || name[0]|0x20 != 'x' {
		return false
	}
	switch name[2] | 0x20 {
	case 'c':
		return inFamily(name, "x-consumer-") || inFamily(name, "x-credential-")
	case 'a':
		return inFamily(name, "x-authenticated-") || inFamily(name, "x-anonymous-")
	case 't':
		return inFamily(name, "x-tenant-")
	}
	return false
}

// IsForwardedHeader reports whether name is one of ForwardedHeaders, Forwarded
// (RFC 7239) or another X-Forwarded header to any reader; see IsIdentityHeader.
func IsForwardedHeader(name string) bool {
	switch {
	case len(name) == len("via"):
		return sameHeader(name, "via")
	case len(name) < len("forwarded"):
		return false
	case name[0]|0x20 == 'f':
		return sameHeader(name, "forwarded")
	case name[0]|0x20 != 'x':
		return false
	}
	return inFamily(name, "x-forwarded-") || sameHeader(name, "x-real-ip")
}

// IsFramingHeader reports whether name is Transfer-Encoding or Content-Length to any
// reader; see IsIdentityHeader. Of what a caller sends under these names, only the
// gateway's own reading of a message reaches the upstream.
func IsFramingHeader(name string) bool {
	return sameHeader(name, "content-length") || sameHeader(name, "transfer-encoding")
}

func inFamily(name, beginning string) bool {
	return len(name) >= len(beginning) && sameHeader(name[:len(beginning)], beginning)
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
