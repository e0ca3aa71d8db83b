package imports_test

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"maps"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"postern/bundle"
	"postern/bundle/targets"
	"postern/core/contract"
	"postern/core/snapshot"
	"postern/models"
	"postern/platform/secrets"
	"postern/service/access"
	"postern/service/appclients"
	"postern/service/imports"
	"postern/service/keys"
	"postern/service/login/providers"
	"postern/service/projects"
	"postern/service/serving"
	"postern/testkit/state"
)

const (
	oldServer = "https://old.example"
	newServer = "https://new.example"
)

type anyTarget struct{}

func (anyTarget) CheckTarget(_ context.Context, raw string) (*url.URL, error) { return url.Parse(raw) }

// world is an installation with a claimed team.
type world struct {
	*imports.Service
	owner access.Principal
}

func newWorld(t *testing.T, db *models.DB) *world {
	t.Helper()
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	vault, err := secrets.NewVault(secrets.Secret(strings.Repeat("A", 43) + "="))
	if err != nil {
		t.Fatal(err)
	}
	nothing := func(context.Context) {}
	clients := &appclients.Service{
		DB:        db,
		Vault:     vault,
		Providers: &providers.Set{},
		Targets:   anyTarget{},
		PublicURL: newServer,
		Changed:   nothing,
		Log:       log,
	}
	made := &projects.Service{
		DB:         db,
		Targets:    anyTarget{},
		Vault:      vault,
		Log:        log,
		PublicURL:  newServer,
		KeyPrefix:  "pst",
		CheckLogin: clients.CheckProject,
		Changed:    nothing,
	}
	now := models.Now()
	team := models.Team{ID: models.NewID("team"), Name: "new", ClaimedAt: &now, CreatedAt: now}
	if err := db.Write(t.Context(), func(tx *models.Tx) error { return tx.Insert(&team) }); err != nil {
		t.Fatal(err)
	}
	return &world{
		Service: &imports.Service{DB: db, Projects: made, AppClients: clients, Changed: nothing},
		owner: access.Principal{
			Account:  models.NewID("acc"),
			Roles:    map[string]access.Role{team.ID: access.Owner},
			HomeTeam: team.ID,
		},
	}
}

