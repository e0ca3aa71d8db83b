package policy_test

import (
	"strings"
	"testing"

	"postern/core/policy"
)

func TestCanSetForUpstream(t *testing.T) {
	for name, want := range map[string]bool{
		"X-Upstream-Token": true, "authorization": true, "X-API-Key": true, "User-Agent": true, "A": true,
		"": false, "-A": false, "X_Token": false, "X Token": false, "X:Token": false, "Tökén": false,
		strings.Repeat("a", 64): true, strings.Repeat("a", 65): false,
		"Host": false, "CONNECTION": false, "Upgrade": false, "TE": false, "Trailer": false, "Keep-Alive": false,
		"Proxy-Connection": false, "Transfer-Encoding": false, "Content-Length": false, "Content-Type": false,
		"Cookie": false, "Expect": false, "Sec-WebSocket-Key": false, "If-Match": false,
		"X-Consumer-ID": false, "x-tenant-anything": false, "X-Authenticated-Scope": false, "Via": false,
		"X-Forwarded-For": false, "Forwarded": false, "X-Real-IP": false, "Signature": false, "Signature-Input": false,
	} {
		t.Run(name, func(t *testing.T) {
			if got := policy.CanSetForUpstream(name); got != want {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}

func TestIsUpstreamHeaderValue(t *testing.T) {
	for value, want := range map[string]bool{
		"secret": true, "Bearer two words": true, "~!$'\"\\": true, strings.Repeat("a", 4096): true,
		"": false, " a": false, "a ": false, "a\tb": false, "a\r\nb": false, "a\x00b": false, "ü": false,
		strings.Repeat("a", 4097): false,
	} {
		if got := policy.IsUpstreamHeaderValue(value); got != want {
			t.Errorf("%.20q: got %v, want %v", value, got, want)
		}
	}
}

func TestSameHeader(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{"X-Upstream-Token", "x_upstream-TOKEN", true},
		{"X-Upstream-Token", "X-Upstream-Toke", false},
		{"X-Upstream-Token", "X-Upstream.Token", false},
	} {
		if got := policy.SameHeader(tt.a, tt.b); got != tt.want {
			t.Errorf("%s and %s: got %v", tt.a, tt.b, got)
		}
	}
}
