package projects

import (
	"bytes"
	"strings"
	"testing"

	"postern/cmd/internal/terminal"
	"postern/core/contract"
)

func TestPrintExplanation(t *testing.T) {
	forwards := contract.GatewayAnswer{Status: 200}
	for name, tc := range map[string]struct {
		found contract.Explanation
		want  string
	}{
		"forwarded": {
			contract.Explanation{Decision: "allow", GatewayAnswer: forwards, DecidedBy: "forward"},
			"Response: the upstream's response\nExported gateway: the upstream's response\n",
		},
		"refused": {
			contract.Explanation{
				Decision: "deny", DecidedBy: "default",
				GatewayAnswer: contract.GatewayAnswer{Status: 403, Code: "no_rule"},
			},
			"Response: 403 no_rule\nExported gateway: the upstream's response\n",
		},
		"a published document": {
			contract.Explanation{Decision: "allow", GatewayAnswer: forwards, DecidedBy: "document"},
			"Response: the OpenAPI document that the gateway publishes\nExported gateway: the upstream's response\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			if err := printExplanation(terminal.Terminal{Out: &out}, tc.found); err != nil {
				t.Fatal(err)
			}
			if !strings.HasSuffix(out.String(), tc.want) {
				t.Errorf("%s, want %s", out.String(), tc.want)
			}
		})
	}
}
