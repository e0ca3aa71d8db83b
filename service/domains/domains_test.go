package domains_test

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"postern/core/contract"
	"postern/core/snapshot"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/domains"
	"postern/service/keys"
	"postern/service/projects"
	"postern/service/serving"
	"postern/testkit/servers"
	"postern/testkit/state"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type anyTarget struct{}

func (anyTarget) CheckTarget(_ context.Context, raw string) (*url.URL, error) { return url.Parse(raw) }

// events keeps the events of the service, as team, event and host.
type events struct{ sent [][3]string }

func (e *events) Emit(_ context.Context, _ *models.Tx, team, event string, data map[string]any) error {
	host, _ := data["host"].(string)
	e.sent = append(e.sent, [3]string{team, event, host})
	return nil
}

type world struct {
	*domains.Service
	projects *projects.Service
	names    *servers.NameServer
	events   *events
	served   []*snapshot.Project
}

func newWorld(t *testing.T, db *models.DB) *world {
	t.Helper()
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	w := &world{names: servers.StartNameServer(t), events: &events{}}
	feed := &serving.Feed{
		DB:        db,
		Keys:      keys.NewTable(),
		PublicURL: "https://console.postern.example",
		Log:       log,
		Publish: func(all []*snapshot.Project) error {
			w.served = all
			return nil
		},
	}
	if err := feed.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.projects = &projects.Service{
		DB:           db,
		Targets:      anyTarget{},
		Log:          log,
		KeyPrefix:    "pst",
		UnclaimedTTL: time.Hour,
		Changed:      feed.Changed,
	}
	w.Service = &domains.Service{
		DB:       db,
		Resolver: domains.DNS{Server: w.names.Addr},
		Own:      []string{"console.postern.example", "gate.example"},
		OwnBelow: []string{"gate.example"},
		Events:   w.events,
		Log:      log,
		Changed:  feed.Changed,
	}
	return w
}

// team creates a team's project with the environments prod and dev, and returns the principal
// of its owner.
func (w *world) team(t *testing.T, name string) access.Principal {
	t.Helper()
	team := models.NewID("team")
	now := models.Now()
	row := &models.Team{ID: team, Name: name, ClaimedAt: &now, CreatedAt: now}
	if err := w.DB.Write(t.Context(), func(tx *models.Tx) error { return tx.Insert(row) }); err != nil {
		t.Fatal(err)
	}
	p := access.Principal{
		Account:  models.NewID("acc"),
		Roles:    map[string]access.Role{team: access.Owner},
		HomeTeam: team,
	}
	w.project(t, p, name)
	return p
}

