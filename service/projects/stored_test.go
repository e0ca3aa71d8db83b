package projects_test

import (
	"bytes"
	"log/slog"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"postern/core/contract"
	"postern/core/policy"
	"postern/core/snapshot"
	"postern/models"
	"postern/service/keys"
	"postern/service/projects"
	"postern/testkit/ordered"
	"postern/testkit/sample"
	"postern/testkit/state"
)

var samePrefix = cmp.Comparer(func(a, b netip.Prefix) bool { return a == b })

// restored is a feed without a database that was given a stored state.
func restored(
	t *testing.T,
	stored []byte,
	publicURL string,
) (served []*snapshot.Project, table *keys.Table, asOf time.Time, err error) {
	t.Helper()
	table = keys.NewTable()
	feed := &projects.Feed{
		Keys:      table,
		PublicURL: publicURL,
		Log:       slog.New(slog.DiscardHandler),
		Publish: func(all []*snapshot.Project) error {
			served = all
			return nil
		},
	}
	asOf, err = feed.Restore(bytes.NewReader(stored))
	return served, table, asOf, err
}

func TestRestoreServesWhatWasStored(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		created, owner := w.create(t, authenticated)
		second, err := w.keys.Create(t.Context(), owner, contract.NewKey{Owner: "billing"}.In(created.Project.ID))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.keys.Revoke(t.Context(), owner, second.Path()); err != nil {
			t.Fatal(err)
		}
		var stored bytes.Buffer
		if err := w.feed.Store(&stored); err != nil {
			t.Fatal(err)
		}
		served, table, asOf, err := restored(t, stored.Bytes(), "https://postern.example")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(w.served, served, samePrefix); diff != "" {
			t.Errorf("projects (-stored +restored):\n%s", diff)
		}
		for plaintext, want := range map[string]snapshot.KeyState{
			created.Keys["prod"].Secret.Reveal(): snapshot.KeyActive,
			second.Secret.Reveal():               snapshot.KeyRevoked,
		} {
			var key snapshot.Key
			if found, _ := table.Lookup(policy.HashKey(plaintext), &key); !found || key.State != want {
				t.Errorf("a key is found %v as %q, want it %s", found, key.State, want)
			}
			if bytes.Contains(stored.Bytes(), []byte(plaintext)) {
				t.Error("the stored state has the plaintext of a key")
			}
		}
		if age := time.Since(asOf); age < 0 || age > time.Hour {
			t.Errorf("the state is %s old", age)
		}
	})
}

// Whatever a project can say survives, and what says more than is known is refused.
func TestRestoreKeepsEveryField(t *testing.T) {
	want := sample.Project("https://api.example.com/base")
	want.TakenDown, want.Deleted, want.ExpiresAt = true, true, sample.Future
	want.Barred = []snapshot.BarredUser{{ID: "usr_1"}, {ID: "usr_2", Deleted: true}}
	want.Clients = []snapshot.AppClient{{
		ID:       "cli_1",
		Issuer:   snapshot.IssuerOf("https://postern.example", "cli_1"),
		TenantID: "tnt_1",
		Keys: []snapshot.SigningKey{{
			ID:        "sig_1",
			Algorithm: "EdDSA",
			JWK:       `{"kty":"OKP"}`,
			ExpiresAt: sample.Future,
		}},
		Providers: []snapshot.Provider{{ID: "idp_1", Type: "github", Enabled: true, UpstreamToken: snapshot.NoToken}},
	}}
	line := store(t, want)
	served, _, _, err := restored(t, line, "https://postern.example")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]*snapshot.Project{want}, served, samePrefix); diff != "" {
		t.Errorf("the project (-stored +restored):\n%s", diff)
	}
	replace := func(old, new string) func(string) string {
		return func(s string) string { return strings.Replace(s, old, new, 1) }
	}
	for name, change := range ordered.ByName(map[string]func(string) string{
		"a field of a newer version": replace(`"DisplayName":`, `"Curfew":true,"DisplayName":`),
		"another format":             replace(`"Format":1`, `"Format":2`),
		"cut off":                    func(s string) string { return s[:len(s)-3] },
		"more than there should be":  func(s string) string { return s + "x" },
		"a project too few":          replace(`"Projects":1`, `"Projects":2`),
		"nothing":                    func(string) string { return "" },
	}) {
		t.Run(name, func(t *testing.T) {
			changed := change(string(line))
			if changed == string(line) {
				t.Fatal("nothing is changed")
			}
			if served, _, _, err := restored(t, []byte(changed), ""); err == nil || len(served) > 0 {
				t.Errorf("%d projects are served, %v", len(served), err)
			}
		})
	}
}

// store is the stored form of one project without keys.
func store(t *testing.T, project *snapshot.Project) []byte {
	t.Helper()
	feed := &projects.Feed{
		Keys:    keys.NewTable(),
		Log:     slog.New(slog.DiscardHandler),
		Publish: func([]*snapshot.Project) error { return nil },
	}
	feed.Serve(project)
	var out bytes.Buffer
	if err := feed.Store(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
