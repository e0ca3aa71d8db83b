package policy_test

import (
	"strings"
	"testing"

	"postern/core/policy"
)

func TestNormalHost(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"api.example.com":  "api.example.com",
		"API.Example.com.": "api.example.com",
		"bücher.example":   "xn--bcher-kva.example",
	} {
		if got, err := policy.NormalHost(" " + raw + " "); err != nil || got != want {
			t.Errorf("%q: %q, %v", raw, got, err)
		}
	}
	long := strings.Repeat("a.", policy.MostHostBytes/2)
	if _, err := policy.NormalHost(long + "a"); err != nil {
		t.Errorf("the longest name: %v", err)
	}
	for raw, want := range map[string]string{
		"":                               "Enter a host name",
		"a b":                            "Use only letters",
		"https://a.example.com":          "Use only the host name",
		"*.example.com":                  "wildcards",
		"192.0.2.1":                      "not an IP address",
		"localhost":                      "Use a full host name",
		"a.1":                            "can't be a number",
		"a..example.com":                 "1 to 63 characters",
		strings.Repeat("a", 64) + ".com": "1 to 63 characters",
		long + "aaaa":                    "at most 233 characters",
	} {
		if got, err := policy.NormalHost(raw); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %q, %v", raw, got, err)
		}
	}
}
