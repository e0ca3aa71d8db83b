package projects_test

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"postern/core/contract"
	"postern/core/policy"
	"postern/core/snapshot"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/keys"
	"postern/service/projects"
	"postern/service/serving"
	"postern/testkit"
	"postern/testkit/state"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// anyTarget allows every URL, so that these tests need no name server.
type anyTarget struct{}

func (anyTarget) CheckTarget(_ context.Context, raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return nil, fault.New(fault.Invalid, "invalid_url", "Not a URL.")
	}
	return u, nil
}

type world struct {
	*projects.Service
	keys  *keys.Service
	table *keys.Table
	feed  *serving.Feed

	mu     sync.Mutex
	served []*snapshot.Project

	connections map[string]*snapshot.Key // of each key's callers, with what was found for the last call
}

func newWorld(t *testing.T, db *models.DB) *world {
	t.Helper()
	w := &world{table: keys.NewTable(), connections: map[string]*snapshot.Key{}}
	w.feed = &serving.Feed{
		DB:        db,
		Keys:      w.table,
		PublicURL: "https://postern.example",
		Log:       testLogger(t),
		Publish: func(all []*snapshot.Project) error {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.served = all
			return nil
		},
	}
	if err := w.feed.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.Service = &projects.Service{
		DB:           db,
		Targets:      anyTarget{},
		Log:          testLogger(t),
		PublicURL:    "https://postern.example",
		KeyPrefix:    "pst",
		UnclaimedTTL: time.Hour,
		Changed:      w.feed.Changed,
	}
	w.keys = &keys.Service{DB: db, Prefix: "pst", Changed: w.feed.Changed}
	return w
}

func (w *world) create(t *testing.T, in projects.CreateInput) (projects.Created, access.Principal) {
	t.Helper()
	created, err := w.Create(t.Context(), access.Principal{}, in)
	if err != nil {
		t.Fatal(err)
	}
	return created, access.Principal{
		Roles:    map[string]access.Role{created.Workspace.Team: access.Workspace},
		HomeTeam: created.Workspace.Team,
	}
}

// targets returns environments with targets, by their names.
func targets(of map[string]string) map[string]contract.EnvironmentTarget {
	out := map[string]contract.EnvironmentTarget{}
	for name, target := range of {
		out[name] = contract.EnvironmentTarget{Target: target}
	}
	return out
}

var authenticated = projects.CreateInput{
	Target: "https://api.example.com",
	Auth:   contract.NewRequestsAuth{Mode: "authenticate"},
}

func TestCreate_defaults(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		created, _ := w.create(t, authenticated)
		p := created.Project
		if p.Name != "api-example-com" {
			t.Errorf("name %s, want api-example-com", p.Name)
		}
		if len(p.Versions) != 1 || p.Versions[0].Name != "1.0.0" {
			t.Fatalf("versions %+v, want 1.0.0 alone", p.Versions)
		}
		if got := p.Versions[0].Environments[0].Name; got != "prod" {
			t.Errorf("environment %s, want prod", got)
		}
		if got := p.Versions[0].RequestsAuth.Methods; !slices.Equal(got, []string{"api_key"}) {
			t.Errorf("methods %v", got)
		}
		key := w.key(policy.HashKey(created.Keys["prod"].Secret.Reveal()))
		if key.ID == "" || key.Environment != "prod" || !slices.Equal(key.Scopes, []string{"*"}) {
			t.Errorf("the bootstrap key is looked up as %+v", key)
		}
		if len(w.served) != 1 || w.served[0].Name != p.Name || w.served[0].ExpiresAt.IsZero() {
			t.Errorf("served: %+v", w.served)
		}
	})
}

func TestCreate_passthrough(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		created, _ := newWorld(t, db).create(t, projects.CreateInput{Target: "https://api.example.com"})
		if len(created.Keys) != 0 || created.Project.Versions[0].RequestsAuth.Mode != "passthrough" {
			t.Errorf("got %+v", created)
		}
	})
}

func TestCreate_invalidFields(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		_, err := w.Create(t.Context(), access.Principal{}, projects.CreateInput{
			Target: "nonsense", Name: "Shop!", Version: "../1", DisplayName: strings.Repeat("x", 81),
			Environments: targets(map[string]string{"a/b": "https://api.example.com"}),
			Auth: contract.NewRequestsAuth{
				Mode:    "maybe",
				Methods: []string{"jwt", "api_key", "api_key", "x"},
				Keyless: "never",
				KeyTypes: []contract.NewKeyType{
					{Name: "full", Scopes: []string{"Read"}}, {Name: "ok-type", ExpiresIn: -1},
				},
			},
		})
		got := pointers(err)
		want := []string{
			"/version",
			"/name",
			"/display_name",
			"/requests_auth/mode",
			"/requests_auth/methods/2",
			"/requests_auth/methods/3",
			"/requests_auth/keyless",
			"/requests_auth/jwt/allowed_pairs",
			"/requests_auth/key_types/0/name",
			"/requests_auth/key_types/0/scopes/0",
			"/requests_auth/key_types/1/scopes",
			"/requests_auth/key_types/1/expires_in",
			"/target",
			"/environments/a~1b",
		}
		if !slices.Equal(got, want) {
			t.Errorf("\ngot  %v\nwant %v", got, want)
		}
	})
}

func pointers(err error) (list []string) {
	var refused *fault.Error
	if errors.As(err, &refused) {
		for _, field := range refused.Fields {
			list = append(list, field.Pointer)
		}
	}
	return list
}

