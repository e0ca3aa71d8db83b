package projects_test

import (
	"slices"
	"testing"

	"postern/core/contract"
	"postern/core/policy"
	"postern/core/snapshot"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
	"postern/testkit/state"
)

func (w *world) renameEnvironment(t *testing.T, p access.Principal, ref, version, id, name string) error {
	t.Helper()
	_, err := w.UpdateEnvironment(t.Context(), p, contract.EnvironmentChange{Name: &name}.Of(ref, version, id))
	return err
}

func (w *world) renameVersion(t *testing.T, p access.Principal, ref, from, to string) (contract.Version, error) {
	t.Helper()
	return w.UpdateVersion(t.Context(), p, contract.VersionChange{Name: &to}.Of(ref, from))
}

func TestUpdateAccess_rename(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		created, p := w.create(t, authenticated)
		id := created.Project.ID
		if _, err := w.CreateVersion(t.Context(), p, contract.NewVersion{Name: "2.0.0"}.In(id)); err != nil {
			t.Fatal(err)
		}
		v, err := w.renameVersion(t, p, id, "2.0.0", "2.1.0")
		if err != nil {
			t.Fatal(err)
		}
		if v.Name != "2.1.0" || v.RequestsAuth.Mode != "authenticate" {
			t.Errorf("the version is %s, %s", v.Name, v.RequestsAuth.Mode)
		}
		if got := w.namesOf(t, id); !slices.Equal(got, []string{"1.0.0/prod", "2.1.0/prod"}) {
			t.Errorf("served %v", got)
		}
		entries, err := db.Read(t.Context()).AuditOf(p.HomeTeam, 1)
		if err != nil {
			t.Fatal(err)
		}
		if got := entries[0].Detail["object"]; got != "version 2.0.0 to 2.1.0" {
			t.Errorf("the audit entry says %q", got)
		}
		got := entries[0].Changes
		if change := got["versions/2.1.0/name"]; change.Before != "2.0.0" || change.After != "2.1.0" || len(got) != 1 {
			t.Errorf("the audit entry has the changes %v, want the name alone", got)
		}
		for name, code := range map[string]string{
			"1.0.0": "name_taken", "a/b": "invalid_version", "": "invalid_version",
		} {
			_, err := w.renameVersion(t, p, id, "2.1.0", name)
			if got := fieldOf(err, "/name").Code; got != code {
				t.Errorf("%q: got %v, want %s", name, err, code)
			}
		}
	})
}

func TestUpdateEnvironment_rename(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		created, p := w.twoEnvironments(t)
		id := created.Project.ID
		dev := created.Project.Versions[0].Environments[0]
		if err := w.renameEnvironment(t, p, id, "1.0.0", dev.ID, "staging"); err != nil {
			t.Fatal(err)
		}
		if got := w.namesOf(t, id); !slices.Equal(got, []string{"1.0.0/prod", "1.0.0/staging"}) {
			t.Errorf("served %v", got)
		}
		if got := w.key(policy.HashKey(created.Keys["dev"].Secret.Reveal())).Environment; got != "staging" {
			t.Errorf("the gateway limits the key to %q", got)
		}
		if got := w.key(policy.HashKey(created.Keys["prod"].Secret.Reveal())).Environment; got != "prod" {
			t.Errorf("the gateway limits the other key to %q", got)
		}
		for _, e := range w.project(t, id).Versions[0].Environments {
			if e.Former != "" {
				t.Errorf("%s still opens for keys of %s", e.Name, e.Former)
			}
		}
		for name, code := range map[string]string{
			"prod": "name_taken", "all": "invalid_name", "Dev": "invalid_name", "": "invalid_name",
		} {
			err := w.renameEnvironment(t, p, id, "1.0.0", dev.ID, name)
			if got := fieldOf(err, "/name").Code; got != code {
				t.Errorf("%q: got %v, want %s", name, err, code)
			}
		}
	})
}

