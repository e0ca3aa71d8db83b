package projects_test

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"postern/core/contract"
	"postern/core/policy"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/projects"
	"postern/testkit/state"
)

// twoEnvironments creates the project shop with prod and dev, and returns its keys.
func (w *world) twoEnvironments(t *testing.T) (projects.Created, access.Principal) {
	t.Helper()
	in := authenticated
	in.Name = "shop"
	in.Environments = targets(map[string]string{"prod": "https://a.example", "dev": "https://b.example"})
	return w.create(t, in)
}

// count adds calls of an owner to an environment in the present hour.
func count(t *testing.T, db *models.DB, project, environment, owner string, calls int64) {
	t.Helper()
	row := models.UsageHour{
		ProjectID: project, EnvironmentID: environment, Owner: owner, Calls: calls,
		Hour: models.Now().Unix() / 3600, StatusClass: 2, Route: "/*",
	}
	err := db.Write(t.Context(), func(tx *models.Tx) error { return tx.AddUsage([]models.UsageHour{row}) })
	if err != nil {
		t.Fatal(err)
	}
}

func (w *world) stateOf(t *testing.T, p access.Principal, key string) string {
	t.Helper()
	k, err := w.keys.Get(t.Context(), p, contract.KeyPath{Key: key})
	if err != nil {
		t.Fatal(err)
	}
	return k.State
}

// because reports whether the audit log has an entry about the object with that cause.
func because(t *testing.T, db *models.DB, team, object, cause string) bool {
	t.Helper()
	entries, err := db.Read(t.Context()).AuditOf(team, 100)
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(entries, func(e models.AuditEntry) bool {
		return e.Object == object && e.Detail["because"] == cause
	})
}

func TestRemove_environment(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		created, p := w.twoEnvironments(t)
		id := created.Project.ID
		version := created.Project.Versions[0]
		dev := version.Environments[0]
		w.mint(t, p, "shop", contract.NewKey{Owner: "partner", Environment: "dev"})
		unlimited := w.mint(t, p, "shop", contract.NewKey{Owner: "partner"})
		count(t, db, id, dev.ID, "partner", 7)
		count(t, db, id, dev.ID, "", 2)
		count(t, db, id, version.Environments[1].ID, "partner", 100)
		in := contract.EnvironmentRemoval{EnvironmentPath: contract.EnvironmentOf("shop", "1.0.0", "dev")}

		found, err := w.EnvironmentCallers(t.Context(), p, in.EnvironmentPath)
		if err != nil {
			t.Fatal(err)
		}
		want := []contract.Caller{{Owner: "partner", Calls: 7}, {Owner: "", Calls: 2}}
		if !slices.Equal(found.Items, want) {
			t.Errorf("callers %v, want %v", found.Items, want)
		}
		if found.Calls != 9 || found.Owners != 1 {
			t.Errorf("%d calls of %d owners", found.Calls, found.Owners)
		}
		if found.Keys != 2 { // the first one and the partner's
			t.Errorf("%d keys would be revoked, want 2", found.Keys)
		}

		_, err = w.DeleteEnvironment(t.Context(), p, in)
		if fault.CodeOf(err) != "still_called" {
			t.Errorf("not confirmed: %v", err)
		}
		for _, part := range []string{
			"9 calls", "partner (7)", "callers without an owner (2)", "2 API keys", "?confirm=true",
		} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%q is not in: %v", part, err)
			}
		}
		in.Confirm = true
		if _, err := w.DeleteEnvironment(t.Context(), p, in); err != nil {
			t.Fatal(err)
		}
		if got := w.namesOf(t, id); !slices.Equal(got, []string{"1.0.0/prod"}) {
			t.Errorf("served %v", got)
		}
		if got := w.stateOf(t, p, created.Keys["dev"].ID); got != "revoked" {
			t.Errorf("the first key of dev is %s", got)
		}
		if got := w.stateOf(t, p, created.Keys["prod"].ID); got != "active" {
			t.Errorf("the key of prod is %s", got)
		}
		if got := w.stateOf(t, p, unlimited.ID); got != "active" {
			t.Errorf("the unlimited key is %s", got)
		}
		if !because(t, db, p.HomeTeam, created.Keys["dev"].ID, "environment_removed") {
			t.Errorf("the audit log does not say why the key was revoked")
		}

		in.Environment = "prod"
		if _, err := w.DeleteEnvironment(t.Context(), p, in); fault.CodeOf(err) != "last_environment" {
			t.Errorf("the last environment: %v", err)
		}
		// The name is free, and no old key is valid for the new environment.
		again := contract.NewEnvironment{Name: "dev", Target: "https://c.example"}
		if _, err := w.CreateEnvironment(t.Context(), p, again.In("shop", "1.0.0")); err != nil {
			t.Fatal(err)
		}
		if got := w.key(policy.HashKey(created.Keys["dev"].Secret.Reveal())).State; got != "revoked" {
			t.Errorf("the gateway has the old key as %q", got)
		}
	})
}

