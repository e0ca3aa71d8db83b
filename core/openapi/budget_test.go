package openapi_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"postern/core/openapi"
)

// Server variables are filled in once, whatever their defaults look like: each name of a chain that doubles made the
// address twice as long.
func TestParse_serverVariables(t *testing.T) {
	t.Parallel()
	doubling, chain := map[string]string{}, ""
	for i := range 40 {
		doubling[fmt.Sprintf("v%02d", i)] = strings.Repeat(fmt.Sprintf("{v%02d}", i+1), 2)
		chain += fmt.Sprintf("{v%02d}", i)
	}
	const refused = "is longer than 2 KB with the defaults of its variables"
	for name, tt := range map[string]struct {
		url      string
		defaults map[string]string
		want     string // part of the address or of the refusal
	}{
		"one variable":     {"https://{r}.example.com/{r}", map[string]string{"r": "eu"}, "https://eu.example.com/eu"},
		"each other":       {"https://{a}.{b}", map[string]string{"a": "{b}", "b": "{a}"}, "https://{b}.{a}"},
		"itself":           {"https://{a}", map[string]string{"a": "{a}{a}"}, "https://{a}{a}"},
		"parts of a name":  {"https://{a}{b}", map[string]string{"a": "{", "b": "b}"}, "https://{b}"},
		"doubling":         {chain, doubling, strings.Repeat("{v40}", 2)},
		"just fits":        {"{a}{a}", map[string]string{"a": strings.Repeat("x", 1<<10)}, strings.Repeat("x", 2<<10)},
		"does not fit":     {"{a}{a}x", map[string]string{"a": strings.Repeat("x", 1<<10)}, refused},
		"many large parts": {strings.Repeat("{a}", 4000), map[string]string{"a": strings.Repeat("x", 4000)}, refused},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			variables := map[string]any{}
			for name, value := range tt.defaults {
				variables[name] = map[string]string{"default": value}
			}
			server, err := json.Marshal([]any{map[string]any{"url": tt.url, "variables": variables}})
			if err != nil {
				t.Fatal(err)
			}
			doc, err := parse([]byte(head + `"servers":` + string(server) + `,"paths":{}}`))
			if refusal, ok := errors.AsType[*openapi.Error](err); ok {
				if !strings.Contains(refusal.Error(), tt.want) {
					t.Errorf("%q, want %q", refusal, tt.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := doc.Servers[0].URL; !strings.HasSuffix(got, tt.want) {
				t.Errorf("%.200q, want %.200q", got, tt.want)
			}
		})
	}
}
