package handlers_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"postern/core/contract"
	"postern/models"
	"postern/service/access"
	"postern/service/accounts"
	"postern/service/exports"
	"postern/testkit"
	"postern/testkit/controlplane"
	"postern/testkit/state"
)

// reading is a caller who reads what belongs to a project, and how the right to do so is lost.
type reading struct {
	has    controlplane.Objects
	caller []string
	lose   func(context.Context) error
}

// readings are the ways to lose the right. Each begins one with its own objects.
var readings = map[string]func(t *testing.T, o *controlplane.Fixture) reading{
	"signed out": func(t *testing.T, o *controlplane.Fixture) reading {
		caller, _ := o.NewMember(t, access.Member)
		return reading{o.NewObjects(t, "", "/:export"), caller, func(ctx context.Context) error {
			return o.Server.Accounts.SignOut(ctx, strings.TrimPrefix(caller[1], "postern="), accounts.From{})
		}}
	},
	"removed from the team": func(t *testing.T, o *controlplane.Fixture) reading {
		caller, id := o.NewMember(t, access.Viewer)
		return reading{o.NewObjects(t, "", "/:export"), caller, func(ctx context.Context) error {
			_, err := o.Server.Accounts.RemoveMember(ctx, o.Principal, contract.MemberOf(o.Team, id))
			return err
		}}
	},
	"project moved to another team": func(t *testing.T, o *controlplane.Fixture) reading {
		caller, _ := o.NewMember(t, access.Member)
		has := o.NewObjects(t, "", "/:export")
		return reading{has, caller, func(ctx context.Context) error {
			return o.DB.Write(ctx, func(tx *models.Tx) error {
				return tx.MoveProject(has.Project, o.OutsiderObjects.Team, models.Now())
			})
		}}
	},
	"project permanently deleted": func(t *testing.T, o *controlplane.Fixture) reading {
		caller, _ := o.NewMember(t, access.Member)
		has := o.NewObjects(t, "", "/:export")
		return reading{has, caller, func(ctx context.Context) error {
			in := contract.ProjectRemoval{ProjectPath: contract.ProjectPath{Project: has.Project}}
			if _, err := o.Server.Projects.Delete(ctx, o.Principal, in); err != nil {
				return err
			}
			in.Now, in.Confirm = true, has.ProjectName
			_, err := o.Server.Projects.Delete(ctx, o.Principal, in)
			return err
		}}
	},
	"token revoked": func(t *testing.T, o *controlplane.Fixture) reading {
		minted, err := o.Server.Tokens.Create(t.Context(), o.Principal, contract.TokenCreation{Body: contract.NewToken{
			Name:   "ci",
			Scopes: []string{"read", "export"},
		}})
		if err != nil {
			t.Fatal(err)
		}
		caller := []string{"Authorization", "Bearer " + minted.Secret.Reveal()}
		return reading{o.NewObjects(t, "", "/:export"), caller, func(ctx context.Context) error {
			_, err := o.Server.Tokens.Revoke(ctx, o.Principal, contract.TokenPath{Token: minted.ID})
			return err
		}}
	},
	"workspace claimed": func(t *testing.T, o *controlplane.Fixture) reading {
		created := o.CreateProject(t, access.Principal{}, "")
		workspace := access.Principal{
			Token:    "tok_1",
			Roles:    map[string]access.Role{created.Workspace.Team: access.Workspace},
			HomeTeam: created.Workspace.Team,
		}
		has := controlplane.Objects{Project: created.Project.ID, ProjectName: created.Project.Name}
		export, err := o.Server.Exports.Request(t.Context(), workspace, has.Project, exports.Options{Format: "data"})
		if err != nil {
			t.Fatal(err)
		}
		has.Export = export.ID
		caller := []string{"Authorization", "Bearer " + created.Workspace.Key}
		return reading{has, caller, func(ctx context.Context) error {
			_, err := o.Server.Accounts.Claim(ctx, o.Principal, contract.ClaimOf(created.Workspace.ClaimCode, ""))
			return err
		}}
	},
}