// Two environments of one name in different versions are opened by the same keys.
func TestUpdateEnvironment_renameOneOfTwo(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		created, p := w.twoEnvironments(t)
		id := created.Project.ID
		targets := map[string]contract.EnvironmentTarget{"prod": {Target: "https://c.example"}}
		in := contract.NewVersion{Name: "2.0.0", Environments: targets}
		v, err := w.CreateVersion(t.Context(), p, in.In(id))
		if err != nil {
			t.Fatal(err)
		}
		first := created.Project.Versions[0].Environments
		t.Run("keys stay with the name that is left", func(t *testing.T) {
			if err := w.renameEnvironment(t, p, id, "2.0.0", v.Environments[0].ID, "live"); err != nil {
				t.Fatal(err)
			}
			if got := w.key(policy.HashKey(created.Keys["prod"].Secret.Reveal())).Environment; got != "prod" {
				t.Errorf("the key is limited to %q", got)
			}
		})
		t.Run("keys never open more than before", func(t *testing.T) {
			err := w.renameEnvironment(t, p, id, "1.0.0", first[0].ID, "live") // dev of 1.0.0
			if fault.CodeOf(err) != "keys_would_open_more" {
				t.Fatalf("got %v", err)
			}
			if got := w.key(policy.HashKey(created.Keys["dev"].Secret.Reveal())).Environment; got != "dev" {
				t.Errorf("the key is limited to %q", got)
			}
		})
	})
}

// Keys of a product follow when no other project of it has the old name.
func TestUpdateEnvironment_renameWithProductKeys(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		in := authenticated
		in.Name, in.Product = "shop", "store"
		in.Environments = targets(map[string]string{"prod": "https://a.example", "dev": "https://b.example"})
		shop, p := w.create(t, in)
		in.Name, in.Environments = "books", targets(map[string]string{"prod": "https://c.example"})
		if _, err := w.Create(t.Context(), p, in); err != nil {
			t.Fatal(err)
		}
		both := w.mint(t, p, "shop", contract.NewKey{Owner: "a", Product: "store", Environment: "prod"})
		dev := w.mint(t, p, "shop", contract.NewKey{Owner: "a", Product: "store", Environment: "dev"})
		environments := shop.Project.Versions[0].Environments
		if err := w.renameEnvironment(t, p, "shop", "1.0.0", environments[1].ID, "live"); err != nil {
			t.Fatal(err)
		}
		if got := w.key(policy.HashKey(both.Secret.Reveal())).Environment; got != "prod" {
			t.Errorf("a key that opens prod of the other project is limited to %q", got)
		}
		if err := w.renameEnvironment(t, p, "shop", "1.0.0", environments[0].ID, "staging"); err != nil {
			t.Fatal(err)
		}
		if got := w.key(policy.HashKey(dev.Secret.Reveal())).Environment; got != "staging" {
			t.Errorf("a key that opens nothing else is limited to %q", got)
		}
		if got := w.key(policy.HashKey(shop.Keys["prod"].Secret.Reveal())).Environment; got != "live" {
			t.Errorf("the project's own key is limited to %q", got)
		}
	})
}

// While the keys are read, keys of both names are valid for the environment, at its new address only.
func TestFeed_rename(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		created, p := w.twoEnvironments(t)
		id := created.Project.ID
		var seen []snapshot.Environment
		publish := w.feed.Publish
		w.feed.Publish = func(all []*snapshot.Project) error {
			at := slices.IndexFunc(all, func(p *snapshot.Project) bool { return p.ID == id })
			seen = append(seen, all[at].Versions[0].Environments[0])
			return publish(all)
		}
		dev := created.Project.Versions[0].Environments[0]
		if err := w.renameEnvironment(t, p, id, "1.0.0", dev.ID, "beta"); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range seen {
			got = append(got, e.Name+"<"+e.Former)
		}
		if want := []string{"beta<dev", "beta<"}; !slices.Equal(got, want) {
			t.Errorf("published %v, want %v", got, want)
		}
	})
}
