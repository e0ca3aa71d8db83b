package projects_test

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"

	"postern/core/contract"
	"postern/core/policy"
	"postern/core/snapshot"
	"postern/models"
	"postern/platform/fault"
	"postern/platform/secrets"
	"postern/service/access"
	"postern/service/projects"
	"postern/testkit/state"
)

// headersOf returns the headers of the environment as the gateway opens them, by name.
func (w *world) headersOf(t *testing.T, project, environment string) map[string]string {
	t.Helper()
	return opened(t, w.Vault, w.project(t, project), environment)
}

func opened(t *testing.T, vault *secrets.Vault, p *snapshot.Project, environment string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, v := range p.Versions {
		for _, e := range v.Environments {
			for _, h := range e.Headers {
				value, err := projects.Unsealer{Vault: vault}.HeaderValue(p, environment, h)
				if err != nil {
					t.Fatal(err)
				}
				out[h.Name] = value
			}
		}
	}
	return out
}

// headerWorld is a world with a vault and a project, to whose one environment headers
// are set.
type headerWorld struct {
	*world
	db                      *models.DB
	owner                   access.Principal
	id, environment, target string
}

func newHeaderWorld(t *testing.T, db *models.DB) *headerWorld {
	t.Helper()
	w := newWorld(t, db)
	var err error
	if w.Vault, err = secrets.NewVault(secrets.Secret(strings.Repeat("A", 43) + "=")); err != nil {
		t.Fatal(err)
	}
	created, owner := w.create(t, authenticated)
	environment := created.Project.Versions[0].Environments[0]
	return &headerWorld{world: w, db: db, owner: owner,
		id: created.Project.ID, environment: environment.ID, target: environment.Target}
}

// at is the environment, by its id.
func (w *headerWorld) at() contract.EnvironmentPath {
	return contract.EnvironmentOf(w.id, "1.0.0", w.environment)
}

func (w *headerWorld) set(t *testing.T, name string, value contract.Secret) error {
	return w.setAs(t, w.owner, w.at(), name, value)
}

func (w *headerWorld) setAs(
	t *testing.T, p access.Principal, at contract.EnvironmentPath, name string, value contract.Secret,
) error {
	_, err := w.SetUpstreamHeader(t.Context(), p, contract.UpstreamHeaderUpdate{
		UpstreamHeaderPath: contract.UpstreamHeaderPath{EnvironmentPath: at, Name: name},
		Body:               contract.UpstreamHeaderValue{Value: value},
	})
	return err
}

func TestUpstreamHeaders(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newHeaderWorld(t, db)
		t.Run("takes effect at once", func(t *testing.T) {
			if err := w.set(t, "x-upstream-TOKEN", "first-value"); err != nil {
				t.Fatal(err)
			}
			if err := w.set(t, "X-Upstream-Token", "second-value"); err != nil {
				t.Fatal(err)
			}
			want := map[string]string{"X-Upstream-Token": "second-value"}
			if got := w.headersOf(t, w.id, w.environment); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("served %v, want %v", got, want)
			}
		})
		t.Run("opens without a database, and is stored sealed", func(t *testing.T) {
			var stored bytes.Buffer
			if err := w.feed.Store(&stored); err != nil {
				t.Fatal(err)
			}
			if bytes.Contains(stored.Bytes(), []byte("second-value")) {
				t.Error("the stored state has the value")
			}
			served, _, _, err := restored(t, stored.Bytes(), "https://postern.example")
			if err != nil {
				t.Fatal(err)
			}
			if got := opened(t, w.Vault, served[0], w.environment); got["X-Upstream-Token"] != "second-value" {
				t.Errorf("opened %v", got)
			}
		})
		t.Run("opens in its own place only", func(t *testing.T) {
			served := w.project(t, w.id)
			h := served.Versions[0].Environments[0].Headers[0]
			if _, err := (projects.Unsealer{Vault: w.Vault}).HeaderValue(served, "env_other", h); err == nil {
				t.Error("the value opens for another environment")
			}
			h.Name = "X-Other"
			if _, err := (projects.Unsealer{Vault: w.Vault}).HeaderValue(served, w.environment, h); err == nil {
				t.Error("the value opens under another name")
			}
		})
		t.Run("removed", func(t *testing.T) {
			header := contract.UpstreamHeaderPath{EnvironmentPath: w.at(), Name: "x-upstream-token"}
			if found, err := w.UpstreamHeader(t.Context(), w.owner, header); err != nil ||
				found.Name != "X-Upstream-Token" {
				t.Errorf("read %+v, %v", found, err)
			}
			if _, err := w.RemoveUpstreamHeader(t.Context(), w.owner, header); err != nil {
				t.Fatal(err)
			}
			if _, still := w.headersOf(t, w.id, w.environment)["X-Upstream-Token"]; still {
				t.Error("it is still served")
			}
			_, err := w.RemoveUpstreamHeader(t.Context(), w.owner, header)
			if fault.KindOf(err) != fault.NotFound {
				t.Errorf("a second time: %v", err)
			}
		})
	})
}

