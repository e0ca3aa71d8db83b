package policy_test

import (
	"strings"
	"testing"

	"postern/policy"
)

func spellings(name string) []string {
	return []string{
		name, strings.ToLower(name), strings.ToUpper(name),
		strings.ReplaceAll(name, "-", "_"), strings.ToLower(strings.ReplaceAll(name, "-", "_")),
		strings.Replace(name, "-", "_", 1),
	}
}

func TestEverySpellingOfAnIdentityHeaderIsKnown(t *testing.T) {
	for _, name := range policy.IdentityHeaders() {
		for _, spelling := range spellings(name) {
			if !policy.IsIdentityHeader(spelling) {
				t.Errorf("%s is not taken for an identity header", spelling)
			}
		}
	}
	for _, name := range policy.ForwardedHeaders() {
		for _, spelling := range spellings(name) {
			if !policy.IsForwardedHeader(spelling) || policy.IsIdentityHeader(spelling) {
				t.Errorf("%s is not taken for a forwarded header alone", spelling)
			}
		}
	}
	for _, spelling := range spellings("X-API-Key") {
		if !policy.IsKeyHeader(spelling) {
			t.Errorf("%s is not taken for the key header", spelling)
		}
	}
}

func TestOtherHeadersAreLeftAlone(t *testing.T) {
	for _, name := range []string{
		"", "X", "X-", "Authorization", "X-Consumer", "X-Consumer-I", "X-Consumer-IDs", "Y-Consumer-ID", "X-Tenant", "X-Tenant-Idx",
		"X-Request-Id", "X-Forwarded", "X-Forwarded-Ssl", "X-Real-I", "Vib", "V", "X.Consumer.ID", "X-Anonymous-Consumers", "Accept-Encoding",
	} {
		if policy.IsIdentityHeader(name) || policy.IsForwardedHeader(name) || policy.IsKeyHeader(name) {
			t.Errorf("%q is taken for one of ours", name)
		}
	}
}
