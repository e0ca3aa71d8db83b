package movein_test

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"postern/bundle"
	"postern/bundle/targets"
	"postern/core/contract"
	"postern/core/snapshot"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/keys"
	"postern/service/serving"
	"postern/testkit/state"
)

// Callers keep their host names, paths and keys, and what the old gateway refuses is refused.
func TestWrite_served(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		out, err := w.Write(t.Context(), w.owner, "", w.plan(t))
		if err != nil {
			t.Fatal(err)
		}
		want := contract.MovedCounts{
			Projects: 2, Versions: 3, Environments: 3, Domains: 3, Groups: 1, Owners: 1, Keys: 2,
		}
		if out.Created != want || !strings.HasPrefix(out.ID, "imp_") || out.Updated.Total()+out.Unchanged > 0 {
			t.Errorf("%+v, want %+v to be created", out, want)
		}
		if got := w.call(t, "GET", "api.example.com", "/orders/1", aliceKey); got != http.StatusNotFound {
			t.Errorf("before the host is proven: %d", got)
		}
		for project, host := range map[string]string{"orders": "api.example.com", "invoices": "away.example.com"} {
			w.approve(t, project, host)
		}
		for _, c := range []struct {
			method, host, path, key string
			want                    int
		}{
			{"GET", "api.example.com", "/orders/1?a=b", aliceKey, 200},
			{"GET", "api.example.com", "/orders/1", bobKey, 403},  // not in the group
			{"GET", "api.example.com", "/orders/1", "", 401},      // no key
			{"GET", "api.example.com", "/orders/1", "other", 401}, // another key
			{"GET", "api.example.com", "/invoices/7", bobKey, 200},
			{"DELETE", "api.example.com", "/invoices/7", bobKey, 404}, // no route for the method
			{"GET", "api.example.com", "/elsewhere", bobKey, 404},
			{"GET", "away.example.com", "/", bobKey, 403}, // the address isn't allowed
			{"GET", "api.example.com", "/orders/2", aliceKey, 200},
			{"GET", "api.example.com", "/orders/3", aliceKey, 200},
			{"GET", "api.example.com", "/orders/4", aliceKey, 429},
		} {
			if got := w.call(t, c.method, c.host, c.path, c.key); got != c.want {
				t.Errorf("%s %s%s with %q: %d, want %d", c.method, c.host, c.path, c.key, got, c.want)
			}
		}
		seen := w.upstream.Requests()
		if len(seen) != 4 || seen[0].Target != "/base/1?a=b" || seen[1].Target != "/invoices/7" {
			t.Fatalf("the upstream got %+v", seen)
		}
		for name, want := range map[string]string{
			"X-From": "kong", "X-Api-Token": "token-of-upstream", "X-Old-Key": "", "X-Consumer-Username": "alice",
			"X-Consumer-Custom-Id": "c-1", "X-Credential-Identifier": "5f7c0a4e-6b0c-4a55-9d3c-0d8c3d3f3c11",
		} {
			if got := seen[0].Headers.Get(name); got != want {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
		}
		if h := seen[1].Headers; h.Get("X-Consumer-Username") != "bob" || h["X-Consumer-Custom-Id"] != nil {
			t.Errorf("the upstream got %v for a consumer without a custom ID", h)
		}
		for _, project := range out.Projects {
			verifyExport(t, db, project.ID)
		}
	})
}

