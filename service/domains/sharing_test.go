package domains_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/domains"
	"postern/testkit/state"
)

// part adds a domain for some of the calls to api.example.com.
func (w *world) part(
	t *testing.T, p access.Principal, project, prefix string, methods ...string,
) (contract.Domain, error) {
	t.Helper()
	return w.Create(t.Context(), p, contract.DomainCreation{
		ProjectPath: contract.ProjectPath{Project: project},
		Body:        contract.NewDomain{Host: "api.example.com", PathPrefix: prefix, Methods: methods},
	})
}

// Projects of a team share a host name and its proof. The record is looked up and reported once.
func TestShared(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		p, other := w.team(t, "shop"), w.team(t, "strangers")
		w.project(t, p, "books")
		pending, err := w.part(t, p, "books", "/books")
		if err != nil || pending.State != contract.DomainPending {
			t.Fatalf("Create: %v, %s", err, pending.State)
		}
		verified := w.prove(t, p, "shop", "api.example.com")
		if verified.Record != pending.Record {
			t.Errorf("records %v and %v, want one", pending.Record, verified.Record)
		}
		later, err := w.part(t, p, "books", "/orders", "POST", "GET")
		if err != nil || later.State != contract.DomainVerified || later.Record != verified.Record {
			t.Fatalf("Create after the proof: %v, %+v", err, later)
		}
		want := map[string]string{
			"api.example.com": "shop/prod", "api.example.com/books": "books/prod",
			"api.example.com/orders:GET,POST": "books/prod",
		}
		if diff := cmp.Diff(want, w.hosts()); diff != "" {
			t.Errorf("served (-want +got):\n%s", diff)
		}
		if _, err := w.Verify(t.Context(), p, contract.DomainOf("books", "api.example.com")); err != nil {
			t.Errorf("Verify by a host name that several have: %v", err)
		}
		_, err = w.part(t, other, "strangers", "/strangers")
		wantCode(t, err, "host_taken")

		w.age(t, verified.ID, func(row *models.Domain) { *row.CheckedAt = row.CheckedAt.Add(-25 * time.Hour) })
		w.age(t, later.ID, func(row *models.Domain) { *row.CheckedAt = row.CheckedAt.Add(-25 * time.Hour) })
		w.age(t, pending.ID, func(row *models.Domain) { *row.CheckedAt = row.CheckedAt.Add(-25 * time.Hour) })
		w.names.Set(verified.Record.Name)
		asked := w.names.Lookups()
		if err := w.Recheck(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := w.names.Lookups() - asked; n != 1 {
			t.Errorf("%d lookups of one record", n)
		}
		if diff := cmp.Diff([][3]string{{p.HomeTeam, domains.EventRecordMissing, "api.example.com"}},
			w.events.sent); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
		for _, id := range []string{pending.ID, later.ID} {
			if got, err := w.Get(t.Context(), p, contract.DomainOf("books", id)); err != nil ||
				got.State != contract.DomainMissing {
				t.Errorf("the other project's domain is %s (%v)", got.State, err)
			}
		}
		if diff := cmp.Diff(want, w.hosts()); diff != "" {
			t.Errorf("served without the record (-want +got):\n%s", diff)
		}

		// A week later another team can have the name: all of it.
		for _, id := range []string{verified.ID, pending.ID, later.ID} {
			w.age(t, id, func(row *models.Domain) { *row.MissingSince = row.MissingSince.Add(-8 * 24 * time.Hour) })
		}
		w.prove(t, other, "strangers", "api.example.com")
		if diff := cmp.Diff(map[string]string{"api.example.com": "strangers/prod"}, w.hosts()); diff != "" {
			t.Errorf("served after the takeover (-want +got):\n%s", diff)
		}
		if again, err := w.part(t, p, "books", "/new"); fault.CodeOf(err) != "host_taken" {
			t.Errorf("one more domain of the earlier team: %v, %s", err, again.State)
		}
	})
}

