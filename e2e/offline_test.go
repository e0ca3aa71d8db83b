package e2e

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"postern/client"
	"postern/core/contract"
	"postern/e2e/harness"
	"postern/testkit"
)

// probe is a listener's answer to GET /readyz.
func probe(t *testing.T, address string) (status int, body string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address+"/readyz", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatalf("GET /readyz: %v", err)
	}
	defer answer.Body.Close()
	var text bytes.Buffer
	if _, err := text.ReadFrom(answer.Body); err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, text.String()
}

func wantReady(t *testing.T, address string, status int, says string) {
	t.Helper()
	testkit.Await(t, fmt.Sprintf("%d and %q from /readyz of %s", status, says, address), func() (string, bool) {
		got, body := probe(t, address)
		return fmt.Sprint(got, " ", body), got == status && strings.Contains(body, says)
	})
}

func TestReadiness_hangingDatabase(t *testing.T) {
	t.Parallel()
	database := testkit.Postgres(t)
	relay := testkit.NewRelay(t, database)
	p := harness.Serve(t, t.TempDir(), relay.Through(t, database), harness.Prompt...)
	wantReady(t, p.URL, http.StatusOK, "ready")
	relay.Hang()
	wantReady(t, p.URL, http.StatusServiceUnavailable, "degraded")
	wantReady(t, p.Gateway, http.StatusOK, "degraded")
	relay.Resume()
	wantReady(t, p.URL, http.StatusOK, "ready")
}

// A gateway that alone is cut off leaves the balancer if the operator wants that, and decides by its last state for the
// calls that still reach it, while another replica follows every change.
func TestReadiness_staleGateway(t *testing.T) {
	t.Parallel()
	database := testkit.Postgres(t)
	relay := testkit.NewRelay(t, database)
	secrets := "POSTERN_SECRETS_KEY=" + secretsKey
	other := harness.Serve(t, t.TempDir(), database, append(slices.Clone(harness.Prompt), secrets)...)
	cutOff := harness.Serve(t, t.TempDir(), relay.Through(t, database),
		append(slices.Clone(harness.Prompt), secrets, "POSTERN_GATEWAY_STALE_AFTER=5s")...)
	proxy := newProxy(t, other.URL)
	api := harness.Connect(t, other.URL, proxy.WorkspaceKey.Reveal())
	revoked := proxy.APIKeys["prod"]
	const path = "/shop/1.0.0/prod/hello"
	for _, p := range []*harness.Process{cutOff, other} {
		harness.WaitForStatus(t, p.Gateway+path, revoked.Key.Reveal(), http.StatusOK)
		wantReady(t, p.Gateway, http.StatusOK, "ready")
	}

	relay.Hang()
	in := contract.NewKey{Owner: "billing"}.In(proxy.Project.ID)
	added, err := client.Do(t.Context(), api, contract.CreateKey, in)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Do(t.Context(), api, contract.RevokeKey, contract.KeyPath{Key: revoked.ID}); err != nil {
		t.Fatal(err)
	}
	decide := func(p *harness.Process, ofRevoked, ofAdded int) {
		t.Helper()
		harness.WaitForStatus(t, p.Gateway+path, revoked.Key.Reveal(), ofRevoked)
		harness.WaitForStatus(t, p.Gateway+path, added.Secret.Reveal(), ofAdded)
	}
	decide(other, http.StatusUnauthorized, http.StatusOK)
	wantReady(t, cutOff.Gateway, http.StatusServiceUnavailable, "degraded: changes in the database can't be read")
	wantReady(t, other.Gateway, http.StatusOK, "ready")
	decide(cutOff, http.StatusOK, http.StatusUnauthorized)

	relay.Resume()
	decide(cutOff, http.StatusUnauthorized, http.StatusOK)
	wantReady(t, cutOff.Gateway, http.StatusOK, "ready")
}

// stored waits until the gateway's state on disk is newer than what was there before,
// and returns it.
func stored(t *testing.T, data string, before []byte) []byte {
	t.Helper()
	return testkit.Await(t, "the gateway's state on disk", func() ([]byte, bool) {
		now, err := os.ReadFile(stateFile(data))
		return now, err == nil && !bytes.Equal(now, before)
	})
}

func stateFile(data string) string { return filepath.Join(data, "gateway.state") }

