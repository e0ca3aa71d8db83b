//go:build conformance

package conformance

import (
	"context"
	"iter"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"postern/bundle"
	"postern/bundle/kong"
	"postern/core/contract"
	"postern/core/kongfile"
	plans "postern/core/movein"
	"postern/core/snapshot"
	"postern/gateway"
	"postern/models"
	"postern/platform/egress"
	"postern/platform/secrets"
	"postern/service/access"
	"postern/service/domains"
	"postern/service/keys"
	"postern/service/movein"
	"postern/service/projects"
	"postern/service/ratelimit"
	"postern/service/serving"
	"postern/testkit/state"
)

const movedURL = "https://postern.example"

// moved is a Kong file, and what it became here.
type moved struct {
	up   *upstream
	text string // without placeholders
	file *kongfile.File
	plan *plans.Plan
	db   *models.DB
	ids  []string // of the projects, in the order of the plan

	others bool // it isn't a file of this repository
}

// moveIn reads and plans a file whose target is the upstream.
func moveIn(t *testing.T, path string, up *upstream) *moved {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	target, err := url.Parse(up.url)
	if err != nil {
		t.Fatal(err)
	}
	m := &moved{up: up, text: strings.NewReplacer(
		"${UPSTREAM}", up.url, "${ADDRESS}", target.Host, "${PORT}", target.Port(),
	).Replace(string(text))}
	if m.file, err = kongfile.Read([]byte(m.text), nil); err != nil {
		t.Fatal(err)
	}
	options := plans.Options{Now: time.Now()}
	if m.others = !strings.HasPrefix(path, "testdata/"); m.others { // as their importer would choose
		options.AllowWeak, options.Hosts = true, []string{otherHost}
	}
	if m.plan, err = plans.Kong(m.file, options); err != nil {
		t.Fatal(err)
	}
	return m
}

// kongFolder is a folder for a launcher of Kong with the file as it is.
func (m *moved) kongFolder(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	writeFile(t, filepath.Join(folder, "gateway.yaml"), m.text)
	if err := os.Mkdir(filepath.Join(folder, "plugins"), 0o755); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(folder, "docker-compose.yaml"), `services:
  kong:
    image: "kong:3.9"
    environment:
      KONG_DATABASE: "off"
      KONG_DECLARATIVE_CONFIG: "/postern/gateway.yaml"
      KONG_PLUGINS: "bundled"
      KONG_LOG_LEVEL: "warn"
      KONG_PROXY_ACCESS_LOG: "off"
      KONG_ADMIN_ACCESS_LOG: "off"
`)
	return folder
}

// serve writes the plan, and serves its projects as the product does.
func (m *moved) serve(t *testing.T) *peer {
	t.Helper()
	m.db = state.OpenSQLite(t)
	log := slog.New(slog.DiscardHandler)
	guard, err := egress.New(egress.Options{LoopbackAllowed: true})
	if err != nil {
		t.Fatal(err)
	}
	vault, err := secrets.NewVault(secrets.Secret(strings.Repeat("A", 43) + "="))
	if err != nil {
		t.Fatal(err)
	}
	table := keys.NewTable()
	plane := gateway.New(gateway.Options{
		Domain: bareHost, Keys: table, Dial: guard.DialContext, Logger: log, Limiter: ratelimit.NewLocal(),
		Unsealer: projects.Unsealer{Vault: vault},
	})
	feed := &serving.Feed{DB: m.db, Keys: table, PublicURL: movedURL, Publish: plane.Publish, Log: log}
	if err := feed.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	now := models.Now()
	team := models.Team{ID: models.NewID("team"), Name: "team", ClaimedAt: &now, CreatedAt: now}
	if err := m.db.Write(t.Context(), func(tx *models.Tx) error { return tx.Insert(&team) }); err != nil {
		t.Fatal(err)
	}
	owner := access.Principal{
		Account: models.NewID("acc"), Roles: map[string]access.Role{team.ID: access.Owner}, HomeTeam: team.ID,
		Operator: true,
	}
	names := &domains.Service{DB: m.db, Own: []string{"postern.example"}, Log: log, Changed: feed.Changed}
	writer := &movein.Service{
		DB: m.db, Domains: names, Changed: feed.Changed,
		Projects: &projects.Service{
			DB: m.db, Targets: guard, Vault: vault, Log: log, PublicURL: movedURL, KeyPrefix: "pst",
			Changed: feed.Changed,
		},
	}
	out, err := writer.Write(t.Context(), owner, "", m.plan)
	if err != nil {
		t.Fatal(err)
	}
	proven := map[string]bool{}
	for n, project := range out.Projects {
		m.ids = append(m.ids, project.ID)
		if project.Name != m.plan.Projects[n].Name {
			t.Fatalf("project %d is %s, planned as %s", n, project.Name, m.plan.Projects[n].Name)
		}
	}
	for _, d := range m.domains() {
		project := m.plan.Projects[d.project].Name
		if proven[d.Host+" "+project] {
			continue
		}
		proven[d.Host+" "+project] = true
		if _, err := names.Approve(t.Context(), owner, contract.DomainOf(project, d.Host)); err != nil {
			t.Fatal(err)
		}
	}
	door, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := plane.Server(door.Addr().String())
	go func() { _ = server.Serve(door) }()
	t.Cleanup(func() {
		_ = server.Close()
		plane.Close()
	})
	return &peer{name: "postern", addr: door.Addr().String(), up: m.up}
}

// movedDomain is a custom domain of a project of the plan.
type movedDomain struct {
	contract.PlannedDomain
	project int
}

func (m *moved) domains() (out []movedDomain) {
	for n := range m.plan.Projects {
		for _, v := range m.plan.Projects[n].Versions {
			for _, d := range v.Domains {
				out = append(out, movedDomain{d, n})
			}
		}
	}
	return out
}

// export unpacks the export of a project.
func (m *moved) export(t *testing.T, id string) string {
	t.Helper()
	var list []snapshot.Key
	var project *snapshot.Project
	err := m.db.Consistent(t.Context(), func(tx *models.Tx) (err error) {
		if project, err = serving.CompileWhole(tx, id, movedURL); err != nil {
			return err
		}
		return keys.Scan(tx, project, func(k snapshot.Key) error {
			list = append(list, k)
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return unpackedExport(t, bundle.Input{
		Project: project, KeyCount: int64(len(list)), Target: kong.Target, Generator: "postern test",
		Keys: func(context.Context) iter.Seq2[snapshot.Key, error] {
			return func(yield func(snapshot.Key, error) bool) {
				for _, one := range list {
					if !yield(one, nil) {
						return
					}
				}
			}
		},
		Users: func(context.Context, snapshot.Tenant) iter.Seq2[snapshot.User, error] {
			return func(func(snapshot.User, error) bool) {}
		},
		Options:   bundle.Options{Format: bundle.FormatGateway, Consumers: true},
		AddressOf: func(v, e string) string { return movedURL + "/" + v + "/" + e },
	})
}