// The proof stays until the last domain with the host name is deleted.
func TestShared_deleted(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		p, other := w.team(t, "shop"), w.team(t, "strangers")
		first := w.prove(t, p, "shop", "api.example.com")
		if _, err := w.part(t, p, "shop", "/orders"); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Delete(t.Context(), p, contract.DomainOf("shop", first.ID)); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(map[string]string{"api.example.com/orders": "shop/prod"}, w.hosts()); diff != "" {
			t.Errorf("served (-want +got):\n%s", diff)
		}
		_, err := w.part(t, other, "strangers", "/strangers")
		wantCode(t, err, "host_taken")
		if _, err := w.Delete(t.Context(), p, contract.DomainOf("shop", "api.example.com/orders")); err != nil {
			t.Fatal(err)
		}
		if got, err := w.part(t, other, "strangers", ""); err != nil || got.Record == first.Record {
			t.Errorf("after the last one: %v, record %v", err, got.Record)
		}
	})
}

// An operator's decision holds for the host name.
func TestShared_approved(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		p := w.team(t, "shop")
		w.project(t, p, "books")
		for project, prefix := range map[string]string{"shop": "", "books": "/books"} {
			if _, err := w.part(t, p, project, prefix); err != nil {
				t.Fatal(err)
			}
		}
		operator := access.Principal{
			Account: "acc_operator", Operator: true, Roles: map[string]access.Role{"x": access.Owner},
		}
		if _, err := w.Approve(t.Context(), operator, contract.DomainOf("books", "api.example.com")); err != nil {
			t.Fatal(err)
		}
		want := map[string]string{"api.example.com": "shop/prod", "api.example.com/books": "books/prod"}
		if diff := cmp.Diff(want, w.hosts()); diff != "" {
			t.Errorf("served (-want +got):\n%s", diff)
		}
		if _, err := w.Disapprove(t.Context(), operator, contract.DomainOf("shop", "api.example.com")); err != nil {
			t.Fatal(err)
		}
		if got := w.hosts(); len(got) != 0 {
			t.Errorf("after Disapprove the gateway serves %v", got)
		}
	})
}

func TestCreate_collisions(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		p := w.team(t, "shop")
		w.project(t, p, "books")
		first, err := w.part(t, p, "shop", "/orders", "GET", "POST")
		if err != nil {
			t.Fatal(err)
		}
		for name, c := range map[string]struct {
			project, prefix string
			methods         []string
			refused         string // "": created; otherwise part of the refusal
		}{
			"the same":               {"shop", "/orders", []string{"POST", "GET"}, "This project already has"},
			"of another project":     {"books", "/orders", []string{"GET", "POST"}, "The project shop already has"},
			"one of the methods":     {"books", "/orders", []string{"POST", "PUT"}, first.ID},
			"other methods":          {"books", "/orders", []string{"PUT"}, ""},
			"without methods":        {"books", "/orders", nil, ""},
			"without methods, twice": {"books", "/orders", nil, ""},
			"another prefix":         {"books", "/orders/new", []string{"GET"}, ""},
			"no prefix":              {"shop", "", nil, ""},
		} {
			t.Run(name, func(t *testing.T) {
				got, err := w.part(t, p, c.project, c.prefix, c.methods...)
				if c.refused != "" {
					wantCode(t, err, "already_added")
					if !strings.Contains(err.Error(), c.refused) {
						t.Errorf("%v, want it to say %q", err, c.refused)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				again, err := w.part(t, p, c.project, c.prefix, c.methods...)
				if fault.CodeOf(err) != "already_added" {
					t.Errorf("again: %v, %s", err, again.ID)
				}
				if _, err := w.Delete(t.Context(), p, contract.DomainOf(c.project, got.ID)); err != nil {
					t.Fatal(err)
				}
			})
		}
	})
}

