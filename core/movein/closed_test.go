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

// planned is a file, and what its plan has.
type planned struct {
	name, text string
	set        map[string]string // values of placeholders
	options    movein.Options
	item       string   // pointer
	codes      []string // of the item
	has, lacks string   // in the plan as JSON
}

func (tt planned) check(t *testing.T) {
	t.Helper()
	f, err := kongfile.Read([]byte(tt.text), tt.set)
	if err != nil {
		t.Fatal(err)
	}
	tt.options.Now = now
	p, err := movein.Kong(f, tt.options)
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(p.Items, func(one contract.ImportItem) bool { return one.Pointer == tt.item })
	if at < 0 {
		t.Fatal("the plan lacks the item")
	}
	if item := p.Items[at]; !slices.Equal(item.Codes, tt.codes) {
		t.Errorf("%v, %s", item.Codes, item.Status)
	}
	plan, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(plan), tt.has) {
		t.Errorf("%s\nisn't in\n%s", tt.has, plan)
	}
	if tt.lacks != "" && strings.Contains(string(plan), tt.lacks) {
		t.Errorf("%s\nis in\n%s", tt.lacks, plan)
	}
}

// Consumers and groups don't get what others have.
func TestKong_owners(t *testing.T) {
	for _, tt := range []planned{
		{
			name: "two consumers with one name", item: "/consumers/1",
			codes: []string{"consumer.renamed", "consumer.name"},
			text:  service + keyed + "consumers: [{username: alice, acls: [{group: admin}]}, {custom_id: alice}]\n",
			has:   `{"name":"alice-2","consumer_id":"","username":"","custom_id":"alice","groups":[]`,
		},
		{
			name: "a consumer that looks like a user", item: "/consumers/0",
			codes: []string{"consumer.renamed"},
			text:  service + keyed + "consumers: [{username: usr_1}]\n", has: `"name":"consumer-usr_1",`,
		},
		{
			name: "a group with the name of the one without members", item: "/consumers/0/acls/0",
			codes: []string{"acl.renamed"},
			text: strings.Replace(service, "hosts: [h.example.com]", "hosts: [h.example.com], paths: [/q/]", 1) +
				"routes: [{name: q, service: {name: s}, hosts: [h.example.com], paths: [/q], plugins: [{name: " +
				"key-auth}]}]\nconsumers: [{username: a, acls: [{group: Kong-Closed}]}]\n",
			has: `"groups":["kong-closed-2"]`, lacks: `"groups":["kong-closed"],"limits"`,
		},
	} {
		t.Run(tt.name, tt.check)
	}
}

