//go:build conformance

package conformance

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"postern/bundle"
	"postern/core/policy"
	"postern/core/snapshot"
)

// Kong's acl stands behind the rules of a version whose every route requires groups: it refuses nothing that they let
// through, and no refusal is its own.
func TestConformanceACL(t *testing.T) {
	up, of := newUpstream(t), startTokenIssuer(t)
	project, keys := rulesProject(t, up, of)
	rules := snapshot.Rules{Default: snapshot.RulesDeny, List: []snapshot.Rule{
		{ID: "rul_1", Methods: []string{"*"}, Path: "/staff/{name}", Groups: []string{"staff"}},
		{ID: "rul_2", Methods: []string{"GET"}, Path: "/staff/boss", Groups: []string{"staff"},
			Role: snapshot.RoleAdmin},
		{ID: "rul_3", Methods: []string{"GET", "POST"}, Path: "/ops", Groups: []string{"ops", "gone"}},
		{
			ID: "rul_4", Methods: []string{"GET"}, Path: "/both", Groups: []string{"ops"},
			Scopes: []string{"orders:read"},
		},
		{ID: "rul_5", Methods: []string{"GET"}, Path: "/later", Mode: snapshot.RulesShadow},
	}}
	for i := range project.Versions {
		project.Versions[i].Rules = rules
	}
	files := exportOf(t, project, keys, bundle.Options{Consumers: true})
	kong, _ := startKong(t, files, up)
	postern := startPosternOf(t, up, project, keys)
	callers, sent, codes := ruleCallers(t, keys), 0, map[int]int{}
	for _, version := range []string{"/either/prod", "/fallback/prod", "/open/prod"} {
		for _, name := range slices.Sorted(maps.Keys(callers)) {
			for _, at := range []string{
				"GET /staff/ana", "DELETE /staff/ana", "GET /staff/boss", "GET /staff%2Fboss",
				"GET /staff;x/ana", "GET /ops",
				"POST /ops/", "GET /both", "GET /later", "GET /none", "OPTIONS /ops", "HEAD /ops",
			} {
				method, path, _ := strings.Cut(at, " ")
				c := one(name+" "+version+" "+at, method, projectHost, version+path, callers[name]...)
				want := postern.send(c)
				sent++
				if compare(t, c, postern, kong, want, kong.send(c)) {
					codes[want.Status]++
				}
			}
		}
	}
	if codes[http.StatusOK] < 30 || codes[http.StatusForbidden] < 100 {
		t.Errorf("%d requests, equal by status: %v", sent, codes)
	}
	t.Logf("%d requests, equal by status: %v", sent, codes)
}

// A caller outside of the groups is refused for that, whatever is wrong with the body. postern-auth looks at bodies
// that are transformed, and runs before acl: it has to decide about groups first.
func TestConformanceACL_beforeBodies(t *testing.T) {
	up, of := newUpstream(t), startTokenIssuer(t)
	project, keys := rulesProject(t, up, of)
	for i := range project.Versions {
		v := &project.Versions[i]
		v.Rules = snapshot.Rules{Default: snapshot.RulesDeny, List: []snapshot.Rule{
			{ID: "rul_1", Methods: []string{"POST"}, Path: "/ops", Groups: []string{"ops"}},
		}}
		v.Transforms.RequestBody.Add = []string{"source:gateway"}
	}
	files := exportOf(t, project, keys, bundle.Options{Consumers: true})
	kong, _ := startKong(t, files, up)
	postern := startPosternOf(t, up, project, keys)
	callers, codes := ruleCallers(t, keys), map[int]int{}
	const isJSON = "Content-Type: application/json"
	for name, body := range map[string]struct{ kind, text string }{
		"an object": {isJSON, `{}`}, "a scalar": {isJSON, `"a"`}, "no JSON": {isJSON, `{"a": `}, "none": {isJSON, ""},
		"a large one": {isJSON, `{"a": "` + strings.Repeat("x", policy.MaxChangedBody) + `"}`},
		"many arguments": {
			"Content-Type: application/x-www-form-urlencoded", strings.Repeat("a=1&", 1200),
		},
	} {
		for _, caller := range slices.Sorted(maps.Keys(callers)) {
			for _, version := range []string{"/either/prod", "/open/prod"} {
				length := fmt.Sprintf("Content-Length: %d", len(body.text))
				lines := append(slices.Clone(callers[caller]), body.kind, length)
				c := withBody(caller+" "+version+" "+name, "POST", projectHost, version+"/ops", body.text, lines...)
				want := postern.send(c)
				if compare(t, c, postern, kong, want, kong.send(c)) {
					codes[want.Status]++
				}
			}
		}
	}
	if codes[http.StatusForbidden] < 20 || codes[http.StatusBadRequest] == 0 {
		t.Errorf("equal by status: %v", codes)
	}
	t.Logf("equal by status: %v", codes)
}
