//go:build conformance

package conformance

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"postern/bundle"
	"postern/core/snapshot"
)

// Kong's acl stands behind the rules of a version whose every route asks for groups: it refuses nothing
// that they let through, and no refusal is its own.
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