// project creates a project of a team, with the environments prod and dev.
func (w *world) project(t *testing.T, p access.Principal, name string) {
	t.Helper()
	_, err := w.projects.Create(t.Context(), p, projects.CreateInput{
		Name: name,
		Environments: map[string]contract.EnvironmentTarget{
			"prod": {Target: "http://up.example/" + name},
			"dev":  {Target: "http://up.example/dev"},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (w *world) create(
	t *testing.T, p access.Principal, project, host, environment string,
) (contract.Domain, error) {
	t.Helper()
	return w.Create(t.Context(), p, contract.DomainCreation{
		ProjectPath: contract.ProjectPath{Project: project},
		Body:        contract.NewDomain{Host: host, Environment: environment},
	})
}

// move leads api.example.com of the project shop to another environment.
func (w *world) move(t *testing.T, p access.Principal, ifMatch, environment string) (contract.Domain, error) {
	t.Helper()
	return w.Update(t.Context(), p, contract.DomainUpdate{
		DomainPath: contract.DomainOf("shop", "api.example.com"),
		Condition:  contract.Condition{IfMatch: ifMatch},
		Body:       contract.DomainChange{Environment: &environment},
	})
}

func (w *world) add(t *testing.T, p access.Principal, project, host string) contract.Domain {
	t.Helper()
	added, err := w.create(t, p, project, host, "prod")
	if err != nil {
		t.Fatalf("Add(%s): %v", host, err)
	}
	return added
}

// prove adds a host name, sets its TXT record, and verifies it.
func (w *world) prove(t *testing.T, p access.Principal, project, host string) contract.Domain {
	t.Helper()
	added := w.add(t, p, project, host)
	w.names.Set(added.Record.Name, added.Record.Value)
	verified, err := w.Verify(t.Context(), p, contract.DomainOf(project, host))
	if err != nil {
		t.Fatalf("Verify(%s): %v", host, err)
	}
	return verified
}

// hosts returns what the gateway serves, as the key of a domain to project/environment.
func (w *world) hosts() map[string]string {
	out := map[string]string{}
	for _, p := range w.served {
		for _, v := range p.Versions {
			for _, e := range v.Environments {
				for _, d := range e.Domains {
					out[d.Key()] = p.Name + "/" + e.Name
				}
			}
		}
	}
	return out
}

func wantCode(t *testing.T, err error, want string) {
	t.Helper()
	if got := fault.CodeOf(err); err == nil || got != want {
		t.Errorf("error %v with code %q, want code %q", err, got, want)
	}
}

func TestVerify(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		p := w.team(t, "shop")
		added := w.add(t, p, "shop", "API.Example.com.")
		if added.Host != "api.example.com" || added.State != contract.DomainPending {
			t.Errorf("added %s in state %s", added.Host, added.State)
		}
		if added.Record.Name != "_postern-challenge.api.example.com" {
			t.Errorf("the record's name is %s", added.Record.Name)
		}

		_, err := w.Verify(t.Context(), p, contract.DomainOf("shop", "api.example.com"))
		wantCode(t, err, "record_missing")
		w.names.Set(added.Record.Name, "postern-verification=of-another")
		_, err = w.Verify(t.Context(), p, contract.DomainOf("shop", "api.example.com"))
		wantCode(t, err, "record_missing")
		w.names.Break(true)
		_, err = w.Verify(t.Context(), p, contract.DomainOf("shop", "api.example.com"))
		wantCode(t, err, "lookup_failed")
		if got := w.hosts(); len(got) != 0 {
			t.Errorf("an unverified name is served: %v", got)
		}
		w.names.Break(false)

		w.names.Set(added.Record.Name, "v=spf1 -all", added.Record.Value)
		verified, err := w.Verify(t.Context(), p, contract.DomainOf("shop", added.ID))
		if err != nil {
			t.Fatal(err)
		}
		if verified.State != contract.DomainVerified || verified.Proof == nil ||
			*verified.Proof != contract.ProofDNS || verified.Problem != nil {
			t.Errorf("after Verify: %+v", verified)
		}
		if got := w.hosts()["api.example.com"]; got != "shop/prod" {
			t.Errorf("the gateway serves it for %q", got)
		}

		moved, err := w.move(t, p, verified.ETag, "dev")
		if err != nil || moved.Environment != "dev" {
			t.Fatalf("Move: %v, %+v", err, moved)
		}
		if got := w.hosts()["api.example.com"]; got != "shop/dev" {
			t.Errorf("after Move the gateway serves it for %q", got)
		}
		_, err = w.move(t, p, verified.ETag, "prod")
		wantCode(t, err, "changed_concurrently")

		if _, err := w.Delete(t.Context(), p, contract.DomainOf("shop", "api.example.com")); err != nil {
			t.Fatal(err)
		}
		if got := w.hosts(); len(got) != 0 {
			t.Errorf("after Remove the gateway serves %v", got)
		}
		if again := w.add(t, p, "shop", "api.example.com"); again.Record.Value == added.Record.Value {
			t.Error("a name that is added again has the old record")
		}
	})
}

// A claim without proof must not keep the owner of a name from using it.
func TestVerify_twoProjects(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		a, b := w.team(t, "shop"), w.team(t, "books")
		squatted := w.add(t, b, "books", "api.example.com")
		w.prove(t, a, "shop", "api.example.com")

		w.names.Set(squatted.Record.Name, squatted.Record.Value)
		_, err := w.Verify(t.Context(), b, contract.DomainOf("books", "api.example.com"))
		wantCode(t, err, "host_taken")
		if _, err := w.Delete(t.Context(), b, contract.DomainOf("books", "api.example.com")); err != nil {
			t.Fatal(err)
		}
		_, err = w.create(t, b, "books", "api.example.com", "prod")
		wantCode(t, err, "host_taken")
		operator := access.Principal{Account: "acc_op", Operator: true}
		_, err = w.Approve(t.Context(), operator, contract.DomainOf("books", "api.example.com"))
		wantCode(t, err, "not_found") // it was removed
		if got := w.hosts()["api.example.com"]; got != "shop/prod" {
			t.Errorf("the gateway serves it for %q", got)
		}

		_, err = w.Get(t.Context(), b, contract.DomainOf("shop", "api.example.com"))
		wantCode(t, err, "not_found")
		_, err = w.Verify(t.Context(), b, contract.DomainOf("shop", "api.example.com"))
		wantCode(t, err, "not_found")
		_, err = w.Delete(t.Context(), b, contract.DomainOf("shop", "api.example.com"))
		wantCode(t, err, "not_found")
	})
}

