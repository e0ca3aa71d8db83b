package e2e

import (
	"context"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"

	"postern/client"
)

// TestSQLiteProcessKilledInAWrite kills the process again and again while it writes, and
// finds each change that it has acknowledged.
func TestSQLiteProcessKilledInAWrite(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	server := serve(t, data, "")
	proxy := newProxy(t, server.URL)
	var mu sync.Mutex
	want := map[string]string{} // states by key
	for range 3 {
		var writing sync.WaitGroup
		for range 4 {
			api := connect(t, server.URL, proxy.WorkspaceKey)
			writing.Go(func() {
				for n := 0; ; n++ {
					id, state, err := createAndRevoke(t.Context(), api, proxy.Project.ID, n%2 == 0)
					if err != nil {
						return // the process is killed
					}
					mu.Lock()
					want[id] = state
					mu.Unlock()
				}
			})
		}
		time.Sleep(500 * time.Millisecond) // of writing
		server.end(t, syscall.SIGKILL)
		writing.Wait()

		server = serve(t, data, "")
		got := map[string]string{}
		for key, err := range connect(t, server.URL, proxy.WorkspaceKey).Keys(t.Context(), proxy.Project.ID,
			client.KeyFilter{}) {
			if err != nil {
				t.Fatal(err)
			}
			got[key.ID] = key.State
		}
		for id, state := range want {
			if got[id] != state {
				t.Errorf("key %s was %s when it was acknowledged, and is %q after the kill", id, state, got[id])
			}
		}
		if len(want) == 0 {
			t.Fatal("nothing was written before the kill")
		}
	}
	server.end(t, syscall.SIGTERM)
	program, err := built()
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(program, "audit", "verify", "--data-dir", data).CombinedOutput(); err != nil {
		t.Errorf("the audit log after the kills: %v\n%s", err, out)
	}
}

// createAndRevoke creates a key and revokes it if it is told to. An error means that the
// last change was not acknowledged, and the state is not known.
func createAndRevoke(
	ctx context.Context, api *client.Client, project string, revoke bool,
) (id, state string, err error) {
	key, err := api.CreateKey(ctx, project, client.NewKey{Owner: "busy"})
	if err == nil && revoke {
		key, err = api.RevokeKey(ctx, key.ID)
	}
	return key.ID, key.State, err
}
