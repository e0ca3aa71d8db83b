package kong

import (
	"testing"

	"postern/bundle"
	"postern/core/contract"
	"postern/core/snapshot"
	"postern/testkit"
)

// No value can end its field, since entries are split at spaces.
func TestEntry_keptIdentity(t *testing.T) {
	k := snapshot.Key{KeyIdentity: contract.KeyIdentity{
		Consumer:     &contract.Consumer{ID: "a b", Username: "x owner=y", CustomID: "7%"},
		CredentialID: new("c=1"),
		Metadata:     `{"plan":"a b","city":"Zürich"}`,
	}}
	e := entry{id: "key_1", tenant: "tnt_1", consumer: "u1", owner: "o 1", kept: bundle.KeptIdentity(&k, true)}
	want := "key_1 tenant=tnt_1 asid=a%20b asname=x%20owner=y ascustom=7%25 ascredential=c=1 " +
		"asmetadata=%7B%22plan%22:%22a%20b%22%2C%22city%22:%22Z%5Cu00fcrich%22%7D consumer=u1 owner=o 1"
	if got := e.String(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// The entries that the plugin is tested with are those that are exported.
func TestEntry_keptIdentityTable(t *testing.T) {
	type identity struct {
		Name     string               `json:"name"`
		Identity contract.KeyIdentity `json:"identity"`
		Entry    string               `json:"entry"`
	}
	for _, one := range testkit.Rows[identity](t, "../../core/policy/testdata/kept_identity.jsonl", 8) {
		row := one.Of
		if got := bundle.KeptIdentity(&snapshot.Key{KeyIdentity: row.Identity}, false); got != row.Entry {
			t.Errorf("%s: got %q, want %q", row.Name, got, row.Entry)
		}
	}
}
