package projects_test

import (
	"errors"
	"slices"
	"sync"
	"testing"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
	"postern/testkit/state"
)

// namesOf lists the versions and environments that the gateway was given of a project, as
// 1.0.0/prod.
func (w *world) namesOf(t *testing.T, id string) []string {
	t.Helper()
	var names []string
	for _, v := range w.project(t, id).Versions {
		for _, e := range v.Environments {
			names = append(names, v.Name+"/"+e.Name)
		}
	}
	return names
}

func TestCreateVersion(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		in := authenticated
		in.Name = "shop"
		in.Environments = targets(map[string]string{"prod": "https://a.example", "dev": "https://b.example"})
		created, p := w.create(t, in)
		first := created.Project.Versions[0]
		allow := []string{"192.0.2.0/24"}
		change := contract.VersionChange{IP: contract.IPRulesChange{Allow: &allow}}
		if _, err := w.UpdateVersion(t.Context(), p, change.Of("shop", first.ID)); err != nil {
			t.Fatal(err)
		}

		t.Run("copies policies and environments", func(t *testing.T) {
			v, err := w.CreateVersion(t.Context(), p, contract.NewVersion{Name: "2.0.0"}.In("shop"))
			if err != nil {
				t.Fatal(err)
			}
			if v.RequestsAuth.Mode != "authenticate" {
				t.Errorf("mode %s", v.RequestsAuth.Mode)
			}
			if !slices.Equal(v.IP.Allow, allow) {
				t.Errorf("address ranges %v", v.IP.Allow)
			}
			if v.ID == first.ID {
				t.Errorf("the copy has the id of its source")
			}
			want := []string{"1.0.0/dev", "1.0.0/prod", "2.0.0/dev", "2.0.0/prod"}
			if got := w.namesOf(t, created.Project.ID); !slices.Equal(got, want) {
				t.Errorf("served %v, want %v", got, want)
			}
		})
		t.Run("has its own policies", func(t *testing.T) {
			mode, none := "passthrough", []string{}
			change := contract.VersionChange{RequestsAuth: contract.RequestsAuthChange{Mode: &mode, Methods: &none}}
			if _, err := w.UpdateVersion(t.Context(), p, change.Of("shop", "2.0.0")); err != nil {
				t.Fatal(err)
			}
			if got := w.project(t, created.Project.ID).Versions[0].Access.Mode; got != "authenticate" {
				t.Errorf("the first version's mode is now %s", got)
			}
		})
		t.Run("copies the newest by default", func(t *testing.T) {
			targets := map[string]contract.EnvironmentTarget{"live": {Target: "https://c.example"}}
			in := contract.NewVersion{Name: "3.0.0", Environments: targets}
			v, err := w.CreateVersion(t.Context(), p, in.In("shop"))
			if err != nil {
				t.Fatal(err)
			}
			if v.RequestsAuth.Mode != "passthrough" {
				t.Errorf("mode %s, want that of 2.0.0", v.RequestsAuth.Mode)
			}
			if len(v.Environments) != 1 || v.Environments[0].Target != "https://c.example" {
				t.Errorf("environments %+v", v.Environments)
			}
		})
		for name, tt := range map[string]struct {
			in      contract.NewVersion
			pointer string
			code    string
		}{
			"name in use":       {contract.NewVersion{Name: "1.0.0"}, "/name", "name_taken"},
			"not a version":     {contract.NewVersion{Name: "../x"}, "/name", "invalid_version"},
			"unknown source":    {contract.NewVersion{Name: "4", CopyFrom: "9"}, "/copy_from", "unknown_version"},
			"reserved name":     {withTarget("all", "https://c.example"), "/environments/all", "invalid_name"},
			"target of no host": {withTarget("prod", "nonsense"), "/environments/prod/target", "invalid_url"},
			"target left out":   {withTarget("prod", ""), "/environments/prod/target", "required"},
			"name with a slash": {withTarget("a/b", "https://c.example"), "/environments/a~1b", "invalid_name"},
			"id of no version":  {contract.NewVersion{Name: "4", CopyFrom: "ver_1"}, "/copy_from", "unknown_version"},
		} {
			t.Run(name, func(t *testing.T) {
				_, err := w.CreateVersion(t.Context(), p, tt.in.In("shop"))
				if field := fieldOf(err, tt.pointer); field.Code != tt.code {
					t.Errorf("got %v, want %s at %s", err, tt.code, tt.pointer)
				}
			})
		}
	})
}

func withTarget(name, target string) contract.NewVersion {
	return contract.NewVersion{
		Name: "4", Environments: map[string]contract.EnvironmentTarget{name: {Target: target}},
	}
}

func TestCreateEnvironment(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		created, p := w.create(t, authenticated)
		id := created.Project.ID
		in := contract.NewEnvironment{Name: "dev", Target: "https://b.example"}
		if _, err := w.CreateEnvironment(t.Context(), p, in.In(id, "1.0.0")); err != nil {
			t.Fatal(err)
		}
		if got := w.namesOf(t, id); !slices.Equal(got, []string{"1.0.0/dev", "1.0.0/prod"}) {
			t.Errorf("served %v", got)
		}
		_, err := w.CreateEnvironment(t.Context(), p, in.In(id, "1.0.0"))
		if field := fieldOf(err, "/name"); field.Code != "name_taken" {
			t.Errorf("a second dev: %v", err)
		}
		_, err = w.CreateEnvironment(t.Context(), p, in.In(id, "9"))
		if fault.KindOf(err) != fault.NotFound {
			t.Errorf("in a version that does not exist: %v", err)
		}
		other, stranger := w.create(t, authenticated)
		_, err = w.CreateEnvironment(t.Context(), stranger, in.In(id, "1.0.0"))
		if fault.KindOf(err) != fault.NotFound {
			t.Errorf("in another team's project: %v", err)
		}
		elsewhere := in.In(other.Project.ID, created.Project.Versions[0].ID)
		_, err = w.CreateEnvironment(t.Context(), stranger, elsewhere)
		if fault.KindOf(err) != fault.NotFound {
			t.Errorf("in another project's version: %v", err)
		}
		viewer := access.Principal{Account: "acc_1", Roles: map[string]access.Role{p.HomeTeam: access.Viewer}}
		_, err = w.CreateEnvironment(t.Context(), viewer, in.In(id, "1.0.0"))
		if fault.KindOf(err) != fault.Forbidden {
			t.Errorf("by a viewer: %v", err)
		}
	})
}

// The same form sent from two tabs creates one version.
func TestCreateVersion_race(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		created, p := w.create(t, authenticated)
		var group sync.WaitGroup
		errs := make([]error, 4)
		for i := range errs {
			group.Go(func() {
				_, errs[i] = w.CreateVersion(t.Context(), p, contract.NewVersion{Name: "2"}.In(created.Project.ID))
			})
		}
		group.Wait()
		made := 0
		for _, err := range errs {
			if err == nil {
				made++
			} else if fault.CodeOf(err) != "name_taken" {
				t.Errorf("refused with %v", err)
			}
		}
		if made != 1 {
			t.Errorf("%d versions were made", made)
		}
	})
}

// fieldOf returns what err says about the field at the pointer.
func fieldOf(err error, pointer string) fault.Field {
	refused, _ := errors.AsType[*fault.Error](err)
	if refused == nil {
		return fault.Field{}
	}
	at := slices.IndexFunc(refused.Fields, func(f fault.Field) bool { return f.Pointer == pointer })
	if at < 0 {
		return fault.Field{}
	}
	return refused.Fields[at]
}
