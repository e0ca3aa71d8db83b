package policy_test

import (
	"testing"

	"postern/core/policy"
)

func TestControlCookies(t *testing.T) {
	for line, want := range map[string]string{
		"a=1":                                    "a=1",
		"postern=secret":                         "",
		"a=1; postern=secret; b=2":               "a=1; b=2",
		"__Host-postern=secret;a=1":              "a=1",
		"postern-theme=dark; posterns=1":         "posterns=1",
		" postern =secret; c=postern":            "c=postern",
		"POSTERN=1":                              "POSTERN=1", // cookie names tell case apart
		"__Host-postern-done=x; postern; d=\"\"": "d=\"\"",
	} {
		if got := policy.WithoutControlCookies(line); got != want {
			t.Errorf("%q: got %q, want %q", line, got, want)
		}
	}
	for line, want := range map[string]bool{
		"postern=x; Path=/":        true,
		"__Host-postern=x; Secure": true,
		"postern-theme=x":          true,
		" postern=x":               true,
		"postern":                  true,
		"=postern=x; Path=/":       true,
		" = __Host-postern=x":      true,
		"=postern":                 true,
		"=a=postern":               false,
		"=x":                       false,
		"a=postern":                false,
		"posterns=x":               false,
		"x":                        false,
	} {
		if got := policy.SetsControlCookie(line); got != want {
			t.Errorf("%q: got %v", line, got)
		}
	}
}
