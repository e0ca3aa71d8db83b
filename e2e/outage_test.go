package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"postern/client"
	"postern/core/contract"
	"postern/e2e/harness"
	"postern/testkit"
)

// One replica writes with many requests at once and is stopped in the middle of
// them. Its transactions are still open then, with all that they have locked.
func TestReplicas_frozen(t *testing.T) {
	t.Parallel()
	database := testkit.Postgres(t)
	data := t.TempDir() // which replicas share
	a, b := harness.Serve(t, data, database, harness.Prompt...), harness.Serve(t, data, database, harness.Prompt...)
	proxy := newProxy(t, a.URL)
	ctx, stop := context.WithCancel(t.Context())
	var writing sync.WaitGroup
	var written atomic.Int64
	for range 20 {
		api := harness.Connect(t, a.URL, proxy.WorkspaceKey.Reveal())
		writing.Go(func() {
			for ctx.Err() == nil {
				in := contract.NewKey{Owner: "busy"}.In(proxy.Project.ID)
				_, err := client.Do(ctx, api, contract.CreateKey, in) // ends with the process
				if err == nil {
					written.Add(1)
				}
			}
		})
	}
	defer writing.Wait()
	defer stop()
	other, err := client.Do(t.Context(), harness.Connect(t, b.URL, ""), contract.CreateProxy, contract.NewProxy{
		Target: testkit.NewUpstream(
			t,
		).URL, Name: "other", RequestsAuth: &contract.NewRequestsAuth{Mode: "authenticate"},
	}.Request())
	if err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "100 keys", func() bool { return written.Load() >= 100 })
	if err := a.Command.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for _, p := range []contract.Proxy{proxy, other} { // a team that the frozen one writes to, and another
		api := harness.Connect(t, b.URL, p.WorkspaceKey.Reveal())
		for range 20 {
			creates(t, api, p)
		}
	}
}

func TestReplicas_deadConnections(t *testing.T) {
	t.Parallel()
	database := testkit.Postgres(t)
	relay := testkit.NewRelay(t, database)
	data := t.TempDir() // which replicas share
	a, b := harness.Serve(t, data, database), harness.Serve(t, data, relay.Through(t, database), harness.Prompt...)
	proxy := newProxy(t, a.URL)
	api := harness.Connect(t, a.URL, proxy.WorkspaceKey.Reveal())
	_, path, _ := strings.Cut(strings.TrimPrefix(proxy.Project.Environments[0].URL, "http://"), "/")
	address := b.Gateway + "/" + path + "/hello"
	key, err := client.Do(t.Context(), api, contract.CreateKey, contract.NewKey{Owner: "billing"}.In(proxy.Project.ID))
	if err != nil {
		t.Fatal(err)
	}
	harness.WaitForStatus(t, address, key.Secret.Reveal(), http.StatusOK)

	relay.Silence()
	if _, err := client.Do(t.Context(), api, contract.RevokeKey, key.Path()); err != nil {
		t.Fatal(err)
	}
	harness.WaitForStatus(t, address, key.Secret.Reveal(), http.StatusUnauthorized)
	creates(t, harness.Connect(t, b.URL, proxy.WorkspaceKey.Reveal()), proxy)
}

// creates tries to create a key until that succeeds.
func creates(t *testing.T, api *client.Client, p contract.Proxy) {
	t.Helper()
	testkit.Await(t, "a key that is created", func() (error, bool) {
		_, err := client.Do(t.Context(), api, contract.CreateKey, contract.NewKey{Owner: "billing"}.In(p.Project.ID))
		return err, err == nil
	})
}

// burst is more than the process has connections for.
const burst = 60

func TestStop_hangingDatabase(t *testing.T) {
	for name, breakDown := range testkit.ByName(map[string]func(*testkit.Relay, testing.TB){
		"connections are accepted": func(r *testkit.Relay, _ testing.TB) { r.Hang() },
		"packets are dropped":      (*testkit.Relay).Drop,
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			database := testkit.Postgres(t)
			relay := testkit.NewRelay(t, database)
			p := harness.Serve(t, t.TempDir(), relay.Through(t, database), harness.Prompt...)
			proxy := newProxy(t, p.URL)
			address := proxy.Project.Environments[0].URL + "/hello"
			harness.WaitForStatus(t, address, proxy.APIKeys["prod"].Key.Reveal(), http.StatusOK)

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
			harness.WaitForStatus(
				t,
				address,
				proxy.APIKeys["prod"].Key.Reveal(),
				http.StatusOK,
			) // as if nothing were wrong
			if err := p.Command.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			select {
			case <-p.Gone:
			case <-time.After(harness.StartWithin):
				t.Fatalf("the process still goes on after %s:\n%s", harness.StartWithin, p.Errors)
			}
		})
	}
}

// wantUnavailable creates a key, and returns an error unless the answer is 503 with
// Retry-After.
func wantUnavailable(ctx context.Context, server string, proxy contract.Proxy) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost,
		server+"/api/v1/projects/"+proxy.Project.ID+"/keys", strings.NewReader(`{"owner": "billing"}`))
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+proxy.WorkspaceKey.Reveal())
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
