package movein_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/service/movein"
	"postern/testkit/state"
)

func (w *world) write(t *testing.T, replaced ...string) contract.MovedIn {
	t.Helper()
	out, err := w.Write(t.Context(), w.owner, "", w.plan(t, replaced...))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// The same file again changes nothing: no row, no revision and no audit entry.
func TestWrite_again(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		first := w.write(t)
		all := func() string {
			return rows(t, db) + name(count(t, db, "revisions")) + name(count(t, db, "audit_entries"))
		}
		before := all()
		again := w.write(t)
		if after := all(); after != before {
			t.Errorf("it has changed %s to %s", before, after)
		}
		made := first.Created.Total()
		if again.ID != "" || again.Created.Total()+again.Updated.Total() != 0 || again.Unchanged != made ||
			again.Kept.Total+again.Vanished.Total != 0 {
			t.Errorf("%+v, want %d unchanged", again, made)
		}
	})
}

// An import says whether it can be undone as long as nothing that it created is changed, and why not.
func TestApplied_cannotUndo(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		const stuck = " To remove everything instead, delete the imported projects, the product kong and the tenant " +
			"kong."
		w := newWorld(t, db)
		plans := &movein.Plans{DB: db}
		check := func(id, want string) {
			t.Helper()
			did, err := plans.Applied(t.Context(), w.owner, contract.ImportPath{Import: id})
			if err != nil || did.ID != id || (want == "") != (did.CannotUndo == "") ||
				!strings.Contains(did.CannotUndo, want) {
				t.Errorf("%s: %q, want %q, %v", id, did.CannotUndo, want, err)
			}
			if want == "" {
				return
			}
			if err := w.Undo(t.Context(), w.owner, id); err == nil || !strings.Contains(err.Error(), did.CannotUndo) {
				t.Errorf("the undo says: %v", err)
			}
		}
		first := w.write(t)
		check(first.ID, "")
		const bob = "- username: bob\n"
		const dora = "- username: dora\n  keyauth_credentials: [{key: dora-0123456789abcdef}]\n"
		second := w.write(t, bob, dora+bob)
		check(first.ID, "A later import with the same name builds on this one. Undo "+second.ID+" first.")
		check(second.ID, "")
		third := w.write(t, bob, dora+bob, "year: 3", "year: 4")
		later := "because the later import " + third.ID + " changed objects from earlier imports, such as the "
		check(first.ID, later)
		check(first.ID, stuck)
		check(second.ID, later)
		check(third.ID, "This import can't be undone, because it changed objects from an earlier import, such as the ")
		check(third.ID, "To restore the earlier settings, import the previous files again."+stuck)
	})
}

func name(n int64) string { return " " + strings.Repeat("i", int(n)) }

// What was changed in the file only is updated, what is new is created, and what is gone is listed.
func TestWrite_changedInFile(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		w.write(t)
		out := w.write(t, "year: 3", "year: 4", "192.0.2.0/24", "198.51.100.0/24", "token-of-upstream", "new-token",
			"- username: bob\n", "- username: carol\n  acls: [{group: Team B}]\n",
			"paths: [/invoices]", "paths: [/invoices, /bills]", bobKey, "carol-0123456789abcdef")
		created := contract.MovedCounts{Domains: 1, Groups: 1, Owners: 1, Keys: 1}
		updated := contract.MovedCounts{Projects: 1, Versions: 2, Environments: 1}
		if out.Created != created || out.Updated != updated || out.Kept.Total != 0 {
			t.Errorf("created %+v, want %+v; updated %+v, want %+v; kept %+v", out.Created, created, out.Updated,
				updated, out.Kept)
		}
		if out.Vanished.Total != 1 || out.Vanished.Items[0].Kind != "key" || out.Vanished.Items[0].Name != "bob" {
			t.Errorf("vanished: %+v", out.Vanished)
		}
		if err := w.Undo(t.Context(), w.owner, out.ID); codeOf(err) != "import_updated" {
			t.Errorf("undo: %v", err)
		}
		if again := w.write(t, "year: 3", "year: 4", "192.0.2.0/24", "198.51.100.0/24", "token-of-upstream",
			"new-token", "- username: bob\n", "- username: carol\n  acls: [{group: Team B}]\n",
			"paths: [/invoices]", "paths: [/invoices, /bills]", bobKey, "carol-0123456789abcdef"); again.ID != "" {
			t.Errorf("the same file again: %+v", again)
		}
	})
}

