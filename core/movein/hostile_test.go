package movein_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"postern/core/configfile"
	"postern/core/kongfile"
	"postern/core/movein"
)

// hostile returns files that would take quadratic time if parts of them were compared with each other.
func hostile() map[string]string {
	repeat := func(n int, line string) string {
		var out strings.Builder
		for i := range n {
			fmt.Fprintf(&out, line, i)
		}
		return out.String()
	}
	config := func(plugin, before string, n int, line string) string {
		return service + "plugins:\n- name: " + plugin + "\n  config:\n" + before + repeat(n, line)
	}
	const keyAuth = "plugins: [{name: key-auth}]\n"
	return map[string]string{
		"members at the top":    service + repeat(100_000, "x%d: {}\n"),
		"members of a consumer": service + "consumers:\n- username: a\n" + repeat(100_000, "  x%d: 1\n"),
		"few unknown members":   service + "consumers:\n- username: a\n" + repeat(4_000, "  x%d: 1\n"),
		"groups of acl":         config("acl", "    allow:\n", 60_000, "    - g%d\n"),
		"groups of acl for many": config("acl", "    allow:\n", 4_000, "    - g%d\n") + "- name: key-auth\nroutes:\n" +
			repeat(4_000, "- {service: s, paths: [/p%d], hosts: [h.example.com]}\n"),
		"headers": config("request-transformer", "    add:\n      headers:\n", 40_000,
			"      - 'x-key-%d:1'\n"),
		"addresses for many": config("ip-restriction", "    deny:\n", 4_000, "    - 2001:db8::%x\n") + "routes:\n" +
			repeat(4_000, "- {service: s, paths: [/p%d], hosts: [h.example.com]}\n"),
		"defaults": "_info:\n  defaults:\n    keyauth_credential:\n" + repeat(20_000, "      x%d: 1\n") + service +
			"keyauth_credentials:\n" + repeat(20_000, "- {key: k%d}\n"),
		"plugin configs": "_plugin_configs:\n  c:\n" + repeat(4_000, "    x%d: 1\n") + service + "plugins:\n" +
			repeat(15_000, "- {name: p%d, _config: c}\n"),
		"plugins for many routes": service + "plugins:\n" + repeat(15_000, "- {name: p%d}\n") + "routes:\n" +
			repeat(4_000, "- {service: s, paths: [/p%d]}\n"),
		"routes with one path": service + "routes:\n" + repeat(2_000, "- {name: r%d, service: s, paths: [/p]}\n"),
		"merge keys": "_format_version: '3.0'\nx: &x\n" + repeat(50_000, "  a%d: 1\n") + "y:\n  <<: *x\n" +
			repeat(50_000, "  b%d: 1\n"),
		"consumers with one name": service + "consumers:\n" + repeat(50_000, "- {username: u%d, custom_id: a}\n"),
		"owners with one name":    service + "consumers:\n" + repeat(50_000, "- {id: '', tags: [t%d]}\n"),
		"services with one slug": "_format_version: '3.0'\nservices:\n" +
			repeat(4_000, "- {name: 'S %d!', url: 'http://s.example.net', routes: [{hosts: [h.example.com]}]}\n"),
		"anonymous consumers": service + keyAuth[:len(keyAuth)-4] + ", config: {anonymous: no-one}}]\nroutes:\n" +
			repeat(4_000, "- {service: s, paths: [/p%d], hosts: [h.example.com]}\n") + "consumers:\n" +
			repeat(50_000, "- {username: u%d}\n"),
	}
}

// Files that are made to take long are planned, or refused with a limit. Measure the time with
// BenchmarkKong_hostile.
func TestKong_hostile(t *testing.T) {
	refused := map[string]string{
		"members at the top": "The import has more than 100 unknown top-level members in its files. Check that " +
			"it is a Kong file, and remove the members that Kong doesn't read. The first one is \"x0\" on line 6.",
		"members of a consumer":   "The consumer at /consumers/0 has more than 5,000 values.",
		"groups of acl":           `The plugin "acl" at /plugins/0 has more than 5,000 values.`,
		"headers":                 `The plugin "request-transformer" at /plugins/0 has more than 5,000 values.`,
		"defaults":                "_info.defaults and _plugin_configs add too many members.",
		"plugins for many routes": "more than 1,000,000 plugins apply to routes. Split",
		"plugin configs":          "_info.defaults and _plugin_configs add too many members.",
	}
	for name, text := range hostile() {
		t.Run(name, func(t *testing.T) {
			f, err := kongfile.Read([]byte(text), nil)
			if err == nil {
				_, err = movein.Kong(f, movein.Options{Now: now})
			}
			var limit *configfile.Error
			switch want := refused[name]; {
			case name == "consumers with one name":
				if !errors.As(err, &limit) || limit.Code != configfile.CodeDuplicate {
					t.Errorf("not refused as a duplicate: %v", err)
				}
			case want == "" && err != nil:
				t.Error(err)
			case want != "" && (!errors.As(err, &limit) || limit.Code != configfile.CodeLimit ||
				!strings.Contains(limit.Detail, want)):
				t.Errorf("not refused with a limit: %v", err)
			}
		})
	}
}

func BenchmarkKong_hostile(b *testing.B) {
	for name, text := range hostile() {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if f, err := kongfile.Read([]byte(text), nil); err == nil {
					_, _ = movein.Kong(f, movein.Options{Now: now})
				}
			}
		})
	}
}

// A long stage variable isn't repeated for each of many operations.
func TestAWS_longStageVariable(t *testing.T) {
	const stages = `{"item": [{"deploymentId": "d1", "stageName": "prod",
		"variables": {"backend": "a.example.net/%s"}}]}`
	var paths []string
	for i := range 300 {
		paths = append(paths, fmt.Sprintf(`"/p%d": {"get": {"x-amazon-apigateway-integration": {"type": "http_proxy",
			"httpMethod": "GET", "uri": "https://${stageVariables.backend}/p%d"}}}`, i, i))
	}
	export := `{"openapi": "3.0.1", "info": {"title": "a", "version": "1"}, "servers": [{
		"url": "https://a1b2c3d4e5.execute-api.eu-central-1.amazonaws.com/prod"}], "paths": {` +
		strings.Join(paths, ",") + `}}`
	for size, refused := range map[int]bool{512: false, 100_000: true} {
		files, err := movein.Read([]movein.File{
			{Name: "api.json", Text: []byte(export)},
			{Name: "stages.json", Text: fmt.Appendf(nil, stages, strings.Repeat("x", size))},
		})
		if err != nil {
			t.Fatal(err)
		}
		_, err = files.Plan(nil, movein.Options{Now: now})
		limit, ok := errors.AsType[*configfile.Error](err)
		if refused != ok ||
			ok && (limit.Code != configfile.CodeLimit || !strings.Contains(err.Error(), "20 MB of text")) {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}