func TestUpstreamHeaders_environment(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newHeaderWorld(t, db)
		if err := w.set(t, "X-Upstream-Token", "second-value"); err != nil {
			t.Fatal(err)
		}
		t.Run("does not go to another host", func(t *testing.T) {
			err := w.retarget(t, "https://other.example")
			if field := fieldOf(err, "/target"); field.Code != "has_upstream_credentials" {
				t.Errorf("a new host: %v", err)
			}
			if err := w.retarget(t, w.target+"/v2"); err != nil {
				t.Errorf("a new path: %v", err)
			}
		})
		t.Run("is not copied to a new version", func(t *testing.T) {
			_, err := w.CreateVersion(t.Context(), w.owner, contract.NewVersion{Name: "2.0.0"}.In(w.id))
			if err != nil {
				t.Fatal(err)
			}
			if headers := w.project(t, w.id).Versions[1].Environments[0].Headers; len(headers) > 0 {
				t.Errorf("the copy has %v", headers)
			}
		})
		t.Run("is audited without its value", func(t *testing.T) {
			entries, err := w.db.Read(t.Context()).AuditEntries(models.AuditFilter{TeamID: w.owner.HomeTeam}, 50)
			if err != nil {
				t.Fatal(err)
			}
			text := fmt.Sprintf("%+v", entries)
			if !strings.Contains(text, "upstream header X-Upstream-Token of "+w.environment) {
				t.Error("no entry names the header")
			}
			if strings.Contains(text, "second-value") {
				t.Error("an entry has the value")
			}
		})
		t.Run("ends with its environment", func(t *testing.T) {
			err := w.db.Write(t.Context(), func(tx *models.Tx) error { return tx.DeleteEnvironment(w.environment) })
			if err != nil {
				t.Fatal(err)
			}
			rows, err := w.db.Read(t.Context()).UpstreamHeadersOf(w.environment)
			if err != nil || len(rows) > 0 {
				t.Errorf("%d rows are left, %v", len(rows), err)
			}
		})
	})
}

func TestUpstreamHeaders_refused(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newHeaderWorld(t, db)
		t.Run("refuses", func(t *testing.T) {
			for name, code := range map[string]string{
				"X-Consumer-ID": "reserved_header", "Host": "reserved_header", "Content-Length": "reserved_header",
				"X_Token": "reserved_header", "Cookie": "reserved_header",
			} {
				if field := fieldOf(w.set(t, name, "value"), "/name"); field.Code != code {
					t.Errorf("%s: %+v", name, field)
				}
			}
			for _, value := range []contract.Secret{"", "a\r\nX-Consumer-ID: root", "ü"} {
				if field := fieldOf(w.set(t, "X-A", value), "/value"); field.Code != "invalid_header_value" {
					t.Errorf("%q: %+v", value.Reveal(), field)
				}
			}
		})
		t.Run("another team", func(t *testing.T) {
			other, stranger := w.create(t, authenticated)
			err := w.setAs(t, stranger, w.at(), "X-A", "value")
			if fault.KindOf(err) != fault.NotFound {
				t.Errorf("in the project of another team: %v", err)
			}
			theirs := contract.EnvironmentOf(other.Project.ID, "1.0.0", w.environment)
			err = w.setAs(t, stranger, theirs, "X-A", "value")
			if fault.KindOf(err) != fault.NotFound {
				t.Errorf("an environment of another team: %v", err)
			}
			if _, err := w.UpstreamHeaders(t.Context(), stranger, w.at()); fault.KindOf(err) != fault.NotFound {
				t.Errorf("list: %v", err)
			}
		})
		t.Run("at most ten, also at once", func(t *testing.T) {
			var all sync.WaitGroup
			for n := range 15 {
				all.Go(func() { _ = w.set(t, fmt.Sprintf("X-Race-%d", n), "value") })
			}
			all.Wait()
			if err := w.set(t, "X-One-More", "value"); fault.CodeOf(err) != "too_many_headers" {
				t.Errorf("one more: %v", err)
			}
			have, err := w.UpstreamHeaders(t.Context(), w.owner, w.at())
			if err != nil {
				t.Fatal(err)
			}
			if len(have.Items) != policy.MaxUpstreamHeaders {
				t.Errorf("%d headers", len(have.Items))
			}
		})
	})
}
