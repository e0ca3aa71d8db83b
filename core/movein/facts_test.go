package movein_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"postern/core/contract"
	"postern/core/kongfile"
	"postern/core/movein"
)

// service is a file with a service and a route, whose members can be added.
const service = `_format_version: "3.0"
services:
- name: s
  url: http://s.example.net
  routes: [{name: r, hosts: [h.example.com]}]
`

const keyed = "plugins: [{name: key-auth, config: {hide_credentials: true, key_in_query: false}}]\n"

// Each fact about Kong's files has its consequence.
func TestKong_facts(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		options    movein.Options
		item       string   // pointer
		codes      []string // of the item
		status     string
		has        string // a part of the plan as JSON
	}{
		{
			name: "most specific plugin replaces the others whole", item: "/plugins/0",
			codes: []string{"plugin.unused"},
			text: service + "plugins: [{name: cors, config: {max_age: 5}}, {name: cors, service: s, config: " +
				"{max_age: 7}}]\n",
			has: `"max_age":7}`, status: "exact",
		},
		{
			name: "enabled: false is off", item: "/plugins/0", codes: []string{"plugin.off"}, status: "exact",
			text: service + "plugins: [{name: oauth2, enabled: false}]\n", has: `"mode":"passthrough","methods":[]`,
		},
		{
			name: "several services: one product and tenant", item: "/services/1", codes: []string{"service"},
			text: service + "- {name: t, url: 'http://t.example.net', routes: [{hosts: [t.example.com]}]}\n",
			has:  `"product":"kong","tenant":"kong","projects":[{"name":"service","display_name":"s",`, status: "exact",
		},
		{
			name: "acl.allow is any of the groups", item: "/plugins/1", codes: []string{"plugin"}, status: "exact",
			text: service + "plugins: [{name: key-auth}, {name: acl, config: {allow: [a, B c]}}]\n",
			has:  `{"methods":["*"],"path":"/**","groups":["a","b-c"]}`,
		},
		{
			name: "acl.deny is closed", item: "/services/0/routes/0", codes: []string{"route.closed"},
			status: "skipped",
			text:   service + "plugins: [{name: key-auth}, {name: acl, config: {deny: [a]}}]\n",
			has:    `"reasons":["acl denies groups"],"open":"--open r"`,
		},
		{
			name: "hide_credentials is off by default", item: "/plugins/0", status: "approximate",
			text:  service + "plugins: [{name: key-auth, config: {key_in_query: false}}]\n",
			codes: []string{"key-auth.hide_credentials"},
		},
		{
			name: "key_names in header and query", item: "/plugins/0", status: "approximate",
			text:  service + "plugins: [{name: key-auth, config: {hide_credentials: true, key_names: [k, l]}}]\n",
			codes: []string{"key-auth.places", "key-auth.query"},
			has:   `"api_key":{"in":[{"header":"k"},{"query":"k"},{"header":"l"},{"query":"l"}]}`,
		},
		{
			name: "key_in_body isn't possible", item: "/plugins/0",
			codes:  []string{"key-auth.body", "key-auth.places", "key-auth.query"},
			text:   service + "plugins: [{name: key-auth, config: {hide_credentials: true, key_in_body: true}}]\n",
			status: "lossy",
		},
		{
			name: "keys in Authorization", item: "/plugins/0",
			codes:  []string{"key-auth.authorization", "key-auth.query"},
			status: "approximate",
			text: service + "plugins: [{name: key-auth, config: {hide_credentials: true, key_in_query: false, " +
				"key_names: [Authorization]}}]\n",
			has: `"api_key":{"in":[{"header":"Authorization"}]}`,
		},
		{
			name: "/orders also matches /ordersx", item: "/services/0/routes/0", codes: []string{"route.prefix"},
			text:   strings.Replace(service, "name: r,", "name: r, paths: [/orders],", 1),
			status: "approximate", has: `"path_prefix":"/orders","strip_prefix":true`,
		},
		{
			name: "a regular expression that isn't a prefix", item: "/services/0/routes/0",
			codes: []string{"route.regex"},
			text:  strings.Replace(service, "name: r,", `name: r, paths: ['~/o/\d+$'],`, 1), status: "skipped",
			has: `"reasons":["a path is a regular expression that can't be imported"],"open":""`,
		},
		{
			name: "a regular expression that is stripped", item: "/services/0/routes/0", codes: []string{"route.regex"},
			text: strings.Replace(service, "name: r,", `name: r, paths: ['~/o/.*'],`, 1), status: "skipped",
		},
		{
			name: "the same without strip_path", item: "/services/0/routes/0", codes: []string{"route.regex_prefix"},
			text:   strings.Replace(service, "name: r,", `name: r, strip_path: false, paths: ['~/o/.*'],`, 1),
			status: "approximate", has: `"path_prefix":"/o","strip_prefix":false`,
		},
		{
			name: "methods", item: "/services/0/routes/0", codes: []string{"route"}, status: "exact",
			text: strings.Replace(service, "name: r,", "name: r, methods: [post, GET],", 1),
			has:  `"methods":["GET","POST"]`,
		},
		{
			name: "the gateway URL of a version takes no other methods", item: "/services/0/routes/0",
			text:  strings.Replace(service, "name: r,", "name: r, methods: [GET],", 1),
			codes: []string{"route"}, status: "exact",
			has: `"rules":{"default":"deny","mode":"enforce","read_write_scopes":false,"rules":[{"methods":["GET"],` +
				`"path":"/**"}]}`,
		},
		{
			name: "and no paths that the route doesn't have", item: "/services/0/routes/0", status: "approximate",
			text:  strings.Replace(service, "name: r,", "name: r, strip_path: false, paths: [/a/b],", 1),
			codes: []string{"route.prefix"},
			has: `"rules":{"default":"deny","mode":"enforce","read_write_scopes":false,"rules":[{"methods":["*"],` +
				`"path":"/a/b/**"}]}`,
		},
		{
			name: "no host", item: "/services/0/routes/0", codes: []string{"route.no_host"}, status: "lossy",
			text: strings.Replace(service, ", hosts: [h.example.com]", "", 1), has: `"domains":[]`,
		},
		{
			name: "no host, with --host", item: "/services/0/routes/0", codes: []string{"route.any_host"},
			text:    strings.Replace(service, ", hosts: [h.example.com]", "", 1),
			options: movein.Options{Hosts: []string{"new.example.com"}}, status: "approximate",
			has: `"host":"new.example.com"`,
		},
		{
			name: "a wildcard takes the known names", item: "/services/0/routes/0", codes: []string{"route.wildcard"},
			text:    strings.Replace(service, "[h.example.com]", "['*.example.com']", 1),
			options: movein.Options{Hosts: []string{"a.example.com", "b.example.net"}}, status: "lossy",
			has: `"hosts":["a.example.com"]`,
		},
		{
			name: "ports in hosts", item: "/services/0/routes/0", codes: []string{"route.port"}, status: "approximate",
			text: strings.Replace(service, "[h.example.com]", "['h.example.com:8443']", 1),
			has:  `"hosts":["h.example.com"]`,
		},
		{
			name: "snis", item: "/services/0/routes/0", codes: []string{"route.match"}, status: "skipped",
			text: strings.Replace(service, "name: r,", "name: r, snis: [h.example.com],", 1),
		},
		{
			name: "headers", item: "/services/0/routes/0", codes: []string{"route.match"}, status: "skipped",
			text: strings.Replace(service, "name: r,", "name: r, headers: {x-a: [b]},", 1),
		},
		{
			name: "https only", item: "/services/0/routes/0", codes: []string{"route.https"}, status: "approximate",
			text: strings.Replace(service, "name: r,", "name: r, protocols: [https],", 1),
		},
		{
			name: "targets aren't verified", item: "/services/0", codes: []string{"service.unverified"},
			status: "approximate",
			text:   strings.Replace(service, "http:", "https:", 1),
		},
		{
			name: "unless tls_verify", item: "/services/0", codes: []string{"service"}, status: "exact",
			text: strings.Replace(service, "url: http:", "tls_verify: true\n  url: https:", 1),
		},
		{
			name: "or --trust", item: "/services/0", codes: []string{"service.trusted"}, status: "approximate",
			text:    strings.Replace(service, "http:", "https:", 1),
			options: movein.Options{Trust: []string{"s.example.net"}},
		},
		{
			name: "private targets", item: "/services/0", codes: []string{"service"}, status: "exact",
			text: strings.Replace(service, "s.example.net", "10.1.2.3:80", 1), has: `"egress_cidrs":["10.1.2.3/32"]`,
		},
		{
			name: "one-label targets", item: "/services/0", codes: []string{"service"}, status: "exact",
			text: strings.Replace(service, "s.example.net", "orders:80", 1), has: `"egress_names":["orders"]`,
		},
		{
			name: "5 retries by default", item: "/services/0", codes: []string{"service"}, status: "exact",
			text: service,
			has:  `"retries":{"max":5}`,
		},
		{
			name: "timeouts are retried where it is asked for", item: "/services/0", codes: []string{"service"},
			text: service, options: movein.Options{RetryOnTimeout: true}, status: "exact",
			has: `"retries":{"max":5,"on":["timeout"]}`,
		},
		{
			name: "and otherwise declared once", item: "/services/0", codes: []string{"service"}, status: "exact",
			text: service, has: `"notes":[{"code":"retry_on_timeout"`,
		},
		{
			name: "one read_timeout", item: "/services/0", codes: []string{"service.timeouts"}, status: "approximate",
			text: strings.Replace(service, "name: s", "name: s\n  read_timeout: 5000", 1),
			has:  `"connect_ms":60000,"response_ms":5000,"idle_ms":5000,"stream_idle_ms":5000`,
		},
		{
			name: "without anonymous, several auth plugins are AND", item: "/plugins/1",
			codes:  []string{"plugin.auth_closed"},
			text:   service + "plugins: [{name: key-auth}, {name: basic-auth}]\n",
			status: "skipped", has: `"reasons":["calls require the plugin basic-auth in addition to a key"]`,
		},
		{
			name: "with it, OR", item: "/plugins/1", codes: []string{"plugin.alternative"}, status: "skipped",
			text: service + "consumers: [{username: x, plugins: [{name: request-termination}]}]\nplugins: [{name: " +
				"key-auth, config: {anonymous: x}}, {name: basic-auth, config: {anonymous: x}}]\n",
			has: `"closed":[],"by_hand"`,
		},
		{
			name: "anonymous alone", item: "/services/0/routes/0", codes: []string{"route.anonymous"}, status: "lossy",
			text: service + "plugins: [{name: key-auth, config: {anonymous: x}}]\n", has: `"mode":"authenticate"`,
		},
		{
			name: "anonymous alone, opened", item: "/services/0/routes/0", codes: []string{"route"}, status: "exact",
			text:    service + "plugins: [{name: key-auth, config: {anonymous: x}}]\n",
			options: movein.Options{Open: []string{"r"}}, has: `"mode":"passthrough","methods":["api_key"]`,
		},
		{
			name: "jwt", item: "/plugins/0", codes: []string{"jwt.closed"}, status: "skipped",
			text: service + "plugins: [{name: jwt}]\n", has: `"closed":true`,
		},
		{
			// As Kong 3.9.3 derives it: UUIDv5 of the name, below that of the schema.
			name: "consumers without an id", item: "/consumers/0", codes: []string{"consumer"}, status: "exact",
			text: service + keyed + "consumers: [{username: billing-service}]\n",
			has:  `"consumer_id":"35350059-a35b-58c9-9be9-c44b6088b5eb","username":"billing-service","custom_id":""`,
		},
		{
			name: "consumers without a username", item: "/consumers/0", codes: []string{"consumer.name"},
			status: "approximate", text: service + keyed + "consumers: [{custom_id: c-1}]\n",
			has: `"username":"","custom_id":"c-1"`,
		},
		{
			name: "consumers with both names", item: "/consumers/0", codes: []string{"consumer"}, status: "exact",
			text: service + keyed + "consumers: [{username: billing-service, custom_id: c-1}]\n",
			has:  `"username":"billing-service","custom_id":"c-1"`,
		},
		{
			name: "limit_by consumer", item: "/plugins/1", codes: []string{"rate-limiting.global"},
			status: "approximate",
			text:   service + strings.Replace(keyed, "}}]", "}}, {name: rate-limiting, config: {minute: 7}}]", 1),
			has:    `"owner":{"minute":7}`,
		},
		{
			name: "falls back to the address without a consumer", item: "/plugins/0", codes: []string{"plugin"},
			status: "exact",
			text:   service + "plugins: [{name: rate-limiting, service: s, config: {minute: 7}}]\n",
			has:    `"ip":{"minute":7}`,
		},
		{
			name: "a limit that refuses every call", item: "/plugins/0", codes: []string{"rate-limiting.values"},
			status: "skipped", text: service + "plugins: [{name: rate-limiting, config: {minute: 0.5, hour: 9}}]\n",
			has: `"reasons":["rate-limiting has no valid limit"],"open":"--open r"`,
		},
		{
			name: "without a limit", item: "/plugins/0", codes: []string{"rate-limiting.values"}, status: "skipped",
			text: service + "plugins: [{name: rate-limiting, config: {policy: local}}]\n",
		},
		{
			name: "a consumer's limit that refuses every call", item: "/consumers/0/plugins/0",
			codes: []string{"plugin.consumer"}, status: "skipped",
			text: service + "consumers: [{username: c, plugins: [{name: rate-limiting, config: {minute: 0}}], " +
				"keyauth_credentials: [{key: 4d1c9a2b7e8f4a6db1c2d3e4f5a69788}]}]\n",
			has: `"frozen":true`,
		},
		{
			name: "acl without a group", item: "/plugins/1", codes: []string{"acl.empty"}, status: "skipped",
			text: service + "plugins: [{name: key-auth}, {name: acl, config: {allow: []}}]\n",
			has:  `"reasons":["acl doesn't name any groups"],"open":"--open r"`,
		},
		{
			name: "a group without a name", item: "/consumers/0/acls/0", codes: []string{"acl.no_group"},
			status: "skipped", text: service + "consumers: [{username: c, acls: [{tags: [a]}]}]\n",
		},
		{
			name: "limit_by header", item: "/plugins/0", codes: []string{"rate-limiting.by"}, status: "skipped",
			text: service + "plugins: [{name: rate-limiting, config: {minute: 7, limit_by: header}}]\n",
			has:  `"closed":true`,
		},
		{
			name: "limit_by path", item: "/plugins/0", codes: []string{"rate-limiting.by"}, status: "skipped",
			text: service + "plugins: [{name: rate-limiting, config: {minute: 7, limit_by: path}}]\n",
			has:  `"closed":true`,
		},
		{
			name: "limit_by credential", item: "/plugins/1", codes: []string{"rate-limiting.global"},
			status: "approximate",
			text: service + strings.Replace(keyed, "}}]",
				"}}, {name: rate-limiting, config: {hour: 7, limit_by: credential}}]", 1), has: `"key":{"hour":7}`,
		},
		{
			name: "limit_by service", item: "/plugins/0", codes: []string{"plugin"}, status: "exact",
			text: service + "plugins: [{name: rate-limiting, service: s, config: {day: 7, limit_by: service}}]\n",
			has:  `"project":{"day":7}`,
		},
		{
			name: "redis", item: "/plugins/0", codes: []string{"rate-limiting.redis"}, status: "approximate",
			text: service + "plugins: [{name: rate-limiting, service: s, config: {day: 7, policy: redis}}]\n",
		},
		{
			name: "rate-limiting-advanced", item: "/plugins/0", codes: []string{"plugin.closed"}, status: "skipped",
			text: service + "plugins: [{name: rate-limiting-advanced}]\n", has: `"closed":true`,
		},
		{
			name: "CORS without origins allows all", item: "/plugins/0", codes: []string{"plugin"}, status: "exact",
			text: service + "plugins: [{name: cors}]\n", has: `"cors":{"origins":["*"]`,
		},
		{
			name: "all headers with credentials", item: "/plugins/0", codes: []string{"cors.credentials"},
			text: service + "plugins: [{name: cors, config: {origins: ['https://a.example.com'], headers: ['*'], " +
				"credentials: true}}]\n",
			status: "lossy", has: `"headers":["*"],"exposed_headers":[],"credentials":false`,
		},
		{
			name: "origins that are regular expressions", item: "/plugins/0", codes: []string{"cors.origin"},
			status: "lossy",
			text: service + `plugins: [{name: cors, config: {origins: ['.*\.example\.com', ` +
				`'https://a.example.com']}}]`,
			has: `"cors":{"origins":["https://a.example.com"]`,
		},
		{
			name: "hide_credentials writes queries again", item: "/plugins/0", codes: []string{"key-auth.query"},
			text: service + keyed, status: "approximate", has: `"api_key":{"in":[{"header":"apikey"}]}`,
		},
		{
			name: "the path without its slash is one of a stricter route", item: "/services/0/routes/0",
			codes: []string{"route.slash", "route.slash_denied"}, status: "approximate",
			text: strings.Replace(service, "hosts: [h.example.com]", "hosts: [h.example.com], paths: [/q/]", 1) +
				"routes: [{name: q, service: {name: s}, hosts: [h.example.com], paths: [/q], plugins: [{name: " +
				"key-auth}]}]\n",
			has: `{"methods":["*"],"path":"/","groups":["kong-closed"]}`,
		},
		{
			name: "a path of a stricter route is refused at all hosts", item: "/services/0/routes/0",
			codes: []string{"route.guarded_everywhere", "route.guarded"}, status: "approximate",
			text: strings.Replace(service, "[h.example.com]", "[h.example.com, i.example.com]", 1) +
				"routes: [{name: q, service: {name: s}, hosts: [h.example.com], paths: [/q], plugins: [{name: " +
				"key-auth}]}]\n",
			has: `{"methods":["*"],"path":"/q/**","groups":["kong-closed"]}`,
		},
		{
			name: "and at the same hosts only there", item: "/services/0/routes/0", codes: []string{"route.guarded"},
			status: "approximate",
			text: service + "routes: [{name: q, service: {name: s}, hosts: [h.example.com], paths: [/q], plugins: " +
				"[{name: key-auth}]}]\n",
			has: `{"methods":["*"],"path":"/q/**","groups":["kong-closed"]}`,
		},
		{
			name: "run_on_preflight", item: "/plugins/0", codes: []string{"key-auth.query", "key-auth.preflight"},
			status: "approximate", text: service + strings.Replace(keyed, "{hide", "{run_on_preflight: false, hide", 1),
		},
		{
			name: "templates of transformers", item: "/plugins/0", codes: []string{"request-transformer.template"},
			text: service + "plugins: [{name: request-transformer, config: {add: {headers: ['a:$(headers.x)', " +
				"'b:1']}}}]\n",
			status: "lossy", has: `"add":{"headers":["b:1"]`,
		},
		{
			name: "replace.uri and http_method", item: "/plugins/0", status: "lossy",
			text:  service + "plugins: [{name: request-transformer, config: {http_method: PUT, replace: {uri: /x}}}]\n",
			codes: []string{"request-transformer.uri", "request-transformer.method"},
		},
		{
			name: "transformers of consumers", item: "/consumers/0/plugins/0",
			codes: []string{"plugin.consumer_transform"},
			text:  service + "consumers: [{username: a, plugins: [{name: request-transformer}]}]\n", status: "lossy",
		},
		{
			name: "secrets in transformers", item: "/plugins/0", status: "lossy",
			codes: []string{"request-transformer.secret_always", "request-transformer.secret"},
			text: service + "plugins: [{name: request-transformer, config: {add: {headers: " +
				"['Authorization:Basic x']}}}]\n",
			has: `"upstream_headers":["Authorization"]`,
		},
		{
			name: "preserve_host", item: "/services/0/routes/0", codes: []string{"route"}, status: "exact",
			text: strings.Replace(service, "name: r,", "name: r, preserve_host: true,", 1),
			has:  `"host_header":"caller"`,
		},
		{
			name: "port 80 also for https", item: "/services/0", codes: []string{"service.unverified"},
			status: "approximate",
			text:   strings.Replace(service, "url: http://s.example.net", "host: s.example.net\n  protocol: https", 1),
			has:    `"target":"https://s.example.net:80"`,
		},
		{
			name: "target port 8000", item: "/upstreams/0/targets/0", codes: []string{"target"}, status: "exact",
			text: strings.Replace(service, "url: http://s.example.net", "host: up", 1) +
				"upstreams: [{name: up, targets: [{target: a.example.net}]}]\n",
			has: `"targets":[{"url":"http://a.example.net:8000","weight":100}]`,
		},
		{
			name: "a ttl that can be read in two ways", item: "/consumers/0/keyauth_credentials/0",
			status: "approximate",
			text: service + "consumers: [{username: a, keyauth_credentials: [{key: 0123456789abcdef0123456789abcdef, " +
				"ttl: 3600}]}]\n",
			codes: []string{"keyauth_credential.ttl"}, has: `"imported":1,"frozen":0,"expired":1`,
		},
		{
			name: "weak keys", item: "/consumers/0/keyauth_credentials/0", codes: []string{"keyauth_credential.weak"},
			text: service + "consumers: [{username: a, keyauth_credentials: [{key: secret}]}]\n", status: "skipped",
			has: `"weak":1,"skipped":1`,
		},
		{
			name: "weak keys that are allowed", item: "/consumers/0/keyauth_credentials/0", status: "exact",
			text:    service + "consumers: [{username: a, keyauth_credentials: [{key: secret}]}]\n",
			options: movein.Options{AllowWeak: true}, codes: []string{"keyauth_credential.weak_allowed"},
			has: `"imported":1,"frozen":0,"expired":0,"weak":1,"skipped":0`,
		},
		{
			name: "$SUPABASE_ANON_KEY doesn't become a key", item: "/consumers/0/keyauth_credentials/0",
			status:  "skipped",
			text:    service + "consumers: [{username: a, keyauth_credentials: [{key: $SUPABASE_ANON_KEY}]}]\n",
			options: movein.Options{AllowWeak: true}, codes: []string{"keyauth_credential.placeholder"},
			has: `"placeholders":[{"name":"SUPABASE_ANON_KEY","line":6,"count":1}]`,
		},
		{
			name: "a consumer that is blocked", item: "/consumers/0", codes: []string{"consumer.frozen"},
			status: "lossy",
			text:   service + "consumers: [{username: a, custom_id: c, plugins: [{name: request-termination}]}]\n",
			has:    `"frozen":true`,
		},
		{
			name: "a consumer that is opened", item: "/consumers/0", codes: []string{"consumer.opened"},
			status:  "lossy",
			text:    service + "consumers: [{username: a, custom_id: c, plugins: [{name: request-termination}]}]\n",
			options: movein.Options{Open: []string{"a"}}, has: `"frozen":false`,
		},
		{
			name: "a closed route that is opened", item: "/services/0/routes/0", codes: []string{"route.opened"},
			text:    service + "plugins: [{name: oauth2}]\n",
			options: movein.Options{Open: []string{"/services/0/routes/0"}}, status: "lossy",
			has: `"mode":"passthrough"`,
		},
		{
			name: "logs don't close a route", item: "/plugins/0", codes: []string{"plugin.harmless"}, status: "skipped",
			text: service + "plugins: [{name: http-log, config: {http_endpoint: 'https://u:p@log.example'}}]\n",
			has:  `"closed":[],"by_hand"`,
		},
		{
			name: "addresses", item: "/plugins/0", codes: []string{"plugin"}, status: "exact",
			text: service + "plugins: [{name: ip-restriction, config: {allow: [192.0.2.1], deny: " +
				"['2001:db8::/32']}}]\n",
			has: `"ip":{"allow":["192.0.2.1/32"],"deny":["2001:db8::/32"]}`,
		},
		{
			name: "addresses that can't be read", item: "/plugins/0", codes: []string{"ip-restriction.ranges"},
			text: service + "plugins: [{name: ip-restriction, config: {deny: [x]}}]\n", status: "skipped",
			has: `"closed":true`,
		},
		{
			name: "a host that can't be a custom domain", item: "/services/0/routes/0",
			codes: []string{"route.unserved_host"}, status: "lossy",
			text:    strings.Replace(service, "h.example.com", "h.example.com, orders", 1),
			options: movein.Options{CanServe: func(host string) bool { return host != "orders" }},
			has:     `"hosts":["h.example.com"]`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, p := read(t, tt.text, tt.options)
			at := slices.IndexFunc(p.Items, func(one contract.ImportItem) bool { return one.Pointer == tt.item })
			if at < 0 {
				t.Fatal("the plan lacks the item")
			}
			item := p.Items[at]
			if !slices.Equal(item.Codes, tt.codes) || item.Status != tt.status {
				t.Errorf("%v, %s", item.Codes, item.Status)
			}
			p.Items = nil
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

func TestKong_openUnknown(t *testing.T) {
	f, err := kongfile.Read([]byte(service), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := movein.Kong(f, movein.Options{Open: []string{"no-such-route"}}); err == nil {
		t.Error("a route that doesn't exist was opened")
	}
}
