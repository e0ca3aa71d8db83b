package projects_test

import (
	"context"
	"sync/atomic"
	"testing"

	"postern/core/contract"
	"postern/testkit"
	"postern/testkit/state"
)

// A project of many versions takes long to read, while others wait to write. A change reads it once before its
// transaction and once at its end, also where the answer depends on it.
func TestChange_projectReads(t *testing.T) {
	db := state.OpenSQLite(t)
	var statements atomic.Int64
	if err := db.OnStatement(func(context.Context) { statements.Add(1) }); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, db)
	created, p := w.create(t, authenticated)
	ctx, project, name := t.Context(), created.Project.ID, "Books"
	counted := func(do func() error) int64 {
		t.Helper()
		before := statements.Load()
		if err := do(); err != nil {
			t.Fatal(err)
		}
		return statements.Load() - before
	}
	plain := counted(func() error {
		_, err := w.SetTransforms(ctx, p, contract.TransformsUpdate{
			VersionPath: contract.VersionPath{ProjectPath: contract.ProjectPath{Project: project}, Version: "1.0.0"},
		})
		return err
	})
	for what, do := range testkit.ByName(map[string]func() error{
		"rules": func() error {
			_, err := w.SetRules(ctx, p, rulesUpdate(project, "", contract.Rules{Default: contract.RulesDeny}))
			return err
		},
		"settings": func() error {
			_, err := w.Update(ctx, p, contract.ProjectChange{DisplayName: &name}.Of(project))
			return err
		},
		"a key type": func() error {
			_, err := w.CreateKeyType(ctx, p, contract.KeyTypeCreation{
				ProjectPath: contract.ProjectPath{Project: project},
				Body:        contract.NewKeyType{Name: "gold", Scopes: []string{"read"}},
			})
			return err
		},
	}) {
		if n := counted(do); n > plain+5 { // the project takes 8
			t.Errorf("%s: %d statements, and %d for a change that answers nothing else", what, n, plain)
		}
	}
}