// A stream ends soon after its reader has lost the right to read it: before its next heartbeat.
func TestStreams_rightLost(t *testing.T) {
	t.Parallel()
	o := controlplane.NewFixture(t, state.OpenSQLite(t))
	listener := httptest.NewServer(o.Handler)
	t.Cleanup(listener.Close)
	t.Cleanup(o.Server.Usage.Recorder.EndFollowers) // before Close, which waits for readers
	t.Cleanup(o.Server.Exports.Followers.End)
	for name, begin := range testkit.ByName(readings) {
		for _, route := range []string{
			"/api/v1/projects/:project/requests", "/api/v1/exports/:export/events",
			"/projects/:project/requests", "/exports/:export",
		} {
			r := begin(t, o)
			if !controlplane.IsAPI(route) && r.caller[0] != "Cookie" {
				continue
			}
			t.Run(name+" "+route, func(t *testing.T) {
				t.Parallel()
				url := listener.URL + r.has.Path(route)
				request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
				must(t, err)
				request.Header.Set("Accept", "text/event-stream")
				request.Header.Set(r.caller[0], r.caller[1])
				answer, err := http.DefaultClient.Do(request)
				must(t, err)
				defer answer.Body.Close()
				if answer.StatusCode != http.StatusOK {
					t.Fatalf("status %d", answer.StatusCode)
				}
				lines := bufio.NewScanner(answer.Body)
				first := "data:" // of an export; a log has no call yet
				if strings.HasSuffix(route, "/requests") {
					first = "retry:"
				}
				for !strings.HasPrefix(lines.Text(), first) {
					if !lines.Scan() {
						t.Fatalf("it ended at once: %v", lines.Err())
					}
				}
				must(t, r.lose(t.Context()))
				for lines.Scan() {
					if lines.Text() != "" {
						t.Fatalf("it goes on: %q", lines.Text())
					}
				}
			})
		}
	}
}

// slowFile gives one byte at a time.
type slowFile struct {
	io.ReadSeekCloser
	tick <-chan time.Time
	read atomic.Int64
}

func (f *slowFile) Read(p []byte) (int, error) {
	<-f.tick
	f.read.Add(1)
	return f.ReadSeekCloser.Read(p[:1])
}

// slowStore opens slow files.
type slowStore struct {
	exports.Store
	opened chan *slowFile
}

func (s slowStore) Open(ctx context.Context, a exports.Attempt) (io.ReadSeekCloser, error) {
	file, err := s.Store.Open(ctx, a)
	if err != nil {
		return nil, err
	}
	ticks := time.NewTicker(50 * time.Millisecond)
	slow := &slowFile{ReadSeekCloser: file, tick: ticks.C}
	s.opened <- slow
	return slow, nil
}

// A download breaks off after its right is lost.
func TestDownload_rightLost(t *testing.T) {
	t.Parallel()
	o := controlplane.NewFixture(t, state.OpenSQLite(t))
	store := slowStore{o.Server.Exports.Store, make(chan *slowFile, 1)}
	o.Server.Exports.Store = store
	r := readings["removed from the team"](t, o)
	must(t, o.Server.Exports.Build(t.Context(), r.has.Export, true))
	w := httptest.NewRecorder()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		request := httptest.NewRequest(http.MethodGet, r.has.Path("/api/v1/exports/:export/download"), nil)
		request.Host = "localhost"
		request.Header.Set(r.caller[0], r.caller[1])
		o.Handler.ServeHTTP(w, request)
	}()
	file := <-store.opened
	must(t, r.lose(t.Context()))
	testkit.Eventually(t, "the end of the download", func() bool {
		select {
		case <-ended:
			return true
		default:
		}
		if file.read.Load() > 20*60 { // in a minute
			t.Fatal("it goes on")
		}
		return false
	})
	if w.Code != http.StatusOK || int64(w.Body.Len()) > file.read.Load() {
		t.Errorf("status %d, with %d bytes", w.Code, w.Body.Len())
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