// A key that is limited to an environment is valid for it in every version.
func TestRemove_keysOfOtherVersions(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		created, p := w.create(t, authenticated)
		id := created.Project.ID
		if _, err := w.CreateVersion(t.Context(), p, contract.NewVersion{Name: "2.0.0"}.In(id)); err != nil {
			t.Fatal(err)
		}
		if _, err := w.DeleteVersion(t.Context(), p, versionRemoval(id, "1.0.0", false)); err != nil {
			t.Fatal(err)
		}
		if got := w.namesOf(t, id); !slices.Equal(got, []string{"2.0.0/prod"}) {
			t.Errorf("served %v", got)
		}
		if got := w.stateOf(t, p, created.Keys["prod"].ID); got != "active" {
			t.Errorf("the key is %s", got)
		}
		_, err := w.DeleteVersion(t.Context(), p, versionRemoval(id, "2.0.0", true))
		if fault.CodeOf(err) != "last_version" {
			t.Errorf("the last version: %v", err)
		}
		if _, err := w.CreateVersion(t.Context(), p, contract.NewVersion{Name: "1.0.0"}.In(id)); err != nil {
			t.Errorf("the name of the removed version: %v", err)
		}
	})
}

// Each of two removals leaves the other's version: one of them has to fail.
func TestRemove_race(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		created, p := w.create(t, authenticated)
		id := created.Project.ID
		if _, err := w.CreateVersion(t.Context(), p, contract.NewVersion{Name: "2.0.0"}.In(id)); err != nil {
			t.Fatal(err)
		}
		names := []string{"1.0.0", "2.0.0"}
		errs := make([]error, len(names))
		var group sync.WaitGroup
		for i, name := range names {
			group.Go(func() {
				_, errs[i] = w.DeleteVersion(t.Context(), p, versionRemoval(id, name, true))
			})
		}
		group.Wait()
		codes := []string{fault.CodeOf(errs[0]), fault.CodeOf(errs[1])}
		slices.Sort(codes)
		if !slices.Equal(codes, []string{"", "last_version"}) {
			t.Errorf("got %v and %v", errs[0], errs[1])
		}
	})
}

func TestRemove_refusals(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		created, p := w.twoEnvironments(t)
		_, stranger := w.create(t, authenticated)
		viewer := access.Principal{Account: "acc_1", Roles: map[string]access.Role{p.HomeTeam: access.Viewer}}
		removal := func(version, environment, etag string) contract.EnvironmentRemoval {
			return contract.EnvironmentRemoval{
				EnvironmentPath: contract.EnvironmentOf("shop", version, environment),
				Removal:         contract.Removal{Condition: contract.Condition{IfMatch: etag}, Confirm: true},
			}
		}
		dev := removal("1.0.0", "dev", "")
		for name, tt := range map[string]struct {
			p    access.Principal
			in   contract.EnvironmentRemoval
			want fault.Kind
		}{
			"by a viewer":             {viewer, dev, fault.Forbidden},
			"by another team":         {stranger, dev, fault.NotFound},
			"unknown version":         {p, removal("9", "dev", ""), fault.NotFound},
			"unknown environment":     {p, removal("1.0.0", "x2", ""), fault.NotFound},
			"changed since it loaded": {p, removal("1.0.0", "dev", "stale"), fault.Stale},
		} {
			t.Run(name, func(t *testing.T) {
				_, err := w.DeleteEnvironment(t.Context(), tt.p, tt.in)
				if err == nil || fault.KindOf(err) != tt.want {
					t.Errorf("got %v", err)
				}
			})
		}
		_, err := w.EnvironmentCallers(t.Context(), stranger, dev.EnvironmentPath)
		if fault.KindOf(err) != fault.NotFound {
			t.Errorf("another team reads the callers: %v", err)
		}
		if got := len(w.namesOf(t, created.Project.ID)); got != 2 {
			t.Errorf("%d environments are left", got)
		}
	})
}

func versionRemoval(project, version string, confirm bool) contract.VersionRemoval {
	return contract.VersionRemoval{
		VersionPath: contract.VersionOf(project, version), Removal: contract.Removal{Confirm: confirm},
	}
}

// A key that is created while its environment is removed is revoked with it, or refused.
func TestRemove_duringKeyCreation(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		created, p := w.twoEnvironments(t)
		ids := make([]string, 8)
		var group sync.WaitGroup
		for i := range ids {
			group.Go(func() {
				minted, err := w.keys.Create(t.Context(), p, contract.NewKey{Owner: "a", Environment: "dev"}.In("shop"))
				code := fault.CodeOf(err)
				if err != nil && code != "unknown_environment" && code != "changed_concurrently" {
					t.Errorf("create a key: %v", err)
				}
				ids[i] = minted.ID
			})
		}
		group.Go(func() {
			_, err := w.DeleteEnvironment(t.Context(), p, contract.EnvironmentRemoval{
				EnvironmentPath: contract.EnvironmentOf("shop", "1.0.0", "dev"),
				Removal:         contract.Removal{Confirm: true},
			})
			if err != nil {
				t.Errorf("remove the environment: %v", err)
			}
		})
		group.Wait()
		for _, id := range append(ids, created.Keys["dev"].ID) {
			if id == "" {
				continue
			}
			if got := w.stateOf(t, p, id); got != "revoked" {
				t.Errorf("the key %s is %s", id, got)
			}
		}
	})
}