func TestCreate_nameTaken(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		in := authenticated
		in.Name = "shop"
		var winners, taken atomic.Int32
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				switch _, err := w.Create(t.Context(), access.Principal{}, in); {
				case err == nil:
					winners.Add(1)
				case fault.CodeOf(err) == "name_taken" && fault.KindOf(err) == fault.Conflict:
					taken.Add(1)
				default:
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if winners.Load() != 1 || taken.Load() != 7 {
			t.Errorf("%d made, %d refused", winners.Load(), taken.Load())
		}
	})
}

func TestCreate_derivedName(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		first, _ := w.create(t, authenticated)
		second, _ := w.create(t, authenticated)
		if first.Project.Name == second.Project.Name || !projects.ValidName(second.Project.Name) {
			t.Errorf("%q and %q", first.Project.Name, second.Project.Name)
		}
	})
}

func TestProject_otherTeam(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		created, owner := w.create(t, authenticated)
		_, other := w.create(t, authenticated)
		ref, name := created.Project.ID, "x"
		version, environment := created.Project.Versions[0], created.Project.Versions[0].Environments[0]
		for what, call := range testkit.ByName(map[string]func(access.Principal) error{
			"get": func(p access.Principal) error { _, err := w.Get(t.Context(), p, ref); return err },
			"settings": func(p access.Principal) error {
				_, err := w.Update(t.Context(), p, contract.ProjectChange{DisplayName: &name}.Of(ref))
				return err
			},
			"access": func(p access.Principal) error {
				_, err := w.UpdateVersion(t.Context(), p, contract.VersionChange{}.Of(ref, version.ID))
				return err
			},
			"target": func(p access.Principal) error {
				at := contract.EnvironmentOf(ref, version.ID, environment.ID)
				return w.retarget(t, p, at, "", "https://b.example.com")
			},
			"keys": func(p access.Principal) error {
				_, err := w.keys.List(t.Context(), p, contract.KeyList{ProjectPath: contract.ProjectPath{Project: ref}})
				return err
			},
			"create key": func(p access.Principal) error {
				_, err := w.keys.Create(t.Context(), p, contract.NewKey{Owner: "o"}.In(ref))
				return err
			},
			"revoke key": func(p access.Principal) error {
				_, err := w.keys.Revoke(t.Context(), p, created.Keys["prod"].Path())
				return err
			},
		}) {
			if err := call(other); fault.KindOf(err) != fault.NotFound {
				t.Errorf("%s: another team got %v", what, err)
			}
			if err := call(access.Principal{}); fault.KindOf(err) != fault.Unauthenticated {
				t.Errorf("%s: an anonymous caller got %v", what, err)
			}
			if err := call(owner); err != nil {
				t.Errorf("%s: the owner got %v", what, err)
			}
		}
	})
}

func TestUpdate_servedAtOnce(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		created, owner := w.create(t, authenticated)
		environment := created.Project.Versions[0].Environments[0]
		update := func(etag, target string) (contract.Environment, error) {
			return w.UpdateEnvironment(t.Context(), owner, contract.EnvironmentUpdate{
				EnvironmentPath: contract.EnvironmentOf(created.Project.Name, "1.0.0", environment.ID),
				Condition:       contract.Condition{IfMatch: etag},
				Body:            contract.EnvironmentChange{Target: &target},
			})
		}
		changed, err := update(environment.ETag, "https://b.example.com/base")
		if err != nil {
			t.Fatal(err)
		}
		if got := w.served[0].Versions[0].Environments[0].Target; got != "https://b.example.com/base" {
			t.Errorf("still served: %s", got)
		}
		if _, err := update(environment.ETag, "https://c.example.com"); fault.KindOf(err) != fault.Stale {
			t.Errorf("a stale change got %v", err)
		}
		if _, err := update(changed.ETag, "https://c.example.com"); err != nil {
			t.Errorf("the next change got %v", err)
		}
	})
}

func TestFeed_replica(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		here := newWorld(t, db)
		replica := newWorld(t, db)
		created, owner := here.create(t, authenticated)
		if err := replica.feed.Sync(t.Context()); err != nil {
			t.Fatal(err)
		}
		hash := policy.HashKey(created.Keys["prod"].Secret.Reveal())
		if replica.key(hash).ID == "" || len(replica.served) != 1 {
			t.Fatal("the replica has not seen the new project")
		}
		if _, err := here.keys.Revoke(t.Context(), owner, created.Keys["prod"].Path()); err != nil {
			t.Fatal(err)
		}
		if err := replica.feed.Sync(t.Context()); err != nil {
			t.Fatal(err)
		}
		if key := replica.key(hash); key.State != snapshot.KeyRevoked {
			t.Errorf("the replica still sees %+v", key)
		}
	})
}

// key is what the gateway finds by the hash of a present secret.
func (w *world) key(hash [32]byte) (key snapshot.Key) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, project := range w.served {
		if found, old := w.table.Lookup(project.TeamID, hash, &key); found && old {
			return snapshot.Key{}
		} else if found {
			break
		}
	}
	return key
}

func TestUpdate_auditEntry(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		created, owner := w.create(t, authenticated)
		if _, err := w.keys.Freeze(t.Context(), owner, created.Keys["prod"].Path()); err != nil {
			t.Fatal(err)
		}
		entries, err := db.Read(t.Context()).AuditOf(created.Workspace.Team, 10)
		if err != nil || len(entries) != 2 || entries[0].Action != "key.change" ||
			entries[1].Action != "project.create" {
			t.Errorf("got %+v, %v", entries, err)
		}
	})
}
