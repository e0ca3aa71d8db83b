package main

import (
	"bytes"
	"strings"
	"testing"

	"postern/client"
)

func TestPrintExplanation(t *testing.T) {
	for name, tc := range map[string]struct {
		found client.Explanation
		want  string
	}{
		"forwarded": {
			client.Explanation{Decision: "allow", Status: 200, DecidedBy: "forward"},
			"Answer: the upstream's answer\nExported gateway: the upstream's answer\n",
		},
		"refused": {
			client.Explanation{Decision: "deny", Status: 403, Code: "no_rule", DecidedBy: "default"},
			"Answer: 403 no_rule\nExported gateway: the upstream's answer\n",
		},
		"a published document": {
			client.Explanation{Decision: "allow", Status: 200, DecidedBy: "document"},
			"Answer: the OpenAPI document, which the gateway publishes\nExported gateway: the upstream's answer\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			if err := printExplanation(terminal{out: &out}, tc.found); err != nil {
				t.Fatal(err)
			}
			if !strings.HasSuffix(out.String(), tc.want) {
				t.Errorf("%s, want %s", out.String(), tc.want)
			}
		})
	}
}
