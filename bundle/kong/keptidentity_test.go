package kong

import (
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