func TestStart_lastState(t *testing.T) {
	database := testkit.Postgres(t)
	relay := testkit.NewRelay(t, database)
	data := t.TempDir()
	other := harness.Serve(t, t.TempDir(), database, "POSTERN_SECRETS_KEY="+secretsKey)
	start := func() *harness.Process {
		return harness.Serve(t, data, relay.Through(t, database),
			append(slices.Clone(harness.Prompt), "POSTERN_SECRETS_KEY="+secretsKey)...)
	}
	first := start()
	proxy := newProxy(t, first.URL)
	api := harness.Connect(t, first.URL, proxy.WorkspaceKey.Reveal())
	before := stored(t, data, nil)
	in := contract.NewKey{Owner: "billing"}.In(proxy.Project.ID)
	extra, err := client.Do(t.Context(), api, contract.CreateKey, in)
	if err != nil {
		t.Fatal(err)
	}
	if state := stored(t, data, before); bytes.Contains(state, []byte("billing")) ||
		bytes.Contains(state, []byte(proxy.Project.ID)) {
		t.Error("the state on disk can be read without the installation's key")
	}
	first.End(t, syscall.SIGTERM)

	relay.Hang()
	second := start()
	path := "/shop/1.0.0/prod/hello"
	for _, key := range []string{proxy.APIKeys["prod"].Key.Reveal(), extra.Secret.Reveal()} {
		harness.WaitForStatus(t, second.Gateway+path, key, http.StatusOK)
	}
	harness.WaitForStatus(t, second.Gateway+path, proxy.APIKeys["prod"].Key.Reveal()+"x", http.StatusUnauthorized)
	wantReady(t, second.URL, http.StatusServiceUnavailable, "degraded: the database isn't responding; serving calls "+
		"from the state of ")
	wantReady(t, second.Gateway, http.StatusOK, "degraded")
	if log := second.Errors.String(); !strings.Contains(log, "last state on disk") ||
		!strings.Contains(log, "state_of=") {
		t.Errorf("the log does not say what is served:\n%s", log)
	}
	page := wantAnswer(t, hostOf(second.URL),
		"GET /api/v1/whoami HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", "503")
	if !strings.Contains(page, "Retry-After: ") || !strings.Contains(page, "database_unavailable") {
		t.Errorf("the API answers %q", page)
	}

	// Changes made on other replicas in the meantime take effect once the database is back.
	if _, err := client.Do(t.Context(), harness.Connect(t, other.URL, proxy.WorkspaceKey.Reveal()), contract.RevokeKey,
		extra.Path()); err != nil {
		t.Fatal(err)
	}
	relay.Resume()
	harness.WaitForStatus(t, second.Gateway+path, extra.Secret.Reveal(), http.StatusUnauthorized)
	wantReady(t, second.URL, http.StatusOK, "ready")
	api = harness.Connect(t, second.URL, proxy.WorkspaceKey.Reveal())
	if _, err := client.Do(t.Context(), api, contract.RevokeKey,
		contract.KeyPath{Key: proxy.APIKeys["prod"].ID}); err != nil {
		t.Errorf("a change once the database is back: %v", err)
	}
	harness.WaitForStatus(t, second.Gateway+path, proxy.APIKeys["prod"].Key.Reveal(), http.StatusUnauthorized)
	second.End(t, syscall.SIGTERM)
	if code := second.Command.ProcessState.ExitCode(); code != 0 {
		t.Errorf("it stops with exit code %d:\n%s", code, second.Errors)
	}
}

// secretsKey encrypts the secrets at rest of an installation of several processes.
const secretsKey = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="

func TestStart_withoutDatabase(t *testing.T) {
	t.Parallel()
	database := testkit.Postgres(t)
	relay := testkit.NewRelay(t, database)
	data := t.TempDir()
	key := "POSTERN_SECRETS_KEY=" + secretsKey
	first := harness.Serve(t, data, relay.Through(t, database),
		append(slices.Clone(harness.Prompt), key)...)
	whole := stored(t, data, nil)
	first.End(t, syscall.SIGTERM)
	relay.Hang()

	// restart starts the program with a state on disk, none if it is nil.
	restart := func(t *testing.T, state []byte, environment ...string) *harness.Process {
		t.Helper()
		data := t.TempDir()
		if state != nil {
			if err := os.WriteFile(stateFile(data), state, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		environment = slices.Concat(harness.Prompt, []string{key}, environment)
		return harness.Launch(t, nil, data, relay.Through(t, database), environment...)
	}
	ended := func(t *testing.T, p *harness.Process, want ...string) {
		t.Helper()
		select {
		case <-p.Gone:
		case <-time.After(harness.StartWithin):
			t.Fatalf("it goes on:\n%s", p.Errors)
		}
		for _, text := range want {
			if log := p.Errors.String(); !strings.Contains(log, text) {
				t.Errorf("the log has no %q:\n%s", text, log)
			}
		}
		if p.Command.ProcessState.ExitCode() == 0 {
			t.Error("its exit code says that all is well")
		}
	}
	for name, state := range map[string][]byte{
		"changed":   append([]byte{whole[0] ^ 1}, whole[1:]...),
		"cut off":   whole[:len(whole)-1],
		"of no use": []byte("nonsense"),
	} {
		t.Run("with a state "+name, func(t *testing.T) {
			t.Parallel()
			p := restart(t, state)
			ended(t, p, "last state can't be read", "cannot open the database")
		})
	}
	t.Run("without a state", func(t *testing.T) {
		t.Parallel()
		p := restart(t, nil)
		ended(t, p, "cannot open the database")
		if log := p.Errors.String(); strings.Contains(log, "last state") {
			t.Errorf("a first start has no state to speak of:\n%s", log)
		}
	})
	t.Run("switched off", func(t *testing.T) {
		t.Parallel()
		p := restart(t, whole, "POSTERN_OFFLINE_START=off")
		ended(t, p, "cannot open the database")
	})
	t.Run("stopped while it waits", func(t *testing.T) {
		t.Parallel()
		p := restart(t, whole, "POSTERN_DATABASE_CONNECT_TIMEOUT=1h")
		testkit.Await(t, "waiting in the log", func() (string, bool) {
			log := p.Errors.String()
			return log, strings.Contains(log, "waiting for the database")
		})
		endsBy(t, p, syscall.SIGTERM)
		ended(t, p)
	})
}
