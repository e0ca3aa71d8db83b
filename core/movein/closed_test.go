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