// A route whose plugins change can become one of another project. Its host name stays proven.
func TestWrite_movedRoute(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		w.write(t)
		w.approve(t, "invoices", "away.example.com")
		out := w.write(t, "methods: [GET, POST]}", "methods: [GET, POST], plugins: "+
			"[{name: rate-limiting, config: {hour: 100}}]}")
		created := contract.MovedCounts{Projects: 1, Versions: 1, Environments: 1, Domains: 1}
		if out.Created != created || out.Updated.Projects != 1 || out.Kept.Total != 0 {
			t.Errorf("created %+v, want %+v; updated %+v, kept %+v", out.Created, created, out.Updated, out.Kept)
		}
		if kinds := kindsOf(out.Vanished); !slices.Equal(kinds, []string{"environment", "version"}) {
			t.Errorf("vanished: %+v", out.Vanished)
		}
		if got := w.call(t, "GET", "away.example.com", "/", bobKey); got != 403 {
			t.Errorf("a call to the moved route gets %d, want 403 because of its address", got)
		}
		if err := w.Undo(t.Context(), w.owner, out.ID); codeOf(err) != "import_updated" {
			t.Errorf("undo: %v", err)
		}
	})
}

// What was changed here stays, unless the plan overwrites it. Keys that were revoked or rotated never come back.
func TestWrite_changedHere(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		first := w.write(t)
		w.approve(t, "orders", "api.example.com")
		invoices := contract.ProjectPath{Project: "invoices"}
		_, err := w.Projects.SetCORS(t.Context(), w.owner, contract.CORSUpdate{
			ProjectPath: invoices, Body: contract.CORS{Origins: []string{"https://app.example.com"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range w.keysOf(t) {
			path := contract.KeyPath{Key: key.ID}
			if key.Owner == "bob" {
				_, err = w.keys.Rotate(t.Context(), w.owner, contract.KeyRotation{
					KeyPath: path, Body: &contract.Grace{GraceSeconds: new(int64(0))},
				})
			} else {
				_, err = w.keys.Revoke(t.Context(), w.owner, path)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		kept := w.write(t)
		kinds := kindsOf(kept.Kept)
		if kept.ID != "" || !slices.Equal(kinds, []string{"key", "key", "project"}) {
			t.Errorf("kept %+v", kept.Kept)
		}
		plan := w.plan(t)
		plan.Options.Theirs = true
		theirs, err := w.Write(t.Context(), w.owner, "", plan)
		if err != nil || theirs.Updated != (contract.MovedCounts{Projects: 1}) ||
			!slices.Equal(kindsOf(theirs.Kept), []string{"key", "key"}) {
			t.Errorf("with theirs: %+v, %v", theirs, err)
		}
		for key, want := range map[string]int{aliceKey: 401, bobKey: 401} {
			if got := w.call(t, "GET", "api.example.com", "/invoices/7", key); got != want {
				t.Errorf("a key that was revoked or rotated gets %d", got)
			}
		}
		if err := w.Undo(t.Context(), w.owner, first.ID); codeOf(err) != "import_followed" {
			t.Errorf("undo of the first import: %v", err)
		}
	})
}

// Files of several Kongs have names that keep them apart. One that lacks most services isn't merged by mistake.
func TestWrite_otherKong(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		first := w.write(t)
		before := rows(t, db)
		other := w.plan(t, "name: Orders", "name: carts", "name: invoices", "name: bills", "api.example.com",
			"api.staging.example.com", "away.example.com", "away.staging.example.com", aliceKey,
			"staging-0123456789abcd", bobKey, "staging-abcdef0123456789")
		if _, err := w.Write(t.Context(), w.owner, "", other); codeOf(err) != "other_source" {
			t.Errorf("another Kong: %v", err)
		}
		if after := rows(t, db); after != before {
			t.Errorf("it has written %s, before: %s", after, before)
		}
		other.Options.Name, other.Product, other.Tenant = "staging", "staging", "staging"
		second, err := w.Write(t.Context(), w.owner, "", other)
		if err != nil {
			t.Fatal(err)
		}
		if second.Created.Projects != 2 || second.Created.Keys != 2 || second.Product != "staging" ||
			second.Tenant != "staging" || second.Kept.Total+second.Vanished.Total > 0 {
			t.Errorf("with a name: %+v", second)
		}
		if err := w.Undo(t.Context(), w.owner, first.ID); err != nil {
			t.Errorf("undo of the first one: %v", err)
		}
		if again, err := w.Write(t.Context(), w.owner, "", other); err != nil || again.ID != "" {
			t.Errorf("the second one again: %+v, %v", again, err)
		}
	})
}

// With theirs, a file that lacks most services is one of the same Kong.
func TestWrite_otherKongTheirs(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		first := w.write(t)
		other := w.plan(t, "name: Orders", "name: carts", "name: invoices", "name: bills", "example.com",
			"staging.example.com")
		other.Options.Theirs = true
		out, err := w.Write(t.Context(), w.owner, "", other)
		if err != nil || out.Product != first.Product || out.Created.Projects != 2 || out.Vanished.Total == 0 {
			t.Errorf("%+v, %v", out, err)
		}
	})
}

