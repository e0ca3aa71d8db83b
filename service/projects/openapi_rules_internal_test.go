package projects

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"postern/core/openapi"
	"postern/core/snapshot"
)

func TestWithoutRuled(t *testing.T) {
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
			rules := []snapshot.Rule{rule("GET,PUT", "/orders/{id}"), rule("HEAD", "/a%62")}
			got := withoutRuled(rules, tc.have)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Every operation gets a rule, or a reason why there is none, however the document writes its paths.
func TestProposeRules_paths(t *testing.T) {
	t.Parallel()
	doc := &openapi.Summary{}
	for _, path := range []string{
		"/organizations/", "/organizations/{id}/", "/orders/{id}.json", "/v4/sheets/{id}:clear", "/a/{b}.{c}", "/x/*",
		"/$metadata", "/orders/$count",
	} {
		doc.Operations = append(doc.Operations, openapi.Operation{Method: "GET", Path: path, Scopes: []string{"read"}})
	}
	proposal := proposeRules(doc)
	var got []string
	for _, rule := range proposal.Rules {
		got = append(got, rule.Path)
	}
	for _, left := range proposal.LeftOut {
		if left.Reason == "" {
			t.Errorf("%s has no reason", left.Operation)
		}
		got = append(got, "left out: "+left.Operation)
	}
	want := []string{
		"/organizations/", "/organizations/{id}/", "/orders/{id}.json", "/v4/sheets/{id}:clear",
		"/%24metadata", "/orders/%24count", "left out: GET /a/{b}.{c}", "left out: GET /x/*",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Beyond the maximum of rules, each operation without a rule is named.
func TestProposeRules_tooMany(t *testing.T) {
	t.Parallel()
	doc := &openapi.Summary{}
	for i := range maxRules + 5 {
		doc.Operations = append(doc.Operations,
			openapi.Operation{Method: "GET", Path: fmt.Sprintf("/a/%d", i), Scopes: []string{"read"}})
	}
	if got := proposeRules(doc); len(got.Rules) != maxRules || len(got.LeftOut) != 5 {
		t.Errorf("%d rules and %d left out", len(got.Rules), len(got.LeftOut))
	}
}
