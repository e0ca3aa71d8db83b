package projects

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"postern/core/snapshot"
)

func TestRuleProposal_leaveOut(t *testing.T) {
	t.Parallel()
	rule := func(methods, path string) snapshot.Rule {
		return snapshot.Rule{Methods: strings.Split(methods, ","), Path: path}
	}
	for name, tc := range map[string]struct{ have, want []snapshot.Rule }{
		"no rules yet": {nil, []snapshot.Rule{rule("GET,PUT", "/orders/{id}"), rule("HEAD", "/a%62")}},
		"the same paths": {
			[]snapshot.Rule{rule("GET", "/orders/{key}"), rule("GET", "/ab")},
			[]snapshot.Rule{rule("PUT", "/orders/{id}")},
		},
		"all methods": {[]snapshot.Rule{rule("*", "/orders/{x}")}, []snapshot.Rule{rule("HEAD", "/a%62")}},
		"other methods": {
			[]snapshot.Rule{rule("POST", "/ab")}, []snapshot.Rule{
				rule("GET,PUT", "/orders/{id}"), rule("HEAD", "/a%62"),
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			proposal := RuleProposal{Rules: []snapshot.Rule{rule("GET,PUT", "/orders/{id}"), rule("HEAD", "/a%62")}}
			proposal.leaveOut(tc.have)
			if diff := cmp.Diff(tc.want, proposal.Rules); diff != "" {
				t.Error(diff)
			}
		})
	}
}