// What may check the calls of consumers and routes, and can't be imported, closes them.
func TestKong_closedRoutes(t *testing.T) {
	const plugins = "plugins: [{name: rate-limiting, config: {minute: 1}}]"
	for _, tt := range []planned{
		{
			name: "groups at a consumer", item: "/consumers/0", codes: frozenByGroup,
			text: service + keyed + "consumers: [{username: a, groups: [{name: g}]}]\nconsumer_groups: [{name: g, " +
				plugins + "}]\n",
			has: `"reasons":["the plugin rate-limiting of its consumer group g can't be imported"],"open":"--open a"`,
		},
		{
			name: "consumers at a group", item: "/consumers/0", codes: frozenByGroup,
			text: service + keyed + "consumers: [{username: a}]\nconsumer_groups: [{name: g, consumers: [{username: " +
				"a}], " + plugins + "}]\n",
			has: `"frozen":true`,
		},
		{
			name: "members and plugins as lists", item: "/consumers/0", codes: frozenByGroup,
			text: service + keyed + "consumers: [{username: a}]\nconsumer_groups: [{name: g}]\n" +
				"consumer_group_consumers: [{consumer: a, consumer_group: g}]\n" +
				"consumer_group_plugins: [{name: rate-limiting-advanced, consumer_group: g}]\n",
			has: `"frozen":true`,
		},
		{
			name: "a plugin that names the group", item: "/consumers/0", codes: frozenByGroup,
			text: service + "consumers: [{username: a, groups: [g]}]\nconsumer_groups: [{name: g}]\nplugins: [{name: " +
				"request-termination, consumer_group: g}]\n",
			has: `"frozen":true`,
		},
		{
			name: "a group that isn't in the file", item: "/consumers/0",
			codes: []string{"consumer.group_missing", "consumer.frozen"},
			text:  service + "consumers: [{username: a, groups: [{name: g}]}]\n",
			has:   `"reasons":["its consumer group g isn't in the file"]`,
		},
		{
			name: "a group whose plugins are off", item: "/consumers/0",
			codes: []string{"consumer.groups"},
			text: service + "consumers: [{username: a, groups: [{name: g}]}]\nconsumer_groups: [{name: g, plugins: " +
				"[{name: request-termination, enabled: false}]}]\n",
			has: `"frozen":false`,
		},
		{
			name: "a member that is opened", item: "/consumers/0", options: movein.Options{Open: []string{"a"}},
			codes: []string{"consumer.group_missing", "consumer.opened"},
			text:  service + "consumers: [{username: a, groups: [{name: g}]}]\n", has: `"frozen":false`,
		},
		{
			name: "filter chains of a service", item: "/services/0/routes/0", codes: []string{"route.closed"},
			text: strings.Replace(service, "  routes:", "  filter_chains: [{filters: [{name: f}]}]\n  routes:", 1),
			has:  `"reasons":["its filter_chains can't be imported"],"open":"--open r"`,
		},
		{
			name: "filter chains without a scope", item: "/filter_chains/0", codes: []string{"plugin.closed"},
			text: service + "filter_chains: [{filters: [{name: f}]}]\n",
			has:  `"reasons":["filter_chains can't be imported"],"open":"--open r"`,
		},
		{
			name: "filter chains that are off", item: "/filter_chains/0", codes: []string{"unknown"},
			text: service + "filter_chains: [{enabled: false}]\n", has: `"closed":[],"by_hand"`,
		},
		{
			name: "unknown entities of a route", item: "/guards/0", codes: []string{"plugin.closed"},
			text: service + "guards: [{route: r}]\n", has: `"reasons":["guards can't be imported"]`,
		},
		{
			name: "a plugin of an unknown route", item: "/plugins/0", codes: []string{"plugin.missing_closed"},
			text: service + "plugins: [{name: key-auth, route: other}]\n", has: `"open":"--open r"`,
		},
		{
			name: "and with --open", item: "/services/0/routes/0", options: movein.Options{Open: []string{"r"}},
			codes: []string{"route.opened"}, text: service + "plugins: [{name: key-auth, route: other}]\n",
			has: `"closed":[],"by_hand"`,
		},
		{
			name: "enabled as a text isn't off", item: "/plugins/0", codes: []string{"plugin.auth_closed"},
			text: service + "plugins: [{name: oauth2, enabled: 'false'}]\n", has: `"closed":true`,
		},
		{
			name: "and the item says so", item: "/plugins/0", codes: []string{"plugin.enabled", "key-auth.query"},
			text: service + strings.Replace(keyed, "{name", "{enabled: 'off', name", 1), has: `"mode":"authenticate"`,
		},
		{
			name: "off without quotes is", item: "/plugins/0", codes: []string{"plugin.off"},
			text: service + "plugins: [{name: oauth2, enabled: off}]\n", has: `"closed":[],"by_hand"`,
		},
		{
			name: "a service", item: "/services/0/routes/0", codes: []string{"route.closed"},
			text: strings.Replace(service, "  routes:", "  enabled: 'false'\n  routes:", 1), has: `"closed":true`,
		},
		{
			name: "a path that can't be a prefix", item: "/services/0/routes/1", codes: []string{"route.path"},
			text: strings.Replace(service, "}]", "}, {name: q, hosts: [h.example.com], paths: [/x/../admin], plugins: "+
				"[{name: key-auth}]}]", 1),
			has: `"path_prefix":"/x","strip_prefix":false`, lacks: `"path_prefix":"/x/..`,
		},
	} {
		t.Run(tt.name, tt.check)
	}
}

var frozenByGroup = []string{"consumer.groups", "consumer.group_plugin", "consumer.frozen"}

