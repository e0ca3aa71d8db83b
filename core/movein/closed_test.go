package movein_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"postern/core/contract"
	"postern/core/movein"
)

// planned is a file, and what its plan has.
type planned struct {
	name, text string
	options    movein.Options
	item       string   // pointer
	codes      []string // of the item
	has, lacks string   // in the plan as JSON
}

func (tt planned) check(t *testing.T) {
	t.Helper()
	_, p := read(t, tt.text, tt.options)
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
			codes: []string{"consumer.renamed", "consumer.name"},
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
func TestKong_closes(t *testing.T) {
	const plugins = "plugins: [{name: rate-limiting, config: {minute: 1}}]"
	for _, tt := range []planned{
		{
			name: "groups at a consumer", item: "/consumers/0", codes: frozenByGroup,
			text: service + keyed + "consumers: [{username: a, groups: [{name: g}]}]\nconsumer_groups: [{name: g, " +
				plugins + "}]\n",
			has: `"reasons":["the plugin rate-limiting of its consumer group g can't be imported"],"open":"--open a"`,
		},
		{
			name: "consumers at a group", item: "/consumers/0", codes: frozenByGroup[1:],
			text: service + keyed + "consumers: [{username: a}]\nconsumer_groups: [{name: g, consumers: [{username: " +
				"a}], " + plugins + "}]\n",
			has: `"frozen":true`,
		},
		{
			name: "members and plugins as lists", item: "/consumers/0", codes: frozenByGroup[1:],
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
			codes: []string{"consumer.fields", "consumer.group_missing", "consumer.frozen", "consumer.name"},
			text:  service + "consumers: [{username: a, groups: [{name: g}]}]\n",
			has:   `"reasons":["its consumer group g isn't in the file"]`,
		},
		{
			name: "a group whose plugins are off", item: "/consumers/0", codes: []string{"consumer.fields", "consumer.name"},
			text: service + "consumers: [{username: a, groups: [{name: g}]}]\nconsumer_groups: [{name: g, plugins: " +
				"[{name: request-termination, enabled: false}]}]\n",
			has: `"frozen":false`,
		},
		{
			name: "a member that is opened", item: "/consumers/0", options: movein.Options{Open: []string{"a"}},
			codes: []string{"consumer.fields", "consumer.group_missing", "consumer.opened", "consumer.name"},
			text:  service + "consumers: [{username: a, groups: [{name: g}]}]\n", has: `"frozen":false`,
		},
	} {
		t.Run(tt.name, tt.check)
	}
}

var frozenByGroup = []string{"consumer.fields", "consumer.group_plugin", "consumer.frozen", "consumer.name"}
