package policy_test

import (
	"fmt"
	"strings"
	"testing"

	"postern/core/policy"
	"postern/core/snapshot"
)

func TestRoutesOf(t *testing.T) {
	routes := policy.CompileRoutes(&snapshot.Version{
		Routes: []string{
			"/orders", "/orders/{id}", "/orders/export", "/orders/{id}/lines/{line}", "/files/{name}.json",
			"/files/{name}.{ext}", "/files/{file}", "/v1/{a}:cancel", "/caf%C3%A9/", "/a/{x}/c", "/a/b/d",
		},
		Rules: snapshot.Rules{List: []snapshot.Rule{{Path: "/staff/{who}"}, {Path: "/orders/{other}"}}},
	})
	for path, want := range map[string]string{
		"/orders":            "/orders",
		"/orders/":           "/orders",
		"/orders/7":          "/orders/{id}", // the document's name, not the rule's
		"/orders/export":     "/orders/export",
		"/orders/%65xport":   "/orders/export",
		"/orders/7/lines/1":  "/orders/{id}/lines/{line}",
		"/orders/7/lines":    policy.OtherRoute,
		"/files/a.json":      "/files/{name}.json",
		"/files/.json":       "/files/{file}",
		"/files/a.tar":       "/files/{name}.{ext}",
		"/files/a":           "/files/{file}",
		"/v1/7:cancel":       "/v1/{a}:cancel",
		"/v1/7%3Acancel":     "/v1/{a}:cancel",
		"/v1/:cancel":        policy.OtherRoute,
		"/caf%C3%A9":         "/caf%C3%A9/",
		"/a/b/c":             "/a/{x}/c", // not taken for the literal's subtree alone
		"/a/b/d":             "/a/b/d",
		"/staff/ana":         "/staff/{who}",
		"":                   policy.OtherRoute,
		"/":                  policy.OtherRoute,
		"/wp-login.php":      policy.OtherRoute,
		"/orders/" + long(9): "/orders/{id}",
	} {
		t.Run(path, func(t *testing.T) {
			if got := routes.Of(path); got != want {
				t.Errorf("Of(%q) = %q, want %q", path, got, want)
			}
		})
	}
	if got := policy.CompileRoutes(&snapshot.Version{}).Of("/orders"); got != policy.AnyRoute {
		t.Errorf("without templates: %q, want %q", got, policy.AnyRoute)
	}
}

func long(times int) string { return strings.Repeat("%41abcdefghijklmnopqrstuvwxyz-0123456789", times) }

func TestRoutesOf_bounded(t *testing.T) {
	v := &snapshot.Version{Routes: []string{"/" + strings.Repeat("x", 400)}}
	for i := range policy.MaxRoutes + 5 {
		v.Routes = append(v.Routes, fmt.Sprintf("/r%d", i))
	}
	routes := policy.CompileRoutes(v)
	seen := map[string]bool{}
	for _, path := range v.Routes {
		seen[routes.Of(path)] = true
	}
	if len(seen) != policy.MaxRoutes+1 || !seen[policy.OtherRoute] {
		t.Errorf("%d routes, want %d and %s", len(seen), policy.MaxRoutes, policy.OtherRoute)
	}
}

func TestRoutesOf_allocations(t *testing.T) {
	routes := policy.CompileRoutes(&snapshot.Version{Routes: []string{"/o/{id}", "/o/{id}.json", "/o/x/y"}})
	for _, path := range []string{"/o/1", "/o/%41.json", "/o/x/z", "/o/" + long(3), "/none"} {
		if n := testing.AllocsPerRun(100, func() { routes.Of(path) }); n != 0 {
			t.Errorf("Of(%.20q) allocates %v times", path, n)
		}
	}
}

func BenchmarkRoutesOf(b *testing.B) {
	v := &snapshot.Version{}
	for i := range 50 {
		v.Routes = append(v.Routes, fmt.Sprintf("/things%d", i), fmt.Sprintf("/things%d/{id}", i))
	}
	routes := policy.CompileRoutes(v)
	for b.Loop() {
		routes.Of("/things30/1234")
	}
}
