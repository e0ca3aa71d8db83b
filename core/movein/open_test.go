package movein_test

import (
	"encoding/json"
	"strings"
	"testing"

	"postern/core/movein"
)

// Calls that Kong gives to a route that checks them don't reach another one.
func TestKong_neverMoreOpen(t *testing.T) {
	routes := func(text string) string {
		return "_format_version: '3.0'\nservices:\n- name: s\n  url: http://s.example.net\n  routes:\n" + text
	}
	const auth = "plugins: [{name: key-auth}]"
	for _, tt := range []struct{ name, text, has string }{
		{
			"a closed route keeps its calls",
			routes("  - {name: all, hosts: [h.example.com]}\n" +
				"  - {name: closed, hosts: [h.example.com], paths: [/admin], plugins: [{name: oauth2}]}\n"),
			`{"host":"h.example.com","path_prefix":"/admin","strip_prefix":true,` +
				`"version":"closed","environment":"prod","route":"/services/0/routes/1"}`,
		},
		{
			"a path that goes on in the segment",
			routes("  - {name: all, hosts: [h.example.com]}\n  - {name: keyed, hosts: [h.example.com], paths: " +
				"[/admin], " +
				auth + "}\n"),
			`{"methods":["*"],"path":"/admin{rest}/**","groups":["kong-closed"]}`,
		},
		{
			"a regular expression above which a route is open",
			routes("  - {name: all, hosts: [h.example.com]}\n  - {name: keyed, hosts: [h.example.com], " +
				`paths: ['~/docs/\d+$'], ` + auth + "}\n"),
			`{"host":"h.example.com","path_prefix":"/docs","strip_prefix":false,` +
				`"version":"closed","environment":"prod","route":"/services/0/routes/0"}`,
		},
		{
			"a header that another route requires",
			routes("  - {name: all, hosts: [h.example.com]}\n  - {name: keyed, hosts: [h.example.com], headers: " +
				"{x: [y]}, " +
				auth + "}\n"),
			`"name":"all","pointer":"/services/0/routes/0","line":6,"reasons":["calls for the route keyed, which ` +
				`has different checks, would reach it"],"open":"--open all"`,
		},
		{
			"two routes with the same calls",
			routes("  - {name: open, hosts: [h.example.com], paths: [/a]}\n  - {name: keyed, hosts: [h.example.com], " +
				"paths: [/a], " + auth + "}\n"),
			`"reasons":["calls for the route keyed, which has different checks, would reach it"],"open":"--open open"`,
		},
		{
			"a route without a service",
			routes("  - {name: all, hosts: [h.example.com]}\n") +
				"routes: [{name: none, hosts: [h.example.com], paths: [/none], plugins: [{name: " +
				"request-termination}]}]\n",
			`{"host":"h.example.com","path_prefix":"/none","strip_prefix":true,"version":"closed",` +
				`"environment":"prod","route":"/routes/0"}`,
		},
		{
			"a route with a host wins over one without",
			routes("  - {name: host, hosts: [h.example.com], paths: [/a], " + auth + "}\n" +
				"  - {name: any, paths: [/a/b]}\n"),
			`"domains":[],"routes":["/services/0/routes/1"]`,
		},
		{
			"a deeper route with a host wins over methods",
			routes("  - {name: host, hosts: [h.example.com], paths: [/a/b], " + auth + "}\n" +
				"  - {name: any, paths: [/a], methods: [GET]}\n"),
			`"path_prefix":"/a/b","strip_prefix":true,"methods":["GET"],"version":"1.0.0",` +
				`"environment":"prod","route":"/services/0/routes/0"`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, p := read(t, tt.text, movein.Options{})
			plan, err := json.Marshal(p)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(plan), tt.has) {
				t.Errorf("%s\nisn't in\n%s", tt.has, plan)
			}
		})
	}
}

// A plan is the same each time.
func TestKong_stable(t *testing.T) {
	for name, text := range files(t) {
		var first string
		for range 5 {
			_, p := read(t, text, movein.Options{Hosts: []string{"a.example.org", "b.example.org"}})
			out, err := json.Marshal(p)
			if err != nil {
				t.Fatal(err)
			}
			if first == "" {
				first = string(out)
			} else if first != string(out) {
				t.Errorf("the plan of %s differs", name)
			}
		}
	}
}
