package movein_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"postern/core/configfile"
	"postern/core/movein"
)

// kongWith returns a file with a service, a route, an upstream, a consumer and a plugin, which have further members.
func kongWith(on, member string) string {
	members := map[string]string{on: ", " + member}
	plugin := ""
	if name, found := strings.CutPrefix(on, "plugin "); found {
		plugin = ", plugins: [{name: " + name + ", " + member + "}]"
	}
	return `_format_version: "3.0"
services:
- {name: s, host: up` + members["service"] + `, routes: [{name: r, hosts: [h.example.com]` + members["route"] + plugin +
		`}]}
upstreams:
- {name: up, targets: [{target: "a.example.net:80"` + members["target"] + `}]` + members["upstream"] + `}
consumers: [{username: c, keyauth_credentials: [{key: 4d1c9a2b7e8f4a6db1c2d3e4f5a69788` + members["key"] + `}]}]
`
}

func awsWith(on, member string) string {
	members := map[string]string{on: ", " + member}
	return `{"openapi": "3.0.1", "info": {"title": "shop"}, "x-amazon-apigateway-importexport-version": "1.0",
"x-amazon-apigateway-cors": {"allowOrigins": ["https://a.example.com"]` + members["cors"] + `},
"x-amazon-apigateway-request-validator": "v", "x-amazon-apigateway-request-validators": {"v": {"x": 1` +
		members["validator"] + `}},
"paths": {"/a": {"get": {"parameters": [{"in": "query", "name": "q"` + members["parameter"] + `}],
"x-amazon-apigateway-integration": {"type": "http_proxy", "httpMethod": "GET", "uri": "https://a.example.net/a"` +
		members["integration"] + `}}}}}`
}

// A value that can't be read never becomes the default: the file is refused.
func TestFiles_fields(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		on, member string
		want       string // "": it can be read
	}{
		{"service", `port: "abc"`, "Line 3: The port of this service must be a whole number from 0 to 65535. Correct " +
			"it in the file."},
		{"service", "port: 65536", "whole number from 0 to 65535"},
		{"service", "port: [80]", "The port of this service"},
		{"service", `port: "8080"`, ""},
		{"service", "port: 8080.0", ""},
		{"service", "port: null", ""},
		{"service", `read_timeout: "5 s"`, "The read_timeout of this service must be a whole number of at least 1."},
		{"service", "write_timeout: 0", "The write_timeout of this service"},
		{"service", "connect_timeout: 1.5", "The connect_timeout of this service"},
		{"service", "retries: many", "The retries of this service"},
		{"service", "tls_verify: 1", "The tls_verify of this service must be true or false."},
		{"service", "tls_verify: yes", ""},
		{"service", "path: [/a]", "The path of this service must be a string."},
		{"service", "ca_certificates: {a: b}", "The ca_certificates of this service must be a list of strings."},
		{"service", "ca_certificates: {}", ""},
		{"route", "strip_path: maybe", "The strip_path of this route must be true or false."},
		{"route", "preserve_host: [true]", "The preserve_host of this route"},
		{"route", "methods: [GET, {a: b}]", "The methods of this route must be a list of strings."},
		{"route", "methods: [GET]", ""},
		{"route", "paths: /a", ""},
		{"route", "regex_priority: first", "The regex_priority of this route"},
		{"upstream", "healthchecks: on", "The healthchecks of this upstream must be an object."},
		{"upstream", "healthchecks: {active: {healthy: {interval: soon}}}", "The healthchecks.active.healthy.interval"},
		{"upstream", "healthchecks: {active: [], passive: {unhealthy: {timeouts: 2}}}", ""},
		{"upstream", "algorithm: [round-robin]", "The algorithm of this upstream"},
		{"target", "weight: heavy", "The weight of this target"},
		{"key", "ttl: soon", "The ttl of this keyauth credential must be a number."},
		{"plugin rate-limiting", "config: {minute: many}", "The config.minute of this rate-limiting plugin must be a " +
			"number."},
		{"plugin rate-limiting", "config: {minute: [5]}", "The config.minute of this rate-limiting plugin"},
		{"plugin rate-limiting", "config: {minute: 5, limit_by: [ip]}", "The config.limit_by"},
		{"plugin rate-limiting", "config: minute", "The config of this rate-limiting plugin must be an object."},
		{"plugin key-auth", "config: {key_in_query: 0}", "The config.key_in_query of this key-auth plugin"},
		{"plugin acl", "config: {allow: [[a]]}", "The config.allow of this acl plugin must be a list of strings."},
		{"plugin ip-restriction", "config: {deny: [{a: b}]}", "The config.deny of this ip-restriction plugin"},
		{"plugin ip-restriction", "config: {blacklist: {a: b}}", "The config.deny of this ip-restriction plugin"},
		{"plugin cors", "config: {max_age: old}", "The config.max_age of this cors plugin"},
		{"plugin request-transformer", "config: {add: [a]}", "The config.add of this request-transformer plugin must " +
			"be an object."},
		{"plugin custom", "config: text", ""},
	} {
		readFields(tt.on, t, kongWith(tt.on, tt.member), tt.member, tt.want)
	}
	for _, tt := range []struct{ on, member, want string }{
		{"integration", `"timeoutInMillis": "5 s"`, "The timeoutInMillis of this integration must be a whole number."},
		{"integration", `"tlsConfig": "x"`, "The tlsConfig of this integration must be an object."},
		{"integration", `"tlsConfig": {"insecureSkipVerification": "x"}`, "must be true or false."},
		{"integration", `"tlsConfig": {"insecureSkipVerification": "true"}`, ""},
		{"cors", `"maxAge": "old"`, "The maxAge of this CORS configuration"},
		{"cors", `"allowCredentials": "x"`, "The allowCredentials of this CORS configuration"},
		{"validator", `"validateRequestBody": "x"`, "The validateRequestBody of this validator"},
	} {
		readFields(tt.on, t, awsWith(tt.on, tt.member), tt.member, tt.want)
	}
}