func TestUpdate_address(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		p := w.team(t, "shop")
		one := w.prove(t, p, "shop", "api.example.com")
		if _, err := w.part(t, p, "shop", "/taken"); err != nil {
			t.Fatal(err)
		}
		update := func(change contract.DomainChange) (contract.Domain, error) {
			return w.Update(t.Context(), p, contract.DomainUpdate{
				DomainPath: contract.DomainOf("shop", one.ID), Body: change,
			})
		}
		got, err := update(contract.DomainChange{
			PathPrefix: new("/orders"), StripPrefix: new(false), Methods: &[]string{"POST", "GET"},
			Environment: new("dev"),
		})
		want := contract.DomainAddress{
			Host: "api.example.com", PathPrefix: "/orders", Methods: []string{"GET", "POST"},
		}
		if diff := cmp.Diff(want, got.DomainAddress); err != nil || diff != "" || got.State != contract.DomainVerified {
			t.Errorf("Update: %v, %s (-want +got):\n%s", err, got.State, diff)
		}
		if at := w.hosts()["api.example.com/orders:GET,POST"]; at != "shop/dev" {
			t.Errorf("served: %v", w.hosts())
		}
		if got, err = update(contract.DomainChange{Methods: &[]string{}}); err != nil || got.Key() !=
			"api.example.com/orders" || got.Environment != "dev" {
			t.Errorf("without methods: %v, %s to %s", err, got.Key(), got.Environment)
		}
		_, err = update(contract.DomainChange{PathPrefix: new("/taken")})
		wantCode(t, err, "already_added")
		_, err = update(contract.DomainChange{PathPrefix: new("taken")})
		wantCode(t, err, "invalid_path_prefix")
	})
}

// A host name alone is that of the domain without a prefix, or of the only one.
func TestGet_address(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		p := w.team(t, "shop")
		orders, err := w.part(t, p, "shop", "/orders")
		if err != nil {
			t.Fatal(err)
		}
		get := func(ref, want string) {
			t.Helper()
			got, err := w.Get(t.Context(), p, contract.DomainOf("shop", ref))
			if fault.CodeOf(err) != want && got.ID != want {
				t.Errorf("%s: %v, %s, want %s", ref, err, got.ID, want)
			}
		}
		get("api.example.com", orders.ID)
		get("API.example.com/orders", orders.ID)
		get("api.example.com/other", "not_found")
		get("other.example.com", "not_found")
		if _, err = w.part(t, p, "shop", "/books"); err != nil {
			t.Fatal(err)
		}
		get("api.example.com", "ambiguous_domain")
		get("api.example.com/orders", orders.ID)
		whole := w.add(t, p, "shop", "api.example.com")
		get("api.example.com", whole.ID)
		if _, err = w.part(t, p, "shop", "/orders", "GET"); err != nil {
			t.Fatal(err)
		}
		get("api.example.com/orders", "ambiguous_domain")
		get(orders.ID, orders.ID)
	})
}

func TestWarnings_options(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		p := w.team(t, "shop")
		warned := func(prefix string, methods ...string) bool {
			t.Helper()
			got, err := w.part(t, p, "shop", prefix, methods...)
			if err != nil {
				t.Fatal(err)
			}
			if again, err := w.Get(t.Context(), p, contract.DomainOf("shop", got.ID)); err != nil ||
				len(again.Warnings) != len(got.Warnings) {
				t.Errorf("Get: %v, %v", err, again.Warnings)
			}
			return len(got.Warnings) == 1 && got.Warnings[0].Code == "no_options"
		}
		if warned("/a", "GET") {
			t.Error("a warning without CORS")
		}
		_, err := w.projects.SetCORS(t.Context(), p, contract.CORSUpdate{
			ProjectPath: contract.ProjectPath{Project: "shop"}, Body: contract.CORS{Origins: []string{"*"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		if !warned("/b", "GET") || warned("/c", "GET", "OPTIONS") || warned("/d") {
			t.Error("the warning is not that of a domain with methods and without OPTIONS")
		}
	})
}

// A host name stays with one team when a project moves to another.
func TestMove_sharedHost(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		p, other := w.team(t, "shop"), w.team(t, "strangers")
		w.project(t, p, "books")
		w.prove(t, p, "shop", "api.example.com")
		books, err := w.part(t, p, "books", "/books")
		if err != nil {
			t.Fatal(err)
		}
		p.Roles[other.HomeTeam] = access.Owner
		move := contract.ProjectMove{
			ProjectPath: contract.ProjectPath{Project: "shop"}, Body: contract.ProjectTeam{Team: other.HomeTeam},
		}
		_, err = w.projects.Move(t.Context(), p, move)
		wantCode(t, err, "host_shared")
		if _, err := w.Delete(t.Context(), p, contract.DomainOf("books", books.ID)); err != nil {
			t.Fatal(err)
		}
		if _, err := w.projects.Move(t.Context(), p, move); err != nil {
			t.Fatal(err)
		}
		_, err = w.part(t, p, "books", "/books")
		wantCode(t, err, "host_taken")
	})
}
