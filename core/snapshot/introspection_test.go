package snapshot_test

import (
	"testing"

	"postern/core/snapshot"
)

func TestParseIntrospection(t *testing.T) {
	for _, line := range []string{
		"https://i.example/introspect",
		"https://i.example/ client=api",
		"https://i.example/ client=api iss=https://i.example aud=shop method=client_secret_post",
	} {
		if got, err := snapshot.ParseIntrospection(line); err != nil || got.Line() != line {
			t.Errorf("%q: %q, %v", line, got.Line(), err)
		}
	}
	for _, line := range []string{
		"",
		" ",
		"https://i.example client",
		"https://i.example client=",
		"https://i.example a=b",
		"https://i.example client=a client=b",
	} {
		if got, err := snapshot.ParseIntrospection(line); err == nil {
			t.Errorf("%q is read as %+v", line, got)
		}
	}
}