func readFields(on string, t *testing.T, text, member, want string) {
	t.Helper()
	files, err := movein.Read([]movein.File{{Text: []byte(text)}})
	if err != nil {
		t.Fatal(member, err)
	}
	_, err = files.Plan(nil, movein.Options{Now: now})
	_, ofFile := errors.AsType[*configfile.Error](err)
	if (want == "") != (err == nil) || err != nil && (!ofFile || !strings.Contains(err.Error(), want)) {
		t.Errorf("%s: %s: %v", on, member, err)
	}
}

// Nor does a placeholder without a value. Its own value is checked.
func TestFiles_unfilledFields(t *testing.T) {
	t.Parallel()
	kong, aws := kongWith, awsWith
	for _, tt := range []struct {
		text string
		code string // of one of the items
		name string // of its entity
		set  string // a value that is refused
	}{
		{kong("service", "read_timeout: ${X}"), "service.placeholder", "s", "5 s"},
		{kong("service", "port: $X1"), "service.placeholder", "s", ""},
		{kong("service", "tls_verify: ${X}"), "service.placeholder", "s", "maybe"},
		{kong("route", "strip_path: ${X}"), "route.placeholder", "r", "maybe"},
		{kong("upstream", "healthchecks: {passive: {unhealthy: {timeouts: $X1}}}"), "upstream.placeholder", "up", ""},
		{kong("plugin rate-limiting", "config: {minute: ${X}, hour: 5}"), "plugin.placeholder", "rate-limiting on " +
			"route r", "many"},
		{kong("plugin key-auth", "config: {key_in_body: ${X}}"), "plugin.placeholder", "key-auth on route r", "maybe"},
		{kong("plugin ip-restriction", "config: {allow: [${X}]}"), "plugin.placeholder", "ip-restriction on route r",
			""},
		{kong("plugin cors", "config: {max_age: ${X}}"), "cors.placeholder", "cors on route r", "old"},
		{aws("integration", `"timeoutInMillis": "${X}"`), "operation.placeholder", "GET /a", "5 s"},
		{aws("cors", `"maxAge": "${X}"`), "cors.unfilled", "CORS", "old"},
		{aws("validator", `"validateRequestParameters": "${X}"`) + " ", "", "", "x"},
		{strings.Replace(aws("validator", `"validateRequestParameters": "${X}"`), `"name": "q"`, `"name": "q", `+
			`"required": true`, 1), "validator.closed", "v", ""},
	} {
		files, err := movein.Read([]movein.File{{Text: []byte(tt.text)}})
		if err != nil {
			t.Fatal(tt.code, err)
		}
		p, err := files.Plan(nil, movein.Options{Now: now})
		if err != nil {
			t.Fatal(tt.code, err)
		}
		has := tt.code == ""
		for _, item := range p.Items {
			has = has || item.Name == tt.name && slices.Contains(item.Codes, tt.code) && item.Status != "exact"
		}
		if !has {
			t.Errorf("%s isn't among the items %+v", tt.code, p.Items)
		}
		if tt.set == "" {
			continue
		}
		_, err = files.Plan(map[string]string{"X": tt.set}, movein.Options{Now: now})
		if err == nil || !strings.Contains(err.Error(), "Set another value for its placeholder.") ||
			strings.Contains(err.Error(), tt.set+".") {
			t.Errorf("%s: %v", tt.code, err)
		}
	}
}