// A group whose name in the file has changed its case is the same. One whose name is taken gets a number, and the rules
// require that one.
func TestWrite_groupNames(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		w.write(t)
		w.approve(t, "orders", "api.example.com")
		out := w.write(t, "Team A", "team a")
		if out.Created.Total() != 0 || out.Updated != (contract.MovedCounts{Groups: 1}) {
			t.Errorf("another case: created %+v, updated %+v", out.Created, out.Updated)
		}
		tenant, err := db.Read(t.Context()).TenantByName(w.owner.HomeTeam, "kong")
		if err != nil {
			t.Fatal(err)
		}
		own := models.UserGroup{
			ID: models.NewID("grp"), TenantID: tenant.ID, Name: "team-b", CreatedAt: models.Now(),
			UpdatedAt: models.Now(),
		}
		if err := db.Write(t.Context(), func(tx *models.Tx) error { return tx.Insert(&own) }); err != nil {
			t.Fatal(err)
		}
		out = w.write(t, "Team A", "Team B")
		if out.Created.Groups != 1 || out.Updated.Versions != 1 {
			t.Errorf("a taken name: created %+v, updated %+v", out.Created, out.Updated)
		}
		groups, err := db.Read(t.Context()).GroupsNamed(tenant.ID, []string{"team-b", "team-b-2"})
		if err != nil || len(groups) != 2 {
			t.Errorf("groups %+v, %v", groups, err)
		}
		for key, want := range map[string]int{aliceKey: 200, bobKey: 403} {
			if got := w.call(t, "GET", "api.example.com", "/orders/1", key); got != want {
				t.Errorf("a call gets %d, want %d", got, want)
			}
		}
		if again := w.write(t, "Team A", "Team B"); again.ID != "" {
			t.Errorf("again: %+v", again)
		}
	})
}

func kindsOf(list contract.MovedList) (out []string) {
	for _, one := range list.Items {
		out = append(out, one.Kind)
	}
	slices.Sort(out)
	return out
}

func codeOf(err error) string {
	if refusal, ok := errors.AsType[*fault.Error](err); ok {
		return refusal.Code
	}
	return ""
}