// verifyExport exports a project for Kong and verifies the zip.
func verifyExport(t *testing.T, db *models.DB, id string) {
	t.Helper()
	var list []snapshot.Key
	var project *snapshot.Project
	err := db.Consistent(t.Context(), func(tx *models.Tx) (err error) {
		if project, err = serving.CompileWhole(tx, id, publicURL); err != nil {
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
	target, err := targets.For(bundle.FormatGateway)
	if err != nil {
		t.Fatal(err)
	}
	var zip bytes.Buffer
	_, err = bundle.Write(t.Context(), &zip, bundle.Input{
		Project: project, KeyCount: int64(len(list)), Target: target, Generator: "postern test",
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
		AddressOf: func(v, e string) string { return publicURL + "/" + v + "/" + e },
	})
	if err != nil {
		t.Fatal(err)
	}
	report, err := bundle.Verify(t.Context(), bytes.NewReader(zip.Bytes()), int64(zip.Len()),
		bundle.Against{Targets: targets.All()})
	if err != nil || report.Keys != 2 {
		t.Errorf("the export of %s: %+v, %v", project.Name, report, err)
	}
}

// An import that ends in the middle leaves nothing, wherever that is, and the next one succeeds.
func TestWrite_interrupted(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		plan := w.plan(t)
		before := rows(t, db)
		var left atomic.Int64
		var stop atomic.Pointer[context.CancelFunc]
		if err := db.OnStatement(func(context.Context) {
			if left.Add(-1) == 0 {
				(*stop.Load())()
			}
		}); err != nil {
			t.Fatal(err)
		}
		interrupted := 0
		for _, statements := range []int64{3, 10, 20, 40, 60, 80, 100} {
			ctx, cancel := context.WithCancel(t.Context())
			stop.Store(&cancel)
			left.Store(statements)
			_, err := w.Write(ctx, w.owner, "", plan)
			left.Store(0)
			cancel()
			if err == nil {
				break
			}
			interrupted++
			if after := rows(t, db); after != before {
				t.Fatalf("after %d statements, it left %s, before: %s", statements, after, before)
			}
		}
		if interrupted < 3 {
			t.Errorf("only %d imports were interrupted", interrupted)
		}
		if _, err := w.Write(t.Context(), w.owner, "", plan); err != nil || rows(t, db) == before {
			t.Errorf("the next import: %v", err)
		}
	})
}

func TestWrite_refused(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		before := rows(t, db)
		viewer := w.owner
		viewer.Roles = map[string]access.Role{w.owner.HomeTeam: access.Viewer}
		for _, c := range []struct {
			name, old, new string
			p              access.Principal
			pointer, code  string
		}{
			{"a target", "url: UPSTREAM\n", "url: http://169.254.169.254\n", w.owner, "/services/1", ""},
			{"a host of Postern", "away.example.com", "postern.example", w.owner, "/services/1/routes/1", "own_host"},
			{
				"an owner", "username: bob", "username: bób", w.owner, "/consumers/1/keyauth_credentials/0",
				"invalid_owner",
			},
			{"no permission", "alice", "alicia", viewer, "", ""},
		} {
			_, err := w.Write(t.Context(), c.p, "", w.plan(t, c.old, c.new))
			refusal, ok := errors.AsType[*fault.Error](err)
			if !ok {
				t.Errorf("%s: %v", c.name, err)
				continue
			}
			found := c.pointer == "" || slices.ContainsFunc(refusal.Fields, func(f fault.Field) bool {
				return f.Pointer == c.pointer && (c.code == "" || f.Code == c.code)
			})
			if !found {
				t.Errorf("%s: %v, %+v", c.name, refusal, refusal.Fields)
			}
		}
		if after := rows(t, db); after != before {
			t.Errorf("it left %s, before: %s", after, before)
		}
	})
}

// Names, host names and keys that are in use are refused.
func TestWrite_taken(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		if _, err := w.Write(t.Context(), w.owner, "", w.plan(t)); err != nil {
			t.Fatal(err)
		}
		w.approve(t, "orders", "api.example.com")
		now := models.Now()
		other := models.Team{ID: models.NewID("team"), Name: "other", ClaimedAt: &now, CreatedAt: now}
		if err := db.Write(t.Context(), func(tx *models.Tx) error { return tx.Insert(&other) }); err != nil {
			t.Fatal(err)
		}
		stranger := w.owner
		stranger.Roles, stranger.HomeTeam = map[string]access.Role{other.ID: access.Owner}, other.ID
		before := rows(t, db)
		for code, plan := range map[string][]string{
			"name_taken": {},
			"host_taken": {"name: Orders", "name: their-orders", "name: invoices\n", "name: their-invoices\n"},
		} {
			_, err := w.Write(t.Context(), stranger, "", w.plan(t, plan...))
			refusal, ok := errors.AsType[*fault.Error](err)
			if !ok || refusal.Kind != fault.Conflict || len(refusal.Fields) == 0 || refusal.Fields[0].Code != code {
				t.Errorf("%s: %v", code, err)
			}
			if after := rows(t, db); after != before {
				t.Errorf("%s: it left %s, before: %s", code, after, before)
			}
		}
	})
}
