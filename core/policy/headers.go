package policy

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"

	"postern/core/snapshot"
)

// Names of headers, in the canonical form of net/http.
const (
	KeyHeader        = "X-Api-Key"
	ConsumerIDHeader = "X-Consumer-Id"
	UsernameHeader   = "X-Consumer-Username"
	CustomIDHeader   = "X-Consumer-Custom-Id"
	CredentialHeader = "X-Credential-Identifier"
	MetadataHeader   = "X-Consumer-Metadata"
	ScopeHeader      = "X-Authenticated-Scope"
	UserHeader       = "X-Authenticated-Userid"
	GroupsHeader     = "X-Consumer-Groups"
	TruncatedHeader  = "X-Consumer-Groups-Truncated"
	TenantHeader     = "X-Tenant-Id"
	ProjectHeader    = "X-Project-Id"
)

// TruncatedValue is the value of TruncatedHeader, which is absent if GroupsHeader has all groups.
const TruncatedValue = "true"

// MaxGroups is the maximum length of GroupsHeader in bytes: upstreams refuse headers of 8 KB and more.
const MaxGroups = 4096

// groupSeparator is Kong's (kong/plugins/acl/handler.lua).
const groupSeparator = ", "

// JoinGroups returns the value of GroupsHeader.
func JoinGroups(groups []string) string { return strings.Join(groups, groupSeparator) }

// FirstGroups returns the first groups, as many as MaxGroups allows. It does not copy them.
func FirstGroups(groups []string) []string {
	length := -len(groupSeparator)
	for i, group := range groups {
		if length += len(groupSeparator) + len(group); length > MaxGroups {
			return groups[:i]
		}
	}
	return groups
}

// MetadataValue returns the value of MetadataHeader, "" for none: the JSON of the metadata, in which \u escapes replace
// the characters that a header can't have (RFC 9110, 5.5) or that HTTP libraries read in different charsets.
func MetadataValue(m snapshot.Metadata) string {
	text := string(m)
	if !strings.ContainsFunc(text, needsEscape) {
		return text
	}
	var out strings.Builder
	for _, r := range text {
		switch high, low := utf16.EncodeRune(r); {
		case !needsEscape(r):
			out.WriteRune(r)
		case high == unicode.ReplacementChar:
			fmt.Fprintf(&out, `\u%04x`, r)
		default:
			fmt.Fprintf(&out, `\u%04x\u%04x`, high, low)
		}
	}
	return out.String()
}

// needsEscape reports whether a character isn't printable ASCII. JSON without spaces has others in its strings only.
func needsEscape(r rune) bool { return r < ' ' || r > '~' }

// WWWAuthenticateValue is the challenge of a version that accepts keys in every 401, except those about a token.
const WWWAuthenticateValue = `Key realm="postern"`

// IdentityHeaders lists the headers that name the caller and the project to upstreams, spelled as in the documentation.
// Only a gateway may set them.
func IdentityHeaders() []string {
	return []string{
		"X-Consumer-ID", "X-Consumer-Username", "X-Consumer-Custom-ID", "X-Consumer-Groups",
		"X-Consumer-Groups-Truncated", "X-Consumer-Metadata",
		"X-Credential-Identifier", "X-Credential-Username", "X-Anonymous-Consumer",
		"X-Authenticated-Scope", "X-Authenticated-Userid", "X-Tenant-ID", "X-Project-ID",
	}
}

// ForwardedHeaders lists the headers that describe a call's way through proxies. The gateway sets them and discards the
// caller's, except that it appends to the first line of X-Forwarded-For and Via.
func ForwardedHeaders() []string {
	return []string{
		"X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host", "X-Forwarded-Port",
		"X-Forwarded-Path", "X-Forwarded-Prefix", "X-Real-IP", "Via",
	}
}

// HeaderFamilies lists the prefixes of header names that only a gateway may send, with
// the exceptions of ForwardedHeaders.
func HeaderFamilies() []string {
	return []string{
		"X-Consumer-", "X-Credential-", "X-Authenticated-", "X-Tenant-", "X-Project-", "X-Anonymous-", "X-Forwarded-",
	}
}

// IsIdentityHeader reports whether name is one of IdentityHeaders or has one of their prefixes. It ignores case and
// treats _ as -, because CGI-like upstreams turn both into HTTP_X_CONSUMER_ID.
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
	case 'p':
		return inFamily(name, "x-project-")
	}
	return false
}

// IsForwardedHeader reports whether name is one of ForwardedHeaders, Forwarded
// (RFC 7239) or another X-Forwarded header, in any spelling of IsIdentityHeader.
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

// IsFramingHeader reports whether name is Transfer-Encoding or Content-Length, in any
// spelling of IsIdentityHeader. The gateway frames the message to the upstream
// itself, and forwards none of them.
func IsFramingHeader(name string) bool {
	return sameHeader(name, "content-length") || sameHeader(name, "transfer-encoding")
}

func inFamily(name, beginning string) bool {
	return len(name) >= len(beginning) && sameHeader(name[:len(beginning)], beginning)
}

// IsKeyHeader reports whether name is X-API-Key, in any spelling of IsIdentityHeader.
// Only the spelling with dashes is read as a key.
func IsKeyHeader(name string) bool { return sameHeader(name, "x-api-key") }

// sameHeader reports whether name is lower, a name in lowercase with dashes, in any
// spelling of IsIdentityHeader.
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
