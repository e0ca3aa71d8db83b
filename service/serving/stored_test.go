package serving_test

import (
	"bytes"
	"log/slog"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"postern/core/snapshot"
	"postern/service/keys"
	"postern/service/serving"
	"postern/testkit"
	"postern/testkit/sample"
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
	feed := &serving.Feed{
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

// Whatever a project can say survives, and what says more than is known is refused.
func TestRestore_everyField(t *testing.T) {
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
	for name, change := range testkit.ByName(map[string]func(string) string{
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
	feed := &serving.Feed{
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