func (w *world) take(t *testing.T, zip []byte, in contract.NewImport) contract.Import {
	t.Helper()
	out, err := w.Import(t.Context(), w.owner, in, bytes.NewReader(zip), int64(len(zip)))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// export returns the zip of a project of the installation, made at the given revision.
func (w *world) export(t *testing.T, id string, format bundle.Format) ([]byte, *snapshot.Project) {
	t.Helper()
	var out []byte
	var project *snapshot.Project
	err := w.DB.Consistent(t.Context(), func(tx *models.Tx) (err error) {
		if project, err = serving.CompileWhole(tx, id, newServer); err != nil {
			return err
		}
		of := made{project: project, users: map[string][]snapshot.User{}}
		err = keys.Scan(tx, project, func(k snapshot.Key) error {
			k.OwnerFrozen = project.FrozenOwner(k.Owner)
			of.keys = append(of.keys, k)
			return nil
		})
		if err != nil {
			return err
		}
		for _, tenant := range project.Tenants {
			err := serving.ScanUsers(tx, tenant.ID, func(u snapshot.User) error {
				of.users[tenant.ID] = append(of.users[tenant.ID], u)
				return nil
			})
			if err != nil {
				return err
			}
		}
		names := map[string]string{}
		for _, tenant := range project.Tenants {
			names[tenant.ID] = tenant.Name
		}
		err = tx.ScanRelations(id, func(r *models.Relation) error {
			of.relations = append(of.relations, snapshot.Relation{
				TenantID: r.TenantID, Tenant: names[r.TenantID], User: r.User, Relation: r.Relation, Object: r.Object,
			})
			return nil
		})
		if err != nil {
			return err
		}
		out = of.zip(t, format)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out, project
}

// zip exports what was made.
func (m made) zip(t *testing.T, format bundle.Format) []byte {
	t.Helper()
	target, err := targets.For(format)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	var relations func(context.Context) iter.Seq2[snapshot.Relation, error]
	if len(m.relations) > 0 {
		relations = func(context.Context) iter.Seq2[snapshot.Relation, error] { return each(m.relations) }
	}
	_, err = bundle.Write(t.Context(), &out, bundle.Input{
		Project:   m.project,
		Relations: relations,
		KeyCount:  int64(len(m.keys)),
		Keys:      func(context.Context) iter.Seq2[snapshot.Key, error] { return each(m.keys) },
		Users: func(_ context.Context, t snapshot.Tenant) iter.Seq2[snapshot.User, error] {
			return each(m.users[t.ID])
		},
		Options:   bundle.Options{Format: format, Consumers: true},
		Target:    target,
		AddressOf: func(v, e string) string { return "http://localhost:8090/" + m.project.Name + "/" + v + "/" + e },
		Generator: "postern test",
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func each[T any](list []T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, one := range list {
			if !yield(one, nil) {
				return
			}
		}
	}
}

// lose changes a project to what an import makes of it: the losses that docs/import.md lists,
// and no others.
func (m made) lose(imported *snapshot.Project) {
	p := m.project
	p.Revision, p.RevisedAt = imported.Revision, imported.RevisedAt
	p.CallSigningKeys, p.Webhooks, p.EndedSessions, p.GroupsLeft = nil, nil, nil, nil
	p.Barred = slices.DeleteFunc(p.Barred, func(u snapshot.BarredUser) bool { return u.Deleted })
	for i := range p.Versions {
		if opaque := p.Versions[i].Access.Opaque; opaque != nil {
			opaque.HasSecret = false
		}
		for j := range p.Versions[i].Environments {
			e := &p.Versions[i].Environments[j]
			e.Domains, e.Headers, e.Certificate = nil, nil, nil
		}
	}
	for i := range p.Clients {
		c := &p.Clients[i]
		c.Issuer, c.Keys = snapshot.IssuerOf(newServer, c.ID), nil
		for j := range c.Providers {
			one := &c.Providers[j]
			traits, _ := providers.TraitsOf(one.Type)
			one.Enabled = one.Enabled && !one.Settings.Managed && !one.Settings.HasSecret && !traits.NeedsSecret
			one.Settings.HasSecret = false
		}
	}
}

// roundTripsVariable sets how many random projects make the round trip on each database.
const roundTripsVariable = "POSTERN_ROUND_TRIPS"

// roundTrips returns that number. With fewer than the default, no project may have one of the
// members that docs/import.md lists.
func roundTrips(t *testing.T) int {
	t.Helper()
	const enough = 60
	value := os.Getenv(roundTripsVariable)
	if value == "" {
		return enough
	}
	many, err := strconv.Atoi(value)
	if err != nil || many < enough {
		t.Fatalf("%s is %q, want a number of at least %d", roundTripsVariable, value, enough)
	}
	return many
}

// The export of an imported project is the export that was imported, byte for byte, but for
// the losses that are listed.
func TestRoundTrip(t *testing.T) {
	zips := map[int][]byte{} // by seed; an export is the same for both databases
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		changed := map[string]bool{}
		for seed := range roundTrips(t) {
			format := []bundle.Format{bundle.FormatData, bundle.FormatGateway}[seed%2]
			before := newMaker(uint64(seed)).build()
			before.project.Name = fmt.Sprintf("shop-%d", seed)
			before.project.Product, before.project.API.Audience = own(before.project, seed)
			for i := range before.project.Tenants { // the team's tenants are of one project each here
				if one := &before.project.Tenants[i]; one.Name != snapshot.DefaultTenant {
					before.renameTenant(one, tenantName(one.Name, seed, i))
				}
			}
			first, exported := zips[seed]
			if !exported {
				first = before.zip(t, format)
				zips[seed] = first
			}
			out := w.take(t, first, contract.NewImport{})
			second, imported := w.export(t, out.Project.ID, format)
			compareDocuments(t, first, second, changed)
			before.lose(imported)
			if want := before.zip(t, format); !bytes.Equal(second, want) {
				t.Fatalf("seed %d: the export of the import differs in %v", seed, differing(t, want, second))
			}
		}
		if got := slices.Sorted(maps.Keys(changed)); !slices.Equal(got, documented(t)) {
			t.Errorf("docs/import.md lists as changed\n%s\nand these are:\n%s",
				strings.Join(documented(t), "\n"), strings.Join(got, "\n"))
		}
	})
}

// tenantName returns a name that one tenant of the team has. The first projects have names that Windows keeps
// for devices.
func tenantName(name string, seed, n int) string {
	if reserved := []string{"aux", "con", "nul", "prn", "com1", "lpt9"}; n == 1 && seed < len(reserved) {
		return reserved[seed]
	}
	return fmt.Sprintf("%s-%d", name, seed)
}

// own makes names of a project that are taken once in a team.
func own(p *snapshot.Project, seed int) (product, audience string) {
	if p.API.Audience != "" {
		audience = fmt.Sprintf("https://shop-%d.example", seed)
	}
	if p.ProductID != "" {
		product = fmt.Sprintf("suite-%d", seed)
	}
	return product, audience
}

func (m made) renameTenant(t *snapshot.Tenant, name string) {
	for i := range m.keys {
		if m.keys[i].TenantID == t.ID {
			m.keys[i].Tenant = name
		}
	}
	for i := range m.relations {
		if m.relations[i].TenantID == t.ID {
			m.relations[i].Tenant = name
		}
	}
	t.Name = name
}

// differing names the files that differ, with a line of each.
func differing(t *testing.T, a, b []byte) (out []string) {
	t.Helper()
	x, y := unpack(t, a), unpack(t, b)
	for name := range x {
		if y[name] == x[name] {
			continue
		}
		lines := strings.Split(y[name], "\n")
		for i, line := range strings.Split(x[name], "\n") {
			if i >= len(lines) || lines[i] != line {
				got := ""
				if i < len(lines) {
					got = lines[i]
				}
				out = append(out, fmt.Sprintf("\n%s:%d\n  want %.300s\n  got  %.300s", name, i+1, line, got))
				break
			}
		}
	}
	slices.Sort(out)
	return out
}

func unpack(t *testing.T, data []byte) map[string]string {
	t.Helper()
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, f := range r.File {
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		out[f.Name] = string(text)
	}
	return out
}
