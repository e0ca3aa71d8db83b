package kong

import (
	"bufio"
	"encoding/json"
	"os"
	"testing"

	"postern/bundle"
	"postern/core/contract"
	"postern/core/snapshot"
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
	file, err := os.Open("../../core/policy/testdata/kept_identity.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	rows := 0
	for lines := bufio.NewScanner(file); lines.Scan(); rows++ {
		var row struct {
			Name     string               `json:"name"`
			Identity contract.KeyIdentity `json:"identity"`
			Entry    string               `json:"entry"`
		}
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		if got := bundle.KeptIdentity(&snapshot.Key{KeyIdentity: row.Identity}, false); got != row.Entry {
			t.Errorf("%s: got %q, want %q", row.Name, got, row.Entry)
		}
	}
	if rows < 8 {
		t.Errorf("only %d rows", rows)
	}
}
