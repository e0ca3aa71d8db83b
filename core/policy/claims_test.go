package policy_test

import (
	"slices"
	"strings"
	"testing"

	"postern/core/policy"
)

func TestReadScopes(t *testing.T) {
	for name, tt := range map[string]struct {
		texts []string
		want  []string // nil: refused
	}{
		"none":                    {nil, []string{}},
		"blanks and tabs":         {[]string{" a  b\tc\n", "d"}, []string{"a", "b", "c", "d"}},
		"a no-break space":        {[]string{"a\u00a0b"}, nil},
		"an ideographic space":    {[]string{"a\u3000b"}, nil},
		"a quote":                 {[]string{`a"b`}, nil},
		"a control character":     {[]string{"a\x01"}, nil},
		"too long for one header": {[]string{strings.Repeat("scope ", 700)}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := policy.ReadScopes(tt.texts...)
			if ok != (tt.want != nil) || ok && !slices.Equal(got, tt.want) {
				t.Errorf("got %q and %t, want %q", got, ok, tt.want)
			}
		})
	}
}
