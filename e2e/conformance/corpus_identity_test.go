package conformance

import (
	"slices"
	"strings"

	"postern/core/policy"
	"postern/testkit"
	"postern/testkit/sample"
)

func spoofedHeaders(keys map[string]sample.Plain) []Case {
	var out []Case
	spellings := map[string]func(string) string{
		"as is":       func(s string) string { return s },
		"lower case":  strings.ToLower,
		"underscores": func(s string) string { return strings.ReplaceAll(s, "-", "_") },
		"one underscore": func(s string) string {
			return strings.ToUpper(strings.Replace(s, "-", "_", 1))
		},
	}
	names := make([]string, 0, len(spellings))
	for name := range testkit.ByName(spellings) {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, spelling := range names {
		var lines []string
		for _, header := range policy.IdentityHeaders() {
			lines = append(lines, spellings[spelling](header)+": spoofed")
		}
		twice := append(slices.Clone(lines), lines...)
		out = append(out,
			get("spoofed "+spelling+" with a key", prod+"/x", append(slices.Clone(lines), key(keys["noscopes"]))...),
			get("spoofed "+spelling+" twice with a key", prod+"/x", append(twice, key(keys["writer"]))...),
			get("spoofed "+spelling+" at fallback", "/2.0.0/prod/x", lines...),
			get("spoofed "+spelling+" at open", "/open/prod/x", lines...),
			get("spoofed "+spelling+" at optional", "/v3-optional/prod/x", lines...))
	}
	return append(out,
		get("names that only resemble ours", prod+"/x", key(keys["active"]),
			"X-Consumer: 1", "X-Consumer-IDs: 2", "Consumer-ID: 3", "X-Consumer-ID-2: 4", "XConsumer-ID: 5",
			"X-Tenant: 6", "X-Project: 7"))
}

// identityNamedAway tries to have the gateway remove its own headers as
// hop-by-hop ones (RFC 9110 section 7.6.1).
func identityNamedAway(keys map[string]sample.Plain) []Case {
	k := key(keys["writer"])
	return []Case{
		get("connection names the consumer", prod+"/x", k, "Connection: X-Consumer-ID"),
		get("connection names every identity header", prod+"/x", k,
			"Connection: "+strings.ToLower(strings.Join(policy.IdentityHeaders(), ", "))),
		get("connection names identity and another", prod+"/x", k, "Connection: keep-alive, X-Tenant-ID, X-Mine",
			"X-Mine: 1"),
	}
}

// reserved are the names that callers may not send (spec 5.2): those that the
// gateway sets, and others of their families.
var reserved = []string{
	"X-Consumer-ID", "X-Consumer-Username", "X-Consumer-Custom-ID", "X-Consumer-Groups", "X-Consumer-Role",
	"X-Consumer-",
	"X-Credential-Identifier", "X-Credential-Username", "X-Credential-Secret",
	"X-Authenticated-Scope", "X-Authenticated-Userid", "X-Authenticated-Groups", "X-Authenticated-User",
	"X-Anonymous-Consumer", "X-Anonymous-Username",
	"X-Tenant-ID", "X-Tenant-Name", "X-Project-ID", "X-Project-Name",
	"X-Forwarded-Proto", "X-Forwarded-Host", "X-Forwarded-Port", "X-Forwarded-Path", "X-Forwarded-Prefix",
	"X-Forwarded-User", "X-Forwarded-Ssl",
	"X-Forwarded-Scheme", "X-Forwarded-Server", "Forwarded", "X-Real-IP",
}

// spellings are those that an upstream may read as the same name: any case, and
// _ for - where it makes CGI variables of them.
var spellings = []struct {
	name  string
	spell func(string) string
}{
	{"as is", func(s string) string { return s }},
	{"lower case", strings.ToLower},
	{"upper case", strings.ToUpper},
	{"underscores", func(s string) string { return strings.ReplaceAll(s, "-", "_") }},
	{"last underscore", func(s string) string {
		at := max(0, strings.LastIndexByte(s, '-'))
		return s[:at] + strings.Replace(s[at:], "-", "_", 1)
	}},
}

// reservedNames sends every reserved name alone.
func reservedNames(keys map[string]sample.Plain) []Case {
	var out []Case
	sent := map[string]bool{}
	for _, name := range reserved {
		for _, s := range spellings {
			line := s.spell(name) + ": spoofed"
			if sent[line] {
				continue // the name is the same in two spellings
			}
			sent[line] = true
			out = append(out,
				get("reserved "+s.spell(name)+" with a key", prod+"/x", key(keys["readonly"]), line),
				get("reserved "+s.spell(name)+" at open", "/open/prod/x", line, line))
		}
	}
	return out
}