// Two projects that verify one name at the same time: the record can only be of one.
func TestVerify_raced(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		a, b := w.team(t, "shop"), w.team(t, "books")
		ofA, ofB := w.add(t, a, "shop", "api.example.com"), w.add(t, b, "books", "api.example.com")
		w.names.Set(ofA.Record.Name, ofA.Record.Value, ofB.Record.Value)
		outcomes := make(chan error, 2)
		go func() { _, err := w.Verify(t.Context(), a, contract.DomainOf("shop", ofA.ID)); outcomes <- err }()
		go func() { _, err := w.Verify(t.Context(), b, contract.DomainOf("books", ofB.ID)); outcomes <- err }()
		var refused []error
		for range 2 {
			if err := <-outcomes; err != nil {
				refused = append(refused, err)
			}
		}
		if len(refused) != 1 {
			t.Fatalf("%d of two were refused: %v", len(refused), errors.Join(refused...))
		}
		wantCode(t, refused[0], "host_taken")
		if got := w.hosts(); len(got) != 1 {
			t.Errorf("the gateway serves %v", got)
		}
	})
}

func TestRecheck(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		p, other := w.team(t, "shop"), w.team(t, "books")
		verified := w.prove(t, p, "shop", "api.example.com")
		recheck := func() contract.Domain {
			t.Helper()
			w.age(t, verified.ID, func(row *models.Domain) { *row.CheckedAt = row.CheckedAt.Add(-25 * time.Hour) })
			if err := w.Recheck(t.Context()); err != nil {
				t.Fatal(err)
			}
			got, err := w.Get(t.Context(), p, contract.DomainOf("shop", verified.ID))
			if err != nil {
				t.Fatal(err)
			}
			return got
		}

		asked := w.names.Lookups()
		if err := w.Recheck(t.Context()); err != nil || w.names.Lookups() != asked {
			t.Errorf("a record that was just seen is looked up again (%v)", err)
		}
		w.names.Break(true)
		if got := recheck(); got.State != contract.DomainVerified || got.Problem == nil {
			t.Errorf("after a name server that fails: %s, %v", got.State, got.Problem)
		}
		w.names.Break(false)
		w.names.Set(verified.Record.Name)
		if got := recheck(); got.State != contract.DomainMissing || got.MissingSince == nil {
			t.Errorf("without its record the name is %s", got.State)
		}
		recheck()
		if got := w.hosts()["api.example.com"]; got != "shop/prod" {
			t.Errorf("a name without record is served for %q", got)
		}
		w.names.Set(verified.Record.Name, verified.Record.Value)
		if got := recheck(); got.State != contract.DomainVerified || got.MissingSince != nil {
			t.Errorf("with its record again the name is %s", got.State)
		}
		team := p.HomeTeam
		want := [][3]string{
			{team, domains.EventRecordMissing, "api.example.com"},
			{team, domains.EventRecordBack, "api.example.com"},
		}
		if !slices.Equal(w.events.sent, want) {
			t.Errorf("events %v, want %v", w.events.sent, want)
		}

		// The domain changes hands: a week after the record went, its new owner can verify it.
		w.names.Set(verified.Record.Name)
		recheck()
		_, err := w.create(t, other, "books", "api.example.com", "prod")
		wantCode(t, err, "host_taken")
		w.age(t, verified.ID, func(row *models.Domain) {
			*row.MissingSince = row.MissingSince.Add(-8 * 24 * time.Hour)
		})
		w.prove(t, other, "books", "api.example.com")
		if got := w.hosts(); len(got) != 1 || got["api.example.com"] != "books/prod" {
			t.Errorf("after the takeover the gateway serves %v", got)
		}
		if got, err := w.Get(t.Context(), p, contract.DomainOf("shop", verified.ID)); err != nil ||
			got.State != contract.DomainPending {
			t.Errorf("the earlier project's name is %s (%v)", got.State, err)
		}
	})
}

// age changes times of a row as if they were longer ago.
func (w *world) age(t *testing.T, id string, fn func(*models.Domain)) {
	t.Helper()
	err := w.DB.Write(t.Context(), func(tx *models.Tx) error {
		row, err := tx.DomainByID(id)
		if err != nil {
			return err
		}
		fn(&row)
		_, err = tx.UpdateDomain(row, row.UpdatedAt)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
