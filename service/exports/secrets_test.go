package exports_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/exports"
	"postern/testkit/state"
)

// plaintext is the secret of the test's identity provider.
const plaintext = "the secret that a provider issued"

// withSecret gives the project an identity provider with a secret, and a member who proves
// themselves by the password "correct".
func withSecret(t *testing.T, w *world) {
	t.Helper()
	withVault(t, w)
	for team := range w.owner.Roles {
		w.owner.Roles[team] = access.Member
	}
	w.Prove = func(_ context.Context, _ access.Principal, password string) error {
		if password != "correct" {
			return fault.InvalidField("/password", "wrong_password", "This is not the password.")
		}
		return nil
	}
	now := models.Now()
	err := w.DB.Write(t.Context(), func(tx *models.Tx) error {
		project, err := tx.ProjectByID(w.project)
		if err != nil {
			return err
		}
		tenants, err := tx.TenantsOf(w.project)
		if err != nil {
			return err
		}
		client := models.AppClient{ID: "cli_1", TenantID: tenants[0].ID, Name: "web", RedirectURIs: []string{},
			LogoutURIs: []string{}, CreatedAt: now, UpdatedAt: now}
		provider := models.Provider{
			ID: "idp_1", AppClientID: client.ID, Type: "google", ClientID: "app", ClientToken: "service",
			UpstreamToken: "service", Enabled: true, Scopes: []string{}, AuthoritativeDomains: []string{},
			SignInDomains: []string{}, CreatedAt: now, UpdatedAt: now,
		}
		provider.ClientSecret, err = w.Vault.Seal(tx, project.TeamID, provider.SecretPlace(), plaintext)
		if err != nil {
			return err
		}
		return tx.Insert(&client, &provider)
	})
	if err != nil {
		t.Fatal(err)
	}
}

var asked = exports.Options{Format: "data", Consumers: true, Secrets: true, Password: "correct"}

func TestBuild_secrets(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		withSecret(t, w)
		e := w.request(t, asked)
		if err := w.Build(t.Context(), e.ID, true); err != nil {
			t.Fatal(err)
		}
		data := w.download(t, e.ID)
		if ledger := w.wholeLedger(t, e.ID); ledger != entry(t, data, "MIGRATION-REPORT.json") ||
			strings.Contains(ledger, plaintext) {
			t.Error("the ledger is not that of the zip, or has the secret")
		}
		if text := entry(t, data, "secrets.json"); !strings.Contains(text, plaintext) {
			t.Errorf("secrets.json has no secret: %s", text)
		}
		if _, err := verified(t, data, published(t, w)...); err != nil {
			t.Errorf("Verify: %v", err)
		}
		// A part of the file, as a download that is resumed asks for it.
		file, err := w.Open(t.Context(), w.owner, e.Path())
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		const from = 1000
		if _, err := file.ReadCloser.(io.Seeker).Seek(from, io.SeekStart); err != nil {
			t.Fatal(err)
		}
		rest, err := io.ReadAll(file)
		if err != nil || !bytes.Equal(rest, data[from:]) {
			t.Errorf("%v: the rest of the file differs", err)
		}
		checkStored(t, w, data)
	})
}

// checkStored checks that what lies in the store cannot be read without the row's key.
func checkStored(t *testing.T, w *world, data []byte) {
	t.Helper()
	stored, err := filepath.Glob(filepath.Join(string(w.dir), "*"))
	if err != nil || len(stored) != 1 {
		t.Fatalf("%d files: %v", len(stored), err)
	}
	raw, err := os.ReadFile(stored[0])
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(raw, data[:4]) || bytes.Contains(raw, []byte(plaintext)) ||
		bytes.Contains(raw, []byte("MANIFEST")) {
		t.Error("the stored file is not encrypted")
	}
}

// An export that expires loses the key of its file, so that a copy of the file can no longer be opened.
func TestExpire_deletedFileKey(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		withSecret(t, w)
		w.TTL = -time.Second
		e := w.request(t, asked)
		if err := w.Build(t.Context(), e.ID, true); err != nil {
			t.Fatal(err)
		}
		if err := w.Upkeep(t.Context()); err != nil {
			t.Fatal(err)
		}
		row, err := db.Read(t.Context()).ExportByID(e.ID)
		if err != nil || row.State != contract.ExportExpired || row.FileKey != nil {
			t.Errorf("%v: state %s, key of %d bytes", err, row.State, len(row.FileKey))
		}
	})
}

func TestRequest_secretsRefused(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		withSecret(t, w)
		viewer := w.owner
		viewer.Roles = map[string]access.Role{}
		for team := range w.owner.Roles {
			viewer.Roles[team] = access.Viewer
		}
		with := func(change func(*exports.Options)) exports.Options {
			options := asked
			change(&options)
			return options
		}
		for name, tt := range map[string]struct {
			who     access.Principal
			options exports.Options
			kind    fault.Kind
		}{
			"a viewer":          {viewer, asked, fault.Forbidden},
			"a wrong password":  {w.owner, with(func(o *exports.Options) { o.Password = "wrong" }), fault.Invalid},
			"a wrong recipient": {w.owner, with(func(o *exports.Options) { o.Recipient = "age1" }), fault.Invalid},
			"a recipient of nothing": {w.owner, with(func(o *exports.Options) {
				o.Secrets, o.Recipient = false, "age1"
			}), fault.Invalid},
		} {
			if _, err := w.Request(t.Context(), tt.who, "shop", tt.options); fault.KindOf(err) != tt.kind {
				t.Errorf("%s: %v", name, err)
			}
		}
		e := w.request(t, asked)
		if err := w.Build(t.Context(), e.ID, true); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Open(t.Context(), viewer, e.Path()); fault.KindOf(err) != fault.Forbidden {
			t.Errorf("a viewer downloads: %v", err)
		}
	})
}
