package policy

import (
	"slices"
	"testing"
)

func TestReadings(t *testing.T) {
	for path, want := range map[string][]string{
		"/orders":        nil,
		"/":              nil,
		"/orders;x":      {"/orders", "/orders", "/orders"},
		"/a%2Fb":         {"/a/b", "/a/b", "/a/b"},
		"/a%252Fb":       {"/a%252Fb", "/a/b", "/a%252Fb"},
		"/a%3Bb/c":       {"/a/c", "/a/c", "/a/c"},
		"/;x":            {"/", "/", "/"},
		"/a%5Cb;c%2Fd/e": {"/a/b/d/e", "/a/b/d/e", "/a/b/e"},
	} {
		if got := slices.Collect(Readings(path)); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}
