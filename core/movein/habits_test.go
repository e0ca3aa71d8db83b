package movein_test

import (
	"strings"
	"testing"

	"postern/core/movein"
)

// What public files often have, and what it becomes.
func TestKong_habits(t *testing.T) {
	const closedGroup = `"groups":["kong-closed"]`
	for _, tt := range []planned{
		{
			name: "a url with a placeholder wins over the protocol", item: "/services/0",
			codes: []string{"service.placeholder"},
			text: "_format_version: '2.1'\nservices: [{name: s, url: 'http://$HOST:4000/socket', protocol: ws, " +
				"routes: [{name: r}]}]\n",
		},
		{
			name: "and with its value", item: "/services/0", codes: []string{"service"},
			text: "_format_version: '2.1'\nservices: [{name: s, url: 'http://$HOST:4000/socket', protocol: ws, " +
				"routes: [{name: r}]}]\n",
			set: map[string]string{"HOST": "realtime"}, has: `"target":"http://realtime:4000/socket"`,
		},
		{
			name: "acme at a route for all paths", item: "/plugins/0", codes: []string{"plugin.acme"},
			text: service + "plugins: [{name: acme, config: {account_email: a@example.com}}]\n",
			has:  `{"methods":["*"],"path":"/.well-known/acme-challenge/**",` + closedGroup + `}`,
		},
		{
			name: "acme at a route for another path", item: "/services/0/routes/0", codes: []string{"route.prefix"},
			text:  routeOf("paths: [/a]") + "plugins: [{name: acme}]\n",
			lacks: closedGroup,
		},
		{
			name: "acme at a route for a part of its path", item: "/services/0/routes/0",
			codes: []string{"route.prefix"},
			text:  routeOf("paths: [/.well-known]") + "plugins: [{name: acme}]\n",
			has:   `{"methods":["*"],"path":"/acme-challenge/**",` + closedGroup + `}`,
		},
		{
			name: "acme at a route below its path", item: "/services/0/routes/0", codes: []string{"route.prefix"},
			text: routeOf("paths: [/.well-known/acme-challenge/x], strip_path: false") + "plugins: [{name: acme}]\n",
			has:  `{"methods":["*"],"path":"/**",` + closedGroup + `}`, lacks: `"default":"allow"`,
		},
		{
			name: "correlation-id", item: "/plugins/0", codes: []string{"plugin.correlation"},
			text: service + "plugins: [{name: correlation-id}]\n", has: `"details":["Kong-Request-ID"]`,
		},
		{
			name: "correlation-id with a header", item: "/plugins/0", codes: []string{"plugin.correlation"},
			text: service + "plugins: [{name: correlation-id, config: {header_name: X-Request-ID}}]\n",
			has:  `"details":["X-Request-ID"]`,
		},
		{
			name: "proxy-cache", item: "/plugins/0", codes: []string{"plugin.cache"},
			text: service + "plugins: [{name: proxy-cache, config: {strategy: memory}}]\n",
		},
		{
			name: "a limit of a consumer without a key", item: "/consumers/0/plugins/0",
			codes: []string{"plugin.no_keys"},
			text: service + keyed + "consumers: [{username: a, plugins: [{name: rate-limiting, config: {minute: " +
				"5}}]}]\n",
			lacks: "client_addresses",
		},
		{
			name: "and of one with a key", item: "/consumers/0/plugins/0", codes: []string{"rate-limiting.consumer"},
			text: service + keyed + "consumers: [{username: a, plugins: [{name: rate-limiting, config: {minute: " +
				"5}}], keyauth_credentials: [{key: 5b7c0d1e9f2a4468}]}]\n",
			has: "client_addresses",
		},
		{
			name: "a limit of a closed route", item: "/plugins/0", codes: []string{"plugin.route_closed"},
			text:  service + "plugins: [{name: rate-limiting, config: {minute: 5}}, {name: oauth2}]\n",
			lacks: "client_addresses",
		},
		{
			name: "calls without TLS only", item: "/services/0/routes/0", codes: []string{"route.http"},
			text: routeOf("protocols: [http]"),
		},
		{
			name: "a path at all hosts, which other routes take", item: "/services/0/routes/1",
			codes: []string{"route.no_host", "route.prefix"},
			text: "_format_version: '1.1'\nservices: [{name: s, url: 'http://s.example.net', routes: [{name: host, " +
				"hosts: [h.example.com]}, {name: path, paths: [/grafana]}]}]\n",
		},
		{
			name: "methods that no call has", item: "/services/0/routes/0", codes: []string{"route"},
			text: routeOf("methods: [GET, CONNECT, TRACE]"), has: `"methods":["GET"],"version"`,
		},
		{
			name: "and no other ones", item: "/services/0/routes/0", codes: []string{"route.no_methods"},
			text: routeOf("methods: [TRACE]"), has: `"projects":[]`,
		},
		{
			name: "hosts of one machine", item: "/services/0/routes/0", codes: []string{"route.unserved_host"},
			text: "_format_version: '2.1'\nservices: [{name: s, url: 'http://s', routes: [{hosts: [localhost, " +
				"todo_api]}]}]\n",
			lacks: `"host":`,
		},
		{
			name: "what CORS can't have", item: "/plugins/0", codes: []string{"plugin"},
			text: service + "plugins: [{name: cors, config: {methods: [get, TRACE, CONNECT, GET], headers: ['Accept, " +
				"X-Token', accept], exposed_headers: ['*', X-A], origins: ['HTTPS://App.example.com:443', " +
				"'https://app.example.com', 'http://localhost:3000'], max_age: -1}}]\n",
			has: `"cors":{"origins":["https://app.example.com","http://localhost:3000"],"app_origins":false,` +
				`"methods":["GET"],` +
				`"headers":["Accept","X-Token"],"exposed_headers":["*"],"credentials":false,"max_age":0}`,
		},
		{
			name: "what CORS here can't have", item: "/plugins/0",
			codes: []string{"cors.method", "cors.header", "cors.origin"},
			text: service + "plugins: [{name: cors, config: {methods: [PROPFIND], headers: ['X Y'], origins: " +
				"['http://a:0', 'http://b']}}]\n",
			has: `"origins":["http://b"],"app_origins":false,"methods":["OPTIONS"],"headers":[],`,
		},
		{
			name: "a path and all below it, as of the ingress controller", item: "/services/0/routes/0",
			codes: []string{"route"}, text: routeOf("paths: ['~/docs$', /docs/]"),
			has: `"path_prefix":"/docs","strip_prefix":true,"version":"1.0.0"`, lacks: `"path_prefix":"/docs/`,
		},
		{
			name: "and another regular expression", item: "/services/0/routes/0", codes: []string{"route.regex"},
			text: routeOf("paths: ['~/docs$', /docs/, '~/x$']"),
		},
		{
			name: "and one of two", item: "/services/0/routes/0", codes: []string{"route.regex"},
			text: routeOf("paths: ['~/docs$', /docs]"),
		},
		{
			name: "changes of arguments", item: "/plugins/0", codes: []string{"request-transformer.query"},
			text: service + "plugins: [{name: request-transformer, config: {rename: {querystring: ['a:b']}}}]\n",
			has:  `"rename":{"headers":[],"query":["a:b"],"body":[]}`,
		},
		{
			name: "a name that no host can have", item: "/services/0", codes: []string{"service.address"},
			text: "_format_version: '3.0'\nservices: [{name: s, host: default.httpbin.0, routes: [{name: r}]}]\n",
			has:  `"reasons":["its service can't be imported"]`,
		},
		{
			name: "and an upstream with it", item: "/services/0", codes: []string{"service"},
			text: "_format_version: '3.0'\nservices: [{name: s, host: default.httpbin.0, routes: [{name: r}]}]\n" +
				"upstreams: [{name: default.httpbin.0, targets: [{target: '192.0.2.7:80'}]}]\n",
			has: `"targets":[{"url":"http://192.0.2.7","weight":100}]`,
		},
		{
			name: "a target to fill in", item: "/upstreams/0/targets/0", codes: []string{"target.address"},
			text: "_format_version: '3.0'\nservices: [{name: s, host: u, routes: [{name: r}]}]\nupstreams: [{name: " +
				"u, targets: [{target: '<private-ip>:8080'}]}]\n",
		},
		{
			name: "a long name", item: "/services/0", codes: []string{"service"},
			text: strings.Replace(service, "name: s\n", `name: "a\tb`+strings.Repeat("ä", 100)+`"`+"\n", 1),
			has:  `"display_name":"a b` + strings.Repeat("ä", 77) + `","from"`,
		},
		{
			name: "repeated names", item: "/plugins/1", codes: []string{"request-transformer.query"},
			text: service + "plugins: [{name: key-auth}, {name: request-transformer, config: " +
				"{add: {headers: ['X-A:1', 'x-a:2']}, replace: {querystring: ['q:1', 'q:2', 'Q:3']}}}]\n",
			has: `"replace":{"headers":[],"query":["q:2","Q:3"],"body":[]},"add":{"headers":["X-A:1"],"query":[]`,
		},
		{
			name: "keys by repeated names", item: "/plugins/0",
			codes: []string{"key-auth.places", "key-auth.hide_credentials"},
			text:  service + "plugins: [{name: key-auth, config: {key_names: [k, K]}}]\n",
			has:   `"in":[{"header":"k"},{"query":"k"},{"query":"K"}]`,
		},
		{
			name: "a part of a gateway", item: "/services/0", codes: []string{"service"},
			text: "_info: {select_tags: [team-a, team-b]}\n" + service,
			has: `{"code":"select_tags","detail":"The file contains only entities with the tags team-a, team-b ` +
				`(select_tags).`,
		},
		{
			name: "a secret that is added and replaced", item: "/plugins/0",
			codes: []string{"request-transformer.secret"},
			text: service + "plugins: [{name: request-transformer, config: {add: {headers: ['Authorization:Basic " +
				"YTpi']}, replace: {headers: ['authorization:Basic YTpi']}}}]\n",
		},
		{
			name: "a secret that is replaced only", item: "/plugins/0",
			codes: []string{"request-transformer.secret_always", "request-transformer.secret"},
			text: service + "plugins: [{name: request-transformer, config: {replace: {headers: ['Authorization:Basic " +
				"YTpi']}}}]\n",
		},
	} {
		t.Run(tt.name, tt.check)
	}
}

// routeOf is a file with a route that has these members.
func routeOf(members string) string {
	return "_format_version: '3.0'\nservices: [{name: s, url: 'http://s.example.net', routes: [{name: r, hosts: " +
		"[h.example.com], " + members + "}]}]\n"
}

func TestOtherwise_manifest(t *testing.T) {
	text := "apiVersion: v1\nkind: ConfigMap\ndata:\n  kong.yml: |\n    _format_version: \"3.0\"\n"
	const want = "This is a Kubernetes manifest. Save the Kong file from its data as a separate file, and import " +
		"that file."
	if got := movein.Otherwise([]byte(text)); got != want {
		t.Error(got)
	}
}