// Values that can be secrets aren't in plans.
func TestKong_sealed(t *testing.T) {
	const value = "hush-hush"
	transform := func(plugin, config string) string {
		return service + "plugins: [{name: " + plugin + ", config: " + config + "}]\n"
	}
	for _, tt := range []planned{
		{
			name: "a header that a placeholder fills", item: "/plugins/0",
			codes: []string{"request-transformer.secret_always", "request-transformer.secret"},
			text:  transform("request-transformer", "{add: {headers: ['X-Env:$VALUE', 'X-Plain:1']}}"),
			has:   `"upstream_headers":["X-Env"]`,
		},
		{
			name: "a second value", item: "/plugins/0",
			codes: []string{
				"request-transformer.secret_repeated", "request-transformer.secret_always",
				"request-transformer.secret",
			},
			text: transform("request-transformer", "{append: {headers: ['X-Env:a $VALUE', 'X-Env:$VALUE']}}"),
			has:  `"upstream_headers":["X-Env"]`,
		},
		{
			name: "a header that upstreams can't get", item: "/plugins/0", codes: []string{"request-transformer.fixed"},
			text: transform("request-transformer", "{add: {headers: ['Host:$VALUE']}}"), has: `"upstream_headers":[]`,
		},
		{
			name: "the name of a header", item: "/plugins/0", codes: []string{"request-transformer.secret_argument"},
			text: transform("request-transformer", "{add: {headers: ['$VALUE:1']}}"), has: `"details":["add $VALUE"]`,
		},
		{
			name: "a query argument that a placeholder fills", item: "/plugins/0",
			codes: []string{"request-transformer.secret_argument", "request-transformer.query"},
			text:  transform("request-transformer", "{add: {querystring: ['region:$VALUE', 'a:1']}}"),
			has:   `"details":["add region"]`,
		},
		{
			name: "an argument whose name tells", item: "/plugins/0",
			codes: []string{"request-transformer.secret_argument"},
			text:  transform("request-transformer", "{replace: {body: ['api_key:hush-hush', 'a:1']}}"),
			has:   `"body":["a:1"]`,
		},
		{
			name: "a value with a placeholder that isn't filled", item: "/plugins/0",
			codes: []string{"request-transformer.placeholder"},
			text:  transform("request-transformer", "{add: {headers: ['X-Env:$VALUE $OTHER']}}"), has: `["add X-Env"]`,
		},
		{
			name: "headers and members of responses", item: "/plugins/0",
			codes: []string{"response-transformer.secret"},
			text: transform("response-transformer", "{add: {headers: ['X-Env:$VALUE', 'X-A:1'], json: "+
				"['token:hush-hush', 'n:1'], json_types: [string, number]}}"),
			has: `"headers":["X-A:1"],"body":["n:1"],"body_types":["number"]`,
		},
		{
			name: "origins", item: "/plugins/0", codes: []string{"cors.none"},
			text: transform("cors", "{origins: ['https://u:$VALUE@a.example.com']}"),
			has:  `["https://u:$VALUE@a.example.com"]`,
		},
		{
			name: "the user of a service", item: "/services/0", codes: []string{"service.address"},
			text: "_format_version: '3.0'\nservices: [{host: 'u:$VALUE@h.example.com', routes: [{name: r}]}]\n",
			has:  `"name":"h.example.com"`,
		},
		{
			name: "the user of a target", item: "/upstreams/0/targets/0", codes: []string{"target.address"},
			text: strings.Replace(service, "url: http://s.example.net", "host: up", 1) +
				"upstreams: [{name: up, targets: [{target: '$VALUE@a.example.net:80'}]}]\n",
			has: `"name":"a.example.net:80"`,
		},
		{
			name: "the query of a health check", item: "/upstreams/0",
			codes: []string{"upstream.fields", "upstream.checks"},
			text: strings.Replace(service, "url: http://s.example.net", "host: up", 1) +
				"upstreams: [{name: up, targets: [{target: 'a.example.net:80'}], healthchecks: {active: {http_path: " +
				"'/up?t=$VALUE', healthy: {interval: 5}}}}]\n",
			has: `"path":"/up"`,
		},
	} {
		tt.set, tt.lacks = map[string]string{"VALUE": value}, value
		t.Run(tt.name, tt.check)
	}
}
