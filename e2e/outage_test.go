package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"postern/client"
	"postern/testkit"
)

// goesOnWithin is what the product promises of other replicas while one of them,
// or its connections, are dead without a word. Where a test gives up is far beyond:
// the machine may be slow.
const goesOnWithin = 5 * time.Second

const giveUpAfter = 6 * goesOnWithin

// One replica writes with many requests at once and is stopped in the middle of
// them. Its transactions are still open then, with all that they have locked.
func TestAFrozenReplicaHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	database := testkit.Postgres(t)
	data := t.TempDir() // which replicas share
	a, b := serve(t, data, database), serve(t, data, database)
	proxy := newProxy(t, a.URL)
	ctx, stop := context.WithCancel(t.Context())
	var writing sync.WaitGroup
	for range 20 {
		api := connect(t, a.URL, proxy.WorkspaceKey)
		writing.Go(func() {
			for ctx.Err() == nil {
				_, _ = api.CreateKey(ctx, proxy.Project.ID, client.NewKey{Owner: "busy"}) // ends with the process
			}
		})
	}
	defer writing.Wait()
	defer stop()
	other, err := connect(t, b.URL, "").CreateProxy(t.Context(), client.NewProxy{
		Target: testkit.NewUpstream(t).URL, Name: "other", RequestsAuth: &client.NewAuth{Mode: "authenticate"},
	})
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Second) // of writing
	if err := a.command.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for _, p := range []client.Proxy{proxy, other} { // a team that the frozen one writes to, and another
		api := connect(t, b.URL, p.WorkspaceKey)
		for range 20 {
			began := time.Now()
			if !eventually(giveUpAfter, func() bool {
				_, err := api.CreateKey(t.Context(), p.Project.ID, client.NewKey{Owner: "billing"})
				return err == nil
			}) {
				t.Fatalf("no key could be created within %s", giveUpAfter)
			}
			if took := time.Since(began); took > goesOnWithin {
				t.Logf("a key took %s", took)
			}
		}
	}
}

func TestARevocationIsSeenOverDeadConnections(t *testing.T) {
	t.Parallel()
	database := testkit.Postgres(t)
	relay := testkit.NewRelay(t, database)
	data := t.TempDir() // which replicas share
	a, b := serve(t, data, database), serve(t, data, relay.Through(t, database))
	proxy := newProxy(t, a.URL)
	api := connect(t, a.URL, proxy.WorkspaceKey)
	_, path, _ := strings.Cut(strings.TrimPrefix(proxy.Project.Environments[0].URL, "http://"), "/")
	address := b.Gateway + "/" + path + "/hello"
	key, err := api.CreateKey(t.Context(), proxy.Project.ID, client.NewKey{Owner: "billing"})
	if err != nil {
		t.Fatal(err)
	}
	waitForStatus(t, address, key.Key, http.StatusOK, startWithin)

	relay.Silence()
	if _, err := api.RevokeKey(t.Context(), key.ID); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	waitForStatus(t, address, key.Key, http.StatusUnauthorized, giveUpAfter)
	t.Logf("seen after %s", time.Since(began))
	there := connect(t, b.URL, proxy.WorkspaceKey)
	if !eventually(giveUpAfter, func() bool {
		_, err := there.CreateKey(t.Context(), proxy.Project.ID, client.NewKey{Owner: "late"})
		return err == nil
	}) {
		t.Error("no key can be created where the connections had died")
	}
}

func eventually(within time.Duration, is func() bool) bool {
	for deadline := time.Now().Add(within); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if is() {
			return true
		}
	}
	return false
}

// burst is more than the process has connections for.
const burst = 60

// stopsWithin is what is left after the drain of the 30 seconds that Kubernetes gives.
const stopsWithin = 25 * time.Second

func TestABurstAndAStopWhileTheDatabaseDoesNotAnswer(t *testing.T) {
	for name, breakDown := range map[string]func(*testkit.Relay, testing.TB){
		"connections are accepted": func(r *testkit.Relay, _ testing.TB) { r.Hang() },
		"packets are dropped":      (*testkit.Relay).Drop,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			database := testkit.Postgres(t)
			relay := testkit.NewRelay(t, database)
			p := serve(t, t.TempDir(), relay.Through(t, database))
			proxy := newProxy(t, p.URL)
			address := proxy.Project.Environments[0].URL + "/hello"
			waitForStatus(t, address, proxy.APIKeys["prod"].Key, http.StatusOK, startWithin)

			breakDown(relay, t)
			failed := make(chan error, burst)
			for range burst {
				go func() { failed <- wantUnavailable(t.Context(), p.URL, proxy) }()
			}
			for range burst {
				if err := <-failed; err != nil {
					t.Error(err)
				}
			}
			waitForStatus(t, address, proxy.APIKeys["prod"].Key, http.StatusOK, startWithin) // as if nothing were wrong
			if err := p.command.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			select {
			case <-p.gone:
			case <-time.After(stopsWithin):
				t.Fatalf("the process still goes on after %s:\n%s", stopsWithin, p.errors)
			}
		})
	}
}

// wantUnavailable creates a key, and returns an error unless the answer is 503 with
// Retry-After.
func wantUnavailable(ctx context.Context, server string, proxy client.Proxy) error {
	ctx, stop := context.WithTimeout(ctx, giveUpAfter)
	defer stop()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost,
		server+"/api/v1/projects/"+proxy.Project.ID+"/keys", strings.NewReader(`{"owner": "billing"}`))
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+proxy.WorkspaceKey)
	request.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusServiceUnavailable || answer.Header.Get("Retry-After") == "" {
		err = fmt.Errorf("got %s, Retry-After %q, want 503 and when to try again",
			answer.Status, answer.Header.Get("Retry-After"))
	}
	return errors.Join(err, answer.Body.Close())
}