func (w *world) keysOf(t *testing.T) (list []models.APIKey) {
	t.Helper()
	projects, err := w.DB.Read(t.Context()).ProjectsOfTeam(w.owner.HomeTeam)
	for _, project := range projects {
		err = errors.Join(err, w.DB.Read(t.Context()).ScanKeysOf(project.ID, nil, func(k *models.APIKey) error {
			list = append(list, *k)
			return nil
		}))
	}
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// An undo leaves nothing of an import, so that the same file can be imported again, and is refused after a change.
func TestUndo(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		before := rows(t, db)
		first := w.write(t)
		w.approve(t, "orders", "api.example.com")
		if got := w.call(t, "GET", "api.example.com", "/invoices/7", bobKey); got != 200 {
			t.Errorf("before: %d", got)
		}
		if err := w.Undo(t.Context(), w.owner, first.ID); err != nil {
			t.Fatal(err)
		}
		if after := rows(t, db); after != before {
			t.Errorf("left %s, before: %s", after, before)
		}
		if got := w.call(t, "GET", "api.example.com", "/invoices/7", bobKey); got != 404 {
			t.Errorf("after: %d", got)
		}
		if err := w.Undo(t.Context(), w.owner, first.ID); fault.KindOf(err) != fault.NotFound {
			t.Errorf("a second undo: %v", err)
		}
		second := w.write(t)
		if second.Created != first.Created {
			t.Errorf("again: %+v, want %+v", second.Created, first.Created)
		}
		whole := rows(t, db)
		more := w.write(t, "- username: bob\n", "- username: dora\n  keyauth_credentials: "+
			"[{key: dora-0123456789abcdef}]\n- username: bob\n")
		if more.Created != (contract.MovedCounts{Keys: 1}) {
			t.Errorf("a new key: %+v", more.Created)
		}
		if err := w.Undo(t.Context(), w.owner, second.ID); codeOf(err) != "import_followed" {
			t.Errorf("undo of what a later import builds on: %v", err)
		}
		if err := w.Undo(t.Context(), w.owner, more.ID); err != nil {
			t.Errorf("undo of the later import: %v", err)
		}
		if after := rows(t, db); after != whole {
			t.Errorf("left %s, before: %s", after, whole)
		}
	})
}

// An undo of a later import takes only what that one added to the projects and the tenant of the first.
func TestUndo_added(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		w.write(t)
		w.approve(t, "invoices", "away.example.com")
		before := rows(t, db)
		out := w.write(t,
			"  - {name: away,", "  - {name: new, hosts: [new.example.com], plugins: "+
				"[{name: ip-restriction, config: {deny: [192.0.2.0/24]}}]}\n  - {name: away,",
			"- username: bob\n", "- username: dora\n  acls: [{group: Team B}]\n  keyauth_credentials: "+
				"[{key: dora-0123456789abcdef}]\n- username: bob\n",
			"plugins:\n- {name: key-auth,", "- {name: extra, url: "+w.upstream.URL+
				", routes: [{hosts: [extra.example.com]}]}\nplugins:\n- {name: key-auth,")
		want := contract.MovedCounts{
			Projects: 1, Versions: 2, Environments: 2, Domains: 2, Groups: 1, Owners: 1, Keys: 1,
		}
		if out.Created != want || out.Updated.Total() != 0 {
			t.Errorf("created %+v, want %+v; updated %+v", out.Created, want, out.Updated)
		}
		if err := w.Undo(t.Context(), w.owner, out.ID); err != nil {
			t.Fatal(err)
		}
		if after := rows(t, db); after != before {
			t.Errorf("left %s, before: %s", after, before)
		}
		if got := w.call(t, "GET", "away.example.com", "/", bobKey); got != 403 {
			t.Errorf("a call to a route of the first import gets %d, want 403 because of its address", got)
		}
	})
}

func TestUndo_changed(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		made := w.write(t)
		if _, err := w.keys.Freeze(t.Context(), w.owner, contract.KeyPath{Key: w.keysOf(t)[0].ID}); err != nil {
			t.Fatal(err)
		}
		_, err := w.Projects.CreateEnvironment(t.Context(), w.owner, contract.EnvironmentCreation{
			VersionPath: contract.VersionPath{ProjectPath: contract.ProjectPath{Project: "orders"}, Version: "1.0.0"},
			Body:        contract.NewEnvironment{Name: "staging", Target: w.upstream.URL},
		})
		if err != nil {
			t.Fatal(err)
		}
		err = w.Undo(t.Context(), w.owner, made.ID)
		refusal, ok := errors.AsType[*fault.Error](err)
		if !ok || refusal.Code != "import_changed" || !strings.Contains(refusal.Public, "key key_") ||
			!strings.Contains(refusal.Public, "environments of the project orders (1 more)") {
			t.Errorf("%v", err)
		}
	})
}
